#include "render/vulkan/meshes.h"

#include "render/cpu/rays/ray_trees.h"
#include "render/vulkan/shaders.h"

#include <math.h>
#include <string.h>

// Push constants of all stages; shaders/mesh.glsl.
typedef struct mesh_push {
    float to_camera[12];
    float scale[2], offset[2];
    float depth[2];
    float base_colour[4];
    float alpha_cutoff;
    float emission;
    float gloss[2];
    float emissive[3];
    uint32_t flags; // of those below
    uint32_t order;
    int32_t width;
} mesh_push;
_Static_assert(sizeof(mesh_push) == 128, "push constants as in shaders/mesh.glsl");

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

enum { NODE_SIZE = 28 }; // of shaders/fragments.glsl

static const VkFormat colour_format = VK_FORMAT_R32G32B32A32_SFLOAT;
static const VkFormat shadow_format = VK_FORMAT_R32_SFLOAT;
static const VkFormat depth_format = VK_FORMAT_D32_SFLOAT;

// frame_light of shaders/light.glsl.
typedef struct light_buffer {
    orr_draw_lighting lighting;
    int32_t caster_of[ORR_DRAW_LIGHTS + 1];
    int32_t shadow_tops[ORR_SHADOW_LIGHTS];
    orr_shadow_values shadows[ORR_SHADOW_LIGHTS];
    int32_t cascade_firsts[ORR_SHADOW_LIGHTS], cascade_counts[ORR_SHADOW_LIGHTS];
    orr_cascade_values cascades[ORR_SHADOW_CASCADES_MAX];
    orr_shadow_eye eye;
    float clip[4];
    float size[2];
    float reflectances[ORR_MIRRORS];
    orr_occlusion_values occlusion;
    orr_shadow_values self_shadow;
    int32_t self_first;
    int32_t captured_firsts[ORR_SHADOW_LIGHTS];
    orr_shadow_values captured[ORR_SHADOW_LIGHTS];
} light_buffer;
_Static_assert(ORR_DRAW_LIGHTS + 1 == 17 && ORR_SHADOW_LIGHTS == 4 && ORR_SHADOW_FACES == 6 &&
                   ORR_SHADOW_CASCADES_MAX == 6 && ORR_MIRRORS == 4,
               "as in shaders/light.glsl");

// SAMPLED and BLENDED_AT_CENTRE: where edges are anti-aliased
typedef enum mesh_pass { OPAQUE, BLENDED, SHADOW, SAMPLED, BLENDED_AT_CENTRE } mesh_pass;
_Static_assert(BLENDED_AT_CENTRE + 1 == ORR_VULKAN_MESH_PASSES, "a pipeline for each");

// What a pipeline draws besides: materials that are networks; mirrors, or what is in front of a clip plane;
// shadows of clouds; cascades of shadow maps; lights that are rectangles; ambient occlusion; materials whose
// textures are laid on by two pairs of coordinates.
enum { NETWORKS = 1, MIRRORS = 2, CLOUDS = 4, CASCADES = 8, AREAS = 16, OCCLUSION = 32, SECOND_UV = 64 };
_Static_assert((NETWORKS | MIRRORS | CLOUDS | CASCADES | AREAS | OCCLUSION | SECOND_UV) + 1 ==
                   ORR_VULKAN_MESH_KINDS,
               "pipelines for each");

enum { SAMPLES = 4 }; // EDGE_SAMPLES of edge_formula.h, at the standard positions where a device has them

static bool is_blended(mesh_pass pass)
{
    return pass == BLENDED || pass == BLENDED_AT_CENTRE;
}

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

static orr_vulkan_shader fragment_shader(mesh_pass pass, int kind)
{
    return is_blended(pass) ? ORR_SHADER_MESH_BLENDED_FRAGMENT
           : pass == SHADOW ? ORR_SHADER_MESH_SHADOW_FRAGMENT
           : kind & MIRRORS ? ORR_SHADER_MESH_MIRROR_FRAGMENT
                            : ORR_SHADER_MESH_FRAGMENT;
}

