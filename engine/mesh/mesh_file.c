// Mesh files through assimp: read as they are, checked, then processed and flattened.
#include "engine/mesh/mesh_file.h"

#include "engine/core/camera.h"
#include "engine/core/memory.h"
#include "engine/core/vector.h"
#include "engine/mesh/mesh_file_import.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const float crease_angle = 60.0f; // [degrees] sharper edges stay edges

bool orr_mesh_readable(const char *path)
{
    const char *ending = strrchr(orr_path_name(path), '.');
    return ending && aiIsExtensionSupported(ending) == AI_TRUE;
}

// Before assimp's own steps see them: these trust indices and compare positions.
static orr_result check_scene(const mesh_import *in)
{
    const char *path = in->desc->path;
    for (unsigned m = 0; m < in->scene->mNumMeshes; m++) {
        const struct aiMesh *mesh = in->scene->mMeshes[m];
        for (unsigned i = 0; i < mesh->mNumVertices; i++) {
            struct aiVector3D p = mesh->mVertices[i];
            if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) {
                return orr_fail(in->error, ORR_CODE_MESH_FILE,
                                "%s: mesh %u, vertex %u: expected a finite position", path, m, i);
            }
        }
        for (unsigned f = 0; f < mesh->mNumFaces; f++) {
            for (unsigned k = 0; k < mesh->mFaces[f].mNumIndices; k++) {
                if (mesh->mFaces[f].mIndices[k] >= mesh->mNumVertices) {
                    return orr_fail(in->error, ORR_CODE_MESH_FILE,
                                    "%s: mesh %u, face %u: vertex %u: expected less than %u", path, m, f,
                                    mesh->mFaces[f].mIndices[k], mesh->mNumVertices);
                }
            }
        }
        if (mesh->mMaterialIndex >= in->scene->mNumMaterials) {
            return orr_fail(in->error, ORR_CODE_MESH_FILE, "%s: mesh %u: material %u: expected less than %u",
                            path, m, mesh->mMaterialIndex, in->scene->mNumMaterials);
        }
    }
    return ORR_OK;
}

static const struct aiScene *read_scene(const orr_mesh_file_desc *desc)
{
    const char *dot = strrchr(orr_path_name(desc->path), '.');
    struct aiPropertyStore *properties = aiCreatePropertyStore();
    aiSetImportPropertyFloat(properties, AI_CONFIG_PP_GSN_MAX_SMOOTHING_ANGLE, crease_angle);
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, desc->keep_axes);
    const struct aiScene *scene = NULL;
    if (!desc->bytes) {
        scene = aiImportFileExWithProperties(desc->path, 0, NULL, properties);
    } else if (desc->bytes->size <= UINT32_MAX) {
        scene = aiImportFileFromMemoryWithProperties(
            (const char *)desc->bytes->data, (unsigned)desc->bytes->size, 0, dot ? dot + 1 : "", properties);
    }
    aiReleasePropertyStore(properties);
    return scene;
}

static unsigned steps_of(const orr_mesh_file_desc *desc)
{
    unsigned steps = aiProcess_Triangulate;
    steps |= desc->share_vertices ? aiProcess_JoinIdenticalVertices : 0u;
    steps |= desc->make_normals ? aiProcess_GenSmoothNormals : 0u;
    if (desc->make_normals && orr_path_has_ending(desc->path, ".stl")) {
        steps |= aiProcess_ForceGenNormals; // its normals only repeat the winding
    }
    return steps;
}

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

static float finite_or_zero(float value)
{
    return isfinite(value) ? value : 0.0f;
}

// pose: of the mesh's node; normal_pose: its normal_transform
static void read_vertex(const struct aiMesh *from, unsigned i, const float pose[12],
                        const float normal_pose[12], orr_mesh_file *mesh)
{
    size_t at = (size_t)mesh->vertex_count++;
    const struct aiVector3D p = from->mVertices[i];
    const struct aiVector3D n = from->mNormals ? from->mNormals[i] : (struct aiVector3D){0};
    affine_apply_to_point(pose, (float[]){p.x, p.y, p.z}, mesh->positions + 3 * at);
    affine_apply_to_direction(normal_pose, (float[]){n.x, n.y, n.z}, mesh->normals + 3 * at);
    if (from->mTextureCoords[0]) {
        mesh->texcoords[2 * at] = finite_or_zero(from->mTextureCoords[0][i].x);
        mesh->texcoords[2 * at + 1] = finite_or_zero(from->mTextureCoords[0][i].y);
    }
    const struct aiColor4D white = {1.0f, 1.0f, 1.0f, 1.0f},
                           c = from->mColors[0] ? from->mColors[0][i] : white;
    memcpy(mesh->colours + 4 * at, (float[]){c.r, c.g, c.b, c.a}, 4 * sizeof(float));
}

static void add_mesh(const mesh_import *in, const struct aiMesh *from, const float pose[12])
{
    orr_mesh_file *mesh = in->mesh;
    float normal_pose[12];
    bool mirrors = normal_transform(pose, normal_pose);
    uint32_t base = (uint32_t)mesh->vertex_count;
    for (unsigned i = 0; i < from->mNumVertices; i++) {
        read_vertex(from, i, pose, normal_pose, mesh);
    }
    orr_mesh_part *part = mesh->part_count > 0 ? &mesh->parts[mesh->part_count - 1] : NULL;
    if (!part || part->material != (int)from->mMaterialIndex) {
        part = &mesh->parts[mesh->part_count++];
        *part = (orr_mesh_part){(uint32_t)mesh->index_count, 0, (int)from->mMaterialIndex};
    }
    for (unsigned f = 0; f < from->mNumFaces; f++) {
        const unsigned *corner = from->mFaces[f].mIndices;
        if (from->mFaces[f].mNumIndices != 3) {
            continue; // a point or a line
        }
        uint32_t *index = mesh->indices + mesh->index_count;
        index[0] = base + corner[0];
        index[1] = base + corner[mirrors ? 2 : 1];
        index[2] = base + corner[mirrors ? 1 : 2];
        mesh->index_count += 3;
        part->index_count += 3;
    }
}

