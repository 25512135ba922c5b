// Tasks that ship (assets/tasks): a policy that knows what to do gets a high return, a random one a low one.
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 4, ACTIONS = 12 };

static const double pi = 3.14159265358979323846;

// Writes the actions of a step for one observation.
typedef void (*policy)(const double *observation, int step, double seconds, float *action);

static orr_env *make_on(orr_engine *on, const char *path, int count)
{
    orr_env *env;
    const orr_env_desc desc = {.task = path, .count = count, .seed = 3, .autoreset = ORR_AUTORESET_SAME_STEP};
    assert_ok(orr_env_create(on, &desc, &env, &error));
    return env;
}

// The mean return of one episode of each environment. act: NULL: random actions.
static double play(orr_env *env, policy act)
{
    orr_env_info info;
    orr_env_results r;
    uint32_t state = 1;
    double sum = 0.0;
    uint8_t ended[COUNT] = {0};
    assert_ok(orr_env_describe(env, &info, &error));
    assert_ok(orr_env_get_results(env, &r, &error));
    assert_ok(orr_env_reset(env, NULL, NULL, &error));
    assert_true(info.action_count <= ACTIONS);
    for (int step = 0; step < info.max_steps; step++) {
        float actions[COUNT * ACTIONS];
        for (int i = 0; i < info.count; i++) {
            float *own = actions + (ptrdiff_t)i * info.action_count;
            for (int k = 0; k < info.action_count; k++) {
                state = state * 1664525u + 1013904223u; // Numerical Recipes, ranqd1
                const float share = (float)(state >> 8) * 0x1p-24f;
                own[k] = info.action_low[k] + share * (info.action_high[k] - info.action_low[k]);
            }
            if (act) {
                act(r.observation + (ptrdiff_t)i * info.observation_count, step, info.seconds, own);
            }
        }
        assert_ok(orr_env_step(env, actions, &error));
        for (int i = 0; i < info.count; i++) {
            if (!ended[i] && (r.terminated[i] || r.truncated[i])) {
                ended[i] = 1;
                sum += r.episode_return[i];
            }
        }
    }
    return sum / info.count;
}

// low, high: bounds of the returns of a random policy and of one that knows.
static void compare(const char *path, policy act, double low, double high)
{
    orr_env *env = make_on(engine, path, COUNT);
    const double by_chance = play(env, NULL), by_script = play(env, act);
    orr_env_destroy(env);
    print_message("%s: return %.1f at random, %.1f by a script\n", path, by_chance, by_script);
    assert_true(by_chance < low && by_script > high);
}

// A trot: hips swing, and the legs of one diagonal are lifted while those of the other push.
static void trot(const double *observation, int step, double seconds, float *action)
{
    (void)observation;
    for (int leg = 0; leg < 4; leg++) {
        const double phase = 2.0 * pi * 2.0 * seconds * step + (leg == 1 || leg == 2 ? pi : 0.0);
        action[3 * leg] = 0.0f;
        action[3 * leg + 1] = (float)(0.75 + 0.25 * cos(phase));
        action[3 * leg + 2] = (float)(-1.5 - 0.5 * fmax(sin(phase), 0.0));
    }
}

static void a_trot_crosses_uneven_ground(void **state)
{
    (void)state;
    compare(made_asset("tasks/terrain.json"), trot, 40.0, 200.0); // standing still gives 80
}

// What the first of many quadrupeds observes, whose legs swing wildly: some of them touch the ground where
// others do not. None diverges.
static void stumble(int count, double *observations, int numbers, int steps)
{
    enum { MOST = 17 };
    orr_env *env = make_on(engine, made_asset("tasks/terrain.json"), count);
    orr_env_info info;
    orr_env_results r;
    assert_ok(orr_env_describe(env, &info, &error));
    assert_ok(orr_env_get_results(env, &r, &error));
    assert_int_equal(info.observation_count, numbers);
    for (int step = 0; step < steps; step++) {
        float actions[MOST * ACTIONS];
        for (int i = 0; i < count * info.action_count; i++) {
            const int k = i % info.action_count;
            const double share = 0.5 + 0.5 * sin(7.0 * step + 3.1 * i);
            actions[i] = (float)(info.action_low[k] + share * (info.action_high[k] - info.action_low[k]));
        }
        assert_ok(orr_env_step(env, actions, &error));
        memcpy(observations + (ptrdiff_t)step * numbers, r.observation, (size_t)numbers * sizeof(double));
        for (int i = 0; i < count; i++) {
            assert_int_equal(r.diverged[i], 0);
        }
    }
    orr_env_destroy(env);
}

