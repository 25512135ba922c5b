// What the public header says of many copies of robots: all quantities, parameters that differ between
// copies, contacts, Jacobians. Robots among others have the same numbers as alone, wherever their layer is.
#include "engine/loop/world/world_robots.h"
#include "engine/scene/scene.h"
#include "tests/support/engine.h"
#include "tests/support/refused.h"
#include "tests/support/robots.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 19, NUMBERS = 1024 };

// A free trunk with a leg, off the ground; a fixed plate with a site, a geom and a camera of the world.
static const char walker[] =
    "<mujoco><option timestep='0.005' gravity='0 0 -9.81'/><worldbody>"
    "<geom name='plate' type='box' size='.1 .1 .01' pos='0 0 -3'/><site name='mark' pos='.3 .2 .1'/>"
    "<camera name='fixed' pos='1 2 3' euler='20 30 40'/>"
    "<body name='trunk' pos='.2 .1 1' euler='10 20 30'><freejoint/>"
    "<geom name='box' type='box' size='.2 .1 .05' mass='2'/><site name='top' pos='0 0 .1'/>"
    "<body name='leg' pos='.1 0 -.05'><joint name='hip' axis='0 1 0' damping='.1'/>"
    "<geom name='bone' type='capsule' fromto='0 0 0 0 .05 -.3' size='.02' mass='.5'/>"
    "<camera name='eye' pos='0 0 -.3'/></body></body></worldbody>"
    "<tendon><fixed name='cord'><joint joint='hip' coef='2'/></fixed></tendon>"
    "<actuator><motor joint='hip' gear='3'/></actuator>"
    "<sensor><framepos objtype='site' objname='top'/></sensor></mujoco>";
static const char ball[] = "<mujoco><option timestep='0.005' gravity='0 0 -10'/><worldbody>"
                           "<geom name='floor' type='plane' size='0 0 1'/>"
                           "<body name='ball' pos='0 0 .1'><freejoint/>"
                           "<geom name='skin' type='sphere' size='.1' mass='2'/></body></worldbody></mujoco>";

typedef struct stage {
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
} stage;

static orr_layer add(const stage *s, const char *name, const char *text, const orr_transform *at)
{
    orr_layer layer;
    assert_ok(orr_scene_add_file(s->scene, written(name, text), at, &layer, &error));
    return layer;
}

// others: beside a second robot, which is far away, at a place and a turn that are not simple.
static stage stage_of(const char *text, bool others, orr_precision precision)
{
    stage s;
    const orr_transform far = {.position = {50.0f, 0.0f, 0.0f}, .rotation = {1.0f}, .scale = 1.0f};
    const orr_transform at = {
        .position = {1.0f, -2.0f, 0.5f}, .rotation = {0.8f, 0.0f, 0.0f, 0.6f}, .scale = 1.0f};
    const orr_world_desc desc = {.count = COPIES, .precision = precision};
    assert_ok(orr_scene_create(engine, &s.scene, &error));
    if (others) {
        add(&s, "other.xml", walker, &far);
    }
    s.robot = add(&s, "robot.xml", text, others ? &at : NULL);
    assert_ok(orr_world_create_with(s.scene, &desc, &s.world, &error));
    return s;
}

static void stage_close(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
}

static int numbers_of(const stage *s, orr_robot_quantity quantity)
{
    int count = 0;
    assert_ok(orr_world_robot_numbers(s->world, s->robot, quantity, &count, &error));
    assert_true(COPIES * count <= NUMBERS);
    return count;
}

static void get(const stage *s, orr_robot_quantity quantity, double *values)
{
    numbers_of(s, quantity);
    assert_ok(orr_world_get_robots(s->world, s->robot, quantity, NULL, ORR_NUMBER_F64, values, &error));
}

static void set(const stage *s, orr_robot_quantity quantity, const double *values)
{
    assert_ok(orr_world_set_robots(s->world, s->robot, quantity, NULL, ORR_NUMBER_F64, values, &error));
}

