// What fields show in the light of lamps as well: a thread per pixel. The counterpart on the CPU is
// field_light_cpu.c.
#include "engine/device/cuda_kernel.h"

extern "C" {
#include "render/field_light/cuda_field_light.h"
}
#include "render/cuda/cloud_shadow_device.h"
#include "render/cuda/shadow_device.h"
#include "render/field_light/captured_light_formula.h"

enum : uint32_t { THREADS = 128 };

static __device__ captured_surface surface_of(const orr_cuda_field_light *f, int column, int row, float here)
{
    const orr_field_lamps *l = &f->lamps;
    const bool orthographic = l->eye.orthographic > 0.5f;
    const float across = l->eye.inverse_focal[0], down = l->eye.inverse_focal[1];
    captured_slope s = captured_begin(0.0f);
    for (int y = -CAPTURED_TAPS; y <= CAPTURED_TAPS; y++) {
        for (int x = -CAPTURED_TAPS; x <= CAPTURED_TAPS; x++) {
            const int u = column + x * l->stride, v = row + y * l->stride;
            const bool inside = u >= 0 && u < l->width && v >= 0 && v < l->height;
            const float depth = inside ? f->depth[(size_t)v * (size_t)l->width + (size_t)u] : INFINITY;
            s = captured_beside(s, (float)(x * l->stride) * across, (float)(y * l->stride) * down, depth,
                                here, orthographic);
        }
    }
    return captured_fit(s, ((float)column + 0.5f - l->eye.centre[0]) * across,
                        ((float)row + 0.5f - l->eye.centre[1]) * down, here, orthographic);
}

// The part of a lamp that reaches a point past meshes, what is captured and clouds that move.
static __device__ float visible_part(const orr_cuda_field_light *f, int lamp, real3 position, real3 normal)
{
    const orr_field_lamps *l = &f->lamps;
    const int32_t number = l->lamps.numbers[lamp], map = l->captured_of[lamp];
    const int32_t caster = f->shadow_maps ? f->shadows->light_of[number] : -1;
    float visible = caster < 0 ? 1.0f : shadow_lookup(f->shadows, f->shadow_maps, caster, position, normal);
    if (map >= 0) {
        visible *= shadow_lookup_in(f->captured + l->captured_firsts[map], shadow_view_of(&l->captured[map]),
                                    position, normal);
    }
    return f->clouds.table ? visible * cloud_shadow_lookup(&f->clouds, number, position, -1) : visible;
}

// The radiance of a white surface in the light of the lamps.
static __device__ real3 light_on(const orr_cuda_field_light *f, real3 position, captured_surface surface)
{
    const orr_captured_lamps *lamps = &f->lamps.lamps;
    real3 sum = make_real3(0.0f, 0.0f, 0.0f);
    for (int32_t i = 0; i < lamps->count; i++) {
        const orr_light_values *lamp = &lamps->lamps[i];
        const light_incidence incident = light_incident(light_of(lamp), position);
        const float cosine = max_(dot3(incident.to_light, surface.normal), 0.0f);
        float strength = incident.strength * captured_facing(surface.known, cosine);
        if (strength > (float)CAPTURED_FAINT) {
            strength *= visible_part(f, i, position, surface.normal);
            sum = light_add_colour(sum, strength, lamp->diffuse[0], lamp->diffuse[1], lamp->diffuse[2]);
        }
    }
    return sum;
}

static __global__ void light_planes(orr_cuda_field_light f)
{
    const int width = f.lamps.width, plane = width * f.lamps.height;
    const int at = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (at >= plane || !(f.depth[at] < INFINITY)) {
        return;
    }
    const float alpha = f.colour[3 * plane + at], here = f.depth[at];
    if (!(alpha >= (float)CAPTURED_ALPHA)) {
        return;
    }
    const int column = at % width, row = at / width;
    const captured_surface surface = surface_of(&f, column, row, here);
    const real3 position =
        shadow_seen(shadow_eye_of(&f.lamps.eye), (float)column + 0.5f, (float)row + 0.5f, here);
    const real3 light = light_on(&f, position, surface);
    const float lights[3] = {light.x, light.y, light.z};
    for (int k = 0; k < 3; k++) {
        if (lights[k] > 0.0f) {
            float *colour = &f.colour[k * plane + at];
            *colour = captured_channel(*colour, alpha, lights[k], 1.0f / f.lamps.lamps.white[k]);
        }
    }
}

void orr_cuda_field_light_planes(cudaStream_t stream, const orr_cuda_field_light *light)
{
    const size_t pixels = (size_t)light->lamps.width * (size_t)light->lamps.height;
    ORR_LAUNCH(light_planes, orr_cuda_blocks(pixels, THREADS), THREADS, 0, stream, *light);
}
