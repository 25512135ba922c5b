// Binary data that is read from its beginning to its end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Copies the next `size` bytes, which are little endian as this machine. False: fewer are left, and nothing
// changes.
static inline bool orr_take_bytes(const uint8_t **at, const uint8_t *end, void *to, size_t size)
{
    if ((size_t)(end - *at) < size) {
        return false;
    }
    memcpy(to, *at, size);
    *at += size;
    return true;
}
