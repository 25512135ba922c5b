#include "tests/support/small_mesh.h"

#include <math.h>

void small_mesh_set(small_mesh *m, orr_mesh_vertex *vertices, int vertex_count, uint32_t *indices,
                    int index_count)
{
    *m = (small_mesh){.part = {0, (uint32_t)index_count, 0},
                      .material = {.base_colour = {1, 1, 1, 1},
                                   .texture = -1,
                                   .two_sided = true,
                                   .surface_texture = -1,
                                   .emissive_texture = -1,
                                   .normal_texture = -1,
                                   .coat_texture = -1}};
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
