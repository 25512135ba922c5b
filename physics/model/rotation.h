// Vectors, quaternions (w, x, y, z) and 3x3 matrices (row-major) in double precision, for the model compiler.
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

static inline void vec_cross(const double a[3], const double b[3], double out[3])
{
    const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(out, c, sizeof c);
}

// Returns the length it had; a vector of no length stays.
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

static inline void quat_multiply(const double a[4], const double b[4], double out[4])
{
    const double c[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                         a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                         a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                         a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(out, c, sizeof c);
}

static inline void quat_conjugate(const double a[4], double out[4])
{
    out[0] = a[0];
    out[1] = -a[1], out[2] = -a[2], out[3] = -a[3];
}

static inline void quat_matrix(const double q[4], double m[9])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    m[0] = w * w + x * x - y * y - z * z;
    m[4] = w * w - x * x + y * y - z * z;
    m[8] = w * w - x * x - y * y + z * z;
    m[1] = 2.0 * (x * y - w * z), m[3] = 2.0 * (x * y + w * z);
    m[2] = 2.0 * (x * z + w * y), m[6] = 2.0 * (x * z - w * y);
    m[5] = 2.0 * (y * z - w * x), m[7] = 2.0 * (y * z + w * x);
}

// `axis` of length 1
static inline void quat_axis_angle(const double axis[3], double angle, double out[4])
{
    double s = sin(0.5 * angle);
    out[0] = cos(0.5 * angle);
    out[1] = axis[0] * s, out[2] = axis[1] * s, out[3] = axis[2] * s;
}

// The shortest turn that takes +z to `direction`, of length 1.
static inline void quat_from_z(const double direction[3], double out[4])
{
    double axis[3] = {-direction[1], direction[0], 0.0};
    double s = vec_normalise(axis, 3);
    if (s < 1e-10) {
        axis[0] = 1.0, axis[1] = axis[2] = 0.0;
    }
    quat_axis_angle(axis, atan2(s, direction[2]), out);
}

// The rotation whose columns are x, y, z.
static inline void quat_from_axes(const double x[3], const double y[3], const double z[3], double out[4])
{
    const double trace[4] = {x[0] + y[1] + z[2], x[0] - y[1] - z[2], y[1] - x[0] - z[2], z[2] - x[0] - y[1]};
    int largest = 0;
    for (int i = 1; i < 4; i++) {
        largest = trace[i] > trace[largest] ? i : largest;
    }
    double r = 0.5 * sqrt(fmax(0.0, 1.0 + trace[largest])), f = 0.25 / r;
    const double product[4][4] = {{r, (y[2] - z[1]) * f, (z[0] - x[2]) * f, (x[1] - y[0]) * f},
                                  {(y[2] - z[1]) * f, r, (y[0] + x[1]) * f, (z[0] + x[2]) * f},
                                  {(z[0] - x[2]) * f, (y[0] + x[1]) * f, r, (z[1] + y[2]) * f},
                                  {(x[1] - y[0]) * f, (z[0] + x[2]) * f, (z[1] + y[2]) * f, r}};
    memcpy(out, product[largest], sizeof product[largest]);
    vec_normalise(out, 4);
}

static inline void mat_apply(const double m[9], const double v[3], double out[3])
{
    const double r[3] = {vec_dot(m, v), vec_dot(m + 3, v), vec_dot(m + 6, v)};
    memcpy(out, r, sizeof r);
}

static inline void mat_apply_transposed(const double m[9], const double v[3], double out[3])
{
    const double r[3] = {m[0] * v[0] + m[3] * v[1] + m[6] * v[2], m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
                         m[2] * v[0] + m[5] * v[1] + m[8] * v[2]};
    memcpy(out, r, sizeof r);
}

static inline void quat_apply(const double q[4], const double v[3], double out[3])
{
    double m[9];
    quat_matrix(q, m);
    mat_apply(m, v, out);
}

// The frame (pos, quat), given inside the frame (outer_pos, outer_quat), seen from outside.
static inline void frame_compose(const double outer_pos[3], const double outer_quat[4], double pos[3],
                                 double quat[4])
{
    quat_apply(outer_quat, pos, pos);
    for (int i = 0; i < 3; i++) {
        pos[i] += outer_pos[i];
    }
    quat_multiply(outer_quat, quat, quat);
    vec_normalise(quat, 4);
}
