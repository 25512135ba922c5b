// The depth of pairs of boxes and hulls in all lanes at once: few worlds of a block need that of a pair, so
// that worlds of several pairs share a search. Pairs wait until its lanes are full, and with them all pairs
// that come later, as contacts are in the order of pairs.
#pragma once

#include "physics/lanes/collision/depth_hit.h"
#include "physics/lanes/collision/per_lane.h"

enum { DEPTH_QUEUE = 64 };

// How many times the usual gap may be left, where the search has ended for want of vertices.
#define DEPTH_REFINED 100.0

typedef struct depth_queue {
#if ORR_LANES > 1
    depth_shapes shapes;
    mask near[DEPTH_QUEUE]; // of each pair: worlds in which its depth is searched, or its geoms are near
    int32_t index[DEPTH_QUEUE], searched[DEPTH_QUEUE];
    uint8_t lane[DEPTH_QUEUE][ORR_LANES]; // of each pair that is searched, by world
#endif
    int32_t count;  // pairs that wait
    uint32_t taken; // lanes, a bit each
} depth_queue;

FN void begin_queue(depth_queue *q)
{
    q->count = 0;
    q->taken = 0;
}

// Collides a pair whose geoms are near.
LANE_FN void collide_near(const lane_model *m, lane_data *d, int i, mask near);

#if ORR_LANES > 1
FN int is_curved(int type)
{
    return type == ORR_GEOM_ELLIPSOID || type == ORR_GEOM_CYLINDER;
}

// Do both geoms of a pair, of kinds whose depth is searched in lanes, touch only where they overlap?
FN int overlaps_in_lanes(const lane_model *m, const orr_pair *pair)
{
    int one = m->geom_type[pair->geom1], two = m->geom_type[pair->geom2];
    int curved = is_curved(one) && (is_curved(two) || two == ORR_GEOM_BOX || two == ORR_GEOM_MESH);
    int hulls = two == ORR_GEOM_MESH && has_flush_faces(one, two);
    return pair->margin <= 0.0 && (curved || hulls);
}

// What depth_shapes knows of a geom: the cells of a hull, or a depth_kind.
FN float depth_cells(int type, const orr_extremes *hull)
{
    return hull                         ? (float)hull->cells
           : type == ORR_GEOM_CYLINDER  ? DEPTH_CYLINDER
           : type == ORR_GEOM_ELLIPSOID ? DEPTH_ELLIPSOID
                                        : DEPTH_BOX;
}

// Copies numbers of worlds: those of `same` to their own lanes, the n-th of `others` to lane[n].
FN void copy_lanes(real *to, const real *from, int count, mask same, uint32_t others, const uint8_t *lane)
{
    for (int k = 0; k < count; k++) {
        to[k] = sel(same, from[k], to[k]);
    }
    for (; others != 0; others &= others - 1) {
        int world = lowest_bit(others);
        for (int k = 0; k < count; k++) {
            to[k][lane[world]] = from[k][world];
        }
    }
}

