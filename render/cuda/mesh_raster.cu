// From records to pixels: raster, shade, fragments.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/cuda/mesh_stages.h"
}
#include "render/cuda/mesh_find_device.h"
#include "render/cuda/mesh_shade_device.h"

enum : uint32_t { THREADS = 128, TILE = ORR_CUDA_MESH_TILE };

#define NOTHING 0xffffffffffffffffull // no record there

// Unsigned numbers that sort as the floats do, and the inverse.
static __device__ uint32_t ordered(float a)
{
    uint32_t bits = __float_as_uint(a);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static __device__ float from_ordered(uint32_t a)
{
    return __uint_as_float(a & 0x80000000u ? a ^ 0x80000000u : ~a);
}

static __global__ void fill_linear(float *linear)
{
    linear[threadIdx.x] = srgb_to_linear((float)threadIdx.x * (1.0f / 255.0f));
}

// ---- raster ----

// A record over a tile of pixels.
typedef struct brush {
    const mesh_record *record;
    const orr_cuda_mesh_surface *surface;
    uint32_t id;
    bool backdrop, cut_out;
    int32_t x, y; // where the tile begins
    mesh_edge edges[3];
    float start, across, down; // nearness at the tile's first pixel, and per pixel
} brush;

// false: the pass skips it
static __device__ bool take_record(const orr_cuda_mesh_scene *s, uint32_t id, bool transparent, brush *b)
{
    b->id = id;
    b->record = &s->records[id];
    b->surface = &s->surfaces[b->record->surface];
    b->backdrop = s->instances[b->surface->instance].backdrop != 0;
    b->cut_out = b->surface->material.alpha_cutoff > 0.0f;
    return b->surface->material.blended == transparent;
}

static __device__ void lay_over(brush *b, int32_t x, int32_t y)
{
    b->x = x;
    b->y = y;
    for (int k = 0; k < 3; k++) {
        b->edges[k] = mesh_edge_over_tile(b->record, k, x, y);
    }
    b->start = (float)mesh_nearness_at(b->record, x, y);
    b->across = (float)b->record->across;
    b->down = (float)b->record->down;
}

static __device__ void draw_nearest(const orr_cuda_mesh_scene *s, const brush *b, float nearness, int32_t x,
                                    int32_t y)
{
    unsigned long long *pixel = (unsigned long long *)s->nearest + (size_t)y * (size_t)s->lens.width + x;
    // greater nearness and, of equals, the first record give the smaller key; a backdrop is behind
    // everything, and its last record is seen
    unsigned long long key = b->backdrop ? 0xffffffffull << 32 | (0xfffffffeu - b->id)
                                         : (unsigned long long)~ordered(nearness) << 32 | b->id;
    if ((!b->backdrop && !(nearness > mesh_farthest(&s->lens))) || key > *pixel ||
        (b->cut_out && !is_solid_at(s, b->surface, b->record->triangle, (float)x + 0.5f, (float)y + 0.5f))) {
        return;
    }
    atomicMin(pixel, key);
}

// Applies the pass to pixel (i, j) of the tile; returns 1 when that was a fragment.
template <int pass>
static __device__ uint32_t draw_pixel(const orr_cuda_mesh_scene *s, const brush *b, int32_t i, int32_t j)
{
    for (int k = 0; k < 3; k++) {
        if (b->edges[k].start + b->edges[k].across * i + b->edges[k].down * j < 0) {
            return 0;
        }
    }
    float nearness = mesh_nearness(b->start, b->across, b->down, (float)i, (float)j, b->record->farthest,
                                   b->record->nearest);
    if (pass == ORR_CUDA_MESH_NEAREST) {
        draw_nearest(s, b, nearness, b->x + i, b->y + j);
        return 0;
    }
    size_t at = (size_t)(b->y + j) * (size_t)s->lens.width + (size_t)(b->x + i);
    float depth = mesh_depth(mesh_view_of(&s->lens), nearness);
    if (!(depth < fminf(s->depth[at], s->lens.far_plane))) {
        return 0;
    }
    if (pass == ORR_CUDA_MESH_COUNT_FRAGMENTS) {
        atomicAdd(&s->fragment_counts[at], 1u);
    } else {
        uint32_t index = s->fragment_starts[at] + atomicSub(&s->fragment_counts[at], 1u) - 1;
        s->sources[index] = (uint64_t)ordered(depth) << 32 | b->id;
    }
    return 1;
}

template <int pass> static __device__ void note_fragments(const orr_cuda_mesh_scene *s, uint32_t count)
{
    if (pass == ORR_CUDA_MESH_COUNT_FRAGMENTS && count > 0) {
        atomicAdd((unsigned long long *)&s->control->fragments_needed, (unsigned long long)count);
    }
}

// Do the fragments not fit, so that none are written?
template <int pass> static __device__ bool is_full(const orr_cuda_mesh_scene *s)
{
    return pass == ORR_CUDA_MESH_FILL_FRAGMENTS && s->control->fragments_needed > s->fragment_capacity;
}

static __device__ uint32_t tiles_of_record(const orr_cuda_mesh_scene *s, uint32_t id)
{
    uint32_t end = id + 1 < s->control->records ? s->tile_firsts[id + 1] : s->control->tiles;
    return end - s->tile_firsts[id];
}

template <int pass> static __global__ void raster_small(orr_cuda_mesh_scene s)
{
    uint32_t id = blockIdx.x * THREADS + threadIdx.x;
    brush b;
    if (id >= s.control->records || is_full<pass>(&s) || tiles_of_record(&s, id) > 0 ||
        !take_record(&s, id, pass != ORR_CUDA_MESH_NEAREST, &b)) {
        return;
    }
    const mesh_record *r = b.record;
    lay_over(&b, mesh_first_pixel(mesh_lowest(r->x)), mesh_first_pixel(mesh_lowest(r->y)));
    int32_t right = mesh_last_pixel(mesh_highest(r->x), s.lens.width) - b.x,
            bottom = mesh_last_pixel(mesh_highest(r->y), s.lens.height) - b.y;
    uint32_t fragments = 0;
    for (int32_t j = 0; j <= bottom; j++) {
        for (int32_t i = 0; i <= right; i++) {
            fragments += draw_pixel<pass>(&s, &b, i, j);
        }
    }
    note_fragments<pass>(&s, fragments);
}

// Are all of the tile's pixels outside one edge?
static __device__ bool misses_tile(const brush *b)
{
    bool misses = false;
    for (int k = 0; k < 3; k++) {
        mesh_edge e = b->edges[k];
        misses |= e.start + ((int32_t)TILE - 1) * (max(e.across, 0) + max(e.down, 0)) < 0;
    }
    return misses;
}

template <int pass> static __global__ void raster_large(orr_cuda_mesh_scene s)
{
    const uint32_t warps = gridDim.x * (THREADS / ORR_WARP);
    uint32_t tile = blockIdx.x * (THREADS / ORR_WARP) + threadIdx.x / ORR_WARP, fragments = 0;
    // more tiles than can be summed up: the host reports it
    uint32_t tiles = s.control->tiles_needed > ORR_CUDA_MESH_SUM || is_full<pass>(&s) ? 0 : s.control->tiles;
    for (; tile < tiles; tile += warps) {
        brush b;
        uint32_t id = find_run(s.tile_firsts, s.control->records, tile);
        if (!take_record(&s, id, pass != ORR_CUDA_MESH_NEAREST, &b)) {
            continue;
        }
        const mesh_record *r = b.record;
        int32_t within = (int32_t)(tile - s.tile_firsts[id]);
        int32_t left = mesh_first_pixel(mesh_lowest(r->x)) / (int32_t)TILE,
                top = mesh_first_pixel(mesh_lowest(r->y)) / (int32_t)TILE;
        int32_t last_x = mesh_last_pixel(mesh_highest(r->x), s.lens.width),
                last_y = mesh_last_pixel(mesh_highest(r->y), s.lens.height);
        int32_t columns = last_x / (int32_t)TILE - left + 1;
        lay_over(&b, (left + within % columns) * (int32_t)TILE, (top + within / columns) * (int32_t)TILE);
        if (misses_tile(&b)) {
            continue;
        }
        int32_t right = min(last_x - b.x, (int32_t)TILE - 1), bottom = min(last_y - b.y, (int32_t)TILE - 1);
        for (int32_t at = (int32_t)orr_lane(); at < (int32_t)(TILE * TILE); at += ORR_WARP) {
            int32_t i = at % (int32_t)TILE, j = at / (int32_t)TILE;
            if (i <= right && j <= bottom) {
                fragments += draw_pixel<pass>(&s, &b, i, j);
            }
        }
    }
    note_fragments<pass>(&s, fragments);
}

// ---- shade ----

static __global__ void shade(orr_cuda_mesh_scene s)
{
    uint32_t pixels = s.control->starts - 1, at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= pixels) {
        return;
    }
    uint64_t key = s.nearest[at];
    real4 colour = {0.0f, 0.0f, 0.0f, 0.0f};
    float depth = INFINITY;
    if (key != NOTHING) {
        uint32_t complement = (uint32_t)(key >> 32), id = (uint32_t)key;
        bool backdrop = complement == 0xffffffffu;
        uint32_t width = (uint32_t)s.lens.width;
        depth = backdrop ? INFINITY : mesh_depth(mesh_view_of(&s.lens), from_ordered(~complement));
        colour = shade_record(&s, &s.records[backdrop ? 0xfffffffeu - id : id], (float)(at % width) + 0.5f,
                              (float)(at / width) + 0.5f);
    }
    s.depth[at] = depth;
    s.colour[at] = colour.x;
    s.colour[pixels + at] = colour.y;
    s.colour[2 * (size_t)pixels + at] = colour.z;
}

