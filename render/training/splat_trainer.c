#include "render/training/splat_trainer.h"

#include "engine/core/rng.h"
#include "render/training/splat_relocate.h"
#include "render/training/splat_schedule.h"
#include "render/training/splat_seeds.h"
#include "render/training/splat_state.h"

#include <math.h>
#include <string.h>

static const float DISSIMILARITY = 0.2f;

struct orr_splat_trainer {
    orr_splat_trainer_desc desc;
    orr_splat_photo *photos;
    int *images; // of the desc, shuffled in every epoch
    float extent;
    float background[3];
    orr_splat_params params;
    int64_t step, rest_steps; // taken, and those of the higher harmonics
    double progress;          // of the last step
    orr_arena arena;          // of a step
    orr_profile profile;
};

static const orr_training_kernels kernels[ORR_ISA_COUNT] = ORR_ISA_TABLE(ORR_TRAINING_KERNELS);

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
    if (desc->splats < 1 || desc->splats > 1 << 28) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%lld splats: expected 1 to 2^28", (long long)desc->splats);
    }
    if (desc->sh_degree < 0 || desc->sh_degree > 3) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "harmonics of degree %d: expected 0 to 3", desc->sh_degree);
    }
    return ORR_OK;
}

static orr_result plant(orr_splat_trainer *t, orr_error *error)
{
    const int64_t count = orr_splat_first_count(t->desc.splats);
    orr_splat_seed *seeds;
    ORR_TRY(orr_splat_params_create(t->desc.splats, &t->params, error));
    ORR_ALLOC(seeds, count, "splats", error);
    orr_result result = orr_splat_seeds_make(t->photos, t->desc.images, t->desc.image_count, count,
                                             t->desc.seed, t->desc.jobs, seeds, error);
    if (result == ORR_OK) {
        orr_splat_params_add(&t->params, seeds, count);
    }
    orr_free(seeds);
    return result;
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
    t->desc.splats = s->params.capacity;
    t->desc.sh_degree = s->sh_degree;
    t->desc.antialias = s->antialias;
    t->desc.seed = s->seed;
    t->step = s->step;
    t->rest_steps = s->rest_steps;
    t->progress = s->progress;
    t->params = s->params;
    s->params = (orr_splat_params){0}; // the trainer's now
    return ORR_OK;
}

static orr_result resume(orr_splat_trainer *t, orr_error *error)
{
    orr_bytes bytes;
    orr_splat_state state;
    ORR_TRY(orr_file_read(t->desc.resume, &bytes, error));
    orr_result result = orr_splat_state_read(t->desc.resume, bytes, &state, error);
    orr_free(bytes.data);
    if (result == ORR_OK) {
        result = go_on_from(t, &state, error);
        orr_splat_state_destroy(&state);
    }
    return result;
}

static orr_result open(orr_splat_trainer *t, orr_error *error)
{
    const orr_splat_trainer_desc *desc = &t->desc;
    ORR_TRY(orr_splat_photos_create(desc->capture, desc->jobs, &t->photos, error));
    ORR_ALLOC(t->images, desc->image_count, "a list of photos", error);
    memcpy(t->images, desc->images, (size_t)desc->image_count * sizeof *t->images);
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
    return desc->resume ? resume(t, error) : plant(t, error);
}

static void prepare_block(void *context, int i, int worker)
{
    (void)worker;
    const orr_splat_trainer *t = context;
    const int64_t blocks = (t->params.count + ORR_PACK_BLOCK - 1) / ORR_PACK_BLOCK;
    const int64_t first = (int64_t)i * ORR_UPDATE_BLOCKS;
    const int64_t end = first + ORR_UPDATE_BLOCKS < blocks ? first + ORR_UPDATE_BLOCKS : blocks;
    kernels[t->desc.isa].prepare(&t->params, first, end);
}

static int update_jobs(const orr_splat_trainer *t)
{
    return orr_blocks(t->params.count, ORR_UPDATE_BLOCKS * ORR_PACK_BLOCK);
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
    if (result != ORR_OK) {
        orr_splat_trainer_destroy(t);
        return result;
    }
    orr_jobs_for(desc->jobs, update_jobs(t), prepare_block, t);
    *out = t;
    return ORR_OK;
}

void orr_splat_trainer_destroy(orr_splat_trainer *t)
{
    if (t) {
        orr_splat_photos_destroy(t->photos, t->desc.capture->count);
        orr_splat_params_destroy(&t->params);
        orr_arena_destroy(&t->arena);
        orr_free(t->images);
        orr_free(t);
    }
}

// ---- drawing ----

typedef struct drawing {
    orr_splat_pack pack;
    orr_draw_splats layer;
    orr_draw_list list;
    orr_cpu_frame *frame;
    float *rgba; // height x width x 4, without background
} drawing;

