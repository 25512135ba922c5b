// Tests of shadows on splat clouds and fields, drawn and path-traced: as dark as the list says, and not twice
// where they were captured. Runs once per instruction set.
#include "tests/render/scenes/shadow_scene.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include "render/cpu/splats_cpu.h"
#include "render/reference/path_tracer.h"
#include "tests/support/drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = SHADOW_SCENE_SIDE };

typedef struct machine {
    orr_jobs *jobs;
    orr_arena arena;
} machine;

static machine *start(int threads)
{
    machine *m = calloc(1, sizeof *m);
    assert_non_null(m);
    assert_ok(orr_jobs_create(threads, NULL, NULL, &m->jobs, &error));
    return m;
}

static void stop(machine *m)
{
    orr_jobs_destroy(m->jobs);
    orr_arena_destroy(&m->arena);
    free(m);
}

static const double shade = 0.25, sunlit = 0.25 + 0.5 * 0.8; // of the floor

static drawn draw_all(machine *c, const orr_draw_list *list)
{
    drawn d = drawn_make(list);
    orr_isa isa;
    orr_profile profile;
    orr_arena_reset(&c->arena);
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_draw_cpu(c->jobs, isa, &c->arena, list, NULL, &(orr_picture){d.rgba, d.depth}, NULL,
                           &profile, &error));
    return d;
}

// The same shadow on a floor of splats, as dark as the list says, in linear light. The haze above it is far
// before the floor: the mean of both depths would put the shadow half a unit aside.
static void a_shadow_falls_on_splats(void **state)
{
    (void)state;
    static shadow_scene s;
    machine *c = start(2);
    shadow_scene_make_captured(&s, c->jobs);
    drawn lit, dark, off;
    s.list.shadows = false;
    lit = draw_all(c, &s.list);
    s.list.shadows = true;
    dark = draw_all(c, &s.list);
    s.list.umbra = 1.0f;
    off = draw_all(c, &s.list);
    int in = 0, out = 0;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const float *plain = lit.rgba + 4 * (y * SIDE + x), *shaded = dark.rgba + 4 * (y * SIDE + x);
            double px = (x + 0.5 - SIDE / 2) / 32.0, py = (SIDE / 2 - y - 0.5) / 32.0;
            double inside = fmin(fmin(px - 0.25, 2.0 - px), 0.5 - fabs(py));
            assert_memory_equal(off.rgba + 4 * (y * SIDE + x), plain, 4 * sizeof *plain);
            assert_true(shaded[3] == plain[3]);
            if (px < 0.55 && fabs(py) < 0.55) {
                continue; // behind the haze is the cube
            }
            double ratio =
                srgb_decode((double)(shaded[0] / shaded[3])) / srgb_decode((double)(plain[0] / plain[3]));
            if (inside > 0.06) {
                assert_float_equal(ratio, 0.4, 2e-3);
                in++;
            } else if (inside < -0.06) {
                assert_memory_equal(shaded, plain, 4 * sizeof *plain);
                out++;
            }
        }
    }
    assert_true(in > 1000 && out > 10000);
    drawn_free(&lit);
    drawn_free(&dark);
    drawn_free(&off);
    shadow_scene_free(&s);
    stop(c);
}

// What the photos show in the shadow of a captured wall does not become darker in the cube's; beside it the
// cube's is as before, and where the cube throws none all keeps its bits.
static void a_shadow_does_not_fall_twice(void **state)
{
    (void)state;
    static shadow_scene s;
    machine *c = start(2);
    shadow_scene_make_walled(&s, c->jobs);
    s.list.shadows = false;
    drawn lit = draw_all(c, &s.list);
    s.list.shadows = true;
    drawn dark = draw_all(c, &s.list);
    s.list.self_shadow = NULL;
    drawn twice = draw_all(c, &s.list);
    int in_both = 0, in_one = 0, out = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const float *plain = lit.rgba + 4 * i, *shaded = dark.rgba + 4 * i;
        const double x = (i % SIDE + 0.5 - SIDE / 2) / 32.0, y = (SIDE / 2 - i / SIDE - 0.5) / 32.0;
        const double of_cube = fmin(fmin(x - 0.25, 2.0 - x), 0.5 - fabs(y));
        const double of_wall = fmin(fmin(x - 0.75, 2.25 - x), fmin(y, 3.0 - y));
        const double ratio =
            srgb_decode((double)(shaded[0] / shaded[3])) / srgb_decode((double)(plain[0] / plain[3]));
        if (x < 0.55 && fabs(y) < 0.55) {
            continue; // the cube
        }
        if (of_cube > 0.06 && of_wall > 0.15) {
            assert_float_equal(ratio, 1.0, 0.02);
            assert_true(fabs(srgb_decode((double)twice.rgba[4 * i]) / srgb_decode((double)plain[0]) - 0.4) <
                        0.02);
            in_both++;
        } else if (of_cube > 0.06 && of_wall < -0.1) {
            assert_float_equal(ratio, 0.4, 2e-3);
            assert_memory_equal(shaded, twice.rgba + 4 * i, 4 * sizeof *plain);
            in_one++;
        } else if (of_cube < -0.06) {
            assert_memory_equal(shaded, plain, 4 * sizeof *plain);
            out++;
        }
    }
    print_message("    %d pixels in both shadows, %d in the cube's alone, %d in neither\n", in_both, in_one,
                  out);
    assert_true(in_both > 250 && in_one > 400 && out > 10000);
    drawn_free(&lit);
    drawn_free(&dark);
    drawn_free(&twice);
    shadow_scene_free(&s);
    stop(c);
}

