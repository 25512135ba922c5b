// Photos of scenes given by formulas, for tests of radiance fields. Cameras lie on a sphere about the origin
// and face it.
#pragma once

#include "neural/capture/capture.h"

enum { PHOTOS_MAX = 26 };

typedef struct photo_plan {
    // What is seen along a ray of the world: alpha is 1, or 0 where there is nothing
    void (*shade)(const float origin[3], const float direction[3], float rgba[4]);
    int size, channels;    // pixels along a side; 3 channels: everything is opaque
    int count, learned;    // the first `learned` are for training; the others are taken from between them
    float focal;           // over the size
    float distance;        // of the cameras from the origin
    float lowest, highest; // elevation of the cameras [rad]
    float scale;           // of the world to the unit cube, whose centre is the origin
    int aabb_scale;
    bool fisheye;
    float radial[4];     // of the fisheye, or of the perspective lens
    float tangential[2]; // of the latter
} photo_plan;

typedef struct photos {
    orr_capture capture;
    orr_capture_image images[PHOTOS_MAX];
    int indices[PHOTOS_MAX];
    int learned;
} photos;

void take_photos(const photo_plan *plan, photos *p);
void drop_photos(photos *p);

// Three spheres without a background: 14 photos of 64 x 64 pixels, 12 of them for training.
extern const photo_plan sphere_photos;
enum { SPHERE_PHOTO_SIZE = 64, SPHERE_PHOTOS = 14, SPHERE_PHOTOS_LEARNED = 12 };
