// The rays and samples of a training step, a thread per ray: what training/nerf_batch.c and nerf/march.c do
// on the CPU. Every ray is marched to its end and weighed afterwards, so that the networks evaluate all of a
// step's samples in one launch.
#include "neural/cuda/march_device.h"
#include "neural/nerf/ray_loss_formula.h"
#include "neural/network/encoding_formula.h"
#include "neural/network/loss_kind.h"

extern "C" {
#include "neural/cuda/model.h"
#include "neural/cuda/nerf_pass.h"
}

enum : int { THREADS = 128, FEATURES = ORR_NERF_FEATURES, RGB_DIMS = ORR_CUDA_NERF_RGB_DIMS };

// the rays, or samples, of this thread
#define FOR_EACH(i, count)                                                                                   \
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < (count); i += gridDim.x * THREADS)

static __global__ void begin_step(orr_cuda_nerf_pass p, orr_cuda_nerf_begin begin)
{
    orr_cuda_nerf_now *now = p.now;
    float per_value = ray_loss_scale((float)now->progress.ray_count);
    now->begin = begin;
    now->ray_count = (uint32_t)now->progress.ray_count;
    now->marched = p.marched_capacity;
    now->kept = p.kept_capacity;
    now->loss = 0.0;
    now->weights.unscale = per_value / (float)ORR_CUDA_LOSS_SCALE;
    now->weights.learning_rate = begin.learning_rate;
    now->weights.step = (uint32_t)begin.step;
    now->exposures.unscale = per_value;
    now->exposures.learning_rate = begin.exposure_rate;
    now->exposures.step = (uint32_t)begin.step;
}

// A ray being marched.
typedef struct march_ray {
    real3 origin, direction, reciprocal;
    float steps; // the next sample, in stepping space
    float end;
    float distance; // of the sample that was found
    march_point point;
} march_ray;

static __device__ __forceinline__ march_ray begin_march(const orr_cuda_nerf_ray *ray)
{
    march_ray march;
    march.origin = ray->origin;
    march.direction = ray->direction;
    march.reciprocal = march_reciprocal(ray->direction);
    march.steps = ray->at;
    march.end = ray->end;
    return march;
}

static __device__ __forceinline__ orr_nerf_space space_of(const orr_cuda_nerf_pass *p)
{
    orr_nerf_space space = {p->now->begin.stepping, p->grid.bits, p->grid.blocks,
                            (float)(p->grid.cascades - 1), 1.0f / (float)p->aabb_scale};
    return space;
}

// Moves the ray to its next sample, and behind it; false: there is none before its end.
static __device__ __forceinline__ bool march_next(const orr_nerf_space *space, march_ray *ray)
{
    for (;;) {
        ray->distance = march_distance(space->stepping, ray->steps);
        if (!(ray->distance < ray->end)) {
            return false;
        }
        if (march_turn(space, ray->origin, ray->direction, ray->reciprocal, ray->distance, &ray->steps,
                       &ray->point)) {
            ray->steps += 1.0f;
            return true;
        }
    }
}

// Ray number i of the step; false: it takes no part.
static __device__ bool draw_ray(const orr_cuda_nerf_pass *p, uint32_t i, orr_cuda_nerf_ray *to)
{
    nerf_draw draw = nerf_draw_ray(p->seed, p->now->begin.step, (int)i);
    int image = nerf_drawn_image(draw, p->image_count);
    const orr_cuda_nerf_photo *photo = &p->photos[image];
    const orr_ray_camera *camera = &photo->camera;
    int64_t pixel = nerf_drawn_pixel(draw, (int64_t)camera->width * camera->height);
    to->target.image = -1;
    if (photo->mask >= 0 && p->bytes[photo->mask + pixel] == 0) {
        return false;
    }
    camera_ray ray = ray_of_pixel(*camera, nerf_drawn_centre(pixel, camera->width));
    real2 range = march_range(ray.origin, ray.direction, (float)p->aabb_scale);
    if (!(range.x < range.y)) {
        return false;
    }
    to->origin = ray.origin;
    to->direction = ray.direction;
    to->at = march_begin(p->now->begin.stepping, range.x, nerf_drawn_jitter(draw));
    to->end = range.y;
    to->target =
        nerf_target_of(draw, p->bytes + photo->pixels + pixel * photo->channels, photo->channels, image);
    return true;
}

