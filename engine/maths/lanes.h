// Lanes: the number `real` on this machine, for files compiled once per instruction set (see isa.h).
//
// A real is a vector of ORR_LANES floats, one per splat, pixel, sample or world; `sint` is its integer
// sister and `mask` what a comparison gives (all ones or all zeros per lane). Formulas (`*_formula.h`) use
// only what formula.h lists; schedules may also use the loads, stores and shuffles at the end of this file.
// This is the only file that names SIMD instructions. A file whose arrays come in eights defines
// ORR_EIGHT_LANES_AT_MOST before it includes this one: machines with 16 lanes then use 8.
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) &&       \
    !defined(ORR_EIGHT_LANES_AT_MOST)
#define ORR_LANES 16
#define ORR_LANES_AVX512 1
#include <immintrin.h>
#elif defined(__AVX2__) && defined(__FMA__)
#define ORR_LANES 8
#define ORR_LANES_AVX2 1
#include <immintrin.h>
#else
#define ORR_LANES 4
#if defined(__SSE2__)
#define ORR_LANES_SSE2 1
#include <emmintrin.h>
#endif
#endif

#define FN static inline __attribute__((always_inline, unused))

typedef float real __attribute__((vector_size(4 * ORR_LANES)));
typedef int32_t sint __attribute__((vector_size(4 * ORR_LANES)));
typedef uint32_t suint __attribute__((vector_size(4 * ORR_LANES))); // for indices that wrap around
typedef sint mask;

// memory that may not be aligned to a whole vector
typedef float real_loose __attribute__((vector_size(4 * ORR_LANES), aligned(4)));
typedef int32_t sint_loose __attribute__((vector_size(4 * ORR_LANES), aligned(4)));

// a constant, or a value that is the same in all lanes
// (minus zero, because x - 0 is x for every x, so that nothing is computed; 0 + x would lose the sign of -0)
#define R(x) ((float)(x) - (real){0})
#define I(x) ((int32_t)(x) - (sint){0})
#define U(x) ((uint32_t)(x) - (suint){0})

FN real sel(mask m, real a, real b) // m ? a : b
{
    return (real)((m & (mask)a) | (~m & (mask)b));
}

FN sint sel_int(mask m, sint a, sint b)
{
    return (m & a) | (~m & b);
}

// one bit per lane, lane 0 lowest
FN uint32_t mask_bits(mask m)
{
#if ORR_LANES_AVX512
    return (uint32_t)_mm512_movepi32_mask((__m512i)m);
#elif ORR_LANES_AVX2
    return (uint32_t)_mm256_movemask_ps((__m256)m);
#elif ORR_LANES_SSE2
    return (uint32_t)_mm_movemask_ps((__m128)m);
#else
    uint32_t bits = 0;
    for (int i = 0; i < ORR_LANES; i++) {
        bits |= (uint32_t)(m[i] & 1) << i;
    }
    return bits;
#endif
}

#define ORR_ALL_LANES ((uint32_t)((1u << (ORR_LANES - 1)) * 2u - 1u))

FN int any(mask m)
{
    return mask_bits(m) != 0;
}

FN int all(mask m)
{
    return mask_bits(m) == ORR_ALL_LANES;
}

// min_ and max_ return b when a is NaN, on every machine
FN real min_(real a, real b)
{
#if ORR_LANES_AVX512
    return (real)_mm512_min_ps((__m512)a, (__m512)b);
#elif ORR_LANES_AVX2
    return (real)_mm256_min_ps((__m256)a, (__m256)b);
#elif ORR_LANES_SSE2
    return (real)_mm_min_ps((__m128)a, (__m128)b);
#else
    return sel(a < b, a, b);
#endif
}

FN real max_(real a, real b)
{
#if ORR_LANES_AVX512
    return (real)_mm512_max_ps((__m512)a, (__m512)b);
#elif ORR_LANES_AVX2
    return (real)_mm256_max_ps((__m256)a, (__m256)b);
#elif ORR_LANES_SSE2
    return (real)_mm_max_ps((__m128)a, (__m128)b);
#else
    return sel(a > b, a, b);
#endif
}

FN real abs_(real a)
{
    return (real)((mask)a & I(0x7fffffff));
}

