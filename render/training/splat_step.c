// A step of training: a photo is drawn and compared, and its loss goes back to the splats, to the photo's
// exposure and to its camera.
#include "render/training/splat_densify.h"
#include "render/training/splat_depth.h"
#include "render/training/splat_relocate.h"
#include "render/training/splat_schedule.h"
#include "render/training/splat_trainer_state.h"

#include "engine/maths/rng.h"

#include <math.h>
#include <string.h>

// ---- drawing ----

orr_result orr_splat_trainer_draw(const orr_splat_trainer *t, const orr_lens *lens, bool depth,
                                  orr_arena *arena, orr_splat_drawing *d, orr_profile *profile,
                                  orr_error *error)
{
    d->pack = orr_splat_params_pack(&t->params, t->desc.antialias);
    d->layer = (orr_draw_splats){
        .pack = &d->pack, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, .antialias = t->desc.antialias};
    d->list = (orr_draw_list){.lens = *lens, .splats = &d->layer, .splat_count = 1};
    size_t pixels = (size_t)lens->width * (size_t)lens->height;
    d->rgba = orr_arena_take(arena, pixels, 4 * sizeof(float));
    d->depth = depth ? orr_arena_take(arena, pixels, sizeof(float)) : NULL;
    if (!d->rgba || (depth && !d->depth)) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of %d x %d", lens->width,
                        lens->height);
    }
    const orr_picture picture = {.rgba = d->rgba, .depth = d->depth};
    ORR_TRY(orr_draw_cpu_begin(t->desc.jobs, t->desc.isa, arena, &d->list, NULL, NULL, profile, &d->frame,
                               error));
    return orr_draw_cpu_end(d->frame, NULL, &picture, profile, error);
}

// ---- gradients by splat ----

typedef struct update_run {
    orr_splat_trainer *trainer;
    orr_splat_rows rows;
    orr_splat_update_job update;
} update_run;

orr_result orr_splat_trainer_plan_rows(orr_splat_trainer *t, const orr_splat_drawing *d, orr_splat_rows *rows,
                                       orr_error *error)
{
    const size_t lanes = (size_t)d->pack.blocks * ORR_PACK_BLOCK;
    rows->members = ORR_MOMENTS + (rows->depth ? 1 : 0) + (rows->magnitude ? 2 : 0);
    const size_t row_bytes = (size_t)rows->members * sizeof(float);
    rows->frame = orr_draw_cpu_splats(d->frame);
    rows->record = orr_arena_take(&t->arena, lanes, sizeof *rows->record);
    rows->first = orr_arena_take(&t->arena, lanes, sizeof *rows->first);
    if (!rows->record || !rows->first) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: gradients of %zu splats", lanes);
    }
    memset(rows->record, 0xff, lanes * sizeof *rows->record);
    for (int64_t i = 0; i < rows->frame.visible; i++) {
        uint32_t record = rows->frame.order[i];
        rows->record[rows->frame.records[record].file_index] = (int32_t)record;
    }
    int64_t next = 0;
    for (size_t i = 0; i < lanes; i++) {
        rows->first[i] = (uint32_t)next;
        if (rows->record[i] != ORR_NO_RECORD) {
            const orr_tile_box box = rows->frame.boxes[rows->record[i]];
            next += (int64_t)(box.x1 - box.x0 + 1) * (box.y1 - box.y0 + 1);
        }
    }
    if (next > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%lld pairs of splats and tiles: expected at most 2^32 - 1",
                        (long long)next);
    }
    rows->rows = orr_arena_take(&t->arena, (size_t)next, row_bytes);
    if (!rows->rows) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld pairs of splats and tiles",
                        (long long)next);
    }
    memset(rows->rows, 0, (size_t)next * row_bytes); // of tiles that an ellipse only nears
    return ORR_OK;
}

typedef struct tile_run {
    const orr_splat_trainer *trainer;
    const orr_splat_backward_job *job;
} tile_run;

static void run_tile(void *context, int i, int worker)
{
    (void)worker;
    const tile_run *run = context;
    orr_splat_backward_job job = *run->job;
    job.tile_x = i % job.rows->frame.bins->tiles_x;
    job.tile_y = i / job.rows->frame.bins->tiles_x;
    orr_splat_training_kernels[run->trainer->desc.isa].backward(&job);
}

