// What can go wrong with a CUDA device, on the emulated one: no driver, an old one, an old GPU, a second
// GPU, full memory, and every single call that fails. Nothing is lost, nothing leaks, one line says what it
// was.
#define _GNU_SOURCE // setenv
#include "assets/clouds.h"
#include "engine/core/profile.h"
#include "engine/device/cuda_gpu.h"
#include "engine/orrery.h"
#include "render/cuda/draw.h"
#include "render/splat/splat_cloud.h"
#include "tests/cuda_emu/emu.h"
#include "tests/support/emulated_gpu.h"
#include "tests/support/support.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

static orr_jobs *jobs;

static void assert_refused(const char *device, const char *expected)
{
    orr_error error = {0};
    orr_cuda *cuda;
    assert_int_equal(orr_cuda_create(&(orr_cuda_desc){device}, &cuda, &error), ORR_ERROR_DEVICE);
    assert_null(cuda);
    assert_string_equal(error.message, expected);
}

static void without_a_driver_there_is_no_device(void **state)
{
    (void)state;
    orr_cuda_info info;
    int count = 7;
    orr_error error;
    current_settings()->driver_version = 0;
    assert_refused(NULL, "CUDA: no NVIDIA driver or no device");
    assert_int_equal(orr_cuda_list(&info, 1, &count, &error), ORR_ERROR_DEVICE);
    assert_int_equal(count, 0);
    current_settings()->driver_version = CUDART_VERSION;
    current_settings()->devices = 0;
    assert_refused(NULL, "CUDA: no NVIDIA driver or no device");
}

static void an_old_driver_is_named_with_what_is_wanted(void **state)
{
    (void)state;
    current_settings()->driver_version = 11040;
    assert_refused(NULL, "CUDA: the driver is for CUDA 11.4; expected one for CUDA 13.0 or later");
}

static void an_old_card_lacks_something(void **state)
{
    (void)state;
    current_settings()->compute_major = 7;
    current_settings()->compute_minor = 0;
    assert_refused(NULL, "CUDA: emulated device lacks compute capability 7.5");
    orr_cuda_info info;
    int count;
    assert_ok(orr_cuda_list(&info, 1, &count, &error));
    assert_string_equal(info.lacks, "compute capability 7.5");
}

static void a_second_card_can_be_asked_for(void **state)
{
    (void)state;
    orr_cuda *cuda;
    current_settings()->devices = 2;
    assert_ok(orr_cuda_create(&(orr_cuda_desc){"1"}, &cuda, &error));
    assert_int_equal(orr_cuda_describe(cuda)->uuid[15], 1);
    orr_cuda_destroy(cuda);
    assert_ok(orr_cuda_create(&(orr_cuda_desc){"EMULATED"}, &cuda, &error));
    orr_cuda_destroy(cuda);
    setenv("ORR_CUDA_DEVICE", "1", 1);
    assert_ok(orr_cuda_create(NULL, &cuda, &error));
    assert_int_equal(orr_cuda_describe(cuda)->uuid[15], 1);
    orr_cuda_destroy(cuda);
    unsetenv("ORR_CUDA_DEVICE");
    assert_refused("2", "CUDA: no device '2' among 2");
    assert_refused("GeForce", "CUDA: no device 'GeForce' among 2");
}

static void what_a_kernel_did_wrong_loses_the_device(void **state)
{
    (void)state;
    static const cudaError_t lost[] = {cudaErrorECCUncorrectable,
                                       cudaErrorIllegalAddress,
                                       cudaErrorLaunchTimeout,
                                       cudaErrorAssert,
                                       cudaErrorHardwareStackError,
                                       cudaErrorIllegalInstruction,
                                       cudaErrorMisalignedAddress,
                                       cudaErrorInvalidAddressSpace,
                                       cudaErrorInvalidPc,
                                       cudaErrorLaunchFailure,
                                       cudaErrorUnknown};
    static const cudaError_t refused[] = {cudaErrorInvalidValue, cudaErrorInvalidConfiguration,
                                          cudaErrorNoKernelImageForDevice, cudaErrorNotSupported};
    orr_error why;
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        assert_int_equal(orr_cuda_fail(&why, lost[i], "cudaStreamSynchronize(s)"), ORR_ERROR_DEVICE);
        assert_int_equal(why.code, ORR_CODE_DEVICE_LOST);
        assert_non_null(strstr(why.message, cudaGetErrorName(lost[i])));
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        orr_cuda_fail(&why, refused[i], "cudaStreamSynchronize(s)");
        assert_int_equal(why.code, ORR_CODE_DEVICE_CALL);
    }
}