FN real sqrt_(real a)
{
#if ORR_LANES_AVX512
    return (real)_mm512_sqrt_ps((__m512)a);
#elif ORR_LANES_AVX2
    return (real)_mm256_sqrt_ps((__m256)a);
#elif ORR_LANES_SSE2
    return (real)_mm_sqrt_ps((__m128)a);
#else
    real r;
    for (int i = 0; i < ORR_LANES; i++) {
        r[i] = __builtin_sqrtf(a[i]);
    }
    return r;
#endif
}

// 1 / sqrt a in the first 8 lanes; what the others get is open.
FN real inverse_root_of_8(real a)
{
#if ORR_LANES_AVX512
    __m256 root = _mm256_sqrt_ps(_mm512_castps512_ps256((__m512)a));
    return (real)_mm512_castps256_ps512(_mm256_div_ps(_mm256_set1_ps(1.0f), root));
#else
    return R(1.0) / sqrt_(a);
#endif
}

// a b + c, fused where the machine fuses
FN real fma_(real a, real b, real c)
{
#if ORR_LANES_AVX512
    return (real)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif ORR_LANES_AVX2
    return (real)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

FN sint to_int(real a) // towards zero; |a| < 2^31
{
    return __builtin_convertvector(a, sint);
}

FN suint to_uint(real a) // by way of to_int
{
    return (suint)to_int(a);
}

FN suint min_uint(suint a, suint b)
{
#if ORR_LANES_AVX512
    return (suint)_mm512_min_epu32((__m512i)a, (__m512i)b);
#elif ORR_LANES_AVX2
    return (suint)_mm256_min_epu32((__m256i)a, (__m256i)b);
#else
    mask less = a < b;
    return (suint)sel_int(less, (sint)a, (sint)b);
#endif
}

FN real to_real(sint a)
{
    return __builtin_convertvector(a, real);
}

FN real floor_(real a) // |a| < 2^31
{
#if ORR_LANES_AVX512
    return (real)_mm512_roundscale_ps((__m512)a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif ORR_LANES_AVX2
    return (real)_mm256_round_ps((__m256)a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
    real whole = to_real(to_int(a));
    return whole - sel(whole > a, R(1.0), R(0.0));
#endif
}

FN real ceil_(real a)
{
    return -floor_(-a);
}

// 2^a. a below -126 gives 0 or a value under 2^-125; a < 128. Error under 2 ulp: the integer part goes to the
// exponent, the rest in [-1/2, 1/2] through the degree-6 polynomial that is minimax on it.
FN real exp2_(real a)
{
    a = max_(a, R(-126.0));
#if ORR_LANES_AVX512
    real whole = (real)_mm512_roundscale_ps((__m512)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif ORR_LANES_AVX2
    real whole = (real)_mm256_round_ps((__m256)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    real whole = (a + R(12582912.0)) - R(12582912.0); // 1.5 * 2^23 pushes the fraction out
#endif
    real x = a - whole;
    real p = R(1.535336188319500e-4);
    p = fma_(p, x, R(1.339887440266574e-3));
    p = fma_(p, x, R(9.618437357674640e-3));
    p = fma_(p, x, R(5.550332471162809e-2));
    p = fma_(p, x, R(2.402264791363012e-1));
    p = fma_(p, x, R(6.931472028550421e-1));
    p = fma_(p, x, R(1.0));
#if ORR_LANES_AVX512
    return (real)_mm512_scalef_ps((__m512)p, (__m512)whole);
#else
    return (real)((sint)p + (to_int(whole) << 23));
#endif
}

// log2 a for normal a > 0. Error under 2e-7 absolute: log2(2^e m) = e + log2(m) with m in [sqrt(1/2),
// sqrt(2)), by the series of atanh in (m - 1) / (m + 1).
FN real log2_(real a)
{
    sint bits = (sint)a;
    sint exponent = (bits - I(0x3f3504f3)) >> 23;
    real m = (real)(bits - (exponent << 23));
    real s = (m - R(1.0)) / (m + R(1.0));
    real t = s * s;
    real p = R(2.8853900817779268 / 9.0);
    p = fma_(p, t, R(2.8853900817779268 / 7.0));
    p = fma_(p, t, R(2.8853900817779268 / 5.0));
    p = fma_(p, t, R(2.8853900817779268 / 3.0));
    p = fma_(p, t, R(2.8853900817779268));
    return fma_(p, s, to_real(exponent));
}

// log2 a rounded down, exactly, for normal a > 0
FN real exponent_(real a)
{
    return to_real(((sint)a >> 23) - I(127));
}

// 2^a, exactly, for whole a in -126 .. 127
FN real exp2_whole_(real a)
{
    return (real)((to_int(a) + I(127)) << 23);
}

// ---- for schedules only ----

FN real real_load(const float *p)
{
    return (real) * (const real_loose *)p;
}

FN void real_store(float *p, real a)
{
    *(real_loose *)p = (real_loose)a;
}

// *p in all lanes; unlike R() a single broadcast, because x - 0 is x and the compiler knows
FN real real_splat(const float *p)
{
    return *p - (real){0};
}

FN sint sint_load(const int32_t *p)
{
    return (sint) * (const sint_loose *)p;
}

FN void sint_store(int32_t *p, sint a)
{
    *(sint_loose *)p = (sint_loose)a;
}

// 0, 1, 2, ...
FN sint lane_index(void)
{
    static const int32_t index[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return sint_load(index);
}

// first..., for the lanes of a last, incomplete vector: lane i is live while i < count
FN mask lanes_below(int count)
{
    return lane_index() < I(count);
}

// Lanes in which a > b, a bit each.
FN uint32_t bits_above(real a, real b)
{
#if ORR_LANES_AVX512
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ); // compilers make more steps of a mask
#else
    return mask_bits(a > b);
#endif
}

// The lanes of a bit each.
FN mask lanes_of_bits(uint32_t bits)
{
#if ORR_LANES_AVX512
    return (mask)_mm512_movm_epi32((__mmask16)bits);
#else
    return ((I((int32_t)bits) >> lane_index()) & I(1)) != I(0);
#endif
}

// Stores the lanes of a bit each one behind the other; returns their number. All of ORR_LANES numbers may be
// written.
FN int sint_store_some(int32_t *to, sint a, uint32_t bits)
{
#if ORR_LANES_AVX512
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)bits, (__m512i)a));
#else
    int32_t lanes[ORR_LANES];
    sint_store(lanes, a);
    for (int i = 0, count = 0; i < ORR_LANES; i++) {
        to[count] = lanes[i];
        count += (int)(bits >> i & 1);
    }
#endif
    return __builtin_popcount(bits);
}

// Removes the numbers of a bit each from lists of `count` numbers of 4 bytes, at most 64; returns how many
// are left in each. Their order, the same in all, and what is behind them up to ORR_LANES numbers, is open.
FN int remove_numbers(void *const *list, int lists, int count, uint64_t bits)
{
#if ORR_LANES_AVX512
    for (int n = 0; n < lists; n++) {
        char *p = (char *)list[n];
        int left = 0;
        for (int k = 0; k < count; k += ORR_LANES) {
            __mmask16 kept = (__mmask16)(~bits >> k);
            __m512i numbers = _mm512_maskz_compress_epi32(kept, _mm512_loadu_si512(p + 4 * k));
            _mm512_storeu_si512(p + 4 * left, numbers);
            left += __builtin_popcount(kept);
        }
    }
    return count - __builtin_popcountll(bits);
#else
    for (; bits != 0; count--) { // from the last one on, so that the last number stays
        int last = 63 - __builtin_clzll(bits);
        bits ^= (uint64_t)1 << last;
        for (int n = 0; n < lists; n++) {
            char *p = (char *)list[n];
            memcpy(p + 4 * last, p + 4 * (count - 1), 4);
        }
    }
    return count;
#endif
}

#if !ORR_LANES_AVX2
// Lane i gets p[i / 4].
FN sint sint_fourfold(const int32_t p[ORR_LANES / 4])
{
#if ORR_LANES_AVX512
    __m512i four = _mm512_castsi128_si512(_mm_set_epi32(p[3], p[2], p[1], p[0]));
    __m512i from = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    return (sint)_mm512_permutexvar_epi32(from, four);
#else
    return I(p[0]);
#endif
}

// The lanes of a, a bit each, whose number some lane of b has; of both every fourth lane is left out.
FN uint32_t triples_among(sint a, sint b)
{
#if ORR_LANES_AVX512
    __m512i x = (__m512i)a, y = (__m512i)b;
    uint32_t among = 0;
    for (int turn = 0; turn < 3; turn++) { // of three numbers, then of the four triples
        __m512i z = _mm512_shuffle_i32x4(y, y, 0x4e);
        among |= _mm512_cmpeq_epi32_mask(x, y) |
                 _mm512_cmpeq_epi32_mask(x, _mm512_shuffle_i32x4(y, y, 0x39)) |
                 _mm512_cmpeq_epi32_mask(x, z) | _mm512_cmpeq_epi32_mask(x, _mm512_shuffle_i32x4(z, z, 0x39));
        y = _mm512_shuffle_epi32(y, 0xc9);
    }
    return among & 0x7777;
#else
    return mask_bits((a == I(b[0])) | (a == I(b[1])) | (a == I(b[2]))) & 7;
#endif
}
#endif

// The edges of at most four triangles, a | b << 8 | c << 16 each, that no two of them share, from | to << 8
// in the order of the triangles, of which six are stored at least; returns their number. At `edge` there is
// room for 12 + ORR_LANES.
FN int unshared_edges(const int32_t triangle[4], int triangles, int32_t *edge)
{
    uint32_t used = 0x7777 & ((1u << 4 * triangles) - 1);
#if ORR_LANES_AVX2
    // 16 edges of 16 bits, each compared with the reverse of those of the three other triangles
    static const int32_t kept[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
    __m128i corners = _mm_and_si128(_mm_loadu_si128((const __m128i *)triangle),
                                    _mm_loadu_si128((const __m128i *)(kept + 4 - triangles)));
    __m256i all = _mm256_set_m128i(corners, corners);
    const __m256i ahead = _mm256_setr_epi8(0, 1, 1, 2, 2, 0, 3, 3, 4, 5, 5, 6, 6, 4, 7, 7, 8, 9, 9, 10, 10, 8,
                                           11, 11, 12, 13, 13, 14, 14, 12, 15, 15);
    const __m256i turn = _mm256_setr_epi8(2, 3, 4, 5, 0, 1, 6, 7, 10, 11, 12, 13, 8, 9, 14, 15, 2, 3, 4, 5, 0,
                                          1, 6, 7, 10, 11, 12, 13, 8, 9, 14, 15);
    const __m256i swap = _mm256_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, 1, 0, 3, 2, 5,
                                          4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    __m256i edges = _mm256_shuffle_epi8(all, ahead), back = _mm256_shuffle_epi8(edges, swap);
    __m256i shared = _mm256_setzero_si256();
    for (int k = 0; k < 3; k++) {
        __m256i across = _mm256_permute2x128_si256(back, back, 1);
        __m256i one = _mm256_cmpeq_epi16(edges, _mm256_shuffle_epi32(back, 0x4e));
        __m256i two = _mm256_cmpeq_epi16(edges, across);
        __m256i three = _mm256_cmpeq_epi16(edges, _mm256_shuffle_epi32(across, 0x4e));
        shared = _mm256_or_si256(shared, _mm256_or_si256(one, _mm256_or_si256(two, three)));
        back = _mm256_shuffle_epi8(back, turn);
    }
    __m128i found = _mm_packs_epi16(_mm256_castsi256_si128(shared), _mm256_extracti128_si256(shared, 1));
    used &= ~(uint32_t)_mm_movemask_epi8(found);
    uint16_t codes[16];
    _mm256_storeu_si256((__m256i *)codes, edges);
    uint32_t left = used;
    for (int k = 0; k < 6; k++, left &= left - 1) { // a fixed number: none is guessed wrong
        edge[k] = codes[__builtin_ctz(left | 1u << 15)];
    }
    return __builtin_popcount(used);
#else
    enum { PARTS = 16 / ORR_LANES };
    static const int32_t from[16] = {0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24, 0, 8, 16, 24};
    static const int32_t to[16] = {8, 16, 0, 24, 8, 16, 0, 24, 8, 16, 0, 24, 8, 16, 0, 24};
    sint ahead[PARTS], back[PARTS];
    for (int k = 0; k < PARTS; k++) {
        sint corners = sint_fourfold(triangle + k * ORR_LANES / 4);
        sint a = (corners >> sint_load(from)) & I(255), b = (corners >> sint_load(to)) & I(255);
        mask lanes = lanes_of_bits(used >> k * ORR_LANES);
        ahead[k] = a | b << 8 | ~lanes;
        back[k] = (b | a << 8) & lanes;
    }
    int count = 0;
    for (int k = 0; k < PARTS; k++) {
        uint32_t own = used >> k * ORR_LANES & ORR_ALL_LANES;
        for (int other = 0; other < PARTS; other++) {
            own &= ~triples_among(ahead[k], back[other]);
        }
        count += sint_store_some(edge + count, ahead[k], own);
    }
    return count;
#endif
}

// p[index] per lane
FN real real_gather(const float *p, sint index)
{
#if ORR_LANES_AVX512
    return (real)_mm512_i32gather_ps((__m512i)index, p, 4);
#elif ORR_LANES_AVX2
    return (real)_mm256_i32gather_ps(p, (__m256i)index, 4);
#else
    real r;
    for (int i = 0; i < ORR_LANES; i++) {
        r[i] = p[index[i]];
    }
    return r;
#endif
}

// The lower halves of a and b, alternating: a0, b0, a1, b1 ...
FN real real_interleave_low(real a, real b)
{
#if ORR_LANES == 16
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif ORR_LANES == 8
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}

FN real real_interleave_high(real a, real b) // likewise the upper halves
{
#if ORR_LANES == 16
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif ORR_LANES == 8
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

// Lanes become rows: lane k of row i goes to lane i of row k. Each round of interleaving row i with row
// i + LANES / 2 rotates the index (row, lane) by one bit.
FN void real_transpose(real row[ORR_LANES])
{
    for (int round = 1; round < ORR_LANES; round *= 2) {
        real turned[ORR_LANES];
        for (int i = 0; i < ORR_LANES / 2; i++) {
            turned[2 * i] = real_interleave_low(row[i], row[i + ORR_LANES / 2]);
            turned[2 * i + 1] = real_interleave_high(row[i], row[i + ORR_LANES / 2]);
        }
        for (int i = 0; i < ORR_LANES; i++) {
            row[i] = turned[i];
        }
    }
}

// a, b, c, d, again and again
FN real real_repeat(float a, float b, float c, float d)
{
    typedef float quad __attribute__((vector_size(16)));
    const quad q = {a, b, c, d};
#if ORR_LANES == 16
    return __builtin_shufflevector(q, q, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
#elif ORR_LANES == 8
    return __builtin_shufflevector(q, q, 0, 1, 2, 3, 0, 1, 2, 3);
#else
    return q;
#endif
}

// the same for whole numbers
FN sint sint_gather(const int32_t *p, sint index)
{
#if ORR_LANES_AVX512
    return (sint)_mm512_i32gather_epi32((__m512i)index, p, 4);
#elif ORR_LANES_AVX2
    return (sint)_mm256_i32gather_epi32(p, (__m256i)index, 4);
#else
    sint r;
    for (int i = 0; i < ORR_LANES; i++) {
        r[i] = p[index[i]];
    }
    return r;
#endif
}

#if ORR_LANES_AVX512 || ORR_LANES_AVX2
// Loads of whole rows and a transposition beat one gather per float: on Zen 5 with AVX-512, from 64 KiB, rows
// of 4 floats come at 3.9 G/s instead of 1.2, rows of 2 at 4.1 G/s instead of 2.2.

// block j: the 4 floats at p + at[4 j]
FN real real_load_quads(const float *p, const uint32_t *at, uint32_t stride)
{
#if ORR_LANES_AVX512
    __m512 r = _mm512_castps128_ps512(_mm_loadu_ps(p + at[0] * stride));
    r = _mm512_insertf32x4(r, _mm_loadu_ps(p + at[4] * stride), 1);
    r = _mm512_insertf32x4(r, _mm_loadu_ps(p + at[8] * stride), 2);
    return (real)_mm512_insertf32x4(r, _mm_loadu_ps(p + at[12] * stride), 3);
#else
    return (real)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + at[0] * stride)),
                                      _mm_loadu_ps(p + at[4] * stride), 1);
#endif
}

FN __m128 load_two_pairs(const float *a, const float *b)
{
    return _mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)a)), (const __m64 *)b);
}

