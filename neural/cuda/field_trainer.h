// A training step on a CUDA device, for training/field_trainer.c: forward, loss, backward, scatter and both
// optimisers in four launches. The batch comes from the host, as the source drew it; parameters and all state
// stay on the device until they are read.
#pragma once

#include "engine/device/cuda.h"
#include "neural/fields/field.h"

typedef struct orr_cuda_field_trainer orr_cuda_field_trainer;

// The field's parameters are where it begins. batch_size: samples of a step, whole blocks.
orr_result orr_cuda_field_trainer_create(orr_cuda *cuda, const orr_field *field, int64_t batch_size,
                                         orr_cuda_field_trainer **training, orr_error *error);
void orr_cuda_field_trainer_destroy(orr_cuda_field_trainer *training); // NULL is allowed
// One step from blocks of positions and targets; *loss: sum over all values before it.
orr_result orr_cuda_field_trainer_step(orr_cuda_field_trainer *training, const float *positions,
                                       const float *targets, double *loss, orr_error *error);
// The parameters, and their averages; NULL: not read.
orr_result orr_cuda_field_trainer_read(orr_cuda_field_trainer *training, float *network, float *table,
                                       float *network_average, float *table_average, orr_error *error);
// Sizes and bytes of the optimisers' states (orr_optimizer_state_save); table: 0 without one.
size_t orr_cuda_field_trainer_network_state(const orr_cuda_field_trainer *training);
size_t orr_cuda_field_trainer_table_state(const orr_cuda_field_trainer *training);
orr_result orr_cuda_field_trainer_save(const orr_cuda_field_trainer *training, void *network_state,
                                       void *table_state, orr_error *error);
// Goes on from these, with the parameters of the field as they are now.
orr_result orr_cuda_field_trainer_load(orr_cuda_field_trainer *training, const orr_field *field,
                                       const void *network_state, const void *table_state, orr_error *error);
