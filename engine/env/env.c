// Episodes of environments: steps, judging, starts, states (the public functions of engine/orrery.h).
#include "engine/env/env.h"
#include "engine/core/entry.h"
#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

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
        const env_part part = env->task->parts[k];
        robot.part[part] = part == ENV_SOFT      ? env_scene_numbers(env->scene, i)
                           : part == ENV_TACTILE ? env->felt + (size_t)i * 4 * (size_t)env->file->pads.taxels
                                                 : row + env->part_offset[part];
    }
    return robot;
}

static double *observation_of(const orr_env *env, double *rows, int i)
{
    return rows + (size_t)i * (size_t)env->observation_count;
}

// Whether the task's functions are the caller's and want to be called once, from its thread.
static bool is_serial(const orr_env *env)
{
    return env->callbacks && !env->callbacks->given.parallel;
}

static void for_blocks(orr_env *env, orr_job_fn body)
{
    if (is_serial(env)) {
        body(env, 0, 0);
    } else {
        orr_jobs_for(env->engine->jobs, orr_blocks(env->count, ENV_TOGETHER), body, env);
    }
}

// The environments of a block: from, to - 1.
static int range_of(const orr_env *env, int block, int *to)
{
    const int from = block * ENV_TOGETHER, next = from + ENV_TOGETHER;
    *to = is_serial(env) || next > env->count ? env->count : next;
    return from;
}

static env_noise noise_of(uint32_t seed, uint32_t episode, env_purpose purpose)
{
    return (env_noise){{.seed = seed, .stream = episode, .counter = (uint64_t)purpose << 33}};
}

env_noise env_noise_of(const orr_env *env, int i, env_purpose purpose)
{
    return noise_of(env->seeds[i], env->episodes[i] - 1, purpose);
}

static void draw_parameters(const orr_env *env, int i)
{
    double *values[ENV_PARAMETERS];
    for (int k = 0; k < env->randomised_count; k++) {
        const env_randomised *p = &env->randomised[k];
        values[k] = p->values + (size_t)i * (size_t)p->size;
        memcpy(values[k], p->model, (size_t)p->size * sizeof *p->values);
    }
    if (env->task->randomise) {
        env_noise noise = noise_of(env->seeds[i], env->episodes[i], ENV_PARAMETER_NOISE);
        env->task->randomise(env->task, &noise, values);
    }
}

// Where bodies that are moved from outside begin.
static void draw_places(const orr_env *env, int i, uint64_t skipped)
{
    const orr_model *m = env->model;
    const size_t bodies = (size_t)m->nmocap;
    double *position = env->placed + 3 * bodies * (size_t)i,
           *rotation = env->placed + 3 * bodies * (size_t)env->count + 4 * bodies * (size_t)i;
    for (int body = 0; body < m->nbody; body++) {
        const int k = m->body_mocapid[body];
        if (k >= 0) {
            memcpy(position + (ptrdiff_t)3 * k, m->body_pos + (ptrdiff_t)3 * body, 3 * sizeof *position);
            memcpy(rotation + (ptrdiff_t)4 * k, m->body_quat + (ptrdiff_t)4 * body, 4 * sizeof *rotation);
        }
    }
    env_noise noise = noise_of(env->seeds[i], env->episodes[i], ENV_PLACE_NOISE);
    noise.rng.counter += skipped;
    double *shift = env->scene ? env_scene_shift(env->scene, i) : NULL;
    if (shift) {
        memset(shift, 0, (size_t)env->scene->soft_count * 3 * sizeof *shift);
    }
    env->task->place(env->task, &noise, position, rotation, shift);
}

static void draw_start(const orr_env *env, int i, double *qpos, double *qvel)
{
    const orr_model *m = env->model;
    const bool lifts = env->task->lift > 0.0;
    // random numbers of earlier attempts
    const uint64_t skipped = lifts ? 0 : (uint64_t)(uint32_t)env->attempt << 14;
    env_noise noise = noise_of(env->seeds[i], env->episodes[i], ENV_START_NOISE);
    memcpy(qpos, m->qpos0, (size_t)m->nq * sizeof *qpos);
    memset(qvel, 0, (size_t)m->nv * sizeof *qvel);
    noise.rng.counter += skipped;
    if (env->task->start) {
        env->task->start(env->task, &env->robot, &noise, qpos, qvel);
    }
    if (env->task->place) {
        draw_places(env, i, skipped);
    }
    for (int j = 0; j < m->njnt && lifts; j++) {
        if (m->jnt_type[j] == ORR_JOINT_FREE) {
            qpos[m->jnt_qposadr[j] + 2] += env->task->lift * env->attempt;
        }
    }
}

