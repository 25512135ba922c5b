#include "engine/device/cuda_kernel.h"

extern "C" {
#include "neural/cuda/optimizer.h"
}
#include "neural/network/optimizer_formula.h"

enum : int { THREADS = 256, BLOCK = ORR_PARAMETER_BLOCK, SUM_ROWS = 8 };

// Whether any of the parameters of a block moves; half a warp each.
static __device__ bool block_moves(bool moves)
{
    uint32_t all = __ballot_sync(ORR_ALL_LANES, moves);
    return (orr_lane() < BLOCK ? all & 0xffffu : all >> BLOCK) != 0;
}

// What Adam subtracts.
static __device__ float adam(const orr_cuda_optimizer_pass *p, int64_t i, float gradient)
{
    adam_moments old = {p->first[i], p->second[i]};
    adam_moments moments = adam_advance(old, gradient, p->rule.beta1, p->rule.beta2);
    uint32_t steps = adam_count(p->own_steps[i], (uint32_t)p->correction_last);
    p->first[i] = moments.first;
    p->second[i] = moments.second;
    p->own_steps[i] = (uint16_t)steps;
    return adam_step(moments, p->correction[steps], p->rule.learning_rate, p->rule.epsilon);
}

static __global__ void step(orr_cuda_optimizer_pass p)
{
    if (p.now) {
        p.unscale = p.now->unscale;
        p.rule.learning_rate = p.now->learning_rate;
        p.step = p.now->step;
    }
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    bool exists = i < p.count;
    float gradient = exists ? p.gradients[i] * p.unscale : 0.0f;
    bool moves = exists && (!p.rule.lazy || gradient != 0.0f);
    bool any_moves = block_moves(moves);
    uint32_t covered = p.sum && exists && any_moves ? p.average_step[i / BLOCK] : 0;
    __syncwarp(); // the block's first lane writes it
    if (!any_moves || !exists) {
        return;
    }
    float weight = p.parameters[i], moved = weight;
    if (moves) {
        gradient = l2_gradient(gradient, weight, p.rule.l2_reg);
        moved = weight - (p.rule.sgd ? sgd_step(gradient, p.rule.learning_rate) : adam(&p, i, gradient));
        p.parameters[i] = moved;
        ((__half *)p.halves)[i] = __float2half_rn(moved);
        if (p.rule.lazy) {
            p.gradients[i] = 0.0f;
        }
    }
    if (p.sum) {
        orr_average_factors factors = p.factors[min(p.step - covered, p.factor_last)];
        p.sum[i] = average_advance(p.sum[i], weight, moved, factors.keep, factors.rest, p.rule.average_fresh);
        if (i % BLOCK == 0) {
            p.average_step[i / BLOCK] = p.step + 1;
        }
    }
}

static __global__ void average(orr_cuda_optimizer_pass p, float *to)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < p.count) {
        orr_average_factors factors = p.factors[min(p.step - p.average_step[i / BLOCK], p.factor_last)];
        to[i] = average_value(p.sum[i], p.parameters[i], factors.keep, factors.rest);
    }
}

static __global__ void make_halves(const float *from, int64_t count, __half *to)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) {
        to[i] = __float2half_rn(from[i]);
    }
}

// A warp has 32 columns; each of the block's warps adds up a stretch of the rows, and the first one the
// stretches.
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
