#include "tests/glass/glass_scene.h"

#include "engine/core/file.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 96, COLUMNS = 192, CHECKS = 8 };
static const double pi = 3.14159265358979323846;

typedef struct vertex {
    float position[3], normal[3], colour[4];
} vertex;

typedef struct body {
    vertex *vertices;
    uint32_t *indices;
    int vertex_count, index_count;
    bool has_normals;
} body;

static body make_body(int vertices, int indices)
{
    return (body){calloc((size_t)vertices, sizeof(vertex)), calloc((size_t)indices, sizeof(uint32_t)), 0, 0,
                  false};
}

// Four corners, counter-clockwise seen from the front.
static void add_quad(body *b, float corners[4][3], float colours[4][3])
{
    const uint32_t first = (uint32_t)b->vertex_count;
    for (int i = 0; i < 4; i++) {
        vertex *v = &b->vertices[b->vertex_count++];
        memcpy(v->position, corners[i], sizeof v->position);
        v->colour[3] = 1.0f;
        for (int k = 0; k < 3; k++) {
            v->colour[k] = colours ? colours[i][k] : 1.0f;
        }
    }
    const uint32_t quad[6] = {first, first + 1, first + 2, first, first + 2, first + 3};
    memcpy(b->indices + b->index_count, quad, sizeof quad);
    b->index_count += 6;
}

static body sphere(void)
{
    body b = make_body((ROWS + 1) * (COLUMNS + 1), 6 * ROWS * COLUMNS);
    for (int i = 0; i <= ROWS; i++) {
        for (int k = 0; k <= COLUMNS; k++) {
            const double down = pi * i / ROWS, around = 2.0 * pi * k / COLUMNS;
            const float n[3] = {(float)(sin(down) * cos(around)), (float)cos(down),
                                (float)(sin(down) * sin(around))};
            vertex *v = &b.vertices[b.vertex_count++];
            *v = (vertex){.colour = {1, 1, 1, 1}};
            memcpy(v->position, n, sizeof n);
            memcpy(v->normal, n, sizeof n);
        }
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t k = 0; k < COLUMNS; k++) {
            const uint32_t a = i * (COLUMNS + 1) + k, c = a + COLUMNS + 1;
            memcpy(b.indices + b.index_count, (uint32_t[6]){a, a + 1, c, a + 1, c + 1, c}, 6 * sizeof a);
            b.index_count += 6;
        }
    }
    b.has_normals = true;
    return b;
}

static body slab(void)
{
    body b = make_body(24, 36);
    const float half[3] = {2.0f, 2.0f, 0.5f};
    for (int face = 0; face < 6; face++) {
        const int a = face / 2, u = (a + 1) % 3, v = (a + 2) % 3;
        const float side = face % 2 ? -1.0f : 1.0f;
        static const float at[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
        float corners[4][3];
        for (int i = 0; i < 4; i++) {
            corners[i][a] = side * half[a];
            corners[i][u] = side * at[i][0] * half[u];
            corners[i][v] = at[i][1] * half[v];
        }
        add_quad(&b, corners, NULL);
    }
    return b;
}

static const char *write_body(const char *name, const body *b, const char *material)
{
    char binary[64], *text = calloc(1, 8192);
    const size_t vertices = (size_t)b->vertex_count * sizeof *b->vertices,
                 indices = (size_t)b->index_count * sizeof *b->indices, bytes = vertices + indices;
    char *all = malloc(bytes);
    memcpy(all, b->vertices, vertices);
    memcpy(all + vertices, b->indices, indices);
    snprintf(binary, sizeof binary, "%s.bin", name);
    assert_ok(orr_file_write(scratch_path(binary), all, bytes, &error));
    snprintf(text, 8192,
             "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
             "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,%s\"COLOR_0\":2},\"indices\":3,"
             "\"material\":1}]}],\"materials\":[{},{%s}],\"accessors\":["
             "{\"bufferView\":0,\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\"},"
             "{\"bufferView\":0,\"byteOffset\":12,\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\"},"
             "{\"bufferView\":0,\"byteOffset\":24,\"componentType\":5126,\"count\":%d,\"type\":\"VEC4\"},"
             "{\"bufferView\":1,\"componentType\":5125,\"count\":%d,\"type\":\"SCALAR\"}],"
             "\"bufferViews\":[{\"buffer\":0,\"byteLength\":%zu,\"byteStride\":40},"
             "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}],"
             "\"buffers\":[{\"byteLength\":%zu,\"uri\":\"%s\"}]}",
             b->has_normals ? "\"NORMAL\":1," : "", material, b->vertex_count, b->vertex_count,
             b->vertex_count, b->index_count, vertices, vertices, indices, bytes, binary);
    snprintf(binary, sizeof binary, "%s.gltf", name);
    const char *path = written(binary, text);
    free(text);
    free(all);
    free(b->vertices);
    free(b->indices);
    return path;
}

const char *write_glass(const char *name, glass_shape shape, const char *material)
{
    const body b = shape == GLASS_SPHERE ? sphere() : slab();
    return write_body(name, &b, material);
}

orr_scene *dark_scene(orr_engine *engine, float ambient)
{
    orr_scene *scene;
    const orr_sun_desc sun = {
        .direction = {0, 1, 0}, .colour = {0, 0, 0}, .ambient = {ambient, ambient, ambient}};
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_set_sun(scene, &sun, &error));
    return scene;
}

