// The robots of a scene are one physics: they touch each other, and come and go while it runs.
#include "engine/maths/rotation.h"
#include "engine/scene/scene.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/support/engine.h"
#include "tests/support/robots.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char floor_model[] = "<mujoco><worldbody><geom type='plane' size='0 0 1'/></worldbody></mujoco>";
static const char ball_model[] = "<mujoco><worldbody><body name='ball' pos='0 0 0.5'><freejoint/>"
                                 "<geom type='sphere' size='0.1' mass='2'/></body></worldbody></mujoco>";
static const char table_model[] = "<mujoco><worldbody><body name='top' pos='0 0 0.3'>"
                                  "<geom type='box' size='0.3 0.3 0.05'/></body></worldbody></mujoco>";
static const char slider_model[] =
    "<mujoco><worldbody><body name='cart' pos='0 0 0.1'><joint name='x' type='slide' axis='1 0 0'/>"
    "<geom type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody>"
    "<actuator><motor joint='x' ctrlrange='-5 5'/></actuator></mujoco>";

typedef struct stage {
    orr_scene *scene;
    orr_world *world;
} stage;

static stage stage_of(int copies)
{
    stage s;
    assert_ok(orr_scene_create(engine, &s.scene, &error));
    assert_ok(orr_world_create(s.scene, copies, &s.world, &error));
    return s;
}

static void stage_close(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
}

static orr_layer add(const stage *s, const char *name, const char *text, float x, float y, float z)
{
    orr_layer layer;
    const orr_transform at = {.position = {x, y, z}};
    assert_ok(orr_scene_add_file(s->scene, written(name, text), &at, &layer, &error));
    return layer;
}

static void body_at(const stage *s, int copy, orr_layer robot, int body, double at[3])
{
    orr_transform t;
    assert_ok(orr_world_body_transform(s->world, copy, robot, body, &t, &error));
    for (int k = 0; k < 3; k++) {
        at[k] = (double)t.position[k];
    }
}

static void a_ball_rests_on_the_floor_of_one_robot_and_the_table_of_another(void **state)
{
    (void)state;
    stage s = stage_of(3);
    add(&s, "floor.xml", floor_model, 0.0f, 0.0f, 0.0f);
    orr_layer high = add(&s, "ball.xml", ball_model, 0.0f, 0.0f, 0.0f);
    add(&s, "table.xml", table_model, 2.0f, 0.0f, 0.0f);
    orr_layer low = add(&s, "ball.xml", ball_model, 2.1f, 0.0f, 0.0f);
    assert_ok(orr_world_advance(s.world, 2.0, &error));
    for (int copy = 0; copy < 3; copy++) {
        double a[3], b[3];
        body_at(&s, copy, high, 1, a);
        body_at(&s, copy, low, 1, b);
        assert_true(fabs(a[2] - 0.1) < 2e-3 && fabs(a[0]) < 1e-3);
        assert_true(fabs(b[2] - 0.45) < 2e-3 && fabs(b[0] - 2.1) < 1e-3);
    }
    stage_close(&s);
}

static void one_robot_pushes_another(void **state)
{
    (void)state;
    stage s = stage_of(1);
    orr_layer cart = add(&s, "cart.xml", slider_model, 0.0f, 0.0f, 0.0f);
    orr_layer other = add(&s, "cart.xml", slider_model, 0.5f, 0.0f, 0.0f);
    const double push = 3.0;
    assert_ok(orr_world_set_robot(s.world, 0, cart, ORR_ROBOT_CTRL, &push, &error));
    assert_ok(orr_world_advance(s.world, 1.0, &error));
    double q[2], v[2];
    orr_layer layers[2] = {cart, other};
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_get_robot(s.world, 0, layers[i], ORR_ROBOT_QPOS, &q[i], &error));
        assert_ok(orr_world_get_robot(s.world, 0, layers[i], ORR_ROBOT_QVEL, &v[i], &error));
    }
    assert_true(q[0] > 0.3 && q[1] > 0.1 && v[1] > v[0] - 1e-3); // it goes ahead of what pushes it
    assert_true(fabs(v[0] + v[1] - push) < 0.02);                // momentum: force by time
    stage_close(&s);
}

static void two_robots_are_those_of_one_file(void **state)
{
    (void)state;
    enum { STEPS = 200 };
    stage s = stage_of(1);
    const float quarter[4] = {0.70710678f, 0.0f, 0.0f, 0.70710678f};
    orr_transform place = {.position = {0.3f, 0.2f, 0.5f}};
    memcpy(place.rotation, quarter, sizeof quarter);
    char path[512], text[2048];
    orr_layer under, over;
    snprintf(path, sizeof path, "%s", own_robot("quadruped"));
    assert_ok(orr_scene_add_file(s.scene, path, NULL, &under, &error));
    assert_ok(orr_scene_add_file(s.scene, path, &place, &over, &error));
    assert_ok(orr_world_step(s.world, STEPS, &error));
    snprintf(
        text, sizeof text,
        "<mujoco><asset><model name='m' file='%s'/></asset><worldbody><attach model='m' prefix='a/'/>"
        "<frame pos='0.3 0.2 0.5' quat='0.70710678 0 0 0.70710678'><attach model='m' prefix='b/'/></frame>"
        "</worldbody></mujoco>",
        path);
    orr_model *own, *both;
    orr_physics *physics;
    assert_ok(orr_model_load(path, &own, &error));
    assert_ok(orr_model_parse(text, strlen(text), "scene.xml", &both, &error));
    both->opt = own->opt;
    both->stat.meaninertia = own->stat.meaninertia;
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    assert_ok(orr_physics_create(&(orr_physics_desc){.worlds = 1}, both, jobs, &physics, &error));
    orr_physics_step(physics, STEPS);
    double xpos[3 * 200], worst = 0.0;
    orr_physics_read(physics, ORR_PHYSICS_XPOS, 0, xpos);
    for (int body = 1; body < own->nbody; body++) {
        double a[3], b[3];
        body_at(&s, 0, under, body, a);
        body_at(&s, 0, over, body, b);
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(a[k] - xpos[3 * body + k]));
            worst = fmax(worst, fabs(b[k] - xpos[3 * (body + own->nbody - 1) + k]));
        }
    }
    print_message("largest distance after %d steps, one robot on the other: %.1e m\n", STEPS, worst);
    assert_true(worst < 1e-6);
    orr_physics_destroy(physics);
    orr_jobs_destroy(jobs);
    orr_model_destroy(both);
    orr_model_destroy(own);
    stage_close(&s);
}

