// Kernels with planted bugs: each must end with a line that names kernel, block and thread.
#include "engine/core/sanitizer.h"
#include "engine/device/cuda_matrix.h"
#include "tests.h"

#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

// Runs it in a process of its own, which must end, and say `expected`.
static void must_fail(void (*run)(void), const char *expected)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        run();
        cudaDeviceSynchronize();
        _exit(0);
    }
    close(ends[1]);
    char text[65536];
    size_t length = 0;
    for (ssize_t n; (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0;) {
        length += (size_t)n;
    }
    text[length] = 0;
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        fail_msg("the bug passed unseen; expected: %s", expected);
    }
    if (!strstr(text, "FAILED on the emulated device: ") || !strstr(text, expected)) {
        fail_msg("expected: %s\nsaid: %s", expected, text);
    }
}

__global__ void reverse_without_barrier(int *values)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = values[threadIdx.x];
    values[threadIdx.x] = tile[63 - threadIdx.x];
}

static void a_missing_barrier_is_a_race(void **)
{
    must_fail(
        [] {
            std::vector<int> numbers(64);
            for (int i = 0; i < 64; i++) {
                numbers[(size_t)i] = i + 1;
            }
            device_array<int> values(numbers);
            emu::current_settings()->find_races = true;
            ORR_LAUNCH(reverse_without_barrier, 1, 64, 0, 0, values.at);
            cudaDeviceSynchronize();
        },
        "kernel reverse_without_barrier, block (0, 0, 0), thread");
}

__global__ void add_without_atomic(int *sum)
{
    *sum = 2 * *sum + (int)threadIdx.x;
}

static void an_unguarded_sum_is_a_race(void **)
{
    must_fail(
        [] {
            device_array<int> sum(1);
            emu::current_settings()->find_races = true;
            ORR_LAUNCH(add_without_atomic, 1, 4, 0, 0, sum.at);
            cudaDeviceSynchronize();
        },
        "a race: byte 0 of an allocation of 4 bytes");
}

__global__ void add_with_atomic(float *sum)
{
    atomicAdd(sum, 1.0f / (float)(threadIdx.x + 3)); // rounds in its order, which is no race
}

static void sums_of_floats_are_no_race(void **)
{
    device_array<float> sum(1);
    emu::current_settings()->find_races = true;
    ORR_LAUNCH(add_with_atomic, 1, 64, 0, 0, sum.at);
    cudaDeviceSynchronize();
    emu::current_settings()->find_races = false;
    float expected = 0.0f;
    for (int i = 0; i < 64; i++) {
        expected += 1.0f / (float)(i + 3);
    }
    assert_float_equal(sum.read()[0], expected, 1e-5f);
}

