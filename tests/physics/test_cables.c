// Cables of MJCF: the composites that make them, and their elastic torques against MuJoCo's
// (tests/golden/record_cables.py) and against the theory of beams.
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/physics/model_mistakes.h"
#include "tests/physics/recorded_paths.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static orr_model *parse(const char *text)
{
    orr_model *model = NULL;
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    return model;
}

// ---- composites; their numbers: test_mjcf

static orr_object kind_named(const char *name)
{
    return strcmp(name, "body") == 0    ? ORR_OBJECT_BODY
           : strcmp(name, "joint") == 0 ? ORR_OBJECT_JOINT
           : strcmp(name, "geom") == 0  ? ORR_OBJECT_GEOM
           : strcmp(name, "site") == 0  ? ORR_OBJECT_SITE
                                        : ORR_OBJECT_TEXT;
}

static void all_parts_have_mujocos_names(void **state)
{
    (void)state;
    orr_model *model = NULL;
    assert_ok(orr_model_load(source_path("tests/golden/models/cables.xml"), &model, &error));
    FILE *file = fopen(source_path("tests/golden/cables/names.txt"), "r");
    char line[128], kind[16], name[64];
    int id, lines = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        name[0] = 0;
        assert_true(sscanf(line, "%15s %d %63s", kind, &id, name) >= 2);
        assert_string_equal(orr_model_name(model, kind_named(kind), id), name);
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, model->nbody + model->njnt + model->ngeom + model->nsite + model->ntext);
    orr_model_destroy(model);
}

#define EXTENSION                                                                                            \
    "<extension><plugin plugin='mujoco.elasticity.cable'><instance name='p'>"                                \
    "<config key='bend' value='1e6'/></instance></plugin></extension>"
#define PART(inside) "<body pos='.1 0 0'><joint type='ball'/>" CAPSULE_OF_BODY inside "</body>"
#define CAPSULE_OF_BODY "<geom type='capsule' size='.01 .05'/>"
#define PLUGIN "<plugin instance='p'/>"
#define CAPSULE "<geom type='capsule' size='.01'/>"
#define CABLE_PLUGIN(attributes, config)                                                                     \
    "<plugin plugin='mujoco.elasticity.cable' " attributes ">" config "</plugin>"
#define WITH_PLUGIN(plugin)                                                                                  \
    "<mujoco>" EXTENSION "<worldbody><composite type='cable' count='4' curve='s'>" CAPSULE "\n" plugin       \
    "</composite></worldbody></mujoco>"
#define CABLE(attributes, inside)                                                                            \
    "<mujoco><worldbody>\n<composite type='cable' prefix='c' " attributes ">" inside                         \
    "</composite></worldbody></mujoco>"

// MuJoCo 3.12 has no contact exclude for two bodies: it looks for a body that does not exist, and fails.
static void a_cable_of_two_bodies_excludes_their_contact(void **state)
{
    (void)state;
    orr_model *model = parse(CABLE("count='3 1 1' curve='s' size='.5'", CAPSULE));
    assert_int_equal(model->nbody, 3);
    assert_int_equal(model->nexclude, 1);
    int first = orr_model_find(model, ORR_OBJECT_BODY, "cB_first"),
        last = orr_model_find(model, ORR_OBJECT_BODY, "cB_last");
    assert_int_equal(model->exclude_signature[0], (first << 16) + last);
    assert_true(fabs(model->body_pos[3 * last] - 0.25) < 1e-7);
    orr_model_destroy(model);
}

static void skins_of_cables_are_noted(void **state)
{
    (void)state;
    orr_model *model = parse(CABLE("count='3 1 1' curve='s'", CAPSULE "\n<skin group='2'/>"));
    assert_int_equal(model->unused.count, 1);
    assert_non_null(strstr(model->unused.first, "test.xml:3: <skin>"));
    orr_model_destroy(model);
}

