// A training on the device: opening and closing it, and how a step is put into its stream.
#include "render/training/cuda/splat_steps_state.h"

#include <string.h>

// Of the device's memory, what photos may take; those that it does not hold are sent in every step.
static const double PHOTOS_SHARE = 0.4;

// ---- opening and closing ----

void orr_cuda_splat_steps_destroy(orr_cuda_splat_steps *s)
{
    if (!s) {
        return;
    }
    orr_cuda_wait(s->cuda, NULL);
    for (int i = 0; s->photos && i <= s->image_count; i++) {
        orr_cuda_photo_release(&s->photos[i]);
    }
    orr_free(s->photos);
    for (int k = 0; k < 3; k++) {
        orr_cuda_release(&s->stored[k]);
        orr_cuda_release(&s->harmonics[k]);
        orr_cuda_release(&s->slopes[k]);
    }
    orr_cuda_buffer *buffers[] = {
        &s->geometry,    &s->statistic[0],   &s->statistic[1],  &s->picture,         &s->gradient,
        &s->by_alpha,    &s->loss_sums,      &s->alpha_sums,    &s->first,           &s->counts,
        &s->rows,        &s->motion_sums,    &s->origin,        &s->fresh,           &s->spare,
        &s->depth_pixel, &s->depth_expected, &s->depth_sums,    &s->by_depth,        &s->grids,
        &s->weights,     &s->grid_cells,     &s->grid_gradient, &s->grid_variations, &s->centred,
        &s->centre_sums};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        orr_cuda_release(buffers[i]);
    }
    for (int i = 0; i < ORR_CUDA_STEP_MARKS; i++) {
        if (s->marks[i]) {
            cudaEventDestroy(s->marks[i]);
        }
    }
    s->frame.clouds = NULL; // not its own
    orr_cuda_frame_close(&s->frame);
    orr_cuda_stages_close(&s->stages);
    orr_cuda_free(s->totals);
    cudaFreeHost(s->landed);
    orr_free(s);
}

static orr_result open(orr_cuda_splat_steps *s, orr_error *error)
{
    void *totals;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_ALLOC(s->photos, s->image_count + 1, "photos on the device", error);
    memset(s->photos, 0, (size_t)(s->image_count + 1) * sizeof *s->photos);
    ORR_TRY(orr_cuda_stages_open(s->cuda, &s->stages, error));
    ORR_TRY(orr_cuda_frame_open(&s->frame, error));
    ORR_TRY(orr_cuda_alloc(s->cuda, 1, sizeof *s->totals, &totals, error));
    s->totals = totals;
    ORR_CUDA_TRY(cudaMallocHost((void **)&s->landed, sizeof *s->landed));
    for (int i = 0; i < ORR_CUDA_STEP_MARKS; i++) {
        ORR_CUDA_TRY(cudaEventCreateWithFlags(&s->marks[i], cudaEventDefault));
    }
    s->photo_bytes_most = (size_t)(PHOTOS_SHARE * (double)orr_cuda_describe(s->cuda)->memory);
    return ORR_OK;
}

orr_result orr_cuda_splat_steps_create(orr_cuda *cuda, int images, orr_cuda_splat_steps **steps,
                                       orr_error *error)
{
    *steps = NULL;
    orr_cuda_splat_steps *s = orr_alloc_zero(1, sizeof *s);
    if (!s) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: training on a device");
    }
    s->cuda = cuda;
    s->image_count = images;
    orr_result result = open(s, error);
    if (result != ORR_OK) {
        orr_cuda_splat_steps_destroy(s);
        return result;
    }
    *steps = s;
    return ORR_OK;
}

// ---- a step ----

orr_result orr_cuda_splat_steps_planes(orr_cuda_splat_steps *s, const orr_loss_planes *like,
                                       orr_cuda_buffer *buffer, orr_loss_planes *planes, orr_error *error)
{
    ORR_TRY(orr_cuda_reserve(s->cuda, buffer, 3 * (size_t)like->height * (size_t)like->stride, sizeof(float),
                             error));
    *planes = *like;
    planes->values = buffer->memory;
    return ORR_OK;
}

