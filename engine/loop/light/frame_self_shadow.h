// What captured clouds and fields keep off of light, in a frame: the shadows that they have had on themselves
// since their photos, where what is put into the scene casts none, and those that they cast on meshes.
#pragma once

#include "engine/loop/frame_pose.h"

enum {
    ORR_SELF_SHADOWS = 4,        // of clouds and fields that some copies of a world hide or have moved
    ORR_SELF_SHADOW_WAITS = 256, // frames
};

// Maps of what was drawn last. Zero is empty.
typedef struct orr_frame_self_shadow {
    struct {
        uint64_t shown;       // what casts them, where, and in which sun: a hash; 0: none
        uint64_t used;        // when it was used last
        orr_self_shadow *map; // NULL: there are no shadows in the colours
    } maps[ORR_SELF_SHADOWS];
    uint64_t uses;
    uint64_t asked; // what the frame before asked for: its hash
    int changes;    // frames since that stood still
} orr_frame_self_shadow;

// Gives their maps to the list of a slot that is posed, and makes them if they are missing: of the lights of
// the scene that cast shadows, in frames with meshes or clouds that cast some, around what stands where the
// scene has it. Of clouds and radiance fields a sun has one if it explains shadows in their colours
// (orr_scene_sun_explains). Where there are neither, it has one of signed distances, which are drawn lit by
// it. What a trainer is changing casts none; directional lights and rectangles have none.
//
// Maps take a second of processor time per million splats. may_wait: while a light or a layer is dragged, so
// that each frame would need others, those used last stay, for up to ORR_SELF_SHADOW_WAITS frames. The first
// frame after a change has its own, and so has the first one that is as the frame before.
orr_result orr_frame_self_shadow_update(orr_frame_self_shadow *self, orr_frame_slot *slot,
                                        const orr_scene *scene, bool may_wait, orr_error *error);
void orr_frame_self_shadow_close(orr_frame_self_shadow *self);
