// What pixels show besides colour and depth: which splat decides what is seen, where points are in the
// picture, how they have moved in it, and which way the surface of a cloud faces by its depth. One text for
// all machines (see engine/maths/formula.h). The surfaces of meshes: mesh_formula.h.
#ifndef ORR_SEEN_FORMULA_H
#define ORR_SEEN_FORMULA_H

#include "render/mesh_formula.h"

// Of a camera: what places points of its space in the picture.
STRUCT(seen_lens)
{
    uniform_real focal_x, focal_y, centre_x, centre_y; // [px], or [px per unit] when orthographic
    uniform_real near_plane;
    uniform_real orthographic; // 1 or 0
}
END_STRUCT(seen_lens)

// Is a splat the one that takes the pixel's transmittance below a half? before, after: it; negative where the
// pixel has stopped.
FN mask seen_takes(real before, real after)
{
    return and_(before >= R(0.5), after < R(0.5));
}

// Where a point is in the picture [px].
FN real2 seen_pixel(seen_lens lens, real3 p)
{
    real reach = p.z;
    if (lens.orthographic > 0.5f) {
        reach = R(1.0);
    }
    return make_real2(R(lens.focal_x) * p.x / reach + R(lens.centre_x),
                      R(lens.focal_y) * p.y / reach + R(lens.centre_y));
}

// The point that is at x, y [px], so deep along the camera's axis.
FN real3 seen_point(seen_lens lens, real x, real y, real depth)
{
    real reach = depth;
    if (lens.orthographic > 0.5f) {
        reach = R(1.0);
    }
    return make_real3((x - R(lens.centre_x)) / R(lens.focal_x) * reach,
                      (y - R(lens.centre_y)) / R(lens.focal_y) * reach, depth);
}

// Where a point is less where it was [px]; 0 where it was behind the camera. now, then: in the spaces of the
// camera and of the camera before. The same arithmetic for both: what stands still has a flow of 0.
FN real2 seen_flow(seen_lens lens, real3 now, seen_lens before, real3 then)
{
    real2 a = seen_pixel(before, then);
    real2 b = seen_pixel(lens, now);
    mask there = then.z >= R(before.near_plane);
    return make_real2(sel(there, b.x - a.x, R(0.0)), sel(there, b.y - a.y, R(0.0)));
}

// ---- clouds, by the depth that is drawn ----

// The step to the next pixel along an axis, in the camera's space.
STRUCT(seen_step)
{
    mask found;
    real3 by;
}
END_STRUCT(seen_step)

FN seen_step seen_no_step()
{
    seen_step s;
    s.found = R(1.0) < R(0.0);
    s.by = make_real3(R(0.0), R(0.0), R(0.0));
    return s;
}

// With a neighbour, where it shows the same cloud: of two, the one that changes the depth less. side: -1, 1
FN seen_step seen_step_to(seen_step s, mask same, real side, real3 here, real3 there)
{
    real3 by = scale3(sub3(there, here), side);
    mask takes = and_(same, or_(not_(s.found), abs_(by.z) < abs_(s.by.z)));
    s.by = select3(takes, by, s.by);
    s.found = or_(s.found, takes);
    return s;
}

// Which way the surface of a cloud faces, on the side that is seen; 0 where a step is missing. at: the point
FN real3 seen_cloud_normal(seen_lens lens, seen_step right, seen_step down, real3 at)
{
    real3 n = mesh_cross(right.by, down.by);
    real away = n.x * at.x + n.y * at.y + n.z * at.z;
    if (lens.orthographic > 0.5f) {
        away = n.z;
    }
    real length = sqrt_(n.x * n.x + n.y * n.y + n.z * n.z);
    mask some = and_(and_(right.found, down.found), length > R(0.0));
    real by = sel(some, sel(away > R(0.0), -length, length), R(1.0));
    return make_real3(sel(some, n.x / by, R(0.0)), sel(some, n.y / by, R(0.0)), sel(some, n.z / by, R(0.0)));
}

#endif
