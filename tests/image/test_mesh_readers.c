// Tests of the readers of mesh files, format by format: values by hand, what is wrong with broken files, and
// what a small file cannot make of itself.
#include "engine/core/memory.h"
#include "engine/mesh/mesh_file.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static orr_mesh_file mesh; // of the file read last

static orr_result read_bytes(const char *name, const void *data, size_t size, orr_error *why)
{
    char *copy = malloc(size + 1); // of its size, so that AddressSanitizer sees what is read behind it
    assert_non_null(copy);
    memcpy(copy, data, size);
    copy[size] = 0;
    const orr_bytes bytes = {(uint8_t *)copy, size};
    const orr_mesh_file_desc desc = {.path = name, .bytes = &bytes, .read_textures = true};
    orr_mesh_file_free(&mesh);
    orr_result result = orr_mesh_file_read(&desc, &mesh, why);
    free(copy);
    return result;
}

static void read_good(const char *name, const char *text)
{
    assert_ok(read_bytes(name, text, strlen(text), &error));
}

static void assert_refused(const char *name, const void *data, size_t size, const char *because)
{
    orr_error why = {0};
    assert_int_equal(read_bytes(name, data, size, &why), ORR_ERROR_FORMAT);
    assert_int_equal(why.code, ORR_CODE_MESH_FILE);
    assert_null(mesh.vertices);
    if (!strstr(why.message, name) || !strstr(why.message, because) || strchr(why.message, '\n')) {
        fail_msg("expected the file and \"%s\" in one line: %s", because, why.message);
    }
}

static void assert_text_refused(const char *name, const char *text, const char *because)
{
    assert_refused(name, text, strlen(text), because);
}

// Corner `i` of the triangles, in their order.
static const orr_mesh_file_vertex *corner(int i)
{
    assert_true(i < mesh.index_count);
    return &mesh.vertices[mesh.indices[i]];
}

static void assert_at(int i, float x, float y, float z)
{
    const float *p = corner(i)->position;
    if (fabsf(p[0] - x) > 1e-5f || fabsf(p[1] - y) > 1e-5f || fabsf(p[2] - z) > 1e-5f) {
        fail_msg("corner %d: %g %g %g, expected %g %g %g", i, (double)p[0], (double)p[1], (double)p[2],
                 (double)x, (double)y, (double)z);
    }
}

static void assert_close(float a, double b)
{
    assert_true(fabs((double)a - b) < 1e-5);
}

static double area(void)
{
    double sum = 0.0;
    for (int i = 0; i < mesh.index_count; i += 3) {
        const float *a = corner(i)->position, *b = corner(i + 1)->position, *c = corner(i + 2)->position;
        sum += 0.5 * (double)((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])); // seen along z
    }
    return sum;
}

// ---- glTF ----

// Buffer 0: positions of a triangle (0, 0, 0) (1, 0, 0) (0, 1, 0), then as bytes: normals (0, 0, 127), and
// indices 0 1 2 1 0; 56 bytes, base64.
#define BUFFER                                                                                               \
    "\"buffers\":[{\"byteLength\":56,\"uri\":\"data:application/octet-stream;base64,"                        \
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAB/AAAAfwAAAH8AAAECAQAAAAA=\"}],"
#define VIEWS                                                                                                \
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":36,\"byteLength\":12,"   \
    "\"byteStride\":4},{\"buffer\":0,\"byteOffset\":48,\"byteLength\":8}],"
#define ACCESSORS                                                                                            \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"                \
    "{\"bufferView\":1,\"componentType\":5120,\"normalized\":true,\"count\":3,\"type\":\"VEC3\"},"           \
    "{\"bufferView\":2,\"componentType\":5121,\"count\":3,\"type\":\"SCALAR\"},"                             \
    "{\"componentType\":5126,\"count\":5,\"type\":\"VEC3\",\"sparse\":{\"count\":2,\"indices\":{"            \
    "\"bufferView\":2,\"componentType\":5121,\"byteOffset\":1},\"values\":{\"bufferView\":0,"                \
    "\"byteOffset\":12}}}],"
#define HEAD "{\"asset\":{\"version\":\"2.0\"}," BUFFER VIEWS ACCESSORS
#define TRIANGLE                                                                                             \
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1},\"indices\":2}]}]"

static void accessors_are_read_in_their_types(void **state)
{
    (void)state;
    read_good("a.gltf", HEAD TRIANGLE ",\"nodes\":[{\"mesh\":0}]}");
    assert_int_equal(mesh.vertex_count, 3);
    assert_int_equal(mesh.index_count, 3);
    assert_true(mesh.linear_colours);
    assert_at(0, 0, 0, 0);
    assert_at(1, 1, 0, 0);
    assert_at(2, 0, 1, 0);
    assert_close(corner(1)->normal[2], 1.0); // 127 of a normalised byte
    assert_string_equal(mesh.unused, "");
    assert_false(mesh.materials[mesh.parts[0].material].two_sided);
    // zeros, of which the second and the third are replaced: a strip, whose second triangle is turned
    read_good("a.gltf", HEAD "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":3},\"mode\":5}]}],"
                             "\"nodes\":[{\"mesh\":0}]}");
    assert_int_equal(mesh.vertex_count, 5);
    assert_int_equal(mesh.index_count, 9);
    assert_at(1, 1, 0, 0);
    assert_at(2, 0, 1, 0);
    assert_int_equal(mesh.indices[3], 1);
    assert_int_equal(mesh.indices[4], 3);
    assert_int_equal(mesh.indices[5], 2);
    read_good("a.gltf", HEAD "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":3},\"mode\":6}]}],"
                             "\"nodes\":[{\"mesh\":0}]}");
    assert_int_equal(mesh.index_count, 9);
    assert_int_equal(mesh.indices[6], 0);
    assert_int_equal(mesh.indices[7], 3);
}

static void instances_and_texture_transforms_are_applied(void **state)
{
    (void)state;
    // instances where the triangle's corners are, in a node that mirrors
    read_good("a.gltf", HEAD TRIANGLE ",\"nodes\":[{\"mesh\":0,\"scale\":[-2,2,2],\"extensions\":{"
                                      "\"EXT_mesh_gpu_instancing\":{\"attributes\":{\"TRANSLATION\":0}}}}]}");
    assert_int_equal(mesh.index_count, 9);
    assert_at(3, -2, 0, 0);
    assert_at(4, -2, 2, 0); // rewound
    assert_at(5, -4, 0, 0);
    assert_true(area() > 0.0);
    // u v = position x y of the triangle: scaled by 2 and 3, turned by 90 degrees, moved by 0.5
    read_good(
        "a.gltf",
        "{\"asset\":{\"version\":\"2.0\"}," BUFFER "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{"
        "\"buffer\":0,\"byteLength\":36,\"byteStride\":12}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
        "{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"TEXCOORD_1\":1},\"material\":0}]}],"
        "\"textures\":[{\"extensions\":{\"EXT_texture_webp\":{\"source\":0}}}],\"images\":[{\"uri\":"
        "\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLv"
        "AAAAAElFTkSuQmCC\"}],"
        "\"materials\":[{\"pbrMetallicRoughness\":{\"roughnessFactor\":0.25,\"baseColorTexture\":{\"index\":"
        "0,\"extensions\":{"
        "\"KHR_texture_transform\":{\"offset\":[0.5,0],\"rotation\":1.5707963,\"scale\":[2,3],"
        "\"texCoord\":1}}}},\"emissiveFactor\":[0.5,0.25,0],\"extensions\":{"
        "\"KHR_materials_emissive_strength\":{\"emissiveStrength\":4},\"KHR_materials_unlit\":{}}}],"
        "\"nodes\":[{\"mesh\":0}]}");
    assert_close(corner(1)->texcoord[0], 0.5);
    assert_close(corner(1)->texcoord[1], 1.0 + 2.0); // v points down in the file
    assert_close(corner(2)->texcoord[0], 3.5);
    assert_close(corner(2)->texcoord[1], 1.0);
    const orr_mesh_material *material = &mesh.materials[mesh.parts[0].material];
    assert_close(material->emissive[0], 2.0);
    assert_close(material->emissive[1], 1.0);
    assert_true(material->metallic_roughness);
    assert_close(material->metallic, 1.0); // where the file says nothing
    assert_close(material->roughness, 0.25);
    assert_true(material->unlit);
    assert_int_equal(material->texture, 0);
    assert_int_equal(mesh.textures[0].width, 1);
    assert_string_equal(mesh.unused, "");
}

#define PNG "{\"uri\":\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAA"
// Pictures of one texel (51 128 255), one (102 0 0), and two texels.
#define IMAGES                                                                                               \
    "\"images\":[" PNG "EAAAABCAIAAACQd1PeAAAADElEQVR42mMwbvgPAAKcAbPnPvARAAAAAElFTkSuQmCC\"}," PNG          \
    "EAAAABCAIAAACQd1PeAAAADElEQVR42mNIY2AAAAE2AGdEzl5XAAAAAElFTkSuQmCC\"}," PNG                             \
    "IAAAABCAIAAAB7QOjdAAAADUlEQVR42mNgZGIGIgAALQAN+IuHsAAAAABJRU5ErkJggg==\"}],"
#define PICTURES IMAGES "\"textures\":[{\"source\":0},{\"source\":1},{\"source\":2}],"
#define WITH_MATERIAL(material)                                                                              \
    HEAD PICTURES "\"materials\":[" material "],\"meshes\":[{\"primitives\":[{\"attributes\":{"              \
                  "\"POSITION\":0},\"material\":0}]}],\"nodes\":[{\"mesh\":0}]}"
#define METAL "\"pbrMetallicRoughness\":{\"metallicRoughnessTexture\":{\"index\":0}}"

// Red, green and blue of the texel of a texture, decoded to 0 .. 255.
static void assert_texel(int texture, int red, int green, int blue)
{
    const int expected[3] = {red, green, blue};
    assert_in_range(texture, 0, mesh.texture_count - 1);
    for (int i = 0; i < 3; i++) {
        // a step of the encoded byte is at most 2.3 of the decoded one
        double value = srgb_decode((double)mesh.textures[texture].rgba[i] / 255.0) * 255.0;
        assert_true(fabs(value - expected[i]) <= 1.2);
    }
}

static void assert_surface(int red, int green, int blue)
{
    assert_texel(mesh.materials[0].surface_texture, red, green, blue);
}

