#include "tests/support/scenes/cut_cloud.h"

#include "assets/clouds.h"
#include "tests/splats/splat_reference.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 120, HEIGHT = 80, PIXELS = WIDTH * HEIGHT };
static const float distance_of_eye = 3.0f;

// the plane z = x / 2 + y / 4
static float plane_z(float x, float y)
{
    return 0.5f * x + 0.25f * y;
}

static void make_plane(cut_cloud *c)
{
    for (int i = 0; i < 4; i++) {
        // beyond the picture on all sides, and on one behind the camera
        float x = i % 2 ? 6.0f : -6.0f, y = i / 2 ? 6.0f : -6.0f;
        c->vertices[i] = (orr_mesh_vertex){
            .position = {x, y, plane_z(x, y)}, .normal = {0, 0, -1}, .colour = {255, 255, 255, 255}};
    }
    const uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    memcpy(c->indices, indices, sizeof indices);
    small_mesh_set(&c->mesh, c->vertices, 4, c->indices, 6);
    c->mesh.material.base_colour[1] = 0.25f;
    c->plane =
        (orr_draw_mesh){.mesh = &c->mesh.mesh, .key = 2, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    c->list.meshes = &c->plane;
    c->list.mesh_count = 1;
    c->list.sun = (orr_draw_sun){
        .direction = {0.6f, 0.0f, -0.8f}, .colour = {0.5f, 0.5f, 0.5f}, .ambient = {0.3f, 0.3f, 0.3f}};
}

// the plane's depth along each pixel's ray, Lambert's law and the sRGB curve
static void draw_expected(cut_cloud *c)
{
    const orr_lens *lens = &c->list.lens;
    float *depth = malloc(PIXELS * sizeof(float)), *colour = malloc(3 * PIXELS * sizeof(float));
    double lit = 0.5 * 0.8 + 0.3, dim = 0.25 * lit, eye = (double)distance_of_eye;
    for (int i = 0; i < PIXELS; i++) {
        double dx = (i % WIDTH + 0.5 - 0.5 * WIDTH) / (double)lens->focal[0];
        double dy = (i / WIDTH + 0.5 - 0.5 * HEIGHT) / (double)lens->focal[1];
        double slope = 0.5 * dx + 0.25 * dy;
        depth[i] = (float)(lens->orthographic ? eye + slope : eye / (1.0 - slope));
        for (int k = 0; k < 3; k++) {
            colour[k * PIXELS + i] = (float)srgb_encode(k == 1 ? dim : lit);
        }
    }
    reference_layer layer = {.splats = orr_splats_data(c->splats)};
    memcpy(layer.model, c->layer.model, sizeof layer.model);
    c->expected = drawn_make(&c->list);
    const reference_planes planes = {.mesh_depth = depth, .mesh_colour = colour};
    draw_reference(lens, &layer, 1, NULL, &planes, c->expected.rgba, c->expected.depth);
    free(depth);
    free(colour);
}

void cut_cloud_make(cut_cloud *c, orr_jobs *jobs, bool orthographic)
{
    *c = (cut_cloud){.splats = make_cloud(CLOUD_BALL, 1500, 1, 31)};
    const float eye[3] = {0.0f, 0.0f, -distance_of_eye}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, WIDTH, HEIGHT);
    if (orthographic) {
        camera.model = ORR_CAMERA_ORTHOGRAPHIC;
        camera.focal[0] = camera.focal[1] = 35.0f;
    }
    assert_ok(orr_camera_resolve(&camera, &c->list.lens, &error));
    orr_splats_view view = orr_splats_data(c->splats);
    assert_ok(orr_splat_pack_create(jobs, &view, NULL, &c->pack, &error));
    c->layer = (orr_draw_splats){.pack = c->pack, .key = 1, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    c->list.splats = &c->layer;
    c->list.splat_count = 1;
    make_plane(c);
    draw_expected(c);
}

void cut_cloud_check(const cut_cloud *c, const drawn *d)
{
    assert_true(psnr(d->rgba, c->expected.rgba, 4 * d->pixels) >= 50.0);
    assert_true(d->rgba[4 * (HEIGHT / 2 * WIDTH + WIDTH / 2) + 3] == 1.0f); // the plane is opaque
    // where a splat lies on the plane to within rounding it may be before it for one and behind for the other
    assert_true(differing_share(d->rgba, c->expected.rgba, 4 * d->pixels, 1e-3) <= 0.001);
    assert_true(differing_share(d->depth, c->expected.depth, d->pixels, 1e-3) <= 0.001);
}

void cut_cloud_free(cut_cloud *c)
{
    drawn_free(&c->expected);
    orr_splat_pack_destroy(c->pack);
    orr_splats_destroy(c->splats);
}