// Draws the step's rays and counts their samples.
static __global__ void __launch_bounds__(THREADS) draw_rays(orr_cuda_nerf_pass p)
{
    const orr_nerf_space space = space_of(&p);
    FOR_EACH(i, p.now->ray_count)
    {
        orr_cuda_nerf_ray *ray = &p.rays[i];
        uint32_t count = 0;
        if (draw_ray(&p, i, ray)) {
            march_ray march = begin_march(ray);
            while (count < MARCH_SAMPLES_MAX && march_next(&space, &march)) {
                count++;
            }
        }
        p.marched_counts[i] = count;
    }
}

// Whether this ray's samples fit into the capacity. `used` ends with the first that do not; their ray and all
// behind it are left out.
static __device__ bool fits(uint32_t first, uint32_t count, uint32_t capacity, uint32_t *used)
{
    if (first + count <= capacity) {
        return true;
    }
    atomicMin(used, first);
    return false;
}

// The samples' positions, where the running sum of the counts puts them.
static __global__ void __launch_bounds__(THREADS) march_rays(orr_cuda_nerf_pass p)
{
    const orr_nerf_space space = space_of(&p);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        atomicMin(&p.now->marched, p.now->marched_total);
    }
    FOR_EACH(i, p.now->ray_count)
    {
        orr_cuda_nerf_ray *ray = &p.rays[i];
        uint32_t first = p.marched_first[i], count = p.marched_counts[i];
        if (!fits(first, count, p.marched_capacity, &p.now->marched)) {
            p.marched_counts[i] = 0;
            ray->target.image = -1;
            continue;
        }
        if (count == 0) {
            continue;
        }
        march_ray march = begin_march(ray);
        for (uint32_t n = first; n < first + count; n++) {
            if (!march_next(&space, &march)) {
                break; // it is the march that counted them
            }
            real3 position = march_encoding_position(march.point.position, space.per_aabb_scale);
            float *at = p.positions + orr_block_index(n, 3);
            at[0] = position.x;
            at[ORR_SAMPLES] = position.y;
            at[2 * ORR_SAMPLES] = position.z;
            p.distances[n] = march.distance;
            p.steps[n] = march.point.step;
        }
    }
}

// Composites one sample behind those so far; false: the ray has stopped.
static __device__ __forceinline__ bool composite(const orr_cuda_nerf_pass *p, uint32_t n, radiance_sample *s)
{
    if (radiance_is_opaque(s->transmittance, R(RADIANCE_TRANSMITTANCE_MIN))) {
        return false;
    }
    float density = radiance_density(p->outputs[orr_block_index(n, FEATURES)]);
    *s = radiance_composite(s->transmittance, radiance_alpha(density, p->steps[n]));
    return true;
}

// Counts the samples that show.
static __global__ void __launch_bounds__(THREADS) weigh_samples(orr_cuda_nerf_pass p)
{
    FOR_EACH(i, p.now->ray_count)
    {
        uint32_t first = p.marched_first[i], end = first + p.marched_counts[i], kept = 0;
        radiance_sample sample = {0.0f, 1.0f};
        for (uint32_t n = first; n < end && composite(&p, n, &sample); n++) {
            kept += sample.weight >= R(RADIANCE_WEIGHT_MIN);
        }
        p.rays[i].transmittance = sample.transmittance;
        p.kept_counts[i] = kept;
    }
}

