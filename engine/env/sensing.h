// Observations with errors: noise that is added, and numbers that are some steps old.
#pragma once

#include "engine/core/result.h"

struct orr_env;
orr_result env_sensing_create(struct orr_env *env, orr_error *error);
// Puts them on the observation of environment i, which was made just now. begins: of an episode's start.
void env_sensing_apply(const struct orr_env *env, int i, bool begins);