typedef struct totals {
    int64_t vertices, indices, parts;
} totals;

// Visits a node and all below it: counts their meshes when `sum` is given, otherwise adds them.
static void visit(const mesh_import *in, const struct aiNode *node, const float above[12], totals *sum)
{
    const struct aiMatrix4x4 *m = &node->mTransformation;
    float pose[12] = {m->a1, m->a2, m->a3, m->a4, m->b1, m->b2, m->b3, m->b4, m->c1, m->c2, m->c3, m->c4};
    orr_affine_multiply(above, pose, pose);
    for (unsigned i = 0; i < node->mNumMeshes; i++) {
        const struct aiMesh *from = in->scene->mMeshes[node->mMeshes[i]];
        if (!(from->mPrimitiveTypes & aiPrimitiveType_TRIANGLE)) {
            continue;
        }
        if (sum) {
            sum->vertices += from->mNumVertices;
            sum->indices += 3 * (int64_t)from->mNumFaces;
            sum->parts++;
        } else {
            add_mesh(in, from, pose);
        }
    }
    for (unsigned i = 0; i < node->mNumChildren; i++) {
        visit(in, node->mChildren[i], pose, sum);
    }
}

static orr_result allocate(orr_mesh_file *mesh, const totals *sum, orr_error *error)
{
    size_t vertices = (size_t)sum->vertices;
    ORR_ALLOC(mesh->positions, 3 * vertices, "vertices", error);
    ORR_ALLOC(mesh->normals, 3 * vertices, "normals", error);
    ORR_ALLOC(mesh->colours, 4 * vertices, "vertex colours", error);
    ORR_ALLOC(mesh->indices, sum->indices, "triangles", error);
    ORR_ALLOC(mesh->parts, sum->parts, "parts of a mesh", error);
    mesh->texcoords = orr_alloc_zero(vertices, 2 * sizeof *mesh->texcoords);
    return mesh->texcoords ? ORR_OK
                           : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: texture coordinates");
}

static orr_result read_triangles(const mesh_import *in)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const char *path = in->desc->path;
    orr_mesh_file *mesh = in->mesh;
    totals sum = {0};
    visit(in, in->scene->mRootNode, identity, &sum);
    if (sum.vertices > ORR_MESH_VERTEX_MAX || sum.indices > ORR_MESH_INDEX_MAX) {
        return orr_fail(in->error, ORR_CODE_MESH_FILE,
                        "%s: %lld vertices, %lld triangles: expected at most %d and %d", path,
                        (long long)sum.vertices, (long long)sum.indices / 3, ORR_MESH_VERTEX_MAX,
                        ORR_MESH_INDEX_MAX / 3);
    }
    ORR_TRY(allocate(mesh, &sum, in->error));
    visit(in, in->scene->mRootNode, identity, NULL);
    if (mesh->index_count == 0) {
        return orr_fail(in->error, ORR_CODE_MESH_FILE, "%s: no triangles: expected at least one", path);
    }
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        if (!isfinite(mesh->positions[i])) {
            return orr_fail(in->error, ORR_CODE_MESH_FILE,
                            "%s: vertex %lld: expected a finite position after the transforms of its nodes",
                            path, (long long)i / 3);
        }
    }
    return ORR_OK;
}

static orr_result read_mesh(mesh_import *in)
{
    if (!in->scene) {
        return orr_fail(in->error, ORR_CODE_MESH_FILE, "%s: not a mesh that can be read: %s", in->desc->path,
                        aiGetErrorString());
    }
    ORR_TRY(check_scene(in));
    // none of these can fail on a scene that was checked: when one does, assimp 5.2 frees the scene twice
    in->scene = aiApplyPostProcessing(in->scene, steps_of(in->desc));
    if (!in->scene) {
        return orr_fail(in->error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory: its triangles",
                        in->desc->path);
    }
    ORR_TRY(orr_mesh_import_materials(in));
    return read_triangles(in);
}

static orr_result check_opens(const char *path,
                              orr_error *error) // assimp does not report why a file cannot be read
{
    FILE *file;
    ORR_TRY(orr_file_open(path, &file, error));
    fclose(file);
    return ORR_OK;
}

orr_result orr_mesh_file_read(const orr_mesh_file_desc *desc, orr_mesh_file *mesh, orr_error *error)
{
    *mesh = (orr_mesh_file){0};
    if (!desc->bytes) {
        ORR_TRY(check_opens(desc->path, error));
    }
    mesh_import in = {.desc = desc,
                      .scene = read_scene(desc),
                      .mesh = mesh,
                      .gltf =
                          orr_path_has_ending(desc->path, ".glb") || orr_path_has_ending(desc->path, ".gltf"),
                      .error = error};
    mesh->linear_colours = in.gltf;
    orr_result result = read_mesh(&in);
    for (int i = 0; i < mesh->texture_count; i++) {
        orr_free(in.texture_names[i]);
    }
    orr_free(in.texture_names);
    aiReleaseImport(in.scene);
    if (result != ORR_OK) {
        orr_mesh_file_free(mesh);
    }
    return result;
}
