// Photos, networks, optimisers and memory for samples on the device.
#define ORR_SCALAR
#include "neural/cuda/nerf_trainer_state.h"

#include <string.h>

enum {
    // Capacities: samples marched per sample that is kept, and samples kept per sample of the target; rays
    // beyond are left out.
    MARCHED_PER_TARGET = 8,
    KEPT_PER_TARGET = 2,
    RAY_BLOCKS = 8 // thread blocks that a multiprocessor has for rays
};

static orr_result take(orr_cuda_nerf_trainer *t, size_t count, size_t size, void *to, orr_error *error)
{
    void *memory;
    assert(t->memory_count < ORR_CUDA_NERF_MEMORY);
    ORR_TRY(orr_cuda_alloc(t->cuda, count, size, &memory, error));
    t->memory[t->memory_count++] = memory;
    memcpy(to, &memory, sizeof memory);
    return ORR_OK;
}

#define TRY_TAKE(pointer, count) ORR_TRY(take(t, (size_t)(count), sizeof *(pointer), &(pointer), error))

// ---- photos ----

static size_t photo_pixels(const orr_capture_image *image)
{
    return (size_t)image->width * (size_t)image->height;
}

static orr_result upload_photos(orr_cuda_nerf_trainer *t, const orr_cuda_nerf_trainer_desc *desc,
                                orr_cuda_nerf_photo *photos, orr_error *error)
{
    size_t bytes = 0;
    for (int i = 0; i < desc->image_count; i++) {
        const orr_capture_image *image = &desc->capture->images[desc->images[i]];
        size_t pixels = photo_pixels(image);
        photos[i] = (orr_cuda_nerf_photo){
            .camera = desc->cameras[i], .pixels = (int64_t)bytes, .channels = image->channels, .mask = -1};
        bytes += pixels * (size_t)image->channels;
        if (image->mask) {
            photos[i].mask = (int64_t)bytes;
            bytes += pixels;
        }
    }
    TRY_TAKE(t->pass.photos, desc->image_count);
    TRY_TAKE(t->pass.bytes, bytes);
    uint8_t *to = (uint8_t *)t->pass.bytes;
    for (int i = 0; i < desc->image_count; i++) {
        const orr_capture_image *image = &desc->capture->images[desc->images[i]];
        size_t pixels = photo_pixels(image);
        ORR_TRY(orr_cuda_upload(t->cuda, to + photos[i].pixels, image->pixels,
                                pixels * (size_t)image->channels, error));
        if (image->mask) {
            ORR_TRY(orr_cuda_upload(t->cuda, to + photos[i].mask, image->mask, pixels, error));
        }
    }
    return orr_cuda_upload(t->cuda, (void *)t->pass.photos, photos,
                           (size_t)desc->image_count * sizeof *photos, error);
}

static orr_result create_photos(orr_cuda_nerf_trainer *t, const orr_cuda_nerf_trainer_desc *desc,
                                orr_error *error)
{
    orr_cuda_nerf_photo *photos;
    ORR_ALLOC(photos, desc->image_count, "photos", error);
    orr_result result = upload_photos(t, desc, photos, error);
    orr_free(photos);
    return result;
}

// ---- memory ----

static orr_result create_samples(orr_cuda_nerf_trainer *t, orr_error *error)
{
    orr_cuda_nerf_pass *p = &t->pass;
    size_t marched = p->marched_capacity, kept = p->kept_capacity;
    TRY_TAKE(p->rays, ORR_NERF_RAYS_MAX);
    TRY_TAKE(p->marched_counts, ORR_NERF_RAYS_MAX);
    TRY_TAKE(p->marched_first, ORR_NERF_RAYS_MAX);
    TRY_TAKE(p->kept_counts, ORR_NERF_RAYS_MAX);
    TRY_TAKE(p->kept_first, ORR_NERF_RAYS_MAX);
    TRY_TAKE(p->positions, 3 * marched);
    TRY_TAKE(p->distances, marched);
    TRY_TAKE(p->steps, marched);
    TRY_TAKE(p->outputs, ORR_NERF_FEATURES * marched);
    TRY_TAKE(p->kept_positions, 3 * kept);
    TRY_TAKE(p->rgb_inputs, ORR_CUDA_NERF_RGB_DIMS * kept);
    TRY_TAKE(p->samples, kept);
    TRY_TAKE(p->rgb_outputs, 3 * kept);
    TRY_TAKE(p->rgb_gradient, 3 * kept);
    TRY_TAKE(p->density_gradient, kept);
    TRY_TAKE(p->rgb_input_gradient, ORR_CUDA_NERF_RGB_DIMS * kept);
    TRY_TAKE(p->output_gradient, ORR_NERF_FEATURES * kept);
    return ORR_OK;
}

