// A vertex in a step of vertex block descent: the text that instruction sets and CUDA share. Private to this
// folder.
#pragma once

#include "physics/lanes/impedance_formula.h"
#include "physics/soft/element_formula.h"
#include "physics/soft/obstacle_formula.h"
#include "physics/soft/program_access.h"

// What the elements of a vertex are evaluated with.
typedef struct context {
    const number *position, *start;
    number mu, l, alpha, eta, rate;
    real3 own, own_start;
} context;

FN soft_system add_tet(reader r, const context *c, soft_system s, const int32_t *index, const number *p)
{
    real3 m1 = read_row(r, p), m2 = read_row(r, p + 3 * LANE_STRIDE), m3 = read_row(r, p + 6 * LANE_STRIDE);
    real volume = read_number(r, p + 9 * LANE_STRIDE);
    real3 m = make_real3(-(m1.x + m2.x + m3.x), -(m1.y + m2.y + m3.y), -(m1.z + m2.z + m3.z));
    soft_columns f =
        soft_gradient3(sub3(read_point(r, c->position, index), c->own),
                       sub3(read_point(r, c->position, index + LANE_STRIDE), c->own),
                       sub3(read_point(r, c->position, index + 2 * LANE_STRIDE), c->own), m1, m2, m3);
    s = tet_system(s, f, m, volume, c->mu, c->l, c->alpha);
    if (c->eta > 0) {
        soft_columns before =
            soft_gradient3(sub3(read_point(r, c->start, index), c->own_start),
                           sub3(read_point(r, c->start, index + LANE_STRIDE), c->own_start),
                           sub3(read_point(r, c->start, index + 2 * LANE_STRIDE), c->own_start), m1, m2, m3);
        s = tet_damping(s, f, before, m, volume, c->eta, c->rate);
    }
    return s;
}

FN soft_columns membrane_columns(real3 d1, real3 d2, real x1, real y1, real x2, real y2)
{
    soft_columns f;
    f.a = add_scaled3(scale3(d1, x1), d2, x2);
    f.b = add_scaled3(scale3(d1, y1), d2, y2);
    f.c = make_real3(R(0.0), R(0.0), R(0.0));
    return f;
}

// swell: what the triangle adds to the derivative of the enclosed volume; firm: membrane_firmness.
FN soft_system add_triangle(reader r, const context *c, soft_system s, const int32_t *index, const number *p,
                            real3 *swell, real *firm)
{
    real x1 = read_number(r, p), y1 = read_number(r, p + LANE_STRIDE);
    real x2 = read_number(r, p + 2 * LANE_STRIDE), y2 = read_number(r, p + 3 * LANE_STRIDE);
    real area = read_number(r, p + 4 * LANE_STRIDE), mx = -(x1 + x2), my = -(y1 + y2);
    real3 d1 = sub3(read_point(r, c->position, index), c->own);
    real3 d2 = sub3(read_point(r, c->position, index + LANE_STRIDE), c->own);
    soft_columns f = membrane_columns(d1, d2, x1, y1, x2, y2);
    *swell = add_scaled3(*swell, triangle_swell(d1, d2), R(1.0));
    *firm = *firm + membrane_firmness(f.a, f.b, mx, my, area, c->mu, c->l, c->alpha);
    s = membrane_system(s, f.a, f.b, mx, my, area, c->mu, c->l, c->alpha);
    if (c->eta > 0) {
        soft_columns before = membrane_columns(
            sub3(read_point(r, c->start, index), c->own_start),
            sub3(read_point(r, c->start, index + LANE_STRIDE), c->own_start), x1, y1, x2, y2);
        s = tet_damping(s, f, before, make_real3(mx, my, R(0.0)), area, c->eta, c->rate);
    }
    return s;
}

