// Calls of the C library that the engine makes, of which one fails: for programs that link with
// --wrap (tests/engine/CMakeLists.txt), by which the linker puts failing_calls.c in their place. What
// other libraries call inside themselves is not counted.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum failing_kind {
    FAILING_ALLOCATIONS = 0, // of memory
    FAILING_FILES,           // opening, reading, writing, syncing, closing, renaming, asking for the status
    FAILING_THREADS,         // starting one
    FAILING_KINDS
} failing_kind;

// From now on the n-th call of a kind fails, counted from 1, and with `later` all after it as well.
void failing_begin(failing_kind kind, int64_t n, bool later);
// No call fails any more; whether one has.
bool failing_end(void);
