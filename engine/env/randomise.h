// Parameters of the model that differ between environments, drawn anew for each episode.
#pragma once

#include "engine/loop/world/world_parameters.h"

typedef struct env_randomised {
    orr_vary vary;
    int size;            // numbers of an environment
    const double *model; // size: those of the model
    double *values;      // environments x size
} env_randomised;

// Makes the parameters of a list vary, with the model's numbers for now.
struct orr_env;
orr_result env_randomised_create(struct orr_env *env, const orr_robot_parameter *list, int count,
                                 orr_error *error);
void env_randomised_destroy(struct orr_env *env);
// Gives the environments that begin an episode what `values` holds.
orr_result env_randomised_apply(struct orr_env *env, orr_error *error);
