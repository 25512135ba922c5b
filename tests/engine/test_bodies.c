// Meshes and clouds as bodies of the scene's physics.
#include "engine/loop/world/world_robots.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char ball_model[] = "<mujoco><worldbody><body name='ball' pos='0 0 0.5'><freejoint/>"
                                 "<geom type='sphere' size='0.1' mass='2'/></body></worldbody></mujoco>";

enum { BOXES_MAX = 5 };

// A mesh of boxes, each from corner to corner: 6 numbers.
static orr_layer add_boxes(orr_scene *scene, const char *name, const float (*boxes)[6], int count,
                           const orr_transform *at)
{
    static const uint32_t corners[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    float positions[24 * BOXES_MAX];
    uint32_t indices[36 * BOXES_MAX];
    for (int i = 0; i < 24 * count; i++) {
        positions[i] = boxes[i / 24][i % 3 + ((i % 24 / 3) >> (i % 3) & 1) * 3];
    }
    for (int i = 0; i < 36 * count; i++) {
        indices[i] = corners[i % 36] + 8 * (uint32_t)(i / 36);
    }
    const orr_mesh_desc mesh = {
        .vertex_count = 8 * count, .index_count = 36 * count, .positions = positions, .indices = indices};
    orr_layer layer;
    assert_ok(orr_scene_add_mesh(scene, name, &mesh, at, &layer, &error));
    return layer;
}

// A box with the lowest corner at 0, of these sides.
static orr_layer add_box(orr_scene *scene, const char *name, const float sides[3], const orr_transform *at)
{
    const float box[1][6] = {{0.0f, 0.0f, 0.0f, sides[0], sides[1], sides[2]}};
    return add_boxes(scene, name, box, 1, at);
}

static orr_layer add_ball(orr_scene *scene, float x, float y, float z)
{
    orr_layer layer;
    const orr_transform at = {.position = {x, y, z}};
    assert_ok(orr_scene_add_file(scene, written("ball.xml", ball_model), &at, &layer, &error));
    return layer;
}

static void where(const orr_world *world, orr_layer layer, orr_transform *at)
{
    int index = orr_scene_find(world->scene, layer);
    const orr_layer_data *data = &world->scene->layers[index];
    orr_layer_state state = orr_world_state(world, 0, data);
    assert_ok(orr_world_layer_transform(world, 0, data, &state.transform, at, &error));
}

static void a_mesh_box_rests_on_a_mesh_table_and_carries_a_robot(void **state)
{
    (void)state;
    orr_scene *scene;
    orr_world *world;
    assert_ok(orr_scene_create(engine, &scene, &error));
    orr_layer ball = add_ball(scene, 0.25f, 0.25f, 1.0f);
    const orr_transform table_at = {.position = {-0.5f, -0.5f, 0.0f}};
    // lengths of a body are those of its layer, here twice those of the mesh
    const orr_transform box_at = {.position = {0.0f, 0.0f, 0.6f}, .scale = 2.0f};
    orr_layer table = add_box(scene, "table", (float[]){1.5f, 1.5f, 0.5f}, &table_at);
    orr_layer box = add_box(scene, "box", (float[]){0.25f, 0.25f, 0.1f}, &box_at);
    assert_ok(orr_scene_set_physics(scene, table, &(orr_body_desc){.cell = 0.02}, &error));
    assert_ok(orr_scene_set_physics(scene, box, &(orr_body_desc){.mass = 3.0}, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_advance(world, 2.0, &error));
    orr_transform at, body;
    where(world, box, &at);
    assert_true(fabsf(at.position[2] - 0.5f) < 2e-3f && fabsf(at.position[0]) < 2e-3f);
    assert_true(fabsf(at.scale - 2.0f) < 1e-6f);
    assert_ok(orr_world_body_transform(world, 0, ball, 1, &body, &error));
    assert_true(fabsf(body.position[2] - 0.8f) < 3e-3f); // table, box and its own radius
    double q[7], v[6];
    assert_ok(orr_world_get_robot(world, 0, box, ORR_ROBOT_QPOS, q, &error));
    assert_ok(orr_world_get_robot(world, 0, box, ORR_ROBOT_QVEL, v, &error));
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(v[i]) < 1e-2);
    }
    const double aside[7] = {3.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    assert_ok(orr_world_set_robot(world, 0, box, ORR_ROBOT_QPOS, aside, &error));
    where(world, box, &at);
    assert_true(fabsf(at.position[0] - 3.0f) < 1e-5f && fabsf(at.position[2] - 0.6f) < 1e-5f);
    assert_ok(orr_world_advance(world, 2.0, &error));
    assert_ok(orr_world_body_transform(world, 0, ball, 1, &body, &error));
    assert_true(fabsf(body.position[2] - 0.6f) < 3e-3f); // the ball is on the table now
    assert_ok(orr_scene_set_physics(scene, table, NULL, &error));
    assert_ok(orr_world_advance(world, 1.0, &error));
    assert_ok(orr_world_body_transform(world, 0, ball, 1, &body, &error));
    assert_true(body.position[2] < -2.0f); // which is no body any more
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// A point of the scene is held, also of a layer that is turned, scaled and has moved.
static void a_body_is_lifted_by_a_corner(void **state)
{
    (void)state;
    orr_scene *scene;
    orr_world *world;
    orr_error why;
    assert_ok(orr_scene_create(engine, &scene, &error));
    orr_layer ball = add_ball(scene, 4.0f, 0.0f, 0.0f); // whose floor and axes the scene has
    const float quarter = 0.70710678f;
    const orr_transform at = {
        .position = {0.0f, 0.0f, 0.5f}, .rotation = {quarter, 0.0f, 0.0f, quarter}, .scale = 2.0f};
    orr_layer box = add_box(scene, "box", (float[]){0.2f, 0.1f, 0.1f}, &at); // 0.2 x 0.4 x 0.2 m
    orr_layer table = add_box(scene, "table", (float[]){0.5f, 0.5f, 0.1f},
                              &(orr_transform){.position = {-4.0f, 0.0f, 0.0f}});
    assert_ok(orr_scene_set_physics(scene, box, &(orr_body_desc){.mass = 3.0}, &error));
    assert_ok(orr_scene_set_physics(scene, table, &(orr_body_desc){.cell = 0.02}, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    const double turned[7] = {0.4, 0.2, 0.3, 0.8, 0.0, 0.6, 0.0};
    assert_ok(orr_world_set_robot(world, 0, box, ORR_ROBOT_QPOS, turned, &error));
    orr_transform body;
    float m[12], held[3];
    const float corner[3] = {0.2f, 0.0f, 0.0f};
    where(world, box, &body);
    assert_ok(orr_affine_from_transform(&body, m, &error));
    affine_apply_to_point(m, corner, held);
    const double end[3] = {(double)held[0], (double)held[1], (double)held[2]};
    const double to[3] = {0.5, -0.3, 2.0}, wild[3] = {0.0, (double)NAN, 0.0};
    assert_int_equal(orr_world_pull(world, box, to, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "box: nothing of it is held"));
    assert_int_equal(orr_world_grab(world, table, 1, end, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_grab(world, ball, 0, end, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_grab(world, ball, 1, wild, &why), ORR_ERROR_ARGUMENT);
    assert_ok(orr_world_grab(world, box, 1, end, &error));
    assert_ok(orr_world_pull(world, box, to, &error));
    assert_ok(orr_world_advance(world, 8.0, &error));
    where(world, box, &body);
    assert_ok(orr_affine_from_transform(&body, m, &error));
    affine_apply_to_point(m, corner, held);
    print_message("held at %.3f %.3f %.3f\n", (double)held[0], (double)held[1], (double)held[2]);
    assert_true(fabsf(held[0] - 0.5f) < 0.02f && fabsf(held[1] + 0.3f) < 0.02f);
    assert_true(held[2] < 2.0f && held[2] > 1.5f); // it hangs from a spring
    assert_ok(orr_world_release(world, box, &error));
    assert_ok(orr_world_advance(world, 2.0, &error));
    where(world, box, &body);
    assert_true(body.position[2] < 0.5f);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// Flat splats at z = 0, 2 m wide.
static orr_splats *floor_cloud(void)
{
    enum { SIDE = 100 };
    orr_splats *splats;
    assert_ok(orr_splats_create(SIDE * SIDE, 0, &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    for (int i = 0; i < SIDE * SIDE; i++) {
        view.position[3 * i] = 0.02f * (float)(i % SIDE - SIDE / 2);
        view.position[3 * i + 1] = 0.02f * (float)(i / SIDE - SIDE / 2);
        view.log_scale[3 * i] = view.log_scale[3 * i + 1] = logf(0.015f);
        view.log_scale[3 * i + 2] = logf(0.002f);
        view.opacity[i] = 3.0f;
    }
    return splats;
}

static void a_ball_rests_on_a_captured_floor(void **state)
{
    (void)state;
    const float cell = 0.05f;
    orr_scene *scene;
    orr_world *world;
    assert_ok(orr_scene_create(engine, &scene, &error));
    orr_splats *floor = floor_cloud();
    orr_layer ball = add_ball(scene, 0.3f, -0.2f, 0.5f), ground;
    assert_ok(orr_scene_add_splats(scene, "floor", floor, NULL, &ground, &error));
    orr_splats_destroy(floor);
    assert_ok(orr_scene_set_physics(scene, ground, &(orr_body_desc){.cell = (double)cell}, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_advance(world, 2.0, &error));
    orr_transform body;
    assert_ok(orr_world_body_transform(world, 0, ball, 1, &body, &error));
    print_message("the ball's centre is %.4f m above the floor\n", (double)body.position[2]);
    assert_true(fabsf(body.position[2] - 0.1f) < 0.5f * cell);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

static void bodies_alone_fall_against_the_scenes_up(void **state)
{
    (void)state;
    orr_scene *scene;
    orr_world *world;
    assert_ok(orr_scene_create(engine, &scene, &error));
    orr_layer box = add_box(scene, "box", (float[]){1.0f, 1.0f, 1.0f}, NULL);
    assert_ok(orr_scene_set_physics(scene, box, &(orr_body_desc){.mass = 1.0}, &error));
    assert_ok(orr_world_create(scene, 2, &world, &error));
    assert_ok(orr_world_advance(world, 0.5, &error));
    orr_transform at;
    where(world, box, &at);
    assert_true(fabsf(at.position[1] + 0.5f * 9.81f * 0.25f) < 0.02f); // meshes alone have y up
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// A box on a fixed one slides on where neither has friction, and stops where one has.
static void a_body_without_friction_slides(void **state)
{
    (void)state;
    for (int rough = 0; rough < 2; rough++) {
        orr_scene *scene;
        orr_world *world;
        double speed[6] = {1.0}; // along x [m/s]
        const orr_transform ground_at = {.position = {-2.0f, -0.2f, -2.0f}};
        assert_ok(orr_scene_create(engine, &scene, &error));
        orr_layer ground = add_box(scene, "ground", (float[]){6.0f, 0.2f, 4.0f}, &ground_at);
        orr_layer box = add_box(scene, "box", (float[]){0.2f, 0.1f, 0.2f}, NULL);
        const orr_body_desc fixed = {.shape = ORR_BODY_HULL, .friction = rough ? 0.5 : -1.0};
        assert_ok(orr_scene_set_physics(scene, ground, &fixed, &error));
        assert_ok(orr_scene_set_physics(scene, box, &(orr_body_desc){.mass = 1.0, .friction = -1.0}, &error));
        assert_ok(orr_world_create(scene, 1, &world, &error));
        assert_ok(orr_world_set_robot(world, 0, box, ORR_ROBOT_QVEL, speed, &error));
        assert_ok(orr_world_advance(world, 1.0, &error));
        assert_ok(orr_world_get_robot(world, 0, box, ORR_ROBOT_QVEL, speed, &error));
        print_message("after 1 s %.4f m/s\n", speed[0]);
        assert_true(rough ? fabs(speed[0]) < 1e-3 : speed[0] > 0.99);
        orr_world_destroy(world);
        orr_scene_destroy(scene);
    }
}

// The options of a scene are its robots': a body brings none.
static void a_body_does_not_change_the_time_step(void **state)
{
    (void)state;
    static const char slow[] =
        "<mujoco><option timestep='0.01'/><worldbody><body><freejoint/><geom size='0.1'/>"
        "</body></worldbody></mujoco>";
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
    orr_robot_info info;
    double time;
    assert_ok(orr_scene_create(engine, &scene, &error));
    orr_layer box = add_box(scene, "box", (float[]){1.0f, 1.0f, 1.0f}, NULL);
    assert_ok(orr_scene_set_physics(scene, box, &(orr_body_desc){.mass = 1.0}, &error));
    assert_ok(orr_scene_add_file(scene, written("slow.xml", slow), NULL, &robot, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_step(world, 1, &error));
    assert_ok(orr_scene_robot_info(scene, robot, &info, &error));
    assert_ok(orr_world_get_robot(world, 0, robot, ORR_ROBOT_TIME, &time, &error));
    assert_true(info.timestep == 0.01 && fabs(time - 0.01) < 1e-8);
    assert_ok(orr_scene_robot_info(scene, box, &info, &error));
    assert_true(info.timestep == 0.01);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// An arm with two fingers: x and z slides, and a slide for each finger, which close along x when the layer is
// not turned. It hangs from above the table, its hand 0.3 m high.
static const char gripper_model[] =
    "<mujoco><option timestep='0.002'/><default><geom type='box' friction='1 0.05 0.001' condim='4'/>"
    "<position kp='2000' kv='120'/></default><worldbody>"
    "<body name='arm' pos='0 0 0.3'><joint name='x' type='slide' axis='1 0 0'/>"
    "<joint name='z' type='slide' axis='0 0 1'/><geom size='0.06 0.02 0.01' mass='0.5'/>"
    "<body name='left' pos='-0.05 0 -0.05'><joint name='l' type='slide' axis='1 0 0'/>"
    "<geom size='0.005 0.02 0.04' mass='0.1'/></body>"
    "<body name='right' pos='0.05 0 -0.05'><joint name='r' type='slide' axis='-1 0 0'/>"
    "<geom size='0.005 0.02 0.04' mass='0.1'/></body></body></worldbody>"
    "<actuator><position joint='x'/><position joint='z'/><position joint='l' kp='400' kv='20'/>"
    "<position joint='r' kp='400' kv='20'/></actuator></mujoco>";

// Moves an arm's targets to (x, z, closed) within some seconds; the other keeps its own.
static void reach(orr_world *world, orr_layer arm, const double to[3], double seconds)
{
    enum { PARTS = 50 };
    double from[4];
    assert_ok(orr_world_get_robot(world, 0, arm, ORR_ROBOT_CTRL, from, &error));
    const double target[4] = {to[0], to[1], to[2], to[2]};
    for (int part = 1; part <= PARTS; part++) {
        double now[4];
        for (int k = 0; k < 4; k++) {
            now[k] = from[k] + (target[k] - from[k]) * part / PARTS;
        }
        assert_ok(orr_world_set_robot(world, 0, arm, ORR_ROBOT_CTRL, now, &error));
        assert_ok(orr_world_advance(world, seconds / PARTS, &error));
    }
}

// What is in a hand is removed: the arm keeps its state to the bit, and its fingers close.
static void remove_what_is_held(orr_scene *scene, orr_world *world, orr_layer arm, orr_layer box)
{
    enum { HAND = 2, FINGERS = 2 };
    double before[4], after[4];
    assert_ok(orr_world_get_robot(world, 0, arm, ORR_ROBOT_QPOS, before, &error));
    assert_ok(orr_scene_remove(scene, box, &error));
    assert_ok(orr_world_get_robot(world, 0, arm, ORR_ROBOT_QPOS, after, &error));
    assert_memory_equal(after, before, sizeof before);
    assert_ok(orr_world_advance(world, 1.0, &error));
    assert_ok(orr_world_get_robot(world, 0, arm, ORR_ROBOT_QPOS, after, &error));
    for (int k = 0; k < HAND; k++) {
        assert_true(fabs(after[k] - before[k]) < 2e-3); // the weight of the box is gone
    }
    for (int k = HAND; k < HAND + FINGERS; k++) {
        assert_true(fabs(before[k] - 0.015) < 2e-3 && fabs(after[k] - 0.025) < 1e-4); // as far as told
    }
}

// One arm lifts a box that is a mesh of the scene, another takes it from the sides that are free, and carries
// it away.
static void an_arm_hands_a_mesh_box_to_another(void **state)
{
    (void)state;
    orr_scene *scene;
    orr_world *world;
    orr_layer giver, taker;
    assert_ok(orr_scene_create(engine, &scene, &error));
    const char *path = written("gripper.xml", gripper_model);
    assert_ok(orr_scene_add_file(scene, path, NULL, &giver, &error));
    // its hand is turned upside down, and closes along y
    const orr_transform below = {.position = {0.0f, 0.5f, 0.5f},
                                 .rotation = {0, 0.70710678f, 0.70710678f, 0}};
    assert_ok(orr_scene_add_file(scene, path, &below, &taker, &error));
    const orr_transform table_at = {.position = {-0.2f, -0.2f, -0.1f}};
    const orr_transform box_at = {.position = {-0.03f, -0.03f, 0.001f}};
    orr_layer table = add_box(scene, "table", (float[]){0.4f, 0.4f, 0.1f}, &table_at);
    orr_layer box = add_box(scene, "box", (float[]){0.06f, 0.06f, 0.06f}, &box_at);
    assert_ok(orr_scene_set_physics(scene, table, &(orr_body_desc){.cell = 0.02}, &error));
    assert_ok(orr_scene_set_physics(scene, box, &(orr_body_desc){.mass = 0.2, .friction = 1.0}, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    // x, z, closed: of the taker -y and -z of the scene
    const double to_box[3] = {0.0, -0.19, 0.0}, grip[3] = {0.0, -0.19, 0.025}, lift[3] = {0.0, 0.2, 0.025},
                 let_go[3] = {0.0, 0.2, 0.0}, away[3] = {0.0, 0.4, 0.0}, under[3] = {-0.5, 0.0, 0.0},
                 around[3] = {-0.5, -0.14, 0.0}, hold[3] = {-0.5, -0.14, 0.025}, carry[3] = {0.0, 0.0, 0.025};
    orr_transform lifted, taken;
    reach(world, giver, to_box, 1.0);
    reach(world, giver, grip, 0.5);
    reach(world, giver, lift, 1.0);
    where(world, box, &lifted);
    assert_true(lifted.position[2] > 0.33f && fabsf(lifted.position[0] + 0.03f) < 5e-3f);
    reach(world, taker, under, 1.0);
    reach(world, taker, around, 0.5);
    reach(world, taker, hold, 0.5);
    reach(world, giver, let_go, 0.5);
    reach(world, giver, away, 0.5);
    reach(world, taker, carry, 1.0);
    reach(world, taker, carry, 0.5); // until it is there
    where(world, box, &taken);
    assert_true(fabsf(taken.position[1] - (0.5f - 0.03f)) < 0.02f); // with its hand
    assert_true(fabsf(lifted.position[2] - taken.position[2] - 0.14f) < 0.02f);
    remove_what_is_held(scene, world, taker, box);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// A tray is concave: the ball that falls into it lies on its floor, and in its hull on top.
static void a_concave_mesh_that_moves_has_its_hollow(void **state)
{
    (void)state;
    static const float tray[5][6] = {{0.0f, 0.0f, 0.0f, 0.8f, 0.8f, 0.05f},
                                     {0.0f, 0.0f, 0.0f, 0.05f, 0.8f, 0.3f},
                                     {0.75f, 0.0f, 0.0f, 0.8f, 0.8f, 0.3f},
                                     {0.0f, 0.0f, 0.0f, 0.8f, 0.05f, 0.3f},
                                     {0.0f, 0.75f, 0.0f, 0.8f, 0.8f, 0.3f}};
    static const struct {
        orr_body_desc desc;
        float height; // of the ball's centre over that of the tray's lower side
    } shapes[] = {{{.mass = 4.0, .shape = ORR_BODY_DECOMPOSE}, 0.15f},
                  {{.mass = 4.0, .shape = ORR_BODY_BOXES, .parts = 8}, 0.15f},
                  {{.mass = 4.0, .shape = ORR_BODY_HULL}, 0.4f}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        orr_scene *scene;
        orr_world *world;
        orr_transform at, body;
        assert_ok(orr_scene_create(engine, &scene, &error));
        const orr_transform ground_at = {.position = {-1.0f, -1.0f, -0.2f}};
        const orr_transform tray_at = {.position = {-0.4f, -0.4f, 0.02f}};
        orr_layer ball = add_ball(scene, 0.0f, 0.0f, 0.2f);
        orr_layer ground = add_box(scene, "ground", (float[]){2.0f, 2.0f, 0.2f}, &ground_at);
        orr_layer moving = add_boxes(scene, "tray", tray, 5, &tray_at);
        assert_ok(orr_scene_set_physics(scene, ground, &(orr_body_desc){.shape = ORR_BODY_HULL}, &error));
        assert_ok(orr_scene_set_physics(scene, moving, &shapes[i].desc, &error));
        assert_ok(orr_world_create(scene, 1, &world, &error));
        assert_ok(orr_world_advance(world, 1.0, &error));
        where(world, moving, &at);
        assert_ok(orr_world_body_transform(world, 0, ball, 1, &body, &error));
        print_message("tray at %.4f, ball at %.4f m\n", (double)at.position[2], (double)body.position[2]);
        assert_true(fabsf(at.position[2]) < 5e-3f);
        assert_true(fabsf(body.position[2] - at.position[2] - shapes[i].height) < 2e-3f);
        orr_world_destroy(world);
        orr_scene_destroy(scene);
    }
}

enum { DISCS = 4000 };

// A sphere of discs around a point, from splat `first` on.
static void captured_ball(const orr_splats_view *view, int first, float radius, const float centre[3])
{
    for (int i = 0; i < DISCS; i++) { // a spiral, each disc's shortest axis along the radius
        const int at = first + i;
        float z = 1.0f - (2.0f * (float)i + 1.0f) / DISCS, angle = 2.39996323f * (float)i;
        float r = sqrtf(1.0f - z * z), n[3] = {r * cosf(angle), r * sinf(angle), z};
        float w = sqrtf(fmaxf(0.0f, (1.0f + n[2]) / 2.0f)), s = w > 1e-3f ? 0.5f / w : 0.0f;
        for (int k = 0; k < 3; k++) {
            view->position[3 * at + k] = centre[k] + radius * n[k];
            view->log_scale[3 * at + k] = logf(k < 2 ? 0.01f : 0.001f);
        }
        const float turn[4] = {w, -n[1] * s, n[0] * s, s > 0.0f ? 0.0f : 1.0f};
        memcpy(view->rotation + 4 * (ptrdiff_t)at, turn, sizeof turn);
        view->opacity[at] = 4.0f;
    }
}

static void a_captured_ball_falls_and_rests(void **state)
{
    (void)state;
    const float radius = 0.2f;
    orr_scene *scene;
    orr_world *world;
    orr_splats *cloud;
    orr_layer ball;
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_splats_create(DISCS, 0, &cloud, &error));
    const orr_splats_view view = orr_splats_data(cloud);
    captured_ball(&view, 0, radius, (float[]){0.0f, 0.0f, 0.0f});
    const orr_transform ground_at = {.position = {-1.0f, 0.0f, -1.0f}}; // up is -y, as of clouds alone
    const orr_transform ball_at = {.position = {0.0f, -0.3f, 0.0f}};
    orr_layer ground = add_box(scene, "ground", (float[]){2.0f, 0.2f, 2.0f}, &ground_at);
    assert_ok(orr_scene_add_splats(scene, "ball", cloud, &ball_at, &ball, &error));
    assert_ok(orr_scene_set_physics(scene, ground, &(orr_body_desc){.shape = ORR_BODY_HULL}, &error));
    assert_ok(orr_scene_set_physics(scene, ball, &(orr_body_desc){.mass = 1.0, .cell = 0.01}, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_advance(world, 1.0, &error));
    orr_transform at;
    where(world, ball, &at);
    print_message("the captured ball's centre is %.4f m above the ground\n", (double)-at.position[1]);
    assert_true(fabsf(-at.position[1] - radius) < 0.01f);
    orr_splats_destroy(cloud);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// One capture of a floor (up is -y) and a ball above it, cut into two layers: the ball falls on the floor.
static void a_ball_that_is_cut_out_falls_on_its_room(void **state)
{
    (void)state;
    const float radius = 0.2f, middle[3] = {0.3f, -0.5f, -0.2f};
    orr_scene *scene;
    orr_world *world;
    orr_splats *floor = floor_cloud(), *cloud;
    const orr_splats_view flat = orr_splats_data(floor);
    const int ground = (int)flat.count;
    assert_ok(orr_splats_create(ground + DISCS, 0, &cloud, &error));
    const orr_splats_view view = orr_splats_data(cloud);
    for (int i = 0; i < ground; i++) {
        static const int axis[3] = {0, 2, 1};
        for (int k = 0; k < 3; k++) {
            view.position[3 * i + axis[k]] = flat.position[3 * i + k];
            view.log_scale[3 * i + axis[k]] = flat.log_scale[3 * i + k];
        }
        view.opacity[i] = flat.opacity[i];
    }
    captured_ball(&view, ground, radius, middle);
    assert_ok(orr_splats_save(cloud, scratch_path("capture.ply"), &error));
    orr_splats_destroy(floor);
    orr_splats_destroy(cloud);
    static const char text[] =
        "{\"orrery\": 1, \"layers\": [{\"file\": \"capture.ply\", \"name\": \"room\", \"region\": "
        "{\"centre\": "
        "[0.3, -0.5, -0.2], \"size\": [0.6, 0.6, 0.6], \"keep\": \"outside\"}, \"physics\": {\"static\": "
        "true, "
        "\"cell\": 0.02}}, {\"file\": \"capture.ply\", \"name\": \"ball\", \"region\": {\"centre\": [0.3, "
        "-0.5, "
        "-0.2], \"size\": [0.6, 0.6, 0.6]}, \"physics\": {\"mass\": 1, \"cell\": 0.01}}]}";
    const char *path = written("capture.json", text);
    for (int again = 0; again < 2; again++) { // from the colliders that the first time kept
        assert_ok(orr_scene_load(engine, path, &scene, &error));
        assert_int_equal(access(scratch_path("capture.ply.room.0.02.collider"), F_OK), 0);
        assert_int_equal(access(scratch_path("capture.ply.ball.0.01.collider"), F_OK), 0);
        assert_ok(orr_world_create(scene, 1, &world, &error));
        assert_ok(orr_world_advance(world, 1.5, &error));
        orr_transform at;
        where(world, orr_scene_layer(scene, 1), &at);
        float m[12];
        assert_ok(orr_affine_from_transform(&at, m, &error));
        const float height = -(m[4] * middle[0] + m[5] * middle[1] + m[6] * middle[2] + m[7]);
        print_message("the cut-out ball's centre is %.4f m above the floor\n", (double)height);
        assert_true(fabsf(height - radius) < 0.01f); // half a cell of the floor
        orr_world_destroy(world);
        orr_scene_destroy(scene);
    }
}

static void what_cannot_be_a_body_says_so(void **state)
{
    (void)state;
    orr_scene *scene;
    assert_ok(orr_scene_create(engine, &scene, &error));
    orr_layer ball = add_ball(scene, 0.0f, 0.0f, 0.0f);
    orr_layer box = add_box(scene, "box", (float[]){1.0f, 1.0f, 1.0f}, NULL);
    orr_layer sheet = add_box(scene, "sheet", (float[]){1.0f, 1.0f, 0.0f}, NULL);
    orr_layer speck = add_box(scene, "speck", (float[]){1e-6f, 1e-6f, 1e-6f}, NULL);
    const float corners[9] = {0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f};
    const orr_mesh_desc triangle = {
        .vertex_count = 3, .index_count = 3, .positions = corners, .indices = (uint32_t[]){0, 1, 2}};
    orr_layer sail;
    assert_ok(orr_scene_add_mesh(scene, "sail", &triangle, NULL, &sail, &error));
    const struct {
        orr_layer layer;
        orr_body_desc desc;
        const char *text;
    } wrong[] = {
        {ball, {.mass = 1.0}, "expected a mesh, cloud or field"},
        {box, {.mass = -1.0}, "mass -1"},
        {box, {.mass = (double)NAN}, "mass"},
        {box, {.mass = 1.0, .friction = (double)NAN}, "friction"},
        {box, {.cell = 1e-7}, "cell"},
        {box, {.mass = 1e-30}, "box: mass and inertia of a body that moves: expected more than"},
        {box, {.mass = 1.0, .shape = ORR_BODY_GRID}, "does not move: expected a fixed body"},
        {box, {.mass = 1.0, .parts = 4}, "parts 4: expected the shape decompose or boxes"},
        {box, {.parts = 4}, "parts 4: expected the shape decompose or boxes"},
        {speck, {.mass = 1.0}, "speck: size 1e-06 x 1e-06 x 1e-06 m, volume 1e-18 m^3: expected more"},
        {sail, {.mass = 1.0}, "sail: expected vertices whose convex hull has a volume"},
        {box, {.shape = (orr_body_shape)9}, "shape 9"},
        {box, {.mass = 1.0, .shape = ORR_BODY_BOXES, .parts = 65}, "parts 65"},
        {sheet, {.mass = 1.0}, "sheet: expected vertices whose convex hull has a volume"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        orr_error why = {0};
        assert_int_not_equal(orr_scene_set_physics(scene, wrong[i].layer, &wrong[i].desc, &why), ORR_OK);
        if (!strstr(why.message, wrong[i].text)) {
            fail_msg("%zu: %s (expected '%s')", i, why.message, wrong[i].text);
        }
    }
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_box_rests_on_a_mesh_table_and_carries_a_robot),
        cmocka_unit_test(a_body_is_lifted_by_a_corner),
        cmocka_unit_test(a_ball_rests_on_a_captured_floor),
        cmocka_unit_test(bodies_alone_fall_against_the_scenes_up),
        cmocka_unit_test(a_body_without_friction_slides),
        cmocka_unit_test(a_body_does_not_change_the_time_step),
        cmocka_unit_test(an_arm_hands_a_mesh_box_to_another),
        cmocka_unit_test(a_concave_mesh_that_moves_has_its_hollow),
        cmocka_unit_test(a_captured_ball_falls_and_rests),
        cmocka_unit_test(a_ball_that_is_cut_out_falls_on_its_room),
        cmocka_unit_test(what_cannot_be_a_body_says_so),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
