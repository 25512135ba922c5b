// Blending on the CPU: one tile of 32x32 pixels, lanes over small blocks of it.
//
// A tile's splats come in batches of 64. For each batch, lanes over splats find which blocks of 4 x LANES/4
// pixels each ellipse reaches, exactly, by the ends of the ellipse within the block's rows: one comparison
// gives one bit per splat. Then each block walks its set of splats with its pixels in registers:
// transmittance, colour and depth are loaded and stored once per batch, not once per splat. A block whose
// pixels have all stopped takes no further part.
#include "render/cloud_shadow/cloud_shadow_cpu.h"
#include "render/cpu/environment_cpu.h"
#include "render/cpu/occlusion_cpu.h"
#include "render/cpu/shadow_cpu.h"
#include "render/cpu/splat_touch_cpu.h"
#include "render/cpu/splats_cpu.h"
#include "render/edge_formula.h"
#include "render/seen/seen_formula.h"
#include "render/splat/blend_formula.h"

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    CHECK_EVERY = 8 // splats between two checks whether all pixels of a block have stopped
};

// What meshes and fields show in a block's pixels; apart from the blend_pixels, which are read and written
// with every batch of splats and should stay in L1. A layer is blended when the splats reach its depth;
// infinity: none, or no more.
typedef struct block_layers {
    real mesh_depth; // splats from here on are hidden
    real field_depth;
    real3 field_colour; // premultiplied
    real field_alpha;
    real fragment_depth; // of the next one
    sint fragment, fragment_end;
    // in a block that has pixels with edges:
    bool has_edges;
    mask edges;      // those pixels
    sint edge_pixel; // of the list
    real edge_count; // samples blended
    real edge_depth; // of the next one
    edge_centre centre;
} block_layers;

typedef struct tile_state {
    blend_pixel blocks[BLOCKS];
    bool live[BLOCKS]; // has it pixels that have not stopped?
    int live_count;
    uint64_t touches[BLOCKS]; // splats of the batch that reach each block
    orr_splat_record batch[BATCH];
    block_layers layers[BLOCKS];
    real receivers[BLOCKS]; // depths of captured surfaces; infinity: none
    real owners[BLOCKS];    // the layers of the list's splats that those are of; -1: none
    sint items[BLOCKS];     // as orr_draw_cpu returns them, of clouds; -1: none
    uint32_t kept[BLOCKS];  // splats that a job with `keep` has taken down
    mask same[BLOCKS];      // with what was kept: pixels that are as they were
} tile_state;

// Is all of a block in the picture?
static bool is_whole(const orr_blend_job *job, int left, int top)
{
    return left + BLOCK_W <= job->width && top + BLOCK_H <= job->height;
}

// The rows of a block that is all in the picture, whose rows are `width` apart.
FN real load_rows(const float *p, int64_t width)
{
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    // in registers: a load of all that was just stored row by row waits for the stores
    __m256 rows = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + width), 1);
#if ORR_LANES_AVX2
    return (real)rows;
#else
    __m512 all = _mm512_insertf32x4(_mm512_castps256_ps512(rows), _mm_loadu_ps(p + 2 * width), 2);
    return (real)_mm512_insertf32x4(all, _mm_loadu_ps(p + 3 * width), 3);
#endif
#else
    float values[ORR_LANES];
    for (int row = 0; row < BLOCK_H; row++) {
        memcpy(values + row * BLOCK_W, p + row * width, BLOCK_W * sizeof *values);
    }
    return real_load(values);
#endif
}

#if ORR_LANES_AVX512
#define ROW(a, row) _mm512_extractf32x4_ps(a, row)
#elif ORR_LANES_AVX2
#define ROW(a, row) _mm256_extractf128_ps(a, row)
#endif

// The other way round.
FN void store_rows(float *p, int64_t width, real a)
{
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    _mm_storeu_ps(p, ROW(a, 0));
    _mm_storeu_ps(p + width, ROW(a, 1));
#if ORR_LANES_AVX512
    _mm_storeu_ps(p + 2 * width, ROW(a, 2));
    _mm_storeu_ps(p + 3 * width, ROW(a, 3));
#endif
#else
    float values[ORR_LANES];
    real_store(values, a);
    for (int row = 0; row < BLOCK_H; row++) {
        memcpy(p + row * width, values + row * BLOCK_W, BLOCK_W * sizeof *values);
    }
#endif
}

