// Tests of engine/scene/light/cloud_light.c: lamps light captured surfaces by a closed form, less what the
// clouds keep off.
#include "tests/support/engine.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float before[4 * PIXELS], after[4 * PIXELS];
static const float grey = 0.5f; // of the floor, as displayed
static const float tint[3] = {1.0f, 0.6f, 0.2f};

// A square of discs at a height, about the z axis.
static orr_layer add_square(orr_scene *scene, const char *name, float half, float z, int row,
                            const orr_transform *transform)
{
    orr_layer layer;
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
    assert_ok(orr_scene_add_file(scene, scratch_path(name), transform, &layer, &error));
    orr_splats_destroy(splats);
    return layer;
}

static orr_view from_above(void)
{
    const float eye[3] = {0, 0, 6}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.6f, SIDE, SIDE)};
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
    add_square(scene, "floor.ply", 3.0f, 0.0f, 150, NULL);
    draw(engine, scene, &view, before);
    assert_ok(orr_scene_add_light(scene, &lamp, &error));
    draw(engine, scene, &view, after);
    double worst = 0.0, sum = 0.0;
    for (int i = 0; i < PIXELS; i++) {
        double at[2];
        place_of(&view, i, at);
        const double square = (at[0] - 0.5) * (at[0] - 0.5) + at[1] * at[1] + 1.0;
        for (int k = 0; k < 3; k++) {
            const double shown = srgb_decode((double)before[4 * i + k]);
            const double expected = shown * (1.0 + 2.0 * (double)tint[k] / (square * sqrt(square)));
            const double off = srgb_decode((double)after[4 * i + k]) / expected - 1.0;
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
    const double old = srgb_decode((double)before[4 * (PIXELS / 2 + SIDE / 2)]);
    const double part =
        (srgb_decode((double)after[4 * (PIXELS / 2 + SIDE / 2)]) - old) / (srgb_decode((double)bright) - old);
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
    add_square(scene, "floor.ply", 3.0f, 0.0f, 60, NULL);
    add_square(scene, "roof.ply", 0.3f, 0.5f, 20, NULL);
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

// ---- clouds that are not where they were lit ----

// Lower than at rest, aside, and turned by 40 degrees about x.
static const orr_transform moved = {
    .rotation = {0.93969262f, 0.34202014f, 0, 0}, .position = {0.2f, -0.3f, -0.8f}, .scale = 1.0f};

static double mean_difference(const float *a, const float *b)
{
    double sum = 0.0;
    for (int i = 0; i < 4 * PIXELS; i++) {
        sum += fabs((double)a[i] - (double)b[i]);
    }
    return sum / (4 * PIXELS);
}

static bool is_beside_roof(const orr_view *view, int pixel)
{
    double at[2];
    place_of(view, pixel, at);
    return fmax(fabs(at[0]), fabs(at[1])) > 0.45;
}

static double difference_beside_roof(const orr_view *view, const float *a, const float *b)
{
    double largest = 0.0;
    for (int i = 0; i < 4 * PIXELS; i++) {
        largest = is_beside_roof(view, i / 4) ? fmax(largest, fabs((double)a[i] - (double)b[i])) : largest;
    }
    return largest;
}

static void trace_world(const orr_scene *scene, const orr_world *world, const orr_view *view, float *rgba)
{
    orr_reference *reference;
    assert_ok(orr_reference_create(scene, world, view, 1, &reference, &error));
    assert_ok(orr_reference_advance(reference, 8, &error));
    assert_ok(orr_reference_picture(reference, false, &(orr_picture){.rgba = rgba}, &error));
    orr_reference_destroy(reference);
}

// A floor below a roof and a lamp; its layer.
static orr_layer add_floor_and_roof(orr_scene *scene, const orr_transform *floor_at)
{
    add_square(scene, "roof.ply", 0.3f, 0.5f, 20, NULL);
    return add_square(scene, "floor.ply", 3.0f, 0.0f, 60, floor_at);
}

// What a program has moved looks as if the scene had it there from the beginning, in frames and path-traced;
// and as at rest when it is back.
static void a_moved_cloud_has_the_light_of_where_it_is(void **state)
{
    (void)state;
    static float there[4 * PIXELS], traced[4 * PIXELS], back[4 * PIXELS];
    static float dark[4 * PIXELS], dark_traced[4 * PIXELS];
    const orr_view view = from_above();
    orr_scene *scene, *other;
    orr_world *world;
    assert_ok(orr_scene_create(engine, &other, &error));
    add_floor_and_roof(other, &moved);
    draw(engine, other, &view, dark);
    trace(other, &view, 8, dark_traced);
    assert_ok(orr_scene_add_light(other, &lamp, &error));
    draw(engine, other, &view, there);
    trace(other, &view, 8, traced);
    orr_scene_destroy(other);

    assert_ok(orr_scene_create(engine, &scene, &error));
    const orr_layer floor = add_floor_and_roof(scene, NULL);
    assert_ok(orr_scene_add_light(scene, &lamp, &error));
    draw(engine, scene, &view, before);
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_set_transform(world, 0, floor, &moved, &error));
    draw_world(engine, scene, world, &view, after);
    print_message("a moved floor: %.6f from one that was lit there, %.4f from one at rest\n",
                  mean_difference(after, there), mean_difference(after, before));
    assert_true(largest_difference(after, there, 4 * PIXELS) < 1e-3);
    trace_world(scene, world, &view, back);
    assert_true(largest_difference(back, traced, 4 * PIXELS) < 1e-3);
    // the roof's splats are smaller than pixels, where rays and the rasteriser differ
    double added = 0.0, added_traced = 0.0, apart = 0.0;
    for (int i = 0; i < 4 * PIXELS; i++) {
        if (is_beside_roof(&view, i / 4)) {
            const double frame = (double)(after[i] - dark[i]), path = (double)(back[i] - dark_traced[i]);
            added += frame;
            added_traced += path;
            apart += fabs(frame - path);
        }
    }
    print_message(
        "    path-traced, the lamp adds %.3f of what it adds in frames; pixels differ by %.3f of it\n",
        added_traced / added, apart / added);
    assert_true(fabs(added_traced - added) < 0.03 * added && apart < 0.1 * added);
    assert_ok(orr_world_set_transform(world, 0, floor, NULL, &error));
    draw_world(engine, scene, world, &view, back);
    assert_memory_equal(back, before, sizeof before);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// One frame shows a floor in one place after another; those of GPUs upload it for each.
static void show_moving(orr_engine *on, const orr_scene *scene, orr_layer floor, const orr_view *view,
                        const orr_transform *places, int count, float *rgba)
{
    orr_world *world;
    orr_frame *frame;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(on, NULL, &frame, &error));
    for (int i = 0; i < count; i++) {
        assert_ok(orr_world_set_transform(world, 0, floor, &places[i], &error));
        assert_ok(orr_frame_submit(frame, scene, world, view, &error));
        assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    }
    orr_frame_destroy(frame);
    orr_world_destroy(world);
}

static void all_machines_light_what_moves(void **state)
{
    (void)state;
    static const orr_device_kind kinds[] = {ORR_DEVICE_CPU, ORR_DEVICE_CUDA, ORR_DEVICE_VULKAN};
    static const orr_transform places[] = {
        {.position = {0, 0, -1}}, {.position = {0.5f, 0, -0.5f}}, {.position = {0.5f, 0, -0.5f}}};
    const orr_view view = from_above();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        orr_engine *on = open_engine_on(kinds[i]);
        if (!on) {
            continue;
        }
        orr_scene *scene, *there;
        assert_ok(orr_scene_create(on, &scene, &error));
        const orr_layer floor = add_floor_and_roof(scene, NULL);
        assert_ok(orr_scene_add_light(scene, &lamp, &error));
        show_moving(on, scene, floor, &view, places, 3, after);
        assert_ok(orr_scene_create(on, &there, &error));
        add_floor_and_roof(there, &places[2]);
        assert_ok(orr_scene_add_light(there, &lamp, &error));
        draw(on, there, &view, before);
        print_message("%s: %.6f from one that was lit there\n", orr_engine_describe(on),
                      largest_difference(after, before, 4 * PIXELS));
        assert_true(largest_difference(after, before, 4 * PIXELS) < 1e-3);
        orr_scene_destroy(there);
        orr_scene_destroy(scene);
        orr_engine_destroy(on);
    }
}

