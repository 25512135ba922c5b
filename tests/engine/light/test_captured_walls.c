// Tests of what captured walls keep off: the light of lamps, and of the sun, on meshes before them.
#include "tests/support/scenes/lit_cloud.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 40, SMALL_PIXELS = SMALL * SMALL };

// A square of splats across x, of side 2 `half`.
static void put_square(const orr_splats_view *s, int first, int row, float x, float half)
{
    const float apart = 2.0f * half / (float)row;
    for (int i = 0; i < row * row; i++) {
        const int at = first + i;
        const float p[3] = {x, apart * ((float)(i % row) + 0.5f) - half,
                            apart * ((float)(i / row) + 0.5f) - half};
        for (int k = 0; k < 3; k++) {
            s->position[3 * at + k] = p[k];
            s->log_scale[3 * at + k] = logf(k == 0 ? 0.003f : 0.7f * apart);
            s->colour[3 * at + k] = (0.6f - 0.5f) / 0.28209479f;
        }
        s->rotation[4 * at] = 1.0f;
        s->opacity[at] = 6.0f;
    }
}

// A captured wall at x = 0 and a captured ground at -2; before that a card at -1 that faces the wall.
static orr_scene *make_walls(orr_engine *engine, orr_layer *captured)
{
    enum { ROW = 24 };
    static const float corners[12] = {-1, -0.3f, -0.3f, -1, 0.3f, -0.3f, -1, 0.3f, 0.3f, -1, -0.3f, 0.3f};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    const orr_mesh_desc card = {
        .vertex_count = 4, .index_count = 6, .positions = corners, .indices = indices, .two_sided = true};
    orr_scene *scene;
    orr_splats *splats;
    assert_ok(orr_splats_create(2 * ROW * ROW, 0, &splats, &error));
    const orr_splats_view s = orr_splats_data(splats);
    put_square(&s, 0, ROW, 0.0f, 1.5f);
    put_square(&s, ROW * ROW, ROW, -2.0f, 1.5f);
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_splats(scene, "walls", splats, NULL, captured, &error));
    assert_ok(orr_scene_add_mesh(scene, "card", &card, NULL, NULL, &error));
    orr_splats_destroy(splats);
    return scene;
}

// From between the wall and the card: the card in the middle, around it the ground.
static orr_view from_the_wall(void)
{
    return (orr_view){.hard_edges = true,
                      .occlusion_radius = -1.0f,
                      .camera = {.model = ORR_CAMERA_ORTHOGRAPHIC,
                                 .width = SMALL,
                                 .height = SMALL,
                                 .focal = {SMALL / 2.4f, SMALL / 2.4f},
                                 .pose = {0, 0, -1, -0.1f, 1, 0, 0, 0, 0, -1, 0, 0}}};
}

static float card_of(const float *rgba)
{
    return rgba[4 * (SMALL / 2 * SMALL + SMALL / 2)];
}

// How many pixels of the ground are darker than they are without shadows.
static int count_shadowed(const float *rgba, const float *without)
{
    int count = 0;
    for (int i = 0; i < SMALL_PIXELS; i++) {
        const bool card = abs(i % SMALL - SMALL / 2) < 7 && abs(i / SMALL - SMALL / 2) < 7;
        count += !card && rgba[4 * i] < 0.9f * without[4 * i];
    }
    return count;
}

// One lamp, behind the wall or before it.
static void look_at_lamp(orr_engine *engine, const orr_light_desc *lamp, bool behind, bool traces)
{
    static float with[4 * SMALL_PIXELS], open[4 * SMALL_PIXELS], traced[4 * SMALL_PIXELS];
    orr_layer captured;
    orr_scene *scene = make_walls(engine, &captured);
    orr_world *world;
    orr_view view = from_the_wall();
    assert_ok(orr_scene_add_light(scene, lamp, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    draw_world(engine, scene, world, &view, with);
    view.no_shadows = true;
    draw_world(engine, scene, world, &view, open);
    view.no_shadows = false;
    memcpy(traced, with, sizeof traced);
    if (traces) {
        trace(scene, &view, 8, traced);
    }
    print_message("    card %.3f (%.3f without shadows), ground %d darker, path-traced %d\n",
                  (double)card_of(with), (double)card_of(open), count_shadowed(with, open),
                  count_shadowed(traced, open));
    assert_true(card_of(open) > 0.5f);
    if (behind) {
        assert_true(card_of(with) < 0.02f);
        assert_int_equal(count_shadowed(with, open), 0);
        assert_int_equal(count_shadowed(traced, open), 0);
    } else {
        assert_true(card_of(with) == card_of(open));
        assert_true(count_shadowed(with, open) > 200 && count_shadowed(traced, open) > 200);
    }
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

static orr_light_desc lamp_at(orr_light_kind kind, float x)
{
    return (orr_light_desc){
        .kind = kind, .position = {x, 0.05f, 0.02f}, .direction = {-1, 0, 0}, .outer = 60, .intensity = 8.0f};
}

// On each device that there is here; path-traced, too.
static void a_lamp_behind_a_captured_wall_does_not_light_what_is_before_it(void **state)
{
    (void)state;
    static const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_CUDA, ORR_DEVICE_VULKAN};
    const orr_light_desc point = lamp_at(ORR_LIGHT_KIND_POINT, 1.0f),
                         spot = lamp_at(ORR_LIGHT_KIND_SPOT, 1.0f),
                         before = lamp_at(ORR_LIGHT_KIND_POINT, -0.3f);
    for (int d = 0; d < 3; d++) {
        orr_engine *engine = open_engine_on(devices[d]);
        if (engine) {
            look_at_lamp(engine, &point, true, d == 0);
        }
        if (engine && d == 0) {
            look_at_lamp(engine, &spot, true, false);
            look_at_lamp(engine, &before, false, false);
        }
        orr_engine_destroy(engine);
    }
}

// Mean linear light of the picture's middle.
static double middle_light(const float *rgba)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < SMALL_PIXELS; i++) {
        if (abs(i % SMALL - SMALL / 2) < 9 && abs(i / SMALL - SMALL / 2) < 9) {
            sum += pow((double)rgba[4 * i], 2.2);
            count++;
        }
    }
    return sum / count;
}

