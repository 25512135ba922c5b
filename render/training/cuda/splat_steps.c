// A training on the device: opening and closing it, and how a step is put into its stream.
#include "render/training/cuda/splat_steps_state.h"

#include <string.h>

// Of the device's memory, what photos may take; those that it does not hold are sent in every step.
static const double PHOTOS_SHARE = 0.4;

// ---- opening and closing ----

int orr_cuda_splat_steps_buffers(orr_cuda_splat_steps *s, orr_cuda_buffer *list[ORR_CUDA_STEP_BUFFERS])
{
    orr_cuda_stages *drawn = &s->stages;
    orr_cuda_buffer *buffers[] = {&s->stored[0],
                                  &s->stored[1],
                                  &s->stored[2],
                                  &s->harmonics[0],
                                  &s->harmonics[1],
                                  &s->harmonics[2],
                                  &s->slopes[0],
                                  &s->slopes[1],
                                  &s->slopes[2],
                                  &s->geometry,
                                  &s->statistic[0],
                                  &s->statistic[1],
                                  &s->picture,
                                  &s->gradient,
                                  &s->by_alpha,
                                  &s->loss_sums,
                                  &s->alpha_sums,
                                  &s->first,
                                  &s->counts,
                                  &s->rows,
                                  &s->motion_sums,
                                  &s->origin,
                                  &s->fresh,
                                  &s->spare,
                                  &s->depth_pixel,
                                  &s->depth_expected,
                                  &s->depth_sums,
                                  &s->by_depth,
                                  &s->grids,
                                  &s->weights,
                                  &s->grid_cells,
                                  &s->grid_gradient,
                                  &s->grid_variations,
                                  &s->centred,
                                  &s->centre_sums,
                                  &s->frame.rgba,
                                  &s->frame.depth,
                                  &drawn->centres,
                                  &drawn->shapes,
                                  &drawn->colours,
                                  &drawn->keys,
                                  &drawn->order,
                                  &drawn->tile_counts,
                                  &drawn->pair_tiles,
                                  &drawn->pair_splats,
                                  &drawn->ranges,
                                  &drawn->sort.keys,
                                  &drawn->sort.values,
                                  &drawn->sort.state,
                                  &drawn->field_depth,
                                  &drawn->field_colour,
                                  &drawn->cloud_texels};
    _Static_assert(sizeof buffers == ORR_CUDA_STEP_BUFFERS * sizeof *buffers, "room for all of them");
    memcpy(list, buffers, sizeof buffers);
    return ORR_CUDA_STEP_BUFFERS;
}

static void close_flight(orr_cuda_flight *f)
{
    cudaEvent_t events[ORR_CUDA_MARK_COUNT + ORR_CUDA_STEP_MARKS + 1];
    memcpy(events, f->drawn, sizeof f->drawn);
    memcpy(events + ORR_CUDA_MARK_COUNT, f->marks, sizeof f->marks);
    events[ORR_CUDA_MARK_COUNT + ORR_CUDA_STEP_MARKS] = f->done;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (events[i]) {
            cudaEventDestroy(events[i]);
        }
    }
    cudaFreeHost(f->now);
    cudaFreeHost(f->landed);
}

void orr_cuda_splat_steps_destroy(orr_cuda_splat_steps *s)
{
    if (!s) {
        return;
    }
    orr_cuda_use(s->cuda, NULL);
    orr_cuda_wait(s->cuda, NULL);
    orr_cuda_step_graphs_destroy(s);
    for (int i = 0; s->photos && i <= s->image_count; i++) {
        orr_cuda_photo_release(&s->photos[i]);
    }
    orr_free(s->photos);
    s->frame.clouds = NULL; // not its own, nor are the marks
    memset(s->frame.marks, 0, sizeof s->frame.marks);
    orr_cuda_buffer *buffers[ORR_CUDA_STEP_BUFFERS];
    const int count = orr_cuda_splat_steps_buffers(s, buffers);
    for (int i = 0; i < count; i++) {
        orr_cuda_release(buffers[i]);
    }
    orr_cuda_frame_close(&s->frame);
    orr_cuda_stages_close(&s->stages);
    for (int i = 0; i < ORR_CUDA_FLIGHTS; i++) {
        close_flight(&s->flights[i]);
    }
    orr_cuda_free(s->totals);
    orr_cuda_free(s->now);
    orr_cuda_free(s->halted);
    orr_free(s);
}

