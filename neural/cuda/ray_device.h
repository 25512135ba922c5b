// Rays through fields by one thread each, for kernels: the formulas of the CPU. A thread's ray begins at a pixel, goes from
// sample to sample, and leaves what it found in the picture's planes.
#pragma once

#include "engine/device/cuda_kernel.h"
#include "neural/capture/ray_formula.h"
#include "neural/fields/field_formula.h"
#include "neural/nerf/nerf_formula.h"

extern "C" {
#include "neural/cuda/march.h"
#include "neural/fields/occupancy.h"
}

typedef enum ray_state {
    RAY_NONE,    // the thread may take another
    RAY_SEEKING, // on its way to the next sample
    RAY_READY,   // at a sample, whose place the thread has written down
    RAY_HIT      // on a surface, waiting for its normal
} ray_state;

typedef struct march_ray {
    ray_state state;
    int pixel;
    real3 origin, direction;
    float per_distance;                    // depth along the camera's axis
    float t, end;                          // distances
    float steps;                           // radiance field: t in stepping space
    float step;                            // of the sample
    float open;                            // radiance field: transmittance so far
    int taken;                             // samples
    float red, green, blue, weight, depth; // sums
} march_ray;

// ---- the picture ----

static __device__ void write_pixel(const orr_cuda_march *m, int pixel, field_pixel p)
{
    int plane = m->camera.width * m->camera.height;
    float *colour = m->colour + pixel;
    if (m->over) {
        field_pixel held = {colour[0], colour[plane], colour[2 * plane], colour[3 * plane], m->depth[pixel]};
        p = field_merge(held, p);
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
        field_pixel nothing = {0.0f, 0.0f, 0.0f, 0.0f, INFINITY};
        write_pixel(m, pixel, nothing);
    }
}

