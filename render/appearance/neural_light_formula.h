// How a surface whose material is a network is lit: what lights add to what its pixel shows. One text for CPU
// lanes, CUDA and GLSL (see engine/maths/formula.h).
#ifndef ORR_NEURAL_LIGHT_FORMULA_H
#define ORR_NEURAL_LIGHT_FORMULA_H

#include "render/appearance/neural_formula.h"
#include "render/light_formula.h"

// The part of light from everywhere that is reflected to the eye.
FN real3 neural_albedo(neural_lobes l)
{
    real3 sum = add3(l.matte, l.mirrored);
    return make_real3(sum.x + l.coat, sum.y + l.coat, sum.z + l.coat);
}

// Adds one light, of which the part `visible` reaches the point: ambient light to `diffuse`, the rest as it
// is reflected to `highlight`. reflected: of neural_reflect; bent: the normal of the lobes
FN light_sums neural_add_light(light_sums sums, light_source l, light_incidence i, light_point p, real3 bent,
                               real visible, neural_lobes lobes, real3 reflected)
{
    real3 of_white;
    sums.diffuse = light_add_colour(sums.diffuse, i.strength, l.ambient_red, l.ambient_green, l.ambient_blue);
    if (l.area > 0.5f) {
        visible = light_area_visible(visible, i.to_light, p.normal);
        real alpha = max_(lobes.roughness * lobes.roughness, R(BSDF_ALPHA_MIN));
        real coat_alpha = max_(lobes.coat_roughness * lobes.coat_roughness, R(BSDF_ALPHA_MIN));
        real coat = lobes.coat * light_area_mirrored(l, p, p.normal, coat_alpha);
        of_white = scale3(lobes.matte, light_area_matte(l, p.position, bent));
        of_white = add_scaled3(of_white, lobes.mirrored, light_area_mirrored(l, p, bent, alpha));
        of_white = scale3(make_real3(of_white.x + coat, of_white.y + coat, of_white.z + coat), visible);
    } else {
        real weight = i.strength * visible * R(BSDF_PI);
        of_white = scale3(reflected, sel(dot3(i.to_light, p.normal) > R(0.0), weight, R(0.0)));
    }
    sums.highlight =
        add3(sums.highlight,
             times3(of_white, make_real3(R(l.diffuse_red), R(l.diffuse_green), R(l.diffuse_blue))));
    return sums;
}

// Adds what is reflected of an environment. matte: of environment_diffuse; mirrored, coat: of its maps,
// around the lobes' normal and the surface's own
FN light_sums neural_add_environment(light_sums sums, neural_lobes l, real occlusion, real3 matte,
                                     real3 mirrored, real3 coat)
{
    real3 sum = add3(times3(l.matte, matte), times3(l.mirrored, mirrored));
    sums.highlight = add_scaled3(sums.highlight, add_scaled3(sum, coat, l.coat), occlusion);
    return sums;
}

#endif
