// Textures of a glTF material besides its base colour: metallic and roughness, occlusion, emission, normals,
// transmission, clear coat.
// Vertices have two pairs of texture coordinates, so that textures laid on otherwise than the first of a
// material, and than the first that is laid on otherwise than that one, are named and left out.
#define ORR_SCALAR
#include "engine/mesh/mesh_gltf.h"

#include "engine/core/memory.h"
#include "engine/maths/colour_formula.h"

#include <math.h>
#include <string.h>

static bool is_same_mapping(const orr_gltf_mapping *a, const orr_gltf_mapping *b)
{
    return a->set == b->set && a->moved == b->moved &&
           (!a->moved || memcmp(a->matrix, b->matrix, sizeof a->matrix) == 0);
}

// The place of a mapping among the two of a material; -1: it has two others.
static int place_of(const orr_gltf_mapping mappings[2], const orr_gltf_mapping *own)
{
    for (int i = 0; i < 2; i++) {
        if (!mappings[i].used || is_same_mapping(own, &mappings[i])) {
            return i;
        }
    }
    return -1;
}

// object[key] as the number of a texture, -1: none, or one that is left out. *second: becomes whether it is
// laid on by the second of the material's mappings
static orr_result find_texture(orr_gltf *g, const orr_json *object, const char *key,
                               orr_gltf_mapping mappings[2], int *index, bool *second, const char *factor,
                               double *strength)
{
    orr_json info;
    orr_gltf_mapping own;
    *index = -1;
    *second = false;
    ORR_TRY(orr_json_member(object, key, &info, g->error));
    if (!info.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_require(&info, "index", "a texture", g->error));
    ORR_TRY(orr_gltf_read_mapping(g, &info, &own));
    if (factor) {
        ORR_TRY(orr_json_number(&info, factor, strength, g->error));
    }
    const int place = place_of(mappings, &own);
    if (place < 0) {
        orr_mesh_note(g->reader, key);
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_texture(g, &info, "index", index));
    if (*index >= 0) {
        mappings[place] = own;
        *second = place == 1;
    }
    return ORR_OK;
}

// Looks a texture of the material up as the file says, if there is one.
static orr_result set_sampler(const orr_gltf *g, int texture, orr_mesh_material *material,
                              orr_texture_use use)
{
    return texture >= 0 ? orr_gltf_read_sampler(g, texture, &material->samplers[use]) : ORR_OK;
}

// Names a texture that becomes a part of another, if they are looked up otherwise. given, part: -1: none
static orr_result compare_samplers(const orr_gltf *g, int given, int part, const char *note)
{
    orr_texture_sampler a, b;
    if (given < 0 || part < 0) {
        return ORR_OK;
    }
    ORR_TRY(orr_gltf_read_sampler(g, given, &a));
    ORR_TRY(orr_gltf_read_sampler(g, part, &b));
    if (memcmp(&a, &b, sizeof a) != 0) {
        orr_mesh_note(g->reader, note);
    }
    return ORR_OK;
}

static uint8_t display_byte(float linear)
{
    return (uint8_t)(255.0f * linear_to_srgb(linear) + 0.5f);
}

static int wrapped(int texel, int size, uint8_t wrap)
{
    const int inside = texel < 0 ? 0 : texel < size ? texel : size - 1;
    return wrap == ORR_WRAP_REPEAT ? (texel + size) % size : inside;
}

// A texel of a picture in the size of a larger one, mixed from four of its own.
static void mix_texel(const orr_image8 *image, float x, float y, const orr_texture_sampler *how,
                      uint8_t texel[4])
{
    const int left = (int)floorf(x), top = (int)floorf(y);
    const float across = x - (float)left, down = y - (float)top;
    float sum[4] = {0.5f, 0.5f, 0.5f, 0.5f}; // rounded
    for (int i = 0; i < 4; i++) {
        const int column = wrapped(left + i % 2, image->width, how->wrap_u),
                  row = wrapped(top + i / 2, image->height, how->wrap_v);
        const float part = (i % 2 ? across : 1.0f - across) * (i / 2 ? down : 1.0f - down);
        const uint8_t *from = image->rgba + 4 * ((size_t)row * (size_t)image->width + (size_t)column);
        for (int k = 0; k < 4; k++) {
            sum[k] += part * (float)from[k];
        }
    }
    for (int k = 0; k < 4; k++) {
        texel[k] = (uint8_t)sum[k];
    }
}

