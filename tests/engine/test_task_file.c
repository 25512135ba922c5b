// Task files: their terms against our own tasks and dm_control's tolerance, and mistakes in them.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/env/task_file.h"
#include "physics/load/load.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char cart[] =
    "<mujoco><option timestep='0.02'/><worldbody><body name='cart'>"
    "<joint name='slider' type='slide' axis='1 0 0' limited='true' range='-1 1'/>"
    "<geom type='capsule' size='0.1 0.1' euler='0 90 0'/><body name='pole'><joint name='hinge' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 0.6' size='0.05'/><site name='tip' pos='0 0 0.6'/></body></body>"
    "</worldbody>"
    "<actuator><motor joint='slider' gear='100' ctrlrange='-3 3' ctrllimited='true'/></actuator>"
    "<sensor><jointpos joint='hinge' name='angle'/></sensor>"
    "<keyframe><key name='leaning' qpos='0.3 0.1'/></keyframe></mujoco>";

static orr_env *make(const char *task, const char *text, int count)
{
    orr_env *env;
    char path[256];
    snprintf(path, sizeof path, "%s", written("cart.xml", cart));
    const orr_env_desc desc = {.task = task, .task_text = text, .model = path, .count = count, .seed = 3};
    assert_ok(orr_env_create(engine, &desc, &env, &error));
    return env;
}

static orr_env_results results_of(const orr_env *env)
{
    orr_env_results results;
    assert_ok(orr_env_get_results(env, &results, &error));
    return results;
}

// InvertedPendulum-v5 as a file: the same starts, observations, rewards and ends, to the bit.
static void a_file_is_the_task_that_it_describes(void **state)
{
    (void)state;
    enum { COUNT = 40, STEPS = 60 };
    static const char text[] =
        "{\"orrery_task\": 1, \"frame_skip\": 2, \"max_steps\": 1000,"
        " \"start\": {\"qpos_noise\": 0.01, \"qvel_noise\": 0.01},"
        " \"observation\": [{\"of\": \"qpos\"}, {\"of\": \"qvel\"}],"
        " \"reward\": [{\"of\": \"constant\", \"unless_terminated\": true}],"
        " \"terminate\": [{\"of\": \"qpos\", \"name\": \"hinge\", \"below\": -0.2, \"above\": 0.2}]}";
    orr_env *ours = make("InvertedPendulum-v5", NULL, COUNT), *files = make("pendulum", text, COUNT);
    const orr_env_results a = results_of(ours), b = results_of(files);
    int ends = 0;
    for (int step = 0; step < STEPS; step++) {
        float actions[COUNT];
        for (int i = 0; i < COUNT; i++) {
            actions[i] = (float)sin(step + 0.1 * i);
            ends += a.terminated[i];
        }
        assert_memory_equal(a.observation, b.observation, 4 * COUNT * sizeof(double));
        assert_memory_equal(a.terminated, b.terminated, COUNT);
        for (int i = 0; i < COUNT; i++) {
            assert_true(a.reward[i] == b.reward[i]);
        }
        assert_ok(orr_env_step(ours, actions, &error));
        assert_ok(orr_env_step(files, actions, &error));
    }
    assert_true(ends > COUNT / 2);
    orr_env_destroy(ours);
    orr_env_destroy(files);
}

