// Making environments, and what they are (the public functions of engine/orrery.h).
#include "engine/core/entry.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/env/env.h"
#include "physics/load/load.h"

#include <math.h>
#include <string.h>

static const orr_physics_quantity quantities[ENV_PARTS] = {
    [ENV_QPOS] = ORR_PHYSICS_QPOS,
    [ENV_QVEL] = ORR_PHYSICS_QVEL,
    [ENV_XPOS] = ORR_PHYSICS_XPOS,
    [ENV_XQUAT] = ORR_PHYSICS_XQUAT,
    [ENV_XMAT] = ORR_PHYSICS_XMAT,
    [ENV_GEOM_XMAT] = ORR_PHYSICS_GEOM_XMAT,
    [ENV_SITE_XMAT] = ORR_PHYSICS_SITE_XMAT,
    [ENV_ACT] = ORR_PHYSICS_ACT,
    [ENV_XIPOS] = ORR_PHYSICS_XIPOS,
    [ENV_SUBTREE_COM] = ORR_PHYSICS_SUBTREE_COM,
    [ENV_GEOM_XPOS] = ORR_PHYSICS_GEOM_XPOS,
    [ENV_SITE_XPOS] = ORR_PHYSICS_SITE_XPOS,
    [ENV_SENSORDATA] = ORR_PHYSICS_SENSORDATA,
    [ENV_CINERT] = ORR_PHYSICS_CINERT,
    [ENV_CVEL] = ORR_PHYSICS_CVEL,
    [ENV_CFRC_EXT] = ORR_PHYSICS_CFRC_EXT,
    [ENV_QFRC_ACTUATOR] = ORR_PHYSICS_QFRC_ACTUATOR,
    [ENV_QFRC_CONSTRAINT] = ORR_PHYSICS_QFRC_CONSTRAINT,
    [ENV_TEN_LENGTH] = ORR_PHYSICS_TEN_LENGTH,
    [ENV_TEN_VELOCITY] = ORR_PHYSICS_TEN_VELOCITY,
};

static const env_task *task_at(int index)
{
    const struct {
        const env_task *tasks;
        int count;
    } groups[] = {{env_locomotion_tasks, env_locomotion_count},
                  {env_pendulum_tasks, env_pendulum_count},
                  {env_reaching_tasks, env_reaching_count}};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0] && index >= 0; i++) {
        if (index < groups[i].count) {
            return &groups[i].tasks[index];
        }
        index -= groups[i].count;
    }
    return NULL;
}

static const env_task *named_task(const char *name)
{
    const env_task *task;
    for (int i = 0; (task = task_at(i)) != NULL; i++) {
        if (strcmp(task->name, name) == 0) {
            return task;
        }
    }
    return NULL;
}

const char *orr_env_task(int index)
{
    const env_task *task = task_at(index);
    return task ? task->name : NULL;
}

const char *orr_env_shipped_task(int index, const char **file)
{
    static const char *const tasks[][2] = {{"QuadrupedTerrain", "tasks/terrain.json"},
                                           {"SoftLift", "tasks/soft_lift.json"},
                                           {"SurgicalReach", "tasks/surgical_reach.json"},
                                           {"SurgicalTrack", "tasks/surgical_track.json"},
                                           {"PegInsertion", "tasks/peg_insertion.json"},
                                           {"ShelfReach", "tasks/shelf.json"},
                                           {"CartPixels", "tasks/cart.json"},
                                           {"CartVision", "tasks/cart_vision.json"}};
    const bool found = index >= 0 && index < (int)(sizeof tasks / sizeof *tasks);
    if (file) {
        *file = found ? tasks[index][1] : NULL;
    }
    return found ? tasks[index][0] : NULL;
}

static orr_result find_bodies(orr_env *env, const env_objects *objects, const char *path, orr_error *error)
{
    for (int i = 0; i < ENV_BODIES && env->task->bodies[i]; i++) {
        const int found = env_objects_find(objects, ORR_OBJECT_BODY, env->task->bodies[i]);
        if (found < 0) {
            return orr_fail(error, ORR_CODE_MODEL_FILE, "%s: task %s: expected a body named %s", path,
                            env->task->name, env->task->bodies[i]);
        }
        env->robot.body[i] = found;
    }
    return ORR_OK;
}

