// Blending on the CPU: one tile of 32x32 pixels, lanes over small blocks of it.
//
// A tile's splats come in batches of 64. For each batch, lanes over splats find which blocks of 4 x LANES/4
// pixels each ellipse reaches, exactly, by the ends of the ellipse within the block's rows: one comparison
// gives one bit per splat. Then each block walks its set of splats with its pixels in registers:
// transmittance, colour and depth are loaded and stored once per batch, not once per splat. A block whose
// pixels are all full takes no further part.
#include "render/cpu/splats_cpu.h"
#include "render/sky_formula.h"
#include "render/splat_formula.h"

#include <float.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BATCH = 64,
    BLOCK_W = 4,
    BLOCK_H = ORR_LANES / BLOCK_W,
    COLUMNS = ORR_CPU_TILE / BLOCK_W,
    ROWS = ORR_CPU_TILE / BLOCK_H,
    BLOCKS = COLUMNS * ROWS,
    LOOK_EVERY = 8 // splats between two looks whether a block is full
};

// What is read and written with every batch of splats.
typedef struct block_state {
    real open; // transmittance; negative (and final) for a pixel that takes no more splats
    real red, green, blue;
    real depth; // sum of weight times depth
} block_state;

// What meshes and fields show of a block's pixels; apart from the rest, which shall stay in L1. What is at a depth is blended
// when the splats reach that; infinity: nothing, or no more.
typedef struct block_layers {
    real mesh_depth; // splats from here on are hidden
    real field_depth;
    real field_red, field_green, field_blue, field_alpha;
    real fragment_depth; // of the next one
    sint fragment, fragment_end;
} block_layers;

typedef struct tile_state {
    block_state blocks[BLOCKS];
    bool live[BLOCKS]; // does it still take splats?
    int live_count;
    uint64_t touches[BLOCKS]; // splats of the batch that reach each block
    orr_splat_record batch[BATCH];
    block_layers layers[BLOCKS];
} tile_state;

FN real pixel_column(int left)
{
    return to_real((lane_index() & I(BLOCK_W - 1)) + I(left)) + R(0.5);
}

FN real pixel_row(int top)
{
    return to_real((lane_index() >> 2) + I(top)) + R(0.5);
}

// a plane's values at the pixels of a block; `outside` beyond the picture
static real plane_block(const orr_blend_job *job, const float *plane, int left, int top, float outside)
{
    float values[ORR_LANES];
    for (int i = 0; i < ORR_LANES; i++) {
        int x = left + i % BLOCK_W, y = top + i / BLOCK_W;
        values[i] = x < job->width && y < job->height ? plane[(int64_t)y * job->width + x] : outside;
    }
    return real_load(values);
}

// A member of fragments, by its place in the struct.
FN real fragment_member(const orr_blend_job *job, sint fragment, size_t offset)
{
    return real_gather((const float *)((const char *)job->fragments.fragments + offset),
                       fragment * I(sizeof(orr_fragment) / 4));
}

// Where the next fragment of each pixel stands.
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

