// Robots that are put together have a floor each: of endless planes that coincide, one is drawn.
#include "engine/orrery.h"
#include "tests/support/engine.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

enum { STAGES = 32 };

static void add_robot(orr_scene *scene, const char *name, const char *colour, float height, float tilt)
{
    char text[512];
    orr_layer layer;
    const orr_transform at = {.position = {1.0f, 0.3f, height}, .rotation = {1.0f, tilt}, .scale = 1.0f};
    snprintf(text, sizeof text,
             "<mujoco><worldbody><geom type='plane' size='0 0 .1' rgba='%s'/><body pos='0 0 1'><freejoint/>"
             "<geom size='.1'/></body></worldbody></mujoco>",
             colour);
    assert_ok(orr_scene_add_file(scene, written(name, text), &at, &layer, &error));
}

// Triangles drawn, and the picture, of a red floor and a green one so much higher.
static int64_t draw_floors(float higher, float tilt, float *rgba)
{
    const float eye[3] = {0, -3, 2}, target[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.8f, SIDE, SIDE)};
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_stage_time stages[STAGES];
    int64_t triangles = -1;
    assert_ok(orr_scene_create(engine, &scene, &error));
    add_robot(scene, "red.xml", "1 0 0 1", 0.0f, 0.0f);
    add_robot(scene, "green.xml", "0 1 0 1", higher, tilt);
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    const int count = orr_frame_stages(frame, stages, STAGES);
    for (int i = 0; i < count && i < STAGES; i++) {
        triangles = strcmp(stages[i].name, "meshes") == 0 ? stages[i].items : triangles;
    }
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    return triangles;
}

static void floors_that_coincide_are_one(void **state)
{
    (void)state;
    static float same[4 * PIXELS], above[4 * PIXELS], below[4 * PIXELS], leaning[4 * PIXELS];
    const int64_t one = draw_floors(0.0f, 0.0f, same), both = draw_floors(0.01f, 0.0f, above);
    assert_true(one > 0 && one < both);
    assert_true(draw_floors(-0.01f, 0.0f, below) == both);
    assert_true(draw_floors(0.0f, 0.01f, leaning) == both);
    const int middle = 4 * (SIDE * 3 / 4 * SIDE + SIDE / 4);
    assert_true(same[middle] > 0.2f && same[middle + 1] < 0.01f);   // red
    assert_true(below[middle] > 0.2f && below[middle + 1] < 0.01f); // red
    assert_true(above[middle] < 0.01f && above[middle + 1] > 0.2f); // green
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(floors_that_coincide_are_one)};
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
