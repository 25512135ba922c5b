// Lanes over the pixels of a row: what fields show, in the light of lamps as well.
#include "render/field_light/field_light_cpu.h"

// A group of pixels of the row.
typedef struct group {
    sint column; // within the picture
    field_point point;
} group;

FN sint clamp_column(const orr_field_lamps *l, sint column)
{
    const sint low = sel_int(column < I(0), I(0), column);
    return sel_int(low >= I(l->width), I(l->width - 1), low);
}

// The depth of pixels beside; infinity beyond the picture.
FN real depth_beside(const orr_field_light_job *job, sint column, int row)
{
    const orr_field_lamps *l = job->lamps;
    if (row < 0 || row >= l->height) {
        return R(__builtin_inff());
    }
    const mask inside = and_(column >= I(0), column < I(l->width));
    return sel(inside, real_gather(job->depth + (int64_t)row * l->width, clamp_column(l, column)),
               R(__builtin_inff()));
}

static captured_surface surface_of(const orr_field_light_job *job, const group *g, int row, real here)
{
    const orr_field_lamps *l = job->lamps;
    const mask orthographic = R(l->eye.orthographic) > R(0.5);
    const float across = l->eye.inverse_focal[0], down = l->eye.inverse_focal[1];
    captured_slope s = captured_begin(R(0.0));
    for (int y = -CAPTURED_TAPS; y <= CAPTURED_TAPS; y++) {
        for (int x = -CAPTURED_TAPS; x <= CAPTURED_TAPS; x++) {
            const real depth = depth_beside(job, g->column + I(x * l->stride), row + y * l->stride);
            s = captured_beside(s, R((float)(x * l->stride) * across), R((float)(y * l->stride) * down),
                                depth, here, orthographic);
        }
    }
    return captured_fit(s, (to_real(g->column) + R(0.5f - l->eye.centre[0])) * R(across),
                        R(((float)row + 0.5f - l->eye.centre[1]) * down), here, orthographic);
}

FN void relight_plane(float *plane, int count, real lit_colour)
{
    float values[ORR_LANES];
    real_store(values, lit_colour);
    memcpy(plane, values, (size_t)count * sizeof *values);
}

static void light_group(const orr_field_light_job *job, int left, int row)
{
    const orr_field_lamps *l = job->lamps;
    const int64_t plane = (int64_t)l->width * l->height, first = (int64_t)row * l->width;
    const int count = l->width - left < ORR_LANES ? l->width - left : ORR_LANES;
    group g = {.column = clamp_column(l, lane_index() + I(left))};
    const real depth = real_gather(job->depth + first, g.column);
    real alpha = real_gather(job->colour + 3 * plane + first, g.column);
    g.point.lit = and_(depth < R(__builtin_inff()), alpha >= R(CAPTURED_ALPHA));
    if (!any(g.point.lit)) {
        return;
    }
    const real here = sel(g.point.lit, depth, R(1.0));
    alpha = sel(g.point.lit, alpha, R(1.0));
    const captured_surface surface = surface_of(job, &g, row, here);
    g.point.normal = surface.normal;
    g.point.known = surface.known;
    g.point.position =
        shadow_seen(shadow_eye_of(&l->eye), to_real(g.column) + R(0.5), R((float)row + 0.5f), here);
    const real3 light = field_light_on(job, &g.point);
    const real lights[3] = {light.x, light.y, light.z};
    for (int k = 0; k < 3; k++) {
        float *channel = job->colour + k * plane + first;
        const real colour = real_gather(channel, g.column);
        const real shown = captured_channel(colour, alpha, lights[k], R(1.0f / l->lamps.white[k]));
        relight_plane(channel + left, count, sel(lights[k] > R(0.0), shown, colour));
    }
}

void ORR_ISA_NAME(orr_field_light_row)(const orr_field_light_job *job, int row)
{
    for (int left = 0; left < job->lamps->width; left += ORR_LANES) {
        light_group(job, left, row);
    }
}
