// Steps on a CUDA device, and parameters that go there and come back.
#include "render/training/splat_depth.h"
#include "render/training/splat_params.h"
#include "render/training/splat_schedule.h"
#include "render/training/splat_trainer_state.h"

#include <string.h>

orr_result orr_splat_trainer_fetch(orr_splat_trainer *t, orr_error *error)
{
    if (t->device_ahead) {
        ORR_TRY(orr_cuda_splat_steps_read(t->device, &t->params, error));
        t->device_ahead = false;
        orr_splat_trainer_prepare(t);
    }
    return ORR_OK;
}

orr_result orr_splat_trainer_fetch_grids(orr_splat_trainer *t, orr_error *error)
{
    if (t->grids_ahead) {
        ORR_TRY(orr_cuda_splat_steps_read_grids(t->device, t->grids, error));
        t->grids_ahead = false;
    }
    return ORR_OK;
}

// What the photo sees of the capture's points; NULL in the step: depth is not in its loss.
static orr_result find_depths(orr_splat_trainer *t, const orr_splat_plan *plan, orr_cuda_splat_step *step,
                              orr_depth_seen *seen, orr_error *error)
{
    if (!(t->desc.depth_weight > 0.0f && orr_splat_depth_known(t->desc.points, plan->image))) {
        return ORR_OK;
    }
    splat_photo_values distortion;
    if (plan->lens.distorted) {
        distortion = orr_splat_photo_of(&plan->lens);
    }
    const orr_depth_job job = {.points = t->desc.points,
                               .image = plan->image,
                               .lens = &plan->lens,
                               .distortion = plan->lens.distorted ? &distortion : NULL};
    step->depths = seen;
    step->depth_weight = t->desc.depth_weight * t->extent;
    return orr_splat_depth_find(&job, t->desc.jobs, &t->arena, seen, error);
}

// What a step needs on the device: the parameters, and its photo unless it is there.
static orr_result prepare_device(orr_splat_trainer *t, orr_cuda_splat_step *step,
                                 orr_splat_photo_picture *photo, orr_error *error)
{
    if (t->device_behind) {
        ORR_TRY(orr_cuda_splat_steps_write(t->device, &t->params, error));
        t->device_behind = false;
    }
    if (!orr_cuda_splat_steps_has(t->device, step->image, step->shrink)) {
        ORR_TRY(orr_splat_photo_take(&t->photos[step->image], step->shrink, t->background, t->desc.jobs,
                                     &t->arena, photo, error));
        step->photo = photo;
    }
    return ORR_OK;
}

orr_result orr_splat_trainer_weights_cuda(orr_splat_trainer *t, double progress, double *weights,
                                          orr_error *error)
{
    for (int i = 0; i < t->desc.image_count; i++) {
        const int image = t->images[i], shrink = orr_splat_shrink_at(&t->photos[image].lens, progress);
        const orr_lens lens = orr_splat_photo_lens(&t->photos[image], shrink);
        orr_splat_photo_picture photo;
        orr_cuda_splat_step step = {
            .image = image, .shrink = shrink, .lens = &lens, .antialias = t->desc.antialias};
        orr_arena_reset(&t->arena);
        ORR_TRY(prepare_device(t, &step, &photo, error));
        ORR_TRY(orr_cuda_splat_steps_weigh(t->device, &step, i == 0, error));
    }
    return orr_cuda_splat_steps_read_weights(t->device, weights, error);
}

orr_result orr_splat_trainer_descend_cuda(orr_splat_trainer *t, const orr_splat_plan *plan,
                                          orr_splat_found *found, orr_error *error)
{
    orr_splat_photo_picture photo;
    orr_cuda_splat_stepped stepped;
    orr_depth_seen depths;
    orr_cuda_splat_step step = {.image = plan->image,
                                .shrink = plan->shrink,
                                .lens = &plan->lens,
                                .antialias = t->desc.antialias,
                                .exposure = t->desc.exposures ? t->views[plan->image].exposure : NULL,
                                .grid_steps = t->grids ? t->views[plan->image].steps + 1 : 0,
                                .grid_rate = plan->view_rates.grid,
                                .alpha_weight = ORR_SPLAT_ALPHA_WEIGHT,
                                .dissimilarity = ORR_SPLAT_DISSIMILARITY,
                                .rates = plan->rates,
                                .seed = t->desc.seed,
                                .step = (uint32_t)t->step,
                                .motion = plan->moves,
                                .magnitude = plan->magnitude};
    memcpy(step.background, t->background, sizeof step.background);
    ORR_TRY(prepare_device(t, &step, &photo, error));
    ORR_TRY(find_depths(t, plan, &step, &depths, error));
    orr_profile_end(&t->profile, "photo", 0);
    t->device_ahead = true; // whatever fails from here on
    t->grids_ahead = t->grids != NULL;
    ORR_TRY(orr_cuda_splat_steps_take(t->device, &step, &stepped, &t->profile, error));
    t->profile.stage_start = orr_clock_nanoseconds(); // the device's stages are booked
    found->loss = stepped.loss;
    found->evaluated = stepped.evaluated;
    memcpy(found->by_exposure, stepped.by_exposure, sizeof found->by_exposure);
    memcpy(found->motion, stepped.motion, sizeof found->motion);
    return ORR_OK;
}

orr_result orr_splat_trainer_rearrange_cuda(orr_splat_trainer *t, int64_t target,
                                            orr_result (*rearrange)(orr_splat_trainer *trainer,
                                                                    int64_t target, orr_error *error),
                                            orr_error *error)
{
    const int64_t most = target > t->params.count ? target : t->params.count;
    ORR_TRY(orr_cuda_splat_steps_read_first(t->device, &t->params, error));
    orr_result result = orr_splat_params_track(&t->params, most, error);
    if (result == ORR_OK) {
        result = rearrange(t, target, error);
    }
    if (result == ORR_OK) {
        result = orr_cuda_splat_steps_rearrange(t->device, &t->params, error);
    }
    orr_splat_params_untrack(&t->params);
    return result;
}
