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
    return t->program->in_double ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static void set(const orr_soft_touches *t, void *array, ptrdiff_t at, double value)
{
    if (t->program->in_double) {
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

// How far the plane of a touch moves with its body.
static void shift_of(const orr_soft_touches *t, int i, double shift[3])
{
    if (t->touch[i].body < 0) {
        shift[0] = shift[1] = shift[2] = 0.0;
        return;
    }
    const double *moved = t->moved + (size_t)t->touch[i].body * 6;
    vec3_cross(moved + 3, t->placed[i].arm, shift);
    for (int k = 0; k < 3; k++) {
        shift[k] += moved[k];
    }
}

static void write_shifts(const orr_soft_touches *t)
{
    for (int i = 0; i < t->count; i++) {
        const orr_soft_touch *touch = &t->touch[i];
        if (touch->body >= 0 && t->placed[i].slot >= 0) {
            double shift[3];
            shift_of(t, i, shift);
            for (int k = 0; k < 3; k++) {
                set(t, t->group->planes, plane_at(t, t->placed[i].slot, 1, touch->vertex) + k, shift[k]);
            }
        }
    }
}

void orr_soft_touches_begin(orr_soft_touches *t)
{
    const orr_soft_group *g = t->group;
    const double h = g->constants->time_step;
    size_t bytes = t->program->in_double ? sizeof(double) : sizeof(float);
    if (g->plane_slots > 0) {
        memset(g->planes, 0, (size_t)g->plane_slots * 9 * (size_t)g->vertices * bytes);
    }
    int last = -1, used = 0;
    for (int i = 0; i < t->count; i++) {
        const orr_soft_touch *touch = &t->touch[i];
        used = touch->vertex == last ? used + 1 : 0;
        last = touch->vertex;
        t->placed[i].slot = used < g->plane_slots ? used : -1;
        if (t->placed[i].slot >= 0) {
            const double more[3] = {touch->distance, touch->friction, 1.0};
            for (int k = 0; k < 3; k++) {
                set(t, g->planes, plane_at(t, used, 0, last) + k, touch->normal[k]);
                set(t, g->planes, plane_at(t, used, 2, last) + k, more[k]);
                if (touch->body >= 0) {
                    t->placed[i].arm[k] =
                        get(t, g->start, (ptrdiff_t)last * 3 + k) - t->body[touch->body].centre[k];
                }
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

// The force on the vertex of a touch, and minus its derivative; false where it is not deep.
static bool system_of(const orr_soft_touches *t, int i, soft_system *s)
{
    const orr_soft_touch *touch = &t->touch[i];
    const orr_soft_constants *k = t->group->constants;
    const double h = k->time_step, *n = touch->normal;
    double shift[3], moved[3];
    if (t->placed[i].slot < 0) {
        return false;
    }
    shift_of(t, i, shift);
    for (int c = 0; c < 3; c++) {
        ptrdiff_t at = (ptrdiff_t)touch->vertex * 3 + c;
        moved[c] = get(t, t->group->position, at) - get(t, t->group->start, at) - shift[c];
    }
    double depth = -(touch->distance + vec3_dot(n, moved));
    if (!(depth > 0.0)) {
        return false;
    }
    double stiffness =
        k->contact_stiffness > 0.0 ? k->contact_stiffness : 100.0 * t->model->mass[touch->vertex] / (h * h);
    *s = plane_contact((soft_system){{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, depth,
                       make_real3(moved[0], moved[1], moved[2]), make_real3(n[0], n[1], n[2]), stiffness,
                       touch->friction, 1e-2 * h);
    return true;
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
    soft_system s;
    if (!system_of(t, i, &s)) {
        return;
    }
    const double h[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
    const double f[3] = {s.force.x, s.force.y, s.force.z};
    const double *arm = t->placed[i].arm;
    int columns = touch->body >= 0 ? 9 : 3, first = 3 + 6 * touch->body;
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
        add_touch(t, i, n, a, b);
    }
    double sum[3];
    t->program->pull(g, t->model->mass, sum);
    for (int k = 0; k < 3; k++) {
        b[k] += rate * sum[k];
        a[k * n + k] += rate * t->mass;
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
    if (!t->pinned) {
        t->program->translate(g, b);
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
        soft_system s;
        if (touch->body >= 0 && system_of(t, i, &s)) {
            const double f[3] = {-s.force.x, -s.force.y, -s.force.z};
            double torque[3];
            vec3_cross(t->placed[i].arm, f, torque);
            for (int k = 0; k < 3; k++) {
                t->body[touch->body].force[k] += f[k];
                t->body[touch->body].torque[k] += torque[k];
            }
        }
    }
}
