// Tests of ambient occlusion: planes, walls and a sphere in closed form, what it falls on, and the path
// tracer beside it. Runs once per instruction set.
#include "tests/render/scenes/shadow_scene.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include "render/cpu/mesh_raster.h"
#include "render/cpu/splats_cpu.h"
#include "render/reference/path_tracer.h"
#include "tests/support/drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE = SHADOW_SCENE_SIDE,
    ROWS = 48, // of the sphere
    COLUMNS = 96
};

static const double half_turn = 3.14159265358979;

// A floor of 8 x 8 at z = 0 and something on it, in light from all around alone.
typedef struct stage {
    shadow_scene scene; // its floor and its box
    orr_mesh_vertex sphere_vertices[(ROWS + 1) * (COLUMNS + 1)];
    uint32_t sphere_indices[6 * ROWS * COLUMNS];
    small_mesh sphere;
    orr_jobs *jobs;
    orr_isa isa;
    orr_arena arena;
} stage;

static void make_sphere(stage *s)
{
    int count = 0;
    for (int i = 0; i <= ROWS; i++) {
        for (int k = 0; k <= COLUMNS; k++) {
            const double down = half_turn * i / ROWS, around = 2.0 * half_turn * k / COLUMNS;
            const float p[3] = {(float)(sin(down) * cos(around)), (float)(sin(down) * sin(around)),
                                (float)cos(down)};
            s->sphere_vertices[i * (COLUMNS + 1) + k] = (orr_mesh_vertex){
                .position = {p[0], p[1], p[2]}, .normal = {p[0], p[1], p[2]}, .colour = {255, 255, 255, 255}};
            if (i == ROWS || k == COLUMNS) {
                continue;
            }
            const uint32_t a = (uint32_t)(i * (COLUMNS + 1) + k), b = a + COLUMNS + 1;
            const uint32_t corners[6] = {a, b, b + 1, a, b + 1, a + 1};
            memcpy(s->sphere_indices + count, corners, sizeof corners);
            count += 6;
        }
    }
    small_mesh_set(&s->sphere, s->sphere_vertices, (ROWS + 1) * (COLUMNS + 1), s->sphere_indices, count);
}

static stage *open_stage(int threads)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    shadow_scene_make(&s->scene);
    make_sphere(s);
    s->scene.list.shadows = false;
    s->scene.list.sun = (orr_draw_sun){.direction = {0, 0, 1}, .ambient = {0.5f, 0.5f, 0.5f}};
    s->scene.list.occlusion = (orr_draw_occlusion){.radius = 4.0f, .strength = 1.0f, .up = {0, 0, 1}};
    s->scene.list.opaque = true;
    assert_ok(orr_jobs_create(threads, NULL, NULL, &s->jobs, &error));
    assert_ok(orr_isa_choose(&s->isa, &error));
    return s;
}

static void close_stage(stage *s)
{
    orr_jobs_destroy(s->jobs);
    orr_arena_destroy(&s->arena);
    free(s);
}

static drawn draw(stage *s)
{
    drawn d = drawn_make(&s->scene.list);
    orr_profile profile;
    orr_arena_reset(&s->arena);
    assert_ok(orr_draw_cpu(s->jobs, s->isa, &s->arena, &s->scene.list, NULL, &(orr_picture){d.rgba, d.depth},
                           NULL, &profile, &error));
    return d;
}

// The part of light from all around that reaches a pixel; 0.5 of it in full.
static double open_at(const drawn *d, int x, int y)
{
    return srgb_decode((double)d->rgba[4 * (y * SIDE + x)]) / 0.5;
}

static double column_x(int x, double pixels)
{
    return (x + 0.5 - SIDE / 2) / pixels;
}

static double row_y(int y, double pixels)
{
    return (SIDE / 2 - y - 0.5) / pixels;
}

// A camera that looks along a slope at the middle of the floor.
static void look_aslant(stage *s, float slope)
{
    const float c = cosf(slope), i = sinf(slope);
    orr_camera camera = {.width = SIDE,
                         .height = SIDE,
                         .focal = {220, 220},
                         .pose = {1, 0, 0, 0, 0, -i, c, -6.0f * c, 0, -c, -i, 6.0f * i + 0.3f}};
    assert_ok(orr_camera_resolve(&camera, &s->scene.list.lens, &error));
}

// Within rounding, at any slope and distance.
static void a_plane_is_open(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    s->scene.list.mesh_count = 1;
    for (int angle = 5; angle <= 90; angle += 17) {
        look_aslant(s, (float)angle * 0.0174533f);
        drawn d = draw(s);
        int floor = 0;
        for (int i = 0; i < SIDE * SIDE; i++) {
            if (d.depth[i] > 0.0f) {
                assert_float_equal(open_at(&d, i % SIDE, i / SIDE), 1.0, 1e-5);
                floor++;
            }
        }
        assert_true(floor > SIDE * SIDE / 8);
        drawn_free(&d);
    }
    close_stage(s);
}

