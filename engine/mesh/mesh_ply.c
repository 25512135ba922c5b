// .ply with triangles: text and both orders of bytes; faces, or triangle strips.
#include "engine/mesh/mesh_reader.h"

#include "engine/core/memory.h"
#include "engine/mesh/mesh_text.h"
#include "engine/mesh/ply_header.h"

#include <stdio.h>
#include <string.h>

typedef struct ply {
    orr_mesh_reader *reader;
    orr_ply_header header;
    const uint8_t *at, *end; // of binary values
    orr_mesh_text text;
    bool big_endian;
    uint32_t *list; // of one row
    int list_count, list_room;
} ply;

// Where the values of a vertex go: an offset in floats, and what they are divided by; -1: nowhere.
typedef struct column {
    int member;
    float divisor;
} column;

static orr_result ends_early(const ply *p, const orr_ply_element *element, int64_t row)
{
    return orr_mesh_fail(p->reader, "element %s, row %lld: expected %lld rows of numbers", element->name,
                         (long long)row, (long long)element->count);
}

static double value_at(const uint8_t *data, orr_ply_type type, bool big_endian)
{
    uint8_t bytes[8] = {0};
    int size = orr_ply_type_size(type);
    for (int i = 0; i < size; i++) {
        bytes[i] = data[big_endian ? size - 1 - i : i];
    }
    union {
        int8_t char_;
        uint8_t uchar;
        int16_t short_;
        uint16_t ushort;
        int32_t int_;
        uint32_t uint;
        float float_;
        double double_;
    } value;
    memcpy(&value, bytes, sizeof value);
    switch (type) {
    case ORR_PLY_CHAR:
        return value.char_;
    case ORR_PLY_UCHAR:
        return value.uchar;
    case ORR_PLY_SHORT:
        return value.short_;
    case ORR_PLY_USHORT:
        return value.ushort;
    case ORR_PLY_INT:
        return value.int_;
    case ORR_PLY_UINT:
        return value.uint;
    case ORR_PLY_FLOAT:
        return (double)value.float_;
    case ORR_PLY_DOUBLE:
        return value.double_;
    case ORR_PLY_LIST:
        break;
    }
    return 0.0;
}

static bool take_value(ply *p, orr_ply_type type, double *value)
{
    if (p->header.encoding == ORR_PLY_ASCII) {
        return orr_mesh_text_any_number(&p->text, value);
    }
    size_t size = (size_t)orr_ply_type_size(type);
    if ((size_t)(p->end - p->at) < size) {
        return false;
    }
    *value = value_at(p->at, type, p->big_endian);
    p->at += size;
    return true;
}

// The items of a list, into `list` when they are wanted: -1 and others that are no index as UINT32_MAX.
static orr_result take_list(ply *p, const orr_ply_element *element, int64_t row,
                            const orr_ply_property *property, bool wanted)
{
    double count;
    if (!take_value(p, property->count_type, &count)) {
        return ends_early(p, element, row);
    }
    size_t left =
        p->header.encoding == ORR_PLY_ASCII ? (size_t)(p->text.end - p->text.at) : (size_t)(p->end - p->at);
    if (!(count >= 0.0) || count > (double)left || count > INT32_MAX) {
        return orr_mesh_fail(
            p->reader, "element %s, row %lld: a list of %g items: expected no more than fit into the file",
            element->name, (long long)row, count);
    }
    if (wanted) {
        ORR_GROW(p->list, p->list_room, (int)count, "a face", p->reader->error);
        p->list_count = (int)count;
    }
    for (int i = 0; i < (int)count; i++) {
        double item;
        if (!take_value(p, property->item_type, &item)) {
            return ends_early(p, element, row);
        }
        if (wanted) {
            p->list[i] = item >= 0.0 && item < UINT32_MAX ? (uint32_t)item : UINT32_MAX;
        }
    }
    return ORR_OK;
}

// `floats`: one for each property that is no list; `list`: the property that is kept in p->list.
static orr_result take_row(ply *p, const orr_ply_element *element, int64_t row, const orr_ply_property *list,
                           float *floats)
{
    for (int i = 0; i < element->properties; i++) {
        const orr_ply_property *property = &p->header.property[element->first + i];
        double value = 0.0;
        if (property->type == ORR_PLY_LIST) {
            ORR_TRY(take_list(p, element, row, property, property == list));
        } else if (!take_value(p, property->type, &value)) {
            return ends_early(p, element, row);
        }
        floats[i] = (float)value;
    }
    return ORR_OK;
}

