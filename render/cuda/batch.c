#include "render/cuda/batch.h"

#include "engine/device/cuda_gpu.h"
#include "render/cuda/display.h"

struct orr_cuda_batch {
    orr_cuda *cuda;
    size_t pictures, pixels; // of a picture
    int width, height;
    unsigned planes; // that were begun
    uint8_t *rgb;    // of all pictures; NULL: never asked for
    float *rgba, *depth;
    int32_t *segmentation;
    float *normals, *flow;
    cudaEvent_t read; // what reads them is done
};

orr_result orr_cuda_batch_create(orr_cuda *cuda, size_t pictures, int width, int height, orr_cuda_batch **out,
                                 orr_error *error)
{
    *out = NULL;
    orr_cuda_batch *batch = orr_alloc_zero(1, sizeof *batch);
    if (!batch) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: pictures on CUDA");
    }
    batch->cuda = cuda;
    batch->pictures = pictures;
    batch->pixels = (size_t)width * (size_t)height;
    batch->width = width;
    batch->height = height;
    orr_result result = orr_cuda_use(cuda, error);
    if (result == ORR_OK) {
        const cudaError_t code = cudaEventCreateWithFlags(&batch->read, cudaEventDisableTiming);
        result = code == cudaSuccess ? ORR_OK : orr_cuda_fail(error, code, "cudaEventCreateWithFlags");
    }
    if (result != ORR_OK) {
        orr_cuda_batch_destroy(batch);
        return result;
    }
    *out = batch;
    return ORR_OK;
}

void orr_cuda_batch_destroy(orr_cuda_batch *batch)
{
    if (!batch) {
        return;
    }
    orr_cuda_use(batch->cuda, NULL);
    orr_cuda_free(batch->rgb);
    orr_cuda_free(batch->rgba);
    orr_cuda_free(batch->depth);
    orr_cuda_free(batch->segmentation);
    orr_cuda_free(batch->normals);
    orr_cuda_free(batch->flow);
    if (batch->read) {
        cudaEventDestroy(batch->read);
    }
    orr_free(batch);
}

// Memory of a plane, of so many bytes for each pixel, where it is asked for and missing.
static orr_result take(const orr_cuda_batch *b, unsigned asked, void **plane, size_t bytes, orr_error *error)
{
    if (!asked || *plane) {
        return ORR_OK;
    }
    void *memory;
    ORR_TRY(orr_cuda_alloc(b->cuda, b->pictures * b->pixels, bytes, &memory, error));
    const cudaError_t code = cudaMemsetAsync(memory, 0, b->pictures * b->pixels * bytes, b->cuda->stream);
    if (code != cudaSuccess) {
        orr_cuda_free(memory);
        return orr_cuda_fail(error, code, "cudaMemsetAsync");
    }
    *plane = memory;
    return ORR_OK;
}

orr_result orr_cuda_batch_begin(orr_cuda_batch *b, unsigned planes, void *after, orr_error *error)
{
    void *rgb = b->rgb, *rgba = b->rgba, *depth = b->depth, *segmentation = b->segmentation,
         *normals = b->normals, *flow = b->flow;
    ORR_TRY(orr_cuda_use(b->cuda, error));
    ORR_TRY(take(b, planes & ORR_EYES_RGB, &rgb, 3, error));
    b->rgb = rgb;
    ORR_TRY(take(b, planes & ORR_EYES_RGBA, &rgba, 4 * sizeof(float), error));
    b->rgba = rgba;
    ORR_TRY(take(b, planes & ORR_EYES_DEPTH, &depth, sizeof(float), error));
    b->depth = depth;
    ORR_TRY(take(b, planes & ORR_EYES_SEGMENTATION, &segmentation, 2 * sizeof(int32_t), error));
    b->segmentation = segmentation;
    ORR_TRY(take(b, planes & ORR_EYES_NORMALS, &normals, 3 * sizeof(float), error));
    b->normals = normals;
    ORR_TRY(take(b, planes & ORR_EYES_FLOW, &flow, 2 * sizeof(float), error));
    b->flow = flow;
    b->planes = planes;
    ORR_CUDA_TRY(cudaEventRecord(b->read, after));
    ORR_CUDA_TRY(cudaStreamWaitEvent(b->cuda->stream, b->read, 0));
    return ORR_OK;
}

