// Tests of policies: advantages, gradients by what they learn, files, and the same bits for any threads.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/result.h"
#include "engine/policy/gae.h"
#include "engine/policy/policy.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A pole on a cart, with the names and sizes that InvertedPendulum-v5 has.
static const char *const model =
    "<mujoco><compiler autolimits='true'/><option timestep='0.02' integrator='RK4' gravity='0 0 -9.81'/>"
    "<default><joint armature='0' damping='1'/><geom contype='0' friction='1 .1 .1'/></default><worldbody>"
    "<geom name='rail' type='capsule' size='0.02 1' quat='1 0 1 0'/>"
    "<body name='cart'><joint name='slider' type='slide' axis='1 0 0' range='-1 1' limited='true'/>"
    "<geom name='cart' type='capsule' size='0.1 0.1' quat='1 0 1 0'/>"
    "<body name='pole'><joint name='hinge' axis='0 1 0' range='-90 90' limited='true'/>"
    "<geom name='cpole' type='capsule' fromto='0 0 0 0.001 0 0.6' size='0.049 0.3'/></body></body>"
    "</worldbody><actuator><motor joint='slider' gear='100' ctrllimited='true' ctrlrange='-3 3'/></actuator>"
    "</mujoco>";

static orr_engine *engine_of(int threads)
{
    orr_engine *engine;
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = threads}, &engine, &error));
    return engine;
}

// resume: nullable.
static orr_result try_trainer(orr_engine *engine, int horizon, const char *resume,
                              orr_policy_trainer **trainer, orr_error *why)
{
    const char *path = scratch_path("pole.xml");
    assert_ok(orr_file_write(path, model, strlen(model), &error));
    char file[512];
    snprintf(file, sizeof file, "%s", path);
    if (resume) {
        const orr_policy_train_desc desc = {
            .task = "InvertedPendulum-v5", .model = file, .horizon = horizon, .resume = resume};
        return orr_policy_trainer_create(engine, &desc, trainer, why);
    }
    const orr_policy_train_desc desc = {.task = "InvertedPendulum-v5",
                                        .model = file,
                                        .count = 128,
                                        .horizon = horizon,
                                        .seed = 3,
                                        .width = 32};
    return orr_policy_trainer_create(engine, &desc, trainer, why);
}

static orr_policy_trainer *trainer_of(orr_engine *engine, int horizon)
{
    orr_policy_trainer *trainer;
    assert_ok(try_trainer(engine, horizon, NULL, &trainer, &error));
    return trainer;
}

// By hand: discount 0.5, trace 0.5; the first episode ends after two steps.
static void advantages_stop_at_the_end_of_an_episode(void **state)
{
    (void)state;
    const float rewards[] = {1, 2, 3}, values[] = {10, 20, 30, 40};
    const uint8_t ended[] = {0, 1, 0};
    float advantages[3], returns[3];
    orr_advantages(rewards, values, ended, 3, 1, 0.5, 0.5, advantages, returns);
    // errors: 1 + 10 - 10, 2 - 20, 3 + 20 - 30
    const float expected[] = {1.0f + 0.25f * -18.0f, -18.0f, -7.0f};
    for (int i = 0; i < 3; i++) {
        assert_true(advantages[i] == expected[i] && returns[i] == expected[i] + values[i]);
    }
}

#ifndef ORR_SANITIZED // minutes there, and the other tests run the same code
static void a_pole_is_balanced_after_seconds(void **state)
{
    (void)state;
    orr_engine *engine = engine_of(2);
    orr_policy_trainer *trainer = trainer_of(engine, 64);
    orr_policy_progress p;
    assert_ok(orr_policy_trainer_step(trainer, &error));
    assert_ok(orr_policy_trainer_describe(trainer, &p, &error));
    assert_true(p.episodes > 0 && p.mean_return < 50.0);
    for (int i = 0; i < 60; i++) {
        assert_ok(orr_policy_trainer_step(trainer, &error));
    }
    assert_ok(orr_policy_trainer_describe(trainer, &p, &error));
    print_message("mean return after %lld steps: %.1f\n", (long long)p.steps, p.mean_return);
    assert_true(p.mean_return > 800.0);
    orr_policy_trainer_destroy(trainer);
    orr_engine_destroy(engine);
}
#endif

static orr_bytes saved_after(int threads, const char *name)
{
    orr_engine *engine = engine_of(threads);
    orr_policy_trainer *trainer = trainer_of(engine, 8);
    orr_bytes bytes;
    for (int i = 0; i < 4; i++) {
        assert_ok(orr_policy_trainer_step(trainer, &error));
    }
    assert_ok(orr_policy_save(orr_policy_trainer_policy(trainer), scratch_path(name), &error));
    assert_ok(orr_file_read(scratch_path(name), &bytes, &error));
    orr_policy_trainer_destroy(trainer);
    orr_engine_destroy(engine);
    return bytes;
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    orr_bytes one = saved_after(1, "one.policy"), three = saved_after(3, "three.policy");
    assert_true(one.size == three.size && memcmp(one.data, three.data, one.size) == 0);
    orr_free(one.data);
    orr_free(three.data);
}