// (51 128 255) is the direction (-0.6, 0, 1), of length 1.166.
static void normals_are_read_at_unit_length(void **state)
{
    (void)state;
    const float centre = 255.0f * ORR_NORMAL_CENTRE, span = 255.0f - centre;
    read_good("a.gltf", WITH_MATERIAL("{\"normalTexture\":{\"index\":0}}"));
    assert_texel(mesh.materials[0].normal_texture, (int)(centre - 0.6f / 1.166f * span), (int)centre,
                 (int)(centre + 1.0f / 1.166f * span));
    assert_int_equal(mesh.textures[0].rgba[1], 188); // the file's 128 has no slope at all
    read_good("a.gltf", WITH_MATERIAL("{\"normalTexture\":{\"index\":0,\"scale\":0}}"));
    assert_texel(mesh.materials[0].normal_texture, (int)centre, (int)centre, 255);
    read_good("a.gltf", WITH_MATERIAL("{\"normalTexture\":{\"index\":0}},{\"normalTexture\":{\"index\":0}},"
                                      "{\"normalTexture\":{\"index\":0,\"scale\":2}}"));
    assert_int_equal(mesh.texture_count, 2);
    assert_int_equal(mesh.materials[1].normal_texture, 0);
    assert_int_equal(mesh.materials[2].normal_texture, 1);
}

// Two sets of coordinates of each vertex: x y of its position, and the same moved.
static void second_coordinates_are_read(void **state)
{
    (void)state;
    read_good(
        "a.gltf",
        "{\"asset\":{\"version\":\"2.0\"}," BUFFER PICTURES
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36},{"
        "\"buffer\":0,\"byteLength\":36,\"byteStride\":12}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
        "{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"}],"
        "\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0}},"
        "\"normalTexture\":{\"index\":0,\"texCoord\":1,\"extensions\":{\"KHR_texture_transform\":{"
        "\"offset\":[0.25,0]}}},\"emissiveTexture\":{\"index\":0}}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"TEXCOORD_0\":1,\"TEXCOORD_1\":1},"
        "\"material\":0}]}],\"nodes\":[{\"mesh\":0}]}");
    const orr_mesh_material *material = &mesh.materials[mesh.parts[0].material];
    for (int i = 0; i < 3; i++) {
        assert_close(corner(i)->second[0], corner(i)->texcoord[0] + 0.25f);
        assert_close(corner(i)->second[1], corner(i)->texcoord[1]);
    }
    assert_true(corner(1)->texcoord[0] != corner(0)->texcoord[0]);
    assert_true(material->second[ORR_TEXTURE_NORMAL]);
    assert_false(material->second[ORR_TEXTURE_EMISSIVE]);
    assert_string_equal(mesh.unused, "");
}

static void textures_of_metal_and_occlusion_become_one(void **state)
{
    (void)state;
    read_good("a.gltf", WITH_MATERIAL("{" METAL ",\"emissiveTexture\":{\"index\":0}}"));
    assert_surface(255, 128, 255);
    assert_int_equal(mesh.textures[mesh.materials[0].emissive_texture].rgba[1], 128); // a colour stays
    read_good("a.gltf", WITH_MATERIAL("{" METAL ",\"occlusionTexture\":{\"index\":0}}"));
    assert_surface(51, 128, 255);
    read_good("a.gltf", WITH_MATERIAL("{" METAL ",\"occlusionTexture\":{\"index\":1,\"strength\":0.5}}"));
    assert_surface((255 + 102) / 2, 128, 255);
    assert_int_equal(mesh.texture_count, 1);
    assert_string_equal(mesh.unused, "");
    read_good("a.gltf", WITH_MATERIAL("{\"occlusionTexture\":{\"index\":1}}"));
    assert_surface(102, 255, 255);
    read_good("a.gltf", WITH_MATERIAL("{" METAL ",\"occlusionTexture\":{\"index\":2}}"));
    assert_int_equal(mesh.textures[mesh.materials[0].surface_texture].width, 2); // the larger one's
    assert_surface(1, 128, 255);
    // laid on otherwise than the first, and otherwise than both
    read_good("a.gltf", WITH_MATERIAL("{" METAL ",\"occlusionTexture\":{\"index\":1,\"texCoord\":1},"
                                      "\"emissiveTexture\":{\"index\":0,\"texCoord\":2}}"));
    assert_surface(255, 128, 255);
    assert_texel(mesh.materials[0].second_surface_texture, 102, 255, 255);
    assert_true(mesh.materials[0].second[ORR_TEXTURE_SECOND_SURFACE]);
    assert_int_equal(mesh.materials[0].emissive_texture, -1);
    assert_string_equal(mesh.unused, "emissiveTexture");
    // two materials with the same textures share them
    read_good("a.gltf", WITH_MATERIAL("{" METAL "},{" METAL "}"));
    assert_int_equal(mesh.texture_count, 1);
    assert_int_equal(mesh.materials[1].surface_texture, 0);
    assert_text_refused("a.gltf", WITH_MATERIAL("{\"extensions\":[1]}"), "extensions: expected an object");
    assert_text_refused("a.gltf", WITH_MATERIAL("{\"occlusionTexture\":{\"index\":3}}"),
                        "materials[0].occlusionTexture.index: expected a whole number from 0 to 2");
}

// Pictures of 2 x 1 texels (40 80 0) (200 160 0), of 4 x 1, all (0 128 255), and of 1 x 2.
#define TWO_SIZES(metal, occlusion, sampler)                                                                 \
    HEAD "\"samplers\":[{" sampler "}],\"images\":[" PNG                                                     \
         "IAAAABCAIAAAB7QOjdAAAAD0lEQVR42mPQCGA4sYABAAYfAeE1LW60AAAAAElFTkSuQmCC\"}," PNG                    \
         "QAAAABCAIAAAB2XpiaAAAADUlEQVR42mNgaPgPRwAi9wX9J7HWrQAAAABJRU5ErkJggg==\"}," PNG                    \
         "EAAAACCAIAAAAW4yFwAAAADklEQVR42mNgaPjPAMQACgIC/39VZwgAAAAASUVORK5CYII=\"}],\"textures\":["         \
         "{\"source\":0,\"sampler\":0},{\"source\":1,\"sampler\":0},{\"source\":2,\"sampler\":0}],"          \
         "\"materials\":[{\"occlusionTexture\":{\"index\":" occlusion "},\"pbrMetallicRoughness\":{"         \
         "\"metallicRoughnessTexture\":{\"index\":" metal                                                    \
         "}}}],\"meshes\":[{\"primitives\":[{\"attributes\":{"                                               \
         "\"POSITION\":0},\"material\":0}]}],\"nodes\":[{\"mesh\":0}]}"

// Four texels in a row: occlusion of them, and roughness.
static void assert_row(const int occlusion[4], const int roughness[4])
{
    const orr_image8 *image = &mesh.textures[mesh.materials[0].surface_texture];
    assert_int_equal(image->width, 4);
    assert_int_equal(image->height, 1);
    for (int i = 0; i < 8; i++) {
        double value = srgb_decode((double)image->rgba[4 * (i / 2) + i % 2] / 255.0) * 255.0;
        assert_true(fabs(value - (i % 2 ? roughness : occlusion)[i / 2]) <= 1.2);
    }
}

// The smaller one is enlarged, across its seam where it repeats.
static void textures_of_two_sizes_become_one(void **state)
{
    (void)state;
    const int same[4] = {128, 128, 128, 128}, none[4] = {0, 0, 0, 0};
    read_good("a.gltf", TWO_SIZES("1", "0", "\"wrapS\":10497"));
    assert_row((const int[4]){80, 80, 160, 160}, same);
    read_good("a.gltf", TWO_SIZES("1", "0", "\"wrapS\":33071"));
    assert_row((const int[4]){40, 80, 160, 200}, same);
    read_good("a.gltf", TWO_SIZES("0", "1", "\"wrapS\":33648"));
    assert_row(none, (const int[4]){80, 100, 140, 160});
    assert_string_equal(mesh.unused, "");
    read_good("a.gltf", TWO_SIZES("0", "2", "\"wrapS\":33648")); // neither is the larger one
    assert_string_equal(mesh.unused, "occlusionTexture of another size than metallicRoughnessTexture");
}

#define COAT(members) "{\"extensions\":{\"KHR_materials_clearcoat\":{" members "}}}"

static void factors_and_textures_of_a_coat_become_one_texture(void **state)
{
    (void)state;
    read_good("a.gltf", WITH_MATERIAL(COAT("\"clearcoatFactor\":0.5,\"clearcoatRoughnessFactor\":0.25")));
    assert_int_equal(mesh.texture_count, 1);
    assert_texel(mesh.materials[0].coat_texture, 128, 64, 255);
    read_good("a.gltf", WITH_MATERIAL(COAT("\"clearcoatFactor\":1,\"clearcoatRoughnessFactor\":1,"
                                           "\"clearcoatTexture\":{\"index\":1},"
                                           "\"clearcoatRoughnessTexture\":{\"index\":0}")));
    assert_int_equal(mesh.texture_count, 1);
    assert_texel(mesh.materials[0].coat_texture, 102, 128, 255);
    read_good("a.gltf", WITH_MATERIAL(COAT("\"clearcoatFactor\":0.5,\"clearcoatTexture\":{\"index\":0}")));
    assert_texel(mesh.materials[0].coat_texture, 26, 0, 255); // roughness 0 where the file says nothing
    assert_string_equal(mesh.unused, "");
    read_good("a.gltf", WITH_MATERIAL(COAT("\"clearcoatFactor\":1,\"clearcoatRoughnessFactor\":0.5,"
                                           "\"clearcoatNormalTexture\":{\"index\":0},"
                                           "\"clearcoatTexture\":{\"index\":0},"
                                           "\"clearcoatRoughnessTexture\":{\"index\":2}")));
    assert_texel(mesh.materials[0].coat_texture, 51, 1, 255);
    assert_string_equal(mesh.unused, "");
    assert_int_equal(mesh.textures[mesh.materials[0].coat_normal_texture].rgba[1], 188); // as normalTexture
    // none without a factor; one for two materials
    read_good("a.gltf", WITH_MATERIAL(COAT("\"clearcoatTexture\":{\"index\":0}") "," COAT(
                            "\"clearcoatFactor\":1") "," COAT("\"clearcoatFactor\":1")));
    assert_int_equal(mesh.materials[0].coat_texture, -1);
    assert_int_equal(mesh.texture_count, 1);
    assert_int_equal(mesh.materials[2].coat_texture, 0);
    assert_text_refused("a.gltf", WITH_MATERIAL(COAT("\"clearcoatFactor\":[1]")),
                        "materials[0].extensions.KHR_materials_clearcoat.clearcoatFactor: expected a number");
}

