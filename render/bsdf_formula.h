// How a surface of glTF's metallic-roughness model scatters light (glTF 2.0, appendix B): Lambert's law, and
// highlights by Trowbridge and Reitz ("GGX") with Smith's height-correlated shadowing; what rough highlights
// lose, because light is scattered only once, is given back in their own colour (Turquin 2019). The integrals
// over all directions that this takes stand in a table (render/bsdf_table.h). One text for CPU
// lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_BSDF_FORMULA_H
#define ORR_BSDF_FORMULA_H

#include "engine/maths/vector_formula.h"

#define BSDF_PI 3.14159265358979f
#define BSDF_ALPHA_MIN 1e-3f // smoother surfaces are drawn like this: their peak still fits into a float
#define BSDF_TABLE 24        // roughnesses and cosines of the table, both from 0 to 1

// The four entries of the table around a roughness and a cosine, and how far the point is from the first.
STRUCT(bsdf_place)
{
    real first;       // the next cosine is 1 further, the next roughness BSDF_TABLE
    real column;      // first's cosine: the place in a row of cosines alone
    real right, down; // 0 .. 1
}
END_STRUCT(bsdf_place)

FN bsdf_place bsdf_find(real roughness, real cosine)
{
    real row = min_(max_(roughness, R(0.0)), R(1.0)) * R(BSDF_TABLE - 1);
    real column = min_(max_(cosine, R(0.0)), R(1.0)) * R(BSDF_TABLE - 1);
    real top = min_(floor_(row), R(BSDF_TABLE - 2));
    bsdf_place p;
    p.column = min_(floor_(column), R(BSDF_TABLE - 2));
    p.first = top * R(BSDF_TABLE) + p.column;
    p.right = column - p.column;
    p.down = row - top;
    return p;
}

FN real bsdf_mix(real a, real b, real part)
{
    return fma_(part, b - a, a);
}

// What the table says of a surface as it is seen.
STRUCT(bsdf_integrals)
{
    real highlight; // the part of light from everywhere that a highlight of f0 = 1 reflects
    real grazing;   // of it, what one of f0 = 0 reflects too
    real dull;      // the part of light from everywhere that a highlight of f0 = 0 keeps from a matte surface
}
END_STRUCT(bsdf_integrals)

// A surface as it is seen from one side.
STRUCT(bsdf_metal)
{
    real3 diffuse; // albedo
    real3 f0;      // reflectance of highlights seen straight
    real3 gain;    // of highlights, for the light that they lose
    real alpha;    // squared roughness
    real f90;      // reflectance of highlights at a grazing angle
}
END_STRUCT(bsdf_metal)

// base: linear; metallic, roughness: 0 .. 1; highlight: of bsdf_integrals. f0, f90: reflectance of the part
// that is no metal, seen straight and at a grazing angle (KHR_materials_ior and KHR_materials_specular). What
// a coloured highlight takes from the matte part is taken channel by channel: what is under it has the
// complementary tint; the extension takes the most of the three from all.
FN bsdf_metal bsdf_dielectric_of(real3 base, real metallic, real roughness, real highlight, real3 f0,
                                 real f90)
{
    real matte = R(1.0) - metallic, lost = R(1.0) / highlight - R(1.0);
    bsdf_metal m;
    m.diffuse = scale3(base, matte);
    m.f0 = make_real3(fma_(metallic, base.x, f0.x * matte), fma_(metallic, base.y, f0.y * matte),
                      fma_(metallic, base.z, f0.z * matte));
    m.f90 = fma_(metallic, R(1.0) - f90, f90);
    m.gain = make_real3(fma_(m.f0.x, lost, R(1.0)), fma_(m.f0.y, lost, R(1.0)), fma_(m.f0.z, lost, R(1.0)));
    m.alpha = max_(roughness * roughness, R(BSDF_ALPHA_MIN));
    return m;
}

// The same of glTF without these extensions: of an index of refraction of 1.5.
FN bsdf_metal bsdf_metal_of(real3 base, real metallic, real roughness, real highlight)
{
    return bsdf_dielectric_of(base, metallic, roughness, highlight, make_real3(R(0.04), R(0.04), R(0.04)),
                              R(1.0));
}

// A clear coat (KHR_materials_clearcoat): a rough surface of index of refraction 1.5 that reflects nothing
// but highlights. In a bsdf_metal, so that it is lit as any other.
FN bsdf_metal bsdf_coat_of(real roughness, real highlight)
{
    return bsdf_metal_of(make_real3(R(0.0), R(0.0), R(0.0)), R(0.0), roughness, highlight);
}

// Light of a surface of which the part `coated` is under a coat, from that of either. What the coat reflects
// of light from everywhere, `coat_albedo`, does not come from below: no light is made. glTF's sample renderer
// takes Fresnel's factor instead, of a coat without roughness.
FN real3 bsdf_coat_over(real3 below, real3 coat, real coated, real coat_albedo)
{
    return add_scaled3(scale3(below, R(1.0) - coated * coat_albedo), coat, coated);
}

// Towards one light.
STRUCT(bsdf_angles)
{
    real light, eye;        // cosines to the normal; eye: at least 1e-4
    real height;            // cosine of the microfacets that reflect from there to the eye
    real sine_squared;      // of the same angle
    real fresnel;           // (1 - cosine of the eye to these)^5
    real eye_root;          // Smith's roots: sqrt(alpha^2 + (1 - alpha^2) cosine^2)
    real light_root, alpha; // alpha: of the surface
}
END_STRUCT(bsdf_angles)

