// A unit of a step: 64 texels, with their directions, through the networks and back.
#define ORR_SCALAR
#include "engine/maths/rng.h"
#include "render/appearance/material_trainer_state.h"
#include "render/appearance/neural_backward_formula.h"
#include "render/appearance/neural_surface.h"

#include <string.h>

enum { DRAWS_PER_UNIT = 1 << 14 }; // random numbers, at most

// ---- texels ----

static float logarithm(float roughness)
{
    return 0.25f * log2f(fmaxf(roughness, 0.02f));
}

void material_put_texel(const material_texel *t, float *block, int i)
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
        material_put_texel(&s->mean[i], s->encoded, i);
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
        latents[k] = neural_latent(s->latents[k * ORR_SAMPLES + i]);
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

void material_learn_unit(void *context, int unit, int worker)
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
