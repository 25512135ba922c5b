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
    jacobian_times(m, d, x, d->efc_jv);
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
    island_inertia_times(m, d, x, d->Mv);
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

// result = H x, of rows, by the blocks of this part of the island. What places of others get is in `spill`.
LANE_FN void blocks_times(const lane_data *d, reals x, reals result)
{
    reals tree_blocks = blocks_of_trees(d), between = blocks_between(d);
    const lane_island_part *part = d->island_part + d->part_number;
    int divided = d->island_parts > 1;
    for (int j = d->place_first; j < d->place_end; j++) {
        store_row(result + LANE_BLOCK_ROW * j, no_row());
    }
    for (int s = divided ? part->spill : 0; divided && s < part[1].spill; s++) {
        store_row(d->spill + LANE_BLOCK_ROW * s, no_row());
    }
    for (int j = d->place_first; j < d->place_end; j++) {
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
            int there = d->between_place[e], apart = divided && there >= d->place_end;
            reals to =
                apart ? d->spill + LANE_BLOCK_ROW * d->between_spill[e] : result + LANE_BLOCK_ROW * there;
            multiply_block(between + LANE_BLOCK_SIZE * e, here, x + LANE_BLOCK_ROW * there, to, sum);
        }
        store_row(result_here, add_multiple(load_row(result_here), R(1.0), sum_rows(sum)));
    }
}

// The first of a part's spills whose place is not before `place`.
FN int find_spill(const lane_data *d, const lane_island_part *part, int place)
{
    int first = part->spill, end = part[1].spill;
    while (first < end) {
        int middle = (first + end) / 2;
        first = d->spill_place[middle] < place ? middle + 1 : first;
        end = d->spill_place[middle] < place ? end : middle;
    }
    return first;
}

// Adds to a part of the island's result what the products by the parts before have left for it.
LANE_FN void add_spills(const lane_data *d, reals result)
{
    for (int number = d->part_number + 1; number < d->island_parts; number++) {
        const lane_island_part *part = d->island_part + number;
        int end = find_spill(d, part, d->place_end);
        for (int s = find_spill(d, part, d->place_first); s < end; s++) {
            reals to = result + LANE_BLOCK_ROW * d->spill_place[s], from = d->spill + LANE_BLOCK_ROW * s;
            store_row(to, add_multiple(load_row(to), R(1.0), load_row(from)));
        }
    }
}

// x . what products by this part leave for others
FN real spill_product(const lane_data *d, reals x)
{
    const lane_island_part *part = d->island_part + d->part_number;
    block_row sum = no_row();
    int divided = d->island_parts > 1;
    for (int s = divided ? part->spill : 0; divided && s < part[1].spill; s++) {
        sum = add_product(sum, load_row(x + LANE_BLOCK_ROW * d->spill_place[s]),
                          load_row(d->spill + LANE_BLOCK_ROW * s));
    }
    return sum_row(sum);
}

FN real row_product(const lane_data *d, reals a, reals b)
{
    block_row sum = no_row();
    for (int j = d->place_first; j < d->place_end; j++) {
        sum = add_product(sum, load_row(a + LANE_BLOCK_ROW * j), load_row(b + LANE_BLOCK_ROW * j));
    }
    return sum_row(sum);
}

// to = a + scale b, of rows
FN void combine_rows(const lane_data *d, reals to, reals a, real scale, reals b)
{
    for (int j = d->place_first; j < d->place_end; j++) {
        int at = LANE_BLOCK_ROW * j;
        store_row(to + at, add_multiple(load_row(a + at), scale, load_row(b + at)));
    }
}

// Conjugate gradients, whose vectors of rows are
//     block_found: the direction so far; block_residual: what is left of the gradient, and block_x, scaled by
//     the factors of trees; block_along: the direction of a step, and block_y, what H makes of it.

// sum 0 = residual . scaled
LANE_FN void scale_residual(const lane_model *m, lane_data *part)
{
    precondition(m, part, part->block_residual, part->block_x);
    part_sums(part)[0] = row_product(part, part->block_residual, part->block_x);
}

LANE_FN void begin_conjugates(const lane_model *m, lane_data *part, const lane_task *task)
{
    (void)task;
    for (int j = part->place_first; j < part->place_end; j++) {
        store_row(part->block_found + LANE_BLOCK_ROW * j, no_row());
        store_row(part->block_along + LANE_BLOCK_ROW * j, no_row());
    }
    gather_rows(m, part, part->gradient, part->block_residual);
    combine_rows(part, part->block_residual, part->block_found, R(-1.0), part->block_residual);
    scale_residual(m, part);
}

// along = scaled + scale along
LANE_FN void turn_along(const lane_model *m, lane_data *part, const lane_task *task)
{
    (void)m;
    combine_rows(part, part->block_along, part->block_x, task->scale, part->block_along);
}

