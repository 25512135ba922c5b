#include "engine/mesh/mesh_reader.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// What a small file may become by naming its contents again and again: instances, shared vertices, zeros that
// are not stored.
enum { SMALL_FILE_VERTICES = 1 << 18, VERTICES_PER_BYTE = 16, TEXELS_MAX = 1 << 28 };

static int64_t vertex_limit(const orr_mesh_reader *reader)
{
    return SMALL_FILE_VERTICES + VERTICES_PER_BYTE * (int64_t)reader->all_bytes;
}

orr_result orr_mesh_fail(const orr_mesh_reader *reader, const char *format, ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    for (char *c = what; *c; c++) { // what is quoted from the file stays on the line
        *c = (unsigned char)*c < ' ' ? '?' : *c;
    }
    return orr_fail(reader->error, ORR_CODE_MESH_FILE, "%s: %s", reader->desc->path, what);
}

void orr_mesh_note(orr_mesh_reader *reader, const char *what)
{
    char *list = reader->mesh->unused;
    size_t length = strlen(what), used = strlen(list);
    for (const char *at = list; (at = strstr(at, what)); at += length) {
        bool begins = at == list || at[-1] == ' ', ends = at[length] == 0 || at[length] == ',';
        if (begins && ends) {
            return;
        }
    }
    if (used + length + 3 <= sizeof reader->mesh->unused) {
        snprintf(list + used, sizeof reader->mesh->unused - used, "%s%s", used ? ", " : "", what);
    }
    for (char *c = list + used; *c; c++) {
        *c = (unsigned char)*c < ' ' ? '?' : *c;
    }
}

orr_result orr_mesh_add_vertices(orr_mesh_reader *reader, int64_t count, orr_mesh_file_vertex **first)
{
    orr_mesh_file *mesh = reader->mesh;
    int64_t sum = mesh->vertex_count + count, limit = vertex_limit(reader);
    limit = limit < ORR_MESH_VERTEX_MAX ? limit : ORR_MESH_VERTEX_MAX;
    if (sum > limit) {
        return orr_mesh_fail(reader, "%lld vertices: expected at most %lld in a file of this size",
                             (long long)sum, (long long)limit);
    }
    ORR_GROW(mesh->vertices, reader->vertex_room, (int)sum, "vertices", reader->error);
    *first = mesh->vertices + mesh->vertex_count;
    for (int64_t i = 0; i < count; i++) {
        (*first)[i] = (orr_mesh_file_vertex){.colour = {1.0f, 1.0f, 1.0f, 1.0f}};
    }
    mesh->vertex_count = sum;
    return ORR_OK;
}

orr_result orr_mesh_use_material(orr_mesh_reader *reader, int material)
{
    orr_mesh_file *mesh = reader->mesh;
    if (mesh->part_count > 0) {
        orr_mesh_part *last = &mesh->parts[mesh->part_count - 1];
        if (last->material == material || last->index_count == 0) {
            last->material = material;
            return ORR_OK;
        }
    }
    ORR_GROW(mesh->parts, reader->part_room, mesh->part_count + 1, "parts of a mesh", reader->error);
    mesh->parts[mesh->part_count++] = (orr_mesh_part){(uint32_t)mesh->index_count, 0, material};
    return ORR_OK;
}

orr_result orr_mesh_add_triangle(orr_mesh_reader *reader, uint32_t a, uint32_t b, uint32_t c)
{
    orr_mesh_file *mesh = reader->mesh;
    int64_t sum = mesh->index_count + 3, limit = 3 * vertex_limit(reader);
    limit = limit < ORR_MESH_INDEX_MAX ? limit : ORR_MESH_INDEX_MAX;
    if (sum > limit) {
        return orr_mesh_fail(reader, "expected at most %lld triangles in a file of this size",
                             (long long)limit / 3);
    }
    ORR_GROW(mesh->indices, reader->index_room, (int)sum, "triangles", reader->error);
    uint32_t *index = mesh->indices + mesh->index_count;
    index[0] = a;
    index[1] = b;
    index[2] = c;
    mesh->index_count = sum;
    mesh->parts[mesh->part_count - 1].index_count += 3;
    return ORR_OK;
}

