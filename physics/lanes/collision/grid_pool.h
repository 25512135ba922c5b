// The points of a shape where its distance from a distance grid can be least, all lanes at once: centres,
// corners, minima along edges; and where edges leave a surface that they lie on. The deepest and up to three
// more that are spread out are kept.
#pragma once

#include "physics/lanes/collision/grid.h"
#include "physics/lanes/collision/primitive.h"

// Box: 8 corners; 12 edges and 2 diagonals with up to 4 minima and 2 points where they leave the surface;
// 6 faces.
enum { GRID_POOL = 98, GRID_EDGE_POINTS = 4, GRID_CHUNK = 32 };

// Points of a shape, in the grid's frame, and their distances: LANE_HUGE in lanes that do not have one. What
// is offered must not depend on other lanes but for that.
typedef struct grid_pool {
    const lane_grid *grid;
    real margin; // m, below which there is a contact
    real radius; // m, of balls around the points, which the distances do not include
    int count;
    real distance[GRID_POOL];
    real3 at[GRID_POOL];
} grid_pool;

LANE_FN void grid_offer(grid_pool *pool, const real3 *at, const mask *found)
{
    real beyond, distance = grid_distance(pool->grid, at, &beyond);
    pool->at[pool->count] = *at;
    pool->distance[pool->count] = sel(*found, distance, R(LANE_HUGE));
    pool->count++;
}

// Offers the point of a ball that is deepest. Far from the surface a grid is coarse: of a large ball a
// smaller one inside is measured, which touches it from within where it is deepest. That direction is
// searched from the gradient at the last point, which is right above flat surfaces, and from the surface
// nearest to it, which is right above edges; the deeper of both is kept.
LANE_FN void grid_offer_ball(grid_pool *pool, const real3 *centre, const real *radius, const mask *found)
{
    real inward = *radius - pool->radius, beyond;
    real3 best = *centre;
    if (any(inward > R(0.0))) {
        real3 at = *centre;
        real least = R(LANE_HUGE);
        for (int k = 0; k < 2; k++) {
            real distance = grid_distance(pool->grid, &at, &beyond);
            real3 normal = grid_normal(pool->grid, &at);
            real3 from_surface = unit3(sub3(*centre, add_scaled3(at, normal, -distance)));
            real3 along = add_scaled3(*centre, normal, -inward),
                  towards = add_scaled3(*centre, from_surface, -inward);
            real there = grid_distance(pool->grid, &along, &beyond),
                 here = grid_distance(pool->grid, &towards, &beyond);
            at = select3(here < there, towards, along);
            here = min_(here, there);
            best = select3(here < least, at, best);
            least = min_(least, here);
        }
    }
    grid_offer(pool, &best, found);
}

// Keeps the deepest point, then those that are far from the ones kept and deep; at most `most`.
LANE_FN void grid_reduce(grid_pool *pool, int most)
{
    real cell = R(pool->grid->cell), slack = R(0.02) * cell;
    real spread[GRID_POOL], kept_distance[ORR_GRID_CONTACTS];
    real3 kept[ORR_GRID_CONTACTS];
    for (int i = 0; i < pool->count; i++) {
        spread[i] = R(LANE_HUGE);
    }
    for (int k = 0; k < most; k++) {
        real best = k == 0 ? R(-LANE_HUGE) : R(0.0), distance = R(LANE_HUGE);
        real3 at = pool->at[0];
        for (int i = 0; i < pool->count; i++) {
            real deep = pool->margin + pool->radius - pool->distance[i];
            real score = -pool->distance[i];
            if (k > 0) {
                real3 apart = sub3(pool->at[i], kept[k - 1]);
                spread[i] = min_(spread[i], dot3(apart, apart));
                real weight = deep + slack;
                mask possible = and_(deep > R(0.0), spread[i] > R(0.0625) * cell * cell);
                score = sel(possible, spread[i] * weight * weight, R(0.0));
            }
            mask better = and_(score > best, pool->distance[i] < R(0.5 * LANE_HUGE));
            best = sel(better, score, best);
            distance = sel(better, pool->distance[i], distance);
            at = select3(better, pool->at[i], at);
        }
        kept[k] = at;
        kept_distance[k] = distance;
    }
    pool->count = most;
    for (int k = 0; k < most; k++) {
        pool->at[k] = kept[k];
        pool->distance[k] = kept_distance[k];
    }
}

