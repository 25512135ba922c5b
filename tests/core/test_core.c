// Tests of engine/core: arenas, ids, random numbers, images.
#define _POSIX_C_SOURCE 200809L
#include "engine/core/file.h"
#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "engine/core/number.h"
#include "engine/core/pool.h"
#include "engine/core/profile.h"
#include "engine/image/image.h"
#include "engine/maths/morton.h"
#include "engine/maths/rng.h"
#include "tests/support/support.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void arena_stops_allocating_after_warm_up(void **state)
{
    (void)state;
    orr_arena arena = {0};
    for (int frame = 0; frame < 5; frame++) {
        size_t growths = arena.growths;
        char *a = orr_arena_take(&arena, 1000, 1);
        double *b = orr_arena_take(&arena, 500, sizeof *b);
        assert_non_null(a);
        assert_non_null(b);
        assert_int_equal((uintptr_t)a % ORR_ALIGNMENT, 0);
        assert_int_equal((uintptr_t)b % ORR_ALIGNMENT, 0);
        memset(a, frame, 1000);
        b[499] = 1.0;
        assert_int_equal(a[999], frame);
        if (frame > 0) {
            assert_int_equal(arena.growths, growths);
        }
        orr_arena_reset(&arena);
    }
    assert_null(orr_arena_take(&arena, SIZE_MAX / 2, 4)); // the product overflows
    // more than an address space holds: refused, and not remembered as a need
    size_t peak = arena.peak;
    assert_null(orr_arena_take(&arena, SIZE_MAX / 2, 1));
    assert_int_equal(arena.peak, peak);
    assert_int_equal(arena.used, 0);
    orr_arena_destroy(&arena);
}

static void pieces_of_an_arena_are_apart(void **state)
{
    (void)state;
    orr_arena arena = {0};
    for (int round = 0; round < 2; round++) { // pieces of their own at first, then of one block
        unsigned char *pieces[40];
        for (int i = 0; i < 40; i++) {
            pieces[i] = orr_arena_take(&arena, (size_t)i * 17, 1);
            assert_non_null(pieces[i]);
            memset(pieces[i], i, (size_t)i * 17);
        }
        for (int i = 0; i < 40; i++) {
            for (int k = 0; k < i * 17; k++) {
                assert_int_equal(pieces[i][k], i);
            }
        }
        orr_arena_reset(&arena);
    }
    orr_arena_destroy(&arena);
}

static void allocation_refuses_overflow(void **state)
{
    (void)state;
    assert_null(orr_alloc(SIZE_MAX / 4, 8));
    assert_null(orr_alloc(SIZE_MAX, 1));
    void *nothing = orr_alloc(0, 8);
    assert_non_null(nothing);
    orr_free(nothing);
}

static void a_list_grows_and_keeps_what_it_holds(void **state)
{
    (void)state;
    int *list = NULL, capacity = 0, growths = 0;
    for (int i = 0; i < 1000; i++) {
        int before = capacity;
        list = orr_grown(list, &capacity, i + 1, sizeof *list);
        assert_non_null(list);
        assert_true(capacity > i);
        assert_int_equal(list[capacity - 1], 0);
        growths += capacity != before;
        list[i] = i + 1;
    }
    assert_true(growths < 10); // by doubling
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(list[i], i + 1);
    }
    int enough = capacity;
    assert_ptr_equal(orr_grown(list, &capacity, 10, sizeof *list), list);
    assert_null(orr_grown(list, &capacity, INT_MAX, SIZE_MAX / 2)); // nothing is lost
    assert_int_equal(capacity, enough);
    assert_int_equal(list[999], 1000);
    orr_free(list);
}

