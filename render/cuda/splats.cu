#include "engine/device/cuda_kernel.h"

#include <float.h>

extern "C" {
#include "render/cuda/splats.h"
}
#include "render/cuda/cloud_shadow_device.h"
#include "render/cuda/environment_device.h"
#include "render/cuda/occlusion_device.h"
#include "render/cuda/project_device.h"
#include "render/cuda/shadow_device.h"
#include "render/edge_formula.h"
#include "render/seen/seen_formula.h"
#include "render/splat/blend_formula.h"
#include "render/splat/deform_formula.h"
#include "render/splat/splat_photo_inputs.h"

enum : uint32_t { THREADS = 256, NO_TAKER = 0xffffffffu };

// ---- project ----

// piece_of, pieces: of a cloud that is deformed
template <int degree, bool deformed>
static __global__ void project(const float *geometry, const float *harmonics, const int32_t *piece_of,
                               const splat_deformation *pieces, uint32_t count, splat_lens lens,
                               clip_plane clip, projected to, orr_cuda_control *control)
{
    uint32_t splat = blockIdx.x * THREADS + threadIdx.x;
    bool visible = false;
    if (splat < count) {
        const stored_splat g = load_splat(geometry, splat);
        real3 mean = g.mean;
        splat_axes axes = g.axes;
        splat_deformation deformation;
        if (deformed) {
            deformation = pieces[piece_of[splat]];
            mean = deform_mean(deformation, mean);
            axes = deform_axes(deformation, axes);
        }
        splat_screen s = splat_project(lens, mean, axes, g.opacity);
        visible = s.visible && clip_height(clip, mean) >= 0.0f;
        put_key(to, splat, visible, s.depth);
        if (visible) {
            real3 direction =
                deformed ? deform_direction(deformation, lens, mean) : splat_direction(lens, mean);
            put_record(to, splat, s, splat_colour<degree>(harmonics, splat, direction));
        }
    }
    count_visible(visible, control);
}

// As a camera in memory sees them. distorted: through the lens of its photo
template <int degree, bool distorted>
static __global__ void project_eye(const float *geometry, const float *harmonics, uint32_t count,
                                   const orr_cuda_eye *eye, projected to, orr_cuda_control *control)
{
    const splat_lens lens = splat_lens_of(&eye->lens);
    uint32_t splat = blockIdx.x * THREADS + threadIdx.x;
    bool visible = false;
    if (splat < count) {
        const stored_splat g = load_splat(geometry, splat);
        const splat_screen s =
            distorted ? splat_project_unscented(lens, splat_photo_of(&eye->photo), g.mean, g.axes, g.opacity)
                      : splat_project(lens, g.mean, g.axes, g.opacity);
        visible = s.visible;
        put_key(to, splat, visible, s.depth);
        if (visible) {
            put_record(to, splat, s, splat_colour<degree>(harmonics, splat, splat_direction(lens, g.mean)));
        }
    }
    count_visible(visible, control);
}

// ---- tiles ----

static __global__ void count_tiles(const float4 *centres, const float4 *shapes, const uint32_t *order,
                                   int tiles_x, int tiles_y, const orr_cuda_control *control,
                                   uint32_t *tile_counts)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= control->visible) {
        return;
    }
    splat_footprint splat = footprint_of(centres[order[i]], shapes[order[i]]);
    int2 rows = tile_rows(&splat, tiles_y);
    uint32_t count = 0;
    for (int row = rows.x; row <= rows.y; row++) {
        int2 tiles = tiles_of_row(&splat, row, tiles_x);
        count += (uint32_t)max(tiles.y - tiles.x + 1, 0);
    }
    tile_counts[i] = count;
}

