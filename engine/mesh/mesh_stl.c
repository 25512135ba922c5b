// .stl, binary and text: triangles, each with a normal and, in some binary files, a colour.
#include "engine/mesh/mesh_reader.h"
#include "engine/mesh/mesh_text.h"

#include <string.h>
#include <strings.h>

enum { HEADER = 84, FACET = 50 }; // bytes

static uint32_t count_of(const orr_bytes *bytes)
{
    uint32_t count;
    memcpy(&count, bytes->data + HEADER - 4, sizeof count);
    return count;
}

// Text begins with "solid"; so do some binary files, whose size tells them.
static bool is_text(const orr_bytes *bytes)
{
    if (bytes->size >= HEADER && bytes->size == HEADER + FACET * (size_t)count_of(bytes)) {
        return false;
    }
    size_t blanks = 0;
    while (blanks < bytes->size && bytes->data[blanks] <= ' ' && bytes->data[blanks]) {
        blanks++;
    }
    return strncasecmp((const char *)bytes->data + blanks, "solid", 5) == 0;
}

static orr_result add_triangle(orr_mesh_reader *reader, orr_mesh_file_vertex **vertices)
{
    uint32_t first = (uint32_t)reader->mesh->vertex_count;
    ORR_TRY(orr_mesh_add_vertices(reader, 3, vertices));
    return orr_mesh_add_triangle(reader, first, first + 1, first + 2);
}

// 15 bits of the attribute are a colour: of blue, green, red and a set highest bit by the common convention;
// of red, green, blue and a clear one where the header says COLOR=.
static void set_colour(orr_mesh_file_vertex *vertex, uint16_t attribute, bool header_colour)
{
    if (header_colour == !(attribute & 0x8000)) {
        for (int k = 0; k < 3; k++) {
            int shift = header_colour ? 5 * k : 10 - 5 * k;
            vertex->colour[k] = (float)(attribute >> shift & 31) / 31.0f;
        }
    }
}

static orr_result read_binary(orr_mesh_reader *reader)
{
    const orr_bytes *bytes = &reader->bytes;
    if (bytes->size < HEADER) {
        return orr_mesh_fail(reader,
                             "%zu bytes: expected an STL file: text from 'solid' on, or %d bytes or more",
                             bytes->size, HEADER);
    }
    uint32_t count = count_of(bytes);
    size_t have = (bytes->size - HEADER) / FACET;
    if (have < count) {
        return orr_mesh_fail(reader, "%u triangles: expected at most the %zu that %zu bytes hold", count,
                             have, bytes->size);
    }
    if (bytes->size > HEADER + FACET * (size_t)count) {
        orr_mesh_note(reader, "bytes behind the last triangle");
    }
    bool header_colour = false;
    for (size_t i = 0; i + 6 <= 80; i++) {
        header_colour = header_colour || memcmp(bytes->data + i, "COLOR=", 6) == 0;
    }
    const uint8_t *at = bytes->data + HEADER;
    for (uint32_t i = 0; i < count; i++, at += FACET) {
        orr_mesh_file_vertex *vertices;
        uint16_t attribute;
        memcpy(&attribute, at + 48, sizeof attribute);
        ORR_TRY(add_triangle(reader, &vertices));
        for (int k = 0; k < 3; k++) {
            memcpy(vertices[k].normal, at, 12);
            memcpy(vertices[k].position, at + 12 + 12 * k, 12);
            set_colour(&vertices[k], attribute, header_colour);
        }
    }
    return ORR_OK;
}

static orr_result expect(const orr_mesh_reader *reader, orr_mesh_text *text, const char *expected)
{
    const char *word;
    size_t length;
    if (!orr_mesh_text_any_word(text, &word, &length)) {
        return orr_mesh_fail(reader, "line %d: the file ends: expected '%s'", text->line, expected);
    }
    return orr_mesh_text_is(word, length, expected)
               ? ORR_OK
               : orr_mesh_fail(reader, "line %d: '%.*s': expected '%s'", text->line,
                               (int)(length < 40 ? length : 40), word, expected);
}

static orr_result read_triple(const orr_mesh_reader *reader, orr_mesh_text *text, float values[3])
{
    return orr_mesh_text_floats(text, values, 3) == 3
               ? ORR_OK
               : orr_mesh_fail(reader, "line %d: expected 3 numbers", text->line);
}

// Behind the word facet.
static orr_result read_facet(orr_mesh_reader *reader, orr_mesh_text *text)
{
    float normal[3], positions[3][3];
    ORR_TRY(expect(reader, text, "normal"));
    ORR_TRY(read_triple(reader, text, normal));
    ORR_TRY(expect(reader, text, "outer"));
    ORR_TRY(expect(reader, text, "loop"));
    for (int k = 0; k < 3; k++) {
        ORR_TRY(expect(reader, text, "vertex"));
        ORR_TRY(read_triple(reader, text, positions[k]));
    }
    ORR_TRY(expect(reader, text, "endloop"));
    ORR_TRY(expect(reader, text, "endfacet"));
    orr_mesh_file_vertex *vertices;
    ORR_TRY(add_triangle(reader, &vertices));
    for (int k = 0; k < 3; k++) {
        memcpy(vertices[k].normal, normal, sizeof normal);
        memcpy(vertices[k].position, positions[k], sizeof positions[k]);
    }
    return ORR_OK;
}

// Solids, one behind the other.
static orr_result read_text(orr_mesh_reader *reader)
{
    const char *word;
    size_t length;
    orr_mesh_text text = orr_mesh_text_of(&reader->bytes);
    bool inside = false;
    while (orr_mesh_text_any_word(&text, &word, &length)) {
        bool begins = orr_mesh_text_is(word, length, "solid"),
             ends = orr_mesh_text_is(word, length, "endsolid");
        if (begins != ends && begins != inside) {
            inside = begins;
            orr_mesh_text_next_line(&text); // its name
        } else if (inside && orr_mesh_text_is(word, length, "facet")) {
            ORR_TRY(read_facet(reader, &text));
        } else {
            return orr_mesh_fail(reader, "line %d: '%.*s': expected '%s'", text.line,
                                 (int)(length < 40 ? length : 40), word, inside ? "facet" : "solid");
        }
    }
    return inside ? orr_mesh_fail(reader, "line %d: the file ends: expected 'endsolid'", text.line) : ORR_OK;
}

orr_result orr_mesh_read_stl(orr_mesh_reader *reader)
{
    reader->mesh->split_corners = true;
    ORR_TRY(orr_mesh_use_material(reader, -1));
    return is_text(&reader->bytes) ? read_text(reader) : read_binary(reader);
}
