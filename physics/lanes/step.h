// A step of one world as a table of contents: positions, velocities, constraint rows, forces, accelerations,
// integration.
#pragma once

#include "physics/lanes/collision/collision.h"
#include "physics/lanes/complete.h"
#include "physics/lanes/equality.h"
#include "physics/lanes/implicit.h"
#include "physics/lanes/positions.h"
#include "physics/lanes/restart.h"
#include "physics/lanes/sleep.h"
#include "physics/lanes/solver/islands.h"
#include "physics/lanes/solver/noslip.h"

LANE_FN void velocities(const lane_model *m, lane_data *d)
{
    body_velocities(m, d);
    tendon_velocities(m, d);
    actuator_velocities(m, d);
}

LANE_FN void find_rows(const lane_model *m, lane_data *d)
{
    d->row_count = d->group_count = d->J_count = d->contact_count = d->runs_known = 0;
    d->contacts_missed = d->near_missed = 0;
    int disabled = m->opt.disableflags & ORR_DISABLE_CONSTRAINT;
    if ((m->neq > 0 && !disabled) || m->nflexmode > 0) {
        if (team_single_begin(d)) {
            if (!disabled) {
                equality_rows(m, d);
            }
            elastic_rows(m, d);
        }
        team_single_end(d);
        d->row_count = team_share(d, d->row_count);
        d->group_count = team_share(d, d->group_count);
        d->J_count = team_share(d, d->J_count);
    }
    if (disabled) {
        return;
    }
    friction_loss_rows(m, d);
    limit_rows(m, d);
    collide(m, d);
    team_wait(d);
}

// What was left out of trees that have woken.
LANE_FN void make_up(const lane_model *m, lane_data *d)
{
    positions(m, d);
    velocities(m, d);
    factorise_inertia(m, d);
    find_rows(m, d);
}

// Where trees sleep, rows may wake some; then there are more rows.
LANE_FN void find_rows_and_wake(const lane_model *m, lane_data *d)
{
    find_rows(m, d);
    while (wake_by_contacts(m, d)) {
        note_awake(m, d);
        make_up(m, d);
    }
    // what equalities wake has contacts from the next step on, as in MuJoCo
    if (wake_by_equalities(m, d)) {
        make_up(m, d);
    }
    drop_sleeping_rows(m, d);
}

LANE_FN void constraint_rows(const lane_model *m, lane_data *d)
{
    if (d->asleep == LANE_NONE_ASLEEP) {
        find_rows(m, d);
    } else {
        find_rows_and_wake(m, d);
    }
    if (m->opt.enableflags & ORR_ENABLE_DIAGEXACT) {
        if (team_single_begin(d)) {
            correct_diagonals(m, d);
        }
        team_single_end(d);
    }
    if (m->plan->adheres) {
        shift_adhesive_rows(m, d);
    }
    body_transmissions(m, d);
}

LANE_FN void bias_forces(const lane_model *m, lane_data *d)
{
    newton_euler(m, d, d->qfrc_bias);
    if (m->ntendon > 0) {
        if (team_leads(d)) {
            tendon_euler(m, d, d->qfrc_bias);
        }
        team_wait(d);
    }
}

// Adds xfrc_applied to qfrc_smooth.
LANE_FN void applied_forces(const lane_model *m, lane_data *d)
{
    real pull[6] = {R(0.0), R(0.0), R(0.0), R(0.0), R(0.0), R(0.0)}; // six, so that none waits for another
    for (int n = 1 + team_first(d); n < body_count(m, d); n += team_size(d)) {
        int i = nth_body(d, n);
        for (int k = 0; k < 6; k++) {
            pull[k] = max_(pull[k], abs_(d->xfrc_applied[6 * i + k]));
        }
    }
    real most = max_(max_(max_(pull[0], pull[1]), max_(pull[2], pull[3])), max_(pull[4], pull[5]));
    if (!any(team_any(d, most > R(0.0)))) {
        return;
    }
    for (int n = 1; n < body_count(m, d) && team_leads(d); n++) {
        int i = nth_body(d, n);
        real3 force = load3(d->xfrc_applied, 2 * i), torque = load3(d->xfrc_applied, 2 * i + 1);
        if (any(dot3(force, force) + dot3(torque, torque) > R(0.0))) {
            apply_force(m, d, i, load3(d->xipos, i), force, torque, d->qfrc_smooth);
        }
    }
    team_wait(d);
}