// Every key of a term, against the same numbers by hand.
static void terms_are_what_they_say(void **state)
{
    (void)state;
    static const char text[] =
        "{\"orrery_task\": 1, \"start\": {\"keyframe\": \"leaning\","
        " \"draw\": [{\"joint\": \"slider\", \"low\": 0.5, \"high\": 0.5}]},"
        " \"observation\": ["
        " {\"of\": \"qpos\", \"function\": \"sin\"}, {\"of\": \"qpos\", \"from\": 1, \"function\": \"cos\"},"
        " {\"of\": \"site_xpos\", \"name\": \"tip\", \"minus\": {\"of\": \"xpos\", \"name\": \"cart\"}},"
        " {\"of\": \"xpos\", \"axis\": \"x\", \"count\": 1}, {\"of\": \"sensordata\", \"name\": \"angle\"},"
        " {\"of\": \"site_xpos\", \"function\": \"norm\"}, {\"of\": \"qpos\", \"clip\": 0.2}],"
        " \"reward\": ["
        " {\"of\": \"qpos\", \"function\": \"squares\", \"weight\": 2, \"offset\": 1,"
        "  \"times\": [{\"of\": \"constant\", \"weight\": 3}]},"
        " {\"of\": \"action\", \"function\": \"abs\", \"at_most\": 0.25, \"weight\": -100},"
        " {\"of\": \"qpos\", \"name\": \"slider\", \"rate\": true, \"weight\": 1000}]}";
    orr_env *env = make("terms", text, 1);
    const orr_env_results r = results_of(env);
    const double x = 0.5, a = 0.1, tip[3] = {0.6 * sin(a), 0.0, 0.6 * cos(a)};
    const double expected[] = {sin(x), sin(a), cos(a),
                               tip[0], tip[1], tip[2],
                               x,      a,      sqrt((x + tip[0]) * (x + tip[0]) + tip[2] * tip[2]),
                               0.2,    a};
    orr_env_info info;
    assert_ok(orr_env_describe(env, &info, &error));
    assert_int_equal(info.observation_count, sizeof expected / sizeof expected[0]);
    assert_string_equal(info.task, "terms");
    assert_string_equal(info.task_text, text);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        if (!(fabs(r.observation[i] - expected[i]) < 1e-6)) { // the physics is f32
            fail_msg("number %zu: %g, expected %g", i, r.observation[i], expected[i]);
        }
    }
    double q[2], v[2];
    const float action = 0.5f;
    assert_ok(orr_env_step(env, &action, &error));
    assert_ok(orr_env_get_state(env, 0, q, v, &error));
    double reward = 3.0 * (2.0 * (q[0] * q[0] + q[1] * q[1]) + 1.0) - 25.0 + 1000.0 * (q[0] - x) / 0.02;
    assert_true(fabs(r.reward[0] - reward) < 1e-2); // of a rate of 1e3 /s, in f32
    orr_env_destroy(env);
}

// dm_control 1.0.50, dm_control.utils.rewards.tolerance(x, bounds=(-0.5, 1), margin=2, value_at_margin=0.1).
static void tolerance_is_dm_controls(void **state)
{
    (void)state;
    static const double at[] = {0.3, 1.7, -2.5, 4.0};
    static const double golden[][4] = {{1.0, 0.7542233958475708, 0.1, 0.005623413251903492},
                                       {1.0, 0.624677982518841, 0.1, 0.02244218066901163},
                                       {1.0, 0.4756242568370988, 0.1, 0.047058823529411764},
                                       {1.0, 0.24096385542168672, 0.1, 0.06896551724137931},
                                       {1.0, 0.8207547014826473, 0.1, 0.0},
                                       {1.0, 0.685, 0.1, 0.0},
                                       {1.0, 0.88975, 0.1, 0.0},
                                       {1.0, 0.6836141889652025, 0.1, 0.01694853874296587}};
    for (int kind = 0; kind < 8; kind++) {
        const env_tolerance t = {-0.5, 1.0, 2.0, 0.1, (env_sigmoid)kind};
        for (int i = 0; i < 4; i++) {
            if (!(fabs(env_tolerance_of(&t, at[i]) - golden[kind][i]) < 1e-14)) {
                fail_msg("sigmoid %d at %g: %.17g", kind, at[i], env_tolerance_of(&t, at[i]));
            }
        }
    }
}

