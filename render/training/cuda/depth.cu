// The loss of the drawn depth at the points that a photo sees, and its gradient: a thread per point, those of
// a pixel by the thread of the first of them, in their order. No atomics: a step repeats to the bit.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/training/cuda/splat_pass.h"
}
#include "render/training/cuda/sums_device.h"
#include "render/training/splat_depth_formula.h"

enum : int { THREADS = 128, WARPS = THREADS / ORR_WARP };

// Whether there is anything to compare in a pixel.
static __device__ bool is_shown(const orr_cuda_compare &c, uint32_t pixel)
{
    return depth_is_drawn(((const float4 *)c.rgba)[pixel].w, c.depth[pixel]) &&
           (!c.now->kept || c.now->kept[pixel]);
}

static __device__ void store_sum(const orr_cuda_depths &d, float value)
{
    __shared__ float scratch[WARPS];
    const float sum = block_sum<WARPS>(value, scratch);
    if (threadIdx.x == 0) {
        d.sums[blockIdx.x] = sum;
    }
}

static __global__ void __launch_bounds__(THREADS) count_points(orr_cuda_depths d, orr_cuda_compare c)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    store_sum(d, i < d.count && is_shown(c, d.pixel[i]) ? 1.0f : 0.0f);
}

static __global__ void __launch_bounds__(THREADS) compare_points(orr_cuda_depths d, orr_cuda_compare c)
{
    const int first = (int)(blockIdx.x * THREADS + threadIdx.x);
    float sum = 0.0f;
    if (first < d.count && (first == 0 || d.pixel[first - 1] != d.pixel[first])) {
        const uint32_t pixel = d.pixel[first];
        if (is_shown(c, pixel)) {
            const float depth = c.depth[pixel], alpha = ((const float4 *)c.rgba)[pixel].w;
            float by_alpha = c.by_alpha[pixel], by_depth = 0.0f;
            for (int i = first; i < d.count && d.pixel[i] == pixel; i++) {
                const depth_difference p =
                    depth_compare(depth, alpha, d.expected[i], d.weight, (float)*d.shown);
                by_alpha += p.by_alpha;
                by_depth += p.by_depth;
                sum += p.value;
            }
            c.by_alpha[pixel] = by_alpha;
            c.by_depth[pixel] = by_depth;
        }
    }
    store_sum(d, sum);
}

int orr_cuda_depths_blocks(const orr_cuda_depths *depths)
{
    return (int)orr_cuda_blocks((size_t)depths->count, THREADS);
}

void orr_cuda_depths_count_launch(cudaStream_t stream, const orr_cuda_depths *depths,
                                  const orr_cuda_compare *compare)
{
    ORR_LAUNCH(count_points, (unsigned int)orr_cuda_depths_blocks(depths), THREADS, 0, stream, *depths,
               *compare);
}

void orr_cuda_depths_launch(cudaStream_t stream, const orr_cuda_depths *depths,
                            const orr_cuda_compare *compare)
{
    ORR_LAUNCH(compare_points, (unsigned int)orr_cuda_depths_blocks(depths), THREADS, 0, stream, *depths,
               *compare);
}
