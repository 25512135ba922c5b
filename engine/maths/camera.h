// Cameras: from what a user says to what drawing needs.
#pragma once

#include "engine/core/result.h"

// A camera checked and resolved. All matrices are row-major 3x4.
typedef struct orr_lens {
    float view[12];    // world to camera: x right, y down, z forward
    float position[3]; // of the camera, in the world
    float focal[2];    // [px], or [px per unit] when orthographic
    float centre[2];   // [px]
    float near_plane, far_plane;
    float slope_low[2]; // bounds of x/z and y/z inside the projection's derivative
    float slope_high[2];
    int width, height;
    bool orthographic;
    // camera space: nothing is drawn where clip[0] x + clip[1] y + clip[2] z + clip[3] < 0; zeros: everything
    // is
    float clip[4];
    bool distorted; // by OpenCV's polynomials (neural/capture/lens_formula.h); only fields know it, and
                    // splats that learn from photos or are alone on the CPU
    bool fisheye;   // where it is distorted: those of a fisheye
    float radial[4], tangential[2];
} orr_lens;

// ORR_ERROR_ARGUMENT names the member that is out of range (focal <= 0, singular or non-finite pose, size,
// planes).
orr_result orr_camera_resolve(const orr_camera *camera, orr_lens *lens, orr_error *error);

// a x b for 3x4 affine maps (the last row is 0 0 0 1)
void orr_affine_multiply(const float a[12], const float b[12], float out[12]);
// ORR_OK, or ORR_ERROR_ARGUMENT when the determinant is zero or not finite
orr_result orr_affine_invert(const float m[12], float out[12], orr_error *error);
// normalises the rotation; ORR_ERROR_ARGUMENT when scale < 0 or a member is not finite. NULL: identity.
orr_result orr_affine_from_transform(const orr_transform *transform, float out[12], orr_error *error);
