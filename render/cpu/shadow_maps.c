#include "render/cpu/shadow_maps.h"

#include "render/cpu/mesh_raster.h"

typedef void lowest_function(const float *texels, int size, int row, float *lowest);
lowest_function orr_shadow_lowest_baseline, orr_shadow_lowest_avx2, orr_shadow_lowest_avx512;
#define LOWEST(isa) orr_shadow_lowest_##isa
static lowest_function *const lowest_functions[ORR_ISA_COUNT] = ORR_ISA_TABLE(LOWEST);

// A map whose tiles are made.
typedef struct tiled_map {
    const float *texels;
    int size;
    float *lowest;
    lowest_function *function;
} tiled_map;

static void lowest_job(void *context, int row, int worker)
{
    (void)worker;
    const tiled_map *m = context;
    m->function(m->texels, m->size, row, m->lowest);
}

orr_result orr_shadow_maps_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                orr_shadow_maps *maps, orr_error *error)
{
    orr_shadow_plan_make(list, &maps->plan);
    maps->texels = maps->lowest = NULL;
    if (maps->plan.map_count == 0) {
        return ORR_OK;
    }
    const int tile = ORR_SHADOW_TILE * ORR_SHADOW_TILE;
    float *texels = orr_arena_take(arena, (size_t)maps->plan.texels, sizeof *texels);
    float *lowest = orr_arena_take(arena, (size_t)(maps->plan.texels / tile), sizeof *lowest);
    if (!texels || !lowest) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: shadow maps of %d texels",
                        maps->plan.texels);
    }
    for (int i = 0; i < maps->plan.map_count; i++) {
        const orr_draw_list casters = orr_shadow_list(list, &maps->plan, i);
        const orr_mesh_picture map = {.depth = texels + maps->plan.maps[i].first};
        orr_fragment_lists none;
        ORR_TRY(orr_mesh_raster(jobs, isa, arena, &casters, NULL, map, &none, NULL, error));
        const int first = maps->plan.maps[i].first, size = casters.lens.width;
        tiled_map tiled = {map.depth, size, lowest + first / tile, lowest_functions[isa]};
        orr_jobs_for(jobs, size / ORR_SHADOW_TILE, lowest_job, &tiled);
    }
    maps->texels = texels;
    maps->lowest = lowest;
    return ORR_OK;
}
