#include "tests/neural/encoding_reference.h"

#include <complex.h>
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

// ---- grids ----

uint64_t reference_entry(const orr_encoding *e, int level, const uint64_t *vertex)
{
    static const uint64_t primes[] = {1, 2654435761, 805459861, 3674653429};
    const orr_grid_level *l = &e->levels[level];
    uint64_t all = 1;
    for (int d = 0; d < e->input_dims; d++) {
        all *= l->side;
    }
    if (e->config.grid == ORR_GRID_HASH && all > l->entries) {
        uint64_t hash = 0;
        for (int d = 0; d < e->input_dims; d++) {
            hash ^= (vertex[d] * primes[d]) & 0xffffffffu;
        }
        return hash % l->entries;
    }
    // vertices in rows, planes and so on, for as many axes as fit into the table
    uint64_t index = 0, stride = 1;
    for (int d = 0; d < e->input_dims && stride <= l->entries; d++) {
        index += vertex[d] * stride;
        stride *= l->side;
    }
    return (uint64_t)(index % l->entries);
}

typedef struct reference_corner {
    uint64_t entry;
    double weight;
} reference_corner;

static int reference_corners(const orr_encoding *e, int level, reference_rounding rounding,
                             const double *input, reference_corner *corners)
{
    const float scale = e->levels[level].scale;
    uint64_t cell[4], vertex[4];
    double part[4];
    for (int d = 0; d < e->input_dims; d++) {
        float x = (float)input[d], twice = x * scale;
        double position = rounding == ROUND_NEVER  ? input[d] * (double)scale + 0.5
                          : rounding == ROUND_ONCE ? (double)fmaf(x, scale, 0.5f)
                                                   : (double)(float)(twice + 0.5f);
        cell[d] = (uint64_t)floor(position);
        part[d] = position - floor(position);
        if (e->config.interpolation == ORR_SMOOTHSTEP) {
            part[d] = 3.0 * pow(part[d], 2.0) - 2.0 * pow(part[d], 3.0);
        }
    }
    if (e->config.interpolation == ORR_NEAREST) {
        corners[0] = (reference_corner){reference_entry(e, level, cell), 1.0};
        return 1;
    }
    for (int c = 0; c < 1 << e->input_dims; c++) {
        double weight = 1.0;
        for (int d = 0; d < e->input_dims; d++) {
            bool upper = c & 1 << d;
            vertex[d] = cell[d] + upper;
            weight *= upper ? part[d] : 1.0 - part[d];
        }
        corners[c] = (reference_corner){reference_entry(e, level, vertex), weight};
    }
    return 1 << e->input_dims;
}

static void encode_grid(const orr_encoding *e, const float *table, reference_rounding rounding,
                        const double *input, double *features)
{
    const int count = e->config.features_per_level;
    for (int l = 0; l < e->level_count; l++) {
        reference_corner corners[16];
        int corner_count = reference_corners(e, l, rounding, input, corners);
        for (int f = 0; f < count; f++) {
            double sum = 0.0;
            for (int c = 0; c < corner_count; c++) {
                sum += corners[c].weight *
                       (double)table[(e->levels[l].first + corners[c].entry) * (uint64_t)count + (uint64_t)f];
            }
            features[l * count + f] = sum;
        }
    }
}

void reference_scatter(const orr_encoding *e, reference_rounding rounding, const double *input,
                       const double *feature_gradient, double *table_gradient)
{
    const int count = e->config.features_per_level;
    for (int l = 0; l < e->level_count; l++) {
        reference_corner corners[16];
        int corner_count = reference_corners(e, l, rounding, input, corners);
        for (int c = 0; c < corner_count; c++) {
            for (int f = 0; f < count; f++) {
                table_gradient[(e->levels[l].first + corners[c].entry) * (uint64_t)count + (uint64_t)f] +=
                    corners[c].weight * feature_gradient[l * count + f];
            }
        }
    }
}

// ---- the others ----

static double choose(int n, int k)
{
    return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0));
}

