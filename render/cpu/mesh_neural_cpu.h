// Lanes over lit points of a surface whose material is a network. Part of mesh_shade_cpu.c.
#pragma once

#include "render/appearance/neural_light_formula.h"
#include "render/appearance/neural_surface.h"
#include "render/cpu/mesh_light_cpu.h"

// Display colour by all lights. tint: a factor of what is reflected; emissive: linear
LARGE_FN real3 light_up_neural(const mesh_raster *raster, const mesh_surface *surface,
                               const neural_surface *s, mesh_frame frame, light_point point, real3 tint,
                               real3 emissive)
{
    const orr_draw_lighting *lighting = &raster->lighting;
    const neural_lobes lobes = neural_lobes_of(s);
    const real3 bent = mesh_out_of(frame, lobes.normal);
    const real occlusion = lobes.occlusion * open_part(raster, point);
    light_sums sums = begin_light(raster, surface, 0.0f, R(1.0));
    for (int i = 0; i < lighting->count; i++) {
        const light_source light = light_of(&lighting->lights[i]);
        const light_incidence incidence = light_incident(light, point.position);
        real3 reflected = make_real3(R(0.0), R(0.0), R(0.0));
        if (light.area < 0.5f) {
            reflected = neural_reflect(s, mesh_into(frame, incidence.to_light));
        }
        sums = neural_add_light(sums, light, incidence, point, bent,
                                visible_part(raster, i, incidence, point), lobes, reflected);
    }
    if (surface->instance->environment > 0) {
        const environment_lanes e = environment_around(raster, surface);
        sums = neural_add_environment(sums, lobes, occlusion, environment_matte(&e, point.position, bent),
                                      mirrored_around(&e, point, bent, lobes.roughness),
                                      mirrored_around(&e, point, point.normal, lobes.coat_roughness));
    }
    const real3 light = light_reflected(sums, neural_albedo(lobes), occlusion);
    return light_shade(tone_of(lighting), add3(times3(light, tint), emissive));
}
