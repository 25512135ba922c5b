// A scene written as a scene file (docs/scene-file.md).
#pragma once

#include "engine/scene/scene.h"

// Where a layer is, as the scene file has it: of a bound one, in its body's frame.
typedef struct orr_layer_place {
    orr_transform transform;
    bool visible;
} orr_layer_place;

// places: one for each layer of the scene. camera: one more, behind those of the scene; NULL: none.
orr_result orr_scene_save(const orr_scene *scene, const orr_layer_place *places, const orr_camera *camera,
                          const char *path, orr_error *error);
