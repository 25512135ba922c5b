// Grids of a block of samples, in lanes; compiled once per instruction set.
//
// A level is finished for the whole block before the next begins, so that its table, when it is small, stays
// in cache. The loops are written once over `dims` and `features` and compiled for each pair as constants.
#include "engine/core/isa.h"
#include "neural/network/encoding_cpu.h"
#include "neural/network/grid_formula.h"

#include <stdatomic.h>

// Loops over corners, axes and features have constant lengths and must leave no arrays in memory behind.
#if defined(ORR_SANITIZED)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum {
    CORNERS_MAX = 1 << ORR_GRID_DIMS_MAX,
    FEATURES_MAX = 8,
    PREFETCH_FLOATS = 1 << 16 // levels above this are not in L2 when they are read
};

FN grid_cell find_cell(const orr_encoding *e, const orr_grid_level *level, const float *input, int i,
                       int dims)
{
    grid_cell cell = {0}; // of which axes up to dims are used
    UNROLL
    for (int d = 0; d < dims; d++) {
        cell.axes[d] = grid_locate(real_load(input + d * ORR_SAMPLES + i), level->scale, level->factor[d],
                                   e->config.interpolation == ORR_SMOOTHSTEP);
    }
    return cell;
}

// What a whole block needs of one level.
typedef struct level_plan {
    uint32_t corner[CORNERS_MAX][ORR_SAMPLES];    // entries
    float weight[ORR_GRID_DIMS_MAX][ORR_SAMPLES]; // as grid_axis has them, and the next
    float slope[ORR_GRID_DIMS_MAX][ORR_SAMPLES];
} level_plan;

// The entries of a vector's corners; `index` is a constant.
FN void plan_corners(grid_cell cell, orr_grid_index index, uint32_t entries, int i, level_plan *plan,
                     int dims, int corners)
{
    UNROLL
    for (int c = 0; c < corners; c++) {
        suint entry = index == ORR_GRID_INDEX_HASH   ? grid_hashed_entry(cell, c, dims, entries)
                      : index == ORR_GRID_INDEX_TILE ? grid_tiled_entry(cell, c, dims, entries)
                                                     : grid_dense_entry(cell, c, dims, entries);
        sint_store((int32_t *)plan->corner[c] + i, (sint)entry);
    }
}

// Finds the cells of one vector of samples.
FN void plan_vector(const orr_encoding *e, int l, const float *input, int i, level_plan *plan, int dims,
                    int corners)
{
    const orr_grid_level *level = &e->levels[l];
    grid_cell cell = find_cell(e, level, input, i, dims);
    switch (level->index) {
    case ORR_GRID_INDEX_HASH:
        plan_corners(cell, ORR_GRID_INDEX_HASH, level->entries, i, plan, dims, corners);
        break;
    case ORR_GRID_INDEX_TILE:
        plan_corners(cell, ORR_GRID_INDEX_TILE, level->entries, i, plan, dims, corners);
        break;
    case ORR_GRID_INDEX_DENSE:
        plan_corners(cell, ORR_GRID_INDEX_DENSE, level->entries, i, plan, dims, corners);
        break;
    }
    UNROLL
    for (int d = 0; d < dims; d++) {
        real_store(plan->weight[d] + i, cell.axes[d].weight);
        real_store(plan->slope[d] + i, cell.axes[d].slope);
    }
}

#if defined(ORR_SANITIZED)
#define PLAN_VECTOR(e, l, input, i, plan, corners)                                                           \
    plan_vector(e, l, input, i, plan, (e)->input_dims, corners);
#else
// plan_vector with constants
#define PLAN_VECTOR(e, l, input, i, plan, corners)                                                           \
    switch (corners) {                                                                                       \
    case 1:                                                                                                  \
        plan_vector(e, l, input, i, plan, (e)->input_dims, 1);                                               \
        break;                                                                                               \
    case 4:                                                                                                  \
        plan_vector(e, l, input, i, plan, 2, 4);                                                             \
        break;                                                                                               \
    case 8:                                                                                                  \
        plan_vector(e, l, input, i, plan, 3, 8);                                                             \
        break;                                                                                               \
    default:                                                                                                 \
        plan_vector(e, l, input, i, plan, 4, 16);                                                            \
        break;                                                                                               \
    }
