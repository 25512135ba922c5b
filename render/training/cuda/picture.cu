// The loss of a picture against its photo, and its gradient. A block of threads has 16 x 16 pixels of a plane
// and what the windows about them see; windows are separable, down the columns first, as on the CPU.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/training/cuda/splat_pass.h"
}
#include "render/training/cuda/sums_device.h"
#include "render/training/picture/picture_exposure_formula.h"
#include "render/training/picture/picture_loss_formula.h"

enum : int {
    SIDE = 16,                     // pixels of a block
    SEEN = SIDE + 2 * LOSS_RADIUS, // and what their windows see
    THREADS = SIDE * SIDE,
    WARPS = THREADS / ORR_WARP
};

static __device__ __forceinline__ float *plane_row(const orr_loss_planes &planes, int channel, int row)
{
    return planes.values + ((int64_t)channel * planes.height + row) * planes.stride + ORR_LOSS_MARGIN;
}

// The photo's planes.
static __device__ __forceinline__ orr_loss_planes photo_of(const orr_cuda_compare &c)
{
    orr_loss_planes photo = c.picture;
    photo.values = c.now->photo;
    return photo;
}

static __device__ __forceinline__ bool is_kept(const orr_cuda_compare &c, int at)
{
    const uint8_t *kept = c.now->kept;
    return !kept || kept[at] != 0;
}

// ---- composing: a thread per pixel ----

static __device__ exposure_map exposure_of(const orr_cuda_compare &c)
{
    const float *e = c.now->exposure;
    return exposure_map{make_real3(e[0], e[1], e[2]), make_real3(e[4], e[5], e[6]),
                        make_real3(e[8], e[9], e[10]), make_real3(e[3], e[7], e[11])};
}

// Where a pixel looks its map up in the photo's grid.
static __device__ grid_place place_of(const orr_cuda_compare &c, int x, int y, float4 drawn)
{
    const float colour[3] = {drawn.x, drawn.y, drawn.z};
    return grid_find(grid_middle(x, c.width), grid_middle(y, c.height), colour);
}

static __device__ real3 apply_grid(const orr_cuda_compare &c, int x, int y, float4 drawn)
{
    const float colour[3] = {drawn.x, drawn.y, drawn.z};
    const grid_place place = place_of(c, x, y, drawn);
    float out[3];
    grid_apply(c.now->grid->value, &place, colour, drawn.w, out);
    return make_real3(out[0], out[1], out[2]);
}

// grid: through the photo's grid in place of its exposure
template <int grid> static __global__ void compose(orr_cuda_compare c)
{
    const int at = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (at >= c.width * c.height) {
        return;
    }
    const int x = at % c.width, y = at / c.width;
    const float4 drawn = ((const float4 *)c.rgba)[at];
    real3 colour = grid ? apply_grid(c, x, y, drawn)
                        : exposure_apply(exposure_of(c), make_real3(drawn.x, drawn.y, drawn.z), drawn.w);
    colour =
        add_scaled3(colour, make_real3(c.background[0], c.background[1], c.background[2]), 1.0f - drawn.w);
    const float values[3] = {colour.x, colour.y, colour.z};
    const bool kept = is_kept(c, at);
    const orr_loss_planes photo = photo_of(c);
    for (int k = 0; k < 3; k++) {
        plane_row(c.picture, k, y)[x] = kept ? values[k] : plane_row(photo, k, y)[x];
    }
}

// ---- similarity: a thread per value of a plane ----

// A plane's values under the windows of a block; what is outside of the picture is 0.
static __device__ void see(const orr_loss_planes &planes, int channel, float seen[SEEN][SEEN])
{
    const int left = (int)blockIdx.x * SIDE - LOSS_RADIUS, top = (int)blockIdx.y * SIDE - LOSS_RADIUS;
    for (int i = (int)threadIdx.x; i < SEEN * SEEN; i += THREADS) {
        const int x = left + i % SEEN, y = top + i / SEEN;
        const bool inside = x >= 0 && y >= 0 && x < planes.width && y < planes.height;
        seen[i / SEEN][i % SEEN] = inside ? plane_row(planes, channel, y)[x] : 0.0f;
    }
}

// A row that is filtered along itself.
static __device__ float along(const float *row, int at)
{
    const float window[] = LOSS_WINDOW;
    float sum = window[LOSS_RADIUS] * row[at];
    ORR_UNROLL
    for (int k = 1; k <= LOSS_RADIUS; k++) {
        sum = fmaf(window[LOSS_RADIUS + k], row[at - k] + row[at + k], sum);
    }
    return sum;
}

