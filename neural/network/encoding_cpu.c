// The encodings of a block of samples, in lanes; compiled once per instruction set.
#include "neural/network/encoding_cpu.h"
#include "engine/core/isa.h"
#include "neural/network/encoding_formula.h"

static void identity_forward(const orr_encoding *e, const float *input, float *features)
{
    for (int i = 0; i < e->input_dims * ORR_SAMPLES; i += ORR_LANES) {
        real_store(features + i, identity_feature(real_load(input + i), e->config.scale, e->config.offset));
    }
}

static void identity_backward(const orr_encoding *e, const float *gradient, float *input_gradient)
{
    for (int i = 0; i < e->input_dims * ORR_SAMPLES; i += ORR_LANES) {
        real_store(input_gradient + i, real_load(gradient + i) * e->config.scale);
    }
}

static void frequency_forward(const orr_encoding *e, const float *input, float *features)
{
    for (int d = 0; d < e->input_dims; d++) {
        float frequency = 1.0f;
        for (int k = 0; k < e->config.frequencies; k++, features += 2 * ORR_SAMPLES, frequency *= 2.0f) {
            for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
                real2 waves = frequency_features(real_load(input + d * ORR_SAMPLES + i), frequency);
                real_store(features + i, waves.x);
                real_store(features + ORR_SAMPLES + i, waves.y);
            }
        }
    }
}

static void frequency_backward(const orr_encoding *e, const float *input, const float *gradient,
                               float *input_gradient)
{
    for (int d = 0; d < e->input_dims; d++, gradient += 2 * e->config.frequencies * ORR_SAMPLES) {
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            real x = real_load(input + d * ORR_SAMPLES + i), sum = R(0.0);
            float frequency = 1.0f;
            for (int k = 0; k < e->config.frequencies; k++, frequency *= 2.0f) {
                const float *g = gradient + 2 * k * ORR_SAMPLES + i;
                sum = frequency_gradient(sum, x, frequency, real_load(g), real_load(g + ORR_SAMPLES));
            }
            real_store(input_gradient + d * ORR_SAMPLES + i, sum);
        }
    }
}

static void triangle_forward(const orr_encoding *e, const float *input, float *features)
{
    for (int d = 0; d < e->input_dims; d++) {
        float frequency = 1.0f;
        for (int k = 0; k < e->config.frequencies; k++, features += ORR_SAMPLES, frequency *= 2.0f) {
            for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
                real x = real_load(input + d * ORR_SAMPLES + i);
                real_store(features + i, triangle_feature(x, frequency, (float)k));
            }
        }
    }
}

static void triangle_backward(const orr_encoding *e, const float *input, const float *gradient,
                              float *input_gradient)
{
    for (int d = 0; d < e->input_dims; d++, gradient += e->config.frequencies * ORR_SAMPLES) {
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            real x = real_load(input + d * ORR_SAMPLES + i), sum = R(0.0);
            float frequency = 1.0f;
            for (int k = 0; k < e->config.frequencies; k++, frequency *= 2.0f) {
                real by_feature = real_load(gradient + k * ORR_SAMPLES + i);
                sum = triangle_gradient(sum, x, frequency, (float)k, by_feature);
            }
            real_store(input_gradient + d * ORR_SAMPLES + i, sum);
        }
    }
}

static void blob_forward(const orr_encoding *e, const float *input, float *features)
{
    const int bins = e->config.bins;
    for (int d = 0; d < e->input_dims; d++, features += bins * ORR_SAMPLES) {
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            real x = real_load(input + d * ORR_SAMPLES + i);
            real left = blob_edge(x, 0.0f, (float)bins);
            for (int k = 0; k < bins; k++) {
                real right = blob_edge(x, (float)(k + 1), (float)bins);
                real_store(features + k * ORR_SAMPLES + i, blob_feature(left, right));
                left = right;
            }
        }
    }
}

static void blob_backward(const orr_encoding *e, const float *input, const float *gradient,
                          float *input_gradient)
{
    const int bins = e->config.bins;
    for (int d = 0; d < e->input_dims; d++, gradient += bins * ORR_SAMPLES) {
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            real x = real_load(input + d * ORR_SAMPLES + i);
            real left = blob_edge_slope(x, 0.0f, (float)bins), sum = R(0.0);
            for (int k = 0; k < bins; k++) {
                real right = blob_edge_slope(x, (float)(k + 1), (float)bins);
                sum = blob_gradient(sum, left, right, real_load(gradient + k * ORR_SAMPLES + i));
                left = right;
            }
            real_store(input_gradient + d * ORR_SAMPLES + i, sum);
        }
    }
}

static real3 load_direction(const float *input, int i)
{
    return direction_of_input(real_load(input + i), real_load(input + ORR_SAMPLES + i),
                              real_load(input + 2 * ORR_SAMPLES + i));
}

static void harmonics_forward(const orr_encoding *e, const float *input, float *features)
{
    const int degree = e->config.degree;
    for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
        real3 d = load_direction(input, i);
        real2 power = {R(1.0), R(0.0)};
        for (int m = 0; m < degree; m++) {
            sh_legendre q = sh_legendre_first((float)m);
            for (int l = m; l < degree; l++) {
                float *out = features + (l * l + l) * ORR_SAMPLES + i;
                real_store(out + m * ORR_SAMPLES, sh_feature(q.value, e->harmonics[l][m], power.x));
                if (m > 0) {
                    real_store(out - m * ORR_SAMPLES, sh_feature(q.value, e->harmonics[l][m], power.y));
                }
                q = sh_legendre_next(q, d.z, (float)(l + 1), (float)m);
            }
            power = sh_power(power, d.x, d.y);
        }
    }
}