#endif

// A function of its own, not compiled into every loop below, where it took a compiler most of a minute.
static __attribute__((noinline)) void plan_cells(const orr_encoding *e, int l, const float *input, int i,
                                                 level_plan *plan)
{
    const int corners = e->config.interpolation == ORR_NEAREST ? 1 : 1 << e->input_dims;
    PLAN_VECTOR(e, l, input, i, plan, corners)
}

FN void prefetch_entries(const orr_grid_level *level, const float *table, int i, const level_plan *plan,
                         int features, int corners, bool writing)
{
    if ((int64_t)level->entries * features <= PREFETCH_FLOATS) {
        return;
    }
    const float *rows = table + (int64_t)level->first * features;
    for (int c = 0; c < corners; c++) {
        for (int k = 0; k < ORR_LANES; k++) {
            const float *entry = rows + (int64_t)plan->corner[c][i + k] * features;
            if (writing) {
                __builtin_prefetch(entry, 1);
            } else {
                __builtin_prefetch(entry, 0, 2); // to L2: on Zen 5 random points come 5 % faster than to L1
            }
        }
    }
}

// Finds the cells of one vector of samples and prefetches their entries while other work is done. Compiled
// into that work, which a call would slow by a tenth.
FN void plan_ahead(const orr_encoding *e, int l, const float *table, const float *input, int i,
                   level_plan *plan, int dims, int features)
{
    plan_vector(e, l, input, i, plan, dims, 1 << dims);
    prefetch_entries(&e->levels[l], table, i, plan, features, 1 << dims, false);
}

FN void plan_level(const orr_encoding *e, int l, const float *table, const float *input, level_plan *plan,
                   int features, int corners, bool writing)
{
    for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
        plan_cells(e, l, input, i, plan);
        prefetch_entries(&e->levels[l], table, i, plan, features, corners, writing);
    }
}

// The cells of one vector of samples, as far as their weights go.
FN grid_cell load_weights(const level_plan *plan, int i, int dims)
{
    grid_cell cell;
    UNROLL
    for (int d = 0; d < dims; d++) {
        cell.axes[d].weight = real_load(plan->weight[d] + i);
    }
    return cell;
}

FN void nearest_levels(const orr_encoding *e, const float *table, const float *input, float *out,
                       int features)
{
    level_plan plan;
    for (int l = 0; l < e->level_count; l++, out += features * ORR_SAMPLES) {
        plan_level(e, l, table, input, &plan, features, 1, false);
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            real row[FEATURES_MAX];
            real_gather_row(table + (int64_t)e->levels[l].first * features, plan.corner[0] + i, features,
                            row);
            UNROLL
            for (int f = 0; f < features; f++) {
                real_store(out + f * ORR_SAMPLES + i, row[f]);
            }
        }
    }
}

FN void interpolate_vector(const float *rows, const level_plan *plan, int i, float *out, int dims,
                           int features)
{
    grid_cell cell = load_weights(plan, i, dims);
    real sum[FEATURES_MAX] = {R(0.0)};
    UNROLL
    for (int c = 0; c < 1 << dims; c++) {
        real row[FEATURES_MAX], weight = grid_weight(cell, c, dims, -1);
        real_gather_row(rows, plan->corner[c] + i, features, row);
        UNROLL
        for (int f = 0; f < features; f++) {
            sum[f] = grid_interpolate(sum[f], weight, row[f]);
        }
    }
    UNROLL
    for (int f = 0; f < features; f++) {
        real_store(out + f * ORR_SAMPLES + i, sum[f]);
    }
}

