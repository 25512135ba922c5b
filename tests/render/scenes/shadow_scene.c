#include "tests/render/scenes/shadow_scene.h"

#include "engine/maths/camera.h"
#include "render/splat/splat_cloud.h"
#include "tests/support/support.h"

#include <math.h>

static const float floor_half = 4.0f;

static orr_mesh_vertex vertex(const float p[3], const float n[3])
{
    return (orr_mesh_vertex){
        .position = {p[0], p[1], p[2]}, .normal = {n[0], n[1], n[2]}, .colour = {255, 255, 255, 255}};
}

static void make_quad(orr_mesh_vertex *v, uint32_t *indices, uint32_t first, int axis, float sign, float half)
{
    static const float corners[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    float n[3] = {0};
    n[axis] = sign;
    for (int i = 0; i < 4; i++) {
        float p[3];
        p[axis] = sign * half;
        p[(axis + 1) % 3] = half * corners[i][0] * sign;
        p[(axis + 2) % 3] = half * corners[i][1];
        v[i] = vertex(p, n);
    }
    const uint32_t order[6] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 6; i++) {
        indices[i] = first + order[i];
    }
}

static orr_lens lens_at(int side, float pixels, float turn, float x, float y)
{
    const float cosine = cosf(turn), sine = sinf(turn);
    orr_camera camera = {.model = ORR_CAMERA_ORTHOGRAPHIC,
                         .width = side,
                         .height = side,
                         .focal = {pixels, pixels},
                         .pose = {cosine, sine, 0, x, sine, -cosine, 0, y, 0, 0, -1, 10}};
    orr_lens lens;
    assert_ok(orr_camera_resolve(&camera, &lens, &error));
    return lens;
}

orr_lens shadow_scene_lens(float x, float y, float pixels)
{
    return lens_at(SHADOW_SCENE_SIDE, pixels, 0.0f, x, y);
}

orr_lens shadow_scene_turned_lens(int side, float pixels)
{
    return lens_at(side, pixels, 0.3f, 0.013f, 0.007f);
}

void shadow_scene_make(shadow_scene *s)
{
    *s = (shadow_scene){0};
    make_quad(s->floor_vertices, s->floor_indices, 0, 2, 1.0f, floor_half);
    for (int i = 0; i < 4; i++) {
        s->floor_vertices[i].position[2] = 0.0f;
    }
    for (int i = 0; i < 6; i++) {
        make_quad(s->box_vertices + 4 * i, s->box_indices + 6 * i, 4 * (uint32_t)i, i % 3,
                  i < 3 ? 1.0f : -1.0f, 0.5f);
    }
    small_mesh_set(&s->floor, s->floor_vertices, 4, s->floor_indices, 6);
    small_mesh_set(&s->box, s->box_vertices, 24, s->box_indices, 36);
    s->floor.material.two_sided = s->box.material.two_sided = false;
    s->items[0] =
        (orr_draw_mesh){.mesh = &s->floor.mesh, .key = 77, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    s->items[1] =
        (orr_draw_mesh){.mesh = &s->box.mesh, .key = 78, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1.5f}};
    s->list = (orr_draw_list){.lens = shadow_scene_lens(0.0f, 0.0f, 32.0f),
                              .meshes = s->items,
                              .mesh_count = 2,
                              // slope 3/4 towards -x: what is h high throws its shadow 3/4 h towards +x
                              .sun = {.direction = {-0.6f, 0.0f, 0.8f},
                                      .colour = {0.5f, 0.5f, 0.5f},
                                      .ambient = {0.25f, 0.25f, 0.25f}},
                              .shadows = true};
}

// No edge of the box passes so near to the centre of a texel that rasterisers may differ there.
void shadow_scene_add_lamps(shadow_scene *s)
{
    s->list.lights[0] = (orr_draw_light){.position = {2, 1, 4},
                                         .direction = {-0.48f, -0.36f, -0.8f},
                                         .attenuation = {1},
                                         .cutoff = 50.0f,
                                         .diffuse = {0.4f, 0.3f, 0.2f},
                                         .casts_shadows = true};
    s->list.lights[1] = (orr_draw_light){.position = {-1.1f, 0.9f, 1.6f},
                                         .attenuation = {1},
                                         .cutoff = 180.0f,
                                         .diffuse = {0.2f, 0.3f, 0.4f},
                                         .casts_shadows = true};
    s->list.lights[2] = s->list.lights[1];
    for (int k = 0; k < 3; k++) {
        s->list.lights[2].position[k] = k < 2 ? 0.1f : 1.4f;
    }
    s->list.light_count = 3;
}

