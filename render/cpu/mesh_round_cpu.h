// Lanes over pixels: rays at round surfaces (mesh_round.c), and the triangles that touch them where they are
// met, which are shaded as any others. Part of the files mesh_*_cpu.c.
#pragma once

#include "engine/maths/round_formula.h"
#include "render/cpu/mesh_raster_stages.h"
#include "render/cube_formula.h"
#include "render/formula_inputs.h"
#include "render/mesh_formula.h"

FN round_span round_inside(const orr_round *round, real3 p, real3 v)
{
    const real3 size = make_real3(R(round->size[0]), R(round->size[1]), R(round->size[2]));
    switch (round->kind) {
    case ORR_ROUND_CAPSULE:
        return round_capsule(p, v, size.x, size.z);
    case ORR_ROUND_CYLINDER:
        return round_tube(p, v, size.x, size.z);
    default:
        return round_ellipsoid(p, v, size);
    }
}

FN real3 round_outward(const orr_round *round, real3 p)
{
    const real3 size = make_real3(R(round->size[0]), R(round->size[1]), R(round->size[2]));
    switch (round->kind) {
    case ORR_ROUND_CAPSULE:
        return round_capsule_normal(p, size.z);
    case ORR_ROUND_CYLINDER:
        return round_cylinder_normal(p, size.x, size.z);
    default:
        return round_ellipsoid_normal(p, size);
    }
}

// The nearness of a round surface at points of the picture [px]; -infinity: it is not met.
FN real round_nearness(const mesh_raster *raster, const mesh_instance *instance, real x, real y)
{
    const mesh_ray ray = mesh_ray_at(mesh_view_of(&raster->lens), x, y);
    const affine to_round = affine_of(instance->from_camera);
    const round_span inside = round_inside(instance->round, affine_point(to_round, ray.origin),
                                           affine_direction(to_round, ray.direction));
    const real3 at = add_scaled3(ray.origin, ray.direction, inside.enter); // whose z is the depth
    const mask met = (inside.enter <= inside.leave) & (inside.enter >= R(raster->lens.near_plane)) &
                     (clip_height(clip_plane_of(raster->lens.clip), at) >= R(0.0));
    const real nearness = raster->lens.orthographic ? -inside.enter : R(1.0) / inside.enter;
    return sel(met, nearness, R(-INFINITY));
}

// Coordinates of textures at a point, and how they change with two steps from there; all in the round space.
FN void round_coordinates(const orr_round *round, real3 p, real3 step_b, real3 step_c, real2 uv[3])
{
    if (round->how == ORR_ROUND_FLAT) {
        const real u = R(round->lay[0]), v = R(round->lay[1]);
        uv[0] = make_real2(fma_(u, p.x, R(0.5)), fma_(v, p.y, R(0.5)));
        uv[1] = make_real2(fma_(u, step_b.x, uv[0].x), fma_(v, step_b.y, uv[0].y));
        uv[2] = make_real2(fma_(u, step_c.x, uv[0].x), fma_(v, step_c.y, uv[0].y));
        return;
    }
    const real3 lay = make_real3(R(round->lay[0]), R(round->lay[1]), R(round->lay[2]));
    const real face = cube_face(times3(p, lay));
    const real3 at = cube_on_face(face, times3(p, lay));
    const real2 b = cube_step(at, cube_on_face(face, times3(step_b, lay))),
                c = cube_step(at, cube_on_face(face, times3(step_c, lay)));
    uv[0] = cube_place(face, at, R(round->cube_margin));
    uv[1] = make_real2(uv[0].x + b.x, uv[0].y + b.y);
    uv[2] = make_real2(uv[0].x + c.x, uv[0].y + c.y);
}

// A round surface where the rays through points of the picture meet it. In the camera's space.
typedef struct round_point {
    real3 position, normal; // unit
    mesh_triangle touching; // a corner in the position, the others 1 away from it, at a right angle
    real2 uv[3];            // of its corners, where the surface has textures
} round_point;

// The plane turns to the eye where the surface hardly faces it: what follows divides by how far it does.
FN real3 turned_to_eye(real3 normal, real3 direction)
{
    const real least = R(0.05);
    const real3 along = unit3(direction);
    return unit3(add_scaled3(normal, along, -max_(dot3(normal, along) + least, R(0.0))));
}

// x, y: [px]; what misses the surface by rounding gets where it is nearest to the middle.
FN round_point round_point_at(const mesh_raster *raster, const mesh_instance *instance, real x, real y,
                              bool textured)
{
    const mesh_ray ray = mesh_ray_at(mesh_view_of(&raster->lens), x, y);
    const affine to_round = affine_of(instance->from_camera);
    const real3 p = affine_point(to_round, ray.origin), v = affine_direction(to_round, ray.direction);
    const round_span inside = round_inside(instance->round, p, v);
    const real depth = sel(inside.enter <= inside.leave, inside.enter, -dot3(p, v) / dot3(v, v));
    const real3 at = add_scaled3(p, v, depth);
    round_point r;
    r.position = add_scaled3(ray.origin, ray.direction, depth);
    r.normal =
        unit3(affine_direction(affine_of(instance->to_camera), unit3(round_outward(instance->round, at))));
    r.touching.normal = turned_to_eye(r.normal, ray.direction);
    r.touching.a = r.position;
    r.touching.ab = across3(r.touching.normal);
    r.touching.ac = cross3(r.touching.normal, r.touching.ab);
    r.touching.inverse = R(1.0);
    if (textured) {
        round_coordinates(instance->round, at, affine_direction(to_round, r.touching.ab),
                          affine_direction(to_round, r.touching.ac), r.uv);
    }
    return r;
}
