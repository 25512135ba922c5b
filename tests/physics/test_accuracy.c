// Tests of what keeps float accurate enough: models that it is too coarse for, solvers that rounding stops,
// and what a run that loses accuracy says.
#include "engine/core/memory.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/support/machine.h"
#include "tests/support/robots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 100000 };

static orr_model *parse(const char *text)
{
    orr_model *model;
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    return model;
}

// Equal links in a row, on hinges.
static orr_model *chain(int links)
{
    char *text = orr_alloc(TEXT, 1);
    assert_non_null(text);
    int used = snprintf(text, TEXT, "<mujoco><worldbody>");
    for (int i = 0; i < links; i++) {
        used += snprintf(text + used, (size_t)(TEXT - used),
                         "<body pos='%d 0 0'><joint axis='0 1 0' armature='0.01'/>"
                         "<geom type='capsule' fromto='0 0 0 1 0 0' size='0.05' contype='0'/>",
                         i > 0);
    }
    for (int i = 0; i < links; i++) {
        used += snprintf(text + used, (size_t)(TEXT - used), "</body>");
    }
    snprintf(text + used, (size_t)(TEXT - used), "</worldbody></mujoco>");
    orr_model *model = parse(text);
    orr_free(text);
    return model;
}

typedef enum arithmetic { AUTO, SINGLE, DOUBLE } arithmetic;

static orr_physics *make_physics(const orr_model *model, int worlds, arithmetic in)
{
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {.worlds = worlds,
                                   .double_precision = in == DOUBLE,
                                   .single_precision = in == SINGLE,
                                   .cuda = cuda,
                                   .team = team};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    return physics;
}

// qacc of a chain that is bent and swings.
static void swing(orr_physics *physics, int links, double *qacc)
{
    double at[200], speed[200];
    for (int i = 0; i < links; i++) {
        at[i] = (double)(float)(0.1 * sin(7.0 * i));
        speed[i] = (double)(float)(0.2 * cos(5.0 * i));
    }
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, at);
    orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, speed);
    orr_physics_forward(physics);
    orr_physics_get(physics, ORR_PHYSICS_QACC, 0, qacc);
}

static double relative_error(const double *a, const double *b, int count)
{
    double difference = 0.0, whole = 0.0;
    for (int i = 0; i < count; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        whole += b[i] * b[i];
    }
    return sqrt(difference / whole);
}

static void chains_of_any_length_accelerate_as_in_double(void **state)
{
    (void)state;
    static const int lengths[] = {3, 5, 10, 20, 50, 100, 200};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        int links = lengths[k];
        double chosen[200], reference[200];
        orr_model *model = chain(links);
        orr_physics *physics = make_physics(model, 1, AUTO), *wide = make_physics(model, 1, DOUBLE);
        swing(physics, links, chosen);
        swing(wide, links, reference);
        assert_true(relative_error(chosen, reference, links) < 1e-4);
        assert_int_equal(orr_physics_is_double(physics), links >= 10);
        orr_physics_destroy(physics);
        orr_physics_destroy(wide);
        orr_model_destroy(model);
    }
}

