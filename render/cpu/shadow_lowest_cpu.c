// The least depth of each tile of a shadow map, lanes over its columns. Compiled once per instruction set.
#include "engine/core/isa.h"
#include "engine/maths/formula.h"
#include "render/cpu/shadow_maps.h"

enum { WIDE = ORR_SHADOW_TILE + ORR_SHADOW_BEYOND };

// Tiles of row `row` of tiles of a map of size x size texels.
void ORR_ISA_NAME(orr_shadow_lowest)(const float *texels, int size, int row, float *lowest)
{
    float columns[ORR_SHADOW_SIZE_MAX + ORR_SHADOW_BEYOND];
    const int top = row * ORR_SHADOW_TILE, bottom = top + WIDE < size ? top + WIDE : size;
    for (int x = 0; x < size; x += ORR_LANES) {
        real low = real_load(texels + top * size + x);
        for (int y = top + 1; y < bottom; y++) {
            low = min_(low, real_load(texels + y * size + x));
        }
        real_store(columns + x, low);
    }
    for (int k = 0; k < ORR_SHADOW_BEYOND; k++) {
        columns[size + k] = __builtin_inff();
    }
    for (int tile = 0; tile < size / ORR_SHADOW_TILE; tile++) {
        const float *first = columns + tile * ORR_SHADOW_TILE;
        float low = first[0];
        for (int k = 1; k < WIDE; k++) {
            low = first[k] < low ? first[k] : low;
        }
        lowest[row * (size / ORR_SHADOW_TILE) + tile] = low;
    }
}
