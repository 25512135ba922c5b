// Tests of materials of glTF: textures and their coordinates, coats, samplers, highlights and transmission.
#include "tests/image/gltf_text.h"
#include "tests/image/mesh_reading.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void assert_surface(int red, int green, int blue)
{
    assert_texel(mesh.materials[0].surface_texture, red, green, blue);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests_name("mesh_readers_material", tests, NULL, free_last);
}