// block j: the 2 floats at p + at[4 j] and the 2 at p + at[4 j + 1]
FN real real_load_pairs(const float *p, const uint32_t *at, uint32_t stride)
{
#if ORR_LANES_AVX512
    __m512 r = _mm512_castps128_ps512(load_two_pairs(p + at[0] * stride, p + at[1] * stride));
    r = _mm512_insertf32x4(r, load_two_pairs(p + at[4] * stride, p + at[5] * stride), 1);
    r = _mm512_insertf32x4(r, load_two_pairs(p + at[8] * stride, p + at[9] * stride), 2);
    return (real)_mm512_insertf32x4(r, load_two_pairs(p + at[12] * stride, p + at[13] * stride), 3);
#else
    return (real)_mm256_insertf128_ps(
        _mm256_castps128_ps256(load_two_pairs(p + at[0] * stride, p + at[1] * stride)),
        load_two_pairs(p + at[4] * stride, p + at[5] * stride), 1);
#endif
}

#if ORR_LANES_AVX512
#define ORR_UNPACK(kind, type, a, b) ((real)_mm512_##kind((__m512##type)(a), (__m512##type)(b)))
#define ORR_SHUFFLE(a, b, order) ((real)_mm512_shuffle_ps((__m512)(a), (__m512)(b), order))
#else
#define ORR_UNPACK(kind, type, a, b) ((real)_mm256_##kind((__m256##type)(a), (__m256##type)(b)))
#define ORR_SHUFFLE(a, b, order) ((real)_mm256_shuffle_ps((__m256)(a), (__m256)(b), order))
#endif

