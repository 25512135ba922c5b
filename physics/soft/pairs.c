// Contacts between soft bodies. A pair pulls on its corners with one force, each by its weight; a vertex sees
// the others where they are when its colour is relaxed. Corners of one colour move at once, and each as if
// the other yielded nothing more: their blocks are enlarged until together they bound the pair's energy.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/pairs.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/soft/cuda/device.h"
#include "physics/soft/pair_force.h"
#include "physics/soft/pair_system.h"

#include <stdlib.h>
#include <string.h>

static void moved_by(orr_soft *const *soft, int32_t body, int32_t vertex, double moved[3])
{
    const orr_soft_group *g = soft[body]->group;
    const ptrdiff_t at = (ptrdiff_t)vertex * 3;
    if (soft[body]->program->in_double) {
        const double *position = (const double *)g->position + at, *start = (const double *)g->start + at;
        for (int c = 0; c < 3; c++) {
            moved[c] = position[c] - start[c];
        }
        return;
    }
    const float *position = (const float *)g->position + at, *start = (const float *)g->start + at;
    for (int c = 0; c < 3; c++) {
        moved[c] = (double)position[c] - (double)start[c];
    }
}

// How far the sides of pair i have moved against each other.
static void way_of(const orr_soft_pairs *p, orr_soft *const *soft, int i, double way[3])
{
    const orr_soft_pair *pair = &p->pair[i];
    double moved[12] = {0.0};
    for (int k = 0; k < (pair->rigid ? 3 : 4); k++) { // of which the fourth has no weight
        moved_by(soft, pair->soft[k], pair->vertex[k], moved + (ptrdiff_t)3 * k);
    }
    pair_way(pair, p->shift + (ptrdiff_t)(p->ties + i) * 3, moved, way);
}

soft_system orr_soft_pair_system(const orr_soft_pairs *p, orr_soft *const *soft, int i)
{
    double way[3];
    way_of(p, soft, i, way);
    return pair_system(&p->pair[i], p->rows[i], way, p->stiffness + i, p->slip);
}

soft_system orr_soft_tie_system(const orr_soft_pairs *p, orr_soft *const *soft, int i)
{
    const orr_soft_tie *tie = &p->tie[i];
    double moved[3];
    moved_by(soft, tie->soft, tie->vertex, moved);
    return tie_system(tie, p->shift + (ptrdiff_t)i * 3, moved, p->stiffness[p->count + i]);
}

// Its own, or its share of 100 x the mass with which the sides resist each other / time_step^2.
static double stiffness_of(const orr_soft_pair *pair, orr_soft *const *soft)
{
    const orr_soft_constants *k = &soft[0]->constants;
    if (pair->stiffness > 0.0) {
        return pair->stiffness;
    }
    double ease = 0.0; // 1 / mass
    for (int i = 0; i < 4; i++) {
        const orr_soft_model *m = soft[pair->soft[i]]->model;
        if (!m->pinned[pair->vertex[i]] || pair->rigid) { // what is pinned still stops a rigid body
            ease += pair->weight[i] * pair->weight[i] / m->mass[pair->vertex[i]];
        }
    }
    return ease > 0.0 ? pair->share * 100.0 / (ease * k->time_step * k->time_step) : 0.0;
}

static int by_vertex(const void *a, const void *b)
{
    const orr_soft_corner *x = a, *y = b;
    const int32_t difference[] = {x->soft - y->soft, x->colour - y->colour, x->vertex - y->vertex,
                                  x->pair - y->pair};
    int i = 0;
    while (i < 3 && difference[i] == 0) {
        i++;
    }
    return (difference[i] > 0) - (difference[i] < 0);
}

// Are two pairs with rigid bodies rows of one contact?
static bool same_contact(const orr_soft_pair *a, const orr_soft_pair *b)
{
    return a->rigid && b->rigid && a->body == b->body && a->soft[0] == b->soft[0] &&
           memcmp(a->vertex, b->vertex, sizeof a->vertex) == 0 &&
           memcmp(a->weight, b->weight, sizeof a->weight) == 0 &&
           memcmp(a->reach, b->reach, sizeof a->reach) == 0;
}

// The first row of a contact knows how many there are.
static void count_rows(orr_soft_pairs *p)
{
    for (int i = 0, first = 0; i < p->count; i++) {
        first = i > 0 && same_contact(&p->pair[first], &p->pair[i]) ? first : i;
        p->rows[i] = 0;
        p->rows[first]++;
    }
}

static void add_corners(orr_soft_pairs *p, orr_soft *const *soft, int i)
{
    const orr_soft_pair *pair = &p->pair[i];
    for (int k = 0; k < 4; k++) {
        const orr_soft_model *m = soft[pair->soft[k]]->model;
        const double w = pair->weight[k];
        if (w == 0.0) {
            continue;
        }
        orr_soft_corner *corner = &p->corner[p->corners++];
        *corner = (orr_soft_corner){
            pair->soft[k], m->colour[pair->vertex[k]], pair->vertex[k], i, p->rows[i], w, w * w};
        for (int j = 0; j < 4; j++) {
            if (j != k && pair->soft[j] == corner->soft && m->colour[pair->vertex[j]] == corner->colour) {
                corner->square += fabs(w * pair->weight[j]);
            }
        }
    }
}

