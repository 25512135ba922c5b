// The parameters of splats in training: memory, growth, and the cloud that is saved.
#pragma once

#include "render/training/splat_training.h"

#define ORR_DEAD_OPACITY 0.005 // a splat of no more draws as good as nothing

// A splat as it begins.
typedef struct orr_splat_seed {
    float position[3], colour[3]; // display colour in 0 .. 1
    float log_scale;              // of all axes
    float logit;                  // of the opacity
} orr_splat_seed;

// Room for `capacity` splats, none yet, harmonics of degree 0. statistic: has one.
orr_result orr_splat_params_create(int64_t capacity, bool statistic, orr_splat_params *params,
                                   orr_error *error);
void orr_splat_params_destroy(orr_splat_params *params);
// Room for at least `capacity` splats; on failure nothing has changed.
orr_result orr_splat_params_reserve(orr_splat_params *params, int64_t capacity, orr_error *error);
// Adds `count` seeds within the capacity.
void orr_splat_params_add(orr_splat_params *params, const orr_splat_seed *seeds, int64_t count);
// Harmonics of a higher degree, the new ones 0.
orr_result orr_splat_params_raise(orr_splat_params *params, int degree, orr_error *error);
// Does it draw nothing, or is it broken?
bool orr_splat_params_dead(const orr_splat_params *params, int64_t splat);
// Copies all parameters of a splat; the moments of the copy are 0.
void orr_splat_params_copy(orr_splat_params *params, int64_t from, int64_t to);
// Copies a splat as it is, with its moments and its statistic.
void orr_splat_params_move(orr_splat_params *params, int64_t from, int64_t to);
// Keeps account of where splats come from, in `origin` and `fresh`, for up to `capacity` of them; the other
// arrays are not touched until orr_splat_params_untrack.
orr_result orr_splat_params_track(orr_splat_params *params, int64_t capacity, orr_error *error);
void orr_splat_params_untrack(orr_splat_params *params);
// Leaves the first `count` splats.
void orr_splat_params_cut(orr_splat_params *params, int64_t count);
// The statistic begins anew.
void orr_splat_params_forget(orr_splat_params *params);
// A pack that draws what `geometry` and `harmonics` hold now.
orr_splat_pack orr_splat_params_pack(const orr_splat_params *params, bool antialiased);
// What a file stores, without splats that are broken or draw nothing.
orr_result orr_splat_params_cloud(const orr_splat_params *params, int degree, bool antialiased,
                                  orr_splats **splats, orr_error *error);