// Damping is of first order: by how much the way since the step's start has bent the hinge.
FN soft_system add_hinge(reader r, const context *c, soft_system s, const int32_t *index, const number *p)
{
    real3 x[4];
    for (int k = 0; k < 4; k++) {
        x[k] = read_point(r, c->position, index + (ptrdiff_t)k * LANE_STRIDE);
    }
    soft_hinge h = hinge_angle(x[0], x[1], x[2], x[3]);
    real3 g = scale3(h.g0, read_number(r, p));
    g = add_scaled3(g, h.g1, read_number(r, p + LANE_STRIDE));
    g = add_scaled3(g, h.g2, read_number(r, p + 2 * LANE_STRIDE));
    g = add_scaled3(g, h.g3, read_number(r, p + 3 * LANE_STRIDE));
    real stiffness = read_number(r, p + 4 * LANE_STRIDE), angle = atan2_(abs_(h.sine), h.cosine);
    real off = sel(h.sine < R(0.0), -angle, angle) - read_number(r, p + 5 * LANE_STRIDE);
    off = off - R(6.283185307179586) * floor_(off * R(0.15915494309189535) + R(0.5));
    s.force = add_scaled3(s.force, g, -(stiffness * off));
    if (c->eta > 0) {
        const real3 gradient[4] = {h.g0, h.g1, h.g2, h.g3};
        real bent = R(0.0), lag = stiffness * (c->eta * c->rate);
        for (int k = 0; k < 4; k++) {
            bent = bent +
                   dot3(gradient[k], sub3(x[k], read_point(r, c->start, index + (ptrdiff_t)k * LANE_STRIDE)));
        }
        s.force = add_scaled3(s.force, g, -(lag * bent));
        stiffness = stiffness + lag;
    }
    return soft_add_outer(s, stiffness, g);
}

// Damping resists every change of a pair's difference: of what is bent its turning, too.
FN soft_system add_bend(reader r, const context *c, soft_system s, const int32_t *index, const number *p)
{
    real stiffness = read_number(r, p);
    real3 d = sub3(read_point(r, c->position, index), c->own);
    s = bend_system(s, d, stiffness);
    if (c->eta > 0) {
        real3 before = sub3(read_point(r, c->start, index), c->own_start);
        s = bend_system(s, sub3(d, before), stiffness * (c->eta * c->rate));
    }
    return s;
}

FN soft_system add_edge(reader r, const context *c, soft_system s, const int32_t *index, const number *p,
                        bool damped)
{
    real stiffness = read_number(r, p), rest = read_number(r, p + LANE_STRIDE);
    real3 d = sub3(read_point(r, c->position, index), c->own);
    s = edge_system(s, d, stiffness, rest);
    if (damped) {
        real3 before = sub3(read_point(r, c->start, index), c->own_start);
        s = edge_damping(s, d, before, read_number(r, p + 2 * LANE_STRIDE), c->rate);
    }
    return s;
}

// Of a held edge the first number is the inverse of its weight, kg.
FN soft_system add_held(reader r, const soft_numbers *k, const orr_soft_group *g, const context *c,
                        const int32_t *own, soft_system s, const int32_t *index, const number *p)
{
    const number *velocity = (const number *)g->velocity;
    const soft_hold *h = &k->hold;
    real3 start = sub3(read_point(r, c->start, index), c->own_start);
    real length = sqrt_(max_(dot3(start, start), R(1e-30)));
    real off = length - read_number(r, p + LANE_STRIDE);
    real speed = dot3(sub3(read_point(r, velocity, index), read_point(r, velocity, own)), start) / length;
    real x = min_(abs_(off) * R(h->steepness), R(1.0));
    real d = R(h->low) + impedance_curve(x, h->middle, h->below, h->above) * R(h->high - h->low);
    real inertia = read_number(r, p) * d / (R(1.0) - d), stiffness = d * R(h->stiffness);
    real pull = stiffness * off - speed * R(k->gain + h->damping * (k->gain * k->step - 1));
    real rest = stiffness + R(k->gain * (k->rate + h->damping));
    real3 moved = sub3(sub3(read_point(r, c->position, index), c->own), start);
    s = edge_hold(s, scale3(start, R(1.0) / length), moved, inertia * rest, inertia * pull);
    if (k->edges_damped) {
        s = edge_damping(s, add_scaled3(moved, start, R(1.0)), start,
                         read_number(r, p + (ptrdiff_t)2 * LANE_STRIDE), c->rate);
    }
    return s;
}

