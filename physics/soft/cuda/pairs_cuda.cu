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

static __device__ void push_corner(const orr_soft_cuda_pairs &p, const orr_soft_corner *corner,
                                   double sum[SOFT_PUSHED])
{
    const int n = corner->pair;
    double moved[12], way[3];
    if (n >= p.count) {
        const orr_soft_tie *tie = &p.tie[n - p.count];
        moved_by(p, tie->soft, tie->vertex, moved);
        add_corner(sum, corner,
                   tie_system(tie, p.shift + (ptrdiff_t)(n - p.count) * 3, moved, p.stiffness[n]));
        return;
    }
    const orr_soft_pair *pair = &p.pair[n];
    for (int k = 0; k < 4; k++) {
        moved_by(p, pair->soft[k], pair->vertex[k], moved + 3 * k);
    }
    pair_way(pair, p.shift + (ptrdiff_t)(p.ties + n) * 3, moved, way);
    add_corner(sum, corner, pair_system(pair, corner->rows, way, p.stiffness + n, p.slip));
    watch_corner(sum, corner, pair, way, p.stiffness + n);
}

// A thread for each vertex, where its corners begin.
static __global__ void push_vertices(orr_soft_cuda_pairs p, int first, int end, float *pushed, int vertices)
{
    int i = first + (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= end || (i > first && p.corner[i - 1].vertex == p.corner[i].vertex)) {
        return;
    }
    const int32_t vertex = p.corner[i].vertex;
    double sum[SOFT_PUSHED] = {0.0};
    for (; i < end && p.corner[i].vertex == vertex; i++) {
        push_corner(p, &p.corner[i], sum);
    }
    for (int k = 0; k < SOFT_PUSHED; k++) {
        pushed[((ptrdiff_t)(k / 3) * vertices + vertex) * 3 + k % 3] = (float)sum[k];
    }
}

void orr_soft_cuda_push(cudaStream_t stream, const orr_soft_cuda_pairs *pairs, int first, int end,
                        float *pushed, int vertices)
{
    ORR_LAUNCH(push_vertices, orr_cuda_blocks((size_t)(end - first), SOFT_CUDA_RELAX), SOFT_CUDA_RELAX, 0,
               stream, *pairs, first, end, pushed, vertices);
}