static void every_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    static const char composite[] = "test.xml:2: <composite>";
    static const model_mistake mistakes[] = {
        {"<mujoco><worldbody>\n<composite type='grid'/></worldbody></mujoco>", composite,
         "type: 'grid' is unknown or unsupported: expected one of cable"},
        {"<mujoco><worldbody>\n<composite/></worldbody></mujoco>", composite, "type: expected cable"},
        {CABLE("count='4 1 1' spacing='1'", CAPSULE), composite, "unknown attribute 'spacing'"},
        {CABLE("count='4 1 1' curve='s' initial='hinge'", CAPSULE), composite, "initial: 'hinge'"},
        {CABLE("count='4 1 1' curve='s t'", CAPSULE), composite, "curve: expected up to three of 0, s"},
        {CABLE("count='4 1 1' curve='s 0 0 0'", CAPSULE), composite, "curve: expected up to three of 0, s"},
        {CABLE("count='4 1 1'", CAPSULE), composite, "points 0 and 1 of the cable: expected a distance"},
        {CABLE("count='4 1 1' curve='s' size='0'", CAPSULE), composite, "points 0 and 1 of the cable"},
        {CABLE("count='1 1 1' curve='s'", CAPSULE), composite, "expected 2 to 256 vertices, or a count"},
        {CABLE("count='257' curve='s'", CAPSULE), composite, "expected 2 to 256 vertices, or a count"},
        {CABLE("count='4 2 1' curve='s'", CAPSULE), composite, "expected 2 to 256 vertices, or a count"},
        {CABLE("count='4' vertex='0 0 0 1 0 0'", CAPSULE), composite,
         "three numbers for each vertex, and no"},
        {CABLE("vertex='0 0 0 1 0 0 2'", CAPSULE), composite, "three numbers for each vertex"},
        {CABLE("vertex='0 0 0 1e39 0 0'", CAPSULE), composite, "points 0 and 1 of the cable"},
        {CABLE("vertex='0 0 0 1 0 0 1 0 0'", CAPSULE), composite, "points 1 and 2 of the cable"},
        {CABLE("count='4' curve='s' quat='0 0 0 0'", CAPSULE), composite, "quat: expected"},
        {CABLE("count='4' curve='s'", ""), composite, "expected a <geom> of the type capsule, cylinder or"},
        {CABLE("count='4' curve='s'", "\n<geom type='sphere'/>"), "test.xml:3: <geom>",
         "expected a <geom> of the type capsule, cylinder or box"},
        {CABLE("count='4' curve='s'", "\n<geom type='box' pos='0 0 0'/>"), "test.xml:3: <geom>",
         "unknown attribute 'pos'"},
        {CABLE("count='4' curve='s'", "<geom type='box' size='1 1 a'/>"), "test.xml:2: <geom>",
         "size: expected 1 to 3 numbers"},
        {CABLE("count='4' curve='s'", CAPSULE "\n" CAPSULE), "test.xml:3: <geom>", "expected once"},
        {CABLE("count='4' curve='s'", "\n<geom type='capsule' size='.01' condim='a'/>"), "test.xml:3: <geom>",
         "condim: expected 1 number"},
        {CABLE("count='4' curve='s'", CAPSULE "\n<joint damping='1'/>"), "test.xml:3: <joint>",
         "kind: expected main"},
        {CABLE("count='4' curve='s'", CAPSULE "\n<joint kind='main' ref='1'/>"), "test.xml:3: <joint>",
         "unknown attribute 'ref'"},
        {CABLE("count='4' curve='s'", CAPSULE "\n<tendon/>"), "test.xml:3: <tendon>",
         "unknown element inside <composite>"},
        {CABLE("count='4' curve='s'", CAPSULE "</composite><composite type='cable' prefix='c' curve='s' "
                                              "count='4'>" CAPSULE),
         "test.xml:2: <body>", "taken already"},
        {CABLE("count='4' curve='s'", CAPSULE "\n" CABLE_PLUGIN("", "")), "test.xml:3: <plugin>",
         "plugin: expected an <extension> with it"},
        {WITH_PLUGIN("<plugin plugin='mujoco.sensor.touch_grid'/>"), "test.xml:2: <plugin>",
         "plugin: expected mujoco.elasticity.cable"},
        {WITH_PLUGIN("<plugin/>"), "test.xml:2: <plugin>", "plugin: expected mujoco.elasticity.cable"},
        {WITH_PLUGIN("<plugin instance='q'/>"), "test.xml:2: <plugin>", "instance: expected one of an"},
        {WITH_PLUGIN(CABLE_PLUGIN("instance='p'", "<config key='bend' value='1'/>")), "test.xml:2: <plugin>",
         "instance: expected no <config>"},
        {WITH_PLUGIN(CABLE_PLUGIN("name='p'", "")), "test.xml:2: <plugin>", "unknown attribute 'name'"},
        {WITH_PLUGIN(CABLE_PLUGIN("", "\n<config key='bent' value='1'/>")), "test.xml:3: <config>",
         "key: expected twist, bend, flat or vmax"},
        {WITH_PLUGIN(CABLE_PLUGIN("", "<config key='bend' value='1'/>\n<config key='bend' value='1'/>")),
         "test.xml:3: <config>", "each once"},
        {WITH_PLUGIN(CABLE_PLUGIN("", "\n<config key='bend' value='-1'/>")), "test.xml:3: <config>",
         "value of bend: expected a number of at least 0"},
        {WITH_PLUGIN(CABLE_PLUGIN("", "\n<config key='twist' value='1 2'/>")), "test.xml:3: <config>",
         "value: expected 1 number"},
        {WITH_PLUGIN(CABLE_PLUGIN("", "\n<config key='twist'/>")), "test.xml:3: <config>",
         "value of twist: expected a number of at least 0"},
        {WITH_PLUGIN(CABLE_PLUGIN("", "\n<config key='flat' value='yes'/>")), "test.xml:3: <config>",
         "value of flat: expected true or false"},
        {WITH_PLUGIN(CABLE_PLUGIN("", "\n<instance/>")), "test.xml:3: <instance>", "unknown element"},
        {"<mujoco>" EXTENSION "<worldbody>\n<plugin instance='p'/></worldbody></mujoco>",
         "test.xml:2: <plugin>", "expected once in a body that is not the world"},
        {"<mujoco>" EXTENSION "<worldbody>" PART(PLUGIN "\n" PLUGIN) "</worldbody></mujoco>",
         "test.xml:2: <plugin>", "expected once in a body"},
        {"<mujoco>" EXTENSION "<worldbody>" PART(PLUGIN "\n<body pos='1 0 0'><joint/>" CAPSULE_OF_BODY PLUGIN
                                                        "</body>") "</worldbody></mujoco>",
         "test.xml:2: <body>", "expected a ball joint alone between two bodies of a cable"},
        {"<mujoco>" EXTENSION "<worldbody>" PART(PLUGIN "\n<body pos='1 0 0'>" CAPSULE_OF_BODY PLUGIN
                                                        "</body>") "</worldbody></mujoco>",
         "test.xml:2: <body>", "expected a ball joint alone between two bodies of a cable"},
        {"<mujoco>" EXTENSION
         "<worldbody>" PART(PLUGIN "\n<body pos='1 0 0'><joint type='ball'/><geom size='1'/>" PLUGIN
                                   "</body>") "</worldbody></mujoco>",
         "test.xml:2: <body>", "expected a capsule, cylinder or box as the first geom"},
        {"<mujoco>" EXTENSION "<worldbody>" PART(PLUGIN "\n<body><joint type='ball'/>" CAPSULE_OF_BODY PLUGIN
                                                        "</body>") "</worldbody></mujoco>",
         "test.xml:2: <body>", "expected a distance from the body before it"},
    };
    assert_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0], "test.xml");
}