// What has a mass and what is soft is lit where it is, too.
static void clouds_that_move_are_lit(void **state)
{
    (void)state;
    static float dark[4 * PIXELS];
    const orr_view view = from_above();
    for (int soft = 0; soft < 2; soft++) {
        orr_scene *scene;
        assert_ok(orr_scene_create(engine, &scene, &error));
        const orr_layer floor = add_floor_and_roof(scene, &moved);
        draw(engine, scene, &view, dark);
        assert_ok(orr_scene_add_light(scene, &lamp, &error));
        draw(engine, scene, &view, before);
        const orr_body_desc body = soft ? (orr_body_desc){.soft = true, .resolution = 4}
                                        : (orr_body_desc){.mass = 1.0, .shape = ORR_BODY_HULL};
        assert_ok(orr_scene_set_physics(scene, floor, &body, &error));
        for (int lit_again = 0; lit_again < 2; lit_again++) {
            draw(engine, scene, &view, after);
            print_message("%s: %.6f from at rest, %.6f from no lamps\n", soft ? "soft" : "with a mass",
                          difference_beside_roof(&view, after, before),
                          difference_beside_roof(&view, after, dark));
            assert_true(difference_beside_roof(&view, after, before) < 1e-3);
            assert_true(difference_beside_roof(&view, after, dark) > 0.1);
            assert_ok(orr_scene_clear_lights(scene, &error));
            assert_ok(orr_scene_add_light(scene, &lamp, &error));
        }
        orr_scene_destroy(scene);
    }
}

