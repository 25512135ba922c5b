#include "assets/glb.h"

#include "assets/material.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"

#include <cjson/cJSON.h>
#include <string.h>

// numbers of the glTF 2.0 specification
enum { GLTF_UBYTE = 5121, GLTF_USHORT = 5123, GLTF_UINT = 5125, GLTF_FLOAT = 5126 };
enum { GLTF_VERTICES = 34962, GLTF_INDICES = 34963 };

typedef struct corner {
    float position[3], normal[3];
} corner;

// The vertices and triangles of one material.
typedef struct primitive {
    corner *corners;
    uint32_t *indices;
    uint32_t *table; // hash of a corner to its number + 1
    uint32_t table_size;
    uint32_t corner_count, index_count;
} primitive;

typedef struct writer {
    cJSON *root, *views, *accessors, *materials, *primitives;
    uint8_t *binary;
    size_t size, capacity;
} writer;

static uint32_t hash_corner(const corner *c)
{
    uint32_t words[6], hash = 2166136261u;
    memcpy(words, c, sizeof words);
    for (int i = 0; i < 6; i++) {
        hash = (hash ^ words[i]) * 16777619u;
        hash ^= hash >> 15;
    }
    return hash;
}

static uint32_t find_corner(primitive *p, const corner *c)
{
    uint32_t slot = hash_corner(c) & (p->table_size - 1);
    while (p->table[slot]) {
        if (memcmp(&p->corners[p->table[slot] - 1], c, sizeof *c) == 0) {
            return p->table[slot] - 1;
        }
        slot = (slot + 1) & (p->table_size - 1);
    }
    p->corners[p->corner_count] = *c;
    p->table[slot] = ++p->corner_count;
    return p->corner_count - 1;
}

// + 0 makes a negative zero positive, so that equal corners have equal bits
static corner corner_of(const shape_triangle *t, int i)
{
    real3 p = t->position[i], n = t->normal[i];
    return (corner){{p.x + 0.0f, p.y + 0.0f, p.z + 0.0f}, {n.x + 0.0f, n.y + 0.0f, n.z + 0.0f}};
}

static void gather(const shape_mesh *s, int m, primitive *p)
{
    p->corner_count = p->index_count = 0;
    memset(p->table, 0, p->table_size * sizeof *p->table);
    for (int i = 0; i < s->count; i++) {
        for (int k = 0; k < 3 && s->triangles[i].material == m; k++) {
            corner c = corner_of(&s->triangles[i], k);
            p->indices[p->index_count++] = find_corner(p, &c);
        }
    }
}

// Appends `size` bytes; one buffer view for all of them.
static uint8_t *add_view(writer *w, size_t size, int target)
{
    cJSON *view = cJSON_CreateObject();
    cJSON_AddNumberToObject(view, "buffer", 0);
    cJSON_AddNumberToObject(view, "byteOffset", (double)w->size);
    cJSON_AddNumberToObject(view, "byteLength", (double)size);
    cJSON_AddNumberToObject(view, "target", target);
    cJSON_AddItemToArray(w->views, view);
    uint8_t *bytes = w->binary + w->size;
    size_t padded = (size + 3) & ~(size_t)3;
    assert(w->size + padded <= w->capacity);
    memset(bytes, 0, padded);
    w->size += padded;
    return bytes;
}

static cJSON *add_accessor(writer *w, const char *type, int component, uint32_t count)
{
    cJSON *accessor = cJSON_CreateObject();
    cJSON_AddNumberToObject(accessor, "bufferView", cJSON_GetArraySize(w->views) - 1);
    cJSON_AddNumberToObject(accessor, "componentType", component);
    cJSON_AddNumberToObject(accessor, "count", count);
    cJSON_AddStringToObject(accessor, "type", type);
    cJSON_AddItemToArray(w->accessors, accessor);
    return accessor;
}

static int last_accessor(const writer *w)
{
    return cJSON_GetArraySize(w->accessors) - 1;
}

