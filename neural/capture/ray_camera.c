#define ORR_SCALAR
#include "neural/capture/ray_camera.h"

#include "neural/capture/fisheye.h"

#include <math.h>

static void to_field(const float to_unit[12], const float pose[12], orr_ray_camera *camera)
{
    float squared = 0.0f;
    for (int k = 0; k < 3; k++) {
        squared += to_unit[4 * k] * to_unit[4 * k];
    }
    camera->scale = sqrtf(squared);
    for (int row = 0; row < 3; row++) {
        const float *m = to_unit + 4 * row;
        camera->origin[row] = m[0] * pose[3] + m[1] * pose[7] + m[2] * pose[11] + m[3];
        for (int axis = 0; axis < 3; axis++) {
            camera->axes[axis][row] =
                (m[0] * pose[axis] + m[1] * pose[4 + axis] + m[2] * pose[8 + axis]) / camera->scale;
        }
    }
}

orr_ray_camera orr_ray_camera_of_image(const orr_capture_image *image, const float to_unit[12])
{
    orr_ray_camera camera = {
        .lens = {.focal_x = image->focal[0],
                 .focal_y = image->focal[1],
                 .centre_x = image->centre[0],
                 .centre_y = image->centre[1],
                 .k1 = image->radial[0],
                 .k2 = image->radial[1],
                 .k3 = image->radial[2],
                 .k4 = image->radial[3],
                 .p1 = image->tangential[0],
                 .p2 = image->tangential[1],
                 .fisheye_limit = image->fisheye ? orr_fisheye_limit(image->radial) : 0.0f},
        .width = image->width,
        .height = image->height,
        .far_plane = INFINITY,
    };
    const photo_lens *lens = &camera.lens;
    camera.distorted = image->fisheye || lens->k1 != 0.0f || lens->k2 != 0.0f || lens->k3 != 0.0f ||
                       lens->k4 != 0.0f || lens->p1 != 0.0f || lens->p2 != 0.0f;
    to_field(to_unit, image->pose, &camera);
    return camera;
}

photo_lens orr_photo_lens_of(const orr_lens *lens)
{
    photo_lens photo = {.focal_x = lens->focal[0],
                        .focal_y = lens->focal[1],
                        .centre_x = lens->centre[0],
                        .centre_y = lens->centre[1]};
    if (lens->distorted) {
        photo.k1 = lens->radial[0];
        photo.k2 = lens->radial[1];
        photo.k3 = lens->radial[2];
        photo.k4 = lens->radial[3];
        photo.p1 = lens->tangential[0];
        photo.p2 = lens->tangential[1];
        photo.fisheye_limit = lens->fisheye ? orr_fisheye_limit(lens->radial) : 0.0f;
    }
    return photo;
}

orr_result orr_ray_camera_of_lens(const orr_lens *lens, const float to_unit[12], orr_ray_camera *camera,
                                  orr_error *error)
{
    *camera = (orr_ray_camera){
        .lens = orr_photo_lens_of(lens),
        .distorted = lens->distorted,
        .orthographic = lens->orthographic,
        .width = lens->width,
        .height = lens->height,
        .near_plane = lens->near_plane,
        .far_plane = lens->far_plane,
    };
    float pose[12];
    ORR_TRY(orr_affine_invert(lens->view, pose, error));
    to_field(to_unit, pose, camera);
    return ORR_OK;
}

orr_camera_ray orr_ray_camera_ray(const orr_ray_camera *camera, float x, float y)
{
    camera_ray ray = ray_of_pixel(*camera, make_real2(x, y));
    return (orr_camera_ray){.origin = {ray.origin.x, ray.origin.y, ray.origin.z},
                            .direction = {ray.direction.x, ray.direction.y, ray.direction.z},
                            .depth = ray.depth};
}

bool orr_ray_camera_project(const orr_ray_camera *camera, const float point[3], float pixel[2], float *depth)
{
    float local[3];
    for (int axis = 0; axis < 3; axis++) {
        local[axis] = 0.0f;
        for (int k = 0; k < 3; k++) {
            local[axis] += camera->axes[axis][k] * (point[k] - camera->origin[k]);
        }
    }
    const bool fisheye = camera->lens.fisheye_limit > 0.0f;
    *depth = fisheye ? sqrtf(local[0] * local[0] + local[1] * local[1] + local[2] * local[2]) : local[2];
    if (!(*depth > 0.0f)) {
        return false;
    }
    real2 p = photo_pixel(camera->lens, make_real3(local[0], local[1], local[2]));
    pixel[0] = p.x;
    pixel[1] = p.y;
    return true;
}