static void begin_blocks(const orr_blend_job *job, tile_state *tile)
{
    tile->live_count = 0;
    const int64_t plane = (int64_t)job->width * job->height;
    for (int b = 0; b < BLOCKS; b++) {
        int left = job->tile_x * ORR_CPU_TILE + b % COLUMNS * BLOCK_W;
        int top = job->tile_y * ORR_CPU_TILE + b / COLUMNS * BLOCK_H;
        mask inside = and_(pixel_column(left) < R(job->width), pixel_row(top) < R(job->height));
        tile->blocks[b] = (block_state){.open = sel(inside, R(1.0), R(-1.0)),
                                        .red = R(0.0),
                                        .green = R(0.0),
                                        .blue = R(0.0),
                                        .depth = R(0.0)};
        tile->live[b] = any(inside) != 0;
        tile->live_count += tile->live[b];
        block_layers *layers = &tile->layers[b];
        if (job->mesh_depth || job->field_depth) {
            *layers = (block_layers){.mesh_depth = R(__builtin_inff()),
                                     .field_depth = R(__builtin_inff()),
                                     .fragment_depth = R(__builtin_inff())};
        }
        if (job->fragments.starts) {
            begin_fragments(job, layers, left, top);
        }
        if (job->mesh_depth) {
            layers->mesh_depth = plane_block(job, job->mesh_depth, left, top, 0.0f);
        }
        if (job->field_depth) {
            layers->field_depth = plane_block(job, job->field_depth, left, top, __builtin_inff());
            layers->field_red = plane_block(job, job->field_colour, left, top, 0.0f);
            layers->field_green = plane_block(job, job->field_colour + plane, left, top, 0.0f);
            layers->field_blue = plane_block(job, job->field_colour + 2 * plane, left, top, 0.0f);
            layers->field_alpha = plane_block(job, job->field_colour + 3 * plane, left, top, 0.0f);
        }
    }
}

// member k of the batch's records, for splats first ..
#define MEMBER(field) real_gather(&tile->batch[first].field, lane_index() * I(sizeof(orr_splat_record) / 4))

static void find_touched_blocks(const orr_blend_job *job, tile_state *tile, int count)
{
    for (int b = 0; b < BLOCKS; b++) {
        tile->touches[b] = 0;
    }
    for (int first = 0; first < count; first += ORR_LANES) {
        // positions relative to the tile's corner
        real x = MEMBER(x) - R(job->tile_x * ORR_CPU_TILE);
        real y = MEMBER(y) - R(job->tile_y * ORR_CPU_TILE);
        ellipse shape = {MEMBER(sharp_x), MEMBER(lean), MEMBER(sharp_y)};
        real reach = MEMBER(reach);
        real2 half_size = {MEMBER(half_width), MEMBER(half_height)};
        mask there = lanes_below(count - first);
        for (int row = 0; row < ROWS; row++) {
            // a hundredth of a pixel on each side covers the rounding of the ends
            real low = R(row * BLOCK_H + 0.49) - y;
            real high = R(row * BLOCK_H + BLOCK_H - 0.49) - y;
            real2 ends = splat_band(shape, reach, half_size, low, high);
            mask some = and_(there, ends.x <= ends.y);
            real left = x + ends.x;
            real right = x + ends.y;
            for (int column = 0; column < COLUMNS; column++) {
                mask touched = and_(and_(some, left <= R(column * BLOCK_W + BLOCK_W - 0.49)),
                                    right >= R(column * BLOCK_W + 0.49));
                tile->touches[row * COLUMNS + column] |= (uint64_t)mask_bits(touched) << first;
            }
        }
    }
}

// minus |a|: closes a pixel, and keeps what is left of it for the background
FN real closed(real a)
{
    return (real)((sint)a | I(INT32_MIN));
}

// Blends what the fields show of the pixels in `due`. It may be opaque: then nothing is left for what stands behind.
FN void blend_fields(block_state *s, block_layers *layers, mask due)
{
    mask open = and_(due, s->open > R(0.0));
    real weight = sel(open, s->open, R(0.0));
    s->red = fma_(weight, layers->field_red, s->red);
    s->green = fma_(weight, layers->field_green, s->green);
    s->blue = fma_(weight, layers->field_blue, s->blue);
    s->depth = fma_(weight * layers->field_alpha, sel(open, layers->field_depth, R(0.0)), s->depth);
    real left = s->open * (R(1.0) - layers->field_alpha);
    s->open = sel(open, sel(left <= R(SPLAT_T_MIN), closed(left), left), s->open);
    layers->field_depth = sel(due, R(__builtin_inff()), layers->field_depth);
}

