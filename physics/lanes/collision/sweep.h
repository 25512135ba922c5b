// Sweep and prune, for models with many pairs of geoms: the boxes around the geoms in all lanes of the block
// are sorted along one axis; pairs that overlap on all three axes are near. Their order is the plan's.
#pragma once

#include "physics/lanes/collision/per_lane.h"

LANE_FN void find_extents(const lane_model *m, lane_data *d)
{
    for (int k = 0; k < m->plan->sweep_count; k++) {
        int geom = m->plan->sweep_geom[k];
        real3 pos = load3(d->geom_xpos, geom);
        real bound = geom_rbound(m, d, geom);
        double margin = (double)m->geom_margin[geom] + (double)m->geom_gap[geom];
        lane_extent *e = &d->extent[k];
        for (int axis = 0; axis < 3; axis++) {
            real x = axis == 0 ? pos.x : axis == 1 ? pos.y : pos.z;
            double low = 1e300, high = -1e300;
            for (int lane = 0; lane < ORR_LANES; lane++) {
                double reach = value_in(&bound, lane) + margin;
                low = fmin(low, value_in(&x, lane) - reach);
                high = fmax(high, value_in(&x, lane) + reach);
            }
            e->low[axis] = (float)low;
            e->high[axis] = (float)high;
            // a tolerance for rounding
            e->low[axis] -= 1e-5f * (1.0f + fabsf(e->low[axis]));
            e->high[axis] += 1e-5f * (1.0f + fabsf(e->high[axis]));
        }
        e->geom = geom;
    }
}

// The axis along which the geoms' positions have the greatest variance.
LANE_FN int widest_axis(const lane_extent *extent, int count)
{
    double widest = -1.0;
    int best = 0;
    for (int axis = 0; axis < 3; axis++) {
        double sum = 0.0, squares = 0.0;
        for (int k = 0; k < count; k++) {
            double x = (double)extent[k].low[axis] + (double)extent[k].high[axis];
            sum += x;
            squares += x * x;
        }
        if (squares - sum * sum / count > widest) {
            widest = squares - sum * sum / count;
            best = axis;
        }
    }
    return best;
}

// Shell sort with Knuth's gaps.
LANE_FN void sort_extents(lane_extent *extent, int count, int axis)
{
    int gap = 1;
    while (gap < count / 3) {
        gap = 3 * gap + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (int k = gap; k < count; k++) {
            lane_extent e = extent[k];
            int at = k;
            for (; at >= gap && extent[at - gap].low[axis] > e.low[axis]; at -= gap) {
                extent[at] = extent[at - gap];
            }
            extent[at] = e;
        }
    }
}

// The undeclared pair of two geoms, or -1.
LANE_FN int find_pair(const orr_plan *plan, int geom1, int geom2)
{
    int low = geom1 < geom2 ? geom1 : geom2, high = geom1 < geom2 ? geom2 : geom1;
    int first = plan->pair_first[low], behind = plan->pair_first[low + 1];
    while (first < behind) {
        int middle = (first + behind) / 2;
        const orr_pair *pair = &plan->pair[middle];
        int other = pair->geom1 > pair->geom2 ? pair->geom1 : pair->geom2;
        if (other == high) {
            return middle;
        }
        if (other < high) {
            first = middle + 1;
        } else {
            behind = middle;
        }
    }
    return -1;
}

// Sets the bits of the pairs that may touch in some lane.
LANE_FN void sweep(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    memcpy(d->near_pair, plan->always_near, (size_t)(plan->pair_count + 31) / 32 * sizeof *d->near_pair);
    find_extents(m, d);
    int axis = widest_axis(d->extent, plan->sweep_count), u = (axis + 1) % 3, v = (axis + 2) % 3;
    sort_extents(d->extent, plan->sweep_count, axis);
    for (int i = 0; i < plan->sweep_count; i++) {
        const lane_extent *a = &d->extent[i];
        for (int k = i + 1; k < plan->sweep_count && d->extent[k].low[axis] <= a->high[axis]; k++) {
            const lane_extent *b = &d->extent[k];
            if (a->low[u] > b->high[u] || b->low[u] > a->high[u] || a->low[v] > b->high[v] ||
                b->low[v] > a->high[v]) {
                continue;
            }
            int pair = find_pair(plan, a->geom, b->geom);
            if (pair >= 0) {
                d->near_pair[pair / 32] |= 1u << pair % 32;
            }
        }
    }
}
