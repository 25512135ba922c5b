// Which frames of a video become photos: the sharpest of each stretch in which the picture has moved by a
// twelfth of its longer side.
#pragma once

#include "engine/core/result.h"

typedef struct orr_frame_measure {
    double sharpness; // mean square of the Laplacian of luma, 0 .. 255
    double travel;    // how far the picture has moved since the first frame, in its longer side
} orr_frame_measure;

// Measures frames one after the other.
typedef struct orr_frame_meter orr_frame_meter;
orr_result orr_frame_meter_create(int width, int height, orr_frame_meter **meter, orr_error *error);
// rgba: height x width x 4 bytes of the next frame.
orr_frame_measure orr_frame_meter_next(orr_frame_meter *meter, const uint8_t *rgba);
void orr_frame_meter_destroy(orr_frame_meter *meter); // NULL is allowed

// Writes the indices of at most `wanted` of `count` frames, in order, and returns how many they are.
int orr_frames_pick(const orr_frame_measure *frames, int count, int wanted, int *picked);
