#include "engine/core/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IS_BUILT(isa) true
static const bool built[ORR_ISA_COUNT] = ORR_ISA_TABLE(IS_BUILT);

// Every flag that cmake/build.cmake gives a level is required here.
static bool cpu_has(orr_isa isa)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return isa == ORR_ISA_BASELINE || (isa == ORR_ISA_AVX2 && avx2) || (isa == ORR_ISA_AVX512 && avx512);
#else
    return isa == ORR_ISA_BASELINE;
#endif
}

bool orr_isa_is_available(orr_isa isa)
{
    return built[isa] && cpu_has(isa);
}

orr_isa orr_isa_best(void)
{
    int best = ORR_ISA_COUNT;
    for (int isa = ORR_ISA_COUNT - 1; isa >= 0; isa--) {
        if (built[isa] && (best == ORR_ISA_COUNT || !cpu_has((orr_isa)best))) {
            best = isa;
        }
    }
    return (orr_isa)best;
}

orr_result orr_isa_choose(orr_isa *isa, orr_error *error)
{
    *isa = orr_isa_best();
    if (!orr_isa_is_available(*isa)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "this build is for %s, which this CPU does not support: build it with "
                        "-DORR_INSTRUCTION_SETS=ALL",
                        orr_isa_name(*isa));
    }
    const char *wanted = getenv("ORR_ISA");
    if (!wanted || !wanted[0]) {
        return ORR_OK;
    }
    char names[64] = "";
    for (int level = 0; level < ORR_ISA_COUNT; level++) {
        const char *name = orr_isa_name((orr_isa)level);
        if (orr_isa_is_available((orr_isa)level)) {
            if (strcmp(wanted, name) == 0) {
                *isa = (orr_isa)level;
                return ORR_OK;
            }
            size_t end = strlen(names);
            snprintf(names + end, sizeof names - end, "%s%s", end > 0 ? " or " : "", name);
        }
    }
    return orr_fail(error, ORR_CODE_ARGUMENT, "ORR_ISA=%s: expected %s, which this CPU and this build have",
                    wanted, names);
}

const char *orr_isa_name(orr_isa isa)
{
    static const char *const names[ORR_ISA_COUNT] = {"baseline", "avx2", "avx512"};
    return names[isa];
}
