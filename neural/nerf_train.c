#include "neural/nerf_train.h"

#include "engine/core/memory.h"
#include "neural/nerf_batch.h"
#include "neural/nerf_seen.h"

#include <math.h>
#include <string.h>

enum {
    TARGET_SAMPLES = 1 << 15,
    RAYS_FIRST = 1024,
    RAYS_MAX = 1 << 18,
    BUNDLE_SAMPLES = 4096, // a bundle is cut to so many, so that it stays in cache
    BUNDLE_RAYS_MIN = 16,
    UPDATE_SAMPLES = 1 << 15, // per kind of sample and update of the occupancy grid
    DENSITY_BLOCKS = 16,      // one job's
    PROPOSAL_RAYS = 32,       // of a group, at most, that teach the proposals
    ADAPT_EVERY = 16,         // steps, after as many in which every step adapts
    SUM_FLOATS = 1024,        // one job's
    STATE_VERSION = 1
};

// In scenes of the unit cube the first steps march in strides four times as long, for a field that is still fog: four
// times the rays for the same number of samples. Halved every 1000 steps, so that the finest are reached after 2000.
// Measured after 30 s of CPU time: lego 28.1 dB against 26.0; fox, whose strides grow with distance anyway, loses 2.4.
static const double coarseness_first = 4.0, coarseness_half_life = 1000.0;

struct orr_nerf_trainer {
    orr_nerf_train_desc desc;
    orr_field *field;
    const orr_field_parts *parts;
    orr_nerf_camera *cameras;
    orr_occupancy occupancy;
    orr_nerf_model model; // of the parameters being trained
    orr_mlp_weights *network_weights, *rgb_weights;
    orr_optimizer *network_optimizer, *rgb_optimizer, *table_optimizer;
    orr_optimizer *exposure_optimizer; // NULL: no exposures
    float *network_gradient, *rgb_gradient, *table_gradient;
    float *network_average, *rgb_average, *table_average; // of the last refresh
    float *exposures, *exposure_gradient;                 // 3 per image
    uint32_t *touched;                                    // a bit per 16 floats of the table
    orr_proposal_trainer *proposal;                       // NULL: the occupancy grid says where to march
    orr_nerf_worker *workers;
    orr_nerf_group groups[ORR_NERF_GROUPS];
    uint32_t *cells; // of the occupancy grid, being sampled
    float (*places)[3];
    float *densities;
    int place_count;
    orr_profile profile;
    uint64_t stage_start;
    // what a step hands to the next, besides parameters, optimisers and the grid
    int64_t step;
    int64_t updates; // of the grid
    int32_t ray_count, bundle_rays;
    // since the number of rays was adapted
    int64_t adapt_rays, adapt_evaluated, adapt_samples;
};

orr_result orr_nerf_train_config(orr_field_config *config, orr_error *error)
{
    ORR_TRY(orr_field_config_base(ORR_FIELD_NERF, config, error));
    config->optimizer.decay_start = 2000;
    config->optimizer.decay_interval = 1000;
    config->optimizer.decay_base = 0.85;
    return ORR_OK;
}

// ---- creation ----

static orr_result create_optimizers(orr_nerf_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    const orr_optimizer_config *config = &orr_field_describe(t->field)->config.optimizer;
    ORR_TRY(
        orr_optimizer_create(config, parts->network.parameter_count, false, &t->network_optimizer, error));
    ORR_TRY(
        orr_optimizer_create(config, parts->rgb_network.parameter_count, false, &t->rgb_optimizer, error));
    ORR_TRY(orr_optimizer_create(config, parts->encoding.parameter_count, true, &t->table_optimizer, error));
    if (t->desc.exposures) {
        orr_optimizer_config slow = {.learning_rate = 1e-3,
                                     .beta1 = 0.9,
                                     .beta2 = 0.99,
                                     .epsilon = 1e-8,
                                     .l2_reg = 1e-4,
                                     .decay_base = 1.0};
        ORR_TRY(orr_optimizer_create(&slow, 3 * t->desc.image_count, false, &t->exposure_optimizer, error));
    }
    return ORR_OK;
}