// Another velocity, and another leg, in each copy.
static void stir(const stage *s)
{
    double values[NUMBERS];
    get(s, ORR_ROBOT_QPOS, values);
    for (int i = 0; i < COPIES; i++) {
        values[8 * i + 7] = 0.05 * i;
    }
    set(s, ORR_ROBOT_QPOS, values);
    for (int i = 0; i < 7 * COPIES; i++) {
        values[i] = sin(1.0 + i);
    }
    set(s, ORR_ROBOT_QVEL, values);
    for (int i = 0; i < COPIES; i++) {
        values[i] = cos(i);
    }
    set(s, ORR_ROBOT_CTRL, values);
}

static void every_quantity_is_the_same_alone_and_among_others(void **state)
{
    (void)state;
    stage alone = stage_of(walker, false, ORR_PRECISION_F64),
          among = stage_of(walker, true, ORR_PRECISION_F64);
    static double a[NUMBERS], b[NUMBERS];
    stir(&alone);
    stir(&among);
    assert_ok(orr_world_step(alone.world, 3, &error));
    assert_ok(orr_world_step(among.world, 3, &error));
    int compared = 0;
    for (int i = 0; i < ORR_ROBOT_QUANTITIES; i++) {
        const orr_robot_quantity quantity = (orr_robot_quantity)i;
        assert_non_null(orr_robot_quantity_name(quantity));
        if (quantity == ORR_ROBOT_QM || quantity == ORR_ROBOT_CDOF || quantity == ORR_ROBOT_ENERGY ||
            quantity == ORR_ROBOT_TREE_ASLEEP || quantity == ORR_ROBOT_ASLEEP_QPOS) {
            assert_call_refused(
                orr_world_get_robots(among.world, among.robot, quantity, NULL, ORR_NUMBER_F64, b, &why),
                ORR_ERROR_UNSUPPORTED, "expected a robot that is simulated alone");
            get(&alone, quantity, a);
            continue;
        }
        const int count = numbers_of(&alone, quantity);
        assert_int_equal(numbers_of(&among, quantity), count);
        get(&alone, quantity, a);
        get(&among, quantity, b);
        // the world's row sums up all robots of a physics: among others it is not the robot's
        const bool sums = quantity == ORR_ROBOT_SUBTREE_COM || quantity == ORR_ROBOT_SUBTREE_LINVEL ||
                          quantity == ORR_ROBOT_SUBTREE_ANGMOM || quantity == ORR_ROBOT_CINERT ||
                          quantity == ORR_ROBOT_CACC || quantity == ORR_ROBOT_CFRC_INT ||
                          quantity == ORR_ROBOT_CONTACT_FORCE;
        const int world = sums ? count / 3 : 0; // of 3 bodies
        for (int k = 0; k < COPIES * count; k++) {
            // 1e-5: the layer's place is in floats
            if (k % count >= world && !(fabs(a[k] - b[k]) <= 1e-5 * (1.0 + fabs(a[k])))) {
                fail_msg("%s, number %d: %.9g alone, %.9g among others", orr_robot_quantity_name(quantity), k,
                         a[k], b[k]);
            }
            compared += k % count >= world;
        }
    }
    assert_true(compared > 5000);
    stage_close(&alone);
    stage_close(&among);
}

static void several_quantities_are_read_at_once(void **state)
{
    (void)state;
    static double rows[NUMBERS], q[NUMBERS], x[NUMBERS];
    const orr_robot_quantity list[] = {ORR_ROBOT_XIPOS, ORR_ROBOT_QPOS};
    for (int others = 0; others < 2; others++) {
        stage s = stage_of(walker, others != 0, ORR_PRECISION_AUTO);
        stir(&s);
        get(&s, ORR_ROBOT_QPOS, q);
        get(&s, ORR_ROBOT_XIPOS, x);
        uint8_t chosen[COPIES] = {[3] = 1, [17] = 1};
        for (int masked = 0; masked < 2; masked++) {
            memset(rows, 0, sizeof rows);
            assert_ok(orr_world_read_robots(s.world, s.robot, list, 2, masked ? chosen : NULL, ORR_NUMBER_F64,
                                            rows, &error));
            for (int i = 0; i < COPIES; i++) {
                const bool read = !masked || chosen[i];
                for (int k = 0; k < 17; k++) {
                    const double wanted = k < 9 ? x[9 * i + k] : q[8 * i + k - 9];
                    assert_true(rows[17 * i + k] == (read ? wanted : 0.0));
                }
            }
        }
        assert_argument_refused(orr_world_read_robots(s.world, s.robot,
                                                      (orr_robot_quantity[]){ORR_ROBOT_QPOS, ORR_ROBOT_QPOS},
                                                      2, NULL, ORR_NUMBER_F64, rows, &why),
                                "each quantity once");
        stage_close(&s);
    }
}

