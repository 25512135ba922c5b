#define ORR_SCALAR
#include "render/appearance/material_trainer.h"

#include "engine/core/memory.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/rng.h"
#include "neural/network/mlp.h"
#include "neural/network/optimizer.h"
#include "render/appearance/material_texels.h"
#include "render/appearance/neural_backward_formula.h"

#include <string.h>

enum {
    ENCODER_INPUTS = MATERIAL_VALUES + 2, // and logarithms of both roughnesses
    FRAME_VALUES = 6 * NEURAL_LATENTS,
    MEAN_OF = 8,             // texels, at most, of which one seen from afar is the mean
    DRAWS_PER_UNIT = 1 << 14 // random numbers, at most
};

enum { ENCODER, REFLECTED, LOBES, NETWORKS };
static const double RATE_FIRST = 1e-2, RATE_LAST = 1e-4; // of learning

typedef struct network {
    orr_mlp mlp;
    int64_t first; // its parameters among all
    orr_mlp_weights *weights;
} network;

// What a worker needs for a unit of 64 texels; rows of blocks.
typedef struct unit_scratch {
    _Alignas(64) float encoded[ENCODER_INPUTS * ORR_SAMPLES];
    float latents[NEURAL_LATENTS * ORR_SAMPLES]; // 0 .. 1
    float by_latents[NEURAL_LATENTS * ORR_SAMPLES];
    float inputs[NEURAL_INPUTS * ORR_SAMPLES], by_inputs[NEURAL_INPUTS * ORR_SAMPLES];
    float values[16 * ORR_SAMPLES], by_values[16 * ORR_SAMPLES];
    material_texel texels[ORR_SAMPLES][MEAN_OF];
    material_texel mean[ORR_SAMPLES];
    int texel_count; // of texels, for each sample
    real3 to_eye[ORR_SAMPLES], to_light[ORR_SAMPLES];
    float *activations[NETWORKS];
    double loss; // so far
} unit_scratch;

struct material_trainer {
    orr_jobs *jobs;
    material_texels texels;
    network networks[NETWORKS];
    int64_t frame; // where it is among all parameters
    int64_t parameter_count;
    float *parameters, *gradient; // parameter_count
    float *unit_gradients;        // MATERIAL_UNITS x parameter_count
    double unit_errors[MATERIAL_UNITS], unit_losses[MATERIAL_UNITS];
    orr_optimizer *optimizer;
    unit_scratch *scratch; // of each worker
    int64_t steps, planned;
    uint32_t seed;
};

// ---- texels ----

static float logarithm(float roughness)
{
    return 0.25f * log2f(fmaxf(roughness, 0.02f));
}

// What the encoder is given of a texel, into column i.
static void put_texel(const material_texel *t, float *block, int i)
{
    const float *values = (const float *)t;
    for (int k = 0; k < MATERIAL_VALUES; k++) {
        block[k * ORR_SAMPLES + i] = values[k];
    }
    block[MATERIAL_VALUES * ORR_SAMPLES + i] = logarithm(t->roughness);
    block[(MATERIAL_VALUES + 1) * ORR_SAMPLES + i] = logarithm(t->coat_roughness);
}

// A level, the finer the likelier, for all texels of a unit.
static int draw_level(const material_texels *t, orr_rng *random)
{
    int level = 0;
    while (level < t->levels - 1 && orr_rng_uniform(random) < 0.5f) {
        level++;
    }
    return level;
}

static int below(orr_rng *random, int count)
{
    const int i = (int)(orr_rng_uniform(random) * (float)count);
    return i < count ? i : count - 1;
}

// A texel of a level, and some of those of level 0 that it is the mean of.
static void draw_texels(const material_texels *t, int level, orr_rng *random, unit_scratch *s)
{
    s->texel_count = level == 0 ? 1 : level == 1 ? 4 : MEAN_OF;
    const int wide = orr_mip_side(t->width, level), high = orr_mip_side(t->height, level);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const int column = below(random, wide), row = below(random, high);
        s->mean[i] = t->texels[t->first[level] + row * wide + column];
        for (int k = 0; k < s->texel_count; k++) {
            const int side = 1 << level, x = (column << level) + (level == 1 ? k % 2 : below(random, side)),
                      y = (row << level) + (level == 1 ? k / 2 : below(random, side));
            s->texels[i][k] =
                *material_texel_at(t, x < t->width ? x : t->width - 1, y < t->height ? y : t->height - 1);
        }
        put_texel(&s->mean[i], s->encoded, i);
    }
}

