#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "engine/maths/rotation.h"

#include "engine/maths/rotation_formula.h"

#include <string.h>

static real3 vector_of(const double a[3])
{
    return make_real3(a[0], a[1], a[2]);
}

static quaternion quaternion_of(const double q[4])
{
    return make_quaternion(q[0], q[1], q[2], q[3]);
}

static void store_vector(real3 a, double out[3])
{
    out[0] = a.x, out[1] = a.y, out[2] = a.z;
}

static void store_quaternion(quaternion q, double out[4])
{
    out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z;
}

double quat_normalise(double q[4])
{
    double square = 0.0;
    for (int i = 0; i < 4; i++) {
        square += q[i] * q[i];
    }
    double length = sqrt(square);
    for (int i = 0; i < 4 && length > 0.0; i++) {
        q[i] /= length;
    }
    return length;
}

void quat_multiply(const double a[4], const double b[4], double out[4])
{
    store_quaternion(multiply_quaternions(quaternion_of(a), quaternion_of(b)), out);
}

void quat_conjugate(const double a[4], double out[4])
{
    store_quaternion(conjugate(quaternion_of(a)), out);
}

void quat_matrix(const double q[4], double m[9])
{
    matrix3 a = quaternion_matrix(quaternion_of(q));
    store_vector(make_real3(a.x.x, a.y.x, a.z.x), m);
    store_vector(make_real3(a.x.y, a.y.y, a.z.y), m + 3);
    store_vector(make_real3(a.x.z, a.y.z, a.z.z), m + 6);
}

void quat_axis_angle(const double axis[3], double angle, double out[4])
{
    store_quaternion(half_angle_quaternion(vector_of(axis), sin(0.5 * angle), cos(0.5 * angle)), out);
}

void quat_from_z(const double direction[3], double out[4])
{
    double axis[3] = {-direction[1], direction[0], 0.0};
    double s = vec3_normalise(axis);
    if (s < 1e-10) {
        axis[0] = 1.0, axis[1] = axis[2] = 0.0;
    }
    quat_axis_angle(axis, atan2(s, direction[2]), out);
}

void quat_from_axes(const double x[3], const double y[3], const double z[3], double out[4])
{
    const double trace[4] = {x[0] + y[1] + z[2], x[0] - y[1] - z[2], y[1] - x[0] - z[2], z[2] - x[0] - y[1]};
    // the number that is found first, and positive, is the one that MuJoCo chooses: q and -q differ in a file
    int first = trace[0] > 0.0 ? 0 : trace[1] > fmax(trace[2], trace[3]) ? 1 : trace[2] > trace[3] ? 2 : 3;
    double r = 0.5 * sqrt(fmax(0.0, 1.0 + trace[first])), f = 0.25 / r;
    const double product[4][4] = {{r, (y[2] - z[1]) * f, (z[0] - x[2]) * f, (x[1] - y[0]) * f},
                                  {(y[2] - z[1]) * f, r, (y[0] + x[1]) * f, (z[0] + x[2]) * f},
                                  {(z[0] - x[2]) * f, (y[0] + x[1]) * f, r, (z[1] + y[2]) * f},
                                  {(x[1] - y[0]) * f, (z[0] + x[2]) * f, (z[1] + y[2]) * f, r}};
    memcpy(out, product[first], sizeof product[first]);
    quat_normalise(out);
}

void mat_apply(const double m[9], const double v[3], double out[3])
{
    const matrix3 a = {{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}};
    store_vector(rotate(a, vector_of(v)), out);
}

void mat_apply_transposed(const double m[9], const double v[3], double out[3])
{
    const matrix3 transposed = {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}};
    store_vector(rotate(transposed, vector_of(v)), out);
}

void quat_apply(const double q[4], const double v[3], double out[3])
{
    store_vector(rotate(quaternion_matrix(quaternion_of(q)), vector_of(v)), out);
}

void frame_compose(const double outer_pos[3], const double outer_quat[4], double pos[3], double quat[4])
{
    quat_apply(outer_quat, pos, pos);
    for (int i = 0; i < 3; i++) {
        pos[i] += outer_pos[i];
    }
    quat_multiply(outer_quat, quat, quat);
    quat_normalise(quat);
}