// Gives the last pair lanes, one for each world of `where`: its own, or one that is free.
LANE_FN void take_lanes(const lane_model *m, const lane_data *d, depth_queue *q, const lane_geom geom[2],
                        mask where)
{
    depth_shapes *s = &q->shapes;
    const orr_pair *pair = lane_pair(m, d, q->index[q->count - 1]);
    const int of[2] = {pair->geom1, pair->geom2};
    if (q->taken == 0) { // lanes that stay free are numbers, too
        memset(s, 0, sizeof *s);
    }
    uint32_t worlds = mask_bits(where), others = worlds & q->taken;
    q->taken |= worlds;
    mask same = where;
    uint8_t *lane = q->lane[q->count - 1];
    for (uint32_t left = worlds; left != 0; left &= left - 1) {
        int world = lowest_bit(left), displaced = others >> world & 1;
        lane[world] = (uint8_t)(displaced ? lowest_bit(~q->taken) : world);
        q->taken |= 1u << lane[world];
        same[world] = displaced ? 0 : same[world];
        for (int side = 0; side < 2; side++) {
            int type = m->geom_type[of[side]];
            const orr_extremes *e =
                type == ORR_GEOM_MESH ? &m->plan->hull[m->geom_dataid[of[side]]].vertices : NULL;
            s->hull[side][lane[world]] = e;
            s->cells[side][lane[world]] = depth_cells(type, e);
        }
    }
    real bound[2] = {geom_rbound(m, d, of[0]), geom_rbound(m, d, of[1])}, scale = bound[0] + bound[1];
    real refined = R(LANE_HUGE);
    for (int side = 0; side < 2; side++) {
        if (is_curved(m->geom_type[of[side]])) {
            refined = min_(refined, R(CONVEX_REFINED) * bound[side]);
        }
    }
    refined = sel(refined < R(LANE_HUGE), refined, R(0.0));
    real3 between = sub3(geom[1].pos, geom[0].pos);
    copy_lanes(&s->scale, &scale, 1, same, others, lane);
    copy_lanes(&s->refined, &refined, 1, same, others, lane);
    copy_lanes(&s->between.x, &between.x, 3, same, others, lane);
    copy_lanes(&s->geom[0].pos.x, &geom[0].pos.x, 2 * sizeof(lane_geom) / sizeof(real), same, others, lane);
}

// What a search of the depth has found.
typedef struct depth_found {
    lane_polytope polytope;
    depth_search search;
    depth_hits hits;
} depth_found;

FN point point_of_lane(const double p[3][ORR_LANES], int lane)
{
    return make_point(p[0][lane], p[1][lane], p[2][lane]);
}

// Which corner of a shape one of a polytope is, as in convex_support.
FN int corner_of_lane(const convex_shape *s, double corner)
{
    return s->hull ? s->hull->vertices.number[(int)corner] : (int)corner;
}

// The contact of a lane, and what touches.
FN void hit_of_lane(const depth_hits *from, int lane, const convex_shape *a, const convex_shape *b,
                    convex_hit *hit, convex_witness *witness)
{
    hit->distance = from->distance[lane];
    hit->pos = point_of_lane(from->pos, lane);
    hit->normal = point_of_lane(from->normal, lane);
    witness->on1 = point_of_lane(from->on[0], lane);
    witness->on2 = point_of_lane(from->on[1], lane);
    for (int k = 0; k < 3; k++) {
        witness->corner1[k] = corner_of_lane(a, from->corner[0][k][lane]);
        witness->corner2[k] = corner_of_lane(b, from->corner[1][k][lane]);
    }
}

// The contact in a lane with a curved geom, and what touches. Returns 0 where the search in double must go
// on.
FN int refine_lane(const depth_found *from, const depth_shapes *shapes, int lane, convex_shape *a,
                   convex_shape *b, convex_hit *hit, convex_witness *witness)
{
    const depth_search *depth = &from->search;
    const lane_polytope *t = &from->polytope;
    for (int k = 0; k < 3; k++) {
        int v = depth->corners[lane] >> 8 * k & 255;
        witness->corner1[k] = corner_of_lane(a, t->corner[0][v][lane]);
        witness->corner2[k] = corner_of_lane(b, t->corner[1][v][lane]);
    }
    double scale = (double)shapes->scale[lane], rounding = 4e-7 * scale;
    double gap = (double)(depth->most[lane] - depth->least[lane]);
    hit->normal = point_direction(point_in(&depth->normal, lane));
    hit->distance = rounding - (double)depth->least[lane];
    return gap < DEPTH_REFINED * (double)shapes->refined[lane] &&
           refine_depth(a, b, gap + 2.0 * rounding, hit, witness);
}

