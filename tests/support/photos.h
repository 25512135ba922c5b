// Photos of scenes that are formulas, for tests of radiance fields. Cameras stand around the world's middle and look at it.
#pragma once

#include "neural/capture/capture.h"

enum { PHOTOS_MAX = 26 };

typedef struct photo_plan {
    // What is seen along a ray of the world: alpha is 1, or 0 where there is nothing
    void (*shade)(const float origin[3], const float direction[3], float rgba[4]);
    int size, channels;    // pixels along a side; 3 channels: everything is opaque
    int count, learned;    // the photos after those that are to be learned from look from between them
    float focal;           // over the size
    float distance;        // of the cameras
    float lowest, highest; // where they stand [rad]
    float scale;           // of the world to the unit cube, whose middle is the world's
    int aabb_scale;
} photo_plan;

typedef struct photos {
    orr_capture capture;
    orr_capture_image images[PHOTOS_MAX];
    int indices[PHOTOS_MAX];
    int learned;
} photos;

void take_photos(const photo_plan *plan, photos *p);
void drop_photos(photos *p);

// Three spheres before nothing, 14 photos of 64 x 64 pixels, of which 12 are to be learned from.
extern const photo_plan sphere_photos;
enum { SPHERE_PHOTO_SIZE = 64, SPHERE_PHOTOS = 14, SPHERE_PHOTOS_LEARNED = 12 };
