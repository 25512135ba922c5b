// Light that arrives from around a point: an environment that is infinitely far away, or a probe, which is
// what a captured world shows from one point. Diffuse light by spherical harmonics of degree 2 (Ramamoorthi
// and Hanrahan 2001); highlights from maps blurred for a few roughnesses (Karis 2013), in octahedral
// coordinates (Cigolle et al. 2014), with the directions of a probe corrected by a box (Lagarde and
// Zanuttini 2012). One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_ENVIRONMENT_FORMULA_H
#define ORR_ENVIRONMENT_FORMULA_H

#include "engine/maths/vector_formula.h"

#define ENVIRONMENT_LEVELS 6      // blurred maps, of roughnesses 1/6 .. 1, behind the sharp one
#define ENVIRONMENT_EXPONENT 24.0 // bias of the texels' exponents, with 9 bits of fraction

// A map, seen from the camera's space.
STRUCT(environment_view)
{
    affine to_map;                             // to the map's own space, whose origin is its centre
    uniform_real low_x, low_y, low_z;          // box around the centre that a probe's surfaces are taken for;
    uniform_real high_x, high_y, high_z;       // empty (low_x = high_x): infinitely far away
    uniform_real strength;                     // factor of the texels
    uniform_real first;                        // texel: the sharp map, then the blurred ones, all with a
    uniform_real sharp, rough;                 // border of 1; texels a side without it
    uniform_real diffuse_strength;             // factor of the harmonics
    uniform_real points_x, points_y, points_z; // along the axes, of the grid that meshes light; 0: there is
                                               // none. Its texels are behind the maps
    uniform_real grid_x, grid_y, grid_z;       // the first point, in the map's space
    uniform_real step_x, step_y, step_z;       // from one point to the next
    uniform_real grid_offset;                  // by which its texels are too bright
    uniform_real red[9], green[9], blue[9];    // harmonics of what a white matte surface reflects
}
END_STRUCT(environment_view)

// ---- octahedral coordinates ----

FN real environment_sign(real a)
{
    return sel(a < R(0.0), R(-1.0), R(1.0));
}

// The part of the octahedron below z = 0 turned inside out, or back.
FN real2 environment_fold(real x, real y)
{
    return make_real2((R(1.0) - abs_(y)) * environment_sign(x), (R(1.0) - abs_(x)) * environment_sign(y));
}

// A direction, not zero, to -1 .. 1.
FN real2 environment_flatten(real3 d)
{
    real inverse = R(1.0) / max_(abs_(d.x) + abs_(d.y) + abs_(d.z), R(1e-30));
    real x = d.x * inverse, y = d.y * inverse;
    real2 folded = environment_fold(x, y);
    mask below = d.z < R(0.0);
    return make_real2(sel(below, folded.x, x), sel(below, folded.y, y));
}

// The same backwards: a direction, not of length 1.
FN real3 environment_unflatten(real2 p)
{
    real z = R(1.0) - abs_(p.x) - abs_(p.y);
    real2 folded = environment_fold(p.x, p.y);
    mask below = z < R(0.0);
    return make_real3(sel(below, folded.x, p.x), sel(below, folded.y, p.y), z);
}

// ---- lookups ----

// Four texels around a point of one map: first, first + 1, first + stride and first + stride + 1.
STRUCT(environment_square)
{
    real first, stride;
    real right, down; // 0 .. 1: how far the point is from the first
}
END_STRUCT(environment_square)

// p: of environment_flatten. first: texel at which the map begins; sides with their borders are exact as
// floats up to 4000
FN environment_square environment_find(real2 p, real first, real side)
{
    real x = fma_(p.x + R(1.0), R(0.5) * side, R(0.5)), y = fma_(p.y + R(1.0), R(0.5) * side, R(0.5));
    x = min_(max_(x, R(0.0)), side + R(0.5)); // not a number becomes 0
    y = min_(max_(y, R(0.0)), side + R(0.5));
    real left = floor_(x), top = floor_(y);
    environment_square s;
    s.stride = side + R(2.0);
    s.first = first + fma_(top, s.stride, left);
    s.right = x - left;
    s.down = y - top;
    return s;
}

// The maps of the next smoother and the next rougher level, and the part of the latter.
STRUCT(environment_place)
{
    environment_square fine, coarse;
    real part;
}
END_STRUCT(environment_place)

FN real environment_texels(real side)
{
    return (side + R(2.0)) * (side + R(2.0));
}

