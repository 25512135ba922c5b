// Tests of the reader of glTF: accessors, nodes, skins, lights, broken files, and how much a small file may
// become.
#include "tests/image/gltf_text.h"
#include "tests/image/mesh_reading.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accessors_are_read_in_their_types),
        cmocka_unit_test(instances_and_texture_transforms_are_applied),
        cmocka_unit_test(gltf_is_drawn_without_pictures_that_are_missing),
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
    };
    return cmocka_run_group_tests_name("mesh_readers_gltf", tests, NULL, free_last);
}
