// A step of soft bodies together on CUDA. Vertices move there; the host moves bodies as wholes, for which it
// reads all positions (12 bytes for each vertex) and writes how far planes, pairs and ties have moved.
#include "physics/soft/cuda/device_state.h"

struct orr_soft_device_pairs {
    orr_cuda *cuda; // borrowed
    orr_cuda_buffer pair, tie, shift, stiffness, corner, body;
    orr_soft_cuda_pairs pairs;
};

enum { BEGIN_ARRAYS = 5 }; // position, velocity, change, start, target

// The first arrays of the group's state to the host.
static orr_result read_arrays(const orr_soft *soft, size_t arrays, orr_error *error)
{
    const orr_soft_group *g = &soft->group[0];
    const size_t array = (size_t)((char *)g->velocity - (char *)g->position);
    return orr_cuda_download(soft->device->cuda, g->position, soft->device->soft.group.position,
                             arrays * array, error);
}

static orr_result begin(const orr_soft *soft, orr_error *error)
{
    orr_soft_device *device = soft->device;
    const orr_soft_group *g = &soft->group[0];
    orr_soft_group *on = &device->soft.group;
    device->placed = false, device->read = true;
    on->plane_slots = g->plane_slots, on->is_pushed = g->is_pushed;
    ORR_TRY(orr_soft_device_ready(soft, error));
    if (g->is_pushed) {
        const size_t numbers = SOFT_PUSHED * (size_t)g->vertices;
        ORR_TRY(orr_cuda_reserve(device->cuda, &device->pushed, numbers, sizeof(float), error));
        ORR_CUDA_TRY(
            cudaMemsetAsync(device->pushed.memory, 0, numbers * sizeof(float), device->cuda->stream));
        on->pushed = device->pushed.memory;
    }
    if (device->soft.gas.triangles > 0) {
        orr_soft_cuda_pressure(device->cuda->stream, &device->soft, &soft->constants, true);
        ORR_CUDA_LAUNCHED();
    }
    orr_soft_cuda_begin(device->cuda->stream, &device->soft, &soft->constants);
    ORR_CUDA_LAUNCHED();
    return read_arrays(soft, BEGIN_ARRAYS, error);
}

static orr_result send_planes(const orr_soft *soft, orr_error *error)
{
    orr_soft_device *device = soft->device;
    const orr_soft_group *g = &soft->group[0];
    const size_t array = (size_t)g->vertices * 3, numbers = (size_t)g->plane_slots * 3 * array;
    if (!device->placed) {
        ORR_TRY(orr_cuda_reserve(device->cuda, &device->planes, numbers, sizeof(float), error));
        device->soft.group.planes = device->planes.memory;
        device->placed = true;
        return orr_cuda_upload(device->cuda, device->planes.memory, g->planes, numbers * sizeof(float),
                               error);
    }
    for (int slot = 0; slot < g->plane_slots; slot++) {
        const size_t at = ((size_t)slot * 3 + 1) * array;
        ORR_TRY(orr_cuda_upload(device->cuda, (float *)device->planes.memory + at,
                                (const float *)g->planes + at, array * sizeof(float), error));
    }
    return ORR_OK;
}

static orr_result shift(const orr_soft *soft, const orr_soft_pairs *p, orr_error *error)
{
    if (soft->group[0].plane_slots > 0) {
        ORR_TRY(send_planes(soft, error));
    }
    const int shifts = p ? 3 * (p->count + p->ties) : 0;
    return shifts ? orr_cuda_upload(soft->device->cuda, p->device->shift.memory, p->shift,
                                    (size_t)shifts * sizeof *p->shift, error)
                  : ORR_OK;
}

static orr_result send(orr_cuda *cuda, orr_cuda_buffer *buffer, const void *from, size_t count, size_t size,
                       orr_error *error)
{
    ORR_TRY(orr_cuda_reserve(cuda, buffer, count, size, error));
    return count ? orr_cuda_upload(cuda, buffer->memory, from, count * size, error) : ORR_OK;
}

static orr_result send_bodies(orr_soft_device_pairs *to, orr_soft *const *soft, int count, orr_error *error)
{
    orr_soft_cuda_body *body;
    ORR_ALLOC(body, count, "contacts of soft bodies", error);
    for (int i = 0; i < count; i++) {
        const orr_soft_group *g = &soft[i]->device->soft.group;
        body[i] = (orr_soft_cuda_body){g->position, g->start};
    }
    const orr_result result = send(to->cuda, &to->body, body, (size_t)count, sizeof *body, error);
    orr_free(body);
    return result;
}

