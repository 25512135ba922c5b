// Vectors, quaternions (w, x, y, z) and 3x3 matrices (row-major) as arrays of double: what the model compiler
// and the drawing of robots calculate with. Rotations are those of engine/core/rotation_formula.h. `out` may
// be one of the arguments.
#pragma once

#include <math.h>
#include <string.h>

static inline double vec_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double vec_length(const double a[3])
{
    return sqrt(vec_dot(a, a));
}

// a / |a| of `count` numbers, in place. Returns |a|; a vector of zeros is not changed.
static inline double vec_normalise(double *a, int count)
{
    double square = 0.0;
    for (int i = 0; i < count; i++) {
        square += a[i] * a[i];
    }
    double length = sqrt(square);
    for (int i = 0; i < count && length > 0.0; i++) {
        a[i] /= length;
    }
    return length;
}

void vec_cross(const double a[3], const double b[3], double out[3]);

// The rotation b, then a.
void quat_multiply(const double a[4], const double b[4], double out[4]);
void quat_conjugate(const double a[4], double out[4]);
void quat_matrix(const double q[4], double m[9]);
// The rotation by `angle` [rad] about `axis`, of length 1.
void quat_axis_angle(const double axis[3], double angle, double out[4]);
// The shortest rotation that takes +z to `direction`, of length 1.
void quat_from_z(const double direction[3], double out[4]);
// The rotation matrix with the columns x, y, z.
void quat_from_axes(const double x[3], const double y[3], const double z[3], double out[4]);
void quat_apply(const double q[4], const double v[3], double out[3]);

void mat_apply(const double m[9], const double v[3], double out[3]);            // m v
void mat_apply_transposed(const double m[9], const double v[3], double out[3]); // m^T v

// The frame (pos, quat), given in the frame (outer_pos, outer_quat): becomes the same frame in the outer
// one's parent.
void frame_compose(const double outer_pos[3], const double outer_quat[4], double pos[3], double quat[4]);