// The four numbers of each pixel of such a block, which stand together.
FN void store_pixels(float *p, int64_t width, real r, real g, real b, real a)
{
#if ORR_LANES_AVX512
    const __m512 rg[2] = {_mm512_unpacklo_ps(r, g), _mm512_unpackhi_ps(r, g)},
                 ba[2] = {_mm512_unpacklo_ps(b, a), _mm512_unpackhi_ps(b, a)};
    for (int i = 0; i < 2; i++) {
        store_rows(p + 8 * i, 4 * width, (real)_mm512_shuffle_ps(rg[i], ba[i], 0x44));
        store_rows(p + 8 * i + 4, 4 * width, (real)_mm512_shuffle_ps(rg[i], ba[i], 0xee));
    }
#elif ORR_LANES_AVX2
    const __m256 rg[2] = {_mm256_unpacklo_ps(r, g), _mm256_unpackhi_ps(r, g)},
                 ba[2] = {_mm256_unpacklo_ps(b, a), _mm256_unpackhi_ps(b, a)};
    for (int i = 0; i < 2; i++) {
        store_rows(p + 8 * i, 4 * width, (real)_mm256_shuffle_ps(rg[i], ba[i], 0x44));
        store_rows(p + 8 * i + 4, 4 * width, (real)_mm256_shuffle_ps(rg[i], ba[i], 0xee));
    }
#else
    float member[4][ORR_LANES];
    real_store(member[0], r);
    real_store(member[1], g);
    real_store(member[2], b);
    real_store(member[3], a);
    for (int i = 0; i < ORR_LANES; i++) {
        for (int k = 0; k < 4; k++) {
            p[4 * (i / BLOCK_W * width + i % BLOCK_W) + k] = member[k][i];
        }
    }
#endif
}

// A plane's values at the pixels of a block; `outside` beyond the picture.
static real plane_block(const orr_blend_job *job, const float *plane, int left, int top, float outside)
{
    if (is_whole(job, left, top)) {
        return load_rows(plane + (int64_t)top * job->width + left, job->width);
    }
    float values[ORR_LANES];
    for (int i = 0; i < ORR_LANES; i++) {
        int x = left + i % BLOCK_W, y = top + i / BLOCK_W;
        values[i] = x < job->width && y < job->height ? plane[(int64_t)y * job->width + x] : outside;
    }
    return real_load(values);
}

// Three planes of colour, one behind the other.
static real3 colour_block(const orr_blend_job *job, const float *planes, int left, int top)
{
    const int64_t plane = (int64_t)job->width * job->height;
    return make_real3(plane_block(job, planes, left, top, 0.0f),
                      plane_block(job, planes + plane, left, top, 0.0f),
                      plane_block(job, planes + 2 * plane, left, top, 0.0f));
}

// A member of fragments, by its offset in the struct [bytes].
FN real fragment_member(const orr_blend_job *job, sint fragment, size_t offset)
{
    return real_gather((const float *)((const char *)job->fragments.fragments + offset),
                       fragment * I(sizeof(orr_fragment) / 4));
}

// Depth of the next fragment of each pixel.
FN real next_depth(const orr_blend_job *job, sint fragment, sint end)
{
    mask some = fragment < end;
    return sel(some, fragment_member(job, sel_int(some, fragment, I(0)), offsetof(orr_fragment, depth)),
               R(__builtin_inff()));
}

static void begin_fragments(const orr_blend_job *job, block_layers *layers, int left, int top)
{
    int32_t first[ORR_LANES] = {0}, end[ORR_LANES] = {0};
    for (int i = 0; i < ORR_LANES; i++) {
        int x = left + i % BLOCK_W, y = top + i / BLOCK_W;
        if (x < job->width && y < job->height) {
            const uint32_t *start = job->fragments.starts + (int64_t)y * job->width + x;
            first[i] = (int32_t)start[0];
            end[i] = (int32_t)start[1];
        }
    }
    layers->fragment = sint_load(first);
    layers->fragment_end = sint_load(end);
    layers->fragment_depth = next_depth(job, layers->fragment, layers->fragment_end);
}

// A member of pixels with edges, by its offset in the struct [bytes].
FN real edge_member(const orr_blend_job *job, sint number, size_t offset)
{
    return real_gather((const float *)((const char *)job->edges.pixels + offset),
                       number * I(sizeof(orr_edge_pixel) / 4));
}

