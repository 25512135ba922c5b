// Where splats are missing and where they are wasted: the moves of 3DGS-MCMC (Kheradmand et al. 2024).
#pragma once

#include "render/training/splat_params.h"

// Splats that draw nothing become copies of others, drawn by opacity; then copies are added until there are
// `target`. A splat and its copies look together as the splat did. `step` decides what is drawn.
orr_result orr_splat_relocate(orr_splat_params *params, int64_t target, uint32_t seed, uint32_t step,
                              orr_error *error);
