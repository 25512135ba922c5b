#include "engine/device/cuda_kernel.h"

extern "C" {
#include "engine/device/cuda_sort.h"
}

// Each block takes the next partition of the elements. It publishes the partition's count of a digit, or its
// sum, twice: first its own number, then that of all partitions up to it (decoupled look-back). A block that
// needs the latter of its predecessor adds up the numbers before it until it finds one.
enum : uint32_t {
    RADIX = 256,
    THREADS = 256, // one per digit in the look-back
    WARPS = THREADS / ORR_WARP,
    ITEMS = 12, // elements per thread
    PARTITION = THREADS * ITEMS,
};
enum : uint32_t { NOTHING = 0, OWN = 1u << 30, ALL = 2u << 30, STATUS = 3u << 30, NUMBER = ORR_CUDA_SUM_MAX };

// A sum of two that stays a number that can be published: what is more counts as the largest. (Otherwise the
// sum would change the status beside it.)
static __device__ __forceinline__ uint32_t add_up(uint32_t a, uint32_t b)
{
    return min(min(a, (uint32_t)NUMBER) + min(b, (uint32_t)NUMBER), (uint32_t)NUMBER);
}

// The sum of the numbers that the partitions before this one have published, `stride` apart.
static __device__ uint32_t look_back(const uint32_t *published, uint32_t partition, uint32_t stride)
{
    uint32_t sum = 0;
    for (uint32_t before = partition; before > 0;) {
        uint32_t word = *(const volatile uint32_t *)&published[(size_t)(before - 1) * stride];
        if ((word & STATUS) == NOTHING) {
            __nanosleep(32);
            continue;
        }
        sum = add_up(sum, word & NUMBER);
        if ((word & STATUS) == ALL) {
            break;
        }
        before--;
    }
    return sum;
}

static __device__ void publish(uint32_t *published, uint32_t word)
{
    __threadfence();
    *(volatile uint32_t *)published = word;
}

// The next partition, for the whole block: blocks need not begin in order.
static __device__ uint32_t take_partition(uint32_t *counter)
{
    __shared__ uint32_t partition;
    __syncthreads();
    if (threadIdx.x == 0) {
        partition = atomicAdd(counter, 1u);
    }
    __syncthreads();
    return partition;
}

// The sum of the threads before this one; *total of all of the block's.
static __device__ uint32_t block_running_sum(uint32_t value, uint32_t *total)
{
    __shared__ uint32_t warp_sums[WARPS];
    uint32_t lane = orr_lane(), warp = threadIdx.x / ORR_WARP, sum = value;
    for (uint32_t by = 1; by < ORR_WARP; by *= 2) {
        uint32_t other = __shfl_up_sync(ORR_ALL_LANES, sum, by);
        sum += lane >= by ? other : 0u;
    }
    __syncthreads(); // the array may still be read
    if (lane == ORR_WARP - 1) {
        warp_sums[warp] = sum;
    }
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t i = 0; i < WARPS; i++) {
        before += i < warp ? warp_sums[i] : 0u;
        all += warp_sums[i];
    }
    *total = all;
    return before + sum - value;
}

// How often each value of each digit occurs among all keys: histogram[pass][digit].
static __global__ void count_digits(const uint32_t *keys, const uint32_t *count, uint32_t passes,
                                    uint32_t *histogram)
{
    __shared__ uint32_t local[4][RADIX];
    for (uint32_t i = threadIdx.x; i < passes * RADIX; i += THREADS) {
        local[i / RADIX][i % RADIX] = 0;
    }
    __syncthreads();
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < *count; i += gridDim.x * THREADS) {
        uint32_t key = keys[i];
        for (uint32_t pass = 0; pass < passes; pass++) {
            atomicAdd(&local[pass][key >> 8 * pass & (RADIX - 1)], 1u);
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < passes * RADIX; i += THREADS) {
        if (local[i / RADIX][i % RADIX]) {
            atomicAdd(&histogram[i], local[i / RADIX][i % RADIX]);
        }
    }
}

// Counts become the positions where each digit's elements begin. One block per pass.
static __global__ void place_digits(uint32_t *histogram)
{
    uint32_t all, *digits = histogram + blockIdx.x * RADIX;
    digits[threadIdx.x] = block_running_sum(digits[threadIdx.x], &all);
}

