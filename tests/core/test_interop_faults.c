// What can go wrong between Vulkan and CUDA, on the emulated device and a Vulkan driver: a wait that is
// forgotten, a handle that is leaked, every single call that fails on either side. (What an engine makes of
// it: test_ladder.c.) The emulated stream runs only when somebody waits for it, so that a missing wait reads
// what was there before.
#define _GNU_SOURCE // nanosleep
#include "engine/device/interop_gpu.h"
#include "engine/image/image.h"
#include "render/cuda/show.h"
#include "tests/cuda_emu/emu.h"
#include "tests/support/emulated_gpu.h"
#include "tests/support/read_image.h"
#include "tests/support/same_gpu.h"
#include "tests/support/support.h"
#include "tests/support/vulkan_calls.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 40000 };

static bool no_export; // of timelines: the host carries them
static bool no_validation;

// ---- both devices, and what passes between them ----

typedef struct bed {
    orr_vk *vk;
    orr_cuda *cuda;
    orr_interop *interop;
    orr_interop_buffer buffer;
    orr_vk_buffer host; // Vulkan's
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore own; // a timeline beside
    uint8_t bytes[BYTES];
} bed;

static void open_devices(orr_vk **vk, orr_cuda **cuda)
{
    assert_ok(
        orr_vk_create(&(orr_vk_desc){.validate = has_validation_layer() && !no_validation}, vk, &error));
    (*vk)->exports_semaphores = !no_export;
    hook_vulkan_calls();
    export_timelines();
    assert_ok(orr_cuda_create(NULL, cuda, &error));
}

static void close_devices(orr_vk *vk, orr_cuda *cuda)
{
    orr_cuda_destroy(cuda);
    assert_string_equal(orr_vk_validation_message(vk), "");
    orr_vk_destroy(vk);
}

static void bed_make(bed *b, bool shared, orr_interop_direction direction)
{
    *b = (bed){0};
    open_devices(&b->vk, &b->cuda);
    assert_ok(orr_interop_create(b->vk, b->cuda, shared, &b->interop, &error));
    assert_int_equal(orr_interop_has_timelines(b->interop), shared && !no_export);
    assert_ok(orr_interop_buffer_create(b->interop, BYTES, direction, "a test", &b->buffer, &error));
    assert_ok(orr_vk_buffer_create(b->vk, BYTES, ORR_VK_READBACK, 0, "a test", &b->host, &error));
    assert_ok(orr_vk_commands_create(b->vk, &b->pool, &b->commands, 1, &error));
    assert_ok(orr_vk_timeline_create(b->vk, &b->own, &error));
}

static void bed_free(bed *b)
{
    vkQueueWaitIdle(b->vk->queue);
    vkDestroySemaphore(b->vk->device, b->own, NULL);
    vkDestroyCommandPool(b->vk->device, b->pool, NULL);
    orr_vk_buffer_destroy(b->vk, &b->host);
    orr_interop_buffer_destroy(b->interop, &b->buffer);
    orr_interop_destroy(b->interop);
    close_devices(b->vk, b->cuda);
}

static bool all_bytes_are(const uint8_t *bytes, int value)
{
    for (int i = 0; i < BYTES; i++) {
        if (bytes[i] != value) {
            return false;
        }
    }
    return true;
}

// CUDA fills the buffer and Vulkan copies it: does it see what was filled in?
static bool vulkan_sees_what_cuda_wrote(bed *b, int value, bool forget)
{
    uint64_t reached;
    memset(b->host.mapped, 0, BYTES);
    assert_int_equal(cudaMemsetAsync(b->buffer.cuda, value, BYTES, b->cuda->stream), cudaSuccess);
    assert_ok(orr_interop_to_vulkan(b->interop, &b->buffer, BYTES, &error));
    assert_ok(orr_vk_commands_begin(b->commands, &error));
    orr_interop_acquire(b->interop, b->commands, &b->buffer);
    vkCmdCopyBuffer(b->commands, b->buffer.vulkan.buffer, b->host.buffer, 1, &(VkBufferCopy){.size = BYTES});
    orr_interop_release(b->interop, b->commands, &b->buffer);
    orr_vk_barrier(b->commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    assert_int_equal(vkEndCommandBuffer(b->commands), VK_SUCCESS);
    if (forget) {
        assert_ok(orr_vk_submit(b->vk, b->commands, b->own, 1, &error));
        assert_ok(orr_vk_timeline_wait(b->vk, b->own, 1, &error));
        assert_ok(orr_interop_settle(b->interop, &error));
    } else {
        assert_ok(orr_interop_submit(b->interop, b->commands, &reached, &error));
        assert_ok(orr_interop_settle(b->interop, &error));
        assert_ok(orr_interop_reach(b->interop, reached, &error));
    }
    return all_bytes_are(b->host.mapped, value);
}

static void open_gate(void *user)
{
    const bed *b = user;
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = b->own,
        .value = 1,
    };
    vkSignalSemaphore(b->vk->device, &info);
}

