// What orr_surfaces holds.
#pragma once

#include "engine/loop/surfaces/surfaces.h"
#include "engine/loop/surfaces/targets.h"
#include "engine/loop/surfaces/textures.h"

struct orr_surfaces {
    int copies, targets, side;
    const orr_scene *scene;
    varied_layers layers;
    varied_textures textures;
    int mesh_total, material_total, texture_total; // that one picture can need
    orr_eyes_surface *now;                         // copies x targets
    bool *varied;                                  // copies: any of them is not as the world has it
    bool *stale;                                   // copies x targets: the pattern is not drawn yet
    uint8_t *patterns;                             // copies x targets x chain
    size_t chain;                                  // bytes of a pattern with its mip chain
};

static inline bool is_drawn_pattern(orr_pattern pattern)
{
    return pattern == ORR_PATTERN_CHECKER || pattern == ORR_PATTERN_GRADIENT || pattern == ORR_PATTERN_NOISE;
}

static inline orr_image8 pattern_of(const orr_surfaces *s, size_t number)
{
    return (orr_image8){s->side, s->side, s->patterns + number * s->chain};
}
