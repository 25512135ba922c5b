// Task files: their terms against our own tasks and dm_control's tolerance, and mistakes in them.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/env/env.h"
#include "physics/load/load.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char cart[] =
    "<mujoco><option timestep='0.02'/><worldbody><body name='cart'>"
    "<joint name='slider' type='slide' axis='1 0 0' limited='true' range='-1 1'/>"
    "<geom name='rod' type='capsule' size='0.1 0.1' euler='0 90 0'/><body name='pole'><joint name='hinge' "
    "axis='0 1 0'/>"
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

// A ball that slides over a pad: what the pad feels, by hand, at the start and as the ball moves on.
static void pads_feel_what_presses(void **state)
{
    (void)state;
    enum { COUNT = 40, SEEN = 5 * 3 * 3 + 5 * 3 + 1 };
    static const char slider[] =
        "<mujoco><option timestep='0.002' gravity='0 0 0'/><default><geom contype='2' "
        "conaffinity='1'/></default>"
        "<worldbody><geom name='other' type='box' size='.1 .1 .1' pos='9 0 0'/>"
        "<geom name='table' type='box' size='.03 .02 .01'/><body name='ball' pos='0 0 .0285'>"
        "<joint name='along' type='slide' axis='1 0 0'/><joint name='down' type='slide' axis='0 0 1'/>"
        "<joint name='turn' axis='0 1 0'/>"
        "<geom name='tip' size='.02' mass='1'/></body></worldbody>"
        "<actuator><motor joint='along'/></actuator></mujoco>";
    static const char text[] =
        "{\"orrery_task\": 1, \"up_to_date\": true, \"start\": {\"qpos_noise\": 0.001, \"qvel_noise\": "
        "0.05},%s"
        " \"pads\": [{\"name\": \"unused\", \"geom\": \"other\"},"
        "  {\"name\": \"skin\", \"geom\": \"table\", \"rows\": 3, \"columns\": 5, \"size\": [0.016, 0.008],"
        "   \"stiffness\": 300, \"damping\": 0.2, \"friction\": 0.5, \"thickness\": 0.005}],"
        " \"observation\": [{\"of\": \"tactile\", \"name\": \"skin\"},"
        "  {\"of\": \"tactile_height\", \"name\": \"skin\", \"weight\": 1000},"
        "  {\"of\": \"tactile\", \"axis\": 0, \"function\": \"sum\"}],"
        " \"reward\": [{\"of\": \"tactile_height\", \"function\": \"sum\"}]}";
    char path[256], plain[1200], varied[1200];
    float actions[COUNT] = {0};
    snprintf(path, sizeof path, "%s", written("slider.xml", slider));
    snprintf(plain, sizeof plain, text, "");
    snprintf(
        varied, sizeof varied, text,
        "\"randomise\": [{\"of\": \"geom_size\", \"name\": \"tip\", \"axis\": 0, \"uniform\": [0.9, 1]}],");
    orr_env_desc desc = {
        .task = "t", .task_text = plain, .model = path, .count = COUNT, .seed = 3, .double_precision = true};
    orr_env *env, *more;
    orr_engine *three;
    assert_ok(orr_engine_create(&(orr_engine_desc){.threads = 3, .device = ORR_DEVICE_CPU}, &three, &error));
    assert_ok(orr_env_create(engine, &desc, &env, &error));
    assert_ok(orr_env_create(three, &desc, &more, &error));
    const orr_env_results r = results_of(env);
    int felt = 0;
    for (int step = 0; step < 4; step++) {
        assert_memory_equal(r.observation, results_of(more).observation, COUNT * SEEN * sizeof(double));
        for (int i = 0; i < COUNT; i++) {
            double q[3], v[3], sum = 0.0, heights = 0.0;
            const double *seen = r.observation + (ptrdiff_t)i * SEEN;
            assert_ok(orr_env_get_state(env, i, q, v, &error));
            for (int k = 0; k < 15; k++) {
                const double d[3] = {0.004 * (k % 5 - 2) - q[0], 0.004 * (k / 5 - 1), 0.01 - 0.0285 - q[1]};
                const double far = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
                const double press = 300.0 * fmax(0.02 - far, 0.0),
                             n[3] = {d[0] / far, d[1] / far, d[2] / far};
                const double w = 0.02 * v[2], x = v[0] + w * n[2],
                             z = v[1] - w * n[0]; // of its nearest point
                const double normal = -(x * n[0] + z * n[2]);
                const double u[3] = {-x - normal * n[0], -normal * n[1], -z - normal * n[2]};
                const double speed = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
                const double drag = speed > 0.0 ? fmin(0.2 * speed, 0.5 * press) / speed : 0.0;
                const double wanted[3] = {drag * u[2] - press * n[2], press * n[0] - drag * u[0],
                                          press * n[1] - drag * u[1]};
                const double height = fmax(sqrt(0.0004 - d[0] * d[0] - d[1] * d[1]) - 0.0185 - q[1], 0.0);
                for (int axis = 0; axis < 3; axis++) { // of floats of up to 1 N
                    assert_true(fabs(seen[3 * k + axis] - (press > 0.0 ? wanted[axis] : 0.0)) < 1e-6);
                }
                assert_true(fabs(seen[45 + k] - 1000.0 * height) < 1e-4); // 1e-7 m: of rays (test_tactile.c)
                sum += press > 0.0 ? wanted[0] : 0.0, heights += height;
            }
            assert_true(fabs(seen[60] - sum) < 1e-5);
            felt += sum > 0.1;
            assert_true(step == 0 || fabs(r.reward[i] - heights) < 1e-6);
            actions[i] = i % 2 ? 100.0f : 1.0f; // m/s^2, for 2 ms a step
        }
        assert_ok(orr_env_step(env, actions, &error));
        assert_ok(orr_env_step(more, actions, &error));
    }
    assert_true(felt > 3 * COUNT); // of 4
    orr_env_destroy(more);
    orr_engine_destroy(three);
    // smaller balls are felt less, those of other environments too
    desc.task_text = varied;
    assert_ok(orr_env_create(engine, &desc, &more, &error));
    assert_ok(orr_env_reset(env, NULL, (uint32_t[COUNT]){3, 4, 5, 6}, &error));
    const orr_env_results other = results_of(more);
    int less = 0;
    for (int i = 0; i < 4; i++) {
        less += other.observation[i * SEEN + 60] < 0.9 * r.observation[i * SEEN + 60];
    }
    assert_true(less >= 3);
    orr_env_destroy(more);
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
        {TASK("{\"of\": \"qpos\", \"at_most\": 2}", QPOS, ""),
         "observation[0].at_most: expected one of the keys"},
        {TASK("{\"of\": \"qpos\", \"only\": [2]}", QPOS, ""), "only: expected whole numbers, 0 to 1"},
        {TASK("{\"of\": \"qpos\", \"only\": [0, 1, 1]}", QPOS, ""), "only: expected a list of 1 to 2"},
        {TASK("{\"of\": \"qpos\", \"frame\": {\"of\": \"xmat\", \"name\": \"cart\"}}", QPOS, ""),
         "frame: expected vectors of three numbers, not 2"},
        {TASK("{\"of\": \"xpos\", \"frame\": {\"of\": \"xmat\"}}", QPOS, ""),
         "frame.of: expected xmat, geom_xmat"},
        {TASK("{\"of\": \"xmat\", \"axis\": \"zw\"}", QPOS, ""), "expected none of xmat but xx, xy"},
        {TASK("{\"of\": \"qpos\", \"noise\": -1}", QPOS, ""), "noise: expected"},
        {TASK("{\"of\": \"qpos\", \"delay\": 1001}", QPOS, ""), "delay: expected a whole number, 0 to 1000"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"combine\": \"median\"}", ""), "combine: expected one of sum, mean"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"noise\": 1}", ""), "reward[0].noise: expected one of the keys"},
        {TASK("{\"of\": \"tactile\"}", QPOS, ""), "of: expected a quantity that this robot has"},
        {TASK("{\"of\": \"tactile\", \"name\": \"tip\"}", QPOS, ""), "name: expected names of what tactile"},
        {TASK(QPOS, QPOS, ", \"pads\": [{\"geom\": \"rod\"}]"), "pads[0].name: expected a name"},
        {TASK(QPOS, QPOS, ", \"pads\": [{\"name\": \"a\", \"geom\": \"toe\"}]"),
         "pads[0].geom: expected the name of a geom of this robot"},
        {TASK(QPOS, QPOS, ", \"pads\": [{\"name\": \"a\", \"geom\": \"rod\"}]"),
         "pads[0]: a tactile pad of 0.194 x 0.194 m: row 0, column 0 is beside its geom"},
        {TASK(QPOS, QPOS, ", \"pads\": [{\"name\": \"a\", \"geom\": \"rod\", \"rows\": 0}]"),
         "pads[0].rows: expected a whole number, 1 to 1024"},
        {TASK(QPOS, QPOS,
              ", \"pads\": [{\"name\": \"a\", \"geom\": \"rod\", \"size\": [0.1, 0.1]}, "
              "{\"name\": \"a\", \"geom\": \"rod\"}]"),
         "pads[1].name: expected each name once"},
        {TASK(QPOS, QPOS, ", \"start\": {\"joints\": \"free\"}"), "start.joints: expected random"},
        {TASK(QPOS, QPOS, ", \"start\": {\"draw\": [{\"mocap\": \"cart\"}]}"),
         "mocap: expected the name of a mocap"},
        {TASK(QPOS, QPOS, ", \"start\": {\"draw\": [{\"joint\": \"hinge\", \"chance\": 2}]}"),
         "chance: expected 0 to 1"},
        {TASK(QPOS, QPOS, ", \"start\": {\"draw\": [{\"joint\": \"hinge\", \"rotation\": true}]}"),
         "joint: expected a ball or a free joint"},
        {TASK(QPOS, QPOS, ", \"start\": {\"draw\": [{\"joint\": \"hinge\", \"same_as\": \"slider\"}]}"),
         "same_as: expected a joint of the same kind"},
        {TASK(QPOS, QPOS, ", \"start\": {\"draw\": [{\"joint\": \"hinge\", \"normal\": [0, -1]}]}"),
         "normal: expected a mean"},
