// Visuals of links, and their materials.
#include "physics/urdf/urdf.h"

#include <string.h>

// ---- materials

static orr_result read_colour(urdf_reader *reader, const mjcf_node *node, float rgba[4])
{
    static const char *const attributes[] = {"rgba", NULL};
    double values[4];
    ORR_TRY(urdf_check(reader, node, attributes, NULL));
    ORR_TRY(urdf_numbers(reader, node, "rgba", 4, true, values));
    for (int i = 0; i < 4; i++) {
        if (!(values[i] >= 0.0 && values[i] <= 1.0)) {
            return mjcf_fail(node, reader->error, "rgba: expected numbers of 0 to 1");
        }
        rgba[i] = (float)values[i];
    }
    return ORR_OK;
}

// A picture that is not there is noted: the colour is drawn.
static void find_texture(urdf_reader *reader, const mjcf_node *node, const char **file)
{
    const char *filename = mjcf_find(node, "filename");
    const bool named = filename && filename[0]; // exporters write <texture/>
    *file = named ? urdf_find_file(reader, filename) : NULL;
    if (named && !*file) {
        spec_note(reader->spec, node->file, node->line, "<texture>: there is no file '%.100s'", filename);
    }
}

static orr_result read_own(urdf_reader *reader, const mjcf_node *node, urdf_material *material)
{
    const mjcf_node *colour = urdf_child(node, "color"), *texture = urdf_child(node, "texture");
    *material = (urdf_material){.name = mjcf_find(node, "name")};
    if (colour) {
        ORR_TRY(read_colour(reader, colour, material->rgba));
        material->coloured = true;
    }
    if (texture) {
        find_texture(reader, texture, &material->texture);
    }
    return ORR_OK;
}

static const urdf_material *find_material(const urdf_reader *reader, const char *name)
{
    const urdf_material *m = reader->materials;
    while (m && strcmp(m->name, name) != 0) {
        m = m->next;
    }
    return m;
}

orr_result urdf_read_materials(urdf_reader *reader, const mjcf_node *node)
{
    const char *name = mjcf_find(node, "name");
    const bool described = urdf_child(node, "color") || urdf_child(node, "texture");
    if (mjcf_is(node, "material") && name && described && !find_material(reader, name)) {
        urdf_material *material = orr_arena_take(&reader->spec->arena, 1, sizeof *material);
        if (!material) {
            return spec_memory_fail(reader->error);
        }
        ORR_TRY(read_own(reader, node, material));
        material->next = reader->materials;
        reader->materials = material;
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        ORR_TRY(urdf_read_materials(reader, child));
    }
    return ORR_OK;
}

orr_result urdf_read_material(urdf_reader *reader, const mjcf_node *visual, urdf_material *material)
{
    static const char *const attributes[] = {"name", NULL}, *const children[] = {"color", "texture", NULL};
    const mjcf_node *node = urdf_child(visual, "material");
    *material = (urdf_material){0};
    if (!node) {
        return ORR_OK;
    }
    ORR_TRY(urdf_check(reader, node, attributes, children));
    const char *name = mjcf_find(node, "name");
    const urdf_material *named = name ? find_material(reader, name) : NULL;
    ORR_TRY(read_own(reader, node, material));
    if (named && !material->coloured) {
        material->coloured = named->coloured;
        memcpy(material->rgba, named->rgba, sizeof material->rgba);
    }
    material->texture = named && !material->texture ? named->texture : material->texture;
    return ORR_OK;
}

// ---- visuals

static orr_result read_parts(urdf_reader *reader, const mjcf_node *node, urdf_shape *shape,
                             spec_visual *visual)
{
    ORR_TRY(urdf_read_shape(reader, node, shape));
    if (shape->type == ORR_GEOM_PLANE) { // one that collides is shown
        return mjcf_fail(node, reader->error, "a plane: expected as what collides");
    }
    visual->type = shape->type;
    memcpy(visual->size, shape->size, sizeof visual->size);
    if (shape->mesh) {
        ORR_TRY(urdf_find_mesh(reader, shape->mesh, &visual->mesh, visual->size));
    }
    for (int i = 0; i < 3 && !shape->mesh; i++) {
        if (visual->size[i] < 0.0) {
            return mjcf_fail(node, reader->error, "size: expected positive numbers");
        }
    }
    return urdf_origin(reader, node, visual->pos, visual->orientation.quat);
}

static const char *copied(orr_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = orr_arena_take(arena, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

orr_result urdf_read_visual(urdf_reader *reader, const urdf_link *link, const mjcf_node *node,
                            const urdf_material *material)
{
    enum { VISUAL_GROUP = 1 }; // MuJoCo's, of visuals that are kept as geoms
    orr_spec *spec = reader->spec;
    const char *name = mjcf_find(node, "name");
    orr_error why = {0};
    urdf_reader own = *reader;
    urdf_shape shape = {0};
    spec_visual visual = {.head = {mjcf_location(node), name && name[0] ? name : link->name},
                          .body = link->body,
                          .group = VISUAL_GROUP,
                          .link = link->node,
                          .element = node,
                          .texture = material->texture,
                          .coloured = material->coloured};
    own.error = &why;
    memcpy(visual.rgba, material->rgba, sizeof visual.rgba);
    mjcf_orientation_init(&visual.orientation);
    if (read_parts(&own, node, &shape, &visual) != ORR_OK) {
        visual.wrong = why.code != ORR_CODE_OUT_OF_MEMORY ? copied(&spec->arena, why.message) : NULL;
        if (!visual.wrong) {
            return spec_memory_fail(reader->error);
        }
    }
    if (shape.empty) {
        return ORR_OK;
    }
    spec_visual *added = SPEC_APPEND(spec, visuals);
    if (!added) {
        return spec_memory_fail(reader->error);
    }
    *added = visual;
    return ORR_OK;
}
