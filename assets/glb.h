// A shape as a binary glTF 2.0 file.
#pragma once

#include "assets/shape.h"

// y up, as glTF has it; one primitive per material, vertex colours where the material is patterned.
orr_result glb_save(const shape_mesh *s, const char *path, orr_error *error);
