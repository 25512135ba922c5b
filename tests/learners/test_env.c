// Environments that learners step: episodes, autoreset, seeds, threads, bad input. What tasks compute is held
// against Gymnasium in python/tests/test_environments.py.
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
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

// Episodes of one environment, with the number of environments and of threads given.
static void play(int watched, int count, int threads, double *observations)
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
        memcpy(observations + (ptrdiff_t)4 * step, r.observation + (ptrdiff_t)4 * watched,
               4 * sizeof *observations);
    }
    orr_env_destroy(env);
    orr_engine_destroy(own);
}

static void episodes_do_not_depend_on_threads_or_number(void **state)
{
    (void)state;
    double one[240], many[240], wide[240], alone[240];
    play(3, 5, 1, one);
    play(3, 5, 3, many);
    play(3, 41, 2, wide);
    assert_memory_equal(one, many, sizeof one);
    assert_memory_equal(one, wide, sizeof one);
    assert_true(fabs(one[239] - one[0]) > 0.0);
    play(0, 5, 2, many);
    play(0, 1, 1, alone);
    assert_memory_equal(alone, many, sizeof alone);
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
    char still[256];
    snprintf(path, sizeof path, "%s", written("cart.xml", cart));
    snprintf(still, sizeof still, "%s",
             written("still.xml",
                     "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"));
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
        {{.task = "Ant-v5", .model = still, .count = 1}, "expected a model with actuators, it has none"},
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
    double q[2], v[2], now[8];
    assert_int_equal(orr_env_get_state(env, 2, q, v, &why), ORR_ERROR_ARGUMENT);
    assert_ok(orr_env_get_states(env, now, now + 4, &error));
    memcpy(before, now, sizeof before);
    assert_int_equal(orr_env_set_state(env, 1, (double[]){0.0, NAN}, now + 4, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "qpos: number 1 of environment 1 is nan: expected a finite number"));
    assert_int_equal(orr_env_set_state(env, 0, now, (double[]){1e300, 0.0}, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "qvel: number 0 of environment 0 is 1e+300"));
    const double wild[4] = {NAN, 0.0, 0.0, INFINITY};
    assert_int_equal(orr_env_set_quantity(env, ORR_ROBOT_QVEL, (uint8_t[]){0, 1}, wild, &why),
                     ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "qvel: number 1 of environment 1 is inf"));
    assert_ok(orr_env_get_states(env, now, now + 4, &error));
    assert_memory_equal(before, now, sizeof now);
    orr_env_destroy(env);
    orr_env_destroy(NULL);
}

// ---- tasks of callbacks ----

static double uniform(uint32_t seed, uint32_t episode, uint32_t index)
{
    double number;
    orr_env_uniform(seed, episode, index, 1, &number);
    return number;
}

// InvertedPendulum-v5 as functions of a batch. `calls` counts them; `thread` is the one that made the
// environments.
typedef struct pendulum {
    int calls, together; // together: the most environments of a call
    bool only_mine;
    pthread_t thread;
    atomic_int threads_differ;
} pendulum;

enum { OF_QPOS, OF_QVEL }; // quantities, in the task's order

static void note(pendulum *p, const orr_env_batch *batch)
{
    if (!pthread_equal(pthread_self(), p->thread)) {
        atomic_store(&p->threads_differ, 1);
    }
    if (p->only_mine) {
        p->calls++;
        p->together = batch->count > p->together ? batch->count : p->together;
    }
}

static void pendulum_start(void *user, const orr_env_batch *batch, double *qpos, double *qvel)
{
    note(user, batch);
    for (int i = 0; i < batch->count; i++) {
        for (uint32_t k = 0; k < 4 && batch->mask[i]; k++) {
            double *number = k < 2 ? &qpos[2 * i + (int)k] : &qvel[2 * i + (int)k - 2];
            *number += -0.01 + 0.02 * uniform(batch->seeds[i], batch->episodes[i], k);
        }
    }
}

