// Environments take no memory after they are made, whatever an episode draws.
#include "tests/support/failing_memory.h"
#include "tests/support/support.h"

#include "engine/orrery.h"

#include <stdio.h>

static const char legs[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='5 5 1'/>"
    "<camera pos='0 -1 0.3' xyaxes='1 0 0 0 0.2 1'/><body name='trunk' pos='0 0 0.2'>"
    "<freejoint/><geom name='trunk' type='box' size='0.1 0.1 0.05'/><body name='leg' pos='0.1 0 0'>"
    "<joint name='knee' axis='0 1 0' damping='0.1'/><geom type='capsule' fromto='0 0 0 0.1 0 -0.1' "
    "size='0.02'/>"
    "</body></body></worldbody><actuator><motor joint='knee' ctrlrange='-1 1'/></actuator></mujoco>";
static const char task[] =
    "{\"orrery_task\": 1, \"frame_skip\": 2, \"max_steps\": 3, \"observation\": [{\"of\": \"qpos\"}],"
    " \"reward\": [{\"of\": \"constant\"}], \"start\": {\"qpos_noise\": 0.01}, \"randomise\": ["
    " {\"of\": \"mass\", \"uniform\": [0.8, 1.2]}, {\"of\": \"geom_friction\", \"uniform\": [0.5, 1.5]},"
    " {\"of\": \"geom_size\", \"name\": \"trunk\", \"uniform\": [0.9, 1.1]},"
    " {\"of\": \"dof_armature\", \"change\": \"add\", \"uniform\": [0, 0.1]},"
    " {\"of\": \"dof_damping\", \"uniform\": [0.5, 1.5]}, {\"of\": \"gravity\", \"uniform\": [0.9, 1.1]}]}";

static const char seeing[] =
    "{\"orrery_task\": 1, \"frame_skip\": 2, \"max_steps\": 3, \"observation\": [{\"of\": \"qpos\"}],"
    " \"reward\": [{\"of\": \"constant\"}], \"start\": {\"qpos_noise\": 0.01},"
    " \"pixels\": {\"width\": 8, \"height\": 6}}";

// Allocations in `steps` steps of 20 environments and a reset, on one thread: the one in which they are
// counted.
static int taken_by(const char *task_text, int steps_before, int steps)
{
    enum { COUNT = 20 };
    orr_engine *engine;
    orr_env *env;
    char path[512];
    assert_ok(orr_engine_create(&(orr_engine_desc){.threads = 1, .device = ORR_DEVICE_CPU}, &engine, &error));
    snprintf(path, sizeof path, "%s", written("legs.xml", legs));
    const orr_env_desc desc = {.task = "legs",
                               .task_text = task_text,
                               .model = path,
                               .count = COUNT,
                               .autoreset = ORR_AUTORESET_SAME_STEP};
    assert_ok(orr_env_create(engine, &desc, &env, &error));
    const float actions[COUNT] = {0.5f, -0.5f};
    for (int step = 0; step < steps_before; step++) {
        assert_ok(orr_env_step(env, actions, &error));
    }
    memory_fail_at(1000000);
    for (int step = 0; step < steps; step++) {
        assert_ok(orr_env_step(env, actions, &error)); // every third begins episodes
    }
    assert_ok(orr_env_reset(env, NULL, NULL, &error));
    const int taken = memory_count();
    memory_fail_at(-1);
    orr_env_results r;
    orr_env_info info;
    assert_ok(orr_env_get_results(env, &r, &error));
    assert_ok(orr_env_describe(env, &info, &error));
    assert_true(r.observation[2] != r.observation[info.observation_count + 2]);
    orr_env_destroy(env);
    orr_engine_destroy(engine);
    return taken;
}

static void draws_for_episodes_take_no_memory(void **state)
{
    (void)state;
    assert_int_equal(taken_by(task, 0, 60), 0);
}

static void pictures_take_no_memory(void **state)
{
    (void)state;
    assert_int_equal(taken_by(seeing, 6, 30), 0); // the first pictures make room for what they show
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_for_episodes_take_no_memory),
        cmocka_unit_test(pictures_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
