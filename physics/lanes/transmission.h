// Transmissions of actuators: the length of each of their outputs, and its moment on each dof of its chain.
// An actuator has one output, or three that turn a body (ORR_TRANSMISSION_SO3).
#pragma once

#include "physics/lanes/tendon.h"

FN orr_chain output_chain(const lane_model *m, int output)
{
    return m->plan->chain[m->plan->output_chain + output];
}

FN reals output_moments(const lane_model *m, const lane_data *d, int output)
{
    return d->actuator_moment + (output_chain(m, output).first - m->plan->output_entry);
}

LANE_FN void tendon_transmission(const lane_model *m, lane_data *d, int i)
{
    int tendon = m->actuator_trnid[2 * i], output = m->actuator_outadr[i];
    uniform_real gear = m->actuator_gear[6 * output];
    reals moment = output_moments(m, d, output), arms = tendon_arms(m, d, tendon);
    for (int k = 0; k < output_chain(m, output).count; k++) {
        moment[k] = gear * arms[k];
    }
    d->actuator_length[output] = gear * d->ten_length[tendon];
}

LANE_FN void joint_transmission(const lane_model *m, lane_data *d, int i)
{
    int output = m->actuator_outadr[i];
    const uniform_real *gear = m->actuator_gear + 6 * output;
    int joint = m->actuator_trnid[2 * i], type = m->jnt_type[joint], free_joint = type == ORR_JOINT_FREE;
    reals q = d->qpos + m->jnt_qposadr[joint], moment = output_moments(m, d, output);
    if (!free_joint && type != ORR_JOINT_BALL) {
        moment[0] = R(gear[0]);
        d->actuator_length[output] = gear[0] * q[0];
        return;
    }
    quaternion at = normalise_quaternion(load_quaternion(q + 3 * free_joint, 0));
    real3 turn = uniform3(gear + 3 * free_joint, 0);
    if (m->actuator_trntype[i] == ORR_TRANSMISSION_JOINTINPARENT) {
        turn = rotate_inverse(quaternion_matrix(at), turn);
    }
    moment[0] = turn.z; // dofs of a chain are descending
    moment[1] = turn.y;
    moment[2] = turn.x;
    for (int k = 0; k < 3 && free_joint; k++) {
        moment[5 - k] = R(gear[k]);
    }
    d->actuator_length[output] = free_joint ? R(0.0) : dot3(quaternion_velocity(at), turn);
}

FN quaternion site_quaternion(const lane_model *m, const lane_data *d, int site)
{
    return multiply_quaternions(load_quaternion(d->xquat, m->site_bodyid[site]),
                                uniform4(m->site_quat, site));
}

// The orientation of the ball joint that an actuator turns, or of its site against its reference site.
FN quaternion driven_quaternion(const lane_model *m, const lane_data *d, int i)
{
    int id = m->actuator_trnid[2 * i], reference = m->actuator_trnid[2 * i + 1];
    if (reference < 0) {
        return normalise_quaternion(load_quaternion(d->qpos + m->jnt_qposadr[id], 0));
    }
    return multiply_quaternions(conjugate(site_quaternion(m, d, reference)), site_quaternion(m, d, id));
}

// A force and torque at a site: gear, in the site's frame. With a reference site: in its frame, with the
// reaction on its body, and the length is the site's pose in that frame along gear.
LANE_FN void site_transmission(const lane_model *m, lane_data *d, int i)
{
    int site = m->actuator_trnid[2 * i], reference = m->actuator_trnid[2 * i + 1];
    int frame_site = reference < 0 ? site : reference, output = m->actuator_outadr[i];
    real3 gear_force = uniform3(m->actuator_gear, 2 * output),
          gear_torque = uniform3(m->actuator_gear, 2 * output + 1);
    matrix3 frame = load_matrix(d->site_xmat, frame_site);
    real3 force = rotate(frame, gear_force), torque = rotate(frame, gear_torque);
    real3 at = load3(d->site_xpos, site), from = load3(d->site_xpos, frame_site);
    orr_chain chain = output_chain(m, output);
    reals moment = output_moments(m, d, output);
    for (int k = 0; k < chain.count; k++) {
        int dof = m->plan->chain_dof[chain.first + k], with_site = dof_moves(m, dof, m->site_bodyid[site]);
        real3 turning = load_spatial(d->cdof, dof).r;
        real pull = dot3(force, point_velocity(m, d, dof, with_site ? at : from)) + dot3(torque, turning);
        moment[k] = with_site ? pull : -pull;
    }
    d->actuator_length[output] = R(0.0);
    if (reference >= 0) {
        real3 turn = quaternion_velocity(driven_quaternion(m, d, i));
        d->actuator_length[output] = dot3(force, sub3(at, from)) + dot3(gear_torque, turn);
    }
}