// Twice the mass in odd copies: the same force accelerates half as much; the others keep their bits.
static void masses_differ_between_copies(void **state)
{
    (void)state;
    static double plain[NUMBERS], values[NUMBERS], push[NUMBERS], v[NUMBERS];
    for (int others = 0; others < 2; others++) {
        stage s = stage_of(ball, others != 0, ORR_PRECISION_F64);
        uint8_t odd[COPIES];
        for (int i = 0; i < COPIES; i++) {
            odd[i] = i % 2 != 0;
            values[2 * i] = 0.0;
            values[2 * i + 1] = 4.0;
            memset(push + 6 * i, 0, 6 * sizeof *push);
            push[6 * i + 2] = 100.0;
        }
        set(&s, ORR_ROBOT_JOINT_FORCE, push);
        assert_ok(orr_world_forward(s.world, &error));
        get(&s, ORR_ROBOT_ACCELERATION, plain);
        assert_ok(orr_world_set_parameters(s.world, s.robot, ORR_PARAMETER_BODY_MASS, odd, values, &error));
        for (int again = 0; again < 2; again++) {
            assert_ok(orr_world_forward(s.world, &error));
            get(&s, ORR_ROBOT_ACCELERATION, v);
            for (int i = 0; i < COPIES; i++) {
                // among others gravity is that of the first robot
                const double gravity = others ? 9.81 : 10.0;
                assert_true(fabs(v[6 * i + 2] - (100.0 / (odd[i] ? 4.0 : 2.0) - gravity)) < 1e-9);
                assert_true(odd[i] || again || v[6 * i + 2] == plain[6 * i + 2]);
            }
            if (!again) { // a robot that joins makes new physics, which has the parameters too
                const orr_transform at = {.position = {-9.0f}, .rotation = {1.0f}, .scale = 1.0f};
                const orr_layer more = add(&s, "more.xml", ball, &at);
                double gravity[3 * COPIES];
                (void)more;
                for (int i = 0; i < COPIES && !others; i++) {
                    gravity[3 * i] = gravity[3 * i + 1] = 0.0;
                    gravity[3 * i + 2] = -10.0;
                }
                if (!others) {
                    assert_ok(orr_world_set_parameters(s.world, s.robot, ORR_PARAMETER_GRAVITY, NULL, gravity,
                                                       &error));
                }
            }
        }
        assert_ok(orr_world_get_parameters(s.world, s.robot, ORR_PARAMETER_BODY_MASS, NULL, values, &error));
        assert_true(values[1] == 2.0 && values[3] == 4.0);
        stage_close(&s);
    }
}

