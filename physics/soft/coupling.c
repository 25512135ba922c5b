// A step of soft bodies with the rigid ones that they push. Descent vertex by vertex passes a push on slowly
// between a light body and stiff contacts, so rigid bodies move together with the translations of the soft
// ones, by Newton's method in double. That also makes the step keep momentum, which descent does not before
// it has converged.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/coupling.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/soft/cuda/device.h"
#include "physics/soft/obstacles.h"
#include "physics/soft/pair_force.h"

#include <string.h>

enum {
    // Soft bodies are moved as wholes once in so many iterations of vertices. After such a move the vertices
    // of limp cloth fall back on what they touch, and through it: moved in each, they do not come to an end.
    SELDOM = 4,
    LEAST = 3,   // iterations of what converges: the first moves are as short as the first guess is good
    SETTLING = 6 // such moves after the last: which vertices touch has to settle
};

static const char what[] = "contacts of soft bodies";

typedef orr_soft_coupling coupling;

// Where one of a vertex's numbers is in array 0 .. 2 of a slot's planes.
static ptrdiff_t plane_at(const orr_soft_group *g, int slot, int array, int vertex)
{
    return ((ptrdiff_t)(slot * 3 + array) * g->vertices + vertex) * 3;
}

// How far a rigid body, -1: none, moves what is at the end of an arm from its centre.
static void shift_by(const coupling *c, int body, const double arm[3], double shift[3])
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

static void write_shifts(const coupling *c)
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
static void count_slots(const coupling *c)
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

static orr_result clear_planes(const coupling *c, orr_error *error)
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
                return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
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

// Writes the planes that vertices touch; their bodies begin where their velocities take them.
static void place_touches(const coupling *c)
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
    write_shifts(c);
}

// The force on the vertex of a touch, and minus its derivative; false where it is not deep.
static bool touch_system(const coupling *c, int i, soft_system *s)
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

// ---- the common minimum. Unknowns: a translation of each soft body, then a displacement of each rigid one.

// Solves a x = b for a symmetric positive definite matrix, n x n, by Cholesky's method, in place; x replaces
// b.
static void solve(int n, double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) {
                sum -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = i == j ? sqrt_(sum) : sum / a[j * n + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            b[i] -= a[i * n + k] * b[k];
        }
        b[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            b[i] -= a[k * n + i] * b[k];
        }
        b[i] /= a[i * n + i];
    }
}

// Adds a contact: J^T H J and J^T f, where its sides move against each other by J times `columns` unknowns;
// row: the number of each.
static void add_contact(const soft_system *s, int columns, const int *row, const double j[3][9], int n,
                        double *a, double *b)
{
    const double h[3][3] = {{s->xx, s->xy, s->xz}, {s->xy, s->yy, s->yz}, {s->xz, s->yz, s->zz}};
    const double f[3] = {s->force.x, s->force.y, s->force.z};
    for (int p = 0; p < columns; p++) {
        for (int r = 0; r < 3; r++) {
            double hj = h[r][0] * j[0][p] + h[r][1] * j[1][p] + h[r][2] * j[2][p];
            b[row[p]] += j[r][p] * f[r];
            for (int q = 0; q < columns; q++) {
                a[row[p] * n + row[q]] += j[r][q] * hj;
            }
        }
    }
}