// A warp handles the large splats of its lanes together, a row per lane, so that no thread runs long.
static __global__ void emit_pairs(const float4 *centres, const float4 *shapes, const uint32_t *order,
                                  int tiles_x, int tiles_y, uint32_t capacity, orr_cuda_control *control,
                                  const uint32_t *begins, uint32_t *pair_tiles, uint32_t *pair_splats)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x, lane = orr_lane(), visible = control->visible;
    if (i == 0) {
        control->pairs = min(control->needed, capacity);
    }
    if (i - lane >= visible) {
        return; // the whole warp
    }
    bool exists = i < visible;
    uint32_t mine = exists ? order[i] : 0, my_begin = exists ? begins[i] : 0;
    int my_rows = 0;
    if (exists) {
        splat_footprint splat = footprint_of(centres[mine], shapes[mine]);
        int2 rows = tile_rows(&splat, tiles_y);
        my_rows = rows.y - rows.x + 1;
        if (my_rows <= 4) { // one thread is faster
            uint32_t to = my_begin;
            for (int row = rows.x; row <= rows.y; row++) {
                int2 tiles = tiles_of_row(&splat, row, tiles_x);
                for (int column = tiles.x; column <= tiles.y && to < capacity; column++, to++) {
                    pair_tiles[to] = (uint32_t)(row * tiles_x + column);
                    pair_splats[to] = mine;
                }
            }
        }
    }
    for (uint32_t large = __ballot_sync(ORR_ALL_LANES, my_rows > 4); large; large &= large - 1) {
        int of = __ffs((int)large) - 1;
        uint32_t index = __shfl_sync(ORR_ALL_LANES, mine, of), to = __shfl_sync(ORR_ALL_LANES, my_begin, of);
        splat_footprint splat = footprint_of(centres[index], shapes[index]);
        int2 rows = tile_rows(&splat, tiles_y);
        for (int row = rows.x; row <= rows.y; row += ORR_WARP) {
            int own = row + (int)lane;
            int2 tiles = own <= rows.y ? tiles_of_row(&splat, own, tiles_x) : make_int2(1, 0);
            uint32_t count = (uint32_t)max(tiles.y - tiles.x + 1, 0), sum = count;
            for (uint32_t by = 1; by < ORR_WARP; by *= 2) {
                uint32_t before = __shfl_up_sync(ORR_ALL_LANES, sum, by);
                sum += lane >= by ? before : 0u;
            }
            uint32_t at = to + sum - count;
            for (int column = tiles.x; column <= tiles.y && at < capacity; column++, at++) {
                pair_tiles[at] = (uint32_t)(own * tiles_x + column);
                pair_splats[at] = index;
            }
            to += __shfl_sync(ORR_ALL_LANES, sum, ORR_WARP - 1);
        }
    }
}

static __global__ void find_tiles(const uint32_t *pair_tiles, const orr_cuda_control *control,
                                  uint32_t *ranges)
{
    uint32_t i = blockIdx.x * THREADS + threadIdx.x, pairs = control->pairs;
    if (i >= pairs) {
        return;
    }
    uint32_t tile = pair_tiles[i];
    if (i == 0 || pair_tiles[i - 1] != tile) {
        ranges[2 * tile] = i;
    }
    if (i + 1 == pairs || pair_tiles[i + 1] != tile) {
        ranges[2 * tile + 1] = i + 1;
    }
}

// ---- blend ----

// What a pixel has: splats alone; fields and meshes, too; and shadows of clouds on them.
enum layering : int { SPLATS, LAYERS, CLOUDED };

enum : int {
    ROWS = 2,                        // pixels of a thread, one below the other
    BLEND_Y = ORR_CUDA_TILE / ROWS,  // threads per column
    BATCH = ORR_CUDA_TILE * BLEND_Y, // splats in shared memory, one per thread
};

// A pixel and its next layers; depth infinity: none, or no more.
typedef struct pixel_state {
    blend_pixel blended;
    float mesh_depth; // splats from here on are hidden
    float field_depth;
    float fragment_depth; // of the next one
    uint32_t fragment, fragment_end;
    float receiver; // depth of the captured surface; infinity: none
    float owner;    // number of the cloud that it is of, among those that cast shadows; -1: of none
    // of a pixel with an edge:
    const orr_edge_pixel *edge; // NULL: it has none
    int edge_count;             // samples blended
    float edge_depth;           // of the next one
    edge_centre centre;
} pixel_state;

static __device__ real3 colour_at(const float *planes, int plane, int at)
{
    return make_real3(planes[at], planes[plane + at], planes[2 * plane + at]);
}

