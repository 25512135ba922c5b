// The mathematics of a mesh's pixel: where a ray meets a triangle, and how the surface there is lit. One text
// for CPU lanes, CUDA and GLSL (see engine/core/formula.h).
//
// Lambert's cosine law and Blinn's highlights with any number of lights, with the attenuation and the cones of OpenGL's
// fixed functions, in linear light; the result is encoded for display (IEC 61966-2-1) because pictures are
// display-referred. The ray test is Moeller and Trumbore's (1997).
#ifndef ORR_MESH_FORMULA_H
#define ORR_MESH_FORMULA_H

#include "engine/core/colour_formula.h"
#include "engine/core/formula.h"

// A light in the camera's space.
STRUCT(mesh_light)
{
    uniform_real x, y, z;                // its place; of a directional one: towards it, unit
    uniform_real directional;            // 1 or 0
    uniform_real axis_x, axis_y, axis_z; // in which it shines, unit
    uniform_real cutoff;                 // cosine of the angle at the rim of its cone
    uniform_real exponent;
    uniform_real constant, linear, quadratic; // attenuation
    uniform_real ambient_red, ambient_green, ambient_blue;
    uniform_real diffuse_red, diffuse_green, diffuse_blue;
    uniform_real specular_red, specular_green, specular_blue;
}
END_STRUCT(mesh_light)

// What a vertex needs to know of the view; sizes and centre in pixels.
STRUCT(mesh_view)
{
    uniform_real focal_x, focal_y, centre_x, centre_y;
    uniform_real width, height;
    uniform_real near_plane;
    uniform_real orthographic; // 1 or 0
    uniform_real guard;        // as far beyond the picture it may have a place on the screen
    uniform_real subpixels;    // of a pixel: what such a place is rounded to
}
END_STRUCT(mesh_view)

// A vertex on the screen, and which bounds it breaks.
STRUCT(mesh_seen)
{
    real x, y; // [1/subpixels px]; 0 when it breaks near or guard
    mask near_plane, left, right, top, bottom, guard;
}
END_STRUCT(mesh_seen)

// p: in the camera's space
FN mesh_seen mesh_see(mesh_view v, real3 p)
{
    // w: what the screen position is to be divided by
    real w = sel(R(v.orthographic) > R(0.5), R(1.0), p.z);
    real at_x = v.focal_x * p.x + v.centre_x * w;
    real at_y = v.focal_y * p.y + v.centre_y * w;
    mesh_seen s;
    s.near_plane = not_(p.z >= R(v.near_plane));
    real inverse = R(1.0) / sel(s.near_plane, R(1.0), w);
    real x = v.focal_x * p.x * inverse + R(v.centre_x);
    real y = v.focal_y * p.y * inverse + R(v.centre_y);
    s.left = at_x < R(0.0);
    s.right = at_x > v.width * w;
    s.top = at_y < R(0.0);
    s.bottom = at_y > v.height * w;
    s.guard = not_(and_(and_(x >= R(-v.guard), x <= R(v.width + v.guard)),
                        and_(y >= R(-v.guard), y <= R(v.height + v.guard))));
    mask unplaced = or_(s.near_plane, s.guard);
    s.x = floor_(sel(unplaced, R(0.0), x) * R(v.subpixels) + R(0.5));
    s.y = floor_(sel(unplaced, R(0.0), y) * R(v.subpixels) + R(0.5));
    return s;
}

// The level of a texture's mip chain whose texels are as large as a pixel, by the longer of the two steps that a pixel makes
// in the texture. across, down: these steps [texels]; last: the chain's last level.
FN real mesh_texture_level(real2 across, real2 down, uniform_real last)
{
    real across_squared = fma_(across.y, across.y, across.x * across.x);
    real down_squared = fma_(down.y, down.y, down.x * down.x);
    real longest = min_(max_(max_(across_squared, down_squared), R(1.0)), R(1e30));
    return max_(min_(R(0.5) * log2_(longest), R(last)), R(0.0));
}

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

FN real3 normalised3(real3 a)
{
    real inverse = R(1.0) / sqrt_(max_(dot3(a, a), R(1e-30)));
    return make_real3(a.x * inverse, a.y * inverse, a.z * inverse);
}

