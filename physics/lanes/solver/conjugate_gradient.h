// Directions of the nonlinear conjugate gradient method, preconditioned with M (Polak and Ribiere, restarted
// where a direction does not descend): no matrix of second derivatives, for models with many dofs and few
// constraints. Needs more iterations than Newton's method; converges to option tolerance.
#pragma once

#include "physics/lanes/inertia.h"

// search = -M^-1 gradient + beta search. Stores the gradient and M^-1 gradient in work for the next call.
LANE_FN void conjugate_direction(const lane_model *m, lane_data *d, int first)
{
    int nv = m->nv;
    reals gradient = d->work, scaled = gradient + nv, next = scaled + nv;
    for (int k = 0; k < nv; k++) {
        next[k] = d->gradient[k];
    }
    solve_factorised(m, d, d->qLD, d->qLDiagInv, next);
    real change = R(0.0), before = R(0.0);
    for (int k = 0; k < nv && !first; k++) {
        change = fma_(d->gradient[k], next[k] - scaled[k], change);
        before = fma_(gradient[k], scaled[k], before);
    }
    real beta = max_(change, R(0.0)) / max_(before, R(LANE_TINY));
    real slope = R(0.0);
    for (int k = 0; k < nv; k++) {
        d->search[k] = first ? -next[k] : fma_(beta, d->search[k], -next[k]);
        slope = fma_(d->search[k], d->gradient[k], slope);
    }
    mask up = slope >= R(0.0);
    for (int k = 0; k < nv; k++) {
        d->search[k] = sel(up, -next[k], d->search[k]);
        gradient[k] = d->gradient[k];
        scaled[k] = next[k];
    }
}
