// .gltf and .glb: the container, the lists of the file, buffers, and what is needed and not there.
#include "engine/mesh/mesh_gltf.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- elements ----

orr_result orr_gltf_element(const orr_gltf *g, orr_gltf_kind kind, int index, orr_json *element)
{
    const orr_gltf_list *list = &g->lists[kind];
    return orr_json_element(&g->root, list->key, index, list->nodes[index], element, g->error);
}

orr_result orr_gltf_integer(const orr_gltf *g, const orr_json *object, const char *key, int64_t least,
                            int64_t most, int64_t *value)
{
    if (!orr_json_has(object, key)) {
        return ORR_OK;
    }
    double number = NAN;
    ORR_TRY(orr_json_number(object, key, &number, g->error));
    if (number != floor(number) || number < (double)least || number > (double)most) {
        return orr_json_expected(object, key, g->error, "a whole number from %lld to %lld", (long long)least,
                                 (long long)most);
    }
    *value = (int64_t)number;
    return ORR_OK;
}

orr_result orr_gltf_index(const orr_gltf *g, const orr_json *object, const char *key, orr_gltf_kind kind,
                          int *index)
{
    int64_t value = -1;
    const orr_gltf_list *list = &g->lists[kind];
    if (orr_json_has(object, key) && list->count == 0) {
        return orr_json_expected(object, key, g->error, "no index, as the file has no %s", list->key);
    }
    ORR_TRY(orr_gltf_integer(g, object, key, 0, list->count - 1, &value));
    *index = (int)value;
    return ORR_OK;
}

orr_result orr_gltf_extension(const orr_gltf *g, const orr_json *object, const char *name,
                              orr_json *extension)
{
    orr_json all;
    *extension = (orr_json){0};
    ORR_TRY(orr_json_member(object, "extensions", &all, g->error));
    return all.node ? orr_json_member(&all, name, extension, g->error) : ORR_OK;
}

static orr_result take_list(orr_gltf *g, orr_gltf_kind kind, const char *key)
{
    orr_gltf_list *list = &g->lists[kind];
    const cJSON *node;
    list->key = key;
    ORR_TRY(orr_json_array(&g->root, key, &node, &list->count, g->error));
    ORR_ALLOC(list->nodes, list->count, key, g->error);
    for (int i = 0; i < list->count; i++, node = node->next) {
        list->nodes[i] = node;
    }
    return ORR_OK;
}

// ---- buffers ----

static bool is_data(const char *address)
{
    return strncmp(address, "data:", 5) == 0;
}

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

static orr_result decode_base64(const char *text, orr_bytes *bytes, orr_error *why)
{
    size_t length = strlen(text);
    ORR_ALLOC(bytes->data, length / 4 * 3 + 4, "a data address", why);
    uint32_t word = 0;
    size_t i = 0;
    for (; i < length && digit_of(text[i]) >= 0; i++) {
        word = word << 6 | (uint32_t)digit_of(text[i]);
        if (i % 4 != 0) {
            bytes->data[bytes->size++] = (uint8_t)(word >> (6 - 2 * (i % 4)));
        }
    }
    bytes->data[bytes->size] = 0;
    size_t digits = i;
    while (i < length && text[i] == '=') {
        i++;
    }
    return i == length && i - digits <= 2 && digits % 4 != 1
               ? ORR_OK
               : orr_fail(why, ORR_CODE_MESH_FILE, "expected base64 behind the comma");
}

// "my%20file.bin" in place
static void decode_percent(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++, to++) {
        bool escaped = *from == '%' && strspn(from + 1, "0123456789abcdefABCDEF") >= 2;
        char value = escaped ? (char)strtol((const char[]){from[1], from[2], 0}, NULL, 16) : 0;
        if (value != 0) {
            *to = value;
            from += 2;
        } else {
            *to = *from;
        }
    }
    *to = 0;
}

orr_result orr_gltf_read_address(const orr_gltf *g, const char *address, orr_bytes *bytes, orr_error *why)
{
    *bytes = (orr_bytes){0};
    if (is_data(address)) {
        const char *comma = strchr(address, ',');
        if (!comma || comma - address < 7 || strncmp(comma - 7, ";base64", 7) != 0) {
            return orr_fail(why, ORR_CODE_MESH_FILE, "expected data:...;base64,...");
        }
        return decode_base64(comma + 1, bytes, why);
    }
    size_t size = strlen(address) + 1;
    char *name;
    ORR_ALLOC(name, size, "the name of a file", why);
    memcpy(name, address, size);
    decode_percent(name);
    orr_result result = orr_mesh_read_beside(g->reader, name, bytes, why);
    orr_free(name);
    return result;
}

