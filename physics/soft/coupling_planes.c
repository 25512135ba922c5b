// The planes that vertices of soft bodies touch in a step with rigid bodies, which move them.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/coupling_system.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/soft/cuda/device.h"

#include <string.h>

// Where one of a vertex's numbers is in array 0 .. 2 of a slot's planes.
static ptrdiff_t plane_at(const orr_soft_group *g, int slot, int array, int vertex)
{
    return ((ptrdiff_t)(slot * 3 + array) * g->vertices + vertex) * 3;
}

// How far a rigid body, -1: none, moves what is at the end of an arm from its centre.
static void shift_by(const orr_soft_coupling *c, int body, const double arm[3], double shift[3])
{
    if (body < 0) {
        shift[0] = shift[1] = shift[2] = 0.0;
        return;
    }
    const double *moved = c->moved + (size_t)body * 6;
    vec3_cross(moved + 3, arm, shift);
    for (int k = 0; k < 3; k++) {
        shift[k] += moved[k];
    }
}

void orr_soft_shifts_write(const orr_soft_coupling *c)
{
    for (int i = 0; i < c->contacts->touches; i++) {
        const orr_soft_touch *touch = &c->contacts->touch[i];
        if (touch->body >= 0 && c->placed[i].slot >= 0) {
            const orr_soft *soft = c->soft[touch->soft];
            ptrdiff_t at = plane_at(soft->group, c->placed[i].slot, 1, touch->vertex);
            double shift[3];
            shift_by(c, touch->body, c->placed[i].arm, shift);
            for (int k = 0; k < 3; k++) {
                orr_soft_set_number(soft, soft->group->planes, at + k, shift[k]);
            }
        }
    }
    for (int i = 0; i < c->contacts->ties; i++) {
        shift_by(c, c->contacts->tie[i].body, c->arm + (ptrdiff_t)i * 3, c->pairs.shift + (ptrdiff_t)i * 3);
    }
    for (int i = 0; i < c->contacts->pairs; i++) {
        if (c->pairs.rows[i] > 0 && c->contacts->pair[i].rigid) {
            const ptrdiff_t at = (ptrdiff_t)(c->contacts->ties + i) * 3;
            shift_by(c, c->contacts->pair[i].body, c->arm + at, c->pairs.shift + at);
        }
    }
    for (int i = 0; i < c->count && c->soft[i]->device; i++) {
        orr_soft_device_shift(c->soft[i], i == 0 ? &c->pairs : NULL);
    }
}

// As many slots as a vertex of each body has touches, at most.
static void count_slots(const orr_soft_coupling *c)
{
    for (int i = 0; i < c->count; i++) {
        c->soft[i]->group->plane_slots = 0;
    }
    for (int i = 0, of_vertex = 0; i < c->contacts->touches; i++) {
        const orr_soft_touch *touch = &c->contacts->touch[i];
        const bool same = i > 0 && touch[-1].soft == touch->soft && touch[-1].vertex == touch->vertex;
        int *slots = &c->soft[touch->soft]->group->plane_slots;
        of_vertex = same ? of_vertex + 1 : 1;
        if (of_vertex > *slots && of_vertex <= ORR_SOFT_TOUCHES_MAX) {
            *slots = of_vertex;
        }
    }
}

orr_result orr_soft_planes_clear(const orr_soft_coupling *c, orr_error *error)
{
    count_slots(c);
    for (int i = 0; i < c->count; i++) {
        const orr_soft *soft = c->soft[i];
        orr_soft_group *g = soft->group;
        if (g->plane_slots == 0) {
            continue;
        }
        const size_t of_slot = 9 * (size_t)g->vertices;
        if (!g->planes) { // lanes read one beyond a point
            g->planes = orr_alloc(ORR_SOFT_TOUCHES_MAX * of_slot + 1, orr_soft_number_size(soft));
            if (!g->planes) {
                return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: contacts of soft bodies");
            }
        }
        memset(g->planes, 0, (size_t)g->plane_slots * of_slot * orr_soft_number_size(soft));
    }
    return ORR_OK;
}

// N/m, of a touch that has none of its own.
static double usual_stiffness(const orr_soft *soft, int vertex)
{
    const orr_soft_constants *k = &soft->constants;
    const double rate = 1.0 / (k->time_step * k->time_step * orr_soft_end_share(k));
    return k->contact_stiffness > 0.0 ? k->contact_stiffness : 100.0 * soft->model->mass[vertex] * rate;
}

