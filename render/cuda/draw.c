// The CUDA frame: fields, then the splat stages, one after the other in the device's stream, over planes that the CPU has
// drawn.
#include "render/cuda/draw.h"

#include "engine/device/cuda_sort.h"
#include "render/cuda/clouds.h"
#include "render/cuda/fields.h"

#include <stdio.h>
#include <string.h>

enum { PAIRS_PER_SPLAT = 4 }; // room at first; it grows with what frames need

// The ends of stages on the device's clock, and their names; what has none begins the next.
typedef enum mark {
    MARK_BEGIN,
    MARK_UPLOAD,
    MARK_FIELDS,
    MARK_PROJECT,
    MARK_SORT,
    MARK_BIN,
    MARK_BLEND,
    MARK_DOWNLOAD_BEGIN,
    MARK_DOWNLOAD,
    MARK_COUNT
} mark;
static const char *const mark_names[MARK_COUNT] = {
    [MARK_UPLOAD] = "upload", [MARK_FIELDS] = "fields", [MARK_PROJECT] = "project",  [MARK_SORT] = "sort",
    [MARK_BIN] = "bin",       [MARK_BLEND] = "blend",   [MARK_DOWNLOAD] = "download"};

struct orr_cuda_draw {
    orr_cuda *cuda; // borrowed
    orr_cuda_clouds clouds;
    orr_cuda_fields fields;
    orr_cuda_sort sort;
    cudaEvent_t marks[MARK_COUNT];
    orr_cuda_clock clock;
    orr_trace *trace;                                                  // nullable
    orr_cuda_control *control;                                         // device
    orr_cuda_control *counted;                                         // host, pinned: what the frame counted
    orr_cuda_buffer places, shapes, colours, keys, order, tile_counts; // per splat
    orr_cuda_buffer pair_tiles, pair_splats, ranges;
    orr_cuda_buffer mesh_depth, mesh_colour, field_depth, field_colour, rgba, depth; // planes
    orr_cuda_buffer fragment_starts, fragments;
    uint32_t pair_capacity;
    const orr_draw_list *list; // of the frame under way
    orr_cuda_layers layers;
    size_t splats; // of it
};

static orr_result open_draw(orr_cuda_draw *draw, orr_error *error)
{
    void *control;
    ORR_TRY(orr_cuda_alloc(draw->cuda, 1, sizeof *draw->control, &control, error));
    draw->control = control;
    ORR_CUDA_TRY(cudaMallocHost((void **)&draw->counted, sizeof *draw->counted));
    for (int i = 0; i < MARK_COUNT; i++) {
        ORR_CUDA_TRY(cudaEventCreateWithFlags(&draw->marks[i], cudaEventDefault));
    }
    return ORR_OK;
}

orr_result orr_cuda_draw_create(orr_cuda *cuda, orr_cuda_draw **out, orr_error *error)
{
    *out = NULL;
    orr_cuda_draw *draw = orr_alloc_zero(1, sizeof *draw);
    if (!draw) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: drawing on CUDA");
    }
    draw->cuda = cuda;
    orr_result result = open_draw(draw, error);
    if (result != ORR_OK) {
        orr_cuda_draw_destroy(draw);
        return result;
    }
    *out = draw;
    return ORR_OK;
}

void orr_cuda_draw_destroy(orr_cuda_draw *draw)
{
    if (!draw) {
        return;
    }
    orr_cuda_use(draw->cuda, NULL);
    orr_cuda_wait(draw->cuda, NULL);
    orr_cuda_clouds_destroy(&draw->clouds);
    orr_cuda_fields_destroy(&draw->fields);
    orr_cuda_sort_release(&draw->sort);
    orr_cuda_buffer *buffers[] = {
        &draw->places,          &draw->shapes,      &draw->colours,      &draw->keys,   &draw->order,
        &draw->tile_counts,     &draw->pair_tiles,  &draw->pair_splats,  &draw->ranges, &draw->mesh_depth,
        &draw->mesh_colour,     &draw->field_depth, &draw->field_colour, &draw->rgba,   &draw->depth,
        &draw->fragment_starts, &draw->fragments};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        orr_cuda_release(buffers[i]);
    }
    for (int i = 0; i < MARK_COUNT; i++) {
        if (draw->marks[i]) {
            cudaEventDestroy(draw->marks[i]);
        }
    }
    orr_cuda_clock_destroy(&draw->clock);
    orr_cuda_free(draw->control);
    cudaFreeHost(draw->counted);
    orr_free(draw);
}