FN obstacle_distance distance_of(const soft_obstacle *o, real3 p)
{
    const number x = o->size[0], y = o->size[1], z = o->size[2];
    switch (o->shape) {
    case ORR_SOFT_PLANE:
        return plane_distance(p);
    case ORR_SOFT_SPHERE:
        return sphere_distance(p, x);
    case ORR_SOFT_CAPSULE:
        return capsule_distance(p, x, y);
    default:
        return box_distance(p, x, y, z);
    }
}

// touch: the largest depth.
FN soft_system add_obstacle(const soft_obstacle *o, const context *c, soft_system s, real stiffness,
                            number slip, real *touch)
{
    const real3 x = make_real3(R(o->axis[0]), R(o->axis[3]), R(o->axis[6]));
    const real3 y = make_real3(R(o->axis[1]), R(o->axis[4]), R(o->axis[7]));
    const real3 z = make_real3(R(o->axis[2]), R(o->axis[5]), R(o->axis[8]));
    real3 p = sub3(c->own_start, make_real3(R(o->position[0]), R(o->position[1]), R(o->position[2])));
    obstacle_distance d = distance_of(o, make_real3(dot3(x, p), dot3(y, p), dot3(z, p)));
    real3 normal = add_scaled3(scale3(x, d.normal.x), y, d.normal.y);
    normal = add_scaled3(normal, z, d.normal.z);
    real3 moved = sub3(c->own, c->own_start);
    real depth = -(d.distance + dot3(normal, moved));
    *touch = max_(*touch, depth);
    return plane_contact(s, depth, moved, normal, stiffness, R(o->friction), slip);
}

// The half-spaces that a vertex touches in this step, whatever they are of.
FN soft_system add_touches(reader r, const orr_soft_group *g, const int32_t *own, const context *c,
                           soft_system s, real stiffness, number slip, real *touch)
{
    const ptrdiff_t size = (ptrdiff_t)g->vertices * 3 * g->worlds;
    const number *plane = (const number *)g->planes;
    for (int i = 0; i < g->plane_slots; i++, plane += 3 * size) {
        real3 normal = read_point(r, plane, own), shift = read_point(r, plane + size, own);
        real3 more = read_point(r, plane + 2 * size, own); // distance, friction, strength
        real3 moved = sub3(sub3(c->own, c->own_start), shift);
        real depth = -(more.x + dot3(normal, moved));
        *touch = max_(*touch, sel(more.z > R(0.0), depth, R(-1.0)));
        s = plane_contact(s, depth, moved, normal, stiffness * more.z, more.y, slip);
    }
    return s;
}

// What has been computed of a vertex before.
FN soft_system add_pushed(reader r, const orr_soft_group *g, const int32_t *own, soft_system s, real *touch)
{
    const ptrdiff_t size = (ptrdiff_t)g->vertices * 3;
    const number *pushed = (const number *)g->pushed;
    real3 force = read_point(r, pushed, own), x = read_point(r, pushed + size, own);
    real3 rest = read_point(r, pushed + 2 * size, own); // yy, yz, zz
    s.force = add_scaled3(s.force, force, R(1.0));
    s.xx = s.xx + x.x, s.xy = s.xy + x.y, s.xz = s.xz + x.z;
    s.yy = s.yy + rest.x, s.yz = s.yz + rest.y, s.zz = s.zz + rest.z;
    *touch = max_(*touch, x.x + rest.x + rest.z);
    return s;
}

