// The points of COLMAP's sparse models: points3D.bin or points3D.txt.
#pragma once

#include "engine/core/file.h"

typedef struct orr_colmap_points {
    int count;
    float *position;    // count x 3, in the model's world
    uint8_t *colour;    // count x 3, red green blue as displayed
    int64_t *first;     // count + 1: where each point's photos begin in `photos`
    uint32_t *photos;   // IMAGE_ID of those that see it
    double *error;      // count, mean of its reprojection in them [px]
    double mean_error;  // of their reprojection in the photos that see them [px]; 0 without points
    double mean_photos; // that see a point; 0 without points
} orr_colmap_points;

enum { ORR_COLMAP_POINTS_MAX = 1 << 26 };

// bytes: the file, followed by a zero byte, as orr_file_read adds it; `name` is for messages. Points that are
// not finite as floats are left out. Errors are ORR_CODE_CAMERA_FILE; free with orr_colmap_points_free.
orr_result orr_colmap_points_parse(const char *name, orr_bytes bytes, bool text, orr_colmap_points *points,
                                   orr_error *error);
void orr_colmap_points_free(orr_colmap_points *points);

// Which photos of a list see which points.
typedef struct orr_colmap_sights {
    int *image;     // for each entry of points->photos the photo's number in the list; -1: it is not in it
    int64_t *first; // photos + 1: where each photo's points begin in `seen`
    uint32_t *seen; // numbers of points, ascending for each photo
} orr_colmap_sights;

// ids: count, IMAGE_ID of each photo of the list. Free with orr_colmap_sights_free; on failure there is
// nothing to free.
orr_result orr_colmap_sights_find(const orr_colmap_points *points, const uint32_t *ids, int count,
                                  orr_colmap_sights *sights, orr_error *error);
void orr_colmap_sights_free(orr_colmap_sights *sights);
