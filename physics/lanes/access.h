// Vectors, quaternions, matrices and spatial vectors in the arrays of a world: element i of an array of them.
#pragma once

#include "physics/lanes/state.h"

// The element's address comes first, so that constants are all that is added to it: compilers compute each of
// p[3 * i + 1] and p[3 * i + 2] anew.
FN real3 load3(reals p, int i)
{
    p = p + 3 * i;
    return make_real3(p[0], p[1], p[2]);
}

FN void store3(reals p, int i, real3 a)
{
    p = p + 3 * i;
    p[0] = a.x;
    p[1] = a.y;
    p[2] = a.z;
}

FN real3 uniform3(const uniform_real *p, int i)
{
    p = p + 3 * i;
    return make_real3(R(p[0]), R(p[1]), R(p[2]));
}

FN quaternion uniform4(const uniform_real *p, int i)
{
    p = p + 4 * i;
    return make_quaternion(R(p[0]), R(p[1]), R(p[2]), R(p[3]));
}

FN quaternion load_quaternion(reals p, int i)
{
    p = p + 4 * i;
    return make_quaternion(p[0], p[1], p[2], p[3]);
}

FN void store_quaternion(reals p, int i, quaternion q)
{
    p = p + 4 * i;
    p[0] = q.w;
    p[1] = q.x;
    p[2] = q.y;
    p[3] = q.z;
}

FN matrix3 load_matrix(reals p, int i)
{
    p = p + 9 * i;
    matrix3 a;
    a.x = make_real3(p[0], p[3], p[6]);
    a.y = make_real3(p[1], p[4], p[7]);
    a.z = make_real3(p[2], p[5], p[8]);
    return a;
}

FN void store_matrix(reals p, int i, matrix3 a)
{
    p = p + 9 * i;
    store3(p, 0, make_real3(a.x.x, a.y.x, a.z.x));
    store3(p, 1, make_real3(a.x.y, a.y.y, a.z.y));
    store3(p, 2, make_real3(a.x.z, a.y.z, a.z.z));
}

FN spatial load_spatial(reals p, int i)
{
    p = p + 6 * i;
    return make_spatial(load3(p, 0), load3(p, 1));
}

FN void store_spatial(reals p, int i, spatial a)
{
    p = p + 6 * i;
    store3(p, 0, a.r);
    store3(p, 1, a.t);
}

FN inertia load_inertia(reals p, int i)
{
    p = p + 10 * i;
    inertia a;
    a.xx = p[0];
    a.yy = p[1];
    a.zz = p[2];
    a.xy = p[3];
    a.xz = p[4];
    a.yz = p[5];
    a.offset = make_real3(p[6], p[7], p[8]);
    a.mass = p[9];
    return a;
}

FN void store_inertia(reals p, int i, inertia a)
{
    p = p + 10 * i;
    p[0] = a.xx;
    p[1] = a.yy;
    p[2] = a.zz;
    p[3] = a.xy;
    p[4] = a.xz;
    p[5] = a.yz;
    p[6] = a.offset.x;
    p[7] = a.offset.y;
    p[8] = a.offset.z;
    p[9] = a.mass;
}

FN real3 zero3(void)
{
    return make_real3(R(0.0), R(0.0), R(0.0));
}

FN real3 axis3(int axis)
{
    return make_real3(R(axis == 0), R(axis == 1), R(axis == 2));
}

FN matrix3 identity3(void)
{
    matrix3 a = {axis3(0), axis3(1), axis3(2)};
    return a;
}

// The length and speed of the only output of an actuator.
FN real output_length(const lane_model *m, const lane_data *d, int actuator)
{
    return d->actuator_length[m->actuator_outadr[actuator]];
}

FN real output_speed(const lane_model *m, const lane_data *d, int actuator)
{
    return d->actuator_velocity[m->actuator_outadr[actuator]];
}