static void a_long_chain_swings_for_a_thousand_steps(void **state)
{
    (void)state;
    orr_model *model = chain(100);
    orr_physics *physics = make_physics(model, 1, AUTO);
    orr_physics_step(physics, 1000);
    assert_false(orr_physics_diverged(physics, 0));
    assert_int_equal(orr_physics_get_accuracy(physics).steps, 0);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static void float_for_a_long_chain_is_reported(void **state)
{
    (void)state;
    orr_model *model = chain(100);
    orr_physics *physics = make_physics(model, 3, SINGLE);
    assert_false(orr_physics_is_double(physics));
    orr_physics_step(physics, 4);
    orr_physics_accuracy accuracy = orr_physics_get_accuracy(physics);
    assert_int_equal(accuracy.worlds, 3); // not the lanes of the block that are no worlds
    assert_int_equal(accuracy.steps, 3 * 4);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// Two fingers, on an arm, hold a light box by friction with elliptic cones. Contacts are
// so stiff for the masses that in float neither the cost's slope nor its decrease gets below a tolerance.
static const char gripper[] =
    "<mujoco><option cone='elliptic' impratio='1000'%s/><default>"
    "<geom condim='4' friction='1 0.005 0.0001' solimp='2 1 0.01' solref='0.01 1'/></default><worldbody>"
    "<geom type='plane' size='0 0 1'/><body pos='0 0 0.5'>"
    "<joint name='upper' axis='0 1 0' damping='0.2' armature='0.01'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -0.2' size='0.03' contype='0' conaffinity='0'/>"
    "<body pos='0 0 -0.2'><joint name='lower' axis='0 1 0' damping='0.2' armature='0.01'/>"
    "<geom type='box' size='0.06 0.02 0.01' contype='0' conaffinity='0'/>"
    "<body pos='-0.05 0 -0.05'>"
    "<joint name='left' type='slide' axis='1 0 0' range='-0.02 0.06' limited='true' armature='0.05'/>"
    "<geom type='box' size='0.01 0.02 0.04' mass='0.02'/></body>"
    "<body pos='0.05 0 -0.05'>"
    "<joint name='right' type='slide' axis='-1 0 0' range='-0.02 0.06' limited='true' armature='0.05'/>"
    "<geom type='box' size='0.01 0.02 0.04' mass='0.02'/></body></body></body>"
    "<body pos='0 0 0.235'><freejoint/><geom type='box' size='0.03 0.02 0.02' mass='0.005'/></body>"
    "</worldbody><actuator><position joint='left' kp='2000' ctrlrange='0.015 0.04'/>"
    "<position joint='right' kp='2000' ctrlrange='0.015 0.04'/>"
    "<position joint='upper' kp='40'/><position joint='lower' kp='40'/></actuator></mujoco>";

// Steps worlds that start at different speeds with different controls.
static orr_physics_accuracy grip(const char *options, int steps, arithmetic in)
{
    enum { WORLDS = 64, DOFS = 10, ACTUATORS = 4 };
    char text[sizeof gripper + 64];
    snprintf(text, sizeof text, gripper, options);
    orr_model *model = parse(text);
    assert_int_equal(model->nv, DOFS);
    orr_physics *physics = make_physics(model, WORLDS, in);
    assert_int_equal(orr_physics_is_double(physics), in == DOUBLE);
    for (int world = 0; world < WORLDS; world++) {
        double speed[DOFS], control[ACTUATORS];
        for (int i = 0; i < DOFS; i++) {
            speed[i] = 0.05 * sin(3.0 * i + world);
        }
        for (int i = 0; i < ACTUATORS; i++) {
            double part = 0.5 + 0.25 * sin(2.0 * i + 5.0 * world);
            control[i] = i < 2 ? 0.015 + 0.025 * part : part - 0.5;
        }
        orr_physics_set(physics, ORR_PHYSICS_QVEL, world, speed);
        orr_physics_set(physics, ORR_PHYSICS_CTRL, world, control);
    }
    orr_physics_step(physics, steps);
    for (int world = 0; world < WORLDS; world++) {
        assert_false(orr_physics_diverged(physics, world));
    }
    orr_physics_accuracy accuracy = orr_physics_get_accuracy(physics);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
    return accuracy;
}

static void the_solver_stops_where_rounding_stops_it(void **state)
{
    (void)state;
    orr_physics_accuracy accuracy = grip("", 200, AUTO);
    assert_int_equal(accuracy.steps, 0);
    assert_true(accuracy.iterations > 10 && accuracy.iterations < 100);
}

// Three light fingers that drive into each other. Near the minimum the slope along a direction is less than
// what rounding makes of its terms: neither a search nor the solver follows it.
static void light_fingers_end_where_rounding_begins(void **state)
{
    (void)state;
    enum { WORLDS = 33, STEPS = 80, FINGERS = 3 };
    static const char *const places[FINGERS] = {"pos='-0.05 0 0'", "pos='0.05 0 0' euler='0 0 180'",
                                                "pos='0 0.05 0' euler='0 0 -90'"};
    char text[4096] = "<mujoco><option cone='elliptic' impratio='100' integrator='implicitfast'/><default>"
                      "<geom type='capsule' solref='1e-4 1' solimp='0.999 0.999 0.001' friction='0.8'/>"
                      "<joint axis='0 1 0' range='-1 1.5' damping='0.03' frictionloss='0.001'/>"
                      "<position kp='3' ctrlrange='-1 1.5'/></default><worldbody>";
    size_t used = strlen(text);
    for (int i = 0; i < FINGERS; i++) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "<body %s><joint name='a%d'/>"
                             "<geom fromto='0 0 0 0 0 0.06' size='0.01' mass='0.03'/><body pos='0 0 0.06'>"
                             "<joint name='b%d'/><geom fromto='0 0 0 0.01 0 0.04' size='0.009' mass='0.02'/>"
                             "</body></body>",
                             places[i], i, i);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "</worldbody><actuator>");
    for (int i = 0; i < FINGERS; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<position joint='a%d'/><position joint='b%d'/>", i, i);
    }
    snprintf(text + used, sizeof text - used, "</actuator></mujoco>");
    orr_model *model = parse(text);
    orr_physics *physics = make_physics(model, WORLDS, SINGLE);
    for (int step = 0; step < STEPS; step++) {
        for (int world = 0; world < WORLDS && step % 5 == 0; world++) {
            double control[2 * FINGERS];
            for (int i = 0; i < 2 * FINGERS; i++) {
                control[i] = 0.25 + 1.25 * sin(11.0 * world + 7.0 * i + 3.0 * step);
            }
            orr_physics_set(physics, ORR_PHYSICS_CTRL, world, control);
        }
        orr_physics_step(physics, 1);
    }
    orr_physics_accuracy accuracy = orr_physics_get_accuracy(physics);
    print_message("%d iterations\n", accuracy.iterations);
    assert_int_equal(accuracy.steps, 0);
    assert_in_range(accuracy.iterations, 5, 30);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static void a_solver_that_is_cut_short_is_reported(void **state)
{
    (void)state;
    orr_physics_accuracy accuracy = grip(" iterations='2'", 3, AUTO);
    assert_int_equal(accuracy.iterations, 2);
    assert_true(accuracy.worlds > 0 && accuracy.worlds <= 64);
    assert_true(accuracy.steps >= accuracy.worlds && accuracy.steps <= 3 * 64);
}

// Bodies that constraints alone join, in a row from the world on: entries of H that M does not have, in every
// step other numbers. The cost has no bend, so that Newton's first direction ends at the minimum.
static orr_physics_accuracy joined_bodies(int bodies, arithmetic in)
{
    char *text = orr_alloc(TEXT, 1);
    assert_non_null(text);
    int used = snprintf(text, TEXT, "<mujoco><worldbody>");
    for (int i = 0; i < bodies; i++) {
        used += snprintf(text + used, (size_t)(TEXT - used),
                         "<body name='b%d' pos='%g 0 0'><freejoint/><geom type='box' size='0.1 0.05 0.03' "
                         "contype='0' conaffinity='0'/></body>",
                         i, 0.3 * i);
    }
    used += snprintf(text + used, (size_t)(TEXT - used), "</worldbody><equality>");
    for (int i = 0; i < bodies; i++) {
        char other[32] = "";
        snprintf(other, i > 0 ? sizeof other : 1, "body2='b%d'", i - 1);
        used += snprintf(text + used, (size_t)(TEXT - used), "<connect body1='b%d' %s anchor='-0.15 0 0'/>",
                         i, other);
    }
    snprintf(text + used, (size_t)(TEXT - used), "</equality></mujoco>");
    orr_model *model = parse(text);
    orr_free(text);
    orr_physics *physics = make_physics(model, 17, in);
    for (int world = 0; world < 17; world++) {
        double speed[6] = {0.0, 0.1 * world, 0.0, 3.0, 0.2 * world, 1.0};
        double *all = orr_alloc((size_t)model->nv, sizeof *all);
        assert_non_null(all);
        for (int i = 0; i < model->nv; i++) {
            all[i] = speed[i % 6];
        }
        orr_physics_set(physics, ORR_PHYSICS_QVEL, world, all);
        orr_free(all);
    }
    orr_physics_step(physics, 20);
    orr_physics_accuracy accuracy = orr_physics_get_accuracy(physics);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
    return accuracy;
}

static void a_cost_without_a_bend_takes_newton_one_step(void **state)
{
    (void)state;
    static const int bodies[] = {2, 5, 40};
    for (int i = 0; i < 3; i++) {
        const orr_physics_accuracy exact = joined_bodies(bodies[i], DOUBLE),
                                   fast = joined_bodies(bodies[i], SINGLE);
        print_message("%d bodies: %d iterations in f64, %d in f32\n", bodies[i], exact.iterations,
                      fast.iterations);
        assert_int_equal(exact.iterations, 1);
        assert_int_equal(fast.iterations, 1);
    }
}

// Legs that a constraint joins for a while: what that adds to H beside the entries of M is gone when it ends.
static void a_constraint_that_ends_leaves_nothing_in_H(void **state)
{
    (void)state;
    char text[4096];
    int used = snprintf(text, sizeof text,
                        "<mujoco><worldbody><body pos='0 0 1'><freejoint/>"
                        "<geom type='box' size='0.2 0.1 0.05' contype='0'/>");
    for (int leg = 0; leg < 4; leg++) {
        used +=
            snprintf(text + used, sizeof text - (size_t)used,
                     "<body pos='%g %g 0'><joint name='hip%d' axis='0 1 0'/><geom type='capsule' fromto='0 "
                     "0 0 0 0 -0.3' size='0.03' contype='0'/><body name='shin%d' pos='0 0 -0.3'><joint "
                     "name='knee%d' axis='0 1 0.2'/><geom type='capsule' fromto='0 0 0 0.1 0 -0.3' "
                     "size='0.02' contype='0'/></body></body>",
                     leg < 2 ? 0.2 : -0.2, leg % 2 ? 0.1 : -0.1, leg, leg, leg);
    }
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "</body></worldbody><equality><connect body1='shin0' body2='shin3' anchor='0 0 -0.3'/>");
    for (int leg = 0; leg < 4; leg++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "<joint joint1='hip%d'/><joint joint1='knee%d' polycoef='0.3 0 0 0 0'/>", leg, leg);
    }
    snprintf(text + used, sizeof text - (size_t)used, "</equality></mujoco>");
    orr_model *model = parse(text);
    for (int in = SINGLE; in <= DOUBLE; in++) {
        orr_physics *physics = make_physics(model, 17, (arithmetic)in);
        double active[9];
        orr_physics_step(physics, 5);
        for (int world = 0; world < 17; world++) {
            orr_physics_get(physics, ORR_PHYSICS_EQ_ACTIVE, world, active);
            active[0] = 0.0;
            orr_physics_set(physics, ORR_PHYSICS_EQ_ACTIVE, world, active);
        }
        orr_physics_step(physics, 10);
        print_message("%d iterations\n", orr_physics_get_accuracy(physics).iterations);
        assert_int_equal(orr_physics_get_accuracy(physics).iterations, 1);
        orr_physics_destroy(physics);
    }
    orr_model_destroy(model);
}

