// One tile of a picture backward: every splat of it gets its moments and its colour's gradient.
//
// Splats are replayed from front to back, each over the blocks of pixels that it reaches, lanes over the
// pixels of a block. A block's pixels are two floats of state and three of gradient, which stay in L1; a
// splat's sums stay in registers. Sums over lanes are taken a vector of splats at a time.
#include "render/formula_inputs.h"
#include "render/splat_backward_formula.h"
#include "render/training/splat_training.h"

enum {
    BATCH = 64,
    BLOCK_W = 4,
    BLOCK_H = ORR_LANES / BLOCK_W,
    COLUMNS = ORR_CPU_TILE / BLOCK_W,
    ROWS = ORR_CPU_TILE / BLOCK_H,
    BLOCKS = COLUMNS * ROWS
};

typedef struct pixel_block {
    splat_replay replay;
    real3 gradient;
    real by_alpha, by_depth; // of the pixel's sums of weights and of weights times depth, where they count
} pixel_block;

// What a kernel computes besides the gradients by shape and colour.
typedef struct backward_extras {
    bool alpha;     // the loss depends on alpha otherwise than through the background
    bool depth;     // and on depth
    bool magnitude; // sums of magnitudes are wanted
} backward_extras;

typedef struct backward_tile {
    pixel_block blocks[BLOCKS];
    orr_splat_record batch[BATCH];
    int32_t first[ROWS][BATCH], last[ROWS][BATCH]; // columns that a splat reaches in each row of blocks
    float sums[BATCH][ORR_MOMENTS_MOST][ORR_LANES];
} backward_tile;

static void begin_block(const orr_splat_backward_job *job, pixel_block *block, int left, int top)
{
    enum { STATE, G, BY_ALPHA = G + 3, BY_DEPTH, RGBA, DEPTH = RGBA + 4, VALUES };
    float values[VALUES][ORR_LANES] = {{0}};
    for (int i = 0; i < ORR_LANES; i++) {
        const int x = left + i % BLOCK_W, y = top + i / BLOCK_W;
        values[STATE][i] = -1.0f;
        if (x >= job->width || y >= job->height) {
            continue;
        }
        const int64_t at = (int64_t)y * job->width + x;
        values[STATE][i] = 1.0f;
        for (int k = 0; k < 3; k++) {
            values[G + k][i] = orr_loss_row(job->gradient, k, y)[x];
        }
        for (int k = 0; k < 4; k++) {
            values[RGBA + k][i] = job->rgba[4 * at + k];
        }
        values[BY_ALPHA][i] = job->by_alpha ? job->by_alpha[at] : 0.0f;
        values[BY_DEPTH][i] = job->by_depth ? job->by_depth[at] : 0.0f;
        values[DEPTH][i] = job->by_depth ? job->depth[at] : 0.0f;
    }
    const float behind = job->by_alpha ? 0.0f : 1.0f; // by_alpha has the background's part
    const real3 background = make_real3(R(behind * job->background[0]), R(behind * job->background[1]),
                                        R(behind * job->background[2]));
    const real3 colour =
        make_real3(real_load(values[RGBA]), real_load(values[RGBA + 1]), real_load(values[RGBA + 2]));
    const real alpha = real_load(values[RGBA + 3]);
    block->gradient = make_real3(real_load(values[G]), real_load(values[G + 1]), real_load(values[G + 2]));
    block->by_alpha = real_load(values[BY_ALPHA]);
    block->by_depth = real_load(values[BY_DEPTH]);
    const real rest = splat_replay_rest(block->gradient, colour, alpha, background, block->by_alpha);
    block->replay = (splat_replay){real_load(values[STATE]),
                                   fma_(block->by_depth * real_load(values[DEPTH]), alpha, rest)};
}

// a member of the batch's records, for splats first ..
#define MEMBER(name) real_gather(&tile->batch[first].name, lane_index() * I(sizeof(orr_splat_record) / 4))

