#include "render/vulkan/frame.h"

#include "engine/core/memory.h"
#include "render/shadow/self_shadow.h"

#include <string.h>

enum {
    FIRST_PAIRS = 1 << 18,    // capacity for pairs of splats and tiles until a frame needs more
    FIRST_FRAGMENTS = 1 << 16 // likewise for fragments of transparent meshes
};

typedef struct frame_counts {
    orr_vulkan_control control;
    uint32_t fragments;
} frame_counts;

// Of the picture, of the mirrors, and, without fragments, of the opacity maps.
enum {
    VIEW_COUNTS = 1 + ORR_MIRRORS,
    COUNTS = VIEW_COUNTS + ORR_CLOUD_CASTERS * ORR_SHADOW_MAPS,
};

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
    return orr_vk_buffer_create(vk, COUNTS * sizeof(frame_counts), ORR_VK_READBACK, 0, "counters",
                                &frame->counts, error);
}

void orr_vulkan_frame_destroy(orr_vulkan_shared *shared, orr_vulkan_frame *frame)
{
    orr_vk *vk = shared->vk;
    vkDestroyQueryPool(vk->device, frame->marks.pool, NULL);
    orr_vk_buffer_destroy(vk, &frame->environments);
    for (int i = 0; i <= ORR_MIRRORS; i++) {
        orr_vk_buffer_destroy(vk, &frame->hosts[i].fields);
        orr_vk_buffer_destroy(vk, &frame->hosts[i].traced);
    }
    orr_vk_buffer_destroy(vk, &frame->pieces);
    orr_vk_buffer_destroy(vk, &frame->counts);
    orr_vk_buffer_destroy(vk, &frame->times);
    orr_vk_buffer_destroy(vk, &frame->picture);
    orr_vk_image_destroy(vk, &frame->image);
    orr_vulkan_view_free(&frame->view);
    for (int i = 0; frame->mirrored && i < ORR_MIRRORS; i++) {
        orr_vulkan_view_free(&frame->mirrored[i]);
    }
    orr_free(frame->mirrored);
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

static orr_result reserve_upload(orr_vulkan_shared *shared, VkDeviceSize size, const char *what,
                                 orr_vk_buffer *buffer, orr_error *error)
{
    if (size <= buffer->size) {
        return ORR_OK;
    }
    orr_vk_buffer_destroy(shared->vk, buffer);
    shared->allocations++;
    return orr_vk_buffer_create(shared->vk, size, ORR_VK_UPLOAD, 0, what, buffer, error);
}

static orr_result take_host_view(orr_vulkan_shared *shared, size_t pixels, const orr_host_view *from,
                                 orr_vulkan_host_view *to, orr_error *error)
{
    const size_t plane = pixels * sizeof(float);
    to->has_fields = from->fields != NULL;
    to->has_traced = from->traced != NULL;
    if (from->fields) {
        ORR_TRY(reserve_upload(shared, 5 * plane, "fields", &to->fields, error));
        float *planes = to->fields.mapped;
        memcpy(planes, from->fields->depth, plane);
        memcpy(planes + pixels, from->fields->colour, 4 * plane);
    }
    if (from->traced) {
        ORR_TRY(reserve_upload(shared, 4 * plane, "surfaces with rays", &to->traced, error));
        memcpy(to->traced.mapped, from->traced, 4 * plane);
    }
    return ORR_OK;
}

// layers: nullable
static orr_result take_layers(orr_vulkan_shared *shared, orr_vulkan_frame *frame,
                              const orr_host_layers *layers, orr_error *error)
{
    const orr_host_layers none = {0}, *from = layers ? layers : &none;
    const size_t pixels = (size_t)frame->view.lens.width * (size_t)frame->view.lens.height;
    for (int i = 0; i < ORR_MIRRORS; i++) {
        ORR_TRY(take_host_view(shared, pixels, &from->mirrors[i], &frame->hosts[1 + i], error));
    }
    return take_host_view(shared, pixels, &from->picture, &frame->hosts[0], error);
}

static bool has_environments(const orr_vulkan_frame *frame, const orr_draw_list *list)
{
    const uint64_t self_key = list->self_shadow ? list->self_shadow->key : 0;
    bool same = frame->environment_count == list->environment_count && frame->self_key == self_key;
    for (int i = 0; i < list->environment_count && same; i++) {
        same = frame->environment_keys[i] == list->environments[i].key;
    }
    return same;
}

// Copies the texels of all maps, unless this frame's buffer has them already.
static orr_result take_environments(orr_vulkan_shared *shared, orr_vulkan_frame *frame,
                                    const orr_draw_list *list, orr_error *error)
{
    const orr_self_shadow *self = list->self_shadow;
    const size_t self_size = (self ? (size_t)self->texels : 0) * sizeof(uint32_t);
    VkDeviceSize size = self_size, limit = shared->vk->properties.limits.maxStorageBufferRange;
    if (has_environments(frame, list)) {
        return ORR_OK;
    }
    frame->environment_count = 0;
    frame->self_key = 0;
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
    if (self) {
        memcpy(to, self->depths, self_size);
        frame->self_first = (int32_t)(to - (uint32_t *)frame->environments.mapped);
        frame->self_key = self->key;
    }
    frame->environment_count = list->environment_count;
    return ORR_OK;
}

// What the mirrors that are seen show. The views of all of them are kept: there are few.
static orr_result take_mirrors(orr_vulkan_shared *shared, orr_vulkan_frame *frame, uint64_t oldest,
                               const orr_draw_list *list, orr_error *error)
{
    frame->mirror_count = orr_mirrors_find(list, frame->mirrors);
    if (frame->mirror_count > 0 && !frame->mirrored) {
        frame->mirrored = orr_alloc_zero(ORR_MIRRORS, sizeof *frame->mirrored);
        if (!frame->mirrored) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: mirrors");
        }
        shared->allocations++;
    }
    for (int i = 0; i < frame->mirror_count; i++) {
        const orr_mirror *mirror = &frame->mirrors[i];
        const orr_mesh *mesh = list->meshes[mirror->mesh].mesh;
        const orr_draw_list seen = orr_mirror_list(mirror, list);
        frame->reflectances[i] = mesh->materials[mesh->parts[mirror->part].material].reflectance;
        ORR_TRY(orr_vulkan_view_take(&shared->store, &frame->mirrored[i], frame->number, oldest, &seen,
                                     shared->jobs, &shared->arena, &shared->allocations, error));
    }
    return ORR_OK;
}

