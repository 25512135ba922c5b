// The points of COLMAP's sparse models: points3D.bin or points3D.txt.
#pragma once

#include "engine/core/file.h"

typedef struct orr_colmap_points {
    int count;
    float *position;    // count x 3, in the model's world
    uint8_t *colour;    // count x 3, red green blue as displayed
    int64_t *first;     // count + 1: where each point's photos begin in `photos`
    uint32_t *photos;   // IMAGE_ID of those that see it
    double mean_error;  // of their reprojection in the photos that see them [px]; 0 without points
    double mean_photos; // that see a point; 0 without points
} orr_colmap_points;

enum { ORR_COLMAP_POINTS_MAX = 1 << 26 };

// bytes: the file, followed by a zero byte, as orr_file_read adds it; `name` is for messages. Points that are
// not finite as floats are left out. Errors are ORR_CODE_CAMERA_FILE; free with orr_colmap_points_free.
orr_result orr_colmap_points_parse(const char *name, orr_bytes bytes, bool text, orr_colmap_points *points,
                                   orr_error *error);
void orr_colmap_points_free(orr_colmap_points *points);