static orr_result enlarge(orr_mesh_reader *reader, orr_image8 *image, int width, int height,
                          const orr_texture_sampler *how)
{
    if (image->width == width && image->height == height) {
        return ORR_OK;
    }
    orr_image8 larger = {.width = width, .height = height};
    ORR_TRY(orr_mesh_count_texels(reader, "made of two", width, height));
    ORR_ALLOC(larger.rgba, 4 * (size_t)width * (size_t)height, "a texture", reader->error);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            mix_texel(image, ((float)x + 0.5f) * (float)image->width / (float)width - 0.5f,
                      ((float)y + 0.5f) * (float)image->height / (float)height - 0.5f, how,
                      larger.rgba + 4 * ((size_t)y * (size_t)width + (size_t)x));
        }
    }
    orr_image8_free(image);
    *image = larger;
    return ORR_OK;
}

// Moves a channel of the last of the textures into one of texture `to`, and removes the last. Both become as
// large as the larger one; where neither is, the channel becomes white, which the file's reader is told in
// `note`. given: the texture of the file that `to` is of
static orr_result take_channel(orr_gltf *g, int to, int given, int channel, int taken, const char *note)
{
    orr_mesh_file *mesh = g->reader->mesh;
    orr_image8 *into = &mesh->textures[to], *from = &mesh->textures[mesh->texture_count - 1];
    const int width = from->width > into->width ? from->width : into->width,
              height = from->height > into->height ? from->height : into->height;
    orr_texture_sampler how;
    const bool fits =
        (from->width == width && from->height == height) || (into->width == width && into->height == height);
    ORR_TRY(orr_gltf_read_sampler(g, given, &how));
    if (fits) {
        ORR_TRY(enlarge(g->reader, into, width, height, &how));
        ORR_TRY(enlarge(g->reader, from, width, height, &how));
    } else {
        orr_mesh_note(g->reader, note);
    }
    for (size_t i = 0; i < 4 * (size_t)into->width * (size_t)into->height; i += 4) {
        into->rgba[i + (size_t)channel] = fits ? from->rgba[i + (size_t)taken] : 255;
    }
    orr_image8_free(from);
    mesh->texture_count--;
    return ORR_OK;
}

// Puts the red of a texture of transmission into the alpha of the image; 255 where there is none. given: the
// texture that the image is of
static orr_result put_transmission(orr_gltf *g, int transmission, int given, int texture)
{
    orr_mesh_file *mesh = g->reader->mesh;
    if (transmission >= 0 && transmission != given) {
        int other;
        ORR_TRY(orr_gltf_decode_texture(g, transmission, &other));
        return take_channel(
            g, texture, given, 3, 0,
            "transmissionTexture of another size than metallicRoughnessTexture or occlusionTexture");
    }
    const orr_image8 *image = &mesh->textures[texture];
    for (size_t i = 0; i < 4 * (size_t)image->width * (size_t)image->height; i += 4) {
        image->rgba[i + 3] = transmission >= 0 ? image->rgba[i] : 255;
    }
    return ORR_OK;
}

// The texture that a surface texture is made of first; -1: none.
static int first_of_surface(const orr_gltf_factors *s)
{
    return s->metal >= 0 ? s->metal : s->occlusion >= 0 ? s->occlusion : s->transmission;
}

// A new texture with occlusion, roughness, metallic and transmission in red, green, blue and alpha; 1 where
// there is no texture. Colours are encoded as such, so that all textures are filtered and reduced alike.
static orr_result make_surface(orr_gltf *g, const orr_gltf_factors *s, int *texture)
{
    orr_mesh_file *mesh = g->reader->mesh;
    const int metal = s->metal, occlusion = s->occlusion, given = first_of_surface(s);
    ORR_TRY(orr_gltf_decode_texture(g, given, texture));
    ORR_TRY(put_transmission(g, s->transmission, given, *texture));
    if (occlusion >= 0 && occlusion != given) {
        int other;
        ORR_TRY(orr_gltf_decode_texture(g, occlusion, &other));
        ORR_TRY(take_channel(g, *texture, given, 0, 0,
                             "occlusionTexture of another size than metallicRoughnessTexture"));
    }
    orr_image8 *image = &mesh->textures[*texture];
    uint8_t encoded[256], dimmed[256];
    float part = s->strength > 0.0 ? fminf((float)s->strength, 1.0f) : 0.0f;
    for (int i = 0; i < 256; i++) {
        float value = (float)i / 255.0f;
        encoded[i] = display_byte(value);
        dimmed[i] = occlusion >= 0 ? display_byte(1.0f + part * (value - 1.0f)) : 255;
    }
    for (size_t i = 0; i < 4 * (size_t)image->width * (size_t)image->height; i += 4) {
        uint8_t *texel = image->rgba + i;
        texel[0] = dimmed[texel[0]];
        texel[1] = metal >= 0 ? encoded[texel[1]] : 255;
        texel[2] = metal >= 0 ? encoded[texel[2]] : 255;
    }
    return ORR_OK;
}

