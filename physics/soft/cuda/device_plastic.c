// Solids that yield on CUDA: each world's plastic strain and the numbers of the tables with it are in the
// device's memory. The host's copies are those of the last orr_soft_get_strain or orr_soft_set_strain.
#include "physics/soft/cuda/device_state.h"

static orr_result upload_rows(const orr_soft *soft, orr_error *error)
{
    orr_soft_device *device = soft->device;
    const int tets = soft->model->tets;
    double *rows;
    ORR_ALLOC(rows, (size_t)tets * 36, "a solid that yields", error);
    for (int i = 0; i < tets * 4; i++) {
        orr_soft_tet_rows(soft->model, i / 4, i % 4, rows + (ptrdiff_t)i * 9);
    }
    const orr_result result =
        orr_soft_device_upload(device->cuda, rows, (size_t)tets * 36, sizeof *rows, &device->rows, error);
    orr_free(rows);
    return result;
}

// A world's strain, of which there is one in each group.
static orr_result copy_strain(const orr_soft *soft, int world, bool to_device, orr_error *error)
{
    const orr_soft_device *device = soft->device;
    const size_t numbers = (size_t)soft->model->tets * 9, bytes = numbers * sizeof(double);
    double *there = device->soft.plastic.strain + (size_t)world * numbers, *here = soft->group[world].plastic;
    ORR_TRY(orr_cuda_use(device->cuda, error));
    return to_device ? orr_cuda_upload(device->cuda, there, here, bytes, error)
                     : orr_cuda_download(device->cuda, here, there, bytes, error);
}

orr_result orr_soft_device_place_plastic(const orr_soft *soft, orr_error *error)
{
    orr_soft_device *device = soft->device;
    orr_cuda *cuda = device->cuda;
    const orr_soft_model *m = soft->model;
    const size_t tets = (size_t)m->tets, numbers = soft->tables.number_count, groups = (size_t)soft->groups;
    if (!(m->yield_stress > 0.0) || tets == 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_soft_device_upload(cuda, m->tet, tets * 4, sizeof *m->tet, &device->tet, error));
    ORR_TRY(orr_soft_device_upload(cuda, soft->tables.tet_at, tets * 4, sizeof *soft->tables.tet_at,
                                   &device->tet_at, error));
    ORR_TRY(upload_rows(soft, error));
    ORR_TRY(orr_cuda_alloc(cuda, groups * numbers, sizeof(float), &device->strained, error));
    ORR_TRY(orr_cuda_alloc(cuda, groups * tets * 9, sizeof(double), &device->strain, error));
    device->soft.plastic = (orr_soft_cuda_plastic){.tets = m->tets,
                                                   .tet = device->tet,
                                                   .rows = device->rows,
                                                   .at = device->tet_at,
                                                   .number = device->strained,
                                                   .number_count = numbers,
                                                   .strain = device->strain};
    for (int i = 0; i < soft->groups; i++) {
        ORR_TRY(orr_cuda_upload(cuda, (float *)device->strained + (size_t)i * numbers, soft->group[i].number,
                                numbers * sizeof(float), error));
        ORR_TRY(copy_strain(soft, i, true, error));
    }
    return ORR_OK;
}

void orr_soft_device_get_strain(const orr_soft *soft, int world)
{
    orr_soft_device *device = soft->device;
    orr_error error;
    if (device->failed == ORR_OK) {
        orr_soft_device_note(device, copy_strain(soft, world, false, &error), &error);
    }
}

static orr_result set_strain(const orr_soft *soft, int world, orr_error *error)
{
    const orr_soft_device *device = soft->device;
    ORR_TRY(copy_strain(soft, world, true, error));
    orr_soft_cuda_strain(device->cuda->stream, &device->soft, world);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

void orr_soft_device_set_strain(const orr_soft *soft, int world)
{
    orr_error error;
    if (soft->device->failed == ORR_OK) {
        orr_soft_device_note(soft->device, set_strain(soft, world, &error), &error);
    }
}
