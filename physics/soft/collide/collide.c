// The search for contacts between soft bodies: vertices against triangles, patch by patch of their surfaces,
// and edges that stick out against edges. What moves is a box from where it is to where its velocity takes
// it.
#include "physics/soft/collide/collisions.h"

#include <string.h>

enum { VERTICES_OF_JOB = 1024, BOXES_OF_JOB = 64 };

static const double recovery = 0.5; // m/s, at which overlap is undone

// Where a vertex may be in a step, seen from what drifts with all of them; half of its body's skin around it.
static orr_box way_of(const orr_soft_collisions *c, const orr_soft_collider *b, int32_t vertex)
{
    const double *p = soft_position_of(b, vertex), *v = b->velocity + (ptrdiff_t)vertex * 3;
    const double skin = fabs(b->margin) + 0.1 * b->model->spacing;
    orr_box box;
    for (int k = 0; k < 3; k++) {
        const double way = soft_ahead * c->time_step * (v[k] - c->drift[k]);
        box.low[k] = (float)(p[k] + (way < 0.0 ? way : 0.0) - skin);
        box.high[k] = (float)(p[k] + (way > 0.0 ? way : 0.0) + skin);
    }
    return box;
}

orr_box orr_soft_box_of(const orr_soft_collisions *c, int body, const int32_t *vertex, int vertices)
{
    orr_box box = soft_empty_box();
    for (int i = 0; i < vertices; i++) {
        soft_include(&box, &c->way[c->place[body].way + vertex[i]]);
    }
    return box;
}

static void find_ways(void *context, int job, int worker)
{
    (void)worker;
    const orr_soft_collisions *c = context;
    const int32_t first = job * VERTICES_OF_JOB, last = first + VERTICES_OF_JOB;
    for (int i = 0; i < c->count; i++) {
        const int32_t from = c->place[i].way, to = c->place[i + 1].way;
        for (int32_t v = first > from ? first : from; v < last && v < to; v++) {
            c->way[v] = way_of(c, &c->body[i], v - from);
        }
    }
}

static void find_patch_boxes(void *context, int job, int worker)
{
    (void)worker;
    const orr_soft_collisions *c = context;
    const int32_t first = job * BOXES_OF_JOB, last = first + BOXES_OF_JOB;
    for (int i = 0; i < c->count; i++) {
        const orr_soft_model *m = c->body[i].model;
        const int32_t from = c->place[i].patch, to = c->place[i + 1].patch;
        for (int32_t p = first > from ? first : from; p < last && p < to; p++) {
            const orr_soft_patch *patch = &m->patch[p - from];
            c->patch_box[p] = orr_soft_box_of(c, i, m->patch_vertex + patch->vertex, patch->vertices);
        }
    }
}

// Where the numbers of each body begin, and how fast they move on the whole.
static orr_result place_bodies(orr_soft_collisions *c, orr_error *error)
{
    orr_soft_body_place at = {0, 0, 0};
    ORR_GROW(c->box, c->box_capacity, c->count, soft_collisions_what, error);
    ORR_GROW(c->place, c->place_capacity, c->count + 1, soft_collisions_what, error);
    memset(c->drift, 0, sizeof c->drift);
    for (int i = 0; i < c->count; i++) {
        const orr_soft_model *m = c->body[i].model;
        const double *velocity = c->body[i].velocity;
        for (int32_t v = 0; v < m->vertices; v++, velocity += 3) {
            c->drift[0] += velocity[0], c->drift[1] += velocity[1], c->drift[2] += velocity[2];
        }
        c->place[i] = at;
        at.way += m->vertices, at.normal += m->surfaces, at.patch += m->patches;
    }
    c->place[c->count] = at;
    for (int k = 0; k < 3; k++) {
        c->drift[k] /= (double)at.way;
    }
    return ORR_OK;
}

