// Radiance fields and volumes: from a network's output at a sample to light along a ray (Max 1995, "Optical
// models for direct volume rendering"), and the gradients of that.
#ifndef ORR_RADIANCE_FORMULA_H
#define ORR_RADIANCE_FORMULA_H

#include "engine/maths/formula.h"

#define RADIANCE_LOG2_E 1.4426950408889634
#define RADIANCE_RAW_MAX 15.0           // raw outputs are clamped to +- this before their exponential
#define RADIANCE_TRANSMITTANCE_MIN 1e-4 // a ray with less is opaque and stops
#define RADIANCE_WEIGHT_MIN 1e-4        // samples of less weight have no colour of their own, and no gradient

FN real radiance_clamp_raw(real raw)
{
    return min_(max_(raw, R(-RADIANCE_RAW_MAX)), R(RADIANCE_RAW_MAX));
}

// Density [per unit of length] from a radiance field's raw output: e^raw
FN real radiance_density(real raw)
{
    return exp2_(radiance_clamp_raw(raw) * R(RADIANCE_LOG2_E));
}

// Is the density constant around this raw output?
FN mask radiance_is_clamped(real raw)
{
    return not_(abs_(raw) < R(RADIANCE_RAW_MAX));
}

// The gradient by the raw output, from that by the density.
FN real radiance_density_gradient(real raw, real by_density)
{
    return sel(radiance_is_clamped(raw), R(0.0), by_density * radiance_density(raw));
}

// Display colour from a radiance field's raw output: its sigmoid
FN real radiance_colour(real raw)
{
    return R(1.0) / (R(1.0) + exp2_(radiance_clamp_raw(raw) * R(-RADIANCE_LOG2_E)));
}

// The share of light that a segment of this length and density absorbs.
FN real radiance_alpha(real density, real length)
{
    return R(1.0) - exp2_(density * length * R(-RADIANCE_LOG2_E));
}

// ---- compositing, front to back ----

STRUCT(radiance_sample)
{
    real weight;        // the sample's share of the ray's light
    real transmittance; // behind it
}
END_STRUCT(radiance_sample)

// transmittance: in front of the sample; 1 at the ray's start
FN radiance_sample radiance_composite(real transmittance, real alpha)
{
    radiance_sample s;
    s.weight = transmittance * alpha;
    s.transmittance = transmittance - s.weight;
    return s;
}

// Does a ray stop?
FN mask radiance_is_opaque(real transmittance, real transmittance_min)
{
    return transmittance < transmittance_min;
}

// A sum over a ray's samples of weight times value: a channel of its colour, or a distance.
FN real radiance_add(real sum, real weight, real value)
{
    return sum + weight * value;
}

// What a ray's colours and alpha are multiplied by in the end: samples too faint for a colour of their own,
// and the transmittance that an opaque ray had left, take the colour of the rest. weight: sum of the rest's.
FN real radiance_normalisation(real weight, real transmittance, real transmittance_min)
{
    real alpha = sel(radiance_is_opaque(transmittance, transmittance_min), R(1.0), R(1.0) - transmittance);
    return sel(weight > R(0.0), alpha / max_(weight, R(1e-30)), R(0.0));
}

#endif
