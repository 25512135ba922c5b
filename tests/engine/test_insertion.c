// Tests of engine/loop/place.c, compose.c and engine/scene/scene_insert.c: objects in captured worlds. The
// world is a floor of splats and a post, the object a box.
#define _GNU_SOURCE
#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { WIDTH = 160, HEIGHT = 120, SIDE = 61 };

static orr_scene *scene;
static orr_world *world;
static orr_layer object;

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g: expected %.9g within %g", value, expected, tolerance);
    }
}

// A floor y = 0 from -3 to 3, as captures have it, with y down; and a post of splats at x = 0.2, z = -1.2.
static orr_splats *make_room(void)
{
    orr_splats *splats;
    enum { POST = 40 };
    assert_ok(orr_splats_create(SIDE * SIDE + POST, 0, &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    for (int i = 0; i < SIDE * SIDE + POST; i++) {
        bool post = i >= SIDE * SIDE;
        float *p = view.position + 3 * (size_t)i;
        p[0] = post ? 0.2f : -3.0f + 0.1f * (float)(i % SIDE);
        p[1] = post ? -0.05f * (float)(i - SIDE * SIDE) : 0.0f;
        p[2] = post ? -1.2f : -3.0f + 0.1f * (float)(i / SIDE);
        for (size_t k = 0; k < 3; k++) {
            view.log_scale[3 * (size_t)i + k] = logf(post ? 0.035f : k == 1 ? 0.005f : 0.06f);
            view.colour[3 * (size_t)i + k] = post ? -1.0f : 0.7f;
        }
        view.opacity[i] = 6.0f;
    }
    return splats;
}

// A box with its bottom at y = 1 in its own space, whose up is y.
static void write_box(void)
{
    written("box.obj", "v -0.3 1 -0.2\nv 0.3 1 -0.2\nv 0.3 1 0.2\nv -0.3 1 0.2\n"
                       "v -0.3 1.8 -0.2\nv 0.3 1.8 -0.2\nv 0.3 1.8 0.2\nv -0.3 1.8 0.2\n"
                       "f 1 2 3\nf 1 3 4\nf 5 7 6\nf 5 8 7\nf 1 5 6\nf 1 6 2\nf 2 6 7\nf 2 7 3\n"
                       "f 3 7 8\nf 3 8 4\nf 4 8 5\nf 4 5 1\n");
}

static int open_scene(void **state)
{
    if (open_engine(state) != 0) {
        return -1;
    }
    orr_splats *room = make_room();
    write_box();
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_splats_save(room, scratch_path("room.ply"), &error));
    assert_ok(orr_scene_add_splats(scene, "room", room, NULL, NULL, &error));
    assert_ok(orr_scene_add_file(scene, scratch_path("box.obj"), NULL, &object, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    orr_splats_destroy(room);
    return 0;
}

static int close_scene(void **state)
{
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    return close_engine(state);
}

static orr_view view_from_above(void)
{
    const float eye[3] = {0.0f, -2.0f, -4.0f}, target[3] = {0.0f}, up[3] = {0.0f, -1.0f, 0.0f};
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.9f, WIDTH, HEIGHT)};
}

static void a_box_stands_on_the_floor_under_a_pixel(void **state)
{
    (void)state;
    const orr_view view = view_from_above();
    orr_transform at;
    assert_ok(orr_world_place(world, &view, WIDTH / 2, HEIGHT / 2, object, NULL, &error));
    assert_ok(orr_world_get(world, 0, object, &at, NULL, &error));
    // y of the mesh is up, so it is turned by half a turn about x, and its bottom is on the floor
    assert_close(fabs((double)at.rotation[1]), 1.0, 1e-6);
    assert_close((double)at.position[1], 1.0, 0.03); // splats are as thick as 3 cm
    assert_close((double)at.position[0], 0.0, 0.03);
    assert_close((double)at.position[2], 0.0, 0.1); // a surface seen at a slant
    // again, where it stands: the floor below it, not itself
    orr_place_desc desc = {.scale = 2.0f, .turn = 1.5707963f};
    assert_ok(orr_world_place(world, &view, WIDTH / 2, HEIGHT / 2, object, &desc, &error));
    assert_ok(orr_world_get(world, 0, object, &at, NULL, &error));
    assert_close((double)at.scale, 2.0, 0.0);
    assert_close((double)at.position[1], 2.0, 0.03);
    assert_close(fabs((double)at.rotation[3]), sqrt(0.5), 1e-5);
    orr_error error = {0};
    assert_int_equal(orr_world_place(world, &view, 1, 1, object, NULL, &error), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "nothing at 1, 1"));
    desc = (orr_place_desc){.scale = 1.0f};
    assert_ok(orr_world_place(world, &view, WIDTH / 2, HEIGHT / 2, object, &desc, &error));
}