static orr_result create_grid(orr_cuda_nerf_trainer *t, const orr_occupancy *grid, orr_error *error)
{
    orr_cuda_nerf_grid *g = &t->pass.grid;
    size_t cells = (size_t)grid->cells, words = cells / 32;
    size_t positions = 2 * (size_t)t->pass.update_samples;
    g->cascades = grid->cascades;
    t->cells = grid->cells;
    TRY_TAKE(g->thickness, cells);
    TRY_TAKE(g->bits, words);
    TRY_TAKE(g->live, words);
    TRY_TAKE(g->blocks, cells / ORR_OCCUPANCY_BLOCK / 32);
    TRY_TAKE(g->live_words, words);
    TRY_TAKE(g->sampled_words, words);
    TRY_TAKE(g->live_before, words);
    TRY_TAKE(g->sampled_before, words);
    TRY_TAKE(g->sums, ORR_CUDA_GRID_SUMS);
    TRY_TAKE(g->cells, positions);
    TRY_TAKE(g->positions, 3 * positions);
    size_t most = words > ORR_NERF_RAYS_MAX ? words : ORR_NERF_RAYS_MAX;
    return orr_cuda_sort_reserve(t->cuda, &t->sums, most, error);
}

static orr_result create_now(orr_cuda_nerf_trainer *t, orr_error *error)
{
    orr_cuda_nerf_now now = {.progress = {.ray_count = ORR_NERF_RAYS_FIRST},
                             .words = (uint32_t)(t->cells / 32)};
    TRY_TAKE(t->pass.now, 1);
    return orr_cuda_upload(t->cuda, t->pass.now, &now, sizeof now, error);
}

// ---- networks and optimisers ----

// The colour network's inputs: the outputs of the other as they are, then the direction's encoding.
static orr_result create_rgb_model(orr_cuda_nerf_trainer *t, orr_error *error)
{
    const orr_encoding *direction = &t->parts->dir_encoding;
    orr_encoding parts[1 + ORR_NESTED_MAX] = {{.config = {.kind = ORR_ENCODING_IDENTITY, .scale = 1.0f},
                                               .input_dims = ORR_NERF_FEATURES,
                                               .output_dims = ORR_NERF_FEATURES}};
    int count = 1, leaves = direction->part_count > 0 ? direction->part_count : 1;
    for (int i = 0; i < leaves; i++) {
        parts[count++] = direction->part_count > 0 ? direction->parts[i] : *direction;
    }
    const orr_encoding both = {.config = {.kind = ORR_ENCODING_COMPOSITE},
                               .input_dims = ORR_CUDA_NERF_RGB_DIMS,
                               .output_dims = ORR_NERF_FEATURES + direction->output_dims,
                               .parts = parts,
                               .part_count = count};
    return orr_cuda_model_create(t->cuda, &both, &t->parts->rgb_network, &t->rgb_network, error);
}

static orr_result create_learned(orr_cuda_nerf_trainer *t, int which, const orr_optimizer_config *config,
                                 int64_t count, const orr_cuda_optimizer_now *now, void *halves,
                                 orr_error *error)
{
    orr_cuda_learned *learned = &t->learned[which];
    TRY_TAKE(learned->parameters, count);
    TRY_TAKE(learned->gradients, count);
    learned->halves = halves;
    if (count > 0) {
        ORR_CUDA_TRY(cudaMemsetAsync(learned->gradients, 0, (size_t)count * sizeof(float), t->cuda->stream));
    }
    ORR_TRY(orr_cuda_optimizer_create(t->cuda, config, count, which == ORR_CUDA_TABLE, &learned->optimizer,
                                      error));
    learned->optimizer.now = now;
    return ORR_OK;
}

static orr_result create_exposures(orr_cuda_nerf_trainer *t, int count, orr_error *error)
{
    uint16_t *halves; // never read
    TRY_TAKE(halves, count);
    ORR_TRY(create_learned(t, ORR_CUDA_EXPOSURES, &t->exposure_config, count, &t->pass.now->exposures, halves,
                           error));
    orr_cuda_learned *learned = &t->learned[ORR_CUDA_EXPOSURES];
    t->pass.exposures = learned->parameters;
    t->pass.exposure_gradient = learned->gradients;
    ORR_CUDA_TRY(cudaMemsetAsync(learned->parameters, 0, (size_t)count * sizeof(float), t->cuda->stream));
    return ORR_OK;
}

