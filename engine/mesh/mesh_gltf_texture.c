// Pictures of glTF's textures: in buffers, data addresses and files beside the mesh.
#include "engine/mesh/mesh_gltf.h"

#include "engine/core/memory.h"

#include <stdio.h>
#include <string.h>

typedef struct picture {
    const uint8_t *data; // NULL: it is not there
    size_t size;
    char name[128]; // for messages
    orr_bytes own;  // to be freed, on failure too; data NULL: the bytes are a buffer's
} picture;

// `why` says what is wrong where the picture is not there, which is no error of the file.
static orr_result open_picture(orr_gltf *g, int image, picture *p, orr_error *why)
{
    orr_json json;
    int view;
    size_t stride;
    const char *address = NULL;
    memset(p, 0, sizeof *p);
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_IMAGES, image, &json));
    ORR_TRY(orr_gltf_index(g, &json, "bufferView", ORR_GLTF_VIEWS, &view));
    ORR_TRY(orr_json_string(&json, "uri", &address, g->error));
    bool is_file = view < 0 && address && strncmp(address, "data:", 5) != 0;
    snprintf(p->name, sizeof p->name, "%s", is_file ? address : json.path);
    if (view >= 0) {
        return orr_gltf_view(g, view, &p->data, &p->size, &stride);
    }
    if (!address) {
        return orr_json_expected(&json, NULL, g->error, "a bufferView or a uri");
    }
    if (orr_gltf_read_address(g, address, &p->own, why) == ORR_OK) {
        p->data = p->own.data;
        p->size = p->own.size;
    }
    return ORR_OK;
}

static orr_result decode_image(orr_gltf *g, int image, int *texture)
{
    picture p;
    orr_error why = {0};
    orr_result result = open_picture(g, image, &p, &why);
    if (result == ORR_OK && p.data) {
        result = orr_mesh_add_texture(g->reader, p.name, p.data, p.size, texture);
    } else if (result == ORR_OK) { // it was there when it was looked for
        result = why.code == ORR_CODE_OUT_OF_MEMORY
                     ? orr_fail(g->error, ORR_CODE_OUT_OF_MEMORY, "%s", why.message)
                     : orr_mesh_fail(g->reader, "texture %.100s: %.250s", p.name, why.message);
    }
    orr_free(p.own.data);
    return result;
}

// As OpenGL numbers them.
enum {
    NEAREST = 9728,
    LINEAR = 9729,
    NEAREST_MIPMAP_NEAREST = 9984,
    LINEAR_MIPMAP_NEAREST = 9985,
    NEAREST_MIPMAP_LINEAR = 9986,
    LINEAR_MIPMAP_LINEAR = 9987,
    CLAMP_TO_EDGE = 33071,
    MIRRORED_REPEAT = 33648,
    REPEAT = 10497
};

// A member of a sampler; one that glTF has not is named, and `value` stays.
static orr_result read_choice(const orr_gltf *g, const orr_json *json, const char *key, const int *choices,
                              int count, int64_t *value)
{
    int64_t given = *value;
    ORR_TRY(orr_gltf_integer(g, json, key, 0, INT32_MAX, &given));
    for (int i = 0; i < count; i++) {
        if (given == choices[i]) {
            *value = given;
            return ORR_OK;
        }
    }
    char note[32];
    snprintf(note, sizeof note, "%s %d", key, (int)given);
    orr_mesh_note(g->reader, note);
    return ORR_OK;
}

static orr_result read_wrap(const orr_gltf *g, const orr_json *json, const char *key, uint8_t *wrap)
{
    static const int choices[] = {REPEAT, CLAMP_TO_EDGE, MIRRORED_REPEAT};
    int64_t value = REPEAT;
    ORR_TRY(read_choice(g, json, key, choices, 3, &value));
    *wrap = value == CLAMP_TO_EDGE     ? ORR_WRAP_CLAMP
            : value == MIRRORED_REPEAT ? ORR_WRAP_MIRROR
                                       : ORR_WRAP_REPEAT;
    return ORR_OK;
}

