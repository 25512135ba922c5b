// Reading and writing clouds while memory is short: each allocation fails once, and every time there is one
// line of error or the whole cloud, and nothing leaks.
#include "engine/core/memory.h"
#include "orr_features.h"
#include "render/formats/splat_formats.h"
#include "tests/splats/splat_samples.h"
#include "tests/support/failing_memory.h"
#include "tests/support/support.h"
#if ORR_HAVE_ZIP && ORR_HAVE_WEBP
#include "tests/splats/sog_sample.h"
#endif

#include <string.h>

enum { SPLATS = 40, MOST = 100000 };

static void assert_one_line(const char *what, int number, const orr_error *error)
{
    if (error->message[0] == 0 || strchr(error->message, '\n')) {
        fail_msg("%s: allocation %d: '%s' is no line", what, number, error->message);
    }
}

// `also`: a result beside ORR_ERROR_MEMORY, for libraries that do not tell it from a broken file.
static void read_with_failures(const char *path, int64_t expected, orr_result also)
{
    int failed = 0;
    for (int number = 0; number < MOST; number++) {
        orr_error error = {0};
        orr_splats *cloud;
        memory_fail_at(number);
        orr_result result = orr_splats_load(path, &cloud, &error);
        const int count = memory_count();
        memory_fail_at(-1);
        if (result == ORR_OK && (!cloud || orr_splats_data(cloud).count != expected)) {
            fail_msg("%s: allocation %d: another cloud", path, number);
        }
        if (result != ORR_OK) {
            failed++;
            assert_null(cloud);
            assert_one_line(path, number, &error);
            // a file that the C library has no memory to open
            if (result != ORR_ERROR_MEMORY && result != ORR_ERROR_FILE && result != also) {
                fail_msg("%s: allocation %d: %s", path, number, error.message);
            }
        }
        orr_splats_destroy(cloud);
        if (count <= number) { // none failed
            assert_int_equal(result, ORR_OK);
            assert_true(failed > 3);
            return;
        }
    }
    fail_msg("%s: no end of allocations", path);
}

// Allocations that one call leaves behind.
static int left_by_reading(const char *path, int number, int *count)
{
    orr_error error = {0};
    orr_splats *cloud;
    memory_fail_at(number);
    orr_splats_load(path, &cloud, &error);
    orr_splats_destroy(cloud);
    int left = memory_balance();
    *count = memory_count();
    memory_fail_at(-1);
    return left;
}

static void assert_no_leak(const char *path)
{
    for (int number = 0, count = MOST; number <= count; number++) {
        // twice: the C library keeps the text of an error until there is another
        int left = left_by_reading(path, number, &count);
        if (left > 0 && left_by_reading(path, number, &count) > 0) {
            fail_msg("%s: allocation %d: %d are left", path, number, left);
        }
    }
}

static int left_by_writing(const orr_splats *cloud, const char *path, int number, int *count,
                           orr_result *result, orr_error *error)
{
    *error = (orr_error){0};
    memory_fail_at(number);
    *result = orr_splats_save(cloud, path, error);
    int left = memory_balance();
    *count = memory_count();
    memory_fail_at(-1);
    return left;
}

static void write_with_failures(const orr_splats *cloud, const char *path)
{
    for (int number = 0; number < MOST; number++) {
        orr_error error;
        orr_result result;
        int count, left = left_by_writing(cloud, path, number, &count, &result, &error);
        // twice, as above
        if (left > 0 && left_by_writing(cloud, path, number, &count, &result, &error) > 0) {
            fail_msg("%s: allocation %d: %d are left", path, number, left);
        }
        if (result != ORR_OK) {
            assert_one_line(path, number, &error);
        }
        if (count <= number) {
            assert_int_equal(result, ORR_OK);
            return;
        }
    }
    fail_msg("%s: no end of allocations", path);
}

static void every_allocation_of_a_reader_may_fail(void **state)
{
    (void)state;
    static const char *const files[] = {"a.ply", "a.compressed.ply", "a.splat", "a.spz", "a.v3.spz"};
    orr_splats *cloud = sample_cloud(SPLATS, 3, 1);
    orr_splats_view d = orr_splats_data(cloud);
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        const char *path = scratch_path(files[f]);
        assert_ok(orr_splats_save(cloud, path, &error));
        read_with_failures(path, SPLATS, ORR_ERROR_MEMORY);
        assert_no_leak(path);
        write_with_failures(cloud, path);
    }
    orr_bytes ksplat = sample_ksplat(&d, 1);
    const char *path = scratch_path("a.ksplat");
    assert_ok(orr_file_write(path, ksplat.data, ksplat.size, &error));
    orr_free(ksplat.data);
    read_with_failures(path, SPLATS, ORR_ERROR_MEMORY);
    assert_no_leak(path);
    orr_splats_destroy(cloud);
}

static void points_need_memory_for_their_order(void **state)
{
    (void)state;
    static const char text[] = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                               "property float z\nend_header\n1 2 3\n4 5 6\n7 8 9\n";
    const char *path = scratch_path("points.ply");
    assert_ok(orr_file_write(path, text, sizeof text - 1, &error));
    read_with_failures(path, 3, ORR_ERROR_MEMORY);
    assert_no_leak(path);
}

#if ORR_HAVE_ZIP && ORR_HAVE_WEBP
static void every_allocation_of_a_sog_may_fail(void **state)
{
    (void)state;
    orr_splats *cloud = sample_cloud(SPLATS, 1, 1);
    orr_splats_view d = orr_splats_data(cloud);
    sog_sample sample;
    assert_true(sog_sample_make(&d, 2, &sample));
    for (int i = 0; i < sample.count; i++) {
        assert_ok(
            orr_file_write(scratch_path(sample.name[i]), sample.file[i].data, sample.file[i].size, &error));
    }
    orr_bytes bundle = sog_sample_bundle(&sample);
    const char *path = scratch_path("a.sog");
    assert_ok(orr_file_write(path, bundle.data, bundle.size, &error));
    orr_free(bundle.data);
    sog_sample_free(&sample);
    write_with_failures(cloud, scratch_path("written.sog"));
    orr_splats_destroy(cloud);
    path = scratch_path("a.sog");
    read_with_failures(path, SPLATS, ORR_ERROR_FORMAT); // cJSON
    assert_no_leak(path);
    path = scratch_path("meta.json");
    read_with_failures(path, SPLATS, ORR_ERROR_FORMAT);
    assert_no_leak(path);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_a_reader_may_fail),
        cmocka_unit_test(points_need_memory_for_their_order),
#if ORR_HAVE_ZIP && ORR_HAVE_WEBP
        cmocka_unit_test(every_allocation_of_a_sog_may_fail),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
