#define ORR_SCALAR
#include "render/mesh.h"

#include "engine/core/camera.h"
#include "engine/core/colour_formula.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "orr_features.h"

#if !ORR_HAVE_MESH

bool orr_mesh_readable(const char *path)
{
    return orr_path_has_ending(path, ".glb") || orr_path_has_ending(path, ".gltf") ||
           orr_path_has_ending(path, ".obj") || orr_path_has_ending(path, ".stl");
}

orr_result orr_mesh_load(const char *path, orr_mesh **mesh, orr_error *error)
{
    *mesh = NULL;
    return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                    "%s: this build reads no meshes: expected one with the Debian package libassimp-dev",
                    path);
}

#else

#include <assimp/GltfMaterial.h>
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// lanes gather with 32-bit offsets in floats
enum { VERTEX_MAX = INT32_MAX / 9, INDEX_MAX = INT32_MAX, SIDE_MAX = 32768 };
static const float crease_angle = 60.0f; // [degrees] sharper edges stay edges

typedef struct import {
    const char *path;
    const struct aiScene *scene;
    orr_mesh *mesh;
    char **texture_names; // texture_count
    bool gltf;
    orr_error *error;
} import;

bool orr_mesh_readable(const char *path)
{
    const char *ending = strrchr(orr_path_name(path), '.');
    return ending && aiIsExtensionSupported(ending) == AI_TRUE;
}

// Before assimp's own steps see them: these trust indices and compare positions.
static orr_result check_scene(const import *in)
{
    for (unsigned m = 0; m < in->scene->mNumMeshes; m++) {
        const struct aiMesh *mesh = in->scene->mMeshes[m];
        for (unsigned i = 0; i < mesh->mNumVertices; i++) {
            struct aiVector3D p = mesh->mVertices[i];
            if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) {
                return orr_fail(in->error, ORR_CODE_MESH_FILE,
                                "%s: mesh %u, vertex %u: expected a finite position", in->path, m, i);
            }
        }
        for (unsigned f = 0; f < mesh->mNumFaces; f++) {
            for (unsigned k = 0; k < mesh->mFaces[f].mNumIndices; k++) {
                if (mesh->mFaces[f].mIndices[k] >= mesh->mNumVertices) {
                    return orr_fail(in->error, ORR_CODE_MESH_FILE,
                                    "%s: mesh %u, face %u: vertex %u: expected less than %u", in->path, m, f,
                                    mesh->mFaces[f].mIndices[k], mesh->mNumVertices);
                }
            }
        }
        if (mesh->mMaterialIndex >= in->scene->mNumMaterials) {
            return orr_fail(in->error, ORR_CODE_MESH_FILE, "%s: mesh %u: material %u: expected less than %u",
                            in->path, m, mesh->mMaterialIndex, in->scene->mNumMaterials);
        }
    }
    return ORR_OK;
}

static const struct aiScene *read_scene(const char *path)
{
    struct aiPropertyStore *properties = aiCreatePropertyStore();
    aiSetImportPropertyFloat(properties, AI_CONFIG_PP_GSN_MAX_SMOOTHING_ANGLE, crease_angle);
    const struct aiScene *scene = aiImportFileExWithProperties(path, 0, NULL, properties);
    aiReleasePropertyStore(properties);
    return scene;
}

// The picture inside the file that a material names, by its place ("*0") or its own name.
static const struct aiTexture *find_embedded(const struct aiScene *scene, const char *name)
{
    for (unsigned i = 0; i < scene->mNumTextures; i++) {
        char place[16];
        snprintf(place, sizeof place, "*%u", i);
        if (strcmp(name, place) == 0 || strcmp(name, scene->mTextures[i]->mFilename.data) == 0) {
            return scene->mTextures[i];
        }
    }
    return NULL;
}

