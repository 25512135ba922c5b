// What fixed obstacles push vertices by, for the moves of soft bodies as wholes; private to this folder, for
// files of scalar doubles.
#pragma once

#include "physics/soft/element_formula.h"
#include "physics/soft/simulation.h"

// The sum of the forces of all obstacles on all vertices of the simulation's only world, and minus their
// derivatives by where it is as a whole.
soft_system orr_soft_obstacles_system(const orr_soft *soft);
