// The loss of the drawn depth where a photo sees a point (splat_depth.h). One text for CPU lanes, CUDA and
// plain C (see engine/maths/formula.h).
#ifndef ORR_SPLAT_DEPTH_FORMULA_H
#define ORR_SPLAT_DEPTH_FORMULA_H

#include "engine/maths/formula.h"

// A picture has no depth where it is mostly transparent.
FN mask depth_is_drawn(real alpha, real depth)
{
    return and_(alpha >= R(0.5), depth > R(0.0));
}

STRUCT(depth_difference)
{
    real value;    // |1 / drawn depth - 1 / the point's|
    real by_alpha; // the loss by the pixel's sum of weights, which is alpha
    real by_depth; // and by its sum of weights times depths
}
END_STRUCT(depth_difference)

// depth, alpha: drawn, the mean by weight; expected: the point's; weight: of the mean over `count` points in
// the loss.
FN depth_difference depth_compare(real depth, real alpha, real expected, real weight, real count)
{
    depth_difference d;
    real inverse = R(1.0) / depth, difference = inverse - R(1.0) / expected;
    real sign = sel(difference > R(0.0), R(1.0), sel(difference < R(0.0), R(-1.0), R(0.0)));
    // the mean depth is a ratio: the sum of weights times depths, by that of weights
    real by_mean = -sign * weight / count * inverse * inverse;
    d.value = abs_(difference);
    d.by_depth = by_mean / alpha;
    d.by_alpha = -(by_mean * depth / alpha);
    return d;
}

#endif
