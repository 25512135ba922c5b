// Gmsh's .msh. Text and binary files have the same numbers in the same order, but for the headers of elements
// of format 2.2: one reader takes both.
#include "engine/mesh/gmsh.h"
#include "engine/mesh/mesh_text.h"

#include "engine/core/bytes.h"
#include "engine/core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    TRIANGLE = 2, // Gmsh's numbers of elements
    TETRAHEDRON = 4,
    BYTES_MIN = 8 // of a node or an element, as text or binary: bounds counts before memory is taken
};

typedef struct gmsh_reader {
    const char *name;
    const orr_bytes *bytes;
    orr_gmsh *mesh;
    orr_error *error;
    bool binary, old; // old: format 2.2, not 4.1
    int wide;         // bytes of a count or a tag in a binary file
    int64_t first;    // tag of the first node
    orr_mesh_text at; // of binary data `at.at` alone has a meaning
} gmsh_reader;

static orr_result fail(const gmsh_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static orr_result fail(const gmsh_reader *r, const char *format, ...)
{
    char what[256], place[64];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (r->binary) {
        snprintf(place, sizeof place, "byte %td", r->at.at - (const char *)r->bytes->data);
    } else {
        snprintf(place, sizeof place, "line %d", r->at.line);
    }
    return orr_fail(r->error, ORR_CODE_MESH_FILE, "%s: %s: %s", r->name, place, what);
}

// A whole number of text.
static bool parse_whole(gmsh_reader *r, int64_t *value)
{
    double number = 0.0;
    const bool good = orr_mesh_text_any_number(&r->at, &number) && number == rint(number) &&
                      fabs(number) < 0x1p53; // what a double holds exactly
    *value = good ? (int64_t)number : 0;
    return good;
}

static orr_result fail_whole(const gmsh_reader *r, const char *what, int64_t low, int64_t high)
{
    if (low == high) {
        return fail(r, "expected %s, %" PRId64, what, low);
    }
    return high < INT32_MAX ? fail(r, "expected %s, %" PRId64 " to %" PRId64, what, low, high)
                            : fail(r, "expected %s, a whole number from %" PRId64, what, low);
}

// A whole number from low to high; `size`: its bytes in a binary file, 4 or 8.
static orr_result take_whole(gmsh_reader *r, int size, const char *what, int64_t low, int64_t high,
                             int64_t *value)
{
    const uint8_t *at = (const uint8_t *)r->at.at, *end = (const uint8_t *)r->at.end;
    int32_t narrow = 0;
    bool good;
    if (!r->binary) {
        good = parse_whole(r, value);
    } else if (size == 8) {
        good = orr_take_bytes(&at, end, value, sizeof *value);
    } else {
        good = orr_take_bytes(&at, end, &narrow, sizeof narrow);
        *value = narrow;
    }
    if (!good || *value < low || *value > high) {
        return fail_whole(r, what, low, high);
    }
    r->at.at = r->binary ? (const char *)at : r->at.at;
    return ORR_OK;
}

static orr_result take_real(gmsh_reader *r, double *value)
{
    const uint8_t *at = (const uint8_t *)r->at.at;
    const bool good = r->binary ? orr_take_bytes(&at, (const uint8_t *)r->at.end, value, sizeof *value)
                                : orr_mesh_text_any_number(&r->at, value);
    if (!good || !isfinite(*value)) {
        return fail(r, "expected a coordinate, a finite number");
    }
    r->at.at = r->binary ? (const char *)at : r->at.at;
    return ORR_OK;
}

// The most that the rest of the file can hold.
static int64_t count_max(const gmsh_reader *r)
{
    const int64_t most = (r->at.end - r->at.at) / BYTES_MIN;
    return most < INT32_MAX ? most : INT32_MAX;
}

// A count of format 2.2, which is a line of text in binary files too.
static orr_result take_count(gmsh_reader *r, const char *what, int64_t *count)
{
    const int64_t most = count_max(r);
    if (!parse_whole(r, count) || *count < 1 || *count > most) {
        return fail_whole(r, what, 1, most);
    }
    if (r->binary) {
        r->at.at += *r->at.at == '\r';
        if (*r->at.at != '\n') {
            return fail(r, "expected the end of the line behind %s", what);
        }
        r->at.at++;
    }
    return ORR_OK;
}

// ---- sections

// To behind the line "$NAME". What is before it, sections of other names, is not read.
static orr_result find_section(gmsh_reader *r, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = r->at.at; (at = memchr(at, '$', (size_t)(r->at.end - at))) != NULL; at++) {
        const size_t left = (size_t)(r->at.end - at - 1);
        const char *behind = at + 1 + length;
        if (at[-1] == '\n' && left > length && memcmp(at + 1, name, length) == 0 &&
            (*behind == '\n' || (behind[0] == '\r' && behind[1] == '\n'))) {
            for (const char *p = r->at.at; p < behind && !r->binary; p++) {
                r->at.line += *p == '\n';
            }
            r->at.at = behind + (*behind == '\r') + 1;
            r->at.line++;
            return ORR_OK;
        }
    }
    return fail(r, "expected a line $%s in what follows", name);
}