// ---- directions ----

static real3 draw_above(orr_rng *random)
{
    const real z = fmaxf(orr_rng_uniform(random), 0.02f), angle = 2.0f * BSDF_PI * orr_rng_uniform(random);
    const real ring = sqrtf(1.0f - z * z);
    return make_real3(ring * cosf(angle), ring * sinf(angle), z);
}

// To the light, half of them as light is scattered.
static real3 draw_light(const material_texel *texel, real3 to_eye, orr_rng *random)
{
    if (orr_rng_uniform(random) < 0.5f) {
        const bsdf b = material_bsdf(texel, to_eye);
        const real u = orr_rng_uniform(random), v = orr_rng_uniform(random), choice = orr_rng_uniform(random);
        real3 to_light;
        bsdf_draw(&b, u, v, choice, &to_light);
        if (to_light.z > 0.0f) {
            return to_light;
        }
    }
    return draw_above(random);
}

static real3 target_of(const unit_scratch *s, int i)
{
    real3 sum = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < s->texel_count; k++) {
        const bsdf b = material_bsdf(&s->texels[i][k], s->to_eye[i]);
        sum = add3(sum, bsdf_eval(&b, s->to_light[i]).weight);
    }
    return scale3(sum, 1.0f / (float)s->texel_count);
}

// ---- the network of reflected light ----

static void put3(float *block, int row, int i, real3 v)
{
    block[row * ORR_SAMPLES + i] = v.x;
    block[(row + 1) * ORR_SAMPLES + i] = v.y;
    block[(row + 2) * ORR_SAMPLES + i] = v.z;
}

static real3 get3(const float *block, int row, int i)
{
    return make_real3(block[row * ORR_SAMPLES + i], block[(row + 1) * ORR_SAMPLES + i],
                      block[(row + 2) * ORR_SAMPLES + i]);
}

static real3 multiply(const float *rows, const float latents[NEURAL_LATENTS])
{
    real sums[3] = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < 3 * NEURAL_LATENTS; k++) {
        sums[k / NEURAL_LATENTS] += rows[k] * latents[k % NEURAL_LATENTS];
    }
    return make_real3(sums[0], sums[1], sums[2]);
}

static void latents_of(const unit_scratch *s, int i, float latents[NEURAL_LATENTS])
{
    for (int k = 0; k < NEURAL_LATENTS; k++) {
        latents[k] = 2.0f * s->latents[k * ORR_SAMPLES + i] - 1.0f;
    }
}

static void put_inputs(const float *rows, unit_scratch *s, int i)
{
    const real3 none = {0.0f, 0.0f, 0.0f};
    float latents[NEURAL_LATENTS];
    latents_of(s, i, latents);
    for (int k = 0; k < NEURAL_LATENTS; k++) {
        s->inputs[k * ORR_SAMPLES + i] = latents[k];
    }
    const real3 half_way = normalise3(add3(s->to_eye[i], s->to_light[i]));
    const neural_frame frames[NEURAL_FRAMES] = {
        neural_frame_of(none, none),
        neural_frame_of(multiply(rows, latents), multiply(rows + 3 * NEURAL_LATENTS, latents))};
    for (int k = 0; k < NEURAL_FRAMES; k++) {
        const neural_frame f = frames[k];
        put3(s->inputs, NEURAL_LATENTS + 3 * k, i, neural_turn(f, s->to_eye[i]));
        put3(s->inputs, NEURAL_FIXED + 3 * k, i, neural_turn(f, s->to_light[i]));
        s->inputs[(NEURAL_FIXED + 3 * NEURAL_FRAMES + k) * ORR_SAMPLES + i] =
            neural_ridge(neural_turn(f, half_way));
    }
    s->inputs[(NEURAL_INPUTS - 1) * ORR_SAMPLES + i] = neural_miss(s->to_eye[i], half_way);
}

