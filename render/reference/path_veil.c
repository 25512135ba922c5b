// Splats and fields on the rays of paths.
#define ORR_SCALAR
#include "render/reference/path.h"

#include "render/field_light/captured_light_formula.h"
#include "render/shadow/shadow_formula.h"

// The shadow on the surface that splats and fields show.
static void shadow_veil(path *p, const orr_ray *ray, orr_veil *v)
{
    const orr_path_tracer *t = p->tracer;
    if (!(t->captured.umbra < 1.0f && v->receiver < INFINITY)) {
        return;
    }
    const captured_point at = {add_scaled3(of_three(ray->origin), of_three(ray->direction), v->receiver),
                               v->owner, &p->random, &p->rays};
    const real ratio = captured_ratio(&t->captured, &t->lights, &t->world, &at);
    for (int k = 0; k < 3 && ratio < 1.0f; k++) {
        v->display[k] = shadow_on_channel(v->display[k], 1.0f - v->passes, ratio);
    }
}

// What fields show on a ray, in the light of lamps that were not there, too.
static void light_field(path *p, const orr_ray *ray, orr_field_seen *shows)
{
    const orr_path_tracer *t = p->tracer;
    const real alpha = shows->rgba[3];
    if (t->captured.added.count == 0 || !(alpha >= (real)CAPTURED_ALPHA)) {
        return;
    }
    float normal[1][4];
    orr_field_rays_normals(t->fields, ray, 1, shows, normal);
    const captured_point at = {add_scaled3(of_three(ray->origin), of_three(ray->direction), shows->depth), -1,
                               &p->random, &p->rays};
    const real3 sum =
        captured_added_light(&t->captured, &t->lights, &t->world, &at, of_three(normal[0]), normal[0][3]);
    const real light[3] = {sum.x, sum.y, sum.z};
    for (int k = 0; k < 3; k++) {
        if (light[k] > 0.0f) {
            shows->rgba[k] =
                captured_channel(shows->rgba[k], alpha, light[k], 1.0f / t->captured.added.white[k]);
        }
    }
}

orr_veil path_look_through(path *p, const orr_ray *ray)
{
    const orr_path_tracer *t = p->tracer;
    orr_field_seen shows = {0};
    if (t->fields) {
        orr_field_rays_meet(t->fields, ray, 1, &shows);
        light_field(p, ray, &shows);
    }
    orr_veil v = orr_field_rays_veil(&t->splats, t->splat_walk, ray, &shows);
    p->rays += v.walks;
    shadow_veil(p, ray, &v);
    return v;
}

real path_passes(const orr_path_tracer *t, const orr_ray *ray)
{
    orr_field_seen shows = {0};
    const real passes = t->splat_walk->transmittance(&t->splats, ray);
    if (t->fields && passes > 0.0f) {
        orr_field_rays_meet(t->fields, ray, 1, &shows);
    }
    return passes * (1.0f - shows.rgba[3]);
}
