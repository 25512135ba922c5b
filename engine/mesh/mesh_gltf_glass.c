// Materials of glTF that light goes through, and how bright highlights are: KHR_materials_transmission,
// KHR_materials_ior, KHR_materials_volume and KHR_materials_specular.
#include "engine/mesh/mesh_glass.h"
#include "engine/mesh/mesh_gltf.h"

#include <math.h>

// A number of an object that may be absent, from `least` to `most`.
static orr_result read_number(const orr_gltf *g, const orr_json *object, const char *key, double least,
                              double most, const char *expected, float *value)
{
    double number = (double)*value;
    if (!object->node || !orr_json_has(object, key)) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_number(object, key, &number, g->error));
    if (!(number >= least && number <= most)) {
        return orr_json_expected(object, key, g->error, "%s", expected);
    }
    *value = (float)number;
    return ORR_OK;
}

// The index of refraction; 0: the surface mirrors all light, which glass does not.
static orr_result read_index(const orr_gltf *g, const orr_json *json, orr_mesh_material *material)
{
    orr_json extension;
    material->ior = 1.5f;
    ORR_TRY(orr_gltf_extension(g, json, "KHR_materials_ior", &extension));
    ORR_TRY(read_number(g, &extension, "ior", 0.0, 1e30, "0, or a number from 1", &material->ior));
    if (material->ior > 0.0f && material->ior < 1.0f) {
        return orr_json_expected(&extension, "ior", g->error, "0, or a number from 1");
    }
    if (material->transmission > 0.0f && material->ior == 0.0f) {
        orr_mesh_note(g->reader, "an index of refraction of 0");
        material->ior = 1.5f;
    }
    return ORR_OK;
}

// The square of a 255th part.
static float reflectance_of(float value)
{
    const float root = roundf(255.0f * sqrtf(fminf(fmaxf(value, 0.0f), 1.0f))) / 255.0f;
    return root * root;
}

// KHR_materials_specular and the index of refraction of what light does not go through. Textures of the
// extension are named and left out.
static orr_result read_highlight(const orr_gltf *g, const orr_json *json, orr_mesh_material *material)
{
    orr_json specular;
    float factor = 1.0f, colour[3] = {1.0f, 1.0f, 1.0f};
    ORR_TRY(orr_gltf_extension(g, json, "KHR_materials_specular", &specular));
    ORR_TRY(read_number(g, &specular, "specularFactor", 0.0, 1.0, "a number from 0 to 1", &factor));
    for (int i = 0; i < 2 && specular.node; i++) {
        static const char *const textures[2] = {"specularTexture", "specularColorTexture"};
        if (orr_json_has(&specular, textures[i])) {
            orr_mesh_note(g->reader, textures[i]);
        }
    }
    if (specular.node) {
        ORR_TRY(orr_json_floats(&specular, "specularColorFactor", 3, colour, g->error));
    }
    if (material->transmission > 0.0f) {
        if (specular.node) {
            orr_mesh_note(g->reader, "KHR_materials_specular of transmissive materials");
        }
        return ORR_OK;
    }
    const float straight = (material->ior - 1.0f) / (material->ior + 1.0f);
    material->has_highlight = specular.node != NULL || material->ior != 1.5f;
    for (int k = 0; k < 3; k++) {
        if (!(colour[k] >= 0.0f)) {
            return orr_json_expected(&specular, "specularColorFactor", g->error, "numbers from 0");
        }
        material->highlight[k] = reflectance_of(factor * fminf(straight * straight * colour[k], 1.0f));
    }
    material->highlight_grazing = reflectance_of(factor);
    return ORR_OK;
}

// What is inside of a closed body.
static orr_result read_volume(const orr_gltf *g, const orr_json *json, orr_mesh_material *material)
{
    orr_json volume;
    float thickness = 0.0f, distance = 0.0f;
    double colour[3] = {1.0, 1.0, 1.0};
    ORR_TRY(orr_gltf_extension(g, json, "KHR_materials_volume", &volume));
    if (!volume.node) {
        return ORR_OK;
    }
    ORR_TRY(read_number(g, &volume, "thicknessFactor", 0.0, 1e30, "a number from 0", &thickness));
    ORR_TRY(
        read_number(g, &volume, "attenuationDistance", 1e-30, 1e30, "a distance greater than 0", &distance));
    if (orr_json_has(&volume, "attenuationColor")) {
        ORR_TRY(orr_json_numbers(&volume, "attenuationColor", 3, colour, g->error));
    }
    material->closed = thickness > 0.0f;
    material->thickness = thickness;
    for (int k = 0; k < 3 && material->closed && distance > 0.0f; k++) {
        material->absorption[k] = orr_glass_absorption(colour[k], (double)distance);
    }
    return ORR_OK;
}

orr_result orr_gltf_read_glass(const orr_gltf *g, const orr_json *json, orr_mesh_material *material)
{
    orr_json extension;
    ORR_TRY(orr_gltf_extension(g, json, "KHR_materials_transmission", &extension));
    ORR_TRY(read_number(g, &extension, "transmissionFactor", 0.0, 1.0, "a number from 0 to 1",
                        &material->transmission));
    material->transmission = material->unlit ? 0.0f : material->transmission;
    ORR_TRY(read_index(g, json, material));
    ORR_TRY(read_highlight(g, json, material));
    if (!(material->transmission > 0.0f)) {
        return ORR_OK;
    }
    if (material->coat_texture >= 0) {
        orr_mesh_note(g->reader, "the clear coat of transmissive materials");
        material->coat_texture = material->coat_normal_texture = -1;
    }
    return read_volume(g, json, material);
}
