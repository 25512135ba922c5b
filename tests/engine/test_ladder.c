// The ladder of devices on the emulated card and a Vulkan driver: cards of two vendors, memory that cannot be imported, a full
// card, a lost device, no Vulkan at all: one line, the next rung, and the same picture.
#define _GNU_SOURCE // setenv
#include "assets/clouds.h"
#include "engine/image/image.h"
#include "engine/loop/shared_device.h"
#include "tests/cuda_emu/emu.h"
#include "tests/support/emulated_gpu.h"
#include "tests/support/read_image.h"
#include "tests/support/same_gpu.h"
#include "tests/support/support.h"
#include "tests/support/vulkan_calls.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 50, HEIGHT = 30 };

typedef struct journal {
    int warnings;
    char last[600];
} journal;

static void write_journal(void *user, orr_log_level level, int code, const char *line)
{
    journal *j = user;
    (void)code;
    if (level >= ORR_LOG_WARNING) {
        j->warnings++;
        snprintf(j->last, sizeof j->last, "%s", line);
    }
}

typedef struct stage {
    journal journal;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_view view;
    orr_frame *frame;
    uint8_t expected[WIDTH * HEIGHT * 4];
} stage;

static void open_stage(stage *s, orr_device_kind rung)
{
    *s = (stage){0};
    const orr_engine_desc desc = {.threads = 1,
                                  .device = rung,
                                  .validate = has_validation_layer(),
                                  .log = write_journal,
                                  .log_user = &s->journal};
    assert_ok(orr_engine_create(&desc, &s->engine, &error));
    hook_vulkan_calls();
    assert_ok(orr_scene_create(s->engine, &s->scene, &error));
    orr_splats *splats = make_cloud(CLOUD_BALL, 200, 0, 4);
    orr_layer layer;
    assert_ok(orr_scene_add_splats(s->scene, "ball", splats, NULL, &layer, &error));
    orr_splats_destroy(splats);
    assert_ok(orr_world_create(s->scene, 1, &s->world, &error));
    const float eye[3] = {0.0f, -0.4f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    s->view = (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.8f, WIDTH, HEIGHT)};
    assert_ok(orr_frame_create(s->engine, NULL, &s->frame, &error));
    static float rgba[WIDTH * HEIGHT * 4];
    for (int i = 0; i < 2; i++) { // each frame in flight has memory of its own
        assert_ok(orr_frame_submit(s->frame, s->scene, s->world, &s->view, &error));
        assert_ok(orr_frame_finish(s->frame, &(orr_picture){.rgba = rgba}, &error));
    }
    orr_image_quantise(rgba, WIDTH * HEIGHT, s->expected);
}