void shadow_scene_soften(shadow_scene *s)
{
    s->list.sun.radius = 0.03f;
    for (int i = 0; i < s->list.light_count; i++) {
        s->list.lights[i].radius = 0.1f;
    }
}

enum { ROW = 96 }; // of the discs of a floor

// A disc of the cloud across an axis, as wide as the distance to its neighbours.
static void set_splat(const orr_splats_view *s, int64_t i, const float p[3], int axis, float width,
                      float opacity, float colour)
{
    s->opacity[i] = logf(opacity / (1.0f - opacity));
    for (int k = 0; k < 3; k++) {
        s->position[3 * i + k] = p[k];
        s->log_scale[3 * i + k] = logf(k == axis ? 1e-4f : width);
        s->colour[3 * i + k] = (colour - 0.5f) / 0.28209479f;
    }
}

static const float floor_step = 2.0f * floor_half / ROW;

static void find_floor(int i, float p[3])
{
    p[0] = floor_step * (float)(i % ROW) - floor_half;
    p[1] = floor_step * (float)(i / ROW) - floor_half;
    p[2] = 0.0f;
}

static void take_cloud(shadow_scene *s, orr_jobs *jobs, const orr_splats_view *view)
{
    assert_ok(orr_splat_pack_create(jobs, view, NULL, &s->pack, &error));
    s->layer = (orr_draw_splats){.pack = s->pack, .key = 99, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    s->list.splats = &s->layer;
    s->list.splat_count = 1;
    s->list.meshes = &s->items[1];
    s->list.mesh_count = 1;
    s->list.umbra = 0.4f;
}

void shadow_scene_make_captured(shadow_scene *s, orr_jobs *jobs)
{
    shadow_scene_make(s);
    assert_ok(orr_splats_create(ROW * ROW + 1, 0, &s->splats, &error));
    orr_splats_view view = orr_splats_data(s->splats);
    for (int i = 0; i < ROW * ROW; i++) {
        float p[3];
        find_floor(i, p);
        set_splat(&view, i, p, 2, floor_step, 0.98f, 0.6f);
    }
    set_splat(&view, ROW * ROW, (const float[3]){0.0f, 0.0f, 3.0f}, 2, 1e3f, 0.25f, 0.0f);
    take_cloud(s, jobs, &view);
}

void shadow_scene_make_walled(shadow_scene *s, orr_jobs *jobs)
{
    enum { LONG = 36, HIGH = 24 };
    static const float lit = 0.6f, dark = 0.3921f; // 0.4 of the former, linear
    shadow_scene_make(s);
    assert_ok(orr_splats_create(ROW * ROW + LONG * HIGH, 0, &s->splats, &error));
    orr_splats_view view = orr_splats_data(s->splats);
    for (int i = 0; i < ROW * ROW; i++) {
        float p[3];
        find_floor(i, p);
        const bool shadowed = p[0] > 0.75f && p[0] < 2.25f && p[1] > 0.0f && p[1] < 3.0f;
        set_splat(&view, i, p, 2, floor_step, 0.98f, shadowed ? dark : lit);
    }
    for (int i = 0; i < LONG * HIGH; i++) {
        const float p[3] = {0.75f, 3.0f * ((float)(i % LONG) + 0.5f) / LONG,
                            2.0f * ((float)(i / LONG) + 0.5f) / HIGH};
        set_splat(&view, ROW * ROW + i, p, 0, floor_step, 0.98f, lit);
    }
    take_cloud(s, jobs, &view);
    s->layer.key = 97; // devices may have the other floor
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    orr_self_shadow_of wall = {.clouds = s->list.splats,
                               .cloud_count = 1,
                               .lights = {{.sun = true, .captured = true}},
                               .light_count = 1};
    for (int k = 0; k < 3; k++) {
        wall.lights[0].direction[k] = -s->list.sun.direction[k];
    }
    assert_ok(orr_self_shadow_build(jobs, isa, &wall, &s->self, &error));
    s->self->key = 98;
    s->list.self_shadow = s->self;
}

void shadow_scene_free(shadow_scene *s)
{
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
    orr_self_shadow_release(s->self);
}
