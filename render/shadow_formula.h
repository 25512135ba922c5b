// Shadow maps: where a lit point is in the map of a light, and how much of the light reaches it: the mean of
// 3 x 3 texels' binary tests, moved continuously over the texels (percentage-closer filtering, Reeves et al.
// 1987). One text for CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_SHADOW_FORMULA_H
#define ORR_SHADOW_FORMULA_H

#include "engine/maths/colour_formula.h"
#include "engine/maths/vector_formula.h"

// The map of one light: the nearest depth along its axis for each of size x size texels. A light that shines
// all around has a cube of maps, of which each shows the sixth of the sky around one axis of the light's
// space, and a rim of its neighbours, so that a lookup stays within one map.
STRUCT(shadow_view)
{
    affine to_light;                       // from the camera's space to the light's: z along its axis
    uniform_real focal;                    // [texels per unit], of a spot or a cube [texels]
    uniform_real centre_x, centre_y, size; // [texels]
    uniform_real orthographic;             // 1: of a directional light; 0: of others
    uniform_real cube;                     // 1: of a light that shines all around; 0: of others
    uniform_real slots[6];                 // of its maps +x -x +y -y +z -z; -1: nothing is between there
}
END_STRUCT(shadow_view)

// A face of a cube.
STRUCT(shadow_face)
{
    real axis; // 0, 1 or 2
    real sign; // 1 or -1
}
END_STRUCT(shadow_face)

// The 4 x 4 texels around a point in a map.
STRUCT(shadow_square)
{
    real slot;           // of the map among those of the light
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

// The face that a point of the light's space is seen through.
FN shadow_face shadow_face_of(real3 p)
{
    real x = abs_(p.x), y = abs_(p.y), z = abs_(p.z);
    mask along_x = and_(x >= y, x >= z);
    mask along_y = and_(not_(along_x), y >= z);
    real along = sel(along_x, p.x, sel(along_y, p.y, p.z));
    shadow_face f;
    f.axis = sel(along_x, R(0.0), sel(along_y, R(1.0), R(2.0)));
    f.sign = sel(along < R(0.0), R(-1.0), R(1.0));
    return f;
}

// A vector of the light's space as the face's lens has it, z along its axis: the others follow in turn, the
// first of them with the sign of the axis, so that it is a rotation.
FN real3 shadow_turn(shadow_face f, real3 p)
{
    mask along_x = f.axis < R(0.5), along_y = f.axis < R(1.5);
    return make_real3(f.sign * sel(along_x, p.y, sel(along_y, p.z, p.x)),
                      sel(along_x, p.z, sel(along_y, p.x, p.y)),
                      f.sign * sel(along_x, p.x, sel(along_y, p.y, p.z)));
}

FN real shadow_slot(shadow_view v, shadow_face f)
{
    mask positive = f.sign > R(0.0);
    real along_x = sel(positive, R(v.slots[0]), R(v.slots[1]));
    real along_y = sel(positive, R(v.slots[2]), R(v.slots[3]));
    real along_z = sel(positive, R(v.slots[4]), R(v.slots[5]));
    return sel(f.axis < R(0.5), along_x, sel(f.axis < R(1.5), along_y, along_z));
}

// position, normal (unit, on the lit side; or 0: not in the map): in the camera's space. The point is lifted
// along its normal until the plane through it would not shadow itself in any of the texels: those are up to
// 2 x sqrt(2) texels away, where the plane is nearer to the light by that times the tangent of its slope, and
// a lift by l changes the depth by l divided by the slope's cosine. 0.2 more is for faces that lie up to 11
// degrees aside of the interpolated normal, and a tenth of a texel for rounding.
FN shadow_square shadow_find(shadow_view v, real3 position, real3 normal)
{
    real3 from = affine_point(v.to_light, position);
    real3 n = affine_direction(v.to_light, normal);
    shadow_face face;
    face.axis = R(2.0); // as it is
    face.sign = R(1.0);
    shadow_square s;
    s.slot = R(0.0);
    if (v.cube > 0.5f) {
        face = shadow_face_of(from);
        from = shadow_turn(face, from);
        n = shadow_turn(face, n);
        s.slot = shadow_slot(v, face);
    }
    real texel = shadow_divisor(v, from.z) * R(1.0f / v.focal);
    real sine = min_(sqrt_(n.x * n.x + n.y * n.y) + R(0.2), R(1.0));
    real3 p = affine_point(v.to_light, add_scaled3(position, normal, R(2.9) * texel * sine));
    if (v.cube > 0.5f) {
        p = shadow_turn(face, p);
    }
    real inverse = R(1.0) / shadow_divisor(v, p.z);
    real x = v.focal * p.x * inverse + R(v.centre_x - 0.5f);
    real y = v.focal * p.y * inverse + R(v.centre_y - 0.5f);
    real most = R(v.size - 3.0f);
    mask inside = and_(and_(x >= R(1.0), x < most), and_(y >= R(1.0), and_(y<most, p.z> R(0.0))));
    inside = and_(inside, s.slot >= R(0.0));
    s.slot = max_(s.slot, R(0.0));
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
