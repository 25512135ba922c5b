// What is done to rows with the inverse of M: the exact diagonal of J M^-1 J^T (flag diagexact), and MuJoCo's noslip
// solver, which takes the softness out of friction once the forces are known. (MuJoCo's documentation, "Computation".)
#pragma once

#include "physics/lane_solver.h"

// x = M^-1 x
FN void inverse_times(const lane_model *m, const lane_data *d, reals x)
{
    solve_factorised(m, d->qLD, d->qLDiagInv, x);
}

FN void scatter_row(const lane_data *d, int i, real scale, reals x)
{
    const lane_row *row = &d->row[i];
    for (int k = 0; k < row->count; k++) {
        x[row->dof[k]] = fma_(scale, d->efc_J[row->J + k], x[row->dof[k]]);
    }
}

FN void clear_dofs(const lane_model *m, reals x)
{
    for (int k = 0; k < m->nv; k++) {
        x[k] = R(0.0);
    }
}

// ---- the exact diagonal ----

// The regulariser of `count` rows from i on is a share of the diagonal, which has been taken at qpos0; `diagonal` is what
// was taken for row i.
LANE_FN void correct_rows(const lane_model *m, const lane_data *d, int i, int count, real diagonal)
{
    clear_dofs(m, d->row_response);
    scatter_row(d, i, R(1.0), d->row_response);
    inverse_times(m, d, d->row_response);
    real exact = max_(row_times(d, &d->row[i], d->row_response), R(LANE_TINY));
    for (int k = 0; k < count; k++) {
        d->efc_D[i + k] = d->efc_D[i + k] * (diagonal / exact);
    }
}

LANE_FN void correct_diagonals(const lane_model *m, const lane_data *d)
{
    int i = 0;
    for (int c = 0; c < d->contact_count; c++) {
        int first = d->contact[c].row;
        if (first < 0) {
            continue;
        }
        for (; i < first; i++) {
            correct_rows(m, d, i, 1, d->efc_diagonal[i]);
        }
        const orr_pair *pair = &m->plan->pair[d->contact[c].pair];
        int elliptic = m->opt.cone == ORR_CONE_ELLIPTIC, dim = pair->condim;
        int rows = dim == 1 ? 1 : elliptic ? dim : 2 * (dim - 1);
        double slip = pair->friction[0];
        real diagonal = d->efc_diagonal[first];
        if (rows > 1 && !elliptic) { // the regulariser of a pyramid is this share of its first edge's
            diagonal = diagonal * R(m->opt.impratio / (2.0 * slip * slip));
        }
        correct_rows(m, d, first, rows, diagonal);
        i = first + rows;
    }
    for (; i < d->row_count; i++) {
        correct_rows(m, d, i, 1, d->efc_diagonal[i]);
    }
}

// ---- noslip ----

// What friction alone can do: a direction of slip, its Jacobian e and M^-1 e^T. On an elliptic contact the k-th tangential
// row; on a pyramid the k-th pair of opposite edges, of which one gains what the other loses; otherwise a row alone.
typedef struct lane_slide {
    int row, pair_of_edges;
} lane_slide;

FN reals slide_response(const lane_model *m, const lane_data *d, lane_slide slide)
{
    return d->row_response + slide.row * m->nv;
}

FN real slide_times(const lane_data *d, lane_slide slide, reals x)
{
    real along = row_times(d, &d->row[slide.row], x);
    return slide.pair_of_edges ? along - row_times(d, &d->row[slide.row + 1], x) : along;
}

// How fast it would slip, beyond what is wanted.
FN real slide_residual(const lane_data *d, lane_slide slide)
{
    real wanted = d->efc_aref[slide.row];
    if (slide.pair_of_edges) {
        wanted = wanted - d->efc_aref[slide.row + 1];
    }
    return slide_times(d, slide, d->qacc) - wanted;
}

FN void prepare_slide(const lane_model *m, const lane_data *d, lane_slide slide)
{
    reals response = slide_response(m, d, slide);
    clear_dofs(m, response);
    scatter_row(d, slide.row, R(1.0), response);
    if (slide.pair_of_edges) {
        scatter_row(d, slide.row + 1, R(-1.0), response);
    }
    inverse_times(m, d, response);
}

FN void push_slide(const lane_model *m, const lane_data *d, lane_slide slide, real change)
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

// One direction alone: the force between low and high that stops the slip. Returns what that gains.
FN real stop_slide(const lane_model *m, const lane_data *d, lane_slide slide, real force, real low, real high,
                   mask running)
{
    real slip = slide_residual(d, slide), weight = slide_times(d, slide, slide_response(m, d, slide));
    mask moves = weight > R(LANE_TINY);
    real wanted = clamp_(force - slip / sel(moves, weight, R(1.0)), low, high);
    real change = sel(running, sel(moves, wanted, R(0.0)) - force, R(0.0));
    push_slide(m, d, slide, change);
    return -(R(0.5) * change * change * weight + change * slip);
}

#if defined(ORR_SCALAR_DOUBLE)
#define BALL_TOLERANCE 1e-12
#else
#define BALL_TOLERANCE 1e-6
#endif

