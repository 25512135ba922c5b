// Tests of the level of detail of eyes on CUDA (a GPU, or the emulated device): merged splats and coarser
// geoms are those of the CPU's eyes.
#include "engine/device/cuda_gpu.h"
#include "engine/loop/devices.h"
#include "orr_features.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

enum { COPIES = 3, SIDE = 32, PIXELS = SIDE * SIDE, OF_COPY = PIXELS, ALL = COPIES * PIXELS, BALL = 3000 };

static const float FINE = 1e-6f, COARSE = 0.2f; // [px]

// A large ball of a robot beside the cloud, with a lamp. It is transparent, because the CPU casts rays at
// opaque ones.
static const char *const model =
    "<mujoco><worldbody><light pos='1.6 -3 4' dir='-.4 .6 -1' castshadow='true'/>"
    "<geom name='floor' type='box' size='3 3 .1' pos='0 0 -1.2' rgba='.2 .4 .9 1'/>"
    "<body><joint type='slide' axis='1 0 0'/>"
    "<geom name='ball' type='sphere' size='.7' pos='1.5 0 0' rgba='.9 .8 .1 .8'/></body></worldbody>"
    "</mujoco>";

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_layer ball, cap;
} stage;

typedef struct pictures {
    float rgba[ALL][4], depth[ALL];
    int32_t segmentation[ALL][2];
} pictures;

static pictures drawn, again, whole;

