// What a planar mirror shows of the picture that was drawn for it (mirror.h), which is flipped. One text for
// CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_MIRROR_FORMULA_H
#define ORR_MIRROR_FORMULA_H

#include "render/light_formula.h"

// The mirrored picture's pixel that is seen at the picture's x, y [px].
FN real mirror_column(uniform_real width, real x)
{
    return R(width) - R(1.0) - min_(max_(floor_(x), R(0.0)), R(width) - R(1.0));
}

FN real mirror_row(uniform_real height, real y)
{
    return min_(max_(floor_(y), R(0.0)), R(height) - R(1.0));
}

// Light of what the mirror shows, added to its own display colour. seen: premultiplied, display-referred
FN real3 mirror_add(uniform_real reflectance, real3 colour, real4 seen)
{
    real straight = R(1.0) / max_(seen.w, R(1e-6)), weight = seen.w * R(reflectance);
    return light_display(
        make_real3(fma_(weight, srgb_to_linear(seen.x * straight), srgb_to_linear(colour.x)),
                   fma_(weight, srgb_to_linear(seen.y * straight), srgb_to_linear(colour.y)),
                   fma_(weight, srgb_to_linear(seen.z * straight), srgb_to_linear(colour.z))));
}

#endif
