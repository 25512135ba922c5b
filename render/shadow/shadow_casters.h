// What casts shadows: which meshes a map is fitted to, and what they span.
#pragma once

#include "render/draw.h"

// A light of orr_draw_light_up, in the world.
typedef struct orr_caster_light {
    bool directional;
    float position[3], direction[3]; // direction: of the beam, unit
    float cutoff;                    // [degrees]
    float spread; // tangent of a directional light's angular radius, or the radius; 0: hard shadows
} orr_caster_light;

// What a box of points spans; low > high: nothing.
typedef struct orr_caster_span {
    float low[3], high[3];
} orr_caster_span;

// The bounds of what casts shadows in that light, in the space of `view`. slope > 0: only of the meshes that
// a lens of that slope to all sides may see.
orr_caster_span orr_caster_bounds(const orr_draw_list *list, const orr_caster_light *light,
                                  const float view[12], float slope);
// The same of a box of the world.
orr_caster_span orr_caster_box_bounds(const orr_caster_span *box, const float view[12], float slope);
