#define ORR_SCALAR
#include "render/environment/maps.h"

#include "engine/core/memory.h"
#include "render/environment/environment_formula.h"

#include <string.h>

#define PI 3.14159265358979f

enum {
    MIPS = 12,         // of a map of ORR_ENVIRONMENT_SHARP, down to one texel
    SAMPLES = 128,     // directions of a texel of a blurred map
    SAMPLES_FAST = 24, // of smaller maps, those of probes, which are made while frames are drawn
};

typedef float colour __attribute__((vector_size(16))); // red, green, blue and nothing

// The octahedral map and its halves, down to one texel.
typedef struct chain {
    int side, count;
    colour *maps[MIPS]; // (side >> k) + 2 squared: with a border of 1
} chain;

// The directions of one level around +z, the same for every texel.
typedef struct lobe {
    int count;
    real3 towards[SAMPLES];
    float weight[SAMPLES], mip[SAMPLES];
} lobe;

typedef struct filling {
    const chain *source;
    orr_environment *environment;
    lobe lobes[ORR_ENVIRONMENT_LEVELS];
} filling;

// Beyond the edge the map goes on beside the mirror image of the texel.
static void wrap(int side, int *x, int *y)
{
    if (*x < 0 || *x >= side) {
        *x = *x < 0 ? -1 - *x : 2 * side - 1 - *x;
        *y = side - 1 - *y;
    }
    if (*y < 0 || *y >= side) {
        *y = *y < 0 ? -1 - *y : 2 * side - 1 - *y;
        *x = side - 1 - *x;
    }
}

void orr_environment_direction(int side, int x, int y, float direction[3])
{
    real2 p = make_real2(2.0f * ((float)x + 0.5f) / (float)side - 1.0f,
                         2.0f * ((float)y + 0.5f) / (float)side - 1.0f);
    real3 d = normalise3(environment_unflatten(p));
    direction[0] = d.x, direction[1] = d.y, direction[2] = d.z;
}

// ---- texels ----

// Fractions of 9 bits with the exponent of the largest channel; rounded to nearest.
static uint32_t encode(real3 c)
{
    float most = fmaxf(c.x, fmaxf(c.y, c.z));
    int exponent = 0;
    if (!(most > 0.0f)) {
        return 0;
    }
    frexpf(most, &exponent); // most < 2^exponent
    exponent = exponent - 9 < -24 ? -15 : exponent;
    if (ldexpf(most, 9 - exponent) >= 511.5f) {
        exponent++;
    }
    float scale = ldexpf(1.0f, 9 - exponent);
    uint32_t red = (uint32_t)(c.x * scale + 0.5f), green = (uint32_t)(c.y * scale + 0.5f),
             blue = (uint32_t)(c.z * scale + 0.5f);
    return red | green << 9 | blue << 18 | (uint32_t)(exponent - 9 + 24) << 27;
}

// Copies the rim of a map of (side + 2)^2 texels from the texels that the octahedron has there.
static void fill_border(void *map, size_t texel, int side)
{
    char *bytes = map;
    for (int y = -1; y <= side; y++) {
        int step = y < 0 || y == side ? 1 : side + 1;
        for (int x = -1; x <= side; x += step) {
            int from_x = x, from_y = y;
            wrap(side, &from_x, &from_y);
            memcpy(bytes + texel * (size_t)((y + 1) * (side + 2) + x + 1),
                   bytes + texel * (size_t)((from_y + 1) * (side + 2) + from_x + 1), texel);
        }
    }
}

static int32_t texels_of(int side)
{
    return (side + 2) * (side + 2);
}

static uint32_t *map_of(const orr_environment *e, int level)
{
    return level == 0 ? e->texels : e->texels + texels_of(e->sharp) + (level - 1) * texels_of(e->rough);
}

uint32_t *orr_environment_grid_texels(const orr_environment *e)
{
    return e->texels + texels_of(e->sharp) + ORR_ENVIRONMENT_LEVELS * texels_of(e->rough);
}

uint32_t orr_environment_encode(const float rgb[3])
{
    return encode(make_real3(rgb[0], rgb[1], rgb[2]));
}

orr_result orr_environment_allocate(int sharp, int rough, int points, orr_environment **environment,
                                    orr_error *error)
{
    orr_environment *e;
    ORR_ALLOC(e, 1, "an environment", error);
    *e = (orr_environment){.sharp = sharp, .rough = rough, .scale = 1.0f};
    e->texel_count = texels_of(sharp) + ORR_ENVIRONMENT_LEVELS * texels_of(rough) + 6 * points;
    e->texels = orr_alloc_zero((size_t)e->texel_count, sizeof *e->texels);
    if (!e->texels) {
        orr_free(e);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an environment");
    }
    *environment = e;
    return ORR_OK;
}

