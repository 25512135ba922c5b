// Procedural textures: patterns of two colours.
#pragma once

#include "engine/core/result.h"

// Writes side x side x 4 texels, opaque, from the top row; they go on where the texture repeats. pattern: one
// that is drawn: ORR_PATTERN_CHECKER, _GRADIENT or _NOISE. cells: 1 .. side / 2; colours: display, 0 .. 1.
void orr_pattern_draw(orr_pattern pattern, int cells, uint32_t seed, const float colours[2][3], int side,
                      uint8_t *rgba);
