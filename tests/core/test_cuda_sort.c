// Sorting and running sums on the CUDA device, against the plain way.
#include "engine/device/cuda_sort.h"
#include "engine/maths/rng.h"
#include "tests/support/machine.h"

#include <stdlib.h>

static uint32_t *to_device(const uint32_t *values, size_t count)
{
    void *memory;
    assert_ok(orr_cuda_alloc(cuda, count + 1, sizeof *values, &memory, &error));
    assert_ok(orr_cuda_upload(cuda, memory, values, count * sizeof *values, &error));
    return memory;
}

static uint32_t random_word(size_t seed, size_t i)
{
    return (uint32_t)orr_random_bits((uint32_t)seed, 0, (uint32_t)i);
}

static void pairs_come_out_in_order_and_equal_keys_keep_theirs(void **state)
{
    (void)state;
    orr_cuda_sort sort = {0};
    static const size_t counts[] = {0, 1, 31, 255, 3072, 3073, 20011};
    static const int bits[] = {3, 8, 14, 32};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t b = 0; b < sizeof bits / sizeof bits[0]; b++) {
            size_t count = counts[c], capacity = count + 500; // what stands beyond is not touched
            uint32_t *keys = malloc(capacity * sizeof *keys), *values = malloc(capacity * sizeof *values);
            uint32_t mask = bits[b] == 32 ? UINT32_MAX : (1u << bits[b]) - 1;
            for (size_t i = 0; i < capacity; i++) {
                keys[i] = random_word(c * 10 + b, i) & mask;
                values[i] = (uint32_t)i;
            }
            uint32_t number = (uint32_t)count;
            uint32_t *device_keys = to_device(keys, capacity), *device_values = to_device(values, capacity);
            uint32_t *device_count = to_device(&number, 1);
            uint32_t *sorted = malloc(capacity * sizeof *sorted), *order = malloc(capacity * sizeof *order);
            assert_ok(orr_cuda_sort_pairs(cuda, &sort, device_keys, device_values, device_count, capacity,
                                          bits[b], &error));
            assert_ok(orr_cuda_download(cuda, sorted, device_keys, count * sizeof *sorted, &error));
            assert_ok(orr_cuda_download(cuda, order, device_values, count * sizeof *order, &error));
            for (size_t i = 0; i < count; i++) {
                assert_true(order[i] < count);
                assert_int_equal(sorted[i], keys[order[i]]);
                if (i > 0) { // ascending, and stable; so that each stands there once
                    assert_true(sorted[i - 1] < sorted[i] ||
                                (sorted[i - 1] == sorted[i] && order[i - 1] < order[i]));
                }
            }
            orr_cuda_free(device_keys);
            orr_cuda_free(device_values);
            orr_cuda_free(device_count);
            free(keys);
            free(values);
            free(sorted);
            free(order);
        }
    }
    orr_cuda_sort_release(&sort);
}

static void sums_run_over_all_partitions(void **state)
{
    (void)state;
    orr_cuda_sort sort = {0};
    static const size_t counts[] = {0, 1, 3071, 3072, 3073, 30000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t count = counts[c];
        uint32_t *values = malloc((count + 1) * sizeof *values), *sums = malloc((count + 1) * sizeof *sums);
        for (size_t i = 0; i < count; i++) {
            values[i] = random_word(c, i) % 1000;
        }
        uint32_t number = (uint32_t)count, total, sum = 0;
        uint32_t *device_values = to_device(values, count), *device_count = to_device(&number, 1);
        uint32_t *device_total = to_device(&number, 1);
        assert_ok(orr_cuda_running_sum(cuda, &sort, device_values, device_values, device_total, device_count,
                                       count + 7, &error));
        assert_ok(orr_cuda_download(cuda, sums, device_values, count * sizeof *sums, &error));
        assert_ok(orr_cuda_download(cuda, &total, device_total, sizeof total, &error));
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(sums[i], sum);
            sum += values[i];
        }
        assert_int_equal(total, sum);
        orr_cuda_free(device_values);
        orr_cuda_free(device_count);
        orr_cuda_free(device_total);
        free(values);
        free(sums);
    }
    orr_cuda_sort_release(&sort);
}

// So many that the status of what blocks publish would be changed by carries.
static void sums_end_at_the_largest(void **state)
{
    (void)state;
    enum { COUNT = 4 * 3072 + 5, VALUE = 300000 };
    orr_cuda_sort sort = {0};
    uint32_t *values = malloc(COUNT * sizeof *values), *sums = malloc(COUNT * sizeof *sums);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = VALUE;
    }
    uint32_t number = COUNT, total;
    uint32_t *device_values = to_device(values, COUNT), *device_count = to_device(&number, 1);
    uint32_t *device_total = to_device(&number, 1);
    assert_ok(orr_cuda_running_sum(cuda, &sort, device_values, device_values, device_total, device_count,
                                   COUNT, &error));
    assert_ok(orr_cuda_download(cuda, sums, device_values, COUNT * sizeof *sums, &error));
    assert_ok(orr_cuda_download(cuda, &total, device_total, sizeof total, &error));
    for (uint64_t i = 0; i < COUNT; i++) {
        const uint64_t sum = i * VALUE;
        assert_int_equal(sums[i], sum < ORR_CUDA_SUM_MAX ? sum : ORR_CUDA_SUM_MAX);
    }
    assert_int_equal(total, ORR_CUDA_SUM_MAX);
    orr_cuda_free(device_values);
    orr_cuda_free(device_count);
    orr_cuda_free(device_total);
    orr_cuda_sort_release(&sort);
    free(values);
    free(sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_come_out_in_order_and_equal_keys_keep_theirs),
        cmocka_unit_test(sums_run_over_all_partitions),
        cmocka_unit_test(sums_end_at_the_largest),
    };
    return cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
}
