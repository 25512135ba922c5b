// Tests of the dynamics: against MuJoCo (tests/golden/record_dynamics.py) and against mechanics.
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/physics/golden_numbers.h"
#include "tests/support/machine.h"
#include "tests/support/robots.h"

#include <math.h>
#include <string.h>

// ---- against MuJoCo ----

typedef struct golden {
    golden_numbers file;
    int nq, nv, na, nu, states, steps;
} golden;

static double *take(golden *g, int count)
{
    return golden_numbers_take(&g->file, count);
}

static golden load_golden(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "dynamics/%s", name);
    golden g = {.file = golden_numbers_load(path)};
    double *sizes = take(&g, 6);
    g.nq = (int)sizes[0], g.nv = (int)sizes[1], g.na = (int)sizes[2], g.nu = (int)sizes[3];
    g.states = (int)sizes[4], g.steps = (int)sizes[5];
    return g;
}

static double largest(const double *a, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i]));
    }
    return most;
}

static double difference(const double *a, const double *b, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, isfinite(a[i]) ? fabs(a[i] - b[i]) : INFINITY);
    }
    return most;
}

static orr_physics *make_physics(const orr_model *model, int worlds, bool double_precision)
{
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {
        .worlds = worlds, .double_precision = double_precision, .cuda = cuda, .team = team};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    return physics;
}

// Contacts of curved geoms depend on the last digits of MuJoCo's search: a depth to 1e-14 m is a direction
// and a position to 1e-7, which contacts as stiff as these amplify to 1e-4 of an acceleration. Ours are exact
// to rounding (test_collision).
static bool is_curved(const char *name)
{
    return strcmp(name, "contacts_convex") == 0 || strcmp(name, "contacts_mesh") == 0 ||
           strcmp(name, "contacts_hfield") == 0;
}

// Boxes and hulls are searched to the end, whatever the tolerance.
static bool is_flat(const char *name)
{
    return strcmp(name, "contacts_hulls") == 0 || strcmp(name, "contacts_bent") == 0;
}

static void compare_accelerations(const char *name, golden *g, orr_physics *physics)
{
    double qacc[64], worst_free = 0.0, worst_constrained = 0.0;
    for (int i = 0; i < g->states; i++) {
        orr_physics_reset(physics, 0);
        orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, take(g, g->nq));
        orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, take(g, g->nv));
        orr_physics_set(physics, ORR_PHYSICS_ACT, 0, take(g, g->na));
        orr_physics_set(physics, ORR_PHYSICS_CTRL, 0, take(g, g->nu));
        const double *expected = take(g, g->nv);
        bool constrained = take(g, 1)[0] > 0.0;
        orr_physics_forward(physics);
        orr_physics_get(physics, ORR_PHYSICS_QACC, 0, qacc);
        double error = difference(qacc, expected, g->nv) / largest(expected, g->nv);
        if (constrained) {
            worst_constrained = fmax(worst_constrained, error);
        } else {
            worst_free = fmax(worst_free, error);
        }
    }
    print_message("%s: qacc %.1e without constraints, %.1e with", name, worst_free, worst_constrained);
    // rounding alone: both sum the same formulas in another order
    assert_true(worst_free < 1e-9);
    // the minimum of the same convex problem, found along another path
    assert_true(worst_constrained < (is_curved(name) ? 5e-4 : 1e-6));
}

// In double every step of the trajectory counts, in float the worlds of a whole block and one more run beside
// it.
static void compare_trajectory(const char *name, golden *g, orr_physics *exact, orr_physics *fast)
{
    double values[128];
    orr_physics *const both[2] = {exact, fast};
    double worst[2] = {0.0, 0.0};
    const double *qpos = take(g, g->nq), *qvel = take(g, g->nv), *act = take(g, g->na);
    for (int k = 0; k < 2; k++) {
        for (int world = 0; world < orr_physics_worlds(both[k]); world++) {
            orr_physics_reset(both[k], world);
            orr_physics_set(both[k], ORR_PHYSICS_QPOS, world, qpos);
            orr_physics_set(both[k], ORR_PHYSICS_QVEL, world, qvel);
            orr_physics_set(both[k], ORR_PHYSICS_ACT, world, act);
        }
    }
    for (int tenth = 0; tenth < 10; tenth++) {
        const double *ctrl = take(g, g->nu), *expected = take(g, g->nq), *speed = take(g, g->nv);
        for (int k = 0; k < 2; k++) {
            int last = orr_physics_worlds(both[k]) - 1;
            for (int world = 0; world <= last; world++) {
                orr_physics_set(both[k], ORR_PHYSICS_CTRL, world, ctrl);
            }
            orr_physics_step(both[k], g->steps / 10);
            orr_physics_get(both[k], ORR_PHYSICS_QPOS, last, values);
            worst[k] = fmax(worst[k], difference(values, expected, g->nq));
            orr_physics_get(both[k], ORR_PHYSICS_QVEL, last, values);
            worst[k] = fmax(worst[k], difference(values, speed, g->nv) / fmax(1.0, largest(speed, g->nv)));
        }
    }
    print_message(", trajectory %.1e in f64, %.1e in f32\n", worst[0], worst[1]);
    assert_true(worst[0] < (is_curved(name) ? 2e-5 : 1e-6));
    assert_true(worst[1] < 1e-3);
}

// The point robot's sphere touches the floor exactly: whether there is a contact depends on the last bit of
// its height, so that its path is no smooth function of rounding.
static bool rests_on_a_rounding(const char *name)
{
    return strcmp(name, "point") == 0;
}

