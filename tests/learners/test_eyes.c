// Tests of eyes: pictures of many copies are those of frames, whoever draws them.
#include "engine/core/file.h"
#include "engine/core/result.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 5, SIDE = 40, PIXELS = SIDE * SIDE, VIEWS = 2 };

// A box that slides along x before a wall, and a camera that it carries.
static const char *const model =
    "<mujoco><worldbody>"
    "<geom name='wall' type='box' size='3 3 0.1' pos='0 0 -1' rgba='.2 .4 .9 1'/>"
    "<body name='cart'><joint type='slide' axis='1 0 0'/>"
    "<geom name='box' type='box' size='0.3 0.3 0.3' rgba='.9 .2 .1 1'/>"
    "<camera name='eye' pos='0.1 0.2 4'/>"
    "</body></worldbody></mujoco>";

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_eyes *eyes;
    orr_view view; // the one that does not move
} stage;

typedef struct pictures {
    uint8_t rgb[COPIES * VIEWS * PIXELS * 3];
    float rgba[COPIES * VIEWS * PIXELS * 4];
    float depth[COPIES * VIEWS * PIXELS];
    int32_t segmentation[COPIES * VIEWS * PIXELS * 2];
    float normals[COPIES * VIEWS * PIXELS * 3];
} pictures;

static pictures *drawn, *again;

