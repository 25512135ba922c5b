// Pictures that are laid on surfaces, in plain C: in their finest level, as seen from near.
#pragma once

#include "engine/image/image.h"
#include "engine/maths/colour_formula.h"
#include "render/formula_inputs.h"

// Linear light of each byte of sRGB.
static inline void picture_decode_table(float linear[256])
{
    for (int i = 0; i < 256; i++) {
        linear[i] = srgb_to_linear((float)i / 255.0f);
    }
}

static inline real4 picture_texel(const float linear[256], const orr_image8 *picture, real column, real row)
{
    const uint8_t *t = picture->rgba + 4 * ((size_t)row * (size_t)picture->width + (size_t)column);
    return make_real4(linear[t[0]], linear[t[1]], linear[t[2]], (float)t[3] / 255.0f);
}

static inline real4 picture_sample(const float linear[256], const orr_image8 *picture,
                                   const orr_texture_sampler *sampler, real u, real v)
{
    const texture_sampler how = texture_sampler_of(sampler);
    const texture_square q =
        texture_around(texture_wrapped(u, v, how), (float)picture->width, (float)picture->height, how, false);
    real4 sum = make_real4(0.0f, 0.0f, 0.0f, 0.0f);
    sum = texture_add(sum, q.left_top, picture_texel(linear, picture, q.left, q.top));
    sum = texture_add(sum, q.right_top, picture_texel(linear, picture, q.right, q.top));
    sum = texture_add(sum, q.left_bottom, picture_texel(linear, picture, q.left, q.bottom));
    return texture_add(sum, q.right_bottom, picture_texel(linear, picture, q.right, q.bottom));
}
