// Training an image field: random positions of a picture that stays as it is stored.
#pragma once

#include "engine/image/picture.h"
#include "neural/fields/field.h"
#include "neural/training/sample_source.h"

typedef struct orr_image_samples {
    const orr_picture_file *picture;
    uint32_t seed;
} orr_image_samples;

// Positions are stratified, one in each cell of a grid over the picture and the rest anywhere, and moved to
// the middles of pixels: between them the picture is not defined. Truth is the display colour. `samples` is
// borrowed.
orr_sample_source orr_image_source(orr_image_samples *samples);

// instant-ngp's base with a learning rate that falls early, for a few cores.
orr_result orr_image_training_config(orr_field_config *config, orr_error *error);

// Peak signal-to-noise ratio [dB] of the field at the middles of pixels, in display colours clamped to 0 ..
// 1; of every `every`th block of pixels along rows.
orr_result orr_image_psnr(const orr_field *field, const orr_picture_file *picture, orr_jobs *jobs, int every,
                          double *psnr, orr_error *error);
