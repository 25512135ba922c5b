// Rays that start at smooth surfaces: which do, where they go, how wide a pixel is at their ends. One text
// for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_RAYS_FORMULA_H
#define ORR_RAYS_FORMULA_H

#include "engine/maths/angle_formula.h"
#include "render/edge_formula.h"
#include "render/glass/glass_formula.h"

#define RAYS_ROUGHNESS 0.2f // from here on surfaces reflect the blurred environment alone
#define RAYS_SHARP 0.1f     // up to here the ray alone; light goes through what is rougher in several rays
#define RAYS_CONTRAST (1.0 / 8.0) // a change of the display colour for which pixels are divided
#define RAYS_FACETS 8             // so many, each through another microfacet,
#define RAYS_FROSTED 0.3f         // or half of them up to here, where their grain is less
#define RAYS_TILE 5               // pixels to a side of the square whose rays are spread together

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
// angle per length, below 0 where the surface is hollow on the side of the eye; width: of the cone where it
// meets the mirror, below 0 where its rays have crossed; returns radians, below 0 where they draw together
FN real rays_spread(real spread, real curvature, real width)
{
    return fma_(R(2.0) * curvature, width, spread);
}

// The same of rays that go through a surface, as those near the axis of a lens; eta: as in glass_formula.h
FN real rays_spread_through(real spread, real curvature, real width, real eta)
{
    real turned = R(1.0) / eta;
    return fma_((turned - R(1.0)) * curvature, width, spread * turned);
}

// Is there an edge between neighbouring pixels of surfaces that start rays? same: whether their rays meet the
// same surfaces, of whose own edges and patterns those are taken that are seen clearly. Display colours.
FN mask rays_edge(mask same, real3 a, real3 b)
{
    real change = max_(max_(abs_(a.x - b.x), abs_(a.y - b.y)), abs_(a.z - b.z));
    return change > sel(same, R(RAYS_CONTRAST), R(EDGE_COLOUR));
}

// ---- light through rough surfaces ----

FN real rays_part(real a)
{
    return a - floor_(a);
}

// Two numbers in [0, 1) of a pixel, as if by chance, but always the same (Hoskins 2014, "Hash without sine").
// x, y: its centre [px]
FN real2 rays_shift(real x, real y)
{
    real a = rays_part(R(0.1031) * x), b = rays_part(R(0.103) * y), c = rays_part(R(0.0973) * x);
    real mixed = fma_(a, b + R(33.33), fma_(b, c + R(33.33), c * (a + R(33.33))));
    a = a + mixed;
    b = b + mixed;
    c = c + mixed;
    return make_real2(rays_part((a + b) * c), rays_part((a + c) * b));
}

// The same of a pixel whose light is averaged with its neighbours': in each square of RAYS_TILE x RAYS_TILE
// pixels, wherever it is, all points of one lattice occur.
FN real2 rays_tile_shift(real x, real y)
{
    real left = floor_(x), top = floor_(y), side = R(RAYS_TILE);
    left = left - side * floor_((left + R(0.5)) * R(1.0f / RAYS_TILE));
    top = top - side * floor_((top + R(0.5)) * R(1.0f / RAYS_TILE));
    real point = fma_(side, left, top) + R(0.5);
    return make_real2(point * R(1.0f / (RAYS_TILE * RAYS_TILE)), rays_part(R(0.618033989f) * point));
}

// By how many rays, at most RAYS_FACETS, light is followed through a surface. Thin ones, where `closed` is 0,
// spread it six times as far as those of bodies.
FN real rays_count(real roughness, uniform_real closed)
{
    real rough = sel(roughness > R(RAYS_FROSTED * closed), R(RAYS_FACETS), R(RAYS_FACETS / 2));
    return sel(roughness > R(RAYS_SHARP), rough, R(1.0));
}

// The two numbers in [0, 1) by which ray k of `count` finds its first microfacet: a lattice, moved by the
// pixel's shift.
FN real2 rays_chance(real2 shift, uniform_real k, real count)
{
    return make_real2((shift.x + R(k)) / count, rays_part(shift.y + R(3.0f * k) / count));
}

// Those of the next one. The lattice of all rays becomes another one.
FN real2 rays_next_chance(real2 chance)
{
    return make_real2(rays_part(R(5.0) * chance.y), rays_part(R(3.0) * chance.x));
}

// The microfacet's normal.
FN real3 rays_facet(real3 normal, real3 to_eye, real roughness, real2 chance)
{
    return bsdf_facet(normal, to_eye, max_(roughness * roughness, R(BSDF_ALPHA_MIN)), angle_point(chance.x),
                      chance.y);
}

// Each of the rays stands for its share of the solid angle: what they see is as blurred as by this roughness,
// whose fourth power is proportional to the angle.
FN real rays_share_roughness(real roughness)
{
    return roughness * R(0.594603558f); // RAYS_FACETS^(-1/4)
}

// And its cone is as wide. The normals of half of the microfacets are within an angle whose tangent is the
// squared roughness; turned: the angle by which the light turns for each radian of theirs.
FN real rays_spread_rough(real spread, real turned, real roughness)
{
    return fma_(R(2.0f * 0.353553391f) * turned, roughness * roughness, spread); // RAYS_FACETS^(-1/2)
}

// The level of a mip chain whose texels are as wide as the cone. squared_density: texels of level 0 per area
FN real rays_level(real width, real squared_density, uniform_real last)
{
    real texels = max_(width * width * squared_density, R(1.0));
    return min_(R(0.5) * log2_(texels), R(last));
}

#endif
