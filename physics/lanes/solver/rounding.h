// What rounding can make of the slope of the solver's cost: the sizes of the numbers that it is the sum of.
#pragma once

#include "physics/lanes/constraint_rows.h"
#include "physics/lanes/inertia.h"

// The solver has stalled when rounding alone can explain the slope that is left, and so many iterations have
// not halved it. Slopes that still fall are worth following even below their rounding.
enum { LANE_STALL = 8 };

// Of the gain that is enough for another iteration: what is enough for the first one. Without it, in float,
// slow motion keeps the acceleration of an earlier step.
#if defined(ORR_SCALAR_DOUBLE)
#define SOLVER_FIRST 1.0
#else
#define SOLVER_FIRST 1e-3
#endif

// The first and second derivative of a cost along a direction, and the sum of the sizes of the terms of the
// first: rounding makes it wrong by about LANE_EPSILON of that.
typedef struct lane_slope {
    real first, second, size;
} lane_slope;

// result = |J| |x|, for the rows of the group at i
LANE_FN void group_magnitudes(const lane_data *d, int i, reals x, reals result)
{
    const lane_row *row = &d->row[i];
    reals J = d->efc_J + row->J;
    real along[6];
    for (int k = 0; k < 6 && k < row->basis; k++) {
        along[k] = R(0.0);
        for (int e = 0; e < row->count; e++) {
            along[k] = fma_(abs_(J[k * row->count + e]), abs_(x[row->dof[e]]), along[k]);
        }
        if (row->basis == row->dim) {
            result[i + k] = along[k];
        } else if (k > 0) {
            real slide = fma_(row->friction[k - 1], along[k], along[0]);
            result[i + 2 * k - 2] = result[i + 2 * k - 1] = slide;
        }
    }
}

// The size of the numbers that efc_jar is the sum of. efc_magnitude: |J| |qacc|
FN real residual_magnitude(const lane_data *d, int i)
{
    return d->efc_magnitude[i] + abs_(d->efc_aref[i]);
}

// |search|^T (|M| |qacc| + |qfrc_smooth|): row k of M and its mirror image
FN real inertia_magnitude(const lane_model *m, const lane_data *d, int k)
{
    int adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
    real search = abs_(d->search[k]), qacc = abs_(d->qacc[k]);
    real sum = search * fma_(d->qM[adr + last], qacc, abs_(d->qfrc_smooth[k]));
    for (int c = 0; c < last; c++) {
        int j = m->M_colind[adr + c];
        sum = fma_(abs_(d->qM[adr + c]), fma_(search, abs_(d->qacc[j]), abs_(d->search[j]) * qacc), sum);
    }
    return sum;
}