// Three torques about the axes of a ball joint's body, or of a site against the body of a reference site. The
// lengths are how far it is turned, a rotation vector.
LANE_FN void orientation_transmission(const lane_model *m, lane_data *d, int i)
{
    int output = m->actuator_outadr[i], site = m->actuator_trnid[2 * i],
        ball = m->actuator_trnid[2 * i + 1] < 0;
    orr_chain chain = output_chain(m, output); // the same for all three
    for (int k = 0; k < chain.count; k++) {
        int dof = m->plan->chain_dof[chain.first + k];
        real3 turning = make_real3(R(k == 2), R(k == 1), R(k == 0)); // dofs of a chain are descending
        if (!ball) {
            turning = rotate_inverse(load_matrix(d->site_xmat, site), load_spatial(d->cdof, dof).r);
            turning = dof_moves(m, dof, m->site_bodyid[site]) ? turning : scale3(turning, R(-1.0));
        }
        output_moments(m, d, output)[k] = turning.x;
        output_moments(m, d, output + 1)[k] = turning.y;
        output_moments(m, d, output + 2)[k] = turning.z;
    }
    store3(d->actuator_length + output, 0, quaternion_velocity(driven_quaternion(m, d, i)));
}

// A rod from a crank's site to a slider that moves along the z axis of its own site: the length is the
// slider's position.
LANE_FN void crank_transmission(const lane_model *m, lane_data *d, int i)
{
    int crank = m->actuator_trnid[2 * i], slider = m->actuator_trnid[2 * i + 1];
    int output = m->actuator_outadr[i];
    uniform_real rod = m->actuator_cranklength[i], gear = m->actuator_gear[6 * output];
    real3 at = load3(d->site_xpos, crank), from = load3(d->site_xpos, slider);
    real3 axis = load_matrix(d->site_xmat, slider).z, apart = sub3(at, from);
    real along = dot3(apart, axis), square = along * along + rod * rod - dot3(apart, apart);
    mask reaches = square > R(0.0);
    real root = sqrt_(sel(reaches, square, R(1.0)));
    real share = sel(reaches, R(1.0) - along / root, R(1.0)), pull = sel(reaches, R(1.0) / root, R(0.0));
    d->actuator_length[output] = gear * (along - sel(reaches, root, R(0.0)));
    real3 by_apart = scale3(add_scaled3(scale3(axis, share), apart, pull), R(gear));
    real3 by_axis = scale3(apart, share * gear);
    orr_chain chain = output_chain(m, output);
    reals moment = output_moments(m, d, output);
    for (int k = 0; k < chain.count; k++) {
        int dof = m->plan->chain_dof[chain.first + k];
        moment[k] = R(0.0);
        if (dof_moves(m, dof, m->site_bodyid[crank])) {
            moment[k] = dot3(by_apart, point_velocity(m, d, dof, at));
        }
        if (dof_moves(m, dof, m->site_bodyid[slider])) {
            real3 turned = cross3(load_spatial(d->cdof, dof).r, axis);
            moment[k] = moment[k] - dot3(by_apart, point_velocity(m, d, dof, from)) + dot3(by_axis, turned);
        }
    }
}

