#include "assets/material.h"

#include "engine/maths/rng.h"

static const material_properties properties[MATERIAL_COUNT] = {
    [MATERIAL_BRASS] = {"brass", {0.78f, 0.42f, 0.13f}, 1.0f, 0.0f, 0.34f, false},
    [MATERIAL_GOLD_BRASS] = {"lacquered brass", {0.95f, 0.64f, 0.25f}, 1.0f, 0.0f, 0.26f, false},
    [MATERIAL_STEEL] = {"blued steel", {0.10f, 0.17f, 0.36f}, 1.0f, 0.04f, 0.28f, false},
    [MATERIAL_WALNUT] = {"walnut", {0.090f, 0.030f, 0.011f}, 0.0f, 0.042f, 0.26f, true},
    [MATERIAL_ENAMEL] = {"enamel", {0.62f, 0.57f, 0.47f}, 0.0f, 0.05f, 0.25f, false},
    [MATERIAL_INK] = {"ink", {0.012f, 0.014f, 0.03f}, 0.0f, 0.03f, 0.3f, false},
    [MATERIAL_TABLE] = {"table", {0.022f, 0.016f, 0.014f}, 0.0f, 0.05f, 0.26f, false},
    [MATERIAL_SUN] = {"sun", {1.0f, 0.72f, 0.28f}, 0.0f, 0.0f, 0.3f, true},
    [MATERIAL_MERCURY] = {"mercury", {0.24f, 0.18f, 0.14f}, 0.0f, 0.04f, 0.28f, true},
    [MATERIAL_VENUS] = {"venus", {0.55f, 0.36f, 0.15f}, 0.0f, 0.04f, 0.28f, true},
    [MATERIAL_EARTH] = {"earth", {0.02f, 0.11f, 0.36f}, 0.0f, 0.05f, 0.25f, true},
    [MATERIAL_MOON] = {"moon", {0.48f, 0.47f, 0.45f}, 0.0f, 0.04f, 0.28f, true},
    [MATERIAL_MARS] = {"mars", {0.36f, 0.09f, 0.03f}, 0.0f, 0.04f, 0.28f, true},
    [MATERIAL_JUPITER] = {"jupiter", {0.50f, 0.34f, 0.20f}, 0.0f, 0.04f, 0.26f, true},
    [MATERIAL_SATURN] = {"saturn", {0.56f, 0.38f, 0.17f}, 0.0f, 0.04f, 0.26f, true},
    [MATERIAL_RING] = {"saturn's ring", {0.50f, 0.37f, 0.21f}, 0.0f, 0.04f, 0.28f, true},
    [MATERIAL_URANUS] = {"uranus", {0.08f, 0.33f, 0.40f}, 0.0f, 0.05f, 0.25f, true},
};

const material_properties *material_find(int m)
{
    return &properties[m];
}

static float lattice(int x, int y, int z)
{
    uint64_t bits = orr_random_bits((uint32_t)x, (uint32_t)y, (uint32_t)z);
    return (float)(bits >> 40) * 0x1p-24f;
}

// smooth noise in 0 .. 1
static float noise(real3 p)
{
    real3 cell = {floorf(p.x), floorf(p.y), floorf(p.z)}, f = sub3(p, cell);
    float sum = 0.0f;
    for (int corner = 0; corner < 8; corner++) {
        int i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
        float wx = smooth_step(0, 1, i ? f.x : 1 - f.x), wy = smooth_step(0, 1, j ? f.y : 1 - f.y);
        float wz = smooth_step(0, 1, k ? f.z : 1 - f.z);
        sum += wx * wy * wz * lattice((int)cell.x + i, (int)cell.y + j, (int)cell.z + k);
    }
    return sum;
}

static float octaves(real3 p, int count)
{
    float sum = 0.0f, weight = 0.5f;
    for (int i = 0; i < count; i++) {
        sum += weight * noise(p);
        p = add3(scale3(p, 2.03f), make_real3(17.1f, 5.3f, 9.7f));
        weight *= 0.5f;
    }
    return sum;
}