void orr_cuda_draw_release(orr_cuda_draw *draw, uint64_t key)
{
    orr_cuda_clouds_release(&draw->clouds, key); // freeing waits for what runs
    orr_cuda_fields_release(&draw->fields, key);
}

bool orr_cuda_draw_takes_field(orr_cuda_draw *draw, const orr_draw_field *field, orr_log log)
{
    bool first;
    orr_error why = {0};
    orr_cuda_field *taken;
    if (orr_cuda_fields_take(draw->cuda, &draw->fields, field, &taken, &first, &why) == ORR_OK) {
        return true;
    }
    if (first) {
        orr_log_line(log, ORR_LOG_WARNING, (orr_code)why.code, "%s: the CPU draws this field", why.message);
    }
    return false;
}

// Are there planes of fields, whoever draws them?
static bool shows_fields(const orr_cuda_draw *draw)
{
    return draw->layers.field_depth || draw->list->field_count > 0;
}

static size_t fragment_count(const orr_cuda_draw *draw)
{
    const uint32_t *starts = draw->layers.fragments.starts;
    size_t pixels = (size_t)draw->list->lens.width * (size_t)draw->list->lens.height;
    return starts ? starts[pixels] : 0;
}

static orr_result reserve(orr_cuda_draw *draw, orr_error *error)
{
    const orr_lens *lens = &draw->list->lens;
    size_t pixels = (size_t)lens->width * (size_t)lens->height, splats = draw->splats;
    size_t tiles = (size_t)((lens->width + ORR_CUDA_TILE - 1) / ORR_CUDA_TILE) *
                   (size_t)((lens->height + ORR_CUDA_TILE - 1) / ORR_CUDA_TILE);
    if (splats > (1u << 30) - 1) {
        return orr_fail(error, ORR_CODE_CAPACITY, "CUDA: %zu splats in one frame; expected at most %u",
                        splats, (1u << 30) - 1);
    }
    if (draw->pair_capacity < PAIRS_PER_SPLAT * splats) {
        size_t wanted = PAIRS_PER_SPLAT * splats;
        draw->pair_capacity = wanted < (1u << 30) - 1 ? (uint32_t)wanted : (1u << 30) - 1;
    }
    const struct {
        orr_cuda_buffer *buffer;
        size_t count, size;
    } rooms[] = {
        {&draw->places, splats, 4 * sizeof(float)},
        {&draw->shapes, splats, 4 * sizeof(float)},
        {&draw->colours, splats, 4 * sizeof(float)},
        {&draw->keys, splats, sizeof(uint32_t)},
        {&draw->order, splats, sizeof(uint32_t)},
        {&draw->tile_counts, splats, sizeof(uint32_t)},
        {&draw->pair_tiles, draw->pair_capacity, sizeof(uint32_t)},
        {&draw->pair_splats, draw->pair_capacity, sizeof(uint32_t)},
        {&draw->ranges, 2 * tiles, sizeof(uint32_t)},
        {&draw->rgba, pixels, 4 * sizeof(float)},
        {&draw->depth, pixels, sizeof(float)},
        {&draw->mesh_depth, draw->layers.mesh_depth ? pixels : 0, sizeof(float)},
        {&draw->mesh_colour, draw->layers.mesh_depth ? pixels : 0, 3 * sizeof(float)},
        {&draw->fragment_starts, draw->layers.fragments.starts ? pixels + 1 : 0, sizeof(uint32_t)},
        {&draw->fragments, fragment_count(draw), sizeof(orr_fragment)},
        {&draw->field_depth, shows_fields(draw) ? pixels : 0, sizeof(float)},
        {&draw->field_colour, shows_fields(draw) ? pixels : 0, 4 * sizeof(float)},
    };
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        ORR_TRY(orr_cuda_reserve(draw->cuda, rooms[i].buffer, rooms[i].count, rooms[i].size, error));
    }
    size_t most = splats > draw->pair_capacity ? splats : draw->pair_capacity;
    return orr_cuda_sort_reserve(draw->cuda, &draw->sort, most, error);
}

static orr_result upload_plane(orr_cuda_draw *draw, const orr_cuda_buffer *to, const float *from,
                               size_t planes, orr_error *error)
{
    size_t pixels = (size_t)draw->list->lens.width * (size_t)draw->list->lens.height;
    if (from) {
        ORR_CUDA_TRY(cudaMemcpyAsync(to->memory, from, planes * pixels * sizeof(float),
                                     cudaMemcpyHostToDevice, draw->cuda->stream));
    }
    return ORR_OK;
}