// The unit normal on the side that is seen. `normal`: interpolated, any length; `outward`: the triangle's own normal on
// that side, any length; it turns normals of back sides and of wrongly wound triangles round.
FN real3 mesh_seen_normal(real3 normal, real3 outward)
{
    real3 n = normalised3(normal);
    mask away = dot3(n, outward) < R(0.0);
    return make_real3(sel(away, -n.x, n.x), sel(away, -n.y, n.y), sel(away, -n.z, n.z));
}

// A triangle's normal turned to the side that is seen. normal: on its front; to_surface: from the eye to any point of it.
FN real3 mesh_outward(real3 normal, real3 to_surface)
{
    mask away = dot3(normal, to_surface) > R(0.0);
    return make_real3(sel(away, -normal.x, normal.x), sel(away, -normal.y, normal.y),
                      sel(away, -normal.z, normal.z));
}

FN real power_of(real base, uniform_real exponent)
{
    return pow_(max_(base, R(1e-6)), R(exponent));
}

FN real3 add_colour(real3 sum, real weight, uniform_real red, uniform_real green, uniform_real blue)
{
    return make_real3(fma_(weight, R(red), sum.x), fma_(weight, R(green), sum.y),
                      fma_(weight, R(blue), sum.z));
}

// From where a light falls onto a place, and how strongly.
STRUCT(mesh_incidence)
{
    real3 to_light; // unit
    real strength;
}
END_STRUCT(mesh_incidence)

FN mesh_incidence mesh_from_afar(mesh_light l)
{
    mesh_incidence i;
    i.to_light = make_real3(R(l.x), R(l.y), R(l.z));
    i.strength = R(1.0);
    return i;
}

FN mesh_incidence mesh_from_lamp(mesh_light l, real3 p)
{
    mesh_incidence i;
    real3 way = subtract3(make_real3(R(l.x), R(l.y), R(l.z)), p);
    real distance = sqrt_(max_(dot3(way, way), R(1e-20)));
    i.to_light = make_real3(way.x / distance, way.y / distance, way.z / distance);
    real cosine = -dot3(i.to_light, make_real3(R(l.axis_x), R(l.axis_y), R(l.axis_z)));
    real divisor = max_(R(l.constant) + distance * (R(l.linear) + distance * R(l.quadratic)), R(1e-6));
    i.strength = sel(cosine < R(l.cutoff), R(0.0), power_of(cosine, l.exponent)) / divisor;
    return i;
}

// Lambert's law, and the light's ambient part. normal: unit.
FN real3 mesh_add_diffuse(real3 sum, mesh_light l, mesh_incidence i, real3 normal)
{
    real cosine = i.strength * max_(dot3(i.to_light, normal), R(0.0));
    sum = add_colour(sum, i.strength, l.ambient_red, l.ambient_green, l.ambient_blue);
    return add_colour(sum, cosine, l.diffuse_red, l.diffuse_green, l.diffuse_blue);
}

// Blinn's law (1977). normal, to_eye: unit.
FN real3 mesh_add_highlight(real3 sum, mesh_light l, mesh_incidence i, real3 normal, real3 to_eye,
                            uniform_real exponent)
{
    real3 half_way =
        normalised3(make_real3(i.to_light.x + to_eye.x, i.to_light.y + to_eye.y, i.to_light.z + to_eye.z));
    real gloss = i.strength * power_of(dot3(half_way, normal), exponent);
    gloss = sel(dot3(i.to_light, normal) > R(0.0), gloss, R(0.0));
    return add_colour(sum, gloss, l.specular_red, l.specular_green, l.specular_blue);
}

// Display colour of a surface: what reaches its base colour, and its share of what highlights there may be; all linear.
FN real3 mesh_shade(real3 base_colour, real3 diffuse, real3 highlight, uniform_real specular)
{
    return make_real3(linear_to_srgb(fma_(base_colour.x, diffuse.x, R(specular) * highlight.x)),
                      linear_to_srgb(fma_(base_colour.y, diffuse.y, R(specular) * highlight.y)),
                      linear_to_srgb(fma_(base_colour.z, diffuse.z, R(specular) * highlight.z)));
}

#endif
