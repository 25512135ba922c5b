#include "engine/core/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// every flag that cmake/build.cmake gives a level is required here
#if !defined(ORR_WITHOUT_AVX2) || !defined(ORR_WITHOUT_AVX512)
static bool cpu_has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
#endif

#if !defined(ORR_WITHOUT_AVX512)
static bool cpu_has_avx512(void)
{
    return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

bool orr_isa_present(orr_isa isa)
{
    switch (isa) {
#if !defined(ORR_WITHOUT_BASELINE)
    case ORR_ISA_BASELINE:
        return true;
#endif
#if !defined(ORR_WITHOUT_AVX2)
    case ORR_ISA_AVX2:
        return cpu_has_avx2();
#endif
#if !defined(ORR_WITHOUT_AVX512)
    case ORR_ISA_AVX512:
        return cpu_has_avx512();
#endif
    default:
        return false;
    }
}

orr_isa orr_isa_best(void)
{
    int isa = ORR_ISA_COUNT - 1;
    while (isa > ORR_ISA_BASELINE && !orr_isa_present((orr_isa)isa)) {
        isa--;
    }
    return (orr_isa)isa;
}

orr_result orr_isa_choose(orr_isa *isa, orr_error *error)
{
    *isa = orr_isa_best();
    if (!orr_isa_present(*isa)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "this CPU lacks the instruction set that this build is for; expected a build with "
                        "ORR_INSTRUCTION_SETS=ALL");
    }
    const char *wanted = getenv("ORR_ISA");
    if (!wanted || !wanted[0]) {
        return ORR_OK;
    }
    for (int level = 0; level < ORR_ISA_COUNT; level++) {
        if (strcmp(wanted, orr_isa_name((orr_isa)level)) == 0 && orr_isa_present((orr_isa)level)) {
            *isa = (orr_isa)level;
            return ORR_OK;
        }
    }
    return orr_fail(
        error, ORR_CODE_ARGUMENT,
        "ORR_ISA=%s: expected baseline, avx2 or avx512, and one that this CPU and this build have, "
        "at most %s here",
        wanted, orr_isa_name(*isa));
}

const char *orr_isa_name(orr_isa isa)
{
    static const char *const names[ORR_ISA_COUNT] = {"baseline", "avx2", "avx512"};
    return names[isa];
}
