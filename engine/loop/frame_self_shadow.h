// The shadows that captured clouds and fields have had on themselves since their photos, in a frame: where
// what is put into the scene casts none on them.
#pragma once

#include "engine/loop/frame_pose.h"

enum { ORR_SELF_SHADOWS = 4 }; // of clouds and fields that some copies of a world hide or have moved

// Maps of what was drawn last. Zero is empty.
typedef struct orr_frame_self_shadow {
    struct {
        uint64_t shown;       // what casts them, where, and in which sun: a hash; 0: none
        uint64_t used;        // when it was used last
        orr_self_shadow *map; // NULL: there are no shadows in the colours
    } maps[ORR_SELF_SHADOWS];
    uint64_t uses;
} orr_frame_self_shadow;

// Gives its map to the list of a slot that is posed, and makes it if it is missing: in a scene with a sun of
// its own, where something casts shadows on what stands where the scene has it. Of clouds and radiance fields
// there is one if that sun explains shadows in their colours (orr_scene_sun_explains). Where there are
// neither, of signed distances, which are drawn lit by that sun. What a trainer is changing has none.
orr_result orr_frame_self_shadow_update(orr_frame_self_shadow *self, orr_frame_slot *slot,
                                        const orr_scene *scene, orr_error *error);
void orr_frame_self_shadow_close(orr_frame_self_shadow *self);
