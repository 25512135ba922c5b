// The kernels of a training step as calls, and their parameters. All pointers are the device's; the caller
// checks cudaGetLastError.
#pragma once

#include "render/cuda/splats.h"
#include "render/training/picture/picture_compose.h"
#include "render/training/splat_training.h"

enum { ORR_CUDA_LOSS_SUMS = 2 };

// What differs between two steps on photos of one size. Kernels read it in the device's memory, so that a
// graph of a step can run again on other photos.
typedef struct orr_cuda_step_now {
    orr_cuda_eye eye;
    float *photo;                 // values of its planes, which are as large as the picture's
    const uint8_t *kept;          // height x width, 0: not to be learned from; NULL: all is
    const float *photo_alpha;     // height x width; NULL: the photo is opaque
    float exposure[ORR_EXPOSURE]; // 3x4, row by row
    orr_photo_grid *grid;         // in place of the exposure; NULL: none
    float grid_correction, grid_rate;
    orr_splat_rates rates;
    uint32_t seed, step;
} orr_cuda_step_now;

// A picture of the splats beside its photo. Planes have the margins of orr_loss_planes.
typedef struct orr_cuda_compare {
    const orr_cuda_step_now *now; // device
    int width, height;
    const float *rgba; // as drawn without background: height x width x 4
    float background[3];
    bool grid;           // through the photo's grid in place of its exposure
    float alpha_weight;  // of the mean |alpha - photo_alpha| in the loss
    float dissimilarity; // its share in the loss of colours
    const float *depth;  // height x width: drawn, the mean by weight
    float *by_depth; // height x width: the loss by the sum of weights times depths; NULL: it does not depend
    orr_loss_planes picture, slopes[3], gradient;
    float *by_alpha;   // height x width; NULL: the loss depends on alpha through the background alone, and
                       // not on depth
    float *loss_sums;  // per block ORR_CUDA_LOSS_SUMS: absolute differences, similarities
    float *alpha_sums; // per block of `compose_back` ORR_COMPOSE_SUMS
} orr_cuda_compare;

int orr_cuda_compare_blocks(const orr_cuda_compare *compare);         // that write loss_sums
int orr_cuda_compare_compose_blocks(const orr_cuda_compare *compare); // that write alpha_sums
// picture, from rgba
void orr_cuda_compose_launch(cudaStream_t stream, const orr_cuda_compare *compare);
// slopes and loss_sums, then the gradient by the picture
void orr_cuda_loss_launch(cudaStream_t stream, const orr_cuda_compare *compare);
void orr_cuda_loss_gradient_launch(cudaStream_t stream, const orr_cuda_compare *compare);
// gradient, in place: by the colours of rgba; by_alpha and alpha_sums
void orr_cuda_compose_back_launch(cudaStream_t stream, const orr_cuda_compare *compare);

// The step of a photo's bilateral grid.
typedef struct orr_cuda_grid_step {
    const orr_cuda_step_now *now;    // device
    const orr_cuda_control *control; // of the frame
    const uint32_t *halted;          // as in orr_cuda_update
    float *cells;                    // per cell the loss by its ORR_GRID_CELL numbers
    float *by_grid;                  // ORR_GRID
    float *variations;               // per block of `gradient`: what its numbers' differences add to the loss
} orr_cuda_grid_step;

enum { ORR_GRID_CELL = 4 * ORR_GRID_Z * ORR_GRID_MAP }; // of four neighbours in x and y, at each brightness

size_t orr_cuda_grid_cells(void); // of a grid
int orr_cuda_grid_blocks(void);   // that write variations
// cells, then by_grid and variations, from the gradient by the picture: before it goes back through the grid
void orr_cuda_grid_gradient_launch(cudaStream_t stream, const orr_cuda_grid_step *step,
                                   const orr_cuda_compare *compare);
// Adam's step of the grid. Nothing, when the frame had no room for all of its pairs, or one before it.
void orr_cuda_grid_advance_launch(cudaStream_t stream, const orr_cuda_grid_step *step);
// The mean of all maps of these grids becomes the identity. images: which of `grids`; sums: `count` times
// ORR_GRID_MAP
void orr_cuda_grids_centre_launch(cudaStream_t stream, orr_photo_grid *grids, const int *images, int count,
                                  double *sums);