static void what_stays_keeps_its_state_when_robots_come_and_go(void **state)
{
    (void)state;
    stage s = stage_of(5);
    orr_layer cart = add(&s, "cart.xml", slider_model, 0.0f, 0.0f, 0.0f);
    const double push = 3.0;
    assert_ok(orr_world_set_robot(s.world, 3, cart, ORR_ROBOT_CTRL, &push, &error));
    assert_ok(orr_world_advance(s.world, 0.3, &error));
    double before[2], after[2];
    orr_layer ball = {0};
    for (int round = 0; round < 4; round++) {
        assert_ok(orr_world_get_robot(s.world, 3, cart, ORR_ROBOT_QPOS, &before[0], &error));
        assert_ok(orr_world_get_robot(s.world, 3, cart, ORR_ROBOT_QVEL, &before[1], &error));
        if (round % 2 == 0) {
            ball = add(&s, "ball.xml", ball_model, 5.0f, 0.0f, 0.0f);
        } else {
            assert_ok(orr_scene_remove(s.scene, ball, &error));
        }
        assert_ok(orr_world_get_robot(s.world, 3, cart, ORR_ROBOT_QPOS, &after[0], &error));
        assert_ok(orr_world_get_robot(s.world, 3, cart, ORR_ROBOT_QVEL, &after[1], &error));
        assert_memory_equal(before, after, sizeof before);
        assert_ok(orr_world_advance(s.world, 0.1, &error));
    }
    double time;
    assert_ok(orr_world_get_robot(s.world, 3, cart, ORR_ROBOT_TIME, &time, &error));
    assert_true(fabs(time - 0.7) < 1e-5);
    // the first one, whose frame the others have, goes; the ball keeps its bits
    ball = add(&s, "ball.xml", ball_model, 5.0f, 1.0f, 0.0f);
    assert_ok(orr_world_advance(s.world, 0.1, &error));
    double q[2][7];
    assert_ok(orr_world_get_robot(s.world, 1, ball, ORR_ROBOT_QPOS, q[0], &error));
    assert_ok(orr_scene_remove(s.scene, cart, &error));
    assert_ok(orr_world_get_robot(s.world, 1, ball, ORR_ROBOT_QPOS, q[1], &error));
    assert_memory_equal(q[0], q[1], sizeof q[0]);
    stage_close(&s);
}

// A robot that comes, and a reset of another, leave what its actuator remembers. Forces are read as they are
// at the end of a step.
static void controls_act_with_the_delay_of_each_robot(void **state)
{
    (void)state;
    static const char format[] =
        "<mujoco><option timestep='0.004'/><worldbody><body><joint name='x' type='slide'/>"
        "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></worldbody><actuator>"
        "<motor joint='x' delay='%g' nsample='4'/></actuator></mujoco>";
    static const int steps[2] = {3, 1};
    stage s = stage_of(2);
    orr_layer robot[2];
    char text[400];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, format, 0.004 * steps[i]);
        robot[i] = add(&s, i ? "soon.xml" : "late.xml", text, 0.0f, (float)i, 0.0f);
    }
    for (int step = 1; step < 40; step++) {
        if (step == 20) {
            add(&s, "late.xml", text, 0.0f, 5.0f, 0.0f);
        }
        if (step == 30) {
            assert_ok(orr_world_reset_robot(s.world, 0, robot[1], -1, &error));
        }
        for (int i = 0; i < 4; i++) {
            const double ctrl = (i / 2 ? 100.0 : 0.0) + step;
            assert_ok(orr_world_set_robot(s.world, i / 2, robot[i % 2], ORR_ROBOT_CTRL, &ctrl, &error));
        }
        assert_ok(orr_world_step(s.world, 1, &error));
        for (int i = 0; i < 4; i++) {
            double force, delayed[4];
            const int first = i == 1 && step >= 30 ? 30 : 1, given = step + 1 - steps[i % 2];
            const double more = i / 2 ? 100.0 : 0.0;
            assert_ok(
                orr_world_get_robot(s.world, i / 2, robot[i % 2], ORR_ROBOT_ACTUATOR_FORCE, &force, &error));
            assert_ok(orr_world_get_robot(s.world, i / 2, robot[i % 2], ORR_ROBOT_DELAYED, delayed, &error));
            assert_true(fabs(force - (given >= first ? more + given : 0.0)) < 1e-4); // 7 digits of 139
            assert_true(fabs(delayed[0] - more - step) < 1e-4);
        }
    }
    stage_close(&s);
}

