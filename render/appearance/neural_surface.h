// A point of a surface whose material is a network, and what it reflects: the products of matrices between
// what goes in and what comes out (neural_formula.h). For lanes, kernels, plain C (ORR_SCALAR) and shaders,
// which declare the weights as the buffer `neural` before (shaders/neural.glsl).
#ifndef ORR_NEURAL_SURFACE_H
#define ORR_NEURAL_SURFACE_H

#include "render/appearance/neural_formula.h"

// Where the weights and the point are: behind pointers in C, a buffer and a value in shaders.
#if defined(ORR_FORMULA_GLSL)
#define NEURAL_WEIGHTS_MEMBER
#define NEURAL_WEIGHTS_PARAMETER
#define NEURAL_TAKE_WEIGHTS
#define NEURAL_POINT_PARAMETER neural_surface s
#define NEURAL_POINT(member) s.member
#define NEURAL_ROWS neural.width
// flat: the same values as with arrays of arrays, and drawn sooner by lavapipe
#define NEURAL_WEIGHT(matrix, columns, row, column) neural.matrix[(columns) * (row) + (column)]
// A bound that compilers do not know, so that they do not unroll the loops, which takes lavapipe seconds.
// It is min, as lavapipe draws wrongly with a choice by ?: here.
#define NEURAL_LOBE_ROWS min(neural.width, NEURAL_LOBE_WIDTH)
#else
#include "render/appearance/neural_material.h"
_Static_assert(NEURAL_WIDTH == ORR_NEURAL_WIDTH && NEURAL_LOBE_WIDTH == ORR_NEURAL_LOBE_WIDTH &&
                   NEURAL_LATENTS == ORR_NEURAL_LATENTS,
               "as the weights have it");
#define NEURAL_WEIGHTS_MEMBER const orr_neural_weights *weights;
#define NEURAL_WEIGHTS_PARAMETER const orr_neural_weights *weights,
#define NEURAL_TAKE_WEIGHTS const orr_neural_weights *weights = s->weights;
#define NEURAL_POINT_PARAMETER const neural_surface *s
#define NEURAL_POINT(member) s->member
#define NEURAL_ROWS weights->width
#define NEURAL_WEIGHT(matrix, columns, row, column) weights->matrix[row][column]
#define NEURAL_LOBE_ROWS NEURAL_LOBE_WIDTH
#endif

STRUCT(neural_surface)
{
    NEURAL_WEIGHTS_MEMBER
    real latents[NEURAL_LATENTS];
    real3 to_eye; // in the surface's space, as all directions here
    neural_frame frames[NEURAL_FRAMES];
    real begun[NEURAL_WIDTH]; // sums of the first layer over what does not depend on the light
}
END_STRUCT(neural_surface)

FN real neural_latent(real texel)
{
    return fma_(R(2.0), texel, R(-1.0));
}

FN real neural_positive(real sum)
{
    return max_(sum, R(0.0));
}

// low, high: texels of the two pictures, decoded
FN neural_surface neural_surface_of(NEURAL_WEIGHTS_PARAMETER real4 low, real4 high, real3 to_eye)
{
    neural_surface s;
    real known[NEURAL_FIXED], turned[6];
#if !defined(ORR_FORMULA_GLSL)
    s.weights = weights;
#endif
    s.to_eye = to_eye;
    s.latents[0] = neural_latent(low.x);
    s.latents[1] = neural_latent(low.y);
    s.latents[2] = neural_latent(low.z);
    s.latents[3] = neural_latent(low.w);
    s.latents[4] = neural_latent(high.x);
    s.latents[5] = neural_latent(high.y);
    s.latents[6] = neural_latent(high.z);
    s.latents[7] = neural_latent(high.w);
    for (int i = 0; i < NEURAL_LATENTS; i++) {
        known[i] = s.latents[i];
    }
    for (int i = 0; i < 6; i++) {
        real sum = R(0.0);
        for (int k = 0; k < NEURAL_LATENTS; k++) {
            sum = fma_(R(NEURAL_WEIGHT(frame, NEURAL_LATENTS, i, k)), s.latents[k], sum);
        }
        turned[i] = sum;
    }
    s.frames[0] = neural_frame_of(make_real3(R(0.0), R(0.0), R(0.0)), make_real3(R(0.0), R(0.0), R(0.0)));
    s.frames[1] = neural_frame_of(make_real3(turned[0], turned[1], turned[2]),
                                  make_real3(turned[3], turned[4], turned[5]));
    for (int i = 0; i < NEURAL_FRAMES; i++) {
        real3 eye = neural_turn(s.frames[i], to_eye);
        known[NEURAL_LATENTS + 3 * i] = eye.x;
        known[NEURAL_LATENTS + 3 * i + 1] = eye.y;
        known[NEURAL_LATENTS + 3 * i + 2] = eye.z;
    }
    for (int i = 0; i < NEURAL_ROWS; i++) {
        real sum = R(NEURAL_WEIGHT(first, NEURAL_INPUTS + 1, i, NEURAL_INPUTS));
        for (int k = 0; k < NEURAL_FIXED; k++) {
            sum = fma_(R(NEURAL_WEIGHT(first, NEURAL_INPUTS + 1, i, k)), known[k], sum);
        }
        s.begun[i] = sum;
    }
    return s;
}