static void add_bounds(cJSON *accessor, const primitive *p)
{
    float low[3] = {1e30f, 1e30f, 1e30f}, high[3] = {-1e30f, -1e30f, -1e30f};
    for (uint32_t i = 0; i < p->corner_count; i++) {
        for (int k = 0; k < 3; k++) {
            low[k] = fminf(low[k], p->corners[i].position[k]);
            high[k] = fmaxf(high[k], p->corners[i].position[k]);
        }
    }
    cJSON_AddItemToObject(accessor, "min", cJSON_CreateFloatArray(low, 3));
    cJSON_AddItemToObject(accessor, "max", cJSON_CreateFloatArray(high, 3));
}

static void add_vectors(writer *w, const primitive *p, size_t member, cJSON *attributes, const char *name)
{
    uint8_t *out = add_view(w, p->corner_count * 3 * sizeof(float), GLTF_VERTICES);
    for (uint32_t i = 0; i < p->corner_count; i++) {
        memcpy(out + i * 3 * sizeof(float), (const char *)&p->corners[i] + member, 3 * sizeof(float));
    }
    cJSON *accessor = add_accessor(w, "VEC3", GLTF_FLOAT, p->corner_count);
    if (member == offsetof(corner, position)) {
        add_bounds(accessor, p);
    }
    cJSON_AddNumberToObject(attributes, name, last_accessor(w));
}

static void add_colours(writer *w, const primitive *p, int m, cJSON *attributes)
{
    uint8_t *out = add_view(w, p->corner_count * (size_t)4, GLTF_VERTICES);
    for (uint32_t i = 0; i < p->corner_count; i++) {
        const corner *c = &p->corners[i];
        real3 colour = material_colour(m, make_real3(c->position[0], c->position[1], c->position[2]),
                                       make_real3(c->normal[0], c->normal[1], c->normal[2]));
        const float linear[4] = {colour.x, colour.y, colour.z, 1.0f};
        for (int k = 0; k < 4; k++) {
            out[4 * i + (uint32_t)k] = (uint8_t)lrintf(255.0f * fminf(linear[k], 1.0f));
        }
    }
    cJSON_AddBoolToObject(add_accessor(w, "VEC4", GLTF_UBYTE, p->corner_count), "normalized", true);
    cJSON_AddNumberToObject(attributes, "COLOR_0", last_accessor(w));
}

static void add_indices(writer *w, const primitive *p, cJSON *out)
{
    bool narrow = p->corner_count < 65535; // 65535 is reserved
    uint8_t *bytes =
        add_view(w, p->index_count * (narrow ? sizeof(uint16_t) : sizeof(uint32_t)), GLTF_INDICES);
    for (uint32_t i = 0; i < p->index_count; i++) {
        uint16_t half = (uint16_t)p->indices[i];
        memcpy(narrow ? bytes + 2 * i : bytes + 4 * i, narrow ? (void *)&half : (void *)&p->indices[i],
               narrow ? sizeof half : sizeof(uint32_t));
    }
    add_accessor(w, "SCALAR", narrow ? GLTF_USHORT : GLTF_UINT, p->index_count);
    cJSON_AddNumberToObject(out, "indices", last_accessor(w));
}

static void add_material(writer *w, int m)
{
    const material_properties *p = material_find(m);
    const real3 white = {1.0f, 1.0f, 1.0f}, c = p->patterned ? white : p->colour;
    cJSON *out = cJSON_CreateObject();
    cJSON_AddStringToObject(out, "name", p->name);
    cJSON *pbr = cJSON_AddObjectToObject(out, "pbrMetallicRoughness");
    cJSON_AddItemToObject(pbr, "baseColorFactor", cJSON_CreateFloatArray((float[]){c.x, c.y, c.z, 1.0f}, 4));
    cJSON_AddNumberToObject(pbr, "metallicFactor", (double)p->metal);
    cJSON_AddNumberToObject(pbr, "roughnessFactor", (double)p->roughness);
    if (m == MATERIAL_SUN) {
        const real3 glow = p->colour;
        cJSON_AddItemToObject(out, "emissiveFactor",
                              cJSON_CreateFloatArray((float[]){glow.x, glow.y, glow.z}, 3));
    }
    cJSON_AddItemToArray(w->materials, out);
}

