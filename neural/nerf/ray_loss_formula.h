// The loss of a ray of a radiance field against its photo, and the gradients of its samples. A ray's light is
// composited per channel (radiance_formula.h), scaled by the photo's exposure, and laid over a background.
#ifndef ORR_RAY_LOSS_FORMULA_H
#define ORR_RAY_LOSS_FORMULA_H

#include "neural/fields/occupancy_formula.h"
#include "neural/fields/radiance_formula.h"

#define RAY_LOSS_NEAR_DISTANCE 0.1       // before a camera
#define RAY_LOSS_NEAR_GRADIENT 7.8125e-7 // 1e-4 / 128, of the raw density there
#define RAY_LOSS_THIN_GRADIENT 7.8125e-7 // while the occupancy grid is thinner than its threshold

// One channel of a ray.
STRUCT(ray_channel)
{
    real light;      // of all samples: the sum of weight times colour
    real passed;     // of the samples up to the present one, in the backward pass
    real gain;       // of the photo's exposure
    real background; // what shows of it behind the samples
    real gradient;   // of the loss by the light
}
END_STRUCT(ray_channel)

// exposure: log2 of the gain; transmittance: behind all samples; background: its colour.
FN ray_channel ray_channel_begin(real light, real exposure, real transmittance, real background)
{
    ray_channel c;
    c.light = light;
    c.passed = R(0.0);
    c.gain = exp2_(exposure);
    c.background = transmittance * background;
    c.gradient = R(0.0);
    return c;
}

// What is compared: the channel as drawn, and the photo over the same background. share: of the background, 1
// - alpha.
FN real ray_channel_drawn(ray_channel c)
{
    return c.gain * c.light + c.background;
}

FN real ray_channel_target(real colour, real share, real background)
{
    return colour + share * background;
}

// The mean over rays and channels: by this a channel's loss and its gradient are multiplied.
FN uniform_real ray_loss_scale(uniform_real ray_count)
{
    return 1.0f / (3.0f * ray_count);
}

// by_drawn: the loss's derivative by what was drawn; scale: of the gradients from here on.
FN ray_channel ray_channel_backward(ray_channel c, real by_drawn, uniform_real scale)
{
    c.gradient = by_drawn * scale * c.gain;
    return c;
}

// By the exposure.
FN real ray_channel_exposure_gradient(ray_channel c)
{
    return R(0.69314718) * c.gradient * c.light;
}

// ---- from a channel to its samples, front to back ----

FN ray_channel ray_channel_pass(ray_channel c, real weight, real colour)
{
    c.passed = radiance_add(c.passed, weight, colour);
    return c;
}

// By the raw colour of a sample: through its weight and the sigmoid.
FN real ray_channel_colour_gradient(ray_channel c, real weight, real colour)
{
    return c.gradient * weight * colour * (R(1.0) - colour);
}

// By the sample's density, to be summed over channels; after ray_channel_pass. transmittance: behind the
// sample. Light from behind it is all light less what was passed, and the background, which takes no
// exposure: the gain in the gradient is undone.
FN real ray_channel_density_gradient(ray_channel c, real step, real transmittance, real colour)
{
    real behind = c.light - c.passed + c.background / c.gain;
    return c.gradient * step * (transmittance * colour - behind);
}

// By the raw density, from that by the density. thin_gradient lifts what is below 0, so that a thin field
// does not vanish; near_gradient lowers the density right in front of a camera, which no other camera sees.
FN real ray_loss_raw_gradient(real raw, real by_density, real distance, real thin_gradient,
                              real near_gradient)
{
    real by_raw = radiance_density_gradient(raw, by_density);
    by_raw = by_raw - sel(raw < R(0.0), thin_gradient, R(0.0));
    mask is_near = and_(raw > R(-10.0), distance < R(RAY_LOSS_NEAR_DISTANCE));
    return by_raw + sel(is_near, near_gradient, R(0.0));
}

// thickness: mean of the occupancy grid.
FN real ray_loss_thin_gradient(real thickness)
{
    return sel(thickness < R(OCCUPANCY_THICKNESS_MIN), R(RAY_LOSS_THIN_GRADIENT), R(0.0));
}

// Of a sample's gradients where no occupancy grid has culled what no other camera sees: density right in
// front of a camera grow into a picture of their own unless they learn slowly (Philip and Deschaintre 2023,
// "Floaters No More").
FN real ray_loss_near_share(real distance)
{
    return min_(distance * distance, R(1.0));
}

#endif
