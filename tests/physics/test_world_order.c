// Tests of worlds that are sorted by the constraint rows that they have (simulation/world_order.c): whatever
// is done with them, they have the bits of worlds in single blocks, which are not sorted.
#include "engine/core/memory.h"
#include "physics/load/load.h"
#include "physics/simulation/world_state.h"
#include "tests/support/machine.h"

#include <math.h>

// A ball and a box that are thrown on a floor, and an arm that hits its limits and the floor. Newton's method
// is stopped early, so that some worlds are inaccurate.
static const char text[] =
    "<mujoco><option timestep='0.004' cone='elliptic' iterations='3'/><worldbody>"
    "<geom name='floor' type='plane' size='5 5 1'/>"
    "<body pos='0 0 0.3'><freejoint/><geom name='ball' type='sphere' size='0.1'/></body>"
    "<body pos='1 0 0.3'><freejoint/><geom name='box' type='box' size='0.1 0.08 0.06'/></body>"
    "<body pos='0 1 0.3'><joint name='a' axis='0 1 0' range='-40 40' limited='true' damping='0.1'/>"
    "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.03'/>"
    "<body pos='0.3 0 0'><joint name='b' axis='0 1 0' range='-20 60' limited='true' damping='0.05'/>"
    "<geom type='capsule' fromto='0 0 0 0.2 0 0' size='0.02'/></body></body></worldbody>"
    "<actuator><motor joint='a' gear='1'/><motor joint='b' gear='0.5'/></actuator>"
    "<sensor><jointpos joint='b'/></sensor></mujoco>";

enum { MOST = 80, CAPACITY = 16, LOST = 10 };

// The same worlds twice: sorted, and in physics of one block each.
typedef struct twice {
    orr_model *model;
    orr_jobs *own;
    orr_physics *many, *alone[MOST];
    int worlds, lanes, count;
    uint8_t *mask;
    double *random; // 16 numbers of each world
} twice;

static double drawn(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (double)(1 << 24);
}

static orr_physics *make(const orr_model *model, orr_jobs *on, int worlds)
{
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {.worlds = worlds, .as_of_many = true, .contact_capacity = 100};
    assert_ok(orr_physics_create(&desc, model, on, &physics, &error));
    return physics;
}

static twice begin(int worlds)
{
    twice t = {.worlds = worlds};
    assert_ok(orr_model_parse(text, sizeof text - 1, "test.xml", &t.model, &error));
    assert_ok(orr_jobs_create(3, NULL, NULL, &t.own, &error));
    t.many = make(t.model, t.own, worlds);
    t.lanes = orr_physics_lanes(t.many);
    t.count = orr_blocks(worlds, t.lanes);
    assert_in_range(t.count, 2, MOST);
    for (int i = 0; i < t.count; i++) {
        int left = worlds - i * t.lanes;
        t.alone[i] = make(t.model, jobs, left < t.lanes ? left : t.lanes);
        assert_null(t.alone[i]->order);
    }
    t.mask = orr_alloc_zero((size_t)worlds, 1);
    t.random = orr_alloc(16 * (size_t)worlds, sizeof *t.random);
    assert_true(t.mask && t.random);
    uint32_t state = 1;
    for (int i = 0; i < worlds; i++) {
        t.mask[i] = i % 3 != 1;
        for (int k = 0; k < 16; k++) {
            t.random[16 * i + k] = drawn(&state);
        }
    }
    return t;
}

static void end(twice *t)
{
    orr_physics_destroy(t->many);
    for (int i = 0; i < t->count; i++) {
        orr_physics_destroy(t->alone[i]);
    }
    orr_free(t->mask);
    orr_free(t->random);
    orr_jobs_destroy(t->own);
    orr_model_destroy(t->model);
}

// The physics of a world alone, and its number there.
static orr_physics *alone(const twice *t, int world, int *number)
{
    *number = world % t->lanes;
    return t->alone[world / t->lanes];
}

static int moved(const twice *t)
{
    int count = 0;
    for (int world = 0; world < t->worlds; world++) {
        const world_slot at = slot_of(t->many, world);
        assert_int_equal(world_at(t->many, at.block, at.lane), world);
        count += at.block != world / t->lanes;
    }
    return count;
}

static const orr_physics_quantity state[] = {
#define QUANTITY(NAME, name) ORR_PHYSICS_##NAME,
    ORR_PHYSICS_STATE(QUANTITY)
#undef QUANTITY
};
static const orr_physics_quantity derived[] = {ORR_PHYSICS_QVEL, ORR_PHYSICS_XPOS, ORR_PHYSICS_SENSORDATA,
                                               ORR_PHYSICS_QFRC_CONSTRAINT};