// A segment that is divided evenly into `count` + 1 parts, and the distances of the ends of these.
typedef struct grid_segment {
    real3 from, along;
    int count;
    real radius; // m, of balls that lie along it; of an edge 0
    mask near;   // lanes in which it can touch
    real distance[GRID_EDGE_POINTS + 2];
} grid_segment;

FN real3 grid_segment_point(const grid_segment *s, real part)
{
    return add_scaled3(s->from, s->along, part * (R(1.0) / R(s->count + 1)));
}

// Offers the minima of the distance, refined by a parabola.
LANE_FN void grid_offer_minima(grid_pool *pool, const grid_segment *s)
{
    real least = R(0.001) * R(pool->grid->cell); // less is a flat surface
    for (int i = 1; i <= s->count; i++) {
        real before = s->distance[i - 1] - s->distance[i], behind = s->distance[i + 1] - s->distance[i];
        mask lowest = and_(s->near, and_(and_(before > R(0.0), behind >= R(0.0)), before + behind > least));
        if (any(lowest)) {
            real shift = R(0.5) * (before - behind) / max_(before + behind, least);
            real3 at = grid_segment_point(s, R(i) + shift);
            grid_offer_ball(pool, &at, &s->radius, &lowest);
        }
    }
}

// Where a segment leaves a surface: between the points `in`, which touches it, and `out`.
typedef struct grid_leaving {
    mask found;
    real in, out;
} grid_leaving;

// Offers a point where the segment leaves the surface, found by halving to half a cell. It lies a cell
// within, where the normal is not yet that of the surface's edge.
LANE_FN void grid_offer_leaving(grid_pool *pool, const grid_segment *s, const grid_leaving *leaving)
{
    enum { HALVINGS = 8 };
    real cell = R(s->count + 1) * R(pool->grid->cell) / max_(length3(s->along), R(LANE_TINY)); // parts
    real start = leaving->in, in = leaving->in, out = leaving->out;
    for (int k = 0; k < HALVINGS; k++) {
        mask wide = and_(leaving->found, abs_(out - in) > R(0.5) * cell);
        if (!any(wide)) {
            break;
        }
        real middle = R(0.5) * (in + out), beyond;
        real3 at = grid_segment_point(s, middle);
        mask touches = grid_distance(pool->grid, &at, &beyond) < s->radius;
        in = sel(and_(wide, touches), middle, in);
        out = sel(and_(wide, not_(touches)), middle, out);
    }
    real back = min_(cell, abs_(in - start));
    real3 at = grid_segment_point(s, sel(out > in, in - back, in + back));
    grid_offer_ball(pool, &at, &s->radius, &leaving->found);
}

// Offers the first and the last of the points where the segment leaves the surface, or enters it. A shape
// that lies flat has no minimum there, and would be held at its corners alone. Left out are those within a
// cell of an end, which is offered anyway: from there the distance grows by the length of a step, or nearly.
LANE_FN void grid_offer_leavings(grid_pool *pool, const grid_segment *s)
{
    grid_leaving first = {nowhere(), R(0.0), R(0.0)}, last = first;
    real step = length3(s->along) * (R(1.0) / R(s->count + 1));
    for (int i = 0; i <= s->count; i++) {
        mask touches = s->distance[i] < s->radius, then = s->distance[i + 1] < s->radius;
        mask leaves = and_(s->near, and_(or_(touches, then), not_(and_(touches, then))));
        real out_distance = sel(touches, s->distance[i + 1], s->distance[i]) - s->radius;
        mask at_end = i == 0 ? touches : i == s->count ? then : nowhere();
        leaves = and_(leaves, or_(not_(at_end), step - out_distance > R(pool->grid->cell)));
        real in = sel(touches, R(i), R(i + 1)), out = sel(touches, R(i + 1), R(i));
        mask later = and_(leaves, first.found), once = and_(leaves, not_(first.found));
        last.in = sel(later, in, last.in);
        last.out = sel(later, out, last.out);
        last.found = or_(last.found, later);
        first.in = sel(once, in, first.in);
        first.out = sel(once, out, first.out);
        first.found = or_(first.found, once);
    }
    if (any(first.found)) {
        grid_offer_leaving(pool, s, &first);
    }
    if (any(last.found)) {
        grid_offer_leaving(pool, s, &last);
    }
}

