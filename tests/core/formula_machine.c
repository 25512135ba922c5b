// The formulas on one machine; see formula_machines.h. ORR_ISA names it.
#include "engine/core/isa.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/triangle_formula.h"
#include "render/splat/blend_formula.h"
#include "render/splat/splat_formula.h"
#include "tests/core/formula_machines.h"

#ifdef ORR_SCALAR
enum { STEP = 1 };

static real get(const double *p)
{
    return (real)*p;
}

static void put(double *p, real a)
{
    *p = (double)a;
}
#else
enum { STEP = ORR_LANES };

static real get(const double *p)
{
    float values[ORR_LANES];
    for (int i = 0; i < ORR_LANES; i++) {
        values[i] = (float)p[i];
    }
    return real_load(values);
}

static void put(double *p, real a)
{
    float values[ORR_LANES];
    real_store(values, a);
    for (int i = 0; i < ORR_LANES; i++) {
        p[i] = (double)values[i];
    }
}
#endif

static splat_lens test_lens(void)
{
    const formula_test_lens *f = &formula_lens;
    const float *v = f->view;
    return (splat_lens){.view = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11]},
                        .focal_x = f->focal,
                        .focal_y = f->focal,
                        .centre_x = 0.5f * f->width,
                        .centre_y = 0.5f * f->height,
                        .near_plane = f->near_plane,
                        .far_plane = f->far_plane,
                        .slope_x_low = -f->slope_x,
                        .slope_x_high = f->slope_x,
                        .slope_y_low = -f->slope_y,
                        .slope_y_high = f->slope_y,
                        .width = f->width,
                        .height = f->height};
}

// in, out: values of one step of elements, side by side
static void run_one(formula_name name, const real *in, real *out)
{
    switch (name) {
    case FORMULA_EXP2:
        out[0] = exp2_(in[0]);
        break;
    case FORMULA_LOG2:
        out[0] = log2_(in[0]);
        break;
    case FORMULA_EXPONENT:
        out[0] = exponent_(in[0]);
        break;
    case FORMULA_EXP2_WHOLE:
        out[0] = exp2_whole_(in[0]);
        break;
    case FORMULA_FLOOR:
        out[0] = floor_(in[0]);
        break;
    case FORMULA_SQRT:
        out[0] = sqrt_(in[0]);
        break;
    case FORMULA_ABS:
        out[0] = abs_(in[0]);
        break;
    case FORMULA_MIN:
        out[0] = min_(in[0], in[1]);
        break;
    case FORMULA_MAX:
        out[0] = max_(in[0], in[1]);
        break;
    case FORMULA_SEL:
        out[0] = sel(in[0] < in[1], in[0], -in[1]);
        break;
    case FORMULA_FMA:
        out[0] = fma_(in[0], in[1], in[2]);
        break;
    case FORMULA_AXES: {
        real4 q = {in[0], in[1], in[2], in[3]};
        splat_axes m = splat_make_axes(q, make_real3(in[4], in[5], in[6]));
        out[0] = m.a.x, out[1] = m.a.y, out[2] = m.a.z;
        out[3] = m.b.x, out[4] = m.b.y, out[5] = m.b.z;
        out[6] = m.c.x, out[7] = m.c.y, out[8] = m.c.z;
        break;
    }
    case FORMULA_PROJECT: {
        splat_axes axes = {make_real3(in[3], in[4], in[5]), make_real3(in[6], in[7], in[8]),
                           make_real3(in[9], in[10], in[11])};
        splat_screen s = splat_project(test_lens(), make_real3(in[0], in[1], in[2]), axes, in[12]);
        out[SCREEN_CENTRE_X] = s.centre.x, out[SCREEN_CENTRE_Y] = s.centre.y;
        out[SCREEN_SHARP_X] = s.shape.sharp_x;
        out[SCREEN_LEAN] = s.shape.lean;
        out[SCREEN_SHARP_Y] = s.shape.sharp_y;
        out[SCREEN_LOG2_OPACITY] = s.log2_opacity;
        out[SCREEN_DEPTH] = s.depth;
        out[SCREEN_REACH] = s.reach;
        out[SCREEN_HALF_WIDTH] = s.half_size.x, out[SCREEN_HALF_HEIGHT] = s.half_size.y;
        out[SCREEN_VISIBLE] = sel(s.visible, R(1.0), R(0.0));
        break;
    }
    case FORMULA_ALPHA: {
        real2 d = {in[1], in[2]};
        ellipse shape = {in[3], in[4], in[5]};
        out[0] = splat_alpha(in[0], d, shape);
        break;
    }
    case FORMULA_BAND: {
        ellipse shape = {in[0], in[1], in[2]};
        real2 half_size = {in[4], in[5]};
        real2 ends = splat_band(shape, in[3], half_size, in[6], in[7]);
        out[0] = ends.x, out[1] = ends.y;
        break;
    }
    case FORMULA_HARMONICS: {
        real3 v = make_real3(in[0], in[1], in[2]);
        sh_band1 first = sh_degree1(v);
        sh_band2 second = sh_degree2(v);
        sh_band3 third = sh_degree3(v);
        out[0] = R(SH_0);
        out[1] = first.a, out[2] = first.b, out[3] = first.c;
        out[4] = second.a, out[5] = second.b, out[6] = second.c, out[7] = second.d, out[8] = second.e;
        out[9] = third.a, out[10] = third.b, out[11] = third.c, out[12] = third.d;
        out[13] = third.e, out[14] = third.f, out[15] = third.g;
        break;
    }
    case FORMULA_DECODE:
        out[0] = srgb_to_linear(in[0]);
        break;
    case FORMULA_ENCODE:
        out[0] = linear_to_srgb(in[0]);
        break;
    case FORMULA_BLEND: {
        blend_pixel p = blend_begin(in[0] > R(-2.0));
        p.transmittance = in[0];
        p = blend_splat(p, in[1], make_real3(in[2], in[2], in[2]), in[3]);
        out[0] = p.transmittance, out[1] = p.colour.x, out[2] = p.depth;
        break;
    }
    case FORMULA_TRIANGLE: {
        triangle_hit hit =
            intersect_triangle(make_real3(in[0], in[1], in[2]), make_real3(in[3], in[4], in[5]),
                               make_real3(in[6], in[7], in[8]), make_real3(in[9], in[10], in[11]), R(1e-12));
        out[0] = hit.distance, out[1] = hit.u, out[2] = hit.v;
        out[3] = sel(hit.inside, R(1.0), R(0.0));
        break;
    }
    case FORMULA_COUNT:
        break;
    }
}