static double angle_of(const orr_env_batch *batch, int i)
{
    return batch->numbers[(ptrdiff_t)i * batch->number_count + batch->offsets[OF_QPOS] + 1];
}

static void pendulum_terminate(void *user, const orr_env_batch *batch, uint8_t *terminated)
{
    note(user, batch);
    for (int i = 0; i < batch->count; i++) {
        terminated[i] = batch->mask[i] ? (fabs(angle_of(batch, i)) > 0.2 ? 7 : 0) : terminated[i];
    }
}

static void pendulum_reward(void *user, const orr_env_batch *batch, const uint8_t *terminated, double *reward)
{
    note(user, batch);
    for (int i = 0; i < batch->count; i++) {
        reward[i] = batch->mask[i] && !terminated[i] ? 1.0 : reward[i];
    }
}

static void pendulum_observe(void *user, const orr_env_batch *batch, double *observation)
{
    note(user, batch);
    for (int i = 0; i < batch->count; i++) {
        const double *row = batch->numbers + (ptrdiff_t)i * batch->number_count;
        for (int k = 0; k < 2 && batch->mask[i]; k++) {
            observation[4 * i + k] = row[batch->offsets[OF_QPOS] + k];
            observation[4 * i + 2 + k] = row[batch->offsets[OF_QVEL] + k];
        }
    }
}

static orr_env *make_own(orr_engine *on, int count, orr_autoreset autoreset, const orr_env_callbacks *task)
{
    orr_env *env;
    char path[256];
    snprintf(path, sizeof path, "%s", written("cart.xml", cart));
    const orr_env_desc desc = {.task = "pendulum",
                               .model = path,
                               .count = count,
                               .seed = 7,
                               .autoreset = autoreset,
                               .max_steps = 20,
                               .callbacks = task};
    assert_ok(orr_env_create(on, &desc, &env, &error));
    return env;
}

static const orr_robot_quantity pendulum_reads[] = {ORR_ROBOT_QPOS, ORR_ROBOT_QVEL};

static orr_env_callbacks pendulum_task(pendulum *p, bool parallel)
{
    p->thread = pthread_self();
    p->only_mine = !parallel;
    return (orr_env_callbacks){.size = sizeof(orr_env_callbacks),
                               .user = p,
                               .parallel = parallel,
                               .frame_skip = 2,
                               .observation_count = 4,
                               .quantities = pendulum_reads,
                               .quantity_count = 2,
                               .start = pendulum_start,
                               .terminate = pendulum_terminate,
                               .reward = pendulum_reward,
                               .observe = pendulum_observe};
}

