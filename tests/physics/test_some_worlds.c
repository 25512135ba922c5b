// Tests of what concerns some worlds of many: steps and resets by mask, autoreset, equality constraints that
// are switched; and of worlds that others, and threads, leave alone.
#include "engine/core/memory.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/support/machine.h"
#include "tests/support/robots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORLDS = 37 }; // blocks of any number of lanes, the last one not full

// A ball that hangs from a hand, which is a mocap body, by a weld, and an arm on a table with another one, a
// motor that acts later and a sensor that measures late and at times.
static const char text[] =
    "<mujoco><option timestep='0.002'><flag autoreset='%s'/></option><worldbody>"
    "<geom type='plane' size='2 2 0.1'/><body name='hand' mocap='true' pos='0 0 1'/>"
    "<body name='ball' pos='0 0 0.9'><freejoint/><geom type='sphere' size='0.05' mass='0.3'/></body>"
    "<body pos='1 0 0.3'><joint name='a' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.3 0 0' "
    "size='0.03'/><body pos='0.3 0 0'><joint name='b' axis='0 1 0'/><geom type='capsule' "
    "fromto='0 0 0 0.2 0 0' size='0.02'/></body></body></worldbody>"
    "<equality><weld name='grip' body1='hand' body2='ball'/>"
    "<joint joint1='a' joint2='b' polycoef='0 -1 0 0 0' active='false'/></equality>"
    "<actuator><motor joint='a' gear='0.3'/>"
    "<motor joint='a' gear='0.1' delay='0.003' nsample='3' interp='linear'/></actuator>"
    "<sensor><jointpos joint='b' delay='0.003' interval='0.005' nsample='3'/></sensor></mujoco>";

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g, expected %.9g", value, expected);
    }
}

static orr_model *parse(const char *autoreset)
{
    char whole[sizeof text + 16];
    orr_model *model = NULL;
    int length = snprintf(whole, sizeof whole, text, autoreset);
    assert_ok(orr_model_parse(whole, (size_t)length, "test.xml", &model, &error));
    return model;
}

static orr_physics *make(const orr_model *model, int worlds, bool autoreset)
{
    orr_physics *physics = NULL;
    const orr_physics_desc desc = {.worlds = worlds, .cuda = cuda, .team = team};
    assert_ok(orr_physics_create(&desc, model, jobs, &physics, &error));
    orr_physics_set_autoreset(physics, autoreset);
    return physics;
}

static const orr_physics_quantity state[] = {
#define QUANTITY(NAME, name) ORR_PHYSICS_##NAME,
    ORR_PHYSICS_STATE(QUANTITY)
#undef QUANTITY
};
enum { QUANTITIES = sizeof state / sizeof state[0] };

// The states of all worlds, WORLDS x *size.
static double *states(orr_physics *physics, int *size)
{
    *size = 0;
    for (int i = 0; i < QUANTITIES; i++) {
        *size += orr_physics_size(physics, state[i]);
    }
    double *numbers = orr_alloc((size_t)*size * (size_t)orr_physics_worlds(physics), sizeof *numbers);
    assert_non_null(numbers);
    orr_physics_read_all(physics, state, QUANTITIES, numbers);
    return numbers;
}

static void drive(orr_physics *physics)
{
    double torque[WORLDS][2];
    for (int world = 0; world < WORLDS; world++) {
        torque[world][0] = torque[world][1] = sin(0.7 * world);
    }
    orr_physics_set_all(physics, ORR_PHYSICS_CTRL, torque[0]);
}

static bool chosen(int world)
{
    return world % 3 == 1 || world == 20;
}