LANE_FN void smooth_forces(const lane_model *m, lane_data *d)
{
    passive_forces(m, d);
    bias_forces(m, d);
    actuation(m, d);
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int i = nth_dof(d, n);
        d->qfrc_smooth[i] = d->qfrc_passive[i] - d->qfrc_bias[i] + d->qfrc_applied[i] + d->qfrc_actuator[i];
    }
    team_wait(d);
    applied_forces(m, d);
    if (d->asleep != LANE_NONE_ASLEEP) { // what sleeps is not moved
        clear_sleeping(m, d, d->qfrc_smooth);
    }
}

// Constraint rows, forces and qacc.
LANE_FN void accelerations(const lane_model *m, lane_data *d)
{
    factorise_inertia(m, d);
    constraint_rows(m, d);
    smooth_forces(m, d);
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int i = nth_dof(d, n);
        d->qacc_smooth[i] = d->qfrc_smooth[i];
    }
    team_wait(d);
    solve_factorised(m, d, d->qLD, d->qLDiagInv, d->qacc_smooth);
    solve_constraints(m, d);
    if (m->opt.noslip_iterations > 0 && d->row_count > 0) {
        if (team_single_begin(d)) {
            noslip(m, d);
        }
        team_single_end(d);
    }
}

// Does everything sleep, so that nothing but time goes on?
FN int all_rests(const lane_model *m, const lane_data *d)
{
    return d->asleep == LANE_ALL_ASLEEP && m->nmocap == 0 && m->nactuator == 0 && m->ndelayed == 0;
}

// All that follows from the state. Returns 0 if that is nothing: everything sleeps.
LANE_FN int forward(const lane_model *m, lane_data *d)
{
    d->asleep = LANE_NONE_ASLEEP;
    if (can_sleep(m) && begin_sleep(m, d) && all_rests(m, d) && !wake_by_equalities(m, d)) {
        d->contact_count = d->row_count = 0;
        return 0;
    }
    if (has_lists(d) && !d->kept->cleared) { // where they have been set from outside
        clear_left_out(m, d, d->qacc);
        clear_left_out(m, d, d->qacc_warmstart);
        d->kept->cleared = 1;
    }
    positions(m, d);
    if (d->asleep != LANE_NONE_ASLEEP && wake_by_tendons(m, d)) {
        note_awake(m, d);
        positions(m, d);
    }
    velocities(m, d);
    accelerations(m, d);
    d->placed = m->opt.integrator != ORR_INTEGRATOR_RK4; // whose stages are elsewhere
    return 1;
}

// Inverse dynamics: qfrc_inverse is the force that gives qacc. With the flag invdiscrete qacc is the change
// of velocity over a step of the integrator, divided by the step.
LANE_FN void inverse(const lane_model *m, lane_data *d)
{
    positions(m, d);
    velocities(m, d);
    factorise_inertia(m, d);
    constraint_rows(m, d);
    passive_forces(m, d);
    reals given = d->qacc;
    if (m->opt.enableflags & ORR_ENABLE_INVDISCRETE && implicit_step(m)) {
        d->qacc = d->work;
        for (int i = 0; i < m->nv; i++) {
            d->qacc[i] = given[i];
        }
        actuation(m, d);
        implicit_inverse(m, d, d->qacc, d->work + m->nv);
    }
    constraint_residual(m, d, d->qacc);
    d->unilateral_first = first_unilateral(m, d);
    constraint_forces(m, d);
    constraint_force(m, d, d->qfrc_constraint);
    bias_forces(m, d);
    inertia_matrix_times(m, d, d->qacc, d->qfrc_inverse);
    for (int i = 0; i < m->nv; i++) {
        d->qfrc_inverse[i] =
            d->qfrc_inverse[i] + d->qfrc_bias[i] - d->qfrc_passive[i] - d->qfrc_constraint[i];
    }
    d->qacc = given;
}