// A force on the contacts of a body, those within the gap included: the mean moment of their normals.
LANE_FN void body_transmission(const lane_model *m, lane_data *d, int i, int contact_count)
{
    int body = m->actuator_trnid[2 * i], output = m->actuator_outadr[i];
    orr_chain chain = output_chain(m, output);
    reals moment = output_moments(m, d, output);
    real count = R(0.0);
    for (int k = 0; k < chain.count; k++) {
        moment[k] = R(0.0);
    }
    for (int c = 0; c < contact_count; c++) {
        const orr_pair *pair = lane_pair(m, d, d->contact[c].pair);
        int body1 = m->geom_bodyid[pair->geom1], body2 = second_body(m, pair);
        if (body2 < 0 || (body1 != body && body2 != body)) { // no soft body, as in MuJoCo
            continue;
        }
        real one = sel(d->contact_dist[c] < R(0.5 * LANE_HUGE), R(1.0), R(0.0));
        real3 normal = scale3(load3(d->contact_frame, 3 * c), one), at = load3(d->contact_pos, c);
        count = count + one;
        for (int k = 0; k < chain.count; k++) {
            int dof = m->plan->chain_dof[chain.first + k];
            int part = dof_moves(m, dof, body1) - dof_moves(m, dof, body2);
            if (part != 0) {
                moment[k] = moment[k] + R(part) * dot3(normal, point_velocity(m, d, dof, at));
            }
        }
    }
    for (int k = 0; k < chain.count; k++) {
        moment[k] = moment[k] / max_(count, R(1.0));
    }
}

// After how much of its length an actuator's ball joint, or the orientation of its site in that of its
// reference site, is back where it was; 0: never.
FN double transmission_period(const lane_model *m, int i)
{
    const uniform_real *gear = m->actuator_gear + 6 * m->actuator_outadr[i], *turn = gear + 3;
    int type = m->actuator_trntype[i], periodic = 0;
    if (type == ORR_TRANSMISSION_JOINT || type == ORR_TRANSMISSION_JOINTINPARENT) {
        periodic = m->jnt_type[m->actuator_trnid[2 * i]] == ORR_JOINT_BALL;
        turn = gear;
    } else if (type == ORR_TRANSMISSION_SITE && m->actuator_trnid[2 * i + 1] >= 0) {
        periodic = (double)gear[0] == 0.0 && (double)gear[1] == 0.0 && (double)gear[2] == 0.0;
    }
    if (!periodic) {
        return 0.0;
    }
    double x = (double)turn[0], y = (double)turn[1], z = (double)turn[2];
    return 2.0 * 3.14159265358979323846 * sqrt(x * x + y * y + z * z);
}

LANE_FN void transmissions(const lane_model *m, lane_data *d)
{
    for (int i = team_first(d); i < m->nactuator; i += team_size(d)) {
        switch (m->actuator_trntype[i]) {
        case ORR_TRANSMISSION_TENDON:
            tendon_transmission(m, d, i);
            break;
        case ORR_TRANSMISSION_SITE:
            site_transmission(m, d, i);
            break;
        case ORR_TRANSMISSION_SLIDERCRANK:
            crank_transmission(m, d, i);
            break;
        case ORR_TRANSMISSION_SO3:
            orientation_transmission(m, d, i);
            break;
        case ORR_TRANSMISSION_BODY: // contacts are found later
            d->actuator_length[m->actuator_outadr[i]] = R(0.0);
            body_transmission(m, d, i, 0);
            break;
        default:
            joint_transmission(m, d, i);
        }
    }
    team_wait(d);
}

LANE_FN void find_output_velocity(const lane_model *m, lane_data *d, int output)
{
    d->actuator_velocity[output] = // MuJoCo computes none without actuation
        m->opt.disableflags & ORR_DISABLE_ACTUATION
            ? R(0.0)
            : chain_rate(m, output_chain(m, output), output_moments(m, d, output), d->qvel);
}

// Transmissions that act on contacts, once these are found.
LANE_FN void body_transmissions(const lane_model *m, lane_data *d)
{
    for (int i = team_first(d); i < m->nactuator; i += team_size(d)) {
        if (m->actuator_trntype[i] == ORR_TRANSMISSION_BODY) {
            body_transmission(m, d, i, d->contact_count);
            find_output_velocity(m, d, m->actuator_outadr[i]);
        }
    }
    team_wait(d);
}

LANE_FN void actuator_velocities(const lane_model *m, lane_data *d)
{
    for (int i = team_first(d); i < m->nout; i += team_size(d)) {
        find_output_velocity(m, d, i);
    }
    team_wait(d);
}
