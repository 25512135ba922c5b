// Encodings by one thread per sample, for kernels: the same formulas as on the CPU. Features go to a row of
// halves in shared memory; gradients come from such a row, times the pass's gradient scale.
#pragma once

#include "engine/device/cuda_kernel.h"

extern "C" {
#include "neural/cuda/model_pass.h"
}
#include "neural/network/encoding_formula.h"
#include "neural/network/grid_formula.h"

// ---- grids ----

template <int dims>
static __device__ __forceinline__ grid_cell find_cell(const orr_grid_level *level,
                                                      orr_interpolation interpolation, const float *at)
{
    grid_cell cell;
    ORR_UNROLL
    for (int d = 0; d < dims; d++) {
        cell.axes[d] =
            grid_locate(at[d * ORR_SAMPLES], level->scale, level->factor[d], interpolation == ORR_SMOOTHSTEP);
    }
    return cell;
}

static __device__ __forceinline__ uint32_t corner_entry(const orr_grid_level *level, const grid_cell &cell,
                                                        int corner, int dims)
{
    switch (level->index) {
    case ORR_GRID_INDEX_HASH:
        return grid_hashed_entry(cell, corner, dims, level->entries);
    case ORR_GRID_INDEX_TILE:
        return grid_tiled_entry(cell, corner, dims, level->entries);
    default:
        return grid_dense_entry(cell, corner, dims, level->entries);
    }
}

// An entry of the table, in one load.
template <int features>
static __device__ __forceinline__ void load_entry(const __half *table, uint32_t entry, float *row)
{
    const __half *at = table + (size_t)entry * features;
    if (features == 1) {
        row[0] = __half2float(*at);
        return;
    }
    constexpr int words = features >= 2 ? features / 2 : 1;
    uint32_t bits[words];
    if (words == 4) {
        uint4 four = __ldg((const uint4 *)at);
        memcpy(bits, &four, sizeof bits);
    } else if (words == 2) {
        uint2 two = __ldg((const uint2 *)at);
        memcpy(bits, &two, sizeof bits);
    } else {
        bits[0] = __ldg((const uint32_t *)at);
    }
    ORR_UNROLL
    for (int w = 0; w < words; w++) {
        __half2 pair;
        memcpy(&pair, &bits[w], sizeof pair);
        float2 both = __half22float2(pair);
        row[2 * w] = both.x;
        row[(2 * w + 1) % features] = both.y;
    }
}

// Adds to an entry's gradient; the widest atomics there are.
template <int features>
static __device__ __forceinline__ void add_entry(float *table, uint32_t entry, float weight,
                                                 const float *gradient)
{
    float *at = table + (size_t)entry * features;
#if ORR_CUDA_EMULATED || __CUDA_ARCH__ >= 900
    constexpr int wide = features >= 4 ? 4 : features;
#else
    constexpr int wide = 1;
#endif
    ORR_UNROLL
    for (int f = 0; f < features; f += wide) {
        const float *g = gradient + f;
        if (wide == 1) {
            atomicAdd(at + f, weight * g[0]);
        }
#if ORR_CUDA_EMULATED || __CUDA_ARCH__ >= 900
        if (wide == 2) {
            atomicAdd((float2 *)(at + f), make_float2(weight * g[0], weight * g[1 % wide]));
        }
        if (wide == 4) {
            atomicAdd((float4 *)(at + f), make_float4(weight * g[0], weight * g[1 % wide],
                                                      weight * g[2 % wide], weight * g[3 % wide]));
        }
#endif
    }
}