#define RING(Rest) TASK(QPOS, QPOS, ", \"start\": {\"draw\": [{\"joint\": " Rest "}]}")
        {RING("[\"slider\", \"toe\"], \"radius\": [0, 1]"), "joint: expected two hinges or slides"},
        {RING("[\"slider\"], \"radius\": [0, 1]"), "joint: expected two hinges or slides"},
        {RING("[\"hinge\", \"hinge\"], \"radius\": [0, 1]"), "joint: expected each name once"},
        {RING("[\"slider\", \"hinge\"]"), "draw[0].radius: expected inner and outer radius"},
        {RING("[\"slider\", \"hinge\"], \"low\": [1, 1], \"high\": [2, 2], \"radius\": [0, 1]"),
         "radius: expected 0 <= inner <= outer, with 1 % of the rectangle"},
        {RING("[\"slider\", \"hinge\"], \"velocity\": true"), "velocity: expected one of the keys"},
#undef RING
        {TASK(QPOS, QPOS, ", \"start\": {\"no_contacts\": {\"attempts\": 0}}"),
         "attempts: expected a whole number"},
        {TASK(QPOS, QPOS, ", \"randomise\": [{\"of\": \"colour\", \"uniform\": [1, 2]}]"),
         "of: expected a quantity: mass, gain, geom_surface, material_surface, body_mass"},
        {TASK(QPOS, QPOS, ", \"randomise\": [{\"of\": \"mass\"}]"),
         "expected one of uniform, log_uniform and normal"},
        {TASK(QPOS, QPOS, ", \"randomise\": [{\"of\": \"mass\", \"uniform\": [2, 1]}]"),
         "uniform: expected low <= high"},
        {TASK(QPOS, QPOS, ", \"randomise\": [{\"of\": \"mass\", \"log_uniform\": [0, 1]}]"),
         "log_uniform: expected 0 < low"},
        {TASK(QPOS, QPOS, ", \"randomise\": [{\"of\": \"mass\", \"normal\": [1, 0.4]}]"),
         "expected numbers of at least 0"},
        {TASK(QPOS, QPOS, ", \"randomise\": [{\"of\": \"mass\", \"change\": \"add\", \"uniform\": [1, 2]}]"),
         "mass is scaled"},
        {TASK(QPOS, QPOS,
              ", \"randomise\": [{\"of\": \"light\", \"change\": \"scale\", \"uniform\": [1, 2]}]"),
         "change: expected add or set"},
        {TASK("{\"of\": \"qpos\", \"minus\": {\"of\": \"xpos\"}}", QPOS, ""), "minus: expected 2 numbers"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"function\": \"log\"}", ""), "function: expected one of each, sin"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"rate\": true, \"offset\": 1}", ""), "rate: expected no tolerance"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"tolerance\": {\"low\": 1, \"high\": 0}}", ""),
         "low: expected no more"},
        {TASK(QPOS, "{\"of\": \"qpos\", \"tolerance\": {\"value_at_margin\": 0}}", ""),
         "value_at_margin: expected"},
        {TASK("{\"of\": \"qpos\", \"noise\": -1e-9}", QPOS, ""), "noise: expected a number of at least 0"},
        {TASK(QPOS, QPOS, ", \"terminate\": [" QPOS "]"), "terminate[0]: expected below or above"},
        {TASK(QPOS, QPOS, ", \"terminate\": [{\"of\": \"qpos\", \"below\": 1, \"above\": 0}]"),
         "terminate[0].below: expected no more than above"},
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
    assert_non_null(strstr(why.message, "expected the file of a robot or scene"));
    const orr_env_desc nothing = {// what is the default may be said
                                  .task = "t",
                                  .task_text = TASK("{\"of\": \"qpos\", \"noise\": 0}",
                                                    "{\"of\": \"qpos\", \"tolerance\": {\"margin\": 0}}",
                                                    ", \"start\": {\"qpos_noise\": 0, \"qvel_noise\": 0}"),
                                  .model = path,
                                  .count = 1};
    assert_ok(orr_env_create(engine, &nothing, &env, &error));
    orr_env_destroy(env);
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
                                       "ten_length",
                                       "ten_velocity",
                                       "unless_terminated",
                                       "up_to_date",
                                       "geom_surface",
                                       "material_surface",
                                       "pattern",
                                       "picture",
                                       "texture",
                                       "colours",
                                       "cells",
                                       "colour",
                                       "emission",
                                       "specular",
                                       "shininess",
                                       "metallic",
                                       "roughness",
                                       "reflectance",
                                       "joints",
                                       "velocity",
                                       "rotation",
                                       "same_as",
                                       "mocap",
                                       "soft",
                                       "soft_com",
                                       "soft_velocity",
                                       "pads",
                                       "tactile",
                                       "tactile_height",
                                       "pixels",
                                       "cameras",
                                       "width",
                                       "height",
                                       "samples",
                                       "geom",
                                       "rows",
                                       "columns",
                                       "across",
                                       "size",
                                       "stiffness",
                                       "damping",
                                       "friction",
                                       "thickness",
                                       "axes",
                                       "about",
                                       "normal",
                                       "center",
                                       "radius",
                                       "chance",
                                       "settle",
                                       "no_contacts",
                                       "attempts",
                                       "lift",
                                       "randomise",
                                       "each",
                                       "uniform",
                                       "log_uniform",
                                       "change",
                                       "mass",
                                       "gain",
                                       "body_inertia",
                                       "exposure",
                                       "camera_turn",
                                       "frame",
                                       "only",
                                       "log1p",
                                       "asinh",
                                       "tanh",
                                       "combine",
                                       "least",
                                       "product",
                                       "noise",
                                       "delay",
                                       "site_xmat",
                                       "act"};
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