// Memory is the arena's.
static orr_result draw(orr_splat_trainer *t, const orr_lens *lens, orr_arena *arena, drawing *d,
                       orr_profile *profile, orr_error *error)
{
    d->pack = orr_splat_params_pack(&t->params, t->desc.antialias);
    d->layer = (orr_draw_splats){
        .pack = &d->pack, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, .antialias = t->desc.antialias};
    d->list = (orr_draw_list){.lens = *lens, .splats = &d->layer, .splat_count = 1};
    size_t pixels = (size_t)lens->width * (size_t)lens->height;
    d->rgba = orr_arena_take(arena, pixels, 4 * sizeof(float));
    if (!d->rgba) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of %d x %d", lens->width,
                        lens->height);
    }
    const orr_picture picture = {.rgba = d->rgba};
    ORR_TRY(orr_draw_cpu_begin(t->desc.jobs, t->desc.isa, arena, &d->list, NULL, profile, &d->frame, error));
    return orr_draw_cpu_end(d->frame, NULL, &picture, profile, error);
}

typedef struct composition {
    const drawing *drawing;
    const float *background;
    orr_loss_planes picture, photo;
    const uint8_t *mask;
} composition;

// over the background; where the mask leaves out, the photo itself
static void compose_row(void *context, int y, int worker)
{
    (void)worker;
    const composition *c = context;
    const int width = c->picture.width;
    for (int k = 0; k < 3; k++) {
        float *to = orr_loss_row(&c->picture, k, y);
        const float *photo = orr_loss_row(&c->photo, k, y), *rgba = c->drawing->rgba + 4 * (int64_t)y * width;
        for (int x = 0; x < width; x++) {
            bool counts = !c->mask || c->mask[(int64_t)y * width + x];
            to[x] = counts ? rgba[4 * x + k] + (1.0f - rgba[4 * x + 3]) * c->background[k] : photo[x];
        }
    }
}

// ---- gradients by splat ----

typedef struct backward_run {
    orr_splat_trainer *trainer;
    orr_splat_rows rows;
    orr_splat_backward_job tile;
    orr_splat_update_job update;
} backward_run;

// Which record each splat has, and its rows: one for each tile of its box.
static orr_result plan_rows(orr_splat_trainer *t, const drawing *d, orr_splat_rows *rows, orr_error *error)
{
    const size_t lanes = (size_t)d->pack.blocks * ORR_PACK_BLOCK;
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
    rows->rows = orr_arena_take(&t->arena, (size_t)next, ORR_MOMENTS * sizeof(float));
    if (!rows->rows) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld pairs of splats and tiles",
                        (long long)next);
    }
    memset(rows->rows, 0, (size_t)next * ORR_MOMENTS * sizeof(float)); // of tiles that an ellipse only nears
    return ORR_OK;
}

static void run_tile(void *context, int i, int worker)
{
    (void)worker;
    const backward_run *run = context;
    orr_splat_backward_job job = run->tile;
    job.tile_x = i % run->rows.frame.bins->tiles_x;
    job.tile_y = i / run->rows.frame.bins->tiles_x;
    kernels[run->trainer->desc.isa].backward(&job);
}

static void run_update(void *context, int i, int worker)
{
    (void)worker;
    const backward_run *run = context;
    orr_splat_update_job job = run->update;
    const int64_t blocks = (run->trainer->params.count + ORR_PACK_BLOCK - 1) / ORR_PACK_BLOCK;
    job.first_block = (int64_t)i * ORR_UPDATE_BLOCKS;
    job.end_block =
        job.first_block + ORR_UPDATE_BLOCKS < blocks ? job.first_block + ORR_UPDATE_BLOCKS : blocks;
    kernels[run->trainer->desc.isa].update(&job);
}

// ---- schedules ----

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

// Moves and new splats, and higher harmonics.
static orr_result refine(orr_splat_trainer *t, double progress, orr_error *error)
{
    const int degree = orr_splat_degree_at(t->desc.sh_degree, progress);
    if (degree > t->params.degree) {
        ORR_TRY(orr_splat_params_raise(&t->params, degree, error));
    }
    const int64_t target = orr_splat_count_at(t->desc.splats, t->step, progress);
    if (target > 0) {
        ORR_TRY(orr_splat_relocate(&t->params, target, t->desc.seed, (uint32_t)t->step, error));
        orr_jobs_for(t->desc.jobs, update_jobs(t), prepare_block, t);
    }
    return ORR_OK;
}

// ---- a step ----

