// The order of the splats in which 4, 16, 64 ... in a row are near each other.
#pragma once

#include "engine/core/jobs.h"

// Of `count` positions, 3 floats each at [3 i], finite: a permutation of 0 .. count - 1. Runs of 4^k from
// multiples of 4^k are halved twice, at the median along the axis in which they vary most (a k-d tree). Where
// the last run is shorter, its first quarters are full. The same for any number of threads.
void orr_splat_order(orr_jobs *jobs, const float *positions, int64_t count, uint32_t *order);
