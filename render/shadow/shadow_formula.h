// Shadow maps: where a lit point is in the map of a light, and how much of the light reaches it: the mean of
// 3 x 3 texels' binary tests, moved continuously over the texels (percentage-closer filtering, Reeves et al.
// 1987). Where the light has a size, the mean over a disc as wide as the penumbra of what is found above the
// point (percentage-closer soft shadows, Fernando 2005), at the same positions for every point. One text for
// CPU lanes, CUDA and GLSL (see engine/maths/formula.h).
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
    // of its maps +x -x +y -y +z -z; -1: nothing is between there; of others the first is the map's
    uniform_real slots[6];
    uniform_real spread;  // tangent of a directional light's angular radius, or the radius; 0: hard shadows
    uniform_real nearest; // depth before which nothing is
    uniform_real reach;   // radius of the largest disc [texels]
}
END_STRUCT(shadow_view)

// A face of a cube.
STRUCT(shadow_face)
{
    real axis; // 0, 1 or 2
    real sign; // 1 or -1
}
END_STRUCT(shadow_face)

// Where a point is in a map.
STRUCT(shadow_place)
{
    real slot;    // of the map among those of the light
    real x, y, z; // [texels], 0 in the middle of the first one; along the light's axis
    real3 normal; // in the map's space
    real texel;   // how wide one is there
    real inside;  // 1; 0: beyond the map, where everything is lit
}
END_STRUCT(shadow_place)

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
FN shadow_place shadow_locate(shadow_view v, real3 position, real3 normal)
{
    real3 from = affine_point(v.to_light, position);
    real3 n = affine_direction(v.to_light, normal);
    shadow_face face;
    face.axis = R(2.0); // as it is
    face.sign = R(1.0);
    shadow_place s;
    s.slot = R(v.slots[0]);
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
    s.x = sel(inside, x, R(1.0));
    s.y = sel(inside, y, R(1.0));
    s.z = p.z;
    s.normal = n;
    s.texel = texel;
    return s;
}

// May shadow_locate find the point inside, whatever its normal? This takes a fraction of the work, and most
// points of a floor are far from what stands on it. A point is lifted by at most 2.9 texels, as wide as they
// are at its depth. The light's axis is in the middle of the map. Of a cube: always.
FN mask shadow_near(shadow_view v, real3 position)
{
    real side = R(0.5f * v.size / v.focal), lift = R(2.9f / v.focal);
    real3 from = affine_point(v.to_light, position);
    real within = side + lift;
    if (v.orthographic < 0.5f) {
        within = fma_(side, lift, within) * from.z;
    }
    mask near = and_(abs_(from.x) <= within, abs_(from.y) <= within);
    return or_(near, R(v.cube) > R(0.5));
}