// The same normals are one texture, whether of the surface or of its coat.
static void coats_have_normals_of_their_own(void **state)
{
    (void)state;
    read_good("a.gltf",
              WITH_MATERIAL("{\"normalTexture\":{\"index\":0},\"extensions\":{\"KHR_materials_clearcoat\":{"
                            "\"clearcoatFactor\":1,\"clearcoatNormalTexture\":{\"index\":0}}}},"
                            "{\"extensions\":{\"KHR_materials_clearcoat\":{\"clearcoatFactor\":1,"
                            "\"clearcoatNormalTexture\":{\"index\":0,\"scale\":2}}}}"));
    const orr_mesh_material *m = mesh.materials;
    assert_int_equal(mesh.texture_count, 3); // two of normals, one of coats
    assert_int_equal(m[0].coat_normal_texture, m[0].normal_texture);
    assert_true(m[1].normal_texture < 0 && m[1].coat_normal_texture >= 0);
    assert_int_not_equal(m[1].coat_normal_texture, m[0].normal_texture);
    assert_string_equal(mesh.unused, "");
    // of no coat
    read_good("a.gltf", WITH_MATERIAL(COAT("\"clearcoatNormalTexture\":{\"index\":0}")));
    assert_int_equal(mesh.materials[0].coat_normal_texture, -1);
}

// Textures 0 and 1 show the same picture with samplers of these members, texture 2 shows another without one.
#define SAMPLED(first, second, material)                                                                     \
    HEAD IMAGES "\"samplers\":[{" first "},{" second                                                         \
                "}],\"textures\":[{\"source\":0,\"sampler\":0},{\"source\":0,\"sampler\":1},"                \
                "{\"source\":1}],\"materials\":[{" material                                                  \
                "}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"material\":0}]}],"       \
                "\"nodes\":[{\"mesh\":0}]}"
#define BASE_AND_EMISSION                                                                                    \
    "\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0}},\"emissiveTexture\":{\"index\":1}"

static void assert_sampler(orr_texture_use use, int wrap_u, int wrap_v, bool large, bool small, bool no_mips)
{
    const orr_texture_sampler *s = &mesh.materials[0].samplers[use];
    if (s->wrap_u != wrap_u || s->wrap_v != wrap_v || s->nearest_large != large ||
        s->nearest_small != small || s->no_mips != no_mips) {
        fail_msg("sampler of use %d: wraps %d %d, nearest %d %d, no mips %d", (int)use, s->wrap_u, s->wrap_v,
                 s->nearest_large, s->nearest_small, s->no_mips);
    }
}

static void textures_have_the_samplers_of_the_file(void **state)
{
    (void)state;
    read_good("a.gltf", SAMPLED("\"wrapS\":33071,\"wrapT\":33648,\"magFilter\":9728,\"minFilter\":9987",
                                "\"wrapT\":33071,\"magFilter\":9729,\"minFilter\":9728", BASE_AND_EMISSION));
    assert_sampler(ORR_TEXTURE_BASE, ORR_WRAP_CLAMP, ORR_WRAP_MIRROR, true, false, false);
    assert_sampler(ORR_TEXTURE_EMISSIVE, ORR_WRAP_REPEAT, ORR_WRAP_CLAMP, false, true, true);
    assert_int_equal(mesh.texture_count, 1); // the picture is one, looked up in two ways
    assert_string_equal(mesh.unused, "");
    read_good("a.gltf",
              SAMPLED("\"minFilter\":9729", "\"minFilter\":9986,\"wrapS\":10497", BASE_AND_EMISSION));
    assert_false(mesh.materials[0].samplers[ORR_TEXTURE_EMISSIVE].nearest_mip);
    assert_sampler(ORR_TEXTURE_BASE, ORR_WRAP_REPEAT, ORR_WRAP_REPEAT, false, false, true);
    assert_sampler(ORR_TEXTURE_EMISSIVE, ORR_WRAP_REPEAT, ORR_WRAP_REPEAT, false, true, false);
    read_good("a.gltf", SAMPLED("\"minFilter\":9984", "\"minFilter\":9985", BASE_AND_EMISSION));
    assert_sampler(ORR_TEXTURE_BASE, ORR_WRAP_REPEAT, ORR_WRAP_REPEAT, false, true, false);
    assert_sampler(ORR_TEXTURE_EMISSIVE, ORR_WRAP_REPEAT, ORR_WRAP_REPEAT, false, false, false);
    for (int use = 0; use < ORR_TEXTURE_USES; use++) {
        const bool named = use == ORR_TEXTURE_BASE || use == ORR_TEXTURE_EMISSIVE;
        assert_int_equal(mesh.materials[0].samplers[use].nearest_mip, named);
    }
    // values that glTF has not are named, and as if they were not there
    read_good("a.gltf", SAMPLED("\"wrapS\":10496,\"magFilter\":9987,\"wrapT\":33071", "", BASE_AND_EMISSION));
    assert_sampler(ORR_TEXTURE_BASE, ORR_WRAP_REPEAT, ORR_WRAP_CLAMP, false, false, false);
    assert_non_null(strstr(mesh.unused, "wrapS 10496"));
    assert_non_null(strstr(mesh.unused, "magFilter 9987"));
    // of the textures that are made of several, that of the first counts
    read_good("a.gltf", SAMPLED("\"wrapS\":33071", "\"wrapT\":33071",
                                "\"occlusionTexture\":{\"index\":1},\"normalTexture\":{\"index\":1},"
                                "\"pbrMetallicRoughness\":{\"metallicRoughnessTexture\":{\"index\":0}}"));
    assert_sampler(ORR_TEXTURE_SURFACE, ORR_WRAP_CLAMP, ORR_WRAP_REPEAT, false, false, false);
    assert_sampler(ORR_TEXTURE_NORMAL, ORR_WRAP_REPEAT, ORR_WRAP_CLAMP, false, false, false);
    assert_non_null(strstr(mesh.unused, "the sampler of occlusionTexture"));
    read_good("a.gltf", SAMPLED("\"wrapS\":33071", "\"wrapT\":33071",
                                "\"extensions\":{\"KHR_materials_clearcoat\":{\"clearcoatFactor\":1,"
                                "\"clearcoatTexture\":{\"index\":0},\"clearcoatNormalTexture\":{\"index\":1},"
                                "\"clearcoatRoughnessTexture\":{\"index\":2}}}"));
    assert_sampler(ORR_TEXTURE_COAT, ORR_WRAP_CLAMP, ORR_WRAP_REPEAT, false, false, false);
    assert_sampler(ORR_TEXTURE_COAT_NORMAL, ORR_WRAP_REPEAT, ORR_WRAP_CLAMP, false, false, false);
    assert_non_null(strstr(mesh.unused, "the sampler of clearcoatRoughnessTexture"));
    assert_text_refused("a.gltf", SAMPLED("\"wrapS\":\"CLAMP\"", "", BASE_AND_EMISSION),
                        "samplers[0].wrapS: expected a number");
}

#define THROUGH(more)                                                                                        \
    "{\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":0.75}" more "}}"

