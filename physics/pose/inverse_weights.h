// Inverse weights at the rest pose qpos0: how easily bodies, dofs, tendons and actuators move. The impedance
// of constraints is in units of them (MuJoCo's mj_setConst; documentation, "Computation", section "Constraint
// model").
#pragma once

#include "physics/model/model.h"

// Memory to find them, any number of times, for a model whose masses, inertias and armature change in place.
typedef struct orr_inverse_weights orr_inverse_weights;
// *weights is destroyed by the caller, whatever happens.
orr_result orr_inverse_weights_create(orr_model *model, orr_inverse_weights **weights, orr_error *error);
void orr_inverse_weights_destroy(orr_inverse_weights *weights); // NULL is allowed
// Writes body_subtreemass, body_invweight0, dof_invweight0, dof_M0, tendon_invweight0 and actuator_acc0 of
// the model, from its masses, inertias and armature. ORR_CODE_MODEL_FILE: the inertia matrix is singular;
// `name`: of the model, for that message.
orr_result orr_inverse_weights_find(orr_inverse_weights *weights, const char *name, orr_error *error);