static __device__ void blend_field(const orr_cuda_blend *b, pixel_state *p, int at)
{
    int plane = b->width * b->height;
    if (blend_continues(p->blended)) {
        float before = p->blended.transmittance;
        p->blended = blend_layer(p->blended, true, colour_at(b->field_colour, plane, at),
                                 b->field_colour[3 * plane + at], p->field_depth);
        p->centre = edge_centre_blend(p->centre, true, b->field_colour[3 * plane + at], p->field_depth);
        p->receiver = shadow_receiver(p->receiver, before, p->blended.transmittance,
                                      shadow_field_depth(shadow_eye_of(&b->eye), p->field_depth));
        p->owner = shadow_receiver(p->owner, before, p->blended.transmittance, -1.0f);
    }
    p->field_depth = INFINITY;
}

static __device__ void find_fragment(const orr_cuda_blend *b, pixel_state *p)
{
    p->fragment_depth = p->fragment < p->fragment_end ? b->fragments[p->fragment].depth : INFINITY;
}

static __device__ void blend_fragment(const orr_cuda_blend *b, pixel_state *p)
{
    if (blend_continues(p->blended)) {
        orr_fragment seen = b->fragments[p->fragment];
        p->blended = blend_layer(p->blended, true, make_real3(seen.rgba[0], seen.rgba[1], seen.rgba[2]),
                                 seen.rgba[3], seen.depth);
        p->centre = edge_centre_blend(p->centre, true, seen.rgba[3], seen.depth);
    }
    p->fragment++;
    find_fragment(b, p);
}

static __device__ void find_sample(pixel_state *p)
{
    p->edge_depth =
        p->edge && p->edge_count < EDGE_SAMPLES ? p->edge->samples[p->edge_count].depth : INFINITY;
}

static __device__ void begin_edge(const orr_edge_pixel *edge, pixel_state *p)
{
    p->edge = edge;
    p->edge_count = 0;
    p->centre = edge_centre_begin(edge->centre_depth);
    find_sample(p);
}

static __device__ void blend_sample(pixel_state *p)
{
    const orr_edge_sample seen = p->edge->samples[p->edge_count];
    const float alpha = edge_alpha((float)p->edge_count);
    const real3 colour = scale3(make_real3(seen.rgb[0], seen.rgb[1], seen.rgb[2]), alpha);
    p->blended = blend_layer(p->blended, true, colour, alpha, seen.depth);
    p->edge_count++;
    find_sample(p);
}

// Blends what fields, transparent meshes and samples show up to a depth, nearer ones first.
static __device__ void blend_layers(const orr_cuda_blend *b, pixel_state *p, int at, float reach)
{
    while (fminf(fminf(p->field_depth, p->fragment_depth), p->edge_depth) <= reach) {
        if (p->edge_depth <= fminf(p->field_depth, p->fragment_depth)) {
            blend_sample(p);
        } else if (blend_field_is_first(p->field_depth, p->fragment_depth)) {
            blend_field(b, p, at);
        } else {
            blend_fragment(b, p);
        }
    }
}

// The shadow of meshes and clouds on what is blended of splats and fields so far.
template <int layering> static __device__ void shade_pixel(const orr_cuda_blend *b, pixel_state *p, int at)
{
    const shadow_eye eye = shadow_eye_of(&b->eye);
    real3 position =
        shadow_seen(eye, (float)(at % b->width) + 0.5f, (float)(at / b->width) + 0.5f, fabsf(p->receiver));
    float visible = 1.0f, open = 1.0f;
    if (b->shadow_maps) {
        visible = shadow_lookup(b->shadows, b->shadow_maps, 0, position, make_real3(0.0f, 0.0f, 0.0f));
    }
    if (layering == CLOUDED) {
        visible = visible * cloud_shadow_lookup(&b->clouds, b->clouds.table->captured_light, position,
                                                (int32_t)p->owner);
    }
    visible = shadow_on_receiver(p->receiver, visible);
    if (b->occlusion.depth) {
        open = occlusion_on_capture(&b->occlusion, position);
    }
    if (min_(visible, open) < 1.0f) {
        float alpha = 1.0f - fabsf(p->blended.transmittance);
        float lit = b->self_depths ? shadow_lookup_in(b->self_depths, shadow_view_of(&b->self), position,
                                                      make_real3(0.0f, 0.0f, 0.0f))
                                   : 1.0f;
        p->blended.colour = shadow_on_capture(eye, p->blended.colour, alpha, visible, open, lit);
    }
}

