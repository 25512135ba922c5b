#include "engine/env/env_scene.h"

#include "engine/core/memory.h"
#include "engine/loop/world/soft/world_soft.h"
#include "engine/maths/rotation.h"

#include <string.h>

static orr_result find_physics(env_scene *s, const char *path, orr_error *error)
{
    const orr_world_robots *robots = s->world->robots;
    if (robots->physics_count != 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: %d groups of robots that touch each other: expected one, of one scale", path,
                        robots->physics_count);
    }
    s->joined = robots->physics[0];
    if (!s->joined->physics) {
        return orr_fail(error, (orr_code)s->joined->why.code, "%s", s->joined->why.message);
    }
    if (s->world->softs->count > 0 && orr_world_softs_physics(s->world) != s->joined) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: soft bodies beside a robot: expected the scale 1",
                        path);
    }
    return ORR_OK;
}

static orr_result take_memory(env_scene *s, int count, orr_error *error)
{
    static const char what[] = "environments of a scene";
    const orr_world_softs *softs = s->world->softs;
    s->soft_count = softs->count;
    const int64_t bodies = (int64_t)count * s->soft_count;
    ORR_ALLOC(s->soft_names, s->soft_count + 1, what, error);
    ORR_ALLOC(s->softs, bodies * ENV_SOFT_NUMBERS + 1, what, error);
    ORR_ALLOC(s->shift, bodies * 3 + 1, what, error);
    memset(s->shift, 0, (size_t)bodies * 3 * sizeof *s->shift);
    for (int i = 0; i < s->soft_count; i++) {
        const orr_pool_id id = softs->bodies[i].id;
        const int layer = orr_scene_find(s->scene, (orr_layer){id.slot, id.generation});
        s->soft_names[i] = s->scene->layers[layer].name;
    }
    return ORR_OK;
}

static orr_result make(orr_engine *engine, const char *path, const orr_world_desc *desc, env_scene *s,
                       orr_error *error)
{
    ORR_TRY(orr_scene_load(engine, path, &s->scene, error));
    ORR_TRY(orr_world_create_as_of_many(s->scene, desc, &s->world, error));
    ORR_TRY(find_physics(s, path, error));
    s->model = s->joined->model;
    s->physics = s->joined->physics;
    if (s->world->softs->count > 0) {
        ORR_TRY(orr_world_softs_prepare(s->world, s->joined, error));
    }
    return take_memory(s, desc->count, error);
}

orr_result env_scene_create(orr_engine *engine, const char *path, int count, bool double_precision,
                            env_scene **out, orr_error *error)
{
    const orr_world_desc desc = {.count = count,
                                 .device = ORR_DEVICE_CPU,
                                 .precision = double_precision ? ORR_PRECISION_F64 : ORR_PRECISION_F32};
    *out = orr_alloc_zero(1, sizeof **out);
    if (!*out) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: environments of a scene");
    }
    return make(engine, path, &desc, *out, error);
}

void env_scene_destroy(env_scene *s)
{
    if (s) {
        orr_world_destroy(s->world);
        orr_scene_destroy(s->scene);
        orr_free(s->soft_names);
        orr_free(s->softs);
        orr_free(s->shift);
        orr_free(s);
    }
}

void env_scene_restart(env_scene *s, const uint8_t *chosen)
{
    for (int i = 0; i < s->world->count && s->soft_count > 0; i++) {
        if (!chosen[i]) {
            continue;
        }
        const orr_soft_frame frame = orr_world_softs_frame(s->world, i, s->joined);
        orr_world_softs_reset(s->world, i);
        for (int k = 0; k < s->soft_count; k++) {
            double shift[3];
            mat_apply(frame.rotation, env_scene_shift(s, i) + (ptrdiff_t)3 * k, shift);
            orr_world_soft_shift(s->world, i, &s->world->softs->bodies[k], shift);
        }
    }
}

orr_result env_scene_step(env_scene *s, int steps, const uint8_t *chosen, orr_error *error)
{
    return orr_world_step_masked(s->world, steps, chosen, error);
}

void env_scene_read(env_scene *s, const uint8_t *chosen)
{
    for (int i = 0; i < s->world->count && s->soft_count > 0; i++) {
        if (!chosen[i]) {
            continue;
        }
        const orr_soft_frame frame = orr_world_softs_frame(s->world, i, s->joined);
        double *numbers = env_scene_numbers(s, i);
        for (int k = 0; k < s->soft_count; k++, numbers += ENV_SOFT_NUMBERS) {
            double centre[3], velocity[3];
            orr_world_soft_centre(&s->world->softs->bodies[k], i, centre, velocity);
            for (int axis = 0; axis < 3; axis++) {
                centre[axis] -= frame.position[axis];
            }
            mat_apply_transposed(frame.rotation, centre, numbers);
            mat_apply_transposed(frame.rotation, velocity, numbers + 3);
        }
    }
}

bool env_scene_diverged(const env_scene *s, int index)
{
    bool diverged = false;
    for (int k = 0; k < s->soft_count; k++) {
        diverged |= s->world->softs->bodies[k].diverged[index];
    }
    return diverged;
}

void env_scene_moved(const env_scene *s)
{
    orr_world_robots_moved(s->world, s->joined);
}

void env_scene_archive(env_scene *s, orr_archive *archive)
{
    for (int k = 0; k < s->soft_count; k++) {
        const orr_world_soft *soft = &s->world->softs->bodies[k];
        const size_t numbers = orr_world_soft_numbers(soft);
        double *position = soft->state, *velocity = soft->state + numbers;
        for (int i = 0; i < s->world->count; i++) {
            orr_soft_get(soft->copies[i], 0, position, velocity);
            orr_archive_bytes(archive, soft->state, 2 * numbers * sizeof *soft->state);
            if (!archive->writer) {
                orr_world_soft_set(s->world, i, soft, position, velocity);
            }
        }
    }
    // what soft bodies push robots with until their next step, of which the next forces depend
    if (s->soft_count > 0) {
        const size_t size = (size_t)orr_physics_size(s->joined->physics, ORR_PHYSICS_XFRC_APPLIED);
        orr_archive_bytes(archive, s->joined->pushed,
                          (size_t)s->world->count * size * sizeof *s->joined->pushed);
        orr_archive_bytes(archive, s->joined->wait, (size_t)s->world->count * sizeof *s->joined->wait);
    }
}
