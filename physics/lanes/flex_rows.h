// Cells of soft bodies as rows of the constraint solver. A row is a mode of the deformation of a cell, in the
// frame that turns with it (flex_nodes.h).
//
// Under integrators that are implicit a cell's elasticity is quadratic rows. With the stiffness K, the sum of
// the squares q q^T of its modes, and its damping c K, the forces at the end of a step h are, for each mode,
//     -q (q u + (h + c) q v + (h^2 + h c) q a),
// which is a row J = q^T with D = h^2 + h c and aref = -(q u + (h + c) q v) / D. So the solver minimises in
// the metric M + h c K + h^2 K, as MuJoCo's integrator `discrete` does, and contacts see it.
//
// A strain equality holds a cell by the same rows with MuJoCo's impedance, each by how far it is from rest.
#pragma once

#include "physics/lanes/constraint_rows.h"
#include "physics/lanes/flex_nodes.h"

// Adds what node i of a cell gives to the Jacobian and the positions of the cell's rows.
FN void add_node_to_modes(const lane_model *m, lane_data *d, int cell, const lane_cell *at, int i, int first)
{
    orr_chain chain = m->plan->chain[m->plan->flexcell_chain + cell];
    const uniform_real *mode = m->flexcell_mode + m->flexcell_modeadr[cell] + 3 * i;
    int modes = m->flexcell_modenum[cell], size = 3 * at->nodes, entry = chain.first;
    reals J = d->efc_J + d->row[first].J;
    for (int k = 0; k < modes; k++) {
        d->efc_pos[first + k] =
            d->efc_pos[first + k] + dot3(uniform3(mode + (ptrdiff_t)k * size, 0), at->moved[i]);
    }
    int dof = m->plan->last_dof[m->flexcell_bodyid[m->flexcell_nodeadr[cell] + i]];
    for (; dof >= 0; dof = m->dof_parentid[dof]) {
        while (m->plan->chain_dof[entry] != dof) {
            entry++;
        }
        real3 along = rotate_inverse(at->turned, point_velocity(m, d, dof, at->x[i]));
        for (int k = 0; k < modes; k++) {
            int to = k * chain.count + entry - chain.first;
            J[to] = J[to] + dot3(uniform3(mode + (ptrdiff_t)k * size, 0), along);
        }
    }
}

// Adds a row for each mode of a cell, with its Jacobian, position and velocity (efc_jv). Returns the first.
LANE_FN int add_modes(const lane_model *m, lane_data *d, int cell, lane_row_type type)
{
    orr_chain chain = m->plan->chain[m->plan->flexcell_chain + cell];
    int first = d->row_count, modes = m->flexcell_modenum[cell];
    for (int k = 0; k < modes; k++) {
        int row = add_row(d, type, m->plan->chain_dof + chain.first, chain.count);
        d->efc_pos[row] = R(0.0);
        for (int e = 0; e < chain.count; e++) {
            d->efc_J[d->row[row].J + e] = R(0.0);
        }
    }
    lane_cell at;
    place_cell(m, d, cell, &at);
    move_cell(m, d, cell, 1, R(0.0), &at);
    for (int i = 0; i < at.nodes; i++) {
        add_node_to_modes(m, d, cell, &at, i, first);
    }
    for (int k = 0; k < modes; k++) {
        group_times(d, first + k, d->qvel, d->efc_jv);
    }
    return first;
}

// By one member of a team, behind the rows of equalities.
LANE_FN void elastic_rows(const lane_model *m, lane_data *d)
{
    double h = m->opt.timestep, spring = m->opt.disableflags & ORR_DISABLE_SPRING ? 0.0 : 1.0;
    for (int i = 0; i < m->nflexcell; i++) {
        int damps = !(m->opt.disableflags & ORR_DISABLE_DAMPER);
        double damping = damps ? (double)m->flexcell_damping[i] : 0.0, weight = h * (spring * h + damping);
        if (m->flexcell_modenum[i] == 0 || m->flexcell_strain[i] || weight == 0.0) {
            continue;
        }
        int first = add_modes(m, d, i, LANE_ROW_ELASTIC);
        for (int k = first; k < d->row_count; k++) {
            real pull = fma_(R(spring * h + damping), d->efc_jv[k], R(spring) * d->efc_pos[k]);
            d->efc_diagonal[k] = R(1.0 / weight);
            d->efc_D[k] = R(weight);
            d->efc_aref[k] = -(pull * R(1.0 / weight));
        }
    }
}

// Of a strain equality, with the inverse weight that its nodes have on average.
LANE_FN void strain_rows(const lane_model *m, lane_data *d, int cell, const uniform_real *solref,
                         const uniform_real *solimp, mask active)
{
    int along = m->flexcell_interp[cell] + 1, nodes = along * along * along;
    real weight = R(0.0);
    for (int i = 0; i < nodes; i++) {
        weight = weight + body_invweight0(m, d, 2 * m->flexcell_bodyid[m->flexcell_nodeadr[cell] + i]);
    }
    weight = weight * R(1.0 / nodes);
    int first = add_modes(m, d, cell, LANE_ROW_EQUALITY);
    for (int k = first; k < d->row_count; k++) {
        real r = d->efc_pos[k];
        lane_impedance at = impedance_of(m, solref, solimp, r);
        set_row_of_group(d, k, at, r, regularise(at, weight, active));
    }
}
