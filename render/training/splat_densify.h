// Adaptive density control (Kerbl et al. 2023) by absolute gradients (Ye et al. 2024): splats whose centres
// the loss pulls hardest become two, those that draw nothing go.
#pragma once

#include "render/training/splat_params.h"

typedef struct orr_densify_desc {
    int64_t target;  // no more splats than these
    float threshold; // of the mean statistic, in normalised device coordinates
} orr_densify_desc;

// Of all above the threshold those with the largest statistic, as many as there is room for. Afterwards the
// statistic begins anew. Splats keep their order; new ones come last.
orr_result orr_splat_densify(orr_splat_params *params, const orr_densify_desc *desc, orr_error *error);
