// Tasks that are functions of the caller over batches (orr_env_callbacks of engine/orrery.h).
#pragma once

#include "engine/env/task.h"

typedef struct env_callbacks {
    env_task task; // its name and frame_skip; it has no functions
    char name[64];
    orr_env_callbacks given; // its lists are copies
    orr_robot_quantity *quantities;
    orr_robot_parameter *parameters;
    double *before; // as orr_env.parts, before the step
} env_callbacks;

orr_result env_callbacks_create(const orr_env_callbacks *given, const char *name, env_callbacks **callbacks,
                                orr_error *error);
void env_callbacks_destroy(env_callbacks *callbacks); // NULL is allowed

// Of the environments first .. first + count - 1, those whose byte of the mask (one of each environment) is
// not 0.
struct orr_env;
void env_callbacks_randomise(const struct orr_env *env, int first, int count);
void env_callbacks_start(const struct orr_env *env, int first, int count, double *qpos, double *qvel);
void env_callbacks_judge(const struct orr_env *env, int first, int count, const uint8_t *mask);
void env_callbacks_observe(const struct orr_env *env, int first, int count, const uint8_t *mask,
                           bool stepped);
