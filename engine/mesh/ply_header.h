// The header of a PLY file: its elements, their properties, and where their values are.
#pragma once

#include "engine/core/result.h"

typedef enum orr_ply_encoding { ORR_PLY_ASCII, ORR_PLY_LITTLE_ENDIAN, ORR_PLY_BIG_ENDIAN } orr_ply_encoding;

typedef enum orr_ply_type {
    ORR_PLY_CHAR,
    ORR_PLY_UCHAR,
    ORR_PLY_SHORT,
    ORR_PLY_USHORT,
    ORR_PLY_INT,
    ORR_PLY_UINT,
    ORR_PLY_FLOAT,
    ORR_PLY_DOUBLE,
    ORR_PLY_LIST
} orr_ply_type;

enum { ORR_PLY_ELEMENTS = 8, ORR_PLY_PROPERTIES = 256, ORR_PLY_NAME = 32 };

typedef struct orr_ply_property {
    char name[ORR_PLY_NAME];
    orr_ply_type type;
    orr_ply_type count_type, item_type; // of a list: of the number before its items, and of these
    int offset;                         // bytes from the start of the row; meaningless behind a list
} orr_ply_property;

typedef struct orr_ply_element {
    char name[ORR_PLY_NAME];
    int64_t count; // rows, 0 .. 2^31 - 1
    int first;     // its first property
    int properties;
    int stride;    // bytes per row; 0: rows differ in size, because they have a list
    size_t offset; // of its first row in a binary file; 0: unknown, because there are lists before it
} orr_ply_element;

typedef struct orr_ply_header {
    orr_ply_encoding encoding;
    bool antialiased; // a comment says so
    char texture[64]; // picture that a comment names; empty: none
    size_t size;      // bytes up to the values
    int elements;
    orr_ply_element element[ORR_PLY_ELEMENTS];
    int properties; // of all elements together
    orr_ply_property property[ORR_PLY_PROPERTIES];
} orr_ply_header;

orr_result orr_ply_read_header(const char *name, const uint8_t *data, size_t size, orr_ply_header *header,
                               orr_error *error);

// The element of that name with a checked position in a binary file: its rows, and all rows before it, are
// inside the file. Fails when there is none.
orr_result orr_ply_find_element(const char *name, size_t size, const orr_ply_header *header,
                                const char *element, const orr_ply_element **found, orr_error *error);

// NULL when the element has no such property.
const orr_ply_property *orr_ply_find_property(const orr_ply_header *header, const orr_ply_element *element,
                                              const char *name);

// NULL when the file has no such element.
const orr_ply_element *orr_ply_element_named(const orr_ply_header *header, const char *name);

int orr_ply_type_size(orr_ply_type type); // bytes; 0 for a list