// ---- torques

// In double one world, in float the last of a block and one more.
static void compare_torques(recorded *g, orr_physics *const both[2], double worst[2])
{
    double got[128];
    for (int i = 0; i < g->states; i++) {
        const double *qpos = golden_numbers_take(&g->file, g->nq),
                     *qvel = golden_numbers_take(&g->file, g->nv),
                     *expected = golden_numbers_take(&g->file, g->nv);
        for (int k = 0; k < 2; k++) {
            int last = orr_physics_worlds(both[k]) - 1;
            orr_physics_set(both[k], ORR_PHYSICS_QPOS, last, qpos);
            orr_physics_set(both[k], ORR_PHYSICS_QVEL, last, qvel);
            orr_physics_forward(both[k]);
            orr_physics_read(both[k], ORR_PHYSICS_QFRC_PASSIVE, last, got);
            worst[k] = fmax(worst[k], largest(got, expected, g->nv) / largest(expected, NULL, g->nv));
        }
    }
}

static void cables_move_as_in_mujoco(void **state)
{
    (void)state;
    static const char *const models[] = {"hanging", "coiled", "bodies"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char path[64];
        orr_model *model = NULL;
        assert_ok(orr_model_load(source_path("tests/golden/cables/%s.xml", models[i]), &model, &error));
        snprintf(path, sizeof path, "cables/%s", models[i]);
        recorded g = {.file = golden_numbers_load(path)};
        const double *sizes = golden_numbers_take(&g.file, 5);
        g.nq = (int)sizes[0], g.nv = (int)sizes[1], g.states = (int)sizes[2], g.parts = (int)sizes[3],
        g.steps = (int)sizes[4];
        assert_true(g.nq == model->nq && g.nv == model->nv && g.nq <= 128);
        orr_physics *both[2] = {make_physics(model, 1, true), make_physics(model, 17, false)};
        double torque[2] = {0.0, 0.0}, path_error[2] = {0.0, 0.0};
        compare_torques(&g, both, torque);
        compare_paths(&g, both, path_error);
        print_message("%s: qfrc_passive %.1e in f64, %.1e in f32; qpos after %d steps %.1e, %.1e\n",
                      models[i], torque[0], torque[1], g.steps, path_error[0], path_error[1]);
        assert_ptr_equal(g.file.next, g.file.behind);
        // rounding: MuJoCo sums torques of bodies that cancel here; in float of angles of 1e-7 rad
        assert_true(torque[0] < 1e-12 && torque[1] < 3e-5);
        assert_true(path_error[0] < 1e-11 && path_error[1] < 1e-4);
        orr_physics_destroy(both[0]);
        orr_physics_destroy(both[1]);
        orr_model_destroy(model);
        orr_free(g.file.numbers);
    }
}

