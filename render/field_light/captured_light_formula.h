// New lamps on captured surfaces, which are splats and fields: their colours have the light of the capture in
// them. A captured colour, as light, over that of a white surface in the light of the capture is an albedo,
// by which light of the lamps is reflected as well, so that colours are multiplied by
// (E_captured + E_lamps V) / E_captured. Splats have a normal; that of what a field shows is found from its
// depth around a pixel or a ray. One text for CPU lanes, CUDA and plain C (see engine/maths/formula.h).
#ifndef ORR_CAPTURED_LIGHT_FORMULA_H
#define ORR_CAPTURED_LIGHT_FORMULA_H

#include "render/light_formula.h"

#define CAPTURED_ALBEDO_LOW 0.03
#define CAPTURED_ALBEDO_HIGH 0.9
#define CAPTURED_FAINT 1e-5 // light, as a part of that of the lamp, that is none
#define CAPTURED_ALPHA 0.02 // of what a field shows: less of it has no colour to speak of

// The display colour of a channel in more light. light: of the lamps on it, linear radiance of a white
// surface; per_white: 1 / that in the light of the capture
FN real captured_in_light(real display, real light, real per_white)
{
    real shown = srgb_to_linear(display);
    real albedo = min_(max_(shown * per_white, R(CAPTURED_ALBEDO_LOW)), R(CAPTURED_ALBEDO_HIGH));
    return linear_to_srgb(fma_(albedo, light, shown));
}

// The same, premultiplied by alpha (CAPTURED_ALPHA and more).
FN real captured_channel(real colour, real alpha, real light, real per_white)
{
    return captured_in_light(colour / alpha, light, per_white) * alpha;
}

// How much of the light a surface receives by its angle; known: 1 if its normal is, 0 if it is not: then the
// mean over all that face the light.
FN real captured_facing(real known, real cosine)
{
    return fma_(known, cosine - R(0.5), R(0.5));
}

// ---- the normal of what a field shows ----

// The depths of rays around one, which are (x, y) aside of it on the plane at depth 1; in an orthographic
// view on the camera's plane. On a plane 1 / depth is linear in a perspective view, and depth in an
// orthographic one: it is fitted by least squares, which evens out the steps by which fields are marched.
#define CAPTURED_TAPS 3      // to either side of a pixel
#define CAPTURED_SPAN 0.0075 // how far aside the last of them is; in an orthographic view of its width
#define CAPTURED_STEP 0.06   // what is so much nearer or farther is another surface [of the depth]

STRUCT(captured_slope)
{
    real count, x, y, v, xx, xy, yy, xv, yv;
}
END_STRUCT(captured_slope)

FN captured_slope captured_begin(real zero)
{
    captured_slope s;
    s.count = s.x = s.y = s.v = s.xx = s.xy = s.yy = s.xv = s.yv = zero;
    return s;
}

// depth, here: of the ray beside, and of the one in the middle; infinity: it shows nothing
FN captured_slope captured_beside(captured_slope s, real x, real y, real depth, real here, mask orthographic)
{
    mask same = abs_(depth - here) < R(CAPTURED_STEP) * here;
    real safe = sel(same, depth, here);
    real value = sel(orthographic, safe - here, (here - safe) / (here * safe));
    real one = sel(same, R(1.0), R(0.0));
    x = x * one;
    y = y * one;
    s.count = s.count + one;
    s.x = s.x + x;
    s.y = s.y + y;
    s.v = s.v + value;
    s.xx = fma_(x, x, s.xx);
    s.xy = fma_(x, y, s.xy);
    s.yy = fma_(y, y, s.yy);
    s.xv = fma_(x, value, s.xv);
    s.yv = fma_(y, value, s.yv);
    return s;
}

STRUCT(captured_surface)
{
    real3 normal; // unit, towards the eye
    real known;   // 1; 0: there were too few rays
}
END_STRUCT(captured_surface)

// Of the ray at (x, y) of the plane, and its depth.
FN captured_surface captured_fit(captured_slope s, real x, real y, real here, mask orthographic)
{
    real per_count = R(1.0) / max_(s.count, R(1.0));
    real mean_x = s.x * per_count, mean_y = s.y * per_count;
    real xx = s.xx - mean_x * s.x, xy = s.xy - mean_x * s.y, yy = s.yy - mean_y * s.y;
    real xv = s.xv - mean_x * s.v, yv = s.yv - mean_y * s.v;
    real determinant = xx * yy - xy * xy;
    real spread = xx + yy;
    captured_surface found;
    mask fits = and_(s.count > R(2.5), determinant > R(1e-3) * spread * spread);
    real inverse = R(1.0) / sel(fits, determinant, R(1.0));
    real along_x = (yy * xv - xy * yv) * inverse, along_y = (xx * yv - xy * xv) * inverse;
    real3 seen = make_real3(along_x, along_y, R(1.0) / here - along_x * x - along_y * y);
    real3 level = make_real3(-along_x, -along_y, R(1.0));
    real3 away = select3(orthographic, level, seen);
    real length = length3(away);
    fits = and_(fits, length > R(0.0));
    found.known = sel(fits, R(1.0), R(0.0));
    found.normal = scale3(away, R(-1.0) / sel(fits, length, R(1.0)));
    return found;
}

#endif
