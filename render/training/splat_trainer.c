#include "render/training/splat_depth.h"
#include "render/training/splat_schedule.h"
#include "render/training/splat_seeds.h"
#include "render/training/splat_state.h"
#include "render/training/splat_trainer_state.h"

#include <math.h>
#include <string.h>

const orr_training_kernels orr_splat_training_kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(ORR_TRAINING_KERNELS);

// ---- making one ----

static orr_result check(const orr_splat_trainer_desc *desc, orr_error *error)
{
    if (desc->image_count < 2) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d photo%s to learn splats from: expected 2 or more",
                        desc->image_count, desc->image_count == 1 ? "" : "s");
    }
    if (desc->resume) {
        return ORR_OK; // the file has the others
    }
    if (desc->exposures && desc->bilateral_grid) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "exposures and bilateral grids: expected one of them");
    }
    if (desc->splats < 1 || desc->splats > 1 << 28) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%lld splats: expected 1 to 2^28", (long long)desc->splats);
    }
    if (desc->sh_degree < 0 || desc->sh_degree > 3) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "harmonics of degree %d: expected 0 to 3", desc->sh_degree);
    }
    if (!(desc->depth_weight >= 0.0f && desc->depth_weight <= ORR_SPLAT_DEPTH_WEIGHT_MAX)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "depth: a weight of %g: expected 0 to %g",
                        (double)desc->depth_weight, (double)ORR_SPLAT_DEPTH_WEIGHT_MAX);
    }
    if (!(desc->prune >= 0.0f && desc->prune <= ORR_SPLAT_PRUNE_MAX)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "pruning: a share of %g: expected 0 to %g",
                        (double)desc->prune, (double)ORR_SPLAT_PRUNE_MAX);
    }
    return ORR_OK;
}

// Depths are learned where a photo sees a point.
static orr_result check_depth(const orr_splat_trainer *t, orr_error *error)
{
    bool known = !(t->desc.depth_weight > 0.0f);
    for (int i = 0; !known && i < t->desc.image_count; i++) {
        known = orr_splat_depth_known(t->desc.points, t->images[i]);
    }
    return known ? ORR_OK
                 : orr_fail(
                       error, ORR_CODE_ARGUMENT,
                       "depth: no training photo sees a known point: expected a COLMAP model with points3D");
}

static orr_result open_device(orr_splat_trainer *t, orr_error *error)
{
    if (!t->desc.cuda) {
        return ORR_OK;
    }
    t->device_behind = true;
    ORR_TRY(orr_cuda_splat_steps_create(t->desc.cuda, t->desc.capture->count, &t->device, error));
    return t->grids ? orr_cuda_splat_steps_write_grids(t->device, t->grids, error) : ORR_OK;
}

static orr_result plant(orr_splat_trainer *t, orr_error *error)
{
    const orr_splat_trainer_desc *desc = &t->desc;
    const int64_t first = orr_splat_first_count(desc->splats);
    const int64_t points = desc->points ? desc->points->count : 0;
    const int64_t room = points < first ? first : points < desc->splats ? points : desc->splats;
    orr_splat_seed *seeds;
    ORR_ALLOC(seeds, room, "splats", error);
    t->seeds = points > 0 ? orr_splat_seeds_take(desc->points, t->photos, desc->capture->count, t->extent,
                                                 desc->splats, desc->seed, seeds)
                          : 0;
    const int64_t drawn = t->seeds < first ? first - t->seeds : 0, count = t->seeds + drawn;
    orr_splat_seeds_draw(t->photos, desc->images, desc->image_count, drawn, desc->seed, desc->jobs,
                         seeds + t->seeds);
    orr_result result = orr_splat_seeds_finish(seeds, count, desc->jobs, error);
    if (result == ORR_OK) {
        result = orr_splat_params_create(count, desc->strategy == ORR_SPLAT_ADC, &t->params, error);
    }
    if (result == ORR_OK) {
        orr_splat_params_add(&t->params, seeds, count);
    }
    orr_free(seeds);
    return result;
}

static orr_result begin_grids(orr_splat_trainer *t, orr_error *error)
{
    const int count = t->desc.capture->count;
    ORR_ALLOC(t->grids, count, "bilateral grids", error);
    for (int i = 0; i < count; i++) {
        orr_photo_grid_begin(&t->grids[i]);
    }
    return ORR_OK;
}

