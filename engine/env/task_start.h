// How an episode of a task file begins ("start"; docs/task-file.md).
#pragma once

#include "engine/core/json.h"
#include "engine/env/objects.h"
#include "engine/env/task.h"

typedef struct env_draw env_draw;
typedef struct env_start {
    double *qpos0; // nq: where episodes begin
    double qpos_noise, qvel_noise;
    bool normal_velocity, random_joints;
    env_draw *draw; // draws: numbers with a range of their own, in the file's order
    int draws;
    int settle, attempts;
    double lift;
} env_start;

// start: without "start", at the model's qpos0. It is cleared by the caller, whatever happens.
orr_result env_start_read(const orr_json *root, const env_objects *objects, env_start *start,
                          orr_error *error);
void env_start_clear(env_start *start);

void env_start_draw(const env_start *start, const orr_model *model, env_noise *noise, double *qpos,
                    double *qvel);
// Bodies that are moved from outside: 3 and 4 numbers of each; 3 of each soft body: how far it is moved.
void env_start_place(const env_start *start, env_noise *noise, double *position, double *rotation,
                     double *shift);
bool env_start_places(const env_start *start); // it draws some of these
