// Soft bodies that rest: those of a copy sleep together, and are not stepped, while nothing touches them.
#pragma once

#include "engine/loop/world/soft/soft_contact.h"
#include "engine/loop/world/soft/world_soft.h"

// Of one copy.
typedef struct orr_soft_sleep {
    int calm; // steps in which nothing was fast, since `start`
    bool asleep;
    orr_soft_frame frame;             // where the physics was
    const orr_world_physics *physics; // that was beside them when they fell asleep, and its number of geoms
    int geom_count;
    double gravity[3];
    double *start; // positions of all bodies when they became calm
    double *geoms; // where the physics' geoms were when they fell asleep
    int start_capacity, geom_capacity;
} orr_soft_sleep;

// Whether they go on sleeping in this step. What wakes them: another gravity, a physics that was moved or
// made anew, or a geom near them that is not where it was.
bool orr_soft_sleeps(const orr_world *world, int index, const orr_world_physics *physics,
                     const orr_soft_frame *frame, const double gravity[3]);
// After a step: they fall asleep when all have been calm for half a second, and push nothing that can move.
// fastest: m/s, of a vertex before the step.
orr_result orr_soft_sleep_note(const orr_world *world, int index, const orr_world_physics *physics,
                               const orr_soft_frame *frame, const double gravity[3], double fastest,
                               bool pushes, orr_error *error);
void orr_soft_wake(const orr_world *world, int index);
