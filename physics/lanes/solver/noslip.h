// Corrections that need the inverse of M: the exact diagonal of J M^-1 J^T (flag diagexact), and MuJoCo's
// noslip solver, which removes the regularisation of friction once the forces are known (MuJoCo's
// documentation, "Computation").
#pragma once

#include "physics/lanes/solver/solver.h"

// x = M^-1 x
FN void inverse_times(const lane_model *m, const lane_data *d, reals x)
{
    solve_factorised(m, d, d->qLD, d->qLDiagInv, x);
}

// ---- the exact diagonal ----

// The regulariser of a group's rows is a share of the diagonal of its first row, which was estimated from
// inverse weights at qpos0.
LANE_FN void correct_group(const lane_model *m, lane_data *d, int first)
{
    const lane_row *row = &d->row[first];
    reals J = d->efc_J + row->J, x = d->work;
    real taken = d->efc_diagonal[first], exact = R(0.0), slide = R(0.0);
    int pyramid = row->basis != row->dim;
    if (pyramid) { // all edges have a share of the first one's
        slide = row->friction[0];
        taken = taken * R(0.5) / (row->friction[ORR_PAIR_MU] * row->friction[ORR_PAIR_MU]);
    }
    for (int k = 0; k < m->nv; k++) {
        x[k] = R(0.0);
    }
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
        if (d->row[i].type != LANE_ROW_ELASTIC) {
            correct_group(m, d, i);
        }
    }
}

// ---- noslip ----

// With M = L^T D L, the response of a direction of slip J is u = L^-T J^T, which has entries for the dofs of
// J and their ancestors alone. A force f along it changes L qacc by f D^-1 u, and the acceleration along it
// is u^T L qacc. So time and memory grow with the rows and the depth of trees, not with rows times dofs.

// A direction of slip: scale times a row J of a group's Jacobian. Of an elliptic contact the k-th tangential
// row; of a pyramid the k-th pair of opposite edges, whose forces change by opposite amounts; else a single
// row.
typedef struct lane_slide {
    int row, J, count, pair_of_edges;
    const int32_t *dof; // of its response, ascending
    reals response;
    real scale;
} lane_slide;