static void add_primitive(writer *w, const primitive *p, int m)
{
    cJSON *out = cJSON_CreateObject();
    cJSON *attributes = cJSON_AddObjectToObject(out, "attributes");
    add_vectors(w, p, offsetof(corner, position), attributes, "POSITION");
    add_vectors(w, p, offsetof(corner, normal), attributes, "NORMAL");
    if (material_find(m)->patterned) {
        add_colours(w, p, m, attributes);
    }
    add_indices(w, p, out);
    cJSON_AddNumberToObject(out, "material", cJSON_GetArraySize(w->materials));
    cJSON_AddItemToArray(w->primitives, out);
    add_material(w, m);
}

static void begin_document(writer *w)
{
    w->root = cJSON_CreateObject();
    cJSON *asset = cJSON_AddObjectToObject(w->root, "asset");
    cJSON_AddStringToObject(asset, "version", "2.0");
    cJSON_AddStringToObject(asset, "generator", "orrery assets/make_orrery.c");
    cJSON_AddNumberToObject(w->root, "scene", 0);
    cJSON *scene = cJSON_CreateObject(), *node = cJSON_CreateObject(), *mesh = cJSON_CreateObject();
    cJSON_AddItemToObject(scene, "nodes", cJSON_CreateIntArray((const int[]){0}, 1));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(w->root, "scenes"), scene);
    cJSON_AddStringToObject(node, "name", "orrery");
    cJSON_AddNumberToObject(node, "mesh", 0);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(w->root, "nodes"), node);
    w->primitives = cJSON_AddArrayToObject(mesh, "primitives");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(w->root, "meshes"), mesh);
    w->materials = cJSON_AddArrayToObject(w->root, "materials");
    w->accessors = cJSON_AddArrayToObject(w->root, "accessors");
    w->views = cJSON_AddArrayToObject(w->root, "bufferViews");
}

static void put_u32(orr_file_writer *file, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                              (uint8_t)(value >> 24)};
    orr_file_put(file, bytes, sizeof bytes);
}

static orr_result write_file(const writer *w, const char *path, orr_error *error)
{
    cJSON *buffer = cJSON_CreateObject();
    cJSON_AddNumberToObject(buffer, "byteLength", (double)w->size);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(w->root, "buffers"), buffer);
    char *text = cJSON_PrintUnformatted(w->root);
    if (!text) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    uint32_t length = (uint32_t)strlen(text), padded = (length + 3) & ~3u, binary = (uint32_t)w->size;
    orr_file_writer file;
    orr_result result = orr_file_begin(&file, path, error);
    if (result == ORR_OK) {
        orr_file_put(&file, "glTF", 4);
        put_u32(&file, 2);
        put_u32(&file, 12 + 8 + padded + 8 + binary);
        put_u32(&file, padded);
        orr_file_put(&file, "JSON", 4);
        orr_file_put(&file, text, length);
        orr_file_put(&file, "   ", padded - length);
        put_u32(&file, binary);
        orr_file_put(&file, "BIN", 4); // with its zero
        orr_file_put(&file, w->binary, w->size);
        result = orr_file_commit(&file, error);
    }
    cJSON_free(text);
    return result;
}

static orr_result save(const shape_mesh *s, primitive *p, writer *w, const char *path, orr_error *error)
{
    size_t corners = 3 * (size_t)s->count;
    p->table_size = 1;
    while (p->table_size < 2 * corners) {
        p->table_size *= 2;
    }
    // every corner its own vertex, colour and wide index, and padding per view
    w->capacity = corners * (sizeof(corner) + 4 + sizeof(uint32_t)) + 64 * MATERIAL_COUNT;
    ORR_ALLOC(p->corners, corners, "vertices", error);
    ORR_ALLOC(p->indices, corners, "indices", error);
    ORR_ALLOC(p->table, p->table_size, "vertices", error);
    ORR_ALLOC(w->binary, w->capacity, "the mesh", error);
    begin_document(w);
    for (int m = 0; m < MATERIAL_COUNT; m++) {
        gather(s, m, p);
        if (p->index_count) {
            add_primitive(w, p, m);
        }
    }
    return write_file(w, path, error);
}

orr_result glb_save(const shape_mesh *s, const char *path, orr_error *error)
{
    primitive p = {0};
    writer w = {0};
    orr_result result = save(s, &p, &w, path, error);
    cJSON_Delete(w.root);
    orr_free(p.corners);
    orr_free(p.indices);
    orr_free(p.table);
    orr_free(w.binary);
    return result;
}