static orr_result create_networks(orr_cuda_nerf_trainer *t, const orr_cuda_nerf_trainer_desc *desc,
                                  orr_error *error)
{
    const orr_field_parts *parts = t->parts;
    ORR_TRY(orr_cuda_model_create(t->cuda, &parts->encoding, &parts->network, &t->network, error));
    ORR_TRY(create_rgb_model(t, error));
    const orr_cuda_optimizer_now *now = &t->pass.now->weights;
    ORR_TRY(create_learned(t, ORR_CUDA_NETWORK, &t->config, parts->network.parameter_count, now,
                           t->network.weights, error));
    ORR_TRY(create_learned(t, ORR_CUDA_RGB_NETWORK, &t->config, parts->rgb_network.parameter_count, now,
                           t->rgb_network.weights, error));
    ORR_TRY(create_learned(t, ORR_CUDA_TABLE, &t->config, parts->encoding.parameter_count, now,
                           t->network.table, error));
    return desc->exposures ? create_exposures(t, 3 * desc->image_count, error) : ORR_OK;
}

// The inference of a network, for the number of samples in `live`.
static orr_cuda_pass values_of(orr_cuda_nerf_trainer *t, const orr_cuda_model *model, const float *positions,
                               int64_t count, const uint32_t *live, float *output, int *blocks)
{
    *blocks = orr_cuda_pass_blocks(count, t->cuda->info.processors * ORR_CUDA_INFERENCE_BLOCKS);
    return (orr_cuda_pass){.shape = model->shape,
                           .weights = model->weights,
                           .table = model->table,
                           .count = count,
                           .live = live,
                           .positions = positions,
                           .output = output};
}

static orr_result gradients_of(orr_cuda_model *model, const float *positions, int64_t count,
                               const uint32_t *live, const float *output_gradient, orr_cuda_pass *pass,
                               int *blocks, orr_error *error)
{
    ORR_TRY(orr_cuda_model_pass(model, count, pass, error));
    *blocks = orr_cuda_model_blocks(model, count);
    pass->live = live;
    pass->positions = positions;
    pass->output_gradient = output_gradient;
    return ORR_OK;
}

static orr_result create_passes(orr_cuda_nerf_trainer *t, orr_error *error)
{
    const orr_cuda_nerf_pass *p = &t->pass;
    orr_cuda_nerf_now *now = p->now;
    t->position_densities = values_of(t, &t->network, p->grid.positions, 2 * (int64_t)p->update_samples,
                                      &now->position_count, p->outputs, &t->position_blocks);
    t->densities = values_of(t, &t->network, p->positions, p->marched_capacity, &now->marched, p->outputs,
                             &t->density_blocks);
    t->colours = values_of(t, &t->rgb_network, p->rgb_inputs, p->kept_capacity, &now->kept, p->rgb_outputs,
                           &t->colour_blocks);
    ORR_TRY(gradients_of(&t->rgb_network, p->rgb_inputs, p->kept_capacity, &now->kept, p->rgb_gradient,
                         &t->rgb_backward, &t->rgb_backward_blocks, error));
    t->rgb_backward.input_gradient = p->rgb_input_gradient;
    ORR_TRY(gradients_of(&t->network, p->kept_positions, p->kept_capacity, &now->kept, p->output_gradient,
                         &t->backward, &t->backward_blocks, error));
    t->backward.table_gradient = t->learned[ORR_CUDA_TABLE].gradients;
    t->ray_blocks = t->cuda->info.processors * RAY_BLOCKS;
    return ORR_OK;
}

// ---- all of it ----

static orr_result capture(orr_cuda_nerf_trainer *t, orr_result (*put)(orr_cuda_nerf_trainer *, orr_error *),
                          cudaGraphExec_t *executable, orr_error *error)
{
    cudaGraph_t graph = NULL;
    // relaxed: kernels that have not run yet are loaded here, and the driver may need memory for that
    ORR_CUDA_TRY(cudaStreamBeginCapture(t->cuda->stream, cudaStreamCaptureModeRelaxed));
    orr_result result = put(t, error);
    cudaError_t code = cudaStreamEndCapture(t->cuda->stream, &graph);
    if (result == ORR_OK && code != cudaSuccess) {
        result = orr_cuda_fail(error, code, "cudaStreamEndCapture");
    }
    if (result == ORR_OK) {
        code = cudaGraphInstantiate(executable, graph, 0);
        result = code == cudaSuccess ? ORR_OK : orr_cuda_fail(error, code, "cudaGraphInstantiate");
    }
    if (graph) {
        cudaGraphDestroy(graph);
    }
    cudaGetLastError();
    return result;
}

