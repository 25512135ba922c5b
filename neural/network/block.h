// Blocks: the unit in which networks are evaluated. A block is ORR_SAMPLES samples side by side, member by
// member: value k of sample i is at [k * ORR_SAMPLES + i]. Everything a block needs stays in L1 and L2 from
// encoding to output, so that features and activations never go through memory.
#pragma once

#include "engine/core/isa.h"
#include "engine/maths/inline.h"

enum { ORR_SAMPLES = 64 }; // 4 AVX-512 registers per member; 64 members are 16 KiB, a third of an L1

// Samples beyond a block's count are finite numbers of the caller's; kernels compute them and the results are
// not read.

// The index of a sample's first value in blocks of so many members; its other values follow at every
// ORR_SAMPLES.
ORR_INLINE int64_t orr_block_index(int64_t sample, int members)
{
    return sample / ORR_SAMPLES * members * ORR_SAMPLES + sample % ORR_SAMPLES;
}
