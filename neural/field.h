// Fields: functions of space that are trained, stored, and asked for values. One door for the four kinds.
//
//   image     2D place in 0 .. 1             -> display colour
//   sdf       3D place in the unit cube      -> signed distance
//   nerf      3D place and direction         -> density and display colour
//   volume    3D place in the unit cube      -> density and albedo
//
// A field owns its encoding, its network or networks and their parameters. A trainer changes them step by step; everyone
// else sees the parameters for inference (the moving average where the config has one).
#pragma once

#include "engine/core/jobs.h"
#include "neural/config.h"
#include "neural/encoding.h"
#include "neural/mlp.h"
#include "neural/optimizer.h"

typedef struct orr_field orr_field;

// The parts of a field, for its trainer and for kernels that evaluate blocks. `rgb` parts only for NeRFs.
typedef struct orr_field_parts {
    orr_encoding encoding;
    orr_mlp network;
    orr_encoding dir_encoding;
    orr_mlp rgb_network;
    float *network_parameters;     // network.parameter_count
    float *rgb_network_parameters; // rgb_network.parameter_count
    float *table;                  // encoding.parameter_count
    // what inference uses; set by orr_field_refresh
    orr_mlp_weights *network_weights;
    orr_mlp_weights *rgb_network_weights;
    const float *inference_table;
} orr_field_parts;

typedef struct orr_field_desc {
    orr_field_kind kind;
    orr_field_config config; // copied
    int aabb_scale;          // NeRF: power of two, 1 .. 128; 0: 1
    double
        desired_resolution; // finest grid resolution when the config gives no per_level_scale; 0: the kind's default
    uint32_t seed;
    orr_isa isa;
    orr_mlp_machine machine;
} orr_field_desc;

orr_result orr_field_create(const orr_field_desc *desc, orr_field **field, orr_error *error);
void orr_field_destroy(orr_field *field); // NULL is allowed
orr_field_kind orr_field_kind_of(const orr_field *field);
const orr_field_desc *orr_field_describe(const orr_field *field);
orr_field_parts *orr_field_parts_of(orr_field *field);
// Makes the parameters that inference uses from the trained ones (their averages where there are): the tables are
// borrowed, the networks copied into their machine's layout.
void orr_field_refresh(orr_field *field, const float *network, const float *rgb_network, const float *table);

// Values of one block: positions (dims x ORR_SAMPLES, each in 0 .. 1), output (network outputs x ORR_SAMPLES, raw network
// outputs of an image, sdf or volume; activation included).
void orr_field_values(const orr_field *field, const float *positions, float *output);
// The same with d output[0] / d position (3 x ORR_SAMPLES), for normals.
void orr_field_gradients(const orr_field *field, const float *positions, float *output, float *gradient);
