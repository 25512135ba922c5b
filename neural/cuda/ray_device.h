// Rays through fields by one thread each, for kernels: the formulas of the CPU. A thread's ray begins at a
// pixel, goes from sample to sample, and leaves what it found in the picture's planes.
#pragma once

#include "neural/cuda/march_device.h"
#include "neural/fields/field_formula.h"

extern "C" {
#include "neural/cuda/march.h"
}

typedef enum ray_state {
    RAY_NONE,    // the thread may take another
    RAY_SEEKING, // between samples
    RAY_READY,   // at a sample, whose position the thread has written
    RAY_HIT      // on a surface, waiting for its normal
} ray_state;

typedef struct march_ray {
    ray_state state;
    int pixel;
    real3 origin, direction;
    float length;        // of the direction
    float per_distance;  // depth along the camera's axis
    float t, end;        // distances
    float steps;         // radiance field: t in stepping space
    float step;          // radiance field: from the sample to the next
    float transmittance; // radiance field: so far
    int taken;           // samples
    field_pixel light;   // sums; depth: of depths for a radiance field, otherwise of distances
} march_ray;

// ---- the picture ----

static __device__ void write_pixel(const orr_cuda_march *m, int pixel, field_pixel p)
{
    int plane = m->camera.width * m->camera.height;
    float *colour = m->colour + pixel;
    if (m->over) {
        field_pixel present = {colour[0], colour[plane], colour[2 * plane], colour[3 * plane],
                               m->depth[pixel]};
        p = field_merge(present, p);
    }
    colour[0] = p.red;
    colour[plane] = p.green;
    colour[2 * plane] = p.blue;
    colour[3 * plane] = p.alpha;
    m->depth[pixel] = p.depth;
}

static __device__ void write_nothing(const orr_cuda_march *m, int pixel)
{
    if (!m->over) {
        write_pixel(m, pixel, field_nothing(INFINITY));
    }
}

template <int kind> static __device__ void end_ray(const orr_cuda_march *m, march_ray *r)
{
    r->state = RAY_NONE;
    field_pixel p = kind == ORR_FIELD_NERF
                        ? field_resolve_radiance(r->light, r->transmittance, R(RADIANCE_TRANSMITTANCE_MIN))
                        : field_resolve(r->light, r->per_distance);
    if (p.alpha > 0.0f) {
        write_pixel(m, r->pixel, p);
    } else {
        write_nothing(m, r->pixel);
    }
}

// ---- from pixels to samples ----

// Rays are numbered in tiles of 8 x 4 pixels, a warp each at first.
static __device__ uint32_t ray_count(const orr_cuda_march *m)
{
    return (uint32_t)((m->camera.width + 7) / 8) * (uint32_t)((m->camera.height + 3) / 4) * ORR_WARP;
}

template <int kind> static __device__ void begin_ray(const orr_cuda_march *m, uint32_t number, march_ray *r)
{
    uint32_t across = (uint32_t)(m->camera.width + 7) / 8, tile = number / ORR_WARP;
    int x = (int)(tile % across * 8 + number % 8), y = (int)(tile / across * 4 + number % ORR_WARP / 8);
    if (x >= m->camera.width || y >= m->camera.height) {
        return;
    }
    int pixel = y * m->camera.width + x;
    camera_ray from = ray_of_pixel(m->camera, make_real2((float)x + 0.5f, (float)y + 0.5f));
    const photo_lens lens = m->camera.lens;
    float near_depth = m->camera.near_plane, far_depth = m->camera.far_plane;
    near_depth = fmaxf(near_depth, clip_depth(m->clip, m->camera.orthographic ? 1.0f : 0.0f,
                                              ((float)x + 0.5f - lens.centre_x) / lens.focal_x,
                                              ((float)y + 0.5f - lens.centre_y) / lens.focal_y));
    if (kind == ORR_FIELD_NERF) {
        near_depth = fmaxf(near_depth, 0.0f);
    }
    if (m->far_depth) {
        far_depth = fminf(far_depth, m->far_depth[pixel]);
    }
    real2 range = ray_depth_range(near_depth, far_depth, from.depth);
    march_ray ray = {RAY_SEEKING, pixel, from.origin, from.direction};
    ray.length = sqrtf(dot3(from.direction, from.direction));
    ray.per_distance = from.depth;
    ray.transmittance = 1.0f;
    ray.light = field_nothing(0.0f);
    if (kind == ORR_FIELD_IMAGE) {
        range = field_meet_quad(from.origin, from.direction, range);
    } else {
        range = ray_inside(range, from.origin, from.direction, m->half_side);
    }
    if (kind == ORR_FIELD_VOLUME) {
        range.x = field_march_begin(range.x, ray.length);
    }
    ray.t = range.x;
    ray.end = range.y;
    if (kind == ORR_FIELD_NERF) {
        ray.steps = march_begin(m->space.stepping, range.x, 0.5f);
        ray.t = march_distance(m->space.stepping, ray.steps);
    }
    if (range.x < range.y) {
        *r = ray;
    } else {
        write_nothing(m, pixel);
    }
}