// towards: in the map's space
FN environment_place environment_find_levels(environment_view v, real3 towards, real roughness)
{
    real level = min_(max_(roughness, R(0.0)), R(1.0)) * R(ENVIRONMENT_LEVELS);
    real whole = min_(floor_(level), R(ENVIRONMENT_LEVELS - 1));
    real blurred = R(v.first) + environment_texels(R(v.sharp)), each = environment_texels(R(v.rough));
    mask sharp = whole < R(0.5);
    real2 p = environment_flatten(towards);
    environment_place place;
    place.fine = environment_find(p, sel(sharp, R(v.first), fma_(whole - R(1.0), each, blurred)),
                                  sel(sharp, R(v.sharp), R(v.rough)));
    place.coarse = environment_find(p, fma_(whole, each, blurred), R(v.rough));
    place.part = level - whole;
    return place;
}

// A texel's radiance: fractions of 9 bits with one exponent.
FN real3 environment_decode(real red, real green, real blue, real exponent)
{
    return scale3(make_real3(red, green, blue), exp2_whole_(exponent - R(ENVIRONMENT_EXPONENT)));
}

FN real3 environment_mix(real3 a, real3 b, real part)
{
    return add_scaled3(a, sub3(b, a), part);
}

// ---- directions ----

// How far a ray from within the box goes along one axis before it leaves.
FN real environment_leave(real from, real direction, real low, real high)
{
    real end = sel(direction < R(0.0), low, high);
    real speed = max_(abs_(direction), R(1e-6));
    return max_(abs_(end - from), R(0.0)) / speed;
}

// What a point sees in a direction, both in the camera's space: the direction in which the map has it.
FN real3 environment_towards(environment_view v, real3 position, real3 direction)
{
    real3 d = affine_direction(v.to_map, direction);
    if (v.low_x < v.high_x) {
        real3 p = affine_point(v.to_map, position);
        p = make_real3(min_(max_(p.x, R(v.low_x)), R(v.high_x)), min_(max_(p.y, R(v.low_y)), R(v.high_y)),
                       min_(max_(p.z, R(v.low_z)), R(v.high_z)));
        real t = min_(environment_leave(p.x, d.x, R(v.low_x), R(v.high_x)),
                      min_(environment_leave(p.y, d.y, R(v.low_y), R(v.high_y)),
                           environment_leave(p.z, d.z, R(v.low_z), R(v.high_z))));
        d = add_scaled3(p, d, t);
    }
    return d;
}

// The direction from which most of the light comes that the eye sees mirrored: from the mirror image of the
// eye for smooth surfaces, from closer to the normal for rough ones (Lagarde and de Rousiers 2014). Unit
// vectors; the result is not of length 1.
FN real3 environment_mirror(real3 normal, real3 to_eye, real roughness)
{
    real3 mirror = sub3(scale3(normal, R(2.0) * dot3(normal, to_eye)), to_eye);
    real alpha = roughness * roughness, smooth_ = max_(R(1.0) - alpha, R(0.0));
    return environment_mix(normal, mirror, smooth_ * (sqrt_(smooth_) + alpha));
}

// ---- diffuse light ----

FN real environment_sum(real3 n, uniform_real h0, uniform_real h1, uniform_real h2, uniform_real h3,
                        uniform_real h4, uniform_real h5, uniform_real h6, uniform_real h7, uniform_real h8)
{
    real sum = fma_(n.y, R(h1), fma_(n.z, R(h2), fma_(n.x, R(h3), R(h0))));
    sum = fma_(n.x * n.y, R(h4), fma_(n.y * n.z, R(h5), sum));
    sum = fma_(fma_(R(3.0) * n.z, n.z, R(-1.0)), R(h6), fma_(n.x * n.z, R(h7), sum));
    return max_(fma_(n.x * n.x - n.y * n.y, R(h8), sum), R(0.0));
}

// What a white matte surface reflects. normal: unit, in the camera's space
FN real3 environment_diffuse(environment_view v, real3 normal)
{
    real3 n = affine_direction(v.to_map, normal);
    real3 sum = make_real3(environment_sum(n, v.red[0], v.red[1], v.red[2], v.red[3], v.red[4], v.red[5],
                                           v.red[6], v.red[7], v.red[8]),
                           environment_sum(n, v.green[0], v.green[1], v.green[2], v.green[3], v.green[4],
                                           v.green[5], v.green[6], v.green[7], v.green[8]),
                           environment_sum(n, v.blue[0], v.blue[1], v.blue[2], v.blue[3], v.blue[4],
                                           v.blue[5], v.blue[6], v.blue[7], v.blue[8]));
    return scale3(sum, R(v.diffuse_strength));
}

// ---- the grid ----
//
// What meshes add to the diffuse light around points of a grid, or keep off it: at each point what white
// matte surfaces reflect that face along the six half axes (the ambient cube of McTaggart 2004), mixed by the
// squares of a normal. A surface looks half a step in front of itself, and from no point behind it, so that
// it is not lit by what its own back sees.

