// Optimisers on CUDA: optimizer.h's Adam, SGD, decay and moving average, one thread per parameter.
//
// Parameters are floats; every step also writes the halves that networks and grids are evaluated with.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "neural/network/optimizer_state.h"

// Parameters of a step that the device sets, for steps in a graph: those that the host sets are the same at
// every launch.
typedef struct orr_cuda_optimizer_now {
    float unscale, learning_rate;
    uint32_t step; // the steps before this one
} orr_cuda_optimizer_now;

typedef struct orr_cuda_optimizer {
    orr_cuda *cuda;                    // borrowed
    const orr_cuda_optimizer_now *now; // device; the owner counts `steps` then. NULL: the host sets them
    orr_optimizer_config config;
    int64_t parameter_count;
    int64_t steps;
    bool lazy;                   // parameters whose gradient is exactly zero stay as they are
    orr_optimizer_tables tables; // host
    orr_optimizer_layout layout;
    // device; NULL where the config has no use for it
    float *correction;                    // of the tables
    orr_average_factors *rested_factors;  // by the steps rested, 0 .. tables.power_count; of a step
    orr_average_factors *average_factors; // likewise; of the average
    void *pieces[ORR_OPTIMIZER_PIECES];   // the state
} orr_cuda_optimizer;

orr_result orr_cuda_optimizer_create(orr_cuda *cuda, const orr_optimizer_config *config,
                                     int64_t parameter_count, bool lazy, orr_cuda_optimizer *optimizer,
                                     orr_error *error);
void orr_cuda_optimizer_destroy(orr_cuda_optimizer *optimizer);
// One step in the device's stream: gradients times unscale; lazy ones are set to zero. halves: the new
// parameters.
orr_result orr_cuda_optimizer_step(orr_cuda_optimizer *optimizer, float *parameters, void *halves,
                                   float *gradients, float unscale, orr_error *error);
// What inference uses, into `average` on the device; as orr_optimizer_average.
orr_result orr_cuda_optimizer_average(const orr_cuda_optimizer *optimizer, const float *parameters,
                                      float *average, orr_error *error);
// The same bytes as orr_optimizer_state_*: a training can continue on the CPU, and from there on CUDA.
size_t orr_cuda_optimizer_state_size(const orr_cuda_optimizer *optimizer);
orr_result orr_cuda_optimizer_state_save(const orr_cuda_optimizer *optimizer, void *state, orr_error *error);
orr_result orr_cuda_optimizer_state_load(orr_cuda_optimizer *optimizer, const void *state, size_t size,
                                         orr_error *error);

// ---- launches ----

typedef struct orr_cuda_optimizer_pass {
    orr_optimizer_rule rule;
    int64_t count;
    float *parameters, *gradients;
    void *halves;
    float *first, *second; // the state's pieces, and the next three
    uint16_t *own_steps;
    float *sum;
    uint32_t *average_step;
    const float *correction;
    const orr_average_factors *factors; // by the steps rested, 0 .. factor_last
    uint32_t factor_last;
    int correction_last;
    float unscale;
    uint32_t step;                     // the steps before this one
    const orr_cuda_optimizer_now *now; // replaces three of these; NULL: not used
} orr_cuda_optimizer_pass;
void orr_cuda_optimizer_launch(cudaStream_t stream, const orr_cuda_optimizer_pass *pass);
// average[i] from the sum and the parameters after `step` steps
void orr_cuda_average_launch(cudaStream_t stream, const orr_cuda_optimizer_pass *pass, float *average);
// to[i] = the half nearest to from[i]
void orr_cuda_halves_launch(cudaStream_t stream, const float *from, int64_t count, void *to);
// to[i] = sum over the rows of rows[row][i], in order of rows
void orr_cuda_sum_rows_launch(cudaStream_t stream, const float *rows, int row_count, int64_t count,
                              float *to);
