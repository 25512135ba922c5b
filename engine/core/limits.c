#include "engine/core/limits.h"

orr_limit_gather_kernel *orr_limit_gather_of(orr_isa isa)
{
    static orr_limit_gather_kernel *const kernels[ORR_ISA_COUNT] = {
        [ORR_ISA_BASELINE] = orr_limit_gather_baseline,
#if !defined(ORR_BASELINE_ONLY) && defined(__x86_64__)
        [ORR_ISA_AVX2] = orr_limit_gather_avx2,
        [ORR_ISA_AVX512] = orr_limit_gather_avx512,
#endif
    };
    return kernels[isa];
}