// A member of the next sample of the pixels that have one.
FN real next_sample(const orr_blend_job *job, const block_layers *layers, mask some, size_t offset)
{
    const sint at = sel_int(some, layers->edge_pixel, I(0)) * I(sizeof(orr_edge_pixel) / 4) +
                    to_int(sel(some, layers->edge_count, R(0.0))) * I(sizeof(orr_edge_sample) / 4);
    return real_gather((const float *)((const char *)job->edges.pixels + offset), at);
}

FN void find_sample(const orr_blend_job *job, block_layers *layers)
{
    const mask some = and_(layers->edges, layers->edge_count < R(EDGE_SAMPLES));
    layers->edge_depth =
        sel(some, next_sample(job, layers, some, offsetof(orr_edge_sample, depth)), R(__builtin_inff()));
}

static bool has_edges(const orr_blend_job *job, int left, int top)
{
    const uint64_t columns = ((1ull << BLOCK_W) - 1) << left % 64; // BLOCK_W divides 64
    uint64_t some = 0;
    for (int y = top; y < top + BLOCK_H && y < job->height; y++) {
        some |= job->edges.bits[y * job->edges.words + left / 64] & columns;
    }
    return some != 0;
}

static void begin_edges(const orr_blend_job *job, block_layers *layers, int left, int top)
{
    int32_t edge[ORR_LANES], number[ORR_LANES];
    for (int i = 0; i < ORR_LANES; i++) {
        const int x = left + i % BLOCK_W, y = top + i / BLOCK_W;
        edge[i] = number[i] = 0;
        if (x >= job->width || y >= job->height) {
            continue;
        }
        const int word = y * job->edges.words + x / 64;
        const uint64_t bits = job->edges.bits[word], below = ((uint64_t)1 << x % 64) - 1;
        if (bits >> x % 64 & 1) {
            edge[i] = -1;
            number[i] = (int32_t)job->edges.firsts[word] + __builtin_popcountll(bits & below);
            layers->has_edges = true;
        }
    }
    if (layers->has_edges) {
        layers->edges = sint_load(edge);
        layers->edge_pixel = sint_load(number);
        layers->edge_count = R(0.0);
        layers->centre =
            edge_centre_begin(edge_member(job, layers->edge_pixel, offsetof(orr_edge_pixel, centre_depth)));
        find_sample(job, layers);
    }
}

static void begin_layers(const orr_blend_job *job, block_layers *layers, int left, int top)
{
    const int64_t plane = (int64_t)job->width * job->height;
    // one by one: clearing all of the struct first takes a tenth of a frame without splats
    layers->mesh_depth = layers->field_depth = layers->fragment_depth = layers->edge_depth =
        R(__builtin_inff());
    layers->field_colour = make_real3(R(0.0), R(0.0), R(0.0));
    layers->field_alpha = R(0.0);
    layers->fragment = layers->fragment_end = I(0);
    layers->has_edges = false;
    if (job->edges.bits && left < job->width && has_edges(job, left, top)) {
        begin_edges(job, layers, left, top);
    }
    if (job->fragments.starts) {
        begin_fragments(job, layers, left, top);
    }
    if (job->mesh_depth) {
        layers->mesh_depth = plane_block(job, job->mesh_depth, left, top, 0.0f);
    }
    if (job->field_depth) {
        layers->field_depth = plane_block(job, job->field_depth, left, top, __builtin_inff());
        layers->field_colour = colour_block(job, job->field_colour, left, top);
        layers->field_alpha = plane_block(job, job->field_colour + 3 * plane, left, top, 0.0f);
    }
}

// ---- what is the same for many frames ----

enum { KEPT_BLOCK = ORR_KEPT_PIXELS / BLOCKS };
_Static_assert((int)BLOCKS < (int)ORR_KEPT_STARTS, "each block has a start");

static void keep_splats(const orr_blend_job *job, tile_state *tile, int block, uint64_t set, uint32_t start)
{
    const orr_kept_tile *keep = job->keep;
    if (!keep->splats) {
        keep->starts[block + 1] += (uint32_t)__builtin_popcountll(set);
        return;
    }
    for (; set; set &= set - 1) {
        keep->splats[keep->starts[block] + tile->kept[block]++] =
            job->tile_splats[start + (uint32_t)__builtin_ctzll(set)];
    }
}

