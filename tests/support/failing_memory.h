// Allocations that fail on demand, for a test program that is linked with support/failing_memory.c
// (tests/render/CMakeLists.txt): those of the engine, and without sanitizers, which bring an allocator of
// their own, also those of the libraries that it calls.
#pragma once

#include <stdbool.h>

// From here on the allocation with this number, from 0, returns NULL once; -1: none does. Starts to count.
void memory_fail_at(int number);
// Allocations since then that could have failed; 0 while none shall.
int memory_count(void);
// Allocations since then less what was freed; 0 with sanitizers, which report leaks themselves.
int memory_balance(void);
