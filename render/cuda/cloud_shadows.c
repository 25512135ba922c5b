#include "render/cuda/cloud_shadows.h"

orr_result orr_cuda_cloud_shadows_find(orr_cuda *cuda, orr_jobs *jobs, orr_arena *arena,
                                       const orr_draw_list *list, const uint32_t *firsts,
                                       const orr_shadow_plan *meshes, orr_cuda_cloud_shadows *shadows,
                                       orr_error *error)
{
    ORR_TRY(orr_cloud_maps_find(jobs, arena, list, firsts, meshes, &shadows->found, error));
    if (shadows->found.table.count == 0) {
        return ORR_OK;
    }
    if (!shadows->staged) {
        ORR_CUDA_TRY(cudaMallocHost((void **)&shadows->staged, sizeof *shadows->staged));
    }
    shadows->staged->table = shadows->found.table;
    return orr_cuda_reserve(cuda, &shadows->memory, 1, sizeof *shadows->staged, error);
}

void orr_cuda_cloud_shadows_close(orr_cuda_cloud_shadows *shadows)
{
    orr_cloud_maps_free(&shadows->found);
    cudaFreeHost(shadows->staged);
    orr_cuda_release(&shadows->memory);
    *shadows = (orr_cuda_cloud_shadows){0};
}
