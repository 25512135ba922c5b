// Photos of an analytic scene of three spheres, for tests of radiance fields.
#pragma once

#include "neural/capture.h"

enum { PHOTO_SIZE = 64, PHOTO_COUNT = 14, PHOTOS_LEARNED = 12 }; // the last two look from between the others

typedef struct photos {
    orr_capture capture;
    orr_capture_image images[PHOTO_COUNT];
    int indices[PHOTO_COUNT];
} photos;

void take_photos(photos *p);
void drop_photos(photos *p);
