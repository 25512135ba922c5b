// Tasks that ship (assets/tasks), over scenes: a policy that knows what to do gets a high return, a random one
// a low one. And what environments of scenes have besides: soft bodies, names of layers, mistakes.
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

// Where the joints must be for the tip to be at the target, wrist straight: two angles about the trocar, and a
// depth. The observation has q, speeds, tip and target - tip times 10, and where the joints are sent to.
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

// A sphere on a slide over a soft cube; the task's text without what is in `more`.
static const char press[] =
    "<mujoco><option timestep='0.004'/><worldbody><geom name='floor' type='plane' size='1 1 0.1'/>"
    "<body name='press' pos='0 0 0.5'><joint name='down' type='slide' axis='0 0 1' damping='5'/>"
    "<geom size='0.05' mass='0.2'/></body>"
    "<flexcomp name='cube' type='grid' count='3 3 3' spacing='0.05 0.05 0.05' pos='0 0 0.06' dim='3' "
    "radius='0.001' mass='0.1'><elasticity young='2e4' poisson='0.3'/></flexcomp></worldbody>"
    "<actuator><motor joint='down' ctrlrange='-5 5'/></actuator></mujoco>";
#define SOFT_TASK(observation, start)                                                                        \
    "{\"orrery_task\": 1, \"frame_skip\": 5, \"max_steps\": 40, \"start\": {" start "},"                     \
    " \"observation\": [" observation "], \"reward\": [{\"of\": \"constant\"}]}"

static orr_result make_soft(orr_engine *on, const char *text, int count, orr_env **env, orr_error *why)
{
    char path[512];
    snprintf(path, sizeof path, "%s", written("press.xml", press));
    const orr_env_desc desc = {.task = "soft", .task_text = text, .model = path, .count = count, .seed = 5};
    return orr_env_create(on, &desc, env, why);
}

static void starts_move_soft_bodies_and_terms_see_them(void **state)
{
    (void)state;
    enum { NUMBERS = 7 };
    static const char text[] = SOFT_TASK(
        "{\"of\": \"soft_com\", \"name\": \"cube\"}, {\"of\": \"soft_velocity\"}, {\"of\": \"qpos\"}",
        "\"draw\": [{\"soft\": \"cube\", \"axes\": \"xz\", \"low\": [0.1, 0.2], \"high\": [0.2, 0.3]}]");
    orr_env *env;
    orr_env_results r;
    orr_scene *scene;
    assert_ok(make_soft(engine, text, 2, &env, &error));
    assert_ok(orr_env_get_results(env, &r, &error));
    const double *a = r.observation, *b = r.observation + NUMBERS;
    assert_true(a[0] >= 0.1 && a[0] < 0.2 && a[2] >= 0.26 && a[2] < 0.36 && fabs(a[1]) < 1e-6 &&
                a[0] != b[0]);
    assert_true(a[3] == 0.0 && a[5] == 0.0);
    const float none[2] = {0};
    const double high = a[2];
    assert_ok(orr_env_step(env, none, &error));
    const double fallen = a[2] - high, seconds = 0.02; // freely, so far
    assert_true(fabs(fallen + 0.5 * 9.81 * seconds * seconds) < 1e-3 && fabs(a[5] + 9.81 * seconds) < 1e-2);
    for (int step = 0; step < 38; step++) { // onto the floor
        assert_ok(orr_env_step(env, none, &error));
    }
    assert_true(a[2] > 0.03 && a[2] < 0.07 && a[0] > 0.05);
    assert_ok(orr_env_step(env, none, &error));
    assert_true(r.truncated[0]);
    assert_ok(orr_env_step(env, none, &error)); // begins the next episode
    assert_true(a[2] >= 0.26 && a[5] == 0.0);
    assert_true(orr_env_world(env, &scene) != NULL && scene != NULL && orr_scene_layer_count(scene) == 2);
    orr_env_destroy(env);
}

static void play_soft(int count, int threads, double *observations)
{
    static const char text[] = SOFT_TASK(
        "{\"of\": \"soft_com\"}, {\"of\": \"soft_velocity\"}, {\"of\": \"qpos\"}", "\"qpos_noise\": 0.01");
    orr_engine *own;
    orr_env *env;
    orr_env_results r;
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.threads = threads, .device = ORR_DEVICE_CPU}, &own, &error));
    assert_ok(make_soft(own, text, count, &env, &error));
    assert_ok(orr_env_get_results(env, &r, &error));
    for (int step = 0; step < 30; step++) {
        const float press_it[5] = {-5.0f, -4.0f, -3.0f, -2.0f, -1.0f};
        assert_ok(orr_env_step(env, press_it, &error));
        memcpy(observations + (ptrdiff_t)7 * step, r.observation + 7, 7 * sizeof *observations);
    }
    orr_env_destroy(env);
    orr_engine_destroy(own);
}

