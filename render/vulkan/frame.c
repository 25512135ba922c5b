#include "render/vulkan/frame.h"

#include "engine/core/memory.h"

#include <string.h>

enum {
    FIRST_PAIRS = 1 << 18,    // capacity for pairs of splats and tiles until a frame needs more
    FIRST_FRAGMENTS = 1 << 16 // likewise for fragments of transparent meshes
};

typedef struct frame_counts {
    orr_vulkan_control control;
    uint32_t fragments;
} frame_counts;

orr_result orr_vulkan_frame_create(orr_vulkan_shared *shared, VkCommandBuffer commands,
                                   orr_vulkan_frame *frame, orr_error *error)
{
    orr_vk *vk = shared->vk;
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = ORR_VULKAN_MARKS,
    };
    frame->commands = commands;
    ORR_VK_TRY(vkCreateQueryPool(vk->device, &queries, NULL, &frame->marks.pool), error);
    ORR_TRY(orr_vk_buffer_create(vk, ORR_VULKAN_MARKS * sizeof(uint64_t), ORR_VK_READBACK, 0, "times",
                                 &frame->times, error));
    return orr_vk_buffer_create(vk, sizeof(frame_counts), ORR_VK_READBACK, 0, "counters", &frame->counts,
                                error);
}

void orr_vulkan_frame_destroy(orr_vulkan_shared *shared, orr_vulkan_frame *frame)
{
    orr_vk *vk = shared->vk;
    vkDestroyQueryPool(vk->device, frame->marks.pool, NULL);
    orr_vk_buffer_destroy(vk, &frame->environments);
    orr_vk_buffer_destroy(vk, &frame->fields);
    orr_vk_buffer_destroy(vk, &frame->pieces);
    orr_vk_buffer_destroy(vk, &frame->counts);
    orr_vk_buffer_destroy(vk, &frame->times);
    orr_vk_buffer_destroy(vk, &frame->picture);
    orr_vk_image_destroy(vk, &frame->image);
    orr_free(frame->layers);
    orr_free(frame->meshes);
}

// ---- what is drawn ----

static orr_result take_pieces(orr_vulkan_shared *shared, orr_vulkan_frame *frame, const orr_draw_list *list,
                              orr_error *error)
{
    size_t size = 0, at = 0;
    for (int i = 0; i < list->splat_count; i++) {
        size += (size_t)list->splats[i].deformation.piece_count * sizeof(orr_affine_piece);
    }
    if (size > frame->pieces.size) {
        orr_vk_buffer_destroy(shared->vk, &frame->pieces);
        shared->allocations++;
        ORR_TRY(
            orr_vk_buffer_create(shared->vk, size, ORR_VK_UPLOAD, 0, "deformations", &frame->pieces, error));
    }
    for (int i = 0; i < list->splat_count; i++) {
        const orr_draw_deformation *d = &list->splats[i].deformation;
        if (d->piece_count > 0) {
            const size_t bytes = (size_t)d->piece_count * sizeof *d->pieces;
            memcpy((char *)frame->pieces.mapped + at, d->pieces, bytes);
            at += bytes;
        }
    }
    return ORR_OK;
}

static orr_result take_layers(orr_vulkan_shared *shared, orr_vulkan_frame *frame, uint64_t oldest,
                              const orr_draw_list *list, orr_error *error)
{
    if (list->splat_count > frame->layer_capacity) {
        orr_free(frame->layers);
        frame->layer_capacity = 0;
        ORR_ALLOC(frame->layers, list->splat_count, "layers of a frame", error);
        frame->layer_capacity = list->splat_count;
        shared->allocations++;
    }
    frame->layer_count = list->splat_count;
    ORR_TRY(take_pieces(shared, frame, list, error));
    uint32_t first_piece = 0;
    for (int i = 0; i < list->splat_count; i++) {
        orr_vulkan_layer *layer = &frame->layers[i];
        const orr_vulkan_stored *item;
        ORR_TRY(orr_vulkan_store_take(&shared->store, &list->splats[i], NULL, frame->number, oldest, &item,
                                      error));
        layer->cloud = item->cloud;
        layer->first_piece = first_piece;
        first_piece += (uint32_t)list->splats[i].deformation.piece_count;
        ORR_TRY(orr_splat_lens_make(&list->lens, &list->splats[i], &layer->lens, error));
    }
    return ORR_OK;
}