// The same starts, observations, rewards and ends as the task of the library, to the bit, for any number of
// threads, called at once or by blocks, in every mode.
static void callbacks_are_the_task_that_they_describe(void **state)
{
    (void)state;
    enum { COUNT = 71, STEPS = 50 };
    static const int threads[] = {1, 2, 8};
    for (int run = 0; run < 12; run++) {
        orr_engine *own;
        pendulum p = {0};
        const bool parallel = run % 2 != 0;
        const orr_autoreset mode = run % 4 < 2 ? ORR_AUTORESET_NEXT_STEP : ORR_AUTORESET_SAME_STEP;
        const orr_engine_desc desc = {.threads = threads[run / 4], .device = ORR_DEVICE_CPU};
        assert_ok(orr_engine_create(&desc, &own, &error));
        orr_env *ours = make(engine, COUNT, mode, 20);
        const orr_env_callbacks task = pendulum_task(&p, parallel);
        orr_env *theirs = make_own(own, COUNT, mode, &task);
        const orr_env_results a = results_of(ours), b = results_of(theirs);
        int ends = 0;
        for (int step = 0; step < STEPS; step++) {
            float actions[COUNT];
            for (int i = 0; i < COUNT; i++) {
                actions[i] = 2.0f * sinf((float)(step + 5 * i));
                ends += a.terminated[i];
            }
            assert_memory_equal(a.observation, b.observation, 4 * COUNT * sizeof(double));
            assert_memory_equal(a.final_observation, b.final_observation, 4 * COUNT * sizeof(double));
            assert_memory_equal(a.reward, b.reward, COUNT * sizeof(double));
            assert_memory_equal(a.terminated, b.terminated, COUNT);
            assert_memory_equal(a.truncated, b.truncated, COUNT);
            assert_memory_equal(a.episode_return, b.episode_return, COUNT * sizeof(double));
            assert_ok(orr_env_step(ours, actions, &error));
            assert_ok(orr_env_step(theirs, actions, &error));
        }
        assert_true(ends > COUNT / 2);
        if (!parallel) { // all at once: two at creation, then three a step, and two more where episodes begin
            assert_int_equal(p.together, COUNT);
            assert_true(p.calls > 2 + 3 * STEPS && p.calls <= 2 + 5 * STEPS);
            assert_false(atomic_load(&p.threads_differ));
        }
        double q[2] = {0.1, -0.05}, v[2] = {1.0, 2.0};
        assert_ok(orr_env_set_state(theirs, 70, q, v, &error));
        assert_true(fabs(b.observation[281] + 0.05) < 1e-6 && fabs(b.observation[283] - 2.0) < 1e-6);
        orr_env_destroy(theirs);
        orr_env_destroy(ours);
        orr_engine_destroy(own);
    }
}

// A cart without friction on a level slide, of a mass and a gear drawn for each episode: its speed after a
// step is the impulse over its mass, and `before` is the state before the step.
static void slide_randomise(void *user, const orr_env_batch *batch, int index, int size, double *values)
{
    (void)user;
    assert_true(batch->numbers == NULL && batch->steps[0] == 0);
    assert_int_equal(size, index == 0 ? 2 : 10);
    for (int i = 0; i < batch->count; i++) {
        const double u = uniform(batch->seeds[i], batch->episodes[i], (uint32_t)(100 + index));
        double *value = &values[(ptrdiff_t)i * size + (index == 0 ? 1 : 0)];
        if (batch->mask[i]) {
            assert_true(*value == (index == 0 ? 3.0 : 1.0)); // the model's
            *value *= 1.0 + u;
        }
    }
}

static void slide_observe(void *user, const orr_env_batch *batch, double *observation)
{
    (void)user;
    for (int i = 0; i < batch->count; i++) {
        const ptrdiff_t row = (ptrdiff_t)i * batch->number_count;
        if (batch->mask[i]) {
            observation[4 * i] = batch->numbers[row + batch->offsets[1]];
            observation[4 * i + 1] = batch->before[row + batch->offsets[1]];
            observation[4 * i + 2] = batch->episodes[i];
            observation[4 * i + 3] = batch->actions ? (double)batch->actions[i] : -1.0;
        }
    }
}

