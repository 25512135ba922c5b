// The faces of a skybox as a mesh.
#include "engine/core/memory.h"
#include "engine/scene/robot/robot_shape.h"

#include <string.h>

enum { FACES = 6 };

// How a face's picture lies, seen from inside: its middle, and where its right and its lower edge are. The
// cube of a sky has y up in the picture's frame, which is z in the model's, and looks along +z, which is -y.
static const struct {
    float middle[3], right[3], down[3];
} faces[FACES] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, -1}},   // +x
    {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, // -x
    {{0, 0, 1}, {1, 0, 0}, {0, -1, 0}},   // +y
    {{0, 0, -1}, {1, 0, 0}, {0, 1, 0}},   // -y
    {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}},  // +z
    {{0, 1, 0}, {-1, 0, 0}, {0, 0, -1}},  // -z
};

static orr_result copy_face(const orr_image8 *from, int face, orr_image8 *to, orr_error *error)
{
    size_t bytes = 4 * (size_t)from->width * (size_t)from->width;
    uint8_t *rgba;
    ORR_ALLOC(rgba, bytes, "a face of a sky", error);
    memcpy(rgba, from->rgba + (size_t)face * bytes, bytes);
    *to = (orr_image8){from->width, from->width, rgba};
    return ORR_OK;
}

// Textures repeat, so half a texel at the edges would be of the other edge.
static void put_face(orr_mesh *mesh, int face, float margin)
{
    static const uint32_t corners[6] = {0, 1, 2, 0, 2, 3};
    for (uint32_t i = 0; i < 4; i++) {
        bool right = i == 1 || i == 2, down = i >= 2;
        orr_mesh_vertex *v = &mesh->vertices[mesh->vertex_count + i];
        *v = (orr_mesh_vertex){.uv = {right ? 1.0f - margin : margin, down ? 1.0f - margin : margin},
                               .colour = {255, 255, 255, 255}};
        for (int k = 0; k < 3; k++) {
            v->position[k] = faces[face].middle[k] + (right ? 1.0f : -1.0f) * faces[face].right[k] +
                             (down ? 1.0f : -1.0f) * faces[face].down[k];
            v->normal[k] = -faces[face].middle[k];
        }
    }
    for (int i = 0; i < 6; i++) {
        mesh->indices[mesh->index_count + i] = (uint32_t)mesh->vertex_count + corners[i];
    }
    mesh->materials[face] =
        (orr_mesh_material){.base_colour = {1.0f, 1.0f, 1.0f, 1.0f}, .texture = face, .two_sided = true};
    mesh->parts[face] = (orr_mesh_part){(uint32_t)mesh->index_count, 6, face};
    mesh->vertex_count += 4;
    mesh->index_count += 6;
}

static orr_result fill(const orr_image8 *texture, orr_mesh *mesh, orr_error *error)
{
    ORR_ALLOC(mesh->vertices, 4 * FACES, "a sky", error);
    ORR_ALLOC(mesh->indices, 6 * FACES, "a sky", error);
    ORR_ALLOC(mesh->parts, FACES, "a sky", error);
    ORR_ALLOC(mesh->materials, FACES, "a sky", error);
    ORR_ALLOC(mesh->textures, FACES, "a sky", error);
    for (int face = 0; face < FACES; face++) {
        ORR_TRY(copy_face(texture, face, &mesh->textures[face], error));
        mesh->texture_count++;
        put_face(mesh, face, 0.5f / (float)texture->width);
        mesh->part_count = mesh->material_count = face + 1;
    }
    for (int k = 0; k < 3; k++) {
        mesh->low[k] = -1.0f;
        mesh->high[k] = 1.0f;
    }
    return orr_mesh_build_mips(mesh, error);
}

orr_result orr_robot_sky_shape(const orr_image8 *texture, orr_mesh **out, orr_error *error)
{
    *out = NULL;
    orr_mesh *mesh = orr_alloc_zero(1, sizeof *mesh);
    if (!mesh) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a sky");
    }
    orr_result result = fill(texture, mesh, error);
    if (result != ORR_OK) {
        orr_mesh_destroy(mesh);
        return result;
    }
    *out = mesh;
    return ORR_OK;
}
