#include "neural/cuda/model.h"

#include "neural/cuda/optimizer.h"

#include <string.h>

static orr_result create(orr_cuda_model *m, const orr_encoding *encoding, const orr_mlp *network,
                         orr_error *error)
{
    ORR_TRY(orr_cuda_shape_create(m->cuda, encoding, network, &m->shape, error));
    m->table_parameters = encoding->parameter_count;
    ORR_TRY(orr_cuda_alloc(m->cuda, (size_t)network->parameter_count, sizeof(uint16_t), &m->weights, error));
    return orr_cuda_alloc(m->cuda, (size_t)encoding->parameter_count, sizeof(uint16_t), &m->table, error);
}

orr_result orr_cuda_model_create(orr_cuda *cuda, const orr_encoding *encoding, const orr_mlp *network,
                                 orr_cuda_model *model, orr_error *error)
{
    *model = (orr_cuda_model){.cuda = cuda};
    orr_result result = create(model, encoding, network, error);
    if (result != ORR_OK) {
        orr_cuda_model_destroy(model);
    }
    return result;
}

void orr_cuda_model_destroy(orr_cuda_model *m)
{
    orr_cuda_free((void *)m->shape.parts);
    orr_cuda_free(m->weights);
    orr_cuda_free(m->table);
    orr_cuda_buffer *buffers[] = {&m->positions,   &m->output, &m->output_gradient, &m->input_gradient,
                                  &m->weight_sums, &m->losses, &m->scratch,         &m->floats};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        orr_cuda_release(buffers[i]);
    }
    *m = (orr_cuda_model){0};
}

static orr_result set_halves(orr_cuda_model *m, const float *from, int64_t count, void *to, orr_error *error)
{
    if (count == 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->floats, (size_t)count, sizeof(float), error));
    ORR_TRY(orr_cuda_upload(m->cuda, m->floats.memory, from, (size_t)count * sizeof(float), error));
    orr_cuda_halves_launch(m->cuda->stream, m->floats.memory, count, to);
    ORR_CUDA_TRY(cudaGetLastError());
    return ORR_OK;
}

orr_result orr_cuda_model_set(orr_cuda_model *m, const float *network, const float *table, orr_error *error)
{
    ORR_TRY(orr_cuda_use(m->cuda, error));
    ORR_TRY(set_halves(m, network, m->shape.network_parameters, m->weights, error));
    ORR_TRY(set_halves(m, table, m->table_parameters, m->table, error));
    ORR_TRY(orr_cuda_wait(m->cuda, error));
    orr_cuda_release(&m->floats); // as large as the table, and of no use until the next time
    return ORR_OK;
}

// floats of whole blocks with so many members
static size_t floats_of(int64_t count, int members)
{
    return (size_t)((count + ORR_SAMPLES - 1) / ORR_SAMPLES) * ORR_SAMPLES * (size_t)members;
}

static orr_result upload_positions(orr_cuda_model *m, const float *positions, int64_t count, orr_error *error)
{
    size_t floats = floats_of(count, m->shape.position_dims);
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->positions, floats, sizeof(float), error));
    return orr_cuda_upload(m->cuda, m->positions.memory, positions, floats * sizeof(float), error);
}

orr_result orr_cuda_model_values(orr_cuda_model *m, const float *positions, int64_t count, float *output,
                                 orr_error *error)
{
    if (count == 0) {
        return ORR_OK;
    }
    size_t floats = floats_of(count, m->shape.output_dims);
    ORR_TRY(orr_cuda_use(m->cuda, error));
    ORR_TRY(upload_positions(m, positions, count, error));
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->output, floats, sizeof(float), error));
    orr_cuda_pass pass = {.shape = m->shape,
                          .weights = m->weights,
                          .table = m->table,
                          .count = count,
                          .positions = m->positions.memory,
                          .output = m->output.memory};
    orr_cuda_range_begin("field values");
    int blocks = orr_cuda_pass_blocks(count, m->cuda->info.processors * ORR_CUDA_INFERENCE_BLOCKS);
    cudaError_t code = orr_cuda_model_infer(m->cuda->stream, &pass, blocks);
    orr_cuda_range_end();
    ORR_CUDA_TRY(code);
    return orr_cuda_download(m->cuda, output, m->output.memory, floats * sizeof(float), error);
}