static void mistakes_are_named(void **state)
{
    (void)state;
#define TASK(observation, reward, more)                                                                      \
    "{\"orrery_task\": 1, \"observation\": [" observation "], \"reward\": [" reward "]" more "}"
#define QPOS "{\"of\": \"qpos\"}"
    static const struct {
        const char *text, *expected;
    } wrong[] = {
        {"{\"orrery_task\": 2}", "orrery_task: expected a whole number of the format, 1 to 1"},
        {"{\"orrery_task\": 1}", "expected what is observed"},
        {TASK("", QPOS, ""), "observation: expected at least one term"},
        {TASK("{\"of\": \"mass\"}", QPOS, ""), "observation[0].of: expected a quantity"},
        {TASK("{\"name\": \"hinge\"}", QPOS, ""), "observation[0].of: expected a quantity"},
        {TASK("{\"of\": \"action\"}", QPOS, ""), "observation[0].of: expected no action here"},
        {TASK("{\"of\": \"geom_xpos\", \"axis\": \"w\"}", QPOS, ""), "observation[0].axis: expected none"},
        {TASK("{\"of\": \"qpos\", \"axis\": 0}", QPOS, ""), "observation[0].axis: expected none of qpos"},
        {TASK("{\"of\": \"qpos\", \"name\": \"knee\"}", QPOS, ""), "name: expected names of what qpos has"},
        {TASK("{\"of\": \"qpos\", \"name\": [\"hinge\", \"hinge\"]}", QPOS, ""),
         "name: expected each name once"},
        {TASK("{\"of\": \"qpos\", \"from\": 2}", QPOS, ""), "from: expected a whole number, 0 to 1"},
        {TASK("{\"of\": \"qpos\", \"from\": 1, \"count\": 2}", QPOS, ""),
         "count: expected a whole number, 1 to 1"},
        {TASK("{\"of\": \"qpos\", \"weight\": 2}", QPOS, ""),
         "observation[0].weight: expected one of the keys"},
        {TASK("{\"of\": \"qpos\", \"minus\": {\"of\": \"xpos\"}}", QPOS, ""), "minus: expected 2 numbers"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"function\": \"log\"}", ""), "function: expected one of each, sin"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"rate\": true, \"offset\": 1}", ""), "rate: expected no tolerance"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"tolerance\": {\"low\": 1, \"high\": 0}}", ""),
         "low: expected no more"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"tolerance\": {\"value_at_margin\": 0}}", ""),
         "value_at_margin: expected"},
        {TASK(QPOS, QPOS, ", \"terminate\": [" QPOS "]"), "terminate[0]: expected below or above"},
        {TASK(QPOS, QPOS, ", \"start\": {\"keyframe\": \"none\"}"), "start.keyframe: expected the name"},
        {TASK(QPOS, QPOS, ", \"start\": {\"draw\": [{\"joint\": \"none\"}]}"), "joint: expected a hinge"},
    };
    char path[256];
    snprintf(path, sizeof path, "%s", written("cart.xml", cart));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        orr_env *env;
        orr_error why = {0};
        const orr_env_desc desc = {.task = "t.json", .task_text = wrong[i].text, .model = path, .count = 1};
        assert_int_not_equal(orr_env_create(engine, &desc, &env, &why), ORR_OK);
        if (strncmp(why.message, "t.json: ", 8) != 0 || !strstr(why.message, wrong[i].expected)) {
            fail_msg("%zu: %s (expected '%s')", i, why.message, wrong[i].expected);
        }
    }
    orr_env *env;
    orr_error why = {0};
    const orr_env_desc absent = {.task = "/absent.json", .model = path, .count = 1};
    assert_int_not_equal(orr_env_create(engine, &absent, &env, &why), ORR_OK);
    assert_non_null(strstr(why.message, "/absent.json"));
    const orr_env_desc without = {.task = "t", .task_text = TASK(QPOS, QPOS, ""), .count = 1};
    assert_int_not_equal(orr_env_create(engine, &without, &env, &why), ORR_OK);
    assert_non_null(strstr(why.message, "expected a robot's file"));
}

// The example of the page is a task file, and page and schema name every key that the reader takes.
static void the_documentation_is_true(void **state)
{
    (void)state;
    orr_bytes page, schema;
    env_task_file *file;
    assert_ok(orr_file_read(source_path("docs/task-file.md"), &page, &error));
    assert_ok(orr_file_read(source_path("docs/task.schema.json"), &schema, &error));
    static const char *const keys[] = {"orrery_task",
                                       "name",
                                       "model",
                                       "frame_skip",
                                       "max_steps",
                                       "observation",
                                       "reward",
                                       "terminate",
                                       "start",
                                       "keyframe",
                                       "qpos_noise",
                                       "qvel_noise",
                                       "draw",
                                       "joint",
                                       "low",
                                       "high",
                                       "normal_velocity",
                                       "of",
                                       "axis",
                                       "from",
                                       "count",
                                       "minus",
                                       "clip",
                                       "function",
                                       "weight",
                                       "offset",
                                       "at_most",
                                       "rate",
                                       "times",
                                       "tolerance",
                                       "margin",
                                       "value_at_margin",
                                       "sigmoid",
                                       "below",
                                       "above",
                                       "gaussian",
                                       "cfrc_ext",
                                       "subtree_com",
                                       "unless_terminated"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char quoted[32];
        snprintf(quoted, sizeof quoted, "\"%s\"", keys[i]);
        if (!strstr((const char *)schema.data, quoted) || !strstr((const char *)page.data, keys[i])) {
            fail_msg("docs/task.schema.json and docs/task-file.md do not both describe %s", keys[i]);
        }
    }
    char *start = strstr((char *)page.data, "```json\n");
    assert_non_null(start);
    *strstr(start + 8, "```") = 0;
    assert_ok(env_task_file_read(start + 8, "docs/task-file.md", &file, &error));
    assert_string_equal(file->name, "walk");
    assert_string_equal(file->model, "docs/walker.xml");
    env_task_file_destroy(file);
    orr_free(page.data);
    orr_free(schema.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_the_task_that_it_describes),
        cmocka_unit_test(terms_are_what_they_say),
        cmocka_unit_test(tolerance_is_dm_controls),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(the_documentation_is_true),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
