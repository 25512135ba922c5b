// Training a radiance field on the CPU, for nerf_trainer.c: what orr_cuda_nerf_trainer is for a CUDA device.
//
// One step: ORR_NERF_GROUPS groups of rays are marched, compared and differentiated by any free thread
// (nerf_batch.h); the groups' network gradients are summed in the groups' order; the features' gradients are
// scattered into the table level by level, each level by one thread, in the order of groups, blocks and
// samples; the optimisers step. No sum depends on which thread did what, so the bits do not depend on the
// number of threads. The price: the scatter runs on no more threads than the grid has levels (8 or 16), and
// reads a group's blocks once per level. Measured on lego with two threads: 246 ns of CPU time per sample,
// against 214 when two threads add into one table without order (`fast_scatter`): 13 % of the scatter, which
// is a sixth of a step, so 2 % of training.
#pragma once

#include "engine/core/profile.h"
#include "neural/capture/ray_camera.h"
#include "neural/fields/field.h"
#include "neural/fields/occupancy.h"
#include "neural/nerf/training_progress.h"
#include "neural/network/optimizer.h"
#include "neural/training/nerf_training.h"

struct orr_proposal_trainer;

typedef struct orr_nerf_cpu_trainer orr_nerf_cpu_trainer;

// All pointers are borrowed, and what is not const is changed by steps.
typedef struct orr_nerf_cpu_trainer_desc {
    const orr_nerf_trainer_desc *train;
    orr_field *field;
    const orr_ray_camera *cameras;           // one per image to learn from
    orr_occupancy *grid;                     // culled; not used with proposals
    float *exposures;                        // 3 per image to learn from
    orr_optimizer_config exposure_optimizer; // used when train->exposures
    orr_nerf_training_progress *progress;
    orr_profile *profile;
} orr_nerf_cpu_trainer_desc;

orr_result orr_nerf_cpu_trainer_create(const orr_nerf_cpu_trainer_desc *desc, orr_nerf_cpu_trainer **trainer,
                                       orr_error *error);
void orr_nerf_cpu_trainer_destroy(orr_nerf_cpu_trainer *trainer); // NULL is allowed
// coarseness: length of the march's steps, in the smallest (orr_nerf_stepping).
void orr_nerf_cpu_trainer_step(orr_nerf_cpu_trainer *trainer, double coarseness,
                               orr_nerf_step_report *report);
// To be called after the field's parameters were changed from outside.
void orr_nerf_cpu_trainer_set_weights(orr_nerf_cpu_trainer *trainer);
// What inference uses, as orr_optimizer_average.
void orr_nerf_cpu_trainer_average(const orr_nerf_cpu_trainer *trainer, float *network, float *rgb_network,
                                  float *table);

// For states: of network, colour network, table and exposures, in this order; NULL: there is none.
enum { ORR_NERF_OPTIMIZERS = 4 };
orr_optimizer *orr_nerf_cpu_trainer_optimizer(const orr_nerf_cpu_trainer *trainer, int optimizer);
struct orr_proposal_trainer *orr_nerf_cpu_trainer_proposal(const orr_nerf_cpu_trainer *trainer); // NULL: none
