// What tensor cores do with nothing to load: products whose operands stay in registers.
#include "engine/device/cuda_matrix.h"

extern "C" {
#include "engine/device/cuda_limits_gpu.h"
}

enum : int { THREADS = 256, CHAINS = 8 }; // products that do not wait for each other, per warp

static __global__ void multiply(int rounds, float *sums)
{
    const uint32_t half = orr_pack_halves(0.5f, 0.5f), quarter = orr_pack_halves(0.25f, 0.25f);
    const uint32_t a[4] = {half, half, half, half}, b[2] = {quarter, quarter};
    float c[CHAINS][4] = {};
    for (int round = 0; round < rounds; round++) {
        ORR_UNROLL
        for (int i = 0; i < CHAINS; i++) {
            orr_matrix_multiply(c[i], a, b);
        }
    }
    float sum = 0.0f;
    ORR_UNROLL
    for (int i = 0; i < CHAINS; i++) {
        sum += c[i][0];
    }
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}

extern "C" int orr_cuda_multiply_threads(void)
{
    return THREADS;
}

extern "C" double orr_cuda_multiply_launch(cudaStream_t stream, int blocks, int rounds, float *sums)
{
    ORR_LAUNCH(multiply, (unsigned int)blocks, THREADS, 0, stream, rounds, sums);
    const double operations = 2.0 * 16.0 * 8.0 * 16.0; // of one product
    return operations * CHAINS * rounds * (THREADS / ORR_WARP) * blocks;
}