FN shadow_square shadow_find(shadow_view v, real3 position, real3 normal)
{
    shadow_place p = shadow_locate(v, position, normal);
    shadow_square s;
    s.slot = p.slot;
    s.inside = p.inside;
    s.left = floor_(p.x) - R(1.0);
    s.top = floor_(p.y) - R(1.0);
    s.part_x = p.x - floor_(p.x);
    s.part_y = p.y - floor_(p.y);
    s.depth = p.z - R(0.1) * p.texel;
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

// ---- lights with a size ----

#define SHADOW_SEARCHES 16 // positions at which what is above a point is looked for
#define SHADOW_TAPS 32     // positions of a mean, each of 2 x 2 texels

// What a lookup of a light with a size needs of a point.
STRUCT(shadow_soft)
{
    shadow_place place;
    real plane; // depth of the plane through the point; of a lamp 1 / depth, which is linear in a map
    real across_x, down_y; // how it changes from texel to texel
    real radius;           // of the disc [texels]
}
END_STRUCT(shadow_soft)

// One of the positions: they lie on Vogel's spiral (1979), each turned by the golden angle from the one
// before.
STRUCT(shadow_tap)
{
    real cosine, sine;
    real x, y;     // [texels] from the point
    real distance; // [texels]
}
END_STRUCT(shadow_tap)

FN shadow_tap shadow_first_tap(real radius)
{
    shadow_tap t;
    t.cosine = R(1.0);
    t.sine = R(0.0);
    t.x = t.y = t.distance = R(0.0) * radius;
    return t;
}

// part: (number + 0.5) / how many there are
FN shadow_tap shadow_next_tap(shadow_tap t, real radius, uniform_real part)
{
    real cosine = t.cosine * R(-0.7373688781) - t.sine * R(0.6754902943);
    t.sine = t.cosine * R(0.6754902943) + t.sine * R(-0.7373688781);
    t.cosine = cosine;
    t.distance = radius * sqrt_(R(part));
    t.x = t.distance * t.cosine;
    t.y = t.distance * t.sine;
    return t;
}

// How wide the shadow's edge is at the point, to either side, of what is at depth `above` [texels].
FN real shadow_penumbra(shadow_view v, shadow_place p, real above)
{
    real by_angle = p.z - above;
    real by_lamp = R(1.0) / max_(above, R(1e-20)) - R(1.0) / max_(p.z, R(1e-20));
    return max_(R(v.spread * v.focal) * sel(R(v.orthographic) > R(0.5), by_angle, by_lamp), R(0.0));
}

// The point, and the disc in which what is above it is looked for. Texels are compared with the plane through
// the point, which may be steep by 50 : 1 at most.
FN shadow_soft shadow_find_soft(shadow_view v, real3 position, real3 normal)
{
    shadow_soft s;
    s.place = shadow_locate(v, position, normal);
    real3 n = s.place.normal;
    if (v.orthographic > 0.5f) {
        real facing = R(1.0f / v.focal) / max_(-n.z, R(0.02));
        s.plane = s.place.z;
        s.across_x = n.x * facing;
        s.down_y = n.y * facing;
    } else {
        real inverse = R(1.0f / v.focal);
        real x = (s.place.x - R(v.centre_x - 0.5f)) * inverse,
             y = (s.place.y - R(v.centre_y - 0.5f)) * inverse;
        real facing = max_(-(n.x * x + n.y * y + n.z), R(0.02)) * s.place.z;
        s.plane = R(1.0) / max_(s.place.z, R(1e-20));
        s.across_x = -n.x * inverse / max_(facing, R(1e-20));
        s.down_y = -n.y * inverse / max_(facing, R(1e-20));
    }
    s.radius = min_(max_(shadow_penumbra(v, s.place, R(v.nearest)), R(2.0)), R(v.reach));
    return s;
}

// The disc of the penumbra of what was found at the mean depth `above`.
FN real shadow_radius(shadow_view v, shadow_soft s, real above)
{
    return min_(max_(shadow_penumbra(v, s.place, above), R(1.0)), R(v.reach));
}

// A column or row of texels, whole, moved into the map.
FN real shadow_clamp(shadow_view v, real at)
{
    return min_(max_(at, R(0.0)), R(v.size - 1.0f));
}

// Does light reach the point past what the texel at (column, row) shows? 1 or 0. What is lower than a quarter
// of its distance from the point cannot hide the light from there, but belongs to the curved surface that the
// point is on. distance: of the tap [texels]
FN real shadow_test_soft(shadow_view v, shadow_soft s, real column, real row, real distance, real nearest)
{
    real plane = fma_(s.across_x, column - s.place.x, fma_(s.down_y, row - s.place.y, s.plane));
    real lower = fma_(R(0.25), distance, R(0.1)) * s.place.texel;
    if (v.orthographic > 0.5f) {
        return sel(plane - lower > nearest, R(0.0), R(1.0));
    }
    real nearer = s.place.z - lower;
    plane = plane + lower * s.plane / max_(nearer, R(0.01) * s.place.z);
    return sel(plane * nearest < R(1.0), R(0.0), R(1.0));
}

// The mean of the tests of four texels around a tap.
FN real shadow_mix(real part_x, real part_y, real left_top, real right_top, real left_bottom,
                   real right_bottom)
{
    real top = fma_(part_x, right_top - left_top, left_top);
    real bottom = fma_(part_x, right_bottom - left_bottom, left_bottom);
    return fma_(part_y, bottom - top, top);
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
    uniform_real
        lamp; // 1: the light is a lamp whose shadows fields have already (render/field_light); 0: not
}
END_STRUCT(shadow_eye)

// How a field is noted as a receiver: one that has the shadow already by a depth below 0.
FN real shadow_field_depth(shadow_eye e, real depth)
{
    return depth * R(1.0f - 2.0f * e.lamp);
}

// What is visible of the light there, as far as shadows on the receiver show it.
FN real shadow_on_receiver(real receiver, real visible)
{
    return sel(receiver < R(0.0), R(1.0), visible);
}

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

// What is left of the light of the capture: the part `visible` of the light that casts the shadow, the part
// `open` of what is left in full shadow, `umbra`. Of the former only the part `lit` reached the surface past
// what was captured with it, and only that can be kept off: a shadow in the photos does not become darker.
FN real shadow_ratio(uniform_real umbra, real visible, real open, real lit)
{
    real kept = R(1.0f - umbra) * lit, all = kept + R(umbra);
    real left = fma_(visible, kept, open * R(umbra)) / max_(all, R(1e-6));
    real in_sun = fma_(visible, R(1.0f - umbra), open * R(umbra));
    return sel(lit < R(1.0), sel(all > R(1e-6), left, R(1.0)), in_sun);
}

// Display colour, premultiplied by alpha (0.3 and more); visible, open, lit: as of shadow_ratio
FN real3 shadow_on_capture(shadow_eye e, real3 colour, real alpha, real visible, real open, real lit)
{
    real ratio = shadow_ratio(e.umbra, visible, open, lit);
    return make_real3(shadow_on_channel(colour.x, alpha, ratio), shadow_on_channel(colour.y, alpha, ratio),
                      shadow_on_channel(colour.z, alpha, ratio));
}

#endif
