#include "tests/render/scenes/mesh_canvas.h"

#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

mesh_canvas mesh_canvas_open(orr_camera camera, int threads)
{
    mesh_canvas c = {0};
    assert_ok(orr_camera_resolve(&camera, &c.lens, &error));
    assert_ok(orr_jobs_create(threads, NULL, NULL, &c.jobs, &error));
    size_t pixels = (size_t)camera.width * (size_t)camera.height;
    c.picture.depth = malloc(pixels * sizeof(float));
    c.picture.rgb = malloc(3 * pixels * sizeof(float));
    return c;
}

void mesh_canvas_close(mesh_canvas *c)
{
    orr_jobs_destroy(c->jobs);
    orr_arena_destroy(&c->arena);
    free(c->picture.depth);
    free(c->picture.rgb);
}

void mesh_canvas_draw(mesh_canvas *c, const orr_draw_mesh *meshes, int count)
{
    orr_draw_list list = {
        .lens = c->lens,
        .meshes = meshes,
        .mesh_count = count,
        .sun = {.direction = {0.6f, 0.0f, -0.8f}, .colour = {1, 1, 1}, .ambient = {0.25f, 0.25f, 0.25f}}};
    orr_isa isa;
    orr_arena_reset(&c->arena);
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(
        orr_mesh_raster(c->jobs, isa, &c->arena, &list, NULL, c->picture, &c->fragments, &c->counts, &error));
}

void mesh_canvas_draw_one(mesh_canvas *c, const orr_mesh *mesh)
{
    orr_draw_mesh one = {.mesh = mesh};
    memcpy(one.model, identity, sizeof identity);
    mesh_canvas_draw(c, &one, 1);
}

orr_camera straight_camera(int width, int height, float focal)
{
    orr_camera camera = {.width = width, .height = height, .focal = {focal, focal}, .near_plane = 0.1f};
    memcpy(camera.pose, identity, sizeof identity);
    return camera;
}

orr_mesh_vertex white_vertex(float x, float y, float z)
{
    return (orr_mesh_vertex){.position = {x, y, z}, .normal = {0, 0, -1}, .colour = {255, 255, 255, 255}};
}
