// A radiance field being trained on the device, for the files that make it (nerf_create.c) and run it
// (nerf.c).
#pragma once

#include "engine/device/cuda_sort.h"
#include "neural/cuda/model.h"
#include "neural/cuda/nerf_pass.h"
#include "neural/cuda/nerf_trainer.h"

enum { ORR_CUDA_NERF_MEMORY = 48 }; // pieces of the device's memory, at most

enum { ORR_CUDA_NETWORK, ORR_CUDA_RGB_NETWORK, ORR_CUDA_TABLE, ORR_CUDA_EXPOSURES };

// What an optimiser works on.
typedef struct orr_cuda_learned {
    orr_cuda_optimizer optimizer;
    float *parameters, *gradients; // device; NULL: there are none
    void *halves;
} orr_cuda_learned;

struct orr_cuda_nerf_trainer {
    orr_cuda *cuda; // borrowed
    const orr_field_parts *parts;
    orr_optimizer_config config, exposure_config; // of the optimisers
    int aabb_scale;
    int64_t cells;
    orr_cuda_model network,
        rgb_network; // the second one's inputs are the first one's outputs and the direction
    orr_cuda_learned learned[ORR_CUDA_NERF_OPTIMIZERS];
    orr_cuda_nerf_pass pass;
    // the networks' launches: of an update's positions, of marched samples, of kept samples, and of these two
    // backward
    orr_cuda_pass position_densities, densities, colours, rgb_backward, backward;
    int position_blocks, density_blocks, colour_blocks, rgb_backward_blocks, backward_blocks, ray_blocks;
    orr_cuda_sort sums; // scratch of running sums
    orr_cuda_buffer average;
    void *memory[ORR_CUDA_NERF_MEMORY];
    int memory_count;
    cudaGraphExec_t step, update;
    // steps since the beginning or the last load, and what they left; the newest ORR_CUDA_NERF_AHEAD of them
    int64_t steps_begun;
    orr_cuda_nerf_now *reports; // host, pinned
    cudaEvent_t done[ORR_CUDA_NERF_AHEAD];
    int64_t step_number, updates; // of the whole training
};

// Everything that follows from the thickness of the grid's cells, in the stream.
orr_result orr_cuda_nerf_trainer_mark_grid(orr_cuda_nerf_trainer *training, orr_error *error);
// What a step and an update are, put into the stream: captured once, and launched as graphs from then on.
orr_result orr_cuda_nerf_trainer_put_step(orr_cuda_nerf_trainer *training, orr_error *error);
orr_result orr_cuda_nerf_trainer_put_update(orr_cuda_nerf_trainer *training, orr_error *error);
