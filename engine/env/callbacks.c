#include "engine/env/callbacks.h"

#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/env/env.h"

#include <stdio.h>
#include <string.h>

enum { OBSERVATION_MAX = 1000000 };

void orr_env_uniform(uint32_t seed, uint32_t episode, uint32_t first, int count, double *numbers)
{
    env_noise noise = {{.seed = seed, .stream = episode, .counter = 2 * (uint64_t)first}};
    for (int i = 0; i < count && numbers; i++) { // two counts each, as for the tasks of the library
        numbers[i] = env_uniform(&noise, 0.0, 1.0);
    }
}

static orr_result check_once(const int *list, int count, int most, const char *what, orr_error *error)
{
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < i; k++) {
            if (list[i] == list[k]) {
                return orr_fail(error, ORR_CODE_ARGUMENT, "callbacks: %s %d: expected each once", what,
                                list[i]);
            }
        }
        if (list[i] < 0 || list[i] >= most) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "callbacks: %s %d: expected 0 to %d", what, list[i],
                            most - 1);
        }
    }
    return ORR_OK;
}

static orr_result check(const orr_env_callbacks *c, orr_error *error)
{
    if (!c->observe || c->observation_count < 1 || c->observation_count > OBSERVATION_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "callbacks: expected the function observe, of 1 to %d numbers, not %d",
                        OBSERVATION_MAX, c->observation_count);
    }
    if (c->frame_skip < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "callbacks: frame_skip %d: expected 0 or more",
                        c->frame_skip);
    }
    if (c->quantity_count < 0 || c->quantity_count > ORR_ROBOT_QUANTITIES ||
        (c->quantity_count > 0 && !c->quantities)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "callbacks: expected a list of 0 to %d quantities, not %d",
                        ORR_ROBOT_QUANTITIES, c->quantity_count);
    }
    if (c->parameter_count < 0 || c->parameter_count > ORR_PARAMETER_START_QPOS ||
        (c->parameter_count > 0 && !c->parameters)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "callbacks: expected a list of 0 to %d parameters, not %d",
                        ORR_PARAMETER_START_QPOS, c->parameter_count);
    }
    return ORR_OK;
}

static orr_result copy_lists(env_callbacks *c, orr_error *error)
{
    const int quantities = c->given.quantity_count, parameters = c->given.parameter_count;
    int list[ORR_ROBOT_QUANTITIES];
    ORR_ALLOC(c->quantities, quantities + 1, "a task", error);
    ORR_ALLOC(c->parameters, parameters + 1, "a task", error);
    for (int i = 0; i < quantities; i++) {
        c->quantities[i] = c->given.quantities[i];
        list[i] = (int)c->quantities[i];
        if (c->quantities[i] == ORR_ROBOT_QFRC_INVERSE) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "callbacks: quantity %d: expected one that a step computes", list[i]);
        }
    }
    ORR_TRY(check_once(list, quantities, ORR_ROBOT_QUANTITIES, "quantity", error));
    for (int i = 0; i < parameters; i++) {
        c->parameters[i] = c->given.parameters[i];
        list[i] = (int)c->parameters[i];
    }
    c->given.quantities = c->quantities;
    c->given.parameters = c->parameters;
    return check_once(list, parameters, ORR_PARAMETER_START_QPOS, "parameter", error);
}

orr_result env_callbacks_create(const orr_env_callbacks *given, const char *name, env_callbacks **out,
                                orr_error *error)
{
    orr_env_callbacks own;
    *out = NULL;
    ORR_TRY(orr_sized_read(&own, sizeof own, given, given->size, "orr_env_callbacks", error));
    ORR_TRY(check(&own, error));
    env_callbacks *c = orr_alloc_zero(1, sizeof *c);
    if (!c) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a task");
    }
    *out = c; // the environments' own, whatever happens
    c->given = own;
    snprintf(c->name, sizeof c->name, "%s", name ? name : "callbacks");
    c->task =
        (env_task){.name = c->name, .frame_skip = own.frame_skip > 0 ? own.frame_skip : 1, .max_steps = 1000};
    return copy_lists(c, error);
}

