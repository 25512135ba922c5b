#include "tests/support/scenes/small_mesh.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "render/appearance/neural_material.h"

#include <math.h>

void small_mesh_set(small_mesh *m, orr_mesh_vertex *vertices, int vertex_count, uint32_t *indices,
                    int index_count)
{
    *m = (small_mesh){.part = {0, (uint32_t)index_count, 0},
                      .material = {.base_colour = {1, 1, 1, 1},
                                   .texture = -1,
                                   .two_sided = true,
                                   .surface_texture = -1,
                                   .second_surface_texture = -1,
                                   .emissive_texture = -1,
                                   .normal_texture = -1,
                                   .coat_texture = -1,
                                   .coat_normal_texture = -1}};
    m->mesh = (orr_mesh){.vertices = vertices,
                         .indices = indices,
                         .parts = &m->part,
                         .materials = &m->material,
                         .textures = &m->texture,
                         .vertex_count = vertex_count,
                         .index_count = index_count,
                         .part_count = 1,
                         .material_count = 1};
    for (int k = 0; k < 3; k++) {
        m->mesh.low[k] = INFINITY;
        m->mesh.high[k] = -INFINITY;
        for (int i = 0; i < vertex_count; i++) {
            m->mesh.low[k] = fminf(m->mesh.low[k], vertices[i].position[k]);
            m->mesh.high[k] = fmaxf(m->mesh.high[k], vertices[i].position[k]);
        }
    }
}

orr_neural_material *random_network(int width, int side, uint32_t seed)
{
    orr_neural_material *m = orr_alloc_zero(1, sizeof *m);
    orr_rng random = {seed, 0, 0};
    float *weights = m->weights.frame[0];
    const size_t count = (sizeof m->weights - offsetof(orr_neural_weights, frame)) / sizeof *weights,
                 texels = orr_neural_texels(side, side);
    for (size_t i = 0; i < count; i++) {
        weights[i] = orr_rng_range(&random, -0.4f, 0.4f);
    }
    m->weights.width = width;
    for (int i = 0; i < 2; i++) {
        m->latents[i] = (orr_image8){side, side, orr_alloc(texels, 4)};
        for (size_t k = 0; k < 4 * texels; k++) {
            m->latents[i].rgba[k] = (uint8_t)orr_rng_range(&random, 60.0f, 230.0f);
        }
    }
    return m;
}
