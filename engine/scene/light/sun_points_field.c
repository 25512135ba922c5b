// Points of radiance fields, for the sun's estimate: where their density ends beside free space, as a
// collider finds it (engine/collider/radiance.h), with the colour that a short ray from there shows.
#define ORR_SCALAR
#include "engine/collider/radiance.h"
#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/vector.h"
#include "engine/scene/light/sun_points.h"

#include <math.h>
#include <string.h>

enum {
    CELLS = 96,                              // along the longest side
    BUNDLE = ORR_FIELD_TILE * ORR_FIELD_TILE // rays followed together
};
static const double SURFACE = 0.5; // opacity of a cell where density ends
static const double GAP = 4.0;     // width of gaps that are closed [cells]
static const double ISLAND = 0.01; // smaller pieces, of the largest, are left out
static const float AWAY = 3.0f;    // from the surface to where a ray begins [cells]
static const float RADIUS = 0.6f;  // of a point's shadow [cells]

typedef struct field_points {
    const orr_lattice *lattice;
    const orr_field_layer_rays *rays;
    float to_world[12]; // from the lattice's cells
    float cell;         // world
    orr_sun_points *all;
    int64_t first; // its own of all
} field_points;

// The gradient of the values around a lattice point, each of 3 x 3 differences along an axis: it points into
// free space.
static void gradient_at(const orr_lattice *l, const int at[3], float gradient[3])
{
    memset(gradient, 0, 3 * sizeof *gradient);
    for (int k = 0; k < 27; k++) {
        const int offset[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        const float value =
            (float)l->value[orr_lattice_index(l, at[0] + offset[0], at[1] + offset[1], at[2] + offset[2])];
        for (int a = 0; a < 3; a++) {
            gradient[a] += (float)offset[a] * value;
        }
    }
}

// Of the surface between a lattice point in free space and the next along an axis, to either side.
static orr_result add_crossing(field_points *f, const int at[3], int axis, int side, orr_error *error)
{
    const orr_lattice *l = f->lattice;
    int next[3] = {at[0], at[1], at[2]};
    next[axis] += side;
    const size_t a = orr_lattice_index(l, at[0], at[1], at[2]),
                 b = orr_lattice_index(l, next[0], next[1], next[2]);
    if (l->label[b] != ORR_POINT_SURFACE) {
        return ORR_OK;
    }
    orr_sun_points *all = f->all;
    ORR_GROW(all->points, all->capacity, (int)all->count + 1, "points of a capture", error);
    orr_sun_point *p = &all->points[all->count];
    float here[3] = {(float)at[0], (float)at[1], (float)at[2]}, gradient[3];
    const float above = (float)l->value[a], below = (float)l->value[b];
    here[axis] += (float)side * (above > below ? fminf(fmaxf(above / (above - below), 0.0f), 1.0f) : 0.5f);
    gradient_at(l, at, gradient);
    *p = (orr_sun_point){.cluster = -1, .radius = RADIUS * f->cell};
    affine_apply_to_point(f->to_world, here, p->position);
    affine_apply_to_direction(f->to_world, gradient, p->normal);
    const float length = sqrtf(vec3f_dot(p->normal, p->normal));
    for (int k = 0; k < 3 && length > 0.0f; k++) {
        p->normal[k] /= length;
    }
    all->count += length > 0.0f;
    return ORR_OK;
}

static orr_result find_surface(field_points *f, orr_error *error)
{
    const orr_lattice *l = f->lattice;
    for (int z = 1; z < l->points[2] - 1; z++) {
        for (int y = 1; y < l->points[1] - 1; y++) {
            for (int x = 1; x < l->points[0] - 1; x++) {
                const int at[3] = {x, y, z};
                if (l->label[orr_lattice_index(l, x, y, z)] != ORR_POINT_FREE) {
                    continue;
                }
                for (int k = 0; k < 6; k++) {
                    ORR_TRY(add_crossing(f, at, k / 2, k % 2 ? 1 : -1, error));
                }
            }
        }
    }
    return ORR_OK;
}

// Colours, and positions where the field is seen rather than where its lattice ends.
static void look(void *context, int bundle, int worker)
{
    const field_points *f = context;
    const int64_t left = f->all->count - f->first - (int64_t)bundle * BUNDLE;
    const int count = left < BUNDLE ? (int)left : BUNDLE;
    orr_sun_point *points = f->all->points + f->first + (int64_t)bundle * BUNDLE;
    orr_field_ray rays[BUNDLE] = {{.far_depth = 0.0f}};
    orr_field_seen seen[BUNDLE];
    for (int i = 0; i < count; i++) {
        const orr_sun_point *p = &points[i];
        rays[i] = (orr_field_ray){.ray.depth = 1.0f, .far_depth = 2.0f * AWAY * f->cell};
        for (int k = 0; k < 3; k++) {
            rays[i].ray.origin[k] = p->position[k] + AWAY * f->cell * p->normal[k];
            rays[i].ray.direction[k] = -p->normal[k];
        }
    }
    orr_field_layer_follow(f->rays, worker, rays, count, seen);
    for (int i = 0; i < count; i++) {
        orr_sun_point *p = &points[i];
        const float alpha = seen[i].rgba[3];
        float display[3] = {0.0f};
        for (int k = 0; k < 3 && alpha > 0.5f; k++) {
            p->position[k] = rays[i].ray.origin[k] + seen[i].depth * rays[i].ray.direction[k];
            display[k] = seen[i].rgba[k] / alpha;
        }
        p->flat = alpha > 0.5f;
        orr_sun_point_colour(p, display);
    }
}

static orr_result add_points(field_points *f, const orr_layer_data *layer, const float model[12],
                             orr_error *error)
{
    orr_jobs *jobs = f->all->scene->context.jobs;
    const float cell = (float)f->lattice->cell;
    const double *origin = f->lattice->origin;
    const float own[12] = {cell, 0, 0,    (float)origin[0], 0, cell, 0, (float)origin[1],
                           0,    0, cell, (float)origin[2]};
    static const float no_sun[3] = {0.0f, 0.0f, 0.0f}; // which a radiance field does not ask for
    orr_arena arena = {0};
    orr_field_layer_rays rays;
    orr_affine_multiply(model, own, f->to_world);
    f->cell = sqrtf(f->to_world[0] * f->to_world[0] + f->to_world[4] * f->to_world[4] +
                    f->to_world[8] * f->to_world[8]);
    ORR_TRY(find_surface(f, error));
    orr_result result = orr_field_layer_rays_begin(layer->field, jobs, &arena, model, no_sun, &rays, error);
    if (result == ORR_OK) {
        f->rays = &rays;
        orr_jobs_for(jobs, orr_blocks(f->all->count - f->first, BUNDLE), look, f);
    }
    orr_arena_destroy(&arena);
    return result;
}

orr_result orr_sun_points_add_field(orr_sun_points *all, const orr_layer_data *layer, orr_error *error)
{
    orr_lattice lattice;
    orr_collider_report unread = {0};
    float model[12];
    ORR_TRY(orr_affine_from_transform(&layer->transform, model, error));
    orr_error why;
    orr_collider_desc desc = {
        .cell = orr_layer_longest_side(layer) / CELLS, .opacity = SURFACE, .island = ISLAND};
    desc.gap = GAP * desc.cell;
    const orr_result made = orr_collider_of_radiance(layer->field, &desc, layer->name,
                                                     all->scene->context.jobs, NULL, &lattice, &unread, &why);
    if (made == ORR_ERROR_ARGUMENT) {
        return ORR_OK; // it has no surface
    }
    if (made != ORR_OK) {
        return orr_fail(error, (orr_code)why.code, "%s", why.message);
    }
    field_points f = {.lattice = &lattice, .all = all, .first = all->count};
    const orr_result result = add_points(&f, layer, model, error);
    orr_lattice_destroy(&lattice);
    return result;
}
