// MessagePack (msgpack.org, specification of 2017): JSON in bytes, with runs of bytes as values. Small: a
// reader that walks over a buffer and allocates nothing, so that no count in a file can make it allocate, and
// a writer that hands pieces to a function.
#pragma once

#include "engine/core/result.h"

#include <stddef.h>

typedef enum orr_msgpack_kind {
    ORR_MSGPACK_NIL = 0,
    ORR_MSGPACK_BOOL,
    ORR_MSGPACK_NUMBER, // whole or real
    ORR_MSGPACK_TEXT,
    ORR_MSGPACK_BYTES,
    ORR_MSGPACK_ARRAY,
    ORR_MSGPACK_MAP,
    ORR_MSGPACK_OTHER // an extension type
} orr_msgpack_kind;

typedef struct orr_msgpack_value {
    orr_msgpack_kind kind;
    double number;       // NUMBER; BOOL: 0 or 1
    size_t count;        // TEXT, BYTES: bytes; ARRAY: values; MAP: pairs
    const uint8_t *data; // TEXT, BYTES: the bytes; ARRAY, MAP: where the first value begins
    const uint8_t *end;  // of the buffer
} orr_msgpack_value;

// Opens a buffer with exactly one whole value, nested at most 64 deep; false when it has anything else.
bool orr_msgpack_open(const void *data, size_t size, orr_msgpack_value *value);
// The value of a key; false when `map` is no map or has no such key.
bool orr_msgpack_find(const orr_msgpack_value *map, const char *key, orr_msgpack_value *value);

// One after the other: the `count` values of an array, or a map's keys and values in turn, from `*at` = data
// on.
void orr_msgpack_next(const orr_msgpack_value *container, const uint8_t **at, orr_msgpack_value *value);

struct cJSON;
// As JSON; bytes and extensions become null. NULL when memory is out. The caller owns it.
struct cJSON *orr_msgpack_json(const orr_msgpack_value *value);

// ---- writing ----

typedef struct orr_msgpack_writer {
    void (*put)(void *context, const void *data, size_t size);
    void *context;
} orr_msgpack_writer;

void orr_msgpack_put_map(const orr_msgpack_writer *w, uint32_t pairs);
void orr_msgpack_put_text(const orr_msgpack_writer *w, const char *text);
void orr_msgpack_put_number(const orr_msgpack_writer *w, double number); // whole numbers as integers
// The head of a run of bytes, at most 2^32 - 1; the caller puts the bytes themselves behind it.
void orr_msgpack_put_bytes(const orr_msgpack_writer *w, uint32_t size);
void orr_msgpack_put_json(const orr_msgpack_writer *w, const struct cJSON *json);
