// Environments: copies of a robot, stepped and judged together (the public functions of engine/orrery.h).
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/rng.h"
#include "engine/core/sized.h"
#include "engine/env/task.h"
#include "engine/loop/engine.h"
#include "physics/load/load.h"

#include <math.h>
#include <string.h>

enum { TOGETHER = 32 }; // environments of a block of work

struct env_noise {
    orr_rng rng;
};

struct orr_env {
    orr_engine *engine;
    const env_task *task;
    orr_model *model;
    orr_physics *physics;
    env_robot robot;
    orr_autoreset autoreset;
    int count, max_steps, observation_count;
    int offset[ENV_PARTS], numbers; // of a row of `parts`
    double *parts;                  // count x numbers: what the task reads
    double *progress;               // count
    double *start;                  // count x (nq + nv): where episodes begin
    float *low, *high;              // nu: the range of actions
    float *actions;                 // count x nu
    uint32_t *seeds, *episodes;     // count; of the episode at hand, the first is 0
    int32_t *steps;                 // count: of the episode at hand
    uint8_t *moves, *begins;        // count: takes part in this step; begins an episode
    uint8_t *done;                  // count: the step before ended the episode
    orr_env_results results;        // what the caller sees: its arrays are the env's own
};

static const orr_physics_quantity quantities[ENV_PARTS] = {
    [ENV_QPOS] = ORR_PHYSICS_QPOS,
    [ENV_QVEL] = ORR_PHYSICS_QVEL,
    [ENV_XPOS] = ORR_PHYSICS_XPOS,
    [ENV_XIPOS] = ORR_PHYSICS_XIPOS,
    [ENV_SITE_XPOS] = ORR_PHYSICS_SITE_XPOS,
    [ENV_CINERT] = ORR_PHYSICS_CINERT,
    [ENV_CVEL] = ORR_PHYSICS_CVEL,
    [ENV_CFRC_EXT] = ORR_PHYSICS_CFRC_EXT,
    [ENV_QFRC_ACTUATOR] = ORR_PHYSICS_QFRC_ACTUATOR,
    [ENV_QFRC_CONSTRAINT] = ORR_PHYSICS_QFRC_CONSTRAINT,
};

double env_uniform(env_noise *noise, double low, double high)
{
    double high_bits = orr_rng_next(&noise->rng), low_bits = orr_rng_next(&noise->rng) >> 11;
    return low + (high - low) * (high_bits * 0x1p-32 + low_bits * 0x1p-53);
}

// Box and Muller's method; the second number of the pair is not used, so that draws do not depend on others.
double env_normal(env_noise *noise)
{
    double radius = sqrt(-2.0 * log(1.0 - env_uniform(noise, 0.0, 1.0)));
    return radius * cos(2.0 * 3.14159265358979323846 * env_uniform(noise, 0.0, 1.0));
}

void env_shake(env_noise *noise, const orr_model *model, double scale, bool normal, double *qpos,
               double *qvel)
{
    for (int i = 0; i < model->nq; i++) {
        qpos[i] += env_uniform(noise, -scale, scale);
    }
    for (int i = 0; i < model->nv; i++) {
        qvel[i] += normal ? scale * env_normal(noise) : env_uniform(noise, -scale, scale);
    }
}

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

static const env_task *find_task(const char *name)
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

// ---- making ----

