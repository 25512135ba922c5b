// Newton's direction with second derivatives H in blocks of dofs, for an island (solver/islands.h): by their
// factor where that is small, else by conjugate gradients with H in blocks, or by the rows of the Jacobian
// where there is no room for the blocks; preconditioned with the factors of kinematic trees.
#pragma once

#include "physics/lanes/solver/block_factor.h"

#if !defined(__CUDACC__)

enum { CONJUGATE_STEPS = 200 }; // most steps of conjugate gradients for a direction

// result = H x, by the rows; needs efc_jv
LANE_FN void hessian_times(const lane_model *m, lane_data *d, reals x, reals result)
{
    lane_data weighed = *d;
    weighed.efc_force = d->efc_jv;
    jacobian_times(d, x, d->efc_jv);
    for (int g = 0; g < d->group_count; g++) {
        int i = d->group[g];
        const lane_row *row = &d->row[i];
        if (row->type != LANE_ROW_CONE) {
            for (int k = 0; k < row->dim; k++) {
                d->efc_jv[i + k] = d->efc_jv[i + k] * d->efc_weight[i + k];
            }
            continue;
        }
        real hessian[6][6], along[6];
        group_hessian(d, i, hessian);
        load_cone(d, i, d->efc_jv, along);
        for (int k = 0; k < row->dim; k++) {
            real sum = R(0.0);
            for (int l = 0; l < row->dim; l++) {
                sum = fma_(hessian[k][l], along[l], sum);
            }
            d->efc_jv[i + k] = sum;
        }
    }
    constraint_force(m, &weighed, result);
    inertia_matrix_times(m, d, x, d->Mv);
    for (int n = 0; n < d->dof_count; n++) {
        result[d->dof[n]] = result[d->dof[n]] + d->Mv[d->dof[n]];
    }
}

// Multiplies with the block of a row `here` and a column `there`, and with its transpose. result_there +=
// what the column gets; sum += numbers whose sums the row gets.
FN void multiply_block(reals block, reals here, reals there, reals result_there,
                       block_row sum[ORR_BLOCK_DOFS])
{
    block_row across = load_row(result_there), beside = load_row(there);
    for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
        block_row row = load_row(block + LANE_BLOCK_ROW * c);
        across = add_multiple(across, here[c], row);
        sum[c] = add_product(sum[c], row, beside);
    }
    store_row(result_there, across);
}

// result = H x, of rows, by the blocks
LANE_FN void blocks_times(const lane_data *d, reals x, reals result)
{
    reals tree_blocks = blocks_of_trees(d), between = blocks_between(d);
    for (int j = 0; j < d->order_count; j++) {
        store_row(result + LANE_BLOCK_ROW * j, no_row());
    }
    for (int j = 0; j < d->order_count; j++) {
        reals here = x + LANE_BLOCK_ROW * j, result_here = result + LANE_BLOCK_ROW * j;
        reals diagonal = tree_blocks + LANE_BLOCK_SIZE * d->fill_first[j];
        block_row sum[ORR_BLOCK_DOFS];
        for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
            sum[c] = add_product(no_row(), load_row(diagonal + LANE_BLOCK_ROW * c), load_row(here));
        }
        for (int e = d->fill_first[j] + 1; e < d->fill_first[j + 1]; e++) {
            int there = LANE_BLOCK_ROW * d->fill_place[e];
            multiply_block(tree_blocks + LANE_BLOCK_SIZE * e, here, x + there, result + there, sum);
        }
        for (int e = d->between_first[j]; e < d->between_first[j + 1]; e++) {
            int there = LANE_BLOCK_ROW * d->between_place[e];
            multiply_block(between + LANE_BLOCK_SIZE * e, here, x + there, result + there, sum);
        }
        for (int c = 0; c < ORR_BLOCK_DOFS; c++) {
            result_here[c] = result_here[c] + sum_row(sum[c]);
        }
    }
}