// The exposures, grids and poses of a state.
static orr_result take_views(orr_splat_trainer *t, const orr_splat_state *s, orr_error *error)
{
    t->desc.exposures = s->exposures;
    t->desc.bilateral_grid = s->grids != NULL;
    t->desc.refine_poses = s->refine_poses;
    ORR_TRY(s->grids ? begin_grids(t, error) : ORR_OK);
    for (int i = 0; i < s->image_count; i++) {
        const int image = s->images[i];
        t->views[image] = s->views[i];
        if (t->grids) {
            t->grids[image] = s->grids[i];
        }
        ORR_TRY(
            orr_splat_photo_aim(&t->photos[image], &t->desc.capture->images[image], &t->views[image], error));
    }
    return ORR_OK;
}

// Takes over what the state has, if it is of these photos.
static orr_result go_on_from(orr_splat_trainer *t, orr_splat_state *s, orr_error *error)
{
    bool same;
    ORR_TRY(orr_splat_state_has_images(s, t->images, t->desc.image_count, &same, error));
    if (!same || s->extent != t->extent) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: learned from other photos: expected the same capture and held-out photos",
                        t->desc.resume);
    }
    memcpy(t->images, s->images, (size_t)s->image_count * sizeof *t->images);
    t->desc.splats = s->most;
    t->desc.strategy = s->strategy;
    t->desc.sh_degree = s->sh_degree;
    t->desc.antialias = s->antialias;
    t->desc.depth_weight = s->depth_weight;
    t->desc.prune = s->prune;
    t->desc.seed = s->seed;
    t->step = s->step;
    t->rest_steps = s->rest_steps;
    t->progress = s->progress;
    t->params = s->params;
    s->params = (orr_splat_params){0}; // the trainer's now
    return take_views(t, s, error);
}

static orr_result open_photos(orr_splat_trainer *t, orr_error *error)
{
    const orr_splat_trainer_desc *desc = &t->desc;
    ORR_TRY(orr_splat_photos_create(desc->capture, desc->masks, desc->lenses, desc->jobs, &t->photos, error));
    ORR_ALLOC(t->images, desc->image_count, "a list of photos", error);
    memcpy(t->images, desc->images, (size_t)desc->image_count * sizeof *t->images);
    ORR_ALLOC(t->views, desc->capture->count, "views", error);
    for (int i = 0; i < desc->capture->count; i++) {
        t->views[i] = orr_splat_view_begin(&desc->capture->images[i]);
    }
    for (int i = 0; i < desc->image_count; i++) {
        if (t->photos[t->images[i]].channels == 4) { // as the papers have it
            t->background[0] = t->background[1] = t->background[2] = 1.0f;
        }
    }
    t->extent = orr_splat_extent(t->photos, t->images, desc->image_count);
    const float *where = t->photos[t->images[0]].lens.position;
    // but for rounding
    if (!(t->extent > 1e-5f * (fabsf(where[0]) + fabsf(where[1]) + fabsf(where[2])))) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "all %d cameras are in one place: expected different ones",
                        desc->image_count);
    }
    return ORR_OK;
}

static orr_result resume(orr_splat_trainer *t, orr_error *error)
{
    orr_bytes bytes;
    orr_splat_state state;
    ORR_TRY(orr_file_read(t->desc.resume, &bytes, error));
    orr_result result = orr_splat_state_read(t->desc.resume, bytes, &state, error);
    orr_free(bytes.data);
    ORR_TRY(result);
    t->desc.masks = state.masks;
    t->desc.lenses = state.lenses;
    result = open_photos(t, error);
    if (result == ORR_OK) {
        result = go_on_from(t, &state, error);
    }
    orr_splat_state_destroy(&state);
    return result;
}

static orr_result open(orr_splat_trainer *t, orr_error *error)
{
    if (t->desc.resume) {
        return resume(t, error);
    }
    ORR_TRY(open_photos(t, error));
    ORR_TRY(t->desc.bilateral_grid ? begin_grids(t, error) : ORR_OK);
    return plant(t, error);
}

static void prepare_block(void *context, int i, int worker)
{
    (void)worker;
    const orr_splat_trainer *t = context;
    const int64_t blocks = (t->params.count + ORR_PACK_BLOCK - 1) / ORR_PACK_BLOCK;
    const int64_t first = (int64_t)i * ORR_UPDATE_BLOCKS;
    const int64_t end = first + ORR_UPDATE_BLOCKS < blocks ? first + ORR_UPDATE_BLOCKS : blocks;
    orr_splat_training_kernels[t->desc.isa].prepare(&t->params, first, end);
}

