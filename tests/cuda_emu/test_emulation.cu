// Kernels with known answers: the emulated device does what the real one documents.
#include "engine/device/cuda_matrix.h"
#include "tests.h"

#include <cuda_bf16.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

__global__ void number_threads(int *out)
{
    int block = (int)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    int thread = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    out[block * (int)(blockDim.x * blockDim.y * blockDim.z) + thread] = 1000 * block + thread;
}

static void every_thread_of_a_grid_runs_once(void **)
{
    device_array<int> out(2 * 3 * 2 * 4 * 5 * 3);
    ORR_LAUNCH(number_threads, dim3(2, 3, 2), dim3(4, 5, 3), 0, 0, out.at);
    std::vector<int> values = out.read();
    for (int i = 0; i < (int)values.size(); i++) {
        assert_int_equal(values[(size_t)i], 1000 * (i / 60) + i % 60);
    }
}

__global__ void reverse_block(const int *in, int *out)
{
    __shared__ int tile[64];
    unsigned int at = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[at];
    __syncthreads();
    out[at] = tile[63 - threadIdx.x];
}

static void a_barrier_makes_the_block_s_writes_seen(void **)
{
    std::vector<int> values(192);
    for (int i = 0; i < 192; i++) {
        values[(size_t)i] = 7 * i;
    }
    device_array<int> in(values), out(192);
    for (uint32_t order : {0u, 1u, 5u}) {
        emu::current_settings()->order = order;
        ORR_LAUNCH(reverse_block, 3, 64, 0, 0, in.at, out.at);
        std::vector<int> reversed = out.read();
        for (int i = 0; i < 192; i++) {
            assert_int_equal(reversed[(size_t)i], 7 * (i / 64 * 64 + 63 - i % 64));
        }
    }
    emu::current_settings()->order = 0;
}

__global__ void vote_in_block(int *out)
{
    int i = (int)threadIdx.x;
    int third = __syncthreads_count(i % 3 == 0), all = __syncthreads_and(i < 70),
        any = __syncthreads_or(i == 69);
    int none = __syncthreads_or(i == 70);
    out[i] = third + 100 * all + 1000 * any + 10000 * none;
}

static void barriers_count_and_vote(void **)
{
    device_array<int> out(70);
    ORR_LAUNCH(vote_in_block, 1, 70, 0, 0, out.at);
    for (int value : out.read()) {
        assert_int_equal(value, 24 + 100 + 1000);
    }
}

__global__ void shuffle_all_ways(int *out)
{
    int lane = (int)threadIdx.x % 32, at = (int)threadIdx.x * 6;
    out[at] = __shfl_sync(ORR_ALL_LANES, 10 * lane, 5);
    out[at + 1] = __shfl_sync(ORR_ALL_LANES, 10 * lane, 1, 8);
    out[at + 2] = __shfl_up_sync(ORR_ALL_LANES, lane, 3u);
    out[at + 3] = __shfl_down_sync(ORR_ALL_LANES, lane, 4u, 16);
    out[at + 4] = __shfl_xor_sync(ORR_ALL_LANES, lane, 9);
    out[at + 5] = lane % 2 ? __shfl_sync(0xaaaaaaaau, lane, 31) : -1; // half the warp alone
}

static void shuffles_hand_over_values(void **)
{
    device_array<int> out(64 * 6);
    ORR_LAUNCH(shuffle_all_ways, 1, 64, 0, 0, out.at);
    std::vector<int> values = out.read();
    for (int i = 0; i < 64; i++) {
        const int *v = &values[(size_t)i * 6], lane = i % 32;
        assert_int_equal(v[0], 50);
        assert_int_equal(v[1], 10 * (lane / 8 * 8 + 1));
        assert_int_equal(v[2], lane < 3 ? lane : lane - 3);
        assert_int_equal(v[3], lane % 16 + 4 < 16 ? lane + 4 : lane);
        assert_int_equal(v[4], lane ^ 9);
        assert_int_equal(v[5], lane % 2 ? 31 : -1);
    }
}

