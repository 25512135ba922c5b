// Lookups in the maps of environments, for lanes.
#pragma once

#include "render/draw.h"
#include "render/formula_inputs.h"

// An environment of the frame with its own texels.
typedef struct environment_lanes {
    environment_view view;
    const uint32_t *texels;
} environment_lanes;

FN environment_lanes environment_lanes_of(const orr_draw_environment *environment,
                                          const orr_environment_values *values)
{
    environment_lanes e = {environment_of(values), environment->map->texels};
    e.view.first = 0.0f;
    return e;
}

FN real3 environment_texel(const uint32_t *texels, sint index)
{
    sint t = sint_gather((const int32_t *)texels, index);
    return environment_decode(to_real(t & I(511)), to_real((t >> 9) & I(511)), to_real((t >> 18) & I(511)),
                              to_real((t >> 27) & I(31)));
}

FN real3 environment_bilinear(const uint32_t *texels, environment_square s)
{
    sint first = to_int(s.first), below = first + to_int(s.stride);
    real3 top =
        environment_mix(environment_texel(texels, first), environment_texel(texels, first + I(1)), s.right);
    real3 bottom =
        environment_mix(environment_texel(texels, below), environment_texel(texels, below + I(1)), s.right);
    return environment_mix(top, bottom, s.down);
}

// Radiance in a direction of the map's space, blurred as a surface of that roughness mirrors it.
FN real3 environment_lookup(const environment_lanes *e, real3 towards, real roughness)
{
    environment_place p = environment_find_levels(e->view, towards, roughness);
    real3 light = environment_mix(environment_bilinear(e->texels, p.fine),
                                  environment_bilinear(e->texels, p.coarse), p.part);
    return scale3(light, R(e->view.strength));
}

// What is behind everything at points of the picture [px]: display colour.
FN real3 environment_behind(const environment_lanes *e, tone_curve tone, sky_view sky, real x, real y)
{
    real3 d = affine_direction(e->view.to_map, sky_direction(sky, x, y));
    environment_square s = environment_find(environment_flatten(d), R(e->view.first), R(e->view.sharp));
    return light_display(tone_map(tone, scale3(environment_bilinear(e->texels, s), R(e->view.strength))));
}