// A wall of height 1 and any length, at distance d: 1 - (1 - d / sqrt(d^2 + 1)) / 2, at its foot a half. The
// wall's edge is found only where a step meets it (up to 0.05 at these), and far along the wall what is
// beyond half the radius counts for less (0.03).
static void a_wall_hides_what_geometry_says(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    const float block[12] = {8, 0, 0, -4, 0, 8, 0, 0, 0, 0, 1, 0.5f}; // it ends at x = 0
    memcpy(s->scene.items[1].model, block, sizeof block);
    for (int half = 0; half < 2; half++) {
        s->scene.list.occlusion.strength = half ? 0.5f : 1.0f;
        drawn d = draw(s);
        for (int x = SIDE / 2; x < SIDE; x++) {
            const double away = column_x(x, 32.0), hidden = 0.5 * (1.0 - away / sqrt(away * away + 1.0));
            for (int y = SIDE / 2 - 16; y < SIDE / 2 + 16; y++) {
                const double expected = 1.0 - (half ? 0.5 : 1.0) * hidden;
                assert_true(fabs(open_at(&d, x, y) - expected) < (half ? 0.025 : 0.05));
            }
        }
        if (!half) {
            assert_float_equal(open_at(&d, SIDE / 2, SIDE / 2), 0.5, 0.025);
        }
        for (int x = 0; x < SIDE / 2 - 8; x++) { // on top
            assert_float_equal(open_at(&d, x, SIDE / 2), 1.0, 1e-5);
        }
        drawn_free(&d);
    }
    close_stage(s);
}

static void put_sphere(stage *s, float radius)
{
    s->scene.items[1] = (orr_draw_mesh){.mesh = &s->sphere.mesh,
                                        .key = 79,
                                        .model = {radius, 0, 0, 0, 0, radius, 0, 0, 0, 0, radius, radius}};
}

// A sphere that rests on a floor leaves 1 - (1 + x^2)^(-3/2) open at x radii from where it does. Where light
// comes in below it the method, which takes all below the horizon for blocked, is off: by 0.012 and less from
// 1.5 radii on; there the edge of the sphere, which steps meet anywhere, adds a hundredth.
static void a_sphere_hides_what_geometry_says(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    put_sphere(s, 0.5f);
    s->scene.list.occlusion.radius = 3.0f;
    s->scene.list.lens = shadow_scene_lens(0, 0, 64.0f);
    drawn d = draw(s);
    double mean = 0.0, worst = 0.0, far = 0.0;
    int count = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = hypot(column_x(i % SIDE, 64.0), row_y(i / SIDE, 64.0)) / 0.5;
        if (x > 1.5 && x < 3.5) {
            const double off = open_at(&d, i % SIDE, i / SIDE) - (1.0 - pow(1.0 + x * x, -1.5));
            worst = fmax(worst, fabs(off));
            far = x > 1.75 ? fmax(far, fabs(off)) : far;
            mean += off;
            count++;
        }
    }
    print_message("    at most %.4f off, %.4f from 1.75 radii on, in the mean %.5f\n", worst, far,
                  mean / count);
    assert_true(worst < 0.025 && far < 0.02 && fabs(mean / count) < 0.003);
    drawn_free(&d);
    close_stage(s);
}

// The same points of the floor while the pattern of directions moves over them; next to the sphere's edge,
// where few of the pixels around a point are of the floor, it shows most.
static void it_stands_still_under_a_moving_camera(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    put_sphere(s, 0.5f);
    s->scene.list.occlusion.radius = 3.0f;
    s->scene.list.lens = shadow_scene_lens(0, 0, 64.0f);
    drawn first = draw(s);
    for (int step = 1; step < 8; step++) {
        s->scene.list.lens = shadow_scene_lens(-(float)step / 64.0f, 0, 64.0f); // whole pixels
        drawn d = draw(s);
        double mean = 0.0, worst = 0.0;
        int count = 0;
        for (int i = 0; i < SIDE * SIDE; i++) {
            const int x = i % SIDE, y = i / SIDE;
            if (x + step < SIDE && hypot(column_x(x, 64.0), row_y(y, 64.0)) > 0.6) {
                const double off = fabs(open_at(&d, x + step, y) - open_at(&first, x, y));
                mean += off;
                worst = fmax(worst, off);
                count++;
            }
        }
        assert_true(mean / count < 0.002 && worst < 0.06);
        drawn_free(&d);
    }
    drawn_free(&first);
    close_stage(s);
}

