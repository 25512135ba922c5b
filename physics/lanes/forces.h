// Passive forces, which depend on position and velocity alone (springs, dampers, drag), and forces of
// actuators.
#pragma once

#include "physics/lanes/control.h"
#include "physics/lanes/flex_nodes.h"
#include "physics/lanes/muscle.h"
#include "physics/lanes/orientation_servo.h"
#include "physics/lanes/passive/adhesion.h"
#include "physics/lanes/passive/cable.h"
#include "physics/lanes/passive/fluid.h"
#include "physics/lanes/passive/plastic.h"

// Force per unit of displacement of a spring in 3D.
FN real spring_stiffness(const lane_drag *spring, real3 apart)
{
    if ((double)spring->c1 == 0.0 && (double)spring->c2 == 0.0) {
        return spring->c0;
    }
    real square = dot3(apart, apart);
    return spring->c0 + spring->c1 * sqrt_(square) + spring->c2 * square;
}

LANE_FN void springs(const lane_model *m, lane_data *d)
{
    for (int n = team_first(d); n < joint_count(m, d); n += team_size(d)) {
        int joint = nth_joint(d, n);
        lane_drag spring = joint_spring(m, joint);
        if (!drags(&spring)) {
            continue;
        }
        int dof = m->jnt_dofadr[joint], adr = m->jnt_qposadr[joint], type = m->jnt_type[joint];
        if (type == ORR_JOINT_FREE) {
            real3 apart = sub3(load3(d->qpos + adr, 0), uniform3(m->qpos_spring + adr, 0));
            store3(d->qfrc_passive + dof, 0, scale3(apart, -spring_stiffness(&spring, apart)));
            dof += 3;
            adr += 3;
        }
        if (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL) {
            quaternion at = normalise_quaternion(load_quaternion(d->qpos + adr, 0));
            quaternion rest = spring_rest_quaternion(m, d, joint);
            real3 apart = quaternion_velocity(multiply_quaternions(conjugate(rest), at));
            store3(d->qfrc_passive + dof, 0, scale3(apart, -spring_stiffness(&spring, apart)));
        } else {
            d->qfrc_passive[dof] = spring_force(&spring, d->qpos[adr] - spring_rest(m, d, joint));
        }
    }
    team_wait(d);
}

LANE_FN void tendon_springs(const lane_model *m, lane_data *d, int with_spring, int with_damper)
{
    for (int i = 0; i < m->ntendon; i++) {
        real force = R(0.0);
        lane_drag spring = tendon_spring(m, i), drag = tendon_drag(m, i);
        if (with_spring && drags(&spring)) {
            force = spring_force(&spring, tendon_extension(m, d, i, d->ten_length[i]));
        }
        if (with_damper) {
            force = force + drag_force(&drag, d->ten_velocity[i]);
        }
        chain_pull(m, tendon_chain(m, i), tendon_arms(m, d, i), force, d->qfrc_passive);
    }
}

LANE_FN void gravity_compensation(const lane_model *m, lane_data *d, int exists)
{
    for (int n = 0; n < dof_count(m, d); n++) {
        d->qfrc_gravcomp[nth_dof(d, n)] = R(0.0);
    }
    if (!exists || m->opt.disableflags & ORR_DISABLE_GRAVITY) {
        return;
    }
    for (int n = 1; n < body_count(m, d); n++) {
        int i = nth_body(d, n);
        if ((double)m->body_gravcomp[i] != 0.0) {
            real3 force = scale3(gravity(m, d), -(m->body_gravcomp[i] * body_mass(m, d, i)));
            apply_force(m, d, i, load3(d->xipos, i), force, zero3(), d->qfrc_gravcomp);
        }
    }
}