void ORR_ISA_NAME(formula_machine)(formula_name name, int count, const double *inputs, double *outputs)
{
    static const int input_counts[FORMULA_COUNT] = {1, 1, 1,  1, 1, 1, 1, 2, 2, 2,
                                                    3, 7, 13, 6, 8, 3, 1, 1, 4, 12};
    static const int output_counts[FORMULA_COUNT] = {1, 1, 1,  1, 1, 1, 1, 1, 1, 1, 1, 9, SCREEN_OUTPUTS,
                                                     1, 2, 16, 1, 1, 3, 4};
    for (int i = 0; i < count; i += STEP) {
        real in[FORMULA_INPUTS_MAX], out[FORMULA_OUTPUTS_MAX];
        for (int k = 0; k < input_counts[name]; k++) {
            in[k] = get(inputs + k * count + i);
        }
        run_one(name, in, out);
        for (int k = 0; k < output_counts[name]; k++) {
            put(outputs + k * count + i, out[k]);
        }
    }
}

#ifndef ORR_SCALAR
// Shuffles of whole numbers, and comparisons as bits.
static const char *wrong_triples(void)
{
    for (uint32_t bits = 0; bits <= ORR_ALL_LANES; bits += bits < 255 ? 1 : 257) {
        int32_t some[ORR_LANES], next = 0;
        int count = sint_store_some(some, lane_index() * I(3), bits);
        for (int i = 0; i < ORR_LANES; i++) {
            if (bits >> i & 1 && some[next++] != 3 * i) {
                return "sint_store_some";
            }
        }
        if (next != count || mask_bits(lanes_of_bits(bits)) != bits ||
            bits_above(sel(lanes_of_bits(bits), R(2.0), R(1.0)), R(1.0)) != bits) {
            return "sint_store_some, lanes_of_bits, bits_above";
        }
    }
    for (int count = 1; count <= 64; count++) {
        int32_t numbers[64 + ORR_LANES], same[64 + ORR_LANES];
        void *const lists[2] = {numbers, same};
        uint64_t all = UINT64_MAX >> (64 - count), bits = 0x9249249249249249 * (uint64_t)count & all;
        uint64_t left = 0;
        for (int i = 0; i < count; i++) {
            numbers[i] = same[i] = i;
        }
        int kept = remove_numbers(lists, 2, count, bits);
        for (int i = 0; i < kept; i++) {
            left |= (uint64_t)(numbers[i] == same[i]) << (numbers[i] & 63);
        }
        if (left != (all & ~bits) || kept != count - __builtin_popcountll(bits)) {
            return "remove_numbers";
        }
    }
#if !ORR_LANES_AVX2
    const int32_t four[4] = {5, 6, 7, 8};
    sint fourfold = sint_fourfold(four);
    for (int i = 0; i < ORR_LANES; i++) {
        for (int k = 0; k < ORR_LANES; k++) { // lane k of one has the number of lane i of the other alone
            sint one = lane_index(), other = sel_int(lane_index() == I(k), I(i), I(-1));
            uint32_t found = i % 4 < 3 && k % 4 < 3 ? 1u << i : 0;
            if (triples_among(one, other) != found) {
                return "triples_among";
            }
        }
        if (fourfold[i] != 5 + i / 4) {
            return "sint_fourfold";
        }
    }
#endif
    return NULL;
}

