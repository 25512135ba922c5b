// Vertices of soft bodies near triangles, patch by patch.
#include "engine/maths/nearest.h"
#include "physics/soft/collide/collisions.h"

#include <string.h>

enum {
    BODIES_OF_VERTEX = 4, // of which a vertex keeps the nearest triangle
    BOXES_AT_ONCE = 8     // that are tried together
};

// The cosine of half the angle of a cone that holds the normals of a patch and one beside it, 45 degrees:
// below it they are as far apart along the surface as they were at rest, to a factor of 0.7, and do not touch
// each other.
static const double flat = 0.7071067811865476;

// Parts of one body meet where they were so far apart at rest that they cannot be neighbours.
static bool was_apart(const orr_soft_collider *b, int32_t vertex, int triangle)
{
    const orr_soft_model *m = b->model;
    const int32_t *corner = m->surface + (ptrdiff_t)triangle * 3;
    const double *p = m->rest + (ptrdiff_t)vertex * 3, *a = m->rest + (ptrdiff_t)corner[0] * 3;
    const double least = fmax(-3.0 * b->margin, soft_is_wall(b, triangle) ? 2.0 * m->spacing : 0.0);
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
static bool is_nearer(const orr_soft_nearest_side *a, const orr_soft_nearest_side *b)
{
    return a->square < b->square * (1.0 - 1e-6) ||
           (a->square <= b->square * (1.0 + 1e-6) && fabs(a->along) > fabs(b->along));
}

static void keep_nearest(orr_soft_nearest_side *list, const orr_soft_nearest_side *found)
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

static void try_vertex(const orr_soft_collisions *c, orr_soft_part vertex, orr_soft_part triangle,
                       orr_soft_nearest_side *list)
{
    const orr_soft_collider *a = &c->body[vertex.body], *b = &c->body[triangle.body];
    const int32_t *corner = b->model->surface + (ptrdiff_t)triangle.number * 3;
    const double *p = soft_position_of(a, vertex.number), *q = soft_position_of(b, corner[0]);
    const double *normal = c->normal + 3 * ((ptrdiff_t)c->place[triangle.body].normal + triangle.number);
    double speed = 0.0;
    orr_soft_nearest_side found = {triangle.body, triangle.number, 0.0, 0.0, {0.0}};
    if (a == b && (vertex.number == corner[0] || vertex.number == corner[1] || vertex.number == corner[2])) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        found.along += normal[k] * (p[k] - q[k]);
        const double square = soft_square_speed(a, vertex.number, b, corner[k]);
        speed = square > speed ? square : speed;
    }
    const double reach = soft_skin_of(a, b) + soft_ahead * c->time_step * sqrt(speed);
    // a part of the same solid that is behind the triangle is inside of it, where it belongs
    const bool inside = a == b && soft_is_wall(b, triangle.number) && found.along < -0.5 * b->model->spacing;
    if (fabs(found.along) > reach || inside) {
        return;
    }
    found.square = orr_nearest_in_triangle(p, q, soft_position_of(b, corner[1]),
                                           soft_position_of(b, corner[2]), found.weight);
    // of one body, what lies beside the triangle rather than above it is a part of the same face
    const bool beside = a == b && found.along * found.along < 0.25 * found.square;
    if (found.square < reach * reach && !beside && (a != b || was_apart(b, vertex.number, triangle.number))) {
        keep_nearest(list, &found);
    }
}

// The normals of a patch, and their cone.
static void find_cone(const orr_soft_collisions *c, orr_soft_part of, orr_soft_listed *out)
{
    const orr_soft_collider *b = &c->body[of.body];
    const orr_soft_patch *p = &b->model->patch[of.number];
    const int32_t *triangle = b->model->patch_triangle + p->triangle;
    double *normals = c->normal + 3 * (ptrdiff_t)c->place[of.body].normal, least = 1.0;
    out->axis[0] = out->axis[1] = out->axis[2] = 0.0;
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
    out->cosine = least < -1.0 ? -1.0 : least;
    out->sine = sqrt(1.0 - out->cosine * out->cosine);
}

static void set_box(orr_soft_box_rows *rows, int i, const orr_box *box)
{
    for (int k = 0; k < 3; k++) {
        rows->low[k][i] = box->low[k], rows->high[k][i] = box->high[k];
    }
}

// With boxes that meet none, so that BOXES_AT_ONCE can be tried.
static void fill_up(orr_soft_box_rows *rows, int count)
{
    const orr_box none = soft_empty_box();
    for (; count % BOXES_AT_ONCE != 0; count++) {
        set_box(rows, count, &none);
    }
}

