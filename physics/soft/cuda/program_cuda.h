// A step of vertex block descent on CUDA, for device.c. A thread is a vertex of a block in one world; state
// is laid out as on the CPU with 32 lanes. Private to this folder.
#pragma once

#include "physics/soft/pairs.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Threads of a block: of kernels that relax vertices, and of others; one that makes whole steps has a group.
enum { SOFT_CUDA_RELAX = 64, SOFT_CUDA_OTHER = 128, SOFT_CUDA_GROUP = 256 };

// Of models with gas; pointers to device memory. Volumes are summed in slices, so many in any launch.
enum { SOFT_CUDA_SLICES = 64 };
typedef struct orr_soft_cuda_gas {
    int triangles; // 0: there is none
    const int32_t *triangle;
    double *sums; // groups x 2 x slices x worlds: of the volume, and of how it grows
} orr_soft_cuda_gas;

// Of models that yield, whose groups have one world; pointers to device memory.
typedef struct orr_soft_cuda_plastic {
    int tets; // 0: it does not yield
    const int32_t *tet;
    const double *rows;  // tets x 4 x 9: what each corner sees of the rest shape
    const ptrdiff_t *at; // tets x 4: orr_soft_tables.tet_at
    float *number;       // groups x number_count: the tables' with the plastic strain of each
    size_t number_count;
    double *strain; // groups x tets x 9
} orr_soft_cuda_plastic;

// Arguments of launches; pointers to device memory.
typedef struct orr_soft_cuda {
    orr_soft_group group; // the first; without constants and tables
    orr_soft_tables tables;
    orr_soft_cuda_plastic plastic;
    orr_soft_cuda_gas gas;
    size_t group_bytes; // from one group's state to the next one's
    int groups, iterations;
    const double *omega; // iterations: Chebyshev's factors
} orr_soft_cuda;

// Whole steps in one launch: a thread block for each group.
void orr_soft_cuda_steps(cudaStream_t stream, const orr_soft_cuda *soft, const orr_soft_constants *constants,
                         int steps);
// The parts of a step, a launch each.
void orr_soft_cuda_begin(cudaStream_t stream, const orr_soft_cuda *soft, const orr_soft_constants *constants);
void orr_soft_cuda_relax(cudaStream_t stream, const orr_soft_cuda *soft, const orr_soft_constants *constants,
                         int first, int end); // blocks of one colour
void orr_soft_cuda_accelerate(cudaStream_t stream, const orr_soft_cuda *soft, double omega);
void orr_soft_cuda_finish(cudaStream_t stream, const orr_soft_cuda *soft,
                          const orr_soft_constants *constants);
// Of models with gas: its pressure, of a step's start or after an iteration.
void orr_soft_cuda_pressure(cudaStream_t stream, const orr_soft_cuda *soft,
                            const orr_soft_constants *constants, bool start);
// Of models that yield: what tets yield at a step's end, in all groups; and the numbers of one group as its
// strain has them.
void orr_soft_cuda_yield(cudaStream_t stream, const orr_soft_cuda *soft, const orr_soft_constants *constants);
void orr_soft_cuda_strain(cudaStream_t stream, const orr_soft_cuda *soft, int group);

// Every position moved by the same.
void orr_soft_cuda_translate(cudaStream_t stream, const orr_soft_cuda *soft, const double by[3]);

// A body that takes part in a step together; pointers to device memory, floats.
typedef struct orr_soft_cuda_body {
    const float *position, *start;
} orr_soft_cuda_body;

// The pairs and ties of a step; pointers to device memory, as in orr_soft_pairs.
typedef struct orr_soft_cuda_pairs {
    const orr_soft_pair *pair;
    const orr_soft_tie *tie;
    const double *shift, *stiffness;
    const orr_soft_corner *corner;
    const orr_soft_cuda_body *body;
    int count, ties;
    double slip;
} orr_soft_cuda_pairs;

// Corners first .. end - 1, of one colour of a body with so many vertices, to `pushed` (orr_soft_group).
void orr_soft_cuda_push(cudaStream_t stream, const orr_soft_cuda_pairs *pairs, int first, int end,
                        float *pushed, int vertices);

#ifdef __cplusplus
}
#endif
