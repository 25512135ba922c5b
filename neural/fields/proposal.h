// The proposal field of an unbounded radiance field: a small field of densities that decides where along a
// ray the large one is evaluated (Barron et al. 2022, "Mip-NeRF 360"). Here are its parameters;
// nerf/proposal_sampler.h samples by it.
#pragma once

#include "neural/network/encoding.h"
#include "neural/network/mlp.h"

// A hash grid and a network of one hidden layer of 16 (sizes after nerfacto: Tancik et al. 2023,
// "Nerfstudio").
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
