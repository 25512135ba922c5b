// Shared by the two files of the reader: the scene as assimp has read it, and the mesh made from it.
#pragma once

#include "engine/mesh/mesh_file.h"

#include <assimp/scene.h>

typedef struct mesh_import {
    const orr_mesh_file_desc *desc;
    const struct aiScene *scene;
    orr_mesh_file *mesh;
    char **texture_names; // texture_count
    bool gltf;
    orr_error *error;
} mesh_import;

// Fills in materials and textures; the scene's meshes must name only materials that exist.
orr_result orr_mesh_import_materials(mesh_import *in);
