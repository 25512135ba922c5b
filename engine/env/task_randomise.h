// Parameters of the model and looks of pictures that a task file draws for each episode ("randomise";
// docs/task-file.md).
#pragma once

#include "engine/core/json.h"
#include "engine/env/objects.h"
#include "engine/env/task.h"
#include "engine/env/task_surfaces.h"

typedef struct env_variation env_variation;
typedef struct env_variations {
    env_variation *list;
    int count;
    env_surfaces surfaces;
} env_variations;

// Adds the parameters to those of the task. It is cleared by the caller, whatever happens.
orr_result env_variations_read(const orr_json *root, const env_objects *objects, env_task *task,
                               env_variations *variations, orr_error *error);
void env_variations_clear(env_variations *variations);

// values[k]: parameter k of the task, which holds the model's.
void env_variations_draw(const env_variations *variations, env_noise *noise, double *const *values);
// look: zeros. Its draws do not depend on those of parameters.
void env_variations_look(const env_variations *variations, env_noise *noise, orr_eyes_look *look);
bool env_variations_have_looks(const env_variations *variations);