static void hold(const char *name, const char *path)
{
    orr_model *model;
    assert_ok(orr_model_load(path, &model, &error));
    golden g = load_golden(name);
    assert_int_equal(model->nq, g.nq);
    assert_int_equal(model->nv, g.nv);
    assert_int_equal(model->na, g.na);
    assert_int_equal(model->nu, g.nu);
    model->opt.solver = ORR_SOLVER_NEWTON; // as recorded
    model->opt.tolerance = 1e-15;
    model->opt.iterations = 200;
    model->opt.ls_tolerance = 1e-6;
    model->opt.ccd_tolerance = is_flat(name) ? 1e-3 : 1e-14;
    model->opt.ccd_iterations = 120;
    orr_physics *exact = make_physics(model, 1, true), *fast = make_physics(model, 17, false);
    compare_accelerations(name, &g, exact);
    if (rests_on_a_rounding(name)) {
        print_message("\n");
    } else {
        compare_trajectory(name, &g, exact, fast);
        assert_ptr_equal(g.file.next, g.file.behind);
    }
    orr_physics_destroy(exact);
    orr_physics_destroy(fast);
    orr_model_destroy(model);
    orr_free(g.file.numbers);
}

// Worlds side by side are in different states: contacts that touch in some of them are in their gap, or not
// there, in others.
static void worlds_side_by_side_touch_differently(void **state)
{
    (void)state;
    enum { WORLDS = 17 };
    static const char *const models[] = {"contacts_sticky_elliptic", "contacts_sticky_pyramidal",
                                         "contacts_sticky_exact_pyramidal", "contacts_surfaces_elliptic"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        orr_model *model;
        assert_ok(orr_model_load(source_path("tests/golden/dynamics/%s.xml", models[i]), &model, &error));
        golden g = load_golden(models[i]);
        orr_physics *fast = make_physics(model, WORLDS, false);
        double worst = 0.0, qacc[64];
        for (int first = 0; first + WORLDS <= g.states; first += WORLDS) {
            const double *expected[WORLDS];
            for (int world = 0; world < WORLDS; world++) {
                orr_physics_reset(fast, world);
                orr_physics_set(fast, ORR_PHYSICS_QPOS, world, take(&g, g.nq));
                orr_physics_set(fast, ORR_PHYSICS_QVEL, world, take(&g, g.nv));
                take(&g, g.na + g.nu);
                expected[world] = take(&g, g.nv);
                take(&g, 1);
            }
            orr_physics_forward(fast);
            for (int world = 0; world < WORLDS; world++) {
                orr_physics_get(fast, ORR_PHYSICS_QACC, world, qacc);
                worst = fmax(worst, difference(qacc, expected[world], g.nv) / largest(expected[world], g.nv));
            }
        }
        print_message("%s: %.1e in f32\n", models[i], worst);
        // 3 m are known to 2e-7 m in float, of which stiff contacts make up to 1e-4 of the acceleration
        assert_true(worst < 1e-3);
        orr_physics_destroy(fast);
        orr_model_destroy(model);
        orr_free(g.file.numbers);
    }
}

// The cost has one minimum, whatever the solver.
static void conjugate_gradients_end_where_newton_does(void **state)
{
    (void)state;
    static const char *const models[] = {"limits", "equalities", "contacts_pyramidal", "contacts_elliptic",
                                         "contacts_box"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const char *path = source_path("tests/golden/dynamics/%s.xml", models[i]);
        orr_model *model;
        assert_ok(orr_model_load(path, &model, &error));
        golden g = load_golden(models[i]);
        model->opt.solver = ORR_SOLVER_CG;
        model->opt.tolerance = 1e-22;
        model->opt.iterations = 3000;
        model->opt.ls_tolerance = 1e-6;
        orr_physics *exact = make_physics(model, 1, true);
        compare_accelerations(models[i], &g, exact);
        print_message("\n");
        orr_physics_destroy(exact);
        orr_model_destroy(model);
        orr_free(g.file.numbers);
    }
}

static void robots_move_as_in_mujoco(void **state)
{
    (void)state;
    for_each_robot(hold);
}

static void each_feature_does_what_mujoco_does(void **state)
{
    (void)state;
    static const char *const models[] = {"joints",
                                         "actuators",
                                         "limits",
                                         "equalities",
                                         "fluid",
                                         "contacts_pyramidal",
                                         "contacts_elliptic",
                                         "contacts_box",
                                         "contacts_convex",
                                         "contacts_mesh",
                                         "contacts_hulls",
                                         "contacts_bent",
                                         "contacts_hull_plane",
                                         "contacts_hull_deep",
                                         "massless",
                                         "contacts_hfield",
                                         "contacts_pile",
                                         "contacts_capsules",
                                         "pid",
                                         "dcmotor",
                                         "actranges",
                                         "open_ranges",
                                         "drives_ball",
                                         "orientation_servos",
                                         "general_types",
                                         "implicitfast",
                                         "tendons",
                                         "tendon_armature",
                                         "transmissions",
                                         "servos",
                                         "plastic",
                                         "plastic_rk4",
                                         "spinning_rk4",
                                         "delays",
                                         "delays_rk4",
                                         "implicit",
                                         "implicitfast_fluid",
                                         "fluid_ellipsoid",
                                         "fluid_small",
                                         "muscles",
                                         "contacts_noslip_pyramidal",
                                         "contacts_noslip_elliptic",
                                         "contacts_diagexact_pyramidal",
                                         "contacts_diagexact_elliptic",
                                         "contacts_override",
                                         "contacts_adhesion",
                                         "contacts_surfaces_elliptic",
                                         "contacts_surfaces_pyramidal",
                                         "contacts_sticky_elliptic",
                                         "contacts_sticky_pyramidal",
                                         "contacts_sticky_exact_elliptic",
                                         "contacts_sticky_exact_pyramidal",
                                         "drives_euler",
                                         "drives_implicitfast",
                                         "implicitfast_free",
                                         "noslip_still",
                                         "noslip_rolling",
                                         "tendon_force_limits",
                                         "user_types",
                                         "side_sites"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const char *path = source_path("tests/golden/dynamics/%s.xml", models[i]);
        hold(models[i], path);
    }
}

// ---- against mechanics ----

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g: expected %.17g within %g", a, b, tolerance);
    }
}

static orr_model *parse(const char *text)
{
    orr_model *model;
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    return model;
}

