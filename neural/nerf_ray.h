// One ray of a photo, and what it is compared with: for C (define ORR_SCALAR) and for kernels, where cameras and pixels are
// copies of the CPU's. A ray of a training step is a pure function of seed, step and index.
#pragma once

#include "engine/core/rng.h"
#include "neural/nerf_camera.h"
#include "neural/ray_formula.h"

FN orr_nerf_ray nerf_camera_ray(const orr_nerf_camera *camera, float x, float y)
{
    const photo_lens *lens = &camera->lens;
    real2 p = make_real2((x - lens->centre_x) / lens->focal_x, (y - lens->centre_y) / lens->focal_y);
    orr_nerf_ray ray;
    if (camera->orthographic) {
        for (int k = 0; k < 3; k++) {
            ray.origin[k] =
                camera->origin[k] + camera->scale * (p.x * camera->axes[0][k] + p.y * camera->axes[1][k]);
            ray.direction[k] = camera->axes[2][k];
        }
        ray.depth = 1.0f / camera->scale;
        return ray;
    }
    if (camera->distorted) {
        p = lens_undistort(*lens, p);
    }
    float per_length = 1.0f / sqrtf(p.x * p.x + p.y * p.y + 1.0f);
    for (int k = 0; k < 3; k++) {
        ray.origin[k] = camera->origin[k];
        ray.direction[k] =
            per_length * (p.x * camera->axes[0][k] + p.y * camera->axes[1][k] + camera->axes[2][k]);
    }
    ray.depth = per_length / camera->scale;
    return ray;
}

// Distances between which a ray is inside the cube of side aabb_scale; false: it misses it.
FN bool nerf_ray_range(const orr_nerf_ray *ray, int aabb_scale, float *start, float *end)
{
    float half = 0.5f * (float)aabb_scale;
    *start = 0.0f;
    *end = INFINITY;
    for (int k = 0; k < 3; k++) {
        float d = fabsf(ray->direction[k]) > 1e-12f ? ray->direction[k] : 1e-12f;
        float low = (0.5f - half - ray->origin[k]) / d, high = (0.5f + half - ray->origin[k]) / d;
        *start = fmaxf(*start, fminf(low, high));
        *end = fminf(*end, fmaxf(low, high));
    }
    return *start < *end;
}

// finite
FN float nerf_per_direction(float direction)
{
    return 1.0f / (fabsf(direction) > 1e-12f ? direction : 1e-12f);
}

// The random bits of a step's ray: which image and which of its pixels, what stands behind it, how late it begins.
typedef struct nerf_draw {
    uint64_t where, light;
} nerf_draw;

FN nerf_draw nerf_draw_ray(uint32_t seed, int64_t step, int index)
{
    nerf_draw draw;
    draw.where = orr_random_bits(seed, (uint32_t)step, 2 * (uint32_t)index);
    draw.light = orr_random_bits(seed, (uint32_t)step, 2 * (uint32_t)index + 1);
    return draw;
}

FN int nerf_drawn_image(nerf_draw draw, int image_count)
{
    return (int)((draw.where >> 32) * (uint64_t)image_count >> 32);
}

FN int64_t nerf_drawn_pixel(nerf_draw draw, int64_t pixel_count)
{
    return (int64_t)((draw.where & 0xFFFFFFFFu) * (uint64_t)pixel_count >> 32);
}

FN float nerf_drawn_jitter(nerf_draw draw) // of a step, 0 .. 1
{
    return (float)(draw.light >> 48) * 0x1p-16f;
}

// What a ray is compared with.
typedef struct nerf_target {
    float colour[3]; // premultiplied
    float background[3];
    float share; // of the background: 1 - alpha
    int image;   // among those to learn from
} nerf_target;

// pixel: 3 or 4 bytes
FN nerf_target nerf_target_of(nerf_draw draw, const uint8_t *pixel, int channels, int image)
{
    nerf_target target;
    float alpha = channels == 4 ? (float)pixel[3] / 255.0f : 1.0f;
    target.share = 1.0f - alpha;
    target.image = image;
    for (int c = 0; c < 3; c++) {
        target.colour[c] = alpha * ((float)pixel[c] / 255.0f);
        target.background[c] = (float)(draw.light >> (16 * c) & 0xFFFF) * 0x1p-16f;
    }
    return target;
}
