#include "tests/physics/soft/soft_reference.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/soft/model.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 40, GRADIENTS = 800, ARRAYS = 11 };

static const double difference = 1e-7; // m, of the forces' differences
static const double settled = 1e-7;    // m: a Newton step that is shorter ends a time step

// The unknowns are positions of vertices, then how far the ball moves in the step, and its turn times its
// radius.
struct soft_reference {
    const orr_soft_model *model;
    int vertices, count; // count: of the unknowns, 3 x vertices + 6
    double rate;         // 1/s: of a time step
    double gravity[3];
    soft_ball ball;
    double *memory;
    // of each unknown
    double *x, *start, *target, *velocity, *mass;
    double *rest, *direction, *product, *step, *moved, *here;
    double *pressed; // vertices: the force that friction is of, N
};

soft_reference *soft_reference_create(const orr_soft_model *model, int vertices, double time_step,
                                      const double gravity[3], const soft_ball *ball)
{
    soft_reference *r = orr_alloc_zero(1, sizeof *r);
    assert_non_null(r);
    *r = (soft_reference){.model = model, .vertices = vertices, .count = 3 * vertices + 6};
    r->rate = 1.0 / time_step;
    memcpy(r->gravity, gravity, sizeof r->gravity);
    r->ball = ball ? *ball : (soft_ball){.mass = 0.0};
    r->memory = orr_alloc_zero((size_t)r->count * (ARRAYS + 1), sizeof *r->memory);
    assert_non_null(r->memory);
    double **const array[ARRAYS + 1] = {&r->x,    &r->start, &r->target,    &r->velocity,
                                        &r->mass, &r->rest,  &r->direction, &r->product,
                                        &r->step, &r->moved, &r->here,      &r->pressed};
    for (int i = 0; i <= ARRAYS; i++) {
        *array[i] = r->memory + (ptrdiff_t)i * r->count;
    }
    memcpy(r->x, model->rest, 3 * (size_t)vertices * sizeof *r->x);
    for (int i = 0; i < 3 * vertices; i++) {
        r->mass[i] = orr_soft_masses(model)[i / 3];
    }
    for (int k = 0; k < 3 && r->ball.mass > 0.0; k++) {
        r->mass[3 * vertices + k] = r->ball.mass;
        r->mass[3 * vertices + 3 + k] = r->ball.inertia / (r->ball.radius * r->ball.radius);
        r->velocity[3 * vertices + k] = r->ball.velocity[k];
        r->velocity[3 * vertices + 3 + k] = r->ball.spin[k] * r->ball.radius;
    }
    return r;
}

void soft_reference_destroy(soft_reference *r)
{
    orr_free(r->memory);
    orr_free(r);
}

const double *soft_reference_positions(const soft_reference *r)
{
    return r->x;
}

const soft_ball *soft_reference_ball(const soft_reference *r)
{
    return &r->ball;
}

static double penalty(const soft_reference *r, int vertex)
{
    return 100.0 * orr_soft_masses(r->model)[vertex] * r->rate * r->rate;
}

// How deep a vertex is in the ball; normal: outward.
static double depth_of(const soft_reference *r, const double *x, int vertex, double normal[3])
{
    double length = 0.0;
    for (int k = 0; k < 3; k++) {
        normal[k] = x[3 * vertex + k] - r->ball.centre[k] - x[3 * r->vertices + k];
        length += normal[k] * normal[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++) {
        normal[k] /= length;
    }
    return r->ball.radius - length;
}

// Friction is against the way of the vertex along the surface that it touched when the step began, of the
// force with which it was pressed at the last iterate.
static void add_contact(const soft_reference *r, const double *x, int vertex, double *force)
{
    const double *turn = x + 3 * r->vertices + 3;
    double normal[3], before[3], arm[3], turned[3], along[3], push[3], drag[3], inward = 0.0;
    const double depth = depth_of(r, x, vertex, normal);
    if (!(depth > 0.0) && !(r->pressed[vertex] > 0.0)) {
        return;
    }
    for (int k = 0; k < 3; k++) {
        arm[k] = r->start[3 * vertex + k] - r->ball.centre[k];
        push[k] = fmax(depth, 0.0) * penalty(r, vertex) * normal[k];
    }
    vec3_cross(turn, arm, turned);
    const double length = sqrt(vec3_dot(arm, arm)), slip = 1e-2 / r->rate;
    for (int k = 0; k < 3; k++) {
        before[k] = arm[k] / length;
        along[k] = x[3 * vertex + k] - r->start[3 * vertex + k] - x[3 * r->vertices + k] -
                   turned[k] / r->ball.radius;
        inward += along[k] * before[k];
    }
    for (int k = 0; k < 3; k++) {
        along[k] -= inward * before[k];
    }
    const double way = sqrt(vec3_dot(along, along));
    const double each = way > slip ? 1.0 / way : (2.0 - way / slip) / slip;
    for (int k = 0; k < 3; k++) {
        drag[k] = -r->ball.friction * r->pressed[vertex] * each * along[k];
        push[k] += drag[k];
    }
    vec3_cross(arm, drag, turned); // what presses towards the centre does not turn
    for (int k = 0; k < 3; k++) {
        force[3 * vertex + k] += push[k];
        force[3 * r->vertices + k] -= push[k];
        force[3 * r->vertices + 3 + k] -= turned[k] / r->ball.radius;
    }
}

static void residual(const soft_reference *r, const double *x, double *out)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    orr_soft_forces(r->model, x, none, out);
    memset(out + 3 * (ptrdiff_t)r->vertices, 0, 6 * sizeof *out);
    for (int i = 0; i < r->count; i++) {
        out[i] += r->mass[i] * r->rate * r->rate * (r->target[i] - x[i]);
    }
    for (int v = 0; v < r->vertices; v++) {
        if (r->ball.mass > 0.0) {
            add_contact(r, x, v, out);
        }
        if (r->model->pinned[v]) {
            memset(out + 3 * (ptrdiff_t)v, 0, 3 * sizeof *out);
        }
    }
}

