#define ORR_SCALAR
#include "neural/training/nerf_cpu_trainer.h"

#include "engine/core/memory.h"
#include "neural/nerf/ray_loss_formula.h"
#include "neural/training/nerf_batch.h"

#include <math.h>
#include <string.h>

enum {
    BUNDLE_SAMPLES = 4096,    // a bundle is cut to so many, so that it stays in cache
    UPDATE_SAMPLES = 1 << 15, // per kind of sample and update of the occupancy grid
    DENSITY_BLOCKS = 16,      // one job's
    SUM_FLOATS = 1024,        // one job's
    PROPOSAL_RAYS = 32        // of a group, at most, that teach the proposals
};

enum { NETWORK, RGB_NETWORK, TABLE, EXPOSURES };

struct orr_nerf_cpu_trainer {
    orr_nerf_cpu_trainer_desc desc;
    const orr_nerf_trainer_desc *train;
    orr_jobs *jobs;
    const orr_field_parts *parts;
    uint64_t stage_start;
    orr_nerf_model model; // of the parameters being trained
    orr_mlp_weights *network_weights, *rgb_weights;
    orr_optimizer *optimizers[ORR_NERF_OPTIMIZERS];
    float *network_gradient, *rgb_gradient, *table_gradient;
    float *exposure_gradient;       // 3 per image
    uint32_t *touched;              // a bit per 16 floats of the table
    orr_proposal_trainer *proposal; // NULL: the occupancy grid says where to march
    orr_nerf_worker *workers;
    orr_nerf_group groups[ORR_NERF_GROUPS];
    uint32_t *cells; // of the occupancy grid, being sampled
    float (*points)[3];
    float *densities;
    int point_count;
};

// ---- creation ----

static orr_result create_optimizers(orr_nerf_cpu_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    const orr_optimizer_config *config = &orr_field_describe(t->desc.field)->config.optimizer;
    const int64_t counts[] = {[NETWORK] = parts->network.parameter_count,
                              [RGB_NETWORK] = parts->rgb_network.parameter_count,
                              [TABLE] = parts->encoding.parameter_count};
    for (int i = NETWORK; i <= TABLE; i++) {
        ORR_TRY(orr_optimizer_create(config, counts[i], i == TABLE, &t->optimizers[i], error));
    }
    return t->train->exposures ? orr_optimizer_create(&t->desc.exposure_optimizer, 3 * t->train->image_count,
                                                      false, &t->optimizers[EXPOSURES], error)
                               : ORR_OK;
}

static orr_result create_gradients(orr_nerf_cpu_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    size_t table = (size_t)parts->encoding.parameter_count;
    int images = t->train->exposures ? t->train->image_count : 0;
    t->network_gradient = orr_alloc_zero((size_t)parts->network.parameter_count, sizeof(float));
    t->rgb_gradient = orr_alloc_zero((size_t)parts->rgb_network.parameter_count, sizeof(float));
    t->table_gradient = orr_alloc_zero(table, sizeof(float));
    t->touched = orr_alloc_zero((size_t)orr_touched_words((int64_t)table), sizeof *t->touched);
    t->exposure_gradient = orr_alloc_zero((size_t)images, 3 * sizeof(float));
    t->cells = orr_alloc(2 * UPDATE_SAMPLES, sizeof *t->cells);
    t->points = orr_alloc(2 * UPDATE_SAMPLES, sizeof *t->points);
    t->densities = orr_alloc(2 * UPDATE_SAMPLES, sizeof *t->densities);
    t->workers = orr_alloc_zero((size_t)orr_jobs_workers(t->jobs), sizeof *t->workers);
    if (!t->network_gradient || !t->rgb_gradient || !t->table_gradient || !t->touched ||
        !t->exposure_gradient || !t->cells || !t->points || !t->densities || !t->workers) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the gradients of a radiance field");
    }
    for (int i = 0; i < orr_jobs_workers(t->jobs); i++) {
        ORR_TRY(orr_nerf_worker_create(t->desc.field, &t->workers[i], error));
    }
    // twice what a group gets on average, and one bundle more
    int blocks = 2 * t->train->target_samples / ORR_NERF_GROUPS / ORR_SAMPLES + BUNDLE_SAMPLES / ORR_SAMPLES;
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        ORR_TRY(orr_nerf_group_create(t->desc.field, blocks, images, &t->groups[i], error));
    }
    return ORR_OK;
}

