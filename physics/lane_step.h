// A step of one world, as a table of contents: position, velocity, force, acceleration, integration.
#pragma once

#include "physics/lane_collision.h"
#include "physics/lane_equality.h"
#include "physics/lane_forces.h"
#include "physics/lane_solver.h"

LANE_FN void constraint_rows(const lane_model *m, lane_data *d)
{
    d->row_count = d->J_count = d->contact_count = 0;
    if (m->opt.disableflags & ORR_DISABLE_CONSTRAINT) {
        return;
    }
    equality_rows(m, d);
    friction_loss_rows(m, d);
    limit_rows(m, d);
    collide(m, d);
}

LANE_FN void smooth_forces(const lane_model *m, const lane_data *d)
{
    passive_forces(m, d);
    newton_euler(m, d, 0, d->qfrc_bias);
    actuation(m, d);
    for (int i = 0; i < m->nv; i++) {
        d->qfrc_smooth[i] = d->qfrc_passive[i] - d->qfrc_bias[i] + d->qfrc_applied[i] + d->qfrc_actuator[i];
    }
    for (int i = 1; i < m->nbody; i++) {
        real3 force = load3(d->xfrc_applied, 2 * i), torque = load3(d->xfrc_applied, 2 * i + 1);
        if (any(dot3(force, force) + dot3(torque, torque) > R(0.0))) {
            apply_force(m, d, i, load3(d->xipos, i), force, torque, d->qfrc_smooth);
        }
    }
}

LANE_FN void positions(const lane_model *m, const lane_data *d)
{
    kinematics(m, d);
    centres_of_mass(m, d);
    tendons(m, d);
    transmissions(m, d);
    inertia_matrix(m, d);
}

LANE_FN void velocities(const lane_model *m, const lane_data *d)
{
    body_velocities(m, d);
    actuator_velocities(m, d);
}

// Forces and qacc.
LANE_FN void accelerations(const lane_model *m, lane_data *d)
{
    factorise_inertia(m, d);
    constraint_rows(m, d);
    smooth_forces(m, d);
    for (int i = 0; i < m->nv; i++) {
        d->qacc_smooth[i] = d->qfrc_smooth[i];
    }
    solve_factorised(m, d->qLD, d->qLDiagInv, d->qacc_smooth);
    solve_constraints(m, d);
}

// Everything that the state says.
LANE_FN void forward(const lane_model *m, lane_data *d)
{
    positions(m, d);
    velocities(m, d);
    accelerations(m, d);
}

// qfrc_inverse: the force that gives the acceleration qacc
LANE_FN void inverse(const lane_model *m, lane_data *d)
{
    positions(m, d);
    velocities(m, d);
    constraint_rows(m, d);
    passive_forces(m, d);
    constraint_residual(d, d->qacc);
    constraint_forces(d);
    constraint_force(m, d, d->qfrc_constraint);
    newton_euler(m, d, 1, d->qfrc_inverse);
    for (int i = 0; i < m->nv; i++) {
        d->qfrc_inverse[i] = d->qfrc_inverse[i] + dof_armature(m, d, i) * d->qacc[i] - d->qfrc_passive[i] -
                             d->qfrc_constraint[i];
    }
}

LANE_FN void energies(const lane_model *m, const lane_data *d)
{
    real potential = R(0.0), kinetic = R(0.0);
    if (!(m->opt.disableflags & ORR_DISABLE_GRAVITY)) {
        real3 g = gravity(m, d);
        for (int i = 1; i < m->nbody; i++) {
            potential = potential - body_mass(m, d, i) * dot3(g, load3(d->xipos, i));
        }
    }
    for (int joint = 0; joint < m->njnt && !(m->opt.disableflags & ORR_DISABLE_SPRING); joint++) {
        int adr = m->jnt_qposadr[joint], type = m->jnt_type[joint];
        real squared = R(0.0);
        if (type == ORR_JOINT_FREE) {
            real3 apart = sub3(load3(d->qpos + adr, 0), uniform3(m->qpos_spring + adr, 0));
            squared = dot3(apart, apart);
            adr += 3;
        }
        if (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL) {
            quaternion at = normalise_quaternion(load_quaternion(d->qpos + adr, 0));
            real3 turned =
                quaternion_velocity(multiply_quaternions(conjugate(uniform4(m->qpos_spring + adr, 0)), at));
            squared = squared + dot3(turned, turned);
        } else {
            real apart = d->qpos[adr] - R(m->qpos_spring[adr]);
            squared = apart * apart;
        }
        potential = potential + R(0.5) * m->jnt_stiffness[joint] * squared;
    }
    for (int i = 0; i < m->ntendon; i++) {
        real length = d->ten_length[i];
        real out = max_(R(m->tendon_lengthspring[2 * i]) - length, R(0.0)) +
                   max_(length - R(m->tendon_lengthspring[2 * i + 1]), R(0.0));
        potential = potential + R(0.5) * m->tendon_stiffness[i] * out * out;
    }
    inertia_matrix_times(m, d, d->qvel, d->work);
    for (int i = 0; i < m->nv; i++) {
        kinetic = fma_(R(0.5) * d->qvel[i], d->work[i], kinetic);
    }
    d->energy[0] = potential;
    d->energy[1] = kinetic;
}

