// Tests of mesh import: small files written here, and what is wrong with broken ones.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "render/cpu/mesh_raster.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *write_text(const char *name, const char *text)
{
    const char *path = scratch_path(name);
    assert_ok(orr_file_write(path, text, strlen(text), &error));
    return path;
}

static orr_mesh *load(const char *path)
{
    orr_mesh *mesh;
    assert_ok(orr_mesh_load(path, &mesh, &error));
    return mesh;
}

static void assert_fails(const char *path, const char *because)
{
    orr_mesh *mesh;
    orr_error why = {0};
    assert_int_equal(orr_mesh_load(path, &mesh, &why), ORR_ERROR_FORMAT);
    assert_int_equal(why.code, ORR_CODE_MESH_FILE);
    assert_null(mesh);
    if (!strstr(why.message, orr_path_name(path)) || !strstr(why.message, because) ||
        strchr(why.message, '\n')) {
        fail_msg("expected the file and \"%s\" in one line: %s", because, why.message);
    }
}

// It is drawn without a picture, and says so.
static void assert_leaves_out(const char *path, const char *what)
{
    orr_mesh *mesh = load(path);
    assert_int_equal(mesh->texture_count, 0);
    assert_non_null(strstr(mesh->unused, what));
    orr_mesh_destroy(mesh);
}

static const float *vertex_at(const orr_mesh *mesh, float x, float y, float z)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const float *p = mesh->vertices[i].position;
        if (fabsf(p[0] - x) < 1e-6f && fabsf(p[1] - y) < 1e-6f && fabsf(p[2] - z) < 1e-6f) {
            return p;
        }
    }
    fail_msg("no vertex at %g %g %g", (double)x, (double)y, (double)z);
    return NULL;
}