// In 255th parts of a root: 0.04, of an index of 1.5, is exact.
static void without_a_material_gltf_is_rough_white_metal(void **state)
{
    (void)state;
    read_good("a.gltf", HEAD TRIANGLE ",\"nodes\":[{\"mesh\":0}]}");
    const orr_mesh_material *m = &mesh.materials[0];
    assert_true(m->metallic_roughness && m->metallic == 1.0f && m->roughness == 1.0f && !m->two_sided);
    assert_true(m->base_colour[0] == 1.0f && m->base_colour[3] == 1.0f);
    read_good("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_false(mesh.materials[0].metallic_roughness);
}

static void highlights_are_as_bright_as_gltf_says(void **state)
{
    (void)state;
    read_good("a.gltf", WITH_MATERIAL("{}"));
    assert_false(mesh.materials[0].has_highlight);
    read_good("a.gltf",
              WITH_MATERIAL("{\"extensions\":{\"KHR_materials_specular\":{\"specularFactor\":0.64,"
                            "\"specularColorFactor\":[1,50,0.25],\"specularTexture\":{\"index\":0}}}}"));
    const orr_mesh_material *m = &mesh.materials[0];
    assert_true(m->has_highlight && fabsf(m->highlight[0] - 0.04f * 0.64f) < 1e-3f);
    assert_true(fabsf(m->highlight[1] - 0.64f) < 2e-3f && fabsf(m->highlight[2] - 0.0064f) < 1e-3f);
    assert_true(fabsf(m->highlight_grazing - 0.64f) < 2e-3f);
    assert_string_equal(mesh.unused, "specularTexture");
    read_good("a.gltf", WITH_MATERIAL("{\"extensions\":{\"KHR_materials_specular\":{}}}"));
    assert_true(fabsf(mesh.materials[0].highlight[0] - 0.04f) < 1e-7f &&
                mesh.materials[0].highlight_grazing == 1.0f);
    read_good("a.gltf", WITH_MATERIAL("{\"extensions\":{\"KHR_materials_ior\":{\"ior\":0}}}"));
    assert_true(mesh.materials[0].highlight[1] == 1.0f);
    read_good("a.gltf", WITH_MATERIAL("{\"extensions\":{\"KHR_materials_ior\":{\"ior\":2}}}"));
    assert_true(fabsf(mesh.materials[0].highlight[1] - 1.0f / 9.0f) < 2e-3f);
    read_good("a.gltf",
              WITH_MATERIAL(
                  "{\"extensions\":{\"KHR_materials_iridescence\":{},\"KHR_materials_anisotropy\":{},"
                  "\"KHR_materials_dispersion\":{},\"KHR_materials_transmission\":{\"transmissionFactor\":1},"
                  "\"KHR_materials_specular\":{}}}"));
    assert_string_equal(mesh.unused, "KHR_materials_iridescence, KHR_materials_anisotropy, "
                                     "KHR_materials_dispersion, KHR_materials_specular of transmissive "
                                     "materials");
    // as files have them that use one each, with values and a texture: what is not drawn has its line, and
    // the rest of the material is as without
    static const char *const extensions[4][2] = {
        {"KHR_materials_sheen", "\"sheenColorFactor\":[0.9,0.2,0.1],\"sheenRoughnessFactor\":0.4,"
                                "\"sheenColorTexture\":{\"index\":1}"},
        {"KHR_materials_anisotropy", "\"anisotropyStrength\":0.7,\"anisotropyRotation\":1.57,"
                                     "\"anisotropyTexture\":{\"index\":1}"},
        {"KHR_materials_iridescence",
         "\"iridescenceFactor\":1,\"iridescenceIor\":1.8,"
         "\"iridescenceThicknessMinimum\":200,\"iridescenceThicknessMaximum\":500"},
        {"KHR_materials_dispersion", "\"dispersion\":0.33"}};
    for (int i = 0; i < 4; i++) {
        char text[4096];
        snprintf(text, sizeof text,
                 WITH_MATERIAL("{\"pbrMetallicRoughness\":{\"roughnessFactor\":0.3},\"extensions\":{"
                               "\"%s\":{%s}}}"),
                 extensions[i][0], extensions[i][1]);
        read_good("a.gltf", text);
        assert_string_equal(mesh.unused, extensions[i][0]);
        assert_true(fabsf(mesh.materials[0].roughness - 0.3f) < 1e-6f);
    }
    assert_text_refused(
        "a.gltf", WITH_MATERIAL("{\"extensions\":{\"KHR_materials_specular\":{\"specularFactor\":2}}}"),
        "materials[0].extensions.KHR_materials_specular.specularFactor: expected a number from 0 to 1");
    assert_text_refused(
        "a.gltf",
        WITH_MATERIAL("{\"extensions\":{\"KHR_materials_specular\":{\"specularColorFactor\":[1,-1,1]}}}"),
        "materials[0].extensions.KHR_materials_specular.specularColorFactor: expected numbers from 0");
}

static void light_goes_through_what_gltf_says(void **state)
{
    (void)state;
    read_good("a.gltf", WITH_MATERIAL(THROUGH("")));
    assert_true(mesh.materials[0].transmission == 0.75f && mesh.materials[0].ior == 1.5f);
    assert_true(!mesh.materials[0].closed && mesh.materials[0].absorption[0] == 0.0f);
    assert_string_equal(mesh.unused, "");
    read_good("a.gltf",
              WITH_MATERIAL(THROUGH(",\"KHR_materials_ior\":{\"ior\":1.25},\"KHR_materials_volume\":{"
                                    "\"thicknessFactor\":2,\"attenuationDistance\":0.5,"
                                    "\"attenuationColor\":[1,0.5,0]}")));
    assert_true(mesh.materials[0].closed && mesh.materials[0].ior == 1.25f);
    // what is left of white after the distance of 1/2, also where nothing would be left
    assert_true(mesh.materials[0].absorption[0] == 0.0f);
    assert_true(fabsf(expf(-0.5f * mesh.materials[0].absorption[1]) - 0.5f) < 1e-6f);
    assert_true(mesh.materials[0].absorption[2] > 20.0f && isfinite(mesh.materials[0].absorption[2]));
    assert_string_equal(mesh.unused, "");
    // a thin wall has no inside; colours without a distance absorb nothing
    read_good("a.gltf",
              WITH_MATERIAL(THROUGH(
                  ",\"KHR_materials_volume\":{\"attenuationDistance\":1,\"attenuationColor\":[0,0,0]}")));
    assert_true(!mesh.materials[0].closed && mesh.materials[0].absorption[0] == 0.0f);
    read_good("a.gltf",
              WITH_MATERIAL(
                  THROUGH(",\"KHR_materials_volume\":{\"thicknessFactor\":1,\"attenuationColor\":[0,0,0]}")));
    assert_true(mesh.materials[0].closed && mesh.materials[0].absorption[0] == 0.0f);
    // what is not drawn
    read_good("a.gltf", WITH_MATERIAL("{\"extensions\":{\"KHR_materials_ior\":{\"ior\":1.3}}}"));
    assert_true(mesh.materials[0].transmission == 0.0f && mesh.materials[0].has_highlight);
    assert_string_equal(mesh.unused, "");
    read_good("a.gltf",
              WITH_MATERIAL("{\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":1,"
                            "\"transmissionTexture\":{\"index\":0}},\"KHR_materials_clearcoat\":{"
                            "\"clearcoatFactor\":1},\"KHR_materials_ior\":{\"ior\":0}}}"));
    assert_true(mesh.materials[0].ior == 1.5f && mesh.materials[0].coat_texture == -1);
    assert_int_equal(mesh.textures[mesh.materials[0].surface_texture].rgba[3], 51);
    assert_non_null(strstr(mesh.unused, "clear coat of transmissive materials"));
    assert_non_null(strstr(mesh.unused, "index of refraction of 0"));
    assert_text_refused("a.gltf", WITH_MATERIAL(THROUGH(",\"KHR_materials_ior\":{\"ior\":0.5}")),
                        "materials[0].extensions.KHR_materials_ior.ior: expected 0, or a number from 1");
    assert_text_refused("a.gltf",
                        WITH_MATERIAL(THROUGH(",\"KHR_materials_volume\":{\"attenuationDistance\":0}")),
                        "materials[0].extensions.KHR_materials_volume.attenuationDistance: expected a "
                        "distance greater than 0");
}

#define TRANSMISSION(factor, texture)                                                                        \
    "\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":" factor                         \
    ",\"transmissionTexture\":{\"index\":" texture "}}}"

static int alpha_of_surface(void)
{
    return mesh.textures[mesh.materials[0].surface_texture].rgba[3];
}

// The red of its texture is the alpha of that of the surface, not encoded.
static void textures_of_transmission_become_alpha(void **state)
{
    (void)state;
    read_good("a.gltf", WITH_MATERIAL("{" TRANSMISSION("1", "1") "}"));
    assert_surface(255, 255, 255);
    assert_int_equal(alpha_of_surface(), 102);
    assert_true(mesh.materials[0].transmission == 1.0f);
    read_good("a.gltf", WITH_MATERIAL("{" METAL "," TRANSMISSION("1", "1") "}"));
    assert_surface(255, 128, 255);
    assert_int_equal(alpha_of_surface(), 102);
    assert_int_equal(mesh.texture_count, 1);
    // all three of one texture, and of two
    read_good("a.gltf",
              WITH_MATERIAL("{" METAL ",\"occlusionTexture\":{\"index\":0}," TRANSMISSION("1", "0") "}"));
    assert_surface(51, 128, 255);
    assert_int_equal(alpha_of_surface(), 51);
    read_good("a.gltf",
              WITH_MATERIAL("{" METAL ",\"occlusionTexture\":{\"index\":1}," TRANSMISSION("1", "0") "}"));
    assert_surface(102, 128, 255);
    assert_int_equal(alpha_of_surface(), 51);
    assert_string_equal(mesh.unused, "");
    read_good("a.gltf", WITH_MATERIAL("{" METAL "," TRANSMISSION("1", "2") "}"));
    assert_int_equal(alpha_of_surface(), 1);
    assert_string_equal(mesh.unused, "");
    // what is opaque anyway has none; what differs in it alone shares none
    read_good("a.gltf", WITH_MATERIAL("{" TRANSMISSION("0", "1") "}"));
    assert_int_equal(mesh.materials[0].surface_texture, -1);
    read_good("a.gltf", WITH_MATERIAL("{" METAL "," TRANSMISSION("1", "1") "},{" METAL "}"));
    assert_int_equal(mesh.texture_count, 2);
    assert_text_refused("a.gltf", WITH_MATERIAL("{" TRANSMISSION("1.5", "1") "}"),
                        "materials[0].extensions.KHR_materials_transmission.transmissionFactor: expected a "
                        "number from 0 to 1");
    assert_text_refused("a.gltf", WITH_MATERIAL("{" TRANSMISSION("1", "3") "}"),
                        "transmissionTexture.index: expected a whole number from 0 to 2");
}

// Positions, normals, a target, joints, weights and inverse matrices; joint 1 is bound a unit along x.
#define SHAPES                                                                                               \
    "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":296,\"uri\":\"data:applica"               \
    "tion/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAACAPwAAAAAAAAA"               \
    "AAACAPwAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAABAAAAAAAAAAAAAAEBAAAAAAAE"               \
    "AAAAAAQAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA+AACAPgAAAAAAAAAAAACAPwAAAAAAAAA"               \
    "AAAAAAAAAAAAAAIA/AAAAAAAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAAAAAACAPwAAgD8AAAAAAAAAAAA"               \
    "AAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAAAAAIA/AAAAAAAAgL8AAAAAAAAAAAAAgD8=\"}],\"bufferViews"                \
    "\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":36,\""               \
    "byteLength\":36},{\"buffer\":0,\"byteOffset\":72,\"byteLength\":36},{\"buffer\":0,\"byte"               \
    "Offset\":108,\"byteLength\":12},{\"buffer\":0,\"byteOffset\":120,\"byteLength\":48},{\"b"               \
    "uffer\":0,\"byteOffset\":168,\"byteLength\":128}],\"accessors\":[{\"bufferView\":0,\"com"               \
    "ponentType\":5126,\"count\":3,\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":512"               \
    "6,\"count\":3,\"type\":\"VEC3\"},{\"bufferView\":2,\"componentType\":5126,\"count\":3,\""               \
    "type\":\"VEC3\"},{\"bufferView\":3,\"componentType\":5121,\"count\":3,\"type\":\"VEC4\"}"               \
    ",{\"bufferView\":4,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"},{\"bufferView\""               \
    ":5,\"componentType\":5126,\"count\":2,\"type\":\"MAT4\"}],"
#define SHAPE "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1"
#define JOINTS ",\"JOINTS_0\":3,\"WEIGHTS_0\":4}}]}],"
// Joint 0 is two units up, joint 1 is turned by a quarter about z.
#define SKELETON                                                                                             \
    "{\"translation\":[0,0,2],\"children\":[2]},{\"translation\":[1,0,0],\"rotation\":[0,0,0.70710678,"      \
    "0.70710678]}]}"

// Where the file has their joints, and not where the node is.
static void skins_are_as_their_joints_are(void **state)
{
    (void)state;
    read_good("a.gltf", SHAPES SHAPE JOINTS
              "\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":5}],\"nodes\":[{\"mesh\":0,\"skin\":0,"
              "\"translation\":[100,0,0]}," SKELETON);
    assert_at(0, 0.0f, 0.0f, 2.0f);
    assert_at(1, 1.0f, 0.0f, 2.0f);
    assert_at(2, 0.0f, 0.0f, 2.0f); // half of each joint; its weights sum up to a half
    assert_close(corner(0)->normal[0], 1.0);
    assert_close(corner(1)->normal[1], 1.0);
    assert_string_equal(mesh.unused, "");
    // without inverse matrices; with a node of the mesh among the joints' children
    read_good("a.gltf", SHAPES SHAPE JOINTS
              "\"skins\":[{\"joints\":[1,2]}],\"nodes\":[{\"mesh\":0,\"skin\":0}," SKELETON);
    assert_at(1, 1.0f, 1.0f, 2.0f);
    // without a skin the node counts
    read_good("a.gltf", SHAPES SHAPE JOINTS "\"nodes\":[{\"mesh\":0,\"translation\":[100,0,0]}," SKELETON);
    assert_at(1, 101.0f, 0.0f, 0.0f);
    assert_non_null(strstr(mesh.unused, "JOINTS_0"));
    assert_text_refused("a.gltf",
                        SHAPES SHAPE JOINTS
                        "\"skins\":[{\"joints\":[1]}],\"nodes\":[{\"mesh\":0,\"skin\":0}," SKELETON,
                        "attributes.JOINTS_0: expected indices of the 1 joints of the skin");
    assert_text_refused("a.gltf",
                        SHAPES SHAPE JOINTS
                        "\"skins\":[{\"joints\":[1,3]}],\"nodes\":[{\"mesh\":0,\"skin\":0}," SKELETON,
                        "skins[0].joints: expected indices of the 3 nodes");
    assert_text_refused("a.gltf",
                        SHAPES SHAPE JOINTS "\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":4}],"
                                            "\"nodes\":[{\"mesh\":0,\"skin\":0}," SKELETON,
                        "skins[0].inverseBindMatrices: expected an accessor of type MAT4");
    assert_text_refused("a.gltf",
                        SHAPES SHAPE ",\"JOINTS_0\":3}}]}],\"skins\":[{\"joints\":[1,2]}],"
                                     "\"nodes\":[{\"mesh\":0,\"skin\":0}," SKELETON,
                        "attributes.WEIGHTS_0: expected an accessor");
    // a joint that is above itself
    assert_text_refused("a.gltf",
                        SHAPES SHAPE JOINTS
                        "\"skins\":[{\"joints\":[1,1]}],\"nodes\":[{\"mesh\":0,\"skin\":0},"
                        "{\"children\":[2]},{\"children\":[1]}]}",
                        "expected a tree: the node is above itself");
}

