// Optimisers.
#pragma once

#include "engine/core/jobs.h"
#include "neural/network/config.h"

// Adam (Kingma and Ba 2015) or SGD over one run of parameters. Lazy: parameters of a grid whose gradient is
// exactly zero are skipped: no moment or weight of theirs changes (as tiny-cuda-nn skips them), and blocks of
// 16 that were never marked as touched are not even read. The bias correction counts each parameter's own
// steps, up to 65535.
typedef struct orr_optimizer orr_optimizer;

// lazy: for grid tables; otherwise every parameter moves at every step and l2_reg applies.
orr_result orr_optimizer_create(const orr_optimizer_config *config, int64_t parameter_count, bool lazy,
                                orr_optimizer **optimizer, orr_error *error);
void orr_optimizer_destroy(orr_optimizer *optimizer); // NULL is allowed
// One step: parameters and their gradients (parameter_count floats); gradients and marks that were used are
// set to zero. touched: lazy only, one bit per 16 floats in orr_touched_words words. Same bits for any number
// of threads.
void orr_optimizer_step(orr_optimizer *optimizer, orr_jobs *jobs, float *parameters, float *gradients,
                        uint32_t *touched);
// What inference uses, into `average` (parameter_count floats): the exponential moving average over all steps
// when the config has one, otherwise the parameters themselves. The average of parameters that rest is not
// updated step by step but caught up here, so this reads everything and changes nothing: call it when the
// average is needed, not at every step.
void orr_optimizer_average(const orr_optimizer *optimizer, orr_jobs *jobs, const float *parameters,
                           float *average);
// From the next step on.
void orr_optimizer_set_learning_rate(orr_optimizer *optimizer, double rate);
int64_t orr_optimizer_steps(const orr_optimizer *optimizer);
// Learning rate of step number `step`, the first being 0, after its exponential decay.
double orr_learning_rate(const orr_optimizer_config *config, int64_t step);

static inline int64_t orr_touched_words(int64_t parameter_count)
{
    return (parameter_count + 511) / 512;
}

// State for resuming to the same bits: sizes in bytes, written and read as one piece.
size_t orr_optimizer_state_size(const orr_optimizer *optimizer);
void orr_optimizer_state_save(const orr_optimizer *optimizer, void *state);
orr_result orr_optimizer_state_load(orr_optimizer *optimizer, const void *state, size_t size,
                                    orr_error *error);