static orr_result create_pipeline(const orr_vulkan_meshes *m, mesh_pass pass, int kind,
                                  orr_vk_graphics *pipeline, orr_error *error)
{
    const bool second = (kind & SECOND_UV) != 0;
    const VkVertexInputAttributeDescription attributes[] = {
        {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(orr_mesh_vertex, position)},
        {1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(orr_mesh_vertex, normal)},
        {2, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(orr_mesh_vertex, uv)},
        {3, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(orr_mesh_vertex, colour)},
        {4, second ? 1 : 0, VK_FORMAT_R32G32_SFLOAT, second ? 0 : offsetof(orr_mesh_vertex, uv)},
    };
    const orr_vk_graphics_desc desc = {
        .vertex = orr_vulkan_shader_code(ORR_SHADER_MESH_VERTEX),
        .fragment = orr_vulkan_shader_code(fragment_shader(pass, kind)),
        .vertex_stride = sizeof(orr_mesh_vertex),
        .attributes = attributes,
        .second_stride = second ? 2 * sizeof(float) : 0,
        .attribute_count = 5,
        .types = pass == SHADOW ? "tb" : "tbtttttbttbbbbbtt",
        .push_stages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
        .push_size = sizeof(mesh_push),
        .colour = pass == SHADOW || pass == BLENDED_AT_CENTRE ? shadow_format : colour_format,
        .depth = depth_format,
        .samples = pass == SAMPLED ? SAMPLES : 1,
        .writes_nothing = is_blended(pass),
        .constants = {(kind & NETWORKS) != 0, (kind & MIRRORS) != 0, (kind & CLOUDS) != 0,
                      (kind & CASCADES) != 0, (kind & AREAS) != 0, (kind & OCCLUSION) != 0, second},
    };
    return orr_vk_graphics_create(m->vk, &desc, pipeline, error);
}

static void destroy_samples(orr_vulkan_meshes *m)
{
    orr_vk_image_destroy(m->vk, &m->samples);
    orr_vk_image_destroy(m->vk, &m->sample_depth);
}

static orr_result grow_samples(orr_vulkan_meshes *m, int width, int height, orr_error *error)
{
    const VkImageUsageFlags usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    destroy_samples(m);
    ORR_TRY(orr_vk_image_create_samples(m->vk, width, height, SAMPLES, colour_format, usage,
                                        "edges of meshes", &m->samples, error));
    return orr_vk_image_create_samples(m->vk, width, height, SAMPLES, depth_format,
                                       VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, "edges of meshes",
                                       &m->sample_depth, error);
}

static orr_result grow_centre(orr_vulkan_meshes *m, int width, int height, orr_error *error)
{
    orr_vk_image_destroy(m->vk, &m->centre);
    return orr_vk_image_create(m->vk, width, height, shadow_format,
                               VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                               "depth of meshes", &m->centre, error);
}

orr_result orr_vulkan_meshes_create(orr_vulkan_upload *upload, orr_vulkan_meshes *m, orr_error *error)
{
    *m = (orr_vulkan_meshes){.vk = upload->vk};
    ORR_TRY(grow_samples(m, 1, 1, error)); // blending binds them all the same
    ORR_TRY(orr_vulkan_occlusion_create(m->vk, &m->occlusion, error));
    ORR_TRY(orr_vk_buffer_create(m->vk, sizeof(light_buffer), ORR_VK_ON_DEVICE, 0, "lights", &m->lighting,
                                 error));
    ORR_TRY(orr_vulkan_fragments_grow(m, 1, 1, error)); // blending binds the lists all the same
    ORR_TRY(orr_vulkan_sampler_create(m->vk, &(orr_texture_sampler){0}, &m->sampler, error));
    ORR_TRY(orr_vk_image_create(m->vk, 1, 1, VK_FORMAT_R8G8B8A8_SRGB,
                                VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT, "a texel",
                                &m->white, error));
    void *bytes;
    ORR_TRY(orr_vulkan_upload_begin(upload, 4, &bytes, error));
    memset(bytes, 0xff, 4);
    return orr_vulkan_upload_image(upload, &m->white, error);
}

