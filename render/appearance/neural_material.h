// A material that is a small network: eight values in each texel of a texture, three matrices that turn these
// and two directions into reflected light, and three that say how light from everywhere is reflected
// (neural_formula.h). It is learnt from a material of a mesh (material_trainer.h) and kept in a file.
#pragma once

#include "engine/core/file.h"
#include "render/mesh.h"

enum {
    ORR_NEURAL_LATENTS = 8,
    ORR_NEURAL_WIDTH = 32,      // of the network of reflected light, at most
    ORR_NEURAL_LOBE_WIDTH = 16, // of the network of lobes
    ORR_NEURAL_SIDE_MAX = 4096  // texels
};

// Rows are outputs; the last column is a bias. Plain floats, for kernels too.
typedef struct orr_neural_weights {
    int32_t width;                      // 16 or 32: how many rows and columns are used
    float frame[6][ORR_NEURAL_LATENTS]; // the learnt frame: the vector right, then the normal
    float first[ORR_NEURAL_WIDTH][24];  // latents, the eye in both frames, the light in both, 3 logarithms
    float second[ORR_NEURAL_WIDTH][ORR_NEURAL_WIDTH];
    float last[7][ORR_NEURAL_WIDTH];              // two colours, and a grey
    float lobes_first[ORR_NEURAL_LOBE_WIDTH][12]; // latents, the eye
    float lobes_second[ORR_NEURAL_LOBE_WIDTH][ORR_NEURAL_LOBE_WIDTH];
    float lobes_last[12][ORR_NEURAL_LOBE_WIDTH];
} orr_neural_weights;

typedef struct orr_neural_material {
    orr_neural_weights weights;
    // two pictures with their mip chains, as textures of meshes are kept: four latents each, of which the
    // first three are encoded as colours are; a decoded 0 .. 1 is a latent of -1 .. 1
    orr_image8 latents[2];
} orr_neural_material;

// ORR_ERROR_FILE, ORR_ERROR_FORMAT: what was expected.
orr_result orr_neural_material_load(const char *path, orr_neural_material **material, orr_error *error);
// A file's content; `name` is for messages.
orr_result orr_neural_material_read(const char *name, const uint8_t *data, size_t size,
                                    orr_neural_material **material, orr_error *error);
orr_result orr_neural_material_save(const orr_neural_material *material, const char *path, orr_error *error);
void orr_neural_material_destroy(orr_neural_material *material); // NULL is allowed
// Of a picture of latents with its mip chain.
size_t orr_neural_texels(int width, int height);
