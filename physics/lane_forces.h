// Forces that depend on position and velocity alone (springs, dampers, drag), and actuators.
#pragma once

#include "physics/lane_kinematics.h"
#include "physics/lane_velocity.h"

LANE_FN void springs(const lane_model *m, const lane_data *d)
{
    for (int joint = 0; joint < m->njnt; joint++) {
        uniform_real stiffness = m->jnt_stiffness[joint];
        if ((double)stiffness == 0.0) {
            continue;
        }
        int dof = m->jnt_dofadr[joint], adr = m->jnt_qposadr[joint], type = m->jnt_type[joint];
        if (type == ORR_JOINT_FREE) {
            for (int k = 0; k < 3; k++) {
                d->qfrc_passive[dof++] = -stiffness * (d->qpos[adr + k] - R(m->qpos_spring[adr + k]));
            }
            adr += 3;
        }
        if (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL) {
            quaternion at = normalise_quaternion(load_quaternion(d->qpos + adr, 0));
            quaternion rest = uniform4(m->qpos_spring + adr, 0);
            real3 apart = quaternion_velocity(multiply_quaternions(conjugate(rest), at));
            store3(d->qfrc_passive + dof, 0, scale3(apart, R(-stiffness)));
        } else {
            d->qfrc_passive[dof] = -stiffness * (d->qpos[adr] - R(m->qpos_spring[adr]));
        }
    }
}

LANE_FN void tendon_springs(const lane_model *m, const lane_data *d, int with_spring, int with_damper)
{
    for (int i = 0; i < m->ntendon; i++) {
        real force = R(0.0);
        if (with_spring && (double)m->tendon_stiffness[i] != 0.0) {
            real length = d->ten_length[i];
            real low = R(m->tendon_lengthspring[2 * i]), high = R(m->tendon_lengthspring[2 * i + 1]);
            force = m->tendon_stiffness[i] * (max_(low - length, R(0.0)) - max_(length - high, R(0.0)));
        }
        if (with_damper) {
            force = force - m->tendon_damping[i] * d->ten_velocity[i];
        }
        orr_chain chain = m->plan->chain[m->plan->tendon_chain + i];
        for (int k = chain.first; k < chain.first + chain.count; k++) {
            int dof = m->plan->chain_dof[k];
            d->qfrc_passive[dof] = d->qfrc_passive[dof] + R(m->plan->chain_coef[k]) * force;
        }
    }
}

// Drag of the medium on a body as if it were the box with its inertia: MuJoCo's documentation, "Fluid forces".
LANE_FN void fluid_drag(const lane_model *m, const lane_data *d, int body)
{
    const double pi = 3.14159265358979323846;
    double mass = (double)m->body_mass[body];
    const uniform_real *I = m->body_inertia + 3 * body;
    double box[3]; // full sizes
    for (int k = 0; k < 3; k++) {
        double sum = (double)I[(k + 1) % 3] + (double)I[(k + 2) % 3] - (double)I[k];
        box[k] = sqrt((sum > 1e-15 ? sum : 1e-15) / mass * 6.0);
    }
    matrix3 frame = load_matrix(d->ximat, body);
    real3 at = load3(d->xipos, body);
    spatial v = load_spatial(d->cvel, body);
    real3 arm = sub3(at, load3(d->subtree_com, m->body_rootid[body]));
    real3 wind = make_real3(R(m->opt.wind[0]), R(m->opt.wind[1]), R(m->opt.wind[2]));
    real3 turning = rotate_back(frame, v.r);
    real3 moving = rotate_back(frame, sub3(add3(v.t, cross3(v.r, arm)), wind));
    double diameter = (box[0] + box[1] + box[2]) / 3.0, viscosity = m->opt.viscosity,
           density = m->opt.density;
    real3 torque = scale3(turning, R(-pi * diameter * diameter * diameter * viscosity));
    real3 force = scale3(moving, R(-3.0 * pi * diameter * viscosity));
    double fourth[3] = {pow(box[0], 4), pow(box[1], 4), pow(box[2], 4)};
    force.x = force.x - R(0.5 * density * box[1] * box[2]) * abs_(moving.x) * moving.x;
    force.y = force.y - R(0.5 * density * box[0] * box[2]) * abs_(moving.y) * moving.y;
    force.z = force.z - R(0.5 * density * box[0] * box[1]) * abs_(moving.z) * moving.z;
    torque.x = torque.x - R(density * box[0] * (fourth[1] + fourth[2]) / 64.0) * abs_(turning.x) * turning.x;
    torque.y = torque.y - R(density * box[1] * (fourth[0] + fourth[2]) / 64.0) * abs_(turning.y) * turning.y;
    torque.z = torque.z - R(density * box[2] * (fourth[0] + fourth[1]) / 64.0) * abs_(turning.z) * turning.z;
    apply_force(m, d, body, at, rotate(frame, force), rotate(frame, torque), d->qfrc_passive);
}

