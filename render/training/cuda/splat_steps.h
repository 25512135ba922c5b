// Steps of training splats on a CUDA device: parameters and photos stay there from step to step.
#pragma once

#include "engine/core/profile.h"
#include "engine/device/cuda.h"
#include "render/training/picture/picture_compose.h"
#include "render/training/splat_depth.h"
#include "render/training/splat_photos.h"
#include "render/training/splat_training.h"

typedef struct orr_cuda_splat_steps orr_cuda_splat_steps;

// images: of the capture. In a build without CUDA: ORR_CODE_FEATURE_ABSENT.
orr_result orr_cuda_splat_steps_create(orr_cuda *cuda, int images, orr_cuda_splat_steps **steps,
                                       orr_error *error);
void orr_cuda_splat_steps_destroy(orr_cuda_splat_steps *steps); // NULL is allowed

// Parameters, moments and statistic to the device, and from it into memory for as many splats of that degree.
// The form that is drawn is made there, and not read.
orr_result orr_cuda_splat_steps_write(orr_cuda_splat_steps *steps, const orr_splat_params *params,
                                      orr_error *error);
orr_result orr_cuda_splat_steps_read(orr_cuda_splat_steps *steps, orr_splat_params *params, orr_error *error);

// Of these parameters, what relocations and divisions look at: the first array of what is stored, and the
// statistic, which begins anew.
orr_result orr_cuda_splat_steps_read_first(orr_cuda_splat_steps *steps, orr_splat_params *params,
                                           orr_error *error);
// Parameters that were tracked meanwhile (orr_splat_params_track): that array is sent, and the others are put
// in order on the device.
orr_result orr_cuda_splat_steps_rearrange(orr_cuda_splat_steps *steps, const orr_splat_params *params,
                                          orr_error *error);

// Of parameters that were tracked meanwhile, and of which none has changed: all arrays, the statistic too,
// are put in order on the device.
orr_result orr_cuda_splat_steps_select(orr_cuda_splat_steps *steps, const orr_splat_params *params,
                                       orr_error *error);

// The bilateral grids of all images to the device, and from it.
orr_result orr_cuda_splat_steps_write_grids(orr_cuda_splat_steps *steps, const orr_photo_grid *grids,
                                            orr_error *error);
orr_result orr_cuda_splat_steps_read_grids(orr_cuda_splat_steps *steps, orr_photo_grid *grids,
                                           orr_error *error);
// orr_photo_grids_centre there, of `count` different images.
orr_result orr_cuda_splat_steps_centre_grids(orr_cuda_splat_steps *steps, const int *images, int count,
                                             orr_error *error);

// Is the photo of that image, made smaller by that factor, on the device?
bool orr_cuda_splat_steps_has(const orr_cuda_splat_steps *steps, int image, int shrink);

typedef struct orr_cuda_splat_step {
    int image, shrink;
    const orr_splat_photo_picture *photo; // NULL when the device has it
    const orr_lens *lens;
    bool antialias;
    float background[3];
    const float *exposure; // 3x4, row by row; NULL: none
    int64_t grid_steps;    // of the photo's grid, with this one; 0: there is none
    float grid_rate;
    float alpha_weight, dissimilarity; // as in orr_compose_job and orr_picture_loss
    const orr_depth_seen *depths;      // NULL: depth is not in the loss
    float depth_weight;                // as in orr_depth_job
    orr_splat_rates rates;
    uint32_t seed, step;
    bool motion;    // is the camera's wanted?
    bool magnitude; // is the statistic of divisions, which the parameters have?
} orr_cuda_splat_step;

typedef struct orr_cuda_splat_stepped {
    double loss;
    double by_exposure[ORR_EXPOSURE]; // where there is an exposure
    double motion[6];                 // of splat_views.h, where it is wanted
    int64_t evaluated;                // splat-pixels: pairs of a splat and a tile times the tile's pixels
} orr_cuda_splat_stepped;

// Of all splats, what they weigh in the photo of a step: the sum of their blending weights over the pixels
// that are learned from. first: the sums begin with this photo, else they are added to those before. Of the
// step image, shrink, photo, lens and antialias are used.
orr_result orr_cuda_splat_steps_weigh(orr_cuda_splat_steps *steps, const orr_cuda_splat_step *step,
                                      bool first, orr_error *error);
// The sums so far, one for each splat.
orr_result orr_cuda_splat_steps_read_weights(orr_cuda_splat_steps *steps, double *weights, orr_error *error);

// One step. Steps whose exposure and motion are not wanted are not waited for: `stepped` is then of the step
// before, or of the last one that was, and errors of the device may show in a later call. profile: the stages
// of what was waited for are added; it must live until the next call.
orr_result orr_cuda_splat_steps_take(orr_cuda_splat_steps *steps, const orr_cuda_splat_step *step,
                                     orr_cuda_splat_stepped *stepped, orr_profile *profile, orr_error *error);
