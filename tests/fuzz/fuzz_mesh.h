// For the readers of meshes: what they return is a mesh that can be used, or one line of error.
#pragma once

#include "engine/mesh/mesh_file.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>

static inline int fuzz_mesh(const char *name, const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    const orr_bytes bytes = {(uint8_t *)text, size};
    const orr_mesh_file_desc desc = {
        .path = name, .bytes = &bytes, .share_vertices = true, .make_normals = true, .read_textures = true};
    orr_mesh_file mesh;
    orr_error error = {0};
    orr_result result = orr_mesh_file_read(&desc, &mesh, &error);
    fuzz_expect(result, mesh.indices != NULL, &error);
    bool good = !strchr(mesh.unused, '\n');
    for (int64_t i = 0; i < mesh.index_count; i++) {
        good = good && mesh.indices[i] < mesh.vertex_count;
    }
    for (int64_t i = 0; i < mesh.vertex_count; i++) {
        for (int k = 0; k < 3; k++) {
            good = good && isfinite(mesh.vertices[i].position[k]) && isfinite(mesh.vertices[i].normal[k]);
        }
    }
    for (int i = 0; i < mesh.part_count; i++) {
        int material = mesh.parts[i].material;
        good = good && material >= 0 && material < mesh.material_count &&
               mesh.materials[material].texture < mesh.texture_count;
    }
    if (!good) {
        abort();
    }
    orr_mesh_file_free(&mesh);
    free(text);
    return 0;
}
