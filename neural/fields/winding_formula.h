// Generalised winding numbers (Jacobson et al. 2013): the solid angle under which a point sees triangles,
// over 4 pi. One text for CPU lanes, CUDA and GLSL (see formula.h).
#ifndef ORR_WINDING_FORMULA_H
#define ORR_WINDING_FORMULA_H

#include "engine/maths/angle_formula.h"
#include "engine/maths/vector_formula.h"

// Of one triangle; corners minus the point (Van Oosterom and Strackee 1983). In -1/2 .. 1/2.
FN real winding_of_triangle(real3 a, real3 b, real3 c)
{
    real la = length3(a), lb = length3(b), lc = length3(c), volume = dot3(a, cross3(b, c));
    real below = la * lb * lc + dot3(a, b) * lc + dot3(b, c) * la + dot3(c, a) * lb;
    real size = angle_of(abs_(volume), below) * R(0.5 / ANGLE_PI);
    return sel(volume < R(0.0), -size, size);
}

// The moments of triangles about their centre, over 4 pi: of area vectors; of area vectors times offsets from
// the centre; of area vectors times products of two offsets. Without traces, which say nothing, and with all
// factors of the series.
STRUCT(winding_moments)
{
    real3 area;
    real xx, xy, xz, yy, yz, zz;
    real xxx, xxy, xxz, xyy, xyz, xzz, yyy, yyz, yzz, zzz;
}
END_STRUCT(winding_moments)

// Of triangles that are far away; y: their centre minus the point. Taylor series of second order (Barill et
// al. 2018, "Fast winding numbers for soups and clouds").
FN real winding_of_cluster(winding_moments m, real3 y)
{
    real inverse = R(1.0) / dot3(y, y);
    real second = y.x * fma_(m.xx, y.x, fma_(m.xy, y.y, m.xz * y.z)) + y.y * fma_(m.yy, y.y, m.yz * y.z) +
                  m.zz * y.z * y.z;
    real third = y.x * (y.x * fma_(m.xxx, y.x, fma_(m.xxy, y.y, m.xxz * y.z)) +
                        y.y * fma_(m.xyy, y.y, m.xyz * y.z) + m.xzz * y.z * y.z) +
                 y.y * (y.y * fma_(m.yyy, y.y, m.yyz * y.z) + m.yzz * y.z * y.z) + m.zzz * y.z * y.z * y.z;
    real sum = fma_(fma_(third, inverse, second), inverse, dot3(m.area, y));
    return sum * inverse * sqrt_(inverse);
}

#endif