static orr_result take_meshes(orr_vulkan_shared *shared, orr_vulkan_frame *frame, uint64_t oldest,
                              const orr_draw_list *list, orr_error *error)
{
    frame->has_backdrop = list->backdrop.mesh != NULL;
    frame->mesh_count = list->mesh_count + (frame->has_backdrop ? 1 : 0);
    frame->has_blended = false;
    bool networks = false;
    if (frame->mesh_count > frame->mesh_capacity) {
        orr_free(frame->meshes);
        frame->mesh_capacity = 0;
        ORR_ALLOC(frame->meshes, frame->mesh_count, "meshes of a frame", error);
        frame->mesh_capacity = frame->mesh_count;
        shared->allocations++;
    }
    for (int i = 0; i < frame->mesh_count; i++) {
        bool backdrop = frame->has_backdrop && i == 0;
        const orr_draw_mesh *from =
            backdrop ? &list->backdrop : &list->meshes[i - (frame->has_backdrop ? 1 : 0)];
        const orr_vulkan_stored *item;
        ORR_TRY(orr_vulkan_store_take(&shared->store, NULL, from, frame->number, oldest, &item, error));
        frame->meshes[i] = (orr_vulkan_mesh_item){.mesh = item->mesh, .backdrop = backdrop};
        frame->meshes[i].environment = from->environment;
        frame->meshes[i].endless = from->endless;
        memcpy(frame->meshes[i].model, from->model, sizeof frame->meshes[i].model);
        frame->has_blended |= item->mesh->blended && !list->only_solid;
        networks |= item->mesh->networks != NULL;
    }
    frame->fragments = frame->has_blended ? FIRST_FRAGMENTS : 0;
    frame->smooth = list->smooth && frame->mesh_count > 0;
    return frame->mesh_count == 0 ? ORR_OK
                                  : orr_vulkan_meshes_prepare(&shared->meshes, frame->smooth,
                                                              frame->has_blended, networks, error);
}

static orr_result take_fields(orr_vulkan_shared *shared, orr_vulkan_frame *frame,
                              const orr_field_pass *fields, orr_error *error)
{
    frame->has_fields = fields != NULL;
    if (!fields) {
        return ORR_OK;
    }
    size_t pixels = (size_t)frame->lens.width * (size_t)frame->lens.height;
    VkDeviceSize size = (VkDeviceSize)pixels * 5 * sizeof(float);
    if (size > frame->fields.size) {
        orr_vk_buffer_destroy(shared->vk, &frame->fields);
        shared->allocations++;
        ORR_TRY(orr_vk_buffer_create(shared->vk, size, ORR_VK_UPLOAD, 0, "fields", &frame->fields, error));
    }
    float *planes = frame->fields.mapped;
    memcpy(planes, fields->depth, pixels * sizeof *planes);
    memcpy(planes + pixels, fields->colour, 4 * pixels * sizeof *planes);
    return ORR_OK;
}

static bool has_environments(const orr_vulkan_frame *frame, const orr_draw_list *list)
{
    bool same = frame->environment_count == list->environment_count;
    for (int i = 0; i < list->environment_count && same; i++) {
        same = frame->environment_keys[i] == list->environments[i].key;
    }
    return same;
}

// Copies the texels of all maps, unless this frame's buffer has them already.
static orr_result take_environments(orr_vulkan_shared *shared, orr_vulkan_frame *frame,
                                    const orr_draw_list *list, orr_error *error)
{
    VkDeviceSize size = 0, limit = shared->vk->properties.limits.maxStorageBufferRange;
    frame->environment_behind = list->environment_behind;
    if (has_environments(frame, list)) {
        return ORR_OK;
    }
    frame->environment_count = 0;
    for (int i = 0; i < list->environment_count; i++) {
        size += (VkDeviceSize)list->environments[i].map->texel_count * sizeof(uint32_t);
    }
    if (size > limit) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "Vulkan: environments of %llu bytes: this device's buffers take %llu",
                        (unsigned long long)size, (unsigned long long)limit);
    }
    if (size > frame->environments.size) {
        orr_vk_buffer_destroy(shared->vk, &frame->environments);
        shared->allocations++;
        ORR_TRY(orr_vk_buffer_create(shared->vk, size, ORR_VK_UPLOAD, 0, "environments", &frame->environments,
                                     error));
    }
    uint32_t *to = frame->environments.mapped;
    for (int i = 0; i < list->environment_count; i++) {
        const orr_environment *map = list->environments[i].map;
        memcpy(to, map->texels, (size_t)map->texel_count * sizeof *to);
        to += map->texel_count;
        frame->environment_keys[i] = list->environments[i].key;
    }
    frame->environment_count = list->environment_count;
    return ORR_OK;
}

