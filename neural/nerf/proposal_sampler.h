// Proposal sampling: where along a ray a radiance field of an unbounded scene is evaluated (Barron et al.
// 2022, "Mip-NeRF 360"; sampler after nerfacto: Tancik et al. 2023, "Nerfstudio"). Space is folded into a
// cube (contraction_formula.h), and no occupancy grid is kept; the proposal field is evaluated first.
//
// A ray's range is cut into ORR_PROPOSAL_INTERVALS intervals, even in distance at first and in its inverse
// later on. The proposal field's weights there are a histogram, from which as many intervals are drawn, where
// it is evaluated again; from that histogram come the ORR_PROPOSAL_SAMPLES intervals at whose middles the
// radiance field is evaluated.
#pragma once

#include "neural/fields/proposal.h"
#include "neural/nerf/march_cpu.h"

enum {
    ORR_PROPOSAL_ROUNDS = 2,
    ORR_PROPOSAL_INTERVALS = ORR_SAMPLES, // of a round: a ray is a block
    ORR_PROPOSAL_SAMPLES = 32
};

// What sampling reads: parameters for inference, or those being trained.
typedef struct orr_proposal_model {
    const orr_proposal *proposal; // NULL: samples by an occupancy grid
    const float *table;
    const orr_mlp_weights *network;
    const orr_nerf_kernels *kernels;
    float
        annealing; // weights are raised to this power, 0 .. 1: even sampling at first, while nothing is known
} orr_proposal_model;
orr_proposal_model orr_proposal_model_of(const orr_proposal *proposal, const orr_nerf_kernels *kernels);

// Where the rays of one bundle are sampled: edges of intervals, in spacing.
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
