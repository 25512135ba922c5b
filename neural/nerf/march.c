#define ORR_SCALAR
#include "neural/nerf/march.h"

#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "neural/fields/radiance_formula.h"
#include "neural/network/encoding_formula.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLES_MAX = ORR_NERF_RAYS * MARCH_SAMPLES_MAX // memory that is not touched costs nothing
};

#define KERNELS(isa) &orr_nerf_kernels_##isa
static const orr_nerf_kernels *const kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(KERNELS);

const orr_nerf_kernels *orr_nerf_kernels_of(orr_isa isa)
{
    return kernels[isa];
}

static const double cone_angle = 1.0 / 256.0; // of scenes larger than the unit cube

march_stepping orr_nerf_stepping(int aabb_scale, double coarseness)
{
    double step = OCCUPANCY_STEP * coarseness;
    march_stepping s = {.step = (float)step, .steps_per_unit = (float)(1.0 / step)};
    double knee = OCCUPANCY_STEP / cone_angle;
    double octave = 1.0 / log2(1.0 + cone_angle * coarseness);
    s.knee = aabb_scale > 1 ? (float)knee : MARCH_NO_KNEE;
    s.knee_steps = s.knee * s.steps_per_unit;
    s.per_knee = 1.0f / s.knee;
    s.octave = (float)octave;
    s.per_octave = (float)(1.0 / octave);
    return s;
}

static real3 vector_of(const float v[3])
{
    return make_real3(v[0], v[1], v[2]);
}

bool orr_nerf_ray_range(const orr_camera_ray *ray, int aabb_scale, float *start, float *end)
{
    real2 range = march_range(vector_of(ray->origin), vector_of(ray->direction), (float)aabb_scale);
    *start = range.x;
    *end = range.y;
    return *start < *end;
}

void orr_nerf_ray_begin(orr_nerf_rays *rays, const march_stepping *stepping, const orr_camera_ray *ray,
                        float start, float end, float jitter)
{
    int i = rays->count++;
    real3 r = march_reciprocal(vector_of(ray->direction));
    const float reciprocal[3] = {r.x, r.y, r.z};
    for (int k = 0; k < 3; k++) {
        rays->origin[k][i] = ray->origin[k];
        rays->direction[k][i] = ray->direction[k];
        rays->reciprocal[k][i] = reciprocal[k];
    }
    rays->at[i] = march_begin(*stepping, start, jitter);
    rays->end[i] = end;
    rays->transmittance[i] = 1.0f;
    rays->taken[i] = 0;
}

orr_nerf_model orr_nerf_model_of(const orr_field *field, const orr_occupancy *grid)
{
    const orr_field_desc *desc = orr_field_describe(field);
    const orr_field_parts *parts = orr_field_parts_of(field);
    const orr_nerf_kernels *of_field = orr_nerf_kernels_of(desc->isa);
    return (orr_nerf_model){.parts = parts,
                            .table = parts->inference_table,
                            .network = parts->network_weights,
                            .aabb_scale = desc->aabb_scale,
                            .rgb_network = parts->rgb_network_weights,
                            .kernels = of_field,
                            .proposal = orr_proposal_model_of(parts->proposal, of_field),
                            .space = {.stepping = orr_nerf_stepping(desc->aabb_scale, 1.0),
                                      .bits = grid->bits,
                                      .blocks = grid->blocks,
                                      .last_cascade = (float)(grid->cascades - 1),
                                      .per_aabb_scale = 1.0f / (float)desc->aabb_scale}};
}

bool orr_nerf_model_range(const orr_nerf_model *model, const orr_camera_ray *ray, float *start, float *end)
{
    if (model->proposal.proposal) {
        *start = orr_proposal_near;
        *end = orr_proposal_far;
        return true;
    }
    return orr_nerf_ray_range(ray, model->aabb_scale, start, end);
}