void orr_nerf_cpu_trainer_set_weights(orr_nerf_cpu_trainer *t)
{
    orr_mlp_weights_set(t->network_weights, t->parts->network_parameters);
    orr_mlp_weights_set(t->rgb_weights, t->parts->rgb_network_parameters);
}

static orr_result create_all(orr_nerf_cpu_trainer *t, orr_error *error)
{
    const orr_field_desc *field = orr_field_describe(t->desc.field);
    ORR_TRY(create_gradients(t, error));
    ORR_TRY(create_optimizers(t, error));
    ORR_TRY(
        orr_mlp_weights_create(&t->parts->network, field->isa, field->machine, &t->network_weights, error));
    ORR_TRY(
        orr_mlp_weights_create(&t->parts->rgb_network, field->isa, field->machine, &t->rgb_weights, error));
    orr_nerf_cpu_trainer_set_weights(t);
    if (t->parts->proposal) {
        ORR_TRY(orr_proposal_trainer_create(t->parts->proposal, field, t->jobs, ORR_NERF_GROUPS,
                                            PROPOSAL_RAYS, &t->proposal, error));
    }
    t->model = orr_nerf_model_of(t->desc.field, t->desc.grid);
    t->model.table = t->parts->table;
    t->model.network = t->network_weights;
    t->model.rgb_network = t->rgb_weights;
    return ORR_OK;
}

orr_result orr_nerf_cpu_trainer_create(const orr_nerf_cpu_trainer_desc *desc, orr_nerf_cpu_trainer **trainer,
                                       orr_error *error)
{
    *trainer = NULL;
    orr_nerf_cpu_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a trainer");
    }
    t->desc = *desc;
    t->train = desc->train;
    t->jobs = desc->train->jobs;
    t->parts = orr_field_parts_of(desc->field);
    orr_result result = create_all(t, error);
    if (result != ORR_OK) {
        orr_nerf_cpu_trainer_destroy(t);
        return result;
    }
    *trainer = t;
    return ORR_OK;
}

void orr_nerf_cpu_trainer_destroy(orr_nerf_cpu_trainer *t)
{
    if (!t) {
        return;
    }
    for (int i = 0; t->workers && i < orr_jobs_workers(t->jobs); i++) {
        orr_nerf_worker_destroy(&t->workers[i]);
    }
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        orr_nerf_group_destroy(&t->groups[i]);
    }
    for (int i = 0; i < ORR_NERF_OPTIMIZERS; i++) {
        orr_optimizer_destroy(t->optimizers[i]);
    }
    orr_proposal_trainer_destroy(t->proposal);
    orr_mlp_weights_destroy(t->network_weights);
    orr_mlp_weights_destroy(t->rgb_weights);
    void *all[] = {t->network_gradient, t->rgb_gradient,
                   t->table_gradient,   t->exposure_gradient,
                   t->touched,          t->cells,
                   t->points,           t->densities,
                   t->workers,          t};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        orr_free(all[i]);
    }
}

// ---- what others see ----

void orr_nerf_cpu_trainer_average(const orr_nerf_cpu_trainer *t, float *network, float *rgb_network,
                                  float *table)
{
    orr_optimizer_average(t->optimizers[NETWORK], t->jobs, t->parts->network_parameters, network);
    orr_optimizer_average(t->optimizers[RGB_NETWORK], t->jobs, t->parts->rgb_network_parameters, rgb_network);
    orr_optimizer_average(t->optimizers[TABLE], t->jobs, t->parts->table, table);
}

orr_optimizer *orr_nerf_cpu_trainer_optimizer(const orr_nerf_cpu_trainer *t, int optimizer)
{
    return t->optimizers[optimizer];
}

orr_proposal_trainer *orr_nerf_cpu_trainer_proposal(const orr_nerf_cpu_trainer *t)
{
    return t->proposal;
}

// ---- a step: the occupancy grid ----

static void begin_stage(orr_nerf_cpu_trainer *t)
{
    t->stage_start = orr_clock_nanoseconds();
}

static void end_stage(orr_nerf_cpu_trainer *t, const char *name, int64_t items)
{
    uint64_t now = orr_clock_nanoseconds();
    orr_profile_add(t->desc.profile, name, (double)(now - t->stage_start) * 1e-6, items);
    t->stage_start = now;
}

