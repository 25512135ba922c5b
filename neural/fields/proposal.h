// Proposal sampling: where along a ray a radiance field of an unbounded scene is worth asking (Barron et al. 2022,
// "Mip-NeRF 360"; sampler and sizes after nerfacto: Tancik et al. 2023). Space is folded into a cube
// (contraction_formula.h), no occupancy grid is kept; instead a small field of densities is asked first.
//
// A ray's range is cut into ORR_PROPOSAL_INTERVALS intervals, even in distance at first and in its inverse later on. The
// small field's weights there are a histogram, from which as many intervals are drawn, which are asked too; from their
// histogram come the ORR_PROPOSAL_SAMPLES intervals whose middles the radiance field is asked at.
#pragma once

#include "neural/nerf/cpu.h"
#include "neural/network/encoding.h"
#include "neural/network/mlp.h"

enum {
    ORR_PROPOSAL_ROUNDS = 2,
    ORR_PROPOSAL_INTERVALS = ORR_SAMPLES, // of a round: a ray is a block
    ORR_PROPOSAL_SAMPLES = 32
};

// The small field: a hash grid and a network of one hidden layer of 16, shared by both rounds.
typedef struct orr_proposal {
    orr_encoding encoding;
    orr_mlp network;
    float *table, *network_parameters; // being trained
    const orr_encoding_kernels *kernels;
    // what inference uses
    orr_mlp_weights *network_weights;
    const float *inference_table, *inference_network;
} orr_proposal;

orr_result orr_proposal_create(uint32_t seed, orr_isa isa, orr_mlp_machine machine, orr_proposal **proposal,
                               orr_error *error);
void orr_proposal_destroy(orr_proposal *proposal); // NULL is allowed
// As orr_field_refresh: borrows them; NULL: the field's own.
void orr_proposal_refresh(orr_proposal *proposal, const float *network, const float *table);
static inline int64_t orr_proposal_parameters(const orr_proposal *proposal)
{
    return proposal->network.parameter_count + proposal->encoding.parameter_count;
}

// What sampling reads: parameters for inference, or those being trained.
typedef struct orr_proposal_model {
    const orr_proposal *proposal; // NULL: another way of sampling
    const float *table;
    const orr_mlp_weights *network;
    const orr_nerf_kernels *kernels;
    float
        annealing; // weights are raised to this power, 0 .. 1: even sampling at first, while nothing is known
} orr_proposal_model;
orr_proposal_model orr_proposal_model_of(const orr_proposal *proposal, const orr_nerf_kernels *kernels);

// Where the rays of one bundle are asked: edges of intervals, in spacing.
typedef struct orr_proposal_edges {
    float rounds[ORR_PROPOSAL_ROUNDS][ORR_NERF_RAYS][ORR_PROPOSAL_INTERVALS + 1];
    float fine[ORR_NERF_RAYS][ORR_PROPOSAL_SAMPLES + 1];
} orr_proposal_edges;

// Distances between which a ray is sampled.
static const float orr_proposal_near = 0.02f, orr_proposal_far = 1000.0f;
// Puts a ray into a bundle; jitter (0 .. 1) moves its samples within their share.
void orr_proposal_begin(orr_nerf_rays *rays, const float origin[3], const float direction[3], float start,
                        float end, float jitter);
// Lays out the samples of all rays of a bundle. features: scratch of encoding.output_dims x ORR_SAMPLES.
void orr_proposal_sample(const orr_proposal_model *model, const orr_nerf_rays *rays, float *features,
                         orr_proposal_edges *edges);
// Appends to the wave at most `each` samples of each ray in `live`, as orr_nerf_kernels.march does.
void orr_proposal_take(const orr_proposal_edges *edges, orr_nerf_rays *rays, const int32_t *live,
                       int live_count, int each, orr_nerf_wave *wave);
// The middles of one ray's intervals as a block for the encoding, and the intervals' lengths.
void orr_proposal_block(const orr_nerf_rays *rays, int ray, const float edges[ORR_PROPOSAL_INTERVALS + 1],
                        float positions[3 * ORR_SAMPLES], float steps[ORR_SAMPLES]);
