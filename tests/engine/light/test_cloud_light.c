// Tests of engine/scene/light/cloud_light.c: lamps light captured surfaces by a closed form, less what the
// clouds keep off.
#include "tests/support/engine.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float before[4 * PIXELS], after[4 * PIXELS];
static const float grey = 0.5f; // of the floor, as displayed
static const float tint[3] = {1.0f, 0.6f, 0.2f};

// A square of discs at a height, about the z axis.
static void add_square(orr_scene *scene, const char *name, float half, float z, int row)
{
    orr_splats *splats;
    assert_ok(orr_splats_create(row * row, 0, &splats, &error));
    const orr_splats_view s = orr_splats_data(splats);
    const float apart = 2.0f * half / (float)row;
    for (int i = 0; i < row * row; i++) {
        // splats of one depth cover each other in the order of the file, which is none along the square
        const int at = (int)((int64_t)i * 7919 % (row * row));
        const float p[3] = {apart * ((float)(at % row) + 0.5f) - half,
                            apart * ((float)(at / row) + 0.5f) - half, z};
        for (int k = 0; k < 3; k++) {
            s.position[3 * i + k] = p[k];
            s.log_scale[3 * i + k] = logf(k == 2 ? 1e-4f : 0.7f * apart);
            s.colour[3 * i + k] = (grey - 0.5f) / 0.28209479f;
        }
        s.rotation[4 * i] = 1.0f;
        s.opacity[i] = 6.0f;
    }
    assert_ok(orr_splats_save(splats, scratch_path(name), &error));
    assert_ok(orr_scene_add_file(scene, scratch_path(name), NULL, NULL, &error));
    orr_splats_destroy(splats);
}

static orr_view from_above(void)
{
    const float eye[3] = {0, 0, 6}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.6f, SIDE, SIDE)};
}

static double linear(float display)
{
    return display <= 0.04045f ? (double)display / 12.92 : pow(((double)display + 0.055) / 1.055, 2.4);
}

// Where the ray of a pixel's centre meets the floor.
static void place_of(const orr_view *view, int pixel, double at[2])
{
    at[0] = (pixel % SIDE + 0.5 - 0.5 * SIDE) * 6.0 / (double)view->camera.focal[0];
    at[1] = (pixel / SIDE + 0.5 - 0.5 * SIDE) * 6.0 / (double)view->camera.focal[1];
}

static const orr_light_desc lamp = {.kind = ORR_LIGHT_KIND_POINT,
                                    .position = {0.5f, 0, 1},
                                    .colour = {1.0f, 0.6f, 0.2f},
                                    .intensity = 2.0f * 3.14159265f,
                                    .clouds = true};

static void a_lamp_lights_a_captured_floor(void **state)
{
    (void)state;
    const orr_view view = from_above();
    orr_scene *scene;
    assert_ok(orr_scene_create(engine, &scene, &error));
    add_square(scene, "floor.ply", 3.0f, 0.0f, 150);
    draw(engine, scene, &view, before);
    assert_ok(orr_scene_add_light(scene, &lamp, &error));
    draw(engine, scene, &view, after);
    double worst = 0.0, sum = 0.0;
    for (int i = 0; i < PIXELS; i++) {
        double at[2];
        place_of(&view, i, at);
        const double square = (at[0] - 0.5) * (at[0] - 0.5) + at[1] * at[1] + 1.0;
        for (int k = 0; k < 3; k++) {
            const double shown = linear(before[4 * i + k]);
            const double expected = shown * (1.0 + 2.0 * (double)tint[k] / (square * sqrt(square)));
            const double off = linear(after[4 * i + k]) / expected - 1.0;
            worst = fmax(worst, fabs(off));
            sum += off;
        }
    }
    print_message("a lamp on a captured floor: off by %.4f of it at most, %.5f in all\n", worst,
                  sum / (3 * PIXELS));
    assert_true(worst < 0.05); // of what covers a pixel, some is a splat or two aside
    assert_true(fabs(sum / (3 * PIXELS)) < 0.003);
    // in a light in which white is twice as bright, the albedo is half of it
    const orr_sun_desc sun = {
        .direction = {0, 0, 1}, .colour = {1.5f, 1.5f, 1.5f}, .ambient = {0.5f, 0.5f, 0.5f}};
    const float bright = after[4 * (PIXELS / 2 + SIDE / 2)];
    assert_ok(orr_scene_set_sun(scene, &sun, &error));
    draw(engine, scene, &view, after);
    const double old = linear(before[4 * (PIXELS / 2 + SIDE / 2)]);
    const double part = (linear(after[4 * (PIXELS / 2 + SIDE / 2)]) - old) / (linear(bright) - old);
    assert_true(fabs(part - 0.5) < 0.01);
    // and without the lamp it is as it was
    assert_ok(orr_scene_clear_lights(scene, &error));
    draw(engine, scene, &view, after);
    assert_memory_equal(after, before, sizeof before);
    orr_scene_destroy(scene);
}

// A square of half side 0.3 at half the height of the lamp shadows one of 0.6 about (-0.5, 0).
static void clouds_keep_light_off_each_other(void **state)
{
    (void)state;
    const orr_view view = from_above();
    orr_scene *scene;
    assert_ok(orr_scene_create(engine, &scene, &error));
    add_square(scene, "floor.ply", 3.0f, 0.0f, 60);
    add_square(scene, "roof.ply", 0.3f, 0.5f, 20);
    draw(engine, scene, &view, before);
    assert_ok(orr_scene_add_light(scene, &lamp, &error));
    draw(engine, scene, &view, after);
    int dark = 0, lit = 0;
    for (int i = 0; i < PIXELS; i++) {
        double at[2];
        place_of(&view, i, at);
        const double across = fmax(fabs(at[0] + 0.5), fabs(at[1]));
        if (fmax(fabs(at[0]), fabs(at[1])) < 0.45) {
            continue; // the roof
        }
        if (across < 0.45) {
            assert_float_equal(after[4 * i], before[4 * i], 0.02);
            dark++;
        } else if (across > 0.8) {
            assert_true(after[4 * i] > before[4 * i] + 0.005f);
            lit++;
        }
    }
    assert_true(dark > 20 && lit > PIXELS / 2);
    orr_scene_destroy(scene);
}

// The scene file says it, and what is read from it looks the same.
static void scene_files_say_which_lamps(void **state)
{
    (void)state;
    const orr_view view = from_above();
    orr_scene *scene, *again;
    orr_world *world;
    assert_ok(orr_scene_create(engine, &scene, &error));
    add_square(scene, "floor.ply", 3.0f, 0.0f, 60);
    assert_ok(orr_scene_add_light(scene, &lamp, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_save(world, 0, NULL, scratch_path("lit.json"), &error));
    draw(engine, scene, &view, before);
    orr_world_destroy(world);
    assert_ok(orr_scene_load(engine, scratch_path("lit.json"), &again, &error));
    draw(engine, again, &view, after);
    assert_true(largest_difference(before, after, 4 * PIXELS) < 1e-5);
    orr_scene_destroy(again);
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_lamp_lights_a_captured_floor),
                                       cmocka_unit_test(clouds_keep_light_off_each_other),
                                       cmocka_unit_test(scene_files_say_which_lamps)};
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
