// Tests of the dynamics against mechanics, without an oracle.
#include "engine/core/memory.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static orr_jobs *jobs;

static int begin(void **state)
{
    (void)state;
    return orr_jobs_create(1, NULL, NULL, &jobs, NULL) != ORR_OK;
}

static int end(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    return 0;
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g: expected %.17g within %g", a, b, tolerance);
    }
}

// One world of a model, in double.
typedef struct bench {
    orr_model *model;
    orr_physics *physics;
} bench;

static bench set_up(const char *text)
{
    bench b = {0};
    const orr_physics_desc desc = {.worlds = 1, .double_precision = true};
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &b.model, &error));
    assert_ok(orr_physics_create(&desc, b.model, jobs, &b.physics, &error));
    return b;
}

static void tear_down(bench *b)
{
    orr_physics_destroy(b->physics);
    orr_model_destroy(b->model);
}

static double get(const bench *b, orr_physics_quantity quantity, int i)
{
    double values[256];
    orr_physics_read(b->physics, quantity, 0, values);
    return values[i];
}

static double total_energy(const bench *b)
{
    return get(b, ORR_PHYSICS_ENERGY, 0) + get(b, ORR_PHYSICS_ENERGY, 1);
}

// ---- contact ----

// A sphere that hits a wall, which acts as a spring k and a damper c per unit of mass and cannot pull: it
// leaves when the force is zero, with e = exp(-z t w) of its speed, t w sqrt(1 - z^2) = atan2(2 z s, 2 z^2 -
// 1), s^2 = 1 - z^2, z = c / (2 w), w^2 = k.
static void a_sphere_bounces_as_spring_and_damper_say(void **state)
{
    (void)state;
    const double stiffness = 1e4, ratios[] = {0.0, 0.07, 0.2, 0.5};
    for (int i = 0; i < 4; i++) {
        char text[1024];
        double z = ratios[i], s = sqrt(1.0 - z * z);
        snprintf(
            text, sizeof text,
            "<mujoco><option timestep='1e-5' gravity='0 0 0' integrator='RK4'/><default><geom condim='1' "
            "solref='%g %g' solimp='0.9 0.9'/></default><worldbody><geom type='plane' size='1 1 1'/>"
            "<body pos='0 0 0.06'><joint type='slide' axis='0 0 1'/><geom type='sphere' size='0.05'/></body>"
            "</worldbody></mujoco>",
            -stiffness, -2.0 * z * sqrt(stiffness));
        bench b = set_up(text);
        const double speed = -3.0;
        orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, &speed);
        orr_physics_step(b.physics, 6000); // 0.06 s: the contact lasts pi / w, half of that
        double expected = 3.0 * exp(-z / s * atan2(2.0 * z * s, 2.0 * z * z - 1.0));
        // the end of the contact falls between two steps
        assert_near(get(&b, ORR_PHYSICS_QVEL, 0), z > 0.0 ? expected : 3.0, 0.005 * expected);
        assert_true(get(&b, ORR_PHYSICS_QPOS, 0) > 0.0);
        tear_down(&b);
    }
}

// With a spring alone it returns to the height from which it was dropped, again and again.
static void an_elastic_sphere_comes_back_to_its_height(void **state)
{
    (void)state;
    bench b = set_up(
        "<mujoco><option timestep='1e-4' gravity='0 0 -10' integrator='RK4'/><default><geom condim='1' "
        "solref='-1e4 0'/></default><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1.05'>"
        "<freejoint/><geom type='sphere' size='0.05'/></body></worldbody></mujoco>");
    double highest[3] = {0.0};
    int bounces = 0;
    double before = 0.0;
    for (int i = 0; i < 40000 && bounces < 3; i++) {
        orr_physics_step(b.physics, 1);
        double velocity = get(&b, ORR_PHYSICS_QVEL, 2);
        if (before > 0.0 && velocity <= 0.0) {
            highest[bounces++] = get(&b, ORR_PHYSICS_QPOS, 2) - 0.05;
        }
        before = velocity;
    }
    assert_int_equal(bounces, 3);
    for (int i = 0; i < 3; i++) {
        assert_near(highest[i], 1.0, 0.01);
    }
    tear_down(&b);
}

// A flat slab on a slope stays where tan(angle) is below the friction and slides with the rest of gravity
// where it is above; the slope is gravity's.
static void a_slab_slides_where_the_slope_is_steeper_than_friction(void **state)
{
    (void)state;
    const double friction[] = {0.1, 0.3, 0.5, 0.7, 1.0}, degrees[] = {3.0, 10.0, 20.0, 30.0, 40.0};
    for (int i = 0; i < 25; i++) {
        double mu = friction[i / 5], angle = degrees[i % 5] * pi / 180.0, threshold = atan(mu) - angle;
        if (fabs(threshold) < 2.0 * pi / 180.0) {
            continue;
        }
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><option timestep='0.002' gravity='%.9g 0 %.9g' cone='elliptic' impratio='20'/>"
                 "<default><geom friction='%g'/></default><worldbody><geom type='plane' size='9 9 1'/>"
                 "<body pos='0 0 0.05'><freejoint/><geom type='box' size='0.2 0.2 "
                 "0.05'/></body></worldbody></mujoco>",
                 10.0 * sin(angle), -10.0 * cos(angle), mu);
        bench b = set_up(text);
        orr_physics_step(b.physics, 250);
        double from = get(&b, ORR_PHYSICS_QPOS, 0), speed = get(&b, ORR_PHYSICS_QVEL, 0);
        orr_physics_step(b.physics, 125);
        double distance = get(&b, ORR_PHYSICS_QPOS, 0) - from, gained = get(&b, ORR_PHYSICS_QVEL, 0) - speed;
        if (threshold > 0.0) {
            assert_true(fabs(distance) < 0.02 && fabs(get(&b, ORR_PHYSICS_QVEL, 0)) < 0.1);
        } else {
            assert_true(distance >= 0.02);
            // it trembles by some cm/s up and down, and friction with it
            assert_near(gained, 0.25 * 10.0 * (sin(angle) - mu * cos(angle)), 0.06);
        }
        tear_down(&b);
    }
}

// How far the nearest contact is [m] when a geom floats `apart` above another; INFINITY: there is none.
static double nearest_contact(const char *below, const char *above, double height, double apart)
{
    char text[2048];
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh name='hull' vertex='-.1 -.1 -.2 .1 -.1 -.2 -.1 .1 -.2 .1 .1 -.2 "
             "-.1 -.1 .2 .1 -.1 .2 -.1 .1 .2 .1 .1 .2'/>"
             "<hfield name='field' nrow='3' ncol='3' size='1 1 .1 .1' elevation='0 0 0 0 0 0 0 0 0'/></asset>"
             "<worldbody><geom %s margin='.03'/><body pos='0 0 %.17g'><freejoint/>"
             "<geom %s margin='.05'/></body></worldbody></mujoco>",
             below, height + apart, above);
    bench b = set_up(text);
    orr_physics_contact contacts[16];
    orr_physics_forward(b.physics);
    int count = orr_physics_contacts(b.physics, 0, contacts, 16);
    double nearest = INFINITY;
    for (int i = 0; i < count && i < 16; i++) {
        nearest = fmin(nearest, contacts[i].dist);
    }
    tear_down(&b);
    return nearest;
}