void orr_splat_trainer_run_tiles(const orr_splat_trainer *t, const orr_splat_backward_job *job)
{
    const orr_splat_bins *bins = job->rows->frame.bins;
    tile_run run = {t, job};
    orr_jobs_for(t->desc.jobs, bins->tiles_x * bins->tiles_y, run_tile, &run);
}

static void run_update(void *context, int i, int worker)
{
    (void)worker;
    const update_run *run = context;
    orr_splat_update_job job = run->update;
    const int64_t blocks = (run->trainer->params.count + ORR_PACK_BLOCK - 1) / ORR_PACK_BLOCK;
    job.first_block = (int64_t)i * ORR_UPDATE_BLOCKS;
    job.end_block =
        job.first_block + ORR_UPDATE_BLOCKS < blocks ? job.first_block + ORR_UPDATE_BLOCKS : blocks;
    job.motion = run->update.motion ? run->update.motion + (int64_t)i * ORR_MOTION : NULL;
    orr_splat_training_kernels[run->trainer->desc.isa].update(&job);
}

// ---- the photo's own ----

// the photo of a step: each once in every epoch, in another order
static int next_image(orr_splat_trainer *t)
{
    const int count = t->desc.image_count, at = (int)(t->step % count);
    if (at == 0) {
        orr_rng rng = {t->desc.seed + 1, (uint32_t)(t->step / count), 0};
        for (int i = count - 1; i > 0; i--) {
            int k = (int)(orr_rng_next(&rng) % (uint32_t)(i + 1)), kept = t->images[i];
            t->images[i] = t->images[k];
            t->images[k] = kept;
        }
    }
    return t->images[at];
}

static orr_result move_camera(orr_splat_trainer *t, int image, const orr_splat_view_rates *rates,
                              const double motion[ORR_MOTION], orr_error *error)
{
    const orr_capture_image *photos = t->desc.capture->images;
    orr_splat_view_move(&t->views[image], motion, rates);
    orr_splat_views_hold(t->views, photos, t->images, t->desc.image_count);
    for (int i = 0; i < t->desc.image_count; i++) {
        const int moved = t->images[i];
        ORR_TRY(orr_splat_photo_aim(&t->photos[moved], &photos[moved], &t->views[moved], error));
    }
    return ORR_OK;
}

// ---- a step ----

// The loss by what was drawn.
typedef struct drawn_gradient {
    orr_loss_planes colour;
    float *by_alpha; // NULL: through the background alone
    float *by_depth; // of the sum of weights times depths; NULL: depth is not in the loss
} drawn_gradient;

// Adds the loss of the depths of the points that the photo sees, and its gradient.
static orr_result compare_depth(orr_splat_trainer *t, int image, const orr_lens *lens,
                                const orr_splat_drawing *d, const orr_compose_job *c, double *loss,
                                drawn_gradient *gradient, orr_error *error)
{
    const size_t pixels = (size_t)lens->width * (size_t)lens->height;
    gradient->by_depth = orr_arena_take(&t->arena, pixels, sizeof(float));
    if (!gradient->by_depth) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: depths of %zu pixels", pixels);
    }
    memset(gradient->by_depth, 0, pixels * sizeof(float));
    const orr_depth_job job = {.points = t->desc.points,
                               .image = image,
                               .lens = lens,
                               .distortion = orr_draw_cpu_splats(d->frame).photo,
                               .mask = c->mask,
                               .rgba = d->rgba,
                               .depth = d->depth,
                               .weight = t->desc.depth_weight * t->extent,
                               .by_alpha = gradient->by_alpha,
                               .by_depth = gradient->by_depth};
    *loss += orr_splat_depth_loss(&job);
    return ORR_OK;
}

