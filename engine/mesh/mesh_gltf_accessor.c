// Accessors of glTF: arrays of numbers in buffers, in any component type, some of them replaced (sparse).
#include "engine/mesh/mesh_gltf.h"

#include "engine/core/memory.h"

#include <string.h>

enum { ABSENT_MAX = 1 << 18 }; // values that are not stored: zeros

enum { BYTE = 5120, UNSIGNED_BYTE, SHORT, UNSIGNED_SHORT, UNSIGNED_INT = 5125, FLOAT };

static size_t size_of(int64_t type)
{
    switch (type) {
    case BYTE:
    case UNSIGNED_BYTE:
        return 1;
    case SHORT:
    case UNSIGNED_SHORT:
        return 2;
    case UNSIGNED_INT:
    case FLOAT:
        return 4;
    }
    return 0;
}

static float number_at(const uint8_t *data, int type, bool normalised)
{
    float value = 0.0f, most = 1.0f;
    switch (type) {
    case BYTE:
        value = (float)(int8_t)*data;
        most = 127.0f;
        break;
    case UNSIGNED_BYTE:
        value = (float)*data;
        most = 255.0f;
        break;
    case SHORT: {
        int16_t number;
        memcpy(&number, data, sizeof number);
        value = (float)number;
        most = 32767.0f;
        break;
    }
    case UNSIGNED_SHORT: {
        uint16_t number;
        memcpy(&number, data, sizeof number);
        value = (float)number;
        most = 65535.0f;
        break;
    }
    case UNSIGNED_INT: {
        uint32_t number;
        memcpy(&number, data, sizeof number);
        value = (float)number;
        most = 4294967295.0f;
        break;
    }
    case FLOAT:
        memcpy(&value, data, sizeof value);
        return value;
    }
    if (!normalised) {
        return value;
    }
    return value / most < -1.0f ? -1.0f : value / most;
}

static uint32_t index_at(const uint8_t *data, int type)
{
    uint32_t value = 0;
    memcpy(&value, data, size_of(type)); // little endian
    return value;
}

// `count` values of `size` bytes from a view, from an offset in it on; *stride: the view's, or `size`.
static orr_result find_values(orr_gltf *g, const orr_json *object, int64_t count, size_t size,
                              const uint8_t **data, size_t *stride)
{
    int view;
    size_t have, step;
    int64_t offset = 0;
    ORR_TRY(orr_json_require(object, "bufferView", "an index", g->error));
    ORR_TRY(orr_gltf_index(g, object, "bufferView", ORR_GLTF_VIEWS, &view));
    ORR_TRY(orr_gltf_view(g, view, data, &have, &step));
    ORR_TRY(orr_gltf_integer(g, object, "byteOffset", 0, (int64_t)have, &offset));
    *stride = step ? step : size;
    size_t left = have - (size_t)offset;
    if (left < size || (left - size) / *stride < (size_t)count - 1) {
        return orr_json_expected(object, "bufferView", g->error,
                                 "room for %lld values of %zu bytes in its %zu bytes", (long long)count, size,
                                 have);
    }
    *data += offset;
    return ORR_OK;
}

static orr_result open_sparse(orr_gltf *g, orr_gltf_accessor *a, size_t size)
{
    orr_json sparse, indices, values;
    int64_t type = 0;
    size_t stride;
    ORR_TRY(orr_json_member(&a->json, "sparse", &sparse, g->error));
    if (!sparse.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_require(&sparse, "count", "a number", g->error));
    ORR_TRY(orr_gltf_integer(g, &sparse, "count", 1, a->count, &a->sparse_count));
    ORR_TRY(orr_json_require(&sparse, "indices", "an object", g->error));
    ORR_TRY(orr_json_require(&sparse, "values", "an object", g->error));
    ORR_TRY(orr_json_member(&sparse, "indices", &indices, g->error));
    ORR_TRY(orr_json_member(&sparse, "values", &values, g->error));
    ORR_TRY(orr_gltf_integer(g, &indices, "componentType", UNSIGNED_BYTE, UNSIGNED_INT, &type));
    if (type != UNSIGNED_BYTE && type != UNSIGNED_SHORT && type != UNSIGNED_INT) {
        return orr_json_expected(&indices, "componentType", g->error, "5121, 5123 or 5125");
    }
    a->sparse_type = (int)type;
    ORR_TRY(find_values(g, &indices, a->sparse_count, size_of(type), &a->sparse_indices, &stride));
    if (stride != size_of(type)) {
        return orr_json_expected(&indices, "bufferView", g->error, "a view without a stride");
    }
    ORR_TRY(find_values(g, &values, a->sparse_count, size, &a->sparse_values, &stride));
    return stride == size ? ORR_OK
                          : orr_json_expected(&values, "bufferView", g->error, "a view without a stride");
}

