// A step of training a radiance field on the CPU (nerf_trainer.h says how its sums keep their order).
#define ORR_SCALAR
#include "neural/training/nerf_trainer_state.h"

#include "neural/nerf/ray_loss_formula.h"

#include <math.h>
#include <string.h>

enum {
    DENSITY_BLOCKS = 16, // one job's
    SUM_FLOATS = 1024    // one job's
};

void orr_nerf_trainer_begin_stage(orr_nerf_trainer *t)
{
    t->stage_start = orr_clock_nanoseconds();
}

void orr_nerf_trainer_end_stage(orr_nerf_trainer *t, const char *name, int64_t items)
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
        for (int i = 0; i < ORR_SAMPLES; i++) {
            const float centre[3] = {0.5f, 0.5f, 0.5f}, *point = i < count ? t->places[first + i] : centre;
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

// Half of the samples look at all cells that may hold something, half at those that do.
static void update_occupancy(orr_nerf_trainer *t)
{
    uint32_t update = (uint32_t)t->progress.updates++, seed = t->desc.seed;
    int count =
        orr_occupancy_pick(&t->occupancy, false, seed, update, ORR_NERF_UPDATE_SAMPLES, t->cells, t->places);
    count += orr_occupancy_pick(&t->occupancy, true, seed, update, ORR_NERF_UPDATE_SAMPLES, t->cells + count,
                                t->places + count);
    t->place_count = count;
    orr_jobs_for(t->desc.jobs, orr_blocks(count, DENSITY_BLOCKS * ORR_SAMPLES), find_densities, t);
    orr_occupancy_update(&t->occupancy, t->desc.jobs, t->cells, t->densities, count);
    orr_nerf_trainer_end_stage(t, "occupancy", count);
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

static void run_groups(orr_nerf_trainer *t, orr_nerf_step_report *report)
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
                  .proposal = orr_proposal_due(t->progress.step) ? t->proposal : NULL,
                  .seed = t->desc.seed,
                  .step = t->progress.step,
                  .ray_count = t->progress.ray_count,
                  .bundle_rays = t->progress.bundle_rays,
                  .thin_gradient = t->proposal ? 0.0f : ray_loss_thin_gradient(t->occupancy.mean)}};
    orr_jobs_for(t->desc.jobs, ORR_NERF_GROUPS, run_group, &task);
    *report = (orr_nerf_step_report){.rays = t->progress.ray_count};
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        report->loss += t->groups[i].loss;
        report->evaluated += t->groups[i].evaluated;
        report->samples += t->groups[i].samples;
    }
    report->loss /= 3.0 * t->progress.ray_count;
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
    orr_nerf_trainer_set_weights(t);
}

static void adapt_rays(orr_nerf_trainer *t, const orr_nerf_step_report *report)
{
    orr_nerf_training_progress *p = &t->progress;
    p->adapt_rays += report->rays;
    p->adapt_evaluated += report->evaluated;
    p->adapt_samples += report->samples;
    if (!orr_nerf_adapts(p->step)) {
        return;
    }
    p->ray_count = orr_nerf_rays_towards(t->desc.target_samples, p);
    double evaluated = p->adapt_evaluated > 0 ? (double)p->adapt_evaluated : 1.0;
    double bundle = ORR_NERF_BUNDLE_SAMPLES * (double)p->adapt_rays / evaluated;
    p->bundle_rays = (int32_t)fmin(fmax(bundle, ORR_NERF_BUNDLE_RAYS_MIN), ORR_NERF_RAYS);
    p->adapt_rays = p->adapt_evaluated = p->adapt_samples = 0;
}

// In scenes of the unit cube the first steps march in strides four times as long, for a field that is still fog: four
// times the rays for the same number of samples. Halved every 1000 steps, so that the finest are reached after 2000.
// Measured after 30 s of CPU time: lego 28.1 dB against 26.0; fox, whose strides grow with distance anyway, loses 2.4.
double orr_nerf_trainer_coarseness(const orr_nerf_trainer *t)
{
    const double first = 4.0, half_life = 1000.0;
    double coarseness = first * exp2(-(double)t->progress.step / half_life);
    return orr_field_describe(t->field)->aabb_scale > 1 ? 1.0 : fmax(coarseness, 1.0);
}

void orr_nerf_trainer_step_cpu(orr_nerf_trainer *t, orr_nerf_step_report *report)
{
    orr_nerf_trainer_begin_stage(t);
    t->model.space.stepping = orr_nerf_stepping(t->model.aabb_scale, orr_nerf_trainer_coarseness(t));
    if (t->proposal) {
        t->model.proposal = orr_proposal_trainer_model(t->proposal, t->model.kernels, t->progress.step);
    } else if (orr_occupancy_due(t->progress.step)) {
        update_occupancy(t);
    }
    run_groups(t, report);
    if (t->desc.fast_scatter) {
        orr_jobs_for(t->desc.jobs, ORR_NERF_GROUPS, scatter_group, t);
    } else {
        orr_jobs_for(t->desc.jobs, t->parts->encoding.level_count, scatter_level, t);
    }
    orr_nerf_trainer_end_stage(t, "scatter", report->samples);
    step_optimizers(t);
    orr_nerf_trainer_end_stage(t, "optimiser", t->parts->encoding.parameter_count);
    if (t->proposal && orr_proposal_due(t->progress.step)) {
        orr_proposal_trainer_step(t->proposal);
        orr_nerf_trainer_end_stage(t, "proposals", report->rays);
    }
    report->step = ++t->progress.step;
    adapt_rays(t, report);
}
