// Tests of the sun's estimate: the sun of clouds that are lit by a known one.
#include "tests/support/engine.h"
#include "tests/support/scenes/lit_cloud.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double DEGREE = 3.14159265358979323846 / 180.0;

// With a lamp that lights the cloud, too, whose light was not in the capture; with the same result.
static void estimate_beside_a_lamp(orr_scene *scene, const orr_sun_estimate *found)
{
    const orr_light_desc lamp = {
        .kind = ORR_LIGHT_KIND_POINT, .position = {1, -2, 0.5f}, .intensity = 20.0f, .clouds = true};
    orr_sun_estimate again;
    assert_ok(orr_scene_add_light(scene, &lamp, &error));
    assert_ok(orr_scene_estimate_sun(scene, &again, &error));
    assert_memory_equal(&again, found, sizeof again);
}

static orr_sun_estimate estimate(const lit_cloud_desc *s, const orr_transform *at)
{
    orr_scene *scene;
    orr_sun_estimate found;
    orr_splats *splats = lit_cloud(s);
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_splats(scene, "room", splats, at, NULL, &error));
    assert_ok(orr_scene_estimate_sun(scene, &found, &error));
    if (at) {
        estimate_beside_a_lamp(scene, &found);
    }
    orr_scene_destroy(scene);
    orr_splats_destroy(splats);
    return found;
}

static double degrees_off(const orr_sun_estimate *found, const double sun[3])
{
    double cosine = 0.0;
    for (int k = 0; k < 3; k++) {
        cosine += (double)found->sun.direction[k] * sun[k];
    }
    return acos(fmin(cosine, 1.0)) / DEGREE;
}

static void the_sun_of_a_cloud_is_found_within_three_degrees(void **state)
{
    (void)state;
    static const double suns[][3] = {{20, 30, 2}, {130, 45, 4}, {260, 60, 2}}; // azimuth, height, strength
    for (size_t i = 0; i < sizeof suns / sizeof suns[0]; i++) {
        lit_cloud_desc s = {.strength = suns[i][2], .noise = 0.2};
        lit_cloud_aim(&s, suns[i][0], suns[i][1]);
        const orr_sun_estimate found = estimate(&s, NULL);
        const double strength = (double)(found.sun.colour[1] / found.sun.ambient[1]);
        print_message("%.0f degrees high, strength %g: %.2f degrees off, strength %.2f, explained %.2f\n",
                      suns[i][1], suns[i][2], degrees_off(&found, s.sun), strength, (double)found.explained);
        assert_true(found.found);
        // a texel of the shadows' map is 1/256 of the cloud, a degree of a shadow as long as its sixth
        assert_true(degrees_off(&found, s.sun) < 3.0);
        // points at shadows' edges are on the wrong side, which makes it weaker
        assert_true(strength > 0.4 * suns[i][2] && strength < 1.5 * suns[i][2]);
        assert_true(fabsf(found.sun.colour[1] + found.sun.ambient[1] - 1.0f) < 1e-5f);
    }
}

static void a_cloud_that_is_turned_turns_its_sun(void **state)
{
    (void)state;
    const orr_transform upright = {
        .position = {5, 1, 2}, .rotation = {0.70710678f, -0.70710678f}, .scale = 2};
    lit_cloud_desc s = {.strength = 3, .noise = 0.2};
    lit_cloud_aim(&s, 70, 40);
    const orr_sun_estimate found = estimate(&s, &upright);
    const double turned[3] = {s.sun[0], s.sun[2], -s.sun[1]}; // a quarter turn about x: -y becomes z
    assert_true(found.found);
    assert_true(degrees_off(&found, turned) < 3.0);
}

static void a_cloud_without_a_sun_has_none(void **state)
{
    (void)state;
    lit_cloud_desc even = {.noise = 0.2}, crevices = {.noise = 0.2, .crevices = 0.6};
    lit_cloud_aim(&even, 20, 40);
    lit_cloud_aim(&crevices, 20, 40);
    assert_false(estimate(&even, NULL).found);
    assert_false(estimate(&crevices, NULL).found);
    orr_scene *scene;
    orr_sun_estimate found;
    orr_error error = {0};
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_int_equal(orr_scene_estimate_sun(scene, &found, &error), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "splat cloud"));
    orr_scene_destroy(scene);
}

enum { SIDE = 96 };

