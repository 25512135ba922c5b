// Tests of engine/scene/sun_estimate.c: the sun of clouds that are lit by a known one. A floor with boxes on
// it, each of its own brightness, with Lambert's law, the shadows that boxes cast, and noise.
#include "engine/maths/rotation.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#define ORR_SCALAR
#include "engine/maths/colour_formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BOXES = 6, SPLATS_MAX = 60000 };
static const double STEP = 0.05;
static const double DEGREE = 3.14159265358979323846 / 180.0;

typedef struct box {
    double centre[3], half[3], albedo;
} box;

typedef struct lit {
    box boxes[BOXES];
    double sun[3], strength; // of the sun, of the light from around
    double crevices;         // share of that light that the foot of a box takes
    double noise;
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
            const double o = p[k] - s->boxes[b].centre[k], d = s->sun[k];
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

static void add_splat(lit *s, const double p[3], int axis, double side, double albedo)
{
    double above[3] = {p[0], p[1], p[2]}, normal[3] = {0.0}, quat[4];
    normal[axis] = side;
    above[axis] += 1e-3 * side;
    const double cosine = fmax(vec3_dot(normal, s->sun), 0.0);
    double light = 1.0 + (is_shaded(s, above) ? 0.0 : s->strength * cosine);
    light *= axis == 1 ? 1.0 - s->crevices * exp(-away_from_boxes(s, p) / 0.2) : 1.0;
    const double brightness =
        albedo * light / (1.0 + s->strength) * exp(s->noise * (draw(s) + draw(s) + draw(s) - 1.5));
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

// y is down, and the floor at 0.
static void fill(lit *s)
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
                add_splat(s, p, 1, -1.0, 0.5);
            }
        }
    }
}

static orr_sun_estimate estimate(lit *s, const orr_transform *at)
{
    orr_splats *room, *splats;
    orr_scene *scene;
    orr_sun_estimate found;
    assert_ok(orr_splats_create(SPLATS_MAX, 0, &room, &error));
    s->view = orr_splats_data(room);
    s->count = 0;
    fill(s);
    assert_ok(orr_splats_create(s->count, 0, &splats, &error));
    const orr_splats_view exact = orr_splats_data(splats);
    memcpy(exact.position, s->view.position, (size_t)s->count * 12);
    memcpy(exact.log_scale, s->view.log_scale, (size_t)s->count * 12);
    memcpy(exact.colour, s->view.colour, (size_t)s->count * 12);
    memcpy(exact.rotation, s->view.rotation, (size_t)s->count * 16);
    memcpy(exact.opacity, s->view.opacity, (size_t)s->count * 4);
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_splats(scene, "room", splats, at, NULL, &error));
    assert_ok(orr_scene_estimate_sun(scene, &found, &error));
    orr_scene_destroy(scene);
    orr_splats_destroy(splats);
    orr_splats_destroy(room);
    return found;
}

static void aim(lit *s, double azimuth, double height)
{
    s->sun[0] = cos(height * DEGREE) * cos(azimuth * DEGREE);
    s->sun[1] = -sin(height * DEGREE);
    s->sun[2] = cos(height * DEGREE) * sin(azimuth * DEGREE);
}

static double degrees_off(const orr_sun_estimate *found, const double sun[3])
{
    double cosine = 0.0;
    for (int k = 0; k < 3; k++) {
        cosine += (double)found->sun.direction[k] * sun[k];
    }
    return acos(fmin(cosine, 1.0)) / DEGREE;
}

static void the_sun_of_a_cloud_is_found_within_three_degrees(void **state)
{
    (void)state;
    static const double suns[][3] = {{20, 30, 2}, {130, 45, 4}, {260, 60, 2}}; // azimuth, height, strength
    for (size_t i = 0; i < sizeof suns / sizeof suns[0]; i++) {
        lit s = {.strength = suns[i][2], .noise = 0.2};
        aim(&s, suns[i][0], suns[i][1]);
        const orr_sun_estimate found = estimate(&s, NULL);
        const double strength = (double)(found.sun.colour[1] / found.sun.ambient[1]);
        print_message("%.0f degrees high, strength %g: %.2f degrees off, strength %.2f, explained %.2f\n",
                      suns[i][1], suns[i][2], degrees_off(&found, s.sun), strength, (double)found.explained);
        assert_true(found.found);
        // a texel of the shadows' map is 1/256 of the cloud, a degree of a shadow as long as its sixth
        assert_true(degrees_off(&found, s.sun) < 3.0);
        // points at shadows' edges are on the wrong side, which makes it weaker
        assert_true(strength > 0.4 * suns[i][2] && strength < 1.5 * suns[i][2]);
        assert_true(fabsf(found.sun.colour[1] + found.sun.ambient[1] - 1.0f) < 1e-5f);
    }
}

static void a_cloud_that_is_turned_turns_its_sun(void **state)
{
    (void)state;
    const orr_transform upright = {
        .position = {5, 1, 2}, .rotation = {0.70710678f, -0.70710678f}, .scale = 2};
    lit s = {.strength = 3, .noise = 0.2};
    aim(&s, 70, 40);
    const orr_sun_estimate found = estimate(&s, &upright);
    const double turned[3] = {s.sun[0], s.sun[2], -s.sun[1]}; // a quarter turn about x: -y becomes z
    assert_true(found.found);
    assert_true(degrees_off(&found, turned) < 3.0);
}

static void a_cloud_without_a_sun_has_none(void **state)
{
    (void)state;
    lit even = {.noise = 0.2}, crevices = {.noise = 0.2, .crevices = 0.6};
    aim(&even, 20, 40);
    aim(&crevices, 20, 40);
    assert_false(estimate(&even, NULL).found);
    assert_false(estimate(&crevices, NULL).found);
    orr_scene *scene;
    orr_sun_estimate found;
    orr_error error = {0};
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_int_equal(orr_scene_estimate_sun(scene, &found, &error), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "splat cloud"));
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sun_of_a_cloud_is_found_within_three_degrees),
        cmocka_unit_test(a_cloud_that_is_turned_turns_its_sun),
        cmocka_unit_test(a_cloud_without_a_sun_has_none),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