static orr_result allocate(orr_nerf_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    size_t table = (size_t)parts->encoding.parameter_count;
    int images = t->desc.exposures ? t->desc.image_count : 0;
    t->network_gradient = orr_alloc_zero((size_t)parts->network.parameter_count, sizeof(float));
    t->rgb_gradient = orr_alloc_zero((size_t)parts->rgb_network.parameter_count, sizeof(float));
    t->table_gradient = orr_alloc_zero(table, sizeof(float));
    t->network_average = orr_alloc((size_t)parts->network.parameter_count, sizeof(float));
    t->rgb_average = orr_alloc((size_t)parts->rgb_network.parameter_count, sizeof(float));
    t->table_average = orr_alloc(table, sizeof(float));
    t->touched = orr_alloc_zero((size_t)orr_touched_words((int64_t)table), sizeof *t->touched);
    t->exposures = orr_alloc_zero((size_t)(3 * images), sizeof(float));
    t->exposure_gradient = orr_alloc_zero((size_t)(3 * images), sizeof(float));
    t->cells = orr_alloc(2 * UPDATE_SAMPLES, sizeof *t->cells);
    t->places = orr_alloc(2 * UPDATE_SAMPLES, sizeof *t->places);
    t->densities = orr_alloc(2 * UPDATE_SAMPLES, sizeof *t->densities);
    t->cameras = orr_alloc((size_t)t->desc.image_count, sizeof *t->cameras);
    t->workers = orr_alloc_zero((size_t)orr_jobs_workers(t->desc.jobs), sizeof *t->workers);
    if (!t->network_gradient || !t->rgb_gradient || !t->table_gradient || !t->network_average ||
        !t->rgb_average || !t->table_average || !t->touched || !t->exposures || !t->exposure_gradient ||
        !t->cells || !t->places || !t->densities || !t->cameras || !t->workers) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the gradients of a radiance field");
    }
    for (int i = 0; i < orr_jobs_workers(t->desc.jobs); i++) {
        ORR_TRY(orr_nerf_worker_create(t->field, &t->workers[i], error));
    }
    // twice what a group gets on average, and room for one bundle more
    int blocks = 2 * t->desc.target_samples / ORR_NERF_GROUPS / ORR_SAMPLES + BUNDLE_SAMPLES / ORR_SAMPLES;
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        ORR_TRY(orr_nerf_group_create(t->field, blocks, images, &t->groups[i], error));
    }
    return ORR_OK;
}

static void set_weights(orr_nerf_trainer *t)
{
    orr_mlp_weights_set(t->network_weights, t->parts->network_parameters);
    orr_mlp_weights_set(t->rgb_weights, t->parts->rgb_network_parameters);
}

static orr_result build(orr_nerf_trainer *t, orr_error *error)
{
    const orr_field_desc *field = orr_field_describe(t->field);
    ORR_TRY(allocate(t, error));
    ORR_TRY(create_optimizers(t, error));
    ORR_TRY(
        orr_mlp_weights_create(&t->parts->network, field->isa, field->machine, &t->network_weights, error));
    ORR_TRY(
        orr_mlp_weights_create(&t->parts->rgb_network, field->isa, field->machine, &t->rgb_weights, error));
    set_weights(t);
    for (int i = 0; i < t->desc.image_count; i++) {
        t->cameras[i] =
            orr_nerf_camera_of_image(&t->desc.capture->images[t->desc.images[i]], t->desc.capture->to_unit);
    }
    if (t->parts->proposal) {
        ORR_TRY(orr_proposal_trainer_create(t->parts->proposal, field, t->desc.jobs, ORR_NERF_GROUPS,
                                            PROPOSAL_RAYS, &t->proposal, error));
    } else {
        ORR_TRY(orr_occupancy_create(field->aabb_scale, &t->occupancy, error));
        ORR_TRY(orr_nerf_cull_unseen(&t->occupancy, t->desc.jobs, t->desc.capture, t->desc.images,
                                     t->desc.image_count, t->cameras, error));
    }
    t->model = orr_nerf_model_of(t->field, &t->occupancy);
    t->model.table = t->parts->table;
    t->model.network = t->network_weights;
    t->model.rgb_network = t->rgb_weights;
    t->ray_count = RAYS_FIRST;
    t->bundle_rays = BUNDLE_RAYS_MIN;
    return ORR_OK;
}