// A vertex of a soft body against a rigid one, at the end of an arm; body -1: against what is fixed. As
// add_contact with J = (1, -1, arm x), whose products with a column c are c, -c and c x arm.
static void add_vertex(const coupling *c, const soft_system *s, int soft, int body, const double arm[3],
                       int n, double *a, double *b)
{
    const double h[3][3] = {{s->xx, s->xy, s->xz}, {s->xy, s->yy, s->yz}, {s->xz, s->yz, s->zz}};
    const double f[3] = {s->force.x, s->force.y, s->force.z};
    double turned[3];
    const int moves = 3 * soft, rigid = 3 * c->count + 6 * body;
    double *row = a + (ptrdiff_t)moves * n;
    for (int p = 0; p < 3; p++, row += n) {
        b[moves + p] += f[p];
        for (int k = 0; k < 3; k++) {
            row[moves + k] += h[p][k];
        }
        if (body >= 0) {
            vec3_cross(h[p], arm, turned);
            for (int k = 0; k < 3; k++) {
                row[rigid + k] -= h[p][k], row[rigid + 3 + k] += turned[k];
            }
        }
    }
    if (body < 0) {
        return;
    }
    vec3_cross(f, arm, turned);
    for (int p = 0; p < 6; p++) {
        double unit[3] = {p % 3 == 0, p % 3 == 1, p % 3 == 2}, turn[3], column[3];
        vec3_cross(arm, unit, turn);
        for (int k = 0; k < 3; k++) {
            column[k] = p < 3 ? -h[p % 3][k] : vec3_dot(h[k], turn);
        }
        b[rigid + p] += p < 3 ? -f[p] : turned[p - 3];
        vec3_cross(column, arm, turn);
        row = a + (ptrdiff_t)(rigid + p) * n;
        for (int k = 0; k < 3; k++) {
            row[moves + k] += column[k], row[rigid + k] -= column[k], row[rigid + 3 + k] += turn[k];
        }
    }
}

static soft_system sum_of(soft_system a, soft_system b)
{
    a.force = add_scaled3(a.force, b.force, 1.0);
    a.xx += b.xx, a.xy += b.xy, a.xz += b.xz;
    a.yy += b.yy, a.yz += b.yz, a.zz += b.zz;
    return a;
}

// Are two touches rows of one contact?
static bool same_touch(const orr_soft_touch *a, const orr_soft_touch *b)
{
    return a->soft == b->soft && a->vertex == b->vertex && a->body == b->body &&
           memcmp(a->ahead, b->ahead, sizeof a->ahead) == 0;
}