// Moves qpos by `step` seconds of `velocity`.
LANE_FN void integrate_position(const lane_model *m, const lane_data *d, reals qpos, reals velocity,
                                real step)
{
    for (int n = team_first(d); n < joint_count(m, d); n += team_size(d)) {
        int joint = nth_joint(d, n);
        reals q = qpos + m->jnt_qposadr[joint], v = velocity + m->jnt_dofadr[joint];
        int type = m->jnt_type[joint], tree = m->body_treeid[m->jnt_bodyid[joint]];
        real kept[7];
        if (tree_rests(d, tree)) {
            continue;
        }
        for (int k = 0; k < coordinates_of(m, joint) && d->asleep != LANE_NONE_ASLEEP; k++) {
            kept[k] = q[k];
        }
        if (type == ORR_JOINT_FREE) {
            store3(q, 0, add_scaled3(load3(q, 0), load3(v, 0), step));
            q = q + 3;
            v = v + 3;
        }
        if (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL) {
            real3 turning = load3(v, 0);
            quaternion turn = axis_angle_quaternion(normalise3(turning), length3(turning) * step);
            quaternion from = load_quaternion(q, 0);
            real square = from.w * from.w + from.x * from.x + from.y * from.y + from.z * from.z;
            from.w = sel(square < R(LANE_TINY * LANE_TINY), R(1.0), from.w); // zero counts as no rotation
            store_quaternion(q, 0, normalise_quaternion(multiply_quaternions(from, turn)));
        } else {
            q[0] = fma_(step, v[0], q[0]);
        }
        q = qpos + m->jnt_qposadr[joint];
        for (int k = 0; k < coordinates_of(m, joint) && d->asleep != LANE_NONE_ASLEEP; k++) {
            q[k] = sel(tree_sleeps(d, tree), kept[k], q[k]);
        }
    }
    team_wait(d);
}

LANE_FN void advance_activations(const lane_model *m, lane_data *d)
{
    for (int i = team_first(d); i < m->nactuator; i += team_size(d)) {
        if (m->actuator_actadr[i] >= 0 && !actuator_disabled(m, i)) {
            for (int k = 0; k < m->actuator_actnum[i]; k++) {
                d->act[m->actuator_actadr[i] + k] = next_activation(m, d, i, k);
            }
        }
    }
}

// Adds a step to the time at its start. In float an hour of short steps would be percents off: what is lost
// to rounding, of the step too, goes into the next sum (Kahan 1965). In double it is MuJoCo's sum.
FN void pass_time(const lane_model *m, const lane_data *d, real start)
{
    const double h = m->opt.timestep;
#if defined(ORR_SCALAR_DOUBLE)
    d->time[0] = start + R(h);
#else
    const real more = R(h) + (R(h - (double)(float)h) + d->time_rest[0]), sum = start + more;
    d->time_rest[0] = more - (sum - start);
    d->time[0] = sum;
#endif
}

// Semi-implicit Euler: the velocity changes by `acceleration`, then the position by the new velocity.
LANE_FN void advance(const lane_model *m, lane_data *d, reals acceleration)
{
    real step = R(m->opt.timestep);
    advance_activations(m, d);
    if (can_sleep(m)) {
        fall_asleep(m, d);
    }
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int i = nth_dof(d, n);
        d->qvel[i] = fma_(step, acceleration[i], d->qvel[i]);
    }
    team_wait(d);
    if (d->asleep != LANE_NONE_ASLEEP) {
        clear_sleeping(m, d, d->qvel);
    }
    integrate_position(m, d, d->qpos, d->qvel, step);
    yield_springs(m, d, d->qvel);
    if (team_leads(d)) {
        pass_time(m, d, d->time[0]);
    }
    team_wait(d);
}

// The lanes in which something would pass through a distance grid without its contact, where later stages of
// RK4 do not find it: the step is then one of Euler's.
LANE_FN mask stops_in_grids(const lane_model *m, const lane_data *d)
{
    mask stops = nowhere();
    for (int i = 0; i < d->contact_count && m->ngrid > 0; i++) {
        if (d->contact[i].row >= 0) {
            stops = or_(stops, d->contact_stops[i] > R(0.0));
        }
    }
    return stops;
}

