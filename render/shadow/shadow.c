#include "render/shadow/self_shadow.h"

#include "engine/maths/vector.h"
#include "render/shadow/shadow_cascades.h"

#include <math.h>
#include <string.h>

static const float cutoff_max = 80.0f; // [degrees] of a spot that one map can show
static const int margin = 4; // [texels] at the map's rim: what a lookup reads, and what snapping moves
// likewise of a map that others go on from, whose point is not at the rim but may be lifted over it by 2.9
// texels, and of a cube's become nearer by as many
static const int rim_margin = 8;

// What maps are fitted to: the meshes of a list, or a box.
typedef struct casters {
    const orr_draw_list *list;
    const orr_caster_span *box; // of the world; NULL: the meshes
} casters;

static orr_caster_span bounds_of(const casters *c, const orr_caster_light *light, const float view[12],
                                 float slope)
{
    return c->box ? orr_caster_box_bounds(c->box, view, slope)
                  : orr_caster_bounds(c->list, light, view, slope);
}

// How far from a point the maps of a light with a size are read [texels]; it widens their rims.
static int reach_of(const orr_caster_light *light, int size)
{
    return light->spread > 0.0f ? size / 16 : 0;
}

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
static bool fit_directional(const casters *c, const orr_caster_light *light, int size, orr_lens *lens)
{
    *lens = empty_lens(size);
    lens->orthographic = true;
    look_along(light->direction, lens->view);
    const orr_caster_span s = bounds_of(c, light, lens->view, 0.0f);
    float side = fmaxf(s.high[0] - s.low[0], s.high[1] - s.low[1]), depth = s.high[2] - s.low[2];
    if (!(side >= 0.0f) || !isfinite(side) || !isfinite(depth)) {
        return false;
    }
    // at least what coordinates this far from the origin resolve
    float far_out = fmaxf(fabsf(s.low[0] + s.high[0]), fabsf(s.low[1] + s.high[1]));
    float texel =
        fmaxf(side / (float)(size - 2 * (margin + reach_of(light, size))), 1e-6f * far_out + 1e-12f);
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

// Looks from the light; its view has the rows of a rotation already. rim: tangent of the angle between its
// axis and its rim
static bool fit_perspective(const casters *c, const orr_caster_light *light, int rim_texels, float rim,
                            bool all, orr_lens *lens)
{
    const float half = 0.5f * (float)lens->width;
    for (int k = 0; k < 3; k++) {
        lens->view[4 * k + 3] = -vec3f_dot(lens->view + 4 * k, light->position);
    }
    memcpy(lens->position, light->position, sizeof lens->position);
    lens->focal[0] = lens->focal[1] =
        (float)(lens->width / 2 - rim_texels - reach_of(light, lens->width)) / rim;
    const orr_caster_span s = bounds_of(c, light, lens->view, all ? 0.0f : half / lens->focal[0]);
    if (!(s.high[2] > 0.0f) || !isfinite(s.high[2])) {
        return false;
    }
    for (int k = 0; k < 2; k++) { // a little beyond the rim, as a camera's
        lens->slope_high[k] = 1.3f * half / lens->focal[k];
        lens->slope_low[k] = -lens->slope_high[k];
    }
    // a little before what is nearest, so that a lamp's own case casts a shadow too
    lens->near_plane = fmaxf(0.99f * s.low[2], 1e-4f * s.high[2]);
    lens->far_plane = 1.01f * s.high[2];
    return true;
}

static bool fit_spot(const casters *c, const orr_caster_light *light, int size, orr_lens *lens)
{
    const float cutoff = 0.01745329252f * fmaxf(light->cutoff, 0.1f);
    // lifted by 2.9 texels, a point at the rim may be this far beyond it
    const int lifted = (int)ceilf(2.9f / cosf(cutoff));
    *lens = empty_lens(size);
    look_along(light->direction, lens->view);
    return fit_perspective(c, light, margin + lifted, tanf(cutoff), true, lens);
}

// Face +x -x +y -y +z -z of a cube around the light, as shadow_turn of shadow_formula.h has them.
static bool fit_face(const casters *c, const orr_caster_light *light, int size, int face, orr_lens *lens)
{
    const float sign = face % 2 == 0 ? 1.0f : -1.0f;
    const int axis = face / 2;
    *lens = empty_lens(size);
    lens->view[(axis + 1) % 3] = sign;
    lens->view[4 + (axis + 2) % 3] = 1.0f;
    lens->view[8 + axis] = sign;
    return fit_perspective(c, light, rim_margin, 1.0f, false, lens);
}

// ---- the plan ----

static bool is_dark(const float a[3], const float b[3])
{
    return a[0] == 0.0f && a[1] == 0.0f && a[2] == 0.0f && b[0] == 0.0f && b[1] == 0.0f && b[2] == 0.0f;
}

// The values of a light's map, but not where it is.
static orr_shadow_values values_of(const orr_lens *lens, const orr_caster_light *light, int reach,
                                   const float view[12], const float from_camera[12])
{
    orr_shadow_values values = {.focal = lens->focal[0],
                                .centre = {lens->centre[0], lens->centre[1]},
                                .size = (float)lens->width,
                                .orthographic = lens->orthographic ? 1.0f : 0.0f,
                                .spread = light->spread,
                                .nearest = lens->near_plane,
                                .reach = (float)reach};
    orr_affine_multiply(view, from_camera, values.to_light);
    return values;
}

// Adds the cascades of a light whose first map, of everything, is fitted; returns how many.
static int fit_cascades(const casters *c, const orr_caster_light *light, const float from_camera[12],
                        orr_shadow_plan *plan)
{
    orr_shadow_map *maps = &plan->maps[plan->map_count];
    const orr_lens *whole = &maps->lens;
    const int used = plan->cascade_used, left = ORR_SHADOW_CASCADES_MAX - used;
    const orr_caster_span s = bounds_of(c, light, whole->view, 0.0f);
    orr_cascade_lens fitted[ORR_SHADOW_CASCADES];
    // no less than in the map of everything, in scene units, but as far as penumbrae of what casts shadows
    // are wide on one another
    const float reach =
        fminf((float)reach_of(light, whole->width) / whole->focal[0], light->spread * (s.high[2] - s.low[2]));
    const int count =
        orr_shadow_cascades_fit(c->list, whole, &s, rim_margin, reach,
                                left < ORR_SHADOW_CASCADES ? left : ORR_SHADOW_CASCADES, fitted);
    for (int i = 0; i < count; i++) {
        const orr_lens *lens = &fitted[i].lens;
        orr_cascade_values *values = &plan->cascades[used + i];
        maps[1 + i].lens = *lens;
        values->map = values_of(lens, light, (int)(reach * lens->focal[0]), lens->view, from_camera);
        values->map.slots[0] = (float)(1 + i);
        values->middle = fitted[i].middle;
        values->extent = fitted[i].extent;
    }
    return count;
}

// The light's maps, from the plan's `map_count` on: their lenses, and of a cube their slots. Returns how
// many.
static int fit_maps(const casters *c, const orr_caster_light *light, bool cube, orr_shadow_values *values,
                    orr_shadow_plan *plan)
{
    orr_shadow_map *maps = &plan->maps[plan->map_count];
    if (!cube) {
        return (light->directional ? fit_directional : fit_spot)(c, light, plan->size, &maps->lens);
    }
    const int size = plan->size < ORR_SHADOW_FACE_MAX ? plan->size : ORR_SHADOW_FACE_MAX;
    int count = 0;
    for (int face = 0; face < ORR_SHADOW_FACES; face++) {
        bool seen = fit_face(c, light, size, face, &maps[count].lens);
        values->slots[face] = seen ? (float)count++ : -1.0f;
    }
    return count;
}

// The light as a spot that looks at a box, if it is far enough outside of it for one map to show it.
static orr_caster_light aimed_at(const orr_caster_span *box, const orr_caster_light *light)
{
    const float degrees = 57.29577951f, far_enough = 1.25f; // radii of the ball around the box
    orr_caster_light aimed = *light;
    float to_middle[3], half[3];
    for (int k = 0; k < 3; k++) {
        to_middle[k] = 0.5f * (box->low[k] + box->high[k]) - light->position[k];
        half[k] = 0.5f * (box->high[k] - box->low[k]);
    }
    const float distance = sqrtf(vec3f_dot(to_middle, to_middle)), radius = sqrtf(vec3f_dot(half, half));
    if (light->directional || !(distance > far_enough * radius)) {
        return aimed;
    }
    for (int k = 0; k < 3; k++) {
        aimed.direction[k] = to_middle[k] / distance;
    }
    aimed.cutoff = degrees * asinf(radius / distance);
    return aimed;
}

// Fits the next maps to a light of number `index` among those of orr_draw_light_up.
static void add_light(const casters *c, const orr_caster_light *given, int index, orr_shadow_plan *plan)
{
    const orr_caster_light aimed = c->box ? aimed_at(c->box, given) : *given, *light = &aimed;
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const bool cube = !light->directional && light->cutoff > cutoff_max;
    orr_shadow_values fitted = {0};
    orr_shadow_map *maps = &plan->maps[plan->map_count];
    float from_camera[12], view[12];
    if (plan->light_count == ORR_SHADOW_LIGHTS ||
        orr_affine_invert(c->list->lens.view, from_camera, NULL) != ORR_OK) {
        return;
    }
    int count = fit_maps(c, light, cube, &fitted, plan);
    if (count == 0) {
        return;
    }
    const orr_lens *lens = &maps->lens;
    memcpy(view, cube ? identity : lens->view, sizeof view);
    for (int k = 0; k < 3 && cube; k++) {
        view[4 * k + 3] = -light->position[k];
    }
    orr_shadow_values values = values_of(lens, light, reach_of(light, lens->width), view, from_camera);
    values.cube = cube ? 1.0f : 0.0f;
    memcpy(values.slots, fitted.slots, sizeof values.slots);
    for (int i = 1; i < count; i++) {
        values.nearest = fminf(values.nearest, maps[i].lens.near_plane);
    }
    const int cascades = light->directional && !c->box ? fit_cascades(c, light, from_camera, plan) : 0;
    plan->cascade_firsts[plan->light_count] = plan->cascade_used;
    plan->cascade_counts[plan->light_count] = cascades;
    plan->cascade_used += cascades;
    count += cascades;
    plan->firsts[plan->light_count] = plan->texels;
    plan->tops[plan->light_count] = plan->rows;
    const int in_row = cube || cascades > 0 ? 2 : 1;
    for (int i = 0; i < count; i++) {
        maps[i].first = plan->texels + i * lens->width * lens->width;
        maps[i].left = i % in_row * lens->width;
        maps[i].top = plan->rows + i / in_row * lens->width;
    }
    plan->texels += count * lens->width * lens->width;
    plan->rows += (count + in_row - 1) / in_row * lens->width;
    const int columns = in_row * lens->width;
    plan->columns = columns > plan->columns ? columns : plan->columns;
    plan->map_count += count;
    plan->values[plan->light_count] = values;
    plan->light_of[index] = plan->light_count++;
}

static void take_captured(const orr_draw_list *list, orr_shadow_plan *plan)
{
    for (int i = 0; i <= ORR_DRAW_LIGHTS; i++) {
        const int light = plan->light_of[i];
        if (light >= 0) {
            const orr_self_map *map = orr_self_shadow_of_light(list->self_shadow, i);
            plan->captured[light] = orr_self_shadow_values(map, list->lens.view);
            plan->captured_firsts[light] = map ? map->first : 0;
        }
    }
}

static void make_plan(const casters *c, int size_max, orr_shadow_plan *plan)
{
    const orr_draw_list *list = c->list;
    const orr_draw_sun *sun = &list->sun;
    static const float black[3];
    int index = 0;
    plan->light_count = plan->map_count = plan->texels = plan->columns = plan->rows = plan->cascade_used = 0;
    plan->size = size_for(&list->lens);
    plan->size = plan->size < size_max ? plan->size : size_max;
    for (int i = 0; i <= ORR_DRAW_LIGHTS; i++) {
        plan->light_of[i] = -1;
    }
    if (!list->shadows) {
        return;
    }
    if (!is_dark(sun->colour, black)) {
        const orr_caster_light light = {
            .directional = true,
            .direction = {-sun->direction[0], -sun->direction[1], -sun->direction[2]},
            .spread = tanf(sun->radius)};
        add_light(c, &light, index++, plan);
    }
    for (int i = 0; i < list->light_count; i++, index++) {
        const orr_draw_light *l = &list->lights[i];
        orr_caster_light light = {.directional = l->directional,
                                  .cutoff = l->cutoff,
                                  .spread = l->directional ? tanf(l->radius) : l->radius};
        memcpy(light.position, l->position, sizeof light.position);
        memcpy(light.direction, l->direction, sizeof light.direction);
        if (l->casts_shadows && !is_dark(l->diffuse, l->specular)) {
            add_light(c, &light, index, plan);
        }
    }
}

void orr_shadow_plan_make(const orr_draw_list *list, orr_shadow_plan *plan)
{
    make_plan(&(casters){list, NULL}, ORR_SHADOW_SIZE_MAX, plan);
    take_captured(list, plan);
}

void orr_shadow_plan_make_around(const orr_draw_list *list, const orr_caster_span *box, int size_max,
                                 orr_shadow_plan *plan)
{
    make_plan(&(casters){list, box}, size_max, plan);
}

int orr_shadow_first_light(const orr_shadow_plan *plan)
{
    for (int i = 0; i <= ORR_DRAW_LIGHTS && plan->light_count > 0; i++) {
        if (plan->light_of[i] == 0) {
            return i;
        }
    }
    return -1;
}

orr_draw_list orr_shadow_list(const orr_draw_list *list, const orr_shadow_plan *plan, int index)
{
    return (orr_draw_list){.lens = plan->maps[index].lens,
                           .meshes = list->meshes,
                           .mesh_count = list->mesh_count,
                           .only_solid = true,
                           .only_casters = true};
}