static void soft_episodes_do_not_depend_on_threads_or_number(void **state)
{
    (void)state;
    double one[210], many[210], more[210];
    play_soft(3, 1, one);
    play_soft(3, 3, many);
    play_soft(5, 2, more);
    assert_memory_equal(one, many, sizeof one);
    assert_memory_equal(one, more, sizeof one);
    assert_true(one[209] < -0.3); // the press is down, on the cube
}

// A robot beside another, by names with and without their layers'.
static void names_of_scenes_have_their_layers(void **state)
{
    (void)state;
    static const char robot[] =
        "<mujoco><worldbody><body name='arm'><joint name='hinge' axis='0 0 1'/><geom size='0.1'/></body>"
        "</worldbody><actuator><motor joint='hinge'/></actuator></mujoco>";
    static const char text[] =
        "{\"orrery_task\": 1, \"reward\": [{\"of\": \"constant\"}], \"observation\": ["
        "{\"of\": \"xpos\", \"name\": \"right/arm\"}, {\"of\": \"xpos\", \"name\": \"arm\"}]}";
    char scene[600];
    snprintf(scene, sizeof scene,
             "{\"orrery\": 1, \"layers\": [{\"file\": \"%s\", \"name\": \"left\"},"
             " {\"file\": \"%s\", \"name\": \"right\", \"position\": [3, 0, 0]}]}",
             "arm.xml", "arm.xml");
    orr_env *env;
    orr_env_results r;
    orr_env_info info;
    (void)written("arm.xml", robot);
    char path[512];
    snprintf(path, sizeof path, "%s", written("arms.json", scene));
    const orr_env_desc desc = {.task = "arms", .task_text = text, .model = path, .count = 2};
    assert_ok(orr_env_create(engine, &desc, &env, &error));
    assert_ok(orr_env_get_results(env, &r, &error));
    assert_ok(orr_env_describe(env, &info, &error));
    assert_true(info.action_count == 2 && info.qpos_count == 2);
    assert_true(r.observation[0] == 3.0 && r.observation[3] == 0.0);
    orr_env_destroy(env);
}

static void mistakes_in_scenes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } wrong[] = {
        {SOFT_TASK("{\"of\": \"soft_com\", \"name\": \"ball\"}", ""),
         "name: expected names of what soft_com"},
        {SOFT_TASK("{\"of\": \"soft_com\", \"axis\": 3}", ""), "axis: expected a whole number, 0 to 2"},
        {SOFT_TASK("{\"of\": \"soft_com\"}", "\"draw\": [{\"soft\": \"ball\", \"low\": [0, 0, 0]}]"),
         "soft: expected the name of a soft body"},
        {SOFT_TASK("{\"of\": \"soft_com\"}", "\"draw\": [{\"soft\": \"cube\", \"axes\": \"w\"}]"),
         "axes: expected some of x, y, z"},
    };
    orr_env *env;
    orr_error why = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_not_equal(make_soft(engine, wrong[i].text, 1, &env, &why), ORR_OK);
        if (!strstr(why.message, wrong[i].expected)) {
            fail_msg("%zu: %s (expected '%s')", i, why.message, wrong[i].expected);
        }
    }
    char path[512];
    (void)written("press.xml", press);
    snprintf(path, sizeof path, "%s",
             written("scales.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"press.xml\"},"
                                    " {\"file\": \"press.xml\", \"scale\": 2}]}"));
    const orr_env_desc desc = {.task = "Ant-v5", .model = path, .count = 1};
    assert_int_not_equal(orr_env_create(engine, &desc, &env, &why), ORR_OK);
    assert_non_null(strstr(why.message, "2 groups of robots that touch each other: expected one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trot_crosses_uneven_ground),
        cmocka_unit_test(a_gripper_lifts_a_soft_block),
        cmocka_unit_test(an_instrument_reaches_and_follows_a_target),
        cmocka_unit_test(the_shaft_stays_in_its_trocar),
        cmocka_unit_test(starts_move_soft_bodies_and_terms_see_them),
        cmocka_unit_test(soft_episodes_do_not_depend_on_threads_or_number),
        cmocka_unit_test(names_of_scenes_have_their_layers),
        cmocka_unit_test(mistakes_in_scenes_are_named),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
