// Training a field with one network: an image, a signed distance, a volume.
//
// A step takes a batch of samples (sample_batches.h), whose values come from a source (sample_source.h),
// through encoding and network to the loss, its gradients, and the optimisers. Steps are taken on the CPU
// (field_cpu_trainer.h), with the same bits for any number of threads, or on a CUDA device
// (neural/cuda/field_trainer.h).
#pragma once

#include "engine/core/profile.h"
#include "neural/fields/field.h"
#include "neural/training/sample_source.h"

typedef struct orr_field_trainer orr_field_trainer;

typedef struct orr_field_trainer_desc {
    orr_field *field; // borrowed, as the jobs are; its parameters are trained in place
    orr_jobs *jobs;
    orr_sample_source source;
    int batch_size; // samples per step, rounded up to whole blocks; 0: 2^16
    // Where steps are taken: NULL: the CPU. Otherwise borrowed: batches are drawn on the CPU and learnt on
    // the device, with halves for factors; the same bits again on the same GPU but for the order in which its
    // atomics add.
    struct orr_cuda *cuda;
} orr_field_trainer_desc;

orr_result orr_field_trainer_create(const orr_field_trainer_desc *desc, orr_field_trainer **trainer,
                                    orr_error *error);
void orr_field_trainer_destroy(orr_field_trainer *trainer); // NULL is allowed
// One step; *loss is the mean over the batch's values before it. Allocates nothing after the first steps.
orr_result orr_field_trainer_step(orr_field_trainer *trainer, double *loss, orr_error *error);
// Shows the field what was learnt (orr_field_refresh): the averages, where the configuration has them, which
// the field borrows until the trainer is destroyed. It then shows the parameters as trained. Only CUDA can
// fail.
orr_result orr_field_trainer_refresh(orr_field_trainer *trainer, orr_error *error);

int64_t orr_field_trainer_steps(const orr_field_trainer *trainer);
int orr_field_trainer_batch_size(const orr_field_trainer *trainer);
// Time by stage since creation: sample, network, scatter, optimise.
const orr_profile *orr_field_trainer_profile(const orr_field_trainer *trainer);

// Everything that another trainer of the same field, source and batch size needs to continue with the same
// bits. Loading checks that it fits, and sets the field's parameters too. The state does not depend on the
// device: a training can continue on another. Saving makes the field's parameters those as trained; only CUDA
// can fail.
size_t orr_field_trainer_state_size(const orr_field_trainer *trainer);
orr_result orr_field_trainer_state_save(const orr_field_trainer *trainer, void *state, orr_error *error);
orr_result orr_field_trainer_state_load(orr_field_trainer *trainer, const void *state, size_t size,
                                        orr_error *error);
