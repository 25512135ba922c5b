// Anti-aliased edges of opaque meshes: which pixels have one, and how the samples of such a pixel are blended
// with what is among and behind them. One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
//
// A pixel is seen by its centre. A pixel with an edge has EDGE_SAMPLES more samples, at Vulkan's standard
// positions (MESH_SAMPLE_X of mesh_triangle.h); each shows the nearest surface there, and a surface is shaded
// once for all of its samples. Blending takes a sample as a layer that hides its share of what earlier
// samples have left, so that each has the same weight in the pixel and splats between two samples are hidden
// by the nearer one alone. The pixel's depth is that of its centre.
#ifndef ORR_EDGE_FORMULA_H
#define ORR_EDGE_FORMULA_H

#include "engine/maths/vector_formula.h"

#define EDGE_SAMPLES 4
#define EDGE_COLOUR (1.0 / 128.0) // a change of the display colour that is seen
#define EDGE_DEPTH 0.02           // a change of the depth, relative to it, between which splats may be

// Is there an edge between the centres of two neighbouring pixels that show different triangles?
FN mask edge_between(real3 a, real3 b, real depth_a, real depth_b)
{
    real change = max_(max_(abs_(a.x - b.x), abs_(a.y - b.y)), abs_(a.z - b.z));
    real gap = abs_(depth_a - depth_b); // NaN where there is no surface in both
    return or_(change > R(EDGE_COLOUR), gap > R(EDGE_DEPTH) * min_(depth_a, depth_b));
}

// How much a sample hides of what the `blended` samples in front of it have left.
FN real edge_alpha(real blended)
{
    return R(1.0) / max_(R(EDGE_SAMPLES) - blended, R(1.0));
}

// The ray through the centre of a pixel with an edge.
STRUCT(edge_centre)
{
    real surface;       // depth of the opaque surface there; 1e38 or more: none
    real depth;         // sum of weight times depth of what is in front of it
    real transmittance; // of that
}
END_STRUCT(edge_centre)

FN edge_centre edge_centre_begin(real surface)
{
    edge_centre c;
    c.surface = surface;
    c.depth = R(0.0);
    c.transmittance = R(1.0);
    return c;
}

// A splat, a field or a transparent surface, where it is `due`; any other values elsewhere.
FN edge_centre edge_centre_blend(edge_centre c, mask due, real alpha, real depth)
{
    mask seen = and_(due, depth < c.surface);
    real weight = sel(seen, alpha * c.transmittance, R(0.0));
    c.depth = fma_(weight, sel(seen, depth, R(0.0)), c.depth);
    c.transmittance = c.transmittance - weight;
    return c;
}

// Mean depth by weight, 0 where there is nothing.
FN real edge_centre_depth(edge_centre c)
{
    mask exists = c.surface < R(1e38);
    real weight = sel(exists, R(1.0), R(1.0) - c.transmittance);
    real sum = fma_(sel(exists, c.transmittance, R(0.0)), sel(exists, c.surface, R(0.0)), c.depth);
    mask some = weight > R(0.0);
    return sel(some, sum / sel(some, weight, R(1.0)), R(0.0));
}

#endif
