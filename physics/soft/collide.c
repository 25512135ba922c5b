// The search for contacts between soft bodies: vertices against triangles, and edges that stick out against
// edges. What moves is a box from where it is to where its velocity takes it.
#include "physics/soft/collide.h"

#include "engine/core/memory.h"
#include "engine/maths/nearest.h"
#include "engine/maths/vector.h"
#include "physics/soft/box_grid.h"
#include "physics/soft/model.h"

#include <math.h>
#include <string.h>

enum {
    BODIES_OF_VERTEX = 4, // of which a vertex keeps the nearest triangle
    VERTICES_OF_JOB = 64
};

static const double recovery = 0.5; // m/s, at which overlap is undone
static const double ahead = 1.5;    // steps of motion that are looked at
static const char what[] = "contacts of soft bodies";

// The nearest triangle of one body to a vertex.
typedef struct nearest {
    int32_t body, triangle; // body: -1: none
    double square, along;   // distance^2; its part along the normal
    double weight[3];
} nearest;

// A vertex, a triangle or a rim of a body.
typedef struct part {
    int32_t body, number;
} part;

// Parts of one kind, with their boxes.
typedef struct part_list {
    part *part;   // count
    orr_box *box; // count
    int count, part_capacity, box_capacity;
} part_list;

struct orr_soft_collisions {
    orr_soft_pair *pair; // pairs
    int pairs, pair_capacity;
    // of the search that runs
    const orr_soft_collider *body; // count, borrowed
    int count;
    double time_step, drift[3]; // drift: m/s, mean velocity
    orr_box *box;               // count
    int box_capacity;
    part_list vertices, triangles, rims;
    orr_box_grid grid;
    nearest *near; // vertices x BODIES_OF_VERTEX
    int near_capacity;
};

static const double *position_of(const orr_soft_collider *b, int32_t vertex)
{
    return b->position + (ptrdiff_t)vertex * 3;
}

static bool is_wall(const orr_soft_collider *b, int triangle)
{
    return triangle < b->model->walls;
}

// How near two bodies, or parts of one, are of interest that stand still: their margins, and a tenth of the
// spacing of their vertices.
static double skin_of(const orr_soft_collider *a, const orr_soft_collider *b)
{
    return fabs(a->margin) + fabs(b->margin) + 0.1 * fmin(a->model->spacing, b->model->spacing);
}

// The same for vertices that move against each other.
static double reach_of(const orr_soft_collisions *c, const orr_soft_collider *a, int32_t vertex,
                       const orr_soft_collider *b, int32_t other)
{
    const double *v = a->velocity + (ptrdiff_t)vertex * 3, *w = b->velocity + (ptrdiff_t)other * 3;
    const double d[3] = {v[0] - w[0], v[1] - w[1], v[2] - w[2]};
    return skin_of(a, b) + ahead * c->time_step * vec3_length(d);
}

// ---- boxes

