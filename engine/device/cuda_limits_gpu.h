// The kernel of cuda_limits.cu.
#pragma once

#include <cuda_runtime_api.h>

int orr_cuda_multiply_threads(void); // of one block
// Every warp multiplies matrices, 16 in a round; sums: one per thread. Returns the number of operations.
double orr_cuda_multiply_launch(cudaStream_t stream, int blocks, int rounds, float *sums);
