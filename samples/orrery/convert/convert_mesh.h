// What `orrery convert` does with meshes.
#pragma once

#include "engine/core/result.h"

#include <cjson/cJSON.h>

// Writes the mesh `from` as another format of meshes; what it found goes to stderr and into `json` (NULL:
// not). ORR_CODE_FILE_TYPE: `to` is no name of a mesh.
orr_result convert_mesh(const char *from, const char *to, cJSON *json, orr_error *error);
