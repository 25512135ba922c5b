// Cells of soft bodies that are rows of the solver (physics/lanes/flex_rows.h): elasticity under implicit
// integrators, and strain equalities, against MuJoCo's (tests/golden/record_flex_rows.py).
#include "physics/load/load.h"
#include "physics/model/join.h"
#include "physics/plan/plan.h"
#include "physics/simulation/world.h"
#include "tests/physics/golden_numbers.h"
#include "tests/physics/machine_physics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS_MAX = 128 };

static void start(orr_physics *physics, const double *qpos, const double *qvel)
{
    const int last = orr_physics_worlds(physics) - 1;
    orr_physics_reset(physics, last);
    orr_physics_set(physics, ORR_PHYSICS_QPOS, last, qpos);
    orr_physics_set(physics, ORR_PHYSICS_QVEL, last, qvel);
}

typedef struct errors {
    double acceleration, path; // of the largest; m
} errors;

// In double one world, in float the last of a block and one more.
static errors compare(const orr_model *model, const char *name, bool double_precision)
{
    char path[64];
    double got[NUMBERS_MAX];
    errors worst = {0.0, 0.0};
    snprintf(path, sizeof path, "flex_rows/%s", name);
    golden_numbers g = golden_numbers_load(path);
    const double *sizes = golden_numbers_take(&g, 5);
    const int nq = (int)sizes[0], nv = (int)sizes[1], states = (int)sizes[2], parts = (int)sizes[3],
              steps = (int)sizes[4];
    assert_true(nq == model->nq && nv == model->nv && nq <= NUMBERS_MAX);
    orr_physics *physics = make_physics(model, double_precision ? 1 : 17, double_precision);
    const int last = orr_physics_worlds(physics) - 1;
    for (int i = 0; i < states; i++) {
        const double *qpos = golden_numbers_take(&g, nq), *qvel = golden_numbers_take(&g, nv);
        const double *qacc = golden_numbers_take(&g, nv);
        start(physics, qpos, qvel);
        orr_physics_forward(physics);
        orr_physics_read(physics, ORR_PHYSICS_QACC, last, got);
        worst.acceleration = fmax(worst.acceleration, largest(got, qacc, nv) / largest(qacc, NULL, nv));
    }
    const double *qpos = golden_numbers_take(&g, nq);
    start(physics, qpos, golden_numbers_take(&g, nv));
    for (int part = 0; part < parts; part++) {
        orr_physics_step(physics, steps / parts);
        orr_physics_get(physics, ORR_PHYSICS_QPOS, last, got);
        worst.path = fmax(worst.path, largest(got, golden_numbers_take(&g, nq), nq));
    }
    assert_ptr_equal(g.next, g.behind);
    orr_physics_destroy(physics);
    orr_free(g.numbers);
    return worst;
}

static void cells_move_as_in_mujoco(void **state)
{
    (void)state;
    static const char *const models[] = {"beam", "pad", "strain"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        orr_model *model = NULL;
        assert_ok(orr_model_load(source_path("tests/golden/flex_rows/%s.xml", models[i]), &model, &error));
        assert_int_equal(model->opt.solver, ORR_SOLVER_NEWTON); // of the pad too
        const errors exact = compare(model, models[i], true), rounded = compare(model, models[i], false);
        print_message("%s: qacc %.1e in f64, %.1e in f32; qpos %.1e, %.1e m\n", models[i], exact.acceleration,
                      rounded.acceleration, exact.path, rounded.path);
        assert_true(exact.acceleration < 1e-5 && rounded.acceleration < 1e-3);
        assert_true(exact.path < 1e-7 && rounded.path < 1e-4);
        orr_model_destroy(model);
    }
}