// ---- what is drawn for each episode ----

static const char ball[] =
    "<mujoco><option timestep='0.01' gravity='0 0 -10'/><worldbody><geom name='floor' type='plane' size='5 5 "
    "1'/>"
    "<body name='cart' pos='0 0 3'><joint name='x' type='slide' axis='1 0 0'/><geom name='g' size='0.1' "
    "mass='3'/>"
    "</body>"
    "<body name='ball' pos='1 0 0'><freejoint name='free'/><geom size='0.2' mass='2'/><site name='s'/></body>"
    "<body name='arm' pos='0 3 3'><joint name='a' axis='0 1 0' range='-30 90' limited='true'/>"
    "<joint name='b' axis='1 0 0'/><geom size='0.1 0.2' type='capsule' pos='0 0 0.2'/></body>"
    "<body name='target' mocap='true' pos='1 2 3'><site name='goal'/></body></worldbody>"
    "<actuator><position joint='x' kp='50'/></actuator></mujoco>";

static orr_env *make_drawn(orr_engine *on, const char *text, int count, bool precise)
{
    orr_env *env;
    char path[256];
    snprintf(path, sizeof path, "%s", written("ball.xml", ball));
    const orr_env_desc desc = {.task = "drawn.json",
                               .task_text = text,
                               .model = path,
                               .count = count,
                               .seed = 11,
                               .autoreset = ORR_AUTORESET_SAME_STEP,
                               .double_precision = precise};
    assert_ok(orr_env_create(on, &desc, &env, &error));
    return env;
}

