// One frame of meshes, as commands: shadow maps, depths of centres, opaque and blended parts.
#include "render/cpu/rays/ray_trees.h"
#include "render/vulkan/mesh_passes.h"

#include <math.h>
#include <string.h>

enum {
    ORTHOGRAPHIC = 1,
    BACKDROP = 2,
    UNLIT = 4,
    METAL = 8,
    BENT = 16,
    SAMPLED_FLAG = 32,
    COATED = 64,
    ENDS = 128,
    FILM = 256, // glass that is drawn so
    WHOLE = 512,
    HIGHLIGHT = 1024,
    COAT_BENT = 2048
}; // flags of mesh_push
// above them, 1 + the index of a mirror or TRACED, and 1 + that of an environment, in three bits each, and
// two bits for each use of textures: laid on by second coordinates; of the nearest level
enum { MIRROR_SHIFT = 12, ENVIRONMENT_SHIFT = 15, SECOND_SHIFT = 18, NEAREST_SHIFT = 25 };
enum { TRACED = 1 + ORR_MIRRORS }; // in place of 1 + the index of a mirror: the surface starts rays
_Static_assert(TRACED < 8 && ORR_DRAW_ENVIRONMENTS < 8, "in three bits");
_Static_assert(ORR_TEXTURE_USES == NEAREST_SHIFT - SECOND_SHIFT && NEAREST_SHIFT + ORR_TEXTURE_USES == 32,
               "a bit for each use");

// Has a film of glass the pass? Where it casts a shadow it is as any other surface.
static bool is_film(const orr_vulkan_mesh_frame *frame, mesh_pass pass, const orr_mesh_material *material)
{
    return is_blended(pass) && orr_glass_is_film(material, frame->rays);
}

static bool is_network(const orr_mesh_material *material)
{
    return material->neural && !material->unlit;
}

// The part of its pipeline's kind that is the material's.
static int kind_of(const orr_vulkan_mesh *mesh, const orr_mesh_material *material)
{
    return (is_network(material) ? NETWORKS : 0) |
           (mesh->second_uv.buffer && orr_material_has_second(material) ? SECOND_UV : 0);
}

// Extends low .. high by the distances of the item's bounding box along the camera's axis.
static void extend_range(const orr_vulkan_mesh *mesh, const float to_camera[12], float *low, float *high)
{
    for (int corner = 0; corner < 8; corner++) {
        float z = to_camera[11];
        for (int k = 0; k < 3; k++) {
            z += to_camera[8 + k] * (corner >> k & 1 ? mesh->high[k] : mesh->low[k]);
        }
        *low = fminf(*low, z);
        *high = fmaxf(*high, z);
    }
}

// What a part of an item shows besides itself: TRACED, or 1 + the index of the frame's mirror that it is, or
// 0. shown: becomes the buffer with that, or with the lists of fragments
static uint32_t what_it_shows(const orr_vulkan_meshes *m, const orr_vulkan_mesh_frame *frame,
                              const orr_vulkan_mesh_item *item, int part, VkBuffer *shown)
{
    const orr_vulkan_mesh *mesh = item->mesh;
    if (frame->traced && orr_ray_material_asks(&mesh->materials[mesh->parts[part].material])) {
        *shown = frame->traced;
        return TRACED;
    }
    for (int i = 0; i < frame->mirror_count; i++) {
        if (frame->mirrors[i].mesh == item->index && frame->mirrors[i].part == part) {
            *shown = m->mirrored[i].buffer;
            return (uint32_t)i + 1;
        }
    }
    *shown = m->lists.buffer;
    return 0;
}

// Slope and start of the depth buffer's values over the camera's z, and what it is cleared to: nothing
// farther than the far plane passes.
static void depth_values(const orr_lens *lens, const orr_vulkan_mesh_item *items, int item_count,
                         float depth[2], float *clear)
{
    if (!lens->orthographic) {
        depth[0] = 0.0f; // near, divided by z
        depth[1] = lens->near_plane;
        *clear = lens->near_plane / lens->far_plane;
        return;
    }
    // linear over the range of the items, because near and far may be 10^12 apart
    float low = INFINITY, high = -INFINITY;
    for (int i = 0; i < item_count; i++) {
        float to_camera[12];
        orr_affine_multiply(lens->view, items[i].model, to_camera);
        extend_range(items[i].mesh, to_camera, &low, &high);
    }
    float margin = 1e-3f * (high - low) + 1e-6f * (fabsf(low) + fabsf(high)) + 1e-30f;
    low = fmaxf(low - margin, lens->near_plane);
    high = fminf(high + margin, lens->far_plane);
    float span = high > low ? high - low : 1.0f;
    depth[0] = -1.0f / span;
    depth[1] = high / span;
    *clear = 0.0f;
}

