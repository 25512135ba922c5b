// Environments, as the files of this folder see them.
#pragma once

#include "engine/env/archive.h"
#include "engine/env/task_file.h"
#include "engine/loop/engine.h"
#include "engine/maths/rng.h"

struct env_noise {
    orr_rng rng;
};

struct orr_env {
    orr_engine *engine;
    const env_task *task;
    char *model_path;
    env_task_file *file; // that the task is from; NULL: it is one of ours
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

extern const orr_physics_quantity env_quantities[ENV_PARTS];

// Writes all that changes, or reads it into environments of the same desc, which then go on to the bit.
orr_result env_archive(orr_env *env, orr_archive *archive, orr_error *error);
