// From records to pixels: raster, shade, fragments.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/cuda/meshes/mesh_stages.h"
}
#include "render/cuda/meshes/mesh_find_device.h"
#include "render/cuda/meshes/mesh_shade_device.h"
#include "render/edge_formula.h"

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
    // the same of samples, for the pass that draws them
    mesh_edge sample_edges[EDGE_SAMPLES][3];
    float sample_starts[EDGE_SAMPLES];
} brush;

// false: the pass skips it
static __device__ bool take_record(const orr_cuda_mesh_scene *s, uint32_t id, bool transparent, brush *b)
{
    b->id = id;
    b->record = &s->records[id];
    b->surface = &s->surfaces[b->record->surface];
    b->backdrop = s->instances[b->surface->instance].backdrop != 0;
    b->cut_out = b->surface->material.alpha_cutoff > 0.0f || is_ended(s, b->surface);
    return (b->surface->blended && !s->only_casters) == transparent;
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

static __device__ void lay_samples_over(brush *b)
{
    for (int s = 0; s < EDGE_SAMPLES; s++) {
        for (int k = 0; k < 3; k++) {
            b->sample_edges[s][k] = mesh_edge_of_samples(b->record, k, b->x, b->y, s);
        }
        b->sample_starts[s] = (float)mesh_nearness_at_sample(b->record, b->x, b->y, s);
    }
}

// x, y: the point that is seen [px]; nearest: its key
static __device__ void draw_nearest(const orr_cuda_mesh_scene *s, const brush *b, float nearness, float x,
                                    float y, uint64_t *nearest)
{
    unsigned long long *pixel = (unsigned long long *)nearest;
    // greater nearness and, of equals, the first record give the smaller key; a backdrop is behind
    // everything, and its last record is seen
    unsigned long long key = b->backdrop ? 0xffffffffull << 32 | (0xfffffffeu - b->id)
                                         : (unsigned long long)~ordered(nearness) << 32 | b->id;
    if ((!b->backdrop && !(nearness > mesh_farthest(&s->lens))) || key > *pixel ||
        (b->cut_out && !is_solid_at(s, b->surface, b->record->triangle, x, y))) {
        return;
    }
    atomicMin(pixel, key);
}

// Is pixel (i, j) of a tile inside the edges?
static __device__ bool is_inside(const mesh_edge edges[3], int32_t i, int32_t j)
{
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        inside &= edges[k].start + edges[k].across * i + edges[k].down * j >= 0;
    }
    return inside;
}

static __device__ void draw_samples(const orr_cuda_mesh_scene *s, const brush *b, int32_t i, int32_t j)
{
    const int32_t x = b->x + i, y = b->y + j;
    const uint32_t edge = s->edge_of[(size_t)y * (size_t)s->lens.width + (size_t)x];
    for (int k = 0; edge > 0 && k < EDGE_SAMPLES; k++) {
        if (is_inside(b->sample_edges[k], i, j)) {
            float nearness = mesh_nearness(b->sample_starts[k], b->across, b->down, (float)i, (float)j,
                                           b->record->farthest, b->record->nearest);
            draw_nearest(s, b, nearness, (float)x + (float)MESH_SAMPLE_X(k) / MESH_SUBPIXELS,
                         (float)y + (float)MESH_SAMPLE_Y(k) / MESH_SUBPIXELS,
                         s->sample_keys + (size_t)EDGE_SAMPLES * (edge - 1) + k);
        }
    }
}

