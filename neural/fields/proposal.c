#include "neural/fields/proposal.h"

#include "engine/core/memory.h"

static orr_result build(orr_proposal *p, uint32_t seed, orr_isa isa, orr_mlp_machine machine,
                        orr_error *error)
{
    orr_encoding_config grid = {.kind = ORR_ENCODING_GRID,
                                .levels = 5,
                                .features_per_level = 2,
                                .log2_hashmap_size = 17,
                                .base_resolution = 16};
    grid.per_level_scale = orr_grid_level_scale(&grid, 256.0);
    const orr_mlp_config network = {.width = 16, .hidden_layers = 1, .activation = ORR_ACTIVATION_RELU};
    ORR_TRY(orr_encoding_create(&grid, 3, &p->encoding, error));
    ORR_TRY(orr_mlp_create(&network, p->encoding.output_dims, 1, &p->network, error));
    ORR_ALLOC(p->table, p->encoding.parameter_count, "a proposal's grid", error);
    ORR_ALLOC(p->network_parameters, p->network.parameter_count, "a proposal's network", error);
    orr_encoding_initialise(&p->encoding, seed + 4, p->table);
    orr_mlp_initialise(&p->network, seed + 3, p->network_parameters);
    p->kernels = orr_encoding_kernels_of(isa);
    ORR_TRY(orr_mlp_weights_create(&p->network, isa, machine, &p->network_weights, error));
    orr_proposal_refresh(p, NULL, NULL);
    return ORR_OK;
}

orr_result orr_proposal_create(uint32_t seed, orr_isa isa, orr_mlp_machine machine, orr_proposal **proposal,
                               orr_error *error)
{
    *proposal = NULL;
    orr_proposal *p = orr_alloc_zero(1, sizeof *p);
    if (!p) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a proposal field");
    }
    orr_result result = build(p, seed, isa, machine, error);
    if (result != ORR_OK) {
        orr_proposal_destroy(p);
        return result;
    }
    *proposal = p;
    return ORR_OK;
}

void orr_proposal_destroy(orr_proposal *proposal)
{
    if (!proposal) {
        return;
    }
    orr_mlp_weights_destroy(proposal->network_weights);
    orr_encoding_destroy(&proposal->encoding);
    orr_free(proposal->table);
    orr_free(proposal->network_parameters);
    orr_free(proposal);
}

void orr_proposal_refresh(orr_proposal *proposal, const float *network, const float *table)
{
    proposal->inference_network = network ? network : proposal->network_parameters;
    proposal->inference_table = table ? table : proposal->table;
    orr_mlp_weights_set(proposal->network_weights, proposal->inference_network);
}