// Begins drawing into all of two images, cleared.
static void begin(VkCommandBuffer commands, const orr_vk_image *colour, const orr_vk_image *depth,
                  VkRect2D area, float clear_colour, float clear_depth)
{
    const VkPipelineStageFlags2 depth_stages =
        VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT;
    orr_vk_image_barrier(commands, colour->image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                         VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                         VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, 0,
                         VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                         VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT);
    orr_vk_image_barrier(commands, depth->image, VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                         VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL, depth_stages,
                         VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT, depth_stages,
                         VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                             VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT);
    const VkRenderingAttachmentInfo colours = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = colour->view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = {.color = {{clear_colour, clear_colour, clear_colour, clear_colour}}},
    };
    const VkRenderingAttachmentInfo depths = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = depth->view,
        .imageLayout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .clearValue = {.depthStencil = {clear_depth, 0}},
    };
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = area,
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &colours,
        .pDepthAttachment = &depths,
    };
    vkCmdBeginRendering(commands, &info);
}

// Ends drawing into an image that shaders read from then on.
static void end(VkCommandBuffer commands, const orr_vk_image *colour, VkPipelineStageFlags2 readers)
{
    vkCmdEndRendering(commands);
    orr_vk_image_barrier(
        commands, colour->image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
        VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT, readers, VK_ACCESS_2_SHADER_SAMPLED_READ_BIT);
}

static orr_vk_binding texture_binding(const orr_vulkan_meshes *m, const orr_vulkan_mesh *mesh, int material,
                                      orr_texture_use use)
{
    int texture = orr_material_texture(&mesh->materials[material], use);
    return (orr_vk_binding){.view = texture >= 0 ? mesh->textures[texture].view : m->white.view,
                            .sampler = mesh->samplers[material * ORR_TEXTURE_USES + (int)use]};
}

static orr_vk_binding latents_binding(const orr_vulkan_meshes *m, const orr_vulkan_network *network, int i)
{
    return (orr_vk_binding){.view = network ? network->latents[i].view : m->white.view,
                            .sampler = m->sampler};
}

// Two bits for each use of its textures.
static uint32_t texture_flags(const orr_vulkan_mesh *mesh, const orr_mesh_material *material)
{
    uint32_t flags = 0;
    for (int use = 0; use < ORR_TEXTURE_USES; use++) {
        flags |= (uint32_t)(mesh->second_uv.buffer && material->second[use]) << (SECOND_SHIFT + use);
        flags |= (uint32_t)material->samplers[use].nearest_mip << (NEAREST_SHIFT + use);
    }
    return flags;
}

// Square roots of its reflectances, as bytes, in place of its emission.
static float packed_highlight(const orr_mesh_material *material)
{
    uint32_t bytes = 0;
    float packed;
    for (int k = 0; k < 4; k++) {
        const float part = k < 3 ? material->highlight[k] : material->highlight_grazing;
        bytes |= (uint32_t)(255.0f * sqrtf(part) + 0.5f) << (8 * k);
    }
    memcpy(&packed, &bytes, sizeof packed);
    return packed;
}

