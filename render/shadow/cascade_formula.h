// Cascades: a directional light has, besides the map of everything that casts shadows, finer maps of cubes
// around what the camera sees near it. A point is looked up in the finest map whose cube it is in; towards
// the rim of a cube, what the next one shows takes over (cascaded shadow maps, Engel 2006; chosen by where
// a point is in the maps and not by its distance from the camera, which uses more of the finer ones). One
// text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_CASCADE_FORMULA_H
#define ORR_CASCADE_FORMULA_H

#include "render/shadow/shadow_formula.h"

#define CASCADE_RIM 0.125f // of a cube, over which it fades into the next: a part of half its side

// One of the finer maps.
STRUCT(shadow_cascade)
{
    shadow_view map;
    uniform_real middle; // of the cube, along the light's axis; across it, its middle is the map's
    uniform_real extent; // half of its side
}
END_STRUCT(shadow_cascade)

// What the maps looked up so far hide of the light.
STRUCT(cascade_sum)
{
    real hidden;
    real rest; // the part of the answer that coarser maps give
}
END_STRUCT(cascade_sum)

// How much of the answer is a cascade's at a point of the camera's space: 1; 0 from the cube's rim on.
FN real cascade_weight(shadow_cascade c, real3 position)
{
    real3 p = affine_point(c.map.to_light, position);
    real across = max_(abs_(p.x), abs_(p.y));
    real away = max_(across, abs_(p.z - R(c.middle)));
    real inside = R(1.0) - away * R(1.0f / c.extent);
    return min_(max_(inside * R(1.0f / CASCADE_RIM), R(0.0)), R(1.0));
}

FN cascade_sum cascade_begin()
{
    cascade_sum s;
    s.hidden = R(0.0);
    s.rest = R(1.0);
    return s;
}

// What is hidden is added and not what is seen, so that where all maps are lit the sum is exactly 1.
FN cascade_sum cascade_add(cascade_sum s, real weight, real visible)
{
    real part = s.rest * weight;
    s.hidden = fma_(part, R(1.0) - visible, s.hidden);
    s.rest = s.rest - part;
    return s;
}

FN real cascade_visible(cascade_sum s)
{
    return max_(R(1.0) - s.hidden, R(0.0));
}

#endif
