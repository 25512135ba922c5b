// Unit quaternions (w first, as in MJCF) and rotation matrices.
#ifndef ORR_ROTATION_FORMULA_H
#define ORR_ROTATION_FORMULA_H

#include "engine/maths/vector_formula.h"

STRUCT(quaternion)
{
    real w, x, y, z;
}
END_STRUCT(quaternion)

// a rotation matrix by its columns: the axes of the rotated frame
STRUCT(matrix3)
{
    real3 x, y, z;
}
END_STRUCT(matrix3)

FN quaternion make_quaternion(real w, real x, real y, real z)
{
    quaternion q;
    q.w = w;
    q.x = x;
    q.y = y;
    q.z = z;
    return q;
}

// q / |q|, or the identity where |q| is below 1e-15. A length within 1e-15 of 1 is not changed, as in MuJoCo.
FN quaternion normalise_quaternion(quaternion q)
{
    real length = sqrt_(fma_(q.w, q.w, fma_(q.x, q.x, fma_(q.y, q.y, q.z * q.z))));
    mask short_ = length < R(1e-15);
    mask off = and_(abs_(length - R(1.0)) > R(1e-15), not_(short_));
    real scale = sel(off, R(1.0) / sel(off, length, R(1.0)), R(1.0));
    return make_quaternion(sel(short_, R(1.0), q.w * scale), q.x * scale, q.y * scale, q.z * scale);
}

// The rotation by an angle about `axis`, of length 1; sine and cosine: of half the angle.
FN quaternion half_angle_quaternion(real3 axis, real sine, real cosine)
{
    return make_quaternion(cosine, axis.x * sine, axis.y * sine, axis.z * sine);
}

// The rotation b, then a.
FN quaternion multiply_quaternions(quaternion a, quaternion b)
{
    return make_quaternion(
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

FN quaternion conjugate(quaternion q)
{
    return make_quaternion(q.w, -q.x, -q.y, -q.z);
}

// The rotation of q, as MuJoCo computes it; for |q| != 1 it is scaled by |q|^2.
FN matrix3 quaternion_matrix(quaternion q)
{
    real xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, ww = q.w * q.w;
    real xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    real wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    real two = R(2.0);
    matrix3 m;
    m.x = make_real3(ww + xx - yy - zz, two * (xy + wz), two * (xz - wy));
    m.y = make_real3(two * (xy - wz), ww - xx + yy - zz, two * (yz + wx));
    m.z = make_real3(two * (xz + wy), two * (yz - wx), ww - xx - yy + zz);
    return m;
}

// The same for a unit quaternion in fewer operations, and so with other roundings; the axes of splats have
// them.
FN matrix3 unit_quaternion_matrix(quaternion q)
{
    matrix3 m;
    m.x = make_real3(R(1.0) - R(2.0) * (q.y * q.y + q.z * q.z), R(2.0) * (q.x * q.y + q.w * q.z),
                     R(2.0) * (q.x * q.z - q.w * q.y));
    m.y = make_real3(R(2.0) * (q.x * q.y - q.w * q.z), R(1.0) - R(2.0) * (q.x * q.x + q.z * q.z),
                     R(2.0) * (q.y * q.z + q.w * q.x));
    m.z = make_real3(R(2.0) * (q.x * q.z + q.w * q.y), R(2.0) * (q.y * q.z - q.w * q.x),
                     R(1.0) - R(2.0) * (q.x * q.x + q.y * q.y));
    return m;
}

// m v
FN real3 rotate(matrix3 m, real3 v)
{
    return add_scaled3(add_scaled3(scale3(m.x, v.x), m.y, v.y), m.z, v.z);
}

// m^-1 v
FN real3 rotate_inverse(matrix3 m, real3 v)
{
    return make_real3(dot3(m.x, v), dot3(m.y, v), dot3(m.z, v));
}

FN matrix3 multiply_matrices(matrix3 a, matrix3 b)
{
    matrix3 m;
    m.x = rotate(a, b.x);
    m.y = rotate(a, b.y);
    m.z = rotate(a, b.z);
    return m;
}

#endif
