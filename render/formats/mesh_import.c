// From mesh files to the form in which meshes are drawn.
#define ORR_SCALAR
#include "render/mesh.h"

#include "engine/core/memory.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static uint8_t colour_byte(float value, bool linear)
{
    float c = value > 0.0f ? value < 1.0f ? value : 1.0f : 0.0f;
    return (uint8_t)(255.0f * (linear ? linear_to_srgb(c) : c) + 0.5f);
}

static void take_vertex(const orr_mesh_file *file, int64_t i, orr_mesh_vertex *vertex)
{
    const orr_mesh_file_vertex *from = &file->vertices[i];
    const float *n = from->normal, *colour = from->colour;
    memcpy(vertex->position, from->position, sizeof vertex->position);
    float length = sqrtf(vec3f_dot(n, n));
    bool usable = isfinite(length) && length > 0.0f; // triangles without an area have no normal
    for (int k = 0; k < 3; k++) {
        vertex->normal[k] = usable ? n[k] / length : k == 2;
        vertex->colour[k] = colour_byte(colour[k], file->linear_colours);
    }
    vertex->colour[3] = colour_byte(colour[3], false);
    vertex->uv[0] = from->texcoord[0];
    vertex->uv[1] = 1.0f - from->texcoord[1];
}

static orr_result take_vertices(const orr_mesh_file *file, orr_mesh *mesh, orr_error *error)
{
    mesh->vertex_count = file->vertex_count;
    ORR_ALLOC(mesh->vertices, mesh->vertex_count, "vertices", error);
    for (int k = 0; k < 3; k++) {
        mesh->low[k] = INFINITY;
        mesh->high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        take_vertex(file, i, &mesh->vertices[i]);
        for (int k = 0; k < 3; k++) {
            mesh->low[k] = fminf(mesh->low[k], mesh->vertices[i].position[k]);
            mesh->high[k] = fmaxf(mesh->high[k], mesh->vertices[i].position[k]);
        }
    }
    return ORR_OK;
}

// The second coordinates, where a material lays a texture on by them.
static orr_result take_second(const orr_mesh_file *file, orr_mesh *mesh, orr_error *error)
{
    bool some = false;
    for (int i = 0; i < file->material_count; i++) {
        some |= orr_material_has_second(&file->materials[i]);
    }
    if (!some) {
        return ORR_OK;
    }
    ORR_ALLOC(mesh->second_uv, 2 * mesh->vertex_count, "texture coordinates", error);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        mesh->second_uv[2 * i] = file->vertices[i].second[0];
        mesh->second_uv[2 * i + 1] = 1.0f - file->vertices[i].second[1];
    }
    return ORR_OK;
}

// Takes over what the reader already has in the right form.
static void take_rest(orr_mesh_file *file, orr_mesh *mesh)
{
    mesh->indices = file->indices;
    mesh->parts = file->parts;
    mesh->materials = file->materials;
    mesh->textures = file->textures;
    mesh->index_count = file->index_count;
    mesh->part_count = file->part_count;
    mesh->material_count = file->material_count;
    mesh->texture_count = file->texture_count;
    mesh->lights = file->lights;
    mesh->light_count = file->light_count;
    file->lights = NULL;
    memcpy(mesh->unused, file->unused, sizeof mesh->unused);
    file->indices = NULL;
    file->parts = NULL;
    file->materials = NULL;
    file->textures = NULL;
}

orr_result orr_mesh_take(orr_mesh_file *file, orr_mesh **out, orr_error *error)
{
    *out = NULL;
    orr_mesh *mesh = orr_alloc_zero(1, sizeof *mesh);
    orr_result result = mesh ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mesh");
    if (result == ORR_OK) {
        result = take_vertices(file, mesh, error);
        result = result == ORR_OK ? take_second(file, mesh, error) : result;
        take_rest(file, mesh);
    }
    if (result == ORR_OK) {
        result = orr_mesh_build_mips(mesh, error);
    }
    if (result != ORR_OK) {
        orr_mesh_destroy(mesh);
        return result;
    }
    *out = mesh;
    return ORR_OK;
}

orr_result orr_mesh_load(const char *path, orr_mesh **mesh, orr_error *error)
{
    const orr_mesh_file_desc desc = {
        .path = path, .share_vertices = true, .make_normals = true, .read_textures = true};
    orr_mesh_file file;
    *mesh = NULL;
    ORR_TRY(orr_mesh_file_read(&desc, &file, error));
    orr_result result = orr_mesh_take(&file, mesh, error);
    orr_mesh_file_free(&file);
    return result;
}