static orr_vulkan_capacity needs_of(const orr_vulkan_frame *frame)
{
    orr_vulkan_capacity needs = {
        .pairs = FIRST_PAIRS,
        .tiles = (int64_t)orr_blocks(frame->lens.width, ORR_VULKAN_TILE) *
                 orr_blocks(frame->lens.height, ORR_VULKAN_TILE),
        .pixels = (int64_t)frame->lens.width * frame->lens.height,
    };
    for (int i = 0; i < frame->layer_count; i++) {
        needs.splats += frame->layers[i].cloud->count;
    }
    if (needs.splats == 0) {
        needs.splats = 1; // blending binds their buffers all the same
    }
    return needs;
}

orr_result orr_vulkan_frame_take(orr_vulkan_shared *shared, orr_vulkan_frame *frame, uint64_t oldest,
                                 const orr_draw_list *list, const orr_field_pass *fields, orr_error *error)
{
    frame->settled = false;
    frame->lens = list->lens;
    orr_draw_light_up(list, &frame->lighting);
    orr_shadow_plan_make(list, &frame->shadows);
    frame->umbra = list->umbra;
    frame->opaque = list->opaque;
    frame->sky = orr_sky_as_seen(&list->sky, &list->lens);
    ORR_TRY(take_layers(shared, frame, oldest, list, error));
    ORR_TRY(take_meshes(shared, frame, oldest, list, error));
    ORR_TRY(take_environments(shared, frame, list, error));
    ORR_TRY(take_fields(shared, frame, fields, error));
    frame->needs = needs_of(frame);
    return ORR_OK;
}

// ---- memory ----

static orr_result make_capacity(orr_vulkan_shared *shared, const orr_vulkan_frame *frame, orr_error *error)
{
    int width = frame->lens.width, height = frame->lens.height;
    bool splats_fit = orr_vulkan_splats_fit(&shared->splats, frame->needs);
    bool meshes_fit =
        frame->mesh_count == 0 || orr_vulkan_meshes_fit(&shared->meshes, width, height, frame->smooth);
    bool shadows_fit = orr_vulkan_shadows_fit(&shared->meshes, &frame->shadows);
    int64_t pixels = frame->has_blended ? frame->needs.pixels : 0;
    bool fragments_fit = orr_vulkan_fragments_fit(&shared->meshes, pixels, frame->fragments);
    if (splats_fit && meshes_fit && shadows_fit && fragments_fit) {
        return ORR_OK;
    }
    ORR_TRY(orr_vk_timeline_wait(shared->vk, shared->timeline, shared->submitted, error));
    shared->allocations++;
    if (!splats_fit) {
        ORR_TRY(orr_vulkan_splats_grow(&shared->splats, frame->needs, error));
    }
    if (!shadows_fit) {
        ORR_TRY(orr_vulkan_shadows_grow(&shared->meshes, &frame->shadows, error));
    }
    ORR_TRY(orr_vulkan_fragments_grow(&shared->meshes, pixels, frame->fragments, error));
    return meshes_fit ? ORR_OK : orr_vulkan_meshes_grow(&shared->meshes, width, height, frame->smooth, error);
}

static orr_result make_output(orr_vulkan_shared *shared, orr_vulkan_frame *frame, orr_error *error)
{
    if (frame->to_image) {
        if (frame->image.width != frame->lens.width || frame->image.height != frame->lens.height) {
            // commands of the same queue may still read the image, to show it
            ORR_VK_TRY(vkQueueWaitIdle(shared->vk->queue), error);
            orr_vk_image_destroy(shared->vk, &frame->image);
            shared->allocations++;
            return orr_vk_image_create(
                shared->vk, frame->lens.width, frame->lens.height, VK_FORMAT_R8G8B8A8_UNORM,
                VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                "a picture", &frame->image, error);
        }
        return ORR_OK;
    }
    VkDeviceSize size =
        (VkDeviceSize)frame->lens.width * (VkDeviceSize)frame->lens.height * 5 * sizeof(float);
    if (size > frame->picture.size) {
        orr_vk_buffer_destroy(shared->vk, &frame->picture);
        shared->allocations++;
        return orr_vk_buffer_create(shared->vk, size, ORR_VK_READBACK, 0, "a picture", &frame->picture,
                                    error);
    }
    return ORR_OK;
}

// ---- commands ----