// Worlds that are stepped together with others, or left out, have the bits of worlds that are stepped alone.
static void steps_by_mask(void **context)
{
    (void)context;
    orr_model *model = parse("enable");
    orr_physics *some = make(model, WORLDS, false), *all = make(model, WORLDS, false);
    uint8_t mask[WORLDS];
    for (int world = 0; world < WORLDS; world++) {
        mask[world] = chosen(world) ? 7 : 0;
    }
    drive(some);
    drive(all);
    orr_physics_step(some, 50);
    orr_physics_step(all, 50);
    int size;
    double *before = states(some, &size);
    orr_physics_step_masked(some, 30, mask);
    orr_physics_step(all, 30);
    double *after = states(some, &size), *expected = states(all, &size);
    size_t bytes = (size_t)size * sizeof(double);
    for (int world = 0; world < WORLDS; world++) {
        const double *now = after + world * size;
        assert_memory_equal(now, (chosen(world) ? expected : before) + world * size, bytes);
        assert_memory_not_equal(now, (chosen(world) ? before : expected) + world * size, bytes);
    }
    memset(mask, 0, sizeof mask); // nobody
    orr_physics_step_masked(some, 30, mask);
    double *still = states(some, &size);
    assert_memory_equal(still, after, bytes * WORLDS);
    orr_physics_step_masked(some, 5, NULL); // everybody
    for (int world = 0; world < WORLDS; world++) {
        double time;
        orr_physics_get(some, ORR_PHYSICS_TIME, world, &time);
        assert_close(time, chosen(world) ? 0.17 : 0.11, 1e-6);
    }
    orr_free(before);
    orr_free(after);
    orr_free(expected);
    orr_free(still);
    orr_physics_destroy(some);
    orr_physics_destroy(all);
    orr_model_destroy(model);
}

