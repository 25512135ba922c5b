// Everything that changes in environments, for learners that go on from a file; what pictures of episodes
// look like (engine/orrery.h).
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/env/env.h"
#include "engine/env/task_file.h"

orr_result env_archive(orr_env *env, orr_archive *archive, orr_error *error)
{
    const size_t n = (size_t)env->count, seen = n * (size_t)env->observation_count;
    orr_env_results *r = &env->results;
#define WALK(array, number) orr_archive_bytes(archive, array, (number) * sizeof *(array))
    WALK(env->seeds, n);
    WALK(env->episodes, n);
    WALK(env->steps, n);
    WALK(env->done, n);
    WALK(env->progress, n);
    if (env->history) {
        WALK(env->history, n * (size_t)env->state_count * ((size_t)env->task->delay_most + 1));
    }
    for (int k = 0; k < env->randomised_count; k++) {
        WALK(env->randomised[k].values, n * (size_t)env->randomised[k].size);
    }
    WALK(r->observation, seen);
    WALK(r->final_observation, seen);
    WALK(r->reward, n);
    WALK(r->terminated, n);
    WALK(r->truncated, n);
    WALK(r->episode_return, n);
    WALK(r->episode_steps, n);
    WALK(r->diverged, n);
#undef WALK
    if (!archive->writer) {
        memset(env->begins, 1, n);
        ORR_TRY(env_randomised_apply(env, error));
    }
    for (int i = 0; i <= ORR_PHYSICS_QACC_WARMSTART; i++) { // the state; what follows from it is computed
        const orr_physics_quantity quantity = (orr_physics_quantity)i;
        const size_t numbers = n * (size_t)orr_physics_size(env->physics, quantity);
        double *values;
        ORR_ALLOC(values, (int64_t)numbers + 1, "the state of environments", error);
        orr_physics_read_all(env->physics, &quantity, 1, values);
        orr_archive_bytes(archive, values, numbers * sizeof *values);
        if (!archive->writer) {
            orr_physics_set_all(env->physics, quantity, values);
        }
        orr_free(values);
    }
    if (env->scene) {
        env_scene_archive(env->scene, archive);
        env_scene_moved(env->scene);
    }
    return archive->writer ? ORR_OK : env_eyes_begin(env, error);
}

orr_world *orr_env_world(orr_env *env, orr_scene **scene)
{
    const env_scene *s = env && orr_engine_check(env->engine, NULL) == ORR_OK ? env->scene : NULL;
    if (scene) {
        *scene = s ? s->scene : NULL;
    }
    return s ? s->world : NULL;
}

orr_result orr_env_get_looks_sized(const orr_env *env, orr_eyes_look *looks, size_t look_size,
                                   orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(looks, error);
    ORR_TRY(orr_engine_check(env->engine, error));
    for (int i = 0; i < env->count; i++) {
        orr_eyes_look look = {0};
        if (env->task->look) {
            env_noise noise = env_noise_of(env, i, ENV_LOOK_NOISE);
            env->task->look(env->task, &noise, &look);
        }
        orr_sized_write(&look, sizeof look, (char *)looks + (size_t)i * look_size, look_size);
    }
    return ORR_OK;
}

// Those of the task's file; NULL: it varies none.
static const env_surfaces *surfaces_of(const orr_env *env)
{
    return env->file && env->file->variations.surfaces.target_count > 0 ? &env->file->variations.surfaces
                                                                        : NULL;
}

orr_result orr_env_get_surfaces_desc_sized(const orr_env *env, orr_eyes_surfaces_desc *desc, size_t desc_size,
                                           orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(desc, error);
    ORR_TRY(orr_engine_check(env->engine, error));
    const env_surfaces *surfaces = surfaces_of(env);
    const orr_eyes_surfaces_desc own = surfaces ? env_surfaces_desc(surfaces) : (orr_eyes_surfaces_desc){0};
    orr_sized_write(&own, sizeof own, desc, desc_size);
    return ORR_OK;
}

orr_result orr_env_get_surfaces_sized(const orr_env *env, orr_eyes_surface *surfaces, size_t surface_size,
                                      orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(surfaces, error);
    ORR_TRY(orr_engine_check(env->engine, error));
    const env_surfaces *list = surfaces_of(env);
    const int count = list ? list->target_count : 0;
    orr_eyes_surface *drawn;
    ORR_ALLOC(drawn, count + 1, "surfaces of an environment", error);
    char *out = (char *)surfaces;
    for (int i = 0; i < env->count && list; i++) {
        env_noise noise = env_noise_of(env, i, ENV_SURFACE_NOISE);
        env_surfaces_draw(list, &noise, drawn);
        for (int k = 0; k < count; k++, out += surface_size) {
            orr_sized_write(&drawn[k], sizeof drawn[k], out, surface_size);
        }
    }
    orr_free(drawn);
    return ORR_OK;
}