static orr_result decode_embedded(const struct aiTexture *from, orr_image8 *image, orr_error *error)
{
    if (from->mHeight == 0) { // a PNG or JPEG of mWidth bytes
        return orr_image8_decode(from->pcData, from->mWidth, "embedded", image, error);
    }
    if (from->mWidth == 0 || from->mWidth > SIDE_MAX || from->mHeight > SIDE_MAX) {
        return orr_fail(error, ORR_CODE_IMAGE_FILE, "%u x %u pixels: expected sides of 1 to %d", from->mWidth,
                        from->mHeight, SIDE_MAX);
    }
    size_t texels = (size_t)from->mWidth * from->mHeight;
    ORR_ALLOC(image->rgba, 4 * texels, "a texture", error);
    image->width = (int)from->mWidth;
    image->height = (int)from->mHeight;
    for (size_t i = 0; i < texels; i++) {
        struct aiTexel t = from->pcData[i];
        memcpy(image->rgba + 4 * i, (uint8_t[]){t.r, t.g, t.b, t.a}, 4);
    }
    return ORR_OK;
}

static orr_result load_beside(const import *in, const char *name, orr_image8 *image, orr_error *error)
{
    char *path = orr_path_beside(in->path, name);
    if (!path) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the name of a texture");
    }
    for (char *c = path + strlen(path) - strlen(name); *c; c++) {
        *c = *c == '\\' ? '/' : *c; // material files written on Windows
    }
    orr_result result = orr_image8_load(path, image, error);
    orr_free(path);
    return result;
}

// Every picture once, however many materials name it.
static orr_result find_texture(import *in, const char *name, int *texture)
{
    orr_mesh *mesh = in->mesh;
    for (*texture = 0; *texture < mesh->texture_count; (*texture)++) {
        if (strcmp(in->texture_names[*texture], name) == 0) {
            return ORR_OK;
        }
    }
    size_t length = strlen(name) + 1;
    char *copy;
    ORR_ALLOC(copy, length, "the name of a texture", in->error);
    memcpy(copy, name, length);
    in->texture_names[mesh->texture_count] = copy;
    orr_image8 *image = &mesh->textures[mesh->texture_count++];
    const struct aiTexture *embedded = find_embedded(in->scene, name);
    orr_error why = {0};
    orr_result result =
        embedded ? decode_embedded(embedded, image, &why) : load_beside(in, name, image, &why);
    return result == ORR_OK || result == ORR_ERROR_MEMORY
               ? result
               : orr_fail(in->error, ORR_CODE_MESH_FILE, "%s: texture %s: %s", in->path, name, why.message);
}

static orr_result read_material(import *in, const struct aiMaterial *from, orr_mesh_material *material)
{
    *material = (orr_mesh_material){.base_colour = {1.0f, 1.0f, 1.0f, 1.0f}, .texture = -1};
    struct aiColor4D colour;
    if (aiGetMaterialColor(from, AI_MATKEY_BASE_COLOR, &colour) == aiReturn_SUCCESS ||
        aiGetMaterialColor(from, AI_MATKEY_COLOR_DIFFUSE, &colour) == aiReturn_SUCCESS) {
        memcpy(material->base_colour, (float[]){colour.r, colour.g, colour.b, colour.a}, 4 * sizeof(float));
    }
    for (int i = 0; i < 4; i++) {
        if (!isfinite(material->base_colour[i])) {
            return orr_fail(in->error, ORR_CODE_MESH_FILE, "%s: base colour: expected finite numbers",
                            in->path);
        }
    }
    // only glTF says which faces have two sides; other files are wound as it came
    int two_sided = 0;
    aiGetMaterialIntegerArray(from, AI_MATKEY_TWOSIDED, &two_sided, NULL);
    material->two_sided = !in->gltf || two_sided != 0;
    struct aiString text;
    if (aiGetMaterialString(from, AI_MATKEY_GLTF_ALPHAMODE, &text) == aiReturn_SUCCESS &&
        strcmp(text.data, "MASK") == 0) {
        material->alpha_cutoff = 0.5f;
        aiGetMaterialFloatArray(from, AI_MATKEY_GLTF_ALPHACUTOFF, &material->alpha_cutoff, NULL);
    }
    material->blended = aiGetMaterialString(from, AI_MATKEY_GLTF_ALPHAMODE, &text) == aiReturn_SUCCESS &&
                        strcmp(text.data, "BLEND") == 0;
    const enum aiTextureType types[] = {aiTextureType_BASE_COLOR, aiTextureType_DIFFUSE};
    for (int i = 0; i < 2; i++) {
        if (aiGetMaterialTexture(from, types[i], 0, &text, NULL, NULL, NULL, NULL, NULL, NULL) ==
            aiReturn_SUCCESS) {
            return find_texture(in, text.data, &material->texture);
        }
    }
    return ORR_OK;
}

