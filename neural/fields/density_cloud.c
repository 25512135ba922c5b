#include "neural/fields/density_cloud.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"

#include <math.h>

enum { CLOUD_BALLS = 9, CLOUD_OCTAVES = 4 };

static float lattice(uint32_t seed, int x, int y, int z)
{
    uint64_t bits = orr_random_bits(seed, (uint32_t)z, (uint32_t)x | (uint32_t)y << 16);
    return (float)(uint32_t)(bits >> 40) * 0x1p-24f;
}

// value noise (Perlin 1985, with values instead of gradients), 0 .. 1
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
    *density = (orr_density){.size = {side, side, side}};
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
    return ORR_OK;
}
