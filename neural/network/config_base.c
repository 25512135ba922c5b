// The configurations that instant-ngp ships as base.json for each kind of field.
#include "neural/network/config.h"

#include "engine/core/memory.h"

static const orr_optimizer_config adam = {.learning_rate = 1e-2,
                                          .beta1 = 0.9,
                                          .beta2 = 0.99,
                                          .epsilon = 1e-15,
                                          .l2_reg = 1e-6,
                                          .decay_base = 0.33,
                                          .decay_start = 20000,
                                          .decay_interval = 10000,
                                          .decay_end = 10000000,
                                          .ema_decay = 0.95};

static const orr_encoding_config hash_grid = {.kind = ORR_ENCODING_GRID,
                                              .levels = 16,
                                              .features_per_level = 2,
                                              .log2_hashmap_size = 19,
                                              .base_resolution = 16};

orr_result orr_field_config_base(orr_field_kind kind, orr_field_config *config, orr_error *error)
{
    *config = (orr_field_config){
        .optimizer = adam,
        .encoding = hash_grid,
        .network = {.width = 64, .hidden_layers = 2, .activation = ORR_ACTIVATION_RELU},
    };
    switch (kind) {
    case ORR_FIELD_IMAGE:
        config->loss = ORR_LOSS_L2;
        config->encoding.log2_hashmap_size = 24;
        config->optimizer.ema_decay = 0.0;
        return ORR_OK;
    case ORR_FIELD_SDF:
        config->loss = ORR_LOSS_MAPE;
        config->optimizer.learning_rate = 1e-4;
        config->optimizer.decay_start = 10000;
        config->optimizer.decay_interval = 5000;
        return ORR_OK;
    case ORR_FIELD_VOLUME:
        config->loss = ORR_LOSS_L2;
        config->network.output_activation = ORR_ACTIVATION_RELU;
        config->optimizer.learning_rate = 1e-4;
        config->optimizer.decay_start = 10000;
        config->optimizer.decay_interval = 5000;
        return ORR_OK;
    case ORR_FIELD_NERF:
        break;
    }
    config->loss = ORR_LOSS_HUBER;
    config->encoding.levels = 8;
    config->encoding.features_per_level = 4;
    config->network.hidden_layers = 1;
    config->rgb_network = config->network;
    config->rgb_network.hidden_layers = 2;
    ORR_ALLOC(config->dir_encoding.nested, 2, "a configuration", error);
    config->has_rgb = true;
    config->dir_encoding.kind = ORR_ENCODING_COMPOSITE;
    config->dir_encoding.nested_count = 2;
    config->dir_encoding.nested[0] =
        (orr_encoding_config){.kind = ORR_ENCODING_SPHERICAL_HARMONICS, .input_dims = 3, .degree = 4};
    config->dir_encoding.nested[1] = (orr_encoding_config){.kind = ORR_ENCODING_IDENTITY, .scale = 1.0f};
    return ORR_OK;
}