static __global__ void keep_depth(orr_cuda_mesh_scene s, uint32_t pixels, float *depth)
{
    uint32_t at = blockIdx.x * THREADS + threadIdx.x;
    if (at < pixels) {
        uint32_t complement = (uint32_t)(s.nearest[at] >> 32); // all ones: nothing, or the backdrop
        depth[at] = complement == 0xffffffffu ? INFINITY
                                              : mesh_depth(mesh_view_of(&s.lens), from_ordered(~complement));
    }
}

// ---- fragments ----

static __global__ void check_fragments(orr_cuda_mesh_scene s)
{
    uint32_t at = blockIdx.x * THREADS + threadIdx.x;
    if (at < s.control->starts && s.control->fragments_needed > s.fragment_capacity) {
        s.fragment_starts[at] = 0;
    }
}

// Insertion sort by depth, equal depths in drawing order; lists are short.
static __device__ void sort_fragments(uint64_t *sources, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t moved = sources[i];
        uint32_t k = i;
        for (; k > 0 && moved < sources[k - 1]; k--) {
            sources[k] = sources[k - 1];
        }
        sources[k] = moved;
    }
}

static __global__ void shade_fragments(orr_cuda_mesh_scene s)
{
    uint32_t at = blockIdx.x * THREADS + threadIdx.x, width = (uint32_t)s.lens.width;
    if (at >= s.control->starts - 1) {
        return;
    }
    uint32_t first = s.fragment_starts[at], end = s.fragment_starts[at + 1];
    sort_fragments(s.sources + first, end - first);
    for (uint32_t i = first; i < end; i++) {
        uint64_t source = s.sources[i];
        real4 c = shade_record(&s, &s.records[(uint32_t)source], (float)(at % width) + 0.5f,
                               (float)(at / width) + 0.5f);
        orr_fragment fragment = {from_ordered((uint32_t)(source >> 32)),
                                 {c.x * c.w, c.y * c.w, c.z * c.w, c.w}};
        s.fragments[i] = fragment;
    }
}

