// A tile of an opacity map, lanes over its texels: all splats once for the depths that they span, and once
// more for what they leave of the light.
#include "render/cloud_shadow/cloud_map_job.h"
#include "render/cloud_shadow/cloud_shadow_formula.h"
#include "render/cpu/splat_touch_cpu.h"

#include <float.h>

typedef struct map_tile {
    cloud_texel blocks[BLOCKS];
    orr_splat_record batch[BATCH];
} map_tile;

static void store_block(const orr_cloud_map_job *job, const cloud_texel *t, int left, int top)
{
    float members[ORR_CLOUD_TEXEL][ORR_LANES];
    const real values[ORR_CLOUD_TEXEL] = {t->first, t->last, t->a, t->b, t->c, t->d};
    for (int k = 0; k < ORR_CLOUD_TEXEL; k++) {
        real_store(members[k], values[k]);
    }
    for (int i = 0; i < ORR_LANES; i++) {
        const int x = left + i % BLOCK_W, y = top + i / BLOCK_W;
        float *texel = job->texels + (size_t)ORR_CLOUD_TEXEL * ((size_t)y * (size_t)job->size + (size_t)x);
        for (int k = 0; k < ORR_CLOUD_TEXEL; k++) {
            texel[k] = members[k][i];
        }
    }
}

// Puts the splats of a batch into a block's texels. touched: a bit for each splat that reaches the block.
FN void add_splats(const orr_cloud_map_job *job, map_tile *tile, int block, uint64_t touched, bool span)
{
    const real column = pixel_column(job->tile_x * ORR_CPU_TILE + block % COLUMNS * BLOCK_W);
    const real row = pixel_row(job->tile_y * ORR_CPU_TILE + block / COLUMNS * BLOCK_H);
    cloud_texel t = tile->blocks[block];
    const real3 depths = cloud_texel_depths(t);
    for (uint64_t set = touched; set; set &= set - 1) {
        const orr_splat_record *s = &tile->batch[__builtin_ctzll(set)];
        const real2 d = {column - R(s->x), row - R(s->y)};
        const ellipse shape = {R(s->sharp_x), R(s->lean), R(s->sharp_y)};
        const real alpha = splat_alpha(R(s->log2_opacity), d, shape);
        t = span ? cloud_texel_span(t, alpha, R(s->depth)) : cloud_texel_add(t, depths, alpha, R(s->depth));
    }
    tile->blocks[block] = t;
}

// span: finds which blocks each splat reaches, too
FN void add_all(const orr_cloud_map_job *job, map_tile *tile, bool span)
{
    uint64_t *touches = job->touches;
    for (uint32_t start = 0; start < job->splat_count; start += BATCH, touches += BLOCKS) {
        const int count = (int)(job->splat_count - start < BATCH ? job->splat_count - start : BATCH);
        for (int i = 0; i < count; i++) {
            tile->batch[i] = job->records[job->tile_splats[start + (uint32_t)i]];
        }
        if (span) {
            find_touched_blocks(tile->batch, count, job->tile_x, job->tile_y, ~0u, touches);
        }
        for (int b = 0; b < BLOCKS; b++) {
            if (touches[b]) {
                add_splats(job, tile, b, touches[b], span);
            }
        }
    }
}

void ORR_ISA_NAME(orr_cloud_map_tile)(const orr_cloud_map_job *job)
{
    map_tile tile;
    for (int b = 0; b < BLOCKS; b++) {
        tile.blocks[b] = cloud_texel_begin(R(FLT_MAX));
    }
    add_all(job, &tile, true);
    add_all(job, &tile, false);
    for (int b = 0; b < BLOCKS; b++) {
        store_block(job, &tile.blocks[b], job->tile_x * ORR_CPU_TILE + b % COLUMNS * BLOCK_W,
                    job->tile_y * ORR_CPU_TILE + b / COLUMNS * BLOCK_H);
    }
}