__global__ void vote_in_warp(unsigned int *out)
{
    unsigned int lane = threadIdx.x, *mine = out + 8 * lane;
    mine[0] = __ballot_sync(ORR_ALL_LANES, lane % 3 == 0);
    mine[1] = (unsigned int)__any_sync(ORR_ALL_LANES, lane == 17);
    mine[2] = (unsigned int)__all_sync(ORR_ALL_LANES, lane == 17);
    mine[3] = __match_any_sync(ORR_ALL_LANES, lane / 5);
    mine[4] = __reduce_add_sync(ORR_ALL_LANES, lane);
    mine[5] = __reduce_max_sync(ORR_ALL_LANES, 100u - lane);
    mine[6] = lane < 8 ? __ballot_sync(0xffu, lane & 1u) : 0u;
    __syncwarp();
    mine[7] = __reduce_min_sync(ORR_ALL_LANES, 5u + lane);
}

static void warps_vote_match_and_reduce(void **)
{
    device_array<unsigned int> out(32 * 8);
    ORR_LAUNCH(vote_in_warp, 1, 32, 0, 0, out.at);
    std::vector<unsigned int> values = out.read();
    for (unsigned int lane = 0; lane < 32; lane++) {
        const unsigned int *v = &values[8 * lane];
        assert_int_equal(v[0], 0x49249249u);
        assert_int_equal(v[1], 1);
        assert_int_equal(v[2], 0);
        assert_int_equal(v[3], (lane < 30 ? 31u : 3u) << (lane / 5 * 5));
        assert_int_equal(v[4], 496);
        assert_int_equal(v[5], 100);
        assert_int_equal(v[6], lane < 8 ? 0xaau : 0u);
        assert_int_equal(v[7], 5);
    }
}

__global__ void add_up(int *sums, float *floats, __half2 *halves, __nv_bfloat162 *short_floats,
                       unsigned long long *large)
{
    atomicAdd(&sums[threadIdx.x % 4], 1);
    atomicMax(&sums[4], (int)threadIdx.x);
    atomicMin(&sums[5], -(int)threadIdx.x);
    atomicAdd(&floats[0], 0.5f);
    atomicAdd(halves, __floats2half2_rn(1.0f, 0.25f));
    atomicAdd(short_floats, __floats2bfloat162_rn(1.0f, 0.5f));
    atomicAdd(&large[0], 1ull << 33);
    atomicMin(&large[1], (1ull << 40) + (64u - threadIdx.x));
    atomicMax(&large[2], (unsigned long long)threadIdx.x << 32);
    if (atomicCAS(&sums[6], 0, 1) == 0) {
        sums[7] = atomicExch(&sums[7], 9) + 5;
    }
}

static void atomics_lose_nothing(void **)
{
    device_array<int> sums(8);
    device_array<float> floats(1);
    device_array<__half2> halves(1);
    device_array<__nv_bfloat162> short_floats(1);
    device_array<unsigned long long> large(std::vector<unsigned long long>{0, ~0ull, 1});
    ORR_LAUNCH(add_up, 2, 64, 0, 0, sums.at, floats.at, halves.at, short_floats.at, large.at);
    std::vector<int> s = sums.read();
    const int expected[8] = {32, 32, 32, 32, 63, -63, 1, 5};
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(s[i], expected[i]);
    }
    assert_float_equal(floats.read()[0], 64.0f, 0.0f);
    assert_float_equal((float)halves.read()[0].x, 128.0f, 0.0f);
    assert_float_equal((float)halves.read()[0].y, 32.0f, 0.0f);
    assert_float_equal((float)short_floats.read()[0].x, 128.0f, 0.0f);
    const unsigned long long most[3] = {128ull << 33, (1ull << 40) + 1, 63ull << 32};
    for (size_t i = 0; i < 3; i++) {
        assert_true(large.read()[i] == most[i]);
    }
}

__global__ void fill_dynamic(float *out)
{
    ORR_DYNAMIC_SHARED(float, shared);
    out[threadIdx.x] = isnan(shared[threadIdx.x]) ? 1.0f : 0.0f;
    __syncthreads();
    shared[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] += shared[blockDim.x - 1 - threadIdx.x];
}

static void dynamic_shared_memory_is_nothing_until_it_is_written(void **)
{
    device_array<float> out(32);
    for (int again = 0; again < 2; again++) {
        ORR_LAUNCH(fill_dynamic, 2, 32, 32 * sizeof(float), 0, out.at);
    }
    std::vector<float> values = out.read();
    for (size_t i = 0; i < 32; i++) {
        assert_float_equal(values[i], 1.0f + (float)(31 - i), 0.0f);
    }
}

