// The limits' kernels in lanes; compiled once per instruction set.
#include "engine/maths/limits.h"

#include "engine/maths/lanes.h"

enum { FEATURES_MAX = 8 };

FN float gather(const float *table, int log2_rows, int features, int64_t count)
{
    real sum[FEATURES_MAX], row[FEATURES_MAX];
    for (int f = 0; f < features; f++) {
        sum[f] = R(0.0);
    }
    suint random = (suint)lane_index() * 2654435761u;
    for (int64_t i = 0; i < count; i += ORR_LANES) {
        random = random * 1664525u + 1013904223u; // the high bits are the random ones
        suint index = random >> (uint32_t)(32 - log2_rows);
        int32_t at[ORR_LANES];
        sint_store(at, (sint)index);
        real_gather_row(table, (const uint32_t *)at, features, row);
        for (int f = 0; f < features; f++) {
            sum[f] += row[f];
        }
    }
    float total = 0.0f;
    for (int f = 0; f < features; f++) {
        total += real_sum(sum[f]);
    }
    return total;
}

float ORR_ISA_NAME(orr_limit_gather)(const float *table, int log2_rows, int features, int64_t count)
{
    switch (features) {
    case 1:
        return gather(table, log2_rows, 1, count);
    case 2:
        return gather(table, log2_rows, 2, count);
    case 4:
        return gather(table, log2_rows, 4, count);
    default:
        return gather(table, log2_rows, 8, count);
    }
}
