#include "neural/training/nerf_trainer_state.h"

#include "engine/core/memory.h"
#include "neural/training/nerf_cull.h"

#include <string.h>

enum {
    TARGET_SAMPLES = 1 << 15,
    TARGET_SAMPLES_DEVICE = 1 << 18,
    PROPOSAL_RAYS = 32, // of a group, at most, that teach the proposals
    STATE_VERSION = 1
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
        orr_optimizer_config slow = slow_optimizer();
        ORR_TRY(orr_optimizer_create(&slow, 3 * t->desc.image_count, false, &t->exposure_optimizer, error));
    }
    return ORR_OK;
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

static orr_result create_gradients(orr_nerf_trainer *t, orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    size_t table = (size_t)parts->encoding.parameter_count;
    int images = t->desc.exposures ? t->desc.image_count : 0;
    t->network_gradient = orr_alloc_zero((size_t)parts->network.parameter_count, sizeof(float));
    t->rgb_gradient = orr_alloc_zero((size_t)parts->rgb_network.parameter_count, sizeof(float));
    t->table_gradient = orr_alloc_zero(table, sizeof(float));
    t->touched = orr_alloc_zero((size_t)orr_touched_words((int64_t)table), sizeof *t->touched);
    t->exposure_gradient = orr_alloc_zero((size_t)(3 * images), sizeof(float));
    t->cells = orr_alloc(2 * ORR_NERF_UPDATE_SAMPLES, sizeof *t->cells);
    t->places = orr_alloc(2 * ORR_NERF_UPDATE_SAMPLES, sizeof *t->places);
    t->densities = orr_alloc(2 * ORR_NERF_UPDATE_SAMPLES, sizeof *t->densities);
    t->workers = orr_alloc_zero((size_t)orr_jobs_workers(t->desc.jobs), sizeof *t->workers);
    if (!t->network_gradient || !t->rgb_gradient || !t->table_gradient || !t->touched ||
        !t->exposure_gradient || !t->cells || !t->places || !t->densities || !t->workers) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the gradients of a radiance field");
    }
    for (int i = 0; i < orr_jobs_workers(t->desc.jobs); i++) {
        ORR_TRY(orr_nerf_worker_create(t->field, &t->workers[i], error));
    }
    // twice what a group gets on average, and room for one bundle more
    int blocks =
        2 * t->desc.target_samples / ORR_NERF_GROUPS / ORR_SAMPLES + ORR_NERF_BUNDLE_SAMPLES / ORR_SAMPLES;
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        ORR_TRY(orr_nerf_group_create(t->field, blocks, images, &t->groups[i], error));
    }
    return ORR_OK;
}

void orr_nerf_trainer_set_weights(orr_nerf_trainer *t)
{
    orr_mlp_weights_set(t->network_weights, t->parts->network_parameters);
    orr_mlp_weights_set(t->rgb_weights, t->parts->rgb_network_parameters);
}