// What the functions of a task take for granted.
static orr_result check_model(const orr_env *env, const char *path, orr_error *error)
{
    const orr_model *m = env->model;
    bool sites = true;
    if (m->nu < 1) {
        return orr_fail(error, ORR_CODE_MODEL_FILE, "%s: expected a model with actuators, it has none", path);
    }
    for (int i = 0; i < env->task->part_count; i++) {
        sites &= env->task->parts[i] != ENV_SITE_XPOS || m->nsite > 0;
    }
    if (m->nq < env->task->least_qpos || m->nv < env->task->least_qvel || m->nbody < 2 || !sites) {
        return orr_fail(error, ORR_CODE_MODEL_FILE, "%s: task %s: expected the robot that the task is for",
                        path, env->task->name);
    }
    return ORR_OK;
}

// A robot's file, or a scene: a scene file, a model with soft bodies, or what is seen.
static orr_result open_model(orr_env *env, const orr_env_desc *desc, const char *path, orr_error *error)
{
    const bool is_seen = env->file && env->file->pixels.camera_count > 0,
               is_scene = is_seen || orr_path_has_ending(path, ".json");
    if (!is_scene) {
        ORR_TRY(orr_model_load(path, &env->own_model, error));
    }
    if (!is_scene && env->own_model->nflex == 0) {
        env->model = env->own_model;
        const orr_physics_desc physics = {.worlds = env->count,
                                          .double_precision = desc->double_precision,
                                          .single_precision = !desc->double_precision,
                                          .as_of_many = true};
        return orr_physics_create(&physics, env->model, env->engine->jobs, &env->physics, error);
    }
    ORR_TRY(env_scene_create(env->engine, path, env->count, desc->double_precision, &env->scene, error));
    env->model = env->scene->model;
    env->physics = env->scene->physics;
    return ORR_OK;
}

// What the task reads of its world, and where it is in a row.
static orr_result list_quantities(orr_env *env, orr_error *error)
{
    const orr_env_callbacks *c = env->callbacks ? &env->callbacks->given : NULL;
    const int listed = c ? c->quantity_count : env->task->part_count;
    for (int i = 0; i < listed; i++) {
        const int k = env->quantities;
        if (!c && (env->task->parts[i] == ENV_SOFT || env->task->parts[i] == ENV_TACTILE)) {
            continue; // no quantity of the physics
        }
        if (c) {
            ORR_TRY(orr_robot_quantity_find(c->quantities[i], false, &env->quantity[k], error));
        } else {
            env->quantity[k] = quantities[env->task->parts[i]];
            env->part_offset[env->task->parts[i]] = env->numbers;
        }
        env->offset[k] = env->numbers;
        env->numbers += orr_physics_size(env->physics, env->quantity[k]);
        env->quantities++;
    }
    return ORR_OK;
}

static orr_result take_memory(orr_env *env, orr_error *error)
{
    size_t n = (size_t)env->count, nu = (size_t)env->model->nu;
    size_t state = (size_t)env->model->nq + (size_t)env->model->nv, seen = (size_t)env->observation_count;
    orr_env_results *r = &env->results;
#define TAKE(array, number) ((array) = orr_alloc_zero((number), sizeof *(array)))
    if (!TAKE(env->parts, n * (size_t)env->numbers) || !TAKE(env->progress, n) ||
        !TAKE(env->start, n * state) || !TAKE(env->low, nu) || !TAKE(env->high, nu) ||
        !TAKE(env->actions, n * nu) || !TAKE(env->seeds, n) || !TAKE(env->episodes, n) ||
        !TAKE(env->steps, n) || !TAKE(env->moves, n) || !TAKE(env->begins, n) || !TAKE(env->done, n) ||
        !TAKE(env->judged, n) || !TAKE(env->draws, n) || !TAKE(env->contacts, n) ||
        !TAKE(env->placed, n * 7 * (size_t)env->model->nmocap + 1) ||
        (env->callbacks && !TAKE(env->callbacks->before, n * (size_t)env->numbers)) ||
        !TAKE(r->observation, n * seen) || !TAKE(r->final_observation, n * seen) || !TAKE(r->reward, n) ||
        !TAKE(r->terminated, n) || !TAKE(r->truncated, n) || !TAKE(r->episode_return, n) ||
        !TAKE(r->episode_steps, n) || !TAKE(r->diverged, n)) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d environments of %s", env->count,
                        env->task->name);
    }
