// Frames on Vulkan: what each needs is uploaded once, its commands are recorded and submitted, and its picture is read
// when its value on the timeline is reached.
#include "render/vulkan/draw.h"
#include "engine/core/memory.h"
#include "render/vulkan/image.h"
#include "render/vulkan/splats.h"
#include "render/vulkan/store.h"

#include <stdio.h>
#include <string.h>

enum {
    FRAMES_MAX = 8,
    FIRST_PAIRS = 1 << 18,    // room for splats in tiles until a frame needs more
    FIRST_FRAGMENTS = 1 << 16 // likewise for fragments of transparent meshes
};

// What the device counts, for the host to read.
typedef struct frame_counts {
    orr_vulkan_control control;
    uint32_t fragments;
} frame_counts;

// One frame in flight. Kept whole until it is finished, because a frame that ran out of room is drawn again.
typedef struct frame_slot {
    VkCommandBuffer commands;
    orr_vulkan_marks marks;
    uint64_t value; // of the timeline, when the frame is done
    uint64_t number;

    orr_vulkan_layer *layers;
    int layer_count, layer_capacity;
    orr_vulkan_mesh_item *meshes;
    int mesh_count, mesh_capacity;
    orr_lens lens;
    orr_draw_lighting lighting;
    bool has_backdrop, has_blended;
    int64_t fragments;     // that it needs room for, as far as is known
    int64_t fragment_room; // that it was sent with
    orr_vulkan_room room;  // that it needs, as far as is known
    bool settled;          // done, with room enough or with an error
    orr_result outcome;
    orr_error why;
    bool opaque;
    orr_sky_values sky;
    bool to_image;

    bool has_fields;
    orr_vk_buffer fields;  // what the CPU drew: depths, then four planes of colour
    orr_vk_buffer counts;  // frame_counts, for the host to read
    orr_vk_buffer times;   // likewise: the marks' ticks. Asking the pool may wait for the frames behind
    orr_vk_buffer picture; // rgba of all pixels, then their depths
    orr_vk_image image;    // frames that are presented
} frame_slot;

struct orr_vulkan_draw {
    orr_vk *vk;
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t submitted; // the value the newest submission signals

    frame_slot slots[FRAMES_MAX];
    int slot_count;
    int first, pending; // the oldest frame in flight, and how many there are
    uint64_t frame_number;

    orr_vulkan_store store;
    orr_vulkan_meshes meshes;
    orr_vulkan_splats splats;
    size_t allocations; // besides the store's
    orr_vk_clock clock;
    orr_trace *trace; // nullable
};

// ---- creation ----

static orr_result create_slot(orr_vulkan_draw *draw, frame_slot *slot, orr_error *error)
{
    orr_vk *vk = draw->vk;
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = ORR_VULKAN_MARKS,
    };
    ORR_VK_TRY(vkCreateQueryPool(vk->device, &queries, NULL, &slot->marks.pool), error);
    ORR_TRY(orr_vk_buffer_create(vk, ORR_VULKAN_MARKS * sizeof(uint64_t), ORR_VK_READBACK, 0, "times",
                                 &slot->times, error));
    return orr_vk_buffer_create(vk, sizeof(frame_counts), ORR_VK_READBACK, 0, "counters", &slot->counts,
                                error);
}

static orr_result initialise(orr_vulkan_draw *draw, orr_error *error)
{
    VkCommandBuffer commands[FRAMES_MAX];
    ORR_TRY(orr_vk_commands_create(draw->vk, &draw->pool, commands, (uint32_t)draw->slot_count, error));
    ORR_TRY(orr_vk_timeline_create(draw->vk, &draw->timeline, error));
    ORR_TRY(orr_vk_clock_calibrate(draw->vk, &draw->clock, error));
    for (int i = 0; i < draw->slot_count; i++) {
        draw->slots[i].commands = commands[i];
        ORR_TRY(create_slot(draw, &draw->slots[i], error));
    }
    ORR_TRY(orr_vulkan_store_create(draw->vk, &draw->store, error));
    ORR_TRY(orr_vulkan_meshes_create(&draw->store.upload, &draw->meshes, error));
    return orr_vulkan_splats_create(draw->vk, &draw->splats, error);
}

