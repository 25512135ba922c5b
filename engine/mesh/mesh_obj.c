// Wavefront .obj: polygons of vertices, texture coordinates and normals, with materials of .mtl files.
#include "engine/mesh/mesh_obj.h"

#include "engine/mesh/mesh_text.h"

#include <stdio.h>
#include <string.h>

typedef struct obj_list { // of float triples or pairs
    float *values;
    int count, room; // floats
} obj_list;

typedef struct obj {
    orr_mesh_reader *reader;
    orr_mesh_text text;
    obj_list positions, texcoords, normals;
    float *colours; // 3 per position; 1 up to the first that has one
    int colour_room;
    bool coloured;
    orr_obj_materials materials;
    int material; // of faces from here on; -1: none
    uint32_t *corners;
    int corner_room;
} obj;

static orr_result line_fail(const obj *o, const char *expected)
{
    return orr_mesh_fail(o->reader, "line %d: expected %s", o->text.line, expected);
}

static orr_result read_floats(obj *o, obj_list *list, int width, int least, const char *expected)
{
    float values[3] = {0.0f, 0.0f, 0.0f};
    if (orr_mesh_text_floats(&o->text, values, width) < least) {
        return line_fail(o, expected);
    }
    if (list->count > INT32_MAX - width) {
        return line_fail(o, "fewer numbers before it");
    }
    ORR_GROW(list->values, list->room, list->count + width, "vertices", o->reader->error);
    memcpy(list->values + list->count, values, (size_t)width * sizeof *values);
    list->count += width;
    return ORR_OK;
}

// x y z, then nothing, w, r g b, or w r g b.
static orr_result read_position(obj *o)
{
    ORR_TRY(read_floats(o, &o->positions, 3, 3, "3 numbers behind v"));
    float more[4];
    int count = orr_mesh_text_floats(&o->text, more, 4);
    if (count < 3) {
        return ORR_OK;
    }
    int have = o->coloured ? o->colour_room : 0;
    ORR_GROW(o->colours, o->colour_room, o->positions.count, "vertex colours", o->reader->error);
    for (; have < o->colour_room; have++) {
        o->colours[have] = 1.0f;
    }
    o->coloured = true;
    memcpy(o->colours + o->positions.count - 3, more + count - 3, 3 * sizeof *more);
    return ORR_OK;
}

// An index of the file, from 1 or from the end, to one from 0; -1 when there is no such element.
static int64_t take_index(const char **at, int count)
{
    bool back = **at == '-';
    *at += back;
    int64_t value = 0;
    const char *first = *at;
    for (; **at >= '0' && **at <= '9' && value <= INT32_MAX; ++*at) {
        value = 10 * value + (**at - '0');
    }
    if (*at == first || value == 0 || value > count) {
        return -1;
    }
    return back ? count - value : value - 1;
}

// v, v/vt, v//vn or v/vt/vn
static orr_result add_corner(obj *o, const char *word, size_t length)
{
    const char *at = word;
    int64_t position = take_index(&at, o->positions.count / 3), texcoord = -1, normal = -1;
    bool good = position >= 0;
    if (good && *at == '/') {
        at++;
        if (*at != '/' && at < word + length) {
            texcoord = take_index(&at, o->texcoords.count / 2);
            good = texcoord >= 0;
        }
        if (good && *at == '/') {
            at++;
            if (at < word + length) {
                normal = take_index(&at, o->normals.count / 3);
                good = normal >= 0;
            }
        }
    }
    if (!good || at != word + length) {
        return orr_mesh_fail(
            o->reader,
            "line %d: corner '%.*s': expected indices of %d vertices, %d texture coordinates "
            "and %d normals before it",
            o->text.line, (int)(length < 40 ? length : 40), word, o->positions.count / 3,
            o->texcoords.count / 2, o->normals.count / 3);
    }
    orr_mesh_file_vertex *vertex;
    ORR_TRY(orr_mesh_add_vertices(o->reader, 1, &vertex));
    memcpy(vertex->position, o->positions.values + 3 * position, sizeof vertex->position);
    if (texcoord >= 0) {
        memcpy(vertex->texcoord, o->texcoords.values + 2 * texcoord, sizeof vertex->texcoord);
    }
    if (normal >= 0) {
        memcpy(vertex->normal, o->normals.values + 3 * normal, sizeof vertex->normal);
    }
    if (o->coloured && 3 * position + 3 <= o->colour_room) {
        memcpy(vertex->colour, o->colours + 3 * position, 3 * sizeof *vertex->colour);
    }
    return ORR_OK;
}

