// Frames in flight on CUDA: what each needs is uploaded once, and its stages are put into the device's stream
// behind those of the frame before it. Pictures are copied to the host in a second stream, beside the stages
// of the next frame.
#include "render/cuda/draw.h"

#include "render/cuda/clouds.h"
#include "render/cuda/fields.h"
#include "render/cuda/stages.h"

#include <stdio.h>
#include <string.h>

enum { FRAMES_MAX = 8 };

typedef struct frame_slot {
    orr_cuda_frame frame;
    bool settled; // done: drawn in full, or failed
    orr_result outcome;
    orr_error why;
} frame_slot;

struct orr_cuda_draw {
    orr_cuda *cuda;  // borrowed
    orr_jobs *jobs;  // likewise
    orr_arena arena; // of a submit
    orr_cuda_clouds clouds;
    orr_cuda_level_store levels;
    orr_cuda_fields fields;
    orr_cuda_stages stages;

    frame_slot slots[FRAMES_MAX];
    int slot_count;
    int first, pending; // the oldest frame in flight, and how many there are
    int finished;       // the slot whose picture orr_cuda_draw_picture returns

    orr_cuda copies; // the device, with the stream that copies pictures
    cudaEvent_t copy_begin, copy_end;
    float *landing; // host, pinned: where they arrive; a copy to other memory would make the host wait
    size_t landing_floats;

    orr_cuda_clock clock;
    orr_trace *trace; // nullable
};

// ---- creation ----

static orr_result open_draw(orr_cuda_draw *draw, orr_error *error)
{
    ORR_TRY(orr_cuda_stages_open(draw->cuda, &draw->stages, error));
    for (int i = 0; i < draw->slot_count; i++) {
        ORR_TRY(orr_cuda_frame_open(&draw->slots[i].frame, error));
    }
    ORR_TRY(orr_cuda_open_beside(draw->cuda, &draw->copies, error));
    ORR_CUDA_TRY(cudaEventCreateWithFlags(&draw->copy_begin, cudaEventDefault));
    ORR_CUDA_TRY(cudaEventCreateWithFlags(&draw->copy_end, cudaEventDefault));
    return ORR_OK;
}

orr_result orr_cuda_draw_create(orr_cuda *cuda, orr_jobs *jobs, int frames_in_flight, orr_cuda_draw **out,
                                orr_error *error)
{
    *out = NULL;
    if (frames_in_flight < 1 || frames_in_flight > FRAMES_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d frames in flight: expected 1 to %d", frames_in_flight,
                        FRAMES_MAX);
    }
    orr_cuda_draw *draw = orr_alloc_zero(1, sizeof *draw);
    if (!draw) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: drawing on CUDA");
    }
    draw->cuda = cuda;
    draw->jobs = jobs;
    draw->slot_count = frames_in_flight;
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
    orr_cuda_close_beside(&draw->copies);
    orr_cuda_clouds_destroy(&draw->clouds);
    orr_cuda_level_store_destroy(&draw->levels);
    orr_cuda_fields_destroy(&draw->fields);
    orr_cuda_stages_close(&draw->stages);
    for (int i = 0; i < draw->slot_count; i++) {
        orr_cuda_frame_close(&draw->slots[i].frame);
    }
    if (draw->copy_begin) {
        cudaEventDestroy(draw->copy_begin);
    }
    if (draw->copy_end) {
        cudaEventDestroy(draw->copy_end);
    }
    cudaFreeHost(draw->landing);
    orr_cuda_clock_destroy(&draw->clock);
    orr_arena_destroy(&draw->arena);
    orr_free(draw);
}

// ---- frames that are done ----

// Waits for a frame, not for those behind it; one that ran out of memory is drawn again with enough, behind
// them.
static orr_result complete(orr_cuda_draw *draw, orr_cuda_frame *frame, orr_error *error)
{
    for (;;) {
        bool complete;
        ORR_CUDA_TRY(cudaEventSynchronize(frame->marks[ORR_CUDA_MARK_END]));
        ORR_TRY(orr_cuda_stages_judge(&draw->stages, frame, &complete, error));
        if (complete) {
            return ORR_OK;
        }
        ORR_TRY(orr_cuda_stages_record(&draw->stages, frame, error));
    }
}

