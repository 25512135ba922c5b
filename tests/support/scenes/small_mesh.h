// Meshes made by tests.
#pragma once

#include "render/draw.h"

// A mesh of one part and one material over the test's own arrays. Not to be copied: it points into itself.
typedef struct small_mesh {
    orr_mesh mesh;
    orr_mesh_part part;
    orr_mesh_material material;
    orr_image8 texture;
} small_mesh;

void small_mesh_set(small_mesh *m, orr_mesh_vertex *vertices, int vertex_count, uint32_t *indices,
                    int index_count);
// A material that is a network, of random weights and latents of side x side texels; destroyed by the caller.
struct orr_neural_material *random_network(int width, int side, uint32_t seed);