void orr_nerf_model_begin(const orr_nerf_model *model, orr_nerf_rays *rays, const orr_camera_ray *ray,
                          float start, float end, float jitter)
{
    if (model->proposal.proposal) {
        orr_proposal_begin(rays, ray->origin, ray->direction, start, end, jitter);
    } else {
        orr_nerf_ray_begin(rays, &model->space.stepping, ray, start, end, jitter);
    }
}

orr_result orr_nerf_bundle_create(const orr_field *field, bool keep_features, orr_nerf_bundle **bundle,
                                  orr_error *error)
{
    const orr_field_parts *parts = orr_field_parts_of(field);
    size_t features = (size_t)parts->encoding.output_dims, outputs = (size_t)parts->network.output_dims;
    size_t directions = (size_t)parts->dir_encoding.output_dims,
           inputs = (size_t)parts->rgb_network.input_dims;
    orr_nerf_bundle *b = orr_alloc_zero(1, sizeof *b);
    *bundle = b;
    if (!b) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a bundle of rays");
    }
    orr_nerf_samples *s = &b->samples;
    s->capacity = SAMPLES_MAX;
    s->positions = orr_alloc(SAMPLES_MAX, 3 * sizeof(float));
    s->features = keep_features ? orr_alloc(SAMPLES_MAX, features * sizeof(float)) : NULL;
    s->outputs = orr_alloc(SAMPLES_MAX, outputs * sizeof(float));
    s->colours = orr_alloc(SAMPLES_MAX, 3 * sizeof(float));
    s->distance = orr_alloc(SAMPLES_MAX, sizeof(float));
    s->step = orr_alloc(SAMPLES_MAX, sizeof(float));
    s->weight = orr_alloc(SAMPLES_MAX, sizeof(float));
    s->transmittance = orr_alloc(SAMPLES_MAX, sizeof(float));
    s->ray = orr_alloc(SAMPLES_MAX, sizeof(int32_t));
    b->proposal = parts->proposal ? orr_alloc(1, sizeof *b->proposal) : NULL;
    b->features = orr_alloc(features * ORR_SAMPLES, sizeof(float));
    b->outputs = orr_alloc(outputs * ORR_SAMPLES, sizeof(float));
    b->directions = orr_alloc_zero(directions * ORR_NERF_RAYS, sizeof(float));
    b->rgb_input = orr_alloc_zero(inputs * ORR_SAMPLES, sizeof(float));
    b->rgb_output = orr_alloc((size_t)parts->rgb_network.output_dims * ORR_SAMPLES, sizeof(float));
    if (!s->positions || (keep_features && !s->features) || !s->outputs || !s->colours || !s->distance ||
        !s->step || !s->weight || !s->transmittance || !s->ray || !b->features || !b->outputs ||
        !b->directions || !b->rgb_input || !b->rgb_output || (parts->proposal && !b->proposal)) {
        orr_nerf_bundle_destroy(b);
        *bundle = NULL;
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the samples of a bundle of rays");
    }
    return ORR_OK;
}

void orr_nerf_bundle_destroy(orr_nerf_bundle *bundle)
{
    if (!bundle) {
        return;
    }
    orr_nerf_samples *s = &bundle->samples;
    void *all[] = {s->positions,      s->features,        s->outputs,
                   s->colours,        s->distance,        s->step,
                   s->weight,         s->transmittance,   s->ray,
                   bundle->features,  bundle->outputs,    bundle->directions,
                   bundle->rgb_input, bundle->rgb_output, bundle->proposal};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        orr_free(all[i]);
    }
    orr_free(bundle);
}

static void book(orr_nerf_bundle *bundle, orr_nerf_stage stage, uint64_t *since)
{
    uint64_t now = orr_clock_nanoseconds();
    bundle->nanoseconds[stage] += now - *since;
    *since = now;
}

