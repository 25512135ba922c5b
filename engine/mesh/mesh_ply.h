// Does a .ply hold triangles? Otherwise it is a cloud, or no PLY file.
#pragma once

#include "engine/core/result.h"

// Reads the header alone; false also when that fails.
bool orr_mesh_in_ply(const char *path);
