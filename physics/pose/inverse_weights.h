// Inverse weights at the rest pose qpos0: how easily bodies, dofs, tendons and actuators move. The impedance
// of constraints is in units of them (MuJoCo's mj_setConst; documentation, "Computation", section "Constraint
// model").
#pragma once

#include "physics/model/model.h"

// Writes body_subtreemass, body_invweight0, dof_invweight0, dof_M0, tendon_invweight0 and actuator_acc0 of
// the model, from its masses, inertias and armature. ORR_CODE_MODEL_FILE: the inertia matrix is singular;
// `name`: of the model, for that message.
orr_result orr_find_inverse_weights(orr_model *model, const char *name, orr_error *error);
