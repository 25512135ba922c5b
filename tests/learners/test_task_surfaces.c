// Looks of surfaces in task files: what is drawn, that eyes take it, and mistakes in it.
#include "engine/core/file.h"
#include "engine/core/result.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

static const char ball[] =
    "<mujoco><asset><texture name='tiles' type='2d' builtin='checker' rgb1='1 0 0' width='8' height='8'/>"
    "<material name='floor' texture='tiles'/><material name='skin' rgba='.5 .4 .3 1'/></asset><worldbody>"
    "<geom name='floor' type='plane' size='1 1 1' material='floor'/><body name='ball'><joint name='x' "
    "type='slide' axis='1 0 0'/><geom name='ball' type='sphere' size='.2' material='skin'/>"
    "<geom name='ear' type='sphere' size='.1' pos='0 0 .2' rgba='1 .5 0 1'/></body></worldbody>"
    "<actuator><motor joint='x'/></actuator></mujoco>";

enum { COUNT = 60, EPISODE = 3 };

// why: it is refused; NULL: it is made
static orr_env *make(orr_engine *on, const char *entries, int count, orr_error *why)
{
    orr_env *env = NULL;
    char path[256], text[2048];
    snprintf(path, sizeof path, "%s", written("ball.xml", ball));
    snprintf(text, sizeof text,
             "{\"orrery_task\": 1, \"max_steps\": %d, \"observation\": [{\"of\": \"qpos\"}], \"reward\": [],"
             " \"randomise\": [%s]}",
             EPISODE, entries);
    const orr_env_desc desc = {.task = "looks.json",
                               .task_text = text,
                               .model = path,
                               .count = count,
                               .seed = 5,
                               .autoreset = ORR_AUTORESET_SAME_STEP};
    if (why) {
        assert_true(orr_env_create(on, &desc, &env, why) != ORR_OK);
    } else {
        assert_ok(orr_env_create(on, &desc, &env, &error));
    }
    return env;
}

static const char looks[] =
    "{\"of\": \"geom_surface\", \"name\": [\"ball\", \"ear\"], \"pattern\": [\"flat\", \"checker\", "
    "\"noise\"],"
    " \"texture\": \"tiles\", \"colours\": [[0.5, 0, 0.25], [1, 0, 0.75]], \"cells\": [3, 5]},"
    "{\"of\": \"material_surface\", \"each\": true, \"colour\": [[0, 0.5, 0], [0.5, 1, 0]],"
    " \"specular\": [0.2, 0.4]},"
    "{\"of\": \"exposure\", \"uniform\": [-1, 1]}";
enum { TARGETS = 4 };

static void draws_are_as_described(void **state)
{
    (void)state;
    orr_env *env = make(engine, looks, COUNT, NULL);
    orr_eyes_surfaces_desc desc;
    orr_eyes_surface s[COUNT][TARGETS], next[COUNT][TARGETS];
    assert_ok(orr_env_get_surfaces_desc(env, &desc, &error));
    assert_int_equal(desc.target_count, TARGETS);
    assert_int_equal(desc.texture_count, 1);
    assert_string_equal(desc.targets[1].geom, "ear");
    assert_string_equal(desc.targets[2].material, "floor");
    assert_string_equal(desc.targets[3].material, "skin");
    assert_string_equal(desc.textures[0].name, "tiles");
    assert_ok(orr_env_get_surfaces(env, s[0], &error));
    int of[ORR_PATTERN_PICTURE + 1] = {0}, cells[6] = {0};
    float least = 1.0f, most = 0.0f;
    for (int i = 0; i < COUNT; i++) {
        assert_memory_equal(&s[i][0], &s[i][1], sizeof s[i][0]); // one draw for both
        of[s[i][0].pattern]++;
        cells[s[i][0].cells]++;
        assert_true(s[i][0].changes == 0 && s[i][0].picture == 0);
        for (int k = 0; k < 2; k++) {
            const float *c = s[i][0].colours[k];
            assert_true(c[0] >= 0.5f && c[0] <= 1.0f && c[1] == 0.0f && c[2] >= 0.25f && c[2] <= 0.75f);
        }
        for (int k = 2; k < 4; k++) {
            const orr_eyes_surface *m = &s[i][k];
            assert_true(m->pattern == ORR_PATTERN_OWN &&
                        m->changes == (ORR_SURFACE_COLOUR | ORR_SURFACE_SPECULAR));
            assert_true(m->colour[0] <= 0.5f && m->colour[1] >= 0.5f && m->colour[2] == 0.0f);
            assert_true(m->specular >= 0.2f && m->specular <= 0.4f);
            least = m->specular < least ? m->specular : least;
            most = m->specular > most ? m->specular : most;
        }
        assert_true(s[i][2].specular != s[i][3].specular);
    }
    // each of four in 60: less than 4 has a chance of 1e-4; each of three numbers of cells likewise
    assert_true(of[ORR_PATTERN_OWN] == 0 && of[ORR_PATTERN_GRADIENT] == 0);
    assert_true(of[ORR_PATTERN_FLAT] >= 4 && of[ORR_PATTERN_CHECKER] >= 4 && of[ORR_PATTERN_NOISE] >= 4 &&
                of[ORR_PATTERN_PICTURE] >= 4);
    assert_true(cells[3] >= 4 && cells[4] >= 4 && cells[5] >= 4);
    assert_true(least < 0.22f && most > 0.38f); // 120 numbers
    float actions[COUNT] = {0};
    for (int step = 1; step <= EPISODE; step++) { // they stay for an episode
        assert_ok(orr_env_step(env, actions, &error));
        assert_ok(orr_env_get_surfaces(env, next[0], &error));
        assert_true((memcmp(s, next, sizeof s) == 0) == (step < EPISODE));
    }
    orr_env_destroy(env);
    // whatever the number of environments and threads
    orr_engine *own;
    assert_ok(orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = 3}, &own, &error));
    env = make(own, looks, 7, NULL);
    assert_ok(orr_env_get_surfaces(env, next[0], &error));
    assert_memory_equal(s, next, 7 * sizeof s[0]);
    orr_env_destroy(env);
    orr_engine_destroy(own);
}

