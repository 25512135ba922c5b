// Tests of picking: the layer, body, geom or triangle under a point, and that its depth is the drawn one.
// Fields: test_field_frames.
#include "engine/core/file.h"
#include "engine/core/result.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 96, HEIGHT = 64, PIXELS = WIDTH * HEIGHT };

// A box that slides along x with a ball welded to it, a site before the box, and a geom of group 4 before all
// of them.
static const char *const model =
    "<mujoco><worldbody>"
    "<geom name='floor' type='box' size='3 3 0.1' pos='0 0 -1'/>"
    "<body name='cart'><joint type='slide' axis='1 0 0'/>"
    "<geom name='box' type='box' size='0.3 0.3 0.3'/>"
    "<geom name='hidden' type='box' size='0.3 0.3 0.1' pos='0 0 2' group='4'/>"
    "<site type='sphere' size='0.2' pos='0 0 0.5'/>"
    "<body name='ball' pos='1 0 0'><geom type='sphere' size='0.3' mass='1'/></body>"
    "</body></worldbody></mujoco>";

typedef struct stage {
    orr_scene *scene;
    orr_world *world; // of two copies
    orr_layer robot;
    orr_view view; // from above
} stage;

static stage stage_make(void)
{
    stage s;
    const char *path = scratch_path("pick.xml");
    assert_ok(orr_file_write(path, model, strlen(model), &error));
    assert_ok(orr_scene_load(engine, path, &s.scene, &error));
    assert_ok(orr_world_create(s.scene, 2, &s.world, &error));
    s.robot = orr_scene_layer(s.scene, 0);
    s.view = (orr_view){.camera = orr_camera_look_at((float[]){0, 0, 5}, (float[]){0, 0, 0},
                                                     (float[]){0, 1, 0}, 0.8f, WIDTH, HEIGHT)};
    return s;
}

static void stage_free(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
}