LANE_FN void step_implicit(const lane_model *m, lane_data *d)
{
    team_wait(d);
    if (team_single_begin(d)) {
        implicit_solve(m, d, d->work);
        if (any(stops_in_grids(m, d))) {
            stop_implicit(m, d, d->work);
        }
    }
    team_single_end(d);
    advance(m, d, d->work);
}

// The rotation vector of the same rotation that is no longer than pi.
FN real3 shortest_rotation(real3 u)
{
    real length = sqrt_(dot3(u, u));
    real turns = floor_(fma_(length, R(0.15915494309189535), R(0.5)));
    return scale3(u, R(1.0) - turns * R(6.283185307179586) / max_(length, R(1.0)));
}

// The rate of a rotation vector u, for which exp(u) turns a quaternion from a start: `spin` is the angular
// velocity in the turned frame. spin + u x spin / 2 + c u x (u x spin) with
// c = (1 - |u| / 2 cot(|u| / 2)) / |u|^2, for the shortest u, which is what MuJoCo reads from the quaternion.
FN real3 rotation_vector_rate(real3 u, real3 spin)
{
    u = shortest_rotation(u);
    real square = dot3(u, u), half = R(0.5) * sqrt_(square), sine, cosine;
    sincos_(half, &sine, &cosine);
    mask small = square < R(0.25);
    real nearly =
        fma_(fma_(fma_(fma_(R(1.0 / 47900160.0), square, R(1.0 / 1209600.0)), square, R(1.0 / 30240.0)),
                  square, R(1.0 / 720.0)),
             square, R(1.0 / 12.0));
    real exact = (R(1.0) - half * cosine / max_(sine, R(LANE_TINY))) / sel(small, R(1.0), square);
    real3 across = cross3(u, spin);
    return add_scaled3(add_scaled3(spin, across, R(0.5)), cross3(u, across), sel(small, nearly, exact));
}

// Rates of the coordinates of a stage that lies `step` seconds of the last stage's `rate` from the start of
// the step: velocities, but those of rotations as rates of a rotation vector (Munthe-Kaas 1999, Applied
// Numerical Mathematics 29), without which orientations would be of second order.
LANE_FN void stage_rates(const lane_model *m, const lane_data *d, reals rate, real step)
{
    for (int joint = team_first(d); joint < m->njnt; joint += team_size(d)) {
        int type = m->jnt_type[joint], dof = m->jnt_dofadr[joint];
        reals v = d->qvel + dof, r = rate + dof;
        if (type == ORR_JOINT_FREE) {
            store3(r, 0, load3(v, 0));
            r = r + 3;
            v = v + 3;
        }
        if (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL) {
            store3(r, 0, rotation_vector_rate(scale3(load3(r, 0), step), load3(v, 0)));
        } else {
            r[0] = v[0];
        }
    }
    team_wait(d);
}

