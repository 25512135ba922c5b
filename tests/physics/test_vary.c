// Tests of parameters that vary between worlds: each against a model that was compiled with the other value.
#include "engine/core/file.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/support/machine.h"

#include <math.h>
#include <string.h>

// A cart with an arm that hits its limit, coupled to another, and bodies that fall, slide and roll:
// everything that depends on inverse weights and friction. %s: elliptic or pyramidal.
static const char text[] =
    "<mujoco><option timestep='0.002' cone='%s' gravity='%s' impratio='3'/>"
    "<default><geom friction='%s 0.02 0.01' condim='%s' conaffinity='0'/></default>"
    "<worldbody><geom type='plane' size='5 5 1' friction='0.1 0.001 0.001' conaffinity='1'/>"
    "<body pos='0 0 0.12'><freejoint/><inertial pos='0 0 0' mass='%s' diaginertia='0.01 0.02 0.015'/>"
    "<geom type='box' size='0.1 0.06 %s'/></body>"
    "<body pos='1 0 0.3'><freejoint/><inertial pos='0.01 0 0' mass='0.7' diaginertia='%s 0.004 0.003'/>"
    "<geom type='sphere' size='%s'/></body>"
    "<body pos='0 1 1'><joint name='a' axis='0 1 0' range='-30 30' limited='true' damping='%s' "
    "armature='%s'/>"
    "<inertial pos='0.2 0 0' mass='0.5' diaginertia='0.002 0.003 0.004'/>"
    "<geom type='capsule' fromto='0 0 0 0.4 0 0' size='0.03'/>"
    "<body pos='0.4 0 0'><joint name='b' axis='0 1 0' damping='0.05' frictionloss='0.02'/>"
    "<inertial pos='0.1 0 0' mass='0.3' diaginertia='0.001 0.001 0.001'/>"
    "<geom type='capsule' fromto='0 0 0 0.2 0 0' size='0.02'/></body></body>"
    "<body pos='0.2 1.6 1'><joint name='c' axis='0 1 0'/><inertial pos='0.1 0 0' mass='0.2' "
    "diaginertia='0.001 0.001 0.001'/></body></worldbody>"
    "<tendon><fixed name='t' limited='true' range='-0.3 0.2'><joint joint='b' coef='1'/>"
    "<joint joint='c' coef='0.5'/></fixed></tendon>"
    "<equality><joint joint1='b' joint2='c' polycoef='0 0.5 0 0 0'/></equality>"
    "<actuator><position joint='a' kp='%s' kv='%s'/><motor joint='b' gear='0.1'/>"
    "<muscle joint='a' scale='0.5' lengthrange='-1 1'/></actuator></mujoco>";

enum { CONE, GRAVITY, FRICTION, CONDIM, MASS, BOX, INERTIA, BALL, DAMPING, ARMATURE, KP, KV, PARTS };
static const char *const usual[PARTS] = {"elliptic", "0 0.5 -9.81", "0.8", "4",    "1.3", "0.05",
                                         "0.005",    "0.1",         "0.2", "0.01", "5",   "0.3"};

static orr_model *compile(const char *const part[PARTS])
{
    static char whole[sizeof text + 256];
    const char *path = scratch_path("vary.xml");
    int length = snprintf(whole, sizeof whole, text, part[0], part[1], part[2], part[3], part[4], part[5],
                          part[6], part[7], part[8], part[9], part[10], part[11]);
    assert_in_range(length, 1, sizeof whole - 1);
    assert_ok(orr_file_write(path, whole, (size_t)length, &error));
    orr_model *model = NULL;
    assert_ok(orr_model_load(path, &model, &error));
    return model;
}

static orr_physics *make(const orr_model *model, int worlds, bool double_precision)
{
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {
        .worlds = worlds, .double_precision = double_precision, .cuda = cuda, .team = team};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    return physics;
}

static void start(orr_physics *physics)
{
    for (int world = 0; world < orr_physics_worlds(physics); world++) {
        double qvel[64] = {0}, ctrl[3] = {-0.8, 1.0, 0.7};
        for (int i = 0; i < orr_physics_size(physics, ORR_PHYSICS_QVEL); i++) {
            qvel[i] = 0.4 * sin(1.0 + i); // all slide and turn
        }
        orr_physics_set(physics, ORR_PHYSICS_QVEL, world, qvel);
        orr_physics_set(physics, ORR_PHYSICS_CTRL, world, ctrl);
    }
}

static double apart(const double *a, const double *b, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, isfinite(a[i]) ? fabs(a[i] - b[i]) : INFINITY);
    }
    return most;
}

typedef struct difference {
    int part;
    const char *value;
    orr_vary what;
} difference;

static const double *array_of(const orr_model *m, orr_vary what)
{
    switch (what) {
#define ARRAY(NAME, name, count)                                                                             \
    case ORR_VARY_##NAME:                                                                                    \
        return m->name;
        ORR_VARY_ARRAYS(ARRAY)
#undef ARRAY
    default:
        assert_int_equal(what, ORR_VARY_GRAVITY);
        return m->opt.gravity;
    }
}

