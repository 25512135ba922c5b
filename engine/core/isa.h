// Instruction sets of the CPU: which one this machine has, and which one this process uses.
//
// The CPU files of a stage (*_cpu.c) are compiled once per level with ORR_ISA set to baseline, avx2 or
// avx512; ORR_ISA_NAME(f) gives each build its own symbol and the stage picks one at run time. This file is
// compiled without any instruction-set flag, so that it runs everywhere.
#pragma once

#include "engine/core/result.h"

#include <stdbool.h>

typedef enum orr_isa { ORR_ISA_BASELINE = 0, ORR_ISA_AVX2, ORR_ISA_AVX512, ORR_ISA_COUNT } orr_isa;

// The best level that this CPU and this build have, or the one that ORR_ISA=baseline|avx2|avx512 in the
// environment names; ORR_ERROR_ARGUMENT for a level that this CPU or this build does not have.
orr_result orr_isa_choose(orr_isa *isa, orr_error *error);
// The best of this CPU and this build, whatever the environment says; where the build has no level of this
// CPU, which orr_isa_choose reports, the lowest of the build.
orr_isa orr_isa_best(void);
bool orr_isa_is_available(orr_isa isa); // this CPU and this build have it
const char *orr_isa_name(orr_isa isa);

// The initialiser of an array of ORR_ISA_COUNT: {[ORR_ISA_BASELINE] = entry(baseline), ...}. Levels that this
// build leaves out (ORR_INSTRUCTION_SETS in CMake) have no entry.
#if !defined(ORR_WITHOUT_BASELINE)
#define ORR_ISA_ENTRY_BASELINE(entry) [ORR_ISA_BASELINE] = entry(baseline),
#else
#define ORR_ISA_ENTRY_BASELINE(entry)
#endif
#if !defined(ORR_WITHOUT_AVX2)
#define ORR_ISA_ENTRY_AVX2(entry) [ORR_ISA_AVX2] = entry(avx2),
#else
#define ORR_ISA_ENTRY_AVX2(entry)
#endif
#if !defined(ORR_WITHOUT_AVX512)
#define ORR_ISA_ENTRY_AVX512(entry) [ORR_ISA_AVX512] = entry(avx512),
#else
#define ORR_ISA_ENTRY_AVX512(entry)
#endif
#define ORR_ISA_TABLE(entry)                                                                                 \
    {                                                                                                        \
        ORR_ISA_ENTRY_BASELINE(entry) ORR_ISA_ENTRY_AVX2(entry) ORR_ISA_ENTRY_AVX512(entry)                  \
    }

#define ORR_ISA_PASTE2(name, isa) name##_##isa
#define ORR_ISA_PASTE(name, isa) ORR_ISA_PASTE2(name, isa)
#define ORR_ISA_NAME(name) ORR_ISA_PASTE(name, ORR_ISA)
