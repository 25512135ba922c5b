// The bilateral grid of a photo: the loss by its numbers, and Adam's step of them. No atomics: sums have a
// fixed order, and a step repeats to the bit.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/training/cuda/splat_pass.h"
}
#include "render/training/cuda/sums_device.h"
#include "render/training/picture/picture_grid_formula.h"

enum : int {
    THREADS = 128,
    WARPS = THREADS / ORR_WARP,
    CELLS_X = ORR_GRID_X - 1,
    CELLS_Y = ORR_GRID_Y - 1,
    CELLS = CELLS_X * CELLS_Y,
    SUM_THREADS = 256, // of a cell
    SUM_WARPS = SUM_THREADS / ORR_WARP
};

static_assert(4 * ORR_GRID_Z == ORR_WARP, "a lane for each corner of a cell's column");

// ---- the loss by a cell's numbers: a block per cell, a lane per corner and brightness ----

// The first pixel of a row or column whose middle lies in that cell, or behind it.
static __device__ int first_pixel(int cell, int corners, int size)
{
    if (cell >= corners - 1) {
        return size; // the last cell has all that remains
    }
    int at =
        max((int)((int64_t)cell * size / (corners - 1)) - 2, 0); // the middle is half a pixel, and rounded
    while (at < size && grid_cell(grid_middle(at, size) * (float)(corners - 1), corners) < cell) {
        at++;
    }
    return at;
}

// What a lane needs of a pixel.
typedef struct staged_pixel {
    float4 by;    // the loss by its result; its place in the grid's cell: in brightness
    float4 drawn; // colour and alpha
    float4 where; // in x and y, and the cell's corner in brightness
} staged_pixel;

static __device__ staged_pixel stage(const orr_cuda_compare &c, int x, int y)
{
    const float4 drawn = ((const float4 *)c.rgba)[(int64_t)y * c.width + x];
    const float colour[3] = {drawn.x, drawn.y, drawn.z};
    const grid_place p = grid_find(grid_middle(x, c.width), grid_middle(y, c.height), colour);
    const float *red = c.gradient.values + (int64_t)y * c.gradient.stride + ORR_LOSS_MARGIN + x;
    const int64_t plane = (int64_t)c.height * c.gradient.stride;
    return staged_pixel{make_float4(red[0], red[plane], red[2 * plane], p.z), drawn,
                        make_float4(p.x, p.y, (float)(p.corner / ORR_GRID_PLANE), 0.0f)};
}

// A pixel's part of the sums of a corner: the one at `corner` of grid_weights and that brightness.
static __device__ void add_pixel(const staged_pixel &s, int corner, int brightness, float sums[ORR_GRID_MAP])
{
    grid_place p;
    float w[4];
    p.x = s.where.x;
    p.y = s.where.y;
    p.z = s.by.w;
    grid_weights(&p, w);
    const float weight = corner == 0 ? w[0] : corner == 1 ? w[1] : corner == 2 ? w[2] : w[3];
    const int above = brightness - (int)s.where.z;
    const float share = above == 0   ? grid_lower_share(&p, weight)
                        : above == 1 ? grid_upper_share(&p, weight)
                                     : 0.0f;
    const float by[3] = {s.by.x, s.by.y, s.by.z};
    const float pixel[4] = {s.drawn.x, s.drawn.y, s.drawn.z, s.drawn.w};
    ORR_UNROLL
    for (int i = 0; i < ORR_GRID_MAP; i++) {
        sums[i] = fmaf(share, by[i / 4] * pixel[i % 4], sums[i]);
    }
}

static __global__ void __launch_bounds__(SUM_THREADS) sum_cells(orr_cuda_grid_step g, orr_cuda_compare c)
{
    __shared__ staged_pixel staged[SUM_WARPS][ORR_WARP];
    __shared__ float parts[SUM_WARPS][ORR_GRID_CELL];
    const int cell_x = (int)blockIdx.x % CELLS_X, cell_y = (int)blockIdx.x / CELLS_X;
    const int left = first_pixel(cell_x, ORR_GRID_X, c.width);
    const int top = first_pixel(cell_y, ORR_GRID_Y, c.height);
    const int columns = first_pixel(cell_x + 1, ORR_GRID_X, c.width) - left;
    const int count = columns * (first_pixel(cell_y + 1, ORR_GRID_Y, c.height) - top);
    const int lane = (int)orr_lane(), warp = (int)(threadIdx.x / ORR_WARP);
    float sums[ORR_GRID_MAP] = {0.0f};
    for (int first = warp * ORR_WARP; first < count; first += SUM_THREADS) {
        const int i = first + lane, pixels = min(count - first, (int)ORR_WARP);
        if (i < count) {
            staged[warp][lane] = stage(c, left + i % columns, top + i / columns);
        }
        __syncwarp();
        for (int k = 0; k < pixels; k++) {
            add_pixel(staged[warp][k], lane % 4, lane / 4, sums);
        }
        __syncwarp(); // before the next are put there
    }
    for (int i = 0; i < ORR_GRID_MAP; i++) {
        parts[warp][lane * ORR_GRID_MAP + i] = sums[i];
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < ORR_GRID_CELL; i += SUM_THREADS) {
        float sum = 0.0f;
        for (int w = 0; w < SUM_WARPS; w++) {
            sum += parts[w][i];
        }
        g.cells[blockIdx.x * ORR_GRID_CELL + (unsigned int)i] = sum;
    }
}

// ---- the numbers of a grid: a thread each ----