// Not inlined: the kernels of all widths share these.
template <int dims, int features>
static __device__ __noinline__ void encode_grid(const orr_cuda_part *part, const __half *table,
                                                const float *at, __half *row)
{
    const int corners = part->interpolation == ORR_NEAREST ? 1 : 1 << dims;
    for (int l = 0; l < part->level_count; l++) {
        const orr_grid_level *level = &part->levels[l];
        const __half *entries = table + (size_t)level->first * features;
        grid_cell cell = find_cell<dims>(level, part->interpolation, at);
        float sum[features] = {0.0f};
        if (corners == 1) {
            load_entry<features>(entries, corner_entry(level, cell, 0, dims), sum);
        } else {
            ORR_UNROLL
            for (int c = 0; c < 1 << dims; c++) {
                float entry[features], weight = grid_weight(cell, c, dims, -1);
                load_entry<features>(entries, corner_entry(level, cell, c, dims), entry);
                ORR_UNROLL
                for (int f = 0; f < features; f++) {
                    sum[f] = grid_interpolate(sum[f], weight, entry[f]);
                }
            }
        }
        ORR_UNROLL
        for (int f = 0; f < features; f++) {
            row[l * features + f] = __float2half_rn(sum[f]);
        }
    }
}

// table_gradient, input_gradient: NULL: not computed
template <int dims, int features>
static __device__ __noinline__ void backward_grid(const orr_cuda_part *part, const __half *table,
                                                  const float *at, const __half *row, float unscale,
                                                  float *table_gradient, float *input_gradient)
{
    const bool nearest = part->interpolation == ORR_NEAREST;
    float input_sum[dims] = {0.0f};
    for (int l = 0; l < part->level_count; l++) {
        const orr_grid_level *level = &part->levels[l];
        float gradient[features];
        bool zero = true;
        ORR_UNROLL
        for (int f = 0; f < features; f++) {
            gradient[f] = __half2float(row[l * features + f]);
            zero = zero && gradient[f] == 0.0f;
        }
        if (zero) {
            continue;
        }
        grid_cell cell = find_cell<dims>(level, part->interpolation, at);
        if (table_gradient) {
            float *entries = table_gradient + (size_t)level->first * features;
            ORR_UNROLL
            for (int c = 0; c < 1 << dims; c++) {
                if (c == 0 || !nearest) {
                    float weight = nearest ? 1.0f : grid_weight(cell, c, dims, -1);
                    add_entry<features>(entries, corner_entry(level, cell, c, dims), weight, gradient);
                }
            }
        }
        if (input_gradient && !nearest) { // which is constant within a cell
            const __half *entries = table + (size_t)level->first * features;
            float slope[dims] = {0.0f};
            ORR_UNROLL
            for (int c = 0; c < 1 << dims; c++) {
                float entry[features], value = 0.0f;
                load_entry<features>(entries, corner_entry(level, cell, c, dims), entry);
                ORR_UNROLL
                for (int f = 0; f < features; f++) {
                    value = fmaf(entry[f], gradient[f], value);
                }
                ORR_UNROLL
                for (int d = 0; d < dims; d++) {
                    slope[d] = grid_slope(slope[d], cell, c, dims, d, value);
                }
            }
            ORR_UNROLL
            for (int d = 0; d < dims; d++) {
                input_sum[d] = grid_input_gradient(input_sum[d], slope[d], cell.axes[d].slope);
            }
        }
    }
    if (input_gradient) {
        ORR_UNROLL
        for (int d = 0; d < dims; d++) {
            input_gradient[d * ORR_SAMPLES] = input_sum[d] * unscale;
        }
    }
}

// calls f<dims, features>(...)
#define ORR_GRID_FEATURES(f, dims, ...)                                                                      \
    switch (part->features) {                                                                                \
    case 1:                                                                                                  \
        f<dims, 1>(__VA_ARGS__);                                                                             \
        break;                                                                                               \
    case 2:                                                                                                  \
        f<dims, 2>(__VA_ARGS__);                                                                             \
        break;                                                                                               \
    case 4:                                                                                                  \
        f<dims, 4>(__VA_ARGS__);                                                                             \
        break;                                                                                               \
    default:                                                                                                 \
        f<dims, 8>(__VA_ARGS__);                                                                             \
        break;                                                                                               \
    }
#define ORR_GRID_CALL(f, ...)                                                                                \
    switch (part->input_dims) {                                                                              \
    case 2:                                                                                                  \
        ORR_GRID_FEATURES(f, 2, __VA_ARGS__)                                                                 \
        break;                                                                                               \
    case 3:                                                                                                  \
        ORR_GRID_FEATURES(f, 3, __VA_ARGS__)                                                                 \
        break;                                                                                               \
    default:                                                                                                 \
        ORR_GRID_FEATURES(f, 4, __VA_ARGS__)                                                                 \
        break;                                                                                               \
    }