static orr_result upload_fragments(orr_cuda_draw *draw, orr_error *error)
{
    size_t pixels = (size_t)draw->list->lens.width * (size_t)draw->list->lens.height,
           count = fragment_count(draw);
    if (count > 0) {
        ORR_CUDA_TRY(cudaMemcpyAsync(draw->fragment_starts.memory, draw->layers.fragments.starts,
                                     (pixels + 1) * sizeof(uint32_t), cudaMemcpyHostToDevice,
                                     draw->cuda->stream));
        ORR_CUDA_TRY(cudaMemcpyAsync(draw->fragments.memory, draw->layers.fragments.fragments,
                                     count * sizeof(orr_fragment), cudaMemcpyHostToDevice,
                                     draw->cuda->stream));
    }
    return ORR_OK;
}

static orr_result upload_layers(orr_cuda_draw *draw, orr_error *error)
{
    ORR_TRY(upload_plane(draw, &draw->mesh_depth, draw->layers.mesh_depth, 1, error));
    ORR_TRY(upload_plane(draw, &draw->mesh_colour, draw->layers.mesh_colour, 3, error));
    ORR_TRY(upload_fragments(draw, error));
    ORR_TRY(upload_plane(draw, &draw->field_depth, draw->layers.field_depth, 1, error));
    return upload_plane(draw, &draw->field_colour, draw->layers.field_colour, 4, error);
}

static orr_result draw_fields(orr_cuda_draw *draw, orr_error *error)
{
    const orr_draw_list *list = draw->list;
    for (int i = 0; i < list->field_count; i++) {
        orr_cuda_field *field;
        bool first;
        ORR_TRY(orr_cuda_fields_take(draw->cuda, &draw->fields, &list->fields[i], &field, &first, error));
        orr_cuda_field_picture picture = {.lens = &list->lens,
                                          .far_depth =
                                              draw->layers.mesh_depth ? draw->mesh_depth.memory : NULL,
                                          .colour = draw->field_colour.memory,
                                          .depth = draw->field_depth.memory,
                                          .over = draw->layers.field_depth || i > 0};
        memcpy(picture.to_sun, list->sun.direction, sizeof picture.to_sun);
        ORR_TRY(orr_field_layer_to_unit(list->fields[i].layer, list->fields[i].model, picture.world_to_unit,
                                        error));
        ORR_TRY(orr_cuda_field_draw(field, &picture, error));
    }
    return ORR_OK;
}

static orr_result project(orr_cuda_draw *draw, orr_cuda_records records, orr_error *error)
{
    const orr_draw_list *list = draw->list;
    size_t first = 0;
    for (int i = 0; i < list->splat_count; i++) {
        const orr_cuda_cloud *cloud;
        splat_lens_values lens;
        ORR_TRY(orr_splat_lens_make(&list->lens, &list->splats[i], &lens, error));
        ORR_TRY(orr_cuda_clouds_take(draw->cuda, &draw->clouds, &list->splats[i], &cloud, error));
        orr_cuda_splats_project(draw->cuda->stream, cloud, &lens, (uint32_t)first, records, draw->keys.memory,
                                draw->order.memory, draw->control);
        ORR_CUDA_LAUNCHED();
        first += (size_t)cloud->count;
    }
    return ORR_OK;
}

static int bits_of(size_t values)
{
    int bits = 1;
    while (((size_t)1 << bits) < values) {
        bits++;
    }
    return bits;
}

#define MARK(which) ORR_CUDA_TRY(cudaEventRecord(draw->marks[which], draw->cuda->stream))

// A stage ends and the next one begins, for the device's clock and for a profiler.
static orr_result end_stage(orr_cuda_draw *draw, mark which, mark next, orr_error *error)
{
    MARK(which);
    orr_cuda_range_end();
    orr_cuda_range_begin(mark_names[next]);
    return ORR_OK;
}

