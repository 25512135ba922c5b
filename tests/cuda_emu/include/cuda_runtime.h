// Stands in for CUDA's header of that name where a .cu file is compiled by g++: the words of the language,
// the vector types, and the functions of a thread.
#pragma once

#if !defined(__cplusplus)
#include <cuda_runtime_api.h>
#else

#include "../block.h"
#include "../launch.h"
#include "../memory.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_runtime_api.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static // blocks run one after the other
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))

using std::isfinite;
using std::isinf;
using std::isnan;

#define EMU_HERE_PARAMETERS const char *emu_file = __builtin_FILE(), int emu_line = __builtin_LINE()
#define EMU_HERE                                                                                             \
    emu::site                                                                                                \
    {                                                                                                        \
        emu_file, emu_line                                                                                   \
    }

// --- vector types, aligned as on the device
// -----------------------------------------------------------------------

#define EMU_VECTORS(type, name, align2, align4)                                                              \
    struct alignas(align2) name##2                                                                           \
    {                                                                                                        \
        type x, y;                                                                                           \
    };                                                                                                       \
    struct name##3                                                                                           \
    {                                                                                                        \
        type x, y, z;                                                                                        \
    };                                                                                                       \
    struct alignas(align4) name##4                                                                           \
    {                                                                                                        \
        type x, y, z, w;                                                                                     \
    };                                                                                                       \
    inline name##2 make_##name##2(type x, type y)                                                            \
    {                                                                                                        \
        return {x, y};                                                                                       \
    }                                                                                                        \
    inline name##3 make_##name##3(type x, type y, type z)                                                    \
    {                                                                                                        \
        return {x, y, z};                                                                                    \
    }                                                                                                        \
    inline name##4 make_##name##4(type x, type y, type z, type w)                                            \
    {                                                                                                        \
        return {x, y, z, w};                                                                                 \
    }
EMU_VECTORS(float, float, 8, 16)
EMU_VECTORS(int, int, 8, 16)
EMU_VECTORS(unsigned char, uchar, 2, 4)
EMU_VECTORS(unsigned short, ushort, 4, 8)
EMU_VECTORS(double, double, 16, 16)
#undef EMU_VECTORS
struct alignas(8) uint2 {
    unsigned int x, y;
};
struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
inline uint2 make_uint2(unsigned int x, unsigned int y)
{
    return {x, y};
}
inline uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z)
{
    return {x, y, z};
}
inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w)
{
    return {x, y, z, w};
}

// --- arithmetic
// -----------------------------------------------------------------------------------------------------

template <typename To, typename From> inline To emu_bits(From value)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline int __float_as_int(float a)
{
    return emu_bits<int>(a);
}
inline unsigned int __float_as_uint(float a)
{
    return emu_bits<unsigned int>(a);
}
inline float __int_as_float(int a)
{
    return emu_bits<float>(a);
}
inline float __uint_as_float(unsigned int a)
{
    return emu_bits<float>(a);
}
inline int __float2int_rn(float a)
{
    return (int)nearbyintf(a);
}
inline int __float2int_rd(float a)
{
    return (int)floorf(a);
}
inline float __expf(float a)
{
    return expf(a);
}
inline float __logf(float a)
{
    return logf(a);
}
inline float __log2f(float a)
{
    return log2f(a);
}
inline float __exp10f(float a)
{
    return powf(10.0f, a);
}
inline float __powf(float a, float b)
{
    return powf(a, b);
}
inline float __sinf(float a)
{
    return sinf(a);
}
inline float __cosf(float a)
{
    return cosf(a);
}
inline void __sincosf(float a, float *s, float *c)
{
    *s = sinf(a), *c = cosf(a);
}
inline float __fdividef(float a, float b)
{
    return a / b;
}
inline float __frcp_rn(float a)
{
    return 1.0f / a;
}
inline float __fsqrt_rn(float a)
{
    return sqrtf(a);
}
inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}
inline float __saturatef(float a)
{
    return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f;
}
inline float rsqrtf(float a)
{
    return 1.0f / sqrtf(a);
}
inline int __popc(unsigned int a)
{
    return __builtin_popcount(a);
}
inline int __popcll(unsigned long long a)
{
    return __builtin_popcountll(a);
}
inline int __clz(int a)
{
    return a ? __builtin_clz((unsigned int)a) : 32;
}
inline int __clzll(long long a)
{
    return a ? __builtin_clzll((unsigned long long)a) : 64;
}
inline int __ffs(int a)
{
    return __builtin_ffs(a);
}
inline unsigned int __umulhi(unsigned int a, unsigned int b)
{
    return (unsigned int)((unsigned long long)a * b >> 32);
}
inline unsigned int __brev(unsigned int a)
{
    unsigned int b = 0;
    for (int i = 0; i < 32; i++) {
        b |= (a >> i & 1u) << (31 - i);
    }
    return b;
}
#define EMU_MIN_MAX(type)                                                                                    \
    inline type min(type a, type b)                                                                          \
    {                                                                                                        \
        return b < a ? b : a;                                                                                \
    }                                                                                                        \
    inline type max(type a, type b)                                                                          \
    {                                                                                                        \
        return a < b ? b : a;                                                                                \
    }