static orr_box empty_box(void)
{
    return (orr_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

// Where a vertex may be in a step, seen from what drifts with all of them; half of its body's skin around it.
static void include_way(const orr_soft_collisions *c, const orr_soft_collider *b, int32_t vertex,
                        orr_box *box)
{
    const double *p = position_of(b, vertex), *v = b->velocity + (ptrdiff_t)vertex * 3;
    const double skin = fabs(b->margin) + 0.1 * b->model->spacing;
    for (int k = 0; k < 3; k++) {
        const double way = ahead * c->time_step * (v[k] - c->drift[k]);
        box->low[k] = fminf(box->low[k], (float)(p[k] + fmin(way, 0.0) - skin));
        box->high[k] = fmaxf(box->high[k], (float)(p[k] + fmax(way, 0.0) + skin));
    }
}

static orr_box box_of(const orr_soft_collisions *c, const orr_soft_collider *b, const int32_t *vertex,
                      int vertices)
{
    orr_box box = empty_box();
    for (int i = 0; i < vertices; i++) {
        include_way(c, b, vertex[i], &box);
    }
    return box;
}

static orr_result measure(orr_soft_collisions *c, orr_error *error)
{
    int64_t vertices = 0;
    ORR_GROW(c->box, c->box_capacity, c->count, what, error);
    memset(c->drift, 0, sizeof c->drift);
    for (int i = 0; i < c->count; i++) {
        for (int32_t v = 0; v < c->body[i].model->vertices * 3; v++) {
            c->drift[v % 3] += c->body[i].velocity[v];
        }
        vertices += c->body[i].model->vertices;
    }
    for (int k = 0; k < 3; k++) {
        c->drift[k] /= (double)vertices;
    }
    for (int i = 0; i < c->count; i++) {
        c->box[i] = empty_box();
        for (int32_t v = 0; v < c->body[i].model->vertices && !c->body[i].untouchable; v++) {
            include_way(c, &c->body[i], v, &c->box[i]);
        }
    }
    return ORR_OK;
}

// Whether something of a body, in this box, may meet another body, or the same one where it meets itself.
static bool is_of_interest(const orr_soft_collisions *c, int body, const orr_box *box)
{
    bool meets = c->body[body].with_itself;
    for (int i = 0; i < c->count && !meets; i++) {
        meets = i != body && orr_boxes_meet(box, &c->box[i]);
    }
    return meets;
}

// A part of some vertices, if it is of interest.
static orr_result add_part(const orr_soft_collisions *c, part_list *list, int body, int number,
                           const int32_t *vertex, int vertices, orr_error *error)
{
    const orr_box box = box_of(c, &c->body[body], vertex, vertices);
    if (is_of_interest(c, body, &box)) {
        ORR_GROW(list->part, list->part_capacity, list->count + 1, what, error);
        ORR_GROW(list->box, list->box_capacity, list->count + 1, what, error);
        list->part[list->count] = (part){body, number};
        list->box[list->count++] = box;
    }
    return ORR_OK;
}

static orr_result list_parts(orr_soft_collisions *c, orr_error *error)
{
    c->vertices.count = c->triangles.count = c->rims.count = 0;
    for (int i = 0; i < c->count; i++) {
        const orr_soft_model *m = c->body[i].model;
        if (!is_of_interest(c, i, &c->box[i])) {
            continue;
        }
        for (int32_t v = 0; v < m->vertices; v++) {
            if (m->touchable[v]) {
                ORR_TRY(add_part(c, &c->vertices, i, v, &v, 1, error));
            }
        }
        for (int t = 0; t < m->surfaces; t++) {
            ORR_TRY(add_part(c, &c->triangles, i, t, m->surface + (ptrdiff_t)t * 3, 3, error));
        }
        for (int r = 0; r < m->rims; r++) {
            ORR_TRY(add_part(c, &c->rims, i, r, m->rim + (ptrdiff_t)r * 4, 2, error));
        }
    }
    return ORR_OK;
}

// Cells as large as the mean box.
static orr_result build_grid(orr_soft_collisions *c, const part_list *list, orr_error *error)
{
    double sum = 0.0;
    for (int i = 0; i < list->count; i++) {
        for (int k = 0; k < 3; k++) {
            sum += (double)(list->box[i].high[k] - list->box[i].low[k]) / 3.0;
        }
    }
    return orr_box_grid_build(&c->grid, list->box, list->count, fmax(sum / fmax(list->count, 1.0), 1e-6),
                              error);
}

static orr_result add_pair(orr_soft_collisions *c, const orr_soft_pair *pair, orr_error *error)
{
    ORR_GROW(c->pair, c->pair_capacity, c->pairs + 1, what, error);
    orr_soft_pair *out = &c->pair[c->pairs++];
    *out = *pair;
    const orr_soft_collider *a = &c->body[pair->soft[0]], *b = &c->body[pair->soft[3]];
    out->distance = fmax(pair->distance + a->margin + b->margin, -recovery * c->time_step);
    out->friction = fmax(a->friction, b->friction);
    return ORR_OK;
}

// ---- vertices and triangles

// Parts of one body meet where they were so far apart at rest that they cannot be neighbours.
static bool was_apart(const orr_soft_collider *b, int32_t vertex, int triangle)
{
    const orr_soft_model *m = b->model;
    const int32_t *corner = m->surface + (ptrdiff_t)triangle * 3;
    const double *p = m->rest + (ptrdiff_t)vertex * 3, *a = m->rest + (ptrdiff_t)corner[0] * 3;
    const double least = fmax(-3.0 * b->margin, is_wall(b, triangle) ? 2.0 * m->spacing : 0.0);
    const double d[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    if (vertex == corner[0] || vertex == corner[1] || vertex == corner[2] ||
        vec3_dot(d, d) <= least * least) { // most of them, at less cost
        return false;
    }
    double weight[3], square = orr_nearest_in_triangle(p, a, m->rest + (ptrdiff_t)corner[1] * 3,
                                                       m->rest + (ptrdiff_t)corner[2] * 3, weight);
    return square > least * least;
}

// Where a vertex sees a rim or a corner of the surface, several triangles are equally near: that which faces
// it most tells on which side it is.
static bool is_nearer(const nearest *a, const nearest *b)
{
    return a->square < b->square * (1.0 - 1e-6) ||
           (a->square <= b->square * (1.0 + 1e-6) && fabs(a->along) > fabs(b->along));
}

static void keep_nearest(nearest *list, const nearest *found)
{
    int farthest = 0;
    for (int i = 0; i < BODIES_OF_VERTEX; i++) {
        if (list[i].body == found->body || list[i].body < 0) {
            if (list[i].body < 0 || is_nearer(found, &list[i])) {
                list[i] = *found;
            }
            return;
        }
        farthest = list[i].square > list[farthest].square ? i : farthest;
    }
    if (found->square < list[farthest].square) {
        list[farthest] = *found;
    }
}

static void try_vertex(const orr_soft_collisions *c, part vertex, part triangle, nearest *list)
{
    const orr_soft_collider *a = &c->body[vertex.body], *b = &c->body[triangle.body];
    const int32_t *corner = b->model->surface + (ptrdiff_t)triangle.number * 3;
    const double *p = position_of(a, vertex.number), *q = position_of(b, corner[0]);
    if (a == b && !(b->with_itself && was_apart(b, vertex.number, triangle.number))) {
        return;
    }
    double normal[3], reach = 0.0;
    nearest found = {triangle.body, triangle.number, 0.0, 0.0, {0.0}};
    orr_soft_wall_normal(b->model, b->position, triangle.number, normal);
    for (int k = 0; k < 3; k++) {
        found.along += normal[k] * (p[k] - q[k]);
        reach = fmax(reach, reach_of(c, a, vertex.number, b, corner[k]));
    }
    // a part of the same solid that is behind the triangle is inside of it, where it belongs
    const bool inside = a == b && is_wall(b, triangle.number) && found.along < -0.5 * b->model->spacing;
    if (fabs(found.along) > reach || inside) {
        return;
    }
    found.square =
        orr_nearest_in_triangle(p, q, position_of(b, corner[1]), position_of(b, corner[2]), found.weight);
    // of one body, what lies beside the triangle rather than above it is a part of the same face
    const bool beside = a == b && found.along * found.along < 0.25 * found.square;
    if (found.square < reach * reach && !beside) {
        keep_nearest(list, &found);
    }
}

static void search_vertices(void *context, int job, int worker)
{
    (void)worker;
    const orr_soft_collisions *c = context;
    for (int i = job * VERTICES_OF_JOB; i < (job + 1) * VERTICES_OF_JOB && i < c->vertices.count; i++) {
        nearest *list = c->near + (ptrdiff_t)i * BODIES_OF_VERTEX;
        orr_box_walk walk = orr_box_grid_meeting(&c->grid, &c->vertices.box[i]);
        for (int k = 0; k < BODIES_OF_VERTEX; k++) {
            list[k].body = -1;
        }
        for (int32_t t; (t = orr_box_grid_next(&walk)) >= 0;) {
            try_vertex(c, c->vertices.part[i], c->triangles.part[t], list);
        }
    }
}

static orr_result add_vertex(orr_soft_collisions *c, part vertex, const nearest *n, orr_error *error)
{
    const orr_soft_collider *b = &c->body[n->body];
    const int32_t *corner = b->model->surface + (ptrdiff_t)n->triangle * 3;
    orr_soft_pair pair = {.soft = {vertex.body, n->body, n->body, n->body},
                          .share = 1.0,
                          .vertex = {vertex.number, corner[0], corner[1], corner[2]},
                          .weight = {1.0, -n->weight[0], -n->weight[1], -n->weight[2]}};
    const double *p = position_of(&c->body[vertex.body], vertex.number), length = sqrt(n->square);
    const double side = is_wall(b, n->triangle) && n->along < 0.0 ? -1.0 : 1.0; // of cloth either is outside
    if (length > 1e-9) {
        for (int k = 0; k < 3; k++) {
            double d = p[k];
            for (int i = 0; i < 3; i++) {
                d -= n->weight[i] * position_of(b, corner[i])[k];
            }
            pair.normal[k] = side * d / length;
        }
    } else {
        orr_soft_wall_normal(b->model, b->position, n->triangle, pair.normal);
    }
    pair.distance = side * length;
    return add_pair(c, &pair, error);
}

static orr_result meet_vertices(orr_soft_collisions *c, orr_jobs *jobs, orr_error *error)
{
    ORR_GROW(c->near, c->near_capacity, c->vertices.count * BODIES_OF_VERTEX, what, error);
    ORR_TRY(build_grid(c, &c->triangles, error));
    const int count = orr_blocks(c->vertices.count, VERTICES_OF_JOB);
    if (jobs && count > 1) {
        orr_jobs_for(jobs, count, search_vertices, c);
    } else {
        for (int i = 0; i < count; i++) {
            search_vertices(c, i, 0);
        }
    }
    for (int i = 0; i < c->vertices.count * BODIES_OF_VERTEX; i++) {
        if (c->near[i].body >= 0) {
            ORR_TRY(add_vertex(c, c->vertices.part[i / BODIES_OF_VERTEX], &c->near[i], error));
        }
    }
    return ORR_OK;
}

// ---- edges that stick out

static void outwards(const orr_soft_collider *b, const int32_t rim[4], double normal[3])
{
    normal[0] = normal[1] = normal[2] = 0.0;
    for (int i = 2; i < 4; i++) {
        double n[3];
        if (rim[i] >= 0 && is_wall(b, rim[i])) {
            orr_soft_wall_normal(b->model, b->position, rim[i], n);
            for (int k = 0; k < 3; k++) {
                normal[k] += n[k];
            }
        }
    }
    vec3_normalise(normal); // of cloth: 0
}

// An edge of a rim in the search.
typedef struct rim_edge {
    const orr_soft_collider *body;
    const int32_t *rim;
    const double *end[2];
    double way[3], out[3]; // from end to end; outwards
} rim_edge;

static rim_edge edge_of(const orr_soft_collisions *c, part p)
{
    const orr_soft_collider *b = &c->body[p.body];
    rim_edge e = {.body = b, .rim = b->model->rim + (ptrdiff_t)p.number * 4};
    for (int i = 0; i < 2; i++) {
        e.end[i] = position_of(b, e.rim[i]);
    }
    for (int k = 0; k < 3; k++) {
        e.way[k] = e.end[1][k] - e.end[0][k];
    }
    outwards(b, e.rim, e.out);
    return e;
}

// Two edges that cross each other within reach. Of solids the normal is on the outer side of both.
static orr_result try_edges(orr_soft_collisions *c, part one, part other, orr_error *error)
{
    const rim_edge a = edge_of(c, one), b = edge_of(c, other);
    const double end = 1e-3; // where vertices meet triangles
    double s, t, gap[3], cross[3], facing[3], reach = 0.0;
    if (!orr_nearest_of_lines(a.end[0], a.end[1], b.end[0], b.end[1], &s, &t) || s < end || s > 1.0 - end ||
        t < end || t > 1.0 - end) {
        return ORR_OK;
    }
    for (int k = 0; k < 3; k++) {
        gap[k] = a.end[0][k] + s * a.way[k] - b.end[0][k] - t * b.way[k];
        facing[k] = b.out[k] - a.out[k];
    }
    vec3_cross(a.way, b.way, cross);
    vec3_normalise(cross);
    const bool solid = vec3_dot(facing, facing) > 0.0;
    const double side = vec3_dot(cross, solid ? facing : gap) < 0.0 ? -1.0 : 1.0;
    orr_soft_pair pair = {.soft = {one.body, one.body, other.body, other.body},
                          .share = 1.0,
                          .vertex = {a.rim[0], a.rim[1], b.rim[0], b.rim[1]},
                          .weight = {1.0 - s, s, t - 1.0, -t}};
    for (int k = 0; k < 3; k++) {
        pair.normal[k] = side * cross[k];
    }
    pair.distance = vec3_dot(pair.normal, gap);
    for (int i = 0; i < 4; i++) {
        reach = fmax(reach, reach_of(c, a.body, a.rim[i / 2], b.body, b.rim[i % 2]));
    }
    const bool hidden = vec3_dot(pair.normal, a.out) > 0.0 || vec3_dot(pair.normal, b.out) < 0.0;
    return hidden || fabs(pair.distance) > reach ? ORR_OK : add_pair(c, &pair, error);
}

static orr_result meet_edges(orr_soft_collisions *c, orr_error *error)
{
    ORR_TRY(build_grid(c, &c->rims, error));
    for (int i = 0; i < c->rims.count; i++) {
        const part one = c->rims.part[i];
        orr_box_walk walk = orr_box_grid_meeting(&c->grid, &c->rims.box[i]);
        for (int32_t k; (k = orr_box_grid_next(&walk)) >= 0;) {
            if (k > i && c->rims.part[k].body != one.body) {
                ORR_TRY(try_edges(c, one, c->rims.part[k], error));
            }
        }
    }
    return ORR_OK;
}

orr_result orr_soft_collide(orr_soft_collisions *c, const orr_soft_collider *colliders, int count,
                            double time_step, orr_jobs *jobs, const orr_soft_pair **pairs, int *pair_count,
                            orr_error *error)
{
    c->body = colliders, c->count = count, c->time_step = time_step, c->pairs = 0;
    bool any = count > 1;
    for (int i = 0; i < count; i++) {
        any |= colliders[i].with_itself;
    }
    if (any) {
        ORR_TRY(measure(c, error));
        ORR_TRY(list_parts(c, error));
        ORR_TRY(meet_vertices(c, jobs, error));
        ORR_TRY(meet_edges(c, error));
    }
    *pairs = c->pair, *pair_count = c->pairs;
    return ORR_OK;
}

orr_result orr_soft_collisions_create(orr_soft_collisions **out, orr_error *error)
{
    *out = orr_alloc_zero(1, sizeof **out);
    return *out ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
}

void orr_soft_collisions_destroy(orr_soft_collisions *c)
{
    if (c) {
        part_list *const lists[] = {&c->vertices, &c->triangles, &c->rims};
        for (int i = 0; i < 3; i++) {
            orr_free(lists[i]->part);
            orr_free(lists[i]->box);
        }
        orr_free(c->pair);
        orr_free(c->box);
        orr_free(c->near);
        orr_box_grid_clear(&c->grid);
        orr_free(c);
    }
}
