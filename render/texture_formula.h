// How a texture is sampled: repeated, clamped or mirrored, bilinear or nearest within a level of its mip
// chain, linear between two levels (trilinear), and where a pixel is long and narrow in the texture, at
// several places along it (anisotropic). One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h);
// on Vulkan the sampler itself wraps, and filters within a level.
#ifndef ORR_TEXTURE_FORMULA_H
#define ORR_TEXTURE_FORMULA_H

#include "engine/maths/formula.h"

#define TEXTURE_SIDES 3   // places at most on each side of the pixel's centre
#define TEXTURE_ROUND 1.5 // a pixel that is longer by no more than this is sampled at one place

// Where a pixel is sampled: at its centre, and to either side of it along its longer axis.
STRUCT(texture_footprint)
{
    // of the mip chain: the whole part is the finer of the two levels to mix, the fraction the weight of the
    // coarser
    real level;
    real2 axis;  // from one place to the next [texels of level 0]
    real sides;  // how many places there are on each side; the last counts by the fraction
    real longer; // the longer axis of the pixel [texels of level 0]; 0: neither is longer than a texel
}
END_STRUCT(texture_footprint)

// The same of an ellipse of which the squares of the axes' parts, and their product, are these.
FN texture_footprint texture_cover_ellipse(real xx, real yy, real xy, uniform_real last)
{
    real half_sum = R(0.5) * (xx + yy), half_difference = R(0.5) * (xx - yy);
    real root = sqrt_(fma_(half_difference, half_difference, xy * xy));
    real longer = sqrt_(half_sum + root), shorter = sqrt_(max_(half_sum - root, R(0.0)));
    // the longer axis, of any length
    mask wide = half_difference >= R(0.0);
    real x = sel(wide, half_difference + root, xy), y = sel(wide, xy, root - half_difference);
    real length = sqrt_(fma_(x, x, y * y));

    real size = max_(max_(min_(longer, R(TEXTURE_ROUND) * shorter), R(1.0)),
                     longer * R(1.0 / (2 * TEXTURE_SIDES + 1)));
    real stretch = size / max_(length, R(1e-30));
    texture_footprint f;
    f.level = max_(min_(log2_(size), R(last)), R(0.0));
    f.axis = make_real2(x * stretch, y * stretch);
    f.sides = max_(R(0.5) * (longer / size - R(1.0)), R(0.0));
    f.longer = longer;
    return f;
}

// The ellipse that a round pixel covers in the texture (Heckbert 1989), as a row of round places with the
// shorter axis for their size (McCormack et al. 1999): a floor is blurred no more along than across. across,
// down: the steps that a pixel makes in the texture [texels of level 0]; last: the chain's last level.
FN texture_footprint texture_cover(real2 across, real2 down, uniform_real last)
{
    real ax = min_(max_(across.x, R(-1e8)), R(1e8)), ay = min_(max_(across.y, R(-1e8)), R(1e8));
    real dx = min_(max_(down.x, R(-1e8)), R(1e8)), dy = min_(max_(down.y, R(-1e8)), R(1e8));
    // squares of the axes, and twice the longer one's angle
    real xx = fma_(ax, ax, dx * dx), yy = fma_(ay, ay, dy * dy), xy = fma_(ax, ay, dx * dy);
    texture_footprint f;
    f.level = f.sides = f.longer = R(0.0);
    f.axis = make_real2(R(0.0), R(0.0));
    if (some_(xx + yy > R(0.99))) { // else no axis is longer than a texel, and the centre is the only place
        f = texture_cover_ellipse(xx, yy, xy, last);
    }
    return f;
}

// The weight of place k = 1, 2 .. on each side, where the centre has 1, and how far from the centre it is, in
// axes. All weights sum up to 1 + 2 sides, and all of it is continuous in the pixel's shape.
FN real texture_weight(texture_footprint f, uniform_real k)
{
    return min_(max_(f.sides - R(k - 1.0f), R(0.0)), R(1.0));
}

FN real texture_place(real weight, uniform_real k)
{
    return fma_(R(0.5), weight, R(k - 0.5f));
}

// Does the pixel cover more than a texel of the picture itself?
FN mask texture_is_small(texture_footprint f)
{
    return f.longer > R(1.0);
}

