// Tests of many bodies in one world, which threads step together: any number of threads leaves the same bits,
// and what they find is what one finds without dividing anything.
#include "engine/core/memory.h"
#include "physics/load/load.h"
#include "physics/plan/plan.h"
#include "physics/simulation/world.h"
#include "tests/physics/machine_physics.h"
#include "tests/support/failing_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 5, LAYERS = 8, BODIES = SIDE * SIDE * LAYERS }; // of a heap: an island in several parts
enum { APART = 225 };                                         // bodies on a floor, each an island
enum { ROOM = 8000 };                                         // for all contacts of a heap: it has 6230
enum { PICKED = 100, PICKS = 3 };                             // a sensor picks the first contacts of a body

// The model of a text that has been written to memory of `size` bytes, which is freed.
static orr_model *parse_written(char *text, size_t used, size_t size)
{
    orr_model *model = NULL;
    assert_true(used < size);
    assert_ok(orr_model_parse(text, used, "written.xml", &model, &error));
    orr_free(text);
    return model;
}

// Boxes of 10 cm that overlap by 1 mm at most, turned a little, or one beside the other on the floor. A row
// of them hangs together by a tendon, which crosses parts again and again.
static orr_model *write_shapes(const char *shape, const char *option, bool heap, bool joined)
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
              "<geom type='%s' size='0.05 0.05 0.05'/><site name='s%d'/></body>",
              i, apart * column + 0.0003 * sin(78.233 * i), apart * row, 0.0495 + 0.0993 * layer, turned,
              -turned, 2.0 * turned, shape, i);
    }
    WRITE("</worldbody>");
    if (joined) {
        WRITE("<tendon><spatial limited='true' range='0 0.3'>");
        for (int i = 0; i < 8; i++) {
            WRITE("<site site='s%d'/>", 23 * i);
        }
        WRITE("</spatial></tendon>");
    }
    WRITE("<sensor><contact body1='b%d' num='%d' data='found dist'/></sensor></mujoco>", PICKED, PICKS);
#undef WRITE
    return parse_written(text, used, size);
}

static orr_model *write_bodies(const char *option, bool heap, bool joined)
{
    return write_shapes("box", option, heap, joined);
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
    assert_true(one.iterations < 20); // 1 to 9; 100 with wrong second derivatives
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
        {">", true, false, false, ROOM, 2},
        {"cone='elliptic'>", true, true, false, ROOM, 1},
        {"cone='elliptic'>", true, false, false, ROOM, 1},
        {">", true, false, true, ROOM, 1},
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

// Inverse dynamics divide nothing, and take products from the rows themselves: without forces from outside
// they must find none. The last case has islands that a tendon joins.
static void parts_of_an_island_find_the_minimum(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        bool heap, joined, wide;
    } cases[] = {
        {">", true, true, true},
        {"cone='elliptic' impratio='2'>", true, false, false},
        {"></option><default><geom condim='6' friction='0.5 0.02 0.001'/></default><option>", true, false,
         true},
        {">", false, true, true},
    };
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        orr_model *model = write_bodies(cases[i].option, cases[i].heap, cases[i].joined);
        const orr_physics_desc desc = {.double_precision = cases[i].wide, .contact_capacity = ROOM};
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
        if (!(left < (desc.double_precision ? 1e-9 : 1e-3) * most)) {
            fail_msg("case %d: a force of %g is left, of %g", i, left, most);
        }
        assert_in_range(orr_physics_contacts_needed(physics), cases[i].heap ? 5000 : APART,
                        ROOM); // a part has 768
        assert_true(orr_physics_get_accuracy(physics).iterations < 20);
        orr_free(rest);
        orr_physics_destroy(physics);
        orr_jobs_destroy(pool);
        orr_model_destroy(model);
    }
}

