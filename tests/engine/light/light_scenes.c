#include "tests/engine/light/light_scenes.h"

#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

const char *const light_scene_names[LIGHT_SCENES] = {"robot on captured floor",
                                                     "sphere in captured room",
                                                     "capture on mesh table",
                                                     "mirror",
                                                     "two lamps",
                                                     "soft cloud"};

// ---- what is in them; up is z ----

static void set_splat(const orr_splats_view *s, int i, const float position[3], const float scale[3],
                      const float rotation[4], const float colour[3])
{
    for (int k = 0; k < 3; k++) {
        s->position[3 * i + k] = position[k];
        s->log_scale[3 * i + k] = logf(scale[k]);
        s->colour[3 * i + k] = (colour[k] - 0.5f) / 0.28209479f;
    }
    for (int k = 0; k < 4; k++) {
        s->rotation[4 * i + k] = rotation[k];
    }
    s->opacity[i] = 6.0f;
}

// A floor of discs at z = 0, of side 2 `half`: checkers of light and dark.
static void add_captured_floor(orr_scene *scene, float half)
{
    enum { ROW = 80 };
    orr_splats *splats;
    assert_ok(orr_splats_create(ROW * ROW, 0, &splats, &error));
    const orr_splats_view s = orr_splats_data(splats);
    const float apart = 2.0f * half / ROW;
    for (int i = 0; i < ROW * ROW; i++) {
        const float p[3] = {apart * ((float)(i % ROW) + 0.5f) - half,
                            apart * ((float)(i / ROW) + 0.5f) - half, 0.0f};
        const bool light = (i % ROW / 10 + i / ROW / 10) % 2 == 0;
        const float colour[3] = {light ? 0.75f : 0.45f, light ? 0.7f : 0.4f, light ? 0.6f : 0.35f};
        set_splat(&s, i, p, (float[3]){0.7f * apart, 0.7f * apart, 0.003f}, (float[4]){1}, colour);
    }
    assert_ok(orr_scene_add_splats(scene, "floor", splats, NULL, NULL, &error));
    orr_splats_destroy(splats);
}

// A ball of discs, in bands of two colours.
static orr_layer add_captured_ball(orr_scene *scene, const float at[3], float radius)
{
    enum { COUNT = 3000 };
    orr_splats *splats;
    orr_layer layer;
    const orr_transform placed = {.position = {at[0], at[1], at[2]}, .rotation = {1}, .scale = radius};
    assert_ok(orr_splats_create(COUNT, 0, &splats, &error));
    const orr_splats_view s = orr_splats_data(splats);
    for (int i = 0; i < COUNT; i++) { // along Fibonacci's spiral
        const float z = 1.0f - 2.0f * ((float)i + 0.5f) / COUNT, around = 2.3999632f * (float)i;
        const float ring = sqrtf(1.0f - z * z), p[3] = {ring * cosf(around), ring * sinf(around), z};
        // the rotation that takes z to p
        const float w = sqrtf(fmaxf(0.5f * (1.0f + z), 1e-6f));
        const float rotation[4] = {w, -0.5f * p[1] / w, 0.5f * p[0] / w, 0.0f};
        const bool red = (int)floorf(4.0f * z + 8.0f) % 2 == 0;
        const float colour[3] = {red ? 0.8f : 0.3f, red ? 0.35f : 0.5f, red ? 0.3f : 0.75f};
        set_splat(&s, i, p, (float[3]){0.035f, 0.035f, 0.004f}, rotation, colour);
    }
    assert_ok(orr_scene_add_splats(scene, "ball", splats, &placed, &layer, &error));
    orr_splats_destroy(splats);
    return layer;
}

