// The lights of a robot's model, where its bodies carry them.
#pragma once

#include "engine/loop/scene.h"

// How many lights the model asks for, its headlight included; ORR_DRAW_LIGHTS of them are drawn.
int orr_robot_light_count(const orr_model *model);
// Appends them to a list whose lens is set. place: the layer's, in the scene.
orr_result orr_robot_light(const orr_world *world, int index, const orr_layer_data *layer,
                           const orr_transform *place, orr_draw_list *list, orr_error *error);
