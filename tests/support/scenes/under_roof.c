#include "tests/support/scenes/under_roof.h"

#include "engine/loop/window.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SIDE = UNDER_ROOF_SIDE };

// Above the camera, and so wide that no sun reaches what that sees.
static void add_roof(orr_scene *scene, const float sun[3])
{
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    const float height = 2.5f, aside[2] = {sun[0] / -sun[1] * height, sun[2] / -sun[1] * height};
    float corners[12];
    for (int i = 0; i < 4; i++) {
        corners[3 * i] = aside[0] + (i == 1 || i == 2 ? 4.0f : -4.0f);
        corners[3 * i + 1] = -height;
        corners[3 * i + 2] = aside[1] + (i > 1 ? 4.0f : -4.0f);
    }
    const orr_mesh_desc desc = {
        .vertex_count = 4, .index_count = 6, .positions = corners, .indices = indices, .two_sided = true};
    assert_ok(orr_scene_add_mesh(scene, "roof", &desc, NULL, NULL, &error));
}

static const orr_camera from_above = {.model = ORR_CAMERA_ORTHOGRAPHIC,
                                      .width = SIDE,
                                      .height = SIDE,
                                      .focal = {SIDE / 4.0f, SIDE / 4.0f},
                                      .pose = {1, 0, 0, 0, 0, 0, 1, -2, 0, -1, 0, 0}};

static void draw(orr_device_kind device, const orr_scene *scene, const orr_world *world, bool shadows,
                 float *rgba)
{
    const orr_view view = {.no_shadows = !shadows, .camera = from_above};
    orr_frame *frame;
    assert_ok(orr_frame_create(engine, &(orr_frame_desc){.device = device}, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    orr_frame_destroy(frame);
}

static int count_darker(const float *rgba, const float *than)
{
    int count = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        count += rgba[4 * i + 1] < 0.8f * than[4 * i + 1];
    }
    return count;
}

// A capture that is moved by a hair in the second copy did not cast what is in its colours from there, and
// light that a look turns there is not that of the capture.
static void assert_eyes_see(orr_device_kind device, const orr_scene *scene, orr_world *world,
                            const float *rgba)
{
    const orr_transform moved = {.position = {1e-5f, 0.0f, 0.0f}}, back = {.position = {0.0f}};
    static float seen[2][4 * SIDE * SIDE];
    const uint8_t second[2] = {0, 1};
    const orr_eyes_look looks[2] = {{.light = {0}}, {.light_turn = {0.0f, 1e-4f, 0.0f}}};
    const orr_eyes_desc desc = {.views = &from_above,
                                .view_count = 1,
                                .width = SIDE,
                                .height = SIDE,
                                .smooth_edges = true,
                                .device = device};
    const orr_eyes_pictures pictures = {.rgba = seen[0]};
    orr_eyes *eyes;
    assert_ok(orr_eyes_create(world, &desc, &eyes, &error));
    assert_ok(orr_eyes_draw(eyes, NULL, &pictures, &error));
    assert_memory_equal(seen[0], rgba, sizeof seen[0]);
    assert_memory_equal(seen[1], rgba, sizeof seen[1]);
    assert_ok(orr_world_set_transform(world, 1, orr_scene_layer(scene, 0), &moved, &error));
    assert_ok(orr_eyes_draw(eyes, NULL, &pictures, &error));
    assert_memory_equal(seen[0], rgba, sizeof seen[0]);
    assert_true(count_darker(seen[1], rgba) > SIDE * SIDE / 20);
    assert_ok(orr_world_set_transform(world, 1, orr_scene_layer(scene, 0), &back, &error));
    assert_ok(orr_eyes_set_looks(eyes, second, looks, &error));
    assert_ok(orr_eyes_draw(eyes, NULL, &pictures, &error));
    assert_memory_equal(seen[0], rgba, sizeof seen[0]);
    assert_true(count_darker(seen[1], rgba) > SIDE * SIDE / 20);
    orr_eyes_destroy(eyes);
}

static under_roof judge(const float *open, const float *roofed)
{
    under_roof found = {0};
    for (int i = 0; i < SIDE * SIDE; i++) {
        if (open[4 * i + 3] < 0.5f) {
            continue; // nothing is there
        }
        const double without = pow((double)open[4 * i + 1], 2.2), with = pow((double)roofed[4 * i + 1], 2.2);
        found.alone += with > 0.95 * without;
        found.dark += with < 0.45 * without;
        found.between += with <= 0.95 * without && with >= 0.45 * without;
        found.shadowed += with > 0.95 * without ? without : 0.0;
        found.lit += with < 0.45 * without ? without : 0.0;
    }
    found.lit /= fmax(found.dark, 1);
    found.shadowed /= fmax(found.alone, 1);
    print_message("    %d pixels alone (%.3f bright), %d dark (%.3f bright), %d between\n", found.alone,
                  found.shadowed, found.dark, found.lit, found.between);
    return found;
}

under_roof under_roof_look(orr_scene *scene, const float towards_sun[3], orr_device_kind eyes_on)
{
    static float open[4 * SIDE * SIDE], roofed[4 * SIDE * SIDE];
    orr_world *world;
    add_roof(scene, towards_sun);
    under_roof_set_sun(scene, towards_sun);
    assert_ok(orr_world_create(scene, 2, &world, &error));
    draw(eyes_on, scene, world, false, open);
    draw(eyes_on, scene, world, true, roofed);
    if (eyes_on != ORR_DEVICE_AUTO) {
        assert_eyes_see(eyes_on, scene, world, roofed);
    }
    orr_world_destroy(world);
    return judge(open, roofed);
}

void under_roof_set_sun(orr_scene *scene, const float towards_sun[3])
{
    orr_sun_desc sun = {.colour = {0.8f, 0.8f, 0.8f}, .ambient = {0.2f, 0.2f, 0.2f}, .umbra = 0.4f};
    memcpy(sun.direction, towards_sun, sizeof sun.direction);
    assert_ok(orr_scene_set_sun(scene, &sun, &error));
}

under_roof_stage under_roof_open(orr_splats *room, const float towards_sun[3])
{
    under_roof_stage t = {.splats = room};
    assert_ok(orr_scene_create(engine, &t.scene, &error));
    assert_ok(orr_scene_add_splats(t.scene, "room", room, NULL, NULL, &error));
    add_roof(t.scene, towards_sun);
    under_roof_set_sun(t.scene, towards_sun);
    assert_ok(orr_world_create(t.scene, 1, &t.world, &error));
    assert_ok(orr_frame_create(engine, NULL, &t.frame, &error));
    return t;
}

void under_roof_draw(under_roof_stage *t, bool for_window, float *rgba)
{
    const orr_view view = {.camera = from_above};
    assert_ok(for_window ? orr_frame_submit_for_window(t->frame, t->scene, t->world, &view, &error)
                         : orr_frame_submit(t->frame, t->scene, t->world, &view, &error));
    assert_ok(orr_frame_finish(t->frame, &(orr_picture){.rgba = rgba}, &error));
}

void under_roof_close(under_roof_stage *t)
{
    orr_frame_destroy(t->frame);
    orr_world_destroy(t->world);
    orr_scene_destroy(t->scene);
    orr_splats_destroy(t->splats);
}
