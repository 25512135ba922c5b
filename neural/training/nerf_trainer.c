#include "neural/training/nerf_trainer.h"

#include "engine/core/memory.h"
#include "neural/cuda/nerf_trainer.h"
#include "neural/training/nerf_cpu_trainer.h"
#include "neural/training/nerf_cull.h"
#include "neural/training/proposal_trainer.h"

#include <math.h>

#include <string.h>

enum { TARGET_SAMPLES = 1 << 15, TARGET_SAMPLES_DEVICE = 1 << 18, STATE_VERSION = 1 };

_Static_assert((int)ORR_NERF_OPTIMIZERS == (int)ORR_CUDA_NERF_OPTIMIZERS, "states have them in one order");

struct orr_nerf_trainer {
    orr_nerf_trainer_desc desc;
    orr_field *field;
    const orr_field_parts *parts;
    orr_ray_camera *cameras;                              // one per image
    orr_occupancy occupancy;                              // with a device: as of the last refresh
    float *network_average, *rgb_average, *table_average; // of the last refresh
    float *exposures;                                     // 3 per image
    orr_nerf_training_progress progress;
    orr_profile profile;
    // where steps are taken: one of the two
    orr_nerf_cpu_trainer *cpu;
    orr_cuda_nerf_trainer *device;
};

orr_result orr_nerf_training_config(orr_field_config *config, orr_error *error)
{
    ORR_TRY(orr_field_config_base(ORR_FIELD_NERF, config, error));
    config->optimizer.decay_start = 2000;
    config->optimizer.decay_interval = 1000;
    config->optimizer.decay_base = 0.85;
    return ORR_OK;
}

// ---- creation ----

// of the gains
static orr_optimizer_config slow_optimizer(void)
{
    return (orr_optimizer_config){.learning_rate = 1e-3,
                                  .beta1 = 0.9,
                                  .beta2 = 0.99,
                                  .epsilon = 1e-8,
                                  .l2_reg = 1e-4,
                                  .decay_base = 1.0};
}

// What a trainer has wherever its steps are taken.
static orr_result create_copies(orr_nerf_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    int images = t->desc.image_count;
    ORR_ALLOC(t->network_average, parts->network.parameter_count, "a radiance field", error);
    ORR_ALLOC(t->rgb_average, parts->rgb_network.parameter_count, "a radiance field", error);
    ORR_ALLOC(t->table_average, parts->encoding.parameter_count, "a radiance field", error);
    ORR_ALLOC(t->cameras, images, "cameras", error);
    t->exposures = orr_alloc_zero(t->desc.exposures ? 3 * (size_t)images : 0, sizeof(float));
    if (!t->exposures) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the exposures of photos");
    }
    for (int i = 0; i < images; i++) {
        t->cameras[i] =
            orr_ray_camera_of_image(&t->desc.capture->images[t->desc.images[i]], t->desc.capture->to_unit);
    }
    if (t->parts->proposal) {
        return ORR_OK;
    }
    ORR_TRY(orr_occupancy_create(orr_field_describe(t->field)->aabb_scale, &t->occupancy, error));
    return orr_nerf_cull_unseen(&t->occupancy, t->desc.jobs, t->desc.capture, t->desc.images, images,
                                t->cameras, error);
}

static orr_result create_cpu(orr_nerf_trainer *t, orr_error *error)
{
    const orr_nerf_cpu_trainer_desc desc = {.train = &t->desc,
                                            .field = t->field,
                                            .cameras = t->cameras,
                                            .grid = &t->occupancy,
                                            .exposures = t->exposures,
                                            .exposure_optimizer = slow_optimizer(),
                                            .progress = &t->progress,
                                            .profile = &t->profile};
    return orr_nerf_cpu_trainer_create(&desc, &t->cpu, error);
}

static orr_result create_device(orr_nerf_trainer *t, orr_error *error)
{
    if (t->parts->proposal) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "CUDA: fields that are sampled by proposals are not trained there");
    }
    const orr_cuda_nerf_trainer_desc desc = {.field = t->field,
                                             .capture = t->desc.capture,
                                             .images = t->desc.images,
                                             .image_count = t->desc.image_count,
                                             .cameras = t->cameras,
                                             .grid = &t->occupancy,
                                             .exposures = t->desc.exposures,
                                             .exposure_optimizer = slow_optimizer(),
                                             .target_samples = t->desc.target_samples,
                                             .seed = t->desc.seed};
    return orr_cuda_nerf_trainer_create(t->desc.cuda, &desc, &t->device, error);
}

static orr_result build(orr_nerf_trainer *t, orr_error *error)
{
    t->progress.ray_count = ORR_NERF_RAYS_FIRST;
    t->progress.bundle_rays = ORR_NERF_BUNDLE_RAYS_MIN;
    ORR_TRY(create_copies(t, error));
    return t->desc.cuda ? create_device(t, error) : create_cpu(t, error);
}

