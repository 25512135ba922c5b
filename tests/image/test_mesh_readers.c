// Tests of the readers of mesh files, format by format: values by hand, what is wrong with broken files, and
// the files beside a mesh. Of glTF: test_mesh_readers_gltf.c, test_mesh_readers_material.c.
#include "tests/image/mesh_reading.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gltf_without_normals_is_flat),
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