// Walls of splats around the origin, 2 away: red at -x, green at +y, others checkered.
static void add_captured_walls(orr_scene *scene)
{
    enum { ROW = 40, COUNT = 6 * ROW * ROW };
    orr_splats *splats;
    assert_ok(orr_splats_create(COUNT, 0, &splats, &error));
    const orr_splats_view s = orr_splats_data(splats);
    for (int i = 0; i < COUNT; i++) {
        const int face = i / (ROW * ROW), a = face / 2, b = (a + 1) % 3, c = (a + 2) % 3;
        const bool light = (i % ROW / 5 + i / ROW / 5) % 2 == 0;
        float p[3], scale[3], colour[3];
        for (int k = 0; k < 3; k++) {
            const bool on = face == 1 ? k == 0 : face == 2 ? k == 1 : light;
            colour[k] = on ? 0.7f : 0.2f;
            scale[k] = k == a ? 0.005f : 0.7f * 4.0f / ROW;
        }
        p[a] = face % 2 ? -2.0f : 2.0f;
        p[b] = 4.0f * ((float)(i % ROW) + 0.5f) / ROW - 2.0f;
        p[c] = 4.0f * ((float)(i / ROW % ROW) + 0.5f) / ROW - 2.0f;
        set_splat(&s, i, p, scale, (float[4]){1}, colour);
    }
    assert_ok(orr_scene_add_splats(scene, "walls", splats, NULL, NULL, &error));
    orr_splats_destroy(splats);
}

static void add_box(orr_scene *scene, const float low[3], const float high[3], const float colour[3])
{
    float corners[72], colours[96];
    uint32_t indices[36];
    for (int face = 0; face < 6; face++) {
        const int a = face / 2, b = (a + 1) % 3, c = (a + 2) % 3;
        for (int corner = 0; corner < 4; corner++) {
            float *p = corners + 3 * (4 * face + corner);
            const bool right = corner == 1 || corner == 2, up = corner > 1;
            p[a] = face % 2 ? low[a] : high[a];
            p[b] = (right != (face % 2 == 1)) ? high[b] : low[b];
            p[c] = up ? high[c] : low[c];
            for (int k = 0; k < 4; k++) {
                colours[4 * (4 * face + corner) + k] = k < 3 ? colour[k] : 1.0f;
            }
        }
        for (int k = 0; k < 6; k++) {
            indices[6 * face + k] = (uint32_t)(4 * face + (int[6]){0, 1, 2, 0, 2, 3}[k]);
        }
    }
    const orr_mesh_desc desc = {.vertex_count = 24,
                                .index_count = 36,
                                .positions = corners,
                                .indices = indices,
                                .colours = colours,
                                .two_sided = true};
    assert_ok(orr_scene_add_mesh(scene, "box", &desc, NULL, NULL, &error));
}

static void add_sphere(orr_scene *scene, float metallic, float roughness, const float at[3], float radius)
{
    const orr_transform placed = {
        .position = {at[0], at[1], at[2]}, .rotation = {0.70710678f, 0.70710678f}, .scale = radius};
    assert_ok(orr_scene_add_file(scene, write_sphere(metallic, roughness, 0.9f), &placed, NULL, &error));
}

static void add_sun(orr_scene *scene)
{
    const orr_sun_desc sun = {.direction = {-0.5f, 0.35f, 0.8f},
                              .colour = {0.75f, 0.72f, 0.65f},
                              .ambient = {0.25f, 0.28f, 0.32f},
                              .radius = 1.5f};
    assert_ok(orr_scene_set_sun(scene, &sun, &error));
}

// ---- the scenes ----

static void robot_on_floor(orr_scene *scene)
{
    add_captured_floor(scene, 2.0f);
    add_sun(scene);
    assert_ok(orr_scene_add_file(
        scene,
        written("quadruped.xml",
                "<mujoco><worldbody><body pos=\"0 0 0.62\"><freejoint/>"
                "<geom type=\"box\" size=\"0.4 0.2 0.1\" rgba=\"0.8 0.5 0.2 1\"/>"
                "<geom type=\"sphere\" size=\"0.16\" pos=\"0.5 0 0.12\" rgba=\"0.3 0.4 0.7 1\"/>"
                "<geom type=\"capsule\" size=\"0.05\" fromto=\"0.3 0.2 0 0.4 0.3 -0.57\"/>"
                "<geom type=\"capsule\" size=\"0.05\" fromto=\"0.3 -0.2 0 0.4 -0.3 -0.57\"/>"
                "<geom type=\"capsule\" size=\"0.05\" fromto=\"-0.3 0.2 0 -0.4 0.3 -0.57\"/>"
                "<geom type=\"capsule\" size=\"0.05\" fromto=\"-0.3 -0.2 0 -0.4 -0.3 -0.57\"/>"
                "</body></worldbody></mujoco>"),
        NULL, NULL, &error));
}

