#include "engine/loop/eyes/cuda.h"

#include "engine/core/memory.h"
#include "engine/loop/devices.h"
#include "render/cuda/batch.h"

enum { IN_FLIGHT = 4 }; // at most

struct orr_eyes_cuda {
    orr_frame *frame;
    orr_cuda_batch *batch;
    size_t numbers[IN_FLIGHT]; // of the pictures in flight, from the oldest
    int in_flight;             // that there may be
    int waiting;
};

static orr_result open_device(orr_eyes_cuda *c, orr_engine *engine, size_t pictures, int width, int height,
                              orr_error *error)
{
    orr_cuda *cuda;
    c->in_flight = pictures < IN_FLIGHT ? (int)pictures : IN_FLIGHT;
    const orr_frame_desc desc = {.device = ORR_DEVICE_CUDA, .frames_in_flight = c->in_flight};
    ORR_TRY(orr_engine_take_cuda(engine, &cuda, error));
    ORR_TRY(orr_cuda_batch_create(cuda, pictures, width, height, &c->batch, error));
    return orr_frame_create(engine, &desc, &c->frame, error);
}

orr_result orr_eyes_cuda_create(orr_engine *engine, size_t pictures, int width, int height,
                                orr_eyes_cuda **out, orr_error *error)
{
    *out = NULL;
    orr_eyes_cuda *c = orr_alloc_zero(1, sizeof *c);
    if (!c) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: eyes on CUDA");
    }
    const orr_result result = open_device(c, engine, pictures, width, height, error);
    if (result != ORR_OK) {
        orr_eyes_cuda_destroy(c);
        return result;
    }
    *out = c;
    return ORR_OK;
}

void orr_eyes_cuda_destroy(orr_eyes_cuda *c)
{
    if (c) {
        orr_frame_destroy(c->frame);
        orr_cuda_batch_destroy(c->batch);
    }
    orr_free(c);
}

orr_result orr_eyes_cuda_begin(orr_eyes_cuda *c, unsigned planes, void *after, orr_error *error)
{
    return orr_cuda_batch_begin(c->batch, planes, after, error);
}

// The picture's memory is written again by a later frame, which follows the put in the same stream.
static orr_result put_oldest(orr_eyes_cuda *c, orr_error *error)
{
    orr_cuda_picture picture;
    const size_t number = c->numbers[0];
    c->waiting--;
    for (int i = 0; i < c->waiting; i++) {
        c->numbers[i] = c->numbers[i + 1];
    }
    ORR_TRY(orr_frame_finish(c->frame, NULL, error));
    ORR_TRY(orr_frame_cuda_picture(c->frame, &picture, error));
    return orr_cuda_batch_put(c->batch, number, &picture, error);
}

orr_result orr_eyes_cuda_add(orr_eyes_cuda *c, const orr_world *world, const orr_view *view,
                             const orr_eyes_look *look, size_t number, orr_error *error)
{
    ORR_TRY(c->waiting == c->in_flight ? put_oldest(c, error) : ORR_OK);
    ORR_TRY(orr_frame_submit_for_eyes(c->frame, world, view, look, error));
    c->numbers[c->waiting++] = number;
    return ORR_OK;
}

orr_result orr_eyes_cuda_end(orr_eyes_cuda *c, bool failed, orr_error *error)
{
    orr_result result = ORR_OK;
    while (c->waiting > 0 && !failed && result == ORR_OK) {
        result = put_oldest(c, error);
    }
    if (failed || result != ORR_OK) {
        orr_frame_discard(c->frame);
        c->waiting = 0;
        return result;
    }
    return orr_cuda_batch_end(c->batch, error);
}

orr_result orr_eyes_cuda_read(orr_eyes_cuda *c, size_t first, size_t count, const orr_eyes_pictures *pictures,
                              orr_error *error)
{
    return orr_cuda_batch_read(c->batch, first, count, pictures, error);
}

void orr_eyes_cuda_find(const orr_eyes_cuda *c, orr_eyes_cuda_pictures *pictures)
{
    orr_cuda_batch_find(c->batch, pictures);
}