EMU_MIN_MAX(int)
EMU_MIN_MAX(unsigned int)
EMU_MIN_MAX(long)
EMU_MIN_MAX(unsigned long)
EMU_MIN_MAX(long long)
EMU_MIN_MAX(unsigned long long)
#undef EMU_MIN_MAX
inline float min(float a, float b)
{
    return fminf(a, b);
}
inline float max(float a, float b)
{
    return fmaxf(a, b);
}
inline double min(double a, double b)
{
    return fmin(a, b);
}
inline double max(double a, double b)
{
    return fmax(a, b);
}

template <typename T> inline T __ldg(const T *at)
{
    return *at;
}
template <typename T> inline T __ldcg(const T *at)
{
    return *at;
}
template <typename T> inline T __ldcs(const T *at)
{
    return *at;
}
template <typename T> inline void __stcs(T *at, T value)
{
    *at = value;
}
template <typename T> inline void __stcg(T *at, T value)
{
    *at = value;
}

// --- waiting for each other
// -----------------------------------------------------------------------------------------

inline void __threadfence()
{
}
inline void __threadfence_block()
{
}
inline void __threadfence_system()
{
}
inline void __nanosleep(unsigned int)
{
    emu::give_way();
}

inline void __syncthreads(EMU_HERE_PARAMETERS)
{
    emu::meet_block([](const emu::party *, unsigned int) {}, nullptr, nullptr, EMU_HERE);
}
inline void __syncwarp(unsigned int mask = 0xffffffffu, EMU_HERE_PARAMETERS)
{
    emu::meet_warp(
        mask, [](const emu::party *, unsigned int) {}, nullptr, nullptr, EMU_HERE);
}

// every thread says yes or no, and hears how many said yes, of how many
struct emu_votes {
    unsigned int yes, of, ballot;
};
inline void emu_count_votes(const emu::party *parties, unsigned int count)
{
    emu_votes votes = {0, count, 0};
    for (unsigned int i = 0; i < count; i++) {
        unsigned int says = *(const unsigned int *)parties[i].in;
        votes.yes += says;
        votes.ballot |= parties[i].lane < 32 ? says << parties[i].lane : 0;
    }
    for (unsigned int i = 0; i < count; i++) {
        *(emu_votes *)parties[i].out = votes;
    }
}
inline emu_votes emu_vote_block(int predicate, emu::site at)
{
    unsigned int says = predicate != 0;
    emu_votes votes;
    emu::meet_block(emu_count_votes, &says, &votes, at);
    return votes;
}
inline emu_votes emu_vote_warp(unsigned int mask, int predicate, emu::site at)
{
    unsigned int says = predicate != 0;
    emu_votes votes;
    emu::meet_warp(mask, emu_count_votes, &says, &votes, at);
    return votes;
}
inline int __syncthreads_count(int predicate, EMU_HERE_PARAMETERS)
{
    return (int)emu_vote_block(predicate, EMU_HERE).yes;
}
inline int __syncthreads_and(int predicate, EMU_HERE_PARAMETERS)
{
    emu_votes votes = emu_vote_block(predicate, EMU_HERE);
    return votes.yes == votes.of;
}
inline int __syncthreads_or(int predicate, EMU_HERE_PARAMETERS)
{
    return emu_vote_block(predicate, EMU_HERE).yes > 0;
}
inline unsigned int __ballot_sync(unsigned int mask, int predicate, EMU_HERE_PARAMETERS)
{
    return emu_vote_warp(mask, predicate, EMU_HERE).ballot;
}
inline int __any_sync(unsigned int mask, int predicate, EMU_HERE_PARAMETERS)
{
    return emu_vote_warp(mask, predicate, EMU_HERE).yes > 0;
}
inline int __all_sync(unsigned int mask, int predicate, EMU_HERE_PARAMETERS)
{
    emu_votes votes = emu_vote_warp(mask, predicate, EMU_HERE);
    return votes.yes == votes.of;
}

