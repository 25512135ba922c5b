// Binning: from splats in order of depth to one list per tile, in the same order.
#define ORR_SCALAR
#include "render/cpu/splats_cpu.h"
#include "render/splat/splat_formula.h"

#include <string.h>

enum {
    BIN_BLOCK = 2048, // splats per job
    BIN_BLOCKS_MAX = 64,
    EXACT_ABOVE =
        8 // tiles of width plus height; measured: for smaller boxes the row ends cost more than they save
};

typedef struct bin_job {
    const orr_bin_input *input;
    int64_t block; // splats per job
    int tiles_x, tiles_y;
    orr_tile_box *boxes; // in order of depth
    uint32_t *counts;    // blocks x tiles: counts, then where each block writes next
    uint32_t *tile_splats;
} bin_job;

// First and last tile; first > last: none.
typedef struct tile_range {
    int first, last;
} tile_range;

// The tiles of row `y` that a splat reaches: by its box when that is small, otherwise exactly.
static tile_range tiles_of_row(const bin_job *job, orr_tile_box box, const orr_splat_record *s, int y)
{
    if (box.x1 + box.y1 <= box.x0 + box.y0 + EXACT_ABOVE) {
        return (tile_range){box.x0, box.x1};
    }
    const splat_footprint footprint = {.centre = {s->x, s->y},
                                       .shape = {s->sharp_x, s->lean, s->sharp_y},
                                       .log2_opacity = s->log2_opacity,
                                       .half_size = {s->half_width, s->half_height}};
    real2 range = splat_tile_row(footprint, (float)y, ORR_CPU_TILE, (float)job->tiles_x);
    return (tile_range){(int)range.x, (int)range.y};
}

static int64_t end_of_block(const bin_job *job, int64_t first)
{
    return first + job->block < job->input->count ? first + job->block : job->input->count;
}

static void count_tiles(void *context, int i, int worker)
{
    (void)worker;
    const bin_job *job = context;
    size_t tiles = (size_t)job->tiles_x * (size_t)job->tiles_y;
    uint32_t *counts = job->counts + (size_t)i * tiles;
    memset(counts, 0, tiles * sizeof *counts);
    int64_t end = end_of_block(job, i * job->block);
    for (int64_t k = i * job->block; k < end; k++) {
        uint32_t record = job->input->order[k];
        orr_tile_box box = job->boxes[k] = job->input->boxes[record];
        for (int y = box.y0; y <= box.y1; y++) {
            tile_range range = tiles_of_row(job, box, &job->input->records[record], y);
            for (int x = range.first; x <= range.last; x++) {
                counts[y * job->tiles_x + x]++;
            }
        }
    }
}

static void fill_tiles(void *context, int i, int worker)
{
    (void)worker;
    const bin_job *job = context;
    uint32_t *next = job->counts + (size_t)i * (size_t)job->tiles_x * (size_t)job->tiles_y;
    int64_t end = end_of_block(job, i * job->block);
    for (int64_t k = i * job->block; k < end; k++) {
        uint32_t record = job->input->order[k];
        orr_tile_box box = job->boxes[k];
        for (int y = box.y0; y <= box.y1; y++) {
            tile_range range = tiles_of_row(job, box, &job->input->records[record], y);
            for (int x = range.first; x <= range.last; x++) {
                job->tile_splats[next[y * job->tiles_x + x]++] = record;
            }
        }
    }
}

// Counts become the indices at which each block writes: tile by tile, and within a tile block by block, which
// keeps the order of depth.
static uint64_t sum_counts(const bin_job *job, int blocks, uint32_t *starts)
{
    size_t tiles = (size_t)job->tiles_x * (size_t)job->tiles_y;
    uint64_t next = 0;
    for (size_t tile = 0; tile < tiles; tile++) {
        starts[tile] = (uint32_t)next;
        for (int i = 0; i < blocks; i++) {
            uint32_t *entry = &job->counts[(size_t)i * tiles + tile];
            uint32_t count = *entry;
            *entry = (uint32_t)next;
            next += count;
        }
    }
    starts[tiles] = (uint32_t)next;
    return next;
}

orr_result orr_splats_bin(orr_jobs *jobs, orr_arena *arena, const orr_bin_input *input, orr_splat_bins *bins,
                          orr_error *error)
{
    int64_t block = BIN_BLOCK;
    while (orr_blocks(input->count, block) > BIN_BLOCKS_MAX) {
        block *= 2;
    }
    int blocks = orr_blocks(input->count, block);
    bin_job job = {.input = input,
                   .block = block,
                   .tiles_x = (input->width + ORR_CPU_TILE - 1) / ORR_CPU_TILE,
                   .tiles_y = (input->height + ORR_CPU_TILE - 1) / ORR_CPU_TILE};
    size_t tiles = (size_t)job.tiles_x * (size_t)job.tiles_y;
    *bins = (orr_splat_bins){.tiles_x = job.tiles_x, .tiles_y = job.tiles_y};
    bins->starts = orr_arena_take(arena, tiles + 1, sizeof *bins->starts);
    job.counts = orr_arena_take(arena, tiles * (size_t)blocks, sizeof *job.counts);
    job.boxes = orr_arena_take(arena, (size_t)input->count, sizeof *job.boxes);
    if (!bins->starts || !job.counts || !job.boxes) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu tiles", tiles);
    }
    orr_jobs_for(jobs, blocks, count_tiles, &job);

    uint64_t pairs = sum_counts(&job, blocks, bins->starts);
    if (pairs > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%llu pairs of splats and tiles: expected at most 2^32 - 1",
                        (unsigned long long)pairs);
    }
    bins->pairs = (int64_t)pairs;
    bins->tile_splats = job.tile_splats = orr_arena_take(arena, (size_t)pairs, sizeof *job.tile_splats);
    if (!job.tile_splats) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %llu pairs of splats and tiles",
                        (unsigned long long)pairs);
    }
    orr_jobs_for(jobs, blocks, fill_tiles, &job);
    return ORR_OK;
}
