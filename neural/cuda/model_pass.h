// Encoding and network of a field as one CUDA kernel: for values, and for values, loss and all gradients.
//
// Factors are halves, sums floats. A block of threads takes ORR_CUDA_TILE_SAMPLES samples at a time; their
// features and activations stay in shared memory and registers. Samples are in blocks of ORR_SAMPLES, as on
// the CPU (block.h).
#pragma once

#include "neural/network/config.h"
#include "neural/network/encoding.h"

#include <cuda_runtime_api.h>

enum {
    ORR_CUDA_TILE_SAMPLES = 128, // samples of a thread block, one per thread
    ORR_CUDA_WEIGHT_PAD = 8 // halves between rows in shared memory, so that eight rows lie in different banks
};

// An encoding without parts, or a part of a composite.
typedef struct orr_cuda_part {
    orr_encoding_kind kind;
    orr_interpolation interpolation;
    int input_first, input_dims, output_first;
    int features, level_count, frequencies, bins, degree;
    float scale, offset;
    int64_t table_first; // parameter
    float harmonics[ORR_HARMONICS_DEGREE_MAX][ORR_HARMONICS_DEGREE_MAX];
    orr_grid_level levels[ORR_GRID_LEVELS_MAX];
} orr_cuda_part;

// The same for all samples of a field.
typedef struct orr_cuda_shape {
    const orr_cuda_part *parts; // device
    int part_count, position_dims;
    int width, hidden_layers;
    int input_dims, input_padded, output_dims, output_padded; // of the network
    float input_padding;
    orr_activation activation, output_activation;
    int64_t network_parameters;
    // where things are; set by orr_cuda_shape_layout
    int weight_halves;     // of all matrices in shared memory, rows padded
    bool weights_resident; // all matrices in shared memory at once, otherwise one after the other
    bool tiles_resident;   // the inputs of all layers, otherwise one, and the others in scratch
    int inference_bytes, training_bytes; // of shared memory
    bool inference_resident;
    int first_stride, hidden_stride, gradient_stride; // halves from one sample to the next
    size_t scratch_halves, scratch_sums;              // of one thread block: halves, then floats
} orr_cuda_shape;

// Finds out what fits into so much shared memory of a thread block. DEVICE_ABSENT when one layer does not.
orr_result orr_cuda_shape_layout(orr_cuda_shape *shape, int shared_bytes, orr_error *error);

// One call of a kernel; all memory is the device's.
typedef struct orr_cuda_pass {
    orr_cuda_shape shape;
    const void *weights;    // halves, in the order of the parameters
    const void *table;      // halves
    int64_t count;          // samples
    const uint32_t *live;   // device: the number of them in this launch; NULL: all
    const float *positions; // position_dims x ORR_SAMPLES per block
    float *output;          // output_dims x ORR_SAMPLES per block; training: NULL: not written

    // training
    const float *targets; // output_dims x ORR_SAMPLES per block; those that are not finite teach nothing ...
    const float *output_gradient; // ... or, where there are no targets, d loss / d output
    orr_loss_kind loss;
    float gradient_scale;  // of gradients while they are halves
    float *losses;         // per thread block: the sum of its losses
    float *weight_sums;    // per thread block: gradients of all weights times gradient_scale
    float *table_gradient; // is added to, times gradient_scale; NULL: not computed
    float *input_gradient; // position_dims x ORR_SAMPLES per block; NULL: not computed
    void *scratch;         // thread blocks x scratch of the shape
} orr_cuda_pass;

// Thread blocks of a pass over so many samples, at most `most`.
int orr_cuda_pass_blocks(int64_t count, int most);
// The launches; count is above 0.
cudaError_t orr_cuda_model_infer(cudaStream_t stream, const orr_cuda_pass *pass, int blocks);
cudaError_t orr_cuda_model_train(cudaStream_t stream, const orr_cuda_pass *pass, int blocks);
