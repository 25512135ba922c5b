// One tile of a picture backward: every splat of it gets its moments and its colour's gradient.
//
// Splats are replayed from front to back, each over the blocks of pixels that it reaches, lanes over the
// pixels of a block. A block's pixels are two floats of state and three of gradient, which stay in L1; a
// splat's sums stay in registers until its lanes are summed.
#include "render/formula_inputs.h"
#include "render/splat/splat_backward_formula.h"
#include "render/training/splat_training.h"

enum {
    BATCH = 64,
    BLOCK_W = 4,
    BLOCK_H = ORR_LANES / BLOCK_W,
    COLUMNS = ORR_CPU_TILE / BLOCK_W,
    ROWS = ORR_CPU_TILE / BLOCK_H,
    BLOCKS = COLUMNS * ROWS,
    WORDS = BLOCKS / 64,
    PLACES = (ORR_MOMENTS_MOST + ORR_LANES - 1) / ORR_LANES * ORR_LANES
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
    int32_t first[ROWS][BATCH], end[ROWS][BATCH]; // columns that a splat reaches in each row of blocks
    float sums[BATCH][PLACES];
    float *rows[BATCH]; // where these go
} backward_tile;

static void begin_block(const orr_splat_backward_job *job, pixel_block *block, int left, int top)
{
    const orr_loss_planes *g = job->gradient;
    const sint x = lane_index() & I(BLOCK_W - 1), y = lane_index() >> 2;
    const mask there = and_(to_real(x) < R(job->width - left), to_real(y) < R(job->height - top));
    // beyond the picture the block's first pixel again
    const sint inside = (x < I(job->width - left)) & (y < I(job->height - top));
    const sint pixel = (y * I(job->width) + x) & inside, value = (y * I(g->stride) + x) & inside;
    const int64_t at = (int64_t)top * job->width + left;
    const float *rgba = job->rgba + 4 * at;
    const sint four = pixel * I(4);
    const real3 colour =
        make_real3(real_gather(rgba, four), real_gather(rgba + 1, four), real_gather(rgba + 2, four));
    const real alpha = real_gather(rgba + 3, four);
    const float behind = job->by_alpha ? 0.0f : 1.0f; // by_alpha has the background's part
    const real3 background = make_real3(R(behind * job->background[0]), R(behind * job->background[1]),
                                        R(behind * job->background[2]));
    block->gradient = make_real3(real_gather(orr_loss_row(g, 0, top) + left, value),
                                 real_gather(orr_loss_row(g, 1, top) + left, value),
                                 real_gather(orr_loss_row(g, 2, top) + left, value));
    block->by_alpha = job->by_alpha ? real_gather(job->by_alpha + at, pixel) : R(0.0);
    block->by_depth = job->by_depth ? real_gather(job->by_depth + at, pixel) : R(0.0);
    const real depth = job->by_depth ? real_gather(job->depth + at, pixel) : R(0.0);
    const real rest = splat_replay_rest(block->gradient, colour, alpha, background, block->by_alpha);
    block->replay = (splat_replay){sel(there, R(1.0), R(-1.0)),
                                   splat_replay_rest_depth(rest, block->by_depth, depth, alpha)};
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
            sint_store(tile->end[row] + first, to_int(max_(to + R(1.0), from)));
        }
    }
}

// The blocks that a splat reaches, as bits, for one loop over them: where loops over rows and columns end is
// different in each row, and processors guess wrong.
static inline void find_touched_blocks(const backward_tile *tile, int i, uint64_t touched[WORDS])
{
    for (int word = 0; word < WORDS; word++) {
        uint64_t bits = 0;
        for (int row = 0; row < 64 / COLUMNS; row++) {
            const int at = word * (64 / COLUMNS) + row;
            const uint64_t columns = ((uint64_t)1 << tile->end[at][i]) - ((uint64_t)1 << tile->first[at][i]);
            bits |= columns << row * COLUMNS;
        }
        touched[word] = bits;
    }
}

// Where the sum of a vector's lanes is behind sum_lanes: the bits of its number in reverse.
static int place_of(int member)
{
    int place = member / ORR_LANES * ORR_LANES;
    for (int bit = 1; bit < ORR_LANES; bit *= 2) {
        place += member & bit ? ORR_LANES / 2 / bit : 0;
    }
    return place;
}