static orr_result plan_compare(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step,
                               const orr_cuda_photo *photo, orr_cuda_compare *c, orr_error *error)
{
    static const float identity[ORR_EXPOSURE] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const size_t pixels = (size_t)step->lens->width * (size_t)step->lens->height;
    *c = (orr_cuda_compare){.width = step->lens->width,
                            .height = step->lens->height,
                            .rgba = s->frame.rgba.memory,
                            .photo = photo->planes,
                            .kept = photo->has_kept ? photo->kept.memory : NULL,
                            .photo_alpha = photo->has_alpha ? photo->alpha.memory : NULL,
                            .alpha_weight = step->alpha_weight,
                            .dissimilarity = step->dissimilarity};
    memcpy(c->background, step->background, sizeof c->background);
    memcpy(c->exposure, step->exposure ? step->exposure : identity, sizeof c->exposure);
    ORR_TRY(orr_cuda_splat_steps_planes(s, &photo->planes, &s->picture, &c->picture, error));
    ORR_TRY(orr_cuda_splat_steps_planes(s, &photo->planes, &s->gradient, &c->gradient, error));
    for (int k = 0; k < 3; k++) {
        ORR_TRY(orr_cuda_splat_steps_planes(s, &photo->planes, &s->slopes[k], &c->slopes[k], error));
    }
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->loss_sums, (size_t)orr_cuda_compare_blocks(c),
                             ORR_CUDA_LOSS_SUMS * sizeof(float), error));
    c->loss_sums = s->loss_sums.memory;
    if (step->grid_steps > 0) {
        c->grid = ((const orr_photo_grid *)s->grids.memory)[step->image].value;
    }
    if (step->exposure || c->grid || photo->has_alpha || step->depths) {
        ORR_TRY(orr_cuda_reserve(s->cuda, &s->by_alpha, pixels, sizeof(float), error));
        ORR_TRY(orr_cuda_reserve(s->cuda, &s->alpha_sums, (size_t)orr_cuda_compare_compose_blocks(c),
                                 ORR_COMPOSE_SUMS * sizeof(float), error));
        c->by_alpha = s->by_alpha.memory;
        c->alpha_sums = s->alpha_sums.memory;
    }
    if (step->depths) {
        ORR_TRY(orr_cuda_reserve(s->cuda, &s->by_depth, pixels, sizeof(float), error));
        c->depth = s->frame.depth.memory;
        c->by_depth = s->by_depth.memory;
    }
    return ORR_OK;
}

// The points of a step to the device.
static orr_result send_depths(orr_cuda_splat_steps *s, const orr_depth_seen *seen, orr_error *error)
{
    const size_t count = (size_t)seen->count;
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->depth_pixel, count, sizeof *seen->pixel, error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->depth_expected, count, sizeof *seen->depth, error));
    ORR_TRY(orr_cuda_upload(s->cuda, s->depth_pixel.memory, seen->pixel, count * sizeof *seen->pixel, error));
    return orr_cuda_upload(s->cuda, s->depth_expected.memory, seen->depth, count * sizeof *seen->depth,
                           error);
}

static orr_result mark(orr_cuda_splat_steps *s, orr_cuda_step_mark which, orr_error *error)
{
    ORR_CUDA_TRY(cudaEventRecord(s->marks[which], s->cuda->stream));
    return ORR_OK;
}

orr_result orr_cuda_splat_steps_put_drawing(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step,
                                            orr_error *error)
{
    const size_t pixels = (size_t)step->lens->width * (size_t)step->lens->height;
    const orr_draw_splats layer = {.model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                   .antialias = step->antialias};
    orr_cuda_frame *frame = &s->frame;
    s->seen.cloud = (orr_cuda_cloud){.geometry = s->params.geometry,
                                     .harmonics = s->params.harmonics[0],
                                     .count = s->params.count,
                                     .sh_degree = s->params.degree};
    ORR_TRY(orr_splat_lens_make(step->lens, &layer, &s->seen.lens, error));
    s->seen.distorted = step->lens->distorted;
    if (s->seen.distorted) {
        s->seen.photo = orr_splat_photo_of(step->lens);
    }
    frame->width = step->lens->width;
    frame->height = step->lens->height;
    frame->clouds = &s->seen;
    frame->cloud_count = 1;
    frame->splats = s->params.count;
    ORR_TRY(orr_cuda_reserve(s->cuda, &frame->rgba, pixels, 4 * sizeof(float), error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &frame->depth, pixels, sizeof(float), error));
    return orr_cuda_stages_record(&s->stages, frame, error);
}

