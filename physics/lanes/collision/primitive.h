// Contacts in closed form, all lanes at once: of planes, spheres and capsules with each other and with some
// other shapes.
#pragma once

#include "physics/lanes/collision/contact.h"

typedef struct lane_geom {
    real3 pos;
    matrix3 frame;
    real3 size;
} lane_geom;

FN lane_geom load_geom(const lane_model *m, const lane_data *d, int i)
{
    lane_geom g = {load3(d->geom_xpos, i), load_matrix(d->geom_xmat, i), geom_sizes(m, d, i)};
    return g;
}

FN real3 no_tangent(void)
{
    return zero3();
}

FN void plane_sphere(const lane_model *m, lane_data *d, int pair, const lane_geom *plane, real3 centre,
                     real radius, real3 tangent)
{
    real3 normal = plane->frame.z;
    real distance = dot3(sub3(centre, plane->pos), normal) - radius;
    real3 pos = add_scaled3(centre, normal, -(radius + R(0.5) * distance));
    add_contact(m, d, pair, distance, pos, normal, tangent, everywhere());
}

LANE_FN void plane_capsule(const lane_model *m, lane_data *d, int pair, const lane_geom *plane,
                           const lane_geom *capsule)
{
    real3 axis = capsule->frame.z;
    for (int end = 0; end < 2; end++) {
        real3 centre = add_scaled3(capsule->pos, axis, end ? -capsule->size.y : capsule->size.y);
        plane_sphere(m, d, pair, plane, centre, capsule->size.x, axis);
    }
}

LANE_FN void plane_ellipsoid(const lane_model *m, lane_data *d, int pair, const lane_geom *plane,
                             const lane_geom *ellipsoid)
{
    real3 normal = plane->frame.z, size = ellipsoid->size;
    real3 local = rotate_inverse(ellipsoid->frame, normal);
    local = make_real3(local.x * size.x, local.y * size.y, local.z * size.z);
    real scale = R(-1.0) / length3(local);
    real3 lowest = make_real3(local.x * size.x * scale, local.y * size.y * scale, local.z * size.z * scale);
    real3 at = add3(ellipsoid->pos, rotate(ellipsoid->frame, lowest));
    real distance = dot3(sub3(at, plane->pos), normal);
    add_contact(m, d, pair, distance, add_scaled3(at, normal, R(-0.5) * distance), normal, no_tangent(),
                everywhere());
}

LANE_FN void plane_box(const lane_model *m, lane_data *d, int pair, const lane_geom *plane,
                       const lane_geom *box)
{
    real3 normal = plane->frame.z;
    real height = dot3(sub3(box->pos, plane->pos), normal);
    real count = R(0.0);
    for (int corner = 0; corner < 8; corner++) {
        real3 local =
            make_real3(corner & 1 ? box->size.x : -box->size.x, corner & 2 ? box->size.y : -box->size.y,
                       corner & 4 ? box->size.z : -box->size.z);
        real3 offset = rotate(box->frame, local);
        real below = dot3(normal, offset);
        real distance = height + below;
        mask found =
            and_(and_(below <= R(0.0), count < R(4.0)), distance <= R(lane_pair(m, d, pair)->margin));
        real3 pos = add_scaled3(add3(box->pos, offset), normal, R(-0.5) * distance);
        add_contact(m, d, pair, distance, pos, normal, no_tangent(), found);
        count = count + sel(found, R(1.0), R(0.0));
    }
}

// The lowest point of the near rim, the same of the far rim, and two more of the near rim, 120 degrees apart.
LANE_FN void plane_cylinder(const lane_model *m, lane_data *d, int pair, const lane_geom *plane,
                            const lane_geom *cylinder)
{
    real3 normal = plane->frame.z, axis = cylinder->frame.z;
    real along = dot3(normal, axis);
    mask away = along > R(0.0);
    axis = select3(away, scale3(axis, R(-1.0)), axis);
    along = -abs_(along);
    real height = dot3(sub3(cylinder->pos, plane->pos), normal);
    real3 down = scale3(reject3(normal, axis), R(-1.0));
    real squared = dot3(down, down);
    mask tilted = squared >= R(1e-12);
    real scale = cylinder->size.x / sqrt_(sel(tilted, squared, R(1.0)));
    down = select3(tilted, scale3(down, scale), scale3(cylinder->frame.x, cylinder->size.x));
    real below = dot3(down, normal);
    axis = scale3(axis, cylinder->size.y);
    along = along * cylinder->size.y;
    real margin = R(lane_pair(m, d, pair)->margin);
    real distance = height + along + below;
    mask found = distance <= margin;
    real3 near_rim = add3(cylinder->pos, axis), far_rim = sub3(cylinder->pos, axis);
    add_contact(m, d, pair, distance, add_scaled3(add3(near_rim, down), normal, R(-0.5) * distance), normal,
                no_tangent(), found);
    distance = height - along + below;
    add_contact(m, d, pair, distance, add_scaled3(add3(far_rim, down), normal, R(-0.5) * distance), normal,
                no_tangent(), found);
    distance = height + along - R(0.5) * below;
    real3 side = scale3(normalise3(cross3(down, axis)), cylinder->size.x * R(0.8660254037844386));
    for (int k = 0; k < 2; k++) {
        real3 pos = add_scaled3(add_scaled3(near_rim, down, R(-0.5)), side, R(k ? -1.0 : 1.0));
        add_contact(m, d, pair, distance, add_scaled3(pos, normal, R(-0.5) * distance), normal, no_tangent(),
                    found);
    }
}