// Geoms that are closer than their margins together have a contact, of every two types; others have none.
static void a_contact_reaches_as_far_as_the_margins(void **state)
{
    (void)state;
    static const struct {
        const char *geom;
        double height; // of its top above its middle
    } types[] = {{"type='plane' size='1 1 1'", 0.0},        {"type='hfield' hfield='field'", 0.0},
                 {"type='sphere' size='.2'", 0.2},          {"type='capsule' size='.1 .1'", 0.2},
                 {"type='ellipsoid' size='.1 .3 .2'", 0.2}, {"type='cylinder' size='.1 .2'", 0.2},
                 {"type='box' size='.1 .1 .2'", 0.2},       {"type='mesh' mesh='hull'", 0.2}};
    const int count = sizeof types / sizeof types[0], first_movable = 2;
    for (int i = 0; i < count; i++) {
        for (int j = first_movable; j < count; j++) {
            const char *below = types[i].geom, *above = types[j].geom;
            double height = types[i].height + types[j].height;
            double found = nearest_contact(below, above, height, 0.99 * 0.08);
            if (!(fabs(found - 0.99 * 0.08) < 1e-6)) { // the convex search's tolerance
                fail_msg("%s above %s: %g m apart by the contact", above, below, found);
            }
            if (isfinite(nearest_contact(below, above, height, 1.01 * 0.08))) {
                fail_msg("%s above %s: a contact beyond the margins", above, below);
            }
        }
    }
}

// A height field that moves: a level one, 0.2 m of base, lies on three balls.
static void a_height_field_falls_onto_balls(void **state)
{
    (void)state;
    bench b = set_up("<mujoco><asset><hfield name='f' nrow='3' ncol='3' size='1 1 .1 .2'/></asset><worldbody>"
                     "<geom size='.3' pos='-.5 -.5 0'/><geom size='.3' pos='.5 -.5 0'/>"
                     "<geom size='.3' pos='0 .5 0'/><body pos='0 0 .51'><freejoint/>"
                     "<geom type='hfield' hfield='f'/></body></worldbody></mujoco>");
    assert_near(b.model->body_mass[1], 1000.0, 1e-9); // the base and half of the height, as in MuJoCo
    orr_physics_step(b.physics, 1000);
    assert_near(get(&b, ORR_PHYSICS_QPOS, 2), 0.5, 0.005); // contacts are soft
    assert_near(get(&b, ORR_PHYSICS_QVEL, 2), 0.0, 1e-3);
    assert_near(get(&b, ORR_PHYSICS_QPOS, 3), 1.0, 1e-3);
    tear_down(&b);
}

// ---- closed loops ----

// Freudenstein's four-bar linkage: the rocker's angle for the crank's.
static double rocker_angle(double crank, double *coupler)
{
    const double a = 0.3, b = 0.9, c = 0.8, d = 1.0;
    double x = a * cos(crank) - d, y = a * sin(crank), e = hypot(x, y);
    double rocker = atan2(y, x) - acos((c * c + e * e - b * b) / (2.0 * c * e));
    *coupler = atan2(c * sin(rocker) - y, c * cos(rocker) - x);
    return rocker;
}

static void a_four_bar_linkage_moves_as_freudenstein_says(void **state)
{
    (void)state;
    bench b =
        set_up("<mujoco><option timestep='0.0005' gravity='0 0 0'/><default><geom type='capsule' size='0.02' "
               "contype='0' conaffinity='0'/></default><worldbody>"
               "<body><joint axis='0 0 1' armature='5'/><geom fromto='0 0 0 0.3 0 0'/><body pos='0.3 0 0'>"
               "<joint axis='0 0 1'/><geom fromto='0 0 0 0.9 0 0'/><site name='coupler' pos='0.9 0 "
               "0'/></body></body>"
               "<body pos='1 0 0'><joint axis='0 0 1'/><geom fromto='0 0 0 0.8 0 0'/><site name='rocker' "
               "pos='0.8 0 0'/></body>"
               "</worldbody><equality><connect site1='coupler' site2='rocker' solref='0.002 1' solimp='0.999 "
               "0.9999'/>"
               "</equality></mujoco>");
    double coupler, rocker = rocker_angle(0.0, &coupler);
    const double start[3] = {0.0, coupler, rocker};
    // the crank's speed, and the speeds of the other angles that follow
    double beside, ahead = rocker_angle(1e-6, &beside);
    const double speed[3] = {4.0, 4.0 * ((beside - coupler) / 1e-6 - 1.0), 4.0 * (ahead - rocker) / 1e-6};
    orr_physics_set(b.physics, ORR_PHYSICS_QPOS, 0, start);
    orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, speed);
    double turned = 0.0;
    for (int i = 0; i < 700; i++) {
        orr_physics_step(b.physics, 10);
        double sites[6];
        orr_physics_read(b.physics, ORR_PHYSICS_SITE_XPOS, 0, sites);
        turned = get(&b, ORR_PHYSICS_QPOS, 0);
        double apart = get(&b, ORR_PHYSICS_QPOS, 2) - rocker_angle(turned, &coupler);
        assert_near(remainder(apart, 2.0 * pi), 0.0, 0.1 * pi / 180.0);
        assert_near(hypot(sites[0] - sites[3], sites[1] - sites[4]), 0.0, 1e-3);
    }
    assert_true(turned > 1.9 * 2.0 * pi);
    tear_down(&b);
}

// ---- momentum ----

// Momentum of all bodies and angular momentum about their common centre, from their inertias and velocities.
static void momentum(const bench *b, double result[6])
{
    double cinert[256], cvel[256];
    orr_physics_read(b->physics, ORR_PHYSICS_CINERT, 0, cinert);
    orr_physics_read(b->physics, ORR_PHYSICS_CVEL, 0, cvel);
    memset(result, 0, 6 * sizeof *result);
    for (int body = 1; body < b->model->nbody; body++) {
        const double *I = cinert + 10 * body, *w = cvel + 6 * body, *v = w + 3, *o = I + 6;
        double matrix[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
        for (int k = 0; k < 3; k++) {
            int x = (k + 1) % 3, y = (k + 2) % 3;
            result[k] += I[9] * v[k] - (o[x] * w[y] - o[y] * w[x]);
            result[3 + k] += o[x] * v[y] - o[y] * v[x];
            for (int l = 0; l < 3; l++) {
                result[3 + k] += matrix[3 * k + l] * w[l];
            }
        }
    }
}

// Springs, dampers, motors, tendons and muscles inside a body change neither its momentum nor its angular
// momentum.
static void inner_forces_keep_momentum_and_angular_momentum(void **state)
{
    (void)state;
    bench b = set_up(
        "<mujoco><option timestep='0.001' gravity='0 0 0' integrator='RK4'/><default><geom type='box' "
        "size='0.1 0.05 0.03' contype='0' conaffinity='0'/></default><worldbody><body><freejoint/><geom/>"
        "<site name='a' pos='0.05 0 0.1'/>"
        "<body pos='0.2 0 0'><joint axis='0 1 0.3' stiffness='2' damping='0.05'/><geom pos='0.1 0 0'/>"
        "<geom name='drum' type='cylinder' size='0.04 0.1' euler='90 0 0'/>"
        "<body pos='0.2 0 0'><joint type='ball' damping='0.02'/><geom pos='0.1 0 0'/><site name='b' pos='0.1 "
        "0 0.05'/>"
        "</body></body><body pos='-0.2 0 0'><joint name='s' type='slide' axis='1 0 0' stiffness='30'/><geom/>"
        "<site name='c' pos='0 0 -0.05' euler='20 30 0'/></body></body></worldbody><tendon>"
        "<spatial name='t' stiffness='20' damping='0.1'><site site='a'/><geom geom='drum'/><site "
        "site='b'/></spatial>"
        "<spatial name='u' armature='0.1'><site site='c'/><site site='b'/></spatial></tendon><actuator>"
        "<motor joint='s' gear='2'/><muscle tendon='t' lengthrange='0.2 0.6' force='5'/>"
        "<motor site='b' refsite='c' gear='1 0 2 0 0 0'/></actuator></mujoco>");
    double qvel[11], before[6], after[6], ctrl[3] = {0.7, 0.5, 0.3};
    for (int i = 0; i < 11; i++) {
        qvel[i] = sin(1.0 + 2.0 * i);
    }
    assert_int_equal(b.model->nv, 11);
    orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, qvel);
    orr_physics_set(b.physics, ORR_PHYSICS_CTRL, 0, ctrl);
    momentum(&b, before);
    double energy = total_energy(&b);
    orr_physics_step(b.physics, 1000);
    momentum(&b, after);
    for (int k = 0; k < 6; k++) {
        // of about 1: what RK4 leaves of 1e3 steps
        assert_near(after[k], before[k], 1e-6);
    }
    assert_true(fabs(total_energy(&b) - energy) > 0.01); // so the energy is not conserved trivially
    tear_down(&b);
}