static void find_touched_columns(const orr_splat_backward_job *job, backward_tile *tile, int count)
{
    for (int first = 0; first < count; first += ORR_LANES) {
        real x = MEMBER(x) - R(job->tile_x * ORR_CPU_TILE);
        real y = MEMBER(y) - R(job->tile_y * ORR_CPU_TILE);
        ellipse shape = {MEMBER(sharp_x), MEMBER(lean), MEMBER(sharp_y)};
        real reach = MEMBER(reach);
        real2 half_size = {MEMBER(half_width), MEMBER(half_height)};
        for (int row = 0; row < ROWS; row++) {
            // a hundredth of a pixel on each side covers the rounding of the ends, as when drawing
            real low = R(row * BLOCK_H + 0.49) - y;
            real high = R(row * BLOCK_H + BLOCK_H - 0.49) - y;
            real2 ends = splat_band(shape, reach, half_size, low, high);
            real from = (x + ends.x - R(BLOCK_W - 0.49)) * R(1.0 / BLOCK_W);
            real to = (x + ends.y - R(0.49)) * R(1.0 / BLOCK_W);
            mask some = ends.x <= ends.y;
            from = sel(some, max_(min_(ceil_(from), R(COLUMNS)), R(0.0)), R(COLUMNS));
            to = sel(some, max_(min_(floor_(to), R(COLUMNS - 1)), R(-1.0)), R(-1.0));
            sint_store(tile->first[row] + first, to_int(from));
            sint_store(tile->last[row] + first, to_int(to));
        }
    }
}

// rows of blocks that a splat's box reaches: first and last
static void rows_of(const orr_splat_record *s, int top, int rows[2])
{
    float low = (s->y - s->half_height - (float)top - 1.0f) * (1.0f / (float)BLOCK_H);
    float high = (s->y + s->half_height - (float)top + 1.0f) * (1.0f / (float)BLOCK_H);
    rows[0] = low > 0.0f ? (int)low : 0;
    rows[1] = high < (float)(ROWS - 1) ? (int)high : ROWS - 1;
}

// Inlined once for each kind of extras, which are constants there.
static inline __attribute__((always_inline)) void
replay_splat(const orr_splat_backward_job *job, backward_tile *tile, int i, backward_extras extras)
{
    const orr_splat_record *s = &tile->batch[i];
    const int left = job->tile_x * ORR_CPU_TILE, top = job->tile_y * ORR_CPU_TILE;
    const real lane_x = to_real(lane_index() & I(BLOCK_W - 1)) + R(0.5);
    const real lane_y = to_real(lane_index() >> 2) + R(0.5);
    const ellipse shape = {R(s->sharp_x), R(s->lean), R(s->sharp_y)};
    const real log2_opacity = R(s->log2_opacity);
    const real3 colour = make_real3(R(s->red), R(s->green), R(s->blue));
    splat_moments m = {R(0.0), R(0.0), R(0.0), R(0.0), R(0.0), R(0.0)};
    real3 by_colour = {R(0.0), R(0.0), R(0.0)};
    real2 magnitude = {R(0.0), R(0.0)};
    real by_depth = R(0.0);
    int rows[2];
    rows_of(s, top, rows);
    for (int row = rows[0]; row <= rows[1]; row++) {
        // the same roundings as when drawing
        const real dy = lane_y + R(top + row * BLOCK_H) - R(s->y);
        for (int column = tile->first[row][i]; column <= tile->last[row][i]; column++) {
            pixel_block *block = &tile->blocks[row * COLUMNS + column];
            if (!any(block->replay.transmittance > R(0.0))) {
                continue;
            }
            const real2 d = {lane_x + R(left + column * BLOCK_W) - R(s->x), dy};
            const real3 g = block->gradient;
            real shade = dot3(g, colour);
            if (extras.alpha) {
                shade = shade + block->by_alpha;
            }
            if (extras.depth) {
                shade = fma_(block->by_depth, R(s->depth), shade);
            }
            splat_replayed r = splat_replay_one(block->replay, log2_opacity, d, shape, shade);
            block->replay = r.next;
            by_colour = blend_add(by_colour, r.weight, g);
            if (extras.depth) {
                by_depth = fma_(r.weight, block->by_depth, by_depth);
            }
            const real x = r.slope * d.x, y = r.slope * d.y;
            m.one = m.one + r.slope;
            m.x = m.x + x;
            m.y = m.y + y;
            m.xx = fma_(x, d.x, m.xx);
            m.xy = fma_(x, d.y, m.xy);
            m.yy = fma_(y, d.y, m.yy);
            if (extras.magnitude) {
                magnitude = splat_magnitude_add(magnitude, shape, r.slope, d);
            }
        }
    }
    const real values[ORR_MOMENTS] = {m.one, m.x,         m.y,         m.xx,       m.xy,
                                      m.yy,  by_colour.x, by_colour.y, by_colour.z};
    for (int k = 0; k < ORR_MOMENTS; k++) {
        real_store(tile->sums[i][k], values[k]);
    }
    if (extras.depth) {
        real_store(tile->sums[i][ORR_MOMENTS], by_depth);
    }
    if (extras.magnitude) {
        const int member = ORR_MOMENTS + extras.depth;
        real_store(tile->sums[i][member], magnitude.x);
        real_store(tile->sums[i][member + 1], magnitude.y);
    }
}

