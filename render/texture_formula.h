// How a texture is sampled: repeated, bilinear within a level of its mip chain, linear between two levels
// (trilinear). One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h); on Vulkan the sampler
// itself filters within a level.
#ifndef ORR_TEXTURE_FORMULA_H
#define ORR_TEXTURE_FORMULA_H

#include "engine/maths/formula.h"

// The level of a mip chain whose texels are as large as a pixel, by the longer of the two steps that a pixel
// makes in the texture. across, down: these steps [texels of level 0]; last: the chain's last level. The
// whole part is the finer of the two levels to mix, the fraction the weight of the coarser.
FN real texture_level(real2 across, real2 down, uniform_real last)
{
    real across_squared = fma_(across.y, across.y, across.x * across.x);
    real down_squared = fma_(down.y, down.y, down.x * down.x);
    real longest = min_(max_(max_(across_squared, down_squared), R(1.0)), R(1e30));
    return max_(min_(R(0.5) * log2_(longest), R(last)), R(0.0));
}

// A texture coordinate within one repeat, 0 .. 1.
FN real texture_repeat(real coordinate)
{
    coordinate = min_(max_(coordinate, R(-1e6)), R(1e6));
    return coordinate - floor_(coordinate);
}

// The four texels around a point of a level, and their weights, which sum up to 1.
STRUCT(texture_square)
{
    real left, right, top,
        bottom; // columns and rows, whole numbers; across the seam where the texture repeats
    real left_top, right_top, left_bottom, right_bottom; // weights
}
END_STRUCT(texture_square)

// uv: 0 .. 1; width, height: of the level [texels]
FN texture_square texture_around(real2 uv, real width, real height)
{
    real x = uv.x * width - R(0.5), y = uv.y * height - R(0.5);
    texture_square s;
    s.left = floor_(x);
    s.top = floor_(y);
    s.right = s.left + R(1.0);
    s.bottom = s.top + R(1.0);
    real across = x - s.left, down = y - s.top;
    s.left_top = (R(1.0) - across) * (R(1.0) - down);
    s.right_top = across * (R(1.0) - down);
    s.left_bottom = (R(1.0) - across) * down;
    s.right_bottom = across * down;
    s.left = sel(s.left < R(0.0), width - R(1.0), s.left);
    s.top = sel(s.top < R(0.0), height - R(1.0), s.top);
    s.right = sel(s.right >= width, R(0.0), s.right);
    s.bottom = sel(s.bottom >= height, R(0.0), s.bottom);
    return s;
}

// texel: linear colour, straight alpha
FN real4 texture_add(real4 sum, real weight, real4 texel)
{
    return make_real4(fma_(weight, texel.x, sum.x), fma_(weight, texel.y, sum.y),
                      fma_(weight, texel.z, sum.z), fma_(weight, texel.w, sum.w));
}

// Between two levels: 0 is all `fine`, 1 all `coarse`.
FN real4 texture_mix(real4 fine, real4 coarse, real part)
{
    return texture_add(
        fine, part, make_real4(coarse.x - fine.x, coarse.y - fine.y, coarse.z - fine.z, coarse.w - fine.w));
}

#endif
