#define ORR_SCALAR
#include "render/reference/captured.h"

#include "engine/maths/vector.h"
#include "render/field_light/captured_light_formula.h"
#include "render/formula_inputs.h"
#include "render/reference/bsdf.h"

#include <string.h>

// The light that frames take for that of the capture: the first that casts shadows. False: there is none.
static bool find_light(const orr_draw_list *list, const lamps *l, captured *c)
{
    c->lamp = -1;
    if (l->sun_share > 0.0f) {
        return true;
    }
    for (int i = 0; i < list->light_count; i++) {
        const orr_draw_light *light = &list->lights[i];
        if (light->casts_shadows && light->diffuse[0] + light->diffuse[1] + light->diffuse[2] > 0.0f) {
            c->lamp = i;
            return true;
        }
    }
    return false;
}

static void find_added(const orr_draw_list *list, captured *c)
{
    orr_draw_list world = {.lens.view = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                           .sun = list->sun,
                           .light_count = list->light_count};
    memcpy(world.lights, list->lights, sizeof world.lights);
    memcpy(world.captured_white, list->captured_white, sizeof world.captured_white);
    orr_draw_captured_lamps(&world, &c->added);
    for (int i = 0, k = 0; i < list->light_count; i++) {
        if (list->lights[i].lights_captured) {
            c->added_points[k] = i;
            c->added_maps[k] = orr_self_shadow_of_light(list->self_shadow, c->added.numbers[k]);
            k++;
        }
    }
}

orr_result captured_gather(const orr_draw_list *list, const lamps *l, const orr_gaussian_walk *walk,
                           captured *c, orr_error *error)
{
    const orr_draw_occlusion *o = &list->occlusion;
    *c = (captured){.umbra = list->umbra,
                    .walk = walk,
                    .self = orr_self_shadow_of_capture(list->self_shadow),
                    .depths = list->self_shadow ? list->self_shadow->depths : NULL,
                    .strength = o->radius > 0.0f ? o->strength : 0.0f};
    memcpy(c->up, o->up, sizeof c->up);
    find_added(list, c);
    c->by_lamp = orr_draw_captured_by_lamp(list);
    if (!list->shadows || !find_light(list, l, c)) {
        c->umbra = 1.0f;
    }
    if (!list->shadows || (c->umbra >= 1.0f && c->added.count == 0)) {
        return ORR_OK;
    }
    for (int i = 0; i < list->splat_count && c->caster_count < ORR_CLOUD_CASTERS; i++) {
        if (list->splats[i].casts_shadow) {
            ORR_TRY(orr_gaussians_build(&list->splats[i], 1, &c->casters[c->caster_count], error));
            c->caster_layers[c->caster_count++] = i;
        }
    }
    return ORR_OK;
}

void captured_free(captured *c)
{
    for (int i = 0; i < c->caster_count; i++) {
        orr_gaussians_free(&c->casters[i]);
    }
    *c = (captured){.umbra = 1.0f};
}

// A direction to a light of lamps.points, or the sun; pdf 0: it does not shine there.
static lamp_light draw_light(const lamps *l, int number, const captured_point *at)
{
    const real u = orr_rng_uniform(at->random), v = orr_rng_uniform(at->random);
    if (number < 0) {
        return lamps_draw_sun(l, u, v);
    }
    const orr_light_values *lamp = &l->points.lights[number];
    if (lamp->area > 0.5f) {
        return lamps_draw_area(lamp, at->position, u, v);
    }
    lamp_light light = {.pdf = 0.0f};
    if (l->radius[number] > 0.0f) {
        light = lamps_draw_round(l, number, at->position, u, v);
    }
    if (!(light.pdf > 0.0f)) {
        const light_incidence incident = light_incident(light_of(lamp), at->position);
        light.to_light = incident.to_light;
        light.distance =
            lamp->directional > 0.5f ? INFINITY : length3(sub3(of_three(lamp->position), at->position));
        light.pdf = incident.strength > 0.0f ? 1.0f : 0.0f;
    }
    return light;
}

static orr_ray ray_from(const captured_point *at, real3 d, real length)
{
    const real3 p = at->position;
    return (orr_ray){{p.x, p.y, p.z}, {d.x, d.y, d.z}, 0.0f, length};
}