// The frame's normal is drawn towards that of the material, so that it is soon where highlights are.
#define NORMAL_PULL 4.0f
static real3 towards_normal(unit_scratch *s, int i, real3 normal)
{
    const float *n = s->mean[i].normal;
    const real3 apart = sub3(normal, normalise3(make_real3(n[0], n[1], n[2])));
    s->loss += (double)(0.5f * NORMAL_PULL * dot3(apart, apart));
    return scale3(apart, NORMAL_PULL);
}

// From the derivatives by the inputs to those by the learnt frame, added to by_rows, and by latents, added
// likewise.
static void inputs_backward(const float *rows, unit_scratch *s, int i, float *by_rows)
{
    float latents[NEURAL_LATENTS], by[NEURAL_LATENTS];
    latents_of(s, i, latents);
    for (int k = 0; k < NEURAL_LATENTS; k++) {
        by[k] = s->by_inputs[k * ORR_SAMPLES + i];
    }
    const real3 half_way = normalise3(add3(s->to_eye[i], s->to_light[i]));
    const real3 right = multiply(rows, latents), normal = multiply(rows + 3 * NEURAL_LATENTS, latents);
    const neural_frame f = neural_frame_of(right, normal);
    const int last = NEURAL_FRAMES - 1;
    neural_frame_slope slope = {.normal = towards_normal(s, i, f.normal)};
    slope = neural_turn_backward(slope, f, s->to_eye[i], get3(s->by_inputs, NEURAL_LATENTS + 3 * last, i));
    slope = neural_turn_backward(slope, f, s->to_light[i], get3(s->by_inputs, NEURAL_FIXED + 3 * last, i));
    const real by_ridge = s->by_inputs[(NEURAL_FIXED + 3 * NEURAL_FRAMES + last) * ORR_SAMPLES + i];
    slope =
        neural_turn_backward(slope, f, half_way, neural_ridge_backward(neural_turn(f, half_way), by_ridge));
    slope = neural_frame_backward(slope, f, right, normal);
    const float sums[6] = {slope.right.x,  slope.right.y,  slope.right.z,
                           slope.normal.x, slope.normal.y, slope.normal.z};
    for (int v = 0; v < 6 * NEURAL_LATENTS; v++) {
        by_rows[v] += sums[v / NEURAL_LATENTS] * latents[v % NEURAL_LATENTS];
        by[v % NEURAL_LATENTS] += sums[v / NEURAL_LATENTS] * rows[v];
    }
    for (int k = 0; k < NEURAL_LATENTS; k++) {
        s->by_latents[k * ORR_SAMPLES + i] += by[k];
    }
}

// Half the squared difference of brightnesses; its derivatives into by_values. Returns the absolute one.
static double compare_reflected(unit_scratch *s)
{
    double error = 0.0;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const real3 target = target_of(s, i);
        const float wanted[3] = {target.x, target.y, target.z};
        real parts[NEURAL_VALUES], by_light[3];
        for (int k = 0; k < NEURAL_VALUES; k++) {
            parts[k] = neural_reflectance(s->values[k * ORR_SAMPLES + i]);
        }
        for (int k = 0; k < 3; k++) {
            const real light = parts[k] + parts[3 + k] + parts[6];
            const real apart = neural_brightness(light) - neural_brightness(wanted[k]);
            by_light[k] = apart * neural_brightness_slope(light);
            error += fabs((double)apart) / (3 * ORR_SAMPLES);
            s->loss += 0.5 * (double)(apart * apart);
        }
        for (int k = 0; k < NEURAL_VALUES; k++) {
            const real by_part = k < 6 ? by_light[k % 3] : by_light[0] + by_light[1] + by_light[2];
            const int at = k * ORR_SAMPLES + i;
            s->by_values[at] = by_part * neural_reflectance_slope(s->values[at], parts[k]);
        }
    }
    return error;
}

static void put_directions(unit_scratch *s, orr_rng *random)
{
    for (int i = 0; i < ORR_SAMPLES; i++) {
        s->to_eye[i] = draw_above(random);
        s->to_light[i] = draw_light(&s->texels[i][0], s->to_eye[i], random);
    }
}