// The contacts of a model as they are, and in `picked` what its sensor finds; returns how many.
static int read_contacts(const orr_model *model, int capacity, orr_physics_contact contact[ROOM],
                         double picked[2 * PICKS])
{
    const orr_physics_desc desc = {.contact_capacity = capacity};
    orr_jobs *pool = NULL;
    orr_physics *physics = NULL;
    assert_ok(orr_jobs_create(3, NULL, NULL, &pool, &error));
    assert_ok(orr_physics_create(&desc, model, pool, &physics, &error));
    orr_physics_read(physics, ORR_PHYSICS_SENSORDATA, 0, picked);
    int count = orr_physics_contacts(physics, 0, contact, ROOM);
    orr_physics_destroy(physics);
    orr_jobs_destroy(pool);
    return count;
}

static void assert_in_order(const orr_physics_contact *contact, int count, int geoms)
{
    int64_t before = -1;
    for (int i = 0; i < count; i++) {
        int one = contact[i].geom1, other = contact[i].geom2;
        int64_t at = one < other ? (int64_t)one * geoms + other : (int64_t)other * geoms + one;
        assert_true(at >= before);
        before = at;
    }
}

// A step finds contacts in the order of space; they are read, picked by sensors, and left out where there is
// no room, in that of their geoms.
static void contacts_are_in_the_order_of_their_geoms(void **state)
{
    (void)state;
    enum { LESS = 1500 };
    orr_model *model = write_bodies(">", true, false);
    orr_physics_contact *contact = orr_alloc(2 * ROOM, sizeof *contact), *fewer = contact + ROOM;
    double picked[2 * PICKS], other_picked[2 * PICKS];
    assert_non_null(contact);
    int count = read_contacts(model, ROOM, contact, picked), found = 0;
    assert_in_range(count, 5000, ROOM);
    assert_in_order(contact, count, model->ngeom);
    for (int i = 0; i < count && found < PICKS; i++) {
        if (contact[i].geom1 == PICKED + 1 || contact[i].geom2 == PICKED + 1) { // geom 0 is the floor
            assert_true(fabs(picked[2 * found++ + 1] - contact[i].dist) < 1e-6);
        }
    }
    assert_int_equal(found, PICKS);
    assert_int_equal(read_contacts(model, LESS, fewer, other_picked), LESS);
    for (int i = 0; i < LESS; i++) {
        assert_true(fewer[i].geom1 == contact[i].geom1 && fewer[i].geom2 == contact[i].geom2);
        assert_true(fewer[i].dist == contact[i].dist);
    }
    orr_free(contact);
    orr_model_destroy(model);
}

// Spheres in a lattice: one with each neighbour, and with the floor.
static void all_neighbours_touch(void **state)
{
    (void)state;
    orr_model *model = write_shapes("sphere", ">", true, false);
    orr_physics_contact *contact = orr_alloc(ROOM, sizeof *contact);
    double picked[2 * PICKS];
    assert_non_null(contact);
    int beside = 2 * SIDE * (SIDE - 1) * LAYERS, above = SIDE * SIDE * (LAYERS - 1);
    assert_int_equal(read_contacts(model, ROOM, contact, picked), beside + above + SIDE * SIDE);
    orr_free(contact);
    orr_model_destroy(model);
}

// ---- room that grows ----

// Boxes apart, which have hardly any contacts at first: `side` x `side` x `layers`.
static orr_model *write_boxes_apart(const char *option, int side, int layers)
{
    const int count = side * side * layers;
    size_t size = 256 * (size_t)(count + 4), used = 0;
    char *text = orr_alloc(size, 1);
    assert_non_null(text);
#define WRITE(...) used += (size_t)snprintf(text + used, size - used, __VA_ARGS__)
    WRITE("<mujoco><option timestep='0.004' %s</option><worldbody><geom type='plane' size='1 1 1'/>", option);
    for (int i = 0; i < count; i++) {
        WRITE("<body name='b%d' pos='%.4f %.4f %.4f'><freejoint/><geom type='box' size='0.05 0.05 "
              "0.05'/></body>",
              i, 0.1005 * (i % side), 0.1005 * (i / side % side), 0.0505 + 0.1005 * (i / side / side));
    }
    WRITE("</worldbody><sensor><contact body1='b0' num='3' data='found dist'/></sensor></mujoco>");
#undef WRITE
    return parse_written(text, used, size);
}