static orr_vulkan_capacity needs_of(const orr_vulkan_view *view)
{
    orr_vulkan_capacity needs = {
        .pairs = FIRST_PAIRS,
        .tiles = (int64_t)orr_blocks(view->lens.width, ORR_VULKAN_TILE) *
                 orr_blocks(view->lens.height, ORR_VULKAN_TILE),
        .pixels = (int64_t)view->lens.width * view->lens.height,
    };
    for (int i = 0; i < view->layer_count; i++) {
        needs.splats += view->layers[i].cloud->count;
    }
    if (needs.splats == 0) {
        needs.splats = 1; // blending binds their buffers all the same
    }
    for (int i = 0; i < view->clouds.map_count; i++) {
        const int64_t side = view->clouds.maps[i].size / ORR_VULKAN_TILE;
        needs.tiles = side * side > needs.tiles ? side * side : needs.tiles;
    }
    needs.cloud_texels = view->clouds.texels;
    return needs;
}

static bool is_occluded(const orr_vulkan_view *view)
{
    return view->occlusion.radius > 0.0f;
}

// Is it on splats and fields too? They keep what is left in full shadow.
static bool is_capture_occluded(const orr_vulkan_view *view, bool has_fields)
{
    return is_occluded(view) && view->eye.umbra > 0.0f && (view->layer_count > 0 || has_fields);
}