static void multiply(const soft_reference *r, const double *p, double *out)
{
    for (int i = 0; i < r->count; i++) {
        r->moved[i] = r->x[i] + difference * p[i];
    }
    residual(r, r->moved, out);
    for (int i = 0; i < r->count; i++) {
        out[i] = (r->here[i] - out[i]) / difference;
    }
}

static double product(const double *a, const double *b, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Returns how far the unknown moves that moves farthest.
static double newton(soft_reference *r)
{
    double normal[3], farthest = 0.0;
    for (int v = 0; v < r->vertices && r->ball.mass > 0.0; v++) {
        r->pressed[v] = fmax(depth_of(r, r->x, v, normal), 0.0) * penalty(r, v);
    }
    residual(r, r->x, r->here);
    memcpy(r->rest, r->here, (size_t)r->count * sizeof *r->rest);
    memcpy(r->direction, r->here, (size_t)r->count * sizeof *r->rest);
    memset(r->step, 0, (size_t)r->count * sizeof *r->step);
    double old = product(r->rest, r->rest, r->count), goal = 1e-10 * old;
    for (int i = 0; i < GRADIENTS && old > goal; i++) {
        multiply(r, r->direction, r->product);
        const double length = old / product(r->direction, r->product, r->count);
        for (int k = 0; k < r->count; k++) {
            r->step[k] += length * r->direction[k];
            r->rest[k] -= length * r->product[k];
        }
        const double now = product(r->rest, r->rest, r->count);
        for (int k = 0; k < r->count; k++) {
            r->direction[k] = r->rest[k] + now / old * r->direction[k];
        }
        old = now;
    }
    const double promise = product(r->here, r->step, r->count);
    double length = 2.0, left = INFINITY;
    while (left > 0.0 && length > 1e-3) { // not far beyond where the forces along the step end
        length *= 0.5;
        for (int k = 0; k < r->count; k++) {
            r->moved[k] = r->x[k] + length * r->step[k];
        }
        residual(r, r->moved, r->rest);
        left = -product(r->rest, r->step, r->count) - 0.5 * promise;
    }
    for (int k = 0; k < r->count; k++) {
        r->x[k] = r->moved[k];
        farthest = fmax(farthest, length * fabs(r->step[k]));
    }
    return farthest;
}

void soft_reference_step(soft_reference *r)
{
    const int ball = 3 * r->vertices;
    const double h = 1.0 / r->rate;
    memset(r->x + ball, 0, 6 * sizeof *r->x);
    memcpy(r->start, r->x, (size_t)r->count * sizeof *r->x);
    for (int i = 0; i < r->count; i++) {
        const double falls = i < ball + 3 ? r->gravity[i % 3] : 0.0;
        const bool held = i < ball && r->model->pinned[i / 3];
        r->target[i] = r->x[i] + (held ? 0.0 : h * (r->velocity[i] + h * falls));
    }
    double farthest = INFINITY;
    for (int i = 0; i < ITERATIONS && farthest > settled; i++) {
        farthest = newton(r);
    }
    if (!(farthest <= settled)) {
        fail_msg("the reference has not converged: its last step is %g m", farthest);
    }
    for (int i = 0; i < r->count; i++) {
        r->velocity[i] = r->rate * (r->x[i] - r->start[i]);
    }
    for (int k = 0; k < 3 && r->ball.mass > 0.0; k++) {
        r->ball.centre[k] += r->x[ball + k];
        r->ball.velocity[k] = r->velocity[ball + k];
        r->ball.spin[k] = r->velocity[ball + 3 + k] / r->ball.radius;
    }
}