static void an_engine_that_was_asked_for_cuda_says_why_not(void **state)
{
    (void)state;
    current_settings()->devices = 0;
    orr_engine *engine;
    orr_error error = {0};
    const orr_engine_desc wanted = {.threads = 1, .device = ORR_DEVICE_CUDA};
    assert_int_equal(orr_engine_create(&wanted, &engine, &error), ORR_ERROR_DEVICE);
    assert_string_equal(error.message, "CUDA: no NVIDIA driver or no device");
    // and one that was not, goes on with the next rung
    const orr_engine_desc any = {.threads = 1};
    assert_ok(orr_engine_create(&any, &engine, &error));
    assert_int_not_equal(orr_engine_device(engine), ORR_DEVICE_CUDA);
    orr_engine_destroy(engine);
}

// A cloud before a camera, and an image across it.
typedef struct stage {
    orr_field *field;
    orr_field_layer *image;
    orr_draw_field drawn_field;
    orr_splats *splats;
    orr_splat_pack *pack;
    orr_draw_splats layer;
    orr_draw_list list;
    float rgba[48 * 32 * 4];
} stage;

static void stage_make(stage *s)
{
    *s = (stage){.splats = make_cloud(CLOUD_BALL, 300, 1, 3)};
    orr_splats_view data = orr_splats_data(s->splats);
    assert_ok(orr_splat_pack_create(jobs, &data, NULL, &s->pack, &error));
    s->layer = (orr_draw_splats){.pack = s->pack, .key = 1, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    const float eye[3] = {0.0f, 0.0f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, 48, 32);
    orr_field_desc desc = {.kind = ORR_FIELD_IMAGE, .seed = 1, .isa = orr_isa_best()};
    assert_ok(orr_field_config_base(ORR_FIELD_IMAGE, &desc.config, &error));
    desc.config.encoding.log2_hashmap_size = 8;
    assert_ok(orr_field_create(&desc, &s->field, &error));
    orr_field_config_free(&desc.config);
    const float to_unit[12] = {1, 0, 0, 0.5f, 0, 1, 0, 0.5f, 0, 0, 1, 0.0f};
    assert_ok(orr_field_layer_borrow(s->field, NULL, to_unit, jobs, &s->image, &error));
    s->drawn_field =
        (orr_draw_field){.layer = s->image, .key = 2, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    s->list =
        (orr_draw_list){.splats = &s->layer, .splat_count = 1, .fields = &s->drawn_field, .field_count = 1};
    assert_ok(orr_camera_resolve(&camera, &s->list.lens, &error));
}

// Its splats cover the picture, so that they have more pairs with tiles than a first frame has room for.
static void stage_enlarge(stage *s)
{
    orr_splats_view data = orr_splats_data(s->splats);
    for (int64_t i = 0; i < 3 * data.count; i++) {
        data.log_scale[i] = 0.0f;
    }
    orr_splat_pack_destroy(s->pack);
    assert_ok(orr_splat_pack_create(jobs, &data, NULL, &s->pack, &error));
    s->layer.pack = s->pack;
}

static void stage_free(stage *s)
{
    orr_field_layer_destroy(s->image);
    orr_field_destroy(s->field);
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
}

// Everything, from opening the device to the picture; without the image when the device refuses it.
static orr_result draw_all(stage *s, orr_error *error)
{
    orr_cuda *cuda;
    ORR_TRY(orr_cuda_create(NULL, &cuda, error));
    orr_cuda_draw *draw;
    orr_result result = orr_cuda_draw_create(cuda, jobs, 1, &draw, error);
    if (result == ORR_OK) {
        orr_profile profile = {0};
        orr_draw_list list = s->list;
        list.field_count = orr_cuda_draw_takes_field(draw, &s->drawn_field, (orr_log){NULL, NULL}) ? 1 : 0;
        result = orr_cuda_draw_submit(draw, &list, NULL, error);
        if (result == ORR_OK) {
            result = orr_cuda_draw_finish(draw, &(orr_picture){.rgba = s->rgba}, &profile, error);
        }
        orr_cuda_draw_destroy(draw);
    }
    orr_cuda_destroy(cuda);
    return result;
}

// Another library of the process, or another thread, works with another device: every call of ours goes on
// with its own, also the one that finds that a frame is to be drawn again.
static void another_device_of_the_thread_does_not_matter(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    stage_enlarge(&s);
    assert_ok(draw_all(&s, &error));
    float *expected = malloc(sizeof s.rgba);
    memcpy(expected, s.rgba, sizeof s.rgba);
    orr_cuda *cuda;
    orr_cuda_draw *draw;
    current_settings()->devices = 2;
    assert_ok(orr_cuda_create(&(orr_cuda_desc){"1"}, &cuda, &error));
    cudaSetDevice(0);
    assert_ok(orr_cuda_draw_create(cuda, jobs, 2, &draw, &error));
    for (int i = 0; i < 3; i++) {
        orr_draw_list list = s.list;
        cudaSetDevice(0);
        assert_true(orr_cuda_draw_takes_field(draw, &s.drawn_field, (orr_log){NULL, NULL}));
        cudaSetDevice(0);
        list.field_count = i < 2 ? 1 : 0; // the last frame needs no more memory, and no look at the field
        assert_ok(orr_cuda_draw_submit(draw, &list, NULL, &error));
        cudaSetDevice(0);
        orr_cuda_draw_release(draw, 77); // of something else: all frames end
        cudaSetDevice(0);
        assert_ok(orr_cuda_draw_finish(draw, &(orr_picture){.rgba = s.rgba}, NULL, &error));
        assert_true(i == 2 || memcmp(s.rgba, expected, sizeof s.rgba) == 0);
    }
    cudaSetDevice(0);
    orr_cuda_draw_destroy(draw);
    cudaSetDevice(0);
    orr_cuda_destroy(cuda);
    cudaSetDevice(0);
    assert_int_equal(live_allocations(), 0);
    assert_int_equal(live_handles(), 0);
    free(expected);
    stage_free(&s);
}

static void whatever_call_fails_nothing_leaks(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    assert_ok(draw_all(&s, &error));
    float *expected = malloc(sizeof s.rgba);
    memcpy(expected, s.rgba, sizeof s.rgba);
    int failed = 0;
    for (int call = 1;; call++) {
        current_settings()->fail_call = call;
        current_settings()->fail_with = call % 2 ? cudaErrorMemoryAllocation : cudaErrorUnknown;
        orr_error error = {0};
        orr_result result = draw_all(&s, &error);
        bool reached = current_settings()->fail_call == 0;
        current_settings()->fail_call = 0;
        assert_int_equal(live_allocations(), 0);
        assert_int_equal(live_handles(), 0);
        if (!reached) {
            assert_int_equal(result, ORR_OK); // all calls have had their turn
            break;
        }
        if (result != ORR_OK) {
            failed++;
            assert_true(strncmp(error.message, "CUDA: ", 6) == 0);
        }
        assert_true(call < 700);
    }
    print_message("%d calls failed in turn\n", failed);
    assert_true(failed > 40);
    assert_ok(draw_all(&s, &error)); // and it still works
    assert_memory_equal(s.rgba, expected, sizeof s.rgba);
    free(expected);
    stage_free(&s);
}

static void a_full_device_says_how_much_was_wanted(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    current_settings()->memory = 60 << 10;
    orr_error error = {0};
    assert_int_equal(draw_all(&s, &error), ORR_ERROR_MEMORY);
    assert_non_null(strstr(error.message, "CUDA: out of memory: "));
    assert_non_null(strstr(error.message, " MiB wanted, "));
    assert_int_equal(live_allocations(), 0);
    stage_free(&s);
}

static void an_event_is_the_host_s_time(void **state)
{
    (void)state;
    orr_cuda *cuda;
    orr_cuda_clock clock = {0};
    cudaEvent_t event;
    assert_ok(orr_cuda_create(NULL, &cuda, &error));
    for (int i = 0; i < 3; i++) { // again and again
        assert_ok(orr_cuda_clock_calibrate(cuda, &clock, &error));
    }
    assert_int_equal(cudaEventCreateWithFlags(&event, cudaEventDefault), cudaSuccess);
    uint64_t before = orr_clock_nanoseconds(), time;
    assert_int_equal(cudaEventRecord(event, cuda->stream), cudaSuccess);
    assert_ok(orr_cuda_wait(cuda, &error));
    uint64_t after = orr_clock_nanoseconds();
    assert_ok(orr_cuda_clock_read(&clock, event, &time, &error));
    assert_true(before <= time + clock.uncertainty && time <= after + clock.uncertainty);
    cudaEventDestroy(event);
    orr_cuda_clock_destroy(&clock);
    orr_cuda_destroy(cuda);
    assert_int_equal(live_handles(), 0);
}

int main(void)
{
    if (orr_jobs_create(1, NULL, NULL, &jobs, NULL) != ORR_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_driver_there_is_no_device, reset_emulated_gpu),
        cmocka_unit_test_setup(an_old_driver_is_named_with_what_is_wanted, reset_emulated_gpu),
        cmocka_unit_test_setup(an_old_card_lacks_something, reset_emulated_gpu),
        cmocka_unit_test_setup(a_second_card_can_be_asked_for, reset_emulated_gpu),
        cmocka_unit_test_setup(another_device_of_the_thread_does_not_matter, reset_emulated_gpu),
        cmocka_unit_test_setup(what_a_kernel_did_wrong_loses_the_device, reset_emulated_gpu),
        cmocka_unit_test_setup(an_engine_that_was_asked_for_cuda_says_why_not, reset_emulated_gpu),
        cmocka_unit_test_setup(whatever_call_fails_nothing_leaks, reset_emulated_gpu),
        cmocka_unit_test_setup(an_event_is_the_host_s_time, reset_emulated_gpu),
        cmocka_unit_test_setup(a_full_device_says_how_much_was_wanted, reset_emulated_gpu),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    orr_jobs_destroy(jobs);
    return failures;
}