static void draw_starts(void *context, int block, int worker)
{
    orr_env *env = context;
    const size_t nq = (size_t)env->model->nq, nv = (size_t)env->model->nv;
    double *qpos = env->start, *qvel = env->start + (size_t)env->count * nq;
    int to, from = range_of(env, block, &to);
    (void)worker;
    for (int i = from; i < to; i++) {
        if (env->draws[i]) {
            env->steps[i] = 0;
            draw_start(env, i, qpos + (size_t)i * nq, qvel + (size_t)i * nv);
        }
        if (env->draws[i] && env->attempt == 0) {
            draw_parameters(env, i);
        }
    }
    if (env->callbacks) {
        env_callbacks_randomise(env, from, to - from);
        env_callbacks_start(env, from, to - from, qpos + (size_t)from * nq, qvel + (size_t)from * nv);
    }
}

// What is observed of environments from, to - 1 whose byte of the mask is not 0, when they begin an episode
// or are set.
static void observe_states(orr_env *env, int from, int to, const uint8_t *mask, bool begins, int worker)
{
    for (int i = from; i < to && !env->callbacks; i++) {
        if (mask[i]) {
            env_pads_feel(env, i, worker);
            env_robot robot = view_of(env, i);
            env->task->observe(env->task, &robot, observation_of(env, env->results.observation, i));
            env->progress[i] = env->task->progress ? env->task->progress(env->task, &robot) : 0.0;
            if (env->history) {
                env_sensing_apply(env, i, begins);
            }
        }
    }
    if (env->callbacks) {
        env_callbacks_observe(env, from, to - from, mask, false);
    }
}

static void observe_starts(void *context, int block, int worker)
{
    orr_env *env = context;
    int to, from = range_of(env, block, &to);
    for (int i = from; i < to; i++) {
        env->episodes[i] += env->begins[i] != 0;
        for (int k = 0; k < env->quantities && env->begins[i]; k++) {
            if (env->quantity[k] == ORR_PHYSICS_CFRC_EXT) { // MuJoCo computes them after steps alone
                memset(env->parts + (size_t)i * (size_t)env->numbers + env->offset[k], 0,
                       6 * (size_t)env->model->nbody * sizeof *env->parts);
            }
        }
    }
    observe_states(env, from, to, env->begins, true, worker);
}

// Puts the environments whose byte of `draws` is set where their episodes begin.
static void set_starts(orr_env *env)
{
    const size_t n = (size_t)env->count;
    orr_physics_set_masked(env->physics, ORR_PHYSICS_QPOS, env->draws, env->start);
    orr_physics_set_masked(env->physics, ORR_PHYSICS_QVEL, env->draws,
                           env->start + n * (size_t)env->model->nq);
    if (env->task->place) {
        orr_physics_set_masked(env->physics, ORR_PHYSICS_MOCAP_POS, env->draws, env->placed);
        orr_physics_set_masked(env->physics, ORR_PHYSICS_MOCAP_QUAT, env->draws,
                               env->placed + 3 * n * (size_t)env->model->nmocap);
    }
    if (env->scene) {
        env_scene_restart(env->scene, env->draws);
    }
}

static bool has_soft_bodies(const orr_env *env)
{
    return env->scene && env->scene->soft_count > 0;
}

// What the task reads of the environments whose byte of the mask is not 0, in their states as they are.
static void read_states(orr_env *env, const uint8_t *mask)
{
    orr_physics_read_masked(env->physics, mask, env->quantity, env->quantities, env->parts);
    if (env->scene) {
        env_scene_moved(env->scene);
        env_scene_read(env->scene, mask);
    }
}

// Draws starts again in which something touches.
static orr_result avoid_contacts(orr_env *env, orr_error *error)
{
    for (env->attempt = 1; env->task->attempts > 0; env->attempt++) {
        int touching = -1;
        orr_physics_contacts_all(env->physics, env->draws, NULL, 0, env->contacts);
        for (int i = env->count - 1; i >= 0; i--) {
            env->draws[i] = env->draws[i] && env->contacts[i] > 0;
            touching = env->draws[i] ? i : touching;
        }
        if (touching < 0) {
            break;
        }
        if (env->attempt > env->task->attempts) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "task %s: environment %d: expected a start without contacts among %d",
                            env->task->name, touching, env->task->attempts);
        }
        for_blocks(env, draw_starts);
        set_starts(env);
    }
    return ORR_OK;
}

