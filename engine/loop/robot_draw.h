// What a frame shows of a robot: its geoms, sites and tendons where its bodies are, what pulls at it, its
// contacts.
#pragma once

#include "engine/loop/world_robots.h"

// At most so many meshes come from all robots of a frame.
orr_result orr_robot_items(const orr_scene *scene, const orr_world *world, const orr_view *view, int *count,
                           orr_error *error);
// Appends a robot's meshes. place: the layer's, in the scene; camera: where it stands, which endless planes
// follow. there: for a machine that knows orr_draw_mesh.bodies: when the robot moves on its device, geoms and
// sites stand on bodies in this memory, which is to last until the frame has been drawn; NULL: every mesh
// says where it is.
orr_result orr_robot_draw(const orr_world *world, const orr_view *view, const orr_layer_data *layer,
                          const orr_transform *place, const float camera[3], orr_robot_bodies *there,
                          orr_draw_mesh *meshes, int *mesh_count, orr_error *error);