bool orr_cuda_batch_places(const orr_cuda_batch *b, size_t number, orr_draw_seen *seen)
{
    const size_t at = number * b->pixels;
    assert(number < b->pictures);
    seen->segmentation = b->planes & ORR_EYES_SEGMENTATION ? b->segmentation + 2 * at : NULL;
    seen->normals = b->planes & ORR_EYES_NORMALS ? b->normals + 3 * at : NULL;
    seen->flow = b->planes & ORR_EYES_FLOW ? b->flow + 2 * at : NULL;
    return seen->segmentation || seen->normals || seen->flow;
}

static orr_result copy(const orr_cuda_batch *b, float *to, const float *from, size_t numbers,
                       orr_error *error)
{
    ORR_CUDA_TRY(cudaMemcpyAsync(to, from, numbers * sizeof *to, cudaMemcpyDeviceToDevice, b->cuda->stream));
    return ORR_OK;
}

orr_result orr_cuda_batch_put(orr_cuda_batch *b, size_t number, const orr_cuda_picture *picture,
                              orr_error *error)
{
    const size_t at = number * b->pixels;
    assert(number < b->pictures && picture->width == b->width && picture->height == b->height);
    ORR_TRY(orr_cuda_use(b->cuda, error));
    if (b->planes & ORR_EYES_RGB) {
        orr_cuda_to_rgb(b->cuda->stream, picture->rgba, b->rgb + 3 * at, b->pixels);
        ORR_CUDA_LAUNCHED();
    }
    if (b->planes & ORR_EYES_RGBA) {
        ORR_TRY(copy(b, b->rgba + 4 * at, picture->rgba, 4 * b->pixels, error));
    }
    return b->planes & ORR_EYES_DEPTH ? copy(b, b->depth + at, picture->depth, b->pixels, error) : ORR_OK;
}

orr_result orr_cuda_batch_end(orr_cuda_batch *b, orr_error *error)
{
    ORR_TRY(orr_cuda_use(b->cuda, error));
    return orr_cuda_wait(b->cuda, error);
}

orr_result orr_cuda_batch_read(orr_cuda_batch *b, size_t first, size_t count,
                               const orr_eyes_pictures *pictures, orr_error *error)
{
    const size_t at = first * b->pixels, pixels = count * b->pixels;
    if (pictures->rgb) {
        ORR_TRY(orr_cuda_download(b->cuda, pictures->rgb + 3 * at, b->rgb + 3 * at, 3 * pixels, error));
    }
    if (pictures->rgba) {
        ORR_TRY(orr_cuda_download(b->cuda, pictures->rgba + 4 * at, b->rgba + 4 * at,
                                  4 * pixels * sizeof(float), error));
    }
    if (pictures->depth) {
        ORR_TRY(
            orr_cuda_download(b->cuda, pictures->depth + at, b->depth + at, pixels * sizeof(float), error));
    }
    if (pictures->segmentation) {
        ORR_TRY(orr_cuda_download(b->cuda, pictures->segmentation + 2 * at, b->segmentation + 2 * at,
                                  2 * pixels * sizeof(int32_t), error));
    }
    if (pictures->normals) {
        ORR_TRY(orr_cuda_download(b->cuda, pictures->normals + 3 * at, b->normals + 3 * at,
                                  3 * pixels * sizeof(float), error));
    }
    return pictures->flow ? orr_cuda_download(b->cuda, pictures->flow + 2 * at, b->flow + 2 * at,
                                              2 * pixels * sizeof(float), error)
                          : ORR_OK;
}

void orr_cuda_batch_find(const orr_cuda_batch *b, orr_eyes_cuda_pictures *pictures)
{
    pictures->rgb = b->rgb;
    pictures->rgba = b->rgba;
    pictures->depth = b->depth;
    pictures->segmentation = b->segmentation;
    pictures->normals = b->normals;
    pictures->flow = b->flow;
    pictures->width = b->width;
    pictures->height = b->height;
    pictures->device = b->cuda->device;
    pictures->stream = b->cuda->stream;
}
