// The splats' part of a training step after their gradients are summed: what Adam takes of these, and the
// walk of faint splats. One text for CPU lanes, CUDA and plain C (see engine/maths/formula.h).
#ifndef ORR_SPLAT_UPDATE_FORMULA_H
#define ORR_SPLAT_UPDATE_FORMULA_H

#include "render/splat/splat_backward_formula.h"

// Adam's (Kingma and Ba 2015), with the epsilon of Kerbl et al. 2023
#define SPLAT_BETA1 0.9f
#define SPLAT_BETA2 0.999f
#define SPLAT_EPSILON 1e-15f

// What is not a number, or beyond all measure, is no gradient.
FN real splat_tamed(mask visible, real gradient)
{
    return sel(and_(visible, abs_(gradient) < R(1e20)), gradient, R(0.0));
}

// The gradient that Adam takes. opacity_pull: derivative of the loss by the opacity; scale_pull: by a scale.
FN splat_gradient splat_pulled(splat_gradient g, mask visible, splat_shape shape, real opacity,
                               uniform_real opacity_pull, uniform_real scale_pull)
{
    splat_gradient p;
    p.mean = make_real3(splat_tamed(visible, g.mean.x), splat_tamed(visible, g.mean.y),
                        splat_tamed(visible, g.mean.z));
    p.log_scale = make_real3(splat_tamed(visible, g.log_scale.x) + R(scale_pull) * shape.scale.x,
                             splat_tamed(visible, g.log_scale.y) + R(scale_pull) * shape.scale.y,
                             splat_tamed(visible, g.log_scale.z) + R(scale_pull) * shape.scale.z);
    p.rotation = make_real4(splat_tamed(visible, g.rotation.x), splat_tamed(visible, g.rotation.y),
                            splat_tamed(visible, g.rotation.z), splat_tamed(visible, g.rotation.w));
    p.logit = splat_tamed(visible, g.logit) + R(opacity_pull) * opacity * (R(1.0) - opacity);
    return p;
}

// A splat's |dL/dcentre| of splat_magnitude, in normalised device coordinates.
FN real splat_magnitude_length(real2 sum, splat_lens lens)
{
    real x = sum.x * R(0.5f * lens.width), y = sum.y * R(0.5f * lens.height);
    return sqrt_(x * x + y * y);
}

// How much of the noise a splat of this opacity gets (Kheradmand et al. 2024): all when it is transparent.
FN real splat_walk_share(real opacity)
{
    return splat_opacity(R(-100.0) * (opacity - R(0.005)));
}

// so that a step along an axis is one standard deviation at most
FN real splat_walk_bounded(real strength, real scale)
{
    return min_(strength, R(1.0) / scale);
}

// The position's step of the Markov chain: noise shaped by the covariance. numbers: of mean 0 and variance 1.
FN real3 splat_walk(splat_shape shape, real strength, real3 numbers)
{
    splat_axes a = shape.axes;
    return add3(add3(scale3(a.a, dot3(a.a, numbers) * splat_walk_bounded(strength, shape.scale.x)),
                     scale3(a.b, dot3(a.b, numbers) * splat_walk_bounded(strength, shape.scale.y))),
                scale3(a.c, dot3(a.c, numbers) * splat_walk_bounded(strength, shape.scale.z)));
}

#endif