// How a texture is looked up: an orr_texture_sampler (engine/mesh/mesh_file.h).
STRUCT(texture_sampler)
{
    uniform_real wrap_u, wrap_v; // 0: the picture repeats, 1: its edge goes on, 2: it repeats mirrored
    uniform_real large, small; // 1: the nearest texel alone, of pixels up to a texel's size, and larger ones
    uniform_real nearest_mip;  // 1: the nearest level alone
}
END_STRUCT(texture_sampler)

// The level that is looked up: between two levels both are mixed.
FN real texture_level(real level, uniform_real nearest_mip)
{
    real looked_up = level;
    if (nearest_mip > 0.5f) {
        looked_up = floor_(level + R(0.5));
    }
    return looked_up;
}

// A texture coordinate within one repeat, 0 .. 1.
FN real texture_repeat(real coordinate)
{
    coordinate = min_(max_(coordinate, R(-1e6)), R(1e6));
    return coordinate - floor_(coordinate);
}

// The coordinate of a pixel's centre, from which its other places are as far away as from the given one:
// from beyond an edge that goes on they may come back into the picture.
FN real texture_centre(real coordinate, uniform_real wrap)
{
    real centre = texture_repeat(coordinate);
    if (wrap > 1.5f) {
        centre = R(2.0) * texture_repeat(R(0.5) * coordinate);
    } else if (wrap > 0.5f) {
        centre = min_(max_(coordinate, R(-1e6)), R(1e6));
    }
    return centre;
}

// A coordinate's place in the picture, 0 .. 1.
FN real texture_inside(real coordinate, uniform_real wrap)
{
    real inside = texture_repeat(coordinate);
    if (wrap > 1.5f) {
        real twice = R(2.0) * texture_repeat(R(0.5) * coordinate);
        inside = min_(twice, R(2.0) - twice);
    } else if (wrap > 0.5f) {
        inside = min_(max_(coordinate, R(0.0)), R(1.0));
    }
    return inside;
}

FN real2 texture_wrapped(real u, real v, texture_sampler how)
{
    return make_real2(texture_inside(u, how.wrap_u), texture_inside(v, how.wrap_v));
}

// The same of texture_centre's.
FN real2 texture_settled(real u, real v, texture_sampler how)
{
    real2 at = make_real2(u, v); // where it repeats they are in the picture
    if (how.wrap_u + how.wrap_v > 0.5f) {
        at = texture_wrapped(u, v, how);
    }
    return at;
}

// The four texels around a point of a level, and their weights, which sum up to 1.
STRUCT(texture_square)
{
    real left, right, top,
        bottom; // columns and rows, whole numbers; across the seam where it repeats, else of its edge
    real left_top, right_top, left_bottom, right_bottom; // weights
}
END_STRUCT(texture_square)

// A column or row, and the next one, as the picture has them.
FN real texture_first(real texel, real size, uniform_real wrap)
{
    real other = size - R(1.0); // before the first: beyond the seam
    if (wrap > 0.5f) {
        other = R(0.0);
    }
    return sel(texel < R(0.0), other, texel);
}

FN real texture_second(real texel, real size, uniform_real wrap)
{
    real other = R(0.0);
    if (wrap > 0.5f) {
        other = size - R(1.0);
    }
    return sel(texel >= size, other, texel);
}

// uv: 0 .. 1; width, height: of the level [texels]; is_small: as texture_is_small
FN texture_square texture_around(real2 uv, real width, real height, texture_sampler how, mask is_small)
{
    real x = uv.x * width - R(0.5), y = uv.y * height - R(0.5);
    if (how.large + how.small > 0.5f) { // at the middle of a texel, which has all the weight
        mask nearest = sel(is_small, R(how.small), R(how.large)) > R(0.5);
        x = sel(nearest, min_(floor_(x + R(0.5)), width - R(1.0)), x);
        y = sel(nearest, min_(floor_(y + R(0.5)), height - R(1.0)), y);
    }
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
    s.left = texture_first(s.left, width, how.wrap_u);
    s.top = texture_first(s.top, height, how.wrap_v);
    s.right = texture_second(s.right, width, how.wrap_u);
    s.bottom = texture_second(s.bottom, height, how.wrap_v);
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
