#include "engine/env/sensing.h"

#include "engine/core/memory.h"
#include "engine/env/env.h"

#include <string.h>

orr_result env_sensing_create(orr_env *env, orr_error *error)
{
    const size_t rows = (size_t)env->count * ((size_t)env->task->delay_most + 1);
    env->history = orr_alloc_zero(rows * (size_t)env->state_count, sizeof *env->history);
    return env->history ? ORR_OK
                        : orr_fail(error, ORR_CODE_OUT_OF_MEMORY,
                                   "out of memory: observations of %d environments, %d steps old", env->count,
                                   env->task->delay_most);
}

void env_sensing_apply(const orr_env *env, int i, bool begins)
{
    const size_t seen = (size_t)env->state_count;
    const int rows = env->task->delay_most + 1, now = env->steps[i] % rows;
    double *observation = env->results.observation + (size_t)i * (size_t)env->observation_count;
    double *history = env->history + (size_t)i * (size_t)rows * seen;
    for (int row = 0; row < rows; row++) {
        if (begins || row == now) {
            memcpy(history + (size_t)row * seen, observation, seen * sizeof *history);
        }
    }
    for (int k = 0; k < env->state_count; k++) {
        const int row = (now - env->task->delay[k] + rows) % rows;
        env_noise noise = env_noise_of(env, i, ENV_OBSERVATION_NOISE);
        noise.rng.counter +=
            ((uint64_t)(uint32_t)env->steps[i] * seen + (uint64_t)k) * 4; // of a normal number
        observation[k] = history[(size_t)row * seen + (size_t)k];
        if (env->task->noise[k] > 0.0) {
            observation[k] += env->task->noise[k] * env_normal(&noise);
        }
    }
}
