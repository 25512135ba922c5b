// Radiance fields: the mathematics of one sample along a ray. Places are in the field's space: the unit cube, or
// the cube of side 2^c around its centre when the scene has c + 1 cascades (Müller et al. 2022, appendix on
// radiance fields; compositing: Max 1995, "Optical models for direct volume rendering").
#ifndef ORR_NERF_FORMULA_H
#define ORR_NERF_FORMULA_H

#include "engine/core/formula.h"

#define NERF_MIN_STEP 0.00169145586 // sqrt(3) / 1024: 1024 steps cross the unit cube
#define NERF_GRID_SIDE 128.0        // occupancy cells per side of a cascade
#define NERF_LOG2_E 1.4426950408889634
#define NERF_NEVER 1e30f
#define NERF_SAMPLES_MAX 1024 // of one ray
#define NERF_OPEN_MIN 1e-4    // a ray with less light left is full
#define NERF_WEIGHT_MIN 1e-4  // samples that show less have no colour of their own, and no gradient
#define NERF_RAW_MAX 15.0     // the density's exponent is held within +- this
// in training
#define NERF_NEAR_DISTANCE 0.1
#define NERF_NEAR_GRADIENT 7.8125e-7f // 1e-4 / 128
#define NERF_THIN_GRADIENT 7.8125e-7f // while the occupancy grid is thinner than its threshold

// How steps grow along a ray: constant up to `knee`, then in proportion to the distance. "Stepping space" is the
// number of steps from the origin, a real number: adding 1 to it is one step.
STRUCT(nerf_stepping)
{
    uniform_real step;           // the smallest
    uniform_real steps_per_unit; // 1 / step
    uniform_real knee;           // distance where steps begin to grow; NERF_NEVER: they do not
    uniform_real knee_steps;     // in stepping space
    uniform_real per_knee;       // 1 / knee
    uniform_real octave;         // steps per doubling of the distance beyond the knee
    uniform_real per_octave;     // 1 / octave
}
END_STRUCT(nerf_stepping)

FN real nerf_steps_of(nerf_stepping k, real t)
{
    if (k.knee >= NERF_NEVER) { // of all rays of a scene
        return t * k.steps_per_unit;
    }
    real beyond = k.octave * log2_(max_(t * k.per_knee, R(1.0))) + R(k.knee_steps);
    return sel(t < R(k.knee), t * k.steps_per_unit, beyond);
}

FN real nerf_distance_of(nerf_stepping k, real steps)
{
    if (k.knee >= NERF_NEVER) {
        return steps * k.step;
    }
    // the exponent stays harmless for the lanes that take the other branch
    real power = min_(max_((steps - R(k.knee_steps)) * k.per_octave, R(0.0)), R(100.0));
    return sel(steps < R(k.knee_steps), steps * k.step, k.knee * exp2_(power));
}

// The cascade whose cells are as large as a step there, and large enough to hold the place: 0 .. last.
FN real nerf_cascade(real3 p, real step, uniform_real last)
{
    if (last < 1.0f) {
        return R(0.0);
    }
    real reach = max_(max_(abs_(p.x - R(0.5)), abs_(p.y - R(0.5))), abs_(p.z - R(0.5)));
    real by_place = exponent_(max_(reach, R(1e-6))) + R(2.0);
    real by_step = exponent_(step * R(NERF_GRID_SIDE)) + R(1.0);
    return min_(max_(max_(by_place, by_step), R(0.0)), R(last));
}

// From a place to cells of its cascade, 0 .. 128 per axis; scale = 2^-cascade.
FN real3 nerf_cell(real3 p, real scale)
{
    real3 cell;
    real last = R(NERF_GRID_SIDE - 1.0);
    cell.x = min_(max_(floor_(((p.x - R(0.5)) * scale + R(0.5)) * R(NERF_GRID_SIDE)), R(0.0)), last);
    cell.y = min_(max_(floor_(((p.y - R(0.5)) * scale + R(0.5)) * R(NERF_GRID_SIDE)), R(0.0)), last);
    cell.z = min_(max_(floor_(((p.z - R(0.5)) * scale + R(0.5)) * R(NERF_GRID_SIDE)), R(0.0)), last);
    return cell;
}

FN real nerf_exit_axis(real p, real per_direction, real size)
{
    real low = floor_(p / size) * size;
    real wall = sel(per_direction > R(0.0), low + size, low);
    return (wall - p) * per_direction;
}

// Distance to where a ray leaves the cube of side `size` (of a lattice through the centre) that holds p.
FN real nerf_exit(real3 p, real3 per_direction, real size)
{
    real x = nerf_exit_axis(p.x - R(0.5), per_direction.x, size);
    real y = nerf_exit_axis(p.y - R(0.5), per_direction.y, size);
    real z = nerf_exit_axis(p.z - R(0.5), per_direction.z, size);
    return max_(min_(min_(x, y), z), R(0.0));
}

