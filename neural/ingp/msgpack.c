#include "neural/ingp/msgpack.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

// ---- reading ----

// `bytes` big-endian bytes at *at, which moves behind them
static bool take_unsigned(const uint8_t **at, const uint8_t *end, int bytes, uint64_t *value)
{
    if (end - *at < bytes) {
        return false;
    }
    *value = 0;
    for (int i = 0; i < bytes; i++) {
        *value = *value << 8 | *(*at)++;
    }
    return true;
}

static bool take_number(const uint8_t **at, const uint8_t *end, int format, orr_msgpack_value *v)
{
    uint64_t bits;
    v->kind = ORR_MSGPACK_NUMBER;
    if (format == 0xca) {
        float real;
        bool whole = take_unsigned(at, end, 4, &bits);
        uint32_t low = whole ? (uint32_t)bits : 0;
        memcpy(&real, &low, sizeof real);
        v->number = (double)real;
        return whole;
    }
    if (format == 0xcb) {
        bool whole = take_unsigned(at, end, 8, &bits);
        memcpy(&v->number, &bits, whole ? sizeof bits : 0);
        return whole;
    }
    int size = 1 << (format & 3); // 0xcc .. 0xcf unsigned, 0xd0 .. 0xd3 signed
    if (!take_unsigned(at, end, size, &bits)) {
        return false;
    }
    int unused = 64 - 8 * size;
    v->number = format >= 0xd0 ? (double)((int64_t)(bits << unused) >> unused) : (double)bits;
    return true;
}

// bytes of the count behind the first byte of text, bytes, arrays and maps
static int count_bytes(int format)
{
    switch (format) {
    case 0xc4: // bytes
    case 0xd9: // text
        return 1;
    case 0xc5:
    case 0xda:
    case 0xdc: // array
    case 0xde: // map
        return 2;
    default:
        return 4;
    }
}

static bool take_extension(const uint8_t **at, const uint8_t *end, int format, orr_msgpack_value *v)
{
    uint64_t size = 1ull << ((format - 0xd4) & 7);
    if (format >= 0xc7 && format <= 0xc9 && !take_unsigned(at, end, 1 << (format - 0xc7), &size)) {
        return false;
    }
    v->kind = ORR_MSGPACK_OTHER;
    if ((uint64_t)(end - *at) < size + 1) { // one byte for the kind of extension
        return false;
    }
    *at += size + 1;
    return true;
}

// The head of one value, and its bytes when it is text or bytes; *at moves behind them. False: the buffer
// ends.
static bool take_value(const uint8_t **at, const uint8_t *end, orr_msgpack_value *v)
{
    *v = (orr_msgpack_value){.end = end};
    if (*at == end) {
        return false;
    }
    int format = *(*at)++;
    uint64_t count;
    if (format < 0x80 || format >= 0xe0) {
        v->kind = ORR_MSGPACK_NUMBER;
        v->number = format < 0x80 ? format : format - 256;
        return true;
    }
    if (format < 0xc0) {
        v->kind = format < 0x90 ? ORR_MSGPACK_MAP : format < 0xa0 ? ORR_MSGPACK_ARRAY : ORR_MSGPACK_TEXT;
        count = (uint64_t)(format & (format < 0xa0 ? 15 : 31));
    } else if (format <= 0xc3) {
        v->kind = format < 0xc2 ? ORR_MSGPACK_NIL : ORR_MSGPACK_BOOL; // 0xc1 is never used
        v->number = format == 0xc3;
        return format != 0xc1;
    } else if (format >= 0xca && format <= 0xd3) {
        return take_number(at, end, format, v);
    } else if (format >= 0xc7 && format <= 0xd8) {
        return take_extension(at, end, format, v);
    } else {
        v->kind = format <= 0xc6   ? ORR_MSGPACK_BYTES
                  : format <= 0xdb ? ORR_MSGPACK_TEXT
                  : format <= 0xdd ? ORR_MSGPACK_ARRAY
                                   : ORR_MSGPACK_MAP;
        if (!take_unsigned(at, end, count_bytes(format), &count)) {
            return false;
        }
    }
    v->count = (size_t)count;
    v->data = *at;
    bool holds_bytes = v->kind == ORR_MSGPACK_TEXT || v->kind == ORR_MSGPACK_BYTES;
    if ((uint64_t)(end - *at) < count) { // what is inside takes a byte each at least
        return false;
    }
    *at += holds_bytes ? count : 0;
    return true;
}

// Moves *at over one value and all it contains.
static bool skip_value(const uint8_t **at, const uint8_t *end)
{
    uint64_t left[DEPTH_MAX + 1] = {1}; // values to come, by depth
    int depth = 0;
    while (depth >= 0) {
        if (left[depth] == 0) {
            depth--;
            continue;
        }
        orr_msgpack_value v;
        left[depth]--;
        if (!take_value(at, end, &v)) {
            return false;
        }
        if (v.kind == ORR_MSGPACK_ARRAY || v.kind == ORR_MSGPACK_MAP) {
            if (depth == DEPTH_MAX) {
                return false;
            }
            left[++depth] = v.kind == ORR_MSGPACK_MAP ? 2 * (uint64_t)v.count : v.count;
        }
    }
    return true;
}