template <int kind> static __device__ void end_ray(const orr_cuda_march *m, march_ray *r)
{
    r->state = RAY_NONE;
    float fill = kind == ORR_FIELD_NERF ? nerf_fill(r->weight, r->open, (float)NERF_OPEN_MIN) : 1.0f;
    field_pixel p = {r->red * fill, r->green * fill, r->blue * fill, r->weight * fill, 0.0f};
    if (p.alpha > 0.0f) {
        p.depth = r->depth / r->weight * r->per_distance;
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
    float near_depth = m->camera.near_plane, far_depth = m->camera.far_plane;
    if (kind == ORR_FIELD_NERF) {
        near_depth = fmaxf(near_depth, 0.0f);
    }
    if (m->far_depth) {
        far_depth = fminf(far_depth, m->far_depth[pixel]);
    }
    real2 range = {near_depth / from.depth, far_depth / from.depth};
    float length = sqrtf(dot3(from.direction, from.direction));
    march_ray ray = {RAY_SEEKING, pixel, from.origin, from.direction, from.depth};
    ray.step = 1.0f / length;
    ray.open = 1.0f;
    if (kind == ORR_FIELD_IMAGE) {
        float t = field_meet_quad(from.origin, from.direction);
        range.x = t >= range.x ? t : INFINITY;
    } else {
        range = ray_inside(range, from.origin, from.direction, m->half_side);
    }
    if (kind == ORR_FIELD_VOLUME) {
        ray.step /= (float)FIELD_MARCH_STEPS;
        range.x += 0.5f * ray.step;
    }
    ray.t = range.x;
    ray.end = range.y;
    if (kind == ORR_FIELD_NERF) {
        ray.steps = nerf_steps_of(m->space.stepping, range.x) + 0.5f;
        ray.t = nerf_distance_of(m->space.stepping, ray.steps);
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
            count) { // gives back what is not there: the count ends where the rays do, in any order
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

static __device__ void write_place(float *place, real3 p)
{
    place[0] = p.x;
    place[ORR_SAMPLES] = p.y;
    place[2 * ORR_SAMPLES] = p.z;
}

static __device__ bool grid_bit(const uint32_t *bits, uint32_t number)
{
    return __ldg(bits + number / 32) >> (number % 32) & 1u;
}

// Over empty cells, a few at a time.
static __device__ void seek_nerf(const orr_cuda_march *m, march_ray *r, float *place)
{
    enum { TURNS = 8 };
    const orr_nerf_space *space = &m->space;
    real3 d = r->direction;
    real3 per_direction = {1.0f / ray_divisor(d.x), 1.0f / ray_divisor(d.y), 1.0f / ray_divisor(d.z)};
    for (int turn = 0; turn < TURNS && r->t < r->end; turn++) {
        nerf_place here = nerf_look(space->stepping, r->origin, d, r->steps, r->t, space->last_cascade);
        uint32_t cell = nerf_cell_number(here);
        bool in_block = grid_bit(space->blocks, cell / ORR_OCCUPANCY_BLOCK);
        if (in_block && grid_bit(space->bits, cell)) {
            r->step = here.step;
            write_place(place, nerf_contract(here.position, space->per_aabb_scale));
            r->state = RAY_READY;
            return;
        }
        r->steps = nerf_pass(space->stepping, here, per_direction, r->steps, r->t, in_block);
        r->t = nerf_distance_of(space->stepping, r->steps);
    }
}

// Takes the ray towards its next sample, and ends it where there is none.
template <int kind> static __device__ void seek_sample(const orr_cuda_march *m, march_ray *r, float *place)
{
    if (kind == ORR_FIELD_NERF) {
        seek_nerf(m, r, place);
    } else if (r->t < r->end) {
        real3 p = {field_held(r->origin.x + r->t * r->direction.x),
                   field_held(r->origin.y + r->t * r->direction.y),
                   field_held(r->origin.z + r->t * r->direction.z)};
        write_place(place, p);
        r->state = RAY_READY;
    }
    if (r->state == RAY_SEEKING && !(r->t < r->end)) {
        end_ray<kind>(m, r);
    }
}

// ---- from values to what the ray has seen ----

static __device__ void add_light(march_ray *r, float weight, float red, float green, float blue)
{
    r->red = fmaf(weight, red, r->red);
    r->green = fmaf(weight, green, r->green);
    r->blue = fmaf(weight, blue, r->blue);
    r->weight += weight;
    r->depth = fmaf(weight, r->t, r->depth);
}

// Past a sample of a radiance field that held back so much light.
static __device__ void pass_nerf_sample(const orr_cuda_march *m, march_ray *r, float weight)
{
    r->open -= weight;
    r->steps += 1.0f;
    r->t = nerf_distance_of(m->space.stepping, r->steps);
    r->state = RAY_SEEKING;
    if (r->open < (float)NERF_OPEN_MIN || ++r->taken >= NERF_SAMPLES_MAX) {
        end_ray<ORR_FIELD_NERF>(m, r);
    }
}

static __device__ void use_volume(const orr_cuda_march *m, march_ray *r, float4 value)
{
    float alpha = nerf_alpha(fmaxf(value.x, 0.0f), (float)(1.0 / FIELD_MARCH_STEPS));
    add_light(r, (1.0f - r->weight) * alpha, field_held(value.y), field_held(value.z), field_held(value.w));
    r->t += r->step;
    r->state = RAY_SEEKING;
    if (1.0f - r->weight < (float)FIELD_OPEN_MIN) {
        end_ray<ORR_FIELD_VOLUME>(m, r);
    }
}

static __device__ void use_image(const orr_cuda_march *m, march_ray *r, float4 value)
{
    add_light(r, 1.0f, field_held(value.x), field_held(value.y), field_held(value.z));
    end_ray<ORR_FIELD_IMAGE>(m, r);
}

static __device__ void use_distance(const orr_cuda_march *m, march_ray *r, float distance)
{
    if (distance < (float)FIELD_HIT) {
        r->state = RAY_HIT;
        return;
    }
    r->t += (float)FIELD_STEP_SHARE * distance * r->step;
    r->state = RAY_SEEKING;
    if (++r->taken >= FIELD_TRACE_STEPS) {
        end_ray<ORR_FIELD_SDF>(m, r);
    }
}

// gradient: of the distance, in the unit cube's space, times anything above 0
static __device__ void shade_hit(const orr_cuda_march *m, march_ray *r, real3 gradient)
{
    const float *to = m->to_unit; // a gradient goes to the world by the transpose of the way back
    real3 normal = {to[0] * gradient.x + to[4] * gradient.y + to[8] * gradient.z,
                    to[1] * gradient.x + to[5] * gradient.y + to[9] * gradient.z,
                    to[2] * gradient.x + to[6] * gradient.y + to[10] * gradient.z};
    real3 sun = {m->to_sun[0], m->to_sun[1], m->to_sun[2]};
    float length = sqrtf(dot3(normal, normal));
    float light = field_lit(length > 0.0f ? dot3(normal, sun) / length : 0.0f);
    add_light(r, 1.0f, light, light, light);
    end_ray<ORR_FIELD_SDF>(m, r);
}
