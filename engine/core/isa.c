#include "engine/core/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

orr_isa orr_isa_best(void)
{
#if !defined(ORR_WITHOUT_AVX2)
    __builtin_cpu_init();
    // every flag that cmake/build.cmake gives a level is required here
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#if !defined(ORR_WITHOUT_AVX512)
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return ORR_ISA_AVX512;
    }
#endif
    if (avx2) {
        return ORR_ISA_AVX2;
    }
#endif
    return ORR_ISA_BASELINE;
}

orr_result orr_isa_choose(orr_isa *isa, orr_error *error)
{
    *isa = orr_isa_best();
    const char *wanted = getenv("ORR_ISA");
    if (!wanted || !wanted[0]) {
        return ORR_OK;
    }
    for (int level = 0; level <= (int)*isa; level++) {
        if (strcmp(wanted, orr_isa_name((orr_isa)level)) == 0) {
            *isa = (orr_isa)level;
            return ORR_OK;
        }
    }
    return orr_fail(error, ORR_CODE_ARGUMENT,
                    "ORR_ISA=%s: expected baseline, avx2 or avx512, at most %s here", wanted,
                    orr_isa_name(*isa));
}

const char *orr_isa_name(orr_isa isa)
{
    static const char *const names[ORR_ISA_COUNT] = {"baseline", "avx2", "avx512"};
    return names[isa];
}