static void record_readback(orr_vulkan_shared *shared, orr_vulkan_frame *frame)
{
    VkDeviceSize pixels = (VkDeviceSize)frame->lens.width * (VkDeviceSize)frame->lens.height;
    vkCmdCopyBuffer(frame->commands, shared->splats.picture.buffer, frame->picture.buffer, 1,
                    &(VkBufferCopy){.size = pixels * 16});
    vkCmdCopyBuffer(frame->commands, shared->splats.depth.buffer, frame->picture.buffer, 1,
                    &(VkBufferCopy){.dstOffset = pixels * 16, .size = pixels * 4});
    orr_vulkan_mark(frame->commands, &frame->marks, "read back");
}

static void record_image(orr_vulkan_shared *shared, orr_vulkan_frame *frame)
{
    // the image's last reader may be an earlier submission that showed it
    orr_vk_image_barrier(frame->commands, frame->image.image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL,
                         VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                         VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    const int32_t size[2] = {frame->lens.width, frame->lens.height};
    const orr_vk_binding bindings[] = {{.buffer = shared->splats.picture.buffer},
                                       {.view = frame->image.view}};
    orr_vk_compute_bind(frame->commands, &shared->splats.stages[ORR_SHADER_PRESENT], bindings, size,
                        sizeof size);
    vkCmdDispatch(frame->commands, (uint32_t)orr_blocks(size[0], ORR_VULKAN_TILE),
                  (uint32_t)orr_blocks(size[1], ORR_VULKAN_TILE), 1);
    orr_vk_image_barrier(frame->commands, frame->image.image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                         VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                         VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT);
    orr_vulkan_mark(frame->commands, &frame->marks, "present");
}

static void record_stages(orr_vulkan_shared *shared, orr_vulkan_frame *frame)
{
    // frames share the stages' memory and follow each other on the queue
    orr_vk_barrier(frame->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                   VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
    frame->marks.count = 0;
    vkCmdResetQueryPool(frame->commands, frame->marks.pool, 0, ORR_VULKAN_MARKS);
    orr_vulkan_mark(frame->commands, &frame->marks, "");
    const bool has_shadows = frame->shadows.map_count > 0 && frame->umbra < 1.0f;
    // a frame without environments binds another buffer all the same
    VkBuffer environments =
        frame->environment_count > 0 ? frame->environments.buffer : shared->meshes.lighting.buffer;
    const orr_vulkan_splat_frame splats = {
        .layers = frame->layers,
        .layer_count = frame->layer_count,
        .pieces = frame->pieces.buffer,
        .width = frame->lens.width,
        .height = frame->lens.height,
        .opaque = frame->opaque,
        .sky = frame->sky,
        .meshes = frame->smooth           ? shared->meshes.centre.view
                  : frame->mesh_count > 0 ? shared->meshes.colour.view
                                          : shared->meshes.white.view,
        .samples = shared->meshes.samples.view,
        .smooth = frame->smooth,
        .has_meshes = frame->mesh_count > 0,
        .has_backdrop = frame->has_backdrop,
        .lists = shared->meshes.lists.buffer,
        .nodes = shared->meshes.nodes.buffer,
        .has_fragments = frame->has_blended,
        .lighting = shared->meshes.lighting.buffer,
        .environments = environments,
        .has_environment = frame->environment_behind,
        .shadow_maps = has_shadows ? shared->meshes.shadow_maps.view : shared->meshes.white.view,
        .has_shadows = has_shadows,
        .fields = frame->has_fields ? frame->fields.buffer : VK_NULL_HANDLE,
    };
    const orr_vulkan_mesh_frame meshes = {.lens = &frame->lens,
                                          .lighting = &frame->lighting,
                                          .shadows = &frame->shadows,
                                          .items = frame->meshes,
                                          .item_count = frame->mesh_count,
                                          .has_blended = frame->has_blended,
                                          .umbra = frame->umbra,
                                          .smooth = frame->smooth,
                                          .environments = environments};
    if (frame->mesh_count > 0) {
        orr_vulkan_meshes_record(&shared->meshes, frame->commands, &meshes);
    } else {
        if (frame->environment_behind) {
            orr_vulkan_meshes_record_light(&shared->meshes, frame->commands, &meshes);
        }
        orr_vulkan_meshes_skip_samples(&shared->meshes, frame->commands);
    }
    orr_vulkan_mark(frame->commands, &frame->marks, "meshes");
    orr_vulkan_splats_record(&shared->splats, frame->commands, &splats, &frame->marks);
    vkCmdCopyBuffer(frame->commands, shared->splats.control.buffer, frame->counts.buffer, 1,
                    &(VkBufferCopy){.size = sizeof(orr_vulkan_control)});
    vkCmdCopyBuffer(
        frame->commands, shared->meshes.lists.buffer, frame->counts.buffer, 1,
        &(VkBufferCopy){.dstOffset = offsetof(frame_counts, fragments), .size = sizeof(uint32_t)});
    if (frame->to_image) {
        record_image(shared, frame);
    } else {
        record_readback(shared, frame);
    }
    vkCmdCopyQueryPoolResults(frame->commands, frame->marks.pool, 0, (uint32_t)frame->marks.count,
                              frame->times.buffer, 0, sizeof(uint64_t),
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    orr_vk_barrier(frame->commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
}

// Records and submits, with the memory that is allocated.
static orr_result send(orr_vulkan_shared *shared, orr_vulkan_frame *frame, orr_error *error)
{
    ORR_TRY(orr_vk_commands_begin(frame->commands, error));
    frame->fragment_capacity = orr_vulkan_fragment_capacity(&shared->meshes);
    record_stages(shared, frame);
    ORR_VK_TRY(vkEndCommandBuffer(frame->commands), error);
    ORR_TRY(orr_vk_submit(shared->vk, frame->commands, shared->timeline, shared->submitted + 1, error));
    frame->value = ++shared->submitted;
    return ORR_OK;
}

orr_result orr_vulkan_frame_submit(orr_vulkan_shared *shared, orr_vulkan_frame *frame, orr_error *error)
{
    ORR_TRY(make_capacity(shared, frame, error));
    ORR_TRY(make_output(shared, frame, error));
    return send(shared, frame, error);
}

// ---- when it is done ----

// Waits for a frame; one that ran out of memory is drawn again with enough.
static orr_result complete(orr_vulkan_shared *shared, orr_vulkan_frame *frame, orr_error *error)
{
    ORR_TRY(orr_vk_timeline_wait(shared->vk, shared->timeline, frame->value, error));
    const frame_counts *counts = frame->counts.mapped;
    const orr_vulkan_control *control = &counts->control;
    while (control->pairs_needed != control->pairs ||
           (frame->has_blended && counts->fragments > frame->fragment_capacity)) {
        if (control->pairs_needed == UINT32_MAX) {
            return orr_fail(error, ORR_CODE_CAPACITY, "Vulkan: more than 2^32 - 2 pairs of splats and tiles");
        }
        if (control->pairs_needed != control->pairs) {
            frame->needs.pairs = (int64_t)control->pairs_needed + control->pairs_needed / 4;
        }
        if (frame->has_blended) {
            frame->fragments = (int64_t)counts->fragments + counts->fragments / 4;
        }
        ORR_TRY(make_capacity(shared, frame, error));
        ORR_TRY(send(shared, frame, error));
        ORR_TRY(orr_vk_timeline_wait(shared->vk, shared->timeline, frame->value, error));
    }
    return ORR_OK;
}

void orr_vulkan_frame_settle(orr_vulkan_shared *shared, orr_vulkan_frame *frame)
{
    if (!frame->settled) {
        frame->outcome = complete(shared, frame, &frame->why);
        frame->settled = true;
    }
}

void orr_vulkan_frame_profile(const orr_vulkan_shared *shared, const orr_vulkan_frame *frame,
                              orr_profile *profile)
{
    const uint64_t *times = frame->times.mapped;
    const frame_counts *counts = frame->counts.mapped;
    const orr_vulkan_control *control = &counts->control;
    int64_t triangles = 0;
    for (int i = 0; i < frame->mesh_count; i++) {
        triangles += frame->meshes[i].mesh->triangle_count;
    }
    const struct {
        const char *name;
        int64_t items;
    } items[] = {{"meshes", triangles},
                 {"project", control->splats},
                 {"sort", control->visible},
                 {"bin", control->pairs}};
    for (int i = 1; i < frame->marks.count; i++) {
        int64_t handled = (int64_t)frame->lens.width * frame->lens.height;
        for (size_t k = 0; k < sizeof items / sizeof items[0]; k++) {
            handled = strcmp(frame->marks.names[i], items[k].name) == 0 ? items[k].items : handled;
        }
        orr_profile_span(profile, ORR_TRACK_VULKAN, frame->marks.names[i],
                         orr_vk_clock_nanoseconds(&shared->clock, times[i - 1]),
                         orr_vk_clock_nanoseconds(&shared->clock, times[i]), handled);
    }
}
