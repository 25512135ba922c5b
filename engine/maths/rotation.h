// Rotations on the host: quaternions (w, x, y, z), 3x3 matrices (row-major) and frames as arrays of double,
// by the formulas of rotation_formula.h. `out` may be one of the arguments.
#pragma once

#include "engine/maths/vector.h"

// q / |q|, in place. Returns |q|; a quaternion of zeros is not changed.
double quat_normalise(double q[4]);
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