static bool is_capture_clouded(const orr_vulkan_view *view)
{
    return view->clouds.table.count > 0 && view->eye.umbra < 1.0f;
}

static bool has_area_light(const orr_draw_lighting *lighting)
{
    for (int i = 0; i < lighting->count; i++) {
        if (lighting->lights[i].area > 0.5f) {
            return true;
        }
    }
    return false;
}

orr_result orr_vulkan_frame_take(orr_vulkan_shared *shared, orr_vulkan_frame *frame, uint64_t oldest,
                                 const orr_draw_list *list, const orr_host_layers *layers, orr_error *error)
{
    const orr_vulkan_view *view = &frame->view;
    frame->settled = false;
    frame->rays = list->rays != NULL;
    orr_arena_reset(&shared->arena);
    ORR_TRY(take_pieces(shared, frame, list, error));
    ORR_TRY(orr_vulkan_view_take(&shared->store, &frame->view, frame->number, oldest, list, shared->jobs,
                                 &shared->arena, &shared->allocations, error));
    ORR_TRY(take_mirrors(shared, frame, oldest, list, error));
    ORR_TRY(take_layers(shared, frame, layers, error));
    if (view->mesh_count > 0) {
        const orr_vulkan_mesh_needs needs = {.blended = view->has_blended,
                                             .networks = view->has_networks,
                                             .second_uv = view->has_second_uv,
                                             .mirrors = frame->mirror_count > 0 || frame->rays,
                                             .clouds = view->clouds.table.count > 0,
                                             .cascades = view->shadows.cascade_used > 0,
                                             .areas = has_area_light(&view->lighting),
                                             .occlusion = is_occluded(view)};
        ORR_TRY(orr_vulkan_meshes_prepare(&shared->meshes, view->smooth, &needs, error));
    }
    ORR_TRY(orr_vulkan_splats_prepare(&shared->splats, view->clouds.table.count > 0, is_capture_clouded(view),
                                      is_capture_occluded(view, frame->hosts[0].has_fields), error));
    ORR_TRY(take_environments(shared, frame, list, error));
    frame->needs = needs_of(view);
    frame->fragments = view->has_blended ? FIRST_FRAGMENTS : 0;
    return ORR_OK;
}

// ---- memory ----

static orr_result make_capacity(orr_vulkan_shared *shared, const orr_vulkan_frame *frame, orr_error *error)
{
    const orr_vulkan_view *view = &frame->view;
    int width = view->lens.width, height = view->lens.height;
    bool splats_fit = orr_vulkan_splats_fit(&shared->splats, frame->needs);
    bool meshes_fit = view->mesh_count == 0 ||
                      orr_vulkan_meshes_fit(&shared->meshes, width, height, view->smooth, is_occluded(view));
    bool shadows_fit = orr_vulkan_shadows_fit(&shared->meshes, &view->shadows);
    bool mirrors_fit = orr_vulkan_mirrors_fit(&shared->meshes, frame->mirror_count, frame->needs.pixels);
    int64_t pixels = view->has_blended ? frame->needs.pixels : 0;
    bool fragments_fit = orr_vulkan_fragments_fit(&shared->meshes, pixels, frame->fragments);
    if (splats_fit && meshes_fit && shadows_fit && mirrors_fit && fragments_fit) {
        return ORR_OK;
    }
    ORR_TRY(orr_vk_timeline_wait(shared->vk, shared->timeline, shared->submitted, error));
    shared->allocations++;
    if (!splats_fit) {
        ORR_TRY(orr_vulkan_splats_grow(&shared->splats, frame->needs, error));
    }
    if (!shadows_fit) {
        ORR_TRY(orr_vulkan_shadows_grow(&shared->meshes, &view->shadows, error));
    }
    ORR_TRY(orr_vulkan_mirrors_grow(&shared->meshes, frame->mirror_count, frame->needs.pixels, error));
    ORR_TRY(orr_vulkan_fragments_grow(&shared->meshes, pixels, frame->fragments, error));
    return meshes_fit ? ORR_OK
                      : orr_vulkan_meshes_grow(&shared->meshes, width, height, view->smooth,
                                               is_occluded(view), error);
}