FN void real_gather_pairs(const float *p, const uint32_t *at, uint32_t stride, real *row)
{
    real a = real_load_pairs(p, at, stride), b = real_load_pairs(p, at + 2, stride);
    row[0] = ORR_SHUFFLE(a, b, 0x88);
    row[1] = ORR_SHUFFLE(a, b, 0xdd);
}

FN void real_gather_quads(const float *p, const uint32_t *at, uint32_t stride, real *row)
{
    real a = real_load_quads(p, at, stride), b = real_load_quads(p, at + 1, stride);
    real c = real_load_quads(p, at + 2, stride), d = real_load_quads(p, at + 3, stride);
    real ab_low = ORR_UNPACK(unpacklo_ps, , a, b), ab_high = ORR_UNPACK(unpackhi_ps, , a, b);
    real cd_low = ORR_UNPACK(unpacklo_ps, , c, d), cd_high = ORR_UNPACK(unpackhi_ps, , c, d);
    row[0] = ORR_UNPACK(unpacklo_pd, d, ab_low, cd_low);
    row[1] = ORR_UNPACK(unpackhi_pd, d, ab_low, cd_low);
    row[2] = ORR_UNPACK(unpacklo_pd, d, ab_high, cd_high);
    row[3] = ORR_UNPACK(unpackhi_pd, d, ab_high, cd_high);
}
#endif

