// Lanes over pixels of a mirror. Part of mesh_raster_cpu.c.
#pragma once

#include "render/cpu/mesh_raster_stages.h"
#include "render/formula_inputs.h"

// Light of what the mirror shows at the pixels that hold x, y [px], added to its surface's display colour.
static __attribute__((noinline, unused)) real3
mirror_add(const mesh_raster *raster, const mesh_surface *surface, real3 colour, real x, real y)
{
    const int width = raster->lens.width, height = raster->lens.height;
    const float *rgba = surface->mirror->rgba;
    const real column = min_(max_(floor_(x), R(0.0)), R((float)(width - 1))),
               row = min_(max_(floor_(y), R(0.0)), R((float)(height - 1)));
    const sint at = (to_int(row) * I(width) + I(width - 1) - to_int(column)) * I(4);
    const real alpha = real_gather(rgba + 3, at), straight = R(1.0) / max_(alpha, R(1e-6)),
               weight = alpha * R(surface->material->reflectance);
    const real3 sum = make_real3(
        fma_(weight, srgb_to_linear(real_gather(rgba, at) * straight), srgb_to_linear(colour.x)),
        fma_(weight, srgb_to_linear(real_gather(rgba + 1, at) * straight), srgb_to_linear(colour.y)),
        fma_(weight, srgb_to_linear(real_gather(rgba + 2, at) * straight), srgb_to_linear(colour.z)));
    return light_display(sum);
}