// Blends the next fragment of the pixels in `due`, likewise.
FN void blend_fragments(const orr_blend_job *job, block_state *s, block_layers *layers, mask due)
{
    sint at = sel_int(due, layers->fragment, I(0));
    mask open = and_(due, s->open > R(0.0));
    real weight = sel(open, s->open, R(0.0));
    real alpha = fragment_member(job, at, offsetof(orr_fragment, rgba[3]));
    s->red = fma_(weight, fragment_member(job, at, offsetof(orr_fragment, rgba[0])), s->red);
    s->green = fma_(weight, fragment_member(job, at, offsetof(orr_fragment, rgba[1])), s->green);
    s->blue = fma_(weight, fragment_member(job, at, offsetof(orr_fragment, rgba[2])), s->blue);
    s->depth = fma_(weight * alpha, sel(open, layers->fragment_depth, R(0.0)), s->depth);
    real left = s->open * (R(1.0) - alpha);
    s->open = sel(open, sel(left <= R(SPLAT_T_MIN), closed(left), left), s->open);
    layers->fragment = sel_int(due, layers->fragment + I(1), layers->fragment);
    layers->fragment_depth = next_depth(job, layers->fragment, layers->fragment_end);
}

// Blends what fields and fragments show up to a depth, nearer ones first.
FN void blend_layers(const orr_blend_job *job, block_state *s, block_layers *layers, real reach)
{
    while (any(min_(layers->field_depth, layers->fragment_depth) <= reach)) {
        mask field_first = layers->field_depth <= layers->fragment_depth;
        blend_fields(s, layers, and_(field_first, layers->field_depth <= reach));
        mask due = and_(not_(field_first), layers->fragment_depth <= reach);
        if (any(due)) {
            blend_fragments(job, s, layers, due);
        }
    }
}

// Blends the splats of `set`, front to back, and what meshes and fields show in its place if there are any (`layered`);
// returns whether any pixel of the block still takes splats.
FN bool blend_block(const orr_blend_job *job, tile_state *tile, int block, uint64_t set, real column,
                    real row, bool layered)
{
    block_layers *layers = &tile->layers[block];
    block_state b = tile->blocks[block];
    bool live = true;
    for (int seen = 1; set; set &= set - 1, seen++) {
        const orr_splat_record *s = &tile->batch[__builtin_ctzll(set)];
        real2 d = {column - R(s->x), row - R(s->y)};
        ellipse shape = {R(s->sharp_x), R(s->lean), R(s->sharp_y)};
        real alpha = splat_alpha(R(s->log2_opacity), d, shape);
        if (layered) {
            alpha = sel(R(s->depth) < layers->mesh_depth, alpha, R(0.0));
            blend_layers(job, &b, layers, R(s->depth));
        }
        // a pixel stops before the splat that would close it; from one splat to the next there is only this product, a
        // comparison and a choice
        real next = b.open * (R(1.0) - alpha);
        mask stop = next <= R(SPLAT_T_MIN);
        real weight = sel(stop, R(0.0), alpha * b.open);
        b.open = sel(stop, closed(b.open), next);
        b.red = fma_(weight, R(s->red), b.red);
        b.green = fma_(weight, R(s->green), b.green);
        b.blue = fma_(weight, R(s->blue), b.blue);
        b.depth = fma_(weight, R(s->depth), b.depth);
        if (seen % LOOK_EVERY == 0 && !any(b.open > R(0.0))) {
            live = false;
            break;
        }
    }
    tile->blocks[block] = b;
    return live && any(b.open > R(0.0));
}

FN sky_view to_sky(const orr_sky_values *v)
{
    return (sky_view){v->up[0],     v->up[1],     v->up[2],    v->inverse_focal[0], v->inverse_focal[1],
                      v->centre[0], v->centre[1], v->high[0],  v->high[1],          v->high[2],
                      v->level[0],  v->level[1],  v->level[2], v->low[0],           v->low[1],
                      v->low[2]};
}