// Lets the boxes of all worlds fly towards their middle, from world to world a little faster.
static void squeeze(const orr_model *model, orr_physics *physics)
{
    for (int world = 0; world < orr_physics_worlds(physics); world++) {
        double *velocity = orr_alloc_zero((size_t)model->nv, sizeof *velocity);
        assert_non_null(velocity);
        for (int i = 0; i < model->nv; i++) {
            velocity[i] = i % 6 < 3 ? -(2.5 + 0.02 * world) * model->qpos0[i / 6 * 7 + i % 6] : 0.0;
        }
        orr_physics_set(physics, ORR_PHYSICS_QVEL, world, velocity);
        orr_free(velocity);
    }
}

typedef struct squeezed {
    int worlds, threads, steps, capacity;
    bool wide, masked, reads; // masked: every other world; reads: what the last step has sensed, too
} squeezed;

// All numbers of the worlds after steps in one call.
static double *squeeze_boxes(const orr_model *model, const squeezed *how, int *needed, int *room)
{
    const orr_physics_desc desc = {
        .worlds = how->worlds, .double_precision = how->wide, .contact_capacity = how->capacity};
    const orr_physics_quantity read[] = {ORR_PHYSICS_QPOS, ORR_PHYSICS_QVEL, ORR_PHYSICS_QACC_WARMSTART,
                                         ORR_PHYSICS_TIME, ORR_PHYSICS_SENSORDATA};
    const int size = model->nq + 2 * model->nv + 1 + model->nsensordata;
    double *numbers = orr_alloc_zero((size_t)how->worlds * (size_t)size, sizeof *numbers);
    uint8_t *mask = orr_alloc_zero((size_t)how->worlds, 1);
    orr_jobs *pool = NULL;
    orr_physics *physics = NULL;
    assert_true(numbers && mask);
    for (int i = 0; i < how->worlds; i++) {
        mask[i] = !how->masked || i % 2 == 0;
    }
    assert_ok(orr_jobs_create(how->threads, NULL, NULL, &pool, &error));
    assert_ok(orr_physics_create(&desc, model, pool, &physics, &error));
    if (model->opt.enableflags & ORR_ENABLE_SLEEP) { // the scratch has a copy of the state, which gets longer
        const double gravity[3] = {0.0, 0.0, -9.0};
        assert_ok(orr_physics_vary(physics, ORR_VARY_GRAVITY, 0, 1, gravity, &error));
    }
    squeeze(model, physics);
    *room = orr_physics_contact_capacity(physics);
    if (how->reads) {
        orr_physics_step_read(physics, how->steps, mask, read, 5, numbers);
    } else {
        orr_physics_step_masked(physics, how->steps, how->masked ? mask : NULL);
        orr_physics_read_all(physics, read, 4, numbers);
    }
    assert_ok(orr_physics_check(physics, &error));
    *needed = orr_physics_contacts_needed(physics);
    assert_true(*needed <= orr_physics_contact_capacity(physics));
    orr_physics_destroy(physics);
    orr_jobs_destroy(pool);
    orr_free(mask);
    return numbers;
}