// Moves the cage of a soft layer as `moved` moves points.
static void move_cage(const orr_scene *scene, orr_world *world, orr_layer layer)
{
    orr_soft_info info;
    assert_ok(orr_scene_soft_info(scene, layer, &info, &error));
    double *x = malloc(3 * (size_t)info.vertex_count * sizeof *x);
    assert_non_null(x);
    const double w = (double)moved.rotation[0], u = (double)moved.rotation[1]; // about x
    const double cosine = w * w - u * u, sine = 2.0 * w * u;
    for (int i = 0; i < info.vertex_count; i++) {
        const double *r = info.rest + 3 * (ptrdiff_t)i;
        x[3 * i] = r[0] + (double)moved.position[0];
        x[3 * i + 1] = cosine * r[1] - sine * r[2] + (double)moved.position[1];
        x[3 * i + 2] = sine * r[1] + cosine * r[2] + (double)moved.position[2];
    }
    assert_ok(orr_world_set_soft(world, 0, layer, x, NULL, &error));
    free(x);
}

static void draw_in(orr_frame *frame, const orr_scene *scene, const orr_world *world, const orr_view *view,
                    float *rgba)
{
    assert_ok(orr_frame_submit(frame, scene, world, view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
}

// A soft floor whose cage was moved has the light of a floor that is there, on all machines and path-traced.
static void deformed_clouds_have_the_light_of_where_they_are(void **state)
{
    (void)state;
    static const orr_device_kind kinds[] = {ORR_DEVICE_CPU, ORR_DEVICE_CUDA, ORR_DEVICE_VULKAN};
    static float there[4 * PIXELS];
    const orr_view view = from_above();
    const orr_body_desc body = {.soft = true, .resolution = 4};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        orr_engine *on = open_engine_on(kinds[i]);
        if (!on) {
            continue;
        }
        orr_scene *scene, *other;
        orr_world *world;
        assert_ok(orr_scene_create(on, &other, &error));
        add_floor_and_roof(other, &moved);
        assert_ok(orr_scene_add_light(other, &lamp, &error));
        draw(on, other, &view, there);
        assert_ok(orr_scene_create(on, &scene, &error));
        const orr_layer floor = add_floor_and_roof(scene, NULL);
        assert_ok(orr_scene_add_light(scene, &lamp, &error));
        assert_ok(orr_scene_set_physics(scene, floor, &body, &error));
        assert_ok(orr_world_create(scene, 1, &world, &error));
        orr_frame *frame;
        assert_ok(orr_frame_create(on, NULL, &frame, &error));
        draw_in(frame, scene, world, &view, before);
        move_cage(scene, world, floor);
        draw_in(frame, scene, world, &view, after);
        orr_frame_destroy(frame);
        print_message("%s: a deformed floor is %.6f from one that was lit there\n", orr_engine_describe(on),
                      difference_beside_roof(&view, after, there));
        assert_true(mean_difference(after, before) > 0.02);
        assert_true(difference_beside_roof(&view, after, there) < 2e-3);
        if (i == 0) {
            trace(other, &view, 8, there);
            trace_world(scene, world, &view, after);
            print_message("    path-traced %.6f in the mean\n", mean_difference(after, there));
            // discs of the floor lie in one plane: rays meet them in an order that roundings decide
            assert_true(mean_difference(after, there) < 1e-3);
        }
        orr_world_destroy(world);
        orr_scene_destroy(scene);
        orr_scene_destroy(other);
        orr_engine_destroy(on);
    }
}

// The scene file says it, and what is read from it looks the same.
static void scene_files_say_which_lamps(void **state)
{
    (void)state;
    const orr_view view = from_above();
    orr_scene *scene, *again;
    orr_world *world;
    assert_ok(orr_scene_create(engine, &scene, &error));
    add_square(scene, "floor.ply", 3.0f, 0.0f, 60, NULL);
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
                                       cmocka_unit_test(a_moved_cloud_has_the_light_of_where_it_is),
                                       cmocka_unit_test(all_machines_light_what_moves),
                                       cmocka_unit_test(clouds_that_move_are_lit),
                                       cmocka_unit_test(deformed_clouds_have_the_light_of_where_they_are),
                                       cmocka_unit_test(scene_files_say_which_lamps)};
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