// Two arms of boxes that are deep in each other: contacts oppose each other, and near the minimum the slope
// along a direction is a sum that cancels. A search that follows what rounding leaves of it never ends.
static orr_model *arms_deep_in_each_other(void)
{
    char text[4096] = "<mujoco><option cone='elliptic'/><default><joint damping='0.5' "
                      "armature='0.01'/><geom condim='4' density='500'/></default><worldbody>";
    for (int arm = 0; arm < 2; arm++) {
        for (int link = 0; link < 4; link++) {
            size_t used = strlen(text);
            snprintf(
                text + used, sizeof text - used,
                "<body pos='%s' euler='%s'><joint axis='%d %d 0'/><geom type='box' size='0.03 0.03 0.05'/>",
                link > 0   ? "0 0 0.06"
                : arm == 0 ? "0 0 0.3"
                           : "0.05 0.01 0.32",
                arm == 0    ? "0 0 0"
                : link == 0 ? "5 10 20"
                            : "0 0 20",
                link % 2, 1 - link % 2);
        }
        strcat(text, "</body></body></body></body>");
    }
    strcat(text, "</worldbody></mujoco>");
    return parse(text);
}

static void a_search_stops_where_rounding_hides_the_slope(void **state)
{
    (void)state;
    enum { WORLDS = 16, STEPS = 20, DOFS = 8 };
    orr_model *model = arms_deep_in_each_other();
    assert_int_equal(model->nv, DOFS);
    orr_physics *physics = make_physics(model, WORLDS, SINGLE);
    for (int world = 0; world < WORLDS; world++) {
        double speed[DOFS];
        for (int i = 0; i < DOFS; i++) {
            speed[i] = 0.05 * sin(3.0 * i + world);
        }
        orr_physics_set(physics, ORR_PHYSICS_QVEL, world, speed);
    }
    orr_physics_step(physics, STEPS);
    orr_physics_accuracy accuracy = orr_physics_get_accuracy(physics);
    // Where searches follow rounding, up to 5 of the 320 steps end at the limit of 100 iterations. By what
    // rounding AVX-512 has, one does.
    assert_true(accuracy.steps <= 1);
    assert_true(accuracy.steps == 1 || accuracy.iterations < 60);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// A light lever turns about its centre of mass, on which MuJoCo's impedance of contacts depends: between two
// fixed boxes, contacts of infinite impedance oppose each other.
static const char lever[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><geom type='box' pos='0.06 0 0.017' size='0.02 0.02 0.01'/>"
    "<geom type='box' pos='-0.05 0.01 0.0165' euler='5 10 20' size='0.02 0.02 0.01'/>"
    "<body><joint axis='0 1 0' damping='0.15'/><inertial pos='0 0 0' mass='0.01' diaginertia='2e-5 2e-5 "
    "2e-5'/>"
    "<geom type='box' size='0.08 0.02 0.01'/><body pos='0.08 0 0'><joint axis='0 1 0' damping='0.1'/>"
    "<geom type='capsule' fromto='0 0 0 0.03 0 0' size='0.008' density='200' contype='0' conaffinity='0'/>"
    "</body></body></worldbody></mujoco>";

static void a_body_that_turns_about_its_centre_is_held_in_float(void **state)
{
    (void)state;
    orr_model *model = parse(lever);
    orr_physics *physics = make_physics(model, 16, AUTO);
    assert_false(orr_physics_is_double(physics));
    for (int step = 0; step < 100; step++) {
        double speed[2];
        orr_physics_step(physics, 1);
        orr_physics_get(physics, ORR_PHYSICS_QVEL, 0, speed);
        assert_true(fabs(speed[0]) < 20.0 && fabs(speed[1]) < 20.0); // rad/s; in double it reaches 5
    }
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// A tendon from a pendulum's pivot to its end, longer than its range, or held at its length: no dof changes
// that but by rounding, and its inverse weight is 0. As stiff as that, float reaches NaN in the sixth step.
static void a_tendon_that_nothing_lengthens_is_harmless_in_float(void **state)
{
    (void)state;
    for (int held = 0; held < 2; held++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><worldbody><site name='anchor' pos='0.1 0.2 1'/><body pos='0.1 0.2 1'>"
                 "<joint axis='0 1 0' damping='0.1'/><joint axis='1 0 0' damping='0.1'/>"
                 "<geom type='capsule' fromto='0 0 0 0.3 0.1 -0.6' size='0.03'/>"
                 "<site name='end' pos='0.3 0.1 -0.6'/></body></worldbody><tendon>"
                 "<spatial name='t' limited='%s' range='0 0.67'><site site='anchor'/><site site='end'/>"
                 "</spatial></tendon><equality><tendon tendon1='t' active='%s'/></equality></mujoco>",
                 held ? "false" : "true", held ? "true" : "false");
        orr_model *model = parse(text);
        orr_physics *physics = make_physics(model, 16, SINGLE);
        for (int step = 0; step < 100; step++) {
            double speed[2];
            orr_physics_step(physics, 1);
            orr_physics_get(physics, ORR_PHYSICS_QVEL, 15, speed);
            assert_true(hypot(speed[0], speed[1]) < 5.0); // rad/s; in double it reaches 1.7
        }
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
}

// The contacts of what stands on a slope, 4 mm deep, turned as the slope is but for `tilt`.
static void stand(const char *shape, double tilt, orr_physics_contact contacts[8], int expected)
{
    char text[1024];
    snprintf(text, sizeof text,
             "<mujoco><worldbody><frame pos='0.3 -0.2 0.5' quat='0.4 0.2 -0.5 0.7'><geom type='plane' "
             "size='0 0 1'/><body pos='0 0 0.146'><freejoint/><geom type='%s' quat='1 %.9g %.9g 0'/></body>"
             "</frame></worldbody></mujoco>",
             shape, 0.5 * tilt, 0.3 * tilt);
    orr_model *model = parse(text);
    orr_physics *physics = make_physics(model, 1, SINGLE);
    orr_physics_forward(physics);
    assert_int_equal(orr_physics_contacts(physics, 0, contacts, 8), expected);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// Friction pulls along the surface, and a rim is level, where an axis is along the normal but for rounding.
static void what_stands_upright_on_a_slope_stands_in_float(void **state)
{
    (void)state;
    static const double tilts[] = {0.0, 1e-7, 1e-6, 2e-6, 1e-5, 1e-4};
    for (size_t i = 0; i < sizeof tilts / sizeof tilts[0]; i++) {
        orr_physics_contact c[8];
        stand("capsule' size='0.05 0.1", tilts[i], c, 1);
        for (int k = 0; k < 3; k++) {
            for (int l = 0; l < 3; l++) {
                const double *a = c[0].frame + 3 * k, *b = c[0].frame + 3 * l;
                assert_true(fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - (k == l)) < 1e-6);
            }
        }
        stand("cylinder' size='0.08 0.15", tilts[i], c, 3);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(c[k].dist + 0.004) < 1e-6 + 0.09 * tilts[i]);
        }
    }
}

// Five limbs of five hinges. Some hinges have limits, one has friction, two are joined, and the limbs touch
// the floor and each other. Many dofs, few rows: forces are solved for, in worlds that have few rows.
static orr_model *crawler(void)
{
    char text[8192] = "<mujoco><option integrator='RK4' timestep='0.002'/><worldbody>"
                      "<geom type='plane' size='5 5 1'/><body name='trunk' pos='0 0 0.5'><freejoint/>"
                      "<geom size='0.1' contype='0' conaffinity='0'/>";
    for (int limb = 0; limb < 5; limb++) {
        for (int link = 0; link < 5; link++) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used,
                     "<body pos='%g %g %g'><joint name='j%d%d' axis='%d %d %d' armature='0.01'%s%s/><geom "
                     "type='capsule' fromto='0 0 0 %g 0 0' size='0.02' condim='%d'/>",
                     link ? 0.12 : 0.22 - 0.1 * limb,
                     link       ? 0.0
                     : limb % 2 ? 0.15
                                : -0.15,
                     link ? 0.0 : -0.05, limb, link, link == 0, link % 2, link > 0 && link % 2 == 0,
                     link == 2 ? " range='-35 35' limited='true'" : "",
                     limb == 2 && link == 1 ? " frictionloss='0.3'" : "", 0.12, limb % 2 ? 3 : 1);
        }
        strcat(text, "</body></body></body></body></body>");
    }
    strcat(text, "</body></worldbody><equality><joint joint1='j03' joint2='j43' polycoef='0 0.7 0 0 0'/>"
                 "</equality></mujoco>");
    return parse(text);
}