static orr_result end_section(gmsh_reader *r, const char *name)
{
    const char *word;
    size_t length;
    const bool found = orr_mesh_text_any_word(&r->at, &word, &length);
    if (!found || length != strlen(name) + 1 || word[0] != '$' || memcmp(word + 1, name, length - 1) != 0) {
        return fail(r, "expected $%s behind as many as were announced", name);
    }
    return ORR_OK;
}

// "$MeshFormat", then version, 0 for text or 1 for binary, and the bytes of a number; in binary files a 1
// follows that tells the order of bytes.
static orr_result read_format(gmsh_reader *r)
{
    static const char first[] = "$MeshFormat";
    const char *word;
    size_t length;
    double version;
    int64_t binary, size, one;
    if (!orr_mesh_text_word(&r->at, &word, &length) || word != (const char *)r->bytes->data ||
        length != sizeof first - 1 || memcmp(word, first, length) != 0) {
        return fail(r, "expected $MeshFormat, as files of Gmsh begin");
    }
    if (!orr_mesh_text_any_number(&r->at, &version) || (version != 4.1 && version != 2.2)) {
        return fail(r, "expected format 4.1 or 2.2");
    }
    ORR_TRY(take_whole(r, 4, "0 for text or 1 for binary", 0, 1, &binary));
    ORR_TRY(take_whole(r, 4, "the size of a number", 1, 64, &size));
    r->old = version == 2.2;
    r->wide = r->old ? 4 : 8;
    if (binary && size != 8) {
        return fail(r, "expected numbers of 8 bytes, not %d", (int)size);
    }
    orr_mesh_text_next_line(&r->at);
    r->binary = binary != 0;
    if (binary) {
        ORR_TRY(take_whole(r, 4, "a number in little endian order", 1, 1, &one));
    }
    return end_section(r, "EndMeshFormat");
}

// ---- nodes

static orr_result take_points(gmsh_reader *r, int64_t count)
{
    r->mesh->points = (int)count;
    ORR_ALLOC(r->mesh->point, 3 * (size_t)count, "nodes of a mesh", r->error);
    return ORR_OK;
}

static orr_result take_node_tag(gmsh_reader *r, int64_t tag)
{
    int64_t own;
    return take_whole(r, r->wide, "tags of nodes that count up, here", tag, tag, &own);
}

static orr_result take_coordinates(gmsh_reader *r, int64_t node)
{
    for (int k = 0; k < 3; k++) {
        ORR_TRY(take_real(r, r->mesh->point + 3 * node + k));
    }
    return ORR_OK;
}

// The header of a section of format 4.1 and of its only block.
typedef struct gmsh_block {
    int64_t count, lowest, dim;
    int64_t kind; // of nodes: 1 with coordinates on their surface; of elements: their type
} gmsh_block;

static orr_result read_block(gmsh_reader *r, const char *what, gmsh_block *block)
{
    int64_t blocks, highest, entity, in_block;
    ORR_TRY(take_whole(r, 8, "the number of blocks", 0, INT64_MAX, &blocks));
    if (blocks != 1) {
        return fail(r, "expected all %s in one block, not %" PRId64, what, blocks);
    }
    ORR_TRY(take_whole(r, 8, "their number", 1, count_max(r), &block->count));
    ORR_TRY(take_whole(r, 8, "the lowest tag", 0, INT64_MAX / 2, &block->lowest));
    ORR_TRY(take_whole(r, 8, "the highest tag", 0, INT64_MAX, &highest));
    ORR_TRY(take_whole(r, 4, "the dimension of a surface or a volume", 2, 3, &block->dim));
    ORR_TRY(take_whole(r, 4, "the tag of an entity", INT32_MIN, INT32_MAX, &entity));
    ORR_TRY(take_whole(r, 4, "what is in the block", 0, INT32_MAX, &block->kind));
    return take_whole(r, 8, "as many in the block as in all", block->count, block->count, &in_block);
}

static orr_result read_nodes(gmsh_reader *r)
{
    gmsh_block block;
    ORR_TRY(read_block(r, "nodes", &block));
    if (block.kind != 0) {
        return fail(r, "expected nodes without coordinates on their surface");
    }
    r->first = block.lowest;
    r->mesh->dim = (int)block.dim;
    ORR_TRY(take_points(r, block.count));
    for (int64_t i = 0; i < block.count; i++) {
        ORR_TRY(take_node_tag(r, r->first + i));
    }
    for (int64_t i = 0; i < block.count; i++) {
        ORR_TRY(take_coordinates(r, i));
    }
    return ORR_OK;
}

