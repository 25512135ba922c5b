#include "render/cloud_shadow/cloud_maps.h"

#include <string.h>

// first: texel at which the caster's maps begin
static orr_result add_maps(const orr_draw_list *list, const orr_cloud_caster *caster, int32_t first,
                           orr_cloud_maps *maps, orr_error *error)
{
    const orr_shadow_plan *plan = &caster->plan;
    ORR_GROW(maps->maps, maps->map_capacity, maps->map_count + plan->map_count, "maps of clouds", error);
    for (int i = 0; i < plan->map_count; i++) {
        orr_draw_splats cloud;
        const orr_draw_list seen = orr_cloud_shadow_list(list, caster, &cloud, i);
        orr_cloud_map *map = &maps->maps[maps->map_count];
        *map = (orr_cloud_map){
            .layer = caster->layer, .size = seen.lens.width, .first = first + plan->maps[i].first};
        ORR_TRY(orr_splat_lens_make(&seen.lens, &cloud, &map->lens, error));
        maps->map_count++;
    }
    return ORR_OK;
}

static void fill_row(const orr_draw_list *list, const uint32_t *firsts, const orr_cloud_caster *caster,
                     int32_t first, orr_cloud_row *row)
{
    const orr_shadow_plan *plan = &caster->plan;
    row->first = 0;
    for (int i = 0; i < caster->layer; i++) {
        row->first += (uint32_t)list->splats[i].pack->count;
    }
    row->end = row->first + (uint32_t)list->splats[caster->layer].pack->count;
    if (firsts) {
        row->first = firsts[caster->layer];
        row->end = firsts[caster->layer + 1];
    }
    memcpy(row->light_of, plan->light_of, sizeof row->light_of);
    for (int i = 0; i < plan->light_count; i++) {
        row->values[i] = plan->values[i];
        row->firsts[i] = first + plan->firsts[i];
    }
}

orr_result orr_cloud_maps_find(orr_jobs *jobs, orr_arena *arena, const orr_draw_list *list,
                               const uint32_t *firsts, const orr_shadow_plan *meshes, orr_cloud_maps *maps,
                               orr_error *error)
{
    orr_cloud_caster casters[ORR_CLOUD_CASTERS];
    int count;
    maps->map_count = 0;
    maps->texels = 0;
    maps->table.count = 0;
    ORR_TRY(orr_cloud_casters_find(jobs, arena, list, casters, &count, error));
    if (count == 0) {
        return ORR_OK;
    }
    maps->table =
        (orr_cloud_table){.count = count, .captured_light = orr_cloud_captured_light(casters, count, meshes)};
    for (int i = 0; i < count; i++) {
        ORR_TRY(add_maps(list, &casters[i], (int32_t)maps->texels, maps, error));
        fill_row(list, firsts, &casters[i], (int32_t)maps->texels, &maps->table.casters[i]);
        maps->texels += casters[i].plan.texels;
    }
    return ORR_OK;
}

void orr_cloud_maps_free(orr_cloud_maps *maps)
{
    orr_free(maps->maps);
    *maps = (orr_cloud_maps){0};
}