LANE_FN void passive_forces(const lane_model *m, lane_data *d)
{
    int with_spring = !(m->opt.disableflags & ORR_DISABLE_SPRING);
    int with_damper = !(m->opt.disableflags & ORR_DISABLE_DAMPER);
    int with_any = with_spring || with_damper; // without both flags MuJoCo has no passive force at all
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        d->qfrc_passive[nth_dof(d, n)] = R(0.0);
    }
    team_wait(d);
    if (with_spring) {
        springs(m, d);
    }
    for (int n = team_first(d); n < dof_count(m, d) && with_damper; n += team_size(d)) {
        int i = nth_dof(d, n);
        lane_drag drag = dof_drag(m, d, i);
        d->qfrc_passive[i] = d->qfrc_passive[i] + drag_force(&drag, d->qvel[i]);
    }
    team_wait(d);
    if (m->ncable > 0 && with_any) {
        cable_torques(m, d);
    }
    if (team_leads(d)) {
        tendon_springs(m, d, with_spring, with_damper);
        if (with_any) {
            flex_node_forces(m, d, with_spring, with_damper);
        }
        for (int n = 1; n < body_count(m, d) && with_any; n++) {
            int i = nth_body(d, n);
            if (body_in_fluid(m, i)) {
                fluid_forces(m, d, i);
            }
        }
        if (m->plan->adheres && with_any) {
            adhesive_forces(m, d);
        }
        gravity_compensation(m, d, with_any);
    }
    team_wait(d);
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int i = nth_dof(d, n);
        if (!m->jnt_actgravcomp[m->dof_jntid[i]]) {
            d->qfrc_passive[i] = d->qfrc_passive[i] + d->qfrc_gravcomp[i];
        }
    }
    team_wait(d);
}

// A position servo turns a ball joint or a site the shorter way: the value that is a whole number of turns
// away from `value` and nearest to `to`.
FN real nearest_turn(const lane_model *m, int i, real value, real to)
{
    double period = transmission_period(m, i);
    if (period == 0.0) {
        return value;
    }
    real turns = floor_((value - to) * R(1.0 / period) + R(0.5));
    return value - turns * R(period);
}

// The force of a PID controller beside its bias; sets the rates of its activations.
LANE_FN real pid_input(const lane_model *m, lane_data *d, int i)
{
    real input[3];
    int at = m->actuator_ctrladr[i];
    for (int k = 0; k < 3; k++) {
        int given = m->actuator_ctrlspec[i] & 1 << k;
        input[k] = given ? control_input(m, d, i, at) : R(0.0);
        at += given != 0;
    }
    uniform_real most = m->actuator_dynprm[ORR_NDYN * i], fastest = m->actuator_dynprm[ORR_NDYN * i + 1];
    real target = input[0], integral = R(0.0);
    int adr = m->actuator_actadr[i], remembers = m->actuator_dyntype[i] == ORR_DYNAMICS_PID, k = 0;
    if (remembers && (double)fastest > 0.0) { // the setpoint follows
        uniform_real reach = fastest * (uniform_real)m->opt.timestep;
        real change = nearest_turn(m, i, target, d->act[adr]) - d->act[adr];
        change = clamp_(change, R(-reach), R(reach));
        d->act_dot[adr] = change * R(1.0 / m->opt.timestep);
        target = d->act[adr] + change;
        k = 1;
    }
    if (m->actuator_ctrlspec[i] & ORR_INPUT_POSITION) {
        target = nearest_turn(m, i, target, output_length(m, d, i));
    }
    if (remembers && k < m->actuator_actnum[i]) {
        real rate = target - output_length(m, d, i), sum = d->act[adr + k];
        if ((double)most > 0.0) {
            mask full = or_(and_(sum >= R(most), rate > R(0.0)), and_(sum <= R(-most), rate < R(0.0)));
            rate = sel(full, R(0.0), rate);
        }
        d->act_dot[adr + k] = rate;
        integral = m->actuator_actearly[i] ? next_activation(m, d, i, k) : sum;
    }
    return input[2] - actuator_biasprm(m, d, ORR_NBIAS * i + 1) * target -
           actuator_biasprm(m, d, ORR_NBIAS * i + 2) * input[1] +
           actuator_gainprm(m, d, ORR_NGAIN * i) * integral;
}

// The current of a DC motor; sets the rate of its activation.
LANE_FN real motor_current(const lane_model *m, lane_data *d, int i)
{
    real resistance = actuator_gainprm(m, d, ORR_NGAIN * i),
         constant = actuator_gainprm(m, d, ORR_NGAIN * i + 1);
    real voltage = control_input(m, d, i, m->actuator_ctrladr[i]) - constant * output_speed(m, d, i);
    real steady = voltage / resistance;
    int adr = m->actuator_actadr[i];
    if (adr < 0) {
        return steady;
    }
    real rate = (steady - d->act[adr]) * R(1.0 / (double)m->actuator_dynprm[ORR_NDYN * i]);
    uniform_real fastest = m->actuator_dynprm[ORR_NDYN * i + 1];
    if ((double)fastest > 0.0) {
        rate = clamp_(rate, R(-fastest), R(fastest));
    }
    d->act_dot[adr] = rate;
    return next_activation(m, d, i, 0);
}

