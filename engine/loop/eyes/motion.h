// Where everything was in the pictures before, for the optical flow of eyes: two states of each copy, which
// take turns.
#pragma once

#include "engine/loop/frame_pose.h"
#include "render/seen/draw_seen.h"

typedef struct orr_eyes_motion orr_eyes_motion;

// What orr_before points to, for one picture. Zero is an empty one.
typedef struct orr_past {
    orr_before before;
    orr_item_before *meshes, *clouds; // capacity each
    int mesh_capacity, cloud_capacity;
    orr_frame_soft *softs; // soft_capacity, by layer: how soft meshes were deformed
    int soft_capacity;
} orr_past;

// cameras: of each of `copies`.
orr_result orr_eyes_motion_create(int copies, int cameras, orr_eyes_motion **motion, orr_error *error);
void orr_eyes_motion_destroy(orr_eyes_motion *motion); // NULL is allowed
void orr_past_close(orr_past *past);

// New pictures of a copy begin: its last ones are those before.
void orr_eyes_motion_begin(orr_eyes_motion *motion, int copy);
// The next pictures of a copy have none before them.
void orr_eyes_motion_forget(orr_eyes_motion *motion, int copy);
// Keeps what the slot shows, which is posed for one camera of a copy; the same as often as it is called.
orr_result orr_eyes_motion_keep(orr_eyes_motion *motion, const orr_world *world, const orr_frame_slot *slot,
                                int copy, int camera, orr_error *error);
// Finds the items of the slot in the picture before. *known: there is one.
orr_result orr_eyes_motion_find(const orr_eyes_motion *motion, const orr_world *world,
                                const orr_frame_slot *slot, int copy, int camera, orr_past *past, bool *known,
                                orr_error *error);