// A new texture of normals, whose components across the surface are multiplied by `scale`.
static orr_result make_normals(orr_gltf *g, int normals, double scale, int *texture)
{
    ORR_TRY(orr_gltf_decode_texture(g, normals, texture));
    orr_image8 *image = &g->reader->mesh->textures[*texture];
    const float centre = ORR_NORMAL_CENTRE, across = fminf(fmaxf((float)scale, -1e3f), 1e3f);
    for (size_t i = 0; i < 4 * (size_t)image->width * (size_t)image->height; i += 4) {
        uint8_t *texel = image->rgba + i;
        float n[3], length = 0.0f;
        for (int k = 0; k < 3; k++) {
            n[k] = ((float)texel[k] / 127.5f - 1.0f) * (k < 2 ? across : 1.0f);
            length += n[k] * n[k];
        }
        length = sqrtf(fmaxf(length, 1e-12f));
        for (int k = 0; k < 3; k++) {
            texel[k] = display_byte(centre + (1.0f - centre) * n[k] / length);
        }
        texel[3] = 255;
    }
    return ORR_OK;
}

// What an earlier material has made of the same normals, or this one of other normals; -1: nothing.
static int find_normals(const orr_gltf *g, int material, const orr_gltf_normals *wanted)
{
    for (int i = 0; i <= material; i++) {
        const orr_gltf_normals *all[] = {&g->surfaces[i].normals, &g->surfaces[i].coat_normals};
        for (int k = 0; k < 2; k++) {
            if (all[k] != wanted && all[k]->texture >= 0 && all[k]->normals == wanted->normals &&
                all[k]->scale == wanted->scale) {
                return all[k]->texture;
            }
        }
    }
    return -1;
}

// object[key], normals of material `index`; *texture: becomes what is made of them, if there are some;
// *second: as of find_texture
static orr_result read_normals(orr_gltf *g, const orr_json *object, const char *key, int index,
                               orr_gltf_normals *normals, int *texture, bool *second)
{
    normals->scale = 1.0;
    ORR_TRY(find_texture(g, object, key, g->mappings[index], &normals->normals, second, "scale",
                         &normals->scale));
    if (normals->normals < 0 || !g->reader->desc->read_textures) {
        return ORR_OK;
    }
    normals->texture = find_normals(g, index, normals);
    if (normals->texture < 0) {
        ORR_TRY(make_normals(g, normals->normals, normals->scale, &normals->texture));
    }
    *texture = normals->texture;
    return ORR_OK;
}

// ---- clear coat ----

// A new texture with how much is coated and the coat's roughness in red and green, factors included; of one
// texel where the file has no textures of these. Encoded as make_surface says.
static orr_result make_coat(orr_gltf *g, const orr_gltf_surface *s, int *texture)
{
    orr_mesh_file *mesh = g->reader->mesh;
    if (s->coat < 0 && s->coat_roughness < 0) {
        ORR_TRY(orr_mesh_add_texel(g->reader, texture));
    } else {
        ORR_TRY(orr_gltf_decode_texture(g, s->coat >= 0 ? s->coat : s->coat_roughness, texture));
    }
    if (s->coat >= 0 && s->coat_roughness >= 0 && s->coat != s->coat_roughness) {
        int other;
        ORR_TRY(orr_gltf_decode_texture(g, s->coat_roughness, &other));
        ORR_TRY(take_channel(g, *texture, s->coat, 1, 1,
                             "clearcoatRoughnessTexture of another size than clearcoatTexture"));
    }
    orr_image8 *image = &mesh->textures[*texture];
    const bool given[2] = {s->coat >= 0, s->coat_roughness >= 0};
    for (size_t i = 0; i < 4 * (size_t)image->width * (size_t)image->height; i += 4) {
        uint8_t *texel = image->rgba + i;
        for (int k = 0; k < 2; k++) {
            texel[k] = display_byte(s->coat_factors[k] * (given[k] ? (float)texel[k] / 255.0f : 1.0f));
        }
        texel[2] = texel[3] = 255;
    }
    return ORR_OK;
}

