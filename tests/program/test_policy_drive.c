// Policies that drive a robot in a scene (orrery view and render, --policy and --ctrl): they do there what
// they do in the environments that they learn in.
#include "engine/core/file.h"
#include "samples/orrery/robot_drive.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 40, SKIP = 5 };

// An arm, and a ball or a soft cube that it observes.
static const char arm[] =
    "<mujoco><option timestep='0.004'/><worldbody><camera name='side' pos='0 -1.5 1' xyaxes='1 0 0 0 0 1'/>"
    "<body name='arm' pos='0 0 1'>"
    "<joint name='turn' axis='0 1 0' damping='.05'/>"
    "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.03' mass='.3'/></body></worldbody>"
    "<actuator><motor joint='turn' gear='2' ctrlrange='-1 1' ctrllimited='true'/></actuator></mujoco>";
static const char ball[] =
    "<mujoco><option timestep='0.004'/><worldbody><geom name='floor' type='plane' size='1 1 .1'/>"
    "<body name='ball' pos='.3 0 1.3'><freejoint/><geom size='.05' mass='.1'/></body></worldbody></mujoco>";
static const char scene_text[] = "{\"orrery\": 1, \"layers\": [{\"type\": \"robot\", \"file\": \"arm.xml\"}, "
                                 "{\"type\": \"robot\", \"file\": \"ball.xml\"}]}";
static const char press[] =
    "<mujoco><option timestep='0.004'/><worldbody><geom name='floor' type='plane' size='1 1 0.1'/>"
    "<body name='press' pos='0 0 0.3'><joint name='down' type='slide' axis='0 0 1' damping='5'/>"
    "<geom size='0.05' mass='0.2'/></body>"
    "<flexcomp name='cube' type='grid' count='3 3 3' spacing='0.05 0.05 0.05' pos='0 0 0.06' dim='3' "
    "radius='0.001' mass='0.1'><elasticity young='2e4' poisson='0.3'/></flexcomp></worldbody>"
    "<actuator><motor joint='down' ctrllimited='true' ctrlrange='-5 5'/></actuator></mujoco>";
#define TASK(model, observation)                                                                             \
    "{\"orrery_task\": 1, " model "\"frame_skip\": 5, \"up_to_date\": true, \"max_steps\": 100, "            \
    "\"observation\": [" observation "], \"reward\": [{\"of\": \"constant\"}]}"
#define BALL "{\"of\": \"qpos\"}, {\"of\": \"qvel\"}, {\"of\": \"xpos\", \"name\": \"ball\", \"weight\": 3}"

#define ANGLE "{\"of\": \"qpos\", \"name\": \"turn\"}"

static orr_error why; // of what is refused

// A policy as it is before it learns: what it does depends on all that it observes.
static void make_policy(const char *task, const char *model, const char *path)
{
    orr_policy_trainer *trainer;
    assert_ok(orr_file_write(scratch_path("play.json"), task, strlen(task), &error));
    char file[512];
    snprintf(file, sizeof file, "%s", scratch_path("play.json"));
    const orr_policy_train_desc desc = {
        .task = file, .model = model, .count = 64, .horizon = 8, .seed = 3, .width = 32};
    assert_ok(orr_policy_trainer_create(engine, &desc, &trainer, &error));
    assert_ok(orr_policy_trainer_step(trainer, &error)); // it learns how large observations are
    assert_ok(orr_policy_save(orr_policy_trainer_policy(trainer), path, &error));
    orr_policy_trainer_destroy(trainer);
}

// The robot's qpos after each step of an environment in which the policy acts.
static void play(const char *task, const char *model, const char *path, double *qpos)
{
    orr_policy *policy;
    orr_env *env;
    orr_env_results results;
    const orr_env_desc desc = {.task = "play", .task_text = task, .model = model, .count = 1};
    double q[128], v[128];
    float action = 0.0f;
    assert_ok(orr_policy_load(path, &policy, &error));
    assert_ok(orr_env_create(engine, &desc, &env, &error));
    assert_ok(orr_env_get_results(env, &results, &error));
    for (int i = 0; i < STEPS; i++) {
        assert_ok(orr_policy_act(policy, results.observation, 1, &action, &error));
        assert_ok(orr_env_step(env, &action, &error));
        assert_ok(orr_env_get_state(env, 0, q, v, &error));
        qpos[i] = q[0];
    }
    orr_env_destroy(env);
    orr_policy_destroy(policy);
}