static column column_of(const orr_ply_property *property)
{
    static const struct {
        const char *name;
        size_t offset;
    } members[] = {
        {"x", offsetof(orr_mesh_file_vertex, position[0])},
        {"y", offsetof(orr_mesh_file_vertex, position[1])},
        {"z", offsetof(orr_mesh_file_vertex, position[2])},
        {"nx", offsetof(orr_mesh_file_vertex, normal[0])},
        {"ny", offsetof(orr_mesh_file_vertex, normal[1])},
        {"nz", offsetof(orr_mesh_file_vertex, normal[2])},
        {"s", offsetof(orr_mesh_file_vertex, texcoord[0])},
        {"t", offsetof(orr_mesh_file_vertex, texcoord[1])},
        {"u", offsetof(orr_mesh_file_vertex, texcoord[0])},
        {"v", offsetof(orr_mesh_file_vertex, texcoord[1])},
        {"texture_u", offsetof(orr_mesh_file_vertex, texcoord[0])},
        {"texture_v", offsetof(orr_mesh_file_vertex, texcoord[1])},
        {"red", offsetof(orr_mesh_file_vertex, colour[0])},
        {"green", offsetof(orr_mesh_file_vertex, colour[1])},
        {"blue", offsetof(orr_mesh_file_vertex, colour[2])},
        {"alpha", offsetof(orr_mesh_file_vertex, colour[3])},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0] && property->type != ORR_PLY_LIST; i++) {
        if (strcmp(property->name, members[i].name) == 0) {
            bool colour = members[i].offset >= offsetof(orr_mesh_file_vertex, colour);
            float divisor = colour && property->type == ORR_PLY_UCHAR    ? 255.0f
                            : colour && property->type == ORR_PLY_USHORT ? 65535.0f
                                                                         : 1.0f;
            return (column){(int)(members[i].offset / sizeof(float)), divisor};
        }
    }
    return (column){-1, 1.0f};
}

static void note_property(ply *p, const orr_ply_element *element, const orr_ply_property *property)
{
    char what[2 * ORR_PLY_NAME];
    snprintf(what, sizeof what, "%.20s of %.20s", property->name, element->name);
    orr_mesh_note(p->reader, what);
}

static orr_result read_vertices(ply *p, const orr_ply_element *element)
{
    column columns[ORR_PLY_PROPERTIES];
    bool given[3] = {false, false, false};
    for (int i = 0; i < element->properties; i++) {
        const orr_ply_property *property = &p->header.property[element->first + i];
        columns[i] = column_of(property);
        if (columns[i].member < 0) {
            note_property(p, element, property);
        } else if (columns[i].member < 3) {
            given[columns[i].member] = true;
        }
    }
    if (!given[0] || !given[1] || !given[2]) {
        return orr_mesh_fail(p->reader, "element vertex: expected properties x, y and z");
    }
    size_t left =
        p->header.encoding == ORR_PLY_ASCII ? (size_t)(p->text.end - p->text.at) : (size_t)(p->end - p->at);
    // three numbers or more in a row: a byte and a blank each, or as many bytes as the types have
    size_t least = p->header.encoding == ORR_PLY_ASCII ? 5 : element->stride ? (size_t)element->stride : 3;
    if ((size_t)element->count > (left + 1) / least) {
        return orr_mesh_fail(p->reader, "element vertex: %lld rows: expected no more than fit into %zu bytes",
                             (long long)element->count, left);
    }
    orr_mesh_file_vertex *vertices;
    ORR_TRY(orr_mesh_add_vertices(p->reader, element->count, &vertices));
    for (int64_t row = 0; row < element->count; row++) {
        float floats[ORR_PLY_PROPERTIES], *vertex = (float *)&vertices[row];
        ORR_TRY(take_row(p, element, row, NULL, floats));
        for (int i = 0; i < element->properties; i++) {
            if (columns[i].member >= 0) {
                vertex[columns[i].member] = floats[i] / columns[i].divisor;
            }
        }
    }
    return ORR_OK;
}

static orr_result check_corners(const ply *p, const orr_ply_element *element, int64_t row, bool strips)
{
    for (int i = 0; i < p->list_count; i++) {
        bool restart = strips && p->list[i] == UINT32_MAX;
        if (p->list[i] >= p->reader->mesh->vertex_count && !restart) {
            return orr_mesh_fail(p->reader,
                                 "element %s, row %lld: a vertex index out of range: expected 0 to %lld",
                                 element->name, (long long)row, (long long)p->reader->mesh->vertex_count - 1);
        }
    }
    return ORR_OK;
}