static void keep_block(const tile_state *tile, int block, float *kept)
{
    const blend_pixel *p = &tile->blocks[block];
    kept += block * KEPT_BLOCK;
    real_store(kept, p->colour.x);
    real_store(kept + ORR_LANES, p->colour.y);
    real_store(kept + 2 * ORR_LANES, p->colour.z);
    real_store(kept + 3 * ORR_LANES, p->depth);
    real_store(kept + 4 * ORR_LANES, p->transmittance);
    real_store(kept + 5 * ORR_LANES, tile->receivers[block]);
    real_store(kept + 6 * ORR_LANES, tile->owners[block]);
    real_store(kept + 7 * ORR_LANES, to_real(tile->items[block]));
    real_store(kept + 8 * ORR_LANES, tile->layers[block].mesh_depth);
}

// What was kept of the pixels that are as they were, once the others are blended.
static void take_kept_pixels(tile_state *tile, int block, const float *kept)
{
    const mask same = tile->same[block];
    blend_pixel *p = &tile->blocks[block];
    kept += block * KEPT_BLOCK;
    p->colour = select3(
        same, make_real3(real_load(kept), real_load(kept + ORR_LANES), real_load(kept + 2 * ORR_LANES)),
        p->colour);
    p->depth = sel(same, real_load(kept + 3 * ORR_LANES), p->depth);
    p->transmittance = sel(same, real_load(kept + 4 * ORR_LANES), p->transmittance);
    tile->receivers[block] = sel(same, real_load(kept + 5 * ORR_LANES), tile->receivers[block]);
    tile->owners[block] = sel(same, real_load(kept + 6 * ORR_LANES), tile->owners[block]);
    tile->items[block] = sel_int(same, to_int(real_load(kept + 7 * ORR_LANES)), tile->items[block]);
}

// In which pixels does nothing show among the splats but an opaque mesh as deep as when they were kept?
static mask as_kept(const block_layers *layers, int block, const float *kept)
{
    const real depth = real_load(kept + block * KEPT_BLOCK + 8 * ORR_LANES);
    const mask same = and_(layers->mesh_depth == depth,
                           not_(min_(layers->field_depth, layers->fragment_depth) < R(__builtin_inff())));
    return layers->has_edges ? I(0) : same;
}

static bool takes_kept(const orr_blend_job *job)
{
    return job->kept && !job->keep;
}

static void begin_blocks(const orr_blend_job *job, tile_state *tile, bool layered)
{
    tile->live_count = 0;
    for (int b = 0; b < BLOCKS; b++) {
        int left = job->tile_x * ORR_CPU_TILE + b % COLUMNS * BLOCK_W;
        int top = job->tile_y * ORR_CPU_TILE + b / COLUMNS * BLOCK_H;
        mask inside = and_(pixel_column(left) < R(job->width), pixel_row(top) < R(job->height));
        tile->receivers[b] = R(__builtin_inff());
        tile->owners[b] = R(-1.0);
        tile->items[b] = I(-1);
        tile->kept[b] = 0;
        if (layered) {
            begin_layers(job, &tile->layers[b], left, top);
        }
        if (takes_kept(job)) { // what is as it was takes no part, as if it had stopped
            tile->same[b] = as_kept(&tile->layers[b], b, job->kept->pixels);
            inside = and_(inside, not_(tile->same[b]));
        }
        tile->blocks[b] = blend_begin(inside);
        tile->live[b] = any(inside) != 0;
        tile->live_count += tile->live[b];
    }
}

// Do meshes hide, or has stopped, what a block shows from a depth on?
static bool is_hidden(const tile_state *tile, int block, float depth)
{
    return !any(and_(blend_continues(tile->blocks[block]), R(depth) < tile->layers[block].mesh_depth));
}

// Blocks whose meshes hide all splats from a depth on take no further part. Returns a bit for each row of
// blocks that has others.
static unsigned find_live_rows(tile_state *tile, float depth, bool layered)
{
    unsigned rows = 0;
    for (int b = 0; b < BLOCKS; b++) {
        if (tile->live[b] && layered &&
            !tile->layers[b].has_edges && // whose mean depth counts what is behind the mesh
            is_hidden(tile, b, depth)) {
            tile->live[b] = false;
            tile->live_count--;
        }
        rows |= (unsigned)tile->live[b] << b / COLUMNS;
    }
    return rows;
}

