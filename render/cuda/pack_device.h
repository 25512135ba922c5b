// Where a splat's numbers stand in arrays of whole blocks (ORR_PACK_BLOCK), for kernels.
#pragma once

#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/splat/splat_cloud.h"
}

// The first of a splat's `members` numbers; the next is ORR_PACK_BLOCK behind it. In 64 bits: harmonics of
// the third degree pass 2^32 numbers at 90 million splats, which have room on a GPU of 80 GB.
static __device__ __forceinline__ size_t member_at(uint32_t splat, uint32_t members)
{
    return (size_t)(splat / ORR_PACK_BLOCK) * members * ORR_PACK_BLOCK + splat % ORR_PACK_BLOCK;
}