// Reflectance times cosine [1/sr]; 0 for light from below the surface.
FN real3 neural_reflect(NEURAL_POINT_PARAMETER, real3 to_light)
{
    NEURAL_TAKE_WEIGHTS
    real3 half_way = normalise3(add3(NEURAL_POINT(to_eye), to_light));
    real moving[NEURAL_INPUTS - NEURAL_FIXED], first[NEURAL_WIDTH], second[NEURAL_WIDTH],
        parts[NEURAL_VALUES];
    for (int i = 0; i < NEURAL_FRAMES; i++) {
        real3 light = neural_turn(NEURAL_POINT(frames)[i], to_light);
        moving[3 * i] = light.x;
        moving[3 * i + 1] = light.y;
        moving[3 * i + 2] = light.z;
        moving[3 * NEURAL_FRAMES + i] = neural_ridge(neural_turn(NEURAL_POINT(frames)[i], half_way));
    }
    moving[4 * NEURAL_FRAMES] = neural_miss(NEURAL_POINT(to_eye), half_way);
    for (int i = 0; i < NEURAL_ROWS; i++) {
        real sum = NEURAL_POINT(begun)[i];
        for (int k = 0; k < NEURAL_INPUTS - NEURAL_FIXED; k++) {
            sum = fma_(R(NEURAL_WEIGHT(first, NEURAL_INPUTS + 1, i, NEURAL_FIXED + k)), moving[k], sum);
        }
        first[i] = neural_positive(sum);
    }
    for (int i = 0; i < NEURAL_ROWS; i++) {
        real sum = R(0.0);
        for (int k = 0; k < NEURAL_ROWS; k++) {
            sum = fma_(R(NEURAL_WEIGHT(second, NEURAL_WIDTH, i, k)), first[k], sum);
        }
        second[i] = neural_positive(sum);
    }
    for (int i = 0; i < NEURAL_VALUES; i++) {
        real sum = R(0.0);
        for (int k = 0; k < NEURAL_ROWS; k++) {
            sum = fma_(R(NEURAL_WEIGHT(last, NEURAL_WIDTH, i, k)), second[k], sum);
        }
        parts[i] = sel(to_light.z > R(0.0), neural_reflectance(sum), R(0.0));
    }
    return make_real3(parts[0] + parts[3] + parts[6], parts[1] + parts[4] + parts[6],
                      parts[2] + parts[5] + parts[6]);
}

FN neural_lobes neural_lobes_of(NEURAL_POINT_PARAMETER)
{
    NEURAL_TAKE_WEIGHTS
    const int rows = NEURAL_LOBE_ROWS;
    real values[NEURAL_LOBE_INPUTS], first[NEURAL_LOBE_WIDTH], second[NEURAL_LOBE_WIDTH],
        parts[NEURAL_LOBE_OUTPUTS];
    for (int i = 0; i < NEURAL_LATENTS; i++) {
        values[i] = NEURAL_POINT(latents)[i];
    }
    values[NEURAL_LATENTS] = NEURAL_POINT(to_eye).x;
    values[NEURAL_LATENTS + 1] = NEURAL_POINT(to_eye).y;
    values[NEURAL_LATENTS + 2] = NEURAL_POINT(to_eye).z;
    for (int i = 0; i < rows; i++) {
        real sum = R(NEURAL_WEIGHT(lobes_first, NEURAL_LOBE_INPUTS + 1, i, NEURAL_LOBE_INPUTS));
        for (int k = 0; k < NEURAL_LOBE_INPUTS; k++) {
            sum = fma_(R(NEURAL_WEIGHT(lobes_first, NEURAL_LOBE_INPUTS + 1, i, k)), values[k], sum);
        }
        first[i] = neural_positive(sum);
    }
    for (int i = 0; i < rows; i++) {
        real sum = R(0.0);
        for (int k = 0; k < rows; k++) {
            sum = fma_(R(NEURAL_WEIGHT(lobes_second, NEURAL_LOBE_WIDTH, i, k)), first[k], sum);
        }
        second[i] = neural_positive(sum);
    }
    for (int i = 0; i < NEURAL_LOBE_OUTPUTS; i++) {
        real sum = R(0.0);
        for (int k = 0; k < rows; k++) {
            sum = fma_(R(NEURAL_WEIGHT(lobes_last, NEURAL_LOBE_WIDTH, i, k)), second[k], sum);
        }
        parts[i] = neural_part(sum);
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

#endif