static __global__ void __launch_bounds__(THREADS)
    scatter_by_digit(const uint32_t *keys, const uint32_t *values, uint32_t *keys_out, uint32_t *values_out,
                     const uint32_t *count, uint32_t shift, const uint32_t *digit_begin, uint32_t *published,
                     uint32_t *counter)
{
    __shared__ uint32_t warp_counts[WARPS][RADIX];
    __shared__ uint32_t sorted_keys[PARTITION], sorted_values[PARTITION];
    __shared__ uint32_t destination[RADIX]; // of a digit's first element, less its position in the partition
    uint32_t lane = orr_lane(), warp = threadIdx.x / ORR_WARP, digit = threadIdx.x;
    uint32_t partition = take_partition(counter), total = *count;
    if (partition * PARTITION >= total) {
        return; // the whole block
    }
    uint32_t here = min(total - partition * PARTITION, (uint32_t)PARTITION);
    for (uint32_t i = 0; i < WARPS; i++) {
        warp_counts[i][digit] = 0;
    }
    __syncthreads();

    // a warp's elements stand together, and its lanes take them in order: so equal digits keep theirs
    uint32_t key[ITEMS], value[ITEMS], rank[ITEMS];
    uint32_t first = warp * (ORR_WARP * ITEMS) + lane;
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t at = first + i * ORR_WARP;
        bool exists = at < here;
        key[i] = exists ? keys[partition * PARTITION + at] : 0;
        value[i] = exists ? values[partition * PARTITION + at] : 0;
        // 256: a digit that no element has
        uint32_t own = exists ? key[i] >> shift & (RADIX - 1) : (uint32_t)RADIX;
        uint32_t equals = __match_any_sync(ORR_ALL_LANES, own);
        uint32_t before = (uint32_t)__popc(equals & ((1u << lane) - 1u));
        uint32_t base = exists ? warp_counts[warp][own] : 0;
        __syncwarp();
        if (exists && before == 0) {
            warp_counts[warp][own] = base + (uint32_t)__popc(equals);
        }
        __syncwarp();
        rank[i] = base + before;
    }
    __syncthreads();

    // a thread per digit: where each warp's elements go within the partition, and the partition's within all
    uint32_t of_digit = 0;
    for (uint32_t i = 0; i < WARPS; i++) {
        uint32_t n = warp_counts[i][digit];
        warp_counts[i][digit] = of_digit;
        of_digit += n;
    }
    uint32_t *mine = &published[(size_t)partition * RADIX + digit];
    publish(mine, (partition == 0 ? (uint32_t)ALL : (uint32_t)OWN) | of_digit);
    uint32_t all, within = block_running_sum(of_digit, &all);
    uint32_t before = look_back(published + digit, partition, RADIX);
    if (partition > 0) {
        publish(mine, ALL | (before + of_digit));
    }
    for (uint32_t i = 0; i < WARPS; i++) {
        warp_counts[i][digit] += within;
    }
    destination[digit] = digit_begin[digit] + before - within;
    __syncthreads();

    // through shared memory, so that neighbours are written together
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (first + i * ORR_WARP < here) {
            uint32_t at = warp_counts[warp][key[i] >> shift & (RADIX - 1)] + rank[i];
            sorted_keys[at] = key[i];
            sorted_values[at] = value[i];
        }
    }
    __syncthreads();
    for (uint32_t at = threadIdx.x; at < here; at += THREADS) {
        uint32_t k = sorted_keys[at], to = destination[k >> shift & (RADIX - 1)] + at;
        keys_out[to] = k;
        values_out[to] = sorted_values[at];
    }
}

static __global__ void __launch_bounds__(THREADS)
    sum_partitions(const uint32_t *values, uint32_t *sums, uint32_t *total, const uint32_t *count,
                   uint32_t *published, uint32_t *counter)
{
    __shared__ uint32_t before;
    uint32_t partition = take_partition(counter), n = *count;
    if (n == 0 && partition == 0 && threadIdx.x == 0) {
        *total = 0;
    }
    if (partition * PARTITION >= n) {
        return; // the whole block
    }
    uint32_t first = partition * PARTITION + threadIdx.x * ITEMS, own[ITEMS], sum = 0, all;
    for (uint32_t i = 0; i < ITEMS; i++) {
        own[i] = first + i < n ? values[first + i] : 0;
        sum += own[i];
    }
    uint32_t at = block_running_sum(sum, &all);
    if (threadIdx.x == 0) {
        publish(&published[partition], (partition == 0 ? (uint32_t)ALL : (uint32_t)OWN) | add_up(all, 0));
        before = look_back(published, partition, 1);
        if (partition > 0) {
            publish(&published[partition], ALL | add_up(before, all));
        }
        if ((partition + 1) * PARTITION >= n) {
            *total = add_up(before, all);
        }
    }
    __syncthreads();
    at += before;
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (first + i < n) {
            sums[first + i] = add_up(at, 0);
        }
        at += own[i];
    }
}