// a value, and the lane from which the thread wants another's
template <typename T> struct emu_shuffled {
    T value;
    unsigned int from;
};
template <typename T> inline void emu_hand_over(const emu::party *parties, unsigned int count)
{
    for (unsigned int i = 0; i < count; i++) {
        unsigned int from = ((const emu_shuffled<T> *)parties[i].in)->from, at = 0;
        while (at < count && parties[at].lane != from) {
            at++;
        }
        if (at == count) {
            emu::fail("lane %u shuffles from lane %u, which is not in the mask", parties[i].lane, from);
        }
        *(T *)parties[i].out = ((const emu_shuffled<T> *)parties[at].in)->value;
    }
}
template <typename T> inline T emu_shuffle(unsigned int mask, T value, unsigned int from, emu::site at)
{
    emu_shuffled<T> in = {value, from};
    T out;
    emu::meet_warp(mask, emu_hand_over<T>, &in, &out, at);
    return out;
}
template <typename T>
inline T __shfl_sync(unsigned int mask, T value, int from, int width = 32, EMU_HERE_PARAMETERS)
{
    unsigned int lane = emu::lane(), group = lane & ~(unsigned int)(width - 1);
    return emu_shuffle(mask, value, group | ((unsigned int)from & (unsigned int)(width - 1)), EMU_HERE);
}
template <typename T>
inline T __shfl_up_sync(unsigned int mask, T value, unsigned int by, int width = 32, EMU_HERE_PARAMETERS)
{
    unsigned int lane = emu::lane(), within = lane & (unsigned int)(width - 1);
    return emu_shuffle(mask, value, within >= by ? lane - by : lane, EMU_HERE);
}
template <typename T>
inline T __shfl_down_sync(unsigned int mask, T value, unsigned int by, int width = 32, EMU_HERE_PARAMETERS)
{
    unsigned int lane = emu::lane(), within = lane & (unsigned int)(width - 1);
    return emu_shuffle(mask, value, within + by < (unsigned int)width ? lane + by : lane, EMU_HERE);
}
template <typename T>
inline T __shfl_xor_sync(unsigned int mask, T value, int with, int width = 32, EMU_HERE_PARAMETERS)
{
    unsigned int lane = emu::lane(), other = lane ^ (unsigned int)with;
    bool inside = other / (unsigned int)width <= lane / (unsigned int)width;
    return emu_shuffle(mask, value, inside ? other : lane, EMU_HERE);
}

template <typename T> inline void emu_find_equals(const emu::party *parties, unsigned int count)
{
    for (unsigned int i = 0; i < count; i++) {
        unsigned int equals = 0;
        for (unsigned int j = 0; j < count; j++) {
            bool same = *(const T *)parties[i].in == *(const T *)parties[j].in;
            equals |= (unsigned int)same << parties[j].lane;
        }
        *(unsigned int *)parties[i].out = equals;
    }
}
template <typename T> inline unsigned int __match_any_sync(unsigned int mask, T value, EMU_HERE_PARAMETERS)
{
    unsigned int equals;
    emu::meet_warp(mask, emu_find_equals<T>, &value, &equals, EMU_HERE);
    return equals;
}