// ---- forces ----

// A joint that the limit pushes back from -r accelerates by d^2 k r, where d is the impedance at r: k = 1 /
// (most time constant)^2, and the inverse weight is that of the mass.
static void the_impedance_follows_its_curve(void **state)
{
    (void)state;
    const double least = 0.1, most = 0.9, width = 0.01, middle = 0.3, time = 0.02;
    for (int power = 1; power <= 3; power++) {
        for (int i = 1; i < 13; i++) {
            char text[1024];
            snprintf(
                text, sizeof text,
                "<mujoco><option gravity='0 0 0' tolerance='1e-15'/><worldbody><body><joint type='slide' "
                "range='0 1' limited='true' solreflimit='%g 1' solimplimit='%g %g %g %g %d'/>"
                "<geom size='.1' mass='2'/></body></worldbody></mujoco>",
                time, least, most, width, middle, power);
            bench b = set_up(text);
            double r = 0.1 * i * width, x = fmin(r / width, 1.0);
            double share = x <= middle ? pow(x, power) / pow(middle, power - 1)
                                       : 1.0 - pow(1.0 - x, power) / pow(1.0 - middle, power - 1);
            double impedance = least + share * (most - least), qpos = -r;
            orr_physics_set(b.physics, ORR_PHYSICS_QPOS, 0, &qpos);
            orr_physics_forward(b.physics);
            double expected = impedance * impedance * r / (most * most * time * time);
            assert_near(get(&b, ORR_PHYSICS_QACC, 0), expected, 1e-9 * expected);
            tear_down(&b);
        }
    }
}

// Time constants are at least two steps, unless the flag refsafe is off.
static void constraints_are_no_stiffer_than_the_step_allows(void **state)
{
    (void)state;
    for (int safe = 0; safe < 2; safe++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "<mujoco><option gravity='0 0 0' timestep='0.002' tolerance='1e-15'><flag refsafe='%s'/></option>"
            "<worldbody><body><joint type='slide' range='0 1' limited='true' solreflimit='0.001 1' "
            "solimplimit='0.9 0.9 0.01'/><geom size='.1' mass='2'/></body></worldbody></mujoco>",
            safe ? "enable" : "disable");
        bench b = set_up(text);
        double qpos = -0.01, time = safe ? 0.004 : 0.001, expected = 0.01 / (time * time);
        orr_physics_set(b.physics, ORR_PHYSICS_QPOS, 0, &qpos);
        orr_physics_forward(b.physics);
        assert_near(get(&b, ORR_PHYSICS_QACC, 0), expected, 1e-9 * expected);
        tear_down(&b);
    }
}

static void forces_on_a_joint_stay_in_its_range(void **state)
{
    (void)state;
    bench b = set_up("<mujoco><worldbody><body><joint name='j' type='slide' actuatorfrcrange='-1 3' "
                     "actuatorfrclimited='true'/><geom size='.1'/></body></worldbody>"
                     "<actuator><motor joint='j'/></actuator></mujoco>");
    static const double pushed[] = {-5.0, -0.5, 2.0, 5.0}, expected[] = {-1.0, -0.5, 2.0, 3.0};
    for (int i = 0; i < 4; i++) {
        orr_physics_set(b.physics, ORR_PHYSICS_CTRL, 0, &pushed[i]);
        orr_physics_forward(b.physics);
        assert_near(get(&b, ORR_PHYSICS_QFRC_ACTUATOR, 0), expected[i], 1e-15);
    }
    tear_down(&b);
}

// ---- pairs that are near ----

// Every fourth cannot move: 1062 pairs, of which near ones are searched by boxes, or 63, of which they are
// searched by boxes in one world alone.
enum { MOST_BALLS = 48, FEW_BALLS = 12 };

static void place_ball(int i, double at[3])
{
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = 0.25 * sin(37.0 * i + 11.0 * axis * i + 1.7 * axis);
    }
}

// Balls of 5 cm in a cube of 50 cm; between those that move some that cannot.
static orr_model *scattered_balls(int balls)
{
    enum { TEXT = 8192 };
    char text[TEXT] = "<mujoco><option gravity='0 0 0'/><default><geom size='0.05'/></default><worldbody>";
    for (int i = 0; i < balls; i++) {
        size_t used = strlen(text);
        double at[3];
        place_ball(i, at);
        snprintf(text + used, TEXT - used, "<body pos='%.9g %.9g %.9g'>%s<geom/></body>", at[0], at[1], at[2],
                 i % 4 == 3 ? "" : "<freejoint/>");
    }
    strcat(text, "</worldbody></mujoco>");
    orr_model *model;
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    return model;
}

// How many pairs of balls touch in a world, by their distances.
static int touching_balls(orr_physics *physics, int world, int balls)
{
    double at[3 * (1 + MOST_BALLS)];
    orr_physics_read(physics, ORR_PHYSICS_XPOS, world, at);
    int count = 0;
    for (int i = 1; i <= balls; i++) {
        for (int j = i + 1; j <= balls; j++) {
            const double *a = at + 3 * i, *b = at + 3 * j;
            int moves = i % 4 != 0 || j % 4 != 0;
            count += moves && hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]) < 0.1;
        }
    }
    return count;
}

