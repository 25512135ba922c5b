// The floating-point mode of a thread: rounding, whether denormal numbers are flushed to zero, and which
// exceptions trap. Hosts change it (audio programs flush denormals); results must not depend on it.
#pragma once

#include <fenv.h>
#include <stdbool.h>

typedef struct orr_float_mode {
    bool changed;
    fenv_t saved; // of the caller, where `changed`
} orr_float_mode;

// Sets the mode in which programs start, about 10 ns where it is set already; returns the mode until now.
orr_float_mode orr_float_default(void);
void orr_float_restore(const orr_float_mode *mode);
