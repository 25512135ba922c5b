#define ORR_SCALAR
#include "render/reference/path_tracer.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/vector.h"
#include "neural/capture/ray_camera.h"
#include "render/field_light/captured_light_formula.h"
#include "render/formula_inputs.h"
#include "render/glass/glass_formula.h"
#include "render/glass/glass_sky.h"
#include "render/glass/glass_sky_formula.h"
#include "render/reference/air_way.h"
#include "render/reference/captured.h"
#include "render/reference/field_rays.h"
#include "render/reference/gaussians.h"
#include "render/reference/glass.h"
#include "render/reference/lamps.h"
#include "render/shadow/shadow_formula.h"

#include <string.h>

enum {
    TILE = 16,                 // [px] a side of a job
    ROULETTE_FROM = 3,         // scattering events that every path may have
    BOUNCES = 128,             // at most
    DRAWS_PER_SAMPLE = 1 << 12 // random numbers; a longer path meets the next sample's
};

// The samples of one pixel so far.
typedef struct pixel_sums {
    double rgb[3]; // linear, premultiplied; of what is not behind air
    double alpha, depth;
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

// What one sample sees.
typedef struct seen {
    real3 rgb; // linear, premultiplied
    real alpha, depth;
    air_sample air; // whose light is not a part of `rgb`
} seen;

static const real3 black;

static bool is_black(real3 a)
{
    return !(a.x > 0.0f || a.y > 0.0f || a.z > 0.0f);
}

static real draw(path *p)
{
    return orr_rng_uniform(&p->random);
}

static orr_ray ray_of(real3 origin, real3 direction, real near_end, real far_end)
{
    return (orr_ray){
        {origin.x, origin.y, origin.z}, {direction.x, direction.y, direction.z}, near_end, far_end};
}

// ---- splats and fields ----

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

static orr_veil look_through(path *p, const orr_ray *ray)
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

// The part of the light that passes all of them.
static real passes_of(const orr_path_tracer *t, const orr_ray *ray)
{
    orr_field_seen shows = {0};
    const real passes = t->splat_walk->transmittance(&t->splats, ray);
    if (t->fields && passes > 0.0f) {
        orr_field_rays_meet(t->fields, ray, 1, &shows);
    }
    return passes * (1.0f - shows.rgba[3]);
}

static real3 decoded(real3 display)
{
    return make_real3(srgb_to_linear(display.x), srgb_to_linear(display.y), srgb_to_linear(display.z));
}

static real3 veil_light(const orr_veil *v)
{
    float light[3];
    orr_veil_light(v, light);
    return of_three(light);
}

static void add_light(path *p, real3 light, real weight)
{
    p->light = add_scaled3(p->light, times3(p->through, light), weight);
}

// Goes through what is in front of the end of the ray (Qiao et al. 2023, "Dynamic mesh-aware radiance
// fields").
static void pass_veil(path *p, const orr_ray *ray)
{
    const orr_veil v = look_through(p, ray);
    add_light(p, veil_light(&v), 1.0f);
    p->through = scale3(p->through, v.passes);
}

// What is left of light after a length in the body where the path is, or whose surface it meets from inside.
static real3 absorbed(const orr_mesh_material *body, real length)
{
    return glass_absorb(of_three(body->absorption), length);
}

static void pass_body(path *p, const surface_point *at, real length)
{
    const bool leaves = !at->front && at->material->closed && orr_material_transmits(at->material);
    const orr_mesh_material *body = leaves ? at->material : p->inside;
    if (body) {
        p->through = times3(p->through, absorbed(body, length));
    }
}

// ---- direct light ----

// Does light from there fall on the side of the surface from which it is seen, or through it?
static bool arrives(const surface_point *at, const bsdf *b, real3 to_light)
{
    return b->glass ? glass_faces(b, to_light) : dot3(at->plane, to_light) > 0.0f;
}

// How much of light reaches a point from a direction, from so far: what is just before the lamp, and the lamp
// itself, does not count.
static real visibility(path *p, const surface_point *at, real3 to_light, real distance)
{
    orr_ray ray = ray_of(surface_leave(at, to_light), to_light, 0.0f, distance * (1.0f - 1e-4f));
    const surface_sieve sieve = {&p->tracer->world, &p->random, .to_lamp = true};
    p->rays++;
    if (surfaces_any(&sieve, &ray)) {
        return 0.0f;
    }
    return passes_of(p->tracer, &ray);
}

// Does a direction leave a point of glass into its body, whose other side is looked at where a path meets it?
static bool enters_body(const surface_point *at, const bsdf *b, real3 direction)
{
    return b->glass && at->material->closed && (dot3(at->plane, direction) > 0.0f) != at->front;
}

// The same of the sun and of lamps without extent, which scattering hardly finds, or never: light from there
// goes straight through smooth glass. With what the bodies on its way absorb.
static real3 visibility_through_glass(path *p, const surface_point *at, const bsdf *b, real3 to_light,
                                      real distance)
{
    orr_ray ray = ray_of(surface_leave(at, to_light), to_light, 0.0f, distance * (1.0f - 1e-4f));
    const bool enters = enters_body(at, b, to_light);
    const orr_mesh_material *body = enters                             ? at->material
                                    : b->glass && at->material->closed ? NULL
                                                                       : p->inside;
    surface_glass left = {.direction = to_light,
                          .passes = {1.0f, 1.0f, 1.0f},
                          .inside = body ? of_three(body->absorption) : black};
    const surface_sieve sieve = {&p->tracer->world, &p->random, .to_lamp = true,
                                 .glass = enters ? NULL : &left};
    p->rays++;
    if (surfaces_any(&sieve, &ray)) {
        return black;
    }
    // what is infinitely far away is in no body
    left.depth = distance < INFINITY ? add_scaled3(left.depth, left.inside, distance) : left.depth;
    left.depth = make_real3(fmaxf(left.depth.x, 0.0f), fmaxf(left.depth.y, 0.0f), fmaxf(left.depth.z, 0.0f));
    return scale3(times3(left.passes, glass_absorb(left.depth, 1.0f)), passes_of(p->tracer, &ray));
}

// What the body where the path is leaves of light from a distance.
static real3 dimmed(const path *p, real3 light, real distance)
{
    return p->inside && distance < INFINITY ? times3(light, absorbed(p->inside, distance)) : light;
}

// The highlight that a lamp makes on a surface whose highlights are not a part of how it scatters.
static real3 highlight_of(const surface_point *at, const bsdf *b, const orr_light_values *lamp,
                          real3 to_light)
{
    if (!(at->material->specular > 0.0f && dot3(to_light, at->normal) > 0.0f)) {
        return black;
    }
    real3 between = normalise3(add3(to_light, b->to_eye));
    real gloss = light_power(dot3(between, at->normal), 128.0f * at->material->shininess);
    return scale3(of_three(lamp->specular), at->material->specular * gloss);
}

// Light of one lamp without extent. Its colours are those of a white surface that faces it.
static real3 light_by_point(path *p, const surface_point *at, const bsdf *b, const orr_light_values *lamp)
{
    const light_source l = light_of(lamp);
    const light_incidence incident = light_incident(l, at->position);
    // of what goes through such a surface, ambient light is met by other paths
    const real3 base = b->glass ? black : at->base;
    real3 reflected =
        scale3(times3(bsdf_eval(b, incident.to_light).weight, of_three(lamp->diffuse)), BSDF_PI);
    reflected = add3(reflected, highlight_of(at, b, lamp, incident.to_light));
    reflected = scale3(reflected, incident.strength);
    real3 ambient = times3(base, scale3(of_three(lamp->ambient), incident.strength));
    if (is_black(reflected) || !arrives(at, b, incident.to_light)) {
        return ambient;
    }
    real distance = INFINITY;
    if (lamp->directional < 0.5f) {
        distance = length3(sub3(of_three(lamp->position), at->position));
    }
    const real3 visible = visibility_through_glass(p, at, b, incident.to_light, distance);
    return make_real3(fma_(reflected.x, visible.x, ambient.x), fma_(reflected.y, visible.y, ambient.y),
                      fma_(reflected.z, visible.z, ambient.z));
}

// Light that could also have been found by scattering: both ways are weighted by their densities (the balance
// heuristic of Veach and Guibas 1995). As if nothing were in between.
static real3 light_weighted(const surface_point *at, const bsdf *b, const lamp_light *light)
{
    if (!(light->pdf > 0.0f) || is_black(light->radiance) || !arrives(at, b, light->to_light)) {
        return black;
    }
    const bsdf_value value = bsdf_eval(b, light->to_light);
    return scale3(times3(value.weight, light->radiance), 1.0f / (light->pdf + value.pdf));
}

static real3 light_by_chance(path *p, const surface_point *at, const bsdf *b, const lamp_light *light)
{
    const real3 sum = light_weighted(at, b, light);
    return is_black(sum)
               ? black
               : scale3(dimmed(p, sum, light->distance), visibility(p, at, light->to_light, light->distance));
}

static real3 light_by_sun(path *p, const surface_point *at, const bsdf *b)
{
    const real u = draw(p), v = draw(p);
    const lamp_light light = lamps_draw_sun(&p->tracer->lights, u, v);
    const real3 sum = light_weighted(at, b, &light);
    return is_black(sum) ? black
                         : times3(sum, visibility_through_glass(p, at, b, light.to_light, light.distance));
}

// A point of a sphere, or of a disc in the sky, with its ambient light and with highlights likewise.
static real3 light_by_round(path *p, const surface_point *at, const bsdf *b, int lamp_index)
{
    const lamps *l = &p->tracer->lights;
    const orr_light_values *lamp = &l->points.lights[lamp_index];
    const real u = draw(p), v = draw(p);
    const lamp_light light = lamps_draw_round(l, lamp_index, at->position, u, v);
    if (!(light.pdf > 0.0f)) {
        return light_by_point(p, at, b, lamp);
    }
    const real strength = light_incident(light_of(lamp), at->position).strength;
    const real3 ambient = times3(b->glass ? black : at->base, scale3(of_three(lamp->ambient), strength));
    real3 sum = light_weighted(at, b, &light);
    if (!b->glass && dot3(at->plane, light.to_light) > 0.0f) {
        sum = add_scaled3(sum, highlight_of(at, b, lamp, light.to_light), strength);
    }
    if (is_black(sum)) {
        return ambient;
    }
    return add3(times3(sum, visibility_through_glass(p, at, b, light.to_light, light.distance)), ambient);
}

// A point of a rectangle. Highlights of MuJoCo's materials, which no scattering finds, are as of all points
// of it that were lamps without extent.
static real3 light_by_area(path *p, const surface_point *at, const bsdf *b, const orr_light_values *lamp)
{
    const real u = draw(p), v = draw(p);
    const lamp_light light = lamps_draw_area(lamp, at->position, u, v);
    real3 sum = light_weighted(at, b, &light);
    if (light.pdf > 0.0f && dot3(at->plane, light.to_light) > 0.0f) {
        const real fade = light_area_fade(light_of(lamp), at->position);
        sum = add_scaled3(sum, highlight_of(at, b, lamp, light.to_light), fade / (BSDF_PI * light.pdf));
    }
    return is_black(sum)
               ? black
               : scale3(dimmed(p, sum, light.distance), visibility(p, at, light.to_light, light.distance));
}

static real3 direct_light(path *p, const surface_point *at, const bsdf *b)
{
    const lamps *l = &p->tracer->lights;
    const bool smooth = b->glass && b->glass->smooth; // scattering alone finds lamps that have an extent
    real3 sum = black;
    for (int i = 0; i < l->points.count; i++) {
        const orr_light_values *lamp = &l->points.lights[i];
        if (smooth && (lamp->area > 0.5f || l->radius[i] > 0.0f)) {
            continue;
        }
        const real3 light = l->radius[i] > 0.0f ? light_by_round(p, at, b, i)
                            : lamp->area > 0.5f ? light_by_area(p, at, b, lamp)
                                                : light_by_point(p, at, b, lamp);
        sum = add3(sum, light);
    }
    if (smooth) {
        return sum;
    }
    if (l->sun_share > 0.0f) {
        sum = add3(sum, light_by_sun(p, at, b));
    }
    if (l->environment) {
        real choice = draw(p), u = draw(p), v = draw(p);
        lamp_light light = lamps_draw_environment(l, choice, u, v);
        sum = add3(sum, light_by_chance(p, at, b, &light));
    }
    if (l->glowing_count > 0) {
        real choice = draw(p), u = draw(p), v = draw(p);
        lamp_light light = lamps_draw_glow(l, &p->tracer->world, at->position, choice, u, v);
        sum = add3(sum, light_by_chance(p, at, b, &light));
    }
    return sum;
}

// ---- paths ----

// network: room for what a material that is one needs as long as the result is used
static bsdf bsdf_of(const surface_point *at, real3 to_eye, neural_surface *network)
{
    const orr_mesh_material *look = at->material;
    if (look->neural) {
        *network = neural_surface_of(&look->neural->weights, at->latents[0], at->latents[1],
                                     mesh_into(at->frame, to_eye));
        return bsdf_neural(network, &at->frame, to_eye, at->tint);
    }
    if (!look->metallic_roughness) {
        return bsdf_lambert(at->normal, to_eye, at->base);
    }
    const bool given = look->has_highlight;
    const real3 f0 = given ? of_three(look->highlight) : make_real3(0.04f, 0.04f, 0.04f);
    bsdf b = bsdf_dielectric(at->normal, to_eye, at->base, at->metallic, at->roughness, f0,
                             given ? look->highlight_grazing : 1.0f);
    if (at->coated > 0.0f) {
        bsdf_add_coat(&b, at->plane, at->coat_normal, at->coated, at->coat_roughness);
    }
    return b;
}

// The weight of light found by scattering that a lamp's draw finds with the density `pdf`. Nothing else finds
// what a mirror shows.
static real by_scattering(real scattering_pdf, real pdf)
{
    return scattering_pdf > 0.0f ? scattering_pdf / (scattering_pdf + pdf) : 1.0f;
}

// How much of the light from the mirrored direction a point adds to its own.
static real reflectance_of(const path *p, const surface_point *at)
{
    const orr_mesh_material *look = at->material;
    const bool mirrors = p->tracer->list.mirrors && !look->blended && !look->unlit;
    return mirrors && (at->front || look->two_sided) ? look->reflectance : 0.0f;
}

// Ends paths at random, the darker the sooner, and makes up for it in the others.
static bool survives(path *p, int bounce)
{
    real most = fmaxf(p->through.x, fmaxf(p->through.y, p->through.z));
    if (!(most > 0.0f) || bounce >= BOUNCES) {
        return false;
    }
    if (bounce < ROULETTE_FROM) {
        return true;
    }
    real chance = fminf(most, 0.95f);
    if (draw(p) >= chance) {
        return false;
    }
    p->through = scale3(p->through, 1.0f / chance);
    return true;
}

// Whether the path goes on as light does that meets what of the material it goes through, by chance; if not,
// the point becomes one of the rest.
static bool meets_glass(path *p, surface_point *at)
{
    const orr_mesh_material *look = at->material;
    if (!orr_material_transmits(look)) {
        return false;
    }
    const real part = at->transmission * (1.0f - at->metallic);
    if (draw(p) < part) {
        return true;
    }
    at->metallic = fminf(at->metallic / (1.0f - part), 1.0f);
    return false;
}

// Goes on at a surface that light goes through. *pdf as of scatter; GLASS_SURE: it reflects one direction
static bool scatter_glass(path *p, const surface_point *at, orr_ray *ray, real *pdf)
{
    const orr_mesh_material *look = at->material;
    glass g;
    const bsdf b = bsdf_glass(&g, at->normal, at->plane, scale3(of_three(ray->direction), -1.0f), at->base,
                              look->ior, at->roughness, !look->closed, at->front);
    add_light(p, direct_light(p, at, &b), 1.0f);
    const real u = draw(p), v = draw(p), choice = draw(p);
    real3 direction;
    const bsdf_value value = bsdf_draw(&b, u, v, choice, &direction);
    if (!(value.pdf > 0.0f)) {
        return false;
    }
    const bool reflected = dot3(at->plane, direction) > 0.0f;
    p->reflects = reflected;
    p->sun_counted = g.smooth ? p->sun_counted && !reflected : !enters_body(at, &b, direction);
    p->through = times3(p->through, scale3(value.weight, 1.0f / value.pdf));
    if (!reflected && look->closed) {
        p->inside = at->front ? look : NULL;
    }
    // what the camera sees through smooth surfaces it sees as if they were not there
    const bool inside = look->closed && !at->front;
    const bool clear = g.smooth && (!reflected || inside) && *pdf == 0.0f;
    p->through_glass = p->through_glass || clear;
    *pdf = clear ? 0.0f : value.pdf;
    *ray = ray_of(surface_leave(at, direction), direction, 0.0f, INFINITY);
    return true;
}

// Lights the point where the path is, and draws the ray on which it goes on; false: it ends. *pdf: of the
// direction; 0: the point mirrors it.
static bool scatter(path *p, surface_point *at, orr_ray *ray, real *pdf)
{
    if (meets_glass(p, at)) {
        return scatter_glass(p, at, ray, pdf);
    }
    p->in_air = p->in_air && surface_mirrors(at);
    p->reflects = true;
    neural_surface network;
    const bsdf b = bsdf_of(at, scale3(of_three(ray->direction), -1.0f), &network);
    add_light(p, direct_light(p, at, &b), 1.0f);
    const real reflectance = reflectance_of(p, at), share = reflectance / (1.0f + reflectance);
    if (reflectance > 0.0f) {
        const bool mirrored = draw(p) < share;
        p->through = scale3(p->through, 1.0f + reflectance); // by either chance
        if (mirrored) {
            *pdf = 0.0f;
            const real3 towards = bsdf_mirror(at->plane, b.to_eye);
            *ray = ray_of(surface_leave(at, towards), towards, 0.0f, INFINITY);
            return true;
        }
    }
    real u = draw(p), v = draw(p), choice = draw(p);
    real3 direction;
    bsdf_value value = bsdf_draw(&b, u, v, choice, &direction);
    if (!(value.pdf > 0.0f) || dot3(at->plane, direction) <= 0.0f) {
        return false;
    }
    p->through = times3(p->through, scale3(value.weight, 1.0f / value.pdf));
    p->sun_counted = true;
    *pdf = value.pdf;
    *ray = ray_of(surface_leave(at, direction), direction, 0.0f, INFINITY);
    return true;
}

// The rectangles, spheres and discs that a scattered ray meets before its end, which it goes through. The
// latter two have been seen through the smooth glass that it has gone through, as the sun has.
static void meet_lamps(path *p, const orr_ray *ray, real pdf)
{
    const orr_path_tracer *t = p->tracer;
    const bool counted = pdf == GLASS_SURE && p->sun_counted;
    const real3 from = of_three(ray->origin), direction = of_three(ray->direction);
    for (int i = 0; i < t->lights.points.count; i++) {
        const orr_light_values *lamp = &t->lights.points.lights[i];
        lamp_light light = {0};
        if (lamp->area > 0.5f) {
            light = lamps_meet_area(lamp, from, direction, ray->far_end);
        } else if (t->lights.radius[i] > 0.0f && !counted) {
            light = lamps_meet_round(&t->lights, i, from, direction, ray->far_end);
        }
        if (light.pdf > 0.0f) {
            orr_ray until = *ray;
            until.far_end = light.distance;
            add_light(p, light.radiance, passes_of(t, &until) * by_scattering(pdf, light.pdf));
        }
    }
}

// The next surface of a path beyond glass or a mirror, where endless planes end as for the camera, and the
// air up to it or to the sky.
static bool look_beyond(path *p, orr_ray *ray, bool direct, orr_ray_hit *hit)
{
    const orr_path_tracer *t = p->tracer;
    const surface_sieve sieve = {&t->world, &p->random, .to_lamp = false};
    const air_ray seen_ray = air_ray_of(&t->haze, ray);
    const bool ends = air_way_ends(&t->haze, &p->beyond, &seen_ray);
    const real start = ray->near_end;
    bool met = surfaces_nearest(&sieve, ray, direct, hit);
    while (met && ends && surfaces_endless(&t->world, hit)) {
        ray->near_end = hit->distance * (1.0f + 1e-5f);
        p->rays++;
        met = surfaces_nearest(&sieve, ray, direct, hit);
    }
    ray->near_end = start;
    air_way_on(&t->haze, &p->beyond, &seen_ray, met ? hit->distance : INFINITY);
    return met;
}

// Follows a path from the first surface on. ray: a unit direction.
static void follow(path *p, orr_ray ray, orr_ray_hit hit)
{
    const orr_path_tracer *t = p->tracer;
    const surface_sieve sieve = {&t->world, &p->random, .to_lamp = false};
    real pdf = 0.0f;    // of the last scattering; 0: there was none, or it was a mirror's
    bool direct = true; // only mirrors and smooth surfaces that light goes through were met
    p->in_air = t->air_groups == AIR_GROUPS;
    for (int bounce = 0;; bounce++) {
        const real3 direction = of_three(ray.direction);
        surface_point at = surfaces_look(&t->world, &hit, direction);
        if (p->in_air && bounce == 0) {
            p->beyond = air_way_from(&t->haze, at.position);
        }
        pass_body(p, &at, hit.distance);
        real lamp_pdf = pdf > 0.0f ? lamps_glow_pdf(&t->lights, &at, direction, hit.distance) : 0.0f;
        add_light(p, at.light, by_scattering(pdf, lamp_pdf));
        if (at.material->unlit || !scatter(p, &at, &ray, &pdf) || !survives(p, bounce + 1)) {
            return;
        }
        p->rays++;
        direct = direct && (pdf == 0.0f || pdf == GLASS_SURE);
        const bool met =
            p->in_air ? look_beyond(p, &ray, direct, &hit) : surfaces_nearest(&sieve, &ray, direct, &hit);
        ray.far_end = hit.distance;
        if (pdf > 0.0f) { // mirrors show no lamps, as in frames
            meet_lamps(p, &ray, pdf);
        }
        pass_veil(p, &ray);
        if (p->in_air) {
            air_way *way = &p->beyond;
            way->group = bounce == 0 ? p->reflects ? AIR_REFLECTED : AIR_REFRACTED : way->group;
            way->share = p->through;
            way->light_before = p->light;
        }
        if (!met) {
            float around_pdf;
            real3 sun, around = lamps_behind(&t->lights, of_three(ray.direction), &around_pdf, &sun);
            if (pdf > 0.0f) {
                add_light(p, around, by_scattering(pdf, around_pdf));
                if (!(pdf == GLASS_SURE && p->sun_counted)) {
                    add_light(p, sun, by_scattering(pdf, t->lights.sun_share));
                }
            } else if (p->through_glass && orr_glass_shows_sky(&t->list)) {
                orr_sky_values sky = orr_sky_as_seen(&t->list.sky, &t->list.lens);
                memcpy(sky.up, t->list.sky.up, sizeof sky.up); // of the world, as rays are
                add_light(p, decoded(glass_sky(sky_view_of(&sky), of_three(ray.direction))), 1.0f);
            } else if (t->list.environment_behind || p->through_glass) {
                add_light(p, around, 1.0f);
            }
            return;
        }
    }
}

// ---- the camera ----

// Where a pinhole shows what a lens that distorts shows at (x, y).
static void lens_pinhole(const orr_lens *lens, real *x, real *y)
{
    if (lens->distorted) {
        const real3 direction = photo_direction(orr_photo_lens_of(lens), make_real2(*x, *y));
        *x = lens->centre[0] + lens->focal[0] * direction.x;
        *y = lens->centre[1] + lens->focal[1] * direction.y;
    }
}

// Through a point of the picture [px]. *along: depth along the camera's axis per distance.
static orr_ray ray_through(const orr_path_tracer *t, real x, real y, real *along)
{
    const orr_lens *lens = &t->list.lens;
    float at[3] = {(x - lens->centre[0]) / lens->focal[0], (y - lens->centre[1]) / lens->focal[1], 0.0f};
    float towards[3] = {0.0f, 0.0f, 1.0f}, origin[3], direction[3];
    if (!lens->orthographic) {
        memcpy(towards, (float[3]){at[0], at[1], 1.0f}, sizeof towards);
        memset(at, 0, sizeof at);
    }
    affine_apply_to_point(t->to_world, at, origin);
    affine_apply_to_direction(t->to_world, towards, direction);
    real length = length3(of_three(direction));
    *along = 1.0f / length;
    return ray_of(of_three(origin), scale3(of_three(direction), *along), lens->near_plane * length,
                  lens->far_plane * length);
}

static real3 texel_of(const orr_environment *map, int index)
{
    const uint32_t t = map->texels[index];
    return environment_decode((float)(t & 511u), (float)(t >> 9 & 511u), (float)(t >> 18 & 511u),
                              (float)(t >> 27));
}

// The environment as the rasteriser shows it. towards: in the camera's space
static real3 environment_behind(const orr_path_tracer *t, real3 towards)
{
    const orr_environment *map = t->list.environments[0].map;
    const environment_view v = environment_of(&t->behind);
    const environment_square s =
        environment_find(environment_flatten(affine_direction(v.to_map, towards)), 0.0f, v.sharp);
    const int first = (int)s.first, below = first + (int)s.stride;
    real3 top = environment_mix(texel_of(map, first), texel_of(map, first + 1), s.right);
    real3 bottom = environment_mix(texel_of(map, below), texel_of(map, below + 1), s.right);
    return light_display(scale3(environment_mix(top, bottom, s.down), v.strength));
}

// What is behind everything, as displayed.
static real3 background(const orr_path_tracer *t, const orr_ray *ray, orr_rng *random, real x, real y)
{
    orr_ray_hit hit;
    orr_ray far = *ray;
    far.far_end = INFINITY;
    const surface_sieve sieve = {&t->backdrop, random, .to_lamp = false};
    if (t->list.backdrop.mesh && surfaces_nearest(&sieve, &far, false, &hit)) {
        const real3 shown = light_display(surfaces_look(&t->backdrop, &hit, of_three(ray->direction)).base);
        return haze_over(t->haze.haze, shown, x, y, 0.0f, 1.0f);
    }
    const orr_sky_values sky = orr_sky_as_seen(&t->list.sky, &t->list.lens);
    if (t->list.environment_behind) {
        return environment_behind(t, sky_direction(sky_view_of(&sky), x, y));
    }
    return sky_colour(sky_view_of(&sky), x, y);
}

// The first surface on a ray of the camera through a point of the picture [px]: endless planes end where haze
// covers them.
static bool look_out(path *p, orr_ray ray, real x, real y, orr_ray_hit *hit)
{
    const orr_path_tracer *t = p->tracer;
    const surface_sieve sieve = {&t->world, &p->random, .to_lamp = false};
    const bool ends = t->haze.haze.reach_over_height > 0.0f && !haze_leaves(t->haze.haze, x, y);
    for (;;) {
        p->rays++;
        if (!surfaces_nearest(&sieve, &ray, true, hit)) {
            return false;
        }
        if (!ends || !surfaces_endless(&t->world, hit)) {
            return true;
        }
        ray.near_end = hit->distance * (1.0f + 1e-5f);
    }
}

static seen trace_sample(path *p, int x, int y)
{
    const orr_path_tracer *t = p->tracer;
    real right = (float)x + draw(p), down = (float)y + draw(p), along;
    lens_pinhole(&t->list.lens, &right, &down);
    orr_ray ray = ray_through(t, right, down, &along);
    orr_ray_hit hit;
    p->light = black;
    bool met = look_out(p, ray, right, down, &hit);
    ray.far_end = met ? hit.distance : ray.far_end;
    const orr_veil v = look_through(p, &ray);
    p->through = make_real3(v.passes, v.passes, v.passes);
    const real3 before = veil_light(&v);
    if (met) {
        const haze_air air = t->air ? air_up_to(&t->haze, &ray, along) : (haze_air){1.0f, black};
        follow(p, ray, hit);
        seen s = {.rgb = before, .alpha = 1.0f, .depth = (v.depth + v.passes * hit.distance) * along};
        s.air = air_split(air, &p->beyond, p->light, v.passes, &s.rgb);
        return s;
    }
    if (!t->list.opaque) {
        return (seen){.rgb = before, .alpha = 1.0f - v.passes, .depth = v.depth * along};
    }
    // blended with the background as displayed, which is how clouds are trained
    real3 behind = background(t, &ray, &p->random, right, down);
    return (seen){.rgb = decoded(add_scaled3(of_three(v.display), behind, v.passes)),
                  .alpha = 1.0f,
                  .depth = v.depth * along};
}

static bool is_finite(const seen *s)
{
    const real3 all = add3(add3(s->rgb, s->air.behind), s->air.beyond);
    return isfinite(all.x) && isfinite(all.y) && isfinite(all.z);
}

static real luminance(real3 c)
{
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

static void trace_pixel(orr_path_tracer *t, int x, int y, int worker)
{
    int64_t pixel = (int64_t)y * t->list.lens.width + x;
    pixel_sums *sums = &t->pixels[pixel];
    for (int64_t k = t->samples; k < t->samples + t->wanted; k++) {
        path p = {.tracer = t, .random = {t->seed, (uint32_t)pixel, (uint64_t)k * DRAWS_PER_SAMPLE}};
        seen s = trace_sample(&p, x, y);
        t->rays[worker] += p.rays;
        if (!is_finite(&s)) {
            continue;
        }
        sums->rgb[0] += (double)s.rgb.x;
        sums->rgb[1] += (double)s.rgb.y;
        sums->rgb[2] += (double)s.rgb.z;
        sums->alpha += (double)s.alpha;
        sums->depth += (double)s.depth;
        if (t->air) {
            air_add(&t->air[pixel * t->air_groups], &s.air);
        }
        const double light = (double)luminance(air_passed(s.rgb, &s.air));
        sums->square += light * light;
    }
}

static int tiles_across(const orr_path_tracer *t)
{
    return orr_blocks(t->list.lens.width, TILE);
}

static void trace_tile(void *context, int tile, int worker)
{
    orr_path_tracer *t = context;
    int left = tile % tiles_across(t) * TILE, top = tile / tiles_across(t) * TILE;
    for (int y = top; y < top + TILE && y < t->list.lens.height; y++) {
        for (int x = left; x < left + TILE && x < t->list.lens.width; x++) {
            trace_pixel(t, x, y, worker);
        }
    }
}

void orr_path_tracer_advance(orr_path_tracer *tracer, int64_t samples)
{
    tracer->wanted = samples;
    int tiles = tiles_across(tracer) * orr_blocks(tracer->list.lens.height, TILE);
    orr_jobs_for(tracer->jobs, tiles, trace_tile, tracer);
    tracer->samples += samples;
}

// ---- what has been seen ----

static int64_t pixel_count(const orr_path_tracer *t)
{
    return (int64_t)t->list.lens.width * t->list.lens.height;
}

void orr_path_tracer_statistics(const orr_path_tracer *t, orr_path_statistics *statistics)
{
    *statistics = (orr_path_statistics){
        .samples = t->samples, .triangles = t->world.triangle_count, .left_out = t->world.tree.left_out};
    for (int i = 0; i < orr_jobs_workers(t->jobs); i++) {
        statistics->rays += t->rays[i];
    }
    double n = (double)t->samples, sum = 0.0;
    for (int64_t i = 0; i < pixel_count(t) && t->samples > 1; i++) {
        const pixel_sums *p = &t->pixels[i];
        double light[3];
        for (int k = 0; k < 3; k++) {
            light[k] = p->rgb[k];
            for (int64_t g = i * t->air_groups; t->air && g < (i + 1) * t->air_groups; g++) {
                light[k] += t->air[g].rgb[k];
            }
        }
        double mean = (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]) / n;
        sum += fmax(p->square / n - mean * mean, 0.0) / (n - 1.0);
    }
    statistics->error = t->samples > 1 ? sqrt(sum / (double)pixel_count(t)) : INFINITY;
}

void orr_path_tracer_picture(const orr_path_tracer *t, bool linear, const orr_picture *picture)
{
    double share = 1.0 / (double)(t->samples > 0 ? t->samples : 1);
    for (int64_t i = 0; i < pixel_count(t); i++) {
        const pixel_sums *p = &t->pixels[i];
        double alpha = p->alpha * share, behind[3] = {0.0, 0.0, 0.0};
        if (t->air) {
            air_light(&t->air[i * t->air_groups], t->air_groups, behind);
        }
        for (int k = 0; k < 3 && picture->rgba; k++) {
            double value = (p->rgb[k] + behind[k]) * share;
            // colours are encoded before they are multiplied by alpha
            picture->rgba[4 * i + k] = linear || !(alpha > 0.0)
                                           ? (float)value
                                           : (float)alpha * linear_to_srgb((float)(value / alpha));
        }
        if (picture->rgba) {
            picture->rgba[4 * i + 3] = (float)alpha;
        }
        if (picture->depth) {
            picture->depth[i] = p->alpha > 0.0 ? (float)(p->depth / p->alpha) : 0.0f;
        }
    }
}

// ---- making one ----

static orr_result build(orr_path_tracer *t, orr_isa isa, orr_error *error)
{
    const orr_draw_list *list = &t->list;
    ORR_TRY(orr_affine_invert(list->lens.view, t->to_world, error));
    ORR_TRY(surfaces_build(isa, list->meshes, list->mesh_count, &t->world, error));
    ORR_TRY(surfaces_build(isa, &list->backdrop, list->backdrop.mesh ? 1 : 0, &t->backdrop, error));
    ORR_TRY(orr_gaussians_build(list->splats, list->splat_count, &t->splats, error));
    t->splat_walk = orr_gaussian_walk_of(isa);
    if (list->field_count > 0) {
        ORR_TRY(orr_field_rays_create(t->jobs, &t->arena, list, &t->fields, error));
    }
    ORR_TRY(lamps_gather(list, &t->world, &t->lights, error));
    ORR_TRY(captured_gather(list, &t->lights, t->splat_walk, &t->captured, error));
    orr_draw_lighting *lighting;
    ORR_ALLOC(lighting, 1, "lights", error);
    orr_draw_light_up(list, lighting);
    t->behind = lighting->environments[0];
    t->haze = (air_view){haze_of(lighting), list->lens.view};
    orr_free(lighting);
    t->pixels = orr_alloc_zero((size_t)pixel_count(t), sizeof *t->pixels);
    t->rays = orr_alloc_zero((size_t)orr_jobs_workers(t->jobs), sizeof *t->rays);
    const bool hazy = air_is_there(t->haze.haze);
    t->air_groups = hazy && surfaces_lead_on(&t->world) ? AIR_GROUPS : 1;
    t->air = hazy ? orr_alloc_zero((size_t)(pixel_count(t) * t->air_groups), sizeof *t->air) : NULL;
    return t->pixels && t->rays && (t->air || !hazy)
               ? ORR_OK
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d x %d pixels", list->lens.width,
                          list->lens.height);
}

orr_result orr_path_tracer_create(orr_jobs *jobs, orr_isa isa, const orr_draw_list *list, uint32_t seed,
                                  orr_path_tracer **tracer, orr_error *error)
{
    *tracer = NULL;
    orr_path_tracer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a path tracer");
    }
    t->jobs = jobs;
    t->list = *list;
    t->seed = seed;
    orr_result result = build(t, isa, error);
    if (result != ORR_OK) {
        orr_path_tracer_destroy(t);
        return result;
    }
    *tracer = t;
    return ORR_OK;
}

void orr_path_tracer_destroy(orr_path_tracer *tracer)
{
    if (!tracer) {
        return;
    }
    surfaces_free(&tracer->world);
    surfaces_free(&tracer->backdrop);
    lamps_free(&tracer->lights);
    captured_free(&tracer->captured);
    orr_gaussians_free(&tracer->splats);
    orr_arena_destroy(&tracer->arena);
    orr_free(tracer->pixels);
    orr_free(tracer->air);
    orr_free(tracer->rays);
    orr_free(tracer);
}
