// Pixels as a part of observations: what is in them and when, mistakes in task files, and policies that learn
// from them.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/policy/policy.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A cart, a ball that is somewhere else in each episode, and cameras before them and on the cart.
static const char cart[] =
    "<mujoco><option timestep='0.01'/><worldbody><light directional='true' dir='0.7 0.1 -0.7'/>"
    "<camera name='ahead' pos='-0.55 0 0.4' xyaxes='0 -1 0 0.05 0 1' fovy='52'/>"
    "<body name='cart' pos='0.3 0 0.22'><joint name='cart' type='slide' axis='0 1 0' damping='1'/>"
    "<camera name='rider' pos='-0.3 0 0.3' xyaxes='0 -1 0 0.5 0 1'/>"
    "<geom name='cart' type='box' size='0.05 0.06 0.04' mass='1' rgba='0.2 0.4 0.9 1'/></body>"
    "<body name='ball' mocap='true' pos='0.3 0 0.42'><geom size='0.06' rgba='0.3 0.95 0.3 1'/></body>"
    "</worldbody><actuator><velocity joint='cart' kv='40' ctrllimited='true' ctrlrange='-1 1'/></actuator>"
    "</mujoco>";
#define PIXELS "\"cameras\": [\"rider\", \"ahead\"], \"width\": 6, \"height\": 4, \"samples\": 3"

enum {
    COUNT = 5,
    STATES = 3, // numbers of the terms
    WIDTH = 6,
    HEIGHT = 4,
    SAMPLES = 3,
    NUMBERS = 2 * WIDTH * HEIGHT * 3,
    SEEN = STATES + NUMBERS,
    EPISODE = 4
};

// pixels, more: members of "pixels", nullable; other members of the task. why: it is refused; NULL: it is
// made.
static orr_env *make(orr_engine *on, const char *pixels, const char *more, orr_autoreset autoreset,
                     orr_error *why)
{
    orr_env *env = NULL;
    char path[256], text[2048];
    snprintf(path, sizeof path, "%s", written("cart.xml", cart));
    snprintf(text, sizeof text,
             "{\"orrery_task\": 1, \"frame_skip\": 5, \"max_steps\": %d, \"observation\": ["
             "{\"of\": \"qpos\", \"noise\": 0.1}, {\"of\": \"qvel\", \"delay\": 2}, {\"of\": \"constant\"}], "
             "\"reward\": [], \"start\": {\"draw\": [{\"joint\": \"cart\", \"low\": -0.4, \"high\": 0.4}, "
             "{\"mocap\": \"ball\", \"axes\": \"y\", \"low\": -0.4, \"high\": 0.4}]}%s%s%s%s}",
             EPISODE, pixels ? ", \"pixels\": {" : "", pixels ? pixels : "", pixels ? "}" : "", more);
    const orr_env_desc desc = {.task = "cart.json",
                               .task_text = text,
                               .model = path,
                               .count = COUNT,
                               .seed = 5,
                               .autoreset = autoreset};
    if (why) {
        assert_true(orr_env_create(on, &desc, &env, why) != ORR_OK);
    } else {
        assert_ok(orr_env_create(on, &desc, &env, &error));
    }
    return env;
}

// Drives each cart another way.
static void step(orr_env *env)
{
    const float actions[COUNT] = {-1.0f, -0.4f, 0.1f, 0.5f, 1.0f};
    assert_ok(orr_env_step(env, actions, &error));
}

// ---- what is observed ----

// Eyes over the same world, with the looks and surfaces that the task has drawn.
static orr_eyes *eyes_over(orr_env *env, int width, int height)
{
    static const int cameras[] = {1, 0}; // rider, ahead
    orr_scene *scene;
    orr_world *world = orr_env_world(env, &scene);
    orr_eyes *eyes;
    orr_eyes_surfaces_desc desc;
    assert_non_null(world);
    assert_ok(orr_eyes_create(
        world, &(orr_eyes_desc){.cameras = cameras, .camera_count = 2, .width = width, .height = height},
        &eyes, &error));
    assert_ok(orr_env_get_surfaces_desc(env, &desc, &error));
    if (desc.target_count > 0) {
        assert_ok(orr_eyes_vary_surfaces(eyes, &desc, &error));
    }
    return eyes;
}

