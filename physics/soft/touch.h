// Planes that vertices touch in one step, and the rigid bodies that they move with; private to this folder.
#pragma once

#include "physics/soft/program.h"

// A touch in the step that runs.
typedef struct orr_soft_placed {
    int32_t slot;  // of its vertex; -1: left out
    double arm[3]; // from the body's centre to the vertex at the step's start, m
} orr_soft_placed;

typedef struct orr_soft_touches {
    const orr_soft_touch *touch; // count, borrowed
    orr_soft_placed *placed;     // count
    int count;
    orr_soft_body *body; // body_count, borrowed
    double *moved;       // body_count x 6: displacement in the step, m and rad
    int body_count;
    double *system; // scratch: n + n x n, n = 3 + 6 body_count
    bool pinned;    // some vertex is
    double mass;    // of the soft body, kg
    const orr_soft_model *model;
    const orr_soft_group *group; // of one world
    const orr_soft_program *program;
} orr_soft_touches;

// Writes the group's planes; bodies begin where their velocities take them.
void orr_soft_touches_begin(orr_soft_touches *t);
// Moves the rigid bodies, and the soft one as a whole unless it is pinned, towards their common minimum.
void orr_soft_touches_relax(orr_soft_touches *t);
void orr_soft_touches_finish(orr_soft_touches *t); // fills in the bodies' forces
