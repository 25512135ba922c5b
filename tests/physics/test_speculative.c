// Contacts of what is about to touch (the flag `speculative`) against MuJoCo's (tests/golden/
// record_speculative.py): shapes of all kinds that are thrown at each other, at floors, and at walls that
// others hide.
#include "physics/load/load.h"
#include "tests/physics/golden_contacts.h"
#include "tests/physics/machine_physics.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CONTACTS = 128, STATE_NUMBERS = 2 + CONTACT_NUMBERS };

typedef struct recorded_state {
    const double *qpos, *qvel, *qacc, *contacts;
    int count;
} recorded_state;

static recorded_state take_state(golden_numbers *g, int nq, int nv)
{
    recorded_state s = {.qpos = golden_numbers_take(g, nq), .qvel = golden_numbers_take(g, nv)};
    s.qacc = golden_numbers_take(g, nv);
    s.count = (int)*golden_numbers_take(g, 1);
    s.contacts = golden_numbers_take(g, STATE_NUMBERS * s.count);
    return s;
}

// The recorded contacts of the same two geoms, whose order is not ours; returns how many.
static int of_geoms(const recorded_state *s, const orr_physics_contact *c, double *expected)
{
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const double *from = s->contacts + STATE_NUMBERS * i;
        if ((int)from[0] == c->geom1 && (int)from[1] == c->geom2) {
            memcpy(expected + CONTACT_NUMBERS * count++, from + 2, CONTACT_NUMBERS * sizeof *from);
        }
    }
    return count;
}

typedef struct tally {
    int recorded, found, same, states; // states: whose contacts are all the same
    double most, qacc;                 // the largest errors of contacts that are the same; of such states
} tally;

static void compare_state(orr_physics *physics, int world, const recorded_state *s, int nv, double tolerance,
                          tally *t)
{
    orr_physics_contact contacts[MOST_CONTACTS];
    double expected[CONTACT_NUMBERS * MOST_CONTACTS], qacc[128];
    int count = orr_physics_contacts(physics, world, contacts, MOST_CONTACTS), same = 0;
    assert_true(count <= MOST_CONTACTS && s->count <= MOST_CONTACTS && nv <= 128);
    for (int i = 0; i < count; i++) {
        double error_of_it = contact_error(&contacts[i], expected, of_geoms(s, &contacts[i], expected));
        same += error_of_it < tolerance;
        t->most = error_of_it < tolerance ? fmax(t->most, error_of_it) : t->most;
    }
    t->recorded += s->count;
    t->found += count;
    t->same += same;
    if (same == count && count == s->count) {
        orr_physics_get(physics, ORR_PHYSICS_QACC, world, qacc);
        t->qacc = fmax(t->qacc, largest(qacc, s->qacc, nv) / largest(s->qacc, NULL, nv));
        t->states++;
    }
}

// All states side by side, in as many worlds, so that what is thrown meets in some lanes and not in others.
static tally compare(const char *name, bool double_precision, double tolerance)
{
    orr_model *model;
    char file[64];
    snprintf(file, sizeof file, "speculative/%s", name);
    assert_ok(orr_model_load(source_path("tests/golden/%s.xml", file), &model, &error));
    golden_numbers g = golden_numbers_load(file);
    const double *sizes = golden_numbers_take(&g, 3);
    const int nq = (int)sizes[0], nv = (int)sizes[1], states = (int)sizes[2];
    assert_int_equal(model->nq, nq);
    assert_int_equal(model->nv, nv);
    model->opt.tolerance = 1e-15; // as recorded
    model->opt.iterations = 200;
    model->opt.ls_tolerance = 1e-6;
    model->opt.ccd_tolerance = 1e-14;
    model->opt.ccd_iterations = 120;
    orr_physics *physics = make_physics(model, states, double_precision);
    recorded_state of[64];
    assert_true(states <= 64);
    for (int i = 0; i < states; i++) {
        of[i] = take_state(&g, nq, nv);
        orr_physics_set(physics, ORR_PHYSICS_QPOS, i, of[i].qpos);
        orr_physics_set(physics, ORR_PHYSICS_QVEL, i, of[i].qvel);
    }
    assert_ptr_equal(g.next, g.behind);
    orr_physics_forward(physics);
    tally t = {0};
    for (int i = 0; i < states; i++) {
        compare_state(physics, i, &of[i], nv, tolerance, &t);
    }
    print_message("%s in %s: %d contacts, %d found, %d the same within %.1e, qacc %.1e in %d states\n", name,
                  double_precision ? "f64" : "f32", t.recorded, t.found, t.same, t.most, t.qacc, t.states);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
    orr_free(g.numbers);
    return t;
}

static void what_is_thrown_meets_where_it_does_in_mujoco(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        // f64: MuJoCo's search for the distance of curved geoms ends at 1e-14 m, which is a direction and a
        // place to 1e-7 of their size, times the margin where further corners are clipped; normals of hulls
        // are of vertices in float
        double contacts, qacc;
    } models[] = {
        {"flat", 2e-8, 1e-7}, {"curved", 1e-5, 1e-4}, {"planes", 1e-13, 1e-12}, {"sight", 3e-7, 3e-6}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const tally exact = compare(models[i].name, true, models[i].contacts);
        const tally fast = compare(models[i].name, false, 2e-5);
        assert_true(exact.found == exact.recorded && exact.same == exact.recorded);
        assert_true(exact.qacc < models[i].qacc);
        assert_true(fast.found == fast.recorded && fast.same == fast.recorded);
        assert_true(fast.qacc < 2e-4);
    }
}

// Balls of 2 cm in a wall of 2 mm would be on its other side after a step of 10 ms. So many that pairs are
// found by their boxes.
static void what_is_thrown_stays_before_a_thin_wall(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><option timestep='0.01' gravity='0 0 0'><flag speculative='%s'/></option><worldbody>"
        "<geom type='box' size='0.001 3 2'/><replicate count='%d' offset='0 0.1 0'>"
        "<replicate count='5' offset='0 0 0.1'><body pos='-0.3 -1.5 -0.2'><freejoint/>"
        "<geom type='sphere' size='0.02'/></body></replicate></replicate></worldbody></mujoco>";
    // 595 pairs are listed; 18145 are not, where the CPU finds them
    const int rows[] = {7, cuda ? 7 : 38};
    for (int i = 0; i < 4; i++) {
        char file[1024];
        const bool on = i % 2 == 0;
        snprintf(file, sizeof file, text, on ? "enable" : "disable", rows[i / 2]);
        orr_model *model;
        assert_ok(orr_model_parse(file, strlen(file), "test.xml", &model, &error));
        orr_physics *physics = make_physics(model, 2, false);
        double *numbers = malloc((size_t)model->nq * sizeof *numbers);
        memset(numbers, 0, (size_t)model->nq * sizeof *numbers);
        for (int body = 0; body < model->nbody - 1; body++) {
            numbers[6 * body] = 60.0;
        }
        orr_physics_set(physics, ORR_PHYSICS_QVEL, 0, numbers);
        orr_physics_step(physics, 2);
        orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, numbers);
        for (int body = 0; body < model->nbody - 1; body++) {
            assert_int_equal(numbers[7 * body] < 0.0, on);
        }
        free(numbers);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_thrown_meets_where_it_does_in_mujoco),
        cmocka_unit_test(what_is_thrown_stays_before_a_thin_wall),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