// The derivative of a DC motor's force by its velocity.
LANE_FN real motor_slope(const lane_model *m, const lane_data *d, int i)
{
    real resistance = actuator_gainprm(m, d, ORR_NGAIN * i),
         constant = actuator_gainprm(m, d, ORR_NGAIN * i + 1);
    real slope = -(constant * constant / resistance);
    int adr = m->actuator_actadr[i];
    if (adr < 0) {
        return slope;
    }
    double tau = (double)m->actuator_dynprm[ORR_NDYN * i],
           fastest = (double)m->actuator_dynprm[ORR_NDYN * i + 1];
    slope = slope * R(1.0 - exp(-m->opt.timestep / tau));
    return fastest > 0.0 ? sel(abs_(d->act_dot[adr]) >= R(fastest), R(0.0), slope) : slope;
}

LANE_FN real actuator_input(const lane_model *m, lane_data *d, int i)
{
    if (m->actuator_gaintype[i] == ORR_GAIN_DCMOTOR) {
        return motor_current(m, d, i);
    }
    if (m->actuator_gaintype[i] == ORR_GAIN_PID) {
        return pid_input(m, d, i);
    }
    real control = control_input(m, d, i, m->actuator_ctrladr[i]);
    int adr = m->actuator_actadr[i];
    if (adr < 0) {
        return control;
    }
    if (m->actuator_dyntype[i] == ORR_DYNAMICS_USER) { // the last activation; none of them changes
        int last = m->actuator_actnum[i] - 1;
        return m->actuator_actearly[i] ? next_activation(m, d, i, last) : d->act[adr + last];
    }
    if (m->actuator_dyntype[i] == ORR_DYNAMICS_INTEGRATOR) {
        d->act_dot[adr] = control;
    } else if (m->actuator_dyntype[i] == ORR_DYNAMICS_MUSCLE) {
        d->act_dot[adr] = muscle_rate(m, i, control, d->act[adr]);
    } else {
        double tau = (double)m->actuator_dynprm[ORR_NDYN * i];
        d->act_dot[adr] = (control - d->act[adr]) * R(1.0 / (tau > 1e-15 ? tau : 1e-15));
    }
    return m->actuator_actearly[i] ? next_activation(m, d, i, 0) : d->act[adr];
}

LANE_FN real nearest_target(const lane_model *m, const lane_data *d, int i, real input)
{
    uniform_real gain = m->actuator_gainprm[ORR_NGAIN * i];
    if (m->actuator_gaintype[i] != ORR_GAIN_FIXED || m->actuator_biastype[i] != ORR_BIAS_AFFINE ||
        (double)(gain + m->actuator_biasprm[ORR_NBIAS * i + 1]) != 0.0) {
        return input;
    }
    return nearest_turn(m, i, input, output_length(m, d, i));
}

LANE_FN real actuator_output(const lane_model *m, const lane_data *d, int i, real input)
{
    real gain[3], bias[3];
    for (int k = 0; k < 3; k++) {
        gain[k] = actuator_gainprm(m, d, ORR_NGAIN * i + k);
        bias[k] = actuator_biasprm(m, d, ORR_NBIAS * i + k);
    }
    real factor = gain[0], force = R(0.0);
    int one = m->actuator_gaintype[i] == ORR_GAIN_PID || m->actuator_gaintype[i] == ORR_GAIN_USER;
    if (m->actuator_gaintype[i] == ORR_GAIN_AFFINE) {
        factor = factor + gain[1] * output_length(m, d, i) + gain[2] * output_speed(m, d, i);
    } else if (m->actuator_gaintype[i] == ORR_GAIN_MUSCLE) {
        factor = muscle_gain(m, d, i, 0);
    } else if (one) {
        factor = R(1.0);
    } else if (m->actuator_gaintype[i] == ORR_GAIN_DCMOTOR) {
        factor = gain[1];
    }
    if (m->actuator_biastype[i] == ORR_BIAS_AFFINE) {
        force = bias[0] + bias[1] * output_length(m, d, i) + bias[2] * output_speed(m, d, i);
    } else if (m->actuator_biastype[i] == ORR_BIAS_MUSCLE) {
        force = muscle_bias(m, d, i);
    }
    return force + factor * nearest_target(m, d, i, input);
}

