// Environments of scenes: soft bodies, names of layers, mistakes.
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

// ---- pads

// A cube of jelly that falls on two pads, beside a ball that a motor pushes onto the second one.
static const char padded[] =
    "<mujoco><option timestep='0.004'/><worldbody>"
    "<geom name='table' type='box' size='.03 .02 .01' contype='0' conaffinity='0'/>"
    "<geom type='box' size='.06 .02 .0085' pos='.03 0 0'/>"
    "<geom name='side' type='box' size='.03 .02 .01' pos='.06 0 0' contype='0' conaffinity='0'/>"
    "<body name='ball' pos='.075 0 .021'><joint name='down' type='slide' axis='0 0 1'/>"
    "<geom name='tip' size='.012' mass='.05'/></body>"
    "<flexcomp name='cube' type='grid' dim='3' count='5 5 5' spacing='.01 .01 .01' radius='1e-9' mass='.1'"
    " pos='.02 0 .0305'><elasticity young='2e4' poisson='.3' damping='.005'/></flexcomp></worldbody>"
    "<actuator><motor joint='down' ctrlrange='-5 5'/></actuator></mujoco>";

enum { PAD_ROWS = 6, PAD_COLUMNS = 9, PAD_TAXELS = PAD_ROWS * PAD_COLUMNS, PAD_SEEN = 8 * PAD_TAXELS };

static orr_env *make_padded(orr_engine *on, int count, uint32_t seed, bool double_precision)
{
    static const char text[] =
        "{\"orrery_task\": 1, \"frame_skip\": 3, \"start\": {\"draw\": [{\"soft\": \"cube\", "
        "\"axes\": \"xy\", \"low\": [-0.01, -0.005], \"high\": [0.01, 0.005]}]}, \"pads\": ["
        "{\"name\": \"a\", \"geom\": \"table\", \"rows\": 6, \"columns\": 9, \"stiffness\": 300},"
        "{\"name\": \"b\", \"geom\": \"side\", \"rows\": 6, \"columns\": 9, \"stiffness\": 300}],"
        " \"observation\": [{\"of\": \"tactile\"}, {\"of\": \"tactile_height\"}],"
        " \"reward\": [{\"of\": \"constant\"}]}";
    char path[512];
    orr_env *env;
    snprintf(path, sizeof path, "%s", written("padded.xml", padded));
    const orr_env_desc desc = {.task = "soft",
                               .task_text = text,
                               .model = path,
                               .count = count,
                               .seed = seed,
                               .double_precision = double_precision};
    assert_ok(orr_env_create(on, &desc, &env, &error));
    return env;
}

// What a task's pads have seen is what the same pads of the environments' world feel, to the bit.
static int same_as_in_the_world(orr_env *env, int count)
{
    static const char *const geoms[] = {"table", "side"};
    static float forces[5 * PAD_TAXELS * 3], heights[5 * PAD_TAXELS];
    orr_scene *scene;
    orr_env_results r;
    const orr_world *world = orr_env_world(env, &scene);
    const orr_layer robot = orr_scene_layer(scene, 0);
    int felt = 0;
    assert_ok(orr_env_get_results(env, &r, &error));
    for (int pad = 0; pad < 2; pad++) {
        const orr_tactile_desc desc = {
            .geom = orr_scene_robot_find(scene, robot, ORR_ROBOT_OBJECT_GEOM, geoms[pad]),
            .rows = PAD_ROWS,
            .columns = PAD_COLUMNS,
            .stiffness = 300.0};
        assert_ok(orr_world_get_tactile(world, robot, &desc, NULL, forces, heights, &error));
        for (int i = 0; i < count; i++) {
            const double *seen = r.observation + (ptrdiff_t)i * PAD_SEEN;
            for (int k = 0; k < PAD_TAXELS * 3; k++) {
                assert_true(seen[pad * PAD_TAXELS * 3 + k] == (double)forces[i * PAD_TAXELS * 3 + k]);
                felt += seen[pad * PAD_TAXELS * 3 + k] > 0.0;
            }
            for (int k = 0; k < PAD_TAXELS; k++) {
                assert_true(seen[(6 + pad) * PAD_TAXELS + k] == (double)heights[i * PAD_TAXELS + k]);
            }
        }
    }
    return felt;
}

static void pads_feel_soft_bodies_as_those_of_the_world(void **state)
{
    (void)state;
    const float push[5] = {-1.0f, -2.0f, -0.5f, -3.0f, -4.0f};
    for (int precise = 0; precise < 2; precise++) {
        orr_env *env = make_padded(engine, 5, 5, precise);
        int felt = same_as_in_the_world(env, 5);
        for (int step = 0; step < 12; step++) {
            assert_ok(orr_env_step(env, push, &error));
            felt += same_as_in_the_world(env, 5);
        }
        print_message("%d numbers above 0\n", felt);
        assert_true(felt > 12 * 5 * 20);
        orr_env_destroy(env);
    }
}

static void play_padded(int count, int at, int threads, bool precise, double (*seen)[PAD_SEEN])
{
    orr_engine *own;
    orr_env_results r;
    float push[5];
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.threads = threads, .device = ORR_DEVICE_CPU}, &own, &error));
    orr_env *env = make_padded(own, count, 7 - (uint32_t)at, precise); // the seed of environment `at` is 7
    assert_ok(orr_env_get_results(env, &r, &error));
    for (int i = 0; i < 5; i++) {
        push[i] = -2.0f - (float)(i - at) * 0.5f;
    }
    for (int step = 0; step < 8; step++) {
        assert_ok(orr_env_step(env, push, &error));
        memcpy(seen[step], r.observation + (ptrdiff_t)at * PAD_SEEN, sizeof seen[step]);
    }
    orr_env_destroy(env);
    orr_engine_destroy(own);
}

// In single precision one robot alone is rounded otherwise than those of lanes, with or without pads.
static void pads_do_not_depend_on_threads_or_number(void **state)
{
    (void)state;
    static double alone[8][PAD_SEEN], many[8][PAD_SEEN], more[8][PAD_SEEN];
    for (int precise = 0; precise < 2; precise++) {
        play_padded(5, 2, 3, precise, many);
        play_padded(3, 1, 2, precise, more);
        play_padded(5, 2, 1, precise, alone);
        assert_memory_equal(alone, many, sizeof alone);
        assert_memory_equal(alone, more, sizeof alone);
    }
    play_padded(1, 0, 1, true, alone);
    assert_memory_equal(alone, many, sizeof alone);
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
        cmocka_unit_test(starts_move_soft_bodies_and_terms_see_them),
        cmocka_unit_test(soft_episodes_do_not_depend_on_threads_or_number),
        cmocka_unit_test(pads_feel_soft_bodies_as_those_of_the_world),
        cmocka_unit_test(pads_do_not_depend_on_threads_or_number),
        cmocka_unit_test(names_of_scenes_have_their_layers),
        cmocka_unit_test(mistakes_in_scenes_are_named),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