static void ids_of_removed_slots_are_stale(void **state)
{
    (void)state;
    orr_pool pool = {0};
    orr_pool_id ids[40];
    for (int i = 0; i < 40; i++) {
        assert_ok(orr_pool_take(&pool, &ids[i], &error));
        assert_int_equal(ids[i].slot, i + 1);
    }
    assert_false(orr_pool_live(&pool, (orr_pool_id){0, 0}));
    orr_pool_give(&pool, ids[7]);
    assert_false(orr_pool_live(&pool, ids[7]));
    orr_pool_id again;
    assert_ok(orr_pool_take(&pool, &again, &error));
    assert_int_equal(again.slot, ids[7].slot);
    assert_int_not_equal(again.generation, ids[7].generation);
    assert_false(orr_pool_live(&pool, ids[7]));
    assert_true(orr_pool_live(&pool, again));
    assert_int_equal(pool.count, 40);
    orr_pool_destroy(&pool);
}

static void random_numbers_are_uniform_and_repeatable(void **state)
{
    (void)state;
    enum { BINS = 16, DRAWS = 160000 };
    int counts[BINS] = {0};
    double sum = 0.0;
    orr_rng rng = {.seed = 7, .stream = 3};
    for (int i = 0; i < DRAWS; i++) {
        float u = orr_rng_uniform(&rng);
        assert_true(u >= 0.0f && u < 1.0f);
        counts[(int)(u * BINS)]++;
        sum += (double)u;
    }
    // chi-squared with 15 degrees of freedom: 37.7 is passed once in a thousand seeds, and the seed is fixed
    double chi = 0.0;
    for (int i = 0; i < BINS; i++) {
        double d = counts[i] - DRAWS / BINS;
        chi += d * d / (DRAWS / BINS);
    }
    assert_true(chi < 37.7);
    assert_true(fabs(sum / DRAWS - 0.5) < 0.003);
    orr_rng same = {.seed = 7, .stream = 3, .counter = 1000};
    orr_rng walked = {.seed = 7, .stream = 3};
    for (int i = 0; i < 1000; i++) {
        orr_rng_next(&walked);
    }
    assert_int_equal(orr_rng_next(&same), orr_rng_next(&walked));
    orr_rng other = {.seed = 7, .stream = 4, .counter = 1001};
    assert_int_not_equal(orr_rng_next(&same), orr_rng_next(&other));
}

// The known answers of philox2x32-10 that Random123 publishes.
static void random_bits_are_those_of_philox(void **state)
{
    (void)state;
    assert_true(orr_random_bits(0, 0, 0) == UINT64_C(0x6cd10df2ff1dae59));
    assert_true(orr_random_bits(UINT32_MAX, UINT32_MAX, UINT32_MAX) == UINT64_C(0xab4fd7ad2c3f628b));
    assert_true(orr_random_bits(0x13198a2e, 0x85a308d3, 0x243f6a88) == UINT64_C(0xf62a4c12dd7ce038));
}

static void profile_adds_up_stages_of_one_name(void **state)
{
    (void)state;
    orr_profile profile;
    orr_profile_reset(&profile);
    orr_profile_end(&profile, "project", 10);
    orr_profile_end(&profile, "sort", 3);
    orr_profile_end(&profile, "project", 5);
    assert_int_equal(profile.count, 2);
    assert_string_equal(profile.stages[0].name, "project");
    assert_int_equal(profile.stages[0].items, 15);
    assert_true(profile.stages[0].milliseconds >= 0.0);
}

static void paths_are_taken_apart(void **state)
{
    (void)state;
    assert_true(orr_path_has_ending("a/b.Compressed.PLY", ".compressed.ply"));
    assert_false(orr_path_has_ending("ply", ".ply"));
    assert_string_equal(orr_path_name("a/b/c.txt"), "c.txt");
    char *beside = orr_path_beside("a/b.json", "c/d.png");
    assert_string_equal(beside, "a/c/d.png");
    orr_free(beside);
    beside = orr_path_beside("a/b.json", "/d.png");
    assert_string_equal(beside, "/d.png");
    orr_free(beside);
}