static orr_result buffer_fail(const orr_gltf *g, const orr_json *object, const char *address,
                              const orr_error *why)
{
    return why->code == ORR_CODE_OUT_OF_MEMORY
               ? orr_fail(g->error, ORR_CODE_OUT_OF_MEMORY, "%s", why->message)
               : orr_mesh_fail(g->reader, "%s.uri: %.*s: %.200s", object->path, is_data(address) ? 4 : 80,
                               address, why->message);
}

static orr_result read_buffer(orr_gltf *g, int index)
{
    orr_json json;
    int64_t size = -1;
    const char *address = NULL;
    orr_bytes *bytes = &g->buffers[index];
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_BUFFERS, index, &json));
    ORR_TRY(orr_json_require(&json, "byteLength", "a number of bytes", g->error));
    ORR_TRY(orr_gltf_integer(g, &json, "byteLength", 1, INT64_C(1) << 40, &size));
    ORR_TRY(orr_json_string(&json, "uri", &address, g->error));
    if (address) {
        g->owns[index] = true;
        orr_error why = {0};
        if (orr_gltf_read_address(g, address, bytes, &why) != ORR_OK) {
            return buffer_fail(g, &json, address, &why);
        }
    } else if (index == 0 && g->chunk.data) {
        *bytes = g->chunk;
    } else {
        return orr_json_expected(&json, NULL, g->error, "a uri, as there is no binary chunk for it");
    }
    if (bytes->size < (size_t)size) {
        return orr_json_expected(&json, "byteLength", g->error, "at most the %zu bytes that there are",
                                 bytes->size);
    }
    bytes->size = (size_t)size;
    return ORR_OK;
}

orr_result orr_gltf_view(orr_gltf *g, int index, const uint8_t **data, size_t *size, size_t *stride)
{
    orr_json json;
    int buffer;
    int64_t offset = 0, length = 0, step = 0;
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_VIEWS, index, &json));
    ORR_TRY(orr_json_require(&json, "buffer", "an index", g->error));
    ORR_TRY(orr_json_require(&json, "byteLength", "a number of bytes", g->error));
    ORR_TRY(orr_gltf_index(g, &json, "buffer", ORR_GLTF_BUFFERS, &buffer));
    if (!g->buffers[buffer].data) {
        ORR_TRY(read_buffer(g, buffer));
    }
    int64_t have = (int64_t)g->buffers[buffer].size;
    ORR_TRY(orr_gltf_integer(g, &json, "byteOffset", 0, have, &offset));
    ORR_TRY(orr_gltf_integer(g, &json, "byteLength", 1, have - offset, &length));
    ORR_TRY(orr_gltf_integer(g, &json, "byteStride", 4, 252, &step));
    *data = g->buffers[buffer].data + offset;
    *size = (size_t)length;
    *stride = (size_t)step;
    return ORR_OK;
}

// ---- the file ----

