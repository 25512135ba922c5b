// Light of meshes on meshes in a frame: grids of the probes, from whose points rays are traced a few in each
// frame, and what meshes show in the probes' pictures.
#pragma once

#include "engine/loop/frame_pose.h"
#include "render/bounce/grid.h"
#include "render/environment/probe.h"

// What rays meet in a frame, of all its probes.
typedef struct orr_frame_bounce {
    orr_lit_rays rays;
    orr_draw_mesh *meshes; // capacity; of the list, those whose places the host knows
    int32_t *layers;       // of them
    uint8_t *passed;       // of them: those that the rays of one probe go through
    int count, capacity;
    uint64_t lights; // a hash of the lights
} orr_frame_bounce;

// The grid of one probe. A new one is made behind the one that is shown, a sixth of its points in a frame.
typedef struct orr_bounce_state {
    orr_bounce_grid shown, next;
    int looked;  // points of `next` whose rays are done
    bool making; // `next` is being made
    uint64_t of; // of what `shown` is, or `next` will be: orr_frame_bounce_hash with the box
    float behind[ORR_BOUNCE_RAYS][3];
} orr_bounce_state;

// Flat as floors are, which may be endless: others of the layer say where it is.
bool orr_frame_is_flat(const orr_mesh *mesh);
// Holds the meshes of a slot, of which `environment` says what lights them; nothing: none of them.
orr_result orr_frame_bounce_hold(orr_frame_bounce *bounce, const orr_frame_slot *slot, bool nothing,
                                 orr_jobs *jobs, orr_isa isa, orr_error *error);
// Of the lights and of the meshes, but for those of a layer that are not flat (-1: of all).
uint64_t orr_frame_bounce_hash(const orr_frame_bounce *bounce, int layer);
void orr_frame_bounce_close(orr_frame_bounce *bounce);

// Goes on with the grid of the probe at a place in its box, whole if it is the first. *done: it has become
// `shown`, without light so far.
orr_result orr_bounce_state_advance(orr_bounce_state *state, orr_jobs *jobs, const orr_frame_bounce *bounce,
                                    const float low[3], const float high[3], uint64_t captured, bool *done,
                                    orr_error *error);
// What of the probe of a grid is without meshes.
typedef struct orr_bounce_probe {
    const orr_probe_face *blurred; // 6
    const float *position;         // 3
    const orr_probe_behind *behind;
} orr_bounce_probe;

// What its rays see that meet no mesh.
void orr_bounce_state_look_past(orr_bounce_state *state, orr_jobs *jobs, const orr_bounce_probe *probe);
// Its light.
void orr_bounce_state_reflect(orr_bounce_state *state, orr_jobs *jobs, const orr_bounce_lit *lit);
void orr_bounce_state_close(orr_bounce_state *state);

// What meshes show in a face of a probe at a position, but for those of its own layer that are not flat.
void orr_frame_bounce_show(orr_frame_bounce *bounce, orr_jobs *jobs, const orr_bounce_lit *lit, int layer,
                           int face, const float position[3], orr_probe_meshes *out);
