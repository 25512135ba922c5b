// The lights of a robot's model, which its bodies carry.
#pragma once

#include "engine/loop/world/world.h"

// Appends them to a list whose lens is set. transform: the layer's, in the scene.
orr_result orr_robot_light(const orr_world *world, int index, const orr_layer_data *layer,
                           const orr_transform *transform, orr_draw_list *list, orr_error *error);