// Touch i with the other rows of its contact, which follow it; returns the next one.
static int add_touches(const coupling *c, int i, int n, double *a, double *b)
{
    const orr_soft_touch *touch = c->contacts->touch + i;
    soft_system sum = {{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, s;
    bool deep = false;
    int next = i;
    do {
        if (touch_system(c, next, &s)) {
            sum = sum_of(sum, s), deep = true;
        }
        next++;
    } while (next < c->contacts->touches && same_touch(touch, c->contacts->touch + next));
    if (deep) {
        add_vertex(c, &sum, touch->soft, touch->body, c->placed[i].arm, n, a, b);
    }
    return next;
}

static void add_tie(const coupling *c, int i, int n, double *a, double *b)
{
    const orr_soft_tie *tie = &c->contacts->tie[i];
    const soft_system s = orr_soft_tie_system(&c->pairs, c->soft, i);
    add_vertex(c, &s, tie->soft, tie->body, c->arm + (ptrdiff_t)i * 3, n, a, b);
}

// A contact with a rigid body, whose first row is pair i.
static void add_rigid_pair(const coupling *c, int i, int n, double *a, double *b)
{
    const orr_soft_pair *pair = c->contacts->pair + i;
    const soft_system s = orr_soft_pair_system(&c->pairs, c->soft, i);
    if (s.xx + s.yy + s.zz > 0.0) {
        const double *arm = c->arm + (ptrdiff_t)(c->contacts->ties + i) * 3;
        add_vertex(c, &s, pair->soft[0], pair->body, arm, n, a, b);
    }
}

// Of two bodies; one that touches itself does not push itself.
static void add_pair(const coupling *c, int i, int n, double *a, double *b)
{
    static const double j[3][9] = {
        {1.0, 0.0, 0.0, -1.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0, -1.0, 0.0}, {0.0, 0.0, 1.0, 0.0, 0.0, -1.0}};
    const orr_soft_pair *pair = &c->contacts->pair[i];
    int row[6];
    if (pair->soft[0] == pair->soft[3]) {
        return;
    }
    for (int k = 0; k < 6; k++) {
        row[k] = 3 * pair->soft[k < 3 ? 0 : 3] + k % 3;
    }
    const soft_system s = orr_soft_pair_system(&c->pairs, c->soft, i);
    add_contact(&s, 6, row, j, n, a, b);
}

// 1 / (how far a rigid body goes in a step for each m/s^2), 1/s^2: as the first of the soft bodies steps.
static double rigid_rate(const coupling *c)
{
    const orr_soft_constants *k = &c->soft[0]->constants;
    return 1.0 / (k->time_step * k->time_step * orr_soft_end_share(k));
}

static void add_inertia(const coupling *c, int n, double *a, double *b)
{
    const double h = c->soft[0]->constants.time_step, rigid = rigid_rate(c);
    for (int i = 0; i < c->count; i++) {
        const double own = 1.0 / (h * h * orr_soft_end_share(&c->soft[i]->constants));
        double sum[3];
        c->soft[i]->program->pull(c->soft[i]->group, c->soft[i]->model->mass, sum);
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            b[k] += own * sum[k - 3 * i];
            a[k * n + k] += own * c->mass[i];
        }
    }
    for (int i = 0; i < c->contacts->bodies; i++) {
        const orr_soft_body *body = &c->contacts->body[i];
        const double *moved = c->moved + (size_t)i * 6;
        int first = 3 * c->count + 6 * i;
        for (int k = 0; k < 3 && !body->linked; k++) {
            a[(first + k) * n + first + k] += rigid * body->mass;
            b[first + k] += rigid * body->mass * (h * body->velocity[k] - moved[k]);
            for (int r = 0; r < 3; r++) {
                double inertia = rigid * body->inertia[k * 3 + r];
                a[(first + 3 + k) * n + first + 3 + r] += inertia;
                b[first + 3 + k] += inertia * (h * body->spin[r] - moved[3 + r]);
            }
        }
    }
}

// The system whose solution moves the soft bodies as wholes, and the rigid ones, to their common minimum.
// wholes: soft ones are moved, too. What nothing moves has a unit row.
static void fill(const coupling *c, bool wholes, int n, double *a, double *b)
{
    memset(a, 0, (size_t)n * (size_t)n * sizeof *a);
    memset(b, 0, (size_t)n * sizeof *b);
    for (int i = 0; i < c->contacts->touches;) {
        i = add_touches(c, i, n, a, b);
    }
    for (int i = 0; i < c->contacts->ties; i++) {
        add_tie(c, i, n, a, b);
    }
    for (int i = 0; i < c->contacts->pairs; i++) {
        if (!c->contacts->pair[i].rigid) {
            add_pair(c, i, n, a, b);
        } else if (c->pairs.rows[i] > 0) {
            add_rigid_pair(c, i, n, a, b);
        }
    }
    for (int i = 0; i < c->count && wholes; i++) {
        const soft_system s = orr_soft_obstacles_system(c->soft[i]);
        add_vertex(c, &s, i, -1, (const double[3]){0.0, 0.0, 0.0}, n, a, b);
    }
    add_inertia(c, n, a, b);
    for (int row = 0; row < n; row++) {
        bool held;
        if (row < 3 * c->count) {
            held = c->held[row / 3] || !wholes;
        } else {
            const orr_soft_body *body = &c->contacts->body[(row - 3 * c->count) / 6];
            held = !body->linked && !(body->mass > 0.0);
        }
        for (int k = 0; k < n && held; k++) {
            a[row * n + k] = a[k * n + row] = k == row;
        }
        b[row] = held ? 0.0 : b[row];
    }
}

// ---- linked bodies

// Gives bodies and linkages their rows; returns how many rows there are.
static int list_rows(const coupling *c)
{
    int rows = 3 * c->count, *linkage = c->first + c->contacts->bodies;
    for (int i = 0; i < c->contacts->linkages; i++) {
        linkage[i] = rows;
        rows += c->contacts->linkage[i].freedoms;
    }
    for (int i = 0; i < c->contacts->bodies; i++) {
        const bool linked = c->contacts->body[i].linked;
        c->first[i] = linked ? linkage[c->contacts->body[i].linkage] : rows;
        rows += linked ? 0 : 6;
    }
    return rows;
}

// How many rows move a body, and its velocity and spin by the one of number `row`.
static int rows_of(const coupling *c, int body)
{
    const orr_soft_body *b = &c->contacts->body[body];
    return b->linked ? c->contacts->linkage[b->linkage].freedoms : 6;
}

static double motion_by(const coupling *c, int body, int number, int row)
{
    const orr_soft_body *b = &c->contacts->body[body];
    return b->linked ? c->contacts->joints[b->jacobian + number * rows_of(c, body) + row]
                     : (double)(number == row);
}

static void add_linkage(const coupling *c, int i, int n, double *a, double *b)
{
    const orr_soft_linkage *l = &c->contacts->linkage[i];
    const double h = c->soft[0]->constants.time_step, rate = rigid_rate(c);
    const int first = c->first[c->contacts->bodies + i];
    const double *turned = c->turned + first - 3 * c->count, *joints = c->contacts->joints;
    for (int r = 0; r < l->freedoms; r++) {
        b[first + r] -= joints[l->push + r];
        for (int k = 0; k < l->freedoms; k++) {
            const double inertia = rate * joints[l->inertia + r * l->freedoms + k];
            a[(first + r) * n + first + k] += inertia;
            b[first + r] += inertia * (h * joints[l->speed + k] - turned[k]);
        }
    }
}

// The system of all bodies' displacements becomes that of what moves them. No contact is between two rigid
// bodies, so that their rows meet those of soft bodies and their own alone.
static void reduce(const coupling *c, int n, const double *a, const double *b, int m, double *ra, double *rb)
{
    const int soft = 3 * c->count;
    memset(ra, 0, (size_t)m * (size_t)m * sizeof *ra);
    memset(rb, 0, (size_t)m * sizeof *rb);
    for (int r = 0; r < soft; r++) {
        memcpy(ra + (ptrdiff_t)r * m, a + (ptrdiff_t)r * n, (size_t)soft * sizeof *ra);
        rb[r] = b[r];
    }
    for (int i = 0; i < c->contacts->bodies; i++) {
        const int from = soft + 6 * i, to = c->first[i], rows = rows_of(c, i);
        for (int p = 0; p < rows; p++) {
            double column[6] = {0.0}; // the body's block times the motion by row p
            for (int k = 0; k < 6; k++) {
                const double by = motion_by(c, i, k, p);
                rb[to + p] += by * b[from + k];
                for (int r = 0; r < 6; r++) {
                    column[r] += a[(from + r) * n + from + k] * by;
                }
                for (int r = 0; r < soft; r++) {
                    ra[r * m + to + p] += a[r * n + from + k] * by;
                    ra[(to + p) * m + r] += a[r * n + from + k] * by;
                }
            }
            for (int q = 0; q < rows; q++) {
                for (int r = 0; r < 6; r++) {
                    ra[(to + q) * m + to + p] += motion_by(c, i, r, q) * column[r];
                }
            }
        }
    }
    for (int i = 0; i < c->contacts->linkages; i++) {
        add_linkage(c, i, m, ra, rb);
    }
}

// Solves the system, n + n x n, where bodies are linked: x in place of b.
static void solve_linked(const coupling *c, int n, const double *a, double *b)
{
    const int m = list_rows(c), soft = 3 * c->count;
    double *rb = c->reduced, *ra = rb + m;
    reduce(c, n, a, b, m, ra, rb);
    solve(m, ra, rb);
    memcpy(b, rb, (size_t)soft * sizeof *b);
    for (int i = 0; i < 6 * c->contacts->bodies; i++) {
        const int body = i / 6;
        b[soft + i] = 0.0;
        for (int row = 0; row < rows_of(c, body); row++) {
            b[soft + i] += motion_by(c, body, i % 6, row) * rb[c->first[body] + row];
        }
    }
    for (int i = 0; i < c->contacts->linkages; i++) {
        const int first = c->first[c->contacts->bodies + i];
        for (int k = first; k < first + c->contacts->linkage[i].freedoms; k++) {
            c->turned[k - soft] += rb[k];
        }
    }
}

// The force on a soft side after the move x, of a contact with a body at the end of an arm, as the solution
// of the system has it: what a vertex feels, the body feels the other way round.
static void push_back(const coupling *c, int soft, int body, const double arm[3], const soft_system *s,
                      const double *x)
{
    const double h[3][3] = {{s->xx, s->xy, s->xz}, {s->xy, s->yy, s->yz}, {s->xz, s->yz, s->zz}};
    const double force[3] = {s->force.x, s->force.y, s->force.z};
    const double *moved = x + 3 * c->count + 6 * body;
    orr_soft_body *out = &c->contacts->body[body];
    double turned[3], f[3], torque[3];
    vec3_cross(moved + 3, arm, turned);
    for (int r = 0; r < 3; r++) {
        f[r] = -force[r];
        for (int k = 0; k < 3; k++) {
            f[r] += h[r][k] * (x[3 * soft + k] - moved[k] - turned[k]);
        }
    }
    vec3_cross(arm, f, torque);
    for (int k = 0; k < 3; k++) {
        out->force[k] += f[k];
        out->torque[k] += torque[k];
    }
}

// The forces on rigid bodies by which they have moved, x the last move of the step. Those of the contacts
// where they are afterwards differ by rounding, and by contacts that end, times a stiffness that throws light
// bodies.
static void find_forces(const coupling *c, const double *x)
{
    for (int i = 0; i < c->contacts->bodies; i++) {
        memset(c->contacts->body[i].force, 0, sizeof c->contacts->body[i].force);
        memset(c->contacts->body[i].torque, 0, sizeof c->contacts->body[i].torque);
    }
    for (int i = 0; i < c->contacts->touches; i++) {
        const orr_soft_touch *touch = &c->contacts->touch[i];
        soft_system s;
        if (touch->body >= 0 && touch_system(c, i, &s)) {
            push_back(c, touch->soft, touch->body, c->placed[i].arm, &s, x);
        }
    }
    for (int i = 0; i < c->contacts->ties; i++) {
        const orr_soft_tie *tie = &c->contacts->tie[i];
        if (tie->body >= 0) {
            const soft_system s = orr_soft_tie_system(&c->pairs, c->soft, i);
            push_back(c, tie->soft, tie->body, c->arm + (ptrdiff_t)i * 3, &s, x);
        }
    }
    for (int i = 0; i < c->contacts->pairs; i++) {
        const orr_soft_pair *pair = &c->contacts->pair[i];
        if (pair->rigid && pair->body >= 0 && c->pairs.rows[i] > 0) {
            const soft_system s = orr_soft_pair_system(&c->pairs, c->soft, i);
            push_back(c, pair->soft[0], pair->body, c->arm + (ptrdiff_t)(c->contacts->ties + i) * 3, &s, x);
        }
    }
}

// last: of the step, which leaves the forces on rigid bodies too.
static void relax_together(const coupling *c, bool wholes, bool last)
{
    const int n = 3 * c->count + 6 * c->contacts->bodies;
    double *b = c->system, *a = b + n;
    for (int i = 0; i < c->count && c->soft[i]->device; i++) {
        orr_soft_device_read(c->soft[i]);
    }
    fill(c, wholes, n, a, b);
    if (c->contacts->linkages > 0) {
        solve_linked(c, n, a, b);
    } else {
        solve(n, a, b);
    }
    if (last) {
        find_forces(c, b);
    }
    for (int i = 0; i < c->count; i++) {
        if (wholes && !c->held[i]) {
            c->soft[i]->program->translate(c->soft[i]->group, b + 3 * i);
            if (c->soft[i]->device) {
                orr_soft_device_translate(c->soft[i], b + 3 * i);
            }
        }
    }
    for (int i = 0; i < 6 * c->contacts->bodies; i++) {
        c->moved[i] += b[3 * c->count + i];
    }
    write_shifts(c);
}

// ---- a step

// Whether bodies touch each other, or rigid ones.
static bool is_coupled(const coupling *c)
{
    bool coupled = c->contacts->bodies > 0;
    for (int i = 0; i < c->contacts->pairs && !coupled; i++) {
        coupled = c->contacts->pair[i].soft[0] != c->contacts->pair[i].soft[3];
    }
    return coupled;
}

static bool is_relaxed(const coupling *c, int i, int n)
{
    return n <= c->soft[i]->iterations && !c->converged[i];
}

// Before it is accelerated. Ways that are shorter than rounding never converge.
static bool has_converged(const orr_soft *soft, int n)
{
    double moved, way;
    if (n < LEAST || !(soft->tolerance > 0.0) || soft->device || !soft->group->previous) {
        return false;
    }
    soft->program->progress(soft->group, &moved, &way);
    return moved <= soft->tolerance * way;
}

static void accelerate(const coupling *c, int i, int n)
{
    const orr_soft *soft = c->soft[i];
    if (soft->chebyshev > 0.0) {
        c->omega[i] = orr_soft_next_omega(soft, n, c->omega[i]);
        if (soft->device) {
            orr_soft_device_accelerate(soft, c->omega[i]);
        } else {
            orr_soft_accelerate_vertices(soft, soft->group, c->omega[i], true);
        }
    }
    if (soft->device) {
        orr_soft_device_update_pressure(soft);
    } else {
        orr_soft_update_pressure(soft, soft->group);
    }
}

// Whether all bodies have converged, or had their last iteration. Bodies that touch others go on until all
// have: what one still moves by moves the others.
static bool relax_vertices(const coupling *c, int n, bool coupled)
{
    bool all = true;
    for (int i = 0; i < c->count; i++) {
        const orr_soft *soft = c->soft[i];
        for (int colour = 0; colour < soft->tables.colours && is_relaxed(c, i, n); colour++) {
            if (c->pairs.count + c->pairs.ties > 0) {
                orr_soft_pairs_apply(&c->pairs, c->soft, i, colour);
            }
            orr_soft_relax_colour(soft, soft->group, colour, true);
        }
    }
    if (n % SELDOM == 0 || c->contacts->bodies > 0) {
        relax_together(c, n % SELDOM == 0, false);
    }
    for (int i = 0; i < c->count; i++) {
        if (is_relaxed(c, i, n)) {
            const bool converged = (all || !coupled) && has_converged(c->soft[i], n);
            accelerate(c, i, n);
            c->converged[i] = converged && !coupled;
            all = all && converged;
        }
    }
    return all;
}

// The bodies' worlds are all in the memory of one device, or all in the host's.
static orr_result check_device(const coupling *c, orr_error *error)
{
    for (int i = 1; i < c->count; i++) {
        if (orr_soft_get_cuda(c->soft[i]) != orr_soft_get_cuda(c->soft[0])) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "soft bodies that step together: expected all on the CPU, or all on one CUDA "
                            "device, not number %d beside number 0",
                            i);
        }
    }
    return ORR_OK;
}