// Blends the next fragment of the pixels in `due`.
FN void blend_fragments(const orr_blend_job *job, blend_pixel *p, block_layers *layers, mask due)
{
    sint at = sel_int(due, layers->fragment, I(0));
    real3 colour = make_real3(fragment_member(job, at, offsetof(orr_fragment, rgba[0])),
                              fragment_member(job, at, offsetof(orr_fragment, rgba[1])),
                              fragment_member(job, at, offsetof(orr_fragment, rgba[2])));
    real alpha = fragment_member(job, at, offsetof(orr_fragment, rgba[3]));
    *p = blend_layer(*p, due, colour, alpha, layers->fragment_depth);
    if (layers->has_edges) {
        layers->centre = edge_centre_blend(layers->centre, due, alpha, layers->fragment_depth);
    }
    layers->fragment = sel_int(due, layers->fragment + I(1), layers->fragment);
    layers->fragment_depth = next_depth(job, layers->fragment, layers->fragment_end);
}

// Blends the next samples of pixels with edges, up to a depth and to the next field or fragment.
static __attribute__((noinline)) void blend_samples(const orr_blend_job *job, blend_pixel *p,
                                                    block_layers *layers, real reach)
{
    const real next = min_(min_(layers->field_depth, layers->fragment_depth), reach);
    mask due = layers->edge_depth <= next;
    while (any(due)) {
        const real alpha = edge_alpha(layers->edge_count);
        const real3 colour = make_real3(next_sample(job, layers, due, offsetof(orr_edge_sample, rgb[0])),
                                        next_sample(job, layers, due, offsetof(orr_edge_sample, rgb[1])),
                                        next_sample(job, layers, due, offsetof(orr_edge_sample, rgb[2])));
        *p = blend_layer(*p, due, scale3(colour, alpha), alpha, layers->edge_depth);
        layers->edge_count += sel(due, R(1.0), R(0.0));
        find_sample(job, layers);
        due = layers->edge_depth <= next;
    }
}

// Blends what fields, fragments and samples show up to a depth, nearer ones first.
FN void blend_layers(const orr_blend_job *job, blend_pixel *p, block_layers *layers, real reach,
                     real *receiver, real *owner)
{
    while (any(min_(min_(layers->field_depth, layers->fragment_depth), layers->edge_depth) <= reach)) {
        if (layers->has_edges) {
            blend_samples(job, p, layers, reach);
        }
        mask field_first = blend_field_is_first(layers->field_depth, layers->fragment_depth);
        mask due = and_(field_first, layers->field_depth <= reach);
        real before = p->transmittance;
        *p = blend_layer(*p, due, layers->field_colour, layers->field_alpha, layers->field_depth);
        if (layers->has_edges) {
            layers->centre = edge_centre_blend(layers->centre, due, layers->field_alpha, layers->field_depth);
        }
        *receiver = shadow_receiver(*receiver, before, p->transmittance,
                                    shadow_field_depth(shadow_eye_of(&job->eye), layers->field_depth));
        *owner = shadow_receiver(*owner, before, p->transmittance, R(-1.0));
        layers->field_depth = sel(due, R(__builtin_inff()), layers->field_depth);
        due = and_(not_(field_first), layers->fragment_depth <= reach);
        if (any(due)) {
            blend_fragments(job, p, layers, due);
        }
    }
}

// Blends the splats of `set`, front to back, and what meshes and fields show among them if there are any
// (`layered`), and notes where they receive shadows and which layer is seen (`noted`); returns
// whether any pixel of the block has not stopped.
FN bool blend_block(const orr_blend_job *job, tile_state *tile, int block, uint64_t set, real column,
                    real row, bool layered, bool noted)
{
    block_layers *layers = &tile->layers[block];
    blend_pixel p = tile->blocks[block];
    real receiver = tile->receivers[block], owner = tile->owners[block];
    sint item = tile->items[block];
    bool live = true;
    for (int seen = 1; set; set &= set - 1, seen++) {
        const orr_splat_record *s = &tile->batch[__builtin_ctzll(set)];
        real2 d = {column - R(s->x), row - R(s->y)};
        ellipse shape = {R(s->sharp_x), R(s->lean), R(s->sharp_y)};
        real alpha = splat_alpha(R(s->log2_opacity), d, shape);
        if (layered && layers->has_edges) {
            layers->centre = edge_centre_blend(layers->centre, layers->edges, alpha, R(s->depth));
        }
        if (layered) {
            alpha = sel(R(s->depth) < layers->mesh_depth, alpha, R(0.0));
            blend_layers(job, &p, layers, R(s->depth), &receiver, &owner);
        }
        real before = p.transmittance;
        p = blend_splat(p, alpha, make_real3(R(s->red), R(s->green), R(s->blue)), R(s->depth));
        if (noted) {
            receiver = shadow_receiver(receiver, before, p.transmittance, R(s->depth));
            owner = shadow_receiver(owner, before, p.transmittance, R((float)s->layer));
            item =
                sel_int(seen_takes(before, p.transmittance), I(ORR_ITEM_OF_CLOUD((int32_t)s->layer)), item);
        }
        if (seen % CHECK_EVERY == 0 && !any(blend_continues(p))) {
            live = false;
            break;
        }
    }
    tile->blocks[block] = p;
    tile->receivers[block] = receiver;
    tile->owners[block] = owner;
    tile->items[block] = item;
    return live && any(blend_continues(p));
}

