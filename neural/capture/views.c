#define ORR_SCALAR
#include "neural/capture/views.h"

#include "neural/capture/ray_camera.h"

#include <math.h>

enum { STEPS = 9, SAMPLES = STEPS * STEPS };

typedef struct view_samples {
    int inside;   // rays that meet the cube
    int restored; // pixels that the ray through them projects to
} view_samples;

static view_samples sample_view(const orr_ray_camera *camera, float half_side)
{
    view_samples found = {0, 0};
    float tolerance = 1.0f + 1e-3f * (float)(camera->width + camera->height); // [px]
    for (int i = 0; i < SAMPLES; i++) {
        float x = ((float)(i % STEPS) + 0.5f) / STEPS * (float)camera->width,
              y = ((float)(i / STEPS) + 0.5f) / STEPS * (float)camera->height;
        orr_camera_ray ray = orr_ray_camera_ray(camera, x, y);
        const float *o = ray.origin, *d = ray.direction;
        real2 range = ray_inside(make_real2(0.0f, INFINITY), make_real3(o[0], o[1], o[2]),
                                 make_real3(d[0], d[1], d[2]), half_side);
        found.inside += range.x < range.y;
        float point[3], pixel[2], depth;
        for (int k = 0; k < 3; k++) {
            point[k] = o[k] + d[k] * camera->scale;
        }
        found.restored += orr_ray_camera_project(camera, point, pixel, &depth) &&
                          fabsf(pixel[0] - x) <= tolerance && fabsf(pixel[1] - y) <= tolerance;
    }
    return found;
}

orr_result orr_capture_check_views(const orr_capture *capture, const char *name, bool unbounded, orr_log log,
                                   orr_error *error)
{
    int blind = 0;
    for (int i = 0; i < capture->count; i++) {
        const orr_capture_image *image = &capture->images[i];
        orr_ray_camera camera = orr_ray_camera_of_image(image, capture->to_unit);
        view_samples found = sample_view(&camera, 0.5f * (float)capture->aabb_scale);
        if (camera.distorted && found.restored < SAMPLES / 2) {
            return orr_fail(
                error, ORR_CODE_CAMERA_FILE,
                "%s: %s: distortion k1 %g, k2 %g, p1 %g, p2 %g: expected one that is one to one on "
                "most of the picture",
                name, image->path, (double)image->radial[0], (double)image->radial[1],
                (double)image->tangential[0], (double)image->tangential[1]);
        }
        blind += found.inside == 0;
    }
    if (unbounded || blind == 0) {
        return ORR_OK;
    }
    if (blind == capture->count) {
        return orr_fail(
            error, ORR_CODE_CAMERA_FILE,
            "%s: none of its %d cameras sees the cube of the field: expected another scale or offset, "
            "or an aabb_scale above %d",
            name, capture->count, capture->aabb_scale);
    }
    orr_log_line(log, ORR_LOG_WARNING, ORR_CODE_CAMERA_FILE,
                 "%s: %d of %d cameras see nothing of the cube of the field", name, blind, capture->count);
    return ORR_OK;
}