static void sphere_in_room(orr_scene *scene)
{
    const orr_sun_desc dark = {.direction = {0, 0, 1}};
    assert_ok(orr_scene_set_sun(scene, &dark, &error));
    add_captured_walls(scene);
    add_sphere(scene, 1.0f, 0.0f, (float[3]){-0.55f, 0, 0}, 0.45f);
    add_sphere(scene, 1.0f, 0.4f, (float[3]){0.55f, 0.3f, 0.2f}, 0.3f);
    add_sphere(scene, 0.0f, 0.9f, (float[3]){0.5f, -0.3f, -0.4f}, 0.3f);
    assert_ok(orr_scene_set_rays(scene, true, &error));
}

static void capture_on_table(orr_scene *scene)
{
    add_sun(scene);
    assert_ok(orr_scene_add_file(
        scene,
        written("table.xml", "<mujoco><default><geom rgba=\"0.62 0.45 0.32 1\"/></default><worldbody>"
                             "<geom type=\"box\" size=\"2 2 0.05\" pos=\"0 0 -0.05\" rgba=\"0.6 0.6 0.6 1\"/>"
                             "<geom type=\"box\" size=\"0.9 0.6 0.04\" pos=\"0 0 0.54\"/>"
                             "<geom type=\"box\" size=\"0.05 0.05 0.25\" pos=\"-0.75 -0.45 0.25\"/>"
                             "<geom type=\"box\" size=\"0.05 0.05 0.25\" pos=\"0.75 -0.45 0.25\"/>"
                             "<geom type=\"box\" size=\"0.05 0.05 0.25\" pos=\"-0.75 0.45 0.25\"/>"
                             "<geom type=\"box\" size=\"0.05 0.05 0.25\" pos=\"0.75 0.45 0.25\"/>"
                             "</worldbody></mujoco>"),
        NULL, NULL, &error));
    const orr_layer ball = add_captured_ball(scene, (float[3]){0, 0, 0.9f}, 0.32f);
    assert_ok(orr_scene_set_shadow_casting(scene, ball, ORR_SHADOW_CASTING_ALWAYS, &error));
}

static void mirror(orr_scene *scene)
{
    add_sun(scene);
    const orr_layer ball = add_captured_ball(scene, (float[3]){-0.5f, 0.2f, 0.45f}, 0.4f);
    assert_ok(orr_scene_set_shadow_casting(scene, ball, ORR_SHADOW_CASTING_ALWAYS, &error));
    assert_ok(orr_scene_add_file(
        scene,
        written("mirror.xml",
                "<mujoco><asset><material name=\"mirror\" reflectance=\"0.6\" rgba=\"0.3 0.3 0.35 1\"/>"
                "</asset><worldbody><geom type=\"plane\" size=\"2 2 1\" material=\"mirror\"/>"
                "<geom type=\"box\" size=\"0.25 0.25 0.35\" pos=\"0.5 0.1 0.35\" euler=\"0 0 30\" "
                "rgba=\"0.2 0.6 0.3 1\"/>"
                "<geom type=\"sphere\" size=\"0.15\" pos=\"0.1 -0.6 0.15\" rgba=\"0.8 0.7 0.2 1\"/>"
                "</worldbody></mujoco>"),
        NULL, NULL, &error));
}