static void states_are_in_the_frame_of_their_layer(void **state)
{
    (void)state;
    stage s = stage_of(1);
    add(&s, "floor.xml", floor_model, 0.0f, 0.0f, 0.0f);
    orr_layer ball;
    // a quarter turn about y: the layer's x is the scene's -z
    const orr_transform place = {.position = {1.0f, 2.0f, 3.0f},
                                 .rotation = {0.70710678f, 0.0f, 0.70710678f, 0.0f}};
    assert_ok(orr_scene_add_file(s.scene, written("ball.xml", ball_model), &place, &ball, &error));
    double q[7], v[6], at[3];
    assert_ok(orr_world_get_robot(s.world, 0, ball, ORR_ROBOT_QPOS, q, &error));
    assert_true(fabs(q[0]) < 1e-6 && fabs(q[2] - 0.5) < 1e-6 && fabs(q[3] - 1.0) < 1e-6);
    assert_ok(orr_world_advance(s.world, 0.1, &error));
    assert_ok(orr_world_get_robot(s.world, 0, ball, ORR_ROBOT_QVEL, v, &error));
    assert_true(fabs(v[0] - 0.981) < 2e-2 && fabs(v[2]) < 1e-5); // it falls along its layer's x
    const double start[7] = {0.2, 0.0, 0.0, 1.0};
    assert_ok(orr_world_set_robot(s.world, 0, ball, ORR_ROBOT_QPOS, start, &error));
    body_at(&s, 0, ball, 1, at);
    assert_true(fabs(at[0] - 1.0) < 1e-6 && fabs(at[2] - 2.8) < 1e-6);
    assert_ok(orr_world_get_robot(s.world, 0, ball, ORR_ROBOT_QPOS, q, &error));
    for (int i = 0; i < 7; i++) {
        assert_true(fabs(q[i] - start[i]) < 1e-6);
    }
    stage_close(&s);
}

static void a_layer_that_is_moved_takes_its_robot_along(void **state)
{
    (void)state;
    stage s = stage_of(1);
    add(&s, "floor.xml", floor_model, 0.0f, 0.0f, 0.0f);
    orr_layer table = add(&s, "table.xml", table_model, 2.0f, 0.0f, 0.0f);
    orr_layer ball = add(&s, "ball.xml", ball_model, 0.0f, 0.0f, 0.0f);
    assert_ok(orr_world_advance(s.world, 1.0, &error));
    const orr_transform there = {.position = {2.0f, 0.0f, 1.0f}}, under = {.position = {-3.0f, 0.0f, 0.0f}};
    double at[3];
    assert_ok(orr_world_set_transform(s.world, 0, ball, &there, &error));
    body_at(&s, 0, ball, 1, at);
    assert_true(fabs(at[0] - 2.0) < 1e-5 && fabs(at[2] - 1.1) < 2e-3);
    assert_ok(orr_world_advance(s.world, 1.5, &error));
    body_at(&s, 0, ball, 1, at);
    assert_true(fabs(at[2] - 0.45) < 2e-3); // on the table
    assert_ok(orr_world_set_transform(s.world, 0, table, &under, &error));
    assert_ok(orr_world_advance(s.world, 1.5, &error));
    body_at(&s, 0, ball, 1, at);
    assert_true(fabs(at[2] - 0.1) < 2e-3); // which was pulled away from under it
    body_at(&s, 0, table, 1, at);
    assert_true(fabs(at[0] + 3.0) < 1e-5);
    const orr_transform large = {.position = {2.0f, 0.0f, 1.0f}, .scale = 2.0f};
    assert_int_equal(orr_world_set_transform(s.world, 0, ball, &large, NULL), ORR_ERROR_UNSUPPORTED);
    stage_close(&s);
    s = stage_of(2);
    add(&s, "floor.xml", floor_model, 0.0f, 0.0f, 0.0f);
    table = add(&s, "table.xml", table_model, 2.0f, 0.0f, 0.0f);
    ball = add(&s, "ball.xml", ball_model, 0.0f, 0.0f, 0.0f);
    assert_ok(orr_world_step(s.world, 1, &error));
    assert_ok(orr_world_set_transform(s.world, 1, ball, &there, &error));
    assert_int_equal(orr_world_set_transform(s.world, 1, table, &under, NULL), ORR_ERROR_UNSUPPORTED);
    assert_ok(orr_world_advance(s.world, 1.5, &error));
    body_at(&s, 1, ball, 1, at);
    assert_true(fabs(at[2] - 0.45) < 2e-3);
    body_at(&s, 0, ball, 1, at);
    assert_true(fabs(at[2] - 0.1) < 2e-3);
    stage_close(&s);
}

static void robots_of_other_scales_do_not_touch(void **state)
{
    (void)state;
    stage s = stage_of(1);
    add(&s, "floor.xml", floor_model, 0.0f, 0.0f, 0.0f);
    orr_layer ball;
    const orr_transform twice = {.scale = 2.0f};
    assert_ok(orr_scene_add_file(s.scene, written("ball.xml", ball_model), &twice, &ball, &error));
    assert_ok(orr_world_advance(s.world, 1.0, &error));
    double at[3];
    body_at(&s, 0, ball, 1, at);
    assert_true(at[2] < -5.0);
    stage_close(&s);
}