static double light(double byte)
{
    double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

// The nearest byte of an amount of light.
static uint8_t byte_of(double linear)
{
    int byte = 0;
    while (byte < 255 && light(byte + 0.5) <= linear) {
        byte++;
    }
    return (uint8_t)byte;
}

// Level 1 of a grey of every byte: each of its texels has four neighbours of one byte or of two.
static void mips_are_means_of_light(void **state)
{
    (void)state;
    enum { WIDTH = 1020, COUNT = WIDTH / 2 };
    uint8_t texels[3 * WIDTH * 4];
    for (int i = 0; i < 2 * WIDTH; i++) {
        const int at = i % WIDTH / 2; // bytes rise by one at every second texel of level 1
        memset(texels + 4 * i, at / 2 + (at % 2 && i >= WIDTH), 3);
        texels[4 * i + 3] = i % WIDTH < WIDTH / 2 ? 255 : (uint8_t)(i >= WIDTH ? 200 : 0);
    }
    const orr_image8 picture = {WIDTH, 2, texels};
    orr_mips_fill(&picture);
    for (int i = 0; i < COUNT; i++) {
        const uint8_t *mean = texels + 4 * (2 * WIDTH + i);
        const bool opaque = 2 * i < WIDTH / 2;
        const int above = i / 2, below = i / 2 + i % 2;
        // the holes are above
        const double linear = opaque ? 0.5 * (light(above) + light(below)) : light(below);
        // rounding decides where the mean is between two bytes
        assert_true(mean[0] >= byte_of((1.0 - 1e-6) * linear) && mean[0] <= byte_of((1.0 + 1e-6) * linear));
        assert_int_equal(mean[3], opaque ? 255 : 100);
    }
}

// Twice the area of the first triangle as its winding sees it along z.
static float turn_of_first_triangle(const orr_mesh *mesh)
{
    const float *a = mesh->vertices[mesh->indices[0]].position,
                *b = mesh->vertices[mesh->indices[1]].position;
    const float *c = mesh->vertices[mesh->indices[2]].position;
    return (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
}

static void obj_has_materials_textures_and_smooth_normals(void **state)
{
    (void)state;
    uint8_t texels[2 * 4] = {255, 0, 0, 255, 0, 0, 255, 255};
    assert_ok(orr_png_save(scratch_path("red_blue.png"), texels, 2, 1, &error));
    write_text("roof.mtl",
               "newmtl tiles\nKd 0.5 0.25 1\nmap_Kd red_blue.png\nnewmtl plain\nKd 0.1 0.2 0.3\n");
    // a shallow roof of two quads (a ridge of 40 degrees) and a wall of one triangle at a right angle to it
    const char *path =
        write_text("roof.obj", "mtllib roof.mtl\nv -1 0 0\nv -1 0 1\nv 0 0.36397 0\nv 0 0.36397 1\n"
                               "v 1 0 0\nv 1 0 1\nvt 0 0\nvt 1 0\nvt 0 1\nvt 1 1\nusemtl tiles\n"
                               "f 1/1 2/2 4/4 3/3\nf 3/1 4/2 6/4 5/3\nusemtl plain\nf 2 6 4\n");
    orr_mesh *mesh = load(path);
    assert_int_equal(mesh->index_count, 15);
    assert_int_equal(mesh->part_count, 2);
    assert_int_equal(mesh->texture_count, 1);
    assert_true(mesh->has_mips);
    assert_int_equal(mesh->textures[0].width, 2);
    assert_memory_equal(mesh->textures[0].rgba, texels, sizeof texels);
    // behind level 0: the mean of red and blue in linear light, 188 = srgb(1/2)
    const uint8_t mean[4] = {188, 0, 188, 255};
    assert_memory_equal(mesh->textures[0].rgba + 8, mean, 4);
    for (int i = 0; i < 2; i++) {
        const orr_mesh_part *part = &mesh->parts[i];
        const orr_mesh_material *material = &mesh->materials[part->material];
        bool tiles = part->index_count == 12;
        assert_true(tiles || part->index_count == 3);
        assert_true(material->two_sided);
        assert_int_equal(material->texture, tiles ? 0 : -1);
        assert_true(fabsf(material->base_colour[1] - (tiles ? 0.25f : 0.2f)) < 1e-6f);
        for (uint32_t k = 0; k < part->index_count; k++) {
            const orr_mesh_vertex *v = &mesh->vertices[mesh->indices[part->first_index + k]];
            float length =
                v->normal[0] * v->normal[0] + v->normal[1] * v->normal[1] + v->normal[2] * v->normal[2];
            assert_true(fabsf(length - 1.0f) < 1e-5f);
            if (!tiles) {
                assert_true(fabsf(fabsf(v->normal[2]) - 1.0f) < 1e-5f); // over the crease angle: not smoothed
            } else if (v->position[0] == 0.0f) {
                assert_true(fabsf(fabsf(v->normal[1]) - 1.0f) < 1e-5f); // the ridge: the mean of both sides
            }
            if (tiles && v->position[0] == -1.0f && v->position[2] == 0.0f) {
                assert_true(v->uv[0] == 0.0f && v->uv[1] == 1.0f); // v = 0 is the file's lower, our upper row
            }
        }
    }
    assert_true(mesh->low[0] == -1.0f && mesh->high[2] == 1.0f && fabsf(mesh->high[1] - 0.36397f) < 1e-6f);
    assert_true(orr_mesh_bytes(mesh) > 15 * sizeof(uint32_t) + 12);
    orr_mesh_destroy(mesh);
}

static void stl_is_read_in_text_and_in_binary(void **state)
{
    (void)state;
    orr_mesh *mesh =
        load(write_text("one.stl", "solid a\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\n"
                                   "vertex 2 0 0\nvertex 0 3 0\nendloop\nendfacet\nendsolid a\n"));
    assert_int_equal(mesh->index_count, 3);
    assert_true(mesh->vertices[0].normal[2] > 0.999f); // by the winding, whatever the file says
    assert_true(mesh->materials[mesh->parts[0].material].two_sided);
    assert_true(mesh->high[1] == 3.0f);
    orr_mesh_destroy(mesh);

    uint8_t binary[84 + 2 * 50] = "binary";
    const uint32_t count = 2;
    memcpy(binary + 80, &count, 4);
    // two triangles of a square
    const float facets[2][12] = {{0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0}};
    for (int i = 0; i < 2; i++) {
        memcpy(binary + 84 + 50 * i, facets[i], sizeof facets[i]);
    }
    const char *path = scratch_path("two.stl");
    assert_ok(orr_file_write(path, binary, sizeof binary, &error));
    mesh = load(path);
    assert_int_equal(mesh->index_count, 6);
    assert_int_equal(mesh->vertex_count, 4); // shared corners are joined
    orr_mesh_destroy(mesh);
    assert_ok(orr_file_write(path, binary, 100, &error));
    assert_fails(path, "2 triangles: expected at most the 0 that 100 bytes hold");
}

// ---- a glb of one triangle, built here ----

typedef struct glb {
    char json[4096];
    uint8_t binary[1024];
    size_t binary_size;
} glb;

static const char *write_glb(const char *name, glb *file)
{
    static uint8_t bytes[8192];
    size_t json = strlen(file->json);
    for (; json % 4; json++) {
        file->json[json] = ' ';
    }
    size_t binary = (file->binary_size + 3) / 4 * 4, size = 12 + 8 + json + 8 + binary;
    const uint32_t head[5] = {0x46546c67, 2, (uint32_t)size, (uint32_t)json, 0x4e4f534a};
    const uint32_t second[2] = {(uint32_t)binary, 0x004e4942};
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + 20, file->json, json);
    memcpy(bytes + 20 + json, second, sizeof second);
    memcpy(bytes + 28 + json, file->binary, binary);
    const char *path = scratch_path(name);
    assert_ok(orr_file_write(path, bytes, size, &error));
    return path;
}

// positions (36), texture coordinates (24), colours (16 x 3), indices (6, padded to 8), then a PNG
static void make_glb(glb *file, const char *node, const char *material, uint16_t third_index, float first_x)
{
    *file = (glb){0};
    const float positions[9] = {first_x, 0, 0, 1, 0, 0, 0, 1, 0}, uv[6] = {0, 0, 1, 0, 0, 0.25f};
    const float colours[12] = {0.5f, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const uint16_t indices[4] = {0, 1, third_index, 0};
    memcpy(file->binary, positions, 36);
    memcpy(file->binary + 36, uv, 24);
    memcpy(file->binary + 60, colours, 48);
    memcpy(file->binary + 108, indices, 8);
    uint8_t texels[2 * 4] = {10, 20, 30, 40, 50, 60, 70, 80};
    const char *picture = scratch_path("inside.png");
    orr_bytes png;
    assert_ok(orr_png_save(picture, texels, 1, 2, &error));
    assert_ok(orr_file_read(picture, &png, &error));
    assert_true(png.size < 900);
    memcpy(file->binary + 116, png.data, png.size);
    file->binary_size = 116 + png.size;
    snprintf(file->json, sizeof file->json - 4,
             "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[%s],"
             "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"TEXCOORD_0\":1,\"COLOR_0\":2},"
             "\"indices\":3,\"material\":0}]}],\"materials\":[%s],\"textures\":[{\"source\":0}],"
             "\"images\":[{\"bufferView\":4,\"mimeType\":\"image/png\"}],"
             "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
             "{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"},"
             "{\"bufferView\":2,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"},"
             "{\"bufferView\":3,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}],"
             "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":36},"
             "{\"buffer\":0,\"byteOffset\":36,\"byteLength\":24},{\"buffer\":0,\"byteOffset\":60,"
             "\"byteLength\":48},"
             "{\"buffer\":0,\"byteOffset\":108,\"byteLength\":6},"
             "{\"buffer\":0,\"byteOffset\":116,\"byteLength\":%zu}],\"buffers\":[{\"byteLength\":%zu}]}",
             node, material, png.size, file->binary_size);
    orr_free(png.data);
}

