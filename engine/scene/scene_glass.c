// Materials of mesh layers and robots that a program or a scene file makes glass.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/mesh/mesh_glass.h"
#include "engine/scene/scene.h"

#include <string.h>

// Where a layer's meshes have one material.
typedef struct looks {
    orr_mesh_material **list; // NULL: they are counted alone
    int count;
} looks;

static void add_look(looks *l, orr_mesh_material *look)
{
    if (l->list) {
        l->list[l->count] = look;
    }
    l->count++;
}

// Of a robot, the whole of a geom's surface is of its material.
static void add_mesh(looks *l, orr_mesh *mesh)
{
    for (int i = 0; mesh && i < mesh->material_count; i++) {
        add_look(l, &mesh->materials[i]);
    }
}

static looks find_looks(const orr_layer_data *layer, int material, orr_mesh_material **list)
{
    looks l = {.list = list};
    if (layer->kind == ORR_LAYER_MESH) {
        add_look(&l, &layer->mesh->materials[material]);
        return l;
    }
    const orr_model *m = layer->robot->model;
    for (int i = 0; i < layer->robot->geom_count; i++) {
        const orr_robot_geom *geom = &layer->robot->geoms[i];
        const int32_t *of = geom->part == ORR_ROBOT_SITE ? m->site_matid : m->geom_matid;
        if (geom->part != ORR_ROBOT_VISUAL && of[geom->geom] == material) {
            add_mesh(&l, geom->mesh);
            for (int k = 0; k < ORR_ROBOT_COARSE; k++) {
                add_mesh(&l, geom->coarse[k]);
            }
        }
    }
    return l;
}

static orr_result check_desc(const orr_layer_data *layer, const orr_glass_desc *d, orr_error *error)
{
    struct {
        const char *name;
        float value, low, high;
    } numbers[] = {{"transmission", d->transmission, 0.0f, 1.0f},
                   {"roughness", d->roughness, 0.0f, 1.0f},
                   {"thickness", d->thickness, 0.0f, 1e30f},
                   {"attenuation_distance", d->attenuation_distance, 0.0f, 1e30f}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!(numbers[i].value >= numbers[i].low && numbers[i].value <= numbers[i].high)) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: glass: %s %g: expected a number from 0%s",
                            layer->name, numbers[i].name, (double)numbers[i].value,
                            numbers[i].high == 1.0f ? " to 1" : "");
        }
    }
    if (d->ior != 0.0f && !(d->ior >= 1.0f && d->ior <= 1e30f)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: glass: ior %g: expected a number from 1", layer->name,
                        (double)d->ior);
    }
    for (int k = 0; k < 3; k++) {
        const bool good = d->colour[k] >= 0.0f && d->colour[k] <= 1.0f && d->attenuation_colour[k] >= 0.0f &&
                          d->attenuation_colour[k] <= 1.0f;
        if (!good) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: glass: expected colours from 0 to 1", layer->name);
        }
    }
    return ORR_OK;
}

static bool is_black(const float c[3])
{
    return c[0] == 0.0f && c[1] == 0.0f && c[2] == 0.0f;
}

// What a material becomes; own: what it is by its file.
static orr_mesh_material glass_of(const orr_mesh_material *own, const orr_glass_desc *d)
{
    orr_mesh_material m = *own;
    if (!own->metallic_roughness) { // whose textures these are
        m.surface_texture = m.second_surface_texture = m.emissive_texture = m.normal_texture = -1;
    }
    if (!is_black(d->colour)) {
        memcpy(m.base_colour, d->colour, sizeof d->colour);
    }
    m.base_colour[3] = 1.0f;
    m.metallic_roughness = true;
    m.coat_texture = m.coat_normal_texture = -1; // which glass has none of
    m.blended = m.unlit = false;
    m.reflectance = m.specular = m.metallic = 0.0f;
    m.roughness = d->roughness;
    m.transmission = d->transmission > 0.0f ? d->transmission : 1.0f;
    m.ior = d->ior > 0.0f ? d->ior : 1.5f;
    m.thickness = d->thickness;
    m.closed = d->thickness > 0.0f;
    for (int k = 0; k < 3; k++) {
        const bool absorbs = m.closed && d->attenuation_distance > 0.0f;
        m.absorption[k] =
            absorbs ? orr_glass_absorption((double)d->attenuation_colour[k], (double)d->attenuation_distance)
                    : 0.0f;
    }
    return m;
}

// What the layer's file says of a material, before it is glass: it is kept, to be given back.
static orr_result keep_own(orr_layer_material *kept, looks l, orr_error *error)
{
    if (!kept->own) {
        ORR_ALLOC(kept->own, l.count, "materials of a layer", error);
        for (int i = 0; i < l.count; i++) {
            kept->own[i] = *l.list[i];
        }
    }
    return ORR_OK;
}

static orr_result set_glass(orr_layer_data *layer, int material, const orr_glass_desc *desc, orr_error *error)
{
    orr_layer_material *kept = &layer->materials[material];
    orr_mesh_material **list;
    const int count = find_looks(layer, material, NULL).count;
    ORR_ALLOC(list, count + 1, "materials of a layer", error);
    const looks l = find_looks(layer, material, list);
    orr_result result = desc ? keep_own(kept, l, error) : ORR_OK;
    for (int i = 0; i < l.count && result == ORR_OK && kept->own; i++) {
        *l.list[i] = desc ? glass_of(&kept->own[i], desc) : kept->own[i];
    }
    if (result == ORR_OK) {
        kept->is_glass = desc != NULL;
        kept->glass = desc ? *desc : (orr_glass_desc){0};
    }
    if (!desc) {
        orr_free(kept->own);
        kept->own = NULL;
    }
    orr_free(list);
    return result;
}

orr_result orr_scene_set_glass_sized(orr_scene *scene, orr_layer id, int material, const orr_glass_desc *desc,
                                     size_t desc_size, orr_error *error)
{
    ORR_ENTER;
    orr_layer_data *layer;
    orr_glass_desc own = {0};
    ORR_TRY(orr_layer_with_material(scene, id, material, &layer, error));
    if (layer->materials && layer->materials[material].path) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: material %d: expected no network where it is glass",
                        layer->name, material);
    }
    if (desc) {
        ORR_TRY(orr_sized_read(&own, sizeof own, desc, desc_size, "orr_glass_desc", error));
        ORR_TRY(check_desc(layer, &own, error));
    }
    ORR_TRY(orr_layer_keep_materials(layer, error));
    ORR_TRY(set_glass(layer, material, desc ? &own : NULL, error));
    orr_layer_renew_keys(scene, layer);
    return ORR_OK;
}
