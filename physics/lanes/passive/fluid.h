// Forces of the medium on a body, and their derivatives by its velocity (MuJoCo's documentation, "Fluid
// forces"). A body is modelled as the box with its inertia, or by the ellipsoids of its geoms with
// fluidshape.
#pragma once

#include "physics/lanes/velocity.h"
#include "physics/model/half_sizes.h"

// A box or an ellipsoid that moves through the medium.
typedef struct fluid_shape {
    int body, geom; // geom: -1 when the body is a box
    real3 at;
    matrix3 frame;
    spatial flow; // its velocity relative to the medium, in its frame
} fluid_shape;

typedef struct fluid_ellipsoid {
    real3 axes, projected; // half axes; squared products of the other two
    real blunt, slender, angular, kutta, magnus, virtual_mass[3], virtual_inertia[3];
    real volume, largest_area, largest_moment, mean;
} fluid_ellipsoid;

// A spatial velocity of the shape's body, at the shape's centre and in its frame.
FN spatial motion_of_shape(const lane_model *m, const lane_data *d, const fluid_shape *shape, spatial motion)
{
    real3 arm = arm_to(m, d, shape->body, shape->at);
    return make_spatial(rotate_inverse(shape->frame, motion.r),
                        rotate_inverse(shape->frame, velocity_at(motion, arm)));
}

FN fluid_shape load_shape(const lane_model *m, const lane_data *d, int body, int geom)
{
    fluid_shape shape;
    shape.body = body;
    shape.geom = geom;
    shape.at = geom < 0 ? load3(d->xipos, body) : load3(d->geom_xpos, geom);
    shape.frame = geom < 0 ? load_matrix(d->ximat, body) : load_matrix(d->geom_xmat, geom);
    shape.flow = motion_of_shape(m, d, &shape, load_spatial(d->cvel, body));
    real3 wind = make_real3(R(m->opt.wind[0]), R(m->opt.wind[1]), R(m->opt.wind[2]));
    shape.flow.t = sub3(shape.flow.t, rotate_inverse(shape.frame, wind));
    return shape;
}

// ---- the box ----

// Coefficients of a box: linear drag (rotation, translation), quadratic drag (rotation by axis, translation
// by axis).
typedef struct fluid_box {
    real linear[2], quadratic[6];
} fluid_box;

FN fluid_box load_box(const lane_model *m, const lane_data *d, int body)
{
    const double pi = 3.14159265358979323846;
    real scale = R(6.0) / body_mass(m, d, body), size[3], I[3]; // full sizes
    for (int k = 0; k < 3; k++) {
        I[k] = body_inertia(m, d, 3 * body + k);
    }
    for (int k = 0; k < 3; k++) {
        size[k] = sqrt_(max_(I[(k + 1) % 3] + I[(k + 2) % 3] - I[k], R(LANE_TINY)) * scale);
    }
    real diameter = (size[0] + size[1] + size[2]) * R(1.0 / 3.0);
    fluid_box box;
    box.linear[0] = R(pi * m->opt.viscosity) * diameter * diameter * diameter;
    box.linear[1] = R(3.0 * pi * m->opt.viscosity) * diameter;
    for (int k = 0; k < 3; k++) {
        real a = size[(k + 1) % 3], b = size[(k + 2) % 3];
        box.quadratic[k] = R(m->opt.density / 64.0) * size[k] * (a * a * a * a + b * b * b * b);
        box.quadratic[3 + k] = R(0.5 * m->opt.density) * a * b;
    }
    return box;
}

FN real3 axis_drag(real3 v, real linear, const real *quadratic)
{
    return make_real3(-(linear + quadratic[0] * abs_(v.x)) * v.x, -(linear + quadratic[1] * abs_(v.y)) * v.y,
                      -(linear + quadratic[2] * abs_(v.z)) * v.z);
}

FN real3 axis_drag_slope(real3 v, real3 change, real linear, const real *quadratic)
{
    real two = R(2.0);
    return make_real3(-(linear + two * quadratic[0] * abs_(v.x)) * change.x,
                      -(linear + two * quadratic[1] * abs_(v.y)) * change.y,
                      -(linear + two * quadratic[2] * abs_(v.z)) * change.z);
}

FN spatial box_drag(const lane_model *m, const lane_data *d, int body, spatial flow)
{
    fluid_box box = load_box(m, d, body);
    return make_spatial(axis_drag(flow.r, box.linear[0], box.quadratic),
                        axis_drag(flow.t, box.linear[1], box.quadratic + 3));
}

