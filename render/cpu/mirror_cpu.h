// Lanes over pixels of a mirror. Part of mesh_shade_cpu.c.
#pragma once

#include "render/cpu/mesh_raster_stages.h"
#include "render/mirror/mirror_formula.h"

// Light of what the mirror shows at the pixels that hold x, y [px], added to its surface's display colour.
static __attribute__((noinline, unused)) real3
mirror_shade(const mesh_raster *raster, const mesh_surface *surface, real3 colour, real x, real y)
{
    const float *rgba = surface->mirror->rgba;
    const sint column = to_int(mirror_column((float)raster->lens.width, x)),
               row = to_int(mirror_row((float)raster->lens.height, y)),
               at = (row * I(raster->lens.width) + column) * I(4);
    const real4 seen = make_real4(real_gather(rgba, at), real_gather(rgba + 1, at), real_gather(rgba + 2, at),
                                  real_gather(rgba + 3, at));
    return mirror_add(surface->material->reflectance, colour, seen);
}