int orr_splat_trainer_update_jobs(const orr_splat_trainer *t)
{
    return orr_blocks(t->params.count, ORR_UPDATE_BLOCKS * ORR_PACK_BLOCK);
}

void orr_splat_trainer_prepare(const orr_splat_trainer *t)
{
    // the jobs only write what `params` points to
    orr_jobs_for(t->desc.jobs, orr_splat_trainer_update_jobs(t), prepare_block, (void *)t);
}

orr_result orr_splat_trainer_create(const orr_splat_trainer_desc *desc, orr_splat_trainer **out,
                                    orr_error *error)
{
    *out = NULL;
    ORR_TRY(check(desc, error));
    orr_splat_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a trainer");
    }
    t->desc = *desc;
    orr_result result = open(t, error);
    if (result == ORR_OK) {
        result = check_depth(t, error);
    }
    if (result == ORR_OK) {
        result = open_device(t, error);
    }
    if (result != ORR_OK) {
        orr_splat_trainer_destroy(t);
        return result;
    }
    orr_splat_trainer_prepare(t);
    *out = t;
    return ORR_OK;
}

void orr_splat_trainer_destroy(orr_splat_trainer *t)
{
    if (t) {
        orr_cuda_splat_steps_destroy(t->device);
        orr_splat_photos_destroy(t->photos, t->desc.capture->count);
        orr_splat_params_destroy(&t->params);
        orr_arena_destroy(&t->arena);
        orr_free(t->views);
        orr_free(t->grids);
        orr_free(t->images);
        orr_free(t);
    }
}

void orr_splat_trainer_allow(orr_splat_trainer *t, int64_t splats)
{
    t->desc.splats = splats;
}

orr_result orr_splat_trainer_cloud(orr_splat_trainer *t, orr_splats **splats, orr_error *error)
{
    ORR_TRY(orr_splat_trainer_fetch(t, error));
    return orr_splat_params_cloud(&t->params, t->params.degree, t->desc.antialias, splats, error);
}

orr_splat_progress orr_splat_trainer_progress(const orr_splat_trainer *t)
{
    return (orr_splat_progress){.steps = t->step,
                                .progress = t->progress,
                                .refines_poses = t->desc.refine_poses,
                                .keeps_lenses = t->desc.lenses == ORR_SPLAT_LENSES_KEEP,
                                .splats = t->params.count,
                                .seeds = t->seeds};
}

orr_result orr_splat_trainer_save(orr_splat_trainer *t, const char *path, orr_error *error)
{
    ORR_TRY(orr_splat_trainer_fetch(t, error));
    ORR_TRY(orr_splat_trainer_fetch_grids(t, error));
    const int count = t->desc.image_count;
    orr_splat_view *views = orr_alloc((size_t)count, sizeof *views);
    orr_photo_grid *grids = t->grids ? orr_alloc((size_t)count, sizeof *grids) : NULL;
    const bool there = views && (grids || !t->grids);
    for (int i = 0; there && i < count; i++) {
        views[i] = t->views[t->images[i]];
        if (grids) {
            grids[i] = t->grids[t->images[i]];
        }
    }
    const orr_splat_state state = {.step = t->step,
                                   .rest_steps = t->rest_steps,
                                   .progress = fmin(fmax(t->progress, 0.0), 1.0),
                                   .extent = t->extent,
                                   .most = t->desc.splats,
                                   .strategy = t->desc.strategy,
                                   .seed = t->desc.seed,
                                   .sh_degree = t->desc.sh_degree,
                                   .antialias = t->desc.antialias,
                                   .depth_weight = t->desc.depth_weight,
                                   .prune = t->desc.prune,
                                   .exposures = t->desc.exposures,
                                   .masks = t->desc.masks,
                                   .lenses = t->desc.lenses,
                                   .refine_poses = t->desc.refine_poses,
                                   .image_count = count,
                                   .images = t->images,
                                   .views = views,
                                   .grids = grids,
                                   .params = t->params};
    orr_result result = there ? orr_splat_state_save(&state, path, error)
                              : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    orr_free(views);
    orr_free(grids);
    return result;
}

orr_camera orr_splat_trainer_camera(const orr_splat_trainer *t, int index)
{
    return orr_splat_view_camera(&t->views[index], &t->desc.capture->images[index], true);
}

const orr_profile *orr_splat_trainer_profile(const orr_splat_trainer *t)
{
    return &t->profile;
}
