// Triangles of a mesh: from the model itself, builtin, of a function, from a .msh file, or from one of the
// formats that engine/mesh reads.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

#include "engine/core/file.h"
#include "engine/mesh/mesh_file.h"

#include <string.h>

enum { COUNT_MAX = 1 << 26 };

void mesh_data_free(mesh_data *d)
{
    orr_free(d->vertices);
    orr_free(d->normals);
    orr_free(d->texcoords);
    orr_free(d->faces);
    orr_free(d->hull_vertices);
    orr_free(d->hull_faces);
    orr_free(d->hull_angles);
    orr_free(d->points_listed);
    orr_free(d->hull_edge_start);
    orr_free(d->hull_edge_number);
    orr_free(d->hull_edges);
    orr_free(d->hull_points);
    orr_free(d->exact);
    orr_free(d->octree_child);
    orr_free(d->octree_coeff);
    orr_free(d->points);
    orr_free(d->tangents);
}

orr_result mesh_data_take(mesh_data *d, int vertices, int faces, orr_error *error)
{
    size_t count = (size_t)vertices;
    d->vertex_count = vertices, d->face_count = faces;
    d->vertices = orr_alloc_zero(3 * count, sizeof(float));
    d->normals = orr_alloc_zero(3 * count, sizeof(float));
    d->texcoords = orr_alloc_zero(2 * count, sizeof(float));
    d->faces = orr_alloc_zero(3 * (size_t)faces, sizeof(int32_t));
    return d->vertices && d->normals && d->texcoords && d->faces ? ORR_OK : spec_memory_fail(error);
}

static orr_result read_numbers(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    int vertices = mesh->vertex.count / 3, faces = mesh->face.count / 3;
    if (mesh->vertex.count % 3 || vertices < 4 || mesh->face.count % 3) {
        return spec_fail(&mesh->head, error, "vertex and face: expected triples, and 4 vertices or more");
    }
    const int per_vertex = vertices ? mesh->normal.count / vertices : 0; // 9: a normal and two tangents
    if ((mesh->normal.count && (mesh->normal.count % vertices || (per_vertex != 3 && per_vertex != 9))) ||
        (mesh->texcoord.count && mesh->texcoord.count != 2 * vertices)) {
        return spec_fail(&mesh->head, error,
                         "normal and texcoord: expected 3 (or 9: with two tangents) and 2 numbers for each "
                         "vertex");
    }
    ORR_TRY(mesh_data_take(d, vertices, faces, error));
    for (int i = 0; i < 3 * vertices; i++) {
        d->vertices[i] = (float)mesh->vertex.values[i];
        d->normals[i] = mesh->normal.count ? (float)mesh->normal.values[i / 3 * per_vertex + i % 3] : 0.0f;
    }
    for (int i = 0; i < mesh->texcoord.count; i++) {
        d->texcoords[i] = (float)mesh->texcoord.values[i];
    }
    for (int i = 0; i < 3 * faces; i++) {
        double index = mesh->face.values[i];
        if (!(index >= 0.0) || index >= vertices || index != floor(index)) {
            return spec_fail(&mesh->head, error, "face: expected indices of vertices, 0 to %d", vertices - 1);
        }
        d->faces[i] = (int32_t)index;
    }
    return ORR_OK;
}