static __device__ void keep_sample(const orr_cuda_nerf_pass *p, const orr_cuda_nerf_ray *ray, uint32_t from,
                                   uint32_t to, radiance_sample light)
{
    for (int k = 0; k < 3; k++) {
        p->kept_positions[orr_block_index(to, 3) + k * ORR_SAMPLES] =
            p->positions[orr_block_index(from, 3) + k * ORR_SAMPLES];
    }
    float *position = p->rgb_inputs + orr_block_index(to, RGB_DIMS);
    for (int k = 0; k < FEATURES; k++) {
        position[k * ORR_SAMPLES] = p->outputs[orr_block_index(from, FEATURES) + k * ORR_SAMPLES];
    }
    position[FEATURES * ORR_SAMPLES] = direction_input(ray->direction.x);
    position[(FEATURES + 1) * ORR_SAMPLES] = direction_input(ray->direction.y);
    position[(FEATURES + 2) * ORR_SAMPLES] = direction_input(ray->direction.z);
    orr_cuda_nerf_sample sample = {p->distances[from], p->steps[from], light.weight, light.transmittance};
    p->samples[to] = sample;
}

// Puts the samples that show next to each other.
static __global__ void __launch_bounds__(THREADS) keep_samples(orr_cuda_nerf_pass p)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        atomicMin(&p.now->kept, p.now->kept_total);
    }
    FOR_EACH(i, p.now->ray_count)
    {
        orr_cuda_nerf_ray *ray = &p.rays[i];
        uint32_t to = p.kept_first[i];
        if (!fits(to, p.kept_counts[i], p.kept_capacity, &p.now->kept)) {
            p.kept_counts[i] = 0;
            ray->target.image = -1;
            continue;
        }
        uint32_t first = p.marched_first[i], end = first + p.marched_counts[i];
        radiance_sample sample = {0.0f, 1.0f};
        for (uint32_t n = first; n < end && composite(&p, n, &sample); n++) {
            if (sample.weight >= R(RADIANCE_WEIGHT_MIN)) {
                keep_sample(&p, ray, n, to++, sample);
            }
        }
    }
}

// ---- the loss and its gradients, which are of the sum over the step's rays: the optimisers divide ----

// The ray's loss.
static __device__ float compare_ray(const orr_cuda_nerf_pass *p, const orr_cuda_nerf_ray *ray, uint32_t first,
                                    uint32_t end, ray_channel channels[3])
{
    const nerf_target *target = &ray->target;
    float loss_sum = 0.0f;
    for (int c = 0; c < 3; c++) {
        float light = 0.0f;
        for (uint32_t n = first; n < end; n++) {
            float colour = radiance_colour(p->rgb_outputs[orr_block_index(n, 3) + c * ORR_SAMPLES]);
            light = radiance_add(light, p->samples[n].weight, colour);
        }
        int exposure = 3 * target->image + c;
        ray_channel channel = ray_channel_begin(light, p->exposures ? p->exposures[exposure] : 0.0f,
                                                ray->transmittance, target->background[c]);
        float expected = ray_channel_target(target->colour[c], target->share, target->background[c]);
        real2 loss = loss_at(p->loss, ray_channel_drawn(channel), expected);
        loss_sum += loss.x;
        channels[c] = ray_channel_backward(channel, loss.y, 1.0f);
        if (p->exposures) {
            atomicAdd(&p->exposure_gradient[exposure], ray_channel_exposure_gradient(channels[c]));
        }
    }
    return loss_sum;
}

// From the ray's channels to one of its samples.
static __device__ void backward_sample(const orr_cuda_nerf_pass *p, uint32_t n, ray_channel channels[3],
                                       float thin_gradient, float near_gradient)
{
    orr_cuda_nerf_sample sample = p->samples[n];
    float by_density = 0.0f;
    for (int c = 0; c < 3; c++) {
        int64_t at = orr_block_index(n, 3) + c * ORR_SAMPLES;
        float colour = radiance_colour(p->rgb_outputs[at]);
        channels[c] = ray_channel_pass(channels[c], sample.weight, colour);
        p->rgb_gradient[at] = ray_channel_colour_gradient(channels[c], sample.weight, colour);
        by_density += ray_channel_density_gradient(channels[c], sample.step, sample.transmittance, colour);
    }
    p->density_gradient[n] = ray_loss_raw_gradient(p->rgb_inputs[orr_block_index(n, RGB_DIMS)], by_density,
                                                   sample.distance, thin_gradient, near_gradient);
}