static void draw(orr_env *env, orr_eyes *eyes, uint8_t *rgb)
{
    orr_eyes_look looks[COUNT];
    orr_eyes_surface surfaces[COUNT];
    orr_eyes_surfaces_desc desc;
    assert_ok(orr_env_get_looks(env, looks, &error));
    assert_ok(orr_eyes_set_looks(eyes, NULL, looks, &error));
    assert_ok(orr_env_get_surfaces_desc(env, &desc, &error));
    if (desc.target_count > 0) {
        assert_int_equal(desc.target_count, 1);
        assert_ok(orr_env_get_surfaces(env, surfaces, &error));
        assert_ok(orr_eyes_set_surfaces(eyes, NULL, surfaces, &error));
    }
    assert_ok(orr_eyes_draw(eyes, NULL, &(orr_eyes_pictures){.rgb = rgb}, &error));
}

// Each number is the mean of the SAMPLES x SAMPLES pixels that a larger picture has in its place.
static void assert_sees(orr_env *env, orr_eyes *eyes, const double *observation)
{
    static uint8_t rgb[COUNT][2][HEIGHT * SAMPLES][WIDTH * SAMPLES][3];
    draw(env, eyes, rgb[0][0][0][0]);
    for (int i = 0; i < COUNT; i++) {
        const double *seen = observation + (ptrdiff_t)i * SEEN + STATES;
        for (int k = 0; k < NUMBERS; k++) {
            const int colour = k % 3, x = k / 3 % WIDTH, y = k / 3 / WIDTH % HEIGHT,
                      camera = k / 3 / WIDTH / HEIGHT;
            double sum = 0.0;
            for (int s = 0; s < SAMPLES * SAMPLES; s++) {
                sum += rgb[i][camera][y * SAMPLES + s / SAMPLES][x * SAMPLES + s % SAMPLES][colour];
            }
            if (fabs(seen[k] - sum / (255.0 * SAMPLES * SAMPLES)) > 1e-12) {
                fail_msg("environment %d, camera %d, pixel %d, %d, colour %d: %.4f, expected %.4f", i, camera,
                         x, y, colour, seen[k], sum / (255.0 * SAMPLES * SAMPLES));
            }
        }
    }
}