static void a_reset_concerns_one_robot_unless_the_copy_has_diverged(void **state)
{
    (void)state;
    stage s = stage_of(2);
    orr_layer cart = add(&s, "cart.xml", slider_model, 0.0f, 0.0f, 0.0f);
    orr_layer ball = add(&s, "ball.xml", ball_model, 3.0f, 0.0f, 0.0f);
    const double speed = 2.0, wild = 1e12;
    double q;
    assert_ok(orr_world_set_robot(s.world, 0, cart, ORR_ROBOT_QVEL, &speed, &error));
    assert_ok(orr_world_advance(s.world, 0.1, &error));
    assert_ok(orr_world_reset_robot(s.world, 0, ball, -1, &error));
    assert_ok(orr_world_get_robot(s.world, 0, cart, ORR_ROBOT_QPOS, &q, &error));
    assert_true(fabs(q - 0.2) < 1e-3);
    double at[3];
    body_at(&s, 0, ball, 1, at);
    assert_true(at[2] == 0.5);
    bool diverged;
    assert_ok(orr_world_set_robot(s.world, 0, cart, ORR_ROBOT_QVEL, &wild, &error));
    assert_ok(orr_world_advance(s.world, 0.1, &error));
    assert_ok(orr_world_robot_diverged(s.world, 0, ball, &diverged, &error));
    assert_true(diverged);
    assert_ok(orr_world_robot_diverged(s.world, 1, ball, &diverged, &error));
    assert_false(diverged);
    assert_ok(orr_world_reset_robot(s.world, 0, ball, -1, &error));
    assert_ok(orr_world_advance(s.world, 0.1, &error));
    assert_ok(orr_world_robot_diverged(s.world, 0, cart, &diverged, &error));
    assert_false(diverged);
    stage_close(&s);
}

// More controls than other numbers: nothing is written beyond them (AddressSanitizer looks).
static double height(const stage *s, int copy, orr_layer robot)
{
    double at[3];
    body_at(s, copy, robot, 1, at);
    return at[2];
}

// A ball that an equality holds, beside a cart; copies are stepped and reset by mask, and let go of the ball.
static void copies_are_stepped_reset_and_let_go_by_themselves(void **state)
{
    (void)state;
    static const char held_model[] = "<mujoco><worldbody><body name='ball' pos='0 0 2'><freejoint/>"
                                     "<geom type='sphere' size='0.1' mass='2'/></body></worldbody>"
                                     "<equality><weld body1='ball'/></equality></mujoco>";
    for (int beside = 0; beside < 2; beside++) { // alone, and in one physics with another
        stage s = stage_of(4);
        orr_layer other = {0, 0};
        if (beside) {
            other = add(&s, "cart.xml", slider_model, 3.0f, 0.0f, 0.0f);
        }
        orr_layer held;
        const orr_transform turned = {.position = {0.5f}, .rotation = {0.70710678f, 0, 0, 0.70710678f}};
        assert_ok(orr_scene_add_file(s.scene, written("held.xml", held_model), &turned, &held, &error));
        orr_robot_info info;
        assert_ok(orr_scene_robot_info(s.scene, held, &info, &error));
        assert_int_equal(info.equality_count, 1);
        const double off = 0.0;
        double active;
        assert_ok(orr_world_set_robot(s.world, 1, held, ORR_ROBOT_EQUALITY, &off, &error));
        assert_ok(orr_world_set_robot(s.world, 2, held, ORR_ROBOT_EQUALITY, &off, &error));
        const uint8_t two[4] = {1, 1, 0, 0};
        assert_ok(orr_world_step_masked(s.world, 100, two, &error));
        assert_true(fabs(height(&s, 0, held) - 2.0) < 1e-2); // a weld is soft
        orr_transform at;
        assert_ok(orr_world_body_transform(s.world, 0, held, 1, &at, &error));
        assert_true(fabsf(at.position[0] - 0.5f) < 1e-4f && fabsf(at.rotation[3] - 0.7071f) < 1e-3f);
        assert_true(fabs(height(&s, 1, held) - (2.0 - 9.81 * 0.2 * 0.2 / 2.0)) < 3e-3);
        assert_true(height(&s, 2, held) == 2.0 && height(&s, 3, held) == 2.0);
        orr_layer late = add(&s, "late.xml", ball_model, -3.0f, 0.0f, 0.0f); // keeps what is switched
        assert_ok(orr_world_get_robot(s.world, 1, held, ORR_ROBOT_EQUALITY, &active, &error));
        assert_true(active == 0.0);
        assert_ok(orr_world_get_robot(s.world, 0, held, ORR_ROBOT_EQUALITY, &active, &error));
        assert_true(active == 1.0);
        assert_ok(orr_world_step(s.world, 10, &error));
        const uint8_t one[4] = {0, 1, 0, 0};
        assert_ok(orr_world_reset_masked(s.world, one, &error));
        assert_true(height(&s, 1, held) == 2.0 && height(&s, 2, held) < 2.0 && height(&s, 2, late) < 0.5);
        assert_true(height(&s, 1, late) == 0.5);
        assert_ok(orr_world_get_robot(s.world, 1, held, ORR_ROBOT_EQUALITY, &active, &error));
        assert_true(active == 1.0);
        if (beside) { // one that diverges takes back to the start what it could touch
            int count;
            const double lost = NAN;
            assert_ok(orr_world_set_autoreset(s.world, true, &error));
            assert_ok(orr_world_set_robot(s.world, 2, other, ORR_ROBOT_QVEL, &lost, &error));
            assert_ok(orr_world_step(s.world, 1, &error));
            assert_ok(orr_world_robot_restarts(s.world, 2, held, &count, &error));
            assert_int_equal(count, 1);
            assert_ok(orr_world_robot_restarts(s.world, 3, held, &count, &error));
            assert_int_equal(count, 0);
            assert_true(height(&s, 2, late) > 0.4999 && height(&s, 3, late) < 0.4999);
        }
        assert_ok(orr_world_reset_masked(s.world, NULL, &error));
        for (int copy = 0; copy < 4; copy++) {
            assert_true(height(&s, copy, late) == 0.5 && height(&s, copy, held) == 2.0);
        }
        stage_close(&s);
    }
}