__global__ void barrier_for_some(int *out)
{
    if (threadIdx.x < 32) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

static void a_barrier_in_two_branches_is_divergent(void **)
{
    must_fail(
        [] {
            device_array<int> out(64);
            ORR_LAUNCH(barrier_for_some, 1, 64, 0, 0, out.at);
        },
        "thread (0, 0, 0): waits at a barrier of the block");
}

__global__ void return_before_barrier(int *out, int count)
{
    if ((int)threadIdx.x >= count) {
        return;
    }
    __syncthreads();
    out[threadIdx.x] = 1;
}

static void a_thread_that_returned_misses_the_barrier(void **)
{
    must_fail(
        [] {
            device_array<int> out(64);
            ORR_LAUNCH(return_before_barrier, 1, 64, 0, 0, out.at, 63);
        },
        "to which thread 63 never comes: it has returned");
}

__global__ void shuffle_outside_mask(int *out)
{
    if (threadIdx.x < 16) {
        out[threadIdx.x] = __shfl_sync(0xffffu, (int)threadIdx.x, 20);
    }
}

static void a_shuffle_from_a_lane_that_is_not_there(void **)
{
    must_fail(
        [] {
            device_array<int> out(32);
            ORR_LAUNCH(shuffle_outside_mask, 1, 32, 0, 0, out.at);
        },
        "shuffles from lane 20, which is not in the mask");
}

__global__ void wrong_mask(int *out)
{
    out[threadIdx.x] = __any_sync(0xfffffff0u, threadIdx.x == 7);
}

static void a_lane_outside_its_own_mask(void **)
{
    must_fail(
        [] {
            device_array<int> out(32);
            ORR_LAUNCH(wrong_mask, 1, 32, 0, 0, out.at);
        },
        "its lane 0 is not in the mask fffffff0");
}

__global__ void half_a_warp_votes(int *out)
{
    if (threadIdx.x % 2) {
        out[threadIdx.x] = __any_sync(ORR_ALL_LANES, 1);
    }
}

static void lanes_that_never_come_to_vote(void **)
{
    must_fail(
        [] {
            device_array<int> out(32);
            ORR_LAUNCH(half_a_warp_votes, 1, 32, 0, 0, out.at);
        },
        "thread (1, 0, 0): waits for lanes of its warp");
}

__global__ void write_all(int *out, int count)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

static void a_write_past_the_end(void **)
{
    must_fail(
        [] {
            device_array<int> out(63); // of 64: in the bytes that the alignment leaves
            ORR_LAUNCH(write_all, 2, 32, 0, 0, out.at, 1);
        },
        "kernel write_all, block (1, 0, 0), thread");
    must_fail(
        [] {
            device_array<int> out(60); // and beyond them
            ORR_LAUNCH(write_all, 2, 32, 0, 0, out.at, 1);
        },
        "kernel write_all, block (1, 0, 0), thread (28, 0, 0)");
}

__global__ void read_before(const int *in, int *out)
{
    out[threadIdx.x] = in[(int)threadIdx.x * 1024 - 1024];
}

static void a_read_outside_every_allocation(void **)
{
    must_fail(
        [] {
            device_array<int> in(2048), out(4);
            ORR_LAUNCH(read_before, 1, 4, 0, 0, in.at, out.at);
        },
        "kernel read_before, block (0, 0, 0), thread (");
}

__global__ void overrun_shared(int *out)
{
    ORR_DYNAMIC_SHARED(int, shared);
    shared[2 * threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = shared[threadIdx.x];
}

static void the_host_on_device_memory(void **)
{
    must_fail(
        [] {
            device_array<int> in(16);
            volatile int *wrong = in.at;
            wrong[3] = 1;
        },
        "the host touches byte 12 of device memory");
}

static void shared_memory_has_an_end(void **)
{
#ifdef ORR_ADDRESS_SANITIZER
    must_fail(
        [] {
            device_array<int> out(32);
            ORR_LAUNCH(overrun_shared, 1, 32, 32 * sizeof(int), 0, out.at);
        },
        "kernel overrun_shared, block (0, 0, 0), thread (16, 0, 0)");
#else
    (void)overrun_shared; // only AddressSanitizer sees it
#endif
}

__global__ void half_a_product(float *out)
{
    float c[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const uint32_t a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
    if (threadIdx.x < 16) {
        orr_matrix_multiply(c, a, b);
    }
    out[threadIdx.x] = c[0];
}

static void a_product_without_the_whole_warp(void **)
{
    must_fail(
        [] {
            device_array<float> out(32);
            ORR_LAUNCH(half_a_product, 1, 32, 0, 0, out.at);
        },
        "waits for lanes of its warp");
}

static void a_timeline_that_nobody_signals(void **)
{
    must_fail(
        [] {
            emu::external_timeline never = {};
            never.wait = [](void *, uint64_t) { return 0; };
            cudaExternalSemaphoreHandleDesc desc = {};
            desc.type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
            desc.handle.fd = emu::export_timeline(&never);
            cudaExternalSemaphore_t timeline;
            cudaImportExternalSemaphore(&timeline, &desc);
            cudaExternalSemaphoreWaitParams params = {};
            params.params.fence.value = 3;
            cudaWaitExternalSemaphoresAsync(&timeline, &params, 1, nullptr);
            cudaDeviceSynchronize();
        },
        "a stream waits for 3 of a timeline, and nobody signals it");
}

const CMUnitTest failure_tests[] = {
    cmocka_unit_test(a_missing_barrier_is_a_race),
    cmocka_unit_test(an_unguarded_sum_is_a_race),
    cmocka_unit_test(sums_of_floats_are_no_race),
    cmocka_unit_test(a_barrier_in_two_branches_is_divergent),
    cmocka_unit_test(a_thread_that_returned_misses_the_barrier),
    cmocka_unit_test(a_shuffle_from_a_lane_that_is_not_there),
    cmocka_unit_test(a_lane_outside_its_own_mask),
    cmocka_unit_test(lanes_that_never_come_to_vote),
    cmocka_unit_test(a_write_past_the_end),
    cmocka_unit_test(a_read_outside_every_allocation),
    cmocka_unit_test(the_host_on_device_memory),
    cmocka_unit_test(shared_memory_has_an_end),
    cmocka_unit_test(a_product_without_the_whole_warp),
    cmocka_unit_test(a_timeline_that_nobody_signals),
};
const size_t failure_test_count = sizeof failure_tests / sizeof failure_tests[0];
