// Velocities of bodies, and the recursive Newton-Euler algorithm: the forces that a motion needs.
#pragma once

#include "physics/lanes/kinematics.h"

// The body's parent must be done.
LANE_FN void body_velocity(const lane_model *m, lane_data *d, int i)
{
    spatial v = load_spatial(d->cvel, m->body_parentid[i]);
    for (int joint = m->body_jntadr[i]; joint < m->body_jntadr[i] + m->body_jntnum[i]; joint++) {
        int dof = m->jnt_dofadr[joint], type = m->jnt_type[joint];
        if (type == ORR_JOINT_FREE) {
            for (int k = 0; k < 3; k++, dof++) {
                store_spatial(d->cdof_dot, dof, make_spatial(zero3(), zero3()));
                v = add_scaled_spatial(v, load_spatial(d->cdof, dof), d->qvel[dof]);
            }
        }
        // axes of a ball joint rotate with the body as it moves without this joint
        int turning = type == ORR_JOINT_FREE || type == ORR_JOINT_BALL ? 3 : 1;
        spatial before = v;
        for (int k = 0; k < turning; k++, dof++) {
            spatial motion = load_spatial(d->cdof, dof);
            store_spatial(d->cdof_dot, dof, cross_motion(before, motion));
            v = add_scaled_spatial(v, motion, d->qvel[dof]);
        }
    }
    store_spatial(d->cvel, i, v);
}

LANE_FN void body_velocities(const lane_model *m, lane_data *d)
{
    store_spatial(d->cvel, 0, make_spatial(zero3(), zero3()));
    for (int level = 0; level < level_count(m, d); level++) {
        int end = level_end(m, d, level);
        for (int n = m->plan->level_first[level] + team_first(d); n < end; n += team_size(d)) {
            body_velocity(m, d, level_body(m, d, n));
        }
        team_wait(d);
    }
}

// From the velocities of its dofs alone. The body's parent must be done.
LANE_FN void body_acceleration(const lane_model *m, lane_data *d, int i)
{
    spatial a = load_spatial(d->cacc, m->body_parentid[i]);
    for (int dof = m->body_dofadr[i]; dof < m->body_dofadr[i] + m->body_dofnum[i]; dof++) {
        a = add_scaled_spatial(a, load_spatial(d->cdof_dot, dof), d->qvel[dof]);
    }
    store_spatial(d->cacc, i, a);
}

// What qacc adds to it; into cfrc_body. The body's parent must be done.
LANE_FN void body_acceleration_by_qacc(const lane_model *m, lane_data *d, int i)
{
    spatial a = load_spatial(d->cfrc_body, m->body_parentid[i]);
    for (int dof = m->body_dofadr[i]; dof < m->body_dofadr[i] + m->body_dofnum[i]; dof++) {
        a = add_scaled_spatial(a, load_spatial(d->cdof, dof), d->qacc[dof]);
    }
    store_spatial(d->cfrc_body, i, a);
}

// cfrc_body: the force that a body and all below it need for cacc; result: the generalised force
LANE_FN void forces_of_accelerations(const lane_model *m, lane_data *d, reals result)
{
    for (int n = 1 + team_first(d); n < body_count(m, d); n += team_size(d)) {
        int i = nth_body(d, n);
        inertia body = load_inertia(d->cinert, i);
        spatial v = load_spatial(d->cvel, i), a = load_spatial(d->cacc, i);
        store_spatial(d->cfrc_body, i,
                      add_spatial(inertia_times(body, a), cross_force(v, inertia_times(body, v))));
    }
    team_wait(d);
    add_to_parents(m, d, d->cfrc_body, 6, 1);
    team_wait(d);
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int i = nth_dof(d, n);
        result[i] = dot_spatial(load_spatial(d->cdof, i), load_spatial(d->cfrc_body, m->dof_bodyid[i]));
    }
    team_wait(d);
}

// result = generalised force of gravity, Coriolis and centripetal forces; cacc: accelerations at qacc = 0
LANE_FN void newton_euler(const lane_model *m, lane_data *d, reals result)
{
    real3 up = zero3();
    if (!(m->opt.disableflags & ORR_DISABLE_GRAVITY)) {
        up = scale3(gravity(m, d), R(-1.0));
    }
    store_spatial(d->cacc, 0, make_spatial(zero3(), up));
    for (int level = 0; level < level_count(m, d); level++) {
        int end = level_end(m, d, level);
        for (int n = m->plan->level_first[level] + team_first(d); n < end; n += team_size(d)) {
            body_acceleration(m, d, level_body(m, d, n));
        }
        team_wait(d);
    }
    forces_of_accelerations(m, d, result);
}

// The same plus M qacc without armature; after newton_euler, whose cacc it changes. It does not read qvel,
// which a step has changed since then.
LANE_FN void newton_euler_with_qacc(const lane_model *m, lane_data *d, reals result)
{
    store_spatial(d->cfrc_body, 0, make_spatial(zero3(), zero3()));
    for (int level = 0; level < level_count(m, d); level++) {
        int end = level_end(m, d, level);
        for (int n = m->plan->level_first[level] + team_first(d); n < end; n += team_size(d)) {
            body_acceleration_by_qacc(m, d, level_body(m, d, n));
        }
        team_wait(d);
    }
    for (int n = 1 + team_first(d); n < body_count(m, d); n += team_size(d)) {
        int i = nth_body(d, n);
        store_spatial(d->cacc, i, add_spatial(load_spatial(d->cacc, i), load_spatial(d->cfrc_body, i)));
    }
    team_wait(d);
    forces_of_accelerations(m, d, result);
}

// Adds the generalised force of a force [N] and a torque [N m] at a point of a body, in world axes.
FN void apply_force(const lane_model *m, const lane_data *d, int body, real3 at, real3 force, real3 torque,
                    reals result)
{
    spatial whole = force_at(force, torque, arm_to(m, d, body, at));
    for (int dof = m->plan->last_dof[body]; dof >= 0; dof = m->dof_parentid[dof]) {
        result[dof] = result[dof] + dot_spatial(load_spatial(d->cdof, dof), whole);
    }
}
