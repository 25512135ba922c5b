// Accelerations of bodies, external forces on them and forces between them (MuJoCo's mj_rnePostConstraint);
// momentum of subtrees (mj_subtreeVel).
#pragma once

#include "physics/lanes/contact_force.h"
#include "physics/lanes/equality.h"
#include "physics/lanes/velocity.h"

// Adds a force and a torque at a point of a body to cfrc_ext, times `sign`; not for the world.
FN void push_body(const lane_model *m, lane_data *d, int body, real3 at, real3 force, real3 torque,
                  double sign)
{
    if (body == 0) {
        return;
    }
    spatial whole = force_at(force, torque, arm_to(m, d, body, at));
    store_spatial(d->cfrc_ext, body, add_scaled_spatial(load_spatial(d->cfrc_ext, body), whole, R(sign)));
}

LANE_FN void push_by_contacts(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < d->contact_count; i++) {
        const orr_pair *pair = lane_pair(m, d, d->contact[i].pair);
        real local[6];
        contact_force(m, d, i, local);
        matrix3 rows = load_matrix(d->contact_frame, i);
        real3 force = rotate_inverse(rows, make_real3(local[0], local[1], local[2]));
        real3 torque = rotate_inverse(rows, make_real3(local[3], local[4], local[5]));
        real3 at = load3(d->contact_pos, i);
        push_body(m, d, m->geom_bodyid[pair->geom1], at, force, torque, -1.0);
        push_body(m, d, m->geom_bodyid[pair->geom2], at, force, torque, 1.0);
    }
}

// Rows of equalities come first, in their order.
LANE_FN void push_by_equalities(const lane_model *m, lane_data *d)
{
    if (m->opt.disableflags & (ORR_DISABLE_CONSTRAINT | ORR_DISABLE_EQUALITY)) {
        return;
    }
    int row = 0;
    for (int i = 0; i < m->neq; i++) {
        int weld = m->eq_type[i] == ORR_EQUALITY_WELD;
        if (!m->eq_active0[i]) {
            continue;
        }
        if (!weld && m->eq_type[i] != ORR_EQUALITY_CONNECT) {
            row++;
            continue;
        }
        lane_joined joined = load_joined(m, d, i);
        real3 force = load3(d->efc_force + row, 0);
        real3 torque = weld ? load3(d->efc_force + row, 1) : zero3();
        push_body(m, d, joined.body[0], joined.anchor[0], force, torque, 1.0);
        push_body(m, d, joined.body[1], joined.anchor[1], force, torque, -1.0);
        row += weld ? 6 : 3;
    }
}

// cacc, cfrc_ext, cfrc_int
LANE_FN void reactions(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->nbody; i++) {
        store_spatial(d->cfrc_ext, i, make_spatial(zero3(), zero3()));
        push_body(m, d, i, load3(d->xipos, i), load3(d->xfrc_applied, 2 * i),
                  load3(d->xfrc_applied, 2 * i + 1), 1.0);
    }
    push_by_contacts(m, d);
    push_by_equalities(m, d);
    newton_euler(m, d, 1, d->work); // cfrc_body: force that a body and all below it need
    for (int i = 0; i < 6 * m->nbody; i++) {
        d->cfrc_int[i] = -d->cfrc_ext[i];
    }
    for (int i = m->nbody - 1; i > 0; i--) {
        spatial whole = load_spatial(d->cfrc_int, i);
        int parent = m->body_parentid[i];
        store_spatial(d->cfrc_int, parent, add_spatial(load_spatial(d->cfrc_int, parent), whole));
    }
    for (int i = 1; i < m->nbody; i++) {
        spatial needed = load_spatial(d->cfrc_body, i);
        store_spatial(d->cfrc_int, i, add_spatial(load_spatial(d->cfrc_int, i), needed));
        if (m->body_parentid[i] == 0) {
            store_spatial(d->cfrc_int, 0, add_spatial(load_spatial(d->cfrc_int, 0), needed));
        }
    }
}

// subtree_linvel and subtree_angmom
LANE_FN void subtree_velocities(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->nbody; i++) {
        real3 arm = arm_to(m, d, i, load3(d->xipos, i));
        store3(d->subtree_linvel, i, scale3(velocity_at(load_spatial(d->cvel, i), arm), body_mass(m, d, i)));
    }
    for (int i = m->nbody - 1; i >= 0; i--) {
        real3 momentum = load3(d->subtree_linvel, i);
        if (i > 0) {
            int parent = m->body_parentid[i];
            store3(d->subtree_linvel, parent, add3(load3(d->subtree_linvel, parent), momentum));
        }
        store3(d->subtree_linvel, i,
               scale3(momentum, R(1.0) / max_(body_subtreemass(m, d, i), R(LANE_TINY))));
    }
    for (int i = 0; i < m->nbody; i++) { // of the body alone, about the centre of its subtree
        spatial v = load_spatial(d->cvel, i);
        matrix3 frame = load_matrix(d->ximat, i);
        real3 local = rotate_inverse(frame, v.r), moments = body_moments(m, d, i);
        real3 spin = rotate(frame, make_real3(local.x * moments.x, local.y * moments.y, local.z * moments.z));
        real3 arm = arm_to(m, d, i, load3(d->xipos, i));
        real3 moving = sub3(velocity_at(v, arm), load3(d->subtree_linvel, i));
        real3 from_centre = sub3(load3(d->xipos, i), load3(d->subtree_com, i));
        store3(d->subtree_angmom, i, add3(spin, scale3(cross3(from_centre, moving), body_mass(m, d, i))));
    }
    for (int i = m->nbody - 1; i > 0; i--) {
        int parent = m->body_parentid[i];
        real3 apart = sub3(load3(d->subtree_com, i), load3(d->subtree_com, parent));
        real3 moving = sub3(load3(d->subtree_linvel, i), load3(d->subtree_linvel, parent));
        real3 whole =
            add_scaled3(load3(d->subtree_angmom, i), cross3(apart, moving), body_subtreemass(m, d, i));
        store3(d->subtree_angmom, parent, add3(load3(d->subtree_angmom, parent), whole));
    }
}
