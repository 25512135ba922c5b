// The occupancy grid of a radiance field that is trained on the device: what occupancy.c does on the CPU,
// cell by cell.
#include "engine/device/cuda_kernel.h"
#include "neural/fields/radiance_formula.h"
#include "neural/nerf/march_formula.h"

extern "C" {
#include "neural/cuda/nerf_pass.h"
}

enum : int {
    THREADS = 256,
    WORD = 32, // cells of a thread, which is a word of bits
    WORDS = ORR_OCCUPANCY_CELLS / WORD,
    STRETCH = ORR_OCCUPANCY_CELLS / ORR_CUDA_GRID_SUMS
};

// The word that contains set bit number `rank`, where `before` has how many are set before each word.
static __device__ uint32_t find_word(const uint32_t *before, uint32_t words, uint32_t rank)
{
    uint32_t low = 0, high = words; // before[low] <= rank < before[high]
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (before[middle] <= rank) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Half of the positions are in any cell that may be occupied, the others in those that are:
// orr_occupancy_pick, twice.
static __global__ void __launch_bounds__(THREADS) draw_positions(orr_cuda_nerf_pass p)
{
    const orr_cuda_nerf_grid *g = &p.grid;
    orr_cuda_nerf_now *now = p.now;
    uint32_t most = (uint32_t)p.update_samples, live = min(most, now->live_count);
    uint32_t count = live + min(most, now->sampled_count);
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i == 0) {
        now->position_count = count;
    }
    if (i >= count) {
        return;
    }
    bool marched = i >= live;
    uint32_t update = (uint32_t)(now->begin.updates - 1);
    orr_occupancy_draw draw =
        marched ? orr_occupancy_drawn(p.seed, update, true, i - live, count - live, now->sampled_count)
                : orr_occupancy_drawn(p.seed, update, false, i, live, now->live_count);
    const uint32_t *before = marched ? g->sampled_before : g->live_before;
    uint32_t word = find_word(before, now->words, (uint32_t)draw.rank);
    uint32_t bits = g->live[word] & (marched ? g->bits[word] : 0xffffffffu);
    uint32_t cell =
        word * WORD + (uint32_t)orr_occupancy_select_bit(bits, (uint32_t)draw.rank - before[word]);
    float position[3];
    orr_occupancy_point(cell, draw.numbers, position);
    real3 contracted = march_encoding_position(make_real3(position[0], position[1], position[2]),
                                               1.0f / (float)p.aabb_scale);
    float *to = g->positions + orr_block_index(i, 3);
    to[0] = contracted.x;
    to[ORR_SAMPLES] = contracted.y;
    to[2 * ORR_SAMPLES] = contracted.z;
    g->cells[i] = cell;
}

static __global__ void __launch_bounds__(THREADS) decay_cells(orr_cuda_nerf_pass p)
{
    int64_t first = (int64_t)blockIdx.x * THREADS * WORD + threadIdx.x;
    for (int i = 0; i < WORD; i++) {
        float *thickness = &p.grid.thickness[first + i * THREADS];
        *thickness = occupancy_decay(*thickness);
    }
}

// Cells become as thick as what was found in them. Of numbers that are not negative, the bits are in the
// numbers' order.
static __global__ void __launch_bounds__(THREADS) raise_cells(orr_cuda_nerf_pass p)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.now->position_count) {
        return;
    }
    uint32_t cell = p.grid.cells[i];
    float raw = p.outputs[orr_block_index(i, ORR_NERF_FEATURES)];
    float *thickness = &p.grid.thickness[cell];
    if (!occupancy_is_culled(*thickness)) {
        float found = occupancy_thickness(radiance_density(raw), orr_occupancy_cascade_scale(cell));
        atomicMax((int *)thickness, __float_as_int(found));
    }
}

static __global__ void __launch_bounds__(THREADS) sum_cells(orr_cuda_nerf_pass p)
{
    __shared__ double sums[THREADS];
    double sum = 0.0;
    for (int i = (int)threadIdx.x; i < STRETCH; i += THREADS) {
        sum += (double)occupancy_counted(p.grid.thickness[(int64_t)blockIdx.x * STRETCH + i]);
    }
    sums[threadIdx.x] = sum;
    for (int by = THREADS / 2; by > 0; by /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < by) {
            sums[threadIdx.x] += sums[threadIdx.x + (unsigned int)by];
        }
    }
    if (threadIdx.x == 0) {
        p.grid.sums[blockIdx.x] = sums[0];
    }
}

static __global__ void __launch_bounds__(THREADS) mark_cells(orr_cuda_nerf_pass p, int cascade)
{
    __shared__ float mean;
    const orr_cuda_nerf_grid *g = &p.grid;
    if (threadIdx.x == 0) {
        double sum = 0.0;
        for (int i = 0; i < ORR_CUDA_GRID_SUMS; i++) {
            sum += g->sums[i];
        }
        mean = (float)(sum / ORR_OCCUPANCY_CELLS);
        if (blockIdx.x == 0) {
            p.now->mean = mean;
        }
    }
    __syncthreads();
    float threshold = occupancy_threshold(mean);
    uint32_t word = (uint32_t)cascade * WORDS + blockIdx.x * THREADS + threadIdx.x, bits = 0, live = 0;
    for (int i = 0; i < WORD; i++) {
        int64_t cell = (int64_t)word * WORD + i, child = orr_occupancy_first_child(cell);
        if (child >= 0) {
            g->thickness[cell] = orr_occupancy_pooled(g->thickness, child);
        }
        float thickness = g->thickness[cell];
        bits |= (uint32_t)occupancy_is_marched(thickness, threshold) << i;
        live |= (uint32_t)(!occupancy_is_culled(thickness) && child < 0) << i;
    }
    g->bits[word] = bits;
    g->live[word] = live;
    g->live_words[word] = (uint32_t)__popc(live);
    g->sampled_words[word] = (uint32_t)__popc(live & bits);
    // a block of 8^3 cells is half a warp's words
    uint32_t some = __ballot_sync(ORR_ALL_LANES, bits != 0) >> (orr_lane() & 16u) & 0xffffu;
    if (orr_lane() % 16 == 0) {
        uint32_t block = word / 16, bit = 1u << block % 32;
        if (some) {
            atomicOr(&g->blocks[block / 32], bit);
        } else {
            atomicAnd(&g->blocks[block / 32], ~bit);
        }
    }
}

// ---- launches ----

static unsigned int position_blocks(const orr_cuda_nerf_pass *pass)
{
    return orr_cuda_blocks(2 * (size_t)pass->update_samples, THREADS);
}

void orr_cuda_grid_draw_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass)
{
    ORR_LAUNCH(draw_positions, position_blocks(pass), THREADS, 0, stream, *pass);
}

void orr_cuda_grid_decay_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass)
{
    ORR_LAUNCH(decay_cells, (unsigned int)(pass->grid.cascades * WORDS / THREADS), THREADS, 0, stream, *pass);
}

void orr_cuda_grid_raise_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass)
{
    ORR_LAUNCH(raise_cells, position_blocks(pass), THREADS, 0, stream, *pass);
}

void orr_cuda_grid_sum_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass)
{
    ORR_LAUNCH(sum_cells, ORR_CUDA_GRID_SUMS, THREADS, 0, stream, *pass);
}

void orr_cuda_grid_mark_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int cascade)
{
    ORR_LAUNCH(mark_cells, WORDS / THREADS, THREADS, 0, stream, *pass, cascade);
}
