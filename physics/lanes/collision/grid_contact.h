// Contacts of a shape with a distance grid, all lanes at once: those of its deepest points (grid_pool.h) as
// it is, and where it moves fast as it will be when it touches (grid_sweep.h).
#pragma once

#include "physics/lanes/collision/grid_sweep.h"

// A shape that meets a grid, in the grid's frame.
typedef struct grid_meeting {
    int pair, type; // of the shape
    lane_geom shape;
    lane_geom moved; // as it will be in the lanes of `swept`
    mask swept;
    grid_motion motion;
} grid_meeting;

// The most contacts of a type of geoms.
FN int grid_contacts_of(int type)
{
    return type == ORR_GEOM_SPHERE || type == ORR_GEOM_ELLIPSOID ? 1 : ORR_GRID_CONTACTS;
}

// Adds the contacts of the points that are left. Where a surface faces away from the shape's centre, the
// point has passed one, from which its distance is then taken. A point that is swept keeps the plane of the
// surface that it will touch, and its place on the shape as it is.
LANE_FN void grid_add_contacts(const lane_model *m, lane_data *d, const grid_meeting *meeting,
                               const lane_geom *grid, grid_pool *pool)
{
    const orr_pair *pair = lane_pair(m, d, meeting->pair);
    real3 centre = select3(meeting->swept, meeting->moved.pos, meeting->shape.pos);
    int round = meeting->type == ORR_GEOM_SPHERE || meeting->type == ORR_GEOM_CAPSULE;
    real above = round ? meeting->shape.size.x : R(0.0);
    for (int k = 0; k < pool->count; k++) {
        real distance = pool->distance[k] - pool->radius;
        mask near = distance < pool->margin;
        if (!any(near)) {
            continue;
        }
        real3 at = pool->at[k], outward = grid_normal(pool->grid, &at);
        mask found = and_(near, dot3(outward, outward) > R(0.5));
        mask passed = and_(found, dot3(outward, sub3(centre, at)) + above < R(0.0));
        if (any(passed)) {
            mask known = grid_surface_passed(pool->grid, &centre, &at, passed, &outward, &distance);
            found = and_(found, or_(not_(passed), known));
        }
        // in other lanes distances may be LANE_HUGE: so far away rows of no weight would be infinite
        real depth = sel(found, distance, R(0.0)), half = R(0.5) * depth;
        if (any(meeting->swept)) {
            real3 from = swept_from(&meeting->shape, &meeting->moved, at);
            depth = sel(meeting->swept, depth + dot3(outward, sub3(from, at)), depth);
            half = sel(meeting->swept, R(0.0), half);
            at = select3(meeting->swept, from, at);
        }
        real3 normal = rotate(grid->frame, scale3(outward, R(-1.0)));
        real3 pos = add3(grid->pos, rotate(grid->frame, at));
        pos = add_scaled3(pos, normal, pool->radius + half);
        mask acts = found;
        if (pair->adhesion == 0.0) {
            acts = and_(found, or_(meeting->swept, distance < R(pair->includemargin)));
        }
        if (any(found)) {
            place_contact(m, d, meeting->pair, depth, pos, normal, no_tangent(), found, acts, nowhere());
        }
    }
}

// Contacts of the shape; near: the lanes in which it can touch within the step.
LANE_FN void grid_collide_shape(const lane_model *m, lane_data *d, grid_meeting *meeting,
                                const lane_grid *grid, const lane_geom *placed, mask near)
{
    const orr_pair *pair = lane_pair(m, d, meeting->pair);
    const lane_geom *shape = &meeting->shape;
    const grid_motion *motion = &meeting->motion;
    int type = meeting->type, geom = pair->geom1;
    grid_pool pool;
    pool.grid = grid;
    pool.margin = R(pair->margin);
    grid_offer_shape(m, &pool, shape, type, geom);
    meeting->swept = nowhere();
    mask fast = and_(near, motion->most > R(0.25) * R(grid->cell));
    if (any(fast)) {
        real time = grid_sweep(m, &pool, shape, type, geom, motion, fast);
        meeting->moved = swept_geom(shape, motion, time);
        meeting->swept = time > R(0.0);
        real rest = fma_(R(1.0) - time, motion->most, R(grid->cell));
        pool.margin = sel(meeting->swept, pool.margin + rest, pool.margin);
        grid_offer_shape(m, &pool, &meeting->moved, type, geom);
    }
    grid_reduce(&pool, grid_contacts_of(type));
    grid_add_contacts(m, d, meeting, placed, &pool);
}

// The radius of a ball around the centre of a shape and within it; 0: of a sphere, which needs none.
FN real grid_core(const lane_model *m, const lane_data *d, int geom)
{
    real3 size = geom_sizes(m, d, geom);
    switch (m->geom_type[geom]) {
    case ORR_GEOM_ELLIPSOID:
    case ORR_GEOM_BOX:
        return R(0.75) * min_(size.x, min_(size.y, size.z));
    case ORR_GEOM_CYLINDER:
        return R(0.75) * min_(size.x, size.y);
    case ORR_GEOM_CAPSULE:
        return R(0.75) * size.x;
    case ORR_GEOM_MESH:
        size = uniform3(m->geom_aabb, 2 * geom + 1);
        return R(0.25) * min_(size.x, min_(size.y, size.z));
    default:
        return R(0.0);
    }
}

// Contacts of the pair's first geom with the grid of its second. a: the first, b: the second, in the world.
// Impacts make a shape spin so fast that its corners can pass the surface within the same step; a ball around
// its centre cannot, and brings it back.
LANE_FN void collide_grid(const lane_model *m, lane_data *d, int index, const lane_geom *a,
                          const lane_geom *b)
{
    const orr_pair *pair = lane_pair(m, d, index);
    lane_grid grid = grid_of(m, m->geom_dataid[pair->geom2]);
    grid_meeting meeting;
    lane_geom *shape = &meeting.shape;
    shape->pos = rotate_inverse(b->frame, sub3(a->pos, b->pos));
    shape->frame.x = rotate_inverse(b->frame, a->frame.x);
    shape->frame.y = rotate_inverse(b->frame, a->frame.y);
    shape->frame.z = rotate_inverse(b->frame, a->frame.z);
    shape->size = a->size;
    meeting.pair = index;
    meeting.type = m->geom_type[pair->geom1];
    meeting.motion = motion_in_grid(m, d, pair);
    // can its bounding sphere touch? The distance outside the grid's box is an upper bound, within bricks
    // without samples it is off by up to two cells.
    real beyond, distance = grid_distance(&grid, &shape->pos, &beyond);
    real least = max_(beyond, distance - R(2.0) * beyond - R(2.0) * R(grid.cell)) - meeting.motion.most;
    mask near = least < R(pair->margin) + geom_rbound(m, d, pair->geom1);
    if (!any(near)) {
        return;
    }
    grid_collide_shape(m, d, &meeting, &grid, b, near);
    real core = grid_core(m, d, pair->geom1);
    mask fast = and_(near, meeting.motion.most > R(0.25) * R(grid.cell));
    mask alone = and_(core > R(0.0), or_(fast, distance < core));
    if (any(alone)) {
        meeting.type = ORR_GEOM_SPHERE;
        shape->size.x = core;
        meeting.motion.turn = zero3();
        meeting.motion.most = length3(meeting.motion.slide);
        grid_collide_shape(m, d, &meeting, &grid, b, alone);
    }
}
