// Training a volume field: the densities of a grid, and a white albedo.
#pragma once

#include "neural/fields/density.h"
#include "neural/fields/field.h"
#include "neural/training/sample_source.h"

#define ORR_VOLUME_GREATEST 20.0f // extinction per side of the unit cube, of the greatest density

typedef struct orr_volume_samples {
    const orr_density *density;
    float scale; // of densities, to ORR_VOLUME_GREATEST
    uint32_t seed;
} orr_volume_samples;

// The density is borrowed. ORR_ERROR_FORMAT when it is nowhere above 0; `name` is for the message.
orr_result orr_volume_samples_of(const orr_density *density, uint32_t seed, const char *name,
                                 orr_volume_samples *samples, orr_error *error);

// Positions anywhere in the unit cube; densities below 0 count as 0. `samples` is borrowed.
orr_sample_source orr_volume_source(orr_volume_samples *samples);
// instant-ngp's base with a learning rate for a few cores.
orr_result orr_volume_training_config(orr_field_config *config, orr_error *error);
// Peak signal-to-noise ratio [dB] of the density over random positions, against the greatest density.
orr_result orr_volume_psnr(const orr_field *field, const orr_volume_samples *samples, int points,
                           double *psnr, orr_error *error);
