// Tests of eyes whose cameras stand still: what is kept of clouds, meshes and mirrors changes no bit,
// whatever moves.
#include "engine/core/result.h"
#include "engine/maths/rng.h"
#include "engine/orrery.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COPIES = 6, WIDTH = 40, HEIGHT = 28, PIXELS = WIDTH * HEIGHT, SPLATS = 3000, JOINTS = 2 };

// A box and a ball that slide over a floor, before a haze of splats.
static const char *const model =
    "<mujoco><asset><texture name='c' type='2d' builtin='checker' rgb1='.2 .3 .4' rgb2='.9 .8 .7' width='32' "
    "height='32'/><texture type='skybox' builtin='gradient' rgb1='.3 .5 .7' rgb2='.1 .1 .2' width='32' "
    "height='32'/><material name='floor' texture='c' texrepeat='6 6' reflectance='%s'/></asset>"
    "<visual><headlight ambient='.3 .3 .3' diffuse='.5 .5 .5'/></visual><worldbody>"
    "<light directional='true' dir='.3 .2 -1' castshadow='%s'/>"
    "<geom name='floor' type='plane' size='4 4 .1' material='floor'/>"
    "<geom name='post' type='box' size='.2 .2 .6' pos='-1 .8 .6' rgba='.2 .6 .3 1'/>"
    "<body pos='0 0 .3'><joint type='slide' axis='1 0 0'/>"
    "<geom name='box' type='box' size='.3 .3 .3' rgba='.9 .2 .1 %s'/></body>"
    "<body pos='0 .6 .4'><joint type='slide' axis='1 0 0'/>"
    "<geom name='ball' type='sphere' size='.3' rgba='.2 .3 .9 1'/></body>"
    "</worldbody></mujoco>";

typedef struct setting {
    const char *reflectance, *shadows, *opacity; // of the floor, of the light, of the box
    bool cloud, smooth, looks, surfaces, segmentation;
    bool alone; // one copy is drawn
} setting;

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
    orr_eyes *kept, *anew;
} stage;

typedef struct pictures {
    uint8_t rgb[COPIES * PIXELS * 3 + 1]; // the last is not written
    float rgba[COPIES * PIXELS * 4], depth[COPIES * PIXELS];
    int32_t segmentation[COPIES * PIXELS * 2];
} pictures;

static pictures with, without;