static void quadrupeds_stumble_alone_as_among_others(void **state)
{
    (void)state;
    enum { NUMBERS = 33, STEPS = 30 };
    static double alone[NUMBERS * STEPS], among[NUMBERS * STEPS];
    stumble(1, alone, NUMBERS, STEPS);
    stumble(17, among, NUMBERS, STEPS);
    assert_memory_equal(alone, among, sizeof alone);
}

// Over the block, down, close, up. The observation has positions times 10, and the block's from the grip.
static void take(const double *observation, int step, double seconds, float *action)
{
    (void)seconds;
    const double rise = fmin(fmax((step - 85) / 40.0, 0.0), 1.0);
    for (int k = 0; k < 2; k++) {
        action[k] = (float)(0.1 * (observation[k] + (step < 60 ? observation[10 + k] : 0.0)));
    }
    action[2] = (float)(step < 25 ? 0.02 : -0.168 + 0.2 * rise);
    action[3] = step < 60 ? 0.0f : 0.05f;
}

static void a_gripper_lifts_a_soft_block(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", source_path("assets/tasks/soft_lift.json"));
    compare(path, take, 35.0, 60.0); // holding the block is worth 0.2 a step, 150 steps
}

// Where the joints must be for the tip to be at the target, wrist straight: two angles about the trocar, and
// a depth. The observation has q, speeds, tip and target - tip times 10, and where the joints are sent to.
static void aim(const double *observation, int step, double seconds, float *action)
{
    double to[3];
    (void)step;
    for (int k = 0; k < 3; k++) {
        to[k] = 0.1 * (observation[12 + k] + observation[15 + k]);
    }
    const double depth = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
    const double joints[3] = {atan2(to[1], -to[2]), -asin(to[0] / depth), depth - 0.039};
    for (int k = 0; k < 6; k++) {
        const double limit = k == 2 ? 0.127 : 1.0,
                     speed = (k < 3 ? joints[k] - observation[18 + k] : 0.0) / seconds;
        action[k] = (float)fmin(fmax(speed, -limit), limit);
    }
}

static void an_instrument_reaches_and_follows_a_target(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", source_path("assets/tasks/surgical_reach.json"));
    compare(path, aim, -20.0, -10.0); // 400 steps, 2.5 cm off on average
    snprintf(path, sizeof path, "%s", source_path("assets/tasks/surgical_track.json"));
    compare(path, aim, -20.0, -10.0);
}

// Across to the hole, slowly, so that the noise of where it is averages out; then down. The observation has
// hole - peg times 50.
static void insert(const double *observation, int step, double seconds, float *action)
{
    (void)seconds;
    for (int k = 0; k < 2; k++) {
        const double speed = (step < 40 ? 4.0 : 1.5) * observation[k] / 50.0;
        action[k] = (float)fmin(fmax(speed, -0.05), 0.05);
    }
    action[2] = step < 60 ? 0.0f : -0.03f;
}

static void a_hand_inserts_a_peg_that_it_feels(void **state)
{
    (void)state;
    enum { FIRST = 15, CELLS = 16 }; // touch in the observation, of each pad
    char path[512];
    orr_env_results r;
    snprintf(path, sizeof path, "%s", source_path("assets/tasks/peg_insertion.json"));
    compare(path, insert, 45.0, 100.0); // over the hole it is worth 0.2 a step, 200 steps
    orr_env *env = make_on(engine, path, 1);
    assert_ok(orr_env_get_results(env, &r, &error));
    for (int pad = 0; pad < 2; pad++) { // 9 N at each, of which the corners of what touches have a quarter
        double sum = 0.0;
        for (int i = 0; i < CELLS; i++) {
            sum += sinh(r.observation[FIRST + CELLS * pad + i]);
        }
        assert_true(fabs(sum - 9.0) < 1.5);
    }
    orr_env_destroy(env);
}

// Two angles of an arm whose hand stays level, elbow up: before the shelf at the target's height, then in.
// The observation has the target from number 11 on.
static void reach_in(const double *observation, int step, double seconds, float *action)
{
    (void)seconds;
    static const double upper = 0.30, forearm = 0.28, hand = 0.18, before = 0.36, shoulder = 0.42;
    const double *target = observation + 11;
    const double in = fmin(fmax((step - 50) / 50.0, 0.0), 1.0), height = target[2] - shoulder,
                 across = before + (hypot(target[0], target[1]) - before) * in - hand,
                 square = across * across + height * height,
                 bend =
                     acos(fmin((square - upper * upper - forearm * forearm) / (2.0 * upper * forearm), 1.0)),
                 rise = atan2(height, across) + atan2(forearm * sin(bend), upper + forearm * cos(bend));
    action[0] = (float)atan2(target[1], target[0]);
    action[1] = (float)-rise;
    action[2] = (float)bend;
    action[3] = (float)(rise - bend);
}