// Room for quantities of all worlds, 0 at first.
static double *room(const twice *t, const orr_physics_quantity *quantities, int count, int *size)
{
    *size = 0;
    for (int i = 0; i < count; i++) {
        *size += orr_physics_size(t->many, quantities[i]);
    }
    double *numbers = orr_alloc_zero((size_t)*size * (size_t)t->worlds, sizeof *numbers);
    assert_non_null(numbers);
    return numbers;
}

static void compare(const twice *t, double *sorted, double *expected, int size)
{
    for (int i = 0; i < t->worlds * size; i++) {
        if (isnan(expected[i])) { // of a lost world; which NaN is left to the processor
            assert_true(isnan(sorted[i]));
            expected[i] = sorted[i];
        }
    }
    assert_memory_equal(sorted, expected, (size_t)t->worlds * (size_t)size * sizeof *sorted);
    orr_free(sorted);
    orr_free(expected);
}

static void compare_states(const twice *t)
{
    enum { QUANTITIES = sizeof state / sizeof state[0] };
    int size;
    double *sorted = room(t, state, QUANTITIES, &size), *expected = room(t, state, QUANTITIES, &size);
    orr_physics_read_all(t->many, state, QUANTITIES, sorted);
    for (int i = 0; i < t->count; i++) {
        orr_physics_read_all(t->alone[i], state, QUANTITIES, expected + i * t->lanes * size);
    }
    compare(t, sorted, expected, size);
    orr_physics_accuracy found = orr_physics_get_accuracy(t->many), sum = {0};
    for (int i = 0; i < t->count; i++) {
        orr_physics_accuracy a = orr_physics_get_accuracy(t->alone[i]);
        sum.worlds += a.worlds;
        sum.steps += a.steps;
    }
    assert_true(found.worlds == sum.worlds && found.steps == sum.steps);
    for (int world = 0; world < t->worlds; world++) {
        int number;
        orr_physics *other = alone(t, world, &number);
        assert_int_equal(orr_physics_diverged(t->many, world), orr_physics_diverged(other, number));
        assert_int_equal(orr_physics_restarts(t->many, world), orr_physics_restarts(other, number));
    }
}

static void step(const twice *t, int steps, bool some)
{
    orr_physics_step_masked(t->many, steps, some ? t->mask : NULL);
    for (int i = 0; i < t->count; i++) {
        orr_physics_step_masked(t->alone[i], steps, some ? t->mask + i * t->lanes : NULL);
    }
}

static void step_and_read(const twice *t, int steps, bool some)
{
    enum { QUANTITIES = sizeof derived / sizeof derived[0] };
    int size;
    double *sorted = room(t, derived, QUANTITIES, &size), *expected = room(t, derived, QUANTITIES, &size);
    const uint8_t *mask = some ? t->mask : NULL;
    orr_physics_step_read(t->many, steps, mask, derived, QUANTITIES, sorted);
    for (int i = 0; i < t->count; i++) {
        orr_physics_step_read(t->alone[i], steps, mask ? mask + i * t->lanes : NULL, derived, QUANTITIES,
                              expected + i * t->lanes * size);
    }
    compare(t, sorted, expected, size);
}

// Throws bodies, each world in its own way, and drives the arm.
static void throw_bodies(const twice *t)
{
    const int nv = t->model->nv;
    double *qvel = orr_alloc_zero((size_t)nv * (size_t)t->worlds, sizeof *qvel);
    float *ctrl = orr_alloc(2 * (size_t)t->worlds, sizeof *ctrl);
    assert_true(qvel && ctrl);
    for (int world = 0; world < t->worlds; world++) {
        const double *random = t->random + 16 * world;
        for (int i = 0; i < nv; i++) {
            qvel[world * nv + i] = 4.0 * random[i] - (i == 2 || i == 8 ? 3.5 : 2.0);
        }
        ctrl[2 * world] = (float)(6.0 * random[14] - 3.0);
        ctrl[2 * world + 1] = (float)(4.0 * random[15] - 2.0);
    }
    orr_physics_set_masked(t->many, ORR_PHYSICS_QVEL, t->mask, qvel);
    orr_physics_set_all_f32(t->many, ORR_PHYSICS_CTRL, ctrl);
    for (int i = 0; i < t->count; i++) {
        orr_physics_set_masked(t->alone[i], ORR_PHYSICS_QVEL, t->mask + i * t->lanes,
                               qvel + i * t->lanes * nv);
        orr_physics_set_all_f32(t->alone[i], ORR_PHYSICS_CTRL, ctrl + 2 * i * t->lanes);
    }
    orr_free(qvel);
    orr_free(ctrl);
}