// The next level is planned vector by vector between this level's, so that its entries are fetched all the
// time.
FN void forward_levels(const orr_encoding *e, const float *table, const float *input, float *out, int dims,
                       int features)
{
    level_plan plans[2];
    plan_level(e, 0, table, input, &plans[0], features, 1 << dims, false);
    for (int l = 0; l < e->level_count; l++, out += features * ORR_SAMPLES) {
        const float *rows = table + (int64_t)e->levels[l].first * features;
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            if (l + 1 < e->level_count) {
                plan_ahead(e, l + 1, table, input, i, &plans[(l + 1) % 2], dims, features);
            }
            interpolate_vector(rows, &plans[l % 2], i, out, dims, features);
        }
    }
}

// adds to input_gradient
FN void slope_vector(const float *rows, const level_plan *plan, int i, const float *gradient,
                     float *input_gradient, int dims, int features)
{
    grid_cell cell = load_weights(plan, i, dims);
    real slope[ORR_GRID_DIMS_MAX] = {R(0.0)};
    UNROLL
    for (int c = 0; c < 1 << dims; c++) {
        real row[FEATURES_MAX], value = R(0.0);
        real_gather_row(rows, plan->corner[c] + i, features, row);
        UNROLL
        for (int f = 0; f < features; f++) {
            value = fma_(row[f], real_load(gradient + f * ORR_SAMPLES + i), value);
        }
        UNROLL
        for (int d = 0; d < dims; d++) {
            slope[d] = grid_slope(slope[d], cell, c, dims, d, value);
        }
    }
    UNROLL
    for (int d = 0; d < dims; d++) {
        float *out = input_gradient + d * ORR_SAMPLES + i;
        real_store(out, grid_input_gradient(real_load(out), slope[d], real_load(plan->slope[d] + i)));
    }
}

FN void slope_levels(const orr_encoding *e, const float *table, const float *input, const float *gradient,
                     float *input_gradient, int dims, int features)
{
    level_plan plans[2];
    plan_level(e, 0, table, input, &plans[0], features, 1 << dims, false);
    for (int l = 0; l < e->level_count; l++, gradient += features * ORR_SAMPLES) {
        const float *rows = table + (int64_t)e->levels[l].first * features;
        for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
            if (l + 1 < e->level_count) {
                plan_ahead(e, l + 1, table, input, i, &plans[(l + 1) % 2], dims, features);
            }
            slope_vector(rows, &plans[l % 2], i, gradient, input_gradient, dims, features);
        }
    }
}

// Two levels may share the 32 blocks of one word, and levels are scattered by different threads.
FN void mark(uint32_t *touched, int64_t first)
{
    _Atomic uint32_t *word = (_Atomic uint32_t *)&touched[first / (32 * 16)];
    uint32_t bit = 1u << (first / 16 % 32);
    if (!(atomic_load_explicit(word, memory_order_relaxed) & bit)) {
        atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    }
}

// entry += weight gradient
FN void add_row(float *entry, float weight, const float *gradient, int features)
{
    typedef float quad __attribute__((vector_size(16), aligned(4)));
    if (features < 4) {
        UNROLL
        for (int f = 0; f < features; f++) {
            entry[f] += weight * gradient[f];
        }
    }
    UNROLL
    for (int f = 0; f + 4 <= features; f += 4) {
        *(quad *)(entry + f) += *(const quad *)(gradient + f) * weight;
    }
}

