#define _GNU_SOURCE // dladdr
#include "tests/support/failing_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Of the thread that runs the test alone.
static _Thread_local int fail_at = -1, counted, balance;

void memory_fail_at(int number)
{
    fail_at = number;
    counted = 0;
    balance = 0;
}

int memory_count(void)
{
    return counted;
}

int memory_balance(void)
{
    return balance;
}

// Allocations of these libraries never fail here: libwebp 1.2.4 follows a null pointer when memory is out,
// and libzip 1.7.3 leaks. Most of what they need, pictures and files, is allocated by the engine.
static bool is_exempt(const void *caller)
{
    Dl_info where;
    return dladdr(caller, &where) && where.dli_fname &&
           (strstr(where.dli_fname, "libwebp") || strstr(where.dli_fname, "libzip"));
}

static bool fails(const void *caller)
{
    return fail_at >= 0 && !is_exempt(caller) && counted++ == fail_at;
}
#define FAILS() fails(__builtin_return_address(0))

#ifdef ORR_SANITIZED
// The linker calls these for the engine's own calls (--wrap).
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return FAILS() ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    return FAILS() ? ENOMEM : __real_posix_memalign(memory, alignment, size);
}
#else
// In the place of the C library's, for all of the process.
#pragma GCC visibility push(default)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static void *counted_in(void *memory)
{
    balance += memory != NULL;
    return memory;
}

void *malloc(size_t size)
{
    return FAILS() ? NULL : counted_in(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return FAILS() ? NULL : counted_in(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    if (FAILS()) {
        return NULL;
    }
    void *moved = __libc_realloc(memory, size);
    balance += moved && !memory;
    return moved;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS() ? NULL : counted_in(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *got = FAILS() ? NULL : counted_in(__libc_memalign(alignment, size));
    *memory = got ? got : *memory;
    return got ? 0 : ENOMEM;
}

void free(void *memory)
{
    balance -= memory != NULL;
    __libc_free(memory);
}
#pragma GCC visibility pop
#endif
