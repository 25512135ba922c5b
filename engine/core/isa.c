#include "engine/core/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

orr_isa orr_isa_best(void)
{
#if (defined(__x86_64__) || defined(__i386__)) && !defined(ORR_BASELINE_ONLY)
    __builtin_cpu_init();
    // every flag that cmake/build.cmake gives a level is asked for here
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return ORR_ISA_AVX512;
    }
    if (avx2) {
        return ORR_ISA_AVX2;
    }
#endif
    return ORR_ISA_BASELINE;
}

orr_isa orr_isa_choose(void)
{
    orr_isa best = orr_isa_best();
    const char *wanted = getenv("ORR_ISA");
    for (int isa = 0; wanted && isa <= (int)best; isa++) {
        if (strcmp(wanted, orr_isa_name((orr_isa)isa)) == 0) {
            return (orr_isa)isa;
        }
    }
    return best;
}

const char *orr_isa_name(orr_isa isa)
{
    static const char *const names[ORR_ISA_COUNT] = {"baseline", "avx2", "avx512"};
    return names[isa];
}