orr_result orr_nerf_trainer_create(orr_field *field, const orr_nerf_train_desc *desc,
                                   orr_nerf_trainer **trainer, orr_error *error)
{
    *trainer = NULL;
    if (desc->image_count < 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "training a radiance field: expected at least one photo");
    }
    orr_nerf_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a trainer");
    }
    t->desc = *desc;
    t->desc.target_samples = desc->target_samples > 0 ? desc->target_samples : TARGET_SAMPLES;
    t->field = field;
    t->parts = orr_field_parts_of(field);
    orr_result result = build(t, error);
    if (result != ORR_OK) {
        orr_nerf_trainer_destroy(t);
        return result;
    }
    *trainer = t;
    return ORR_OK;
}

void orr_nerf_trainer_destroy(orr_nerf_trainer *t)
{
    if (!t) {
        return;
    }
    for (int i = 0; t->workers && i < orr_jobs_workers(t->desc.jobs); i++) {
        orr_nerf_worker_destroy(&t->workers[i]);
    }
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        orr_nerf_group_destroy(&t->groups[i]);
    }
    orr_occupancy_destroy(&t->occupancy);
    orr_proposal_trainer_destroy(t->proposal);
    orr_mlp_weights_destroy(t->network_weights);
    orr_mlp_weights_destroy(t->rgb_weights);
    orr_optimizer_destroy(t->network_optimizer);
    orr_optimizer_destroy(t->rgb_optimizer);
    orr_optimizer_destroy(t->table_optimizer);
    orr_optimizer_destroy(t->exposure_optimizer);
    void *all[] = {
        t->network_average, t->rgb_average, t->table_average, t->network_gradient,  t->rgb_gradient,
        t->table_gradient,  t->touched,     t->exposures,     t->exposure_gradient, t->cells,
        t->places,          t->densities,   t->cameras,       t->workers,           t};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        orr_free(all[i]);
    }
}

// ---- stages of a step ----

static void begin_stage(orr_nerf_trainer *t)
{
    t->stage_start = orr_clock_nanoseconds();
}

static void end_stage(orr_nerf_trainer *t, const char *name, int64_t items)
{
    uint64_t now = orr_clock_nanoseconds();
    orr_profile_add(&t->profile, name, (double)(now - t->stage_start) * 1e-6, items);
    t->stage_start = now;
}

static void find_densities(void *context, int job, int worker)
{
    orr_nerf_trainer *t = context;
    orr_nerf_bundle *scratch = t->workers[worker].bundle;
    float scale = t->model.space.per_aabb_scale;
    int end = (job + 1) * DENSITY_BLOCKS * ORR_SAMPLES;
    end = end < t->place_count ? end : t->place_count;
    for (int first = job * DENSITY_BLOCKS * ORR_SAMPLES; first < end; first += ORR_SAMPLES) {
        int count = end - first < ORR_SAMPLES ? end - first : ORR_SAMPLES;
        float positions[3 * ORR_SAMPLES], steps[ORR_SAMPLES] = {0}, density[ORR_SAMPLES], alpha[ORR_SAMPLES];
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < ORR_SAMPLES; i++) {
                positions[k * ORR_SAMPLES + i] =
                    i < count ? (t->places[first + i][k] - 0.5f) * scale + 0.5f : 0.5f;
            }
        }
        t->parts->kernels->forward(&t->parts->encoding, t->parts->table, positions, scratch->features);
        orr_mlp_forward(t->network_weights, scratch->features, scratch->outputs, NULL);
        t->model.kernels->densities(scratch->outputs, steps, density, alpha);
        memcpy(t->densities + first, density, (size_t)count * sizeof *density);
    }
}

