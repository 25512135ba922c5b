#include "engine/env/up_to_date.h"

#include "engine/core/memory.h"
#include "engine/env/env.h"

#include <string.h>

// Computed from positions and velocities alone. Sensors: those that need no more.
static bool follows_from_state(orr_physics_quantity q)
{
    return (q >= ORR_PHYSICS_XPOS && q <= ORR_PHYSICS_CVEL) || q == ORR_PHYSICS_QM ||
           (q >= ORR_PHYSICS_TEN_LENGTH && q <= ORR_PHYSICS_ACTUATOR_VELOCITY) || q == ORR_PHYSICS_SENSORDATA;
}

orr_result env_up_to_date_create(orr_env *env, orr_error *error)
{
    int numbers = 0;
    for (int i = 0; i < env->quantities; i++) {
        if (follows_from_state(env->quantity[i])) {
            env->renewed[env->renewed_count] = env->quantity[i];
            env->renewed_at[env->renewed_count++] = env->offset[i];
            numbers += orr_physics_size(env->physics, env->quantity[i]);
        }
    }
    env->renewed_numbers = numbers;
    ORR_ALLOC(env->renewed_rows, (int64_t)env->count * numbers + 1, "environments", error);
    return ORR_OK;
}

// Sensors of forces and accelerations stay those of the last time step.
static void renew_sensors(const orr_model *m, const double *from, double *to)
{
    for (int s = 0; s < m->nsensor; s++) {
        if (m->sensor_needstage[s] != ORR_STAGE_ACC) {
            memcpy(to + m->sensor_adr[s], from + m->sensor_adr[s], (size_t)m->sensor_dim[s] * sizeof *to);
        }
    }
}

static void renew_block(void *context, int block, int worker)
{
    orr_env *env = context;
    (void)worker;
    for (int i = block * ENV_TOGETHER; i < env->count && i < (block + 1) * ENV_TOGETHER; i++) {
        const double *from = env->renewed_rows + (size_t)i * (size_t)env->renewed_numbers;
        double *row = env->parts + (size_t)i * (size_t)env->numbers;
        for (int k = 0; k < env->renewed_count && env->moves[i]; k++) {
            const int size = orr_physics_size(env->physics, env->renewed[k]);
            if (env->renewed[k] == ORR_PHYSICS_SENSORDATA) {
                renew_sensors(env->model, from, row + env->renewed_at[k]);
            } else {
                memcpy(row + env->renewed_at[k], from, (size_t)size * sizeof *row);
            }
            from += size;
        }
    }
}

void env_up_to_date_read(orr_env *env, const uint8_t *mask)
{
    if (env->renewed_count > 0) {
        orr_physics_read_masked(env->physics, mask, env->renewed, env->renewed_count, env->renewed_rows);
        orr_jobs_for(env->engine->jobs, orr_blocks(env->count, ENV_TOGETHER), renew_block, env);
    }
}
