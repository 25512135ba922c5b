#include "render/cuda/stages.h"

#include "neural/cuda/draw.h"

enum {
    PAIRS_PER_SPLAT = 4,              // capacity at first; grows with the need of frames
    PAIRS_MOST = ORR_CUDA_SUM_MAX - 1 // a larger sum of them is not counted
};

const char *const orr_cuda_mark_names[ORR_CUDA_MARK_COUNT] = {
    [ORR_CUDA_MARK_MIRRORS] = "mirrors", [ORR_CUDA_MARK_CLOUD_SHADOWS] = "cloud shadows",
    [ORR_CUDA_MARK_UPLOAD] = "upload",   [ORR_CUDA_MARK_MESHES] = "meshes",
    [ORR_CUDA_MARK_FIELDS] = "fields",   [ORR_CUDA_MARK_PROJECT] = "project",
    [ORR_CUDA_MARK_SORT] = "sort",       [ORR_CUDA_MARK_BIN] = "bin",
    [ORR_CUDA_MARK_BLEND] = "blend"};

// ---- opening and closing ----

orr_result orr_cuda_frame_open(orr_cuda_frame *frame, orr_error *error)
{
    ORR_CUDA_TRY(cudaMallocHost((void **)&frame->counted, 2 * sizeof *frame->counted));
    for (int i = 0; i < ORR_CUDA_MARK_COUNT; i++) {
        ORR_CUDA_TRY(cudaEventCreateWithFlags(&frame->marks[i], cudaEventDefault));
    }
    return ORR_OK;
}

orr_result orr_cuda_frame_open_mirrors(orr_cuda_frame *frame, orr_error *error)
{
    if (!frame->mirrors) {
        frame->mirrors = orr_alloc_zero(ORR_MIRRORS, sizeof *frame->mirrors);
    }
    if (!frame->mirrors) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the mirrors of a frame");
    }
    for (int i = 0; i < ORR_MIRRORS; i++) {
        orr_cuda_frame *mirror = &frame->mirrors[i];
        if (!mirror->counted) {
            ORR_CUDA_TRY(cudaMallocHost((void **)&mirror->counted, 2 * sizeof *mirror->counted));
        }
    }
    return ORR_OK;
}

void orr_cuda_frame_close(orr_cuda_frame *frame)
{
    for (int i = 0; i < ORR_MIRRORS && frame->mirrors; i++) {
        orr_cuda_frame_close(&frame->mirrors[i]);
    }
    orr_free(frame->mirrors);
    orr_free(frame->clouds);
    orr_free(frame->fields);
    orr_cuda_mesh_frame_destroy(&frame->meshes);
    orr_cuda_pieces_close(&frame->pieces);
    orr_cuda_cloud_shadows_close(&frame->cloud_shadows);
    orr_cuda_environments_release(&frame->environments);
    orr_cuda_seen_close(&frame->seen);
    orr_cuda_nodes_close(&frame->nodes);
    orr_cuda_release(&frame->rgba);
    orr_cuda_release(&frame->depth);
    for (int i = 0; i < ORR_CUDA_MARK_COUNT; i++) {
        if (frame->marks[i]) {
            cudaEventDestroy(frame->marks[i]);
        }
    }
    cudaFreeHost(frame->counted);
    *frame = (orr_cuda_frame){0};
}

orr_result orr_cuda_stages_open(orr_cuda *cuda, orr_cuda_stages *stages, orr_error *error)
{
    void *control;
    *stages = (orr_cuda_stages){.cuda = cuda};
    ORR_TRY(orr_cuda_alloc(cuda, 1, sizeof *stages->control, &control, error));
    stages->control = control;
    return ORR_OK;
}