static double learn_reflected(material_trainer *t, unit_scratch *s, orr_rng *random, float *gradient)
{
    const network *n = &t->networks[REFLECTED];
    const float *rows = t->parameters + t->frame;
    put_directions(s, random);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        put_inputs(rows, s, i);
    }
    orr_mlp_forward(n->weights, s->inputs, s->values, s->activations[REFLECTED]);
    const double error = compare_reflected(s);
    orr_mlp_backward(n->weights, s->inputs, s->values, s->activations[REFLECTED], s->by_values,
                     gradient + n->first, s->by_inputs);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        inputs_backward(rows, s, i, gradient + t->frame);
    }
    return error;
}

// ---- the network of lobes ----

static void lobes_target(const unit_scratch *s, int i, float wanted[NEURAL_LOBE_OUTPUTS])
{
    memset(wanted, 0, NEURAL_LOBE_OUTPUTS * sizeof *wanted);
    for (int k = 0; k < s->texel_count; k++) {
        const neural_lobes l = material_lobes(&s->texels[i][k], s->to_eye[i]);
        const float values[NEURAL_LOBE_OUTPUTS] = {l.matte.x,
                                                   l.matte.y,
                                                   l.matte.z,
                                                   l.mirrored.x,
                                                   l.mirrored.y,
                                                   l.mirrored.z,
                                                   l.roughness,
                                                   0.5f + 0.5f * l.normal.x,
                                                   0.5f + 0.5f * l.normal.y,
                                                   l.coat,
                                                   l.coat_roughness,
                                                   l.occlusion};
        for (int v = 0; v < NEURAL_LOBE_OUTPUTS; v++) {
            wanted[v] += values[v] / (float)s->texel_count;
        }
    }
}

static void learn_lobes(material_trainer *t, unit_scratch *s, float *gradient)
{
    const network *n = &t->networks[LOBES];
    for (int i = 0; i < ORR_SAMPLES; i++) {
        float latents[NEURAL_LATENTS];
        latents_of(s, i, latents);
        for (int k = 0; k < NEURAL_LATENTS; k++) {
            s->inputs[k * ORR_SAMPLES + i] = latents[k];
        }
        put3(s->inputs, NEURAL_LATENTS, i, s->to_eye[i]);
    }
    orr_mlp_forward(n->weights, s->inputs, s->values, s->activations[LOBES]);
    for (int i = 0; i < ORR_SAMPLES; i++) {
        float wanted[NEURAL_LOBE_OUTPUTS];
        lobes_target(s, i, wanted);
        for (int k = 0; k < NEURAL_LOBE_OUTPUTS; k++) {
            const float apart = s->values[k * ORR_SAMPLES + i] - wanted[k];
            s->by_values[k * ORR_SAMPLES + i] = apart;
            s->loss += 0.5 * (double)(apart * apart);
        }
    }
    orr_mlp_backward(n->weights, s->inputs, s->values, s->activations[LOBES], s->by_values,
                     gradient + n->first, s->by_inputs);
    for (int k = 0; k < NEURAL_LATENTS * ORR_SAMPLES; k++) {
        s->by_latents[k] += s->by_inputs[k];
    }
}

// ---- a step ----

static void learn_unit(void *context, int unit, int worker)
{
    material_trainer *t = context;
    unit_scratch *s = &t->scratch[worker];
    const network *encoder = &t->networks[ENCODER];
    float *gradient = t->unit_gradients + (size_t)unit * (size_t)t->parameter_count;
    orr_rng random = {t->seed, (uint32_t)unit, (uint64_t)t->steps * DRAWS_PER_UNIT};
    memset(gradient, 0, (size_t)t->parameter_count * sizeof *gradient);
    memset(s->by_latents, 0, sizeof s->by_latents);
    s->loss = 0.0;
    draw_texels(&t->texels, draw_level(&t->texels, &random), &random, s);
    orr_mlp_forward(encoder->weights, s->encoded, s->latents, s->activations[ENCODER]);
    double error = 0.0;
    for (int i = 0; i < MATERIAL_DIRECTIONS; i++) {
        error += learn_reflected(t, s, &random, gradient) / MATERIAL_DIRECTIONS;
    }
    learn_lobes(t, s, gradient);
    for (int k = 0; k < NEURAL_LATENTS * ORR_SAMPLES; k++) {
        s->by_latents[k] *= 2.0f; // a latent is twice the encoder's value, less 1
    }
    orr_mlp_backward(encoder->weights, s->encoded, s->latents, s->activations[ENCODER], s->by_latents,
                     gradient + encoder->first, NULL);
    t->unit_errors[unit] = error;
    t->unit_losses[unit] = s->loss;
}

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
    orr_jobs_for(t->jobs, MATERIAL_UNITS, learn_unit, t);
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

