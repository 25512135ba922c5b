// Contacts of soft bodies that nodes move, against MuJoCo's (tests/golden/record_flex_contacts.py); which
// soft bodies nodes move.
#include "physics/load/load.h"
#include "physics/model/join.h"
#include "physics/simulation/world.h"
#include "tests/physics/recorded_paths.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONTACTS_MAX = 128, CONTACT_NUMBERS = 22 };

typedef struct worst {
    double place, force, total, acceleration, sensor;
} worst;

// The number that is recorded: of the vertex, or -1 - that of the element in its flex.
static int touched(const orr_model *model, const orr_physics_contact *contact)
{
    return contact->point >= 0 ? contact->point : -1 - model->flexelement_elem[contact->element];
}

// Contacts in any order: by geom and vertex or element.
static void compare_contacts(const orr_model *model, orr_physics *physics, const double *expected, int count,
                             worst *w)
{
    orr_physics_contact got[CONTACTS_MAX];
    assert_int_equal(orr_physics_contacts(physics, orr_physics_worlds(physics) - 1, got, CONTACTS_MAX),
                     count);
    double force = 0.0;
    for (int i = 0; i < count; i++) {
        force = fmax(force, largest(expected + CONTACT_NUMBERS * i + 16, NULL, 6));
    }
    for (int i = 0; i < count; i++) {
        const double *of = expected + CONTACT_NUMBERS * i;
        int k = 0;
        while (k < count && (got[k].geom1 != (int)of[0] || touched(model, &got[k]) != (int)of[1])) {
            k++;
        }
        assert_true(k < count && got[k].geom2 == -1 && got[k].dim == (int)of[2]);
        w->place = fmax(w->place, fabs(got[k].dist - of[3]));
        w->place = fmax(w->place, largest(got[k].pos, of + 4, 3));
        w->place = fmax(w->place, largest(got[k].frame, of + 7, 9));
        w->force = fmax(w->force, largest(got[k].force, of + 16, 6) / force);
    }
}

static void compare_states(const orr_model *model, recorded *g, orr_physics *const both[2], worst w[2])
{
    double got[NUMBERS_MAX];
    for (int i = 0; i < g->states; i++) {
        const double *qpos = golden_numbers_take(&g->file, g->nq),
                     *qvel = golden_numbers_take(&g->file, g->nv);
        const int count = (int)*golden_numbers_take(&g->file, 1);
        const double *contacts = golden_numbers_take(&g->file, CONTACT_NUMBERS * count);
        const double *total = golden_numbers_take(&g->file, g->nv),
                     *qacc = golden_numbers_take(&g->file, g->nv);
        const double *sensors = golden_numbers_take(&g->file, g->nsensordata);
        for (int k = 0; k < 2; k++) {
            const int last = orr_physics_worlds(both[k]) - 1;
            set_state(both[k], qpos, qvel);
            orr_physics_forward(both[k]);
            compare_contacts(model, both[k], contacts, count, &w[k]);
            orr_physics_read(both[k], ORR_PHYSICS_QFRC_CONSTRAINT, last, got);
            w[k].total = fmax(w[k].total, largest(got, total, g->nv) / largest(total, NULL, g->nv));
            orr_physics_get(both[k], ORR_PHYSICS_QACC, last, got);
            w[k].acceleration =
                fmax(w[k].acceleration, largest(got, qacc, g->nv) / largest(qacc, NULL, g->nv));
            if (g->nsensordata > 0) {
                orr_physics_read(both[k], ORR_PHYSICS_SENSORDATA, last, got);
                w[k].sensor = fmax(w[k].sensor, largest(got, sensors, g->nsensordata) /
                                                    largest(sensors, NULL, g->nsensordata));
            }
        }
    }
}

// Of vertices on planes, in double: rounding of sums of up to 27 weights; forces of the beam differ by
// 2e-8, as its two planes press on nodes whose masses are to each other as 1 to 64, and both solvers stop
// there. In float positions of 0.3 m are rounded by 3e-8 m, depths of 0.01 m by 3e-6 of themselves, and so
// are forces, of which the largest are differences of ten times as much. Of elements with spheres and
// capsules the same, but for the ball that the block throws off, whose path doubles each difference. Of
// other geoms MuJoCo searches for the depth of an element with the ball around it, and finds its place to
// 6e-6 m, where the difference of the shapes is flat, in double and float alike, and with it one force of
// many that share a load to 4e-4 of the largest, though their sums to 3e-5.
typedef struct limits {
    double place, force, sum, path;
} limits;