static void check_near_pairs(const orr_physics_desc *desc, int balls)
{
    orr_model *model = scattered_balls(balls);
    orr_physics *physics;
    assert_ok(orr_physics_create(desc, model, jobs, &physics, &error));
    double speed[6 * MOST_BALLS] = {0.0};
    for (int world = 0; world < desc->worlds; world++) {
        for (int i = 0; i < model->nv; i++) {
            speed[i] = i % 6 < 3 ? sin(1.3 * i + world) : 0.0;
        }
        orr_physics_set(physics, ORR_PHYSICS_QVEL, world, speed);
    }
    int touched = 0;
    for (int round = 0; round < 5; round++) {
        orr_physics_contact contacts[400];
        for (int world = 0; world < desc->worlds; world++) {
            int touch = touching_balls(physics, world, balls);
            touched += touch;
            assert_true(touch > 0 || balls < MOST_BALLS);
            assert_int_equal(orr_physics_contacts(physics, world, contacts, 400), touch);
        }
        orr_physics_step(physics, 2);
    }
    assert_true(touched > 0);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static void all_near_pairs_are_found_among_many(void **state)
{
    (void)state;
    static const orr_physics_desc descs[] = {{.worlds = 1, .double_precision = true},
                                             {.worlds = 1, .single_precision = true},
                                             {.worlds = 20, .single_precision = true}};
    for (int k = 0; k < 3; k++) {
        check_near_pairs(&descs[k], MOST_BALLS);
        check_near_pairs(&descs[k], FEW_BALLS);
    }
}

// ---- integrators ----

#define DOUBLE_PENDULUM                                                                                      \
    "<mujoco><option timestep='%g' gravity='0 0 -10' integrator='%s'/><worldbody><body><joint axis='0 1 "    \
    "0'/>"                                                                                                   \
    "<geom type='capsule' size='0.05' fromto='0 0 0 0.5 0 0'/><body pos='0.5 0 0'>"                          \
    "<joint axis='0 1 0.5'/><geom type='capsule' size='0.05' fromto='0 0 0 0.5 0.1 0'/></body></body>"       \
    "</worldbody></mujoco>"

static void swing(const char *integrator, double timestep, double end_at[2])
{
    char text[1024];
    snprintf(text, sizeof text, DOUBLE_PENDULUM, timestep, integrator);
    bench b = set_up(text);
    orr_physics_step(b.physics, (int)lround(0.5 / timestep));
    end_at[0] = get(&b, ORR_PHYSICS_QPOS, 0);
    end_at[1] = get(&b, ORR_PHYSICS_QPOS, 1);
    assert_near(get(&b, ORR_PHYSICS_TIME, 0), 0.5, 1e-12);
    tear_down(&b);
}

// Half the step divides the error by 2 to the order.
static void each_integrator_has_its_order(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double order, step;
    } integrators[] = {
        {"Euler", 1.0, 1e-3}, {"implicit", 1.0, 1e-3}, {"implicitfast", 1.0, 1e-3}, {"RK4", 4.0, 0.01}};
    double exact[2];
    swing("RK4", 2e-4, exact);
    for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
        double errors[2];
        for (int k = 0; k < 2; k++) {
            double end_at[2];
            swing(integrators[i].name, integrators[i].step / (k + 1), end_at);
            errors[k] = hypot(end_at[0] - exact[0], end_at[1] - exact[1]);
        }
        assert_near(log2(errors[0] / errors[1]), integrators[i].order, 0.15);
    }
}

// MuJoCo's own test of integrators on a body that spins freely about no axis of its own.
static double spinning_energy(const char *integrator, bool *rises, double *turned_away)
{
    char text[512];
    snprintf(text, sizeof text,
             "<mujoco><option timestep='0.01' gravity='0 0 0' integrator='%s'/><worldbody><body><freejoint/>"
             "<geom type='box' size='0.1 0.2 0.3'/></body></worldbody></mujoco>",
             integrator);
    bench b = set_up(text);
    const double velocity[6] = {0, 0, 0, 1, 2, 3};
    double first[6], last[6], square = 0.0, apart = 0.0;
    orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, velocity);
    double start = total_energy(&b), before = start;
    momentum(&b, first);
    *rises = false;
    for (int i = 0; i < 500; i++) {
        orr_physics_step(b.physics, 1);
        double now = total_energy(&b);
        *rises = *rises || now > before + 1e-9 * start;
        before = now;
    }
    momentum(&b, last);
    for (int k = 3; k < 6; k++) {
        square += first[k] * first[k];
        apart += (last[k] - first[k]) * (last[k] - first[k]);
    }
    *turned_away = sqrt(apart / square);
    tear_down(&b);
    return before / start;
}

static void a_free_body_does_not_gain_energy_implicitly(void **state)
{
    (void)state;
    static const char *const implicit[] = {"implicit", "implicitfast"};
    bool rises;
    double turned;
    for (int i = 0; i < 2; i++) {
        double left = spinning_energy(implicit[i], &rises, &turned);
        assert_false(rises);
        assert_true(left > 0.7 && left < 1.0);
        assert_true(turned < 0.06);
    }
    assert_true(spinning_energy("Euler", &rises, &turned) > 1.01);
    assert_true(rises);
}

// The change of velocity over a step gives, by inverse dynamics of the step, the force that was applied.
static void inverse_dynamics_of_a_step_finds_the_force(void **state)
{
    (void)state;
    static const int integrators[] = {ORR_INTEGRATOR_EULER, ORR_INTEGRATOR_IMPLICIT,
                                      ORR_INTEGRATOR_IMPLICITFAST};
    static const char *const names[] = {"implicit", "tendon_armature"};
    for (int i = 0; i < 6; i++) {
        bench b = {0};
        const orr_physics_desc desc = {.worlds = 1, .double_precision = true};
        const char *path = source_path("tests/golden/dynamics/%s.xml", names[i % 2]);
        assert_ok(orr_model_load(path, &b.model, &error));
        b.model->opt.integrator = integrators[i / 2];
        b.model->opt.enableflags |= ORR_ENABLE_INVDISCRETE;
        assert_ok(orr_physics_create(&desc, b.model, jobs, &b.physics, &error));
        double applied[32], qvel[32], qpos[32], after[32], found[32], by_actuators[32];
        for (int k = 0; k < b.model->nv; k++) {
            applied[k] = sin(3.0 * k);
            qvel[k] = cos(5.0 * k);
        }
        orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, qvel);
        orr_physics_set(b.physics, ORR_PHYSICS_QFRC_APPLIED, 0, applied);
        orr_physics_get(b.physics, ORR_PHYSICS_QPOS, 0, qpos);
        orr_physics_read(b.physics, ORR_PHYSICS_QFRC_ACTUATOR, 0, by_actuators);
        orr_physics_step(b.physics, 1);
        orr_physics_get(b.physics, ORR_PHYSICS_QVEL, 0, after);
        for (int k = 0; k < b.model->nv; k++) {
            after[k] = (after[k] - qvel[k]) / b.model->opt.timestep;
        }
        orr_physics_set(b.physics, ORR_PHYSICS_QPOS, 0, qpos);
        orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, qvel);
        double act[8] = {0.0};
        orr_physics_set(b.physics, ORR_PHYSICS_ACT, 0, act);
        orr_physics_set(b.physics, ORR_PHYSICS_QACC, 0, after);
        orr_physics_read(b.physics, ORR_PHYSICS_QFRC_INVERSE, 0, found);
        for (int k = 0; k < b.model->nv; k++) {
            // of forces up to 1e3: M qacc minus bias and springs
            assert_near(found[k], applied[k] + by_actuators[k], 1e-8);
        }
        tear_down(&b);
    }
}

