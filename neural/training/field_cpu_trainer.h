// Training a field with one network on the CPU, for field_trainer.c: what orr_cuda_field_trainer is for a
// CUDA device.
//
// Blocks of a batch go forward through encoding and network, to the loss, and backward; fixed chunks of
// blocks keep their own weight gradients, which are added in the order of chunks. The grid's gradients are
// scattered level by level, each level by one thread in the order of samples. All sums have a fixed order:
// the bits are the same for any number of threads.
#pragma once

#include "engine/core/profile.h"
#include "neural/fields/field.h"

typedef struct orr_field_cpu_trainer orr_field_cpu_trainer;

// field, jobs and profile are borrowed; the field's parameters are trained in place. batch_size: a multiple
// of ORR_SAMPLES. slope_weight: as in orr_sample_source.
orr_result orr_field_cpu_trainer_create(orr_field *field, orr_jobs *jobs, int batch_size, float slope_weight,
                                        orr_profile *profile, orr_field_cpu_trainer **trainer,
                                        orr_error *error);
void orr_field_cpu_trainer_destroy(orr_field_cpu_trainer *trainer); // NULL is allowed
// One step on a batch, in blocks: positions (dims x ORR_SAMPLES) and targets (channels x ORR_SAMPLES).
// Returns the sum of the losses before it.
double orr_field_cpu_trainer_step(orr_field_cpu_trainer *trainer, const float *positions,
                                  const float *targets);
// To be called after the field's parameters were changed from outside.
void orr_field_cpu_trainer_set_weights(orr_field_cpu_trainer *trainer);
// Of the network's parameters, and of the grid's; NULL: it has none.
orr_optimizer *orr_field_cpu_trainer_network_optimizer(const orr_field_cpu_trainer *trainer);
orr_optimizer *orr_field_cpu_trainer_table_optimizer(const orr_field_cpu_trainer *trainer);