// The contacts in a lane whose depth has been searched.
LANE_FN int contacts_of_depth(const depth_shapes *shapes, const depth_found *found, int lane, convex_shape *a,
                              convex_shape *b, const convex_search *search, convex_hit *hits)
{
    const depth_search *depth = &found->search;
    convex_witness witness;
    if (depth->apart[lane]) {
        hits->normal = point_in(&depth->normal, lane);
        return 0;
    }
    int curved = !has_flat_faces(a) || !has_flat_faces(b);
    if (!curved && found->hits.found >> lane & 1) {
        hit_of_lane(&found->hits, lane, a, b, hits, &witness);
    } else if (!curved || !refine_lane(found, shapes, lane, a, b, hits, &witness)) {
        convex_result result = grow_lane(&found->polytope, depth, lane, a, b, search, hits, &witness);
        if (result != CONVEX_OVERLAP) {
            return result == CONVEX_APART ? 0 : convex_contacts(a, b, search, hits);
        }
    }
    return hits->distance < search->margin ? further_contacts(a, b, search, &witness, hits) : 0;
}

// Adds the contacts of the k-th pair, whose depth has been searched.
LANE_FN void collide_searched(const lane_model *m, lane_data *d, const depth_queue *q, int k,
                              const depth_found *found)
{
    int index = q->index[k];
    const orr_pair *pair = lane_pair(m, d, index);
    lane_hits all;
    all.most = 0;
    for (uint32_t left = mask_bits(q->near[k]); left != 0; left &= left - 1) {
        int world = lowest_bit(left), lane = q->lane[k][world];
        convex_shape a = shape_in(m, d, &q->shapes.geom[0], pair->geom1, lane),
                     b = shape_in(m, d, &q->shapes.geom[1], pair->geom2, lane);
        convex_hit hits[ORR_PAIR_CONTACTS];
        hits[0].normal = make_point(0.0, 0.0, 0.0);
        convex_search search = touching_search(m, pair, &a, &b);
        int count = contacts_of_depth(&q->shapes, found, lane, &a, &b, &search, hits);
        ease_contacts(pair, &search, hits, count);
        put_hits(m, d, index, world, hits, count, &all);
    }
    add_hits(m, d, index, &all);
}
#endif

// Collides all pairs that wait.
LANE_FN void finish_queue(const lane_model *m, lane_data *d, depth_queue *q)
{
#if ORR_LANES > 1
    if (q->count == 0) {
        return;
    }
    depth_found found;
    found.search = find_depth(&q->shapes, &found.polytope, lanes_of_bits(q->taken), m->opt.ccd_iterations);
    find_hits(&q->shapes, &found.polytope, &found.search, &found.hits);
    for (int k = 0; k < q->count; k++) {
        if (q->searched[k]) {
            collide_searched(m, d, q, k, &found);
        } else {
            collide_near(m, d, q->index[k], q->near[k]);
        }
    }
#else
    (void)m;
    (void)d;
#endif
    begin_queue(q);
}

// Collides a pair that is near in some lanes, or lets it wait.
LANE_FN void collide_in_turn(const lane_model *m, lane_data *d, depth_queue *q, int i, mask near)
{
#if ORR_LANES > 1
    const orr_pair *pair = lane_pair(m, d, i);
    int searched = overlaps_in_lanes(m, pair), lanes = 0;
    lane_geom geom[2];
    if (searched) {
        geom[0] = load_geom(m, d, pair->geom1);
        geom[1] = load_geom(m, d, pair->geom2);
        near = must_collide(m, d, i, &geom[0], &geom[1], near);
        lanes = bits_set(mask_bits(near));
        if (lanes == 0) {
            return;
        }
    }
    if (q->count == DEPTH_QUEUE || bits_set(q->taken) + lanes > ORR_LANES) {
        finish_queue(m, d, q);
    }
    if (searched || q->count > 0) {
        q->index[q->count] = i;
        q->near[q->count] = near;
        q->searched[q->count++] = searched;
        if (searched) {
            take_lanes(m, d, q, geom, near);
        }
        return;
    }
#else
    (void)q;
#endif
    collide_near(m, d, i, near);
}