static void halves_round_once_to_the_nearest(void **)
{
    for (unsigned int bits = 0; bits < 0x10000; bits++) { // all of them, there and back
        __half h = __ushort_as_half((unsigned short)bits);
        float value = __half2float(h);
        if (value == value) {
            assert_int_equal(__half_as_ushort(__float2half(value)), bits);
        }
    }
    assert_int_equal(__half_as_ushort(__float2half(1.0f + 0x1p-11f)), 0x3c00);            // a tie: to even
    assert_int_equal(__half_as_ushort(__float2half(1.0f + 3 * 0x1p-11f)), 0x3c02);        // a tie: to even
    assert_int_equal(__half_as_ushort(__float2half(1.0f + 0x1p-11f + 0x1p-20f)), 0x3c01); // above it
    assert_int_equal(__half_as_ushort(__float2half(65519.0f)), 0x7bff);                   // the largest
    assert_int_equal(__half_as_ushort(__float2half(65520.0f)), 0x7c00);                   // infinity
    assert_int_equal(__half_as_ushort(__float2half(0x1p-25f)), 0x0000);                   // a tie: to zero
    assert_int_equal(__half_as_ushort(__float2half(0x1.8p-25f)), 0x0001);                 // the smallest
    assert_int_equal(__half_as_ushort(__float2half(-0.0f)), 0x8000);
    // one rounding: 1 + 2^-11 + 2^-22 would be a tie if the product were rounded first
    __half a = __float2half(1.0f + 0x1p-10f), b = __float2half(0x1p-11f), one = __float2half(1.0f);
    assert_int_equal(__half_as_ushort(__hfma(a, b, one)), 0x3c01);
    assert_int_equal(__float2bfloat16(1.0f + 0x1p-8f).bits, 0x3f80);
    assert_int_equal(__float2bfloat16(1.0f + 3 * 0x1p-8f).bits, 0x3f82);
}

// D = A B for A of 16 x 16 and B of 16 x 8, all row-major; then E = D B' with the registers of D as A
__global__ void multiply(const __half *a, const __half *b, float *d, float *e)
{
    __shared__ __align__(16) __half tile_a[16 * 16], tile_b[16 * 8];
    for (unsigned int i = threadIdx.x; i < 256; i += 32) {
        tile_a[i] = a[i];
        if (i < 128) {
            tile_b[i] = b[i];
        }
    }
    __syncwarp();
    unsigned int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    uint32_t fragment_a[4], fragment_b[4];
    // matrices in the order of A's registers: rows 0-7 and 8-15 of columns 0-7, then of columns 8-15
    orr_matrix_load(fragment_a, &tile_a[(lane % 16) * 16 + lane / 16 * 8]);
    orr_matrix_load_transposed(fragment_b, &tile_b[(lane % 16) * 8]);
    float c[4] = {0.0f, 0.0f, 0.0f, 0.0f}, second[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    orr_matrix_multiply(c, fragment_a, fragment_b);
    for (unsigned int r = 0; r < 4; r++) {
        d[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2] = c[r];
    }
    // the columns of D are half of a second A; the other half are zeros
    uint32_t next[4] = {orr_pack_halves(c[0], c[1]), orr_pack_halves(c[2], c[3]), 0, 0};
    orr_matrix_multiply(second, next, fragment_b);
    for (unsigned int r = 0; r < 4; r++) {
        e[(g + 8 * (r / 2)) * 8 + 2 * t + r % 2] = second[r];
    }
}

static void matrix_products_have_the_device_s_layouts(void **)
{
    std::vector<__half> a(256), b(128);
    for (int i = 0; i < 256; i++) {
        a[(size_t)i] = __float2half((float)(i * 37 % 19 - 9) / 8.0f);
    }
    for (int i = 0; i < 128; i++) {
        b[(size_t)i] = __float2half((float)(i * 53 % 23 - 11) / 8.0f);
    }
    device_array<__half> device_a(a), device_b(b);
    device_array<float> device_d(128), device_e(128);
    ORR_LAUNCH(multiply, 1, 32, 0, 0, device_a.at, device_b.at, device_d.at, device_e.at);
    std::vector<float> d = device_d.read(), e = device_e.read();
    for (size_t row = 0; row < 16; row++) {
        for (size_t column = 0; column < 8; column++) {
            float sum = 0.0f, second = 0.0f;
            for (size_t k = 0; k < 16; k++) {
                sum += (float)a[row * 16 + k] * (float)b[k * 8 + column];
            }
            for (size_t k = 0; k < 8; k++) {
                second += (float)__float2half(d[row * 8 + k]) * (float)b[k * 8 + column];
            }
            assert_float_equal(d[row * 8 + column], sum, 1e-5f);
            assert_float_equal(e[row * 8 + column], second, 1e-4f);
        }
    }
}

__global__ void transpose(uint32_t *out)
{
    unsigned int g = threadIdx.x / 4, t = threadIdx.x % 4; // element (row, column) is 16 row + column
    uint32_t r = (16 * g + 2 * t) | (16 * g + 2 * t + 1) << 16;
    out[threadIdx.x] = orr_matrix_transpose(r);
}

static void a_matrix_is_transposed_in_registers(void **)
{
    device_array<uint32_t> out(32);
    ORR_LAUNCH(transpose, 1, 32, 0, 0, out.at);
    std::vector<uint32_t> values = out.read();
    for (unsigned int lane = 0; lane < 32; lane++) {
        unsigned int g = lane / 4, t = lane % 4;
        assert_int_equal(values[lane], (16 * (2 * t) + g) | (16 * (2 * t + 1) + g) << 16);
    }
}

__global__ void double_values(int *values, int count)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) {
        values[i] *= 2;
    }
}