// Steps that find more contacts than there is room for take more, and leave the bits that they would have
// left with all of it from the start.
static void room_for_contacts_grows(void **state)
{
    (void)state;
    static const struct {
        const char *option;
        int side, layers;
        squeezed how;
    } cases[] = {
        {">", SIDE, LAYERS, {.worlds = 1, .threads = 1, .steps = 4}},
        {">", SIDE, LAYERS, {.worlds = 1, .threads = 2, .steps = 2, .wide = true}},
        {"cone='elliptic'>", SIDE, LAYERS, {.worlds = 1, .threads = 3, .steps = 2}},
        {"integrator='RK4'>", 4, 4, {.worlds = 1, .threads = 1, .steps = 4}},
        {"><flag sleep='enable'/>", 4, 4, {.worlds = 17, .threads = 2, .steps = 4, .reads = true}},
        {">", 4, 4, {.worlds = 33, .threads = 3, .steps = 4, .masked = true}},
        {">", 4, 4, {.worlds = 2, .threads = 2, .steps = 4, .masked = true, .reads = true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        orr_model *model = write_boxes_apart(cases[i].option, cases[i].side, cases[i].layers);
        squeezed large = cases[i].how;
        large.capacity = ROOM;
        int needed, needed_at_once, first, room;
        double *grown = squeeze_boxes(model, &cases[i].how, &needed, &first);
        double *at_once = squeeze_boxes(model, &large, &needed_at_once, &room);
        assert_true(needed > first);
        assert_int_equal(needed, needed_at_once);
        int size = model->nq + 2 * model->nv + 1 + (large.reads ? model->nsensordata : 0);
        assert_memory_equal(grown, at_once, (size_t)large.worlds * (size_t)size * sizeof *grown);
        orr_free(grown);
        orr_free(at_once);
        orr_model_destroy(model);
    }
}

static void forward(orr_physics *physics, double *qacc, orr_physics_contact *contact)
{
    (void)contact;
    orr_physics_forward(physics);
    orr_physics_get(physics, ORR_PHYSICS_QACC, 0, qacc);
}

static void read_inverse(orr_physics *physics, double *qacc, orr_physics_contact *contact)
{
    (void)contact;
    orr_physics_read(physics, ORR_PHYSICS_QFRC_INVERSE, 0, qacc);
}

static void read_all(orr_physics *physics, double *qacc, orr_physics_contact *contact)
{
    (void)contact;
    const orr_physics_quantity quantity = ORR_PHYSICS_QFRC_CONSTRAINT;
    orr_physics_read_all(physics, &quantity, 1, qacc);
}

static void list_one(orr_physics *physics, double *qacc, orr_physics_contact *contact)
{
    qacc[0] = orr_physics_contacts(physics, 0, contact, ROOM);
}

static void list_all(orr_physics *physics, double *qacc, orr_physics_contact *contact)
{
    int count;
    orr_physics_contacts_all(physics, NULL, contact, ROOM, &count);
    qacc[0] = count;
}

// Whatever computes contacts takes the room that they need.
static void reading_takes_room(void **state)
{
    (void)state;
    typedef void read_fn(orr_physics * physics, double *numbers, orr_physics_contact *contact);
    static read_fn *const reads[] = {forward, read_inverse, read_all, list_one, list_all};
    orr_model *model = write_bodies(">", true, false);
    double *numbers = orr_alloc_zero((size_t)model->nv, 2 * sizeof *numbers);
    orr_physics_contact *contact = orr_alloc_zero(2 * ROOM, sizeof *contact);
    orr_jobs *pool = NULL;
    assert_true(numbers && contact);
    assert_ok(orr_jobs_create(2, NULL, NULL, &pool, &error));
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        for (int large = 0; large < 2; large++) {
            const orr_physics_desc desc = {.contact_capacity = large ? ROOM : 0};
            orr_physics *physics = NULL;
            assert_ok(orr_physics_create(&desc, model, pool, &physics, &error));
            assert_int_equal(orr_physics_contact_capacity(physics) < 5000, !large);
            reads[i](physics, numbers + large * model->nv, contact + (ptrdiff_t)large * ROOM);
            assert_in_range(orr_physics_contact_capacity(physics), 5000, 2 * ROOM);
            assert_ok(orr_physics_check(physics, &error));
            orr_physics_destroy(physics);
        }
        assert_memory_equal(numbers, numbers + model->nv, (size_t)model->nv * sizeof *numbers);
        assert_memory_equal(contact, contact + ROOM, ROOM * sizeof *contact);
    }
    orr_free(numbers);
    orr_free(contact);
    orr_jobs_destroy(pool);
    orr_model_destroy(model);
}

// Contacts that no room can be had for are an error, of one line, and the step is not made.
static void a_step_without_room_is_not_made(void **state)
{
    (void)state;
    enum { COUNT = 760 }; // whose pairs have 120 entries of the Jacobian each: 35 million
    char text[512];
    int length =
        snprintf(text, sizeof text,
                 "<mujoco model='lump'><worldbody><replicate count='%d'><body><freejoint/><geom size='0.1' "
                 "condim='6'/></body></replicate></worldbody></mujoco>",
                 COUNT);
    orr_model *model = NULL;
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {0};
    assert_ok(orr_model_parse(text, (size_t)length, "lump.xml", &model, &error));
    double *qpos = orr_alloc((size_t)model->nq, 2 * sizeof *qpos), time;
    assert_non_null(qpos);
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    orr_physics_step(physics, 2);
    orr_error why = {0};
    assert_int_equal(orr_physics_check(physics, &why), ORR_ERROR_CAPACITY);
    assert_string_equal(why.message, "lump: constraints: expected at most 33554431 entries of the Jacobian, "
                                     "the model can need 34619520");
    orr_physics_get(physics, ORR_PHYSICS_TIME, 0, &time);
    orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, qpos);
    assert_true(time == 0.0);
    assert_memory_equal(qpos, model->qpos0, (size_t)model->nq * sizeof *qpos);
    for (int i = 0; i < COUNT; i++) {
        qpos[7 * i] = i;
    }
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 0, qpos);
    orr_physics_step(physics, 2);
    assert_ok(orr_physics_check(physics, &error));
    orr_physics_get(physics, ORR_PHYSICS_TIME, 0, &time);
    assert_true(time > 0.0);
    orr_free(qpos);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// Where memory is out the step is not made, and is when there is some again; worlds that take no part stay.
