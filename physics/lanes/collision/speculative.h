// Contacts of what moves so fast that it could pass through something within one step (MuJoCo's flag
// `speculative`; its documentation, "Computation", "Speculative contacts"). Where a geom moves by more than
// half its thickness, pairs that do not touch yet are moved through the step (impact.h). A contact of the
// impact acts at once, at a distance chosen so that the geoms arrive at each other at the end of the step.
#pragma once

#include "physics/lanes/collision/impact.h"
#include "physics/lanes/collision/per_lane.h"
#include "physics/lanes/collision/ray_scene.h"

// How a geom moves in one step, by its velocity at the start.
typedef struct lane_motion {
    real3 slide, turn; // m, of its centre; rad
    real spin, most;   // m: of a point of its surface by the rotation; in all, at most
    mask fast;
} lane_motion;

// Spheres do not turn; planes do not move.
LANE_FN lane_motion motion_of_geom(const lane_model *m, const lane_data *d, int geom, const lane_geom *g)
{
    lane_motion motion = {zero3(), zero3(), R(0.0), R(0.0), nowhere()};
    int type = m->geom_type[geom], body = m->geom_bodyid[geom];
    if (type == ORR_GEOM_PLANE || m->body_weldid[body] == 0) {
        return motion;
    }
    real step = R(m->opt.timestep);
    spatial v = load_spatial(d->cvel, body);
    motion.slide = scale3(velocity_at(v, arm_to(m, d, body, g->pos)), step);
    if (type != ORR_GEOM_SPHERE) {
        motion.turn = scale3(v.r, step);
        motion.spin = length3(motion.turn) * geom_rbound(m, d, geom);
    }
    motion.most = length3(motion.slide) + motion.spin;
    real3 centre, half = lane_box(m, g, geom, &centre);
    motion.fast = motion.most > min_(half.x, min_(half.y, half.z));
    return motion;
}

FN int can_speculate(const lane_model *m, const orr_pair *pair)
{
    int one = m->geom_type[pair->geom1], two = m->geom_type[pair->geom2];
    return one != ORR_GEOM_HFIELD && two <= ORR_GEOM_MESH && two != ORR_GEOM_PLANE;
}

// The lanes in which the spheres around two geoms meet within the step.
LANE_FN mask spheres_will_meet(const lane_model *m, const lane_data *d, const orr_pair *pair,
                               const lane_geom *a, const lane_geom *b, const lane_motion motion[2])
{
    real3 between = sub3(b->pos, a->pos), slide = sub3(motion[1].slide, motion[0].slide);
    real reach = R(pair->margin) + geom_rbound(m, d, pair->geom2);
    if (m->geom_type[pair->geom1] == ORR_GEOM_PLANE) {
        real height = dot3(between, a->frame.z);
        return min_(height, height + dot3(slide, a->frame.z)) <= reach;
    }
    reach = reach + geom_rbound(m, d, pair->geom1);
    real share = -dot3(between, slide) / max_(dot3(slide, slide), R(LANE_TINY));
    real3 nearest = add_scaled3(between, slide, clamp_(share, R(0.0), R(1.0)));
    return dot3(nearest, nearest) <= reach * reach;
}

FN convex_motion motion_in(const lane_motion *motion, int lane)
{
    convex_motion of;
    of.slide = point_in(&motion->slide, lane);
    of.turn = point_in(&motion->turn, lane);
    of.spin = value_in(&motion->spin, lane);
    of.most = value_in(&motion->most, lane);
    return of;
}

// The distance at which a contact takes 1 - time of the speed [m per step] in this step, so that the rest
// ends it at the margin.
LANE_FN double speculative_distance(const lane_model *m, const orr_pair *pair, double time, double speed)
{
    uniform_real solref[ORR_NREF], solimp[ORR_NIMP];
    for (int k = 0; k < ORR_NREF; k++) {
        solref[k] = (uniform_real)pair->solref[k];
    }
    for (int k = 0; k < ORR_NIMP; k++) {
        solimp[k] = (uniform_real)pair->solimp[k];
    }
    lane_impedance at = impedance_of(m, solref, solimp, R(0.0));
    double step = m->opt.timestep, most = fmin(fmax(pair->solimp[1], 1e-4), 0.9999);
    double damping = step * (double)at.damping * most;
    double stiffness = step * step * (double)at.stiffness * most * most;
    if (stiffness < 1e-15) { // no distance has an effect: one of full impedance
        return pair->includemargin - pair->solimp[2];
    }
    return pair->includemargin - (1.0 - time - damping) / stiffness * speed;
}