// qpos moved by `step` seconds of `velocity`
LANE_FN void integrate_position(const lane_model *m, reals qpos, reals velocity, real step)
{
    for (int joint = 0; joint < m->njnt; joint++) {
        reals q = qpos + m->jnt_qposadr[joint], v = velocity + m->jnt_dofadr[joint];
        int type = m->jnt_type[joint];
        if (type == ORR_JOINT_FREE) {
            store3(q, 0, add_scaled3(load3(q, 0), load3(v, 0), step));
            q = q + 3;
            v = v + 3;
        }
        if (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL) {
            real3 turning = load3(v, 0);
            quaternion turn = axis_angle_quaternion(normalise3(turning), length3(turning) * step);
            store_quaternion(q, 0, normalise_quaternion(multiply_quaternions(load_quaternion(q, 0), turn)));
        } else {
            q[0] = fma_(step, v[0], q[0]);
        }
    }
}

LANE_FN void advance_activations(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < m->nu; i++) {
        if (m->actuator_actadr[i] >= 0 && !actuator_disabled(m, i)) {
            d->act[m->actuator_actadr[i]] = next_activation(m, d, i);
        }
    }
}

// Semi-implicit: the velocity moves by `acceleration`, then the position by the new velocity.
LANE_FN void advance(const lane_model *m, const lane_data *d, reals acceleration)
{
    real step = R(m->opt.timestep);
    advance_activations(m, d);
    for (int i = 0; i < m->nv; i++) {
        d->qvel[i] = fma_(step, acceleration[i], d->qvel[i]);
    }
    integrate_position(m, d->qpos, d->qvel, step);
    d->time[0] = d->time[0] + step;
}

// acceleration = (M - h dF/dv)^-1 F with the derivative already in qH
LANE_FN void implicit_acceleration(const lane_model *m, const lane_data *d, reals acceleration)
{
    factorise(m, d->qH, d->qHDiagInv);
    for (int i = 0; i < m->nv; i++) {
        acceleration[i] = d->qfrc_smooth[i] + d->qfrc_constraint[i];
    }
    solve_factorised(m, d->qH, d->qHDiagInv, acceleration);
}

FN void start_implicit(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < m->nM; i++) {
        d->qH[i] = d->qM[i];
    }
    if (m->opt.disableflags & ORR_DISABLE_DAMPER) {
        return;
    }
    for (int i = 0; i < m->nv; i++) {
        int diagonal = m->M_rowadr[i] + m->M_rownnz[i] - 1;
        d->qH[diagonal] = d->qH[diagonal] + R(m->opt.timestep) * dof_damping(m, d, i);
    }
}

LANE_FN void step_euler(const lane_model *m, const lane_data *d)
{
    int damped = m->plan->varied_at[ORR_VARY_DOF_DAMPING] >= 0;
    for (int i = 0; i < m->nv; i++) {
        damped |= (double)m->dof_damping[i] > 0.0;
    }
    if (!damped || m->opt.disableflags & (ORR_DISABLE_EULERDAMP | ORR_DISABLE_DAMPER)) {
        advance(m, d, d->qacc);
        return;
    }
    start_implicit(m, d);
    implicit_acceleration(m, d, d->work);
    advance(m, d, d->work);
}