// Vulkan's queue stands still until b->own is 1.
static void close_gate(bed *b, VkCommandPool *pool)
{
    VkCommandBuffer nothing;
    assert_ok(orr_vk_commands_create(b->vk, pool, &nothing, 1, &error));
    assert_ok(orr_vk_commands_begin(nothing, &error));
    assert_int_equal(vkEndCommandBuffer(nothing), VK_SUCCESS);
    const VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = b->own,
                                        .value = 1,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkSemaphoreSubmitInfo signal = wait;
    signal.value = 2;
    assert_ok(orr_vk_submit_between(b->vk, nothing, &wait, &signal, VK_NULL_HANDLE, &error));
}

// Vulkan fills the buffer once the gate is open, and CUDA copies it: the gate is opened on the way to the
// wait, or, when that is forgotten, after the copy.
static bool cuda_sees_what_vulkan_wrote(bed *b, int value, bool forget)
{
    uint64_t reached;
    VkCommandPool pool;
    close_gate(b, &pool);
    assert_ok(orr_vk_commands_begin(b->commands, &error));
    orr_interop_acquire(b->interop, b->commands, &b->buffer);
    vkCmdFillBuffer(b->commands, b->buffer.vulkan.buffer, 0, VK_WHOLE_SIZE, 0x01010101u * (uint32_t)value);
    orr_interop_release(b->interop, b->commands, &b->buffer);
    assert_int_equal(vkEndCommandBuffer(b->commands), VK_SUCCESS);
    assert_ok(orr_interop_submit(b->interop, b->commands, &reached, &error));
    if (!forget) {
        assert_int_equal(cudaLaunchHostFunc(b->cuda->stream, open_gate, b), cudaSuccess);
        assert_ok(orr_interop_to_cuda(b->interop, &b->buffer, BYTES, &error));
    }
    memset(b->bytes, 0, BYTES);
    assert_int_equal(
        cudaMemcpyAsync(b->bytes, b->buffer.cuda, BYTES, cudaMemcpyDeviceToHost, b->cuda->stream),
        cudaSuccess);
    assert_ok(orr_interop_settle(b->interop, &error));
    if (forget) {
        open_gate(b);
    }
    assert_ok(orr_interop_reach(b->interop, reached, &error));
    vkDestroyCommandPool(b->vk->device, pool, NULL);
    return all_bytes_are(b->bytes, value);
}

// Each way of passing memory, with timelines of either kind.
static void with_every_way(void (*test)(bool shared))
{
    for (int carried = 0; carried < 2; carried++) {
        no_export = carried;
        test(true);
    }
    test(false); // the host always carries them between two GPUs
    no_export = false;
}

static void try_both_directions(bool shared)
{
    for (int forget = 0; forget < 2; forget++) {
        bed b;
        bed_make(&b, shared, ORR_INTEROP_TO_VULKAN);
        assert_int_equal(vulkan_sees_what_cuda_wrote(&b, 0x5a, forget), !forget);
        bed_free(&b);
        bed_make(&b, shared, ORR_INTEROP_TO_CUDA);
        assert_int_equal(cuda_sees_what_vulkan_wrote(&b, 0xa5, forget), !forget);
        bed_free(&b);
    }
}

static void who_forgets_to_wait_reads_what_was_there_before(void **state)
{
    (void)state;
    with_every_way(try_both_directions);
}

static void a_buffer_goes_to_and_fro_many_times(bool shared)
{
    bed b;
    bed_make(&b, shared, ORR_INTEROP_TO_VULKAN);
    for (int i = 1; i < 40; i++) { // more turns than the host has notes
        assert_ok(orr_interop_to_cuda(b.interop, NULL, 0, &error));
        assert_true(vulkan_sees_what_cuda_wrote(&b, i, false));
    }
    bed_free(&b);
}

static void buffers_go_to_and_fro(void **state)
{
    (void)state;
    with_every_way(a_buffer_goes_to_and_fro_many_times);
}

