// Frames in flight on CUDA (a GPU, or the emulated device, whose streams run no sooner than somebody waits
// for them): the same bits as one frame at a time, whatever happens to the frames around one.
#include "assets/clouds.h"
#include "engine/device/cuda_gpu.h"
#include "engine/orrery.h"
#include "orr_features.h"
#include "render/cuda/draw.h"
#include "render/field_pass.h"
#include "render/splat/splat_cloud.h"
#include "tests/support/drawn.h"
#include "tests/support/scenes/small_mesh.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

enum { WIDTH = 64, HEIGHT = 40, VIEWS = 6 };

static orr_cuda *cuda;
static orr_jobs *jobs;
static const float upright[12] = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f};

// ---- what is drawn ----

// Small splats, large ones that need more pairs than there is room for at first, and an image across both.
typedef struct stage {
    orr_splat_pack *small, *large;
    orr_field *field;
    orr_field_layer *layer;
} stage;

static orr_splat_pack *make_pack(int64_t count, float log_scale, uint32_t seed)
{
    orr_splats *splats = make_cloud(CLOUD_BALL, count, 1, seed);
    orr_splats_view data = orr_splats_data(splats);
    for (int64_t i = 0; i < 3 * data.count && log_scale > -10.0f; i++) {
        data.log_scale[i] = log_scale;
    }
    orr_splat_pack *pack;
    assert_ok(orr_splat_pack_create(jobs, &data, NULL, &pack, &error));
    orr_splats_destroy(splats);
    return pack;
}

static void stage_make(stage *s, int splats)
{
    *s = (stage){.small = make_pack(splats, -INFINITY, 3), .large = make_pack(splats / 5, 0.0f, 5)};
    orr_field_desc desc = {.kind = ORR_FIELD_IMAGE, .seed = 1, .isa = orr_isa_best()};
    assert_ok(orr_field_config_base(ORR_FIELD_IMAGE, &desc.config, &error));
    desc.config.encoding.log2_hashmap_size = 8;
    assert_ok(orr_field_create(&desc, &s->field, &error));
    orr_field_config_free(&desc.config);
    const float to_unit[12] = {1, 0, 0, 0.5f, 0, 1, 0, 0.5f, 0, 0, 1, 0.0f};
    assert_ok(orr_field_layer_borrow(s->field, NULL, to_unit, jobs, &s->layer, &error));
}

static void stage_free(stage *s)
{
    orr_field_layer_destroy(s->layer);
    orr_field_destroy(s->field);
    orr_splat_pack_destroy(s->small);
    orr_splat_pack_destroy(s->large);
}

// One frame of it.
typedef struct take {
    orr_draw_splats splats[2];
    orr_draw_field field;
    orr_draw_list list;
} take;

static void look(take *t, float x, int width, int height)
{
    const float eye[3] = {x, -0.3f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, width, height);
    assert_ok(orr_camera_resolve(&camera, &t->list.lens, &error));
}

static void take_make(take *t, const stage *s, float x, bool large, bool field)
{
    *t = (take){.splats = {{.pack = s->small, .key = 1}, {.pack = s->large, .key = 2}},
                .field = {.layer = s->layer, .key = 3}};
    for (int i = 0; i < 2; i++) {
        memcpy(t->splats[i].model, upright, sizeof upright);
    }
    memcpy(t->field.model, upright, sizeof upright);
    t->field.model[11] = -1.5f; // before all splats
    t->list.splats = t->splats;
    t->list.splat_count = large ? 2 : 1;
    t->list.fields = &t->field;
    t->list.field_count = field ? 1 : 0;
    look(t, x, WIDTH, HEIGHT);
}

// Views of all kinds, the larger ones (in every sense) behind smaller ones.
static void takes_make(take takes[VIEWS], const stage *s)
{
    for (int i = 0; i < VIEWS; i++) {
        take_make(&takes[i], s, 0.4f * (float)i - 1.0f, i == 1 || i == 4, i % 2 == 1);
    }
    look(&takes[3], 0.2f, WIDTH + 30, HEIGHT + 20);
}

static orr_cuda_draw *draw_make(int frames_in_flight)
{
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, frames_in_flight, &draw, &error));
    return draw;
}

static void submit(orr_cuda_draw *draw, const take *t)
{
    assert_ok(orr_cuda_draw_submit(draw, &t->list, NULL, &error));
}

static drawn finish(orr_cuda_draw *draw, const take *t)
{
    drawn d = drawn_make(&t->list);
    assert_ok(orr_cuda_draw_finish(draw, &(orr_picture){d.rgba, d.depth}, NULL, &error));
    return d;
}

