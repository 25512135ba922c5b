#include "tests/support/scenes/sphere_scene.h"
#include "engine/core/file.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, COLUMNS = 48 };
static const double pi = 3.14159265358979323846;

typedef struct vertex {
    float position[3], normal[3];
} vertex;

const char *write_sphere(float metallic, float roughness, float base)
{
    static char text[2048];
    vertex *v = calloc((ROWS + 1) * (COLUMNS + 1), sizeof *v);
    uint32_t *index = calloc((size_t)ROWS * COLUMNS * 6, sizeof *index);
    size_t corners = 0;
    for (int i = 0; i <= ROWS; i++) {
        for (int k = 0; k <= COLUMNS; k++) {
            double down = pi * i / ROWS, around = 2.0 * pi * k / COLUMNS;
            const float n[3] = {(float)(sin(down) * cos(around)), (float)cos(down),
                                (float)(sin(down) * sin(around))};
            memcpy(v[i * (COLUMNS + 1) + k].position, n, sizeof n);
            memcpy(v[i * (COLUMNS + 1) + k].normal, n, sizeof n);
        }
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t k = 0; k < COLUMNS; k++) {
            uint32_t a = i * (COLUMNS + 1) + k, b = a + COLUMNS + 1;
            memcpy(index + corners, (uint32_t[6]){a, a + 1, b, a + 1, b + 1, b}, 6 * sizeof *index);
            corners += 6;
        }
    }
    const size_t vertices = (ROWS + 1) * (COLUMNS + 1) * sizeof *v,
                 bytes = vertices + corners * sizeof *index;
    char *all = malloc(bytes);
    memcpy(all, v, vertices);
    memcpy(all + vertices, index, corners * sizeof *index);
    assert_ok(orr_file_write(scratch_path("sphere.bin"), all, bytes, &error));
    snprintf(
        text, sizeof text,
        "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1},\"indices\":2,"
        "\"material\":0}]}],\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorFactor\":[%g,%g,%g,1],"
        "\"metallicFactor\":%g,\"roughnessFactor\":%g}}],\"accessors\":["
        "{\"bufferView\":0,\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\",\"min\":[-1,-1,-1],"
        "\"max\":[1,1,1]},{\"bufferView\":0,\"byteOffset\":12,\"componentType\":5126,\"count\":%d,"
        "\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":5125,\"count\":%zu,\"type\":\"SCALAR\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":%zu,\"byteStride\":24},"
        "{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}],"
        "\"buffers\":[{\"byteLength\":%zu,\"uri\":\"sphere.bin\"}]}",
        (double)base, (double)base, (double)base, (double)metallic, (double)roughness,
        (ROWS + 1) * (COLUMNS + 1), (ROWS + 1) * (COLUMNS + 1), corners, vertices, vertices,
        corners * sizeof *index, bytes);
    free(v);
    free(index);
    free(all);
    return written("sphere.gltf", text);
}

orr_engine *open_engine_on(orr_device_kind device)
{
    orr_engine *engine = NULL;
    const orr_engine_desc desc = {.device = device, .threads = 2};
    return orr_engine_create(&desc, &engine, NULL) == ORR_OK ? engine : NULL;
}

orr_view look(void)
{
    const float eye[3] = {0, 0.6f, 3.2f}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.8f, SIDE, SIDE), .hard_edges = true};
}

void draw_world(orr_engine *engine, const orr_scene *scene, const orr_world *world, const orr_view *view,
                float *rgba)
{
    orr_frame *frame;
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    for (int i = 0; i < 2; i++) { // the second has what the first uploaded
        assert_ok(orr_frame_submit(frame, scene, world, view, &error));
        assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    }
    orr_frame_destroy(frame);
}

void draw(orr_engine *engine, const orr_scene *scene, const orr_view *view, float *rgba)
{
    orr_world *world;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    draw_world(engine, scene, world, view, rgba);
    orr_world_destroy(world);
}

void trace(const orr_scene *scene, const orr_view *view, int samples, float *rgba)
{
    orr_world *world;
    orr_reference *reference;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_reference_create(scene, world, view, 1, &reference, &error));
    assert_ok(orr_reference_advance(reference, samples, &error));
    assert_ok(orr_reference_picture(reference, false, &(orr_picture){.rgba = rgba}, &error));
    orr_reference_destroy(reference);
    orr_world_destroy(world);
}

enum { FINE = 4 }; // pixels a side

void draw_fine(orr_engine *engine, const orr_scene *scene, const orr_view *view, float *mean)
{
    orr_world *world;
    orr_frame *frame;
    orr_view fine = *view;
    float *all = calloc(FINE * FINE * PIXELS, 4 * sizeof *all);
    fine.hard_edges = true;
    fine.camera.width *= FINE;
    fine.camera.height *= FINE;
    for (int k = 0; k < 2; k++) {
        fine.camera.focal[k] *= FINE;
        fine.camera.centre[k] *= FINE;
    }
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, &fine, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = all}, &error));
    memset(mean, 0, 4 * PIXELS * sizeof *mean);
    for (int i = 0; i < FINE * FINE * PIXELS; i++) {
        const int x = i % (FINE * SIDE) / FINE, y = i / (FINE * SIDE) / FINE;
        for (int k = 0; k < 4; k++) {
            mean[4 * (y * SIDE + x) + k] += fminf(all[4 * i + k], 1.0f) / (FINE * FINE);
        }
    }
    free(all);
    orr_frame_destroy(frame);
    orr_world_destroy(world);
}

double middle_error(const float *a, const float *b)
{
    double sum = 0.0;
    int count = 0;
    for (int y = SIDE / 4; y < 3 * SIDE / 4; y++) {
        for (int x = SIDE / 4; x < 3 * SIDE / 4; x++) {
            for (int k = 0; k < 3; k++, count++) {
                double d = (double)(a[4 * (y * SIDE + x) + k] - b[4 * (y * SIDE + x) + k]);
                sum += d * d;
            }
        }
    }
    return sqrt(sum / count);
}