static const double *numbers_of(const orr_env *env, orr_vary what, int i)
{
    for (int k = 0; k < env->randomised_count; k++) {
        if (env->randomised[k].vary == what) {
            return env->randomised[k].values + (ptrdiff_t)i * env->randomised[k].size;
        }
    }
    fail_msg("parameter %d is not drawn", (int)what);
    return NULL;
}

static void assert_within(double value, double low, double high)
{
    if (!(value >= low && value <= high)) {
        fail_msg("%g: expected %g to %g", value, low, high);
    }
}

// Bodies: 1 cart, 2 ball, 3 arm, 4 target.
static void parameters_are_drawn_in_their_ranges(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    static const char text[] =
        "{\"orrery_task\": 1, \"max_steps\": 2, \"observation\": [{\"of\": \"qvel\", \"name\": \"x\"}],"
        " \"reward\": [], \"randomise\": ["
        " {\"of\": \"mass\", \"name\": \"cart\", \"uniform\": [0.5, 2]},"
        " {\"of\": \"gain\", \"log_uniform\": [0.1, 10]},"
        " {\"of\": \"geom_friction\", \"name\": [\"floor\", \"g\"], \"axis\": 0, \"each\": true, \"change\": "
        "\"set\","
        "  \"uniform\": [0.2, 0.4]},"
        " {\"of\": \"gravity\", \"axis\": \"z\", \"change\": \"add\", \"normal\": [1, 0.5]},"
        " {\"of\": \"dof_damping\", \"name\": \"x\", \"change\": \"set\", \"uniform\": [0, 0]}]}";
    orr_env *env = make_drawn(engine, text, COUNT, true);
    const orr_env_results r = results_of(env);
    double least = 10.0, most = 0.0, logs = 0.0, falls = 0.0, spread = 0.0;
    float actions[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const double *mass = numbers_of(env, ORR_VARY_BODY_MASS, i),
                     *gain = numbers_of(env, ORR_VARY_ACTUATOR_GAINPRM, i),
                     *friction = numbers_of(env, ORR_VARY_GEOM_FRICTION, i),
                     *inertia = numbers_of(env, ORR_VARY_BODY_INERTIA, i);
        assert_within(mass[1], 1.5, 6.0);
        assert_true(mass[2] == 2.0);                                       // not named
        assert_within(inertia[3] / mass[1], 0.004 - 1e-12, 0.004 + 1e-12); // 2/5 m r^2: scaled alike
        assert_within(gain[0], 5.0, 500.0);
        assert_within(numbers_of(env, ORR_VARY_ACTUATOR_BIASPRM, i)[1] + gain[0], -1e-12, 1e-12);
        assert_within(friction[0], 0.2, 0.4);
        assert_within(friction[3], 0.2, 0.4);
        assert_true(friction[0] != friction[3] && friction[1] == 0.005 && friction[6] == 1.0);
        least = fmin(least, mass[1]), most = fmax(most, mass[1]);
        logs += log(gain[0] / 50.0) / COUNT;
        const double gravity = numbers_of(env, ORR_VARY_GRAVITY, i)[2];
        assert_within(gravity, -10.5, -7.5); // cut off at 3 deviations
        falls += gravity / COUNT, spread += (gravity + 9.0) * (gravity + 9.0) / COUNT;
        actions[i] = 1.0f;
    }
    assert_true(least < 1.55 && most > 5.9); // uniform: the chance of less is below 1e-5
    assert_within(logs, -0.27, 0.27);        // 5 deviations of the mean, 1.33 / sqrt(600)
    assert_within(falls, -9.1, -8.9);
    assert_within(sqrt(spread), 0.43, 0.57);
    double first[COUNT];
    assert_ok(orr_env_step(env, actions, &error));
    for (int i = 0; i < COUNT; i++) { // they act: an impulse of a servo at rest
        first[i] = numbers_of(env, ORR_VARY_BODY_MASS, i)[1];
        assert_within(r.observation[i] * first[i] / numbers_of(env, ORR_VARY_ACTUATOR_GAINPRM, i)[0],
                      0.01 - 1e-12, 0.01 + 1e-12);
    }
    assert_ok(orr_env_step(env, actions, &error)); // ends and begins an episode
    for (int i = 0; i < COUNT; i++) {
        assert_true(numbers_of(env, ORR_VARY_BODY_MASS, i)[1] != first[i]);
        assert_true(
            fabs(numbers_of(env, ORR_VARY_BODY_INERTIA, i)[3] / numbers_of(env, ORR_VARY_BODY_MASS, i)[1] -
                 0.004) < 1e-12);
    }
    orr_env_destroy(env);
}

