// How much of a light passes a splat cloud: an opacity map. Each texel has the depths of the first and the
// last splat that cover it, and how much light is left at four depths from the first to the last (after the
// deep opacity maps of Yuksel and Keyser 2008). What is left is a product over the splats before a depth, so
// their order does not matter. One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_CLOUD_SHADOW_FORMULA_H
#define ORR_CLOUD_SHADOW_FORMULA_H

#include "render/shadow/shadow_formula.h"

// Three of the depths, in parts of the way from the first splat to the last, which is the fourth. Each is
// four times the one before: surfaces are thin, and light that leaks into the first part should not be seen.
#define CLOUD_SHADOW_A (1.0f / 64.0f)
#define CLOUD_SHADOW_B (1.0f / 16.0f)
#define CLOUD_SHADOW_C (1.0f / 4.0f)

// A texel.
STRUCT(cloud_texel)
{
    real first, last; // depths; the largest float and its negative: no splat covers it
    real a, b, c, d;  // the part of the light that is left at the four depths
}
END_STRUCT(cloud_texel)

FN cloud_texel cloud_texel_begin(real farthest)
{
    cloud_texel t;
    t.first = farthest;
    t.last = -farthest;
    t.a = t.b = t.c = t.d = R(1.0);
    return t;
}

// All splats are spanned, and then each is added.
FN cloud_texel cloud_texel_span(cloud_texel t, real alpha, real depth)
{
    mask covers = alpha > R(0.0);
    t.first = sel(covers, min_(t.first, depth), t.first);
    t.last = sel(covers, max_(t.last, depth), t.last);
    return t;
}

// How far behind the first splat a depth is, in parts of the way to the last.
FN real cloud_texel_behind(cloud_texel t, real depth)
{
    return (depth - t.first) / max_(t.last - t.first, R(1e-20));
}

// Three of the four depths themselves.
FN real3 cloud_texel_depths(cloud_texel t)
{
    real way = t.last - t.first;
    return make_real3(fma_(way, R(CLOUD_SHADOW_A), t.first), fma_(way, R(CLOUD_SHADOW_B), t.first),
                      fma_(way, R(CLOUD_SHADOW_C), t.first));
}

// depths: cloud_texel_depths(t)
FN cloud_texel cloud_texel_add(cloud_texel t, real3 depths, real alpha, real depth)
{
    real left = R(1.0) - alpha;
    t.a = t.a * sel(depth <= depths.x, left, R(1.0));
    t.b = t.b * sel(depth <= depths.y, left, R(1.0));
    t.c = t.c * sel(depth <= depths.z, left, R(1.0));
    t.d = t.d * left;
    return t;
}

// How far a depth is from one of the four to the next.
FN real cloud_texel_part(real behind, uniform_real from, uniform_real to)
{
    return min_(max_((behind - R(from)) * R(1.0f / (to - from)), R(0.0)), R(1.0));
}

// The part of the light that is left at a depth: linear between the four.
FN real cloud_texel_left(cloud_texel t, real depth)
{
    real behind = min_(cloud_texel_behind(t, depth), R(2.0));
    real left = fma_(cloud_texel_part(behind, 0.0f, CLOUD_SHADOW_A), t.a - R(1.0), R(1.0));
    left = fma_(cloud_texel_part(behind, CLOUD_SHADOW_A, CLOUD_SHADOW_B), t.b - t.a, left);
    left = fma_(cloud_texel_part(behind, CLOUD_SHADOW_B, CLOUD_SHADOW_C), t.c - t.b, left);
    return fma_(cloud_texel_part(behind, CLOUD_SHADOW_C, 1.0f), t.d - t.c, left);
}

#endif
