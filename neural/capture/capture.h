// Photo captures: what radiance fields are trained on.
//
// A capture is what capture_file.h finds at a path. Photos that are listed but absent are skipped with one
// warning. Pixels stay bytes as stored: 3 per pixel in opaque photos, 4 in those with alpha.
#pragma once

#include "engine/core/jobs.h"
#include "neural/capture/photo_list.h"

typedef struct orr_capture_image {
    char *path; // of the file it was read from
    int width, height;
    int channels;        // 3: RGB, opaque; 4: RGBA, straight alpha
    uint8_t *pixels;     // height x width x channels, sRGB as stored, rows from the top
    uint8_t *mask;       // height x width, 0: not to be learned from; NULL: learn from all
    float pose[12];      // camera to the file's world, 3x4: right, down, forward, position
    float focal[2];      // [px]
    float centre[2];     // [px]; the middle of the first pixel is at (0.5, 0.5)
    float radial[4];     // k1 .. k4 of photo_list.h
    float tangential[2]; // p1, p2
    bool fisheye;
    float sharpness; // the larger the sharper; 1 when not in the file
    uint32_t id;     // COLMAP's IMAGE_ID; 0: it has none
    orr_photo_part part;
} orr_capture_image;

// Fields are in the unit cube, or in the cube of side aabb_scale about (0.5, 0.5, 0.5). to_unit is a
// similarity from the file's world: u = to_unit (x, 1). For transforms.json it is instant-ngp's: v = scale x
// + offset (0.33 and 0.5 when not in the file), u = (v_1, v_2, v_0).
typedef struct orr_capture {
    orr_capture_image *images; // count, in file order
    int count;
    int absent;     // photos listed but not there
    char *points;   // file of points (capture_file.h), which may not be there; NULL: none
    int aabb_scale; // 1 .. 128, a power of two
    float to_unit[12];
} orr_capture;

// Reads the file and decodes all photos in parallel. Errors: unreadable or damaged photos, sizes that are not
// what the file says, poses that are not rotations, lenses of other models than photo_list.h has, masks that
// leave nothing, no photo left.
orr_result orr_capture_load(const char *path, orr_jobs *jobs, orr_log log, orr_capture **capture,
                            orr_error *error);
void orr_capture_destroy(orr_capture *capture); // NULL is allowed
// Moves the photos of `from` behind those of `to`, whose points and unit cube stay; `from` has none then.
orr_result orr_capture_append(orr_capture *to, orr_capture *from, orr_error *error);
size_t orr_capture_bytes(const orr_capture *capture);

// A mask for a photo of width x height pixels: 0 not to be learned from, otherwise 255; free with orr_free.
// black_is_out: black is not to be learned from (nerfstudio's mask_path, COLMAP's); false: all but black is
// (instant-ngp's dynamic_mask_NAME.png). ORR_CODE_IMAGE_FILE: another size, or nothing is left.
orr_result orr_mask_load(const char *path, bool black_is_out, int width, int height, uint8_t **mask,
                         orr_error *error);

// The display colour of pixel number `pixel`, row by row, over a white background.
void orr_capture_over_white(const orr_capture_image *image, int64_t pixel, float colour[3]);

// Every holdout-th image is for testing: indices 0, K, 2 K ... as in the papers; the others, in order, are
// for training. holdout 0: all are for training. `indices` holds count; the training images come first.
// Returns how many those are.
int orr_capture_split(int count, int holdout, int *indices);
// Likewise by what the file says: those of `train` learn (all that are of no part where it lists none), those
// of `test` are for testing (of `val` where it lists none); other photos are in neither. *test_count: 0 where
// the file says nothing.
int orr_capture_split_by_parts(const orr_capture *capture, int *indices, int *test_count);