void env_callbacks_destroy(env_callbacks *c)
{
    if (c) {
        orr_free(c->quantities);
        orr_free(c->parameters);
        orr_free(c->before);
        orr_free(c);
    }
}

static orr_env_batch batch_of(const orr_env *env, int first, int count, const uint8_t *mask)
{
    const size_t row = (size_t)first;
    return (orr_env_batch){.first = first,
                           .count = count,
                           .mask = mask + row,
                           .offsets = env->offset,
                           .steps = env->steps + row,
                           .seeds = env->seeds + row,
                           .episodes = env->episodes + row,
                           .number_count = env->numbers,
                           .action_count = env->model->nu,
                           .qpos_count = env->model->nq,
                           .qvel_count = env->model->nv,
                           .observation_count = env->observation_count,
                           .seconds = env->robot.seconds};
}

// The same with numbers, which exist unless an episode is about to begin.
static orr_env_batch batch_with_numbers(const orr_env *env, int first, int count, const uint8_t *mask,
                                        bool stepped)
{
    orr_env_batch batch = batch_of(env, first, count, mask);
    const size_t row = (size_t)first * (size_t)env->numbers;
    batch.numbers = env->parts + row;
    batch.before = env->callbacks->before + row;
    batch.softs = env->scene ? env_scene_numbers(env->scene, first) : NULL;
    batch.soft_count = env->scene ? env->scene->soft_count : 0;
    batch.actions = stepped ? env->actions + (size_t)first * (size_t)env->model->nu : NULL;
    return batch;
}

void env_callbacks_randomise(const orr_env *env, int first, int count)
{
    const orr_env_callbacks *c = &env->callbacks->given;
    const orr_env_batch batch = batch_of(env, first, count, env->begins);
    for (int k = 0; k < env->randomised_count && c->randomise; k++) {
        const env_randomised *p = &env->randomised[k];
        c->randomise(c->user, &batch, k, p->size, p->values + (size_t)first * (size_t)p->size);
    }
}

void env_callbacks_start(const orr_env *env, int first, int count, double *qpos, double *qvel)
{
    const orr_env_callbacks *c = &env->callbacks->given;
    const orr_env_batch batch = batch_of(env, first, count, env->begins);
    if (c->start) {
        c->start(c->user, &batch, qpos, qvel);
    }
}

void env_callbacks_judge(const orr_env *env, int first, int count, const uint8_t *mask)
{
    const orr_env_callbacks *c = &env->callbacks->given;
    const orr_env_batch batch = batch_with_numbers(env, first, count, mask, true);
    if (c->terminate) {
        c->terminate(c->user, &batch, env->results.terminated + first);
    }
    if (c->reward) {
        c->reward(c->user, &batch, env->results.terminated + first, env->results.reward + first);
    }
}

void env_callbacks_observe(const orr_env *env, int first, int count, const uint8_t *mask, bool stepped)
{
    const orr_env_callbacks *c = &env->callbacks->given;
    const size_t numbers = (size_t)env->numbers;
    for (int i = first; i < first + count && !stepped; i++) {
        if (mask[i]) {
            memcpy(env->callbacks->before + (size_t)i * numbers, env->parts + (size_t)i * numbers,
                   numbers * sizeof *env->parts);
        }
    }
    const orr_env_batch batch = batch_with_numbers(env, first, count, mask, stepped);
    c->observe(c->user, &batch, env->results.observation + (size_t)first * (size_t)env->observation_count);
    for (int i = first; i < first + count && stepped; i++) {
        if (mask[i]) {
            memcpy(env->callbacks->before + (size_t)i * numbers, env->parts + (size_t)i * numbers,
                   numbers * sizeof *env->parts);
        }
    }
}
