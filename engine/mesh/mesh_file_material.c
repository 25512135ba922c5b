// Materials of mesh files, and their textures: inside the file or beside it.
#include "engine/core/memory.h"
#include "engine/mesh/mesh_file_import.h"

#include <assimp/GltfMaterial.h>
#include <assimp/material.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_MAX = 32768 };

// The picture inside the file that a material names, by its index ("*0") or its own name.
static const struct aiTexture *find_embedded(const struct aiScene *scene, const char *name)
{
    for (unsigned i = 0; i < scene->mNumTextures; i++) {
        char index[16];
        snprintf(index, sizeof index, "*%u", i);
        if (strcmp(name, index) == 0 || strcmp(name, scene->mTextures[i]->mFilename.data) == 0) {
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

static orr_result load_beside(const mesh_import *in, const char *name, orr_image8 *image, orr_error *error)
{
    char *path = orr_path_beside(in->desc->path, name);
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
static orr_result find_texture(mesh_import *in, const char *name, int *texture)
{
    orr_mesh_file *mesh = in->mesh;
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
               : orr_fail(in->error, ORR_CODE_MESH_FILE, "%s: texture %s: %s", in->desc->path, name,
                          why.message);
}

static orr_result read_material(mesh_import *in, const struct aiMaterial *from, orr_mesh_material *material)
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
                            in->desc->path);
        }
    }
    // only glTF marks two-sided faces; the winding of other files is not reliable
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
    if (!in->desc->read_textures) {
        return ORR_OK;
    }
    const enum aiTextureType types[] = {aiTextureType_BASE_COLOR, aiTextureType_DIFFUSE};
    for (int i = 0; i < 2; i++) {
        if (aiGetMaterialTexture(from, types[i], 0, &text, NULL, NULL, NULL, NULL, NULL, NULL) ==
            aiReturn_SUCCESS) {
            return find_texture(in, text.data, &material->texture);
        }
    }
    return ORR_OK;
}

orr_result orr_mesh_import_materials(mesh_import *in)
{
    orr_mesh_file *mesh = in->mesh;
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