static uint32_t word_at(const uint8_t *data)
{
    uint32_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

// Finds the two chunks of a .glb.
static orr_result read_container(orr_gltf *g, orr_bytes *json)
{
    enum { JSON = 0x4e4f534a, BINARY = 0x004e4942, HEADER = 12, HEAD = 8 };
    const orr_bytes *file = &g->reader->bytes;
    if (file->size < HEADER + HEAD || word_at(file->data + 4) != 2) {
        return orr_mesh_fail(g->reader, "not a mesh: expected glTF version 2, of 20 bytes or more");
    }
    size_t size = word_at(file->data + 8);
    if (size > file->size) {
        return orr_mesh_fail(g->reader, "%zu bytes: the header says %zu", file->size, size);
    }
    if (size < file->size) {
        orr_mesh_note(g->reader, "bytes behind the end of the container");
    }
    int chunks = 0;
    for (size_t at = HEADER; at < size; chunks++) {
        size_t length = size - at >= HEAD ? word_at(file->data + at) : SIZE_MAX;
        if (length > size - at - HEAD) {
            return orr_mesh_fail(
                g->reader, "byte %zu: a chunk of %zu bytes: expected one that ends in the file", at, length);
        }
        uint32_t kind = word_at(file->data + at + 4);
        orr_bytes chunk = {file->data + at + HEAD, length};
        if ((chunks == 0) != (kind == JSON)) {
            return orr_mesh_fail(g->reader, "byte %zu: expected one chunk of JSON, which comes first", at);
        }
        if (chunks == 0) {
            *json = chunk;
        } else if (kind == BINARY && chunks == 1) {
            g->chunk = chunk;
        } else {
            orr_mesh_note(g->reader, "chunks of unknown kinds");
        }
        at += HEAD + length;
    }
    return json->data ? ORR_OK : orr_mesh_fail(g->reader, "no chunk of JSON");
}

static orr_result parse(orr_gltf *g)
{
    const orr_bytes *file = &g->reader->bytes;
    orr_bytes json = *file;
    if (file->size >= 4 && memcmp(file->data, "glTF", 4) == 0) {
        ORR_TRY(read_container(g, &json));
    } else if (orr_path_has_ending(g->reader->desc->path, ".glb")) {
        return orr_mesh_fail(g->reader, "not a mesh: expected 'glTF' at its beginning");
    }
    char *text; // the JSON ends with its chunk
    ORR_ALLOC(text, json.size + 1, "the file's JSON", g->error);
    memcpy(text, json.data, json.size);
    text[json.size] = 0;
    orr_result result = orr_json_parse(text, g->reader->desc->path, ORR_CODE_MESH_FILE, &g->root, g->error);
    orr_free(text);
    return result;
}

static orr_result check_version(const orr_gltf *g)
{
    orr_json asset;
    const char *version = NULL;
    ORR_TRY(orr_json_member(&g->root, "asset", &asset, g->error));
    if (asset.node) {
        ORR_TRY(orr_json_string(&asset, "version", &version, g->error));
    }
    return version && strncmp(version, "2.", 2) == 0
               ? ORR_OK
               : orr_json_expected(&g->root, "asset.version", g->error, "\"2.0\"");
}

bool orr_gltf_knows_extension(const char *name)
{
    static const char *const known[] = {"KHR_materials_unlit",        "KHR_materials_emissive_strength",
                                        "KHR_texture_transform",      "KHR_mesh_quantization",
                                        "EXT_texture_webp",           "EXT_mesh_gpu_instancing",
                                        "KHR_lights_punctual",        "KHR_materials_clearcoat",
                                        "KHR_materials_transmission", "KHR_materials_ior",
                                        "KHR_materials_volume",       "KHR_materials_specular"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

static orr_result check_extensions(const orr_gltf *g, const char *key, bool required)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(g->root.node, key), *node;
    cJSON_ArrayForEach(node, all)
    {
        if (!cJSON_IsString(node)) {
            return orr_json_expected(&g->root, key, g->error, "an array of texts");
        }
        if (orr_gltf_knows_extension(node->valuestring)) {
            continue;
        }
        if (required) {
            return orr_mesh_fail(g->reader, "extensionsRequired: %.60s is not supported", node->valuestring);
        }
        char name[64];
        snprintf(name, sizeof name, "%s", node->valuestring);
        orr_mesh_note(g->reader, name);
    }
    return ORR_OK;
}

static orr_result read_file(orr_gltf *g)
{
    static const char *const keys[ORR_GLTF_KINDS] = {"accessors", "bufferViews", "buffers",   "images",
                                                     "samplers",  "textures",    "materials", "meshes",
                                                     "nodes",     "scenes",      "skins"};
    ORR_TRY(parse(g));
    ORR_TRY(check_version(g));
    ORR_TRY(check_extensions(g, "extensionsRequired", true));
    ORR_TRY(check_extensions(g, "extensionsUsed", false));
    for (int i = 0; i < ORR_GLTF_KINDS; i++) {
        ORR_TRY(take_list(g, (orr_gltf_kind)i, keys[i]));
    }
    static const char *const unused[] = {"animations", "cameras"};
    for (int i = 0; i < 2; i++) {
        if (orr_json_has(&g->root, unused[i])) {
            orr_mesh_note(g->reader, unused[i]);
        }
    }
    size_t buffers = (size_t)g->lists[ORR_GLTF_BUFFERS].count;
    g->buffers = orr_alloc_zero(buffers, sizeof *g->buffers);
    g->owns = orr_alloc_zero(buffers, sizeof *g->owns);
    if (!g->buffers || !g->owns) {
        return orr_fail(g->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: buffers");
    }
    ORR_TRY(orr_gltf_read_materials(g));
    return orr_gltf_read_scene(g);
}

orr_result orr_mesh_read_gltf(orr_mesh_reader *reader)
{
    orr_gltf g = {.reader = reader, .error = reader->error};
    reader->mesh->linear_colours = true;
    reader->mesh->flat_normals = true;
    orr_result result = read_file(&g);
    for (int i = 0; g.owns && i < g.lists[ORR_GLTF_BUFFERS].count; i++) {
        if (g.owns[i]) {
            orr_free(g.buffers[i].data);
        }
    }
    for (int i = 0; i < ORR_GLTF_KINDS; i++) {
        orr_free(g.lists[i].nodes);
    }
    orr_free(g.buffers);
    orr_free(g.owns);
    orr_free(g.image_textures);
    orr_free(g.image_states);
    orr_free(g.mappings);
    orr_free(g.surfaces);
    orr_free(g.parents);
    orr_json_free(&g.root);
    return result;
}
