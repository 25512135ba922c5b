#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "neural/fields/surface_file.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/maths/colour_formula.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

// a formatted line; what fails shows at commit
static void put_text(orr_file_writer *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_text(orr_file_writer *file, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert(length >= 0 && length < (int)sizeof text);
    orr_file_put(file, text, (size_t)length);
}

// ---- .ply ----

static void put_ply(const orr_surface *s, orr_file_writer *file)
{
    put_text(file,
             "ply\nformat binary_little_endian 1.0\ncomment made by orrery\nelement vertex %lld\n"
             "property float x\nproperty float y\nproperty float z\n"
             "property float nx\nproperty float ny\nproperty float nz\n%s"
             "element face %lld\nproperty list uchar uint vertex_indices\nend_header\n",
             (long long)s->vertex_count,
             s->colours
                 ? "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n"
                 : "",
             (long long)s->triangle_count);
    for (int64_t i = 0; i < s->vertex_count; i++) {
        orr_file_put(file, s->positions + 3 * i, 3 * sizeof(float));
        orr_file_put(file, s->normals + 3 * i, 3 * sizeof(float));
        if (s->colours) {
            orr_file_put(file, s->colours + 4 * i, 4);
        }
    }
    for (int64_t i = 0; i < s->triangle_count; i++) {
        const uint8_t corners = 3;
        orr_file_put(file, &corners, 1);
        orr_file_put(file, s->indices + 3 * i, 3 * sizeof(uint32_t));
    }
}

// ---- .obj ----

static void put_obj(const orr_surface *s, orr_file_writer *file)
{
    put_text(file, "# made by orrery\n");
    for (int64_t i = 0; i < s->vertex_count; i++) {
        const float *p = s->positions + 3 * i;
        put_text(file, "v %.7g %.7g %.7g", (double)p[0], (double)p[1], (double)p[2]);
        for (int k = 0; s->colours && k < 3; k++) { // an extension that most programs read
            put_text(file, " %.4g", s->colours[4 * i + k] / 255.0);
        }
        put_text(file, "\n");
    }
    for (int64_t i = 0; i < s->vertex_count; i++) {
        const float *n = s->normals + 3 * i;
        put_text(file, "vn %.5g %.5g %.5g\n", (double)n[0], (double)n[1], (double)n[2]);
    }
    for (int64_t i = 0; i < s->triangle_count; i++) {
        const uint32_t *corner = s->indices + 3 * i;
        put_text(file, "f");
        for (int k = 0; k < 3; k++) {
            put_text(file, " %llu//%llu", corner[k] + 1ull, corner[k] + 1ull);
        }
        put_text(file, "\n");
    }
}

// ---- .glb ----

static void put_u32(orr_file_writer *file, uint64_t value)
{
    const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                              (uint8_t)(value >> 24)};
    orr_file_put(file, bytes, sizeof bytes);
}

static uint16_t linear_of_display(uint8_t value)
{
    return (uint16_t)lrint(65535.0 * srgb_to_linear(value / 255.0));
}

static void put_linear_colours(const orr_surface *s, orr_file_writer *file)
{
    uint16_t linear[256];
    for (int i = 0; i < 256; i++) {
        linear[i] = linear_of_display((uint8_t)i);
    }
    for (int64_t i = 0; i < s->vertex_count; i++) {
        const uint8_t *c = s->colours + 4 * i;
        const uint16_t colour[4] = {linear[c[0]], linear[c[1]], linear[c[2]], (uint16_t)(257 * c[3])};
        orr_file_put(file, colour, sizeof colour);
    }
}

typedef struct glb_layout { // bytes of the binary chunk
    uint64_t vectors, colours, indices;
} glb_layout;

