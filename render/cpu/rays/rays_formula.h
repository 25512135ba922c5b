// Rays that start at smooth surfaces: which do, where they go, how wide a pixel is at their ends. One text
// for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_RAYS_FORMULA_H
#define ORR_RAYS_FORMULA_H

#include "render/glass/glass_formula.h"

#define RAYS_ROUGHNESS 0.2f // from here on surfaces reflect the blurred environment alone
#define RAYS_SHARP 0.1f     // up to here the ray alone

// The part of what a surface mirrors that its ray finds; the rest is as without rays.
FN real rays_share(real roughness)
{
    real part = (R(RAYS_ROUGHNESS) - roughness) * R(1.0f / (RAYS_ROUGHNESS - RAYS_SHARP));
    return min_(max_(part, R(0.0)), R(1.0));
}

// The mirrored direction, unit. Interpolated and bent normals mirror some rays into the surface: these leave
// along it. All unit vectors; normal, outward: on the side of the eye, outward that of the flat triangle.
FN real3 rays_mirror(real3 normal, real3 outward, real3 to_eye)
{
    real3 mirror = sub3(scale3(normal, R(2.0) * dot3(normal, to_eye)), to_eye);
    return glass_leave(mirror, outward);
}

// How far off the surface a ray starts, so that it does not meet its own triangle; largest: of the
// coordinates of the point in any space in which it was computed. Some 80 roundings of that.
FN real rays_step(real largest)
{
    return fma_(largest, R(1e-5), R(1e-7));
}

// A curved mirror spreads a cone of rays by twice the angle between its normals at both rims of the cone
// (Akenine-Moeller et al. 2019, "Texture level of detail strategies for real-time ray tracing"). curvature:
// angle per length; width: of the cone where it meets the mirror; returns radians
FN real rays_spread(real spread, real curvature, real width)
{
    return fma_(R(2.0) * curvature, width, spread);
}

// The same of rays that go through a surface, as wide as where it makes them part; eta: as in glass_formula.h
FN real rays_spread_through(real spread, real curvature, real width, real eta)
{
    real turned = R(1.0) / eta;
    return fma_(abs_(R(1.0) - turned) * curvature, width, spread * turned);
}

// The level of a mip chain whose texels are as wide as the cone. squared_density: texels of level 0 per area
FN real rays_level(real width, real squared_density, uniform_real last)
{
    real texels = max_(width * width * squared_density, R(1.0));
    return min_(R(0.5) * log2_(texels), R(last));
}

#endif