static void find_densities(void *context, int job, int worker)
{
    orr_nerf_cpu_trainer *t = context;
    orr_nerf_bundle *scratch = t->workers[worker].bundle;
    float scale = t->model.space.per_aabb_scale;
    int end = (job + 1) * DENSITY_BLOCKS * ORR_SAMPLES;
    end = end < t->point_count ? end : t->point_count;
    for (int first = job * DENSITY_BLOCKS * ORR_SAMPLES; first < end; first += ORR_SAMPLES) {
        int count = end - first < ORR_SAMPLES ? end - first : ORR_SAMPLES;
        float positions[3 * ORR_SAMPLES], steps[ORR_SAMPLES] = {0}, density[ORR_SAMPLES], alpha[ORR_SAMPLES];
        for (int i = 0; i < ORR_SAMPLES; i++) {
            const float centre[3] = {0.5f, 0.5f, 0.5f}, *point = i < count ? t->points[first + i] : centre;
            real3 p = march_encoding_position(make_real3(point[0], point[1], point[2]), scale);
            positions[i] = p.x;
            positions[ORR_SAMPLES + i] = p.y;
            positions[2 * ORR_SAMPLES + i] = p.z;
        }
        t->parts->kernels->forward(&t->parts->encoding, t->parts->table, positions, scratch->features);
        orr_mlp_forward(t->network_weights, scratch->features, scratch->outputs, NULL);
        t->model.kernels->densities(scratch->outputs, steps, density, alpha);
        memcpy(t->densities + first, density, (size_t)count * sizeof *density);
    }
}

// Half of the samples are in any cell that may be occupied, half in those that are.
static void update_occupancy(orr_nerf_cpu_trainer *t)
{
    uint32_t update = (uint32_t)t->desc.progress->updates++, seed = t->train->seed;
    int count = orr_occupancy_pick(t->desc.grid, false, seed, update, UPDATE_SAMPLES, t->cells, t->points);
    count += orr_occupancy_pick(t->desc.grid, true, seed, update, UPDATE_SAMPLES, t->cells + count,
                                t->points + count);
    t->point_count = count;
    orr_jobs_for(t->jobs, orr_blocks(count, DENSITY_BLOCKS * ORR_SAMPLES), find_densities, t);
    orr_occupancy_update(t->desc.grid, t->jobs, t->cells, t->densities, count);
    end_stage(t, "occupancy", count);
}

typedef struct group_task {
    orr_nerf_cpu_trainer *trainer;
    orr_nerf_batch batch;
} group_task;

static void run_group(void *context, int i, int worker)
{
    group_task *task = context;
    orr_nerf_group_run(&task->batch, i, &task->trainer->workers[worker], worker, &task->trainer->groups[i]);
}

static void book_workers(orr_nerf_cpu_trainer *t, int64_t evaluated, int64_t samples)
{
    static const char *const names[ORR_NERF_STAGE_COUNT] = {"march", "encode", "MLP"};
    int workers = orr_jobs_workers(t->jobs);
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
        orr_profile_add(t->desc.profile, names[k], sums[k] * 1e-6 / workers, evaluated);
    }
    orr_profile_add(t->desc.profile, "MLP backward", sums[ORR_NERF_STAGE_COUNT] * 1e-6 / workers, samples);
    t->stage_start = orr_clock_nanoseconds();
}

static void run_groups(orr_nerf_cpu_trainer *t, orr_nerf_step_report *report)
{
    group_task task = {
        .trainer = t,
        .batch = {.model = &t->model,
                  .capture = t->train->capture,
                  .images = t->train->images,
                  .image_count = t->train->image_count,
                  .cameras = t->desc.cameras,
                  .exposures = t->train->exposures ? t->desc.exposures : NULL,
                  .loss = orr_field_describe(t->desc.field)->config.loss,
                  .proposal = orr_proposal_due(t->desc.progress->step) ? t->proposal : NULL,
                  .seed = t->train->seed,
                  .step = t->desc.progress->step,
                  .ray_count = t->desc.progress->ray_count,
                  .bundle_rays = t->desc.progress->bundle_rays,
                  .thin_gradient = t->proposal ? 0.0f : ray_loss_thin_gradient(t->desc.grid->mean)}};
    orr_jobs_for(t->jobs, ORR_NERF_GROUPS, run_group, &task);
    *report = (orr_nerf_step_report){.rays = t->desc.progress->ray_count};
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        report->loss += t->groups[i].loss;
        report->evaluated += t->groups[i].evaluated;
        report->samples += t->groups[i].samples;
    }
    report->loss /= 3.0 * t->desc.progress->ray_count;
    book_workers(t, report->evaluated, report->samples);
}