static void settle(orr_cuda_draw *draw, frame_slot *slot)
{
    if (!slot->settled) {
        slot->outcome = complete(draw, &slot->frame, &slot->why);
        slot->settled = true;
        if (slot->outcome !=
            ORR_OK) { // work left in the stream must not use this slot once it is another frame's
            orr_cuda_wait(draw->cuda, NULL);
        }
    }
}

// Before an upload is changed or freed: a frame that has to be drawn again still needs it.
static void settle_all(orr_cuda_draw *draw)
{
    for (int i = 0; i < draw->pending; i++) {
        settle(draw, &draw->slots[(draw->first + i) % draw->slot_count]);
    }
}

void orr_cuda_draw_release(orr_cuda_draw *draw, uint64_t key)
{
    settle_all(draw);
    orr_cuda_clouds_release(&draw->clouds, key);
    orr_cuda_level_store_release(&draw->levels, key);
    orr_cuda_fields_release(&draw->fields, key);
    orr_cuda_meshes_release(&draw->stages.meshes, key);
}

// ---- what a frame is made of ----

static orr_result take_field(orr_cuda_draw *draw, const orr_draw_field *drawn, orr_cuda_field **field,
                             bool *first, orr_error *error)
{
    if (orr_cuda_fields_lag(&draw->fields, drawn)) {
        settle_all(draw);
    }
    return orr_cuda_fields_take(draw->cuda, &draw->fields, drawn, field, first, error);
}

bool orr_cuda_draw_takes_field(orr_cuda_draw *draw, const orr_draw_field *field, orr_log log)
{
    bool first;
    orr_error why = {0};
    orr_cuda_field *taken;
    if (take_field(draw, field, &taken, &first, &why) == ORR_OK) {
        return true;
    }
    if (first) {
        orr_log_line(log, ORR_LOG_WARNING, (orr_code)why.code, "%s: the CPU draws this field", why.message);
    }
    return false;
}

static orr_result take_fields(orr_cuda_draw *draw, orr_cuda_frame *frame, const orr_draw_list *list,
                              orr_error *error)
{
    ORR_GROW(frame->fields, frame->field_capacity, list->field_count, "fields of a frame", error);
    frame->field_count = list->field_count;
    for (int i = 0; i < list->field_count; i++) {
        const orr_draw_field *drawn = &list->fields[i];
        orr_cuda_field *field;
        bool first;
        float to_unit[12];
        ORR_TRY(take_field(draw, drawn, &field, &first, error));
        ORR_TRY(orr_field_layer_to_unit(drawn->layer, drawn->model, to_unit, error));
        ORR_TRY(
            orr_cuda_field_see(field, &list->lens, to_unit, list->sun.direction, &frame->fields[i], error));
    }
    return ORR_OK;
}

// The nodes of a cloud that is merged; all of it only where it casts a shadow.
static orr_result take_nodes(orr_cuda_draw *draw, orr_cuda_frame *frame, const orr_draw_list *list,
                             const orr_draw_splats *splats, orr_cuda_seen_cloud *seen, orr_error *error)
{
    const orr_cuda_cloud *cloud;
    seen->cloud = (orr_cuda_cloud){
        .key = splats->key, .count = splats->pack->count, .sh_degree = splats->pack->sh_degree};
    if (list->shadows && splats->casts_shadow) {
        ORR_TRY(orr_cuda_clouds_take(draw->cuda, &draw->clouds, splats, &cloud, error));
        seen->cloud = *cloud;
    }
    ORR_TRY(orr_cuda_level_store_take(draw->cuda, &draw->levels, splats, &seen->levels, error));
    seen->nodes = (const uint32_t *)frame->nodes.memory.memory + frame->nodes.count;
    return orr_cuda_nodes_add(draw->jobs, &draw->arena, &frame->nodes, splats, &seen->lens, &seen->records,
                              error);
}