// As a viewer removes it, and brings it back.
static void a_robot_that_is_removed_for_now_touches_nothing(void **state)
{
    (void)state;
    stage s = stage_of(2);
    orr_layer table = add(&s, "table.xml", table_model, 0.0f, 0.0f, 0.0f);
    add(&s, "floor.xml", floor_model, 0.0f, 0.0f, 0.0f);
    orr_layer ball = add(&s, "ball.xml", ball_model, 0.0f, 0.0f, 0.0f);
    assert_ok(orr_world_advance(s.world, 1.0, &error));
    assert_true(fabs(height(&s, 1, ball) - 0.45) < 2e-3);
    double before[7], after[7];
    assert_ok(orr_world_get_robot(s.world, 1, ball, ORR_ROBOT_QPOS, before, &error));
    orr_layer_data *layer = &s.scene->layers[orr_scene_find(s.scene, table)];
    layer->absent = true;
    assert_ok(orr_world_get_robot(s.world, 1, ball, ORR_ROBOT_QPOS, after, &error));
    assert_memory_equal(before, after, sizeof before);
    assert_ok(orr_world_advance(s.world, 1.0, &error));
    assert_true(fabs(height(&s, 1, ball) - 0.1) < 2e-3);
    orr_error why;
    assert_int_equal(orr_world_get_robot(s.world, 1, table, ORR_ROBOT_TIME, before, &why),
                     ORR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(why.message, "removed"));
    layer->absent = false;
    assert_ok(orr_world_reset_masked(s.world, NULL, &error));
    assert_ok(orr_world_advance(s.world, 1.0, &error));
    assert_true(fabs(height(&s, 1, ball) - 0.45) < 2e-3);
    stage_close(&s);
}

static void a_robot_of_many_controls_is_reset(void **state)
{
    (void)state;
    enum { MOTORS = 40 };
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "<mujoco><worldbody><body><joint name='x' type='slide' axis='1 0 0'/>"
                                   "<geom size='0.1'/></body></worldbody><actuator>");
    for (int i = 0; i < MOTORS; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "<motor joint='x'/>");
    }
    snprintf(text + used, sizeof text - used, "</actuator></mujoco>");
    stage s = stage_of(1);
    add(&s, "floor.xml", floor_model, 0.0f, 0.0f, 0.0f);
    orr_layer driven = add(&s, "driven.xml", text, 0.0f, 0.0f, 1.0f);
    double ctrl[MOTORS];
    for (int i = 0; i < MOTORS; i++) {
        ctrl[i] = 1.0;
    }
    assert_ok(orr_world_set_robot(s.world, 0, driven, ORR_ROBOT_CTRL, ctrl, &error));
    assert_ok(orr_world_reset_robot(s.world, 0, driven, -1, &error));
    assert_ok(orr_world_get_robot(s.world, 0, driven, ORR_ROBOT_CTRL, ctrl, &error));
    for (int i = 0; i < MOTORS; i++) {
        assert_true(ctrl[i] == 0.0);
    }
    stage_close(&s);
}

// A robot with a sensor for each kind of number: alone in a scene, and among others, turned, so that it is
// simulated in a frame that is not its own.
static const char sensed_model[] =
    "<mujoco><worldbody>"
    "<body name='top' pos='0 0 1'><freejoint name='free'/><geom name='g' type='box' size='.1 .2 .1' "
    "mass='1'/>"
    "<site name='s' pos='.1 0 0'/>"
    "<body name='arm' pos='.3 0 0'><joint name='hinge' axis='0 1 0' range='-30 60' limited='true'/>"
    "<geom name='h' type='sphere' size='.05' mass='.2'/></body></body>"
    "<body name='hand' mocap='true' pos='0 1 1'/></worldbody>"
    "<actuator><motor name='motor' joint='hinge' ctrlrange='-2 3' ctrllimited='true'/></actuator>"
    "<sensor><framepos name='where' objtype='site' objname='s'/>"
    "<framequat objtype='site' objname='s'/><framexaxis objtype='body' objname='arm'/>"
    "<framelinvel objtype='site' objname='s'/><frameangvel objtype='body' objname='arm'/>"
    "<gyro site='s'/><framepos objtype='site' objname='s' reftype='body' refname='arm'/>"
    "<subtreecom body='top'/><subtreelinvel body='top'/><fromto geom1='g' geom2='h' cutoff='9'/>"
    "<normal geom1='g' geom2='h' cutoff='9'/><jointpos joint='hinge'/>"
    "<contact geom1='g' data='found force dist pos normal tangent' num='1'/></sensor></mujoco>";