static orr_result find_bodies(orr_env *env, const char *path, orr_error *error)
{
    for (int i = 0; i < ENV_BODIES && env->task->bodies[i]; i++) {
        int found = -1;
        for (int body = 0; body < env->model->nbody; body++) {
            const char *name = orr_model_name(env->model, ORR_OBJECT_BODY, body);
            found = name && strcmp(name, env->task->bodies[i]) == 0 ? body : found;
        }
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
    for (int i = 0; i < env->task->part_count; i++) {
        sites &= env->task->parts[i] != ENV_SITE_XPOS || m->nsite > 0;
    }
    if (m->nq < env->task->least_qpos || m->nv < env->task->least_qvel || m->nu < 1 || m->nbody < 2 ||
        !sites) {
        return orr_fail(error, ORR_CODE_MODEL_FILE, "%s: task %s: expected the robot that the task is for",
                        path, env->task->name);
    }
    return ORR_OK;
}

static orr_result take_memory(orr_env *env, orr_error *error)
{
    size_t n = (size_t)env->count, nu = (size_t)env->model->nu;
    size_t state = (size_t)env->model->nq + (size_t)env->model->nv, seen = (size_t)env->observation_count;
    for (int i = 0; i < env->task->part_count; i++) {
        env_part part = env->task->parts[i];
        env->offset[part] = env->numbers;
        env->numbers += orr_physics_size(env->physics, quantities[part]);
    }
    orr_env_results *r = &env->results;
#define TAKE(array, number) ((array) = orr_alloc_zero((number), sizeof *(array)))
    if (!TAKE(env->parts, n * (size_t)env->numbers) || !TAKE(env->progress, n) ||
        !TAKE(env->start, n * state) || !TAKE(env->low, nu) || !TAKE(env->high, nu) ||
        !TAKE(env->actions, n * nu) || !TAKE(env->seeds, n) || !TAKE(env->episodes, n) ||
        !TAKE(env->steps, n) || !TAKE(env->moves, n) || !TAKE(env->begins, n) || !TAKE(env->done, n) ||
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

static orr_result make(orr_env *env, const orr_env_desc *desc, orr_error *error)
{
    const orr_physics_desc physics = {.worlds = env->count,
                                      .double_precision = desc->double_precision,
                                      .single_precision = !desc->double_precision};
    ORR_TRY(orr_model_load(desc->model, &env->model, error));
    env->robot.model = env->model;
    env->robot.seconds = env->model->opt.timestep * env->task->frame_skip;
    ORR_TRY(find_bodies(env, desc->model, error));
    ORR_TRY(check_model(env, desc->model, error));
    ORR_TRY(orr_physics_create(&physics, env->model, env->engine->jobs, &env->physics, error));
    env->observation_count = env->task->observation_count(env->task, &env->robot);
    ORR_TRY(take_memory(env, error));
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
    ORR_REQUIRE(desc.task, error);
    ORR_REQUIRE(desc.model, error);
    const env_task *task = find_task(desc.task);
    if (!task) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "task %s: expected one that orr_env_task names", desc.task);
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
    env->task = task;
    env->count = desc.count;
    env->autoreset = desc.autoreset;
    env->max_steps = desc.max_steps > 0 ? desc.max_steps : task->max_steps;
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
    orr_physics_destroy(env->physics);
    orr_model_destroy(env->model);
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

// ---- episodes ----

// The task's view of one environment.
static env_robot view_of(const orr_env *env, int i)
{
    env_robot robot = env->robot;
    const double *row = env->parts + (size_t)i * (size_t)env->numbers;
    for (int k = 0; k < env->task->part_count; k++) {
        robot.part[env->task->parts[k]] = row + env->offset[env->task->parts[k]];
    }
    return robot;
}

static double *observation_of(const orr_env *env, double *rows, int i)
{
    return rows + (size_t)i * (size_t)env->observation_count;
}

static void draw_starts(void *context, int block, int worker)
{
    const orr_env *env = context;
    const orr_model *m = env->model;
    (void)worker;
    for (int i = block * TOGETHER; i < env->count && i < (block + 1) * TOGETHER; i++) {
        if (!env->begins[i]) {
            continue;
        }
        double *qpos = env->start + (size_t)i * (size_t)m->nq;
        double *qvel = env->start + (size_t)env->count * (size_t)m->nq + (size_t)i * (size_t)m->nv;
        env_noise noise = {{.seed = env->seeds[i], .stream = env->episodes[i]}};
        memcpy(qpos, m->qpos0, (size_t)m->nq * sizeof *qpos);
        memset(qvel, 0, (size_t)m->nv * sizeof *qvel);
        env->task->start(env->task, &env->robot, &noise, qpos, qvel);
    }
}

static void observe_starts(void *context, int block, int worker)
{
    const orr_env *env = context;
    (void)worker;
    for (int i = block * TOGETHER; i < env->count && i < (block + 1) * TOGETHER; i++) {
        if (!env->begins[i]) {
            continue;
        }
        for (int k = 0; k < env->task->part_count; k++) { // MuJoCo computes them after steps alone
            if (env->task->parts[k] == ENV_CFRC_EXT) {
                memset(env->parts + (size_t)i * (size_t)env->numbers + env->offset[ENV_CFRC_EXT], 0,
                       6 * (size_t)env->model->nbody * sizeof *env->parts);
            }
        }
        env_robot robot = view_of(env, i);
        env->task->observe(env->task, &robot, observation_of(env, env->results.observation, i));
        env->progress[i] = env->task->progress ? env->task->progress(env->task, &robot) : 0.0;
        env->steps[i] = 0;
        env->episodes[i]++;
    }
}

static void list_quantities(const orr_env *env, orr_physics_quantity list[ENV_PARTS])
{
    for (int i = 0; i < env->task->part_count; i++) {
        list[i] = quantities[env->task->parts[i]];
    }
}

// Begins an episode in the environments whose byte of `begins` is set.
static void begin_episodes(orr_env *env)
{
    orr_jobs *jobs = env->engine->jobs;
    int blocks = orr_blocks(env->count, TOGETHER);
    orr_physics_quantity list[ENV_PARTS];
    list_quantities(env, list);
    orr_jobs_for(jobs, blocks, draw_starts, env);
    orr_physics_reset_masked(env->physics, env->begins);
    orr_physics_set_masked(env->physics, ORR_PHYSICS_QPOS, env->begins, env->start);
    orr_physics_set_masked(env->physics, ORR_PHYSICS_QVEL, env->begins,
                           env->start + (size_t)env->count * (size_t)env->model->nq);
    orr_physics_read_masked(env->physics, env->begins, list, env->task->part_count, env->parts);
    orr_jobs_for(jobs, blocks, observe_starts, env);
}

orr_result orr_env_reset(orr_env *env, const uint8_t *mask, const uint32_t *seeds, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_TRY(orr_engine_check(env->engine, error));
    for (int i = 0; i < env->count; i++) {
        env->begins[i] = !mask || mask[i];
        if (!env->begins[i]) {
            continue;
        }
        if (seeds) {
            env->seeds[i] = seeds[i];
            env->episodes[i] = 0;
        }
        env->done[i] = 0;
        env->results.reward[i] = env->results.episode_return[i] = 0.0;
        env->results.episode_steps[i] = 0;
        env->results.terminated[i] = env->results.truncated[i] = 0;
    }
    begin_episodes(env);
    return ORR_OK;
}

static void judge(void *context, int block, int worker)
{
    orr_env *env = context;
    orr_env_results *r = &env->results;
    (void)worker;
    for (int i = block * TOGETHER; i < env->count && i < (block + 1) * TOGETHER; i++) {
        env->begins[i] = 0;
        if (!env->moves[i]) { // it begins an episode instead of a step
            r->reward[i] = 0.0;
            r->terminated[i] = r->truncated[i] = 0;
            r->episode_return[i] = 0.0;
            r->episode_steps[i] = 0;
            env->begins[i] = 1;
            env->done[i] = 0;
            continue;
        }
        bool lost = orr_physics_diverged(env->physics, i);
        env->steps[i]++;
        r->diverged[i] += lost;
        r->terminated[i] = lost;
        r->reward[i] = 0.0;
        if (!lost) { // otherwise the observation stays what it was
            const float *action = env->actions + (size_t)i * (size_t)env->model->nu;
            env_robot robot = view_of(env, i);
            double before = env->progress[i];
            env->progress[i] = env->task->progress ? env->task->progress(env->task, &robot) : 0.0;
            r->terminated[i] = env->task->terminated(env->task, &robot);
            r->reward[i] = env->task->reward(env->task, &robot, action, env->progress[i] - before,
                                             r->terminated[i] != 0);
            env->task->observe(env->task, &robot, observation_of(env, r->observation, i));
        }
        r->truncated[i] = !r->terminated[i] && env->steps[i] >= env->max_steps;
        r->episode_return[i] += r->reward[i];
        r->episode_steps[i] = env->steps[i];
        env->done[i] = r->terminated[i] || r->truncated[i];
        if (env->done[i] && env->autoreset == ORR_AUTORESET_SAME_STEP) {
            memcpy(observation_of(env, r->final_observation, i), observation_of(env, r->observation, i),
                   (size_t)env->observation_count * sizeof *r->observation);
            env->begins[i] = 1;
        }
    }
}

static orr_result check_step(const orr_env *env, const float *actions, orr_error *error)
{
    int nu = env->model->nu;
    for (int i = 0; i < env->count * nu; i++) {
        if (!isfinite(actions[i])) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "action %d of environment %d is %g: expected a finite number", i % nu, i / nu,
                            (double)actions[i]);
        }
    }
    for (int i = 0; i < env->count && env->autoreset == ORR_AUTORESET_DISABLED; i++) {
        if (env->done[i]) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "environment %d: its episode has ended, expected orr_env_reset before a step", i);
        }
    }
    return ORR_OK;
}