orr_result orr_nerf_trainer_create(orr_field *field, const orr_nerf_trainer_desc *desc,
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
    if (t->desc.target_samples <= 0) {
        t->desc.target_samples = desc->cuda ? TARGET_SAMPLES_DEVICE : TARGET_SAMPLES;
    }
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
    orr_nerf_cpu_trainer_destroy(t->cpu);
    orr_cuda_nerf_trainer_destroy(t->device);
    orr_occupancy_destroy(&t->occupancy);
    void *all[] = {t->network_average, t->rgb_average, t->table_average, t->exposures, t->cameras, t};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        orr_free(all[i]);
    }
}

// ---- steps ----

// In scenes of the unit cube the first steps march in strides four times as long, for a field that is still
// fog: four times the rays for the same number of samples. Halved every 1000 steps, so that the finest are
// reached after 2000. Measured after 30 s of CPU time: lego 28.1 dB against 26.0; fox, whose strides grow
// with distance anyway, loses 2.4.
static double coarseness_of(const orr_nerf_trainer *t)
{
    const double first = 4.0, half_life = 1000.0;
    double coarseness = first * exp2(-(double)t->progress.step / half_life);
    return orr_field_describe(t->field)->aabb_scale > 1 ? 1.0 : fmax(coarseness, 1.0);
}

static orr_result step_device(orr_nerf_trainer *t, orr_nerf_step_report *report, orr_error *error)
{
    orr_cuda_nerf_step_report found;
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(orr_cuda_nerf_trainer_step(t->device, coarseness_of(t), &found, error));
    *report = (orr_nerf_step_report){.step = ++t->progress.step,
                                     .loss = found.loss / (3.0 * (double)found.rays),
                                     .rays = found.rays,
                                     .evaluated = found.evaluated,
                                     .samples = found.samples};
    orr_profile_add(&t->profile, "device", (double)(orr_clock_nanoseconds() - start) * 1e-6, found.evaluated);
    return ORR_OK;
}

orr_result orr_nerf_trainer_step(orr_nerf_trainer *t, orr_nerf_step_report *report, orr_error *error)
{
    if (t->device) {
        return step_device(t, report, error);
    }
    orr_nerf_cpu_trainer_step(t->cpu, coarseness_of(t), report);
    return ORR_OK;
}

// ---- what others see ----

// Averages and grid as they are now.
static orr_result read_device(orr_nerf_trainer *t, orr_error *error)
{
    const orr_cuda_nerf_copy to = {.network_average = t->network_average,
                                   .rgb_average = t->rgb_average,
                                   .table_average = t->table_average,
                                   .thickness = t->occupancy.thickness,
                                   .exposures = t->desc.exposures ? t->exposures : NULL};
    ORR_TRY(orr_cuda_nerf_trainer_read(t->device, &to, error));
    orr_occupancy_refresh(&t->occupancy, t->desc.jobs);
    return ORR_OK;
}

static orr_proposal_trainer *proposal_of(const orr_nerf_trainer *t) // NULL: none
{
    return t->cpu ? orr_nerf_cpu_trainer_proposal(t->cpu) : NULL;
}

orr_result orr_nerf_trainer_refresh(orr_nerf_trainer *t, orr_error *error)
{
    if (t->device) {
        ORR_TRY(read_device(t, error));
    } else {
        orr_nerf_cpu_trainer_average(t->cpu, t->network_average, t->rgb_average, t->table_average);
    }
    orr_field_refresh(t->field, t->network_average, t->rgb_average, t->table_average);
    if (proposal_of(t)) {
        orr_proposal_trainer_refresh(proposal_of(t));
    }
    return ORR_OK;
}