// The coat of an earlier material that would be the same; -1: none.
static int find_coat(const orr_gltf *g, int material, const orr_gltf_surface *wanted)
{
    for (int i = 0; i < material; i++) {
        const orr_gltf_surface *s = &g->surfaces[i];
        if (s->coat_texture >= 0 && s->coat == wanted->coat && s->coat_roughness == wanted->coat_roughness &&
            memcmp(s->coat_factors, wanted->coat_factors, sizeof wanted->coat_factors) == 0) {
            return s->coat_texture;
        }
    }
    return -1;
}

// KHR_materials_clearcoat. Without a texture its normals are those of the mesh.
static orr_result read_coat(orr_gltf *g, const orr_json *json, int index, orr_mesh_material *material)
{
    static const char *const factors[2] = {"clearcoatFactor", "clearcoatRoughnessFactor"};
    static const char *const textures[2] = {"clearcoatTexture", "clearcoatRoughnessTexture"};
    orr_gltf_surface *surface = &g->surfaces[index];
    int *indices[2] = {&surface->coat, &surface->coat_roughness};
    bool second[2];
    orr_json coat;
    surface->coat_texture = -1;
    ORR_TRY(orr_gltf_extension(g, json, "KHR_materials_clearcoat", &coat));
    if (!coat.node) {
        return ORR_OK;
    }
    for (int k = 0; k < 2; k++) {
        double factor = 0.0;
        ORR_TRY(orr_json_number(&coat, factors[k], &factor, g->error));
        surface->coat_factors[k] = factor > 0.0 ? fminf((float)factor, 1.0f) : 0.0f;
        ORR_TRY(find_texture(g, &coat, textures[k], g->mappings[index], indices[k], &second[k], NULL, NULL));
    }
    if (surface->coat >= 0 && surface->coat_roughness >= 0 && second[0] != second[1]) { // they become one
        orr_mesh_note(g->reader, textures[1]);
        surface->coat_roughness = -1;
    }
    if (surface->coat_factors[0] == 0.0f || !g->reader->desc->read_textures) {
        return ORR_OK;
    }
    surface->coat_texture = find_coat(g, index, surface);
    if (surface->coat_texture < 0) {
        ORR_TRY(make_coat(g, surface, &surface->coat_texture));
    }
    material->coat_texture = surface->coat_texture;
    material->second[ORR_TEXTURE_COAT] = second[surface->coat < 0];
    const int given = surface->coat >= 0 ? surface->coat : surface->coat_roughness;
    ORR_TRY(set_sampler(g, given, material, ORR_TEXTURE_COAT));
    ORR_TRY(compare_samplers(g, given, surface->coat_roughness,
                             "the sampler of clearcoatRoughnessTexture, which is not clearcoatTexture's"));
    ORR_TRY(read_normals(g, &coat, "clearcoatNormalTexture", index, &surface->coat_normals,
                         &material->coat_normal_texture, &material->second[ORR_TEXTURE_COAT_NORMAL]));
    return set_sampler(g, surface->coat_normals.normals, material, ORR_TEXTURE_COAT_NORMAL);
}

// The surface texture of an earlier material, or the first of this one, that would be the same; -1: none.
static int find_surface(const orr_gltf *g, int material, const orr_gltf_factors *wanted)
{
    for (int i = 0; i <= material; i++) {
        for (int k = 0; k < 2; k++) {
            const orr_gltf_factors *s = &g->surfaces[i].factors[k];
            if (s->made && s->metal == wanted->metal && s->occlusion == wanted->occlusion &&
                s->strength == wanted->strength && s->transmission == wanted->transmission) {
                return s->texture;
            }
        }
    }
    return -1;
}

