// Marching a ray through an occupancy grid. Positions are in the field's space: the unit cube, or the cube of
// side 2^c around its centre when the scene has c + 1 cascades (Müller et al. 2022, appendix on radiance
// fields).
#ifndef ORR_MARCH_FORMULA_H
#define ORR_MARCH_FORMULA_H

#include "neural/capture/ray_formula.h"
#include "neural/fields/occupancy_formula.h"

#define MARCH_NO_KNEE 1e30f
#define MARCH_SAMPLES_MAX 1024 // of one ray

// How steps grow along a ray: constant up to `knee`, then in proportion to the distance. "Stepping space" is
// the number of steps from the origin, a real number: adding 1 to it is one step.
STRUCT(march_stepping)
{
    uniform_real step;           // the smallest
    uniform_real steps_per_unit; // 1 / step
    uniform_real knee;           // distance where steps begin to grow; MARCH_NO_KNEE: they do not
    uniform_real knee_steps;     // in stepping space
    uniform_real per_knee;       // 1 / knee
    uniform_real octave;         // steps per doubling of the distance beyond the knee
    uniform_real per_octave;     // 1 / octave
}
END_STRUCT(march_stepping)

FN real march_steps(march_stepping k, real distance)
{
    if (k.knee >= MARCH_NO_KNEE) { // of all rays of a scene
        return distance * k.steps_per_unit;
    }
    real beyond = k.octave * log2_(max_(distance * k.per_knee, R(1.0))) + R(k.knee_steps);
    return sel(distance < R(k.knee), distance * k.steps_per_unit, beyond);
}

FN real march_distance(march_stepping k, real steps)
{
    if (k.knee >= MARCH_NO_KNEE) {
        return steps * k.step;
    }
    // the exponent stays harmless for the lanes that take the other branch
    real power = min_(max_((steps - R(k.knee_steps)) * k.per_octave, R(0.0)), R(100.0));
    return sel(steps < R(k.knee_steps), steps * k.step, k.knee * exp2_(power));
}

// The first sample of a ray that enters at distance `start`, `jitter` (0 .. 1) steps behind it, in stepping
// space.
FN real march_begin(march_stepping k, real start, real jitter)
{
    return march_steps(k, start) + jitter;
}

// The distances between which a ray is inside the cube of side aabb_scale; empty: x >= y.
FN real2 march_range(real3 origin, real3 direction, uniform_real aabb_scale)
{
    return ray_inside(make_real2(R(0.0), R(1e30)), origin, direction, 0.5f * aabb_scale);
}

// 1 / direction, finite
FN real3 march_reciprocal(real3 direction)
{
    return make_real3(R(1.0) / ray_divisor(direction.x), R(1.0) / ray_divisor(direction.y),
                      R(1.0) / ray_divisor(direction.z));
}

// A point of a ray, and the cell of the occupancy grid that contains it.
STRUCT(march_point)
{
    real3 position;
    real step;    // to the next sample
    real cascade; // and the cell in it
    real3 cell;
}
END_STRUCT(march_point)

FN march_point march_locate(march_stepping k, real3 origin, real3 direction, real steps, real distance,
                            uniform_real last_cascade)
{
    march_point point;
    point.step = march_distance(k, steps + R(1.0)) - distance;
    point.position = make_real3(fma_(direction.x, distance, origin.x), fma_(direction.y, distance, origin.y),
                                fma_(direction.z, distance, origin.z));
    point.cascade = occupancy_cascade(point.position, point.step, last_cascade);
    point.cell = occupancy_cell(point.position, exp2_whole_(-point.cascade));
    return point;
}

FN suint march_cell(march_point point)
{
    return occupancy_index(point.cell, point.cascade);
}

// ---- over empty space ----

FN real march_exit_axis(real p, real per_direction, real size)
{
    real low = floor_(p / size) * size;
    real wall = sel(per_direction > R(0.0), low + size, low);
    return (wall - p) * per_direction;
}

// Distance to where a ray leaves the cube of side `size` (of a lattice through the centre) that contains p.
FN real march_exit(real3 p, real3 reciprocal, real size)
{
    real x = march_exit_axis(p.x - R(0.5), reciprocal.x, size);
    real y = march_exit_axis(p.y - R(0.5), reciprocal.y, size);
    real z = march_exit_axis(p.z - R(0.5), reciprocal.z, size);
    return max_(min_(min_(x, y), z), R(0.0));
}

// The first sample behind a distance: whole steps, so that samples stay where the ray's start put them.
FN real march_skip(march_stepping k, real steps, real distance)
{
    real gap = march_steps(k, distance) - steps;
    return steps + max_(-floor_(-gap), R(1.0));
}

// The next sample when there is nothing in the point's cell, and (block_occupied: false) nothing in its block
// of 8^3.
FN real march_skip_cell(march_stepping k, march_point point, real3 reciprocal, real steps, real distance,
                        mask block_occupied)
{
    real cells = sel(block_occupied, R(1.0 / OCCUPANCY_SIDE), R(8.0 / OCCUPANCY_SIDE));
    real exit = march_exit(point.position, reciprocal, exp2_whole_(point.cascade) * cells);
    return march_skip(k, steps, distance + exit);
}

// To the cube that the encoding covers: 0 .. 1 per axis; scale = 1 / aabb_scale.
FN real3 march_encoding_position(real3 p, uniform_real scale)
{
    return make_real3((p.x - R(0.5)) * scale + R(0.5), (p.y - R(0.5)) * scale + R(0.5),
                      (p.z - R(0.5)) * scale + R(0.5));
}

#endif