static void draw_part(const orr_vulkan_meshes *m, VkCommandBuffer commands, const orr_vk_graphics *pipeline,
                      const orr_vulkan_mesh_frame *frame, mesh_pass pass, const orr_vulkan_mesh *mesh,
                      const orr_mesh_part *part, VkBuffer shown, mesh_push *push)
{
    const bool shadowed = frame->shadows->map_count > 0;
    const orr_mesh_material *material = &mesh->materials[part->material];
    const orr_vulkan_network *network = material->neural ? &mesh->networks[part->material] : NULL;
    memcpy(push->base_colour, material->base_colour, sizeof push->base_colour);
    const bool film = is_film(frame, pass, material);
    const bool highlight = material->metallic_roughness && material->has_highlight && !film;
    push->emission = film        ? (float)part->material
                     : highlight ? packed_highlight(material)
                                 : material->emission;
    push->gloss[0] = material->metallic_roughness ? material->metallic : material->specular;
    push->gloss[1] = material->metallic_roughness ? material->roughness : material->shininess;
    push->alpha_cutoff = material->alpha_cutoff;
    memcpy(push->emissive, material->emissive, sizeof push->emissive);
    push->flags &= ~(uint32_t)(UNLIT | METAL | BENT | COATED | COAT_BENT | FILM | WHOLE | HIGHLIGHT);
    push->flags |= orr_material_texture(material, ORR_TEXTURE_NORMAL) >= 0 ? BENT : 0u;
    push->flags |= orr_material_texture(material, ORR_TEXTURE_COAT) >= 0 && !film ? COATED : 0u;
    push->flags |= orr_material_texture(material, ORR_TEXTURE_COAT_NORMAL) >= 0 ? COAT_BENT : 0u;
    push->flags |= film ? FILM | (material->blended ? 0u : (uint32_t)WHOLE) : 0u;
    push->flags |= highlight ? (uint32_t)HIGHLIGHT : 0u;
    push->flags |= texture_flags(mesh, material);
    push->flags |= (material->unlit ? UNLIT : 0u) | (material->metallic_roughness ? METAL : 0u);
    const orr_vk_binding bindings[] = {
        texture_binding(m, mesh, part->material, ORR_TEXTURE_BASE),
        {.buffer = m->lighting.buffer},
        {.view = shadowed ? m->shadow_maps.view : m->white.view, .sampler = m->sampler},
        texture_binding(m, mesh, part->material, ORR_TEXTURE_SURFACE),
        texture_binding(m, mesh, part->material, ORR_TEXTURE_EMISSIVE),
        texture_binding(m, mesh, part->material, ORR_TEXTURE_NORMAL),
        texture_binding(m, mesh, part->material, ORR_TEXTURE_COAT),
        {.buffer = frame->environments},
        latents_binding(m, network, 0),
        latents_binding(m, network, 1),
        {.buffer = material->neural ? network->weights.buffer
                   : film           ? mesh->looks.buffer
                                    : m->lighting.buffer},
        {.buffer = frame->clouds ? frame->clouds : m->lighting.buffer},
        {.buffer = shown},
        {.buffer = m->nodes.buffer},
        {.buffer = m->occlusion.map.buffer},
        texture_binding(m, mesh, part->material, ORR_TEXTURE_COAT_NORMAL),
        texture_binding(m, mesh, part->material, ORR_TEXTURE_SECOND_SURFACE)};
    orr_vk_graphics_push(commands, pipeline, bindings, push);
    // what keeps light off does so with its back, too
    const bool two_sided =
        pass == SHADOW || (film ? orr_glass_two_sided(material, frame->rays) : material->two_sided);
    vkCmdSetCullMode(commands, two_sided ? VK_CULL_MODE_NONE : VK_CULL_MODE_BACK_BIT);
    vkCmdDrawIndexed(commands, part->index_count, 1, part->first_index, 0, 0);
}

// Is what is drawn what this part of an item mirrors?
static bool is_looked_through(const orr_vulkan_mesh_frame *frame, const orr_vulkan_mesh_item *item, int part)
{
    return frame->through && frame->through->mesh == item->index && frame->through->part == part;
}