static void close_stage(stage *s)
{
    orr_frame_destroy(s->frame);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static orr_result show_frame(stage *s, orr_error *error)
{
    orr_vulkan_image image;
    orr_vk *vk;
    uint8_t shown[WIDTH * HEIGHT * 4];
    ORR_TRY(orr_frame_submit_image(s->frame, s->scene, s->world, &s->view, error));
    ORR_TRY(orr_frame_finish_image(s->frame, &image, error));
    ORR_TRY(orr_engine_take_vk(s->engine, &vk, error));
    read_image(vk, &image, shown);
    orr_engine_give_vk(s->engine);
    assert_memory_equal(shown, s->expected, sizeof shown);
    return ORR_OK;
}

static void assert_fell(const stage *s, orr_device_kind rung, const char *why)
{
    assert_int_equal(s->engine->rung, rung);
    assert_int_equal(orr_engine_device(s->engine), ORR_DEVICE_CUDA);
    assert_int_equal(s->journal.warnings, 1);
    assert_null(strchr(s->journal.last, '\n'));
    if (!strstr(s->journal.last, why)) {
        fail_msg("'%s': expected '%s'", s->journal.last, why);
    }
}

static void same_gpu_shares_its_memory(void **state)
{
    (void)state;
    stage s;
    open_stage(&s, ORR_DEVICE_CUDA_VULKAN);
    assert_int_equal(s.engine->rung, ORR_DEVICE_CUDA_VULKAN);
    assert_int_equal(s.journal.warnings, 0);
    assert_ok(show_frame(&s, &error));
    close_stage(&s);
}

static void cards_of_two_vendors_copy(void **state)
{
    (void)state;
    stage s;
    current_settings()->uuid[0] ^= 1;
    open_stage(&s, ORR_DEVICE_CUDA_VULKAN);
    assert_fell(&s, ORR_DEVICE_CUDA_VULKAN_COPIES,
                "are two devices, expected one UUID: going on with cuda+vulkan-copies");
    assert_ok(show_frame(&s, &error));
    close_stage(&s);
}

static void without_vulkan_cuda_draws_into_memory(void **state)
{
    (void)state;
    stage s;
    setenv("ORR_VULKAN_DEVICE", "no such card", 1);
    open_stage(&s, ORR_DEVICE_CUDA_VULKAN);
    unsetenv("ORR_VULKAN_DEVICE");
    assert_fell(&s, ORR_DEVICE_CUDA, "no such card: going on with cuda");
    assert_false(orr_engine_shows_cuda(s.engine));
    close_stage(&s);
}

static void who_has_a_window_is_told_that_vulkan_is_missing(void **state)
{
    (void)state;
    journal lines = {0};
    orr_engine *engine;
    orr_error error = {0};
    const char *const extensions[] = {NULL};
    const orr_engine_desc desc = {
        .threads = 1, .device = ORR_DEVICE_CUDA_VULKAN, .log = write_journal, .log_user = &lines};
    setenv("ORR_VULKAN_DEVICE", "no such card", 1);
    orr_result result = orr_engine_create_presenting(&desc, extensions, 0, &engine, &error);
    unsetenv("ORR_VULKAN_DEVICE");
    assert_int_equal(result, ORR_ERROR_DEVICE);
    assert_null(engine);
    assert_non_null(strstr(error.message, "no such card"));
    assert_int_equal(lines.warnings, 0);
}

static void without_cuda_who_asked_for_it_is_told(void **state)
{
    (void)state;
    orr_engine *engine;
    orr_error error = {0};
    const orr_engine_desc desc = {.threads = 1, .device = ORR_DEVICE_CUDA_VULKAN};
    current_settings()->devices = 0;
    assert_int_equal(orr_engine_create(&desc, &engine, &error), ORR_ERROR_DEVICE);
    assert_string_equal(error.message, "CUDA: no NVIDIA driver or no device");
}

// The attempt at the start went well; the picture's own memory does not.
static void memory_that_cannot_be_imported_is_copied(void **state)
{
    (void)state;
    static const VkResult results[] = {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_TOO_MANY_OBJECTS};
    for (int call = 1; call < 14; call++) { // memory, semaphores, the pool, the buffer, the image
        stage s;
        open_stage(&s, ORR_DEVICE_CUDA_VULKAN);
        fail_vulkan_call(call, results[call % 2]);
        assert_ok(show_frame(&s, &error));
        assert_int_equal(vulkan_calls_left(), 0);
        assert_fell(&s, ORR_DEVICE_CUDA_VULKAN_COPIES, ": going on with cuda+vulkan-copies");
        assert_ok(show_frame(&s, &error)); // and stays there
        assert_int_equal(s.journal.warnings, 1);
        close_stage(&s);
    }
}

static void a_full_card_falls_as_far_as_it_must(void **state)
{
    (void)state;
    stage s;
    open_stage(&s, ORR_DEVICE_CUDA_VULKAN_COPIES);
    size_t available, total;
    assert_int_equal(cudaMemGetInfo(&available, &total), cudaSuccess);
    current_settings()->memory = total - available + 100; // for the copy's room: too little
    orr_error error = {0};
    assert_int_equal(show_frame(&s, &error), ORR_ERROR_MEMORY);
    assert_fell(&s, ORR_DEVICE_CUDA, "CUDA: out of memory: ");
    assert_false(orr_engine_shows_cuda(s.engine));
    // what was drawn is still to be had in memory
    float rgba[WIDTH * HEIGHT * 4];
    assert_ok(orr_frame_submit(s.frame, s.scene, s.world, &s.view, &error));
    assert_ok(orr_frame_finish(s.frame, &(orr_picture){.rgba = rgba}, &error));
    close_stage(&s);
}

static void a_lost_vulkan_device_is_opened_anew(void **state)
{
    (void)state;
    static const orr_device_kind rungs[] = {ORR_DEVICE_CUDA_VULKAN, ORR_DEVICE_CUDA_VULKAN_COPIES};
    for (int i = 0; i < 2; i++) {
        stage s;
        open_stage(&s, rungs[i]);
        assert_ok(show_frame(&s, &error));
        orr_error error = {0};
        orr_vulkan_image image;
        assert_ok(orr_frame_submit_image(s.frame, s.scene, s.world, &s.view, &error));
        fail_vulkan_call(1, VK_ERROR_DEVICE_LOST);
        assert_int_equal(orr_frame_finish_image(s.frame, &image, &error), ORR_ERROR_DEVICE);
        assert_int_equal(error.code, ORR_CODE_DEVICE_LOST);
        assert_true(s.engine->vk_lost);
        assert_ok(show_frame(&s, &error)); // the same frame, on the next device
        assert_false(s.engine->vk_lost);
        assert_int_equal(s.engine->rung, rungs[i]);
        assert_int_equal(s.journal.warnings, 0);
        close_stage(&s);
    }
}

// Lets one of the calls to come fail, every other time for want of memory.
static void fail_device(orr_device_kind device, int call)
{
    if (device == ORR_DEVICE_VULKAN) {
        fail_vulkan_call(call, call % 2 ? VK_ERROR_DEVICE_LOST : VK_ERROR_OUT_OF_DEVICE_MEMORY);
    } else {
        current_settings()->fail_call = call;
        current_settings()->fail_with = call % 2 ? cudaErrorLaunchFailure : cudaErrorMemoryAllocation;
    }
}

static void assert_drawn(stage *s)
{
    static float rgba[WIDTH * HEIGHT * 4];
    static uint8_t bytes[WIDTH * HEIGHT * 4];
    assert_ok(orr_frame_finish(s->frame, &(orr_picture){.rgba = rgba}, &error));
    orr_image_quantise(rgba, WIDTH * HEIGHT, bytes);
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++) { // machines may differ in the last bit
        assert_in_range(bytes[i] + 1 - s->expected[i], 0, 2);
    }
}