// Half of the samples look at all cells that may hold something, half at those that do.
static void update_occupancy(orr_nerf_trainer *t)
{
    uint32_t stream = (uint32_t)(2 * t->updates++);
    uint32_t seed = t->desc.seed ^ 0x9E3779B9u;
    int count = orr_occupancy_pick(&t->occupancy, false, seed, stream, UPDATE_SAMPLES, t->cells, t->places);
    count += orr_occupancy_pick(&t->occupancy, true, seed, stream + 1, UPDATE_SAMPLES, t->cells + count,
                                t->places + count);
    t->place_count = count;
    orr_jobs_for(t->desc.jobs, orr_blocks(count, DENSITY_BLOCKS * ORR_SAMPLES), find_densities, t);
    orr_occupancy_update(&t->occupancy, t->desc.jobs, t->cells, t->densities, count);
    end_stage(t, "occupancy", count);
}

typedef struct group_task {
    orr_nerf_trainer *trainer;
    orr_nerf_batch batch;
} group_task;

static void run_group(void *context, int i, int worker)
{
    group_task *task = context;
    orr_nerf_group_run(&task->batch, i, &task->trainer->workers[worker], worker, &task->trainer->groups[i]);
}

static void book_workers(orr_nerf_trainer *t, int64_t evaluated, int64_t samples)
{
    static const char *const names[ORR_NERF_STAGE_COUNT] = {"march", "encode", "MLP"};
    int workers = orr_jobs_workers(t->desc.jobs);
    double sums[ORR_NERF_STAGE_COUNT + 1] = {0};
    for (int w = 0; w < workers; w++) {
        for (int k = 0; k < ORR_NERF_STAGE_COUNT; k++) {
            sums[k] += (double)t->workers[w].bundle->nanoseconds[k];
            t->workers[w].bundle->nanoseconds[k] = 0;
        }
        sums[ORR_NERF_STAGE_COUNT] += (double)t->workers[w].backward_nanoseconds;
        t->workers[w].backward_nanoseconds = 0;
    }
    for (int k = 0; k < ORR_NERF_STAGE_COUNT; k++) {
        orr_profile_add(&t->profile, names[k], sums[k] * 1e-6 / workers, evaluated);
    }
    orr_profile_add(&t->profile, "MLP backward", sums[ORR_NERF_STAGE_COUNT] * 1e-6 / workers, samples);
    t->stage_start = orr_clock_nanoseconds();
}

static void run_groups(orr_nerf_trainer *t, orr_nerf_step *report)
{
    group_task task = {
        .trainer = t,
        .batch = {.model = &t->model,
                  .capture = t->desc.capture,
                  .images = t->desc.images,
                  .image_count = t->desc.image_count,
                  .cameras = t->cameras,
                  .exposures = t->desc.exposures ? t->exposures : NULL,
                  .loss = orr_field_describe(t->field)->config.loss,
                  .proposal = orr_proposal_due(t->step) ? t->proposal : NULL,
                  .seed = t->desc.seed,
                  .step = t->step,
                  .ray_count = t->ray_count,
                  .bundle_rays = t->bundle_rays,
                  .density_gradient = !t->proposal && t->occupancy.mean < ORR_OCCUPANCY_THICKNESS_MIN
                                          ? NERF_THIN_GRADIENT
                                          : 0.0f}};
    orr_jobs_for(t->desc.jobs, ORR_NERF_GROUPS, run_group, &task);
    *report = (orr_nerf_step){.rays = t->ray_count};
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        report->loss += t->groups[i].loss;
        report->evaluated += t->groups[i].evaluated;
        report->samples += t->groups[i].samples;
    }
    report->loss /= 3.0 * t->ray_count;
    book_workers(t, report->evaluated, report->samples);
}

typedef struct sum_task {
    const orr_nerf_trainer *trainer;
    size_t member; // of orr_nerf_group: a float pointer
    float *sum;
    int64_t count;
} sum_task;

static void sum_floats(void *context, int job, int worker)
{
    (void)worker;
    const sum_task *task = context;
    int64_t first = (int64_t)job * SUM_FLOATS;
    int64_t end = first + SUM_FLOATS < task->count ? first + SUM_FLOATS : task->count;
    for (int64_t k = first; k < end; k++) {
        task->sum[k] = 0.0f;
    }
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        const char *group = (const char *)&task->trainer->groups[i];
        const float *part;
        memcpy(&part, group + task->member, sizeof part);
        for (int64_t k = first; k < end; k++) {
            task->sum[k] += part[k];
        }
    }
}