static void a_step_without_memory_is_not_made(void **state)
{
    (void)state;
    for (int masked = 0; masked < 2; masked++) {
        orr_model *model = masked ? write_boxes_apart(">", 4, 4) : write_bodies(">", true, false);
        const orr_physics_desc desc = {.worlds = 1 + masked};
        orr_jobs *pool = NULL;
        double *before = orr_alloc((size_t)model->nq, 2 * sizeof *before), *after = before + model->nq, time;
        assert_non_null(before);
        assert_ok(orr_jobs_create(2, NULL, NULL, &pool, &error));
        int failures = 0;
        for (int number = 0, count = 1; number < count; number++) {
            orr_physics *physics = NULL;
            orr_error why = {0};
            assert_ok(orr_physics_create(&desc, model, pool, &physics, &error));
            if (masked) {
                squeeze(model, physics);
            }
            orr_physics_get(physics, ORR_PHYSICS_QPOS, masked, before);
            memory_fail_at(number);
            orr_physics_step_masked(physics, 4, masked ? (const uint8_t[]){1, 0} : NULL);
            count = memory_count();
            memory_fail_at(-1);
            orr_physics_get(physics, ORR_PHYSICS_QPOS, masked, after);
            orr_physics_get(physics, ORR_PHYSICS_TIME, 0, &time);
            if (orr_physics_check(physics, &why) != ORR_OK) {
                failures++;
                assert_int_equal(why.code, ORR_CODE_OUT_OF_MEMORY);
                assert_non_null(strstr(why.message, " bytes per thread for a step"));
                assert_true(masked ? time < 0.014 : time == 0.0);
            } else {
                assert_true(time > 0.014);
            }
            if (masked || why.code) {
                assert_memory_equal(before, after, (size_t)model->nq * sizeof *before);
            }
            orr_physics_step(physics, 1);
            assert_ok(orr_physics_check(physics, &error));
            orr_physics_get(physics, ORR_PHYSICS_TIME, 0, &time);
            assert_true(time > 0.002);
            orr_physics_destroy(physics);
        }
        assert_true(failures > 0);
        orr_free(before);
        orr_jobs_destroy(pool);
        orr_model_destroy(model);
    }
}

