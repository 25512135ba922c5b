// Elastic torques of cables, MuJoCo's plugin mujoco.elasticity.cable: they turn a body one way and its parent
// the other way, so that no joint but the one between the two feels them.
#pragma once

#include "physics/lanes/kinematics.h"

LANE_FN void cable_torques(const lane_model *m, lane_data *d)
{
    for (int i = team_first(d); i < m->ncable; i += team_size(d)) {
        int joint = m->cable_jntid[i], dof = m->jnt_dofadr[joint];
        quaternion joint_turn = normalise_quaternion(load_quaternion(d->qpos + m->jnt_qposadr[joint], 0));
        quaternion turn = multiply_quaternions(uniform4(m->body_quat, m->jnt_bodyid[joint]), joint_turn);
        // a difference of rotation vectors, as MuJoCo's: for a rod that is curved at rest another angle than
        // that of the rotation between the two
        real3 strain = sub3(quaternion_velocity(turn), quaternion_velocity(uniform4(m->cable_rest, i)));
        real3 stiffness = uniform3(m->cable_stiffness, i);
        real3 torque = make_real3(-(stiffness.x * strain.x), -(stiffness.y * strain.y),
                                  -(stiffness.z * strain.z)); // in the parent's frame
        torque = rotate_inverse(quaternion_matrix(turn), torque);
        store3(d->qfrc_passive + dof, 0, add3(load3(d->qfrc_passive + dof, 0), torque));
    }
    team_wait(d);
}
