// The points of a capture: what was found in its photos when their cameras were.
#pragma once

#include "neural/capture/capture.h"

typedef struct orr_splat_points {
    int64_t count;
    float *position; // count x 3, in the world of the capture's file
    float *colour;   // count x 3, display colours in 0 .. 1
    // Which points each image of the capture sees: image i those at seen[first[i]] .. seen[first[i + 1] - 1].
    // NULL: the file does not say (a .ply).
    int64_t *first; // images + 1
    uint32_t *seen;
} orr_splat_points;

// Reads the file that the capture names: none where it names none, and with a warning where that is not
// there. ORR_ERROR_FORMAT: neither COLMAP's points nor a .ply of points. Free with orr_splat_points_free; on
// failure there is nothing to free.
orr_result orr_splat_points_load(const orr_capture *capture, orr_log log, orr_splat_points *points,
                                 orr_error *error);
void orr_splat_points_free(orr_splat_points *points);