// the m-th derivative of the Legendre polynomial l, term by term
static double legendre_derivative(int l, int m, double z)
{
    double sum = 0.0;
    for (int k = 0; 2 * k <= l; k++) {
        int power = l - 2 * k;
        if (power < m) {
            break;
        }
        double term = (k % 2 ? -1.0 : 1.0) * choose(l, k) * choose(2 * l - 2 * k, l) / pow(2.0, l);
        for (int i = 0; i < m; i++) {
            term *= power - i;
        }
        sum += term * pow(z, power - m);
    }
    return sum;
}

static void encode_harmonics(int degree, const double *input, double *features)
{
    double x = 2.0 * input[0] - 1.0, y = 2.0 * input[1] - 1.0, z = 2.0 * input[2] - 1.0;
    for (int l = 0; l < degree; l++) {
        for (int m = -l; m <= l; m++) {
            int n = m < 0 ? -m : m;
            double complex power = 1.0;
            for (int i = 0; i < n; i++) {
                power *= x + y * (double complex)I;
            }
            double k = sqrt((2 * l + 1) / (4.0 * pi) * tgamma(l - n + 1.0) / tgamma(l + n + 1.0));
            k *= (n % 2 ? -1.0 : 1.0) * (n ? sqrt(2.0) : 1.0);
            features[l * l + l + m] =
                k * legendre_derivative(l, n, z) * (m < 0 ? cimag(power) : creal(power));
        }
    }
}

// integral of 15/16 (1 - u^2)^2 from -1 to u
static double quartic_integral(double u)
{
    u = fmin(fmax(u, -1.0), 1.0);
    return 15.0 / 16.0 * (u - 2.0 / 3.0 * pow(u, 3.0) + pow(u, 5.0) / 5.0) + 0.5;
}

static void encode_one(const orr_encoding *e, double x, double *features)
{
    const orr_encoding_config *c = &e->config;
    for (int k = 0; k < c->frequencies && c->kind == ORR_ENCODING_FREQUENCY; k++) {
        features[2 * k] = sin(pi * ldexp(x, k));
        features[2 * k + 1] = cos(pi * ldexp(x, k));
    }
    for (int k = 0; k < c->frequencies && c->kind == ORR_ENCODING_TRIANGLE_WAVE; k++) {
        double phase = fmod(ldexp(x, k - 1) + 0.25 * k, 1.0);
        features[k] = phase < 0.5 ? 1.0 - 4.0 * phase : 4.0 * phase - 3.0;
    }
    for (int k = 0; k < c->bins && c->kind == ORR_ENCODING_ONE_BLOB; k++) {
        features[k] = 0.0;
        for (int turn = -1; turn <= 1; turn++) { // the circle, unrolled
            double left = (double)k / c->bins - x + turn, right = (k + 1.0) / c->bins - x + turn;
            features[k] += quartic_integral(right * c->bins) - quartic_integral(left * c->bins);
        }
    }
    if (c->kind == ORR_ENCODING_IDENTITY) {
        features[0] = x * (double)c->scale + (double)c->offset;
    }
}

void reference_encode(const orr_encoding *e, const float *table, reference_rounding rounding,
                      const double *input, double *features)
{
    for (int p = 0; p < e->part_count; p++) {
        reference_encode(&e->parts[p], table, rounding, input, features);
        table = table ? table + e->parts[p].parameter_count : NULL;
        input += e->parts[p].input_dims;
        features += e->parts[p].output_dims;
    }
    if (e->part_count > 0 || e->input_dims == 0) {
        return;
    }
    if (e->config.kind == ORR_ENCODING_GRID) {
        encode_grid(e, table, rounding, input, features);
    } else if (e->config.kind == ORR_ENCODING_SPHERICAL_HARMONICS) {
        encode_harmonics(e->config.degree, input, features);
    } else {
        for (int d = 0; d < e->input_dims; d++) {
            encode_one(e, input[d], features + d * (e->output_dims / e->input_dims));
        }
    }
}