// The loss of a photo, and its gradient.
static orr_result compare(orr_splat_trainer *t, const orr_splat_plan *plan, const orr_splat_drawing *d,
                          orr_splat_found *found, drawn_gradient *gradient, orr_error *error)
{
    const int image = plan->image;
    orr_compose_job c = {.rgba = d->rgba,
                         .exposure = t->desc.exposures ? t->views[image].exposure : NULL,
                         .grid = t->grids ? t->grids[image].value : NULL,
                         .alpha_weight = ORR_SPLAT_ALPHA_WEIGHT};
    orr_splat_photo_picture photo;
    memcpy(c.background, t->background, sizeof c.background);
    ORR_TRY(orr_splat_photo_take(&t->photos[image], plan->shrink, t->background, t->desc.jobs, &t->arena,
                                 &photo, error));
    c.photo = photo.planes;
    c.mask = photo.kept;
    c.photo_alpha = photo.alpha;
    ORR_TRY(orr_picture_compose(t->desc.jobs, t->desc.isa, &t->arena, &c, error));
    orr_profile_end(&t->profile, "photo", 0);
    ORR_TRY(orr_picture_loss(t->desc.jobs, t->desc.isa, &t->arena, &c.picture, &c.photo, c.mask,
                             ORR_SPLAT_DISSIMILARITY, &found->loss, &c.gradient, error));
    if (c.exposure || c.grid || c.photo_alpha || d->depth) {
        double alpha_loss;
        ORR_TRY(orr_picture_compose_backward(t->desc.jobs, t->desc.isa, &t->arena, &c, found->by_exposure,
                                             &alpha_loss, error));
        found->loss += alpha_loss;
        if (c.grid) {
            found->loss += orr_photo_grid_step(&t->grids[image], c.by_grid, t->views[image].steps + 1,
                                               plan->view_rates.grid);
        }
    }
    *gradient = (drawn_gradient){c.gradient, c.by_alpha, NULL};
    if (d->depth) {
        ORR_TRY(compare_depth(t, image, &d->list.lens, d, &c, &found->loss, gradient, error));
    }
    orr_profile_end(&t->profile, "loss", 3 * (int64_t)c.photo.width * c.photo.height);
    return ORR_OK;
}

// A step on the CPU.
static orr_result descend_cpu(orr_splat_trainer *t, const orr_splat_plan *plan, orr_splat_found *found,
                              orr_error *error)
{
    orr_splat_drawing d;
    const bool depth = t->desc.depth_weight > 0.0f && orr_splat_depth_known(t->desc.points, plan->image);
    const int jobs = orr_splat_trainer_update_jobs(t);
    update_run run = {.trainer = t, .rows = {.depth = depth, .magnitude = plan->magnitude}};
    drawn_gradient gradient;
    ORR_TRY(orr_splat_trainer_draw(t, &plan->lens, depth, &t->arena, &d, &t->profile, error));
    ORR_TRY(compare(t, plan, &d, found, &gradient, error));
    ORR_TRY(orr_splat_trainer_plan_rows(t, &d, &run.rows, error));
    orr_profile_end(&t->profile, "plan", run.rows.frame.bins->pairs);
    orr_splat_backward_job tile = {.rows = &run.rows,
                                   .width = plan->lens.width,
                                   .height = plan->lens.height,
                                   .rgba = d.rgba,
                                   .gradient = &gradient.colour,
                                   .by_alpha = gradient.by_alpha,
                                   .depth = d.depth,
                                   .by_depth = gradient.by_depth};
    memcpy(tile.background, t->background, sizeof t->background);
    orr_splat_trainer_run_tiles(t, &tile);
    orr_profile_end(&t->profile, "backward", run.rows.frame.evaluated);
    found->evaluated = run.rows.frame.evaluated;
    run.update = (orr_splat_update_job){.params = &t->params,
                                        .rows = &run.rows,
                                        .lens = run.rows.frame.lens,
                                        .photo = run.rows.frame.photo,
                                        .rates = plan->rates,
                                        .seed = t->desc.seed,
                                        .step = (uint32_t)t->step};
    if (plan->moves) {
        run.update.motion = orr_arena_take(&t->arena, (size_t)jobs, ORR_MOTION * sizeof(double));
        if (!run.update.motion) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a camera's motion");
        }
    }
    orr_jobs_for(t->desc.jobs, jobs, run_update, &run);
    for (int i = 0; plan->moves && i < jobs * ORR_MOTION; i++) {
        found->motion[i % ORR_MOTION] += run.update.motion[i];
    }
    return ORR_OK;
}

static orr_splat_plan plan_step(orr_splat_trainer *t, double progress)
{
    const int image = next_image(t);
    const orr_splat_photo *photo = &t->photos[image];
    const orr_splat_schedule now = {t->extent, t->params.count, t->params.degree,
                                    t->step,   t->rest_steps,   t->desc.strategy};
    orr_splat_plan plan = {.image = image,
                           .shrink = orr_splat_shrink_at(&photo->lens, progress),
                           .rates = orr_splat_rates_at(&now, progress),
                           .view_rates = orr_splat_view_rates_at(t->extent, progress)};
    plan.lens = orr_splat_photo_lens(photo, plan.shrink);
    plan.magnitude = t->desc.strategy == ORR_SPLAT_ADC && orr_splat_refines_at(progress);
    plan.moves = t->desc.refine_poses && plan.view_rates.turn > 0.0f;
    return plan;
}