LANE_FN void sphere_sphere(const lane_model *m, lane_data *d, int pair, real3 centre1, real radius1,
                           real3 centre2, real radius2, mask selected)
{
    real3 apart = sub3(centre2, centre1);
    real distance = length3(apart) - radius1 - radius2;
    real3 normal = normalise3(apart);
    real3 pos = add_scaled3(centre1, normal, radius1 + R(0.5) * distance);
    add_contact(m, d, pair, distance, pos, normal, no_tangent(), selected);
}

LANE_FN void sphere_capsule(const lane_model *m, lane_data *d, int pair, const lane_geom *sphere,
                            const lane_geom *capsule)
{
    real3 axis = capsule->frame.z;
    real along = clamp_(dot3(axis, sub3(sphere->pos, capsule->pos)), -capsule->size.y, capsule->size.y);
    sphere_sphere(m, d, pair, sphere->pos, sphere->size.x, add_scaled3(capsule->pos, axis, along),
                  capsule->size.x, everywhere());
}

// The closest points of two segments; parallel ones have two contacts, at the ends of what they share, or
// twice at the ends that face each other.
LANE_FN void capsule_capsule(const lane_model *m, lane_data *d, int pair, const lane_geom *a,
                             const lane_geom *b)
{
    real3 axis1 = scale3(a->frame.z, a->size.y), axis2 = scale3(b->frame.z, b->size.y);
    real3 apart = sub3(a->pos, b->pos);
    real aa = dot3(axis1, axis1), ab = -dot3(axis1, axis2), bb = dot3(axis2, axis2);
    real u = -dot3(axis1, apart), v = dot3(axis2, apart);
    real determinant = aa * bb - ab * ab;
#if defined(ORR_SCALAR_DOUBLE)
    mask parallel = abs_(determinant) < R(1e-8) * aa * bb; // 1e-4 rad
#else
    mask parallel = abs_(determinant) < R(1e-6) * aa * bb; // what float resolves
#endif
    real one = R(1.0), minus = R(-1.0);
    real inverse = one / sel(parallel, one, determinant);
    real x1 = (bb * u - ab * v) * inverse, x2 = (aa * v - ab * u) * inverse;
    x2 = sel(x1 > one, (v - ab) / bb, sel(x1 < minus, (v + ab) / bb, x2));
    x1 = clamp_(x1, minus, one);
    real x1_at_end = clamp_(sel(x2 > one, u - ab, u + ab) / aa, minus, one);
    x1 = sel(abs_(x2) > one, x1_at_end, x1);
    x2 = clamp_(x2, minus, one);
    mask plain = not_(parallel);
    if (any(plain)) {
        sphere_sphere(m, d, pair, add_scaled3(a->pos, axis1, x1), a->size.x, add_scaled3(b->pos, axis2, x2),
                      b->size.x, plain);
    }
    if (!any(parallel)) {
        return;
    }
    real high = (u - ab) / aa, low = (u + ab) / aa; // the ends of b along a
    for (int end = 0; end < 2; end++) {
        real y1 = clamp_(end ? max_(high, low) : min_(high, low), minus, one);
        real y2 = clamp_((v - y1 * ab) / bb, minus, one);
        sphere_sphere(m, d, pair, add_scaled3(a->pos, axis1, y1), a->size.x, add_scaled3(b->pos, axis2, y2),
                      b->size.x, parallel);
    }
}

// Contact with a cap, the side, or the rim between them; from inside, with the nearer of cap and side.
LANE_FN void sphere_cylinder(const lane_model *m, lane_data *d, int pair, const lane_geom *sphere,
                             const lane_geom *cylinder)
{
    real3 axis = cylinder->frame.z, apart = sub3(sphere->pos, cylinder->pos);
    real radius = cylinder->size.x, height = cylinder->size.y, along = dot3(apart, axis);
    real3 outward = add_scaled3(apart, axis, -along);
    real out = length3(outward), to_cap = height - abs_(along), to_side = radius - out;
    mask over_side = to_cap > R(0.0), over_cap = to_side > R(0.0), inside = and_(over_side, over_cap);
    mask cap_nearer = to_cap < to_side;
    mask side = and_(over_side, not_(and_(inside, cap_nearer)));
    mask cap = and_(and_(over_cap, not_(side)), or_(not_(over_side), cap_nearer));
    // side: the axis as a sphere of the cylinder's radius; rim: its nearest point
    real3 top = scale3(axis, sel(along > R(0.0), height, -height));
    real3 rim = add_scaled3(top, outward, radius / max_(out, R(LANE_TINY)));
    real3 at = select3(side, scale3(axis, along), rim);
    real3 offset = sub3(at, apart);
    real distance = length3(offset) - sphere->size.x - sel(side, radius, R(0.0));
    real3 normal = normalise3(offset);
    real3 inward = scale3(axis, sel(along > R(0.0), R(-1.0), R(1.0)));
    distance = sel(cap, abs_(along) - height - sphere->size.x, distance);
    normal = select3(cap, inward, normal);
    real3 pos = add_scaled3(sphere->pos, normal, sphere->size.x + R(0.5) * distance);
    add_contact(m, d, pair, distance, pos, normal, no_tangent(), everywhere());
}