orr_result orr_env_step(orr_env *env, const float *actions, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(actions, error);
    ORR_TRY(orr_engine_check(env->engine, error));
    ORR_TRY(check_step(env, actions, error));
    orr_physics_quantity list[ENV_PARTS];
    list_quantities(env, list);
    bool all = true, any = false;
    for (int i = 0; i < env->count; i++) {
        if (env->done[i] && env->autoreset == ORR_AUTORESET_SAME_STEP) { // begun in the step before
            env->results.episode_return[i] = 0.0;
            env->done[i] = 0;
        }
        env->moves[i] = !env->done[i];
        all &= env->moves[i] != 0;
    }
    memcpy(env->actions, actions, (size_t)env->count * (size_t)env->model->nu * sizeof *actions);
    orr_physics_set_all_f32(env->physics, ORR_PHYSICS_CTRL, env->actions);
    orr_physics_step_read(env->physics, env->task->frame_skip, all ? NULL : env->moves, list,
                          env->task->part_count, env->parts);
    orr_jobs_for(env->engine->jobs, orr_blocks(env->count, TOGETHER), judge, env);
    for (int i = 0; i < env->count; i++) {
        any |= env->begins[i] != 0;
    }
    if (any) {
        begin_episodes(env);
    }
    return ORR_OK;
}

