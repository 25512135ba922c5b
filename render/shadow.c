#include "render/shadow.h"

#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static const float cutoff_max = 80.0f; // [degrees] of a spot that one map can show
static const int margin = 4; // [texels] at the map's rim: what a lookup reads, and what snapping moves

// A light of orr_draw_light_up, in the world.
typedef struct caster_light {
    bool directional;
    float position[3], direction[3]; // direction: of the beam, unit
    float cutoff;                    // [degrees]
} caster_light;

// What a box of points spans.
typedef struct span {
    float low[3], high[3];
} span;

static const span nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void extend(span *s, const float p[3])
{
    for (int k = 0; k < 3; k++) {
        s->low[k] = fminf(s->low[k], p[k]);
        s->high[k] = fmaxf(s->high[k], p[k]);
    }
}

static void extend_by_mesh(span *s, const orr_draw_mesh *item, const float to[12])
{
    float map[12];
    orr_affine_multiply(to, item->model, map);
    for (int corner = 0; corner < 8; corner++) {
        float p[3], q[3];
        for (int k = 0; k < 3; k++) {
            p[k] = corner >> k & 1 ? item->mesh->high[k] : item->mesh->low[k];
        }
        affine_apply_to_point(map, p, q);
        extend(s, q);
    }
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

// ---- which meshes a map is fitted to ----

static bool is_solid(const orr_mesh *mesh)
{
    for (int i = 0; i < mesh->part_count; i++) {
        if (!mesh->materials[mesh->parts[i].material].blended) {
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
static bool is_floor(const orr_draw_mesh *item, const span *thick, const caster_light *light)
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

// The bounds of what a map is fitted to, in the space of `view`.
static span caster_bounds(const orr_draw_list *list, const caster_light *light, const float view[12])
{
    const span thick = thick_bounds(list);
    span s = nothing;
    for (int i = 0; i < list->mesh_count; i++) {
        if (can_cast(&list->meshes[i]) && !is_floor(&list->meshes[i], &thick, light)) {
            extend_by_mesh(&s, &list->meshes[i], view);
        }
    }
    return s;
}

// ---- maps ----

// The rows of a view along `axis`, without a translation; they depend on nothing else.
static void look_along(const float axis[3], float view[12])
{
    const double z[3] = {(double)axis[0], (double)axis[1], (double)axis[2]};
    const double other[3] = {fabs(z[0]) < 0.7, fabs(z[0]) >= 0.7, 0.0};
    double x[3], y[3];
    vec3_cross(other, z, x);
    vec3_normalise(x);
    vec3_cross(z, x, y);
    for (int k = 0; k < 3; k++) {
        view[k] = (float)x[k];
        view[4 + k] = (float)y[k];
        view[8 + k] = (float)z[k];
    }
    view[3] = view[7] = view[11] = 0.0f;
}

static int size_for(const orr_lens *lens)
{
    int side = lens->width > lens->height ? lens->width : lens->height, size = ORR_SHADOW_SIZE_MIN;
    while (2 * size <= side && size < ORR_SHADOW_SIZE_MAX) {
        size *= 2;
    }
    return size;
}

static orr_lens empty_lens(int size)
{
    const float middle = 0.5f * (float)size;
    return (orr_lens){.centre = {middle, middle},
                      .width = size,
                      .height = size,
                      .slope_low = {-1.0f, -1.0f},
                      .slope_high = {1.0f, 1.0f}};
}

// Sizes of texels are powers of 2^(1/4), and texels lie at multiples of their size: what moves a little
// leaves them where they are.
static bool fit_directional(const orr_draw_list *list, const caster_light *light, int size, orr_lens *lens)
{
    *lens = empty_lens(size);
    lens->orthographic = true;
    look_along(light->direction, lens->view);
    const span s = caster_bounds(list, light, lens->view);
    float side = fmaxf(s.high[0] - s.low[0], s.high[1] - s.low[1]), depth = s.high[2] - s.low[2];
    if (!(side >= 0.0f) || !isfinite(side) || !isfinite(depth)) {
        return false;
    }
    // at least what coordinates this far from the origin resolve
    float far_out = fmaxf(fabsf(s.low[0] + s.high[0]), fabsf(s.low[1] + s.high[1]));
    float texel = fmaxf(side / (float)(size - 2 * margin), 1e-6f * far_out + 1e-12f);
    texel = exp2f(0.25f * ceilf(4.0f * log2f(texel)));
    for (int k = 0; k < 2; k++) {
        lens->focal[k] = 1.0f / texel;
        lens->view[4 * k + 3] = -texel * roundf(0.5f * (s.low[k] + s.high[k]) / texel);
    }
    float before = 0.01f * depth + texel;
    lens->view[11] = 2.0f * before - s.low[2];
    lens->near_plane = before;
    lens->far_plane = depth + 3.0f * before;
    return true;
}

static bool fit_spot(const orr_draw_list *list, const caster_light *light, int size, orr_lens *lens)
{
    *lens = empty_lens(size);
    look_along(light->direction, lens->view);
    for (int k = 0; k < 3; k++) {
        lens->view[4 * k + 3] = -vec3f_dot(lens->view + 4 * k, light->position);
    }
    memcpy(lens->position, light->position, sizeof lens->position);
    const span s = caster_bounds(list, light, lens->view);
    if (!(s.high[2] > 0.0f) || !isfinite(s.high[2])) {
        return false;
    }
    const float radians = 0.01745329252f;
    lens->focal[0] = lens->focal[1] = (float)(size / 2 - margin) / tanf(radians * fmaxf(light->cutoff, 0.1f));
    // a little before what is nearest, so that a lamp's own case casts a shadow too
    lens->near_plane = fmaxf(0.99f * s.low[2], 1e-4f * s.high[2]);
    lens->far_plane = 1.01f * s.high[2];
    return true;
}

static bool is_dark(const float a[3], const float b[3])
{
    return a[0] == 0.0f && a[1] == 0.0f && a[2] == 0.0f && b[0] == 0.0f && b[1] == 0.0f && b[2] == 0.0f;
}

// Fits the next map to a light of number `index` among those of orr_draw_light_up.
static void add_map(const orr_draw_list *list, const caster_light *light, int index, orr_shadow_plan *plan)
{
    orr_lens *lens = &plan->lenses[plan->count];
    orr_shadow_values *values = &plan->values[plan->count];
    float from_camera[12];
    if (plan->count == ORR_SHADOW_MAPS ||
        !(light->directional ? fit_directional : fit_spot)(list, light, plan->size, lens) ||
        orr_affine_invert(list->lens.view, from_camera, NULL) != ORR_OK) {
        return;
    }
    *values = (orr_shadow_values){.focal = lens->focal[0],
                                  .centre = {lens->centre[0], lens->centre[1]},
                                  .size = (float)plan->size,
                                  .orthographic = lens->orthographic ? 1.0f : 0.0f};
    orr_affine_multiply(lens->view, from_camera, values->to_light);
    plan->map_of[index] = plan->count++;
}

void orr_shadow_plan_make(const orr_draw_list *list, orr_shadow_plan *plan)
{
    const orr_draw_sun *sun = &list->sun;
    static const float black[3];
    int index = 0;
    plan->count = 0;
    plan->size = size_for(&list->lens);
    for (int i = 0; i <= ORR_DRAW_LIGHTS; i++) {
        plan->map_of[i] = -1;
    }
    if (!list->shadows) {
        return;
    }
    if (!is_dark(sun->colour, black)) {
        const caster_light light = {
            .directional = true, .direction = {-sun->direction[0], -sun->direction[1], -sun->direction[2]}};
        add_map(list, &light, index++, plan);
    }
    for (int i = 0; i < list->light_count; i++, index++) {
        const orr_draw_light *l = &list->lights[i];
        caster_light light = {.directional = l->directional, .cutoff = l->cutoff};
        memcpy(light.position, l->position, sizeof light.position);
        memcpy(light.direction, l->direction, sizeof light.direction);
        if (l->casts_shadows && !is_dark(l->diffuse, l->specular) &&
            (l->directional || l->cutoff <= cutoff_max)) {
            add_map(list, &light, index, plan);
        }
    }
}

orr_draw_list orr_shadow_list(const orr_draw_list *list, const orr_shadow_plan *plan, int index)
{
    return (orr_draw_list){.lens = plan->lenses[index],
                           .meshes = list->meshes,
                           .mesh_count = list->mesh_count,
                           .only_solid = true};
}