// With both flags off MuJoCo has neither springs and dampers nor drag and gravity compensation.
static void without_springs_and_dampers_nothing_is_passive(void **state)
{
    (void)state;
    orr_model *model =
        parse("<mujoco><option integrator='implicit' viscosity='3' density='500' timestep='0.01'>"
              "<flag spring='disable' damper='disable'/></option><worldbody><body gravcomp='1'>"
              "<joint type='slide' axis='0 0 1'/><geom size='0.1'/></body></worldbody></mujoco>");
    orr_physics *physics = make_physics(model, 1, true);
    double speed = 2.0;
    orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, &speed);
    orr_physics_step(physics, 1);
    orr_physics_get(physics, ORR_PHYSICS_QVEL, 0, &speed);
    assert_near(speed, 2.0 - 0.0981, 1e-12);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// A body on a hinge cannot move along both tangents of a contact: the matrix of noslip's search is singular.
static void noslip_of_one_dof_stays_in_the_range_of_a_float(void **state)
{
    (void)state;
    orr_model *model = parse("<mujoco><option cone='elliptic' noslip_iterations='5'/><worldbody>"
                             "<geom type='plane' size='0 0 1'/>"
                             "<body><joint/><geom type='box' size='0.07 0.09 0.09'/></body>"
                             "<body><freejoint/><geom size='0.08'/></body></worldbody></mujoco>");
    const double qpos[8] = {0.0126, -0.0163, -0.0095, 0.0123, 1.0, 0.0329, -0.0259, 0.1583};
    const double qvel[7] = {-0.0227, 0.0606, 0.2083, -0.2275, 0.4263, 0.2178, 0.2531};
    double after[2][7];
    for (int exact = 0; exact < 2; exact++) {
        orr_physics *physics = make_physics(model, 1, exact == 1);
        orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, qpos);
        orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, qvel);
        orr_physics_step(physics, 1);
        orr_physics_get(physics, ORR_PHYSICS_QVEL, 0, after[exact]);
        orr_physics_destroy(physics);
    }
    for (int i = 0; i < 7; i++) {
        assert_near(after[0][i], after[1][i], 0.02);
    }
    orr_model_destroy(model);
}

// In which directions such a body can move is a matter of rounding: what f32 takes for a direction must not
// be one that f64 has not.
static void noslip_of_turned_hinges_is_the_same_in_f32(void **state)
{
    (void)state;
    for (int turn = 0; turn < 8; turn++) {
        char text[512];
        snprintf(text, sizeof text,
                 "<mujoco><option cone='elliptic' noslip_iterations='5'/><worldbody>"
                 "<geom type='plane' size='0 0 1'/><body pos='0 0 .099'>"
                 "<joint axis='%g 1 %g' pos='.2 0 .3'/>"
                 "<geom size='.1' mass='.03'/></body></worldbody></mujoco>",
                 0.1 + 0.13 * turn, 0.07 * turn);
        orr_model *model = parse(text);
        double qacc[2], speed = 0.4;
        for (int exact = 0; exact < 2; exact++) {
            orr_physics *physics = make_physics(model, 1, exact == 1);
            orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, &speed);
            orr_physics_forward(physics);
            orr_physics_get(physics, ORR_PHYSICS_QACC, 0, &qacc[exact]);
            orr_physics_destroy(physics);
        }
        assert_near(qacc[0], qacc[1], 1e-4 * fabs(qacc[1])); // noslip changes it by up to 20 %
        orr_model_destroy(model);
    }
}

