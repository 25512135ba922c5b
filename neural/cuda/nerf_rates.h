// How fast a CUDA device evaluates and trains the two networks of a radiance field (the hash grid of
// base.json, 32-64-16, then features and directions into 32-64-64-3), at samples along rays, everything on
// the device.
#pragma once

#include "engine/device/cuda.h"

typedef struct orr_cuda_nerf_rates {
    double inference, training;             // samples per second
    double inference_operations;            // of the networks per sample, two per weight
    double training_operations;             // and backward: three times as many
    double inference_bytes, training_bytes; // rows of the table read, and their gradients added, per sample
} orr_cuda_nerf_rates;

// A training pass is forward, backward from given gradients, scatter, and Adam on everything. tiny: few
// samples of a small table, just that it works, for the emulated device. DEVICE_MEMORY; FEATURE_ABSENT in a
// build without CUDA.
orr_result orr_cuda_measure_nerf(orr_cuda *cuda, bool tiny, orr_cuda_nerf_rates *rates, orr_error *error);
