// Shadow maps: where a lit point is in the map of a light, and how much of the light reaches it: the mean of
// 3 x 3 texels' binary tests, moved continuously over the texels (percentage-closer filtering, Reeves et al.
// 1987). One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_SHADOW_FORMULA_H
#define ORR_SHADOW_FORMULA_H

#include "engine/maths/colour_formula.h"
#include "engine/maths/vector_formula.h"

// The map of one light: the nearest depth along its axis for each of size x size texels.
STRUCT(shadow_view)
{
    affine to_light;                       // from the camera's space to the light's: z along its axis
    uniform_real focal;                    // [texels per unit], of a spot [texels]
    uniform_real centre_x, centre_y, size; // [texels]
    uniform_real orthographic;             // 1: of a directional light; 0: of a spot
}
END_STRUCT(shadow_view)

// The 4 x 4 texels around a point in a map.
STRUCT(shadow_square)
{
    real left, top;      // of the first of them; whole numbers, within the map
    real part_x, part_y; // how far the point is from the centre of the second towards that of the third
    real depth;          // of the point
    real inside;         // 1; 0: beyond the map, where everything is lit
}
END_STRUCT(shadow_square)

FN real shadow_divisor(shadow_view v, real z)
{
    return sel(R(v.orthographic) > R(0.5), R(1.0), max_(z, R(1e-20)));
}

// position, normal (unit, on the lit side; or 0: not in the map): in the camera's space. The point is lifted
// along its normal until the plane through it would not shadow itself in any of the texels: those are up to
// 2 x sqrt(2) texels away, where the plane is nearer to the light by that times the tangent of its slope, and
// a lift by l changes the depth by l divided by the slope's cosine. 0.2 more is for faces that lie up to 11
// degrees aside of the interpolated normal, and a tenth of a texel for rounding.
FN shadow_square shadow_find(shadow_view v, real3 position, real3 normal)
{
    real z = affine_point(v.to_light, position).z;
    real texel = shadow_divisor(v, z) * R(1.0f / v.focal);
    real3 n = affine_direction(v.to_light, normal);
    real sine = min_(sqrt_(n.x * n.x + n.y * n.y) + R(0.2), R(1.0));
    real3 p = affine_point(v.to_light, add_scaled3(position, normal, R(2.9) * texel * sine));
    real inverse = R(1.0) / shadow_divisor(v, p.z);
    real x = v.focal * p.x * inverse + R(v.centre_x - 0.5f);
    real y = v.focal * p.y * inverse + R(v.centre_y - 0.5f);
    real most = R(v.size - 3.0f);
    shadow_square s;
    mask inside = and_(and_(x >= R(1.0), x < most), and_(y >= R(1.0), and_(y<most, p.z> R(0.0))));
    s.inside = sel(inside, R(1.0), R(0.0));
    x = sel(inside, x, R(1.0));
    y = sel(inside, y, R(1.0));
    s.left = floor_(x) - R(1.0);
    s.top = floor_(y) - R(1.0);
    s.part_x = x - floor_(x);
    s.part_y = y - floor_(y);
    s.depth = p.z - R(0.1) * texel;
    return s;
}

// Does light reach the point past what one texel shows? 1 or 0.
FN real shadow_test(shadow_square s, real nearest)
{
    return sel(s.depth > nearest, R(0.0), R(1.0));
}

// The sum of the tests of four texels of a row or a column, as a box of three texels around the point weighs
// them.
FN real shadow_sum(real part, real a, real b, real c, real d)
{
    return fma_(part, d - a, a) + (b + c);
}

// The visible part of the light from the sum of the four rows' sums.
FN real shadow_visible(shadow_square s, real sum)
{
    return sel(s.inside > R(0.5), sum * R(1.0 / 9.0), R(1.0));
}

// ---- on captured surfaces: splats and fields ----

// Their colours have the light of the capture in them, so a shadow divides it out (the ratio image of Debevec
// 1998): in full shadow a part `umbra` of the light is left, that of the sky and of other surfaces.

// Where a captured surface is: at the layer that takes the pixel's transmittance below a half, or below 0.7
// where nothing takes it below a half; depth: of the layer; before, after: the transmittance, whose sign does
// not matter when the pixel has stopped. A mean depth would lie between an edge and what is behind it.
FN real shadow_receiver(real so_far, real before, real after, real depth)
{
    mask first = and_(before >= R(0.7), after < R(0.7));
    mask half_way = and_(before >= R(0.5), after < R(0.5));
    return sel(or_(first, half_way), depth, so_far);
}

// What the eye sees of the light there.
STRUCT(shadow_eye)
{
    uniform_real inverse_focal_x, inverse_focal_y, centre_x, centre_y;
    uniform_real orthographic; // 1 or 0
    uniform_real umbra;
}
END_STRUCT(shadow_eye)

// The point of the camera's space that is seen at (x, y) [px].
FN real3 shadow_seen(shadow_eye e, real x, real y, real depth)
{
    real w = sel(R(e.orthographic) > R(0.5), R(1.0), depth);
    return make_real3((x - R(e.centre_x)) * R(e.inverse_focal_x) * w,
                      (y - R(e.centre_y)) * R(e.inverse_focal_y) * w, depth);
}

FN real shadow_on_channel(real colour, real alpha, real ratio)
{
    return linear_to_srgb(srgb_to_linear(colour / alpha) * ratio) * alpha;
}

// Display colour, premultiplied by alpha (0.3 and more), of which the part `visible` of the light is left.
FN real3 shadow_on_capture(shadow_eye e, real3 colour, real alpha, real visible)
{
    real ratio = fma_(visible, R(1.0f - e.umbra), R(e.umbra));
    return make_real3(shadow_on_channel(colour.x, alpha, ratio), shadow_on_channel(colour.y, alpha, ratio),
                      shadow_on_channel(colour.z, alpha, ratio));
}

#endif