// Begins an episode in the environments whose byte of `begins` is set.
static orr_result begin_episodes(orr_env *env, orr_error *error)
{
    env->attempt = 0;
    memcpy(env->draws, env->begins, (size_t)env->count);
    for_blocks(env, draw_starts);
    ORR_TRY(env_randomised_apply(env, error));
    orr_physics_reset_masked(env->physics, env->begins);
    set_starts(env);
    ORR_TRY(avoid_contacts(env, error));
    if (env->task->settle > 0 && has_soft_bodies(env)) {
        ORR_TRY(env_scene_step(env->scene, env->task->settle, env->begins, error));
    } else if (env->task->settle > 0) {
        orr_physics_step_masked(env->physics, env->task->settle, env->begins);
    }
    read_states(env, env->begins);
    for_blocks(env, observe_starts);
    ORR_TRY(env_pads_check(env, error));
    ORR_TRY(env_eyes_begin(env, error));
    return env_eyes_see(env, env->begins, error);
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
    return begin_episodes(env, error);
}

// Clears what a step finds, and decides which environments the task is asked about.
static void prepare(orr_env *env, int from, int to)
{
    orr_env_results *r = &env->results;
    for (int i = from; i < to; i++) {
        bool lost = env->moves[i] && (orr_physics_diverged(env->physics, i) ||
                                      (env->scene && env_scene_diverged(env->scene, i)));
        env->begins[i] = !env->moves[i]; // it begins an episode instead of a step
        env->judged[i] = env->moves[i] && !lost;
        env->steps[i] += env->moves[i];
        r->diverged[i] += lost;
        r->terminated[i] = lost;
        r->reward[i] = 0.0;
    }
}

// One environment, by the functions of a task of ours.
static void judge_one(const orr_env *env, int i)
{
    const orr_env_results *r = &env->results;
    const float *action = env->actions + (size_t)i * (size_t)env->model->nu;
    env_robot robot = view_of(env, i);
    double before = env->progress[i];
    env->progress[i] = env->task->progress ? env->task->progress(env->task, &robot) : 0.0;
    r->terminated[i] = env->task->terminated(env->task, &robot);
    r->reward[i] =
        env->task->reward(env->task, &robot, action, env->progress[i] - before, r->terminated[i] != 0);
    env->task->observe(env->task, &robot, observation_of(env, r->observation, i));
    if (env->history) {
        env_sensing_apply(env, i, false);
    }
}

// Counts the step, and says what follows it.
static void conclude(orr_env *env, int i)
{
    orr_env_results *r = &env->results;
    if (!env->moves[i]) {
        r->truncated[i] = env->done[i] = 0;
        r->episode_return[i] = 0.0;
        r->episode_steps[i] = 0;
        return;
    }
    r->terminated[i] = r->terminated[i] != 0;
    r->truncated[i] = !r->terminated[i] && env->steps[i] >= env->max_steps;
    r->episode_return[i] += r->reward[i];
    r->episode_steps[i] = env->steps[i];
    env->done[i] = r->terminated[i] || r->truncated[i];
    env->begins[i] |= env->done[i] && env->autoreset == ORR_AUTORESET_SAME_STEP;
}

// The observation of an environment that diverges stays what it was.
static void judge(void *context, int block, int worker)
{
    orr_env *env = context;
    int to, from = range_of(env, block, &to);
    prepare(env, from, to);
    for (int i = from; i < to && !env->callbacks; i++) {
        if (env->judged[i]) {
            env_pads_feel(env, i, worker);
            judge_one(env, i);
        }
    }
    if (env->callbacks) {
        env_callbacks_judge(env, from, to - from, env->judged);
        env_callbacks_observe(env, from, to - from, env->judged, true);
    }
    for (int i = from; i < to; i++) {
        conclude(env, i);
    }
}

