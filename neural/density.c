#include "neural/density.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/rng.h"
#include "neural/npy_volume.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOUD_BALLS = 9, CLOUD_OCTAVES = 4 };

static orr_result normalise(orr_density *d, const char *name, orr_error *error)
{
    int64_t count = (int64_t)d->width * d->height * d->depth;
    float greatest = 0.0f;
    for (int64_t i = 0; i < count; i++) {
        d->values[i] = d->values[i] > 0.0f && isfinite(d->values[i]) ? d->values[i] : 0.0f;
        greatest = fmaxf(greatest, d->values[i]);
    }
    if (!(greatest > 0.0f)) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: expected densities above 0", name);
    }
    for (int64_t i = 0; i < count; i++) {
        d->values[i] *= ORR_DENSITY_GREATEST / greatest;
    }
    return ORR_OK;
}

orr_result orr_density_read(const void *data, size_t size, const char *name, orr_density *density,
                            orr_error *error)
{
    *density = (orr_density){0};
    orr_npy_volume volume;
    ORR_TRY(orr_npy_volume_parse(data, size, name, &volume, error));
    *density = (orr_density){volume.values, volume.size[0], volume.size[1], volume.size[2]};
    orr_result result = normalise(density, name, error);
    if (result != ORR_OK) {
        orr_density_free(density);
    }
    return result;
}

orr_result orr_density_load(const char *path, orr_density *density, orr_error *error)
{
    *density = (orr_density){0};
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = orr_density_read(bytes.data, bytes.size, path, density, error);
    orr_free(bytes.data);
    return result;
}

void orr_density_free(orr_density *density)
{
    orr_free(density->values);
    *density = (orr_density){0};
}

// ---- a cloud ----

static float lattice(uint32_t seed, int x, int y, int z)
{
    uint64_t bits = orr_random_bits(seed, (uint32_t)z, (uint32_t)x | (uint32_t)y << 16);
    return (float)(uint32_t)(bits >> 40) * 0x1p-24f;
}

// value noise (Perlin 1985, with values in place of gradients), 0 .. 1
static float noise(uint32_t seed, const float p[3])
{
    int cell[3];
    float w[3], sum = 0.0f;
    for (int k = 0; k < 3; k++) {
        cell[k] = (int)floorf(p[k]);
        float t = p[k] - (float)cell[k];
        w[k] = t * t * (3.0f - 2.0f * t);
    }
    for (int corner = 0; corner < 8; corner++) {
        int at[3];
        float weight = 1.0f;
        for (int k = 0; k < 3; k++) {
            int up = corner >> k & 1;
            at[k] = cell[k] + up;
            weight *= up ? w[k] : 1.0f - w[k];
        }
        sum += weight * lattice(seed, at[0], at[1], at[2]);
    }
    return sum;
}

static float cloud_at(uint32_t seed, const float p[3])
{
    float inside = -1.0f;
    for (uint32_t ball = 0; ball < CLOUD_BALLS; ball++) {
        orr_rng rng = {.seed = seed, .stream = 1u << 30 | ball};
        float square = 0.0f;
        for (int k = 0; k < 3; k++) {
            float reach = k == 1 ? 0.08f : 0.22f; // wider than high
            float away = p[k] - 0.5f - orr_rng_range(&rng, -reach, reach);
            square += away * away;
        }
        inside = fmaxf(inside, 1.0f - sqrtf(square) / orr_rng_range(&rng, 0.12f, 0.24f));
    }
    float eaten = 0.0f, share = 0.5f;
    for (int octave = 0; octave < CLOUD_OCTAVES; octave++, share *= 0.5f) {
        float scaled[3];
        for (int k = 0; k < 3; k++) {
            scaled[k] = p[k] * (float)(6 << octave);
        }
        eaten += share * noise(seed + (uint32_t)octave, scaled);
    }
    return fminf(fmaxf(2.5f * (inside - 0.8f * eaten + 0.15f), 0.0f), 1.0f);
}

orr_result orr_density_cloud(int side, uint32_t seed, orr_density *density, orr_error *error)
{
    *density = (orr_density){.width = side, .height = side, .depth = side};
    if (side < 8 || side > 1024) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "cloud of %d cells a side: expected 8 to 1024", side);
    }
    ORR_ALLOC(density->values, (size_t)side * (size_t)side * (size_t)side, "a cloud", error);
    for (int64_t i = 0; i < (int64_t)side * side * side; i++) {
        const float p[3] = {((float)(i % side) + 0.5f) / (float)side,
                            ((float)(i / side % side) + 0.5f) / (float)side,
                            ((float)(i / side / side) + 0.5f) / (float)side};
        density->values[i] = cloud_at(seed, p);
    }
    return normalise(density, "cloud", error);
}

// ---- values ----

float orr_density_at(const orr_density *d, const float place[3])
{
    const int sides[3] = {d->width, d->height, d->depth};
    int longest = d->width > d->height ? d->width : d->height;
    longest = d->depth > longest ? d->depth : longest;
    int cell[3][2];
    float weight[3][2], sum = 0.0f;
    for (int k = 0; k < 3; k++) {
        float at = (place[k] - 0.5f) * (float)longest + 0.5f * (float)sides[k];
        if (!(at >= 0.0f && at <= (float)sides[k])) {
            return 0.0f;
        }
        int low = (int)floorf(at - 0.5f), last = sides[k] - 1;
        weight[k][1] = at - 0.5f - (float)low;
        weight[k][0] = 1.0f - weight[k][1];
        cell[k][0] = low < 0 ? 0 : low;
        cell[k][1] = low + 1 > last ? last : low + 1;
    }
    for (int corner = 0; corner < 8; corner++) {
        int x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
        size_t index = ((size_t)cell[2][z] * (size_t)d->height + (size_t)cell[1][y]) * (size_t)d->width;
        sum += weight[0][x] * weight[1][y] * weight[2][z] * d->values[index + (size_t)cell[0][x]];
    }
    return sum;
}