// The torque of a DC motor's poles, which the limits do not concern.
LANE_FN real cogging(const lane_model *m, const lane_data *d, int i)
{
    real sine, cosine, bias[3];
    for (int k = 0; k < 3; k++) {
        bias[k] = actuator_biasprm(m, d, ORR_NBIAS * i + k);
    }
    sincos_(bias[1] * output_length(m, d, i) + bias[2], &sine, &cosine);
    return bias[0] * sine;
}

LANE_FN real tendon_actuation(const lane_model *m, const lane_data *d, int tendon)
{
    real sum = R(0.0);
    for (int i = 0; i < m->nactuator; i++) {
        if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON && m->actuator_trnid[2 * i] == tendon) {
            sum = sum + d->actuator_force[m->actuator_outadr[i]];
        }
    }
    return sum;
}

// The part of it that no range concerns.
LANE_FN real tendon_cogging(const lane_model *m, const lane_data *d, int tendon)
{
    real sum = R(0.0);
    for (int i = 0; i < m->nactuator; i++) {
        if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON && m->actuator_trnid[2 * i] == tendon &&
            m->actuator_biastype[i] == ORR_BIAS_DCMOTOR && !actuator_disabled(m, i)) {
            sum = sum + cogging(m, d, i);
        }
    }
    return sum;
}

// Is the force on the actuator's joint or tendon at an end of its actuatorfrcrange? Forces of a tendon's
// actuators are scaled to it, so that their sum is the end of the range up to rounding.
LANE_FN mask actuation_saturated(const lane_model *m, const lane_data *d, int i)
{
    int type = m->actuator_trntype[i], target = m->actuator_trnid[2 * i];
    if ((type == ORR_TRANSMISSION_JOINT || type == ORR_TRANSMISSION_JOINTINPARENT) &&
        m->jnt_actfrclimited[target]) {
        real force = d->qfrc_actuator[m->jnt_dofadr[target]];
        return or_(force <= R(m->jnt_actfrcrange[2 * target]),
                   force >= R(m->jnt_actfrcrange[2 * target + 1]));
    }
    if (type == ORR_TRANSMISSION_TENDON && m->tendon_actfrclimited[target]) {
        real force = tendon_actuation(m, d, target) - tendon_cogging(m, d, target);
        real rounding = R(1e-6) * abs_(force);
        return or_(force - rounding <= R(m->tendon_actfrcrange[2 * target]),
                   force + rounding >= R(m->tendon_actfrcrange[2 * target + 1]));
    }
    return not_(everywhere());
}

// The derivative of an actuator's force by the velocity of its transmission; 0 where the force is limited.
LANE_FN real actuator_slope(const lane_model *m, lane_data *d, int i)
{
    real slope = R(0.0);
    if (m->actuator_gaintype[i] == ORR_GAIN_SO3) {
        return orientation_slope(m, d, i);
    }
    if (m->actuator_biastype[i] == ORR_BIAS_AFFINE) {
        slope = actuator_biasprm(m, d, ORR_NBIAS * i + 2);
    }
    real input = actuator_input(m, d, i);
    if (m->actuator_gaintype[i] == ORR_GAIN_AFFINE) {
        slope = slope + actuator_gainprm(m, d, ORR_NGAIN * i + 2) * input;
    } else if (m->actuator_gaintype[i] == ORR_GAIN_MUSCLE) {
        slope = slope + muscle_gain(m, d, i, 1) * input;
    } else if (m->actuator_gaintype[i] == ORR_GAIN_DCMOTOR) {
        slope = motor_slope(m, d, i);
    }
    if (m->actuator_forcelimited[i]) {
        int motor = m->actuator_gaintype[i] == ORR_GAIN_DCMOTOR;
        real force = motor ? actuator_gainprm(m, d, ORR_NGAIN * i + 1) * input
                           : d->actuator_force[m->actuator_outadr[i]];
        mask limited =
            or_(force <= R(m->actuator_forcerange[2 * i]), force >= R(m->actuator_forcerange[2 * i + 1]));
        slope = sel(limited, R(0.0), slope);
    }
    return sel(actuation_saturated(m, d, i), R(0.0), slope);
}