// The opaque parts of all items, or the transparent ones, as `lens` sees them into `area`. only_casters: for
// a shadow map, without those that cast no shadow.
static void draw_parts(const orr_vulkan_meshes *m, VkCommandBuffer commands,
                       const orr_vulkan_mesh_frame *frame, mesh_pass pass, const orr_lens *lens,
                       VkRect2D area, const float depth[2], bool only_casters)
{
    // all parts alike, so that a frame needs no more pipelines with mirrors or rays than without them
    const int kind =
        ((frame->mirror_count > 0 || frame->through || frame->rays) && !only_casters ? MIRRORS : 0) |
        (frame->clouds && pass != SHADOW ? CLOUDS : 0) | (frame->cascades && pass != SHADOW ? CASCADES : 0) |
        (frame->areas && pass != SHADOW ? AREAS : 0) |
        (frame->occlusion.radius > 0.0f && pass != SHADOW ? OCCLUSION : 0);
    const orr_vk_graphics *bound = &m->pipelines[kind][pass];
    const uint32_t flags = (lens->orthographic ? ORTHOGRAPHIC : 0u) | (pass == SAMPLED ? SAMPLED_FLAG : 0u);
    mesh_push push = {.width = lens->width, .depth = {depth[0], depth[1]}};
    const int size[2] = {lens->width, lens->height};
    for (int i = 0; i < 2; i++) {
        push.scale[i] = 2.0f * lens->focal[i] / (float)size[i];
        push.offset[i] = 2.0f * lens->centre[i] / (float)size[i] - 1.0f;
    }
    orr_vk_graphics_bind(commands, bound, area, VK_CULL_MODE_NONE);
    for (int i = 0; i < frame->item_count; i++) {
        const orr_vulkan_mesh_item *item = &frame->items[i];
        const orr_vulkan_mesh *mesh = item->mesh;
        if ((is_blended(pass) && !mesh->blended) || (pass == SHADOW && item->backdrop)) {
            continue;
        }
        const uint32_t item_flags = flags | (item->backdrop ? BACKDROP : 0u) |
                                    (item->endless && !only_casters ? ENDS : 0u) |
                                    (uint32_t)item->environment << ENVIRONMENT_SHIFT;
        vkCmdSetDepthTestEnable(commands, !item->backdrop);
        orr_affine_multiply(lens->view, item->model, push.to_camera);
        vkCmdBindVertexBuffers(commands, 0, 1, &mesh->vertices.buffer, &(VkDeviceSize){0});
        if (mesh->second_uv.buffer) {
            vkCmdBindVertexBuffers(commands, 1, 1, &mesh->second_uv.buffer, &(VkDeviceSize){0});
        }
        vkCmdBindIndexBuffer(commands, mesh->indices.buffer, 0, VK_INDEX_TYPE_UINT32);
        for (int p = 0; p < mesh->part_count; p++, push.order++) {
            const orr_mesh_material *material = &mesh->materials[mesh->parts[p].material];
            if (only_casters ? !orr_glass_casts(material)
                             : orr_glass_is_blended(material, frame->rays) != is_blended(pass) ||
                                   is_looked_through(frame, item, p)) {
                continue;
            }
            VkBuffer shown;
            push.flags = item_flags | what_it_shows(m, frame, item, p, &shown) << MIRROR_SHIFT;
            const orr_vk_graphics *wanted =
                &m->pipelines[kind | (pass != SHADOW ? kind_of(mesh, material) : 0)][pass];
            if (wanted != bound) {
                orr_vk_graphics_bind(commands, wanted, area, VK_CULL_MODE_NONE);
                vkCmdSetDepthTestEnable(commands, !item->backdrop);
                bound = wanted;
            }
            draw_part(m, commands, bound, frame, pass, mesh, &mesh->parts[p], shown, &push);
        }
    }
}

void orr_vulkan_meshes_record_light(const orr_vulkan_meshes *m, VkCommandBuffer commands,
                                    const orr_vulkan_mesh_frame *frame)
{
    const orr_shadow_plan *shadows = frame->shadows;
    const orr_lens *lens = frame->lens;
    light_buffer light = {.lighting = *frame->lighting,
                          .eye = frame->eye,
                          .size = {(float)lens->width, (float)lens->height},
                          .occlusion = frame->occlusion,
                          .self_shadow = frame->self_shadow,
                          .self_first = frame->self_first};
    memcpy(light.clip, lens->clip, sizeof light.clip);
    for (int i = 0; i < frame->mirror_count; i++) {
        light.reflectances[i] = frame->reflectances[i];
    }
    memcpy(light.caster_of, shadows->light_of, sizeof light.caster_of);
    memcpy(light.shadow_tops, shadows->tops, sizeof light.shadow_tops);
    memcpy(light.shadows, shadows->values, sizeof light.shadows);
    memcpy(light.captured, shadows->captured, sizeof light.captured);
    memcpy(light.captured_firsts, shadows->captured_firsts, sizeof light.captured_firsts);
    memcpy(light.cascade_firsts, shadows->cascade_firsts, sizeof light.cascade_firsts);
    memcpy(light.cascade_counts, shadows->cascade_counts, sizeof light.cascade_counts);
    memcpy(light.cascades, shadows->cascades, sizeof light.cascades);
    vkCmdUpdateBuffer(commands, m->lighting.buffer, 0, sizeof light, &light);
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
}

