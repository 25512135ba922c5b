// Tests of the sun of radiance fields, and of the shadows that are in their colours already.
#include "engine/loop/engine.h"
#include "engine/scene/scene.h"
#include "tests/support/engine.h"
#include "tests/support/scenes/lit_field.h"
#include "tests/support/scenes/under_roof.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>

// A scene of a room that is a field.
typedef struct room {
    lit_cloud_desc desc;
    orr_field *field;
    orr_occupancy grid;
    orr_scene *scene;
} room;

static void open_room(room *r, double strength)
{
    *r = (room){.desc.strength = strength};
    lit_cloud_aim(&r->desc, 130, 40);
    lit_field(&r->desc, engine->isa, engine->jobs, &r->field, &r->grid);
    orr_layer_data layer = {.kind = ORR_LAYER_FIELD, .visible = true};
    assert_ok(
        orr_field_layer_borrow(r->field, &r->grid, lit_field_to_unit, engine->jobs, &layer.field, &error));
    assert_ok(orr_scene_create(engine, &r->scene, &error));
    assert_ok(orr_scene_append(r->scene, layer, "room", NULL, &error));
}

static void close_room(room *r)
{
    orr_scene_destroy(r->scene);
    orr_occupancy_destroy(&r->grid);
    orr_field_destroy(r->field);
}

static void the_sun_of_a_field_is_found(void **state)
{
    (void)state;
    room r;
    orr_sun_estimate found;
    double cosine = 0.0;
    open_room(&r, 4.0);
    assert_ok(orr_scene_estimate_sun(r.scene, &found, &error));
    for (int k = 0; k < 3; k++) {
        cosine += (double)found.sun.direction[k] * r.desc.sun[k];
    }
    print_message("%.2f degrees off, explained %.2f\n", acos(fmin(cosine, 1.0)) * 57.29577951308232,
                  (double)found.explained);
    assert_true(found.found);
    // within four degrees: half a vertex of the grid is a degree and a half of a shadow of a fifth of it
    assert_true(cosine > 0.99756);
    close_room(&r);
}

static void a_shadow_in_a_field_is_left_alone(void **state)
{
    (void)state;
    room r;
    open_room(&r, 4.0);
    const float own[3] = {(float)r.desc.sun[0], (float)r.desc.sun[1], (float)r.desc.sun[2]};
    const under_roof found = under_roof_look(r.scene, own, ORR_DEVICE_AUTO);
    assert_true(found.alone > UNDER_ROOF_PIXELS / 20 && found.dark > UNDER_ROOF_PIXELS / 4);
    assert_true(found.between < UNDER_ROOF_PIXELS / 8);
    assert_true(found.shadowed < 0.6 * found.lit);
    close_room(&r);
}

// Signed distances are drawn lit by the scene's sun: what faces away from it has no light to lose.
static void the_shade_of_a_surface_is_left_alone(void **state)
{
    (void)state;
    static const float to_unit[12] = {0.25f, 0, 0, 0.5f, 0, 0.25f, 0, 0.5f, 0, 0, 0.25f, 0.5f};
    static const float sun[3] = {0.8f, -0.6f, 0.0f};
    orr_field *ball = ball_field(engine->isa);
    orr_layer_data layer = {.kind = ORR_LAYER_FIELD, .visible = true};
    orr_scene *scene;
    assert_ok(orr_field_layer_borrow(ball, NULL, to_unit, engine->jobs, &layer.field, &error));
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_append(scene, layer, "ball", NULL, &error));
    const under_roof found = under_roof_look(scene, sun, ORR_DEVICE_AUTO);
    // Of a disc of 29 pixels' radius 521 face away from a sun whose height has the sine 0.6: half of the disc
    // without that part of it. Two texels of the map's rim, and a lookup of three, take 0.2 of the radius.
    assert_true(found.alone > 200 && found.alone < 521);
    assert_true(found.shadowed < 0.2 * found.lit);
    assert_true(found.dark < 2400 && found.between < 200);
    orr_scene_destroy(scene);
    orr_field_destroy(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sun_of_a_field_is_found),
        cmocka_unit_test(a_shadow_in_a_field_is_left_alone),
        cmocka_unit_test(the_shade_of_a_surface_is_left_alone),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