static void an_arm_reaches_into_a_captured_shelf(void **state)
{
    (void)state;
    compare(made_asset("tasks/shelf.json"), reach_in, 20.0, 80.0);
}

// A board of the shelf stops the arm: it is a surface of the environments.
static void the_shelf_is_in_the_way(void **state)
{
    (void)state;
    orr_env *env = make_on(engine, made_asset("tasks/shelf.json"), 1);
    orr_env_results r;
    assert_ok(orr_env_get_results(env, &r, &error));
    for (int step = 0; step < 100; step++) {
        const float straight[4] = {0.0f, 0.0f, 0.0f, 0.0f}; // at z = 0.42, onto the middle board
        assert_ok(orr_env_step(env, straight, &error));
    }
    assert_true(r.observation[10] > 0.435 && r.observation[10] < 0.6); // the tip's height, 0.42 over nothing
    double most = 0.0;
    for (int i = 17; i < 29; i++) {
        most = fmax(most, fabs(r.observation[i]));
    }
    assert_true(most > 0.1); // 1 N
    orr_env_destroy(env);
}

// How far the shaft's axis is from the trocar, over episodes of random actions.
static void the_shaft_stays_in_its_trocar(void **state)
{
    (void)state;
    enum { SITES = 5 }; // rcm, shaft_top, shaft_end, tip, target
    double site[COUNT * SITES * 3], most = 0.0, deepest = 0.0;
    int numbers;
    orr_env *env = make_on(engine, source_path("assets/tasks/surgical_reach.json"), COUNT);
    assert_ok(orr_env_quantity_numbers(env, ORR_ROBOT_SITE_XPOS, &numbers, &error));
    assert_int_equal(numbers, SITES * 3);
    for (int step = 0; step < 390; step++) {
        float actions[COUNT * 6];
        for (int k = 0; k < COUNT * 6; k++) {
            actions[k] = (float)((k % 6 == 2 ? 0.127 : 1.0) * sin(0.01 * (k + 3) * step + k));
        }
        assert_ok(orr_env_step(env, actions, &error));
        assert_ok(orr_env_get_quantity(env, ORR_ROBOT_SITE_XPOS, site, &error));
        for (int i = 0; i < COUNT; i++) {
            const double *rcm = site + (ptrdiff_t)SITES * 3 * i, *top = rcm + 3, *end = rcm + 6;
            double along = 0.0, length = 0.0, square = 0.0;
            for (int k = 0; k < 3; k++) {
                along += (end[k] - top[k]) * (rcm[k] - top[k]);
                length += (end[k] - top[k]) * (end[k] - top[k]);
                square += (rcm[k] - top[k]) * (rcm[k] - top[k]);
            }
            most = fmax(most, sqrt(fmax(square - along * along / length, 0.0)));
            deepest = fmax(deepest, sqrt(length) - along / sqrt(length));
        }
    }
    orr_env_destroy(env);
    print_message("the axis of the shaft passes the trocar within %.5f mm, up to %.0f mm deep\n", 1e3 * most,
                  1e3 * deepest);
    assert_true(most < 1e-4 && deepest > 0.06);
}

// Each can be made from the file that it names, and is another task.
static void names_are_of_tasks(void **state)
{
    (void)state;
    const char *name, *file, *before = "";
    int count = 0;
    for (; (name = orr_env_shipped_task(count, &file)) != NULL; count++) {
        orr_env_info info;
        orr_env *env = make_on(engine, made_asset(file), 1);
        assert_ok(orr_env_describe(env, &info, &error));
        assert_non_null(info.task_text);
        assert_string_not_equal(file, before);
        before = file;
        orr_env_destroy(env);
    }
    assert_int_equal(count, 8); // as docs/task-file.md lists
    assert_null(file);
    assert_null(orr_env_shipped_task(-1, &file));
    assert_string_equal(orr_env_shipped_task(0, NULL), "QuadrupedTerrain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_of_tasks),
        cmocka_unit_test(a_trot_crosses_uneven_ground),
        cmocka_unit_test(quadrupeds_stumble_alone_as_among_others),
        cmocka_unit_test(a_gripper_lifts_a_soft_block),
        cmocka_unit_test(an_instrument_reaches_and_follows_a_target),
        cmocka_unit_test(a_hand_inserts_a_peg_that_it_feels),
        cmocka_unit_test(an_arm_reaches_into_a_captured_shelf),
        cmocka_unit_test(the_shelf_is_in_the_way),
        cmocka_unit_test(the_shaft_stays_in_its_trocar),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
