// An encoding and a network as kernels read them, and where its matrices and activations fit.
#include "neural/cuda/model.h"

#include <string.h>

static orr_cuda_part part_of(const orr_encoding *e, int input_first, int output_first, int64_t table_first)
{
    orr_cuda_part part = {.kind = e->config.kind,
                          .interpolation = e->config.interpolation,
                          .input_first = input_first,
                          .input_dims = e->input_dims,
                          .output_first = output_first,
                          .features = e->config.features_per_level,
                          .level_count = e->level_count,
                          .frequencies = e->config.frequencies,
                          .bins = e->config.bins,
                          .degree = e->config.degree,
                          .scale = e->config.scale,
                          .offset = e->config.offset,
                          .table_first = table_first};
    memcpy(part.harmonics, e->harmonics, sizeof part.harmonics);
    memcpy(part.levels, e->levels, sizeof part.levels);
    return part;
}

// The parts that encode anything; their number. parts: ORR_NESTED_MAX + 1
static int parts_of(const orr_encoding *e, orr_cuda_part *parts)
{
    int count = 0, input = 0, output = 0;
    int64_t table = 0;
    int leaves = e->part_count > 0 ? e->part_count : 1;
    for (int i = 0; i < leaves; i++) {
        const orr_encoding *leaf = e->part_count > 0 ? &e->parts[i] : e;
        if (leaf->input_dims > 0) {
            parts[count++] = part_of(leaf, input, output, table);
        }
        input += leaf->input_dims;
        output += leaf->output_dims;
        table += leaf->parameter_count;
    }
    return count;
}

static int largest(int a, int b)
{
    return a > b ? a : b;
}

// Halves of all matrices with their rows padded, and of the largest.
static void count_weights(const orr_cuda_shape *s, int *all, int *one)
{
    *all = *one = 0;
    for (int l = 0; l <= s->hidden_layers; l++) {
        int inputs = l == 0 ? s->input_padded : s->width;
        int outputs = l == s->hidden_layers ? s->output_padded : s->width;
        int halves = outputs * (inputs + ORR_CUDA_WEIGHT_PAD);
        *all += halves;
        *one = largest(*one, halves);
    }
}

static void layout_tiles(orr_cuda_shape *s, bool resident)
{
    int first = s->input_padded, hidden = s->width;
    if (!resident && s->hidden_layers > 0) { // one tile for all layers
        first = hidden = largest(first, hidden);
    }
    s->tiles_resident = resident;
    s->first_stride = first + ORR_CUDA_WEIGHT_PAD;
    s->hidden_stride = hidden + ORR_CUDA_WEIGHT_PAD;
}

orr_result orr_cuda_shape_layout(orr_cuda_shape *s, int shared_bytes, orr_error *error)
{
    enum { HALF = 2, RESERVED = 256 }; // what the kernels have besides
    int all, one, available = (shared_bytes - RESERVED) / HALF;
    count_weights(s, &all, &one);
    s->weight_halves = all;
    s->gradient_stride = largest(s->hidden_layers > 0 ? s->width : 0, s->output_padded) + ORR_CUDA_WEIGHT_PAD;
    int needed = 0;
    for (int choice = 0; choice < 4; choice++) { // activations go to L2 before weights do
        layout_tiles(s, choice % 2 == 0);
        s->weights_resident = choice < 2;
        int strides = s->gradient_stride + s->first_stride +
                      (choice % 2 == 0 ? s->hidden_layers * s->hidden_stride : 0);
        needed = ORR_CUDA_TILE_SAMPLES * strides + (s->weights_resident ? all : one);
        if (needed <= available) {
            break;
        }
    }
    int tile = ORR_CUDA_TILE_SAMPLES * s->first_stride;
    s->inference_resident = tile + all <= available;
    int inference = tile + (s->inference_resident ? all : one);
    if (needed > available || inference > available) {
        return orr_fail(
            error, ORR_CODE_DEVICE_ABSENT,
            "CUDA: a network of %d inputs, %d outputs and width %d needs %d KiB of shared memory; the "
            "device has %d",
            s->input_dims, s->output_dims, s->width, needed * HALF / 1024 + 1, shared_bytes / 1024);
    }
    s->training_bytes = needed * HALF;
    s->inference_bytes = inference * HALF;
    bool sums = orr_activation_keeps_sums(s->activation);
    size_t hidden = (size_t)ORR_CUDA_TILE_SAMPLES * (size_t)s->hidden_layers;
    s->scratch_sums = sums ? hidden * (size_t)s->width : 0;
    s->scratch_halves = s->tiles_resident ? 0 : (hidden + ORR_CUDA_TILE_SAMPLES) * (size_t)s->first_stride;
    return ORR_OK;
}

orr_result orr_cuda_shape_create(orr_cuda *cuda, const orr_encoding *encoding, const orr_mlp *network,
                                 orr_cuda_shape *shape, orr_error *error)
{
    *shape = (orr_cuda_shape){.position_dims = encoding->input_dims,
                              .width = network->config.width,
                              .hidden_layers = network->config.hidden_layers,
                              .input_dims = network->input_dims,
                              .input_padded = network->input_padded,
                              .output_dims = network->output_dims,
                              .output_padded = network->output_padded,
                              .input_padding = network->input_padding,
                              .activation = network->config.activation,
                              .output_activation = network->config.output_activation,
                              .network_parameters = network->parameter_count};
    int shared_bytes;
    ORR_CUDA_TRY(
        cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->device));
    ORR_TRY(orr_cuda_shape_layout(shape, shared_bytes, error));
    orr_cuda_part *parts;
    void *memory;
    ORR_TRY(orr_cuda_alloc(cuda, ORR_NESTED_MAX + 1, sizeof *parts, &memory, error));
    shape->parts = memory;
    ORR_ALLOC(parts, ORR_NESTED_MAX + 1, "an encoding", error);
    shape->part_count = parts_of(encoding, parts);
    orr_result result =
        orr_cuda_upload(cuda, memory, parts, (size_t)shape->part_count * sizeof *parts, error);
    orr_free(parts);
    return result;
}

int orr_cuda_pass_blocks(int64_t count, int most)
{
    int64_t tiles = (count + ORR_CUDA_TILE_SAMPLES - 1) / ORR_CUDA_TILE_SAMPLES;
    return (int)(tiles < most ? tiles : most);
}