// A roof above the camera, which is wide enough that no sun reaches what the camera sees.
static void add_roof(orr_scene *scene, const double sun[3])
{
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    const float height = 2.5f,
                aside[2] = {(float)(sun[0] / -sun[1]) * height, (float)(sun[2] / -sun[1]) * height};
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

// A captured cloud under a roof.
typedef struct stage {
    orr_splats *splats;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
} stage;

static void set_sun(stage *t, const float towards_sun[3])
{
    orr_sun_desc sun = {.colour = {0.8f, 0.8f, 0.8f}, .ambient = {0.2f, 0.2f, 0.2f}, .umbra = 0.4f};
    memcpy(sun.direction, towards_sun, sizeof sun.direction);
    assert_ok(orr_scene_set_sun(t->scene, &sun, &error));
}

static stage open_stage(const lit_cloud_desc *s, const float towards_sun[3])
{
    stage t = {.splats = lit_cloud(s)};
    const double direction[3] = {(double)towards_sun[0], (double)towards_sun[1], (double)towards_sun[2]};
    assert_ok(orr_scene_create(engine, &t.scene, &error));
    assert_ok(orr_scene_add_splats(t.scene, "room", t.splats, NULL, NULL, &error));
    add_roof(t.scene, direction);
    set_sun(&t, towards_sun);
    assert_ok(orr_world_create(t.scene, 1, &t.world, &error));
    assert_ok(orr_frame_create(engine, NULL, &t.frame, &error));
    return t;
}

static void close_stage(stage *t)
{
    orr_frame_destroy(t->frame);
    orr_world_destroy(t->world);
    orr_scene_destroy(t->scene);
    orr_splats_destroy(t->splats);
}

// From above, under the roof; view: the rest of it
static void draw(stage *t, orr_view view, float *rgba)
{
    view.camera = (orr_camera){.model = ORR_CAMERA_ORTHOGRAPHIC,
                               .width = SIDE,
                               .height = SIDE,
                               .focal = {SIDE / 4.0f, SIDE / 4.0f},
                               .pose = {1, 0, 0, 0, 0, 0, 1, -2, 0, -1, 0, 0}};
    assert_ok(orr_frame_submit(t->frame, t->scene, t->world, &view, &error));
    assert_ok(orr_frame_finish(t->frame, &(orr_picture){.rgba = rgba}, &error));
}

// How the pixels of a cloud under a roof are, of what they are without: left alone, dark, or between.
typedef struct under_roof {
    int alone, dark, between;
    double lit, shadowed; // mean brightness of those that are dark, and alone, without the roof
} under_roof;

static under_roof look_under_roof(const lit_cloud_desc *s, const float towards_sun[3])
{
    static float open[4 * SIDE * SIDE], roofed[4 * SIDE * SIDE];
    under_roof found = {0};
    stage t = open_stage(s, towards_sun);
    draw(&t, (orr_view){.no_shadows = true}, open);
    draw(&t, (orr_view){0}, roofed);
    for (int i = 0; i < SIDE * SIDE; i++) {
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
    close_stage(&t);
    return found;
}

// In the sun of the capture a mesh's shadow leaves alone what is in a shadow of the capture. Of another sun,
// which explains nothing in its colours, the capture has no shadow, and a mesh's falls on all of it.
static void a_captured_shadow_is_left_alone(void **state)
{
    (void)state;
    lit_cloud_desc s = {.strength = 4, .noise = 0.1};
    lit_cloud_aim(&s, 130, 40);
    const float own[3] = {(float)s.sun[0], (float)s.sun[1], (float)s.sun[2]};
    const float other[3] = {-(float)s.sun[0], (float)s.sun[1], -(float)s.sun[2]};
    const under_roof in_own = look_under_roof(&s, own), in_other = look_under_roof(&s, other);
    assert_true(in_own.alone > SIDE * SIDE / 20 && in_own.dark > SIDE * SIDE / 4);
    assert_true(in_own.between < SIDE * SIDE / 8);
    assert_true(in_own.shadowed < 0.6 * in_own.lit);
    assert_true(in_other.alone == 0);
}

// A sun that is another one in every frame has the captured shadows of the first of them, here none. They are
// exact when it stands, and where nothing may be taken over.
static void captured_shadows_wait_while_the_sun_is_dragged(void **state)
{
    (void)state;
    static float exact[4 * SIDE * SIDE], drawn[4 * SIDE * SIDE];
    lit_cloud_desc s = {.strength = 4, .noise = 0.1};
    lit_cloud_aim(&s, 130, 40);
    const float own[3] = {(float)s.sun[0], (float)s.sun[1], (float)s.sun[2]};
    const float other[3] = {-(float)s.sun[0], (float)s.sun[1], -(float)s.sun[2]};
    stage t = open_stage(&s, own);
    draw(&t, (orr_view){0}, exact);
    set_sun(&t, other);
    draw(&t, (orr_view){0}, drawn);
    set_sun(&t, own);
    draw(&t, (orr_view){0}, drawn);
    assert_memory_not_equal(drawn, exact, sizeof drawn);
    draw(&t, (orr_view){0}, drawn);
    assert_memory_equal(drawn, exact, sizeof drawn);
    set_sun(&t, other);
    draw(&t, (orr_view){.no_reuse = true}, drawn);
    set_sun(&t, own);
    draw(&t, (orr_view){.no_reuse = true}, drawn);
    assert_memory_equal(drawn, exact, sizeof drawn);
    close_stage(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sun_of_a_cloud_is_found_within_three_degrees),
        cmocka_unit_test(a_cloud_that_is_turned_turns_its_sun),
        cmocka_unit_test(a_cloud_without_a_sun_has_none),
        cmocka_unit_test(a_captured_shadow_is_left_alone),
        cmocka_unit_test(captured_shadows_wait_while_the_sun_is_dragged),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
