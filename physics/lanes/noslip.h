// Corrections that need the inverse of M: the exact diagonal of J M^-1 J^T (flag diagexact), and MuJoCo's
// noslip solver, which removes the regularisation of friction once the forces are known (MuJoCo's
// documentation, "Computation").
#pragma once

#include "physics/lanes/solver.h"

// x = M^-1 x
FN void inverse_times(const lane_model *m, const lane_data *d, reals x)
{
    solve_factorised(m, d, d->qLD, d->qLDiagInv, x);
}

FN void clear_dofs(const lane_model *m, reals x)
{
    for (int k = 0; k < m->nv; k++) {
        x[k] = R(0.0);
    }
}

// ---- the exact diagonal ----

// The regulariser of a group's rows is a share of the diagonal of its first row, which was estimated from
// inverse weights at qpos0.
LANE_FN void correct_group(const lane_model *m, lane_data *d, int first)
{
    const lane_row *row = &d->row[first];
    reals J = d->efc_J + row->J, x = d->row_response;
    real taken = d->efc_diagonal[first], exact = R(0.0), slide = R(0.0);
    int pyramid = row->basis != row->dim;
    if (pyramid) { // all edges have a share of the first one's
        slide = row->friction[0];
        taken = taken * R(0.5) / (row->friction[ORR_PAIR_MU] * row->friction[ORR_PAIR_MU]);
    }
    clear_dofs(m, x);
    for (int k = 0; k < row->count; k++) {
        x[row->dof[k]] = pyramid ? fma_(slide, J[row->count + k], J[k]) : J[k];
    }
    inverse_times(m, d, x);
    for (int k = 0; k < row->count; k++) {
        exact = fma_(pyramid ? fma_(slide, J[row->count + k], J[k]) : J[k], x[row->dof[k]], exact);
    }
    exact = max_(exact, R(LANE_TINY));
    for (int k = 0; k < row->dim; k++) {
        d->efc_D[first + k] = d->efc_D[first + k] * (taken / exact);
    }
}

LANE_FN void correct_diagonals(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < d->row_count; i += d->row[i].dim) {
        correct_group(m, d, i);
    }
}

// ---- noslip ----

// A direction of slip: scale times a row J of a group's Jacobian. Of an elliptic contact the k-th tangential
// row; of a pyramid the k-th pair of opposite edges, whose forces change by opposite amounts; else a single
// row. Its response is M^-1 J^T scale.
typedef struct lane_slide {
    int row, J, count, pair_of_edges;
    const int32_t *dof;
    real scale;
} lane_slide;

FN lane_slide slide_of(const lane_data *d, int first, int k)
{
    const lane_row *row = &d->row[first];
    lane_slide slide = {first, row->J, row->count, row->basis != row->dim, row->dof, R(1.0)};
    if (slide.pair_of_edges) {
        slide.row = first + 2 * k;
        slide.scale = R(2.0) * row->friction[k];
    } else if (row->type == LANE_ROW_CONE) {
        slide.row = first + 1 + k;
    }
    if (row->basis > 1) {
        slide.J = row->J + (1 + k) * row->count;
    }
    return slide;
}

// The number of directions in the group at i.
FN int slides_of(const lane_data *d, int i)
{
    const lane_row *row = &d->row[i];
    return row->basis > 1 ? row->basis - 1 : row->type == LANE_ROW_FRICTION;
}

FN reals slide_response(const lane_model *m, const lane_data *d, lane_slide slide)
{
    return d->row_response + slide.row * m->nv;
}

FN real slide_times(const lane_data *d, lane_slide slide, reals x)
{
    real along = R(0.0);
    for (int k = 0; k < slide.count; k++) {
        along = fma_(d->efc_J[slide.J + k], x[slide.dof[k]], along);
    }
    return slide.scale * along;
}

// The slip's acceleration minus its reference.
FN real slide_residual(const lane_data *d, lane_slide slide)
{
    real target = d->efc_aref[slide.row];
    if (slide.pair_of_edges) {
        target = target - d->efc_aref[slide.row + 1];
    }
    return slide_times(d, slide, d->qacc) - target;
}

