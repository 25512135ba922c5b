// The ladder of devices on the emulated GPU and a Vulkan driver: GPUs of two vendors, memory that cannot be
// imported, a full GPU, a lost device, no Vulkan at all: one line, the next rung, and the same picture.
#define _GNU_SOURCE // setenv
#include "assets/clouds.h"
#include "engine/image/image.h"
#include "engine/loop/devices.h"
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
    orr_device_kind expected_of; // the device that has drawn it
    int calls_left;              // of Vulkan's, until the next one fails, after show_frame
} stage;

static void open_engine(stage *s, orr_device_kind rung, const orr_window *window)
{
    *s = (stage){0};
    const orr_engine_desc desc = {.threads = 1,
                                  .device = rung,
                                  .validate = has_validation_layer(),
                                  .log = write_journal,
                                  .log_user = &s->journal};
    assert_ok(window ? orr_engine_create_for_window(&desc, window, &s->engine, &error)
                     : orr_engine_create(&desc, &s->engine, &error));
    hook_vulkan_calls();
}

static void make_scene(stage *s)
{
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
    s->expected_of = orr_frame_device(s->frame);
}

static void open_stage(stage *s, orr_device_kind rung)
{
    open_engine(s, rung, NULL);
    make_scene(s);
}

static void close_stage(stage *s)
{
    orr_frame_destroy(s->frame);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

// The same bytes on the same device; devices may differ in the last bit.
static void assert_shows(const stage *s, const uint8_t *bytes)
{
    int tolerance = orr_frame_device(s->frame) == s->expected_of ? 0 : 1;
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++) {
        assert_in_range(bytes[i] + tolerance - s->expected[i], 0, 2 * tolerance);
    }
}

// Draws for the window, and looks at the picture where the frame says that it is.
static void show_frame(stage *s, orr_picture_location expected)
{
    static float rgba[WIDTH * HEIGHT * 4];
    static uint8_t shown[WIDTH * HEIGHT * 4];
    orr_vulkan_image image;
    orr_vk *vk;
    assert_ok(orr_frame_submit_for_window(s->frame, s->scene, s->world, &s->view, &error));
    assert_ok(orr_frame_finish_for_window(s->frame, &(orr_picture){.rgba = rgba}, &image, &error));
    assert_int_equal(orr_frame_location(s->frame), expected);
    s->calls_left = vulkan_calls_left();
    fail_vulkan_call(0, VK_SUCCESS); // not while it is read
    if (expected == ORR_PICTURE_ON_DEVICE) {
        assert_ok(orr_engine_take_vk(s->engine, &vk, &error));
        read_image(vk, &image, shown);
        orr_engine_give_vk(s->engine);
    } else {
        orr_image_quantise(rgba, WIDTH * HEIGHT, shown);
    }
    assert_shows(s, shown);
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
    show_frame(&s, ORR_PICTURE_ON_DEVICE);
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
    show_frame(&s, ORR_PICTURE_ON_DEVICE);
    close_stage(&s);
}

static void without_vulkan_cuda_draws_into_memory(void **state)
{
    (void)state;
    stage s;
    setenv("ORR_VULKAN_DEVICE", "no such GPU", 1);
    open_stage(&s, ORR_DEVICE_CUDA_VULKAN);
    unsetenv("ORR_VULKAN_DEVICE");
    assert_fell(&s, ORR_DEVICE_CUDA, "no such GPU: going on with cuda");
    assert_false(orr_engine_shows_cuda(s.engine));
    close_stage(&s);
}

