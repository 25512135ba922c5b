// Meshes on Vulkan: their form in the device's memory, and graphics pipelines. Shadow maps are drawn first;
// then opaque surfaces to an image of display colour and distance, over which the splats are blended, and
// transparent ones to lists of fragments, which are blended among the splats. What a mirror shows is drawn
// before, in the same images, and its picture kept until its surface is drawn.
#pragma once

#include "render/mirror/mirror.h"
#include "render/occlusion/occlusion.h"
#include "render/shadow/shadow.h"
#include "render/vulkan/occlusion.h"
#include "render/vulkan/samplers.h"
#include "render/vulkan/upload.h"

// A material that is a network.
typedef struct orr_vulkan_network {
    orr_vk_buffer weights;
    orr_vk_image latents[2];
} orr_vulkan_network;

typedef struct orr_vulkan_mesh {
    orr_vk_buffer vertices, indices;
    orr_vk_buffer second_uv;      // none where no material lays a texture on by them
    orr_vk_image *textures;       // texture_count
    orr_mesh_part *parts;         // part_count
    orr_mesh_material *materials; // material_count
    VkSampler *samplers;          // material_count x ORR_TEXTURE_USES, borrowed
    orr_vulkan_network *networks; // material_count; NULL: no material is one
    orr_vk_buffer looks;          // material_count x glass_look; none where no material is glass
    int texture_count, part_count, material_count;
    int64_t triangle_count;
    bool blended; // some part is, at least where there are no rays
    float low[3], high[3];
} orr_vulkan_mesh;

orr_result orr_vulkan_mesh_create(orr_vulkan_upload *upload, orr_vulkan_samplers *samplers,
                                  const orr_mesh *mesh, orr_vulkan_mesh **out, orr_error *error);
void orr_vulkan_mesh_destroy(orr_vk *vk, orr_vulkan_mesh *mesh);

enum { ORR_VULKAN_MESH_PASSES = 5, ORR_VULKAN_MESH_KINDS = 128 };

typedef struct orr_vulkan_meshes {
    orr_vk *vk;
    orr_vk_graphics pipelines[ORR_VULKAN_MESH_KINDS][ORR_VULKAN_MESH_PASSES]; // made when a frame needs them
    VkSampler sampler;
    orr_vk_image white; // texture of materials without one
    orr_vk_image
        colour; // display colour; alpha: distance along the camera's axis, 0: only the backdrop, or nothing
    orr_vk_image depth;
    // where edges are anti-aliased: `colour` and `depth` of four samples of each pixel; there, and with
    // ambient occlusion, the centres' depth along the camera's axis, infinity: no surface
    orr_vk_image samples, sample_depth, centre;
    orr_vulkan_occlusion occlusion;
    orr_vk_image shadow_maps, shadow_depth; // all maps in one image: depth along the light's axis
    orr_vk_buffer lighting;                 // and where the maps are
    orr_vk_buffer lists; // number of fragments, then the first of each pixel's list; shaders/fragments.glsl
    orr_vk_buffer nodes; // the fragments
    // what each mirror shows: height x width x 4 as its own camera sees it, premultiplied, display-referred
    orr_vk_buffer mirrored[ORR_MIRRORS];
} orr_vulkan_meshes;

// A mesh and its transform.
typedef struct orr_vulkan_mesh_item {
    const orr_vulkan_mesh *mesh;
    float model[12];
    int32_t environment; // of orr_draw_mesh
    bool endless;        // likewise
    bool backdrop;       // unlit, and behind everything; the first item
    int32_t index;       // among the draw list's meshes; -1: the backdrop
} orr_vulkan_mesh_item;

