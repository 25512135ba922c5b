// Colliders of layers, kept in files beside the files that the layers come from.
#pragma once

#include "engine/collider/collider.h"
#include "engine/scene/scene.h"

// What a layer's collider is made of. ORR_CODE_ARGUMENT: a robot.
orr_result orr_collider_source_of_layer(const orr_layer_data *layer, orr_collider_source *source,
                                        orr_error *error);
// Up in the layer's space: of the robot that gives gravity, or of the scene.
void orr_collider_up(const orr_scene *scene, const orr_layer_data *layer, float up[3]);
// The collider of a cloud, a mesh or a field, in the layer's space; the caller destroys it. `desc` is
// nullable. It is read from the layer's file with .collider behind its name, or .CELL.collider where the
// settings have a cell, if that was made of the same source with the same settings; otherwise it is made, and
// written there if the folder permits.
orr_result orr_collider_of_layer(const orr_scene *scene, const orr_layer_data *layer,
                                 const orr_collider_desc *desc, orr_distance_grid **grid, orr_error *error);
