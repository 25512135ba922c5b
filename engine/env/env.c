// Episodes of environments: steps, judging, starts, states (the public functions of engine/orrery.h).
#include "engine/env/env.h"
#include "engine/core/entry.h"
#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

enum { TOGETHER = 32 }; // environments of a block of work

const orr_physics_quantity env_quantities[ENV_PARTS] = {
    [ENV_QPOS] = ORR_PHYSICS_QPOS,
    [ENV_QVEL] = ORR_PHYSICS_QVEL,
    [ENV_XPOS] = ORR_PHYSICS_XPOS,
    [ENV_XQUAT] = ORR_PHYSICS_XQUAT,
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

void env_shake(env_noise *noise, const orr_model *model, double position, double velocity, bool normal,
               double *qpos, double *qvel)
{
    for (int i = 0; i < model->nq; i++) {
        qpos[i] += env_uniform(noise, -position, position);
    }
    for (int i = 0; i < model->nv; i++) {
        qvel[i] += normal ? velocity * env_normal(noise) : env_uniform(noise, -velocity, velocity);
    }
}

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
        list[i] = env_quantities[env->task->parts[i]];
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

// ---- states ----

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
