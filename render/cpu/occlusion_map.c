#include "render/cpu/occlusion_map.h"

#include "render/cpu/mesh_raster.h"

#include <math.h>

typedef void row_function(const orr_occlusion_map *map, int row);
#define ROW(isa) orr_occlusion_row_##isa
static row_function *const row_functions[ORR_ISA_COUNT] = ORR_ISA_TABLE(ROW);

typedef struct rows {
    const orr_occlusion_map *map;
    row_function *function;
} rows;

static void row_job(void *context, int row, int worker)
{
    (void)worker;
    const rows *r = context;
    r->function(r->map, row);
}

static void find_bounds(orr_occlusion_map *map)
{
    for (int i = 0; i < 3; i++) {
        map->low[i] = INFINITY;
        map->high[i] = -INFINITY;
        for (int row = 0; row < (int)map->values.height; row++) {
            map->low[i] = fminf(map->low[i], map->bounds[6 * row + i]);
            map->high[i] = fmaxf(map->high[i], map->bounds[6 * row + 3 + i]);
        }
        map->low[i] -= map->values.radius;
        map->high[i] += map->values.radius;
    }
}

orr_result orr_occlusion_map_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                  orr_occlusion_map *map, orr_error *error)
{
    *map = (orr_occlusion_map){.values = orr_occlusion_of(list)};
    if (map->values.radius == 0.0f || list->mesh_count == 0) {
        return ORR_OK;
    }
    const size_t pixels = (size_t)list->lens.width * (size_t)list->lens.height;
    float *depth = orr_arena_take(arena, pixels, 3 * sizeof *depth);
    map->bounds = orr_arena_take(arena, (size_t)list->lens.height, 6 * sizeof *map->bounds);
    if (!depth || !map->bounds) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: ambient occlusion of %zu pixels",
                        pixels);
    }
    const orr_draw_list opaque = {.lens = list->lens,
                                  .meshes = list->meshes,
                                  .mesh_count = list->mesh_count,
                                  .left_out_mesh = list->left_out_mesh,
                                  .left_out_part = list->left_out_part,
                                  .rays = list->rays, // glass is solid where there are some
                                  .only_solid = true};
    orr_fragment_lists none;
    ORR_TRY(orr_mesh_raster(jobs, isa, arena, &opaque, NULL, (orr_mesh_picture){.depth = depth}, &none, NULL,
                            error));
    map->depth = depth;
    map->above = depth + pixels;
    map->all_around = depth + 2 * pixels;
    rows r = {map, row_functions[isa]};
    orr_jobs_for(jobs, list->lens.height, row_job, &r);
    find_bounds(map);
    return ORR_OK;
}