static orr_result measure(orr_soft_collisions *c, orr_jobs *jobs, orr_error *error)
{
    ORR_TRY(place_bodies(c, error));
    const orr_soft_body_place end = c->place[c->count];
    ORR_GROW(c->way, c->way_capacity, end.way, soft_collisions_what, error);
    ORR_GROW(c->normal, c->normal_capacity, 3 * end.normal, soft_collisions_what, error);
    ORR_GROW(c->patch_box, c->patch_box_capacity, end.patch, soft_collisions_what, error);
    soft_share(jobs, orr_blocks(end.way, VERTICES_OF_JOB), find_ways, c);
    soft_share(jobs, orr_blocks(end.patch, BOXES_OF_JOB), find_patch_boxes, c);
    for (int i = 0; i < c->count; i++) {
        c->box[i] = soft_empty_box();
        for (int p = c->place[i].patch; p < c->place[i + 1].patch && !c->body[i].untouchable; p++) {
            soft_include(&c->box[i], &c->patch_box[p]);
        }
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

// A part of a body, if it is of interest.
static orr_result add_part(const orr_soft_collisions *c, orr_soft_part_list *list, orr_soft_part part,
                           const orr_box *box, bool with_itself, orr_error *error)
{
    if (is_of_interest(c, part.body, box, with_itself)) {
        ORR_GROW(list->part, list->part_capacity, list->count + 1, soft_collisions_what, error);
        ORR_GROW(list->box, list->box_capacity, list->count + 1, soft_collisions_what, error);
        list->part[list->count] = part;
        list->box[list->count++] = *box;
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
            ORR_TRY(add_part(c, &c->patches, (orr_soft_part){i, p}, &c->patch_box[c->place[i].patch + p],
                             itself, error));
        }
        for (int r = 0; r < m->rims && others; r++) {
            const orr_box box = orr_soft_box_of(c, i, m->rim + (ptrdiff_t)r * 4, 2);
            ORR_TRY(add_part(c, &c->rims, (orr_soft_part){i, r}, &box, false, error));
        }
    }
    return ORR_OK;
}

orr_result orr_soft_add_pair(orr_soft_collisions *c, const orr_soft_pair *pair, orr_error *error)
{
    ORR_GROW(c->pair, c->pair_capacity, c->pairs + 1, soft_collisions_what, error);
    orr_soft_pair *out = &c->pair[c->pairs++];
    *out = *pair;
    const orr_soft_collider *a = &c->body[pair->soft[0]], *b = &c->body[pair->soft[3]];
    out->distance = fmax(pair->distance + a->margin + b->margin, -recovery * c->time_step);
    out->friction = fmax(a->friction, b->friction);
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
        ORR_TRY(measure(c, jobs, error));
        ORR_TRY(list_parts(c, error));
        ORR_TRY(orr_soft_meet_vertices(c, jobs, error));
        ORR_TRY(orr_soft_meet_edges(c, error));
    }
    *pairs = c->pair, *pair_count = c->pairs;
    return ORR_OK;
}

orr_result orr_soft_collisions_create(orr_soft_collisions **out, orr_error *error)
{
    *out = orr_alloc_zero(1, sizeof **out);
    return *out ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", soft_collisions_what);
}

void orr_soft_collisions_destroy(orr_soft_collisions *c)
{
    if (c) {
        orr_soft_part_list *const lists[] = {&c->patches, &c->rims};
        for (int i = 0; i < 2; i++) {
            orr_free(lists[i]->part);
            orr_free(lists[i]->box);
        }
        orr_free(c->pair);
        orr_free(c->box);
        orr_free(c->place);
        orr_free(c->way);
        orr_free(c->patch_box);
        orr_free(c->normal);
        orr_free(c->listed);
        orr_free(c->first);
        orr_free(c->met);
        orr_free(c->near);
        orr_box_pairs_clear(&c->near_patches);
        orr_box_grid_clear(&c->grid);
        orr_free(c);
    }
}
