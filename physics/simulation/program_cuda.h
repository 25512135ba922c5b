// The lane program on CUDA, for world_device.c: a table of functions for float and one for double. A block is
// 32 worlds; state and scratch are [quantity][world], so that accesses of a warp are coalesced.
#pragma once

#include "physics/lanes/program.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

// Arguments of a launch; pointers to device memory.
typedef struct orr_cuda_worlds {
    const void *model;              // written by `copy_model`
    char *state;                    // blocks x state_bytes
    char *scratch;                  // one set per block of a launch
    uint32_t *diverged;             // per block, one bit per lane; set by steps
    orr_world_counts *world_counts; // per world, raised
    const uint32_t *chosen;         // per block, one bit per lane: worlds that a call is for; NULL: all
    // [0]: raised to the most contacts that a step needed; [1]: contacts listed; [2]: raised to the most
    // iterations of the solver
    int *counts;
    orr_physics_contact *contacts;     // plan->contact_capacity
    size_t state_bytes, scratch_bytes; // of a block
    int worlds, team;                  // threads that step a world: 1, 2, 4 or 8 (lanes/team.h)
} orr_cuda_worlds;

// Numbers of one world's state, passed by value as a kernel argument: the host need not keep them.
enum { ORR_CUDA_NUMBERS = 64 };
typedef struct orr_cuda_numbers {
    int world, at, count; // at: index of the first one in the state
    double values[ORR_CUDA_NUMBERS];
} orr_cuda_numbers;

// Poses of a world's bodies: 3 numbers of each, then 4 of each.
typedef struct orr_cuda_bodies {
    int world, count;
    int position_at, rotation_at; // indices in the scratch
    float *kept;                  // poses of the last world that had not diverged
    float *to;
} orr_cuda_bodies;

typedef struct orr_cuda_program {
    orr_program host; // without `run` and `contacts`; `restart` is for state in the host's memory
    // Writes the model and all it points to to `copy`, as one piece with pointers for the address `device`;
    // copy NULL: only returns its size in bytes.
    size_t (*copy_model)(const void *model, char *copy, const char *device);
    // Runs a call on `count` blocks from `first`, block i with scratch i - first. listed: world whose
    // contacts are written to `contacts`, for a call that finds them; -1: none.
    void (*launch)(cudaStream_t stream, const orr_cuda_worlds *worlds, int first, int count,
                   orr_program_call call, int steps, int listed);
    // Writes numbers of a world's state; clears its bit in `diverged`.
    void (*write)(cudaStream_t stream, const orr_cuda_worlds *worlds, const orr_cuda_numbers *numbers);
    // Copies the poses of a world's bodies, after a launch of its block alone that computes positions. Of a
    // world that has diverged: `kept`.
    void (*take_bodies)(cudaStream_t stream, const orr_cuda_worlds *worlds, const orr_cuda_bodies *bodies);
} orr_cuda_program;

const orr_cuda_program *orr_cuda_program_single(void);
const orr_cuda_program *orr_cuda_program_double(void);

#ifdef __cplusplus
}
#endif