static orr_result record_stages(orr_cuda_draw *draw, orr_error *error)
{
    cudaStream_t stream = draw->cuda->stream;
    const orr_draw_list *list = draw->list;
    const int width = list->lens.width, height = list->lens.height;
    const int tiles_x = (width + ORR_CUDA_TILE - 1) / ORR_CUDA_TILE,
              tiles_y = (height + ORR_CUDA_TILE - 1) / ORR_CUDA_TILE;
    const size_t tiles = (size_t)tiles_x * (size_t)tiles_y;
    orr_cuda_records records = {draw->places.memory, draw->shapes.memory, draw->colours.memory};
    orr_cuda_control *control = draw->control;
    MARK(MARK_BEGIN);
    ORR_TRY(upload_layers(draw, error));
    *draw->counted = (orr_cuda_control){.splats = (uint32_t)draw->splats};
    ORR_CUDA_TRY(cudaMemcpyAsync(control, draw->counted, sizeof *control, cudaMemcpyHostToDevice, stream));
    ORR_CUDA_TRY(cudaMemsetAsync(draw->ranges.memory, 0, 2 * tiles * sizeof(uint32_t), stream));
    ORR_TRY(end_stage(draw, MARK_UPLOAD, MARK_FIELDS, error));
    ORR_TRY(draw_fields(draw, error));
    ORR_TRY(end_stage(draw, MARK_FIELDS, MARK_PROJECT, error));
    if (draw->splats > 0) {
        ORR_TRY(project(draw, records, error));
        ORR_TRY(end_stage(draw, MARK_PROJECT, MARK_SORT, error));
        ORR_TRY(orr_cuda_sort_pairs(draw->cuda, &draw->sort, draw->keys.memory, draw->order.memory,
                                    &control->splats, draw->splats, 32, error));
        ORR_TRY(end_stage(draw, MARK_SORT, MARK_BIN, error));
        orr_cuda_splats_count(stream, records, draw->order.memory, tiles_x, tiles_y, draw->splats, control,
                              draw->tile_counts.memory);
        ORR_CUDA_LAUNCHED();
        ORR_TRY(orr_cuda_running_sum(draw->cuda, &draw->sort, draw->tile_counts.memory,
                                     draw->tile_counts.memory, &control->needed, &control->visible,
                                     draw->splats, error));
        orr_cuda_splats_emit(stream, records, draw->order.memory, tiles_x, tiles_y, draw->splats,
                             draw->pair_capacity, control, draw->tile_counts.memory, draw->pair_tiles.memory,
                             draw->pair_splats.memory);
        ORR_CUDA_LAUNCHED();
        ORR_TRY(orr_cuda_sort_pairs(draw->cuda, &draw->sort, draw->pair_tiles.memory,
                                    draw->pair_splats.memory, &control->pairs, draw->pair_capacity,
                                    bits_of(tiles), error));
        orr_cuda_splats_find_tiles(stream, draw->pair_tiles.memory, draw->pair_capacity, control,
                                   draw->ranges.memory);
        ORR_CUDA_LAUNCHED();
    } else {
        MARK(MARK_PROJECT);
        MARK(MARK_SORT);
    }
    ORR_TRY(end_stage(draw, MARK_BIN, MARK_BLEND, error));
    const orr_cuda_blend blend = {
        .records = records,
        .ranges = draw->ranges.memory,
        .pair_splats = draw->pair_splats.memory,
        .width = width,
        .height = height,
        .tiles_x = tiles_x,
        .tiles_y = tiles_y,
        .mesh_depth = draw->layers.mesh_depth ? draw->mesh_depth.memory : NULL,
        .mesh_colour = draw->mesh_colour.memory,
        .field_depth = shows_fields(draw) ? draw->field_depth.memory : NULL,
        .field_colour = draw->field_colour.memory,
        .fragment_starts = fragment_count(draw) > 0 ? draw->fragment_starts.memory : NULL,
        .fragments = draw->fragments.memory,
        .opaque = list->opaque,
        .backdrop = draw->layers.backdrop,
        .sky = orr_sky_as_seen(&list->sky, &list->lens),
        .rgba = draw->rgba.memory,
        .depth = draw->depth.memory,
    };
    orr_cuda_splats_blend(stream, &blend);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(end_stage(draw, MARK_BLEND, MARK_DOWNLOAD, error));
    ORR_CUDA_TRY(cudaMemcpyAsync(draw->counted, control, sizeof *control, cudaMemcpyDeviceToHost, stream));
    return ORR_OK;
}

// All stages, from a room that is large enough but for the pairs perhaps.
static orr_result record(orr_cuda_draw *draw, orr_error *error)
{
    orr_cuda_range_begin("splats");
    orr_cuda_range_begin(mark_names[MARK_UPLOAD]);
    orr_result result = record_stages(draw, error);
    orr_cuda_range_end();
    orr_cuda_range_end();
    return result;
}

orr_result orr_cuda_draw_submit(orr_cuda_draw *draw, const orr_draw_list *list, const orr_cuda_layers *layers,
                                orr_error *error)
{
    ORR_TRY(orr_cuda_use(draw->cuda, error));
    draw->list = list;
    draw->layers = *layers;
    draw->splats = 0;
    for (int i = 0; i < list->splat_count; i++) {
        draw->splats += (size_t)list->splats[i].pack->count;
    }
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(reserve(draw, error));
    ORR_TRY(record(draw, error));
    orr_trace_host(draw->trace, "submit", start);
    return ORR_OK;
}

