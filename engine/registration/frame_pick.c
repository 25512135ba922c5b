#include "engine/registration/frame_pick.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHARP_SIDE = 960, // [px] of the picture whose sharpness is measured
    MOVE_SIDE = 96,   // of the one whose movement is: fast, and blur does not matter
    BLOCK = 12,       // of it, which are looked for
    REACH = 8,        // [px] around where they were
    BLOCKS_MAX = (MOVE_SIDE / BLOCK) * (MOVE_SIDE / BLOCK),
    MOVED = 3, // [px] after which movement is measured from a new picture
    FEWEST = 20
};

static const double STRETCH = 1.0 / 12.0;     // of the longer side, between two frames that are chosen
static const double STILL = 0.05;             // movement of a whole video below which time counts instead
static const int TEXTURE = 8 * BLOCK * BLOCK; // sum of differences from its mean below which a block is bare

typedef struct grey {
    int width, height;
    uint8_t *luma;
} grey;

struct orr_frame_meter {
    int width, height;
    grey sharp, move, reference;
    double travel; // of the reference
    bool begun;
};

static orr_result make_grey(int width, int height, int side, grey *g, orr_error *error)
{
    int longer = width > height ? width : height, factor = (longer + side - 1) / side;
    g->width = width / factor > 0 ? width / factor : 1;
    g->height = height / factor > 0 ? height / factor : 1;
    ORR_ALLOC(g->luma, (int64_t)g->width * g->height, "a small picture", error);
    return ORR_OK;
}

orr_result orr_frame_meter_create(int width, int height, orr_frame_meter **out, orr_error *error)
{
    *out = NULL;
    orr_frame_meter *meter = orr_alloc_zero(1, sizeof *meter);
    if (!meter) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: frames of a video");
    }
    meter->width = width;
    meter->height = height;
    orr_result result = make_grey(width, height, SHARP_SIDE, &meter->sharp, error);
    result = result == ORR_OK ? make_grey(width, height, MOVE_SIDE, &meter->move, error) : result;
    result = result == ORR_OK ? make_grey(width, height, MOVE_SIDE, &meter->reference, error) : result;
    if (result != ORR_OK) {
        orr_frame_meter_destroy(meter);
        return result;
    }
    *out = meter;
    return ORR_OK;
}

void orr_frame_meter_destroy(orr_frame_meter *meter)
{
    if (meter) {
        orr_free(meter->sharp.luma);
        orr_free(meter->move.luma);
        orr_free(meter->reference.luma);
        orr_free(meter);
    }
}

// Each pixel the mean of those it covers; luma of BT.601 in 256ths.
static void shrink(const orr_frame_meter *meter, const uint8_t *rgba, grey *g)
{
    int step_x = meter->width / g->width, step_y = meter->height / g->height;
    for (int y = 0; y < g->height; y++) {
        for (int x = 0; x < g->width; x++) {
            uint64_t sum = 0;
            for (int v = 0; v < step_y; v++) {
                const uint8_t *p =
                    rgba + 4 * ((size_t)(y * step_y + v) * (size_t)meter->width + (size_t)(x * step_x));
                for (int u = 0; u < step_x; u++, p += 4) {
                    sum += 77u * p[0] + 150u * p[1] + 29u * p[2];
                }
            }
            g->luma[(size_t)y * (size_t)g->width + (size_t)x] =
                (uint8_t)(sum / (256u * (uint64_t)step_x * (uint64_t)step_y));
        }
    }
}

static double sharpness_of(const grey *g)
{
    double sum = 0.0;
    for (int y = 1; y + 1 < g->height; y++) {
        const uint8_t *row = g->luma + (size_t)y * (size_t)g->width;
        for (int x = 1; x + 1 < g->width; x++) {
            int d = 4 * row[x] - row[x - 1] - row[x + 1] - row[x - g->width] - row[x + g->width];
            sum += (double)(d * d);
        }
    }
    return sum / ((double)g->width * g->height);
}