// In double a world that differs must move as the model that was compiled so; in lanes the others must not be
// affected.
static void hold_against_compiled(const char *cone, const char *condim, const difference *different)
{
    enum { WORLDS = 20, ODD = 5, STEPS = 250 };
    const char *part[PARTS];
    memcpy(part, usual, sizeof part);
    part[CONE] = cone;
    part[CONDIM] = condim;
    orr_model *common = compile(part);
    part[different->part] = different->value;
    orr_model *other = compile(part);
    for (int doubles = 0; doubles < 2; doubles++) {
        orr_physics *same = make(common, WORLDS, doubles), *varied = make(common, WORLDS, doubles),
                    *compiled = make(other, WORLDS, doubles);
        assert_ok(
            orr_physics_vary(varied, different->what, ODD, 1, array_of(other, different->what), &error));
        start(same), start(varied), start(compiled);
        orr_physics_step(same, STEPS), orr_physics_step(varied, STEPS), orr_physics_step(compiled, STEPS);
        double a[64], b[64];
        int nq = common->nq;
        for (int world = 0; world < WORLDS; world++) {
            orr_physics_get(varied, ORR_PHYSICS_QPOS, world, a);
            if (world != ODD) {
                orr_physics_get(same, ORR_PHYSICS_QPOS, world, b);
                assert_memory_equal(a, b, (size_t)nq * sizeof *a);
                continue;
            }
            orr_physics_get(compiled, ORR_PHYSICS_QPOS, world, b);
            // the same numbers in the same order; in f32 some of them are rounded once more
            assert_true(apart(a, b, nq) <= (doubles ? 1e-12 : 1e-3));
            orr_physics_get(same, ORR_PHYSICS_QPOS, world, b);
            assert_true(apart(a, b, nq) > 1e-4); // and it matters
            orr_physics_read(varied, ORR_PHYSICS_SUBTREE_COM, world, a);
            orr_physics_read(compiled, ORR_PHYSICS_SUBTREE_COM, world, b);
            assert_true(apart(a, b, 3 * common->nbody) <= (doubles ? 1e-12 : 1e-3));
        }
        orr_physics_destroy(same);
        orr_physics_destroy(varied);
        orr_physics_destroy(compiled);
    }
    orr_model_destroy(common);
    orr_model_destroy(other);
}

static void a_world_that_differs_moves_as_if_compiled_so(void **state)
{
    (void)state;
    static const difference differences[] = {
        {MASS, "2.1", ORR_VARY_BODY_MASS},         {INERTIA, "0.0065", ORR_VARY_BODY_INERTIA},
        {FRICTION, "0.3", ORR_VARY_GEOM_FRICTION}, {BOX, "0.08", ORR_VARY_GEOM_SIZE},
        {BALL, "0.25", ORR_VARY_GEOM_SIZE},        {DAMPING, "0.7", ORR_VARY_DOF_DAMPING},
        {ARMATURE, "0.05", ORR_VARY_DOF_ARMATURE}, {KV, "0.9", ORR_VARY_ACTUATOR_BIASPRM},
        {GRAVITY, "0.3 0 -5", ORR_VARY_GRAVITY},
    };
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        hold_against_compiled("elliptic", "4", &differences[i]);
        hold_against_compiled("pyramidal", "3", &differences[i]);
    }
}

// Parameters combine: mass, armature and friction of one world, set one after the other.
static void quantities_of_a_world_add_up(void **state)
{
    (void)state;
    const char *part[PARTS];
    memcpy(part, usual, sizeof part);
    orr_model *common = compile(part);
    part[MASS] = "2.1", part[ARMATURE] = "0.05", part[FRICTION] = "0.3", part[KP] = "9";
    orr_model *other = compile(part);
    orr_physics *varied = make(common, 3, true), *compiled = make(other, 1, true);
    static const orr_vary all[] = {ORR_VARY_GEOM_FRICTION, ORR_VARY_BODY_MASS, ORR_VARY_DOF_ARMATURE,
                                   ORR_VARY_ACTUATOR_GAINPRM, ORR_VARY_ACTUATOR_BIASPRM};
    for (int i = 0; i < 5; i++) {
        assert_ok(orr_physics_vary(varied, all[i], 1, 1, array_of(other, all[i]), &error));
    }
    start(varied), start(compiled);
    orr_physics_step(varied, 250), orr_physics_step(compiled, 250);
    double a[64], b[64];
    orr_physics_get(varied, ORR_PHYSICS_QPOS, 1, a);
    orr_physics_get(compiled, ORR_PHYSICS_QPOS, 0, b);
    assert_true(apart(a, b, common->nq) <= 1e-12);
    orr_physics_destroy(varied);
    orr_physics_destroy(compiled);
    orr_model_destroy(common);
    orr_model_destroy(other);
}

