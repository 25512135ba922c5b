// What a training keeps on the device: parameters and photos.
#include "render/training/cuda/splat_steps_state.h"

// ---- parameters ----

static size_t lanes_of(const orr_splat_params *params)
{
    return (size_t)orr_blocks(params->count, ORR_PACK_BLOCK) * ORR_PACK_BLOCK;
}

static orr_result send(orr_cuda_splat_steps *s, orr_cuda_buffer *to, const float *from, size_t count,
                       float **at, orr_error *error)
{
    ORR_TRY(orr_cuda_reserve(s->cuda, to, count, sizeof *from, error));
    *at = to->memory;
    return orr_cuda_upload(s->cuda, to->memory, from, count * sizeof *from, error);
}

orr_result orr_cuda_splat_steps_write(orr_cuda_splat_steps *s, const orr_splat_params *params,
                                      orr_error *error)
{
    const size_t lanes = lanes_of(params), harmonics = (size_t)orr_harmonics_members(params->degree);
    orr_cuda_splat_params *p = &s->params;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_settle(s, error));
    *p = (orr_cuda_splat_params){.count = (uint32_t)params->count, .degree = params->degree};
    for (int set = 0; set < 3; set++) {
        ORR_TRY(send(s, &s->stored[set], params->stored[set], lanes * ORR_STORED, &p->stored[set], error));
        ORR_TRY(send(s, &s->harmonics[set], params->harmonics[set], lanes * harmonics, &p->harmonics[set],
                     error));
    }
    for (int k = 0; k < 2 && params->has_statistic; k++) {
        ORR_TRY(send(s, &s->statistic[k], params->statistic[k], lanes, &p->statistic[k], error));
    }
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->geometry, lanes * ORR_PACK_GEOMETRY, sizeof(float), error));
    p->geometry = s->geometry.memory;
    orr_cuda_prepare_launch(s->cuda->stream, p);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

orr_result orr_cuda_splat_steps_read(orr_cuda_splat_steps *s, orr_splat_params *params, orr_error *error)
{
    const size_t lanes = lanes_of(params), harmonics = (size_t)orr_harmonics_members(params->degree);
    const orr_cuda_splat_params *p = &s->params;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_settle(s, error));
    for (int set = 0; set < 3; set++) {
        ORR_TRY(orr_cuda_download(s->cuda, params->stored[set], p->stored[set],
                                  lanes * ORR_STORED * sizeof(float), error));
        ORR_TRY(orr_cuda_download(s->cuda, params->harmonics[set], p->harmonics[set],
                                  lanes * harmonics * sizeof(float), error));
    }
    for (int k = 0; k < 2 && params->has_statistic; k++) {
        ORR_TRY(
            orr_cuda_download(s->cuda, params->statistic[k], p->statistic[k], lanes * sizeof(float), error));
    }
    return ORR_OK;
}

orr_result orr_cuda_splat_steps_read_first(orr_cuda_splat_steps *s, orr_splat_params *params,
                                           orr_error *error)
{
    const size_t lanes = lanes_of(params);
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_settle(s, error));
    ORR_TRY(orr_cuda_download(s->cuda, params->stored[0], s->params.stored[0],
                              lanes * ORR_STORED * sizeof(float), error));
    for (int k = 0; k < 2 && params->has_statistic; k++) {
        ORR_TRY(orr_cuda_download(s->cuda, params->statistic[k], s->params.statistic[k],
                                  lanes * sizeof(float), error));
    }
    return ORR_OK;
}

// Replaces an array by one in the order of `params`. fresh: whose splats get 0, or NULL
static orr_result rearrange(orr_cuda_splat_steps *s, orr_cuda_buffer *array, int members,
                            const uint8_t *fresh, const orr_splat_params *params, float **at,
                            orr_error *error)
{
    orr_cuda_buffer before = *array;
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->spare, lanes_of(params) * (size_t)members, sizeof(float), error));
    orr_cuda_gather_launch(s->cuda->stream, before.memory, s->spare.memory, s->origin.memory, fresh,
                           (uint32_t)params->count, members);
    ORR_CUDA_LAUNCHED();
    *array = s->spare;
    s->spare = before;
    *at = array->memory;
    return ORR_OK;
}

// Where splats come from, to the device.
static orr_result send_origin(orr_cuda_splat_steps *s, const orr_splat_params *params, orr_error *error)
{
    const size_t lanes = lanes_of(params);
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->origin, lanes, sizeof *params->origin, error));
    return orr_cuda_upload(s->cuda, s->origin.memory, params->origin, lanes * sizeof *params->origin, error);
}

// What is drawn, of parameters in a new order.
static orr_result prepare_again(orr_cuda_splat_steps *s, const orr_splat_params *params, orr_error *error)
{
    ORR_TRY(
        orr_cuda_reserve(s->cuda, &s->geometry, lanes_of(params) * ORR_PACK_GEOMETRY, sizeof(float), error));
    s->params.geometry = s->geometry.memory;
    orr_cuda_prepare_launch(s->cuda->stream, &s->params);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

orr_result orr_cuda_splat_steps_rearrange(orr_cuda_splat_steps *s, const orr_splat_params *params,
                                          orr_error *error)
{
    const size_t lanes = lanes_of(params);
    const int harmonics = orr_harmonics_members(params->degree);
    orr_cuda_splat_params *p = &s->params;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_settle(s, error));
    ORR_TRY(send_origin(s, params, error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->fresh, lanes, sizeof *params->fresh, error));
    ORR_TRY(orr_cuda_upload(s->cuda, s->fresh.memory, params->fresh, lanes * sizeof *params->fresh, error));
    for (int set = 0; set < 3; set++) {
        const uint8_t *fresh = set > 0 ? s->fresh.memory : NULL;
        ORR_TRY(rearrange(s, &s->harmonics[set], harmonics, fresh, params, &p->harmonics[set], error));
        ORR_TRY(set > 0 ? rearrange(s, &s->stored[set], ORR_STORED, fresh, params, &p->stored[set], error)
                        : ORR_OK);
    }
    p->count = (uint32_t)params->count;
    ORR_TRY(send(s, &s->stored[0], params->stored[0], lanes * ORR_STORED, &p->stored[0], error));
    for (int k = 0; k < 2 && params->has_statistic; k++) {
        ORR_TRY(orr_cuda_reserve(s->cuda, &s->statistic[k], lanes, sizeof(float), error));
        p->statistic[k] = s->statistic[k].memory;
        ORR_CUDA_TRY(cudaMemsetAsync(p->statistic[k], 0, lanes * sizeof(float), s->cuda->stream));
    }
    return prepare_again(s, params, error);
}

