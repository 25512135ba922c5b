// Colliders of layers, kept in files beside the files that the layers come from.
#pragma once

#include "engine/collider/collider.h"
#include "engine/scene/scene.h"

// The collider of a cloud, a mesh or a field, in the layer's space; the caller destroys it. `desc` is
// nullable. It is read from the layer's file with .collider behind its name, where that was made of the same
// source with the same settings; otherwise it is made, and written there if the folder permits.
orr_result orr_collider_of_layer(const orr_scene *scene, const orr_layer_data *layer,
                                 const orr_collider_desc *desc, orr_distance_grid **grid, orr_error *error);