// ---- launches ----

// One thread per pixel, and one more.
static unsigned int blocks_of_picture(const orr_cuda_mesh_scene *scene)
{
    return orr_cuda_blocks((size_t)scene->lens.width * (size_t)scene->lens.height + 1, THREADS);
}

void orr_cuda_meshes_fill_linear(cudaStream_t stream, float *linear)
{
    ORR_LAUNCH(fill_linear, 1, 256, 0, stream, linear);
}

void orr_cuda_meshes_raster_small(cudaStream_t stream, const orr_cuda_mesh_scene *scene,
                                  orr_cuda_mesh_pass pass)
{
    unsigned int blocks = orr_cuda_blocks(scene->record_capacity, THREADS);
    switch (pass) {
    case ORR_CUDA_MESH_NEAREST:
        ORR_LAUNCH((raster_small<ORR_CUDA_MESH_NEAREST>), blocks, THREADS, 0, stream, *scene);
        break;
    case ORR_CUDA_MESH_COUNT_FRAGMENTS:
        ORR_LAUNCH((raster_small<ORR_CUDA_MESH_COUNT_FRAGMENTS>), blocks, THREADS, 0, stream, *scene);
        break;
    case ORR_CUDA_MESH_FILL_FRAGMENTS:
        ORR_LAUNCH((raster_small<ORR_CUDA_MESH_FILL_FRAGMENTS>), blocks, THREADS, 0, stream, *scene);
        break;
    }
}

void orr_cuda_meshes_raster_large(cudaStream_t stream, const orr_cuda_mesh_scene *scene,
                                  orr_cuda_mesh_pass pass, unsigned int warps)
{
    unsigned int blocks = orr_cuda_blocks(warps, THREADS / ORR_WARP);
    switch (pass) {
    case ORR_CUDA_MESH_NEAREST:
        ORR_LAUNCH((raster_large<ORR_CUDA_MESH_NEAREST>), blocks, THREADS, 0, stream, *scene);
        break;
    case ORR_CUDA_MESH_COUNT_FRAGMENTS:
        ORR_LAUNCH((raster_large<ORR_CUDA_MESH_COUNT_FRAGMENTS>), blocks, THREADS, 0, stream, *scene);
        break;
    case ORR_CUDA_MESH_FILL_FRAGMENTS:
        ORR_LAUNCH((raster_large<ORR_CUDA_MESH_FILL_FRAGMENTS>), blocks, THREADS, 0, stream, *scene);
        break;
    }
}

void orr_cuda_meshes_keep_depth(cudaStream_t stream, const orr_cuda_mesh_scene *scene, float *depth)
{
    uint32_t pixels = (uint32_t)scene->lens.width * (uint32_t)scene->lens.height;
    ORR_LAUNCH(keep_depth, blocks_of_picture(scene), THREADS, 0, stream, *scene, pixels, depth);
}

void orr_cuda_meshes_shade(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(shade, blocks_of_picture(scene), THREADS, 0, stream, *scene);
}

void orr_cuda_meshes_check_fragments(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(check_fragments, blocks_of_picture(scene), THREADS, 0, stream, *scene);
}

void orr_cuda_meshes_shade_fragments(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(shade_fragments, blocks_of_picture(scene), THREADS, 0, stream, *scene);
}