// ---- blurring ----

// p: within -1 .. 1, so that what is rounded down is positive
static colour sample_mip(const chain *c, int mip, real2 p)
{
    const int side = c->side >> mip;
    const float x = (p.x + 1.0f) * 0.5f * (float)side + 0.5f, y = (p.y + 1.0f) * 0.5f * (float)side + 0.5f;
    const int left = (int)x, top = (int)y;
    const float right = x - (float)left, down = y - (float)top;
    const colour *t = c->maps[mip] + (size_t)top * (size_t)(side + 2) + left, *below = t + side + 2;
    return (1.0f - down) * ((1.0f - right) * t[0] + right * t[1]) +
           down * ((1.0f - right) * below[0] + right * below[1]);
}

static colour sample_chain(const chain *c, float mip, real3 direction)
{
    const real2 p = environment_flatten(direction);
    mip = fminf(fmaxf(mip, 0.0f), (float)(c->count - 1));
    const int fine = (int)mip, coarse = fine + 1 < c->count ? fine + 1 : fine;
    const colour a = sample_mip(c, fine, p);
    return coarse > fine ? a + (mip - (float)fine) * (sample_mip(c, coarse, p) - a) : a;
}

// Bits of a number in the opposite order, as a fraction: van der Corput's sequence.
static float reverse_bits(uint32_t i)
{
    float value = 0.0f;
    for (float half = 0.5f; i; i >>= 1, half *= 0.5f) {
        value += (i & 1) ? half : 0.0f;
    }
    return value;
}

// Mirror directions of a surface that is looked at along its normal, drawn by the microfacets' density, and
// the mip whose texels are about as large as what one direction stands for.
static void make_lobe(int level, int side, int samples, lobe *l)
{
    const float roughness = (float)level / (float)ORR_ENVIRONMENT_LEVELS, alpha = roughness * roughness;
    const float texel = 4.0f * PI / ((float)side * (float)side);
    *l = (lobe){0};
    for (uint32_t i = 0; i < (uint32_t)samples; i++) {
        float u = ((float)i + 0.5f) / (float)samples, angle = 2.0f * PI * reverse_bits(i);
        float cosine_squared = (1.0f - u) / (1.0f + (alpha * alpha - 1.0f) * u);
        float cosine = sqrtf(cosine_squared), sine = sqrtf(fmaxf(1.0f - cosine_squared, 0.0f));
        float z = 2.0f * cosine_squared - 1.0f, spread = 1.0f + (alpha * alpha - 1.0f) * cosine_squared;
        if (!(z > 0.0f)) {
            continue;
        }
        // density of mirror directions: of the microfacets, D cosine, by 4 times the cosine to the eye
        float density = alpha * alpha / (PI * spread * spread) * 0.25f;
        l->towards[l->count] =
            make_real3(2.0f * cosine * sine * cosf(angle), 2.0f * cosine * sine * sinf(angle), z);
        l->weight[l->count] = z;
        l->mip[l->count++] = 0.5f * log2f(fmaxf(1.0f / ((float)samples * density * texel), 1e-6f));
    }
}

static colour blur(const chain *c, const lobe *l, real3 n)
{
    // Duff et al. 2017
    float sign = n.z < 0.0f ? -1.0f : 1.0f, a = -1.0f / (sign + n.z), b = n.x * n.y * a;
    real3 across = make_real3(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x);
    real3 along = make_real3(b, sign + n.y * n.y * a, -n.y);
    colour sum = {0.0f};
    float weights = 0.0f;
    for (int i = 0; i < l->count; i++) {
        real3 t = l->towards[i];
        real3 d = add_scaled3(add_scaled3(scale3(n, t.z), across, t.x), along, t.y);
        sum += l->weight[i] * sample_chain(c, l->mip[i], d);
        weights += l->weight[i];
    }
    return sum / weights;
}

// A row of a blurred map, or of the sharp one.
static void fill_row(void *context, int row, int worker)
{
    (void)worker;
    const filling *f = context;
    const orr_environment *e = f->environment;
    const int level = row < e->sharp ? 0 : 1 + (row - e->sharp) / e->rough;
    const int side = level == 0 ? e->sharp : e->rough, y = level == 0 ? row : (row - e->sharp) % e->rough;
    uint32_t *line = map_of(e, level) + (y + 1) * (side + 2) + 1;
    for (int x = 0; x < side; x++) {
        float d[3];
        orr_environment_direction(side, x, y, d);
        const colour light = level == 0
                                 ? f->source->maps[0][(size_t)(y + 1) * (size_t)(side + 2) + (size_t)x + 1]
                                 : blur(f->source, &f->lobes[level - 1], make_real3(d[0], d[1], d[2]));
        line[x] = encode(scale3(make_real3(light[0], light[1], light[2]), 1.0f / e->scale));
    }
}