FN real row_product(const lane_data *d, reals a, reals b)
{
    block_row sum = no_row();
    for (int j = 0; j < d->order_count; j++) {
        sum = add_product(sum, load_row(a + LANE_BLOCK_ROW * j), load_row(b + LANE_BLOCK_ROW * j));
    }
    return sum_row(sum);
}

// to = a + scale b, of rows
FN void combine_rows(const lane_data *d, reals to, reals a, real scale, reals b)
{
    for (int j = 0; j < d->order_count; j++) {
        int at = LANE_BLOCK_ROW * j;
        store_row(to + at, add_multiple(load_row(a + at), scale, load_row(b + at)));
    }
}

// result = H x, of rows
LANE_FN void curve(const lane_model *m, lane_data *d, reals x, reals result)
{
    if (d->between_known) {
        blocks_times(d, x, result);
        return;
    }
    scatter_rows(m, d, x, d->work);
    hessian_times(m, d, d->work, d->work + m->nv);
    gather_rows(m, d, d->work + m->nv, result);
}

// search = -H^-1 gradient by conjugate gradients, preconditioned with the factor of the trees (Hestenes and
// Stiefel). They end where the rest is a small part of the whole, as the direction is exact for the rows that
// are active now only, or where no more than `gain_enough` is left.
LANE_FN void conjugate_blocks(const lane_model *m, lane_data *d)
{
    reals residual = d->block_residual, scaled = d->block_x, along = d->block_along, curved = d->block_y;
    reals found = d->block_found;
    for (int j = 0; j < d->order_count; j++) {
        store_row(found + LANE_BLOCK_ROW * j, no_row());
        store_row(along + LANE_BLOCK_ROW * j, no_row());
    }
    gather_rows(m, d, d->gradient, residual);
    combine_rows(d, residual, found, R(-1.0), residual);
    real before = R(0.0), enough = R(0.0);
    for (int step = 0; step < CONJUGATE_STEPS; step++) {
        precondition(m, d, residual, scaled);
        real now = row_product(d, residual, scaled);
        enough = step == 0 ? max_(now * R(CONJUGATE_TOLERANCE), d->gain_enough * R(CONJUGATE_GAIN)) : enough;
        mask running = now > enough;
        if (!any(running)) {
            break;
        }
        combine_rows(d, along, scaled, sel(before > R(0.0), now / max_(before, R(LANE_TINY)), R(0.0)), along);
        before = now;
        curve(m, d, along, curved);
        real length = sel(running, now / max_(row_product(d, along, curved), R(LANE_TINY)), R(0.0));
        combine_rows(d, found, found, length, along);
        combine_rows(d, residual, residual, -length, curved);
    }
    scatter_rows(m, d, found, d->search);
}

// The factor of H, or of H inside trees; behind the latter a copy of H.
LANE_FN void factorise_hessian(const lane_model *m, lane_data *d)
{
    lane_couple couple = {0};
    add_inertia_blocks(m, d);
    for (int g = 0; g < d->group_count; g++) {
        real hessian[6][6];
        if (group_hessian(d, d->group[g], hessian)) {
            find_couple(m, d, &d->row[d->group[g]], &couple);
            add_group_blocks(m, d, &d->row[d->group[g]], hessian, &couple);
        }
    }
    if (d->between_known) {
        int numbers = LANE_BLOCK_SIZE * d->fill_first[d->order_count];
        for (int i = 0; i < numbers; i++) {
            d->factor[numbers + i] = d->factor[i];
        }
    }
    factorise_blocks(d);
    if (d->trees_only) {
        invert_trees(m, d);
    }
}

LANE_FN void block_direction(const lane_model *m, lane_data *d)
{
    factorise_hessian(m, d);
    if (d->trees_only) {
        conjugate_blocks(m, d);
        return;
    }
    for (int n = 0; n < d->dof_count; n++) {
        d->search[d->dof[n]] = -d->gradient[d->dof[n]];
    }
    gather_rows(m, d, d->search, d->block_x);
    substitute_forwards(m, d, d->block_x);
    substitute_backwards(m, d, d->block_x);
    scatter_rows(m, d, d->block_x, d->search);
}
#endif
