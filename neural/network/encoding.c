#include "neural/network/encoding.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "neural/network/encoding_cpu.h"

#include <math.h>
#include <string.h>

#define KERNELS(isa)                                                                                         \
    {                                                                                                        \
        orr_encoding_forward_##isa, orr_encoding_backward_input_##isa, orr_encoding_scatter_level_##isa      \
    }
static const orr_encoding_kernels kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(KERNELS);

const orr_encoding_kernels *orr_encoding_kernels_of(orr_isa isa)
{
    return &kernels[isa];
}

// a level's table stays below this, so that a lane can address its floats with 32 bits
static const uint64_t level_floats_max = 1u << 30;

// side^dims, or a number above any table
static uint64_t vertices(uint64_t side, int dims)
{
    uint64_t product = 1;
    for (int d = 0; d < dims; d++) {
        if (product > level_floats_max) {
            return product;
        }
        product *= side;
    }
    return product;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// The factors of the coordinates, as long as the vertices before them fit into the table: a tiled level
// repeats along the axes that are left, a hashed level mixes all of them.
static void set_factors(const orr_encoding_config *config, int dims, orr_grid_level *level)
{
    static const uint32_t primes[ORR_GRID_DIMS_MAX] = {1u, 2654435761u, 805459861u, 3674653429u};
    uint64_t stride = 1;
    for (int d = 0; d < dims && stride <= level->entries; d++) {
        level->factor[d] = (uint32_t)stride;
        stride *= level->side;
    }
    level->index = ORR_GRID_INDEX_DENSE;
    if (stride > level->entries && config->grid == ORR_GRID_HASH) {
        level->index = ORR_GRID_INDEX_HASH;
        memcpy(level->factor, primes, sizeof primes);
    } else if (stride > level->entries) {
        level->index = ORR_GRID_INDEX_TILE;
    }
}

// scale and side in single precision, as tiny-cuda-nn computes them
static orr_result create_level(const orr_encoding_config *config, int dims, int l, uint64_t first,
                               orr_grid_level *level, orr_error *error)
{
    float log2_scale = log2f((float)config->per_level_scale);
    level->scale = exp2f((float)l * log2_scale) * (float)config->base_resolution - 1.0f;
    if (!(level->scale < 0x1p24f)) { // beyond, a coordinate has no bits left for its position in a cell
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "encoding: level %d: expected fewer than 2^24 vertices per axis", l);
    }
    level->side = (uint32_t)ceilf(level->scale) + 1;
    uint64_t entries = (vertices(level->side, dims) + 7) / 8 * 8;
    if (config->grid == ORR_GRID_HASH) {
        entries = least(entries, (uint64_t)1 << config->log2_hashmap_size);
    } else if (config->grid == ORR_GRID_TILED) {
        entries = least(entries, vertices((uint64_t)config->base_resolution, dims));
    }
    uint64_t features = (uint64_t)config->features_per_level;
    if (entries * features > level_floats_max || first + entries > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "encoding: level %d: expected a table below 2^30 floats",
                        l);
    }
    level->entries = (uint32_t)entries;
    level->first = (uint32_t)first;
    set_factors(config, dims, level);
    return ORR_OK;
}

static orr_result create_grid(orr_encoding *e, orr_error *error)
{
    orr_encoding_config *config = &e->config;
    int features = config->features_per_level;
    if (e->input_dims < ORR_GRID_DIMS_MIN || e->input_dims > ORR_GRID_DIMS_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "encoding: grid: expected 2, 3 or 4 inputs, not %d",
                        e->input_dims);
    }
    if (config->per_level_scale == 0.0) {
        config->per_level_scale = 2.0;
    }
    if (config->levels < 1 || config->levels > ORR_GRID_LEVELS_MAX || config->base_resolution < 1 ||
        config->log2_hashmap_size < 1 || config->log2_hashmap_size > 28 || !(config->per_level_scale > 0.0) ||
        (features != 1 && features != 2 && features != 4 && features != 8)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "encoding: grid: expected 1 to %d levels, 1, 2, 4 or 8 features, a base resolution, "
                        "2^1 to 2^28 entries and a positive scale per level",
                        ORR_GRID_LEVELS_MAX);
    }
    uint64_t first = 0;
    for (int l = 0; l < config->levels; l++) {
        ORR_TRY(create_level(config, e->input_dims, l, first, &e->levels[l], error));
        first += e->levels[l].entries;
    }
    e->level_count = config->levels;
    e->output_dims = config->levels * features;
    e->parameter_count = (int64_t)first * features;
    return ORR_OK;
}

static double factorial(int n)
{
    double product = 1.0;
    for (int i = 2; i <= n; i++) {
        product *= i;
    }
    return product;
}