#define TARGETS(more) SHAPE "},\"targets\":[{\"POSITION\":2},{\"POSITION\":2,\"NORMAL\":2" more "}]}]"

// By the weights of the node, else those of the mesh, else none.
static void morph_targets_have_the_weights_of_the_file(void **state)
{
    (void)state;
    read_good("a.gltf", SHAPES TARGETS("") ",\"weights\":[0.5]}],\"nodes\":[{\"mesh\":0}]}");
    assert_at(1, 1.0f, 0.0f, 1.0f);
    assert_at(2, 0.0f, 1.0f, 1.5f);
    assert_close(corner(2)->normal[2], 0.0);
    read_good("a.gltf", SHAPES TARGETS("") ",\"weights\":[0.5]}],\"nodes\":[{\"mesh\":0,\"weights\":[1,2],"
                                           "\"translation\":[5,0,0]}]}");
    assert_at(1, 6.0f, 0.0f, 6.0f);
    assert_close(corner(1)->normal[2], 4.0);
    read_good("a.gltf", SHAPES TARGETS("") "}],\"nodes\":[{\"mesh\":0}]}");
    assert_at(1, 1.0f, 0.0f, 0.0f);
    assert_string_equal(mesh.unused, "");
    read_good("a.gltf", SHAPES TARGETS(",\"COLOR_0\":2") ",\"weights\":[0,1]}],\"nodes\":[{\"mesh\":0}]}");
    assert_string_equal(mesh.unused, "COLOR_0 of morph targets");
    assert_text_refused("a.gltf",
                        SHAPES TARGETS(",\"COLOR_0\":2") ",\"weights\":[\"a\"]}],\"nodes\":[{\"mesh\":0}]}",
                        "meshes[0].weights: expected an array of numbers");
    assert_text_refused("a.gltf",
                        SHAPES SHAPE "},\"targets\":[{\"POSITION\":3}]}],\"weights\":[1]}],"
                                     "\"nodes\":[{\"mesh\":0}]}",
                        "targets[0].POSITION: expected an accessor of 3 values of 3 components");
}

static void what_gltf_holds_and_is_left_out_is_named(void **state)
{
    (void)state;
    read_good("a.gltf", HEAD
              "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":0},\"targets\":[{}],"
              "\"material\":0},{\"attributes\":{\"POSITION\":0},\"mode\":1}]}],"
              "\"materials\":[{\"thicknessTexture\":{\"index\":0}}],\"animations\":[{}],"
              "\"extensionsUsed\":[\"KHR_materials_iridescence\",\"KHR_materials_unlit\"],\"nodes\":[{"
              "\"mesh\":0}]}");
    static const char *const names[] = {"animations", "KHR_materials_iridescence", "thicknessTexture",
                                        "lines", "JOINTS_0"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strstr(mesh.unused, names[i])) {
            fail_msg("expected %s in: %s", names[i], mesh.unused);
        }
    }
    assert_null(strstr(mesh.unused, "unlit"));
}

// Each picture that is missing or of no known format is as if its material did not name it.
static void gltf_is_drawn_without_pictures_that_are_missing(void **state)
{
    (void)state;
    static const char *const pictures[] = {"{\"uri\":\"missing.png\"}", "{\"uri\":\"data:;base64,AAAA\"}",
                                           "{\"uri\":\"data:image/ktx2,x\"}"};
    static const char *const notes[] = {"texture missing.png (expected no other file", "texture images[0] (",
                                        "texture images[0] (expected data:...;base64"};
    char text[4096];
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text,
                 HEAD "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"material\":0}]}],"
                      "\"nodes\":[{\"mesh\":0}],\"images\":[%s],\"textures\":[{%s}],"
                      "\"materials\":[{\"normalTexture\":{\"index\":0},\"emissiveTexture\":{\"index\":0},"
                      "\"occlusionTexture\":{\"index\":0},\"pbrMetallicRoughness\":{\"baseColorTexture\":{"
                      "\"index\":0},\"metallicRoughnessTexture\":{\"index\":0}}}]}",
                 i < 3 ? pictures[i] : "",
                 i < 3 ? "\"source\":0" : "\"extensions\":{\"KHR_texture_basisu\":{\"source\":0}}");
        read_good("a.gltf", text);
        assert_int_equal(mesh.texture_count, 0);
        for (int use = 0; use < ORR_TEXTURE_USES; use++) {
            assert_int_equal(orr_material_texture(&mesh.materials[0], (orr_texture_use)use), -1);
        }
        const char *note = i < 3 ? notes[i] : "textures without a PNG, JPEG or WebP";
        if (strstr(mesh.unused, note) != mesh.unused) {
            fail_msg("expected '%s' in '%s'", note, mesh.unused);
        }
    }
}

#define WITH_LIGHTS(lights, node)                                                                            \
    HEAD TRIANGLE ",\"extensionsUsed\":[\"KHR_lights_punctual\"],\"extensions\":{\"KHR_lights_punctual\":{"  \
                  "\"lights\":[" lights "]}},\"nodes\":[{\"mesh\":0}," node "]}"
#define LIGHT(index) "\"extensions\":{\"KHR_lights_punctual\":{\"light\":" index "}}"

static void lights_of_gltf_are_where_their_nodes_are(void **state)
{
    (void)state;
    // the second node is turned by 90 degrees about x, scaled and moved: its -z axis is y
    read_good("a.gltf", WITH_LIGHTS("{\"type\":\"spot\",\"color\":[1,0.5,0],\"intensity\":40,\"range\":9,"
                                    "\"spot\":{\"innerConeAngle\":0.2,\"outerConeAngle\":0.6}},"
                                    "{\"type\":\"point\"},{\"type\":\"directional\",\"intensity\":0},"
                                    "{\"type\":\"spot\",\"spot\":{\"innerConeAngle\":1.5707964,"
                                    "\"outerConeAngle\":1.5707964}}",
                                    "{\"rotation\":[0.70710678,0,0,0.70710678],\"scale\":[2,2,3],"
                                    "\"translation\":[1,2,3],\"children\":[2]," LIGHT(
                                        "0") "},"
                                             "{\"translation\":[0,0,1]," LIGHT("1") "},{" LIGHT(
                                                 "2") "},{" LIGHT("3") "}"));
    assert_string_equal(mesh.unused, "");
    assert_int_equal(mesh.light_count, 3); // the dark one is left out
    const orr_light_desc *spot = &mesh.lights[0], *point = &mesh.lights[1], *wide = &mesh.lights[2];
    assert_int_equal(spot->kind, ORR_LIGHT_KIND_SPOT);
    assert_close(spot->position[0], 1.0);
    assert_close(spot->position[2], 3.0);
    assert_close(spot->direction[0], 0.0);
    assert_close(spot->direction[1], 1.0);
    assert_close(spot->colour[1], 0.5);
    assert_close(spot->intensity, 40.0);
    assert_close(spot->range, 9.0); // the scale of nodes does not change lights
    assert_close(spot->inner, 11.459156);
    assert_close(spot->outer, 34.377468);
    assert_int_equal(point->kind, ORR_LIGHT_KIND_POINT);
    assert_close(point->position[1], 2.0 - 3.0);
    assert_close(point->intensity, 1.0);
    assert_close(point->range, 0.0);
    assert_close(wide->direction[2], -1.0);
    assert_close(wide->inner, 90.0);
    assert_close(wide->outer, 90.0);
}