// Applies the pass to pixel (i, j) of the tile; returns 1 when that was a fragment.
template <int pass>
static __device__ uint32_t draw_pixel(const orr_cuda_mesh_scene *s, const brush *b, int32_t i, int32_t j)
{
    if (pass == ORR_CUDA_MESH_SAMPLES) {
        draw_samples(s, b, i, j);
        return 0;
    }
    if (!is_inside(b->edges, i, j)) {
        return 0;
    }
    float nearness = mesh_nearness(b->start, b->across, b->down, (float)i, (float)j, b->record->farthest,
                                   b->record->nearest);
    if (pass == ORR_CUDA_MESH_NEAREST) {
        int32_t x = b->x + i, y = b->y + j;
        draw_nearest(s, b, nearness, (float)x + 0.5f, (float)y + 0.5f,
                     s->nearest + (size_t)y * (size_t)s->lens.width + x);
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

// Does the pass draw transparent records?
template <int pass> static __device__ bool is_transparent(void)
{
    return pass == ORR_CUDA_MESH_COUNT_FRAGMENTS || pass == ORR_CUDA_MESH_FILL_FRAGMENTS;
}

// The pixels that the pass may draw of a record.
template <int pass> static __device__ mesh_box box_of(const orr_cuda_mesh_scene *s, const mesh_record *record)
{
    return mesh_box_of(record->x, record->y, s->lens.width, s->lens.height, pass == ORR_CUDA_MESH_SAMPLES);
}

template <int pass> static __global__ void raster_small(orr_cuda_mesh_scene s)
{
    uint32_t id = blockIdx.x * THREADS + threadIdx.x;
    brush b;
    if (id >= s.control->records || is_full<pass>(&s) || tiles_of_record(&s, id) > 0 ||
        !take_record(&s, id, is_transparent<pass>(), &b)) {
        return;
    }
    const mesh_box box = box_of<pass>(&s, b.record);
    lay_over(&b, box.left, box.top);
    if (pass == ORR_CUDA_MESH_SAMPLES) {
        lay_samples_over(&b);
    }
    uint32_t fragments = 0;
    for (int32_t j = 0; j <= box.bottom - b.y; j++) {
        for (int32_t i = 0; i <= box.right - b.x; i++) {
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
        if (!take_record(&s, id, is_transparent<pass>(), &b)) {
            continue;
        }
        // tiles were counted from the box of all points that any pass draws
        const mesh_box all =
                           mesh_box_of(b.record->x, b.record->y, s.lens.width, s.lens.height, s.smooth != 0),
                       box = box_of<pass>(&s, b.record);
        const int32_t side = TILE, within = (int32_t)(tile - s.tile_firsts[id]);
        const int32_t columns = all.right / side - all.left / side + 1;
        lay_over(&b, (all.left / side + within % columns) * side, (all.top / side + within / columns) * side);
        if (pass == ORR_CUDA_MESH_SAMPLES) {
            lay_samples_over(&b);
        } else if (misses_tile(&b)) {
            continue;
        }
        int32_t right = min(box.right - b.x, side - 1), bottom = min(box.bottom - b.y, side - 1);
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

static __global__ void occlude(orr_cuda_mesh_scene s, uint32_t pixels)
{
    uint32_t at = blockIdx.x * THREADS + threadIdx.x;
    if (at < pixels) {
        occlusion_find(&s.occlusion, (int)(at % (uint32_t)s.lens.width), (int)(at / (uint32_t)s.lens.width));
    }
}

// ---- edges ----

static __device__ real3 colour_at(const orr_cuda_mesh_scene *s, uint32_t at)
{
    const size_t plane = s->control->starts - 1;
    return make_real3(s->colour[at], s->colour[plane + at], s->colour[2 * plane + at]);
}

// Is there an edge from pixel `at` to its neighbour `near`?
static __device__ bool has_edge(const orr_cuda_mesh_scene *s, uint32_t at, uint32_t near)
{
    return (uint32_t)s->nearest[at] != (uint32_t)s->nearest[near] &&
           edge_between(colour_at(s, at), colour_at(s, near), s->depth[at], s->depth[near]);
}

static __global__ void mark_edges(orr_cuda_mesh_scene s)
{
    const uint32_t pixels = s.control->starts - 1, at = blockIdx.x * THREADS + threadIdx.x;
    const uint32_t width = (uint32_t)s.lens.width;
    if (at >= pixels) {
        return;
    }
    const bool edge = (at % width > 0 && has_edge(&s, at, at - 1)) ||
                      (at % width + 1 < width && has_edge(&s, at, at + 1)) ||
                      (at >= width && has_edge(&s, at, at - width)) ||
                      (at + width < pixels && has_edge(&s, at, at + width));
    uint32_t number = edge ? atomicAdd(&s.control->edges_needed, 1u) : s.edge_capacity;
    s.edge_of[at] = number < s.edge_capacity ? number + 1 : 0;
    for (int k = 0; k < EDGE_SAMPLES && number < s.edge_capacity; k++) {
        s.sample_keys[(size_t)EDGE_SAMPLES * number + k] = NOTHING;
    }
}

// A sample's depth and colour; its surface is shaded at the middle of its samples in the pixel.
static __device__ orr_edge_sample shade_sample(const orr_cuda_mesh_scene *s, const uint64_t *keys, int sample,
                                               uint32_t x, uint32_t y)
{
    const uint64_t key = keys[sample];
    const uint32_t complement = (uint32_t)(key >> 32), id = (uint32_t)key;
    const bool backdrop = complement == 0xffffffffu;
    orr_edge_sample out = {INFINITY, {0.0f, 0.0f, 0.0f}};
    float sum_x = 0.0f, sum_y = 0.0f, count = 0.0f;
    if (key == NOTHING) {
        return out;
    }
    for (int k = 0; k < EDGE_SAMPLES; k++) {
        if ((uint32_t)keys[k] == id) {
            sum_x += (float)x + (float)MESH_SAMPLE_X(k) / MESH_SUBPIXELS;
            sum_y += (float)y + (float)MESH_SAMPLE_Y(k) / MESH_SUBPIXELS;
            count += 1.0f;
        }
    }
    const real4 c =
        shade_record(s, &s->records[backdrop ? 0xfffffffeu - id : id], sum_x / count, sum_y / count);
    out.depth = backdrop ? INFINITY : mesh_depth(mesh_view_of(&s->lens), from_ordered(~complement));
    out.rgb[0] = c.x;
    out.rgb[1] = c.y;
    out.rgb[2] = c.z;
    return out;
}

// The samples of a pixel from front to back, each surface shaded once.
static __device__ void fill_samples(const orr_cuda_mesh_scene *s, const uint64_t *keys, uint32_t x,
                                    uint32_t y, orr_edge_sample samples[EDGE_SAMPLES])
{
    for (int k = 0; k < EDGE_SAMPLES; k++) {
        int same = 0;
        while ((uint32_t)keys[same] != (uint32_t)keys[k]) {
            same++;
        }
        samples[k] = same < k ? samples[same] : shade_sample(s, keys, k, x, y);
        const uint32_t complement = (uint32_t)(keys[k] >> 32);
        samples[k].depth = complement == 0xffffffffu
                               ? INFINITY
                               : mesh_depth(mesh_view_of(&s->lens), from_ordered(~complement));
    }
    for (int i = 1; i < EDGE_SAMPLES; i++) {
        const orr_edge_sample moved = samples[i];
        int k = i;
        for (; k > 0 && moved.depth < samples[k - 1].depth; k--) {
            samples[k] = samples[k - 1];
        }
        samples[k] = moved;
    }
}

static __global__ void shade_samples(orr_cuda_mesh_scene s)
{
    const size_t pixels = s.control->starts - 1;
    const uint32_t at = blockIdx.x * THREADS + threadIdx.x, width = (uint32_t)s.lens.width;
    if (at >= pixels || s.edge_of[at] == 0) {
        return;
    }
    const uint32_t number = s.edge_of[at] - 1;
    orr_edge_sample samples[EDGE_SAMPLES];
    fill_samples(&s, s.sample_keys + (size_t)EDGE_SAMPLES * number, at % width, at / width, samples);
    orr_edge_pixel *edge = &s.edges[number];
    for (int k = 0; k < EDGE_SAMPLES; k++) {
        edge->samples[k] = samples[k];
    }
    edge->centre_depth = s.depth[at];
    const orr_edge_sample *last = &samples[EDGE_SAMPLES - 1];
    s.depth[at] = last->depth;
    for (size_t k = 0; k < 3; k++) {
        s.colour[k * pixels + at] = last->depth < INFINITY ? 0.0f : last->rgb[k];
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
    case ORR_CUDA_MESH_SAMPLES:
        ORR_LAUNCH((raster_small<ORR_CUDA_MESH_SAMPLES>), blocks, THREADS, 0, stream, *scene);
        break;
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
    case ORR_CUDA_MESH_SAMPLES:
        ORR_LAUNCH((raster_large<ORR_CUDA_MESH_SAMPLES>), blocks, THREADS, 0, stream, *scene);
        break;
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

void orr_cuda_meshes_occlude(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    uint32_t pixels = (uint32_t)scene->lens.width * (uint32_t)scene->lens.height;
    ORR_LAUNCH(occlude, blocks_of_picture(scene), THREADS, 0, stream, *scene, pixels);
}

void orr_cuda_meshes_shade(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(shade, blocks_of_picture(scene), THREADS, 0, stream, *scene);
}

void orr_cuda_meshes_mark_edges(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(mark_edges, blocks_of_picture(scene), THREADS, 0, stream, *scene);
}

void orr_cuda_meshes_shade_samples(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(shade_samples, blocks_of_picture(scene), THREADS, 0, stream, *scene);
}

void orr_cuda_meshes_check_fragments(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(check_fragments, blocks_of_picture(scene), THREADS, 0, stream, *scene);
}

void orr_cuda_meshes_shade_fragments(cudaStream_t stream, const orr_cuda_mesh_scene *scene)
{
    ORR_LAUNCH(shade_fragments, blocks_of_picture(scene), THREADS, 0, stream, *scene);
}