FN real bsdf_root(real alpha, real cosine)
{
    return sqrt_(fma_(cosine * cosine, R(1.0) - alpha * alpha, alpha * alpha));
}

// All unit vectors; normal: on the side of the eye.
FN bsdf_angles bsdf_angles_of(real alpha, real3 normal, real3 to_eye, real3 to_light)
{
    real3 between = unit3(add3(to_light, to_eye));
    bsdf_angles a;
    a.alpha = alpha;
    a.light = dot3(normal, to_light);
    a.eye = max_(dot3(normal, to_eye), R(1e-4));
    a.height = max_(dot3(normal, between), R(0.0));
    // by the cross product: 1 - height^2 would lose narrow peaks
    real3 off = cross3(normal, between);
    a.sine_squared = dot3(off, off);
    real miss = max_(R(1.0) - max_(dot3(to_eye, between), R(0.0)), R(0.0));
    a.fresnel = miss * miss * miss * miss * miss;
    a.eye_root = bsdf_root(alpha, a.eye);
    a.light_root = bsdf_root(alpha, a.light);
    return a;
}

// How many of the microfacets, by area, lie so [1/sr].
FN real bsdf_peak(bsdf_angles a)
{
    real squared = a.alpha * a.alpha, spread = fma_(squared * a.height, a.height, a.sine_squared);
    return squared / (R(BSDF_PI) * spread * spread);
}

// A normal of the microfacets that the eye sees, drawn from a point of the unit circle and a number in
// [0, 1), by the spherical cap of Dupuy and Benyoub ("Sampling visible GGX normals with spherical caps",
// 2023).
FN real3 bsdf_facet(real3 normal, real3 to_eye, real alpha, real2 around, real v)
{
    real3 across = across3(normal), along = cross3(normal, across);
    real3 eye = normalise3(
        make_real3(alpha * dot3(to_eye, across), alpha * dot3(to_eye, along), dot3(to_eye, normal)));
    real z = fma_(R(1.0) - v, R(1.0) + eye.z, -eye.z), ring = sqrt_(max_(fma_(-z, z, R(1.0)), R(0.0)));
    real3 h = normalise3(make_real3(alpha * fma_(ring, around.x, eye.x), alpha * fma_(ring, around.y, eye.y),
                                    max_(z + eye.z, R(1e-9))));
    return add_scaled3(add_scaled3(scale3(across, h.x), along, h.y), normal, h.z);
}

FN real bsdf_channel(real diffuse, real f0, real f90, real gain, real fresnel, real highlight)
{
    real f = fma_(f90 - f0, fresnel, f0);
    return fma_((R(1.0) - f) * R(1.0f / BSDF_PI), diffuse, f * gain * highlight);
}

// Reflectance times the cosine to the light [1/sr]; 0 for light from behind.
FN real3 bsdf_reflect(bsdf_metal m, bsdf_angles a)
{
    real light = max_(a.light, R(0.0));
    real visible = R(0.5) / max_(fma_(light, a.eye_root, a.eye * a.light_root), R(1e-12));
    real highlight = bsdf_peak(a) * visible;
    return scale3(make_real3(bsdf_channel(m.diffuse.x, m.f0.x, m.f90, m.gain.x, a.fresnel, highlight),
                             bsdf_channel(m.diffuse.y, m.f0.y, m.f90, m.gain.y, a.fresnel, highlight),
                             bsdf_channel(m.diffuse.z, m.f0.z, m.f90, m.gain.z, a.fresnel, highlight)),
                  light);
}

FN real bsdf_albedo_channel(bsdf_integrals s, real diffuse, real f0, real f90, real gain)
{
    real kept = R(1.0) - fma_(f90 - f0, s.dull, f0);
    return fma_(kept, diffuse, gain * fma_(f0, s.highlight - s.grazing, f90 * s.grazing));
}

// What is reflected of different light by the matte part of a surface and by its highlight.
FN real bsdf_split_channel(bsdf_integrals s, real diffuse, real f0, real f90, real gain, real matte,
                           real mirrored)
{
    real kept = R(1.0) - fma_(f90 - f0, s.dull, f0);
    return fma_(kept * diffuse, matte, gain * fma_(f0, s.highlight - s.grazing, f90 * s.grazing) * mirrored);
}

FN real3 bsdf_split(bsdf_metal m, bsdf_integrals s, real3 matte, real3 mirrored)
{
    return make_real3(bsdf_split_channel(s, m.diffuse.x, m.f0.x, m.f90, m.gain.x, matte.x, mirrored.x),
                      bsdf_split_channel(s, m.diffuse.y, m.f0.y, m.f90, m.gain.y, matte.y, mirrored.y),
                      bsdf_split_channel(s, m.diffuse.z, m.f0.z, m.f90, m.gain.z, matte.z, mirrored.z));
}

// The part of light from everywhere that is reflected to the eye.
FN real3 bsdf_albedo(bsdf_metal m, bsdf_integrals s)
{
    return make_real3(bsdf_albedo_channel(s, m.diffuse.x, m.f0.x, m.f90, m.gain.x),
                      bsdf_albedo_channel(s, m.diffuse.y, m.f0.y, m.f90, m.gain.y),
                      bsdf_albedo_channel(s, m.diffuse.z, m.f0.z, m.f90, m.gain.z));
}

#endif