static void each_episode_has_parameters_of_its_own(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    static const char slide[] =
        "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody><body><joint type='slide' name='x' "
        "axis='1 0 0'/><geom size='0.1' mass='3'/></body></worldbody><actuator><motor joint='x'/></actuator>"
        "</mujoco>";
    static const orr_robot_parameter varies[] = {ORR_PARAMETER_BODY_MASS, ORR_PARAMETER_ACTUATOR_GAIN};
    const orr_env_callbacks task = {.size = sizeof task,
                                    .observation_count = 4,
                                    .quantities = pendulum_reads,
                                    .quantity_count = 2,
                                    .parameters = varies,
                                    .parameter_count = 2,
                                    .randomise = slide_randomise,
                                    .observe = slide_observe};
    orr_env *env;
    char path[256];
    snprintf(path, sizeof path, "%s", written("slide.xml", slide));
    const orr_env_desc desc = {.model = path,
                               .count = COUNT,
                               .seed = 5,
                               .max_steps = 2,
                               .double_precision = true,
                               .callbacks = &task};
    assert_ok(orr_env_create(engine, &desc, &env, &error));
    const orr_env_results r = results_of(env);
    orr_env_info info;
    assert_ok(orr_env_describe(env, &info, &error));
    assert_string_equal(info.task, "callbacks");
    for (int step = 0; step < 6; step++) { // two steps, and one that begins the next episode
        float push[COUNT];
        for (int i = 0; i < COUNT; i++) {
            push[i] = (float)(i + 1);
        }
        assert_ok(orr_env_step(env, push, &error));
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint32_t episode = (uint32_t)step / 3, seed = 5 + i;
            const double mass = 3.0 * (1.0 + uniform(seed, episode, 100)),
                         gear = 1.0 + uniform(seed, episode, 101), moves = (double)(step % 3) + 1.0;
            const double speed = 0.01 * gear * (double)push[i] / mass, *seen = r.observation + 4 * i;
            if (step % 3 < 2) {
                assert_true(fabs(seen[0] - moves * speed) < 1e-12);
                assert_true(fabs(seen[1] - (moves - 1.0) * speed) < 1e-12 && seen[3] == push[i]);
            } else {
                assert_true(seen[0] == 0.0 && seen[1] == 0.0 && seen[3] == -1.0);
            }
            assert_true(seen[2] == (double)((step + 1) / 3 + 1)); // begun with its seed
        }
    }
    orr_env_destroy(env);
}

// Sensors of forces and accelerations after a step are those of the state before its last time step; the
// others too, or, up to date, those of the state after it. Two bodies spin, so that accelerations depend on
// velocities.
enum { SENSED = 15 }; // accelerometer, force, torque; gyro, position

static void sensed_observe(void *user, const orr_env_batch *batch, double *observation)
{
    (void)user;
    memcpy(observation, batch->numbers + batch->offsets[0], SENSED * sizeof *observation);
}

static void spin_start(void *user, const orr_env_batch *batch, double *qpos, double *qvel)
{
    (void)user, (void)qpos;
    for (int k = 0; k < batch->qvel_count; k++) {
        qvel[k] = 1.0 + k;
    }
}

static void sensors_are_of_the_last_time_step_or_up_to_date(void **state)
{
    (void)state;
    static const char spins[] =
        "<mujoco><option timestep='0.01'/><worldbody><body pos='0 0 5'><freejoint/>"
        "<geom type='box' size='0.1 0.2 0.3'/><body pos='0 0.2 0.3'><joint axis='0 1 0' name='j'/>"
        "<joint axis='1 0 0' pos='0 0 0.1'/><geom type='capsule' size='0.05 0.2' pos='0.1 0 0.2'/>"
        "<site name='s' pos='0 0 0.3'/></body></body></worldbody><actuator><motor "
        "joint='j'/></actuator><sensor>"
        "<accelerometer site='s'/><force site='s'/><torque site='s'/><gyro site='s'/>"
        "<framepos objtype='site' objname='s'/></sensor></mujoco>";
    static const orr_robot_quantity reads[] = {ORR_ROBOT_SENSOR};
    char path[256];
    snprintf(path, sizeof path, "%s", written("spins.xml", spins));
    for (int fresh = 0; fresh < 2; fresh++) {
        const orr_env_callbacks task = {.size = sizeof task,
                                        .observation_count = SENSED,
                                        .quantities = reads,
                                        .quantity_count = 1,
                                        .start = spin_start,
                                        .observe = sensed_observe,
                                        .up_to_date = fresh};
        const orr_env_desc desc = {.model = path, .count = 1, .double_precision = true, .callbacks = &task};
        orr_env *env;
        double before[SENSED], after[SENSED];
        assert_ok(orr_env_create(engine, &desc, &env, &error));
        assert_ok(orr_env_get_quantity(env, ORR_ROBOT_SENSOR, before, &error));
        assert_ok(orr_env_step(env, &(float){0.0f}, &error));
        assert_ok(orr_env_get_quantity(env, ORR_ROBOT_SENSOR, after, &error));
        const double *o = results_of(env).observation;
        for (int k = 0; k < SENSED; k++) {
            const double expected = fresh && k >= 9 ? after[k] : before[k];
            if (!(fabs(o[k] - expected) < 1e-11 && fabs(after[k] - before[k]) > 1e-4)) {
                fail_msg("up to date %d, number %d: %g, expected %g", fresh, k, o[k], expected);
            }
        }
        orr_env_destroy(env);
    }
}