#define PLAIN_NODE "{\"mesh\":0}"
#define PLAIN_MATERIAL "{}"

static void glb_has_embedded_textures_masks_and_colours(void **state)
{
    (void)state;
    glb file;
    make_glb(&file, PLAIN_NODE,
             "{\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.5,0.6,0.7,0.8],\"baseColorTexture\":{"
             "\"index\":0}},"
             "\"alphaMode\":\"MASK\",\"alphaCutoff\":0.3,\"doubleSided\":true}",
             2, 0.0f);
    orr_mesh *mesh = load(write_glb("a.glb", &file));
    const orr_mesh_material *material = &mesh->materials[mesh->parts[0].material];
    assert_true(fabsf(material->base_colour[2] - 0.7f) < 1e-6f &&
                fabsf(material->base_colour[3] - 0.8f) < 1e-6f);
    assert_true(material->two_sided);
    assert_true(fabsf(material->alpha_cutoff - 0.3f) < 1e-6f);
    assert_int_equal(material->texture, 0);
    assert_int_equal(mesh->textures[0].height, 2);
    const uint8_t texels[8] = {10, 20, 30, 40, 50, 60, 70, 80};
    assert_memory_equal(mesh->textures[0].rgba, texels, 8);
    const orr_mesh_vertex *first = (const orr_mesh_vertex *)(const void *)vertex_at(mesh, 0, 0, 0);
    const orr_mesh_vertex *third = (const orr_mesh_vertex *)(const void *)vertex_at(mesh, 0, 1, 0);
    const uint8_t half[4] = {188, 255, 255, 255}; // linear 1/2
    assert_memory_equal(first->colour, half, 4);
    assert_true(fabsf(third->uv[1] - 0.25f) < 1e-6f); // glTF's v is 0 at the top as ours
    assert_true(first->normal[2] > 0.999f);
    orr_mesh_destroy(mesh);

    make_glb(&file, PLAIN_NODE, PLAIN_MATERIAL, 2, 0.0f);
    mesh = load(write_glb("b.glb", &file));
    material = &mesh->materials[mesh->parts[0].material];
    assert_false(material->two_sided);
    assert_true(material->alpha_cutoff == 0.0f && material->texture == -1 &&
                material->base_colour[0] == 1.0f);
    orr_mesh_destroy(mesh);
}

