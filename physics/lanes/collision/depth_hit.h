// Of the faces on which a search of lane_depth.h has ended: the contacts, in double, half of the lanes at
// once. Where faces of the difference lie in a plane up to rounding, as those of a hull of fine triangles,
// the search in float may have ended at corners with a vertex beyond: such a face is moved on to it.
#pragma once

#include "physics/lanes/collision/lane_depth.h"

#if ORR_LANES > 1

enum { DEPTH_REFINEMENTS = 8 };

typedef struct wide3 {
    wide_real x, y, z;
} wide3;

// The contacts of all lanes, and what touches.
typedef struct depth_hits {
    double distance[ORR_LANES]; // negative: they overlap
    double pos[3][ORR_LANES], normal[3][ORR_LANES];
    double on[2][3][ORR_LANES];     // the first corner of each geom, in the world
    double corner[2][3][ORR_LANES]; // as in a polytope
    uint32_t found;                 // lanes, a bit each
} depth_hits;

// A vertex of the difference, the points of the two geoms, and which they are. Places are against that of the
// first geom.
typedef struct wide_vertex {
    wide3 p, on[2];
    wide_real corner[2];
} wide_vertex;

// The pairs of half of the lanes.
typedef struct wide_pairs {
    wide3 axis[2][3], between, pos; // pos: of the first geoms
    wide_real rounding;
    int upper;
} wide_pairs;

FN wide3 wide3_of(const real3 *a, int upper)
{
    wide3 r = {wide_of(a->x, upper), wide_of(a->y, upper), wide_of(a->z, upper)};
    return r;
}

FN wide3 wide3_sum(wide3 a, wide3 b)
{
    wide3 r = {a.x + b.x, a.y + b.y, a.z + b.z};
    return r;
}

FN wide3 wide3_difference(wide3 a, wide3 b)
{
    wide3 r = {a.x - b.x, a.y - b.y, a.z - b.z};
    return r;
}

FN wide3 wide3_scaled(wide3 a, wide_real s)
{
    wide3 r = {a.x * s, a.y * s, a.z * s};
    return r;
}