static orr_result read_face(obj *o)
{
    const char *word;
    size_t length;
    int count = 0;
    int64_t first = o->reader->mesh->vertex_count;
    while (orr_mesh_text_word(&o->text, &word, &length) && word[0] != '#') {
        ORR_TRY(add_corner(o, word, length));
        ORR_GROW(o->corners, o->corner_room, count + 1, "a face", o->reader->error);
        o->corners[count] = (uint32_t)(first + count);
        count++;
    }
    if (count < 3) {
        o->reader->mesh->vertex_count = first;
        orr_mesh_note(o->reader, "faces of fewer than 3 corners");
        return ORR_OK;
    }
    ORR_TRY(orr_mesh_use_material(o->reader, o->material));
    return o->reader->desc->polygons_as_mujoco ? orr_mesh_add_polygon_mujoco(o->reader, o->corners, count)
                                               : orr_mesh_add_polygon(o->reader, o->corners, count);
}

static orr_result read_library(obj *o)
{
    const char *rest;
    size_t length;
    orr_mesh_text_rest(&o->text, &rest, &length);
    if (o->reader->desc->bytes) {
        return ORR_OK; // a mesh in memory has no files beside it
    }
    char name[512];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), rest);
    orr_bytes bytes;
    orr_error why = {0};
    if (orr_mesh_read_beside(o->reader, name, &bytes, &why) != ORR_OK) {
        return orr_mesh_leave_out(o->reader, "materials of", name, &why);
    }
    orr_result result = orr_obj_read_mtl(o->reader, name, &bytes, &o->materials);
    orr_free(bytes.data);
    return result;
}

static void use_material(obj *o)
{
    const char *rest;
    size_t length;
    orr_mesh_text_rest(&o->text, &rest, &length);
    o->material = -1;
    int low = 0, high = o->materials.count;
    while (low < high) { // the first whose name is not before it
        int middle = low + (high - low) / 2;
        const char *name = o->materials.list[middle].name;
        int order = strncmp(name, rest, length);
        bool before = order < 0;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    if (low < o->materials.count) {
        const char *name = o->materials.list[low].name;
        if (strlen(name) == length && memcmp(name, rest, length) == 0) {
            o->material = o->materials.list[low].material;
        }
    }
    if (o->material < 0 && o->materials.count > 0) {
        orr_mesh_note(o->reader, "materials that no .mtl file describes");
    }
}

static orr_result read_line(obj *o)
{
    const char *word;
    size_t length;
    if (!orr_mesh_text_word(&o->text, &word, &length) || word[0] == '#') {
        return ORR_OK;
    }
    if (orr_mesh_text_is(word, length, "v")) {
        return read_position(o);
    }
    if (orr_mesh_text_is(word, length, "vt")) {
        return read_floats(o, &o->texcoords, 2, 1, "a number behind vt");
    }
    if (orr_mesh_text_is(word, length, "vn")) {
        return read_floats(o, &o->normals, 3, 3, "3 numbers behind vn");
    }
    if (orr_mesh_text_is(word, length, "f") || orr_mesh_text_is(word, length, "fo")) {
        return read_face(o);
    }
    if (orr_mesh_text_is(word, length, "mtllib")) {
        return read_library(o);
    }
    if (orr_mesh_text_is(word, length, "usemtl")) {
        use_material(o);
        return ORR_OK;
    }
    static const char *const structure[] = {"o", "g", "s"}; // do not change what is drawn
    for (size_t i = 0; i < sizeof structure / sizeof structure[0]; i++) {
        if (orr_mesh_text_is(word, length, structure[i])) {
            return ORR_OK;
        }
    }
    char what[40];
    snprintf(what, sizeof what, "%.*s lines", (int)(length < 24 ? length : 24), word);
    orr_mesh_note(o->reader, orr_mesh_text_is(word, length, "l")   ? "lines"
                             : orr_mesh_text_is(word, length, "p") ? "points"
                                                                   : what);
    return ORR_OK;
}

orr_result orr_mesh_read_obj(orr_mesh_reader *reader)
{
    obj o = {.reader = reader, .text = orr_mesh_text_of(&reader->bytes), .material = -1};
    reader->mesh->split_corners = true;
    orr_result result;
    do {
        result = read_line(&o);
    } while (result == ORR_OK && orr_mesh_text_next_line(&o.text));
    reader->mesh->points = o.positions.values;
    reader->mesh->point_count = o.positions.count / 3;
    orr_free(o.texcoords.values);
    orr_free(o.normals.values);
    orr_free(o.colours);
    orr_free(o.corners);
    orr_free(o.materials.list);
    orr_arena_destroy(&o.materials.names);
    return result;
}