// Does a frame that uses the pass need its pipeline of a kind?
static bool is_needed(mesh_pass pass, int kind, bool smooth, const orr_vulkan_mesh_needs *needs)
{
    const int besides = (needs->mirrors ? MIRRORS : 0) | (needs->clouds ? CLOUDS : 0) |
                        (needs->cascades ? CASCADES : 0) | (needs->areas ? AREAS : 0) |
                        (needs->occlusion ? OCCLUSION : 0);
    if (pass == SHADOW) { // which draws shadow maps, that nothing clips, and the depth of centres
        return kind == 0 || (kind == MIRRORS && needs->mirrors && (smooth || needs->occlusion));
    }
    return (kind & ~(NETWORKS | SECOND_UV)) == besides && (needs->networks || !(kind & NETWORKS)) &&
           (needs->second_uv || !(kind & SECOND_UV));
}

orr_result orr_vulkan_meshes_prepare(orr_vulkan_meshes *m, bool smooth, const orr_vulkan_mesh_needs *needs,
                                     orr_error *error)
{
    const bool used[] = {[OPAQUE] = !smooth,
                         [BLENDED] = !smooth && needs->blended,
                         [SHADOW] = true,
                         [SAMPLED] = smooth,
                         [BLENDED_AT_CENTRE] = smooth && needs->blended};
    for (int kind = 0; kind < ORR_VULKAN_MESH_KINDS; kind++) {
        for (int pass = 0; pass < ORR_VULKAN_MESH_PASSES; pass++) {
            orr_vk_graphics *pipeline = &m->pipelines[kind][pass];
            if (used[pass] && !pipeline->pipeline && is_needed((mesh_pass)pass, kind, smooth, needs)) {
                ORR_TRY(create_pipeline(m, (mesh_pass)pass, kind, pipeline, error));
            }
        }
    }
    return needs->occlusion ? orr_vulkan_occlusion_prepare(&m->occlusion, error) : ORR_OK;
}

static void destroy_targets(orr_vulkan_meshes *m)
{
    orr_vk_image_destroy(m->vk, &m->colour);
    orr_vk_image_destroy(m->vk, &m->depth);
}

static void destroy_shadow_maps(orr_vulkan_meshes *m)
{
    orr_vk_image_destroy(m->vk, &m->shadow_maps);
    orr_vk_image_destroy(m->vk, &m->shadow_depth);
}

void orr_vulkan_meshes_destroy(orr_vulkan_meshes *m)
{
    if (!m->vk) {
        return;
    }
    destroy_targets(m);
    orr_vk_image_destroy(m->vk, &m->centre);
    destroy_samples(m);
    destroy_shadow_maps(m);
    orr_vulkan_occlusion_destroy(&m->occlusion);
    orr_vk_image_destroy(m->vk, &m->white);
    vkDestroySampler(m->vk->device, m->sampler, NULL);
    for (int kind = 0; kind < ORR_VULKAN_MESH_KINDS; kind++) {
        for (int pass = 0; pass < ORR_VULKAN_MESH_PASSES; pass++) {
            orr_vk_graphics_destroy(m->vk, &m->pipelines[kind][pass]);
        }
    }
    for (int i = 0; i < ORR_MIRRORS; i++) {
        orr_vk_buffer_destroy(m->vk, &m->mirrored[i]);
    }
    orr_vk_buffer_destroy(m->vk, &m->lighting);
    orr_vk_buffer_destroy(m->vk, &m->lists);
    orr_vk_buffer_destroy(m->vk, &m->nodes);
}

static bool is_within(const orr_vk_image *image, int width, int height)
{
    return width <= image->width && height <= image->height;
}

bool orr_vulkan_meshes_fit(const orr_vulkan_meshes *m, int width, int height, bool smooth, bool occluded)
{
    return is_within(&m->depth, width, height) && (!smooth || is_within(&m->samples, width, height)) &&
           (!(smooth || occluded) || is_within(&m->centre, width, height)) &&
           (!occluded || orr_vulkan_occlusion_fits(&m->occlusion, (int64_t)width * height));
}