static orr_result descend(orr_splat_trainer *t, const orr_splat_photo *photo, double progress,
                          orr_splat_step_report *report, orr_error *error)
{
    const orr_splat_schedule now = {t->extent, t->params.count, t->params.degree, t->step, t->rest_steps};
    const int shrink = orr_splat_shrink_at(&photo->lens, progress);
    const orr_lens lens = orr_splat_photo_lens(photo, shrink);
    drawing d;
    backward_run run = {.trainer = t};
    orr_loss_planes gradient;
    ORR_TRY(draw(t, &lens, &t->arena, &d, &t->profile, error));
    composition c = {.drawing = &d, .background = t->background};
    ORR_TRY(orr_splat_photo_planes(photo, shrink, t->background, t->desc.jobs, &t->arena, &c.photo, &c.mask,
                                   error));
    ORR_TRY(orr_loss_planes_take(&t->arena, lens.width, lens.height, &c.picture, error));
    orr_jobs_for(t->desc.jobs, lens.height, compose_row, &c);
    orr_profile_end(&t->profile, "photo", 0);
    ORR_TRY(orr_picture_loss(t->desc.jobs, t->desc.isa, &t->arena, &c.picture, &c.photo, c.mask,
                             DISSIMILARITY, &report->loss, &gradient, error));
    orr_profile_end(&t->profile, "loss", 3 * (int64_t)lens.width * lens.height);
    ORR_TRY(plan_rows(t, &d, &run.rows, error));
    orr_profile_end(&t->profile, "plan", run.rows.frame.bins->pairs);
    run.tile = (orr_splat_backward_job){
        .rows = &run.rows, .width = lens.width, .height = lens.height, .rgba = d.rgba, .gradient = &gradient};
    memcpy(run.tile.background, t->background, sizeof t->background);
    orr_jobs_for(t->desc.jobs, run.rows.frame.bins->tiles_x * run.rows.frame.bins->tiles_y, run_tile, &run);
    orr_profile_end(&t->profile, "backward", run.rows.frame.evaluated);
    report->evaluated = run.rows.frame.evaluated;
    run.update = (orr_splat_update_job){.params = &t->params,
                                        .rows = &run.rows,
                                        .lens = run.rows.frame.lens,
                                        .rates = orr_splat_rates_at(&now, progress),
                                        .seed = t->desc.seed,
                                        .step = (uint32_t)t->step};
    orr_jobs_for(t->desc.jobs, update_jobs(t), run_update, &run);
    orr_profile_end(&t->profile, "update", t->params.count);
    t->rest_steps += run.update.rates.harmonics > 0.0f;
    return ORR_OK;
}

orr_result orr_splat_trainer_step(orr_splat_trainer *t, double progress, orr_splat_step_report *report,
                                  orr_error *error)
{
    t->profile.stage_start = orr_clock_nanoseconds();
    orr_arena_reset(&t->arena);
    ORR_TRY(descend(t, &t->photos[next_image(t)], progress, report, error));
    t->step++;
    t->progress = progress;
    ORR_TRY(refine(t, progress, error));
    orr_profile_end(&t->profile, "refine", t->params.count);
    report->splats = t->params.count;
    return ORR_OK;
}

// ---- looking ----

orr_result orr_splat_trainer_compare(orr_splat_trainer *t, int index, int shrink, orr_arena *arena,
                                     orr_splat_comparison *out, orr_error *error)
{
    const orr_splat_photo *photo = &t->photos[index];
    const orr_lens lens = orr_splat_photo_lens(photo, shrink);
    const size_t pixels = (size_t)lens.width * (size_t)lens.height;
    drawing d;
    orr_profile unused = {0};
    composition c = {.drawing = &d, .background = t->background};
    ORR_TRY(draw(t, &lens, arena, &d, &unused, error));
    ORR_TRY(
        orr_splat_photo_planes(photo, shrink, t->background, t->desc.jobs, arena, &c.photo, &c.mask, error));
    ORR_TRY(orr_loss_planes_take(arena, lens.width, lens.height, &c.picture, error));
    orr_jobs_for(t->desc.jobs, lens.height, compose_row, &c);
    *out = (orr_splat_comparison){.width = lens.width,
                                  .height = lens.height,
                                  .photo = orr_arena_take(arena, 3 * pixels, sizeof(float)),
                                  .drawn = orr_arena_take(arena, 3 * pixels, sizeof(float)),
                                  .mask = c.mask};
    if (!out->photo || !out->drawn) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of %d x %d", lens.width,
                        lens.height);
    }
    for (int y = 0; y < lens.height; y++) {
        for (int x = 0; x < lens.width; x++) {
            for (int k = 0; k < 3; k++) {
                int64_t at = 3 * ((int64_t)y * lens.width + x) + k;
                out->photo[at] = orr_loss_row(&c.photo, k, y)[x];
                out->drawn[at] = fminf(fmaxf(orr_loss_row(&c.picture, k, y)[x], 0.0f), 1.0f);
            }
        }
    }
    return ORR_OK;
}

orr_result orr_splat_trainer_cloud(orr_splat_trainer *t, orr_splats **splats, orr_error *error)
{
    return orr_splat_params_cloud(&t->params, t->params.degree, t->desc.antialias, splats, error);
}

orr_splat_progress orr_splat_trainer_progress(const orr_splat_trainer *t)
{
    return (orr_splat_progress){t->step, t->progress};
}

orr_result orr_splat_trainer_save(const orr_splat_trainer *t, const char *path, orr_error *error)
{
    const orr_splat_state state = {.step = t->step,
                                   .rest_steps = t->rest_steps,
                                   .progress = fmin(fmax(t->progress, 0.0), 1.0),
                                   .extent = t->extent,
                                   .seed = t->desc.seed,
                                   .sh_degree = t->desc.sh_degree,
                                   .antialias = t->desc.antialias,
                                   .image_count = t->desc.image_count,
                                   .images = t->images,
                                   .params = t->params};
    return orr_splat_state_save(&state, path, error);
}

const orr_profile *orr_splat_trainer_profile(const orr_splat_trainer *t)
{
    return &t->profile;
}
