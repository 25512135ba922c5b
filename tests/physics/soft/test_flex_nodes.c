// Soft bodies that nodes move (<flexcomp> with dof trilinear or quadratic): their nodes, elastic forces and
// paths against MuJoCo's (tests/golden/record_flex_nodes.py), and what is refused.
#include "physics/load/load.h"
#include "physics/model/join.h"
#include "physics/simulation/world.h"
#include "tests/physics/recorded_paths.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void expect_names(const orr_model *model, const char *name)
{
    char line[64];
    FILE *file = fopen(source_path("tests/golden/flex_nodes/%s.txt", name), "r");
    assert_non_null(file);
    for (int i = 0; i < model->nbody; i++) {
        assert_non_null(fgets(line, sizeof line, file));
        line[strcspn(line, "\n")] = 0;
        assert_string_equal(orr_model_name(model, ORR_OBJECT_BODY, i), line);
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
}

// Masses, places and moments of inertia of all bodies.
static void expect_bodies(const orr_model *model, golden_numbers *g)
{
    for (int i = 0; i < model->nbody; i++) {
        const double *expected = golden_numbers_take(g, 7);
        const double mass = model->body_mass[i];
        // rounding of integrals over tetrahedra that are cut otherwise
        assert_true(fabs(mass - expected[0]) <= 1e-12 * expected[0]);
        assert_true(largest(model->body_pos + 3 * (ptrdiff_t)i, expected + 1, 3) < 1e-14);
        assert_true(largest(model->body_inertia + 3 * (ptrdiff_t)i, expected + 4, 3) <= 1e-12 * expected[4]);
    }
}

// [0]: in double one world; [1]: in float the last of a block and one more; [2]: springs alone, in double.
static void compare_forces(recorded *g, orr_physics *const three[3], double worst[3])
{
    double got[NUMBERS_MAX], expected[NUMBERS_MAX];
    for (int i = 0; i < g->states; i++) {
        const double *qpos = golden_numbers_take(&g->file, g->nq),
                     *qvel = golden_numbers_take(&g->file, g->nv);
        const double *spring = golden_numbers_take(&g->file, g->nv),
                     *damper = golden_numbers_take(&g->file, g->nv);
        for (int k = 0; k < 3; k++) {
            const int last = orr_physics_worlds(three[k]) - 1;
            for (int n = 0; n < g->nv; n++) {
                expected[n] = spring[n] + (k < 2 ? damper[n] : 0.0);
            }
            orr_physics_set(three[k], ORR_PHYSICS_QPOS, last, qpos);
            orr_physics_set(three[k], ORR_PHYSICS_QVEL, last, qvel);
            orr_physics_forward(three[k]);
            orr_physics_read(three[k], ORR_PHYSICS_QFRC_PASSIVE, last, got);
            worst[k] = fmax(worst[k], largest(got, expected, g->nv) / largest(expected, NULL, g->nv));
        }
    }
}

static void nodes_move_as_in_mujoco(void **state)
{
    (void)state;
    static const char *const models[] = {"beam", "block", "wedge", "ball"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char path[64];
        orr_model *model = NULL, *stiff = NULL;
        assert_ok(orr_model_load(source_path("tests/golden/flex_nodes/%s.xml", models[i]), &model, &error));
        assert_ok(orr_model_load(source_path("tests/golden/flex_nodes/%s.xml", models[i]), &stiff, &error));
        stiff->opt.disableflags |= ORR_DISABLE_DAMPER;
        snprintf(path, sizeof path, "flex_nodes/%s", models[i]);
        recorded g = {.file = golden_numbers_load(path)};
        const double *sizes = golden_numbers_take(&g.file, 6);
        g.nq = (int)sizes[0], g.nv = (int)sizes[1], g.states = (int)sizes[3], g.parts = (int)sizes[4],
        g.steps = (int)sizes[5];
        assert_true(g.nq == model->nq && g.nv == model->nv && g.nq <= NUMBERS_MAX);
        assert_int_equal(model->nbody, (int)sizes[2]);
        expect_names(model, models[i]);
        expect_bodies(model, &g.file);
        orr_physics *three[3] = {make_physics(model, 1, true), make_physics(model, 17, false),
                                 make_physics(stiff, 1, true)};
        double force[3] = {0.0, 0.0, 0.0}, path_error[2] = {0.0, 0.0};
        compare_forces(&g, three, force);
        compare_paths(&g, three, path_error);
        print_message("%s: qfrc_passive %.1e in f64, %.1e in f32, springs %.1e; qpos after %d steps %.1e, "
                      "%.1e m\n",
                      models[i], force[0], force[1], force[2], g.steps, path_error[0], path_error[1]);
        assert_ptr_equal(g.file.next, g.file.behind);
        // MuJoCo's search for a cell's rotation ends when it turns by less than 1e-9; in float displacements
        // of 1e-4 m are differences of positions of 2 m, which are rounded by 1e-7 m
        assert_true(force[0] < 1e-8 && force[1] < 5e-4 && force[2] < 1e-8);
        assert_true(path_error[0] < 5e-9 && path_error[1] < 1e-5);
        for (int k = 0; k < 3; k++) {
            orr_physics_destroy(three[k]);
        }
        orr_model_destroy(model);
        orr_model_destroy(stiff);
        orr_free(g.file.numbers);
    }
}

// Models as MuJoCo writes them, whose nodes are bodies of the file, are the models that they were.
static void saved_models_are_the_same(void **state)
{
    (void)state;
    static const char *const models[] = {"beam", "block"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        orr_model *model = NULL, *saved = NULL;
        assert_ok(orr_model_load(source_path("tests/golden/flex_nodes/%s.xml", models[i]), &model, &error));
        assert_ok(
            orr_model_load(source_path("tests/golden/flex_nodes/saved/%s.xml", models[i]), &saved, &error));
        assert_true(saved->nbody == model->nbody && saved->nv == model->nv);
        assert_true(saved->nflexcell == model->nflexcell && saved->nflexvert == model->nflexvert);
        assert_true(saved->flex_interp[0] == model->flex_interp[0]);
        expect_names(saved, models[i]);
        // six digits of the file
        for (int k = 0; k < model->nbody; k++) {
            assert_true(fabs(saved->body_mass[k] - model->body_mass[k]) <= 1e-5 * model->body_mass[k]);
            assert_true(fabs(saved->body_inertia[3 * k] - model->body_inertia[3 * k]) <=
                        1e-5 * model->body_inertia[3 * k]);
        }
        assert_true(largest(saved->body_pos, model->body_pos, 3 * model->nbody) < 1e-6);
        assert_true(largest(saved->flexcell_stiffness, model->flexcell_stiffness, model->nflexstiffness) <
                    1e-5 * largest(model->flexcell_stiffness, NULL, model->nflexstiffness));
        assert_true(fabs(saved->flexcell_damping[0] - model->flexcell_damping[0]) < 1e-9);
        for (int k = 0; k < model->nflexnode; k++) {
            assert_int_equal(saved->flex_nodebodyid[k], model->flex_nodebodyid[k]);
        }
        orr_model_destroy(model);
        orr_model_destroy(saved);
    }
}

#define IN_BODY(body, attributes, inside)                                                                    \
    "<mujoco><worldbody><body name='p' pos='0 0 1'>" body "\n<flexcomp name='f' dim='3' " attributes ">"     \
    "<elasticity young='1e4' poisson='.3' damping='.01'/>" inside "</flexcomp></body></worldbody></mujoco>"
#define NO_CONTACT "<contact contype='0' conaffinity='0'/>"
#define BLOCK "count='3 3 3' spacing='.1 .1 .1' "

static orr_model *parse(const char *text)
{
    orr_model *model = NULL;
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    return model;
}

static void every_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } mistakes[] = {
        {IN_BODY("", BLOCK "dof='radial'", NO_CONTACT), "dof: expected full, trilinear or quadratic"},
        {IN_BODY("", BLOCK "dof='2d'", ""), "dof: expected full, trilinear or quadratic"},
        {IN_BODY("", BLOCK "dof='trilinear' cellcount='1 0 1'", NO_CONTACT),
         "cellcount: expected 1 to 16384"},
        {IN_BODY("", BLOCK "dof='trilinear' cellcount='99 99 99'", NO_CONTACT),
         "cellcount: expected at most 16384 nodes, not 1e+06"},
        {IN_BODY("", BLOCK "dof='trilinear'", NO_CONTACT "<elasticity thickness='.1' elastic2d='bend'/>"),
         "dof: expected a solid"},
        {IN_BODY("", BLOCK "dof='trilinear'", NO_CONTACT "<pin id='8'/>"),
         "expected points from 0 to 7, not 8"},
        {IN_BODY("", BLOCK "dof='quadratic'", NO_CONTACT "<pin grid='0 3 0'/>"),
         "axis 1 of a grid: expected 0 to 2, not 3 to 3"},
        {"<mujoco><worldbody>\n<flexcomp name='f' dim='2' count='3 3 1' dof='trilinear'>" NO_CONTACT
         "</flexcomp></worldbody></mujoco>",
         "dof: expected points that are not in one plane"},
        {IN_BODY("<joint type='hinge'/><geom size='.1'/>", BLOCK "dof='trilinear'", NO_CONTACT),
         "expected a body without joints, or pins to it"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        orr_model *model = NULL;
        orr_error error;
        const orr_result result =
            orr_model_parse(mistakes[i].text, strlen(mistakes[i].text), "test.xml", &model, &error);
        assert_int_not_equal(result, ORR_OK);
        if (!strstr(error.message, mistakes[i].what) || !strstr(error.message, "test.xml:")) {
            fail_msg("%zu: expected '%s', not '%s'", i, mistakes[i].what, error.message);
        }
    }
}