// ---- what is left behind ----

typedef struct left {
    int files, objects;
    size_t allocations, handles;
} left;

static left count_left(void)
{
    left l = {.objects = live_vulkan_objects(), .allocations = live_allocations(), .handles = live_handles()};
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) {
        l.files++;
    }
    closedir(folder);
    return l;
}

static bool same_left(const left *a, const left *b)
{
    return a->files == b->files && a->objects == b->objects && a->allocations == b->allocations &&
           a->handles == b->handles;
}

enum { WIDTH = 50, HEIGHT = 30 };

typedef struct source {
    orr_vk *vk;
    orr_cuda *cuda;
    void *rgba; // on CUDA's device: WIDTH x HEIGHT x 4 floats
    uint8_t expected[WIDTH * HEIGHT * 4];
} source;

static void source_make(source *s)
{
    float *rgba = malloc(WIDTH * HEIGHT * 4 * sizeof *rgba);
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++) {
        rgba[i] = (float)(i % 307) / 300.0f - 0.01f;
    }
    orr_image_quantise(rgba, WIDTH * HEIGHT, s->expected);
    open_devices(&s->vk, &s->cuda);
    assert_ok(orr_cuda_alloc(s->cuda, WIDTH * HEIGHT * 4, sizeof *rgba, &s->rgba, &error));
    assert_ok(orr_cuda_upload(s->cuda, s->rgba, rgba, WIDTH * HEIGHT * 4 * sizeof *rgba, &error));
    free(rgba);
}

static void source_free(source *s)
{
    orr_cuda_free(s->rgba);
    close_devices(s->vk, s->cuda);
}

// Three pictures, from opening to closing; what they show is compared when all went well.
static orr_result show_all(const source *s, bool shared, orr_error *error)
{
    static uint8_t shown[WIDTH * HEIGHT * 4];
    orr_cuda_show *show;
    ORR_TRY(orr_cuda_show_create(s->vk, s->cuda, shared, 1, &show, error));
    orr_result result = ORR_OK;
    orr_vulkan_image image;
    for (int i = 0; i < 3 && result == ORR_OK; i++) {
        result = orr_cuda_show_picture(show, s->rgba, WIDTH, HEIGHT, &image, NULL, error);
    }
    if (result == ORR_OK && vulkan_calls_left() == 0) {
        read_image(s->vk, &image, shown);
        assert_memory_equal(shown, s->expected, sizeof shown);
    }
    orr_cuda_show_destroy(show);
    return result;
}

// Whose calls are made to fail.
typedef struct caller {
    const char *name;            // what its lines begin with
    void (*fail_call)(int call); // the call-th of the calls to come; 0: none
    bool (*failed)(void);        // it has come
} caller;

static void fail_cuda(int call)
{
    current_settings()->fail_call = call;
    current_settings()->fail_with = call % 2 ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}

static bool cuda_failed(void)
{
    return current_settings()->fail_call == 0;
}

static void fail_vulkan(int call)
{
    static const VkResult results[] = {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST,
                                       VK_ERROR_TOO_MANY_OBJECTS};
    fail_vulkan_call(call, results[call % 3]);
}

static bool vulkan_failed(void)
{
    return vulkan_calls_left() == 0;
}

static void let_every_call_fail(const caller *side, bool shared)
{
    source s;
    source_make(&s);
    assert_ok(show_all(&s, shared, &error)); // drivers keep things from their first use on
    left before = count_left();
    int failed = 0;
    for (int call = 1;; call++) {
        orr_error error = {0};
        side->fail_call(call);
        orr_result result = show_all(&s, shared, &error);
        bool reached = side->failed();
        side->fail_call(0);
        left after = count_left();
        assert_true(same_left(&before, &after));
        failed += result != ORR_OK;
        if (!reached) { // all have had their turn
            assert_string_equal(error.message, "");
            break;
        }
        assert_true(result == ORR_OK || strncmp(error.message, side->name, strlen(side->name)) == 0);
        assert_true(call < 300);
    }
    print_message("%s%d calls failed in turn\n", side->name, failed);
    assert_true(failed > 15);
    source_free(&s);
}

static void let_every_cuda_call_fail(bool shared)
{
    let_every_call_fail(&(caller){"CUDA: ", fail_cuda, cuda_failed}, shared);
}

