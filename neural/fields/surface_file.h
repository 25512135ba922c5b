// Surfaces as files for other programs: .ply (binary), .obj (text) and .glb (binary glTF 2.0), written whole
// or not at all, with normals, and with vertex colours where there are any.
#pragma once

#include "neural/fields/marching_cubes.h"

bool orr_surface_writable(const char *path); // by its ending
orr_result orr_surface_save(const orr_surface *surface, const char *path, orr_error *error);