static orr_result create_harmonics(orr_encoding *e, orr_error *error)
{
    const double pi = 3.14159265358979323846;
    int degree = e->config.degree;
    if (e->input_dims != 3 || degree < 1 || degree > ORR_HARMONICS_DEGREE_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "encoding: spherical harmonics: expected 3 inputs and a degree of 1 to %d",
                        ORR_HARMONICS_DEGREE_MAX);
    }
    for (int l = 0; l < degree; l++) {
        for (int m = 0; m <= l; m++) {
            double k = sqrt((2.0 * l + 1.0) / (4.0 * pi) * factorial(l - m) / factorial(l + m));
            e->harmonics[l][m] = (float)((m % 2 ? -1.0 : 1.0) * (m ? sqrt(2.0) : 1.0) * k);
        }
    }
    e->output_dims = degree * degree;
    return ORR_OK;
}

static orr_result create_parts(const orr_encoding_config *config, orr_encoding *e, orr_error *error)
{
    if (config->nested_count < 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "encoding: composite: expected nested encodings");
    }
    e->parts = orr_alloc_zero((size_t)config->nested_count, sizeof *e->parts);
    if (!e->parts) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a composite encoding");
    }
    int left = e->input_dims;
    for (int p = 0; p < config->nested_count; p++) {
        const orr_encoding_config *nested = &config->nested[p];
        int dims = nested->input_dims ? nested->input_dims : left;
        if (dims > left || nested->kind == ORR_ENCODING_COMPOSITE) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "encoding: nested[%d]: expected %s", p,
                            dims > left ? "no more inputs than are left" : "no composite in a composite");
        }
        left -= dims;
        e->part_count = p + 1;
        ORR_TRY(orr_encoding_create(nested, dims, &e->parts[p], error));
        e->output_dims += e->parts[p].output_dims;
        e->parameter_count += e->parts[p].parameter_count;
        e->level_count += e->parts[p].level_count;
    }
    if (left > 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "encoding: composite: expected encodings for %d inputs, not %d", e->input_dims,
                        e->input_dims - left);
    }
    return ORR_OK;
}

static orr_result create_kind(const orr_encoding_config *config, orr_encoding *e, orr_error *error)
{
    bool power_of_two = config->bins > 0 && (config->bins & (config->bins - 1)) == 0;
    int64_t outputs = 1; // of one input
    switch (config->kind) {
    case ORR_ENCODING_GRID:
        return create_grid(e, error);
    case ORR_ENCODING_SPHERICAL_HARMONICS:
        return create_harmonics(e, error);
    case ORR_ENCODING_COMPOSITE:
        return create_parts(config, e, error);
    case ORR_ENCODING_IDENTITY:
        e->config.scale = config->scale != 0.0f ? config->scale : 1.0f;
        break;
    case ORR_ENCODING_FREQUENCY:
        outputs = 2 * (int64_t)config->frequencies;
        break;
    case ORR_ENCODING_TRIANGLE_WAVE:
        outputs = config->frequencies;
        break;
    case ORR_ENCODING_ONE_BLOB:
        outputs = power_of_two ? config->bins : 0;
        break;
    }
    if (outputs < 1 || e->input_dims * outputs > ORR_ENCODING_DIMS_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "encoding: expected 1 to %d outputs, and for one-blob a power of two of bins",
                        ORR_ENCODING_DIMS_MAX);
    }
    e->output_dims = (int)(e->input_dims * outputs);
    return ORR_OK;
}

orr_result orr_encoding_create(const orr_encoding_config *config, int input_dims, orr_encoding *encoding,
                               orr_error *error)
{
    *encoding = (orr_encoding){.config = *config, .input_dims = input_dims};
    encoding->config.nested = NULL;
    encoding->config.nested_count = 0;
    if (input_dims < 0 || input_dims > ORR_ENCODING_DIMS_MAX ||
        (config->input_dims && config->input_dims != input_dims)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "encoding: expected %d inputs, not %d", config->input_dims,
                        input_dims);
    }
    // nothing to encode: tiny-cuda-nn's "Empty", as the rest of a composite
    orr_result result = input_dims == 0 ? ORR_OK : create_kind(config, encoding, error);
    if (result != ORR_OK) {
        orr_encoding_destroy(encoding);
    }
    return result;
}

void orr_encoding_destroy(orr_encoding *encoding)
{
    for (int p = 0; p < encoding->part_count; p++) {
        orr_encoding_destroy(&encoding->parts[p]);
    }
    orr_free(encoding->parts);
    *encoding = (orr_encoding){0};
}

double orr_grid_level_scale(const orr_encoding_config *grid, double resolution)
{
    if (grid->levels < 2) {
        return 1.0;
    }
    float ratio = (float)resolution / (float)grid->base_resolution;
    return (double)expf(logf(ratio) / (float)(grid->levels - 1));
}

void orr_encoding_initialise(const orr_encoding *encoding, uint32_t seed, float *table)
{
    orr_rng rng = {.seed = seed, .stream = 0x67726964}; // "grid"
    for (int64_t i = 0; i < encoding->parameter_count; i++) {
        table[i] = orr_rng_range(&rng, -1e-4f, 1e-4f);
    }
}
