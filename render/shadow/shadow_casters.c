#include "render/shadow/shadow_casters.h"

#include "engine/maths/vector.h"

#include <math.h>

typedef orr_caster_span span;

static const span nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void extend(span *s, const float p[3])
{
    for (int k = 0; k < 3; k++) {
        s->low[k] = fminf(s->low[k], p[k]);
        s->high[k] = fmaxf(s->high[k], p[k]);
    }
}

static void extend_by_box(span *s, const float low[3], const float high[3], const float map[12])
{
    for (int corner = 0; corner < 8; corner++) {
        float q[3];
        orr_box_corner(low, high, map, corner, q);
        extend(s, q);
    }
}

static void extend_by_mesh(span *s, const orr_draw_mesh *item, const float to[12])
{
    float map[12];
    orr_affine_multiply(to, item->model, map);
    extend_by_box(s, item->mesh->low, item->mesh->high, map);
}

static float diagonal(const span *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) {
        float side = s->high[k] - s->low[k];
        sum += side > 0.0f ? side * side : 0.0f;
    }
    return sqrtf(sum);
}

// Has it a part that may cast a shadow?
static bool is_solid(const orr_mesh *mesh)
{
    for (int i = 0; i < mesh->part_count; i++) {
        const orr_mesh_material *material = &mesh->materials[mesh->parts[i].material];
        if (orr_glass_casts(material)) {
            return true;
        }
    }
    return false;
}

// The axis along which a mesh has no extent; -1: it has one along all.
static int flat_axis(const orr_mesh *mesh)
{
    float side[3];
    for (int k = 0; k < 3; k++) {
        side[k] = mesh->high[k] - mesh->low[k];
    }
    float longest = fmaxf(side[0], fmaxf(side[1], side[2]));
    for (int k = 0; k < 3; k++) {
        if (side[k] <= 1e-4f * longest) {
            return k;
        }
    }
    return -1;
}

static bool can_cast(const orr_draw_mesh *item)
{
    return !item->bodies && is_solid(item->mesh);
}

// Everything that is not flat, in the world.
static span thick_bounds(const orr_draw_list *list)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    span s = nothing;
    for (int i = 0; i < list->mesh_count; i++) {
        if (can_cast(&list->meshes[i]) && flat_axis(list->meshes[i].mesh) < 0) {
            extend_by_mesh(&s, &list->meshes[i], identity);
        }
    }
    return s;
}

// Is a mesh a floor: flat, far larger than what stands on it, and that is on its lit side? It shadows nothing
// that matters, and would take all texels of a map that it is fitted into.
static bool is_floor(const orr_draw_mesh *item, const span *thick, const orr_caster_light *light)
{
    int axis = flat_axis(item->mesh);
    span own = nothing;
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    if (axis < 0 || thick->low[0] > thick->high[0]) {
        return false;
    }
    extend_by_mesh(&own, item, identity);
    if (diagonal(&own) < 4.0f * diagonal(thick)) {
        return false;
    }
    float along[3] = {0.0f, 0.0f, 0.0f}, normal[3], on[3], things = 0.0f, lamp = 0.0f;
    along[axis] = 1.0f;
    affine_apply_to_direction(item->model, along, normal);
    affine_apply_to_point(item->model, item->mesh->low, on);
    for (int k = 0; k < 3; k++) {
        things += normal[k] * (0.5f * (thick->low[k] + thick->high[k]) - on[k]);
        lamp += normal[k] * (light->directional ? -light->direction[k] : light->position[k] - on[k]);
    }
    return things * lamp > 0.0f;
}

// May a lens of that slope to all sides see something of a box?
static bool is_seen(const float low[3], const float high[3], const float map[12], float slope)
{
    int beyond[5] = {0};
    for (int corner = 0; corner < 8; corner++) {
        float q[3];
        orr_box_corner(low, high, map, corner, q);
        beyond[4] += q[2] <= 0.0f;
        for (int k = 0; k < 2; k++) {
            beyond[2 * k] += q[k] > slope * q[2];
            beyond[2 * k + 1] += -q[k] > slope * q[2];
        }
    }
    for (int side = 0; side < 5; side++) {
        if (beyond[side] == 8) {
            return false;
        }
    }
    return true;
}

static bool mesh_is_seen(const orr_draw_mesh *item, const float view[12], float slope)
{
    float map[12];
    orr_affine_multiply(view, item->model, map);
    return is_seen(item->mesh->low, item->mesh->high, map, slope);
}

orr_caster_span orr_caster_box_bounds(const orr_caster_span *box, const float view[12], float slope)
{
    span s = nothing;
    if (slope <= 0.0f || is_seen(box->low, box->high, view, slope)) {
        extend_by_box(&s, box->low, box->high, view);
    }
    return s;
}

orr_caster_span orr_caster_bounds(const orr_draw_list *list, const orr_caster_light *light,
                                  const float view[12], float slope)
{
    const span thick = thick_bounds(list);
    span s = nothing;
    for (int i = 0; i < list->mesh_count; i++) {
        const orr_draw_mesh *item = &list->meshes[i];
        if (can_cast(item) && !is_floor(item, &thick, light) &&
            (slope <= 0.0f || mesh_is_seen(item, view, slope))) {
            extend_by_mesh(&s, item, view);
        }
    }
    return s;
}
