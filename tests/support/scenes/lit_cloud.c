// A floor with boxes on it, each of its own brightness, lit by a sun with Lambert's law, the shadows that
// boxes cast, and noise.
#include "tests/support/scenes/lit_cloud.h"

#include "engine/maths/rotation.h"
#include "tests/support/support.h"

#define ORR_SCALAR
#include "engine/maths/colour_formula.h"

#include <math.h>
#include <string.h>

enum { BOXES = 6, SPLATS_MAX = 60000 };
static const double STEP = 0.05;
static const double DEGREE = 3.14159265358979323846 / 180.0;

typedef struct box {
    double centre[3], half[3], albedo;
} box;

typedef struct lit {
    lit_cloud_desc desc;
    box boxes[BOXES];
    uint32_t noise_counter;
    orr_splats_view view;
    int64_t count;
} lit;

// Uniform in 0 .. 1, the same on every machine.
static double draw(lit *s)
{
    s->noise_counter = s->noise_counter * 1664525u + 1013904223u;
    return (double)(s->noise_counter >> 8) / 16777216.0;
}

// Is the way from a point to the sun through a box?
static bool is_shaded(const lit *s, const double p[3])
{
    for (int b = 0; b < BOXES; b++) {
        double enter = 1e-4, leave = INFINITY;
        for (int k = 0; k < 3; k++) {
            const double o = p[k] - s->boxes[b].centre[k], d = s->desc.sun[k];
            const double a = (-s->boxes[b].half[k] - o) / d, c = (s->boxes[b].half[k] - o) / d;
            enter = fmax(enter, fmin(a, c));
            leave = fmin(leave, fmax(a, c));
        }
        if (enter < leave) {
            return true;
        }
    }
    return false;
}

static double away_from_boxes(const lit *s, const double p[3])
{
    double nearest = INFINITY;
    for (int b = 0; b < BOXES; b++) {
        double square = 0.0;
        for (int k = 0; k < 3; k += 2) {
            const double d = fmax(fabs(p[k] - s->boxes[b].centre[k]) - s->boxes[b].half[k], 0.0);
            square += d * d;
        }
        nearest = fmin(nearest, sqrt(square));
    }
    return nearest;
}

// The linear brightness of a surface, without noise.
static double brightness_of(const lit *s, const double p[3], int axis, double side, double albedo)
{
    double above[3] = {p[0], p[1], p[2]}, normal[3] = {0.0};
    normal[axis] = side;
    above[axis] += 1e-3 * side;
    const double cosine = fmax(vec3_dot(normal, s->desc.sun), 0.0);
    double light = 1.0 + (is_shaded(s, above) ? 0.0 : s->desc.strength * cosine);
    light *= axis == 1 ? 1.0 - s->desc.crevices * exp(-away_from_boxes(s, p) / 0.2) : 1.0;
    return albedo * light / (1.0 + s->desc.strength);
}

static void add_splat(lit *s, const double p[3], int axis, double side, double albedo)
{
    double normal[3] = {0.0}, quat[4];
    normal[axis] = side;
    const double brightness =
        brightness_of(s, p, axis, side, albedo) * exp(s->desc.noise * (draw(s) + draw(s) + draw(s) - 1.5));
    quat_from_z(normal, quat);
    const size_t i = (size_t)s->count++;
    assert_true(i < SPLATS_MAX);
    for (size_t k = 0; k < 3; k++) {
        s->view.position[3 * i + k] = (float)p[k];
        s->view.log_scale[3 * i + k] = logf(k == 2 ? 0.002f : 0.03f);
        s->view.colour[3 * i + k] = (linear_to_srgb((float)brightness) - 0.5f) / 0.2820948f;
    }
    for (size_t k = 0; k < 4; k++) {
        s->view.rotation[4 * i + k] = (float)quat[k];
    }
    s->view.opacity[i] = 5.0f;
}

static void add_face(lit *s, const box *b, int axis, double side)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const int across = (int)(2.0 * b->half[u] / STEP) + 1, along = (int)(2.0 * b->half[v] / STEP) + 1;
    for (int i = 0; i <= across; i++) {
        for (int k = 0; k <= along; k++) {
            double p[3];
            p[axis] = b->centre[axis] + side * b->half[axis];
            p[u] = b->centre[u] + b->half[u] * (2.0 * i / across - 1.0);
            p[v] = b->centre[v] + b->half[v] * (2.0 * k / along - 1.0);
            add_splat(s, p, axis, side, b->albedo);
        }
    }
}