static void what_waits_in_memory_is_drawn_by_the_cpu_when_the_device_fails(void **state)
{
    (void)state;
    static const orr_device_kind devices[] = {ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA};
    for (int i = 0; i < 2; i++) {
        int fell = 0;
        for (int call = 1; call > 0; call += i ? 5 : 1) {
            stage s;
            open_stage(&s, devices[i]);
            fail_device(devices[i], call);
            for (int k = 0; k < 2; k++) {
                assert_ok(orr_frame_submit(s.frame, s.scene, s.world, &s.view, &error));
            }
            assert_drawn(&s);
            assert_drawn(&s);
            bool reached = i ? current_settings()->fail_call <= 0 : vulkan_calls_left() == 0;
            fail_device(devices[i], 0);
            assert_int_equal(s.engine->rung, reached ? ORR_DEVICE_CPU : devices[i]);
            assert_int_equal(s.journal.warnings, reached);
            fell += reached;
            call = reached ? call : -100;
            assert_ok(orr_frame_submit(s.frame, s.scene, s.world, &s.view, &error));
            assert_drawn(&s); // and what comes later
            close_stage(&s);
        }
        print_message("%s: %d calls left the frames to the CPU\n", orr_device_name(devices[i]), fell);
        assert_true(fell > 3);
    }
}

// Whoever has named the device hears of it.
static void a_device_that_the_caller_has_chosen_is_not_changed(void **state)
{
    (void)state;
    stage s;
    open_stage(&s, ORR_DEVICE_CUDA);
    orr_frame_destroy(s.frame);
    assert_ok(orr_frame_create(s.engine, &(orr_frame_desc){.device = ORR_DEVICE_CUDA}, &s.frame, &error));
    assert_ok(orr_frame_submit(s.frame, s.scene, s.world, &s.view, &error));
    fail_device(ORR_DEVICE_CUDA, 1);
    orr_error error = {0};
    assert_int_equal(orr_frame_finish(s.frame, NULL, &error), ORR_ERROR_DEVICE);
    assert_int_equal(s.engine->rung, ORR_DEVICE_CUDA);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(same_gpu_shares_its_memory, reset_emulated_gpu),
        cmocka_unit_test_setup(cards_of_two_vendors_copy, reset_emulated_gpu),
        cmocka_unit_test_setup(without_vulkan_cuda_draws_into_memory, reset_emulated_gpu),
        cmocka_unit_test_setup(who_has_a_window_is_told_that_vulkan_is_missing, reset_emulated_gpu),
        cmocka_unit_test_setup(without_cuda_who_asked_for_it_is_told, reset_emulated_gpu),
        cmocka_unit_test_setup(memory_that_cannot_be_imported_is_copied, reset_emulated_gpu),
        cmocka_unit_test_setup(a_full_card_falls_as_far_as_it_must, reset_emulated_gpu),
        cmocka_unit_test_setup(a_lost_vulkan_device_is_opened_anew, reset_emulated_gpu),
        cmocka_unit_test_setup(what_waits_in_memory_is_drawn_by_the_cpu_when_the_device_fails,
                               reset_emulated_gpu),
        cmocka_unit_test_setup(a_device_that_the_caller_has_chosen_is_not_changed, reset_emulated_gpu),
    };
    return cmocka_run_group_tests(tests, use_same_gpu, NULL);
}