void orr_cuda_stages_close(orr_cuda_stages *stages)
{
    orr_cuda_buffer *buffers[] = {&stages->centres,      &stages->shapes,       &stages->colours,
                                  &stages->keys,         &stages->order,        &stages->tile_counts,
                                  &stages->pair_tiles,   &stages->pair_splats,  &stages->ranges,
                                  &stages->field_depth,  &stages->field_colour, &stages->traced,
                                  &stages->cloud_texels, &stages->takers};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        orr_cuda_release(buffers[i]);
    }
    orr_cuda_meshes_destroy(&stages->meshes);
    orr_cuda_sort_release(&stages->sort);
    orr_cuda_free(stages->control);
    *stages = (orr_cuda_stages){0};
}

// ---- memory ----

// Are there planes of fields, from the device or from the CPU?
static bool shows_fields(const orr_cuda_frame *frame)
{
    return frame->host.fields || frame->field_count > 0;
}

static size_t pixel_count(const orr_cuda_frame *frame)
{
    return (size_t)frame->width * (size_t)frame->height;
}

static bool notes_takers(const orr_cuda_frame *frame)
{
    return frame->seen.asked && frame->splats > 0;
}

static int tiles_along(int pixels)
{
    return (pixels + ORR_CUDA_TILE - 1) / ORR_CUDA_TILE;
}

// Room for all splats, of which a picture from nearby may show more nodes than this one.
static size_t most_records(const orr_cuda_frame *frame)
{
    size_t splats = 0;
    for (int i = 0; i < frame->cloud_count; i++) {
        splats += (size_t)frame->clouds[i].cloud.count;
    }
    return splats > frame->splats ? splats : frame->splats;
}

static orr_result reserve(orr_cuda_stages *s, const orr_cuda_frame *frame, orr_error *error)
{
    size_t pixels = pixel_count(frame), splats = most_records(frame);
    size_t tiles = (size_t)tiles_along(frame->width) * (size_t)tiles_along(frame->height);
    const size_t map_tiles = (size_t)(ORR_CLOUD_SHADOW_SIZE_MAX / ORR_CUDA_TILE) *
                             (size_t)(ORR_CLOUD_SHADOW_SIZE_MAX / ORR_CUDA_TILE);
    if (frame->cloud_shadows.found.table.count > 0 && tiles < map_tiles) {
        tiles = map_tiles;
    }
    if (splats > PAIRS_MOST) {
        return orr_fail(error, ORR_CODE_CAPACITY, "CUDA: %zu splats in one frame; expected at most %d",
                        splats, PAIRS_MOST);
    }
    if (s->pair_capacity < PAIRS_PER_SPLAT * splats) {
        size_t pairs = PAIRS_PER_SPLAT * splats;
        s->pair_capacity = pairs < PAIRS_MOST ? (uint32_t)pairs : PAIRS_MOST;
    }
    const struct {
        orr_cuda_buffer *buffer;
        size_t count, size;
    } buffers[] = {
        {&s->centres, splats, 4 * sizeof(float)},
        {&s->shapes, splats, 4 * sizeof(float)},
        {&s->colours, splats, 4 * sizeof(float)},
        {&s->keys, splats, sizeof(uint32_t)},
        {&s->order, splats, sizeof(uint32_t)},
        {&s->tile_counts, splats, sizeof(uint32_t)},
        {&s->pair_tiles, s->pair_capacity, sizeof(uint32_t)},
        {&s->pair_splats, s->pair_capacity, sizeof(uint32_t)},
        {&s->ranges, 2 * tiles, sizeof(uint32_t)},
        {&s->field_depth, shows_fields(frame) ? pixels : 0, sizeof(float)},
        {&s->field_colour, shows_fields(frame) ? pixels : 0, 4 * sizeof(float)},
        {&s->traced, frame->host.traced ? pixels : 0, 4 * sizeof(float)},
        {&s->cloud_texels, (size_t)frame->cloud_shadows.found.texels, ORR_CLOUD_TEXEL * sizeof(float)},
        {&s->takers, notes_takers(frame) ? pixels : 0, sizeof(uint32_t)},
    };
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        ORR_TRY(orr_cuda_reserve(s->cuda, buffers[i].buffer, buffers[i].count, buffers[i].size, error));
    }
    size_t most = splats > s->pair_capacity ? splats : s->pair_capacity;
    return orr_cuda_sort_reserve(s->cuda, &s->sort, most, error);
}

