// Distances among points: how far each has it to those nearest to it.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/result.h"

enum { ORR_NEAREST_COUNT = 3 };

// position: count x 3, finite; squared: count x ORR_NEAREST_COUNT, squared distances to the nearest others,
// ascending, INFINITY where there are fewer. Exact. ORR_ERROR_MEMORY.
orr_result orr_nearest_find(const float *position, int64_t count, orr_jobs *jobs, float *squared,
                            orr_error *error);
