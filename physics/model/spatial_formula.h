// Spatial (6D) vectors and inertias, as in MuJoCo: rotation first, all in world axes about one point, the
// centre of mass of the kinematic tree (Featherstone, Rigid Body Dynamics Algorithms, 2008).
#ifndef ORR_SPATIAL_FORMULA_H
#define ORR_SPATIAL_FORMULA_H

#include "engine/maths/rotation_formula.h"

// a motion (angular, linear velocity) or a force (torque, force)
STRUCT(spatial)
{
    real3 r, t;
}
END_STRUCT(spatial)

// ten numbers: inertia about the point (symmetric), mass times the offset of the centre of mass, mass
STRUCT(inertia)
{
    real xx, yy, zz, xy, xz, yz;
    real3 offset;
    real mass;
}
END_STRUCT(inertia)

FN spatial make_spatial(real3 r, real3 t)
{
    spatial s;
    s.r = r;
    s.t = t;
    return s;
}

FN spatial add_spatial(spatial a, spatial b)
{
    return make_spatial(add3(a.r, b.r), add3(a.t, b.t));
}

FN spatial add_scaled_spatial(spatial a, spatial b, real s)
{
    return make_spatial(add_scaled3(a.r, b.r, s), add_scaled3(a.t, b.t, s));
}

// The velocity of a point that moves with v; arm: from the point that v is about.
FN real3 velocity_at(spatial v, real3 arm)
{
    return add3(v.t, cross3(v.r, arm));
}

// The acceleration of the same point, of spatial acceleration a.
FN real3 acceleration_at(spatial v, spatial a, real3 arm)
{
    return add3(velocity_at(a, arm), cross3(v.r, velocity_at(v, arm)));
}

// A force and a torque at a point as a spatial force.
FN spatial force_at(real3 force, real3 torque, real3 arm)
{
    return make_spatial(add3(torque, cross3(arm, force)), force);
}

FN real dot_spatial(spatial a, spatial b)
{
    return dot3(a.r, b.r) + dot3(a.t, b.t);
}

// the rate of a motion v carried along by `by`
FN spatial cross_motion(spatial by, spatial v)
{
    return make_spatial(cross3(by.r, v.r), add3(cross3(by.r, v.t), cross3(by.t, v.r)));
}

FN spatial cross_force(spatial by, spatial f)
{
    return make_spatial(add3(cross3(by.r, f.r), cross3(by.t, f.t)), cross3(by.r, f.t));
}

// inertia of a body with principal moments `moments` in `frame`, its centre of mass at `offset` from the
// point
FN inertia body_inertia_about(real3 moments, matrix3 frame, real3 offset, real mass)
{
    real3 a = frame.x, b = frame.y, c = frame.z, p = offset;
    inertia i;
    i.xx = moments.x * a.x * a.x + moments.y * b.x * b.x + moments.z * c.x * c.x +
           mass * (p.y * p.y + p.z * p.z);
    i.yy = moments.x * a.y * a.y + moments.y * b.y * b.y + moments.z * c.y * c.y +
           mass * (p.x * p.x + p.z * p.z);
    i.zz = moments.x * a.z * a.z + moments.y * b.z * b.z + moments.z * c.z * c.z +
           mass * (p.x * p.x + p.y * p.y);
    i.xy = moments.x * a.x * a.y + moments.y * b.x * b.y + moments.z * c.x * c.y - mass * p.x * p.y;
    i.xz = moments.x * a.x * a.z + moments.y * b.x * b.z + moments.z * c.x * c.z - mass * p.x * p.z;
    i.yz = moments.x * a.y * a.z + moments.y * b.y * b.z + moments.z * c.y * c.z - mass * p.y * p.z;
    i.offset = scale3(p, mass);
    i.mass = mass;
    return i;
}

// momentum of a motion
FN spatial inertia_times(inertia i, spatial v)
{
    real3 turned = make_real3(fma_(i.xx, v.r.x, fma_(i.xy, v.r.y, i.xz * v.r.z)),
                              fma_(i.xy, v.r.x, fma_(i.yy, v.r.y, i.yz * v.r.z)),
                              fma_(i.xz, v.r.x, fma_(i.yz, v.r.y, i.zz * v.r.z)));
    return make_spatial(add3(turned, cross3(i.offset, v.t)),
                        sub3(scale3(v.t, i.mass), cross3(i.offset, v.r)));
}

FN inertia add_inertia(inertia a, inertia b)
{
    a.xx = a.xx + b.xx;
    a.yy = a.yy + b.yy;
    a.zz = a.zz + b.zz;
    a.xy = a.xy + b.xy;
    a.xz = a.xz + b.xz;
    a.yz = a.yz + b.yz;
    a.offset = add3(a.offset, b.offset);
    a.mass = a.mass + b.mass;
    return a;
}

#endif
