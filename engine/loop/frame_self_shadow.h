// The shadows that captured clouds have had on themselves since their photos, in a frame: where what is put
// into the scene casts none on them.
#pragma once

#include "engine/loop/frame_pose.h"

enum { ORR_SELF_SHADOW_WAITS = 256 };

// Of the suns and clouds that were drawn last. Zero is empty.
typedef struct orr_frame_self_shadow {
    uint64_t shown; // which clouds, where, and in which sun: a hash; 0: none
    uint64_t asked; // likewise, of the frame before
    int changes;    // frames since they stood still
    orr_self_shadow map;
} orr_frame_self_shadow;

// Finds what is missing, and gives it to the list of a slot that is posed: in a scene with a sun of its own,
// which explains shadows in the clouds' colours (orr_scene_sun_explains), where something casts shadows on
// clouds that stand still. The first frame after a change is exact, and so is the first after the last one.
// In between, while a sun or a cloud is dragged or a cloud learns, the map that there is stays for up to
// ORR_SELF_SHADOW_WAITS frames, because it takes a second per million splats; with no_reuse it does not.
orr_result orr_frame_self_shadow_update(orr_frame_self_shadow *self, orr_frame_slot *slot,
                                        const orr_scene *scene, orr_error *error);
void orr_frame_self_shadow_close(orr_frame_self_shadow *self);
