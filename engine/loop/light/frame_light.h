// The light and the sky of a frame.
#pragma once

#include "engine/loop/world/world.h"

// Sun and lights of one copy of the world, into a list whose lens is set: the scene's sun and lights and
// those of its meshes, or, without any, the lights of the first robot's model, which its bodies carry.
orr_result orr_frame_light(const orr_world *world, int index, orr_draw_list *list, orr_error *error);
// The haze and the fog of the first robot's model, into a list whose backdrop is set. ground: the plane that
// haze is over, as orr_draw_haze has it; NULL: there is none.
void orr_frame_haze(const orr_world *world, int index, const orr_layer_data *robot, const float *ground,
                    bool fog, orr_draw_list *list);
// The sky of a robot's model (orr_scene_sky) behind everything, into a list whose lens is set.
orr_result orr_frame_sky(const orr_layer_data *robot, orr_draw_list *list, orr_error *error);
