// What the functions of engine/orrery.h do before their work: they refuse pointers that are NULL, and compute
// in the floating-point mode that the engine is tested in, whatever mode the calling thread is in.
#pragma once

#include "engine/core/float_mode.h"
#include "engine/core/result.h"

// Until the function returns, this thread computes in the default mode.
#define ORR_ENTER                                                                                            \
    orr_float_mode orr_entry_mode __attribute__((cleanup(orr_float_restore), unused)) = orr_float_default()

// Returns ORR_ERROR_ARGUMENT when a pointer is NULL that must not be.
#define ORR_REQUIRE(pointer, error)                                                                          \
    ORR_TRY((pointer) ? ORR_OK : orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s is NULL", __func__, #pointer))
