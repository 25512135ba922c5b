// A stable radix sort of 32-bit keys with 32-bit values, over jobs.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/memory.h"

// Sorts in place, ascending; equal keys keep their order. Least significant digit first, with as many bits
// per pass as divide the span of the keys evenly into passes of at most 11 bits: keys that span 24 bits take
// three passes of 8. Scratch comes from the arena. Same result for any number of threads.
orr_result orr_radix_sort(orr_jobs *jobs, orr_arena *arena, uint32_t *keys, uint32_t *values, int64_t count,
                          orr_error *error);