static void broken_lights_of_gltf_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *because;
    } cases[] = {
        {WITH_LIGHTS("{\"type\":\"sun\"}", "{" LIGHT("0") "}"),
         "KHR_lights_punctual.lights[0].type: expected \"directional\", \"point\" or \"spot\""},
        {WITH_LIGHTS("{}", "{" LIGHT("0") "}"), "lights[0].type"},
        {WITH_LIGHTS("{\"type\":\"point\",\"intensity\":-1}", "{" LIGHT("0") "}"),
         "intensity: expected 0 or more"},
        {WITH_LIGHTS("{\"type\":\"point\",\"intensity\":1e300}", "{" LIGHT("0") "}"), "intensity: expected"},
        {WITH_LIGHTS("{\"type\":\"point\",\"color\":[1,-1,1]}", "{" LIGHT("0") "}"), "color: expected"},
        {WITH_LIGHTS("{\"type\":\"point\",\"range\":0}", "{" LIGHT("0") "}"), "range: expected"},
        {WITH_LIGHTS("{\"type\":\"spot\",\"spot\":{\"innerConeAngle\":1}}", "{" LIGHT("0") "}"),
         "lights[0].spot: expected 0 <= innerConeAngle"},
        {WITH_LIGHTS("{\"type\":\"point\"}", "{" LIGHT("1") "}"),
         "nodes[1].extensions.KHR_lights_punctual.light: expected a whole number of lights, 0 to 0"},
        {WITH_LIGHTS("{\"type\":\"spot\"}", "{\"scale\":[1,1,0]," LIGHT("0") "}"), "an axis for its light"},
        {HEAD TRIANGLE ",\"nodes\":[{\"mesh\":0," LIGHT("0") "}]}", "expected lights in the file's"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_text_refused("broken.gltf", cases[i].text, cases[i].because);
    }
}

static void broken_gltf_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *because;
    } cases[] = {
        {"{\"asset\":{\"version\":\"1.0\"}}", "asset.version: expected \"2.0\""},
        {"{\"asset\":{\"version\":\"2.0\"},\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]}",
         "extensionsRequired: KHR_draco_mesh_compression is not supported"},
        {HEAD TRIANGLE "}", "no triangles"},
        {HEAD TRIANGLE ",\"nodes\":[{\"mesh\":1}]}", "nodes[0].mesh: expected a whole number from 0 to 0"},
        {HEAD TRIANGLE ",\"nodes\":[{\"mesh\":0,\"rotation\":[0,0,0,0]}]}", "nodes[0].rotation"},
        {HEAD TRIANGLE ",\"nodes\":[{\"children\":[1]},{\"children\":[2]},{\"children\":[1],\"mesh\":0}]}",
         "nodes[2].children: expected a tree: node 1 has two parents"},
        {HEAD TRIANGLE
         ",\"scenes\":[{\"nodes\":[1]}],\"nodes\":[{\"children\":[1],\"mesh\":0},{\"children\":[0]}]}",
         "scenes[0].nodes: expected roots"},
        {HEAD TRIANGLE ",\"scenes\":[{\"nodes\":[0,0]}],\"nodes\":[{\"mesh\":0}]}",
         "scenes[0].nodes: expected roots"},
        {HEAD "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":2}}]}],\"nodes\":[{\"mesh\":0}]}",
         "meshes[0].primitives[0].attributes.POSITION"},
        {HEAD "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}],\"nodes\":[{"
              "\"mesh\":0}]}",
         "accessors[1]: expected indices"},
        {"{\"asset\":{\"version\":\"2.0\"}," BUFFER VIEWS
         "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}],"
         "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"nodes\":[{\"mesh\":0}]}",
         "accessors[0].bufferView: expected room for 4 values of 12 bytes in its 36 bytes"},
        {"{\"asset\":{\"version\":\"2.0\"},\"accessors\":[{\"componentType\":5126,\"count\":3,"
         "\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"extensions\":{"
         "\"KHR_draco_mesh_compression\":{\"bufferView\":0,\"attributes\":{\"POSITION\":0}}}}]}],"
         "\"nodes\":[{\"mesh\":0}]}",
         "accessors[0]: expected a bufferView or sparse values; compressed meshes"},
        {"{\"asset\":{\"version\":\"2.0\"}," BUFFER VIEWS
         "\"accessors\":[{\"componentType\":5126,\"count\":2000000000,"
         "\"type\":\"VEC3\",\"sparse\":{}}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]"
         ",\"nodes\":[{\"mesh\":0}]}",
         "accessors[0].count: expected a bufferView"},
        {"{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":56,\"uri\":\"data:;base64,AA=A\"}]"
         "," VIEWS ACCESSORS TRIANGLE ",\"nodes\":[{\"mesh\":0}]}",
         "buffers[0].uri: data: expected base64"},
        {"{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":5600,\"uri\":\"data:;base64,AAAA\"}]"
         "," VIEWS ACCESSORS TRIANGLE ",\"nodes\":[{\"mesh\":0}]}",
         "buffers[0].byteLength: expected at most the 3 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_text_refused("broken.gltf", cases[i].text, cases[i].because);
    }
}

static void a_container_with_wrong_lengths_is_refused(void **state)
{
    (void)state;
    static const char json[] = "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[]}  ";
    enum { JSON = sizeof json - 1, SIZE = 20 + JSON };
    _Static_assert(JSON % 4 == 0, "chunks are words");
    static const struct {
        uint32_t magic, version, size, chunk, kind;
        const char *because;
    } cases[] = {{0x46546c67, 2, SIZE, JSON, 0x4e4f534a, "no triangles"},
                 {0x46546c68, 2, SIZE, JSON, 0x4e4f534a, "expected 'glTF'"},
                 {0x46546c67, 1, SIZE, JSON, 0x4e4f534a, "expected glTF version 2"},
                 {0x46546c67, 2, 0xfffffff0, JSON, 0x4e4f534a, "the header says 4294967280"},
                 {0x46546c67, 2, SIZE, 0xfffffff0, 0x4e4f534a, "a chunk of 4294967280 bytes"},
                 {0x46546c67, 2, SIZE, JSON, 0x004e4942, "one chunk of JSON"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t file[SIZE];
        const uint32_t head[5] = {cases[i].magic, cases[i].version, cases[i].size, cases[i].chunk,
                                  cases[i].kind};
        memcpy(file, head, sizeof head);
        memcpy(file + 20, json, JSON);
        assert_refused("broken.glb", file, SIZE, cases[i].because);
    }
}

// Nodes below nodes, each moved by 1: deep trees need no deep stack.
static void deep_trees_are_walked(void **state)
{
    (void)state;
    enum { NODES = 100000, ROOM = 64 };
    char *text = malloc(ROOM * (size_t)NODES + 4096), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", HEAD TRIANGLE ",\"nodes\":[");
    for (int i = 0; i < NODES - 1; i++) {
        at += sprintf(at, "{\"children\":[%d],\"translation\":[1,0,0]},", i + 1);
    }
    sprintf(at, "{\"mesh\":0}]}");
    read_good("deep.gltf", text);
    assert_at(0, NODES - 1, 0, 0);
    free(text);

    at = text = malloc(ROOM * (size_t)NODES + 4096);
    assert_non_null(text);
    at += sprintf(at, "<COLLADA><library_visual_scenes><visual_scene id='s'>");
    for (int i = 0; i < NODES; i++) {
        at += sprintf(at, "<node>");
    }
    for (int i = 0; i < NODES; i++) {
        at += sprintf(at, "</node>");
    }
    sprintf(at, "</visual_scene></library_visual_scenes></COLLADA>");
    assert_text_refused("deep.dae", text, "no triangles");
    free(text);
}

// What names its contents again and again ends at a limit that follows from the file's size.
static void a_small_file_stays_small(void **state)
{
    (void)state;
    enum { TIMES = 20000 };
    char *text = malloc(16 * (size_t)TIMES + 4096), *at = text;
    assert_non_null(text);
    at += sprintf(
        at,
        "{\"asset\":{\"version\":\"2.0\"}," BUFFER VIEWS
        "\"accessors\":[{\"componentType\":5126,\"count\":100000,\"type\":\"VEC3\",\"sparse\":{\"count\":2,"
        "\"indices\":{\"bufferView\":2,\"componentType\":5121,\"byteOffset\":1},\"values\":{\"bufferView\":0,"
        "\"byteOffset\":12}}}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":6}]}],"
        "\"nodes\":[");
    for (int i = 0; i < TIMES; i++) {
        at += sprintf(at, "%s{\"mesh\":0}", i ? "," : "");
    }
    sprintf(at, "]}");
    assert_text_refused("repeated.gltf", text, "in a file of this size");
    free(text);
    assert_text_refused(
        "circle.dae",
        "<COLLADA><library_visual_scenes><visual_scene id='s'><node id='n'><instance_node url='#n'/>"
        "<instance_node url='#n'/></node></visual_scene></library_visual_scenes></COLLADA>",
        "in a circle, or too often");
    assert_text_refused(
        "entities.dae",
        "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><COLLADA>&b;</COLLADA>",
        "expected no entities");
}

// ---- .obj ----

static void polygons_of_obj_become_triangles(void **state)
{
    (void)state;
    // an arrow: the fourth corner is a hollow, so that no fan from the first covers it
    read_good("a.obj", "v 0 0 0 1 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 0 0 0 1\nvt 0.25 0.5\nvn 0 0 2\n"
                       "f 1/1/1 2/1/1 3/1/1 4/1/1 \\\n 5/-1/-1\n");
    assert_int_equal(mesh.vertex_count, 5);
    assert_int_equal(mesh.index_count, 9);
    assert_close((float)area(), 10.0); // 16 without the notch
    for (int i = 0; i < 9; i += 3) {   // each triangle turns as the polygon does
        const float *a = corner(i)->position, *b = corner(i + 1)->position, *c = corner(i + 2)->position;
        assert_true((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]) > 0.0f);
    }
    assert_close(mesh.vertices[4].texcoord[1], 0.5);
    assert_close(mesh.vertices[4].normal[2], 2.0);
    assert_close(mesh.vertices[4].colour[2], 1.0);
    assert_close(mesh.vertices[4].colour[0], 0.0);
    assert_close(mesh.vertices[1].colour[1], 1.0);
    read_good("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nl 1 2\ncurv 0 1\n");
    assert_at(1, 1, 0, 0);
    assert_string_equal(mesh.unused, "lines, curv lines");
    assert_text_refused("b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "line 4: corner '0'");
    assert_text_refused("b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3/1\n", "line 4: corner '3/1'");
    assert_text_refused("b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3x\n", "line 4: corner '3x'");
    assert_text_refused("b.obj", "v 0 0\n", "line 1: expected 3 numbers behind v");
    read_good("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\nf 1 2 3\nf 3\n");
    assert_int_equal(mesh.index_count, 3);
    assert_int_equal(mesh.vertex_count, 3);
    assert_string_equal(mesh.unused, "faces of fewer than 3 corners");
}

static void put(const char *name, const char *text)
{
    assert_ok(orr_file_write(scratch_path(name), text, strlen(text), &error));
}