orr_result orr_vulkan_draw_create(orr_vk *vk, int frames_in_flight, orr_vulkan_draw **out, orr_error *error)
{
    *out = NULL;
    if (frames_in_flight < 1 || frames_in_flight > FRAMES_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d frames in flight: expected 1 to %d", frames_in_flight,
                        FRAMES_MAX);
    }
    orr_vulkan_draw *draw = orr_alloc_zero(1, sizeof *draw);
    if (!draw) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: drawing on Vulkan");
    }
    draw->vk = vk;
    draw->slot_count = frames_in_flight;
    orr_result result = initialise(draw, error);
    if (result != ORR_OK) {
        orr_vulkan_draw_destroy(draw);
        return result;
    }
    *out = draw;
    return ORR_OK;
}

static orr_result wait_for_all(orr_vulkan_draw *draw, orr_error *error)
{
    return orr_vk_timeline_wait(draw->vk, draw->timeline, draw->submitted, error);
}

void orr_vulkan_draw_destroy(orr_vulkan_draw *draw)
{
    if (!draw) {
        return;
    }
    orr_vk *vk = draw->vk;
    // not only for our own frames: who shows an image reads it on the one queue. A lost device answers at once
    vkQueueWaitIdle(vk->queue);
    for (int i = 0; i < draw->slot_count; i++) {
        frame_slot *slot = &draw->slots[i];
        vkDestroyQueryPool(vk->device, slot->marks.pool, NULL);
        orr_vk_buffer_destroy(vk, &slot->fields);
        orr_vk_buffer_destroy(vk, &slot->counts);
        orr_vk_buffer_destroy(vk, &slot->times);
        orr_vk_buffer_destroy(vk, &slot->picture);
        orr_vk_image_destroy(vk, &slot->image);
        orr_free(slot->layers);
        orr_free(slot->meshes);
    }
    orr_vulkan_splats_destroy(&draw->splats);
    orr_vulkan_meshes_destroy(&draw->meshes);
    orr_vulkan_store_destroy(&draw->store);
    vkDestroySemaphore(vk->device, draw->timeline, NULL);
    vkDestroyCommandPool(vk->device, draw->pool, NULL);
    orr_free(draw);
}

// ---- what is drawn ----

static uint64_t oldest_frame(const orr_vulkan_draw *draw)
{
    return draw->pending > 0 ? draw->slots[draw->first].number : draw->frame_number;
}

static orr_result take_layers(orr_vulkan_draw *draw, frame_slot *slot, const orr_draw_list *list,
                              orr_error *error)
{
    if (list->splat_count > slot->layer_capacity) {
        orr_free(slot->layers);
        slot->layer_capacity = 0;
        ORR_ALLOC(slot->layers, list->splat_count, "layers of a frame", error);
        slot->layer_capacity = list->splat_count;
        draw->allocations++;
    }
    slot->layer_count = list->splat_count;
    for (int i = 0; i < list->splat_count; i++) {
        orr_vulkan_layer *layer = &slot->layers[i];
        const orr_vulkan_stored *item;
        ORR_TRY(orr_vulkan_store_take(&draw->store, &list->splats[i], NULL, slot->number, oldest_frame(draw),
                                      &item, error));
        layer->cloud = item->cloud;
        ORR_TRY(orr_splat_lens_make(&list->lens, &list->splats[i], &layer->lens, error));
    }
    return ORR_OK;
}

static orr_result take_meshes(orr_vulkan_draw *draw, frame_slot *slot, const orr_draw_list *list,
                              orr_error *error)
{
    slot->has_backdrop = list->backdrop.mesh != NULL;
    slot->mesh_count = list->mesh_count + (slot->has_backdrop ? 1 : 0);
    slot->has_blended = false;
    if (slot->mesh_count > slot->mesh_capacity) {
        orr_free(slot->meshes);
        slot->mesh_capacity = 0;
        ORR_ALLOC(slot->meshes, slot->mesh_count, "meshes of a frame", error);
        slot->mesh_capacity = slot->mesh_count;
        draw->allocations++;
    }
    for (int i = 0; i < slot->mesh_count; i++) {
        bool backdrop = slot->has_backdrop && i == 0;
        const orr_draw_mesh *from =
            backdrop ? &list->backdrop : &list->meshes[i - (slot->has_backdrop ? 1 : 0)];
        const orr_vulkan_stored *item;
        ORR_TRY(
            orr_vulkan_store_take(&draw->store, NULL, from, slot->number, oldest_frame(draw), &item, error));
        slot->meshes[i] = (orr_vulkan_mesh_item){.mesh = item->mesh, .backdrop = backdrop};
        memcpy(slot->meshes[i].model, from->model, sizeof slot->meshes[i].model);
        slot->has_blended |= item->mesh->blended && !list->only_solid;
    }
    slot->fragments = slot->has_blended ? FIRST_FRAGMENTS : 0;
    return ORR_OK;
}