FN void prepare_slide(const lane_model *m, lane_data *d, lane_slide slide)
{
    reals response = slide_response(m, d, slide);
    clear_dofs(m, response);
    for (int k = 0; k < slide.count; k++) {
        response[slide.dof[k]] = slide.scale * d->efc_J[slide.J + k];
    }
    inverse_times(m, d, response);
}

FN void push_slide(const lane_model *m, lane_data *d, lane_slide slide, real change)
{
    reals response = slide_response(m, d, slide);
    d->efc_force[slide.row] = d->efc_force[slide.row] + change;
    if (slide.pair_of_edges) {
        d->efc_force[slide.row + 1] = d->efc_force[slide.row + 1] - change;
    }
    for (int k = 0; k < m->nv; k++) {
        d->qacc[k] = fma_(change, response[k], d->qacc[k]);
    }
}

// Sets the force of one direction, between low and high, to the one that stops the slip. Returns the decrease
// of the cost.
FN real stop_slide(const lane_model *m, lane_data *d, lane_slide slide, real force, real low, real high,
                   mask running)
{
    real slip = slide_residual(d, slide), weight = slide_times(d, slide, slide_response(m, d, slide));
    mask moves = weight > R(LANE_TINY);
    real target = clamp_(force - slip / sel(moves, weight, R(1.0)), low, high);
    real change = sel(running, sel(moves, target, R(0.0)) - force, R(0.0));
    push_slide(m, d, slide, change);
    return -(R(0.5) * change * change * weight + change * slip);
}

#if defined(ORR_SCALAR_DOUBLE)
#define BALL_TOLERANCE 1e-12
#else
#define BALL_TOLERANCE 1e-6
#endif

// Minimises 1/2 x^T A x + b^T x with |x| <= radius, n <= 5: x = -(A + l)^-1 b with the least l >= 0 that
// fulfils it, by Newton's method for 1 / |x| (More and Sorensen, "Computing a trust region step", 1983).
// *outside: lanes in which l > 0.
FN void least_in_ball(int n, real A[5][5], real b[5], real radius, real x[5], mask *outside)
{
    real l = R(0.0);
    *outside = R(1.0) < R(0.0);
    for (int step = 0; step < 20; step++) {
        real L[5][5] = {{R(0.0)}}, y[5] = {R(0.0)}, length = R(0.0), slope = R(0.0);
        for (int i = 0; i < n; i++) { // Cholesky; L x' = b, L^T x = -x', L y = x
            real sum = b[i];
            for (int j = 0; j <= i; j++) {
                real entry = A[i][j];
                for (int k = 0; k < j; k++) {
                    entry = fma_(-L[i][k], L[j][k], entry);
                }
                L[i][j] = i == j ? sqrt_(max_(entry + l, R(LANE_TINY))) : entry / L[j][j];
                sum = j < i ? fma_(-L[i][j], y[j], sum) : sum;
            }
            y[i] = sum / L[i][i];
        }
        for (int i = n - 1; i >= 0; i--) {
            real sum = -y[i];
            for (int k = i + 1; k < n; k++) {
                sum = fma_(-L[k][i], x[k], sum);
            }
            x[i] = sum / L[i][i];
        }
        for (int i = 0; i < n; i++) {
            real sum = x[i];
            for (int k = 0; k < i; k++) {
                sum = fma_(-L[i][k], y[k], sum);
            }
            y[i] = sum / L[i][i];
            length = fma_(x[i], x[i], length);
            slope = fma_(y[i], y[i], slope);
        }
        length = sqrt_(length);
        mask beyond = and_(length > radius * R(1.0 + BALL_TOLERANCE), radius >= R(LANE_TINY));
        if (!any(beyond)) {
            break;
        }
        *outside = or_(*outside, beyond);
        real towards = length * length * (length - radius) / max_(slope * radius, R(LANE_TINY));
        l = l + sel(beyond, towards, R(0.0));
    }
}

