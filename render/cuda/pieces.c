#include "render/cuda/pieces.h"

#include <string.h>

orr_result orr_cuda_pieces_send(orr_cuda *cuda, orr_cuda_pieces *pieces, const orr_draw_list *list,
                                orr_error *error)
{
    size_t count = 0, at = 0;
    for (int i = 0; i < list->splat_count; i++) {
        count += (size_t)list->splats[i].deformation.piece_count;
    }
    if (count == 0) {
        return ORR_OK;
    }
    if (count > pieces->capacity) {
        cudaFreeHost(pieces->staged);
        pieces->staged = NULL;
        pieces->capacity = 0;
        ORR_CUDA_TRY(cudaMallocHost((void **)&pieces->staged, count * sizeof *pieces->staged));
        pieces->capacity = count;
    }
    for (int i = 0; i < list->splat_count; i++) {
        const orr_draw_deformation *d = &list->splats[i].deformation;
        if (d->piece_count > 0) {
            memcpy(pieces->staged + at, d->pieces, (size_t)d->piece_count * sizeof *d->pieces);
            at += (size_t)d->piece_count;
        }
    }
    ORR_TRY(orr_cuda_reserve(cuda, &pieces->memory, count, sizeof *pieces->staged, error));
    ORR_CUDA_TRY(cudaMemcpyAsync(pieces->memory.memory, pieces->staged, count * sizeof *pieces->staged,
                                 cudaMemcpyHostToDevice, cuda->stream));
    return ORR_OK;
}

void orr_cuda_pieces_close(orr_cuda_pieces *pieces)
{
    cudaFreeHost(pieces->staged);
    orr_cuda_release(&pieces->memory);
    *pieces = (orr_cuda_pieces){0};
}
