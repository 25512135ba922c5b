// Real time against the reference: six scenes in which light passes between meshes and captured worlds, by
// the mean difference of display colours and by FLIP. `compare_light` makes pictures of them.
#include "engine/loop/world/world.h"
#include "tests/engine/light/light_scenes.h"
#include "tests/support/engine.h"
#include "tests/support/flip.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 96, HEIGHT = 72, PIXELS = WIDTH * HEIGHT, SAMPLES = 16 };

static float frame[4 * PIXELS], traced[4 * PIXELS];

// The pictures, and the numbers, of tests/golden/flip.py.
static void flip_is_that_of_its_authors(void **state)
{
    (void)state;
    static const double golden[3] = {0.269475, 0.383696, 0.344467};
    for (int n = 0; n < 3; n++) {
        for (int i = 0; i < 4 * PIXELS; i++) {
            const int x = i / 4 % WIDTH, y = i / 4 / WIDTH, k = i % 4;
            const int a = (x * 7 + y * 13 + k * 5 + x * y / 16) % 64,
                      b = (x * 7 + y * 13 + k * 5 + x * y / 16 + (x * x + 3 * y) % 9) % 64;
            traced[i] = (float)a / 63.0f;
            frame[i] = n == 0 ? (float)b / 63.0f : n == 1 ? 0.5f * traced[i] + 0.2f : 1.0f - traced[i];
        }
        const double mean = flip(traced, frame, WIDTH, HEIGHT, NULL);
        print_message("FLIP %.6f, of its authors %.6f\n", mean, golden[n]);
        assert_true(fabs(mean - golden[n]) < 2e-4); // their colours have matrices of fewer digits
    }
    assert_true(flip(traced, traced, WIDTH, HEIGHT, NULL) < 1e-9);
}

// These only go down.
static void real_time_is_near_the_reference(void **state)
{
    (void)state;
    static const double most[LIGHT_SCENES][2] = {{0.0169, 0.0865}, {0.022, 0.118},   {0.0181, 0.078},
                                                 {0.0171, 0.0675}, {0.0142, 0.0608}, {0.02, 0.094}};
    for (int i = 0; i < LIGHT_SCENES; i++) {
        light_scene s = light_scene_make(engine, i, WIDTH, HEIGHT);
        light_scene_draw(engine, &s, frame);
        light_scene_trace(&s, SAMPLES, traced);
        double mean = 0.0;
        for (int k = 0; k < 4 * PIXELS; k++) {
            const double off = fabs(fmin((double)frame[k], 1.0) - fmin((double)traced[k], 1.0));
            mean += k % 4 == 3 ? 0.0 : off / (3.0 * PIXELS);
        }
        const double perceived = flip(traced, frame, WIDTH, HEIGHT, NULL);
        print_message("%s: mean %.4f, FLIP %.4f\n", light_scene_names[i], mean, perceived);
        assert_true(mean <= most[i][0] && perceived <= most[i][1]);
        light_scene_free(&s);
    }
}

static double error_of(const float *rgba, const float *expected)
{
    double sum = 0.0;
    for (int k = 0; k < 4 * PIXELS; k++) {
        sum += fabs((double)rgba[k] - (double)expected[k]) / (4.0 * PIXELS);
    }
    return sum;
}

// What lamps alone light throws light on what they do not reach, unless the scene says otherwise; by the same
// formula on every machine.
static void lamps_leave_no_black_shadows(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS];
    const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA};
    for (int d = 0; d < 3; d++) {
        orr_engine *machine;
        const orr_engine_desc desc = {.device = devices[d], .threads = 2};
        if (orr_engine_create(&desc, &machine, NULL) != ORR_OK) {
            continue;
        }
        light_scene s = light_scene_make(machine, 4, WIDTH, HEIGHT);
        light_scene_draw(machine, &s, d == 0 ? frame : rgba);
        if (d > 0) {
            // edges of shadows are where rounding decides
            print_message("%d: %.1f dB\n", d, psnr(rgba, frame, 4 * PIXELS));
            assert_true(psnr(rgba, frame, 4 * PIXELS) > 45.0);
        } else {
            // below the sphere, on the side that no lamp is on
            const float *below = frame + 4 * (WIDTH * (HEIGHT * 148 / 240) + WIDTH * 195 / 320);
            assert_true(below[0] > 0.2f && below[1] > 0.15f);
            assert_ok(orr_scene_set_probes(s.scene, false, &error));
            light_scene_draw(machine, &s, rgba);
            assert_true(rgba[below - frame] < 0.02f);
        }
        light_scene_free(&s);
        orr_engine_destroy(machine);
    }
}

// What a panel shows of probes is what frames do: beside something captured lamps do not turn them on.
static void lamps_turn_probes_on_without_captures(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS];
    light_scene s = light_scene_make(engine, 4, WIDTH, HEIGHT);
    orr_splats *splats;
    orr_layer cloud;
    assert_true(orr_world_probes_by_lamps(s.world, 0));
    light_scene_draw(engine, &s, frame);
    assert_ok(orr_splats_create(1, 0, &splats, &error));
    const orr_splats_view one = orr_splats_data(splats);
    one.rotation[0] = 1.0f;
    one.position[2] = -100.0f; // out of sight
    assert_ok(orr_scene_add_splats(s.scene, "cloud", splats, NULL, &cloud, &error));
    orr_splats_destroy(splats);
    assert_false(orr_world_probes_by_lamps(s.world, 0));
    light_scene_draw(engine, &s, rgba);
    assert_true(error_of(rgba, frame) > 1e-3);
    assert_ok(orr_world_set_visible(s.world, 0, cloud, false, &error));
    assert_true(orr_world_probes_by_lamps(s.world, 0));
    light_scene_draw(engine, &s, rgba);
    assert_true(error_of(rgba, frame) < 1e-6);
    light_scene_free(&s);
}

// What moves throws its light elsewhere some frames later: then it is as if it had always been there, but
// for light that was reflected between its grids in another order.
static void light_follows_what_moves(void **state)
{
    (void)state;
    static float still[4 * PIXELS], moved[4 * PIXELS];
    light_scene s = light_scene_make(engine, 4, WIDTH, HEIGHT);
    const orr_layer box = orr_scene_layer(s.scene, 2);
    orr_frame *drawn;
    assert_ok(orr_frame_create(engine, NULL, &drawn, &error));
    double late = 0.0;
    for (int i = 0; i < 16; i++) {
        const orr_transform at = {
            .position = {i > 0 ? 0.9f : 0.0f, i > 0 ? -0.6f : 0.0f, 0}, .rotation = {1}, .scale = 1};
        assert_ok(orr_world_set_transform(s.world, 0, box, &at, &error));
        assert_ok(orr_frame_submit(drawn, s.scene, s.world, &s.view, &error));
        assert_ok(orr_frame_finish(drawn, &(orr_picture){.rgba = i == 1 ? frame : moved}, &error));
    }
    orr_frame_destroy(drawn);
    light_scene_draw(engine, &s, still);
    late = error_of(frame, still);
    print_message("off by %.5f in the frame that moves, %.5f later\n", late, error_of(moved, still));
    assert_true(error_of(moved, still) < 3e-4 && late > 4.0 * error_of(moved, still));
    light_scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flip_is_that_of_its_authors), cmocka_unit_test(real_time_is_near_the_reference),
        cmocka_unit_test(lamps_leave_no_black_shadows),
        cmocka_unit_test(lamps_turn_probes_on_without_captures), cmocka_unit_test(light_follows_what_moves)};
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
