// A point of a surface whose material is a network: render/appearance/neural_surface.h for shaders.
#include "render/appearance/neural_light_formula.h"

const int NEURAL_WIDTH = 32; // ORR_NEURAL_WIDTH; ORR_NEURAL_LOBE_WIDTH is half of it
const int LOBE_WIDTH = 16;
const int MOVING = NEURAL_INPUTS - NEURAL_FIXED;

layout(binding = 8) uniform sampler2D low_latents; // as base_texture
layout(binding = 9) uniform sampler2D high_latents;
// orr_neural_weights
layout(binding = 10, scalar) readonly buffer Weights
{
    int width;
    float frame[6 * NEURAL_LATENTS];
    float first[NEURAL_WIDTH * 24];
    float second[NEURAL_WIDTH * NEURAL_WIDTH];
    float last[NEURAL_VALUES * NEURAL_WIDTH];
    float lobes_first[LOBE_WIDTH * 12];
    float lobes_second[LOBE_WIDTH * LOBE_WIDTH];
    float lobes_last[NEURAL_LOBE_OUTPUTS * LOBE_WIDTH];
}
neural;

struct neural_surface {
    float latents[NEURAL_LATENTS];
    real3 to_eye; // in the surface's space, as all directions here
    neural_frame frames[NEURAL_FRAMES];
    float begun[NEURAL_WIDTH]; // sums of the first layer over what does not depend on the light
};

float frame_product(int row, float latents[NEURAL_LATENTS])
{
    float sum = 0.0;
    for (int i = 0; i < NEURAL_LATENTS; i++) {
        sum = fma(neural.frame[NEURAL_LATENTS * row + i], latents[i], sum);
    }
    return sum;
}

neural_surface neural_surface_of(real4 low, real4 high, real3 to_eye)
{
    neural_surface s;
    float texels[NEURAL_LATENTS] = float[](low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);
    float fixed_inputs[NEURAL_FIXED];
    s.to_eye = to_eye;
    for (int i = 0; i < NEURAL_LATENTS; i++) {
        s.latents[i] = fixed_inputs[i] = fma(2.0, texels[i], -1.0);
    }
    real3 none = make_real3(0.0, 0.0, 0.0);
    s.frames[0] = neural_frame_of(none, none);
    s.frames[1] = neural_frame_of(
        make_real3(frame_product(0, s.latents), frame_product(1, s.latents), frame_product(2, s.latents)),
        make_real3(frame_product(3, s.latents), frame_product(4, s.latents), frame_product(5, s.latents)));
    for (int i = 0; i < NEURAL_FRAMES; i++) {
        real3 turned = neural_turn(s.frames[i], to_eye);
        fixed_inputs[NEURAL_LATENTS + 3 * i] = turned.x;
        fixed_inputs[NEURAL_LATENTS + 3 * i + 1] = turned.y;
        fixed_inputs[NEURAL_LATENTS + 3 * i + 2] = turned.z;
    }
    for (int i = 0; i < neural.width; i++) {
        float sum = neural.first[24 * i + NEURAL_INPUTS];
        for (int k = 0; k < NEURAL_FIXED; k++) {
            sum = fma(neural.first[24 * i + k], fixed_inputs[k], sum);
        }
        s.begun[i] = sum;
    }
    return s;
}

// Reflectance times cosine [1/sr]; 0 for light from below the surface.
real3 neural_reflect(neural_surface s, real3 to_light)
{
    real3 half_way = normalise3(add3(s.to_eye, to_light));
    float moving[MOVING], hidden[NEURAL_WIDTH], second[NEURAL_WIDTH], parts[NEURAL_VALUES];
    for (int i = 0; i < NEURAL_FRAMES; i++) {
        real3 turned = neural_turn(s.frames[i], to_light);
        moving[3 * i] = turned.x;
        moving[3 * i + 1] = turned.y;
        moving[3 * i + 2] = turned.z;
        moving[3 * NEURAL_FRAMES + i] = neural_ridge(neural_turn(s.frames[i], half_way));
    }
    moving[4 * NEURAL_FRAMES] = neural_miss(s.to_eye, half_way);
    for (int i = 0; i < neural.width; i++) {
        float sum = s.begun[i];
        for (int k = 0; k < MOVING; k++) {
            sum = fma(neural.first[24 * i + NEURAL_FIXED + k], moving[k], sum);
        }
        hidden[i] = max_(sum, 0.0);
    }
    for (int i = 0; i < neural.width; i++) {
        float sum = 0.0;
        for (int k = 0; k < neural.width; k++) {
            sum = fma(neural.second[NEURAL_WIDTH * i + k], hidden[k], sum);
        }
        second[i] = max_(sum, 0.0);
    }
    for (int i = 0; i < NEURAL_VALUES; i++) {
        float sum = 0.0;
        for (int k = 0; k < neural.width; k++) {
            sum = fma(neural.last[NEURAL_WIDTH * i + k], second[k], sum);
        }
        parts[i] = to_light.z > 0.0 ? neural_reflectance(sum) : 0.0;
    }
    return make_real3(parts[0] + parts[3] + parts[6], parts[1] + parts[4] + parts[6],
                      parts[2] + parts[5] + parts[6]);
}

neural_lobes neural_lobes_of(neural_surface s)
{
    float hidden[LOBE_WIDTH], second[LOBE_WIDTH], parts[NEURAL_LOBE_OUTPUTS];
    int lobe_width = min(neural.width, LOBE_WIDTH); // unknown to the compiler, or it would unroll the loops
    float eye[3] = float[](s.to_eye.x, s.to_eye.y, s.to_eye.z);
    for (int i = 0; i < lobe_width; i++) {
        float sum = neural.lobes_first[12 * i + NEURAL_LOBE_INPUTS];
        for (int k = 0; k < NEURAL_LATENTS; k++) {
            sum = fma(neural.lobes_first[12 * i + k], s.latents[k], sum);
        }
        for (int k = 0; k < 3; k++) {
            sum = fma(neural.lobes_first[12 * i + NEURAL_LATENTS + k], eye[k], sum);
        }
        hidden[i] = max_(sum, 0.0);
    }
    for (int i = 0; i < lobe_width; i++) {
        float sum = 0.0;
        for (int k = 0; k < lobe_width; k++) {
            sum = fma(neural.lobes_second[LOBE_WIDTH * i + k], hidden[k], sum);
        }
        second[i] = max_(sum, 0.0);
    }
    for (int i = 0; i < NEURAL_LOBE_OUTPUTS; i++) {
        float sum = 0.0;
        for (int k = 0; k < lobe_width; k++) {
            sum = fma(neural.lobes_last[LOBE_WIDTH * i + k], second[k], sum);
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
