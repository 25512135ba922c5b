// Parameters of the kernels that train a radiance field: nerf_rays.cu has those of rays and samples,
// nerf_grid.cu those of the occupancy grid.
//
// All launches are the same at every step, so that a graph can record them: numbers that change, and those
// that only the device knows, are in orr_cuda_nerf_now.
#pragma once

#include "neural/capture/ray_camera.h"
#include "neural/cuda/model_pass.h"
#include "neural/cuda/optimizer.h"
#include "neural/fields/field.h"
#include "neural/fields/occupancy_cell.h"
#include "neural/nerf/march_formula.h"
#include "neural/nerf/training_progress.h"
#include "neural/nerf/training_ray.h"

typedef struct orr_cuda_nerf_photo {
    orr_ray_camera camera;
    int64_t pixels, mask; // offsets into the bytes of all photos; mask -1: none
    int channels;
} orr_cuda_nerf_photo;

typedef struct orr_cuda_nerf_ray {
    real3 origin, direction;
    float at, end;       // the first sample in stepping space; the distance at which the ray ends
    float transmittance; // behind its samples
    nerf_target target;  // image -1: the ray takes no part
} orr_cuda_nerf_ray;

// What a kept sample contributes to the composite.
typedef struct orr_cuda_nerf_sample {
    float distance, step, weight, transmittance;
} orr_cuda_nerf_sample;

// Parameters of a step that the host sets.
typedef struct orr_cuda_nerf_begin {
    int64_t step, updates;
    march_stepping stepping;
    float learning_rate, exposure_rate;
} orr_cuda_nerf_begin;

typedef struct orr_cuda_nerf_now {
    orr_cuda_nerf_begin begin;
    orr_nerf_training_progress progress; // its step is the number of steps done
    uint32_t ray_count;                  // of this step
    uint32_t marched, kept;              // samples, clamped to the capacities
    uint32_t marched_total, kept_total;
    double loss;
    orr_cuda_optimizer_now weights, exposures;
    // of the occupancy grid
    float mean;
    uint32_t words;                     // of 32 cells, constant
    uint32_t live_count, sampled_count; // cells that may be sampled, and those among them that are marched
    uint32_t position_count;            // sampled by this update
} orr_cuda_nerf_now;

typedef struct orr_cuda_nerf_grid {
    int cascades;
    float *thickness; // as in occupancy.h, and the next three
    uint32_t *bits, *blocks, *live;
    uint32_t *live_words, *sampled_words;   // bits set in each word of live, and of live and bits
    uint32_t *live_before, *sampled_before; // running sums of these
    double *sums;     // of the first cascade's thickness, in ORR_CUDA_GRID_SUMS stretches
    uint32_t *cells;  // that an update samples: 2 update_samples
    float *positions; // 3 x ORR_SAMPLES per block, contracted
} orr_cuda_nerf_grid;

enum { ORR_CUDA_GRID_SUMS = 64, ORR_CUDA_NERF_RAY_INPUTS = 3 };

typedef struct orr_cuda_nerf_pass {
    orr_cuda_nerf_now *now;
    const orr_cuda_nerf_photo *photos;
    const uint8_t *bytes; // of all photos
    int image_count, aabb_scale, target_samples, update_samples;
    uint32_t seed;
    orr_loss_kind loss;
    uint32_t marched_capacity, kept_capacity; // samples, whole blocks
    orr_cuda_nerf_grid grid;
    const float *exposures; // log2 of the gain, 3 per image; NULL: none
    float *exposure_gradient;
    // per ray
    orr_cuda_nerf_ray *rays;
    uint32_t *marched_counts, *marched_first, *kept_counts, *kept_first;
    // per marched sample
    float *positions; // 3 x ORR_SAMPLES per block, contracted
    float *distances, *steps;
    float
        *outputs; // ORR_NERF_FEATURES x ORR_SAMPLES per block: of the network; also of an update's positions
    // per kept sample
    float *kept_positions; // 3 x ORR_SAMPLES per block
    float *rgb_inputs;     // outputs of the network and direction: rgb_dims x ORR_SAMPLES per block
    orr_cuda_nerf_sample *samples;
    float *rgb_outputs, *rgb_gradient; // 3 x ORR_SAMPLES per block
    float *density_gradient;           // by the raw density
    float *rgb_input_gradient;         // rgb_dims x ORR_SAMPLES per block
    float *output_gradient;            // ORR_NERF_FEATURES x ORR_SAMPLES per block
} orr_cuda_nerf_pass;

enum { ORR_CUDA_NERF_RGB_DIMS = ORR_NERF_FEATURES + ORR_CUDA_NERF_RAY_INPUTS };

// A step, in this order, with the networks in between. blocks: how many thread blocks go through rays and
// samples.
void orr_cuda_nerf_begin_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass,
                                const orr_cuda_nerf_begin *begin);
void orr_cuda_nerf_draw_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks);
void orr_cuda_nerf_march_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks);
void orr_cuda_nerf_weigh_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks);
void orr_cuda_nerf_keep_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks);
void orr_cuda_nerf_compare_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks);
void orr_cuda_nerf_join_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks);
void orr_cuda_nerf_end_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass);

// An update of the occupancy grid: draws positions, then takes in their densities, which the network computes
// between.
void orr_cuda_grid_draw_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass);
void orr_cuda_grid_decay_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass);
void orr_cuda_grid_raise_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass);
// Everything that follows from the thickness.
void orr_cuda_grid_sum_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass);
void orr_cuda_grid_mark_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int cascade);