// A rod of 1 m along x, held at its first body, in no gravity. Joints have so much inertia of their own, and
// so much damping, that each comes to rest by itself, and as fast as it can: k = EI / l = 0.157 N m/rad,
// sqrt(k / a) = 12.5 / s. Its steel is light.
#define ROD(geom)                                                                                            \
    "<mujoco><option timestep='0.01' gravity='0 0 0'/><extension>"                                           \
    "<plugin plugin='mujoco.elasticity.cable'/></extension><worldbody>"                                      \
    "<composite type='cable' prefix='c' curve='s' count='%d' initial='none'>"                                \
    "<plugin plugin='mujoco.elasticity.cable'><config key='twist' value='4e5'/>"                             \
    "<config key='bend' value='1e6'/></plugin>"                                                              \
    "<joint kind='main' damping='0.025' armature='0.001'/>"                                                  \
    "<geom " geom " density='1' contype='0'/></composite></worldbody></mujoco>"

// Where the end of the rod is, and its last axis y, when a force and a torque [N, N m] act on it.
static void load_rod(const char *format, int bodies, const double force[3], const double torque[3],
                     double end[3], double axis[3])
{
    char text[1024];
    double wrench[6 * 64] = {0.0}, pose[4 * 64];
    snprintf(text, sizeof text, format, bodies + 1);
    orr_model *model = parse(text);
    orr_physics *physics = make_physics(model, 1, true);
    const double length = 1.0 / bodies;
    double *last = wrench + 6 * bodies; // on the centre of mass, half a body before the end
    assert_int_equal(model->nbody, bodies + 1);
    memcpy(last, force, 3 * sizeof *force);
    memcpy(last + 3, torque, 3 * sizeof *torque);
    last[4] -= 0.5 * length * force[2];
    last[5] += 0.5 * length * force[1];
    orr_physics_set(physics, ORR_PHYSICS_XFRC_APPLIED, 0, wrench);
    orr_physics_step(physics, 1000);
    orr_physics_forward(physics);
    orr_physics_read(physics, ORR_PHYSICS_XQUAT, 0, pose);
    const double *q = pose + 4 * bodies;
    const double x[3] = {1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]), 2.0 * (q[1] * q[2] + q[0] * q[3]),
                         2.0 * (q[1] * q[3] - q[0] * q[2])};
    const double y[3] = {2.0 * (q[1] * q[2] - q[0] * q[3]), 1.0 - 2.0 * (q[1] * q[1] + q[3] * q[3]),
                         2.0 * (q[2] * q[3] + q[0] * q[1])};
    orr_physics_read(physics, ORR_PHYSICS_XPOS, 0, pose);
    for (int k = 0; k < 3; k++) {
        end[k] = pose[3 * bodies + k] + length * x[k];
        axis[k] = y[k];
    }
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// F L^3 / 3EI is what a chain of n bodies comes to as n grows: the turns of its n - 1 joints,
// F (L - x) l / EI, sum up to F l^3 / EI (1 + 4 + .. (n - 1)^2).
static void cantilevers_bend_by_the_theory_of_beams(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, force = 2.4e-4;
    static const struct {
        const char *text;
        double y, z; // second moments of area [m^4] for forces along y, along z
    } sections[] = {{ROD("type='capsule' size='.01'"), 0.25 * 1e-8, 0.25 * 1e-8}, // times pi
                    {ROD("type='box' size='1 .012 .008'"), 4.0 / 3.0 * 0.008 * 0.012 * 0.012 * 0.012,
                     4.0 / 3.0 * 0.012 * 0.008 * 0.008 * 0.008}};
    for (int s = 0; s < 2; s++) {
        for (int along = 1; along <= 2; along++) {
            double moment = (along == 1 ? sections[s].y : sections[s].z) * (s == 0 ? pi : 1.0);
            double beam = force / (3.0 * 1e6 * moment), far = 0.0;
            for (int n = 10; n <= 20; n += 10) {
                double push[3] = {0.0}, none[3] = {0.0}, end[3], axis[3], squares = 0.0;
                push[along] = force;
                load_rod(sections[s].text, n, push, none, end, axis);
                for (int j = 1; j < n; j++) {
                    squares += j * j;
                }
                double chain = force * squares / (1e6 * moment * n * n * n);
                print_message("%s of %d bodies, force along %c: %.6f m, F L^3 / 3EI %.6f\n",
                              s ? "box" : "capsule", n, 'x' + along, end[along], beam);
                // turns are up to 0.02 rad, whose squares the linear theory leaves out
                assert_true(fabs(end[along] - chain) < 1e-3 * chain);
                assert_true(fabs(end[3 - along]) < 1e-9);
                double error = fabs(end[along] - beam) / beam;
                assert_true(error < 1.6 / n); // of first order in l
                assert_true(n == 10 || error < 0.6 * far);
                far = error;
            }
        }
    }
}

