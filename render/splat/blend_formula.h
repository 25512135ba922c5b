// One pixel from front to back: splats, fields and transparent surfaces by depth, then the opaque surface
// behind them and the background. One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
//
// The "over" operator (Porter and Duff 1984) on display colours; for splats with the stop rule of Kerbl et
// al. 2023 and gsplat's constant.
#ifndef ORR_BLEND_FORMULA_H
#define ORR_BLEND_FORMULA_H

#include "engine/maths/formula.h"

#define BLEND_TRANSMITTANCE_MIN 1e-4 // a pixel whose transmittance would fall to this or below stops

// A pixel under construction.
STRUCT(blend_pixel)
{
    real3 colour; // sum of weight times display colour
    real depth;   // sum of weight times depth
    // of all layers so far; negative: the pixel has stopped, and the background shows by its magnitude
    real transmittance;
}
END_STRUCT(blend_pixel)

// exists: false for pixels beyond the picture, which have stopped from the start.
FN blend_pixel blend_begin(mask exists)
{
    blend_pixel p;
    p.colour = make_real3(R(0.0), R(0.0), R(0.0));
    p.depth = R(0.0);
    p.transmittance = sel(exists, R(1.0), R(-1.0));
    return p;
}

FN mask blend_continues(blend_pixel p)
{
    return p.transmittance > R(0.0);
}

FN real3 blend_add(real3 sum, real weight, real3 colour)
{
    return make_real3(fma_(weight, colour.x, sum.x), fma_(weight, colour.y, sum.y),
                      fma_(weight, colour.z, sum.z));
}

// A splat, unless it would stop the pixel: then the pixel stops before it. alpha: 0 where the splat is hidden
// or does not reach. From one splat to the next the chain of dependent operations is a product, a comparison
// and a choice.
FN blend_pixel blend_splat(blend_pixel p, real alpha, real3 colour, real depth)
{
    real next = p.transmittance * (R(1.0) - alpha);
    mask stops = next <= R(BLEND_TRANSMITTANCE_MIN);
    real weight = sel(stops, R(0.0), alpha * p.transmittance);
    p.colour = blend_add(p.colour, weight, colour);
    p.depth = fma_(weight, depth, p.depth);
    p.transmittance = sel(stops, -abs_(p.transmittance), next);
    return p;
}

// A field or a transparent surface, in the pixels where it is `due`. It may be opaque: the pixel stops after
// it. colour: premultiplied by alpha; all values are ignored where it is not due.
FN blend_pixel blend_layer(blend_pixel p, mask due, real3 colour, real alpha, real depth)
{
    mask takes = and_(due, p.transmittance > R(0.0));
    real weight = sel(takes, p.transmittance, R(0.0));
    p.colour = blend_add(p.colour, weight, colour);
    p.depth = fma_(weight * alpha, sel(takes, depth, R(0.0)), p.depth);
    real next = p.transmittance * (R(1.0) - alpha);
    next = sel(next <= R(BLEND_TRANSMITTANCE_MIN), -abs_(next), next);
    p.transmittance = sel(takes, next, p.transmittance);
    return p;
}

// Which of the two is blended first: of equal depths the fields.
FN mask blend_field_is_first(real field_depth, real fragment_depth)
{
    return field_depth <= fragment_depth;
}

// The opaque surface behind all layers, where there is one. The transmittance is positive from here on.
FN blend_pixel blend_surface(blend_pixel p, mask exists, real3 colour, real depth)
{
    real rest = abs_(p.transmittance);
    real weight = sel(exists, rest, R(0.0));
    p.colour = make_real3(p.colour.x + weight * colour.x, p.colour.y + weight * colour.y,
                          p.colour.z + weight * colour.z);
    p.depth = p.depth + weight * sel(exists, depth, R(0.0));
    p.transmittance = sel(exists, R(0.0), rest);
    return p;
}

// Mean depth by weight of what is blended, 0 where that is nothing; before the background is added.
FN real blend_mean_depth(blend_pixel p)
{
    real weight = R(1.0) - p.transmittance;
    mask some = p.transmittance < R(1.0);
    return sel(some, p.depth / sel(some, weight, R(1.0)), R(0.0));
}

// An opaque background behind everything, at no depth.
FN blend_pixel blend_background(blend_pixel p, real3 colour)
{
    real rest = p.transmittance;
    p.colour =
        make_real3(p.colour.x + rest * colour.x, p.colour.y + rest * colour.y, p.colour.z + rest * colour.z);
    p.transmittance = R(0.0);
    return p;
}

#endif