// A model as MuJoCo writes it, with a <flexstrain> for each cell.
static void saved_strain_is_the_same(void **state)
{
    (void)state;
    orr_model *model = NULL, *saved = NULL;
    assert_ok(orr_model_load(source_path("tests/golden/flex_rows/strain.xml"), &model, &error));
    assert_ok(orr_model_load(source_path("tests/golden/flex_rows/saved/strain.xml"), &saved, &error));
    assert_true(saved->neq == model->neq && saved->nflexcell == model->nflexcell && model->neq == 5);
    assert_true(saved->nflexmode == model->nflexmode);
    for (int i = 0; i < model->neq; i++) {
        assert_int_equal(saved->eq_type[i], model->eq_type[i]);
        assert_int_equal(saved->eq_obj1id[i], model->eq_obj1id[i]);
        assert_true(saved->eq_solref[2 * i] == model->eq_solref[2 * i]);
    }
    orr_model_destroy(model);
    orr_model_destroy(saved);
}

#define FLEX(attributes, inside)                                                                             \
    "<mujoco><worldbody>\n<flexcomp name='f' dim='3' count='3 3 3' spacing='.1 .1 .1' " attributes ">"       \
    "<contact contype='0' conaffinity='0'/>" inside "</flexcomp></worldbody>"
#define STRAIN "<edge equality='strain'/>"

static void every_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
    } mistakes[] = {
        {FLEX("", STRAIN) "</mujoco>", "equality: strain: expected dof trilinear or quadratic"},
        {FLEX("dof='trilinear'", STRAIN "<elasticity young='1e3'/>") "</mujoco>",
         "young: expected none with strain equalities"},
        {FLEX("dof='trilinear'", "") "<equality><flexstrain flex='f'/></equality></mujoco>",
         "cell: expected three whole numbers"},
        {FLEX("dof='trilinear'", "") "<equality><flexstrain flex='f' cell='1 0 0'/></equality></mujoco>",
         "cell: expected one of a flex that nodes move, with something in it, not 1 0 0"},
        {FLEX("dof='trilinear'", "") "<equality><flexstrain flex='g' cell='0 0 0'/></equality></mujoco>",
         "flex: 'g': expected the name of a flex"},
        {FLEX("", "") "<equality><flexstrain flex='f' cell='0 0 0'/></equality></mujoco>",
         "equality: strain: expected dof trilinear or quadratic"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        orr_model *model = NULL;
        orr_error reason;
        assert_int_not_equal(
            orr_model_parse(mistakes[i].text, strlen(mistakes[i].text), "test.xml", &model, &reason), ORR_OK);
        if (!strstr(reason.message, mistakes[i].what) || !strstr(reason.message, "test.xml:")) {
            fail_msg("%zu: expected '%s', not '%s'", i, mistakes[i].what, reason.message);
        }
    }
}

// Models that are joined: equalities hold the cells of their own, and cells have their own modes.
static void joined_models_keep_their_cells(void **state)
{
    (void)state;
    orr_model *beam = NULL, *strain = NULL, *joint = NULL;
    orr_model_place place[2];
    assert_ok(orr_model_load(source_path("tests/golden/flex_rows/beam.xml"), &beam, &error));
    assert_ok(orr_model_load(source_path("tests/golden/flex_rows/strain.xml"), &strain, &error));
    const orr_model_part part[2] = {{beam, "a/", {0.0}, {1.0}}, {strain, "b/", {3.0}, {1.0}}};
    assert_ok(orr_model_join(part, 2, &joint, place, &error));
    assert_true(joint->nflexcell == 7 && joint->neq == strain->neq);
    for (int i = 0; i < joint->neq; i++) {
        const bool cell = joint->eq_type[i] == ORR_EQUALITY_FLEXSTRAIN;
        assert_true(!cell || joint->eq_obj1id[i] == beam->nflexcell + strain->eq_obj1id[i]);
    }
    for (int i = 0; i < joint->nflexcell; i++) {
        const bool second = i >= beam->nflexcell;
        const orr_model *from = second ? strain : beam;
        const int cell = second ? i - beam->nflexcell : i;
        assert_int_equal(joint->flexcell_strain[i], second);
        assert_int_equal(joint->flexcell_modenum[i], 18);
        assert_memory_equal(joint->flexcell_mode + joint->flexcell_modeadr[i],
                            from->flexcell_mode + from->flexcell_modeadr[cell], 18 * 24 * sizeof(double));
    }
    orr_model_destroy(beam);
    orr_model_destroy(strain);
    orr_model_destroy(joint);
}

