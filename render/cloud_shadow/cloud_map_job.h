// What draws a tile of an opacity map: one kernel per instruction set.
#pragma once

#include "render/cpu/splats_cpu.h"

typedef struct orr_cloud_map_job {
    const orr_splat_record *records;
    const uint32_t *tile_splats; // record indices of the tile, in any order
    uint32_t splat_count;
    uint64_t *touches;  // orr_cloud_map_touches(splat_count), overwritten
    int tile_x, tile_y; // in tiles
    int size;           // of a side of the map [texels]
    float *texels;      // size x size x ORR_CLOUD_TEXEL
} orr_cloud_map_job;

// Words that tell which of a tile's blocks of lanes its splats reach.
static inline size_t orr_cloud_map_touches(uint32_t splat_count)
{
    enum { BATCH_MOST = 64, BLOCKS_MOST = ORR_CPU_TILE * ORR_CPU_TILE / 4 };
    return ((size_t)splat_count + BATCH_MOST - 1) / BATCH_MOST * BLOCKS_MOST;
}

void orr_cloud_map_tile_baseline(const orr_cloud_map_job *job);
void orr_cloud_map_tile_avx2(const orr_cloud_map_job *job);
void orr_cloud_map_tile_avx512(const orr_cloud_map_job *job);
