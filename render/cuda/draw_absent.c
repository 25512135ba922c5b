// Drawing on CUDA in a build without CUDA.
#include "render/cuda/draw.h"

static orr_result absent(orr_error *error)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "CUDA is not in this build (NVIDIA's CUDA toolkit: nvcc)");
}

orr_result orr_cuda_draw_create(orr_cuda *cuda, orr_jobs *jobs, int frames_in_flight, orr_cuda_draw **draw,
                                orr_error *error)
{
    (void)cuda;
    (void)jobs;
    (void)frames_in_flight;
    *draw = NULL;
    return absent(error);
}

void orr_cuda_draw_destroy(orr_cuda_draw *draw)
{
    (void)draw;
}

bool orr_cuda_draw_takes_field(orr_cuda_draw *draw, const orr_draw_field *field, orr_log log)
{
    (void)draw;
    (void)field;
    (void)log;
    return false;
}

orr_result orr_cuda_draw_submit(orr_cuda_draw *draw, const orr_draw_list *list, const orr_host_layers *layers,
                                orr_error *error)
{
    (void)draw;
    (void)list;
    (void)layers;
    return absent(error);
}

orr_result orr_cuda_draw_finish(orr_cuda_draw *draw, const orr_picture *picture, orr_profile *profile,
                                orr_error *error)
{
    (void)draw;
    (void)picture;
    (void)profile;
    return absent(error);
}

orr_result orr_cuda_draw_trace(orr_cuda_draw *draw, orr_trace *trace, orr_error *error)
{
    (void)draw;
    (void)trace;
    return absent(error);
}

void orr_cuda_draw_release(orr_cuda_draw *draw, uint64_t key)
{
    (void)draw;
    (void)key;
}

orr_cuda_picture orr_cuda_draw_picture(const orr_cuda_draw *draw)
{
    (void)draw;
    return (orr_cuda_picture){0};
}