static orr_result read_materials(import *in)
{
    orr_mesh *mesh = in->mesh;
    size_t count = in->scene->mNumMaterials;
    ORR_ALLOC(mesh->materials, count, "materials", in->error);
    mesh->textures = orr_alloc_zero(count, sizeof *mesh->textures);
    in->texture_names = orr_alloc_zero(count, sizeof *in->texture_names);
    if (!mesh->textures || !in->texture_names) {
        return orr_fail(in->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: textures");
    }
    for (size_t i = 0; i < count; i++) {
        ORR_TRY(read_material(in, in->scene->mMaterials[i], &mesh->materials[i]));
        mesh->material_count++;
    }
    return ORR_OK;
}

// How a direction across a surface turns: the transform's cofactors, which need no inverse. Returns whether
// the transform mirrors.
static bool normal_transform(const float m[12], float out[9])
{
    for (int i = 0; i < 9; i++) {
        int a = (i / 3 + 1) % 3, b = (i / 3 + 2) % 3, c = (i % 3 + 1) % 3, d = (i % 3 + 2) % 3;
        out[i] = m[4 * a + c] * m[4 * b + d] - m[4 * a + d] * m[4 * b + c];
    }
    bool mirrors = m[0] * out[0] + m[1] * out[1] + m[2] * out[2] < 0.0f;
    for (int i = 0; mirrors && i < 9; i++) {
        out[i] = -out[i];
    }
    return mirrors;
}

// glTF stores vertex colours in linear light, the programs that put them into other files do not.
static uint8_t colour_byte(float value, bool linear)
{
    float c = value > 0.0f ? value < 1.0f ? value : 1.0f : 0.0f;
    return (uint8_t)(255.0f * (linear ? linear_to_srgb(c) : c) + 0.5f);
}

static void read_vertex(const struct aiMesh *from, unsigned i, bool gltf, const float place[12],
                        const float turn[9], orr_mesh_vertex *vertex)
{
    const struct aiVector3D p = from->mVertices[i];
    const struct aiVector3D n = from->mNormals ? from->mNormals[i] : (struct aiVector3D){0};
    float length = 0.0f;
    for (int k = 0; k < 3; k++) {
        vertex->position[k] =
            place[4 * k] * p.x + place[4 * k + 1] * p.y + place[4 * k + 2] * p.z + place[4 * k + 3];
        vertex->normal[k] = turn[3 * k] * n.x + turn[3 * k + 1] * n.y + turn[3 * k + 2] * n.z;
        length += vertex->normal[k] * vertex->normal[k];
    }
    length = sqrtf(length);
    bool usable = isfinite(length) && length > 0.0f; // triangles without an area have no normal
    for (int k = 0; k < 3; k++) {
        vertex->normal[k] = usable ? vertex->normal[k] / length : k == 2;
    }
    for (int k = 0; k < 2; k++) {
        float uv = !from->mTextureCoords[0] ? 0.0f
                   : k                      ? from->mTextureCoords[0][i].y
                                            : from->mTextureCoords[0][i].x;
        vertex->uv[k] = isfinite(uv) ? uv : 0.0f;
    }
    memset(vertex->colour, 255, 4);
    if (from->mColors[0]) {
        const struct aiColor4D c = from->mColors[0][i];
        vertex->colour[0] = colour_byte(c.r, gltf);
        vertex->colour[1] = colour_byte(c.g, gltf);
        vertex->colour[2] = colour_byte(c.b, gltf);
        vertex->colour[3] = colour_byte(c.a, false);
    }
}

static void add_mesh(const import *in, const struct aiMesh *from, const float place[12])
{
    orr_mesh *mesh = in->mesh;
    float turn[9];
    bool mirrors = normal_transform(place, turn);
    uint32_t base = (uint32_t)mesh->vertex_count;
    for (unsigned i = 0; i < from->mNumVertices; i++) {
        read_vertex(from, i, in->gltf, place, turn, &mesh->vertices[mesh->vertex_count++]);
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
static void visit(const import *in, const struct aiNode *node, const float above[12], totals *sum)
{
    const struct aiMatrix4x4 *m = &node->mTransformation;
    float place[12] = {m->a1, m->a2, m->a3, m->a4, m->b1, m->b2, m->b3, m->b4, m->c1, m->c2, m->c3, m->c4};
    orr_affine_multiply(above, place, place);
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
            add_mesh(in, from, place);
        }
    }
    for (unsigned i = 0; i < node->mNumChildren; i++) {
        visit(in, node->mChildren[i], place, sum);
    }
}

static orr_result read_triangles(import *in)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    orr_mesh *mesh = in->mesh;
    totals sum = {0};
    visit(in, in->scene->mRootNode, identity, &sum);
    if (sum.vertices > VERTEX_MAX || sum.indices > INDEX_MAX) {
        return orr_fail(in->error, ORR_CODE_MESH_FILE,
                        "%s: %lld vertices, %lld triangles: expected at most %d and %d", in->path,
                        (long long)sum.vertices, (long long)sum.indices / 3, VERTEX_MAX, INDEX_MAX / 3);
    }
    ORR_ALLOC(mesh->vertices, sum.vertices, "vertices", in->error);
    ORR_ALLOC(mesh->indices, sum.indices, "triangles", in->error);
    ORR_ALLOC(mesh->parts, sum.parts, "parts of a mesh", in->error);
    visit(in, in->scene->mRootNode, identity, NULL);
    if (mesh->index_count == 0) {
        return orr_fail(in->error, ORR_CODE_MESH_FILE, "%s: no triangles: expected at least one", in->path);
    }
    for (int k = 0; k < 3; k++) {
        mesh->low[k] = INFINITY;
        mesh->high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        for (int k = 0; k < 3; k++) {
            float x = mesh->vertices[i].position[k];
            if (!isfinite(x)) {
                return orr_fail(in->error, ORR_CODE_MESH_FILE,
                                "%s: vertex %lld: expected a finite position where its node puts it",
                                in->path, (long long)i);
            }
            mesh->low[k] = fminf(mesh->low[k], x);
            mesh->high[k] = fmaxf(mesh->high[k], x);
        }
    }
    return ORR_OK;
}

