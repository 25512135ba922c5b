// Tests of the quantities that are derived from a world's state, against MuJoCo
// (tests/golden/record_sensors.py).
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/physics/golden_numbers.h"
#include "tests/support/machine.h"
#include "tests/support/robots.h"

#include <math.h>
#include <string.h>

enum { CONTACTS = 64, NUMBERS = 256 };

typedef struct golden {
    golden_numbers file;
    int nq, nv, na, nu, nbody, nsensordata, states;
} golden;

static const double *take(golden *g, int count)
{
    return golden_numbers_take(&g->file, count);
}

static golden load_golden(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "sensors/%s", name);
    golden g = {.file = golden_numbers_load(path)};
    const double *sizes = take(&g, 7);
    g.nq = (int)sizes[0], g.nv = (int)sizes[1], g.na = (int)sizes[2], g.nu = (int)sizes[3];
    g.nbody = (int)sizes[4], g.nsensordata = (int)sizes[5], g.states = (int)sizes[6];
    return g;
}

enum { CONTACT_NUMBERS = 22 }; // geom1 geom2 dim dist pos frame force

static void flatten(const orr_physics_contact *c, double numbers[CONTACT_NUMBERS])
{
    numbers[0] = c->geom1, numbers[1] = c->geom2, numbers[2] = c->dim, numbers[3] = c->dist;
    memcpy(numbers + 4, c->pos, sizeof c->pos);
    memcpy(numbers + 7, c->frame, sizeof c->frame);
    memcpy(numbers + 16, c->force, sizeof c->force);
}

// Each of MuJoCo's contacts must be among ours, in any order. Errors of forces are relative to the largest.
static double contacts_error(const orr_physics_contact *found, const double *expected, int count)
{
    bool used[CONTACTS] = {false};
    double worst = 0.0, most_force = 1.0;
    for (int i = 0; i < count; i++) {
        for (int k = 16; k < CONTACT_NUMBERS; k++) {
            most_force = fmax(most_force, fabs(expected[i * CONTACT_NUMBERS + k]));
        }
    }
    for (int i = 0; i < count; i++) {
        const double *w = expected + (ptrdiff_t)i * CONTACT_NUMBERS;
        double best = INFINITY;
        int best_at = 0;
        for (int j = 0; j < count; j++) {
            double f[CONTACT_NUMBERS], error = 0.0;
            flatten(&found[j], f);
            for (int k = 0; k < CONTACT_NUMBERS; k++) {
                error = fmax(error, fabs(f[k] - w[k]) / (k < 16 ? 1.0 : most_force));
            }
            if (!used[j] && error < best) {
                best = error;
                best_at = j;
            }
        }
        used[best_at] = true;
        worst = fmax(worst, best);
    }
    return worst;
}

static orr_physics *make_physics(const orr_model *model, int worlds, bool double_precision)
{
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {
        .worlds = worlds, .double_precision = double_precision, .cuda = cuda, .team = team};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    return physics;
}

static double largest(const double *a, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(a[i]));
    }
    return most;
}

// The largest error of `count` numbers, relative to the largest of them and to `size`.
static double relative_error(const double *found, const double *expected, int count, double size)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, isfinite(found[i]) ? fabs(found[i] - expected[i]) : INFINITY);
    }
    return most / fmax(size, largest(expected, count));
}

// The two programs: double, and lanes of float, of which one world of the second block is compared.
typedef struct machine {
    orr_physics *physics;
    int world;
    double worst[2]; // without and with constraints
} machine;

typedef struct recorded {
    const double *time, *qpos, *qvel, *act, *ctrl, *xfrc, *qacc, *contact, *quantities, *jacobian,
        *sensordata, *inverse;
    int contacts;
    bool constrained;
} recorded;

// In the order of the record.
static const orr_physics_quantity compared[] = {
    ORR_PHYSICS_CINERT,         ORR_PHYSICS_CVEL,          ORR_PHYSICS_CACC,
    ORR_PHYSICS_CFRC_EXT,       ORR_PHYSICS_CFRC_INT,      ORR_PHYSICS_SUBTREE_LINVEL,
    ORR_PHYSICS_SUBTREE_ANGMOM, ORR_PHYSICS_QFRC_ACTUATOR, ORR_PHYSICS_ENERGY};
