// Losses and optimisers.
#pragma once

#include "engine/core/jobs.h"
#include "neural/config.h"

// Value of a loss for one channel and its derivative by the prediction (not divided by the number of values).
typedef struct orr_loss_value {
    float value, gradient;
} orr_loss_value;
orr_loss_value orr_loss(orr_loss_kind kind, float prediction, float target);

// Adam (Kingma and Ba 2015) or SGD over one run of parameters. Lazy: parameters of a grid whose gradient is exactly zero
// are not looked at: no moment, weight or average of theirs changes (as tiny-cuda-nn skips them), and blocks of 16 that
// were never marked as touched are not even read. The bias correction counts each parameter's own steps.
typedef struct orr_optimizer orr_optimizer;

// lazy: for grid tables; otherwise every parameter moves at every step and l2_reg applies.
orr_result orr_optimizer_create(const orr_optimizer_config *config, int64_t parameter_count, bool lazy,
                                orr_optimizer **optimizer, orr_error *error);
void orr_optimizer_destroy(orr_optimizer *optimizer);
// One step: parameters and their gradients (parameter_count floats); gradients and marks that were used are set to zero.
// touched: lazy only, one bit per 16 floats. Same bits for any number of threads.
void orr_optimizer_step(orr_optimizer *optimizer, orr_jobs *jobs, float *parameters, float *gradients,
                        uint32_t *touched);
// What inference uses: the exponential moving average when the config has one, otherwise the parameters themselves.
const float *orr_optimizer_average(const orr_optimizer *optimizer, const float *parameters);
int64_t orr_optimizer_steps(const orr_optimizer *optimizer);

// State for resuming to the same bits: sizes in bytes, written and read as one piece.
size_t orr_optimizer_state_size(const orr_optimizer *optimizer);
void orr_optimizer_state_save(const orr_optimizer *optimizer, void *state);
orr_result orr_optimizer_state_load(orr_optimizer *optimizer, const void *state, size_t size,
                                    orr_error *error);
