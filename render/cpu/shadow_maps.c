#include "render/cpu/shadow_maps.h"

#include "render/cpu/mesh_raster.h"

orr_result orr_shadow_maps_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                orr_shadow_maps *maps, orr_error *error)
{
    orr_shadow_plan_make(list, &maps->plan);
    for (int i = 0; i < maps->plan.count; i++) {
        const orr_draw_list casters = orr_shadow_list(list, &maps->plan, i);
        const size_t texels = (size_t)maps->plan.size * (size_t)maps->plan.size;
        orr_fragment_lists none;
        float *depth = orr_arena_take(arena, texels, sizeof *depth);
        if (!depth) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a shadow map of %zu texels",
                            texels);
        }
        ORR_TRY(orr_mesh_raster(jobs, isa, arena, &casters, NULL, (orr_mesh_picture){.depth = depth}, &none,
                                NULL, error));
        maps->depth[i] = depth;
    }
    return ORR_OK;
}