// Of up to four triangles that are chosen by the digits of a number, out of some that share edges.
static const char *wrong_unshared_edges(void)
{
    static const int32_t triangle[6] = {0 | 1 << 8 | 2 << 16,  2 | 1 << 8 | 3 << 16,  0 | 2 << 8 | 4 << 16,
                                        1 | 0 << 8 | 31 << 16, 4 | 2 << 8 | 31 << 16, 9 | 8 << 8 | 7 << 16};
    for (int chosen = 0; chosen < 6 * 6 * 6 * 6; chosen++) {
        for (int triangles = 1; triangles <= 4; triangles++) {
            int32_t some[4], from[12], to[12], expected[12], edge[64];
            int count = 0;
            for (int k = 0, left = chosen; k < 4; k++, left /= 6) {
                some[k] = triangle[left % 6];
                for (int e = 0; e < 3; e++) {
                    from[3 * k + e] = some[k] >> 8 * e & 255;
                    to[3 * k + e] = some[k] >> 8 * ((e + 1) % 3) & 255;
                }
            }
            for (int i = 0; i < 3 * triangles; i++) {
                int shared = 0;
                for (int j = 0; j < 3 * triangles; j++) {
                    shared |= from[i] == to[j] && to[i] == from[j];
                }
                if (!shared) {
                    expected[count++] = from[i] | to[i] << 8;
                }
            }
            if (unshared_edges(some, triangles, edge) != count ||
                memcmp(edge, expected, (size_t)(count < 6 ? count : 6) * sizeof *edge) != 0) {
                return "unshared_edges";
            }
        }
    }
    return NULL;
}

// Of the first 8 lanes, and of 32 points.
static const char *wrong_lookup(void)
{
    point_table table;
    for (int i = 0; i < 32; i++) {
        const float at[3] = {(float)(i * i), (float)i, (float)(31 - i)};
        set_point_32(&table, i, at);
    }
    for (int first = 0; first < 64; first++) {
        int32_t number[ORR_LANES];
        for (int i = 0; i < ORR_LANES; i++) {
            number[i] = (5 * i & 31) | (i + first) << 8;
        }
        real one[4], two[4], root = inverse_root_of_8(to_real(lane_index()) + R(first + 1));
        look_up_points_32(&table, number, 0, one);
        look_up_points_32(&table, number, 1, two);
        for (int i = 0; i < ORR_LANES; i++) {
            int low = 5 * i & 31, high = (i + first) % 32;
            if (one[0][i] != (float)(low * low) || one[1][i] != (float)low || two[1][i] != (float)high ||
                two[2][i] != (float)(31 - high)) {
                return "look_up_points_32";
            }
            float square = root[i] * root[i] * (float)(i + first + 1);
            if (i < 8 && !(square > 0.999999f && square < 1.000001f)) {
                return "inverse_root_of_8";
            }
        }
    }
    return NULL;
}