void orr_cuda_sort_release(orr_cuda_sort *sort)
{
    orr_cuda_release(&sort->keys);
    orr_cuda_release(&sort->values);
    orr_cuda_release(&sort->state);
}

static size_t state_words(size_t capacity)
{
    return 4 * RADIX + (size_t)orr_cuda_blocks(capacity, PARTITION) * RADIX + 1;
}

orr_result orr_cuda_sort_reserve(orr_cuda *cuda, orr_cuda_sort *sort, size_t capacity, orr_error *error)
{
    if (capacity > NUMBER) {
        return orr_fail(error, ORR_CODE_CAPACITY, "CUDA: %zu elements to sort; expected at most %u", capacity,
                        NUMBER);
    }
    ORR_TRY(orr_cuda_reserve(cuda, &sort->keys, capacity, sizeof(uint32_t), error));
    ORR_TRY(orr_cuda_reserve(cuda, &sort->values, capacity, sizeof(uint32_t), error));
    return orr_cuda_reserve(cuda, &sort->state, state_words(capacity), sizeof(uint32_t), error);
}

orr_result orr_cuda_sort_pairs(orr_cuda *cuda, orr_cuda_sort *sort, uint32_t *keys, uint32_t *values,
                               const uint32_t *count, size_t capacity, int key_bits, orr_error *error)
{
    ORR_TRY(orr_cuda_sort_reserve(cuda, sort, capacity, error));
    uint32_t passes = (uint32_t)(key_bits + 7) / 8, blocks = orr_cuda_blocks(capacity, PARTITION);
    uint32_t *histogram = (uint32_t *)sort->state.memory, *published = histogram + 4 * RADIX;
    uint32_t *counter = published + (size_t)blocks * RADIX;
    uint32_t *from[2] = {keys, values},
             *to[2] = {(uint32_t *)sort->keys.memory, (uint32_t *)sort->values.memory};
    ORR_CUDA_TRY(cudaMemsetAsync(histogram, 0, 4 * RADIX * sizeof(uint32_t), cuda->stream));
    uint32_t count_blocks = min(blocks, (uint32_t)cuda->info.processors * 4);
    ORR_LAUNCH(count_digits, count_blocks, THREADS, 0, cuda->stream, keys, count, passes, histogram);
    ORR_CUDA_LAUNCHED();
    ORR_LAUNCH(place_digits, passes, THREADS, 0, cuda->stream, histogram);
    ORR_CUDA_LAUNCHED();
    for (uint32_t pass = 0; pass < passes; pass++) {
        ORR_CUDA_TRY(
            cudaMemsetAsync(published, 0, ((size_t)blocks * RADIX + 1) * sizeof(uint32_t), cuda->stream));
        ORR_LAUNCH(scatter_by_digit, blocks, THREADS, 0, cuda->stream, from[0], from[1], to[0], to[1], count,
                   8 * pass, histogram + pass * RADIX, published, counter);
        ORR_CUDA_LAUNCHED();
        for (int i = 0; i < 2; i++) {
            uint32_t *swapped = from[i];
            from[i] = to[i];
            to[i] = swapped;
        }
    }
    if (passes % 2) {
        ORR_CUDA_TRY(
            cudaMemcpyAsync(keys, from[0], capacity * sizeof *keys, cudaMemcpyDeviceToDevice, cuda->stream));
        ORR_CUDA_TRY(cudaMemcpyAsync(values, from[1], capacity * sizeof *values, cudaMemcpyDeviceToDevice,
                                     cuda->stream));
    }
    return ORR_OK;
}

orr_result orr_cuda_running_sum(orr_cuda *cuda, orr_cuda_sort *sort, const uint32_t *values, uint32_t *sums,
                                uint32_t *total, const uint32_t *count, size_t capacity, orr_error *error)
{
    ORR_TRY(orr_cuda_sort_reserve(cuda, sort, capacity, error));
    uint32_t blocks = orr_cuda_blocks(capacity, PARTITION), *published = (uint32_t *)sort->state.memory;
    ORR_CUDA_TRY(cudaMemsetAsync(published, 0, ((size_t)blocks + 1) * sizeof(uint32_t), cuda->stream));
    ORR_LAUNCH(sum_partitions, blocks, THREADS, 0, cuda->stream, values, sums, total, count, published,
               published + blocks);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}