static void a_parameter_that_is_refused_changes_nothing(void **state)
{
    (void)state;
    stage s = stage_of(ball, false, ORR_PRECISION_F64);
    double values[2 * COPIES], kept[2 * COPIES];
    for (int i = 0; i < COPIES; i++) {
        values[2 * i] = 0.0;
        values[2 * i + 1] = i == 5 ? -1.0 : 7.0;
    }
    assert_argument_refused(
        orr_world_set_parameters(s.world, s.robot, ORR_PARAMETER_BODY_MASS, NULL, values, &why),
        "body_mass: world 5, number 1: expected at least 0");
    assert_ok(orr_world_get_parameters(s.world, s.robot, ORR_PARAMETER_BODY_MASS, NULL, kept, &error));
    static double a[NUMBERS];
    assert_ok(orr_world_forward(s.world, &error));
    get(&s, ORR_ROBOT_ACCELERATION, a);
    for (int i = 0; i < COPIES; i++) {
        assert_true(kept[2 * i + 1] == 2.0);
        assert_true(a[6 * i + 2] == a[2]);
    }
    assert_argument_refused(
        orr_world_parameter_numbers(s.world, s.robot, (orr_robot_parameter)99, &(int){0}, &why),
        "expected one of orr_robot_parameter");
    stage_close(&s);
}

static void a_reset_goes_to_the_start_of_each_copy(void **state)
{
    (void)state;
    static double start[NUMBERS], q[NUMBERS];
    for (int others = 0; others < 2; others++) {
        stage s = stage_of(ball, others != 0, ORR_PRECISION_F64);
        for (int i = 0; i < COPIES; i++) {
            const double place[7] = {0.1 * i, 0.0, 2.0, 1.0};
            memcpy(start + 7 * i, place, sizeof place);
        }
        assert_ok(orr_world_set_parameters(s.world, s.robot, ORR_PARAMETER_START_QPOS, NULL, start, &error));
        assert_ok(orr_world_step(s.world, 10, &error));
        assert_ok(orr_world_reset_masked(s.world, NULL, &error));
        get(&s, ORR_ROBOT_QPOS, q);
        for (int i = 0; i < 7 * COPIES; i++) {
            assert_true(fabs(q[i] - start[i]) < 1e-6); // the layer's place is in floats
        }
        stage_close(&s);
    }
}

// A ball that rests on a floor, sunk in by another depth in each copy: one contact, whose normal is up.
static void contacts_of_all_copies(void **state)
{
    (void)state;
    static double q[NUMBERS];
    static orr_contact contacts[2 * COPIES];
    for (int others = 0; others < 2; others++) {
        stage s = stage_of(ball, others != 0, ORR_PRECISION_F64);
        int counts[COPIES];
        uint8_t chosen[COPIES];
        get(&s, ORR_ROBOT_QPOS, q);
        for (int i = 0; i < COPIES; i++) {
            q[7 * i + 2] = i == 4 ? 0.3 : 0.1 - 1e-4 * (i + 1);
            chosen[i] = i != 7;
            counts[i] = -1;
        }
        set(&s, ORR_ROBOT_QPOS, q);
        memset(contacts, 0, sizeof contacts);
        assert_ok(orr_world_get_contacts(s.world, s.robot, chosen, 2, contacts, counts, &error));
        for (int i = 0; i < COPIES; i++) {
            const orr_contact *c = &contacts[2 * i];
            assert_int_equal(counts[i], i == 7 ? -1 : i == 4 ? 0 : 1);
            if (counts[i] == 1) {
                assert_string_equal(orr_scene_robot_name(s.scene, s.robot, ORR_ROBOT_OBJECT_GEOM, c->geom1),
                                    "floor");
                assert_string_equal(orr_scene_robot_name(s.scene, s.robot, ORR_ROBOT_OBJECT_GEOM, c->geom2),
                                    "skin");
                assert_int_equal(c->dimension, 3);
                assert_true(fabs(c->distance + 1e-4 * (i + 1)) < 1e-6); // the layer's place is in floats
                assert_true(fabs(c->frame[2] - 1.0) < 1e-6);
                assert_true(c->force[0] > 1.0);
            }
        }
        stage_close(&s);
    }
}