// The least 1/2 x^T A x + b^T x with |x| <= radius, n <= 5: x = -(A + l)^-1 b with the l >= 0 that brings it inside, by
// Newton's method for 1 / |x| (More and Sorensen, "Computing a trust region step", 1983). *outside: where l is above 0.
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

// All tangential rows of an elliptic contact at once; its normal force stays.
LANE_FN real stop_cone(const lane_model *m, const lane_data *d, int first, const orr_pair *pair, mask running)
{
    int n = pair->condim - 1;
    real A[5][5], scaled[5][5], slip[5], b[5], x[5], change[5], normal = d->efc_force[first], gain = R(0.0);
    for (int i = 0; i < n; i++) {
        lane_slide slide = {first + 1 + i, 0};
        slip[i] = slide_residual(d, slide);
        b[i] = slip[i];
        for (int j = 0; j < n; j++) {
            lane_slide other = {first + 1 + j, 0};
            A[i][j] = slide_times(d, slide, slide_response(m, d, other));
            A[i][j] = i == j ? max_(A[i][j], R(1e-10)) : A[i][j];
            b[i] = fma_(-A[i][j], d->efc_force[first + 1 + j], b[i]);
        }
    }
    for (int i = 0; i < n; i++) {
        b[i] = b[i] * R(pair->friction[i]);
        for (int j = 0; j < n; j++) {
            scaled[i][j] = A[i][j] * R(pair->friction[i] * pair->friction[j]);
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
        real wanted = sel(pressed, x[i] * onto * R(pair->friction[i]), R(0.0));
        change[i] = sel(running, wanted - d->efc_force[first + 1 + i], R(0.0));
    }
    for (int i = 0; i < n; i++) {
        lane_slide slide = {first + 1 + i, 0};
        real felt = slip[i];
        for (int j = 0; j < n; j++) {
            felt = fma_(R(0.5) * A[i][j], change[j], felt);
        }
        gain = gain - change[i] * felt;
        push_slide(m, d, slide, change[i]);
    }
    return gain;
}

LANE_FN real stop_contact(const lane_model *m, const lane_data *d, int contact, mask running)
{
    const orr_pair *pair = &m->plan->pair[d->contact[contact].pair];
    int first = d->contact[contact].row;
    if (m->opt.cone == ORR_CONE_ELLIPTIC) {
        return stop_cone(m, d, first, pair, running);
    }
    real gain = R(0.0);
    for (int k = 0; k < pair->condim - 1; k++) {
        lane_slide slide = {first + 2 * k, 1};
        real one = d->efc_force[first + 2 * k], other = d->efc_force[first + 2 * k + 1];
        real middle = R(0.5) * (one + other);
        gain = gain + stop_slide(m, d, slide, R(0.5) * (one - other), -middle, middle, running);
    }
    return gain;
}

FN int contact_slides(const lane_model *m, const lane_data *d, int contact)
{
    return d->contact[contact].row >= 0 && m->plan->pair[d->contact[contact].pair].condim > 1;
}

LANE_FN void prepare_slides(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < d->row_count; i++) {
        if (d->row[i].type == LANE_ROW_FRICTION) {
            lane_slide slide = {i, 0};
            prepare_slide(m, d, slide);
        }
    }
    int elliptic = m->opt.cone == ORR_CONE_ELLIPTIC;
    for (int c = 0; c < d->contact_count; c++) {
        int first = d->contact[c].row;
        for (int k = 0; contact_slides(m, d, c) && k < m->plan->pair[d->contact[c].pair].condim - 1; k++) {
            lane_slide slide = {elliptic ? first + 1 + k : first + 2 * k, !elliptic};
            prepare_slide(m, d, slide);
        }
    }
}

// Gauss-Seidel over friction, without its regulariser; normal forces stay. Changes efc_force, qfrc_constraint and qacc.
LANE_FN void noslip(const lane_model *m, const lane_data *d)
{
    mask running = constrained_lanes(d);
    real scale = R(1.0 / (m->stat.meaninertia * (m->nv > 1 ? m->nv : 1))), start = R(0.0);
    prepare_slides(m, d);
    for (int i = 0; i < d->row_count; i++) {
        mask exists = d->efc_D[i] > R(0.0);
        real softness = sel(exists, R(0.5) / sel(exists, d->efc_D[i], R(1.0)), R(0.0));
        start = fma_(softness * d->efc_force[i], d->efc_force[i], start);
    }
    for (int sweep = 0; sweep < m->opt.noslip_iterations && any(running); sweep++) {
        real gain = sweep == 0 ? start : R(0.0);
        for (int i = 0; i < d->row_count; i++) {
            if (d->row[i].type == LANE_ROW_FRICTION) {
                lane_slide slide = {i, 0};
                real most = R(d->row[i].frictionloss);
                gain = gain + stop_slide(m, d, slide, d->efc_force[i], -most, most, running);
            }
        }
        for (int c = 0; c < d->contact_count; c++) {
            if (contact_slides(m, d, c)) {
                gain = gain + stop_contact(m, d, c, running);
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
