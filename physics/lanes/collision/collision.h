// Contacts of all pairs: which are near, and the routine for each kind of pair.
#pragma once

#include "physics/lanes/collision/depth_queue.h"
#include "physics/lanes/collision/flex_contact.h"
#include "physics/lanes/collision/grid_contact.h"
#include "physics/lanes/collision/near.h"
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

LANE_FN void collide_pair(const lane_model *m, lane_data *d, depth_queue *q, int i)
{
    const orr_pair *pair = lane_pair(m, d, i);
    mask near = may_touch(m, d, pair);
    if (d->asleep == LANE_NONE_ASLEEP) {
        if (any(near)) {
            collide_in_turn(m, d, q, i, near);
        }
        return;
    }
    mask touches = pair_touches(m, d, pair);
    if (!any(and_(near, touches))) {
        return;
    }
    int first = d->contact_count;
    collide_in_turn(m, d, q, i, and_(near, touches));
    finish_queue(m, d, q);
    for (int contact = first; contact < d->contact_count; contact++) {
        d->contact_dist[contact] = sel(touches, d->contact_dist[contact], R(LANE_HUGE));
    }
}

// Sets the bits of the pairs that may touch, as find_near does, by testing all pairs.
LANE_FN void test_pairs(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    for (int first = 0; first < plan->geom_pairs; first += 32) {
        uint32_t near = 0;
        for (int i = team_first(d); i < 32 && first + i < plan->geom_pairs; i += team_size(d)) {
            near |= any(may_touch(m, d, &plan->pair[first + i])) ? 1u << i : 0u;
        }
        d->near_pair[first / 32] = team_bits(d, near);
    }
}

// Orders the near pairs by their second geom, then their first: `by` is 1, then 0.
LANE_FN void sort_near(const lane_model *m, lane_data *d, int by, const int32_t *from, int32_t *to)
{
    int32_t *first = d->near_first;
    memset(first, 0, ((size_t)m->ngeom + 1) * sizeof *first);
    for (int i = 0; i < d->near_count; i++) {
        first[from[2 * i + by] + 1]++;
    }
    for (int geom = 1; geom < m->ngeom; geom++) {
        first[geom] += first[geom - 1];
    }
    for (int i = 0; i < d->near_count; i++) {
        int at = first[from[2 * i + by]]++;
        to[2 * at] = from[2 * i];
        to[2 * at + 1] = from[2 * i + 1];
    }
}

// Pairs that the plan does not list, in the order in which it would; their parameters are mixed. Those
// without a contact are forgotten.
LANE_FN void collide_mixed(const lane_model *m, lane_data *d, depth_queue *q)
{
#if !defined(__CUDACC__) // where the plan lists all
    const orr_plan *plan = m->plan;
    if (!plan->pairs_mixed) {
        return;
    }
    sort_near(m, d, 1, d->near_geoms, d->near_sorted);
    sort_near(m, d, 0, d->near_sorted, d->near_geoms);
    for (int i = 0, met = 0; i < d->near_count; i++) {
        orr_pair *pair = &d->met[met];
        if (!orr_plan_mix_pair(plan, d->near_geoms[2 * i], d->near_geoms[2 * i + 1], pair)) {
            continue;
        }
        int64_t first = (int64_t)met * plan->pair_dofs;
        pair->chain = orr_plan_pair_dofs(plan, m->geom_bodyid[pair->geom1], m->geom_bodyid[pair->geom2],
                                         d->met_dof + first, d->met_part + first);
        int before = d->contact_count;
        collide_pair(m, d, q, plan->pair_count + met);
        finish_queue(m, d, q);
        met += d->contact_count > before;
    }
#else
    (void)m;
    (void)d;
    (void)q;
#endif
}

LANE_FN void collide(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    if (m->opt.disableflags & ORR_DISABLE_CONTACT) {
        return;
    }
    depth_queue queue;
    queue.count = 0;
    queue.taken = 0;
    if (plan->boxed_count == 0 && team_size(d) == 1) {
        for (int i = 0; i < plan->geom_pairs; i++) {
            collide_pair(m, d, &queue, i);
        }
        finish_queue(m, d, &queue);
    } else {
        if (plan->boxed_count > 0) {
            if (team_single_begin(d)) {
                find_near(m, d);
            }
            team_single_end(d);
        } else {
            test_pairs(m, d);
        }
        for (int first = 0; first < plan->geom_pairs; first += 32) {
            for (uint32_t left = d->near_pair[first / 32]; left != 0; left &= left - 1) {
                collide_pair(m, d, &queue, first + lowest_bit(left));
            }
        }
        finish_queue(m, d, &queue);
        collide_mixed(m, d, &queue);
    }
    collide_points(m, d);
    collide_elements(m, d);
    for (int i = team_first(d); i < d->contact_count; i += team_size(d)) {
        if (d->contact[i].row >= 0) {
            set_contact_rows(m, d, i);
        }
    }
    int needed = d->contact_count + d->contacts_missed;
    d->contacts_needed = needed > d->contacts_needed ? needed : d->contacts_needed;
}
