#include "render/cloud_shadow/cloud_shadow_maps.h"

#include "render/cloud_shadow/cloud_map_job.h"

typedef void tile_function(const orr_cloud_map_job *job);
#define TILE(isa) orr_cloud_map_tile_##isa
static tile_function *const tile_functions[ORR_ISA_COUNT] = ORR_ISA_TABLE(TILE);

// Maps are made of whole tiles.
_Static_assert(ORR_SHADOW_SIZE_MIN % ORR_CPU_TILE == 0, "sides are powers of two");

typedef struct map_tiles {
    const orr_cpu_splats *splats;
    tile_function *function;
    orr_cloud_map_job job; // of all its tiles
    size_t *touches;       // of each tile, where its words begin
} map_tiles;

static void draw_tile(void *context, int i, int worker)
{
    (void)worker;
    const map_tiles *m = context;
    const orr_splat_bins *bins = m->splats->bins;
    orr_cloud_map_job job = m->job;
    job.tile_splats = bins->tile_splats + bins->starts[i];
    job.splat_count = bins->starts[i + 1] - bins->starts[i];
    job.touches += m->touches[i];
    job.tile_x = i % bins->tiles_x;
    job.tile_y = i / bins->tiles_x;
    m->function(&job);
}

// Memory for which blocks the splats of each tile reach.
static orr_result take_touches(orr_arena *arena, map_tiles *m, orr_error *error)
{
    const orr_splat_bins *bins = m->splats->bins;
    const int tiles = bins->tiles_x * bins->tiles_y;
    size_t words = 0;
    m->touches = orr_arena_take(arena, (size_t)tiles, sizeof *m->touches);
    for (int i = 0; m->touches && i < tiles; i++) {
        m->touches[i] = words;
        words += orr_cloud_map_touches(bins->starts[i + 1] - bins->starts[i]);
    }
    m->job.touches = m->touches ? orr_arena_take(arena, words, sizeof *m->job.touches) : NULL;
    return m->job.touches ? ORR_OK
                          : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: tiles of an opacity map");
}

static orr_result draw_map(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *seen,
                           float *texels, orr_error *error)
{
    orr_cpu_splats splats;
    ORR_TRY(orr_splats_find_shapes(jobs, orr_splat_kernels_of(isa), arena, seen, &splats, error));
    map_tiles tiles = {.splats = &splats,
                       .function = tile_functions[isa],
                       .job = {.records = splats.records, .size = seen->lens.width, .texels = texels}};
    ORR_TRY(take_touches(arena, &tiles, error));
    orr_jobs_for(jobs, splats.bins->tiles_x * splats.bins->tiles_y, draw_tile, &tiles);
    return ORR_OK;
}

static orr_result draw_maps(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                            const orr_cloud_caster *caster, float *texels, orr_error *error)
{
    const orr_shadow_plan *plan = &caster->plan;
    for (int i = 0; i < plan->map_count; i++) {
        orr_draw_splats cloud;
        const orr_draw_list seen = orr_cloud_shadow_list(list, caster, &cloud, i);
        ORR_TRY(draw_map(jobs, isa, arena, &seen,
                         texels + (size_t)ORR_CLOUD_TEXEL * (size_t)plan->maps[i].first, error));
    }
    return ORR_OK;
}

orr_result orr_cloud_shadows_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                                  const orr_shadow_plan *meshes, orr_cloud_shadows *shadows, orr_error *error)
{
    ORR_TRY(orr_cloud_casters_find(jobs, arena, list, shadows->casters, &shadows->count, error));
    for (int i = 0; i < shadows->count; i++) {
        const orr_cloud_caster *caster = &shadows->casters[i];
        float *texels = orr_arena_take(arena, (size_t)caster->plan.texels, ORR_CLOUD_TEXEL * sizeof *texels);
        if (!texels) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: opacity maps of %d texels",
                            caster->plan.texels);
        }
        ORR_TRY(draw_maps(jobs, isa, arena, list, caster, texels, error));
        shadows->texels[i] = texels;
    }
    shadows->captured_light = orr_cloud_captured_light(shadows->casters, shadows->count, meshes);
    return ORR_OK;
}