static orr_result make_output(orr_vulkan_shared *shared, orr_vulkan_frame *frame, orr_error *error)
{
    if (frame->to_image) {
        if (frame->image.width != frame->view.lens.width || frame->image.height != frame->view.lens.height) {
            // commands of the same queue may still read the image, to show it
            ORR_VK_TRY(vkQueueWaitIdle(shared->vk->queue), error);
            orr_vk_image_destroy(shared->vk, &frame->image);
            shared->allocations++;
            return orr_vk_image_create(
                shared->vk, frame->view.lens.width, frame->view.lens.height, VK_FORMAT_R8G8B8A8_UNORM,
                VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                "a picture", &frame->image, error);
        }
        return ORR_OK;
    }
    VkDeviceSize size =
        (VkDeviceSize)frame->view.lens.width * (VkDeviceSize)frame->view.lens.height * 5 * sizeof(float);
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
    VkDeviceSize pixels = (VkDeviceSize)frame->view.lens.width * (VkDeviceSize)frame->view.lens.height;
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
    const int32_t size[2] = {frame->view.lens.width, frame->view.lens.height};
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

// Views share the stages' memory and follow each other on the queue.
static void follow(VkCommandBuffer commands)
{
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                   VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
}

static void record_meshes(orr_vulkan_shared *shared, orr_vulkan_frame *frame, const orr_vulkan_view *view,
                          int mirror, VkBuffer environments)
{
    const orr_vulkan_host_view *host = &frame->hosts[1 + mirror];
    // what mirrors show has no cascades: the picture draws its maps anew where it has some
    const bool first = mirror == 0 || frame->mirror_count == 0;
    const bool same_maps = !first && view->shadows.map_count == frame->mirrored[0].shadows.map_count;
    const orr_vulkan_mesh_frame meshes = {
        .lens = &view->lens,
        .lighting = &view->lighting,
        .shadows = &view->shadows,
        .items = view->meshes,
        .item_count = view->mesh_count,
        .has_blended = view->has_blended,
        .eye = view->eye,
        .occlusion = view->occlusion,
        .self_shadow = view->self_shadow,
        .self_first = frame->self_first,
        .smooth = view->smooth,
        .environments = environments,
        .clouds = view->clouds.table.count > 0 ? shared->splats.clouds.buffer : VK_NULL_HANDLE,
        .mirrors = frame->mirrors,
        .reflectances = frame->reflectances,
        .mirror_count = mirror < 0 ? frame->mirror_count : 0,
        .through = mirror < 0 ? NULL : &frame->mirrors[mirror],
        .cascades = frame->view.shadows.cascade_used > 0,
        .areas = has_area_light(&view->lighting),
        .keeps_shadow_maps = same_maps,
        .rays = frame->rays,
        .traced = host->has_traced ? host->traced.buffer : VK_NULL_HANDLE};
    if (view->mesh_count > 0) {
        orr_vulkan_meshes_record(&shared->meshes, frame->commands, &meshes);
        return;
    }
    if (view->environment_behind || view->clouds.table.count > 0) {
        orr_vulkan_meshes_record_light(&shared->meshes, frame->commands, &meshes);
    }
    orr_vulkan_meshes_skip_samples(&shared->meshes, frame->commands);
}

// What the frame's mirror of that number shows, or -1: the picture.
static void record_view(orr_vulkan_shared *shared, orr_vulkan_frame *frame, int mirror)
{
    const orr_vulkan_view *view = mirror < 0 ? &frame->view : &frame->mirrored[mirror];
    const orr_vulkan_host_view *host = &frame->hosts[1 + mirror];
    orr_vulkan_marks *marks = mirror < 0 ? &frame->marks : NULL;
    const bool has_shadows = view->shadows.map_count > 0 && view->eye.umbra < 1.0f;
    // a frame without environments binds another buffer all the same
    VkBuffer environments = frame->environment_count > 0 || frame->self_key ? frame->environments.buffer
                                                                            : shared->meshes.lighting.buffer;
    orr_vulkan_splat_frame splats = {
        .layers = view->layers,
        .layer_count = view->layer_count,
        .pieces = frame->pieces.buffer,
        .width = view->lens.width,
        .height = view->lens.height,
        .opaque = view->opaque,
        .sky = view->sky,
        .meshes = view->smooth           ? shared->meshes.centre.view
                  : view->mesh_count > 0 ? shared->meshes.colour.view
                                         : shared->meshes.white.view,
        .samples = shared->meshes.samples.view,
        .smooth = view->smooth,
        .has_meshes = view->mesh_count > 0,
        .has_backdrop = view->has_backdrop,
        .lists = shared->meshes.lists.buffer,
        .nodes = shared->meshes.nodes.buffer,
        .has_fragments = view->has_blended,
        .lighting = shared->meshes.lighting.buffer,
        .environments = environments,
        .has_environment = view->environment_behind,
        .shadow_maps = has_shadows ? shared->meshes.shadow_maps.view : shared->meshes.white.view,
        .has_shadows = has_shadows,
        .clouded = is_capture_clouded(view),
        .occluded = is_capture_occluded(view, host->has_fields),
        .occlusion = shared->meshes.occlusion.map.buffer,
        .fields = host->has_fields ? host->fields.buffer : VK_NULL_HANDLE,
        .picture = mirror < 0 ? VK_NULL_HANDLE : shared->meshes.mirrored[mirror].buffer,
    };
    memcpy(splats.clip, view->lens.clip, sizeof splats.clip);
    if (view->clouds.table.count > 0) {
        orr_vulkan_splats_record_table(&shared->splats, frame->commands, &view->clouds.table);
    }
    record_meshes(shared, frame, view, mirror, environments);
    orr_vulkan_mark(frame->commands, marks, "meshes");
    orr_vulkan_splats_record(&shared->splats, frame->commands, &splats, marks);
    const VkDeviceSize counts = (VkDeviceSize)(mirror + 1) * sizeof(frame_counts);
    vkCmdCopyBuffer(frame->commands, shared->splats.control.buffer, frame->counts.buffer, 1,
                    &(VkBufferCopy){.dstOffset = counts, .size = sizeof(orr_vulkan_control)});
    vkCmdCopyBuffer(
        frame->commands, shared->meshes.lists.buffer, frame->counts.buffer, 1,
        &(VkBufferCopy){.dstOffset = counts + offsetof(frame_counts, fragments), .size = sizeof(uint32_t)});
}

// The opacity maps of clouds, which are those of all of the frame's cameras.
static void record_cloud_maps(orr_vulkan_shared *shared, orr_vulkan_frame *frame)
{
    const orr_vulkan_view *view = &frame->view;
    for (int i = 0; i < view->clouds.map_count; i++) {
        const orr_cloud_map *map = &view->clouds.maps[i];
        orr_vulkan_splats_record_map(&shared->splats, frame->commands, &view->layers[map->layer],
                                     frame->pieces.buffer, map);
        follow(frame->commands);
        const VkDeviceSize counts = (VkDeviceSize)(VIEW_COUNTS + i) * sizeof(frame_counts);
        vkCmdCopyBuffer(frame->commands, shared->splats.control.buffer, frame->counts.buffer, 1,
                        &(VkBufferCopy){.dstOffset = counts, .size = sizeof(orr_vulkan_control)});
        follow(frame->commands);
    }
}

static void record_stages(orr_vulkan_shared *shared, orr_vulkan_frame *frame)
{
    follow(frame->commands); // the frame before
    frame->marks.count = 0;
    vkCmdResetQueryPool(frame->commands, frame->marks.pool, 0, ORR_VULKAN_MARKS);
    orr_vulkan_mark(frame->commands, &frame->marks, "");
    if (frame->view.clouds.map_count > 0) {
        record_cloud_maps(shared, frame);
        orr_vulkan_mark(frame->commands, &frame->marks, "cloud shadows");
    }
    for (int i = 0; i < frame->mirror_count; i++) {
        record_view(shared, frame, i);
        follow(frame->commands);
    }
    if (frame->mirror_count > 0) {
        orr_vulkan_mark(frame->commands, &frame->marks, "mirrors");
    }
    record_view(shared, frame, -1);
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

// Did the buffers take all pairs? If not, they will.
static orr_result judge_pairs(orr_vulkan_frame *frame, const orr_vulkan_control *counted, bool *ran_out,
                              orr_error *error)
{
    const uint32_t pairs = counted->pairs_needed;
    if (pairs == counted->pairs) {
        return ORR_OK;
    }
    if (pairs == UINT32_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY, "Vulkan: more than 2^32 - 2 pairs of splats and tiles");
    }
    const int64_t needed = (int64_t)pairs + pairs / 4;
    frame->needs.pairs = needed > frame->needs.pairs ? needed : frame->needs.pairs;
    *ran_out = true;
    return ORR_OK;
}

// Sees from what the device counted whether the frame ran out of memory, and then how much it needs.
static orr_result judge(orr_vulkan_frame *frame, bool *ran_out, orr_error *error)
{
    const frame_counts *counts = frame->counts.mapped;
    *ran_out = false;
    for (int i = 0; i < frame->view.clouds.map_count; i++) {
        ORR_TRY(judge_pairs(frame, &counts[VIEW_COUNTS + i].control, ran_out, error));
    }
    for (int i = 0; i <= frame->mirror_count; i++) {
        const uint32_t fragments = counts[i].fragments;
        ORR_TRY(judge_pairs(frame, &counts[i].control, ran_out, error));
        if (frame->view.has_blended && fragments > frame->fragment_capacity) {
            const int64_t needed = (int64_t)fragments + fragments / 4;
            frame->fragments = needed > frame->fragments ? needed : frame->fragments;
            *ran_out = true;
        }
    }
    return ORR_OK;
}

// Waits for a frame; one that ran out of memory is drawn again with enough.
static orr_result complete(orr_vulkan_shared *shared, orr_vulkan_frame *frame, orr_error *error)
{
    bool ran_out;
    ORR_TRY(orr_vk_timeline_wait(shared->vk, shared->timeline, frame->value, error));
    ORR_TRY(judge(frame, &ran_out, error));
    while (ran_out) {
        ORR_TRY(make_capacity(shared, frame, error));
        ORR_TRY(send(shared, frame, error));
        ORR_TRY(orr_vk_timeline_wait(shared->vk, shared->timeline, frame->value, error));
        ORR_TRY(judge(frame, &ran_out, error));
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
    for (int i = 0; i < frame->view.mesh_count; i++) {
        triangles += frame->view.meshes[i].mesh->triangle_count;
    }
    const struct {
        const char *name;
        int64_t items;
    } items[] = {{"cloud shadows", frame->view.clouds.table.count},
                 {"mirrors", frame->mirror_count},
                 {"meshes", triangles},
                 {"project", control->splats},
                 {"sort", control->visible},
                 {"bin", control->pairs}};
    for (int i = 1; i < frame->marks.count; i++) {
        int64_t handled = (int64_t)frame->view.lens.width * frame->view.lens.height;
        for (size_t k = 0; k < sizeof items / sizeof items[0]; k++) {
            handled = strcmp(frame->marks.names[i], items[k].name) == 0 ? items[k].items : handled;
        }
        orr_profile_span(profile, ORR_TRACK_VULKAN, frame->marks.names[i],
                         orr_vk_clock_nanoseconds(&shared->clock, times[i - 1]),
                         orr_vk_clock_nanoseconds(&shared->clock, times[i]), handled);
    }
}