FN wide_real wide3_dot(wide3 a, wide3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

FN wide3 wide3_cross(wide3 a, wide3 b)
{
    wide3 r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    return r;
}

FN wide3 wide3_select(wide_mask m, wide3 a, wide3 b)
{
    wide3 r = {wide_select(m, a.x, b.x), wide_select(m, a.y, b.y), wide_select(m, a.z, b.z)};
    return r;
}

FN wide3 turned_by(const wide3 axis[3], wide3 a)
{
    return wide3_sum(wide3_sum(wide3_scaled(axis[0], a.x), wide3_scaled(axis[1], a.y)),
                     wide3_scaled(axis[2], a.z));
}

LANE_FN void load_pairs(const depth_shapes *s, int upper, wide_pairs *to)
{
    to->upper = upper;
    to->pos = wide3_of(&s->geom[0].pos, upper);
    to->between = wide3_difference(wide3_of(&s->geom[1].pos, upper), to->pos);
    to->rounding = W(1e-12) * wide_of(s->scale, upper);
    for (int side = 0; side < 2; side++) {
        const matrix3 *frame = &s->geom[side].frame;
        to->axis[side][0] = wide3_of(&frame->x, upper);
        to->axis[side][1] = wide3_of(&frame->y, upper);
        to->axis[side][2] = wide3_of(&frame->z, upper);
    }
}

// at: of each geom, in its frame.
FN void set_vertex(const wide_pairs *s, const wide3 at[2], wide_vertex *v)
{
    v->on[0] = turned_by(s->axis[0], at[0]);
    v->on[1] = wide3_sum(s->between, turned_by(s->axis[1], at[1]));
    v->p = wide3_difference(v->on[0], v->on[1]);
}

// The place of the vertex of a hull that is farthest along a direction; the first one of equals.
FN int farthest_place(const orr_extremes *e, point n)
{
    enum { PARTS = ORR_EXTREME_BLOCK / WIDE_LANES };
    int square = extreme_square(e, n), farthest = 0;
    double reach = -1e300;
    for (int block = e->block[square]; block < e->block[square + 1]; block++) {
        const float *at = e->at + (size_t)block * (3 * ORR_EXTREME_BLOCK);
        wide_real along[PARTS], most;
        for (int k = 0; k < PARTS; k++) {
            const float *from = at + k * WIDE_LANES;
            along[k] = W(n.x) * wide_load(from) + W(n.y) * wide_load(from + ORR_EXTREME_BLOCK) +
                       W(n.z) * wide_load(from + 2 * ORR_EXTREME_BLOCK);
            most = k == 0 ? along[0] : wide_select((wide_mask)(along[k] > most), along[k], most);
        }
        most = wide_spread_most(most);
        if (most[0] > reach) {
            uint32_t bits = 0;
            for (int k = 0; k < PARTS; k++) {
                bits |= wide_bits((wide_mask)(along[k] >= most)) << k * WIDE_LANES;
            }
            farthest = block * ORR_EXTREME_BLOCK + lowest_bit(bits | 1u << (ORR_EXTREME_BLOCK - 1));
            reach = most[0];
        }
    }
    return farthest;
}

// The support of a lane's geom along a direction, both in its frame, and which it is.
LANE_FN int corner_along(const depth_shapes *s, int side, int lane, point n, float at[3])
{
    const orr_extremes *e = s->hull[side][lane];
    if (e) {
        int place = farthest_place(e, n);
        unsigned block = (unsigned)place / ORR_EXTREME_BLOCK, in_block = (unsigned)place % ORR_EXTREME_BLOCK;
        for (int axis = 0; axis < 3; axis++) {
            at[axis] = e->at[(3 * block + (unsigned)axis) * ORR_EXTREME_BLOCK + in_block];
        }
        return place;
    }
    const double along[3] = {n.x, n.y, n.z};
    const real3 *half = &s->geom[side].size;
    const float size[3] = {half->x[lane], half->y[lane], half->z[lane]};
    int corner = 0;
    for (int axis = 0; axis < 3; axis++) {
        corner |= (along[axis] >= 0.0) << axis;
        at[axis] = along[axis] >= 0.0 ? size[axis] : -size[axis];
    }
    return corner;
}

// The supports of the difference along n, in the lanes of a bit each.
LANE_FN void wide_support(const depth_shapes *s, const wide_pairs *pairs, const wide3 *n, uint32_t lanes,
                          wide_vertex *to)
{
    wide3 at[2];
    for (int side = 0; side < 2; side++) {
        float found[3][WIDE_LANES] = {{0.0f}};
        double number[WIDE_LANES] = {0.0};
        wide_real along[3];
        for (int axis = 0; axis < 3; axis++) {
            along[axis] = wide3_dot(pairs->axis[side][axis], *n);
            along[axis] = side ? -along[axis] : along[axis];
        }
        for (uint32_t left = lanes; left != 0; left &= left - 1) {
            int lane = lowest_bit(left);
            float corner[3];
            point direction = make_point(along[0][lane], along[1][lane], along[2][lane]);
            number[lane] = corner_along(s, side, lane + pairs->upper * WIDE_LANES, direction, corner);
            for (int axis = 0; axis < 3; axis++) {
                found[axis][lane] = corner[axis];
            }
        }
        at[side] = (wide3){wide_load(found[0]), wide_load(found[1]), wide_load(found[2])};
        memcpy(&to->corner[side], number, sizeof number);
    }
    set_vertex(pairs, at, to);
}

// The corners of the faces on which the search has ended, of the two geoms.
typedef struct lane_face {
    real3 at[3][2]; // in the geoms' frames
    real corner[3][2];
} lane_face;

LANE_FN void gather_faces(const lane_polytope *t, const sint *corners, lane_face *face)
{
    for (int k = 0; k < 3; k++) {
        sint vertex = (*corners >> 8 * k) & I(255);
        sint place = vertex * I(ORR_LANES) + lane_index(), first = vertex * I(3 * ORR_LANES) + lane_index();
        for (int side = 0; side < 2; side++) {
            const float *at = (const float *)t->at[side];
            face->at[k][side] = make_real3(real_gather(at, first), real_gather(at + ORR_LANES, first),
                                           real_gather(at + 2 * ORR_LANES, first));
            face->corner[k][side] = real_gather((const float *)t->corner[side], place);
        }
    }
}

LANE_FN void load_face(const lane_face *from, const wide_pairs *s, wide_vertex face[3])
{
    for (int k = 0; k < 3; k++) {
        wide3 at[2] = {wide3_of(&from->at[k][0], s->upper), wide3_of(&from->at[k][1], s->upper)};
        face[k].corner[0] = wide_of(from->corner[k][0], s->upper);
        face[k].corner[1] = wide_of(from->corner[k][1], s->upper);
        set_vertex(s, at, &face[k]);
    }
}

// Along the outward normal of a face, as long as twice its area.
FN wide3 area_of(const wide_vertex *a, const wide_vertex *b, const wide_vertex *c)
{
    return wide3_cross(wide3_difference(b->p, a->p), wide3_difference(c->p, a->p));
}

// How large the triangles are that the point of a face's plane closest to the origin forms with its sides,
// each opposite a corner, times the length of n, which is along the normal.
FN void triangles_around_foot(const wide_vertex *const face[3], wide3 n, wide_real weight[3])
{
    wide3 foot = wide3_scaled(n, wide3_dot(n, face[0]->p) / wide3_dot(n, n)), to[3];
    for (int k = 0; k < 3; k++) {
        to[k] = wide3_difference(face[k]->p, foot);
    }
    for (int k = 0; k < 3; k++) {
        weight[k] = wide3_dot(wide3_cross(to[(k + 1) % 3], to[(k + 2) % 3]), n);
    }
}

// Replaces a corner of the faces in some lanes by vertices beyond them, so that they are still the closest.
// outward: as area_of. Returns the lanes in which a corner was the one; there may be none where the foot is
// in another face of the same plane.
LANE_FN uint32_t move_faces_on(wide_vertex face[3], const wide_vertex *beyond, const wide3 *outward,
                               uint32_t lanes)
{
    wide_mask left = wide_lanes(lanes);
    for (int k = 0; k < 3; k++) {
        const wide_vertex *next[3] = {&face[0], &face[1], &face[2]};
        wide_real weight[3];
        next[k] = beyond;
        wide3 n = area_of(next[0], next[1], next[2]);
        triangles_around_foot(next, n, weight);
        wide_mask fits = (wide_mask)(wide3_dot(n, *outward) > W(1e-60)) & (wide_mask)(weight[0] >= W(0.0)) &
                         (wide_mask)(weight[1] >= W(0.0)) & (wide_mask)(weight[2] >= W(0.0));
        fits &= left;
        face[k].p = wide3_select(fits, beyond->p, face[k].p);
        for (int side = 0; side < 2; side++) {
            face[k].on[side] = wide3_select(fits, beyond->on[side], face[k].on[side]);
            face[k].corner[side] = wide_select(fits, beyond->corner[side], face[k].corner[side]);
        }
        left &= ~fits;
    }
    return lanes & ~wide_bits(left);
}

FN void store_wide(double *to, const wide_pairs *s, wide_real a)
{
    memcpy(to + s->upper * WIDE_LANES, &a, sizeof a);
}

FN void store_wide3(double to[3][ORR_LANES], const wide_pairs *s, wide3 a)
{
    store_wide(to[0], s, a.x);
    store_wide(to[1], s, a.y);
    store_wide(to[2], s, a.z);
}

// The contacts at the feet of the origin on faces.
LANE_FN void store_hits(const wide_pairs *s, const wide_vertex face[3], depth_hits *hits)
{
    wide3 n = area_of(&face[0], &face[1], &face[2]), on = {W(0.0), W(0.0), W(0.0)};
    wide_real weight[3], length = wide_sqrt(wide3_dot(n, n));
    const wide_vertex *const corners[3] = {&face[0], &face[1], &face[2]};
    triangles_around_foot(corners, n, weight);
    for (int k = 0; k < 3; k++) {
        on = wide3_sum(on, wide3_scaled(wide3_sum(face[k].on[0], face[k].on[1]), weight[k]));
        for (int side = 0; side < 2; side++) {
            store_wide(hits->corner[side][k], s, face[k].corner[side]);
        }
    }
    on = wide3_scaled(on, W(0.5) / (weight[0] + weight[1] + weight[2]));
    store_wide(hits->distance, s, -wide3_dot(n, face[0].p) / length);
    store_wide3(hits->normal, s, wide3_scaled(n, W(1.0) / length));
    store_wide3(hits->pos, s, wide3_sum(on, s->pos));
    for (int side = 0; side < 2; side++) {
        store_wide3(hits->on[side], s, wide3_sum(face[0].on[side], s->pos));
    }
}

// The contacts in the lanes in which no vertex is beyond the face that the search has found, or beyond one to
// which it can be moved on.
LANE_FN void find_hits(const depth_shapes *s, const lane_polytope *t, const depth_search *depth,
                       depth_hits *hits)
{
    lane_face faces;
    mask flat = and_(depth->found, not_(s->refined > R(0.0)));
    gather_faces(t, &depth->corners, &faces);
    hits->found = 0;
    for (int upper = 0; upper < 2; upper++) {
        uint32_t lanes = mask_bits(flat) >> upper * WIDE_LANES & ((1u << WIDE_LANES) - 1), found = 0;
        if (lanes == 0) {
            continue;
        }
        wide_pairs pairs;
        wide_vertex face[3], beyond;
        load_pairs(s, upper, &pairs);
        load_face(&faces, &pairs, face);
        for (int k = 0; lanes != 0 && k < DEPTH_REFINEMENTS; k++) {
            wide3 n = area_of(&face[0], &face[1], &face[2]);
            wide_real area = wide_sqrt(wide3_dot(n, n));
            lanes &= wide_bits((wide_mask)(area > W(1e-30)));
            wide_support(s, &pairs, &n, lanes, &beyond);
            wide_real height = wide3_dot(n, wide3_difference(beyond.p, face[0].p));
            uint32_t done = lanes & wide_bits((wide_mask)(height <= pairs.rounding * area));
            found |= done;
            lanes &= ~done;
            if (lanes != 0) {
                lanes &= move_faces_on(face, &beyond, &n, lanes);
            }
        }
        store_hits(&pairs, face, hits);
        hits->found |= found << upper * WIDE_LANES;
    }
}
#endif