static orr_result open_flight(orr_cuda_flight *f, orr_error *error)
{
    ORR_CUDA_TRY(cudaMallocHost((void **)&f->now, sizeof *f->now));
    ORR_CUDA_TRY(cudaMallocHost((void **)&f->landed, sizeof *f->landed));
    for (int i = 0; i < ORR_CUDA_MARK_COUNT; i++) {
        if (!f->drawn[i]) { // the first has the frame's
            ORR_CUDA_TRY(cudaEventCreateWithFlags(&f->drawn[i], cudaEventDefault));
        }
    }
    for (int i = 0; i < ORR_CUDA_STEP_MARKS; i++) {
        ORR_CUDA_TRY(cudaEventCreateWithFlags(&f->marks[i], cudaEventDefault));
    }
    ORR_CUDA_TRY(cudaEventCreateWithFlags(&f->done, cudaEventDisableTiming));
    return ORR_OK;
}

static orr_result open(orr_cuda_splat_steps *s, orr_error *error)
{
    void *totals, *now, *halted;
    ORR_TRY(orr_cuda_use(s->cuda, error));
    ORR_ALLOC(s->photos, s->image_count + 1, "photos on the device", error);
    memset(s->photos, 0, (size_t)(s->image_count + 1) * sizeof *s->photos);
    ORR_TRY(orr_cuda_stages_open(s->cuda, &s->stages, error));
    const orr_result framed = orr_cuda_frame_open(&s->frame, error);
    memcpy(s->flights[0].drawn, s->frame.marks, sizeof s->frame.marks);
    ORR_TRY(framed);
    for (int i = 0; i < ORR_CUDA_FLIGHTS; i++) {
        ORR_TRY(open_flight(&s->flights[i], error));
    }
    ORR_TRY(orr_cuda_alloc(s->cuda, 1, sizeof *s->totals, &totals, error));
    s->totals = totals;
    ORR_TRY(orr_cuda_alloc(s->cuda, 1, sizeof *s->now, &now, error));
    s->now = now;
    ORR_TRY(orr_cuda_alloc(s->cuda, 1, sizeof *s->halted, &halted, error));
    s->halted = halted;
    ORR_CUDA_TRY(cudaMemsetAsync(s->halted, 0, sizeof *s->halted, s->cuda->stream));
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

orr_result orr_cuda_splat_steps_load(orr_cuda_splat_steps *s, orr_cuda_flight *f,
                                     const orr_cuda_splat_step *step, const orr_cuda_photo *photo,
                                     orr_error *error)
{
    static const float identity[ORR_EXPOSURE] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const orr_draw_splats layer = {.model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                   .antialias = step->antialias};
    orr_cuda_step_now *now = f->now;
    f->step = *step;
    f->lens = *step->lens;
    f->step.lens = &f->lens;
    if (step->depths) {
        f->depths = *step->depths;
        f->step.depths = &f->depths;
    }
    f->photo = photo;
    *now = (orr_cuda_step_now){.photo = photo->planes.values,
                               .kept = photo->has_kept ? photo->kept.memory : NULL,
                               .photo_alpha = photo->has_alpha ? photo->alpha.memory : NULL,
                               .rates = step->rates,
                               .seed = step->seed,
                               .step = step->step};
    ORR_TRY(orr_splat_lens_make(&f->lens, &layer, &now->eye.lens, error));
    if (f->lens.distorted) {
        now->eye.photo = orr_splat_photo_of(&f->lens);
    }
    memcpy(now->exposure, step->exposure ? step->exposure : identity, sizeof now->exposure);
    if (step->grid_steps > 0) {
        now->grid = (orr_photo_grid *)s->grids.memory + step->image;
        now->grid_correction = orr_photo_grid_correction(step->grid_steps);
        now->grid_rate = step->grid_rate;
    }
    return ORR_OK;
}

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
    const size_t pixels = (size_t)step->lens->width * (size_t)step->lens->height;
    *c = (orr_cuda_compare){.now = s->now,
                            .width = step->lens->width,
                            .height = step->lens->height,
                            .rgba = s->frame.rgba.memory,
                            .grid = step->grid_steps > 0,
                            .alpha_weight = step->alpha_weight,
                            .dissimilarity = step->dissimilarity};
    memcpy(c->background, step->background, sizeof c->background);
    ORR_TRY(orr_cuda_splat_steps_planes(s, &photo->planes, &s->picture, &c->picture, error));
    ORR_TRY(orr_cuda_splat_steps_planes(s, &photo->planes, &s->gradient, &c->gradient, error));
    for (int k = 0; k < 3; k++) {
        ORR_TRY(orr_cuda_splat_steps_planes(s, &photo->planes, &s->slopes[k], &c->slopes[k], error));
    }
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->loss_sums, (size_t)orr_cuda_compare_blocks(c),
                             ORR_CUDA_LOSS_SUMS * sizeof(float), error));
    c->loss_sums = s->loss_sums.memory;
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