// What is behind a block's pixels: an environment, the backdrop, or the sky.
static real3 background_block(const orr_blend_job *job, int left, int top)
{
    if (job->behind) {
        const environment_lanes e = environment_lanes_of(job->behind, &job->lighting->environments[0]);
        return environment_behind(&e, tone_of(job->lighting), sky_view_of(&job->sky), pixel_column(left),
                                  pixel_row(top));
    }
    return job->backdrop ? colour_block(job, job->mesh_colour, left, top)
                         : sky_colour(sky_view_of(&job->sky), pixel_column(left), pixel_row(top));
}

static bool is_clouded(const orr_blend_job *job)
{
    return job->clouds && job->clouds->count > 0 && job->eye.umbra < 1.0f;
}

// The shadow of the meshes on what is blended of splats and fields so far.
static bool is_shadowed(const orr_blend_job *job)
{
    return job->shadows && job->shadows->plan.light_count > 0 && job->eye.umbra < 1.0f;
}

static bool is_occluded(const orr_blend_job *job)
{
    return job->occlusion && job->occlusion->depth && job->eye.umbra > 0.0f;
}

static blend_pixel shadow_block(const orr_blend_job *job, blend_pixel p, real receiver, real owner, int left,
                                int top)
{
    const shadow_eye eye = shadow_eye_of(&job->eye);
    mask there = receiver < R(__builtin_inff());
    real alpha = R(1.0) - abs_(p.transmittance);
    real3 position = shadow_seen(eye, pixel_column(left), pixel_row(top), sel(there, abs_(receiver), R(1.0)));
    real visible = R(1.0), open = R(1.0);
    if (is_shadowed(job)) {
        visible = shadow_lookup(job->shadows, 0, position, make_real3(R(0.0), R(0.0), R(0.0)));
    }
    if (is_clouded(job)) {
        visible = visible * cloud_shadow_lookup(job->clouds, job->clouds->captured_light, position, owner);
    }
    visible = shadow_on_receiver(receiver, visible);
    if (is_occluded(job)) {
        open = occlusion_on_capture(job->occlusion, position);
    }
    mask dark = and_(there, min_(visible, open) < R(1.0));
    if (any(dark)) {
        real lit = job->self_depths ? shadow_lookup_in(job->self_depths, shadow_view_of(&job->self), position,
                                                       make_real3(R(0.0), R(0.0), R(0.0)))
                                    : R(1.0);
        real3 colour = shadow_on_capture(eye, p.colour, sel(dark, alpha, R(1.0)), visible, open, lit);
        p.colour = select3(dark, colour, p.colour);
    }
    return p;
}

static void store_block(const orr_blend_job *job, blend_pixel p, sint item, const block_layers *layers,
                        int left, int top)
{
    mask surface = I(0);
    real surface_depth = R(__builtin_inff());
    real3 surface_colour = {R(0.0), R(0.0), R(0.0)};
    if (job->mesh_depth) {
        surface_depth = plane_block(job, job->mesh_depth, left, top, 0.0f);
        surface_colour = colour_block(job, job->mesh_colour, left, top);
        surface = surface_depth < R(__builtin_inff());
        surface = layers->has_edges ? and_(surface, not_(layers->edges)) : surface; // as samples before
    }
    p = blend_surface(p, surface, surface_colour, surface_depth);
    real mean_depth = blend_mean_depth(p);
    if (job->mesh_depth && layers->has_edges) {
        mean_depth = sel(layers->edges, edge_centre_depth(layers->centre), mean_depth);
    }
    if (job->opaque && any(p.transmittance > R(0.0))) {
        p = blend_background(p, background_block(job, left, top));
    }
    const bool whole = is_whole(job, left, top);
    const int64_t first = (int64_t)top * job->width + left;
    if (whole && job->rgba) {
        store_pixels(job->rgba + 4 * first, job->width, p.colour.x, p.colour.y, p.colour.z,
                     R(1.0) - p.transmittance);
    }
    if (whole && job->depth) {
        store_rows(job->depth + first, job->width, mean_depth);
    }
    if (whole && !job->items) {
        return;
    }
    float rgba[4][ORR_LANES], depth[ORR_LANES];
    int32_t items[ORR_LANES];
    sint_store(items, item);
    real_store(rgba[0], p.colour.x);
    real_store(rgba[1], p.colour.y);
    real_store(rgba[2], p.colour.z);
    real_store(rgba[3], R(1.0) - p.transmittance);
    real_store(depth, mean_depth);
    for (int i = 0; i < ORR_LANES; i++) {
        int x = left + i % BLOCK_W, y = top + i / BLOCK_W;
        if (x >= job->width || y >= job->height) {
            continue;
        }
        int64_t pixel = (int64_t)y * job->width + x;
        if (job->depth && !whole) {
            job->depth[pixel] = depth[i];
        }
        if (job->items && items[i] < -1) {
            job->items[pixel] = items[i];
        }
        for (int k = 0; k < 4 && job->rgba && !whole; k++) {
            job->rgba[4 * pixel + k] = rgba[k][i];
        }
    }
}