// ---- the material ----

// A matrix of a network as rows whose last column is the bias: the inputs beyond the network's are all 1.
static void copy_rows(const float *matrix, int rows, int padded, int inputs, float *to, int stride)
{
    for (int row = 0; row < rows; row++) {
        float bias = 0.0f;
        for (int k = 0; k < padded; k++) {
            const float value = matrix[row * padded + k];
            if (k < inputs) {
                to[row * stride + k] = value;
            } else {
                bias += value;
            }
        }
        if (padded > inputs) {
            to[row * stride + inputs] = bias;
        }
    }
}

static void copy_weights(const material_trainer *t, orr_neural_weights *w)
{
    const network *n = &t->networks[REFLECTED], *lobes = &t->networks[LOBES];
    const int width = n->mlp.config.width, padded = n->mlp.input_padded;
    const float *from = t->parameters + n->first;
    w->width = width;
    memcpy(w->frame, t->parameters + t->frame, sizeof w->frame);
    copy_rows(from, width, padded, NEURAL_INPUTS, w->first[0], 24);
    copy_rows(from + width * padded, width, width, width, w->second[0], ORR_NEURAL_WIDTH);
    copy_rows(from + width * (padded + width), NEURAL_VALUES, width, width, w->last[0], ORR_NEURAL_WIDTH);
    from = t->parameters + lobes->first;
    copy_rows(from, 16, 16, NEURAL_LOBE_INPUTS, w->lobes_first[0], 12);
    copy_rows(from + 256, 16, 16, 16, w->lobes_second[0], 16);
    copy_rows(from + 512, 12, 16, 16, w->lobes_last[0], 16);
}

typedef struct baking {
    material_trainer *trainer;
    orr_neural_material *material;
    int32_t count;
} baking;

static uint8_t encode(float value, bool colour)
{
    return (uint8_t)(255.0f * (colour ? linear_to_srgb(value) : value) + 0.5f);
}

static void bake_block(void *context, int block, int worker)
{
    const baking *b = context;
    unit_scratch *s = &b->trainer->scratch[worker];
    const int32_t first = block * ORR_SAMPLES;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const int32_t texel = first + i < b->count ? first + i : b->count - 1;
        put_texel(&b->trainer->texels.texels[texel], s->encoded, i);
    }
    orr_mlp_forward(b->trainer->networks[ENCODER].weights, s->encoded, s->latents, NULL);
    for (int i = 0; i < ORR_SAMPLES && first + i < b->count; i++) {
        for (int k = 0; k < NEURAL_LATENTS; k++) {
            b->material->latents[k / 4].rgba[4 * (size_t)(first + i) + (size_t)(k % 4)] =
                encode(s->latents[k * ORR_SAMPLES + i], k % 4 < 3);
        }
    }
}

orr_result material_trainer_material(material_trainer *t, orr_neural_material **material, orr_error *error)
{
    *material = NULL;
    orr_neural_material *m = orr_alloc_zero(1, sizeof *m);
    if (!m) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a material");
    }
    const size_t count = orr_neural_texels(t->texels.width, t->texels.height);
    for (int i = 0; i < 2; i++) {
        m->latents[i] = (orr_image8){t->texels.width, t->texels.height, orr_alloc(count, 4)};
        if (!m->latents[i].rgba) {
            orr_neural_material_destroy(m);
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu latents", count);
        }
    }
    copy_weights(t, &m->weights);
    orr_jobs_for(t->jobs, orr_blocks((int64_t)count, ORR_SAMPLES), bake_block,
                 &(baking){t, m, (int32_t)count});
    *material = m;
    return ORR_OK;
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