// The first guess, as a part of the step; and its end.
static void begin_body(const orr_soft *soft)
{
    if (soft->device) {
        orr_soft_device_begin(soft);
    } else {
        orr_soft_begin_pressure(soft, soft->group);
        orr_soft_begin_vertices(soft, soft->group, true);
    }
}

static void finish_body(const orr_soft *soft)
{
    if (soft->device) {
        orr_soft_device_finish(soft);
    } else {
        orr_soft_finish_vertices(soft, soft->group, true);
        orr_soft_plastic_flow(soft, soft->group);
    }
}

static orr_result begin(coupling *c, orr_error *error)
{
    ORR_TRY(check_device(c, error));
    const int n = 3 * c->count + 6 * c->contacts->bodies;
    ORR_GROW(c->placed, c->placed_capacity, c->contacts->touches, what, error);
    ORR_GROW(c->moved, c->moved_capacity, 6 * c->contacts->bodies, what, error);
    ORR_GROW(c->system, c->system_capacity, n * (1 + n), what, error);
    int freedoms = 0;
    for (int i = 0; i < c->contacts->linkages; i++) {
        freedoms += c->contacts->linkage[i].freedoms;
    }
    const int most = n + freedoms;
    ORR_GROW(c->reduced, c->reduced_capacity, freedoms > 0 ? most * (1 + most) : 0, what, error);
    ORR_GROW(c->first, c->first_capacity, c->contacts->bodies + c->contacts->linkages, what, error);
    ORR_GROW(c->turned, c->turned_capacity, freedoms, what, error);
    ORR_GROW(c->held, c->held_capacity, c->count, what, error);
    ORR_GROW(c->converged, c->converged_capacity, c->count, what, error);
    ORR_GROW(c->mass, c->mass_capacity, c->count, what, error);
    ORR_GROW(c->omega, c->omega_capacity, c->count, what, error);
    ORR_TRY(clear_planes(c, error));
    for (int i = 0; i < c->count; i++) {
        const orr_soft *soft = c->soft[i];
        assert(soft->worlds == 1 && soft->group_worlds == 1);
        c->held[i] = c->converged[i] = false, c->mass[i] = 0.0, c->omega[i] = 1.0;
        for (int v = 0; v < soft->model->vertices; v++) {
            c->held[i] |= soft->model->pinned[v] != 0;
            c->mass[i] += soft->model->mass[v];
        }
    }
    ORR_GROW(c->arm, c->arm_capacity, 3 * (c->contacts->ties + c->contacts->pairs), what, error);
    return orr_soft_pairs_begin(&c->pairs, c->soft, c->count, c->contacts, error);
}

