#include "render/cpu/shadow_maps.h"

#include "render/cpu/mesh_raster.h"

orr_result orr_shadow_maps_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                orr_shadow_maps *maps, orr_error *error)
{
    orr_shadow_plan_make(list, &maps->plan);
    maps->texels = NULL;
    maps->captured = list->self_shadow ? list->self_shadow->depths : NULL;
    if (maps->plan.map_count == 0) {
        return ORR_OK;
    }
    float *texels = orr_arena_take(arena, (size_t)maps->plan.texels, sizeof *texels);
    if (!texels) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: shadow maps of %d texels",
                        maps->plan.texels);
    }
    for (int i = 0; i < maps->plan.map_count; i++) {
        const orr_draw_list casters = orr_shadow_list(list, &maps->plan, i);
        const orr_mesh_picture map = {.depth = texels + maps->plan.maps[i].first};
        orr_fragment_lists none;
        ORR_TRY(orr_mesh_raster(jobs, isa, arena, &casters, NULL, map, &none, NULL, error));
    }
    maps->texels = texels;
    return ORR_OK;
}
