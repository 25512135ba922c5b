// What soft bodies touch of a physics: its geoms as planes at their vertices, its bodies as masses that they
// push.
#pragma once

#include "engine/loop/world/world_physics.h"
#include "physics/soft/soft.h"

typedef struct orr_soft_contact {
    double *numbers; // of all worlds, as orr_physics_read_all writes them
    int number_capacity;
    double *applied; // forces on bodies as a program has set them, of all worlds
    double *pushed;  // the same with those of soft bodies
    int applied_capacity, pushed_capacity;
    orr_soft_touch *touch; // touch_count, of the vertices of one body in one world
    int touch_count, touch_capacity;
    orr_soft_body *body; // body_count: those touched
    int *body_of;        // body_count: their numbers in the model
    int body_count, body_capacity, body_of_capacity;
} orr_soft_contact;

// The physics in the scene's frame: x -> rotation x + position.
typedef struct orr_soft_frame {
    double rotation[9], position[3];
} orr_soft_frame;

void orr_soft_contact_clear(orr_soft_contact *contact);
// Reads where everything is, in all worlds, and the forces that a program has set.
orr_result orr_soft_contact_read(orr_soft_contact *contact, orr_world_physics *physics, orr_error *error);
// Finds what vertices (x 3, in the scene) touch in one world. margin: m, how deep they may be in it.
orr_result orr_soft_contact_find(orr_soft_contact *contact, const orr_world_physics *physics, int world,
                                 const orr_soft_frame *frame, const double *position, int vertices,
                                 double margin, double friction, double time_step, orr_error *error);
// Adds the forces on touched bodies to those of the world.
void orr_soft_contact_push(orr_soft_contact *contact, const orr_world_physics *physics, int world,
                           const orr_soft_frame *frame);