#define EMU_REDUCE(name, type, expression)                                                                   \
    inline void emu_reduce_##name##_##type(const emu::party *parties, unsigned int count)                    \
    {                                                                                                        \
        type a = *(const type *)parties[0].in;                                                               \
        for (unsigned int i = 1; i < count; i++) {                                                           \
            type b = *(const type *)parties[i].in;                                                           \
            a = expression;                                                                                  \
        }                                                                                                    \
        for (unsigned int i = 0; i < count; i++) {                                                           \
            *(type *)parties[i].out = a;                                                                     \
        }                                                                                                    \
    }                                                                                                        \
    inline type __reduce_##name##_sync(unsigned int mask, type value, EMU_HERE_PARAMETERS)                   \
    {                                                                                                        \
        type result;                                                                                         \
        emu::meet_warp(mask, emu_reduce_##name##_##type, &value, &result, EMU_HERE);                         \
        return result;                                                                                       \
    }
EMU_REDUCE(add, unsigned, a + b)
EMU_REDUCE(add, int, a + b)
EMU_REDUCE(min, unsigned, b < a ? b : a)
EMU_REDUCE(min, int, b < a ? b : a)
EMU_REDUCE(max, unsigned, a < b ? b : a)
EMU_REDUCE(max, int, a < b ? b : a)
EMU_REDUCE(and, unsigned, a &b)
EMU_REDUCE(or, unsigned, a | b)
EMU_REDUCE(xor, unsigned, a ^ b)
#undef EMU_REDUCE

// --- atomics: a thread keeps its turn, so that plain arithmetic is one
// ---------------------------------------------------

#define EMU_ATOMIC(name, type, expression)                                                                   \
    inline type name(type *at, type b)                                                                       \
    {                                                                                                        \
        type a = *at;                                                                                        \
        *at = expression;                                                                                    \
        return a;                                                                                            \
    }
#define EMU_ATOMICS(type)                                                                                    \
    EMU_ATOMIC(atomicAdd, type, a + b)                                                                       \
    EMU_ATOMIC(atomicMin, type, b < a ? b : a)                                                               \
    EMU_ATOMIC(atomicMax, type, a < b ? b : a)                                                               \
    EMU_ATOMIC(atomicExch, type, b)                                                                          \
    EMU_ATOMIC(atomicAnd, type, a &b)                                                                        \
    EMU_ATOMIC(atomicOr, type, a | b)                                                                        \
    EMU_ATOMIC(atomicXor, type, a ^ b)                                                                       \
    inline type atomicCAS(type *at, type expected, type b)                                                   \
    {                                                                                                        \
        type a = *at;                                                                                        \
        *at = a == expected ? b : a;                                                                         \
        return a;                                                                                            \
    }
EMU_ATOMICS(int)
EMU_ATOMICS(unsigned int)
EMU_ATOMICS(unsigned long long)
EMU_ATOMIC(atomicSub, int, a - b)
EMU_ATOMIC(atomicSub, unsigned int, a - b)
EMU_ATOMIC(atomicExch, float, b)
#undef EMU_ATOMICS
#undef EMU_ATOMIC
inline float atomicAdd(float *at, float b)
{
    float a = *at;
    emu::note_atomic(at, sizeof a);
    *at = a + b;
    return a;
}
inline double atomicAdd(double *at, double b)
{
    double a = *at;
    emu::note_atomic(at, sizeof a);
    *at = a + b;
    return a;
}
inline float2 atomicAdd(float2 *at, float2 b) // sm_90
{
    float2 a = *at;
    emu::note_atomic(at, sizeof a);
    *at = {a.x + b.x, a.y + b.y};
    return a;
}
inline float4 atomicAdd(float4 *at, float4 b) // sm_90
{
    float4 a = *at;
    emu::note_atomic(at, sizeof a);
    *at = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
    return a;
}

#endif