static const char everything[] =
    "{\"orrery_task\": 1, \"max_steps\": 4, \"up_to_date\": true, \"start\": {\"joints\": \"random\", "
    "\"draw\": ["
    "  {\"joint\": \"x\", \"normal\": [0, 0.2]}, {\"joint\": \"x\", \"velocity\": true, \"low\": 1, "
    "\"high\": 2},"
    "  {\"mocap\": \"target\", \"axes\": \"xz\", \"center\": [1, 2], \"radius\": [0.5, 1]},"
    "  {\"mocap\": \"target\", \"axes\": \"y\", \"low\": 7, \"high\": 8, \"chance\": 0.25},"
    "  {\"mocap\": \"target\", \"about\": \"y\", \"low\": -1, \"high\": 1}],"
    "  \"no_contacts\": {\"attempts\": 100, \"lift\": 0.05}},"
    " \"observation\": [{\"of\": \"qpos\", \"name\": \"x\"}, {\"of\": \"qpos\", \"name\": \"x\", \"delay\": "
    "2},"
    "  {\"of\": \"qpos\", \"name\": \"x\", \"noise\": 0.1}, {\"of\": \"site_xpos\", \"name\": \"goal\"}],"
    " \"reward\": [{\"of\": \"qpos\", \"name\": \"x\"}], \"randomise\": ["
    " {\"of\": \"mass\", \"each\": true, \"uniform\": [0.5, 2]}, {\"of\": \"exposure\", \"uniform\": [-1, "
    "1]},"
    " {\"of\": \"background\", \"each\": true, \"uniform\": [0, 1]},"
    " {\"of\": \"camera_offset\", \"axis\": \"y\", \"uniform\": [0.2, 0.3]}]}";