// Where a vertex would go through what it does not touch yet, its quadratic model lacks that contact: it
// would fall as if nothing were there, and throw up in the next iteration what lies on it.
FN real3 stop_ahead(reader r, const orr_soft_group *g, const int32_t *own, soft_system s, real3 step,
                    real *touch)
{
    const ptrdiff_t size = (ptrdiff_t)g->vertices * 3;
    const number *ahead = (const number *)g->pushed + 3 * size;
    real3 side = read_point(r, ahead, own), more = read_point(r, ahead + size, own); // gap, stiffness
    real enters = more.y * (-dot3(side, step) - more.x);
    s.force = add_scaled3(s.force, side, -(more.y * more.x));
    real3 stopped = soft_solve(soft_add_outer(s, more.y, side));
    *touch = max_(*touch, enters);
    return make_real3(sel(enters > R(0.0), stopped.x, step.x), sel(enters > R(0.0), stopped.y, step.y),
                      sel(enters > R(0.0), stopped.z, step.z));
}

FN context with_material(const context *c, const soft_material *m)
{
    context r = *c;
    r.mu = m->mu, r.l = m->l, r.alpha = m->alpha, r.eta = m->eta;
    return r;
}

// Moves a vertex to the minimum of its quadratic model.
FN void relax_vertex(reader r, const soft_numbers *k, const orr_soft_group *g, const orr_soft_block *block)
{
    const int32_t *own = g->tables->index + block->index, *index = own + LANE_STRIDE;
    const number *p = (const number *)g->number + block->number;
    const number rate = k->rate, inertia = k->inertia;
    real mass = read_number(r, p);
    p += LANE_STRIDE;
    context c;
    c.position = (const number *)g->position, c.start = (const number *)g->start, c.rate = rate;
    c.own = read_point(r, c.position, own);
    c.own_start = read_point(r, c.start, own);
    soft_system s;
    s.xx = s.yy = s.zz = mass * inertia;
    s.xy = s.xz = s.yz = R(0.0);
    s.force = scale3(sub3(read_point(r, (const number *)g->target, own), c.own), mass * inertia);
    const context solid = with_material(&c, &k->solid), cloth = with_material(&c, &k->cloth);
    for (int i = 0; i < block->slots[SOFT_TET]; i++) {
        s = add_tet(r, &solid, s, index, p);
        index += SOFT_TET_OTHERS * LANE_STRIDE, p += SOFT_TET_NUMBERS * LANE_STRIDE;
    }
    real3 swell = make_real3(R(0.0), R(0.0), R(0.0));
    real firm = R(0.0);
    for (int i = 0; i < block->slots[SOFT_TRIANGLE]; i++) {
        s = add_triangle(r, &cloth, s, index, p, &swell, &firm);
        index += SOFT_TRIANGLE_OTHERS * LANE_STRIDE, p += SOFT_TRIANGLE_NUMBERS * LANE_STRIDE;
    }
    c.eta = k->bending_damping;
    for (int i = 0; i < block->slots[SOFT_HINGE]; i++) {
        s = add_hinge(r, &c, s, index, p);
        index += SOFT_HINGE_OTHERS * LANE_STRIDE, p += SOFT_HINGE_NUMBERS * LANE_STRIDE;
    }
    for (int i = 0; i < block->slots[SOFT_BEND]; i++) {
        s = add_bend(r, &c, s, index, p);
        index += SOFT_BEND_OTHERS * LANE_STRIDE, p += SOFT_BEND_NUMBERS * LANE_STRIDE;
    }
    for (int i = 0; i < block->slots[SOFT_EDGE]; i++) {
        s = k->edges_held ? add_held(r, k, g, &c, own, s, index, p)
                          : add_edge(r, &c, s, index, p, k->edges_damped);
        index += SOFT_EDGE_OTHERS * LANE_STRIDE, p += SOFT_EDGE_NUMBERS * LANE_STRIDE;
    }
    real touch = R(-1.0);
    real stiffness = k->contact_stiffness > 0 ? R(k->contact_stiffness) : R(100.0) * mass * inertia;
    for (int i = 0; i < k->obstacles; i++) {
        s = add_obstacle(&k->obstacle[i], &c, s, stiffness, k->slip, &touch);
    }
    s = add_touches(r, g, own, &c, s, stiffness, k->slip, &touch);
    // Of what lies on something, or nearly: without it rounding is amplified ten times as much there.
    real firmness = sel(touch > R(-1.0) * R(k->slip), firm, R(0.0));
    if (g->is_pushed) {
        s = add_pushed(r, g, own, s, &touch);
        firmness = sel(touch > R(0.0), firm, firmness);
    }
    s = soft_add_diagonal(s, firmness);
    if (g->pressure) {
        soft_system alone = s;
        alone.force = swell;
        write_number(r, (number *)g->swell, own, block->vertices, dot3(swell, soft_solve(alone)));
        s.force = add_scaled3(s.force, swell, read_world(r, (const number *)g->pressure));
    }
    real3 step = soft_solve(s);
    if (g->is_pushed) {
        step = stop_ahead(r, g, own, s, step, &touch);
    }
    if (g->touch) {
        write_number(r, (number *)g->touch, own, block->vertices, touch);
    }
    write_point(r, (number *)g->position, own, block->vertices, add_scaled3(c.own, step, R(1.0)));
}