// The same as the policy drives the scene of a file.
static void drive(const char *scene_path, const char *path, double *qpos)
{
    orr_scene *scene;
    orr_world *world;
    robot_drive d;
    assert_ok(orr_scene_load(engine, scene_path, &scene, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(robot_drive_open(&(robot_controls){.ctrl = path}, scene, scene_path, 0, &d, &error));
    for (int i = 0; i < STEPS; i++) {
        double q[128];
        assert_ok(robot_drive_advance(&d, world, 0.004 * SKIP * (i + 1), &error));
        assert_ok(orr_world_get_robot(world, 0, d.robot, ORR_ROBOT_QPOS, q, &error));
        qpos[i] = q[0];
    }
    robot_drive_close(&d);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

static void compare(const char *task, const char *model, const char *scene_path)
{
    char path[512];
    double alone[STEPS], there[STEPS], far = 0.0;
    snprintf(path, sizeof path, "%s", scratch_path("play.policy"));
    make_policy(task, model, path);
    play(task, model, path, alone);
    drive(scene_path, path, there);
    for (int i = 0; i < STEPS; i++) {
        far = fmax(far, fabs(alone[i] - alone[0]));
        if (!(fabs(alone[i] - there[i]) < 1e-4)) { // rounding of f32, which contacts enlarge
            fail_msg("step %d: %.7g in the scene, %.7g in the environment", i, there[i], alone[i]);
        }
    }
    assert_true(far > 0.01);
}

static void write_scene(char arm_path[512], char scene_path[512])
{
    written("ball.xml", ball);
    snprintf(arm_path, 512, "%s", written("arm.xml", arm));
    snprintf(scene_path, 512, "%s", written("arm_and_ball.json", scene_text));
}

static void a_task_of_a_scene_sees_all_of_it(void **state)
{
    (void)state;
    char robot[512], scene[512];
    write_scene(robot, scene);
    compare(TASK("\"model\": \"arm_and_ball.json\", ", BALL), scene, scene);
    compare(TASK("", BALL), scene, scene); // the scene was the caller's
}

static void a_task_of_the_robot_sees_it_in_a_scene(void **state)
{
    (void)state;
    char robot[512], scene[512];
    write_scene(robot, scene);
    compare(TASK("", "{\"of\": \"qpos\"}, {\"of\": \"qvel\"}"), robot, robot);
    char path[512];
    double there[STEPS];
    snprintf(path, sizeof path, "%s", scratch_path("play.policy"));
    drive(scene, path, there); // where the ball falls on it
}

// Also where the robot alone has all that the task names: contacts would be missing.
static void a_task_of_a_scene_is_not_of_the_robot_alone(void **state)
{
    (void)state;
    char robot[512], scene_path[512], path[512];
    write_scene(robot, scene_path);
    snprintf(path, sizeof path, "%s", scratch_path("play.policy"));
    for (int of_scene = 0; of_scene < 2; of_scene++) {
        orr_scene *scene;
        robot_drive d;
        make_policy(of_scene ? TASK("\"model\": \"arm_and_ball.json\", ", ANGLE) : TASK("", ANGLE),
                    scene_path, path);
        assert_ok(orr_scene_load(engine, scene_path, &scene, &error));
        assert_ok(robot_drive_open(&(robot_controls){.policy = path}, scene, scene_path, 0, &d, &error));
        assert_int_equal(d.policy.own != NULL, of_scene);
        robot_drive_close(&d);
        orr_scene_destroy(scene);
    }
}

static void a_task_sees_soft_bodies(void **state)
{
    (void)state;
    char robot[512];
    snprintf(robot, sizeof robot, "%s", written("press.xml", press));
    compare(
        TASK("", "{\"of\": \"soft_com\", \"weight\": 10}, {\"of\": \"soft_velocity\"}, {\"of\": \"qvel\"}"),
        robot, robot);
}

// The arm alone, and with the ball, which is seen too.
static void a_task_sees_pixels(void **state)
{
    (void)state;
    char robot[512], scene[512];
    write_scene(robot, scene);
    compare(TASK("\"pixels\": {\"width\": 8, \"height\": 8}, ", ANGLE), robot, robot);
    compare(TASK("\"model\": \"arm_and_ball.json\", \"pixels\": {\"cameras\": [\"side\"]}, ", ANGLE), scene,
            scene);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    char robot[512], scene_path[512], path[512];
    orr_scene *scene;
    robot_drive d;
    write_scene(robot, scene_path);
    snprintf(path, sizeof path, "%s", scratch_path("play.policy"));
    make_policy(TASK("\"model\": \"arm_and_ball.json\", ", BALL), scene_path, path);
    assert_ok(orr_scene_load(engine, robot, &scene, &error));
    assert_int_not_equal(robot_drive_open(&(robot_controls){.policy = path}, scene, robot, 0, &d, &why),
                         ORR_OK);
    assert_non_null(strstr(why.message, "names of what xpos has"));
    orr_scene_destroy(scene);
    make_policy(TASK("", "{\"of\": \"qpos\"}"), scene_path, path); // 8 numbers
    assert_ok(orr_scene_load(engine, robot, &scene, &error));
    assert_int_not_equal(robot_drive_open(&(robot_controls){.policy = path}, scene, robot, 0, &d, &why),
                         ORR_OK);
    assert_non_null(strstr(why.message, "a policy of 8 observations and 1 actions: expected 1 and 1"));
    const robot_controls both = {.ctrl = "sine", .policy = path};
    assert_int_not_equal(robot_drive_open(&both, scene, robot, 0, &d, &why), ORR_OK);
    assert_non_null(strstr(why.message, "--ctrl and --policy: expected one of them"));
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_of_a_scene_sees_all_of_it),
        cmocka_unit_test(a_task_of_the_robot_sees_it_in_a_scene),
        cmocka_unit_test(a_task_of_a_scene_is_not_of_the_robot_alone),
        cmocka_unit_test(a_task_sees_soft_bodies),
        cmocka_unit_test(a_task_sees_pixels),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
