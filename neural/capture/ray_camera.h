// Cameras that make rays: from a photo or a lens to rays in the space of a neural field.
#pragma once

#include "engine/maths/camera.h"
#include "neural/capture/capture.h"
#include "neural/capture/ray_formula.h"

typedef ray_camera orr_ray_camera;

// The lens's distortion; of a lens that is not distorted, none.
photo_lens orr_photo_lens_of(const orr_lens *lens);

// to_unit: the world's similarity to the field's space, 3x4 (see orr_capture).
orr_ray_camera orr_ray_camera_of_image(const orr_capture_image *image, const float to_unit[12]);
// ORR_CODE_ARGUMENT when the lens's view has no inverse.
orr_result orr_ray_camera_of_lens(const orr_lens *lens, const float to_unit[12], orr_ray_camera *camera,
                                  orr_error *error);

// A ray in the field's space.
typedef struct orr_camera_ray {
    float origin[3], direction[3]; // direction: a unit vector
    float
        depth; // depth along the camera's axis, of a fisheye the distance, in the world's units, per distance
} orr_camera_ray;

// The ray through (x, y) [px]; the centre of the first pixel is (0.5, 0.5).
orr_camera_ray orr_ray_camera_ray(const orr_ray_camera *camera, float x, float y);
// Projects a point of the field's space to pixel [px] and depth (along the camera's axis, of a fisheye the
// distance, in the field's units). False: it is behind the camera, or a fisheye's centre, and only depth is
// written.
bool orr_ray_camera_project(const orr_ray_camera *camera, const float point[3], float pixel[2], float *depth);
