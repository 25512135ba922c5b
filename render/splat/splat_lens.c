#define ORR_SCALAR
#include "render/splat/splat_lens.h"

#include "neural/capture/fisheye.h"
#include "neural/capture/ray_camera.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Splats follow a lens's distortion somewhat beyond the picture's corners, as far as it is one to one.
static const float REACH_SHARE = 1.3f, REACH_MOST = 10.0f;

static float reach_of(const orr_lens *lens, photo_lens photo)
{
    const float rise = orr_lens_rise(lens->radial, (double)REACH_MOST);
    float corner = 0.0f, low = 0.0f, high = rise;
    for (int i = 0; i < 4; i++) {
        const float x = (i % 2 ? (float)lens->width : 0.0f) - lens->centre[0];
        const float y = (i / 2 ? (float)lens->height : 0.0f) - lens->centre[1];
        corner = fmaxf(corner, hypotf(x / lens->focal[0], y / lens->focal[1]));
    }
    for (int i = 0; i < 24; i++) { // the slope that is seen in the corner
        const float middle = 0.5f * (low + high);
        *(lens_distance(photo, middle) < corner ? &low : &high) = middle;
    }
    return fminf(rise, REACH_SHARE * high);
}

splat_photo_values orr_splat_photo_of(const orr_lens *lens)
{
    splat_photo_values values;
    const photo_lens photo = orr_photo_lens_of(lens);
    _Static_assert(sizeof photo == offsetof(splat_photo_values, reach), "the same members in the same order");
    memcpy(&values, &photo, sizeof photo);
    values.reach = lens->fisheye ? 0.0f : reach_of(lens, photo);
    return values;
}

orr_result orr_splat_lens_make(const orr_lens *lens, const orr_draw_splats *layer, splat_lens_values *out,
                               orr_error *error)
{
    float inverse[12];
    ORR_TRY(orr_affine_invert(layer->model, inverse, error));
    *out = (splat_lens_values){
        .focal = {lens->focal[0], lens->focal[1]},
        .centre = {lens->centre[0], lens->centre[1]},
        .near_plane = lens->near_plane,
        .far_plane = lens->far_plane,
        .slope_x = {lens->slope_low[0], lens->slope_high[0]},
        .slope_y = {lens->slope_low[1], lens->slope_high[1]},
        .width = (float)lens->width,
        .height = (float)lens->height,
        .orthographic = lens->orthographic ? 1.0f : 0.0f,
        .antialias = layer->antialias ? 1.0f : 0.0f,
    };
    orr_affine_multiply(lens->view, layer->model, out->view);
    affine_apply_to_point(inverse, lens->position, out->eye);
    return ORR_OK;
}

void orr_splat_lens_clip(const orr_lens *lens, const splat_lens_values *values, float clip[4])
{
    for (int k = 0; k < 4; k++) {
        clip[k] = k < 3 ? 0.0f : lens->clip[3];
        for (int i = 0; i < 3; i++) {
            clip[k] += lens->clip[i] * values->view[4 * i + k];
        }
    }
}