enum { SEEN = 6, EPISODE_STEPS = 40 };

// Environment 3's observations and its looks after each step.
static void play_everything(int count, int threads, double *seen, orr_eyes_look *looks)
{
    orr_engine *own;
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.threads = threads, .device = ORR_DEVICE_CPU}, &own, &error));
    orr_env *env = make_drawn(own, everything, count, false);
    const orr_env_results r = results_of(env);
    float actions[80];
    orr_eyes_look all[80];
    for (int step = 0; step < EPISODE_STEPS; step++) {
        memcpy(seen + (ptrdiff_t)SEEN * step, r.observation + (ptrdiff_t)3 * SEEN, SEEN * sizeof *seen);
        assert_ok(orr_env_get_looks(env, all, &error));
        looks[step] = all[3];
        for (int i = 0; i < count; i++) {
            actions[i] = (float)sin(step + 3 * i);
        }
        assert_ok(orr_env_step(env, actions, &error));
    }
    orr_env_destroy(env);
    orr_engine_destroy(own);
}

static void draws_do_not_depend_on_threads_or_number(void **state)
{
    (void)state;
    static const struct {
        int count, threads;
    } runs[] = {{5, 1}, {5, 2}, {5, 8}, {70, 3}};
    double first[SEEN * EPISODE_STEPS], other[SEEN * EPISODE_STEPS];
    orr_eyes_look looks[EPISODE_STEPS], others[EPISODE_STEPS];
    for (int run = 0; run < 4; run++) {
        play_everything(runs[run].count, runs[run].threads, run ? other : first, run ? others : looks);
        if (run > 0) {
            assert_memory_equal(first, other, sizeof first);
            assert_memory_equal(looks, others, sizeof looks);
        }
    }
    double noise = 0.0;
    int changes = 0;
    for (int step = 0; step < EPISODE_STEPS; step++) {
        const double *o = first + (ptrdiff_t)SEEN * step;
        const int of_episode = step % 4, age = of_episode < 2 ? of_episode : 2;
        assert_true(o[1] == first[SEEN * (step - age)]); // the start's, as long as nothing is 2 steps old
        noise += (o[2] - o[0]) * (o[2] - o[0]) / EPISODE_STEPS;
        assert_within(hypot(o[3] - 1.0, o[5] - 2.0), 0.5 - 1e-6, 1.0 + 1e-6);
        assert_true(o[4] == 2.0 || (o[4] >= 7.0 && o[4] <= 8.0));
        assert_within((double)looks[step].exposure, -1.0, 1.0);
        assert_within((double)looks[step].camera_offset[1], 0.2, 0.3);
        assert_true(looks[step].camera_offset[0] == 0.0f && looks[step].has_background);
        assert_true(looks[step].background[0] != looks[step].background[1]);
        if (step > 0) {
            const bool same = looks[step].exposure == looks[step - 1].exposure;
            assert_int_equal(same, of_episode != 0);
            changes += !same;
            assert_int_equal(same, o[3] == o[3 - SEEN]); // the target stays for an episode
        }
    }
    assert_int_equal(changes, EPISODE_STEPS / 4 - 1);
    assert_within(sqrt(noise), 0.05, 0.15); // of 40 numbers
}

