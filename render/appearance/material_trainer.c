#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "render/appearance/material_trainer_state.h"

static const double RATE_FIRST = 1e-2, RATE_LAST = 1e-4; // of learning

// In the order of the units, whichever thread they were on.
static void add_units(void *context, int block, int worker)
{
    (void)worker;
    material_trainer *t = context;
    const int64_t first = (int64_t)block * 1024, end = first + 1024;
    for (int64_t i = first; i < end && i < t->parameter_count; i++) {
        float sum = 0.0f;
        for (int unit = 0; unit < MATERIAL_UNITS; unit++) {
            sum += t->unit_gradients[(int64_t)unit * t->parameter_count + i];
        }
        t->gradient[i] = sum / MATERIAL_BATCH;
    }
}

void material_trainer_renew(material_trainer *t)
{
    for (int i = 0; i < NETWORKS; i++) {
        orr_mlp_weights_set(t->networks[i].weights, t->parameters + t->networks[i].first);
    }
}

static void find_gradient(material_trainer *t)
{
    orr_jobs_for(t->jobs, MATERIAL_UNITS, material_learn_unit, t);
    orr_jobs_for(t->jobs, orr_blocks(t->parameter_count, 1024), add_units, t);
}

static double sum_of(const double units[MATERIAL_UNITS])
{
    double sum = 0.0;
    for (int i = 0; i < MATERIAL_UNITS; i++) {
        sum += units[i];
    }
    return sum;
}

// From the first to the last rate by half a cosine.
static double rate_of(const material_trainer *t)
{
    const double part = t->steps < t->planned ? (double)t->steps / (double)t->planned : 1.0;
    return RATE_LAST + (RATE_FIRST - RATE_LAST) * 0.5 * (1.0 + cos(3.14159265358979 * part));
}

double material_trainer_step(material_trainer *t)
{
    orr_optimizer_set_learning_rate(t->optimizer, rate_of(t));
    find_gradient(t);
    orr_optimizer_step(t->optimizer, t->jobs, t->parameters, t->gradient, NULL);
    material_trainer_renew(t);
    t->steps++;
    return sum_of(t->unit_errors) / MATERIAL_UNITS;
}

material_slope material_trainer_slope(material_trainer *t)
{
    find_gradient(t);
    return (material_slope){t->parameters, t->gradient, t->parameter_count,
                            sum_of(t->unit_losses) / MATERIAL_BATCH};
}

// ---- making one ----

static orr_result create_network(material_trainer *t, int which, int width, int layers, int inputs,
                                 int outputs, orr_activation last, orr_isa isa, orr_error *error)
{
    const orr_mlp_config config = {.width = width,
                                   .hidden_layers = layers,
                                   .activation = ORR_ACTIVATION_RELU,
                                   .output_activation = last};
    network *n = &t->networks[which];
    ORR_TRY(orr_mlp_create(&config, inputs, outputs, &n->mlp, error));
    n->mlp.input_padding = 1.0f;
    n->first = t->parameter_count;
    t->parameter_count += n->mlp.parameter_count;
    return orr_mlp_weights_create(&n->mlp, isa, ORR_MLP_FP32, &n->weights, error);
}

static orr_result create_scratch(material_trainer *t, orr_error *error)
{
    const int workers = orr_jobs_workers(t->jobs);
    t->scratch = orr_alloc_zero((size_t)workers, sizeof *t->scratch);
    for (int i = 0; t->scratch && i < workers; i++) {
        for (int k = 0; k < NETWORKS; k++) {
            const size_t floats = orr_mlp_activation_floats(&t->networks[k].mlp);
            ORR_ALLOC(t->scratch[i].activations[k], floats, "activations", error);
        }
    }
    t->parameters = orr_alloc_zero((size_t)t->parameter_count, sizeof(float));
    t->gradient = orr_alloc_zero((size_t)t->parameter_count, sizeof(float));
    t->unit_gradients = orr_alloc((size_t)MATERIAL_UNITS * (size_t)t->parameter_count, sizeof(float));
    return t->scratch && t->parameters && t->gradient && t->unit_gradients
               ? ORR_OK
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a trainer");
}

static orr_result create(material_trainer *t, orr_isa isa, int width, orr_error *error)
{
    ORR_TRY(create_network(t, ENCODER, 64, 3, ENCODER_INPUTS, NEURAL_LATENTS, ORR_ACTIVATION_SIGMOID, isa,
                           error));
    ORR_TRY(create_network(t, REFLECTED, width, 2, NEURAL_INPUTS, NEURAL_VALUES, ORR_ACTIVATION_NONE, isa,
                           error));
    ORR_TRY(create_network(t, LOBES, ORR_NEURAL_LOBE_WIDTH, 2, NEURAL_LOBE_INPUTS, NEURAL_LOBE_OUTPUTS,
                           ORR_ACTIVATION_SIGMOID, isa, error));
    t->frame = t->parameter_count;
    t->parameter_count += FRAME_VALUES;
    ORR_TRY(create_scratch(t, error));
    for (int i = 0; i < NETWORKS; i++) {
        orr_mlp_initialise(&t->networks[i].mlp, t->seed + (uint32_t)i, t->parameters + t->networks[i].first);
    }
    orr_rng random = {t->seed, UINT32_MAX, 0};
    for (int i = 0; i < FRAME_VALUES; i++) {
        t->parameters[t->frame + i] = orr_rng_range(&random, -0.1f, 0.1f);
    }
    const orr_optimizer_config config = {
        .learning_rate = 5e-3, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-12, .decay_base = 1.0};
    ORR_TRY(orr_optimizer_create(&config, t->parameter_count, false, &t->optimizer, error));
    material_trainer_renew(t);
    return ORR_OK;
}

orr_result material_trainer_create(orr_jobs *jobs, orr_isa isa, const orr_mesh *mesh,
                                   const material_training *training, material_trainer **trainer,
                                   orr_error *error)
{
    *trainer = NULL;
    if (training->width != 16 && training->width != 32) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "width %d: expected 16 or 32", training->width);
    }
    material_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a trainer");
    }
    t->jobs = jobs;
    t->planned = training->steps;
    t->seed = training->seed;
    orr_result result = material_texels_make(mesh, training->material, training->side, &t->texels, error);
    if (result == ORR_OK) {
        result = create(t, isa, training->width, error);
    }
    if (result != ORR_OK) {
        material_trainer_destroy(t);
        return result;
    }
    *trainer = t;
    return ORR_OK;
}

void material_trainer_destroy(material_trainer *t)
{
    if (!t) {
        return;
    }
    for (int i = 0; t->scratch && i < orr_jobs_workers(t->jobs); i++) {
        for (int k = 0; k < NETWORKS; k++) {
            orr_free(t->scratch[i].activations[k]);
        }
    }
    for (int i = 0; i < NETWORKS; i++) {
        orr_mlp_weights_destroy(t->networks[i].weights);
    }
    orr_optimizer_destroy(t->optimizer);
    orr_free(t->scratch);
    orr_free(t->parameters);
    orr_free(t->gradient);
    orr_free(t->unit_gradients);
    material_texels_free(&t->texels);
    orr_free(t);
}
