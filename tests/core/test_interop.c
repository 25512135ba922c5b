// CUDA's pictures on their way to a window: on each rung of the ladder the image on the Vulkan device holds
// the very bytes that the host would get, in order, at every size, with the validation layer watching. On the
// emulated device and lavapipe, or on a GPU (tests/gpu_check). What can go wrong is in test_interop_faults.c.
#include "assets/clouds.h"
#include "engine/image/image.h"
#include "engine/loop/devices.h"
#include "orr_features.h"
#include "tests/support/read_image.h"
#include "tests/support/same_gpu.h"
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
enum { FRAMES = 4 };
static const int sizes[][2] = {{61, 40}, {96, 64}, {30, 20}, {96, 64}};
#else
enum { FRAMES = 50 };
static const int sizes[][2] = {{640, 360}, {1920, 1080}, {333, 221}, {1920, 1080}};
#endif
enum { PIXELS_MAX = 1920 * 1080 };

static int complaints;

static void count_complaint(void *user, orr_log_level level, int code, const char *line)
{
    (void)user;
    (void)code;
    if (level >= ORR_LOG_WARNING) {
        complaints++;
        print_message("%s\n", line);
    }
}

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_vk *vk;
    float *rgba;
    uint8_t *expected, *shown;
} stage;

static void stage_make(stage *s, orr_device_kind rung)
{
    orr_engine_desc desc = {.threads = 1, .device = rung, .validate = true, .log = count_complaint};
    *s = (stage){.rgba = malloc(PIXELS_MAX * 4 * sizeof(float)),
                 .expected = malloc(PIXELS_MAX * 4),
                 .shown = malloc(PIXELS_MAX * 4)};
    complaints = 0;
    assert_ok(orr_engine_create(&desc, &s->engine, &error));
    if (s->engine->rung == ORR_DEVICE_CUDA) { // no validation layer: Vulkan does not open with it
        orr_engine_destroy(s->engine);
        desc.validate = false;
        complaints = 0;
        assert_ok(orr_engine_create(&desc, &s->engine, &error));
    }
    print_message("%s\n", orr_engine_describe(s->engine));
    assert_ok(orr_scene_create(s->engine, &s->scene, &error));
    orr_splats *splats = make_cloud(CLOUD_BALL, 500, 1, 4);
    orr_layer layer;
    assert_ok(orr_scene_add_splats(s->scene, "ball", splats, NULL, &layer, &error));
    orr_splats_destroy(splats);
    assert_ok(orr_world_create(s->scene, 1, &s->world, &error));
    assert_ok(orr_frame_create(s->engine, &(orr_frame_desc){.frames_in_flight = 2}, &s->frame, &error));
    assert_ok(orr_engine_take_vk(s->engine, &s->vk, &error));
}

static void stage_free(stage *s)
{
    orr_frame_destroy(s->frame);
    orr_engine_give_vk(s->engine);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
    free(s->rgba);
    free(s->expected);
    free(s->shown);
}

static orr_view view_of(int number, const int size[2])
{
    const float eye[3] = {0.3f * (float)number, -0.4f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.8f, size[0], size[1])};
}

// Brings one view to the image, and to memory.
static void show(stage *s, int number, const int size[2], orr_vulkan_image *image)
{
    const orr_view view = view_of(number, size);
    assert_ok(orr_frame_submit_for_window(s->frame, s->scene, s->world, &view, &error));
    assert_ok(orr_frame_finish_for_window(s->frame, NULL, image, &error));
    assert_int_equal(orr_frame_location(s->frame), ORR_PICTURE_ON_DEVICE);
    assert_int_equal(image->width, size[0]);
    assert_int_equal(image->height, size[1]);
}

static void read_expected(stage *s, int number, const int size[2])
{
    const orr_view view = view_of(number, size);
    assert_ok(orr_frame_submit(s->frame, s->scene, s->world, &view, &error));
    assert_ok(orr_frame_finish(s->frame, &(orr_picture){.rgba = s->rgba}, &error));
    orr_image_quantise(s->rgba, (int64_t)size[0] * size[1], s->expected);
}

static void assert_shown(stage *s, const orr_vulkan_image *image)
{
    read_image(s->vk, image, s->shown);
    assert_memory_equal(s->shown, s->expected, (size_t)image->width * (size_t)image->height * 4);
}

