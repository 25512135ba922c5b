// Forces of contacts between soft bodies, and of ties; private to this folder, for files of scalar doubles.
#pragma once

#include "physics/soft/element_formula.h"
#include "physics/soft/pairs.h"

// On the first side of the contact whose first row is pair i, and minus its derivative; zeros where the sides
// do not touch.
soft_system orr_soft_pair_system(const orr_soft_pairs *p, orr_soft *const *soft, int i);
// On the vertex of tie i.
soft_system orr_soft_tie_system(const orr_soft_pairs *p, orr_soft *const *soft, int i);
