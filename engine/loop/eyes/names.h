// What segmentation calls the items of a picture.
#pragma once

#include "engine/loop/frame_pose.h"
#include "render/seen/draw_seen.h"

// Of the slot's meshes and clouds; capacity each. Zero is empty.
typedef struct orr_eyes_names {
    orr_item_name *meshes, *clouds;
    int mesh_capacity, cloud_capacity;
} orr_eyes_names;

// Of a slot that is posed. ORR_ERROR_MEMORY.
orr_result orr_eyes_names_find(orr_eyes_names *names, const orr_scene *scene, const orr_frame_slot *slot,
                               orr_error *error);
void orr_eyes_names_close(orr_eyes_names *names);