// Dampers and the velocity gains of actuators on single dofs, taken at the end of the step.
LANE_FN void step_implicitfast(const lane_model *m, const lane_data *d)
{
    start_implicit(m, d);
    for (int i = 0; i < m->nu && !(m->opt.disableflags & ORR_DISABLE_ACTUATION); i++) {
        if (actuator_disabled(m, i)) {
            continue;
        }
        real slope = R(0.0);
        if (m->actuator_biastype[i] == ORR_BIAS_AFFINE) {
            slope = actuator_biasprm(m, d, ORR_NBIAS * i + 2);
        }
        if (m->actuator_gaintype[i] == ORR_GAIN_AFFINE) {
            slope = slope + actuator_gainprm(m, d, ORR_NGAIN * i + 2) * actuator_input(m, d, i);
        }
        if (m->actuator_forcelimited[i]) {
            mask limited = or_(d->actuator_force[i] <= R(m->actuator_forcerange[2 * i]),
                               d->actuator_force[i] >= R(m->actuator_forcerange[2 * i + 1]));
            slope = sel(limited, R(0.0), slope);
        }
        if (!any(abs_(slope) > R(0.0))) {
            continue;
        }
        int dof = m->jnt_dofadr[m->actuator_trnid[2 * i]],
            count = joint_dofs(m->jnt_type[m->actuator_trnid[2 * i]]);
        reals moment = d->actuator_moment + 6 * i;
        for (int a = 0; a < count; a++) {
            int diagonal = m->M_rowadr[dof + a] + m->M_rownnz[dof + a] - 1;
            for (int b = 0; b <= a; b++) {
                reals entry = d->qH + (diagonal - (a - b));
                entry[0] = entry[0] - R(m->opt.timestep) * slope * moment[a] * moment[b];
            }
        }
    }
    implicit_acceleration(m, d, d->work);
    advance(m, d, d->work);
}

// Runge-Kutta of order four; forward() has been called for the first stage.
LANE_FN void step_rk4(const lane_model *m, lane_data *d)
{
    static const double within[4] = {0.0, 0.5, 0.5, 1.0},
                        share[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    int nq = m->nq, nv = m->nv, na = m->na;
    double h = m->opt.timestep;
    reals qpos = d->rk4, qvel = qpos + nq, act = qvel + nv;                            // at the start
    reals velocity = act + na, acceleration = velocity + nv, rate = acceleration + nv; // their weighted sums
    reals stage_velocity = rate + na, time = stage_velocity + nv;
    for (int i = 0; i < nq; i++) {
        qpos[i] = d->qpos[i];
    }
    for (int i = 0; i < nv; i++) {
        qvel[i] = d->qvel[i];
        velocity[i] = acceleration[i] = R(0.0);
    }
    for (int i = 0; i < na; i++) {
        act[i] = d->act[i];
        rate[i] = R(0.0);
    }
    time[0] = d->time[0];
    for (int stage = 0; stage < 4; stage++) {
        if (stage > 0) {
            real step = R(h * within[stage]);
            for (int i = 0; i < nq; i++) {
                d->qpos[i] = qpos[i];
            }
            for (int i = 0; i < nv; i++) {
                stage_velocity[i] = d->qvel[i];
                d->qvel[i] = fma_(step, d->qacc[i], qvel[i]);
            }
            integrate_position(m, d->qpos, stage_velocity, step);
            for (int i = 0; i < na; i++) {
                d->act[i] = fma_(step, d->act_dot[i], act[i]);
            }
            d->time[0] = time[0] + step;
            forward(m, d);
            for (int i = 0; i < nv; i++) {
                d->qacc_warmstart[i] = d->qacc[i];
            }
        }
        for (int i = 0; i < nv; i++) {
            velocity[i] = fma_(R(share[stage]), d->qvel[i], velocity[i]);
            acceleration[i] = fma_(R(share[stage]), d->qacc[i], acceleration[i]);
        }
        for (int i = 0; i < na; i++) {
            rate[i] = fma_(R(share[stage]), d->act_dot[i], rate[i]);
        }
    }
    for (int i = 0; i < nq; i++) {
        d->qpos[i] = qpos[i];
    }
    integrate_position(m, d->qpos, velocity, R(h));
    for (int i = 0; i < nv; i++) {
        d->qvel[i] = fma_(R(h), acceleration[i], qvel[i]);
    }
    for (int i = 0; i < na; i++) {
        d->act[i] = act[i];
        d->act_dot[i] = rate[i];
    }
    advance_activations(m, d);
    d->time[0] = time[0] + R(h);
}

LANE_FN void step(const lane_model *m, lane_data *d)
{
    forward(m, d);
    for (int i = 0; i < m->nv; i++) {
        d->qacc_warmstart[i] = d->qacc[i];
    }
    switch (m->opt.integrator) {
    case ORR_INTEGRATOR_RK4:
        step_rk4(m, d);
        break;
    case ORR_INTEGRATOR_IMPLICITFAST:
        step_implicitfast(m, d);
        break;
    default:
        step_euler(m, d);
        break;
    }
}
