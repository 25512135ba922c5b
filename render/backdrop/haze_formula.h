// Haze and fog, as MuJoCo draws them. One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
//
// An endless plane ends at a distance, the reach R, around the camera's foot on it. Haze is a veil before
// that end: a ring of the plane at R (1 - part), where it begins; a ring at R / (1 + part), which is seen
// exactly where the plane ends and covers all; and a ring at R and the camera's height, the horizon, where it
// has faded. Between the rings it is straight, and so is its weight. Fog grows with the depth along the
// camera's axis. Both mix display colours.
#ifndef ORR_HAZE_FORMULA_H
#define ORR_HAZE_FORMULA_H

#include "engine/maths/vector_formula.h"

STRUCT(haze_view)
{
    uniform_real inverse_focal_x, inverse_focal_y; // 0: orthographic, where fog alone is drawn
    uniform_real centre_x, centre_y;
    uniform_real up_x, up_y, up_z;  // the plane's normal in the camera's space, unit, towards the camera
    uniform_real reach_over_height; // the reach by the camera's height above the plane; 0: there is no haze
    uniform_real reach;
    uniform_real part; // of the reach that is hazy, > 0
    uniform_real red, green, blue;
    uniform_real fog_start;         // depth
    uniform_real fog_inverse_width; // 1 / the depth over which fog becomes dense; 0: there is no fog
    uniform_real fog_red, fog_green, fog_blue;
    uniform_real sky_x, sky_y, sky_z; // up, in the camera's space, unit
    uniform_real sky_distance;        // of the backdrop, for fog
}
END_STRUCT(haze_view)

// What a point of the picture [px] looks at, for each unit of depth: across an axis, and against it.
STRUCT(haze_ray)
{
    real away, down;
}
END_STRUCT(haze_ray)

// The same for each unit of a direction.
FN haze_ray haze_ray_towards(real3 towards, real3 up)
{
    haze_ray r;
    r.down = -dot3(towards, up);
    r.away = max_(length3(add_scaled3(towards, up, r.down)), R(1e-20));
    return r;
}

FN haze_ray haze_ray_about(haze_view v, real x, real y, uniform_real up_x, uniform_real up_y,
                           uniform_real up_z)
{
    real3 towards = make_real3((x - R(v.centre_x)) * R(v.inverse_focal_x),
                               (y - R(v.centre_y)) * R(v.inverse_focal_y), R(1.0));
    return haze_ray_towards(towards, make_real3(R(up_x), R(up_y), R(up_z)));
}

// Not from a surface's point: those of triangles as large as an endless plane are off by more than the camera
// may be above it.
FN haze_ray haze_ray_through(haze_view v, real x, real y)
{
    return haze_ray_about(v, x, y, v.up_x, v.up_y, v.up_z);
}

// The depth of the sky: a cylinder around the camera, closed at both ends, as far away as high.
FN real haze_sky_depth(haze_view v, real x, real y)
{
    haze_ray r = haze_ray_about(v, x, y, v.sky_x, v.sky_y, v.sky_z);
    return R(v.sky_distance) / max_(r.away, abs_(r.down));
}

// How far below the horizon a ray goes: 0 at or above it, 1 where the plane ends.
FN real haze_fall(haze_view v, haze_ray r)
{
    return max_(R(v.reach_over_height) * r.down / r.away, R(0.0));
}

// Is an endless plane there, at a point of the picture [px]?
FN mask haze_leaves(haze_view v, real x, real y)
{
    return haze_fall(v, haze_ray_through(v, x, y)) >= R(1.0);
}

// How dense the veil is where points fall so far below the horizon.
FN real haze_weight(haze_view v, real fall)
{
    real part = R(v.part), beyond = R(1.0) + part * fall;
    real far_side = fall / beyond, near_side = (R(1.0) - (R(1.0) - part) * fall) / (part * beyond);
    return (R(1.0) + part) * sel(fall < R(1.0), far_side, max_(near_side, R(0.0)));
}

// The veil's distance from the camera, along the plane, where it is that dense.
FN real haze_distance(haze_view v, real fall, real weight)
{
    real middle = R(1.0 / (1.0 + v.part));
    real rim = sel(fall < R(1.0), R(1.0), R(1.0) - R(v.part));
    return R(v.reach) * fma_(R(1.0) - weight, rim - middle, middle);
}

// The part of what is seen at a depth that is fog.
FN real haze_fog_share(haze_view v, real depth)
{
    return min_(max_((depth - R(v.fog_start)) * R(v.fog_inverse_width), R(0.0)), R(1.0));
}

FN real3 haze_fog(haze_view v, real3 colour, real depth)
{
    if (v.fog_inverse_width > 0.0f) {
        real share = haze_fog_share(v, depth);
        colour = make_real3(fma_(share, R(v.fog_red) - colour.x, colour.x),
                            fma_(share, R(v.fog_green) - colour.y, colour.y),
                            fma_(share, R(v.fog_blue) - colour.z, colour.z));
    }
    return colour;
}

