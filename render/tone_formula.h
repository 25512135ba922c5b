// From the light of meshes to what a display can show: exposure, then a tone curve. Captured colours have
// been through a camera's curve and are not mapped again. One text for CPU lanes, CUDA and GLSL (see
// engine/maths/formula.h).
#ifndef ORR_TONE_FORMULA_H
#define ORR_TONE_FORMULA_H

#include "engine/maths/vector_formula.h"

STRUCT(tone_curve)
{
    uniform_real exposure; // factor
    uniform_real kind;     // orr_tone of engine/orrery.h
}
END_STRUCT(tone_curve)

FN real3 tone_rows(real3 c, real3 x, real3 y, real3 z)
{
    return make_real3(dot3(x, c), dot3(y, c), dot3(z, c));
}

FN real3 tone_clamp(real3 c, real low, real high)
{
    return make_real3(min_(max_(c.x, low), high), min_(max_(c.y, low), high), min_(max_(c.z, low), high));
}

FN real tone_mix(real a, real b, real part)
{
    return fma_(part, b - a, a);
}

// Khronos PBR Neutral (2024): colours below 0.76 keep hue and saturation, brighter ones go to white.
FN real3 tone_neutral(real3 c)
{
    real least = min_(c.x, min_(c.y, c.z));
    real offset = sel(least < R(0.08), least - R(6.25) * least * least, R(0.04));
    c = make_real3(c.x - offset, c.y - offset, c.z - offset);
    real peak = max_(c.x, max_(c.y, c.z));
    real start = R(0.8 - 0.04), span = R(1.0 - 0.76);
    real over = max_(peak - start, R(0.0));
    real pressed = R(1.0) - span * span / (over + span); // of a peak beyond the start
    real grey = R(1.0) - R(1.0) / fma_(R(0.15), max_(peak - pressed, R(0.0)), R(1.0));
    real scale = pressed / max_(peak, R(1e-6));
    real3 mapped = make_real3(tone_mix(c.x * scale, pressed, grey), tone_mix(c.y * scale, pressed, grey),
                              tone_mix(c.z * scale, pressed, grey));
    return select3(peak > start, mapped, c);
}

// A polynomial of Sobotka's AgX curve by Wrensch (2023): from 16.5 stops to 0 .. 1.
FN real tone_agx_curve(real c)
{
    real x = (log2_(max_(c, R(1e-10))) + R(12.47393)) * R(1.0 / 16.5);
    x = min_(max_(x, R(0.0)), R(1.0));
    real y = fma_(x, R(15.5), R(-40.14));
    y = fma_(x, y, R(31.96));
    y = fma_(x, y, R(-6.868));
    y = fma_(x, y, R(0.4298));
    y = fma_(x, y, R(0.1191));
    return fma_(x, y, R(-0.00232));
}

FN real tone_agx_linear(real c)
{
    return pow_(max_(c, R(1e-10)), R(2.2));
}

// AgX in Rec. 2020, as Blender and Filament have it: bright colours lose saturation.
FN real3 tone_agx(real3 c)
{
    c = tone_rows(c, make_real3(R(0.6274), R(0.3293), R(0.0433)), make_real3(R(0.0691), R(0.9195), R(0.0113)),
                  make_real3(R(0.0164), R(0.0880), R(0.8956)));
    c = tone_rows(c, make_real3(R(0.856627153), R(0.095121241), R(0.048251606)),
                  make_real3(R(0.137318973), R(0.761241991), R(0.101439036)),
                  make_real3(R(0.111898213), R(0.076799419), R(0.811302368)));
    c = make_real3(tone_agx_curve(c.x), tone_agx_curve(c.y), tone_agx_curve(c.z));
    c = tone_rows(c, make_real3(R(1.127100582), R(-0.110606643), R(-0.016493939)),
                  make_real3(R(-0.141329763), R(1.157823702), R(-0.016493939)),
                  make_real3(R(-0.141329763), R(-0.110606643), R(1.251936407)));
    c = make_real3(tone_agx_linear(c.x), tone_agx_linear(c.y), tone_agx_linear(c.z));
    return tone_rows(c, make_real3(R(1.6605), R(-0.5876), R(-0.0728)),
                     make_real3(R(-0.1246), R(1.1329), R(-0.0083)),
                     make_real3(R(-0.0182), R(-0.1006), R(1.1187)));
}

FN real tone_aces_curve(real v)
{
    return fma_(v, v + R(0.0245786), R(-0.000090537)) /
           fma_(v, fma_(R(0.983729), v, R(0.4329510)), R(0.238081));
}

// The fit of ACES' reference and output transforms by Hill (2017), brightened by 1/0.6 as viewers do.
FN real3 tone_aces(real3 c)
{
    c = tone_rows(scale3(c, R(1.0 / 0.6)), make_real3(R(0.59719), R(0.35458), R(0.04823)),
                  make_real3(R(0.07600), R(0.90834), R(0.01566)),
                  make_real3(R(0.02840), R(0.13383), R(0.83777)));
    c = make_real3(tone_aces_curve(c.x), tone_aces_curve(c.y), tone_aces_curve(c.z));
    return tone_rows(c, make_real3(R(1.60475), R(-0.53108), R(-0.07367)),
                     make_real3(R(-0.10208), R(1.10813), R(-0.00605)),
                     make_real3(R(-0.00327), R(-0.07276), R(1.07602)));
}

// Linear light to linear display light.
FN real3 tone_map(tone_curve t, real3 c)
{
    c = scale3(c, R(t.exposure));
    if (t.kind > 0.5f) {
        c = tone_clamp(c, R(0.0), R(1e6));
        if (t.kind < 1.5f) {
            c = tone_neutral(c);
        } else if (t.kind < 2.5f) {
            c = tone_agx(c);
        } else {
            c = tone_aces(c);
        }
        c = tone_clamp(c, R(0.0), R(1.0));
    }
    return c;
}

#endif
