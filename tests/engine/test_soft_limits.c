// Soft bodies in scenes at their limits: fast things, heavy and light ones, and numbers that are not finite.
#include "engine/loop/world/soft/soft_sleep.h"
#include "engine/loop/world/soft/world_soft.h"
#include "tests/support/engine.h"
#include "tests/support/scenes/soft_meshes.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    orr_scene *scene;
    orr_world *world;
    orr_layer robot, soft;
    orr_soft_info info;
    double *position; // of the soft body's vertices
} fixture;

// A robot of one body above the soft layer: a sheet, or a block where `half` is given.
static void open_with(fixture *f, const char *bodies, const float half[3], const orr_transform *at,
                      const orr_body_desc *body, int worlds)
{
    char model[900];
    snprintf(model, sizeof model, "<mujoco><option timestep='0.004'/><worldbody>%s</worldbody></mujoco>",
             bodies);
    assert_ok(orr_scene_create(engine, &f->scene, &error));
    assert_ok(orr_scene_add_file(f->scene, written("limits.xml", model), NULL, &f->robot, &error));
    f->soft = half ? add_block(f->scene, half, at, 12) : add_sheet(f->scene, 11, 0.05f, at);
    assert_ok(orr_scene_set_physics(f->scene, f->soft, body, &error));
    assert_ok(orr_scene_soft_info(f->scene, f->soft, &f->info, &error));
    assert_ok(orr_world_create(f->scene, worlds, &f->world, &error));
    f->position = calloc(3 * (size_t)f->info.vertex_count, sizeof *f->position);
    assert_non_null(f->position);
}

static void close(fixture *f)
{
    free(f->position);
    orr_world_destroy(f->world);
    orr_scene_destroy(f->scene);
}

static double lowest_of(fixture *f)
{
    double lowest = INFINITY;
    assert_ok(orr_world_get_soft(f->world, 0, f->soft, f->position, NULL, &error));
    for (int i = 0; i < f->info.vertex_count; i++) {
        lowest = fmin(lowest, f->position[3 * i + 2]);
    }
    return lowest;
}

// Small and thin things at 10 m/s against cloth of 2 mm that is held at its corners, and against a block the
// lower side of which is held: they are never below all of it. What has bounced off to a side is left alone.
static void nothing_passes_through_soft_bodies_at_ten_metres_per_second(void **state)
{
    (void)state;
    static const char *const things[] = {"<geom type='sphere' size='0.02' mass='0.05'/>",
                                         "<geom type='box' size='0.03 0.03 0.03' mass='0.2'/>",
                                         "<geom type='box' size='0.05 0.05 0.005' mass='0.1'/>",
                                         "<geom type='capsule' size='0.01 0.04' mass='0.05'/>"};
    static const float half[3] = {0.2f, 0.2f, 0.1f};
    for (int n = 0; n < 8; n++) {
        const bool cloth = n < 4;
        fixture f;
        char text[200];
        double q[7], down[6] = {0.0, 0.0, -10.0}, deepest = INFINITY;
        orr_body_desc body = {.soft = true, .pins = 4, .young = 1e5, .resolution = 8};
        for (int k = 0; k < 4; k++) {
            const float reach = cloth ? 0.25f : 0.2f;
            body.pin[k][0] = k & 1 ? reach : -reach, body.pin[k][1] = k & 2 ? reach : -reach;
            body.pin[k][2] = cloth ? 0.0f : -0.1f, body.pin[k][3] = cloth ? 0.01f : 0.1f;
        }
        if (cloth) {
            body.cloth = 0.002, body.young = 0.0, body.resolution = 0;
        }
        snprintf(text, sizeof text, "<body pos='0.013 0.021 0.25'><freejoint/>%s</body>", things[n % 4]);
        open_with(&f, text, cloth ? NULL : half, NULL, &body, 1);
        assert_ok(orr_world_set_robot(f.world, 0, f.robot, ORR_ROBOT_QVEL, down, &error));
        for (int step = 0; step < 75; step++) {
            assert_ok(orr_world_step(f.world, 1, &error));
            assert_ok(orr_world_get_robot(f.world, 0, f.robot, ORR_ROBOT_QPOS, q, &error));
            if (fabs(q[0]) < 0.18 && fabs(q[1]) < 0.18) {
                deepest = fmin(deepest, q[2] - lowest_of(&f));
            }
        }
        print_message("%s, %s: %.4f m above the lowest vertex\n", cloth ? "cloth" : "block", things[n % 4],
                      deepest);
        assert_true(deepest > 0.0);
        close(&f);
    }
}