static const limits limit_of[][2] = {{{1e-15, 1e-7, 1e-7, 2e-9}, {2e-7, 1e-4, 1e-4, 3e-6}},
                                     {{1e-14, 1e-7, 1e-7, 2e-9}, {2e-6, 1e-4, 1e-4, 2e-5}},
                                     {{2e-5, 2e-3, 2e-4, 3e-7}, {5e-5, 2e-3, 2e-4, 3e-6}}};

// In double one world; in float the last of a block and one more, or of few worlds where elements touch.
static void contacts_are_those_of_mujoco(void **state)
{
    (void)state;
    static const char *const models[] = {"block", "beam", "hinged", "balls", "boxes", "hulls"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char path[64];
        orr_model *model = NULL;
        worst w[2] = {0};
        double path_error[2] = {0.0, 0.0};
        assert_ok(
            orr_model_load(source_path("tests/golden/flex_contacts/%s.xml", models[i]), &model, &error));
        snprintf(path, sizeof path, "flex_contacts/%s", models[i]);
        recorded g = {.file = golden_numbers_load(path)};
        const double *sizes = golden_numbers_take(&g.file, 6);
        g.nq = (int)sizes[0], g.nv = (int)sizes[1], g.nsensordata = (int)sizes[2];
        g.states = (int)sizes[3], g.parts = (int)sizes[4], g.steps = (int)sizes[5];
        assert_true(g.nq == model->nq && g.nv == model->nv && g.nsensordata == model->nsensordata);
        assert_true(g.nq <= NUMBERS_MAX);
        orr_physics *both[2] = {make_physics(model, 1, true), make_physics(model, i < 3 ? 17 : 2, false)};
        compare_states(model, &g, both, w);
        compare_paths(&g, both, path_error);
        assert_ptr_equal(g.file.next, g.file.behind);
        for (int k = 0; k < 2; k++) {
            print_message(
                "%s, %s: contacts %.1e m, forces %.1e, qfrc_constraint %.1e, qacc %.1e, sensors %.1e; "
                "qpos after %d steps %.1e m\n",
                models[i], k ? "f32" : "f64", w[k].place, w[k].force, w[k].total, w[k].acceleration,
                w[k].sensor, g.steps, path_error[k]);
            const limits *most = &limit_of[i < 3 ? 0 : i < 4 ? 1 : 2][k];
            assert_true(w[k].place < most->place && w[k].force < most->force);
            assert_true(w[k].total < most->sum && w[k].acceleration < most->sum && w[k].sensor < most->sum);
            assert_true(path_error[k] < most->path);
            orr_physics_destroy(both[k]);
        }
        orr_model_destroy(model);
        orr_free(g.file.numbers);
    }
}

#define BLOCK(name, attributes, inside)                                                                      \
    "<flexcomp name='" name "' dim='3' dof='trilinear' radius='.01' count='3 3 3' spacing='.1 .1 .1' "       \
    "mass='1' " attributes "><elasticity young='1e4' poisson='.3' damping='.01'/>" inside "</flexcomp>"
#define PLANE "<geom name='floor' type='plane' size='1 1 .1'/>"
#define HILLS "<geom type='hfield' hfield='h'/>"

static orr_model *parse(const char *text)
{
    orr_model *model = NULL;
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    return model;
}

// What a soft body can touch decides, by the bits of contype and conaffinity.
static void nodes_move_what_touches_geoms(void **state)
{
    (void)state;
    static const struct {
        const char *others, *contact;
        int nodes;
        bool noted;
    } cases[] = {
        {PLANE, "", 8, false},
        {PLANE "<geom size='.1'/>", "", 8, false},
        {PLANE HILLS, "", 0, true},
        {PLANE HILLS, "<contact conaffinity='0' contype='2'/>", 8, false},
        {PLANE HILLS, "<contact contype='2'/>", 0, true}, // one of the two is enough
        {PLANE HILLS, "<contact conaffinity='0'/>", 0, true},
        {"<geom size='.1'/>" PLANE, "<contact contype='0' conaffinity='0'/>", 8, false},
        {PLANE "<geom size='.1' contype='2' conaffinity='2'/>", "", 8, false},
        {PLANE "<geom size='.1' contype='2' conaffinity='0'/>", "<contact conaffinity='3'/>", 8, false},
        {PLANE "<body>" BLOCK("other", "", "") "</body>", "", 0, true},
        {PLANE "<body>" BLOCK("other", "", "<contact contype='0' conaffinity='0'/>") "</body>", "", 16,
         false},
        {PLANE "<body><freejoint/><geom type='box' size='.1 .1 .1'/></body>", "<contact condim='4'/>", 8,
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 .1 .1'/></asset><worldbody>%s"
                 "<body name='p' pos='0 0 1'>" BLOCK("f", "", "%s") "</body></worldbody></mujoco>",
                 cases[i].others, cases[i].contact);
        orr_model *model = parse(text);
        assert_int_equal(model->nflexnode, cases[i].nodes);
        assert_int_equal(model->unused.count > 0, cases[i].noted);
        orr_model_destroy(model);
    }
}