enum { COMPARED = sizeof compared / sizeof compared[0] };

static recorded take_record(golden *g)
{
    recorded r;
    r.time = take(g, 1);
    r.qpos = take(g, g->nq);
    r.qvel = take(g, g->nv);
    r.act = take(g, g->na);
    r.ctrl = take(g, g->nu);
    r.xfrc = take(g, 6 * g->nbody);
    r.qacc = take(g, g->nv);
    const double *counts = take(g, 2);
    r.constrained = counts[0] > 0.0;
    r.contacts = (int)counts[1];
    r.contact = take(g, CONTACT_NUMBERS * r.contacts);
    r.quantities = take(g, (10 + 6 * 4 + 3 * 2) * g->nbody + g->nv + 2);
    r.jacobian = take(g, 6 * g->nv);
    r.sensordata = take(g, g->nsensordata);
    r.inverse = take(g, g->nv);
    return r;
}

static void set_state(machine *a, const recorded *r)
{
    orr_physics_reset(a->physics, a->world);
    orr_physics_set(a->physics, ORR_PHYSICS_TIME, a->world, r->time);
    orr_physics_set(a->physics, ORR_PHYSICS_QPOS, a->world, r->qpos);
    orr_physics_set(a->physics, ORR_PHYSICS_QVEL, a->world, r->qvel);
    orr_physics_set(a->physics, ORR_PHYSICS_ACT, a->world, r->act);
    orr_physics_set(a->physics, ORR_PHYSICS_CTRL, a->world, r->ctrl);
    orr_physics_set(a->physics, ORR_PHYSICS_XFRC_APPLIED, a->world, r->xfrc);
    orr_physics_set(a->physics, ORR_PHYSICS_QACC, a->world, r->qacc);
}

// push: the largest external force. Rounding decides which of two contacts of nearly the same force or depth
// comes first: sorted contacts are compared in double only.
static double sensors_error(const orr_model *model, const double *found, const double *expected, double push,
                            bool exact)
{
    double worst = 0.0;
    for (int i = 0; i < model->nsensor; i++) {
        int adr = model->sensor_adr[i], type = model->sensor_type[i];
        const int32_t *choice = model->sensor_intprm + 3 * i;
        if (!exact && type == ORR_SENSOR_CONTACT && choice[1] != ORR_REDUCE_NETFORCE && choice[2] > 1) {
            continue;
        }
        bool force = type == ORR_SENSOR_FORCE || type == ORR_SENSOR_TORQUE;
        worst = fmax(worst,
                     relative_error(found + adr, expected + adr, model->sensor_dim[i], force ? push : 1.0));
    }
    return worst;
}

// The Jacobian of a point of the last body.
static double jacobian_error(machine *a, const orr_model *model, const double *expected)
{
    static const double local[3] = {0.1, -0.2, 0.3}; // as recorded
    double xpos[3 * NUMBERS], xmat[9 * NUMBERS], found[6 * NUMBERS], point[3];
    int last = model->nbody - 1, nv = model->nv;
    orr_physics_read(a->physics, ORR_PHYSICS_XPOS, a->world, xpos);
    orr_physics_read(a->physics, ORR_PHYSICS_XMAT, a->world, xmat);
    for (int k = 0; k < 3; k++) {
        const double *row = xmat + 9 * last + 3 * k;
        point[k] = xpos[3 * last + k] + row[0] * local[0] + row[1] * local[1] + row[2] * local[2];
    }
    orr_physics_jacobian(a->physics, a->world, ORR_OBJECT_XBODY, last, point, found, found + 3 * nv);
    return relative_error(found, expected, 6 * nv, 1.0);
}

// Copies recorded contacts but those of boxes that lie flush, which have none in float; returns their number.
static int overlapping(const orr_model *m, const double *contacts, int count, double *to)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const double *c = contacts + (ptrdiff_t)CONTACT_NUMBERS * i;
        bool boxes = m->geom_type[(int)c[0]] == ORR_GEOM_BOX && m->geom_type[(int)c[1]] == ORR_GEOM_BOX;
        if (!boxes || c[3] != 0.0) {
            memcpy(to + (ptrdiff_t)CONTACT_NUMBERS * kept++, c, CONTACT_NUMBERS * sizeof *c);
        }
    }
    return kept;
}