static orr_result create_reports(orr_cuda_nerf_trainer *t, orr_error *error)
{
    ORR_CUDA_TRY(cudaMallocHost((void **)&t->reports, ORR_CUDA_NERF_AHEAD * sizeof *t->reports));
    for (int i = 0; i < ORR_CUDA_NERF_AHEAD; i++) {
        ORR_CUDA_TRY(cudaEventCreateWithFlags(&t->done[i], cudaEventDisableTiming));
    }
    return ORR_OK;
}

static orr_result create(orr_cuda_nerf_trainer *t, const orr_cuda_nerf_trainer_desc *desc, orr_error *error)
{
    ORR_TRY(orr_cuda_use(t->cuda, error));
    ORR_TRY(create_photos(t, desc, error));
    ORR_TRY(create_samples(t, error));
    ORR_TRY(create_grid(t, desc->grid, error));
    ORR_TRY(create_now(t, error));
    ORR_TRY(create_networks(t, desc, error));
    ORR_TRY(create_passes(t, error));
    ORR_TRY(create_reports(t, error));
    const orr_cuda_nerf_copy start = {.network = t->parts->network_parameters,
                                      .rgb_network = t->parts->rgb_network_parameters,
                                      .table = t->parts->table,
                                      .thickness = desc->grid->thickness};
    ORR_TRY(orr_cuda_nerf_trainer_write(t, &start, error));
    ORR_TRY(capture(t, orr_cuda_nerf_trainer_put_step, &t->step, error));
    return capture(t, orr_cuda_nerf_trainer_put_update, &t->update, error);
}

orr_result orr_cuda_nerf_trainer_create(orr_cuda *cuda, const orr_cuda_nerf_trainer_desc *desc,
                                        orr_cuda_nerf_trainer **training, orr_error *error)
{
    *training = NULL;
    orr_cuda_nerf_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: training on CUDA");
    }
    const orr_field_desc *field = orr_field_describe(desc->field);
    int target = desc->target_samples;
    uint32_t whole = (uint32_t)orr_blocks(target, ORR_SAMPLES) * ORR_SAMPLES;
    t->cuda = cuda;
    t->parts = orr_field_parts_of(desc->field);
    t->config = field->config.optimizer;
    t->exposure_config = desc->exposure_optimizer;
    t->aabb_scale = field->aabb_scale;
    t->pass = (orr_cuda_nerf_pass){.image_count = desc->image_count,
                                   .aabb_scale = field->aabb_scale,
                                   .target_samples = target,
                                   .update_samples = (int)whole,
                                   .seed = desc->seed,
                                   .loss = field->config.loss,
                                   .marched_capacity = MARCHED_PER_TARGET * whole,
                                   .kept_capacity = KEPT_PER_TARGET * whole};
    orr_result result = create(t, desc, error);
    if (result != ORR_OK) {
        orr_cuda_nerf_trainer_destroy(t);
        return result;
    }
    *training = t;
    return ORR_OK;
}

void orr_cuda_nerf_trainer_destroy(orr_cuda_nerf_trainer *t)
{
    if (!t) {
        return;
    }
    orr_cuda_use(t->cuda, NULL);
    orr_cuda_wait(t->cuda, NULL);
    if (t->step) {
        cudaGraphExecDestroy(t->step);
    }
    if (t->update) {
        cudaGraphExecDestroy(t->update);
    }
    for (int i = 0; i < ORR_CUDA_NERF_AHEAD; i++) {
        if (t->done[i]) {
            cudaEventDestroy(t->done[i]);
        }
    }
    cudaFreeHost(t->reports);
    for (int i = 0; i < ORR_CUDA_NERF_OPTIMIZERS; i++) {
        orr_cuda_optimizer_destroy(&t->learned[i].optimizer);
    }
    orr_cuda_model_destroy(&t->network);
    orr_cuda_model_destroy(&t->rgb_network);
    orr_cuda_sort_release(&t->sums);
    orr_cuda_release(&t->average);
    for (int i = 0; i < t->memory_count; i++) {
        orr_cuda_free(t->memory[i]);
    }
    orr_free(t);
}
