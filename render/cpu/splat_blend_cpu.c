// Blending on the CPU: one tile of 16x16 pixels, lanes over small blocks of it.
//
// A tile's splats come in batches of 64. For each batch, lanes over splats find which blocks of 4 x LANES/4
// pixels each ellipse reaches, exactly, by the ends of the ellipse within the block's rows: one comparison
// gives one bit per splat. Then each block walks its set of splats with its pixels in registers:
// transmittance, colour and depth are loaded and stored once per batch, not once per splat. A block whose
// pixels are all full takes no further part.
#include "render/cpu/splats_cpu.h"
#include "render/splat_formula.h"

#include <stdint.h>

enum {
    BATCH = 64,
    BLOCK_W = 4,
    BLOCK_H = ORR_LANES / BLOCK_W,
    COLUMNS = ORR_TILE / BLOCK_W,
    ROWS = ORR_TILE / BLOCK_H,
    BLOCKS = COLUMNS * ROWS,
    LOOK_EVERY = 8 // splats between two looks whether a block is full
};

typedef struct block_state {
    real open; // transmittance of pixels that still take splats, 0 for those that stopped
    real left; // transmittance for good: what the background shows through
    real red, green, blue;
    real depth;      // sum of weight times depth
    real mesh_depth; // splats from here on are hidden
} block_state;

typedef struct tile_state {
    block_state blocks[BLOCKS];
    uint64_t touches[BLOCKS]; // splats of the batch that reach each block
    orr_splat_record batch[BATCH];
} tile_state;

FN real pixel_column(int left)
{
    return to_real((lane_index() & I(BLOCK_W - 1)) + I(left)) + R(0.5);
}

FN real pixel_row(int top)
{
    return to_real((lane_index() >> 2) + I(top)) + R(0.5);
}

static uint64_t begin_blocks(const orr_blend_job *job, tile_state *tile)
{
    uint64_t live = 0;
    for (int b = 0; b < BLOCKS; b++) {
        int left = job->tile_x * ORR_TILE + b % COLUMNS * BLOCK_W;
        int top = job->tile_y * ORR_TILE + b / COLUMNS * BLOCK_H;
        mask inside = and_(pixel_column(left) < R(job->width), pixel_row(top) < R(job->height));
        tile->blocks[b] = (block_state){.open = sel(inside, R(1.0), R(0.0)),
                                        .left = R(1.0),
                                        .red = R(0.0),
                                        .green = R(0.0),
                                        .blue = R(0.0),
                                        .depth = R(0.0)};
        live |= (uint64_t)(any(inside) != 0) << b;
        if (job->mesh_depth) {
            float depth[ORR_LANES];
            for (int i = 0; i < ORR_LANES; i++) {
                int x = left + i % BLOCK_W, y = top + i / BLOCK_W;
                bool there = x < job->width && y < job->height;
                depth[i] = there ? job->mesh_depth[(int64_t)y * job->width + x] : 0.0f;
            }
            tile->blocks[b].mesh_depth = real_load(depth);
        }
    }
    return live;
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
        real x = MEMBER(x) - R(job->tile_x * ORR_TILE);
        real y = MEMBER(y) - R(job->tile_y * ORR_TILE);
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

// Blends the splats of `set`, front to back; returns whether any pixel of the block still takes splats.
FN bool blend_block(const tile_state *tile, block_state *state, uint64_t set, real column, real row,
                    bool meshes)
{
    real open = state->open, left = state->left;
    real red = state->red, green = state->green, blue = state->blue;
    real depth = state->depth;
    bool live = true;
    for (int seen = 1; set; set &= set - 1, seen++) {
        const orr_splat_record *s = &tile->batch[__builtin_ctzll(set)];
        real2 d = {column - R(s->x), row - R(s->y)};
        ellipse shape = {R(s->sharp_x), R(s->lean), R(s->sharp_y)};
        real alpha = splat_alpha(R(s->log2_opacity), d, shape);
        if (meshes) {
            alpha = sel(R(s->depth) < state->mesh_depth, alpha, R(0.0));
        }
        // a pixel stops before the splat that would close it; from one splat to the next there is only this product, a
        // comparison and a choice
        real next = open * (R(1.0) - alpha);
        mask stop = next <= R(SPLAT_T_MIN);
        real weight = sel(stop, R(0.0), alpha * open);
        left = sel(stop, left, next);
        open = sel(stop, R(0.0), next);
        red = fma_(weight, R(s->red), red);
        green = fma_(weight, R(s->green), green);
        blue = fma_(weight, R(s->blue), blue);
        depth = fma_(weight, R(s->depth), depth);
        if (seen % LOOK_EVERY == 0 && !any(open > R(0.0))) {
            live = false;
            break;
        }
    }
    state->open = open;
    state->left = left;
    state->red = red;
    state->green = green;
    state->blue = blue;
    state->depth = depth;
    return live && any(open > R(0.0));
}

static void store_block(const orr_blend_job *job, const block_state *s, int left, int top)
{
    float red[ORR_LANES], green[ORR_LANES], blue[ORR_LANES], rest[ORR_LANES], depth[ORR_LANES];
    real_store(red, s->red);
    real_store(green, s->green);
    real_store(blue, s->blue);
    real_store(rest, s->left);
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
        if (job->opaque) {
            r += t * job->background[0];
            g += t * job->background[1];
            b += t * job->background[2];
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
    uint64_t live = begin_blocks(job, &tile);
    int64_t evaluated = 0;
    const bool meshes = job->mesh_depth != NULL;
    for (uint32_t start = 0; start < job->splat_count && live; start += BATCH) {
        int count = (int)(job->splat_count - start < BATCH ? job->splat_count - start : BATCH);
        for (int i = 0; i < count; i++) {
            tile.batch[i] = job->records[job->tile_splats[start + (uint32_t)i]];
        }
        find_touched_blocks(job, &tile, count);
        for (uint64_t rest = live; rest; rest &= rest - 1) {
            int b = __builtin_ctzll(rest);
            uint64_t set = tile.touches[b];
            if (!set) {
                continue;
            }
            evaluated += __builtin_popcountll(set);
            real column = pixel_column(job->tile_x * ORR_TILE + b % COLUMNS * BLOCK_W);
            real row = pixel_row(job->tile_y * ORR_TILE + b / COLUMNS * BLOCK_H);
            bool open = meshes ? blend_block(&tile, &tile.blocks[b], set, column, row, true)
                               : blend_block(&tile, &tile.blocks[b], set, column, row, false);
            live &= ~((uint64_t)!open << b);
        }
    }
    for (int b = 0; b < BLOCKS; b++) {
        store_block(job, &tile.blocks[b], job->tile_x * ORR_TILE + b % COLUMNS * BLOCK_W,
                    job->tile_y * ORR_TILE + b / COLUMNS * BLOCK_H);
    }
    return evaluated * ORR_LANES;
}