// The next picture is under way while one is handed over; one for memory passes between those for images.
static void show_in_flight(stage *s)
{
    enum { SHOWN = 5, TO_MEMORY = 2 };
    const size_t bytes = (size_t)sizes[1][0] * (size_t)sizes[1][1] * 4;
    uint8_t *expected = malloc(SHOWN * bytes);
    for (int i = 0; i < SHOWN; i++) {
        read_expected(s, i, sizes[1]);
        memcpy(expected + (size_t)i * bytes, s->expected, bytes);
    }
    for (int done = 0, begun = 0; done < SHOWN; done++) {
        for (; begun < SHOWN && begun < done + 2; begun++) {
            const orr_view view = view_of(begun, sizes[1]);
            assert_ok(begun == TO_MEMORY
                          ? orr_frame_submit(s->frame, s->scene, s->world, &view, &error)
                          : orr_frame_submit_for_window(s->frame, s->scene, s->world, &view, &error));
        }
        if (done == TO_MEMORY) {
            assert_ok(orr_frame_finish(s->frame, &(orr_picture){.rgba = s->rgba}, &error));
            orr_image_quantise(s->rgba, (int64_t)bytes / 4, s->shown);
        } else {
            orr_vulkan_image image;
            assert_ok(orr_frame_finish_for_window(s->frame, NULL, &image, &error));
            assert_int_equal(orr_frame_location(s->frame), ORR_PICTURE_ON_DEVICE);
            read_image(s->vk, &image, s->shown);
        }
        assert_memory_equal(s->shown, expected + (size_t)done * bytes, bytes);
    }
    free(expected);
}

// A rung that this machine has not (two GPUs, no export) has been left with a line, and there is nothing
// more to test.
static bool stands_on(const stage *s, orr_device_kind rung)
{
    if (s->engine->rung != rung) {
        print_message("skipped: %s is not to be had here\n", orr_device_name(rung));
        return false;
    }
    return true;
}

static void test_rung(orr_device_kind rung)
{
    stage s;
    stage_make(&s, rung);
    assert_int_equal(orr_engine_device(s.engine), ORR_DEVICE_CUDA);
    if (stands_on(&s, rung)) {
        orr_vulkan_image image, before;
        for (int i = 0; i < 4; i++) { // as a window is resized
            show(&s, i, sizes[i], &image);
            read_expected(&s, i, sizes[i]);
            assert_shown(&s, &image);
        }
        for (int i = 0; i < FRAMES; i++) { // the picture before stays while the next is made
            show(&s, i, sizes[1], &before);
            show(&s, i + 1, sizes[1], &image);
            read_expected(&s, i, sizes[1]);
            assert_shown(&s, &before);
            read_expected(&s, i + 1, sizes[1]);
            assert_shown(&s, &image);
        }
        show_in_flight(&s);
#if ORR_CUDA_EMULATED
        size_t allocations = made_allocations(), copies = pageable_copies();
        show_in_flight(&s); // with all the room, and no copy that a device lets the host wait for
        assert_int_equal(made_allocations(), allocations);
        assert_int_equal(pageable_copies(), copies);
#endif
        show(&s, 0, sizes[1], &image);
        orr_stage_time stages[32];
        int count = orr_frame_stages(s.frame, stages, 32);
        assert_string_equal(stages[count - 1].name, "hand over");
        print_message("%s: %d x %d handed over in %.3f ms\n", orr_device_name(rung), image.width,
                      image.height, stages[count - 1].milliseconds);
        assert_int_equal(complaints, 0);
        assert_int_equal(orr_vk_validation_count(s.vk), 0);
    }
    stage_free(&s);
}

static void shared_memory_shows_what_cuda_draws(void **state)
{
    (void)state;
    test_rung(ORR_DEVICE_CUDA_VULKAN);
}

static void pinned_copies_show_what_cuda_draws(void **state)
{
    (void)state;
    test_rung(ORR_DEVICE_CUDA_VULKAN_COPIES);
}

static void every_rung_has_a_name_that_the_engine_takes(void **state)
{
    (void)state;
    for (int i = ORR_DEVICE_AUTO; i <= ORR_DEVICE_CUDA_VULKAN_COPIES; i++) {
        orr_device_kind device;
        assert_true(orr_device_named(orr_device_name((orr_device_kind)i), &device));
        assert_int_equal(device, i);
    }
    orr_device_kind device;
    assert_false(orr_device_named("cuda+", &device));
    for (int i = ORR_DEVICE_CPU; i <= ORR_DEVICE_CUDA; i++) {
        const orr_engine_desc desc = {.threads = 1, .device = (orr_device_kind)i};
        orr_engine *engine;
        assert_ok(orr_engine_create(&desc, &engine, &error));
        assert_int_equal(orr_engine_device(engine), i);
        assert_false(orr_engine_shows_cuda(engine));
        orr_engine_destroy(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rung_has_a_name_that_the_engine_takes),
        cmocka_unit_test(shared_memory_shows_what_cuda_draws),
        cmocka_unit_test(pinned_copies_show_what_cuda_draws),
    };
    return cmocka_run_group_tests(tests, find_both_devices, NULL);
}