static void who_has_a_window_is_told_that_vulkan_is_missing(void **state)
{
    (void)state;
    journal lines = {0};
    orr_engine *engine;
    orr_error error = {0};
    const orr_window window = {0};
    const orr_engine_desc desc = {
        .threads = 1, .device = ORR_DEVICE_CUDA_VULKAN, .log = write_journal, .log_user = &lines};
    setenv("ORR_VULKAN_DEVICE", "no such GPU", 1);
    orr_result result = orr_engine_create_for_window(&desc, &window, &engine, &error);
    unsetenv("ORR_VULKAN_DEVICE");
    assert_int_equal(result, ORR_ERROR_DEVICE);
    assert_null(engine);
    assert_non_null(strstr(error.message, "no such GPU"));
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
        show_frame(&s, ORR_PICTURE_ON_DEVICE);
        assert_int_equal(s.calls_left, 0);
        assert_fell(&s, ORR_DEVICE_CUDA_VULKAN_COPIES, ": going on with cuda+vulkan-copies");
        show_frame(&s, ORR_PICTURE_ON_DEVICE); // and stays there
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
    current_settings()->memory = total - available + 100; // too little for the copy
    show_frame(&s, ORR_PICTURE_IN_MEMORY);
    assert_fell(&s, ORR_DEVICE_CUDA, "CUDA: out of memory: ");
    assert_false(orr_engine_shows_cuda(s.engine));
    show_frame(&s, ORR_PICTURE_IN_MEMORY);
    close_stage(&s);
}