// Did the buffers take all the pairs that were counted? If not, they will.
static orr_result judge_pairs(orr_cuda_stages *stages, const orr_cuda_control *counted, bool *complete,
                              orr_error *error)
{
    const uint32_t needed = counted->needed;
    *complete &= needed <= counted->pairs;
    if (needed > PAIRS_MOST) {
        return orr_fail(error, ORR_CODE_CAPACITY, "CUDA: %u pairs of tiles and splats; expected at most %d",
                        needed, PAIRS_MOST);
    }
    if (stages->pair_capacity < needed) { // a later frame may have grown it already
        stages->pair_capacity = needed + needed / 8;
    }
    return ORR_OK;
}

// The same as orr_cuda_stages_judge but for the frame's mirrors.
static orr_result judge(orr_cuda_stages *stages, const orr_cuda_frame *frame, bool *complete,
                        orr_error *error)
{
    bool again = false;
    if (frame->has_meshes) {
        ORR_TRY(orr_cuda_meshes_check(&stages->meshes, &frame->meshes, &again, error));
    }
    *complete = !again;
    for (int i = 0; i < frame->cloud_shadows.found.map_count; i++) {
        ORR_TRY(judge_pairs(stages, &frame->cloud_shadows.staged->counted[i], complete, error));
    }
    return judge_pairs(stages, frame->counted, complete, error);
}

orr_result orr_cuda_stages_judge(orr_cuda_stages *stages, const orr_cuda_frame *frame, bool *complete,
                                 orr_error *error)
{
    ORR_TRY(judge(stages, frame, complete, error));
    for (int i = 0; i < frame->mirror_count; i++) {
        bool mirror_complete;
        ORR_TRY(judge(stages, &frame->mirrors[i], &mirror_complete, error));
        *complete &= mirror_complete;
    }
    return ORR_OK;
}

// ---- stages ----

static orr_result upload(const orr_cuda_stages *s, const orr_cuda_buffer *to, const void *from, size_t bytes,
                         orr_error *error)
{
    ORR_CUDA_TRY(cudaMemcpyAsync(to->memory, from, bytes, cudaMemcpyHostToDevice, s->cuda->stream));
    return ORR_OK;
}

static orr_result upload_host_view(orr_cuda_stages *s, const orr_cuda_frame *frame, orr_error *error)
{
    const orr_host_view *host = &frame->host;
    const size_t plane = pixel_count(frame) * sizeof(float);
    if (host->fields) {
        ORR_TRY(upload(s, &s->field_depth, host->fields->depth, plane, error));
        ORR_TRY(upload(s, &s->field_colour, host->fields->colour, 4 * plane, error));
    }
    return host->traced ? upload(s, &s->traced, host->traced, 4 * plane, error) : ORR_OK;
}

static orr_cuda_cloud_light cloud_light(const orr_cuda_stages *s, const orr_cuda_frame *frame)
{
    const orr_cuda_cloud_staged *staged = frame->cloud_shadows.memory.memory;
    return frame->cloud_shadows.found.table.count > 0
               ? (orr_cuda_cloud_light){.table = &staged->table, .texels = s->cloud_texels.memory}
               : (orr_cuda_cloud_light){.table = NULL};
}

static orr_result draw_fields(orr_cuda_stages *s, const orr_cuda_frame *frame, const float *mesh_depth,
                              orr_error *error)
{
    for (int i = 0; i < frame->field_count; i++) {
        orr_cuda_march march = frame->fields[i];
        march.far_depth = mesh_depth;
        march.colour = s->field_colour.memory;
        march.depth = s->field_depth.memory;
        march.over = frame->host.fields || i > 0;
        ORR_TRY(orr_cuda_field_draw(s->cuda, &march, error));
    }
    return ORR_OK;
}

