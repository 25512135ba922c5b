// What splats weigh in the photos, for prunings: pictures are drawn and go back as in a step.
#include "render/training/cuda/splat_steps_state.h"

static orr_result run(orr_cuda_splat_steps *s, const orr_cuda_flight *f, orr_error *error)
{
    orr_cuda_rows rows;
    ORR_TRY(orr_cuda_splat_steps_put_drawing(s, f, error));
    orr_cuda_compare c = {
        .now = s->now, .width = f->lens.width, .height = f->lens.height, .rgba = s->frame.rgba.memory};
    ORR_TRY(orr_cuda_splat_steps_planes(s, &f->photo->planes, &s->gradient, &c.gradient, error));
    orr_cuda_ones_launch(s->cuda->stream, &c);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(orr_cuda_splat_steps_put_backward(s, &f->step, &c, &rows, error));
    orr_cuda_weights_launch(s->cuda->stream, &rows, s->params.count, s->weights.memory);
    ORR_CUDA_LAUNCHED();
    return orr_cuda_wait(s->cuda, error);
}

orr_result orr_cuda_splat_steps_weigh(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step, bool first,
                                      orr_error *error)
{
    const orr_cuda_photo *photo;
    orr_cuda_flight *f = &s->flights[0];
    bool complete = false;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_settle(s, error));
    ORR_TRY(orr_cuda_splat_steps_photo(s, step, &photo, error));
    ORR_TRY(orr_cuda_splat_steps_load(s, f, step, photo, error));
    if (first) {
        ORR_TRY(orr_cuda_reserve(s->cuda, &s->weights, s->params.count, sizeof(double), error));
        ORR_CUDA_TRY(
            cudaMemsetAsync(s->weights.memory, 0, s->params.count * sizeof(double), s->cuda->stream));
    }
    orr_result result = ORR_OK;
    while (result == ORR_OK && !complete) { // again when its pairs had no room: nothing was added then
        result = run(s, f, error);
        if (result == ORR_OK) {
            result = orr_cuda_stages_judge(&s->stages, &s->frame, &complete, error);
        }
    }
    if (result != ORR_OK) { // part of it may be in the stream and use memory that is let go of now
        orr_cuda_wait(s->cuda, NULL);
    }
    return result;
}

orr_result orr_cuda_splat_steps_read_weights(orr_cuda_splat_steps *s, double *weights, orr_error *error)
{
    ORR_TRY(orr_cuda_use(s->cuda, error));
    return orr_cuda_download(s->cuda, weights, s->weights.memory, s->params.count * sizeof *weights, error);
}
