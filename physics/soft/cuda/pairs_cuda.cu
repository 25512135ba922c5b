// Forces of pairs and ties as a kernel, in double as on the host.
#define ORR_SCALAR_DOUBLE
#include "engine/device/cuda_kernel.h"
#include "physics/soft/cuda/program_cuda.h"
#include "physics/soft/pair_system.h"

static __device__ void moved_by(const orr_soft_cuda_pairs &p, int32_t body, int32_t vertex, double moved[3])
{
    for (int c = 0; c < 3; c++) {
        const ptrdiff_t at = (ptrdiff_t)vertex * 3 + c;
        moved[c] = (double)p.body[body].position[at] - (double)p.body[body].start[at];
    }
}

static __device__ soft_system corner_system(const orr_soft_cuda_pairs &p, const orr_soft_corner *corner)
{
    if (corner->pair >= p.count) {
        const int i = corner->pair - p.count;
        double moved[3];
        moved_by(p, p.tie[i].soft, p.tie[i].vertex, moved);
        return tie_system(&p.tie[i], p.shift + (ptrdiff_t)i * 3, moved, p.stiffness[corner->pair]);
    }
    const orr_soft_pair *pair = &p.pair[corner->pair];
    double moved[12];
    for (int k = 0; k < 4; k++) {
        moved_by(p, pair->soft[k], pair->vertex[k], moved + 3 * k);
    }
    return pair_system(pair, corner->rows, p.shift + (ptrdiff_t)(p.ties + corner->pair) * 3, moved,
                       p.stiffness + corner->pair, p.slip);
}

// A thread for each vertex, where its corners begin.
static __global__ void push_vertices(orr_soft_cuda_pairs p, int first, int end, float *pushed, int vertices)
{
    int i = first + (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= end || (i > first && p.corner[i - 1].vertex == p.corner[i].vertex)) {
        return;
    }
    const int32_t vertex = p.corner[i].vertex;
    double sum[9] = {0.0};
    for (; i < end && p.corner[i].vertex == vertex; i++) {
        add_corner(sum, &p.corner[i], corner_system(p, &p.corner[i]));
    }
    for (int k = 0; k < 9; k++) {
        pushed[((ptrdiff_t)(k / 3) * vertices + vertex) * 3 + k % 3] = (float)sum[k];
    }
}

void orr_soft_cuda_push(cudaStream_t stream, const orr_soft_cuda_pairs *pairs, int first, int end,
                        float *pushed, int vertices)
{
    ORR_LAUNCH(push_vertices, orr_cuda_blocks((size_t)(end - first), SOFT_CUDA_RELAX), SOFT_CUDA_RELAX, 0,
               stream, *pairs, first, end, pushed, vertices);
}