orr_result orr_gltf_accessor_open(orr_gltf *g, int index, orr_gltf_accessor *a)
{
    static const struct {
        const char *name;
        int components;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
    *a = (orr_gltf_accessor){0};
    const char *type = NULL;
    int64_t component = 0;
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_ACCESSORS, index, &a->json));
    ORR_TRY(orr_json_require(&a->json, "count", "a number", g->error));
    ORR_TRY(orr_gltf_integer(g, &a->json, "count", 1, ORR_MESH_INDEX_MAX, &a->count));
    ORR_TRY(orr_gltf_integer(g, &a->json, "componentType", BYTE, FLOAT, &component));
    ORR_TRY(orr_json_string(&a->json, "type", &type, g->error));
    ORR_TRY(orr_json_bool(&a->json, "normalized", &a->normalised, g->error));
    for (size_t i = 0; type && i < sizeof types / sizeof types[0]; i++) {
        a->components = strcmp(type, types[i].name) == 0 ? types[i].components : a->components;
    }
    a->type = (int)component;
    size_t size = size_of(component) * (size_t)a->components;
    if (size == 0) {
        return orr_json_expected(
            &a->json, NULL, g->error,
            "a componentType of 5120 to 5123, 5125 or 5126, and type SCALAR, VEC2 to VEC4, or MAT4");
    }
    if (orr_json_has(&a->json, "bufferView")) {
        ORR_TRY(find_values(g, &a->json, a->count, size, &a->data, &a->stride));
    } else if (!orr_json_has(&a->json, "sparse")) { // such are those that Draco's extension fills
        return orr_json_expected(&a->json, NULL, g->error,
                                 "a bufferView or sparse values; compressed meshes are not supported");
    } else if (a->count > ABSENT_MAX) {
        return orr_json_expected(&a->json, "count", g->error, "a bufferView, or at most %d zeros",
                                 ABSENT_MAX);
    }
    return open_sparse(g, a, size);
}

static orr_result sparse_index(const orr_gltf *g, const orr_gltf_accessor *a, int64_t i, size_t *index)
{
    size_t size = size_of(a->sparse_type);
    *index = index_at(a->sparse_indices + (size_t)i * size, a->sparse_type);
    return *index < (size_t)a->count ? ORR_OK
                                     : orr_json_expected(&a->json, "sparse.indices", g->error,
                                                         "indices below %lld", (long long)a->count);
}

static void take_floats(const orr_gltf_accessor *a, const uint8_t *data, int width, float *out)
{
    size_t size = size_of(a->type);
    for (int k = 0; k < width; k++) {
        out[k] = number_at(data + (size_t)k * size, a->type, a->normalised);
    }
}

orr_result orr_gltf_accessor_floats(const orr_gltf *g, const orr_gltf_accessor *a, int width, float *out,
                                    size_t step)
{
    for (size_t i = 0; i < (size_t)a->count; i++) {
        if (a->data) {
            take_floats(a, a->data + i * a->stride, width, out + i * step);
        } else {
            memset(out + i * step, 0, (size_t)width * sizeof *out);
        }
    }
    size_t size = size_of(a->type) * (size_t)a->components;
    for (int64_t i = 0; i < a->sparse_count; i++) {
        size_t index;
        ORR_TRY(sparse_index(g, a, i, &index));
        take_floats(a, a->sparse_values + (size_t)i * size, width, out + index * step);
    }
    return ORR_OK;
}

orr_result orr_gltf_accessor_indices(const orr_gltf *g, const orr_gltf_accessor *a, int64_t limit,
                                     uint32_t *out)
{
    if (a->components != 1 ||
        (a->type != UNSIGNED_BYTE && a->type != UNSIGNED_SHORT && a->type != UNSIGNED_INT)) {
        return orr_json_expected(&a->json, NULL, g->error,
                                 "indices: type SCALAR, componentType 5121, 5123 or 5125");
    }
    size_t size = size_of(a->type);
    for (size_t i = 0; i < (size_t)a->count; i++) {
        out[i] = a->data ? index_at(a->data + i * a->stride, a->type) : 0;
    }
    for (int64_t i = 0; i < a->sparse_count; i++) {
        size_t index;
        ORR_TRY(sparse_index(g, a, i, &index));
        out[index] = index_at(a->sparse_values + (size_t)i * size, a->type);
    }
    for (int64_t i = 0; i < a->count; i++) {
        if (out[i] >= limit) {
            return orr_json_expected(&a->json, NULL, g->error, "indices below %lld, not %u", (long long)limit,
                                     out[i]);
        }
    }
    return ORR_OK;
}