static void a_lost_vulkan_device_is_opened_again(void **state)
{
    (void)state;
    static const orr_device_kind rungs[] = {ORR_DEVICE_CUDA_VULKAN, ORR_DEVICE_CUDA_VULKAN_COPIES};
    for (int i = 0; i < 2; i++) {
        stage s;
        open_stage(&s, rungs[i]);
        show_frame(&s, ORR_PICTURE_ON_DEVICE);
        fail_vulkan_call(1, VK_ERROR_DEVICE_LOST);
        show_frame(&s, ORR_PICTURE_ON_DEVICE); // the same frame, on the next device
        assert_int_equal(s.calls_left, 0);
        assert_fell(&s, rungs[i], "the device was lost: starting it again");
        assert_false(s.engine->vk_lost);
        show_frame(&s, ORR_PICTURE_ON_DEVICE);
        assert_int_equal(s.journal.warnings, 1);
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
    assert_shows(s, bytes);
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

// ---- a window ----

static const char *const surface[] = {"VK_KHR_surface"};

// What a viewer does with the device, without a display.
typedef struct fake_window {
    orr_vk *vk; // NULL: detached
    int attached;
    int lost_again; // the call that fails after the device was attached once more; 0: none
} fake_window;

static orr_result attach(void *user, orr_vk *vk, orr_error *error)
{
    fake_window *w = user;
    (void)error;
    assert_null(w->vk);
    w->vk = vk;
    w->attached++;
    hook_vulkan_calls();
    if (w->attached > 1) {
        fail_vulkan_call(w->lost_again, VK_ERROR_DEVICE_LOST);
    }
    return ORR_OK;
}

static void detach(void *user)
{
    fake_window *w = user;
    assert_non_null(w->vk);
    w->vk = NULL;
}

static void open_window_stage(stage *s, fake_window *w, orr_device_kind rung)
{
    const orr_window window = {
        .extensions = surface, .extension_count = 1, .attach = attach, .detach = detach, .user = w};
    *w = (fake_window){0};
    open_engine(s, rung, &window);
    make_scene(s);
    assert_ok(orr_engine_attach_window(s->engine, &error));
    assert_ok(orr_engine_attach_window(s->engine, &error)); // does nothing
    assert_int_equal(w->attached, 1);
    orr_frame_destroy(s->frame);
    const orr_frame_desc desc = {.frames_in_flight = 1};
    assert_ok(orr_frame_create_for_window(s->engine, &desc, &s->frame, &error));
    assert_int_equal(orr_frame_location(s->frame), ORR_PICTURE_NOWHERE);
    show_frame(s, ORR_PICTURE_ON_DEVICE);
}

static void close_window_stage(stage *s, const fake_window *w)
{
    orr_engine_detach_window(s->engine);
    assert_null(w->vk);
    close_stage(s);
}

// Whichever of its calls says that the device is lost: the picture is drawn again, and the window has another
// device.
static void a_lost_device_behind_a_window_is_opened_again(void **state)
{
    (void)state;
    static const orr_device_kind rungs[] = {ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA_VULKAN};
    for (int i = 0; i < 2; i++) {
        int lost = 0;
        for (bool reached = true; reached;) {
            stage s;
            fake_window w;
            open_window_stage(&s, &w, rungs[i]);
            fail_vulkan_call(lost + 1, VK_ERROR_DEVICE_LOST);
            show_frame(&s, ORR_PICTURE_ON_DEVICE);
            reached = w.attached == 2;
            assert_int_equal(reached, s.calls_left == 0);
            lost += reached;
            assert_int_equal(s.engine->rung, rungs[i]);
            assert_int_equal(s.journal.warnings, reached);
            assert_true(!reached || strstr(s.journal.last, "the device was lost: starting it again"));
            close_window_stage(&s, &w);
        }
        print_message("%s: lost at each of %d calls\n", orr_device_name(rungs[i]), lost);
        assert_true(lost > 3);
    }
}

static void a_device_that_is_lost_again_is_left(void **state)
{
    (void)state;
    for (int call = 1; call < 80; call += 13) { // while it is opened, or while it draws
        stage s;
        fake_window w;
        open_window_stage(&s, &w, ORR_DEVICE_VULKAN);
        w.lost_again = call;
        fail_vulkan_call(1, VK_ERROR_DEVICE_LOST);
        show_frame(&s, ORR_PICTURE_IN_MEMORY);
        assert_int_equal(s.calls_left, 0);
        assert_int_equal(orr_frame_device(s.frame), ORR_DEVICE_CPU);
        assert_int_equal(s.engine->rung, ORR_DEVICE_CPU);
        assert_int_equal(s.journal.warnings, 2);
        assert_non_null(strstr(s.journal.last, "the device was lost: going on with cpu"));
        close_window_stage(&s, &w);
    }
}

static void a_window_that_cannot_present_gets_another_device(void **state)
{
    (void)state;
    static const orr_device_kind rungs[] = {ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA_VULKAN, ORR_DEVICE_CPU};
    for (int i = 0; i < 3; i++) {
        stage s;
        fake_window w;
        open_window_stage(&s, &w, i < 2 ? rungs[i] : ORR_DEVICE_VULKAN);
        if (rungs[i] == ORR_DEVICE_CPU) { // its pictures are not lost
            orr_frame_destroy(s.frame);
            const orr_frame_desc desc = {.device = ORR_DEVICE_CPU};
            assert_ok(orr_frame_create_for_window(s.engine, &desc, &s.frame, &error));
            show_frame(&s, ORR_PICTURE_IN_MEMORY);
        }
        orr_error error = {.code = ORR_CODE_DEVICE_CALL, .message = "something else"};
        assert_int_equal(orr_engine_restore_window(s.engine, &error), ORR_ERROR_DEVICE);
        assert_string_equal(error.message, "something else");
        assert_int_equal(w.attached, 1);
        error = (orr_error){.code = ORR_CODE_DEVICE_LOST, .message = "presenting"};
        assert_int_equal(orr_engine_restore_window(s.engine, &error), ORR_OK);
        assert_int_equal(w.attached, 2);
        assert_string_equal(s.journal.last, "presenting: starting it again");
        bool in_memory = rungs[i] == ORR_DEVICE_CPU;
        assert_int_equal(orr_frame_location(s.frame),
                         in_memory ? ORR_PICTURE_IN_MEMORY : ORR_PICTURE_NOWHERE);
        show_frame(&s, in_memory ? ORR_PICTURE_IN_MEMORY : ORR_PICTURE_ON_DEVICE);
        close_window_stage(&s, &w);
    }
}

static void a_window_goes_down_the_ladder_rung_by_rung(void **state)
{
    (void)state;
    stage s;
    fake_window w;
    open_window_stage(&s, &w, ORR_DEVICE_CUDA_VULKAN);
    assert_int_equal(orr_engine_next_device(s.engine, ORR_DEVICE_VULKAN), ORR_DEVICE_CUDA);
    fail_device(ORR_DEVICE_CUDA, 1);
    show_frame(&s, ORR_PICTURE_ON_DEVICE);
    assert_int_equal(s.engine->rung, ORR_DEVICE_VULKAN);
    assert_int_equal(orr_frame_device(s.frame), ORR_DEVICE_VULKAN);
    assert_non_null(strstr(s.journal.last, ": going on with vulkan"));
    assert_int_equal(orr_engine_next_device(s.engine, ORR_DEVICE_CPU), ORR_DEVICE_VULKAN);
    assert_int_equal(orr_engine_next_device(s.engine, ORR_DEVICE_VULKAN), ORR_DEVICE_CPU);
    fail_device(ORR_DEVICE_VULKAN, 2); // out of memory
    show_frame(&s, ORR_PICTURE_IN_MEMORY);
    assert_int_equal(s.engine->rung, ORR_DEVICE_CPU);
    assert_non_null(strstr(s.journal.last, ": going on with cpu"));
    assert_int_equal(s.journal.warnings, 2);
    assert_int_equal(w.attached, 1);
    show_frame(&s, ORR_PICTURE_IN_MEMORY);
    // a device that has failed can be chosen again
    orr_frame_destroy(s.frame);
    const orr_frame_desc desc = {.device = ORR_DEVICE_VULKAN};
    assert_ok(orr_frame_create_for_window(s.engine, &desc, &s.frame, &error));
    show_frame(&s, ORR_PICTURE_ON_DEVICE);
    fail_device(ORR_DEVICE_VULKAN, 2);
    show_frame(&s, ORR_PICTURE_IN_MEMORY);
    assert_int_equal(s.journal.warnings, 3);
    assert_non_null(strstr(s.journal.last, ": going on with cpu"));
    close_window_stage(&s, &w);
}

// Another frame of the same engine stays on its device, and a device chosen for a frame alone falls alone.
static void a_frame_on_a_device_of_its_own_falls_alone(void **state)
{
    (void)state;
    stage s;
    fake_window w;
    open_window_stage(&s, &w, ORR_DEVICE_CUDA_VULKAN);
    orr_frame *of_engine = s.frame;
    const orr_frame_desc desc = {.device = ORR_DEVICE_VULKAN, .frames_in_flight = 1};
    assert_ok(orr_frame_create_for_window(s.engine, &desc, &s.frame, &error));
    show_frame(&s, ORR_PICTURE_ON_DEVICE);
    fail_device(ORR_DEVICE_VULKAN, 2);
    show_frame(&s, ORR_PICTURE_IN_MEMORY);
    assert_int_equal(orr_frame_device(s.frame), ORR_DEVICE_CPU);
    assert_fell(&s, ORR_DEVICE_CUDA_VULKAN, "out of memory: going on with cpu");
    orr_frame_destroy(s.frame);
    s.frame = of_engine;
    show_frame(&s, ORR_PICTURE_ON_DEVICE);
    assert_int_equal(orr_frame_device(s.frame), ORR_DEVICE_CUDA);
    close_window_stage(&s, &w);
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
        cmocka_unit_test_setup(a_lost_vulkan_device_is_opened_again, reset_emulated_gpu),
        cmocka_unit_test_setup(what_waits_in_memory_is_drawn_by_the_cpu_when_the_device_fails,
                               reset_emulated_gpu),
        cmocka_unit_test_setup(a_device_that_the_caller_has_chosen_is_not_changed, reset_emulated_gpu),
        cmocka_unit_test_setup(a_lost_device_behind_a_window_is_opened_again, reset_emulated_gpu),
        cmocka_unit_test_setup(a_device_that_is_lost_again_is_left, reset_emulated_gpu),
        cmocka_unit_test_setup(a_window_that_cannot_present_gets_another_device, reset_emulated_gpu),
        cmocka_unit_test_setup(a_window_goes_down_the_ladder_rung_by_rung, reset_emulated_gpu),
        cmocka_unit_test_setup(a_frame_on_a_device_of_its_own_falls_alone, reset_emulated_gpu),
    };
    return cmocka_run_group_tests(tests, use_same_gpu, NULL);
}