// Measures a segment at `count` points that divide it evenly, and at its ends, in the lanes of `wanted` in
// which it is near. Returns whether there are any.
LANE_FN int grid_measure_segment(const grid_pool *pool, grid_segment *s, const real3 *from, const real3 *to,
                                 int count, const real *radius, const mask *wanted)
{
    s->from = *from;
    s->along = sub3(*to, *from);
    s->count = count;
    s->radius = *radius;
    if (!any(*wanted)) {
        return 0;
    }
    real3 at = add_scaled3(s->from, s->along, R(0.5));
    real beyond, reach = R(0.5) * length3(s->along) + s->radius + pool->margin;
    // the distance grows by at most the length of a step; see collide_grid
    real middle = grid_distance(pool->grid, &at, &beyond);
    s->near = and_(*wanted, middle - R(2.0) * beyond < reach + R(2.0) * R(pool->grid->cell));
    if (!any(s->near)) {
        return 0;
    }
    for (int i = 0; i < count + 2; i++) {
        at = grid_segment_point(s, R(i));
        s->distance[i] = grid_distance(pool->grid, &at, &beyond);
    }
    return 1;
}

LANE_FN void grid_offer_edge(grid_pool *pool, const real3 *from, const real3 *to, int count,
                             const mask *wanted)
{
    grid_segment s;
    real none = R(0.0);
    if (grid_measure_segment(pool, &s, from, to, count, &none, wanted)) {
        grid_offer_minima(pool, &s);
        grid_offer_leavings(pool, &s);
    }
}

// How many points divide a segment so that bumps four cells wide are found.
FN int grid_points_along(const lane_grid *g, double length)
{
    double points = ceil(length / (4.0 * (double)g->cell));
    return points < 1.0 ? 1 : points > GRID_EDGE_POINTS ? GRID_EDGE_POINTS : (int)points;
}

// Both ends and minima along the axis; unless both ends touch, also where the lowest line leaves the surface:
// that on which the balls lie that grid_offer_ball measures above a flat one.
LANE_FN void grid_offer_capsule(const lane_model *m, grid_pool *pool, const lane_geom *capsule, int geom)
{
    mask all = everywhere();
    real radius = capsule->size.x;
    real3 ends[2];
    for (int end = 0; end < 2; end++) {
        ends[end] = add_scaled3(capsule->pos, capsule->frame.z, end ? -capsule->size.y : capsule->size.y);
        grid_offer_ball(pool, &ends[end], &radius, &all);
    }
    mask second = pool->distance[1] < pool->distance[0];
    real3 down = select3(second, sub3(pool->at[1], ends[1]), sub3(pool->at[0], ends[0]));
    grid_segment s;
    int points = grid_points_along(pool->grid, 2.0 * (double)m->geom_size[3 * geom + 1]);
    if (grid_measure_segment(pool, &s, &ends[0], &ends[1], points, &radius, &all)) {
        grid_offer_minima(pool, &s);
    }
    real3 from = add3(ends[0], down), to = add3(ends[1], down);
    mask overhangs = max_(pool->distance[0], pool->distance[1]) >= pool->radius;
    if (grid_measure_segment(pool, &s, &from, &to, points, &pool->radius, &overhangs)) {
        grid_offer_leavings(pool, &s);
    }
}

// Repeats: the point of the ellipsoid that is farthest against the gradient at the last one.
LANE_FN void grid_offer_ellipsoid(grid_pool *pool, const lane_geom *ellipsoid)
{
    mask all = everywhere();
    real3 at = ellipsoid->pos, size = ellipsoid->size;
    for (int k = 0; k < 3; k++) {
        real3 normal = grid_normal(pool->grid, &at), local = rotate_inverse(ellipsoid->frame, normal);
        local = make_real3(local.x * size.x, local.y * size.y, local.z * size.z);
        real scale = R(-1.0) / max_(length3(local), R(LANE_TINY));
        local = make_real3(local.x * size.x * scale, local.y * size.y * scale, local.z * size.z * scale);
        at = add3(ellipsoid->pos, rotate(ellipsoid->frame, local));
        grid_offer(pool, &at, &all);
    }
}

// The direction from the axis of a cylinder to its lowest point in the plane of `centre`, across the axis.
LANE_FN void grid_lowest_side(const grid_pool *pool, const lane_geom *cylinder, const real3 *centre,
                              real3 *down)
{
    real3 at = *centre, axis = cylinder->frame.z;
    for (int k = 0; k < 2; k++) {
        real3 normal = grid_normal(pool->grid, &at);
        real3 across = add_scaled3(scale3(normal, R(-1.0)), axis, dot3(normal, axis));
        mask tilted = dot3(across, across) > R(1e-6);
        *down = select3(tilted, unit3(across), cylinder->frame.x);
        at = add_scaled3(*centre, *down, cylinder->size.x);
    }
}