// The linker calls this for sysconf (--wrap).
long __real_sysconf(int name);
long __wrap_sysconf(int name);

static double machine_bytes; // that the machine is said to have; 0: what it has

long __wrap_sysconf(int name)
{
    return name == _SC_PHYS_PAGES && machine_bytes > 0.0
               ? (long)ceil(machine_bytes / (double)__real_sysconf(_SC_PAGESIZE))
               : __real_sysconf(name);
}

// One block that two threads step together has a set of scratch memory, and each of the threads another.
static void a_step_takes_no_more_than_the_machine_has(void **state)
{
    (void)state;
    orr_model *model = write_bodies(">", true, false);
    const orr_physics_desc desc = {0};
    const double page = (double)sysconf(_SC_PAGESIZE);
    double needed = 0.0, time;
    orr_jobs *pool = NULL;
    assert_ok(orr_jobs_create(2, NULL, NULL, &pool, &error));
    for (int pages = 1; pages >= -1; pages--) { // more than is needed, or fewer
        orr_physics *physics = NULL;
        orr_error why = {0};
        assert_ok(orr_physics_create(&desc, model, pool, &physics, &error));
        const int room = orr_physics_contact_capacity(physics);
        machine_bytes = needed > 0.0 ? needed + pages * page : 0.0;
        orr_physics_step(physics, 1);
        machine_bytes = 0.0;
        orr_physics_get(physics, ORR_PHYSICS_TIME, 0, &time);
        if (pages >= 0) {
            assert_ok(orr_physics_check(physics, &error));
            assert_true(time > 0.0);
            needed = 3.0 * (double)orr_physics_scratch_bytes(physics);
        } else {
            char expected[200];
            assert_true(orr_physics_check(physics, &why) != ORR_OK);
            assert_int_equal(why.code, ORR_CODE_OUT_OF_MEMORY);
            assert_true(time == 0.0);
            assert_int_equal(orr_physics_contact_capacity(physics), room);
            const int contacts = (int)strtol(strstr(why.message, "room for ") + 9, NULL, 10);
            assert_in_range(contacts, 5000, 2 * ROOM);
            snprintf(
                expected, sizeof expected,
                "MuJoCo Model: out of memory: room for %d contacts takes %.0f MB, more than the machine has",
                contacts, needed / 1e6);
            assert_string_equal(why.message, expected);
        }
        orr_physics_destroy(physics);
    }
    orr_jobs_destroy(pool);
    orr_model_destroy(model);
}

// Bodies on a floor, each an island: rows are moved to those of their island, and contacts know them there.
static void contacts_of_islands_have_their_own_forces(void **state)
{
    (void)state;
    const double mass = 1.0; // of a box of 10 cm
    orr_model *model = write_bodies(">", false, false);
    const orr_physics_desc desc = {.contact_capacity = ROOM};
    orr_physics_contact *contact = orr_alloc(ROOM, sizeof *contact);
    double *qacc = orr_alloc((size_t)model->nv, sizeof *qacc), up[APART] = {0};
    orr_jobs *pool = NULL;
    orr_physics *physics = NULL;
    assert_true(contact && qacc);
    assert_ok(orr_jobs_create(2, NULL, NULL, &pool, &error));
    assert_ok(orr_physics_create(&desc, model, pool, &physics, &error));
    orr_physics_forward(physics);
    orr_physics_get(physics, ORR_PHYSICS_QACC, 0, qacc);
    int count = orr_physics_contacts(physics, 0, contact, ROOM);
    assert_true(count > APART);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            up[contact[i].geom2 - 1] += contact[i].frame[3 * k + 2] * contact[i].force[k];
        }
    }
    for (int i = 0; i < APART; i++) {
        assert_true(fabs(up[i] - mass * (qacc[6 * i + 2] + 9.81)) < 1e-3 * (1.0 + up[i]));
    }
    orr_physics_destroy(physics);
    orr_jobs_destroy(pool);
    orr_free(qacc);
    orr_free(contact);
    orr_model_destroy(model);
}

