// MJCF's alternatives for an orientation (axisangle, xyaxes, zaxis, euler) into a quaternion.
#include "engine/maths/rotation.h"
#include "physics/mjcf/mjcf.h"

#include <ctype.h>

static const double degree = 3.14159265358979323846 / 180.0;

void mjcf_clear_orientation(const mjcf_node *node, spec_orientation *orientation)
{
    if (mjcf_find(node, "quat") || mjcf_find(node, "axisangle") || mjcf_find(node, "xyaxes") ||
        mjcf_find(node, "zaxis") || mjcf_find(node, "euler")) {
        orientation->axisangle[0] = orientation->xyaxes[0] = orientation->zaxis[0] = orientation->euler[0] =
            (double)NAN;
    }
}

void mjcf_orientation_init(spec_orientation *orientation)
{
    *orientation =
        (spec_orientation){{1.0, 0.0, 0.0, 0.0}, {(double)NAN}, {(double)NAN}, {(double)NAN}, {(double)NAN}};
}

void mjcf_euler_quaternion(const char *sequence, const double angles[3], double quat[4])
{
    quat[0] = 1.0, quat[1] = quat[2] = quat[3] = 0.0;
    for (int i = 0; i < 3; i++) {
        double axis[3] = {0.0, 0.0, 0.0}, turn[4];
        axis[tolower(sequence[i]) - 'x'] = 1.0;
        quat_axis_angle(axis, angles[i], turn);
        if (islower(sequence[i])) {
            quat_multiply(quat, turn, quat);
        } else {
            quat_multiply(turn, quat, quat);
        }
    }
}

orr_result mjcf_resolve_orientation(mjcf_reader *reader, const mjcf_node *node, spec_orientation *orientation)
{
    const spec_compiler *compiler = &reader->spec->compiler;
    int count = mjcf_given(orientation->axisangle) + mjcf_given(orientation->xyaxes) +
                mjcf_given(orientation->zaxis) + mjcf_given(orientation->euler) +
                (mjcf_find(node, "quat") != NULL);
    if (count > 1) {
        return mjcf_fail(node, reader->error, "expected one of quat, axisangle, xyaxes, zaxis and euler");
    }
    bool degenerate = false;
    double scale = compiler->degree ? degree : 1.0;
    if (mjcf_given(orientation->axisangle)) {
        degenerate = vec3_normalise(orientation->axisangle) < 1e-14;
        quat_axis_angle(orientation->axisangle, orientation->axisangle[3] * scale, orientation->quat);
    } else if (mjcf_given(orientation->xyaxes)) {
        double *x = orientation->xyaxes, *y = orientation->xyaxes + 3, z[3];
        degenerate = vec3_normalise(x) < 1e-14;
        double along = vec3_dot(x, y);
        for (int i = 0; i < 3; i++) {
            y[i] -= along * x[i];
        }
        degenerate = vec3_normalise(y) < 1e-14 || degenerate;
        vec3_cross(x, y, z);
        quat_from_axes(x, y, z, orientation->quat);
    } else if (mjcf_given(orientation->zaxis)) {
        degenerate = vec3_normalise(orientation->zaxis) < 1e-14;
        quat_from_z(orientation->zaxis, orientation->quat);
    } else if (mjcf_given(orientation->euler)) {
        const double angles[3] = {orientation->euler[0] * scale, orientation->euler[1] * scale,
                                  orientation->euler[2] * scale};
        mjcf_euler_quaternion(compiler->eulerseq, angles, orientation->quat);
    }
    degenerate = quat_normalise(orientation->quat) < 1e-14 || degenerate;
    return degenerate ? mjcf_fail(node, reader->error,
                                  "orientation: expected axes and quaternions of a length above 0")
                      : ORR_OK;
}