orr_result orr_soft_step_together(orr_soft_coupling *c, orr_soft *const *softs, int count,
                                  const orr_soft_contacts *contacts, orr_error *error)
{
    c->soft = softs, c->count = count, c->contacts = contacts;
    orr_result result = begin(c, error);
    int iterations = 0;
    for (int i = 0; i < count && result == ORR_OK; i++) {
        begin_body(softs[i]);
        iterations = softs[i]->iterations > iterations ? softs[i]->iterations : iterations;
    }
    if (result == ORR_OK && count > 0) {
        place_touches(c);
        const bool coupled = is_coupled(c);
        bool over = false;
        for (c->iterations = 0; c->iterations < iterations && !over;) {
            over = relax_vertices(c, ++c->iterations, coupled);
        }
        for (int n = coupled ? SETTLING : 1; n > 0; n--) { // 1: there is no momentum to keep
            relax_together(c, true, n == 1);
        }
    }
    for (int i = 0; i < count; i++) {
        if (result == ORR_OK) {
            finish_body(softs[i]);
            result = softs[i]->device ? orr_soft_device_status(softs[i]->device, error) : ORR_OK;
        }
        softs[i]->group->plane_slots = 0; // steps of a body alone touch nothing
        softs[i]->group->is_pushed = false;
    }
    return result;
}

orr_result orr_soft_coupling_create(orr_soft_coupling **out, orr_error *error)
{
    *out = orr_alloc_zero(1, sizeof **out);
    return *out ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
}

void orr_soft_coupling_destroy(orr_soft_coupling *c)
{
    if (c) {
        orr_soft_pairs_clear(&c->pairs);
        orr_free(c->placed);
        orr_free(c->arm);
        orr_free(c->moved);
        orr_free(c->system);
        orr_free(c->reduced);
        orr_free(c->first);
        orr_free(c->turned);
        orr_free(c->held);
        orr_free(c->converged);
        orr_free(c->mass);
        orr_free(c->omega);
        orr_free(c);
    }
}