// The texture of KHR_materials_transmission, where the material has a transmission.
static orr_result find_transmission(orr_gltf *g, const orr_json *json, orr_gltf_mapping mappings[2],
                                    int *index, bool *second)
{
    orr_json through, unlit;
    double factor = 0.0;
    ORR_TRY(orr_gltf_extension(g, json, "KHR_materials_transmission", &through));
    ORR_TRY(orr_gltf_extension(g, json, "KHR_materials_unlit", &unlit));
    if (!through.node) {
        return ORR_OK;
    }
    ORR_TRY(orr_json_number(&through, "transmissionFactor", &factor, g->error));
    return factor > 0.0 && !unlit.node
               ? find_texture(g, &through, "transmissionTexture", mappings, index, second, NULL, NULL)
               : ORR_OK;
}

// What surface textures of material `index` are made of: each of its three textures is in the one that is
// laid on as it is.
static orr_result find_factors(orr_gltf *g, const orr_json *json, int index)
{
    orr_json pbr;
    orr_gltf_mapping *mappings = g->mappings[index];
    orr_gltf_factors *factors = g->surfaces[index].factors;
    int metal = -1, occlusion, transmission = -1;
    bool second[3] = {false, false, false};
    double strength = 1.0;
    ORR_TRY(orr_json_member(json, "pbrMetallicRoughness", &pbr, g->error));
    if (pbr.node) {
        ORR_TRY(find_texture(g, &pbr, "metallicRoughnessTexture", mappings, &metal, &second[0], NULL, NULL));
    }
    ORR_TRY(
        find_texture(g, json, "occlusionTexture", mappings, &occlusion, &second[1], "strength", &strength));
    ORR_TRY(find_transmission(g, json, mappings, &transmission, &second[2]));
    for (int k = 0; k < 2; k++) {
        factors[k] = (orr_gltf_factors){.metal = second[0] == (k == 1) ? metal : -1,
                                        .occlusion = second[1] == (k == 1) ? occlusion : -1,
                                        .transmission = second[2] == (k == 1) ? transmission : -1,
                                        .strength = strength};
    }
    return ORR_OK;
}

// A surface texture of material `index`; *texture: becomes it, if it is made of something
static orr_result read_factors(orr_gltf *g, int index, orr_gltf_factors *factors, orr_texture_use use,
                               orr_mesh_material *material, int *texture)
{
    const int first = first_of_surface(factors);
    if (first < 0) {
        return ORR_OK;
    }
    ORR_TRY(set_sampler(g, first, material, use));
    ORR_TRY(compare_samplers(g, first, factors->occlusion,
                             "the sampler of occlusionTexture, which is not metallicRoughnessTexture's"));
    ORR_TRY(compare_samplers(
        g, first, factors->transmission,
        "the sampler of transmissionTexture, which is not metallicRoughnessTexture's or occlusionTexture's"));
    factors->texture = find_surface(g, index, factors);
    if (factors->texture < 0) {
        ORR_TRY(make_surface(g, factors, &factors->texture));
    }
    factors->made = true;
    *texture = factors->texture;
    return ORR_OK;
}

orr_result orr_gltf_read_surface(orr_gltf *g, const orr_json *json, int index, orr_mesh_material *material)
{
    orr_gltf_surface *surface = &g->surfaces[index];
    int emissive;
    const orr_gltf_normals none = {-1, -1, 1.0};
    *surface = (orr_gltf_surface){.normals = none, .coat_normals = none};
    ORR_TRY(find_factors(g, json, index));
    ORR_TRY(find_texture(g, json, "emissiveTexture", g->mappings[index], &emissive,
                         &material->second[ORR_TEXTURE_EMISSIVE], NULL, NULL));
    ORR_TRY(read_normals(g, json, "normalTexture", index, &surface->normals, &material->normal_texture,
                         &material->second[ORR_TEXTURE_NORMAL]));
    ORR_TRY(set_sampler(g, surface->normals.normals, material, ORR_TEXTURE_NORMAL));
    ORR_TRY(read_coat(g, json, index, material));
    if (!g->reader->desc->read_textures) {
        return ORR_OK;
    }
    if (emissive >= 0) {
        ORR_TRY(orr_gltf_read_texture(g, emissive, &material->emissive_texture));
        ORR_TRY(set_sampler(g, emissive, material, ORR_TEXTURE_EMISSIVE));
    }
    ORR_TRY(read_factors(g, index, &surface->factors[0], ORR_TEXTURE_SURFACE, material,
                         &material->surface_texture));
    material->second[ORR_TEXTURE_SECOND_SURFACE] = true;
    return read_factors(g, index, &surface->factors[1], ORR_TEXTURE_SECOND_SURFACE, material,
                        &material->second_surface_texture);
}
