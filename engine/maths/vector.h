// Small vectors, quaternions and affine maps as plain arrays, for the host and for kernels that need doubles:
// files and the public API pass arrays, and the lanes' `real` is a vector of floats. Sums run from left to
// right. Vectors by value, over the `real` of formulas, are those of vector_formula.h; rotations on the host
// are in rotation.h, checked affine maps in camera.h.
//
//   vec3        double[3]; vec3f: float[3]
//   quaternion  double[4]: w, x, y, z
//   affine map  [12]: 3x4, row-major; the fourth row would be 0 0 0 1
#pragma once

#include "engine/maths/inline.h"

#include <math.h>

ORR_INLINE double vec3_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

ORR_INLINE float vec3f_dot(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

ORR_INLINE void vec3f_subtract(const float a[3], const float b[3], float out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = a[i] - b[i];
    }
}

ORR_INLINE double vec3_length(const double a[3])
{
    return sqrt(vec3_dot(a, a));
}

// a x b; out may be a or b.
ORR_INLINE void vec3_cross(const double a[3], const double b[3], double out[3])
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

ORR_INLINE void vec3f_cross(const float a[3], const float b[3], float out[3])
{
    float x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

// a / |a|, in place. Returns |a|; a vector of zeros is not changed.
ORR_INLINE double vec3_normalise(double a[3])
{
    double length = vec3_length(a);
    for (int i = 0; i < 3 && length > 0.0; i++) {
        a[i] /= length;
    }
    return length;
}

// The rotation matrix of a quaternion, row-major: unit_quaternion_matrix of rotation_formula.h in double,
// which kernels need too. two_over_norm: 2 / (w^2 + x^2 + y^2 + z^2), which is 2 for a unit quaternion.
ORR_INLINE void quaternion_to_matrix(const double q[4], double two_over_norm, double out[9])
{
    double s = two_over_norm, w = q[0], x = q[1], y = q[2], z = q[3];
    out[0] = 1.0 - s * (y * y + z * z);
    out[1] = s * (x * y - w * z);
    out[2] = s * (x * z + w * y);
    out[3] = s * (x * y + w * z);
    out[4] = 1.0 - s * (x * x + z * z);
    out[5] = s * (y * z - w * x);
    out[6] = s * (x * z - w * y);
    out[7] = s * (y * z + w * x);
    out[8] = 1.0 - s * (x * x + y * y);
}

// The map b, then a. `out` must not overlap an argument, here and below.
ORR_INLINE void affine_product(const double a[12], const double b[12], double out[12])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            double sum = j == 3 ? a[4 * i + 3] : 0.0;
            for (int k = 0; k < 3; k++) {
                sum += a[4 * i + k] * b[4 * k + j];
            }
            out[4 * i + j] = sum;
        }
    }
}

ORR_INLINE void affine_widen(const float m[12], double out[12])
{
    for (int i = 0; i < 12; i++) {
        out[i] = (double)m[i];
    }
}

// m d, without the translation
ORR_INLINE void affine_apply_to_direction(const float m[12], const float d[3], float out[3])
{
    for (int i = 0; i < 3; i++) {
        const float *row = m + 4 * i;
        out[i] = row[0] * d[0] + row[1] * d[1] + row[2] * d[2];
    }
}

// m p
ORR_INLINE void affine_apply_to_point(const float m[12], const float p[3], float out[3])
{
    for (int i = 0; i < 3; i++) {
        const float *row = m + 4 * i;
        out[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
    }
}
