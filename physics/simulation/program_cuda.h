// The lane program on CUDA, as world_device.c launches it: one table for float, one for double. A block is 32 worlds, state
// and scratch are [quantity][world], so that a warp reads neighbours.
#pragma once

#include "physics/lanes/program.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a launch works on; memory of the device.
typedef struct orr_cuda_worlds {
    const void *model;  // by `copy_model`
    char *state;        // blocks x state_bytes
    char *scratch;      // one set per block of a launch
    uint32_t *diverged; // per block, one bit per lane: steps raise it, and it stays
    int *counts;        // [0]: raised to the most contacts that a step needed; [1]: contacts listed
    orr_physics_contact *contacts;     // room for as many as the plan has
    size_t state_bytes, scratch_bytes; // of a block
    int worlds, team;                  // threads that step a world: 1, 2, 4 or 8 (lanes/team.h)
} orr_cuda_worlds;

// Numbers of one world's state, which travel with the launch: nothing of them has to last on the host.
enum { ORR_CUDA_NUMBERS = 64 };
typedef struct orr_cuda_numbers {
    int world, at, count; // at: the first one's place in the state
    double values[ORR_CUDA_NUMBERS];
} orr_cuda_numbers;

// Where the bodies of a world are: 3 numbers of each, then 4 of each.
typedef struct orr_cuda_bodies {
    int world, count;
    int position_at, rotation_at; // in the scratch
    float *kept;                  // of the world that was looked at last, when it had not diverged
    float *to;
} orr_cuda_bodies;

typedef struct orr_cuda_program {
    orr_program host; // without `run` and `contacts`
    // The program's model and all it points to as one piece that works at `device`: written to `copy`, or when that is
    // NULL, only measured. Returns its bytes.
    size_t (*copy_model)(const void *model, char *copy, const char *device);
    // `count` blocks from `first`, block i with scratch i - first. listed: the world whose contacts are written to
    // `contacts`, after a call that finds them; -1: none
    void (*launch)(cudaStream_t stream, const orr_cuda_worlds *worlds, int first, int count,
                   orr_program_call call, int steps, int listed);
    // The world has not diverged then.
    void (*write)(cudaStream_t stream, const orr_cuda_worlds *worlds, const orr_cuda_numbers *numbers);
    // After a launch of the world's block alone that finds positions. A world that has diverged is where it was kept.
    void (*take_bodies)(cudaStream_t stream, const orr_cuda_worlds *worlds, const orr_cuda_bodies *bodies);
} orr_cuda_program;

const orr_cuda_program *orr_cuda_program_single(void);
const orr_cuda_program *orr_cuda_program_double(void);

#ifdef __cplusplus
}
#endif
