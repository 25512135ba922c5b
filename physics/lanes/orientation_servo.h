// Servos that turn a ball joint, or a site against the body of a reference site, to an orientation (MJCF's
// <orientation>): the torque is kp log(q^-1 u) - kv w in the turned frame, for the orientation q, the target
// u and the angular velocity w, and log gives the rotation vector.
#pragma once

#include "physics/lanes/control.h"
#include "physics/lanes/transmission.h"

// The target: a quaternion, or a rotation vector [rad], of which there may be an activation for each number.
// Sets the rates of these.
LANE_FN quaternion orientation_target(const lane_model *m, lane_data *d, int i)
{
    real input[4] = {R(0.0), R(0.0), R(0.0), R(0.0)};
    int adr = m->actuator_actadr[i];
    for (int k = 0; k < m->actuator_ctrlnum[i]; k++) {
        input[k] = control_input(m, d, i, m->actuator_ctrladr[i] + k);
        if (adr >= 0) {
            d->act_dot[adr + k] = input[k];
            input[k] = m->actuator_actearly[i] ? next_activation(m, d, i, k) : d->act[adr + k];
        }
    }
    if (m->actuator_ctrlspec[i] == ORR_CHART_QUATERNION) {
        return normalise_quaternion(make_quaternion(input[0], input[1], input[2], input[3]));
    }
    real3 turn = make_real3(input[0], input[1], input[2]);
    return axis_angle_quaternion(normalise3(turn), length3(turn));
}

// forcerange is the range of the torque's length.
LANE_FN void turn_to_target(const lane_model *m, lane_data *d, int i)
{
    int output = m->actuator_outadr[i];
    real stiffness = actuator_gainprm(m, d, ORR_NGAIN * i),
         damping = actuator_biasprm(m, d, ORR_NBIAS * i + 2);
    quaternion apart =
        multiply_quaternions(conjugate(driven_quaternion(m, d, i)), orientation_target(m, d, i));
    real3 torque = scale3(quaternion_velocity(apart), stiffness),
          spin = load3(d->actuator_velocity + output, 0);
    torque = add_scaled3(torque, spin, damping);
    if (m->actuator_forcelimited[i]) {
        real most = R(m->actuator_forcerange[2 * i + 1]), length = length3(torque);
        torque = scale3(torque, sel(length > most, most / max_(length, R(LANE_TINY)), R(1.0)));
    }
    store3(d->actuator_force + output, 0, torque);
}

// The derivative of the torque by the angular velocity; 0 where the torque is limited, up to rounding.
LANE_FN real orientation_slope(const lane_model *m, const lane_data *d, int i)
{
    real slope = actuator_biasprm(m, d, ORR_NBIAS * i + 2);
    if (!m->actuator_forcelimited[i]) {
        return slope;
    }
    real length = length3(load3(d->actuator_force + m->actuator_outadr[i], 0));
    mask limited = length >= R(m->actuator_forcerange[2 * i + 1] * (uniform_real)(1.0 - 1e-6));
    return sel(limited, R(0.0), slope);
}
