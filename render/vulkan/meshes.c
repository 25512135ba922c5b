#include "render/vulkan/meshes.h"

#include "render/vulkan/mesh_passes.h"
#include "render/vulkan/shaders.h"

#include <string.h>

enum { NODE_SIZE = 28 }; // of shaders/fragments.glsl

static const VkFormat colour_format = VK_FORMAT_R32G32B32A32_SFLOAT;
static const VkFormat shadow_format = VK_FORMAT_R32_SFLOAT;
static const VkFormat depth_format = VK_FORMAT_D32_SFLOAT;

enum { SAMPLES = 4 }; // EDGE_SAMPLES of edge_formula.h, at the standard positions where a device has them

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
