// A furnished room with a window in the wall at x = -room_half. Metres; y is up, the floor is y = 0, x goes
// from -room_half to room_half and z from -room_half to room_front. The middle of its floor is empty.
#pragma once

#include "assets/rays.h"

static const float room_half = 1.8f, room_front = 2.7f;

// All parts; room_colour gives their colours.
orr_result room_build(shape_mesh *s, orr_error *error);
// Linear diffuse albedo; the pane of the window has none, it glows.
real3 room_colour(int material, real3 point);
bool room_is_pane(int material);
// Of one colour and flat: its splats may be wide, and close gaps.
bool room_is_plain(int material);

// The window in the wall x = -room_half: its middle, and the halves of its height and width.
extern const real3 room_window;
extern const float room_window_size[2];

// Light that leaves a point of a surface, alike in all directions: of the window's sky, of the sun through
// the window, and of what these light, once. Linear radiance.
real3 room_light(const ray_tree *tree, real3 position, real3 normal, int material, uint32_t seed);
