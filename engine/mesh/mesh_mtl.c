#include "engine/mesh/mesh_obj.h"

#include "engine/mesh/mesh_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_name(orr_obj_materials *materials, const char *text, size_t length)
{
    char *copy = orr_arena_take(&materials->names, length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

static orr_result memory_fail(const orr_mesh_reader *reader)
{
    return orr_fail(reader->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: materials");
}

// The file's name behind the options of a map (-s 1 1 1 -clamp on), which are left out.
static void skip_options(orr_mesh_reader *reader, orr_mesh_text *text)
{
    const char *word;
    size_t length;
    for (orr_mesh_text ahead = *text; orr_mesh_text_word(&ahead, &word, &length) && word[0] == '-';) {
        orr_mesh_note(reader, "options of textures");
        double number;
        bool numbers = false;
        while (orr_mesh_text_number(&ahead, &number)) {
            numbers = true;
        }
        if (!numbers) {
            orr_mesh_text_word(&ahead, &word, &length); // on, off, a channel
        }
        *text = ahead;
    }
}

static orr_result read_map(orr_mesh_reader *reader, orr_mesh_text *text, orr_obj_materials *materials,
                           orr_mesh_material *material)
{
    const char *rest;
    size_t length;
    skip_options(reader, text);
    orr_mesh_text_rest(text, &rest, &length);
    if (length == 0 || !reader->desc->read_textures) {
        return ORR_OK;
    }
    char *name = copy_name(materials, rest, length);
    return name ? orr_mesh_load_texture(reader, name, &material->texture) : memory_fail(reader);
}

static orr_result begin_material(orr_mesh_reader *reader, orr_mesh_text *text, orr_obj_materials *materials,
                                 orr_mesh_material **material)
{
    const char *rest;
    size_t length;
    orr_mesh_text_rest(text, &rest, &length);
    ORR_GROW(materials->list, materials->room, materials->count + 1, "materials", reader->error);
    char *name = copy_name(materials, rest, length);
    if (!name) {
        return memory_fail(reader);
    }
    ORR_TRY(orr_mesh_add_material(reader, material));
    for (int k = 0; k < 3; k++) {
        (*material)->base_colour[k] = ORR_OBJ_GREY;
    }
    materials->list[materials->count++] = (orr_obj_material){name, reader->mesh->material_count - 1};
    return ORR_OK;
}

// Only what is a picture or shines is named when it is left out: every file has Ka, Ks and Ns.
static void note_unused(orr_mesh_reader *reader, const char *word, size_t length)
{
    static const char *const kinds[] = {"map_", "bump", "disp", "decal", "refl", "norm"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (length >= strlen(kinds[i]) && orr_mesh_text_is(word, strlen(kinds[i]), kinds[i])) {
            char what[32];
            snprintf(what, sizeof what, "%.*s", (int)(length < 24 ? length : 24), word);
            orr_mesh_note(reader, what);
        }
    }
}

static orr_result read_line(orr_mesh_reader *reader, const char *file, orr_mesh_text *text,
                            orr_obj_materials *materials, orr_mesh_material **material)
{
    const char *word;
    size_t length;
    if (!orr_mesh_text_word(text, &word, &length) || word[0] == '#') {
        return ORR_OK;
    }
    if (orr_mesh_text_is(word, length, "newmtl")) {
        return begin_material(reader, text, materials, material);
    }
    bool colour = orr_mesh_text_is(word, length, "Kd"), emission = orr_mesh_text_is(word, length, "Ke");
    bool opacity = orr_mesh_text_is(word, length, "d"), transparency = orr_mesh_text_is(word, length, "Tr");
    bool map = orr_mesh_text_is(word, length, "map_Kd");
    if (!colour && !emission && !opacity && !transparency && !map) {
        note_unused(reader, word, length);
        return ORR_OK;
    }
    if (!*material) {
        return orr_mesh_fail(reader, "%.80s: line %d: expected newmtl first", file, text->line);
    }
    if (map) {
        return read_map(reader, text, materials, *material);
    }
    float values[3];
    int count = orr_mesh_text_floats(text, values, 3);
    if (count < (colour || emission ? 3 : 1)) {
        return orr_mesh_fail(reader, "%.80s: line %d: expected numbers behind %.*s", file, text->line,
                             (int)length, word);
    }
    if (colour) {
        memcpy((*material)->base_colour, values, sizeof values);
    } else if (emission) {
        memcpy((*material)->emissive, values, sizeof values);
    } else if (opacity || values[0] < 1.0f) { // MeshLab writes Tr 1 for what is opaque
        float alpha = opacity ? values[0] : 1.0f - values[0];
        (*material)->base_colour[3] = alpha;
        (*material)->blended = alpha < 1.0f;
    }
    return ORR_OK;
}

static int compare(const void *left, const void *right)
{
    const orr_obj_material *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : a->material - b->material;
}

orr_result orr_obj_read_mtl(orr_mesh_reader *reader, const char *name, const orr_bytes *bytes,
                            orr_obj_materials *materials)
{
    orr_mesh_text text = orr_mesh_text_of(bytes);
    orr_mesh_material *material = NULL;
    do {
        ORR_TRY(read_line(reader, name, &text, materials, &material));
    } while (orr_mesh_text_next_line(&text));
    if (materials->count > 0) {
        qsort(materials->list, (size_t)materials->count, sizeof *materials->list, compare);
    }
    return ORR_OK;
}