static __global__ void __launch_bounds__(THREADS) compare(orr_cuda_compare c)
{
    __shared__ float a[SEEN][SEEN], b[SEEN][SEEN], means[5][SIDE][SEEN], scratch[WARPS];
    const float window[] = LOSS_WINDOW;
    const int channel = (int)blockIdx.z;
    see(c.picture, channel, a);
    see(photo_of(c), channel, b);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < SIDE * SEEN; i += THREADS) {
        const int x = i % SEEN, y = i / SEEN;
        window_means m = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
        ORR_UNROLL
        for (int k = 0; k < 2 * LOSS_RADIUS + 1; k++) {
            const float p = a[y + k][x], q = b[y + k][x], wp = window[k] * p, wq = window[k] * q;
            m.x += wp;
            m.y += wq;
            m.xx = fmaf(wp, p, m.xx);
            m.yy = fmaf(wq, q, m.yy);
            m.xy = fmaf(wp, q, m.xy);
        }
        means[0][y][x] = m.x;
        means[1][y][x] = m.y;
        means[2][y][x] = m.xx;
        means[3][y][x] = m.yy;
        means[4][y][x] = m.xy;
    }
    __syncthreads();
    const int column = (int)threadIdx.x % SIDE, row = (int)threadIdx.x / SIDE, middle = column + LOSS_RADIUS;
    const int x = (int)blockIdx.x * SIDE + column, y = (int)blockIdx.y * SIDE + row;
    const bool inside = x < c.width && y < c.height;
    float difference = 0.0f, similarity = 0.0f;
    if (inside) {
        const window_means m = {along(means[0][row], middle), along(means[1][row], middle),
                                along(means[2][row], middle), along(means[3][row], middle),
                                along(means[4][row], middle)};
        const window_similarity s = similarity_of(m);
        difference = fabsf(a[row + LOSS_RADIUS][middle] - b[row + LOSS_RADIUS][middle]);
        similarity = s.value;
        plane_row(c.slopes[0], channel, y)[x] = s.by_x;
        plane_row(c.slopes[1], channel, y)[x] = s.by_xx;
        plane_row(c.slopes[2], channel, y)[x] = s.by_xy;
    }
    difference = block_sum<WARPS>(difference, scratch);
    similarity = block_sum<WARPS>(similarity, scratch);
    if (threadIdx.x == 0) {
        const int block = (int)((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
        c.loss_sums[ORR_CUDA_LOSS_SUMS * block] = difference;
        c.loss_sums[ORR_CUDA_LOSS_SUMS * block + 1] = similarity;
    }
}

static __global__ void __launch_bounds__(THREADS) differentiate(orr_cuda_compare c)
{
    __shared__ float seen[SEEN][SEEN], means[3][SIDE][SEEN];
    const float window[] = LOSS_WINDOW;
    const int channel = (int)blockIdx.z;
    for (int n = 0; n < 3; n++) {
        __syncthreads(); // the last plane is read
        see(c.slopes[n], channel, seen);
        __syncthreads();
        for (int i = (int)threadIdx.x; i < SIDE * SEEN; i += THREADS) {
            float sum = 0.0f;
            ORR_UNROLL
            for (int k = 0; k < 2 * LOSS_RADIUS + 1; k++) {
                sum = fmaf(window[k], seen[i / SEEN + k][i % SEEN], sum);
            }
            means[n][i / SEEN][i % SEEN] = sum;
        }
    }
    __syncthreads();
    const int column = (int)threadIdx.x % SIDE, row = (int)threadIdx.x / SIDE, middle = column + LOSS_RADIUS;
    const int x = (int)blockIdx.x * SIDE + column, y = (int)blockIdx.y * SIDE + row;
    if (x >= c.width || y >= c.height) {
        return;
    }
    const float values = 3.0f * (float)c.width * (float)c.height;
    const bool kept = is_kept(c, y * c.width + x);
    const float slope =
        loss_slope(plane_row(c.picture, channel, y)[x], plane_row(photo_of(c), channel, y)[x],
                   along(means[0][row], middle), along(means[1][row], middle), along(means[2][row], middle),
                   (1.0f - c.dissimilarity) / values, -c.dissimilarity / values);
    plane_row(c.gradient, channel, y)[x] = kept ? slope : 0.0f;
}

// ---- back through exposure or grid, and background: a thread per pixel ----

// The loss by a pixel's colour, and in by_alpha by its alpha, of that by what the grid made of them.
static __device__ real3 grid_back(const orr_cuda_compare &c, int x, int y, float4 drawn, real3 g,
                                  float *by_alpha)
{
    const float colour[3] = {drawn.x, drawn.y, drawn.z}, by[3] = {g.x, g.y, g.z};
    const grid_place place = place_of(c, x, y, drawn);
    float by_map[ORR_GRID_MAP], by_colour[3];
    grid_backward(c.now->grid->value, &place, colour, drawn.w, by, by_map, by_colour, by_alpha);
    return make_real3(by_colour[0], by_colour[1], by_colour[2]);
}

template <int grid> static __global__ void __launch_bounds__(THREADS) compose_back(orr_cuda_compare c)
{
    __shared__ float scratch[WARPS];
    const int at = (int)(blockIdx.x * THREADS + threadIdx.x);
    const real3 zero = make_real3(0.0f, 0.0f, 0.0f);
    exposure_map by = {zero, zero, zero, zero};
    float alpha_difference = 0.0f;
    if (at < c.width * c.height) {
        const int x = at % c.width, y = at / c.width;
        const exposure_map exposure = exposure_of(c);
        const float4 drawn = ((const float4 *)c.rgba)[at];
        const real3 g = make_real3(plane_row(c.gradient, 0, y)[x], plane_row(c.gradient, 1, y)[x],
                                   plane_row(c.gradient, 2, y)[x]);
        const real3 background = make_real3(c.background[0], c.background[1], c.background[2]);
        float by_alpha;
        real3 by_colour;
        if (grid) {
            by_colour = grid_back(c, x, y, drawn, g, &by_alpha);
            by_alpha -= dot3(g, background);
        } else {
            by_alpha = dot3(g, sub3(exposure.shift, background)); // what a colour gains by alpha
            by = exposure_add(by, g, make_real3(drawn.x, drawn.y, drawn.z), drawn.w);
            by_colour = exposure_backward(exposure, g);
        }
        const float *photo_alpha = c.now->photo_alpha;
        if (photo_alpha && is_kept(c, at)) {
            const float difference = drawn.w - photo_alpha[at];
            const float weight = c.alpha_weight / ((float)c.width * (float)c.height);
            by_alpha += difference > 0.0f ? weight : difference < 0.0f ? -weight : 0.0f;
            alpha_difference = fabsf(difference);
        }
        plane_row(c.gradient, 0, y)[x] = by_colour.x;
        plane_row(c.gradient, 1, y)[x] = by_colour.y;
        plane_row(c.gradient, 2, y)[x] = by_colour.z;
        c.by_alpha[at] = by_alpha;
    }
    const float sums[ORR_COMPOSE_SUMS] = {by.x.x, by.x.y,     by.x.z,          by.shift.x, by.y.x,
                                          by.y.y, by.y.z,     by.shift.y,      by.z.x,     by.z.y,
                                          by.z.z, by.shift.z, alpha_difference};
    for (int k = 0; k < ORR_COMPOSE_SUMS; k++) {
        const float sum = block_sum<WARPS>(sums[k], scratch);
        if (threadIdx.x == 0) {
            c.alpha_sums[blockIdx.x * ORR_COMPOSE_SUMS + (unsigned int)k] = sum;
        }
    }
}

// A block for each member.
static __global__ void __launch_bounds__(THREADS) total(const float *sums, int blocks, double *to)
{
    __shared__ double parts[THREADS];
    const int members = (int)gridDim.x;
    double sum = 0.0;
    for (int i = (int)threadIdx.x; i < blocks; i += THREADS) {
        sum += (double)sums[i * members + (int)blockIdx.x];
    }
    parts[threadIdx.x] = sum;
    for (unsigned int by = THREADS / 2; by > 0; by /= 2) {
        __syncthreads();
        if (threadIdx.x < by) {
            parts[threadIdx.x] += parts[threadIdx.x + by];
        }
    }
    if (threadIdx.x == 0) {
        to[blockIdx.x] = parts[0];
    }
}

// ---- launches ----

static dim3 blocks_of(const orr_cuda_compare *c)
{
    return dim3(orr_cuda_blocks((size_t)c->width, SIDE), orr_cuda_blocks((size_t)c->height, SIDE), 3);
}

int orr_cuda_compare_blocks(const orr_cuda_compare *c)
{
    const dim3 blocks = blocks_of(c);
    return (int)(blocks.x * blocks.y * blocks.z);
}

int orr_cuda_compare_compose_blocks(const orr_cuda_compare *c)
{
    return (int)orr_cuda_blocks((size_t)c->width * (size_t)c->height, THREADS);
}

void orr_cuda_compose_launch(cudaStream_t stream, const orr_cuda_compare *c)
{
    const auto compose_pixels = c->grid ? compose<1> : compose<0>;
    ORR_LAUNCH(compose_pixels, (unsigned int)orr_cuda_compare_compose_blocks(c), THREADS, 0, stream, *c);
}

void orr_cuda_loss_launch(cudaStream_t stream, const orr_cuda_compare *c)
{
    ORR_LAUNCH(compare, blocks_of(c), THREADS, 0, stream, *c);
}

void orr_cuda_loss_gradient_launch(cudaStream_t stream, const orr_cuda_compare *c)
{
    ORR_LAUNCH(differentiate, blocks_of(c), THREADS, 0, stream, *c);
}

void orr_cuda_compose_back_launch(cudaStream_t stream, const orr_cuda_compare *c)
{
    const auto pixels_back = c->grid ? compose_back<1> : compose_back<0>;
    ORR_LAUNCH(pixels_back, (unsigned int)orr_cuda_compare_compose_blocks(c), THREADS, 0, stream, *c);
}

void orr_cuda_total_launch(cudaStream_t stream, const float *sums, int blocks, int members, double *to)
{
    ORR_LAUNCH(total, (unsigned int)members, THREADS, 0, stream, sums, blocks, to);
}