// Each corner makes a triangle with the two before it; -1 begins a new strip.
static orr_result add_strips(ply *p)
{
    int first = 0;
    for (int i = 0; i < p->list_count; i++) {
        const uint32_t *c = p->list + i;
        if (*c == UINT32_MAX) {
            first = i + 1;
        } else if (i - first >= 2 && c[-2] != c[-1] && c[-1] != c[0] && c[0] != c[-2]) {
            bool odd = (i - first) % 2 != 0;
            ORR_TRY(orr_mesh_add_triangle(p->reader, c[odd ? -1 : -2], c[odd ? -2 : -1], c[0]));
        }
    }
    return ORR_OK;
}

// Rows of faces, of strips, or, without `list`, of what is left out.
static orr_result read_rows(ply *p, const orr_ply_element *element, const orr_ply_property *list, bool strips)
{
    for (int i = 0; i < element->properties; i++) {
        const orr_ply_property *property = &p->header.property[element->first + i];
        if (property != list) {
            note_property(p, element, property);
        }
    }
    for (int64_t row = 0; row < element->count && element->properties > 0; row++) {
        float floats[ORR_PLY_PROPERTIES];
        p->list_count = 0;
        ORR_TRY(take_row(p, element, row, list, floats));
        if (list) {
            ORR_TRY(check_corners(p, element, row, strips));
            ORR_TRY(strips ? add_strips(p) : orr_mesh_add_polygon(p->reader, p->list, p->list_count));
        }
    }
    return ORR_OK;
}

static orr_result read_elements(ply *p)
{
    ORR_TRY(orr_mesh_use_material(p->reader, 0));
    for (int i = 0; i < p->header.elements; i++) {
        const orr_ply_element *element = &p->header.element[i];
        const orr_ply_property *list = orr_ply_find_property(&p->header, element, "vertex_indices");
        list = list ? list : orr_ply_find_property(&p->header, element, "vertex_index");
        list = list && list->type == ORR_PLY_LIST ? list : NULL;
        bool faces = strcmp(element->name, "face") == 0, strips = strcmp(element->name, "tristrips") == 0;
        if ((faces || strips) && !list) {
            return orr_mesh_fail(p->reader, "element %s: expected a list vertex_indices", element->name);
        }
        if (strcmp(element->name, "vertex") == 0) {
            ORR_TRY(read_vertices(p, element));
        } else {
            ORR_TRY(read_rows(p, element, faces || strips ? list : NULL, strips));
        }
    }
    return ORR_OK;
}

static bool has_triangles(const orr_ply_header *header)
{
    const orr_ply_element *faces = orr_ply_element_named(header, "face");
    const orr_ply_element *strips = orr_ply_element_named(header, "tristrips");
    return (faces && faces->count > 0) || (strips && strips->count > 0);
}

static orr_result set_material(ply *p)
{
    orr_mesh_material *material;
    ORR_TRY(orr_mesh_add_material(p->reader, &material));
    return p->header.texture[0] && p->reader->desc->read_textures
               ? orr_mesh_load_texture(p->reader, p->header.texture, &material->texture)
               : ORR_OK;
}

orr_result orr_mesh_read_ply(orr_mesh_reader *reader)
{
    const orr_bytes *bytes = &reader->bytes;
    ply p = {.reader = reader};
    orr_error why = {0};
    if (orr_ply_read_header(orr_path_name(reader->desc->path), bytes->data, bytes->size, &p.header, &why) !=
        ORR_OK) {
        return orr_fail(reader->error, ORR_CODE_MESH_FILE, "%s", why.message);
    }
    if (!has_triangles(&p.header)) {
        return orr_mesh_fail(reader,
                             "a cloud of points or splats: expected triangles (element face or tristrips)");
    }
    p.big_endian = p.header.encoding == ORR_PLY_BIG_ENDIAN;
    p.at = bytes->data + p.header.size;
    p.end = bytes->data + bytes->size;
    p.text = (orr_mesh_text){(const char *)p.at, (const char *)p.end, 1};
    orr_result result = set_material(&p);
    result = result == ORR_OK ? read_elements(&p) : result;
    orr_free(p.list);
    return result;
}

bool orr_mesh_in_ply(const char *path)
{
    enum { HEADER_MAX = 1 << 16 };
    FILE *file;
    orr_ply_header header;
    uint8_t *start = orr_alloc(HEADER_MAX, 1);
    if (!start || orr_file_open(path, &file, NULL) != ORR_OK) {
        orr_free(start);
        return false;
    }
    size_t size = fread(start, 1, HEADER_MAX, file);
    fclose(file);
    bool found = orr_ply_read_header(path, start, size, &header, NULL) == ORR_OK && has_triangles(&header);
    orr_free(start);
    return found;
}