static void two_joints_start_in_a_ring(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    static const char text[] =
        "{\"orrery_task\": 1, \"observation\": [{\"of\": \"qpos\", \"name\": [\"x\", \"b\"]}], \"reward\": "
        "[],"
        " \"start\": {\"draw\": [{\"joint\": [\"b\", \"x\"], \"low\": [1, 0], \"high\": [2, 3],"
        " \"center\": [1, 1], \"radius\": [0.5, 1]}]}}";
    orr_env *env = make_drawn(engine, text, COUNT, true);
    const double *o = results_of(env).observation;
    double inner = 0.0, above = 0.0;
    for (int i = 0; i < COUNT; i++) {
        const double distance = hypot(o[2 * i + 1] - 1.0, o[2 * i] - 1.0);
        assert_within(distance, 0.5, 1.0);
        assert_within(o[2 * i + 1], 1.0, 2.0);
        inner += distance<0.75, above += o[2 * i]> 1.0;
    }
    // uniform over the half ring: (0.75^2 - 0.5^2) / (1 - 0.5^2) of it, and half of it; 5 deviations
    assert_within(inner / COUNT, 0.4167 - 0.1, 0.4167 + 0.1);
    assert_within(above / COUNT, 0.4, 0.6);
    orr_env_destroy(env);
}

static void starts_are_as_described(void **state)
{
    (void)state;
    enum { COUNT = 64 };
    orr_env *env = make_drawn(engine, everything, COUNT, true);
    double qpos[COUNT * 10], qvel[COUNT * 9], turned[COUNT * 4], position[COUNT * 3];
    int contacts[COUNT], far = 0, lifted = 0;
    assert_ok(orr_env_get_states(env, qpos, qvel, &error));
    assert_ok(orr_env_get_quantity(env, ORR_ROBOT_MOCAP_ROTATION, turned, &error));
    assert_ok(orr_env_get_quantity(env, ORR_ROBOT_MOCAP_POSITION, position, &error));
    orr_physics_contacts_all(env->physics, NULL, NULL, 0, contacts);
    double least = 10.0, most = -10.0;
    for (int i = 0; i < COUNT; i++) {
        const double *q = qpos + (ptrdiff_t)10 * i, *v = qvel + (ptrdiff_t)9 * i,
                     *rotation = turned + (ptrdiff_t)4 * i;
        assert_int_equal(contacts[i], 0); // the ball begins in the floor
        lifted += q[3] > 0.0;
        assert_within(v[0], 1.0, 2.0);
        assert_within(q[4] * q[4] + q[5] * q[5] + q[6] * q[6] + q[7] * q[7], 1.0 - 1e-12, 1.0 + 1e-12);
        assert_within(q[8], -0.5236, 1.5708);
        least = fmin(least, q[9]), most = fmax(most, q[9]);
        assert_true(rotation[1] == 0.0 && rotation[3] == 0.0);
        assert_within(2.0 * atan2(rotation[2], rotation[0]), -1.0, 1.0);
        far += position[3 * i + 1] != 2.0;
    }
    assert_int_equal(lifted, COUNT);
    assert_true(least < -2.0 && most > 2.0); // any angle
    assert_within(far, 3, 32);               // 16 are expected
    // set from outside
    const uint8_t mask[COUNT] = {0, 1};
    position[3] = 42.0;
    assert_ok(orr_env_set_quantity(env, ORR_ROBOT_MOCAP_POSITION, mask, position, &error));
    assert_ok(orr_env_get_quantity(env, ORR_ROBOT_MOCAP_POSITION, position, &error));
    assert_true(position[3] == 42.0 && position[0] != 42.0);
    orr_error why = {0};
    assert_int_equal(orr_env_set_quantity(env, ORR_ROBOT_XMAT, NULL, qpos, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "it is computed"));
    orr_env_destroy(env);
    // settle: the ball falls before the episode; contacts that cannot be avoided are an error
    static const char falls[] =
        "{\"orrery_task\": 1, \"start\": {\"settle\": 3}, \"observation\": [{\"of\": \"qvel\","
        " \"name\": \"free\", \"from\": 2, \"count\": 1}], \"reward\": []}",
                      touches[] = "{\"orrery_task\": 1, \"start\": {\"no_contacts\": {\"attempts\": 3}},"
                                  " \"observation\": [{\"of\": \"qvel\"}], \"reward\": []}";
    char path[256];
    snprintf(path, sizeof path, "%s", written("ball.xml", ball));
    const orr_env_desc desc = {.task = "t", .task_text = touches, .model = path, .count = 2};
    assert_int_equal(orr_env_create(engine, &desc, &env, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "environment 0: expected a start without contacts among 3"));
    char air[sizeof ball];
    strcpy(air, ball);
    memcpy(strstr(air, "pos='1 0 0'"), "pos='1 0 9'", 11);
    snprintf(path, sizeof path, "%s", written("air.xml", air));
    const orr_env_desc settle = {.task = "t", .task_text = falls, .model = path, .count = 2};
    assert_ok(orr_env_create(engine, &settle, &env, &error));
    assert_within(results_of(env).observation[0], -0.3 - 1e-6, -0.3 + 1e-6);
    orr_env_destroy(env);
}