static void encode_directions(const orr_nerf_model *model, orr_nerf_bundle *bundle)
{
    const orr_encoding *encoding = &model->parts->dir_encoding;
    const orr_nerf_rays *rays = &bundle->rays;
    for (int first = 0; first < rays->count; first += ORR_SAMPLES) {
        float input[3 * ORR_SAMPLES];
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < ORR_SAMPLES; i++) {
                float d = first + i < rays->count ? rays->direction[k][first + i] : 0.0f;
                input[k * ORR_SAMPLES + i] = direction_input(d);
            }
        }
        model->parts->kernels->forward(encoding, NULL, input,
                                       bundle->directions + first * encoding->output_dims);
    }
}

static void copy_column(float *to, int to_lane, const float *from, int from_lane, int rows)
{
    for (int k = 0; k < rows; k++) {
        to[k * ORR_SAMPLES + to_lane] = from[k * ORR_SAMPLES + from_lane];
    }
}

static void keep_sample(const orr_nerf_model *model, orr_nerf_bundle *bundle, int i, radiance_sample light)
{
    const orr_nerf_wave *wave = &bundle->wave;
    orr_nerf_samples *s = &bundle->samples;
    int n = s->count++, block = n / ORR_SAMPLES, lane = n % ORR_SAMPLES, from = i % ORR_SAMPLES;
    int features = model->parts->encoding.output_dims, outputs = model->parts->network.output_dims;
    copy_column(s->positions + block * 3 * ORR_SAMPLES, lane, wave->positions[i / ORR_SAMPLES], from, 3);
    copy_column(s->outputs + block * outputs * ORR_SAMPLES, lane, bundle->outputs, from, outputs);
    if (s->features) {
        copy_column(s->features + block * features * ORR_SAMPLES, lane, bundle->features, from, features);
    }
    s->distance[n] = wave->distance[i];
    s->step[n] = wave->step[i];
    s->weight[n] = light.weight;
    s->transmittance[n] = light.transmittance;
    s->ray[n] = wave->ray[i];
}

static void evaluate_wave(const orr_nerf_model *model, orr_nerf_bundle *bundle, float transmittance_min,
                          float weight_min)
{
    orr_nerf_wave *wave = &bundle->wave;
    float *transmittance = bundle->rays.transmittance;
    uint64_t clock = orr_clock_nanoseconds();
    for (int first = 0; first < wave->count; first += ORR_SAMPLES) {
        int count = wave->count - first < ORR_SAMPLES ? wave->count - first : ORR_SAMPLES;
        float *positions = wave->positions[first / ORR_SAMPLES];
        for (int i = count; i < ORR_SAMPLES; i++) {
            positions[i] = positions[ORR_SAMPLES + i] = positions[2 * ORR_SAMPLES + i] = 0.5f;
            wave->step[first + i] = 0.0f;
        }
        model->parts->kernels->forward(&model->parts->encoding, model->table, positions, bundle->features);
        book(bundle, ORR_NERF_ENCODE, &clock);
        orr_mlp_forward(model->network, bundle->features, bundle->outputs, NULL);
        book(bundle, ORR_NERF_MLP, &clock);
        float density[ORR_SAMPLES], alpha[ORR_SAMPLES];
        model->kernels->densities(bundle->outputs, wave->step + first, density, alpha);
        for (int i = 0; i < count; i++) {
            float *before = &transmittance[wave->ray[first + i]];
            if (radiance_is_opaque(*before, transmittance_min)) {
                continue;
            }
            radiance_sample light = radiance_composite(*before, alpha[i]);
            if (light.weight >= weight_min) {
                keep_sample(model, bundle, first + i, light);
            }
            *before = light.transmittance;
        }
        book(bundle, ORR_NERF_MARCH, &clock);
    }
    bundle->evaluated += wave->count;
}