enum { COPIES = 5, MOST = 64 };

static void start(const stage *s, orr_layer robot)
{
    const double velocity[7] = {0.3, -0.2, 0.5, 0.7, -0.4, 0.2, 1.0};
    for (int copy = 0; copy < COPIES; copy++) {
        double ctrl = 0.2 * copy;
        assert_ok(orr_world_set_robot(s->world, copy, robot, ORR_ROBOT_QVEL, velocity, &error));
        assert_ok(orr_world_set_robot(s->world, copy, robot, ORR_ROBOT_CTRL, &ctrl, &error));
    }
}

static int size_of(const stage *s, orr_layer robot, orr_robot_quantity quantity)
{
    orr_robot_info info;
    assert_ok(orr_scene_robot_info(s->scene, robot, &info, &error));
    const int sizes[] = {[ORR_ROBOT_TIME] = 1,
                         [ORR_ROBOT_QPOS] = info.qpos_count,
                         [ORR_ROBOT_QVEL] = info.qvel_count,
                         [ORR_ROBOT_ACT] = info.act_count,
                         [ORR_ROBOT_CTRL] = info.ctrl_count,
                         [ORR_ROBOT_FORCE] = 6 * info.body_count,
                         [ORR_ROBOT_EQUALITY] = info.equality_count,
                         [ORR_ROBOT_JOINT_FORCE] = info.qvel_count,
                         [ORR_ROBOT_MOCAP_POSITION] = 3 * info.mocap_count,
                         [ORR_ROBOT_MOCAP_ROTATION] = 4 * info.mocap_count,
                         [ORR_ROBOT_ACCELERATION] = info.qvel_count,
                         [ORR_ROBOT_BODY_POSITION] = 3 * info.body_count,
                         [ORR_ROBOT_BODY_ROTATION] = 4 * info.body_count,
                         [ORR_ROBOT_CONTACT_FORCE] = 6 * info.body_count,
                         [ORR_ROBOT_ACTUATOR_FORCE] = info.output_count,
                         [ORR_ROBOT_SENSOR] = info.sensor_number_count};
    return sizes[quantity];
}

// Every quantity of a robot among others, turned about the vertical, is that of the same robot alone.
static void numbers_of_all_copies_are_in_the_frame_of_the_layer(void **state)
{
    (void)state;
    stage alone = stage_of(COPIES), among = stage_of(COPIES);
    orr_layer one = add(&alone, "sensed.xml", sensed_model, 0.0f, 0.0f, 0.0f), other;
    add(&among, "ball.xml", ball_model, 9.0f, 0.0f, 0.0f);
    const orr_transform turned = {.position = {3.0f, -2.0f, 0.5f}, .rotation = {0.6f, 0.0f, 0.0f, 0.8f}};
    assert_ok(orr_scene_add_file(among.scene, written("sensed.xml", sensed_model), &turned, &other, &error));
    add(&among, "ball.xml", ball_model, -9.0f, 0.0f, 0.0f);
    start(&alone, one);
    start(&among, other);
    assert_ok(orr_world_step(alone.world, 20, &error));
    assert_ok(orr_world_step(among.world, 20, &error));
    for (int quantity = ORR_ROBOT_TIME; quantity <= ORR_ROBOT_SENSOR; quantity++) {
        orr_robot_quantity what = (orr_robot_quantity)quantity;
        const int size = size_of(&alone, one, what);
        double a[COPIES * MOST], b[COPIES * MOST], single[MOST];
        float f[COPIES * MOST];
        assert_true(size <= MOST);
        assert_ok(orr_world_get_robots(alone.world, one, what, NULL, ORR_NUMBER_F64, a, &error));
        assert_ok(orr_world_get_robots(among.world, other, what, NULL, ORR_NUMBER_F64, b, &error));
        assert_ok(orr_world_get_robots(among.world, other, what, NULL, ORR_NUMBER_F32, f, &error));
        for (int i = 0; i < COPIES * size; i++) {
            if (fabs(a[i] - b[i]) > 2e-4 * (1.0 + fabs(a[i])) || (double)f[i] != (double)(float)b[i]) {
                fail_msg("quantity %d, number %d: %g alone, %g among others, %g as float", quantity, i, a[i],
                         b[i], (double)f[i]);
            }
        }
        for (int copy = 0; copy < COPIES && size > 0; copy++) {
            assert_ok(orr_world_get_robot(among.world, copy, other, what, single, &error));
            assert_memory_equal(single, b + copy * size, (size_t)size * sizeof *single);
        }
    }
    stage_close(&alone);
    stage_close(&among);
}