#define REPLAY(name, alpha, depth, magnitude)                                                                \
    static void name(const orr_splat_backward_job *job, backward_tile *tile, int count)                      \
    {                                                                                                        \
        for (int i = 0; i < count; i++) {                                                                    \
            replay_splat(job, tile, i, (backward_extras){alpha, depth, magnitude});                          \
        }                                                                                                    \
    }
REPLAY(replay_colour, false, false, false)
REPLAY(replay_alpha, true, false, false)
REPLAY(replay_depth, true, true, false)
REPLAY(replay_colour_magnitude, false, false, true)
REPLAY(replay_alpha_magnitude, true, false, true)
REPLAY(replay_depth_magnitude, true, true, true)

static void replay(const orr_splat_backward_job *job, backward_tile *tile, int count)
{
    const bool magnitude = job->rows->magnitude;
    if (job->by_depth) {
        (magnitude ? replay_depth_magnitude : replay_depth)(job, tile, count);
    } else if (job->by_alpha) {
        (magnitude ? replay_alpha_magnitude : replay_alpha)(job, tile, count);
    } else {
        (magnitude ? replay_colour_magnitude : replay_colour)(job, tile, count);
    }
}

// Sums over lanes, and to the splats' rows of this tile.
static void store_sums(const orr_splat_backward_job *job, backward_tile *tile, const uint32_t *splats,
                       int count)
{
    const orr_splat_rows *rows = job->rows;
    const int members = rows->members;
    float sums[ORR_MOMENTS_MOST][BATCH];
    for (int first = 0; first < count; first += ORR_LANES) {
        for (int k = 0; k < members; k++) {
            real lanes[ORR_LANES], sum = R(0.0);
            for (int i = 0; i < ORR_LANES; i++) {
                lanes[i] = real_load(tile->sums[first + i][k]);
            }
            real_transpose(lanes);
            for (int i = 0; i < ORR_LANES; i++) {
                sum = sum + lanes[i];
            }
            real_store(sums[k] + first, sum);
        }
    }
    for (int i = 0; i < count; i++) {
        const orr_tile_box box = rows->frame.boxes[splats[i]];
        uint32_t row = rows->first[tile->batch[i].file_index] +
                       (uint32_t)((job->tile_y - box.y0) * (box.x1 - box.x0 + 1) + job->tile_x - box.x0);
        float *to = rows->rows + (size_t)row * (size_t)members;
        for (int k = 0; k < members; k++) {
            to[k] = sums[k][i];
        }
    }
}

void ORR_ISA_NAME(orr_splat_backward)(const orr_splat_backward_job *job)
{
    backward_tile tile;
    const orr_splat_bins *bins = job->rows->frame.bins;
    const int number = job->tile_y * bins->tiles_x + job->tile_x;
    const uint32_t *splats = bins->tile_splats + bins->starts[number];
    const uint32_t all = bins->starts[number + 1] - bins->starts[number];
    for (int b = 0; all > 0 && b < BLOCKS; b++) {
        begin_block(job, &tile.blocks[b], job->tile_x * ORR_CPU_TILE + b % COLUMNS * BLOCK_W,
                    job->tile_y * ORR_CPU_TILE + b / COLUMNS * BLOCK_H);
    }
    for (uint32_t start = 0; start < all; start += BATCH) {
        int count = (int)(all - start < BATCH ? all - start : BATCH);
        for (int i = 0; i < count; i++) {
            tile.batch[i] = job->rows->frame.records[splats[start + (uint32_t)i]];
        }
        find_touched_columns(job, &tile, count);
        replay(job, &tile, count);
        store_sums(job, &tile, splats + start, count);
    }
}