// pieces: of all clouds, in the device's memory
static orr_result take_clouds(orr_cuda_draw *draw, orr_cuda_frame *frame, const orr_draw_list *list,
                              const orr_affine_piece *pieces, orr_error *error)
{
    ORR_GROW(frame->clouds, frame->cloud_capacity, list->splat_count, "clouds of a frame", error);
    frame->cloud_count = list->splat_count;
    frame->splats = 0;
    ORR_TRY(orr_cuda_nodes_begin(draw->cuda, &frame->nodes, list, error));
    for (int i = 0; i < list->splat_count; i++) {
        const orr_draw_splats *splats = &list->splats[i];
        const orr_cuda_cloud *cloud;
        orr_cuda_seen_cloud *seen = &frame->clouds[i];
        ORR_TRY(orr_splat_lens_make(&list->lens, splats, &seen->lens, error));
        orr_splat_lens_clip(&list->lens, &seen->lens, seen->clip);
        seen->eye = NULL;
        seen->nodes = NULL;
        if (orr_draw_merges(list, splats)) {
            ORR_TRY(take_nodes(draw, frame, list, splats, seen, error));
        } else {
            ORR_TRY(orr_cuda_clouds_take(draw->cuda, &draw->clouds, splats, &cloud, error));
            seen->cloud = *cloud;
            seen->records = (size_t)cloud->count;
        }
        frame->splats += seen->records;
        seen->pieces = seen->cloud.piece_of ? pieces : NULL;
        pieces = pieces ? pieces + splats->deformation.piece_count : NULL;
    }
    return orr_cuda_nodes_send(draw->cuda, &frame->nodes, error);
}

// Where the records of each cloud begin, and one more.
static orr_result find_firsts(orr_cuda_draw *draw, const orr_cuda_frame *frame, uint32_t **firsts,
                              orr_error *error)
{
    uint32_t *first = orr_arena_take(&draw->arena, (size_t)frame->cloud_count + 1, sizeof *first);
    if (!first) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: clouds of a frame");
    }
    first[0] = 0;
    for (int i = 0; i < frame->cloud_count; i++) {
        first[i + 1] = first[i] + (uint32_t)frame->clouds[i].records;
    }
    *firsts = first;
    return ORR_OK;
}

// texels: of its environments
static void see_behind(orr_cuda_frame *frame, const orr_draw_list *list, const uint32_t *texels)
{
    frame->behind = (orr_cuda_behind){0};
    if (list->environment_behind) {
        orr_draw_lighting lighting;
        orr_draw_light_up(list, &lighting);
        frame->behind = (orr_cuda_behind){.texels = texels,
                                          .view = lighting.environments[0],
                                          .exposure = lighting.exposure,
                                          .tone = lighting.tone};
    }
}