// The meshes of a frame.
typedef struct orr_vulkan_mesh_frame {
    const orr_lens *lens;
    const orr_draw_lighting *lighting;
    const orr_shadow_plan *shadows;
    const orr_vulkan_mesh_item *items; // item_count
    int item_count;
    bool has_blended;               // draws transparent parts
    orr_shadow_eye eye;             // of what shadows fall on besides meshes
    orr_occlusion_values occlusion; // radius 0: none
    orr_shadow_values self_shadow;  // size 0: none
    int32_t self_first;             // of its texels among those of the environments
    bool smooth;                    // likewise
    VkBuffer environments;          // texels of all maps, behind one another
    VkBuffer clouds;                // of splats.h; VK_NULL_HANDLE: no cloud casts a shadow
    bool cascades;                  // as prepared: the picture, if not what a mirror shows, has cascades
    bool areas;                     // some light is a rectangle
    const orr_mirror *mirrors;      // mirror_count, whose pictures are in `mirrored`
    const float *reflectances;      // mirror_count
    int mirror_count;
    const orr_mirror *through; // what is drawn is what this one shows; NULL: the picture
    bool keeps_shadow_maps;    // those that were drawn last are these
    bool rays;                 // the host follows those of smooth surfaces
    VkBuffer traced;           // of orr_host_view; VK_NULL_HANDLE: no surface starts any
} orr_vulkan_mesh_frame;

orr_result orr_vulkan_meshes_create(orr_vulkan_upload *upload, orr_vulkan_meshes *meshes, orr_error *error);
void orr_vulkan_meshes_destroy(orr_vulkan_meshes *meshes);

// What a frame draws that many frames do not, and that pipelines are larger for.
typedef struct orr_vulkan_mesh_needs {
    bool blended;   // transparent parts
    bool networks;  // materials that are networks
    bool mirrors;   // surfaces that are mirrors, and are seen, or that start rays
    bool clouds;    // that cast shadows
    bool cascades;  // of shadow maps
    bool areas;     // lights that are rectangles
    bool occlusion; // ambient
    bool second_uv; // materials with textures that are laid on by second coordinates
} orr_vulkan_mesh_needs;

// Makes the pipelines of a frame that are not there yet: compiling them takes a driver up to seconds.
orr_result orr_vulkan_meshes_prepare(orr_vulkan_meshes *meshes, bool smooth,
                                     const orr_vulkan_mesh_needs *needs, orr_error *error);

bool orr_vulkan_meshes_fit(const orr_vulkan_meshes *meshes, int width, int height, bool smooth,
                           bool occluded);
// Enlarges the images to at least that size; no frame may be in flight.
orr_result orr_vulkan_meshes_grow(orr_vulkan_meshes *meshes, int width, int height, bool smooth,
                                  bool occluded, orr_error *error);
// The same for shadow maps.
bool orr_vulkan_shadows_fit(const orr_vulkan_meshes *meshes, const orr_shadow_plan *plan);
orr_result orr_vulkan_shadows_grow(orr_vulkan_meshes *meshes, const orr_shadow_plan *plan, orr_error *error);
// The same for the lists of so many pixels and their fragments. CAPACITY when the device's buffers cannot be
// that large.
int64_t orr_vulkan_fragment_capacity(const orr_vulkan_meshes *meshes);
bool orr_vulkan_fragments_fit(const orr_vulkan_meshes *meshes, int64_t pixels, int64_t fragments);
orr_result orr_vulkan_fragments_grow(orr_vulkan_meshes *meshes, int64_t pixels, int64_t fragments,
                                     orr_error *error);
// The same for what so many mirrors show on so many pixels, which blending's buffers take.
bool orr_vulkan_mirrors_fit(const orr_vulkan_meshes *meshes, int count, int64_t pixels);
orr_result orr_vulkan_mirrors_grow(orr_vulkan_meshes *meshes, int count, int64_t pixels, orr_error *error);

// Writes the lights of a frame, for all stages of it.
void orr_vulkan_meshes_record_light(const orr_vulkan_meshes *meshes, VkCommandBuffer commands,
                                    const orr_vulkan_mesh_frame *frame);
// Makes `samples` readable for a frame that does not draw it.
void orr_vulkan_meshes_skip_samples(const orr_vulkan_meshes *meshes, VkCommandBuffer commands);
// Draws the items into the top left of `colour` (smooth: `centre` and `samples`) and into the lists. Compute
// shaders recorded later may read all of them, transfers the number of fragments at the beginning of the
// lists.
void orr_vulkan_meshes_record(const orr_vulkan_meshes *meshes, VkCommandBuffer commands,
                              const orr_vulkan_mesh_frame *frame);
