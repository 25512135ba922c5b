// Tests of the sun's estimate: the sun of clouds that are lit by a known one.
#include "tests/support/engine.h"
#include "tests/support/scenes/lit_cloud.h"
#include "tests/support/scenes/under_roof.h"
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

// A roof over a cloud.
static under_roof look_under_roof(const lit_cloud_desc *s, const float towards_sun[3], bool by_eyes)
{
    orr_scene *scene;
    orr_splats *splats = lit_cloud(s);
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_splats(scene, "room", splats, NULL, NULL, &error));
    const under_roof found = under_roof_look(scene, towards_sun, by_eyes ? ORR_DEVICE_CPU : ORR_DEVICE_AUTO);
    orr_scene_destroy(scene);
    orr_splats_destroy(splats);
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
    const under_roof in_own = look_under_roof(&s, own, true), in_other = look_under_roof(&s, other, false);
    assert_true(in_own.alone > UNDER_ROOF_PIXELS / 20 && in_own.dark > UNDER_ROOF_PIXELS / 4);
    assert_true(in_own.between < UNDER_ROOF_PIXELS / 8);
    assert_true(in_own.shadowed < 0.6 * in_own.lit);
    assert_true(in_other.alone == 0);
}

// A sun that is another one in every frame has, in a window, the captured shadows of the first of them, here
// none. They are exact when it stands, and in pictures that are read.
static void captured_shadows_wait_in_windows_while_the_sun_is_dragged(void **state)
{
    (void)state;
    static float exact[4 * UNDER_ROOF_PIXELS], drawn[4 * UNDER_ROOF_PIXELS];
    lit_cloud_desc s = {.strength = 4, .noise = 0.1};
    lit_cloud_aim(&s, 130, 40);
    const float own[3] = {(float)s.sun[0], (float)s.sun[1], (float)s.sun[2]};
    const float other[3] = {-(float)s.sun[0], (float)s.sun[1], -(float)s.sun[2]};
    under_roof_stage t = under_roof_open(lit_cloud(&s), own);
    under_roof_draw(&t, true, exact);
    under_roof_set_sun(t.scene, other);
    under_roof_draw(&t, true, drawn);
    under_roof_set_sun(t.scene, own);
    under_roof_draw(&t, true, drawn);
    assert_memory_not_equal(drawn, exact, sizeof drawn);
    under_roof_draw(&t, true, drawn);
    assert_memory_equal(drawn, exact, sizeof drawn);
    under_roof_set_sun(t.scene, other);
    under_roof_draw(&t, false, drawn);
    under_roof_set_sun(t.scene, own);
    under_roof_draw(&t, false, drawn);
    assert_memory_equal(drawn, exact, sizeof drawn);
    under_roof_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sun_of_a_cloud_is_found_within_three_degrees),
        cmocka_unit_test(a_cloud_that_is_turned_turns_its_sun),
        cmocka_unit_test(a_cloud_without_a_sun_has_none),
        cmocka_unit_test(a_captured_shadow_is_left_alone),
        cmocka_unit_test(captured_shadows_wait_in_windows_while_the_sun_is_dragged),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
