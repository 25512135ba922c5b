// How MuJoCo's impedance rises from rest to its width, with the power 2.
#ifndef ORR_IMPEDANCE_FORMULA_H
#define ORR_IMPEDANCE_FORMULA_H

#include "engine/maths/formula.h"

// x: of the width, 0 to 1; below, above: 1 / middle, 1 / (1 - middle).
FN real impedance_curve(real x, uniform_real middle, uniform_real below, uniform_real above)
{
    real from_end = R(1.0) - x;
    return sel(x <= R(middle), x * x * R(below), R(1.0) - from_end * from_end * R(above));
}

#endif
