// Counter-based random numbers: a value is a pure function of (seed, stream, counter), so any thread can draw
// any number of any stream in any order and get the same bits. Philox 2x32-10 (Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include "engine/maths/inline.h"

#include <stdint.h>

typedef struct orr_rng {
    uint32_t seed;
    uint32_t stream;
    uint64_t counter; // draws taken so far
} orr_rng;

ORR_INLINE uint64_t orr_random_bits(uint32_t seed, uint32_t stream, uint32_t counter)
{
    uint32_t left = counter, right = stream, key = seed;
    for (int round = 0; round < 10; round++) {
        uint64_t product = (uint64_t)left * 0xD256D193u;
        left = (uint32_t)(product >> 32) ^ key ^ right;
        right = (uint32_t)product;
        key += 0x9E3779B9u;
    }
    return (uint64_t)right << 32 | left;
}

static inline uint32_t orr_rng_next(orr_rng *rng)
{
    // the high half of a long stream's counter goes into the stream's number
    uint64_t counter = rng->counter++;
    uint64_t bits = orr_random_bits(rng->seed, rng->stream + (uint32_t)(counter >> 33) * 0x85EBCA6Bu,
                                    (uint32_t)(counter >> 1));
    return (uint32_t)(counter & 1 ? bits >> 32 : bits);
}

// uniform in [0, 1), 24 bits
static inline float orr_rng_uniform(orr_rng *rng)
{
    return (float)(orr_rng_next(rng) >> 8) * 0x1p-24f;
}

// uniform in [low, high)
static inline float orr_rng_range(orr_rng *rng, float low, float high)
{
    return low + (high - low) * orr_rng_uniform(rng);
}
