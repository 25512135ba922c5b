// Materials of glTF that light goes through: KHR_materials_transmission, KHR_materials_ior and
// KHR_materials_volume.
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

// The index of refraction. 0, by which files say that a surface mirrors all light, is not drawn.
static orr_result read_index(const orr_gltf *g, const orr_json *json, orr_mesh_material *material)
{
    orr_json extension;
    material->ior = 1.5f;
    ORR_TRY(orr_gltf_extension(g, json, "KHR_materials_ior", &extension));
    ORR_TRY(read_number(g, &extension, "ior", 0.0, 1e30, "0, or a number from 1", &material->ior));
    if (material->ior > 0.0f && material->ior < 1.0f) {
        return orr_json_expected(&extension, "ior", g->error, "0, or a number from 1");
    }
    if (material->ior == 0.0f) {
        orr_mesh_note(g->reader, "an index of refraction of 0");
        material->ior = 1.5f;
    }
    if (!(material->transmission > 0.0f) && material->ior != 1.5f) {
        orr_mesh_note(g->reader, "KHR_materials_ior of opaque materials");
    }
    return ORR_OK;
}

// What is inside of a closed body. By Beer's law the colour is what is left of white after the distance.
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
        // what is black would absorb without end
        material->absorption[k] = (float)(-log(fmin(fmax(colour[k], 1e-6), 1.0)) / (double)distance);
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
    if (!(material->transmission > 0.0f)) {
        return ORR_OK;
    }
    if (material->coat_texture >= 0) {
        orr_mesh_note(g->reader, "the clear coat of what light goes through");
        material->coat_texture = -1;
    }
    return read_volume(g, json, material);
}