// What is seen of a surface's display colour at a point of the picture [px], at a depth along the camera's
// axis. backdrop: 1: it is the sky, and has no depth of its own
FN real3 haze_over(haze_view v, real3 colour, real x, real y, real depth, uniform_real backdrop)
{
    if (backdrop > 0.5f) {
        depth = haze_sky_depth(v, x, y);
    }
    real3 seen = haze_fog(v, colour, depth);
    if (v.reach_over_height > 0.0f) {
        haze_ray ray = haze_ray_through(v, x, y);
        real fall = haze_fall(v, ray), weight = haze_weight(v, fall);
        real veil_depth = haze_distance(v, fall, weight) / ray.away;
        if (backdrop < 0.5f) { // the veil is inside the sky
            weight = sel(depth > veil_depth, weight, R(0.0));
        }
        real3 veil = haze_fog(v, make_real3(R(v.red), R(v.green), R(v.blue)), veil_depth);
        seen = add_scaled3(seen, sub3(veil, seen), weight);
    }
    return seen;
}

// ---- paths that mirrors and glass bend ----

// How far a path has come. Air along it is as dense as if it were straight: a flat mirror shows what a camera
// behind it would see, and what is behind a pane is as hazy as without it.
STRUCT(haze_path)
{
    real depth; // along the camera's axis
    real way;   // along the plane
    real axis;  // depth for each unit of length
}
END_STRUCT(haze_path)

// What is between two points of a path.
STRUCT(haze_air)
{
    real passes; // the part of a display colour behind it that is seen
    real3 added; // to that
}
END_STRUCT(haze_air)

FN real3 haze_up(haze_view v)
{
    return make_real3(R(v.up_x), R(v.up_y), R(v.up_z));
}

// Up to a point that the camera sees. position: camera space
FN haze_path haze_path_to(haze_view v, real3 position)
{
    real3 up = haze_up(v);
    haze_path p;
    p.depth = position.z;
    p.way = length3(add_scaled3(position, up, -dot3(position, up)));
    p.axis = v.inverse_focal_x > 0.0f ? position.z / max_(length3(position), R(1e-20)) : R(1.0);
    return p;
}

// direction: unit
FN haze_path haze_path_on(haze_view v, haze_path p, real3 direction, real length)
{
    p.depth = fma_(p.axis, length, p.depth);
    p.way = fma_(haze_ray_towards(direction, haze_up(v)).away, length, p.way);
    return p;
}

// haze_fall of a path that goes on from a point of the camera's space.
FN real haze_path_fall(haze_view v, haze_path p, real3 position, haze_ray r)
{
    if (!(v.reach_over_height > 0.0f)) {
        return R(0.0);
    }
    real height = R(v.reach / v.reach_over_height) + dot3(position, haze_up(v));
    real down = max_(r.down, R(0.0)), meets = fma_(p.way, down, max_(height, R(0.0)) * r.away);
    return R(v.reach) * down / max_(meets, R(1e-20));
}

// Is an endless plane there, where a path meets it?
FN mask haze_path_leaves(haze_view v, haze_path p, real3 position, real3 direction)
{
    haze_ray r = haze_ray_towards(direction, haze_up(v));
    return or_(haze_path_fall(v, p, position, r) >= R(1.0), r.down <= R(0.0));
}

// The part of what fog has left of a path that it takes up to a depth.
FN real haze_fog_further(haze_view v, real from, real to)
{
    if (!(v.fog_inverse_width > 0.0f)) {
        return R(0.0);
    }
    real before = haze_fog_share(v, from);
    return max_(haze_fog_share(v, to) - before, R(0.0)) / max_(R(1.0) - before, R(1e-6));
}

FN real3 haze_mix(real3 colour, real share, real3 other)
{
    return add_scaled3(colour, sub3(other, colour), share);
}

// The air on a piece of a path: up to a surface, or where `sky`, up to the sky. direction: unit
FN haze_air haze_along(haze_view v, haze_path p, real3 position, real3 direction, real length, mask sky)
{
    real3 fog = make_real3(R(v.fog_red), R(v.fog_green), R(v.fog_blue));
    haze_ray above = haze_ray_towards(direction, make_real3(R(v.sky_x), R(v.sky_y), R(v.sky_z)));
    real sky_depth = R(v.sky_distance) * p.axis / max_(above.away, abs_(above.down)); // 0: it has no fog
    real fogged = haze_fog_further(v, p.depth, sel(sky, sky_depth, fma_(p.axis, length, p.depth)));
    haze_air air;
    air.passes = R(1.0) - fogged;
    air.added = scale3(fog, fogged);
    if (v.reach_over_height > 0.0f) {
        haze_ray ray = haze_ray_towards(direction, haze_up(v));
        real fall = haze_path_fall(v, p, position, ray), weight = haze_weight(v, fall);
        real along = (haze_distance(v, fall, weight) - p.way) / ray.away;
        weight = sel(and_(along > R(0.0), or_(sky, along < length)), weight, R(0.0));
        real3 veil = haze_mix(make_real3(R(v.red), R(v.green), R(v.blue)),
                              haze_fog_further(v, p.depth, fma_(p.axis, along, p.depth)), fog);
        air.added = haze_mix(air.added, weight, veil);
        air.passes = air.passes * (R(1.0) - weight);
    }
    return air;
}

FN real3 haze_behind(haze_air air, real3 colour)
{
    return add3(scale3(colour, air.passes), air.added);
}

#endif
