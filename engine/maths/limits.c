#include "engine/maths/limits.h"

orr_limit_gather_kernel *orr_limit_gather_of(orr_isa isa)
{
#define GATHER(isa) orr_limit_gather_##isa
    static orr_limit_gather_kernel *const kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(GATHER);
    return kernels[isa];
}