// On a slope below the angle of friction soft contacts creep at a constant speed. A box, a mesh of the same
// shape and one with an uneven base of five corners do so alike, and none of them rocks.
static void meshes_rest_on_a_slope_as_a_box_does(void **state)
{
    (void)state;
    bench b = set_up(
        "<mujoco><option gravity='3.355 0 -9.218'/><asset>"
        "<mesh name='cube' vertex='-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .1 .1 -.1 -.1 -.1 .1 .1 -.1 .1 -.1 .1 "
        ".1 "
        ".1 .1 .1'/>"
        "<mesh name='rock' vertex='-.1 -.12 -.1 .13 -.1 -.1 -.11 .1 -.1 .02 .15 -.1 .12 .1 -.1 -.05 -.08 .1 "
        ".06 -.1 .09 -.1 .05 .1 .02 .1 .12'/></asset>"
        "<default><geom friction='0.6'/></default><worldbody><geom type='plane' size='5 5 1'/>"
        "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
        "<body pos='0 1 0.1'><freejoint/><geom type='mesh' mesh='cube'/></body>"
        "<body pos='0 2 0.11'><freejoint/><geom type='mesh' mesh='rock'/></body></worldbody></mujoco>");
    orr_physics_step(b.physics, 1000);
    double start[3], first[18], speed[18], rocking = 0.0;
    orr_physics_get(b.physics, ORR_PHYSICS_QVEL, 0, first);
    for (int body = 0; body < 3; body++) {
        start[body] = get(&b, ORR_PHYSICS_QPOS, 7 * body);
    }
    for (int step = 0; step < 500; step++) {
        orr_physics_step(b.physics, 1);
        orr_physics_get(b.physics, ORR_PHYSICS_QVEL, 0, speed);
        for (int i = 0; i < 18; i++) {
            rocking = fmax(rocking, fabs(speed[i] - first[i]));
        }
    }
    assert_near(rocking, 0.0, 1e-6); // 0.1 when contacts jump from corner to corner
    double creep = get(&b, ORR_PHYSICS_QPOS, 0) - start[0];
    assert_near(creep, 1.63e-3, 1e-5); // in a second, as in MuJoCo 4.0.0
    assert_near(get(&b, ORR_PHYSICS_QPOS, 7) - start[1], creep, 1e-9);
    assert_near(get(&b, ORR_PHYSICS_QPOS, 14) - start[2], creep, 2e-6);
    tear_down(&b);
}

// Poses of a hull of 40 vertices that overlaps a box or another hull, by up to a fifth of its size.
static void overlapping_pose(int i, double qpos[7])
{
    double length = 0.0;
    for (int k = 0; k < 4; k++) {
        qpos[3 + k] = sin(1.7 * i + 2.1 * k + 0.3 * i * k);
        length += qpos[3 + k] * qpos[3 + k];
    }
    for (int k = 0; k < 4; k++) {
        qpos[3 + k] /= sqrt(length);
    }
    double x = sin(2.3 * i), y = cos(3.1 * i + 1.0), z = sin(0.9 * i + 2.0) + 1.5;
    double apart = (0.11 + 0.03 * sin(5.3 * i)) / sqrt(x * x + y * y + z * z);
    qpos[0] = apart * x;
    qpos[1] = apart * y;
    qpos[2] = apart * z;
}

// Where two edges lie along one another, which of their ends comes first depends on rounding.
static const orr_physics_contact *contact_at(const orr_physics_contact *list, int count, const double at[3])
{
    int nearest = 0;
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        const double *pos = list[i].pos;
        double off = fabs(pos[0] - at[0]) + fabs(pos[1] - at[1]) + fabs(pos[2] - at[2]);
        nearest = off < least ? i : nearest;
        least = fmin(off, least);
    }
    return &list[nearest];
}

static double deepest(const orr_physics_contact *list, int count)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++) {
        least = fmin(least, list[i].dist);
    }
    return least;
}

enum { VERTEX_TEXT = 7168 };

// Vertices of a hull on an ellipsoid, by the golden angle. faceted: they are on the faces of a box, up to
// 20 nm.
static void write_vertices(int mesh, int vertices, bool faceted, char text[VERTEX_TEXT])
{
    for (int i = 0, at = 0; i < vertices; i++) {
        double z = 1.0 - (2.0 * i + 1.0) / vertices, across = sqrt(1.0 - z * z), turn = (2.4 + mesh) * i;
        double x = across * cos(turn), y = across * sin(turn), jitter = 2e-7 * sin(7.0 * i * i);
        double most = fmax(fabs(x), fmax(fabs(y), fabs(z)));
        double scale = faceted ? (0.8 + jitter) / most : 1.0;
        at +=
            snprintf(text + at, VERTEX_TEXT - (size_t)at, "%.*f %.*f %.*f ", faceted ? 9 : 4, 0.1 * scale * x,
                     faceted ? 9 : 4, (0.08 + 0.04 * mesh) * scale * y, faceted ? 9 : 4, 0.06 * scale * z);
    }
}

// What lanes find together in float (lane_depth.h) is what one world finds alone in double. pairs: of a geom
// that is fixed and one that is moved; vertices: of each hull; share: of the distance between them.
static void check_lanes(const char *const (*pairs)[2], int pair_count, int vertices, bool faceted,
                        double share)
{
    enum { POSES = 64, MOST = 8 };
    char text[2 * VERTEX_TEXT + 1024], vertex[2][VERTEX_TEXT];
    write_vertices(0, vertices, faceted, vertex[0]);
    write_vertices(1, vertices, faceted, vertex[1]);
    int touching = 0;
    for (int pair = 0; pair < pair_count; pair++) {
        snprintf(text, sizeof text,
                 "<mujoco><option ccd_iterations='100'/>"
                 "<asset><mesh name='one' vertex='%s'/><mesh name='two' vertex='%s'/></asset>"
                 "<worldbody><geom %s/><body><freejoint/><geom %s/></body></worldbody></mujoco>",
                 vertex[0], vertex[1], pairs[pair][0], pairs[pair][1]);
        bench alone = set_up(text);
        const orr_physics_desc desc = {.worlds = POSES};
        orr_physics *lanes;
        assert_ok(orr_physics_create(&desc, alone.model, jobs, &lanes, &error));
        double qpos[7];
        for (int i = 0; i < POSES; i++) {
            overlapping_pose(i, qpos);
            for (int axis = 0; axis < 3; axis++) {
                qpos[axis] *= share;
            }
            orr_physics_set(lanes, ORR_PHYSICS_QPOS, i, qpos);
        }
        for (int i = 0; i < POSES; i++) {
            orr_physics_contact one[MOST], many[MOST];
            overlapping_pose(i, qpos);
            for (int axis = 0; axis < 3; axis++) {
                qpos[axis] *= share;
            }
            orr_physics_set(alone.physics, ORR_PHYSICS_QPOS, 0, qpos);
            int count = orr_physics_contacts(alone.physics, 0, one, MOST);
            count = deepest(one, count) < -1e-6 ? count : 0; // in float so little is no contact
            assert_int_equal(orr_physics_contacts(lanes, i, many, MOST), count);
            for (int k = 0; k < count; k++) { // sizes of 0.1 and unit quaternions in float
                const orr_physics_contact *same = contact_at(one, count, many[k].pos);
                assert_near(many[k].dist, same->dist, 1e-6);
                for (int axis = 0; axis < 3; axis++) {
                    assert_near(many[k].frame[axis], same->frame[axis], 1e-5);
                    // along a side on which something round lies the place depends on the pose's rounding
                    assert_near(many[k].pos[axis], same->pos[axis], pair_count > 2 ? 2e-4 : 1e-5);
                }
            }
            touching += count > 0;
        }
        orr_physics_destroy(lanes);
        tear_down(&alone);
    }
    const int most = pair_count * POSES;
    assert_in_range(touching, most / 2, most - (faceted || share < 1.0 ? 0 : 4)); // and some poses are apart
}

static void hulls_overlap_in_lanes_as_they_do_alone(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"type='box' size='.1 .08 .05'", "type='mesh' mesh='one'"},
                                           {"type='mesh' mesh='two'", "type='mesh' mesh='one'"}};
    check_lanes(pairs, 2, 40, false, 1.0);
    check_lanes(pairs, 2, 200, false, 1.0); // of so large a hull those are tried that can be the farthest
    check_lanes(pairs, 2, 200, false, 0.2); // so deep that more vertices are needed than lanes have room for
    check_lanes(pairs, 2, 40, true, 1.0);
}