// Two spheres that overlap, among others; `still`: after a pair of geoms of the world.
static orr_model *write_overlap(bool still)
{
    char text[2048];
    int used =
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 0'/><default><geom contype='0' conaffinity='0' size='0.1'/>"
                 "</default><worldbody><geom name='f' pos='9 0 0'/><geom name='g' pos='9 0.1 0'/>");
    for (int i = 0; i < 14; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "<body pos='%g 0 0'><freejoint/><geom name='s%d'/></body>", i < 2 ? 0.19 * i : i, i);
    }
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "</worldbody><contact>%s<pair geom1='s0' geom2='s1'/></contact></mujoco>",
                     still ? "<pair geom1='f' geom2='g'/>" : "");
    assert_true(used < (int)sizeof text);
    orr_model *model = NULL;
    assert_ok(orr_model_parse(text, (size_t)used, "overlap.xml", &model, &error));
    return model;
}

// The list of dofs of a contact that moves nothing has the address of the next one's.
static void a_contact_without_dofs_hides_no_other(void **state)
{
    (void)state;
    enum { NQ = 14 * 7 };
    double qpos[2][NQ];
    for (int still = 0; still < 2; still++) {
        orr_model *model = write_overlap(still);
        const orr_physics_desc desc = {0};
        orr_physics *physics = NULL;
        assert_int_equal(model->nq, NQ);
        assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
        orr_physics_step(physics, 10);
        orr_physics_get(physics, ORR_PHYSICS_QPOS, 0, qpos[still]);
        assert_true(qpos[still][0] < -1e-3);
        orr_physics_destroy(physics);
        orr_model_destroy(model);
    }
    for (int i = 0; i < NQ; i++) {
        assert_true(fabs(qpos[0][i] - qpos[1][i]) < 1e-8); // 4e-10 is found
    }
}

// ---- pairs that a step mixes ----

enum { MIXED = 200, KINDS = 20 }; // geoms, with 19,900 pairs

// Geoms whose pairs are too many to list: of many kinds, or of few, which differ from the first in one
// parameter.
static orr_model *write_kinds(bool many)
{
    static const char *const differs[] = {"",
                                          "type='box'",
                                          "type='capsule'",
                                          "condim='4'",
                                          "condim='1' priority='1'",
                                          "margin='0.01'",
                                          "gap='0.02'",
                                          "solmix='0.3'",
                                          "solref='0.03 1'",
                                          "solref='0.02 0.9'",
                                          "solimp='0.8 0.95 0.001'",
                                          "friction='0.5 0.005 0.0001'",
                                          "friction='1 0.01 0.0001'",
                                          "friction='1 0.005 0.0002'",
                                          "pos='0 0 0.03'",
                                          "size='0.06'",
                                          "solimp='0.9 0.95 0.002'",
                                          "priority='-1' friction='0.7 0.1 0.1'"};
    const int shapes = sizeof differs / sizeof differs[0];
    size_t size = 256 * MIXED, used = 0;
    char *text = orr_alloc(size, 1);
    assert_non_null(text);
#define WRITE(...) used += (size_t)snprintf(text + used, size - used, __VA_ARGS__)
    WRITE("<mujoco><default><geom size='0.05 0.05 0.05'/></default><worldbody>");
    for (int i = 0; i < MIXED; i++) {
        int kind = i * 7 % (shapes + 2); // the last two are of other bodies
        double mass = kind == shapes ? 2.0 : 1.0, turning = kind > shapes ? 1.5 : 1.0;
        WRITE("<body><freejoint/><inertial pos='0 0 0' mass='%g' diaginertia='1 1 %g'/><geom %s/></body>",
              many ? 1.0 + 0.01 * i : mass, turning, many || kind >= shapes ? "" : differs[kind]);
    }
    WRITE("</worldbody></mujoco>");
#undef WRITE
    return parse_written(text, used, size);
}

