#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/cuda/display.h"
}

enum : unsigned int { THREADS = 256 };

static __device__ uint32_t to_byte(float value)
{
    float v = value * 255.0f + 0.5f;
    return (uint32_t)(v > 0.0f ? (v < 255.0f ? v : 255.0f) : 0.0f); // NaN becomes 0
}

static __global__ void to_bytes(const float4 *rgba, uint32_t *bytes, size_t pixels)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) {
        float4 v = rgba[i];
        bytes[i] = to_byte(v.x) | to_byte(v.y) << 8 | to_byte(v.z) << 16 | to_byte(v.w) << 24;
    }
}

static __global__ void to_rgb(const float4 *rgba, uint8_t *rgb, size_t pixels)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < pixels) {
        float4 v = rgba[i];
        rgb[3 * i] = (uint8_t)to_byte(v.x);
        rgb[3 * i + 1] = (uint8_t)to_byte(v.y);
        rgb[3 * i + 2] = (uint8_t)to_byte(v.z);
    }
}

void orr_cuda_to_bytes(cudaStream_t stream, const float *rgba, uint32_t *bytes, size_t pixels)
{
    ORR_LAUNCH(to_bytes, orr_cuda_blocks(pixels, THREADS), THREADS, 0, stream, (const float4 *)rgba, bytes,
               pixels);
}

void orr_cuda_to_rgb(cudaStream_t stream, const float *rgba, uint8_t *rgb, size_t pixels)
{
    ORR_LAUNCH(to_rgb, orr_cuda_blocks(pixels, THREADS), THREADS, 0, stream, (const float4 *)rgba, rgb,
               pixels);
}