static void compare_contacts(const twice *t)
{
    const size_t count = (size_t)t->worlds * CAPACITY;
    orr_physics_contact *sorted = orr_alloc_zero(count, sizeof *sorted),
                        *expected = orr_alloc_zero(count, sizeof *expected);
    int *found = orr_alloc_zero((size_t)t->worlds, sizeof *found),
        *listed = orr_alloc_zero((size_t)t->worlds, sizeof *listed);
    assert_true(sorted && expected && found && listed);
    orr_physics_contacts_all(t->many, t->mask, sorted, CAPACITY, found);
    int most = 0;
    for (int i = 0; i < t->count; i++) {
        const ptrdiff_t first = (ptrdiff_t)i * t->lanes;
        orr_physics_contacts_all(t->alone[i], t->mask + first, expected + first * CAPACITY, CAPACITY,
                                 listed + first);
    }
    for (int world = 0; world < t->worlds; world++) {
        orr_physics_contact one[CAPACITY], other_one[CAPACITY];
        assert_int_equal(found[world], listed[world]);
        assert_true(t->mask[world] || found[world] == 0);
        assert_memory_equal(sorted + world * CAPACITY, expected + world * CAPACITY, sizeof one);
        memset(one, 0, sizeof one); // between members, too
        memset(other_one, 0, sizeof one);
        int number, own = orr_physics_contacts(t->many, world, one, CAPACITY);
        orr_physics *other = alone(t, world, &number);
        assert_int_equal(own, orr_physics_contacts(other, number, other_one, CAPACITY));
        assert_memory_equal(one, other_one, sizeof one);
        most = own > most ? own : most;
    }
    assert_true(most > 1);
    orr_free(sorted);
    orr_free(expected);
    orr_free(found);
    orr_free(listed);
}

static void compare_jacobians(const twice *t)
{
    const int size = 3 * t->model->nv, all = size * t->worlds;
    double *numbers = orr_alloc_zero(4 * (size_t)all + 3 * (size_t)t->worlds, sizeof *numbers);
    assert_non_null(numbers);
    double *sorted = numbers, *expected = numbers + 2 * all, *points = numbers + 4 * all;
    for (int i = 0; i < 3 * t->worlds; i++) {
        points[i] = t->random[i];
    }
    orr_physics_jacobians(t->many, t->mask, ORR_OBJECT_GEOM, 4, points, sorted, sorted + all);
    for (int i = 0; i < t->count; i++) {
        const ptrdiff_t first = (ptrdiff_t)i * t->lanes;
        orr_physics_jacobians(t->alone[i], t->mask + first, ORR_OBJECT_GEOM, 4, points + 3 * first,
                              expected + first * size, expected + all + first * size);
    }
    assert_memory_equal(sorted, expected, 2 * (size_t)all * sizeof(double));
    for (int world = 0; world < t->worlds; world += 7) {
        int number;
        orr_physics *other = alone(t, world, &number);
        orr_physics_jacobian(t->many, world, ORR_OBJECT_BODY, 4, NULL, sorted, sorted + size);
        orr_physics_jacobian(other, number, ORR_OBJECT_BODY, 4, NULL, expected, expected + size);
        assert_memory_equal(sorted, expected, 2 * (size_t)size * sizeof(double));
        orr_physics_read(t->many, ORR_PHYSICS_XPOS, world, sorted);
        orr_physics_read(other, ORR_PHYSICS_XPOS, number, expected);
        assert_memory_equal(sorted, expected, 3 * (size_t)t->model->nbody * sizeof(double));
    }
    orr_free(numbers);
}