static void a_box_stands_level_in_a_room_that_is_turned(void **state)
{
    (void)state;
    const orr_transform turned = {.rotation = {0.70710678f, -0.70710678f}, .scale = 1}; // -y becomes z
    const float eye[3] = {0.0f, -4.0f, 2.0f}, target[3] = {0.0f}, up[3] = {0.0f, 0.0f, 1.0f};
    const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.9f, WIDTH, HEIGHT)};
    orr_scene *other;
    orr_world *there;
    orr_layer box;
    orr_transform at;
    assert_ok(orr_scene_create(engine, &other, &error));
    assert_ok(orr_scene_add_file(other, scratch_path("room.ply"), &turned, NULL, &error));
    assert_ok(orr_scene_add_file(other, scratch_path("box.obj"), NULL, &box, &error));
    assert_ok(orr_world_create(other, 1, &there, &error));
    assert_ok(orr_world_place(there, &view, WIDTH / 2, HEIGHT / 2, box, NULL, &error));
    assert_ok(orr_world_get(there, 0, box, &at, NULL, &error));
    // a quarter turn about x takes y, up in the mesh, to z; its bottom, at y = 1, is on the floor
    assert_close((double)at.rotation[0], sqrt(0.5), 1e-6);
    assert_close((double)at.rotation[1], sqrt(0.5), 1e-6);
    assert_close((double)at.position[2], -1.0, 0.03);
    orr_world_destroy(there);
    orr_scene_destroy(other);
}

static void a_photo_gets_the_object_its_shadow_and_what_hides_it(void **state)
{
    (void)state;
    const orr_view view = view_from_above();
    orr_frame *frame;
    size_t pixels = WIDTH * HEIGHT;
    float *photo = orr_alloc(pixels, 16), *rgba = orr_alloc(pixels, 16), *shadow = orr_alloc(pixels, 4);
    for (size_t i = 0; i < 4 * pixels; i++) {
        photo[i] = i % 4 == 3 ? 1.0f : 0.5f;
    }
    assert_ok(orr_frame_create(engine, &(orr_frame_desc){.device = ORR_DEVICE_CPU}, &frame, &error));
    assert_ok(orr_frame_compose(frame, scene, world, &view, object, photo, rgba, shadow, &error));
    int covered = 0, shaded = 0, kept = 0, darker = 0;
    for (size_t i = 0; i < pixels; i++) {
        bool same = rgba[4 * i] == 0.5f && rgba[4 * i + 1] == 0.5f;
        kept += same;
        shaded += shadow[i] < 0.9f;
        covered += !same && shadow[i] > 0.99f;
        assert_close((double)rgba[4 * i + 3], 1.0, 1e-4);
        assert_true(shadow[i] >= 0.0f && shadow[i] <= 1.0f);
        darker += shadow[i] < 0.9f && fabsf(rgba[4 * i] - 0.5f * shadow[i]) < 0.01f;
    }
    assert_true(covered > 300 && shaded > 50 && kept > (int)pixels / 2);
    assert_true(darker > shaded / 2); // the photo is darker by that share; beside edges the box is in it too
    // the post, in front of the box, keeps the photo
    float x = 0.0f, y = 0.0f;
    const float post[3] = {0.2f, -1.0f, -1.2f};
    float p[3] = {0.0f};
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++) {
            p[c] += view.camera.pose[4 * k + c] * (post[k] - view.camera.pose[4 * k + 3]);
        }
    }
    x = view.camera.focal[0] * p[0] / p[2] + 0.5f * WIDTH;
    y = view.camera.focal[1] * p[1] / p[2] + 0.5f * HEIGHT;
    size_t at = (size_t)y * WIDTH + (size_t)x;
    assert_close((double)rgba[4 * at], 0.5, 0.02);
    orr_frame_destroy(frame);
    orr_free(photo);
    orr_free(rgba);
    orr_free(shadow);
}

static void a_scene_file_holds_the_room_and_the_object(void **state)
{
    (void)state;
    char room[256], box[256], out[256], further[256];
    snprintf(room, sizeof room, "%s", scratch_path("room.ply"));
    snprintf(box, sizeof box, "%s", scratch_path("box.obj"));
    snprintf(out, sizeof out, "%s", scratch_path("one.json"));
    assert_ok(orr_folder_make(scratch_path("deep"), &error));
    snprintf(further, sizeof further, "%s", scratch_path("deep/two.json"));
    const orr_transform at = {.position = {1, 2, 3}, .rotation = {0, 1, 0, 0}, .scale = 0.5f};
    assert_ok(orr_scene_file_insert(room, box, "first", &at, out, &error));
    assert_ok(orr_scene_file_insert(out, box, NULL, NULL, further, &error)); // from another folder
    orr_scene *loaded;
    orr_layer_info info;
    assert_ok(orr_scene_load(engine, further, &loaded, &error));
    assert_int_equal(orr_scene_layer_count(loaded), 3);
    assert_ok(orr_scene_layer_info(loaded, orr_scene_layer(loaded, 1), &info, &error));
    assert_string_equal(info.name, "first");
    assert_close((double)info.transform.position[2], 3.0, 0.0);
    assert_close((double)info.transform.scale, 0.5, 0.0);
    orr_scene_destroy(loaded);
    orr_bytes text;
    assert_ok(orr_file_read(out, &text, &error));
    assert_non_null(strstr((const char *)text.data, "\"file\":\t\"room.ply\"")); // beside it
    orr_free(text.data);
    orr_error error = {0};
    assert_int_equal(orr_scene_file_insert(room, "no such", NULL, NULL, out, &error), ORR_ERROR_FILE);
    assert_non_null(strstr(error.message, "no such: cannot open"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_stands_on_the_floor_under_a_pixel),
        cmocka_unit_test(a_box_stands_level_in_a_room_that_is_turned),
        cmocka_unit_test(a_photo_gets_the_object_its_shadow_and_what_hides_it),
        cmocka_unit_test(a_scene_file_holds_the_room_and_the_object),
    };
    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