enum { CRAWLERS = 40, CRAWLER_DOFS = 31 };

// Bends the limbs in each world in another way. number: of the world that `world` of `physics` is to be
static void bend_crawler(orr_physics *physics, int world, int number)
{
    double at[CRAWLER_DOFS + 1], speed[CRAWLER_DOFS];
    orr_physics_get(physics, ORR_PHYSICS_QPOS, world, at);
    at[2] = (double)(float)(0.1 + 0.021 * number);
    for (int i = 0; i < CRAWLER_DOFS; i++) {
        speed[i] = (double)(float)sin(11.0 * i + 7.0 * number);
        if (i >= 6) {
            at[i + 1] = (double)(float)(0.9 * sin(5.0 * i + 2.9 * number));
        }
    }
    orr_physics_set(physics, ORR_PHYSICS_QPOS, world, at);
    orr_physics_set(physics, ORR_PHYSICS_QVEL, world, speed);
}

static void share_state(orr_physics *a, orr_physics *b, int world, orr_physics_quantity quantity)
{
    double numbers[CRAWLER_DOFS + 1];
    orr_physics_get(a, quantity, world, numbers);
    orr_physics_set(b, quantity, world, numbers);
}

static void few_rows_are_solved_for_as_accelerations_are(void **state)
{
    (void)state;
    orr_model *model = crawler();
    assert_int_equal(model->nv, CRAWLER_DOFS);
    orr_physics *fast = make_physics(model, CRAWLERS, SINGLE), *exact = make_physics(model, CRAWLERS, DOUBLE);
    for (int world = 0; world < CRAWLERS; world++) {
        bend_crawler(fast, world, world);
        bend_crawler(exact, world, world);
    }
    for (int step = 0; step < 3; step++) { // the second begins with accelerations of the first
        orr_physics_forward(fast);
        orr_physics_forward(exact);
        int wrong = 0;
        for (int world = 0; world < CRAWLERS; world++) {
            double a[CRAWLER_DOFS], b[CRAWLER_DOFS];
            orr_physics_get(fast, ORR_PHYSICS_QACC, world, a);
            orr_physics_get(exact, ORR_PHYSICS_QACC, world, b);
            double off = relative_error(a, b, CRAWLER_DOFS);
            orr_physics_read(fast, ORR_PHYSICS_QFRC_CONSTRAINT, world, a);
            orr_physics_read(exact, ORR_PHYSICS_QFRC_CONSTRAINT, world, b);
            off = fmax(off, relative_error(a, b, CRAWLER_DOFS));
            wrong += !(off < 2e-5); // 5e-6 is found
        }
        // where geoms barely touch, float knows the depth to some per cent, and the force from that
        print_message("step %d: %d of %d worlds are not as in double\n", step, wrong, CRAWLERS);
        assert_in_range(wrong, 0, 2);
        orr_physics_step(fast, 1);
        orr_physics_step(exact, 1);
        for (int world = 0; world < CRAWLERS; world++) { // from the same numbers again
            share_state(fast, exact, world, ORR_PHYSICS_QPOS);
            share_state(fast, exact, world, ORR_PHYSICS_QVEL);
        }
    }
    orr_physics_destroy(fast);
    orr_physics_destroy(exact);
    orr_model_destroy(model);
}