// Eyes take what a task says, of its robot in a scene of its own.
static void eyes_show_what_a_task_draws(void **state)
{
    (void)state;
    enum { SIDE = 32, SEEN = 8 };
    static uint8_t before[SEEN * SIDE * SIDE * 3], after[SEEN * SIDE * SIDE * 3];
    orr_env *env = make(engine, looks, SEEN, NULL);
    orr_eyes_surfaces_desc desc;
    orr_eyes_surface surfaces[SEEN * TARGETS];
    orr_scene *scene;
    orr_world *world;
    orr_eyes *eyes;
    orr_layer robot;
    assert_ok(orr_env_get_surfaces_desc(env, &desc, &error));
    assert_ok(orr_env_get_surfaces(env, surfaces, &error));
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_file(scene, written("ball.xml", ball), NULL, &robot, &error));
    assert_ok(orr_world_create(scene, SEEN, &world, &error));
    const orr_camera camera =
        orr_camera_look_at((float[]){0, -2, 1}, (float[]){0, 0, 0}, (float[]){0, 0, 1}, 0.6f, SIDE, SIDE);
    assert_ok(orr_eyes_create(
        world, &(orr_eyes_desc){.views = &camera, .view_count = 1, .width = SIDE, .height = SIDE}, &eyes,
        &error));
    assert_ok(orr_eyes_draw(eyes, NULL, &(orr_eyes_pictures){.rgb = before}, &error));
    assert_ok(orr_eyes_vary_surfaces(eyes, &desc, &error));
    assert_ok(orr_eyes_set_surfaces(eyes, NULL, surfaces, &error));
    assert_ok(orr_eyes_draw(eyes, NULL, &(orr_eyes_pictures){.rgb = after}, &error));
    for (size_t i = 0; i < SEEN; i++) {
        const size_t size = sizeof before / SEEN;
        assert_true(memcmp(before + i * size, after + i * size, size) != 0);
        assert_true(i == 0 || memcmp(after, after + i * size, size) != 0);
    }
    orr_eyes_destroy(eyes);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_env_destroy(env);
    env = make(engine, "", 1, NULL); // a task that says nothing
    assert_ok(orr_env_get_surfaces_desc(env, &desc, &error));
    assert_int_equal(desc.target_count, 0);
    orr_env_destroy(env);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{\"of\": \"geom_surface\", \"name\": \"nose\", \"pattern\": \"flat\"}",
         "looks.json: randomise[0].name: expected names of geoms of this robot, which has no nose"},
        {"{\"of\": \"material_surface\", \"name\": \"ball\", \"pattern\": \"flat\"}",
         "looks.json: randomise[0].name: expected names of materials of this robot, which has no ball"},
        {"{\"of\": \"geom_surface\", \"pattern\": \"stripes\"}",
         "looks.json: randomise[0].pattern: expected some of flat, checker, gradient and noise"},
        {"{\"of\": \"geom_surface\", \"pattern\": []}",
         "looks.json: randomise[0].pattern: expected a text, or a list of some"},
        {"{\"of\": \"geom_surface\", \"pattern\": [3]}",
         "looks.json: randomise[0].pattern: expected a text, or a list of some"},
        {"{\"of\": \"geom_surface\", \"texture\": \"wood\"}",
         "looks.json: randomise[0].texture: expected names of textures of this robot, which has no wood"},
        {"{\"of\": \"geom_surface\", \"picture\": \"wood.png\"}",
         "looks.json: randomise[0].picture: expected pictures beside this file, there is no wood.png"},
        {"{\"of\": \"geom_surface\", \"pattern\": \"flat\", \"colours\": [[0, 0, 0], [1, 1, 2]]}",
         "looks.json: randomise[0].colours: expected [LOW, HIGH] of three numbers each, 0 to 1, with LOW <= "
         "HIGH"},
        {"{\"of\": \"geom_surface\", \"colour\": [[0, 1, 0], [1, 0, 1]]}",
         "looks.json: randomise[0].colour: expected [LOW, HIGH] of three numbers each, 0 to 1, with LOW <= "
         "HIGH"},
        {"{\"of\": \"geom_surface\", \"pattern\": \"noise\", \"cells\": [2, 33]}",
         "looks.json: randomise[0].cells: expected [LOW, HIGH], whole numbers, 1 to 32"},
        {"{\"of\": \"geom_surface\", \"specular\": [0.5, 1.5]}",
         "looks.json: randomise[0].specular: expected 0 <= LOW <= HIGH <= 1"},
        {"{\"of\": \"geom_surface\", \"each\": true, \"pattern\": \"flat\"}",
         "looks.json: randomise[0].name: expected geoms, of which each is drawn"},
        {"{\"of\": \"geom_surface\"}",
         "looks.json: randomise[0]: expected pattern, picture, texture, colour or a number of materials"},
        {"{\"of\": \"geom_surface\", \"uniform\": [0, 1]}", "looks.json: randomise[0].uniform"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        orr_error why = {0};
        assert_null(make(engine, wrong[i][0], 1, &why));
        if (strncmp(why.message, wrong[i][1], strlen(wrong[i][1])) != 0) {
            fail_msg("'%s', expected '%s'", why.message, wrong[i][1]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_as_described),
        cmocka_unit_test(eyes_show_what_a_task_draws),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
