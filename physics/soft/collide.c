// The search for contacts between soft bodies: vertices against triangles, patch by patch of their surfaces,
// and edges that stick out against edges. What moves is a box from where it is to where its velocity takes
// it.
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
    PATCHES_OF_JOB = 8
};

// Half the angle of a cone that holds the normals of a patch and one beside it: below it they are as far
// apart along the surface as they were at rest, to a factor of 0.7, and do not touch each other.
static const double flat = 0.785;   // rad
static const double recovery = 0.5; // m/s, at which overlap is undone
static const double ahead = 1.5;    // steps of motion that are looked at
static const char what[] = "contacts of soft bodies";

// The nearest triangle of one body to a vertex.
typedef struct nearest {
    int32_t body, triangle; // body: -1: none
    double square, along;   // distance^2; its part along the normal
    double weight[3];
} nearest;

// A patch or a rim of a body.
typedef struct part {
    int32_t body, number;
} part;

// Parts of one kind, with their boxes.
typedef struct part_list {
    part *part;   // count
    orr_box *box; // count
    int count, part_capacity, box_capacity;
} part_list;

// How the normals of a patch spread.
typedef struct cone {
    double axis[3], spread; // rad, around it; pi: they do not agree
} cone;

// Where the numbers of a body begin.
typedef struct body_place {
    int32_t way, normal; // among `way` and `normal`
} body_place;

