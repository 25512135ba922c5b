// The air on the way of a path from the camera: up to its first surface, and beyond that where it goes on by
// glass or a mirror (haze_formula.h).
#pragma once

#include "render/reference/air.h"
#include "render/reference/surfaces.h"

typedef struct air_view {
    haze_view haze;
    const float *view; // 3 x 4: from the world into the camera's space
} air_view;

// A ray in the camera's space.
typedef struct air_ray {
    real3 from, towards; // a unit vector
} air_ray;

// What is beyond the first surface of a path.
typedef struct air_way {
    int group;          // AIR_SEEN: no air
    haze_path at;       // that air has been before
    haze_air air;       // up to there
    real3 share;        // what of light from there reaches the eye, as if there were no air
    real3 light_before; // that reaches it from nearer
} air_way;

// Is there haze or fog?
bool air_is_there(haze_view v);
air_ray air_ray_of(const air_view *v, const orr_ray *ray);
// Up to the first surface, where the ray ends. along: depth for each unit of length
haze_air air_up_to(const air_view *v, const orr_ray *ray, real along);

// first: the surface where it begins, in the world's space
air_way air_way_from(const air_view *v, real3 first);
// Do endless planes end on this ray, because haze covers them?
bool air_way_ends(const air_view *v, const air_way *way, const air_ray *ray);
// Goes on along a ray. length: INFINITY, where it meets nothing
void air_way_on(const air_view *v, air_way *way, const air_ray *ray, real length);

// Divides the light of a path: what is not behind air is added to *clear. first: the air up to the first
// surface; part: what splats and fields let through
air_sample air_split(haze_air first, const air_way *way, real3 light, real part, real3 *clear);
