// Which machine computes the products of a network.
#define _GNU_SOURCE
#include "engine/core/isa.h"
#include "neural/network/mlp_kernels.h"

#include <stdlib.h>
#include <string.h>

#if defined(ORR_HAVE_MLP_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

// The CPU has the tiles, the kernel saves them, and it allows this process to use them (a process must
// request it: Linux, Documentation/arch/x86/xstate.rst). The permission is for all threads of the process.
static bool amx_available(void)
{
    enum { TILE_CONFIG = 1 << 17, TILE_DATA = 1 << 18, REQUEST_PERMISSION = 0x1023, TILE_DATA_FEATURE = 18 };
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) {
        return false;
    }
    const unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & amx_bf16) || !(d & amx_tile)) {
        return false;
    }
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & (TILE_CONFIG | TILE_DATA)) != (TILE_CONFIG | TILE_DATA)) {
        return false;
    }
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA_FEATURE) == 0;
}
#endif

static bool bf16_available(void)
{
#if defined(ORR_HAVE_MLP_BF16)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

bool orr_mlp_machine_available(orr_isa isa, orr_mlp_machine machine)
{
    switch (machine) {
    case ORR_MLP_FP32:
        return orr_isa_is_available(isa);
    case ORR_MLP_BF16:
        return isa == ORR_ISA_AVX512 && bf16_available();
    case ORR_MLP_AMX:
#if defined(ORR_HAVE_MLP_AMX)
        return isa == ORR_ISA_AVX512 && bf16_available() && amx_available();
#else
        return false;
#endif
    }
    return false;
}

const char *orr_mlp_machine_name(orr_mlp_machine machine)
{
    static const char *const names[ORR_MLP_MACHINE_COUNT] = {"fp32", "bf16", "amx"};
    return names[machine];
}

orr_result orr_mlp_machine_choose(orr_isa isa, orr_mlp_machine *machine, orr_error *error)
{
    const char *requested = getenv("ORR_MLP");
    bool any = !requested || !requested[0];
    for (int m = ORR_MLP_MACHINE_COUNT - 1; m >= 0; m--) {
        *machine = (orr_mlp_machine)m;
        if ((any || strcmp(requested, orr_mlp_machine_name(*machine)) == 0) &&
            orr_mlp_machine_available(isa, *machine)) {
            return ORR_OK;
        }
    }
    return orr_fail(error, ORR_CODE_ARGUMENT,
                    "ORR_MLP=%s: expected fp32, bf16 or amx, and one that this machine has at the level %s",
                    requested, orr_isa_name(isa));
}

const orr_mlp_kernels *orr_mlp_kernels_of(orr_isa isa, orr_mlp_machine machine)
{
#if defined(ORR_HAVE_MLP_AMX)
    if (machine == ORR_MLP_AMX) {
        return &orr_mlp_kernels_amx;
    }
#endif
#if defined(ORR_HAVE_MLP_BF16)
    if (machine == ORR_MLP_BF16) {
        return &orr_mlp_kernels_bf16;
    }
#endif
    assert(machine == ORR_MLP_FP32);
    (void)machine;
#define KERNELS(isa) &orr_mlp_kernels_##isa
    static const orr_mlp_kernels *const kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(KERNELS);
    return kernels[isa];
}

orr_result orr_mlp_weights_create(const orr_mlp *mlp, orr_isa isa, orr_mlp_machine machine,
                                  orr_mlp_weights **weights, orr_error *error)
{
    return orr_mlp_weights_create_for(mlp, orr_mlp_kernels_of(isa, machine), weights, error);
}
