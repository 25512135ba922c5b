#include "render/splat_lens.h"

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