static int print_document(const orr_surface *s, const glb_layout *l, char *text, size_t size)
{
    float low[3], high[3];
    memcpy(low, s->positions, sizeof low);
    memcpy(high, s->positions, sizeof high);
    for (int64_t i = 0; i < 3 * s->vertex_count; i++) {
        low[i % 3] = fminf(low[i % 3], s->positions[i]);
        high[i % 3] = fmaxf(high[i % 3], s->positions[i]);
    }
    // component types: 5126 float, 5125 unsigned int, 5123 unsigned short; targets: 34962 vertices, 34963
    // indices
    char colour_view[160] = "", colour_accessor[160] = "";
    if (s->colours) {
        snprintf(colour_view, sizeof colour_view,
                 ",{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu,\"target\":34962}",
                 2ULL * l->vectors + l->indices, (unsigned long long)l->colours);
        snprintf(
            colour_accessor, sizeof colour_accessor,
            ",{\"bufferView\":3,\"componentType\":5123,\"normalized\":true,\"count\":%lld,\"type\":\"VEC4\"}",
            (long long)s->vertex_count);
    }
    return snprintf(
        text, size,
        "{\"asset\":{\"version\":\"2.0\",\"generator\":\"orrery\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
        "\"nodes\":[{\"mesh\":0}],\"materials\":[{\"pbrMetallicRoughness\":{\"metallicFactor\":0}}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1%s},\"indices\":2,"
        "\"material\":0}]}],"
        "\"buffers\":[{\"byteLength\":%llu}],\"bufferViews\":["
        "{\"buffer\":0,\"byteLength\":%llu,\"target\":34962},"
        "{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu,\"target\":34962},"
        "{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu,\"target\":34963}%s],\"accessors\":["
        "{\"bufferView\":0,\"componentType\":5126,\"count\":%lld,\"type\":\"VEC3\","
        "\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]},"
        "{\"bufferView\":1,\"componentType\":5126,\"count\":%lld,\"type\":\"VEC3\"},"
        "{\"bufferView\":2,\"componentType\":5125,\"count\":%lld,\"type\":\"SCALAR\"}%s]}",
        s->colours ? ",\"COLOR_0\":3" : "", 2ULL * l->vectors + l->indices + l->colours,
        (unsigned long long)l->vectors, (unsigned long long)l->vectors, (unsigned long long)l->vectors,
        2ULL * l->vectors, (unsigned long long)l->indices, colour_view, (long long)s->vertex_count,
        (double)low[0], (double)low[1], (double)low[2], (double)high[0], (double)high[1], (double)high[2],
        (long long)s->vertex_count, 3LL * s->triangle_count, colour_accessor);
}

static orr_result put_glb(const orr_surface *s, const char *path, orr_file_writer *file, orr_error *error)
{
    glb_layout l = {.vectors = (uint64_t)s->vertex_count * 3 * sizeof(float),
                    .colours = s->colours ? (uint64_t)s->vertex_count * 4 * sizeof(uint16_t) : 0,
                    .indices = (uint64_t)s->triangle_count * 3 * sizeof(uint32_t)};
    uint64_t binary = 2 * l.vectors + l.colours + l.indices; // all parts are multiples of 4
    char text[2048];
    int length = print_document(s, &l, text, sizeof text);
    assert(length > 0 && length < (int)sizeof text);
    uint64_t padded = ((uint64_t)length + 3) / 4 * 4, whole = 12 + 8 + padded + 8 + binary;
    if (whole > UINT32_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%s: %llu bytes: a .glb has at most 2^32 - 1", path,
                        (unsigned long long)whole);
    }
    orr_file_put(file, "glTF", 4);
    put_u32(file, 2);
    put_u32(file, whole);
    put_u32(file, padded);
    orr_file_put(file, "JSON", 4);
    orr_file_put(file, text, (size_t)length);
    orr_file_put(file, "   ", (size_t)padded - (size_t)length);
    put_u32(file, binary);
    orr_file_put(file, "BIN", 4); // with its zero
    orr_file_put(file, s->positions, l.vectors);
    orr_file_put(file, s->normals, l.vectors);
    orr_file_put(file, s->indices, l.indices);
    if (s->colours) {
        put_linear_colours(s, file);
    }
    return ORR_OK;
}

bool orr_surface_writable(const char *path)
{
    return orr_path_has_ending(path, ".ply") || orr_path_has_ending(path, ".obj") ||
           orr_path_has_ending(path, ".glb");
}

orr_result orr_surface_save(const orr_surface *surface, const char *path, orr_error *error)
{
    if (!orr_surface_writable(path)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: expected a name that ends in .ply, .obj or .glb",
                        path);
    }
    if (surface->triangle_count == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: not written: the surface has no triangles", path);
    }
    orr_file_writer file;
    ORR_TRY(orr_file_begin(&file, path, error));
    orr_result result = ORR_OK;
    if (orr_path_has_ending(path, ".ply")) {
        put_ply(surface, &file);
    } else if (orr_path_has_ending(path, ".obj")) {
        put_obj(surface, &file);
    } else {
        result = put_glb(surface, path, &file, error);
    }
    if (result != ORR_OK) {
        orr_file_abort(&file);
        return result;
    }
    return orr_file_commit(&file, error);
}