static orr_result read_mesh(import *in)
{
    if (!in->scene) {
        return orr_fail(in->error, ORR_CODE_MESH_FILE, "%s: not a mesh that can be read: %s", in->path,
                        aiGetErrorString());
    }
    ORR_TRY(check_scene(in));
    // none of these can fail on a scene that was checked: when one does, assimp 5.2 frees the scene twice
    unsigned steps = aiProcess_Triangulate | aiProcess_GenSmoothNormals | aiProcess_JoinIdenticalVertices |
                     aiProcess_FlipUVs;
    if (orr_path_has_ending(in->path, ".stl")) {
        steps |= aiProcess_ForceGenNormals; // its normals say no more than the winding does
    }
    in->scene = aiApplyPostProcessing(in->scene, steps);
    if (!in->scene) {
        return orr_fail(in->error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory: its triangles", in->path);
    }
    ORR_TRY(read_materials(in));
    ORR_TRY(read_triangles(in));
    return orr_mesh_build_mips(in->mesh, in->error);
}

orr_result orr_mesh_load(const char *path, orr_mesh **out, orr_error *error)
{
    *out = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) {
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: cannot open: %s", path, strerror(errno));
    }
    fclose(file);
    orr_mesh *mesh = orr_alloc_zero(1, sizeof *mesh);
    if (!mesh) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mesh");
    }
import in = {.path = path, .scene = read_scene(path), .mesh = mesh, .gltf = orr_path_has_ending(path, ".glb") || orr_path_has_ending(path, ".gltf"), .error = error };
    orr_result result = read_mesh(&in);
    for (int i = 0; i < mesh->texture_count; i++) {
        orr_free(in.texture_names[i]);
    }
    orr_free(in.texture_names);
    aiReleaseImport(in.scene);
    if (result != ORR_OK) {
        orr_mesh_destroy(mesh);
        return result;
    }
    *out = mesh;
    return ORR_OK;
}

#endif
