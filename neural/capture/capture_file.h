// Finds the file that lists a capture's photos, and the photos: a transforms.json (instant-ngp, nerfstudio,
// NeRF-synthetic), a folder that holds one, or a folder with a COLMAP model (sparse/0, sparse,
// colmap/sparse/0 or the folder itself; .bin or .txt) and its images beside.
#pragma once

#include "neural/capture/photo_list.h"

typedef struct orr_capture_file {
    char *name;   // of the file that was read, for messages
    char *folder; // what names of photos are relative to
    char *points; // file of points: what a transforms.json names, or COLMAP's points3D; NULL: none
    orr_photo_list list;
} orr_capture_file;

// Opens no photo.
orr_result orr_capture_file_read(const char *path, orr_capture_file *file, orr_error *error);
void orr_capture_file_free(orr_capture_file *file);

// transforms_test.json beside the file that lists the capture's photos, which is at `path` or in the folder
// there: photos to compare with, which the papers of NeRF-synthetic keep apart. Free with orr_free.
// ORR_CODE_FILE_OPEN: there is none, or it is the capture itself.
orr_result orr_capture_file_test(const char *path, char **test, orr_error *error);

// The photo's file: as named, or with the ending that the name leaves out, or with slashes for the
// backslashes of Windows; free with orr_free. *path NULL: absent.
orr_result orr_capture_file_photo(const orr_capture_file *file, const char *photo, char **path,
                                  orr_error *error);
// Whether `path` may be a capture: a folder, or a .json file that lists photos ("frames")? No more is
// checked.
bool orr_capture_readable(const char *path);