// row[f] = rows[at[i] * features + f] for lane i, for rows of 1 float or an even number of them (a constant)
FN void real_gather_row(const float *rows, const uint32_t *at, int features, real *row)
{
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    if (features >= 2) {
        for (int f = 0; f + 4 <= features; f += 4) {
            real_gather_quads(rows + f, at, (uint32_t)features, row + f);
        }
        if (features % 4) {
            real_gather_pairs(rows + features - 2, at, (uint32_t)features, row + features - 2);
        }
        return;
    }
#endif
    sint index = sint_load((const int32_t *)at) * features;
    for (int f = 0; f < features; f++) {
        row[f] = real_gather(rows + f, index);
    }
}

// row[k] = points[at[i] * 3 + k] for lane i and k = 0 .. 2; reads one float beyond a point
FN void real_gather_point(const float *points, const uint32_t *at, real *row)
{
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    real quad[4];
    real_gather_quads(points, at, 3, quad);
    row[0] = quad[0], row[1] = quad[1], row[2] = quad[2];
#else
    sint index = sint_load((const int32_t *)at) * 3;
    for (int k = 0; k < 3; k++) {
        row[k] = real_gather(points + k, index);
    }
#endif
}

// 32 points, and per lane the one whose number is in the `byte`-th byte of a number, modulo 32. With AVX-512
// a coordinate of all of them is two registers; else whole points are loaded and transposed, which takes less
// time than three gathers.
#if ORR_LANES_AVX512
typedef struct point_table {
    float axis[3][32];
} point_table;