static void blend_set(const orr_blend_job *job, tile_state *tile, int block, uint64_t set, bool layered,
                      bool noted)
{
    real column = pixel_column(job->tile_x * ORR_CPU_TILE + block % COLUMNS * BLOCK_W);
    real row = pixel_row(job->tile_y * ORR_CPU_TILE + block / COLUMNS * BLOCK_H);
    bool live = noted     ? blend_block(job, tile, block, set, column, row, true, true)
                : layered ? blend_block(job, tile, block, set, column, row, true, false)
                          : blend_block(job, tile, block, set, column, row, false, false);
    tile->live[block] = live;
    tile->live_count -= !live;
}

// Blends the blocks that are not as they were kept, by the lists of their splats. Not those with edges, whose
// mean depth counts splats that the lists may lack. Returns the number of splats.
static int64_t blend_kept(const orr_blend_job *job, tile_state *tile, bool noted)
{
    int64_t evaluated = 0;
    for (int b = 0; b < BLOCKS; b++) {
        if (!tile->live[b] || tile->layers[b].has_edges) {
            continue;
        }
        const uint32_t end = job->kept->starts[b + 1];
        for (uint32_t i = job->kept->starts[b]; i < end && tile->live[b]; i += BATCH) {
            const int count = (int)(end - i < BATCH ? end - i : BATCH);
            for (int k = 0; k < count; k++) {
                tile->batch[k] = job->records[job->kept->splats[i + (uint32_t)k]];
            }
            if (is_hidden(tile, b, tile->batch[0].depth)) {
                break;
            }
            blend_set(job, tile, b, ~(uint64_t)0 >> (BATCH - count), true, noted);
            evaluated += count;
        }
        tile->live_count -= tile->live[b];
        tile->live[b] = false;
    }
    return evaluated;
}

// Lanes of pixels of a row, all of which a surface hides.
FN void store_surfaces(const orr_blend_job *job, int64_t first)
{
    const int64_t plane = (int64_t)job->width * job->height;
    const float *rgb = job->mesh_colour + first;
    const real red = real_load(rgb), green = real_load(rgb + plane), blue = real_load(rgb + 2 * plane);
    if (job->depth) {
        real_store(job->depth + first, real_load(job->mesh_depth + first));
    }
    if (job->rgba) {
        const real red_blue[2] = {real_interleave_low(red, blue), real_interleave_high(red, blue)};
        const real green_alpha[2] = {real_interleave_low(green, R(1.0)), real_interleave_high(green, R(1.0))};
        for (int half = 0; half < 2; half++) {
            float *rgba = job->rgba + 4 * first + 2 * half * ORR_LANES;
            real_store(rgba, real_interleave_low(red_blue[half], green_alpha[half]));
            real_store(rgba + ORR_LANES, real_interleave_high(red_blue[half], green_alpha[half]));
        }
    }
}

// Does a surface hide all pixels of some blocks side by side, which are as wide as the lanes, without edges?
static bool is_surface(const orr_blend_job *job, int left, int top)
{
    if (left + ORR_LANES > job->width || top + BLOCK_H > job->height) {
        return false;
    }
    real farthest = R(0.0);
    uint64_t edges = 0;
    for (int y = top; y < top + BLOCK_H; y++) {
        farthest = max_(farthest, real_load(job->mesh_depth + (int64_t)y * job->width + left));
        if (job->edges.bits) {
            edges |= job->edges.bits[y * job->edges.words + left / 64] >> left % 64 & ORR_ALL_LANES;
        }
    }
    return edges == 0 && all(farthest < R(__builtin_inff()));
}