// At 10 m/s, 4 cm in a step: cloth against boxes of 4 and 0.2 cm, a small block against boxes of 4 and 1 cm.
// It goes up to 8 mm deep; what is deeper than half a box leaves it on the other side.
static void fast_soft_bodies_stay_above_thin_boxes(void **state)
{
    (void)state;
    static const float half[3] = {0.03f, 0.03f, 0.03f};
    for (int n = 0; n < 4; n++) {
        fixture f;
        char text[200];
        const double thickness = n & 1 ? 0.02 : n < 2 ? 0.001 : 0.005;
        const orr_transform at = {.position = {0.003f, 0.002f, 0.2f}};
        const orr_body_desc cloth = {.soft = true, .cloth = 0.002}, block = {.soft = true, .resolution = 4};
        double lowest = INFINITY;
        snprintf(text, sizeof text, "<geom type='box' size='1 1 %g' pos='0 0 %g'/>", thickness, -thickness);
        open_with(&f, text, n < 2 ? NULL : half, &at, n < 2 ? &cloth : &block, 1);
        double *velocity = calloc(3 * (size_t)f.info.vertex_count, sizeof *velocity);
        assert_non_null(velocity);
        for (int i = 0; i < f.info.vertex_count; i++) {
            velocity[3 * i + 2] = -10.0;
        }
        assert_ok(orr_world_set_soft(f.world, 0, f.soft, NULL, velocity, &error));
        for (int step = 0; step < 40; step++) {
            assert_ok(orr_world_step(f.world, 1, &error));
            lowest = fmin(lowest, lowest_of(&f));
        }
        print_message("%s on a box of %g m: lowest vertex at %.4f m\n", n < 2 ? "cloth" : "block",
                      2.0 * thickness, lowest);
        assert_true(lowest > -0.02 && lowest < 0.01 && lowest_of(&f) > -5e-3);
        free(velocity);
        close(&f);
    }
}

// Things of a hundred-thousandth to a thousand times the mass of a block fall on it: light ones come to rest
// on it, the heavy one presses it flat, with 12 times its Young's modulus, and nothing flies off.
static void light_and_heavy_things_rest_on_a_block(void **state)
{
    (void)state;
    static const float half[3] = {0.2f, 0.2f, 0.1f};
    static const struct {
        const char *geom;
        double mass, rest; // kg; m: where it is at rest
    } things[] = {{"type='box' size='0.15 0.15 0.05'", 3.2e-2, 0.25},
                  {"type='box' size='0.15 0.15 0.05'", 3.2e-3, 0.25},
                  {"type='box' size='0.15 0.15 0.05'", 3.2e-4, 0.25},
                  {"type='box' size='0.15 0.15 0.05'", 3.2e-5, 0.25},
                  {"type='capsule' size='0.03 0.1' euler='0 90 0'", 3.2e-3, 0.23},
                  {"type='sphere' size='0.05'", 3.2e-3, 0.25},
                  {"type='box' size='0.15 0.15 0.05'", 3.2e3, 0.0}};
    for (size_t n = 0; n < sizeof things / sizeof things[0]; n++) {
        fixture f;
        char text[300];
        const orr_transform at = {.position = {0.0f, 0.0f, 0.105f}};
        const orr_body_desc body = {
            .soft = true, .resolution = 6, .density = 100.0, .young = 3e4, .poisson = 0.3, .damping = 0.02};
        double q[7], v[6], mass = 0.0, fastest = 0.0, highest = -INFINITY;
        snprintf(text, sizeof text,
                 "<geom type='plane' size='0 0 1'/><body pos='0.01 0.02 0.3'><freejoint/>"
                 "<geom %s mass='%g'/></body>",
                 things[n].geom, things[n].mass);
        open_with(&f, text, half, &at, &body, 1);
        for (int i = 0; i < f.info.vertex_count; i++) {
            mass += f.info.mass[i];
        }
        assert_true(mass > 2.8 && mass < 3.4);
        for (int step = 0; step < 500; step++) {
            assert_ok(orr_world_step(f.world, 1, &error));
            assert_ok(orr_world_get_robot(f.world, 0, f.robot, ORR_ROBOT_QVEL, v, &error));
            assert_ok(orr_world_get_robot(f.world, 0, f.robot, ORR_ROBOT_QPOS, q, &error));
            highest = fmax(highest, q[2]);
            for (int k = 0; k < 3 && step >= 400; k++) {
                fastest = fmax(fastest, fabs(v[k]));
            }
        }
        const double lowest = lowest_of(&f);
        print_message("%s, %g kg: at %.4f m, at most %.4f; %.4f m/s; the block down to %.4f m\n",
                      things[n].geom, things[n].mass, q[2], highest, fastest, lowest);
        assert_true(highest < 0.301 && fastest < 0.05);
        if (things[n].rest > 0.0) {
            assert_true(fabs(q[2] - things[n].rest) < 5e-3 && lowest > -2e-3);
        } else {
            assert_true(q[2] > 0.03 && q[2] < 0.2 && lowest > -0.05);
        }
        close(&f);
    }
}