void orr_soft_planes_place(const orr_soft_coupling *c)
{
    const double h = c->soft[0]->constants.time_step;
    int last = -1, of = -1, used = 0;
    for (int i = 0; i < c->contacts->touches; i++) {
        const orr_soft_touch *touch = &c->contacts->touch[i];
        const orr_soft *soft = c->soft[touch->soft];
        const orr_soft_group *g = soft->group;
        used = touch->vertex == last && touch->soft == of ? used + 1 : 0;
        last = touch->vertex, of = touch->soft;
        c->placed[i].slot = used < g->plane_slots ? used : -1;
        if (c->placed[i].slot < 0) {
            continue;
        }
        const double usual = usual_stiffness(soft, last);
        const double more[3] = {touch->distance, touch->friction,
                                touch->stiffness > 0.0 ? touch->stiffness / usual : 1.0};
        for (int k = 0; k < 3; k++) {
            orr_soft_set_number(soft, g->planes, plane_at(g, used, 0, last) + k, touch->normal[k]);
            orr_soft_set_number(soft, g->planes, plane_at(g, used, 2, last) + k, more[k]);
            if (touch->body >= 0) {
                c->placed[i].arm[k] = orr_soft_number(soft, g->start, (ptrdiff_t)last * 3 + k) +
                                      touch->ahead[k] - c->contacts->body[touch->body].centre[k];
            }
        }
    }
    for (int i = 0; i < c->contacts->ties; i++) {
        const orr_soft_tie *tie = &c->contacts->tie[i];
        const orr_soft *soft = c->soft[tie->soft];
        for (int k = 0; k < 3 && tie->body >= 0; k++) {
            c->arm[i * 3 + k] = orr_soft_number(soft, soft->group->start, (ptrdiff_t)tie->vertex * 3 + k) -
                                tie->gap[k] - c->contacts->body[tie->body].centre[k];
        }
    }
    for (int i = 0; i < c->contacts->pairs; i++) {
        const orr_soft_pair *pair = &c->contacts->pair[i];
        double *arm = c->arm + (ptrdiff_t)(c->contacts->ties + i) * 3;
        for (int k = 0; k < 3 && pair->rigid && pair->body >= 0; k++) {
            arm[k] = pair->reach[k] - c->contacts->body[pair->body].centre[k];
            for (int v = 0; v < 3; v++) {
                const orr_soft *soft = c->soft[pair->soft[v]];
                arm[k] += pair->weight[v] *
                          orr_soft_number(soft, soft->group->start, (ptrdiff_t)pair->vertex[v] * 3 + k);
            }
        }
    }
    for (int b = 0; b < c->contacts->bodies; b++) {
        for (int k = 0; k < 3; k++) {
            c->moved[b * 6 + k] = h * c->contacts->body[b].velocity[k];
            c->moved[b * 6 + 3 + k] = h * c->contacts->body[b].spin[k];
        }
    }
    for (int i = 0, at = 0; i < c->contacts->linkages; i++) {
        const orr_soft_linkage *linkage = &c->contacts->linkage[i];
        for (int k = 0; k < linkage->freedoms; k++) {
            c->turned[at++] = h * c->contacts->joints[linkage->speed + k];
        }
    }
    orr_soft_shifts_write(c);
}

bool orr_soft_touch_system(const orr_soft_coupling *c, int i, soft_system *s)
{
    const orr_soft_touch *touch = &c->contacts->touch[i];
    const orr_soft *soft = c->soft[touch->soft];
    const double h = soft->constants.time_step, *n = touch->normal;
    double shift[3], moved[3];
    if (c->placed[i].slot < 0) {
        return false;
    }
    shift_by(c, touch->body, c->placed[i].arm, shift);
    for (int a = 0; a < 3; a++) {
        ptrdiff_t at = (ptrdiff_t)touch->vertex * 3 + a;
        moved[a] = orr_soft_number(soft, soft->group->position, at) -
                   orr_soft_number(soft, soft->group->start, at) - shift[a];
    }
    double depth = -(touch->distance + vec3_dot(n, moved));
    if (!(depth > 0.0)) {
        return false;
    }
    const double stiffness = touch->stiffness > 0.0 ? touch->stiffness : usual_stiffness(soft, touch->vertex);
    *s = plane_contact((soft_system){{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, depth,
                       make_real3(moved[0], moved[1], moved[2]), make_real3(n[0], n[1], n[2]), stiffness,
                       touch->friction, 1e-2 * h);
    return true;
}