// Which rows act, and which way friction pulls, is guessed from the acceleration of the last step. From a
// wild one the guess is wrong in most worlds, and iterations mend it.
static void a_wrong_guess_of_the_rows_that_act_is_mended(void **state)
{
    (void)state;
    orr_model *model = crawler();
    const int iterations = model->opt.iterations;
    orr_physics *exact = make_physics(model, CRAWLERS, DOUBLE);
    orr_physics *mended = make_physics(model, CRAWLERS, SINGLE);
    model->opt.iterations = 1;
    orr_physics *guessed = make_physics(model, CRAWLERS, SINGLE);
    model->opt.iterations = iterations;
    orr_physics *all[] = {exact, mended, guessed};
    int wrong[3] = {0};
    for (int world = 0; world < CRAWLERS; world++) {
        double wild[CRAWLER_DOFS];
        for (int i = 0; i < CRAWLER_DOFS; i++) {
            wild[i] = (double)(float)(500.0 * sin(13.0 * i + 3.0 * world));
        }
        for (int k = 0; k < 3; k++) {
            bend_crawler(all[k], world, world);
            orr_physics_set(all[k], ORR_PHYSICS_QACC_WARMSTART, world, wild);
        }
    }
    for (int k = 0; k < 3; k++) {
        orr_physics_forward(all[k]);
        for (int world = 0; world < CRAWLERS; world++) {
            double a[CRAWLER_DOFS], b[CRAWLER_DOFS];
            orr_physics_get(all[k], ORR_PHYSICS_QACC, world, a);
            orr_physics_get(exact, ORR_PHYSICS_QACC, world, b);
            wrong[k] += !(relative_error(a, b, CRAWLER_DOFS) < 2e-5);
        }
        print_message("%d of %d worlds are not as in double\n", wrong[k], CRAWLERS);
    }
    assert_in_range(wrong[1], 0, 2); // as from accelerations of 0
    assert_in_range(wrong[2], CRAWLERS / 2, CRAWLERS);
    orr_physics_destroy(exact);
    orr_physics_destroy(mended);
    orr_physics_destroy(guessed);
    orr_model_destroy(model);
}

