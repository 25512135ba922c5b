// Soft pads of a task file ("pads"), and what they feel as a part of the world (ENV_TACTILE): forces of all
// pads, pressure and shear along columns and rows of each taxel [N], and behind them all heights [m].
#pragma once

#include "engine/core/json.h"
#include "engine/env/objects.h"
#include "engine/loop/tactile/pad.h"

typedef struct env_pads {
    orr_tactile_pad *pad; // count
    const char **name;    // count: of the JSON
    int *first;           // count: of a pad's taxels among those of all
    int count, taxels;
} env_pads;

// The pads of a task file, on geoms of the model.
orr_result env_pads_read(const orr_json *root, const env_objects *objects, env_pads *pads, orr_error *error);
void env_pads_clear(env_pads *pads);
int env_pads_find(const env_pads *pads, const char *name); // -1: there is none

struct orr_env;
// The memory that environments need for what their task's pads feel.
orr_result env_pads_create(struct orr_env *env, orr_error *error);
void env_pads_destroy(struct orr_env *env);
// Computes ENV_TACTILE of environment i, of the parts that are at hand; nothing if the task does not use it.
void env_pads_feel(const struct orr_env *env, int i, int worker);
// After environments have felt: ORR_CODE_OUT_OF_MEMORY where soft bodies near pads found no room.
orr_result env_pads_check(const struct orr_env *env, orr_error *error);
