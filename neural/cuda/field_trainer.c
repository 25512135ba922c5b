#include "neural/cuda/field_trainer.h"

#include "neural/cuda/model.h"
#include "neural/cuda/optimizer.h"

struct orr_cuda_field_trainer {
    orr_cuda *cuda; // borrowed
    orr_cuda_model model;
    orr_cuda_optimizer network_optimizer, table_optimizer;
    orr_loss_kind loss;
    int64_t batch_size;
    int blocks;
    bool has_table;
    orr_cuda_pass pass;
    float *network, *table;                   // device: the parameters
    float *network_gradient, *table_gradient; // device; the table's is zero between steps
    float *positions, *targets;               // device
    float *losses;                            // host, pinned: per thread block
    orr_cuda_buffer average;
};

static orr_result allocate(orr_cuda_field_trainer *t, size_t count, float **memory, orr_error *error)
{
    void *made;
    ORR_TRY(orr_cuda_alloc(t->cuda, count, sizeof(float), &made, error));
    *memory = made;
    return ORR_OK;
}

static orr_result upload_parameters(orr_cuda_field_trainer *t, const orr_field *field, orr_error *error)
{
    const orr_field_parts *parts = orr_field_parts_of(field);
    ORR_TRY(orr_cuda_upload(t->cuda, t->network, parts->network_parameters,
                            (size_t)parts->network.parameter_count * sizeof(float), error));
    if (t->has_table) {
        ORR_TRY(orr_cuda_upload(t->cuda, t->table, parts->table,
                                (size_t)parts->encoding.parameter_count * sizeof(float), error));
    }
    return orr_cuda_model_set(&t->model, parts->network_parameters, parts->table, error);
}

static orr_result create_table(orr_cuda_field_trainer *t, const orr_optimizer_config *config, size_t table,
                               orr_error *error)
{
    ORR_TRY(allocate(t, table, &t->table, error));
    ORR_TRY(allocate(t, table, &t->table_gradient, error));
    ORR_CUDA_TRY(cudaMemsetAsync(t->table_gradient, 0, table * sizeof(float), t->cuda->stream));
    return orr_cuda_optimizer_create(t->cuda, config, (int64_t)table, true, &t->table_optimizer, error);
}

static orr_result create(orr_cuda_field_trainer *t, const orr_field *field, orr_error *error)
{
    const orr_field_parts *parts = orr_field_parts_of(field);
    const orr_field_config *config = &orr_field_describe(field)->config;
    size_t network = (size_t)parts->network.parameter_count, batch = (size_t)t->batch_size;
    ORR_TRY(orr_cuda_use(t->cuda, error));
    ORR_TRY(orr_cuda_model_create(t->cuda, &parts->encoding, &parts->network, &t->model, error));
    ORR_TRY(orr_cuda_model_pass(&t->model, t->batch_size, &t->pass, error));
    t->blocks = orr_cuda_model_blocks(&t->model, t->batch_size);
    ORR_TRY(allocate(t, network, &t->network, error));
    ORR_TRY(allocate(t, network, &t->network_gradient, error));
    ORR_TRY(allocate(t, batch * (size_t)parts->encoding.input_dims, &t->positions, error));
    ORR_TRY(allocate(t, batch * (size_t)parts->network.output_dims, &t->targets, error));
    ORR_CUDA_TRY(cudaMallocHost((void **)&t->losses, (size_t)t->blocks * sizeof(float)));
    ORR_TRY(orr_cuda_optimizer_create(t->cuda, &config->optimizer, parts->network.parameter_count, false,
                                      &t->network_optimizer, error));
    if (t->has_table) {
        ORR_TRY(create_table(t, &config->optimizer, (size_t)parts->encoding.parameter_count, error));
    }
    t->pass.positions = t->positions;
    t->pass.targets = t->targets;
    t->pass.loss = t->loss;
    t->pass.table_gradient = t->table_gradient;
    return upload_parameters(t, field, error);
}

orr_result orr_cuda_field_trainer_create(orr_cuda *cuda, const orr_field *field, int64_t batch_size,
                                         orr_cuda_field_trainer **training, orr_error *error)
{
    *training = NULL;
    orr_cuda_field_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: training on CUDA");
    }
    t->cuda = cuda;
    t->batch_size = batch_size;
    t->loss = orr_field_describe(field)->config.loss;
    t->has_table = orr_field_parts_of(field)->encoding.parameter_count > 0;
    orr_result result = create(t, field, error);
    if (result != ORR_OK) {
        orr_cuda_field_trainer_destroy(t);
        return result;
    }
    *training = t;
    return ORR_OK;
}

void orr_cuda_field_trainer_destroy(orr_cuda_field_trainer *t)
{
    if (!t) {
        return;
    }
    orr_cuda_use(t->cuda, NULL);
    orr_cuda_wait(t->cuda, NULL);
    orr_cuda_model_destroy(&t->model);
    orr_cuda_optimizer_destroy(&t->network_optimizer);
    orr_cuda_optimizer_destroy(&t->table_optimizer);
    orr_cuda_release(&t->average);
    float *const memory[] = {t->network,        t->table,     t->network_gradient,
                             t->table_gradient, t->positions, t->targets};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        orr_cuda_free(memory[i]);
    }
    cudaFreeHost(t->losses);
    orr_free(t);
}