static void streams_run_when_they_are_waited_for(void **)
{
    std::vector<int> ones(40, 1);
    device_array<int> values(ones);
    cudaStream_t first, second;
    cudaEvent_t doubled;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&doubled, cudaEventDisableTiming);
    int seen[40], seen_too_early[40];
    ORR_LAUNCH(double_values, orr_cuda_blocks(40, 32), 32, 0, first, values.at, 40);
    cudaEventRecord(doubled, first);
    assert_int_equal(cudaStreamQuery(first), cudaErrorNotReady);
    cudaMemcpyAsync(seen_too_early, values.at, sizeof seen, cudaMemcpyDeviceToHost,
                    second); // nothing orders it
    cudaStreamSynchronize(second);
    assert_int_equal(seen_too_early[39], 1);
    cudaStreamWaitEvent(second, doubled, 0);
    cudaMemcpyAsync(seen, values.at, sizeof seen, cudaMemcpyDeviceToHost, second);
    cudaStreamSynchronize(second);
    assert_int_equal(seen[39], 2);
    assert_int_equal(cudaEventQuery(doubled), cudaSuccess);
    cudaEventDestroy(doubled);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    assert_int_equal(emu::live_handles(), 0);
}

static void a_graph_does_again_what_was_captured(void **)
{
    std::vector<int> ones(33, 1);
    device_array<int> values(ones);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ORR_LAUNCH(double_values, 2, 32, 0, stream, values.at, 33);
    ORR_LAUNCH(double_values, 2, 32, 0, stream, values.at, 33);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(values.read()[32], 1); // nothing has run
    assert_int_equal(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    cudaGraphDestroy(graph);
    cudaGraphLaunch(executable, stream);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    assert_int_equal(values.read()[32], 16);
    // who waits while capturing, captures nothing
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    cudaGraphExecDestroy(executable);
    cudaStreamDestroy(stream);
    assert_int_equal(emu::live_handles(), 0);
}

// Kernels keep the arguments and copies the addresses that they were captured with; events are recorded each
// time.
static void a_graph_reads_memory_as_it_is_when_it_runs(void **)
{
    device_array<int> values(std::vector<int>(33, 1));
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaEvent_t reached;
    int *given, seen[33], count = 33;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&reached, cudaEventDefault);
    assert_int_equal(cudaMallocHost((void **)&given, sizeof seen), cudaSuccess);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    cudaMemcpyAsync(values.at, given, sizeof seen, cudaMemcpyHostToDevice, stream);
    ORR_LAUNCH(double_values, 2, 32, 0, stream, values.at, count);
    count = 5; // the launch has its own
    assert_int_equal(cudaEventRecordWithFlags(reached, stream, cudaEventRecordExternal), cudaSuccess);
    cudaMemcpyAsync(seen, values.at, sizeof seen, cudaMemcpyDeviceToHost, stream);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(cudaEventQuery(reached), cudaSuccess); // nobody has recorded it
    assert_int_equal(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    cudaGraphDestroy(graph);
    for (int round = 1; round <= 2; round++) {
        const size_t submissions = emu::submissions(), launches = emu::launches(), idle = emu::idle_waits();
        std::fill(given, given + 33, 10 * round);
        assert_int_equal(cudaGraphLaunch(executable, stream), cudaSuccess);
        assert_int_equal(cudaEventQuery(reached), cudaErrorNotReady);
        assert_int_equal(cudaEventSynchronize(reached), cudaSuccess);
        assert_int_equal(emu::idle_waits(), idle); // the last copy is still to come
        cudaStreamSynchronize(stream);
        assert_int_equal(seen[32], 20 * round);
        assert_int_equal(emu::submissions(), submissions + 1);
        assert_int_equal(emu::launches(), launches + 1);
        assert_int_equal(emu::idle_waits(), idle + 1);
    }
    assert_int_equal(cudaGraphLaunch(nullptr, stream), cudaErrorInvalidValue);
    cudaGetLastError();
    cudaGraphExecDestroy(executable);
    cudaFreeHost(given);
    cudaEventDestroy(reached);
    cudaStreamDestroy(stream);
    assert_int_equal(emu::live_handles(), 0);
}

enum forbidden { ALLOCATION, RELEASE, PINNED_ALLOCATION, QUERY, PLAIN_EVENT, INNER_GRAPH, FORBIDDEN };

// The error of a call that may not stand in a capture.
static cudaError_t do_forbidden(int what, cudaStream_t stream, cudaEvent_t event, void *memory)
{
    void *made;
    switch (what) {
    case ALLOCATION:
        return cudaMalloc(&made, 64);
    case RELEASE:
        return cudaFree(memory);
    case PINNED_ALLOCATION:
        return cudaMallocHost(&made, 64);
    case QUERY:
        return cudaStreamQuery(stream);
    case PLAIN_EVENT:
        return cudaEventRecord(event, stream);
    default:
        CUgraphExec_st *none;
        cudaGraph_t empty;
        cudaStream_t other;
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal);
        cudaStreamEndCapture(other, &empty);
        cudaGraphInstantiate(&none, empty, 0);
        cudaGraphDestroy(empty);
        cudaStreamDestroy(other);
        const cudaError_t error = cudaGraphLaunch(none, stream);
        cudaGraphExecDestroy(none);
        return error;
    }
}

