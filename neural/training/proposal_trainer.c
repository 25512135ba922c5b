#define ORR_SCALAR
#include "neural/training/proposal_trainer.h"

#include "engine/core/memory.h"
#include "neural/fields/contraction_formula.h"
#include "neural/fields/radiance_formula.h"
#include "neural/training/interlevel.h"

#include <math.h>
#include <string.h>

enum {
    ANNEALED_STEPS = 256,
    PERIOD_MAX = 4 // steps between two that train
};
static const float annealing_slope = 10.0f; // Mip-NeRF 360, equation 18

// What a group leaves behind; as orr_nerf_group.
typedef struct proposal_group {
    float *network_gradient, *positions, *feature_gradient;
    int block_count, ray_count;
    double loss;
} proposal_group;

// Scratch of one worker: one block.
typedef struct proposal_worker {
    float *features, *activations;
} proposal_worker;

struct orr_proposal_trainer {
    orr_proposal *proposal;
    orr_jobs *jobs;
    orr_mlp_weights *weights; // of the parameters being trained
    orr_optimizer *network_optimizer, *table_optimizer;
    float *network_gradient, *table_gradient;
    float *network_average, *table_average; // of the last refresh
    uint32_t *touched;
    proposal_group *groups;
    proposal_worker *workers;
    int group_count, block_capacity; // of a group
};

static float *zeroed_floats(size_t count)
{
    return orr_alloc_zero(count, sizeof(float));
}

static orr_result allocate(orr_proposal_trainer *t, orr_error *error)
{
    size_t network = (size_t)t->proposal->network.parameter_count,
           table = (size_t)t->proposal->encoding.parameter_count,
           features = (size_t)t->proposal->encoding.output_dims * ORR_SAMPLES,
           blocks = (size_t)t->block_capacity;
    t->network_gradient = zeroed_floats(network);
    t->table_gradient = zeroed_floats(table);
    t->network_average = zeroed_floats(network);
    t->table_average = zeroed_floats(table);
    t->touched = orr_alloc_zero((size_t)orr_touched_words((int64_t)table), sizeof *t->touched);
    t->groups = orr_alloc_zero((size_t)t->group_count, sizeof *t->groups);
    t->workers = orr_alloc_zero((size_t)orr_jobs_workers(t->jobs), sizeof *t->workers);
    bool all = t->network_gradient && t->table_gradient && t->network_average && t->table_average &&
               t->touched && t->groups && t->workers;
    for (int i = 0; all && i < t->group_count; i++) {
        proposal_group *g = &t->groups[i];
        g->network_gradient = zeroed_floats(network);
        g->positions = orr_alloc(blocks * 3 * ORR_SAMPLES, sizeof(float));
        g->feature_gradient = orr_alloc(blocks * features, sizeof(float));
        all = g->network_gradient && g->positions && g->feature_gradient;
    }
    for (int i = 0; all && i < orr_jobs_workers(t->jobs); i++) {
        t->workers[i].features = zeroed_floats(features);
        t->workers[i].activations = zeroed_floats(orr_mlp_activation_floats(&t->proposal->network));
        all = t->workers[i].features && t->workers[i].activations;
    }
    return all ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: training a proposal field");
}

static orr_result build(orr_proposal_trainer *t, const orr_field_desc *field, orr_error *error)
{
    const orr_proposal *p = t->proposal;
    const orr_optimizer_config *config = &field->config.optimizer;
    ORR_TRY(allocate(t, error));
    ORR_TRY(orr_optimizer_create(config, p->network.parameter_count, false, &t->network_optimizer, error));
    ORR_TRY(orr_optimizer_create(config, p->encoding.parameter_count, true, &t->table_optimizer, error));
    ORR_TRY(orr_mlp_weights_create(&p->network, field->isa, field->machine, &t->weights, error));
    orr_mlp_weights_set(t->weights, p->network_parameters);
    return ORR_OK;
}

orr_result orr_proposal_trainer_create(orr_proposal *proposal, const orr_field_desc *field, orr_jobs *jobs,
                                       int group_count, int group_rays, orr_proposal_trainer **trainer,
                                       orr_error *error)
{
    *trainer = NULL;
    orr_proposal_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a trainer");
    }
    t->proposal = proposal;
    t->jobs = jobs;
    t->group_count = group_count;
    t->block_capacity = group_rays * ORR_PROPOSAL_ROUNDS;
    orr_result result = build(t, field, error);
    if (result != ORR_OK) {
        orr_proposal_trainer_destroy(t);
        return result;
    }
    *trainer = t;
    return ORR_OK;
}