#undef TAKE
    return ORR_OK;
}

static void find_ranges(orr_env *env)
{
    const orr_model *m = env->model;
    for (int i = 0; i < m->nu; i++) {
        bool limited = m->actuator_ctrllimited[i] != 0;
        env->low[i] = limited ? (float)m->actuator_ctrlrange[2 * i] : -INFINITY;
        env->high[i] = limited ? (float)m->actuator_ctrlrange[2 * i + 1] : INFINITY;
    }
}

// The task: one of ours, or from a file or the text of one. model: the robot's file, the desc's own or the
// task's.
static orr_result find_task(orr_env *env, const orr_env_desc *desc, const char **model, orr_error *error)
{
    orr_bytes bytes = {0};
    *model = desc->model;
    if (desc->callbacks) {
        if (desc->task_text) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "callbacks and task_text: expected one of them");
        }
        ORR_TRY(env_callbacks_create(desc->callbacks, desc->task, &env->callbacks, error));
        env->task = &env->callbacks->task;
        return ORR_OK;
    }
    if (!desc->task_text && !orr_path_has_ending(desc->task, ".json")) {
        env->task = named_task(desc->task);
        return env->task
                   ? ORR_OK
                   : orr_fail(error, ORR_CODE_ARGUMENT,
                              "task %s: expected one that orr_env_task names, or a .json file", desc->task);
    }
    if (!desc->task_text) {
        ORR_TRY(orr_file_read(desc->task, &bytes, error));
    }
    const char *text = desc->task_text ? desc->task_text : (const char *)bytes.data;
    orr_result result = env_task_file_read(text, desc->task, &env->file, error);
    orr_free(bytes.data);
    ORR_TRY(result);
    env->task = &env->file->task;
    *model = desc->model ? desc->model : env->file->model;
    return ORR_OK;
}

static orr_result make(orr_env *env, const orr_env_desc *desc, orr_error *error)
{
    const char *path;
    ORR_TRY(find_task(env, desc, &path, error));
    if (!path) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "task %s: expected the file of a robot or scene",
                        env->task->name);
    }
    ORR_ALLOC(env->model_path, (int64_t)strlen(path) + 1, path, error);
    memcpy(env->model_path, path, strlen(path) + 1);
    ORR_TRY(open_model(env, desc, path, error));
    const env_objects objects = {.model = env->model,
                                 .softs = env->scene ? env->scene->soft_names : NULL,
                                 .soft_count = env->scene ? env->scene->soft_count : 0};
    if (env->file) {
        ORR_TRY(env_task_file_bind(env->file, &objects, error));
    }
    env->max_steps = desc->max_steps > 0 ? desc->max_steps : env->task->max_steps;
    env->robot.model = env->model;
    env->robot.seconds = env->model->opt.timestep * env->task->frame_skip;
    ORR_TRY(find_bodies(env, &objects, path, error));
    ORR_TRY(check_model(env, path, error));
    env->state_count = env->callbacks ? env->callbacks->given.observation_count
                                      : env->task->observation_count(env->task, &env->robot);
    env->observation_count = env->state_count + (env->file ? env_pixels_numbers(&env->file->pixels) : 0);
    ORR_TRY(list_quantities(env, error));
    ORR_TRY(take_memory(env, error));
    if (env->callbacks ? env->callbacks->given.up_to_date : env->task->up_to_date) {
        ORR_TRY(env_up_to_date_create(env, error));
    }
    if (env->task->noise) {
        ORR_TRY(env_sensing_create(env, error));
    }
    ORR_TRY(env_randomised_create(
        env, env->callbacks ? env->callbacks->parameters : env->task->parameters,
        env->callbacks ? env->callbacks->given.parameter_count : env->task->parameter_count, error));
    ORR_TRY(env_pads_create(env, error));
    ORR_TRY(env_eyes_create(env, error));
    find_ranges(env);
    for (int i = 0; i < env->count; i++) {
        env->seeds[i] = desc->seed + (uint32_t)i;
    }
    return orr_env_reset(env, NULL, NULL, error);
}

