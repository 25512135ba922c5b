// A training of splats on the device, for the files that keep its memory (splat_memory.c) and run its steps
// (splat_steps.c).
#pragma once

#include "render/cuda/stages.h"
#include "render/training/cuda/splat_pass.h"
#include "render/training/cuda/splat_steps.h"
#include "render/training/splat_views.h"

// A photo on the device.
typedef struct orr_cuda_photo {
    int shrink; // 0: there is none
    orr_loss_planes planes;
    orr_cuda_buffer values, kept, alpha;
    bool has_kept, has_alpha;
} orr_cuda_photo;

// The ends of stages on the device's clock, behind those of drawing.
typedef enum orr_cuda_step_mark {
    ORR_CUDA_STEP_DRAWN,
    ORR_CUDA_STEP_LOSS,
    ORR_CUDA_STEP_BACKWARD,
    ORR_CUDA_STEP_UPDATE,
    ORR_CUDA_STEP_MARKS
} orr_cuda_step_mark;

// What a step leaves, on the device and then on the host.
typedef struct orr_cuda_step_totals {
    double loss[ORR_CUDA_LOSS_SUMS];
    double alpha[ORR_COMPOSE_SUMS];
    double motion[ORR_MOTION];
    double shown, depth; // points that count, and the sum of their differences
    double variation;    // of the photo's grid, as it is in the loss
} orr_cuda_step_totals;

struct orr_cuda_splat_steps {
    orr_cuda *cuda; // borrowed
    orr_cuda_stages stages;
    orr_cuda_frame frame;
    orr_cuda_seen_cloud seen; // the frame's only one
    orr_cuda_photo *photos;   // per image of the capture, and one more for those that do not stay
    int image_count;
    size_t photo_bytes, photo_bytes_most;
    orr_cuda_splat_params params;
    orr_cuda_buffer stored[3], harmonics[3], geometry, statistic[2];
    orr_cuda_buffer origin, fresh, spare; // of a new order
    orr_cuda_buffer picture, slopes[3], gradient, by_alpha, loss_sums, alpha_sums;
    orr_cuda_buffer by_depth, depth_pixel, depth_expected, depth_sums;
    orr_cuda_buffer first, counts, rows, motion_sums;
    orr_cuda_buffer weights; // of splats in photos, in double
    orr_cuda_buffer grids;   // per image; nothing: photos have none
    orr_cuda_buffer grid_cells, grid_gradient, grid_variations, centred, centre_sums;
    orr_cuda_step_totals *totals; // device
    orr_cuda_step_totals *landed; // host, pinned
    cudaEvent_t marks[ORR_CUDA_STEP_MARKS];
};

// Puts the picture of the splats into the stream, and what leads from the loss by it (a compare's gradient,
// by_alpha and by_depth) to rows.
orr_result orr_cuda_splat_steps_put_drawing(orr_cuda_splat_steps *steps, const orr_cuda_splat_step *step,
                                            orr_error *error);
orr_result orr_cuda_splat_steps_put_backward(orr_cuda_splat_steps *steps, const orr_cuda_splat_step *step,
                                             const orr_cuda_compare *compare, orr_cuda_rows *rows,
                                             orr_error *error);
// Memory for planes of the size of others.
orr_result orr_cuda_splat_steps_planes(orr_cuda_splat_steps *steps, const orr_loss_planes *like,
                                       orr_cuda_buffer *buffer, orr_loss_planes *planes, orr_error *error);
// The photo of a step, sent if it is not there.
orr_result orr_cuda_splat_steps_photo(orr_cuda_splat_steps *steps, const orr_cuda_splat_step *step,
                                      const orr_cuda_photo **photo, orr_error *error);
void orr_cuda_photo_release(orr_cuda_photo *photo);
