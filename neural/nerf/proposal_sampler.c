#define ORR_SCALAR
#include "neural/nerf/proposal_sampler.h"

#include "engine/core/memory.h"
#include "neural/fields/contraction_formula.h"
#include "neural/fields/radiance_formula.h"

#include <math.h>

// Added to every weight, so that no interval is given up for good: an eighth of all samples.
static const float padding = 0.002f;

orr_proposal_model orr_proposal_model_of(const orr_proposal *proposal, const orr_nerf_kernels *kernels)
{
    if (!proposal) {
        return (orr_proposal_model){.proposal = NULL};
    }
    return (orr_proposal_model){.proposal = proposal,
                                .table = proposal->inference_table,
                                .network = proposal->network_weights,
                                .kernels = kernels,
                                .annealing = 1.0f};
}

void orr_proposal_begin(orr_nerf_rays *rays, const float origin[3], const float direction[3], float start,
                        float end, float jitter)
{
    int i = rays->count++;
    for (int k = 0; k < 3; k++) {
        rays->origin[k][i] = origin[k];
        rays->direction[k][i] = direction[k];
    }
    rays->at[i] = start;
    rays->jitter[i] = jitter;
    rays->end[i] = end;
    rays->transmittance[i] = 1.0f;
    rays->taken[i] = 0;
}

static real3 contracted_at(const orr_nerf_rays *rays, int ray, float distance)
{
    return contraction_position(make_real3(rays->direction[0][ray] * distance + rays->origin[0][ray],
                                           rays->direction[1][ray] * distance + rays->origin[1][ray],
                                           rays->direction[2][ray] * distance + rays->origin[2][ray]));
}

void orr_proposal_block(const orr_nerf_rays *rays, int ray, const float edges[ORR_PROPOSAL_INTERVALS + 1],
                        float positions[3 * ORR_SAMPLES], float steps[ORR_SAMPLES])
{
    for (int i = 0; i < ORR_PROPOSAL_INTERVALS; i++) {
        real3 position = contracted_at(rays, ray, contraction_distance(0.5f * (edges[i] + edges[i + 1])));
        positions[i] = position.x;
        positions[ORR_SAMPLES + i] = position.y;
        positions[2 * ORR_SAMPLES + i] = position.z;
        steps[i] = contraction_distance(edges[i + 1]) - contraction_distance(edges[i]);
    }
}

// Draws edge_count edges from the histogram: its inverse cumulative distribution at even steps.
static void draw_edges(const float *coarse, const float *alpha, float annealing, float jitter, int edge_count,
                       float *edges)
{
    float share[ORR_PROPOSAL_INTERVALS], transmittance = 1.0f, total = 0.0f;
    for (int j = 0; j < ORR_PROPOSAL_INTERVALS; j++) {
        radiance_sample s = radiance_composite(transmittance, alpha[j]);
        transmittance = s.transmittance;
        share[j] = (annealing < 1.0f ? powf(s.weight, annealing) : s.weight) + padding;
        total += share[j];
    }
    float passed = 0.0f, per_edge = total / (float)edge_count;
    for (int k = 0, j = 0; k < edge_count; k++) {
        float target = ((float)k + jitter) * per_edge;
        while (j < ORR_PROPOSAL_INTERVALS - 1 && passed + share[j] < target) {
            passed += share[j++];
        }
        float within = fminf(fmaxf((target - passed) / share[j], 0.0f), 1.0f);
        edges[k] = coarse[j] + within * (coarse[j + 1] - coarse[j]);
    }
}

static void sample_ray(const orr_proposal_model *model, const orr_nerf_rays *rays, int ray, float *features,
                       orr_proposal_edges *edges)
{
    float first = contraction_spacing(rays->at[ray]), last = contraction_spacing(rays->end[ray]);
    for (int i = 0; i <= ORR_PROPOSAL_INTERVALS; i++) {
        edges->rounds[0][ray][i] = first + (last - first) * ((float)i / ORR_PROPOSAL_INTERVALS);
    }
    for (int round = 0; round < ORR_PROPOSAL_ROUNDS; round++) {
        _Alignas(ORR_ALIGNMENT) float positions[3 * ORR_SAMPLES], steps[ORR_SAMPLES], raw[ORR_SAMPLES],
            density[ORR_SAMPLES], alpha[ORR_SAMPLES];
        const float *coarse = edges->rounds[round][ray];
        orr_proposal_block(rays, ray, coarse, positions, steps);
        model->proposal->kernels->forward(&model->proposal->encoding, model->table, positions, features);
        orr_mlp_forward(model->network, features, raw, NULL);
        model->kernels->densities(raw, steps, density, alpha);
        bool fine = round == ORR_PROPOSAL_ROUNDS - 1;
        draw_edges(coarse, alpha, model->annealing, rays->jitter[ray],
                   1 + (fine ? ORR_PROPOSAL_SAMPLES : ORR_PROPOSAL_INTERVALS),
                   fine ? edges->fine[ray] : edges->rounds[round + 1][ray]);
    }
}

void orr_proposal_sample(const orr_proposal_model *model, const orr_nerf_rays *rays, float *features,
                         orr_proposal_edges *edges)
{
    for (int ray = 0; ray < rays->count; ray++) {
        if (rays->end[ray] >= 0.0f) {
            sample_ray(model, rays, ray, features, edges);
        }
    }
}

void orr_proposal_take(const orr_proposal_edges *edges, orr_nerf_rays *rays, const int32_t *live,
                       int live_count, int each, orr_nerf_wave *wave)
{
    for (int l = 0; l < live_count; l++) {
        int32_t ray = live[l];
        const float *fine = edges->fine[ray];
        for (int k = 0; k < each && rays->taken[ray] < ORR_PROPOSAL_SAMPLES; k++) {
            int i = rays->taken[ray]++, n = wave->count++;
            float *block = wave->positions[n / ORR_SAMPLES] + n % ORR_SAMPLES;
            wave->distance[n] = contraction_distance(0.5f * (fine[i] + fine[i + 1]));
            wave->step[n] = contraction_distance(fine[i + 1]) - contraction_distance(fine[i]);
            wave->ray[n] = ray;
            real3 position = contracted_at(rays, ray, wave->distance[n]);
            block[0] = position.x;
            block[ORR_SAMPLES] = position.y;
            block[2 * ORR_SAMPLES] = position.z;
        }
        if (rays->taken[ray] >= ORR_PROPOSAL_SAMPLES) {
            rays->end[ray] = -1.0f;
        }
    }
}
