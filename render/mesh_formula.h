// The mathematics of a mesh's pixel: where a ray meets a triangle, and how the surface there is lit. One text
// for CPU lanes, CUDA and GLSL (see engine/core/formula.h).
//
// Lambert's cosine law with one sun and an ambient term, in linear light; the result is encoded for display
// (IEC 61966-2-1) because pictures are display-referred. The ray test is Moeller and Trumbore's (1997).
#ifndef ORR_MESH_FORMULA_H
#define ORR_MESH_FORMULA_H

#include "engine/core/formula.h"

// All directions in the camera's space.
STRUCT(mesh_sun)
{
    uniform_real x, y, z;          // towards the sun, unit
    uniform_real red, green, blue; // linear radiance of a white surface that faces it
    uniform_real ambient_red, ambient_green, ambient_blue;
}
END_STRUCT(mesh_sun)

FN real3 subtract3(real3 a, real3 b)
{
    return make_real3(a.x - b.x, a.y - b.y, a.z - b.z);
}

FN real3 cross3(real3 a, real3 b)
{
    return make_real3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// Weights of the corners b and c (a has the rest) where the ray origin + t direction meets the plane of a
// triangle with corner a, edges ab and ac and normal cross3(ab, ac); linear beyond the triangle's edges.
FN real2 mesh_ray_weights(real3 origin, real3 direction, real3 a, real3 ab, real3 ac, real3 normal)
{
    real3 to_a = subtract3(a, origin);
    real facing = dot3(normal, direction);
    real t = dot3(normal, to_a) / sel(facing == R(0.0), R(1e-30), facing);
    // the point met, from corner a
    real3 p = make_real3(t * direction.x - to_a.x, t * direction.y - to_a.y, t * direction.z - to_a.z);
    real inverse_area = R(1.0) / max_(dot3(normal, normal), R(1e-36));
    real2 weights;
    weights.x = dot3(cross3(p, ac), normal) * inverse_area;
    weights.y = dot3(cross3(ab, p), normal) * inverse_area;
    return weights;
}

// Display value of a channel to linear light and back; a >= 0.
FN real srgb_to_linear(real a)
{
    real curve = exp2_(R(2.4) * log2_((max_(a, R(0.04045)) + R(0.055)) * R(1.0 / 1.055)));
    return sel(a <= R(0.04045), a * R(1.0 / 12.92), curve);
}

FN real linear_to_srgb(real a)
{
    real curve = R(1.055) * exp2_(R(1.0 / 2.4) * log2_(max_(a, R(0.0031308)))) - R(0.055);
    return sel(a <= R(0.0031308), a * R(12.92), curve);
}

// Display colour of a surface. `normal`: interpolated, any length; `outward`: the triangle's own normal on
// the side that is seen, any length; it turns normals of back sides and of wrongly wound triangles round.
FN real3 mesh_shade(mesh_sun sun, real3 base_colour, real3 normal, real3 outward)
{
    real cosine = sun.x * normal.x + sun.y * normal.y + sun.z * normal.z;
    cosine = cosine / sqrt_(max_(dot3(normal, normal), R(1e-30)));
    cosine = max_(sel(dot3(normal, outward) < R(0.0), -cosine, cosine), R(0.0));
    return make_real3(linear_to_srgb(base_colour.x * (sun.red * cosine + R(sun.ambient_red))),
                      linear_to_srgb(base_colour.y * (sun.green * cosine + R(sun.ambient_green))),
                      linear_to_srgb(base_colour.z * (sun.blue * cosine + R(sun.ambient_blue))));
}

#endif