// Of both rims the lowest point and those a quarter around from it, both centres, the lowest line of the
// side, and two diameters of the deeper cap (grid_offer_diagonals).
LANE_FN void grid_offer_cylinder(const lane_model *m, grid_pool *pool, const lane_geom *cylinder, int geom)
{
    mask all = everywhere();
    real radius = cylinder->size.x;
    real3 axis = cylinder->frame.z, down, ends[2];
    int first = pool->count;
    for (int end = 0; end < 2; end++) {
        real3 cap = add_scaled3(cylinder->pos, axis, end ? -cylinder->size.y : cylinder->size.y);
        grid_lowest_side(pool, cylinder, &cap, &down);
        real3 side = cross3(axis, down);
        for (int k = 0; k < 4; k++) {
            real3 at = add_scaled3(cap, k % 2 ? side : down, k < 2 ? radius : -radius);
            grid_offer(pool, &at, &all);
        }
        grid_offer(pool, &cap, &all);
        ends[end] = cap;
    }
    // of each cap five are in the pool, its centre last
    mask second = pool->distance[first + 9] < pool->distance[first + 4];
    real highest = R(-LANE_HUGE);
    real3 rim[4];
    for (int k = first; k < first + 4; k++) {
        highest = max_(highest, sel(second, pool->distance[k + 5], pool->distance[k]));
        rim[k - first] = select3(second, pool->at[k + 5], pool->at[k]);
    }
    mask overhangs = highest >= R(0.0);
    for (int k = 0; k < 2; k++) {
        grid_offer_edge(pool, &rim[k], &rim[k + 2], GRID_EDGE_POINTS, &overhangs);
    }
    grid_lowest_side(pool, cylinder, &cylinder->pos, &down);
    for (int end = 0; end < 2; end++) {
        ends[end] = add_scaled3(ends[end], down, radius);
    }
    int points = grid_points_along(pool->grid, 2.0 * (double)m->geom_size[3 * geom + 1]);
    grid_offer_edge(pool, &ends[0], &ends[1], points, &all);
}

FN real3 grid_box_corner(const lane_geom *box, int corner)
{
    real3 size = box->size;
    real3 local = make_real3(corner & 1 ? size.x : -size.x, corner & 2 ? size.y : -size.y,
                             corner & 4 ? size.z : -size.z);
    return add3(box->pos, rotate(box->frame, local));
}

// Both diagonals of the face whose centre is deepest, unless all of its corners touch: they reach the edge of
// a surface that ends below the face, or a post that its edges pass by. corner, centre: where the eight and
// the six are in the pool.
LANE_FN void grid_offer_diagonals(grid_pool *pool, int corner, int centre)
{
    real least = R(LANE_HUGE), highest = R(0.0);
    real3 ends[4] = {pool->at[corner], pool->at[corner], pool->at[corner], pool->at[corner]};
    for (int face = 0; face < 6; face++) {
        int bit = 1 << face / 2, next = bit == 4 ? 1 : 2 * bit, first = corner + (face % 2 ? bit : 0);
        mask deepest = pool->distance[centre + face] < least;
        least = sel(deepest, pool->distance[centre + face], least);
        real here = R(-LANE_HUGE);
        for (int k = 0; k < 4; k++) {
            int at = first + (k & 1 ? next : 0) + (k & 2 ? 7 - bit - next : 0);
            ends[k] = select3(deepest, pool->at[at], ends[k]);
            here = max_(here, pool->distance[at]);
        }
        highest = sel(deepest, here, highest);
    }
    mask overhangs = highest >= R(0.0);
    grid_offer_edge(pool, &ends[0], &ends[3], GRID_EDGE_POINTS, &overhangs);
    grid_offer_edge(pool, &ends[1], &ends[2], GRID_EDGE_POINTS, &overhangs);
}

LANE_FN void grid_offer_box(const lane_model *m, grid_pool *pool, const lane_geom *box, int geom)
{
    mask all = everywhere();
    real3 corners[8];
    int first = pool->count;
    for (int corner = 0; corner < 8; corner++) {
        corners[corner] = grid_box_corner(box, corner);
        grid_offer(pool, &corners[corner], &all);
    }
    for (int axis = 0; axis < 3; axis++) {
        int points = grid_points_along(pool->grid, 2.0 * (double)m->geom_size[3 * geom + axis]);
        for (int corner = 0; corner < 8; corner++) {
            if (!(corner >> axis & 1)) {
                grid_offer_edge(pool, &corners[corner], &corners[corner | 1 << axis], points, &all);
            }
        }
    }
    int centres = pool->count;
    for (int face = 0; face < 6; face++) { // between opposite corners
        int bit = 1 << face / 2;
        real3 centre = scale3(add3(corners[face % 2 ? bit : 0], corners[face % 2 ? 7 : 7 - bit]), R(0.5));
        grid_offer(pool, &centre, &all);
    }
    grid_offer_diagonals(pool, first, centres);
}

