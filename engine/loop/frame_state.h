// A frame from the inside, for the files that draw it (frame.c, frame_deferred.c, frame_uploads.c) and for
// the ladder.
#pragma once

#include "engine/loop/light/frame_probes.h"
#include "engine/loop/light/frame_self_shadow.h"
#include "engine/loop/machine.h"

enum { ORR_FRAMES_IN_FLIGHT = 8 }; // at most

struct orr_frame {
    orr_engine *engine; // borrowed
    orr_frame *next;    // of the engine's frames

    const orr_machine *machine;
    void *state; // the machine's; NULL: closed, and opened when the frame draws next (orr_ladder_open)
    // Goes on with the next rung when the device fails; otherwise the caller has chosen the device.
    bool follows;
    // Made for a window: follows too, and a lost Vulkan device is opened again first.
    bool for_window;
    bool renewed; // a device was opened again since a picture was finished

    orr_frame_slot slots[ORR_FRAMES_IN_FLIGHT];
    int slot_count;
    int oldest;  // slot finished next
    int waiting; // submitted and not finished
    orr_profile profile;
    orr_trace *trace;              // nullable
    orr_picture_location location; // of the picture for the window that was finished last
    bool has_picture;              // the one finished last is still where the machine drew it

    // the oldest slot, when it is deferred (frame_deferred.c)
    bool begun;
    orr_arena arena;
    orr_draw_list marched; // its fields are those that the host marches
    orr_field_pass fields;
    orr_host_layers layers; // of a device: what the host has drawn for it

    orr_frame_probes probes;
    orr_frame_self_shadow self_shadow;
    struct orr_ray_trees *rays; // of scenes with rays; NULL until one is drawn

    uint64_t *keys; // key_count: what was drawn last, and may be uploaded (frame_uploads.c)
    int key_count, key_capacity;
};

// ORR_ERROR_ARGUMENT when it is NULL, or belongs to the parent of this process.
orr_result orr_frame_check(const orr_frame *frame, orr_error *error);

// How a picture for eyes differs from a frame.
typedef struct orr_frame_for_eyes {
    bool host_poses; // bodies of robots are where the host knows them to be, whatever simulates them
    // Changes what was posed, before it is drawn: its list, and what the list refers to until it is finished
    orr_result (*change)(void *context, orr_frame_slot *slot, orr_error *error);
    void *context;
} orr_frame_for_eyes;

// Submits a picture for eyes, which has neither probes nor rays.
orr_result orr_frame_submit_for_eyes(orr_frame *frame, const orr_world *world, const orr_view *view,
                                     const orr_frame_for_eyes *eyes, orr_error *error);

// The i-th of those that wait, from the oldest.
static inline orr_frame_slot *orr_frame_slot_at(orr_frame *frame, int i)
{
    return &frame->slots[(frame->oldest + i) % frame->slot_count];
}

// Does the picture end in an image of the Vulkan device, on the machine that draws now?
static inline bool orr_frame_ends_in_image(const orr_frame *frame, const orr_frame_slot *slot)
{
    const orr_machine *machine = frame->machine;
    return slot->for_window && machine->ends_in_image && machine->ends_in_image(frame->state, &slot->list);
}
