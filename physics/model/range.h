// Where to draw numbers, and to set sliders, of what a model limits to a range, which may have no end.
#pragma once

#include <math.h>
#include <stdbool.h>

// The range, with `reach` from 0, or from the end that it has, in place of ends that it does not have.
static inline void orr_model_range(bool limited, const double range[2], double reach, double ends[2])
{
    bool low = limited && isfinite(range[0]), high = limited && isfinite(range[1]);
    ends[0] = low ? range[0] : high ? fmin(-reach, range[1] - reach) : -reach;
    ends[1] = high ? range[1] : low ? fmax(reach, range[0] + reach) : reach;
}