// ---- encodings of one coordinate ----

static __device__ void encode_waves(const orr_cuda_part *part, const float *at, __half *row)
{
    for (int d = 0; d < part->input_dims; d++) {
        float x = at[d * ORR_SAMPLES], frequency = 1.0f;
        for (int k = 0; k < part->frequencies; k++, frequency *= 2.0f) {
            if (part->kind == ORR_ENCODING_FREQUENCY) {
                real2 waves = frequency_features(x, frequency);
                *row++ = __float2half_rn(waves.x);
                *row++ = __float2half_rn(waves.y);
            } else {
                *row++ = __float2half_rn(triangle_feature(x, frequency, (float)k));
            }
        }
    }
}

static __device__ void backward_waves(const orr_cuda_part *part, const float *at, const __half *row,
                                      float unscale, float *input_gradient)
{
    for (int d = 0; d < part->input_dims; d++) {
        float x = at[d * ORR_SAMPLES], frequency = 1.0f, sum = 0.0f;
        for (int k = 0; k < part->frequencies; k++, frequency *= 2.0f) {
            float first = __half2float(*row++);
            if (part->kind == ORR_ENCODING_FREQUENCY) {
                sum = frequency_gradient(sum, x, frequency, first, __half2float(*row++));
            } else {
                sum = triangle_gradient(sum, x, frequency, (float)k, first);
            }
        }
        input_gradient[d * ORR_SAMPLES] = sum * unscale;
    }
}

static __device__ void encode_blobs(const orr_cuda_part *part, const float *at, __half *row)
{
    const float bins = (float)part->bins;
    for (int d = 0; d < part->input_dims; d++) {
        float x = at[d * ORR_SAMPLES], left = blob_edge(x, 0.0f, bins);
        for (int k = 0; k < part->bins; k++) {
            float right = blob_edge(x, (float)(k + 1), bins);
            *row++ = __float2half_rn(blob_feature(left, right));
            left = right;
        }
    }
}

static __device__ void backward_blobs(const orr_cuda_part *part, const float *at, const __half *row,
                                      float unscale, float *input_gradient)
{
    const float bins = (float)part->bins;
    for (int d = 0; d < part->input_dims; d++) {
        float x = at[d * ORR_SAMPLES], left = blob_edge_slope(x, 0.0f, bins), sum = 0.0f;
        for (int k = 0; k < part->bins; k++) {
            float right = blob_edge_slope(x, (float)(k + 1), bins);
            sum = blob_gradient(sum, left, right, __half2float(*row++));
            left = right;
        }
        input_gradient[d * ORR_SAMPLES] = sum * unscale;
    }
}

// ---- directions ----

static __device__ real3 load_direction(const float *at)
{
    return direction_of_input(at[0], at[ORR_SAMPLES], at[2 * ORR_SAMPLES]);
}

static __device__ void encode_harmonics(const orr_cuda_part *part, const float *at, __half *row)
{
    real3 d = load_direction(at);
    real2 power = {1.0f, 0.0f};
    for (int m = 0; m < part->degree; m++) {
        sh_legendre q = sh_legendre_first((float)m);
        for (int l = m; l < part->degree; l++) {
            float k = part->harmonics[l][m];
            row[l * l + l + m] = __float2half_rn(sh_feature(q.value, k, power.x));
            if (m > 0) {
                row[l * l + l - m] = __float2half_rn(sh_feature(q.value, k, power.y));
            }
            q = sh_legendre_next(q, d.z, (float)(l + 1), (float)m);
        }
        power = sh_power(power, d.x, d.y);
    }
}