static void what_cannot_be_captured_spoils_the_graph(void **)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaEvent_t event;
    void *memory;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDefault);
    assert_int_equal(cudaMalloc(&memory, 64), cudaSuccess);
    for (int what = 0; what < FORBIDDEN; what++) {
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        assert_int_equal(do_forbidden(what, stream, event, memory), cudaErrorStreamCaptureUnsupported);
        assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
        assert_null(graph);
    }
    // a node of an event is one of a capture only, and a relaxed capture lets memory be given out
    assert_int_equal(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(memory), cudaSuccess);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    assert_int_equal(cudaMalloc(&memory, 64), cudaSuccess);
    assert_int_equal(cudaFree(memory), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphDestroy(graph);
    cudaGetLastError();
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    assert_int_equal(emu::live_handles(), 0);
}

// The classic: blocks hand a sum on to the next ones, in the order in which they begin.
__global__ void spin(int *flag, int *out)
{
    if (threadIdx.x == 0) {
        while (*(volatile int *)flag == 0) {
            __nanosleep(20);
        }
        out[0] = 7;
    } else if (threadIdx.x == 33) {
        *(volatile int *)flag = 1;
    }
}

static void a_thread_that_waits_for_a_value_lets_others_go_on(void **)
{
    device_array<int> flag(1), out(1);
    ORR_LAUNCH(spin, 1, 64, 0, 0, flag.at, out.at);
    assert_int_equal(out.read()[0], 7);
}