#define NODE(name, pos)                                                                                      \
    "<body name='" name "' pos='" pos "'><inertial pos='0 0 0' mass='.1' diaginertia='1e-6 1e-6 1e-6'/>"     \
    "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide'/></body>"
// A tetrahedron in a cell: the nodes but the last two are held.
#define SAVED(bodies, attributes, inside)                                                                    \
    "<mujoco><worldbody><body name='p'>" bodies "</body></worldbody><deformable>\n<flex name='f' dim='3' "   \
    "body='p' vertex='0 0 0 1 0 0 0 1 0 0 0 1' element='0 1 2 3' " attributes ">" inside                     \
    "<elasticity young='1e3'/></flex></deformable></mujoco>"
#define HELD "p p p p p p "
#define COORDS(last) "dof='trilinear' nodecoord='0 0 0 0 0 1 0 1 0 0 1 1 1 0 0 1 0 1 " last "' "
#define TWO NODE("f_1_1_0", "1 1 0") NODE("f_1_1_1", "1 1 1")

static void mistakes_of_flexes_with_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } mistakes[] = {
        {SAVED(TWO, COORDS("0 0 0 0 0 0"), NO_CONTACT), "node: expected the bodies of its nodes"},
        {SAVED(TWO, "dof='2d' node='p'", NO_CONTACT), "dof: expected trilinear or quadratic"},
        {SAVED(TWO, COORDS("0 0 0 0 0 0") "cellcount='1 .5 1' node='" HELD "f_1_1_0 f_1_1_1'", NO_CONTACT),
         "cellcount: expected 1 to 16384, not 0.5"},
        {SAVED(TWO, COORDS("0 0 0 0 0 0") "cellcount='9999 9999 9999' node='p'", NO_CONTACT),
         "cellcount: expected at most 16384 nodes, not 1e+12"},
        {SAVED("<body name='f_1_1_0' pos='1 1 0'><inertial pos='0 0 0' mass='.1' diaginertia='1 1 1'/>"
               "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide'/>"
               "<joint type='hinge'/></body>",
               COORDS("0 0 0 1 1 1") "node='" HELD "f_1_1_0 p'", NO_CONTACT),
         "node 6: expected f_1_1_0, with an inertia and three slide joints alone"},
        {SAVED(TWO, COORDS("0 0 0 0 0 0") "node='" HELD "f_1_1_0'", NO_CONTACT),
         "node: expected one name, or 8, as there are nodes, not 7"},
        {SAVED(TWO, COORDS("0 0 0 0 0 0") "node='" HELD "f_1_1_1 f_1_1_0'", NO_CONTACT),
         "node 6: expected f_1_1_0"},
        {SAVED(TWO, COORDS("0 0 0 0 0 .1") "node='" HELD "f_1_1_0 f_1_1_1'", NO_CONTACT),
         "node 7: expected it on the grid around the vertices, at 1 on axis 2, not 1.1"},
        {SAVED(NODE("f_1_1_1", "1 1 1") NODE("f_1_1_0", "1 1 0"),
               COORDS("0 0 0 0 0 0") "node='" HELD "f_1_1_0 f_1_1_1'", NO_CONTACT),
         "node: expected their bodies one after the other"},
        {SAVED("<body name='f_1_1_0' pos='1 1 0'><inertial pos='0 0 0' mass='.1' diaginertia='1 1 1'/>"
               "<joint type='slide' axis='0 1 0'/><joint type='slide' axis='1 0 0'/><joint "
               "type='slide'/></body>",
               COORDS("0 0 0 1 1 1") "node='" HELD "f_1_1_0 p'", NO_CONTACT),
         "a node of a flex: expected slides along x, y and z"},
        {SAVED("<body name='f_1_1_0' pos='1 1 0'><inertial pos='0 0 0' mass='0' diaginertia='1 1 1'/>"
               "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint "
               "type='slide'/></body>",
               COORDS("0 0 0 1 1 1") "node='" HELD "f_1_1_0 p'", NO_CONTACT),
         "a node of a flex: expected a mass above 0, not 0"},
        {SAVED(TWO "<geom type='hfield' hfield='h' size='1'/>",
               COORDS("0 0 0 0 0 0") "node='" HELD "f_1_1_0 f_1_1_1'", ""),
         "node: expected that it cannot touch height fields"},
        {SAVED(TWO, COORDS("0 0 0 0 0 .1") "node='" HELD "f_1_1_0 f_1_1_1'", "<contact condim='3'/>"),
         "node 7: expected it on the grid"},
        {"<mujoco><worldbody>\n<flexcomp name='f' nodemass='1'/></worldbody></mujoco>", "nodemass"},
    };
    orr_model *model = parse(SAVED(TWO, COORDS("0 0 0 0 0 0") "node='" HELD "f_1_1_0 f_1_1_1'", NO_CONTACT));
    assert_true(model->nv == 6 && model->body_mass[2] == 0.1 && model->nflexpoint == 0);
    orr_model_destroy(model);
    model =
        parse(SAVED(TWO, COORDS("0 0 0 0 0 0") "node='" HELD "f_1_1_0 f_1_1_1'", "<contact condim='4'/>"));
    assert_true(model->nv == 6 && model->nflexpoint == 4 && model->flextouch_condim[0] == 4);
    orr_model_destroy(model);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        orr_error error;
        const orr_result result =
            orr_model_parse(mistakes[i].text, strlen(mistakes[i].text), "test.xml", &model, &error);
        assert_int_not_equal(result, ORR_OK);
        if (!strstr(error.message, mistakes[i].what) || !strstr(error.message, "test.xml:")) {
            fail_msg("%zu: expected '%s', not '%s'", i, mistakes[i].what, error.message);
        }
    }
}

