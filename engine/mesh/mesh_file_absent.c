// A build without assimp.
#include "engine/mesh/mesh_file.h"

bool orr_mesh_readable(const char *path)
{
    return orr_path_has_ending(path, ".glb") || orr_path_has_ending(path, ".gltf") ||
           orr_path_has_ending(path, ".obj") || orr_path_has_ending(path, ".stl");
}

orr_result orr_mesh_file_read(const orr_mesh_file_desc *desc, orr_mesh_file *mesh, orr_error *error)
{
    *mesh = (orr_mesh_file){0};
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "%s: this build reads no mesh files: expected one with the Debian package libassimp-dev",
                    desc->path);
}