static void png_round_trips(void **state)
{
    (void)state;
    uint8_t rgba[3 * 5 * 4];
    for (size_t i = 0; i < sizeof rgba; i++) {
        rgba[i] = (uint8_t)(i * 37);
    }
    for (int opaque = 0; opaque < 2; opaque++) {
        for (size_t i = 3; opaque && i < sizeof rgba; i += 4) {
            rgba[i] = 255;
        }
        const char *path = scratch_path("picture.png");
        assert_ok(orr_png_save(path, rgba, 5, 3, &error));
        orr_image8 image;
        assert_ok(orr_image8_load(path, &image, &error));
        assert_int_equal(image.width, 5);
        assert_int_equal(image.height, 3);
        assert_memory_equal(image.rgba, rgba, sizeof rgba);
        orr_image8_free(&image);
    }
    orr_image8 image;
    orr_error why;
    assert_int_equal(orr_image8_decode("nonsense", 8, "x.png", &image, &why), ORR_ERROR_FORMAT);
    assert_non_null(strstr(why.message, "x.png"));
}

static void quantisation_rounds_and_clamps(void **state)
{
    (void)state;
    float rgba[8] = {-1.0f, 0.0f, 1.0f, 2.0f, NAN, 0.5f, 100.4f / 255.0f, 100.6f / 255.0f};
    uint8_t bytes[8];
    orr_image_quantise(rgba, 2, bytes);
    const uint8_t expected[8] = {0, 0, 255, 255, 0, 128, 100, 101};
    assert_memory_equal(bytes, expected, 8);
    // many, by the lanes of each instruction set
    enum { PIXELS = 131 };
    float many[4 * PIXELS];
    uint8_t all[4 * PIXELS + 1], one;
    for (int i = 0; i < 4 * PIXELS; i++) {
        const float odd[4] = {NAN, INFINITY, -INFINITY, 1e30f};
        many[i] = i % 37 < 4 ? odd[i % 37] : -0.1f + 1.2f * (float)i / (4.0f * PIXELS);
    }
    for (int isa = 0; isa < ORR_ISA_COUNT; isa++) {
        if (!orr_isa_is_available((orr_isa)isa)) {
            continue;
        }
        assert_int_equal(setenv("ORR_ISA", orr_isa_name((orr_isa)isa), 1), 0);
        for (int pixels = 60; pixels <= PIXELS; pixels++) {
            memset(all, 7, sizeof all);
            orr_image_quantise(many, pixels, all);
            for (int i = 0; i < 4 * pixels; i++) {
                const float v = many[i] * 255.0f + 0.5f;
                one = (uint8_t)(v > 0.0f ? v < 255.0f ? v : 255.0f : 0.0f);
                assert_int_equal(all[i], one);
            }
            assert_int_equal(all[4 * pixels], 7);
        }
    }
    assert_int_equal(unsetenv("ORR_ISA"), 0);
}

