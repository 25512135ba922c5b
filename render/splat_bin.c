// Binning: from splats in order of depth to one list per tile, in the same order.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "render/splat_formula.h"
#include "render/splats_cpu.h"

#include <math.h>
#include <string.h>

enum {
    BIN_BLOCK = 2048, // splats per job
    BIN_BLOCKS_MAX = 64
};

typedef struct bin_job {
    const orr_splat_record *records;
    const uint32_t *order;
    int64_t count, block;
    int tiles_x, tiles_y;
    uint32_t *counts; // blocks x tiles: counts, then places
    uint32_t *tile_splats;
} bin_job;

static int clamp_tile(float pixel, int tiles)
{
    // pixel positions may be far outside the range of int
    float tile = floorf(pixel * (1.0f / ORR_TILE));
    return tile < 0.0f ? 0 : tile > (float)(tiles - 1) ? tiles - 1 : (int)tile;
}

// the tiles of one row whose pixel centres the ellipse reaches: first and last
static void row_interval(const orr_splat_record *s, int tile_y, int tiles_x, int *first, int *last)
{
    // a hundredth of a pixel more on each side covers the rounding of these lines
    float low = (float)(tile_y * ORR_TILE) + 0.49f - s->y;
    float high = low + (float)(ORR_TILE - 1) + 0.02f;
    ellipse shape = {s->sharp_x, s->lean, s->sharp_y};
    real2 ends = splat_band(shape, s->reach, (real2){s->half_width, s->half_height}, low, high);
    if (ends.x > ends.y) {
        *first = 1;
        *last = 0;
        return;
    }
    *first = clamp_tile(s->x + ends.x - 0.51f, tiles_x);
    *last = clamp_tile(s->x + ends.y - 0.49f, tiles_x);
}

// Calls BODY(tile) for each tile the splat reaches. Exact by rows where a box would waste tiles.
#define FOR_EACH_TILE(BODY)                                                                                  \
    do {                                                                                                     \
        int x0 = clamp_tile(s->x - s->half_width - 0.5f, job->tiles_x);                                      \
        int x1 = clamp_tile(s->x + s->half_width - 0.5f, job->tiles_x);                                      \
        int y0 = clamp_tile(s->y - s->half_height - 0.5f, job->tiles_y);                                     \
        int y1 = clamp_tile(s->y + s->half_height - 0.5f, job->tiles_y);                                     \
        bool exact = x1 > x0 && y1 > y0 && (x1 - x0) + (y1 - y0) > 2;                                        \
        for (int y = y0; y <= y1; y++) {                                                                     \
            int first = x0, last = x1;                                                                       \
            if (exact) {                                                                                     \
                row_interval(s, y, job->tiles_x, &first, &last);                                             \
            }                                                                                                \
            for (int x = first; x <= last; x++) {                                                            \
                BODY(y * job->tiles_x + x);                                                                  \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

static void count_tiles(void *context, int i, int worker)
{
    (void)worker;
    const bin_job *job = context;
    size_t tiles = (size_t)job->tiles_x * (size_t)job->tiles_y;
    uint32_t *counts = job->counts + (size_t)i * tiles;
    memset(counts, 0, tiles * sizeof *counts);
    int64_t first_splat = i * job->block;
    int64_t end = first_splat + job->block < job->count ? first_splat + job->block : job->count;
#define COUNT(tile) counts[tile]++
    for (int64_t k = first_splat; k < end; k++) {
        const orr_splat_record *s = &job->records[job->order[k]];
        FOR_EACH_TILE(COUNT);
    }
}

static void fill_tiles(void *context, int i, int worker)
{
    (void)worker;
    const bin_job *job = context;
    uint32_t *places = job->counts + (size_t)i * (size_t)job->tiles_x * (size_t)job->tiles_y;
    int64_t first_splat = i * job->block;
    int64_t end = first_splat + job->block < job->count ? first_splat + job->block : job->count;
#define PLACE(tile) job->tile_splats[places[tile]++] = record
    for (int64_t k = first_splat; k < end; k++) {
        uint32_t record = job->order[k];
        const orr_splat_record *s = &job->records[record];
        FOR_EACH_TILE(PLACE);
    }
}

orr_result orr_splats_bin(orr_jobs *jobs, orr_arena *arena, const orr_splat_record *records,
                          const uint32_t *order, int64_t count, int width, int height, orr_splat_bins *bins,
                          orr_error *error)
{
    int64_t block = BIN_BLOCK;
    while (orr_blocks(count, block) > BIN_BLOCKS_MAX) {
        block *= 2;
    }
    int blocks = orr_blocks(count, block);
    bin_job job = {
        records, order, count, block, (width + ORR_TILE - 1) / ORR_TILE, (height + ORR_TILE - 1) / ORR_TILE,
        NULL,    NULL};
    size_t tiles = (size_t)job.tiles_x * (size_t)job.tiles_y;
    *bins = (orr_splat_bins){.tiles_x = job.tiles_x, .tiles_y = job.tiles_y};
    bins->starts = orr_arena_take(arena, tiles + 1, sizeof(uint32_t));
    job.counts = orr_arena_take(arena, tiles * (size_t)blocks, sizeof(uint32_t));
    if (!bins->starts || !job.counts) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu tiles", tiles);
    }
    orr_jobs_for(jobs, blocks, count_tiles, &job);

    uint64_t place = 0;
    for (size_t tile = 0; tile < tiles; tile++) {
        bins->starts[tile] = (uint32_t)place;
        for (int i = 0; i < blocks; i++) {
            uint32_t *entry = &job.counts[(size_t)i * tiles + tile];
            uint32_t here = *entry;
            *entry = (uint32_t)place;
            place += here;
        }
    }
    if (place > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%llu pairs of splats and tiles: expected at most 2^32 - 1",
                        (unsigned long long)place);
    }
    bins->starts[tiles] = (uint32_t)place;
    bins->pairs = (int64_t)place;
    bins->tile_splats = job.tile_splats = orr_arena_take(arena, (size_t)place, sizeof(uint32_t));
    if (!bins->tile_splats) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %llu pairs of splats and tiles",
                        (unsigned long long)place);
    }
    orr_jobs_for(jobs, blocks, fill_tiles, &job);
    return ORR_OK;
}