// Four triangles of a tetrahedron: three, and one that is turned over.
static void a_surface_must_be_closed(void **state)
{
    (void)state;
    static const char *const open[] = {"0 2 1 0 1 3 1 2 3", "0 1 2 0 1 3 1 2 3 0 3 2"};
    for (int i = 0; i < 2; i++) {
        char text[512];
        orr_model *model = NULL;
        orr_error error;
        snprintf(text, sizeof text,
                 "<mujoco><worldbody><body name='p'><flexcomp name='f' dim='2' type='direct' dof='trilinear' "
                 "point='0 0 0 1 0 0 0 1 0 0 0 1' element='%s'>" NO_CONTACT
                 "</flexcomp></body></worldbody></mujoco>",
                 open[i]);
        assert_int_not_equal(orr_model_parse(text, strlen(text), "test.xml", &model, &error), ORR_OK);
        assert_non_null(strstr(error.message, "a closed surface"));
    }
}

static void what_touches_is_moved_by_its_points(void **state)
{
    (void)state;
    orr_model *model = parse(
        IN_BODY("</body></worldbody><asset><hfield name='h' nrow='2' ncol='2' size='1 1 .1 .1'/></asset>"
                "<worldbody><geom type='hfield' hfield='h'/><body name='q'>",
                BLOCK "dof='trilinear'", ""));
    assert_true(model->nv == 0 && model->flex_interp[0] == 0 && model->flex_vertnum[0] == 27);
    assert_int_equal(model->unused.count, 1);
    assert_non_null(strstr(model->unused.first,
                           "test.xml:2: <flexcomp>: dof: as contact with height fields, distance grids, "
                           "other flexes"));
    orr_model_destroy(model);
    model = parse(IN_BODY("", BLOCK "dof='trilinear'", NO_CONTACT));
    assert_true(model->nv == 24 && model->flex_interp[0] == 1 && model->nflexcell == 1);
    orr_model_destroy(model);
}

