#include "neural/network/mlp.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "neural/network/mlp_kernels.h"

#include <math.h>
#include <string.h>

static int padded(int dims)
{
    return (dims + 15) / 16 * 16;
}

// The matrices from input to output; their number.
static int layers_of(const orr_mlp *mlp, orr_mlp_layer *layers)
{
    int count = mlp->config.hidden_layers + 1;
    int64_t first = 0;
    for (int i = 0; i < count; i++) {
        layers[i].inputs = i == 0 ? mlp->input_padded : mlp->config.width;
        layers[i].outputs = i == count - 1 ? mlp->output_padded : mlp->config.width;
        layers[i].first = first;
        first += (int64_t)layers[i].inputs * layers[i].outputs;
    }
    return count;
}

orr_result orr_mlp_create(const orr_mlp_config *config, int input_dims, int output_dims, orr_mlp *mlp,
                          orr_error *error)
{
    int width = config->width;
    if (width != 16 && width != 32 && width != 64 && width != 128) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "network: n_neurons %d: expected 16, 32, 64 or 128", width);
    }
    if (config->hidden_layers < 0 || config->hidden_layers >= ORR_MLP_LAYERS_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "network: n_hidden_layers %d: expected 0 .. %d",
                        config->hidden_layers, ORR_MLP_LAYERS_MAX - 1);
    }
    if (input_dims < 1 || input_dims > ORR_MLP_DIMS_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "network: %d inputs: expected 1 .. %d", input_dims,
                        ORR_MLP_DIMS_MAX);
    }
    if (output_dims < 1 || output_dims > ORR_MLP_DIMS_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "network: %d outputs: expected 1 .. %d", output_dims,
                        ORR_MLP_DIMS_MAX);
    }
    *mlp = (orr_mlp){.config = *config,
                     .input_dims = input_dims,
                     .output_dims = output_dims,
                     .input_padded = padded(input_dims),
                     .output_padded = padded(output_dims)};
    orr_mlp_layer layers[ORR_MLP_LAYERS_MAX];
    const orr_mlp_layer *last = &layers[layers_of(mlp, layers) - 1];
    mlp->parameter_count = last->first + (int64_t)last->inputs * last->outputs;
    return ORR_OK;
}

void orr_mlp_initialise(const orr_mlp *mlp, uint32_t seed, float *weights)
{
    orr_mlp_layer layers[ORR_MLP_LAYERS_MAX];
    int count = layers_of(mlp, layers);
    orr_rng rng = {.seed = seed};
    for (int i = 0; i < count; i++) {
        float bound = sqrtf(6.0f / (float)(layers[i].inputs + layers[i].outputs));
        int size = layers[i].inputs * layers[i].outputs;
        for (int k = 0; k < size; k++) {
            *weights++ = orr_rng_range(&rng, -bound, bound);
        }
    }
}

size_t orr_mlp_activation_floats(const orr_mlp *mlp)
{
    bool output_sums = orr_activation_keeps_sums(mlp->config.output_activation);
    return orr_mlp_output_sum_offset(mlp) + (output_sums ? (size_t)mlp->output_dims * ORR_SAMPLES : 0);
}

// ---- weights ----

static int depth32(int depth)
{
    return (depth + 31) / 32 * 32;
}

orr_result orr_mlp_weights_create_for(const orr_mlp *mlp, const orr_mlp_kernels *kernels,
                                      orr_mlp_weights **weights, orr_error *error)
{
    orr_mlp_weights *w;
    ORR_ALLOC(w, 1, "a network's weights", error);
    *w = (orr_mlp_weights){.mlp = *mlp, .kernels = kernels};
    w->layer_count = layers_of(mlp, w->layers);
    size_t sizes[2 * ORR_MLP_LAYERS_MAX], total = 0;
    for (int i = 0; i < w->layer_count; i++) {
        size_t inputs = (size_t)w->layers[i].inputs, outputs = (size_t)w->layers[i].outputs;
        if (kernels->bf16) {
            sizes[2 * i] = sizeof(uint16_t) * outputs * (size_t)depth32((int)inputs);
            sizes[2 * i + 1] = sizeof(uint16_t) * inputs * (size_t)depth32((int)outputs);
        } else {
            sizes[2 * i] = sizes[2 * i + 1] = sizeof(float) * inputs * outputs;
        }
        total += sizes[2 * i] + sizes[2 * i + 1]; // each a multiple of 1024
    }
    char *memory = orr_alloc_zero(total, 1);
    if (!memory) {
        orr_free(w);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu bytes for a network's weights",
                        total);
    }
    w->memory = memory;
    for (int i = 0; i < w->layer_count; i++) {
        w->layers[i].rows = memory;
        memory += sizes[2 * i];
        w->layers[i].columns = memory;
        memory += sizes[2 * i + 1];
    }
    *weights = w;
    return ORR_OK;
}

void orr_mlp_weights_destroy(orr_mlp_weights *weights)
{
    if (weights) {
        orr_free(weights->memory);
        orr_free(weights);
    }
}

// to nearest, ties to even; weights are finite
static uint16_t bf16_of(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void set_bf16(const orr_mlp_layer *layer, const float *master)
{
    uint16_t *rows = layer->rows, *columns = layer->columns;
    int row = depth32(layer->inputs), column = depth32(layer->outputs);
    for (int o = 0; o < layer->outputs; o++) {
        for (int k = 0; k < layer->inputs; k++) {
            uint16_t value = bf16_of(master[o * layer->inputs + k]);
            rows[o * row + k] = value;
            columns[k * column + o] = value;
        }
    }
}

static void set_fp32(const orr_mlp_layer *layer, const float *master)
{
    float *columns = layer->columns;
    memcpy(layer->rows, master, sizeof(float) * (size_t)(layer->inputs * layer->outputs));
    for (int o = 0; o < layer->outputs; o++) {
        for (int k = 0; k < layer->inputs; k++) {
            columns[k * layer->outputs + o] = master[o * layer->inputs + k];
        }
    }
}

void orr_mlp_weights_set(orr_mlp_weights *weights, const float *master)
{
    for (int i = 0; i < weights->layer_count; i++) {
        const orr_mlp_layer *layer = &weights->layers[i];
        (weights->kernels->bf16 ? set_bf16 : set_fp32)(layer, master + layer->first);
    }
}

void orr_mlp_forward(const orr_mlp_weights *weights, const float *input, float *output, float *activations)
{
    weights->kernels->forward(weights, input, output, activations);
}

void orr_mlp_backward(const orr_mlp_weights *weights, const float *input, const float *output,
                      const float *activations, const float *output_gradient, float *weight_gradient,
                      float *input_gradient)
{
    weights->kernels->backward(weights, input, output, activations, output_gradient, weight_gradient,
                               input_gradient);
}
