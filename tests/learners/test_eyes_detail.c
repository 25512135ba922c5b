// Tests of eyes' level of detail of clouds: the pictures of copies do not depend on threads, on other copies
// or on what is kept of still cameras, and are near those without it.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_threads_and_still_cameras_change_no_bit),
        cmocka_unit_test(pictures_are_near_those_of_whole_clouds),
        cmocka_unit_test(nothing_is_left_of_a_cloud_that_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