FN lane_slide slide_of(const lane_data *d, int first, int k)
{
    const lane_row *row = &d->row[first];
    const lane_response *response = &d->response[first];
    lane_slide slide = {first,           row->J,
                        response->count, row->basis != row->dim,
                        response->dof,   d->row_response + response->first + k * response->count,
                        R(1.0)};
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

// L qacc
FN reals moved_dofs(const lane_model *m, const lane_data *d)
{
    return d->work + m->nv;
}

// u^T D^-1 v
FN real response_product(const lane_data *d, lane_slide a, lane_slide b)
{
    real sum = R(0.0);
    for (int k = 0; k < a.count; k++) {
        sum = fma_(a.response[k] * d->qLDiagInv[a.dof[k]], b.response[k], sum);
    }
    return sum;
}

// The slip's acceleration minus its reference.
FN real slide_residual(const lane_model *m, const lane_data *d, lane_slide slide)
{
    reals moved = moved_dofs(m, d);
    real along = R(0.0), target = d->efc_aref[slide.row];
    if (slide.pair_of_edges) {
        target = target - d->efc_aref[slide.row + 1];
    }
    for (int k = 0; k < slide.count; k++) {
        along = fma_(slide.response[k], moved[slide.dof[k]], along);
    }
    return along - target;
}

// The dofs of a group and their ancestors, ascending: of one branch they are a row of M, else they are
// written behind those of the groups before, at *next.
LANE_FN void find_response_dofs(const lane_model *m, lane_data *d, int i, int32_t *next)
{
    const lane_row *row = &d->row[i];
    lane_response *response = &d->response[i];
    response->dof = NULL;
    response->count = 0;
    if (row->count == 0) {
        return;
    }
    int last = row->dof[0], ancestors = m->M_rownnz[last], count = 0, words = pattern_words(m);
    response->dof = m->M_colind + m->M_rowadr[last];
    response->count = ancestors;
    int of_branch = 0; // entries of the group on the way from its highest dof to the root
    for (int e = 0, k = last; e < row->count; e++) {
        for (; k > row->dof[e]; k = m->dof_parentid[k]) {
        }
        of_branch += k == row->dof[e];
    }
    if (of_branch == row->count) {
        return;
    }
    uint32_t *marked = d->response_mark;
    memset(marked, 0, (size_t)words * sizeof *marked);
    for (int e = 0; e < row->count; e++) {
        for (int k = row->dof[e]; k >= 0 && !(marked[k / 32] >> k % 32 & 1); k = m->dof_parentid[k]) {
            marked[k / 32] |= 1u << k % 32;
        }
    }
    int32_t *dof = d->response_dof + *next;
    for (int word = 0; word < words; word++) {
        for (uint32_t left = marked[word]; left != 0; left &= left - 1) {
            dof[count++] = 32 * word + lowest_bit(left);
        }
    }
    response->dof = dof;
    response->count = count;
    *next += count;
}

LANE_FN void find_response(const lane_model *m, const lane_data *d, lane_slide slide, const lane_row *row)
{
    reals x = d->work;
    for (int k = 0; k < slide.count; k++) {
        x[slide.dof[k]] = R(0.0);
    }
    for (int e = 0; e < row->count; e++) {
        x[row->dof[e]] = slide.scale * d->efc_J[slide.J + e];
    }
    for (int k = slide.count - 1; k >= 0; k--) {
        int dof = slide.dof[k], adr = m->M_rowadr[dof], last = m->M_rownnz[dof] - 1;
        real here = x[dof];
        slide.response[k] = here;
        for (int c = 0; c < last; c++) {
            x[m->M_colind[adr + c]] = fma_(-d->qLD[adr + c], here, x[m->M_colind[adr + c]]);
        }
    }
}

// Responses of all groups that slide, and L qacc.
LANE_FN void prepare_slides(const lane_model *m, lane_data *d)
{
    int32_t next_dof = 0, next = 0;
    const lane_response *before = NULL;
    const int32_t *dofs = NULL;
    for (int i = 0; i < d->row_count; i += d->row[i].dim) {
        const lane_row *row = &d->row[i];
        lane_response *response = &d->response[i];
        if (slides_of(d, i) == 0) {
            continue;
        }
        if (before && dofs == row->dof && row->count > 0) { // another contact of the pair
            *response = *before;
        } else {
            find_response_dofs(m, d, i, &next_dof);
        }
        if (row->count > 0) { // what moves nothing, as two geoms of a body, has no place of its own
            before = response;
            dofs = row->dof;
        }
        response->first = next;
        next += slides_of(d, i) * response->count;
        for (int k = 0; k < slides_of(d, i); k++) {
            find_response(m, d, slide_of(d, i, k), row);
        }
    }
    reals moved = moved_dofs(m, d);
    for (int n = 0; n < dof_count(m, d); n++) {
        int k = nth_dof(d, n), adr = m->M_rowadr[k], last = m->M_rownnz[k] - 1;
        real sum = d->qacc[k];
        for (int c = 0; c < last; c++) {
            sum = fma_(d->qLD[adr + c], d->qacc[m->M_colind[adr + c]], sum);
        }
        moved[k] = sum;
    }
}

FN void push_slide(const lane_model *m, lane_data *d, lane_slide slide, real change)
{
    reals moved = moved_dofs(m, d);
    d->efc_force[slide.row] = d->efc_force[slide.row] + change;
    if (slide.pair_of_edges) {
        d->efc_force[slide.row + 1] = d->efc_force[slide.row + 1] - change;
    }
    for (int k = 0; k < slide.count; k++) {
        int dof = slide.dof[k];
        moved[dof] = fma_(change * d->qLDiagInv[dof], slide.response[k], moved[dof]);
    }
}

// Sets the force of one direction, between low and high, to the one that stops the slip. Returns the decrease
// of the cost.
FN real stop_slide(const lane_model *m, lane_data *d, lane_slide slide, real force, real low, real high,
                   mask running)
{
    real slip = slide_residual(m, d, slide), weight = response_product(d, slide, slide);
    mask moves = weight > R(LANE_TINY);
    real target = clamp_(force - slip / sel(moves, weight, R(1.0)), low, high);
    real change = sel(running, sel(moves, target, R(0.0)) - force, R(0.0));
    push_slide(m, d, slide, change);
    return -(R(0.5) * change * change * weight + change * slip);
}

#if defined(ORR_SCALAR_DOUBLE)
#define BALL_ROUNDING 0.0    // of a squared length, over it
#define PIVOT_ROUNDING 1e-15 // of a pivot, over its diagonal
#else
#define BALL_ROUNDING 1e-6
#define PIVOT_ROUNDING 1e-6
#endif

// Cholesky's factor of A + l, n <= 5. Returns the lanes in which MuJoCo takes it for singular: up to three
// rows by the determinant, more by a pivot.
FN mask factor_shifted(int n, real A[5][5], real l, real L[5][5])
{
    mask singular = nowhere();
    real determinant = R(1.0), diagonals = R(1.0);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            real entry = i == j ? A[i][i] + l : A[i][j];
            for (int k = 0; k < j; k++) {
                entry = fma_(-L[i][k], L[j][k], entry);
            }
            L[i][j] = i == j ? entry : entry / L[j][j];
        }
        real diagonal = A[i][i] + l;
        determinant = determinant * max_(L[i][i], R(0.0));
        diagonals = diagonals * diagonal;
        if (n > 3) {
            singular = or_(singular, L[i][i] < max_(R(1e-10), R(PIVOT_ROUNDING) * diagonal));
        }
        L[i][i] = sqrt_(max_(L[i][i], max_(R(PIVOT_ROUNDING) * diagonal, R(LANE_TINY))));
    }
    return n > 3 ? singular : determinant < max_(R(1e-10), R(PIVOT_ROUNDING) * diagonals);
}