static void two_lamps(orr_scene *scene)
{
    const float white[3] = {0.85f, 0.85f, 0.85f}, red[3] = {0.8f, 0.3f, 0.25f};
    const orr_light_desc bulb = {.kind = ORR_LIGHT_KIND_POINT,
                                 .position = {-1.1f, -0.6f, 1.5f},
                                 .colour = {1.0f, 0.8f, 0.55f},
                                 .intensity = 3.5f,
                                 .radius = 0.12f};
    const orr_light_desc panel = {.kind = ORR_LIGHT_KIND_AREA,
                                  .position = {1.4f, 0.3f, 1.6f},
                                  .direction = {-1.0f, -0.2f, -1.1f},
                                  .size = {0.9f, 0.6f},
                                  .colour = {0.6f, 0.8f, 1.0f},
                                  .intensity = 9.0f};
    add_box(scene, (float[3]){-2, -2, -0.1f}, (float[3]){2, 2, 0}, white);
    add_box(scene, (float[3]){-2, 1.5f, 0}, (float[3]){2, 1.6f, 2}, white);
    add_box(scene, (float[3]){-0.8f, 0.2f, 0}, (float[3]){-0.3f, 0.7f, 0.8f}, red);
    add_sphere(scene, 0.0f, 0.35f, (float[3]){0.4f, 0.1f, 0.35f}, 0.35f);
    assert_ok(orr_scene_add_light(scene, &bulb, &error));
    assert_ok(orr_scene_add_light(scene, &panel, &error));
}

static orr_layer soft_cloud(orr_scene *scene)
{
    const orr_body_desc soft = {.soft = true, .resolution = 6};
    add_captured_floor(scene, 2.0f);
    add_sun(scene);
    const orr_layer ball = add_captured_ball(scene, (float[3]){0, 0, 0.55f}, 0.5f);
    assert_ok(orr_scene_set_physics(scene, ball, &soft, &error));
    return ball;
}

// Shears and flattens it, as if it had landed.
static void bend(const orr_scene *scene, orr_world *world, orr_layer layer)
{
    orr_soft_info info;
    assert_ok(orr_scene_soft_info(scene, layer, &info, &error));
    double *x = malloc(3 * (size_t)info.vertex_count * sizeof *x);
    for (int i = 0; i < info.vertex_count; i++) {
        const double *r = info.rest + 3 * (ptrdiff_t)i;
        const double low = r[2] + 0.5; // above its lowest point
        x[3 * i] = 1.15 * r[0] + 0.25 * low;
        x[3 * i + 1] = 1.15 * r[1];
        x[3 * i + 2] = 0.08 + 0.65 * low;
    }
    assert_ok(orr_world_set_soft(world, 0, layer, x, NULL, &error));
    free(x);
}

light_scene light_scene_make(orr_engine *engine, int index, int width, int height)
{
    static void (*const makers[])(orr_scene *) = {robot_on_floor, sphere_in_room, capture_on_table, mirror,
                                                  two_lamps};
    const float outside[3] = {1.2f, -2.6f, 1.9f}, inside[3] = {0.2f, -1.75f, 0.3f};
    const float target[3] = {0.0f, 0.0f, index == 1 ? 0.0f : 0.3f}, up[3] = {0, 0, 1};
    light_scene s = {.view = {.camera = orr_camera_look_at(index == 1 ? inside : outside, target, up,
                                                           index == 1 ? 1.1f : 0.75f, width, height),
                              .background = {0.55f, 0.62f, 0.7f},
                              .has_background = true,
                              .occlusion_radius = index == 1 ? -1.0f : 0.8f}};
    orr_layer soft = {0};
    assert_ok(orr_scene_create(engine, &s.scene, &error));
    if (index != 4) { // lamps alone need not ask for them
        assert_ok(orr_scene_set_probes(s.scene, true, &error));
    }
    if (index < 5) {
        makers[index](s.scene);
    } else {
        soft = soft_cloud(s.scene);
    }
    assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
    if (index == 5) {
        bend(s.scene, s.world, soft);
    }
    return s;
}

void light_scene_free(light_scene *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
}

void light_scene_draw(orr_engine *engine, const light_scene *s, float *rgba)
{
    draw_world(engine, s->scene, s->world, &s->view, rgba);
}

void light_scene_trace(const light_scene *s, int samples, float *rgba)
{
    orr_reference *reference;
    assert_ok(orr_reference_create(s->scene, s->world, &s->view, 1, &reference, &error));
    assert_ok(orr_reference_advance(reference, samples, &error));
    assert_ok(orr_reference_picture(reference, false, &(orr_picture){.rgba = rgba}, &error));
    orr_reference_destroy(reference);
}
