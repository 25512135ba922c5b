#include "render/bounce/lit_shadows.h"

#include "engine/core/hash.h"

typedef float left_function(const orr_lit_shadows *shadows, int light, const float position[3],
                            const float normal[3]);
#define LEFT(isa) orr_lit_left_##isa
static left_function *const left_functions[ORR_ISA_COUNT] = ORR_ISA_TABLE(LEFT);

float orr_lit_shadows_left(const orr_lit_shadows *s, int light, const float position[3],
                           const float normal[3])
{
    return left_functions[s->isa](s, light, position, normal);
}

static void hold_walls(orr_lit_shadows *s, const orr_draw_list *list)
{
    for (int i = 0; i < ORR_LIT_LIGHTS; i++) {
        const orr_self_map *map = orr_self_shadow_of_light(list->self_shadow, i);
        s->walls[i] = orr_self_shadow_values(map, list->lens.view);
        s->texels[i] = map ? list->self_shadow->depths + map->first : NULL;
    }
}

// What maps of clouds depend on.
static uint64_t hash_of(const orr_draw_list *list)
{
    uint64_t hash = orr_hash_bytes(ORR_HASH_BEGIN, &list->sun, sizeof list->sun);
    hash = orr_hash_bytes(hash, list->lights, (size_t)list->light_count * sizeof *list->lights);
    for (int i = 0; i < list->splat_count; i++) {
        const orr_draw_splats *cloud = &list->splats[i];
        const orr_draw_deformation *bent = &cloud->deformation;
        if (cloud->casts_shadow) {
            hash = orr_hash_bytes(hash, &cloud->key, sizeof cloud->key);
            hash = orr_hash_bytes(hash, cloud->model, sizeof cloud->model);
            hash = orr_hash_bytes(hash, &i, sizeof i);
            hash = orr_hash_bytes(hash, bent->pieces, (size_t)bent->piece_count * sizeof *bent->pieces);
        }
    }
    return hash;
}

orr_result orr_lit_shadows_hold(orr_lit_shadows *s, orr_jobs *jobs, orr_isa isa, const orr_draw_list *list,
                                orr_error *error)
{
    const uint64_t of = orr_has_cloud_shadows(list) ? hash_of(list) : 0;
    s->isa = isa;
    hold_walls(s, list);
    if (of == s->of) {
        return ORR_OK;
    }
    s->of = 0;
    s->clouds.count = 0;
    orr_arena_reset(&s->arena);
    if (of != 0) {
        orr_draw_list seen = *list;
        seen.lens.width = seen.lens.height = ORR_CLOUD_SHADOW_SIZE_MAX / 4; // rays of grids are far apart
        const orr_result result =
            orr_cloud_shadows_draw(jobs, isa, &s->arena, &seen, NULL, &s->clouds, error);
        if (result != ORR_OK) {
            s->clouds.count = 0;
            return result;
        }
    }
    s->of = of;
    return ORR_OK;
}

void orr_lit_shadows_free(orr_lit_shadows *s)
{
    orr_arena_destroy(&s->arena);
    *s = (orr_lit_shadows){.of = 0};
}