FN void set_point_32(point_table *t, int i, const float p[3])
{
    for (int axis = 0; axis < 3; axis++) {
        t->axis[axis][i] = p[axis];
    }
}

FN void look_up_points_32(const point_table *t, const int32_t *of, int byte, real point[4])
{
    __m512i index = (__m512i)(sint_load(of) >> 8 * byte);
    for (int axis = 0; axis < 3; axis++) {
        __m512 low = _mm512_loadu_ps(t->axis[axis]), high = _mm512_loadu_ps(t->axis[axis] + 16);
        point[axis] = (real)_mm512_permutex2var_ps(low, index, high);
    }
}
#else
typedef struct point_table {
    float at[32][4];
} point_table;

FN void set_point_32(point_table *t, int i, const float p[3])
{
    const float at[4] = {p[0], p[1], p[2], 0.0f};
    memcpy(t->at[i], at, sizeof at);
}

FN void look_up_points_32(const point_table *t, const int32_t *of, int byte, real point[4])
{
    uint32_t at[ORR_LANES];
    for (int i = 0; i < ORR_LANES; i++) {
        at[i] = (uint32_t)of[i] >> 8 * byte & 31u;
    }
    real_gather_row(t->at[0], at, 4, point);
}
#endif

FN float real_sum(real a)
{
    float sum[ORR_LANES];
    real_store(sum, a);
    // a fixed tree, the same order on every compiler
    for (int half = ORR_LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) {
            sum[i] += sum[i + half];
        }
    }
    return sum[0];
}