static orr_result check_step(const orr_env *env, const float *actions, orr_error *error)
{
    const int64_t nu = env->model->nu;
    for (int64_t i = 0; i < env->count * nu; i++) {
        if (!isfinite(actions[i])) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "action %lld of environment %lld is %g: expected a finite number",
                            (long long)(i % nu), (long long)(i / nu), (double)actions[i]);
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

// Steps the environments that take part, `all` or not. Beside soft bodies, which push robots between two time
// steps, what the task reads is of the state afterwards; otherwise as MuJoCo leaves it.
static orr_result advance(orr_env *env, bool all, orr_error *error)
{
    if (has_soft_bodies(env)) {
        ORR_TRY(env_scene_step(env->scene, env->task->frame_skip, all ? NULL : env->moves, error));
        read_states(env, env->moves);
        return ORR_OK;
    }
    orr_physics_step_read(env->physics, env->task->frame_skip, all ? NULL : env->moves, env->quantity,
                          env->quantities, env->parts);
    env_up_to_date_read(env, env->moves);
    if (env->scene) {
        env_scene_moved(env->scene);
    }
    return ORR_OK;
}

// Of an episode that ended in this step, in whose place the observation of another is about to be.
static void keep_last_observation(const orr_env *env, int i)
{
    const orr_env_results *r = &env->results;
    if (env->done[i] && env->autoreset == ORR_AUTORESET_SAME_STEP) {
        memcpy(observation_of(env, r->final_observation, i), observation_of(env, r->observation, i),
               (size_t)env->observation_count * sizeof *r->observation);
    }
}

orr_result orr_env_step(orr_env *env, const float *actions, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(actions, error);
    ORR_TRY(orr_engine_check(env->engine, error));
    ORR_TRY(check_step(env, actions, error));
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
    ORR_TRY(advance(env, all, error));
    for_blocks(env, judge);
    ORR_TRY(env_pads_check(env, error));
    ORR_TRY(env_eyes_see(env, env->judged, error));
    for (int i = 0; i < env->count; i++) {
        any |= env->begins[i] != 0;
        keep_last_observation(env, i);
    }
    return any ? begin_episodes(env, error) : ORR_OK;
}

// ---- states ----

// Numbers of environment `index` that are set. Those that float does not hold are infinite in it.
static orr_result check_numbers(const orr_env *env, orr_physics_quantity quantity, int index,
                                const double *values, orr_error *error)
{
    const int count = orr_physics_size(env->physics, quantity);
    for (int i = 0; i < count; i++) {
        if (!isfinite((float)values[i])) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "%s: number %d of environment %d is %g: expected a finite number",
                            orr_physics_quantity_name(quantity), i, index, values[i]);
        }
    }
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
    ORR_TRY(orr_engine_check(env->engine, error));
    orr_physics_read_all(env->physics, &parts[0], 1, qpos);
    orr_physics_read_all(env->physics, &parts[1], 1, qvel);
    return ORR_OK;
}

orr_result orr_env_quantity_numbers(const orr_env *env, orr_robot_quantity quantity, int *count,
                                    orr_error *error)
{
    orr_physics_quantity found;
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(count, error);
    ORR_TRY(orr_robot_quantity_find(quantity, false, &found, error));
    *count = orr_physics_size(env->physics, found);
    return ORR_OK;
}

orr_result orr_env_get_quantity(const orr_env *env, orr_robot_quantity quantity, double *values,
                                orr_error *error)
{
    orr_physics_quantity found;
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(values, error);
    ORR_TRY(orr_engine_check(env->engine, error));
    ORR_TRY(orr_robot_quantity_find(quantity, false, &found, error));
    orr_physics_read_all(env->physics, &found, 1, values);
    return ORR_OK;
}

orr_result orr_env_set_quantity(orr_env *env, orr_robot_quantity quantity, const uint8_t *mask,
                                const double *values, orr_error *error)
{
    orr_physics_quantity found;
    ORR_ENTER;
    ORR_REQUIRE(env, error);
    ORR_REQUIRE(values, error);
    ORR_TRY(orr_engine_check(env->engine, error));
    ORR_TRY(orr_robot_quantity_find(quantity, true, &found, error));
    for (int i = 0; i < env->count; i++) {
        if (!mask || mask[i]) {
            const double *own = values + (ptrdiff_t)i * orr_physics_size(env->physics, found);
            ORR_TRY(check_numbers(env, found, i, own, error));
        }
    }
    if (mask) {
        orr_physics_set_masked(env->physics, found, mask, values);
    } else {
        orr_physics_set_all(env->physics, found, values);
    }
    return ORR_OK;
}

orr_result orr_env_set_state(orr_env *env, int index, const double *qpos, const double *qvel,
                             orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(check_index(env, index, error));
    ORR_REQUIRE(qpos, error);
    ORR_REQUIRE(qvel, error);
    ORR_TRY(check_numbers(env, ORR_PHYSICS_QPOS, index, qpos, error));
    ORR_TRY(check_numbers(env, ORR_PHYSICS_QVEL, index, qvel, error));
    memset(env->begins, 0, (size_t)env->count);
    env->begins[index] = 1;
    orr_physics_set(env->physics, ORR_PHYSICS_QPOS, index, qpos);
    orr_physics_set(env->physics, ORR_PHYSICS_QVEL, index, qvel);
    read_states(env, env->begins);
    observe_states(env, index, index + 1, env->begins, false, 0);
    ORR_TRY(env_pads_check(env, error));
    return env_eyes_see(env, env->begins, error);
}