// The memory of a grid's step.
static orr_result plan_grid(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step, orr_cuda_grid_step *g,
                            orr_error *error)
{
    *g = (orr_cuda_grid_step){.control = s->stages.control,
                              .correction = orr_photo_grid_correction(step->grid_steps),
                              .rate = step->grid_rate};
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->grid_cells, orr_cuda_grid_cells(), ORR_GRID_CELL * sizeof(float),
                             error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->grid_gradient, ORR_GRID, sizeof(float), error));
    ORR_TRY(
        orr_cuda_reserve(s->cuda, &s->grid_variations, (size_t)orr_cuda_grid_blocks(), sizeof(float), error));
    g->grid = (orr_photo_grid *)s->grids.memory + step->image;
    g->cells = s->grid_cells.memory;
    g->by_grid = s->grid_gradient.memory;
    g->variations = s->grid_variations.memory;
    return ORR_OK;
}

// The gradient of the photo's grid, before that of the picture goes back through it.
static orr_result put_grid_gradient(orr_cuda_splat_steps *s, const orr_cuda_grid_step *g,
                                    const orr_cuda_compare *c, orr_error *error)
{
    orr_cuda_grid_gradient_launch(s->cuda->stream, g, c);
    ORR_CUDA_LAUNCHED();
    orr_cuda_total_launch(s->cuda->stream, g->variations, orr_cuda_grid_blocks(), 1, &s->totals->variation);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

static orr_result put_loss(orr_cuda_splat_steps *s, const orr_cuda_compare *c, const orr_cuda_grid_step *grid,
                           orr_error *error)
{
    cudaStream_t stream = s->cuda->stream;
    orr_cuda_compose_launch(stream, c);
    ORR_CUDA_LAUNCHED();
    orr_cuda_loss_launch(stream, c);
    ORR_CUDA_LAUNCHED();
    orr_cuda_loss_gradient_launch(stream, c);
    ORR_CUDA_LAUNCHED();
    orr_cuda_total_launch(stream, c->loss_sums, orr_cuda_compare_blocks(c), ORR_CUDA_LOSS_SUMS,
                          s->totals->loss);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(c->grid ? put_grid_gradient(s, grid, c, error) : ORR_OK);
    if (c->by_alpha) {
        orr_cuda_compose_back_launch(stream, c);
        ORR_CUDA_LAUNCHED();
        orr_cuda_total_launch(stream, c->alpha_sums, orr_cuda_compare_compose_blocks(c), ORR_COMPOSE_SUMS,
                              s->totals->alpha);
        ORR_CUDA_LAUNCHED();
    }
    return ORR_OK;
}

// The loss of depths, behind that of colours, which by_alpha is of so far.
static orr_result put_depths(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step,
                             const orr_cuda_compare *c, orr_error *error)
{
    cudaStream_t stream = s->cuda->stream;
    const size_t pixels = (size_t)c->width * (size_t)c->height;
    orr_cuda_depths depths = {.count = (int)step->depths->count,
                              .pixel = s->depth_pixel.memory,
                              .expected = s->depth_expected.memory,
                              .weight = step->depth_weight,
                              .shown = &s->totals->shown};
    ORR_CUDA_TRY(cudaMemsetAsync(c->by_depth, 0, pixels * sizeof(float), stream));
    if (depths.count == 0) {
        return ORR_OK;
    }
    const int blocks = orr_cuda_depths_blocks(&depths);
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->depth_sums, (size_t)blocks, sizeof(float), error));
    depths.sums = s->depth_sums.memory;
    orr_cuda_depths_count_launch(stream, &depths, c);
    ORR_CUDA_LAUNCHED();
    orr_cuda_total_launch(stream, depths.sums, blocks, 1, &s->totals->shown);
    ORR_CUDA_LAUNCHED();
    orr_cuda_depths_launch(stream, &depths, c);
    ORR_CUDA_LAUNCHED();
    orr_cuda_total_launch(stream, depths.sums, blocks, 1, &s->totals->depth);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