static void sum_groups(orr_nerf_trainer *t, size_t member, float *sum, int64_t count)
{
    sum_task task = {.trainer = t, .member = member, .sum = sum, .count = count};
    orr_jobs_for(t->desc.jobs, orr_blocks(count, SUM_FLOATS), sum_floats, &task);
}

static void scatter_level(void *context, int i, int worker)
{
    (void)worker;
    orr_nerf_trainer *t = context;
    const orr_encoding *e = &t->parts->encoding;
    int level = e->level_count - 1 - i; // the finest, which takes longest, first
    for (int g = 0; g < ORR_NERF_GROUPS; g++) {
        const orr_nerf_group *group = &t->groups[g];
        for (int b = 0; b < group->block_count; b++) {
            t->parts->kernels->scatter_level(e, level, group->positions + (int64_t)b * 3 * ORR_SAMPLES,
                                             group->feature_gradient +
                                                 (int64_t)b * e->output_dims * ORR_SAMPLES,
                                             group->counts[b], t->table_gradient, t->touched);
        }
    }
}

// fast_scatter: one group's blocks into all levels, beside other threads that do the same; some of what two add at once
// to one entry is lost.
static void scatter_group(void *context, int i, int worker)
{
    (void)worker;
    orr_nerf_trainer *t = context;
    const orr_encoding *e = &t->parts->encoding;
    const orr_nerf_group *group = &t->groups[i];
    for (int b = 0; b < group->block_count; b++) {
        for (int level = 0; level < e->level_count; level++) {
            t->parts->kernels->scatter_level(e, level, group->positions + (int64_t)b * 3 * ORR_SAMPLES,
                                             group->feature_gradient +
                                                 (int64_t)b * e->output_dims * ORR_SAMPLES,
                                             group->counts[b], t->table_gradient, t->touched);
        }
    }
}

static void step_optimizers(orr_nerf_trainer *t)
{
    orr_jobs *jobs = t->desc.jobs;
    const orr_field_parts *parts = t->parts;
    sum_groups(t, offsetof(orr_nerf_group, network_gradient), t->network_gradient,
               parts->network.parameter_count);
    sum_groups(t, offsetof(orr_nerf_group, rgb_gradient), t->rgb_gradient,
               parts->rgb_network.parameter_count);
    orr_optimizer_step(t->network_optimizer, jobs, parts->network_parameters, t->network_gradient, NULL);
    orr_optimizer_step(t->rgb_optimizer, jobs, parts->rgb_network_parameters, t->rgb_gradient, NULL);
    orr_optimizer_step(t->table_optimizer, jobs, parts->table, t->table_gradient, t->touched);
    if (t->desc.exposures) {
        sum_groups(t, offsetof(orr_nerf_group, exposure_gradient), t->exposure_gradient,
                   3 * t->desc.image_count);
        orr_optimizer_step(t->exposure_optimizer, jobs, t->exposures, t->exposure_gradient, NULL);
    }
    set_weights(t);
}

// More rays when they find less, fewer when they find more: towards the target.
static void adapt_rays(orr_nerf_trainer *t, const orr_nerf_step *report)
{
    t->adapt_rays += report->rays;
    t->adapt_evaluated += report->evaluated;
    t->adapt_samples += report->samples;
    if (t->step >= ADAPT_EVERY && t->step % ADAPT_EVERY != 0) {
        return;
    }
    double samples = t->adapt_samples > 0 ? (double)t->adapt_samples : 1.0;
    double rays = t->desc.target_samples * (double)t->adapt_rays / samples;
    rays = fmin(fmax(rays, 0.5 * t->ray_count), 2.0 * t->ray_count);
    t->ray_count = (int32_t)fmin(fmax(rays, ORR_NERF_GROUPS), RAYS_MAX);
    double evaluated = t->adapt_evaluated > 0 ? (double)t->adapt_evaluated : 1.0;
    double bundle = BUNDLE_SAMPLES * (double)t->adapt_rays / evaluated;
    t->bundle_rays = (int32_t)fmin(fmax(bundle, BUNDLE_RAYS_MIN), ORR_NERF_RAYS);
    t->adapt_rays = t->adapt_evaluated = t->adapt_samples = 0;
}