// Minimises 1/2 x^T A x + b^T x with |x| <= radius, n <= 5, as MuJoCo does: x = -(A + l)^-1 b with an l >= 0
// that fulfils it, by at most 20 steps of Newton's method for |x|^2 from l = 0. Where frictions differ by
// orders of magnitude, that is not enough, and x is longer than the radius. 0 where A is singular. *outside:
// lanes in which l > 0.
FN void least_in_ball(int n, real A[5][5], real b[5], real radius, real x[5], mask *outside)
{
    real l = R(0.0), beyond = max_(R(1e-10), R(BALL_ROUNDING) * radius * radius);
    mask running = everywhere(), solved = everywhere();
    for (int step = 0; step < 20 && any(running); step++) {
        real L[5][5] = {{R(0.0)}}, y[5] = {R(0.0)}, square = R(0.0), slope = R(0.0);
        mask singular = and_(running, factor_shifted(n, A, l, L));
        for (int i = 0; i < n; i++) {
            real sum = -b[i];
            for (int j = 0; j < i; j++) {
                sum = fma_(-L[i][j], y[j], sum);
            }
            y[i] = sum / L[i][i];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int k = i + 1; k < n; k++) {
                y[i] = fma_(-L[k][i], y[k], y[i]);
            }
            y[i] = y[i] / L[i][i];
        }
        for (int i = 0; i < n; i++) {
            x[i] = sel(running, sel(singular, R(0.0), y[i]), step == 0 ? R(0.0) : x[i]);
            square = fma_(y[i], y[i], square);
        }
        for (int i = 0; i < n; i++) { // y^T (A + l)^-1 y
            for (int k = 0; k < i; k++) {
                y[i] = fma_(-L[i][k], y[k], y[i]);
            }
            y[i] = y[i] / L[i][i];
            slope = fma_(y[i], y[i], slope);
        }
        real more = square - radius * radius, change = R(0.5) * more / max_(slope, R(LANE_TINY));
        solved = and_(solved, not_(singular));
        running = and_(and_(running, solved), and_(more >= beyond, change >= R(1e-10)));
        l = l + sel(running, change, R(0.0));
    }
    *outside = and_(solved, l > R(0.0));
}

// All tangential rows of an elliptic contact together; its normal force is not changed. As in MuJoCo a change
// that would raise the cost is not made.
LANE_FN real stop_cone(const lane_model *m, lane_data *d, int first, mask running)
{
    int n = d->row[first].dim - 1;
    reals friction = d->row[first].friction;
    real A[5][5], scaled[5][5], slip[5], b[5], x[5], change[5], normal = d->efc_force[first], rise = R(0.0);
    for (int i = 0; i < n; i++) {
        lane_slide slide = slide_of(d, first, i);
        slip[i] = slide_residual(m, d, slide);
        b[i] = slip[i];
        for (int j = 0; j < n; j++) {
            A[i][j] = response_product(d, slide, slide_of(d, first, j));
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
        rise = fma_(change[i], felt, rise);
    }
    mask better = rise <= R(1e-10);
    for (int i = 0; i < n; i++) {
        push_slide(m, d, slide_of(d, first, i), sel(better, change[i], R(0.0)));
    }
    return -sel(better, rise, R(0.0));
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
    prepare_slides(m, d);
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
    for (int n = 0; n < dof_count(m, d); n++) {
        int k = nth_dof(d, n);
        d->qacc[k] = d->qfrc_smooth[k] + d->qfrc_constraint[k];
    }
    inverse_times(m, d, d->qacc);
}