// Light of the sun is not taken away, nor what a surface emits; without a radius nothing is.
static void it_takes_ambient_light_alone(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    orr_draw_list *list = &s->scene.list;
    for (int c = 0; c < 3; c++) {
        list->sun = (orr_draw_sun){.direction = {0, 0, 1}, .colour = {0.5f, 0.5f, 0.5f}};
        list->occlusion.radius = 4.0f;
        s->scene.floor.material.emission = s->scene.box.material.emission = c == 1 ? 0.3f : 0.0f;
        if (c == 2) {
            list->sun = (orr_draw_sun){.direction = {0, 0, 1}, .ambient = {0.5f, 0.5f, 0.5f}};
        }
        drawn on = draw(s);
        list->occlusion.radius = 0.0f;
        drawn off = draw(s);
        assert_int_equal(memcmp(on.rgba, off.rgba, 4 * SIDE * SIDE * sizeof *on.rgba) != 0, c == 2);
        drawn_free(&on);
        drawn_free(&off);
    }
    close_stage(s);
}

// On a floor of splats it darkens what is left in full shadow, 0.4 of the light, as on a floor of triangles.
// The haze before the floor and the splats' edges are in the tolerance; one search alone has no neighbours.
static void it_falls_on_splats(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    drawn floor = draw(s);
    static shadow_scene captured;
    shadow_scene_make_captured(&captured, s->jobs);
    captured.list.shadows = false;
    drawn plain, dark;
    orr_draw_occlusion occlusion = s->scene.list.occlusion;
    s->scene.list = captured.list;
    plain = draw(s);
    s->scene.list.occlusion = occlusion;
    dark = draw(s);
    double mean = 0.0, depth = 0.0;
    int count = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = column_x(i % SIDE, 32.0), y = row_y(i / SIDE, 32.0);
        if (fmax(fabs(x), fabs(y)) < 0.6 || fmax(fabs(x), fabs(y)) > 2.0) {
            continue;
        }
        const double ratio = srgb_decode((double)(dark.rgba[4 * i] / dark.rgba[4 * i + 3])) /
                             srgb_decode((double)(plain.rgba[4 * i] / plain.rgba[4 * i + 3]));
        const double open = open_at(&floor, i % SIDE, i / SIDE);
        mean += fabs(ratio - (0.6 + 0.4 * open));
        depth += 1.0 - ratio;
        count++;
    }
    print_message("    %.4f off in the mean, of %.4f\n", mean / count, depth / count);
    assert_true(mean / count < 0.006 && depth / count > 0.03);
    drawn_free(&floor);
    drawn_free(&plain);
    drawn_free(&dark);
    shadow_scene_free(&captured);
    close_stage(s);
}

// The mean difference to the path tracer, in linear light. Its surfaces light each other; here they are dark.
static double off_reference(stage *s, const drawn *reference)
{
    drawn d = draw(s);
    double mean = 0.0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        mean += fabs(srgb_decode((double)d.rgba[4 * i]) - (double)reference->rgba[4 * i]) / (SIDE * SIDE);
    }
    drawn_free(&d);
    return mean;
}

static void it_comes_nearer_to_the_path_tracer(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    orr_path_tracer *tracer;
    put_sphere(s, 0.8f);
    for (int k = 0; k < 3; k++) {
        s->scene.floor.material.base_colour[k] = s->sphere.material.base_colour[k] = 0.2f;
        s->scene.list.sun.ambient[k] = 2.5f;
    }
    look_aslant(s, 0.6f);
    drawn reference = drawn_make(&s->scene.list);
    assert_ok(orr_path_tracer_create(s->jobs, s->isa, &s->scene.list, 1, &tracer, &error));
    orr_path_tracer_advance(tracer, 64);
    orr_path_tracer_picture(tracer, true, &(orr_picture){reference.rgba, reference.depth});
    orr_path_tracer_destroy(tracer);
    s->scene.list.occlusion.radius = 3.0f;
    const double with = off_reference(s, &reference);
    s->scene.list.occlusion.radius = 0.0f;
    const double without = off_reference(s, &reference);
    print_message("    %.4f off with it, %.4f without\n", with, without);
    assert_true(with < 0.6 * without);
    drawn_free(&reference);
    close_stage(s);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    drawn d[2];
    for (int i = 0; i < 2; i++) {
        stage *s = open_stage(i ? 5 : 1);
        put_sphere(s, 0.8f);
        look_aslant(s, 0.6f);
        s->scene.list.smooth = true;
        d[i] = draw(s);
        close_stage(s);
    }
    assert_memory_equal(d[0].rgba, d[1].rgba, 4 * SIDE * SIDE * sizeof *d[0].rgba);
    drawn_free(&d[0]);
    drawn_free(&d[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plane_is_open),
        cmocka_unit_test(a_wall_hides_what_geometry_says),
        cmocka_unit_test(a_sphere_hides_what_geometry_says),
        cmocka_unit_test(it_stands_still_under_a_moving_camera),
        cmocka_unit_test(it_takes_ambient_light_alone),
        cmocka_unit_test(it_falls_on_splats),
        cmocka_unit_test(it_comes_nearer_to_the_path_tracer),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
