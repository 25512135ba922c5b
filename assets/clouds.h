// Synthetic clouds for tests and benchmarks: pure functions of a seed.
#pragma once

#include "engine/core/result.h"

typedef enum cloud_kind {
    CLOUD_BALL,    // uniform in the unit ball, sizes and opacities as in captures
    CLOUD_NEEDLES, // one axis up to 10^3 times the others
    CLOUD_HUGE,    // splats as large as the ball
    CLOUD_FLAT     // all on the plane z = 0: equal depths for a camera that looks along z
} cloud_kind;

orr_splats *make_cloud(cloud_kind kind, int64_t count, int sh_degree, uint32_t seed);
