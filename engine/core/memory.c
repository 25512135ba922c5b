#define _GNU_SOURCE // madvise
#include "engine/core/memory.h"

#include "engine/core/sanitizer.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef ORR_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define POISON(memory, size) ASAN_POISON_MEMORY_REGION(memory, size)
#define UNPOISON(memory, size) ASAN_UNPOISON_MEMORY_REGION(memory, size)
#else
#define POISON(memory, size) ((void)(memory), (void)(size))
#define UNPOISON(memory, size) ((void)(memory), (void)(size))
#endif

// From this size on memory is requested in pages of 2 MiB: first touching 236 MiB takes 40 ms instead of 120.
enum { HUGE_PAGE = 2 << 20, HUGE_SIZE = 2 * HUGE_PAGE };

// bytes rounded up to whole cache lines; 0 when that overflows
static size_t round_size(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - 2 * (size_t)ORR_ALIGNMENT) {
        return 0;
    }
    bytes = bytes ? bytes : 1;
    return (bytes + ORR_ALIGNMENT - 1) / ORR_ALIGNMENT * ORR_ALIGNMENT;
}

void *orr_alloc(size_t count, size_t size)
{
    size_t bytes = round_size(count, size);
    if (bytes < HUGE_SIZE) {
        return bytes ? aligned_alloc(ORR_ALIGNMENT, bytes) : NULL;
    }
    void *memory = NULL;
    if (posix_memalign(&memory, HUGE_PAGE, bytes) != 0) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes, MADV_HUGEPAGE); // a hint: without it pages are small
#endif
    return memory;
}

void *orr_alloc_zero(size_t count, size_t size)
{
    void *memory = orr_alloc(count, size);
    if (memory) {
        memset(memory, 0, count * size);
    }
    return memory;
}

void orr_free(void *memory)
{
    free(memory);
}

void *orr_grown(void *array, int *capacity, int wanted, size_t size)
{
    enum { LEAST = 8 };
    if (array && wanted <= *capacity) {
        return array;
    }
    int twice = *capacity <= INT_MAX / 2 ? 2 * *capacity : INT_MAX;
    int next = twice > wanted ? twice : wanted;
    next = next > LEAST ? next : LEAST;
    char *grown = orr_alloc_zero((size_t)next, size);
    if (!grown) {
        return NULL;
    }
    if (array) {
        memcpy(grown, array, (size_t)*capacity * size);
    }
    orr_free(array);
    *capacity = next;
    return grown;
}

struct orr_arena_extra {
    struct orr_arena_extra *next;
    void *memory;
};

static void *take_extra(orr_arena *arena, size_t bytes)
{
    struct orr_arena_extra *extra = malloc(sizeof *extra);
    void *memory = aligned_alloc(ORR_ALIGNMENT, bytes);
    if (!extra || !memory) {
        free(extra);
        free(memory);
        return NULL;
    }
    *extra = (struct orr_arena_extra){arena->extra, memory};
    arena->extra = extra;
    arena->growths++;
    return memory;
}

void *orr_arena_take(orr_arena *arena, size_t count, size_t size)
{
    size_t bytes = round_size(count, size);
    if (!bytes) {
        return NULL;
    }
    // a cache line of poison between pieces lets AddressSanitizer see an overrun
    size_t start = arena->used, end;
    if (__builtin_add_overflow(start, bytes + ORR_ALIGNMENT, &end)) {
        return NULL;
    }
    char *memory = end > arena->capacity ? take_extra(arena, bytes) : arena->block + start;
    if (!memory) {
        return NULL; // a piece that was not taken must not count in the next block's size
    }
    if (end <= arena->capacity) {
        UNPOISON(memory, count * size);
    }
    arena->used = end;
    arena->peak = end > arena->peak ? end : arena->peak;
    return memory;
}

static void free_extras(orr_arena *arena)
{
    while (arena->extra) {
        struct orr_arena_extra *next = arena->extra->next;
        free(arena->extra->memory);
        free(arena->extra);
        arena->extra = next;
    }
}

void orr_arena_reset(orr_arena *arena)
{
    bool grow = arena->extra != NULL;
    free_extras(arena);
    if (grow) {
        // an eighth more than the peak, so that a slowly growing need does not allocate every frame
        size_t capacity = round_size(arena->peak + arena->peak / 8, 1);
        char *block = capacity ? aligned_alloc(ORR_ALIGNMENT, capacity) : NULL;
        if (block) {
            UNPOISON(arena->block, arena->capacity);
            free(arena->block);
            arena->block = block;
            arena->capacity = capacity;
        }
    }
    arena->used = 0;
    POISON(arena->block, arena->capacity);
}

void orr_arena_destroy(orr_arena *arena)
{
    free_extras(arena);
    UNPOISON(arena->block, arena->capacity);
    free(arena->block);
    *arena = (orr_arena){0};
}