bool orr_msgpack_open(const void *data, size_t size, orr_msgpack_value *value)
{
    const uint8_t *at = data, *end = at + size;
    if (size == 0 || !skip_value(&at, end) || at != end) {
        return false;
    }
    at = data;
    return take_value(&at, end, value);
}

void orr_msgpack_next(const orr_msgpack_value *container, const uint8_t **at, orr_msgpack_value *value)
{
    const uint8_t *behind = *at;
    bool whole = skip_value(&behind, container->end) && take_value(at, container->end, value);
    assert(whole); // orr_msgpack_open has been over it
    (void)whole;
    *at = behind;
}

bool orr_msgpack_find(const orr_msgpack_value *map, const char *key, orr_msgpack_value *value)
{
    const uint8_t *at = map->data;
    for (size_t i = 0; map->kind == ORR_MSGPACK_MAP && i < map->count; i++) {
        orr_msgpack_value name;
        orr_msgpack_next(map, &at, &name);
        orr_msgpack_next(map, &at, value);
        if (name.kind == ORR_MSGPACK_TEXT && name.count == strlen(key) &&
            memcmp(name.data, key, name.count) == 0) {
            return true;
        }
    }
    return false;
}

// text as cJSON needs it: it ends with a zero byte and has none before
static char *copy_text(const orr_msgpack_value *v)
{
    char *text = cJSON_malloc(v->count + 1);
    if (text) {
        memcpy(text, v->data, v->count);
        text[v->count] = 0;
    }
    return text;
}

static cJSON *container_json(const orr_msgpack_value *v)
{
    bool map = v->kind == ORR_MSGPACK_MAP;
    cJSON *json = map ? cJSON_CreateObject() : cJSON_CreateArray();
    const uint8_t *at = v->data;
    bool whole = json != NULL;
    for (size_t i = 0; whole && i < v->count; i++) {
        orr_msgpack_value name = {.kind = ORR_MSGPACK_NIL}, item;
        if (map) {
            orr_msgpack_next(v, &at, &name);
        }
        orr_msgpack_next(v, &at, &item);
        if (map && name.kind != ORR_MSGPACK_TEXT) {
            continue; // no JSON has such a key
        }
        cJSON *child = orr_msgpack_json(&item);
        char *key = map ? copy_text(&name) : NULL;
        whole = child && (!map || key) &&
                (map ? cJSON_AddItemToObject(json, key, child) : cJSON_AddItemToArray(json, child));
        cJSON_free(key);
        if (!whole) {
            cJSON_Delete(child);
        }
    }
    if (!whole) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

cJSON *orr_msgpack_json(const orr_msgpack_value *v)
{
    switch (v->kind) {
    case ORR_MSGPACK_BOOL:
        return cJSON_CreateBool(v->number != 0.0);
    case ORR_MSGPACK_NUMBER:
        return cJSON_CreateNumber(v->number);
    case ORR_MSGPACK_TEXT: {
        char *text = copy_text(v);
        cJSON *json = text ? cJSON_CreateString(text) : NULL;
        cJSON_free(text);
        return json;
    }
    case ORR_MSGPACK_ARRAY:
    case ORR_MSGPACK_MAP:
        return container_json(v);
    case ORR_MSGPACK_NIL:
    case ORR_MSGPACK_BYTES:
    case ORR_MSGPACK_OTHER:
        break;
    }
    return cJSON_CreateNull();
}

// ---- writing ----

static void put_head(const orr_msgpack_writer *w, uint8_t format, uint64_t value, int bytes)
{
    uint8_t head[9] = {format};
    for (int i = 0; i < bytes; i++) {
        head[1 + i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    }
    w->put(w->context, head, 1 + (size_t)bytes);
}

void orr_msgpack_put_map(const orr_msgpack_writer *w, uint32_t pairs)
{
    put_head(w, 0xdf, pairs, 4);
}

void orr_msgpack_put_text(const orr_msgpack_writer *w, const char *text)
{
    size_t length = strlen(text);
    put_head(w, 0xdb, length, 4);
    w->put(w->context, text, length);
}

void orr_msgpack_put_number(const orr_msgpack_writer *w, double number)
{
    if (number == rint(number) && fabs(number) < 0x1p53 && !(number == 0.0 && signbit(number))) {
        put_head(w, 0xd3, (uint64_t)(int64_t)number, 8);
        return;
    }
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_head(w, 0xcb, bits, 8);
}

void orr_msgpack_put_bytes(const orr_msgpack_writer *w, uint32_t size)
{
    put_head(w, 0xc6, size, 4);
}

void orr_msgpack_put_json(const orr_msgpack_writer *w, const cJSON *json)
{
    if (cJSON_IsObject(json) || cJSON_IsArray(json)) {
        put_head(w, cJSON_IsObject(json) ? 0xdf : 0xdd, (uint64_t)cJSON_GetArraySize(json), 4);
        for (const cJSON *item = json->child; item; item = item->next) {
            if (cJSON_IsObject(json)) {
                orr_msgpack_put_text(w, item->string);
            }
            orr_msgpack_put_json(w, item);
        }
    } else if (cJSON_IsString(json)) {
        orr_msgpack_put_text(w, json->valuestring);
    } else if (cJSON_IsNumber(json)) {
        orr_msgpack_put_number(w, json->valuedouble);
    } else {
        put_head(w, cJSON_IsTrue(json) ? 0xc3 : cJSON_IsFalse(json) ? 0xc2 : 0xc0, 0, 0);
    }
}
