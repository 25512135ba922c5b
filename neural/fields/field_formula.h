// Drawing fields: the mathematics of one ray or pixel that images, signed distances, volumes, radiance fields
// and pictures of several of them share. Lengths are in the field's space, of which the unit cube is drawn.
#ifndef ORR_FIELD_FORMULA_H
#define ORR_FIELD_FORMULA_H

#include "neural/fields/radiance_formula.h"

#define FIELD_HIT 2e-4       // a distance below this is on the surface
#define FIELD_STEP_SHARE 0.9 // of the distance: a learnt one may be too long
#define FIELD_TRACE_STEPS 128
#define FIELD_MARCH_STEPS 256.0      // of a volume, through the unit cube along an axis
#define FIELD_TRANSMITTANCE_MIN 1e-3 // a ray through a volume with less is opaque and stops

FN real field_clamp(real v)
{
    return min_(max_(v, R(0.0)), R(1.0));
}

// A point of a ray, clamped to the unit cube.
FN real3 field_position(real3 origin, real3 direction, real t)
{
    return make_real3(field_clamp(origin.x + t * direction.x), field_clamp(origin.y + t * direction.y),
                      field_clamp(origin.z + t * direction.z));
}

// ---- images: the quad 0 .. 1 x 0 .. 1 of the plane z = 0 ----

// The range of distances of a ray, moved to where it meets the quad; empty (x >= y) when it does not.
FN real2 field_meet_quad(real3 origin, real3 direction, real2 range)
{
    mask meets = abs_(direction.z) > R(1e-12);
    real t = -origin.z / sel(meets, direction.z, R(1.0));
    real x = origin.x + t * direction.x;
    real y = origin.y + t * direction.y;
    mask inside = and_(and_(not_(x < R(0.0)), not_(x > R(1.0))), and_(not_(y < R(0.0)), not_(y > R(1.0))));
    mask hits = and_(and_(meets, inside), t >= range.x);
    real2 met;
    met.x = sel(hits, t, R(1e30));
    met.y = sel(hits, range.y, R(-1e30));
    return met;
}

// ---- signed distances ----

// How far sphere tracing goes; length: of the ray's direction, which is 1 but where the world is stretched.
FN real field_trace_step(real distance, real length)
{
    return R(FIELD_STEP_SHARE) * distance / length;
}

// The display value of a white surface under a sun and a sky; facing: cosine between its normal and the sun.
FN real field_lit(real facing)
{
    const real sky = R(0.35), sun = R(0.65), albedo = R(0.85);
    return albedo * (sky * (R(0.75) + R(0.25) * facing) + sun * max_(facing, R(0.0)));
}

// The same from the distance's gradient in the unit cube's space, of any length; sun: unit vector in the
// world.
FN real field_surface_light(affine to_unit, real3 gradient, real3 sun)
{
    // a gradient goes to the world by the transpose of the map from there
    real x = to_unit.xx * gradient.x + to_unit.yx * gradient.y + to_unit.zx * gradient.z;
    real y = to_unit.xy * gradient.x + to_unit.yy * gradient.y + to_unit.zy * gradient.z;
    real z = to_unit.xz * gradient.x + to_unit.yz * gradient.y + to_unit.zz * gradient.z;
    real length = sqrt_(x * x + y * y + z * z);
    mask has_normal = length > R(0.0);
    length = sel(has_normal, length, R(1.0));
    real facing = x / length * sun.x + y / length * sun.y + z / length * sun.z;
    return field_lit(sel(has_normal, facing, R(0.0)));
}

// ---- volumes: density is extinction per side of the unit cube ----

FN real field_march_step(real length)
{
    return R(1.0 / FIELD_MARCH_STEPS) / length;
}

FN real field_march_begin(real t, real length)
{
    return t + R(0.5 / FIELD_MARCH_STEPS) / length;
}

// The weight of a sample behind a sum of weights.
FN real field_march_weight(real alpha, real density)
{
    real step_alpha = radiance_alpha(max_(density, R(0.0)), R(1.0 / FIELD_MARCH_STEPS));
    radiance_sample s = radiance_composite(R(1.0) - alpha, step_alpha);
    return s.weight;
}

FN mask field_march_stops(real alpha)
{
    return radiance_is_opaque(R(1.0) - alpha, R(FIELD_TRANSMITTANCE_MIN));
}

// ---- pixels ----

// What a ray, or the fields so far at a pixel, show. depth: means something where alpha > 0.
STRUCT(field_pixel)
{
    real red, green, blue, alpha; // premultiplied
    real depth;
}
END_STRUCT(field_pixel)

FN field_pixel field_nothing(real depth)
{
    field_pixel p;
    p.red = p.green = p.blue = p.alpha = R(0.0);
    p.depth = depth;
    return p;
}

// A ray's sums with a sample added. depth_per_distance: 1 when depth is to be a sum of distances.
FN field_pixel field_add(field_pixel sums, real weight, real3 colour, real distance, real depth_per_distance)
{
    sums.red = radiance_add(sums.red, weight, colour.x);
    sums.green = radiance_add(sums.green, weight, colour.y);
    sums.blue = radiance_add(sums.blue, weight, colour.z);
    sums.alpha = sums.alpha + weight;
    sums.depth = radiance_add(sums.depth, weight * distance, depth_per_distance);
    return sums;
}

// From the sums of a ray, with distances as depth, to its pixel.
FN field_pixel field_resolve(field_pixel sums, real depth_per_distance)
{
    sums.depth = sums.depth / max_(sums.alpha, R(1e-20)) * depth_per_distance;
    return sums;
}

// The same of a radiance field, with depths as depth, whose faint samples were left out.
FN field_pixel field_resolve_radiance(field_pixel sums, real transmittance, real transmittance_min)
{
    real share = radiance_normalisation(sums.alpha, transmittance, transmittance_min);
    field_pixel p;
    p.red = sums.red * share;
    p.green = sums.green * share;
    p.blue = sums.blue * share;
    p.alpha = sums.alpha * share;
    p.depth = sums.depth / sel(sums.alpha > R(0.0), sums.alpha, R(1.0));
    return p;
}

FN real field_over(mask before, real drawn, real present, real left)
{
    return sel(before, drawn + left * present, present + left * drawn);
}

// A field that is drawn, in front of or behind what is present; an empty pixel is at depth infinity.
FN field_pixel field_merge(field_pixel present, field_pixel drawn)
{
    mask before = drawn.depth < present.depth;
    real front = sel(before, drawn.alpha, present.alpha), back = sel(before, present.alpha, drawn.alpha);
    real near = sel(before, drawn.depth, present.depth), far = sel(before, present.depth, drawn.depth);
    real left = R(1.0) - front, alpha = front + left * back;
    real between = (front * near + left * back * far) / sel(alpha > R(0.0), alpha, R(1.0));
    field_pixel merged;
    merged.red = field_over(before, drawn.red, present.red, left);
    merged.green = field_over(before, drawn.green, present.green, left);
    merged.blue = field_over(before, drawn.blue, present.blue, left);
    merged.alpha = field_over(before, drawn.alpha, present.alpha, left);
    merged.depth =
        sel(drawn.alpha > R(0.0), sel(and_(back > R(0.0), alpha > R(0.0)), between, near), present.depth);
    return merged;
}

#endif