orr_result orr_mesh_add_material(orr_mesh_reader *reader, orr_mesh_material **material)
{
    orr_mesh_file *mesh = reader->mesh;
    ORR_GROW(mesh->materials, reader->material_room, mesh->material_count + 1, "materials", reader->error);
    *material = &mesh->materials[mesh->material_count++];
    // only glTF marks two-sided faces; the winding of other files is not reliable
    **material = (orr_mesh_material){.base_colour = {1.0f, 1.0f, 1.0f, 1.0f},
                                     .texture = -1,
                                     .two_sided = true,
                                     .surface_texture = -1,
                                     .emissive_texture = -1,
                                     .normal_texture = -1,
                                     .coat_texture = -1,
                                     .coat_normal_texture = -1,
                                     .second_surface_texture = -1};
    return ORR_OK;
}

// ---- textures and other files ----

static orr_result texture_fail(const orr_mesh_reader *reader, const char *name, const orr_error *why)
{
    return why->code == ORR_CODE_OUT_OF_MEMORY
               ? orr_fail(reader->error, ORR_CODE_OUT_OF_MEMORY, "%s", why->message)
               : orr_mesh_fail(reader, "texture %.100s: %.250s", name, why->message);
}

orr_result orr_mesh_count_texels(orr_mesh_reader *reader, const char *name, int width, int height)
{
    reader->texels += (int64_t)width * height;
    return width <= ORR_MESH_TEXTURE_SIDE_MAX && height <= ORR_MESH_TEXTURE_SIDE_MAX &&
                   reader->texels <= TEXELS_MAX
               ? ORR_OK
               : orr_mesh_fail(reader,
                               "texture %.100s: %d x %d texels: expected sides of at most %d, and at most %d "
                               "texels in all",
                               name, width, height, ORR_MESH_TEXTURE_SIDE_MAX, TEXELS_MAX);
}

orr_result orr_mesh_add_texture(orr_mesh_reader *reader, const char *name, const uint8_t *data, size_t size,
                                int *texture)
{
    orr_mesh_file *mesh = reader->mesh;
    int wanted = mesh->texture_count + 1;
    ORR_GROW(mesh->textures, reader->texture_room, wanted, "textures", reader->error);
    ORR_GROW(reader->texture_names, reader->name_room, wanted, "names of textures", reader->error);
    orr_image8 *image = &mesh->textures[mesh->texture_count];
    orr_error why = {0};
    if (orr_image8_decode(data, size, "picture", image, &why) != ORR_OK) {
        return texture_fail(reader, name, &why);
    }
    *texture = mesh->texture_count++;
    return orr_mesh_count_texels(reader, name, image->width, image->height);
}

orr_result orr_mesh_add_texel(orr_mesh_reader *reader, int *texture)
{
    orr_mesh_file *mesh = reader->mesh;
    int wanted = mesh->texture_count + 1;
    ORR_GROW(mesh->textures, reader->texture_room, wanted, "textures", reader->error);
    ORR_GROW(reader->texture_names, reader->name_room, wanted, "names of textures", reader->error);
    orr_image8 texel = {.width = 1, .height = 1};
    ORR_ALLOC(texel.rgba, 4, "a texture", reader->error);
    memset(texel.rgba, 255, 4);
    *texture = mesh->texture_count++;
    mesh->textures[*texture] = texel;
    return ORR_OK;
}

// A relative name of a file in the folder or below it.
static bool stays_inside(const char *name)
{
    if (name[0] == '/' || strchr(name, ':') || !name[0]) {
        return false;
    }
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == 0)) {
            return false;
        }
    }
    return true;
}

static orr_result read_inside(orr_mesh_reader *reader, const char *name, orr_bytes *bytes, orr_error *error)
{
    char *path = orr_path_beside(reader->desc->path, name);
    if (!path) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the name of a file");
    }
    orr_result result = orr_file_read(path, bytes, error);
    reader->all_bytes += bytes->size;
    size_t length = strlen(path);
    if (result != ORR_OK && strncmp(error->message, path, length) == 0) { // who calls has the name
        const char *reason = error->message + length;
        reason += strspn(reason, ": ");
        memmove(error->message, reason, strlen(reason) + 1);
    }
    orr_free(path);
    return result;
}