static void npy_has_a_header_numpy_reads(void **state)
{
    (void)state;
    float values[6] = {1, 2, 3, 4, 5, 6};
    const char *path = scratch_path("a.npy");
    assert_ok(orr_npy_save(path, values, 2, 3, 1, &error));
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    assert_int_equal(bytes.size, 128 + sizeof values);
    assert_memory_equal(
        bytes.data, "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        65);
    assert_int_equal(bytes.data[127], '\n');
    assert_memory_equal(bytes.data + 128, values, sizeof values);
    orr_free(bytes.data);
}

static void errors_are_one_line(void **state)
{
    (void)state;
    orr_error error;
    assert_int_equal(orr_fail(&error, ORR_CODE_FILE_OPEN, "a\nb\tc"), ORR_ERROR_FILE);
    assert_string_equal(error.message, "a?b?c");
    assert_int_equal(error.code, 100);
    assert_int_equal(orr_fail(NULL, ORR_CODE_OUT_OF_MEMORY, "x"), ORR_ERROR_MEMORY);
}

static void a_morton_code_has_the_bits_of_three_numbers_in_turn(void **state)
{
    (void)state;
    for (int bit = 0; bit < 21; bit++) {
        const uint32_t one = UINT32_C(1) << bit;
        assert_true(orr_morton63(one, 0, 0) == UINT64_C(1) << 3 * bit);
        assert_true(orr_morton63(0, one, 0) == UINT64_C(2) << 3 * bit);
        assert_true(orr_morton63(0, 0, one) == UINT64_C(4) << 3 * bit);
        if (bit < 10) {
            assert_true(orr_morton30(one, one, one) == UINT32_C(7) << 3 * bit);
            assert_true(orr_morton30(0, one, 0) == UINT32_C(2) << 3 * bit);
        }
    }
    // higher bits than an axis has do not reach the others
    assert_true(orr_morton63(UINT32_MAX, 0, 0) == orr_morton63((1u << 21) - 1, 0, 0));
    assert_true(orr_morton30(0, UINT32_MAX, 0) == orr_morton30(0, 1023, 0));
}

// Compiles a locale that writes 0,5 into folder/comma. localedef is part of the C library, but not the
// locales and character sets that it reads. Returns whether the C library takes it.
static bool make_comma_locale(const char *folder)
{
    static const char locale[] = "comment_char %\nescape_char /\nLC_NUMERIC\ndecimal_point \",\"\n"
                                 "thousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n";
    char path[128], command[512],
        charmap[4096] = "<code_set_name> ASCII\n<escape_char> /\n<mb_cur_max> 1\nCHARMAP\n";
    for (int c = 0; c < 128; c++) {
        snprintf(charmap + strlen(charmap), sizeof charmap - strlen(charmap), "<U%04X> /x%02x x\n", c, c);
    }
    strcat(charmap, "END CHARMAP\n");
    snprintf(path, sizeof path, "%s/charmap", folder);
    assert_ok(orr_file_write(path, charmap, strlen(charmap), &error));
    snprintf(path, sizeof path, "%s/locale", folder);
    assert_ok(orr_file_write(path, locale, strlen(locale), &error));
    snprintf(command, sizeof command, "localedef -c -f %s/charmap -i %s/locale %s/comma >/dev/null 2>&1",
             folder, folder, folder);
    int warned = system(command); // of the categories that are not there
    (void)warned;
    setenv("LOCPATH", folder, 1);
    return setlocale(LC_NUMERIC, "comma") != NULL;
}

static void numbers_in_text_have_points_in_every_language(void **state)
{
    (void)state;
    const char *end;
    const char text[] = "  -12.5e1 7";
    assert_float_equal(orr_number_parse(text, &end), -125.0, 0.0);
    assert_string_equal(end, " 7");
    assert_true(orr_number_parse(text + 10, &end) == 7.0 && *end == 0);
    const char none[] = "point";
    assert_float_equal(orr_number_parse(none, &end), 0.0, 0.0);
    assert_ptr_equal(end, none);

    char folder[] = "/tmp/orrery-language-XXXXXX", command[160];
    assert_non_null(mkdtemp(folder));
    bool made = make_comma_locale(folder);
    if (made) {
        assert_float_equal(strtod("0,5", NULL), 0.5, 0.0);
        assert_float_equal(orr_number_parse("0.5,", &end), 0.5, 0.0);
        assert_string_equal(end, ",");
    }
    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!made) {
        print_message("skipped: localedef makes no locale\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_stops_allocating_after_warm_up),
        cmocka_unit_test(pieces_of_an_arena_are_apart),
        cmocka_unit_test(allocation_refuses_overflow),
        cmocka_unit_test(a_list_grows_and_keeps_what_it_holds),
        cmocka_unit_test(ids_of_removed_slots_are_stale),
        cmocka_unit_test(random_numbers_are_uniform_and_repeatable),
        cmocka_unit_test(random_bits_are_those_of_philox),
        cmocka_unit_test(profile_adds_up_stages_of_one_name),
        cmocka_unit_test(paths_are_taken_apart),
        cmocka_unit_test(png_round_trips),
        cmocka_unit_test(quantisation_rounds_and_clamps),
        cmocka_unit_test(npy_has_a_header_numpy_reads),
        cmocka_unit_test(errors_are_one_line),
        cmocka_unit_test(numbers_in_text_have_points_in_every_language),
        cmocka_unit_test(a_morton_code_has_the_bits_of_three_numbers_in_turn),
    };
    return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