static void find_boxes(const orr_soft_collisions *c, orr_soft_part of, orr_soft_listed *out)
{
    const orr_soft_model *m = c->body[of.body].model;
    const orr_soft_patch *p = &m->patch[of.number];
    out->own = orr_soft_box_of(c, of.body, m->patch_vertex + p->vertex, p->own);
    for (int t = 0; t < p->triangles; t++) {
        const int32_t triangle = m->patch_triangle[p->triangle + t];
        const orr_box box = orr_soft_box_of(c, of.body, m->surface + 3 * (ptrdiff_t)triangle, 3);
        set_box(&out->triangle, t, &box);
    }
    fill_up(&out->triangle, p->triangles);
}

static void find_listed(void *context, int job, int worker)
{
    (void)worker;
    const orr_soft_collisions *c = context;
    const int first = job * SOFT_PATCHES_OF_JOB, last = first + SOFT_PATCHES_OF_JOB;
    for (int i = first; i < last && i < c->patches.count; i++) {
        find_cone(c, c->patches.part[i], &c->listed[i]);
        find_boxes(c, c->patches.part[i], &c->listed[i]);
    }
}

// Whether one flat cone holds both: the angle between their axes is below 90 degrees less both halves.
static bool are_flat(const orr_soft_listed *a, const orr_soft_listed *b)
{
    return a->cosine > flat && b->cosine > flat &&
           vec3_dot(a->axis, b->axis) > a->sine * b->cosine + a->cosine * b->sine;
}

static bool may_meet(const orr_soft_collisions *c, int one, int other)
{
    const orr_soft_part a = c->patches.part[one], b = c->patches.part[other];
    const orr_soft_patch *p = &c->body[a.body].model->patch[a.number];
    bool beside = one == other;
    if (a.body != b.body) {
        return true;
    }
    for (int i = 0; i < p->neighbours; i++) {
        beside |= p->neighbour[i] == b.number;
    }
    return c->body[a.body].with_itself && !(beside && are_flat(&c->listed[one], &c->listed[other]));
}

// Some triangles with their boxes.
typedef struct triangle_list {
    int count;
    int32_t triangle[SOFT_PATCH_TRIANGLES];
    orr_soft_box_rows box;
} triangle_list;

// Which of BOXES_AT_ONCE boxes meet another: 1, or 0; returns whether any does.
static bool which_meet(const orr_soft_box_rows *rows, int from, const orr_box *box,
                       int32_t meet[BOXES_AT_ONCE])
{
    const orr_box b = *box;
    int32_t any = 0;
    for (int i = 0; i < BOXES_AT_ONCE; i++) {
        meet[i] = (rows->low[0][from + i] <= b.high[0]) & (rows->high[0][from + i] >= b.low[0]) &
                  (rows->low[1][from + i] <= b.high[1]) & (rows->high[1][from + i] >= b.low[1]) &
                  (rows->low[2][from + i] <= b.high[2]) & (rows->high[2][from + i] >= b.low[2]);
    }
    for (int i = 0; i < BOXES_AT_ONCE; i++) {
        any |= meet[i];
    }
    return any != 0;
}

// The triangles of a patch that meet a box.
static void list_triangles(const orr_soft_collisions *c, int patch, const orr_box *box, triangle_list *list)
{
    const orr_soft_part of = c->patches.part[patch];
    const orr_soft_model *m = c->body[of.body].model;
    const orr_soft_patch *p = &m->patch[of.number];
    const orr_soft_box_rows *rows = &c->listed[patch].triangle;
    int32_t meet[BOXES_AT_ONCE];
    list->count = 0;
    for (int from = 0; from < p->triangles; from += BOXES_AT_ONCE) {
        if (!which_meet(rows, from, box, meet)) {
            continue;
        }
        for (int t = from; t < from + BOXES_AT_ONCE && t < p->triangles; t++) {
            list->triangle[list->count] = m->patch_triangle[p->triangle + t];
            for (int k = 0; k < 3; k++) {
                list->box.low[k][list->count] = rows->low[k][t];
                list->box.high[k][list->count] = rows->high[k][t];
            }
            list->count += meet[t - from];
        }
    }
    fill_up(&list->box, list->count);
}

// The own vertices of one patch against the triangles of another.
static void search_patches(const orr_soft_collisions *c, int one, int other, orr_soft_nearest_side *near)
{
    const orr_soft_part a = c->patches.part[one], b = c->patches.part[other];
    const orr_soft_model *m = c->body[a.body].model;
    const orr_soft_patch *p = &m->patch[a.number];
    int32_t meet[BOXES_AT_ONCE];
    triangle_list list;
    list_triangles(c, other, &c->listed[one].own, &list);
    for (int i = 0; i < p->own && list.count > 0; i++) {
        const int32_t v = m->patch_vertex[p->vertex + i];
        const orr_box *way = &c->way[c->place[a.body].way + v];
        if (!orr_boxes_meet(way, &c->patches.box[other])) {
            continue;
        }
        for (int from = 0; from < list.count; from += BOXES_AT_ONCE) {
            if (!which_meet(&list.box, from, way, meet)) {
                continue;
            }
            for (int t = from; t < from + BOXES_AT_ONCE && t < list.count; t++) {
                if (meet[t - from]) {
                    try_vertex(c, (orr_soft_part){a.body, v}, (orr_soft_part){b.body, list.triangle[t]},
                               near + (ptrdiff_t)i * BODIES_OF_VERTEX);
                }
            }
        }
    }
}