static void clear_lists(const orr_vulkan_meshes *m, VkCommandBuffer commands)
{
    vkCmdFillBuffer(commands, m->lists.buffer, 0, VK_WHOLE_SIZE, 0);
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
}

// All shadow maps, in one image.
static void draw_shadow_maps(const orr_vulkan_meshes *m, VkCommandBuffer commands,
                             const orr_vulkan_mesh_frame *frame)
{
    const orr_shadow_plan *plan = frame->shadows;
    if (plan->map_count == 0 || frame->keeps_shadow_maps) {
        return;
    }
    const VkRect2D all = {.extent = {(uint32_t)plan->columns, (uint32_t)plan->rows}};
    begin(commands, &m->shadow_maps, &m->shadow_depth, all, INFINITY, 0.0f);
    for (int i = 0; i < plan->map_count; i++) {
        float depth[2], farthest;
        const orr_shadow_map *map = &plan->maps[i];
        const orr_lens *lens = &map->lens;
        depth_values(lens, frame->items, frame->item_count, depth, &farthest);
        draw_parts(m, commands, frame, SHADOW, lens,
                   (VkRect2D){.offset = {map->left, map->top},
                              .extent = {(uint32_t)lens->width, (uint32_t)lens->width}},
                   depth, true);
    }
    end(commands, &m->shadow_maps, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT);
}

void orr_vulkan_meshes_skip_samples(const orr_vulkan_meshes *m, VkCommandBuffer commands)
{
    orr_vk_image_barrier(commands, m->samples.image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, 0,
                         VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_SAMPLED_READ_BIT);
}

// Surfaces seen by the pixels' centres: opaque ones as `pass` says, then transparent ones if `blended`.
static void draw_centres(const orr_vulkan_meshes *m, VkCommandBuffer commands,
                         const orr_vulkan_mesh_frame *frame, const orr_vk_image *into, mesh_pass pass,
                         float clear_colour, VkRect2D area, const float depth[2], float clear_depth,
                         bool blended)
{
    begin(commands, into, &m->depth, area, clear_colour, clear_depth);
    draw_parts(m, commands, frame, pass, frame->lens, area, depth, false);
    if (blended) {
        draw_parts(m, commands, frame, pass == SHADOW ? BLENDED_AT_CENTRE : BLENDED, frame->lens, area, depth,
                   false);
    }
    end(commands, into, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
}

void orr_vulkan_meshes_record(const orr_vulkan_meshes *m, VkCommandBuffer commands,
                              const orr_vulkan_mesh_frame *frame)
{
    const orr_lens *lens = frame->lens;
    const VkRect2D area = {.extent = {(uint32_t)lens->width, (uint32_t)lens->height}};
    float depth[2], clear_depth;
    orr_vulkan_meshes_record_light(m, commands, frame);
    clear_lists(m, commands);
    draw_shadow_maps(m, commands, frame);
    depth_values(lens, frame->items, frame->item_count, depth, &clear_depth);
    const bool occluded = frame->occlusion.radius > 0.0f;
    if (occluded) { // before anything that is lit
        draw_centres(m, commands, frame, &m->centre, SHADOW, INFINITY, area, depth, clear_depth, false);
        orr_vulkan_occlusion_record(&m->occlusion, commands, m->centre.view, m->sampler, m->lighting.buffer,
                                    lens->width, lens->height);
    }
    if (frame->smooth) {
        if (!occluded || frame->has_blended) {
            draw_centres(m, commands, frame, &m->centre, SHADOW, INFINITY, area, depth, clear_depth,
                         frame->has_blended);
        }
        begin(commands, &m->samples, &m->sample_depth, area, 0.0f, clear_depth);
        draw_parts(m, commands, frame, SAMPLED, lens, area, depth, false);
        end(commands, &m->samples, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
    } else {
        draw_centres(m, commands, frame, &m->colour, OPAQUE, 0.0f, area, depth, clear_depth,
                     frame->has_blended);
        orr_vulkan_meshes_skip_samples(m, commands);
    }
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT);
}