// More contacts than there is room for at first: all are found, with those of others, too.
static void contacts_of_a_heap(void **state)
{
    (void)state;
    enum { ROOM = 4000, FIRST = 512 }; // it has 144 pairs that touch with faces
    static const char heap[] =
        "<mujoco><worldbody><geom type='plane' size='0 0 1'/><replicate count='4' offset='.0993 0 0'>"
        "<replicate count='4' offset='0 .0993 0'><replicate count='4' offset='0 0 .0993'>"
        "<body pos='0 0 .0495'><freejoint/><geom type='box' size='.05 .05 .05'/></body>"
        "</replicate></replicate></replicate></worldbody></mujoco>";
    orr_contact *all = calloc(COPIES * ROOM, sizeof *all);
    assert_non_null(all);
    for (int others = 0; others < 2; others++) {
        stage s = stage_of(heap, others != 0, ORR_PRECISION_AUTO);
        orr_contact few[COPIES] = {0};
        int counts[COPIES], again[COPIES];
        const uint8_t chosen[COPIES] = {[0] = 1, [18] = 1};
        assert_ok(orr_world_get_contacts(s.world, s.robot, chosen, 1, few, counts, &error));
        assert_ok(orr_world_get_contacts(s.world, s.robot, chosen, ROOM, all, again, &error));
        for (int i = 0; i < COPIES; i += 18) {
            assert_in_range(counts[i], FIRST, ROOM);
            assert_int_equal(counts[i], again[i]);
            assert_memory_equal(&few[i], &all[i * ROOM], sizeof few[i]);
        }
        stage_close(&s);
    }
    free(all);
}

// Contacts of which there are too many are one line, and the copies are as they were.
static void a_step_that_takes_too_much_is_refused(void **state)
{
    (void)state;
    static const char lump[] = "<mujoco model='lump'><worldbody><replicate "
                               "count='760'><body><freejoint/><geom size='.1' condim='6'/>"
                               "</body></replicate></worldbody></mujoco>";
    stage s;
    double seconds;
    assert_ok(orr_scene_create(engine, &s.scene, &error));
    s.robot = add(&s, "lump.xml", lump, NULL);
    assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
    assert_call_refused(orr_world_step(s.world, 1, &why), ORR_ERROR_CAPACITY, "lump: ");
    assert_string_equal(why.message, "lump: constraints: expected at most 33554431 entries of the Jacobian, "
                                     "the model can need 34619520");
    assert_ok(orr_world_get_robots(s.world, s.robot, ORR_ROBOT_TIME, NULL, ORR_NUMBER_F64, &seconds, &error));
    assert_true(seconds == 0.0);
    stage_close(&s);
}

// What draws contacts takes memory for them as it sees how many there are, and leaves all else.
static void drawn_contacts_leave_parameters(void **state)
{
    (void)state;
    stage s = stage_of(ball, false, ORR_PRECISION_F64);
    double masses[2 * COPIES], kept[2 * COPIES];
    for (int i = 0; i < COPIES; i++) {
        masses[2 * i] = 0.0;
        masses[2 * i + 1] = 2.0 + i;
    }
    assert_ok(orr_world_set_parameters(s.world, s.robot, ORR_PARAMETER_BODY_MASS, NULL, masses, &error));
    assert_ok(orr_world_step(s.world, 1, &error)); // then the ball touches
    const orr_physics_contact *contacts;
    int count;
    assert_ok(orr_world_robot_contacts(s.world, 3, &s.scene->layers[0], &contacts, &count, &error));
    assert_int_equal(count, 1);
    assert_ok(orr_world_get_parameters(s.world, s.robot, ORR_PARAMETER_BODY_MASS, NULL, kept, &error));
    assert_memory_equal(masses, kept, sizeof masses);
    stage_close(&s);
}

