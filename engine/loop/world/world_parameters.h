// Parameters of robots that differ between the copies of a world (domain randomisation).
#pragma once

#include "engine/loop/world/world_physics.h"

enum { ORR_ROBOT_PARAMETERS = ORR_PARAMETER_START_QVEL + 1 };

// Gives a physics that is new the parameters that its robots have.
orr_result orr_world_parameters_renew(const orr_world *world, const orr_world_physics *physics,
                                      orr_error *error);
