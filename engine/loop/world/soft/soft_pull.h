// The hand of the viewer on a soft body, in the first copy of a world: a critically damped spring between a
// place and the vertices near the point where it took hold.
#pragma once

#include "engine/loop/world/soft/world_soft.h"

// Takes hold of the body of a layer near a point of the scene; it pulls nothing until it moves.
// ORR_ERROR_ARGUMENT: it is not soft, or nodes of a robot move it.
orr_result orr_world_soft_grab(const orr_world *world, const orr_layer_data *layer, const double point[3],
                               orr_error *error);
// Moves the hand to a place of the scene; it stays there until it is moved anew.
void orr_world_soft_pull(const orr_world *world, const orr_layer_data *layer, const double to[3]);
void orr_world_soft_release(const orr_world *world, const orr_layer_data *layer);

// What the hand does in a step: ties of soft body number `soft`, whose positions are given.
orr_result orr_soft_pull_tie(const orr_world_soft *s, int soft, const double *position, double step,
                             orr_soft_found *found, orr_error *error);
void orr_soft_pull_clear(orr_soft_hand *hand); // frees its memory