orr_result orr_cuda_model_pass(orr_cuda_model *m, int64_t count, orr_cuda_pass *pass, orr_error *error)
{
    const orr_cuda_shape *s = &m->shape;
    size_t blocks = (size_t)orr_cuda_model_blocks(m, count);
    size_t scratch = s->scratch_sums * sizeof(float) + s->scratch_halves * sizeof(uint16_t);
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->losses, blocks, sizeof(float), error));
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->weight_sums, blocks * (size_t)s->network_parameters, sizeof(float),
                             error));
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->scratch, blocks, scratch, error));
    *pass = (orr_cuda_pass){.shape = *s,
                            .weights = m->weights,
                            .table = m->table,
                            .count = count,
                            .gradient_scale = ORR_CUDA_LOSS_SCALE,
                            .losses = m->losses.memory,
                            .weight_sums = m->weight_sums.memory,
                            .scratch = m->scratch.memory};
    return ORR_OK;
}

static void unscale(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] *= 1.0f / ORR_CUDA_LOSS_SCALE;
    }
}

static orr_result download_gradients(orr_cuda_model *m, const orr_cuda_pass *pass,
                                     const orr_cuda_gradients *to, void *network, orr_error *error)
{
    size_t parameters = (size_t)m->shape.network_parameters, table = (size_t)m->table_parameters;
    if (to->network) {
        orr_cuda_sum_rows_launch(m->cuda->stream, pass->weight_sums, orr_cuda_model_blocks(m, pass->count),
                                 m->shape.network_parameters, network);
        ORR_CUDA_TRY(cudaGetLastError());
        ORR_TRY(orr_cuda_download(m->cuda, to->network, network, parameters * sizeof(float), error));
        unscale(to->network, parameters);
    }
    if (pass->table_gradient) {
        ORR_TRY(orr_cuda_download(m->cuda, to->table, pass->table_gradient, table * sizeof(float), error));
        unscale(to->table, table);
    }
    if (to->input) {
        ORR_TRY(orr_cuda_download(m->cuda, to->input, pass->input_gradient,
                                  floats_of(pass->count, m->shape.position_dims) * sizeof(float), error));
    }
    return to->output ? orr_cuda_download(m->cuda, to->output, pass->output,
                                          floats_of(pass->count, m->shape.output_dims) * sizeof(float), error)
                      : ORR_OK;
}

orr_result orr_cuda_model_gradients(orr_cuda_model *m, const float *positions, int64_t count,
                                    const float *output_gradient, const orr_cuda_gradients *gradients,
                                    orr_error *error)
{
    size_t parameters = (size_t)m->shape.network_parameters, table = (size_t)m->table_parameters;
    if (count == 0) {
        if (gradients->network) {
            memset(gradients->network, 0, parameters * sizeof(float));
        }
        if (gradients->table) {
            memset(gradients->table, 0, table * sizeof(float));
        }
        return ORR_OK;
    }
    size_t outputs = floats_of(count, m->shape.output_dims),
           inputs = floats_of(count, m->shape.position_dims);
    orr_cuda_pass pass;
    ORR_TRY(orr_cuda_use(m->cuda, error));
    ORR_TRY(upload_positions(m, positions, count, error));
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->output, outputs, sizeof(float), error));
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->output_gradient, outputs, sizeof(float), error));
    ORR_TRY(
        orr_cuda_upload(m->cuda, m->output_gradient.memory, output_gradient, outputs * sizeof(float), error));
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->input_gradient, inputs, sizeof(float), error));
    ORR_TRY(orr_cuda_reserve(m->cuda, &m->floats, parameters + table, sizeof(float), error)); // of both
    ORR_TRY(orr_cuda_model_pass(m, count, &pass, error));
    ORR_CUDA_TRY(cudaMemsetAsync(m->floats.memory, 0, (parameters + table) * sizeof(float), m->cuda->stream));
    pass.positions = m->positions.memory;
    pass.output = gradients->output ? m->output.memory : NULL;
    pass.output_gradient = m->output_gradient.memory;
    pass.table_gradient = gradients->table && table > 0 ? (float *)m->floats.memory + parameters : NULL;
    pass.input_gradient = gradients->input ? m->input_gradient.memory : NULL;
    orr_cuda_range_begin("field gradients");
    cudaError_t code = orr_cuda_model_train(m->cuda->stream, &pass, orr_cuda_model_blocks(m, count));
    orr_cuda_range_end();
    ORR_CUDA_TRY(code);
    return download_gradients(m, &pass, gradients, m->floats.memory, error);
}
