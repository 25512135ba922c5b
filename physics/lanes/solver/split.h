// Lists of blocks of dofs: sorted by their numbers, or halved by where their bodies are.
#pragma once

#include "physics/lanes/state.h"

#if !defined(__CUDACC__)

// Is a sorted before b? key: of each, and where it is the same the last ones are first; NULL: ascending.
FN int is_sorted_before(int32_t a, int32_t b, const int32_t *key)
{
    return key == NULL ? a < b : key[a] == key[b] ? a > b : key[a] < key[b];
}

// Shell sort with Knuth's gaps. key: nullable
FN void sort_by(int32_t *number, int count, const int32_t *key)
{
    int gap = 1;
    while (gap < count / 3) {
        gap = 3 * gap + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (int k = gap; k < count; k++) {
            int32_t here = number[k];
            int at = k;
            for (; at >= gap && is_sorted_before(here, number[at - gap], key); at -= gap) {
                number[at] = number[at - gap];
            }
            number[at] = here;
        }
    }
}

FN void sort_numbers(int32_t *number, int count)
{
    sort_by(number, count, NULL);
}

FN float block_position(const lane_model *m, const lane_data *d, int block, int axis)
{
    real at = d->xipos[3 * m->dof_bodyid[m->plan->block_first[block]] + axis];
#if defined(ORR_SCALAR)
    return (float)at;
#else
    return at[0];
#endif
}

// Hoare's selection: `half` blocks before the others along the axis.
LANE_FN void split_blocks(const lane_model *m, const lane_data *d, int32_t *order, int count, int half,
                          int axis)
{
    int left = 0, right = count - 1;
    while (left < right) {
        float pivot = block_position(m, d, order[half], axis);
        int i = left, j = right;
        while (i <= j) {
            while (block_position(m, d, order[i], axis) < pivot) {
                i++;
            }
            while (block_position(m, d, order[j], axis) > pivot) {
                j--;
            }
            if (i <= j) {
                int32_t block = order[i];
                order[i++] = order[j];
                order[j--] = block;
            }
        }
        left = j < half ? i : left;
        right = i > half ? j : right;
    }
}

LANE_FN int widest_block_axis(const lane_model *m, const lane_data *d, const int32_t *order, int count)
{
    float widest = -1.0f;
    int best = 0;
    for (int axis = 0; axis < 3; axis++) {
        float low = block_position(m, d, order[0], axis), high = low;
        for (int n = 1; n < count; n++) {
            float at = block_position(m, d, order[n], axis);
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        if (high - low > widest) {
            widest = high - low;
            best = axis;
        }
    }
    return best;
}
#endif