// A ball of small splats, red on one side and green on the other; three of other blue at each place, one from
// each third of the file, so that their order is seen.
static orr_layer add_ball(orr_scene *scene, double radius, float red, const float at[3])
{
    orr_splats *splats;
    orr_layer layer;
    assert_ok(orr_splats_create(BALL, 1, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    for (int i = 0; i < BALL; i++) { // a spiral from pole to pole
        const int place = i % (BALL / 3), third = i / (BALL / 3);
        const double z = (6.0 * place + 3.0) / BALL - 1.0, angle = 2.399963230 * place,
                     wide = sqrt(1.0 - z * z) * radius;
        data.position[3 * i] = (float)(wide * cos(angle));
        data.position[3 * i + 1] = (float)(wide * sin(angle));
        data.position[3 * i + 2] = (float)(z * radius);
        data.opacity[i] = 0.5f + 0.3f * (float)(place % 5);
        data.colour[3 * i] = red * (float)z;
        data.colour[3 * i + 2] = (float)third - 1.0f;
        data.colour[3 * i + 1] = -red * (float)z;
        for (int k = 0; k < 3; k++) {
            data.log_scale[3 * i + k] = logf(0.03f * (float)radius);
        }
    }
    assert_ok(orr_scene_add_splats(scene, "ball", splats, &(orr_transform){.position = {at[0], at[1], at[2]}},
                                   &layer, &error));
    orr_splats_destroy(splats);
    return layer;
}

static stage stage_make(void)
{
    stage s;
    orr_cuda *cuda;
    orr_layer robot;
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = 2}, &s.engine, &error));
    assert_ok(orr_engine_take_cuda(s.engine, &cuda, &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    s.ball = add_ball(s.scene, 0.8, 1.0f, (float[]){-0.8f, 0.0f, 0.0f});
    assert_ok(orr_scene_add_file(s.scene, written("eyes_cuda_detail.xml", model), NULL, &robot, &error));
    s.cap = add_ball(s.scene, 0.4, -1.0f, (float[]){-0.3f, -0.9f, 0.6f});
    assert_ok(orr_world_create(s.scene, COPIES, &s.world, &error));
    for (int i = 0; i < COPIES; i++) { // farther away in each copy
        const orr_transform at = {.position = {-0.8f - 0.3f * (float)i, 2.0f * (float)i, 0.0f}};
        assert_ok(orr_world_set_transform(s.world, i, s.ball, &at, &error));
    }
    return s;
}

static void stage_free(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static orr_camera view_from(float y)
{
    return orr_camera_look_at((float[]){0, y, 2}, (float[]){0, 0, 0}, (float[]){0, 0, 1}, 0.8f, SIDE, SIDE);
}

static orr_eyes *make_eyes(const orr_world *world, orr_device_kind device, float detail)
{
    orr_eyes *eyes;
    const orr_camera view = view_from(-6.0f);
    const orr_eyes_desc desc = {
        .views = &view, .view_count = 1, .width = SIDE, .height = SIDE, .detail = detail, .device = device};
    assert_ok(orr_eyes_create(world, &desc, &eyes, &error));
    return eyes;
}

static void draw(orr_eyes *eyes, const uint8_t *mask, pictures *to)
{
    const orr_eyes_pictures planes = {
        .rgba = &to->rgba[0][0], .depth = to->depth, .segmentation = &to->segmentation[0][0]};
    assert_ok(orr_eyes_draw(eyes, mask, &planes, &error));
}

typedef struct difference {
    double rgba, depth;
    int named, changed; // pixels that have another name; whose colour is another
} difference;

static difference difference_of(const pictures *a, const pictures *b)
{
    difference d = {0};
    for (size_t i = 0; i < ALL; i++) {
        double most = 0.0;
        for (int k = 0; k < 4; k++) {
            most = fmax(most, fabs((double)a->rgba[i][k] - (double)b->rgba[i][k]));
        }
        d.rgba = fmax(d.rgba, most);
        d.changed += most > 1e-3;
        d.depth = fmax(d.depth, fabs((double)a->depth[i] - (double)b->depth[i]));
        d.named += memcmp(a->segmentation[i], b->segmentation[i], sizeof *a->segmentation) != 0;
    }
    return d;
}

// Which nodes and triangles are drawn is the same; what is left is rounding.
static void pictures_are_those_of_the_cpu(void **state)
{
    (void)state;
    stage s = stage_make();
    orr_eyes *device = make_eyes(s.world, ORR_DEVICE_CUDA, COARSE),
             *host = make_eyes(s.world, ORR_DEVICE_CPU, COARSE),
             *full = make_eyes(s.world, ORR_DEVICE_CPU, 0.0f);
    draw(device, NULL, &drawn);
    draw(host, NULL, &again);
    draw(full, NULL, &whole);
    const difference d = difference_of(&drawn, &again), merged = difference_of(&drawn, &whole);
    print_message("rgba %.1e, depth %.1e, %d other names; merging changes %d pixels, %d of them names\n",
                  d.rgba, d.depth, d.named, merged.changed, merged.named);
    assert_true(d.rgba < 5e-5 && d.depth < 5e-5);
    assert_int_equal(d.named, 0);
    assert_true(merged.changed > 100 && merged.named < 40);
    orr_eyes *eyes[3] = {device, host, full};
    for (int i = 0; i < 3; i++) {
        orr_eyes_destroy(eyes[i]);
    }
    stage_free(&s);
}

// Where no node is small enough, every bit is that of pictures in full: equal depths keep their order.
static void fine_detail_changes_no_bit(void **state)
{
    (void)state;
    stage s = stage_make();
    orr_eyes *fine = make_eyes(s.world, ORR_DEVICE_CUDA, FINE),
             *full = make_eyes(s.world, ORR_DEVICE_CUDA, 0.0f);
    draw(fine, NULL, &drawn);
    draw(full, NULL, &whole);
    assert_memory_equal(&drawn, &whole, sizeof drawn);
    orr_eyes_destroy(fine);
    orr_eyes_destroy(full);
    stage_free(&s);
}

// A copy by itself has the same bits, and so has one whose camera turned away and back. A cloud that takes
// the place of another is merged anew; no more memory is taken when the camera comes near.
static void copies_and_clouds_do_not_depend_on_others(void **state)
{
    (void)state;
    stage s = stage_make();
    orr_eyes *eyes = make_eyes(s.world, ORR_DEVICE_CUDA, COARSE);
    const orr_eyes_look away[COPIES] = {[0].camera_turn = {0, 3.14159265f, 0}};
    const orr_eyes_look plain[COPIES] = {[0].exposure = 0.0f};
    draw(eyes, NULL, &drawn);
    memcpy(&again, &drawn, sizeof again);
    for (int copy = COPIES - 1; copy >= 0; copy--) {
        uint8_t mask[COPIES] = {0};
        mask[copy] = 1;
        memset(again.rgba[copy * OF_COPY], 0, OF_COPY * sizeof *again.rgba);
        draw(eyes, mask, &again);
    }
    assert_memory_equal(&drawn, &again, sizeof drawn);
    assert_ok(orr_eyes_set_looks(eyes, NULL, away, &error));
    draw(eyes, NULL, &again);
    for (size_t i = 0; i < OF_COPY; i++) {
        assert_int_equal(again.segmentation[i][0], -1);
    }
    assert_ok(orr_eyes_set_looks(eyes, NULL, plain, &error));
#if ORR_CUDA_EMULATED
    const size_t made = made_allocations();
#endif
    orr_eyes *host = make_eyes(s.world, ORR_DEVICE_CPU, COARSE);
    const orr_camera view = view_from(-6.0f), near = view_from(-2.5f);
    assert_ok(orr_eyes_set_views(eyes, &near, &error));
    assert_ok(orr_eyes_set_views(host, &near, &error));
    draw(eyes, NULL, &again);
#if ORR_CUDA_EMULATED
    assert_int_equal(made_allocations(), made); // a copy that looked away had all of the ball
#endif
    draw(host, NULL, &whole);
    difference d = difference_of(&again, &whole);
    assert_true(d.rgba < 5e-5 && d.named == 0);
    assert_ok(orr_scene_remove(s.scene, s.cap, &error));
    s.cap = add_ball(s.scene, 0.4, 1.0f, (float[]){-0.3f, -0.9f, 0.6f});
    assert_ok(orr_eyes_set_views(eyes, &view, &error));
    assert_ok(orr_eyes_set_views(host, &view, &error));
    draw(eyes, NULL, &again);
    draw(host, NULL, &whole);
    d = difference_of(&again, &whole);
    assert_true(d.rgba < 5e-5 && d.named == 0 && difference_of(&again, &drawn).changed > 20);
    orr_eyes_destroy(host);
    orr_eyes_destroy(eyes);
    stage_free(&s);
}

// Which cloud a splat is of decides whose shadow falls on it: the records of merged clouds are fewer.
static void shadows_of_clouds_are_those_of_the_cpu(void **state)
{
    (void)state;
    stage s = stage_make();
    assert_ok(orr_scene_set_shadow_casting(s.scene, s.cap, ORR_SHADOW_CASTING_ALWAYS, &error));
    orr_eyes *device = make_eyes(s.world, ORR_DEVICE_CUDA, COARSE),
             *host = make_eyes(s.world, ORR_DEVICE_CPU, COARSE);
    const uint8_t first[COPIES] = {1, 0, 0};
    memset(&drawn, 0, sizeof drawn);
    memset(&again, 0, sizeof again);
    memset(&whole, 0, sizeof whole);
    draw(device, first, &drawn);
    draw(host, first, &again);
    assert_ok(orr_scene_set_shadow_casting(s.scene, s.cap, ORR_SHADOW_CASTING_NEVER, &error));
    draw(device, first, &whole);
    const difference d = difference_of(&drawn, &again), shaded = difference_of(&drawn, &whole);
    print_message("shadows: rgba %.1e; they change %d pixels\n", d.rgba, shaded.changed);
    assert_true(d.rgba < 1e-4 && d.named == 0);
    assert_true(shaded.changed > 5);
    orr_eyes_destroy(device);
    orr_eyes_destroy(host);
    stage_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_those_of_the_cpu),
        cmocka_unit_test(fine_detail_changes_no_bit),
        cmocka_unit_test(copies_and_clouds_do_not_depend_on_others),
        cmocka_unit_test(shadows_of_clouds_are_those_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, need_cuda, NULL);
}
