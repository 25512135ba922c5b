// The meshes of one picture as a copy has them: the scene's vertices, under materials of their own.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/loop/surfaces/surfaces_data.h"
#include "engine/maths/colour_formula.h"

#include <string.h>

// What is taken of the memory of a picture.
typedef struct copy_meshes {
    const orr_surfaces *surfaces;
    size_t copy;
    orr_varied_meshes *memory;
    int meshes, materials, textures;
} copy_meshes;

static orr_result reserve(const orr_surfaces *s, orr_varied_meshes *applied, orr_error *error)
{
    ORR_GROW(applied->meshes, applied->mesh_capacity, s->mesh_total, "varied surfaces", error);
    ORR_GROW(applied->materials, applied->material_capacity, s->material_total, "varied surfaces", error);
    ORR_GROW(applied->textures, applied->texture_capacity, s->texture_total, "varied surfaces", error);
    return ORR_OK;
}

void orr_varied_meshes_close(orr_varied_meshes *applied)
{
    orr_free(applied->meshes);
    orr_free(applied->materials);
    orr_free(applied->textures);
}

static void set_colour(const float display[3], float colour[3])
{
    for (int k = 0; k < 3; k++) {
        colour[k] = srgb_to_linear(display[k]);
    }
}

static void set_finish(const orr_eyes_surface *look, orr_mesh_material *material)
{
    const struct {
        unsigned change;
        float value, *number;
    } numbers[] = {
        {ORR_SURFACE_EMISSION, look->emission, &material->emission},
        {ORR_SURFACE_SPECULAR, srgb_to_linear(look->specular), &material->specular}, // as of models
        {ORR_SURFACE_SHININESS, look->shininess, &material->shininess},
        {ORR_SURFACE_METALLIC, look->metallic, &material->metallic},
        {ORR_SURFACE_ROUGHNESS, look->roughness, &material->roughness},
        {material->reflectance > 0.0f ? ORR_SURFACE_REFLECTANCE : 0, look->reflectance,
         &material->reflectance}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (look->changes & numbers[i].change) {
            *numbers[i].number = numbers[i].value;
        }
    }
}

// The picture over a surface, or none.
static bool has_picture(const copy_meshes *w, int target, orr_image8 *picture)
{
    const orr_surfaces *s = w->surfaces;
    const size_t number = w->copy * (size_t)s->targets + (size_t)target;
    const orr_eyes_surface *look = &s->now[number];
    *picture = look->pattern == ORR_PATTERN_PICTURE ? s->textures.list[look->picture] : pattern_of(s, number);
    return look->pattern == ORR_PATTERN_PICTURE || is_drawn_pattern(look->pattern);
}

static void set_material(copy_meshes *w, int target, orr_mesh *mesh, orr_mesh_material *material)
{
    static const float white[3] = {1.0f, 1.0f, 1.0f};
    const orr_eyes_surface *look = &w->surfaces->now[w->copy * (size_t)w->surfaces->targets + (size_t)target];
    if (material->neural) {
        return;
    }
    const bool has_colour = look->changes & ORR_SURFACE_COLOUR;
    if (has_colour || look->pattern != ORR_PATTERN_OWN) {
        set_colour(has_colour ? look->colour : white, material->base_colour);
    }
    if (look->pattern != ORR_PATTERN_OWN) {
        orr_image8 picture;
        material->texture = -1;
        if (has_picture(w, target, &picture)) {
            material->texture = mesh->texture_count++;
            w->memory->textures[w->textures++] = picture;
        } else { // of one colour
            float first[3];
            set_colour(look->colours[0], first);
            for (int k = 0; k < 3; k++) {
                material->base_colour[k] *= first[k];
            }
        }
    }
    set_finish(look, material);
}

static bool differs(const copy_meshes *w, int target)
{
    static const orr_eyes_surface plain;
    const orr_surfaces *s = w->surfaces;
    return target >= 0 &&
           memcmp(&s->now[w->copy * (size_t)s->targets + (size_t)target], &plain, sizeof plain) != 0;
}

// target: of each material, or for `one` the same of all; laid: where pictures lie, NULL: as in the mesh
static void apply(copy_meshes *w, const int32_t *target, bool one, const orr_mesh *laid, orr_draw_mesh *item)
{
    const orr_mesh *from = item->mesh;
    bool any = false;
    for (int i = 0; i < from->material_count; i++) {
        any |= differs(w, target[one ? 0 : i]);
    }
    if (!any) {
        return;
    }
    orr_mesh *mesh = &w->memory->meshes[w->meshes++];
    *mesh = *from;
    if (laid) {
        mesh->vertices = laid->vertices;
        mesh->second_uv = NULL; // which are of the others
        mesh->indices = laid->indices;
        mesh->vertex_count = laid->vertex_count;
    }
    mesh->has_mips = from->has_mips || from->texture_count == 0;
    mesh->materials = w->memory->materials + w->materials;
    mesh->textures = w->memory->textures + w->textures;
    w->materials += from->material_count;
    w->textures += from->texture_count;
    memcpy(mesh->materials, from->materials, (size_t)from->material_count * sizeof *mesh->materials);
    if (from->texture_count > 0) {
        memcpy(mesh->textures, from->textures, (size_t)from->texture_count * sizeof *mesh->textures);
    }
    for (int i = 0; i < from->material_count; i++) {
        if (differs(w, target[one ? 0 : i])) {
            set_material(w, target[one ? 0 : i], mesh, &mesh->materials[i]);
        }
    }
    for (int i = 0; i < mesh->material_count && laid; i++) { // not as on the round surface
        item->round = mesh->materials[i].texture >= 0 ? NULL : item->round;
    }
    item->mesh = mesh;
    item->key = 0;
}

static void apply_to_geom(copy_meshes *w, const varied_layer *v, const orr_layer_data *layer,
                          orr_draw_mesh *item)
{
    const uint64_t number = item->key - layer->key;
    if (number >= (uint64_t)v->count || v->target[number] < 0) { // a mark, a tendon or a site
        return;
    }
    const orr_robot_geom *geom = &layer->robot->geoms[number];
    int detail = 0;
    for (int i = 0; i < ORR_ROBOT_COARSE; i++) {
        detail = item->mesh == geom->coarse[i] ? i + 1 : detail;
    }
    apply(w, &v->target[number], true, v->laid[SURFACE_MESHES * (int)number + detail], item);
}

orr_result orr_surfaces_apply(const orr_surfaces *s, int copy, const orr_frame_slot *slot,
                              orr_varied_meshes *applied, orr_error *error)
{
    if (!s->varied[copy]) {
        return ORR_OK;
    }
    ORR_TRY(reserve(s, applied, error));
    copy_meshes w = {.surfaces = s, .copy = (size_t)copy, .memory = applied};
    for (int i = 0; i < slot->list.mesh_count; i++) {
        const orr_layer_data *layer = &s->scene->layers[slot->mesh_layers[i]];
        const varied_layer *v = varied_layers_of(&s->layers, layer);
        if (v && layer->kind == ORR_LAYER_ROBOT) {
            apply_to_geom(&w, v, layer, &slot->meshes[i]);
        } else if (v) {
            apply(&w, v->target, false, slot->meshes[i].mesh == layer->mesh ? v->laid[0] : NULL,
                  &slot->meshes[i]);
        }
    }
    return ORR_OK;
}