void orr_proposal_trainer_destroy(orr_proposal_trainer *t)
{
    if (!t) {
        return;
    }
    for (int i = 0; t->groups && i < t->group_count; i++) {
        orr_free(t->groups[i].network_gradient);
        orr_free(t->groups[i].positions);
        orr_free(t->groups[i].feature_gradient);
    }
    for (int i = 0; t->workers && i < orr_jobs_workers(t->jobs); i++) {
        orr_free(t->workers[i].features);
        orr_free(t->workers[i].activations);
    }
    orr_mlp_weights_destroy(t->weights);
    orr_optimizer_destroy(t->network_optimizer);
    orr_optimizer_destroy(t->table_optimizer);
    void *all[] = {t->network_gradient, t->table_gradient, t->network_average, t->table_average,
                   t->touched,          t->groups,         t->workers,         t};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        orr_free(all[i]);
    }
}

orr_proposal_model orr_proposal_trainer_model(const orr_proposal_trainer *t, const orr_nerf_kernels *kernels,
                                              int64_t step)
{
    orr_proposal_model model = orr_proposal_model_of(t->proposal, kernels);
    model.table = t->proposal->table;
    model.network = t->weights;
    float share = fminf((float)step / ANNEALED_STEPS, 1.0f);
    model.annealing = annealing_slope * share / ((annealing_slope - 1.0f) * share + 1.0f);
    return model;
}

bool orr_proposal_due(int64_t step)
{
    int64_t period = 1 + step / ANNEALED_STEPS;
    return step % (period < PERIOD_MAX ? period : PERIOD_MAX) == 0;
}

void orr_proposal_group_begin(orr_proposal_trainer *t, int group)
{
    proposal_group *g = &t->groups[group];
    memset(g->network_gradient, 0, (size_t)t->proposal->network.parameter_count * sizeof(float));
    g->block_count = g->ray_count = 0;
    g->loss = 0.0;
}

// One round of one ray from its loss to the gradients of its features; `scale`: of the gradient.
static void go_back(orr_proposal_trainer *t, proposal_group *g, proposal_worker *worker,
                    const orr_proposal_model *model, const orr_nerf_rays *rays, int ray, const float *coarse,
                    const float *fine, const double *weights, double scale)
{
    const orr_proposal *p = t->proposal;
    int features = p->encoding.output_dims;
    _Alignas(ORR_ALIGNMENT) float steps[ORR_SAMPLES], raw[ORR_SAMPLES], density[ORR_SAMPLES],
        alpha[ORR_SAMPLES], output_gradient[ORR_SAMPLES];
    float *positions = g->positions + (size_t)g->block_count * 3 * ORR_SAMPLES;
    float *feature_gradient = g->feature_gradient + (size_t)g->block_count * (size_t)features * ORR_SAMPLES;
    orr_proposal_block(rays, ray, coarse, positions, steps);
    p->kernels->forward(&p->encoding, model->table, positions, worker->features);
    orr_mlp_forward(model->network, worker->features, raw, worker->activations);
    model->kernels->densities(raw, steps, density, alpha);
    double thickness[ORR_SAMPLES], gradient[ORR_SAMPLES];
    for (int i = 0; i < ORR_SAMPLES; i++) {
        thickness[i] = (double)density[i] * (double)steps[i];
    }
    g->loss += orr_interlevel_loss(ORR_PROPOSAL_INTERVALS, coarse, thickness, ORR_PROPOSAL_SAMPLES, fine,
                                   weights, gradient);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        bool constant = radiance_is_clamped(raw[i]);
        output_gradient[i] = constant ? 0.0f : (float)(scale * gradient[i] * thickness[i]);
    }
    orr_mlp_backward(model->network, worker->features, raw, worker->activations, output_gradient,
                     g->network_gradient, feature_gradient);
    g->block_count++;
}

void orr_proposal_group_add(orr_proposal_trainer *t, int group, int worker, const orr_proposal_model *model,
                            const orr_nerf_bundle *bundle, int ray_count)
{
    proposal_group *g = &t->groups[group];
    const orr_nerf_samples *s = &bundle->samples;
    const orr_proposal_edges *edges = bundle->proposal;
    double weights[ORR_NERF_RAYS][ORR_PROPOSAL_SAMPLES];
    int interval[ORR_NERF_RAYS] = {0};
    memset(weights, 0, sizeof weights);
    // a ray's samples come from front to back; those that hardly show were left out
    for (int i = 0; i < s->count; i++) {
        int ray = s->ray[i], *k = &interval[ray];
        const float *fine = edges->fine[ray];
        while (*k < ORR_PROPOSAL_SAMPLES - 1 && contraction_distance(fine[*k + 1]) <= s->distance[i]) {
            ++*k;
        }
        weights[ray][*k] += (double)s->weight[i];
    }
    for (int ray = 0; ray < bundle->rays.count; ray++) {
        if (g->block_count + ORR_PROPOSAL_ROUNDS > t->block_capacity) {
            return; // the capacity is reached: the rest of its rays teach the radiance field only
        }
        for (int round = 0; round < ORR_PROPOSAL_ROUNDS; round++) {
            go_back(t, g, &t->workers[worker], model, &bundle->rays, ray, edges->rounds[round][ray],
                    edges->fine[ray], weights[ray], 1.0 / ray_count);
        }
        g->ray_count++;
    }
}