// One world has the vectors to itself, and all rows of all kinds are solved for in them.
static void solve_one_world(int32_t cone)
{
    orr_model *model = crawler();
    model->opt.cone = cone;
    orr_physics *alone = make_physics(model, 1, SINGLE), *exact = make_physics(model, 1, DOUBLE);
    orr_physics *both[] = {alone, exact};
    int wrong = 0;
    for (int number = 0; number < CRAWLERS; number++) {
        double wild[CRAWLER_DOFS], qacc[2][CRAWLER_DOFS], force[2][CRAWLER_DOFS];
        for (int i = 0; i < CRAWLER_DOFS; i++) {
            wild[i] = (double)(float)(500.0 * sin(13.0 * i + 3.0 * number));
        }
        for (int k = 0; k < 2; k++) {
            bend_crawler(both[k], 0, number);
            orr_physics_set(both[k], ORR_PHYSICS_QACC_WARMSTART, 0, wild);
            orr_physics_forward(both[k]);
            orr_physics_get(both[k], ORR_PHYSICS_QACC, 0, qacc[k]);
            orr_physics_read(both[k], ORR_PHYSICS_QFRC_CONSTRAINT, 0, force[k]);
        }
        double off = relative_error(qacc[0], qacc[1], CRAWLER_DOFS);
        off = fmax(off, relative_error(force[0], force[1], CRAWLER_DOFS));
        wrong += !(off < 2e-5);
    }
    int iterations = orr_physics_get_accuracy(alone).iterations;
    print_message("%d of %d worlds are not as in double, %d iterations (%d in double)\n", wrong, CRAWLERS,
                  iterations, orr_physics_get_accuracy(exact).iterations);
    assert_in_range(wrong, 0, 2); // as of many worlds
    assert_in_range(iterations, 2, 12);
    orr_physics_destroy(alone);
    orr_physics_destroy(exact);
    orr_model_destroy(model);
}

static void one_world_is_solved_as_in_double(void **state)
{
    (void)state;
    solve_one_world(ORR_CONE_PYRAMIDAL);
    solve_one_world(ORR_CONE_ELLIPTIC);
}