static void all_zero(void *user, const orr_env_batch *batch, double *observation)
{
    (void)user, (void)batch, (void)observation;
}

static void negative(void *user, const orr_env_batch *batch, int index, int size, double *values)
{
    (void)user, (void)index;
    if (size == 2 && batch->first + batch->count > 3) {
        values[2 * 3 + 1] = -1.0;
    }
}

static void mistakes_of_callbacks_are_named(void **state)
{
    (void)state;
    static const orr_robot_quantity twice[] = {ORR_ROBOT_QVEL, ORR_ROBOT_QVEL},
                                    none[] = {(orr_robot_quantity)99}, inverse[] = {ORR_ROBOT_QFRC_INVERSE};
    static const orr_robot_parameter start[] = {ORR_PARAMETER_START_QPOS}, mass[] = {ORR_PARAMETER_BODY_MASS};
    const size_t size = sizeof(orr_env_callbacks);
    const struct {
        orr_env_callbacks task;
        const char *expected;
    } wrong[] = {
        {{.size = size, .observation_count = 1}, "expected the function observe"},
        {{.size = size, .observe = all_zero}, "of 1 to 1000000 numbers, not 0"},
        {{.size = size, .observe = all_zero, .observation_count = 1, .frame_skip = -1}, "frame_skip -1"},
        {{.size = size,
          .observe = all_zero,
          .observation_count = 1,
          .quantities = twice,
          .quantity_count = 2},
         "quantity 2: expected each once"},
        {{.size = size, .observe = all_zero, .observation_count = 1, .quantities = none, .quantity_count = 1},
         "quantity 99: expected 0 to"},
        {{.size = size,
          .observe = all_zero,
          .observation_count = 1,
          .quantities = inverse,
          .quantity_count = 1},
         "expected one that a step computes"},
        {{.size = size, .observe = all_zero, .observation_count = 1, .quantity_count = 1}, "expected a list"},
        {{.size = size,
          .observe = all_zero,
          .observation_count = 1,
          .parameters = start,
          .parameter_count = 1},
         "parameter 9: expected 0 to 8"},
        {{.size = size,
          .observe = all_zero,
          .observation_count = 1,
          .parameters = mass,
          .parameter_count = 1,
          .randomise = negative},
         "body_mass: world 3, number 1: expected at least 0"},
    };
    char path[256];
    snprintf(path, sizeof path, "%s",
             written("cart.xml", "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body>"
                                 "</worldbody><actuator><motor joint='j'/></actuator></mujoco>"));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        orr_env *env;
        orr_error why = {0};
        const orr_env_desc desc = {.model = path, .count = 5, .callbacks = &wrong[i].task};
        assert_int_equal(orr_env_create(engine, &desc, &env, &why), ORR_ERROR_ARGUMENT);
        if (!strstr(why.message, wrong[i].expected)) {
            fail_msg("%zu: %s (expected '%s')", i, why.message, wrong[i].expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_begin_as_the_mode_says),
        cmocka_unit_test(episodes_do_not_depend_on_threads_or_number),
        cmocka_unit_test(seeds_and_masks_begin_episodes),
        cmocka_unit_test(numbers_that_diverge_end_one_episode),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(callbacks_are_the_task_that_they_describe),
        cmocka_unit_test(each_episode_has_parameters_of_its_own),
        cmocka_unit_test(sensors_are_of_the_last_time_step_or_up_to_date),
        cmocka_unit_test(mistakes_of_callbacks_are_named),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
