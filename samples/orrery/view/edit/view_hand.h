// The hand in the viewer, which pulls at robots, bodies and soft bodies.
#pragma once

#include "engine/orrery.h"

struct viewer;

typedef struct view_hand {
    bool pulling;
    orr_layer layer; // what it holds,
    double depth;    // and how far from the camera
} view_hand;

// Takes hold of what is under the cursor; false: nothing that moves is there.
bool view_hand_grab(struct viewer *v);
void view_hand_follow(struct viewer *v); // the cursor
void view_hand_release(struct viewer *v);