static void halve(const colour *from, int side, colour *to)
{
    const size_t stride = 2 * (size_t)side + 2;
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            const colour *a = from + (size_t)(2 * y + 1) * stride + (size_t)(2 * x + 1), *b = a + stride;
            to[(y + 1) * (side + 2) + x + 1] = 0.25f * (a[0] + a[1] + (b[0] + b[1]));
        }
    }
}

static orr_result make_chain(const float *rgb, int side, chain *c, orr_error *error)
{
    *c = (chain){.side = side};
    for (int half = side; half >= 1; half /= 2, c->count++) {
        const size_t stride = (size_t)half + 2;
        ORR_ALLOC(c->maps[c->count], stride * stride, "an environment", error);
        colour *map = c->maps[c->count];
        if (c->count > 0) {
            halve(c->maps[c->count - 1], half, map);
        }
        for (int i = 0; c->count == 0 && i < side * side; i++) {
            const float *from = rgb + 3 * (size_t)i;
            map[(size_t)(i / side + 1) * stride + (size_t)(i % side + 1)] =
                (colour){from[0], from[1], from[2], 0.0f};
        }
        fill_border(map, sizeof *map, half);
    }
    return ORR_OK;
}

static void fill_maps(orr_jobs *jobs, filling *f)
{
    orr_environment *e = f->environment;
    for (int level = 1; level <= ORR_ENVIRONMENT_LEVELS; level++) {
        make_lobe(level, f->source->side, e->rough < ORR_ENVIRONMENT_ROUGH ? SAMPLES_FAST : SAMPLES,
                  &f->lobes[level - 1]);
    }
    orr_jobs_for(jobs, e->sharp + ORR_ENVIRONMENT_LEVELS * e->rough, fill_row, f);
    for (int level = 0; level <= ORR_ENVIRONMENT_LEVELS; level++) {
        fill_border(map_of(e, level), sizeof *e->texels, level == 0 ? e->sharp : e->rough);
    }
}

orr_result orr_environment_fill(orr_jobs *jobs, const float *rgb, orr_environment *environment,
                                orr_error *error)
{
    const int side = environment->sharp;
    chain c;
    float most = 0.0f;
    for (size_t i = 0; i < 3 * (size_t)side * (size_t)side; i++) {
        most = fmaxf(most, rgb[i]);
    }
    environment->scale = most > 65408.0f ? most / 65408.0f : 1.0f; // the largest texel is 511/512 x 2^16
    orr_result result = make_chain(rgb, side, &c, error);
    filling *f = orr_alloc(1, sizeof *f);
    if (result == ORR_OK) {
        result = f ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an environment");
    }
    if (result == ORR_OK) {
        f->source = &c;
        f->environment = environment;
        fill_maps(jobs, f);
    }
    for (int i = 0; i < MIPS; i++) {
        orr_free(c.maps[i]);
    }
    orr_free(f);
    return result;
}

// ---- harmonics ----

// Lambert's cosine / pi keeps 1, 2/3 and 1/4 of the bands; times the squared constants of the harmonics.
float orr_environment_harmonic(int index)
{
    static const float constants[9] = {0.282094792f, 0.488602512f, 0.488602512f, 0.488602512f, 1.092548431f,
                                       1.092548431f, 0.315391565f, 1.092548431f, 0.546274215f};
    float band = index == 0 ? 1.0f : index < 4 ? 2.0f / 3.0f : 0.25f;
    return band * constants[index] * constants[index];
}

void orr_environment_project(const float *rgb, int side, float harmonics[3][9])
{
    double sums[3][9] = {{0}};
    double solid = 0.0;
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++, rgb += 3) {
            float d[3];
            orr_environment_direction(side, x, y, d);
            // the texel's solid angle goes with the cube of the sum of the unit vector's magnitudes
            double flat = (double)(fabsf(d[0]) + fabsf(d[1]) + fabsf(d[2])), angle = flat * flat * flat;
            const float n[9] = {1.0f,
                                d[1],
                                d[2],
                                d[0],
                                d[0] * d[1],
                                d[1] * d[2],
                                3.0f * d[2] * d[2] - 1.0f,
                                d[0] * d[2],
                                d[0] * d[0] - d[1] * d[1]};
            solid += angle;
            for (int k = 0; k < 3; k++) {
                for (int i = 0; i < 9; i++) {
                    sums[k][i] += angle * (double)rgb[k] * (double)n[i];
                }
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 9; i++) {
            harmonics[k][i] =
                (float)(sums[k][i] * 4.0 * 3.14159265358979323846 / solid) * orr_environment_harmonic(i);
        }
    }
}
