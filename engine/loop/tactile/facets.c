// Soft bodies near a pad, and how deep a point is in them.
#include "engine/loop/tactile/facets.h"

#include "engine/core/memory.h"
#include "engine/maths/nearest.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static const char what[] = "tactile pads";
static const double same = 1e-9; // m: points that are nearer to each other are one, of an edge or a corner

// ---- what is near ----

// Does the body that the pad is on hold it? Then it moves with the pad, as geoms of that body do.
static bool is_held(const orr_world *world, const orr_world_physics *p, const orr_tactile_pad *pad,
                    const orr_world_soft *s)
{
    const int at = orr_scene_find(world->scene, (orr_layer){s->id.slot, s->id.generation});
    for (int i = 0; i < world->robots->count && at >= 0 && s->layer->ties > 0; i++) {
        const orr_world_robot *r = world->robots->robots[i];
        const orr_layer_data *layer = &world->scene->layers[at];
        if (r->physics == p && r->id.slot == layer->bound_to.slot &&
            r->id.generation == layer->bound_to.generation) {
            const int body = orr_model_place_body(&r->place, layer->bound_body);
            return p->model->body_weldid[body] == p->model->body_weldid[p->model->geom_bodyid[pad->geom]];
        }
    }
    return false;
}

static void subtract(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = a[k] - b[k];
    }
}

// The squared distance of a point from the box around a facet.
static double box_square(const orr_tactile_facet *f, const double p[3])
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        const double d = fmax(fmax(f->low[k] - p[k], p[k] - f->high[k]), 0.0);
        square += d * d;
    }
    return square;
}

// point: vertices x 3, then their velocities, in the pad's frame.
static orr_tactile_facet facet_of(const int32_t *vertex, const double *point, const double *velocity)
{
    orr_tactile_facet f = {.margin = 0.0};
    double a[3], b[3];
    for (int i = 0; i < 9; i++) {
        f.corner[i] = point[(ptrdiff_t)vertex[i / 3] * 3 + i % 3];
        f.velocity[i] = velocity[(ptrdiff_t)vertex[i / 3] * 3 + i % 3];
    }
    for (int k = 0; k < 3; k++) {
        f.low[k] = fmin(fmin(f.corner[k], f.corner[3 + k]), f.corner[6 + k]);
        f.high[k] = fmax(fmax(f.corner[k], f.corner[3 + k]), f.corner[6 + k]);
    }
    subtract(f.corner + 3, f.corner, a);
    subtract(f.corner + 6, f.corner, b);
    vec3_cross(a, b, f.normal);
    vec3_normalise(f.normal);
    return f;
}

static orr_result add_body(orr_tactile_facets *facets, const orr_tactile_pad *pad, const orr_world_soft *s,
                           int number, int index, const orr_soft_frame *frame, const double origin[3],
                           const double axes[9], orr_error *error)
{
    const int vertices = s->layer->cage->vertices, walls = orr_soft_walls(s->layer->model);
    const double *position = orr_world_soft_positions(s, index);
    int triangles;
    const int32_t *triangle = orr_soft_surface(s->layer->model, &triangles);
    ORR_GROW(facets->scratch, facets->scratch_capacity, vertices * 6, what, error);
    double *point = facets->scratch, *velocity = point + (ptrdiff_t)vertices * 3;
    orr_soft_get(s->copies[index], 0, NULL, velocity);
    for (int i = 0; i < vertices; i++) {
        double *at = point + (ptrdiff_t)i * 3, *v = velocity + (ptrdiff_t)i * 3;
        subtract(position + (ptrdiff_t)i * 3, frame->position, at);
        mat_apply_transposed(frame->rotation, at, at);
        subtract(at, origin, at);
        mat_apply(axes, at, at);
        mat_apply_transposed(frame->rotation, v, v);
        mat_apply(axes, v, v);
    }
    for (int i = 0; i < walls; i++) {
        orr_tactile_facet f = facet_of(triangle + (ptrdiff_t)i * 3, point, velocity);
        const double reach = pad->radius + facets->reach;
        if (box_square(&f, pad->middle) <= reach * reach) {
            ORR_GROW(facets->facet, facets->capacity, facets->count + 1, what, error);
            f.margin = s->layer->margin, f.body = number;
            facets->facet[facets->count++] = f;
        }
    }
    return ORR_OK;
}

static orr_result find_facets(orr_tactile_facets *facets, const orr_world *world, int index,
                              const orr_world_physics *p, const orr_tactile_pad *pad,
                              const orr_tactile_state *state, orr_error *error)
{
    const orr_soft_frame frame = orr_world_softs_frame(world, index, p);
    double origin[3], axes[9];
    orr_tactile_pad_frame(pad, state, origin, axes);
    facets->count = 0;
    facets->reach = pad->radius;
    for (int i = 0; i < world->softs->count; i++) {
        const orr_world_soft *s = &world->softs->bodies[i];
        if (!s->diverged[index] && !s->layer->untouchable && !is_held(world, p, pad, s)) {
            ORR_TRY(add_body(facets, pad, s, i, index, &frame, origin, axes, error));
        }
    }
    return ORR_OK;
}

// ---- of threads ----

