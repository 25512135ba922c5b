// The numbers that a term of a task file names: a quantity, of objects by name, and a range.
#pragma once

#include "engine/core/json.h"
#include "engine/env/term.h"

// Reads the keys of, name, axis, from and count; docs/task-file.md says what they mean.
orr_result env_pick_read(const orr_json *json, const orr_model *model, env_pick *pick, orr_error *error);
