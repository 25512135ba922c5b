// What a frame shows of a robot: its geoms, sites and tendons, the spring that pulls at it, its contacts.
#pragma once

#include "engine/loop/world/world_robots.h"

// At most so many meshes come from all robots of a frame.
orr_result orr_robot_items(const orr_scene *scene, const orr_world *world, const orr_view *view, int *count,
                           orr_error *error);
// The endless planes of a frame so far, opaque and without mirrors. Others that coincide with them are not
// drawn: robots that are put together have a floor each. Beyond eight, all are drawn.
typedef struct orr_drawn_planes {
    float planes[8][4]; // unit normal on the seen side, world, and its product with the points of the plane
    int count;
    bool
        has_ground; // some plane was drawn that is endless in both directions, be it a mirror or transparent:
    float ground[4]; // the first of them
} orr_drawn_planes;

// Appends a robot's meshes. transform: of the layer, in the scene; camera: its position, which infinite
// planes follow. device_bodies: for a machine that reads orr_draw_mesh.bodies: when its device simulates the
// robot, geoms and sites refer to bodies in this memory, which must last until the frame is drawn; NULL:
// every mesh has its own transform.
orr_result orr_robot_draw(const orr_world *world, const orr_view *view, const orr_layer_data *layer,
                          const orr_transform *transform, const float camera[3],
                          orr_robot_bodies *device_bodies, orr_drawn_planes *planes, orr_draw_mesh *meshes,
                          int *mesh_count, orr_error *error);
