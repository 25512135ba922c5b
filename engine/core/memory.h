// Memory: checked, aligned allocation, and the arena a frame draws its scratch from.
#pragma once

#include "engine/core/result.h"

#include <stddef.h>

enum { ORR_ALIGNMENT = 64 }; // one cache line, one AVX-512 register

// count x size bytes, aligned to 64, contents undefined; NULL when the product overflows or memory is out.
// A request of 0 bytes gives a valid pointer.
void *orr_alloc(size_t count, size_t size);
void *orr_alloc_zero(size_t count, size_t size);
void orr_free(void *memory); // NULL is allowed

// Allocates into *pointer or fails with ORR_ERROR_MEMORY, naming what it was for.
#define ORR_ALLOC(pointer, count, what, error)                                                               \
    ORR_TRY(((pointer) = orr_alloc((size_t)(count), sizeof *(pointer))) != NULL                              \
                ? ORR_OK                                                                                     \
                : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu bytes for %s",                 \
                           (size_t)(count) * sizeof *(pointer), what))

// An array of at least `wanted` elements: `array` itself, or a copy at least twice as large that replaces it,
// with zeros behind the old elements. NULL when memory is out; then `array` is unchanged.
void *orr_grown(void *array, int *capacity, int wanted, size_t size);

// The same for a list that is a pointer and an int; fails with ORR_ERROR_MEMORY, naming what it was for.
#define ORR_GROW(array, capacity, wanted, what, error)                                                       \
    do {                                                                                                     \
        void *orr_room = orr_grown((array), &(capacity), (wanted), sizeof *(array));                         \
        if (!orr_room) {                                                                                     \
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);                       \
        }                                                                                                    \
        (array) = orr_room;                                                                                  \
    } while (0)

// Scratch memory of one frame: taken piece by piece, given back all at once by a reset. When a frame needs
// more than there is, the rest comes from the heap and the next reset grows the block to the highest need
// seen, so that after warm-up a frame allocates nothing. Not for use from several threads at once.
typedef struct orr_arena {
    char *block;
    size_t capacity;
    size_t used;
    size_t peak;                   // most bytes any frame took
    size_t growths;                // times memory came from the heap, for the test that warm-up ends
    struct orr_arena_extra *extra; // pieces that did not fit, newest first
} orr_arena;

// Aligned to 64, contents undefined (poisoned under AddressSanitizer until taken); NULL when memory is out.
void *orr_arena_take(orr_arena *arena, size_t count, size_t size);
void orr_arena_reset(orr_arena *arena);
void orr_arena_destroy(orr_arena *arena);