// T L / G J; a rectangle's J by Saint-Venant's series, which MuJoCo's polynomial follows to 1 %.
static void rods_twist_by_saint_venants_theory(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, torque[3] = {1e-3, 0.0, 0.0}, none[3] = {0.0};
    const double y = 0.012, z = 0.008;
    double series = 0.0, end[3], axis[3];
    for (int k = 1; k < 40; k += 2) {
        series += tanh(0.5 * k * pi * y / z) / pow(k, 5.0);
    }
    const double polar[2] = {0.5 * pi * 1e-8,
                             16.0 * y * z * z * z * (1.0 / 3.0 - 64.0 / pow(pi, 5.0) * z / y * series)};
    static const char *const rods[2] = {ROD("type='cylinder' size='.01'"),
                                        ROD("type='box' size='1 .012 .008'")};
    for (int s = 0; s < 2; s++) {
        load_rod(rods[s], 10, none, torque, end, axis);
        double expected = torque[0] * 0.9 / (4e5 * polar[s]), got = atan2(axis[2], axis[1]); // 9 joints of 10
        print_message("%s: twisted by %.6f rad, theory %.6f\n", s ? "box" : "cylinder", got, expected);
        assert_true(fabs(got - expected) < (s == 0 ? 1e-6 : 1e-2) * expected);
    }
}

