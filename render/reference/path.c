// Paths from the first surface that the camera sees.
#define ORR_SCALAR
#include "render/reference/path.h"

#include "render/glass/glass_sky.h"
#include "render/glass/glass_sky_formula.h"

#include <string.h>

enum {
    ROULETTE_FROM = 3, // scattering events that every path may have
    BOUNCES = 128      // at most
};

// Goes through what is in front of the end of the ray (Qiao et al. 2023, "Dynamic mesh-aware radiance
// fields").
static void path_pass_veil(path *p, const orr_ray *ray)
{
    const orr_veil v = path_look_through(p, ray);
    path_add_light(p, path_veil_light(&v), 1.0f);
    p->through = scale3(p->through, v.passes);
}

static void pass_body(path *p, const surface_point *at, real length)
{
    const bool leaves = !at->front && at->material->closed && orr_material_transmits(at->material);
    const orr_mesh_material *body = leaves ? at->material : p->inside;
    if (body) {
        p->through = times3(p->through, path_absorbed(body, length));
    }
}

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
    if (path_draw(p) >= chance) {
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
    if (path_draw(p) < part) {
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
    path_add_light(p, path_direct_light(p, at, &b), 1.0f);
    const real u = path_draw(p), v = path_draw(p), choice = path_draw(p);
    real3 direction;
    const bsdf_value value = bsdf_draw(&b, u, v, choice, &direction);
    if (!(value.pdf > 0.0f)) {
        return false;
    }
    const bool reflected = dot3(at->plane, direction) > 0.0f;
    p->reflects = reflected;
    p->sun_counted = g.smooth ? p->sun_counted && !reflected : !path_enters_body(at, &b, direction);
    p->through = times3(p->through, scale3(value.weight, 1.0f / value.pdf));
    if (!reflected && look->closed) {
        p->inside = at->front ? look : NULL;
    }
    // what the camera sees through smooth surfaces it sees as if they were not there
    const bool inside = look->closed && !at->front;
    const bool clear = g.smooth && (!reflected || inside) && *pdf == 0.0f;
    p->through_glass = p->through_glass || clear;
    *pdf = clear ? 0.0f : value.pdf;
    *ray = path_ray(surface_leave(at, direction), direction, 0.0f, INFINITY);
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
    path_add_light(p, path_direct_light(p, at, &b), 1.0f);
    const real reflectance = reflectance_of(p, at), share = reflectance / (1.0f + reflectance);
    if (reflectance > 0.0f) {
        const bool mirrored = path_draw(p) < share;
        p->through = scale3(p->through, 1.0f + reflectance); // by either chance
        if (mirrored) {
            *pdf = 0.0f;
            const real3 towards = bsdf_mirror(at->plane, b.to_eye);
            *ray = path_ray(surface_leave(at, towards), towards, 0.0f, INFINITY);
            return true;
        }
    }
    real u = path_draw(p), v = path_draw(p), choice = path_draw(p);
    real3 direction;
    bsdf_value value = bsdf_draw(&b, u, v, choice, &direction);
    if (!(value.pdf > 0.0f) || dot3(at->plane, direction) <= 0.0f) {
        return false;
    }
    p->through = times3(p->through, scale3(value.weight, 1.0f / value.pdf));
    p->sun_counted = true;
    *pdf = value.pdf;
    *ray = path_ray(surface_leave(at, direction), direction, 0.0f, INFINITY);
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
            path_add_light(p, light.radiance, path_passes(t, &until) * by_scattering(pdf, light.pdf));
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

void path_follow(path *p, orr_ray ray, orr_ray_hit hit)
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
        path_add_light(p, at.light, by_scattering(pdf, lamp_pdf));
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
        path_pass_veil(p, &ray);
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
                path_add_light(p, around, by_scattering(pdf, around_pdf));
                if (!(pdf == GLASS_SURE && p->sun_counted)) {
                    path_add_light(p, sun, by_scattering(pdf, t->lights.sun_share));
                }
            } else if (p->through_glass && orr_glass_shows_sky(&t->list)) {
                orr_sky_values sky = orr_sky_as_seen(&t->list.sky, &t->list.lens);
                memcpy(sky.up, t->list.sky.up, sizeof sky.up); // of the world, as rays are
                path_add_light(p, path_decoded(glass_sky(sky_view_of(&sky), of_three(ray.direction))), 1.0f);
            } else if (t->list.environment_behind || p->through_glass) {
                path_add_light(p, around, 1.0f);
            }
            return;
        }
    }
}
