// A ball on a soft bed that is tilted, in a scene.
#include "tests/support/engine.h"
#include "tests/support/scenes/soft_meshes.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>

static const double angle = 0.1, radius = 0.1;

// A bed of 0.6 x 0.16 x 0.06 m on rough ground that is tilted, and a ball on it.
static void open_slope(orr_scene **scene, orr_layer *ball, orr_world **world)
{
    static const orr_body_desc soft = {.soft = true,
                                       .resolution = 24,
                                       .density = 500.0,
                                       .young = 5e4,
                                       .poisson = 0.3,
                                       .damping = 1e-6,
                                       .friction = 0.01};
    const orr_transform at = {.position = {0.1f, 0.0f, 0.03f}};
    char model[800];
    snprintf(model, sizeof model,
             "<mujoco><option timestep='0.004' gravity='%g 0 %g'/><worldbody>"
             "<geom type='plane' size='0 0 1' friction='1'/><body pos='-0.1 0 0.155'><freejoint/>"
             "<geom size='%g' mass='1' friction='0.5'/></body></worldbody></mujoco>",
             9.81 * sin(angle), -9.81 * cos(angle), radius);
    assert_ok(orr_scene_create(engine, scene, &error));
    assert_ok(orr_scene_add_file(*scene, written("slope.xml", model), NULL, ball, &error));
    const orr_layer bed = add_block(*scene, (const float[3]){0.3f, 0.08f, 0.03f}, &at, 12);
    assert_ok(orr_scene_set_physics(*scene, bed, &soft, &error));
    assert_ok(orr_world_create(*scene, 1, world, &error));
}

// After it has settled it gains 5/7 g sin(angle) t, as on rigid ground, less what the bed takes, and turns as
// it rolls. With the planes of where a step begins it would lose 14 %.
static void a_ball_rolls_down_a_soft_bed(void **state)
{
    (void)state;
    orr_scene *scene;
    orr_world *world;
    orr_layer ball;
    open_slope(&scene, &ball, &world);
    const double expected = 5.0 / 7.0 * 9.81 * sin(angle) * 0.6;
    double v[6], early = 0.0;
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_advance(world, i == 0 ? 0.2 : 0.6, &error));
        assert_ok(orr_world_get_robot(world, 0, ball, ORR_ROBOT_QVEL, v, &error));
        early = i == 0 ? v[0] : early;
    }
    print_message("gains %g m/s, turns with %g of %g: expected %g, less what the bed takes\n", v[0] - early,
                  radius * v[4], v[0], expected);
    assert_true(v[0] - early < 1.02 * expected && v[0] - early > 0.95 * expected);
    assert_true(fabs(radius * v[4] / v[0] - 1.0) < 0.03);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_rolls_down_a_soft_bed),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