static orr_result take_fields(orr_vulkan_draw *draw, frame_slot *slot, const orr_field_pass *fields,
                              orr_error *error)
{
    slot->has_fields = fields != NULL;
    if (!fields) {
        return ORR_OK;
    }
    size_t pixels = (size_t)slot->lens.width * (size_t)slot->lens.height;
    VkDeviceSize size = (VkDeviceSize)pixels * 5 * sizeof(float);
    if (size > slot->fields.size) {
        orr_vk_buffer_destroy(draw->vk, &slot->fields);
        draw->allocations++;
        ORR_TRY(orr_vk_buffer_create(draw->vk, size, ORR_VK_UPLOAD, 0, "fields", &slot->fields, error));
    }
    float *planes = slot->fields.mapped;
    memcpy(planes, fields->depth, pixels * sizeof *planes);
    memcpy(planes + pixels, fields->colour, 4 * pixels * sizeof *planes);
    return ORR_OK;
}

// ---- memory ----

static orr_result make_room(orr_vulkan_draw *draw, const frame_slot *slot, orr_error *error)
{
    int width = slot->lens.width, height = slot->lens.height;
    bool splats_fit = orr_vulkan_splats_fit(&draw->splats, slot->room);
    bool meshes_fit = slot->mesh_count == 0 || orr_vulkan_meshes_fit(&draw->meshes, width, height);
    int64_t pixels = slot->has_blended ? slot->room.pixels : 0;
    bool fragments_fit = orr_vulkan_fragments_fit(&draw->meshes, pixels, slot->fragments);
    if (splats_fit && meshes_fit && fragments_fit) {
        return ORR_OK;
    }
    ORR_TRY(wait_for_all(draw, error));
    draw->allocations++;
    if (!splats_fit) {
        ORR_TRY(orr_vulkan_splats_grow(&draw->splats, slot->room, error));
    }
    ORR_TRY(orr_vulkan_fragments_grow(&draw->meshes, pixels, slot->fragments, error));
    return meshes_fit ? ORR_OK : orr_vulkan_meshes_grow(&draw->meshes, width, height, error);
}

static orr_result make_output(orr_vulkan_draw *draw, frame_slot *slot, orr_error *error)
{
    if (slot->to_image) {
        if (slot->image.width != slot->lens.width || slot->image.height != slot->lens.height) {
            // who shows the image may still read it; it does so on the one queue
            ORR_VK_TRY(vkQueueWaitIdle(draw->vk->queue), error);
            orr_vk_image_destroy(draw->vk, &slot->image);
            draw->allocations++;
            return orr_vk_image_create(
                draw->vk, slot->lens.width, slot->lens.height, VK_FORMAT_R8G8B8A8_UNORM,
                VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                "a picture", &slot->image, error);
        }
        return ORR_OK;
    }
    VkDeviceSize size = (VkDeviceSize)slot->lens.width * (VkDeviceSize)slot->lens.height * 5 * sizeof(float);
    if (size > slot->picture.size) {
        orr_vk_buffer_destroy(draw->vk, &slot->picture);
        draw->allocations++;
        return orr_vk_buffer_create(draw->vk, size, ORR_VK_READBACK, 0, "a picture", &slot->picture, error);
    }
    return ORR_OK;
}

// ---- one frame ----

