// Meshes, height fields, textures and materials.
#include "physics/mjcf/mjcf.h"

#include "engine/core/file.h"

#include <string.h>

// An asset without a name is named after its file, without folder and extension.
static orr_result name_by_file(mjcf_reader *reader, const char *file, spec_head *head)
{
    if (head->name || !file) {
        return ORR_OK;
    }
    const char *base = orr_path_name(file), *dot = strrchr(base, '.');
    size_t length = dot ? (size_t)(dot - base) : strlen(base);
    char *name = orr_arena_take(&reader->spec->arena, length + 1, 1);
    if (!name) {
        return spec_memory_fail(reader->error);
    }
    memcpy(name, base, length);
    name[length] = 0;
    head->name = name;
    return ORR_OK;
}

static orr_result resolve_file(mjcf_reader *reader, const mjcf_node *node, const char *folder,
                               const char **file)
{
    if (*file) {
        *file = mjcf_file(reader->spec, node, folder ? folder : reader->spec->compiler.assetdir, *file);
        return *file ? ORR_OK : spec_memory_fail(reader->error);
    }
    return ORR_OK;
}

static orr_result read_mesh(mjcf_reader *reader, const mjcf_node *node)
{
    const mjcf_class *c;
    ORR_TRY(mjcf_class_of(reader, node, NULL, &c));
    spec_mesh *mesh = SPEC_APPEND(reader->spec, meshes);
    if (!mesh) {
        return spec_memory_fail(reader->error);
    }
    *mesh = c->mesh;
    ORR_TRY(mjcf_head(reader, node, &mesh->head));
    ORR_TRY(mjcf_read(node, mjcf_mesh_members, NULL, mesh, reader->spec, reader->error));
    ORR_TRY(name_by_file(reader, mesh->file, &mesh->head));
    ORR_TRY(mjcf_read_function(reader, node, &mesh->function));
    if (mesh->function.kind == ORR_FUNCTION_OCTREE) {
        return mjcf_fail(node, reader->error, "plugin mujoco.sdf.sdflib: expected of a geom");
    }
    const int sources = (mesh->file != NULL) + (mesh->vertex.count > 0) + (mesh->builtin != 0) +
                        (mesh->function.kind != ORR_FUNCTION_NONE);
    if (!mesh->head.name || sources != 1) {
        return mjcf_fail(node, reader->error, "expected a file, or a name and vertices, builtin or a plugin");
    }
    if (mesh->function.kind && (mesh->scale[0] != 1.0 || mesh->scale[1] != 1.0 || mesh->scale[2] != 1.0)) {
        return mjcf_fail(node, reader->error, "scale: expected none with a plugin");
    }
    if (mesh->builtin && (mesh->normal.count || mesh->texcoord.count || mesh->face.count)) {
        return mjcf_fail(node, reader->error, "builtin: expected no normal, texcoord or face beside it");
    }
    if (mesh->builtin == SPEC_MESH_PLATE) { // it has no volume
        mesh->inertia = SPEC_MESH_SHELL;
    }
    return resolve_file(reader, node, reader->spec->compiler.meshdir, &mesh->file);
}

static orr_result read_hfield(mjcf_reader *reader, const mjcf_node *node)
{
    spec_hfield *hfield = SPEC_APPEND(reader->spec, hfields);
    if (!hfield) {
        return spec_memory_fail(reader->error);
    }
    ORR_TRY(mjcf_head(reader, node, &hfield->head));
    ORR_TRY(mjcf_read(node, mjcf_hfield_members, NULL, hfield, reader->spec, reader->error));
    ORR_TRY(name_by_file(reader, hfield->file, &hfield->head));
    if (!hfield->head.name) {
        return mjcf_fail(node, reader->error, "name: expected one");
    }
    if (!mjcf_find(node, "size")) {
        return mjcf_fail(node, reader->error, "size: expected 4 numbers");
    }
    return resolve_file(reader, node, reader->spec->compiler.meshdir, &hfield->file);
}