// ---- the parts of a step that work on one vertex in one world; at: its first number, the next ones `worlds`
// apart

// The first guess: as far as the last step's acceleration says that gravity is not held (Chen et al. 2024,
// section 3.7).
FN void begin_vertex(const soft_numbers *k, const orr_soft_group *g, ptrdiff_t at, bool pinned)
{
    const ptrdiff_t worlds = g->worlds;
    const number h = k->step, rate = (number)1 / h, late = h * k->end_share;
    number *position = (number *)g->position, *start = (number *)g->start, *target = (number *)g->target;
    const number *velocity = (const number *)g->velocity, *change = (const number *)g->change;
    number a = rate * (change[at] * k->along[0] + change[at + worlds] * k->along[1] +
                       change[at + 2 * worlds] * k->along[2]);
    // nearer to gravity than this, rounding of positions would keep it from coming nearer
    const bool falls = a > (number)0.99 * k->strength;
    a = a > (number)0 ? a : (number)0;
    for (int c = 0; c < 3; c++) {
        const ptrdiff_t j = at + c * worlds;
        start[j] = position[j];
        if (!pinned) {
            target[j] = start[j] + h * (velocity[j] + late * k->gravity[c]);
            position[j] = falls ? target[j] : start[j] + h * (velocity[j] + late * a * k->along[c]);
        }
        if (g->previous) {
            ((number *)g->previous)[j] = position[j];
        }
    }
}

// Wang 2015: x = omega (x - x before the previous) + x before the previous; not of vertices in contact.
FN void accelerate_vertex(const orr_soft_group *g, number omega, ptrdiff_t at, bool free)
{
    const ptrdiff_t worlds = g->worlds;
    number *position = (number *)g->position, *previous = (number *)g->previous;
    number *older = (number *)g->before_previous;
    for (ptrdiff_t j = at; j < at + 3 * worlds; j += worlds) {
        if (free && omega > (number)1) {
            position[j] = omega * (position[j] - older[j]) + older[j];
        }
        older[j] = previous[j];
        previous[j] = position[j];
    }
}

// Of axis c at `at`. The change of velocity is that of gravity and what lies between a position and its
// target: of the way from the start, velocities would take over the rounding of positions far from the
// origin.
FN void finish_number(const soft_numbers *k, const orr_soft_group *g, ptrdiff_t at, int c, bool pinned)
{
    const number fall = k->step * k->gravity[c];
    const number way = ((const number *)g->position)[at] - ((const number *)g->target)[at];
    number *velocity = (number *)g->velocity + at;
    const number gained = pinned ? -*velocity : fall + k->gain * way;
    ((number *)g->change)[at] = gained;
    *velocity += gained;
}