// A white sphere in a captured room, seen from above, in the sun that is estimated of the room: what the sun
// gives it, and what probes show of the room that the same sun lights.
static double sun_ratio(orr_engine *engine, const lit_cloud_desc *room, const float at[3], float radius)
{
    static float drawn[4 * SMALL_PIXELS], traced[4 * SMALL_PIXELS];
    const orr_transform placed = {.position = {at[0], at[1], at[2]}, .rotation = {1}, .scale = radius};
    const float eye[3] = {at[0] + 2.7f * radius, at[1] - 4.0f * radius, at[2] + 1.7f * radius},
                up[3] = {0, -1, 0};
    const orr_view view = {.hard_edges = true,
                           .occlusion_radius = -1.0f,
                           .camera = orr_camera_look_at(eye, at, up, 0.45f, SMALL, SMALL)};
    orr_sun_estimate found;
    orr_scene *scene;
    orr_splats *splats = lit_cloud(room);
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_splats(scene, "room", splats, NULL, NULL, &error));
    assert_ok(orr_scene_add_file(scene, write_sphere(0.0f, 1.0f, 0.9f), &placed, NULL, &error));
    assert_ok(orr_scene_estimate_sun(scene, &found, &error));
    assert_true(found.found);
    assert_ok(orr_scene_set_sun(scene, &found.sun, &error));
    assert_ok(orr_scene_set_probes(scene, true, &error));
    draw(engine, scene, &view, drawn);
    trace(scene, &view, 16, traced);
    print_message("    sun %.3f, ambient %.3f: drawn %.4f, path-traced %.4f\n", (double)found.sun.colour[0],
                  (double)found.sun.ambient[0], middle_light(drawn), middle_light(traced));
    orr_scene_destroy(scene);
    orr_splats_destroy(splats);
    return middle_light(drawn) / middle_light(traced);
}

// On the floor, `away` from where its shadows end and from its boxes, and as far above it.
static void find_shade(const lit_cloud_desc *room, double away, float at[3])
{
    enum { ROW = 60 };
    for (int i = 0; i < ROW * ROW; i++) {
        lit_point around[9];
        bool shaded = true;
        for (int k = 0; k < 9; k++) {
            const double x = 0.08 * (i % ROW) - 2.4 + away * (k % 3 - 1),
                         z = 0.08 * (double)(i / ROW) - 2.4 + away * (k / 3 - 1);
            around[k] = (lit_point){.position = {x, 0, z}};
        }
        lit_cloud_look(room, around, 9);
        for (int k = 0; k < 9; k++) {
            shaded = shaded && fabs(around[k].distance) < 1e-9 && around[k].brightness < 0.12;
        }
        if (shaded) {
            at[0] = (float)around[4].position[0];
            at[1] = -(float)away;
            at[2] = (float)around[4].position[2];
            return;
        }
    }
    fail_msg("no shade");
}

static void the_light_of_an_estimated_sun_is_counted_once(void **state)
{
    (void)state;
    static const float open[3] = {0.4f, -1.4f, 0.3f};
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    lit_cloud_desc room = {.strength = 4, .noise = 0.1};
    float shade[3];
    lit_cloud_aim(&room, 130, 40);
    // 0.1 % was measured, with the noise of paths
    assert_true(fabs(sun_ratio(engine, &room, open, 0.3f) - 1.0) < 0.01);
    // 2.7 % was measured: a probe's box is a coarse stand-in for what is near
    find_shade(&room, 0.15, shade);
    const double ratio = sun_ratio(engine, &room, shade, 0.08f);
    assert_true(fabs(ratio - 1.0) < 0.04);
    orr_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_light_of_an_estimated_sun_is_counted_once),
        cmocka_unit_test(a_lamp_behind_a_captured_wall_does_not_light_what_is_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
