// Lanes over the pixels of a row: what fields show, in the light of lamps as well.
#include "render/cloud_shadow/cloud_shadow_cpu.h"
#include "render/cpu/shadow_cpu.h"
#include "render/field_light/captured_light_formula.h"
#include "render/field_light/field_light.h"

// A group of pixels of the row.
typedef struct group {
    sint column; // within the picture
    real3 position, normal;
    real known;
    mask lit;
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

// The part of a lamp that reaches the points past meshes, what is captured and clouds that move.
static real visible_part(const orr_field_light_job *job, int lamp, const group *g)
{
    const orr_field_lamps *l = job->lamps;
    const int number = l->lamps.numbers[lamp];
    const orr_shadow_maps *shadows = job->maps.shadows;
    const orr_cloud_shadows *clouds = job->maps.clouds;
    const int caster = shadows && shadows->texels ? shadows->plan.light_of[number] : -1;
    real visible = caster < 0 ? R(1.0) : shadow_lookup(shadows, caster, g->position, g->normal);
    const int map = l->captured_of[lamp];
    if (map >= 0) {
        visible = visible * shadow_lookup_in(job->captured + l->captured_firsts[map],
                                             shadow_view_of(&l->captured[map]), g->position, g->normal);
    }
    return clouds && clouds->count > 0 ? visible * cloud_shadow_lookup(clouds, number, g->position, R(-1.0))
                                       : visible;
}

// The radiance of white surfaces in the light of the lamps.
static real3 light_on(const orr_field_light_job *job, const group *g)
{
    const orr_captured_lamps *lamps = &job->lamps->lamps;
    real3 sum = make_real3(R(0.0), R(0.0), R(0.0));
    for (int i = 0; i < lamps->count; i++) {
        const orr_light_values *lamp = &lamps->lamps[i];
        const light_incidence incident = light_incident(light_of(lamp), g->position);
        const real cosine = max_(dot3(incident.to_light, g->normal), R(0.0));
        real strength = incident.strength * captured_facing(g->known, cosine);
        strength = sel(and_(g->lit, strength > R(CAPTURED_FAINT)), strength, R(0.0));
        if (any(strength > R(0.0))) {
            strength = strength * visible_part(job, i, g);
            sum = light_add_colour(sum, strength, lamp->diffuse[0], lamp->diffuse[1], lamp->diffuse[2]);
        }
    }
    return sum;
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
    g.lit = and_(depth < R(__builtin_inff()), alpha >= R(CAPTURED_ALPHA));
    if (!any(g.lit)) {
        return;
    }
    const real here = sel(g.lit, depth, R(1.0));
    alpha = sel(g.lit, alpha, R(1.0));
    const captured_surface surface = surface_of(job, &g, row, here);
    g.normal = surface.normal;
    g.known = surface.known;
    g.position = shadow_seen(shadow_eye_of(&l->eye), to_real(g.column) + R(0.5), R((float)row + 0.5f), here);
    const real3 light = light_on(job, &g);
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
