// A step of training a radiance field on the device, and what passes between it and the host.
#define ORR_SCALAR
#include "neural/cuda/nerf_trainer_state.h"

#include "neural/nerf/march.h"
#include "neural/network/optimizer.h"

// ---- what a step is ----

static orr_result sum_rays(orr_cuda_nerf_trainer *t, const uint32_t *counts, uint32_t *first, uint32_t *total,
                           orr_error *error)
{
    return orr_cuda_running_sum(t->cuda, &t->sums, counts, first, total, &t->pass.now->ray_count,
                                ORR_NERF_RAYS_MAX, error);
}

// Rays, and their samples as far as these show.
static orr_result put_samples(orr_cuda_nerf_trainer *t, orr_error *error)
{
    const orr_cuda_nerf_pass *p = &t->pass;
    cudaStream_t stream = t->cuda->stream;
    orr_cuda_nerf_draw_launch(stream, p, t->ray_blocks);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(sum_rays(t, p->marched_counts, p->marched_first, &p->now->marched_total, error));
    orr_cuda_nerf_march_launch(stream, p, t->ray_blocks);
    ORR_CUDA_LAUNCHED();
    ORR_CUDA_TRY(orr_cuda_model_infer(stream, &t->densities, t->density_blocks));
    orr_cuda_nerf_weigh_launch(stream, p, t->ray_blocks);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(sum_rays(t, p->kept_counts, p->kept_first, &p->now->kept_total, error));
    orr_cuda_nerf_keep_launch(stream, p, t->ray_blocks);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

// Colours, the loss, and gradients of all that is learnt.
static orr_result put_gradients(orr_cuda_nerf_trainer *t, orr_error *error)
{
    const orr_cuda_nerf_pass *p = &t->pass;
    cudaStream_t stream = t->cuda->stream;
    ORR_CUDA_TRY(orr_cuda_model_infer(stream, &t->colours, t->colour_blocks));
    const orr_cuda_learned *exposures = &t->learned[ORR_CUDA_EXPOSURES];
    if (exposures->gradients) {
        ORR_CUDA_TRY(cudaMemsetAsync(exposures->gradients, 0,
                                     (size_t)exposures->optimizer.parameter_count * sizeof(float), stream));
    }
    orr_cuda_nerf_compare_launch(stream, p, t->ray_blocks);
    ORR_CUDA_LAUNCHED();
    ORR_CUDA_TRY(orr_cuda_model_train(stream, &t->rgb_backward, t->rgb_backward_blocks));
    orr_cuda_nerf_join_launch(stream, p, t->ray_blocks);
    ORR_CUDA_LAUNCHED();
    ORR_CUDA_TRY(orr_cuda_model_train(stream, &t->backward, t->backward_blocks));
    orr_cuda_sum_rows_launch(stream, t->backward.weight_sums, t->backward_blocks,
                             t->backward.shape.network_parameters, t->learned[ORR_CUDA_NETWORK].gradients);
    ORR_CUDA_LAUNCHED();
    orr_cuda_sum_rows_launch(stream, t->rgb_backward.weight_sums, t->rgb_backward_blocks,
                             t->rgb_backward.shape.network_parameters,
                             t->learned[ORR_CUDA_RGB_NETWORK].gradients);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

orr_result orr_cuda_nerf_trainer_put_step(orr_cuda_nerf_trainer *t, orr_error *error)
{
    ORR_TRY(put_samples(t, error));
    ORR_TRY(put_gradients(t, error));
    for (int i = 0; i < ORR_CUDA_NERF_OPTIMIZERS; i++) {
        orr_cuda_learned *l = &t->learned[i];
        if (l->parameters) {
            ORR_TRY(
                orr_cuda_optimizer_step(&l->optimizer, l->parameters, l->halves, l->gradients, 1.0f, error));
        }
    }
    orr_cuda_nerf_end_launch(t->cuda->stream, &t->pass);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

// ---- the occupancy grid ----

orr_result orr_cuda_nerf_trainer_mark_grid(orr_cuda_nerf_trainer *t, orr_error *error)
{
    const orr_cuda_nerf_grid *g = &t->pass.grid;
    orr_cuda_nerf_now *now = t->pass.now;
    size_t words = (size_t)t->cells / 32;
    orr_cuda_grid_sum_launch(t->cuda->stream, &t->pass);
    ORR_CUDA_LAUNCHED();
    for (int cascade = 0; cascade < g->cascades; cascade++) {
        orr_cuda_grid_mark_launch(t->cuda->stream, &t->pass, cascade);
        ORR_CUDA_LAUNCHED();
    }
    ORR_TRY(orr_cuda_running_sum(t->cuda, &t->sums, g->live_words, g->live_before, &now->live_count,
                                 &now->words, words, error));
    return orr_cuda_running_sum(t->cuda, &t->sums, g->sampled_words, g->sampled_before, &now->sampled_count,
                                &now->words, words, error);
}

orr_result orr_cuda_nerf_trainer_put_update(orr_cuda_nerf_trainer *t, orr_error *error)
{
    cudaStream_t stream = t->cuda->stream;
    orr_cuda_grid_draw_launch(stream, &t->pass);
    ORR_CUDA_LAUNCHED();
    ORR_CUDA_TRY(orr_cuda_model_infer(stream, &t->position_densities, t->position_blocks));
    orr_cuda_grid_decay_launch(stream, &t->pass);
    ORR_CUDA_LAUNCHED();
    orr_cuda_grid_raise_launch(stream, &t->pass);
    ORR_CUDA_LAUNCHED();
    return orr_cuda_nerf_trainer_mark_grid(t, error);
}

// ---- steps ----

static orr_result begin_step(orr_cuda_nerf_trainer *t, double coarseness, orr_error *error)
{
    bool due = orr_occupancy_due(t->step_number);
    t->updates += due;
    const orr_cuda_nerf_begin begin = {.step = t->step_number,
                                       .updates = t->updates,
                                       .stepping = orr_nerf_stepping(t->aabb_scale, coarseness),
                                       .learning_rate = (float)orr_learning_rate(&t->config, t->step_number),
                                       .exposure_rate =
                                           (float)orr_learning_rate(&t->exposure_config, t->step_number)};
    orr_cuda_nerf_begin_launch(t->cuda->stream, &t->pass, &begin);
    ORR_CUDA_LAUNCHED();
    if (due) {
        orr_cuda_range_begin("occupancy");
        cudaError_t code = cudaGraphLaunch(t->update, t->cuda->stream);
        orr_cuda_range_end();
        ORR_CUDA_TRY(code);
    }
    return ORR_OK;
}

orr_result orr_cuda_nerf_trainer_step(orr_cuda_nerf_trainer *t, double coarseness,
                                      orr_cuda_nerf_step_report *report, orr_error *error)
{
    cudaStream_t stream = t->cuda->stream;
    ORR_TRY(orr_cuda_use(t->cuda, error));
    ORR_TRY(begin_step(t, coarseness, error));
    orr_cuda_range_begin("radiance field");
    cudaError_t code = cudaGraphLaunch(t->step, stream);
    orr_cuda_range_end();
    ORR_CUDA_TRY(code);
    for (int i = 0; i < ORR_CUDA_NERF_OPTIMIZERS; i++) {
        t->learned[i].optimizer.steps += t->learned[i].optimizer.cuda != NULL;
    }
    t->step_number++;
    int slot = (int)(t->steps_begun++ % ORR_CUDA_NERF_AHEAD);
    ORR_CUDA_TRY(
        cudaMemcpyAsync(&t->reports[slot], t->pass.now, sizeof *t->reports, cudaMemcpyDeviceToHost, stream));
    ORR_CUDA_TRY(cudaEventRecord(t->done[slot], stream));
    int64_t done = t->steps_begun > ORR_CUDA_NERF_AHEAD ? t->steps_begun - ORR_CUDA_NERF_AHEAD : 0;
    slot = (int)(done % ORR_CUDA_NERF_AHEAD);
    ORR_CUDA_TRY(cudaEventSynchronize(t->done[slot]));
    const orr_cuda_nerf_now *now = &t->reports[slot];
    *report = (orr_cuda_nerf_step_report){
        .loss = now->loss, .rays = now->ray_count, .evaluated = now->marched, .samples = now->kept};
    return ORR_OK;
}

// ---- between host and device ----

static orr_result read_learned(orr_cuda_nerf_trainer *t, int which, float *to, float *average,
                               orr_error *error)
{
    const orr_cuda_learned *l = &t->learned[which];
    size_t bytes = (size_t)l->optimizer.parameter_count * sizeof(float);
    if (to && bytes > 0) {
        ORR_TRY(orr_cuda_download(t->cuda, to, l->parameters, bytes, error));
    }
    if (average && bytes > 0) {
        ORR_TRY(orr_cuda_reserve(t->cuda, &t->average, bytes, 1, error));
        ORR_TRY(orr_cuda_optimizer_average(&l->optimizer, l->parameters, t->average.memory, error));
        ORR_TRY(orr_cuda_download(t->cuda, average, t->average.memory, bytes, error));
    }
    return ORR_OK;
}

orr_result orr_cuda_nerf_trainer_read(orr_cuda_nerf_trainer *t, const orr_cuda_nerf_copy *to,
                                      orr_error *error)
{
    ORR_TRY(orr_cuda_use(t->cuda, error));
    ORR_TRY(read_learned(t, ORR_CUDA_NETWORK, to->network, to->network_average, error));
    ORR_TRY(read_learned(t, ORR_CUDA_RGB_NETWORK, to->rgb_network, to->rgb_average, error));
    ORR_TRY(read_learned(t, ORR_CUDA_TABLE, to->table, to->table_average, error));
    ORR_TRY(read_learned(t, ORR_CUDA_EXPOSURES, to->exposures, NULL, error));
    if (to->thickness) {
        ORR_TRY(orr_cuda_download(t->cuda, to->thickness, t->pass.grid.thickness,
                                  (size_t)t->cells * sizeof(float), error));
    }
    if (to->progress) {
        orr_cuda_nerf_now now;
        int32_t bundle_rays = to->progress->bundle_rays;
        ORR_TRY(orr_cuda_download(t->cuda, &now, t->pass.now, sizeof now, error));
        *to->progress = now.progress;
        to->progress->bundle_rays = bundle_rays;
    }
    return ORR_OK;
}

static orr_result write_learned(orr_cuda_nerf_trainer *t, int which, const float *from, orr_error *error)
{
    const orr_cuda_learned *l = &t->learned[which];
    size_t bytes = (size_t)l->optimizer.parameter_count * sizeof(float);
    if (!from || bytes == 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_cuda_upload(t->cuda, l->parameters, from, bytes, error));
    orr_cuda_halves_launch(t->cuda->stream, l->parameters, l->optimizer.parameter_count, l->halves);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

orr_result orr_cuda_nerf_trainer_write(orr_cuda_nerf_trainer *t, const orr_cuda_nerf_copy *from,
                                       orr_error *error)
{
    ORR_TRY(orr_cuda_use(t->cuda, error));
    ORR_TRY(write_learned(t, ORR_CUDA_NETWORK, from->network, error));
    ORR_TRY(write_learned(t, ORR_CUDA_RGB_NETWORK, from->rgb_network, error));
    ORR_TRY(write_learned(t, ORR_CUDA_TABLE, from->table, error));
    ORR_TRY(write_learned(t, ORR_CUDA_EXPOSURES, from->exposures, error));
    if (from->thickness) {
        ORR_TRY(orr_cuda_upload(t->cuda, t->pass.grid.thickness, from->thickness,
                                (size_t)t->cells * sizeof(float), error));
        ORR_TRY(orr_cuda_nerf_trainer_mark_grid(t, error));
    }
    if (from->progress) {
        ORR_TRY(
            orr_cuda_upload(t->cuda, &t->pass.now->progress, from->progress, sizeof *from->progress, error));
        t->step_number = from->progress->step;
        t->updates = from->progress->updates;
        t->steps_begun = 0;
    }
    return orr_cuda_wait(t->cuda, error);
}

size_t orr_cuda_nerf_trainer_optimizer_size(const orr_cuda_nerf_trainer *t, int optimizer)
{
    const orr_cuda_optimizer *o = &t->learned[optimizer].optimizer;
    return o->cuda ? orr_cuda_optimizer_state_size(o) : 0;
}

orr_result orr_cuda_nerf_trainer_optimizer_save(const orr_cuda_nerf_trainer *t, int optimizer, void *state,
                                                orr_error *error)
{
    ORR_TRY(orr_cuda_use(t->cuda, error));
    return orr_cuda_optimizer_state_save(&t->learned[optimizer].optimizer, state, error);
}

orr_result orr_cuda_nerf_trainer_optimizer_load(orr_cuda_nerf_trainer *t, int optimizer, const void *state,
                                                size_t size, orr_error *error)
{
    ORR_TRY(orr_cuda_use(t->cuda, error));
    return orr_cuda_optimizer_state_load(&t->learned[optimizer].optimizer, state, size, error);
}