static void let_every_vulkan_call_fail(bool shared)
{
    let_every_call_fail(&(caller){"Vulkan: ", fail_vulkan, vulkan_failed}, shared);
}

static void whatever_cuda_call_fails_nothing_leaks_or_hangs(void **state)
{
    (void)state;
    with_every_way(let_every_cuda_call_fail);
}

static void whatever_vulkan_call_fails_nothing_leaks_or_hangs(void **state)
{
    (void)state;
    with_every_way(let_every_vulkan_call_fail);
}

static void *open_gate_later(void *user)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    open_gate(user);
    return NULL;
}

// Vulkan's queue stands still while CUDA has the next picture ready: that must not run into the one on its
// way.
static void show_two_with_a_slow_vulkan(bool shared)
{
    source s;
    orr_cuda_show *show;
    orr_vulkan_image first, second;
    VkCommandPool pool;
    pthread_t thread;
    uint8_t shown[WIDTH * HEIGHT * 4];
    no_validation = true; // the layer of Debian 12 takes a signal of another thread for its own fault
    source_make(&s);
    no_validation = false;
    bed gate = {.vk = s.vk};
    assert_ok(orr_vk_timeline_create(s.vk, &gate.own, &error));
    assert_ok(orr_cuda_show_create(s.vk, s.cuda, shared, 2, &show, &error));
    close_gate(&gate, &pool);
    assert_ok(orr_cuda_show_picture(show, s.rgba, WIDTH, HEIGHT, &first, NULL, &error));
    assert_int_equal(pthread_create(&thread, NULL, open_gate_later, &gate), 0);
    assert_int_equal(cudaMemsetAsync(s.rgba, 0, WIDTH * HEIGHT * 16, s.cuda->stream), cudaSuccess);
    assert_ok(orr_cuda_wait(s.cuda, &error));
    assert_ok(orr_cuda_show_picture(show, s.rgba, WIDTH, HEIGHT, &second, NULL, &error));
    pthread_join(thread, NULL);
    read_image(s.vk, &first, shown);
    assert_memory_equal(shown, s.expected, sizeof shown);
    read_image(s.vk, &second, shown);
    memset(s.expected, 0, sizeof s.expected);
    assert_memory_equal(shown, s.expected, sizeof shown);
    orr_cuda_show_destroy(show);
    vkDestroyCommandPool(s.vk->device, pool, NULL);
    vkDestroySemaphore(s.vk->device, gate.own, NULL);
    source_free(&s);
}

static void a_picture_waits_until_the_one_before_was_read(void **state)
{
    (void)state;
    with_every_way(show_two_with_a_slow_vulkan);
}

static void a_leaked_handle_is_seen(void **state)
{
    (void)state;
    orr_vk *vk;
    orr_cuda *cuda;
    orr_interop *interop;
    orr_interop_buffer buffer;
    open_devices(&vk, &cuda);
    assert_ok(orr_interop_create(vk, cuda, true, &interop, &error));
    left before = count_left();
    assert_ok(orr_interop_buffer_create(interop, BYTES, ORR_INTEROP_TO_VULKAN, "a test", &buffer, &error));
    left with = count_left();
    assert_int_equal(with.objects, before.objects + 2); // a buffer and its memory
    assert_int_equal(with.allocations, before.allocations + 1);
    assert_int_equal(with.handles, before.handles + 1);
    assert_true(with.files > before.files);
    orr_interop_buffer_destroy(interop, &buffer);
    left after = count_left();
    assert_true(same_left(&before, &after));
    int leaked = dup(0); // a descriptor that nobody closes
    assert_true(leaked >= 0);
    after = count_left();
    assert_false(same_left(&before, &after));
    close(leaked);
    orr_interop_destroy(interop);
    close_devices(vk, cuda);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(buffers_go_to_and_fro, reset_emulated_gpu),
        cmocka_unit_test_setup(who_forgets_to_wait_reads_what_was_there_before, reset_emulated_gpu),
        cmocka_unit_test_setup(a_picture_waits_until_the_one_before_was_read, reset_emulated_gpu),
        cmocka_unit_test_setup(a_leaked_handle_is_seen, reset_emulated_gpu),
        cmocka_unit_test_setup(whatever_cuda_call_fails_nothing_leaks_or_hangs, reset_emulated_gpu),
        cmocka_unit_test_setup(whatever_vulkan_call_fails_nothing_leaks_or_hangs, reset_emulated_gpu),
    };
    return cmocka_run_group_tests(tests, use_same_gpu, NULL);
}