// The sums over the lanes of some vectors, side by side in as few vectors. Two at a time become one with a
// half of the terms of each, until each has one.
static inline __attribute__((always_inline)) void sum_lanes(real *v, int count)
{
    for (int terms = ORR_LANES; terms > 1; terms /= 2) {
        for (int i = 0; i < count; i += 2) {
            const real next = i + 1 < count ? v[i + 1] : R(0.0);
            v[i / 2] = real_interleave_low(v[i], next) + real_interleave_high(v[i], next);
        }
        count = (count + 1) / 2;
    }
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
    uint64_t touched[WORDS];
    find_touched_blocks(tile, i, touched);
    for (int word = 0; word < WORDS; word++) {
        for (uint64_t bits = touched[word]; bits; bits &= bits - 1) {
            const int number = 64 * word + __builtin_ctzll(bits);
            pixel_block *block = &tile->blocks[number];
            if (!any(block->replay.transmittance > R(0.0))) {
                continue;
            }
            const int block_left = left + number % COLUMNS * BLOCK_W,
                      block_top = top + number / COLUMNS * BLOCK_H;
            // the same roundings as when drawing
            const real2 d = {lane_x + R(block_left) - R(s->x), lane_y + R(block_top) - R(s->y)};
            const real3 g = block->gradient;
            real shade = dot3(g, colour);
            if (extras.alpha) {
                shade = shade + block->by_alpha;
            }
            if (extras.depth) {
                shade = splat_shade_depth(shade, block->by_depth, R(s->depth));
            }
            splat_replayed r = splat_replay_one(block->replay, log2_opacity, d, shape, shade);
            block->replay = r.next;
            by_colour = blend_add(by_colour, r.weight, g);
            if (extras.depth) {
                by_depth = fma_(r.weight, block->by_depth, by_depth);
            }
            m = splat_moments_add(m, r.slope, d);
            if (extras.magnitude) {
                magnitude = splat_magnitude_add(magnitude, shape, r.slope, d);
            }
        }
    }
    real values[ORR_MOMENTS_MOST] = {m.one, m.x,         m.y,         m.xx,       m.xy,
                                     m.yy,  by_colour.x, by_colour.y, by_colour.z};
    int members = ORR_MOMENTS;
    if (extras.depth) {
        values[members++] = by_depth;
    }
    if (extras.magnitude) {
        magnitude = splat_magnitude(magnitude, shape);
        values[members++] = magnitude.x;
        values[members++] = magnitude.y;
    }
    sum_lanes(values, members);
    for (int n = 0; n * ORR_LANES < members; n++) {
        real_store(tile->sums[i] + n * ORR_LANES, values[n]);
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

// Takes a batch of the tile's splats. What is read of them later is on its way meanwhile.
static void begin_batch(const orr_splat_backward_job *job, backward_tile *tile, const uint32_t *splats,
                        int count, int more)
{
    const orr_splat_rows *rows = job->rows;
    for (int i = 0; i < count; i++) {
        tile->batch[i] = rows->frame.records[splats[i]];
        __builtin_prefetch(&rows->frame.boxes[splats[i]]);
        __builtin_prefetch(&rows->first[tile->batch[i].file_index]);
    }
    for (int i = count; i < count + more; i++) {
        __builtin_prefetch(&rows->frame.records[splats[i]]);
    }
}

// The rows that the batch's sums go to.
static void find_rows(const orr_splat_backward_job *job, backward_tile *tile, const uint32_t *splats,
                      int count)
{
    const orr_splat_rows *rows = job->rows;
    for (int i = 0; i < count; i++) {
        const orr_tile_box box = rows->frame.boxes[splats[i]];
        const uint32_t row =
            rows->first[tile->batch[i].file_index] +
            (uint32_t)((job->tile_y - box.y0) * (box.x1 - box.x0 + 1) + job->tile_x - box.x0);
        tile->rows[i] = rows->rows + (size_t)row * (size_t)rows->members;
        __builtin_prefetch(tile->rows[i], 1);
    }
}

static void store_sums(const backward_tile *tile, int members, int count)
{
    int place[ORR_MOMENTS_MOST];
    for (int k = 0; k < ORR_MOMENTS_MOST; k++) {
        place[k] = place_of(k);
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < members; k++) {
            tile->rows[i][k] = tile->sums[i][place[k]];
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
        const int left = job->tile_x * ORR_CPU_TILE + b % COLUMNS * BLOCK_W;
        const int top = job->tile_y * ORR_CPU_TILE + b / COLUMNS * BLOCK_H;
        if (left < job->width && top < job->height) {
            begin_block(job, &tile.blocks[b], left, top);
        } else {
            tile.blocks[b].replay.transmittance = R(-1.0); // nothing is to be seen there
        }
    }
    for (uint32_t start = 0; start < all; start += BATCH) {
        int count = (int)(all - start < BATCH ? all - start : BATCH);
        const uint32_t left = all - start - (uint32_t)count;
        begin_batch(job, &tile, splats + start, count, (int)(left < BATCH ? left : BATCH));
        find_touched_columns(job, &tile, count);
        find_rows(job, &tile, splats + start, count);
        replay(job, &tile, count);
        store_sums(&tile, job->rows->members, count);
    }
}
