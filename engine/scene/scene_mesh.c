// Meshes in memory become layers, by the path that files take once they are read.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/mesh/mesh_normals.h"
#include "engine/scene/scene.h"

#include <math.h>
#include <string.h>

static bool all_finite(const float *values, int64_t count)
{
    for (int64_t i = 0; i < count && values; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

// What is wrong with a desc: what was expected instead; NULL: nothing.
static const char *expected_of(const orr_mesh_desc *d)
{
    if (d->vertex_count < 1 || d->vertex_count > ORR_MESH_VERTEX_MAX) {
        return "a vertex_count of 1 to 238609294";
    }
    if (d->index_count < 3 || d->index_count > ORR_MESH_INDEX_MAX || d->index_count % 3 != 0) {
        return "an index_count of 3 to 2^31 - 1, a multiple of 3";
    }
    if (!d->positions || !d->indices) {
        return "positions and indices";
    }
    if (!all_finite(d->positions, 3 * d->vertex_count) || !all_finite(d->normals, 3 * d->vertex_count) ||
        !all_finite(d->texcoords, 2 * d->vertex_count) || !all_finite(d->colours, 4 * d->vertex_count)) {
        return "finite positions, normals, texture coordinates and colours";
    }
    for (int64_t i = 0; i < d->index_count; i++) {
        if (d->indices[i] >= d->vertex_count) {
            return "indices below vertex_count";
        }
    }
    if (d->texture && (d->texture_width < 1 || d->texture_width > ORR_MESH_TEXTURE_SIDE_MAX ||
                       d->texture_height < 1 || d->texture_height > ORR_MESH_TEXTURE_SIDE_MAX)) {
        return "a texture with sides of 1 to 32768";
    }
    for (int i = 0; i < 4; i++) {
        if (!(d->base_colour[i] >= 0.0f && d->base_colour[i] <= 1.0f)) {
            return "a base_colour of numbers from 0 to 1";
        }
    }
    return d->alpha_cutoff >= 0.0f && d->alpha_cutoff <= 1.0f ? NULL : "an alpha_cutoff of 0 to 1";
}

static orr_result copy_vertices(const orr_mesh_desc *d, orr_mesh_file *mesh, orr_error *error)
{
    size_t count = (size_t)d->vertex_count;
    mesh->vertex_count = d->vertex_count;
    ORR_ALLOC(mesh->vertices, count, "vertices", error);
    for (size_t i = 0; i < count; i++) { // a file's v is 0 at the bottom row
        orr_mesh_file_vertex *vertex = &mesh->vertices[i];
        *vertex = (orr_mesh_file_vertex){.texcoord = {0.0f, 1.0f}, .colour = {1.0f, 1.0f, 1.0f, 1.0f}};
        memcpy(vertex->position, d->positions + 3 * i, sizeof vertex->position);
        if (d->texcoords) {
            vertex->texcoord[0] = d->texcoords[2 * i];
            vertex->texcoord[1] = 1.0f - d->texcoords[2 * i + 1];
        }
        if (d->colours) {
            memcpy(vertex->colour, d->colours + 4 * i, sizeof vertex->colour);
        }
        if (d->normals) {
            memcpy(vertex->normal, d->normals + 3 * i, sizeof vertex->normal);
        }
    }
    ORR_ALLOC(mesh->indices, d->index_count, "triangles", error);
    memcpy(mesh->indices, d->indices, (size_t)d->index_count * sizeof *d->indices);
    mesh->index_count = d->index_count;
    return d->normals ? ORR_OK : orr_mesh_make_normals(mesh, error);
}

static orr_result copy_material(const orr_mesh_desc *d, orr_mesh_file *mesh, orr_error *error)
{
    ORR_ALLOC(mesh->parts, 1, "a part of a mesh", error);
    ORR_ALLOC(mesh->materials, 1, "a material", error);
    mesh->part_count = mesh->material_count = 1;
    mesh->parts[0] = (orr_mesh_part){.index_count = (uint32_t)mesh->index_count};
    orr_mesh_material *material = &mesh->materials[0];
    *material = (orr_mesh_material){.texture = d->texture ? 0 : -1,
                                    .two_sided = d->two_sided,
                                    .blended = d->blended,
                                    .alpha_cutoff = d->alpha_cutoff};
    bool given = false;
    for (int i = 0; i < 4; i++) {
        given = given || d->base_colour[i] != 0.0f;
    }
    for (int i = 0; i < 4; i++) {
        material->base_colour[i] = given ? d->base_colour[i] : 1.0f;
    }
    if (!d->texture) {
        return ORR_OK;
    }
    size_t size = 4 * (size_t)d->texture_width * (size_t)d->texture_height;
    ORR_ALLOC(mesh->textures, 1, "a texture", error);
    mesh->textures[0] = (orr_image8){d->texture_width, d->texture_height, NULL};
    mesh->texture_count = 1;
    ORR_ALLOC(mesh->textures[0].rgba, size, "a texture", error);
    memcpy(mesh->textures[0].rgba, d->texture, size);
    return ORR_OK;
}

orr_result orr_scene_add_mesh_sized(orr_scene *scene, const char *name, const orr_mesh_desc *desc,
                                    size_t desc_size, const orr_transform *transform, orr_layer *id,
                                    orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    orr_mesh_desc d;
    name = name ? name : "mesh";
    ORR_TRY(orr_sized_read(&d, sizeof d, desc, desc_size, "orr_mesh_desc", error));
    const char *expected = expected_of(&d);
    if (expected) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "mesh %s: expected %s", name, expected);
    }
    orr_mesh_file file = {0};
    orr_layer_data layer = {.kind = ORR_LAYER_MESH, .visible = true};
    orr_result result = copy_vertices(&d, &file, error);
    result = result == ORR_OK ? copy_material(&d, &file, error) : result;
    result = result == ORR_OK ? orr_mesh_take(&file, &layer.mesh, error) : result;
    orr_mesh_file_free(&file);
    ORR_TRY(result);
    ORR_TRY(orr_scene_append(scene, layer, name, transform, error));
    if (id) {
        *id = orr_scene_layer(scene, scene->layer_count - 1);
    }
    return ORR_OK;
}
