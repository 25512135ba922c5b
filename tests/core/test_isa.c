// The choice of an instruction set: the best of those that are both in this build and in this CPU.
#define _POSIX_C_SOURCE 200809L
#include "engine/core/isa.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IS_BUILT(isa) true
static const bool built[ORR_ISA_COUNT] = ORR_ISA_TABLE(IS_BUILT);

// A flag of /proc/cpuinfo that no CPU of a lower level has.
static bool cpu_says(orr_isa isa)
{
    static const char *const flag[ORR_ISA_COUNT] = {" fpu ", " avx2 ", " avx512bw "};
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, "flags", 5) == 0 && strstr(line, flag[isa]);
    }
    if (file) {
        fclose(file);
    }
    return found;
}

static void each_level_is_chosen_by_name_or_refused(void **state)
{
    (void)state;
    for (int level = 0; level < ORR_ISA_COUNT; level++) {
        orr_isa isa;
        orr_error error;
        assert_int_equal(setenv("ORR_ISA", orr_isa_name((orr_isa)level), 1), 0);
        if (orr_isa_is_available((orr_isa)level)) {
            assert_int_equal(orr_isa_choose(&isa, &error), ORR_OK);
            assert_int_equal(isa, level);
        } else {
            assert_int_not_equal(orr_isa_choose(&isa, &error), ORR_OK);
            assert_non_null(strstr(error.message, ": expected "));
        }
    }
    unsetenv("ORR_ISA");
}

// A build for AVX-512 alone, beside the baseline, must not fall back to the baseline because it lacks AVX2.
static void the_best_level_is_the_highest_of_build_and_cpu(void **state)
{
    (void)state;
    unsetenv("ORR_ISA");
    if (!cpu_says(ORR_ISA_BASELINE)) {
        skip();
    }
    int best = -1;
    for (int level = 0; level < ORR_ISA_COUNT; level++) {
        assert_int_equal(orr_isa_is_available((orr_isa)level), built[level] && cpu_says((orr_isa)level));
        best = built[level] && cpu_says((orr_isa)level) ? level : best;
    }
    assert_int_not_equal(best, -1); // builds run where they were made
    assert_int_equal(orr_isa_best(), best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_level_is_chosen_by_name_or_refused),
        cmocka_unit_test(the_best_level_is_the_highest_of_build_and_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