static double state_error(machine *a, const orr_model *model, const recorded *r, bool exact)
{
    orr_physics_contact contacts[CONTACTS];
    double found[16 * NUMBERS];
    int count = orr_physics_contacts(a->physics, a->world, contacts, CONTACTS);
    double expected_contacts[CONTACT_NUMBERS * CONTACTS];
    assert_true(r->contacts <= CONTACTS);
    assert_int_equal(count,
                     exact ? r->contacts : overlapping(model, r->contact, r->contacts, expected_contacts));
    double worst = contacts_error(contacts, exact ? r->contact : expected_contacts, count);
    const double *expected = r->quantities;
    double push = 1.0; // forces between bodies are sums in which external ones may cancel
    for (int i = 0; i < COMPARED; i++) {
        int size = orr_physics_size(a->physics, compared[i]);
        orr_physics_read(a->physics, compared[i], a->world, found);
        worst = fmax(worst,
                     relative_error(found, expected, size, compared[i] == ORR_PHYSICS_CFRC_INT ? push : 1.0));
        push = compared[i] == ORR_PHYSICS_CFRC_EXT ? fmax(push, largest(expected, size)) : push;
        expected += size;
    }
    orr_physics_read(a->physics, ORR_PHYSICS_SENSORDATA, a->world, found);
    worst = fmax(worst, sensors_error(model, found, r->sensordata, push, exact));
    if (exact) { // in float the difference of large contact forces has no digits left
        orr_physics_read(a->physics, ORR_PHYSICS_QFRC_INVERSE, a->world, found);
        worst = fmax(worst, relative_error(found, r->inverse, model->nv, 1.0));
    }
    return fmax(worst, jacobian_error(a, model, r->jacobian));
}

// rounding: largest error without constraints in f64
static void compare_to(const char *name, const char *path, double rounding)
{
    orr_model *model;
    assert_ok(orr_model_load(path, &model, &error));
    golden g = load_golden(name);
    assert_int_equal(model->nq, g.nq);
    assert_int_equal(model->nbody, g.nbody);
    assert_int_equal(model->nsensordata, g.nsensordata);
    assert_true(g.nv < NUMBERS && g.nbody < NUMBERS && g.nsensordata < 16 * NUMBERS);
    model->opt.tolerance = 1e-15; // as recorded
    model->opt.iterations = 200;
    model->opt.ls_tolerance = 1e-6;
    machine exact = {.physics = make_physics(model, 1, true)};
    machine fast = {.physics = make_physics(model, 18, false), .world = 17};
    machine *const machines[2] = {&exact, &fast};
    for (int i = 0; i < g.states; i++) {
        recorded r = take_record(&g);
        for (int k = 0; k < 2; k++) {
            set_state(machines[k], &r);
            double *worst = &machines[k]->worst[r.constrained];
            *worst = fmax(*worst, state_error(machines[k], model, &r, k == 0));
        }
    }
    assert_ptr_equal(g.file.next, g.file.behind);
    print_message("%s: without and with constraints %.1e, %.1e in f64, %.1e, %.1e in f32\n", name,
                  exact.worst[0], exact.worst[1], fast.worst[0], fast.worst[1]);
    assert_true(exact.worst[0] < rounding);
    assert_true(exact.worst[1] < 1e-6); // the solver's tolerance
    assert_true(fast.worst[0] < 1e-4);
    assert_true(fast.worst[1] < 1e-3);
    orr_physics_destroy(exact.physics);
    orr_physics_destroy(fast.physics);
    orr_model_destroy(model);
    orr_free(g.file.numbers);
}

static void hold(const char *name, const char *path)
{
    compare_to(name, path, 1e-9);
}

static void hold_robot(const char *name, const char *path)
{
    // Not recorded: pushers' cylinders, and the point robot's sphere, which touches the floor exactly, so
    // that rounding decides whether there is a contact.
    if (strncmp(name, "pusher", 6) != 0 && strcmp(name, "point") != 0) {
        hold(name, path);
    }
}

static void robots_feel_what_they_do_in_mujoco(void **state)
{
    (void)state;
    for_each_robot(hold_robot);
}