static __device__ void backward_harmonics(const orr_cuda_part *part, const float *at, const __half *row,
                                          float unscale, float *input_gradient)
{
    real3 d = load_direction(at), sum = {0.0f, 0.0f, 0.0f};
    real2 power = {1.0f, 0.0f}, power_before = {0.0f, 0.0f};
    for (int m = 0; m < part->degree; m++) {
        sh_legendre q = sh_legendre_first((float)m), slope = {0.0f, 0.0f};
        for (int l = m; l < part->degree; l++) {
            float even = __half2float(row[l * l + l + m]);
            float odd = m > 0 ? __half2float(row[l * l + l - m]) : 0.0f;
            sum = sh_gradient(sum, even, odd, part->harmonics[l][m], q.value, slope.value, (float)m, power,
                              power_before);
            q = sh_legendre_next(q, d.z, (float)(l + 1), (float)m);
            slope = sh_slope_next(slope, d.z, (float)(l + 1), (float)m);
        }
        power_before = power;
        power = sh_power(power, d.x, d.y);
    }
    sum = direction_input_gradient(sum);
    input_gradient[0] = sum.x * unscale;
    input_gradient[ORR_SAMPLES] = sum.y * unscale;
    input_gradient[2 * ORR_SAMPLES] = sum.z * unscale;
}

// ---- any encoding ----

// at: the sample's first value in its block; row: as many halves as there are features
static __device__ void encode_features(const orr_cuda_shape *s, const __half *table, const float *at,
                                       __half *row)
{
    for (int p = 0; p < s->part_count; p++) {
        const orr_cuda_part *part = &s->parts[p];
        const float *from = at + part->input_first * ORR_SAMPLES;
        __half *to = row + part->output_first;
        switch (part->kind) {
        case ORR_ENCODING_GRID:
            ORR_GRID_CALL(encode_grid, part, table + part->table_first, from, to)
            break;
        case ORR_ENCODING_FREQUENCY:
        case ORR_ENCODING_TRIANGLE_WAVE:
            encode_waves(part, from, to);
            break;
        case ORR_ENCODING_ONE_BLOB:
            encode_blobs(part, from, to);
            break;
        case ORR_ENCODING_SPHERICAL_HARMONICS:
            encode_harmonics(part, from, to);
            break;
        default: // identity
            for (int d = 0; d < part->input_dims; d++) {
                to[d] = __float2half_rn(identity_feature(from[d * ORR_SAMPLES], part->scale, part->offset));
            }
            break;
        }
    }
}

static __device__ __forceinline__ void pad_row(const orr_cuda_shape *s, __half *row)
{
    for (int k = s->input_dims; k < s->input_padded; k++) {
        row[k] = __float2half_rn(s->input_padding);
    }
}

// The whole input of a network: input_padded halves, those beyond the features get the padding.
static __device__ __forceinline__ void encode_sample(const orr_cuda_shape *s, const __half *table,
                                                     const float *at, __half *row)
{
    encode_features(s, table, at, row);
    pad_row(s, row);
}

// row: gradients of the features, times 1 / unscale, which table_gradient keeps
static __device__ void backward_sample(const orr_cuda_shape *s, const __half *table, const float *at,
                                       const __half *row, float unscale, float *table_gradient,
                                       float *input_gradient)
{
    for (int p = 0; p < s->part_count; p++) {
        const orr_cuda_part *part = &s->parts[p];
        const float *from = at + part->input_first * ORR_SAMPLES;
        const __half *gradient = row + part->output_first;
        float *to = input_gradient ? input_gradient + part->input_first * ORR_SAMPLES : NULL;
        if (part->kind == ORR_ENCODING_GRID) {
            float *sums = table_gradient ? table_gradient + part->table_first : NULL;
            ORR_GRID_CALL(backward_grid, part, table + part->table_first, from, gradient, unscale, sums, to)
        } else if (to) {
            switch (part->kind) {
            case ORR_ENCODING_FREQUENCY:
            case ORR_ENCODING_TRIANGLE_WAVE:
                backward_waves(part, from, gradient, unscale, to);
                break;
            case ORR_ENCODING_ONE_BLOB:
                backward_blobs(part, from, gradient, unscale, to);
                break;
            case ORR_ENCODING_SPHERICAL_HARMONICS:
                backward_harmonics(part, from, gradient, unscale, to);
                break;
            default:
                for (int d = 0; d < part->input_dims; d++) {
                    to[d * ORR_SAMPLES] = __half2float(gradient[d]) * part->scale * unscale;
                }
                break;
            }
        }
    }
}
