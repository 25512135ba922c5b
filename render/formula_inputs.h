// What formulas take from a frame: its plain structs of floats as the formulas' own. For lanes and kernels;
// plain C files, which have no `real`, fill the plain structs.
#pragma once

#include "engine/maths/clip_plane.h"
#include "engine/mesh/mesh_file.h"
#include "render/backdrop/haze_formula.h"
#include "render/backdrop/sky_formula.h"
#include "render/bsdf_table.h"
#include "render/environment/environment_formula.h"
#include "render/light_formula.h"
#include "render/mesh_formula.h"
#include "render/mesh_triangle.h"
#include "render/occlusion/occlusion.h"
#include "render/occlusion/occlusion_formula.h"
#include "render/shadow/cascade_formula.h"
#include "render/shadow/shadow.h"
#include "render/shadow/shadow_formula.h"
#include "render/splat/splat_formula.h"
#include "render/splat/splat_lens.h"
#include "render/texture_formula.h"

#include <string.h>

FN affine affine_of(const float m[12])
{
    affine a;
    _Static_assert(sizeof a == 12 * sizeof *m, "the same members in the same order");
    memcpy(&a, m, sizeof a);
    return a;
}

FN splat_lens splat_lens_of(const splat_lens_values *values)
{
    splat_lens lens;
    _Static_assert(sizeof lens == sizeof *values, "the same members in the same order");
    memcpy(&lens, values, sizeof lens);
    return lens;
}

FN sky_view sky_view_of(const orr_sky_values *values)
{
    sky_view sky;
    _Static_assert(sizeof sky == sizeof *values, "the same members in the same order");
    memcpy(&sky, values, sizeof sky);
    return sky;
}

FN texture_sampler texture_sampler_of(const orr_texture_sampler *how)
{
    texture_sampler s;
    s.wrap_u = (uniform_real)how->wrap_u;
    s.wrap_v = (uniform_real)how->wrap_v;
    s.nearest_mip = how->nearest_mip ? (uniform_real)1.0 : (uniform_real)0.0;
    s.large = how->nearest_large ? (uniform_real)1.0 : (uniform_real)0.0;
    s.small = how->nearest_small ? (uniform_real)1.0 : (uniform_real)0.0;
    return s;
}

FN light_source light_of(const orr_light_values *values)
{
    light_source l;
    _Static_assert(sizeof l == sizeof *values, "the same members in the same order");
    memcpy(&l, values, sizeof l);
    return l;
}

FN environment_view environment_of(const orr_environment_values *values)
{
    environment_view v;
    _Static_assert(sizeof v == sizeof *values, "the same members in the same order");
    memcpy(&v, values, sizeof v);
    return v;
}

FN haze_view haze_of(const orr_draw_lighting *lighting)
{
    haze_view v;
    _Static_assert(sizeof v == sizeof lighting->haze, "the same members in the same order");
    memcpy(&v, &lighting->haze, sizeof v);
    return v;
}

FN tone_curve tone_of(const orr_draw_lighting *lighting)
{
    tone_curve t;
    t.exposure = lighting->exposure;
    t.kind = lighting->tone;
    return t;
}

FN shadow_view shadow_view_of(const orr_shadow_values *values)
{
    shadow_view v;
    _Static_assert(sizeof v == sizeof *values, "the same members in the same order");
    memcpy(&v, values, sizeof v);
    return v;
}

FN shadow_cascade shadow_cascade_of(const orr_cascade_values *values)
{
    shadow_cascade c;
    _Static_assert(sizeof c == sizeof *values, "the same members in the same order");
    memcpy(&c, values, sizeof c);
    return c;
}

FN shadow_eye shadow_eye_of(const orr_shadow_eye *values)
{
    shadow_eye e;
    _Static_assert(sizeof e == sizeof *values, "the same members in the same order");
    memcpy(&e, values, sizeof e);
    return e;
}

FN occlusion_view occlusion_view_of(const orr_occlusion_values *values)
{
    occlusion_view v;
    _Static_assert(sizeof v == sizeof *values, "the same members in the same order");
    memcpy(&v, values, sizeof v);
    return v;
}

#if defined(ORR_SCALAR) || defined(__CUDACC__)
FN float bsdf_read(const float *entries, bsdf_place p)
{
    const float *a = entries + (int)p.first, *b = a + BSDF_TABLE;
    return bsdf_mix(bsdf_mix(a[0], a[1], p.right), bsdf_mix(b[0], b[1], p.right), p.down);
}

FN bsdf_integrals bsdf_integrals_at(const orr_bsdf_table *table, float roughness, float cosine)
{
    _Static_assert(BSDF_TABLE == ORR_BSDF_TABLE, "the same table");
    const bsdf_place p = bsdf_find(roughness, cosine);
    const float *dull = table->dull + (int)p.column;
    bsdf_integrals s;
    s.highlight = bsdf_read(table->highlight, p);
    s.grazing = bsdf_read(table->grazing, p);
    s.dull = bsdf_mix(dull[0], dull[1], p.right);
    return s;
}
#endif

FN mesh_view mesh_view_of(const orr_lens *lens)
{
    mesh_view view;
    view.focal_x = lens->focal[0];
    view.focal_y = lens->focal[1];
    view.centre_x = lens->centre[0];
    view.centre_y = lens->centre[1];
    view.width = (float)lens->width;
    view.height = (float)lens->height;
    view.near_plane = lens->near_plane;
    view.orthographic = lens->orthographic ? 1.0f : 0.0f;
    view.guard = MESH_GUARD;
    view.subpixels = MESH_SUBPIXELS;
    return view;
}