FN spatial box_drag_slope(const lane_model *m, const lane_data *d, int body, spatial flow, spatial change)
{
    fluid_box box = load_box(m, d, body);
    return make_spatial(axis_drag_slope(flow.r, change.r, box.linear[0], box.quadratic),
                        axis_drag_slope(flow.t, change.t, box.linear[1], box.quadratic + 3));
}

// ---- the ellipsoid ----

FN fluid_ellipsoid load_ellipsoid(const lane_model *m, int geom)
{
    const double pi = 3.14159265358979323846;
    const uniform_real *size = m->geom_size + 3 * geom, *fluid = m->geom_fluid + ORR_NFLUID * geom;
    const double sizes[3] = {(double)size[0], (double)size[1], (double)size[2]};
    double s[3];
    primitive_half_sizes(m->geom_type[geom], sizes, s);
    double most = fmax(fmax(s[0], s[1]), s[2]), least = fmin(fmin(s[0], s[1]), s[2]);
    double middle = s[0] + s[1] + s[2] - most - least;
    fluid_ellipsoid e;
    e.axes = make_real3(R(s[0]), R(s[1]), R(s[2]));
    e.projected =
        make_real3(R(s[1] * s[2] * s[1] * s[2]), R(s[2] * s[0] * s[2] * s[0]), R(s[0] * s[1] * s[0] * s[1]));
    e.blunt = R(fluid[1]);
    e.slender = R(fluid[2]);
    e.angular = R(fluid[3]);
    e.kutta = R(fluid[4]);
    e.magnus = R(fluid[5]);
    for (int k = 0; k < 3; k++) {
        e.virtual_mass[k] = R(fluid[6 + k]);
        e.virtual_inertia[k] = R(fluid[9 + k]);
    }
    e.volume = R(4.0 / 3.0 * pi * s[0] * s[1] * s[2]);
    e.largest_area = R(pi * most * middle);
    e.largest_moment = R(8.0 / 15.0 * pi * middle * most * most * most * most);
    e.mean = R((s[0] + s[1] + s[2]) / 3.0);
    return e;
}

// Coefficients of the quadratic drag on rotation, per axis.
FN real3 turning_moments(const fluid_ellipsoid *e)
{
    real s[3] = {e->axes.x, e->axes.y, e->axes.z}, moment[3];
    for (int k = 0; k < 3; k++) {
        real wide = max_(s[(k + 1) % 3], s[(k + 2) % 3]);
        real own = R(8.0 / 15.0 * 3.14159265358979323846) * s[k] * wide * wide * wide * wide;
        moment[k] = e->angular * own + e->slender * (e->largest_moment - own);
    }
    return make_real3(moment[0], moment[1], moment[2]);
}

// Force and torque on the ellipsoid that moves with `flow`, in its frame: added mass, Magnus and Kutta lift,
// drag.
FN spatial ellipsoid_drag(const lane_model *m, const fluid_ellipsoid *e, spatial flow)
{
    real density = R(m->opt.density), viscosity = R(m->opt.viscosity);
    real pi = R(3.14159265358979323846), least = R(LANE_TINY);
    real3 w = flow.r, v = flow.t;
    real3 momentum = make_real3(density * e->virtual_mass[0] * v.x, density * e->virtual_mass[1] * v.y,
                                density * e->virtual_mass[2] * v.z);
    real3 spin = make_real3(density * e->virtual_inertia[0] * w.x, density * e->virtual_inertia[1] * w.y,
                            density * e->virtual_inertia[2] * w.z);
    real3 torque = add3(cross3(momentum, v), cross3(spin, w)), force = cross3(momentum, w);
    force = add_scaled3(force, cross3(w, v), e->magnus * density * e->volume);
    real3 normal = times3(e->projected, v); // normal of the projected area
    // fourth powers of lengths: of something small their products are below `least` at any speed
    real along = max_(dot3(normal, v), least * least), square = max_(dot3(normal, normal), least * least);
    real speed = length3(v), area = pi * sqrt_(square / along);
    real lift = e->kutta * density * pi * sqrt_(along / square) / max_(speed, least); // cosine times area
    force = add_scaled3(force, cross3(cross3(normal, v), v), lift);
    real drag = R(6.0) * pi * e->mean * viscosity +
                density * speed * (area * e->blunt + e->slender * (e->largest_area - area));
    real diameter = R(2.0) * e->mean;
    real turning_drag =
        pi * diameter * diameter * diameter * viscosity + density * length3(times3(turning_moments(e), w));
    return make_spatial(add_scaled3(torque, w, -turning_drag), add_scaled3(force, v, -drag));
}

