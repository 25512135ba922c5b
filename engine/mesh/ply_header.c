#include "engine/mesh/ply_header.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    orr_ply_type type;
} type_names[] = {
    {"float", ORR_PLY_FLOAT},    {"float32", ORR_PLY_FLOAT}, {"double", ORR_PLY_DOUBLE},
    {"float64", ORR_PLY_DOUBLE}, {"uchar", ORR_PLY_UCHAR},   {"uint8", ORR_PLY_UCHAR},
    {"char", ORR_PLY_CHAR},      {"int8", ORR_PLY_CHAR},     {"ushort", ORR_PLY_USHORT},
    {"uint16", ORR_PLY_USHORT},  {"short", ORR_PLY_SHORT},   {"int16", ORR_PLY_SHORT},
    {"uint", ORR_PLY_UINT},      {"uint32", ORR_PLY_UINT},   {"int", ORR_PLY_INT},
    {"int32", ORR_PLY_INT},      {"list", ORR_PLY_LIST},
};

int orr_ply_type_size(orr_ply_type type)
{
    static const int sizes[] = {
        [ORR_PLY_CHAR] = 1,   [ORR_PLY_UCHAR] = 1,  [ORR_PLY_SHORT] = 2,
        [ORR_PLY_USHORT] = 2, [ORR_PLY_INT] = 4,    [ORR_PLY_UINT] = 4,
        [ORR_PLY_FLOAT] = 4,  [ORR_PLY_DOUBLE] = 8, [ORR_PLY_LIST] = 0,
    };
    return sizes[type];
}

// a line of the header, cut into words
enum { WORDS = 6, WORD = 64 };
typedef struct line {
    int number;
    int words;
    char word[WORDS][WORD];
} line;

// Takes the line at *at and moves behind it; false when the file ends before the line does. Words beyond
// the sixth and letters beyond the 63rd are dropped: no line that matters has them.
static bool take_line(const uint8_t *data, size_t size, size_t *at, line *out)
{
    const uint8_t *end = *at < size ? memchr(data + *at, '\n', size - *at) : NULL;
    if (!end) {
        return false;
    }
    out->number++;
    out->words = 0;
    int length = 0;
    for (const uint8_t *p = data + *at; p <= end; p++) {
        bool blank = *p <= ' ';
        if (!blank && out->words < WORDS && length < WORD - 1) {
            out->word[out->words][length++] = (char)*p;
        } else if (blank && length > 0) {
            out->word[out->words++][length] = 0;
            length = 0;
        }
    }
    for (int k = out->words; k < WORDS; k++) {
        out->word[k][0] = 0;
    }
    *at = (size_t)(end - data) + 1;
    return true;
}

static bool is(const line *l, int word, const char *text)
{
    return strcmp(l->word[word], text) == 0;
}

static orr_result bad_line(const char *name, const line *l, const char *expected, orr_error *error)
{
    return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: line %d: '%s %s': expected %s", name, l->number,
                    l->word[0], l->word[1], expected);
}

static orr_result read_format(const char *name, const line *l, orr_ply_header *header, orr_error *error)
{
    if (is(l, 1, "ascii")) {
        header->encoding = ORR_PLY_ASCII;
    } else if (is(l, 1, "binary_little_endian")) {
        header->encoding = ORR_PLY_LITTLE_ENDIAN;
    } else if (is(l, 1, "binary_big_endian")) {
        header->encoding = ORR_PLY_BIG_ENDIAN;
    } else {
        return bad_line(name, l, "format ascii, binary_little_endian or binary_big_endian", error);
    }
    return ORR_OK;
}

static orr_result read_element(const char *name, const line *l, orr_ply_header *header, orr_error *error)
{
    if (header->elements == ORR_PLY_ELEMENTS) {
        return bad_line(name, l, "at most 8 elements", error);
    }
    int64_t count = 0;
    const char *digit = l->word[2];
    for (; *digit >= '0' && *digit <= '9' && count <= INT32_MAX; digit++) {
        count = 10 * count + (*digit - '0');
    }
    if (digit == l->word[2] || *digit || count > INT32_MAX) {
        return orr_fail(error, ORR_CODE_FILE_HEADER,
                        "%s: line %d: element %s: '%s' rows, expected 0 to 2^31 - 1", name, l->number,
                        l->word[1], l->word[2]);
    }
    orr_ply_element *element = &header->element[header->elements++];
    *element = (orr_ply_element){.count = count, .first = header->properties};
    snprintf(element->name, sizeof element->name, "%.*s", ORR_PLY_NAME - 1, l->word[1]);
    return ORR_OK;
}

static bool find_type(const line *l, int word, orr_ply_type *type)
{
    for (size_t t = 0; t < sizeof type_names / sizeof type_names[0]; t++) {
        if (is(l, word, type_names[t].name)) {
            *type = type_names[t].type;
            return true;
        }
    }
    return false;
}

