// Instruction sets of the CPU: which one this machine has, and which one this process uses.
//
// The CPU files of a stage (*_cpu.c) are compiled once per level with ORR_ISA set to baseline, avx2 or
// avx512; ORR_ISA_NAME(f) gives each build its own symbol and the stage picks one at run time. This file is
// compiled without any instruction-set flag, so that it runs everywhere.
#pragma once

#include "engine/core/result.h"

typedef enum orr_isa { ORR_ISA_BASELINE = 0, ORR_ISA_AVX2, ORR_ISA_AVX512, ORR_ISA_COUNT } orr_isa;

// The best level this CPU has, or the one that the environment variable ORR_ISA=baseline|avx2|avx512
// names; it is an ORR_ERROR_ARGUMENT to name one that this CPU or this build does not have.
orr_result orr_isa_choose(orr_isa *isa, orr_error *error);
orr_isa orr_isa_best(void); // what the CPU has, whatever the environment says
const char *orr_isa_name(orr_isa isa);

#define ORR_ISA_PASTE2(name, isa) name##_##isa
#define ORR_ISA_PASTE(name, isa) ORR_ISA_PASTE2(name, isa)
#define ORR_ISA_NAME(name) ORR_ISA_PASTE(name, ORR_ISA)
