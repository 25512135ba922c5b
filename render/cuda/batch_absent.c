// Pictures in a device's memory in a build without CUDA.
#include "render/cuda/batch.h"

static orr_result absent(orr_error *error)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "CUDA is not in this build (NVIDIA's CUDA toolkit: nvcc)");
}

orr_result orr_cuda_batch_create(orr_cuda *cuda, size_t pictures, int width, int height,
                                 orr_cuda_batch **batch, orr_error *error)
{
    (void)cuda;
    (void)pictures;
    (void)width;
    (void)height;
    *batch = NULL;
    return absent(error);
}

void orr_cuda_batch_destroy(orr_cuda_batch *batch)
{
    (void)batch;
}

orr_result orr_cuda_batch_begin(orr_cuda_batch *batch, unsigned planes, void *after, orr_error *error)
{
    (void)batch;
    (void)planes;
    (void)after;
    return absent(error);
}

bool orr_cuda_batch_places(const orr_cuda_batch *batch, size_t number, orr_draw_seen *seen)
{
    (void)batch;
    (void)number;
    (void)seen;
    return false;
}

orr_result orr_cuda_batch_put(orr_cuda_batch *batch, size_t number, const orr_cuda_picture *picture,
                              orr_error *error)
{
    (void)batch;
    (void)number;
    (void)picture;
    return absent(error);
}

orr_result orr_cuda_batch_end(orr_cuda_batch *batch, orr_error *error)
{
    (void)batch;
    return absent(error);
}

orr_result orr_cuda_batch_read(orr_cuda_batch *batch, size_t first, size_t count,
                               const orr_eyes_pictures *pictures, orr_error *error)
{
    (void)batch;
    (void)first;
    (void)count;
    (void)pictures;
    return absent(error);
}

void orr_cuda_batch_find(const orr_cuda_batch *batch, orr_eyes_cuda_pictures *pictures)
{
    (void)batch;
    (void)pictures;
}
