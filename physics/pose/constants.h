// Constants of a compiled model that follow from its rest pose (MuJoCo's mj_setConst).
#pragma once

#include "physics/model/spec.h"

// Completes a model that orr_model_compile made of the spec: inverse weights (pose/inverse_weights.h),
// lengths of tendons and actuators, frames of equalities, cameras and lights, statistics, and what the spec
// gives in units of them: damping ratios of servos, springdamper of joints. ORR_CODE_MODEL_FILE: the inertia
// matrix is singular, or a springdamper is not positive.
orr_result orr_find_constants(const orr_spec *spec, orr_model *model, orr_error *error);
