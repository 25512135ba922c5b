// The photos of a capture as its file lists them, before any of them is opened: the form that the readers of
// transforms.json (transforms_file.h) and of COLMAP models (colmap.h) share.
#pragma once

#include "engine/core/result.h"

// A pinhole with OpenCV's distortion. With x, y = right / forward, down / forward and r2 = x x + y y:
//     stretch = 1 + k1 r2 + k2 r2^2 + k3 r2^3 + k4 r2^4
//     x' = x stretch + 2 p1 x y + p2 (r2 + 2 x x)      pixel = focal x' + centre
//     y' = y stretch + p1 (r2 + 2 y y) + 2 p2 x y
// A fisheye is OpenCV's too: with a the angle to the axis, in radians, and r = sqrt(x x + y y),
//     x' = x / r (a + k1 a^3 + k2 a^5 + k3 a^7 + k4 a^9)      and y' likewise
// The middle of the first pixel is at (0.5, 0.5).
typedef struct orr_photo_lens {
    double size[2];       // [px]; 0: not in the file
    double focal[2];      // [px]; 0: not in the file
    double angle[2];      // field of view [rad], where there is no focal length; 0: not in the file
    double centre[2];     // [px]; NAN: the middle
    double radial[4];     // k1 .. k4
    double tangential[2]; // p1, p2; of a fisheye 0
    bool fisheye;
} orr_photo_lens;

// nerfstudio's parts of a capture. By order: a photo of several is of the last.
typedef enum orr_photo_part {
    ORR_PHOTO_OF_NONE, // the file does not say
    ORR_PHOTO_OF_TRAIN,
    ORR_PHOTO_OF_VAL,
    ORR_PHOTO_OF_TEST
} orr_photo_part;

typedef struct orr_photo {
    char *file;       // as the capture's file names it; NULL: it does not
    char *mask;       // of pixels to learn from, likewise; mostly NULL
    float pose[12];   // camera to world, 3x4: right, down, forward, position
    double sharpness; // the larger the sharper; 1: not in the file
    uint32_t id;      // COLMAP's IMAGE_ID; 0: it has none
    orr_photo_part part;
    orr_photo_lens lens;
} orr_photo;

typedef struct orr_photo_list {
    orr_photo *photos; // count, in file order
    int count;
    float to_unit[12];                         // the file's world to the cube of the field: see orr_capture
    int aabb_scale;                            // 1 .. 128, a power of two
    bool white_transparent, black_transparent; // pixels of exactly that colour are background
    bool premultiplied;                        // colours are to be divided by alpha ("fix_premult")
    char *points;      // file of points, as the capture's file names it ("points3D_path", COLMAP's, which is
                       // preferred, or "ply_file_path"); NULL: it names none
    char ignored[128]; // keys of the file that are left out although they matter, with commas; "": none
} orr_photo_list;

void orr_photo_list_free(orr_photo_list *list);

// Fills in size (when not in the file: width x height), focal and centre. NULL, or what was expected.
const char *orr_photo_lens_resolve(orr_photo_lens *lens, int width, int height);
bool orr_photo_lens_distorted(const orr_photo_lens *lens); // not a pinhole

// instant-ngp's map of the world: v = scale x + offset, then the axes cycled, (u_0, u_1, u_2) =
// (v_1, v_2, v_0).
void orr_unit_map(double scale, const double offset[3], float to_unit[12]);
// The 3x3 rotation part of a file made orthonormal. False: too far from a rotation; *off says how far and
// *determinant what it is.
bool orr_rotation_straighten(double m[3][3], double *off, double *determinant);
