// Training a volume field: the densities of a grid, and a white albedo.
#pragma once

#include "neural/density.h"
#include "neural/trainer.h"

typedef struct orr_volume_samples {
    const orr_density *density;
    uint32_t seed;
} orr_volume_samples;

// Places anywhere in the unit cube. `samples` is borrowed.
orr_sample_source orr_volume_source(orr_volume_samples *samples);
// instant-ngp's base with a learning rate for a few cores.
orr_result orr_volume_train_config(orr_field_config *config, orr_error *error);
// Peak signal-to-noise ratio [dB] of the density over random places, against the greatest density.
orr_result orr_volume_psnr(const orr_field *field, const orr_volume_samples *samples, int points,
                           double *psnr, orr_error *error);
