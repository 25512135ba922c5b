// Training on CUDA in a build without CUDA: there is no device to train on, so that only the first of these
// is called.
#include "neural/cuda/field_trainer.h"

static orr_result absent(orr_error *error)
{
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "CUDA is not in this build (NVIDIA's CUDA toolkit: nvcc)");
}

orr_result orr_cuda_field_trainer_create(orr_cuda *cuda, const orr_field *field, int64_t batch_size,
                                         orr_cuda_field_trainer **training, orr_error *error)
{
    (void)cuda, (void)field, (void)batch_size;
    *training = NULL;
    return absent(error);
}

void orr_cuda_field_trainer_destroy(orr_cuda_field_trainer *training)
{
    (void)training;
}

orr_result orr_cuda_field_trainer_step(orr_cuda_field_trainer *training, const float *positions,
                                       const float *targets, double *loss, orr_error *error)
{
    (void)training, (void)positions, (void)targets, (void)loss;
    return absent(error);
}

orr_result orr_cuda_field_trainer_read(orr_cuda_field_trainer *training, float *network, float *table,
                                       float *network_average, float *table_average, orr_error *error)
{
    (void)training, (void)network, (void)table, (void)network_average, (void)table_average;
    return absent(error);
}

size_t orr_cuda_field_trainer_network_state(const orr_cuda_field_trainer *training)
{
    (void)training;
    return 0;
}

size_t orr_cuda_field_trainer_table_state(const orr_cuda_field_trainer *training)
{
    (void)training;
    return 0;
}

orr_result orr_cuda_field_trainer_save(const orr_cuda_field_trainer *training, void *network_state,
                                       void *table_state, orr_error *error)
{
    (void)training, (void)network_state, (void)table_state;
    return absent(error);
}

orr_result orr_cuda_field_trainer_load(orr_cuda_field_trainer *training, const orr_field *field,
                                       const void *network_state, const void *table_state, orr_error *error)
{
    (void)training, (void)field, (void)network_state, (void)table_state;
    return absent(error);
}