static void record_readback(orr_vulkan_draw *draw, frame_slot *slot)
{
    VkDeviceSize pixels = (VkDeviceSize)slot->lens.width * (VkDeviceSize)slot->lens.height;
    vkCmdCopyBuffer(slot->commands, draw->splats.picture.buffer, slot->picture.buffer, 1,
                    &(VkBufferCopy){.size = pixels * 16});
    vkCmdCopyBuffer(slot->commands, draw->splats.depth.buffer, slot->picture.buffer, 1,
                    &(VkBufferCopy){.dstOffset = pixels * 16, .size = pixels * 4});
    orr_vulkan_mark(slot->commands, &slot->marks, "read back");
}

static void record_image(orr_vulkan_draw *draw, frame_slot *slot)
{
    // the image's last reader may be an earlier submission that shows it
    orr_vk_image_barrier(slot->commands, slot->image.image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL,
                         VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                         VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    const int32_t size[2] = {slot->lens.width, slot->lens.height};
    const orr_vk_binding bindings[] = {{.buffer = draw->splats.picture.buffer}, {.view = slot->image.view}};
    orr_vk_compute_bind(slot->commands, &draw->splats.stages[ORR_SHADER_PRESENT], bindings, size,
                        sizeof size);
    vkCmdDispatch(slot->commands, (uint32_t)orr_blocks(size[0], ORR_VULKAN_TILE),
                  (uint32_t)orr_blocks(size[1], ORR_VULKAN_TILE), 1);
    orr_vk_image_barrier(slot->commands, slot->image.image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                         VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                         VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT);
    orr_vulkan_mark(slot->commands, &slot->marks, "present");
}

static void record_stages(orr_vulkan_draw *draw, frame_slot *slot)
{
    // frames share the stages' memory and follow each other on the queue
    orr_vk_barrier(slot->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                   VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
    slot->marks.count = 0;
    vkCmdResetQueryPool(slot->commands, slot->marks.pool, 0, ORR_VULKAN_MARKS);
    orr_vulkan_mark(slot->commands, &slot->marks, "");
    const orr_vulkan_splat_frame splats = {
        .layers = slot->layers,
        .layer_count = slot->layer_count,
        .width = slot->lens.width,
        .height = slot->lens.height,
        .opaque = slot->opaque,
        .sky = slot->sky,
        .meshes = slot->mesh_count > 0 ? draw->meshes.colour.view : draw->meshes.white.view,
        .has_meshes = slot->mesh_count > 0,
        .has_backdrop = slot->has_backdrop,
        .lists = draw->meshes.lists.buffer,
        .nodes = draw->meshes.nodes.buffer,
        .has_fragments = slot->has_blended,
        .fields = slot->has_fields ? slot->fields.buffer : VK_NULL_HANDLE,
    };
    if (slot->mesh_count > 0) {
        const orr_vulkan_mesh_frame meshes = {&slot->lens, &slot->lighting, slot->meshes, slot->mesh_count,
                                              slot->has_blended};
        orr_vulkan_meshes_record(&draw->meshes, slot->commands, &meshes);
    }
    orr_vulkan_mark(slot->commands, &slot->marks, "meshes");
    orr_vulkan_splats_record(&draw->splats, slot->commands, &splats, &slot->marks);
    vkCmdCopyBuffer(slot->commands, draw->splats.control.buffer, slot->counts.buffer, 1,
                    &(VkBufferCopy){.size = sizeof(orr_vulkan_control)});
    vkCmdCopyBuffer(
        slot->commands, draw->meshes.lists.buffer, slot->counts.buffer, 1,
        &(VkBufferCopy){.dstOffset = offsetof(frame_counts, fragments), .size = sizeof(uint32_t)});
    if (slot->to_image) {
        record_image(draw, slot);
    } else {
        record_readback(draw, slot);
    }
    vkCmdCopyQueryPoolResults(slot->commands, slot->marks.pool, 0, (uint32_t)slot->marks.count,
                              slot->times.buffer, 0, sizeof(uint64_t),
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    orr_vk_barrier(slot->commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
}

static orr_result send(orr_vulkan_draw *draw, frame_slot *slot, orr_error *error)
{
    ORR_TRY(orr_vk_commands_begin(slot->commands, error));
    slot->fragment_room = orr_vulkan_fragment_room(&draw->meshes);
    record_stages(draw, slot);
    ORR_VK_TRY(vkEndCommandBuffer(slot->commands), error);
    ORR_TRY(orr_vk_submit(draw->vk, slot->commands, draw->timeline, draw->submitted + 1, error));
    slot->value = ++draw->submitted;
    return ORR_OK;
}

static orr_result submit(orr_vulkan_draw *draw, const orr_draw_list *list, const orr_field_pass *fields,
                         bool to_image, orr_error *error)
{
    if (draw->pending == draw->slot_count) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%d frames in flight: finish one before the next is submitted", draw->pending);
    }
    frame_slot *slot = &draw->slots[(draw->first + draw->pending) % draw->slot_count];
    slot->number = ++draw->frame_number;
    slot->settled = false;
    slot->lens = list->lens;
    orr_draw_light_up(list, &slot->lighting);
    slot->opaque = list->opaque;
    slot->sky = orr_sky_as_seen(&list->sky, &list->lens);
    slot->to_image = to_image;
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(take_layers(draw, slot, list, error));
    ORR_TRY(take_meshes(draw, slot, list, error));
    ORR_TRY(take_fields(draw, slot, fields, error));
    orr_trace_host(draw->trace, "upload", start);
    start = orr_clock_nanoseconds();
    slot->room = (orr_vulkan_room){
        .pairs = FIRST_PAIRS,
        .tiles = (int64_t)orr_blocks(slot->lens.width, ORR_VULKAN_TILE) *
                 orr_blocks(slot->lens.height, ORR_VULKAN_TILE),
        .pixels = (int64_t)slot->lens.width * slot->lens.height,
    };
    for (int i = 0; i < slot->layer_count; i++) {
        slot->room.splats += slot->layers[i].cloud->count;
    }
    if (slot->room.splats == 0) {
        slot->room.splats = 1; // blending binds their buffers all the same
    }
    ORR_TRY(make_room(draw, slot, error));
    ORR_TRY(make_output(draw, slot, error));
    ORR_TRY(send(draw, slot, error));
    orr_trace_host(draw->trace, "submit", start);
    draw->pending++;
    return ORR_OK;
}

orr_result orr_vulkan_draw_submit(orr_vulkan_draw *draw, const orr_draw_list *list,
                                  const orr_field_pass *fields, orr_error *error)
{
    return submit(draw, list, fields, false, error);
}

orr_result orr_vulkan_draw_submit_image(orr_vulkan_draw *draw, const orr_draw_list *list, orr_error *error)
{
    return submit(draw, list, NULL, true, error);
}

static void book_stages(const orr_vulkan_draw *draw, const frame_slot *slot, orr_profile *profile)
{
    const uint64_t *times = slot->times.mapped;
    const frame_counts *counts = slot->counts.mapped;
    const orr_vulkan_control *control = &counts->control;
    int64_t triangles = 0;
    for (int i = 0; i < slot->mesh_count; i++) {
        triangles += slot->meshes[i].mesh->triangle_count;
    }
    const struct {
        const char *name;
        int64_t items;
    } items[] = {{"meshes", triangles},
                 {"project", control->splats},
                 {"sort", control->visible},
                 {"bin", control->pairs}};
    for (int i = 1; i < slot->marks.count; i++) {
        int64_t handled = (int64_t)slot->lens.width * slot->lens.height;
        for (size_t k = 0; k < sizeof items / sizeof items[0]; k++) {
            handled = strcmp(slot->marks.names[i], items[k].name) == 0 ? items[k].items : handled;
        }
        orr_profile_span(profile, ORR_TRACK_VULKAN, slot->marks.names[i],
                         orr_vk_clock_nanoseconds(&draw->clock, times[i - 1]),
                         orr_vk_clock_nanoseconds(&draw->clock, times[i]), handled);
    }
}

orr_result orr_vulkan_draw_trace(orr_vulkan_draw *draw, orr_trace *trace, orr_error *error)
{
    assert(draw->pending == 0);
    draw->trace = trace;
    if (!trace) {
        return ORR_OK;
    }
    ORR_TRY(orr_vk_clock_calibrate(draw->vk, &draw->clock, error));
    orr_trace_device *device = &trace->devices[ORR_TRACK_VULKAN];
    *device = (orr_trace_device){.method = draw->clock.method, .uncertainty = draw->clock.uncertainty};
    snprintf(device->name, sizeof device->name, "%s", orr_vk_name(draw->vk));
    return ORR_OK;
}

// Waits for a frame; one that ran out of room is drawn again with enough.
static orr_result complete(orr_vulkan_draw *draw, frame_slot *slot, orr_error *error)
{
    ORR_TRY(orr_vk_timeline_wait(draw->vk, draw->timeline, slot->value, error));
    const frame_counts *counts = slot->counts.mapped;
    const orr_vulkan_control *control = &counts->control;
    while (control->pairs_needed != control->pairs ||
           (slot->has_blended && counts->fragments > slot->fragment_room)) {
        if (control->pairs_needed == UINT32_MAX) {
            return orr_fail(error, ORR_CODE_CAPACITY, "Vulkan: more than 2^32 - 2 pairs of splats and tiles");
        }
        if (control->pairs_needed != control->pairs) {
            slot->room.pairs = (int64_t)control->pairs_needed + control->pairs_needed / 4;
        }
        if (slot->has_blended) {
            slot->fragments = (int64_t)counts->fragments + counts->fragments / 4;
        }
        ORR_TRY(make_room(draw, slot, error));
        ORR_TRY(send(draw, slot, error));
        ORR_TRY(orr_vk_timeline_wait(draw->vk, draw->timeline, slot->value, error));
    }
    return ORR_OK;
}

static void settle(orr_vulkan_draw *draw, frame_slot *slot)
{
    if (!slot->settled) {
        slot->outcome = complete(draw, slot, &slot->why);
        slot->settled = true;
    }
}

void orr_vulkan_draw_release(orr_vulkan_draw *draw, uint64_t key)
{
    if (!orr_vulkan_store_has(&draw->store, key)) {
        return;
    }
    // a frame that has to be drawn again needs what it was made from
    for (int i = 0; i < draw->pending; i++) {
        settle(draw, &draw->slots[(draw->first + i) % draw->slot_count]);
    }
    orr_vulkan_store_forget(&draw->store, key);
}

static orr_result finish(orr_vulkan_draw *draw, bool to_image, frame_slot **out, orr_profile *profile,
                         orr_error *error)
{
    frame_slot *slot = &draw->slots[draw->first];
    if (draw->pending == 0 || slot->to_image != to_image) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "no frame to finish: expected one that was submitted this way");
    }
    uint64_t start = orr_clock_nanoseconds();
    settle(draw, slot);
    orr_trace_host(draw->trace, "wait", start);
    orr_result result = slot->outcome;
    if (result != ORR_OK && error) {
        *error = slot->why;
    }
    if (result == ORR_OK && profile) {
        book_stages(draw, slot, profile);
    }
    draw->first = (draw->first + 1) % draw->slot_count;
    draw->pending--;
    *out = slot;
    return result;
}

orr_result orr_vulkan_draw_finish(orr_vulkan_draw *draw, const orr_picture *picture, orr_profile *profile,
                                  orr_error *error)
{
    frame_slot *slot;
    ORR_TRY(finish(draw, false, &slot, profile, error));
    size_t pixels = (size_t)slot->lens.width * (size_t)slot->lens.height;
    const float *planes = slot->picture.mapped;
    uint64_t start = orr_clock_nanoseconds();
    if (picture && picture->rgba) {
        memcpy(picture->rgba, planes, pixels * 4 * sizeof(float));
    }
    if (picture && picture->depth) {
        memcpy(picture->depth, planes + 4 * pixels, pixels * sizeof(float));
    }
    orr_trace_host(draw->trace, "download", start);
    return ORR_OK;
}

orr_result orr_vulkan_draw_finish_image(orr_vulkan_draw *draw, struct orr_vulkan_image *image,
                                        orr_profile *profile, orr_error *error)
{
    frame_slot *slot;
    ORR_TRY(finish(draw, true, &slot, profile, error));
    if (image) {
        *image = (orr_vulkan_image){
            .image = slot->image.image,
            .view = slot->image.view,
            .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
            .width = slot->lens.width,
            .height = slot->lens.height,
        };
    }
    return ORR_OK;
}

size_t orr_vulkan_draw_allocations(const orr_vulkan_draw *draw)
{
    return draw->allocations + draw->store.uploads;
}
