#define ORR_SCALAR
#include "neural/training/nerf_batch.h"

#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "neural/nerf/ray_loss_formula.h"
#include "neural/nerf/training_ray.h"
#include "neural/network/loss_kind.h"

#include <math.h>
#include <string.h>

static float *zeroed_floats(int64_t count)
{
    return orr_alloc_zero((size_t)count, sizeof(float));
}

orr_result orr_nerf_worker_create(const orr_field *field, orr_nerf_worker *worker, orr_error *error)
{
    const orr_field_parts *parts = orr_field_parts_of(field);
    *worker = (orr_nerf_worker){.bundle = NULL};
    ORR_TRY(orr_nerf_bundle_create(field, true, &worker->bundle, error));
    worker->network_activations = zeroed_floats((int64_t)orr_mlp_activation_floats(&parts->network));
    worker->rgb_activations = zeroed_floats((int64_t)orr_mlp_activation_floats(&parts->rgb_network));
    worker->outputs = zeroed_floats(parts->network.output_dims * ORR_SAMPLES);
    worker->output_gradient = zeroed_floats(parts->network.output_dims * ORR_SAMPLES);
    worker->rgb_input = zeroed_floats(parts->rgb_network.input_dims * ORR_SAMPLES);
    worker->rgb_input_gradient = zeroed_floats(parts->rgb_network.input_dims * ORR_SAMPLES);
    worker->rgb_output = zeroed_floats(parts->rgb_network.output_dims * ORR_SAMPLES);
    worker->rgb_output_gradient = zeroed_floats(parts->rgb_network.output_dims * ORR_SAMPLES);
    worker->sample_gradient = orr_alloc((size_t)worker->bundle->samples.capacity, 4 * sizeof(float));
    if (!worker->network_activations || !worker->rgb_activations || !worker->outputs ||
        !worker->output_gradient || !worker->rgb_input || !worker->rgb_input_gradient ||
        !worker->rgb_output || !worker->rgb_output_gradient || !worker->sample_gradient) {
        orr_nerf_worker_destroy(worker);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the scratch of a training worker");
    }
    return ORR_OK;
}

void orr_nerf_worker_destroy(orr_nerf_worker *worker)
{
    orr_nerf_bundle_destroy(worker->bundle);
    orr_free(worker->network_activations);
    orr_free(worker->rgb_activations);
    orr_free(worker->outputs);
    orr_free(worker->output_gradient);
    orr_free(worker->rgb_input);
    orr_free(worker->rgb_input_gradient);
    orr_free(worker->rgb_output);
    orr_free(worker->rgb_output_gradient);
    orr_free(worker->sample_gradient);
    *worker = (orr_nerf_worker){.bundle = NULL};
}

orr_result orr_nerf_group_create(const orr_field *field, int block_capacity, int exposure_count,
                                 orr_nerf_group *group, orr_error *error)
{
    const orr_field_parts *parts = orr_field_parts_of(field);
    int64_t samples = (int64_t)block_capacity * ORR_SAMPLES;
    *group = (orr_nerf_group){.block_capacity = block_capacity};
    group->network_gradient = zeroed_floats(parts->network.parameter_count);
    group->rgb_gradient = zeroed_floats(parts->rgb_network.parameter_count);
    group->exposure_gradient = exposure_count > 0 ? zeroed_floats(3 * exposure_count) : NULL;
    group->positions = zeroed_floats(3 * samples);
    group->feature_gradient = zeroed_floats(parts->encoding.output_dims * samples);
    group->counts = orr_alloc_zero((size_t)block_capacity, sizeof *group->counts);
    if (!group->network_gradient || !group->rgb_gradient ||
        (exposure_count > 0 && !group->exposure_gradient) || !group->positions || !group->feature_gradient ||
        !group->counts) {
        orr_nerf_group_destroy(group);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the gradients of a group of rays");
    }
    return ORR_OK;
}

void orr_nerf_group_destroy(orr_nerf_group *group)
{
    orr_free(group->network_gradient);
    orr_free(group->rgb_gradient);
    orr_free(group->exposure_gradient);
    orr_free(group->positions);
    orr_free(group->feature_gradient);
    orr_free(group->counts);
    *group = (orr_nerf_group){.block_capacity = 0};
}