// What all fields show together, in the light of lamps.
static orr_result light_fields(const orr_cuda_stages *s, const orr_cuda_frame *frame,
                               const orr_cuda_mesh_planes *meshes, orr_error *error)
{
    if (!shows_fields(frame) || frame->field_lamps.lamps.count == 0) {
        return ORR_OK;
    }
    const orr_cuda_field_light light = {.lamps = frame->field_lamps,
                                        .captured = frame->self_depths,
                                        .shadows = meshes->shadows,
                                        .shadow_maps = meshes->shadow_maps,
                                        .clouds = cloud_light(s, frame),
                                        .depth = s->field_depth.memory,
                                        .colour = s->field_colour.memory};
    orr_cuda_field_light_planes(s->cuda->stream, &light);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

static orr_result project(orr_cuda_stages *s, const orr_cuda_frame *frame, orr_cuda_records records,
                          orr_error *error)
{
    size_t first = 0;
    for (int i = 0; i < frame->cloud_count; i++) {
        const orr_cuda_seen_cloud *seen = &frame->clouds[i];
        if (seen->nodes) {
            if (seen->records > 0) {
                orr_cuda_splats_project_nodes(s->cuda->stream, &seen->levels, seen->nodes, seen->records,
                                              &seen->lens, seen->clip, (uint32_t)first, records,
                                              s->keys.memory, s->order.memory, s->control);
            }
        } else if (seen->eye) {
            orr_cuda_splats_project_eye(s->cuda->stream, &seen->cloud, seen->eye, seen->distorted,
                                        (uint32_t)first, records, s->keys.memory, s->order.memory,
                                        s->control);
        } else {
            orr_cuda_splats_project(s->cuda->stream, &seen->cloud, &seen->lens, seen->clip, seen->pieces,
                                    (uint32_t)first, records, s->keys.memory, s->order.memory, s->control);
        }
        ORR_CUDA_LAUNCHED();
        first += seen->nodes ? seen->records : (size_t)seen->cloud.count;
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

static orr_result mark(const orr_cuda_stages *s, const orr_cuda_frame *frame, orr_cuda_mark which,
                       orr_error *error)
{
    if (frame->marks[which]) {
        ORR_CUDA_TRY(cudaEventRecordWithFlags(frame->marks[which], s->cuda->stream,
                                              frame->captured ? cudaEventRecordExternal : 0));
    }
    return ORR_OK;
}

// A stage ends and the next one begins, for the device's clock and for a profiler.
static orr_result end_stage(const orr_cuda_stages *s, const orr_cuda_frame *frame, orr_cuda_mark which,
                            orr_error *error)
{
    ORR_TRY(mark(s, frame, which, error));
    orr_cuda_range_end();
    orr_cuda_range_begin(which == ORR_CUDA_MARK_BLEND ? "count" : orr_cuda_mark_names[which + 1]);
    return ORR_OK;
}

orr_result orr_cuda_stages_bin(orr_cuda_stages *s, orr_cuda_records records, orr_cuda_control *control,
                               size_t capacity, int tiles_x, int tiles_y, orr_error *error)
{
    cudaStream_t stream = s->cuda->stream;
    orr_cuda_splats_count(stream, records, s->order.memory, tiles_x, tiles_y, capacity, control,
                          s->tile_counts.memory);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(orr_cuda_running_sum(s->cuda, &s->sort, s->tile_counts.memory, s->tile_counts.memory,
                                 &control->needed, &control->visible, capacity, error));
    orr_cuda_splats_emit(stream, records, s->order.memory, tiles_x, tiles_y, capacity, s->pair_capacity,
                         control, s->tile_counts.memory, s->pair_tiles.memory, s->pair_splats.memory);
    ORR_CUDA_LAUNCHED();
    ORR_TRY(orr_cuda_sort_pairs(s->cuda, &s->sort, s->pair_tiles.memory, s->pair_splats.memory,
                                &control->pairs, s->pair_capacity, bits_of((size_t)tiles_x * (size_t)tiles_y),
                                error));
    orr_cuda_splats_find_tiles(stream, s->pair_tiles.memory, s->pair_capacity, control, s->ranges.memory);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

static orr_result draw_splats(orr_cuda_stages *s, const orr_cuda_frame *frame, orr_cuda_records records,
                              orr_error *error)
{
    orr_cuda_control *control = s->control;
    const int tiles_x = tiles_along(frame->width), tiles_y = tiles_along(frame->height);
    ORR_TRY(project(s, frame, records, error));
    ORR_TRY(end_stage(s, frame, ORR_CUDA_MARK_PROJECT, error));
    ORR_TRY(orr_cuda_sort_pairs(s->cuda, &s->sort, s->keys.memory, s->order.memory, &control->splats,
                                frame->splats, 32, error));
    ORR_TRY(end_stage(s, frame, ORR_CUDA_MARK_SORT, error));
    return orr_cuda_stages_bin(s, records, control, frame->splats, tiles_x, tiles_y, error);
}

// depth: receives the picture's depth
static orr_result blend(orr_cuda_stages *s, const orr_cuda_frame *frame, orr_cuda_records records,
                        const orr_cuda_mesh_planes *meshes, float *depth, orr_error *error)
{
    const orr_cuda_blend blend = {
        .records = records,
        .ranges = s->ranges.memory,
        .pair_splats = s->pair_splats.memory,
        .width = frame->width,
        .height = frame->height,
        .tiles_x = tiles_along(frame->width),
        .tiles_y = tiles_along(frame->height),
        .mesh_depth = meshes->depth,
        .mesh_colour = meshes->colour,
        .field_depth = shows_fields(frame) ? s->field_depth.memory : NULL,
        .field_colour = s->field_colour.memory,
        .fragment_starts = meshes->fragment_starts,
        .fragments = meshes->fragments,
        .edge_of = meshes->edge_of,
        .edges = meshes->edges,
        .shadows = meshes->shadows,
        .shadow_maps = frame->eye.umbra < 1.0f ? meshes->shadow_maps : NULL,
        .clouds = frame->eye.umbra < 1.0f ? cloud_light(s, frame) : (orr_cuda_cloud_light){.table = NULL},
        .self_depths = frame->self.size > 0.0f ? frame->self_depths : NULL,
        .self = frame->self,
        .eye = frame->eye,
        .occlusion = frame->eye.umbra > 0.0f ? meshes->occlusion : (orr_cuda_occlusion){.depth = NULL},
        .opaque = frame->opaque,
        .backdrop = frame->has_backdrop,
        .sky = frame->sky,
        .behind = frame->behind,
        .rgba = frame->rgba.memory,
        .depth = depth,
        .takers = notes_takers(frame) ? s->takers.memory : NULL,
    };
    orr_cuda_splats_blend(s->cuda->stream, &blend);
    ORR_CUDA_LAUNCHED();
    return ORR_OK;
}

// From its upload to its picture. depth: receives the picture's depth
static orr_result record_stages(orr_cuda_stages *s, orr_cuda_frame *frame, float *depth, orr_error *error)
{
    cudaStream_t stream = s->cuda->stream;
    const size_t tiles = (size_t)tiles_along(frame->width) * (size_t)tiles_along(frame->height);
    const orr_cuda_records records = {s->centres.memory, s->shapes.memory, s->colours.memory};
    orr_cuda_mesh_planes meshes = {0};
    ORR_TRY(upload_host_view(s, frame, error));
    frame->counted[1] = (orr_cuda_control){.splats = (uint32_t)frame->splats};
    ORR_CUDA_TRY(
        cudaMemcpyAsync(s->control, &frame->counted[1], sizeof *s->control, cudaMemcpyHostToDevice, stream));
    ORR_CUDA_TRY(cudaMemsetAsync(s->ranges.memory, 0, 2 * tiles * sizeof(uint32_t), stream));
    ORR_TRY(end_stage(s, frame, ORR_CUDA_MARK_UPLOAD, error));
    if (frame->has_meshes) {
        frame->meshes.scene.clouds = cloud_light(s, frame);
        frame->meshes.scene.traced = frame->host.traced ? s->traced.memory : NULL;
        ORR_TRY(orr_cuda_meshes_draw(s->cuda, &s->meshes, &s->sort, &frame->meshes, &meshes, error));
    }
    ORR_TRY(end_stage(s, frame, ORR_CUDA_MARK_MESHES, error));
    ORR_TRY(draw_fields(s, frame, meshes.depth, error));
    ORR_TRY(light_fields(s, frame, &meshes, error));
    ORR_TRY(end_stage(s, frame, ORR_CUDA_MARK_FIELDS, error));
    if (frame->splats > 0) {
        ORR_TRY(draw_splats(s, frame, records, error));
    } else {
        ORR_TRY(mark(s, frame, ORR_CUDA_MARK_PROJECT, error));
        ORR_TRY(mark(s, frame, ORR_CUDA_MARK_SORT, error));
    }
    ORR_TRY(end_stage(s, frame, ORR_CUDA_MARK_BIN, error));
    ORR_TRY(blend(s, frame, records, &meshes, depth, error));
    if (frame->seen.asked) {
        ORR_TRY(orr_cuda_seen_draw(s->cuda, &frame->seen, frame->has_meshes ? &frame->meshes.scene : NULL,
                                   notes_takers(frame) ? s->takers.memory : NULL, depth, error));
    }
    ORR_TRY(end_stage(s, frame, ORR_CUDA_MARK_BLEND, error));
    ORR_CUDA_TRY(
        cudaMemcpyAsync(frame->counted, s->control, sizeof *s->control, cudaMemcpyDeviceToHost, stream));
    return mark(s, frame, ORR_CUDA_MARK_END, error);
}

static orr_result record_cloud_maps(orr_cuda_stages *s, const orr_cuda_frame *frame, orr_error *error)
{
    if (frame->cloud_shadows.found.table.count == 0) {
        return ORR_OK;
    }
    orr_cuda_range_begin(orr_cuda_mark_names[ORR_CUDA_MARK_CLOUD_SHADOWS]);
    const orr_result result = orr_cuda_cloud_maps_draw(s, frame, error);
    orr_cuda_range_end();
    return result == ORR_OK ? mark(s, frame, ORR_CUDA_MARK_CLOUD_SHADOWS, error) : result;
}

// The frame's own depth is written after its mirrors'.
static orr_result record_mirrors(orr_cuda_stages *s, const orr_cuda_frame *frame, orr_error *error)
{
    orr_cuda_range_begin(orr_cuda_mark_names[ORR_CUDA_MARK_MIRRORS]);
    orr_result result = ORR_OK;
    for (int i = 0; i < frame->mirror_count && result == ORR_OK; i++) {
        result = record_cloud_maps(s, &frame->mirrors[i], error);
        orr_cuda_range_begin(orr_cuda_mark_names[ORR_CUDA_MARK_UPLOAD]);
        result = result == ORR_OK ? record_stages(s, &frame->mirrors[i], frame->depth.memory, error) : result;
        orr_cuda_range_end();
    }
    orr_cuda_range_end();
    return result == ORR_OK ? mark(s, frame, ORR_CUDA_MARK_MIRRORS, error) : result;
}

orr_result orr_cuda_stages_record(orr_cuda_stages *stages, orr_cuda_frame *frame, orr_error *error)
{
    ORR_TRY(reserve(stages, frame, error)); // its mirrors need no more
    ORR_TRY(mark(stages, frame, ORR_CUDA_MARK_BEGIN, error));
    orr_cuda_range_begin("frame");
    orr_result result = frame->mirror_count > 0 ? record_mirrors(stages, frame, error) : ORR_OK;
    result = result == ORR_OK ? record_cloud_maps(stages, frame, error) : result;
    orr_cuda_range_begin(orr_cuda_mark_names[ORR_CUDA_MARK_UPLOAD]);
    result = result == ORR_OK ? record_stages(stages, frame, frame->depth.memory, error) : result;
    orr_cuda_range_end();
    orr_cuda_range_end();
    return result;
}
