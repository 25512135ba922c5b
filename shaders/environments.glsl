// Lookups in the maps of environments, which are behind one another in `environment_texels`. Comes after it.
#include "render/environment/environment_formula.h"

real3 environment_texel(int index)
{
    uint t = environment_texels[index];
    return environment_decode(float(t & 511u), float((t >> 9) & 511u), float((t >> 18) & 511u),
                              float(t >> 27));
}

real3 environment_bilinear(environment_square s)
{
    int first = int(s.first), below = first + int(s.stride);
    real3 top = environment_mix(environment_texel(first), environment_texel(first + 1), s.right);
    real3 bottom = environment_mix(environment_texel(below), environment_texel(below + 1), s.right);
    return environment_mix(top, bottom, s.down);
}

// Radiance in a direction of the map's space, blurred as a surface of that roughness mirrors it.
real3 environment_lookup(environment_view v, real3 towards, float roughness)
{
    environment_place p = environment_find_levels(v, towards, roughness);
    real3 light = environment_mix(environment_bilinear(p.fine), environment_bilinear(p.coarse), p.part);
    return scale3(light, v.strength);
}