orr_result orr_tactile_soft_create(orr_tactile_soft **soft, const orr_world *world,
                                   const orr_world_physics *physics, int workers, orr_error *error)
{
    if (world->softs->count > 0 && orr_world_softs_physics(world) == physics) {
        ORR_ALLOC(*soft, workers, what, error);
        memset(*soft, 0, (size_t)workers * sizeof **soft);
    }
    return ORR_OK;
}

void orr_tactile_soft_destroy(orr_tactile_soft *soft, int workers)
{
    for (int i = 0; i < workers && soft; i++) {
        orr_free(soft[i].facets.facet);
        orr_free(soft[i].facets.scratch);
    }
    orr_free(soft);
}

const orr_tactile_facets *orr_tactile_soft_near(orr_tactile_soft *s, const orr_world *world, int index,
                                                const orr_world_physics *physics, const orr_tactile_pad *pad,
                                                const orr_tactile_state *state)
{
    if (s->result == ORR_OK) {
        s->result = find_facets(&s->facets, world, index, physics, pad, state, &s->error);
    }
    return s->result == ORR_OK ? &s->facets : NULL;
}

orr_result orr_tactile_soft_check(orr_tactile_soft *soft, int workers, orr_error *error)
{
    orr_result result = ORR_OK;
    for (int i = 0; i < workers && soft; i++) {
        if (soft[i].result != ORR_OK && result == ORR_OK) {
            result = orr_fail(error, (orr_code)soft[i].error.code, "%s", soft[i].error.message);
        }
        soft[i].result = ORR_OK;
    }
    return result;
}

// ---- how deep a point is ----

typedef struct nearest {
    double square, point[3], velocity[3];
    double normal[3]; // outward; of an edge or a corner the sum of the facets', by their angles there
    double margin;
} nearest;

// The angle of a facet at the corner that alone has a weight; 1 where that is an edge or its inside.
static double angle_at(const orr_tactile_facet *f, const double weight[3])
{
    for (int i = 0; i < 3; i++) {
        const int next = (i + 1) % 3, last = (i + 2) % 3;
        if (weight[next] == 0.0 && weight[last] == 0.0) {
            double a[3], b[3];
            subtract(f->corner + 3 * (ptrdiff_t)next, f->corner + 3 * (ptrdiff_t)i, a);
            subtract(f->corner + 3 * (ptrdiff_t)last, f->corner + 3 * (ptrdiff_t)i, b);
            vec3_normalise(a);
            vec3_normalise(b);
            return acos(fmin(fmax(vec3_dot(a, b), -1.0), 1.0));
        }
    }
    return 1.0;
}

static void consider(const orr_tactile_facet *f, const double p[3], nearest *best)
{
    const double slack = best->square < INFINITY ? same * (same + 2.0 * sqrt(best->square)) : 0.0;
    double weight[3];
    if (box_square(f, p) > best->square + slack) {
        return;
    }
    const double square = orr_nearest_in_triangle(p, f->corner, f->corner + 3, f->corner + 6, weight);
    if (square > best->square + slack) {
        return;
    }
    double point[3], off[3];
    for (int k = 0; k < 3; k++) {
        point[k] = weight[0] * f->corner[k] + weight[1] * f->corner[3 + k] + weight[2] * f->corner[6 + k];
    }
    subtract(point, best->point, off);
    const bool again = best->square < INFINITY && vec3_dot(off, off) < same * same;
    const double angle = angle_at(f, weight);
    if (again) {
        for (int k = 0; k < 3; k++) {
            best->normal[k] += angle * f->normal[k];
        }
    } else if (square < best->square) {
        *best = (nearest){.square = square, .margin = f->margin};
        for (int k = 0; k < 3; k++) {
            best->point[k] = point[k];
            best->normal[k] = angle * f->normal[k];
            best->velocity[k] =
                weight[0] * f->velocity[k] + weight[1] * f->velocity[3 + k] + weight[2] * f->velocity[6 + k];
        }
    }
}

// The sign of the distance is that of the angle-weighted normal (Baerentzen and Aanaes 2005, "Signed distance
// computation using the angle weighted pseudonormal").
static orr_tactile_surface surface_of(const nearest *best, const double p[3])
{
    orr_tactile_surface s = {.distance = 0.0};
    double way[3], outward[3];
    subtract(p, best->point, way);
    memcpy(outward, best->normal, sizeof outward);
    vec3_normalise(outward);
    const bool inside = vec3_dot(way, outward) < 0.0;
    const double length = vec3_normalise(way);
    for (int k = 0; k < 3; k++) {
        s.normal[k] = length > same ? (inside ? -way[k] : way[k]) : outward[k];
        s.velocity[k] = best->velocity[k];
    }
    s.distance = (inside ? -length : length) + best->margin;
    return s;
}

bool orr_tactile_facets_at(const orr_tactile_facets *facets, const double p[3], orr_tactile_surface *surface)
{
    bool found = false;
    for (int i = 0; i < facets->count;) {
        const int body = facets->facet[i].body;
        nearest best = {.square = INFINITY};
        for (; i < facets->count && facets->facet[i].body == body; i++) {
            consider(&facets->facet[i], p, &best);
        }
        const orr_tactile_surface s = surface_of(&best, p);
        if (best.square <= facets->reach * facets->reach && (!found || s.distance < surface->distance)) {
            *surface = s;
            found = true;
        }
    }
    return found;
}
