#include "physics/soft/cuda/device_state.h"

// A thread block makes whole steps of a group where a colour has at most so many vertices in all worlds of
// the group, or where the groups occupy half of the device: then barriers cost less than launches.
enum { GROUP_THREADS = 2 * SOFT_CUDA_GROUP };

orr_result orr_soft_device_upload(orr_cuda *cuda, const void *from, size_t count, size_t size, void **to,
                                  orr_error *error)
{
    ORR_TRY(orr_cuda_alloc(cuda, count, size, to, error));
    return count ? orr_cuda_upload(cuda, *to, from, count * size, error) : ORR_OK;
}

static orr_result upload_tables(orr_soft *soft, orr_soft_device *device, orr_error *error)
{
    const orr_soft_tables *t = &soft->tables;
    orr_cuda *cuda = device->cuda;
    ORR_TRY(orr_soft_device_upload(cuda, t->block, (size_t)t->colour_block[t->colours], sizeof *t->block,
                                   &device->block, error));
    ORR_TRY(orr_soft_device_upload(cuda, t->colour_block, (size_t)t->colours + 1, sizeof *t->colour_block,
                                   &device->colour_block, error));
    ORR_TRY(orr_soft_device_upload(cuda, t->index, t->index_count, sizeof *t->index, &device->index, error));
    ORR_TRY(orr_soft_device_upload(cuda, t->number, t->number_count, sizeof(float), &device->number, error));
    ORR_TRY(orr_soft_device_upload(cuda, soft->model->pinned, (size_t)soft->model->vertices, 1,
                                   &device->pinned, error));
    device->soft.tables = (orr_soft_tables){.colours = t->colours,
                                            .colour_block = device->colour_block,
                                            .block = device->block,
                                            .index = device->index,
                                            .number = device->number};
    return ORR_OK;
}

static orr_result upload_omega(orr_soft *soft, orr_soft_device *device, orr_error *error)
{
    double *omega, last = 1.0;
    ORR_ALLOC(omega, soft->iterations, "factors of iterations", error);
    for (int n = 0; n < soft->iterations; n++) {
        omega[n] = last = orr_soft_next_omega(soft, n + 1, last);
    }
    orr_result result = orr_soft_device_upload(device->cuda, omega, (size_t)soft->iterations, sizeof *omega,
                                               &device->omega, error);
    orr_free(omega);
    device->soft.omega = device->omega;
    return result;
}

// The group's arrays on the device, where they are in the host's memory.
static void place_group(const orr_soft *soft, orr_soft_device *device)
{
    orr_soft_group *g = &device->soft.group;
    *g = soft->group[0];
    void **const array[] = {&g->position, &g->velocity,        &g->change, &g->start,    &g->target,
                            &g->previous, &g->before_previous, &g->touch,  &g->pressure, &g->swell};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        if (*array[i]) {
            *array[i] = (char *)device->state + ((char *)*array[i] - (char *)soft->state);
        }
    }
    g->tables = NULL, g->constants = NULL, g->number = NULL, g->plastic = NULL;
    g->pinned = device->pinned;
}

static orr_result place_gas(const orr_soft *soft, orr_soft_device *device, orr_error *error)
{
    const orr_soft_model *m = soft->model;
    const size_t sums = (size_t)soft->groups * (size_t)soft->group_worlds * SOFT_CUDA_SLICES * 2;
    if (!m->filled) {
        return ORR_OK;
    }
    ORR_TRY(orr_soft_device_upload(device->cuda, m->triangle, (size_t)m->triangles * 3, sizeof *m->triangle,
                                   &device->triangle, error));
    ORR_TRY(orr_cuda_alloc(device->cuda, sums, sizeof(double), &device->sums, error));
    device->soft.gas =
        (orr_soft_cuda_gas){.triangles = m->triangles, .triangle = device->triangle, .sums = device->sums};
    return ORR_OK;
}

static bool is_whole(const orr_soft *soft, const orr_cuda *cuda)
{
    int most = 0;
    for (int i = 0; i < soft->tables.colours; i++) {
        const int blocks = soft->tables.colour_block[i + 1] - soft->tables.colour_block[i];
        most = blocks > most ? blocks : most;
    }
    return most * SOFT_CUDA_LANES <= GROUP_THREADS / soft->group_worlds ||
           2 * soft->groups >= cuda->info.processors;
}

static orr_result build(orr_soft *soft, orr_soft_device *device, orr_error *error)
{
    ORR_TRY(orr_cuda_use(device->cuda, error));
    ORR_TRY(upload_tables(soft, device, error));
    ORR_TRY(upload_omega(soft, device, error));
    ORR_TRY(orr_cuda_alloc(device->cuda, (size_t)soft->groups, soft->group_bytes, &device->state, error));
    // arrays beyond positions and velocities are written before they are read, but for `swell` of what is
    // pinned, which stays 0
    ORR_CUDA_TRY(
        cudaMemsetAsync(device->state, 0, (size_t)soft->groups * soft->group_bytes, device->cuda->stream));
    place_group(soft, device);
    ORR_TRY(place_gas(soft, device, error));
    ORR_TRY(orr_soft_device_place_plastic(soft, error));
    device->soft.group_bytes = soft->group_bytes;
    device->soft.groups = soft->groups;
    device->soft.iterations = soft->iterations;
    device->whole = is_whole(soft, device->cuda);
    device->newest = NEWEST_HOST;
    return ORR_OK;
}

orr_result orr_soft_device_create(orr_soft *soft, orr_cuda *cuda, orr_error *error)
{
    orr_soft_device *device = soft->device = orr_alloc_zero(1, sizeof *device);
    if (!device) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: soft bodies");
    }
    device->cuda = cuda;
    return build(soft, device, error);
}