static void add_splat(orr_scene *scene)
{
    orr_splats *splats;
    orr_layer layer;
    assert_ok(orr_splats_create(1, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    data.position[0] = 0.8f;
    data.position[2] = 0.5f;
    data.opacity[0] = 2.0f;
    for (int k = 0; k < 3; k++) {
        data.log_scale[k] = logf(0.2f);
    }
    data.colour[0] = 1.5f;
    assert_ok(orr_scene_add_splats(scene, "splat", splats, NULL, &layer, &error));
    orr_splats_destroy(splats);
}

static stage stage_make(int threads, bool smooth)
{
    stage s;
    const int camera = 0;
    const char *path = scratch_path("eyes.xml");
    assert_ok(orr_file_write(path, model, strlen(model), &error));
    assert_ok(orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = threads}, &s.engine,
                                &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    add_splat(s.scene);
    orr_layer robot;
    assert_ok(orr_scene_add_file(s.scene, path, NULL, &robot, &error));
    assert_ok(orr_world_create(s.scene, COPIES, &s.world, &error));
    for (int i = 0; i < COPIES; i++) {
        double at = 0.3 * i - 0.5;
        assert_ok(orr_world_set_robot(s.world, i, robot, ORR_ROBOT_QPOS, &at, &error));
    }
    s.view = (orr_view){.camera = orr_camera_look_at((float[]){0, 1, 5}, (float[]){0, 0, 0},
                                                     (float[]){0, 1, 0}, 0.8f, SIDE, SIDE)};
    const orr_eyes_desc desc = {.cameras = &camera,
                                .camera_count = 1,
                                .views = &s.view.camera,
                                .view_count = 1,
                                .width = SIDE,
                                .height = SIDE,
                                .smooth_edges = smooth};
    s.view.hard_edges = !smooth;
    assert_ok(orr_eyes_create(s.world, &desc, &s.eyes, &error));
    return s;
}

static void stage_free(stage *s)
{
    orr_eyes_destroy(s->eyes);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static void draw(const stage *s, const uint8_t *mask, pictures *to)
{
    memset(to, 0x5a, sizeof *to);
    const orr_eyes_pictures planes = {.rgb = to->rgb,
                                      .rgba = to->rgba,
                                      .depth = to->depth,
                                      .segmentation = to->segmentation,
                                      .normals = to->normals};
    assert_ok(orr_eyes_draw(s->eyes, mask, &planes, &error));
}

static void compare_with_frames(bool smooth)
{
    stage s = stage_make(2, smooth);
    orr_frame *frame;
    static float rgba[PIXELS * 4], depth[PIXELS];
    assert_ok(orr_frame_create(s.engine, NULL, &frame, &error));
    draw(&s, NULL, drawn);
    for (int i = 0; i < COPIES * VIEWS; i++) {
        orr_view view = s.view;
        view.world = i / VIEWS;
        if (i % VIEWS == 0) {
            assert_ok(orr_world_camera(s.world, view.world, 0, SIDE, SIDE, &view.camera, &error));
        }
        assert_ok(orr_frame_submit(frame, s.scene, s.world, &view, &error));
        assert_ok(orr_frame_finish(frame, &(orr_picture){rgba, depth}, &error));
        assert_memory_equal(rgba, drawn->rgba + (size_t)i * PIXELS * 4, sizeof rgba);
        assert_memory_equal(depth, drawn->depth + (size_t)i * PIXELS, sizeof depth);
        for (size_t p = 0; p < PIXELS; p++) {
            for (size_t k = 0; k < 3; k++) {
                int byte = drawn->rgb[((size_t)i * PIXELS + p) * 3 + k];
                assert_true(fabsf(rgba[4 * p + k] * 255.0f - (float)byte) <= 0.5f);
            }
        }
    }
    orr_frame_destroy(frame);
    stage_free(&s);
}

// With hard edges, which is the default, and with smooth ones.
static void pictures_are_those_of_frames(void **state)
{
    (void)state;
    compare_with_frames(false);
    compare_with_frames(true);
}

static void threads_and_masks_change_no_bit(void **state)
{
    (void)state;
    stage one = stage_make(1, false), three = stage_make(3, false);
    const uint8_t mask[COPIES] = {0, 1, 0, 0, 1};
    const size_t numbers = VIEWS * PIXELS;
    draw(&one, NULL, drawn);
    draw(&three, NULL, again);
    assert_memory_equal(drawn, again, sizeof *drawn);
    draw(&three, mask, again);
    for (size_t i = 0; i < COPIES; i++) {
        const float *rgba = again->rgba + i * numbers * 4;
        const int32_t *segmentation = again->segmentation + i * numbers * 2;
        const float *normals = again->normals + i * numbers * 3;
        if (mask[i]) {
            assert_memory_equal(rgba, drawn->rgba + i * numbers * 4, numbers * 4 * sizeof *rgba);
            assert_memory_equal(segmentation, drawn->segmentation + i * numbers * 2,
                                numbers * 2 * sizeof *segmentation);
            assert_memory_equal(normals, drawn->normals + i * numbers * 3, numbers * 3 * sizeof *normals);
        } else {
            assert_int_equal(again->rgb[i * numbers * 3], 0x5a);
            assert_int_equal(segmentation[0], 0x5a5a5a5a);
        }
    }
    stage_free(&one);
    stage_free(&three);
}

// From the camera that the box carries, the box is always in the same pixels, before the wall.
static void segmentation_names_layers_and_geoms(void **state)
{
    (void)state;
    stage s = stage_make(2, false);
    int splat = 0;
    draw(&s, NULL, drawn);
    for (int copy = 0; copy < COPIES; copy++) {
        const int32_t *of = drawn->segmentation + (size_t)copy * VIEWS * PIXELS * 2;
        int counts[3] = {0}; // none or the splat, wall, box
        for (int p = 0; p < PIXELS; p++) {
            splat += of[2 * p] == 0; // layer 0
            assert_true(of[2 * p + 1] < 0 ? of[2 * p] < 1 : of[2 * p] == 1);
            counts[of[2 * p + 1] + 1]++;
        }
        // 0.6 of 2 x 3.7 tan(45 / 2) m is 19.6 % of a side
        const int box = counts[2] - (int)(0.196 * 0.196 * PIXELS);
        const int32_t *middle = of + 2 * (SIDE / 2 * SIDE + SIDE / 2 - 1);
        assert_true(box < 16 && counts[1] > PIXELS / 2);
        if (copy == 0) { // the splat is beside the box
            assert_true(box > -16 && middle[1] == 1);
        } else if (copy == COPIES - 1) { // it is before the middle of the box, with 0.88 of opacity
            assert_int_equal(middle[0], 0);
        }
    }
    assert_true(splat > 10);
    stage_free(&s);
}

static void what_cannot_be_seen_is_refused(void **state)
{
    (void)state;
    stage s = stage_make(1, false);
    orr_eyes *eyes;
    const int wrong = 1;
    const orr_eyes_desc none = {.width = SIDE, .height = SIDE},
                        large = {.views = &s.view.camera, .view_count = 1, .width = 5000, .height = SIDE},
                        absent = {.cameras = &wrong, .camera_count = 1, .width = SIDE, .height = SIDE};
    assert_int_equal(orr_eyes_create(s.world, &none, &eyes, NULL), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_eyes_create(s.world, &large, &eyes, NULL), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_eyes_create(s.world, &absent, &eyes, NULL), ORR_ERROR_ARGUMENT);
    for (int i = 0; i < 3; i++) {
        const orr_eyes_desc coarse = {.views = &s.view.camera,
                                      .view_count = 1,
                                      .width = SIDE,
                                      .height = SIDE,
                                      .detail = (float[]){-1.0f, NAN, 0.1f}[i],
                                      .cloud_detail = i == 2 ? NAN : 0.0f};
        assert_int_equal(orr_eyes_create(s.world, &coarse, &eyes, NULL), ORR_ERROR_ARGUMENT);
    }
    stage_free(&s);
}

// A ball whose outline is a circle of 24 pixels: with half as many columns it stays as near to it as they
// allow.
static void round_geoms_are_as_coarse_as_pixels_allow(void **state)
{
    (void)state;
    enum { LARGE = 200 };
    static const char *const ball =
        "<mujoco><worldbody><body><joint/><geom type='sphere' size='0.5'/></body></worldbody></mujoco>";
    // triangles; as few as allowed, whose edges are smooth; rays
    static const float details[] = {0.0f, 1e-3f, 0.8f, 0.8f};
    static int32_t seen[4][LARGE * LARGE * 2];
    const char *path = scratch_path("ball.xml");
    orr_engine *own;
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
    assert_ok(orr_file_write(path, ball, strlen(ball), &error));
    assert_ok(orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = 1}, &own, &error));
    assert_ok(orr_scene_create(own, &scene, &error));
    assert_ok(orr_scene_add_file(scene, path, NULL, &robot, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    const float distance = 5.0f, field = 0.8f;
    const orr_camera camera = orr_camera_look_at((float[]){0, -distance, 0}, (float[]){0, 0, 0},
                                                 (float[]){0, 0, 1}, field, LARGE, LARGE);
    for (int i = 0; i < 4; i++) {
        const orr_eyes_desc desc = {.views = &camera,
                                    .view_count = 1,
                                    .width = LARGE,
                                    .height = LARGE,
                                    .detail = details[i],
                                    .smooth_edges = i < 3};
        orr_eyes *eyes;
        assert_ok(orr_eyes_create(world, &desc, &eyes, &error));
        assert_ok(orr_eyes_draw(eyes, NULL, &(orr_eyes_pictures){.segmentation = seen[i]}, &error));
        orr_eyes_destroy(eyes);
    }
    assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
    const double outline = 0.5 * LARGE / tan(0.5 * field) * tan(asin(0.5 / distance));
    int differing = 0, inside = 0;
    for (int i = 0; i < LARGE * LARGE; i++) {
        const double off = hypot(i % LARGE + 0.5 - LARGE / 2, i / LARGE + 0.5 - LARGE / 2) - outline;
        const bool covered = seen[2][2 * i] >= 0;
        differing += seen[0][2 * i] != seen[2][2 * i];
        inside += covered;
        assert_true(covered == (off < 0.0) || fabs(off) <= 0.0264 * outline + 0.02); // 12 columns
        assert_true((seen[3][2 * i] >= 0) == (off < 0.0) || fabs(off) <= 0.01);
    }
    assert_true(differing > 0 && inside > 1000);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_engine_destroy(own);
}

// Copies 1 to 3 have looks of their own, by a view that sees the wall; the others keep every bit.
static void looks_change_the_pictures_of_their_copy_alone(void **state)
{
    (void)state;
    stage s = stage_make(2, false);
    const size_t numbers = (size_t)VIEWS * PIXELS;
    const uint8_t mask[COPIES] = {0, 1, 1, 1, 0};
    orr_eyes_look looks[COPIES] = {0};
    looks[1].light[0] = looks[1].light[1] = looks[1].light[2] = -1.0f;
    looks[2].camera_turn[1] = 3.14159265f; // away from everything
    looks[2].has_background = true;
    looks[2].background[1] = 1.0f;
    looks[3].camera_offset[0] = 0.25f;
    draw(&s, NULL, drawn);
    assert_ok(orr_eyes_set_looks(s.eyes, NULL, &(orr_eyes_look[COPIES]){0}[0], &error));
    draw(&s, NULL, again);
    assert_memory_equal(drawn, again, sizeof *drawn);
    assert_ok(orr_eyes_set_looks(s.eyes, mask, looks, &error));
    draw(&s, NULL, again);
    for (size_t i = 0; i < COPIES; i++) {
        const bool same = memcmp(drawn->rgba + i * numbers * 4, again->rgba + i * numbers * 4,
                                 numbers * 4 * sizeof(float)) == 0;
        assert_true(same == !mask[i]);
    }
    const float *before = drawn->rgba + (numbers + PIXELS) * 4, *after = again->rgba + (numbers + PIXELS) * 4;
    for (size_t i = 0; i < PIXELS; i++) { // half of the light
        assert_true(after[4 * i] < before[4 * i] && after[4 * i] > 0.2f * before[4 * i]);
    }
    const float *away = again->rgba + (2 * numbers + PIXELS) * 4;
    assert_true(away[0] == 0.0f && away[1] == 1.0f && away[3] == 1.0f);
    // the third picture is that of a camera which stands beside
    orr_frame *frame;
    static float rgba[PIXELS * 4];
    orr_view view = s.view;
    view.world = 3;
    for (int row = 0; row < 3; row++) {
        view.camera.pose[4 * row + 3] += 0.25f * view.camera.pose[4 * row];
    }
    assert_ok(orr_frame_create(s.engine, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, s.scene, s.world, &view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){rgba, NULL}, &error));
    const float *beside = again->rgba + (3 * numbers + PIXELS) * 4;
    for (size_t i = 0; i < 4 * (size_t)PIXELS; i++) {
        assert_true(fabsf(rgba[i] - beside[i]) < 1e-4f); // the pose is rounded another way
    }
    orr_frame_destroy(frame);
    looks[4].exposure = NAN;
    orr_error why;
    assert_int_equal(orr_eyes_set_looks(s.eyes, NULL, looks, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "the look of copy 4"));
    draw(&s, NULL, drawn);
    assert_memory_equal(drawn, again, sizeof *drawn);
    stage_free(&s);
}

int main(void)
{
    static pictures memory[2];
    drawn = &memory[0];
    again = &memory[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_those_of_frames),
        cmocka_unit_test(threads_and_masks_change_no_bit),
        cmocka_unit_test(looks_change_the_pictures_of_their_copy_alone),
        cmocka_unit_test(segmentation_names_layers_and_geoms),
        cmocka_unit_test(what_cannot_be_seen_is_refused),
        cmocka_unit_test(round_geoms_are_as_coarse_as_pixels_allow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
