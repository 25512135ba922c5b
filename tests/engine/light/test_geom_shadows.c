// Geoms that cast no shadow (castshadow of MJCF): on the floor below them, on every machine that is here and
// in path-traced pictures.
#include "engine/orrery.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <stdio.h>

// A board above a floor, and a ball that casts a shadow, under a lamp that is straight above; the camera
// looks in below the board.
static float light_below(orr_engine *engine, bool casts, bool traced)
{
    static float rgba[4 * PIXELS];
    char text[512];
    snprintf(
        text, sizeof text,
        "<mujoco><worldbody><geom type='plane' size='4 4 1' rgba='.8 .8 .8 1'/><geom size='.2' pos='1 0 1'/>"
        "<geom type='box' size='.5 .5 .02' pos='0 0 1' castshadow='%s'/></worldbody></mujoco>",
        casts ? "true" : "false");
    const orr_light_desc lamp = {
        .kind = ORR_LIGHT_KIND_SPOT, .position = {0, 0, 4}, .direction = {0, 0, -1}, .intensity = 30.0f};
    const float eye[3] = {0, -3, 0.6f}, target[3] = {0, 0, 0}, up[3] = {0, 0, 1};
    const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.5f, SIDE, SIDE)};
    orr_scene *scene;
    assert_ok(orr_scene_load(engine, written("board.xml", text), &scene, &error));
    assert_ok(orr_scene_add_light(scene, &lamp, &error));
    if (traced) {
        trace(scene, &view, 16, rgba);
    } else {
        draw(engine, scene, &view, rgba);
    }
    orr_scene_destroy(scene);
    return rgba[4 * (SIDE / 2 * SIDE + SIDE / 2)];
}

static void a_geom_casts_a_shadow_unless_it_says_no(void **state)
{
    (void)state;
    const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA, ORR_DEVICE_CPU};
    for (int d = 0; d < 4; d++) {
        const orr_engine_desc desc = {.device = devices[d], .threads = 2};
        orr_engine *engine;
        if (orr_engine_create(&desc, &engine, NULL) != ORR_OK) {
            continue;
        }
        const bool traced = d == 3;
        const float shadowed = light_below(engine, true, traced), lit = light_below(engine, false, traced);
        print_message("%s%s: %.3f in its shadow, %.3f without\n", orr_engine_describe(engine),
                      traced ? ", path-traced" : "", (double)shadowed, (double)lit);
        assert_true(lit > 0.5f);
        assert_true(shadowed <
                    0.6f * lit); // of path-traced ones some light comes from the floor and the board
        orr_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_geom_casts_a_shadow_unless_it_says_no)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