orr_result orr_mesh_read_beside(orr_mesh_reader *reader, const char *name, orr_bytes *bytes, orr_error *error)
{
    *bytes = (orr_bytes){0};
    if (reader->desc->bytes) {
        return orr_fail(error, ORR_CODE_MESH_FILE, "expected no other file beside a mesh in memory");
    }
    size_t size = strlen(name) + 1;
    char *plain;
    ORR_ALLOC(plain, size, "the name of a file", error);
    for (size_t i = 0; i < size; i++) { // files written on Windows
        plain[i] = (char)(name[i] == '\\' ? '/' : name[i]);
    }
    const char *last =
        orr_path_name(plain); // of files that were written elsewhere, often beside the mesh now
    orr_result result = ORR_ERROR_FORMAT;
    if (stays_inside(plain)) {
        result = read_inside(reader, plain, bytes, error);
    } else if (stays_inside(last)) {
        result = read_inside(reader, last, bytes, error);
    }
    if (result != ORR_OK && !stays_inside(plain) && error->code != ORR_CODE_OUT_OF_MEMORY) {
        result = orr_fail(error, ORR_CODE_MESH_FILE, "expected a file in the folder of the mesh or below it");
    }
    orr_free(plain);
    return result;
}

orr_result orr_mesh_leave_out(orr_mesh_reader *reader, const char *kind, const char *name,
                              const orr_error *why)
{
    if (why->code == ORR_CODE_OUT_OF_MEMORY) {
        return orr_fail(reader->error, ORR_CODE_OUT_OF_MEMORY, "%s", why->message);
    }
    char what[200];
    snprintf(what, sizeof what, "%s %.80s (%.100s)", kind, name, why->message);
    orr_mesh_note(reader, what);
    return ORR_OK;
}

orr_result orr_mesh_load_texture(orr_mesh_reader *reader, const char *name, int *texture)
{
    for (*texture = 0; *texture < reader->mesh->texture_count; (*texture)++) {
        const char *known = reader->texture_names[*texture];
        if (known && strcmp(known, name) == 0) {
            return ORR_OK;
        }
    }
    *texture = -1;
    orr_bytes bytes;
    orr_error why = {0};
    if (orr_mesh_read_beside(reader, name, &bytes, &why) != ORR_OK) {
        return orr_mesh_leave_out(reader, "texture", name, &why);
    }
    orr_result result = orr_image8_check(bytes.data, bytes.size, "picture", &why) == ORR_OK
                            ? orr_mesh_add_texture(reader, name, bytes.data, bytes.size, texture)
                            : orr_mesh_leave_out(reader, "texture", name, &why);
    orr_free(bytes.data);
    if (result != ORR_OK || *texture < 0) {
        return result;
    }
    size_t size = strlen(name) + 1;
    ORR_ALLOC(reader->texture_names[*texture], size, "the name of a texture", reader->error);
    memcpy(reader->texture_names[*texture], name, size);
    return ORR_OK;
}

// ---- transforms ----

// How a direction across a surface is transformed: by the cofactors, which need no inverse. Returns whether
// the transform mirrors.
static bool normal_transform(const float m[12], float out[12])
{
    for (int i = 0; i < 12; i++) {
        int a = (i / 4 + 1) % 3, b = (i / 4 + 2) % 3, c = (i % 4 + 1) % 3, d = (i % 4 + 2) % 3;
        out[i] = i % 4 == 3 ? 0.0f : m[4 * a + c] * m[4 * b + d] - m[4 * a + d] * m[4 * b + c];
    }
    bool mirrors = vec3f_dot(m, out) < 0.0f;
    for (int i = 0; mirrors && i < 12; i++) {
        out[i] = -out[i];
    }
    return mirrors;
}

bool orr_mesh_move(orr_mesh_file_vertex *vertices, int64_t count, const float pose[12])
{
    float normal_pose[12];
    bool mirrors = normal_transform(pose, normal_pose);
    for (int64_t i = 0; i < count; i++) {
        orr_mesh_file_vertex from = vertices[i];
        affine_apply_to_point(pose, from.position, vertices[i].position);
        affine_apply_to_direction(normal_pose, from.normal, vertices[i].normal);
    }
    return mirrors;
}