int64_t orr_nerf_trainer_steps(const orr_nerf_trainer *t)
{
    return t->progress.step;
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

enum { PIECES = 5 };

typedef struct state_piece {
    void *memory;
    size_t size;
} state_piece;

// What is not an optimiser's.
static int state_pieces(const orr_nerf_trainer *t, state_piece pieces[PIECES])
{
    const orr_field_parts *parts = t->parts;
    int count = 0;
    pieces[count++] =
        (state_piece){parts->network_parameters, (size_t)parts->network.parameter_count * sizeof(float)};
    pieces[count++] = (state_piece){parts->rgb_network_parameters,
                                    (size_t)parts->rgb_network.parameter_count * sizeof(float)};
    pieces[count++] = (state_piece){parts->table, (size_t)parts->encoding.parameter_count * sizeof(float)};
    if (!parts->proposal) {
        pieces[count++] = (state_piece){t->occupancy.thickness, (size_t)t->occupancy.cells * sizeof(float)};
    }
    if (t->desc.exposures) {
        pieces[count++] = (state_piece){t->exposures, 3 * (size_t)t->desc.image_count * sizeof(float)};
    }
    return count;
}

static size_t optimizer_size(const orr_nerf_trainer *t, int i)
{
    if (t->device) {
        return orr_cuda_nerf_trainer_optimizer_size(t->device, i);
    }
    const orr_optimizer *optimizer = orr_nerf_cpu_trainer_optimizer(t->cpu, i);
    return optimizer ? orr_optimizer_state_size(optimizer) : 0;
}

static orr_result save_optimizer(const orr_nerf_trainer *t, int i, void *to, orr_error *error)
{
    if (t->device) {
        return orr_cuda_nerf_trainer_optimizer_save(t->device, i, to, error);
    }
    orr_optimizer_state_save(orr_nerf_cpu_trainer_optimizer(t->cpu, i), to);
    return ORR_OK;
}

static orr_result load_optimizer(orr_nerf_trainer *t, int i, const void *from, size_t size, orr_error *error)
{
    return t->device ? orr_cuda_nerf_trainer_optimizer_load(t->device, i, from, size, error)
                     : orr_optimizer_state_load(orr_nerf_cpu_trainer_optimizer(t->cpu, i), from, size, error);
}

// What the device has of the pieces.
static orr_cuda_nerf_copy copy_of(orr_nerf_trainer *t)
{
    return (orr_cuda_nerf_copy){.network = t->parts->network_parameters,
                                .rgb_network = t->parts->rgb_network_parameters,
                                .table = t->parts->table,
                                .thickness = t->occupancy.thickness,
                                .exposures = t->desc.exposures ? t->exposures : NULL,
                                .progress = &t->progress};
}

size_t orr_nerf_trainer_state_size(const orr_nerf_trainer *t)
{
    state_piece pieces[PIECES];
    size_t size = sizeof(state_head);
    for (int i = 0, count = state_pieces(t, pieces); i < count; i++) {
        size += pieces[i].size;
    }
    for (int i = 0; i < ORR_NERF_OPTIMIZERS; i++) {
        size += optimizer_size(t, i);
    }
    return size + (proposal_of(t) ? orr_proposal_trainer_state_size(proposal_of(t)) : 0);
}

orr_result orr_nerf_trainer_state_save(orr_nerf_trainer *t, void *state, orr_error *error)
{
    if (t->device) {
        const orr_cuda_nerf_copy to = copy_of(t);
        ORR_TRY(orr_cuda_nerf_trainer_read(t->device, &to, error));
    }
    const orr_nerf_training_progress *p = &t->progress;
    state_head head = {.version = STATE_VERSION,
                       .seed = t->desc.seed,
                       .size = (int64_t)orr_nerf_trainer_state_size(t),
                       .step = p->step,
                       .updates = p->updates,
                       .adapt_rays = p->adapt_rays,
                       .adapt_evaluated = p->adapt_evaluated,
                       .adapt_samples = p->adapt_samples,
                       .ray_count = p->ray_count,
                       .bundle_rays = p->bundle_rays};
    state_piece pieces[PIECES];
    char *to = state;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    for (int i = 0, count = state_pieces(t, pieces); i < count; i++) {
        memcpy(to, pieces[i].memory, pieces[i].size);
        to += pieces[i].size;
    }
    for (int i = 0; i < ORR_NERF_OPTIMIZERS; i++) {
        size_t size = optimizer_size(t, i);
        if (size > 0) {
            ORR_TRY(save_optimizer(t, i, to, error));
        }
        to += size;
    }
    if (proposal_of(t)) {
        orr_proposal_trainer_state_save(proposal_of(t), to);
    }
    return ORR_OK;
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
        head.step < 0 || head.ray_count < ORR_NERF_GROUPS || head.ray_count > ORR_NERF_RAYS_MAX ||
        head.bundle_rays < 1 || head.bundle_rays > ORR_NERF_RAYS) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "training state: expected version %d of a run with seed %u", STATE_VERSION,
                        t->desc.seed);
    }
    state_piece pieces[PIECES];
    const char *from = (const char *)state + sizeof head;
    for (int i = 0, count = state_pieces(t, pieces); i < count; i++) {
        memcpy(pieces[i].memory, from, pieces[i].size);
        from += pieces[i].size;
    }
    for (int i = 0; i < ORR_NERF_OPTIMIZERS; i++) {
        size_t bytes = optimizer_size(t, i);
        if (bytes > 0) {
            ORR_TRY(load_optimizer(t, i, from, bytes, error));
        }
        from += bytes;
    }
    if (proposal_of(t)) {
        ORR_TRY(orr_proposal_trainer_state_load(proposal_of(t), from, error));
    }
    t->progress = (orr_nerf_training_progress){.step = head.step,
                                               .updates = head.updates,
                                               .adapt_rays = head.adapt_rays,
                                               .adapt_evaluated = head.adapt_evaluated,
                                               .adapt_samples = head.adapt_samples,
                                               .ray_count = head.ray_count,
                                               .bundle_rays = head.bundle_rays};
    if (!t->parts->proposal) {
        orr_occupancy_refresh(&t->occupancy, t->desc.jobs);
    }
    if (t->device) {
        const orr_cuda_nerf_copy copy = copy_of(t);
        return orr_cuda_nerf_trainer_write(t->device, &copy, error);
    }
    orr_nerf_cpu_trainer_set_weights(t->cpu);
    return ORR_OK;
}