// Draws ray number `index` of the step, a pure function of seed, step and index, and puts it into the bundle.
static void draw_ray(const orr_nerf_batch *batch, int index, orr_nerf_rays *rays, nerf_target *targets)
{
    nerf_draw draw = nerf_draw_ray(batch->seed, batch->step, index);
    int k = nerf_drawn_image(draw, batch->image_count);
    const orr_capture_image *image = &batch->capture->images[batch->images[k]];
    int64_t pixel = nerf_drawn_pixel(draw, (int64_t)image->width * image->height);
    if (image->mask && image->mask[pixel] == 0) {
        return;
    }
    real2 centre = nerf_drawn_centre(pixel, image->width);
    orr_camera_ray ray = orr_ray_camera_ray(&batch->cameras[k], centre.x, centre.y);
    float start, end;
    if (!orr_nerf_model_range(batch->model, &ray, &start, &end)) {
        return;
    }
    targets[rays->count] = nerf_target_of(draw, image->pixels + pixel * image->channels, image->channels, k);
    orr_nerf_model_begin(batch->model, rays, &ray, start, end, nerf_drawn_jitter(draw));
}

// A ray's channels from its composited light, its loss, and the gradients by its light and by the photo's
// exposure.
static void compare_ray(const orr_nerf_batch *batch, const nerf_target *target, float transmittance,
                        ray_channel channels[3], orr_nerf_group *group)
{
    float scale = ray_loss_scale((float)batch->ray_count);
    for (int c = 0; c < 3; c++) {
        int exposure = 3 * target->image + c;
        channels[c] =
            ray_channel_begin(channels[c].light, batch->exposures ? batch->exposures[exposure] : 0.0f,
                              transmittance, target->background[c]);
        float expected = ray_channel_target(target->colour[c], target->share, target->background[c]);
        real2 loss = loss_at(batch->loss, ray_channel_drawn(channels[c]), expected);
        group->loss += (double)loss.x;
        channels[c] = ray_channel_backward(channels[c], loss.y, scale);
        if (batch->exposures) {
            group->exposure_gradient[exposure] += ray_channel_exposure_gradient(channels[c]);
        }
    }
}

// Composites each ray, compares it with its target, and computes the gradients by the samples' colours and
// densities.
static void compare(const orr_nerf_batch *batch, orr_nerf_worker *worker, const nerf_target *targets,
                    orr_nerf_group *group)
{
    const orr_nerf_samples *s = &worker->bundle->samples;
    const orr_nerf_rays *rays = &worker->bundle->rays;
    ray_channel channels[ORR_NERF_RAYS][3];
    bool hit[ORR_NERF_RAYS] = {false};
    for (int r = 0; r < rays->count; r++) {
        channels[r][0].light = channels[r][1].light = channels[r][2].light = 0.0f;
    }
    for (int i = 0; i < s->count; i++) {
        const float *colour = s->colours + orr_block_index(i, 3);
        hit[s->ray[i]] = true;
        for (int c = 0; c < 3; c++) {
            float *light = &channels[s->ray[i]][c].light;
            *light = radiance_add(*light, s->weight[i], colour[c * ORR_SAMPLES]);
        }
    }
    for (int r = 0; r < rays->count; r++) {
        group->hits += hit[r];
        compare_ray(batch, &targets[r], rays->transmittance[r], channels[r], group);
    }
    for (int i = 0; i < s->count; i++) {
        const float *colour = s->colours + orr_block_index(i, 3);
        float *to = worker->sample_gradient + 4 * i;
        to[3] = 0.0f;
        for (int c = 0; c < 3; c++) {
            ray_channel *channel = &channels[s->ray[i]][c];
            float value = colour[c * ORR_SAMPLES];
            *channel = ray_channel_pass(*channel, s->weight[i], value);
            to[c] = ray_channel_colour_gradient(*channel, s->weight[i], value);
            to[3] += ray_channel_density_gradient(*channel, s->step[i], s->transmittance[i], value);
        }
        // an occupancy grid has culled what only one camera sees
        float share = batch->model->proposal.proposal ? ray_loss_near_share(s->distance[i]) : 1.0f;
        for (int k = 0; k < 4; k++) {
            to[k] *= share;
        }
    }
}