#define SURFACE "dim='2' type='direct' point='0 0 0 1 0 0 0 1 0 0 0 1' element='0 2 1 0 1 3 0 3 2 1 2 3'"

// The outer layers of tetrahedra touch, from 1 on; MuJoCo 4.0's flex_elemlayer has as many in each. Surfaces
// touch planes alone.
static void outer_layers_touch(void **state)
{
    (void)state;
    static const struct {
        const char *geom, *type, *contact;
        int nodes, elements;
    } cases[] = {
        {"sphere", "dim='3' type='grid' count='6 6 6'", "", 8, 270},
        {"sphere", "dim='3' type='grid' count='6 6 6'", "<contact activelayers='2'/>", 8, 462},
        {"sphere", "dim='3' type='grid' count='6 6 6'", "<contact activelayers='9'/>", 8, 750},
        {"sphere", "dim='3' type='grid' count='6 6 6'", "<contact activelayers='0'/>", 8, 0},
        {"box", "dim='3' type='grid' count='2 2 2'", "", 8, 6},
        {"sphere", SURFACE, "", 0, 0},
        {"box", SURFACE, "", 0, 0},
        {"plane", SURFACE, "", 8, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><worldbody><geom type='%s' size='.1 .1 .1'/><body name='p'><flexcomp name='f' %s "
                 "spacing='.1 .1 .1' dof='trilinear' mass='1'>%s<elasticity young='1e4'/></flexcomp></body>"
                 "</worldbody></mujoco>",
                 cases[i].geom, cases[i].type, cases[i].contact);
        orr_model *model = parse(text);
        assert_int_equal(model->nflexnode, cases[i].nodes);
        assert_int_equal(model->nflexelement, cases[i].elements);
        orr_model_destroy(model);
    }
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *contact, *expected;
    } cases[] = {
        {"condim='2'", "condim: expected 1, 3, 4 or 6, not 2"},
        {"friction='1 -1'", "torsional friction: expected at least 0, not -1"},
        {"solmix='-2'", "solmix: expected at least 0, not -2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        orr_model *model = NULL;
        orr_error failed;
        snprintf(text, sizeof text,
                 "<mujoco><worldbody>" PLANE
                 "<body name='p'>" BLOCK("f", "", "<contact %s/>") "</body></worldbody></mujoco>",
                 cases[i].contact);
        assert_int_not_equal(orr_model_parse(text, strlen(text), "test.xml", &model, &failed), ORR_OK);
        assert_non_null(strstr(failed.message, cases[i].expected));
    }
}

static void read_forces(const orr_model *model, const double *qpos, int at, int nv, double *qacc)
{
    double all[NUMBERS_MAX] = {0.0};
    orr_physics *physics = make_physics(model, 1, true);
    assert_true(model->nv <= NUMBERS_MAX);
    memcpy(all + at, qpos, (size_t)nv * sizeof *all);
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, all);
    orr_physics_forward(physics);
    orr_physics_get(physics, ORR_PHYSICS_QACC, 0, all);
    memcpy(qacc, all + at, (size_t)nv * sizeof *all);
    orr_physics_destroy(physics);
}

#define OPTION "<option tolerance='1e-14' gravity='0 0 -9.81'/>"
#define PINNED BLOCK("f", "pos='.3 0 .2'", "<pin id='0'/>")