orr_result orr_cuda_draw_trace(orr_cuda_draw *draw, orr_trace *trace, orr_error *error)
{
    draw->trace = trace;
    if (!trace) {
        return ORR_OK;
    }
    ORR_TRY(orr_cuda_clock_calibrate(draw->cuda, &draw->clock, error));
    orr_trace_device *device = &trace->devices[ORR_TRACK_CUDA];
    *device = (orr_trace_device){.method = "record and wait", .uncertainty = draw->clock.uncertainty};
    snprintf(device->name, sizeof device->name, "%s", orr_cuda_describe(draw->cuda)->name);
    return ORR_OK;
}

static orr_result add_stages(const orr_cuda_draw *draw, orr_profile *profile, orr_error *error)
{
    const int64_t pixels = (int64_t)draw->list->lens.width * draw->list->lens.height;
    const int64_t items[MARK_COUNT] = {[MARK_FIELDS] = pixels * draw->list->field_count,
                                       [MARK_PROJECT] = draw->counted->splats,
                                       [MARK_SORT] = draw->counted->visible,
                                       [MARK_BIN] = draw->counted->pairs,
                                       [MARK_BLEND] = draw->counted->pairs * ORR_CUDA_TILE * ORR_CUDA_TILE,
                                       [MARK_DOWNLOAD] = pixels};
    uint64_t times[MARK_COUNT] = {0};
    if (draw->trace) {
        ORR_TRY(orr_cuda_clock_read(&draw->clock, draw->marks[MARK_BEGIN], &times[MARK_BEGIN], error));
    }
    for (int i = MARK_BEGIN + 1; i < MARK_COUNT; i++) {
        float milliseconds; // exact even where the clock's origin is hours ago
        ORR_CUDA_TRY(cudaEventElapsedTime(&milliseconds, draw->marks[MARK_BEGIN], draw->marks[i]));
        times[i] = times[MARK_BEGIN] + (uint64_t)((double)milliseconds * 1e6);
        if (mark_names[i] && (i != MARK_FIELDS || draw->list->field_count > 0)) {
            orr_profile_span(profile, ORR_TRACK_CUDA, mark_names[i], times[i - 1], times[i], items[i]);
        }
    }
    return ORR_OK;
}

// Waits for the frame; one that ran out of room is drawn again with enough.
static orr_result complete(orr_cuda_draw *draw, orr_error *error)
{
    ORR_TRY(orr_cuda_wait(draw->cuda, error));
    if (draw->counted->needed <= draw->counted->pairs) {
        return ORR_OK;
    }
    if (draw->counted->needed > (1u << 30) - 1) {
        return orr_fail(error, ORR_CODE_CAPACITY, "CUDA: %u pairs of tiles and splats; expected at most %u",
                        draw->counted->needed, (1u << 30) - 1);
    }
    draw->pair_capacity = draw->counted->needed + draw->counted->needed / 8;
    ORR_TRY(reserve(draw, error));
    ORR_TRY(record(draw, error));
    return orr_cuda_wait(draw->cuda, error);
}

static orr_result download(orr_cuda_draw *draw, const orr_picture *picture, orr_error *error)
{
    size_t pixels = (size_t)draw->list->lens.width * (size_t)draw->list->lens.height;
    MARK(MARK_DOWNLOAD_BEGIN);
    if (picture && picture->rgba) {
        ORR_TRY(orr_cuda_download(draw->cuda, picture->rgba, draw->rgba.memory, 4 * pixels * sizeof(float),
                                  error));
    }
    if (picture && picture->depth) {
        ORR_TRY(
            orr_cuda_download(draw->cuda, picture->depth, draw->depth.memory, pixels * sizeof(float), error));
    }
    MARK(MARK_DOWNLOAD);
    return orr_cuda_wait(draw->cuda, error);
}

orr_result orr_cuda_draw_finish(orr_cuda_draw *draw, const orr_picture *picture, orr_profile *profile,
                                orr_error *error)
{
    ORR_TRY(orr_cuda_use(draw->cuda, error));
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(complete(draw, error));
    orr_trace_host(draw->trace, "wait", start);
    start = orr_clock_nanoseconds();
    ORR_TRY(download(draw, picture, error));
    orr_trace_host(draw->trace, "download", start);
    return profile ? add_stages(draw, profile, error) : ORR_OK;
}
