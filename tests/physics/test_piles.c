// Tests of many bodies in one world, which threads step together: any number of threads leaves the same bits,
// and what they find is what one finds without dividing anything.
#include "engine/core/memory.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/physics/machine_physics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 5, LAYERS = 8, BODIES = SIDE * SIDE * LAYERS }; // of a heap: an island in several parts
enum { APART = 225 };                                         // bodies on a floor, each an island

// Boxes of 10 cm that overlap by 1 mm at most, turned a little, or one beside the other on the floor. A row
// of them hangs together by a tendon, which crosses parts again and again.
static orr_model *write_bodies(const char *option, bool heap, bool joined)
{
    size_t size = 400 * BODIES, used = 0;
    char *text = orr_alloc(size, 1);
    assert_non_null(text);
#define WRITE(...) used += (size_t)snprintf(text + used, size - used, __VA_ARGS__)
    WRITE("<mujoco><option timestep='0.004' %s</option><worldbody><geom type='plane' size='1 1 1'/>", option);
    for (int i = 0; i < (heap ? BODIES : APART); i++) {
        int column = heap ? i % SIDE : i % 15, row = heap ? i / SIDE % SIDE : i / 15;
        int layer = heap ? i / SIDE / SIDE : 0, place = i * 7919 % BODIES; // so that neighbours are not near
        if (heap) {
            column = place % SIDE;
            row = place / SIDE % SIDE;
            layer = place / SIDE / SIDE;
        }
        double apart = heap ? 0.0993 : 0.15, turned = 0.3 * sin(12.9898 * i);
        WRITE("<body name='b%d' pos='%.5f %.5f %.5f' euler='%.3f %.3f %.3f'><freejoint/>"
              "<geom type='box' size='0.05 0.05 0.05'/><site name='s%d'/></body>",
              i, apart * column + 0.0003 * sin(78.233 * i), apart * row, 0.0495 + 0.0993 * layer, turned,
              -turned, 2.0 * turned, i);
    }
    WRITE("</worldbody>");
    if (joined) {
        WRITE("<tendon><spatial limited='true' range='0 0.3'>");
        for (int i = 0; i < 8; i++) {
            WRITE("<site site='s%d'/>", 23 * i);
        }
        WRITE("</spatial></tendon>");
    }
    WRITE("</mujoco>");
#undef WRITE
    assert_true(used < size);
    orr_model *model = NULL;
    assert_ok(orr_model_parse(text, used, "bodies.xml", &model, &error));
    orr_free(text);
    return model;
}

// A host's pool, which runs blocks in the reverse order, by one worker that is not the first.
static void backwards(void *user, int count, void (*body)(void *context, int i, int worker), void *context)
{
    for (int i = count - 1; i >= 0; i--) {
        body(context, i, *(const int *)user);
    }
}

typedef struct outcome {
    double *qacc, *qpos;
    int nv, nq, needed, iterations;
} outcome;

static void free_outcome(const outcome *o)
{
    orr_free(o->qacc);
    orr_free(o->qpos);
}

// What `steps` steps make of a model. threads 0: a host's pool of three.
static outcome run(const orr_model *model, const orr_physics_desc *desc, int threads, int steps)
{
    static int worker = 2;
    orr_jobs *pool = NULL;
    orr_physics *physics = NULL;
    outcome o = {.nv = model->nv, .nq = model->nq};
    o.qacc = orr_alloc((size_t)o.nv, sizeof *o.qacc);
    o.qpos = orr_alloc((size_t)o.nq, sizeof *o.qpos);
    assert_true(o.qacc && o.qpos);
    assert_ok(orr_jobs_create(threads ? threads : 3, threads ? NULL : backwards, &worker, &pool, &error));
    assert_ok(orr_physics_create(desc, model, pool, &physics, &error));
    for (int i = 0; i < steps; i++) {
        orr_physics_step(physics, 1);
    }
    orr_physics_get(physics, ORR_PHYSICS_QACC, 0, o.qacc);
    orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, o.qpos);
    o.needed = orr_physics_contacts_needed(physics);
    o.iterations = orr_physics_get_accuracy(physics).iterations;
    assert_false(orr_physics_diverged(physics, 0));
    orr_physics_destroy(physics);
    orr_jobs_destroy(pool);
    return o;
}

// steps 2: tried with 2 and 5 threads, too.
static void assert_same_for_any_threads(const orr_model *model, const orr_physics_desc *desc, int steps)
{
    static const int threads[] = {3, 0, 2, 5};
    outcome one = run(model, desc, 1, steps);
    for (int i = 0; i < (steps > 1 ? 4 : 2); i++) {
        outcome several = run(model, desc, threads[i], steps);
        assert_memory_equal(one.qpos, several.qpos, (size_t)one.nq * sizeof *one.qpos);
        assert_memory_equal(one.qacc, several.qacc, (size_t)one.nv * sizeof *one.qacc);
        assert_int_equal(one.needed, several.needed);
        assert_int_equal(one.iterations, several.iterations);
        free_outcome(&several);
    }
    free_outcome(&one);
}

static void any_number_of_threads_leaves_the_same_bits(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        bool heap, joined, wide;
        int capacity, steps;
    } cases[] = {
        {">", true, false, false, 0, 2},
        {"cone='elliptic'>", true, true, false, 0, 1},
        {">", true, false, true, 0, 1},
        {">", true, false, false, 1500, 1}, // contacts are left out
        {"><flag sleep='enable'/>", false, false, false, 0, 1},
        {">", false, false, false, 0, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        orr_model *model = write_bodies(cases[i].option, cases[i].heap, cases[i].joined);
        const orr_physics_desc desc = {.double_precision = cases[i].wide,
                                       .contact_capacity = cases[i].capacity};
        assert_same_for_any_threads(model, &desc, cases[i].steps);
        orr_model_destroy(model);
    }
}

// Inverse dynamics divide nothing: without forces from outside they must find none.
static void parts_of_an_island_find_the_minimum(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        orr_model *model = write_bodies(i ? "cone='elliptic' impratio='2'>" : ">", true, true);
        const orr_physics_desc desc = {.double_precision = i == 0};
        orr_jobs *pool = NULL;
        orr_physics *physics = NULL;
        assert_ok(orr_jobs_create(3, NULL, NULL, &pool, &error));
        assert_ok(orr_physics_create(&desc, model, pool, &physics, &error));
        orr_physics_forward(physics);
        double *rest = orr_alloc((size_t)model->nv, 2 * sizeof *rest), *force = rest + model->nv;
        assert_non_null(rest);
        orr_physics_read(physics, ORR_PHYSICS_QFRC_INVERSE, 0, rest);
        orr_physics_read(physics, ORR_PHYSICS_QFRC_CONSTRAINT, 0, force);
        double left = largest(rest, NULL, model->nv), most = largest(force, NULL, model->nv);
        if (!(left < (desc.double_precision ? 1e-9 : 1e-4) * most)) {
            fail_msg("case %d: a force of %g is left, of %g", i, left, most);
        }
        assert_true(orr_physics_contacts_needed(physics) > 5000); // a part has 768
        assert_true(orr_physics_get_accuracy(physics).iterations < 20);
        orr_free(rest);
        orr_physics_destroy(physics);
        orr_jobs_destroy(pool);
        orr_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_leaves_the_same_bits),
        cmocka_unit_test(parts_of_an_island_find_the_minimum),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
