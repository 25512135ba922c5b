// What a step of training a radiance field hands to the next, besides parameters, optimisers and the
// occupancy grid; and how the number of rays follows from it, for C and for kernels.
#pragma once

#include "engine/maths/inline.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ORR_NERF_GROUPS = 64,          // that the CPU cuts a step's rays into; at least as many are drawn
    ORR_NERF_BUNDLE_RAYS_MIN = 16, // of the CPU's bundles
    ORR_NERF_RAYS_FIRST = 1024,
    ORR_NERF_RAYS_MAX = 1 << 18
};

typedef struct orr_nerf_training_progress {
    int64_t step;
    int64_t updates; // of the grid
    // since the number of rays was adapted
    int64_t adapt_rays, adapt_evaluated, adapt_samples;
    int32_t ray_count;
    int32_t bundle_rays; // the CPU's
} orr_nerf_training_progress;

// Is the number of rays adapted after this step? Every step at first, every 16th later on.
ORR_INLINE bool orr_nerf_adapts(int64_t steps_done)
{
    return steps_done < 16 || steps_done % 16 == 0;
}

// More rays when they find less, fewer when they find more: towards the target, by a factor of two at most.
ORR_INLINE int32_t orr_nerf_rays_towards(int target_samples, const orr_nerf_training_progress *progress)
{
    double samples = progress->adapt_samples > 0 ? (double)progress->adapt_samples : 1.0;
    double rays = target_samples * (double)progress->adapt_rays / samples;
    rays = fmin(fmax(rays, 0.5 * progress->ray_count), 2.0 * progress->ray_count);
    return (int32_t)fmin(fmax(rays, (double)ORR_NERF_GROUPS), (double)ORR_NERF_RAYS_MAX);
}
