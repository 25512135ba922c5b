// The finer shadow maps that a directional light has of what the camera sees near it (cascade_formula.h).
#pragma once

#include "render/shadow/shadow.h"

// A cascade: how its map is seen, and its cube.
typedef struct orr_cascade_lens {
    orr_lens lens;
    float middle, extent; // of shadow_cascade
} orr_cascade_lens;

// Fits cascades to the camera of the list, the finest first, at most `most`, and returns how many: none where
// the texels of `whole`, the light's map of everything that casts shadows, are fine enough for all that the
// camera may see in shadow, and none for a camera without perspective or behind a mirror. Sizes and distances
// depend on the camera's lens and on `whole` alone, and texels lie at multiples of their size: a camera that
// moves or turns leaves texels where they are in the world, except while they enter or leave a cube. Sizes of
// texels are powers of 2^(1/4).
//   casters  bounds of what casts shadows, in the space of `whole`
//   margin   at the rim of a map, that its cube does not use [texels]
//   reach    how far from a point the maps are read [scene units]
int orr_shadow_cascades_fit(const orr_draw_list *list, const orr_lens *whole, const orr_caster_span *casters,
                            int margin, float reach, int most, orr_cascade_lens *cascades);
