// Materials of glTF: base colour and its texture, factors, emission, unlit, holes and transparency.
#include "engine/mesh/mesh_gltf.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static orr_result read_floats(const orr_gltf *g, const orr_json *object, const char *key, int count,
                              float *values)
{
    double numbers[4];
    if (!orr_json_has(object, key)) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_numbers(object, key, count, numbers, g->error));
    for (int i = 0; i < count; i++) {
        values[i] = (float)numbers[i];
    }
    return ORR_OK;
}

// KHR_texture_transform: scaled, then turned, then moved.
orr_result orr_gltf_read_mapping(const orr_gltf *g, const orr_json *info, orr_gltf_mapping *mapping)
{
    orr_json transform;
    int64_t set = 0;
    float offset[2] = {0.0f, 0.0f}, scale[2] = {1.0f, 1.0f};
    double rotation = 0.0;
    ORR_TRY(orr_gltf_integer(g, info, "texCoord", 0, 99, &set));
    ORR_TRY(orr_gltf_extension(g, info, "KHR_texture_transform", &transform));
    if (transform.node) {
        ORR_TRY(orr_gltf_integer(g, &transform, "texCoord", 0, 99, &set));
        ORR_TRY(read_floats(g, &transform, "offset", 2, offset));
        ORR_TRY(read_floats(g, &transform, "scale", 2, scale));
        ORR_TRY(orr_json_number(&transform, "rotation", &rotation, g->error));
    }
    float cosine = (float)cos(rotation), sine = (float)sin(rotation);
    *mapping = (orr_gltf_mapping){
        (int)set,
        true,
        transform.node != NULL,
        {cosine * scale[0], sine * scale[1], offset[0], -sine * scale[0], cosine * scale[1], offset[1]}};
    return ORR_OK;
}

static void note_textures(const orr_gltf *g, const orr_json *object)
{
    for (const cJSON *member = object->node->child; member; member = member->next) {
        size_t length = strlen(member->string);
        bool texture = length > 7 && length < 40 && strcmp(member->string + length - 7, "Texture") == 0;
        bool read = strcmp(member->string, "baseColorTexture") == 0 ||
                    strcmp(member->string, "metallicRoughnessTexture") == 0 ||
                    strcmp(member->string, "occlusionTexture") == 0 ||
                    strcmp(member->string, "emissiveTexture") == 0 ||
                    strcmp(member->string, "normalTexture") == 0;
        if (texture && !read) {
            orr_mesh_note(g->reader, member->string);
        }
    }
}

static orr_result read_base_colour(orr_gltf *g, const orr_json *json, orr_mesh_material *material,
                                   orr_gltf_mapping *mapping)
{
    orr_json pbr, info;
    int texture;
    ORR_TRY(orr_json_member(json, "pbrMetallicRoughness", &pbr, g->error));
    if (!pbr.node) {
        return ORR_OK;
    }
    note_textures(g, &pbr);
    ORR_TRY(read_floats(g, &pbr, "baseColorFactor", 4, material->base_colour));
    ORR_TRY(orr_json_member(&pbr, "baseColorTexture", &info, g->error));
    if (!info.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_require(&info, "index", "a texture", g->error));
    ORR_TRY(orr_gltf_texture(g, &info, "index", &texture));
    if (texture < 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_read_mapping(g, &info, mapping));
    ORR_TRY(orr_gltf_read_sampler(g, texture, &material->samplers[ORR_TEXTURE_BASE]));
    return g->reader->desc->read_textures ? orr_gltf_read_texture(g, texture, &material->texture) : ORR_OK;
}

static orr_result read_factor(const orr_json *pbr, const char *key, float *factor, orr_error *error)
{
    double value = 1.0;
    ORR_TRY(orr_json_number(pbr, key, &value, error));
    *factor = value > 0.0 ? fminf((float)value, 1.0f) : 0.0f;
    return ORR_OK;
}

// The values that a file does not give are 1.
static orr_result read_metal(const orr_gltf *g, const orr_json *json, orr_mesh_material *material)
{
    orr_json pbr;
    material->metallic_roughness = true;
    material->metallic = material->roughness = 1.0f;
    ORR_TRY(orr_json_member(json, "pbrMetallicRoughness", &pbr, g->error));
    if (!pbr.node) {
        return ORR_OK;
    }
    ORR_TRY(read_factor(&pbr, "metallicFactor", &material->metallic, g->error));
    return read_factor(&pbr, "roughnessFactor", &material->roughness, g->error);
}

