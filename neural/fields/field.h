// Neural fields: functions of space that are trained, stored and evaluated. One interface for the four kinds.
//
//   image     2D position in 0 .. 1             -> display colour
//   sdf       3D position in the unit cube      -> signed distance
//   nerf      3D position and direction         -> density and display colour
//   volume    3D position in the unit cube      -> density and albedo
//
// A field owns its encoding, its network or networks and their parameters. A trainer changes them step by
// step; all others see the parameters for inference (the moving average where the config has one).
#pragma once

#include "engine/core/jobs.h"
#include "neural/network/config.h"
#include "neural/network/encoding.h"
#include "neural/network/mlp.h"
#include "neural/network/optimizer.h"

enum {
    ORR_NERF_FEATURES =
        16 // what a NeRF's first network hands to the second; the first of them is the density
};

// Pictures of fields are drawn in tiles, row by row.
enum { ORR_FIELD_TILE = 16 }; // pixels per side
static inline int orr_field_tile_count(int width, int height)
{
    return orr_blocks(width, ORR_FIELD_TILE) * orr_blocks(height, ORR_FIELD_TILE);
}

typedef struct orr_field orr_field;
struct orr_proposal; // neural/fields/proposal.h

// The parts of a field, for its trainer and for kernels that evaluate blocks. `rgb` parts only for NeRFs.
typedef struct orr_field_parts {
    orr_encoding encoding;
    orr_mlp network;
    orr_encoding dir_encoding;
    orr_mlp rgb_network;           // inputs: the outputs of `network`, then the direction's encoding
    float *network_parameters;     // network.parameter_count
    float *rgb_network_parameters; // rgb_network.parameter_count
    float *table;                  // encoding.parameter_count
    // what inference uses; set by orr_field_refresh
    orr_mlp_weights *network_weights;
    orr_mlp_weights *rgb_network_weights;
    const float *inference_table;
    const float *inference_network, *inference_rgb_network; // what the weights were made from, for saving
    uint64_t version;                                       // 1 or more; another one after each refresh
    const orr_encoding_kernels *kernels;                    // of the field's instruction set
    struct orr_proposal *proposal; // where rays are sampled; NULL: by an occupancy grid
} orr_field_parts;

typedef struct orr_field_desc {
    orr_field_kind kind;
    orr_field_config config; // copied
    int aabb_scale;          // NeRF: power of two, 1 .. 128; 0: 1
    // NeRF of an unbounded scene: space is folded into the encoding's cube, of which the unit cube is the
    // inner half (contraction_formula.h: aabb_scale is then 2), and proposals are sampled instead of an
    // occupancy grid
    bool unbounded;
    // finest grid resolution when the config has no per_level_scale; 0: 2048, times aabb_scale for a NeRF
    double desired_resolution;
    uint32_t seed;
    orr_isa isa;
    orr_mlp_machine machine;
} orr_field_desc;

// How many parameters such a field has, without making it: 4 bytes each, and 12 to 16 more in training.
orr_result orr_field_parameters(const orr_field_desc *desc, int64_t *count, orr_error *error);
orr_result orr_field_create(const orr_field_desc *desc, orr_field **field, orr_error *error);
void orr_field_destroy(orr_field *field); // NULL is allowed
orr_field_kind orr_field_kind_of(const orr_field *field);
int orr_field_input_dims(const orr_field *field); // 2 for an image, otherwise 3
// As given, with every default resolved (aabb_scale, per_level_scale, desired_resolution).
const orr_field_desc *orr_field_describe(const orr_field *field);
const orr_field_parts *orr_field_parts_of(const orr_field *field);
int64_t orr_field_parameter_count(const orr_field *field); // of networks and encoding
// Makes the parameters that inference uses from the trained ones (their averages where there are; NULL: the
// field's own): they are borrowed, and the networks copied into their machine's layout too. A new field is
// refreshed from its own.
void orr_field_refresh(orr_field *field, const float *network, const float *rgb_network, const float *table);

// Floats of scratch that each of the two functions below needs, 64-byte aligned.
size_t orr_field_scratch_floats(const orr_field *field);
// Values of one block: positions (dims x ORR_SAMPLES, each in 0 .. 1), output (network outputs x ORR_SAMPLES,
// raw network outputs of an image, sdf or volume; activation included).
void orr_field_values(const orr_field *field, const float *positions, float *scratch, float *output);
// The same with d output[0] / d position (dims x ORR_SAMPLES), for normals.
void orr_field_gradients(const orr_field *field, const float *positions, float *scratch, float *output,
                         float *gradient);
