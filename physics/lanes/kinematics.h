// Forward kinematics: from qpos to the poses of bodies, geoms and sites, centres of mass, and the motion of
// each dof.
#pragma once

#include "physics/lanes/rest.h"

FN quaternion axis_angle_quaternion(real3 axis, real angle)
{
    real sine, cosine;
    sincos_(angle * R(0.5), &sine, &cosine);
    return half_angle_quaternion(axis, sine, cosine);
}

// The rotation vector [rad] of a unit quaternion: axis times angle, at most pi long.
FN real3 quaternion_velocity(quaternion q)
{
    real3 axis = make_real3(q.x, q.y, q.z);
    real sine = length3(axis);
    real angle = R(2.0) * atan2_(sine, q.w);
    angle = angle - sel(angle > R(3.141592653589793), R(6.283185307179586), R(0.0));
    mask still = sine < R(LANE_TINY);
    return scale3(axis, sel(still, R(0.0), angle / sel(still, R(1.0), sine)));
}

// Does a dof move a body?
FN int dof_moves(const lane_model *m, int dof, int body)
{
    int last = m->plan->last_dof[body];
    return dof <= last && last < m->plan->dof_end[dof];
}

// From the centre of mass of the body's tree, which spatial vectors are about, to a point.
FN real3 arm_to(const lane_model *m, const lane_data *d, int body, real3 at)
{
    return sub3(at, load3(d->subtree_com, m->body_rootid[body]));
}

// The velocity of a point that moves with a dof of velocity 1.
FN real3 point_velocity(const lane_model *m, const lane_data *d, int dof, real3 at)
{
    return velocity_at(load_spatial(d->cdof, dof), arm_to(m, d, m->dof_bodyid[dof], at));
}

// The world pose of a frame that is given in a body.
FN void local_to_world(const lane_data *d, int body, real3 pos, quaternion quat, real3 *at, matrix3 *turned)
{
    *at = add3(load3(d->xpos, body), rotate(load_matrix(d->xmat, body), pos));
    *turned = quaternion_matrix(multiply_quaternions(load_quaternion(d->xquat, body), quat));
}

// Is a joint's anchor elsewhere than the origin of its body, which it then moves?
FN int has_anchor(const lane_model *m, int joint)
{
    const uniform_real *at = m->jnt_pos + 3 * joint;
    return at[0] < 0 || at[0] > 0 || at[1] < 0 || at[1] > 0 || at[2] < 0 || at[2] > 0;
}

LANE_FN void move_by_joint(const lane_model *m, lane_data *d, int joint, real3 *position,
                           quaternion *orientation)
{
    reals q = d->qpos + m->jnt_qposadr[joint];
    matrix3 turned = quaternion_matrix(*orientation);
    real3 anchor_local = uniform3(m->jnt_pos, joint), axis_local = uniform3(m->jnt_axis, joint);
    real3 axis = rotate(turned, axis_local), anchor = *position;
    int away = has_anchor(m, joint);
    if (away) {
        anchor = add3(rotate(turned, anchor_local), *position);
    }
    store3(d->xaxis, joint, axis);
    store3(d->xanchor, joint, anchor);
    uniform_real rest = m->qpos0[m->jnt_qposadr[joint]];
    switch (m->jnt_type[joint]) {
    case ORR_JOINT_SLIDE:
        *position = add_scaled3(*position, axis, q[0] - R(rest));
        return;
    case ORR_JOINT_BALL:
        *orientation = multiply_quaternions(*orientation, normalise_quaternion(load_quaternion(q, 0)));
        break;
    default: // hinge
        *orientation = multiply_quaternions(*orientation, axis_angle_quaternion(axis_local, q[0] - R(rest)));
    }
    if (away) {
        *position = sub3(anchor, rotate(quaternion_matrix(*orientation), anchor_local));
    }
}

// The body's parent must be done.
LANE_FN void body_kinematics(const lane_model *m, lane_data *d, int i)
{
    int joint = m->body_jntadr[i], joint_end = joint + m->body_jntnum[i];
    real3 position;
    quaternion orientation;
    if (m->body_jntnum[i] == 1 && m->jnt_type[joint] == ORR_JOINT_FREE) {
        reals q = d->qpos + m->jnt_qposadr[joint];
        position = load3(q, 0);
        orientation = load_quaternion(q + 3, 0);
        store3(d->xanchor, joint, position);
        store3(d->xaxis, joint, uniform3(m->jnt_axis, joint));
    } else if (m->body_mocapid[i] >= 0) {
        position = load3(d->mocap_pos, m->body_mocapid[i]);
        orientation = load_quaternion(d->mocap_quat, m->body_mocapid[i]);
    } else {
        int parent = m->body_parentid[i];
        position =
            add3(load3(d->xpos, parent), rotate(load_matrix(d->xmat, parent), uniform3(m->body_pos, i)));
        orientation = multiply_quaternions(load_quaternion(d->xquat, parent), uniform4(m->body_quat, i));
        for (; joint < joint_end; joint++) {
            move_by_joint(m, d, joint, &position, &orientation);
        }
    }
    orientation = normalise_quaternion(orientation);
    store3(d->xpos, i, position);
    store_quaternion(d->xquat, i, orientation);
    store_matrix(d->xmat, i, quaternion_matrix(orientation));
}

FN void place_geom(const lane_model *m, const lane_data *d, int i)
{
    real3 at;
    matrix3 turned;
    local_to_world(d, m->geom_bodyid[i], uniform3(m->geom_pos, i), uniform4(m->geom_quat, i), &at, &turned);
    store3(d->geom_xpos, i, at);
    store_matrix(d->geom_xmat, i, turned);
}