// curved = H along, but for what other parts leave; sum 0 = along . curved, of what this part makes
LANE_FN void curve_part(const lane_model *m, lane_data *part, const lane_task *task)
{
    (void)m;
    (void)task;
    blocks_times(part, part->block_along, part->block_y);
    part_sums(part)[0] =
        row_product(part, part->block_along, part->block_y) + spill_product(part, part->block_along);
}

// A step of the length `scale`.
LANE_FN void follow_along(const lane_model *m, lane_data *part, const lane_task *task)
{
    if (part->between_known) {
        add_spills(part, part->block_y);
    }
    combine_rows(part, part->block_found, part->block_found, task->scale, part->block_along);
    combine_rows(part, part->block_residual, part->block_residual, -task->scale, part->block_y);
    scale_residual(m, part);
}

LANE_FN void end_conjugates(const lane_model *m, lane_data *part, const lane_task *task)
{
    (void)task;
    scatter_rows(m, part, part->block_found, part->search);
}

// curved = H along; returns along . curved
LANE_FN real curve(const lane_model *m, lane_data *d)
{
    if (d->between_known) {
        const lane_task task = {.run = curve_part};
        run_on_parts(m, d, &task);
        return sum_of_parts(d, 0);
    }
    scatter_rows(m, d, d->block_along, d->work);
    hessian_times(m, d, d->work, d->work + m->nv);
    gather_rows(m, d, d->work + m->nv, d->block_y);
    return row_product(d, d->block_along, d->block_y);
}

// search = -H^-1 gradient by conjugate gradients, preconditioned with the factor of the trees (Hestenes and
// Stiefel). They end where the rest is a small part of the whole, as the direction is exact for the rows that
// are active now only, or where no more than `gain_enough` is left.
LANE_FN void conjugate_blocks(const lane_model *m, lane_data *d)
{
    lane_task task = {.run = begin_conjugates};
    run_on_parts(m, d, &task);
    real now = sum_of_parts(d, 0), before = R(0.0);
    real enough = max_(now * R(CONJUGATE_TOLERANCE), d->gain_enough * R(CONJUGATE_GAIN));
    for (int step = 0; step < CONJUGATE_STEPS; step++) {
        mask running = now > enough;
        if (!any(running)) {
            break;
        }
        task.run = turn_along;
        task.scale = sel(before > R(0.0), now / max_(before, R(LANE_TINY)), R(0.0));
        run_on_parts(m, d, &task);
        before = now;
        real curvature = curve(m, d);
        task.run = follow_along;
        task.scale = sel(running, now / max_(curvature, R(LANE_TINY)), R(0.0));
        run_on_parts(m, d, &task);
        now = sum_of_parts(d, 0);
    }
    task.run = end_conjugates;
    run_on_parts(m, d, &task);
}

// Keeps H beside its factor.
LANE_FN void copy_tree_blocks(const lane_data *d)
{
    for (int j = d->place_first; j < d->place_end; j++) {
        int first = LANE_BLOCK_SIZE * d->fill_first[j], end = LANE_BLOCK_SIZE * d->fill_first[j + 1];
        if (is_stale(d, j)) {
            memcpy(blocks_of_trees(d) + first, d->factor + first, (size_t)(end - first) * sizeof(real));
        }
    }
}

// The factor of H, or of H inside trees; behind the latter a copy of H. Of a part: what rows touch of it.
LANE_FN void factorise_hessian(const lane_model *m, lane_data *d, const lane_task *task)
{
    (void)task;
    if (d->blocks_kept) {
        find_stale(d);
    }
    add_inertia_blocks(m, d);
    for (int n = first_visit(d); n < visits_end(d);) {
        n = add_visits(m, d, n);
    }
    if (d->between_known) {
        copy_tree_blocks(d);
    }
    factorise_blocks(d);
    if (d->trees_only) {
        invert_trees(m, d);
    }
}

LANE_FN void block_direction(const lane_model *m, lane_data *d)
{
    const lane_task factorise = {.run = factorise_hessian};
    d->blocks_kept = keeps_blocks(d);
    if (d->trees_only) {
        if (parts_have_touches(d)) {
            run_on_parts(m, d, &factorise);
        } else {
            factorise_hessian(m, d, &factorise);
        }
        conjugate_blocks(m, d);
        return;
    }
    lane_data whole = *d; // the order of a factor is not that of the dofs
    whole.island_parts = 1;
    factorise_hessian(m, &whole, &factorise);
    for (int n = 0; n < d->dof_count; n++) {
        d->search[d->dof[n]] = -d->gradient[d->dof[n]];
    }
    gather_rows(m, d, d->search, d->block_x);
    substitute_forwards(m, d, d->block_x);
    substitute_backwards(m, d, d->block_x);
    scatter_rows(m, d, d->block_x, d->search);
}
#endif
