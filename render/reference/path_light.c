// Light of lamps at a point of a path.
#define ORR_SCALAR
#include "render/reference/path.h"

// Does light from there fall on the side of the surface from which it is seen, or through it?
static bool arrives(const surface_point *at, const bsdf *b, real3 to_light)
{
    return b->glass ? glass_faces(b, to_light) : dot3(at->plane, to_light) > 0.0f;
}

// How much of light reaches a point from a direction, from so far: what is just before the lamp, and the lamp
// itself, does not count.
static real visibility(path *p, const surface_point *at, real3 to_light, real distance)
{
    orr_ray ray = path_ray(surface_leave(at, to_light), to_light, 0.0f, distance * (1.0f - 1e-4f));
    const surface_sieve sieve = {&p->tracer->world, &p->random, .to_lamp = true};
    p->rays++;
    if (surfaces_any(&sieve, &ray)) {
        return 0.0f;
    }
    return path_passes(p->tracer, &ray);
}

// The visibility of the sun and of lamps without extent, which scattering hardly finds, or never: light from
// there goes straight through smooth glass. With what the bodies on its way absorb.
static real3 visibility_through_glass(path *p, const surface_point *at, const bsdf *b, real3 to_light,
                                      real distance)
{
    orr_ray ray = path_ray(surface_leave(at, to_light), to_light, 0.0f, distance * (1.0f - 1e-4f));
    const bool enters = path_enters_body(at, b, to_light);
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
    return scale3(times3(left.passes, glass_absorb(left.depth, 1.0f)), path_passes(p->tracer, &ray));
}

// What the body where the path is leaves of light from a distance.
static real3 dimmed(const path *p, real3 light, real distance)
{
    return p->inside && distance < INFINITY ? times3(light, path_absorbed(p->inside, distance)) : light;
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
    if (path_is_black(reflected) || !arrives(at, b, incident.to_light)) {
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
    if (!(light->pdf > 0.0f) || path_is_black(light->radiance) || !arrives(at, b, light->to_light)) {
        return black;
    }
    const bsdf_value value = bsdf_eval(b, light->to_light);
    return scale3(times3(value.weight, light->radiance), 1.0f / (light->pdf + value.pdf));
}

static real3 light_by_chance(path *p, const surface_point *at, const bsdf *b, const lamp_light *light)
{
    const real3 sum = light_weighted(at, b, light);
    return path_is_black(sum)
               ? black
               : scale3(dimmed(p, sum, light->distance), visibility(p, at, light->to_light, light->distance));
}

static real3 light_by_sun(path *p, const surface_point *at, const bsdf *b)
{
    const real u = path_draw(p), v = path_draw(p);
    const lamp_light light = lamps_draw_sun(&p->tracer->lights, u, v);
    const real3 sum = light_weighted(at, b, &light);
    return path_is_black(sum)
               ? black
               : times3(sum, visibility_through_glass(p, at, b, light.to_light, light.distance));
}

// A point of a sphere, or of a disc in the sky, with its ambient light and with highlights likewise.
static real3 light_by_round(path *p, const surface_point *at, const bsdf *b, int lamp_index)
{
    const lamps *l = &p->tracer->lights;
    const orr_light_values *lamp = &l->points.lights[lamp_index];
    const real u = path_draw(p), v = path_draw(p);
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
    if (path_is_black(sum)) {
        return ambient;
    }
    return add3(times3(sum, visibility_through_glass(p, at, b, light.to_light, light.distance)), ambient);
}

// A point of a rectangle. Highlights of MuJoCo's materials, which no scattering finds, are as of all points
// of it that were lamps without extent.
static real3 light_by_area(path *p, const surface_point *at, const bsdf *b, const orr_light_values *lamp)
{
    const real u = path_draw(p), v = path_draw(p);
    const lamp_light light = lamps_draw_area(lamp, at->position, u, v);
    real3 sum = light_weighted(at, b, &light);
    if (light.pdf > 0.0f && dot3(at->plane, light.to_light) > 0.0f) {
        const real fade = light_area_fade(light_of(lamp), at->position);
        sum = add_scaled3(sum, highlight_of(at, b, lamp, light.to_light), fade / (BSDF_PI * light.pdf));
    }
    return path_is_black(sum)
               ? black
               : scale3(dimmed(p, sum, light.distance), visibility(p, at, light.to_light, light.distance));
}

real3 path_direct_light(path *p, const surface_point *at, const bsdf *b)
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
        real choice = path_draw(p), u = path_draw(p), v = path_draw(p);
        lamp_light light = lamps_draw_environment(l, choice, u, v);
        sum = add3(sum, light_by_chance(p, at, b, &light));
    }
    if (l->glowing_count > 0) {
        real choice = path_draw(p), u = path_draw(p), v = path_draw(p);
        lamp_light light = lamps_draw_glow(l, &p->tracer->world, at->position, choice, u, v);
        sum = add3(sum, light_by_chance(p, at, b, &light));
    }
    return sum;
}
