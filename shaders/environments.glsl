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

// What a white matte surface reflects of it.
real3 environment_matte(environment_view v, real3 position, real3 normal)
{
    real3 diffuse = environment_diffuse(v, normal);
    if (v.points_x < 2.0) {
        return diffuse;
    }
    environment_cell c = environment_find_cell(v, position, normal);
    real3 sum = make_real3(0.0, 0.0, 0.0);
    float weights = 0.0;
    for (int i = 0; i < 8; i++) {
        environment_corner k =
            environment_corner_of(v, c, float(i & 1), float((i >> 1) & 1), float(i >> 2));
        sum = environment_add_corner(sum, c, k, environment_texel(int(k.x)), environment_texel(int(k.y)),
                                     environment_texel(int(k.z)));
        weights += k.weight;
    }
    return environment_with_grid(v, diffuse, sum, weights);
}