static orr_result read_texture(mjcf_reader *reader, const mjcf_node *node)
{
    const mjcf_class *c;
    ORR_TRY(mjcf_class_of(reader, node, NULL, &c));
    spec_texture *texture = SPEC_APPEND(reader->spec, textures);
    if (!texture) {
        return spec_memory_fail(reader->error);
    }
    *texture = c->texture;
    ORR_TRY(mjcf_head(reader, node, &texture->head));
    ORR_TRY(mjcf_read(node, mjcf_texture_members, NULL, texture, reader->spec, reader->error));
    ORR_TRY(name_by_file(reader, texture->file, &texture->head));
    for (int i = 0; i < 6; i++) {
        ORR_TRY(resolve_file(reader, node, reader->spec->compiler.texturedir, &texture->side[i]));
    }
    return resolve_file(reader, node, reader->spec->compiler.texturedir, &texture->file);
}

static orr_result read_material(mjcf_reader *reader, const mjcf_node *node)
{
    const mjcf_class *c;
    ORR_TRY(mjcf_class_of(reader, node, NULL, &c));
    spec_material *material = SPEC_APPEND(reader->spec, materials);
    if (!material) {
        return spec_memory_fail(reader->error);
    }
    *material = c->material;
    ORR_TRY(mjcf_head(reader, node, &material->head));
    ORR_TRY(mjcf_read(node, mjcf_material_members, NULL, material, reader->spec, reader->error));
    return material->head.name ? ORR_OK : mjcf_fail(node, reader->error, "name: expected one");
}

// A skin is only drawn: it is left out, with a note.
static orr_result read_skin(mjcf_reader *reader, const mjcf_node *node)
{
    static const char *const own[] = {"file",     "material", "rgba",  "inflate", "vertex",
                                      "texcoord", "face",     "group", NULL};
    static const char *const of_bone[] = {"body", "bindpos", "bindquat", "vertid", "vertweight", NULL};
    ORR_TRY(mjcf_read(node, mjcf_no_members, own, NULL, reader->spec, reader->error));
    for (const mjcf_node *bone = node->children; bone; bone = bone->next) {
        if (!mjcf_is(bone, "bone")) {
            return mjcf_unknown(bone, node, reader->error);
        }
        ORR_TRY(mjcf_read(bone, mjcf_no_members, of_bone, NULL, reader->spec, reader->error));
        ORR_TRY(mjcf_no_children(bone, reader->error));
    }
    spec_note(reader->spec, node->file, node->line, "<skin>: expected geoms alone, it is not drawn");
    return ORR_OK;
}

orr_result mjcf_read_deformables(mjcf_reader *reader, const mjcf_node *section)
{
    for (const mjcf_node *node = section->children; node; node = node->next) {
        if (!mjcf_is(node, "skin")) {
            return mjcf_unknown(node, section, reader->error);
        }
        ORR_TRY(read_skin(reader, node));
    }
    return ORR_OK;
}

orr_result mjcf_read_assets(mjcf_reader *reader, const mjcf_node *section)
{
    static const struct {
        const char *name;
        orr_result (*read)(mjcf_reader *reader, const mjcf_node *node);
    } elements[] = {{"mesh", read_mesh},
                    {"hfield", read_hfield},
                    {"texture", read_texture},
                    {"material", read_material},
                    {"model", mjcf_read_model}};
    enum { ELEMENT_COUNT = sizeof elements / sizeof elements[0] };
    for (const mjcf_node *node = section->children; node; node = node->next) {
        if (mjcf_is(node, "skin")) { // its position in older files
            ORR_TRY(read_skin(reader, node));
            continue;
        }
        int i = 0;
        while (i < ELEMENT_COUNT && !mjcf_is(node, elements[i].name)) {
            i++;
        }
        if (i == ELEMENT_COUNT) {
            return mjcf_unknown(node, section, reader->error);
        }
        if (i != 0) { // of meshes, which can have a plugin
            ORR_TRY(mjcf_no_children(node, reader->error));
        }
        ORR_TRY(elements[i].read(reader, node));
    }
    return ORR_OK;
}