static void assert_same_pair(const orr_pair *a, const orr_pair *b)
{
    assert_true(a->geom1 == b->geom1 && a->geom2 == b->geom2 && a->point == b->point);
    assert_true(a->element == b->element && a->declared == b->declared);
    assert_true(a->condim == b->condim && a->slots == b->slots);
    assert_true(a->margin == b->margin && a->includemargin == b->includemargin);
    assert_true(a->adhesion == b->adhesion);
    assert_memory_equal(a->numbers, b->numbers, sizeof a->numbers);
    assert_memory_equal(a->friction, b->friction, sizeof a->friction);
    assert_memory_equal(a->least_weight, b->least_weight, sizeof a->least_weight);
    assert_memory_equal(a->solref, b->solref, sizeof a->solref);
    assert_memory_equal(a->solreffriction, b->solreffriction, sizeof a->solreffriction);
    assert_memory_equal(a->solimp, b->solimp, sizeof a->solimp);
}

// Plans for devices list all pairs, with parameters mixed of each.
static void mixed_pairs_are_those_of_a_list(void **state)
{
    (void)state;
    for (int many = 0; many < 2; many++) {
        orr_model *model = write_kinds(many);
        orr_plan *mixing = NULL, *listing = NULL;
        assert_ok(orr_plan_create(model, 0, false, &mixing, &error));
        assert_ok(orr_plan_create(model, 0, true, &listing, &error));
        assert_true(mixing->pairs_mixed && !listing->pairs_mixed);
        assert_int_equal(mixing->kind_count, many ? 0 : KINDS);
        assert_int_equal(listing->pair_count, MIXED * (MIXED - 1) / 2);
        for (int i = 0; i < listing->pair_count; i++) {
            const orr_pair *pair = &listing->pair[i];
            orr_pair mixed;
            assert_true(orr_plan_mix_pair(mixing, pair->geom2, pair->geom1, &mixed));
            assert_same_pair(&mixed, pair);
        }
        orr_plan_destroy(listing);
        orr_plan_destroy(mixing);
        orr_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(any_number_of_threads_leaves_the_same_bits),
        cmocka_unit_test(room_for_contacts_grows),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(parts_of_an_island_find_the_minimum),
        cmocka_unit_test(contacts_are_in_the_order_of_their_geoms),
        cmocka_unit_test(all_neighbours_touch),
        cmocka_unit_test(reading_takes_room),
        cmocka_unit_test(a_step_without_room_is_not_made),
        cmocka_unit_test(a_step_without_memory_is_not_made),
        cmocka_unit_test(a_step_takes_no_more_than_the_machine_has),
        cmocka_unit_test(contacts_of_islands_have_their_own_forces),
        cmocka_unit_test(a_contact_without_dofs_hides_no_other),
        cmocka_unit_test(mixed_pairs_are_those_of_a_list),
    };
    int failed = cmocka_run_group_tests(threaded, open_machine, close_machine);
#ifdef __SANITIZE_THREAD__ // the others take a minute there, and test numbers rather than threads
    (void)others;
#else
    failed += cmocka_run_group_tests(others, open_machine, close_machine);
#endif
    return failed;
}
