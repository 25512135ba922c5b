#include "engine/env/randomise.h"

#include "engine/core/memory.h"
#include "engine/env/env.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

orr_result env_randomised_create(orr_env *env, const orr_robot_parameter *list, int count, orr_error *error)
{
    ORR_ALLOC(env->randomised, count + 1, "parameters of environments", error);
    for (int k = 0; k < count; k++) {
        env_randomised *p = &env->randomised[k];
        p->vary = orr_robot_parameter_vary(list[k]);
        p->size = orr_physics_vary_size(env->physics, p->vary);
        p->model = orr_robot_parameter_numbers(env->model, list[k]);
        ORR_ALLOC(p->values, (int64_t)env->count * p->size + 1, "parameters of environments", error);
        env->randomised_count = k + 1;
        // the first time takes the memory of all
        ORR_TRY(orr_physics_vary(env->physics, p->vary, 0, 1, p->model, error));
    }
    return ORR_OK;
}

void env_randomised_destroy(orr_env *env)
{
    for (int k = 0; k < env->randomised_count; k++) {
        orr_free(env->randomised[k].values);
    }
    orr_free(env->randomised);
}

typedef struct apply_job {
    orr_env *env;
    atomic_int *refused; // the first environment whose numbers are out of range
} apply_job;

static void apply_block(void *context, int block, int worker)
{
    const apply_job *job = context;
    const orr_env *env = job->env;
    (void)worker;
    for (int i = block * ENV_TOGETHER; i < env->count && i < (block + 1) * ENV_TOGETHER; i++) {
        for (int k = 0; k < env->randomised_count && env->begins[i]; k++) {
            const env_randomised *p = &env->randomised[k];
            const double *values = p->values + (size_t)i * (size_t)p->size;
            if (orr_physics_vary(env->physics, p->vary, i, 1, values, NULL) != ORR_OK) {
                int first = atomic_load(job->refused);
                while (i < first && !atomic_compare_exchange_weak(job->refused, &first, i)) {
                }
            }
        }
    }
}

orr_result env_randomised_apply(orr_env *env, orr_error *error)
{
    atomic_int refused = INT_MAX;
    apply_job job = {env, &refused};
    if (env->randomised_count == 0) {
        return ORR_OK;
    }
    orr_jobs_for(env->engine->jobs, orr_blocks(env->count, ENV_TOGETHER), apply_block, &job);
    const int i = atomic_load(&refused);
    for (int k = 0; k < env->randomised_count && i < env->count; k++) { // again, for the message
        const env_randomised *p = &env->randomised[k];
        ORR_TRY(
            orr_physics_vary(env->physics, p->vary, i, 1, p->values + (size_t)i * (size_t)p->size, error));
    }
    return ORR_OK;
}