static void numbers_are_set_in_the_chosen_copies_alone(void **state)
{
    (void)state;
    const uint8_t chosen[COPIES] = {1, 0, 1, 0, 0};
    for (int others = 0; others < 2; others++) {
        stage s = stage_of(COPIES);
        orr_layer robot = add(&s, "sensed.xml", sensed_model, 1.0f, 2.0f, 0.0f);
        if (others) {
            add(&s, "ball.xml", ball_model, 9.0f, 0.0f, 0.0f);
        }
        double before[COPIES * 8], after[COPIES * 8], set[COPIES * 8];
        float halves[COPIES];
        assert_ok(orr_world_get_robots(s.world, robot, ORR_ROBOT_QPOS, NULL, ORR_NUMBER_F64, before, &error));
        for (int i = 0; i < COPIES * 8; i++) {
            set[i] = i % 8 < 3 || i % 8 == 7 ? 0.01 * i : before[i];
            after[i] = -7.0;
        }
        assert_ok(orr_world_set_robots(s.world, robot, ORR_ROBOT_QPOS, chosen, ORR_NUMBER_F64, set, &error));
        assert_ok(
            orr_world_get_robots(s.world, robot, ORR_ROBOT_QPOS, chosen, ORR_NUMBER_F64, after, &error));
        for (int i = 0; i < COPIES * 8; i++) {
            assert_true(chosen[i / 8] ? fabs(after[i] - set[i]) < 1e-6 : after[i] == -7.0);
        }
        assert_ok(orr_world_get_robots(s.world, robot, ORR_ROBOT_QPOS, NULL, ORR_NUMBER_F64, after, &error));
        for (int i = 0; i < COPIES * 8; i++) {
            assert_true(fabs(after[i] - (chosen[i / 8] ? set : before)[i]) < 1e-6);
        }
        for (int i = 0; i < COPIES; i++) {
            halves[i] = 0.5f * (float)i;
        }
        assert_ok(orr_world_set_robots(s.world, robot, ORR_ROBOT_CTRL, NULL, ORR_NUMBER_F32, halves, &error));
        for (int i = 0; i < COPIES; i++) {
            double ctrl;
            assert_ok(orr_world_get_robot(s.world, i, robot, ORR_ROBOT_CTRL, &ctrl, &error));
            assert_true(ctrl == 0.5 * i);
        }
        assert_int_equal(
            orr_world_set_robots(s.world, robot, ORR_ROBOT_SENSOR, NULL, ORR_NUMBER_F64, set, NULL),
            ORR_ERROR_ARGUMENT);
        stage_close(&s);
    }
}

static void elements_of_a_robot_have_names_numbers_and_ranges(void **state)
{
    (void)state;
    stage s = stage_of(1);
    orr_layer robot = add(&s, "sensed.xml", sensed_model, 0.0f, 0.0f, 0.0f);
    orr_robot_element e;
    assert_ok(orr_scene_robot_element(s.scene, robot, ORR_ROBOT_ELEMENT_JOINT, 0, &e, &error));
    assert_string_equal(e.name, "free");
    assert_true(e.first == 0 && e.count == 7 && e.velocity_count == 6 && !e.limited);
    assert_ok(orr_scene_robot_element(s.scene, robot, ORR_ROBOT_ELEMENT_JOINT, 1, &e, &error));
    assert_string_equal(e.name, "hinge");
    assert_true(e.first == 7 && e.count == 1 && e.first_velocity == 6 && e.velocity_count == 1 && e.limited);
    assert_true(fabs(e.low + 0.52359877559829882) < 1e-12 && fabs(e.high - 1.0471975511965976) < 1e-12);
    assert_ok(orr_scene_robot_element(s.scene, robot, ORR_ROBOT_ELEMENT_ACTUATOR, 0, &e, &error));
    assert_string_equal(e.name, "motor");
    assert_true(e.first == 0 && e.count == 1 && e.limited && e.low == -2.0 && e.high == 3.0);
    assert_true(e.first_output == 0 && e.output_count == 1);
    assert_ok(orr_scene_robot_element(s.scene, robot, ORR_ROBOT_ELEMENT_SENSOR, 1, &e, &error));
    assert_true(e.name[0] == '\0' && e.first == 3 && e.count == 4);
    assert_int_equal(orr_scene_robot_element(s.scene, robot, ORR_ROBOT_ELEMENT_JOINT, 2, &e, NULL),
                     ORR_ERROR_ARGUMENT);
    stage_close(&s);
}

static void keep_line(void *user, orr_log_level level, int code, const char *line)
{
    (void)level;
    if (code == ORR_CODE_FEATURE_ABSENT || code == ORR_CODE_IGNORED) {
        snprintf(user, 256, "%s", line);
    }
}

// MJCF decides by its file alone whether nodes move a soft body. Its elements touch geoms of other layers; of
// another such body the log says that it passes through.
static void a_soft_body_of_nodes_touches_other_robots(void **state)
{
    (void)state;
    char line[256] = "";
    const orr_engine_desc desc = {.threads = 1, .device = ORR_DEVICE_CPU, .log = keep_line, .log_user = line};
    orr_engine *own;
    stage s;
    assert_ok(orr_engine_create(&desc, &own, &error));
    assert_ok(orr_scene_create(own, &s.scene, &error));
    assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
    static const char jelly[] =
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.15'>"
        "<flexcomp name='jelly' dim='3' type='grid' count='2 2 2' spacing='0.3 0.3 0.3' dof='trilinear' "
        "mass='4'><contact selfcollide='none'/><elasticity young='2e4' damping='0.02'/></flexcomp></body>"
        "</worldbody></mujoco>";
    add(&s, "jelly.xml", jelly, 0.0f, 0.0f, 0.0f);
    assert_ok(orr_world_advance(s.world, 0.01, &error));
    const orr_layer ball = add(&s, "ball.xml", ball_model, 0.01f, 0.02f, 0.0f);
    assert_ok(orr_world_advance(s.world, 0.4, &error));
    assert_string_equal(line, "");
    // the ball of radius 0.1 m has fallen from 0.5 m onto the jelly of 0.3 m, through which it would be at
    // 0.1 m. It presses it by some centimetres: 20 N on 2e4 Pa times its width of 0.3 m is 3 mm, and it fell
    // 0.1 m
    double at[3];
    body_at(&s, 0, ball, 1, at);
    assert_true(at[2] > 0.3 && at[2] < 0.45);
    add(&s, "jelly.xml", jelly, 2.0f, 0.0f, 0.0f);
    assert_ok(orr_world_advance(s.world, 0.01, &error));
    assert_non_null(strstr(line, "jelly.xml: a soft body moved by nodes does not touch height fields"));
    stage_close(&s);
    orr_engine_destroy(own);
}