// Balls of a thousandth and a tenth of a block's mass that roll over it, over 8 of its triangles. Nothing
// resists the light one but the lag of strain; forces at points that were nearest at a step's start would
// push it on.
static void balls_roll_on(void **state)
{
    (void)state;
    static const float half[3] = {0.3f, 0.2f, 0.1f};
    static const double slowest[2] = {0.195, 0.18};
    for (int n = 0; n < 2; n++) {
        fixture f;
        char text[300];
        const orr_transform at = {.position = {0.0f, 0.0f, 0.1f}};
        const orr_body_desc body = {
            .soft = true, .resolution = 9, .density = 100.0, .young = 1e5, .poisson = 0.3, .damping = 0.02};
        double v[6] = {0.2, 0.0, 0.0, 0.0, 4.0, 0.0};
        snprintf(text, sizeof text,
                 "<geom type='plane' size='0 0 1'/><body pos='-0.15 0.017 0.25'><freejoint/>"
                 "<geom type='sphere' size='0.05' mass='%g'/></body>",
                 n == 0 ? 4.8e-3 : 0.48);
        open_with(&f, text, half, &at, &body, 1);
        assert_ok(orr_world_set_robot(f.world, 0, f.robot, ORR_ROBOT_QVEL, v, &error));
        for (int step = 0; step < 250; step++) {
            assert_ok(orr_world_step(f.world, 1, &error));
        }
        assert_ok(orr_world_get_robot(f.world, 0, f.robot, ORR_ROBOT_QVEL, v, &error));
        print_message("a ball of %g kg rolls at %.4f m/s after 1 s, aside at %.4f m/s\n",
                      n == 0 ? 4.8e-3 : 0.48, v[0], v[1]);
        assert_true(v[0] > slowest[n] && v[0] < 0.205 && fabs(v[1]) < 0.02);
        close(&f);
    }
}

// Links press a block that lies on the floor by the forces of their joints: on a slide, with 20 N that would
// give them up to 10 g, and at the end of an arm. They come to rest as deep as the force says, 2 to 6 mm
// below the block's upper side, whatever the link's own mass.
static void links_press_with_the_force_of_their_joints(void **state)
{
    (void)state;
    static const float half[3] = {0.2f, 0.2f, 0.1f};
    static const struct {
        const char *robot;
        double force, deepest, least; // N; of the first joint, m or rad
    } robots[] = {{"<body pos='0.01 0.02 0.26'><joint type='slide' axis='0 0 -1' damping='5'/>"
                   "<geom type='box' size='0.05 0.05 0.02' mass='0.5'/></body>",
                   20.0, 0.046, 0.041},
                  {"<body pos='0.01 0.02 0.26'><joint type='slide' axis='0 0 -1' damping='5'/>"
                   "<geom type='box' size='0.05 0.05 0.02' mass='0.2'/></body>",
                   20.0, 0.046, 0.041},
                  {"<body pos='0.01 0.02 0.26'><joint type='slide' axis='0 0 -1' damping='5' armature='0.2'/>"
                   "<geom type='box' size='0.05 0.05 0.02' mass='0.02'/></body>",
                   20.0, 0.046, 0.041},
                  {"<body pos='0.31 0.02 0.24'><joint axis='0 -1 0' damping='2' armature='0.05'/>"
                   "<geom type='capsule' size='0.02' fromto='0 0 0 -0.25 0 0' mass='0.5' contype='0' "
                   "conaffinity='0'/><body pos='-0.3 0 0'><joint type='slide' axis='1 0 0' stiffness='1000' "
                   "damping='20'/><geom type='sphere' size='0.04' mass='0.02'/></body></body>",
                   0.0, 0.02, 0.005}};
    for (size_t n = 0; n < sizeof robots / sizeof robots[0]; n++) {
        fixture f;
        char text[900];
        const orr_transform at = {.position = {0.0f, 0.0f, 0.1f}};
        const orr_body_desc body = {
            .soft = true, .resolution = 6, .density = 300.0, .young = 3e4, .poisson = 0.3, .damping = 0.02};
        const double force[2] = {robots[n].force, 0.0};
        double q[2], v[2], before = 0.0, fastest = 0.0;
        snprintf(text, sizeof text, "<geom type='plane' size='0 0 1'/>%s", robots[n].robot);
        open_with(&f, text, half, &at, &body, 1);
        assert_ok(orr_world_set_robot(f.world, 0, f.robot, ORR_ROBOT_JOINT_FORCE, force, &error));
        for (int step = 0; step < 750; step++) {
            assert_ok(orr_world_step(f.world, 1, &error));
            assert_ok(orr_world_get_robot(f.world, 0, f.robot, ORR_ROBOT_QPOS, q, &error));
            assert_ok(orr_world_get_robot(f.world, 0, f.robot, ORR_ROBOT_QVEL, v, &error));
            before = step == 500 ? q[0] : before;
            fastest = step >= 500 ? fmax(fastest, fabs(v[0])) : 0.0;
        }
        print_message("robot %zu: joint at %.4f, a second before at %.4f, at most %.4f per s\n", n, q[0],
                      before, fastest);
        assert_true(q[0] > robots[n].least && q[0] < robots[n].deepest && fabs(q[0] - before) < 1e-3);
        assert_true(fastest < 0.05); // a step moves it by 0.1 mm at most
        close(&f);
    }
}

