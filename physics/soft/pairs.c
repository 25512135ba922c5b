// Contacts between soft bodies. A pair pulls on its corners with one force, each by its weight; a vertex sees
// the others where they are when its colour is relaxed. Corners of one colour move at once, and each as if
// the other yielded nothing more: their blocks are enlarged until together they bound the pair's energy.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/pairs.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/soft/element_formula.h"
#include "physics/soft/pair_force.h"

#include <stdlib.h>
#include <string.h>

soft_system orr_soft_pair_system(const orr_soft_pairs *p, orr_soft *const *soft, int i)
{
    const orr_soft_pair *pair = &p->pair[i];
    soft_system s = {{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double moved[3] = {0.0, 0.0, 0.0}; // of the first side against the second
    const double *shift = p->shift + (ptrdiff_t)(p->ties + i) * 3;
    for (int c = 0; c < 3 && pair->rigid; c++) {
        moved[c] = -shift[c];
    }
    for (int k = 0; k < 4; k++) {
        const orr_soft *of = soft[pair->soft[k]];
        const orr_soft_group *g = of->group;
        for (int c = 0; c < 3; c++) {
            ptrdiff_t at = (ptrdiff_t)pair->vertex[k] * 3 + c;
            moved[c] +=
                pair->weight[k] * (orr_soft_number(of, g->position, at) - orr_soft_number(of, g->start, at));
        }
    }
    double depth = -(pair->distance + vec3_dot(pair->normal, moved));
    if (depth > 0.0) {
        const double slip = 1e-2 * soft[0]->constants.time_step; // friction is full from 1 cm/s
        s = plane_contact(s, depth, make_real3(moved[0], moved[1], moved[2]),
                          make_real3(pair->normal[0], pair->normal[1], pair->normal[2]), p->stiffness[i],
                          pair->friction, slip);
    }
    return s;
}

soft_system orr_soft_tie_system(const orr_soft_pairs *p, orr_soft *const *soft, int i)
{
    const orr_soft_tie *tie = &p->tie[i];
    const orr_soft *of = soft[tie->soft];
    const double h = of->constants.time_step, k = 1000.0 * of->model->mass[tie->vertex] / (h * h);
    double pull[3];
    for (int c = 0; c < 3; c++) {
        const ptrdiff_t at = (ptrdiff_t)tie->vertex * 3 + c;
        const double moved =
            orr_soft_number(of, of->group->position, at) - orr_soft_number(of, of->group->start, at);
        pull[c] = -k * (tie->gap[c] + moved - p->shift[i * 3 + c]);
    }
    return (soft_system){{pull[0], pull[1], pull[2]}, k, 0.0, 0.0, k, 0.0, k};
}

// 100 x the mass with which the sides resist each other / time_step^2, or the pair's share of it.
static double stiffness_of(const orr_soft_pair *pair, orr_soft *const *soft)
{
    const orr_soft_constants *k = &soft[0]->constants;
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

static void fill_corners(orr_soft_pairs *p, orr_soft *const *soft, int i)
{
    const orr_soft_pair *pair = &p->pair[i];
    for (int k = 0; k < 4; k++) {
        orr_soft_corner *corner = &p->corner[i * 4 + k];
        const orr_soft_model *m = soft[pair->soft[k]]->model;
        const double w = pair->weight[k];
        *corner = (orr_soft_corner){pair->soft[k], m->colour[pair->vertex[k]], pair->vertex[k], i, w, w * w};
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
    const int corners = p->count * 4 + p->ties;
    if (corners == 0) {
        return ORR_OK;
    }
    ORR_GROW(p->shift, p->shift_capacity, (p->ties + p->count) * 3, what, error);
    ORR_GROW(p->stiffness, p->stiffness_capacity, p->count, what, error);
    ORR_GROW(p->corner, p->corner_capacity, corners, what, error);
    ORR_GROW(p->colours, p->colours_capacity, count + 1, what, error);
    p->colours[0] = 0;
    for (int i = 0; i < count; i++) {
        p->colours[i + 1] = p->colours[i] + soft[i]->tables.colours;
        orr_soft_group *g = soft[i]->group;
        const size_t bytes = 9 * (size_t)g->vertices * orr_soft_number_size(soft[i]);
        if (!g->pushed) {
            g->pushed = orr_alloc(bytes + sizeof(double), 1); // lanes read one number beyond a point
            if (!g->pushed) {
                return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
            }
        }
        memset(g->pushed, 0, bytes);
        g->is_pushed = true;
    }
    ORR_GROW(p->first, p->first_capacity, p->colours[count] + 1, what, error);
    for (int i = 0; i < p->count; i++) {
        p->stiffness[i] = stiffness_of(&p->pair[i], soft);
        fill_corners(p, soft, i);
    }
    for (int i = 0; i < p->ties; i++) {
        const orr_soft_tie *tie = &p->tie[i];
        const int32_t colour = soft[tie->soft]->model->colour[tie->vertex];
        p->corner[p->count * 4 + i] =
            (orr_soft_corner){tie->soft, colour, tie->vertex, p->count + i, 1.0, 1.0};
    }
    qsort(p->corner, (size_t)corners, sizeof *p->corner, by_vertex);
    int at = 0;
    for (int body = 0; body < count; body++) {
        for (int colour = 0; colour < soft[body]->tables.colours; colour++) {
            p->first[p->colours[body] + colour] = at;
            while (at < corners && p->corner[at].soft == body && p->corner[at].colour == colour) {
                at++;
            }
        }
    }
    p->first[p->colours[count]] = at;
    return ORR_OK;
}

static void write(const orr_soft *soft, int32_t vertex, const double number[9])
{
    const orr_soft_group *g = soft->group;
    for (int k = 0; k < 9; k++) {
        ptrdiff_t at = ((ptrdiff_t)(k / 3) * g->vertices + vertex) * 3 + k % 3;
        orr_soft_set_number(soft, g->pushed, at, number[k]);
    }
}

void orr_soft_pairs_apply(const orr_soft_pairs *p, orr_soft *const *soft, int body, int colour)
{
    const int end = p->first[p->colours[body] + colour + 1];
    for (int i = p->first[p->colours[body] + colour]; i < end;) {
        const int32_t vertex = p->corner[i].vertex;
        double sum[9] = {0.0};
        for (; i < end && p->corner[i].vertex == vertex; i++) {
            const orr_soft_corner *corner = &p->corner[i];
            const soft_system s = corner->pair < p->count
                                      ? orr_soft_pair_system(p, soft, corner->pair)
                                      : orr_soft_tie_system(p, soft, corner->pair - p->count);
            const double w = corner->weight, q = corner->square;
            const double more[9] = {w * s.force.x, w * s.force.y, w * s.force.z, q * s.xx, q * s.xy,
                                    q * s.xz,      q * s.yy,      q * s.yz,      q * s.zz};
            for (int k = 0; k < 9; k++) {
                sum[k] += more[k];
            }
        }
        write(soft[body], vertex, sum);
    }
}

void orr_soft_pairs_clear(orr_soft_pairs *p)
{
    orr_free(p->shift);
    orr_free(p->stiffness);
    orr_free(p->corner);
    orr_free(p->first);
    orr_free(p->colours);
}