// Numbers in a frame, chosen, of other functions and combined, against the same by hand.
static void vectors_are_turned_and_numbers_combined(void **state)
{
    (void)state;
    static const char text[] =
        "{\"orrery_task\": 1, \"start\": {\"draw\": [{\"joint\": \"free\", \"rotation\": true}]}, "
        "\"observation\": ["
        " {\"of\": \"xmat\", \"name\": \"ball\"},"
        " {\"of\": \"site_xpos\", \"name\": [\"goal\", \"s\"], \"minus\": {\"of\": \"xpos\", \"name\": "
        "\"cart\"},"
        "  \"frame\": {\"of\": \"xmat\", \"name\": \"ball\"}, \"only\": [4, 0], \"weight\": 2, \"offset\": "
        "1},"
        " {\"of\": \"site_xpos\", \"name\": \"goal\", \"function\": \"log1p\"},"
        " {\"of\": \"site_xpos\", \"name\": \"goal\", \"function\": \"asinh\"},"
        " {\"of\": \"site_xpos\", \"name\": \"goal\", \"function\": \"tanh\"}, {\"of\": \"xmat\", \"name\": "
        "\"ball\", \"axis\": \"zx\"}],"
        " \"reward\": ["
        " {\"of\": \"site_xpos\", \"name\": \"goal\", \"combine\": \"mean\"},"
        " {\"of\": \"site_xpos\", \"name\": \"goal\", \"combine\": \"least\", \"weight\": 10},"
        " {\"of\": \"site_xpos\", \"name\": \"goal\", \"combine\": \"most\", \"weight\": 100},"
        " {\"of\": \"site_xpos\", \"name\": \"goal\", \"combine\": \"product\", \"weight\": 1000,"
        "  \"tolerance\": {\"low\": 2, \"high\": 9, \"margin\": 2, \"sigmoid\": \"linear\"}}]}";
    orr_env *env = make_drawn(engine, text, 1, true);
    const double *o = results_of(env).observation, goal[3] = {1, 2, 3}, to_goal[3] = {1, 2, 0},
                 to_ball[3] = {1, 0, -3};
    double x = 0.0, y = 0.0;
    for (int k = 0; k < 3; k++) {
        x += o[3 * k] * to_goal[k];     // along the frame's x
        y += o[3 * k + 1] * to_ball[k]; // along its y
    }
    assert_within(o[9], 2.0 * y + 1.0 - 1e-12, 2.0 * y + 1.0 + 1e-12);
    assert_within(o[10], 2.0 * x + 1.0 - 1e-12, 2.0 * x + 1.0 + 1e-12);
    for (int k = 0; k < 3; k++) {
        assert_true(o[11 + k] == log1p(goal[k]) && o[14 + k] == asinh(goal[k]) && o[17 + k] == tanh(goal[k]));
    }
    assert_true(o[20] == o[6]);
    assert_ok(orr_env_step(env, &(float){0.0f}, &error));
    // the tolerance of 1 is half of the margin below 2: 1 - 0.5 x 0.9; of 2 and 3 it is 1
    assert_within(results_of(env).reward[0], 2.0 + 10.0 + 300.0 + 550.0 - 1e-9,
                  2.0 + 10.0 + 300.0 + 550.0 + 1e-9);
    orr_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_the_task_that_it_describes),
        cmocka_unit_test(terms_are_what_they_say),
        cmocka_unit_test(pads_feel_what_presses),
        cmocka_unit_test(tolerance_is_dm_controls),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(the_documentation_is_true),
        cmocka_unit_test(parameters_are_drawn_in_their_ranges),
        cmocka_unit_test(draws_do_not_depend_on_threads_or_number),
        cmocka_unit_test(two_joints_start_in_a_ring),
        cmocka_unit_test(starts_are_as_described),
        cmocka_unit_test(vectors_are_turned_and_numbers_combined),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