// Beside copies that sleep. That copy alone says so, and they sleep on; a state that is set revives it.
static void what_is_not_finite_stays_alone_beside_sleepers(void **state)
{
    (void)state;
    enum { COPIES = 3 };
    static const float half[3] = {0.2f, 0.2f, 0.1f};
    const orr_transform at = {.position = {0.0f, 0.0f, 0.1f}};
    const orr_body_desc body = {
        .soft = true, .resolution = 4, .density = 100.0, .young = 3e4, .poisson = 0.3, .damping = 0.02};
    fixture f;
    int diverged = 0;
    open_with(&f, "<geom type='plane' size='0 0 1'/>", half, &at, &body, COPIES);
    assert_ok(orr_world_advance(f.world, 2.5, &error));
    const orr_world_soft *s = &f.world->softs->bodies[0];
    const orr_soft_sleep *sleep = f.world->softs->sleep;
    const size_t numbers = orr_world_soft_numbers(s), bytes = numbers * sizeof(double);
    double *rest = malloc(COPIES * bytes), *broken = malloc(bytes);
    assert_true(sleep[0].asleep && sleep[1].asleep && sleep[2].asleep);
    memcpy(rest, s->position, COPIES * bytes);
    memcpy(broken, s->position, bytes);
    broken[4] = (double)NAN;
    orr_soft_set(s->copies[1], 0, broken, NULL);
    orr_soft_wake(f.world, 1);
    assert_ok(orr_world_advance(f.world, 1.0, &error));
    for (int i = 0; i < COPIES; i++) {
        bool one = false;
        assert_ok(orr_world_robot_diverged(f.world, i, f.soft, &one, &error));
        assert_true(one == (i == 1));
        diverged += one;
    }
    assert_int_equal(diverged, 1);
    assert_true(sleep[0].asleep && sleep[2].asleep);
    assert_memory_equal(rest, s->position, COPIES * bytes);
    for (size_t i = 2; i < numbers; i += 3) { // lifted, both the broken one and a sleeper fall
        rest[i] += 0.1, rest[numbers + i] += 0.1;
    }
    assert_ok(orr_world_set_soft(f.world, 0, f.soft, rest, NULL, &error));
    assert_ok(orr_world_set_soft(f.world, 1, f.soft, rest + numbers, NULL, &error));
    assert_ok(orr_world_advance(f.world, 0.1, &error));
    assert_true(!sleep[0].asleep && !sleep[1].asleep && sleep[2].asleep && !s->diverged[1]);
    for (int i = 0; i < 2; i++) {
        const double fallen = rest[2] - s->position[(size_t)i * numbers + 2];
        assert_true(fallen > 0.03 && fallen < 0.07);
    }
    free(rest), free(broken);
    close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_passes_through_soft_bodies_at_ten_metres_per_second),
        cmocka_unit_test(fast_soft_bodies_stay_above_thin_boxes),
        cmocka_unit_test(light_and_heavy_things_rest_on_a_block),
        cmocka_unit_test(balls_roll_on),
        cmocka_unit_test(links_press_with_the_force_of_their_joints),
        cmocka_unit_test(what_is_not_finite_stays_alone_beside_sleepers),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
