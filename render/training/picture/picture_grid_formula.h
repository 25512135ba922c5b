// A number of a photo's bilateral grid in a step of Adam, and the weight of the grid's variation in the loss
// (Wang et al. 2024). One text for plain C and CUDA (see engine/maths/formula.h).
#ifndef ORR_PICTURE_GRID_FORMULA_H
#define ORR_PICTURE_GRID_FORMULA_H

#include "neural/network/optimizer_formula.h"

#define GRID_VARIATION 10.0f
#define GRID_BETA1 0.9f
#define GRID_BETA2 0.999f
#define GRID_EPSILON 1e-15f

STRUCT(grid_number)
{
    real value;
    adam_moments moments;
}
END_STRUCT(grid_number)

// gradient: of the loss, that of the variation in it; what is not finite is no gradient. correction: Adam's,
// of the photo's number of steps.
FN grid_number grid_advance(grid_number n, real gradient, uniform_real correction, uniform_real rate)
{
    grid_number next;
    next.moments =
        adam_advance(n.moments, sel(abs_(gradient) < R(1e10), gradient, R(0.0)), GRID_BETA1, GRID_BETA2);
    next.value = n.value - adam_step(next.moments, R(correction), rate, GRID_EPSILON);
    return next;
}

#endif