// Alone, on a machine of its own.
static drawn draw_alone(const take *t)
{
    orr_cuda_draw *draw = draw_make(1);
    submit(draw, t);
    drawn d = finish(draw, t);
    orr_cuda_draw_destroy(draw);
    return d;
}

static bool same_bits(const drawn *a, const drawn *b)
{
    size_t pixels = (size_t)a->pixels;
    return a->pixels == b->pixels && memcmp(a->rgba, b->rgba, pixels * 4 * sizeof(float)) == 0 &&
           memcmp(a->depth, b->depth, pixels * sizeof(float)) == 0;
}

static void finish_and_compare(orr_cuda_draw *draw, const take *t, const drawn *expected)
{
    drawn d = finish(draw, t);
    assert_true(same_bits(&d, expected));
    drawn_free(&d);
}

// ---- tests ----

static void frames_in_flight_are_the_same_bits_as_one_at_a_time(void **state)
{
    (void)state;
    stage s;
    take takes[VIEWS];
    drawn expected[VIEWS];
    stage_make(&s, 300);
    takes_make(takes, &s);
    for (int i = 0; i < VIEWS; i++) {
        expected[i] = draw_alone(&takes[i]);
        assert_false(i > 0 && same_bits(&expected[i], &expected[i - 1]));
    }
    for (int n = 1; n <= 4; n++) {
        orr_cuda_draw *draw = draw_make(n);
        for (int begun = 0, done = 0; done < 2 * VIEWS; done++) { // the second time with all the room
            while (begun < 2 * VIEWS && begun - done < n) {
                submit(draw, &takes[begun++ % VIEWS]);
            }
            finish_and_compare(draw, &takes[done % VIEWS], &expected[done % VIEWS]);
        }
        orr_cuda_draw_destroy(draw);
    }
    for (int i = 0; i < VIEWS; i++) {
        drawn_free(&expected[i]);
    }
    stage_free(&s);
}

// The first frame runs out of room; when it is drawn again its cloud has gone from the host, and from the
// device when it is finished; the field has learnt something else.
static void a_frame_drawn_again_shows_what_was_submitted(void **state)
{
    (void)state;
    stage s;
    take whole, small;
    stage_make(&s, 300);
    take_make(&whole, &s, 0.5f, true, true);
    take_make(&small, &s, -0.5f, false, true);
    drawn before = draw_alone(&whole);
    orr_cuda_draw *draw = draw_make(3);
    submit(draw, &whole);
    const orr_field_parts *parts = orr_field_parts_of(s.field);
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        parts->table[i] += 1.0f;
    }
    orr_field_refresh(s.field, NULL, NULL, NULL);
    submit(draw, &small);
    finish_and_compare(draw, &whole, &before);
    drawn after = draw_alone(&whole), other = draw_alone(&small);
    assert_false(same_bits(&before, &after));
    finish_and_compare(draw, &small, &other);
    orr_cuda_draw_destroy(draw);

    draw = draw_make(2); // which has no room yet
    submit(draw, &whole);
    submit(draw, &small);
    orr_splat_pack_destroy(s.large);
    s.large = NULL;
    orr_cuda_draw_release(draw, 2);
    finish_and_compare(draw, &whole, &after);
    finish_and_compare(draw, &small, &other);
    orr_cuda_draw_destroy(draw);
    drawn_free(&before);
    drawn_free(&after);
    drawn_free(&other);
    stage_free(&s);
}

static void no_more_frames_are_taken_than_were_asked_for(void **state)
{
    (void)state;
    stage s;
    take t;
    orr_error why = {0};
    stage_make(&s, 300);
    take_make(&t, &s, 0.0f, false, false);
    orr_cuda_draw *draw = draw_make(2);
    assert_int_equal(orr_cuda_draw_finish(draw, NULL, NULL, &why), ORR_ERROR_ARGUMENT);
    submit(draw, &t);
    submit(draw, &t);
    assert_int_equal(orr_cuda_draw_submit(draw, &t.list, NULL, &why), ORR_ERROR_CAPACITY);
    assert_ok(orr_cuda_draw_finish(draw, NULL, NULL, &error)); // nobody wants this one
    submit(draw, &t);
    assert_ok(orr_cuda_draw_finish(draw, NULL, NULL, &error));
    orr_cuda_draw_destroy(draw); // and this one is still under way
    for (int n = 0; n <= 9; n += 9) {
        assert_int_equal(orr_cuda_draw_create(cuda, jobs, n, &draw, &why), ORR_ERROR_ARGUMENT);
    }
    stage_free(&s);
}

