// The pictures that surfaces may have, with mip chains.
#pragma once

#include "engine/scene/scene.h"

typedef struct varied_textures {
    orr_image8 *list; // count
    bool *borrowed;   // of a robot's model
    int count;
} varied_textures;

orr_result varied_textures_read(const orr_scene *scene, const orr_eyes_surfaces_desc *desc,
                                varied_textures *textures, orr_error *error);
void varied_textures_clear(varied_textures *textures);

// The name of an element without that of its robot before it ("arm/elbow"), which may be left out.
const char *varied_name(const orr_layer_data *robot, const char *name);