static int block_difference(const grey *a, const grey *b, int x, int y, int dx, int dy, int limit)
{
    int sum = 0;
    for (int v = 0; v < BLOCK && sum < limit; v++) {
        const uint8_t *p = a->luma + (y + v) * a->width + x, *q = b->luma + (y + dy + v) * b->width + x + dx;
        for (int u = 0; u < BLOCK; u++) {
            sum += abs(p[u] - q[u]);
        }
    }
    return sum;
}

static bool has_texture(const grey *g, int x, int y)
{
    int mean = 0, sum = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int v = 0; v < BLOCK; v++) {
            for (int u = 0; u < BLOCK; u++) {
                int value = g->luma[(y + v) * g->width + x + u];
                *(pass ? &sum : &mean) += pass ? abs(value - mean) : value;
            }
        }
        mean = pass ? mean : mean / (BLOCK * BLOCK);
    }
    return sum > TEXTURE;
}

// How far the block at (x, y) of `a` has moved to its most similar one in `b` [px].
static double block_movement(const grey *a, const grey *b, int x, int y)
{
    int best = block_difference(a, b, x, y, 0, 0, 1 << 30);
    double movement = 0.0;
    for (int dy = -REACH; dy <= REACH; dy++) {
        for (int dx = -REACH; dx <= REACH; dx++) {
            if (x + dx < 0 || y + dy < 0 || x + dx + BLOCK > b->width || y + dy + BLOCK > b->height) {
                continue;
            }
            int difference = block_difference(a, b, x, y, dx, dy, best);
            if (difference < best) {
                best = difference;
                movement = hypot(dx, dy);
            }
        }
    }
    return movement;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The median movement of the blocks that have texture; 0 without such.
static double movement_between(const grey *a, const grey *b)
{
    double moved[BLOCKS_MAX];
    int count = 0;
    for (int y = 0; y + BLOCK <= a->height; y += BLOCK) {
        for (int x = 0; x + BLOCK <= a->width && count < BLOCKS_MAX; x += BLOCK) {
            if (has_texture(a, x, y)) {
                moved[count++] = block_movement(a, b, x, y);
            }
        }
    }
    qsort(moved, (size_t)count, sizeof *moved, by_size);
    return count > 0 ? moved[count / 2] : 0.0;
}

orr_frame_measure orr_frame_meter_next(orr_frame_meter *meter, const uint8_t *rgba)
{
    shrink(meter, rgba, &meter->sharp);
    shrink(meter, rgba, &meter->move);
    orr_frame_measure measure = {.sharpness = sharpness_of(&meter->sharp)};
    int longer = meter->move.width > meter->move.height ? meter->move.width : meter->move.height;
    double moved = meter->begun ? movement_between(&meter->reference, &meter->move) : 0.0;
    measure.travel = meter->travel + moved / longer;
    if (!meter->begun || moved >= MOVED) {
        meter->begun = true;
        meter->travel = measure.travel;
        memcpy(meter->reference.luma, meter->move.luma,
               (size_t)meter->move.width * (size_t)meter->move.height);
    }
    return measure;
}

int orr_frames_pick(const orr_frame_measure *frames, int count, int wanted, int *picked)
{
    if (count < 1 || wanted < 1) {
        return 0;
    }
    double travel = 0.0; // measured from new pictures it never falls, from one picture it may
    for (int i = 0; i < count; i++) {
        travel = fmax(travel, frames[i].travel);
    }
    bool still = travel < STILL;
    double stretches = fmax(ceil(travel / STRETCH), FEWEST);
    stretches = fmin(stretches, fmin(wanted, count));
    int chosen = 0, best = -1, of_best = 0;
    double farthest = 0.0;
    for (int i = 0; i < count; i++) {
        farthest = fmax(farthest, frames[i].travel);
        double share = still ? (double)i / count : farthest / (travel * (1.0 + 1e-9));
        int stretch = (int)(share * stretches);
        if (best >= 0 && stretch != of_best) {
            picked[chosen++] = best;
            best = -1;
        }
        if (best < 0 || frames[i].sharpness > frames[best].sharpness) {
            best = i;
        }
        of_best = stretch;
    }
    picked[chosen++] = best;
    return chosen;
}