static void store_block(const orr_blend_job *job, const block_state *s, int left, int top)
{
    float sky[3][ORR_LANES];
    if (job->opaque) {
        real3 behind = sky_colour(to_sky(&job->sky), pixel_column(left), pixel_row(top));
        real_store(sky[0], behind.x);
        real_store(sky[1], behind.y);
        real_store(sky[2], behind.z);
    }
    float red[ORR_LANES], green[ORR_LANES], blue[ORR_LANES], rest[ORR_LANES], depth[ORR_LANES];
    real_store(red, s->red);
    real_store(green, s->green);
    real_store(blue, s->blue);
    real_store(rest, abs_(s->open));
    real_store(depth, s->depth);
    for (int i = 0; i < ORR_LANES; i++) {
        int x = left + i % BLOCK_W, y = top + i / BLOCK_W;
        if (x >= job->width || y >= job->height) {
            continue;
        }
        int64_t pixel = (int64_t)y * job->width + x;
        float r = red[i], g = green[i], b = blue[i], z = depth[i], t = rest[i];
        if (job->mesh_depth && job->mesh_depth[pixel] < __builtin_inff()) {
            const float *mesh = job->mesh_colour + pixel;
            int64_t plane = (int64_t)job->width * job->height;
            r += t * mesh[0];
            g += t * mesh[plane];
            b += t * mesh[2 * plane];
            z += t * job->mesh_depth[pixel];
            t = 0.0f;
        }
        if (job->depth) {
            job->depth[pixel] = t < 1.0f ? z / (1.0f - t) : 0.0f;
        }
        if (job->opaque && job->backdrop) {
            const float *mesh = job->mesh_colour + pixel;
            int64_t plane = (int64_t)job->width * job->height;
            r += t * mesh[0];
            g += t * mesh[plane];
            b += t * mesh[2 * plane];
            t = 0.0f;
        } else if (job->opaque) {
            r += t * sky[0][i];
            g += t * sky[1][i];
            b += t * sky[2][i];
            t = 0.0f;
        }
        if (job->rgba) {
            float *out = job->rgba + 4 * pixel;
            out[0] = r;
            out[1] = g;
            out[2] = b;
            out[3] = 1.0f - t;
        }
    }
}

int64_t ORR_ISA_NAME(orr_splat_blend)(const orr_blend_job *job)
{
    tile_state tile;
    begin_blocks(job, &tile);
    int64_t evaluated = 0;
    const bool layered = job->mesh_depth || job->field_depth;
    for (uint32_t start = 0; start < job->splat_count && tile.live_count > 0; start += BATCH) {
        int count = (int)(job->splat_count - start < BATCH ? job->splat_count - start : BATCH);
        for (int i = 0; i < count; i++) {
            tile.batch[i] = job->records[job->tile_splats[start + (uint32_t)i]];
        }
        find_touched_blocks(job, &tile, count);
        for (int b = 0; b < BLOCKS; b++) {
            uint64_t set = tile.touches[b];
            if (!set || !tile.live[b]) {
                continue;
            }
            evaluated += __builtin_popcountll(set);
            real column = pixel_column(job->tile_x * ORR_CPU_TILE + b % COLUMNS * BLOCK_W);
            real row = pixel_row(job->tile_y * ORR_CPU_TILE + b / COLUMNS * BLOCK_H);
            bool open = layered ? blend_block(job, &tile, b, set, column, row, true)
                                : blend_block(job, &tile, b, set, column, row, false);
            tile.live[b] = open;
            tile.live_count -= !open;
        }
    }
    for (int b = 0; b < BLOCKS; b++) {
        if (layered) {
            blend_layers(job, &tile.blocks[b], &tile.layers[b], R(FLT_MAX));
        }
        store_block(job, &tile.blocks[b], job->tile_x * ORR_CPU_TILE + b % COLUMNS * BLOCK_W,
                    job->tile_y * ORR_CPU_TILE + b / COLUMNS * BLOCK_H);
    }
    return evaluated * ORR_LANES;
}