static __global__ void __launch_bounds__(THREADS) compare_rays(orr_cuda_nerf_pass p)
{
    __shared__ float warp_losses[THREADS / ORR_WARP];
    float values = 1.0f / ray_loss_scale((float)p.now->ray_count);
    float near_gradient = R(RAY_LOSS_NEAR_GRADIENT) * values;
    float thin_gradient = ray_loss_thin_gradient(p.now->mean) * values;
    float loss = 0.0f;
    FOR_EACH(i, p.now->ray_count)
    {
        const orr_cuda_nerf_ray *ray = &p.rays[i];
        if (ray->target.image < 0) {
            continue;
        }
        uint32_t first = p.kept_first[i], end = first + p.kept_counts[i];
        ray_channel channels[3];
        loss += compare_ray(&p, ray, first, end, channels);
        for (uint32_t n = first; n < end; n++) {
            backward_sample(&p, n, channels, thin_gradient, near_gradient);
        }
    }
    for (int by = ORR_WARP / 2; by > 0; by /= 2) {
        loss += __shfl_xor_sync(ORR_ALL_LANES, loss, by);
    }
    if (orr_lane() == 0) {
        warp_losses[threadIdx.x / ORR_WARP] = loss;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0.0;
        for (int w = 0; w < THREADS / ORR_WARP; w++) {
            sum += (double)warp_losses[w];
        }
        atomicAdd(&p.now->loss, sum);
    }
}

// Gradients of the network's outputs: from the colour network, and of the density from the composite.
static __global__ void __launch_bounds__(THREADS) join_gradients(orr_cuda_nerf_pass p)
{
    FOR_EACH(n, p.now->kept)
    {
        float *to = p.output_gradient + orr_block_index(n, FEATURES);
        const float *from = p.rgb_input_gradient + orr_block_index(n, RGB_DIMS);
        to[0] = from[0] + p.density_gradient[n];
        for (int k = 1; k < FEATURES; k++) {
            to[k * ORR_SAMPLES] = from[k * ORR_SAMPLES];
        }
    }
}

static __global__ void end_step(orr_cuda_nerf_pass p)
{
    orr_nerf_training_progress *progress = &p.now->progress;
    progress->step = p.now->begin.step + 1;
    progress->updates = p.now->begin.updates;
    progress->adapt_rays += p.now->ray_count;
    progress->adapt_evaluated += p.now->marched;
    progress->adapt_samples += p.now->kept;
    if (orr_nerf_adapts(progress->step)) {
        progress->ray_count = orr_nerf_rays_towards(p.target_samples, progress);
        progress->adapt_rays = progress->adapt_evaluated = progress->adapt_samples = 0;
    }
}

// ---- launches ----

void orr_cuda_nerf_begin_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass,
                                const orr_cuda_nerf_begin *begin)
{
    ORR_LAUNCH(begin_step, 1, 1, 0, stream, *pass, *begin);
}

void orr_cuda_nerf_draw_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks)
{
    ORR_LAUNCH(draw_rays, (unsigned int)blocks, THREADS, 0, stream, *pass);
}

void orr_cuda_nerf_march_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks)
{
    ORR_LAUNCH(march_rays, (unsigned int)blocks, THREADS, 0, stream, *pass);
}

void orr_cuda_nerf_weigh_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks)
{
    ORR_LAUNCH(weigh_samples, (unsigned int)blocks, THREADS, 0, stream, *pass);
}

void orr_cuda_nerf_keep_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks)
{
    ORR_LAUNCH(keep_samples, (unsigned int)blocks, THREADS, 0, stream, *pass);
}

void orr_cuda_nerf_compare_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks)
{
    ORR_LAUNCH(compare_rays, (unsigned int)blocks, THREADS, 0, stream, *pass);
}

void orr_cuda_nerf_join_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass, int blocks)
{
    ORR_LAUNCH(join_gradients, (unsigned int)blocks, THREADS, 0, stream, *pass);
}

void orr_cuda_nerf_end_launch(cudaStream_t stream, const orr_cuda_nerf_pass *pass)
{
    ORR_LAUNCH(end_step, 1, 1, 0, stream, *pass);
}