// The points that the photo sees in the picture, as in orr_depth_seen.
typedef struct orr_cuda_depths {
    int count; // 1 or more
    const uint32_t *pixel;
    const float *expected;
    float weight;        // of the mean over points in the loss
    float *sums;         // per block: of points that count, or of their differences
    const double *shown; // how many points count
} orr_cuda_depths;

int orr_cuda_depths_blocks(const orr_cuda_depths *depths); // that write sums
// sums, of 1 for each point that counts
void orr_cuda_depths_count_launch(cudaStream_t stream, const orr_cuda_depths *depths,
                                  const orr_cuda_compare *compare);
// What each point adds to by_alpha and by_depth; sums, of their differences
void orr_cuda_depths_launch(cudaStream_t stream, const orr_cuda_depths *depths,
                            const orr_cuda_compare *compare);

// Where the gradients of each splat meet: a row of floats for each pair of a splat and a tile, in the order
// in which the frame emitted its pairs, so that those of a splat lie side by side.
typedef struct orr_cuda_rows {
    const orr_cuda_control *control; // of the frame, as all that follows
    orr_cuda_records records;
    const uint32_t *order;  // visible splats from front to back
    const uint32_t *begins; // of each of these, its first pair
    const uint32_t *pair_splats, *ranges;
    int tiles_x, tiles_y;
    uint32_t *first, *counts; // per splat: its rows
    bool depth;               // one member follows the ORR_MOMENTS
    bool magnitude;           // and then two
    float *rows;
} orr_cuda_rows;

// first and counts; counts must be 0 before it. splats: of the frame
void orr_cuda_rows_plan_launch(cudaStream_t stream, const orr_cuda_rows *rows, size_t splats);
// rows, from the gradient by the colours of rgba
void orr_cuda_backward_launch(cudaStream_t stream, const orr_cuda_rows *rows,
                              const orr_cuda_compare *compare);

// What splats weigh in a picture: the gradient by its colours that gives each pixel that counts 1 in the
// first channel and nothing else; then of each splat the sum over its rows by that channel, added to
// `weights`. Nothing is added when the frame had no room for all of its pairs.
void orr_cuda_ones_launch(cudaStream_t stream, const orr_cuda_compare *compare);
void orr_cuda_weights_launch(cudaStream_t stream, const orr_cuda_rows *rows, uint32_t splats,
                             double *weights);

// Parameters on the device, in the layout of orr_splat_params.
typedef struct orr_cuda_splat_params {
    uint32_t count;
    int degree;
    float *stored[3], *harmonics[3];
    float *geometry;
    float *statistic[2]; // NULL: there is none
} orr_cuda_splat_params;

typedef struct orr_cuda_update {
    orr_cuda_splat_params params;
    orr_cuda_rows rows;
    const orr_cuda_step_now *now; // device
    bool distorted;               // the frame was drawn through the lens of a photo
    // Becomes 1 when the frame had no room for all of its pairs, and then steps behind it do nothing either:
    // they are put again, in their order.
    uint32_t *halted;
    float *motion_sums; // per block ORR_MOTION: the loss by the camera's motion; NULL: nobody asks
} orr_cuda_update;

int orr_cuda_update_blocks(uint32_t splats); // that write motion_sums
// Adam's step of every splat, and its geometry. Nothing, when the frame had no room for all of its pairs, or
// one before it.
void orr_cuda_update_launch(cudaStream_t stream, const orr_cuda_update *update);
// Member by member of an array in blocks of splats: to[i] = from[origin[i]], or 0 where `fresh` is not, and
// behind the last of `count` splats
void orr_cuda_gather_launch(cudaStream_t stream, const float *from, float *to, const uint32_t *origin,
                            const uint8_t *fresh, uint32_t count, int members);
// geometry, from what is stored
void orr_cuda_prepare_launch(cudaStream_t stream, const orr_cuda_splat_params *params);

// to[k]: the sum over blocks of sums[block * members + k], in a fixed order
void orr_cuda_total_launch(cudaStream_t stream, const float *sums, int blocks, int members, double *to);