// The lanes behind the last splat, which draw nothing, of the first array of what is stored: the gather has
// left 0 there, and the host has what belongs there.
static orr_result send_last_lanes(orr_cuda_splat_steps *s, const orr_splat_params *params, orr_error *error)
{
    const size_t used = (size_t)(params->count % ORR_PACK_BLOCK), pitch = ORR_PACK_BLOCK * sizeof(float);
    if (used == 0) {
        return ORR_OK;
    }
    const size_t at = (size_t)orr_param_index(params->count, ORR_STORED, 0);
    ORR_CUDA_TRY(cudaMemcpy2DAsync(s->params.stored[0] + at, pitch, params->stored[0] + at, pitch,
                                   (ORR_PACK_BLOCK - used) * sizeof(float), ORR_STORED,
                                   cudaMemcpyHostToDevice, s->cuda->stream));
    return orr_cuda_wait(s->cuda, error);
}

orr_result orr_cuda_splat_steps_select(orr_cuda_splat_steps *s, const orr_splat_params *params,
                                       orr_error *error)
{
    const int harmonics = orr_harmonics_members(params->degree);
    orr_cuda_splat_params *p = &s->params;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_settle(s, error));
    ORR_TRY(send_origin(s, params, error));
    for (int set = 0; set < 3; set++) {
        ORR_TRY(rearrange(s, &s->harmonics[set], harmonics, NULL, params, &p->harmonics[set], error));
        ORR_TRY(rearrange(s, &s->stored[set], ORR_STORED, NULL, params, &p->stored[set], error));
    }
    for (int k = 0; k < 2 && params->has_statistic; k++) {
        ORR_TRY(rearrange(s, &s->statistic[k], 1, NULL, params, &p->statistic[k], error));
    }
    p->count = (uint32_t)params->count;
    ORR_TRY(send_last_lanes(s, params, error));
    return prepare_again(s, params, error);
}

// ---- photos ----

void orr_cuda_photo_release(orr_cuda_photo *photo)
{
    orr_cuda_release(&photo->values);
    orr_cuda_release(&photo->kept);
    orr_cuda_release(&photo->alpha);
    photo->shrink = 0;
}

bool orr_cuda_splat_steps_has(const orr_cuda_splat_steps *s, int image, int shrink)
{
    return s->photos[image].shrink == shrink;
}

static orr_result send_bytes(orr_cuda_splat_steps *s, orr_cuda_buffer *to, const void *from, size_t bytes,
                             orr_error *error)
{
    ORR_TRY(orr_cuda_reserve(s->cuda, to, bytes, 1, error));
    return orr_cuda_upload(s->cuda, to->memory, from, bytes, error);
}

static orr_result send_photo(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step, orr_cuda_photo *to,
                             orr_error *error)
{
    const orr_loss_planes *planes = &step->photo->planes;
    const size_t pixels = (size_t)planes->width * (size_t)planes->height;
    ORR_TRY(send_bytes(s, &to->values, planes->values,
                       3 * (size_t)planes->height * (size_t)planes->stride * sizeof(float), error));
    to->has_kept = step->photo->kept != NULL;
    to->has_alpha = step->photo->alpha != NULL;
    ORR_TRY(to->has_kept ? send_bytes(s, &to->kept, step->photo->kept, pixels, error) : ORR_OK);
    ORR_TRY(to->has_alpha ? send_bytes(s, &to->alpha, step->photo->alpha, pixels * sizeof(float), error)
                          : ORR_OK);
    to->planes = *planes;
    to->planes.values = to->values.memory;
    to->shrink = step->shrink;
    return ORR_OK;
}

static size_t photo_bytes(const orr_cuda_photo *photo)
{
    return photo->values.bytes + photo->kept.bytes + photo->alpha.bytes;
}

orr_result orr_cuda_splat_steps_photo(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step,
                                      const orr_cuda_photo **photo, orr_error *error)
{
    orr_cuda_photo *own = &s->photos[step->image];
    *photo = own;
    if (!step->photo) {
        return ORR_OK;
    }
    if (own->shrink != 0) { // of another size
        s->photo_bytes -= photo_bytes(own);
        orr_cuda_photo_release(own);
    }
    const orr_loss_planes *planes = &step->photo->planes;
    const size_t needs = 3 * (size_t)planes->height * (size_t)planes->stride * sizeof(float);
    orr_cuda_photo *to = s->photo_bytes + needs <= s->photo_bytes_most ? own : &s->photos[s->image_count];
    ORR_TRY(send_photo(s, step, to, error));
    s->photo_bytes += to == own ? photo_bytes(own) : 0;
    *photo = to;
    return ORR_OK;
}
