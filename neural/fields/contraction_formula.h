// Unbounded scenes: space folded into a cube, and the spacing of samples along a ray (Barron et al. 2022,
// "Mip-NeRF 360"; the norm is L-infinity, as in Tancik et al. 2023, "Nerfstudio", so that the folded space is
// the cube that grids cover). Positions are in the field's space: the subject of the capture is in the unit
// cube, which keeps its shape.
#ifndef ORR_CONTRACTION_FORMULA_H
#define ORR_CONTRACTION_FORMULA_H

#include "engine/maths/formula.h"

// To the cube of the encoding, 0 .. 1 per axis: the unit cube is its inner half; what lies at r half sides
// from the centre, r > 1, is mapped to 2 - 1 / r of them.
FN real3 contraction_position(real3 p)
{
    real3 u = make_real3((p.x - R(0.5)) * R(2.0), (p.y - R(0.5)) * R(2.0), (p.z - R(0.5)) * R(2.0));
    real per_reach = R(1.0) / max_(max_(max_(abs_(u.x), abs_(u.y)), abs_(u.z)), R(1.0));
    real scale = (R(2.0) - per_reach) * per_reach * R(0.25);
    return make_real3(u.x * scale + R(0.5), u.y * scale + R(0.5), u.z * scale + R(0.5));
}

// Half of the spacing is even in distance up to 1, the other half even in 1 / distance from there to
// infinity.
FN real contraction_spacing(real distance)
{
    return sel(distance < R(1.0), R(0.5) * distance, R(1.0) - R(0.5) / max_(distance, R(1.0)));
}

FN real contraction_distance(real spacing)
{
    return sel(spacing < R(0.5), R(2.0) * spacing, R(0.5) / (R(1.0) - max_(spacing, R(0.5))));
}

#endif
