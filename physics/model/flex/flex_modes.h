// Modes of deformation of a cell of nodes: the eigenvectors of its stiffness.
#pragma once

#include "engine/core/result.h"

// stiffness: size x size, as flex_fill_cells makes it. mode: zeroed, (size - 6) x size [sqrt(N/m)], the
// eigenvectors of minus the stiffness, each times the root of its eigenvalue. *count: how many there are; the
// six motions of a rigid body are none.
orr_result flex_find_modes(const double *stiffness, int size, double *mode, int *count, orr_error *error);
