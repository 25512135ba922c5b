// Materials as small networks (Zeltner et al. 2024, "Real-time neural appearance models", arXiv 2305.02678):
// what goes into the network that says how much light a point reflects, what comes out of it, and of the one
// that says how it reflects light from everywhere. Directions are in the surface's own space: x along growing
// u, y along falling v, z along its normal. The products of matrices in between are in neural_surface.h. One
// text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
//
// Besides the directions in the surface's own frame and in a learnt one, the network is given the logarithm
// of the sine of the half vector in each: the logarithm of a highlight is nearly two straight pieces in it,
// which rectified sums can follow.
#ifndef ORR_NEURAL_FORMULA_H
#define ORR_NEURAL_FORMULA_H

#include "engine/maths/vector_formula.h"

#define NEURAL_LATENTS 8 // values of a texel, -1 .. 1
#define NEURAL_FRAMES 2  // the surface's own, and a learnt one
#define NEURAL_FIXED 14  // inputs that do not depend on the light: latents, and the eye in each frame
#define NEURAL_INPUTS 23 // of the network of reflected light: these, the light in each frame, 3 logarithms
#define NEURAL_VALUES 7  // that come out of it: logarithms of two colours and of a grey, which are added up
#define NEURAL_LOBE_INPUTS 11 // of the network of lobes: latents and the eye
#define NEURAL_LOBE_OUTPUTS 12
#define NEURAL_WIDTH 32 // of the hidden layers of the former, at most
#define NEURAL_LOBE_WIDTH 16

// Unit vectors; right and normal are not held at right angles.
STRUCT(neural_frame)
{
    real3 right, up, normal;
}
END_STRUCT(neural_frame)

// By what the latents have been multiplied to.
FN neural_frame neural_frame_of(real3 right, real3 normal)
{
    neural_frame f;
    f.right = normalise3(make_real3(right.x + R(1.0), right.y, right.z));
    f.normal = normalise3(make_real3(normal.x, normal.y, normal.z + R(1.0)));
    f.up = cross3(f.normal, f.right);
    return f;
}

FN real3 neural_turn(neural_frame f, real3 direction)
{
    return make_real3(dot3(f.right, direction), dot3(f.up, direction), dot3(f.normal, direction));
}

FN real neural_logarithm(real squared)
{
    return R(0.5) * log2_(squared + R(1e-5));
}

// Of a half vector in a frame: of its squared sine.
FN real neural_ridge(real3 half_way)
{
    return neural_logarithm(fma_(half_way.x, half_way.x, half_way.y * half_way.y));
}

// Of the angle between the half vector and the eye, as Fresnel's factor takes it.
FN real neural_miss(real3 to_eye, real3 half_way)
{
    return neural_logarithm(max_(R(1.0) - dot3(to_eye, half_way), R(0.0)));
}

// Reflectance times cosine [1/sr] of what comes out.
FN real neural_reflectance(real value)
{
    return exp2_(R(1.44269504f) * (min_(value, R(12.0)) - R(3.0)));
}

// How a point reflects light from everywhere, seen from the eye.
STRUCT(neural_lobes)
{
    real3 matte;    // part of it, by Lambert's law
    real3 mirrored; // by a highlight of this roughness around this normal
    real roughness;
    real3 normal;
    real coat; // by a coat of this roughness around the surface's own normal
    real coat_roughness;
    real occlusion; // the part of light from all around that arrives
}
END_STRUCT(neural_lobes)

FN real neural_part(real value) // 0 .. 1
{
    return R(1.0) / (R(1.0) + exp2_(R(-1.44269504f) * min_(max_(value, R(-30.0)), R(30.0))));
}

// x, y: of neural_part. In the surface's space, unit.
FN real3 neural_normal(real x, real y)
{
    x = fma_(R(2.0), x, R(-1.0));
    y = fma_(R(2.0), y, R(-1.0));
    real squared = fma_(x, x, y * y);
    return normalise3(make_real3(x, y, sqrt_(max_(R(1.0) - squared, R(1e-2)))));
}

#endif
