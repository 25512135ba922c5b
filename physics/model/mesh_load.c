// Triangles of a mesh: from the model itself, from a .msh file, or from others by assimp.
#include "physics/model/compile.h"
#include "physics/model/rotation.h"

#include "engine/core/file.h"
#include "orr_features.h"

#if ORR_HAVE_MESH
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#endif

enum { COUNT_MAX = 1 << 26 };

void mesh_data_free(mesh_data *d)
{
    orr_free(d->vertices);
    orr_free(d->normals);
    orr_free(d->texcoords);
    orr_free(d->faces);
    orr_free(d->hull_vertices);
    orr_free(d->hull_faces);
    orr_free(d->hull_edge_start);
    orr_free(d->hull_edge_number);
    orr_free(d->hull_edges);
}

static orr_result take(mesh_data *d, int vertices, int faces, orr_error *error)
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
    if ((mesh->normal.count && mesh->normal.count != 3 * vertices) ||
        (mesh->texcoord.count && mesh->texcoord.count != 2 * vertices)) {
        return spec_fail(&mesh->head, error, "normal and texcoord: expected 3 and 2 numbers for each vertex");
    }
    ORR_TRY(take(d, vertices, faces, error));
    for (int i = 0; i < 3 * vertices; i++) {
        d->vertices[i] = (float)mesh->vertex.values[i];
        d->normals[i] = mesh->normal.count ? (float)mesh->normal.values[i] : 0.0f;
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
    ORR_TRY(take(d, counts[0], counts[3], error));
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

#if ORR_HAVE_MESH

static orr_result count_scene(const spec_mesh *mesh, const struct aiScene *scene, int *vertices, int *faces,
                              orr_error *error)
{
    int64_t vertex_sum = 0, face_sum = 0;
    for (unsigned i = 0; i < scene->mNumMeshes; i++) {
        const struct aiMesh *part = scene->mMeshes[i];
        vertex_sum += part->mNumVertices;
        for (unsigned f = 0; f < part->mNumFaces; f++) {
            face_sum += part->mFaces[f].mNumIndices == 3; // points and lines have no volume
            for (unsigned k = 0; k < part->mFaces[f].mNumIndices; k++) {
                if (part->mFaces[f].mIndices[k] >= part->mNumVertices) {
                    return spec_fail(&mesh->head, error,
                                     "file '%.200s': a face has a vertex that is not there", mesh->file);
                }
            }
        }
    }
    if (vertex_sum < 4 || face_sum < 1 || vertex_sum > COUNT_MAX || face_sum > COUNT_MAX) {
        return spec_fail(&mesh->head, error, "file '%.200s': expected 4 to %d vertices, and triangles",
                         mesh->file, COUNT_MAX);
    }
    *vertices = (int)vertex_sum, *faces = (int)face_sum;
    return ORR_OK;
}

static void copy_scene(const struct aiScene *scene, mesh_data *d)
{
    int first = 0, face = 0;
    for (unsigned i = 0; i < scene->mNumMeshes; i++) {
        const struct aiMesh *part = scene->mMeshes[i];
        for (unsigned v = 0; v < part->mNumVertices; v++) {
            int at = first + (int)v;
            memcpy(d->vertices + 3 * at, &part->mVertices[v], 3 * sizeof(float));
            if (part->mNormals) {
                memcpy(d->normals + 3 * at, &part->mNormals[v], 3 * sizeof(float));
            }
            if (part->mTextureCoords[0]) {
                memcpy(d->texcoords + 2 * at, &part->mTextureCoords[0][v], 2 * sizeof(float));
            }
        }
        for (unsigned f = 0; f < part->mNumFaces; f++) {
            if (part->mFaces[f].mNumIndices == 3) {
                for (int k = 0; k < 3; k++) {
                    d->faces[3 * face + k] = first + (int)part->mFaces[f].mIndices[k];
                }
                face++;
            }
        }
        first += (int)part->mNumVertices;
    }
}

// Collada files say which way is up; the robots that use them mean their coordinates as they are.
static const struct aiScene *import_scene(const orr_bytes *bytes, const char *kind)
{
    struct aiPropertyStore *properties = aiCreatePropertyStore();
    if (!properties) {
        return NULL;
    }
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
    const struct aiScene *scene = aiImportFileFromMemoryWithProperties(
        (const char *)bytes->data, (unsigned)bytes->size,
        aiProcess_Triangulate | aiProcess_PreTransformVertices, kind, properties);
    aiReleasePropertyStore(properties);
    return scene;
}

static orr_result read_scene(const spec_mesh *mesh, const orr_bytes *bytes, mesh_data *d, orr_error *error)
{
    const char *dot = strrchr(orr_path_name(mesh->file), '.');
    const struct aiScene *scene = bytes->size <= UINT32_MAX ? import_scene(bytes, dot ? dot + 1 : "") : NULL;
    if (!scene) {
        return spec_fail(&mesh->head, error, "file '%.200s': expected a mesh (.stl .obj ...): %.100s",
                         mesh->file, aiGetErrorString());
    }
    int vertices = 0, faces = 0;
    orr_result result = count_scene(mesh, scene, &vertices, &faces, error);
    if (result == ORR_OK) {
        result = take(d, vertices, faces, error);
    }
    if (result == ORR_OK) {
        copy_scene(scene, d);
    }
    aiReleaseImport(scene);
    return result;
}

#else

static orr_result read_scene(const spec_mesh *mesh, const orr_bytes *bytes, mesh_data *d, orr_error *error)
{
    (void)bytes, (void)d;
    return orr_fail(
        error, ORR_CODE_FEATURE_ABSENT,
        "%s:%d: this build reads no mesh files but .msh: expected one with the Debian package libassimp-dev",
        mesh->head.location.file, mesh->head.location.line);
}

#endif

static orr_result read_file(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    orr_bytes bytes; // opened first: assimp does not say why a file cannot be read
    orr_error reason;
    if (orr_file_read(mesh->file, &bytes, &reason) != ORR_OK) {
        return spec_fail(&mesh->head, error, "file: %.300s", reason.message);
    }
    orr_result result = orr_path_has_ending(mesh->file, ".msh") ? read_msh(mesh, &bytes, d, error)
                                                                : read_scene(mesh, &bytes, d, error);
    orr_free(bytes.data);
    return result;
}

orr_result mesh_load(const spec_mesh *mesh, mesh_data *d, orr_error *error)
{
    ORR_TRY(mesh->file ? read_file(mesh, d, error) : read_numbers(mesh, d, error));
    for (int i = 0; i < 3 * d->vertex_count; i++) {
        if (!isfinite(d->vertices[i])) {
            return spec_fail(&mesh->head, error, "vertex %d: expected finite numbers", i / 3);
        }
    }
    return ORR_OK;
}