FN int pulls_limited_tendon(const lane_model *m, int i)
{
    return m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON &&
           m->tendon_actfrclimited[m->actuator_trnid[2 * i]];
}

// The force of an actuator within its range, and what the range does not concern.
LANE_FN real limit_actuation(const lane_model *m, const lane_data *d, int i, real force)
{
    if (m->actuator_forcelimited[i]) {
        force = clamp_(force, R(m->actuator_forcerange[2 * i]), R(m->actuator_forcerange[2 * i + 1]));
    }
    return m->actuator_biastype[i] == ORR_BIAS_DCMOTOR ? force + cogging(m, d, i) : force;
}

// Scales the forces of each tendon's actuators to its actuatorfrcrange; only then their own ranges apply.
LANE_FN void limit_tendon_actuation(const lane_model *m, lane_data *d)
{
    for (int t = 0; t < m->ntendon; t++) {
        if (!m->tendon_actfrclimited[t]) {
            continue;
        }
        real sum = tendon_actuation(m, d, t);
        real limited = clamp_(sum, R(m->tendon_actfrcrange[2 * t]), R(m->tendon_actfrcrange[2 * t + 1]));
        mask over = abs_(limited - sum) > R(0.0);
        real scale = sel(over, limited / sel(over, sum, R(1.0)), R(1.0));
        for (int i = 0; i < m->nactuator; i++) {
            if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON && m->actuator_trnid[2 * i] == t &&
                !actuator_disabled(m, i)) {
                int output = m->actuator_outadr[i];
                d->actuator_force[output] = limit_actuation(m, d, i, d->actuator_force[output] * scale);
            }
        }
    }
}

LANE_FN real actuator_force(const lane_model *m, lane_data *d, int i)
{
    real force = actuator_output(m, d, i, actuator_input(m, d, i));
    return pulls_limited_tendon(m, i) ? force : limit_actuation(m, d, i, force);
}

LANE_FN void actuation(const lane_model *m, lane_data *d)
{
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        d->qfrc_actuator[nth_dof(d, n)] = R(0.0);
    }
    int disabled = (m->opt.disableflags & ORR_DISABLE_ACTUATION) != 0;
    for (int i = team_first(d); i < m->na; i += team_size(d)) {
        d->act_dot[i] = R(0.0);
    }
    team_wait(d);
    for (int i = team_first(d); i < m->nactuator; i += team_size(d)) {
        if (disabled || actuator_disabled(m, i)) {
            for (int k = 0; k < m->actuator_outnum[i]; k++) {
                d->actuator_force[m->actuator_outadr[i] + k] = R(0.0);
            }
        } else if (m->actuator_gaintype[i] == ORR_GAIN_SO3) {
            turn_to_target(m, d, i);
        } else {
            d->actuator_force[m->actuator_outadr[i]] = actuator_force(m, d, i);
        }
    }
    team_wait(d);
    if (team_leads(d)) {
        if (!disabled) {
            limit_tendon_actuation(m, d);
        }
        for (int i = 0; i < m->nout; i++) {
            chain_pull(m, output_chain(m, i), output_moments(m, d, i), d->actuator_force[i],
                       d->qfrc_actuator);
        }
    }
    team_wait(d);
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int i = nth_dof(d, n), joint = m->dof_jntid[i];
        if (m->jnt_actgravcomp[joint] && !disabled && m->nu > 0) { // MuJoCo's forces of no actuators are 0
            d->qfrc_actuator[i] = d->qfrc_actuator[i] + d->qfrc_gravcomp[i];
        }
        if (m->jnt_actfrclimited[joint]) {
            d->qfrc_actuator[i] = clamp_(d->qfrc_actuator[i], R(m->jnt_actfrcrange[2 * joint]),
                                         R(m->jnt_actfrcrange[2 * joint + 1]));
        }
    }
    team_wait(d);
}