static void all_worlds_at_once_and_where_they_start(void **state)
{
    (void)state;
    enum { WORLDS = 37 };
    orr_model *model = compile(usual);
    orr_physics *physics = make(model, WORLDS, false);
    int nq = model->nq;
    assert_int_equal(orr_physics_vary_size(physics, ORR_VARY_START_QPOS), nq);
    size_t bytes = orr_physics_world_bytes(physics);
    static double starts[WORLDS * 64], gravity[WORLDS][3], qpos[64], qvel[64];
    for (int world = 0; world < WORLDS; world++) {
        for (int i = 0; i < nq; i++) {
            starts[world * nq + i] = model->qpos0[i] + 0.25 * world;
        }
        gravity[world][2] = -(double)world;
    }
    assert_ok(orr_physics_vary(physics, ORR_VARY_START_QPOS, 0, WORLDS, starts, &error));
    assert_ok(orr_physics_vary(physics, ORR_VARY_GRAVITY, 0, WORLDS, gravity[0], &error));
    assert_int_equal(orr_physics_world_bytes(physics) - bytes, (size_t)(nq + 3) * sizeof(float));
    orr_physics_step(physics, 1);
    for (int world = 0; world < WORLDS; world++) { // still in the air, from where they were made
        orr_physics_get(physics, ORR_PHYSICS_QVEL, world, qvel);
        assert_true(fabs(qvel[8] - -0.002 * world) < 1e-6);
        orr_physics_reset(physics, world);
        orr_physics_get(physics, ORR_PHYSICS_QPOS, world, qpos);
        assert_true(apart(qpos, starts + world * nq, nq) < 1e-6); // rounded to float
    }
    orr_physics_step(physics, 1); // a reset keeps what differs
    orr_physics_get(physics, ORR_PHYSICS_QVEL, 30, qvel);
    assert_true(fabs(qvel[8] - -0.06) < 1e-6);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

static void values_that_cannot_be_are_refused_by_name(void **state)
{
    (void)state;
    orr_model *model = compile(usual);
    orr_physics *physics = make(model, 4, true);
    orr_error error = {0};
    double mass[16] = {0};
    memcpy(mass, model->body_mass, (size_t)model->nbody * sizeof *mass);
    mass[2] = -1.0;
    assert_true(orr_physics_vary(physics, ORR_VARY_BODY_MASS, 3, 1, mass, &error) != ORR_OK);
    assert_int_equal(error.code, ORR_CODE_ARGUMENT);
    assert_non_null(strstr(error.message, "body_mass: world 3, number 2: expected at least 0, not -1"));
    mass[2] = 0.0; // a free body without mass
    assert_true(orr_physics_vary(physics, ORR_VARY_BODY_MASS, 3, 1, mass, &error) != ORR_OK);
    assert_int_equal(error.code, ORR_CODE_MODEL_FILE);
    assert_non_null(strstr(error.message, "singular"));
    const double nowhere[3] = {0.0, NAN, 0.0};
    assert_true(orr_physics_vary(physics, ORR_VARY_GRAVITY, 0, 1, nowhere, &error) != ORR_OK);
    assert_int_equal(error.code, ORR_CODE_ARGUMENT);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// The drag of an ellipsoid is computed once, from the model's size.
static void sizes_with_drag_of_their_own_are_refused_by_name(void **state)
{
    (void)state;
    static const char swimmer[] = "<mujoco><option density='1000'/><worldbody><body><freejoint/>"
                                  "<geom size='0.1 0.2 0.3' type='ellipsoid' fluidshape='ellipsoid'/>"
                                  "<geom size='0.1' pos='0 0 1'/></body></worldbody></mujoco>";
    orr_model *model = NULL;
    assert_ok(orr_model_parse(swimmer, sizeof swimmer - 1, "swimmer.xml", &model, &error));
    orr_physics *physics = make(model, 1, true);
    double size[6] = {0.1, 0.2, 0.3, 0.15, 0.0, 0.0};
    assert_ok(orr_physics_vary(physics, ORR_VARY_GEOM_SIZE, 0, 1, size, &error));
    orr_error error = {0};
    size[1] = 0.25;
    assert_true(orr_physics_vary(physics, ORR_VARY_GEOM_SIZE, 0, 1, size, &error) != ORR_OK);
    assert_int_equal(error.code, ORR_CODE_FEATURE_ABSENT);
    assert_non_null(strstr(error.message, "geom_size: world 0, geom 0: expected 0.2 as in the model"));
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_that_differs_moves_as_if_compiled_so),
        cmocka_unit_test(quantities_of_a_world_add_up),
        cmocka_unit_test(all_worlds_at_once_and_where_they_start),
        cmocka_unit_test(values_that_cannot_be_are_refused_by_name),
        cmocka_unit_test(sizes_with_drag_of_their_own_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