orr_result orr_soft_pairs_begin(orr_soft_pairs *p, orr_soft *const *soft, int count,
                                const orr_soft_contacts *contacts, orr_error *error)
{
    static const char what[] = "contacts of soft bodies";
    p->pair = contacts->pair, p->count = contacts->pairs;
    p->tie = contacts->tie, p->ties = contacts->ties;
    p->corners = 0;
    if (p->count + p->ties == 0) {
        return ORR_OK;
    }
    ORR_GROW(p->shift, p->shift_capacity, (p->ties + p->count) * 3, what, error);
    ORR_GROW(p->stiffness, p->stiffness_capacity, p->count + p->ties, what, error);
    ORR_GROW(p->rows, p->rows_capacity, p->count, what, error);
    ORR_GROW(p->corner, p->corner_capacity, p->count * 4 + p->ties, what, error);
    ORR_GROW(p->colours, p->colours_capacity, count + 1, what, error);
    p->colours[0] = 0;
    for (int i = 0; i < count; i++) {
        p->colours[i + 1] = p->colours[i] + soft[i]->tables.colours;
        orr_soft_group *g = soft[i]->group;
        g->is_pushed = true;
        if (soft[i]->device) {
            continue; // which has a buffer of its own
        }
        const size_t bytes = SOFT_PUSHED * (size_t)g->vertices * orr_soft_number_size(soft[i]);
        if (!g->pushed) {
            g->pushed = orr_alloc(bytes + sizeof(double), 1); // lanes read one number beyond a point
            if (!g->pushed) {
                return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
            }
        }
        memset(g->pushed, 0, bytes);
    }
    ORR_GROW(p->first, p->first_capacity, p->colours[count] + 1, what, error);
    const double h = soft[0]->constants.time_step;
    p->slip = 1e-2 * h; // friction is full from 1 cm/s
    count_rows(p);
    for (int i = 0; i < p->count; i++) {
        p->stiffness[i] = stiffness_of(&p->pair[i], soft);
        if (p->rows[i] > 0) {
            add_corners(p, soft, i);
        }
    }
    for (int i = 0; i < p->ties; i++) {
        const orr_soft_tie *tie = &p->tie[i];
        p->stiffness[p->count + i] = tie->stiffness > 0.0
                                         ? tie->stiffness
                                         : 1000.0 * soft[tie->soft]->model->mass[tie->vertex] / (h * h);
        const int32_t colour = soft[tie->soft]->model->colour[tie->vertex];
        p->corner[p->corners++] =
            (orr_soft_corner){tie->soft, colour, tie->vertex, p->count + i, 1, 1.0, 1.0};
    }
    qsort(p->corner, (size_t)p->corners, sizeof *p->corner, by_vertex);
    int at = 0;
    for (int body = 0; body < count; body++) {
        for (int colour = 0; colour < soft[body]->tables.colours; colour++) {
            p->first[p->colours[body] + colour] = at;
            while (at < p->corners && p->corner[at].soft == body && p->corner[at].colour == colour) {
                at++;
            }
        }
    }
    p->first[p->colours[count]] = at;
    return count > 0 && soft[0]->device ? orr_soft_device_send_pairs(p, soft, count, error) : ORR_OK;
}

static void write(const orr_soft *soft, int32_t vertex, const double number[SOFT_PUSHED])
{
    const orr_soft_group *g = soft->group;
    for (int k = 0; k < SOFT_PUSHED; k++) {
        ptrdiff_t at = ((ptrdiff_t)(k / 3) * g->vertices + vertex) * 3 + k % 3;
        orr_soft_set_number(soft, g->pushed, at, number[k]);
    }
}

static void push_corner(const orr_soft_pairs *p, orr_soft *const *soft, const orr_soft_corner *corner,
                        double sum[SOFT_PUSHED])
{
    const int i = corner->pair;
    if (i >= p->count) {
        add_corner(sum, corner, orr_soft_tie_system(p, soft, i - p->count));
        return;
    }
    double way[3];
    way_of(p, soft, i, way);
    add_corner(sum, corner, pair_system(&p->pair[i], corner->rows, way, p->stiffness + i, p->slip));
    watch_corner(sum, corner, &p->pair[i], way, p->stiffness + i);
}

void orr_soft_pairs_apply(const orr_soft_pairs *p, orr_soft *const *soft, int body, int colour)
{
    if (soft[body]->device) {
        orr_soft_device_push(p, soft[body], p->first + p->colours[body] + colour);
        return;
    }
    const int end = p->first[p->colours[body] + colour + 1];
    for (int i = p->first[p->colours[body] + colour]; i < end;) {
        const int32_t vertex = p->corner[i].vertex;
        double sum[SOFT_PUSHED] = {0.0};
        for (; i < end && p->corner[i].vertex == vertex; i++) {
            push_corner(p, soft, &p->corner[i], sum);
        }
        write(soft[body], vertex, sum);
    }
}

void orr_soft_pairs_clear(orr_soft_pairs *p)
{
    orr_soft_device_pairs_destroy(p->device);
    orr_free(p->shift);
    orr_free(p->stiffness);
    orr_free(p->rows);
    orr_free(p->corner);
    orr_free(p->first);
    orr_free(p->colours);
}
