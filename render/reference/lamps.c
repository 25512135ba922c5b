#define ORR_SCALAR
#include "render/reference/lamps.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "render/formula_inputs.h"

#include <string.h>

#define SUN_RADIUS 4.65e-3f // [rad] of its disc, seen from the Earth; where the list gives none
#define SKY_MAX 1.5f        // [rad] of a disc in the sky

static real triangle_area(const surfaces *s, uint32_t triangle)
{
    const float *p = s->corners + 9 * (size_t)triangle;
    real3 a = make_real3(p[0], p[1], p[2]);
    real3 ab = sub3(make_real3(p[3], p[4], p[5]), a), ac = sub3(make_real3(p[6], p[7], p[8]), a);
    return 0.5f * length3(cross3(ab, ac));
}

static real glow_of(const surfaces *s, uint32_t triangle)
{
    const surface_material *m = &s->materials[s->material_of[triangle]];
    // what is transparent or has holes is found by chance
    bool solid = !m->look->blended && m->look->alpha_cutoff <= 0.0f;
    return solid && !m->look->unlit ? m->glow : 0.0f;
}

static orr_result gather_glowing(const surfaces *s, lamps *l, orr_error *error)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->triangle_count; i++) {
        count += glow_of(s, (uint32_t)i) > 0.0f;
    }
    ORR_ALLOC(l->glowing, count, "glowing triangles", error);
    for (int64_t i = 0; i < s->triangle_count; i++) {
        real weight =
            glow_of(s, (uint32_t)i) > 0.0f ? glow_of(s, (uint32_t)i) * triangle_area(s, (uint32_t)i) : 0.0f;
        if (weight > 0.0f && isfinite(weight)) {
            l->glow += (double)weight;
            l->glowing[l->glowing_count++] = (glowing_triangle){(uint32_t)i, l->glow};
        }
    }
    return ORR_OK;
}

// ---- spheres and discs ----

// A sphere covers a cone of directions. A white surface that faces its middle, and sees it whole, reflects so
// much as if all light came from there: pi x radiance x the square of the cone's sine.

// 1 - the cosine of the cone, without cancellation.
static real cone_height(real sine_squared)
{
    return sine_squared / (1.0f + sqrtf(fmaxf(1.0f - sine_squared, 0.0f)));
}

// 1 / its solid angle [1/sr].
static real cone_share(real sine_squared)
{
    return 1.0f / (2.0f * BSDF_PI * cone_height(sine_squared));
}

static real3 cone_draw(real3 axis, real height, real u, real v)
{
    const real angle = 2.0f * BSDF_PI * u, rise = v * height;
    const real ring = sqrtf(rise * (2.0f - rise));
    return normalise3(frame_out(axis, make_real3(ring * cosf(angle), ring * sinf(angle), 1.0f - rise)));
}

static void set_sun(const orr_draw_sun *sun, lamps *l)
{
    if (sun->colour[0] == 0.0f && sun->colour[1] == 0.0f && sun->colour[2] == 0.0f) {
        return;
    }
    const real sine = sinf(sun->radius > 0.0f ? sun->radius : SUN_RADIUS);
    l->sun = normalise3(make_real3(sun->direction[0], sun->direction[1], sun->direction[2]));
    l->sun_radiance =
        scale3(make_real3(sun->colour[0], sun->colour[1], sun->colour[2]), 1.0f / (sine * sine));
    l->sun_share = cone_share(sine * sine);
}

// What of the lamps shines from a sphere, or from a disc in the sky: those whose shadows have soft edges.
static void set_radius(const orr_draw_light *light, float *radius)
{
    *radius = light->area                                     ? 0.0f
              : light->directional && light->radius < SKY_MAX ? sinf(light->radius)
              : light->directional                            ? sinf(SKY_MAX)
                                                              : light->radius;
    *radius = *radius > 0.0f && isfinite(*radius) ? *radius : 0.0f;
}