// A layer that is removed while frames that show it are under way, through the engine. (orrery.h tells
// callers to wait; the device's frames do not depend on it.)
static void removed_layers_are_in_the_frames_before(void **state)
{
    (void)state;
    enum { PIXELS = WIDTH * HEIGHT };
    const orr_engine_desc desc = {.threads = 1, .device = ORR_DEVICE_CUDA};
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_layer small, large;
    assert_ok(orr_engine_create(&desc, &engine, &error));
    float(*alone)[4 * PIXELS] = malloc(3 * sizeof *alone), *rgba = malloc(sizeof *alone);
    for (int at_once = 0; at_once < 2; at_once++) {
        assert_ok(orr_scene_create(engine, &scene, &error));
        for (int i = 0; i < 2; i++) {
            orr_splats *splats = make_cloud(CLOUD_BALL, i ? 60 : 300, 0, (uint32_t)i);
            orr_splats_view data = orr_splats_data(splats);
            for (int64_t k = 0; i == 1 && k < 3 * data.count; k++) {
                data.log_scale[k] = 0.0f; // there will not be room enough
            }
            assert_ok(orr_scene_add_splats(scene, i ? "large" : "small", splats, NULL, i ? &large : &small,
                                           &error));
            orr_splats_destroy(splats);
        }
        assert_ok(orr_world_create(scene, 1, &world, &error));
        assert_ok(orr_frame_create(engine, &(orr_frame_desc){.frames_in_flight = 3}, &frame, &error));
        const float eye[3] = {0.0f, -0.3f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
        const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.8f, WIDTH, HEIGHT)};
        for (int i = 0; i < 3; i++) {
            if (i == 2) {
                assert_ok(orr_scene_remove(scene, large, &error));
            }
            assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
            if (!at_once) {
                assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = alone[i]}, &error));
            }
        }
        for (int i = 0; at_once && i < 3; i++) {
            assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
            assert_memory_equal(rgba, alone[i], sizeof *alone);
        }
        assert_memory_equal(alone[0], alone[1], sizeof *alone);
        assert_memory_not_equal(alone[0], alone[2], sizeof *alone);
        for (int i = 0; i < 3; i++) { // still under way when it goes
            assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
        }
        orr_frame_destroy(frame);
        orr_world_destroy(world);
        orr_scene_destroy(scene);
    }
    free(alone);
    free(rgba);
    orr_engine_destroy(engine);
}

#if ORR_CUDA_EMULATED
static void the_oldest_frame_is_waited_for_alone(void **state)
{
    (void)state;
    stage s;
    take t;
    stage_make(&s, 300);
    take_make(&t, &s, 0.0f, false, true);
    orr_cuda_draw *draw = draw_make(2);
    submit(draw, &t);
    submit(draw, &t);
    for (int i = 0; i < 4; i++) {
        drawn d = finish(draw, &t);
        assert_int_equal(cudaStreamQuery(cuda->stream), cudaErrorNotReady); // the next has not even begun
        drawn_free(&d);
        submit(draw, &t);
    }
    orr_cuda_draw_destroy(draw);
    stage_free(&s);
}

static void note_turn(void *user)
{
    *(bool *)user = true;
}

// A transparent pane through the splats.
static void add_pane(take *t, small_mesh *pane, orr_draw_mesh *item)
{
    static orr_mesh_vertex corners[4];
    static uint32_t indices[] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 4; i++) {
        corners[i] =
            (orr_mesh_vertex){.position = {i == 1 || i == 2 ? 0.8f : -0.2f, i >= 2 ? 0.8f : -0.8f, 0.0f},
                              .normal = {0.0f, 0.0f, -1.0f},
                              .colour = {255, 80, 90, 255}};
    }
    small_mesh_set(pane, corners, 4, indices, 6);
    pane->material.blended = true;
    pane->material.base_colour[3] = 0.5f;
    *item = (orr_draw_mesh){.mesh = &pane->mesh, .key = 9};
    memcpy(item->model, upright, sizeof upright);
    t->list.meshes = item;
    t->list.mesh_count = 1;
}

// Once there is room, a submit only puts things into the stream, and no copy is one that a device lets the
// host wait for.
static void frames_on_their_way_neither_allocate_nor_wait(void **state)
{
    (void)state;
    stage s;
    take t;
    small_mesh pane;
    orr_draw_mesh item;
    stage_make(&s, 300);
    take_make(&t, &s, 0.0f, true, true);
    add_pane(&t, &pane, &item);
    orr_cuda_draw *draw = draw_make(2);
    drawn expected = draw_alone(&t);
    for (int i = 0; i < 2; i++) { // room for two, after one has been too large
        submit(draw, &t);
        submit(draw, &t);
        finish_and_compare(draw, &t, &expected);
        finish_and_compare(draw, &t, &expected);
    }
    size_t allocations = made_allocations(), copies = pageable_copies();
    bool begun = false;
    assert_int_equal(cudaLaunchHostFunc(cuda->stream, note_turn, &begun), cudaSuccess);
    submit(draw, &t);
    submit(draw, &t);
    assert_false(begun);
    finish_and_compare(draw, &t, &expected);
    assert_true(begun);
    submit(draw, &t);
    for (int i = 0; i < 2; i++) {
        finish_and_compare(draw, &t, &expected);
    }
    assert_int_equal(made_allocations(), allocations);
    assert_int_equal(pageable_copies(), copies);
    orr_cuda_draw_destroy(draw);
    drawn_free(&expected);
    stage_free(&s);
}