// Forces of two models that are joined, the second turned about z, are those of each by itself: its slides
// turn with it.
static void joined_models_keep_their_forces(void **state)
{
    (void)state;
    orr_model *model[2], *joint = NULL;
    orr_physics *physics[3];
    double qpos[2][NUMBERS_MAX], force[2][NUMBERS_MAX], together[2 * NUMBERS_MAX] = {0.0};
    orr_model_part part[2];
    orr_model_place place[2];
    static const char *const names[2] = {"block", "wedge"};
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_model_load(source_path("tests/golden/flex_nodes/%s.xml", names[i]), &model[i], &error));
        part[i] = (orr_model_part){
            model[i], i ? "b/" : "a/", {3.0 * i, 0.0, 0.0}, {i ? 0.8 : 1.0, 0.0, 0.0, i ? 0.6 : 0.0}};
        physics[i] = make_physics(model[i], 1, true);
        for (int k = 0; k < model[i]->nq; k++) {
            qpos[i][k] = 0.01 * sin(1.7 * k);
        }
        orr_physics_set(physics[i], ORR_PHYSICS_QPOS, 0, qpos[i]);
        orr_physics_forward(physics[i]);
        orr_physics_read(physics[i], ORR_PHYSICS_QFRC_PASSIVE, 0, force[i]);
    }
    assert_ok(orr_model_join(part, 2, &joint, place, &error));
    physics[2] = make_physics(joint, 1, true);
    for (int i = 0; i < 2; i++) {
        memcpy(together + place[i].qpos, qpos[i], (size_t)model[i]->nq * sizeof *together);
    }
    orr_physics_set(physics[2], ORR_PHYSICS_QPOS, 0, together);
    orr_physics_forward(physics[2]);
    orr_physics_read(physics[2], ORR_PHYSICS_QFRC_PASSIVE, 0, together);
    for (int i = 0; i < 2; i++) {
        const double worst = largest(together + place[i].qvel, force[i], model[i]->nv);
        assert_true(worst < 1e-9 * largest(force[i], NULL, model[i]->nv)); // rounding of positions of 3 m
    }
    for (int i = 0; i < 3; i++) {
        orr_physics_destroy(physics[i]);
        orr_model_destroy(i < 2 ? model[i] : joint);
    }
}