// The environment or the sky.
static __device__ real3 sky_behind(const orr_cuda_blend *b, int at)
{
    float x = (float)(at % b->width) + 0.5f, y = (float)(at / b->width) + 0.5f;
    sky_view sky = sky_view_of(&b->sky);
    if (!b->behind.texels) {
        return sky_colour(sky, x, y);
    }
    environment_view v = environment_of(&b->behind.view);
    real3 d = affine_direction(v.to_map, sky_direction(sky, x, y));
    environment_square s = environment_find(environment_flatten(d), v.first, v.sharp);
    tone_curve tone = {b->behind.exposure, b->behind.tone};
    return light_display(tone_map(tone, scale3(environment_bilinear(b->behind.texels, s), v.strength)));
}

template <int layering, bool noted>
static __device__ void end_pixel(const orr_cuda_blend *b, pixel_state p, uint32_t taker, int at)
{
    int plane = b->width * b->height;
    blend_layers(b, &p, at, FLT_MAX);
    if ((layering == CLOUDED || b->shadow_maps || b->occlusion.depth) && p.receiver < INFINITY) {
        shade_pixel<layering>(b, &p, at);
    }
    real3 surface = b->mesh_depth ? colour_at(b->mesh_colour, plane, at) : make_real3(0.0f, 0.0f, 0.0f);
    blend_pixel blended = blend_surface(p.blended, !p.edge && p.mesh_depth < INFINITY, surface, p.mesh_depth);
    b->depth[at] = p.edge ? edge_centre_depth(p.centre) : blend_mean_depth(blended);
    if (b->opaque) {
        blended = blend_background(blended, b->backdrop ? surface : sky_behind(b, at));
    }
    if (noted) {
        b->takers[at] = taker;
    }
    ((float4 *)b->rgba)[at] =
        make_float4(blended.colour.x, blended.colour.y, blended.colour.z, 1.0f - blended.transmittance);
}