// A plane of a mocap body, here of a body fixed to one, is where that body has been moved to.
static void a_plane_moves_with_its_mocap_body(void **state)
{
    (void)state;
    static const char ball[] = "<body pos='0 0 .3'><freejoint/><geom size='.1'/></body></worldbody></mujoco>";
    char text[2][512];
    snprintf(text[0], sizeof text[0],
             "<mujoco><worldbody><geom type='plane' size='0 0 1' pos='0 0 .205' euler='0 10 0'/>%s", ball);
    snprintf(text[1], sizeof text[1],
             "<mujoco><worldbody><body mocap='true'><body pos='0 0 -.1'><geom type='plane' size='0 0 1' "
             "pos='0 0 .1'/></body></body>%s",
             ball);
    const double pos[3] = {0.0, 0.0, 0.205}, quat[4] = {0.99619469809174555, 0.0, 0.08715574274765817, 0.0};
    double qacc[2][6];
    for (int moved = 0; moved < 2; moved++) {
        orr_model *model = parse(text[moved]);
        orr_physics *physics = make_physics(model, 1, true);
        if (moved) {
            orr_physics_set(physics, ORR_PHYSICS_MOCAP_POS, 0, pos);
            orr_physics_set(physics, ORR_PHYSICS_MOCAP_QUAT, 0, quat);
        }
        orr_physics_forward(physics);
        orr_physics_get(physics, ORR_PHYSICS_QACC, 0, qacc[moved]);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
    assert_true(qacc[0][0] > 1.0); // it touches, and rolls off
    for (int i = 0; i < 6; i++) {
        assert_near(qacc[0][i], qacc[1][i], 1e-9);
    }
}

// In the gap of a margin that the options give, a sphere is pulled: MuJoCo 4.0.0's acceleration.
static void a_gap_stays_with_the_margin_of_the_options(void **state)
{
    (void)state;
    orr_model *model =
        parse("<mujoco><option o_margin='0'><flag override='enable'/></option><worldbody>"
              "<geom type='plane' size='1 1 1' gap='0.003'/><body pos='0 0 0.1005'><freejoint/>"
              "<geom size='0.1' adhesion='3' mass='1'/></body></worldbody></mujoco>");
    orr_physics *physics = make_physics(model, 1, true);
    double qacc[6];
    orr_physics_forward(physics);
    orr_physics_get(physics, ORR_PHYSICS_QACC, 0, qacc);
    assert_near(qacc[2], -1.9208261772853203, 1e-9);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// A mocap body touches what can move, but no floor or other mocap body, as in MuJoCo.
static void what_cannot_move_has_no_contacts(void **state)
{
    (void)state;
    orr_model *model = parse("<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
                             "<body mocap='true'><geom type='box' size='0.2 0.2 0.1'/></body>"
                             "<body mocap='true' pos='0.1 0 0'><geom type='box' size='0.2 0.2 0.1'/></body>"
                             "<body pos='-0.1 0 0.14'><freejoint/><geom type='sphere' size='0.05'/></body>"
                             "</worldbody></mujoco>");
    orr_physics *physics = make_physics(model, 1, true);
    orr_physics_contact contacts[16];
    orr_physics_forward(physics);
    const int count = orr_physics_contacts(physics, 0, contacts, 16);
    assert_int_equal(count, 2);
    for (int i = 0; i < count; i++) {
        assert_true(contacts[i].geom1 == 3 || contacts[i].geom2 == 3);
    }
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// A pose in which a face of the expanding polytope has the final normal long before it is one of the
// difference: the depth is the least extent over the normals of all faces and pairs of edges, found by brute
// force.
static void a_hull_deep_in_a_box_keeps_its_contact(void **state)
{
    (void)state;
    orr_model *model =
        parse("<mujoco><option><flag multiccd='disable'/></option><asset><mesh name='wedge' vertex='"
              "-0.3 -0.2 -0.1  0.3 -0.25 -0.1  -0.3 0.2 -0.1  0.32 0.2 -0.1  -0.2 -0.15 0.12  0.2 -0.2 0.1  "
              "-0.15 0.15 0.14'/></asset><worldbody>"
              "<body><freejoint/><geom type='box' size='0.3 0.2 0.1'/></body>"
              "<body><freejoint/><geom type='mesh' mesh='wedge'/></body></worldbody></mujoco>");
    model->opt.ccd_tolerance = 1e-14;
    model->opt.ccd_iterations = 120;
    orr_physics *physics = make_physics(model, 1, true);
    static const double pose[14] = {0.0,
                                    0.0,
                                    0.0,
                                    -0.07009272844765306,
                                    -0.3420743198069142,
                                    0.907586853748444,
                                    -0.2331486050792526,
                                    0.5497502465996918,
                                    0.169420223332661,
                                    0.08032822258281953,
                                    0.5530192382636864,
                                    0.6440672867849132,
                                    0.28721035135732176,
                                    0.44368599964048483};
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, pose);
    orr_physics_contact contact;
    assert_int_equal(orr_physics_contacts(physics, 0, &contact, 1), 1);
    assert_true(fabs(contact.dist + 0.009483951) < 1e-8);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static double get(const orr_physics *physics, orr_physics_quantity quantity, int i)
{
    double values[64];
    orr_physics_get(physics, quantity, 0, values);
    return values[i];
}

#define INERTIAL "<inertial pos='0 0 0' mass='1' diaginertia='0.2 0.5 0.4'/>"

static void a_body_falls_by_half_g_t_squared(void **state)
{
    (void)state;
    orr_model *model = parse("<mujoco><option timestep='0.001' gravity='0 0 -10'/><worldbody><body>"
                             "<freejoint/>" INERTIAL "</body></worldbody></mujoco>");
    orr_physics *physics = make_physics(model, 1, true);
    orr_physics_step(physics, 500);
    assert_near(get(physics, ORR_PHYSICS_QVEL, 2), -5.0, 1e-9);
    // semi-implicit Euler moves by the later velocity: g dt t / 2 further
    assert_near(get(physics, ORR_PHYSICS_QPOS, 2), -1.25 - 0.5 * 10.0 * 0.001 * 0.5, 1e-9);
    assert_near(get(physics, ORR_PHYSICS_QPOS, 0), 0.0, 1e-12);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// Its damping is no longer implicit, so that the step is as long as the torque says: h |torque| / inertia.
static void a_servo_at_its_largest_torque_does_not_damp(void **state)
{
    (void)state;
    orr_model *model = parse("<mujoco><option timestep='0.05' gravity='0 0 0' integrator='implicitfast'/>"
                             "<worldbody><body><joint name='j' type='ball'/>"
                             "<inertial pos='0 0 0' mass='1' diaginertia='0.1 0.1 0.1'/></body></worldbody>"
                             "<actuator><orientation joint='j' kp='3' kv='0.2' forcelimited='true' "
                             "forcerange='0 1'/></actuator></mujoco>");
    orr_physics *physics = make_physics(model, 1, true);
    orr_physics_set(physics, ORR_PHYSICS_CTRL, 0, (double[]){0.6, -0.5, 0.3});
    orr_physics_step(physics, 1);
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        square += get(physics, ORR_PHYSICS_QVEL, k) * get(physics, ORR_PHYSICS_QVEL, k);
    }
    assert_near(sqrt(square), 0.05 * 1.0 / 0.1, 1e-12);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// A turntable of 2 rad/s under a centred disc with torsional friction, and a belt that climbs: friction of 1
// holds on a slope of 0.3.
static void surfaces_carry_what_lies_on_them(void **state)
{
    (void)state;
    orr_model *model = parse("<mujoco><worldbody><geom type='plane' size='9 9 1' surfacevel='0.5 0 0 0 0 0'/>"
                             "<geom type='box' size='1 1 0.1' pos='0 5 1' condim='4' friction='1 0.1 0' "
                             "surfacevel='0 0 0 0 0 2'/>"
                             "<geom type='box' size='3 1 0.1' pos='0 -5 3' quat='0.98877108 0 -0.14943813 0' "
                             "surfacevel='0.5 0 0 0 0 0'/>"
                             "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
                             "<body pos='0 5 1.2'><freejoint/><geom type='sphere' size='0.1'/></body>"
                             "<body pos='-0.06 -5 3.21' quat='0.98877108 0 -0.14943813 0'><freejoint/>"
                             "<geom type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>");
    orr_physics *physics = make_physics(model, 1, true);
    orr_physics_step(physics, 1000);
    // friction's damping takes the difference to e^-100 of it in these 2 s, the solver stops at 1e-8
    assert_near(get(physics, ORR_PHYSICS_QVEL, 0), 0.5, 1e-6);
    assert_near(get(physics, ORR_PHYSICS_QVEL, 11), 2.0, 1e-6);
    assert_true(get(physics, ORR_PHYSICS_QVEL, 14) > 0.05); // it climbs
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// In float too, after many steps, and again after a reset.
static void a_delay_of_whole_steps_is_that_many(void **state)
{
    (void)state;
    orr_model *model =
        parse("<mujoco><option timestep='0.002'/><worldbody><body><joint name='slide' type='slide'/>" INERTIAL
              "</body></worldbody><actuator><motor joint='slide' delay='0.006' nsample='4'/>"
              "</actuator></mujoco>");
    for (int precise = 0; precise < 2; precise++) {
        orr_physics *physics = make_physics(model, 3, precise);
        for (int step = 0; step < 500; step++) {
            double ctrl = sin(0.3 * step);
            if (step == 400) {
                orr_physics_reset(physics, 0);
            }
            orr_physics_set(physics, ORR_PHYSICS_CTRL, 0, &ctrl);
            double force;
            orr_physics_read(physics, ORR_PHYSICS_ACTUATOR_FORCE, 0, &force);
            bool acts = step >= 403 || (step >= 3 && step < 400);
            assert_near(force, acts ? sin(0.3 * (step - 3)) : 0.0, precise ? 1e-15 : 1e-6);
            orr_physics_step(physics, 1);
        }
        orr_physics_destroy(physics);
    }
    orr_model_destroy(model);
}

static void delays_without_samples_are_refused(void **state)
{
    (void)state;
    static const char *const given[] = {"delay='0.01'",
                                        "delay='-0.01' nsample='2'",
                                        "nsample='-1'",
                                        "nsample='65537'",
                                        "delay='0.01' nsample='2' interp='nearest'",
                                        "interval='-0.01' nsample='2'",
                                        "interval='0.02 0.01' nsample='2'",
                                        "interval='0.02 -0.02' nsample='2'"};
    static const char *const elements[] = {"<actuator><motor joint='slide' %s/></actuator>",
                                           "<sensor><jointpos joint='slide' %s/></sensor>"};
    for (size_t i = 0; i < 2 * (sizeof given / sizeof given[0]); i++) { // intervals are of sensors alone
        char element[256], text[512];
        snprintf(element, sizeof element, elements[i % 2], given[i / 2]);
        snprintf(text, sizeof text,
                 "<mujoco><worldbody><body><joint name='slide' type='slide'/>" INERTIAL
                 "</body></worldbody>%s</mujoco>",
                 element);
        orr_model *model = NULL;
        orr_error error;
        assert_int_not_equal(orr_model_parse(text, strlen(text), "test.xml", &model, &error), ORR_OK);
    }
}

#define PENDULUM(integrator)                                                                                 \
    "<mujoco><option timestep='0.001' gravity='0 0 -10' integrator='" integrator "'/><worldbody><body>"      \
    "<joint type='hinge' axis='0 1 0'/><inertial pos='0 0 -1' mass='1' diaginertia='0.01 0.01 0.01'/>"       \
    "</body></worldbody></mujoco>"

static void a_pendulum_keeps_its_period(void **state)
{
    (void)state;
    orr_model *model = parse(PENDULUM("RK4"));
    orr_physics *physics = make_physics(model, 1, true);
    const double start = 0.05, omega = sqrt(10.0 / 1.01);
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, &start);
    double sum = 0.0;
    const int steps = 7000; // 3.5 periods
    for (int i = 1; i <= steps; i++) {
        orr_physics_step(physics, 1);
        sum += fabs(get(physics, ORR_PHYSICS_QPOS, 0) - start * cos(omega * i * 0.001));
    }
    assert_true(sum / steps < 0.01 * start);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static double energy_drift(const char *text, int steps)
{
    orr_model *model = parse(text);
    orr_physics *physics = make_physics(model, 1, true);
    const double start = 1.0;
    double before[2], after[2], worst = 0.0;
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, &start);
    orr_physics_read(physics, ORR_PHYSICS_ENERGY, 0, before);
    for (int i = 0; i < steps; i += 10) {
        orr_physics_step(physics, 10);
        orr_physics_read(physics, ORR_PHYSICS_ENERGY, 0, after);
        worst = fmax(worst, fabs(after[0] + after[1] - before[0] - before[1]));
    }
    orr_physics_destroy(physics);
    orr_model_destroy(model);
    return worst;
}

static void runge_kutta_keeps_energy_better_than_euler(void **state)
{
    (void)state;
    double rk4 = energy_drift(PENDULUM("RK4"), 2000), euler = energy_drift(PENDULUM("Euler"), 2000);
    assert_true(rk4 < 1e-9); // order four at 1 ms
    assert_true(euler > 1e3 * rk4);
    assert_true(euler < 0.005 * 10.0); // 0.5 % of m g l
}

// A T-shaped body that spins about its middle axis flips again and again, while its angular momentum is
// conserved.
static void a_body_spinning_about_its_middle_axis_turns_over(void **state)
{
    (void)state;
    orr_model *model =
        parse("<mujoco><option timestep='0.001' gravity='0 0 0' integrator='RK4'/><worldbody><body>"
              "<freejoint/>" INERTIAL "</body></worldbody></mujoco>");
    orr_physics *physics = make_physics(model, 1, true);
    double velocity[6] = {0, 0, 0, 0.01, 0.01, 5.0}; // the moments are 0.2, 0.5, 0.4: z is in the middle
    double least = 5.0, moments[3] = {0.2, 0.5, 0.4}, momentum0 = 0.0, momentum = 0.0, after[6];
    orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, velocity);
    for (int i = 0; i < 10000; i += 10) {
        orr_physics_step(physics, 10);
        least = fmin(least, get(physics, ORR_PHYSICS_QVEL, 5));
    }
    orr_physics_get(physics, ORR_PHYSICS_QVEL, 0, after);
    for (int k = 0; k < 3; k++) {
        momentum0 += pow(moments[k] * velocity[3 + k], 2);
        momentum += pow(moments[k] * after[3 + k], 2);
        assert_near(get(physics, ORR_PHYSICS_QPOS, k), 0.0, 1e-9);
    }
    assert_true(least < -4.5);
    assert_near(sqrt(momentum / momentum0), 1.0, 1e-6);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// MuJoCo's rest penetration: with a constant impedance d the sphere sinks g (1 - d) (time constant x
// ratio)^2, or g (1 - d) / stiffness.
static void a_sphere_at_rest_sinks_as_solref_says(void **state)
{
    (void)state;
    static const char *const solref[] = {"0.1 0.8", "-100 -10"};
    const double inverse_stiffness[] = {0.08 * 0.08, 0.01};
    const double impedance[] = {0.3, 0.9, 0.99};
    for (int i = 0; i < 6; i++) {
        char text[1024];
        double d = impedance[i / 2];
        snprintf(text, sizeof text,
                 "<mujoco><option timestep='0.005'/><default><geom condim='1' solref='%s' solimp='%g "
                 "%g'/></default><worldbody>"
                 "<geom type='plane' size='1 1 1'/><body pos='0 0 0.1'><freejoint/>"
                 "<geom type='sphere' size='0.1'/></body></worldbody></mujoco>",
                 solref[i % 2], d, d);
        orr_model *model = parse(text);
        orr_physics *physics = make_physics(model, 1, true);
        orr_physics_step(physics, 10000);
        double depth = 9.81 * (1.0 - d) * inverse_stiffness[i % 2];
        assert_near(get(physics, ORR_PHYSICS_QPOS, 2), 0.1 - depth, 1e-10);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
}

// A box rests on four corners, on a plane and on another box alike.
static void a_box_on_a_box_sinks_as_on_a_plane(void **state)
{
    (void)state;
    static const char *const ground[] = {"type='plane' size='1 1 1' pos='0 0 0.2'",
                                         "type='box' size='0.5 0.5 0.2'"};
    double height[2];
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><option timestep='0.005'/><default><geom condim='3' solref='0.1 0.8' solimp='0.9 "
                 "0.9'/></default><worldbody><geom %s/><body pos='0.1 0.05 0.3'><freejoint/>"
                 "<geom type='box' size='0.2 0.15 0.1'/></body></worldbody></mujoco>",
                 ground[i]);
        orr_model *model = parse(text);
        orr_physics *physics = make_physics(model, 1, true);
        orr_physics_step(physics, 5000);
        height[i] = get(physics, ORR_PHYSICS_QPOS, 2);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
    assert_true(height[0] < 0.3 - 1e-4);
    assert_near(height[1], height[0], 1e-9); // the same contacts by another routine
}

// A box stays on a ramp below the angle of friction, and slides above it.
static void a_box_slides_above_the_angle_of_friction(void **state)
{
    (void)state;
    const double friction[] = {0.3, 0.7};
    for (int i = 0; i < 4; i++) {
        double mu = friction[i / 2], angle = atan(mu) * 180.0 / 3.14159265358979 + (i % 2 ? 2.0 : -2.0);
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><option timestep='0.002' gravity='0 0 -10' cone='elliptic' impratio='100'/>"
                 "<default><geom friction='%g'/></default><worldbody><body euler='0 %g 0'>"
                 "<geom type='box' size='3 1 0.5' pos='0 0 -0.5'/></body><body euler='0 %g 0'><freejoint/>"
                 "<geom type='box' size='0.2 0.2 0.05' pos='0 0 0.05'/></body></worldbody></mujoco>",
                 mu, angle, angle);
        orr_model *model = parse(text);
        orr_physics *physics = make_physics(model, 1, true);
        orr_physics_step(physics, 250); // settles
        double from = get(physics, ORR_PHYSICS_QPOS, 0);
        orr_physics_step(physics, 500);
        double distance = fabs(get(physics, ORR_PHYSICS_QPOS, 0) - from);
        assert_true(i % 2 ? distance > 0.02 : distance < 0.02);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
}

// A box that slides stops after v^2 / (2 mu g).
static void a_sliding_box_stops_where_coulomb_says(void **state)
{
    (void)state;
    const double friction[] = {0.2, 0.4, 0.7};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "<mujoco><option timestep='0.001' gravity='0 0 -10' cone='elliptic' impratio='100'/><worldbody>"
            "<geom type='plane' size='9 9 1' friction='%g'/><body pos='0 0 0.05'><freejoint/>"
            "<geom type='box' size='0.2 0.2 0.05' friction='%g'/></body></worldbody></mujoco>",
            friction[i], friction[i]);
        orr_model *model = parse(text);
        orr_physics *physics = make_physics(model, 1, true);
        orr_physics_step(physics, 500); // settles
        double velocity[6] = {2.0}, from = get(physics, ORR_PHYSICS_QPOS, 0);
        orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, velocity);
        orr_physics_step(physics, 1500);
        double distance = get(physics, ORR_PHYSICS_QPOS, 0) - from,
               expected = 4.0 / (2.0 * friction[i] * 10.0);
        assert_true(fabs(distance - expected) < 0.01 * expected);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
}

static void inverse_dynamics_finds_the_force_that_moved(void **state)
{
    (void)state;
    orr_model *model;
    assert_ok(orr_model_load(own_robot("biped"), &model, &error));
    orr_physics *physics = make_physics(model, 1, true);
    double applied[64], found[64], ctrl[64];
    for (int i = 0; i < 64; i++) {
        applied[i] = sin(3.0 * i) * 5.0;
        ctrl[i] = 0.0;
    }
    orr_physics_step(physics, 200); // falls on the floor
    orr_physics_set(physics, ORR_PHYSICS_CTRL, 0, ctrl);
    orr_physics_set(physics, ORR_PHYSICS_QFRC_APPLIED, 0, applied);
    orr_physics_forward(physics);
    orr_physics_read(physics, ORR_PHYSICS_QFRC_INVERSE, 0, found);
    assert_true(difference(found, applied, model->nv) < 1e-7); // of forces up to 1e4 in the contacts
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// ---- worlds ----

static void a_world_that_diverges_is_reported_and_stays_alone(void **state)
{
    (void)state;
    orr_model *model = parse(PENDULUM("Euler"));
    orr_physics *physics = make_physics(model, 4, false), *calm = make_physics(model, 4, false);
    const double huge = 1e30, pushed = 0.5;
    for (int world = 0; world < 4; world++) {
        orr_physics_set(calm, ORR_PHYSICS_QVEL, world, &pushed);
        orr_physics_set(physics, ORR_PHYSICS_QVEL, world, world == 2 ? &huge : &pushed);
    }
    orr_physics_step(physics, 50);
    orr_physics_step(calm, 50);
    for (int world = 0; world < 4; world++) {
        double a, b;
        assert_int_equal(orr_physics_diverged(physics, world), world == 2);
        orr_physics_get(physics, ORR_PHYSICS_QPOS, world, &a);
        orr_physics_get(calm, ORR_PHYSICS_QPOS, world, &b);
        assert_true(world == 2 || a == b);
    }
    orr_physics_reset(physics, 2);
    assert_false(orr_physics_diverged(physics, 2));
    orr_physics_destroy(physics);
    orr_physics_destroy(calm);
    orr_model_destroy(model);
}

// ---- many geoms ----

// Columns of boxes on a floor, each rotated against the one below. geom: its type, 'box' or a hull like it.
static orr_model *many_boxes(int columns, int levels, const char *geom)
{
    char *text = orr_alloc(200000, 1);
    assert_non_null(text);
    int used = snprintf(text, 200000,
                        "<mujoco><option timestep='0.002'/><asset><mesh name='hull' vertex='"
                        "-.1 -.12 -.08 .1 -.12 -.08 -.1 .12 -.08 .1 .12 -.08 "
                        "-.1 -.12 .08 .1 -.12 .08 -.1 .12 .08 .1 .12 .08'/></asset><worldbody>"
                        "<geom type='plane' size='20 20 1'/>");
    for (int i = 0; i < columns * levels; i++) {
        int column = i / levels, level = i % levels;
        used += snprintf(text + used, (size_t)(200000 - used),
                         "<body pos='%g %g %g' euler='0 0 %d'><freejoint/><geom type=%s/></body>",
                         0.4 * (column % 4) + 0.01 * level, 0.4 * (column / 4), 0.079 + 0.159 * level,
                         17 * level, geom);
    }
    snprintf(text + used, (size_t)(200000 - used), "</worldbody></mujoco>");
    orr_model *model = parse(text);
    orr_free(text);
    return model;
}

static void search_and_try_all_pairs(const char *geom)
{
    // 8 bodies: 36 pairs, tested one by one. The same 8 beside others far away: 40, whose pairs are listed,
    // and 192, whose pairs are not
    static const int columns[] = {10, 48};
    orr_model *few = many_boxes(2, 4, geom);
    orr_physics *tried = make_physics(few, 1, true);
    double a[8 * 7], b[192 * 7];
    orr_physics_step(tried, 100);
    orr_physics_get(tried, ORR_PHYSICS_QPOS, 0, a);
    assert_int_equal(few->nq, 56);
    for (int i = 0; i < 2; i++) {
        orr_model *many = many_boxes(columns[i], 4, geom);
        orr_physics *searched = make_physics(many, 1, true);
        orr_physics_step(searched, 100);
        orr_physics_get(searched, ORR_PHYSICS_QPOS, 0, b);
        // the solver's tolerance is for all worlds' bodies together
        assert_true(difference(a, b, few->nq) < 1e-8);
        assert_true(orr_physics_contacts_needed(searched) <= orr_physics_contact_capacity(searched));
        orr_physics_destroy(searched);
        orr_model_destroy(many);
    }
    orr_physics_destroy(tried);
    orr_model_destroy(few);
}

static const char box[] = "'box' size='0.1 0.12 0.08'";

static void a_search_finds_what_trying_all_pairs_finds(void **state)
{
    (void)state;
    search_and_try_all_pairs(box);
    if (!cuda) { // a device lists all pairs
        search_and_try_all_pairs("'mesh' mesh='hull'");
    }
}

// A lattice of n^3 spheres of mass 1 kg, each pressed into its neighbours, on a floor; not straight, so that
// contacts share load.
static orr_model *lattice(int n, const char *cone)
{
    size_t size = 1000 + 150 * (size_t)n * (size_t)n * (size_t)n;
    char *text = orr_alloc(size, 1);
    assert_non_null(text);
    size_t used = (size_t)snprintf(
        text, size, "<mujoco><option cone='%s'/><worldbody><geom type='plane' size='9 9 1'/>", cone);
    for (int i = 0; i < n * n * n; i++) {
        double x = 0.0995 * (i % n) + 1e-4 * (i % 3), y = 0.0995 * (i / n % n) + 1e-4 * (i % 4);
        used += (size_t)snprintf(text + used, size - used,
                                 "<body pos='%g %g %g'><freejoint/><geom size='0.05' mass='1'/></body>", x, y,
                                 0.0495 + 0.0993 * (i / n / n));
    }
    snprintf(text + used, size - used, "</worldbody></mujoco>");
    orr_model *model = parse(text);
    orr_free(text);
    return model;
}

// Forces that give the acceleration which the solver found, without those of contacts, are gravity alone:
// then inverse dynamics find that nothing else acts. 64 spheres are factorised whole; of 1000, in float,
// only trees are.
static void the_forces_of_a_heap_balance(void **state)
{
    (void)state;
    static const struct {
        int n;
        const char *cone;
        bool double_precision;
        double within; // [N] of a weight of 9.81
    } cases[] = {{4, "pyramidal", true, 1e-6},
                 {4, "elliptic", true, 1e-6},
                 {4, "pyramidal", false, 1e-1},
                 {10, "pyramidal", false, 1e-1},
                 {10, "elliptic", false, 1e-1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !cuda; i++) { // a device has no islands
        orr_model *model = lattice(cases[i].n, cases[i].cone);
        orr_physics *physics = make_physics(model, 1, cases[i].double_precision);
        double *left = orr_alloc((size_t)model->nv, sizeof *left);
        double *none = orr_alloc_zero((size_t)model->nv, sizeof *none);
        assert_non_null(left);
        assert_non_null(none);
        orr_physics_forward(physics);
        orr_physics_read(physics, ORR_PHYSICS_QFRC_INVERSE, 0, left);
        double most = difference(left, none, model->nv);
        if (!(most < cases[i].within)) {
            fail_msg("%d^3 spheres, %s: %g N are left", cases[i].n, cases[i].cone, most);
        }
        assert_true(orr_physics_contacts_needed(physics) > 2 * model->nbody);
        orr_free(left);
        orr_free(none);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
}

// One world alone adds up its rows in vectors, several do not.
static void a_heap_alone_moves_as_beside_others(void **state)
{
    (void)state;
    static const char *const cones[] = {"pyramidal", "elliptic"};
    for (int i = 0; i < 2 && !cuda; i++) {
        orr_model *model = lattice(4, cones[i]);
        orr_physics *alone = make_physics(model, 1, false), *beside = make_physics(model, 2, false);
        double *one = orr_alloc((size_t)model->nv, sizeof *one);
        double *other = orr_alloc((size_t)model->nv, sizeof *other);
        assert_non_null(one);
        assert_non_null(other);
        orr_physics_step(alone, 1);
        orr_physics_step(beside, 1);
        orr_physics_get(alone, ORR_PHYSICS_QVEL, 0, one);
        orr_physics_get(beside, ORR_PHYSICS_QVEL, 1, other);
        double apart = difference(one, other, model->nv);
        if (!(apart < 1e-5)) { // of velocities up to 0.03: rounding, and what the solver leaves
            fail_msg("%s: velocities differ by %g", cones[i], apart);
        }
        orr_free(one);
        orr_free(other);
        orr_physics_destroy(alone);
        orr_physics_destroy(beside);
        orr_model_destroy(model);
    }
}

static void contacts_beyond_the_capacity_are_left_out_and_counted(void **state)
{
    (void)state;
    orr_model *model = many_boxes(2, 4, box);
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {
        .worlds = 1, .double_precision = true, .contact_capacity = 20, .cuda = cuda, .team = team};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    orr_physics_step(physics, 5);
    assert_int_equal(orr_physics_contact_capacity(physics), 20);
    int needed = orr_physics_contacts_needed(physics);
    assert_true(needed > 20);
    assert_false(orr_physics_diverged(physics, 0));
    orr_physics_destroy(physics);
    // with that capacity none is left out
    const orr_physics_desc enough = {
        .worlds = 1, .double_precision = true, .contact_capacity = needed + 20, .cuda = cuda, .team = team};
    assert_ok(orr_physics_create(&enough, model, jobs, &physics, &error));
    orr_physics_step(physics, 1);
    assert_true(orr_physics_contacts_needed(physics) <= orr_physics_contact_capacity(physics));
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static void a_quaternion_of_zeros_is_no_rotation(void **state)
{
    (void)state;
    static const double zeros[4] = {0.0, 0.0, 0.0, 0.0}, spin[3] = {1.0, 2.0, 3.0};
    orr_model *model = parse("<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody><body>"
                             "<joint type='ball'/><geom size='1'/></body></worldbody></mujoco>");
    orr_physics *physics = make_physics(model, 1, true);
    double turned[4];
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, zeros);
    orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, spin);
    orr_physics_step(physics, 1);
    orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, turned);
    double angle = 0.01 * sqrt(14.0);
    assert_true(fabs(turned[0] - cos(0.5 * angle)) < 1e-12);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(turned[i + 1] - sin(0.5 * angle) * spin[i] / sqrt(14.0)) < 1e-12);
    }
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_feature_does_what_mujoco_does),
        cmocka_unit_test(without_springs_and_dampers_nothing_is_passive),
        cmocka_unit_test(noslip_of_one_dof_stays_in_the_range_of_a_float),
        cmocka_unit_test(noslip_of_turned_hinges_is_the_same_in_f32),
        cmocka_unit_test(a_plane_moves_with_its_mocap_body),
        cmocka_unit_test(a_gap_stays_with_the_margin_of_the_options),
        cmocka_unit_test(what_cannot_move_has_no_contacts),
        cmocka_unit_test(a_hull_deep_in_a_box_keeps_its_contact),
        cmocka_unit_test(robots_move_as_in_mujoco),
        cmocka_unit_test(conjugate_gradients_end_where_newton_does),
        cmocka_unit_test(a_body_falls_by_half_g_t_squared),
        cmocka_unit_test(worlds_side_by_side_touch_differently),
        cmocka_unit_test(a_servo_at_its_largest_torque_does_not_damp),
        cmocka_unit_test(surfaces_carry_what_lies_on_them),
        cmocka_unit_test(a_delay_of_whole_steps_is_that_many),
        cmocka_unit_test(delays_without_samples_are_refused),
        cmocka_unit_test(a_pendulum_keeps_its_period),
        cmocka_unit_test(runge_kutta_keeps_energy_better_than_euler),
        cmocka_unit_test(a_body_spinning_about_its_middle_axis_turns_over),
        cmocka_unit_test(a_sphere_at_rest_sinks_as_solref_says),
        cmocka_unit_test(a_box_on_a_box_sinks_as_on_a_plane),
        cmocka_unit_test(a_box_slides_above_the_angle_of_friction),
        cmocka_unit_test(a_sliding_box_stops_where_coulomb_says),
        cmocka_unit_test(inverse_dynamics_finds_the_force_that_moved),
        cmocka_unit_test(a_world_that_diverges_is_reported_and_stays_alone),
        cmocka_unit_test(the_forces_of_a_heap_balance),
        cmocka_unit_test(a_heap_alone_moves_as_beside_others),
        cmocka_unit_test(a_search_finds_what_trying_all_pairs_finds),
        cmocka_unit_test(contacts_beyond_the_capacity_are_left_out_and_counted),
        cmocka_unit_test(a_quaternion_of_zeros_is_no_rotation),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