static bool is_met(const surfaces *s, const captured_point *at, const orr_ray *ray)
{
    const surface_sieve sieve = {s, at->random, .to_lamp = true};
    ++*at->rays;
    return surfaces_any(&sieve, ray);
}

// How much of the light from all around there is, by one direction drawn by Lambert's law.
static real open_part(const captured *c, const surfaces *s, const captured_point *at)
{
    if (!(c->strength > 0.0f)) {
        return 1.0f;
    }
    const real u = orr_rng_uniform(at->random), angle = 2.0f * BSDF_PI * orr_rng_uniform(at->random);
    const real ring = sqrtf(u);
    const real3 local = make_real3(ring * cosf(angle), ring * sinf(angle), sqrtf(1.0f - u));
    const orr_ray ray = ray_from(at, frame_out(of_three(c->up), local), INFINITY);
    return is_met(s, at, &ray) ? 1.0f - c->strength : 1.0f;
}

// How much of a light reaches a surface past what was captured with it, as in frames; 1 without a map.
static real lit_part(const captured *c, const orr_self_map *map, real3 position, real3 normal)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    if (!map) {
        return 1.0f;
    }
    const orr_shadow_values values = orr_self_shadow_values(map, identity);
    const shadow_square s = shadow_find(shadow_view_of(&values), position, normal);
    const int size = map->size;
    const float *first = c->depths + map->first +
                         ((size_t)s.slot * (size_t)size + (size_t)s.top) * (size_t)size + (size_t)s.left;
    real rows[4];
    for (int k = 0; k < 4; k++) {
        const float *row = first + (ptrdiff_t)k * size;
        rows[k] = shadow_sum(s.part_x, shadow_test(s, row[0]), shadow_test(s, row[1]), shadow_test(s, row[2]),
                             shadow_test(s, row[3]));
    }
    return shadow_visible(s, shadow_sum(s.part_y, rows[0], rows[1], rows[2], rows[3]));
}

// What meshes, and clouds that cast shadows, leave of light from a direction.
static real passes_movers(const captured *c, const surfaces *s, const captured_point *at,
                          const lamp_light *light)
{
    const orr_ray ray = ray_from(at, light->to_light, light->distance * (1.0f - 1e-4f));
    real visible = is_met(s, at, &ray) ? 0.0f : 1.0f;
    for (int i = 0; i < c->caster_count && visible > 0.0f; i++) {
        if (c->caster_layers[i] != at->owner) {
            visible *= c->walk->transmittance(&c->casters[i], &ray);
        }
    }
    return visible;
}

real captured_ratio(const captured *c, const lamps *l, const surfaces *s, const captured_point *at)
{
    const lamp_light light = draw_light(l, c->lamp, at);
    const real open = open_part(c, s, at);
    const real lit = lit_part(c, c->self, at->position, make_real3(0.0f, 0.0f, 0.0f));
    const bool shown_already = c->by_lamp && at->owner < 0;
    if (!(light.pdf > 0.0f) || shown_already) {
        return shadow_ratio(c->umbra, 1.0f, open, lit);
    }
    return shadow_ratio(c->umbra, passes_movers(c, s, at, &light), open, lit);
}

// The part of an added lamp that reaches the point.
static real added_part(const captured *c, const lamps *l, const surfaces *s, const captured_point *at,
                       int which, real3 normal)
{
    const lamp_light light = draw_light(l, c->added_points[which], at);
    const real lit = lit_part(c, c->added_maps[which], at->position, normal);
    return light.pdf > 0.0f && lit > 0.0f ? lit * passes_movers(c, s, at, &light) : 0.0f;
}

real3 captured_added_light(const captured *c, const lamps *l, const surfaces *s, const captured_point *at,
                           real3 normal, real known)
{
    real3 sum = make_real3(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < c->added.count; i++) {
        const orr_light_values *lamp = &c->added.lamps[i];
        const light_incidence incident = light_incident(light_of(lamp), at->position);
        const real cosine = fmaxf(dot3(incident.to_light, normal), 0.0f);
        const real strength = incident.strength * captured_facing(known, cosine);
        if (strength > (real)CAPTURED_FAINT) {
            sum = add_scaled3(sum, of_three(lamp->diffuse), strength * added_part(c, l, s, at, i, normal));
        }
    }
    return sum;
}
