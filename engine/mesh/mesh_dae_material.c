// Materials of Collada: the diffuse colour or texture of an effect, and its emission.
#include "engine/mesh/mesh_dae.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

// The effect's element <newparam sid="...">.
static int parameter_of(orr_dae_tree *tree, int profile, const char *sid)
{
    for (int node = orr_dae_child(tree, profile, "newparam"); node >= 0;
         node = orr_dae_next(tree, node, "newparam")) {
        const char *own = orr_dae_attribute_of(tree, node, "sid");
        if (own && strcmp(own, sid) == 0) {
            return node;
        }
    }
    return -1;
}

// A copy of an element's content without the blanks behind it, to be freed; NULL: memory is out.
static char *copy_content(orr_dae_tree *tree, int node)
{
    orr_mesh_text text = orr_dae_content(tree, node);
    const char *rest;
    size_t length;
    orr_mesh_text_rest(&text, &rest, &length);
    char *copy = orr_alloc(length + 1, 1);
    if (copy) {
        memcpy(copy, rest, length);
        copy[length] = 0;
    }
    return copy;
}

// The <image> of <texture texture="...">: by way of a sampler and a surface, or named at once.
static orr_result find_image(orr_dae *d, int profile, const char *name, int *image)
{
    orr_dae_tree *tree = &d->tree;
    *image = orr_dae_by_id(tree, name);
    int sampler = orr_dae_child(tree, parameter_of(tree, profile, name), "sampler2D");
    int link = orr_dae_child(tree, sampler, "source");
    int instance = orr_dae_child(tree, sampler, "instance_image");
    if (instance >= 0) {
        *image = orr_dae_reference(tree, instance, "url");
    } else if (link >= 0) {
        char *surface = copy_content(tree, link);
        int parameter = surface ? parameter_of(tree, profile, surface) : -1;
        orr_free(surface);
        int from = orr_dae_child(tree, orr_dae_child(tree, parameter, "surface"), "init_from");
        char *id = surface ? copy_content(tree, from) : NULL;
        *image = id ? orr_dae_by_id(tree, id) : -1;
        orr_free(id);
        if (!id) {
            return orr_fail(d->reader->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a material");
        }
    }
    return ORR_OK;
}

static orr_result read_texture(orr_dae *d, int profile, int node, int *texture)
{
    orr_dae_tree *tree = &d->tree;
    const char *name = orr_dae_attribute_of(tree, node, "texture");
    int image = -1;
    if (name) {
        ORR_TRY(find_image(d, profile, name, &image));
    }
    int from = orr_dae_child(tree, image, "init_from"), reference = orr_dae_child(tree, from, "ref");
    if (from < 0) {
        return orr_mesh_fail(d->reader, "line %d: <texture>: expected an image of this file",
                             tree->nodes[node].line);
    }
    char *address = copy_content(tree, reference >= 0 ? reference : from);
    if (!address) {
        return orr_fail(d->reader->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the name of a texture");
    }
    const char *path = strncmp(address, "file://", 7) == 0 ? address + 7 : address;
    orr_result result = orr_mesh_load_texture(d->reader, path, texture);
    orr_free(address);
    return result;
}

static orr_result read_effect(orr_dae *d, int effect, orr_mesh_material *material)
{
    static const char *const shaders[] = {"phong", "lambert", "blinn", "constant"};
    orr_dae_tree *tree = &d->tree;
    int profile = orr_dae_child(tree, effect, "profile_COMMON"), shader = -1;
    int technique = orr_dae_child(tree, profile, "technique");
    for (int i = 0; i < 4 && shader < 0; i++) {
        shader = orr_dae_child(tree, technique, shaders[i]);
    }
    int diffuse = orr_dae_child(tree, shader, "diffuse"), emission = orr_dae_child(tree, shader, "emission");
    int texture = orr_dae_child(tree, diffuse, "texture");
    float colour[4] = {0.0f, 0.0f, 0.0f, 1.0f}, transparency;
    if (orr_dae_numbers(tree, orr_dae_child(tree, diffuse, "color"), colour, 4) >= 3) {
        memcpy(material->base_colour, colour, sizeof colour);
    }
    if (orr_dae_numbers(tree, orr_dae_child(tree, emission, "color"), colour, 3) == 3) {
        for (int i = 0; i < 3; i++) {
            material->emissive[i] = colour[i] > 0.0f && isfinite(colour[i]) ? colour[i] : 0.0f;
        }
    }
    int opacity = orr_dae_child(tree, orr_dae_child(tree, shader, "transparency"), "float");
    bool between =
        orr_dae_numbers(tree, opacity, &transparency, 1) == 1 && transparency > 0.0f && transparency < 1.0f;
    if (between || orr_dae_child(tree, orr_dae_child(tree, shader, "transparent"), "texture") >= 0) {
        orr_mesh_note(d->reader, "transparency");
    }
    return texture >= 0 && d->reader->desc->read_textures
               ? read_texture(d, profile, texture, &material->texture)
               : ORR_OK;
}

orr_result orr_dae_material(orr_dae *d, int instance, const char *symbol, int *material)
{
    orr_dae_tree *tree = &d->tree;
    int bind = orr_dae_child(tree, orr_dae_child(tree, instance, "bind_material"), "technique_common");
    int target = -1;
    *material = -1;
    for (int node = orr_dae_child(tree, bind, "instance_material"); node >= 0 && symbol && target < 0;
         node = orr_dae_next(tree, node, "instance_material")) {
        const char *own = orr_dae_attribute_of(tree, node, "symbol");
        target = own && strcmp(own, symbol) == 0 ? orr_dae_reference(tree, node, "target") : -1;
    }
    int effect = orr_dae_reference(tree, orr_dae_child(tree, target, "instance_effect"), "url");
    if (effect < 0) {
        return ORR_OK;
    }
    if (d->materials[effect] < 0) {
        orr_mesh_material *made;
        ORR_TRY(orr_mesh_add_material(d->reader, &made));
        d->materials[effect] = d->reader->mesh->material_count - 1;
        ORR_TRY(read_effect(d, effect, made));
    }
    *material = d->materials[effect];
    return ORR_OK;
}