static void a_world_is_solved_alike_beside_any_others(void **state)
{
    (void)state;
    orr_model *model = crawler();
    orr_physics *many = make_physics(model, CRAWLERS, SINGLE);
    for (int world = 0; world < CRAWLERS; world++) {
        bend_crawler(many, world, world);
    }
    orr_physics_step(many, 10);
    for (int world = 0; world < CRAWLERS; world += 3) {
        orr_physics *alone = NULL;
        const orr_physics_desc desc = {
            .worlds = 1, .single_precision = true, .as_of_many = true, .cuda = cuda, .team = team};
        assert_ok(orr_physics_create(&desc, model, jobs, &alone, &error));
        bend_crawler(alone, 0, world);
        orr_physics_step(alone, 10);
        double a[CRAWLER_DOFS + 1], b[CRAWLER_DOFS + 1];
        orr_physics_get(many, ORR_PHYSICS_QPOS, world, a);
        orr_physics_get(alone, ORR_PHYSICS_QPOS, 0, b);
        assert_memory_equal(a, b, sizeof a);
        orr_physics_destroy(alone);
    }
    orr_physics_destroy(many);
    orr_model_destroy(model);
}

// A joint that a weld holds, and one with damping elsewhere, which makes the step implicit: the weld's forces
// are so stiff that their sum is a small part of each.
static void an_implicit_step_moves_stiff_joints_as_in_double(void **state)
{
    (void)state;
    orr_model *model = parse("<mujoco><worldbody><body><joint damping='0.3'/><geom size='0.1'/></body>"
                             "<body name='held' pos='0.3 -0.3 0.1'><joint ref='-18'/>"
                             "<geom type='box' size='0.15 0.1 0.2' pos='0.02 0.02 0' contype='0'/></body>"
                             "</worldbody><equality><weld body1='held'/></equality></mujoco>");
    const double at[2] = {0.1, 0.3}, speed[2] = {0.2, -0.28125};
    double velocity[2][2];
    for (int k = 0; k < 2; k++) {
        orr_physics *physics = make_physics(model, 1, k ? DOUBLE : SINGLE);
        orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, at);
        orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, speed);
        orr_physics_step(physics, 1);
        orr_physics_get(physics, ORR_PHYSICS_QVEL, 0, velocity[k]);
        orr_physics_destroy(physics);
    }
    print_message("%.9g, in double %.9g rad/s\n", velocity[0][1], velocity[1][1]);
    assert_true(relative_error(velocity[0], velocity[1], 2) < 2e-6);
    orr_model_destroy(model);
}

// What creeps towards its rest keeps no acceleration of an earlier step. count: of bodies; more of them have
// more rows.
static double error_of_slow_motion(int count)
{
    char text[4096] = "<mujoco><worldbody>";
    for (int i = 0; i < count; i++) {
        size_t end = strlen(text);
        snprintf(text + end, sizeof text - end,
                 "<body name='held%d'><joint type='slide' damping='1.12'/><joint stiffness='10.5' ref='2.4'/>"
                 "<geom type='box' size='0.08 0.05 0.0929' contype='0'/></body>",
                 i);
    }
    strcat(text, "</worldbody><equality>");
    for (int i = 0; i < count; i++) {
        size_t end = strlen(text);
        snprintf(text + end, sizeof text - end, "<weld body1='held%d'/>", i);
    }
    strcat(text, "</equality></mujoco>");
    orr_model *model = parse(text);
    double qacc[2][16], most = 0.0;
    orr_physics *physics[2] = {make_physics(model, 1, SINGLE), make_physics(model, 1, DOUBLE)};
    for (int step = 0; step < 200; step++) {
        for (int k = 0; k < 2; k++) {
            orr_physics_step(physics[k], 1);
            orr_physics_get(physics[k], ORR_PHYSICS_QACC, 0, qacc[k]);
        }
        for (int i = 0; i < 2 * count && step >= 50; i++) {
            most = fmax(most, fabs(qacc[0][i] - qacc[1][i]));
        }
    }
    orr_physics_destroy(physics[0]);
    orr_physics_destroy(physics[1]);
    orr_model_destroy(model);
    return most;
}

static void slow_motion_is_followed_in_float(void **state)
{
    (void)state;
    double one = error_of_slow_motion(1), eight = error_of_slow_motion(8);
    print_message("accelerations are up to %.2g off, of 48 rows %.2g\n", one, eight);
    assert_true(one < 3e-4 && eight < 3e-4);
}

enum { SHAKEN = 32, FINGERS_MOST = 40 };

// A base of 1 kg with fingers of 10 g that move across its way, all with dry friction: the largest error of a
// finger's acceleration in float against double. Newton's first step takes the base to the minimum, and the
// fingers, which stick, from slipping one way to slipping the other way.
static double error_of_shaken_fingers(int fingers, int worlds)
{
    static char text[TEXT];
    int used = snprintf(text, TEXT,
                        "<mujoco><option gravity='0 0 0'/><worldbody><body><joint type='slide' "
                        "frictionloss='20'/><geom size='.1' mass='1' contype='0'/>");
    for (int i = 0; i < fingers; i++) {
        used += snprintf(
            text + used, (size_t)(TEXT - used),
            "<body><joint type='slide' axis='1 0 0' frictionloss='1e-2'/><geom size='.02' mass='.01' "
            "contype='0'/></body>");
    }
    snprintf(text + used, (size_t)(TEXT - used), "</body></worldbody></mujoco>");
    orr_model *model = parse(text);
    orr_physics *exact = make_physics(model, 1, DOUBLE), *fast = make_physics(model, worlds, SINGLE);
    double force[FINGERS_MOST + 1], a[FINGERS_MOST + 1], b[FINGERS_MOST + 1], most = 0.0;
    for (int i = 0; i < SHAKEN; i++) {
        const int world = i % worlds;
        force[0] = 120.0 + sin(1.7 * i);
        for (int k = 0; k < fingers; k++) {
            force[1 + k] = (k % 2 ? 1.0 : -1.0) * (5e-3 + 2e-3 * sin(2.3 * i + 1.1 * k));
        }
        for (int k = 0; k < 2; k++) {
            orr_physics *physics = k ? exact : fast;
            orr_physics_reset(physics, k ? 0 : world);
            orr_physics_set(physics, ORR_PHYSICS_QFRC_APPLIED, k ? 0 : world, force);
        }
        if (world + 1 < worlds) {
            continue;
        }
        orr_physics_forward(fast);
        orr_physics_forward(exact);
        orr_physics_get(fast, ORR_PHYSICS_QACC, world, a);
        orr_physics_get(exact, ORR_PHYSICS_QACC, 0, b);
        for (int k = 1; k <= fingers; k++) {
            most = fmax(most, fabs(a[k] - b[k]));
        }
    }
    orr_physics_destroy(exact);
    orr_physics_destroy(fast);
    orr_model_destroy(model);
    return most;
}