// What the CPU takes steps with.
static orr_result create_machine(orr_nerf_trainer *t, orr_error *error)
{
    const orr_field_desc *field = orr_field_describe(t->field);
    ORR_TRY(create_gradients(t, error));
    ORR_TRY(create_optimizers(t, error));
    ORR_TRY(
        orr_mlp_weights_create(&t->parts->network, field->isa, field->machine, &t->network_weights, error));
    ORR_TRY(
        orr_mlp_weights_create(&t->parts->rgb_network, field->isa, field->machine, &t->rgb_weights, error));
    orr_nerf_trainer_set_weights(t);
    if (t->parts->proposal) {
        ORR_TRY(orr_proposal_trainer_create(t->parts->proposal, field, t->desc.jobs, ORR_NERF_GROUPS,
                                            PROPOSAL_RAYS, &t->proposal, error));
    }
    t->model = orr_nerf_model_of(t->field, &t->occupancy);
    t->model.table = t->parts->table;
    t->model.network = t->network_weights;
    t->model.rgb_network = t->rgb_weights;
    return ORR_OK;
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
    return t->desc.cuda ? create_device(t, error) : create_machine(t, error);
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
    for (int i = 0; t->workers && i < orr_jobs_workers(t->desc.jobs); i++) {
        orr_nerf_worker_destroy(&t->workers[i]);
    }
    for (int i = 0; i < ORR_NERF_GROUPS; i++) {
        orr_nerf_group_destroy(&t->groups[i]);
    }
    orr_cuda_nerf_trainer_destroy(t->device);
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

// ---- steps ----

static orr_result step_device(orr_nerf_trainer *t, orr_nerf_step_report *report, orr_error *error)
{
    orr_cuda_nerf_step_report found;
    orr_nerf_trainer_begin_stage(t);
    ORR_TRY(orr_cuda_nerf_trainer_step(t->device, orr_nerf_trainer_coarseness(t), &found, error));
    *report = (orr_nerf_step_report){.step = ++t->progress.step,
                                     .loss = found.loss / (3.0 * (double)found.rays),
                                     .rays = found.rays,
                                     .evaluated = found.evaluated,
                                     .samples = found.samples};
    orr_nerf_trainer_end_stage(t, "device", found.evaluated);
    return ORR_OK;
}

orr_result orr_nerf_trainer_step(orr_nerf_trainer *t, orr_nerf_step_report *report, orr_error *error)
{
    if (t->device) {
        return step_device(t, report, error);
    }
    orr_nerf_trainer_step_cpu(t, report);
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

orr_result orr_nerf_trainer_refresh(orr_nerf_trainer *t, orr_error *error)
{
    orr_jobs *jobs = t->desc.jobs;
    if (t->device) {
        ORR_TRY(read_device(t, error));
    } else {
        orr_optimizer_average(t->network_optimizer, jobs, t->parts->network_parameters, t->network_average);
        orr_optimizer_average(t->rgb_optimizer, jobs, t->parts->rgb_network_parameters, t->rgb_average);
        orr_optimizer_average(t->table_optimizer, jobs, t->parts->table, t->table_average);
    }
    orr_field_refresh(t->field, t->network_average, t->rgb_average, t->table_average);
    if (t->proposal) {
        orr_proposal_trainer_refresh(t->proposal);
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

enum { OPTIMIZERS = ORR_CUDA_NERF_OPTIMIZERS, PIECES = 5 };

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

static orr_optimizer *optimizer_of(const orr_nerf_trainer *t, int i)
{
    orr_optimizer *const optimizers[OPTIMIZERS] = {t->network_optimizer, t->rgb_optimizer, t->table_optimizer,
                                                   t->exposure_optimizer};
    return optimizers[i];
}

static size_t optimizer_size(const orr_nerf_trainer *t, int i)
{
    if (t->device) {
        return orr_cuda_nerf_trainer_optimizer_size(t->device, i);
    }
    return optimizer_of(t, i) ? orr_optimizer_state_size(optimizer_of(t, i)) : 0;
}

static orr_result save_optimizer(const orr_nerf_trainer *t, int i, void *to, orr_error *error)
{
    if (t->device) {
        return orr_cuda_nerf_trainer_optimizer_save(t->device, i, to, error);
    }
    orr_optimizer_state_save(optimizer_of(t, i), to);
    return ORR_OK;
}

static orr_result load_optimizer(orr_nerf_trainer *t, int i, const void *from, size_t size, orr_error *error)
{
    return t->device ? orr_cuda_nerf_trainer_optimizer_load(t->device, i, from, size, error)
                     : orr_optimizer_state_load(optimizer_of(t, i), from, size, error);
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
    for (int i = 0; i < OPTIMIZERS; i++) {
        size += optimizer_size(t, i);
    }
    return size + (t->proposal ? orr_proposal_trainer_state_size(t->proposal) : 0);
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
    for (int i = 0; i < OPTIMIZERS; i++) {
        size_t size = optimizer_size(t, i);
        if (size > 0) {
            ORR_TRY(save_optimizer(t, i, to, error));
        }
        to += size;
    }
    if (t->proposal) {
        orr_proposal_trainer_state_save(t->proposal, to);
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
    for (int i = 0; i < OPTIMIZERS; i++) {
        size_t bytes = optimizer_size(t, i);
        if (bytes > 0) {
            ORR_TRY(load_optimizer(t, i, from, bytes, error));
        }
        from += bytes;
    }
    if (t->proposal) {
        ORR_TRY(orr_proposal_trainer_state_load(t->proposal, from, error));
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
    orr_nerf_trainer_set_weights(t);
    return ORR_OK;
}
