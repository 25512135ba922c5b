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

FN haze_ray haze_ray_about(haze_view v, real x, real y, uniform_real up_x, uniform_real up_y,
                           uniform_real up_z)
{
    real3 up = make_real3(R(up_x), R(up_y), R(up_z));
    real3 towards = make_real3((x - R(v.centre_x)) * R(v.inverse_focal_x),
                               (y - R(v.centre_y)) * R(v.inverse_focal_y), R(1.0));
    haze_ray r;
    r.down = -dot3(towards, up);
    r.away = max_(length3(add_scaled3(towards, up, r.down)), R(1e-20));
    return r;
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

FN real3 haze_fog(haze_view v, real3 colour, real depth)
{
    if (v.fog_inverse_width > 0.0f) {
        real share = min_(max_((depth - R(v.fog_start)) * R(v.fog_inverse_width), R(0.0)), R(1.0));
        colour = make_real3(fma_(share, R(v.fog_red) - colour.x, colour.x),
                            fma_(share, R(v.fog_green) - colour.y, colour.y),
                            fma_(share, R(v.fog_blue) - colour.z, colour.z));
    }
    return colour;
}

// A display colour behind the veil, where a ray falls so far below the horizon.
FN real3 haze_veil(haze_view v, real3 seen, haze_ray ray, real fall, real depth, uniform_real backdrop)
{
    real weight = haze_weight(v, fall), veil_depth = haze_distance(v, fall, weight) / ray.away;
    if (backdrop < 0.5f) { // the veil is inside the sky
        weight = sel(depth > veil_depth, weight, R(0.0));
    }
    real3 veil = haze_fog(v, make_real3(R(v.red), R(v.green), R(v.blue)), veil_depth);
    return add_scaled3(seen, sub3(veil, seen), weight);
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
        real fall = haze_fall(v, ray);
        if (some_(R(1.0 - v.part) * fall < R(1.0))) { // nearer than the veil begins, its weight is 0
            seen = haze_veil(v, seen, ray, fall, depth, backdrop);
        }
    }
    return seen;
}

#endif
