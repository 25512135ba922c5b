// What follows from a state, computed again after a step from the state that it led to, as dm_control does.
#pragma once

#include "engine/core/result.h"

#include <stdint.h>

// Finds which of the quantities of a task these are, and takes memory for them.
struct orr_env;
orr_result env_up_to_date_create(struct orr_env *env, orr_error *error);
// Replaces them in the rows of `parts` of the environments whose byte of the mask is not 0.
void env_up_to_date_read(struct orr_env *env, const uint8_t *mask);
