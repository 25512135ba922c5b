// Tasks from files: what is observed, rewarded and ends an episode as lists of terms. docs/task-file.md.
#pragma once

#include "engine/env/pads.h"
#include "engine/env/pixels.h"
#include "engine/env/task_randomise.h"
#include "engine/env/task_start.h"
#include "engine/env/term.h"

typedef struct env_task_file {
    env_task task;  // its settings are this struct
    char name[64];  // of the task
    char *model;    // the robot's or scene's file, beside the task's; NULL: none is named
    char *text;     // as it was read
    env_term *term; // observations, rewards and terminations, in this order
    int observations, rewards, terminations;
    env_pads pads;
    env_pixels pixels;
    env_start start;
    env_variations variations;
    double *noise; // of each number of an observation
    int *delay;
    struct orr_json *root; // until it is bound
} env_task_file;

// Reads a task; `path` is that of its file, for messages and for what is beside it.
orr_result env_task_file_read(const char *text, const char *path, env_task_file **file, orr_error *error);
// Finds what the terms name. The task is valid afterwards.
orr_result env_task_file_bind(env_task_file *file, const env_objects *objects, orr_error *error);
void env_task_file_destroy(env_task_file *file); // NULL is allowed
