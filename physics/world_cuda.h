// The lane program on CUDA, as world_device.c launches it: one table for float, one for double. A block is 32 worlds, state
// and scratch are [quantity][world], so that a warp reads neighbours.
#pragma once

#include "physics/program.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a launch works on; memory of the device.
typedef struct orr_cuda_worlds {
    const void *model;  // by `copy_model`
    char *state;        // blocks x state_bytes
    char *scratch;      // one set per block of a launch
    uint32_t *diverged; // per block, one bit per lane: set by a launch
    int *counts;        // [0]: raised to the most contacts that a step needed; [1]: contacts listed
    orr_physics_contact *contacts;     // room for as many as the plan has
    size_t state_bytes, scratch_bytes; // of a block
    int worlds, team;                  // threads that step a world: 1, 2, 4 or 8 (lane_team.h)
} orr_cuda_worlds;

typedef struct orr_cuda_program {
    orr_program host; // without `run` and `contacts`
    // The program's model and all it points to as one piece that works at `device`: written to `copy`, or when that is
    // NULL, only measured. Returns its bytes.
    size_t (*copy_model)(const void *model, char *copy, const char *device);
    // `count` blocks from `first`, block i with scratch i - first. listed: the world whose contacts are written to
    // `contacts`, after a call that finds them; -1: none
    void (*launch)(cudaStream_t stream, const orr_cuda_worlds *worlds, int first, int count,
                   orr_program_call call, int steps, int listed);
} orr_cuda_program;

const orr_cuda_program *orr_cuda_program_single(void);
const orr_cuda_program *orr_cuda_program_double(void);

#ifdef __cplusplus
}
#endif