static void friction_that_turns_round_is_solved_in_float(void **state)
{
    (void)state;
    // one world by the solver of few dofs and by that of many, and in lanes
    const double few = error_of_shaken_fingers(8, 1), many = error_of_shaken_fingers(40, 1),
                 lanes = error_of_shaken_fingers(40, 16);
    print_message("accelerations are up to %.2g, %.2g and %.2g off\n", few, many, lanes);
    assert_true(few < 1e-3 && many < 1e-3 && lanes < 1e-3);
}

// The first and the last of many joints are at limits that they are pushed into. In the last step they were
// pulled away, so that the rows that acted say nothing; the solver has one iteration.
static void one_iteration_finds_the_forces_of_few_rows(void **state)
{
    (void)state;
    enum { JOINTS = 30, WORLDS = 9 };
    char text[8192];
    int used = snprintf(
        text, sizeof text,
        "<mujoco><option iterations='1' gravity='0 0 0'/><worldbody><body>"
        "<joint type='slide' axis='1 0 0' range='-1 1' limited='true'/><geom size='.1' contype='0'/>");
    for (int i = 1; i < JOINTS; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "<body><joint type='slide' axis='0 %d %d' %s/><geom size='.1' contype='0'/>", i % 2,
                         (i + 1) % 2, i + 1 == JOINTS ? "range='-1 1' limited='true'" : "");
    }
    for (int i = 0; i < JOINTS; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "</body>");
    }
    snprintf(text + used, sizeof text - (size_t)used, "</worldbody></mujoco>");
    orr_model *model = parse(text);
    double at[JOINTS] = {1.001}, pulled[JOINTS] = {-500.0}, pushed[JOINTS] = {5000.0}, force[JOINTS];
    at[JOINTS - 1] = 1.001, pulled[JOINTS - 1] = -500.0, pushed[JOINTS - 1] = 400.0;
    for (int worlds = 1; worlds <= WORLDS; worlds += WORLDS - 1) {
        orr_physics *physics = make_physics(model, worlds, SINGLE);
        for (int world = 0; world < worlds; world++) {
            orr_physics_set(physics, ORR_PHYSICS_QPOS, world, at);
            orr_physics_set(physics, ORR_PHYSICS_QACC_WARMSTART, world, pulled);
            orr_physics_set(physics, ORR_PHYSICS_QFRC_APPLIED, world, pushed);
        }
        orr_physics_forward(physics);
        orr_physics_read(physics, ORR_PHYSICS_QFRC_CONSTRAINT, worlds - 1, force);
        assert_true(force[0] < -2500.0 && force[JOINTS - 1] < -200.0);
        orr_physics_destroy(physics);
    }
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tendon_that_nothing_lengthens_is_harmless_in_float),
        cmocka_unit_test(chains_of_any_length_accelerate_as_in_double),
        cmocka_unit_test(a_long_chain_swings_for_a_thousand_steps),
        cmocka_unit_test(float_for_a_long_chain_is_reported),
        cmocka_unit_test(the_solver_stops_where_rounding_stops_it),
        cmocka_unit_test(light_fingers_end_where_rounding_begins),
        cmocka_unit_test(a_solver_that_is_cut_short_is_reported),
        cmocka_unit_test(a_cost_without_a_bend_takes_newton_one_step),
        cmocka_unit_test(a_constraint_that_ends_leaves_nothing_in_H),
        cmocka_unit_test(a_search_stops_where_rounding_hides_the_slope),
        cmocka_unit_test(few_rows_are_solved_for_as_accelerations_are),
        cmocka_unit_test(a_wrong_guess_of_the_rows_that_act_is_mended),
        cmocka_unit_test(one_world_is_solved_as_in_double),
        cmocka_unit_test(a_world_is_solved_alike_beside_any_others),
        cmocka_unit_test(a_body_that_turns_about_its_centre_is_held_in_float),
        cmocka_unit_test(what_stands_upright_on_a_slope_stands_in_float),
        cmocka_unit_test(an_implicit_step_moves_stiff_joints_as_in_double),
        cmocka_unit_test(slow_motion_is_followed_in_float),
        cmocka_unit_test(friction_that_turns_round_is_solved_in_float),
        cmocka_unit_test(one_iteration_finds_the_forces_of_few_rows),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
