#define ORR_SCALAR
#include "tests/support/scenes/photos.h"

#include "engine/core/memory.h"
#include "neural/capture/ray_camera.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static void look_at_middle(float angle, float height, float distance, float pose[12])
{
    const float out[3] = {cosf(angle) * cosf(height), sinf(angle) * cosf(height), sinf(height)};
    const float right[3] = {-sinf(angle), cosf(angle), 0.0f};
    const float down[3] = {-out[1] * right[2] + out[2] * right[1], -out[2] * right[0] + out[0] * right[2],
                           -out[0] * right[1] + out[1] * right[0]};
    for (int k = 0; k < 3; k++) {
        pose[4 * k] = right[k];
        pose[4 * k + 1] = down[k];
        pose[4 * k + 2] = -out[k];
        pose[4 * k + 3] = distance * out[k];
    }
}

static void take_photo(const photo_plan *plan, orr_capture_image *image, float angle, float height)
{
    const int size = plan->size, channels = plan->channels;
    const float focal = plan->focal * (float)size, centre = 0.5f * (float)size;
    *image = (orr_capture_image){.width = size,
                                 .height = size,
                                 .channels = channels,
                                 .focal = {focal, focal},
                                 .centre = {centre, centre},
                                 .fisheye = plan->fisheye,
                                 .sharpness = 1.0f};
    memcpy(image->radial, plan->radial, sizeof image->radial);
    memcpy(image->tangential, plan->tangential, sizeof image->tangential);
    look_at_middle(angle, height, plan->distance, image->pose);
    image->pixels = orr_alloc((size_t)size * (size_t)size, (size_t)channels);
    assert_non_null(image->pixels);
    const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    orr_ray_camera camera = orr_ray_camera_of_image(image, identity);
    for (int i = 0; i < size * size; i++) { // 4 x 4 rays per pixel: edges are soft, as in photos
        float sum[4] = {0.0f};
        for (int k = 0; k < 16; k++) {
            float x = (float)(i % size) + 0.125f + 0.25f * (float)(k % 4);
            float y = (float)(i / size) + 0.125f + 0.25f * (float)(k / 4);
            orr_camera_ray ray = orr_ray_camera_ray(&camera, x, y);
            float rgba[4] = {0.0f};
            plan->shade(ray.origin, ray.direction, rgba);
            for (int c = 0; c < 4; c++) {
                sum[c] += rgba[c];
            }
        }
        for (int c = 0; c < channels; c++) { // colours are the mean of what is there
            float rays = c < 3 ? fmaxf(sum[3], 1.0f) : 16.0f;
            image->pixels[channels * i + c] = (uint8_t)(255.0f * sum[c] / rays + 0.5f);
        }
    }
}

void take_photos(const photo_plan *plan, photos *p)
{
    p->capture = (orr_capture){.images = p->images, .count = plan->count, .aabb_scale = plan->aabb_scale};
    p->learned = plan->learned;
    for (int k = 0; k < 3; k++) {
        p->capture.to_unit[5 * k] = plan->scale;
        p->capture.to_unit[4 * k + 3] = 0.5f;
    }
    for (int i = 0; i < plan->count; i++) {
        const int learned = plan->learned;
        float angle = i < learned ? 2.39996f * (float)i : 0.7f + 2.0f * (float)i;
        float share = (float)i / (float)(learned - 1);
        float height =
            i < learned ? plan->lowest + (plan->highest - plan->lowest) * share : 0.2f * (float)(i - learned);
        take_photo(plan, &p->images[i], angle, height);
        p->indices[i] = i;
    }
}

void drop_photos(photos *p)
{
    for (int i = 0; i < p->capture.count; i++) {
        orr_free(p->images[i].pixels);
    }
}

static const struct {
    float centre[3], radius, colour[3];
} spheres[] = {{{0.0f, 0.0f, 0.0f}, 0.7f, {0.9f, 0.3f, 0.2f}},
               {{0.8f, 0.3f, 0.1f}, 0.35f, {0.2f, 0.8f, 0.3f}},
               {{-0.5f, -0.3f, 0.7f}, 0.3f, {0.2f, 0.4f, 0.9f}}};

static void shade_spheres(const float origin[3], const float direction[3], float rgba[4])
{
    float nearest = INFINITY;
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
            rgba[k] = spheres[s].colour[k] * (0.7f + 0.3f * height);
        }
        rgba[3] = 1.0f;
    }
}

const photo_plan sphere_photos = {.shade = shade_spheres,
                                  .size = SPHERE_PHOTO_SIZE,
                                  .channels = 4,
                                  .count = SPHERE_PHOTOS,
                                  .learned = SPHERE_PHOTOS_LEARNED,
                                  .focal = 1.2f,
                                  .distance = 3.0f,
                                  .lowest = -0.9f,
                                  .highest = 1.0f,
                                  .scale = 0.33f,
                                  .aabb_scale = 1};
