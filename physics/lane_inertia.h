// The inertia matrix M by composite rigid bodies, and its factorisation M = L^T D L, which has no more entries
// than M itself because dofs stand in tree order (Featherstone 2008, chapter 6).
//
// Rows of M hold the dofs above a dof in ascending order and the dof itself last; the row of an ancestor is
// therefore a prefix of the row of each dof below it.
#pragma once

#include "physics/lane_model.h"

LANE_FN void inertia_matrix(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < 10 * m->nbody; i++) {
        d->crb[i] = d->cinert[i];
    }
    for (int i = m->nbody - 1; i > 0; i--) {
        int parent = m->body_parentid[i];
        if (parent > 0) {
            store_inertia(d->crb, parent, add_inertia(load_inertia(d->crb, parent), load_inertia(d->crb, i)));
        }
    }
    for (int i = 0; i < m->nv; i++) {
        spatial momentum = inertia_times(load_inertia(d->crb, m->dof_bodyid[i]), load_spatial(d->cdof, i));
        int adr = m->M_rowadr[i], last = m->M_rownnz[i] - 1;
        for (int k = 0; k <= last; k++) {
            d->qM[adr + k] = dot_spatial(load_spatial(d->cdof, m->M_colind[adr + k]), momentum);
        }
        d->qM[adr + last] = d->qM[adr + last] + dof_armature(m, d, i) + R(m->dof_drive[LANE_DRIVE * i]);
    }
}

// LD: M on entry; L and D on return. inverse: 1 / D
LANE_FN void factorise(const lane_model *m, reals LD, reals inverse)
{
    for (int k = m->nv - 1; k >= 0; k--) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        inverse[k] = R(1.0) / LD[adr + last];
        for (int c = last - 1; c >= 0; c--) {
            int above = m->M_rowadr[m->M_colind[adr + c]];
            real l = LD[adr + c] * inverse[k];
            for (int e = 0; e <= c; e++) {
                LD[above + e] = fma_(-l, LD[adr + e], LD[above + e]);
            }
        }
        for (int c = 0; c < last; c++) {
            LD[adr + c] = LD[adr + c] * inverse[k];
        }
    }
}

// x: the right side on entry, the solution on return
LANE_FN void solve_factorised(const lane_model *m, reals LD, reals inverse, reals x)
{
    for (int k = m->nv - 1; k >= 0; k--) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        for (int c = 0; c < last; c++) {
            int j = m->M_colind[adr + c];
            x[j] = fma_(-LD[adr + c], x[k], x[j]);
        }
    }
    for (int k = 0; k < m->nv; k++) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        real sum = x[k] * inverse[k];
        for (int c = 0; c < last; c++) {
            sum = fma_(-LD[adr + c], x[m->M_colind[adr + c]], sum);
        }
        x[k] = sum;
    }
}

LANE_FN void factorise_inertia(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < m->nM; i++) {
        d->qLD[i] = d->qM[i];
    }
    factorise(m, d->qLD, d->qLDiagInv);
}

// y = M x
LANE_FN void inertia_matrix_times(const lane_model *m, const lane_data *d, reals x, reals y)
{
    for (int k = 0; k < m->nv; k++) {
        int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        real sum = d->qM[adr + last] * x[k];
        for (int c = 0; c < last; c++) {
            int j = m->M_colind[adr + c];
            sum = fma_(d->qM[adr + c], x[j], sum);
            y[j] = fma_(d->qM[adr + c], x[k], y[j]);
        }
        y[k] = sum;
    }
}