// MuJoCo's own binary format: counts of vertices, normals, texture coordinates and faces, then floats and
// indices.
static orr_result read_msh(const spec_mesh *mesh, const orr_bytes *bytes, mesh_data *d, orr_error *error)
{
    int32_t counts[4];
    size_t header = sizeof counts, expected = header;
    static const int columns[4] = {3, 3, 2, 3};
    bool good = bytes->size >= header;
    memcpy(counts, good ? bytes->data : (const uint8_t[sizeof counts]){0}, header);
    for (int i = 0; i < 4 && good; i++) {
        good = counts[i] >= 0 && counts[i] <= COUNT_MAX;
        expected += good ? 4 * (size_t)columns[i] * (size_t)counts[i] : 0;
    }
    good = good && counts[0] >= 4 && (counts[1] == 0 || counts[1] == counts[0]) &&
           (counts[2] == 0 || counts[2] == counts[0]) && expected == bytes->size;
    if (!good) {
        return spec_fail(
            &mesh->head, error,
            "file '%.200s': expected 4 vertices or more, normals and texture coordinates of all or none, "
            "faces, and nothing behind them",
            mesh->file);
    }
    ORR_TRY(mesh_data_take(d, counts[0], counts[3], error));
    void *const arrays[4] = {d->vertices, d->normals, d->texcoords, d->faces};
    const uint8_t *at = bytes->data + header;
    for (int i = 0; i < 4; i++) {
        size_t size = 4 * (size_t)columns[i] * (size_t)counts[i];
        memcpy(arrays[i], at, size);
        at += size;
    }
    for (int i = 0; i < 3 * d->face_count; i++) {
        if (d->faces[i] < 0 || d->faces[i] >= d->vertex_count) {
            return spec_fail(&mesh->head, error, "file '%.200s': a face has a vertex that is not there",
                             mesh->file);
        }
    }
    return ORR_OK;
}

// Other formats. Collada files name an up axis, which robots that use them ignore.
static orr_result read_others(const spec_mesh *mesh, const orr_bytes *bytes, mesh_data *d, orr_error *error)
{
    const orr_mesh_file_desc desc = {
        .path = mesh->file, .bytes = bytes, .keep_axes = true, .polygons_as_mujoco = true};
    orr_mesh_file file;
    orr_error reason;
    orr_result result = orr_mesh_file_read(&desc, &file, &reason);
    if (result != ORR_OK) {
        return spec_fail(&mesh->head, error, "file: %.300s", reason.message);
    }
    if (file.vertex_count < (mesh->thickens ? 3 : 4) || file.vertex_count > COUNT_MAX ||
        file.index_count / 3 > COUNT_MAX) {
        result = spec_fail(&mesh->head, error, "file '%.200s': expected 4 to %d vertices, and triangles",
                           mesh->file, COUNT_MAX);
    } else {
        result = mesh_data_take(d, (int)file.vertex_count, (int)(file.index_count / 3), error);
    }
    for (size_t i = 0; result == ORR_OK && i < (size_t)file.vertex_count; i++) {
        const orr_mesh_file_vertex *vertex = &file.vertices[i];
        memcpy(d->vertices + 3 * i, vertex->position, sizeof vertex->position);
        memcpy(d->normals + 3 * i, vertex->normal, sizeof vertex->normal);
        memcpy(d->texcoords + 2 * i, vertex->texcoord, sizeof vertex->texcoord);
    }
    if (result == ORR_OK) {
        memcpy(d->faces, file.indices, (size_t)file.index_count * sizeof(int32_t));
        d->corners = !file.points;
        d->points_listed = file.points;
        d->points_listed_count = (int)file.point_count;
        file.points = NULL;
    }
    orr_mesh_file_free(&file);
    return result;
}

static orr_result read_file(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    orr_bytes bytes;
    orr_error reason;
    if (orr_file_read(mesh->file, &bytes, &reason) != ORR_OK) {
        return spec_fail(&mesh->head, error, "file: %.300s", reason.message);
    }
    orr_result result = orr_path_has_ending(mesh->file, ".msh") ? read_msh(mesh, &bytes, d, error)
                                                                : read_others(mesh, &bytes, d, error);
    orr_free(bytes.data);
    return result;
}

orr_result mesh_load(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    ORR_TRY(mesh->function.kind ? mesh_of_function(mesh, d, error)
            : mesh->builtin     ? mesh_builtin(mesh, d, error)
            : mesh->file        ? read_file(mesh, d, error)
                                : read_numbers(mesh, d, error));
    for (int i = 0; i < 3 * d->vertex_count; i++) {
        if (!isfinite(d->vertices[i])) {
            return spec_fail(&mesh->head, error, "vertex %d: expected finite numbers", i / 3);
        }
    }
    return ORR_OK;
}