static void store_mesh_block(const orr_blend_job *job, int left, int top)
{
    block_layers layers;
    real receiver = R(__builtin_inff()), owner = R(-1.0);
    blend_pixel p = blend_begin(and_(pixel_column(left) < R(job->width), pixel_row(top) < R(job->height)));
    layers.has_edges = false;
    if (job->edges.bits && left < job->width && has_edges(job, left, top)) {
        begin_layers(job, &layers, left, top);
        blend_layers(job, &p, &layers, R(FLT_MAX), &receiver, &owner);
    }
    store_block(job, p, I(-1), &layers, left, top);
}

// A tile of opaque meshes alone.
static void store_meshes(const orr_blend_job *job)
{
    const int tile_x = job->tile_x * ORR_CPU_TILE, tile_y = job->tile_y * ORR_CPU_TILE;
    for (int top = tile_y; top < tile_y + ORR_CPU_TILE; top += BLOCK_H) {
        for (int left = tile_x; left < tile_x + ORR_CPU_TILE; left += ORR_LANES) {
            const bool surface = is_surface(job, left, top);
            for (int y = top; surface && y < top + BLOCK_H; y++) {
                store_surfaces(job, (int64_t)y * job->width + left);
            }
            for (int x = left; !surface && x < left + ORR_LANES; x += BLOCK_W) {
                store_mesh_block(job, x, top);
            }
        }
    }
}

int64_t ORR_ISA_NAME(orr_splat_blend)(const orr_blend_job *job)
{
    if (job->splat_count == 0 && job->mesh_depth && !job->field_depth && !job->fragments.starts &&
        !job->keep && !job->kept) {
        store_meshes(job);
        return 0;
    }
    tile_state tile;
    int64_t evaluated = 0;
    const bool shadowed = is_shadowed(job) || is_clouded(job) || is_occluded(job);
    const bool noted = shadowed || job->items || job->keep;
    const bool layered = job->mesh_depth || job->field_depth || noted || job->kept;
    begin_blocks(job, &tile, layered);
    if (job->kept) {
        evaluated += blend_kept(job, &tile, noted);
    }
    for (uint32_t start = 0; start < job->splat_count && tile.live_count > 0; start += BATCH) {
        int count = (int)(job->splat_count - start < BATCH ? job->splat_count - start : BATCH);
        for (int i = 0; i < count; i++) {
            tile.batch[i] = job->records[job->tile_splats[start + (uint32_t)i]];
        }
        const unsigned live_rows = find_live_rows(&tile, tile.batch[0].depth, layered);
        if (!live_rows) {
            break;
        }
        find_touched_blocks(tile.batch, count, job->tile_x, job->tile_y, live_rows, tile.touches);
        for (int b = 0; b < BLOCKS; b++) {
            uint64_t set = tile.touches[b];
            if (!set || !tile.live[b]) {
                continue;
            }
            evaluated += __builtin_popcountll(set);
            if (job->keep && !job->kept) {
                keep_splats(job, &tile, b, set, start);
            }
            blend_set(job, &tile, b, set, layered, noted);
        }
    }
    for (int b = 0; b < BLOCKS; b++) {
        int left = job->tile_x * ORR_CPU_TILE + b % COLUMNS * BLOCK_W;
        int top = job->tile_y * ORR_CPU_TILE + b / COLUMNS * BLOCK_H;
        if (job->keep) {
            keep_block(&tile, b, job->keep->pixels);
            continue;
        }
        if (takes_kept(job) && any(tile.same[b])) {
            take_kept_pixels(&tile, b, job->kept->pixels);
        }
        if (layered) {
            blend_layers(job, &tile.blocks[b], &tile.layers[b], R(FLT_MAX), &tile.receivers[b],
                         &tile.owners[b]);
        }
        if (shadowed && any(tile.receivers[b] < R(__builtin_inff()))) {
            tile.blocks[b] = shadow_block(job, tile.blocks[b], tile.receivers[b], tile.owners[b], left, top);
        }
        store_block(job, tile.blocks[b], tile.items[b], &tile.layers[b], left, top);
    }
    return evaluated * ORR_LANES;
}