// The threads of a warp that have no ray take the next ones. `more`: there may be some left.
template <int kind> static __device__ void take_rays(const orr_cuda_march *m, march_ray *r, bool *more)
{
    uint32_t idle = __ballot_sync(ORR_ALL_LANES, r->state == RAY_NONE);
    if (!idle || !*more) {
        return;
    }
    uint32_t count = ray_count(m), lane = orr_lane(), taken = (uint32_t)__popc(idle), first = 0;
    if (lane == 0) {
        first = atomicAdd(m->next, taken);
        if (first + taken >
            count) { // returns what is not there: the count ends at the number of rays, in any order
            atomicAdd(m->next, max(first, count) - (first + taken));
        }
    }
    first = __shfl_sync(ORR_ALL_LANES, first, 0);
    *more = first + taken < count;
    uint32_t number = first + (uint32_t)__popc(idle & ((1u << lane) - 1u));
    if (r->state == RAY_NONE && number < count) {
        begin_ray<kind>(m, number, r);
    }
}

static __device__ void write_position(float *position, real3 p)
{
    position[0] = p.x;
    position[ORR_SAMPLES] = p.y;
    position[2 * ORR_SAMPLES] = p.z;
}

// Over empty cells, a few at a time.
static __device__ void seek_nerf(const orr_cuda_march *m, march_ray *r, float *position)
{
    enum { TURNS = 8 };
    const orr_nerf_space *space = &m->space;
    real3 reciprocal = march_reciprocal(r->direction);
    for (int turn = 0; turn < TURNS && r->t < r->end; turn++) {
        march_point point;
        if (march_turn(space, r->origin, r->direction, reciprocal, r->t, &r->steps, &point)) {
            r->step = point.step;
            write_position(position, march_encoding_position(point.position, space->per_aabb_scale));
            r->state = RAY_READY;
            return;
        }
        r->t = march_distance(space->stepping, r->steps);
    }
}

// Takes the ray towards its next sample, and ends it where there is none.
template <int kind> static __device__ void seek_sample(const orr_cuda_march *m, march_ray *r, float *position)
{
    if (kind == ORR_FIELD_NERF) {
        seek_nerf(m, r, position);
    } else if (r->t < r->end) {
        write_position(position, field_position(r->origin, r->direction, r->t));
        r->state = RAY_READY;
    }
    if (r->state == RAY_SEEKING && !(r->t < r->end)) {
        end_ray<kind>(m, r);
    }
}

// ---- from values to what the ray has seen ----

// Past a sample of a radiance field.
static __device__ void pass_nerf_sample(const orr_cuda_march *m, march_ray *r, float transmittance)
{
    r->transmittance = transmittance;
    r->steps += 1.0f;
    r->t = march_distance(m->space.stepping, r->steps);
    r->state = RAY_SEEKING;
    if (radiance_is_opaque(transmittance, R(RADIANCE_TRANSMITTANCE_MIN)) || ++r->taken >= MARCH_SAMPLES_MAX) {
        end_ray<ORR_FIELD_NERF>(m, r);
    }
}

static __device__ void use_volume(const orr_cuda_march *m, march_ray *r, float4 value)
{
    real3 colour = {field_clamp(value.y), field_clamp(value.z), field_clamp(value.w)};
    r->light = field_add(r->light, field_march_weight(r->light.alpha, value.x), colour, r->t, 1.0f);
    r->t += field_march_step(r->length);
    r->state = RAY_SEEKING;
    if (field_march_stops(r->light.alpha)) {
        end_ray<ORR_FIELD_VOLUME>(m, r);
    }
}

static __device__ void use_image(const orr_cuda_march *m, march_ray *r, float4 value)
{
    real3 colour = {field_clamp(value.x), field_clamp(value.y), field_clamp(value.z)};
    r->light = field_add(r->light, 1.0f, colour, r->t, 1.0f);
    end_ray<ORR_FIELD_IMAGE>(m, r);
}

static __device__ void use_distance(const orr_cuda_march *m, march_ray *r, float distance)
{
    if (distance < (float)FIELD_HIT) {
        r->state = RAY_HIT;
        return;
    }
    r->t += field_trace_step(distance, r->length);
    r->state = RAY_SEEKING;
    if (++r->taken >= FIELD_TRACE_STEPS) {
        end_ray<ORR_FIELD_SDF>(m, r);
    }
}

// gradient: of the distance, in the unit cube's space, times anything above 0
static __device__ void shade_hit(const orr_cuda_march *m, march_ray *r, real3 gradient)
{
    const float *t = m->to_unit;
    affine to_unit = {t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10], t[11]};
    float light =
        field_surface_light(to_unit, gradient, make_real3(m->to_sun[0], m->to_sun[1], m->to_sun[2]));
    r->light = field_add(r->light, 1.0f, make_real3(light, light, light), r->t, 1.0f);
    end_ray<ORR_FIELD_SDF>(m, r);
}
