// The mathematics of a mesh's vertices and pixels: where a vertex is on the screen, which point of a triangle
// a pixel shows. How that is lit: light_formula.h; its texture: texture_formula.h. One text for CPU lanes,
// CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_MESH_FORMULA_H
#define ORR_MESH_FORMULA_H

#include "engine/maths/vector_formula.h"
#include "render/light_formula.h"

// The view, for vertices and pixels; sizes and centre in pixels.
STRUCT(mesh_view)
{
    uniform_real focal_x, focal_y, centre_x, centre_y;
    uniform_real width, height;
    uniform_real near_plane;
    uniform_real orthographic; // 1 or 0
    uniform_real guard;        // how far beyond the picture a screen position may be
    uniform_real subpixels;    // per pixel: the unit of screen positions
}
END_STRUCT(mesh_view)

// A vertex on the screen, and which bounds it exceeds.
STRUCT(mesh_seen)
{
    real x, y; // [1/subpixels px]; 0 when it exceeds near or guard
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
    mask outside = or_(s.near_plane, s.guard);
    s.x = floor_(sel(outside, R(0.0), x) * R(v.subpixels) + R(0.5));
    s.y = floor_(sel(outside, R(0.0), y) * R(v.subpixels) + R(0.5));
    return s;
}

// a x b, both products rounded (cross3 fuses them where the machine can)
FN real3 mesh_cross(real3 a, real3 b)
{
    return make_real3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// A triangle in the camera's space.
STRUCT(mesh_triangle)
{
    real3 a, ab, ac; // a corner, and the edges from there
    real3 normal;    // ab x ac: on the front side
    real inverse;    // 1 / its square
}
END_STRUCT(mesh_triangle)

FN mesh_triangle mesh_triangle_of(real3 a, real3 b, real3 c)
{
    mesh_triangle t;
    t.a = a;
    t.ab = sub3(b, a);
    t.ac = sub3(c, a);
    t.normal = mesh_cross(t.ab, t.ac);
    t.inverse = R(1.0) / max_(dot3(t.normal, t.normal), R(1e-36));
    return t;
}

// What a point of the picture may show, in the camera's space: the direction's z is 1.
STRUCT(mesh_ray)
{
    real3 origin, direction;
}
END_STRUCT(mesh_ray)

// x, y: [px]
FN mesh_ray mesh_ray_at(mesh_view v, real x, real y)
{
    x = (x - R(v.centre_x)) * R(1.0f / v.focal_x);
    y = (y - R(v.centre_y)) * R(1.0f / v.focal_y);
    mesh_ray ray;
    ray.origin = make_real3(R(0.0), R(0.0), R(0.0));
    ray.direction = make_real3(x, y, R(1.0));
    if (v.orthographic > 0.5f) {
        ray.origin = make_real3(x, y, R(0.0));
        ray.direction = make_real3(R(0.0), R(0.0), R(1.0));
    }
    return ray;
}

// Weights of the corners b and c (a has the rest) where the ray through a point of the picture [px] meets the
// triangle's plane; linear beyond its edges.
FN real2 mesh_weights(mesh_view v, mesh_triangle t, real x, real y)
{
    mesh_ray ray = mesh_ray_at(v, x, y);
    real3 to_a = sub3(t.a, ray.origin);
    real facing = dot3(t.normal, ray.direction);
    real distance = dot3(t.normal, to_a) / sel(facing == R(0.0), R(1e-30), facing);
    real3 p = sub3(scale3(ray.direction, distance), to_a); // where they meet, from corner a
    return make_real2(dot3(mesh_cross(p, t.ac), t.normal) * t.inverse,
                      dot3(mesh_cross(t.ab, p), t.normal) * t.inverse);
}

// Weights within the triangle: the centre of a pixel inside the snapped triangle may be outside the exact one
// by 1/256 pixel.
FN real2 mesh_weights_inside(real2 w)
{
    real b = min_(max_(w.x, R(0.0)), R(1.0));
    return make_real2(b, min_(max_(w.y, R(0.0)), R(1.0) - b));
}

// A quantity of the three corners, by the weights.
FN real mesh_interpolate(real2 w, real a, real b, real c)
{
    return fma_(w.x, b - a, fma_(w.y, c - a, a));
}

// The triangle's point with these weights.
FN real3 mesh_position(mesh_triangle t, real2 w)
{
    return make_real3(fma_(w.x, t.ab.x, fma_(w.y, t.ac.x, t.a.x)),
                      fma_(w.x, t.ab.y, fma_(w.y, t.ac.y, t.a.y)),
                      fma_(w.x, t.ab.z, fma_(w.y, t.ac.z, t.a.z)));
}

// How far a step across the picture moves one texture coordinate [texels]. from, to: weights before and after
// the step; a, b, c: the corners' coordinates; size: of the texture.
FN real mesh_texture_step(real2 from, real2 to, real a, real b, real c, uniform_real size)
{
    return ((to.x - from.x) * (b - a) + (to.y - from.y) * (c - a)) * R(size);
}

FN real3 mesh_flip(mask m, real3 a)
{
    return make_real3(sel(m, -a.x, a.x), sel(m, -a.y, a.y), sel(m, -a.z, a.z));
}

// The point to be lit. orthographic: 1 or 0; position: in the camera's space; normal: interpolated, any
// length; plane, plane_normal: any point of the triangle, and its normal, any length and sign. Normals of
// back sides and of wrongly wound triangles are turned to the side that is seen, which faces the eye; in an
// orthographic view that is at infinite -z.
FN light_point mesh_light_point(uniform_real orthographic, real3 position, real3 normal, real3 plane,
                                real3 plane_normal)
{
    light_point p;
    p.position = position;
    p.to_eye = make_real3(R(0.0), R(0.0), R(-1.0));
    if (orthographic > 0.5f) {
        plane = make_real3(R(0.0), R(0.0), R(1.0));
    } else {
        p.to_eye = unit3(make_real3(-position.x, -position.y, -position.z));
    }
    real3 outward = mesh_flip(dot3(plane_normal, plane) > R(0.0), plane_normal);
    real3 n = unit3(normal);
    p.normal = mesh_flip(dot3(n, outward) < R(0.0), n);
    return p;
}

#define MESH_NORMAL_CENTRE 0.50288665f // ORR_NORMAL_CENTRE of engine/mesh/mesh_file.h

// Along growing u and along falling v of a triangle's texture, of any length.
STRUCT(mesh_tangents)
{
    real3 right, up;
}
END_STRUCT(mesh_tangents)

// ab, ac: two directions in the triangle's plane; uv_ab, uv_ac: how the texture's coordinates change with
// them. Where they do not, no direction: normals are not bent there.
FN mesh_tangents mesh_tangents_of(real3 ab, real3 ac, real2 uv_ab, real2 uv_ac)
{
    uv_ab = make_real2(min_(max_(uv_ab.x, R(-1e6)), R(1e6)), min_(max_(uv_ab.y, R(-1e6)), R(1e6)));
    uv_ac = make_real2(min_(max_(uv_ac.x, R(-1e6)), R(1e6)), min_(max_(uv_ac.y, R(-1e6)), R(1e6)));
    real turn = uv_ab.x * uv_ac.y - uv_ac.x * uv_ab.y;
    real sign = sel(turn > R(0.0), R(1.0), sel(turn < R(0.0), R(-1.0), R(0.0)));
    mesh_tangents t;
    t.right = scale3(sub3(scale3(ab, uv_ac.y), scale3(ac, uv_ab.y)), sign);
    t.up = scale3(sub3(scale3(ab, uv_ac.x), scale3(ac, uv_ab.x)), sign);
    return t;
}

// To unit length, whatever it was; 0 stays 0.
FN real3 mesh_direction(real3 a)
{
    real largest = max_(max_(abs_(a.x), abs_(a.y)), max_(abs_(a.z), R(1e-30)));
    return unit3(scale3(a, R(1.0) / largest));
}

// A tangent at right angles to the normal n, unit; 0 where there is none.
FN real3 mesh_across(real3 tangent, real3 n)
{
    return mesh_direction(add_scaled3(tangent, n, -dot3(tangent, n)));
}

// The space of a surface's texture: unit vectors along growing u, along falling v, and the normal.
STRUCT(mesh_frame)
{
    real3 right, up, normal;
}
END_STRUCT(mesh_frame)

// seen: unit, on the side that is seen; normal: the same before it was turned to that side, of any length.
// Where texture coordinates say no directions, any that are at right angles.
FN mesh_frame mesh_frame_of(real3 seen, real3 normal, mesh_tangents t)
{
    real3 n = unit3(normal), right = mesh_across(t.right, n), up = mesh_across(t.up, n);
    mask known = and_(dot3(right, right) > R(0.5), dot3(up, up) > R(0.5)), behind = dot3(n, seen) < R(0.0);
    mesh_frame f;
    real3 any = across3(seen);
    f.right = select3(known, mesh_flip(behind, right), any);
    f.up = select3(known, mesh_flip(behind, up), cross3(seen, any));
    f.normal = seen;
    return f;
}

// A direction into the space, and out of it.
FN real3 mesh_into(mesh_frame f, real3 direction)
{
    return make_real3(dot3(f.right, direction), dot3(f.up, direction), dot3(f.normal, direction));
}

FN real3 mesh_out_of(mesh_frame f, real3 direction)
{
    return unit3(
        add_scaled3(add_scaled3(scale3(f.normal, direction.z), f.right, direction.x), f.up, direction.y));
}

// The normal that a texture of normals says. seen: unit, on the side that is seen; normal: the same before it
// was turned to that side, of any length; texel: as ORR_NORMAL_CENTRE says.
FN real3 mesh_bend(real3 seen, real3 normal, mesh_tangents t, real3 texel)
{
    real scale = R(1.0f / (1.0f - MESH_NORMAL_CENTRE));
    real start = R(-MESH_NORMAL_CENTRE / (1.0f - MESH_NORMAL_CENTRE));
    real3 n = unit3(normal);
    real3 bent = scale3(n, fma_(texel.z, scale, start));
    bent = add_scaled3(bent, mesh_across(t.right, n), fma_(texel.x, scale, start));
    bent = unit3(add_scaled3(bent, mesh_across(t.up, n), fma_(texel.y, scale, start)));
    return mesh_flip(dot3(n, seen) < R(0.0), bent);
}

// Is there no hole? Where alpha is less than the material's cutoff there is one.
FN mask mesh_is_solid(real alpha, uniform_real cutoff)
{
    return alpha >= R(cutoff);
}

// Nearness of a triangle's plane at (x, y) from where it is `start`, within the nearness of its corners;
// across, down: per unit of x and y.
FN real mesh_nearness(real start, real across, real down, real x, real y, real farthest, real nearest)
{
    return min_(max_(fma_(y, down, fma_(x, across, start)), farthest), nearest);
}

// Depth along the camera's axis of a nearness: 1/z in perspective, -z in orthographic views
// (mesh_triangle.h).
FN real mesh_depth(mesh_view v, real nearness)
{
    real depth = -nearness;
    if (v.orthographic < 0.5f) {
        depth = R(1.0) / nearness;
    }
    return depth;
}

#endif