// The Jacobian of a point gives its velocity: against differences of where the site is.
static void jacobians_are_derivatives_of_positions(void **state)
{
    (void)state;
    static double v[NUMBERS], before[NUMBERS], after[NUMBERS], jacp[NUMBERS], jacr[NUMBERS], q[NUMBERS];
    const double h = 1e-6;
    for (int others = 0; others < 2; others++) {
        stage s = stage_of(walker, others != 0, ORR_PRECISION_F64);
        stir(&s);
        const int top = orr_scene_robot_find(s.scene, s.robot, ORR_ROBOT_OBJECT_SITE, "top");
        assert_int_equal(top, 1); // after that of the world
        assert_ok(orr_world_get_jacobians(s.world, s.robot, ORR_ROBOT_OBJECT_SITE, top, NULL, NULL, jacp,
                                          jacr, &error));
        get(&s, ORR_ROBOT_QVEL, v);
        get(&s, ORR_ROBOT_SITE_XPOS, before);
        get(&s, ORR_ROBOT_QPOS, q);
        for (int i = 0; i < COPIES; i++) { // the angular numbers are in the trunk's frame: linear ones alone
            for (int k = 3; k < 7; k++) {
                v[7 * i + k] = 0.0;
            }
            for (int k = 0; k < 3; k++) {
                q[8 * i + k] += h * v[7 * i + k];
            }
        }
        set(&s, ORR_ROBOT_QPOS, q);
        get(&s, ORR_ROBOT_SITE_XPOS, after);
        for (int i = 0; i < COPIES; i++) {
            for (int row = 0; row < 3; row++) {
                double speed = 0.0;
                for (int dof = 0; dof < 7; dof++) {
                    speed += jacp[21 * i + 7 * row + dof] * v[7 * i + dof];
                }
                const int at = 6 * i + 3 + row;
                assert_true(fabs(speed - (after[at] - before[at]) / h) < 1e-5); // differences, of h 1e-6
            }
        }
        assert_argument_refused(orr_world_get_jacobians(s.world, s.robot, ORR_ROBOT_OBJECT_JOINT, 0, NULL,
                                                        NULL, jacp, jacr, &why),
                                "expected a body, a geom or a site");
        stage_close(&s);
    }
}

// How it is simulated is as asked for, and what cannot be is refused.
static void precision_and_capacity_are_those_of_the_desc(void **state)
{
    (void)state;
    orr_simulation_info info;
    stage wide = stage_of(ball, false, ORR_PRECISION_F64), narrow = stage_of(ball, false, ORR_PRECISION_F32);
    assert_ok(orr_world_simulation(wide.world, wide.robot, &info, &error));
    assert_true(info.double_precision && info.device == ORR_DEVICE_CPU);
    assert_string_equal(info.device_name, "cpu");
    assert_ok(orr_world_simulation(narrow.world, narrow.robot, &info, &error));
    assert_true(!info.double_precision && info.world_bytes > 0);
    orr_world *other;
    stage boxes = stage_of(walker, false, ORR_PRECISION_AUTO);
    const orr_world_desc small = {.count = 2, .contact_capacity = 3};
    assert_ok(orr_world_simulation(boxes.world, boxes.robot, &info, &error));
    assert_true(info.contact_capacity > 3); // a box may touch the plate at more points
    assert_ok(orr_world_create_with(boxes.scene, &small, &other, &error));
    assert_ok(orr_world_simulation(other, boxes.robot, &info, &error));
    assert_int_equal(info.contact_capacity, 3);
    orr_world_destroy(other);
    stage_close(&boxes);
    const orr_world_desc wrong[] = {{.count = -1}, {.precision = (orr_precision)7}, {.team = 3}};
    for (int i = 0; i < 3; i++) {
        assert_argument_refused(orr_world_create_with(narrow.scene, &wrong[i], &other, &why), "expected");
        assert_null(other);
    }
    stage_close(&wide);
    stage_close(&narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_quantity_is_the_same_alone_and_among_others),
        cmocka_unit_test(several_quantities_are_read_at_once),
        cmocka_unit_test(masses_differ_between_copies),
        cmocka_unit_test(a_parameter_that_is_refused_changes_nothing),
        cmocka_unit_test(a_reset_goes_to_the_start_of_each_copy),
        cmocka_unit_test(contacts_of_all_copies),
        cmocka_unit_test(contacts_of_a_heap),
        cmocka_unit_test(drawn_contacts_leave_parameters),
        cmocka_unit_test(a_step_that_takes_too_much_is_refused),
        cmocka_unit_test(jacobians_are_derivatives_of_positions),
        cmocka_unit_test(precision_and_capacity_are_those_of_the_desc),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
