// The parameters of splats in training: memory, growth, and the cloud that is saved.
#pragma once

#include "render/training/splat_training.h"

// A splat as it begins.
typedef struct orr_splat_seed {
    float position[3], colour[3]; // display colour in 0 .. 1
    float log_scale;              // of all axes
    float logit;                  // of the opacity
} orr_splat_seed;

// Room for `capacity` splats, none yet, harmonics of degree 0.
orr_result orr_splat_params_create(int64_t capacity, orr_splat_params *params, orr_error *error);
void orr_splat_params_destroy(orr_splat_params *params);
// Adds `count` seeds within the capacity.
void orr_splat_params_add(orr_splat_params *params, const orr_splat_seed *seeds, int64_t count);
// Harmonics of a higher degree, the new ones 0.
orr_result orr_splat_params_raise(orr_splat_params *params, int degree, orr_error *error);
// Copies all parameters of a splat; the moments of the copy are 0.
void orr_splat_params_copy(orr_splat_params *params, int64_t from, int64_t to);
// A pack that draws what `geometry` and `harmonics` hold now.
orr_splat_pack orr_splat_params_pack(const orr_splat_params *params, bool antialiased);
// What a file stores, without splats that are broken or draw nothing.
orr_result orr_splat_params_cloud(const orr_splat_params *params, int degree, bool antialiased,
                                  orr_splats **splats, orr_error *error);
