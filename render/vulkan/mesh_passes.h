// What pipelines of meshes and the recording of their frames share: passes, kinds, and the buffers that
// shaders read. For meshes.c and meshes_record.c.
#pragma once

#include "render/vulkan/meshes.h"

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
    uint32_t flags; // bits of meshes_record.c
    uint32_t order;
    int32_t width;
} mesh_push;
_Static_assert(sizeof(mesh_push) == 128, "push constants as in shaders/mesh.glsl");

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

static inline bool is_blended(mesh_pass pass)
{
    return pass == BLENDED || pass == BLENDED_AT_CENTRE;
}
