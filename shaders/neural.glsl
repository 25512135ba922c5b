// Materials that are networks: their pictures of latents, and their weights as orr_neural_weights has them.
#include "render/appearance/neural_formula.h"
#include "render/appearance/neural_light_formula.h"

layout(binding = 8) uniform sampler2D low_latents; // as base_texture
layout(binding = 9) uniform sampler2D high_latents;
layout(binding = 10, scalar) readonly buffer Weights
{
    int width;
    float frame[6 * NEURAL_LATENTS];
    float first[NEURAL_WIDTH * (NEURAL_INPUTS + 1)];
    float second[NEURAL_WIDTH * NEURAL_WIDTH];
    float last[NEURAL_VALUES * NEURAL_WIDTH];
    float lobes_first[NEURAL_LOBE_WIDTH * (NEURAL_LOBE_INPUTS + 1)];
    float lobes_second[NEURAL_LOBE_WIDTH * NEURAL_LOBE_WIDTH];
    float lobes_last[NEURAL_LOBE_OUTPUTS * NEURAL_LOBE_WIDTH];
}
neural;

#include "render/appearance/neural_surface.h"