// One round splat of the given opacity at z.
static orr_layer add_splat(stage *s, float z, float opacity)
{
    orr_splats *splats;
    orr_layer layer;
    assert_ok(orr_splats_create(1, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    data.position[2] = z;
    data.opacity[0] = logf(opacity / (1.0f - opacity));
    for (int k = 0; k < 3; k++) {
        data.log_scale[k] = logf(0.3f);
    }
    assert_ok(orr_scene_add_splats(s->scene, "splat", splats, NULL, &layer, &error));
    orr_splats_destroy(splats);
    return layer;
}

static orr_hit pick_at(const stage *s, float x, float y)
{
    orr_hit hit;
    assert_ok(orr_world_pick(s->world, &s->view, x, y, &hit, &error));
    return hit;
}

// The pixel in which a point of the plane z is seen.
static orr_hit pick_above(const stage *s, float x, float y, float z)
{
    const orr_camera *c = &s->view.camera;
    float depth = c->model == ORR_CAMERA_ORTHOGRAPHIC ? 1.0f : 5.0f - z;
    return pick_at(s, 0.5f * WIDTH + c->focal[0] * x / depth, 0.5f * HEIGHT - c->focal[1] * y / depth);
}

static void assert_hit(const orr_hit *hit, orr_layer layer, const char *body, int geom, const stage *s)
{
    assert_int_equal(hit->layer.slot, layer.slot);
    assert_int_equal(hit->layer.generation, layer.generation);
    assert_int_equal(hit->geom, geom);
    if (body) {
        assert_string_equal(orr_scene_robot_body(s->scene, hit->robot, hit->body), body);
    } else {
        assert_int_equal(hit->robot.slot, 0);
        assert_int_equal(hit->body, -1);
    }
}

static void a_robot_is_hit_on_the_geom_that_is_seen(void **state)
{
    (void)state;
    stage s = stage_make();
    orr_hit hit = pick_above(&s, 0.1f, 0.2f, 0.3f); // through the site, on the box's upper side
    assert_hit(&hit, s.robot, "cart", 1, &s);
    assert_string_equal(orr_scene_robot_geom(s.scene, s.robot, hit.geom), "box");
    assert_int_equal(hit.kind, ORR_LAYER_ROBOT);
    assert_int_equal(hit.triangle, -1);
    assert_float_equal(hit.position[0], 0.1f, 1e-5);
    assert_float_equal(hit.position[1], 0.2f, 1e-5);
    assert_float_equal(hit.position[2], 0.3f, 1e-5);
    assert_float_equal(hit.depth, 4.7f, 1e-5);

    hit = pick_above(&s, 1.0f, 0.0f, 0.3f);
    assert_hit(&hit, s.robot, "ball", 3, &s);
    assert_string_equal(orr_scene_robot_geom(s.scene, s.robot, hit.geom), "");
    hit = pick_above(&s, -1.0f, 0.0f, -0.9f);
    assert_hit(&hit, s.robot, "world", 0, &s);
    s.view.geom_groups = 1 << 4;
    hit = pick_above(&s, 0.1f, 0.2f, 2.1f);
    assert_hit(&hit, s.robot, "cart", 2, &s);

    assert_null(orr_scene_robot_geom(s.scene, s.robot, -1));
    assert_null(orr_scene_robot_geom(s.scene, s.robot, 4));
    assert_null(orr_scene_robot_geom(s.scene, (orr_layer){0}, 0));
    stage_free(&s);
}

static void each_copy_of_the_world_is_hit_where_it_is(void **state)
{
    (void)state;
    stage s = stage_make();
    assert_ok(orr_world_set_robot(s.world, 1, s.robot, ORR_ROBOT_QPOS, (double[]){-1.0}, &error)); // the cart
    assert_ok(
        orr_world_set_transform(s.world, 1, s.robot, &(orr_transform){.position = {0, 0.5f, 0}}, &error));
    orr_hit hit = pick_above(&s, 0.0f, 0.0f, 0.3f);
    assert_hit(&hit, s.robot, "cart", 1, &s);
    s.view.world = 1;
    hit = pick_above(&s, 0.0f, 0.5f, 0.3f);
    assert_hit(&hit, s.robot, "ball", 3, &s);
    hit = pick_above(&s, -1.0f, 0.5f, 0.3f);
    assert_hit(&hit, s.robot, "cart", 1, &s);
    assert_ok(orr_world_set_visible(s.world, 1, s.robot, false, &error));
    hit = pick_above(&s, -1.0f, 0.5f, 0.3f);
    assert_hit(&hit, (orr_layer){0}, NULL, -1, &s);
    assert_int_equal(hit.triangle, -1);
    stage_free(&s);
}

static void a_cloud_is_hit_where_it_covers_at_least_half(void **state)
{
    (void)state;
    stage s = stage_make();
    orr_layer faint = add_splat(&s, 2.0f, 0.3f);
    orr_hit hit = pick_above(&s, 0.0f, 0.0f, 0.3f);
    assert_hit(&hit, s.robot, "cart", 1, &s); // through the faint one
    orr_layer solid = add_splat(&s, 1.0f, 0.9f);
    hit = pick_above(&s, 0.0f, 0.0f, 1.0f);
    assert_hit(&hit, solid, NULL, -1, &s);
    assert_int_equal(hit.kind, ORR_LAYER_SPLATS);
    assert_float_equal(hit.depth, 4.0f, 1e-5);
    assert_float_equal(hit.position[2], 1.0f, 1e-5);
    assert_ok(orr_world_set_visible(s.world, 0, s.robot, false, &error));
    assert_ok(orr_world_set_visible(s.world, 0, solid, false, &error));
    hit = pick_above(&s, 0.0f, 0.0f, 2.0f);
    assert_hit(&hit, faint, NULL, -1, &s); // there is nothing else
    assert_float_equal(hit.depth, 3.0f, 1e-5);
    hit = pick_at(&s, 0.5f, 0.5f);
    assert_hit(&hit, (orr_layer){0}, NULL, -1, &s);
    stage_free(&s);
}

static void a_layer_on_a_body_names_its_robot(void **state)
{
    (void)state;
    stage s = stage_make();
    orr_layer splat = add_splat(&s, 1.0f, 0.9f);
    assert_ok(orr_scene_bind(s.scene, splat, s.robot, "ball", &error));
    orr_hit hit = pick_above(&s, 1.0f, 0.0f, 1.0f);
    assert_hit(&hit, splat, "ball", -1, &s);
    stage_free(&s);
}

// Whatever the camera, depth is the drawn one at the middle of a pixel, and nothing is hit where nothing is
// drawn. Rims of triangles aside: there the rasteriser decides by 1/256 px.
static void assert_depths_are_those_drawn(stage *s)
{
    static float depth[PIXELS];
    orr_frame *frame;
    int differ = 0, drawn = 0;
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, s->scene, s->world, &s->view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.depth = depth}, &error));
    orr_frame_destroy(frame);
    for (int i = 0; i < PIXELS; i += 7) {
        orr_hit hit = pick_at(s, (float)(i % WIDTH) + 0.5f, (float)(i / WIDTH) + 0.5f);
        differ += !(fabsf(hit.depth - depth[i]) <= 1e-4f * depth[i]);
        drawn += depth[i] > 0.0f;
    }
    assert_true(drawn > PIXELS / 7 / 8);
    assert_in_range(differ, 0, drawn / 50);
}