// noted: takers are asked for
template <int layering, bool noted>
static __global__ void __launch_bounds__(BATCH) blend_tiles(orr_cuda_blend b)
{
    __shared__ float4 centres[BATCH], shapes[BATCH], colours[BATCH];
    __shared__ float owners[layering == CLOUDED ? BATCH : 1];
    __shared__ uint32_t numbers[noted ? BATCH : 1];
    const bool layered = layering != SPLATS;
    int x = (int)blockIdx.x * ORR_CUDA_TILE + (int)(threadIdx.x % ORR_CUDA_TILE);
    int y = (int)blockIdx.y * ORR_CUDA_TILE + (int)(threadIdx.x / ORR_CUDA_TILE) * ROWS;
    pixel_state pixels[ROWS];
    uint32_t takers[ROWS] = {NO_TAKER, NO_TAKER}; // beside the pixels, which are as they were without them
    for (int row = 0; row < ROWS; row++) {
        bool inside = x < b.width && y + row < b.height;
        int at = (y + row) * b.width + x;
        pixel_state begin = {blend_begin(inside),
                             INFINITY,
                             INFINITY,
                             INFINITY,
                             0,
                             0,
                             INFINITY,
                             -1.0f,
                             NULL,
                             0,
                             INFINITY,
                             edge_centre_begin(INFINITY)};
        if (layered && inside) {
            begin.mesh_depth = b.mesh_depth ? b.mesh_depth[at] : INFINITY;
            begin.field_depth = b.field_depth ? b.field_depth[at] : INFINITY;
            if (b.edge_of && b.edge_of[at] > 0) {
                begin_edge(&b.edges[b.edge_of[at] - 1], &begin);
            }
            if (b.fragment_starts) {
                begin.fragment = b.fragment_starts[at];
                begin.fragment_end = b.fragment_starts[at + 1];
                find_fragment(&b, &begin);
            }
        }
        pixels[row] = begin;
    }
    const uint32_t *range = b.ranges + 2 * (blockIdx.y * gridDim.x + blockIdx.x);
    for (uint32_t first = range[0]; first < range[1]; first += BATCH) {
        bool live = false;
        for (int row = 0; row < ROWS; row++) {
            live |= blend_continues(pixels[row].blended);
        }
        if (!__syncthreads_or(live)) { // also: no thread reads the last batch any more
            break;
        }
        uint32_t mine = first + threadIdx.x;
        if (mine < range[1]) {
            uint32_t splat = b.pair_splats[mine];
            centres[threadIdx.x] = ((const float4 *)b.records.centres)[splat];
            shapes[threadIdx.x] = ((const float4 *)b.records.shapes)[splat];
            colours[threadIdx.x] = ((const float4 *)b.records.colours)[splat];
            if (layering == CLOUDED) {
                owners[threadIdx.x] = (float)cloud_owner(b.clouds.table, splat);
            }
            if (noted) {
                numbers[threadIdx.x] = splat;
            }
        }
        __syncthreads();
        int count = (int)min(range[1] - first, (uint32_t)BATCH);
        for (int k = 0; live && k < count; k++) {
            splat_footprint splat = footprint_of(centres[k], shapes[k]);
            float alpha[ROWS];
            bool any_covered = false;
            for (int row = 0; row < ROWS; row++) {
                real2 d = {(float)x + 0.5f - splat.centre.x, (float)(y + row) + 0.5f - splat.centre.y};
                alpha[row] = blend_continues(pixels[row].blended)
                                 ? splat_alpha(splat.log2_opacity, d, splat.shape)
                                 : 0.0f;
                any_covered |= alpha[row] > 0.0f;
            }
            if (!any_covered && !(layered && (b.field_depth || b.fragment_starts || b.edge_of))) {
                continue;
            }
            float4 seen = colours[k];
            live = false;
            for (int row = 0; row < ROWS; row++) {
                pixel_state *p = &pixels[row];
                if (layered) {
                    if (p->edge) {
                        p->centre = edge_centre_blend(p->centre, true, alpha[row], seen.w);
                    }
                    alpha[row] = seen.w < p->mesh_depth ? alpha[row] : 0.0f;
                    blend_layers(&b, p, (y + row) * b.width + x, seen.w);
                }
                if (alpha[row] > 0.0f) {
                    float before = p->blended.transmittance;
                    p->blended =
                        blend_splat(p->blended, alpha[row], make_real3(seen.x, seen.y, seen.z), seen.w);
                    if (layered) {
                        p->receiver = shadow_receiver(p->receiver, before, p->blended.transmittance, seen.w);
                    }
                    if (layering == CLOUDED) {
                        p->owner = shadow_receiver(p->owner, before, p->blended.transmittance, owners[k]);
                    }
                    if (noted && seen_takes(before, p->blended.transmittance)) {
                        takers[row] = numbers[k];
                    }
                }
                live |= blend_continues(p->blended);
            }
        }
    }
    for (int row = 0; row < ROWS; row++) {
        if (x < b.width && y + row < b.height) {
            end_pixel<layering, noted>(&b, pixels[row], takers[row], (y + row) * b.width + x);
        }
    }
}

// ---- launches ----

template <int degree>
static void launch_project(cudaStream_t stream, const orr_cuda_cloud *cloud, const splat_lens_values *lens,
                           const float clip[4], const splat_deformation *pieces, projected to,
                           orr_cuda_control *control)
{
    const auto project_splats = pieces ? project<degree, true> : project<degree, false>;
    ORR_LAUNCH(project_splats, orr_cuda_blocks((size_t)cloud->count, THREADS), THREADS, 0, stream,
               cloud->geometry, cloud->harmonics, cloud->piece_of, pieces, (uint32_t)cloud->count,
               splat_lens_of(lens), clip_plane_of(clip), to, control);
}

