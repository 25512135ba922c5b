// Mesh files: a reader by the ending, then what holds for all formats.
#include "engine/mesh/mesh_file.h"

#include "engine/core/memory.h"
#include "engine/mesh/mesh_normals.h"
#include "engine/mesh/mesh_obj.h"
#include "engine/mesh/mesh_reader.h"

#include <math.h>

typedef orr_result (*mesh_read_fn)(orr_mesh_reader *reader);

static mesh_read_fn reader_of(const char *path)
{
    static const struct {
        const char *ending;
        mesh_read_fn read;
    } formats[] = {{".glb", orr_mesh_read_gltf}, {".gltf", orr_mesh_read_gltf}, {".obj", orr_mesh_read_obj},
                   {".stl", orr_mesh_read_stl},  {".ply", orr_mesh_read_ply},   {".dae", orr_mesh_read_dae}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (orr_path_has_ending(orr_path_name(path), formats[i].ending)) {
            return formats[i].read;
        }
    }
    return NULL;
}

bool orr_mesh_readable(const char *path)
{
    mesh_read_fn read = reader_of(path);
    return read == orr_mesh_read_ply ? orr_mesh_in_ply(path) : read != NULL;
}

void orr_mesh_file_free(orr_mesh_file *mesh)
{
    for (int i = 0; i < mesh->texture_count && mesh->textures; i++) {
        orr_image8_free(&mesh->textures[i]);
    }
    orr_free(mesh->vertices);
    orr_free(mesh->indices);
    orr_free(mesh->points);
    orr_free(mesh->parts);
    orr_free(mesh->materials);
    orr_free(mesh->textures);
    orr_free(mesh->lights);
    *mesh = (orr_mesh_file){0};
}

static void make_finite(float *values, int count)
{
    for (int i = 0; i < count; i++) {
        values[i] = isfinite(values[i]) ? values[i] : 0.0f;
    }
}

static orr_result check_vertices(const orr_mesh_reader *reader)
{
    orr_mesh_file *mesh = reader->mesh;
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        orr_mesh_file_vertex *v = &mesh->vertices[i];
        if (!isfinite(v->position[0]) || !isfinite(v->position[1]) || !isfinite(v->position[2])) {
            return orr_mesh_fail(reader, "vertex %lld: expected a finite position", (long long)i);
        }
        make_finite(v->normal, 3);
        make_finite(v->texcoord, 2);
        make_finite(v->second, 2);
        make_finite(v->colour, 4);
    }
    return ORR_OK;
}

// Of an .obj what has neither a material nor vertex colours.
static bool is_grey(const orr_mesh_reader *reader)
{
    const orr_mesh_file *mesh = reader->mesh;
    bool coloured = false;
    for (int64_t i = 0; i < mesh->vertex_count && !coloured; i++) {
        const float *c = mesh->vertices[i].colour;
        coloured = c[0] != 1.0f || c[1] != 1.0f || c[2] != 1.0f;
    }
    return reader_of(reader->desc->path) == orr_mesh_read_obj && !coloured;
}

static orr_result check_materials(orr_mesh_reader *reader)
{
    orr_mesh_file *mesh = reader->mesh;
    int plain = -1; // the material of parts that have none
    for (int i = 0; i < mesh->part_count; i++) {
        if (mesh->parts[i].material < 0 && plain < 0) {
            orr_mesh_material *material;
            const bool gltf = reader_of(reader->desc->path) == orr_mesh_read_gltf;
            ORR_TRY(orr_mesh_add_material(reader, &material));
            material->two_sided = !gltf;
            material->metallic_roughness = gltf; // glTF's default material is a rough white metal
            material->metallic = material->roughness = gltf ? 1.0f : 0.0f;
            for (int k = 0; k < 3 && is_grey(reader); k++) {
                material->base_colour[k] = ORR_OBJ_GREY;
            }
            plain = mesh->material_count - 1;
        }
        mesh->parts[i].material = mesh->parts[i].material < 0 ? plain : mesh->parts[i].material;
    }
    const bool ply = reader_of(reader->desc->path) == orr_mesh_read_ply;
    mesh->plain_material = ply && mesh->materials[0].texture < 0 ? 0 : plain;
    for (int i = 0; i < mesh->material_count; i++) {
        for (int k = 0; k < 4; k++) {
            if (!isfinite(mesh->materials[i].base_colour[k])) {
                return orr_mesh_fail(reader, "material %d: expected a base colour of finite numbers", i);
            }
        }
    }
    return ORR_OK;
}

static orr_result finish(orr_mesh_reader *reader)
{
    orr_mesh_file *mesh = reader->mesh;
    if (mesh->index_count == 0) {
        const char *unused = reader->mesh->unused; // splats or points in glTF, for example
        return orr_mesh_fail(reader, "no triangles: expected at least one%s%s",
                             unused[0] ? ", not only what is not supported: " : "", unused);
    }
    mesh->part_count -= mesh->parts[mesh->part_count - 1].index_count == 0;
    ORR_TRY(check_vertices(reader));
    ORR_TRY(check_materials(reader));
    for (int64_t i = 0; i < mesh->vertex_count && reader->desc->make_normals &&
                        reader_of(reader->desc->path) == orr_mesh_read_stl;
         i++) { // its normals only repeat the winding
        for (int k = 0; k < 3; k++) {
            mesh->vertices[i].normal[k] = 0.0f;
        }
    }
    if (reader->desc->make_normals) {
        ORR_TRY(orr_mesh_make_normals(mesh, reader->error));
    }
    return reader->desc->share_vertices ? orr_mesh_share_vertices(mesh, reader->error) : ORR_OK;
}

orr_result orr_mesh_file_read(const orr_mesh_file_desc *desc, orr_mesh_file *mesh, orr_error *error)
{
    *mesh = (orr_mesh_file){0};
    mesh_read_fn read = reader_of(desc->path);
    if (!read) {
        return orr_fail(error, ORR_CODE_MESH_FILE, "%s: expected a mesh: .glb .gltf .obj .stl .ply or .dae",
                        desc->path);
    }
    orr_mesh_reader reader = {.desc = desc, .mesh = mesh, .error = error};
    if (desc->bytes) {
        reader.bytes = *desc->bytes;
    } else {
        ORR_TRY(orr_file_read(desc->path, &reader.bytes, error));
    }
    reader.all_bytes = reader.bytes.size;
    orr_result result = read(&reader);
    result = result == ORR_OK ? finish(&reader) : result;
    for (int i = 0; i < reader.name_room; i++) {
        orr_free(reader.texture_names[i]);
    }
    orr_free(reader.texture_names);
    if (!desc->bytes) {
        orr_free(reader.bytes.data);
    }
    if (result != ORR_OK) {
        orr_mesh_file_free(mesh);
    }
    return result;
}