static real3 earth(real3 n, real3 sea)
{
    float height = octaves(add3(scale3(n, 1.5f), make_real3(3.7f, 8.2f, 1.4f)), 5);
    float land = smooth_step(0.485f, 0.505f, height);
    float dry = smooth_step(0.40f, 0.60f, noise(scale3(n, 3.0f))) * smooth_step(0.75f, 0.3f, fabsf(n.y));
    real3 ground = mix3(make_real3(0.035f, 0.13f, 0.025f), make_real3(0.30f, 0.19f, 0.07f), dry);
    real3 colour =
        mix3(mix3(make_real3(0.008f, 0.04f, 0.19f), sea, smooth_step(0.40f, 0.49f, height)), ground, land);
    float ice = smooth_step(0.86f, 0.92f, fabsf(n.y) + 0.12f * (height - 0.5f));
    real3 high = make_real3(n.x * 3.0f, n.y * 6.0f, n.z * 3.0f);
    float cloud = smooth_step(0.52f, 0.66f, octaves(add3(high, make_real3(11, 4, 6)), 4));
    return mix3(colour, make_real3(0.85f, 0.87f, 0.9f), fmaxf(ice, 0.8f * cloud));
}

static real3 jupiter(real3 n)
{
    float bend = 0.06f * (octaves(make_real3(n.x * 4.0f, n.y * 12.0f, n.z * 4.0f), 4) - 0.5f);
    float y = n.y + bend;
    float band = 0.5f + 0.5f * sinf(17.0f * y + 0.6f * sinf(7.0f * y));
    real3 pale = make_real3(0.60f, 0.46f, 0.31f), rust = make_real3(0.29f, 0.115f, 0.045f);
    real3 colour = mix3(pale, rust, smooth_step(0.35f, 0.8f, band) * smooth_step(1.0f, 0.6f, fabsf(y)));
    real3 spot = unit3(make_real3(0.35f, -0.36f, 0.87f)), d = sub3(n, spot);
    float inside = smooth_step(1.0f, 0.6f, (d.x * d.x + d.z * d.z) / 0.045f + d.y * d.y / 0.012f);
    return mix3(colour, make_real3(0.42f, 0.06f, 0.02f), inside);
}

real3 material_colour(int m, real3 point, real3 n)
{
    real3 colour = properties[m].colour;
    switch (m) {
    case MATERIAL_WALNUT: {
        float figure = octaves(make_real3(point.x * 2.5f, point.y * 22.0f, point.z * 14.0f), 4);
        return scale3(colour, 0.45f + 1.1f * smooth_step(0.25f, 0.7f, figure));
    }
    case MATERIAL_SUN:
        return mix3(make_real3(1.0f, 0.36f, 0.055f), make_real3(1.0f, 0.66f, 0.24f),
                    smooth_step(0.3f, 0.62f, octaves(scale3(n, 4.0f), 4)));
    case MATERIAL_MERCURY:
    case MATERIAL_MOON:
        return scale3(colour, 0.55f + 0.9f * octaves(scale3(n, 4.0f), 4));
    case MATERIAL_VENUS: {
        float swirl = octaves(make_real3(n.x * 2.0f + 2.0f * n.y, n.y * 6.0f, n.z * 2.0f), 4);
        return mix3(make_real3(0.42f, 0.20f, 0.06f), make_real3(0.68f, 0.50f, 0.25f),
                    smooth_step(0.3f, 0.6f, swirl));
    }
    case MATERIAL_EARTH:
        return earth(n, colour);
    case MATERIAL_MARS: {
        float dust = octaves(scale3(n, 2.6f), 5);
        real3 ground = mix3(make_real3(0.13f, 0.03f, 0.014f), make_real3(0.46f, 0.13f, 0.04f),
                            smooth_step(0.3f, 0.6f, dust));
        return mix3(ground, make_real3(0.85f, 0.83f, 0.8f), smooth_step(0.88f, 0.93f, n.y + 0.1f * dust));
    }
    case MATERIAL_JUPITER:
        return jupiter(n);
    case MATERIAL_SATURN:
        return scale3(colour, 0.85f + 0.2f * sinf(14.0f * n.y) * smooth_step(1.0f, 0.7f, fabsf(n.y)));
    case MATERIAL_URANUS:
        return mix3(colour, make_real3(0.20f, 0.50f, 0.52f), smooth_step(0.1f, 1.0f, n.y));
    default:
        return colour;
    }
}
