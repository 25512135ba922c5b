// COLMAP's sparse models, binary and text: cameras.bin and images.bin, or cameras.txt and images.txt.
// Lenses: SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV, OPENCV_FISHEYE, SIMPLE_RADIAL_FISHEYE,
// RADIAL_FISHEYE; others are errors that name the model.
#pragma once

#include "engine/core/file.h"
#include "neural/capture/photo_list.h"

// The two files in memory, binary or text, each followed by a zero byte, as orr_file_read adds it.
typedef struct orr_colmap_source {
    const char *cameras_name, *images_name; // for messages
    orr_bytes cameras, images;
    bool text;
} orr_colmap_source;

// Photos in the order of their names, whatever the file's order is. Errors are ORR_CODE_CAMERA_FILE; free
// with orr_photo_list_free; on failure there is nothing to free.
//
// COLMAP's world has no scale and no up: the map to the unit cube is that of world_fit.h, by the photos' mean
// up.
orr_result orr_colmap_parse(const orr_colmap_source *source, orr_photo_list *list, orr_error *error);
// The same of the files in the folder `model`.
orr_result orr_colmap_read(const char *model, bool text, orr_photo_list *list, orr_error *error);