// ---- what it is ----

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
                              .action_high = env->high};
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

static orr_result check_index(const orr_env *env, int index, orr_error *error)
{
    ORR_REQUIRE(env, error);
    ORR_TRY(orr_engine_check(env->engine, error));
    return index >= 0 && index < env->count
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "environment %d: expected 0 to %d", index,
                          env->count - 1);
}

orr_result orr_env_get_state(const orr_env *env, int index, double *qpos, double *qvel, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(check_index(env, index, error));
    ORR_REQUIRE(qpos, error);
    ORR_REQUIRE(qvel, error);
    orr_physics_get(env->physics, ORR_PHYSICS_QPOS, index, qpos);
    orr_physics_get(env->physics, ORR_PHYSICS_QVEL, index, qvel);
    return ORR_OK;
}

orr_result orr_env_get_states(const orr_env *env, double *qpos, double *qvel, orr_error *error)
{
    static const orr_physics_quantity parts[] = {ORR_PHYSICS_QPOS, ORR_PHYSICS_QVEL};
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(qpos, error);
    ORR_REQUIRE(qvel, error);
    orr_physics_read_all(env->physics, &parts[0], 1, qpos);
    orr_physics_read_all(env->physics, &parts[1], 1, qvel);
    return ORR_OK;
}

orr_result orr_env_set_state(orr_env *env, int index, const double *qpos, const double *qvel,
                             orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(check_index(env, index, error));
    ORR_REQUIRE(qpos, error);
    ORR_REQUIRE(qvel, error);
    orr_physics_quantity list[ENV_PARTS];
    list_quantities(env, list);
    memset(env->begins, 0, (size_t)env->count);
    env->begins[index] = 1;
    orr_physics_set(env->physics, ORR_PHYSICS_QPOS, index, qpos);
    orr_physics_set(env->physics, ORR_PHYSICS_QVEL, index, qvel);
    orr_physics_read_masked(env->physics, env->begins, list, env->task->part_count, env->parts);
    env_robot robot = view_of(env, index);
    env->task->observe(env->task, &robot, observation_of(env, env->results.observation, index));
    env->progress[index] = env->task->progress ? env->task->progress(env->task, &robot) : 0.0;
    return ORR_OK;
}
