// The common minimum of soft and rigid bodies in an iteration: the system of their displacements, and the
// forces on rigid bodies that follow from its solution.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/coupling_system.h"

#include "engine/maths/vector.h"
#include "physics/soft/obstacles.h"
#include "physics/soft/pair_force.h"

#include <string.h>

void orr_soft_system_solve(int n, double *a, double *b)
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
static void add_vertex(const orr_soft_coupling *c, const soft_system *s, int soft, int body,
                       const double arm[3], int n, double *a, double *b)
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
static int add_touches(const orr_soft_coupling *c, int i, int n, double *a, double *b)
{
    const orr_soft_touch *touch = c->contacts->touch + i;
    soft_system sum = {{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, s;
    bool deep = false;
    int next = i;
    do {
        if (orr_soft_touch_system(c, next, &s)) {
            sum = sum_of(sum, s), deep = true;
        }
        next++;
    } while (next < c->contacts->touches && same_touch(touch, c->contacts->touch + next));
    if (deep) {
        add_vertex(c, &sum, touch->soft, touch->body, c->placed[i].arm, n, a, b);
    }
    return next;
}

static void add_tie(const orr_soft_coupling *c, int i, int n, double *a, double *b)
{
    const orr_soft_tie *tie = &c->contacts->tie[i];
    const soft_system s = orr_soft_tie_system(&c->pairs, c->soft, i);
    add_vertex(c, &s, tie->soft, tie->body, c->arm + (ptrdiff_t)i * 3, n, a, b);
}

// A contact with a rigid body, whose first row is pair i.
static void add_rigid_pair(const orr_soft_coupling *c, int i, int n, double *a, double *b)
{
    const orr_soft_pair *pair = c->contacts->pair + i;
    const soft_system s = orr_soft_pair_system(&c->pairs, c->soft, i);
    if (s.xx + s.yy + s.zz > 0.0) {
        const double *arm = c->arm + (ptrdiff_t)(c->contacts->ties + i) * 3;
        add_vertex(c, &s, pair->soft[0], pair->body, arm, n, a, b);
    }
}

// Of two bodies; one that touches itself does not push itself.
static void add_pair(const orr_soft_coupling *c, int i, int n, double *a, double *b)
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

double orr_soft_rigid_rate(const orr_soft_coupling *c)
{
    const orr_soft_constants *k = &c->soft[0]->constants;
    return 1.0 / (k->time_step * k->time_step * orr_soft_end_share(k));
}

static void add_inertia(const orr_soft_coupling *c, int n, double *a, double *b)
{
    const double h = c->soft[0]->constants.time_step, rigid = orr_soft_rigid_rate(c);
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

void orr_soft_system_fill(const orr_soft_coupling *c, bool wholes, int n, double *a, double *b)
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

// ---- forces

// The force on a soft side after the move x, of a contact with a body at the end of an arm, as the solution
// of the system has it: what a vertex feels, the body feels the other way round.
static void push_back(const orr_soft_coupling *c, int soft, int body, const double arm[3],
                      const soft_system *s, const double *x)
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

void orr_soft_system_forces(const orr_soft_coupling *c, const double *x)
{
    for (int i = 0; i < c->contacts->bodies; i++) {
        memset(c->contacts->body[i].force, 0, sizeof c->contacts->body[i].force);
        memset(c->contacts->body[i].torque, 0, sizeof c->contacts->body[i].torque);
    }
    for (int i = 0; i < c->contacts->touches; i++) {
        const orr_soft_touch *touch = &c->contacts->touch[i];
        soft_system s;
        if (touch->body >= 0 && orr_soft_touch_system(c, i, &s)) {
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
