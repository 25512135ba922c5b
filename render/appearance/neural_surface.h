// A point of a surface whose material is a network, and what it reflects; for lanes, kernels and plain C
// (ORR_SCALAR).
#pragma once

#include "render/appearance/neural_formula.h"
#include "render/appearance/neural_material.h"

typedef struct neural_surface {
    const orr_neural_weights *weights;
    real latents[NEURAL_LATENTS];
    real3 to_eye; // in the surface's space, as all directions here
    neural_frame frames[NEURAL_FRAMES];
    real begun[ORR_NEURAL_WIDTH]; // sums of the first layer over what does not depend on the light
} neural_surface;

// Row `row` of a matrix times values, added to sum.
FN real neural_product(const float *row, const real *values, int count, real sum)
{
    for (int i = 0; i < count; i++) {
        sum = fma_(R(row[i]), values[i], sum);
    }
    return sum;
}

FN real neural_positive(real sum)
{
    return max_(sum, R(0.0));
}

FN real3 neural_product3(const float (*rows)[NEURAL_LATENTS], const real *values)
{
    return make_real3(neural_product(rows[0], values, NEURAL_LATENTS, R(0.0)),
                      neural_product(rows[1], values, NEURAL_LATENTS, R(0.0)),
                      neural_product(rows[2], values, NEURAL_LATENTS, R(0.0)));
}

FN void neural_put3(real *values, real3 v)
{
    values[0] = v.x;
    values[1] = v.y;
    values[2] = v.z;
}

// low, high: texels of the two pictures, decoded
FN neural_surface neural_surface_of(const orr_neural_weights *weights, real4 low, real4 high, real3 to_eye)
{
    const real texels[NEURAL_LATENTS] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    neural_surface s;
    real fixed[NEURAL_FIXED];
    s.weights = weights;
    s.to_eye = to_eye;
    for (int i = 0; i < NEURAL_LATENTS; i++) {
        s.latents[i] = fixed[i] = fma_(R(2.0), texels[i], R(-1.0));
    }
    const real3 none = make_real3(R(0.0), R(0.0), R(0.0));
    s.frames[0] = neural_frame_of(none, none);
    s.frames[1] = neural_frame_of(neural_product3(weights->frame, s.latents),
                                  neural_product3(weights->frame + 3, s.latents));
    for (int i = 0; i < NEURAL_FRAMES; i++) {
        neural_put3(fixed + NEURAL_LATENTS + 3 * i, neural_turn(s.frames[i], to_eye));
    }
    for (int i = 0; i < weights->width; i++) {
        const float *row = weights->first[i];
        s.begun[i] = neural_product(row, fixed, NEURAL_FIXED, R(row[NEURAL_INPUTS]));
    }
    return s;
}

// Reflectance times cosine [1/sr]; 0 for light from below the surface.
FN real3 neural_reflect(const neural_surface *s, real3 to_light)
{
    const orr_neural_weights *weights = s->weights;
    const real3 half_way = normalise3(add3(s->to_eye, to_light));
    real moving[NEURAL_INPUTS - NEURAL_FIXED], first[ORR_NEURAL_WIDTH], second[ORR_NEURAL_WIDTH];
    for (int i = 0; i < NEURAL_FRAMES; i++) {
        neural_put3(moving + 3 * i, neural_turn(s->frames[i], to_light));
        moving[3 * NEURAL_FRAMES + i] = neural_ridge(neural_turn(s->frames[i], half_way));
    }
    moving[4 * NEURAL_FRAMES] = neural_miss(s->to_eye, half_way);
    for (int i = 0; i < weights->width; i++) {
        first[i] = neural_positive(neural_product(weights->first[i] + NEURAL_FIXED, moving,
                                                  NEURAL_INPUTS - NEURAL_FIXED, s->begun[i]));
    }
    for (int i = 0; i < weights->width; i++) {
        second[i] = neural_positive(neural_product(weights->second[i], first, weights->width, R(0.0)));
    }
    const mask above = to_light.z > R(0.0);
    real parts[NEURAL_VALUES];
    for (int i = 0; i < NEURAL_VALUES; i++) {
        const real sum = neural_product(weights->last[i], second, weights->width, R(0.0));
        parts[i] = sel(above, neural_reflectance(sum), R(0.0));
    }
    return make_real3(parts[0] + parts[3] + parts[6], parts[1] + parts[4] + parts[6],
                      parts[2] + parts[5] + parts[6]);
}

FN neural_lobes neural_lobes_of(const neural_surface *s)
{
    const orr_neural_weights *weights = s->weights;
    real values[NEURAL_LOBE_INPUTS], first[ORR_NEURAL_LOBE_WIDTH], second[ORR_NEURAL_LOBE_WIDTH],
        parts[NEURAL_LOBE_OUTPUTS];
    for (int i = 0; i < NEURAL_LATENTS; i++) {
        values[i] = s->latents[i];
    }
    neural_put3(values + NEURAL_LATENTS, s->to_eye);
    for (int i = 0; i < ORR_NEURAL_LOBE_WIDTH; i++) {
        const float *row = weights->lobes_first[i];
        first[i] =
            neural_positive(neural_product(row, values, NEURAL_LOBE_INPUTS, R(row[NEURAL_LOBE_INPUTS])));
    }
    for (int i = 0; i < ORR_NEURAL_LOBE_WIDTH; i++) {
        second[i] =
            neural_positive(neural_product(weights->lobes_second[i], first, ORR_NEURAL_LOBE_WIDTH, R(0.0)));
    }
    for (int i = 0; i < NEURAL_LOBE_OUTPUTS; i++) {
        parts[i] = neural_part(neural_product(weights->lobes_last[i], second, ORR_NEURAL_LOBE_WIDTH, R(0.0)));
    }
    neural_lobes l;
    l.matte = make_real3(parts[0], parts[1], parts[2]);
    l.mirrored = make_real3(parts[3], parts[4], parts[5]);
    l.roughness = parts[6];
    l.normal = neural_normal(parts[7], parts[8]);
    l.coat = parts[9];
    l.coat_roughness = parts[10];
    l.occlusion = parts[11];
    return l;
}