struct orr_soft_collisions {
    orr_soft_pair *pair; // pairs
    int pairs, pair_capacity;
    // of the search that runs
    const orr_soft_collider *body; // count, borrowed
    int count;
    double time_step, drift[3]; // drift: m/s, mean velocity
    body_place *place;          // count
    orr_box *box;               // count
    orr_box *way;               // of all vertices, body by body
    double *normal;             // x 3: of all triangles
    cone *cone;                 // of all listed patches
    int place_capacity, box_capacity, way_capacity, normal_capacity, cone_capacity;
    part_list patches, rims;
    orr_box_grid grid;
    int32_t *first; // patches + 1: where in `near` the own vertices of each begin
    uint8_t *met;   // patches: whether `near` is of this search
    nearest *near;  // own vertices x BODIES_OF_VERTEX
    int first_capacity, met_capacity, near_capacity;
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
static orr_box way_of(const orr_soft_collisions *c, const orr_soft_collider *b, int32_t vertex)
{
    const double *p = position_of(b, vertex), *v = b->velocity + (ptrdiff_t)vertex * 3;
    const double skin = fabs(b->margin) + 0.1 * b->model->spacing;
    orr_box box;
    for (int k = 0; k < 3; k++) {
        const double way = ahead * c->time_step * (v[k] - c->drift[k]);
        box.low[k] = (float)(p[k] + (way < 0.0 ? way : 0.0) - skin);
        box.high[k] = (float)(p[k] + (way > 0.0 ? way : 0.0) + skin);
    }
    return box;
}

static void include(orr_box *box, const orr_box *other)
{
    for (int k = 0; k < 3; k++) {
        box->low[k] = other->low[k] < box->low[k] ? other->low[k] : box->low[k];
        box->high[k] = other->high[k] > box->high[k] ? other->high[k] : box->high[k];
    }
}

static orr_box box_of(const orr_soft_collisions *c, int body, const int32_t *vertex, int vertices)
{
    orr_box box = empty_box();
    for (int i = 0; i < vertices; i++) {
        include(&box, &c->way[c->place[body].way + vertex[i]]);
    }
    return box;
}

// Runs `work` for all blocks, which do not depend on the number of threads.
static void share(orr_jobs *jobs, int blocks, orr_job_fn work, orr_soft_collisions *c)
{
    if (jobs && blocks > 1) {
        orr_jobs_for(jobs, blocks, work, c);
        return;
    }
    for (int i = 0; i < blocks; i++) {
        work(c, i, 0);
    }
}

static void find_ways(const orr_soft_collisions *c, int body)
{
    c->box[body] = empty_box();
    for (int32_t v = 0; v < c->body[body].model->vertices && !c->body[body].untouchable; v++) {
        orr_box *way = &c->way[c->place[body].way + v];
        *way = way_of(c, &c->body[body], v);
        include(&c->box[body], way);
    }
}

static orr_result measure(orr_soft_collisions *c, orr_error *error)
{
    int32_t vertices = 0, triangles = 0;
    ORR_GROW(c->box, c->box_capacity, c->count, what, error);
    ORR_GROW(c->place, c->place_capacity, c->count, what, error);
    memset(c->drift, 0, sizeof c->drift);
    for (int i = 0; i < c->count; i++) {
        for (int32_t v = 0; v < c->body[i].model->vertices * 3; v++) {
            c->drift[v % 3] += c->body[i].velocity[v];
        }
        c->place[i] = (body_place){vertices, triangles};
        vertices += c->body[i].model->vertices, triangles += c->body[i].model->surfaces;
    }
    for (int k = 0; k < 3; k++) {
        c->drift[k] /= (double)vertices;
    }
    ORR_GROW(c->way, c->way_capacity, vertices, what, error);
    ORR_GROW(c->normal, c->normal_capacity, 3 * triangles, what, error);
    for (int i = 0; i < c->count; i++) {
        find_ways(c, i);
    }
    return ORR_OK;
}

// Whether something of a body, in this box, may meet another body, or the same one where it meets itself.
static bool is_of_interest(const orr_soft_collisions *c, int body, const orr_box *box, bool with_itself)
{
    bool meets = with_itself;
    for (int i = 0; i < c->count && !meets; i++) {
        meets = i != body && orr_boxes_meet(box, &c->box[i]);
    }
    return meets;
}

// A part of some vertices, if it is of interest.
static orr_result add_part(const orr_soft_collisions *c, part_list *list, int body, int number,
                           const int32_t *vertex, int vertices, bool with_itself, orr_error *error)
{
    const orr_box box = box_of(c, body, vertex, vertices);
    if (is_of_interest(c, body, &box, with_itself)) {
        ORR_GROW(list->part, list->part_capacity, list->count + 1, what, error);
        ORR_GROW(list->box, list->box_capacity, list->count + 1, what, error);
        list->part[list->count] = (part){body, number};
        list->box[list->count++] = box;
    }
    return ORR_OK;
}

static orr_result list_parts(orr_soft_collisions *c, orr_error *error)
{
    c->patches.count = c->rims.count = 0;
    for (int i = 0; i < c->count; i++) {
        const orr_soft_model *m = c->body[i].model;
        const bool itself = c->body[i].with_itself, others = is_of_interest(c, i, &c->box[i], false);
        for (int p = 0; p < m->patches && (itself || others); p++) {
            ORR_TRY(add_part(c, &c->patches, i, p, m->patch_vertex + m->patch[p].vertex, m->patch[p].vertices,
                             itself, error));
        }
        for (int r = 0; r < m->rims && others; r++) {
            ORR_TRY(add_part(c, &c->rims, i, r, m->rim + (ptrdiff_t)r * 4, 2, false, error));
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
    if (vec3_dot(d, d) <= least * least) { // many of them, at less cost
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
    const double *normal = c->normal + 3 * ((ptrdiff_t)c->place[triangle.body].normal + triangle.number);
    double reach = 0.0;
    nearest found = {triangle.body, triangle.number, 0.0, 0.0, {0.0}};
    if (a == b && (vertex.number == corner[0] || vertex.number == corner[1] || vertex.number == corner[2])) {
        return;
    }
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
    if (found.square < reach * reach && !beside && (a != b || was_apart(b, vertex.number, triangle.number))) {
        keep_nearest(list, &found);
    }
}

// The normals of a patch, and their cone.
static void find_cone(orr_soft_collisions *c, int i)
{
    const part of = c->patches.part[i];
    const orr_soft_collider *b = &c->body[of.body];
    const orr_soft_patch *p = &b->model->patch[of.number];
    const int32_t *triangle = b->model->patch_triangle + p->triangle;
    double *normals = c->normal + 3 * (ptrdiff_t)c->place[of.body].normal, least = 1.0;
    cone *out = &c->cone[i];
    *out = (cone){.spread = 0.0};
    for (int t = 0; t < p->triangles; t++) {
        double *n = normals + 3 * (ptrdiff_t)triangle[t];
        orr_soft_wall_normal(b->model, b->position, triangle[t], n);
        for (int k = 0; k < 3; k++) {
            out->axis[k] += n[k];
        }
    }
    if (!(vec3_normalise(out->axis) > 0.0)) {
        least = -1.0;
    }
    for (int t = 0; t < p->triangles; t++) {
        const double along = vec3_dot(out->axis, normals + 3 * (ptrdiff_t)triangle[t]);
        least = along < least ? along : least;
    }
    out->spread = least < -1.0 ? acos(-1.0) : acos(least);
}

static void find_cones(void *context, int job, int worker)
{
    (void)worker;
    orr_soft_collisions *c = context;
    for (int i = job * PATCHES_OF_JOB; i < (job + 1) * PATCHES_OF_JOB && i < c->patches.count; i++) {
        find_cone(c, i);
    }
}

// Half the angle of the least cone around two.
static double spread_of(const cone *a, const cone *b)
{
    const double cosine = vec3_dot(a->axis, b->axis);
    const double between = cosine >= 1.0 ? 0.0 : acos(cosine < -1.0 ? -1.0 : cosine);
    return fmax(fmax(a->spread, b->spread), 0.5 * (a->spread + b->spread + between));
}

static bool may_meet(const orr_soft_collisions *c, int one, int other)
{
    const part a = c->patches.part[one], b = c->patches.part[other];
    const orr_soft_patch *p = &c->body[a.body].model->patch[a.number];
    bool beside = one == other;
    if (a.body != b.body) {
        return true;
    }
    for (int i = 0; i < p->neighbours; i++) {
        beside |= p->neighbour[i] == b.number;
    }
    return c->body[a.body].with_itself && !(beside && spread_of(&c->cone[one], &c->cone[other]) < flat);
}

// The triangles of one patch that meet the box of another.
static int list_triangles(const orr_soft_collisions *c, part of, const orr_box *box,
                          int32_t triangle[SOFT_PATCH_TRIANGLES], orr_box boxes[SOFT_PATCH_TRIANGLES])
{
    const orr_soft_model *m = c->body[of.body].model;
    const orr_soft_patch *p = &m->patch[of.number];
    int count = 0;
    for (int i = 0; i < p->triangles; i++) {
        triangle[count] = m->patch_triangle[p->triangle + i];
        boxes[count] = box_of(c, of.body, m->surface + 3 * (ptrdiff_t)triangle[count], 3);
        count += orr_boxes_meet(&boxes[count], box);
    }
    return count;
}

// The own vertices of one patch against the triangles of another.
static void search_patches(const orr_soft_collisions *c, int one, int other, nearest *near)
{
    const part a = c->patches.part[one], b = c->patches.part[other];
    const orr_soft_model *m = c->body[a.body].model;
    const orr_soft_patch *p = &m->patch[a.number];
    int32_t triangle[SOFT_PATCH_TRIANGLES];
    orr_box boxes[SOFT_PATCH_TRIANGLES];
    const int count = list_triangles(c, b, &c->patches.box[one], triangle, boxes);
    for (int i = 0; i < p->own && count > 0; i++) {
        const int32_t v = m->patch_vertex[p->vertex + i];
        const orr_box *way = &c->way[c->place[a.body].way + v];
        for (int t = 0; t < count && orr_boxes_meet(way, &c->patches.box[other]); t++) {
            if (orr_boxes_meet(way, &boxes[t])) {
                try_vertex(c, (part){a.body, v}, (part){b.body, triangle[t]},
                           near + (ptrdiff_t)i * BODIES_OF_VERTEX);
            }
        }
    }
}

static void search_vertices(void *context, int job, int worker)
{
    (void)worker;
    const orr_soft_collisions *c = context;
    for (int i = job * PATCHES_OF_JOB; i < (job + 1) * PATCHES_OF_JOB && i < c->patches.count; i++) {
        nearest *near = c->near + (ptrdiff_t)c->first[i] * BODIES_OF_VERTEX;
        orr_box_walk walk = orr_box_grid_meeting(&c->grid, &c->patches.box[i]);
        c->met[i] = false;
        for (int32_t k; (k = orr_box_grid_next(&walk)) >= 0;) {
            if (!may_meet(c, i, k)) {
                continue;
            }
            for (int n = c->first[i] * BODIES_OF_VERTEX; n < c->first[i + 1] * BODIES_OF_VERTEX && !c->met[i];
                 n++) {
                c->near[n].body = -1;
            }
            c->met[i] = true;
            search_patches(c, i, k, near);
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
    const int count = c->patches.count, blocks = orr_blocks(count, PATCHES_OF_JOB);
    ORR_GROW(c->cone, c->cone_capacity, count, what, error);
    ORR_GROW(c->first, c->first_capacity, count + 1, what, error);
    ORR_GROW(c->met, c->met_capacity, count, what, error);
    c->first[0] = 0;
    for (int i = 0; i < count; i++) {
        const part of = c->patches.part[i];
        c->first[i + 1] = c->first[i] + c->body[of.body].model->patch[of.number].own;
    }
    ORR_GROW(c->near, c->near_capacity, c->first[count] * BODIES_OF_VERTEX, what, error);
    ORR_TRY(build_grid(c, &c->patches, error));
    share(jobs, blocks, find_cones, c);
    share(jobs, blocks, search_vertices, c);
    for (int i = 0; i < count; i++) {
        const part of = c->patches.part[i];
        const orr_soft_model *m = c->body[of.body].model;
        const int32_t *vertex = m->patch_vertex + m->patch[of.number].vertex;
        const nearest *near = c->near + (ptrdiff_t)c->first[i] * BODIES_OF_VERTEX;
        for (int n = 0; n < m->patch[of.number].own * BODIES_OF_VERTEX && c->met[i]; n++) {
            if (near[n].body >= 0) {
                ORR_TRY(add_vertex(c, (part){of.body, vertex[n / BODIES_OF_VERTEX]}, &near[n], error));
            }
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
        part_list *const lists[] = {&c->patches, &c->rims};
        for (int i = 0; i < 2; i++) {
            orr_free(lists[i]->part);
            orr_free(lists[i]->box);
        }
        orr_free(c->pair);
        orr_free(c->box);
        orr_free(c->place);
        orr_free(c->way);
        orr_free(c->normal);
        orr_free(c->cone);
        orr_free(c->first);
        orr_free(c->met);
        orr_free(c->near);
        orr_box_grid_clear(&c->grid);
        orr_free(c);
    }
}