typedef struct sum_task {
    const orr_nerf_cpu_trainer *trainer;
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

static void sum_groups(orr_nerf_cpu_trainer *t, size_t member, float *sum, int64_t count)
{
    sum_task task = {.trainer = t, .member = member, .sum = sum, .count = count};
    orr_jobs_for(t->jobs, orr_blocks(count, SUM_FLOATS), sum_floats, &task);
}

static void scatter_level(void *context, int i, int worker)
{
    (void)worker;
    orr_nerf_cpu_trainer *t = context;
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

// fast_scatter: one group's blocks into all levels, beside other threads that do the same; some of what two
// add at once to one entry is lost.
static void scatter_group(void *context, int i, int worker)
{
    (void)worker;
    orr_nerf_cpu_trainer *t = context;
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

static void step_optimizers(orr_nerf_cpu_trainer *t)
{
    orr_jobs *jobs = t->jobs;
    const orr_field_parts *parts = t->parts;
    sum_groups(t, offsetof(orr_nerf_group, network_gradient), t->network_gradient,
               parts->network.parameter_count);
    sum_groups(t, offsetof(orr_nerf_group, rgb_gradient), t->rgb_gradient,
               parts->rgb_network.parameter_count);
    orr_optimizer_step(t->optimizers[NETWORK], jobs, parts->network_parameters, t->network_gradient, NULL);
    orr_optimizer_step(t->optimizers[RGB_NETWORK], jobs, parts->rgb_network_parameters, t->rgb_gradient,
                       NULL);
    orr_optimizer_step(t->optimizers[TABLE], jobs, parts->table, t->table_gradient, t->touched);
    if (t->train->exposures) {
        sum_groups(t, offsetof(orr_nerf_group, exposure_gradient), t->exposure_gradient,
                   3 * t->train->image_count);
        orr_optimizer_step(t->optimizers[EXPOSURES], jobs, t->desc.exposures, t->exposure_gradient, NULL);
    }
    orr_nerf_cpu_trainer_set_weights(t);
}

static void adapt_rays(orr_nerf_cpu_trainer *t, const orr_nerf_step_report *report)
{
    orr_nerf_training_progress *p = t->desc.progress;
    p->adapt_rays += report->rays;
    p->adapt_evaluated += report->evaluated;
    p->adapt_samples += report->samples;
    if (!orr_nerf_adapts(p->step)) {
        return;
    }
    p->ray_count = orr_nerf_rays_towards(t->train->target_samples, p);
    double evaluated = p->adapt_evaluated > 0 ? (double)p->adapt_evaluated : 1.0;
    double bundle = BUNDLE_SAMPLES * (double)p->adapt_rays / evaluated;
    p->bundle_rays = (int32_t)fmin(fmax(bundle, ORR_NERF_BUNDLE_RAYS_MIN), ORR_NERF_RAYS);
    p->adapt_rays = p->adapt_evaluated = p->adapt_samples = 0;
}

void orr_nerf_cpu_trainer_step(orr_nerf_cpu_trainer *t, double coarseness, orr_nerf_step_report *report)
{
    begin_stage(t);
    t->model.space.stepping = orr_nerf_stepping(t->model.aabb_scale, coarseness);
    if (t->proposal) {
        t->model.proposal = orr_proposal_trainer_model(t->proposal, t->model.kernels, t->desc.progress->step);
    } else if (orr_occupancy_due(t->desc.progress->step)) {
        update_occupancy(t);
    }
    run_groups(t, report);
    if (t->train->fast_scatter) {
        orr_jobs_for(t->jobs, ORR_NERF_GROUPS, scatter_group, t);
    } else {
        orr_jobs_for(t->jobs, t->parts->encoding.level_count, scatter_level, t);
    }
    end_stage(t, "scatter", report->samples);
    step_optimizers(t);
    end_stage(t, "optimiser", t->parts->encoding.parameter_count);
    if (t->proposal && orr_proposal_due(t->desc.progress->step)) {
        orr_proposal_trainer_step(t->proposal);
        end_stage(t, "proposals", report->rays);
    }
    report->step = ++t->desc.progress->step;
    adapt_rays(t, report);
}
