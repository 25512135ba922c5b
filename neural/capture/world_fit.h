// Where the world of a capture has its origin, its axes and its scale, when nothing but poses is known.
//
// As instant-ngp's script for COLMAP: up is the third axis, the point that the photos' axes come closest to
// is the origin, the mean distance from there is 4; then scale 0.33 and offset 0.5 map it to the unit cube.
#pragma once

#include "neural/capture/photo_list.h"

enum { ORR_WORLD_DISTANCE = 4, ORR_WORLD_AABB_SCALE = 16 };
static const double ORR_WORLD_SCALE = 0.33;

typedef struct orr_world_frame {
    double axes[3][3]; // rows: unit vectors, the third is up
    double middle[3];  // the point nearest to all photos' axes
    double distance;   // of the photos from there, the mean
} orr_world_frame;

// The mean of the directions that point up in the stored photos; a unit vector.
void orr_world_mean_up(const orr_photo_list *list, double up[3]);
// up: a unit vector.
orr_world_frame orr_world_frame_of(const orr_photo_list *list, const double up[3]);
// Fills in to_unit and aabb_scale of the list by that frame.
void orr_world_fit(orr_photo_list *list, const double up[3]);