orr_result orr_vulkan_meshes_grow(orr_vulkan_meshes *m, int width, int height, bool smooth, bool occluded,
                                  orr_error *error)
{
    width = width > m->depth.width ? width : m->depth.width;
    height = height > m->depth.height ? height : m->depth.height;
    int most = (int)m->vk->properties.limits.maxImageDimension2D;
    if (width > most || height > most) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "Vulkan: meshes on %d x %d pixels: this device takes sides up to %d", width, height,
                        most);
    }
    destroy_targets(m);
    if (smooth) {
        ORR_TRY(grow_samples(m, width, height, error));
    }
    if (smooth || occluded) {
        ORR_TRY(grow_centre(m, width, height, error));
    }
    if (occluded) {
        ORR_TRY(orr_vulkan_occlusion_grow(&m->occlusion, (int64_t)width * height, error));
    }
    ORR_TRY(orr_vk_image_create(m->vk, width, height, colour_format,
                                VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT, "meshes",
                                &m->colour, error));
    return orr_vk_image_create(m->vk, width, height, depth_format,
                               VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, "meshes", &m->depth, error);
}

bool orr_vulkan_shadows_fit(const orr_vulkan_meshes *m, const orr_shadow_plan *plan)
{
    return plan->map_count == 0 ||
           (plan->columns <= m->shadow_depth.width && plan->rows <= m->shadow_maps.height);
}

orr_result orr_vulkan_shadows_grow(orr_vulkan_meshes *m, const orr_shadow_plan *plan, orr_error *error)
{
    int width = plan->columns, height = plan->rows;
    width = width > m->shadow_depth.width ? width : m->shadow_depth.width;
    height = height > m->shadow_maps.height ? height : m->shadow_maps.height;
    destroy_shadow_maps(m);
    ORR_TRY(orr_vk_image_create(m->vk, width, height, shadow_format,
                                VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT, "shadows",
                                &m->shadow_maps, error));
    return orr_vk_image_create(m->vk, width, height, depth_format,
                               VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, "depth of shadows",
                               &m->shadow_depth, error);
}

int64_t orr_vulkan_fragment_capacity(const orr_vulkan_meshes *m)
{
    return (int64_t)m->nodes.size / NODE_SIZE;
}

bool orr_vulkan_fragments_fit(const orr_vulkan_meshes *m, int64_t pixels, int64_t fragments)
{
    return (pixels + 1) * 4 <= (int64_t)m->lists.size && fragments <= orr_vulkan_fragment_capacity(m);
}

static orr_result grow_buffer(const orr_vulkan_meshes *m, orr_vk_buffer *buffer, int64_t size,
                              orr_error *error)
{
    int64_t limit = (int64_t)m->vk->properties.limits.maxStorageBufferRange;
    if (size <= (int64_t)buffer->size) {
        return ORR_OK;
    }
    if (size > limit) {
        return orr_fail(
            error, ORR_CODE_CAPACITY,
            "Vulkan: %lld bytes for transparent meshes in one frame: this device's buffers take %lld",
            (long long)size, (long long)limit);
    }
    orr_vk_buffer_destroy(m->vk, buffer);
    return orr_vk_buffer_create(m->vk, (VkDeviceSize)size, ORR_VK_ON_DEVICE, 0, "transparent meshes", buffer,
                                error);
}

orr_result orr_vulkan_fragments_grow(orr_vulkan_meshes *m, int64_t pixels, int64_t fragments,
                                     orr_error *error)
{
    ORR_TRY(grow_buffer(m, &m->lists, (pixels + 1) * 4, error));
    return grow_buffer(m, &m->nodes, fragments * NODE_SIZE, error);
}

bool orr_vulkan_mirrors_fit(const orr_vulkan_meshes *m, int count, int64_t pixels)
{
    // the first is the largest
    return count == 0 ||
           (m->mirrored[count - 1].buffer && pixels * 16 <= (int64_t)m->mirrored[count - 1].size);
}

orr_result orr_vulkan_mirrors_grow(orr_vulkan_meshes *m, int count, int64_t pixels, orr_error *error)
{
    for (int i = 0; i < count; i++) {
        if (!orr_vulkan_mirrors_fit(m, i + 1, pixels)) {
            orr_vk_buffer_destroy(m->vk, &m->mirrored[i]);
            ORR_TRY(orr_vk_buffer_create(m->vk, (VkDeviceSize)pixels * 16, ORR_VK_ON_DEVICE, 0,
                                         "what a mirror shows", &m->mirrored[i], error));
        }
    }
    return ORR_OK;
}

// ---- one frame ----

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