static double largest_change(const double *a, const double *b)
{
    double most = 0.0;
    for (int k = 0; k < NUMBERS; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

// In resets, steps, and the step that begins the next episode; without what the terms' noise and delay do.
static void pixels_are_means_of_pictures(void **state)
{
    (void)state;
    orr_env *env = make(engine, PIXELS, "", ORR_AUTORESET_NEXT_STEP, NULL),
            *blind = make(engine, NULL, "", ORR_AUTORESET_NEXT_STEP, NULL);
    orr_env_results r, without;
    orr_env_info info;
    assert_ok(orr_env_describe(env, &info, &error));
    assert_int_equal(info.observation_count, SEEN);
    assert_ok(orr_env_get_results(env, &r, &error));
    assert_ok(orr_env_get_results(blind, &without, &error));
    orr_eyes *eyes = eyes_over(env, WIDTH * SAMPLES, HEIGHT * SAMPLES);
    assert_true(largest_change(r.observation + STATES, r.observation + SEEN + STATES) > 0.2);
    for (int i = 0; i < 2 * EPISODE + 2; i++) {
        assert_sees(env, eyes, r.observation);
        for (int k = 0; k < COUNT; k++) {
            assert_memory_equal(r.observation + (ptrdiff_t)k * SEEN,
                                without.observation + (ptrdiff_t)k * STATES, STATES * sizeof *r.observation);
        }
        step(env);
        step(blind);
    }
    orr_eyes_destroy(eyes);
    orr_env_destroy(env);
    orr_env_destroy(blind);
}

// What an episode's last pictures show is not of the one that follows: as where none does.
static void last_pictures_are_of_the_episode(void **state)
{
    (void)state;
    orr_env *same = make(engine, PIXELS, "", ORR_AUTORESET_SAME_STEP, NULL),
            *next = make(engine, PIXELS, "", ORR_AUTORESET_NEXT_STEP, NULL);
    orr_env_results r, of_next;
    assert_ok(orr_env_get_results(same, &r, &error));
    assert_ok(orr_env_get_results(next, &of_next, &error));
    orr_eyes *eyes = eyes_over(same, WIDTH * SAMPLES, HEIGHT * SAMPLES);
    for (int i = 0; i < EPISODE; i++) {
        step(same);
        step(next);
    }
    assert_true(r.truncated[0]);
    assert_memory_equal(r.final_observation, of_next.observation, COUNT * SEEN * sizeof *r.observation);
    assert_sees(same, eyes, r.observation);
    assert_true(largest_change(r.observation + STATES, r.final_observation + STATES) > 0.05);
    orr_eyes_destroy(eyes);
    orr_env_destroy(same);
    orr_env_destroy(next);
}

static void states_that_are_set_are_seen(void **state)
{
    (void)state;
    orr_env *env = make(engine, PIXELS, "", ORR_AUTORESET_NEXT_STEP, NULL);
    orr_env_results r;
    const double at = 0.3, slow = 0.0;
    double before[COUNT * SEEN];
    assert_ok(orr_env_get_results(env, &r, &error));
    memcpy(before, r.observation, sizeof before);
    assert_ok(orr_env_set_state(env, 3, &at, &slow, &error));
    assert_true(largest_change(before + 3 * SEEN + STATES, r.observation + 3 * SEEN + STATES) > 0.05);
    assert_memory_equal(before, r.observation, 3 * SEEN * sizeof *before);
    orr_eyes *eyes = eyes_over(env, WIDTH * SAMPLES, HEIGHT * SAMPLES);
    assert_sees(env, eyes, r.observation);
    orr_eyes_destroy(eyes);
    orr_env_destroy(env);
}

static void looks_of_episodes_are_seen(void **state)
{
    (void)state;
    static const char looks[] = ", \"randomise\": [{\"of\": \"exposure\", \"uniform\": [-1, 1]}, {\"of\": "
                                "\"geom_surface\", \"name\": "
                                "\"cart\", \"colour\": [[0, 0, 0], [1, 1, 1]]}]";
    orr_env *env = make(engine, PIXELS, looks, ORR_AUTORESET_SAME_STEP, NULL);
    orr_env_results r;
    assert_ok(orr_env_get_results(env, &r, &error));
    orr_eyes *eyes = eyes_over(env, WIDTH * SAMPLES, HEIGHT * SAMPLES);
    for (int i = 0; i < EPISODE + 1; i++) {
        assert_sees(env, eyes, r.observation);
        step(env);
    }
    orr_eyes_destroy(eyes);
    orr_env_destroy(env);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"\"width\": 0", "cart.json: pixels.width: expected a whole number, 1 to 256"},
        {"\"samples\": 9", "cart.json: pixels.samples: expected a whole number, 1 to 8"},
        {"\"size\": 3", "cart.json: pixels.size: expected"},
        {"\"cameras\": []", "cart.json: pixels.cameras: expected a list of 1 to 8 names"},
        {"\"cameras\": [3]", "cart.json: pixels.cameras: expected names of cameras"},
        {"\"cameras\": [\"behind\"]", "cart.xml: task cart.json: pixels: expected a camera named behind"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        orr_error why = {0};
        make(engine, cases[i][0], "", ORR_AUTORESET_NEXT_STEP, &why);
        if (!strstr(why.message, cases[i][1])) {
            fail_msg("%s: expected %s", why.message, cases[i][1]);
        }
    }
}

// ---- learning ----

static orr_policy_trainer *trainer_of(orr_engine *on, const char *task, int horizon, const char *resume)
{
    orr_policy_trainer *trainer;
    const orr_policy_train_desc desc = {
        .task = task, .count = 64, .horizon = horizon, .seed = 3, .resume = resume};
    assert_ok(orr_policy_trainer_create(on, &desc, &trainer, &error));
    return trainer;
}

// Three iterations by one thread; two, and one more from the file, by three.
static void a_training_from_pixels_goes_on_to_the_same_bits(void **state)
{
    (void)state;
    char task[512], path[512];
    orr_bytes bytes[2];
    written("cart.xml", cart);
    snprintf(task, sizeof task, "%s",
             written("seen.json", "{\"orrery_task\": 1, \"model\": \"cart.xml\", \"max_steps\": 6, "
                                  "\"pixels\": {\"width\": 6, \"height\": 4, \"samples\": 1}, "
                                  "\"observation\": [{\"of\": \"qpos\", \"delay\": 2}], \"reward\": "
                                  "[{\"of\": \"qpos\"}], \"start\": {\"qpos_noise\": 0.3}, \"randomise\": "
                                  "[{\"of\": \"exposure\", \"uniform\": [-1, 1]}]}"));
    snprintf(path, sizeof path, "%s", scratch_path("seen.policy"));
    for (int i = 0; i < 2; i++) {
        orr_engine *own;
        const orr_engine_desc desc = {.device = ORR_DEVICE_CPU, .threads = i == 0 ? 1 : 3};
        assert_ok(orr_engine_create(&desc, &own, &error));
        orr_policy_trainer *trainer = trainer_of(own, task, 4, NULL);
        for (int k = 0; k < 3; k++) {
            if (i == 1 && k == 2) {
                assert_ok(orr_policy_trainer_save(trainer, path, &error));
                orr_policy_trainer_destroy(trainer);
                trainer = trainer_of(own, task, 4, path);
            }
            assert_ok(orr_policy_trainer_step(trainer, &error));
        }
        assert_ok(orr_policy_trainer_save(trainer, path, &error));
        assert_ok(orr_file_read(path, &bytes[i], &error));
        orr_policy_trainer_destroy(trainer);
        orr_engine_destroy(own);
    }
    assert_true(bytes[0].size == bytes[1].size && memcmp(bytes[0].data, bytes[1].data, bytes[0].size) == 0);
    orr_free(bytes[0].data);
    orr_free(bytes[1].data);
}

#ifndef ORR_SANITIZED // a minute there, and the other tests run the same code
// The share of 256 episodes whose last reward says that the cart is within 5 cm of the ball.
static double success_rate(const char *task, orr_policy *policy)
{
    enum { EPISODES = 256, STEPS = 40 };
    static float actions[EPISODES];
    orr_env *env;
    orr_env_results r;
    const orr_env_desc desc = {
        .task = task, .count = EPISODES, .seed = 1000, .autoreset = ORR_AUTORESET_NEXT_STEP};
    int reached = 0;
    assert_ok(orr_env_create(engine, &desc, &env, &error));
    assert_ok(orr_env_get_results(env, &r, &error));
    for (int i = 0; i < STEPS; i++) {
        assert_ok(orr_policy_act(policy, r.observation, EPISODES, actions, &error));
        assert_ok(orr_env_step(env, actions, &error));
    }
    for (int i = 0; i < EPISODES; i++) {
        assert_true(r.truncated[i]);
        reached += r.reward[i] >= 1.0 - 0.05 / 0.4; // of cart.json: 1 - distance / 0.4
    }
    orr_env_destroy(env);
    return reached / (double)EPISODES;
}

// 32,768 steps. No blind policy reaches more than 0.05 / 0.4 of the balls, and what chance adds.
static void a_policy_learns_from_pixels_what_a_blind_one_cannot(void **state)
{
    (void)state;
    enum { HORIZON = 32, ITERATIONS = 16 };
    static const char *const names[] = {"tasks/cart.json", "tasks/cart_vision.json"};
    double rates[2];
    if (is_left_to_best_isa()) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        char task[512];
        snprintf(task, sizeof task, "%s", made_asset(names[i]));
        orr_policy_trainer *trainer = trainer_of(engine, task, HORIZON, NULL);
        for (int k = 0; k < ITERATIONS; k++) {
            assert_ok(orr_policy_trainer_step(trainer, &error));
        }
        rates[i] = success_rate(task, orr_policy_trainer_policy(trainer));
        orr_policy_trainer_destroy(trainer);
    }
    print_message("success rates: %.2f blind, %.2f from pixels\n", rates[0], rates[1]);
    assert_true(rates[0] < 0.22 && rates[1] > 0.5);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_means_of_pictures),
        cmocka_unit_test(last_pictures_are_of_the_episode),
        cmocka_unit_test(states_that_are_set_are_seen),
        cmocka_unit_test(looks_of_episodes_are_seen),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(a_training_from_pixels_goes_on_to_the_same_bits),
#ifndef ORR_SANITIZED
        cmocka_unit_test(a_policy_learns_from_pixels_what_a_blind_one_cannot),
#endif
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
