// Eyes from the inside: what they show, and which of the two draws it.
#pragma once

#include "engine/loop/eyes/cpu.h"
#include "engine/loop/eyes/cuda.h"
#include "engine/loop/eyes/motion.h"
#include "engine/loop/light/frame_self_shadow.h"
#include "engine/loop/surfaces/surfaces.h"

struct orr_eyes {
    const orr_world *world;
    orr_engine *engine;
    int *cameras;
    orr_camera *views;
    int camera_count, view_count;
    int width, height;
    orr_view look;             // hard_edges unless edges are asked to be smooth
    orr_eyes_look *looks;      // of each copy; NULL: none has been set
    orr_eyes_look *next_looks; // room for what is set next; NULL: not allocated
    orr_surfaces *surfaces;    // that may differ between copies; NULL: none
    orr_eyes_motion *motion;   // NULL: flow is not asked for
    orr_frame_self_shadow *self_shadow;
    orr_eyes_cpu *cpu; // one of them is NULL
    orr_eyes_cuda *cuda;
};

static inline size_t orr_eyes_of_copy(const orr_eyes *e)
{
    return (size_t)e->camera_count + (size_t)e->view_count;
}

// Of a camera's picture of a copy, among all of them.
static inline size_t orr_eyes_number(const orr_eyes *e, int copy, int camera)
{
    return (size_t)copy * orr_eyes_of_copy(e) + (size_t)camera;
}

// What one camera of a copy sees. *changes: what the copy's look changes besides; NULL: nothing.
orr_result orr_eyes_see(const orr_eyes *e, int copy, int camera, orr_view *view,
                        const orr_eyes_look **changes, orr_error *error);
// The light of a picture that is posed, as the copy's look has it (nullable), and where what is captured has
// shadows already. Light that a look turns is not that of the capture.
orr_result orr_eyes_light(const orr_eyes *e, const orr_eyes_look *look, orr_frame_slot *slot,
                          orr_error *error);
