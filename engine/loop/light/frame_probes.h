// Probes of a frame: what clouds, fields and other meshes show from the middle of each layer of meshes lights
// it (orr_scene_set_probes). They are drawn by the CPU while a frame is posed, whatever draws the frame.
#pragma once

#include "engine/core/profile.h"
#include "engine/loop/light/frame_bounce.h"
#include "render/environment/probe.h"

enum { ORR_FRAME_PROBES = ORR_DRAW_ENVIRONMENTS - 1 };

// One of a layer of one world.
typedef struct orr_frame_probe {
    const orr_world *world; // NULL: unused
    int index;
    orr_pool_id layer;
    uint64_t shown_hash;     // of what it shows: which clouds, fields and meshes, where, and how they are lit
    float position[3];       // from which its faces were drawn last
    int next, left;          // the face to be drawn next, and how many are to be drawn anew
    orr_probe_face faces[6]; // of clouds and fields alone
    orr_probe_face shown[6]; // with meshes
    orr_probe_face blurred[6]; // `faces`, for the rays of its grid
    orr_bounce_state bounce;
    orr_environment *map;
    float low[3], high[3];
    bool looks_past; // what the rays of its new grid see that meet no mesh is not known yet
    int due;         // frames in which the light of its grid is to be found anew, as that of others changes
    bool changed;    // in this frame: its map is another
    uint64_t key;
} orr_frame_probe;

typedef struct orr_frame_probes {
    orr_frame_probe *items[ORR_FRAME_PROBES]; // NULL: not allocated
    orr_arena arena;
    orr_frame_bounce bounce;
} orr_frame_probes;

// Draws what is missing, and adds the probes to the list of a slot that is posed. Their maps are copied to
// the slot.
orr_result orr_frame_probes_update(orr_frame_probes *probes, orr_frame_slot *slot, const orr_scene *scene,
                                   const orr_world *world, const orr_view *view, orr_error *error);
void orr_frame_probes_close(orr_frame_probes *probes);