static void only_neighbours_with_the_same_instance_are_joined(void **state)
{
    (void)state;
    // copies share their instance, and are two cables nevertheless, for which MuJoCo computes NaN
    orr_model *model = parse("<mujoco>" EXTENSION "<worldbody><replicate count='2' offset='0 1 0'>" PART(
        PLUGIN PART(PLUGIN PART(""))) "</replicate></worldbody></mujoco>");
    assert_int_equal(model->njnt, 6);
    assert_int_equal(model->ncable, 2);
    assert_true(model->cable_jntid[0] == 1 && model->cable_jntid[1] == 4);
    orr_model_destroy(model);
    // one that hangs on another
    model = parse("<mujoco>" EXTENSION "<worldbody>" PART(
        PLUGIN PART(PLUGIN PART(CABLE_PLUGIN("", "") PART("")))) "</worldbody></mujoco>");
    assert_int_equal(model->ncable, 1);
    assert_int_equal(model->cable_jntid[0], 1);
    orr_model_destroy(model);
    // parts of another model that are attached twice
    static const char part[] =
        "<mujoco model='part'>" EXTENSION "<worldbody><body name='b'><joint "
        "type='ball'/>" CAPSULE_OF_BODY PLUGIN PART(PLUGIN) "</body></worldbody></mujoco>";
    static const char whole[] =
        "<mujoco><asset><model name='a' file='cable_part.xml'/></asset>" EXTENSION "<worldbody>" PART(
            PLUGIN "<attach model='a' body='b' prefix='x'/>") "<attach model='a' body='b' prefix='y'/>"
                                                              "</worldbody></mujoco>";
    written("cable_part.xml", part);
    assert_ok(orr_model_load(written("cable_whole.xml", whole), &model, &error));
    assert_int_equal(model->ncable, 2);
    assert_true(model->cable_jntid[0] == 2 && model->cable_jntid[1] == 4);
    orr_model_destroy(model);
}

// As MuJoCo's plugins, which are left out with springs and dampers both.
static void cables_are_disabled_with_springs_and_dampers(void **state)
{
    (void)state;
    static const char *const flags[] = {"spring='disable'", "damper='disable'",
                                        "spring='disable' damper='disable'"};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        double qpos[8] = {1.0, 0.0, 0.0, 0.0, 0.8, 0.0, 0.6, 0.0}, force[6];
        snprintf(text, sizeof text, "<mujoco><option><flag %s/></option>%s", flags[i],
                 EXTENSION "<worldbody>" PART(PLUGIN PART(PLUGIN)) "</worldbody></mujoco>");
        orr_model *model = parse(text);
        orr_physics *physics = make_physics(model, 1, true);
        orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, qpos);
        orr_physics_forward(physics);
        orr_physics_read(physics, ORR_PHYSICS_QFRC_PASSIVE, 0, force);
        // EI / l times the angle
        double expected = -0.25 * 3.14159265358979323846 * 1e-8 * 1e6 / 0.1 * 2.0 * atan2(0.6, 0.8);
        assert_true(fabs(force[4] - (i < 2 ? expected : 0.0)) < 1e-12);
        assert_true(fabs(force[1]) < 1e-12);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
}

static void all_composites_together_have_a_limit(void **state)
{
    (void)state;
    static char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "<mujoco><worldbody>");
    for (int i = 0; i < 65; i++) { // 255 bodies each
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "\n<composite type='cable' prefix='%d' count='256' curve='s'>" CAPSULE "</composite>", i);
    }
    snprintf(text + used, sizeof text - used, "</worldbody></mujoco>");
    orr_model *model = NULL;
    orr_error error = {0};
    assert_int_not_equal(orr_model_parse(text, strlen(text), "test.xml", &model, &error), ORR_OK);
    assert_string_equal(error.message,
                        "test.xml:66: <composite>: expected up to 16384 bodies in all composites");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_have_mujocos_names),
        cmocka_unit_test(a_cable_of_two_bodies_excludes_their_contact),
        cmocka_unit_test(skins_of_cables_are_noted),
        cmocka_unit_test(every_mistake_is_named_with_its_line),
        cmocka_unit_test(all_composites_together_have_a_limit),
        cmocka_unit_test(cables_move_as_in_mujoco),
        cmocka_unit_test(cantilevers_bend_by_the_theory_of_beams),
        cmocka_unit_test(rods_twist_by_saint_venants_theory),
        cmocka_unit_test(only_neighbours_with_the_same_instance_are_joined),
        cmocka_unit_test(cables_are_disabled_with_springs_and_dampers),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