static void contacts_push_as_in_mujoco(void **state)
{
    (void)state;
    static const char *const names[] = {
        "contacts_pyramidal", "contacts_elliptic",         "equalities",
        "orientation_servos", "contacts_sticky_pyramidal", "contacts_sticky_elliptic"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        hold(names[i], source_path("tests/golden/dynamics/%s.xml", names[i]));
    }
}

static void golden_path(const char *name, char path[512])
{
    snprintf(path, 512, "%s", source_path("tests/golden/sensors/%s.xml", name));
}

static void each_sensor_measures_what_it_does_in_mujoco(void **state)
{
    (void)state;
    static const char *const names[] = {"frames",           "drives",     "tensions", "touch",   "rays",
                                        "contacts_sensors", "touch_grid", "sticky",   "tactile", "touching"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        golden_path(names[i], path);
        hold(names[i], path);
    }
    char path[512];
    golden_path("gaps", path);
    compare_to("gaps", path, 1e-7); // MuJoCo stores the vertices of its mesh as float
    golden_path("enclosed", path);
    compare_to("enclosed", path, 1e-7);
    golden_path("function_gaps", path);
    compare_to("function_gaps", path, 1e-5);
    golden_path("function_rays", path);
    compare_to("function_rays", path, 1e-7); // MuJoCo's normals are differences over 1e-8 m
}

// What cannot protrude from a site, or has nothing that could.
static void what_is_enclosed_is_compact_and_convex(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"<geom type='plane' size='1 1 1' name='g'/>", "objtype='geom' objname='g'"},
        {"<geom size='1'/><geom type='plane' size='1 1 1'/>", "objtype='body' objname='world'"},
        {"<body name='b'><body><geom size='1'/></body></body>", "objtype='body' objname='b'"},
        {"<camera name='c'/>", "objtype='camera' objname='c'"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "<mujoco><worldbody><site name='s'/>%s</worldbody><sensor><insidesite site='s' "
                 "enclosed='true' %s/></sensor></mujoco>",
                 wrong[i][0], wrong[i][1]);
        orr_model *model;
        orr_error error;
        assert_int_not_equal(orr_model_load(written("enclosed.xml", text), &model, &error), ORR_OK);
        assert_non_null(strstr(error.message, "enclosed: expected"));
    }
}

// A box of 1 kg that starts on a floor without a margin, and falls up: MuJoCo 4.0.0's acceleration.
static void what_sticks_pulls_at_exactly_its_margin(void **state)
{
    (void)state;
    orr_model *model;
    assert_ok(orr_model_load(
        written("glue.xml",
                "<mujoco><option gravity='0 0 3'/><worldbody><geom type='plane' size='1 1 1'/><body "
                "pos='0 0 0.5'><freejoint/><geom type='box' size='0.5 0.5 0.5' mass='1' "
                "adhesion='2'/></body></worldbody></mujoco>"),
        &model, &error));
    for (int exact = 0; exact < 2; exact++) {
        orr_physics *physics = make_physics(model, 1, exact);
        double qacc[6];
        orr_physics_forward(physics);
        orr_physics_get(physics, ORR_PHYSICS_QACC, 0, qacc);
        assert_true(fabs(qacc[2] - 3.0 / 37.0) < (exact ? 1e-9 : 1e-5));
        orr_physics_destroy(physics);
    }
    orr_model_destroy(model);
}

// MuJoCo 4.0.0's energy without springs, and its velocity of an actuator without actuation.
static void flags_silence_their_sensors(void **state)
{
    (void)state;
    static const char *const flags[2] = {"spring", "actuation"};
    static const double expected[2][2] = {{0.0, 1.4}, {10.0, 0.0}}; // J, m/s
    for (int i = 0; i < 2; i++) {
        char text[768];
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 0'><flag %s='disable'/></option><worldbody><site name='w'/>"
                 "<body pos='1 0 0'><joint name='s' type='slide' axis='1 0 0'/><geom size='0.1'/><site "
                 "name='s'/></body></worldbody><tendon><spatial stiffness='20' springlength='0'><site "
                 "site='w'/><site site='s'/></spatial></tendon><actuator><motor name='a' joint='s' gear='2'/>"
                 "</actuator><sensor><e_potential/><actuatorvel actuator='a'/></sensor></mujoco>",
                 flags[i]);
        orr_model *model;
        assert_ok(orr_model_load(written("flags.xml", text), &model, &error));
        orr_physics *physics = make_physics(model, 1, true);
        const double speed = 0.7;
        double seen[2];
        orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, &speed);
        orr_physics_read(physics, ORR_PHYSICS_SENSORDATA, 0, seen);
        assert_true(fabs(seen[0] - expected[i][0]) < 1e-9 && fabs(seen[1] - expected[i][1]) < 1e-9);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
}