FN void place_site(const lane_model *m, const lane_data *d, int i)
{
    real3 at;
    matrix3 turned;
    local_to_world(d, m->site_bodyid[i], uniform3(m->site_pos, i), uniform4(m->site_quat, i), &at, &turned);
    store3(d->site_xpos, i, at);
    store_matrix(d->site_xmat, i, turned);
}

// Where what is left out is; the bodies on which it stands are done.
LANE_FN void place_left_out(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->nbody; i++) {
        if (tree_left_out(m, d, m->body_treeid[i])) {
            body_kinematics(m, d, i);
        }
    }
    for (int i = 0; i < m->ngeom; i++) {
        if (tree_left_out(m, d, m->body_treeid[m->geom_bodyid[i]])) {
            place_geom(m, d, i);
        }
    }
    for (int i = 0; i < m->nsite; i++) {
        if (tree_left_out(m, d, m->body_treeid[m->site_bodyid[i]])) {
            place_site(m, d, i);
        }
    }
}

LANE_FN void kinematics(const lane_model *m, lane_data *d)
{
    store3(d->xpos, 0, zero3());
    store3(d->xipos, 0, zero3());
    store_quaternion(d->xquat, 0, make_quaternion(R(1.0), R(0.0), R(0.0), R(0.0)));
    store_matrix(d->xmat, 0, identity3());
    store_matrix(d->ximat, 0, identity3());
    for (int level = 0; level < level_count(m, d); level++) {
        int end = level_end(m, d, level);
        for (int n = m->plan->level_first[level] + team_first(d); n < end; n += team_size(d)) {
            body_kinematics(m, d, level_body(m, d, n));
        }
        team_wait(d);
    }
    for (int n = 1 + team_first(d); n < body_count(m, d); n += team_size(d)) {
        int i = nth_body(d, n);
        real3 centre;
        matrix3 principal;
        local_to_world(d, i, uniform3(m->body_ipos, i), uniform4(m->body_iquat, i), &centre, &principal);
        store3(d->xipos, i, centre);
        store_matrix(d->ximat, i, principal);
    }
    for (int n = team_first(d); n < geom_count(m, d); n += team_size(d)) {
        place_geom(m, d, nth_geom(d, n));
    }
    for (int n = team_first(d); n < site_count(m, d); n += team_size(d)) {
        place_site(m, d, nth_site(d, n));
    }
    team_wait(d);
    if (has_lists(d) && !d->placed) {
        place_left_out(m, d);
    }
}

// cdof of a joint: the spatial velocity that each of its dofs gives, about the centre of mass of its tree.
LANE_FN void joint_motion(const lane_model *m, lane_data *d, int joint)
{
    int dof = m->jnt_dofadr[joint], body = m->jnt_bodyid[joint];
    real3 to_centre = sub3(load3(d->subtree_com, m->body_rootid[body]), load3(d->xanchor, joint));
    matrix3 frame = load_matrix(d->xmat, body);
    real3 axes[3] = {frame.x, frame.y, frame.z};
    real3 axis = load3(d->xaxis, joint);
    int type = m->jnt_type[joint];
    if (type == ORR_JOINT_FREE) {
        for (int k = 0; k < 3; k++) {
            store_spatial(d->cdof, dof++, make_spatial(zero3(), axis3(k)));
        }
    }
    if (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL) {
        for (int k = 0; k < 3; k++) {
            store_spatial(d->cdof, dof++, make_spatial(axes[k], cross3(axes[k], to_centre)));
        }
    } else if (type == ORR_JOINT_SLIDE) {
        store_spatial(d->cdof, dof, make_spatial(zero3(), axis));
    } else {
        store_spatial(d->cdof, dof, make_spatial(axis, cross3(axis, to_centre)));
    }
}

// Adds `count` numbers of each body to those of its parent, from the leaves up; parents below `root` get
// nothing. Members of a team divide the numbers, not the bodies.
FN void add_to_parents(const lane_model *m, const lane_data *d, reals x, int count, int root)
{
    for (int n = body_count(m, d) - 1; n > 0; n--) {
        int i = nth_body(d, n);
        reals child = x + count * i, parent = x + count * m->body_parentid[i];
        for (int k = team_first(d); k < count && m->body_parentid[i] >= root; k += team_size(d)) {
            parent[k] = parent[k] + child[k];
        }
    }
}

LANE_FN void centres_of_mass(const lane_model *m, lane_data *d)
{
    for (int n = team_first(d); n < body_count(m, d); n += team_size(d)) {
        int i = nth_body(d, n);
        store3(d->subtree_com, i, scale3(load3(d->xipos, i), body_mass(m, d, i)));
    }
    team_wait(d);
    add_to_parents(m, d, d->subtree_com, 3, 0);
    team_wait(d);
    for (int n = team_first(d); n < body_count(m, d); n += team_size(d)) {
        int i = nth_body(d, n);
        real mass = body_subtreemass(m, d, i);
        mask massless = mass < R(LANE_TINY);
        real3 centre = select3(massless, load3(d->xipos, i),
                               scale3(load3(d->subtree_com, i), R(1.0) / sel(massless, R(1.0), mass)));
        store3(d->subtree_com, i, centre);
    }
    team_wait(d);
    for (int n = team_first(d); n < body_count(m, d); n += team_size(d)) {
        int i = nth_body(d, n);
        real3 offset = arm_to(m, d, i, load3(d->xipos, i));
        store_inertia(
            d->cinert, i,
            body_inertia_about(body_moments(m, d, i), load_matrix(d->ximat, i), offset, body_mass(m, d, i)));
    }
    for (int n = team_first(d); n < joint_count(m, d); n += team_size(d)) {
        joint_motion(m, d, nth_joint(d, n));
    }
    team_wait(d);
}
