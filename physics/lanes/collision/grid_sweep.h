// Shapes that move fast against a distance grid: where in the step they will touch it.
#pragma once

#include "physics/lanes/collision/grid_pool.h"

// How a shape moves against a grid in one step, in the grid's frame.
typedef struct grid_motion {
    real3 slide, turn; // m, of its centre; rad, a rotation vector
    real most;         // m that a point of its surface moves, at most
} grid_motion;

LANE_FN grid_motion motion_in_grid(const lane_model *m, const lane_data *d, const orr_pair *pair)
{
    real step = R(m->opt.timestep);
    int body1 = m->geom_bodyid[pair->geom1], body2 = m->geom_bodyid[pair->geom2];
    spatial v = load_spatial(d->cvel, body1), of_grid = load_spatial(d->cvel, body2);
    real3 centre = load3(d->geom_xpos, pair->geom1);
    real3 speed =
        sub3(velocity_at(v, arm_to(m, d, body1, centre)), velocity_at(of_grid, arm_to(m, d, body2, centre)));
    matrix3 frame = load_matrix(d->geom_xmat, pair->geom2);
    grid_motion motion = {rotate_inverse(frame, scale3(speed, step)), zero3(), R(0.0)};
    motion.most = length3(motion.slide);
    if (m->geom_type[pair->geom1] != ORR_GEOM_SPHERE) {
        motion.turn = rotate_inverse(frame, scale3(sub3(v.r, of_grid.r), step));
        motion.most = fma_(length3(motion.turn), geom_rbound(m, d, pair->geom1), motion.most);
    }
    return motion;
}

// The shape after a share of the step; exactly itself for a share of 0.
LANE_FN lane_geom swept_geom(const lane_geom *shape, const grid_motion *by, real share)
{
    lane_geom moved = *shape;
    quaternion turned = axis_angle_quaternion(normalise3(by->turn), share * length3(by->turn));
    matrix3 turn = quaternion_matrix(turned);
    mask moves = share > R(0.0);
    moved.pos = add_scaled3(shape->pos, by->slide, share);
    moved.frame.x = select3(moves, rotate(turn, shape->frame.x), shape->frame.x);
    moved.frame.y = select3(moves, rotate(turn, shape->frame.y), shape->frame.y);
    moved.frame.z = select3(moves, rotate(turn, shape->frame.z), shape->frame.z);
    return moved;
}

// Where a point of the moved shape was at the start of the step.
FN real3 swept_from(const lane_geom *shape, const lane_geom *moved, real3 at)
{
    return add3(shape->pos, rotate(shape->frame, rotate_inverse(moved->frame, sub3(at, moved->pos))));
}

FN real grid_least(const grid_pool *pool)
{
    real least = pool->distance[0];
    for (int i = 1; i < pool->count; i++) {
        least = min_(least, pool->distance[i]);
    }
    return least - pool->radius;
}

// How far a point may move that has a distance [cells], so that it passes no surface: a brick without samples
// is two cells from any, and what is interpolated in it at most its diagonal's half too large.
FN real grid_clearance(real distance)
{
    real within = min_(distance - R(0.5), R(2.0)), far = distance - R(7.0);
    return max_(max_(within, far), R(0.75));
}

// Moves the shape of the pool through the step, in the lanes of `fast`, until it is a quarter of a cell
// deeper in the surface than at the start (conservative advancement). Returns the share of the step at which
// it touches or, with what was there already, starts to sink in; 0 where it does not. The pool is
// overwritten.
LANE_FN real grid_sweep(const lane_model *m, grid_pool *pool, const lane_geom *shape, int type, int geom,
                        const grid_motion *motion, mask fast)
{
    enum { ADVANCES = 48 };
    real cell = R(pool->grid->cell), time = R(0.0), before = grid_least(pool);
    real surface = min_(before, R(0.0)), hit = R(0.0);
    real least_share = R(1.0 / ADVANCES);
    for (int i = 0; i < ADVANCES && any(fast); i++) {
        real ahead = grid_clearance(before / cell) * cell / motion->most;
        real next = min_(time + max_(ahead, least_share), R(1.0));
        lane_geom moved = swept_geom(shape, motion, next);
        grid_offer_shape(m, pool, &moved, type, geom);
        real here = grid_least(pool);
        mask sinks = and_(fast, here < surface - R(0.25) * cell);
        real share = max_(before - surface, R(0.0)) / (before - here);
        hit = sel(sinks, max_(fma_(share, next - time, time), R(1e-3)), hit);
        fast = and_(fast, and_(not_(sinks), next < R(1.0)));
        before = here;
        time = next;
    }
    return hit;
}

// A surface between the centre of a shape and a point of it that has passed the surface: its normal there,
// and the distance of the point from its plane. Returns the lanes of `passed` in which it is found.
LANE_FN mask grid_surface_passed(const lane_grid *grid, const real3 *centre, const real3 *at, mask passed,
                                 real3 *outward, real *distance)
{
    enum { ADVANCES = 48 };
    real cell = R(grid->cell), beyond, before = grid_distance(grid, centre, &beyond), gone = R(0.0);
    real3 way = sub3(*at, *centre), direction = normalise3(way);
    real whole = length3(way), least = max_(R(0.5) * cell, whole * R(1.0 / ADVANCES));
    mask found = nowhere(), seeks = and_(passed, before > R(0.0));
    for (int i = 0; i < ADVANCES && any(seeks); i++) {
        real next = gone + max_(grid_clearance(before / cell) * cell, least);
        real3 there = add_scaled3(*centre, direction, next);
        real here = grid_distance(grid, &there, &beyond);
        mask crosses = and_(seeks, here <= R(0.0));
        real share = before / max_(before - here, R(LANE_TINY));
        real3 on = add_scaled3(*centre, direction, fma_(share, next - gone, gone));
        real3 normal = grid_normal(grid, &on);
        *outward = select3(crosses, normal, *outward);
        *distance = sel(crosses, dot3(normal, sub3(*at, on)), *distance);
        found = or_(found, crosses);
        seeks = and_(seeks, and_(not_(crosses), next < whole));
        before = here;
        gone = next;
    }
    return found;
}