STRUCT(environment_cell)
{
    real3 first;    // number of its first point along the axes
    real3 part;     // 0 .. 1: where in the cell the surface looks
    real3 normal;   // in the map's space
    real3 squares;  // of the normal
    real3 lower;    // 1 where the normal points to lower values, else 0
    real per_depth; // 1 / the cell's extent along the normal
}
END_STRUCT(environment_cell)

// Along one axis: where half a step ahead of the point is, counted in points.
FN real environment_find_on_axis(real at, real ahead, uniform_real low, uniform_real step,
                                 uniform_real points)
{
    real x = (at + ahead - R(low)) * (R(1.0) / R(step));
    return min_(max_(x, R(0.0)), R(points) - R(1.001)); // not a number becomes 0
}

// position, normal (unit): in the camera's space
FN environment_cell environment_find_cell(environment_view v, real3 position, real3 normal)
{
    real3 p = affine_point(v.to_map, position), n = affine_direction(v.to_map, normal);
    real depth = abs_(n.x) * R(v.step_x) + abs_(n.y) * R(v.step_y) + abs_(n.z) * R(v.step_z);
    real half_step = R(0.5) * depth;
    real x = environment_find_on_axis(p.x, half_step * n.x, v.grid_x, v.step_x, v.points_x);
    real y = environment_find_on_axis(p.y, half_step * n.y, v.grid_y, v.step_y, v.points_y);
    real z = environment_find_on_axis(p.z, half_step * n.z, v.grid_z, v.step_z, v.points_z);
    environment_cell c;
    c.first = make_real3(floor_(x), floor_(y), floor_(z));
    c.part = sub3(make_real3(x, y, z), c.first);
    c.normal = n;
    c.squares = times3(n, n);
    c.lower = make_real3(sel(n.x < R(0.0), R(1.0), R(0.0)), sel(n.y < R(0.0), R(1.0), R(0.0)),
                         sel(n.z < R(0.0), R(1.0), R(0.0)));
    c.per_depth = R(1.0) / max_(depth, R(1e-30));
    return c;
}

// One of the eight points of the cell.
STRUCT(environment_corner)
{
    real x, y, z; // texels: those of its six that the normal is between
    real weight;
}
END_STRUCT(environment_corner)

FN real environment_corner_weight(real part, uniform_real high)
{
    return R(high) * part + (R(1.0) - R(high)) * (R(1.0) - part);
}

// x, y, z: 0 of the cell's first point along the axis, 1 of the next
FN environment_corner environment_corner_of(environment_view v, environment_cell c, uniform_real x,
                                            uniform_real y, uniform_real z)
{
    real3 away = make_real3((R(x) - c.part.x) * R(v.step_x), (R(y) - c.part.y) * R(v.step_y),
                            (R(z) - c.part.z) * R(v.step_z));
    real ahead = fma_(dot3(away, c.normal), c.per_depth, R(0.5)); // of the surface; the mean of all is 0.5
    real number = fma_(c.first.z + R(z), R(v.points_y), c.first.y + R(y));
    number = fma_(number, R(v.points_x), c.first.x + R(x));
    real first = R(v.first) + environment_texels(R(v.sharp)) +
                 fma_(R(ENVIRONMENT_LEVELS), environment_texels(R(v.rough)), R(6.0) * number);
    environment_corner k;
    k.x = first + c.lower.x;
    k.y = first + R(2.0) + c.lower.y;
    k.z = first + R(4.0) + c.lower.z;
    k.weight = environment_corner_weight(c.part.x, x) * environment_corner_weight(c.part.y, y) *
               environment_corner_weight(c.part.z, z) * min_(max_(R(2.0) * ahead, R(0.0)), R(1.0));
    return k;
}

// Adds a corner, whose three texels have been looked up.
FN real3 environment_add_corner(real3 sum, environment_cell c, environment_corner k, real3 x, real3 y,
                                real3 z)
{
    sum = add_scaled3(sum, x, k.weight * c.squares.x);
    sum = add_scaled3(sum, y, k.weight * c.squares.y);
    return add_scaled3(sum, z, k.weight * c.squares.z);
}

// What a white matte surface reflects: diffuse light, and the sum of the corners' light by their weights.
FN real3 environment_with_grid(environment_view v, real3 diffuse, real3 sum, real weights)
{
    real3 light = add_scaled3(diffuse, sum, R(1.0) / max_(weights, R(1e-6)));
    real offset = R(v.grid_offset);
    return make_real3(max_(light.x - offset, R(0.0)), max_(light.y - offset, R(0.0)),
                      max_(light.z - offset, R(0.0)));
}

#endif
