// Configurations: the JSON of tiny-cuda-nn and instant-ngp, key for key, read into plain structs.
#pragma once

#include "engine/core/result.h"
#include "engine/maths/inline.h"

typedef enum orr_encoding_kind {
    ORR_ENCODING_IDENTITY = 0,
    ORR_ENCODING_GRID,
    ORR_ENCODING_FREQUENCY,
    ORR_ENCODING_SPHERICAL_HARMONICS,
    ORR_ENCODING_ONE_BLOB,
    ORR_ENCODING_TRIANGLE_WAVE,
    ORR_ENCODING_COMPOSITE
} orr_encoding_kind;

typedef enum orr_grid_kind { ORR_GRID_HASH = 0, ORR_GRID_DENSE, ORR_GRID_TILED } orr_grid_kind;
typedef enum orr_interpolation { ORR_LINEAR = 0, ORR_NEAREST, ORR_SMOOTHSTEP } orr_interpolation;

enum { ORR_NESTED_MAX = 4 };

// One encoding as in the JSON. Members a kind does not have stay 0.
typedef struct orr_encoding_config {
    orr_encoding_kind kind;
    int input_dims; // n_dims_to_encode; 0: what is left
    // grid
    orr_grid_kind grid;
    orr_interpolation interpolation;
    int levels;             // n_levels, 1 .. 32
    int features_per_level; // 1, 2, 4, 8
    int log2_hashmap_size;  // 1 .. 28
    int base_resolution;
    double per_level_scale; // 0: from the desired resolution of the field
    // others
    int frequencies;                    // frequency, triangle wave
    int degree;                         // spherical harmonics, 1 .. 8
    int bins;                           // one-blob
    float scale, offset;                // identity; scale 0: 1
    struct orr_encoding_config *nested; // composite: nested_count, owned
    int nested_count;
} orr_encoding_config;

typedef enum orr_activation {
    ORR_ACTIVATION_NONE = 0,
    ORR_ACTIVATION_RELU,
    ORR_ACTIVATION_LEAKY_RELU, // slope 0.01
    ORR_ACTIVATION_SILU,
    ORR_ACTIVATION_EXPONENTIAL,
    ORR_ACTIVATION_SINE,
    ORR_ACTIVATION_SIGMOID,
    ORR_ACTIVATION_SQUAREPLUS, // K = 10
    ORR_ACTIVATION_SOFTPLUS,   // K = 10
    ORR_ACTIVATION_TANH
} orr_activation;

// Most activations give their derivative from their value; SiLU and sine need the sum that went in.
ORR_INLINE bool orr_activation_keeps_sums(orr_activation activation)
{
    return activation == ORR_ACTIVATION_SILU || activation == ORR_ACTIVATION_SINE;
}

typedef struct orr_mlp_config {
    int width;         // n_neurons: 16, 32, 64, 128
    int hidden_layers; // n_hidden_layers, 0 .. 16
    orr_activation activation;
    orr_activation output_activation;
} orr_mlp_config;

typedef enum orr_loss_kind {
    ORR_LOSS_L2 = 0,
    ORR_LOSS_RELATIVE_L2,
    ORR_LOSS_L1,
    ORR_LOSS_MAPE,
    ORR_LOSS_SMAPE,
    ORR_LOSS_HUBER,
    ORR_LOSS_LOG_L1,
    ORR_LOSS_CROSS_ENTROPY,
    ORR_LOSS_BINARY_CROSS_ENTROPY
} orr_loss_kind;

// The nested optimisers of a config, flattened: EMA over decay over Adam or SGD.
typedef struct orr_optimizer_config {
    bool sgd; // otherwise Adam
    double learning_rate;
    double beta1, beta2, epsilon;
    double l2_reg;     // on network weights only
    double decay_base; // ExponentialDecay; 1: none
    int decay_start, decay_interval, decay_end;
    double ema_decay; // EMA; 0: none
} orr_optimizer_config;

// A field's configuration: what instant-ngp's files under configs/nerf, sdf, image and volume hold.
typedef struct orr_field_config {
    orr_loss_kind loss;
    orr_optimizer_config optimizer;
    orr_encoding_config encoding;
    orr_mlp_config network;
    bool has_rgb; // NeRF: the second network and its direction encoding
    orr_encoding_config dir_encoding;
    orr_mlp_config rgb_network;
    // Keys of the file that are known and have no effect here ("envmap, distortion_map"), for a warning; cut
    // when too long.
    char ignored[1024];
} orr_field_config;

typedef enum orr_field_kind {
    ORR_FIELD_IMAGE = 0,
    ORR_FIELD_SDF,
    ORR_FIELD_NERF,
    ORR_FIELD_VOLUME
} orr_field_kind;

// The base configuration that instant-ngp ships for a kind of field. Free with orr_field_config_free.
orr_result orr_field_config_base(orr_field_kind kind, orr_field_config *config, orr_error *error);
// Reads a JSON file or text over `config`, which has the defaults and changes whole or not at all. An object
// replaces the one that is there when its otype is another, otherwise its keys replace those that are there.
// "parent" is read first, from beside the file. Unknown keys and values out of range are errors
// (ORR_CODE_CONFIG) that name the key.
orr_result orr_field_config_load(const char *path, orr_field_config *config, orr_error *error);
orr_result orr_field_config_parse(const char *text, const char *name, orr_field_config *config,
                                  orr_error *error);
struct cJSON;
// The JSON object of a configuration, as tiny-cuda-nn reads it; NULL when memory is out. The caller owns it.
struct cJSON *orr_field_config_json(const orr_field_config *config);
void orr_field_config_free(orr_field_config *config);
