// The kernel of cuda_limits.cu.
#pragma once

#include <cuda_runtime_api.h>

int orr_cuda_multiply_threads(void); // of one block
// Every warp multiplies matrices for so many rounds; sums: one per thread, 16 per round. Returns the operations in it.
double orr_cuda_multiply_launch(cudaStream_t stream, int blocks, int rounds, float *sums);