// dims: 0 where the nearest entry is the only one
FN void scatter_level(const orr_encoding *e, int l, const float *input, const float *gradient, int count,
                      int64_t first_float, float *table_gradient, uint32_t *touched, int dims, int features)
{
    const int corners = 1 << dims;
    level_plan plan;
    float weights[CORNERS_MAX][ORR_SAMPLES];
    plan_level(e, l, table_gradient + first_float, input, &plan, features, corners, true);
    for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
        grid_cell cell = load_weights(&plan, i, dims);
        UNROLL
        for (int c = 0; c < corners; c++) {
            real_store(weights[c] + i, corners == 1 ? R(1.0) : grid_weight(cell, c, dims, -1));
        }
    }
    const int64_t first = first_float + (int64_t)e->levels[l].first * features;
    for (int i = 0; i < count; i++) {
        float g[FEATURES_MAX];
        bool zero = true;
        UNROLL
        for (int f = 0; f < features; f++) {
            g[f] = gradient[f * ORR_SAMPLES + i];
            zero &= g[f] == 0.0f;
        }
        if (zero) {
            continue; // an empty sample leaves no mark
        }
        UNROLL
        for (int c = 0; c < corners; c++) {
            int64_t entry = first + (int64_t)plan.corner[c][i] * features;
            add_row(table_gradient + entry, weights[c][i], g, features);
            mark(touched, entry);
        }
    }
}

#if defined(ORR_SANITIZED)
// once for all: the checks of every pair, unrolled, would take the compiler minutes
#define CALL_WITH_FEATURES(f, ...) f(__VA_ARGS__, e->config.features_per_level);
#define CALL_COMPILED(f, ...) CALL_WITH_FEATURES(f, __VA_ARGS__, e->input_dims)
#else
// calls f(..., features) with a constant
#define CALL_WITH_FEATURES(f, ...)                                                                           \
    switch (e->config.features_per_level) {                                                                  \
    case 1:                                                                                                  \
        f(__VA_ARGS__, 1);                                                                                   \
        break;                                                                                               \
    case 2:                                                                                                  \
        f(__VA_ARGS__, 2);                                                                                   \
        break;                                                                                               \
    case 4:                                                                                                  \
        f(__VA_ARGS__, 4);                                                                                   \
        break;                                                                                               \
    default:                                                                                                 \
        f(__VA_ARGS__, 8);                                                                                   \
        break;                                                                                               \
    }
// calls f(..., dims, features) with both as constants
#define CALL_COMPILED(f, ...)                                                                                \
    switch (e->input_dims) {                                                                                 \
    case 2:                                                                                                  \
        CALL_WITH_FEATURES(f, __VA_ARGS__, 2)                                                                \
        break;                                                                                               \
    case 3:                                                                                                  \
        CALL_WITH_FEATURES(f, __VA_ARGS__, 3)                                                                \
        break;                                                                                               \
    default:                                                                                                 \
        CALL_WITH_FEATURES(f, __VA_ARGS__, 4)                                                                \
        break;                                                                                               \
    }
#endif

void ORR_ISA_NAME(orr_grid_forward)(const orr_encoding *e, const float *table, const float *input,
                                    float *features)
{
    if (e->config.interpolation == ORR_NEAREST) {
        CALL_WITH_FEATURES(nearest_levels, e, table, input, features)
    } else {
        CALL_COMPILED(forward_levels, e, table, input, features)
    }
}

void ORR_ISA_NAME(orr_grid_backward_input)(const orr_encoding *e, const float *table, const float *input,
                                           const float *gradient, float *input_gradient)
{
    for (int i = 0; i < e->input_dims * ORR_SAMPLES; i += ORR_LANES) {
        real_store(input_gradient + i, R(0.0));
    }
    if (e->config.interpolation == ORR_NEAREST) {
        return; // constant within a cell
    }
    CALL_COMPILED(slope_levels, e, table, input, gradient, input_gradient)
}

void ORR_ISA_NAME(orr_grid_scatter)(const orr_encoding *e, int level, const float *input,
                                    const float *gradient, int count, int64_t first_float,
                                    float *table_gradient, uint32_t *touched)
{
    gradient += level * e->config.features_per_level * ORR_SAMPLES;
    if (e->config.interpolation == ORR_NEAREST) {
        CALL_WITH_FEATURES(scatter_level, e, level, input, gradient, count, first_float, table_gradient,
                           touched, 0)
    } else {
        CALL_COMPILED(scatter_level, e, level, input, gradient, count, first_float, table_gradient, touched)
    }
}