// The first step after leaving at `distance`: whole steps, so that samples stay where the ray's start put them.
FN real nerf_skip(nerf_stepping k, real steps, real distance)
{
    real gap = nerf_steps_of(k, distance) - steps;
    return steps + max_(-floor_(-gap), R(1.0));
}

// Where a ray is while it is marched, and the cell of the occupancy grid that says whether anything is there.
STRUCT(nerf_place)
{
    real3 position;
    real step;    // to the next sample
    real cascade; // and the cell in it
    real3 cell;
}
END_STRUCT(nerf_place)

FN nerf_place nerf_look(nerf_stepping k, real3 origin, real3 direction, real steps, real distance,
                        uniform_real last_cascade)
{
    nerf_place place;
    place.step = nerf_distance_of(k, steps + R(1.0)) - distance;
    place.position = make_real3(fma_(direction.x, distance, origin.x), fma_(direction.y, distance, origin.y),
                                fma_(direction.z, distance, origin.z));
    place.cascade = nerf_cascade(place.position, place.step, last_cascade);
    place.cell = nerf_cell(place.position, exp2_whole_(-place.cascade));
    return place;
}

// Where to look next when there is nothing in the cell, and perhaps nothing in its block of 8^3.
FN real nerf_pass(nerf_stepping k, nerf_place place, real3 per_direction, real steps, real distance,
                  mask in_block)
{
    real size = exp2_whole_(place.cascade) * sel(in_block, R(1.0 / NERF_GRID_SIDE), R(8.0 / NERF_GRID_SIDE));
    return nerf_skip(k, steps, distance + nerf_exit(place.position, per_direction, size));
}

// Seven bits, each followed by two zeros; a cell is the sum of its three, shifted (Morton order).
FN suint nerf_spread(suint v)
{
    v = (v | v << 8) & U(0x0300F00Fu);
    v = (v | v << 4) & U(0x030C30C3u);
    return (v | v << 2) & U(0x09249249u);
}

FN suint nerf_cell_number(nerf_place place)
{
    return nerf_spread(to_uint(place.cell.x)) | nerf_spread(to_uint(place.cell.y)) << 1 |
           nerf_spread(to_uint(place.cell.z)) << 2 | to_uint(place.cascade) << 21;
}

// To the cube the encoding knows: 0 .. 1 per axis; scale = 1 / aabb_scale.
FN real3 nerf_contract(real3 p, uniform_real scale)
{
    return make_real3((p.x - R(0.5)) * scale + R(0.5), (p.y - R(0.5)) * scale + R(0.5),
                      (p.z - R(0.5)) * scale + R(0.5));
}

FN real nerf_density(real raw)
{
    real held = min_(max_(raw, R(-NERF_RAW_MAX)), R(NERF_RAW_MAX));
    return exp2_(held * R(NERF_LOG2_E));
}

// What share of the light a step of this length holds back.
FN real nerf_alpha(real density, real step)
{
    return R(1.0) - exp2_(density * step * R(-NERF_LOG2_E));
}

// What a ray's colours are multiplied by in the end: those too faint for a colour of their own, and the light a full ray had
// left, take that of the rest. weight: sum of the rest's.
FN real nerf_fill(real weight, real open, uniform_real open_min)
{
    real alpha = sel(open < R(open_min), R(1.0), R(1.0) - open);
    return sel(weight > R(0.0), alpha / max_(weight, R(1e-30)), R(0.0));
}

FN real nerf_colour(real raw)
{
    real held = min_(max_(raw, R(-NERF_RAW_MAX)), R(NERF_RAW_MAX));
    return R(1.0) / (R(1.0) + exp2_(held * R(-NERF_LOG2_E)));
}

// ---- back: from d loss / d a channel of the ray's colour ----

// By the raw colour of a sample: through its weight and the sigmoid.
FN real nerf_colour_gradient(real gradient, real weight, real colour)
{
    return gradient * weight * colour * (R(1.0) - colour);
}

// By the sample's density, summed over channels. open: what is left behind the sample; behind: the light from there.
FN real nerf_density_gradient(real gradient, real step, real open, real colour, real behind)
{
    return gradient * step * (open * colour - behind);
}

// By the raw density, from that by the density. thin_gradient lifts what is below 0, so that a thin field does not die;
// near_gradient lowers what is right before a camera, where nobody else looks.
FN real nerf_raw_gradient(real raw, real gradient, real distance, real thin_gradient, real near_gradient)
{
    real by_raw = sel(abs_(raw) < R(NERF_RAW_MAX), gradient * nerf_density(raw), R(0.0));
    by_raw = by_raw - sel(raw < R(0.0), thin_gradient, R(0.0));
    return by_raw + sel(and_(raw > R(-10.0), distance < R(NERF_NEAR_DISTANCE)), near_gradient, R(0.0));
}

#endif
