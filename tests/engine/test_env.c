// Environments that learners step: episodes, autoreset, seeds, threads, bad input. What tasks compute is held
// against Gymnasium in python/tests/test_environments.py.
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char cart[] =
    "<mujoco><option timestep='0.02' integrator='RK4'/><worldbody><body name='cart'>"
    "<joint name='slider' type='slide' axis='1 0 0' limited='true' range='-1 1'/>"
    "<geom type='capsule' size='0.1 0.1' euler='0 90 0'/><body name='pole'><joint axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 0.6' size='0.05'/></body></body></worldbody>"
    "<actuator><motor joint='slider' gear='100' ctrlrange='-3 3' ctrllimited='true'/></actuator></mujoco>";

static orr_env *make(orr_engine *on, int count, orr_autoreset autoreset, int max_steps)
{
    orr_env *env;
    char path[256];
    snprintf(path, sizeof path, "%s", written("cart.xml", cart));
    const orr_env_desc desc = {.task = "InvertedPendulum-v5",
                               .model = path,
                               .count = count,
                               .seed = 7,
                               .autoreset = autoreset,
                               .max_steps = max_steps};
    assert_ok(orr_env_create(on, &desc, &env, &error));
    return env;
}

static orr_env_results results_of(const orr_env *env)
{
    orr_env_results results;
    assert_ok(orr_env_get_results(env, &results, &error));
    return results;
}

static void episodes_begin_as_the_mode_says(void **state)
{
    (void)state;
    enum { COUNT = 5 };
    for (int mode = 0; mode < 3; mode++) {
        orr_env *env = make(engine, COUNT, (orr_autoreset)mode, 3);
        orr_env_results r = results_of(env);
        const float none[COUNT] = {0};
        double last[4 * COUNT];
        for (int step = 0; step < 3; step++) {
            assert_ok(orr_env_step(env, none, &error));
            for (int i = 0; i < COUNT; i++) {
                assert_int_equal(r.truncated[i], step == 2);
                assert_true(!r.terminated[i] && r.reward[i] == 1.0 && r.episode_steps[i] == step + 1);
            }
            memcpy(last, step < 2 ? r.observation : last, sizeof last);
        }
        assert_true(r.episode_return[0] == 3.0);
        if (mode == ORR_AUTORESET_SAME_STEP) {
            assert_memory_not_equal(r.final_observation, r.observation, sizeof last);
            // the last of the episode moved on from the one before; the first of the next is small noise
            assert_true(fabs(r.final_observation[1] - last[1]) < 0.1 && fabs(r.observation[1]) <= 0.01);
            assert_ok(orr_env_step(env, none, &error));
            assert_true(r.reward[0] == 1.0 && r.episode_steps[0] == 1 && r.episode_return[0] == 1.0);
        } else if (mode == ORR_AUTORESET_NEXT_STEP) {
            assert_ok(orr_env_step(env, none, &error));
            for (int i = 0; i < COUNT; i++) {
                assert_true(r.reward[i] == 0.0 && !r.truncated[i] && r.episode_steps[i] == 0);
                assert_true(fabs(r.observation[4 * i + 1]) <= 0.01);
            }
            assert_ok(orr_env_step(env, none, &error));
            assert_true(r.reward[0] == 1.0 && r.episode_steps[0] == 1 && r.episode_return[0] == 1.0);
        } else {
            orr_error why = {0};
            assert_int_equal(orr_env_step(env, none, &why), ORR_ERROR_ARGUMENT);
            assert_non_null(strstr(why.message, "episode has ended"));
            assert_ok(orr_env_reset(env, NULL, NULL, &error));
            assert_ok(orr_env_step(env, none, &error));
        }
        orr_env_destroy(env);
    }
}

// Episodes of environment 3, with the number of environments, of threads and the mode given.
static void play(int count, int threads, double *observations)
{
    enum { STEPS = 60 };
    orr_engine *own;
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.threads = threads, .device = ORR_DEVICE_CPU}, &own, &error));
    orr_env *env = make(own, count, ORR_AUTORESET_NEXT_STEP, 20);
    orr_env_results r = results_of(env);
    float actions[64];
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < count; i++) {
            actions[i] = 2.0f * sinf((float)(step + 5 * i));
        }
        assert_ok(orr_env_step(env, actions, &error));
        memcpy(observations + (ptrdiff_t)4 * step, r.observation + 12, 4 * sizeof *observations);
    }
    orr_env_destroy(env);
    orr_engine_destroy(own);
}

static void episodes_do_not_depend_on_threads_or_number(void **state)
{
    (void)state;
    double one[240], many[240], wide[240];
    play(5, 1, one);
    play(5, 3, many);
    play(41, 2, wide);
    assert_memory_equal(one, many, sizeof one);
    assert_memory_equal(one, wide, sizeof one);
    assert_true(fabs(one[239] - one[0]) > 0.0);
}