static double coarseness_at(int64_t step, int aabb_scale)
{
    double coarseness = coarseness_first * exp2(-(double)step / coarseness_half_life);
    return aabb_scale > 1 ? 1.0 : fmax(coarseness, 1.0);
}

void orr_nerf_trainer_step(orr_nerf_trainer *t, orr_nerf_step *report)
{
    begin_stage(t);
    int aabb_scale = orr_field_describe(t->field)->aabb_scale;
    t->model.space.stepping = orr_nerf_stepping(aabb_scale, coarseness_at(t->step, aabb_scale));
    if (t->proposal) {
        t->model.proposal = orr_proposal_trainer_model(t->proposal, t->model.kernels, t->step);
    } else if (orr_occupancy_due(t->step)) {
        update_occupancy(t);
    }
    run_groups(t, report);
    if (t->desc.fast_scatter) {
        orr_jobs_for(t->desc.jobs, ORR_NERF_GROUPS, scatter_group, t);
    } else {
        orr_jobs_for(t->desc.jobs, t->parts->encoding.level_count, scatter_level, t);
    }
    end_stage(t, "scatter", report->samples);
    step_optimizers(t);
    end_stage(t, "optimiser", t->parts->encoding.parameter_count);
    if (t->proposal && orr_proposal_due(t->step)) {
        orr_proposal_trainer_step(t->proposal);
        end_stage(t, "proposals", report->rays);
    }
    report->step = ++t->step;
    adapt_rays(t, report);
}

// ---- what others see ----

void orr_nerf_trainer_refresh(orr_nerf_trainer *t)
{
    orr_jobs *jobs = t->desc.jobs;
    orr_optimizer_average(t->network_optimizer, jobs, t->parts->network_parameters, t->network_average);
    orr_optimizer_average(t->rgb_optimizer, jobs, t->parts->rgb_network_parameters, t->rgb_average);
    orr_optimizer_average(t->table_optimizer, jobs, t->parts->table, t->table_average);
    orr_field_refresh(t->field, t->network_average, t->rgb_average, t->table_average);
    if (t->proposal) {
        orr_proposal_trainer_refresh(t->proposal);
    }
}

int64_t orr_nerf_trainer_steps(const orr_nerf_trainer *t)
{
    return t->step;
}

const orr_occupancy *orr_nerf_trainer_occupancy(const orr_nerf_trainer *t)
{
    return &t->occupancy;
}

orr_nerf_parameters orr_nerf_trainer_parameters(const orr_nerf_trainer *t)
{
    return (orr_nerf_parameters){
        .network = t->network_average, .rgb_network = t->rgb_average, .table = t->table_average};
}

const float *orr_nerf_trainer_exposures(const orr_nerf_trainer *t)
{
    return t->desc.exposures ? t->exposures : NULL;
}

orr_profile *orr_nerf_trainer_profile(orr_nerf_trainer *t)
{
    return &t->profile;
}

// ---- state ----

typedef struct state_head {
    uint32_t version, seed;
    int64_t size; // of all
    int64_t step, updates;
    int64_t adapt_rays, adapt_evaluated, adapt_samples;
    int32_t ray_count, bundle_rays;
} state_head;

typedef struct state_piece {
    void *memory; // NULL: an optimiser's
    size_t size;
    orr_optimizer *optimizer;
} state_piece;

enum { PIECES = 9 };