// What a list shows. whole: the frame itself, or the one whose mirror it is; mirrors: of the frame
static orr_result see(orr_cuda_draw *draw, orr_cuda_frame *frame, const orr_cuda_frame *whole,
                      const orr_draw_list *list, const orr_mirror_pictures *mirrors, orr_error *error)
{
    const size_t pixels = (size_t)list->lens.width * (size_t)list->lens.height;
    const uint32_t *texels = whole->environments.texels.memory;
    uint32_t *firsts;
    frame->width = list->lens.width;
    frame->height = list->lens.height;
    frame->opaque = list->opaque;
    frame->sky = orr_sky_as_seen(&list->sky, &list->lens);
    frame->eye = orr_shadow_eye_of(&list->lens, list->umbra, orr_draw_captured_by_lamp(list));
    orr_field_lamps_find(list, &frame->field_lamps);
    frame->self = orr_self_shadow_values(orr_self_shadow_of_capture(list->self_shadow), list->lens.view);
    frame->self_depths = whole->environments.self_depths;
    frame->has_backdrop = list->backdrop.mesh != NULL;
    frame->has_meshes = list->mesh_count > 0 || frame->has_backdrop;
    see_behind(frame, list, texels);
    if (frame->has_meshes) {
        ORR_TRY(
            orr_cuda_meshes_begin(draw->cuda, &draw->stages.meshes, &frame->meshes, list, mirrors, error));
        frame->meshes.scene.environment_texels = texels;
        frame->meshes.scene.captured_depths = frame->self_depths;
    }
    ORR_TRY(take_clouds(draw, frame, list, whole->pieces.memory.memory, error));
    ORR_TRY(find_firsts(draw, frame, &firsts, error));
    ORR_TRY(orr_cuda_cloud_shadows_find(draw->cuda, draw->jobs, &draw->arena, list, firsts,
                                        frame->has_meshes ? &frame->meshes.shadows : NULL,
                                        &frame->cloud_shadows, error));
    ORR_TRY(take_fields(draw, frame, list, error));
    return orr_cuda_reserve(draw->cuda, &frame->rgba, pixels, 4 * sizeof(float), error);
}

// What pixels of the frame itself show besides.
static orr_result see_besides(orr_cuda_draw *draw, orr_cuda_frame *frame, const orr_draw_list *list,
                              orr_error *error)
{
    uint32_t *firsts;
    ORR_TRY(find_firsts(draw, frame, &firsts, error));
    return orr_cuda_seen_take(draw->cuda, &frame->seen, list, firsts, error);
}

static orr_result see_mirrors(orr_cuda_draw *draw, orr_cuda_frame *frame, const orr_draw_list *list,
                              const orr_host_layers *layers, orr_mirror_pictures *mirrors, orr_error *error)
{
    orr_mirror found[ORR_MIRRORS];
    mirrors->count = orr_mirrors_find(list, found);
    if (mirrors->count > 0) {
        ORR_TRY(orr_cuda_frame_open_mirrors(frame, error));
    }
    for (int i = 0; i < mirrors->count; i++) {
        const orr_draw_list seen = orr_mirror_list(&found[i], list);
        frame->mirrors[i].host = layers->mirrors[i];
        ORR_TRY(see(draw, &frame->mirrors[i], frame, &seen, NULL, error));
        mirrors->items[i] = (orr_mirror_picture){found[i], frame->mirrors[i].rgba.memory};
    }
    frame->mirror_count = mirrors->count;
    return ORR_OK;
}

static orr_result submit(orr_cuda_draw *draw, orr_cuda_frame *frame, const orr_draw_list *list,
                         const orr_host_layers *layers, orr_error *error)
{
    const size_t pixels = (size_t)list->lens.width * (size_t)list->lens.height;
    orr_mirror_pictures mirrors;
    orr_arena_reset(&draw->arena);
    frame->host = layers->picture;
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(orr_cuda_environments_take(draw->cuda, &frame->environments, list, error));
    ORR_TRY(orr_cuda_pieces_send(draw->cuda, &frame->pieces, list, error));
    ORR_TRY(see_mirrors(draw, frame, list, layers, &mirrors, error));
    ORR_TRY(see(draw, frame, frame, list, &mirrors, error));
    ORR_TRY(see_besides(draw, frame, list, error));
    orr_trace_host(draw->trace, "upload", start);
    start = orr_clock_nanoseconds();
    ORR_TRY(orr_cuda_reserve(draw->cuda, &frame->depth, pixels, sizeof(float), error));
    ORR_TRY(orr_cuda_stages_record(&draw->stages, frame, error));
    orr_trace_host(draw->trace, "submit", start);
    return ORR_OK;
}