// The list path-traced: linear colours.
static void trace(machine *c, const orr_draw_list *list, int samples, float *rgba)
{
    orr_isa isa;
    orr_path_tracer *tracer;
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_path_tracer_create(c->jobs, isa, list, 1, &tracer, &error));
    orr_path_tracer_advance(tracer, samples);
    orr_path_tracer_picture(tracer, true, &(orr_picture){.rgba = rgba});
    orr_path_tracer_destroy(tracer);
}

enum { PROXY = 64, PROXY_PIXELS = PROXY * PROXY };

// How far the ratio of what a captured floor shows with and without the shadow is from that of two
// path-traced pictures of a white floor in its place, with the cube and without it (Debevec 1998): mean over
// the pixels that show the floor.
static double off_from_proxy(const float *with, const float *without, const double *expected)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < PROXY_PIXELS; i++) {
        if (expected[i] >= 0.0) {
            sum += fabs((double)with[4 * i] / (double)without[4 * i] - expected[i]);
            count++;
        }
    }
    assert_true(count > PROXY_PIXELS / 2);
    return sum / count;
}

static void shadows_on_splats_are_debevecs(void **state)
{
    (void)state;
    static shadow_scene s;
    static float with[4 * PROXY_PIXELS], without[4 * PROXY_PIXELS];
    static double expected[PROXY_PIXELS];
    machine *c = start(2);
    shadow_scene_make(&s);
    s.box.material.base_colour[0] = s.box.material.base_colour[1] = s.box.material.base_colour[2] = 0;
    s.list.lens = shadow_scene_turned_lens(PROXY, 8.0f);
    trace(c, &s.list, 64, with);
    s.list.mesh_count = 1;
    trace(c, &s.list, 64, without);
    for (int i = 0; i < PROXY_PIXELS; i++) { // the cube is black, and seen from above at |x|, |y| < 1/2
        const double x = (i % PROXY - PROXY / 2 + 0.5) / 8.0, y = (PROXY / 2 - i / PROXY - 0.5) / 8.0;
        expected[i] = x * x + y * y < 0.75 * 0.75 ? -1.0 : (double)with[4 * i] / (double)without[4 * i];
    }
    shadow_scene_make_captured(&s, c->jobs);
    s.box.material.base_colour[0] = s.box.material.base_colour[1] = s.box.material.base_colour[2] = 0;
    s.list.lens = shadow_scene_turned_lens(PROXY, 8.0f);
    s.list.umbra = (float)(shade / sunlit);
    s.list.occlusion = (orr_draw_occlusion){.radius = 4.0f, .strength = 1.0f, .up = {0, 0, 1}};
    double off[3];
    for (int k = 0; k < 3; k++) { // path-traced, in real time, and without occlusion
        s.list.occlusion.radius = k == 2 ? 0.0f : 4.0f;
        for (int shadows = 0; shadows < 2; shadows++) {
            float *to = shadows ? with : without;
            s.list.shadows = shadows != 0;
            s.list.occlusion.strength = shadows ? 1.0f : 0.0f;
            if (k == 0) {
                trace(c, &s.list, 64, to);
                continue;
            }
            drawn d = draw_all(c, &s.list);
            for (int i = 0; i < 4 * PROXY_PIXELS; i++) {
                to[i] = (float)srgb_decode((double)d.rgba[i]);
            }
            drawn_free(&d);
        }
        off[k] = off_from_proxy(with, without, expected);
    }
    print_message("off by %.4f path-traced, %.4f in real time, %.4f without occlusion\n", off[0], off[1],
                  off[2]);
    assert_true(off[0] < 0.0085 && off[1] < 0.0092); // noise included
    assert_true(off[2] > off[1] + 0.003);
    shadow_scene_free(&s);
    stop(c);
}