static orr_result read_emission(const orr_gltf *g, const orr_json *json, orr_mesh_material *material)
{
    orr_json strength;
    double factor = 1.0;
    ORR_TRY(read_floats(g, json, "emissiveFactor", 3, material->emissive));
    ORR_TRY(orr_gltf_extension(g, json, "KHR_materials_emissive_strength", &strength));
    if (strength.node) {
        ORR_TRY(orr_json_number(&strength, "emissiveStrength", &factor, g->error));
    }
    for (int i = 0; i < 3; i++) {
        float emissive = material->emissive[i] * (float)factor;
        material->emissive[i] = emissive > 0.0f && isfinite(emissive) ? emissive : 0.0f;
    }
    return ORR_OK;
}

static orr_result read_alpha(const orr_gltf *g, const orr_json *json, orr_mesh_material *material)
{
    const char *mode = "OPAQUE";
    double cutoff = 0.5;
    ORR_TRY(orr_json_string(json, "alphaMode", &mode, g->error));
    ORR_TRY(orr_json_number(json, "alphaCutoff", &cutoff, g->error));
    bool mask = strcmp(mode, "MASK") == 0;
    material->blended = strcmp(mode, "BLEND") == 0;
    material->alpha_cutoff = mask ? (float)cutoff : 0.0f;
    return mask || material->blended || strcmp(mode, "OPAQUE") == 0
               ? ORR_OK
               : orr_json_expected(json, "alphaMode", g->error, "OPAQUE, MASK or BLEND");
}

// Extensions of a material that are not drawn, also where the file does not list them.
static orr_result note_extensions(const orr_gltf *g, const orr_json *json)
{
    orr_json all;
    ORR_TRY(orr_json_member(json, "extensions", &all, g->error));
    for (const cJSON *member = all.node ? all.node->child : NULL; member; member = member->next) {
        if (!orr_gltf_knows_extension(member->string)) {
            char name[64];
            snprintf(name, sizeof name, "%s", member->string);
            orr_mesh_note(g->reader, name);
        }
    }
    return ORR_OK;
}

static orr_result read_material(orr_gltf *g, int index)
{
    orr_json json, unlit;
    orr_mesh_material *material;
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_MATERIALS, index, &json));
    ORR_TRY(orr_mesh_add_material(g->reader, &material));
    material->two_sided = false;
    note_textures(g, &json);
    ORR_TRY(note_extensions(g, &json));
    ORR_TRY(read_base_colour(g, &json, material, &g->mappings[index][0]));
    ORR_TRY(read_metal(g, &json, material));
    ORR_TRY(orr_gltf_read_surface(g, &json, index, material));
    ORR_TRY(read_emission(g, &json, material));
    ORR_TRY(read_alpha(g, &json, material));
    ORR_TRY(orr_json_bool(&json, "doubleSided", &material->two_sided, g->error));
    ORR_TRY(orr_gltf_extension(g, &json, "KHR_materials_unlit", &unlit));
    material->unlit = unlit.node != NULL;
    return orr_gltf_read_glass(g, &json, material);
}

orr_result orr_gltf_read_materials(orr_gltf *g)
{
    int images = g->lists[ORR_GLTF_IMAGES].count, materials = g->lists[ORR_GLTF_MATERIALS].count;
    ORR_ALLOC(g->image_textures, images, "images", g->error);
    memset(g->image_textures, 0xff, (size_t)images * sizeof *g->image_textures);
    g->image_states = orr_alloc_zero((size_t)images, 1);
    g->mappings = orr_alloc_zero((size_t)materials, sizeof *g->mappings);
    g->surfaces = orr_alloc_zero((size_t)materials, sizeof *g->surfaces);
    if (!g->image_states || !g->mappings || !g->surfaces) {
        return orr_fail(g->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: materials");
    }
    for (int i = 0; i < materials; i++) {
        ORR_TRY(read_material(g, i));
    }
    return ORR_OK;
}