static orr_result descend(orr_splat_trainer *t, double progress, orr_splat_step_report *report,
                          orr_error *error)
{
    const orr_splat_plan plan = plan_step(t, progress);
    orr_splat_view *view = &t->views[plan.image];
    orr_splat_found found = {0};
    ORR_TRY((t->device ? orr_splat_trainer_descend_cuda : descend_cpu)(t, &plan, &found, error));
    if (t->desc.exposures) {
        orr_splat_view_expose(view, found.by_exposure, plan.view_rates.exposure);
        orr_splat_views_centre(t->views, t->images, t->desc.image_count);
    }
    if (plan.moves) {
        ORR_TRY(move_camera(t, plan.image, &plan.view_rates, found.motion, error));
    }
    orr_profile_end(&t->profile, "update", t->params.count);
    view->steps++;
    t->rest_steps += plan.rates.harmonics > 0.0f;
    report->loss = found.loss;
    report->evaluated = found.evaluated;
    return ORR_OK;
}

static orr_result rearrange(orr_splat_trainer *t, int64_t target, orr_error *error)
{
    if (t->desc.strategy == ORR_SPLAT_ADC) {
        const orr_densify_desc desc = {target, orr_splat_divide_threshold};
        return orr_splat_densify(&t->params, &desc, error);
    }
    return orr_splat_relocate(&t->params, target, t->desc.seed, (uint32_t)t->step, error);
}

// Relocations or divisions, and higher harmonics; grids, which are large, are centred no more often.
static orr_result refine(orr_splat_trainer *t, double progress, orr_error *error)
{
    const int degree = orr_splat_degree_at(t->desc.sh_degree, progress);
    if (degree > t->params.degree) {
        ORR_TRY(orr_splat_trainer_fetch(t, error));
        t->device_behind = true;
        ORR_TRY(orr_splat_params_raise(&t->params, degree, error));
    }
    int64_t target = orr_splat_count_at(t->desc.splats, t->step, progress);
    if (target == 0) {
        return ORR_OK;
    }
    if (t->desc.prune > 0.0f && orr_splat_prunings_at(progress) > 0 && target > t->params.count) {
        target = t->params.count; // what went does not come back
    }
    if (t->grids && t->device) {
        ORR_TRY(orr_cuda_splat_steps_centre_grids(t->device, t->images, t->desc.image_count, error));
        t->grids_ahead = true;
    } else if (t->grids) {
        orr_photo_grids_centre(t->grids, t->images, t->desc.image_count);
    }
    if (t->device_ahead) {
        return orr_splat_trainer_rearrange_cuda(t, target, rearrange, error);
    }
    ORR_TRY(rearrange(t, target, error));
    t->device_behind = true;
    orr_splat_trainer_prepare(t);
    return ORR_OK;
}

// The prunings between two steps' progress, each of the same share.
static orr_result prune(orr_splat_trainer *t, double before, double progress, orr_error *error)
{
    const int due =
        t->desc.prune > 0.0f ? orr_splat_prunings_at(progress) - orr_splat_prunings_at(before) : 0;
    const double kept = pow(1.0 - (double)t->desc.prune, (double)due / orr_splat_prunings_at(1.0));
    return due > 0 ? orr_splat_trainer_prune(t, progress, 1.0 - kept, error) : ORR_OK;
}

orr_result orr_splat_trainer_step(orr_splat_trainer *t, double progress, orr_splat_step_report *report,
                                  orr_error *error)
{
    t->profile.stage_start = orr_clock_nanoseconds();
    orr_arena_reset(&t->arena);
    ORR_TRY(descend(t, progress, report, error));
    t->step++;
    const double before = t->progress;
    t->progress = progress;
    ORR_TRY(refine(t, progress, error));
    ORR_TRY(prune(t, before, progress, error));
    orr_profile_end(&t->profile, "refine", t->params.count);
    report->splats = t->params.count;
    return ORR_OK;
}