// The soft body of one model on a geom of another, which is joined with it at another place: as in one model.
// The world holds one of its nodes.
static void join_with(const char *floor, const char *floor_below)
{
    char text[1024];
    orr_model *model[3], *joint = NULL;
    orr_model_part part[2];
    orr_model_place place[2];
    double qpos[24], alone[24], together[24], free[24];
    snprintf(text, sizeof text, "<mujoco>" OPTION "<worldbody>%s</worldbody></mujoco>", floor_below);
    model[0] = parse(text);
    model[1] = parse("<mujoco>" OPTION "<worldbody>" PINNED "</worldbody></mujoco>");
    snprintf(text, sizeof text, "<mujoco>" OPTION "<worldbody>%s" PINNED "</worldbody></mujoco>", floor);
    model[2] = parse(text);
    for (int i = 0; i < 21; i++) {
        qpos[i] = 0.01 * sin(1.7 * i) - (i % 3 == 2 ? 0.015 : 0.0);
    }
    assert_true(model[1]->nv == 21 && model[2]->nv == 21 && model[1]->nflexpoint == 27);
    part[0] = (orr_model_part){model[0], "a/", {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    part[1] = (orr_model_part){model[1], "b/", {0.5, 0.7, -0.1}, {1.0, 0.0, 0.0, 0.0}};
    assert_ok(orr_model_join(part, 2, &joint, place, &error));
    read_forces(model[1], qpos, 0, 21, free);
    read_forces(model[2], qpos, 0, 21, alone);
    read_forces(joint, qpos, place[1].qpos, 21, together);
    const double size = largest(alone, NULL, 21);
    print_message("joined: qacc %.1e, contact changes it by %.1e\n", largest(together, alone, 21) / size,
                  largest(free, alone, 21) / size);
    assert_true(largest(free, alone, 21) > 0.1 * size);
    assert_true(largest(together, alone, 21) < 1e-9 * size); // rounding of positions of 1 m
    for (int i = 0; i < 3; i++) {
        orr_model_destroy(model[i]);
    }
    orr_model_destroy(joint);
}

static void joined_models_touch(void **state)
{
    (void)state;
    join_with("<geom type='plane' size='1 1 .1' pos='0 0 .1'/>", PLANE);
    join_with("<geom type='box' size='3 3 1' pos='0 0 -.9'/>",
              "<geom type='box' size='3 3 1' pos='0 0 -1'/>");
}

static void vary_friction_of(const char *geom)
{
    static const char text[] = "<mujoco>" OPTION "<worldbody><geom %s friction='%g'/>"
                               "<body name='p' pos='0 0 .105'>" BLOCK(
                                   "f", "", "<contact friction='.1'/>") "</body></worldbody></mujoco>";
    orr_model *model[2];
    orr_physics *physics[2];
    double qacc[2][3][24], qvel[24];
    const double friction[2][3] = {{0.2, 0.005, 0.0001}, {0.6, 0.005, 0.0001}};
    for (int i = 0; i < 24; i++) {
        qvel[i] = i % 3 == 0 ? 1.0 : 0.0;
    }
    for (int i = 0; i < 2; i++) {
        char filled[1024];
        snprintf(filled, sizeof filled, text, geom, friction[i][0]);
        model[i] = parse(filled);
        physics[i] = make_physics(model[i], 2, true);
        if (i == 0) {
            assert_ok(orr_physics_vary(physics[0], ORR_VARY_GEOM_FRICTION, 1, 1, friction[1], &error));
        }
        for (int k = 0; k < 2; k++) {
            orr_physics_set(physics[i], ORR_PHYSICS_QVEL, k, qvel);
        }
        orr_physics_forward(physics[i]);
        for (int k = 0; k < 2; k++) {
            orr_physics_get(physics[i], ORR_PHYSICS_QACC, k, qacc[i][k]);
        }
    }
    assert_true(largest(qacc[0][1], qacc[1][0], 24) <= 1e-12 * largest(qacc[0][1], NULL, 24));
    assert_true(largest(qacc[0][0], qacc[1][0], 24) > 0.1 * largest(qacc[0][0], NULL, 24));
    for (int i = 0; i < 2; i++) {
        orr_physics_destroy(physics[i]);
        orr_model_destroy(model[i]);
    }
}

// Friction that varies between worlds reaches the contacts of vertices and elements.
static void friction_varies(void **state)
{
    (void)state;
    vary_friction_of("type='plane' size='1 1 .1'");
    vary_friction_of("type='box' size='1 1 .1' pos='0 0 -.1'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_are_those_of_mujoco), cmocka_unit_test(nodes_move_what_touches_geoms),
        cmocka_unit_test(outer_layers_touch),           cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(joined_models_touch),          cmocka_unit_test(friction_varies),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