static void of_two_robots_of_one_name_the_first_carries(void **state)
{
    (void)state;
    char line[256] = "";
    const orr_engine_desc desc = {.threads = 1, .device = ORR_DEVICE_CPU, .log = keep_line, .log_user = line};
    orr_engine *own;
    stage s;
    written("ball.xml", ball_model);
    written("hat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    const char *path =
        written("names.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"hat.obj\", \"bind\": {\"robot\": "
                              "\"b\", \"body\": \"ball\"}}, {\"file\": \"ball.xml\", \"name\": \"b\"}, "
                              "{\"file\": \"ball.xml\", \"name\": \"b\", \"position\": [3, 0, 0]}]}");
    assert_ok(orr_engine_create(&desc, &own, &error));
    assert_ok(orr_scene_load(own, path, &s.scene, &error));
    assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
    assert_non_null(strstr(line, "layers[0].bind.robot: 2 robots are called \"b\""));
    assert_int_equal(s.scene->layers[0].bound_to.slot, orr_scene_layer(s.scene, 1).slot);
    stage_close(&s);
    orr_engine_destroy(own);
}

static void count_option_lines(void *user, orr_log_level level, int code, const char *line)
{
    (void)level;
    (void)code;
    *(int *)user +=
        strstr(line, "moves with the options of ball.xml, which differ in timestep, cone; the time "
                     "step is 0.001 s") != NULL;
}

// Not when other layers come and go, but when the robot with the options has gone.
static void options_that_differ_are_told_once(void **state)
{
    (void)state;
    int lines = 0;
    const orr_engine_desc desc = {
        .threads = 1, .device = ORR_DEVICE_CPU, .log = count_option_lines, .log_user = &lines};
    static const char other[] =
        "<mujoco><option timestep='0.001' cone='elliptic'/><worldbody><body pos='2 0 1'><freejoint/>"
        "<geom size='0.1'/></body></worldbody></mujoco>";
    orr_engine *own;
    stage s;
    assert_ok(orr_engine_create(&desc, &own, &error));
    assert_ok(orr_scene_create(own, &s.scene, &error));
    assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
    const orr_layer ball = add(&s, "ball.xml", ball_model, 0.0f, 0.0f, 0.0f);
    add(&s, "other.xml", other, 0.0f, 0.0f, 0.0f);
    assert_ok(orr_world_step(s.world, 1, &error));
    assert_int_equal(lines, 1);
    const orr_layer last = add(&s, "ball.xml", ball_model, 1.0f, 0.0f, 0.0f);
    assert_ok(orr_world_step(s.world, 1, &error));
    assert_ok(orr_scene_remove(s.scene, last, &error));
    assert_ok(orr_world_step(s.world, 1, &error));
    assert_int_equal(lines, 1);
    add(&s, "ball.xml", ball_model, 1.0f, 0.0f, 0.0f);
    assert_ok(orr_scene_remove(s.scene, ball, &error));
    assert_ok(orr_world_step(s.world, 1, &error));
    assert_int_equal(lines, 1); // the other one is the first now
    stage_close(&s);
    orr_engine_destroy(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_rests_on_the_floor_of_one_robot_and_the_table_of_another),
        cmocka_unit_test(one_robot_pushes_another),
        cmocka_unit_test(two_robots_are_those_of_one_file),
        cmocka_unit_test(what_stays_keeps_its_state_when_robots_come_and_go),
        cmocka_unit_test(controls_act_with_the_delay_of_each_robot),
        cmocka_unit_test(states_are_in_the_frame_of_their_layer),
        cmocka_unit_test(a_layer_that_is_moved_takes_its_robot_along),
        cmocka_unit_test(robots_of_other_scales_do_not_touch),
        cmocka_unit_test(a_reset_concerns_one_robot_unless_the_copy_has_diverged),
        cmocka_unit_test(copies_are_stepped_reset_and_let_go_by_themselves),
        cmocka_unit_test(a_robot_that_is_removed_for_now_touches_nothing),
        cmocka_unit_test(a_robot_of_many_controls_is_reset),
        cmocka_unit_test(numbers_of_all_copies_are_in_the_frame_of_the_layer),
        cmocka_unit_test(numbers_are_set_in_the_chosen_copies_alone),
        cmocka_unit_test(elements_of_a_robot_have_names_numbers_and_ranges),
        cmocka_unit_test(a_soft_body_of_nodes_touches_other_robots),
        cmocka_unit_test(of_two_robots_of_one_name_the_first_carries),
        cmocka_unit_test(options_that_differ_are_told_once),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