static void bad_launches_and_a_full_device_are_errors(void **)
{
    device_array<int> out(1);
    ORR_LAUNCH(number_threads, 1, 1025, 0, 0, out.at);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    ORR_LAUNCH(number_threads, 1, 1, 49 << 10, 0, out.at); // more than a kernel gets unasked
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    assert_int_equal(cudaFuncSetAttribute((const void *)number_threads,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10),
                     cudaSuccess);
    ORR_LAUNCH(number_threads, 1, 1, 49 << 10, 0, out.at);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    emu::current_settings()->memory = 1 << 20;
    void *memory = NULL;
    assert_int_equal(cudaMalloc(&memory, 2 << 20), cudaErrorMemoryAllocation);
    emu::current_settings()->memory = 0;
    int host[2];
    assert_int_equal(cudaMemcpy(host, out.at, sizeof host, cudaMemcpyDeviceToHost),
                     cudaErrorInvalidValue); // too many
    assert_int_equal(cudaMemcpy(out.at, host, sizeof(int), cudaMemcpyDeviceToHost),
                     cudaErrorInvalidValue); // other way
    cudaGetLastError();
}

static void memory_of_a_file_is_shared_until_it_is_destroyed(void **)
{
    const size_t bytes = 10000;
    size_t handles = emu::live_handles(), allocations = emu::live_allocations();
    int file = memfd_create("memory", 0), ours = dup(file);
    assert_int_equal(ftruncate(file, (off_t)bytes), 0);
    unsigned char *seen = (unsigned char *)mmap(nullptr, bytes, PROT_READ, MAP_SHARED, ours, 0);
    cudaExternalMemoryHandleDesc desc = {};
    desc.type = cudaExternalMemoryHandleTypeOpaqueFd;
    desc.handle.fd = file;
    desc.size = bytes + 1;
    cudaExternalMemory_t memory;
    assert_int_equal(cudaImportExternalMemory(&memory, &desc), cudaErrorInvalidValue); // more than there is
    desc.size = bytes;
    assert_int_equal(cudaImportExternalMemory(&memory, &desc), cudaSuccess);
    cudaExternalMemoryBufferDesc part = {};
    part.offset = 5000;
    part.size = 5001;
    void *at;
    assert_int_equal(cudaExternalMemoryGetMappedBuffer(&at, memory, &part), cudaErrorInvalidValue);
    part.size = 5000;
    assert_int_equal(cudaExternalMemoryGetMappedBuffer(&at, memory, &part), cudaSuccess);
    assert_int_equal(cudaMemset(at, 7, 5000), cudaSuccess);
    assert_int_equal(seen[4999], 0);
    assert_int_equal(seen[5000], 7);
    assert_int_equal(seen[9999], 7);
    assert_int_equal(emu::live_handles(), handles + 1);
    assert_int_equal(emu::live_allocations(), allocations + 1);
    assert_int_equal(cudaFree(at), cudaSuccess);
    assert_int_equal(cudaDestroyExternalMemory(memory), cudaSuccess);
    assert_int_equal(fcntl(file, F_GETFD), -1); // the descriptor was CUDA's
    assert_int_equal(emu::live_handles(), handles);
    assert_int_equal(emu::live_allocations(), allocations);
    munmap(seen, bytes);
    close(ours);
    cudaGetLastError();
}

const CMUnitTest emulation_tests[] = {
    cmocka_unit_test(every_thread_of_a_grid_runs_once),
    cmocka_unit_test(a_barrier_makes_the_block_s_writes_seen),
    cmocka_unit_test(barriers_count_and_vote),
    cmocka_unit_test(shuffles_hand_over_values),
    cmocka_unit_test(warps_vote_match_and_reduce),
    cmocka_unit_test(atomics_lose_nothing),
    cmocka_unit_test(dynamic_shared_memory_is_nothing_until_it_is_written),
    cmocka_unit_test(halves_round_once_to_the_nearest),
    cmocka_unit_test(matrix_products_have_the_device_s_layouts),
    cmocka_unit_test(a_matrix_is_transposed_in_registers),
    cmocka_unit_test(streams_run_when_they_are_waited_for),
    cmocka_unit_test(a_graph_does_again_what_was_captured),
    cmocka_unit_test(a_graph_reads_memory_as_it_is_when_it_runs),
    cmocka_unit_test(what_cannot_be_captured_spoils_the_graph),
    cmocka_unit_test(a_thread_that_waits_for_a_value_lets_others_go_on),
    cmocka_unit_test(bad_launches_and_a_full_device_are_errors),
    cmocka_unit_test(memory_of_a_file_is_shared_until_it_is_destroyed),
};
const size_t emulation_test_count = sizeof emulation_tests / sizeof emulation_tests[0];