// One block: from its gradients to those of its features.
static void go_back(const orr_nerf_batch *batch, orr_nerf_worker *worker, int block, orr_nerf_group *group)
{
    const orr_nerf_model *model = batch->model;
    const orr_field_parts *parts = model->parts;
    const orr_nerf_samples *s = &worker->bundle->samples;
    int features = parts->encoding.output_dims, outputs = parts->network.output_dims;
    int first = block * ORR_SAMPLES, count = s->count - first < ORR_SAMPLES ? s->count - first : ORR_SAMPLES;
    const float *input = s->features + first * features;
    orr_mlp_forward(model->network, input, worker->outputs, worker->network_activations);
    orr_nerf_rgb_input(model, worker->bundle, block, worker->outputs, worker->rgb_input);
    orr_mlp_forward(model->rgb_network, worker->rgb_input, worker->rgb_output, worker->rgb_activations);

    memset(worker->rgb_output_gradient, 0, 3 * ORR_SAMPLES * sizeof(float));
    for (int i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++) {
            worker->rgb_output_gradient[c * ORR_SAMPLES + i] = worker->sample_gradient[4 * (first + i) + c];
        }
    }
    orr_mlp_backward(model->rgb_network, worker->rgb_input, worker->rgb_output, worker->rgb_activations,
                     worker->rgb_output_gradient, group->rgb_gradient, worker->rgb_input_gradient);
    memcpy(worker->output_gradient, worker->rgb_input_gradient,
           (size_t)outputs * ORR_SAMPLES * sizeof(float));
    for (int i = 0; i < count; i++) {
        worker->output_gradient[i] +=
            ray_loss_raw_gradient(worker->outputs[i], worker->sample_gradient[4 * (first + i) + 3],
                                  s->distance[first + i], batch->thin_gradient, R(RAY_LOSS_NEAR_GRADIENT));
    }
    float *feature_gradient = group->feature_gradient + (int64_t)group->block_count * features * ORR_SAMPLES;
    orr_mlp_backward(model->network, input, worker->outputs, worker->network_activations,
                     worker->output_gradient, group->network_gradient, feature_gradient);
    memcpy(group->positions + (int64_t)group->block_count * 3 * ORR_SAMPLES, s->positions + first * 3,
           3 * ORR_SAMPLES * sizeof(float));
    group->counts[group->block_count++] = count;
    group->samples += count;
}

void orr_nerf_group_run(const orr_nerf_batch *batch, int index, orr_nerf_worker *worker, int worker_index,
                        orr_nerf_group *group)
{
    const orr_field_parts *parts = batch->model->parts;
    memset(group->network_gradient, 0, (size_t)parts->network.parameter_count * sizeof(float));
    memset(group->rgb_gradient, 0, (size_t)parts->rgb_network.parameter_count * sizeof(float));
    if (group->exposure_gradient) {
        memset(group->exposure_gradient, 0, 3 * (size_t)batch->image_count * sizeof(float));
    }
    if (batch->proposal) {
        orr_proposal_group_begin(batch->proposal, index);
    }
    group->block_count = 0;
    group->loss = 0.0;
    group->samples = group->hits = 0;
    int64_t evaluated = worker->bundle->evaluated;
    int next = (int)((int64_t)batch->ray_count * index / ORR_NERF_GROUPS);
    int end = (int)((int64_t)batch->ray_count * (index + 1) / ORR_NERF_GROUPS);
    // a group whose capacity for gradients is reached leaves the rest of its rays out
    while (next < end && group->block_count < group->block_capacity) {
        nerf_target targets[ORR_NERF_RAYS];
        uint64_t clock = orr_clock_nanoseconds();
        worker->bundle->rays.count = 0;
        for (int taken = 0; next < end && taken < batch->bundle_rays; next++, taken++) {
            draw_ray(batch, next, &worker->bundle->rays, targets);
        }
        worker->bundle->nanoseconds[ORR_NERF_MARCH] += orr_clock_nanoseconds() - clock;
        orr_nerf_march(batch->model, worker->bundle, R(RADIANCE_TRANSMITTANCE_MIN), R(RADIANCE_WEIGHT_MIN));
        orr_nerf_colour(batch->model, worker->bundle);
        clock = orr_clock_nanoseconds();
        if (batch->proposal) {
            orr_proposal_group_add(batch->proposal, index, worker_index, &batch->model->proposal,
                                   worker->bundle, batch->ray_count);
        }
        compare(batch, worker, targets, group);
        int blocks = orr_blocks(worker->bundle->samples.count, ORR_SAMPLES);
        for (int b = 0; b < blocks && group->block_count < group->block_capacity; b++) {
            go_back(batch, worker, b, group);
        }
        worker->backward_nanoseconds += orr_clock_nanoseconds() - clock;
    }
    group->evaluated = worker->bundle->evaluated - evaluated;
}
