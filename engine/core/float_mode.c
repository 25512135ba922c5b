#include "engine/core/float_mode.h"

#if defined(__x86_64__)
// fegetenv alone takes 50 ns. Below the control bits of MXCSR are the flags that arithmetic raises.
static bool is_default(void)
{
    enum { FLAGS = 0x3f, VECTOR_DEFAULT = 0x1f80, X87_DEFAULT = 0x37f };
    unsigned short x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (__builtin_ia32_stmxcsr() & ~(unsigned)FLAGS) == VECTOR_DEFAULT && x87 == X87_DEFAULT;
}
#else
static bool is_default(void)
{
    return false; // setting it once too often does no harm
}
#endif

orr_float_mode orr_float_default(void)
{
    orr_float_mode mode = {.changed = !is_default()};
    if (mode.changed) {
        fegetenv(&mode.saved);
        fesetenv(FE_DFL_ENV);
    }
    return mode;
}

void orr_float_restore(const orr_float_mode *mode)
{
    if (mode->changed) {
        fesetenv(&mode->saved);
    }
}