static void node_transforms_are_baked(void **state)
{
    (void)state;
    glb file;
    // a parent that moves by (10, 0, 0), a child that doubles, then turns by 90 degrees about z
    make_glb(&file,
             "{\"children\":[1],\"translation\":[10,0,0]},"
             "{\"mesh\":0,\"rotation\":[0,0,0.70710678,0.70710678],\"scale\":[2,2,2]}",
             PLAIN_MATERIAL, 2, 0.0f);
    orr_mesh *mesh = load(write_glb("moved.glb", &file));
    vertex_at(mesh, 10, 0, 0);
    vertex_at(mesh, 10, 2, 0);
    vertex_at(mesh, 8, 0, 0);
    assert_true(turn_of_first_triangle(mesh) > 0.0f);
    assert_true(mesh->vertices[0].normal[2] > 0.999f);
    orr_mesh_destroy(mesh);
    // a mirror: the winding is turned so that the front stays the side the normal points to
    make_glb(&file, "{\"mesh\":0,\"scale\":[-1,1,1]}", PLAIN_MATERIAL, 2, 0.0f);
    mesh = load(write_glb("mirrored.glb", &file));
    vertex_at(mesh, -1, 0, 0);
    assert_true(turn_of_first_triangle(mesh) > 0.0f);
    assert_true(mesh->vertices[0].normal[2] > 0.999f);
    orr_mesh_destroy(mesh);
}