static void search_patch(const orr_soft_collisions *c, int i)
{
    const int slots = (c->first[i + 1] - c->first[i]) * BODIES_OF_VERTEX;
    const orr_box_list *others = &c->near_patches.list[i];
    orr_soft_nearest_side *near = c->near + (ptrdiff_t)c->first[i] * BODIES_OF_VERTEX;
    bool met = false;
    for (int k = 0; k < others->count; k++) {
        const int32_t other = others->item[k];
        if (orr_boxes_meet(&c->listed[i].own, &c->patches.box[other]) && may_meet(c, i, other)) {
            for (int n = 0; n < slots && !met; n++) {
                near[n].body = -1;
            }
            met = true;
            search_patches(c, i, other, near);
        }
    }
    c->met[i] = met;
}

static void search_vertices(void *context, int job, int worker)
{
    (void)worker;
    const orr_soft_collisions *c = context;
    const int first = job * SOFT_PATCHES_OF_JOB, last = first + SOFT_PATCHES_OF_JOB;
    for (int i = first; i < last && i < c->patches.count; i++) {
        search_patch(c, i);
    }
}

static orr_result add_vertex(orr_soft_collisions *c, orr_soft_part vertex, const orr_soft_nearest_side *n,
                             orr_error *error)
{
    const orr_soft_collider *b = &c->body[n->body];
    const int32_t *corner = b->model->surface + (ptrdiff_t)n->triangle * 3;
    orr_soft_pair pair = {.soft = {vertex.body, n->body, n->body, n->body},
                          .share = 1.0,
                          .vertex = {vertex.number, corner[0], corner[1], corner[2]},
                          .weight = {1.0, -n->weight[0], -n->weight[1], -n->weight[2]}};
    const double *p = soft_position_of(&c->body[vertex.body], vertex.number), length = sqrt(n->square);
    const double side =
        soft_is_wall(b, n->triangle) && n->along < 0.0 ? -1.0 : 1.0; // of cloth either is outside
    if (length > 1e-9) {
        for (int k = 0; k < 3; k++) {
            double d = p[k];
            for (int i = 0; i < 3; i++) {
                d -= n->weight[i] * soft_position_of(b, corner[i])[k];
            }
            pair.normal[k] = side * d / length;
        }
    } else {
        orr_soft_wall_normal(b->model, b->position, n->triangle, pair.normal);
    }
    pair.distance = side * length;
    return orr_soft_add_pair(c, &pair, error);
}

orr_result orr_soft_meet_vertices(orr_soft_collisions *c, orr_jobs *jobs, orr_error *error)
{
    const int count = c->patches.count, blocks = orr_blocks(count, SOFT_PATCHES_OF_JOB);
    ORR_GROW(c->listed, c->listed_capacity, count, soft_collisions_what, error);
    ORR_GROW(c->first, c->first_capacity, count + 1, soft_collisions_what, error);
    ORR_GROW(c->met, c->met_capacity, count, soft_collisions_what, error);
    c->first[0] = 0;
    for (int i = 0; i < count; i++) {
        const orr_soft_part of = c->patches.part[i];
        c->first[i + 1] = c->first[i] + c->body[of.body].model->patch[of.number].own;
    }
    ORR_GROW(c->near, c->near_capacity, c->first[count] * BODIES_OF_VERTEX, soft_collisions_what, error);
    ORR_TRY(orr_box_pairs_update(&c->near_patches, c->patches.box, count, jobs, error));
    soft_share(jobs, blocks, find_listed, c);
    soft_share(jobs, blocks, search_vertices, c);
    for (int i = 0; i < count; i++) {
        const orr_soft_part of = c->patches.part[i];
        const orr_soft_model *m = c->body[of.body].model;
        const int32_t *vertex = m->patch_vertex + m->patch[of.number].vertex;
        const orr_soft_nearest_side *near = c->near + (ptrdiff_t)c->first[i] * BODIES_OF_VERTEX;
        for (int n = 0; n < m->patch[of.number].own * BODIES_OF_VERTEX && c->met[i]; n++) {
            if (near[n].body >= 0) {
                ORR_TRY(
                    add_vertex(c, (orr_soft_part){of.body, vertex[n / BODIES_OF_VERTEX]}, &near[n], error));
            }
        }
    }
    return ORR_OK;
}