// All tangential rows of an elliptic contact together; its normal force is not changed.
LANE_FN real stop_cone(const lane_model *m, lane_data *d, int first, mask running)
{
    int n = d->row[first].dim - 1;
    reals friction = d->row[first].friction;
    real A[5][5], scaled[5][5], slip[5], b[5], x[5], change[5], normal = d->efc_force[first], gain = R(0.0);
    for (int i = 0; i < n; i++) {
        lane_slide slide = slide_of(d, first, i);
        slip[i] = slide_residual(d, slide);
        b[i] = slip[i];
        for (int j = 0; j < n; j++) {
            A[i][j] = slide_times(d, slide, slide_response(m, d, slide_of(d, first, j)));
            A[i][j] = i == j ? max_(A[i][j], R(1e-10)) : A[i][j];
            b[i] = fma_(-A[i][j], d->efc_force[first + 1 + j], b[i]);
        }
    }
    for (int i = 0; i < n; i++) {
        b[i] = b[i] * friction[i];
        for (int j = 0; j < n; j++) {
            scaled[i][j] = A[i][j] * friction[i] * friction[j];
        }
    }
    mask outside, pressed = normal >= R(LANE_TINY);
    least_in_ball(n, scaled, b, normal, x, &outside);
    real length = R(0.0);
    for (int i = 0; i < n; i++) {
        length = fma_(x[i], x[i], length);
    }
    real onto = sel(outside, normal / sqrt_(max_(length, R(LANE_TINY))), R(1.0));
    for (int i = 0; i < n; i++) {
        real target = sel(pressed, x[i] * onto * friction[i], R(0.0));
        change[i] = sel(running, target - d->efc_force[first + 1 + i], R(0.0));
    }
    for (int i = 0; i < n; i++) {
        real felt = slip[i];
        for (int j = 0; j < n; j++) {
            felt = fma_(R(0.5) * A[i][j], change[j], felt);
        }
        gain = gain - change[i] * felt;
        push_slide(m, d, slide_of(d, first, i), change[i]);
    }
    return gain;
}

LANE_FN real stop_group(const lane_model *m, lane_data *d, int first, mask running)
{
    const lane_row *row = &d->row[first];
    if (row->type == LANE_ROW_CONE) {
        return stop_cone(m, d, first, running);
    }
    if (row->type == LANE_ROW_FRICTION) {
        real most = R(row->frictionloss);
        return stop_slide(m, d, slide_of(d, first, 0), d->efc_force[first], -most, most, running);
    }
    real gain = R(0.0);
    for (int k = 0; k < slides_of(d, first); k++) {
        lane_slide slide = slide_of(d, first, k);
        real one = d->efc_force[slide.row], other = d->efc_force[slide.row + 1];
        real middle = R(0.5) * (one + other);
        gain = gain + stop_slide(m, d, slide, R(0.5) * (one - other), -middle, middle, running);
    }
    return gain;
}

// Gauss-Seidel over friction without its regulariser; normal forces are not changed. Writes efc_force,
// qfrc_constraint and qacc.
LANE_FN void noslip(const lane_model *m, lane_data *d)
{
    mask running = constrained_lanes(d);
    real scale = R(1.0 / (m->stat.meaninertia * (m->nv > 1 ? m->nv : 1))), start = R(0.0);
    for (int i = 0; i < d->row_count; i++) {
        mask exists = d->efc_D[i] > R(0.0);
        real softness = sel(exists, R(0.5) / sel(exists, d->efc_D[i], R(1.0)), R(0.0));
        start = fma_(softness * d->efc_force[i], d->efc_force[i], start);
    }
    for (int i = 0; i < d->row_count; i += d->row[i].dim) {
        for (int k = 0; k < slides_of(d, i); k++) {
            prepare_slide(m, d, slide_of(d, i, k));
        }
    }
    for (int sweep = 0; sweep < m->opt.noslip_iterations && any(running); sweep++) {
        real gain = sweep == 0 ? start : R(0.0);
        for (int i = 0; i < d->row_count; i += d->row[i].dim) {
            if (slides_of(d, i) > 0) {
                gain = gain + stop_group(m, d, i, running);
            }
        }
        running = and_(running, gain * scale >= R(m->opt.noslip_tolerance));
    }
    constraint_force(m, d, d->qfrc_constraint);
    for (int k = 0; k < m->nv; k++) {
        d->qacc[k] = d->qfrc_smooth[k] + d->qfrc_constraint[k];
    }
    inverse_times(m, d, d->qacc);
}