static const double FLOOR = 0.5; // albedo

// y is down, and the floor at 0.
static void put_boxes(lit *s)
{
    s->noise_counter = 7;
    for (int b = 0; b < BOXES; b++) {
        box *one = &s->boxes[b];
        for (int k = 0; k < 3; k++) {
            one->half[k] = 0.2 + 0.3 * draw(s);
        }
        one->centre[0] = 4.0 * draw(s) - 2.0;
        one->centre[1] = -one->half[1];
        one->centre[2] = 4.0 * draw(s) - 2.0;
        one->albedo = 0.2 + 0.6 * draw(s);
    }
}

static void fill(lit *s)
{
    put_boxes(s);
    for (int b = 0; b < BOXES; b++) {
        add_face(s, &s->boxes[b], 0, -1.0);
        add_face(s, &s->boxes[b], 0, 1.0);
        add_face(s, &s->boxes[b], 1, -1.0);
        add_face(s, &s->boxes[b], 2, -1.0);
        add_face(s, &s->boxes[b], 2, 1.0);
    }
    for (int i = 0; i <= 120; i++) {
        for (int k = 0; k <= 120; k++) {
            const double p[3] = {STEP * i - 3.0, 0.0, STEP * k - 3.0};
            if (away_from_boxes(s, p) > 0.0) {
                add_splat(s, p, 1, -1.0, FLOOR);
            }
        }
    }
}

orr_splats *lit_cloud(const lit_cloud_desc *desc)
{
    orr_splats *room, *splats;
    lit s = {.desc = *desc};
    assert_ok(orr_splats_create(SPLATS_MAX, 0, &room, &error));
    s.view = orr_splats_data(room);
    fill(&s);
    assert_ok(orr_splats_create(s.count, 0, &splats, &error));
    const orr_splats_view exact = orr_splats_data(splats);
    memcpy(exact.position, s.view.position, (size_t)s.count * 12);
    memcpy(exact.log_scale, s.view.log_scale, (size_t)s.count * 12);
    memcpy(exact.colour, s.view.colour, (size_t)s.count * 12);
    memcpy(exact.rotation, s.view.rotation, (size_t)s.count * 16);
    memcpy(exact.opacity, s.view.opacity, (size_t)s.count * 4);
    orr_splats_destroy(room);
    return splats;
}

// The face of a box that is nearest to a point, inside or outside of it; its distance is returned.
static double find_face(const box *b, const double p[3], int *axis, double *side, double on[3])
{
    double square = 0.0, deepest = -INFINITY;
    for (int k = 0; k < 3; k++) {
        const double off = p[k] - b->centre[k], beyond = fabs(off) - b->half[k];
        square += beyond > 0.0 ? beyond * beyond : 0.0;
        on[k] = b->centre[k] + fmin(fmax(off, -b->half[k]), b->half[k]);
        if (beyond > deepest) {
            deepest = beyond;
            *axis = k;
            *side = off < 0.0 ? -1.0 : 1.0;
        }
    }
    on[*axis] = b->centre[*axis] + *side * b->half[*axis];
    return deepest < 0.0 ? deepest : sqrt(square);
}

static void look_at(const lit *s, lit_point *p)
{
    // the floor is square, and thicker than what is looked at
    const box ground = {{0.0, 5.0, 0.0}, {3.0, 5.0, 3.0}, FLOOR};
    double on[3], side;
    int axis;
    p->distance = find_face(&ground, p->position, &axis, &side, on);
    p->brightness = brightness_of(s, on, axis, side, FLOOR);
    for (int b = 0; b < BOXES; b++) {
        const box *one = &s->boxes[b];
        const double distance = find_face(one, p->position, &axis, &side, on);
        if (distance < p->distance) {
            p->distance = distance;
            p->brightness = brightness_of(s, on, axis, side, one->albedo);
        }
    }
}

void lit_cloud_look(const lit_cloud_desc *desc, lit_point *points, int count)
{
    lit s = {.desc = *desc};
    put_boxes(&s);
    for (int i = 0; i < count; i++) {
        look_at(&s, &points[i]);
    }
}

void lit_cloud_aim(lit_cloud_desc *desc, double azimuth, double height)
{
    desc->sun[0] = cos(height * DEGREE) * cos(azimuth * DEGREE);
    desc->sun[1] = -sin(height * DEGREE);
    desc->sun[2] = cos(height * DEGREE) * sin(azimuth * DEGREE);
}
