// Cameras of radiance fields: from pixels to rays in the field's space.
#pragma once

#include "engine/core/camera.h"
#include "neural/capture/capture.h"
#include "neural/capture/ray_formula.h"
#include "neural/nerf/cpu.h"

typedef ray_camera orr_nerf_camera;

// to_unit: the world's similarity to the field's space, see orr_capture.
orr_nerf_camera orr_nerf_camera_of_image(const orr_capture_image *image, const float to_unit[12]);
photo_lens orr_photo_lens_of(const orr_lens *lens); // with its distortion, whether it is to be used or not
// ORR_ERROR_ARGUMENT when the lens's view has no inverse.
orr_result orr_nerf_camera_of_lens(const orr_lens *lens, const float to_unit[12], orr_nerf_camera *camera,
                                   orr_error *error);

// A ray of a picture; x, y in pixels, the middle of the first at (0.5, 0.5).
typedef struct orr_nerf_ray {
    float origin[3], direction[3]; // direction: a unit vector
    float depth;                   // depth along the camera's axis, in the world's units, per distance
} orr_nerf_ray;
orr_nerf_ray orr_nerf_camera_ray(const orr_nerf_camera *camera, float x, float y);
// Where a place of the field's space appears; false: behind the camera.
bool orr_nerf_camera_pixel(const orr_nerf_camera *camera, const float place[3], float pixel[2], float *depth);

// Distances between which a ray is inside the cube of side aabb_scale; false: it misses it.
bool orr_nerf_ray_range(const orr_nerf_ray *ray, int aabb_scale, float *start, float *end);
// Puts a ray into a bundle. It begins `jitter` (0 .. 1) steps behind `start`.
void orr_nerf_ray_begin(orr_nerf_rays *rays, const nerf_stepping *stepping, const orr_nerf_ray *ray,
                        float start, float end, float jitter);
