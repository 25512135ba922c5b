// Which ray of the photos a training step draws, a pure function of seed, step and index; and what it is
// compared with. For C (define ORR_SCALAR) and for kernels.
#pragma once

#include "engine/maths/formula.h"
#include "engine/maths/rng.h"

// The random bits of a step's ray: which image and which of its pixels, its background, how late it begins.
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

FN real2 nerf_drawn_centre(int64_t pixel, int width) // of the pixel
{
    real2 centre = {(float)(pixel % width) + 0.5f, (float)(pixel / width) + 0.5f};
    return centre;
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
