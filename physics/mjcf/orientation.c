// The ways in which MJCF says an orientation, into a quaternion.
#include "physics/mjcf/mjcf.h"
#include "physics/model/rotation.h"

#include <ctype.h>

static const double degree = 3.14159265358979323846 / 180.0;

void mjcf_turn_clear_for(const mjcf_node *node, spec_orientation *turn)
{
    if (mjcf_find(node, "quat") || mjcf_find(node, "axisangle") || mjcf_find(node, "xyaxes") ||
        mjcf_find(node, "zaxis") || mjcf_find(node, "euler")) {
        turn->axisangle[0] = turn->xyaxes[0] = turn->zaxis[0] = turn->euler[0] = (double)NAN;
    }
}

void mjcf_turn_init(spec_orientation *turn)
{
    *turn =
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

orr_result mjcf_resolve_turn(mjcf_reader *reader, const mjcf_node *node, spec_orientation *turn)
{
    const spec_compiler *compiler = &reader->spec->compiler;
    int count = mjcf_given(turn->axisangle) + mjcf_given(turn->xyaxes) + mjcf_given(turn->zaxis) +
                mjcf_given(turn->euler) + (mjcf_find(node, "quat") != NULL);
    if (count > 1) {
        return mjcf_fail(node, reader->error, "expected one of quat, axisangle, xyaxes, zaxis and euler");
    }
    bool degenerate = false;
    double scale = compiler->degree ? degree : 1.0;
    if (mjcf_given(turn->axisangle)) {
        degenerate = vec_normalise(turn->axisangle, 3) < 1e-14;
        quat_axis_angle(turn->axisangle, turn->axisangle[3] * scale, turn->quat);
    } else if (mjcf_given(turn->xyaxes)) {
        double *x = turn->xyaxes, *y = turn->xyaxes + 3, z[3];
        degenerate = vec_normalise(x, 3) < 1e-14;
        double along = vec_dot(x, y);
        for (int i = 0; i < 3; i++) {
            y[i] -= along * x[i];
        }
        degenerate = vec_normalise(y, 3) < 1e-14 || degenerate;
        vec_cross(x, y, z);
        quat_from_axes(x, y, z, turn->quat);
    } else if (mjcf_given(turn->zaxis)) {
        degenerate = vec_normalise(turn->zaxis, 3) < 1e-14;
        quat_from_z(turn->zaxis, turn->quat);
    } else if (mjcf_given(turn->euler)) {
        const double angles[3] = {turn->euler[0] * scale, turn->euler[1] * scale, turn->euler[2] * scale};
        mjcf_euler_quaternion(compiler->eulerseq, angles, turn->quat);
    }
    degenerate = vec_normalise(turn->quat, 4) < 1e-14 || degenerate;
    return degenerate ? mjcf_fail(node, reader->error,
                                  "orientation: expected axes and quaternions of a length above 0")
                      : ORR_OK;
}
