// The lengths that muscles can have, found by simulation as MuJoCo finds them (mj_setLengthRange): the model
// without gravity, springs and contacts is pulled by one actuator as short and as long as its limits let it.
#pragma once

#include "physics/model/spec.h"

// Writes actuator_lengthrange of the actuators that spec->length_range (MJCF's <compiler><lengthrange>)
// selects for, of a model that has its constants. ORR_CODE_MODEL_FILE: the simulation diverges, or nothing
// stops the actuator.
orr_result orr_find_length_ranges(const orr_spec *spec, orr_model *model, orr_error *error);
