// The depth of pairs of boxes and hulls in all lanes at once: few worlds of a block need that of a pair, so
// that worlds of several pairs share a search. Pairs wait until its lanes are full, and with them all pairs
// that come later, as contacts are in the order of pairs.
#pragma once

#include "physics/lanes/collision/depth_hit.h"
#include "physics/lanes/collision/per_lane.h"

enum { DEPTH_QUEUE = 64 };

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
// Are both geoms of a pair polyhedra that touch only where they overlap?
FN int overlaps_in_lanes(const lane_model *m, const orr_pair *pair)
{
    return pair->margin <= 0.0 && has_flush_faces(m->geom_type[pair->geom1], m->geom_type[pair->geom2]);
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
            int mesh = m->geom_type[of[side]] == ORR_GEOM_MESH;
            const orr_extremes *e = mesh ? &m->plan->hull[m->geom_dataid[of[side]]].vertices : NULL;
            s->hull[side][lane[world]] = e;
            s->cells[side][lane[world]] = e ? (float)e->cells : 0.0f;
        }
    }
    real scale = geom_rbound(m, d, of[0]) + geom_rbound(m, d, of[1]);
    real3 between = sub3(geom[1].pos, geom[0].pos);
    copy_lanes(&s->scale, &scale, 1, same, others, lane);
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

// The contacts in a lane whose depth has been searched.
LANE_FN int contacts_of_depth(const lane_model *m, const orr_pair *pair, const depth_found *found, int lane,
                              convex_shape *a, convex_shape *b, convex_hit *hits)
{
    const depth_search *depth = &found->search;
    convex_search search = touching_search(m, pair, a, b);
    convex_witness witness;
    if (depth->apart[lane]) {
        hits->normal = point_in(&depth->normal, lane);
        return 0;
    }
    if (found->hits.found >> lane & 1) {
        hit_of_lane(&found->hits, lane, a, b, hits, &witness);
    } else {
        convex_result result =
            grow_lane(&found->polytope, depth, lane, a, b, search.iterations, hits, &witness);
        if (result != CONVEX_OVERLAP) {
            return result == CONVEX_APART ? 0 : convex_contacts(a, b, &search, hits);
        }
    }
    return hits->distance < search.margin ? further_contacts(a, b, &search, &witness, hits) : 0;
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
        int count = contacts_of_depth(m, pair, found, lane, &a, &b, hits);
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