LANE_FN void gravity_compensation(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < m->nv; i++) {
        d->qfrc_gravcomp[i] = R(0.0);
    }
    if (m->opt.disableflags & ORR_DISABLE_GRAVITY) {
        return;
    }
    for (int i = 1; i < m->nbody; i++) {
        if ((double)m->body_gravcomp[i] != 0.0) {
            real3 force = scale3(gravity(m, d), -(m->body_gravcomp[i] * body_mass(m, d, i)));
            apply_force(m, d, i, load3(d->xipos, i), force, zero3(), d->qfrc_gravcomp);
        }
    }
}

LANE_FN void passive_forces(const lane_model *m, const lane_data *d)
{
    int with_spring = !(m->opt.disableflags & ORR_DISABLE_SPRING);
    int with_damper = !(m->opt.disableflags & ORR_DISABLE_DAMPER);
    for (int i = 0; i < m->nv; i++) {
        d->qfrc_passive[i] = R(0.0);
    }
    if (with_spring) {
        springs(m, d);
    }
    if (with_damper) {
        for (int i = 0; i < m->nv; i++) {
            d->qfrc_passive[i] = d->qfrc_passive[i] - dof_damping(m, d, i) * d->qvel[i];
        }
    }
    tendon_springs(m, d, with_spring, with_damper);
    if (m->opt.density > 0.0 || m->opt.viscosity > 0.0) {
        for (int i = 1; i < m->nbody; i++) {
            if ((double)m->body_mass[i] >= LANE_TINY) {
                fluid_drag(m, d, i);
            }
        }
    }
    gravity_compensation(m, d);
    for (int i = 0; i < m->nv; i++) {
        if (!m->jnt_actgravcomp[m->dof_jntid[i]]) {
            d->qfrc_passive[i] = d->qfrc_passive[i] + d->qfrc_gravcomp[i];
        }
    }
}

// Length of each actuator's transmission and its moment on the dofs it moves.
LANE_FN void transmissions(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < m->nu; i++) {
        const uniform_real *gear = m->actuator_gear + 6 * i;
        int id = m->actuator_trnid[2 * i];
        reals moment = d->actuator_moment + 6 * i;
        if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON) {
            moment[0] = R(gear[0]);
            d->actuator_length[i] = gear[0] * d->ten_length[id];
            continue;
        }
        reals q = d->qpos + m->jnt_qposadr[id];
        int type = m->jnt_type[id], free_joint = type == ORR_JOINT_FREE;
        if (!free_joint && type != ORR_JOINT_BALL) {
            moment[0] = R(gear[0]);
            d->actuator_length[i] = gear[0] * q[0];
            continue;
        }
        quaternion at = normalise_quaternion(load_quaternion(q + 3 * free_joint, 0));
        real3 turn = uniform3(gear + 3 * free_joint, 0);
        if (m->actuator_trntype[i] == ORR_TRANSMISSION_JOINTINPARENT) {
            turn = rotate_back(quaternion_matrix(at), turn);
        }
        if (free_joint) {
            store3(moment, 0, uniform3(gear, 0));
        }
        store3(moment + 3 * free_joint, 0, turn);
        d->actuator_length[i] = free_joint ? R(0.0) : dot3(quaternion_velocity(at), turn);
    }
}

FN int actuator_disabled(const lane_model *m, int i)
{
    int group = m->actuator_group[i];
    return group >= 0 && group <= 30 && (m->opt.disableactuator & (1 << group)) != 0;
}

LANE_FN void actuator_velocities(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < m->nu; i++) {
        int id = m->actuator_trnid[2 * i];
        reals moment = d->actuator_moment + 6 * i;
        if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON) {
            d->actuator_velocity[i] = moment[0] * d->ten_velocity[id];
            continue;
        }
        int dof = m->jnt_dofadr[id];
        real velocity = R(0.0);
        for (int k = 0; k < joint_dofs(m->jnt_type[id]); k++) {
            velocity = velocity + moment[k] * d->qvel[dof + k];
        }
        d->actuator_velocity[i] = velocity;
    }
}

// The activation after one time step.
LANE_FN real next_activation(const lane_model *m, const lane_data *d, int i)
{
    int adr = m->actuator_actadr[i];
    real rate = d->act_dot[adr];
    uniform_real step = (uniform_real)m->opt.timestep;
    if (m->actuator_dyntype[i] == ORR_DYNAMICS_FILTEREXACT) {
        double tau = (double)m->actuator_dynprm[ORR_NDYN * i];
        tau = tau > 1e-15 ? tau : 1e-15;
        step = (uniform_real)(tau * (1.0 - exp(-m->opt.timestep / tau)));
    }
    real next = d->act[adr] + step * rate;
    if (m->actuator_actlimited[i]) {
        next = clamp_(next, R(m->actuator_actrange[2 * i]), R(m->actuator_actrange[2 * i + 1]));
    }
    return next;
}