static void fill_last_block(const orr_nerf_model *model, orr_nerf_samples *s)
{
    int features = model->parts->encoding.output_dims, outputs = model->parts->network.output_dims;
    for (int n = s->count; n % ORR_SAMPLES != 0; n++) {
        int block = n / ORR_SAMPLES, lane = n % ORR_SAMPLES;
        for (int k = 0; k < 3; k++) {
            s->positions[(block * 3 + k) * ORR_SAMPLES + lane] = 0.5f;
        }
        for (int k = 0; k < outputs; k++) {
            s->outputs[(block * outputs + k) * ORR_SAMPLES + lane] = 0.0f;
        }
        for (int k = 0; s->features && k < features; k++) {
            s->features[(block * features + k) * ORR_SAMPLES + lane] = 0.0f;
        }
        s->distance[n] = s->step[n] = s->weight[n] = 0.0f;
        s->transmittance[n] = 1.0f;
        s->ray[n] = 0;
    }
}

void orr_nerf_march(const orr_nerf_model *model, orr_nerf_bundle *bundle, float transmittance_min,
                    float weight_min)
{
    orr_nerf_rays *rays = &bundle->rays;
    uint64_t clock = orr_clock_nanoseconds();
    encode_directions(model, bundle);
    bundle->samples.count = 0;
    if (bundle->proposal) {
        orr_proposal_sample(&model->proposal, rays, bundle->features, bundle->proposal);
    }
    int live = 0;
    for (int i = 0; i < rays->count; i++) {
        bundle->live[live] = i;
        live += rays->end[i] >= 0.0f;
    }
    while (live > 0) {
        int each = ORR_NERF_WAVE / live < ORR_NERF_EACH ? ORR_NERF_WAVE / live : ORR_NERF_EACH;
        bundle->wave.count = 0;
        if (bundle->proposal) {
            orr_proposal_take(bundle->proposal, rays, bundle->live, live, each, &bundle->wave);
        } else {
            model->kernels->march(&model->space, rays, bundle->live, live, each, &bundle->wave);
        }
        book(bundle, ORR_NERF_MARCH, &clock);
        evaluate_wave(model, bundle, transmittance_min, weight_min);
        clock = orr_clock_nanoseconds();
        int still = 0;
        for (int i = 0; i < live; i++) {
            int32_t ray = bundle->live[i];
            bundle->live[still] = ray;
            still +=
                rays->end[ray] >= 0.0f && !radiance_is_opaque(rays->transmittance[ray], transmittance_min);
        }
        live = still;
    }
    fill_last_block(model, &bundle->samples);
}

void orr_nerf_rgb_input(const orr_nerf_model *model, const orr_nerf_bundle *bundle, int block,
                        const float *outputs, float *rgb_input)
{
    int output_dims = model->parts->network.output_dims, dims = model->parts->dir_encoding.output_dims;
    memcpy(rgb_input, outputs, (size_t)output_dims * ORR_SAMPLES * sizeof(float));
    const int32_t *ray = bundle->samples.ray + block * ORR_SAMPLES;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const float *from = bundle->directions + ray[i] / ORR_SAMPLES * ORR_SAMPLES * dims;
        copy_column(rgb_input + output_dims * ORR_SAMPLES, i, from, ray[i] % ORR_SAMPLES, dims);
    }
}

void orr_nerf_colour(const orr_nerf_model *model, orr_nerf_bundle *bundle)
{
    orr_nerf_samples *s = &bundle->samples;
    int output_dims = model->parts->network.output_dims;
    uint64_t clock = orr_clock_nanoseconds();
    for (int first = 0; first < s->count; first += ORR_SAMPLES) {
        orr_nerf_rgb_input(model, bundle, first / ORR_SAMPLES, s->outputs + first * output_dims,
                           bundle->rgb_input);
        orr_mlp_forward(model->rgb_network, bundle->rgb_input, bundle->rgb_output, NULL);
        model->kernels->colours(bundle->rgb_output, s->colours + first * 3);
    }
    book(bundle, ORR_NERF_MLP, &clock);
}