static void seeds_and_masks_begin_episodes(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    orr_env *env = make(engine, COUNT, ORR_AUTORESET_DISABLED, 0);
    orr_env_results r = results_of(env);
    double first[4 * COUNT], second[4 * COUNT];
    const uint32_t seeds[COUNT] = {7, 8, 9, 10};
    memcpy(first, r.observation, sizeof first);
    assert_ok(orr_env_reset(env, NULL, NULL, &error));
    memcpy(second, r.observation, sizeof second);
    assert_memory_not_equal(first, second, sizeof first); // the next episode of the same seeds
    assert_ok(orr_env_reset(env, NULL, seeds, &error));
    assert_memory_equal(r.observation, first, sizeof first);
    const uint8_t mask[COUNT] = {0, 1, 0, 0};
    assert_ok(orr_env_reset(env, mask, NULL, &error));
    assert_memory_equal(r.observation, first, 4 * sizeof *first);
    assert_memory_equal(r.observation + 4, second + 4, 4 * sizeof *first);
    assert_memory_equal(r.observation + 8, first + 8, 8 * sizeof *first);
    orr_env_destroy(env);
}

static void numbers_that_diverge_end_one_episode(void **state)
{
    (void)state;
    orr_env *env = make(engine, 3, ORR_AUTORESET_NEXT_STEP, 0),
            *calm = make(engine, 3, ORR_AUTORESET_NEXT_STEP, 0);
    orr_env_results r = results_of(env), other = results_of(calm);
    const double qpos[2] = {0.0, 0.0}, qvel[2] = {0.0, 1e20};
    const float none[3] = {0};
    assert_ok(orr_env_set_state(env, 1, qpos, qvel, &error));
    assert_ok(orr_env_step(env, none, &error));
    assert_ok(orr_env_step(calm, none, &error));
    assert_true(r.terminated[1] && r.diverged[1] == 1 && r.diverged[0] == 0 && r.reward[1] == 0.0);
    assert_memory_equal(r.observation, other.observation, 4 * sizeof(double));
    assert_memory_equal(r.observation + 8, other.observation + 8, 4 * sizeof(double));
    assert_ok(orr_env_step(env, none, &error));
    assert_true(!r.terminated[1] && fabs(r.observation[5]) <= 0.01);
    orr_env_destroy(env);
    orr_env_destroy(calm);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    orr_env *env;
    char path[256];
    snprintf(path, sizeof path, "%s", written("cart.xml", cart));
    const struct {
        orr_env_desc desc;
        const char *text;
    } wrong[] = {
        {{.task = "Chess-v0", .model = path, .count = 1}, "task Chess-v0"},
        {{.task = "Ant-v5", .model = path}, "0 environments"},
        {{.task = "Ant-v5", .model = path, .count = 1, .autoreset = (orr_autoreset)3}, "autoreset 3"},
        {{.task = "Reacher-v5", .model = path, .count = 1}, "a body named fingertip"},
        {{.task = "InvertedDoublePendulum-v5", .model = path, .count = 1}, "the robot that the task"},
        {{.task = "Humanoid-v5", .model = path, .count = 1}, "the robot that the task"},
        {{.task = "Ant-v5", .model = "/absent.xml", .count = 1}, "/absent.xml"},
        {{.model = path, .count = 1}, "desc.task is NULL"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        orr_error why = {0};
        if (orr_env_create(engine, &wrong[i].desc, &env, &why) == ORR_OK) {
            fail_msg("%zu: not refused", i);
        }
        assert_null(env);
        if (!strstr(why.message, wrong[i].text)) {
            fail_msg("%zu: %s (expected '%s')", i, why.message, wrong[i].text);
        }
    }
    env = make(engine, 2, ORR_AUTORESET_NEXT_STEP, 0);
    orr_env_results r = results_of(env);
    double before[8];
    memcpy(before, r.observation, sizeof before);
    orr_error why = {0};
    assert_int_equal(orr_env_step(env, (float[]){0.0f, NAN}, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "action 0 of environment 1 is nan"));
    assert_memory_equal(before, r.observation, sizeof before);
    double q[2], v[2];
    assert_int_equal(orr_env_get_state(env, 2, q, v, &why), ORR_ERROR_ARGUMENT);
    orr_env_destroy(env);
    orr_env_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_begin_as_the_mode_says),
        cmocka_unit_test(episodes_do_not_depend_on_threads_or_number),
        cmocka_unit_test(seeds_and_masks_begin_episodes),
        cmocka_unit_test(numbers_that_diverge_end_one_episode),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