// A model that is attached twice, in two bodies: each body has its own nodes.
static void attached_copies_have_their_own_nodes(void **state)
{
    (void)state;
    static const char part[] =
        "<mujoco model='part'><worldbody><body name='b'><flexcomp name='f' dim='3' " BLOCK
        "dof='trilinear'>" NO_CONTACT "<elasticity young='1e3'/><pin id='0'/></flexcomp>"
        "</body></worldbody></mujoco>";
    static const char whole[] =
        "<mujoco><asset><model name='a' file='flex_part.xml'/></asset><worldbody>"
        "<attach model='a' body='b' prefix='x'/><attach model='a' body='b' prefix='y'/></worldbody></mujoco>";
    orr_model *model = NULL;
    written("flex_part.xml", part);
    assert_ok(orr_model_load(written("flex_whole.xml", whole), &model, &error));
    assert_true(model->nflexcell == 2 && model->nv == 42);
    for (int i = 0; i < 16; i++) {
        const char *name = orr_model_name(model, ORR_OBJECT_BODY, model->flex_nodebodyid[i]);
        char expected[16];
        snprintf(expected, sizeof expected, i % 8 ? "%cf_%d_%d_%d" : "%cb", i < 8 ? 'x' : 'y', i / 4 % 2,
                 i / 2 % 2, i % 2);
        assert_string_equal(name, expected);
    }
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_move_as_in_mujoco),
        cmocka_unit_test(saved_models_are_the_same),
        cmocka_unit_test(mistakes_of_flexes_with_nodes),
        cmocka_unit_test(every_mistake_is_named_with_its_line),
        cmocka_unit_test(a_surface_must_be_closed),
        cmocka_unit_test(what_touches_is_moved_by_its_points),
        cmocka_unit_test(joined_models_keep_their_forces),
        cmocka_unit_test(attached_copies_have_their_own_nodes),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