orr_result orr_cuda_splat_steps_put_backward(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step,
                                             const orr_cuda_compare *c, orr_cuda_rows *rows, orr_error *error)
{
    cudaStream_t stream = s->cuda->stream;
    const orr_cuda_stages *drawn = &s->stages;
    const size_t splats = s->params.count;
    const size_t members = (size_t)ORR_MOMENTS + (step->depths ? 1 : 0) + (step->magnitude ? 2 : 0);
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->first, splats, sizeof(uint32_t), error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->counts, splats, sizeof(uint32_t), error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->rows, drawn->pair_capacity, members * sizeof(float), error));
    *rows = (orr_cuda_rows){.control = drawn->control,
                            .records = {drawn->centres.memory, drawn->shapes.memory, drawn->colours.memory},
                            .order = drawn->order.memory,
                            .begins = drawn->tile_counts.memory,
                            .pair_splats = drawn->pair_splats.memory,
                            .ranges = drawn->ranges.memory,
                            .tiles_x = orr_blocks(c->width, ORR_CUDA_TILE),
                            .tiles_y = orr_blocks(c->height, ORR_CUDA_TILE),
                            .first = s->first.memory,
                            .counts = s->counts.memory,
                            .depth = step->depths != NULL,
                            .magnitude = step->magnitude,
                            .rows = s->rows.memory};
    ORR_CUDA_TRY(cudaMemsetAsync(rows->counts, 0, splats * sizeof(uint32_t), stream));
    orr_cuda_rows_plan_launch(stream, rows, splats);
    ORR_CUDA_LAUNCHED();
    orr_cuda_backward_launch(stream, rows, c);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

static orr_result put_update(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step,
                             const orr_cuda_rows *rows, orr_error *error)
{
    cudaStream_t stream = s->cuda->stream;
    const int blocks = orr_cuda_update_blocks(s->params.count);
    orr_cuda_update update = {.params = s->params,
                              .rows = *rows,
                              .lens = s->seen.lens,
                              .distorted = s->seen.distorted,
                              .photo = s->seen.photo,
                              .rates = step->rates,
                              .seed = step->seed,
                              .step = step->step};
    if (step->motion) {
        ORR_TRY(
            orr_cuda_reserve(s->cuda, &s->motion_sums, (size_t)blocks, ORR_MOTION * sizeof(float), error));
        update.motion_sums = s->motion_sums.memory;
    }
    orr_cuda_update_launch(stream, &update);
    ORR_CUDA_LAUNCHED();
    if (step->motion) {
        orr_cuda_total_launch(stream, update.motion_sums, blocks, ORR_MOTION, s->totals->motion);
        ORR_CUDA_LAUNCHED();
    }
    return ORR_OK;
}

// Puts a step into the stream and waits for it.
static orr_result run(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step, const orr_cuda_photo *photo,
                      orr_error *error)
{
    orr_cuda_compare compare;
    orr_cuda_rows rows;
    orr_cuda_grid_step grid;
    ORR_TRY(orr_cuda_splat_steps_put_drawing(s, step, error));
    ORR_TRY(mark(s, ORR_CUDA_STEP_DRAWN, error));
    ORR_TRY(plan_compare(s, step, photo, &compare, error));
    ORR_TRY(compare.grid ? plan_grid(s, step, &grid, error) : ORR_OK);
    ORR_TRY(put_loss(s, &compare, &grid, error));
    ORR_TRY(step->depths ? put_depths(s, step, &compare, error) : ORR_OK);
    ORR_TRY(mark(s, ORR_CUDA_STEP_LOSS, error));
    ORR_TRY(orr_cuda_splat_steps_put_backward(s, step, &compare, &rows, error));
    ORR_TRY(mark(s, ORR_CUDA_STEP_BACKWARD, error));
    ORR_TRY(put_update(s, step, &rows, error));
    if (compare.grid) {
        orr_cuda_grid_advance_launch(s->cuda->stream, &grid);
        ORR_CUDA_LAUNCHED();
    }
    ORR_TRY(mark(s, ORR_CUDA_STEP_UPDATE, error));
    ORR_CUDA_TRY(
        cudaMemcpyAsync(s->landed, s->totals, sizeof *s->landed, cudaMemcpyDeviceToHost, s->cuda->stream));
    return orr_cuda_wait(s->cuda, error);
}

