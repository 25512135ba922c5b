// The points of a shape where its distance from a distance grid can be least, all lanes at once: centres,
// corners, minima along edges. The deepest and up to three more that are spread out are kept.
#pragma once

#include "physics/lanes/collision/grid.h"
#include "physics/lanes/collision/primitive.h"

// Box: 8 corners, 12 edges with up to 4 minima, 6 faces.
enum { GRID_POOL = 64, GRID_EDGE_POINTS = 4, GRID_CHUNK = 32 };

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

// Offers the minima of the distance between the ends of a segment, found among `count` points that divide it
// evenly and refined by a parabola. Balls of a radius lie along it, of an edge 0.
LANE_FN void grid_offer_segment(grid_pool *pool, const real3 *from, const real3 *to, int count,
                                const real *radius)
{
    real3 along = sub3(*to, *from), at = add_scaled3(*from, along, R(0.5));
    real beyond, distance[GRID_EDGE_POINTS + 2], reach = R(0.5) * length3(along) + *radius + pool->margin;
    // the distance grows by at most the length of a step; see collide_grid
    real middle = grid_distance(pool->grid, &at, &beyond);
    mask near = middle - R(2.0) * beyond < reach + R(2.0) * R(pool->grid->cell);
    if (!any(near)) {
        return;
    }
    real step = R(1.0) / R(count + 1);
    for (int i = 0; i < count + 2; i++) {
        at = add_scaled3(*from, along, R(i) * step);
        distance[i] = grid_distance(pool->grid, &at, &beyond);
    }
    real least = R(0.001) * R(pool->grid->cell); // less is a flat surface
    for (int i = 1; i <= count; i++) {
        real before = distance[i - 1] - distance[i], behind = distance[i + 1] - distance[i];
        mask lowest = and_(near, and_(and_(before > R(0.0), behind >= R(0.0)), before + behind > least));
        if (any(lowest)) {
            real shift = R(0.5) * (before - behind) / max_(before + behind, least);
            at = add_scaled3(*from, along, (R(i) + shift) * step);
            grid_offer_ball(pool, &at, radius, &lowest);
        }
    }
}

// How many points divide a segment so that bumps four cells wide are found.
FN int grid_points_along(const lane_grid *g, double length)
{
    double points = ceil(length / (4.0 * (double)g->cell));
    return points < 1.0 ? 1 : points > GRID_EDGE_POINTS ? GRID_EDGE_POINTS : (int)points;
}

LANE_FN void grid_offer_capsule(const lane_model *m, grid_pool *pool, const lane_geom *capsule, int geom)
{
    mask all = everywhere();
    real radius = capsule->size.x;
    real3 ends[2];
    for (int end = 0; end < 2; end++) {
        ends[end] = add_scaled3(capsule->pos, capsule->frame.z, end ? -capsule->size.y : capsule->size.y);
        grid_offer_ball(pool, &ends[end], &radius, &all);
    }
    int points = grid_points_along(pool->grid, 2.0 * (double)m->geom_size[3 * geom + 1]);
    grid_offer_segment(pool, &ends[0], &ends[1], points, &radius);
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

// Of both rims the lowest point and those a quarter around from it, both centres, and the lowest line of the
// side.
LANE_FN void grid_offer_cylinder(const lane_model *m, grid_pool *pool, const lane_geom *cylinder, int geom)
{
    mask all = everywhere();
    real radius = cylinder->size.x, none = R(0.0);
    real3 axis = cylinder->frame.z, down, ends[2];
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
    grid_lowest_side(pool, cylinder, &cylinder->pos, &down);
    for (int end = 0; end < 2; end++) {
        ends[end] = add_scaled3(ends[end], down, radius);
    }
    int points = grid_points_along(pool->grid, 2.0 * (double)m->geom_size[3 * geom + 1]);
    grid_offer_segment(pool, &ends[0], &ends[1], points, &none);
}

FN real3 grid_box_corner(const lane_geom *box, int corner)
{
    real3 size = box->size;
    real3 local = make_real3(corner & 1 ? size.x : -size.x, corner & 2 ? size.y : -size.y,
                             corner & 4 ? size.z : -size.z);
    return add3(box->pos, rotate(box->frame, local));
}

LANE_FN void grid_offer_box(const lane_model *m, grid_pool *pool, const lane_geom *box, int geom)
{
    mask all = everywhere();
    real none = R(0.0);
    real3 corners[8];
    for (int corner = 0; corner < 8; corner++) {
        corners[corner] = grid_box_corner(box, corner);
        grid_offer(pool, &corners[corner], &all);
    }
    for (int axis = 0; axis < 3; axis++) {
        int points = grid_points_along(pool->grid, 2.0 * (double)m->geom_size[3 * geom + axis]);
        for (int corner = 0; corner < 8; corner++) {
            if (!(corner >> axis & 1)) {
                grid_offer_segment(pool, &corners[corner], &corners[corner | 1 << axis], points, &none);
            }
        }
        for (int side = 0; side < 2; side++) { // between opposite corners of a face
            int bit = 1 << axis;
            real3 centre = scale3(add3(corners[side ? bit : 0], corners[side ? 7 : 7 - bit]), R(0.5));
            grid_offer(pool, &centre, &all);
        }
    }
}

FN real3 grid_hull_vertex(const lane_geom *hull, const uniform_real *vertices, int i)
{
    return add3(hull->pos, rotate(hull->frame, uniform3(vertices, i)));
}

// The vertices of a hull, and minima along edges longer than two cells.
LANE_FN void grid_offer_hull(const lane_model *m, grid_pool *pool, const lane_geom *hull, int geom)
{
    mask all = everywhere();
    real none = R(0.0);
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
                grid_offer_segment(pool, &from, &to, grid_points_along(pool->grid, length), &none);
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
