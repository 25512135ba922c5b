#include "render/pattern.h"

#include "engine/maths/rng.h"

#include <math.h>

// A number of a lattice point, uniform in 0 .. 1.
static float lattice(uint32_t seed, int cells, int x, int y)
{
    const uint64_t bits = orr_random_bits(seed, (uint32_t)(y % cells), (uint32_t)(x % cells));
    return (float)(bits >> 40) * 0x1p-24f;
}

static float smooth(float x)
{
    return x * x * (3.0f - 2.0f * x);
}

static float noise(uint32_t seed, int cells, float x, float y)
{
    const int left = (int)x, top = (int)y; // x and y are not negative
    const float across = smooth(x - (float)left), down = smooth(y - (float)top);
    float rows[2];
    for (int k = 0; k < 2; k++) {
        const float a = lattice(seed, cells, left, top + k), b = lattice(seed, cells, left + 1, top + k);
        rows[k] = a + across * (b - a);
    }
    return rows[0] + down * (rows[1] - rows[0]);
}

// How much of the second colour there is at a texel.
static float share_of(orr_pattern pattern, int cells, uint32_t seed, int side, int column, int row)
{
    const float x = ((float)column + 0.5f) / (float)side, y = ((float)row + 0.5f) / (float)side;
    switch (pattern) {
    case ORR_PATTERN_CHECKER:
        return (float)((column * cells / side + row * cells / side) % 2);
    case ORR_PATTERN_GRADIENT:
        return 1.0f - fabsf(2.0f * y - 1.0f);
    default:
        return noise(seed, cells, x * (float)cells, y * (float)cells);
    }
}

void orr_pattern_draw(orr_pattern pattern, int cells, uint32_t seed, const float colours[2][3], int side,
                      uint8_t *rgba)
{
    for (int row = 0; row < side; row++) {
        for (int column = 0; column < side; column++, rgba += 4) {
            const float share = share_of(pattern, cells, seed, side, column, row);
            for (int k = 0; k < 3; k++) {
                const float value = colours[0][k] + share * (colours[1][k] - colours[0][k]);
                rgba[k] = (uint8_t)(255.0f * value + 0.5f);
            }
            rgba[3] = 255;
        }
    }
}
