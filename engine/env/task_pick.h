// The numbers that a term of a task file names: a quantity, of objects by name, and a range.
#pragma once

#include "engine/core/json.h"
#include "engine/env/objects.h"
#include "engine/env/term.h"

typedef enum env_pick_kind {
    ENV_PICK_QUANTITY, // of the world: env_part, ENV_FROM_ACTION or ENV_FROM_CONSTANT
    ENV_PICK_PARAMETER // of the model or of pictures: orr_robot_parameter or env_look
} env_pick_kind;

// Members of orr_eyes_look.
typedef enum env_look {
    ENV_LOOK_CAMERA_OFFSET = 100, // behind the last orr_robot_parameter
    ENV_LOOK_CAMERA_TURN,
    ENV_LOOK_LIGHT_TURN,
    ENV_LOOK_LIGHT,
    ENV_LOOK_EXPOSURE,
    ENV_LOOK_BACKGROUND
} env_look;

// Numbers of a quantity, by the keys of, name, axis, from and count; docs/task-file.md says what they mean.
orr_result env_pick_read(const orr_json *json, const env_objects *objects, env_pick *pick, orr_error *error);
// The same of a quantity or parameter that is named here, whatever "of" says.
orr_result env_pick_read_of(const orr_json *json, env_pick_kind kind, const char *of,
                            const env_objects *objects, env_pick *pick, orr_error *error);