FN real3 grid_hull_vertex(const lane_geom *hull, const uniform_real *vertices, int i)
{
    return add3(hull->pos, rotate(hull->frame, uniform3(vertices, i)));
}

// The vertices of a hull, and minima along edges longer than two cells.
LANE_FN void grid_offer_hull(const lane_model *m, grid_pool *pool, const lane_geom *hull, int geom)
{
    mask all = everywhere();
    int mesh = m->geom_dataid[geom], first = m->mesh_hullvertadr[mesh], count = m->mesh_hullvertnum[mesh];
    const uniform_real *vertices = m->hull_vert + 3 * first;
    for (int i = 0; i < count; i++) {
        if (pool->count >= GRID_CHUNK) { // at the same vertices in all lanes
            grid_reduce(pool, ORR_GRID_CONTACTS);
        }
        real3 at = grid_hull_vertex(hull, vertices, i);
        grid_offer(pool, &at, &all);
    }
    grid_reduce(pool, ORR_GRID_CONTACTS);
    for (int i = 0; i < count; i++) {
        const int32_t *edges = m->hull_edge + m->hull_edgeadr[first + i];
        for (int k = 0; k < m->hull_edgenum[first + i]; k++) {
            const uniform_real *a = vertices + 3 * i, *b = vertices + 3 * edges[k];
            double x = (double)(b[0] - a[0]), y = (double)(b[1] - a[1]), z = (double)(b[2] - a[2]);
            double length = sqrt(x * x + y * y + z * z);
            if (edges[k] > i && length > 2.0 * (double)pool->grid->cell) {
                real3 from = grid_hull_vertex(hull, vertices, i),
                      to = grid_hull_vertex(hull, vertices, edges[k]);
                grid_offer_edge(pool, &from, &to, grid_points_along(pool->grid, length), &all);
                if (pool->count > ORR_GRID_CONTACTS) { // changes nothing in lanes without a minimum
                    grid_reduce(pool, ORR_GRID_CONTACTS);
                }
            }
        }
    }
}

// The radius of the balls that are measured inside those of a shape: two cells, where a grid is fine, and
// more by as much as the shape's are in the surface, so that nothing thin is measured from behind.
LANE_FN real grid_ball_radius(const lane_grid *grid, const lane_geom *shape, int type)
{
    real beyond, least = grid_distance(grid, &shape->pos, &beyond);
    for (int end = 0; end < 2 && type == ORR_GEOM_CAPSULE; end++) {
        real3 at = add_scaled3(shape->pos, shape->frame.z, end ? -shape->size.y : shape->size.y);
        least = min_(least, grid_distance(grid, &at, &beyond));
    }
    return min_(shape->size.x, R(2.0) * R(grid->cell) + max_(shape->size.x - least, R(0.0)));
}

// Offers the points of a shape of a type, in the grid's frame; geom: that of other types than spheres.
LANE_FN void grid_offer_shape(const lane_model *m, grid_pool *pool, const lane_geom *shape, int type,
                              int geom)
{
    mask all = everywhere();
    pool->count = 0;
    pool->radius = R(0.0);
    switch (type) {
    case ORR_GEOM_SPHERE:
        pool->radius = grid_ball_radius(pool->grid, shape, type);
        grid_offer_ball(pool, &shape->pos, &shape->size.x, &all);
        break;
    case ORR_GEOM_CAPSULE:
        pool->radius = grid_ball_radius(pool->grid, shape, type);
        grid_offer_capsule(m, pool, shape, geom);
        break;
    case ORR_GEOM_ELLIPSOID:
        grid_offer_ellipsoid(pool, shape);
        break;
    case ORR_GEOM_CYLINDER:
        grid_offer_cylinder(m, pool, shape, geom);
        break;
    case ORR_GEOM_BOX:
        grid_offer_box(m, pool, shape, geom);
        break;
    default:
        grid_offer_hull(m, pool, shape, geom);
        break;
    }
}