static orr_result add_stage(const char *name, cudaEvent_t from, cudaEvent_t to, int64_t items,
                            orr_profile *profile, orr_error *error)
{
    float milliseconds;
    ORR_CUDA_TRY(cudaEventElapsedTime(&milliseconds, from, to));
    orr_profile_add(profile, name, (double)milliseconds, items);
    return ORR_OK;
}

static orr_result add_stages(const orr_cuda_splat_steps *s, orr_profile *profile, orr_error *error)
{
    const orr_cuda_control *counted = s->frame.counted;
    const int64_t tile = (int64_t)ORR_CUDA_TILE * ORR_CUDA_TILE;
    const cudaEvent_t *drawn = s->frame.marks;
    ORR_TRY(add_stage("project", drawn[ORR_CUDA_MARK_FIELDS], drawn[ORR_CUDA_MARK_PROJECT], s->params.count,
                      profile, error));
    ORR_TRY(add_stage("sort", drawn[ORR_CUDA_MARK_PROJECT], drawn[ORR_CUDA_MARK_SORT], counted->visible,
                      profile, error));
    ORR_TRY(add_stage("bin", drawn[ORR_CUDA_MARK_SORT], drawn[ORR_CUDA_MARK_BIN], counted->pairs, profile,
                      error));
    ORR_TRY(add_stage("blend", drawn[ORR_CUDA_MARK_BIN], drawn[ORR_CUDA_MARK_BLEND], counted->pairs * tile,
                      profile, error));
    ORR_TRY(add_stage("loss", s->marks[ORR_CUDA_STEP_DRAWN], s->marks[ORR_CUDA_STEP_LOSS],
                      3 * (int64_t)s->frame.width * s->frame.height, profile, error));
    ORR_TRY(add_stage("backward", s->marks[ORR_CUDA_STEP_LOSS], s->marks[ORR_CUDA_STEP_BACKWARD],
                      counted->pairs * tile, profile, error));
    return add_stage("update", s->marks[ORR_CUDA_STEP_BACKWARD], s->marks[ORR_CUDA_STEP_UPDATE],
                     s->params.count, profile, error);
}

orr_result orr_cuda_splat_steps_take(orr_cuda_splat_steps *s, const orr_cuda_splat_step *step,
                                     orr_cuda_splat_stepped *stepped, orr_profile *profile, orr_error *error)
{
    const orr_cuda_photo *photo;
    bool complete = false;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_TRY(orr_cuda_splat_steps_photo(s, step, &photo, error));
    ORR_TRY(step->depths && step->depths->count > 0 ? send_depths(s, step->depths, error) : ORR_OK);
    memset(s->landed, 0, sizeof *s->landed);
    orr_cuda_range_begin("splats");
    orr_result result = ORR_OK;
    while (result == ORR_OK && !complete) { // again when its pairs had no room: nothing has moved then
        result = run(s, step, photo, error);
        if (result == ORR_OK) {
            result = orr_cuda_stages_judge(&s->stages, &s->frame, &complete, error);
        }
    }
    orr_cuda_range_end();
    if (result != ORR_OK) { // part of it may be in the stream and use memory that is let go of now
        orr_cuda_wait(s->cuda, NULL);
        return result;
    }
    const double pixels = (double)s->frame.width * s->frame.height, values = 3.0 * pixels;
    const double share = (double)step->dissimilarity;
    const orr_cuda_step_totals *t = s->landed;
    stepped->loss = (1.0 - share) * t->loss[0] / values + share * (1.0 - t->loss[1] / values);
    stepped->evaluated = (int64_t)s->frame.counted->pairs * ORR_CUDA_TILE * ORR_CUDA_TILE;
    if (step->exposure || photo->has_alpha) {
        stepped->loss += (double)step->alpha_weight * t->alpha[ORR_EXPOSURE] / pixels;
        memcpy(stepped->by_exposure, t->alpha, sizeof stepped->by_exposure);
    }
    if (step->depths && step->depths->count > 0 && t->shown > 0.0) {
        stepped->loss += (double)step->depth_weight * t->depth / t->shown;
    }
    stepped->loss += step->grid_steps > 0 ? t->variation : 0.0;
    if (step->motion) {
        memcpy(stepped->motion, t->motion, sizeof stepped->motion);
    }
    return add_stages(s, profile, error);
}