static void harmonics_backward(const orr_encoding *e, const float *input, const float *gradient,
                               float *input_gradient)
{
    const int degree = e->config.degree;
    for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
        real3 d = load_direction(input, i), sum = {R(0.0), R(0.0), R(0.0)};
        real2 power = {R(1.0), R(0.0)}, power_before = {R(0.0), R(0.0)};
        for (int m = 0; m < degree; m++) {
            sh_legendre q = sh_legendre_first((float)m), slope = {R(0.0), R(0.0)};
            for (int l = m; l < degree; l++) {
                const float *g = gradient + (l * l + l) * ORR_SAMPLES + i;
                real even = real_load(g + m * ORR_SAMPLES);
                real odd = m > 0 ? real_load(g - m * ORR_SAMPLES) : R(0.0);
                sum = sh_gradient(sum, even, odd, e->harmonics[l][m], q.value, slope.value, (float)m, power,
                                  power_before);
                q = sh_legendre_next(q, d.z, (float)(l + 1), (float)m);
                slope = sh_slope_next(slope, d.z, (float)(l + 1), (float)m);
            }
            power_before = power;
            power = sh_power(power, d.x, d.y);
        }
        sum = direction_input_gradient(sum);
        real_store(input_gradient + i, sum.x);
        real_store(input_gradient + ORR_SAMPLES + i, sum.y);
        real_store(input_gradient + 2 * ORR_SAMPLES + i, sum.z);
    }
}

void ORR_ISA_NAME(orr_encoding_forward)(const orr_encoding *e, const float *table, const float *input,
                                        float *features)
{
    for (int p = 0; p < e->part_count; p++) {
        const orr_encoding *part = &e->parts[p];
        ORR_ISA_NAME(orr_encoding_forward)(part, table, input, features);
        table = table ? table + part->parameter_count : NULL; // encodings without parameters may have none
        input += part->input_dims * ORR_SAMPLES;
        features += part->output_dims * ORR_SAMPLES;
    }
    if (e->part_count > 0 || e->input_dims == 0) {
        return;
    }
    switch (e->config.kind) {
    case ORR_ENCODING_GRID:
        ORR_ISA_NAME(orr_grid_forward)(e, table, input, features);
        break;
    case ORR_ENCODING_IDENTITY:
        identity_forward(e, input, features);
        break;
    case ORR_ENCODING_FREQUENCY:
        frequency_forward(e, input, features);
        break;
    case ORR_ENCODING_TRIANGLE_WAVE:
        triangle_forward(e, input, features);
        break;
    case ORR_ENCODING_ONE_BLOB:
        blob_forward(e, input, features);
        break;
    case ORR_ENCODING_SPHERICAL_HARMONICS:
        harmonics_forward(e, input, features);
        break;
    case ORR_ENCODING_COMPOSITE:
        break;
    }
}

void ORR_ISA_NAME(orr_encoding_backward_input)(const orr_encoding *e, const float *table, const float *input,
                                               const float *gradient, float *input_gradient)
{
    for (int p = 0; p < e->part_count; p++) {
        const orr_encoding *part = &e->parts[p];
        ORR_ISA_NAME(orr_encoding_backward_input)(part, table, input, gradient, input_gradient);
        table = table ? table + part->parameter_count : NULL;
        input += part->input_dims * ORR_SAMPLES;
        gradient += part->output_dims * ORR_SAMPLES;
        input_gradient += part->input_dims * ORR_SAMPLES;
    }
    if (e->part_count > 0 || e->input_dims == 0) {
        return;
    }
    switch (e->config.kind) {
    case ORR_ENCODING_GRID:
        ORR_ISA_NAME(orr_grid_backward_input)(e, table, input, gradient, input_gradient);
        break;
    case ORR_ENCODING_IDENTITY:
        identity_backward(e, gradient, input_gradient);
        break;
    case ORR_ENCODING_FREQUENCY:
        frequency_backward(e, input, gradient, input_gradient);
        break;
    case ORR_ENCODING_TRIANGLE_WAVE:
        triangle_backward(e, input, gradient, input_gradient);
        break;
    case ORR_ENCODING_ONE_BLOB:
        blob_backward(e, input, gradient, input_gradient);
        break;
    case ORR_ENCODING_SPHERICAL_HARMONICS:
        harmonics_backward(e, input, gradient, input_gradient);
        break;
    case ORR_ENCODING_COMPOSITE:
        break;
    }
}

void ORR_ISA_NAME(orr_encoding_scatter_level)(const orr_encoding *e, int level, const float *input,
                                              const float *gradient, int count, float *table_gradient,
                                              uint32_t *touched)
{
    const orr_encoding *part = e;
    int64_t first = 0; // float at which the part's table begins
    for (int p = 0; p < e->part_count; p++) {
        part = &e->parts[p];
        if (level < part->level_count) {
            break;
        }
        level -= part->level_count;
        first += part->parameter_count;
        input += part->input_dims * ORR_SAMPLES;
        gradient += part->output_dims * ORR_SAMPLES;
    }
    assert(level >= 0 && level < part->level_count);
    ORR_ISA_NAME(orr_grid_scatter)(part, level, input, gradient, count, first, table_gradient, touched);
}
