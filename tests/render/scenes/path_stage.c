#include "tests/render/scenes/path_stage.h"

#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

stage *open_stage(float focal, int threads)
{
    stage *s = calloc(1, sizeof *s);
    orr_camera camera = {.width = SIDE, .height = SIDE, .focal = {focal, focal}, .near_plane = 0.01f};
    memcpy(camera.pose, identity, sizeof identity);
    s->vertices = malloc(MESHES * VERTICES * sizeof *s->vertices);
    s->indices = malloc(MESHES * INDICES * sizeof *s->indices);
    assert_ok(orr_camera_resolve(&camera, &s->list.lens, &error));
    assert_ok(orr_jobs_create(threads, NULL, NULL, &s->jobs, &error));
    return s;
}

void close_stage(stage *s)
{
    orr_jobs_destroy(s->jobs);
    free(s->vertices);
    free(s->indices);
    free(s);
}

orr_mesh_vertex vertex(const float p[3], const float n[3])
{
    return (orr_mesh_vertex){
        .position = {p[0], p[1], p[2]}, .normal = {n[0], n[1], n[2]}, .colour = {255, 255, 255, 255}};
}

orr_mesh_material *add_mesh(stage *s, int vertex_count, int index_count)
{
    int i = s->mesh_count++;
    small_mesh *m = &s->meshes[i];
    small_mesh_set(m, s->vertices + (size_t)i * VERTICES, vertex_count, s->indices + (size_t)i * INDICES,
                   index_count);
    s->drawn[i] = (orr_draw_mesh){.mesh = &m->mesh, .key = (uint64_t)i};
    memcpy(s->drawn[i].model, identity, sizeof identity);
    s->list.meshes = s->drawn;
    s->list.mesh_count = s->mesh_count;
    return &m->material;
}

orr_mesh_material *add_quad(stage *s, float corners[4][3])
{
    float ab[3], ad[3], n[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = corners[1][k] - corners[0][k];
        ad[k] = corners[3][k] - corners[0][k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] = ab[(k + 1) % 3] * ad[(k + 2) % 3] - ab[(k + 2) % 3] * ad[(k + 1) % 3];
    }
    float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    orr_mesh_vertex *v = s->vertices + (size_t)s->mesh_count * VERTICES;
    for (int i = 0; i < 4; i++) {
        v[i] = vertex(corners[i], (float[3]){n[0] / length, n[1] / length, n[2] / length});
    }
    memcpy(s->indices + (size_t)s->mesh_count * INDICES, (uint32_t[6]){0, 1, 2, 0, 2, 3},
           6 * sizeof *s->indices);
    return add_mesh(s, 4, 6);
}

orr_mesh_material *add_wall(stage *s, float half, float depth)
{
    return add_quad(
        s, (float[4][3]){
               {-half, -half, depth}, {-half, half, depth}, {half, half, depth}, {half, -half, depth}});
}

orr_mesh_material *add_sphere(stage *s, const float centre[3], float radius, bool flat)
{
    enum { ROWS = 24, COLUMNS = 48 };
    int first = s->mesh_count, count = 0;
    orr_mesh_vertex *v = s->vertices + (size_t)first * VERTICES;
    uint32_t *index = s->indices + (size_t)first * INDICES;
    for (int i = 0; i <= ROWS; i++) {
        for (int k = 0; k <= COLUMNS; k++) {
            double down = 3.14159265358979 * i / ROWS, around = 2.0 * 3.14159265358979 * k / COLUMNS;
            double ring = i % ROWS ? sin(down) : 0.0; // the triangles at the poles have no area
            float n[3] = {(float)(ring * cos(around)), (float)cos(down), (float)(ring * sin(around))};
            float p[3] = {centre[0] + radius * n[0], centre[1] + radius * n[1], centre[2] + radius * n[2]};
            v[i * (COLUMNS + 1) + k] = vertex(p, flat ? (const float[3]){0} : n);
        }
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t k = 0; k < COLUMNS; k++) {
            uint32_t a = i * (COLUMNS + 1) + k, b = a + COLUMNS + 1;
            memcpy(index + count, (uint32_t[6]){a, a + 1, b, a + 1, b + 1, b}, 6 * sizeof *index);
            count += 6;
        }
    }
    return add_mesh(s, (ROWS + 1) * (COLUMNS + 1), count);
}

void trace(stage *s, int samples, uint32_t seed)
{
    orr_isa isa;
    orr_path_tracer *tracer;
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_path_tracer_create(s->jobs, isa, &s->list, seed, &tracer, &error));
    orr_path_tracer_advance(tracer, samples);
    orr_path_tracer_statistics(tracer, &s->statistics);
    orr_path_tracer_picture(tracer, true, &(orr_picture){s->rgba, s->depth});
    orr_path_tracer_destroy(tracer);
}

void set_ambient(stage *s, float radiance)
{
    for (int k = 0; k < 3; k++) {
        s->list.sun.ambient[k] = radiance;
    }
}

double mean_of(const stage *s, int channel, int border)
{
    double sum = 0.0;
    for (int y = border; y < SIDE - border; y++) {
        for (int x = border; x < SIDE - border; x++) {
            sum += (double)s->rgba[4 * (y * SIDE + x) + channel];
        }
    }
    return sum / ((SIDE - 2 * border) * (SIDE - 2 * border));
}