// The derivative of ellipsoid_drag by the flow, along `change`.
FN spatial ellipsoid_drag_slope(const lane_model *m, const fluid_ellipsoid *e, spatial flow, spatial change)
{
    real density = R(m->opt.density), viscosity = R(m->opt.viscosity);
    real pi = R(3.14159265358979323846), least = R(LANE_TINY);
    real3 w = flow.r, v = flow.t, dw = change.r, dv = change.t;
    real3 mass =
        make_real3(density * e->virtual_mass[0], density * e->virtual_mass[1], density * e->virtual_mass[2]);
    real3 moment = make_real3(density * e->virtual_inertia[0], density * e->virtual_inertia[1],
                              density * e->virtual_inertia[2]);
    real3 momentum = times3(mass, v), dmomentum = times3(mass, dv);
    real3 torque = add3(cross3(dmomentum, v), cross3(momentum, dv));
    torque = add3(torque, add3(cross3(times3(moment, dw), w), cross3(times3(moment, w), dw)));
    real3 force = add3(cross3(dmomentum, w), cross3(momentum, dw));
    force = add_scaled3(force, add3(cross3(dw, v), cross3(w, dv)), e->magnus * density * e->volume);

    real3 normal = times3(e->projected, v), dnormal = times3(e->projected, dv);
    real along = max_(dot3(normal, v), least * least), square = max_(dot3(normal, normal), least * least);
    real squared = max_(dot3(v, v), least * least), speed = sqrt_(squared);
    real by_along = dot3(normal, dv) / along; // half the relative changes
    real by_square = dot3(normal, dnormal) / square;
    real by_speed = dot3(v, dv) / squared;
    real area = pi * sqrt_(square / along), darea = area * (by_square - by_along);
    real lift = e->kutta * density * pi * sqrt_(along / square) / speed;
    real dlift = lift * (by_along - by_square - by_speed);
    real3 across = cross3(normal, v), dacross = add3(cross3(dnormal, v), cross3(normal, dv));
    force = add_scaled3(force, cross3(across, v), dlift);
    force = add_scaled3(force, add3(cross3(dacross, v), cross3(across, dv)), lift);

    real facing = area * e->blunt + e->slender * (e->largest_area - area);
    real drag = R(6.0) * pi * e->mean * viscosity + density * speed * facing;
    real ddrag = density * speed * (by_speed * facing + darea * (e->blunt - e->slender));
    force = add_scaled3(add_scaled3(force, dv, -drag), v, -ddrag);

    real3 moments = turning_moments(e), turned = times3(moments, w);
    real turning = length3(turned), diameter = R(2.0) * e->mean;
    real turning_drag = pi * diameter * diameter * diameter * viscosity + density * turning;
    real dturning = density * dot3(turned, times3(moments, dw)) / max_(turning, least);
    torque = add_scaled3(add_scaled3(torque, dw, -turning_drag), w, -dturning);
    return make_spatial(torque, force);
}

// ---- bodies ----

FN int body_in_fluid(const lane_model *m, int body)
{
    return (m->opt.density > 0.0 || m->opt.viscosity > 0.0) && (double)m->body_mass[body] >= LANE_TINY;
}

// Iterates over the shapes of a body: *geom is a geom, or -1 for the box. Start with *geom = -2; returns 0
// after the last.
FN int next_shape(const lane_model *m, int body, int *geom)
{
    int end = m->body_geomadr[body] + m->body_geomnum[body], first = m->body_geomadr[body];
    if (*geom == -1) {
        return 0;
    }
    for (int i = *geom == -2 ? first : *geom + 1; i < end; i++) {
        if ((double)m->geom_fluid[ORR_NFLUID * i] > 0.0) {
            *geom = i;
            return 1;
        }
    }
    int box = *geom == -2;
    *geom = -1;
    return box;
}

LANE_FN void fluid_forces(const lane_model *m, lane_data *d, int body)
{
    for (int geom = -2; next_shape(m, body, &geom);) {
        fluid_shape shape = load_shape(m, d, body, geom);
        spatial drag;
        if (geom < 0) {
            drag = box_drag(m, d, body, shape.flow);
        } else {
            fluid_ellipsoid e = load_ellipsoid(m, geom);
            drag = ellipsoid_drag(m, &e, shape.flow);
        }
        apply_force(m, d, body, shape.at, rotate(shape.frame, drag.t), rotate(shape.frame, drag.r),
                    d->qfrc_passive);
    }
}