static orr_result read_filters(const orr_gltf *g, const orr_json *json, orr_texture_sampler *sampler)
{
    static const int choices[] = {NEAREST,
                                  LINEAR,
                                  NEAREST_MIPMAP_NEAREST,
                                  LINEAR_MIPMAP_NEAREST,
                                  NEAREST_MIPMAP_LINEAR,
                                  LINEAR_MIPMAP_LINEAR};
    int64_t large = LINEAR, small = LINEAR_MIPMAP_LINEAR;
    ORR_TRY(read_choice(g, json, "magFilter", choices, 2, &large));
    ORR_TRY(read_choice(g, json, "minFilter", choices, 6, &small));
    sampler->nearest_large = large == NEAREST;
    sampler->nearest_small =
        small == NEAREST || small == NEAREST_MIPMAP_NEAREST || small == NEAREST_MIPMAP_LINEAR;
    sampler->no_mips = small == NEAREST || small == LINEAR;
    sampler->nearest_mip = small == NEAREST_MIPMAP_NEAREST || small == LINEAR_MIPMAP_NEAREST;
    return ORR_OK;
}

orr_result orr_gltf_read_sampler(const orr_gltf *g, int index, orr_texture_sampler *sampler)
{
    orr_json texture, json;
    int number;
    *sampler = (orr_texture_sampler){0};
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_TEXTURES, index, &texture));
    ORR_TRY(orr_gltf_index(g, &texture, "sampler", ORR_GLTF_SAMPLERS, &number));
    if (number < 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_SAMPLERS, number, &json));
    ORR_TRY(read_wrap(g, &json, "wrapS", &sampler->wrap_u));
    ORR_TRY(read_wrap(g, &json, "wrapT", &sampler->wrap_v));
    return read_filters(g, &json, sampler);
}

// The image of a texture: its PNG or JPEG, or else its WebP; -1: none of them.
static orr_result image_of(const orr_gltf *g, int index, int *image)
{
    orr_json json, webp;
    ORR_TRY(orr_gltf_element(g, ORR_GLTF_TEXTURES, index, &json));
    ORR_TRY(orr_gltf_index(g, &json, "source", ORR_GLTF_IMAGES, image));
    ORR_TRY(orr_gltf_extension(g, &json, "EXT_texture_webp", &webp));
    return *image < 0 && webp.node ? orr_gltf_index(g, &webp, "source", ORR_GLTF_IMAGES, image) : ORR_OK;
}

static orr_result check_image(orr_gltf *g, int image)
{
    picture p;
    orr_error why = {0};
    orr_result result = open_picture(g, image, &p, &why);
    bool there = p.data && orr_image8_check(p.data, p.size, "picture", &why) == ORR_OK;
    orr_free(p.own.data);
    g->image_states[image] = there ? ORR_GLTF_IMAGE_THERE : ORR_GLTF_IMAGE_MISSING;
    return result == ORR_OK && !there ? orr_mesh_leave_out(g->reader, "texture", p.name, &why) : result;
}

orr_result orr_gltf_texture(orr_gltf *g, const orr_json *object, const char *key, int *index)
{
    int image;
    ORR_TRY(orr_gltf_index(g, object, key, ORR_GLTF_TEXTURES, index));
    if (*index < 0 || !g->reader->desc->read_textures) {
        return ORR_OK;
    }
    ORR_TRY(image_of(g, *index, &image));
    if (image < 0) { // of an extension
        orr_mesh_note(g->reader, "textures without a PNG, JPEG or WebP");
        *index = -1;
        return ORR_OK;
    }
    if (g->image_states[image] == ORR_GLTF_IMAGE_NEW) {
        ORR_TRY(check_image(g, image));
    }
    *index = g->image_states[image] == ORR_GLTF_IMAGE_THERE ? *index : -1;
    return ORR_OK;
}

orr_result orr_gltf_read_texture(orr_gltf *g, int index, int *texture)
{
    int image;
    ORR_TRY(image_of(g, index, &image));
    if (g->image_textures[image] < 0) {
        ORR_TRY(decode_image(g, image, &g->image_textures[image]));
    }
    *texture = g->image_textures[image];
    return ORR_OK;
}

orr_result orr_gltf_decode_texture(orr_gltf *g, int index, int *texture)
{
    int image;
    ORR_TRY(image_of(g, index, &image));
    return decode_image(g, image, texture);
}