// The largest lane, none of which is NaN, in all lanes.
FN real real_spread_most(real a)
{
#if ORR_LANES_AVX512
    __m512 m = _mm512_max_ps((__m512)a, _mm512_shuffle_f32x4((__m512)a, (__m512)a, 0x4e));
    m = _mm512_max_ps(m, _mm512_shuffle_f32x4(m, m, 0xb1));
    m = _mm512_max_ps(m, _mm512_permute_ps(m, 0x4e));
    return (real)_mm512_max_ps(m, _mm512_permute_ps(m, 0xb1));
#elif ORR_LANES_AVX2
    __m256 m = _mm256_max_ps((__m256)a, _mm256_permute2f128_ps((__m256)a, (__m256)a, 1));
    m = _mm256_max_ps(m, _mm256_permute_ps(m, 0x4e));
    return (real)_mm256_max_ps(m, _mm256_permute_ps(m, 0xb1));
#else
    float most = a[0];
    for (int i = 1; i < ORR_LANES; i++) {
        most = a[i] > most ? a[i] : most;
    }
    return R(most);
#endif
}

// The largest lane, none of which is NaN.
FN float real_most(real a)
{
    return real_spread_most(a)[0];
}

// The first of the lanes with the largest number; where one is NaN any lane.
FN int real_first_most(real a)
{
    real most = real_spread_most(a);
#if ORR_LANES_AVX512
    uint32_t bits = _mm512_cmp_ps_mask((__m512)a, (__m512)most, _CMP_GE_OQ); // a mask takes more steps
#else
    uint32_t bits = mask_bits(a >= most);
#endif
    return __builtin_ctz(bits | 1u << (ORR_LANES - 1));
}

// The sum in double, from lane 0 to the last.
FN double real_sum_double(real a)
{
    float lanes[ORR_LANES];
    double sum = 0.0;
    real_store(lanes, a);
    for (int i = 0; i < ORR_LANES; i++) {
        sum += (double)lanes[i];
    }
    return sum;
}

// ---- eight lanes at most, for short lists ----

#if ORR_LANES_AVX512
typedef float few_real __attribute__((vector_size(32)));
typedef int32_t few_int __attribute__((vector_size(32)));
enum { FEW_LANES = 8 };
#else
typedef real few_real;
typedef sint few_int;
enum { FEW_LANES = ORR_LANES };
#endif

FN few_real few_load(const float *p)
{
    typedef float loose __attribute__((vector_size(4 * FEW_LANES), aligned(4)));
    return (few_real) * (const loose *)p;
}

