// Parameters of robots that differ between the copies of a world (domain randomisation).
#pragma once

#include "engine/loop/world/world_physics.h"

enum { ORR_ROBOT_PARAMETERS = ORR_PARAMETER_START_QVEL + 1 };

// A parameter, one of orr_robot_parameter, as the physics knows it, and the numbers of a model (NULL: zeros).
orr_vary orr_robot_parameter_vary(orr_robot_parameter what);
const double *orr_robot_parameter_numbers(const orr_model *model, orr_robot_parameter what);

// Gives a physics that is new the parameters that its robots have.
orr_result orr_world_parameters_renew(const orr_world *world, const orr_world_physics *physics,
                                      orr_error *error);
// A copy's numbers of a parameter that the robots of a physics have, all of them, in its frame.
void orr_world_parameters_of(const orr_world *world, const orr_world_physics *physics,
                             orr_robot_parameter what, int index, double *numbers);
// Does any of them differ from the model's?
bool orr_world_parameters_vary(const orr_world *world, const orr_world_physics *physics,
                               orr_robot_parameter what);