static int state_pieces(const orr_nerf_trainer *t, state_piece pieces[PIECES])
{
    const orr_field_parts *parts = t->parts;
    orr_optimizer *optimizers[] = {t->network_optimizer, t->rgb_optimizer, t->table_optimizer,
                                   t->exposure_optimizer};
    int count = 0;
    pieces[count++] = (state_piece){parts->network_parameters,
                                    (size_t)parts->network.parameter_count * sizeof(float), NULL};
    pieces[count++] = (state_piece){parts->rgb_network_parameters,
                                    (size_t)parts->rgb_network.parameter_count * sizeof(float), NULL};
    pieces[count++] =
        (state_piece){parts->table, (size_t)parts->encoding.parameter_count * sizeof(float), NULL};
    if (!t->proposal) {
        pieces[count++] =
            (state_piece){t->occupancy.thickness, (size_t)t->occupancy.cells * sizeof(float), NULL};
    }
    if (t->desc.exposures) {
        pieces[count++] = (state_piece){t->exposures, 3 * (size_t)t->desc.image_count * sizeof(float), NULL};
    }
    for (int i = 0; i < 4; i++) {
        if (optimizers[i]) {
            pieces[count++] = (state_piece){NULL, orr_optimizer_state_size(optimizers[i]), optimizers[i]};
        }
    }
    return count;
}

size_t orr_nerf_trainer_state_size(const orr_nerf_trainer *t)
{
    state_piece pieces[PIECES];
    size_t size = sizeof(state_head);
    for (int i = 0, count = state_pieces(t, pieces); i < count; i++) {
        size += pieces[i].size;
    }
    return size + (t->proposal ? orr_proposal_trainer_state_size(t->proposal) : 0);
}

void orr_nerf_trainer_state_save(const orr_nerf_trainer *t, void *state)
{
    state_head head = {.version = STATE_VERSION,
                       .seed = t->desc.seed,
                       .size = (int64_t)orr_nerf_trainer_state_size(t),
                       .step = t->step,
                       .updates = t->updates,
                       .adapt_rays = t->adapt_rays,
                       .adapt_evaluated = t->adapt_evaluated,
                       .adapt_samples = t->adapt_samples,
                       .ray_count = t->ray_count,
                       .bundle_rays = t->bundle_rays};
    state_piece pieces[PIECES];
    char *to = state;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    for (int i = 0, count = state_pieces(t, pieces); i < count; i++) {
        if (pieces[i].optimizer) {
            orr_optimizer_state_save(pieces[i].optimizer, to);
        } else {
            memcpy(to, pieces[i].memory, pieces[i].size);
        }
        to += pieces[i].size;
    }
    if (t->proposal) {
        orr_proposal_trainer_state_save(t->proposal, to);
    }
}

orr_result orr_nerf_trainer_state_load(orr_nerf_trainer *t, const void *state, size_t size, orr_error *error)
{
    state_head head;
    if (size < sizeof head || size != orr_nerf_trainer_state_size(t)) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "training state: expected %zu bytes, found %zu",
                        orr_nerf_trainer_state_size(t), size);
    }
    memcpy(&head, state, sizeof head);
    if (head.version != STATE_VERSION || head.size != (int64_t)size || head.seed != t->desc.seed ||
        head.step < 0 || head.ray_count < ORR_NERF_GROUPS || head.ray_count > RAYS_MAX ||
        head.bundle_rays < 1 || head.bundle_rays > ORR_NERF_RAYS) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "training state: expected version %d of a run with seed %u", STATE_VERSION,
                        t->desc.seed);
    }
    state_piece pieces[PIECES];
    const char *from = (const char *)state + sizeof head;
    for (int i = 0, count = state_pieces(t, pieces); i < count; i++) {
        if (pieces[i].optimizer) {
            ORR_TRY(orr_optimizer_state_load(pieces[i].optimizer, from, pieces[i].size, error));
        } else {
            memcpy(pieces[i].memory, from, pieces[i].size);
        }
        from += pieces[i].size;
    }
    if (t->proposal) {
        ORR_TRY(orr_proposal_trainer_state_load(t->proposal, from, error));
    }
    t->step = head.step;
    t->updates = head.updates;
    t->adapt_rays = head.adapt_rays;
    t->adapt_evaluated = head.adapt_evaluated;
    t->adapt_samples = head.adapt_samples;
    t->ray_count = head.ray_count;
    t->bundle_rays = head.bundle_rays;
    if (!t->proposal) {
        orr_occupancy_refresh(&t->occupancy, t->desc.jobs);
    }
    set_weights(t);
    return ORR_OK;
}
