// A path of the path tracer, and what it needs of the tracer; private to this folder, for files of scalars.
#pragma once

#include "engine/core/memory.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/rng.h"
#include "render/formula_inputs.h"
#include "render/glass/glass_formula.h"
#include "render/reference/air_way.h"
#include "render/reference/bsdf.h"
#include "render/reference/captured.h"
#include "render/reference/field_rays.h"
#include "render/reference/gaussians.h"
#include "render/reference/glass.h"
#include "render/reference/lamps.h"
#include "render/reference/path_tracer.h"

// The samples of one pixel so far.
typedef struct pixel_sums {
    double rgb[3]; // linear, premultiplied; of what is not behind air
    double alpha, covered, depth;
    double square; // of luminance
} pixel_sums;

struct orr_path_tracer {
    orr_jobs *jobs;
    orr_draw_list list;
    float to_world[12]; // from the camera
    uint32_t seed;
    surfaces world, backdrop;
    lamps lights;
    orr_environment_values behind; // the list's first environment
    orr_gaussians splats;
    const orr_gaussian_walk *splat_walk;
    captured captured;
    orr_arena arena;        // of `fields`
    orr_field_rays *fields; // NULL: there are none
    air_view haze;
    pixel_sums *pixels; // height x width
    air_sums *air;      // height x width x air_groups; NULL: there is no haze and no fog
    int air_groups;     // of AIR_GROUPS: one, or all where there is glass, or a mirror
    int64_t samples;
    int64_t *rays;  // by worker
    int64_t wanted; // samples of the parallel-for at hand
};

// A path being traced.
typedef struct path {
    const orr_path_tracer *tracer;
    orr_rng random;
    int64_t rays;
    real3 through; // what of the light at its end reaches the eye
    real3 light;   // that has reached it
    // the body that light goes through in which it is; NULL: none that it has entered
    const orr_mesh_material *inside;
    bool through_glass; // it has gone on through smooth surfaces that light goes through
    bool sun_counted; // where it last looked for the sun it did so through the glass that it has gone through
    // of what is seen by glass and mirrors, behind air
    bool in_air;   // it has met nothing else so far
    bool reflects; // the last of them did
    air_way beyond;
} path;

static const real3 black;

static inline bool path_is_black(real3 a)
{
    return !(a.x > 0.0f || a.y > 0.0f || a.z > 0.0f);
}

static inline real path_draw(path *p)
{
    return orr_rng_uniform(&p->random);
}

static inline orr_ray path_ray(real3 origin, real3 direction, real near_end, real far_end)
{
    return (orr_ray){
        {origin.x, origin.y, origin.z}, {direction.x, direction.y, direction.z}, near_end, far_end};
}

static inline real3 path_decoded(real3 display)
{
    return make_real3(srgb_to_linear(display.x), srgb_to_linear(display.y), srgb_to_linear(display.z));
}

static inline real3 path_veil_light(const orr_veil *v)
{
    float light[3];
    orr_veil_light(v, light);
    return of_three(light);
}

static inline void path_add_light(path *p, real3 light, real weight)
{
    p->light = add_scaled3(p->light, times3(p->through, light), weight);
}

// What is left of light after a length in the body where the path is, or whose surface it meets from inside.
static inline real3 path_absorbed(const orr_mesh_material *body, real length)
{
    return glass_absorb(of_three(body->absorption), length);
}

// Does a direction leave a point of glass into its body, whose other side is looked at where a path meets it?
static inline bool path_enters_body(const surface_point *at, const bsdf *b, real3 direction)
{
    return b->glass && at->material->closed && (dot3(at->plane, direction) > 0.0f) != at->front;
}

// What splats and fields show on a ray, with their shadows (path_veil.c).
orr_veil path_look_through(path *p, const orr_ray *ray);
// The part of the light that passes all of them.
real path_passes(const orr_path_tracer *t, const orr_ray *ray);
// Light that the lamps send to a point and that it scatters towards the eye (path_light.c).
real3 path_direct_light(path *p, const surface_point *at, const bsdf *b);
// Follows a path from the first surface on. ray: a unit direction.
void path_follow(path *p, orr_ray ray, orr_ray_hit hit);
