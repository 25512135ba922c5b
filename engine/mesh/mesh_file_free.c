#include "engine/core/memory.h"
#include "engine/mesh/mesh_file.h"

void orr_mesh_file_free(orr_mesh_file *mesh)
{
    for (int i = 0; i < mesh->texture_count && mesh->textures; i++) {
        orr_image8_free(&mesh->textures[i]);
    }
    orr_free(mesh->positions);
    orr_free(mesh->normals);
    orr_free(mesh->texcoords);
    orr_free(mesh->colours);
    orr_free(mesh->indices);
    orr_free(mesh->parts);
    orr_free(mesh->materials);
    orr_free(mesh->textures);
    *mesh = (orr_mesh_file){0};
}