static void broken_meshes_say_what_is_wrong(void **state)
{
    (void)state;
    orr_mesh *mesh;
    orr_error why;
    assert_int_equal(orr_mesh_load("/nonexistent/a.obj", &mesh, &why), ORR_ERROR_FILE);
    assert_non_null(strstr(why.message, "/nonexistent/a.obj"));
    assert_fails(write_text("empty.obj", ""), "no triangles");
    assert_fails(write_text("nothing.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n"), "no triangles");
    assert_fails(write_text("line.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n"), "no triangles");
    // Gaussian splats in glTF are points with attributes of their own
    assert_fails(
        write_text("splats.gltf",
                   "{\"asset\":{\"version\":\"2.0\"},\"extensionsUsed\":[\"KHR_gaussian_splatting\"],"
                   "\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":"
                   "[{\"mode\":0,\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{\"bufferView\":0,"
                   "\"componentType\":5126,\"count\":1,\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,"
                   "\"byteLength\":12}],\"buffers\":[{\"byteLength\":12,\"uri\":"
                   "\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAA\"}]}"),
        "no triangles: expected at least one, not only what is not supported: KHR_gaussian_splatting");
    assert_fails(write_text("nonsense.glb", "glTF but not really, whatever the name says"), "not a mesh");
    assert_fails(write_text("nonsense.stl", "solid"), "expected 'endsolid'");
    assert_fails(write_text("nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), "finite");
    assert_fails(write_text("far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"),
                 "line 4: corner '9': expected indices of 3 vertices");
    write_text("lost.mtl", "newmtl m\nmap_Kd lost.png\n");
    assert_leaves_out(
        write_text("lost.obj", "mtllib lost.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n"),
        "texture lost.png");
    glb file;
    make_glb(&file, PLAIN_NODE, PLAIN_MATERIAL, 7, 0.0f);
    assert_fails(write_glb("index.glb", &file), "accessors[3]: expected indices below 3, not 7");
    make_glb(&file, PLAIN_NODE, PLAIN_MATERIAL, 2, NAN);
    assert_fails(write_glb("nan.glb", &file), "finite");
    make_glb(&file, "{\"mesh\":0,\"scale\":[1e38,1,1],\"translation\":[3.4e38,0,0]}", PLAIN_MATERIAL, 2,
             3.0f);
    assert_fails(write_glb("overflow.glb", &file), "finite");
    make_glb(&file, PLAIN_NODE, "{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0}}}", 2, 0.0f);
    memset(file.binary + 116, 'x', 32); // no PNG
    assert_leaves_out(write_glb("picture.glb", &file), "not a picture");
}

// Bytes changed at random: an error or a mesh, never a crash.
static void damaged_meshes_are_survived(void **state)
{
    (void)state;
    glb file;
    make_glb(&file, PLAIN_NODE, "{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0}}}", 2, 0.0f);
    orr_bytes whole;
    assert_ok(orr_file_read(write_glb("whole.glb", &file), &whole, &error));
    uint32_t seed = 1;
    for (int i = 0; i < 100; i++) {
        uint8_t *copy = malloc(whole.size);
        memcpy(copy, whole.data, whole.size);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            copy[(seed >> 8) % whole.size] = (uint8_t)(seed >> 4);
        }
        const char *path = scratch_path("damaged.glb");
        assert_ok(orr_file_write(path, copy, i % 2 ? whole.size : (seed >> 8) % whole.size, &error));
        free(copy);
        orr_mesh *mesh;
        orr_error why = {0};
        if (orr_mesh_load(path, &mesh, &why) == ORR_OK) {
            assert_true(mesh->index_count > 0 && isfinite(mesh->low[0]));
            orr_mesh_destroy(mesh);
        } else {
            assert_true(why.message[0] != 0 && !strchr(why.message, '\n'));
        }
    }
    orr_free(whole.data);
}

enum { RINGS = 200, SECTORS = 250 }; // of the stone: 2 SECTORS (RINGS - 1) triangles

// A stone with knobs and furrows: a ball whose radius depends on the direction, as .obj.
static const char *write_stone(void)
{
    const char *path = scratch_path("stone.obj");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "v 0 0.5 0\nv 0 -0.5 0\n");
    for (int ring = 1; ring < RINGS; ring++) {
        for (int sector = 0; sector < SECTORS; sector++) {
            double polar = 3.14159265358979 * ring / RINGS, azimuth = 6.28318530717959 * sector / SECTORS;
            double knobs = sin(polar) * sin(polar) * sin(7.0 * azimuth + 5.0 * polar) * sin(9.0 * polar);
            double radius = 0.5 + 0.12 * knobs;
            fprintf(file, "v %.7f %.7f %.7f\n", radius * sin(polar) * cos(azimuth), radius * cos(polar),
                    radius * sin(polar) * sin(azimuth));
        }
    }
    for (int sector = 0; sector < SECTORS; sector++) {
        int next = (sector + 1) % SECTORS, last = 3 + (RINGS - 2) * SECTORS;
        fprintf(file, "f 1 %d %d\nf 2 %d %d\n", 3 + next, 3 + sector, last + sector, last + next);
        for (int ring = 0; ring < RINGS - 2; ring++) {
            int a = 3 + ring * SECTORS, b = a + SECTORS;
            fprintf(file, "f %d %d %d\nf %d %d %d\n", a + sector, a + next, b + sector, a + next, b + next,
                    b + sector);
        }
    }
    fclose(file);
    return path;
}

