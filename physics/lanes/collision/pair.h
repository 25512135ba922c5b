// The contacts of one pair of geoms: the routine for its kinds of shape.
#pragma once

#include "physics/lanes/collision/depth_queue.h"
#include "physics/lanes/collision/flex_contact.h"
#include "physics/lanes/collision/grid_contact.h"
#include "physics/lanes/collision/speculative.h"
#include "physics/lanes/sleep.h"

// The lanes in which the geoms of a pair could touch, by their bounding spheres.
FN mask may_touch(const lane_model *m, const lane_data *d, const orr_pair *pair)
{
    real3 apart = sub3(load3(d->geom_xpos, pair->geom2), load3(d->geom_xpos, pair->geom1));
    real reach = R(pair->margin) + geom_rbound(m, d, pair->geom2);
    if (m->geom_type[pair->geom1] == ORR_GEOM_PLANE) {
        return dot3(apart, load_matrix(d->geom_xmat, pair->geom1).z) <= reach;
    }
    reach = reach + geom_rbound(m, d, pair->geom1);
    if (meets_grid(m, pair)) { // also within the step
        reach = reach + motion_in_grid(m, d, pair).most;
    }
    return dot3(apart, apart) <= reach * reach;
}

LANE_FN void collide_near(const lane_model *m, lane_data *d, int i, mask near)
{
    const orr_pair *pair = lane_pair(m, d, i);
    lane_geom a = load_geom(m, d, pair->geom1), b = load_geom(m, d, pair->geom2);
    if (m->geom_type[pair->geom2] == ORR_GEOM_SDF) {
        if (m->geom_function[pair->geom2]) {
            collide_lanes(m, d, i, &a, &b, near);
        } else {
            collide_grid(m, d, i, &a, &b);
        }
        return;
    }
    switch (m->geom_type[pair->geom1] * 8 + m->geom_type[pair->geom2]) {
    case ORR_GEOM_PLANE * 8 + ORR_GEOM_SPHERE:
        plane_sphere(m, d, i, &a, b.pos, b.size.x, no_tangent());
        break;
    case ORR_GEOM_PLANE * 8 + ORR_GEOM_CAPSULE:
        plane_capsule(m, d, i, &a, &b);
        break;
    case ORR_GEOM_PLANE * 8 + ORR_GEOM_ELLIPSOID:
        plane_ellipsoid(m, d, i, &a, &b);
        break;
    case ORR_GEOM_PLANE * 8 + ORR_GEOM_CYLINDER:
        plane_cylinder(m, d, i, &a, &b);
        break;
    case ORR_GEOM_PLANE * 8 + ORR_GEOM_BOX:
        plane_box(m, d, i, &a, &b);
        break;
    case ORR_GEOM_SPHERE * 8 + ORR_GEOM_SPHERE:
        sphere_sphere(m, d, i, a.pos, a.size.x, b.pos, b.size.x, everywhere());
        break;
    case ORR_GEOM_SPHERE * 8 + ORR_GEOM_CAPSULE:
        sphere_capsule(m, d, i, &a, &b);
        break;
    case ORR_GEOM_SPHERE * 8 + ORR_GEOM_CYLINDER:
        sphere_cylinder(m, d, i, &a, &b);
        break;
    case ORR_GEOM_CAPSULE * 8 + ORR_GEOM_CAPSULE:
        capsule_capsule(m, d, i, &a, &b);
        break;
    default:
        collide_lanes(m, d, i, &a, &b, near);
        break;
    }
}

// q: pairs that wait, none where contacts of the pair are changed here.
LANE_FN void collide_pair(const lane_model *m, lane_data *d, depth_queue *q, int i)
{
    const orr_pair *pair = lane_pair(m, d, i);
    mask near = may_touch(m, d, pair), touches = everywhere();
    if (d->asleep != LANE_NONE_ASLEEP) {
        touches = pair_touches(m, d, pair);
        near = and_(near, touches);
    }
    int first = d->contact_count;
    if (any(near)) {
        collide_in_turn(m, d, q, i, near);
    }
    if (d->asleep == LANE_NONE_ASLEEP && !speculates(m)) {
        return;
    }
    finish_queue(m, d, q);
    if (speculates(m)) {
        speculate(m, d, i, first, touches);
    }
    for (int contact = first; contact < d->contact_count && d->asleep != LANE_NONE_ASLEEP; contact++) {
        d->contact_dist[contact] = sel(touches, d->contact_dist[contact], R(LANE_HUGE));
    }
}