// outside.obj with a material whose picture has this name.
static void write_textured(const char *picture)
{
    char text[256];
    snprintf(text, sizeof text, "newmtl m\nmap_Kd %s\n", picture);
    put("elsewhere.mtl", text);
    put("outside.obj", "mtllib elsewhere.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n");
}

static void read_file(const orr_mesh_file_desc *desc)
{
    orr_mesh_file_free(&mesh);
    assert_ok(orr_mesh_file_read(desc, &mesh, &error));
}

// Where the file has none they are those of the triangles, as glTF wants: at a ridge of 40 degrees that two
// of them have in common, too, where those of other formats would be smooth.
static void gltf_without_normals_is_flat(void **state)
{
    (void)state;
    const char text[] = "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":54,\"uri\":\"data:"
                        "application/octet-stream;base64,AAAAAAAAAAAAAAAAAAAAAAAAgD8AAAAAAACAvwAAAAAA"
                        "AAAAfRtEPwAAAAC7jSQ/AAECAAMB\"}],"
                        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,"
                        "\"byteLength\":6}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,"
                        "\"count\":4,\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":5121,\"count\":6,"
                        "\"type\":\"SCALAR\"}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},"
                        "\"indices\":1}]}],\"nodes\":[{\"mesh\":0}]}";
    const orr_bytes bytes = {(uint8_t *)text, sizeof text - 1};
    read_file(&(orr_mesh_file_desc){.path = "a.gltf", .bytes = &bytes, .make_normals = true});
    assert_int_equal(mesh.index_count, 6);
    for (int i = 0; i < 6; i++) {
        const float *n = corner(i)->normal, turned = i < 3 ? 0.0f : 0.69813170f; // 40 degrees
        assert_close(n[0], -sin((double)turned));
        assert_close(n[1], 0.0);
        assert_close(n[2], cos((double)turned));
    }
}

static void read_textured(const orr_mesh_file_desc *desc, const char *picture)
{
    write_textured(picture);
    read_file(desc);
}

static void files_beside_a_mesh_stay_in_its_folder(void **state)
{
    (void)state;
    const char square[] = "mtllib %s\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n";
    char text[256], path[4096];
    snprintf(path, sizeof path, "%s", scratch_path("outside.obj"));
    const orr_mesh_file_desc desc = {.path = path, .read_textures = true};
    put("clear.mtl", "newmtl m\nKd 0.25 0.5 1\nKe 0 0 2\nd 0.5\nmap_bump b.png\n");
    snprintf(text, sizeof text, square, "clear.mtl");
    put("outside.obj", text);
    read_file(&desc);
    const orr_mesh_material *m = &mesh.materials[mesh.parts[0].material];
    assert_true(m->blended && m->base_colour[3] == 0.5f && m->base_colour[0] == 0.25f &&
                m->emissive[2] == 2.0f);
    assert_string_equal(mesh.unused, "map_bump");
    orr_mesh_file_free(&mesh);
    // MeshLab writes Tr 1 for what is opaque
    static const struct {
        const char *line;
        float alpha;
    } shares[] = {{"Tr 1", 1.0f}, {"Tr 0.75", 0.25f}, {"Tr 0", 1.0f}, {"d 0", 0.0f}};
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "newmtl m\n%s\n", shares[i].line);
        put("clear.mtl", text);
        read_file(&desc);
        m = &mesh.materials[mesh.parts[0].material];
        assert_true(m->base_colour[3] == shares[i].alpha && m->blended == (shares[i].alpha < 1.0f));
        orr_mesh_file_free(&mesh);
    }
    // what is missing is named; what is elsewhere is not opened
    static const char *const libraries[][2] = {{"missing.mtl", "materials of missing.mtl"},
                                               {"../cloudy.mtl", "in the folder of the mesh"},
                                               {"/dev/zero", "in the folder of the mesh"}};
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, square, libraries[i][0]);
        put("outside.obj", text);
        read_file(&desc);
        assert_non_null(strstr(mesh.unused, libraries[i][1]));
        orr_mesh_file_free(&mesh);
    }
    static const char *const pictures[] = {"/etc/passwd", "a/../../b.png", "..\\b.png", "http://a/b.png"};
    for (int i = 0; i < 4; i++) {
        read_textured(&desc, pictures[i]);
        assert_int_equal(mesh.materials[mesh.parts[0].material].texture, -1);
        assert_non_null(strstr(mesh.unused, pictures[i]));
        assert_non_null(strstr(mesh.unused, "(expected a file in the folder of the mesh or below it)"));
        orr_mesh_file_free(&mesh);
    }
}