static void add_cloud(orr_scene *scene)
{
    orr_splats *splats;
    orr_rng rng = {.seed = 3};
    assert_ok(orr_splats_create(SPLATS, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    for (int i = 0; i < SPLATS; i++) {
        for (int k = 0; k < 3; k++) {
            const float size[3] = {3.0f, 2.0f, 1.5f};
            data.position[3 * i + k] = size[k] * (orr_rng_uniform(&rng) - (k < 2 ? 0.5f : 0.0f));
            data.log_scale[3 * i + k] = logf(0.03f);
            data.colour[3 * i + k] = orr_rng_uniform(&rng);
        }
        data.opacity[i] = -1.0f;
    }
    assert_ok(orr_scene_add_splats(scene, "haze", splats, NULL, NULL, &error));
    orr_splats_destroy(splats);
}

static orr_camera camera_at(float x)
{
    return orr_camera_look_at((float[]){x, -4.0f, 2.0f}, (float[]){0, 0, 0.4f}, (float[]){0, 0, 1}, 0.8f,
                              WIDTH, HEIGHT);
}

// Another colour of each copy's floor in each round.
static void paint(orr_eyes *eyes, int round)
{
    orr_eyes_surface look[COPIES] = {0};
    for (int i = 0; i < COPIES; i++) {
        look[i].pattern = ORR_PATTERN_FLAT;
        look[i].colours[0][i % 3] = 0.1f * (float)i;
        look[i].colours[0][(i + 1) % 3] = 0.3f * (float)round;
    }
    assert_ok(orr_eyes_set_surfaces(eyes, NULL, look, &error));
}

static orr_eyes *eyes_make(const stage *s, const setting *of, bool no_reuse)
{
    const orr_camera camera = camera_at(0.0f);
    const orr_eyes_desc desc = {.views = &camera,
                                .view_count = 1,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .look = {.no_reuse = no_reuse},
                                .smooth_edges = of->smooth};
    orr_eyes *eyes;
    assert_ok(orr_eyes_create(s->world, &desc, &eyes, &error));
    if (of->surfaces) { // of the floor, which stands still
        const orr_eyes_target target = {.geom = "floor"};
        const orr_eyes_surfaces_desc surfaces = {.targets = &target, .target_count = 1};
        assert_ok(orr_eyes_vary_surfaces(eyes, &surfaces, &error));
        paint(eyes, 0);
    }
    if (of->looks) {
        orr_eyes_look looks[COPIES] = {0};
        for (int i = 0; i < COPIES; i++) {
            looks[i].light[i % 3] = 0.3f * (float)(i / 2);
        }
        assert_ok(orr_eyes_set_looks(eyes, NULL, looks, &error));
    }
    return eyes;
}

static stage stage_make(const setting *of, int threads)
{
    stage s;
    char text[2048];
    const orr_engine_desc desc = {.device = ORR_DEVICE_CPU, .threads = threads};
    snprintf(text, sizeof text, model, of->reflectance, of->shadows, of->opacity);
    assert_ok(orr_engine_create(&desc, &s.engine, &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    assert_ok(orr_scene_add_file(s.scene, written("still.xml", text), NULL, &s.robot, &error));
    if (of->cloud) {
        add_cloud(s.scene);
    }
    assert_ok(orr_world_create(s.scene, COPIES, &s.world, &error));
    s.kept = eyes_make(&s, of, false);
    s.anew = eyes_make(&s, of, true);
    return s;
}

static void stage_free(stage *s)
{
    orr_eyes_destroy(s->kept);
    orr_eyes_destroy(s->anew);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static void draw(orr_eyes *eyes, const uint8_t *mask, bool segmentation, pictures *to)
{
    const orr_eyes_pictures planes = {.rgb = to->rgb,
                                      .rgba = to->rgba,
                                      .depth = to->depth,
                                      .segmentation = segmentation ? to->segmentation : NULL};
    assert_ok(orr_eyes_draw(eyes, mask, &planes, &error));
}

static void compare(const stage *s, const setting *of, const uint8_t *mask)
{
    draw(s->kept, mask, of->segmentation, &with);
    draw(s->anew, mask, of->segmentation, &without);
    assert_memory_equal(with.rgba, without.rgba, sizeof with.rgba);
    assert_memory_equal(with.depth, without.depth, sizeof with.depth);
    for (int i = 0; i < COPIES * PIXELS && (!mask || i < PIXELS); i++) { // of all copies, or of the first
        for (int k = 0; k < 3; k++) {
            const float value = 255.0f * fminf(fmaxf(with.rgba[4 * i + k], 0.0f), 1.0f);
            assert_true(fabsf(value - (float)with.rgb[3 * i + k]) <= 0.501f);
        }
    }
    assert_int_equal(with.rgb[COPIES * PIXELS * 3], 0);
    assert_memory_equal(with.segmentation, without.segmentation, sizeof with.segmentation);
}

// All copies begin alike; then each moves by itself, and at last the camera moves.
static void compare_all(const setting *of, int threads)
{
    static const uint8_t one[COPIES] = {1};
    stage s = stage_make(of, threads);
    orr_rng rng = {.seed = 5};
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < COPIES && round > 0; i++) {
            const double at[JOINTS] = {(double)orr_rng_uniform(&rng) - 0.5,
                                       (double)orr_rng_uniform(&rng) - 0.5};
            assert_ok(orr_world_set_robot(s.world, i, s.robot, ORR_ROBOT_QPOS, at, &error));
        }
        if (round == 3) {
            const orr_camera moved = camera_at(0.5f);
            assert_ok(orr_eyes_set_views(s.kept, &moved, &error));
            assert_ok(orr_eyes_set_views(s.anew, &moved, &error));
        }
        if (of->surfaces) {
            paint(s.kept, round);
            paint(s.anew, round);
        }
        compare(&s, of, of->alone ? one : NULL);
    }
    stage_free(&s);
}

static void what_is_kept_changes_no_bit(void **state)
{
    (void)state;
    static const setting settings[] = {
        {"0", "false", "1", .cloud = false},
        {"0", "false", "1", .cloud = true},
        {"0", "false", "1", .cloud = true, .segmentation = true},
        {"0", "true", "1", .cloud = true},
        {".4", "false", "1", .cloud = true},
        {".4", "true", "1", .cloud = true, .looks = true},
        {"0", "false", ".5", .cloud = true},
        {"0", "false", ".5", .cloud = false},
        {"0", "false", "1", .cloud = true, .smooth = true},
        {"0", "false", "1", .cloud = false, .looks = true},
        {"0", "false", "1", .cloud = true, .surfaces = true},
        {"0", "false", "1", .cloud = true, .surfaces = true, .alone = true},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        compare_all(&settings[i], 1 + (int)(i % 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_changes_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