static orr_result mark(const orr_cuda_splat_steps *s, const orr_cuda_flight *f, orr_cuda_step_mark which,
                       orr_error *error)
{
    ORR_CUDA_TRY(cudaEventRecordWithFlags(f->marks[which], s->cuda->stream,
                                          s->frame.captured ? cudaEventRecordExternal : 0));
    return ORR_OK;
}

orr_result orr_cuda_splat_steps_put_drawing(orr_cuda_splat_steps *s, const orr_cuda_flight *f,
                                            orr_error *error)
{
    const orr_cuda_splat_step *step = &f->step;
    const size_t pixels = (size_t)step->lens->width * (size_t)step->lens->height;
    orr_cuda_frame *frame = &s->frame;
    ORR_CUDA_TRY(cudaMemcpyAsync(s->now, f->now, sizeof *s->now, cudaMemcpyHostToDevice, s->cuda->stream));
    s->seen.cloud = (orr_cuda_cloud){.geometry = s->params.geometry,
                                     .harmonics = s->params.harmonics[0],
                                     .count = s->params.count,
                                     .sh_degree = s->params.degree};
    s->seen.eye = &s->now->eye;
    s->seen.distorted = step->lens->distorted;
    memcpy(frame->marks, f->drawn, sizeof frame->marks);
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
static orr_result plan_grid(orr_cuda_splat_steps *s, orr_cuda_grid_step *g, orr_error *error)
{
    *g = (orr_cuda_grid_step){.now = s->now, .control = s->stages.control, .halted = s->halted};
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->grid_cells, orr_cuda_grid_cells(), ORR_GRID_CELL * sizeof(float),
                             error));
    ORR_TRY(orr_cuda_reserve(s->cuda, &s->grid_gradient, ORR_GRID, sizeof(float), error));
    ORR_TRY(
        orr_cuda_reserve(s->cuda, &s->grid_variations, (size_t)orr_cuda_grid_blocks(), sizeof(float), error));
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
                              .now = s->now,
                              .distorted = s->seen.distorted,
                              .halted = s->halted};
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

orr_result orr_cuda_splat_steps_put(orr_cuda_splat_steps *s, orr_cuda_flight *f, orr_error *error)
{
    const orr_cuda_splat_step *step = &f->step;
    cudaStream_t stream = s->cuda->stream;
    orr_cuda_compare compare;
    orr_cuda_rows rows;
    orr_cuda_grid_step grid;
    ORR_TRY(orr_cuda_splat_steps_put_drawing(s, f, error));
    ORR_TRY(mark(s, f, ORR_CUDA_STEP_DRAWN, error));
    ORR_TRY(plan_compare(s, step, f->photo, &compare, error));
    ORR_TRY(compare.grid ? plan_grid(s, &grid, error) : ORR_OK);
    ORR_TRY(put_loss(s, &compare, &grid, error));
    ORR_TRY(step->depths ? put_depths(s, step, &compare, error) : ORR_OK);
    ORR_TRY(mark(s, f, ORR_CUDA_STEP_LOSS, error));
    ORR_TRY(orr_cuda_splat_steps_put_backward(s, step, &compare, &rows, error));
    ORR_TRY(mark(s, f, ORR_CUDA_STEP_BACKWARD, error));
    ORR_TRY(put_update(s, step, &rows, error));
    if (compare.grid) {
        orr_cuda_grid_advance_launch(stream, &grid);
        ORR_CUDA_LAUNCHED();
    }
    ORR_TRY(mark(s, f, ORR_CUDA_STEP_UPDATE, error));
    ORR_CUDA_TRY(cudaMemcpyAsync(&s->totals->control, s->stages.control, sizeof s->totals->control,
                                 cudaMemcpyDeviceToDevice, stream));
    ORR_CUDA_TRY(cudaMemcpyAsync(f->landed, s->totals, sizeof *f->landed, cudaMemcpyDeviceToHost, stream));
    return ORR_OK;
}
