#include "engine/device/cuda_kernel.h"

extern "C" {
#include "neural/cuda/optimizer.h"
}

enum : int { THREADS = 256, GROUP = 16, SUM_ROWS = 8 };

// decay to the power n
static __device__ float rested(const orr_cuda_optimizer_pass *p, uint32_t n)
{
    return n == 0 ? 1.0f : exp2f((float)n * p->log2_decay);
}

// Whether any of the 16 parameters of a block moves; half a warp each.
static __device__ bool block_moves(bool moves)
{
    uint32_t all = __ballot_sync(ORR_ALL_LANES, moves);
    return (orr_lane() < GROUP ? all & 0xffffu : all >> GROUP) != 0;
}

static __device__ float adam(const orr_cuda_optimizer_pass *p, int64_t i, float weight, float gradient)
{
    int steps = min((int)p->own_steps[i] + 1, p->correction_last);
    float first = fmaf(p->first[i], p->beta1, gradient * (1.0f - p->beta1));
    float second = fmaf(p->second[i], p->beta2, gradient * gradient * (1.0f - p->beta2));
    p->first[i] = first;
    p->second[i] = second;
    p->own_steps[i] = (uint16_t)steps;
    return weight - p->correction[steps] * p->learning_rate * first / (sqrtf(second) + p->epsilon);
}

static __global__ void step(orr_cuda_optimizer_pass p)
{
    if (p.now) {
        p.unscale = p.now->unscale;
        p.learning_rate = p.now->learning_rate;
        p.step = p.now->step;
    }
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    bool exists = i < p.count;
    float gradient = exists ? p.gradients[i] * p.unscale : 0.0f;
    bool moves = exists && (!p.lazy || gradient != 0.0f);
    bool any_moves = block_moves(moves);
    uint32_t covered = p.sum && exists && any_moves ? p.average_step[i / GROUP] : 0;
    __syncwarp(); // the block's first lane writes it
    if (!any_moves || !exists) {
        return;
    }
    float weight = p.parameters[i], moved = weight;
    if (moves) {
        gradient = fmaf(weight, p.l2_reg, gradient);
        moved = p.sgd ? weight - gradient * p.learning_rate : adam(&p, i, weight, gradient);
        p.parameters[i] = moved;
        ((__half *)p.halves)[i] = __float2half_rn(moved);
        if (p.lazy) {
            p.gradients[i] = 0.0f;
        }
    }
    if (p.sum) {
        float average_rested = rested(&p, p.step - covered);
        float old = p.sum[i] * (p.decay * average_rested) + weight * (p.decay * (1.0f - average_rested));
        p.sum[i] = fmaf(moved, 1.0f - p.decay, old);
        if (i % GROUP == 0) {
            p.average_step[i / GROUP] = p.step + 1;
        }
    }
}

static __global__ void average(orr_cuda_optimizer_pass p, float *to)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < p.count) {
        float left = rested(&p, p.step - p.average_step[i / GROUP]), total = 1.0f - rested(&p, p.step);
        to[i] = left / total * p.sum[i] + (1.0f - left) / total * p.parameters[i];
    }
}

static __global__ void make_halves(const float *from, int64_t count, __half *to)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) {
        to[i] = __float2half_rn(from[i]);
    }
}

// A warp has 32 columns; each of the block's warps adds up a stretch of the rows, and the first one the stretches.
static __global__ void sum_rows(const float *rows, int row_count, int64_t count, float *to)
{
    __shared__ float stretches[SUM_ROWS][ORR_WARP];
    int64_t column = (int64_t)blockIdx.x * ORR_WARP + threadIdx.x;
    int stretch = (row_count + SUM_ROWS - 1) / SUM_ROWS, first = (int)threadIdx.y * stretch;
    float sum = 0.0f;
    if (column < count) {
        for (int row = first; row < min(first + stretch, row_count); row++) {
            sum += rows[row * count + column];
        }
    }
    stretches[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < count) {
        for (int other = 1; other < SUM_ROWS; other++) {
            sum += stretches[other][threadIdx.x];
        }
        to[column] = sum;
    }
}

void orr_cuda_optimizer_launch(cudaStream_t stream, const orr_cuda_optimizer_pass *pass)
{
    ORR_LAUNCH(step, orr_cuda_blocks((size_t)pass->count, THREADS), THREADS, 0, stream, *pass);
}

void orr_cuda_average_launch(cudaStream_t stream, const orr_cuda_optimizer_pass *pass, float *to)
{
    ORR_LAUNCH(average, orr_cuda_blocks((size_t)pass->count, THREADS), THREADS, 0, stream, *pass, to);
}

void orr_cuda_halves_launch(cudaStream_t stream, const float *from, int64_t count, void *to)
{
    ORR_LAUNCH(make_halves, orr_cuda_blocks((size_t)count, THREADS), THREADS, 0, stream, from, count,
               (__half *)to);
}

void orr_cuda_sum_rows_launch(cudaStream_t stream, const float *rows, int row_count, int64_t count, float *to)
{
    ORR_LAUNCH(sum_rows, orr_cuda_blocks((size_t)count, ORR_WARP), dim3(ORR_WARP, SUM_ROWS), 0, stream, rows,
               row_count, count, to);
}