static void curved_geoms_overlap_in_lanes_as_they_do_alone(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"type='box' size='.1 .08 .05'", "type='cylinder' size='.07 .1'"},
        {"type='cylinder' size='.09 .06'", "type='cylinder' size='.07 .1'"},
        {"type='mesh' mesh='two'", "type='cylinder' size='.07 .1'"},
        {"type='box' size='.1 .08 .05'", "type='ellipsoid' size='.09 .06 .07'"},
        {"type='cylinder' size='.09 .06'", "type='ellipsoid' size='.09 .06 .07'"},
        {"type='ellipsoid' size='.1 .05 .06'", "type='ellipsoid' size='.09 .06 .07'"},
        {"type='mesh' mesh='two'", "type='ellipsoid' size='.09 .06 .07'"},
        {"type='mesh' mesh='two'", "type='sphere' size='.05'"}};
    check_lanes(pairs, 8, 40, false, 0.9);
    check_lanes(pairs, 8, 200, false, 1.0);
    check_lanes(pairs + 7, 1, 40, false, 0.4); // the sphere's middle is inside
}

// A hull whose bottom is flat up to 20 nm sticks in a wide plate: the foot of the origin is near the diagonal
// of the difference's wide face, with vertices a little beyond both of its triangles.
static void a_hull_stuck_in_a_plate_is_pushed_out_of_its_near_side(void **state)
{
    (void)state;
    enum { POSES = 64, MOST = 8 };
    char text[VERTEX_TEXT + 1024], vertex[VERTEX_TEXT];
    write_vertices(0, 100, true, vertex);
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh name='m' vertex='%s'/></asset><worldbody><geom type='box' size='.41 .55 "
             ".005'/><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
             vertex);
    bench alone = set_up(text);
    const orr_physics_desc desc = {.worlds = POSES};
    orr_physics *lanes;
    assert_ok(orr_physics_create(&desc, alone.model, jobs, &lanes, &error));
    double qpos[POSES][7] = {{0.0}};
    for (int i = 0; i < POSES; i++) {
        const double turn = i % 2 ? 0.0 : 0.1 * i;
        qpos[i][0] = 0.2 * sin(1.3 * i), qpos[i][1] = 0.3 * cos(2.1 * i), qpos[i][2] = 0.03;
        qpos[i][3] = cos(0.5 * turn), qpos[i][6] = sin(0.5 * turn);
        orr_physics_set(lanes, ORR_PHYSICS_QPOS, i, qpos[i]);
    }
    for (int i = 0; i < POSES; i++) {
        orr_physics_contact one[MOST], many[MOST];
        orr_physics_set(alone.physics, ORR_PHYSICS_QPOS, 0, qpos[i]);
        const int count = orr_physics_contacts(alone.physics, 0, one, MOST);
        assert_in_range(count, 1, MOST);
        assert_in_range(orr_physics_contacts(lanes, i, many, MOST), 1, MOST);
        for (int axis = 0; axis < 3; axis++) {
            assert_near(many[0].frame[axis], one[0].frame[axis], 1e-5);
        }
        assert_near(one[0].frame[2], 1.0, 1e-5);
        assert_near(many[0].dist, one[0].dist, 1e-6);
    }
    orr_physics_destroy(lanes);
    tear_down(&alone);
}

static void turn(const double axes[3][3], const double p[3], double turned[3])
{
    for (int k = 0; k < 3; k++) {
        turned[k] = axes[0][k] * p[0] + axes[1][k] * p[1] + axes[2][k] * p[2];
    }
}

// A box, turned, as a hull with more vertices on its edges, of eight digits: they make slivers of triangles,
// whose normals are those of rounding. Small spheres touch its faces in lanes as deep as they are.
static void slivers_of_a_hull_have_no_say(void **state)
{
    (void)state;
    enum { POSES = 240, MOST = 4, OF_AN_EDGE = 9 };
    static const double half[3] = {0.1, 0.08, 0.05}, radius = 6e-4;
    static const double c = 0.76484219, s = 0.64421769, u = 0.36235775, v = 0.93203909; // of 0.7 and 1.2 rad
    const double axes[3][3] = {{c, s, 0.0}, {-s * u, c * u, v}, {s * v, -c * v, u}};
    static char text[16384], vertex[12288];
    for (int i = 0, at = 0; i < 3 * 4 * OF_AN_EDGE; i++) {
        const int axis = i / (4 * OF_AN_EDGE), edge = i / OF_AN_EDGE % 4;
        double p[3], turned[3];
        p[axis] = half[axis] * (2.0 * (i % OF_AN_EDGE) / (OF_AN_EDGE - 1) - 1.0);
        for (int k = 1; k < 3; k++) {
            p[(axis + k) % 3] = half[(axis + k) % 3] * (edge >> (k - 1) & 1 ? 1.0 : -1.0);
        }
        turn(axes, p, turned);
        at += snprintf(vertex + at, sizeof vertex - (size_t)at, "%.8f %.8f %.8f ", turned[0], turned[1],
                       turned[2]);
    }
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh name='m' inertia='convex' vertex='%s'/></asset><worldbody><geom "
             "type='mesh' mesh='m'/><body><freejoint/><geom size='%g'/></body></worldbody></mujoco>",
             vertex, radius);
    orr_model *model;
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    const orr_physics_desc desc = {.worlds = POSES};
    orr_physics *lanes;
    assert_ok(orr_physics_create(&desc, model, jobs, &lanes, &error));
    for (int i = 0; i < POSES; i++) { // the middle is up to a radius outside, or a little inside
        double p[3], qpos[7] = {0.0, 0.0, 0.0, 1.0};
        const int axis = i % 3;
        for (int k = 1; k < 3; k++) {
            p[(axis + k) % 3] = 0.97 * sin((1.3 + k) * i) * half[(axis + k) % 3];
        }
        p[axis] = (i % 2 ? 1.0 : -1.0) * (half[axis] + radius * (0.4 * (i % 4) - 0.3));
        turn(axes, p, qpos);
        orr_physics_set(lanes, ORR_PHYSICS_QPOS, i, qpos);
    }
    for (int i = 0; i < POSES; i++) {
        orr_physics_contact found[MOST];
        assert_int_equal(orr_physics_contacts(lanes, i, found, MOST), 1);
        assert_near(found[0].dist, radius * (0.4 * (i % 4) - 1.3), 1e-6);
        const double *normal = found[0].frame, *axis = axes[i % 3];
        assert_near(fabs(normal[0] * axis[0] + normal[1] * axis[1] + normal[2] * axis[2]), 1.0, 1e-5);
    }
    orr_physics_destroy(lanes);
    orr_model_destroy(model);
}

enum { SHARERS = 5 };

// In this world, does the i-th body of pairs_share_a_search touch what is below it?
static bool meets(int world, int i)
{
    return (7 * world + 3 * i + world / 16) % (i == 1 ? 2 : 5) == 0;
}