// A model that is attached twice: each copy has its own equalities.
static void attached_copies_have_their_own_equalities(void **state)
{
    (void)state;
    static const char whole[] =
        "<mujoco><asset><model name='a' file='strain_part.xml'/></asset><worldbody>"
        "<attach model='a' body='b' prefix='x'/><attach model='a' body='b' prefix='y'/>"
        "<attach model='a' body='c' prefix='z'/></worldbody></mujoco>"; // where there is no soft body
    orr_model *model = NULL;
    written("strain_part.xml",
            "<mujoco model='part'><worldbody><body name='c'/><body name='b'>"
            "<flexcomp name='f' dim='3' "
            "count='3 3 3' spacing='.1 .1 .1' dof='trilinear' cellcount='2 1 1'>"
            "<contact contype='0' conaffinity='0'/>" STRAIN "</flexcomp></body></worldbody></mujoco>");
    assert_ok(orr_model_load(written("strain_whole.xml", whole), &model, &error));
    assert_int_equal(model->neq, 4);
    for (int i = 0; i < model->neq; i++) {
        assert_int_equal(model->eq_obj1id[i], i);
    }
    orr_model_destroy(model);
}

// The solver works in blocks where trees are many and apart; nodes that a soft body couples are not.
static void coupled_nodes_are_solved_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool blocks;
    } models[] = {
        {"<mujoco><worldbody><geom type='plane' size='1 1 .1'/><flexcomp name='f' dim='3' count='5 3 3' "
         "spacing='.1 .1 .1' dof='quadratic' cellcount='2 1 1'/></worldbody></mujoco>",
         false},
        {"<mujoco><option integrator='discrete'/><worldbody><flexcomp name='f' dim='3' count='5 3 3' "
         "spacing='.1 .1 .1' dof='quadratic' cellcount='2 1 1'><contact contype='0' conaffinity='0'/>"
         "<elasticity young='1e4'/></flexcomp></worldbody></mujoco>",
         false},
        {"<mujoco><worldbody><flexcomp name='f' dim='3' count='5 3 3' spacing='.1 .1 .1' dof='quadratic' "
         "cellcount='2 1 1'><contact contype='0' conaffinity='0'/></flexcomp></worldbody></mujoco>",
         true},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        orr_model *model = NULL;
        orr_plan *plan = NULL;
        assert_ok(orr_model_parse(models[i].text, strlen(models[i].text), "test.xml", &model, &error));
        assert_int_equal(model->nv, 135);
        assert_ok(orr_plan_create(model, 0, false, &plan, &error));
        assert_int_equal(plan->block_count > 0, models[i].blocks);
        orr_plan_destroy(plan);
        orr_model_destroy(model);
    }
}

// As in MuJoCo, where nodes move the edges.
static void equality_of_edges_has_no_effect(void **state)
{
    (void)state;
    static const char text[] = FLEX("dof='trilinear'", "<edge equality='true'/>") "</mujoco>";
    orr_model *model = NULL;
    assert_ok(orr_model_parse(text, strlen(text), "test.xml", &model, &error));
    assert_true(model->nv == 24 && model->neq == 0 && model->nflexmode == 0 && model->unused.count == 1);
    assert_non_null(strstr(model->unused.first, "test.xml:2: <edge>: equality: has no effect"));
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_move_as_in_mujoco),
        cmocka_unit_test(saved_strain_is_the_same),
        cmocka_unit_test(every_mistake_is_named_with_its_line),
        cmocka_unit_test(equality_of_edges_has_no_effect),
        cmocka_unit_test(joined_models_keep_their_cells),
        cmocka_unit_test(attached_copies_have_their_own_equalities),
        cmocka_unit_test(coupled_nodes_are_solved_whole),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