static void depths_are_those_drawn(void **state)
{
    (void)state;
    stage s = stage_make();
    s.view.site_groups = 1; // off: they are drawn and not hit
    assert_depths_are_those_drawn(&s);
    s.view.camera =
        orr_camera_look_at((float[]){2, -3, 2}, (float[]){0, 0, 0}, (float[]){0, 0, 1}, 1.2f, WIDTH, HEIGHT);
    s.view.camera.centre[0] = 0.3f * WIDTH;
    s.view.camera.centre[1] = 0.6f * HEIGHT;
    assert_depths_are_those_drawn(&s);
    s.view.camera.near_plane = 3.5f; // cuts geoms open: their insides are not drawn
    s.view.camera.far_plane = 5.0f;
    assert_depths_are_those_drawn(&s);
    s.view.camera =
        orr_camera_look_at((float[]){2, -3, 2}, (float[]){0, 0, 0}, (float[]){0, 0, 1}, 1.2f, WIDTH, HEIGHT);
    s.view.camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    s.view.camera.focal[0] = s.view.camera.focal[1] = 20.0f;
    assert_depths_are_those_drawn(&s);
    stage_free(&s);

    // a cloud alone
    s = stage_make();
    add_splat(&s, 0.5f, 0.9f);
    add_splat(&s, 0.0f, 0.8f);
    assert_ok(orr_world_set_visible(s.world, 0, s.robot, false, &error));
    assert_ok(orr_world_set_visible(s.world, 0, orr_scene_layer(s.scene, 2), false, &error));
    s.view.camera.focal[0] = s.view.camera.focal[1] = 300.0f;
    assert_depths_are_those_drawn(&s);
    s.view.camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    s.view.camera.focal[0] = s.view.camera.focal[1] = 70.0f;
    assert_depths_are_those_drawn(&s);
    stage_free(&s);
}

static void a_mesh_is_hit_on_its_triangle(void **state)
{
    (void)state;
    stage s = stage_make();
    const char *path = scratch_path("pick.obj"), *text = "v -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
                                                         "f 1 2 3\nf 1 3 4\n";
    assert_ok(orr_file_write(path, text, strlen(text), &error));
    orr_layer square;
    assert_ok(orr_scene_add_file(s.scene, path, NULL, &square, &error));
    orr_hit hit = pick_above(&s, 0.5f, -0.5f, 1.0f);
    assert_hit(&hit, square, NULL, -1, &s);
    assert_int_equal(hit.kind, ORR_LAYER_MESH);
    assert_int_equal(hit.triangle, 0);
    assert_float_equal(hit.depth, 4.0f, 1e-5);
    hit = pick_above(&s, -0.5f, 0.5f, 1.0f);
    assert_int_equal(hit.triangle, 1);
    assert_ok(orr_world_set_transform(
        s.world, 0, square, &(orr_transform){.position = {0, 0, -1}, .rotation = {0, 0, 0, 1}}, &error));
    hit = pick_above(&s, 0.6f, -0.5f, 0.0f); // turned around z by half a turn
    assert_hit(&hit, square, NULL, -1, &s);
    assert_int_equal(hit.triangle, 1);
    assert_float_equal(hit.depth, 5.0f, 1e-5);
    stage_free(&s);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    stage s = stage_make();
    const float points[][2] = {{-0.1f, 1}, {1, -0.1f}, {WIDTH, 1}, {1, HEIGHT}, {NAN, 1}, {1, NAN}};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        orr_error why;
        orr_hit hit = {.body = 7};
        assert_int_equal(orr_world_pick(s.world, &s.view, points[i][0], points[i][1], &hit, &why),
                         ORR_ERROR_ARGUMENT);
        assert_non_null(strstr(why.message, "96 x 64"));
        assert_int_equal(hit.body, -1);
    }
    orr_hit hit;
    orr_error why;
    orr_view view = s.view;
    view.world = 2;
    assert_int_equal(orr_world_pick(s.world, &view, 1, 1, &hit, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "world 2"));
    view = s.view;
    view.camera.focal[0] = 0.0f;
    assert_int_equal(orr_world_pick(s.world, &view, 1, 1, &hit, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "focal"));
    stage_free(&s);
}

static void structs_of_other_sizes_are_taken(void **state)
{
    (void)state;
    stage s = stage_make();
    struct {
        orr_view view;
        int64_t later;
    } view;
    memset(&view, 0, sizeof view); // also what is between them
    view.view = s.view;
    view.later = 1;
    struct {
        orr_hit hit;
        int64_t later;
    } hit = {.later = 5};
    orr_error why;
    const float x = 0.5f * WIDTH, y = 0.5f * HEIGHT;
    assert_int_equal(orr_world_pick_sized(s.world, &view.view, sizeof view, x, y, &hit.hit, sizeof hit, &why),
                     ORR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(why.message, "orr_view"));
    assert_int_equal(hit.hit.geom, -1);
    view.later = 0;
    assert_ok(orr_world_pick_sized(s.world, &view.view, sizeof view, x, y, &hit.hit, sizeof hit, &error));
    assert_int_equal(hit.hit.geom, 1);
    assert_int_equal(hit.later, 0); // a member that this version does not have
    hit.hit.geom = 7;
    assert_ok(orr_world_pick_sized(s.world, &view.view, sizeof view.view, x, y, &hit.hit,
                                   offsetof(orr_hit, geom), &error));
    assert_int_equal(hit.hit.geom, 7); // a member that the caller does not have
    assert_int_equal(hit.hit.body, 1);
    stage_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_robot_is_hit_on_the_geom_that_is_seen),
        cmocka_unit_test(each_copy_of_the_world_is_hit_where_it_is),
        cmocka_unit_test(a_cloud_is_hit_where_it_covers_at_least_half),
        cmocka_unit_test(a_layer_on_a_body_names_its_robot),
        cmocka_unit_test(depths_are_those_drawn),
        cmocka_unit_test(a_mesh_is_hit_on_its_triangle),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(structs_of_other_sizes_are_taken),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