// Worlds in which pairs of boxes, hulls and balls touch are others for each pair, so that several pairs share
// the lanes of a search, in some blocks more than there are lanes: the contacts are those of one world alone,
// in the same order.
static void pairs_share_a_search(void **state)
{
    (void)state;
    enum { WORLDS = 48, MOST = 32 };
    static char text[4 * VERTEX_TEXT], vertex[2][VERTEX_TEXT];
    static const char *const fixed[SHARERS] = {"type='box' size='.1 .08 .05'", "type='mesh' mesh='two'",
                                               "type='sphere' size='.09'", "type='mesh' mesh='one'",
                                               "type='box' size='.05 .08 .1'"};
    write_vertices(0, 40, false, vertex[0]);
    write_vertices(1, 200, false, vertex[1]);
    int at = snprintf(text, sizeof text,
                      "<mujoco><asset><mesh name='one' vertex='%s'/><mesh name='two' vertex='%s'/></asset>"
                      "<worldbody>",
                      vertex[0], vertex[1]);
    for (int i = 0; i < SHARERS; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "<geom %s pos='%d 0 0'/><body><freejoint/><geom %s/></body>", fixed[i], i,
                       i == 2 ? "size='.09'" : "type='mesh' mesh='one'");
    }
    snprintf(text + at, sizeof text - (size_t)at, "</worldbody></mujoco>");
    bench alone = set_up(text);
    const orr_physics_desc desc = {.worlds = WORLDS};
    orr_physics *lanes;
    assert_ok(orr_physics_create(&desc, alone.model, jobs, &lanes, &error));
    double qpos[WORLDS][7 * SHARERS];
    for (int world = 0; world < WORLDS; world++) {
        for (int i = 0; i < SHARERS; i++) {
            overlapping_pose(SHARERS * world + i, qpos[world] + 7 * i);
            qpos[world][7 * i] += i;
            qpos[world][7 * i + 2] += meets(world, i) ? 0.0 : 5.0 + i;
        }
        orr_physics_set(lanes, ORR_PHYSICS_QPOS, world, qpos[world]);
    }
    int touching = 0;
    for (int world = 0; world < WORLDS; world++) {
        orr_physics_contact one[MOST], many[MOST];
        orr_physics_set(alone.physics, ORR_PHYSICS_QPOS, 0, qpos[world]);
        const int count = orr_physics_contacts(alone.physics, 0, one, MOST);
        assert_int_equal(orr_physics_contacts(lanes, world, many, MOST), count);
        for (int k = 0; k < count; k++) {
            const orr_physics_contact *same = contact_at(one, count, many[k].pos);
            assert_int_equal(many[k].geom2, one[k].geom2);
            assert_int_equal(many[k].geom2, same->geom2);
            assert_near(many[k].dist, same->dist, 2e-6); // at up to 5 m in float
            for (int axis = 0; axis < 3; axis++) {
                assert_near(many[k].frame[axis], same->frame[axis], 2e-5);
                assert_near(many[k].pos[axis], same->pos[axis], 2e-5);
            }
        }
        touching += count > 0;
    }
    assert_in_range(touching, WORLDS / 2, WORLDS);
    orr_physics_destroy(lanes);
    tear_down(&alone);
}

enum { PRISM_TEXT = 4096 };

// Vertices of a prism over an ellipse.
static void write_prism(int sides, double radius_x, double radius_y, double half_height,
                        char text[PRISM_TEXT])
{
    for (int i = 0, at = 0; i < 2 * sides; i++) {
        double turn = 2 * pi * (i / 2) / sides;
        at += snprintf(text + at, PRISM_TEXT - (size_t)at, "%.6f %.6f %.4f ", radius_x * cos(turn),
                       radius_y * sin(turn), i % 2 ? half_height : -half_height);
    }
}

// A link that turns on the fixed base of a robot, with faces that lie flush on each other: the rounding of
// poses neither brakes it in some steps nor in all, in lanes or alone. 0.01 mm deeper they do touch.
static void flush_faces_do_not_rub(void **state)
{
    (void)state;
    enum { SIDES = 40, WORLDS = 17, STEPS = 200 };
    static const char *const geoms[][2] = {
        {"type='mesh' mesh='m'", "type='mesh' mesh='m'"},
        {"type='box' size='.07 .06 .0463'", "type='mesh' mesh='m'"},
        {"type='box' size='.07 .06 .0463'", "type='box' size='.06 .05 .0463'"}};
    char vertex[PRISM_TEXT], text[6144];
    write_prism(SIDES, 0.07, 0.06, 0.0463, vertex);
    for (int kind = 0; kind < 12; kind++) {
        const char *const *geom = geoms[kind / 4];
        double deeper = kind % 4 < 2 ? 0.0 : 1e-5;
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 0'/><asset><mesh name='m' vertex='%s'/></asset><worldbody>"
                 "<body pos='.11 .23 .31' euler='17 31 5'><geom %s/><body pos='0 0 %.7f'><joint/><geom %s/>"
                 "</body></body></worldbody></mujoco>",
                 vertex, geom[0], 0.0926 - deeper, geom[1]);
        const orr_physics_desc desc = {.worlds = kind % 2 ? WORLDS : 1};
        bench b = {0};
        assert_ok(orr_model_parse(text, strlen(text), "test.xml", &b.model, &error));
        assert_ok(orr_physics_create(&desc, b.model, jobs, &b.physics, &error));
        for (int world = 0; world < desc.worlds; world++) {
            double speed = 0.7 + 0.1 * world;
            orr_physics_set(b.physics, ORR_PHYSICS_QVEL, world, &speed);
        }
        orr_physics_step(b.physics, STEPS);
        for (int world = 0; world < desc.worlds; world++) {
            double speed = 0.0, start = 0.7 + 0.1 * world;
            orr_physics_get(b.physics, ORR_PHYSICS_QVEL, world, &speed);
            if (deeper > 0.0) {
                assert_true(fabs(speed) < 0.1 * start);
            } else {
                assert_near(speed, start, 1e-6);
            }
        }
        tear_down(&b);
    }
}

// Contacts so stiff that bodies rest less deep than rounding: they lie still in float, too, and at most 5 um
// deeper.
static void bodies_rest_on_a_stiff_table(void **state)
{
    (void)state;
    enum { WORLDS = 17 };
    static const char *const geoms[] = {"type='box' size='.02 .02 .02'", "type='mesh' mesh='m'"};
    for (int kind = 0; kind < 4; kind++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><default><geom solref='.001 1' solimp='.998 .998 .001'/></default><asset><mesh "
                 "name='m' vertex='-.02 -.02 -.02 .02 -.02 -.02 -.02 .02 -.02 .02 .02 -.02 -.02 -.02 .02 .02 "
                 "-.02 .02 -.02 .02 .02 .02 .02 .02'/></asset><worldbody><geom type='box' size='.6 .8 .025' "
                 "pos='.31 .2 .775'/><body pos='.4 .3 .8201' euler='0 0 17'><freejoint/><geom %s/></body>"
                 "</worldbody></mujoco>",
                 geoms[kind % 2]);
        const orr_physics_desc desc = {.worlds = kind < 2 ? 1 : WORLDS};
        bench b = {0};
        assert_ok(orr_model_parse(text, strlen(text), "test.xml", &b.model, &error));
        assert_ok(orr_physics_create(&desc, b.model, jobs, &b.physics, &error));
        orr_physics_step(b.physics, 300);
        for (int i = 0; i < 50; i++) {
            double qpos[7], qvel[6];
            orr_physics_step(b.physics, 1);
            orr_physics_get(b.physics, ORR_PHYSICS_QPOS, desc.worlds - 1, qpos);
            orr_physics_get(b.physics, ORR_PHYSICS_QVEL, desc.worlds - 1, qvel);
            for (int k = 0; k < 6; k++) { // a height of 0.8 m has steps of 6e-8 m in float: 3e-5 m/s
                assert_near(qvel[k], 0.0, 5e-4);
            }
            assert_near(qpos[2], 0.82, 5e-6);
        }
        tear_down(&b);
    }
}