// A closed surface of size about 1 in the middle of the picture.
static void check_closed(const char *path, int triangles)
{
    enum { WIDTH = 640, HEIGHT = 360, PIXELS = WIDTH * HEIGHT };
    orr_mesh *mesh = load(path);
    assert_int_equal(mesh->index_count, 3 * triangles);
    orr_camera camera =
        orr_camera_look_at((float[]){0, 0, -2}, (float[]){0, 0, 0}, (float[]){0, 1, 0}, 0.9f, WIDTH, HEIGHT);
    orr_draw_mesh draw = {.mesh = mesh, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    orr_draw_list list = {
        .meshes = &draw, .mesh_count = 1, .sun = {{0, 0, -1}, {1, 1, 1}, {0.1f, 0.1f, 0.1f}, 0.0f}};
    assert_ok(orr_camera_resolve(&camera, &list.lens, &error));
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    orr_arena arena = {0};
    orr_mesh_picture picture = {.depth = malloc(PIXELS * sizeof(float)),
                                .rgb = malloc(3 * PIXELS * sizeof(float))};
    orr_mesh_counts counts;
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(
        orr_mesh_raster(jobs, isa, &arena, &list, NULL, picture, &(orr_fragment_lists){0}, &counts, &error));
    assert_int_equal(counts.triangles, triangles);
    int covered = 0, holes = 0;
    for (int y = 1; y < HEIGHT - 1; y++) {
        for (int x = 1; x < WIDTH - 1; x++) {
            int p = y * WIDTH + x;
            bool here = isfinite(picture.depth[p]);
            covered += here;
            holes += !here && isfinite(picture.depth[p - 1]) && isfinite(picture.depth[p + 1]) &&
                     isfinite(picture.depth[p - WIDTH]) && isfinite(picture.depth[p + WIDTH]);
            if (here) {
                assert_true(picture.depth[p] > 1.0f && picture.depth[p] < 3.0f);
                assert_true(picture.rgb[p] > 0.0f && picture.rgb[p] <= 1.1f);
            }
        }
    }
    assert_true(covered > PIXELS / 10 && covered < PIXELS / 2);
    assert_int_equal(holes, 0); // no pixel shows the background through it
    free(picture.depth);
    free(picture.rgb);
    orr_arena_destroy(&arena);
    orr_jobs_destroy(jobs);
    orr_mesh_destroy(mesh);
}

static void closed_meshes_are_drawn_without_holes(void **state)
{
    (void)state;
    check_closed(write_stone(), 2 * SECTORS * (RINGS - 1));
    const char *scan = shared_data("sdf/armadillo.obj");
    if (scan) {
        check_closed(scan, 99976);
    }
}

static void mesh_files_are_known_by_their_ending(void **state)
{
    (void)state;
    assert_true(orr_mesh_readable("a/b.glb"));
    assert_true(orr_mesh_readable("b.OBJ"));
    assert_true(orr_mesh_readable("b.stl"));
    assert_false(orr_mesh_readable("b.spz"));
    assert_false(orr_mesh_readable("folder.glb/b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_has_materials_textures_and_smooth_normals),
        cmocka_unit_test(stl_is_read_in_text_and_in_binary),
        cmocka_unit_test(glb_has_embedded_textures_masks_and_colours),
        cmocka_unit_test(node_transforms_are_baked),
        cmocka_unit_test(broken_meshes_say_what_is_wrong),
        cmocka_unit_test(damaged_meshes_are_survived),
        cmocka_unit_test(closed_meshes_are_drawn_without_holes),
        cmocka_unit_test(mesh_files_are_known_by_their_ending),
        cmocka_unit_test(mips_are_means_of_light),
    };
    return cmocka_run_group_tests_name("mesh", tests, NULL, NULL);
}