static orr_result read_property(const char *name, const line *l, orr_ply_header *header, orr_error *error)
{
    if (header->elements == 0) {
        return bad_line(name, l, "an element before its properties", error);
    }
    if (header->properties == ORR_PLY_PROPERTIES) {
        return bad_line(name, l, "at most 256 properties", error);
    }
    orr_ply_element *element = &header->element[header->elements - 1];
    orr_ply_property *property = &header->property[header->properties];
    *property = (orr_ply_property){.offset = element->stride};
    bool good = find_type(l, 1, &property->type);
    bool list = good && property->type == ORR_PLY_LIST;
    if (list) {
        good = find_type(l, 2, &property->count_type) && find_type(l, 3, &property->item_type);
        good = good && property->count_type < ORR_PLY_FLOAT && property->item_type != ORR_PLY_LIST;
    }
    if (!good) {
        return bad_line(name, l,
                        list ? "types of a list, such as uchar int" : "a type such as float or uchar", error);
    }
    snprintf(property->name, sizeof property->name, "%.*s", ORR_PLY_NAME - 1, l->word[list ? 4 : 2]);
    header->properties++;
    // once a list was seen the stride stays 0
    bool fixed = element->stride > 0 || element->properties == 0;
    element->properties++;
    element->stride = fixed && !list ? element->stride + orr_ply_type_size(property->type) : 0;
    return ORR_OK;
}

// Where the rows of each element start in a binary file; unknown behind an element with lists.
static void set_offsets(orr_ply_header *header)
{
    size_t offset = header->size;
    for (int i = 0; i < header->elements; i++) {
        orr_ply_element *element = &header->element[i];
        element->offset = offset;
        if (element->count > 0 && element->properties > 0 && element->stride == 0) {
            offset = 0;
        }
        offset = offset ? offset + (size_t)element->count * (size_t)element->stride : 0;
    }
}

orr_result orr_ply_read_header(const char *name, const uint8_t *data, size_t size, orr_ply_header *header,
                               orr_error *error)
{
    *header = (orr_ply_header){0};
    line l = {0};
    size_t at = 0;
    if (!take_line(data, size, &at, &l) || !is(&l, 0, "ply")) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: line 1: expected 'ply'", name);
    }
    bool has_format = false;
    while (take_line(data, size, &at, &l)) {
        if (is(&l, 0, "end_header")) {
            header->size = at;
            set_offsets(header);
            return has_format ? ORR_OK : bad_line(name, &l, "a format line before it", error);
        }
        if (is(&l, 0, "format")) {
            has_format = true;
            ORR_TRY(read_format(name, &l, header, error));
        } else if (is(&l, 0, "element")) {
            ORR_TRY(read_element(name, &l, header, error));
        } else if (is(&l, 0, "property")) {
            ORR_TRY(read_property(name, &l, header, error));
        } else if (is(&l, 0, "comment")) {
            if (is(&l, 1, "TextureFile")) {
                memcpy(header->texture, l.word[2], sizeof header->texture);
            }
            header->antialiased |= (is(&l, 1, "SplatRenderMode:") && is(&l, 2, "mip")) ||
                                   (is(&l, 1, "antialiased") && is(&l, 2, "1"));
        } else if (!is(&l, 0, "obj_info") && l.words > 0) {
            return bad_line(name, &l, "format, element, property, comment or end_header", error);
        }
    }
    return orr_fail(error, ORR_CODE_FILE_TRUNCATED, "%s: line %d: the header ends without end_header", name,
                    l.number + 1);
}

const orr_ply_element *orr_ply_element_named(const orr_ply_header *header, const char *name)
{
    for (int i = 0; i < header->elements; i++) {
        if (strcmp(header->element[i].name, name) == 0) {
            return &header->element[i];
        }
    }
    return NULL;
}

orr_result orr_ply_find_element(const char *name, size_t size, const orr_ply_header *header,
                                const char *expected, const orr_ply_element **found, orr_error *error)
{
    const orr_ply_element *element = orr_ply_element_named(header, expected);
    if (!element) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: header: no element %s", name, expected);
    }
    if (header->encoding != ORR_PLY_ASCII && element->count > 0) {
        if (element->offset == 0 || element->stride == 0) {
            return orr_fail(error, ORR_CODE_FILE_HEADER,
                            "%s: element %s: there is a list in it or before it, expected plain numbers",
                            name, expected);
        }
        // at most 2^31 rows of 2 KiB: the product fits
        size_t need = (size_t)element->count * (size_t)element->stride;
        size_t have = element->offset < size ? size - element->offset : 0;
        if (have < need) {
            return orr_fail(error, ORR_CODE_FILE_TRUNCATED,
                            "%s: element %s: %zu bytes, expected %zu for %lld rows", name, expected, have,
                            need, (long long)element->count);
        }
    }
    *found = element;
    return ORR_OK;
}

const orr_ply_property *orr_ply_find_property(const orr_ply_header *header, const orr_ply_element *element,
                                              const char *name)
{
    for (int i = element->first; i < element->first + element->properties; i++) {
        if (strcmp(header->property[i].name, name) == 0) {
            return &header->property[i];
        }
    }
    return NULL;
}