// A cone lies on its side, its tip a little deeper: the tip and the two corners of that side touch, whichever
// of the faces at the tip it is.
static void a_cone_of_many_faces_lies_on_one_of_them(void **state)
{
    (void)state;
    enum { FACES = 100, MOST = 8 };
    const double half = pi / FACES; // the turn of half a face about the axis
    char vertex[8192], text[9216];
    int at = snprintf(vertex, sizeof vertex, "0 0 0 ");
    for (int i = 0; i < FACES; i++) {
        double turn = (2 * i + 1) * half - 0.5 * pi;
        at += snprintf(vertex + at, sizeof vertex - (size_t)at, "0.2 %.6f %.6f ", 0.1 * cos(turn),
                       0.1 * sin(turn));
    }
    snprintf(
        text, sizeof text,
        "<mujoco><asset><mesh name='cone' vertex='%s'/></asset><worldbody><geom type='box' size='1 1 .1' "
        "pos='0 0 -.1'/><body><freejoint/><geom type='mesh' mesh='cone'/></body></worldbody></mujoco>",
        vertex);
    const double tilt = atan2(0.1 * cos(half), 0.2) + 0.01;
    const double qpos[7] = {0.03, 0.02, -0.005, cos(0.5 * tilt), 0.0, -sin(0.5 * tilt), 0.0};
    bench b = set_up(text);
    orr_physics_contact contact[MOST];
    orr_physics_set(b.physics, ORR_PHYSICS_QPOS, 0, qpos);
    assert_int_equal(orr_physics_contacts(b.physics, 0, contact, MOST), 3);
    const double rise = sqrt(0.04 + 0.01 * cos(half) * cos(half)) * sin(0.01);
    const double tip[3] = {0.03, 0.02, 0.0}, base[3] = {0.25, 0.02, 0.0};
    // along the cone's face; the vertices have six digits
    assert_near(contact_at(contact, 3, tip)->dist, -0.005 * cos(0.01), 1e-6);
    assert_near(contact_at(contact, 3, base)->dist, (rise - 0.005) * cos(0.01), 1e-6);
    tear_down(&b);
}

// A drum of 40 sides stands on a post, turned otherwise in each world: it touches the post's corners. Any of
// the drum's own corners may be those that a side of the post cuts off.
static void a_drum_touches_the_corners_of_a_post(void **state)
{
    (void)state;
    enum { SIDES = 40, WORLDS = 17, MOST = 8 };
    char vertex[PRISM_TEXT], text[6144];
    write_prism(SIDES, 0.1, 0.1, 0.05, vertex);
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh name='drum' vertex='%s'/></asset><worldbody>"
             "<geom type='box' size='.05 .04 .1'/>"
             "<body><freejoint/><geom type='mesh' mesh='drum'/></body></worldbody></mujoco>",
             vertex);
    bench b = {0};
    const orr_physics_desc desc = {.worlds = WORLDS};
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &b.model, &error));
    assert_ok(orr_physics_create(&desc, b.model, jobs, &b.physics, &error));
    for (int world = 0; world < WORLDS; world++) {
        const double half = 0.19 * world;
        const double qpos[7] = {0.01, 0.004, 0.149, cos(half), 0.0, 0.0, sin(half)};
        orr_physics_set(b.physics, ORR_PHYSICS_QPOS, world, qpos);
    }
    for (int world = 0; world < WORLDS; world++) {
        orr_physics_contact contact[MOST];
        assert_int_equal(orr_physics_contacts(b.physics, world, contact, MOST), 4);
        for (int k = 0; k < 4; k++) {
            assert_near(fabs(contact[k].pos[0]), 0.05, 1e-6);
            assert_near(fabs(contact[k].pos[1]), 0.04, 1e-6);
            assert_near(contact[k].dist, -0.001, 1e-6);
        }
    }
    tear_down(&b);
}

// A class and an element can make a solref whose numbers are of different formats, which MuJoCo replaces by
// the default: of a limit and of contacts; of a pair's friction by none.
static void mixed_formats_of_solref_are_the_default(void **state)
{
    (void)state;
    static const char *const refs[][3] = {
        {"0.02 1", "0.02 1", "0 0"},          {"0.011 -2", "0.02 1", "0 0"}, {"-190 2", "0.02 1", "0 0"},
        {"0.02 1", "0.3 -9", "0 0"},          {"0.02 0", "0 3", "0 0"},      {"0.02 1", "0.02 1", "0.3 -9"},
        {"0.011 -2", "-90 0.5", "-7.5 0.25"},
    };
    double expected[3] = {0};
    for (size_t i = 0; i < sizeof refs / sizeof refs[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><option cone='elliptic'/><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
                 "<body pos='0 0 .09'><joint type='slide' range='.01 .1' solreflimit='%s'/>"
                 "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>"
                 "<geom name='ball' size='.1'/></body></worldbody><contact>"
                 "<pair geom1='floor' geom2='ball' solref='%s' solreffriction='%s'/></contact></mujoco>",
                 refs[i][0], refs[i][1], refs[i][2]);
        bench b = set_up(text);
        const double qvel[3] = {0.0, 0.01, 0.02};
        orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, qvel);
        orr_physics_forward(b.physics);
        for (int k = 0; k < 3; k++) {
            double qacc = get(&b, ORR_PHYSICS_QACC, k);
            expected[k] = i == 0 ? qacc : expected[k];
            assert_true(qacc != 0.0);
            assert_near(qacc, expected[k], 0.0);
        }
        tear_down(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_formats_of_solref_are_the_default),
        cmocka_unit_test(a_sphere_bounces_as_spring_and_damper_say),
        cmocka_unit_test(an_elastic_sphere_comes_back_to_its_height),
        cmocka_unit_test(a_slab_slides_where_the_slope_is_steeper_than_friction),
        cmocka_unit_test(a_contact_reaches_as_far_as_the_margins),
        cmocka_unit_test(a_height_field_falls_onto_balls),
        cmocka_unit_test(all_near_pairs_are_found_among_many),
        cmocka_unit_test(a_four_bar_linkage_moves_as_freudenstein_says),
        cmocka_unit_test(inner_forces_keep_momentum_and_angular_momentum),
        cmocka_unit_test(the_impedance_follows_its_curve),
        cmocka_unit_test(constraints_are_no_stiffer_than_the_step_allows),
        cmocka_unit_test(forces_on_a_joint_stay_in_its_range),
        cmocka_unit_test(each_integrator_has_its_order),
        cmocka_unit_test(a_free_body_does_not_gain_energy_implicitly),
        cmocka_unit_test(inverse_dynamics_of_a_step_finds_the_force),
        cmocka_unit_test(meshes_rest_on_a_slope_as_a_box_does),
        cmocka_unit_test(hulls_overlap_in_lanes_as_they_do_alone),
        cmocka_unit_test(curved_geoms_overlap_in_lanes_as_they_do_alone),
        cmocka_unit_test(a_hull_stuck_in_a_plate_is_pushed_out_of_its_near_side),
        cmocka_unit_test(slivers_of_a_hull_have_no_say),
        cmocka_unit_test(pairs_share_a_search),
        cmocka_unit_test(flush_faces_do_not_rub),
        cmocka_unit_test(bodies_rest_on_a_stiff_table),
        cmocka_unit_test(a_cone_of_many_faces_lies_on_one_of_them),
        cmocka_unit_test(a_drum_touches_the_corners_of_a_post),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
