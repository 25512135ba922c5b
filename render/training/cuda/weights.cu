// What splats weigh in a picture, by the rows that the way back through it leaves.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/training/cuda/splat_pass.h"
}

enum : int {
    THREADS = 128,
    BY_RED = 6 // of a row: the gradient by the colour's first channel
};

// ---- 1 in the first channel of pixels that are learned from: a thread per pixel ----

static __global__ void __launch_bounds__(THREADS) ones(orr_cuda_compare c)
{
    const int at = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (at >= c.width * c.height) {
        return;
    }
    const int64_t plane = (int64_t)c.height * c.gradient.stride;
    float *red =
        c.gradient.values + (int64_t)(at / c.width) * c.gradient.stride + ORR_LOSS_MARGIN + at % c.width;
    red[0] = !c.now->kept || c.now->kept[at] != 0 ? 1.0f : 0.0f;
    red[plane] = 0.0f;
    red[2 * plane] = 0.0f;
}

// ---- sums of rows: a thread per splat, in the order of its rows ----

static __global__ void __launch_bounds__(THREADS)
    add_weights(orr_cuda_rows r, uint32_t splats, double *weights)
{
    const uint32_t splat = blockIdx.x * THREADS + threadIdx.x;
    if (splat >= splats || r.control->needed > r.control->pairs) {
        return; // the frame is to be drawn again
    }
    double sum = weights[splat];
    const float *row = r.rows + (size_t)r.first[splat] * ORR_MOMENTS;
    for (uint32_t n = r.counts[splat]; n > 0; n--) {
        sum += (double)row[BY_RED];
        row += ORR_MOMENTS;
    }
    weights[splat] = sum;
}

// ---- launches ----

void orr_cuda_ones_launch(cudaStream_t stream, const orr_cuda_compare *c)
{
    ORR_LAUNCH(ones, orr_cuda_blocks((size_t)c->width * (size_t)c->height, THREADS), THREADS, 0, stream, *c);
}

void orr_cuda_weights_launch(cudaStream_t stream, const orr_cuda_rows *rows, uint32_t splats, double *weights)
{
    ORR_LAUNCH(add_weights, orr_cuda_blocks(splats, THREADS), THREADS, 0, stream, *rows, splats, weights);
}
