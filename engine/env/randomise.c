#include "engine/env/randomise.h"

#include "engine/core/memory.h"
#include "engine/env/env.h"

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

orr_result env_randomised_apply(orr_env *env, orr_error *error)
{
    for (int k = 0; k < env->randomised_count; k++) {
        const env_randomised *p = &env->randomised[k];
        ORR_TRY(orr_physics_vary_masked(env->physics, p->vary, env->begins, p->values, error));
    }
    return ORR_OK;
}
