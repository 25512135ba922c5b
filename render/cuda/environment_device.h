// Lookups in the maps of environments, for kernels.
#pragma once

#include "engine/device/cuda_kernel.h"
#include "render/formula_inputs.h"

static __device__ real3 environment_texel(const uint32_t *texels, int32_t index)
{
    uint32_t t = __ldg(texels + index);
    return environment_decode((float)(t & 511u), (float)(t >> 9 & 511u), (float)(t >> 18 & 511u),
                              (float)(t >> 27));
}

static __device__ real3 environment_bilinear(const uint32_t *texels, environment_square s)
{
    int32_t first = (int32_t)s.first, below = first + (int32_t)s.stride;
    real3 top =
        environment_mix(environment_texel(texels, first), environment_texel(texels, first + 1), s.right);
    real3 bottom =
        environment_mix(environment_texel(texels, below), environment_texel(texels, below + 1), s.right);
    return environment_mix(top, bottom, s.down);
}