static void no_contacts_have_no_normal(void **state)
{
    (void)state;
    orr_model *model;
    assert_ok(orr_model_load(
        written("air.xml",
                "<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody><sensor>"
                "<contact data='found force pos normal tangent' reduce='netforce'/></sensor></mujoco>"),
        &model, &error));
    orr_physics *physics = make_physics(model, 1, true);
    double seen[13];
    orr_physics_forward(physics);
    orr_physics_read(physics, ORR_PHYSICS_SENSORDATA, 0, seen);
    assert_int_equal(model->nsensordata, 13);
    for (int k = 0; k < 13; k++) {
        assert_true(seen[k] == 0.0);
    }
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// MuJoCo 4.0.0's counts of contacts, each of a model without another pair, so that its room is this pair's.
static void a_pair_alone_has_room_for_its_contacts(void **state)
{
    (void)state;
    static const char *const below[] = {"type='plane' size='1 1 1'",
                                        "type='box' size='1 1 0.5' pos='0 0 -0.5'",
                                        "type='mesh' mesh='cube' pos='0 0 -0.1'"};
    static const struct {
        const char *geom;
        int contacts[3];
    } above[] = {{"type='mesh' mesh='cube'", {4, 4, 4}},
                 {"type='box' size='0.1 0.1 0.1'", {4, 4, 4}},
                 {"type='cylinder' size='0.1 0.1'", {3, 4, 4}},
                 {"type='capsule' size='0.1 0.1' euler='0 90 0'", {2, 2, 2}},
                 {"type='ellipsoid' size='0.1 0.1 0.1'", {1, 1, 1}}};
    for (int i = 0; i < 15; i++) {
        char text[768];
        snprintf(
            text, sizeof text,
            "<mujoco><asset><mesh name='cube' vertex='-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .1 .1 -.1 -.1 -.1 .1 "
            ".1 -.1 .1 -.1 .1 .1 .1 .1 .1'/></asset><worldbody><geom %s/><body pos='0.01 0.02 0.099' "
            "euler='0 0 10'><freejoint/><geom %s/></body></worldbody></mujoco>",
            below[i % 3], above[i / 3].geom);
        orr_model *model;
        assert_ok(orr_model_load(written("pair.xml", text), &model, &error));
        for (int exact = 0; exact < 2; exact++) {
            orr_physics *physics = make_physics(model, 1, exact);
            orr_physics_contact contacts[16];
            assert_int_equal(orr_physics_contacts(physics, 0, contacts, 16), above[i / 3].contacts[i % 3]);
            orr_physics_destroy(physics);
        }
        orr_model_destroy(model);
    }
}

// The depth of a plate's points in a torus, by its formula, as in MuJoCo 4.0.
static void a_torus_is_felt_by_its_function(void **state)
{
    (void)state;
    orr_model *model;
    assert_ok(orr_model_load(
        written(
            "torus.xml",
            "<mujoco><extension><plugin plugin='mujoco.sdf.torus'><instance name='t'><config key='radius1' "
            "value='0.35'/><config key='radius2' value='0.15'/></instance></plugin></extension><asset><mesh "
            "name='t'><plugin instance='t'/></mesh><mesh name='pad' builtin='plate' params='4 3' "
            "scale='0.08 0.06 0.1'/></asset><worldbody><body><geom type='sdf' mesh='t'><plugin "
            "instance='t'/></geom></body><body pos='0.4 0.05 0.14'><freejoint/><geom name='pad' type='box' "
            "size='0.08 0.06 0.05'/></body></worldbody><sensor><tactile geom='pad' mesh='pad'/></sensor>"
            "</mujoco>"),
        &model, &error));
    for (int exact = 0; exact < 2; exact++) {
        orr_physics *physics = make_physics(model, 1, exact);
        double felt[36];
        int inside = 0;
        assert_int_equal(model->nsensordata, 36);
        orr_physics_read(physics, ORR_PHYSICS_SENSORDATA, 0, felt);
        for (int k = 0; k < 12; k++) {
            const double *at = model->taxel_pos + 3 * k, x = at[0] + 0.4, y = at[1] + 0.05, z = at[2] + 0.14;
            double depth = fmax(0.0, 0.15 - hypot(hypot(x, y) - 0.35, z));
            inside += depth > 0.0;
            assert_true(fabs(felt[k] - depth) < (exact ? 1e-12 : 1e-6));
        }
        assert_true(inside > 2 && inside < 12);
        orr_physics_destroy(physics);
    }
    orr_model_destroy(model);
}

// Sensors that measure late or at times, in each step of a trajectory (tests/golden/record_delays.py): what
// is read after it, and what a step leaves. In float in the last of worlds of more than one block.
static void hold_delays(const char *name, bool exact, double tolerance)
{
    char path[512];
    snprintf(path, sizeof path, "delays/%s", name);
    golden_numbers g = golden_numbers_load(path);
    orr_model *model;
    assert_ok(orr_model_load(source_path("tests/golden/delays/%s.xml", name), &model, &error));
    const double *sizes = golden_numbers_take(&g, 5);
    assert_true(model->nq == sizes[0] && model->nv == sizes[1] && model->nu == sizes[2] &&
                model->nsensordata == sizes[3] && model->nsensordata < NUMBERS);
    const int steps = (int)sizes[4], worlds = exact ? 1 : 18;
    const orr_physics_quantity quantity = ORR_PHYSICS_SENSORDATA;
    orr_physics *physics = make_physics(model, worlds, exact);
    const double *qpos = golden_numbers_take(&g, model->nq), *qvel = golden_numbers_take(&g, model->nv);
    orr_physics_set(physics, ORR_PHYSICS_QPOS, worlds - 1, qpos);
    orr_physics_set(physics, ORR_PHYSICS_QVEL, worlds - 1, qvel);
    double worst[3] = {0.0}, found[NUMBERS], left[18 * NUMBERS];
    for (int step = 0; step < steps; step++) {
        orr_physics_set(physics, ORR_PHYSICS_CTRL, worlds - 1, golden_numbers_take(&g, model->nu));
        if (cuda) {
            orr_physics_step(physics, 1);
        } else {
            orr_physics_step_read(physics, 1, NULL, &quantity, 1, left);
        }
        const double *moved = golden_numbers_take(&g, model->nq);
        const double *before = golden_numbers_take(&g, model->nsensordata);
        const double *after = golden_numbers_take(&g, model->nsensordata);
        orr_physics_get(physics, ORR_PHYSICS_QPOS, worlds - 1, found);
        worst[0] = fmax(worst[0], relative_error(found, moved, model->nq, 1.0));
        orr_physics_read(physics, quantity, worlds - 1, found);
        worst[1] = fmax(worst[1], sensors_error(model, found, after, 1.0, exact));
        const double *own = left + (ptrdiff_t)(worlds - 1) * model->nsensordata;
        worst[2] = cuda ? 0.0 : fmax(worst[2], sensors_error(model, own, before, 1.0, exact));
    }
    assert_ptr_equal(g.next, g.behind);
    print_message("%s in %s: moves %.1e, sensors %.1e, left by steps %.1e\n", name, exact ? "f64" : "f32",
                  worst[0], worst[1], worst[2]);
    assert_true(worst[0] < tolerance && worst[1] < tolerance && worst[2] < tolerance);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
    orr_free(g.numbers);
}

static void sensors_measure_late_as_in_mujoco(void **state)
{
    (void)state;
    static const char *const names[] = {"late", "late_rk4"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        hold_delays(names[i], true, 1e-9);
        hold_delays(names[i], false, 1e-4); // 3e-6 measured
    }
}

// In double precision, within the solver's tolerance: in float a contact may be in another bin for a step.
static void touch_grids_measure_in_each_step_as_in_mujoco(void **state)
{
    (void)state;
    hold_delays("touching", true, 1e-6);
}

// Worlds that differ, on the floor and above it.
static orr_physics *make_worlds(const orr_model *model, int worlds)
{
    orr_physics *physics = make_physics(model, worlds, false);
    size_t size = (size_t)worlds * (size_t)model->nv;
    float *velocity = orr_alloc(size, sizeof *velocity);
    for (size_t i = 0; i < size; i++) {
        velocity[i] = 0.1f * sinf((float)i * 1.7f);
    }
    orr_physics_set_all_f32(physics, ORR_PHYSICS_QVEL, velocity);
    orr_physics_step(physics, 20);
    orr_free(velocity);
    return physics;
}

static void all_worlds_are_read_as_each_alone(void **state)
{
    (void)state;
    enum { WORLDS = 37 };
    char path[512];
    golden_path("touch", path);
    orr_model *model;
    assert_ok(orr_model_load(path, &model, &error));
    orr_physics *physics = make_worlds(model, WORLDS);
    // a quantity of the state between derived ones, and inverse dynamics, which overwrite others, in the
    // middle
    const orr_physics_quantity quantities[] = {ORR_PHYSICS_CFRC_EXT,        ORR_PHYSICS_QPOS,
                                               ORR_PHYSICS_QFRC_INVERSE,    ORR_PHYSICS_SENSORDATA,
                                               ORR_PHYSICS_QFRC_CONSTRAINT, ORR_PHYSICS_CVEL};
    enum { QUANTITIES = sizeof quantities / sizeof quantities[0] };
    int size = 0;
    for (int i = 0; i < QUANTITIES; i++) {
        size += orr_physics_size(physics, quantities[i]);
    }
    double *wide = orr_alloc(WORLDS * (size_t)size, sizeof *wide), alone[16 * NUMBERS];
    float *narrow = orr_alloc(WORLDS * (size_t)size, sizeof *narrow);
    orr_physics_read_all(physics, quantities, QUANTITIES, wide);
    orr_physics_read_all_f32(physics, quantities, QUANTITIES, narrow);
    const double *next = wide;
    for (int world = 0; world < WORLDS; world++) {
        for (int i = 0; i < QUANTITIES; i++) {
            int count = orr_physics_size(physics, quantities[i]);
            orr_physics_read(physics, quantities[i], world, alone);
            assert_memory_equal(next, alone, (size_t)count * sizeof *alone);
            next += count;
        }
    }
    for (int i = 0; i < WORLDS * size; i++) {
        assert_true(narrow[i] == (float)wide[i]);
    }
    assert_memory_not_equal(wide, wide + size, (size_t)size * sizeof *wide);
    orr_free(wide);
    orr_free(narrow);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static void a_part_of_the_state_of_all_worlds_is_set_at_once(void **state)
{
    (void)state;
    enum { WORLDS = 37 };
    char path[512];
    golden_path("drives", path);
    orr_model *model;
    assert_ok(orr_model_load(path, &model, &error));
    orr_physics *physics = make_worlds(model, WORLDS);
    const orr_physics_quantity quantity = ORR_PHYSICS_QFRC_APPLIED;
    size_t size = WORLDS * (size_t)model->nv;
    double *wide = orr_alloc(size, sizeof *wide), *found = orr_alloc(size, sizeof *found), one[NUMBERS];
    float *narrow = orr_alloc(size, sizeof *narrow);
    for (size_t i = 0; i < size; i++) {
        wide[i] = 0.25 * (double)i; // the same in float
        narrow[i] = -0.5f * (float)i;
    }
    wide[0] = INFINITY;
    orr_physics_set_all(physics, quantity, wide);
    orr_physics_step(physics, 1);
    assert_true(orr_physics_diverged(physics, 0) && !orr_physics_diverged(physics, 1));
    orr_physics_read_all(physics, &quantity, 1, found);
    assert_memory_equal(found, wide, size * sizeof *wide);
    orr_physics_get(physics, quantity, 20, one);
    assert_memory_equal(one, wide + 20 * model->nv, (size_t)model->nv * sizeof *one);
    orr_physics_set_all_f32(physics, quantity, narrow);
    orr_physics_read_all(physics, &quantity, 1, found);
    for (size_t i = 0; i < size; i++) {
        assert_true(found[i] == (double)narrow[i]);
    }
    assert_false(orr_physics_diverged(physics, 0)); // until the next step
    orr_free(wide);
    orr_free(found);
    orr_free(narrow);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static void reading_changes_nothing(void **state)
{
    (void)state;
    enum { WORLDS = 5, STATES = ORR_PHYSICS_QACC_WARMSTART + 1 };
    char path[512];
    golden_path("touch", path);
    orr_model *model;
    assert_ok(orr_model_load(path, &model, &error));
    orr_physics *physics = make_worlds(model, WORLDS);
    orr_physics_quantity quantities[STATES];
    int size = 0;
    for (int i = 0; i < STATES; i++) {
        quantities[i] = (orr_physics_quantity)i;
        size += orr_physics_size(physics, quantities[i]);
    }
    size_t bytes = WORLDS * (size_t)size * sizeof(double);
    double *before = orr_alloc(bytes, 1), *after = orr_alloc(bytes, 1), values[16 * NUMBERS];
    orr_physics_read_all(physics, quantities, STATES, before);
    for (int i = 0; i < ORR_PHYSICS_QUANTITY_COUNT; i++) {
        orr_physics_read(physics, (orr_physics_quantity)i, 3, values);
    }
    orr_physics_contact contact;
    assert_true(orr_physics_contacts(physics, 3, &contact, 1) > 1); // and writes no more than the capacity
    orr_physics_read_all(physics, quantities, STATES, after);
    assert_memory_equal(before, after, bytes);
    orr_free(before);
    orr_free(after);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// A Jacobian times the velocity is the velocity that a sensor measures at the same frame.
static void a_jacobian_gives_the_velocity_of_its_frame(void **state)
{
    (void)state;
    char path[512];
    golden_path("frames", path);
    orr_model *model;
    assert_ok(orr_model_load(path, &model, &error));
    orr_physics *physics = make_physics(model, 1, true);
    double velocity[NUMBERS], sensed[NUMBERS], jacobian[2][3 * NUMBERS], measured[3];
    for (int i = 0; i < model->nv; i++) {
        velocity[i] = cos(2.0 * i);
    }
    orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, velocity);
    orr_physics_read(physics, ORR_PHYSICS_SENSORDATA, 0, sensed);
    int tested_kinds = 0;
    for (int i = 0; i < model->nsensor; i++) {
        int type = model->sensor_type[i], kind = model->sensor_objtype[i];
        bool turning = type == ORR_SENSOR_FRAMEANGVEL;
        if ((type != ORR_SENSOR_FRAMELINVEL && !turning) || model->sensor_refid[i] >= 0 ||
            kind == ORR_OBJECT_CAMERA) {
            continue;
        }
        orr_physics_jacobian(physics, 0, (orr_object)kind, model->sensor_objid[i], NULL, jacobian[0],
                             jacobian[1]);
        for (int k = 0; k < 3; k++) {
            measured[k] = 0.0;
            for (int dof = 0; dof < model->nv; dof++) {
                measured[k] += jacobian[turning][k * model->nv + dof] * velocity[dof];
            }
        }
        assert_true(relative_error(measured, sensed + model->sensor_adr[i], 3, 1.0) < 1e-12);
        tested_kinds |= 1 << kind;
    }
    assert_int_equal(tested_kinds, 1 << ORR_OBJECT_BODY | 1 << ORR_OBJECT_XBODY | 1 << ORR_OBJECT_GEOM |
                                       1 << ORR_OBJECT_SITE);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sensor_measures_what_it_does_in_mujoco),
        cmocka_unit_test(a_torus_is_felt_by_its_function),
        cmocka_unit_test(what_is_enclosed_is_compact_and_convex),
        cmocka_unit_test(what_sticks_pulls_at_exactly_its_margin),
        cmocka_unit_test(flags_silence_their_sensors),
        cmocka_unit_test(no_contacts_have_no_normal),
        cmocka_unit_test(a_pair_alone_has_room_for_its_contacts),
        cmocka_unit_test(sensors_measure_late_as_in_mujoco),
        cmocka_unit_test(touch_grids_measure_in_each_step_as_in_mujoco),
        cmocka_unit_test(contacts_push_as_in_mujoco),
        cmocka_unit_test(robots_feel_what_they_do_in_mujoco),
        cmocka_unit_test(all_worlds_are_read_as_each_alone),
        cmocka_unit_test(a_part_of_the_state_of_all_worlds_is_set_at_once),
        cmocka_unit_test(reading_changes_nothing),
        cmocka_unit_test(a_jacobian_gives_the_velocity_of_its_frame),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