// Up to four cells have a corner in common: those before it and behind it in x and in y.
static __global__ void __launch_bounds__(THREADS) gather_gradient(orr_cuda_grid_step g)
{
    __shared__ float scratch[WARPS];
    const int number = (int)(blockIdx.x * THREADS + threadIdx.x); // there are whole blocks of them
    const int map = number % ORR_GRID_MAP, x = number / ORR_GRID_MAP % ORR_GRID_X;
    const int y = number / ORR_GRID_ROW % ORR_GRID_Y, z = number / ORR_GRID_PLANE;
    float gradient = 0.0f, variation = 0.0f;
    for (int corner = 0; corner < 4; corner++) {
        const int cell_x = x - (corner & 1), cell_y = y - (corner >> 1);
        if (cell_x < 0 || cell_y < 0 || cell_x >= CELLS_X || cell_y >= CELLS_Y) {
            continue;
        }
        gradient +=
            g.cells[(cell_y * CELLS_X + cell_x) * ORR_GRID_CELL + (z * 4 + corner) * ORR_GRID_MAP + map];
    }
    const float *value = g.now->grid->value;
    const int corner_of[3] = {x, y, z};
    for (int axis = 0; axis < 3; axis++) {
        const grid_direction d = grid_along(axis, GRID_VARIATION);
        const float own = value[number];
        const float before = corner_of[axis] > 0 ? own - value[number - d.stride] : 0.0f;
        const float behind = corner_of[axis] < d.corners - 1 ? value[number + d.stride] - own : 0.0f;
        gradient = grid_pulled(gradient, d, before, behind);
        variation = fmaf(d.share * behind, behind, variation);
    }
    g.by_grid[number] = gradient;
    variation = block_sum<WARPS>(variation, scratch);
    if (threadIdx.x == 0) {
        g.variations[blockIdx.x] = variation;
    }
}

static __global__ void __launch_bounds__(THREADS) advance(orr_cuda_grid_step g)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (g.control->needed > g.control->pairs || *g.halted) {
        return; // the frame is to be drawn again
    }
    orr_photo_grid *grid = g.now->grid;
    const grid_number n = {grid->value[i], {grid->moments[0][i], grid->moments[1][i]}};
    const grid_number next = grid_advance(n, g.by_grid[i], g.now->grid_correction, g.now->grid_rate);
    grid->value[i] = next.value;
    grid->moments[0][i] = next.moments.first;
    grid->moments[1][i] = next.moments.second;
}

// ---- the mean of all maps: a block per grid ----

// By how much the sum of a grid's maps exceeds that of as many identities. Thread t adds up number
// t % ORR_GRID_MAP of every PARTS-th map.
static __global__ void __launch_bounds__(THREADS)
    sum_excess(const orr_photo_grid *grids, const int *images, double *sums)
{
    __shared__ double parts[THREADS];
    enum : int { PARTS = THREADS / ORR_GRID_MAP };
    const float *value = grids[images[blockIdx.x]].value;
    const int part = (int)threadIdx.x / ORR_GRID_MAP, number = (int)threadIdx.x % ORR_GRID_MAP;
    double sum = 0.0;
    for (int i = part * ORR_GRID_MAP + number; part < PARTS && i < ORR_GRID; i += PARTS * ORR_GRID_MAP) {
        sum += (double)(value[i] - grid_identity(i));
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < ORR_GRID_MAP) {
        double all = 0.0;
        for (int i = 0; i < PARTS; i++) {
            all += parts[i * ORR_GRID_MAP + (int)threadIdx.x];
        }
        sums[blockIdx.x * ORR_GRID_MAP + threadIdx.x] = all;
    }
}

static __global__ void __launch_bounds__(THREADS)
    subtract_excess(orr_photo_grid *grids, const int *images, const double *sums)
{
    __shared__ double excess[ORR_GRID_MAP];
    const int count = (int)gridDim.x;
    if (threadIdx.x < ORR_GRID_MAP) {
        double all = 0.0;
        for (int n = 0; n < count; n++) {
            all += sums[n * ORR_GRID_MAP + (int)threadIdx.x];
        }
        excess[threadIdx.x] = all / ((double)count * (ORR_GRID / ORR_GRID_MAP));
    }
    __syncthreads();
    float *value = grids[images[blockIdx.x]].value;
    for (int i = (int)threadIdx.x; i < ORR_GRID; i += THREADS) {
        value[i] -= (float)excess[i % ORR_GRID_MAP];
    }
}

// ---- launches ----

size_t orr_cuda_grid_cells(void)
{
    return CELLS;
}

int orr_cuda_grid_blocks(void)
{
    static_assert(ORR_GRID % THREADS == 0, "whole blocks");
    return ORR_GRID / THREADS;
}

void orr_cuda_grid_gradient_launch(cudaStream_t stream, const orr_cuda_grid_step *step,
                                   const orr_cuda_compare *compare)
{
    ORR_LAUNCH(sum_cells, CELLS, SUM_THREADS, 0, stream, *step, *compare);
    ORR_LAUNCH(gather_gradient, (unsigned int)orr_cuda_grid_blocks(), THREADS, 0, stream, *step);
}

void orr_cuda_grid_advance_launch(cudaStream_t stream, const orr_cuda_grid_step *step)
{
    ORR_LAUNCH(advance, (unsigned int)orr_cuda_grid_blocks(), THREADS, 0, stream, *step);
}

void orr_cuda_grids_centre_launch(cudaStream_t stream, orr_photo_grid *grids, const int *images, int count,
                                  double *sums)
{
    ORR_LAUNCH(sum_excess, (unsigned int)count, THREADS, 0, stream, grids, images, sums);
    ORR_LAUNCH(subtract_excess, (unsigned int)count, THREADS, 0, stream, grids, images, sums);
}