orr_result orr_env_create_sized(orr_engine *engine, const orr_env_desc *given, size_t size, orr_env **out,
                                orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    ORR_TRY(orr_engine_check(engine, error));
    orr_env_desc desc;
    ORR_TRY(orr_sized_read(&desc, sizeof desc, given, size, "orr_env_desc", error));
    if (!desc.callbacks) {
        ORR_REQUIRE(desc.task, error);
    }
    if (desc.count < 1 || desc.count > ORR_ENV_MAX || desc.max_steps < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%d environments of %d steps: expected 1 to %d, and 0 or more", desc.count,
                        desc.max_steps, ORR_ENV_MAX);
    }
    if ((unsigned)desc.autoreset > ORR_AUTORESET_DISABLED) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "autoreset %d: expected one of orr_autoreset",
                        (int)desc.autoreset);
    }
    orr_env *env = orr_alloc_zero(1, sizeof *env);
    if (!env) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: environments");
    }
    env->engine = engine;
    env->count = desc.count;
    env->autoreset = desc.autoreset;
    orr_result result = make(env, &desc, error);
    if (result != ORR_OK) {
        orr_env_destroy(env);
        return result;
    }
    *out = env;
    return ORR_OK;
}

void orr_env_destroy(orr_env *env)
{
    if (!env || orr_engine_check(env->engine, NULL) != ORR_OK) {
        return;
    }
    env_eyes_destroy(env);
    if (env->scene) {
        env_scene_destroy(env->scene);
    } else {
        orr_physics_destroy(env->physics);
    }
    orr_model_destroy(env->own_model);
    env_task_file_destroy(env->file);
    env_callbacks_destroy(env->callbacks);
    env_randomised_destroy(env);
    env_pads_destroy(env);
    orr_free(env->model_path);
    void *arrays[] = {env->parts,
                      env->progress,
                      env->start,
                      env->low,
                      env->high,
                      env->actions,
                      env->seeds,
                      env->episodes,
                      env->steps,
                      env->moves,
                      env->begins,
                      env->judged,
                      env->renewed_rows,
                      env->draws,
                      env->contacts,
                      env->placed,
                      env->history,
                      env->done,
                      env->results.observation,
                      env->results.final_observation,
                      env->results.reward,
                      env->results.terminated,
                      env->results.truncated,
                      env->results.episode_return,
                      env->results.episode_steps,
                      env->results.diverged};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        orr_free(arrays[i]);
    }
    orr_free(env);
}

orr_result orr_env_describe_sized(const orr_env *env, orr_env_info *info, size_t size, orr_error *error)
{
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(info, error);
    const orr_env_info own = {.count = env->count,
                              .observation_count = env->observation_count,
                              .action_count = env->model->nu,
                              .max_steps = env->max_steps,
                              .frame_skip = env->task->frame_skip,
                              .qpos_count = env->model->nq,
                              .qvel_count = env->model->nv,
                              .seconds = env->robot.seconds,
                              .action_low = env->low,
                              .action_high = env->high,
                              .task = env->task->name,
                              .task_text = env->file ? env->file->text : NULL,
                              .model = env->model_path};
    orr_sized_write(&own, sizeof own, info, size);
    return ORR_OK;
}

orr_result orr_env_get_results_sized(const orr_env *env, orr_env_results *results, size_t size,
                                     orr_error *error)
{
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(results, error);
    orr_sized_write(&env->results, sizeof env->results, results, size);
    return ORR_OK;
}
