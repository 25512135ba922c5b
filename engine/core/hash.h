// A hash of bytes, to see whether something has changed (FNV-1a, Fowler, Noll and Vo 1991).
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ORR_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t orr_hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}