static orr_result upload_batch(orr_cuda_field_trainer *t, const float *positions, const float *targets,
                               orr_error *error)
{
    const orr_cuda_shape *s = &t->model.shape;
    size_t batch = (size_t)t->batch_size * sizeof(float);
    ORR_CUDA_TRY(cudaMemcpyAsync(t->positions, positions, batch * (size_t)s->position_dims,
                                 cudaMemcpyHostToDevice, t->cuda->stream));
    ORR_CUDA_TRY(cudaMemcpyAsync(t->targets, targets, batch * (size_t)s->output_dims, cudaMemcpyHostToDevice,
                                 t->cuda->stream));
    return ORR_OK;
}

static orr_result optimise(orr_cuda_field_trainer *t, orr_error *error)
{
    float unscale =
        1.0f / ((float)t->batch_size * (float)t->model.shape.output_dims * (float)ORR_CUDA_LOSS_SCALE);
    orr_cuda_sum_rows_launch(t->cuda->stream, t->pass.weight_sums, t->blocks,
                             t->model.shape.network_parameters, t->network_gradient);
    ORR_CUDA_TRY(cudaGetLastError());
    ORR_TRY(orr_cuda_optimizer_step(&t->network_optimizer, t->network, t->model.weights, t->network_gradient,
                                    unscale, error));
    return t->has_table ? orr_cuda_optimizer_step(&t->table_optimizer, t->table, t->model.table,
                                                  t->table_gradient, unscale, error)
                        : ORR_OK;
}

orr_result orr_cuda_field_trainer_step(orr_cuda_field_trainer *t, const float *positions,
                                       const float *targets, double *loss, orr_error *error)
{
    ORR_TRY(orr_cuda_use(t->cuda, error));
    orr_cuda_range_begin("batch");
    orr_result result = upload_batch(t, positions, targets, error);
    orr_cuda_range_end();
    ORR_TRY(result);
    orr_cuda_range_begin("network");
    cudaError_t code = orr_cuda_model_train(t->cuda->stream, &t->pass, t->blocks);
    orr_cuda_range_end();
    ORR_CUDA_TRY(code);
    orr_cuda_range_begin("optimise");
    result = optimise(t, error);
    orr_cuda_range_end();
    ORR_TRY(result);
    ORR_TRY(orr_cuda_download(t->cuda, t->losses, t->pass.losses, (size_t)t->blocks * sizeof(float), error));
    *loss = 0.0;
    for (int i = 0; i < t->blocks; i++) {
        *loss += (double)t->losses[i];
    }
    return ORR_OK;
}

static orr_result read_parameters(orr_cuda_field_trainer *t, const orr_cuda_optimizer *optimizer,
                                  const float *parameters, float *to, float *average, orr_error *error)
{
    size_t bytes = (size_t)optimizer->parameter_count * sizeof(float);
    if (to) {
        ORR_TRY(orr_cuda_download(t->cuda, to, parameters, bytes, error));
    }
    if (average) {
        ORR_TRY(orr_cuda_reserve(t->cuda, &t->average, bytes, 1, error));
        ORR_TRY(orr_cuda_optimizer_average(optimizer, parameters, t->average.memory, error));
        ORR_TRY(orr_cuda_download(t->cuda, average, t->average.memory, bytes, error));
    }
    return ORR_OK;
}

orr_result orr_cuda_field_trainer_read(orr_cuda_field_trainer *t, float *network, float *table,
                                       float *network_average, float *table_average, orr_error *error)
{
    ORR_TRY(orr_cuda_use(t->cuda, error));
    ORR_TRY(read_parameters(t, &t->network_optimizer, t->network, network, network_average, error));
    return t->has_table ? read_parameters(t, &t->table_optimizer, t->table, table, table_average, error)
                        : ORR_OK;
}

size_t orr_cuda_field_trainer_network_state(const orr_cuda_field_trainer *t)
{
    return orr_cuda_optimizer_state_size(&t->network_optimizer);
}

size_t orr_cuda_field_trainer_table_state(const orr_cuda_field_trainer *t)
{
    return t->has_table ? orr_cuda_optimizer_state_size(&t->table_optimizer) : 0;
}

orr_result orr_cuda_field_trainer_save(const orr_cuda_field_trainer *t, void *network_state,
                                       void *table_state, orr_error *error)
{
    ORR_TRY(orr_cuda_use(t->cuda, error));
    ORR_TRY(orr_cuda_optimizer_state_save(&t->network_optimizer, network_state, error));
    return t->has_table ? orr_cuda_optimizer_state_save(&t->table_optimizer, table_state, error) : ORR_OK;
}

orr_result orr_cuda_field_trainer_load(orr_cuda_field_trainer *t, const orr_field *field,
                                       const void *network_state, const void *table_state, orr_error *error)
{
    ORR_TRY(orr_cuda_use(t->cuda, error));
    ORR_TRY(orr_cuda_optimizer_state_load(&t->network_optimizer, network_state,
                                          orr_cuda_field_trainer_network_state(t), error));
    if (t->has_table) {
        ORR_TRY(orr_cuda_optimizer_state_load(&t->table_optimizer, table_state,
                                              orr_cuda_field_trainer_table_state(t), error));
    }
    return upload_parameters(t, field, error);
}
