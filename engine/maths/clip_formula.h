// A clip plane, in front of which alone a picture shows something (orr_lens.clip). One text for CPU lanes,
// CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_CLIP_FORMULA_H
#define ORR_CLIP_FORMULA_H

#include "engine/maths/vector_formula.h"

// A point p is in front of it where x p.x + y p.y + z p.z + start >= 0; all zeros: every point is.
STRUCT(clip_plane)
{
    uniform_real x, y, z, start;
}
END_STRUCT(clip_plane)

FN real clip_height(clip_plane c, real3 p)
{
    return fma_(R(c.x), p.x, fma_(R(c.y), p.y, fma_(R(c.z), p.z, R(c.start))));
}

// The depth from which on a view's ray is in front of the plane, behind which the camera is; in perspective
// the ray passes through (x, y, 1) of the camera's space, in an orthographic view through (x, y, 0). Far
// beyond any picture's depth: nowhere.
FN real clip_depth(clip_plane c, uniform_real orthographic, real x, real y)
{
    real across = fma_(R(c.x), x, R(c.y) * y);
    real start = fma_(R(orthographic), across, R(c.start));
    real slope = fma_(R(1.0) - R(orthographic), across, R(c.z));
    real beyond = sel(start >= R(0.0), R(-1e30), R(1e30));
    return sel(slope > R(0.0), -start / sel(slope > R(0.0), slope, R(1.0)), beyond);
}

#endif