void orr_soft_device_destroy(orr_soft_device *device)
{
    if (device) {
        orr_cuda_use(device->cuda, NULL);
        orr_cuda_free(device->state);
        orr_cuda_free(device->block);
        orr_cuda_free(device->colour_block);
        orr_cuda_free(device->index);
        orr_cuda_free(device->number);
        orr_cuda_free(device->pinned);
        orr_cuda_free(device->omega);
        orr_cuda_free(device->triangle);
        orr_cuda_free(device->sums);
        orr_cuda_free(device->tet);
        orr_cuda_free(device->rows);
        orr_cuda_free(device->tet_at);
        orr_cuda_free(device->strained);
        orr_cuda_free(device->strain);
        orr_cuda_release(&device->planes);
        orr_cuda_release(&device->pushed);
        orr_free(device);
    }
}

orr_result orr_soft_device_status(const orr_soft_device *device, orr_error *error)
{
    if (device->failed != ORR_OK && error) {
        *error = device->error;
    }
    return device->failed;
}

orr_cuda *orr_soft_device_cuda(const orr_soft_device *device)
{
    return device->cuda;
}

orr_result orr_soft_device_check(const orr_soft_device *device, orr_error *error)
{
    ORR_TRY(orr_soft_device_status(device, error));
    ORR_TRY(orr_cuda_use(device->cuda, error));
    return orr_cuda_wait(device->cuda, error);
}

// Positions, velocities and their changes, which follow each other in each group.
static orr_result copy(const orr_soft *soft, bool to_device, orr_error *error)
{
    orr_soft_device *device = soft->device;
    const size_t array = (size_t)((char *)soft->group[0].velocity - (char *)soft->group[0].position);
    void *to = to_device ? device->state : soft->state;
    const void *from = to_device ? soft->state : device->state;
    ORR_TRY(orr_cuda_use(device->cuda, error));
    ORR_CUDA_TRY(
        cudaMemcpy2DAsync(to, soft->group_bytes, from, soft->group_bytes, 3 * array, (size_t)soft->groups,
                          to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, device->cuda->stream));
    return orr_cuda_wait(device->cuda, error);
}

void orr_soft_device_fetch(const orr_soft *soft)
{
    orr_soft_device *device = soft->device;
    orr_error error;
    if (device->failed == ORR_OK && device->newest == NEWEST_DEVICE) {
        orr_soft_device_note(device, copy(soft, false, &error), &error);
        device->newest = NEWEST_BOTH;
    }
}

void orr_soft_device_change(const orr_soft *soft)
{
    orr_soft_device_fetch(soft);
    soft->device->newest = NEWEST_HOST;
}

static orr_result step_parts(const orr_soft *soft, orr_error *error)
{
    const orr_soft_device *device = soft->device;
    cudaStream_t stream = device->cuda->stream;
    const bool has_gas = device->soft.gas.triangles > 0, is_sealed = soft->constants.gas.ambient > 0.0;
    double omega = 1.0;
    if (has_gas) {
        orr_soft_cuda_pressure(stream, &device->soft, &soft->constants, true);
        ORR_CUDA_LAUNCHED();
    }
    orr_soft_cuda_begin(stream, &device->soft, &soft->constants);
    ORR_CUDA_LAUNCHED();
    for (int n = 1; n <= soft->iterations; n++) {
        for (int colour = 0; colour < soft->tables.colours; colour++) {
            const int *first = &soft->tables.colour_block[colour];
            if (first[1] > first[0]) {
                orr_soft_cuda_relax(stream, &device->soft, &soft->constants, first[0], first[1]);
                ORR_CUDA_LAUNCHED();
            }
        }
        if (soft->chebyshev > 0.0) {
            omega = orr_soft_next_omega(soft, n, omega);
            orr_soft_cuda_accelerate(stream, &device->soft, omega);
            ORR_CUDA_LAUNCHED();
        }
        if (has_gas && is_sealed) {
            orr_soft_cuda_pressure(stream, &device->soft, &soft->constants, false);
            ORR_CUDA_LAUNCHED();
        }
    }
    orr_soft_cuda_finish(stream, &device->soft, &soft->constants);
    ORR_CUDA_LAUNCHED();
    if (device->soft.plastic.tets > 0) {
        orr_soft_cuda_yield(stream, &device->soft, &soft->constants);
        ORR_CUDA_LAUNCHED();
    }
    return ORR_OK;
}

orr_result orr_soft_device_ready(const orr_soft *soft, orr_error *error)
{
    orr_soft_device *device = soft->device;
    ORR_TRY(orr_cuda_use(device->cuda, error));
    if (device->newest == NEWEST_HOST) {
        ORR_TRY(copy(soft, true, error));
    }
    device->newest = NEWEST_DEVICE;
    return ORR_OK;
}

static orr_result step(const orr_soft *soft, int steps, orr_error *error)
{
    orr_soft_device *device = soft->device;
    ORR_TRY(orr_soft_device_ready(soft, error));
    if (device->whole) {
        orr_soft_cuda_steps(device->cuda->stream, &device->soft, &soft->constants, steps);
        ORR_CUDA_LAUNCHED();
        return ORR_OK;
    }
    for (int i = 0; i < steps; i++) {
        ORR_TRY(step_parts(soft, error));
    }
    return ORR_OK;
}

void orr_soft_device_step(const orr_soft *soft, int steps)
{
    orr_error error;
    if (soft->device->failed == ORR_OK && steps > 0) {
        orr_soft_device_note(soft->device, step(soft, steps, &error), &error);
    }
}
