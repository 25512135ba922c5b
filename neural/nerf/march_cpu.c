// Marching on the CPU: lanes over rays. Each turn of the loop moves every lane by one sample or over one
// empty cell or block of 8^3 cells.
#include "neural/nerf/march_cpu.h"

#include "neural/fields/radiance_formula.h"

FN mask bit_of(const uint32_t *bits, sint index)
{
    sint word = sint_gather((const int32_t *)bits, index >> 5); // signed and unsigned may alias
    return (word & (I(1) << (index & I(31)))) != I(0);
}

FN real3 load_member(float member[3][ORR_NERF_RAYS], sint index)
{
    return make_real3(real_gather(member[0], index), real_gather(member[1], index),
                      real_gather(member[2], index));
}

// Samples of the rays of one vector, before they are put ray by ray.
typedef struct taken_samples {
    int32_t count[ORR_LANES];
    float position[3][ORR_LANES][ORR_NERF_EACH];
    float distance[ORR_LANES][ORR_NERF_EACH], step[ORR_LANES][ORR_NERF_EACH];
} taken_samples;

FN void take(taken_samples *taken, uint32_t lanes, real3 position, real distance, real step)
{
    float x[ORR_LANES], y[ORR_LANES], z[ORR_LANES], t[ORR_LANES], dt[ORR_LANES];
    real_store(x, position.x);
    real_store(y, position.y);
    real_store(z, position.z);
    real_store(t, distance);
    real_store(dt, step);
    for (; lanes; lanes &= lanes - 1) {
        int i = __builtin_ctz(lanes);
        int k = taken->count[i]++;
        taken->position[0][i][k] = x[i];
        taken->position[1][i][k] = y[i];
        taken->position[2][i][k] = z[i];
        taken->distance[i][k] = t[i];
        taken->step[i][k] = dt[i];
    }
}

static void append(orr_nerf_wave *wave, const taken_samples *taken, int lane, int32_t ray)
{
    for (int k = 0; k < taken->count[lane]; k++) {
        int n = wave->count++;
        float *block = wave->positions[n / ORR_SAMPLES] + n % ORR_SAMPLES;
        for (int axis = 0; axis < 3; axis++) {
            block[axis * ORR_SAMPLES] = taken->position[axis][lane][k];
        }
        wave->distance[n] = taken->distance[lane][k];
        wave->step[n] = taken->step[lane][k];
        wave->ray[n] = ray;
    }
}

static void march_lanes(const orr_nerf_space *space, orr_nerf_rays *rays, const int32_t *live, int count,
                        int each, orr_nerf_wave *wave)
{
    const march_stepping stepping = space->stepping;
    mask here = lanes_below(count);
    sint index = sint_load(live) & here; // lanes beyond the count read ray 0
    real3 origin = load_member(rays->origin, index);
    real3 direction = load_member(rays->direction, index);
    real3 reciprocal = load_member(rays->reciprocal, index);
    real at = real_gather(rays->at, index);
    real end = real_gather(rays->end, index);
    sint limit = I(MARCH_SAMPLES_MAX) - sint_gather(rays->taken, index);
    limit = sel_int(limit < I(each), limit, I(each));
    sint number = I(0);
    taken_samples taken;
    for (int i = 0; i < ORR_LANES; i++) {
        taken.count[i] = 0;
    }
    real distance = march_distance(stepping, at);
    for (;;) {
        mask active = and_(here, and_(distance < end, number < limit));
        if (!any(active)) {
            break;
        }
        march_point point = march_locate(stepping, origin, direction, at, distance, space->last_cascade);
        suint cell = march_cell(point);
        mask block_occupied = bit_of(space->blocks, (sint)occupancy_block(cell));
        mask occupied = and_(active, bit_of(space->bits, (sint)cell));
        uint32_t lanes = mask_bits(occupied);
        if (lanes) {
            real3 position = march_encoding_position(point.position, space->per_aabb_scale);
            take(&taken, lanes, position, distance, point.step);
            number -= occupied; // a mask is -1 where it is true
        }
        real skipped = march_skip_cell(stepping, point, reciprocal, at, distance, block_occupied);
        at = sel(active, sel(occupied, at + R(1.0), skipped), at);
        distance = march_distance(stepping, at);
    }
    float new_at[ORR_LANES], new_distance[ORR_LANES];
    real_store(new_at, at);
    real_store(new_distance, distance);
    for (int i = 0; i < count; i++) {
        int32_t ray = live[i];
        rays->at[ray] = new_at[i];
        rays->taken[ray] += taken.count[i];
        if (!(new_distance[i] < rays->end[ray]) || rays->taken[ray] >= MARCH_SAMPLES_MAX) {
            rays->end[ray] = -1.0f;
        }
        append(wave, &taken, i, ray);
    }
}

static void march(const orr_nerf_space *space, orr_nerf_rays *rays, const int32_t *live, int live_count,
                  int each, orr_nerf_wave *wave)
{
    for (int first = 0; first < live_count; first += ORR_LANES) {
        int rest = live_count - first;
        march_lanes(space, rays, live + first, rest < ORR_LANES ? rest : ORR_LANES, each, wave);
    }
}

static void densities(const float *raw, const float *step, float *density, float *alpha)
{
    for (int i = 0; i < ORR_SAMPLES; i += ORR_LANES) {
        real d = radiance_density(real_load(raw + i));
        real_store(density + i, d);
        real_store(alpha + i, radiance_alpha(d, real_load(step + i)));
    }
}

static void colours(const float *raw, float *colour)
{
    for (int i = 0; i < 3 * ORR_SAMPLES; i += ORR_LANES) {
        real_store(colour + i, radiance_colour(real_load(raw + i)));
    }
}

const orr_nerf_kernels ORR_ISA_NAME(orr_nerf_kernels) = {march, densities, colours};