// The first of equals, with the largest number in each lane in turn.
static const char *wrong_first(void)
{
    for (int farthest = 0; farthest < FEW_LANES; farthest++) {
        float number[FEW_LANES];
        for (int i = 0; i < FEW_LANES; i++) {
            number[i] = i < farthest ? -(float)i : i % 3 == farthest % 3 ? 5.0f : 4.0f;
        }
        if (few_first_most(few_load(number)) != farthest) {
            return "few_first_most";
        }
    }
    return NULL;
}

const char *ORR_ISA_NAME(lanes_check)(void)
{
    // every pattern of the lowest lanes, one lane at a time, and all of them
    for (uint32_t bits = 0; bits <= ORR_ALL_LANES; bits++) {
        int32_t flags[ORR_LANES];
        for (int i = 0; i < ORR_LANES; i++) {
            flags[i] = -(int32_t)(bits >> i & 1);
        }
        mask m = sint_load(flags);
        if (mask_bits(m) != bits || any(m) != (bits != 0) || all(m) != (bits == ORR_ALL_LANES)) {
            return "mask_bits, any, all";
        }
        if (mask_bits(not_(m)) != (~bits & ORR_ALL_LANES) || mask_bits(and_(m, not_(m))) != 0 ||
            mask_bits(or_(m, not_(m))) != ORR_ALL_LANES) {
            return "and_, or_, not_";
        }
    }
    for (int count = -1; count <= ORR_LANES + 1; count++) {
        int live = count < 0 ? 0 : count > ORR_LANES ? ORR_LANES : count;
        if (mask_bits(lanes_below(count)) != (1u << live) - 1u) {
            return "lanes_below";
        }
    }
    const char *wrong = wrong_triples();
    wrong = wrong ? wrong : wrong_unshared_edges();
    wrong = wrong ? wrong : wrong_lookup();
    wrong = wrong ? wrong : wrong_first();
    if (wrong) {
        return wrong;
    }
    float table[100], loose[ORR_LANES + 1] = {0};
    for (int i = 0; i < 100; i++) {
        table[i] = (float)(3 * i + 1);
    }
    sint index = (lane_index() * I(37)) % I(100);
    real_store(loose + 1, real_gather(table, index)); // not aligned to a vector
    double sum = 0.0;
    for (int i = 0; i < ORR_LANES; i++) {
        float expected = (float)(3 * (i * 37 % 100) + 1);
        if (loose[i + 1] != expected) {
            return "real_gather, real_store";
        }
        sum += (double)expected;
    }
    if ((double)real_sum(real_load(loose + 1)) != sum) { // whole numbers: exact in any order
        return "real_sum";
    }
    for (int i = 0; i < ORR_LANES; i++) { // the i-th is the largest, those behind it as large
        real rising = sel(lane_index() < I(i), to_real(lane_index()) - R(9.0), R(7.0));
        if (real_most(rising) != 7.0f || real_first_most(rising) != i) {
            return "real_most, real_first_most";
        }
    }
    for (int upper = 0; upper < 2; upper++) { // multiples of 4
        wide_real wide = wide_of(to_real(lane_index()) * R(4.0), upper), root = wide_sqrt(wide);
        for (int i = 0; i < WIDE_LANES; i++) {
            double number = 4.0 * (i + upper * WIDE_LANES), square = root[i] * root[i];
            if (wide[i] != number || square > number * (1.0 + 1e-14) || square < number * (1.0 - 1e-14)) {
                return "wide_of, wide_sqrt";
            }
            wide_real picked = wide_select(wide_lanes(1u << i), wide + W(1000.0), wide);
            if (wide_spread_most(picked)[WIDE_LANES - 1] != number + 1000.0 ||
                wide_spread_most(picked)[0] != number + 1000.0 ||
                wide_bits((wide_mask)(picked > W(999.0))) != 1u << i) {
                return "wide_lanes, wide_select, wide_spread_most, wide_bits";
            }
        }
    }
    real halves = to_real(lane_index()) - R(7.5);
    sint whole = to_int(halves);
    real upper = ceil_(halves);
    for (int i = 0; i < ORR_LANES; i++) {
        float half = (float)i - 7.5f;
        if (whole[i] != (int)half) {
            return "to_int rounds towards zero";
        }
        if (upper[i] != (float)(i - 7)) {
            return "ceil_";
        }
    }
    if (mask_bits(sel_int(lanes_below(2), I(-1), I(0))) != 3u) {
        return "sel_int";
    }
    return NULL;
}
#endif