static void resets_by_mask(void **context)
{
    (void)context;
    orr_model *model = parse("enable");
    orr_physics *physics = make(model, WORLDS, false);
    uint8_t mask[WORLDS];
    for (int world = 0; world < WORLDS; world++) {
        mask[world] = chosen(world);
    }
    int size;
    double *start = states(physics, &size);
    drive(physics);
    orr_physics_step(physics, 50);
    const double lost[2] = {NAN, 0.0};
    orr_physics_set(physics, ORR_PHYSICS_CTRL, 4, lost); // of those that are reset
    orr_physics_set(physics, ORR_PHYSICS_CTRL, 5, lost);
    const uint8_t first_alone[WORLDS] = {1};
    orr_physics_step_masked(physics, 1, first_alone);
    assert_false(orr_physics_diverged(physics, 4)); // it was not stepped
    orr_physics_step(physics, 1);
    assert_true(orr_physics_diverged(physics, 4) && orr_physics_diverged(physics, 5));
    double *before = states(physics, &size);
    orr_physics_reset_masked(physics, mask);
    double *after = states(physics, &size);
    size_t bytes = (size_t)size * sizeof(double);
    for (int world = 0; world < WORLDS; world++) {
        assert_memory_equal(after + world * size, (chosen(world) ? start : before) + world * size, bytes);
        assert_memory_not_equal(before + world * size, start + world * size, bytes);
        assert_int_equal(orr_physics_diverged(physics, world), world == 5);
    }
    orr_physics_reset_masked(physics, NULL);
    double *again = states(physics, &size);
    assert_memory_equal(again, start, bytes * WORLDS);
    orr_free(start);
    orr_free(before);
    orr_free(after);
    orr_free(again);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// A world whose accelerations are lost in a step starts again in it, as in MuJoCo: afterwards it is where a
// new world is after one step without controls. The others have their bits.
static void worlds_that_diverge_start_again(void **context)
{
    (void)context;
    orr_model *model = parse("enable");
    orr_physics *physics = make(model, WORLDS, true), *other = make(model, WORLDS, false);
    drive(physics);
    drive(other);
    const double lost[2] = {NAN, 0.0};
    orr_physics_step(physics, 40);
    orr_physics_step(other, 40);
    orr_physics_set(physics, ORR_PHYSICS_CTRL, 9, lost);
    orr_physics_step(physics, 3);
    orr_physics_step(other, 3);
    orr_physics_reset(other, 9);
    orr_physics *fresh = make(model, 2, false); // in lanes, as the others are
    orr_physics_step(fresh, 3);
    int size;
    double *now = states(physics, &size), *expected = states(other, &size), *begun = states(fresh, &size);
    for (int world = 0; world < WORLDS; world++) {
        const double *from = world == 9 ? begun : expected + world * size;
        assert_memory_equal(now + world * size, from, (size_t)size * sizeof(double));
        assert_int_equal(orr_physics_restarts(physics, world), world == 9);
        assert_int_equal(orr_physics_restarts(other, world), 0);
        assert_false(orr_physics_diverged(physics, world));
    }
    double state_lost[9] = {NAN, 0.0, 0.9, 1.0}; // noticed when the next step begins
    orr_physics_set(physics, ORR_PHYSICS_QPOS, 2, state_lost);
    orr_physics_step(physics, 3);
    orr_free(now);
    now = states(physics, &size);
    assert_memory_equal(now + 2 * size, begun, (size_t)size * sizeof(double));
    assert_int_equal(orr_physics_restarts(physics, 2), 1);
    orr_free(now);
    orr_free(expected);
    orr_free(begun);
    orr_physics_destroy(physics);
    orr_physics_destroy(other);
    orr_physics_destroy(fresh);
    orr_model_destroy(model);
}

static void a_model_may_disable_autoreset(void **context)
{
    (void)context;
    orr_model *model = parse("disable");
    orr_physics *physics = make(model, 3, true);
    const double lost[2] = {NAN, 0.0};
    orr_physics_set(physics, ORR_PHYSICS_CTRL, 1, lost);
    orr_physics_step(physics, 2);
    assert_true(orr_physics_diverged(physics, 1));
    assert_int_equal(orr_physics_restarts(physics, 1), 0);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

// The weld holds the ball where it is active; elsewhere the ball falls freely. The equality of joints, which
// the model starts without, makes b turn against a.
static void equalities_are_switched(void **context)
{
    (void)context;
    orr_model *model = parse("enable");
    orr_physics *mixed = make(model, WORLDS, false), *none = make(model, WORLDS, false),
                *both = make(model, WORLDS, false);
    const double off[2] = {0.0, 0.0}, on[2] = {1.0, 1.0};
    double active[2];
    orr_physics_get(mixed, ORR_PHYSICS_EQ_ACTIVE, 3, active);
    assert_true(active[0] == 1.0 && active[1] == 0.0); // as the model says
    for (int world = 0; world < WORLDS; world++) {
        orr_physics_set(mixed, ORR_PHYSICS_EQ_ACTIVE, world, chosen(world) ? off : on);
        orr_physics_set(none, ORR_PHYSICS_EQ_ACTIVE, world, off);
        orr_physics_set(both, ORR_PHYSICS_EQ_ACTIVE, world, on);
    }
    orr_physics *each[3] = {mixed, none, both};
    for (int i = 0; i < 3; i++) {
        drive(each[i]);
        orr_physics_step(each[i], 100);
    }
    int size;
    double *now = states(mixed, &size), *loose = states(none, &size), *held = states(both, &size);
    for (int world = 0; world < WORLDS; world++) {
        size_t bytes = (size_t)(size - 2 * model->neq) * sizeof(double);
        const double *from = (chosen(world) ? loose : held) + world * size;
        assert_memory_equal(now + world * size, from, bytes); // whatever the worlds beside it do
        double q[9];
        orr_physics_get(mixed, ORR_PHYSICS_QPOS, world, q);
        // semi-implicit Euler: g h^2 n (n + 1) / 2
        double fallen = 9.81 * 0.002 * 0.002 * 100.0 * 101.0 / 2.0;
        assert_close(q[2], chosen(world) ? 0.9 - fallen : 0.9, chosen(world) ? 1e-5 : 1e-3);
        double apart = fabs(q[7] + q[8]);
        assert_true(chosen(world) ? apart > 0.01 : apart < 0.02);
    }
    // let go at run time, and reset: active as the model says
    orr_physics_set(both, ORR_PHYSICS_EQ_ACTIVE, 0, off);
    orr_physics_step(both, 50);
    double q[9];
    orr_physics_get(both, ORR_PHYSICS_QPOS, 0, q);
    assert_close(q[2], 0.9 - 9.81 * 0.1 * 0.1 / 2.0, 2e-3);
    orr_physics_reset(both, 0);
    orr_physics_get(both, ORR_PHYSICS_EQ_ACTIVE, 0, active);
    assert_true(active[0] == 1.0 && active[1] == 0.0);
    orr_free(now);
    orr_free(loose);
    orr_free(held);
    for (int i = 0; i < 3; i++) {
        orr_physics_destroy(each[i]);
    }
    orr_model_destroy(model);
}

static void worlds_do_not_feel_threads_or_neighbours(void **unused)
{
    (void)unused;
    orr_model *model;
    assert_ok(orr_model_load(own_robot("biped"), &model, &error));
    double ends[3][WORLDS][64] = {0};
    for (int run = 0; run < 3; run++) {
        orr_jobs *own;
        assert_ok(orr_jobs_create(run == 0 ? 1 : 3, NULL, NULL, &own, &error));
        orr_physics *physics = NULL;
        // the last run has the worlds in other lanes
        int shift = run == 2 ? 5 : 0;
        const orr_physics_desc desc = {.worlds = WORLDS + shift, .cuda = cuda, .team = team};
        assert_ok(orr_physics_create(&desc, model, own, &physics, &error));
        for (int world = 0; world < WORLDS; world++) {
            double ctrl[64];
            for (int i = 0; i < model->nu; i++) {
                ctrl[i] = 0.4 * sin(1.0 + world * 3.7 + i);
            }
            orr_physics_set(physics, ORR_PHYSICS_CTRL, world + shift, ctrl);
        }
        orr_physics_step(physics, 200);
        for (int world = 0; world < WORLDS; world++) {
            orr_physics_get(physics, ORR_PHYSICS_QPOS, world + shift, ends[run][world]);
        }
        orr_physics_destroy(physics);
        orr_jobs_destroy(own);
    }
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
    assert_memory_equal(ends[0], ends[2], sizeof ends[0]);
    assert_memory_not_equal(ends[0][0], ends[0][1], sizeof ends[0][0]); // each has its own controls
    orr_model_destroy(model);
}

// In float, of which two are 0.0002 s apart after an hour.
static void time_is_exact_after_hours(void **unused)
{
    (void)unused;
    orr_model *model = parse("enable");
    orr_physics *physics = make(model, WORLDS, false);
    static const orr_physics_quantity time = ORR_PHYSICS_TIME;
    double times[WORLDS], now[WORLDS];
    for (int world = 0; world < WORLDS; world++) {
        times[world] = 3600.0 + world / 3.0;
    }
    orr_physics_set_all(physics, time, times);
    times[3] = 86400.1;
    orr_physics_set(physics, time, 3, &times[3]);
    for (int steps = 0; steps <= 500; steps += 500) {
        orr_physics_step(physics, steps);
        orr_physics_read_all(physics, &time, 1, now);
        for (int world = 0; world < WORLDS; world++) {
            double alone;
            orr_physics_get(physics, time, world, &alone);
            assert_true(alone == now[world]);
            // what is added in a step is rounded to half of 2.3e-10
            assert_close(alone, times[world] + 0.002 * steps, 1.2e-10 * steps + 1e-10);
        }
    }
    orr_physics_reset(physics, 3);
    orr_physics_get(physics, time, 3, &times[3]);
    assert_true(times[3] == 0.0);
    orr_physics_destroy(physics);
    orr_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_by_mask),
        cmocka_unit_test(resets_by_mask),
        cmocka_unit_test(worlds_that_diverge_start_again),
        cmocka_unit_test(a_model_may_disable_autoreset),
        cmocka_unit_test(equalities_are_switched),
        cmocka_unit_test(worlds_do_not_feel_threads_or_neighbours),
        cmocka_unit_test(time_is_exact_after_hours),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