static void scatter_level(void *context, int level, int worker)
{
    (void)worker;
    orr_proposal_trainer *t = context;
    const orr_encoding *e = &t->proposal->encoding;
    for (int i = 0; i < t->group_count; i++) {
        const proposal_group *g = &t->groups[i];
        for (int b = 0; b < g->block_count; b++) {
            t->proposal->kernels->scatter_level(e, level, g->positions + (size_t)b * 3 * ORR_SAMPLES,
                                                g->feature_gradient +
                                                    (size_t)b * (size_t)e->output_dims * ORR_SAMPLES,
                                                ORR_SAMPLES, t->table_gradient, t->touched);
        }
    }
}

double orr_proposal_trainer_step(orr_proposal_trainer *t)
{
    orr_proposal *p = t->proposal;
    double loss = 0.0;
    int64_t rays = 0;
    for (int i = 0; i < t->group_count; i++) {
        for (int64_t k = 0; k < p->network.parameter_count; k++) {
            t->network_gradient[k] += t->groups[i].network_gradient[k];
        }
        loss += t->groups[i].loss;
        rays += t->groups[i].ray_count;
    }
    orr_jobs_for(t->jobs, p->encoding.level_count, scatter_level, t);
    orr_optimizer_step(t->network_optimizer, t->jobs, p->network_parameters, t->network_gradient, NULL);
    orr_optimizer_step(t->table_optimizer, t->jobs, p->table, t->table_gradient, t->touched);
    orr_mlp_weights_set(t->weights, p->network_parameters);
    return rays > 0 ? loss / (double)rays : 0.0;
}

void orr_proposal_trainer_refresh(orr_proposal_trainer *t)
{
    orr_optimizer_average(t->network_optimizer, t->jobs, t->proposal->network_parameters, t->network_average);
    orr_optimizer_average(t->table_optimizer, t->jobs, t->proposal->table, t->table_average);
    orr_proposal_refresh(t->proposal, t->network_average, t->table_average);
}

// ---- state: parameters, then optimisers ----

static size_t parameter_bytes(const orr_proposal_trainer *t)
{
    return (size_t)orr_proposal_parameters(t->proposal) * sizeof(float);
}

size_t orr_proposal_trainer_state_size(const orr_proposal_trainer *t)
{
    return parameter_bytes(t) + orr_optimizer_state_size(t->network_optimizer) +
           orr_optimizer_state_size(t->table_optimizer);
}

void orr_proposal_trainer_state_save(const orr_proposal_trainer *t, void *state)
{
    const orr_proposal *p = t->proposal;
    size_t network = (size_t)p->network.parameter_count * sizeof(float);
    char *to = state;
    memcpy(to, p->network_parameters, network);
    memcpy(to + network, p->table, parameter_bytes(t) - network);
    to += parameter_bytes(t);
    orr_optimizer_state_save(t->network_optimizer, to);
    orr_optimizer_state_save(t->table_optimizer, to + orr_optimizer_state_size(t->network_optimizer));
}

orr_result orr_proposal_trainer_state_load(orr_proposal_trainer *t, const void *state, orr_error *error)
{
    const orr_proposal *p = t->proposal;
    size_t network = (size_t)p->network.parameter_count * sizeof(float);
    size_t optimizer = orr_optimizer_state_size(t->network_optimizer);
    const char *from = state;
    memcpy(p->network_parameters, from, network);
    memcpy(p->table, from + network, parameter_bytes(t) - network);
    from += parameter_bytes(t);
    ORR_TRY(orr_optimizer_state_load(t->network_optimizer, from, optimizer, error));
    ORR_TRY(orr_optimizer_state_load(t->table_optimizer, from + optimizer,
                                     orr_optimizer_state_size(t->table_optimizer), error));
    orr_mlp_weights_set(t->weights, p->network_parameters);
    return ORR_OK;
}
