// Environments, as the files of this folder see them.
#pragma once

#include "engine/env/archive.h"
#include "engine/env/callbacks.h"
#include "engine/env/env_scene.h"
#include "engine/env/pads.h"
#include "engine/env/randomise.h"
#include "engine/env/sensing.h"
#include "engine/env/task_file.h"
#include "engine/env/up_to_date.h"
#include "engine/loop/engine.h"
#include "engine/maths/rng.h"

enum { ENV_TOGETHER = 32 }; // environments of a block of work

struct env_noise {
    orr_rng rng;
};

// Random numbers of an episode are in sequences that do not depend on each other.
typedef enum env_purpose {
    ENV_START_NOISE,
    ENV_PLACE_NOISE,
    ENV_PARAMETER_NOISE,
    ENV_LOOK_NOISE,
    ENV_OBSERVATION_NOISE,
    ENV_SURFACE_NOISE
} env_purpose;

struct orr_env {
    orr_engine *engine;
    const env_task *task;
    char *model_path;
    env_task_file *file;      // that the task is from, or NULL
    env_callbacks *callbacks; // that it consists of, or NULL: its functions are those of `task`
    struct env_eyes *eyes;    // what observes pixels, or NULL
    env_scene *scene;         // that they are in, or NULL: `model` and `physics` are their own
    orr_model *own_model;     // NULL: the scene's
    const orr_model *model;
    orr_physics *physics;
    env_robot robot;
    orr_autoreset autoreset;
    int count, max_steps, observation_count;
    int state_count; // of an observation: the numbers before its pixels
    orr_physics_quantity quantity[ORR_PHYSICS_QUANTITY_COUNT]; // what the task reads
    int quantities;
    int offset[ORR_PHYSICS_QUANTITY_COUNT], numbers; // of a row of `parts`
    int part_offset[ENV_PARTS];                      // the same of the task's parts
    double *parts;                                   // count x numbers: what the task reads
    double *progress;                                // count
    double *start;                                   // count x (nq + nv): where episodes begin
    double *placed;             // count x 7 nmocap: and bodies that are moved from outside
    int attempt;                // at a start: how many were drawn before
    uint8_t *draws;             // count: a start is drawn
    int *contacts;              // count: at it
    double *felt;               // count x 4 taxels: what pads feel; NULL: nothing that the task uses
    orr_tactile_near *pad_near; // workers x ngeom: scratch of pads
    double *pad_bounds;         // workers x ngeom
    float *pad_room;            // workers x 4 taxels
    struct orr_tactile_soft
        *pad_soft;              // workers: scratch of soft bodies that press pads; NULL: there are none
    double *history;            // count x (delay_most + 1) x state_count
    float *low, *high;          // nu: the range of actions
    float *actions;             // count x nu
    uint32_t *seeds, *episodes; // count; of the episode at hand, the first is 0
    int32_t *steps;             // count: of the episode at hand
    uint8_t *moves, *begins;    // count: takes part in this step; begins an episode
    uint8_t *judged;            // count: moves, to numbers that are finite
    uint8_t *done;              // count: the step before ended the episode
    orr_physics_quantity renewed[ORR_PHYSICS_QUANTITY_COUNT]; // computed again after a step (up_to_date.h)
    int renewed_at[ORR_PHYSICS_QUANTITY_COUNT];               // in a row of `parts`
    int renewed_count, renewed_numbers;
    double *renewed_rows;       // count x renewed_numbers
    env_randomised *randomised; // randomised_count: parameters that differ between environments
    int randomised_count;
    orr_env_results results; // what the caller sees: its arrays are the env's own
};

// Of the episode at hand, which has begun.
env_noise env_noise_of(const orr_env *env, int i, env_purpose purpose);

// Writes all that changes, or reads it into environments of the same desc, which then go on to the bit.
orr_result env_archive(orr_env *env, orr_archive *archive, orr_error *error);
