// Planes that vertices touch in one step, and the rigid bodies that they move with; private to this folder.
#pragma once

#include "physics/soft/program.h"

typedef struct orr_soft_touches {
    const orr_soft_touch *touch; // count, borrowed
    int32_t *slot;               // count: of each; -1: left out
    int count;
    orr_soft_body *body; // body_count, borrowed
    double *moved;       // body_count x 6: displacement in the step, m and rad
    int body_count;
    double *system; // scratch: n + n x n, n = 3 + 6 body_count
    bool pinned;    // some vertex is
    const orr_soft_model *model;
    const orr_soft_group *group; // of one world
    bool in_double;
} orr_soft_touches;

// Writes the group's planes; bodies begin where their velocities take them.
void orr_soft_touches_begin(orr_soft_touches *t);
// Moves the rigid bodies, and the soft one as a whole unless it is pinned, towards their common minimum.
void orr_soft_touches_relax(orr_soft_touches *t);
void orr_soft_touches_finish(orr_soft_touches *t); // fills in the bodies' forces