FN few_real few_splat(const float *p)
{
    return *p - (few_real){0};
}

FN few_real few_fma(few_real a, few_real b, few_real c)
{
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    return (few_real)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return fma_(a, b, c);
#endif
}

// The first of the lanes with the largest number; where one is NaN any lane.
FN int few_first_most(few_real a)
{
#if ORR_LANES_AVX512
    __m256 m = _mm256_max_ps((__m256)a, _mm256_permute2f128_ps((__m256)a, (__m256)a, 1));
    m = _mm256_max_ps(m, _mm256_permute_ps(m, 0x4e));
    m = _mm256_max_ps(m, _mm256_permute_ps(m, 0xb1));
    return __builtin_ctz(_mm256_cmp_ps_mask((__m256)a, m, _CMP_GE_OQ) | 1u << (FEW_LANES - 1));
#else
    return real_first_most(a);
#endif
}

// ---- half of the lanes in double ----

enum { WIDE_LANES = ORR_LANES / 2 };

typedef double wide_real __attribute__((vector_size(4 * ORR_LANES)));
typedef int64_t wide_mask __attribute__((vector_size(4 * ORR_LANES)));

// the number in all lanes (see R)
#define W(x) ((double)(x) - (wide_real){0})

// From WIDE_LANES adjacent numbers.
FN wide_real wide_load(const float *p)
{
    typedef float half __attribute__((vector_size(2 * ORR_LANES), aligned(4)));
    return __builtin_convertvector(*(const half *)p, wide_real);
}

FN wide_real wide_load_double(const double *p)
{
    typedef double loose __attribute__((vector_size(4 * ORR_LANES), aligned(8)));
    return (wide_real) * (const loose *)p;
}

// The lower or the upper half of the lanes.
FN wide_real wide_of(real a, int upper)
{
    float lanes[ORR_LANES];
    real_store(lanes, a);
    return wide_load(lanes + upper * WIDE_LANES);
}

FN wide_real wide_select(wide_mask m, wide_real a, wide_real b) // m ? a : b
{
    return (wide_real)((m & (wide_mask)a) | (~m & (wide_mask)b));
}

FN wide_real wide_sqrt(wide_real a)
{
#if ORR_LANES_AVX512
    return (wide_real)_mm512_sqrt_pd((__m512d)a);
#elif ORR_LANES_AVX2
    return (wide_real)_mm256_sqrt_pd((__m256d)a);
#else
    for (int i = 0; i < WIDE_LANES; i++) {
        a[i] = __builtin_sqrt(a[i]);
    }
    return a;
#endif
}

// one bit per lane, lane 0 lowest
FN uint32_t wide_bits(wide_mask m)
{
#if ORR_LANES_AVX512
    return (uint32_t)_mm512_movepi64_mask((__m512i)m);
#elif ORR_LANES_AVX2
    return (uint32_t)_mm256_movemask_pd((__m256d)m);
#else
    uint32_t bits = 0;
    for (int i = 0; i < WIDE_LANES; i++) {
        bits |= (uint32_t)(m[i] & 1) << i;
    }
    return bits;
#endif
}

// The lanes of a bit each.
FN wide_mask wide_lanes(uint32_t bits)
{
    static const int64_t bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    wide_mask each;
    memcpy(&each, bit, sizeof each);
    return ((int64_t)bits & each) != 0;
}

// The largest lane, none of which is NaN, in all lanes.
FN wide_real wide_spread_most(wide_real a)
{
#if ORR_LANES_AVX512
    __m512d m = _mm512_max_pd((__m512d)a, _mm512_shuffle_f64x2((__m512d)a, (__m512d)a, 0x4e));
    m = _mm512_max_pd(m, _mm512_shuffle_f64x2(m, m, 0xb1));
    return (wide_real)_mm512_max_pd(m, _mm512_permute_pd(m, 0x55));
#elif ORR_LANES_AVX2
    __m256d m = _mm256_max_pd((__m256d)a, _mm256_permute2f128_pd((__m256d)a, (__m256d)a, 1));
    return (wide_real)_mm256_max_pd(m, _mm256_permute_pd(m, 0x5));
#else
    double most = a[0];
    for (int i = 1; i < WIDE_LANES; i++) {
        most = a[i] > most ? a[i] : most;
    }
    return W(most);
#endif
}