static orr_result read_old_nodes(gmsh_reader *r)
{
    int64_t count;
    r->first = 1;
    ORR_TRY(take_count(r, "the number of nodes", &count));
    ORR_TRY(take_points(r, count));
    for (int64_t i = 0; i < count; i++) {
        ORR_TRY(take_node_tag(r, r->first + i));
        ORR_TRY(take_coordinates(r, i));
    }
    return ORR_OK;
}

// ---- elements

static orr_result take_elements(gmsh_reader *r, int64_t count)
{
    r->mesh->elements = (int)count;
    ORR_ALLOC(r->mesh->element, (size_t)count * ((size_t)r->mesh->dim + 1), "elements of a mesh", r->error);
    return ORR_OK;
}

static orr_result take_corners(gmsh_reader *r, int64_t element)
{
    const orr_gmsh *mesh = r->mesh;
    for (int k = 0; k <= mesh->dim; k++) {
        int64_t tag;
        ORR_TRY(take_whole(r, r->wide, "the tag of a node", r->first, r->first + mesh->points - 1, &tag));
        mesh->element[element * (mesh->dim + 1) + k] = (int32_t)(tag - r->first);
    }
    return ORR_OK;
}

// The dimension is that of the nodes' block or of the first element.
static orr_result expect_kind(gmsh_reader *r, int64_t kind)
{
    const int dim = kind == TRIANGLE ? 2 : kind == TETRAHEDRON ? 3 : 0;
    if (dim == 0 || (r->mesh->dim != 0 && dim != r->mesh->dim)) {
        return fail(r, "expected triangles (type 2) or tetrahedra (4) alone, not type %d", (int)kind);
    }
    r->mesh->dim = dim;
    return ORR_OK;
}

static orr_result read_elements(gmsh_reader *r)
{
    gmsh_block block;
    int64_t tag;
    ORR_TRY(read_block(r, "elements", &block));
    ORR_TRY(expect_kind(r, block.kind));
    if (block.dim != r->mesh->dim) {
        return fail(r, "expected a block of dimension %d, as its elements and the nodes have", r->mesh->dim);
    }
    ORR_TRY(take_elements(r, block.count));
    for (int64_t i = 0; i < block.count; i++) {
        ORR_TRY(take_whole(r, 8, "the tag of an element", 0, INT64_MAX, &tag));
        ORR_TRY(take_corners(r, i));
    }
    return ORR_OK;
}

// Text has a header for each element: tag, kind, number of its tags. Binary files have one for several: kind,
// how many follow, number of tags of each; then each begins with its tag.
static orr_result read_old_elements(gmsh_reader *r)
{
    int64_t count, kind, tag, tags, follow = 1;
    ORR_TRY(take_count(r, "the number of elements", &count));
    for (int64_t i = 0; i < count;) {
        if (!r->binary) {
            ORR_TRY(take_whole(r, 4, "the tag of an element", 0, INT32_MAX, &tag));
        }
        ORR_TRY(take_whole(r, 4, "the type of an element", 0, INT32_MAX, &kind));
        ORR_TRY(expect_kind(r, kind));
        if (r->binary) {
            ORR_TRY(take_whole(r, 4, "how many elements follow", 1, count - i, &follow));
        }
        ORR_TRY(take_whole(r, 4, "the number of an element's tags", 0, 1024, &tags));
        if (!r->mesh->element) {
            ORR_TRY(take_elements(r, count));
        }
        for (const int64_t end = i + follow; i < end; i++) {
            const int64_t others = tags + (r->binary ? 1 : 0);
            for (int64_t k = 0; k < others; k++) {
                ORR_TRY(take_whole(r, 4, "the tag of an element", INT32_MIN, INT32_MAX, &tag));
            }
            ORR_TRY(take_corners(r, i));
        }
    }
    return ORR_OK;
}

static orr_result read_all(gmsh_reader *r)
{
    ORR_TRY(read_format(r));
    ORR_TRY(find_section(r, "Nodes"));
    ORR_TRY(r->old ? read_old_nodes(r) : read_nodes(r));
    ORR_TRY(end_section(r, "EndNodes"));
    ORR_TRY(find_section(r, "Elements"));
    ORR_TRY(r->old ? read_old_elements(r) : read_elements(r));
    return end_section(r, "EndElements");
}

orr_result orr_gmsh_read(const char *name, const orr_bytes *bytes, orr_gmsh *mesh, orr_error *error)
{
    const char *data = (const char *)bytes->data;
    gmsh_reader r = {.name = name, .bytes = bytes, .mesh = mesh, .error = error};
    r.at = (orr_mesh_text){data, data + bytes->size, 1};
    *mesh = (orr_gmsh){0};
    const orr_result result = read_all(&r);
    if (result != ORR_OK) {
        orr_gmsh_free(mesh);
    }
    return result;
}

void orr_gmsh_free(orr_gmsh *mesh)
{
    orr_free(mesh->point);
    orr_free(mesh->element);
    *mesh = (orr_gmsh){0};
}
