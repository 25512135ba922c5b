// Photos of a capture become a splat cloud: stochastic gradient descent through the drawing of splats (Kerbl
// et al. 2023), with the relocations and the noise of 3DGS-MCMC (Kheradmand et al. 2024). On the CPU, with
// the same bits for any number of threads, or on a CUDA device.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/device/cuda.h"
#include "neural/capture/capture.h"
#include "render/splat/splat_cloud.h"
#include "render/training/splat_photos.h"
#include "render/training/splat_points.h"

typedef struct orr_splat_trainer orr_splat_trainer;

// How splats get where they are missing.
typedef enum orr_splat_strategy {
    ORR_SPLAT_MCMC, // relocations and noise (Kheradmand et al. 2024)
    ORR_SPLAT_ADC,  // divisions by absolute gradients (Kerbl et al. 2023, Ye et al. 2024)
} orr_splat_strategy;

#define ORR_SPLAT_DEPTH_WEIGHT_MAX 100.0f
#define ORR_SPLAT_PRUNE_MAX 0.95f

typedef struct orr_splat_trainer_desc {
    const orr_capture *capture; // must live as long as the trainer
    const int *images;          // image_count: those to learn from
    int image_count;
    // Of the capture, where splats begin; must live as long as the trainer. NULL, or fewer than a training
    // begins with: the others begin at random points that photos agree on.
    const orr_splat_points *points;
    orr_jobs *jobs;
    orr_isa isa;
    int64_t splats; // no more than these, 1 .. 2^28
    int sh_degree;  // 0 .. 3
    orr_splat_strategy strategy;
    bool antialias; // draw and save with the Mip-Splatting 2D filter
    // Learn an affine map of display colours for each photo (Kerbl et al. 2023), whose mean stays the
    // identity.
    bool exposures;
    // Instead, learn a bilateral grid of such maps for each photo (picture_grid.h), likewise.
    bool bilateral_grid;
    orr_splat_masks masks;
    orr_splat_lenses lenses;
    // Refine the poses of the photos that are learned from.
    bool refine_poses;
    // Of the loss of depths at the points that photos see (splat_depth.h), in units of the cameras' extent;
    // 0: none, else `points` must say which photos see them.
    float depth_weight;
    // The share of the splats that goes in the second half of a training, those that matter least to the
    // photos (splat_prune.c), 0 .. ORR_SPLAT_PRUNE_MAX; 0: none.
    float prune;
    uint32_t seed;
    // Take the steps on this device; NULL: on the CPU, which draws, relocates and divides splats anyway.
    orr_cuda *cuda;
    // A file of orr_splat_trainer_save to go on from, to the same bits; its numbers and switches take the
    // place of those above. NULL: from the beginning.
    const char *resume;
} orr_splat_trainer_desc;

typedef struct orr_splat_step_report {
    // 0.8 L1 + 0.2 (1 - SSIM) of this step's picture, and of alpha and depth. On CUDA, where neither
    // exposures nor poses are learned: of the step before, since this one may still run; at first, its own.
    double loss;
    int64_t splats;    // now
    int64_t evaluated; // splat-pixels that were drawn, likewise
} orr_splat_step_report;

// ORR_ERROR_ARGUMENT: numbers out of range, too few photos, cameras all in one place, a state learned from
// other photos, depths of points that no photo sees. ORR_ERROR_FILE, ORR_ERROR_FORMAT: a state that
// cannot be read.
orr_result orr_splat_trainer_create(const orr_splat_trainer_desc *desc, orr_splat_trainer **trainer,
                                    orr_error *error);
void orr_splat_trainer_destroy(orr_splat_trainer *trainer); // NULL is allowed
// Other splats than the desc's, 1 .. 2^28, before the first step; those that there are stay.
void orr_splat_trainer_allow(orr_splat_trainer *trainer, int64_t splats);

// One photo, one step. progress: how much of the training is over, 0 .. 1, from which the schedules of
// learning rates, sizes of pictures, numbers of splats and degrees of harmonics follow.
orr_result orr_splat_trainer_step(orr_splat_trainer *trainer, double progress, orr_splat_step_report *report,
                                  orr_error *error);

// A photo, without its lens's distortion unless that is kept, beside the splats' picture of it, both over the
// background of the training, 3 planes' values side by side: height x width x 3. A mask's pixels are equal in
// both. Where exposures or grids are learned, the picture has its photo's; the exposure of a photo held out
// is fitted to its left half by least squares, and the mask leaves the right half alone, which is compared.
typedef struct orr_splat_comparison {
    int width, height;
    float *photo, *drawn; // 0 .. 1
    const uint8_t *mask;  // height x width, 0: left out; NULL: all count
} orr_splat_comparison;

// Image `index` of the capture, smaller by a whole factor. Memory is the arena's.
orr_result orr_splat_trainer_compare(orr_splat_trainer *trainer, int index, int shrink, orr_arena *arena,
                                     orr_splat_comparison *comparison, orr_error *error);
// PSNR [dB] and SSIM of a comparison of bytes, over the pixels that count.
orr_result orr_splat_comparison_score(const orr_splat_comparison *comparison, orr_jobs *jobs, double *psnr,
                                      double *ssim, orr_error *error);

// The camera of image `index` of the capture, as known now: its pose refined, or as in the file.
orr_camera orr_splat_trainer_camera(const orr_splat_trainer *trainer, int index);

// The cloud as it is now, in the world of the capture's file, without splats that draw nothing.
orr_result orr_splat_trainer_cloud(orr_splat_trainer *trainer, orr_splats **splats, orr_error *error);

typedef struct orr_splat_progress {
    int64_t steps;   // all that were taken, before `resume` too
    double progress; // that of the last
    bool refines_poses, keeps_lenses;
    int64_t splats; // now
    int64_t seeds;  // points of the capture that splats began at; 0 after `resume`
} orr_splat_progress;

orr_splat_progress orr_splat_trainer_progress(const orr_splat_trainer *trainer);
// What `resume` reads: 12 bytes for each number of a splat (236 million bytes for 300,000 of degree 3).
orr_result orr_splat_trainer_save(orr_splat_trainer *trainer, const char *path, orr_error *error);

const orr_profile *orr_splat_trainer_profile(const orr_splat_trainer *trainer); // of all steps