// Fourth-order Runge-Kutta; forward() has computed the first stage.
LANE_FN void step_rk4(const lane_model *m, lane_data *d)
{
    static const double within[4] = {0.0, 0.5, 0.5, 1.0},
                        share[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    int nq = m->nq, nv = m->nv, na = m->na;
    double h = m->opt.timestep;
    reals qpos = d->rk4, qvel = qpos + nq, act = qvel + nv; // at the start of the step
    reals velocity = act + na, acceleration = velocity + nv,
          rate = acceleration + nv; // weighted sums over the stages
    reals stage_rate = rate + na;   // of coordinates; zero before the first stage
    int first = team_first(d), by = team_size(d);
    for (int i = first; i < nq; i += by) {
        qpos[i] = d->qpos[i];
    }
    for (int i = first; i < nv; i += by) {
        qvel[i] = d->qvel[i];
        velocity[i] = acceleration[i] = stage_rate[i] = R(0.0);
    }
    for (int i = first; i < na; i += by) {
        act[i] = d->act[i];
        rate[i] = R(0.0);
    }
    real time = d->time[0];
    mask stops = stops_in_grids(m, d);
    team_wait(d);
    for (int stage = 0; stage < 4; stage++) {
        real step = R(h * within[stage]);
        real part = sel(stops, R(stage == 0), R(share[stage])), ahead = R(stage == 0 ? h : 0.0);
        if (stage > 0) {
            for (int i = first; i < nq; i += by) {
                d->qpos[i] = qpos[i];
            }
            for (int i = first; i < nv; i += by) {
                d->qvel[i] = fma_(step, d->qacc[i], qvel[i]);
            }
            team_wait(d);
            integrate_position(m, d, d->qpos, stage_rate, step);
            for (int i = first; i < na; i += by) {
                d->act[i] = fma_(step, d->act_dot[i], act[i]);
            }
            d->time[0] = time + step;
            d->stage_time = h * within[stage];
            team_wait(d);
            (void)forward(m, d);
            for (int i = first; i < nv; i += by) {
                d->qacc_warmstart[i] = d->qacc[i];
            }
        }
        stage_rates(m, d, stage_rate, step);
        for (int i = first; i < nv; i += by) {
            real rate_of = sel(stops, fma_(ahead, d->qacc[i], stage_rate[i]), stage_rate[i]);
            velocity[i] = fma_(part, rate_of, velocity[i]);
            acceleration[i] = fma_(part, d->qacc[i], acceleration[i]);
        }
        for (int i = first; i < na; i += by) {
            rate[i] = fma_(part, d->act_dot[i], rate[i]);
        }
    }
    d->stage_time = 0.0;
    for (int i = first; i < nq; i += by) {
        d->qpos[i] = qpos[i];
    }
    team_wait(d);
    if (can_sleep(m)) {
        for (int i = first; i < nv; i += by) {
            d->qvel[i] = qvel[i];
        }
        fall_asleep(m, d);
        clear_sleeping(m, d, velocity);
        clear_sleeping(m, d, acceleration);
        clear_sleeping(m, d, qvel);
    }
    if (springs_yield(m) && m->ntendon > 0) { // the stages have moved the tendons
        positions(m, d);
    }
    integrate_position(m, d, d->qpos, velocity, R(h));
    yield_springs(m, d, velocity);
    for (int i = first; i < nv; i += by) {
        d->qvel[i] = fma_(R(h), acceleration[i], qvel[i]);
        d->qacc[i] = acceleration[i];
    }
    for (int i = first; i < na; i += by) {
        d->act[i] = act[i];
        d->act_dot[i] = rate[i];
    }
    team_wait(d);
    advance_activations(m, d);
    if (team_leads(d)) {
        pass_time(m, d, time);
    }
    team_wait(d);
}

// Sensors that measure in each step, of trees that sleep, too: on a copy of the world where all are awake.
LANE_FN void sense_sleepers(const lane_model *m, const lane_data *d)
{
    lane_data seen = *d;
    seen.asleep = LANE_NONE_ASLEEP;
    seen.qacc = d->work;
    seen.work = d->work + m->nv;
    positions(m, &seen);
    velocities(m, &seen);
    accelerations(m, &seen);
    complete(m, &seen, LANE_DEPTH_ACCELERATIONS);
    sensors(m, &seen, 1);
}

LANE_FN void step(const lane_model *m, lane_data *d)
{
    int moves = forward(m, d);
    if (m->plan->autoreset && restart_lost(m, d, diverged(d->qacc, m->nv))) {
        moves = forward(m, d);
    }
    if (!moves) {
        if (team_leads(d)) {
            pass_time(m, d, d->time[0]);
        }
        team_wait(d);
        return;
    }
    if (samples_sensors(m) && d->asleep != LANE_NONE_ASLEEP) {
        sense_sleepers(m, d);
        (void)forward(m, d); // what the sensors have overwritten
    }
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int i = nth_dof(d, n);
        d->qacc_warmstart[i] = d->qacc[i];
    }
    if (samples_sensors(m) && d->asleep == LANE_NONE_ASLEEP) {
        complete(m, d, LANE_DEPTH_ACCELERATIONS);
        sensors(m, d, 1);
    }
    if (m->opt.integrator == ORR_INTEGRATOR_RK4) {
        step_rk4(m, d);
    } else if (implicit_step(m)) {
        step_implicit(m, d);
    } else {
        advance(m, d, d->qacc);
    }
    remember_controls(m, d);
}