orr_result orr_cuda_draw_submit(orr_cuda_draw *draw, const orr_draw_list *list, const orr_host_layers *layers,
                                orr_error *error)
{
    if (draw->pending == draw->slot_count) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%d frames in flight: finish one before the next is submitted", draw->pending);
    }
    frame_slot *slot = &draw->slots[(draw->first + draw->pending) % draw->slot_count];
    ORR_TRY(orr_cuda_use(draw->cuda, error));
    slot->settled = false;
    const orr_host_layers none = {0};
    orr_result result = submit(draw, &slot->frame, list, layers ? layers : &none, error);
    if (result != ORR_OK) { // part of it is in the stream and uses this slot
        orr_cuda_wait(draw->cuda, NULL);
        return result;
    }
    draw->pending++;
    return ORR_OK;
}

// ---- times ----

orr_result orr_cuda_draw_trace(orr_cuda_draw *draw, orr_trace *trace, orr_error *error)
{
    assert(draw->pending == 0);
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

// Time at which a mark or a copy's event of the frame was reached, measured from its first mark at `begin`:
// exact even when the clock's origin is hours ago.
static orr_result time_of(const orr_cuda_frame *frame, uint64_t begin, cudaEvent_t event, uint64_t *time,
                          orr_error *error)
{
    float milliseconds;
    ORR_CUDA_TRY(cudaEventElapsedTime(&milliseconds, frame->marks[ORR_CUDA_MARK_BEGIN], event));
    *time = begin + (uint64_t)((double)milliseconds * 1e6);
    return ORR_OK;
}

static orr_result add_stages(const orr_cuda_draw *draw, const orr_cuda_frame *frame, bool downloaded,
                             orr_profile *profile, orr_error *error)
{
    const orr_cuda_control *counted = frame->counted;
    const int64_t pixels = (int64_t)frame->width * frame->height;
    const int64_t items[ORR_CUDA_MARK_COUNT] = {
        [ORR_CUDA_MARK_MIRRORS] = frame->mirror_count,
        [ORR_CUDA_MARK_CLOUD_SHADOWS] = frame->cloud_shadows.found.table.count,
        [ORR_CUDA_MARK_MESHES] = frame->meshes.scene.triangle_count,
        [ORR_CUDA_MARK_FIELDS] = pixels * frame->field_count,
        [ORR_CUDA_MARK_PROJECT] = counted->splats,
        [ORR_CUDA_MARK_SORT] = counted->visible,
        [ORR_CUDA_MARK_BIN] = counted->pairs,
        [ORR_CUDA_MARK_BLEND] = (int64_t)counted->pairs * ORR_CUDA_TILE * ORR_CUDA_TILE};
    uint64_t begin = 0, from = 0, to = 0;
    if (draw->trace) {
        ORR_TRY(orr_cuda_clock_read(&draw->clock, frame->marks[ORR_CUDA_MARK_BEGIN], &begin, error));
    }
    for (int i = ORR_CUDA_MARK_BEGIN; i < ORR_CUDA_MARK_COUNT; i++) {
        if ((i == ORR_CUDA_MARK_MIRRORS && frame->mirror_count == 0) ||
            (i == ORR_CUDA_MARK_CLOUD_SHADOWS && frame->cloud_shadows.found.table.count == 0)) {
            continue;
        }
        ORR_TRY(time_of(frame, begin, frame->marks[i], &to, error));
        bool idle = (i == ORR_CUDA_MARK_MESHES && !frame->has_meshes) ||
                    (i == ORR_CUDA_MARK_FIELDS && frame->field_count == 0);
        if (orr_cuda_mark_names[i] && !idle) {
            orr_profile_span(profile, ORR_TRACK_CUDA, orr_cuda_mark_names[i], from, to, items[i]);
        }
        from = to;
    }
    if (downloaded) {
        ORR_TRY(time_of(frame, begin, draw->copy_begin, &from, error));
        ORR_TRY(time_of(frame, begin, draw->copy_end, &to, error));
        orr_profile_span(profile, ORR_TRACK_COPIES, "download", from, to, pixels);
    }
    return ORR_OK;
}

// ---- the picture ----

static orr_result reserve_landing(orr_cuda_draw *draw, size_t floats, orr_error *error)
{
    if (draw->landing_floats >= floats) {
        return ORR_OK;
    }
    cudaFreeHost(draw->landing);
    draw->landing = NULL;
    draw->landing_floats = 0;
    ORR_CUDA_TRY(cudaMallocHost((void **)&draw->landing, floats * sizeof(float)));
    draw->landing_floats = floats;
    return ORR_OK;
}

static orr_result copy_plane(const orr_cuda_draw *draw, size_t at, const orr_cuda_buffer *plane,
                             size_t floats, orr_error *error)
{
    ORR_CUDA_TRY(cudaMemcpyAsync(draw->landing + at, plane->memory, floats * sizeof(float),
                                 cudaMemcpyDeviceToHost, draw->copies.stream));
    return ORR_OK;
}

// The frame is done: nothing on the device has to be waited for.
static orr_result download(orr_cuda_draw *draw, const orr_cuda_frame *frame, const orr_picture *picture,
                           orr_error *error)
{
    const size_t pixels = (size_t)frame->width * (size_t)frame->height;
    const size_t rgba = picture->rgba ? 4 * pixels : 0, depth = picture->depth ? pixels : 0;
    ORR_TRY(reserve_landing(draw, rgba + depth, error));
    ORR_CUDA_TRY(cudaEventRecord(draw->copy_begin, draw->copies.stream));
    if (rgba > 0) {
        ORR_TRY(copy_plane(draw, 0, &frame->rgba, rgba, error));
    }
    if (depth > 0) {
        ORR_TRY(copy_plane(draw, rgba, &frame->depth, depth, error));
    }
    ORR_CUDA_TRY(cudaEventRecord(draw->copy_end, draw->copies.stream));
    ORR_TRY(orr_cuda_wait(&draw->copies, error));
    if (rgba > 0) {
        memcpy(picture->rgba, draw->landing, rgba * sizeof(float));
    }
    if (depth > 0) {
        memcpy(picture->depth, draw->landing + rgba, depth * sizeof(float));
    }
    return ORR_OK;
}

static orr_result finish(orr_cuda_draw *draw, frame_slot *slot, const orr_picture *picture,
                         orr_profile *profile, orr_error *error)
{
    bool downloads = picture && (picture->rgba || picture->depth);
    uint64_t start = orr_clock_nanoseconds();
    settle(draw, slot);
    orr_trace_host(draw->trace, "wait", start);
    if (slot->outcome != ORR_OK) {
        if (error) {
            *error = slot->why;
        }
        return slot->outcome;
    }
    if (downloads) { // it may stay on the device
        start = orr_clock_nanoseconds();
        ORR_TRY(download(draw, &slot->frame, picture, error));
        orr_trace_host(draw->trace, "download", start);
    }
    return profile ? add_stages(draw, &slot->frame, downloads, profile, error) : ORR_OK;
}

orr_result orr_cuda_draw_finish(orr_cuda_draw *draw, const orr_picture *picture, orr_profile *profile,
                                orr_error *error)
{
    if (draw->pending == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "no frame to finish: expected one that was submitted");
    }
    frame_slot *slot = &draw->slots[draw->first];
    orr_result result = orr_cuda_use(draw->cuda, error);
    if (result == ORR_OK) {
        result = finish(draw, slot, picture, profile, error);
    } else { // the slot is used again
        settle(draw, slot);
    }
    draw->finished = draw->first;
    draw->first = (draw->first + 1) % draw->slot_count;
    draw->pending--;
    return result;
}

orr_cuda_picture orr_cuda_draw_picture(const orr_cuda_draw *draw)
{
    const orr_cuda_frame *frame = &draw->slots[draw->finished].frame;
    return (orr_cuda_picture){.rgba = frame->rgba.memory,
                              .depth = frame->depth.memory,
                              .width = frame->width,
                              .height = frame->height,
                              .device = draw->cuda->device,
                              .stream = draw->cuda->stream};
}