static void pictures_that_are_missing_are_left_out(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s", scratch_path("outside.obj"));
    const orr_mesh_file_desc desc = {.path = path, .read_textures = true};
    const uint8_t texel[4] = {10, 20, 30, 255};
    assert_ok(orr_png_save(scratch_path("texel.png"), texel, 1, 1, &error));
    put("text.png", "no picture");
    static const struct {
        const char *name, *note;
    } left_out[] = {{"missing.png", "texture missing.png (cannot open: No such file or directory)"},
                    {"text.png", "texture text.png (picture: "}};
    for (int i = 0; i < 2; i++) {
        read_textured(&desc, left_out[i].name);
        assert_int_equal(mesh.texture_count, 0);
        assert_int_equal(mesh.index_count, 3);
        assert_memory_equal(mesh.unused, left_out[i].note, strlen(left_out[i].note));
        orr_mesh_file_free(&mesh);
    }
    // names of the machine where the mesh was made
    static const char *const found[] = {"texel.png", "C:\\art\\texel.png", "/home/a/texel.png",
                                        "../pictures/texel.png"};
    for (int i = 0; i < 4; i++) {
        read_textured(&desc, found[i]);
        assert_string_equal(mesh.unused, "");
        assert_int_equal(mesh.textures[mesh.materials[mesh.parts[0].material].texture].rgba[1], 20);
        orr_mesh_file_free(&mesh);
    }
    // what begins like a picture and is damaged is an error
    static const char begin[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x8\2\0\0\0\x90\x77\x53\xde";
    assert_ok(orr_file_write(scratch_path("damaged.png"), begin, sizeof begin - 1, &error));
    write_textured("damaged.png");
    orr_error why = {0};
    assert_int_equal(orr_mesh_file_read(&desc, &mesh, &why), ORR_ERROR_FORMAT);
    assert_non_null(strstr(why.message, "texture damaged.png"));
}

// ---- .stl ----

static void stl_is_told_from_its_bytes(void **state)
{
    (void)state;
    read_good("a.stl",
              "solid one\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
              "endfacet\nendsolid one\nsolid\nfacet normal 0 1 0 outer loop\nvertex 0 0 0\nvertex 2 0 0\n"
              "vertex 0 2 0\nendloop endfacet\nendsolid\n");
    assert_int_equal(mesh.index_count, 6);
    assert_at(4, 2, 0, 0);
    assert_close(corner(3)->normal[1], 1.0);
    assert_text_refused("b.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n",
                        "line 4: expected 3 numbers");
    // lines that end with carriage returns alone
    read_good("a.stl", "solid one\rfacet normal 0 0 1\router loop\rvertex 0 0 0\rvertex 1 0 0\rvertex 0 3 0\r"
                       "endloop\rendfacet\rendsolid one\r");
    assert_at(2, 0, 3, 0);
    assert_text_refused("b.stl", "solid a\rfacet normal 0 0 1\router loop\rvertex 0 0\r",
                        "line 4: expected 3 numbers");
    read_good("a.obj", "# text\rv 0 0 0\rv 1 0 0\rv 0 4 0\rf 1 2 3\r");
    assert_at(2, 0, 4, 0);
    assert_text_refused("b.stl", "solid a\nfacet normal 0 0 1\nouter\nend", "line 4: 'end': expected 'loop'");
    assert_text_refused("b.stl", "solid a\nsolid b\n", "line 2: 'solid': expected 'facet'");
    uint8_t binary[84 + 50 + 3] = "solid, but binary";
    const float facet[12] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
    const uint16_t red = 0x8000 | 31 << 10;
    binary[80] = 1;
    memcpy(binary + 84, facet, sizeof facet);
    memcpy(binary + 84 + 48, &red, 2);
    assert_ok(read_bytes("a.stl", binary, sizeof binary - 3, &error));
    assert_close(corner(0)->colour[0], 1.0);
    assert_close(corner(0)->colour[1], 0.0);
    binary[0] = 'S' - 1;
    assert_ok(read_bytes("a.stl", binary, sizeof binary, &error));
    assert_string_equal(mesh.unused, "bytes behind the last triangle");
    binary[83] = 0x7f;
    assert_refused("b.stl", binary, sizeof binary, "triangles: expected at most the 1 that 137 bytes hold");
}

// ---- .ply ----

#define PLY_VERTICES                                                                                         \
    "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\n"           \
    "property float s\nproperty float quality\n"
#define PLY_ROWS "0 0 0 255 0.5 7\n1 0 0 51 0 7\n0 1 0 0 0 7\n1 1 0 0 0 7\n"

static void ply_has_faces_or_strips(void **state)
{
    (void)state;
    read_good("a.ply", "ply\nformat ascii 1.0\n" PLY_VERTICES
                       "element face 2\nproperty list uchar int vertex_indices\n"
                       "property uchar flags\nend_header\n" PLY_ROWS "4 0 1 3 2 9\n3 0 1 2 9\n");
    assert_int_equal(mesh.vertex_count, 4);
    assert_int_equal(mesh.index_count, 9);
    assert_close(mesh.vertices[1].colour[0], 0.2);
    assert_close(mesh.vertices[1].colour[1], 1.0);
    assert_close(mesh.vertices[0].texcoord[0], 0.5);
    assert_string_equal(mesh.unused, "quality of vertex, flags of face");
    read_good("a.ply", "ply\nformat ascii 1.0\n" PLY_VERTICES
                       "element tristrips 1\nproperty list int int vertex_indices\n"
                       "end_header\n" PLY_ROWS "8 0 1 2 3 -1 0 1 2\n");
    assert_int_equal(mesh.index_count, 9);
    assert_close((float)area(), 1.5);
    static const struct {
        const char *text, *because;
    } cases[] = {
        {"ply\nformat ascii 1.0\n" PLY_VERTICES "end_header\n" PLY_ROWS, "a cloud of points or splats"},
        {"ply\nformat ascii 1.0\n" PLY_VERTICES
         "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
         "0 0 0 255 0.5 7\n1 0 0 51 0 7\n",
         "element vertex, row 2"},
        {"ply\nformat ascii 1.0\n" PLY_VERTICES
         "element face 1\nproperty list uchar int vertex_indices\nend_header\n" PLY_ROWS "3 0 1 4\n",
         "element face, row 0: a vertex index out of range: expected 0 to 3"},
        {"ply\nformat ascii 1.0\n" PLY_VERTICES
         "element face 1\nproperty list uchar int vertex_indices\nend_header\n" PLY_ROWS "2000000000 0 1\n",
         "a list of 2e+09 items"},
        {"ply\nformat binary_little_endian 1.0\nelement vertex 2000000000\nproperty float x\nproperty float "
         "y\n"
         "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n",
         "element vertex: 2000000000 rows: expected no more than fit into 0 bytes"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nelement face 1\n"
         "property list uchar int vertex_indices\nend_header\n0 0\n3 0 0 0\n",
         "expected properties x, y and z"},
        {"ply\nformat ascii 1.0\nelement face 1\nproperty list float int vertex_indices\nend_header\n",
         "line 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_text_refused("b.ply", cases[i].text, cases[i].because);
    }
    put("cloud.ply", cases[0].text);
    assert_false(orr_mesh_readable(scratch_path("cloud.ply")));
    put("faces.ply", cases[3].text);
    assert_true(orr_mesh_readable(scratch_path("faces.ply")));
}

static void ply_is_read_in_both_orders_of_bytes(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        char file[512];
        int size = snprintf(
            file, 300,
            "ply\nformat binary_%s_endian 1.0\nelement vertex 3\nproperty short x\nproperty float y\n"
            "property uchar z\nelement face 1\nproperty list uchar ushort vertex_index\nend_header\n",
            big ? "big" : "little");
        for (int i = 0; i < 3; i++) {
            int16_t x = (int16_t)(-300 * (i == 1));
            float y = i == 2 ? 0.25f : 0.0f;
            uint8_t bytes[7];
            memcpy(bytes, &x, 2);
            memcpy(bytes + 2, &y, 4);
            bytes[6] = 5;
            for (int k = 0; k < 7; k++) {
                file[size++] = (char)bytes[!big ? k : k < 2 ? 1 - k : k < 6 ? 7 - k : k];
            }
        }
        const char face[7] = {3, 0, 0, (char)!big, (char)big, (char)(big ? 0 : 2), (char)(big ? 2 : 0)};
        memcpy(file + size, face, sizeof face);
        assert_ok(read_bytes("a.ply", file, (size_t)size + sizeof face, &error));
        assert_at(1, -300, 0, 5);
        assert_at(2, 0, 0.25f, 5);
    }
}

// ---- .dae ----

#define DAE_GEOMETRY                                                                                         \
    "<library_geometries><geometry id='g'><mesh><source id='p'><float_array id='a'>0 0 0 1 0 0 0 1 0 1 1 0"  \
    "</float_array><technique_common><accessor source='#a' stride='3'/></technique_common></source>"         \
    "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices>%s</mesh></geometry>"               \
    "</library_geometries>"
#define DAE_MATERIAL                                                                                         \
    "<library_effects><effect id='e'><profile_COMMON><technique><phong><diffuse><color>0.1 0.2 0.3 "         \
    "1</color>"                                                                                              \
    "</diffuse></phong></technique></profile_COMMON></effect></library_effects><library_materials>"          \
    "<material id='m'><instance_effect url='#e'/></material></library_materials>"
#define DAE_INPUT "<input semantic='VERTEX' source='#v' offset='0'/>"

static const char *dae(const char *head, const char *primitives, const char *nodes)
{
    static char text[4096];
    int at = snprintf(text, sizeof text, "<COLLADA>%s" DAE_MATERIAL, head);
    at += snprintf(text + at, sizeof text - (size_t)at, DAE_GEOMETRY, primitives);
    snprintf(text + at, sizeof text - (size_t)at,
             "<library_visual_scenes><visual_scene id='s'>%s</visual_scene></library_visual_scenes>"
             "<scene><instance_visual_scene url='#s'/></scene></COLLADA>",
             nodes);
    return text;
}

static void collada_is_placed_by_its_nodes(void **state)
{
    (void)state;
    const char *triangle = "<triangles material='s'>" DAE_INPUT "<p>0 1 2</p></triangles>";
    read_good("a.dae",
              dae("<asset><unit meter='0.5'/><up_axis>Z_UP</up_axis></asset>", triangle,
                  "<node><translate>2 0 0</translate><rotate>0 0 1 90</rotate><scale>1 4 "
                  "1</scale><instance_geometry "
                  "url='#g'><bind_material><technique_common><instance_material symbol='s' target='#m'/>"
                  "</technique_common></bind_material></instance_geometry></node>"
                  "<node><matrix>1 0 0 0 0 -1 0 0 0 0 1 6 0 0 0 1</matrix><node><instance_geometry "
                  "url='#g'/></node></node>"));
    assert_int_equal(mesh.index_count, 6);
    // x, then z, then -y of what the node makes, in halves
    assert_at(0, 1, 0, 0);
    assert_at(1, 1, 0, -0.5f);
    assert_at(2, -1, 0, 0);
    assert_at(3, 0, 3, 0);
    assert_at(4, 0, 3, 0.5f); // mirrored: rewound
    assert_at(5, 0.5f, 3, 0);
    assert_close(mesh.materials[mesh.parts[0].material].base_colour[1], 0.2);
    assert_int_equal(mesh.part_count, 2);
    const char *node = "<node><instance_geometry url='#g'/></node>";
    read_good("a.dae",
              dae("", "<polylist>" DAE_INPUT "<vcount>4 3</vcount><p>0 1 3 2 0 1 2</p></polylist>", node));
    assert_int_equal(mesh.index_count, 9);
    assert_close((float)area(), 1.5);
    read_good("a.dae", dae("",
                           "<tristrips>" DAE_INPUT "<p>0 1 2 3</p></tristrips><trifans>" DAE_INPUT
                           "<p>0 1 3 2</p></trifans><lines>" DAE_INPUT "<p>0 1</p></lines>",
                           node));
    assert_int_equal(mesh.index_count, 12);
    assert_close((float)area(), 2.0);
    assert_string_equal(mesh.unused, "lines");
    // ids that each geometry has anew are those of the geometry
    static char twice[2 * 4096];
    const char *first = dae("", triangle, "<node><instance_geometry url='#h'/></node>");
    const char *behind = strstr(first, "<library_geometries>");
    snprintf(twice, sizeof twice, "%.*s" DAE_GEOMETRY "%s", (int)(behind - first), first, "", behind);
    memcpy(strstr(strstr(twice, "</library_geometries>"), "id='g'"), "id='h'", 6);
    memcpy(strstr(strstr(twice, "id='h'"), "0 1 0 1 1 0"), "0 5 0 1 1 0", 11);
    read_good("a.dae", twice);
    assert_at(2, 0, 5, 0);
    static const struct {
        const char *primitives, *node, *because;
    } cases[] = {
        {"<triangles>" DAE_INPUT "<p>0 1 4</p></triangles>", NULL, "<triangles>: index 4: expected 0 to 3"},
        {"<triangles>" DAE_INPUT "<p>0 1</p></triangles>", NULL, "as many corners in p as polygons need"},
        {"<polylist>" DAE_INPUT "<vcount>2e9</vcount><p>0 1 2</p></polylist>", NULL, "as many corners"},
        {"<triangles><input semantic='VERTEX' source='#q' offset='0'/><p>0 1 2</p></triangles>", NULL,
         "an input VERTEX with positions"},
        {"", "<node><instance_geometry url='#h'/></node>",
         "<instance_geometry>: expected the id of a geometry"},
        {"", "<node><scale>1 2</scale></node>", "<scale>: expected 3 numbers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_text_refused("b.dae", dae("", cases[i].primitives, cases[i].node ? cases[i].node : node),
                            cases[i].because);
    }
    assert_text_refused("b.dae", "<COLLADA><a></COLLADA>", "expected XML");
    assert_text_refused("b.dae", "<html/>", "expected an element COLLADA");
}

static int free_last(void **state)
{
    (void)state;
    orr_mesh_file_free(&mesh);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accessors_are_read_in_their_types),
        cmocka_unit_test(instances_and_texture_transforms_are_applied),
        cmocka_unit_test(second_coordinates_are_read),
        cmocka_unit_test(textures_of_metal_and_occlusion_become_one),
        cmocka_unit_test(factors_and_textures_of_a_coat_become_one_texture),
        cmocka_unit_test(textures_of_two_sizes_become_one),
        cmocka_unit_test(coats_have_normals_of_their_own),
        cmocka_unit_test(textures_have_the_samplers_of_the_file),
        cmocka_unit_test(without_a_material_gltf_is_rough_white_metal),
        cmocka_unit_test(highlights_are_as_bright_as_gltf_says),
        cmocka_unit_test(light_goes_through_what_gltf_says),
        cmocka_unit_test(textures_of_transmission_become_alpha),
        cmocka_unit_test(gltf_is_drawn_without_pictures_that_are_missing),
        cmocka_unit_test(gltf_without_normals_is_flat),
        cmocka_unit_test(normals_are_read_at_unit_length),
        cmocka_unit_test(skins_are_as_their_joints_are),
        cmocka_unit_test(morph_targets_have_the_weights_of_the_file),
        cmocka_unit_test(what_gltf_holds_and_is_left_out_is_named),
        cmocka_unit_test(lights_of_gltf_are_where_their_nodes_are),
        cmocka_unit_test(broken_lights_of_gltf_are_refused),
        cmocka_unit_test(broken_gltf_is_refused),
        cmocka_unit_test(a_container_with_wrong_lengths_is_refused),
        cmocka_unit_test(deep_trees_are_walked),
        cmocka_unit_test(a_small_file_stays_small),
        cmocka_unit_test(polygons_of_obj_become_triangles),
        cmocka_unit_test(files_beside_a_mesh_stay_in_its_folder),
        cmocka_unit_test(pictures_that_are_missing_are_left_out),
        cmocka_unit_test(stl_is_told_from_its_bytes),
        cmocka_unit_test(ply_has_faces_or_strips),
        cmocka_unit_test(ply_is_read_in_both_orders_of_bytes),
        cmocka_unit_test(collada_is_placed_by_its_nodes),
    };
    return cmocka_run_group_tests_name("mesh_readers", tests, NULL, free_last);
}