// Masses of all worlds, and then of some; friction of one, from which parameters of pairs follow.
static void vary(const twice *t)
{
    const int size = orr_physics_vary_size(t->many, ORR_VARY_BODY_MASS);
    const int geoms = orr_physics_vary_size(t->many, ORR_VARY_GEOM_FRICTION);
    double *mass = orr_alloc((size_t)size * (size_t)t->worlds, sizeof *mass);
    double *friction = orr_alloc((size_t)geoms, sizeof *friction);
    assert_true(mass && friction);
    for (int world = 0; world < t->worlds; world++) {
        for (int i = 0; i < size; i++) {
            mass[world * size + i] = t->model->body_mass[i] * (1.0 + t->random[16 * world + i]);
        }
    }
    for (int i = 0; i < geoms; i++) {
        friction[i] = 0.5 * t->model->geom_friction[i];
    }
    assert_ok(orr_physics_vary_masked(t->many, ORR_VARY_BODY_MASS, t->mask, mass, &error));
    assert_ok(orr_physics_vary(t->many, ORR_VARY_GEOM_FRICTION, 5, 1, friction, &error));
    for (int i = 0; i < t->count; i++) {
        assert_ok(orr_physics_vary_masked(t->alone[i], ORR_VARY_BODY_MASS, t->mask + i * t->lanes,
                                          mass + i * t->lanes * size, &error));
    }
    int number;
    orr_physics *other = alone(t, 5, &number);
    assert_ok(orr_physics_vary(other, ORR_VARY_GEOM_FRICTION, number, 1, friction, &error));
    orr_free(mass);
    orr_free(friction);
}

// The state grows, but by so little that worlds are still sorted.
static void vary_gravity(const twice *t)
{
    const double gravity[3] = {1.0, 0.0, -8.0};
    for (int i = 0; i < t->count; i++) {
        assert_ok(orr_physics_vary(t->many, ORR_VARY_GRAVITY, i * t->lanes, 1, gravity, &error));
        assert_ok(orr_physics_vary(t->alone[i], ORR_VARY_GRAVITY, 0, 1, gravity, &error));
    }
}

static void reset(const twice *t)
{
    orr_physics_reset_masked(t->many, t->mask);
    orr_physics_reset(t->many, 7);
    for (int i = 0; i < t->count; i++) {
        orr_physics_reset_masked(t->alone[i], t->mask + i * t->lanes);
    }
    int number;
    orr_physics *other = alone(t, 7, &number);
    orr_physics_reset(other, number);
}

static void lose_one(const twice *t)
{
    const double lost[2] = {NAN, 0.0};
    int number;
    orr_physics *other = alone(t, LOST, &number);
    orr_physics_set(t->many, ORR_PHYSICS_CTRL, LOST, lost);
    orr_physics_set(other, ORR_PHYSICS_CTRL, number, lost);
}

static void restart_by_itself(const twice *t)
{
    orr_physics_set_autoreset(t->many, true);
    for (int i = 0; i < t->count; i++) {
        orr_physics_set_autoreset(t->alone[i], true);
    }
    for (int i = 0; i < 6; i++) {
        step(t, 6, false);
    }
    compare_states(t);
    assert_int_equal(orr_physics_restarts(t->many, LOST), 1);
}

static void go_through_everything(int worlds)
{
    twice t = begin(worlds);
    throw_bodies(&t);
    lose_one(&t);
    for (int i = 0; i < 8; i++) {
        step(&t, 5, false);
    }
    assert_true(moved(&t) > worlds / 4 && t.many->order->slot[LOST] != LOST);
    assert_true(orr_physics_diverged(t.many, LOST));
    compare_states(&t);
    compare_contacts(&t);
    compare_jacobians(&t);
    assert_true(orr_physics_get_accuracy(t.many).steps > 0);
    restart_by_itself(&t);
    vary(&t);
    step(&t, 40, false);
    step_and_read(&t, 9, false);
    compare_states(&t);
    reset(&t);
    throw_bodies(&t);
    step(&t, 30, true);
    step_and_read(&t, 5, true);
    compare_states(&t);
    assert_true(moved(&t) > worlds / 4);
    end(&t);
}

static void sorted_worlds_have_their_bits(void **unused)
{
    (void)unused;
    go_through_everything(157);
}

// More than one segment of blocks (64), the last one of a few. With wide lanes; one world less, so that one
// lane has none.
static void so_have_those_of_several_segments(void **unused)
{
    (void)unused;
    twice t = begin(33);
    const int lanes = t.lanes;
    end(&t);
    t = begin(70 * lanes - 1);
    vary_gravity(&t);
    throw_bodies(&t);
    for (int i = 0; i < 4; i++) {
        step(&t, 10, false); // in parts, between which worlds are sorted
    }
    step_and_read(&t, 12, false);
    compare_states(&t);
    int last = 0;
    for (int world = 64 * lanes; world < t.worlds; world++) {
        assert_true(slot_of(t.many, world).block >= 64); // worlds stay in their segment
        last += slot_of(t.many, world).block != world / lanes;
    }
    assert_true(last > 0 && moved(&t) > t.worlds / 2);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_worlds_have_their_bits),
        cmocka_unit_test(so_have_those_of_several_segments),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
