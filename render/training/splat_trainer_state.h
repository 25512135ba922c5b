// A trainer of splats between its stages: what the files of a step share.
#pragma once

#include "render/draw.h"
#include "render/training/cuda/splat_steps.h"
#include "render/training/picture/picture_compose.h"
#include "render/training/splat_params.h"
#include "render/training/splat_photos.h"
#include "render/training/splat_trainer.h"
#include "render/training/splat_training.h"
#include "render/training/splat_views.h"

struct orr_splat_trainer {
    orr_splat_trainer_desc desc;
    orr_splat_photo *photos; // with the poses of `views`
    orr_splat_view *views;   // of all images of the capture; those held out stay as they begin
    orr_photo_grid *grids;   // likewise; NULL: photos have none
    int *images;             // of the desc, shuffled in every epoch
    float extent;
    float background[3];
    orr_splat_params params;
    int64_t step, rest_steps;     // taken, and those of the higher harmonics
    double progress;              // of the last step
    int64_t seeds;                // points of the capture that splats began at
    orr_cuda_splat_steps *device; // takes the steps; NULL: the CPU does
    bool device_ahead;            // its parameters are newer than `params`
    bool device_behind;           // or older
    bool grids_ahead;             // its grids are newer than `grids`; never older
    orr_arena arena;              // of a step
    orr_profile profile;
};

// What a step is to do, on either machine.
typedef struct orr_splat_plan {
    int image, shrink;
    orr_lens lens;
    orr_splat_rates rates;
    orr_splat_view_rates view_rates;
    bool moves;     // the camera
    bool magnitude; // is the statistic of divisions wanted?
} orr_splat_plan;

// What a step found out of the photo's own; the splats have moved.
typedef struct orr_splat_found {
    double loss;
    double by_exposure[ORR_EXPOSURE]; // where there are exposures
    double motion[ORR_MOTION];        // where the camera moves
    int64_t evaluated;
} orr_splat_found;

// A step on the device.
orr_result orr_splat_trainer_descend_cuda(orr_splat_trainer *trainer, const orr_splat_plan *plan,
                                          orr_splat_found *found, orr_error *error);
// Relocations or divisions of the device's splats, which are `rearrange` of those of the trainer: only what
// these look at comes to the host.
orr_result orr_splat_trainer_rearrange_cuda(orr_splat_trainer *trainer, int64_t target,
                                            orr_result (*rearrange)(orr_splat_trainer *trainer,
                                                                    int64_t target, orr_error *error),
                                            orr_error *error);
// Brings `params` and what is drawn of them up to date with the device.
orr_result orr_splat_trainer_fetch(orr_splat_trainer *trainer, orr_error *error);
// And `grids`, where there are some.
orr_result orr_splat_trainer_fetch_grids(orr_splat_trainer *trainer, orr_error *error);

// The splats as a camera sees them.
typedef struct orr_splat_drawing {
    orr_splat_pack pack;
    orr_draw_splats layer;
    orr_draw_list list;
    orr_cpu_frame *frame;
    float *rgba;  // height x width x 4, without background
    float *depth; // height x width, mean by weight; NULL: nobody asks
} orr_splat_drawing;

// Memory is the arena's. depth: whether it is wanted.
orr_result orr_splat_trainer_draw(const orr_splat_trainer *trainer, const orr_lens *lens, bool depth,
                                  orr_arena *arena, orr_splat_drawing *drawing, orr_profile *profile,
                                  orr_error *error);
// Which record each splat of a drawing has, and its rows, in the arena: one for each tile of its box. `rows`
// says what they are to have.
orr_result orr_splat_trainer_plan_rows(orr_splat_trainer *trainer, const orr_splat_drawing *drawing,
                                       orr_splat_rows *rows, orr_error *error);
// Fills the rows: a job for each tile, of `job` with the tile's place.
void orr_splat_trainer_run_tiles(const orr_splat_trainer *trainer, const orr_splat_backward_job *job);
// What splats matter to the photos learned from, as these are compared at this progress: the sum over their
// pixels of a splat's blending weight. weights: one for each splat.
orr_result orr_splat_trainer_weights(orr_splat_trainer *trainer, double progress, double *weights,
                                     orr_error *error);
// The same, on the device.
orr_result orr_splat_trainer_weights_cuda(orr_splat_trainer *trainer, double progress, double *weights,
                                          orr_error *error);
// Removes the share of the splats that has the least weights.
orr_result orr_splat_trainer_prune(orr_splat_trainer *trainer, double progress, double share,
                                   orr_error *error);
// Parameters become what is drawn.
void orr_splat_trainer_prepare(const orr_splat_trainer *trainer);
int orr_splat_trainer_update_jobs(const orr_splat_trainer *trainer);

#define ORR_SPLAT_DISSIMILARITY 0.2f // its share of the loss of colours
#define ORR_SPLAT_ALPHA_WEIGHT 0.1f  // of the mean |alpha - that of the photo|

extern const orr_training_kernels orr_splat_training_kernels[ORR_ISA_COUNT];
