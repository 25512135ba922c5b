// Rigid bodies in a step of soft ones. Descent vertex by vertex passes a push on slowly between a light body
// and stiff contacts, so rigid bodies move together with the soft one's translation, by Newton's method in
// double. That also makes the step keep momentum, which descent does not before it has converged.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/soft/touch.h"

#include "engine/core/vector.h"
#include "physics/soft/element_formula.h"

#include <string.h>

static double get(const orr_soft_touches *t, const void *array, ptrdiff_t at)
{
    return t->in_double ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static void set(const orr_soft_touches *t, void *array, ptrdiff_t at, double value)
{
    if (t->in_double) {
        ((double *)array)[at] = value;
    } else {
        ((float *)array)[at] = (float)value;
    }
}

// Where one of a vertex's numbers is in array 0 .. 2 of a slot's planes.
static ptrdiff_t plane_at(const orr_soft_touches *t, int slot, int array, int vertex)
{
    return ((ptrdiff_t)(slot * 3 + array) * t->group->vertices + vertex) * 3;
}

static void arm_of(const orr_soft_touches *t, const orr_soft_touch *touch, double arm[3])
{
    for (int k = 0; k < 3; k++) {
        arm[k] = get(t, t->group->start, (ptrdiff_t)touch->vertex * 3 + k) - t->body[touch->body].centre[k];
    }
}

// How far a touched plane moves with its body.
static void shift_of(const orr_soft_touches *t, const orr_soft_touch *touch, double shift[3])
{
    if (touch->body < 0) {
        shift[0] = shift[1] = shift[2] = 0.0;
        return;
    }
    const double *moved = t->moved + (size_t)touch->body * 6;
    double arm[3];
    arm_of(t, touch, arm);
    vec3_cross(moved + 3, arm, shift);
    for (int k = 0; k < 3; k++) {
        shift[k] += moved[k];
    }
}

static void write_shifts(const orr_soft_touches *t)
{
    for (int i = 0; i < t->count; i++) {
        const orr_soft_touch *touch = &t->touch[i];
        if (touch->body >= 0 && t->slot[i] >= 0) {
            double shift[3];
            shift_of(t, touch, shift);
            for (int k = 0; k < 3; k++) {
                set(t, t->group->planes, plane_at(t, t->slot[i], 1, touch->vertex) + k, shift[k]);
            }
        }
    }
}

void orr_soft_touches_begin(orr_soft_touches *t)
{
    const orr_soft_group *g = t->group;
    const double h = g->constants->time_step;
    size_t bytes = t->in_double ? sizeof(double) : sizeof(float);
    if (g->plane_slots > 0) {
        memset(g->planes, 0, (size_t)g->plane_slots * 9 * (size_t)g->vertices * bytes);
    }
    int last = -1, used = 0;
    for (int i = 0; i < t->count; i++) {
        const orr_soft_touch *touch = &t->touch[i];
        used = touch->vertex == last ? used + 1 : 0;
        last = touch->vertex;
        t->slot[i] = used < g->plane_slots ? used : -1;
        if (t->slot[i] >= 0) {
            const double more[3] = {touch->distance, touch->friction, 1.0};
            for (int k = 0; k < 3; k++) {
                set(t, g->planes, plane_at(t, used, 0, last) + k, touch->normal[k]);
                set(t, g->planes, plane_at(t, used, 2, last) + k, more[k]);
            }
        }
    }
    for (int b = 0; b < t->body_count; b++) {
        for (int k = 0; k < 3; k++) {
            t->moved[b * 6 + k] = h * t->body[b].velocity[k];
            t->moved[b * 6 + 3 + k] = h * t->body[b].spin[k];
        }
    }
    write_shifts(t);
}

// The force on the vertex of a touch, and minus its derivative.
static soft_system system_of(const orr_soft_touches *t, int i)
{
    const orr_soft_touch *touch = &t->touch[i];
    const orr_soft_constants *k = t->group->constants;
    const double h = k->time_step;
    double shift[3], moved[3];
    shift_of(t, touch, shift);
    for (int c = 0; c < 3; c++) {
        ptrdiff_t at = (ptrdiff_t)touch->vertex * 3 + c;
        moved[c] = get(t, t->group->position, at) - get(t, t->group->start, at) - shift[c];
    }
    double stiffness =
        k->contact_stiffness > 0.0 ? k->contact_stiffness : 100.0 * t->model->mass[touch->vertex] / (h * h);
    soft_system s = {{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const double *n = touch->normal;
    return plane_contact(s, -(touch->distance + vec3_dot(n, moved)), make_real3(moved[0], moved[1], moved[2]),
                         make_real3(n[0], n[1], n[2]), stiffness, touch->friction, 1e-2 * h);
}

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

// Adds a touch: J^T H J and J^T f, where the vertex moves against the plane by J times the unknowns: the
// soft body's translation, and the displacement of the touched body, of which the first unknown is `first`.
static void add_touch(const orr_soft_touches *t, int i, int n, double *a, double *b)
{
    const orr_soft_touch *touch = &t->touch[i];
    const soft_system s = system_of(t, i);
    if (!(s.xx + s.yy + s.zz > 0.0)) { // not deep
        return;
    }
    const double h[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
    const double f[3] = {s.force.x, s.force.y, s.force.z};
    double arm[3] = {0.0, 0.0, 0.0};
    int columns = touch->body >= 0 ? 9 : 3, first = 3 + 6 * touch->body;
    if (touch->body >= 0) {
        arm_of(t, touch, arm);
    }
    const double j[3][9] = {{1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -arm[2], arm[1]},
                            {0.0, 1.0, 0.0, 0.0, -1.0, 0.0, arm[2], 0.0, -arm[0]},
                            {0.0, 0.0, 1.0, 0.0, 0.0, -1.0, -arm[1], arm[0], 0.0}};
    for (int p = 0; p < columns; p++) {
        int row = p < 3 ? p : first + p - 3;
        for (int r = 0; r < 3; r++) {
            double hj = h[r][0] * j[0][p] + h[r][1] * j[1][p] + h[r][2] * j[2][p];
            b[row] += j[r][p] * f[r];
            for (int q = 0; q < columns; q++) {
                a[row * n + (q < 3 ? q : first + q - 3)] += j[r][q] * hj;
            }
        }
    }
}

// The system whose solution moves the soft body as a whole, and the rigid ones, to their common minimum.
// What nothing moves has a unit row.
static void fill(const orr_soft_touches *t, int n, double *a, double *b)
{
    const orr_soft_group *g = t->group;
    const double h = g->constants->time_step, rate = 1.0 / (h * h);
    memset(a, 0, (size_t)n * (size_t)n * sizeof *a);
    memset(b, 0, (size_t)n * sizeof *b);
    for (int i = 0; i < t->count; i++) {
        if (t->slot[i] >= 0) {
            add_touch(t, i, n, a, b);
        }
    }
    for (int v = 0; v < g->vertices; v++) {
        for (int k = 0; k < 3; k++) {
            ptrdiff_t at = (ptrdiff_t)v * 3 + k;
            b[k] += rate * t->model->mass[v] * (get(t, g->target, at) - get(t, g->position, at));
            a[k * n + k] += rate * t->model->mass[v];
        }
    }
    for (int i = 0; i < t->body_count; i++) {
        const orr_soft_body *body = &t->body[i];
        const double *moved = t->moved + (size_t)i * 6;
        int first = 3 + 6 * i;
        for (int k = 0; k < 3; k++) {
            a[(first + k) * n + first + k] += rate * body->mass;
            b[first + k] += rate * body->mass * (h * body->velocity[k] - moved[k]);
            for (int c = 0; c < 3; c++) {
                double inertia = rate * body->inertia[k * 3 + c];
                a[(first + 3 + k) * n + first + 3 + c] += inertia;
                b[first + 3 + k] += inertia * (h * body->spin[c] - moved[3 + c]);
            }
        }
    }
    for (int row = 0; row < n; row++) {
        bool held = row < 3 ? t->pinned : !(t->body[(row - 3) / 6].mass > 0.0);
        for (int k = 0; k < n && held; k++) {
            a[row * n + k] = a[k * n + row] = k == row;
        }
        b[row] = held ? 0.0 : b[row];
    }
}

void orr_soft_touches_relax(orr_soft_touches *t)
{
    const orr_soft_group *g = t->group;
    const int n = 3 + 6 * t->body_count;
    double *b = t->system, *a = b + n;
    fill(t, n, a, b);
    solve(n, a, b);
    for (ptrdiff_t i = 0; i < (ptrdiff_t)g->vertices * 3 && !t->pinned; i++) {
        set(t, g->position, i, get(t, g->position, i) + b[i % 3]);
    }
    for (int i = 0; i < 6 * t->body_count; i++) {
        t->moved[i] += b[3 + i];
    }
    write_shifts(t);
}

void orr_soft_touches_finish(orr_soft_touches *t)
{
    for (int i = 0; i < t->body_count; i++) {
        memset(t->body[i].force, 0, sizeof t->body[i].force);
        memset(t->body[i].torque, 0, sizeof t->body[i].torque);
    }
    for (int i = 0; i < t->count; i++) {
        const orr_soft_touch *touch = &t->touch[i];
        if (touch->body >= 0 && t->slot[i] >= 0) {
            const soft_system s = system_of(t, i);
            const double f[3] = {-s.force.x, -s.force.y, -s.force.z};
            double arm[3], torque[3];
            arm_of(t, touch, arm);
            vec3_cross(arm, f, torque);
            for (int k = 0; k < 3; k++) {
                t->body[touch->body].force[k] += f[k];
                t->body[touch->body].torque[k] += torque[k];
            }
        }
    }
}
