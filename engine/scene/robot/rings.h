// Surfaces that turn around z, as triangles: those between two rings of corners, and the rings of a ball.
#pragma once

#include <stdbool.h>

// The triangles between two rings of corners around z, at equal angles from x on; begin with the counts.
typedef struct orr_band {
    int above, below;               // how many corners; 1: a pole
    int passed_above, passed_below; // steps around
} orr_band;

// The next triangle, its front outside: corners of the ring above by number, those below from `above` on.
// false: there is none. They are above + below, one for each step of a ring that is no pole.
bool orr_band_next(orr_band *band, int corner[3]);

// A ball of so many columns around its middle (6 or more) has rows + 1 rings, whose angle from the pole is
// pi row / rows, and towards the poles fewer corners, so that its triangles are even. The number of rows is
// even: a ring is in the middle.
int orr_ball_rows(int columns);
int orr_ball_ring(int columns, int row); // how many corners
// How near to the middle of such a ball, whose corners are 1 away, its triangles come; below 1.
double orr_ball_inside(int columns);