LANE_FN real actuator_input(const lane_model *m, const lane_data *d, int i)
{
    real control = d->ctrl[i];
    if (m->actuator_ctrllimited[i] && !(m->opt.disableflags & ORR_DISABLE_CLAMPCTRL)) {
        control = clamp_(control, R(m->actuator_ctrlrange[2 * i]), R(m->actuator_ctrlrange[2 * i + 1]));
    }
    int adr = m->actuator_actadr[i];
    if (adr < 0) {
        return control;
    }
    if (m->actuator_dyntype[i] == ORR_DYNAMICS_INTEGRATOR) {
        d->act_dot[adr] = control;
    } else {
        double tau = (double)m->actuator_dynprm[ORR_NDYN * i];
        d->act_dot[adr] = (control - d->act[adr]) * R(1.0 / (tau > 1e-15 ? tau : 1e-15));
    }
    return m->actuator_actearly[i] ? next_activation(m, d, i) : d->act[adr];
}

LANE_FN real actuator_output(const lane_model *m, const lane_data *d, int i, real input)
{
    real gain[3], bias[3];
    for (int k = 0; k < 3; k++) {
        gain[k] = actuator_gainprm(m, d, ORR_NGAIN * i + k);
        bias[k] = actuator_biasprm(m, d, ORR_NBIAS * i + k);
    }
    real factor = gain[0], force = R(0.0);
    if (m->actuator_gaintype[i] == ORR_GAIN_AFFINE) {
        factor = factor + gain[1] * d->actuator_length[i] + gain[2] * d->actuator_velocity[i];
    }
    if (m->actuator_biastype[i] == ORR_BIAS_AFFINE) {
        force = bias[0] + bias[1] * d->actuator_length[i] + bias[2] * d->actuator_velocity[i];
    }
    return force + factor * input;
}

LANE_FN void limit_tendon_actuation(const lane_model *m, const lane_data *d)
{
    for (int t = 0; t < m->ntendon; t++) {
        if (!m->tendon_actfrclimited[t]) {
            continue;
        }
        real sum = R(0.0);
        for (int i = 0; i < m->nu; i++) {
            if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON && m->actuator_trnid[2 * i] == t) {
                sum = sum + d->actuator_force[i];
            }
        }
        real limited = clamp_(sum, R(m->tendon_actfrcrange[2 * t]), R(m->tendon_actfrcrange[2 * t + 1]));
        mask over = abs_(limited - sum) > R(0.0);
        real scale = sel(over, limited / sel(over, sum, R(1.0)), R(1.0));
        for (int i = 0; i < m->nu; i++) {
            if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON && m->actuator_trnid[2 * i] == t) {
                d->actuator_force[i] = d->actuator_force[i] * scale;
            }
        }
    }
}

LANE_FN void actuation(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < m->nv; i++) {
        d->qfrc_actuator[i] = R(0.0);
    }
    int disabled = (m->opt.disableflags & ORR_DISABLE_ACTUATION) != 0;
    for (int i = 0; i < m->na; i++) {
        d->act_dot[i] = R(0.0);
    }
    for (int i = 0; i < m->nu; i++) {
        d->actuator_force[i] = R(0.0);
        if (disabled || actuator_disabled(m, i)) {
            continue;
        }
        real force = actuator_output(m, d, i, actuator_input(m, d, i));
        if (m->actuator_forcelimited[i]) {
            force = clamp_(force, R(m->actuator_forcerange[2 * i]), R(m->actuator_forcerange[2 * i + 1]));
        }
        d->actuator_force[i] = force;
    }
    limit_tendon_actuation(m, d);
    for (int i = 0; i < m->nu; i++) {
        int id = m->actuator_trnid[2 * i];
        reals moment = d->actuator_moment + 6 * i;
        real force = d->actuator_force[i];
        if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON) {
            orr_chain chain = m->plan->chain[m->plan->tendon_chain + id];
            for (int k = chain.first; k < chain.first + chain.count; k++) {
                int dof = m->plan->chain_dof[k];
                d->qfrc_actuator[dof] = d->qfrc_actuator[dof] + R(m->plan->chain_coef[k]) * moment[0] * force;
            }
        } else {
            int dof = m->jnt_dofadr[id];
            for (int k = 0; k < joint_dofs(m->jnt_type[id]); k++) {
                d->qfrc_actuator[dof + k] = d->qfrc_actuator[dof + k] + moment[k] * force;
            }
        }
    }
    for (int i = 0; i < m->nv; i++) {
        int joint = m->dof_jntid[i];
        if (m->jnt_actgravcomp[joint] && !disabled) {
            d->qfrc_actuator[i] = d->qfrc_actuator[i] + d->qfrc_gravcomp[i];
        }
        if (m->jnt_actfrclimited[joint]) {
            d->qfrc_actuator[i] = clamp_(d->qfrc_actuator[i], R(m->jnt_actfrcrange[2 * joint]),
                                         R(m->jnt_actfrcrange[2 * joint + 1]));
        }
    }
}
