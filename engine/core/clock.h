// The host's monotonic clock.
#pragma once

#include <stdint.h>

uint64_t orr_clock_nanoseconds(void); // since an unspecified start; for measuring only, never for results
