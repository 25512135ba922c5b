// What a training of splats goes on from: the parameters with Adam's moments, and where its schedules are.
#pragma once

#include "engine/core/file.h"
#include "render/training/splat_params.h"
#include "render/training/splat_trainer.h"

typedef struct orr_splat_state {
    int64_t step, rest_steps; // taken, and those of the higher harmonics
    double progress;          // of the last step, 0 .. 1
    float extent;             // of the cameras; tells one capture from another
    int64_t most;             // splats
    orr_splat_strategy strategy;
    uint32_t seed;
    int sh_degree; // to reach, at least that of the parameters
    bool antialias, exposures, refine_poses;
    float depth_weight, prune;
    orr_splat_masks masks;
    orr_splat_lenses lenses;
    int image_count;
    int *images;           // those learned from, in the order of this epoch
    orr_splat_view *views; // of each of these
    orr_photo_grid *grids; // likewise; NULL: none
    orr_splat_params params;
} orr_splat_state;

// Writes the whole file or leaves what is there.
orr_result orr_splat_state_save(const orr_splat_state *state, const char *path, orr_error *error);
// From a file's bytes; the geometry of the parameters is not set. Free with orr_splat_state_destroy. Every
// number is checked: ORR_ERROR_FORMAT without a state.
orr_result orr_splat_state_read(const char *name, orr_bytes bytes, orr_splat_state *state, orr_error *error);
// Are its photos these, in any order?
orr_result orr_splat_state_has_images(const orr_splat_state *state, const int *images, int count, bool *same,
                                      orr_error *error);
void orr_splat_state_destroy(orr_splat_state *state);
