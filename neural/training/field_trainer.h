// The training step that all fields with one network share: image, signed distance, volume.
//
// A step draws a batch of places, puts neighbours in space next to each other in memory, and asks for the truth there.
// Blocks of it then go forward through encoding and network, to the loss, and back; fixed chunks of blocks keep their own
// weight gradients, which are added in the order of chunks. The grid's gradients are scattered level by level, each level
// by one thread in the order of samples. All sums have a fixed order: the bits are the same for any number of threads.
#pragma once

#include "engine/core/profile.h"
#include "neural/fields/field.h"

typedef struct orr_field_trainer orr_field_trainer;

// Where samples come from. Both functions are called by several threads at once, and are pure: the same arguments give the
// same samples, whatever the number of threads, and after a resume.
typedef struct orr_sample_source {
    void *context;
    // Places of samples first .. first + count - 1 of the `total` in batch number `batch`: count x dims, each in 0 .. 1
    void (*draw)(void *context, uint32_t batch, int first, int count, int total, float *places);
    // What the field should say at one block of places (dims x ORR_SAMPLES): targets (channels x ORR_SAMPLES). A sample
    // whose target is not finite teaches nothing.
    void (*truth)(void *context, const float *places, float *targets);
    // Truth that costs more than a step (distances to a mesh) is used more than once: so many batches stay in memory, and
    // the oldest of them is drawn anew every so many steps. 1 and 1: every step has samples of its own.
    int batches_kept, steps_per_batch;
    // Above zero: samples 2 i and 2 i + 1 are drawn near each other and stay side by side, and the field's slope from one to
    // the other is compared with the truth's, as L1 with this weight ("Sobolev training", Czarnecki et al. 2017, by finite
    // differences). Values alone leave the slope of a field free below the distance between samples.
    float slope_weight;
} orr_sample_source;

typedef struct orr_field_trainer_desc {
    orr_field *field; // borrowed, as the jobs are; its parameters are trained in place
    orr_jobs *jobs;
    orr_sample_source source;
    int batch_size; // samples per step, rounded up to whole blocks; 0: 2^16
    // Where steps are taken: NULL: the CPU. Otherwise borrowed: batches are drawn on the CPU and learnt on the device, with
    // halves for factors; the same bits again on the same card but for the order in which its atomics add.
    struct orr_cuda *cuda;
} orr_field_trainer_desc;

orr_result orr_field_trainer_create(const orr_field_trainer_desc *desc, orr_field_trainer **trainer,
                                    orr_error *error);
void orr_field_trainer_destroy(orr_field_trainer *trainer); // NULL is allowed
// One step; *loss is the mean over the batch's values before it. Allocates nothing after the first steps.
orr_result orr_field_trainer_step(orr_field_trainer *trainer, double *loss, orr_error *error);
// Shows the field what was learnt (orr_field_refresh): the averages, where the configuration has them, which the field
// borrows until the trainer is destroyed. It then shows the parameters as trained. Only CUDA can fail.
orr_result orr_field_trainer_refresh(orr_field_trainer *trainer, orr_error *error);

int64_t orr_field_trainer_steps(const orr_field_trainer *trainer);
int orr_field_trainer_batch_size(const orr_field_trainer *trainer);
// Time by stage since creation: sample, network, scatter, optimise.
const orr_profile *orr_field_trainer_profile(const orr_field_trainer *trainer);

// Everything that another trainer of the same field, source and batch size needs to go on to the same bits. Loading
// checks that it fits, and sets the field's parameters too. The state says nothing of the machine: a training goes on on
// another. Saving makes the field's parameters those as trained; only CUDA can fail.
size_t orr_field_trainer_state_size(const orr_field_trainer *trainer);
orr_result orr_field_trainer_state_save(const orr_field_trainer *trainer, void *state, orr_error *error);
orr_result orr_field_trainer_state_load(orr_field_trainer *trainer, const void *state, size_t size,
                                        orr_error *error);