void orr_cuda_splats_project(cudaStream_t stream, const orr_cuda_cloud *cloud, const splat_lens_values *lens,
                             const float clip[4], const orr_affine_piece *pieces, uint32_t first,
                             orr_cuda_records records, uint32_t *keys, uint32_t *order,
                             orr_cuda_control *control)
{
    static_assert(sizeof(splat_deformation) == sizeof *pieces, "the same members in the same order");
    const auto launch = cloud->sh_degree == 0   ? launch_project<0>
                        : cloud->sh_degree == 1 ? launch_project<1>
                        : cloud->sh_degree == 2 ? launch_project<2>
                                                : launch_project<3>;
    launch(stream, cloud, lens, clip, (const splat_deformation *)pieces,
           projected_of(records, first, keys, order), control);
}

template <bool distorted>
static void launch_project_eye(cudaStream_t stream, const orr_cuda_cloud *cloud, const orr_cuda_eye *eye,
                               projected to, orr_cuda_control *control)
{
    const auto project_splats = cloud->sh_degree == 0   ? project_eye<0, distorted>
                                : cloud->sh_degree == 1 ? project_eye<1, distorted>
                                : cloud->sh_degree == 2 ? project_eye<2, distorted>
                                                        : project_eye<3, distorted>;
    ORR_LAUNCH(project_splats, orr_cuda_blocks((size_t)cloud->count, THREADS), THREADS, 0, stream,
               cloud->geometry, cloud->harmonics, (uint32_t)cloud->count, eye, to, control);
}

void orr_cuda_splats_project_eye(cudaStream_t stream, const orr_cuda_cloud *cloud, const orr_cuda_eye *eye,
                                 bool distorted, uint32_t first, orr_cuda_records records, uint32_t *keys,
                                 uint32_t *order, orr_cuda_control *control)
{
    const auto launch = distorted ? launch_project_eye<true> : launch_project_eye<false>;
    launch(stream, cloud, eye, projected_of(records, first, keys, order), control);
}

void orr_cuda_splats_count(cudaStream_t stream, orr_cuda_records records, const uint32_t *order, int tiles_x,
                           int tiles_y, size_t capacity, const orr_cuda_control *control,
                           uint32_t *tile_counts)
{
    ORR_LAUNCH(count_tiles, orr_cuda_blocks(capacity, THREADS), THREADS, 0, stream,
               (const float4 *)records.centres, (const float4 *)records.shapes, order, tiles_x, tiles_y,
               control, tile_counts);
}

void orr_cuda_splats_emit(cudaStream_t stream, orr_cuda_records records, const uint32_t *order, int tiles_x,
                          int tiles_y, size_t capacity, uint32_t pair_capacity, orr_cuda_control *control,
                          const uint32_t *begins, uint32_t *pair_tiles, uint32_t *pair_splats)
{
    ORR_LAUNCH(emit_pairs, orr_cuda_blocks(capacity, THREADS), THREADS, 0, stream,
               (const float4 *)records.centres, (const float4 *)records.shapes, order, tiles_x, tiles_y,
               pair_capacity, control, begins, pair_tiles, pair_splats);
}

void orr_cuda_splats_find_tiles(cudaStream_t stream, const uint32_t *pair_tiles, size_t pair_capacity,
                                const orr_cuda_control *control, uint32_t *ranges)
{
    ORR_LAUNCH(find_tiles, orr_cuda_blocks(pair_capacity, THREADS), THREADS, 0, stream, pair_tiles, control,
               ranges);
}

template <bool noted> static void launch_blend(cudaStream_t stream, const orr_cuda_blend *blend)
{
    dim3 tiles((unsigned int)blend->tiles_x, (unsigned int)blend->tiles_y);
    const auto blend_pixels = blend->clouds.table                       ? blend_tiles<CLOUDED, noted>
                              : blend->mesh_depth || blend->field_depth ? blend_tiles<LAYERS, noted>
                                                                        : blend_tiles<SPLATS, noted>;
    ORR_LAUNCH(blend_pixels, tiles, BATCH, 0, stream, *blend);
}

void orr_cuda_splats_blend(cudaStream_t stream, const orr_cuda_blend *blend)
{
    (blend->takers ? launch_blend<true> : launch_blend<false>)(stream, blend);
}