// The lanes of `where` in which a geom that may touch the body of one of the pair is in its way, between the
// point where it will touch and the one where they meet.
LANE_FN mask sight_blocked(const lane_model *m, const lane_data *d, const orr_pair *pair, const real3 on[2],
                           real3 meeting, mask where)
{
    const orr_plan *plan = m->plan;
    mask blocked = nowhere();
    for (int side = 0; side < 2; side++) {
        int body = m->geom_bodyid[side ? pair->geom2 : pair->geom1];
        const uint32_t *meets = plan->meets + (int64_t)body * plan->meets_words;
        real3 way = sub3(meeting, on[side]);
        real far = length3(way);
        mask looks = and_(where, far > R(LANE_TINY));
        for (int word = 0; word < plan->meets_words && any(looks); word++) {
            for (uint32_t left = meets[word]; left != 0; left &= left - 1) {
                int geom = 32 * word + lowest_bit(left);
                if (geom == pair->geom1 || geom == pair->geom2) {
                    continue;
                }
                lane_ray ray;
                cast_ray_at_geom(m, d, geom, on[side], normalise3(way), R(LANE_HUGE), &ray);
                blocked = or_(blocked, and_(looks, ray.nearest <= far));
            }
        }
    }
    return blocked;
}

// The k-th contacts of all lanes.
typedef struct lane_speculation {
    real found, distance;
    real3 pos, normal, on[2], meeting;
} lane_speculation;

FN void put_speculation(lane_speculation *to, int lane, const convex_speculation *from, double distance)
{
    put_in(&to->found, lane, 1.0);
    put_in(&to->distance, lane, distance);
    put_point(&to->pos, lane, from->pos);
    put_point(&to->normal, lane, from->normal);
    put_point(&to->on[0], lane, from->on[0]);
    put_point(&to->on[1], lane, from->on[1]);
    put_point(&to->meeting, lane, from->meeting);
}

// The contacts of impacts in the lanes of `fast`; returns how many the block has.
LANE_FN int find_speculations(const lane_model *m, const lane_data *d, const orr_pair *pair,
                              const lane_geom *a, const lane_geom *b, const lane_motion motion[2], mask fast,
                              lane_speculation of[4])
{
    convex_search search = search_of(m, pair);
    search.margin = pair->includemargin;
    int most = 0;
    for (uint32_t left = lanes_of(fast); left != 0; left &= left - 1) {
        int lane = lowest_bit(left);
        convex_shape one = shape_in(m, d, a, pair->geom1, lane), two = shape_in(m, d, b, pair->geom2, lane);
        convex_frame start[2] = {one.frame, two.frame};
        convex_motion moves[2] = {motion_in(&motion[0], lane), motion_in(&motion[1], lane)};
        convex_impact impact;
        convex_speculation hits[4];
        if (!find_impact(&one, &two, moves, &search, &impact)) {
            continue;
        }
        int count = impact_contacts(&one, &two, start, moves, &search, &impact, hits);
        double distance = speculative_distance(m, pair, impact.time, impact.speed);
        for (; most < count; most++) {
            lane_speculation none = {R(0.0), R(0.0), a->pos, axis3(2), {a->pos, a->pos}, a->pos};
            of[most] = none;
        }
        for (int k = 0; k < count; k++) {
            put_speculation(&of[k], lane, &hits[k], distance);
        }
    }
    return most;
}

// Adds the contacts of a pair in the lanes of `where` in which it has none below the margin; `first`: the
// first of those it has. Contacts in the gap there are left out.
LANE_FN void speculate(const lane_model *m, lane_data *d, int index, int first, mask where)
{
    const orr_pair *pair = lane_pair(m, d, index);
    if (!can_speculate(m, pair)) {
        return;
    }
    lane_geom a = load_geom(m, d, pair->geom1), b = load_geom(m, d, pair->geom2);
    lane_motion motion[2] = {motion_of_geom(m, d, pair->geom1, &a), motion_of_geom(m, d, pair->geom2, &b)};
    where = and_(where, or_(motion[0].fast, motion[1].fast));
    if (!any(where)) {
        return;
    }
    where = and_(where, spheres_will_meet(m, d, pair, &a, &b, motion));
    for (int i = first; i < d->contact_count; i++) {
        where = and_(where, d->contact_dist[i] >= R(pair->includemargin));
    }
    lane_speculation of[4];
    int own = d->contact_count, count = find_speculations(m, d, pair, &a, &b, motion, where, of);
    for (int k = 0; k < count; k++) {
        mask found = and_(where, of[k].found > R(0.5));
        for (int i = first; i < own && k == 0; i++) {
            d->contact_dist[i] = sel(found, R(LANE_HUGE), d->contact_dist[i]);
        }
        found = and_(found, not_(sight_blocked(m, d, pair, of[k].on, of[k].meeting, found)));
        if (any(found)) {
            place_contact(m, d, index, of[k].distance, of[k].pos, of[k].normal, no_tangent(), found, found,
                          found);
        }
    }
}
