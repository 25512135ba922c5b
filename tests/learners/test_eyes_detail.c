// Tests of eyes' level of detail: the pictures of copies do not depend on threads, on other copies or on what
// is kept of still cameras, and are near those without it; of clouds, and of robots, at whose round geoms
// rays are cast.
#include "engine/core/result.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { COPIES = 4, SIDE = 48, PIXELS = SIDE * SIDE, BALL = 30000 };

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_layer layer;
    orr_world *world;
    orr_eyes *eyes;
} stage;

typedef struct pictures {
    float rgba[COPIES * PIXELS * 4];
    float depth[COPIES * PIXELS];
} pictures;

static pictures first, second, third;

// A ball of radius 1 of small splats, red on one side and green on the other; or the other way round.
static void add_ball(stage *s, float red)
{
    orr_splats *splats;
    assert_ok(orr_splats_create(BALL, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    for (int i = 0; i < BALL; i++) { // a spiral from pole to pole
        const double z = (2.0 * i + 1.0) / BALL - 1.0, angle = 2.399963230 * i, wide = sqrt(1.0 - z * z);
        data.position[3 * i] = (float)(wide * cos(angle));
        data.position[3 * i + 1] = (float)(wide * sin(angle));
        data.position[3 * i + 2] = (float)z;
        data.opacity[i] = 0.5f;
        data.colour[3 * i] = red * (float)z;
        data.colour[3 * i + 1] = -red * (float)z;
        for (int k = 0; k < 3; k++) {
            data.log_scale[3 * i + k] = logf(0.008f);
        }
    }
    assert_ok(orr_scene_add_splats(s->scene, "ball", splats, NULL, &s->layer, &error));
    orr_splats_destroy(splats);
}

static orr_camera camera_at(int step)
{
    return orr_camera_look_at((float[]){0.4f * (float)step, 1.0f, 5.0f}, (float[]){0, 0, 0},
                              (float[]){0, 1, 0}, 0.8f, SIDE, SIDE);
}

static stage stage_make(int threads, float detail, float cloud_detail)
{
    stage s;
    const orr_camera camera = camera_at(0);
    assert_ok(orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = threads}, &s.engine,
                                &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    add_ball(&s, 1.0f);
    assert_ok(orr_world_create(s.scene, COPIES, &s.world, &error));
    for (int i = 0; i < COPIES; i++) { // farther away in each copy
        orr_transform at = {
            .position = {0.2f * (float)i, 0, -1.5f * (float)i}, .rotation = {1, 0, 0, 0}, .scale = 1};
        assert_ok(orr_world_set_transform(s.world, i, s.layer, &at, &error));
    }
    const orr_eyes_desc desc = {.views = &camera,
                                .view_count = 1,
                                .width = SIDE,
                                .height = SIDE,
                                .detail = detail,
                                .cloud_detail = cloud_detail};
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

static void draw(const stage *s, int step, const uint8_t *mask, pictures *to)
{
    const orr_camera camera = camera_at(step);
    const orr_eyes_pictures planes = {.rgba = to->rgba, .depth = to->depth};
    memset(to, 0, sizeof *to);
    assert_ok(orr_eyes_set_views(s->eyes, &camera, &error));
    assert_ok(orr_eyes_draw(s->eyes, mask, &planes, &error));
}

static void copies_threads_and_still_cameras_change_no_bit(void **state)
{
    (void)state;
    stage one = stage_make(1, 0.1f, 0.0f), three = stage_make(3, 0.1f, 0.0f);
    for (int step = 0; step < 2; step++) {
        draw(&one, step, NULL, &first);
        draw(&three, step, NULL, &second);
        assert_memory_equal(&first, &second, sizeof first);
        for (int copy = 0; copy < COPIES; copy++) {
            uint8_t mask[COPIES] = {0};
            mask[copy] = 1;
            draw(&three, step, mask, &second);
            assert_memory_equal(first.rgba + copy * PIXELS * 4, second.rgba + copy * PIXELS * 4,
                                PIXELS * 4 * sizeof *first.rgba);
        }
        for (int again = 0; again < 3; again++) { // kept from the second time on
            draw(&one, step, (const uint8_t[COPIES]){1}, &second);
            assert_memory_equal(first.rgba, second.rgba, PIXELS * 4 * sizeof *first.rgba);
        }
    }
    stage_free(&one);
    stage_free(&three);
}

static void pictures_are_near_those_of_whole_clouds(void **state)
{
    (void)state;
    stage whole = stage_make(1, 0.0f, 0.0f), fine = stage_make(1, 1e-6f, 0.0f),
          merged = stage_make(1, 0.1f, 0.0f), asked = stage_make(1, 0.1f, -1.0f),
          apart = stage_make(1, 0.0f, 0.1f);
    for (int step = 0; step < 3; step++) {
        draw(&whole, step, NULL, &first);
        draw(&fine, step, NULL, &second);
        assert_memory_equal(&first, &second, sizeof first);
        draw(&asked, step, NULL, &second);
        assert_memory_equal(&first, &second, sizeof first);
        draw(&merged, step, NULL, &second);
        draw(&apart, step, NULL, &third);
        assert_memory_equal(&second, &third, sizeof second);
        for (int copy = 0; copy < COPIES; copy++) {
            const double quality =
                psnr(first.rgba + copy * PIXELS * 4, second.rgba + copy * PIXELS * 4, PIXELS * 4);
            print_message("step %d, copy %d: %.1f dB\n", step, copy, quality);
            assert_true(quality >= 35.0 && (copy == 0 || quality < 100.0)); // as promised, and some merge
        }
    }
    stage_free(&whole);
    stage_free(&fine);
    stage_free(&merged);
    stage_free(&asked);
    stage_free(&apart);
}

// Another cloud in the place of one, which is removed: it is merged anew.
static void nothing_is_left_of_a_cloud_that_is_removed(void **state)
{
    (void)state;
    stage s = stage_make(1, 0.1f, 0.0f);
    draw(&s, 0, NULL, &first);
    assert_ok(orr_scene_remove(s.scene, s.layer, &error));
    draw(&s, 0, NULL, &second);
    for (int i = 0; i < COPIES * PIXELS * 4; i++) {
        assert_true(second.rgba[i] == 0.0f);
    }
    add_ball(&s, -1.0f);
    draw(&s, 0, NULL, &second);
    int swapped = 0;
    for (int i = 0; i < PIXELS; i++) { // copy 0 is at the origin
        const float *before = first.rgba + 4 * i, *after = second.rgba + 4 * i;
        assert_true(before[3] == after[3]);
        assert_true(fabsf(before[0] - after[1]) < 1e-5f && fabsf(before[1] - after[0]) < 1e-5f);
        swapped += fabsf(before[0] - after[0]) > 0.1f;
    }
    assert_true(swapped > 100);
    stage_free(&s);
}

// ---- robots ----

// Every round shape, bare and with both ways in which textures lie, on a floor that does not move.
static const char *const shapes =
    "<mujoco><asset><texture name='flat' type='2d' builtin='checker' rgb1='.1 .3 .6' rgb2='.9 .8 .6' "
    "width='64' height='64'/><texture name='cube' type='cube' builtin='gradient' rgb1='.9 .2 .1' "
    "rgb2='.1 .7 .3' mark='edge' markrgb='1 1 1' width='32' height='32'/>"
    "<material name='flat' texture='flat' texrepeat='2 1'/><material name='cube' texture='cube'/>"
    "<material name='even' texture='cube' texuniform='true'/></asset><worldbody>"
    "<light directional='true' dir='.3 .5 -1'/><geom type='plane' size='3 3 .1' rgba='.4 .5 .4 1'/>"
    "<body pos='-.9 0 .5'><freejoint/><geom type='sphere' size='.35' material='cube'/></body>"
    "<body pos='0 -.3 .5' euler='20 50 10'><freejoint/><geom type='capsule' size='.15 .35' rgba='.8 .5 .2 "
    "1'/>"
    "<geom type='ellipsoid' size='.3 .12 .2' pos='.4 0 .3' material='even'/></body>"
    "<body pos='.9 .2 .5' euler='60 20 0'><freejoint/><geom type='cylinder' size='.3 .25' material='flat'/>"
    "</body></worldbody></mujoco>";

enum { ROBOT_COPIES = 3, ROBOT_SIDE = 128, ROBOT_PIXELS = ROBOT_SIDE * ROBOT_SIDE, COORDINATES = 3 * 7 };

typedef struct robot_pictures {
    float rgba[ROBOT_COPIES * ROBOT_PIXELS * 4], depth[ROBOT_COPIES * ROBOT_PIXELS];
    int32_t segmentation[ROBOT_COPIES * ROBOT_PIXELS * 2];
    float normals[ROBOT_COPIES * ROBOT_PIXELS * 3], flow[ROBOT_COPIES * ROBOT_PIXELS * 2];
} robot_pictures;

static robot_pictures by_rays, by_triangles;

static orr_camera robot_camera(void)
{
    return orr_camera_look_at((float[]){0.3f, -3.2f, 1.6f}, (float[]){0, 0, 0.4f}, (float[]){0, 0, 1}, 0.7f,
                              ROBOT_SIDE, ROBOT_SIDE);
}

static stage robots_make(int threads)
{
    stage s = {0};
    assert_ok(orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = threads}, &s.engine,
                                &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    assert_ok(orr_scene_add_file(s.scene, written("shapes.xml", shapes), NULL, &s.layer, &error));
    assert_ok(orr_world_create(s.scene, ROBOT_COPIES, &s.world, &error));
    return s;
}

static orr_eyes *robot_eyes(const stage *s, float detail)
{
    const orr_camera camera = robot_camera();
    const orr_eyes_desc desc = {.views = &camera,
                                .view_count = 1,
                                .width = ROBOT_SIDE,
                                .height = ROBOT_SIDE,
                                .detail = detail,
                                .flow = true};
    orr_eyes *eyes;
    assert_ok(orr_eyes_create(s->world, &desc, &eyes, &error));
    return eyes;
}

static void move_robots(const stage *s, double step)
{
    for (int copy = 0; copy < ROBOT_COPIES; copy++) {
        double q[COORDINATES];
        assert_ok(orr_world_get_robot(s->world, copy, s->layer, ORR_ROBOT_QPOS, q, &error));
        for (int i = 0; i < COORDINATES; i++) {
            q[i] += step * (0.03 * (copy + 1) + 0.02 * (i % 5));
        }
        assert_ok(orr_world_set_robot(s->world, copy, s->layer, ORR_ROBOT_QPOS, q, &error));
    }
}

static void draw_robots(orr_eyes *eyes, const uint8_t *mask, robot_pictures *to)
{
    const orr_eyes_pictures planes = {.rgba = to->rgba,
                                      .depth = to->depth,
                                      .segmentation = to->segmentation,
                                      .normals = to->normals,
                                      .flow = to->flow};
    assert_ok(orr_eyes_draw(eyes, mask, &planes, &error));
}

// Meshes of all columns are within a hundredth of the radius: the outlines of some pixels are elsewhere,
// and normals, which are interpolated, are near.
static void round_geoms_are_near_their_triangles(void **state)
{
    (void)state;
    stage s = robots_make(2);
    orr_eyes *rays = robot_eyes(&s, 1e-6f), *triangles = robot_eyes(&s, 0.0f);
    for (int step = 0; step < 2; step++) {
        move_robots(&s, step);
        draw_robots(rays, NULL, &by_rays);
        draw_robots(triangles, NULL, &by_triangles);
    }
    int others = 0, turned = 0, moved = 0, round = 0;
    for (int i = 0; i < ROBOT_COPIES * ROBOT_PIXELS; i++) {
        if (by_rays.segmentation[2 * i + 1] != by_triangles.segmentation[2 * i + 1]) {
            others++;
            continue;
        }
        if (by_rays.segmentation[2 * i + 1] < 1) { // nothing, or the floor
            continue;
        }
        round++;
        double dot = 0.0, off = 0.0;
        for (int k = 0; k < 3; k++) {
            dot += (double)by_rays.normals[3 * i + k] * (double)by_triangles.normals[3 * i + k];
        }
        for (int k = 0; k < 2; k++) {
            off = fmax(off, fabs((double)by_rays.flow[2 * i + k] - (double)by_triangles.flow[2 * i + k]));
        }
        turned += dot < 0.99;
        moved += off > 0.03 && fabsf(by_rays.depth[i] - by_triangles.depth[i]) < 1e-3f;
    }
    const double quality = psnr(by_rays.rgba, by_triangles.rgba, ROBOT_COPIES * ROBOT_PIXELS * 4);
    print_message("%.1f dB; of %d pixels %d have another name, %d another normal, %d another flow\n", quality,
                  round, others, turned, moved);
    assert_true(round > 8000 && others > 0 && others < round / 100);
    assert_true(turned < round / 100 && moved < round / 100);
    assert_true(quality > 33.0);
    orr_eyes_destroy(rays);
    orr_eyes_destroy(triangles);
    stage_free(&s);
}

static void robots_of_other_copies_change_no_bit(void **state)
{
    (void)state;
    stage one = robots_make(1), three = robots_make(3);
    orr_eyes *alone = robot_eyes(&one, 0.1f), *together = robot_eyes(&three, 0.1f);
    move_robots(&one, 1.0);
    move_robots(&three, 1.0);
    draw_robots(together, NULL, &by_rays);
    for (int copy = 0; copy < ROBOT_COPIES; copy++) {
        uint8_t mask[ROBOT_COPIES] = {0};
        mask[copy] = 1;
        draw_robots(alone, mask, &by_triangles);
    }
    assert_memory_equal(&by_rays, &by_triangles, sizeof by_rays);
    orr_eyes_destroy(alone);
    orr_eyes_destroy(together);
    stage_free(&one);
    stage_free(&three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_threads_and_still_cameras_change_no_bit),
        cmocka_unit_test(pictures_are_near_those_of_whole_clouds),
        cmocka_unit_test(nothing_is_left_of_a_cloud_that_is_removed),
        cmocka_unit_test(round_geoms_are_near_their_triangles),
        cmocka_unit_test(robots_of_other_copies_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