orr_result orr_soft_device_send_pairs(orr_soft_pairs *p, orr_soft *const *soft, int count, orr_error *error)
{
    orr_cuda *cuda = soft[0]->device->cuda;
    const size_t pairs = (size_t)p->count, ties = (size_t)p->ties;
    ORR_TRY(orr_cuda_use(cuda, error));
    if (p->device && p->device->cuda != cuda) {
        orr_soft_device_pairs_destroy(p->device);
        p->device = NULL;
    }
    if (!p->device) {
        p->device = orr_alloc_zero(1, sizeof *p->device);
        if (!p->device) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: contacts of soft bodies");
        }
    }
    orr_soft_device_pairs *to = p->device;
    to->cuda = cuda;
    ORR_TRY(send(cuda, &to->pair, p->pair, pairs, sizeof *p->pair, error));
    ORR_TRY(send(cuda, &to->tie, p->tie, ties, sizeof *p->tie, error));
    ORR_TRY(send(cuda, &to->stiffness, p->stiffness, pairs + ties, sizeof *p->stiffness, error));
    ORR_TRY(send(cuda, &to->corner, p->corner, (size_t)p->corners, sizeof *p->corner, error));
    ORR_TRY(orr_cuda_reserve(cuda, &to->shift, 3 * (pairs + ties), sizeof *p->shift, error));
    ORR_TRY(send_bodies(to, soft, count, error));
    to->pairs = (orr_soft_cuda_pairs){.pair = to->pair.memory,
                                      .tie = to->tie.memory,
                                      .shift = to->shift.memory,
                                      .stiffness = to->stiffness.memory,
                                      .corner = to->corner.memory,
                                      .body = to->body.memory,
                                      .count = p->count,
                                      .ties = p->ties,
                                      .slip = p->slip};
    return ORR_OK;
}

void orr_soft_device_pairs_destroy(orr_soft_device_pairs *pairs)
{
    if (pairs) {
        orr_cuda_use(pairs->cuda, NULL);
        orr_cuda_release(&pairs->pair);
        orr_cuda_release(&pairs->tie);
        orr_cuda_release(&pairs->shift);
        orr_cuda_release(&pairs->stiffness);
        orr_cuda_release(&pairs->corner);
        orr_cuda_release(&pairs->body);
        orr_free(pairs);
    }
}

static orr_result launched(orr_error *error)
{
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

void orr_soft_device_begin(const orr_soft *soft)
{
    orr_error error;
    if (soft->device->failed == ORR_OK) {
        orr_soft_device_note(soft->device, begin(soft, &error), &error);
    }
}

void orr_soft_device_shift(const orr_soft *soft, const orr_soft_pairs *pairs)
{
    orr_error error;
    if (soft->device->failed == ORR_OK) {
        orr_soft_device_note(soft->device, shift(soft, pairs, &error), &error);
    }
}

void orr_soft_device_push(const orr_soft_pairs *pairs, const orr_soft *soft, const int range[2])
{
    orr_soft_device *device = soft->device;
    orr_error error;
    if (device->failed == ORR_OK && range[1] > range[0]) {
        orr_soft_cuda_push(device->cuda->stream, &pairs->device->pairs, range[0], range[1],
                           device->pushed.memory, soft->model->vertices);
        orr_soft_device_note(device, launched(&error), &error);
    }
}

void orr_soft_device_relax(const orr_soft *soft, int colour)
{
    orr_soft_device *device = soft->device;
    const int *first = &soft->tables.colour_block[colour];
    orr_error error;
    if (device->failed == ORR_OK && first[1] > first[0]) {
        orr_soft_cuda_relax(device->cuda->stream, &device->soft, &soft->constants, first[0], first[1]);
        orr_soft_device_note(device, launched(&error), &error);
        device->read = false;
    }
}

void orr_soft_device_accelerate(const orr_soft *soft, double omega)
{
    orr_soft_device *device = soft->device;
    orr_error error;
    if (device->failed == ORR_OK) {
        orr_soft_cuda_accelerate(device->cuda->stream, &device->soft, omega);
        orr_soft_device_note(device, launched(&error), &error);
        device->read = false;
    }
}

void orr_soft_device_update_pressure(const orr_soft *soft)
{
    orr_soft_device *device = soft->device;
    orr_error error;
    if (device->failed == ORR_OK && device->soft.gas.triangles > 0 && soft->constants.gas.ambient > 0.0) {
        orr_soft_cuda_pressure(device->cuda->stream, &device->soft, &soft->constants, false);
        orr_soft_device_note(device, launched(&error), &error);
    }
}

void orr_soft_device_read(const orr_soft *soft)
{
    orr_soft_device *device = soft->device;
    orr_error error;
    if (device->failed == ORR_OK && !device->read) {
        orr_soft_device_note(device, read_arrays(soft, 1, &error), &error);
        device->read = true;
    }
}

void orr_soft_device_translate(const orr_soft *soft, const double by[3])
{
    orr_soft_device *device = soft->device;
    orr_error error;
    if (device->failed == ORR_OK) {
        orr_soft_cuda_translate(device->cuda->stream, &device->soft, by);
        orr_soft_device_note(device, launched(&error), &error);
    }
}

void orr_soft_device_finish(const orr_soft *soft)
{
    orr_soft_device *device = soft->device;
    orr_error error;
    if (device->failed == ORR_OK) {
        orr_soft_cuda_finish(device->cuda->stream, &device->soft, &soft->constants);
        orr_soft_device_note(device, launched(&error), &error);
        if (device->soft.plastic.tets > 0) {
            orr_soft_cuda_yield(device->cuda->stream, &device->soft, &soft->constants);
            orr_soft_device_note(device, launched(&error), &error);
        }
    }
    device->soft.group.plane_slots = 0; // a step alone touches nothing
    device->soft.group.is_pushed = false;
}
