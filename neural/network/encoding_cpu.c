// The encodings of a block of samples, in lanes; compiled once per instruction set.
#include "neural/network/encoding_cpu.h"
#include "engine/core/isa.h"
#include "neural/network/encoding_formula.h"

static void identity_forward(const orr_encoding *e, const float *input, float *features)
{
    for (int i = 0; i < e->input_dims * ORR_SAMPLES; i += ORR_LANES) {
        real_store(features + i, fma_(real_load(input + i), R(e->config.scale), R(e->config.offset)));
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
        for (int k = 0; k < e->config.frequencies; k++, features += 2 * ORR_SAMPLES) {
            for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
                real x = real_load(input + d * ORR_SAMPLES + i) * exp2_(R(k));
                real_store(features + i, sin_pi(x));
                real_store(features + ORR_SAMPLES + i, cos_pi(x));
            }
        }
    }
}

static void frequency_backward(const orr_encoding *e, const float *input, const float *gradient,
                               float *input_gradient)
{
    const float pi = 3.14159265f;
    for (int d = 0; d < e->input_dims; d++, gradient += 2 * e->config.frequencies * ORR_SAMPLES) {
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            real x = real_load(input + d * ORR_SAMPLES + i), sum = R(0.0);
            for (int k = 0; k < e->config.frequencies; k++) {
                const float *g = gradient + 2 * k * ORR_SAMPLES + i;
                real frequency = exp2_(R(k));
                real slope =
                    real_load(g) * cos_pi(x * frequency) - real_load(g + ORR_SAMPLES) * sin_pi(x * frequency);
                sum = fma_(slope, frequency * pi, sum);
            }
            real_store(input_gradient + d * ORR_SAMPLES + i, sum);
        }
    }
}

static void triangle_forward(const orr_encoding *e, const float *input, float *features)
{
    for (int d = 0; d < e->input_dims; d++) {
        for (int k = 0; k < e->config.frequencies; k++, features += ORR_SAMPLES) {
            float frequency = __builtin_ldexpf(1.0f, k);
            for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
                real phase = triangle_phase(real_load(input + d * ORR_SAMPLES + i), frequency, (float)k);
                real_store(features + i, triangle_wave(phase));
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
            for (int k = 0; k < e->config.frequencies; k++) {
                float frequency = __builtin_ldexpf(1.0f, k);
                real slope = triangle_wave_slope(triangle_phase(x, frequency, (float)k), frequency);
                sum = fma_(real_load(gradient + k * ORR_SAMPLES + i), slope, sum);
            }
            real_store(input_gradient + d * ORR_SAMPLES + i, sum);
        }
    }
}

static void blob_forward(const orr_encoding *e, const float *input, float *features)
{
    const int bins = e->config.bins;
    const float count = (float)bins;
    for (int d = 0; d < e->input_dims; d++, features += bins * ORR_SAMPLES) {
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            real x = real_load(input + d * ORR_SAMPLES + i);
            real left = blob_edge(-x, count);
            for (int k = 0; k < bins; k++) {
                real right = blob_edge(R((float)(k + 1) / count) - x, count);
                real_store(features + k * ORR_SAMPLES + i, right - left);
                left = right;
            }
        }
    }
}

static void blob_backward(const orr_encoding *e, const float *input, const float *gradient,
                          float *input_gradient)
{
    const int bins = e->config.bins;
    const float count = (float)bins;
    for (int d = 0; d < e->input_dims; d++, gradient += bins * ORR_SAMPLES) {
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            real x = real_load(input + d * ORR_SAMPLES + i);
            real left = blob_edge_slope(-x, count), sum = R(0.0);
            for (int k = 0; k < bins; k++) {
                real right = blob_edge_slope(R((float)(k + 1) / count) - x, count);
                sum = fma_(real_load(gradient + k * ORR_SAMPLES + i), left - right, sum);
                left = right;
            }
            real_store(input_gradient + d * ORR_SAMPLES + i, sum);
        }
    }
}

// the direction of a sample, from 0 .. 1 per axis
static real3 load_direction(const float *input, int i)
{
    return make_real3(fma_(real_load(input + i), R(2.0), R(-1.0)),
                      fma_(real_load(input + ORR_SAMPLES + i), R(2.0), R(-1.0)),
                      fma_(real_load(input + 2 * ORR_SAMPLES + i), R(2.0), R(-1.0)));
}

// (2m - 1)!! = Q(m, m)
static float double_factorial(int m)
{
    float product = 1.0f;
    for (int i = 3; i <= 2 * m - 1; i += 2) {
        product *= (float)i;
    }
    return product;
}

static void harmonics_forward(const orr_encoding *e, const float *input, float *features)
{
    const int degree = e->config.degree;
    for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
        real3 d = load_direction(input, i);
        real2 power = {R(1.0), R(0.0)};
        for (int m = 0; m < degree; m++) {
            real before = R(0.0), q = R(double_factorial(m));
            for (int l = m; l < degree; l++) {
                real scaled = q * e->harmonics[l][m];
                float *out = features + (l * l + l) * ORR_SAMPLES + i;
                real_store(out + m * ORR_SAMPLES, scaled * power.x);
                if (m > 0) {
                    real_store(out - m * ORR_SAMPLES, scaled * power.y);
                }
                real next = sh_legendre(d.z, (float)(l + 1), (float)m, q, before);
                before = q;
                q = next;
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
            // q: the m-th derivative of the Legendre polynomials; slope: the next one, of which polynomial m has none
            real before = R(0.0), q = R(double_factorial(m));
            real slope_before = R(0.0), slope = R(0.0);
            for (int l = m; l < degree; l++) {
                const float *g = gradient + (l * l + l) * ORR_SAMPLES + i;
                real even = real_load(g + m * ORR_SAMPLES) * e->harmonics[l][m];
                real odd = m > 0 ? real_load(g - m * ORR_SAMPLES) * e->harmonics[l][m] : R(0.0);
                real scaled = q * (float)m;
                sum.x = fma_(scaled, even * power_before.x + odd * power_before.y, sum.x);
                sum.y = fma_(scaled, odd * power_before.x - even * power_before.y, sum.y);
                sum.z = fma_(slope, even * power.x + odd * power.y, sum.z);
                real next = sh_legendre(d.z, (float)(l + 1), (float)m, q, before);
                before = q;
                q = next;
                real next_slope = l == m
                                      ? R(double_factorial(m + 1))
                                      : sh_legendre(d.z, (float)(l + 1), (float)(m + 1), slope, slope_before);
                slope_before = slope;
                slope = next_slope;
            }
            power_before = power;
            power = sh_power(power, d.x, d.y);
        }
        real_store(input_gradient + i, sum.x * 2.0f); // the direction is 2 input - 1
        real_store(input_gradient + ORR_SAMPLES + i, sum.y * 2.0f);
        real_store(input_gradient + 2 * ORR_SAMPLES + i, sum.z * 2.0f);
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