orr_result lamps_gather(const orr_draw_list *list, const surfaces *s, lamps *l, orr_error *error)
{
    static const float world[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    *l = (lamps){0};
    orr_draw_list in_world = *list;
    memcpy(in_world.lens.view, world, sizeof world);
    memset(in_world.sun.colour, 0, sizeof in_world.sun.colour);
    orr_draw_light_up(&in_world, &l->points);
    l->ambient = make_real3(l->points.ambient[0], l->points.ambient[1], l->points.ambient[2]);
    for (int i = 0; i < l->points.count; i++) {
        // the ambient part of a lamp that is infinitely far away comes from everywhere
        orr_light_values *light = &l->points.lights[i];
        if (light->directional > 0.5f) {
            l->ambient =
                add3(l->ambient, make_real3(light->ambient[0], light->ambient[1], light->ambient[2]));
            memset(light->ambient, 0, sizeof light->ambient);
        }
    }
    for (int i = 0; i < list->light_count; i++) {
        set_radius(&list->lights[i], &l->radius[i]);
    }
    set_sun(&list->sun, l);
    // probes are not: paths find what they have seen
    if (list->environment_count > 0 && list->environments[0].map->panorama.width > 0) {
        l->environment = &list->environments[0];
    }
    return gather_glowing(s, l, error);
}

void lamps_free(lamps *l)
{
    orr_free(l->glowing);
    *l = (lamps){0};
}

lamp_light lamps_draw_sun(const lamps *l, float u, float v)
{
    const real height = (1.0f / (2.0f * BSDF_PI)) / l->sun_share;
    return (lamp_light){.to_light = cone_draw(l->sun, height, u, v),
                        .radiance = l->sun_radiance,
                        .pdf = l->sun_share,
                        .distance = INFINITY};
}

// What a sphere or a disc is from a point.
typedef struct round_lamp {
    real3 towards;    // the middle, unit
    real distance;    // of it
    real sine;        // squared, of its cone; 0: there is none
    lamp_light light; // in any direction of the cone; its distance is not set
} round_lamp;

static round_lamp round_lamp_of(const lamps *l, int i, real3 from)
{
    const orr_light_values *lamp = &l->points.lights[i];
    const light_incidence incident = light_incident(light_of(lamp), from);
    round_lamp r = {.towards = incident.to_light, .distance = INFINITY, .sine = l->radius[i] * l->radius[i]};
    if (lamp->directional < 0.5f) {
        r.distance = length3(sub3(of_three(lamp->position), from));
        r.sine = r.distance > l->radius[i] ? r.sine / (r.distance * r.distance) : 0.0f;
    }
    if (r.sine > 0.0f) {
        r.light.radiance = scale3(of_three(lamp->diffuse), incident.strength / r.sine);
        r.light.pdf = cone_share(r.sine);
    }
    return r;
}

// How far it is to a sphere, in a direction of its cone.
static real distance_to(const round_lamp *r, real3 direction)
{
    if (!(r->distance < INFINITY)) {
        return INFINITY;
    }
    const real3 off = cross3(direction, r->towards); // the sine to the middle, by size
    const real cosine = dot3(direction, r->towards);
    return r->distance * (cosine - sqrtf(fmaxf(r->sine - dot3(off, off), 0.0f)));
}

lamp_light lamps_draw_round(const lamps *l, int i, real3 from, float u, float v)
{
    round_lamp r = round_lamp_of(l, i, from);
    if (r.sine > 0.0f) {
        r.light.to_light = cone_draw(r.towards, cone_height(r.sine), u, v);
        r.light.distance = distance_to(&r, r.light.to_light);
    }
    return r.light;
}

lamp_light lamps_meet_round(const lamps *l, int i, real3 from, real3 direction, float far)
{
    round_lamp r = round_lamp_of(l, i, from);
    const real3 off = cross3(direction, r.towards);
    const bool within = r.sine > 0.0f && dot3(direction, r.towards) > 0.0f && dot3(off, off) <= r.sine;
    r.light.to_light = direction;
    r.light.distance = within ? distance_to(&r, direction) : 0.0f;
    // what is infinitely far away is met where nothing else is
    const bool met = within && (r.light.distance < far || !(far < INFINITY));
    return met ? r.light : (lamp_light){0};
}

static const glowing_triangle *pick(const lamps *l, double weight)
{
    int64_t low = 0, high = l->glowing_count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (l->glowing[middle].until <= weight) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return &l->glowing[low];
}

lamp_light lamps_draw_glow(const lamps *l, const surfaces *s, real3 from, float choice, float u, float v)
{
    lamp_light light = {0};
    if (l->glowing_count == 0) {
        return light;
    }
    uint32_t triangle = pick(l, (double)choice * l->glow)->triangle;
    real root = sqrtf(u);
    orr_ray_hit hit = {.b = root * (1.0f - v), .c = root * v, .triangle = triangle};
    const float *p = s->corners + 9 * (size_t)triangle;
    real3 a = make_real3(p[0], p[1], p[2]);
    real3 ab = sub3(make_real3(p[3], p[4], p[5]), a), ac = sub3(make_real3(p[6], p[7], p[8]), a);
    real3 towards = sub3(add_scaled3(add_scaled3(a, ab, hit.b), ac, hit.c), from);
    light.distance = length3(towards);
    if (!(light.distance > 0.0f)) {
        return light;
    }
    light.to_light = scale3(towards, 1.0f / light.distance);
    surface_point there = surfaces_look(s, &hit, light.to_light);
    light.radiance = there.light;
    light.pdf = lamps_glow_pdf(l, &there, light.to_light, light.distance);
    return light;
}

float lamps_glow_pdf(const lamps *l, const surface_point *p, real3 direction, float distance)
{
    const orr_mesh_material *look = p->material;
    if (look->blended || look->alpha_cutoff > 0.0f || look->unlit || !(l->glow > 0.0)) {
        return 0.0f;
    }
    real cosine = fabsf(dot3(p->plane, direction));
    return cosine > 0.0f ? (float)((double)p->glow / l->glow) * distance * distance / cosine : 0.0f;
}

// ---- rectangles ----

// What comes from its point at a distance, in a direction whose cosine to its axis is given.
static lamp_light light_of_area(const orr_light_values *lamp, real3 from, real3 to_light, real distance,
                                real cosine)
{
    lamp_light light = {.to_light = to_light, .distance = distance};
    const real area = 4.0f * length3(of_three(lamp->right)) * length3(of_three(lamp->up));
    if (cosine > 0.0f && distance > 0.0f) {
        light.radiance = scale3(of_three(lamp->diffuse), light_area_fade(light_of(lamp), from));
        light.pdf = distance * distance / (area * cosine);
    }
    return light;
}

lamp_light lamps_draw_area(const orr_light_values *lamp, real3 from, float u, float v)
{
    real3 at = add_scaled3(of_three(lamp->position), of_three(lamp->right), 2.0f * u - 1.0f);
    real3 way = sub3(add_scaled3(at, of_three(lamp->up), 2.0f * v - 1.0f), from);
    const real distance = length3(way);
    way = scale3(way, 1.0f / fmaxf(distance, 1e-30f));
    return light_of_area(lamp, from, way, distance, -dot3(way, of_three(lamp->axis)));
}

lamp_light lamps_meet_area(const orr_light_values *lamp, real3 from, real3 direction, float far)
{
    const real3 middle = sub3(of_three(lamp->position), from), right = of_three(lamp->right),
                up = of_three(lamp->up);
    const real cosine = -dot3(direction, of_three(lamp->axis));
    const real distance = cosine > 0.0f ? -dot3(middle, of_three(lamp->axis)) / cosine : -1.0f;
    if (!(distance > 0.0f && distance < far)) {
        return (lamp_light){0};
    }
    const real3 off = sub3(scale3(direction, distance), middle);
    const bool inside = fabsf(dot3(off, right)) <= dot3(right, right) && fabsf(dot3(off, up)) <= dot3(up, up);
    return inside ? light_of_area(lamp, from, direction, distance, cosine) : (lamp_light){0};
}

static real3 radiance_of(const orr_draw_environment *e, const float rgb[3])
{
    return scale3(make_real3(rgb[0], rgb[1], rgb[2]), e->strength);
}

lamp_light lamps_draw_environment(const lamps *l, float choice, float u, float v)
{
    const orr_draw_environment *e = l->environment;
    lamp_light light = {.distance = INFINITY};
    float d[3], rgb[3];
    orr_panorama_draw(&e->map->panorama, (double)choice, u, v, d, rgb, &light.pdf);
    const float *m = e->to_map; // a rotation: its transpose leads back
    light.to_light = normalise3(make_real3(m[0] * d[0] + m[4] * d[1] + m[8] * d[2],
                                           m[1] * d[0] + m[5] * d[1] + m[9] * d[2],
                                           m[2] * d[0] + m[6] * d[1] + m[10] * d[2]));
    light.radiance = radiance_of(e, rgb);
    return light;
}

real3 lamps_behind(const lamps *l, real3 direction, float *pdf, real3 *sun)
{
    // by the chord: the cosine of so small an angle has too few digits
    real3 off = sub3(direction, l->sun);
    bool within = l->sun_share > 0.0f && dot3(off, off) * BSDF_PI * l->sun_share <= 1.0f;
    *sun = within ? l->sun_radiance : make_real3(0.0f, 0.0f, 0.0f);
    *pdf = 0.0f;
    if (!l->environment) {
        return l->ambient;
    }
    const float towards[3] = {direction.x, direction.y, direction.z};
    float d[3], rgb[3];
    affine_apply_to_direction(l->environment->to_map, towards, d);
    orr_panorama_look(&l->environment->map->panorama, d, rgb, pdf);
    return radiance_of(l->environment, rgb);
}