#define SHINES "\"doubleSided\":true,\"extensions\":{\"KHR_materials_unlit\":{}}"

void add_shining_panel(orr_scene *scene, float z, float half)
{
    float corners[4][3] = {{-half, -half, z}, {half, -half, z}, {half, half, z}, {-half, half, z}};
    float colours[4][3] = {{0, 0, 0.5f}, {1, 0, 0.5f}, {1, 1, 0.5f}, {0, 1, 0.5f}};
    body b = make_body(4, 6);
    add_quad(&b, corners, colours);
    assert_ok(orr_scene_add_file(scene, write_body("panel", &b, SHINES), NULL, NULL, &error));
}

void add_checker(orr_scene *scene, float z, float half)
{
    body b = make_body(4 * CHECKS * CHECKS, 6 * CHECKS * CHECKS);
    const float side = 2.0f * half / CHECKS;
    for (int i = 0; i < CHECKS * CHECKS; i++) {
        const float x = side * (float)(i % CHECKS) - half, y = side * (float)(i / CHECKS) - half,
                    light = (i + i / CHECKS) % 2 ? 1.0f : 0.0f;
        float corners[4][3] = {{x, y, z}, {x + side, y, z}, {x + side, y + side, z}, {x, y + side, z}};
        float colours[4][3];
        for (int k = 0; k < 12; k++) {
            colours[k / 3][k % 3] = k % 3 == 2 ? 0.25f + 0.75f * light : light;
        }
        add_quad(&b, corners, colours);
    }
    assert_ok(orr_scene_add_file(scene, write_body("checker", &b, SHINES), NULL, NULL, &error));
}

void add_cloud(orr_scene *scene, float z, float half)
{
    enum { ROW = 48 };
    orr_splats *splats;
    assert_ok(orr_splats_create(ROW * ROW, 0, &splats, &error));
    const orr_splats_view s = orr_splats_data(splats);
    for (int i = 0; i < ROW * ROW; i++) {
        const int across = i % ROW, up = i / ROW;
        float *p = s.position + 3 * i;
        p[0] = half * (2.0f * ((float)across + 0.5f) / ROW - 1.0f);
        p[1] = half * (2.0f * ((float)up + 0.5f) / ROW - 1.0f);
        p[2] = z;
        s.opacity[i] = 5.0f;
        for (int k = 0; k < 3; k++) {
            const bool on = (across / (ROW / CHECKS) + up / (ROW / CHECKS)) % 2;
            s.log_scale[3 * i + k] = logf(k == 2 ? 0.01f : 2.0f * half / ROW);
            s.colour[3 * i + k] = ((on ? 0.9f - 0.3f * (float)k : 0.1f) - 0.5f) / 0.28209479f;
        }
        s.rotation[4 * i] = 1.0f;
    }
    assert_ok(orr_scene_add_splats(scene, "cloud", splats, NULL, NULL, &error));
    orr_splats_destroy(splats);
}
