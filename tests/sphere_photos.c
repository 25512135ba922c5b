#define ORR_SCALAR
#include "sphere_photos.h"

#include "engine/core/memory.h"
#include "neural/nerf_camera.h"
#include "support.h"

#include <math.h>
#include <string.h>

static const struct {
    float centre[3], radius, colour[3];
} spheres[] = {{{0.0f, 0.0f, 0.0f}, 0.7f, {0.9f, 0.3f, 0.2f}},
               {{0.8f, 0.3f, 0.1f}, 0.35f, {0.2f, 0.8f, 0.3f}},
               {{-0.5f, -0.3f, 0.7f}, 0.3f, {0.2f, 0.4f, 0.9f}}};

static void shade(const float origin[3], const float direction[3], uint8_t rgba[4])
{
    float nearest = INFINITY;
    memset(rgba, 0, 4);
    for (size_t s = 0; s < sizeof spheres / sizeof *spheres; s++) {
        float b = 0.0f, c = -spheres[s].radius * spheres[s].radius;
        for (int k = 0; k < 3; k++) {
            float o = origin[k] - spheres[s].centre[k];
            b += o * direction[k];
            c += o * o;
        }
        float t = -b - sqrtf(b * b - c);
        if (!(b * b >= c) || !(t < nearest)) {
            continue;
        }
        nearest = t;
        float height = (origin[2] + t * direction[2] - spheres[s].centre[2]) / spheres[s].radius;
        for (int k = 0; k < 3; k++) {
            rgba[k] = (uint8_t)(255.0f * spheres[s].colour[k] * (0.7f + 0.3f * height));
        }
        rgba[3] = 255;
    }
}

static void look_at_centre(float angle, float height, float pose[12])
{
    float eye[3] = {3.0f * cosf(angle) * cosf(height), 3.0f * sinf(angle) * cosf(height),
                    3.0f * sinf(height)};
    float forward[3] = {-eye[0] / 3.0f, -eye[1] / 3.0f, -eye[2] / 3.0f};
    float right[3] = {-sinf(angle), cosf(angle), 0.0f};
    float down[3] = {forward[1] * right[2] - forward[2] * right[1],
                     forward[2] * right[0] - forward[0] * right[2],
                     forward[0] * right[1] - forward[1] * right[0]};
    for (int k = 0; k < 3; k++) {
        pose[4 * k] = right[k];
        pose[4 * k + 1] = down[k];
        pose[4 * k + 2] = forward[k];
        pose[4 * k + 3] = eye[k];
    }
}

static void take_photo(orr_capture_image *image, float angle, float height)
{
    *image = (orr_capture_image){.width = PHOTO_SIZE,
                                 .height = PHOTO_SIZE,
                                 .channels = 4,
                                 .focal = {1.2f * PHOTO_SIZE, 1.2f * PHOTO_SIZE},
                                 .centre = {0.5f * PHOTO_SIZE, 0.5f * PHOTO_SIZE},
                                 .sharpness = 1.0f};
    look_at_centre(angle, height, image->pose);
    image->pixels = orr_alloc(PHOTO_SIZE * PHOTO_SIZE, 4);
    assert_non_null(image->pixels);
    float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    orr_nerf_camera camera = orr_nerf_camera_of_image(image, identity);
    for (int i = 0; i < PHOTO_SIZE * PHOTO_SIZE; i++) { // 4 x 4 rays per pixel: edges are soft, as in photos
        float sum[4] = {0.0f};
        for (int k = 0; k < 16; k++) {
            float x = (float)(i % PHOTO_SIZE) + 0.125f + 0.25f * (float)(k % 4);
            float y = (float)(i / PHOTO_SIZE) + 0.125f + 0.25f * (float)(k / 4);
            orr_nerf_ray ray = orr_nerf_camera_ray(&camera, x, y);
            uint8_t rgba[4];
            shade(ray.origin, ray.direction, rgba);
            for (int c = 0; c < 4; c++) {
                sum[c] += (float)rgba[c];
            }
        }
        float covered = sum[3] > 0.0f ? sum[3] / 255.0f : 1.0f;
        for (int c = 0; c < 4; c++) {
            image->pixels[4 * i + c] = (uint8_t)(sum[c] / (c < 3 ? covered : 16.0f) + 0.5f);
        }
    }
}

void take_photos(photos *p)
{
    const double offset[3] = {0.5, 0.5, 0.5};
    p->capture = (orr_capture){.images = p->images, .count = PHOTO_COUNT, .aabb_scale = 1};
    orr_unit_map(0.33, offset, p->capture.to_unit);
    for (int i = 0; i < PHOTO_COUNT; i++) {
        // the last two, which are not learned, look from between the others
        float angle = i < PHOTOS_LEARNED ? 2.39996f * (float)i : 0.7f + 2.0f * (float)i;
        float height = i < PHOTOS_LEARNED ? -0.9f + 1.9f * (float)i / (PHOTOS_LEARNED - 1)
                                          : 0.2f * (float)(i - PHOTOS_LEARNED);
        take_photo(&p->images[i], angle, height);
        p->indices[i] = i;
    }
}

void drop_photos(photos *p)
{
    for (int i = 0; i < PHOTO_COUNT; i++) {
        orr_free(p->images[i].pixels);
    }
}