static void train(orr_policy_trainer *trainer, int iterations, const char *path)
{
    for (int i = 0; i < iterations; i++) {
        assert_ok(orr_policy_trainer_step(trainer, &error));
    }
    assert_ok(orr_policy_trainer_save(trainer, path, &error));
    orr_policy_trainer_destroy(trainer);
}

// Five iterations, and three with two more from the file, by other threads; episodes go on in between.
static void a_training_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    orr_engine *one = engine_of(1), *three = engine_of(3);
    orr_policy_trainer *trainer;
    orr_policy_progress p;
    orr_bytes whole, resumed;
    char path[512], half[512];
    snprintf(path, sizeof path, "%s", scratch_path("whole.policy"));
    snprintf(half, sizeof half, "%s", scratch_path("half.policy"));
    train(trainer_of(one, 8), 5, path);
    assert_ok(orr_file_read(path, &whole, &error));
    train(trainer_of(one, 8), 3, half);
    assert_ok(try_trainer(three, 0, half, &trainer, &error));
    assert_ok(orr_policy_trainer_describe(trainer, &p, &error));
    assert_true(p.steps == INT64_C(3) * 8 * 128 && p.episodes > 0);
    train(trainer, 2, half);
    assert_ok(orr_file_read(half, &resumed, &error));
    assert_true(whole.size == resumed.size && memcmp(whole.data, resumed.data, whole.size) == 0);

    orr_error why = {0};
    assert_true(try_trainer(one, 9, half, &trainer, &why) != ORR_OK);
    assert_non_null(strstr(why.message, "horizon 8"));
    assert_ok(orr_file_write(half, resumed.data, resumed.size - 1, &error));
    assert_true(try_trainer(one, 0, half, &trainer, &why) != ORR_OK);
    assert_non_null(strstr(why.message, "expected finite numbers, as many as"));
    orr_policy *policy; // which is whole
    assert_ok(orr_policy_load(half, &policy, &error));
    assert_ok(orr_policy_save(policy, half, &error));
    assert_true(try_trainer(one, 0, half, &trainer, &why) != ORR_OK);
    assert_non_null(strstr(why.message, "a policy without the state of its training"));
    orr_policy_destroy(policy);
    orr_free(whole.data);
    orr_free(resumed.data);
    orr_engine_destroy(one);
    orr_engine_destroy(three);
}

static void a_policy_that_is_read_acts_as_before(void **state)
{
    (void)state;
    orr_engine *engine = engine_of(2);
    orr_policy_trainer *trainer = trainer_of(engine, 8);
    orr_policy *loaded, *own = orr_policy_trainer_policy(trainer);
    double observations[70 * 4];
    float expected[70], actions[70];
    orr_policy_info info;
    assert_ok(orr_policy_trainer_step(trainer, &error));
    assert_ok(orr_policy_save(own, scratch_path("again.policy"), &error));
    assert_ok(orr_policy_load(scratch_path("again.policy"), &loaded, &error));
    assert_ok(orr_policy_describe(loaded, &info, &error));
    assert_string_equal(info.task, "InvertedPendulum-v5");
    assert_true(info.observation_count == 4 && info.action_count == 1 && info.steps == 128 * 8);
    for (int i = 0; i < 70 * 4; i++) {
        observations[i] = sin(0.7 * i);
    }
    assert_ok(orr_policy_act(own, observations, 70, expected, &error));
    assert_ok(orr_policy_act(loaded, observations, 70, actions, &error));
    assert_memory_equal(actions, expected, sizeof actions);
    orr_policy_destroy(loaded);
    orr_policy_trainer_destroy(trainer);
    orr_engine_destroy(engine);
}

static void assert_broken(orr_bytes bytes, size_t size, const char *expected)
{
    orr_policy *policy;
    orr_error why = {0};
    size_t used;
    assert_true(orr_policy_read("broken.policy", bytes.data, size, &policy, &used, &why) != ORR_OK);
    assert_null(policy);
    if (!strstr(why.message, expected) || !strstr(why.message, "broken.policy")) {
        fail_msg("%s: expected %s", why.message, expected);
    }
}

static void broken_files_are_refused(void **state)
{
    (void)state;
    orr_bytes bytes = saved_after(1, "whole.policy");
    assert_broken(bytes, 7, "ORRPOL02");
    assert_broken(bytes, 30, "header");
    assert_broken(bytes, bytes.size - 1, "not of the size");
    const float nan_value = NAN;
    memcpy(bytes.data + bytes.size - sizeof nan_value, &nan_value, sizeof nan_value);
    assert_broken(bytes, bytes.size, "finite");
    const int32_t wide = 1000;
    memcpy(bytes.data + 8 + 64 + 8, &wide, sizeof wide);
    assert_broken(bytes, bytes.size, "1000");
    const int32_t shape[2] = {16, 0};
    memcpy(bytes.data + 8 + 64 + 8, shape, sizeof shape);
    assert_broken(bytes, bytes.size, "hidden layers");
    bytes.data[0] = 'x';
    assert_broken(bytes, bytes.size, "ORRPOL02");
    orr_free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advantages_stop_at_the_end_of_an_episode),
#ifndef ORR_SANITIZED
        cmocka_unit_test(a_pole_is_balanced_after_seconds),
#endif
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_training_goes_on_to_the_same_bits),
        cmocka_unit_test(a_policy_that_is_read_acts_as_before),
        cmocka_unit_test(broken_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