enum { TAKES = 4 };

// Three frames at once, the second without enough room, and another behind them; those that come out are as
// they should be.
static int draw_all(const take takes[TAKES], const drawn expected[TAKES], orr_error *error)
{
    int failed = 0, in_flight[TAKES], begun = 0;
    orr_cuda_draw *draw;
    if (orr_cuda_draw_create(cuda, jobs, 3, &draw, error) != ORR_OK) {
        return 1;
    }
    for (int tried = 0, done = 0; tried < TAKES || done < begun;) {
        if (tried < TAKES && begun - done < 3) {
            in_flight[begun] = tried;
            bool sent = orr_cuda_draw_submit(draw, &takes[tried++].list, NULL, error) == ORR_OK;
            begun += sent;
            failed += !sent;
            continue;
        }
        int i = in_flight[done++];
        drawn d = drawn_make(&takes[i].list);
        orr_profile profile = {0};
        if (orr_cuda_draw_finish(draw, &(orr_picture){d.rgba, d.depth}, &profile, error) == ORR_OK) {
            assert_true(same_bits(&d, &expected[i]));
        } else {
            failed++;
        }
        drawn_free(&d);
    }
    orr_cuda_draw_destroy(draw);
    return failed;
}

static void a_call_that_fails_spoils_no_other_frame(void **state)
{
    (void)state;
    stage s;
    take takes[TAKES];
    drawn expected[TAKES];
    stage_make(&s, 50); // few: there are many calls
    for (int i = 0; i < TAKES; i++) {
        take_make(&takes[i], &s, 0.4f * (float)i, i == 1, false);
        look(&takes[i], 0.4f * (float)i, 20, 12);
        expected[i] = draw_alone(&takes[i]);
    }
    size_t allocations = live_allocations(), handles = live_handles();
    int failed = 0, other_frames = 0;
    for (int call = 1;; call++) {
        orr_error error = {0};
        current_settings()->fail_call = call;
        current_settings()->fail_with = call % 2 ? cudaErrorMemoryAllocation : cudaErrorUnknown;
        int lost = draw_all(takes, expected, &error);
        bool reached = current_settings()->fail_call == 0;
        current_settings()->fail_call = 0;
        assert_int_equal(live_allocations(), allocations);
        assert_int_equal(live_handles(), handles);
        if (!reached) { // all have had their turn
            assert_int_equal(lost, 0);
            break;
        }
        failed += lost > 0;
        other_frames += lost > 0 && call > 100 ? TAKES - lost : 0;
        assert_true(lost == 0 || strncmp(error.message, "CUDA: ", 6) == 0);
        assert_true(call < 2000);
    }
    print_message("%d calls failed in turn; %d frames beside them came out\n", failed, other_frames);
    assert_true(failed > 100 && other_frames > failed);
    for (int i = 0; i < TAKES; i++) {
        drawn_free(&expected[i]);
    }
    stage_free(&s);
}
#endif

static int open_device(void **state)
{
    (void)state;
    orr_error error;
    if (orr_cuda_create(NULL, &cuda, &error) != ORR_OK) {
        print_message("skipped: %s\n", error.message);
        exit(77);
    }
    return orr_jobs_create(2, NULL, NULL, &jobs, NULL) == ORR_OK ? 0 : -1;
}

static int close_device(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    orr_cuda_destroy(cuda);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_in_flight_are_the_same_bits_as_one_at_a_time),
        cmocka_unit_test(a_frame_drawn_again_shows_what_was_submitted),
        cmocka_unit_test(removed_layers_are_in_the_frames_before),
        cmocka_unit_test(no_more_frames_are_taken_than_were_asked_for),
#if ORR_CUDA_EMULATED
        cmocka_unit_test(the_oldest_frame_is_waited_for_alone),
        cmocka_unit_test(frames_on_their_way_neither_allocate_nor_wait),
        cmocka_unit_test(a_call_that_fails_spoils_no_other_frame),
#endif
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
