// Training a radiance field on a CUDA device, for training/nerf_trainer.c: photos, rays, samples, both
// networks, optimisers and the occupancy grid are there. A step is two launches: one that sets the number of
// the step, and a graph.
//
// The graph reads its sizes from the device. Rays are drawn (the CPU's, by the same counters) and marched to
// their ends twice, first to count their samples, then, behind a running sum, to write them; infer computes
// their densities; rays are weighed, and a second running sum packs the samples that show. infer colours
// those, a ray's thread composites them and computes the gradient of the loss; train propagates it through
// the colour network, whose inputs are the density network's outputs and the direction, then through the
// density network into the table. The optimisers' rates and the number of rays for the next step are found on
// the device too. A second graph, when it is due, updates the grid. Steps are put into the stream and not
// waited for: the host is at most four steps ahead and reads the figures of the one that is done. Per step:
// 19 kernels, of which 4 have the networks; with an update of a grid of c cascades c + 7 more. Rays for whose
// samples do not fit (8 times the target marched, twice the target kept) are left out.
#pragma once

#include "engine/device/cuda.h"
#include "neural/capture/capture.h"
#include "neural/capture/ray_camera.h"
#include "neural/fields/field.h"
#include "neural/fields/occupancy.h"
#include "neural/nerf/training_progress.h"

typedef struct orr_cuda_nerf_trainer orr_cuda_nerf_trainer;

typedef struct orr_cuda_nerf_trainer_desc {
    const orr_field *field; // without proposals; its parameters are where training begins
    const orr_capture *capture;
    const int *images; // image_count: those to learn from
    int image_count;
    const orr_ray_camera *cameras; // one per image to learn from
    const orr_occupancy *grid;     // culled
    bool exposures;                // learn a gain per image and channel
    orr_optimizer_config exposure_optimizer;
    // samples with a gradient per step that the number of rays is adapted to; as many sampled per update
    int target_samples;
    uint32_t seed;
} orr_cuda_nerf_trainer_desc;

typedef struct orr_cuda_nerf_step_report {
    double loss; // sum over rays and channels
    int64_t rays, evaluated, samples;
} orr_cuda_nerf_step_report;

enum { ORR_CUDA_NERF_OPTIMIZERS = 4 }; // of network, colour network, table and exposures, in this order

orr_result orr_cuda_nerf_trainer_create(orr_cuda *cuda, const orr_cuda_nerf_trainer_desc *desc,
                                        orr_cuda_nerf_trainer **training, orr_error *error);
void orr_cuda_nerf_trainer_destroy(orr_cuda_nerf_trainer *training); // NULL is allowed
// One step. `coarseness`: of the strides (orr_nerf_stepping). The report is that of the last step that is
// done, up to ORR_CUDA_NERF_AHEAD before this one.
enum { ORR_CUDA_NERF_AHEAD = 4 };
orr_result orr_cuda_nerf_trainer_step(orr_cuda_nerf_trainer *training, double coarseness,
                                      orr_cuda_nerf_step_report *report, orr_error *error);

// ---- between host and device; these wait ----

// The host's copies of what the device has; NULL: not read.
typedef struct orr_cuda_nerf_copy {
    float *network, *rgb_network, *table; // as trained
    float *network_average, *rgb_average, *table_average;
    float *thickness;                     // of the grid's cells
    float *exposures;                     // 3 per image
    orr_nerf_training_progress *progress; // but for bundle_rays, which stays as it is
} orr_cuda_nerf_copy;
orr_result orr_cuda_nerf_trainer_read(orr_cuda_nerf_trainer *training, const orr_cuda_nerf_copy *to,
                                      orr_error *error);
// Goes on from these (no averages); what is NULL stays as it is.
orr_result orr_cuda_nerf_trainer_write(orr_cuda_nerf_trainer *training, const orr_cuda_nerf_copy *from,
                                       orr_error *error);
// An optimiser's state (orr_optimizer_state_save); size 0: there is none.
size_t orr_cuda_nerf_trainer_optimizer_size(const orr_cuda_nerf_trainer *training, int optimizer);
orr_result orr_cuda_nerf_trainer_optimizer_save(const orr_cuda_nerf_trainer *training, int optimizer,
                                                void *state, orr_error *error);
orr_result orr_cuda_nerf_trainer_optimizer_load(orr_cuda_nerf_trainer *training, int optimizer,
                                                const void *state, size_t size, orr_error *error);