// The path tracer leaves the captured shadow as it is, too: as in real time, but for the edges.
static void a_path_traced_shadow_does_not_fall_twice(void **state)
{
    (void)state;
    static shadow_scene s;
    static float with[4 * PROXY_PIXELS], without[4 * PROXY_PIXELS];
    machine *c = start(2);
    shadow_scene_make_walled(&s, c->jobs);
    s.list.lens = shadow_scene_lens(1.5f, 0.0f, 16.0f);
    s.list.lens.width = s.list.lens.height = PROXY;
    s.list.lens.centre[0] = s.list.lens.centre[1] = PROXY / 2;
    trace(c, &s.list, 4, with);
    s.list.shadows = false;
    trace(c, &s.list, 4, without);
    int in_both = 0, in_one = 0;
    for (int i = 0; i < PROXY_PIXELS; i++) {
        const double x = 1.5 + (i % PROXY - PROXY / 2 + 0.5) / 16.0, y = (PROXY / 2 - i / PROXY - 0.5) / 16.0;
        const double of_wall = fmin(fmin(x - 0.75, 2.25 - x), fmin(y, 3.0 - y));
        const double of_cube = fmin(fmin(x - 0.55, 2.0 - x), 0.5 - fabs(y)), margin = 0.1;
        const double ratio = (double)with[4 * i] / (double)without[4 * i];
        if (of_cube > margin && of_wall > 0.2) {
            assert_float_equal(ratio, 1.0, 0.02);
            in_both++;
        } else if (of_cube > margin && of_wall < -0.15) {
            assert_float_equal(ratio, 0.4, 0.02);
            in_one++;
        }
    }
    assert_true(in_both > 30 && in_one > 50);
    shadow_scene_free(&s);
    stop(c);
}

// On a field it falls at the field's depth; here one that is opaque and at z = 0.
static void a_shadow_falls_on_fields(void **state)
{
    (void)state;
    static shadow_scene s;
    static float depth[SIDE * SIDE], colour[4 * SIDE * SIDE];
    machine *c = start(2);
    shadow_scene_make(&s);
    s.list.meshes = &s.items[1];
    s.list.mesh_count = s.list.field_count = 1;
    s.list.umbra = 0.4f;
    for (int i = 0; i < SIDE * SIDE; i++) {
        depth[i] = 10.0f;
        for (int k = 0; k < 4; k++) {
            colour[k * SIDE * SIDE + i] = k < 3 ? 0.6f : 1.0f;
        }
    }
    orr_field_pass fields = {.list = &s.list, .depth = depth, .colour = colour};
    drawn d = drawn_make(&s.list);
    orr_cpu_frame *frame;
    orr_isa isa;
    orr_profile profile = {0};
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_draw_cpu_begin(c->jobs, isa, &c->arena, &s.list, NULL, NULL, &profile, &frame, &error));
    assert_ok(orr_draw_cpu_end(frame, &fields, &(orr_picture){d.rgba, d.depth}, &profile, &error));
    const int row = SIDE / 2 * SIDE + SIDE / 2;
    double ratio = srgb_decode((double)d.rgba[4 * (row + 32)]) / srgb_decode(0.6); // 1 to the right
    assert_float_equal(ratio, 0.4, 1e-4);
    assert_float_equal(d.rgba[4 * (row - 32)], 0.6f, 0.0);
    drawn_free(&d);
    stop(c);
}

// A cloud without meshes, and one whose shadow does not reach it, keep their bits.
static void splats_without_shadows_keep_their_bits(void **state)
{
    (void)state;
    static shadow_scene s;
    machine *c = start(2), *one = start(1);
    shadow_scene_make_captured(&s, c->jobs);
    for (int meshes = 0; meshes < 2; meshes++) {
        s.list.mesh_count = meshes;
        s.items[1].model[11] = -20.0f; // below the floor
        s.list.shadows = false;
        drawn plain = draw_all(c, &s.list);
        s.list.shadows = true;
        drawn with = draw_all(c, &s.list), alone = draw_all(one, &s.list);
        assert_memory_equal(plain.rgba, with.rgba, (size_t)plain.pixels * 4 * sizeof(float));
        assert_memory_equal(plain.rgba, alone.rgba, (size_t)plain.pixels * 4 * sizeof(float));
        drawn_free(&plain);
        drawn_free(&with);
        drawn_free(&alone);
    }
    shadow_scene_free(&s);
    stop(c);
    stop(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shadow_falls_on_splats),
        cmocka_unit_test(a_shadow_does_not_fall_twice),
        cmocka_unit_test(shadows_on_splats_are_debevecs),
        cmocka_unit_test(a_path_traced_shadow_does_not_fall_twice),
        cmocka_unit_test(a_shadow_falls_on_fields),
        cmocka_unit_test(splats_without_shadows_keep_their_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
