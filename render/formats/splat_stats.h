// Figures that describe a splat cloud, for `orrery info`.
#pragma once

#include "engine/core/result.h"

enum {
    ORR_STATS_SCALE_BINS = 14,  // two per power of ten
    ORR_STATS_OPACITY_BINS = 10 // 0 .. 1
};
#define ORR_STATS_SCALE_LOW (-5.0f) // log10 of the lower end of the first bin
#define ORR_STATS_SCALE_STEP 0.5f   // log10 of one bin's width

typedef struct orr_splat_stats {
    int64_t count;
    int sh_degree;
    bool antialiased;
    size_t bytes;                        // host memory of the cloud's arrays
    float low[3], high[3];               // bounds of the positions; 0 for an empty cloud
    float robust_low[3], robust_high[3]; // without the outermost 0.5 % at each side of each axis
    // of the longest axis of each splat [scene units]; the outer bins include what is beyond them
    int64_t scale[ORR_STATS_SCALE_BINS];
    int64_t opacity[ORR_STATS_OPACITY_BINS];
} orr_splat_stats;

orr_splat_stats orr_splat_stats_of(const orr_splats_view *splats);
