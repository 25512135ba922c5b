// Pose: where everything stands in one view of one world, copied, so that the world may move on while it is drawn.
#pragma once

#include "engine/loop/world_robots.h"

// A submitted frame.
typedef struct orr_frame_slot {
    orr_draw_list list;
    orr_draw_splats *splats; // capacity each
    orr_draw_mesh *meshes;
    orr_draw_field *fields;
    int capacity;
    orr_robot_bodies *robots; // robot_capacity, by layer: where CUDA finds bodies of robots that it moves
    int robot_capacity;
    bool deferred; // drawn once it is the oldest: the CPU has a part in it, or in one before it
    bool to_image;
    int traced_as; // the trace's number of this frame
} orr_frame_slot;

// Fills in the slot's list from what it shows: each visible layer at its place. on_cuda: CUDA draws it, and finds bodies of
// robots that it moves in its own memory.
orr_result orr_frame_pose(orr_frame_slot *slot, const orr_scene *scene, const orr_world *world,
                          const orr_view *view, bool on_cuda, orr_error *error);
// Nothing may draw from it any more.
void orr_frame_slot_close(orr_frame_slot *slot);
