// Tests of robots in the loop: drawn where they are, moved by physics, carrying what is bound to them.
#include "engine/loop/world/world_robots.h"
#include "engine/maths/camera.h"
#include "engine/maths/rotation.h"
#include "engine/scene/transform.h"
#include "orr_features.h"
#include "tests/support/engine.h"
#include "tests/support/robots.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 96, HEIGHT = 64, PIXELS = WIDTH * HEIGHT };

typedef struct stage {
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
} stage;

static stage stage_of(const char *path)
{
    stage s;
    assert_ok(orr_scene_load(engine, path, &s.scene, &error));
    assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
    s.robot = orr_scene_layer(s.scene, 0);
    return s;
}

// A model whose world holds `body` and nothing else.
static stage stage_with(const char *body)
{
    char text[8192];
    snprintf(text, sizeof text, "<mujoco>%s</mujoco>", body);
    return stage_of(written("model.xml", text));
}

static void stage_close(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
}

static orr_camera camera_at(float x, float y, float z)
{
    return orr_camera_look_at((float[]){x, y, z}, (float[]){0.0f, 0.0f, 1.0f}, (float[]){0.0f, 0.0f, 1.0f},
                              0.8f, WIDTH, HEIGHT);
}

static void draw(orr_engine *with, const stage *s, const orr_view *view, float *rgba, float *depth)
{
    orr_frame *frame;
    assert_ok(orr_frame_create(with, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, s->scene, s->world, view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){rgba, depth}, &error));
    orr_frame_destroy(frame);
}

// ---- shapes ----

typedef struct shape {
    const char *type, *size;
    double half[3];
} shape;

static bool inside(const shape *s, const double p[3])
{
    const double *h = s->half;
    double across = hypot(p[0], p[1]);
    switch (s->type[0]) {
    case 's':
        return vec3_length(p) < h[0];
    case 'e':
        return p[0] * p[0] / (h[0] * h[0]) + p[1] * p[1] / (h[1] * h[1]) + p[2] * p[2] / (h[2] * h[2]) < 1.0;
    case 'b':
        return fabs(p[0]) < h[0] && fabs(p[1]) < h[1] && fabs(p[2]) < h[2];
    default: // cylinder and capsule
        return fabs(p[2]) < h[1] ? across < h[0]
                                 : s->type[1] == 'a' && hypot(across, fabs(p[2]) - h[1]) < h[0];
    }
}

// Depth at which a pixel's ray enters the shape, or 0.
static double enters(const shape *s, const orr_camera *camera, int x, int y, const double inverse[9])
{
    double right = (x + 0.5 - 0.5 * WIDTH) / (double)camera->focal[0];
    double down = (y + 0.5 - 0.5 * HEIGHT) / (double)camera->focal[1];
    for (double z = 1.0; z < 5.0; z += 0.002) {
        double p[3], local[3];
        for (int k = 0; k < 3; k++) {
            const float *row = camera->pose + 4 * k;
            p[k] = (double)row[3] + z * ((double)row[0] * right + (double)row[1] * down + (double)row[2]);
        }
        p[2] -= 1.0; // where the geoms stand
        for (int k = 0; k < 3; k++) {
            local[k] = vec3_dot(inverse + 3 * k, p);
        }
        if (inside(s, local)) {
            return z;
        }
    }
    return 0.0;
}

static void a_geom_covers_the_pixels_that_projection_says(void **state)
{
    (void)state;
    static const shape shapes[] = {
        {"sphere", "0.4", {0.4}},
        {"capsule", "0.2 0.4", {0.2, 0.4}},
        {"ellipsoid", "0.2 0.5 0.35", {0.2, 0.5, 0.35}},
        {"cylinder", "0.3 0.4", {0.3, 0.4}},
        {"box", "0.4 0.2 0.3", {0.4, 0.2, 0.3}},
    };
    static float rgba[PIXELS * 4], depth[PIXELS];
    const double quat[4] = {0.8, 0.3, -0.4, 0.3316624790355400};
    double turn[9], inverse[9];
    quat_matrix(quat, turn);
    for (int k = 0; k < 9; k++) {
        inverse[k] = turn[k % 3 * 3 + k / 3];
    }
    orr_view view = {.camera = camera_at(0.6f, -2.6f, 1.4f)};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char body[512];
        snprintf(body, sizeof body,
                 "<worldbody><body pos='0 0 1' quat='%.17g %.17g %.17g %.17g'>"
                 "<geom type='%s' size='%s' rgba='1 0 0 1'/></body></worldbody>",
                 quat[0], quat[1], quat[2], quat[3], shapes[i].type, shapes[i].size);
        stage s = stage_with(body);
        draw(engine, &s, &view, rgba, depth);
        int covered = 0, differ = 0;
        double worst = 0.0;
        for (int pixel = 0; pixel < PIXELS; pixel++) {
            double z = enters(&shapes[i], &view.camera, pixel % WIDTH, pixel / WIDTH, inverse);
            covered += z > 0.0;
            differ += (z > 0.0) != (depth[pixel] > 0.0f);
            if (z > 0.0 && depth[pixel] > 0.0f) {
                worst = fmax(worst, fabs(z - (double)depth[pixel]));
            }
        }
        assert_true(covered > 200);
        // 32 facets around: at most 0.5 % of the radius inside, a twentieth of a pixel all along the rim
        assert_true(differ <= covered / 25);
        assert_true(worst < 0.08); // at the rim, where the surface is seen edge-on
        stage_close(&s);
    }
}

static void a_height_field_and_a_mesh_are_drawn(void **state)
{
    (void)state;
    static float rgba[PIXELS * 4], depth[PIXELS];
    stage s = stage_with("<asset><hfield name='hill' nrow='3' ncol='3' elevation='0 0 0 0 1 0 0 0 0' "
                         "size='1 1 0.5 0.1'/><mesh name='tip' vertex='0 0 0 .2 0 0 0 .2 0 0 0 .2'/></asset>"
                         "<worldbody><geom type='hfield' hfield='hill' rgba='0 1 0 1'/>"
                         "<geom type='mesh' mesh='tip' pos='0 0 1.5' rgba='1 0 0 1'/></worldbody>");
    orr_view view = {.camera = camera_at(0.0f, -3.0f, 1.2f)};
    draw(engine, &s, &view, rgba, depth);
    int green = 0, red = 0;
    for (int i = 0; i < PIXELS; i++) {
        green += rgba[4 * i + 1] > 0.2f && rgba[4 * i] < 0.01f;
        red += rgba[4 * i] > 0.2f && rgba[4 * i + 1] < 0.01f;
    }
    assert_true(green > 100);
    assert_true(red > 5);
    stage_close(&s);
}

static void what_the_model_hides_is_not_drawn(void **state)
{
    (void)state;
    static float rgba[PIXELS * 4], depth[PIXELS];
    stage s = stage_with("<worldbody><geom size='0.3' pos='0 0 1' group='3'/>"
                         "<geom size='0.3' pos='0.5 0 1' rgba='1 1 1 0'/></worldbody>");
    orr_view view = {.camera = camera_at(0.0f, -3.0f, 1.0f)};
    draw(engine, &s, &view, rgba, depth);
    for (int i = 0; i < PIXELS; i++) {
        assert_float_equal(depth[i], 0.0f, 0.0);
    }
    stage_close(&s);
}

static void a_light_on_a_body_turns_with_it(void **state)
{
    (void)state;
    static float rgba[PIXELS * 4], depth[PIXELS];
    stage s = stage_with("<visual><headlight active='0'/></visual><worldbody><geom size='0.5' pos='0 0 1'/>"
                         "<body pos='0 0 4'><joint axis='1 0 0'/><geom size='0.1'/>"
                         "<light type='directional' dir='0 0 -1'/></body></worldbody>");
    orr_view view = {.camera = camera_at(0.0f, -3.0f, 1.0f)};
    const int above = (HEIGHT / 2 - HEIGHT / 8) * WIDTH + WIDTH / 2;
    const int below = (HEIGHT / 2 + HEIGHT / 8) * WIDTH + WIDTH / 2;
    draw(engine, &s, &view, rgba, depth);
    assert_true(rgba[4 * above] > rgba[4 * below] + 0.1f);
    const double turned = 3.14159265358979;
    assert_ok(orr_world_set_robot(s.world, 0, s.robot, ORR_ROBOT_QPOS, &turned, &error));
    draw(engine, &s, &view, rgba, depth);
    assert_true(rgba[4 * below] > rgba[4 * above] + 0.1f);
    stage_close(&s);
}

static void an_endless_plane_comes_along_and_its_texture_stays(void **state)
{
    (void)state;
    static float here[PIXELS * 4], there[PIXELS * 4], depth[PIXELS];
    stage s = stage_with(
        "<asset><texture name='t' type='2d' builtin='checker' rgb1='0 0 0' rgb2='1 1 1' width='64' "
        "height='64'/><material name='m' texture='t' texuniform='true' texrepeat='0.5 0.5'/></asset>"
        "<worldbody><geom type='plane' size='0 0 1' material='m'/></worldbody>");
    orr_view view = {.camera = camera_at(0.2f, -3.0f, 1.5f)};
    draw(engine, &s, &view, here, depth);
    assert_true(depth[(HEIGHT - 1) * WIDTH] > 0.0f);
    view.camera.pose[3] += 2000.0f; // five hundred repeats, well beyond where it began
    draw(engine, &s, &view, there, depth);
    // positions of 2000 m are rounded to 1e-4 m
    assert_true(psnr(here, there, PIXELS * 4) > 30.0);
    view.camera.pose[3] += 2.0f; // half a repeat: black and white change places
    draw(engine, &s, &view, there, depth);
    assert_true(psnr(here, there, PIXELS * 4) < 15.0);
    stage_close(&s);
}

// ---- motion ----

static const char *const faller =
    "<option timestep='0.01'/><worldbody><geom type='plane' size='5 5 .1'/>"
    "<body name='ball' pos='0 0 1'><freejoint/><geom size='0.1' mass='1' rgba='1 0 0 1'/></body>"
    "</worldbody><keyframe><key name='high' qpos='1 0 3 1 0 0 0'/></keyframe>";

static double height_of(const stage *s)
{
    double qpos[7];
    assert_ok(orr_world_get_robot(s->world, 0, s->robot, ORR_ROBOT_QPOS, qpos, &error));
    return qpos[2];
}

static void a_robot_falls_as_gravity_says_and_is_drawn_there(void **state)
{
    (void)state;
    static float rgba[PIXELS * 4], depth[PIXELS];
    stage s = stage_with(faller);
    assert_ok(orr_world_step(s.world, 20, &error));
    // semi-implicit Euler: z = 1 - g dt^2 n (n + 1) / 2
    double z = 1.0 - 9.81 * 1e-4 * 20.0 * 21.0 / 2.0;
    assert_float_equal(height_of(&s), z, 1e-5);
    orr_transform body;
    assert_ok(orr_world_body_transform(s.world, 0, s.robot, 1, &body, &error));
    assert_float_equal(body.position[2], (float)z, 1e-5);
    orr_view view = {.camera = camera_at(0.0f, -3.0f, 1.0f)};
    draw(engine, &s, &view, rgba, depth);
    // the middle of its pixels: 3 m away, `1 - z` below the picture's middle
    double sum = 0.0, count = 0.0;
    for (int i = 0; i < PIXELS; i++) {
        bool red = rgba[4 * i] > 0.1f && rgba[4 * i + 1] < 0.02f;
        sum += red ? i / WIDTH + 0.5 : 0.0;
        count += red;
    }
    assert_true(count > 10.0);
    double row = 0.5 * HEIGHT + (double)view.camera.focal[1] * (1.0 - z) / 3.0;
    assert_true(fabs(sum / count - row) < 0.5);
    stage_close(&s);
}

static void each_copy_of_a_world_is_drawn_as_it_is(void **state)
{
    (void)state;
    static float rgba[PIXELS * 4];
    stage s = stage_with(faller);
    orr_world_destroy(s.world);
    assert_ok(orr_world_create(s.scene, 2, &s.world, &error));
    const double aside[7] = {0.6, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0};
    assert_ok(orr_world_set_robot(s.world, 1, s.robot, ORR_ROBOT_QPOS, aside, &error));
    for (int copy = 0; copy < 2; copy++) {
        orr_view view = {.world = copy, .camera = camera_at(0.0f, -3.0f, 1.0f)};
        draw(engine, &s, &view, rgba, NULL);
        double sum = 0.0, count = 0.0; // of the red pixels' columns
        for (int i = 0; i < PIXELS; i++) {
            bool red = rgba[4 * i] > 0.1f && rgba[4 * i + 1] < 0.02f;
            sum += red ? i % WIDTH + 0.5 : 0.0;
            count += red;
        }
        assert_true(count > 10.0);
        double column = 0.5 * WIDTH + (double)view.camera.focal[0] * 0.6 * copy / 3.0;
        assert_true(fabs(sum / count - column) < 0.5);
    }
    stage_close(&s);
}

static void time_advances_in_whole_steps_and_keeps_the_rest(void **state)
{
    (void)state;
    stage s = stage_with(faller);
    double time;
    const double after[] = {0.0, 0.0, 0.01, 0.01, 0.02, 0.02, 0.02, 0.03};
    for (int i = 0; i < 8; i++) { // 0.004 s each
        assert_ok(orr_world_advance(s.world, 0.004, &error));
        assert_ok(orr_world_get_robot(s.world, 0, s.robot, ORR_ROBOT_TIME, &time, &error));
        assert_float_equal(time, after[i], 1e-6);
    }
    for (int i = 0; i < 1000; i++) { // rounding does not lose a step
        assert_ok(orr_world_advance(s.world, 0.001, &error));
    }
    assert_ok(orr_world_get_robot(s.world, 0, s.robot, ORR_ROBOT_TIME, &time, &error));
    assert_float_equal(time, 1.03, 1e-4);
    orr_error why;
    assert_int_equal(orr_world_advance(s.world, -1.0, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_step(s.world, -1, &why), ORR_ERROR_ARGUMENT);
    stage_close(&s);
}

static void states_are_set_and_reset(void **state)
{
    (void)state;
    stage s = stage_with(faller);
    orr_robot_info info;
    assert_ok(orr_scene_robot_info(s.scene, s.robot, &info, &error));
    assert_int_equal(info.qpos_count, 7);
    assert_int_equal(info.qvel_count, 6);
    assert_int_equal(info.body_count, 2);
    assert_int_equal(info.keyframe_count, 1);
    assert_string_equal(orr_scene_robot_body(s.scene, s.robot, 1), "ball");
    assert_null(orr_scene_robot_body(s.scene, s.robot, 2));
    assert_ok(orr_world_reset_robot(s.world, 0, s.robot, 0, &error));
    assert_float_equal(height_of(&s), 3.0, 1e-6);
    const double qpos[7] = {0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0};
    assert_ok(orr_world_set_robot(s.world, 0, s.robot, ORR_ROBOT_QPOS, qpos, &error));
    assert_float_equal(height_of(&s), 2.0, 0.0);
    assert_ok(orr_world_reset_robot(s.world, 0, s.robot, -1, &error));
    assert_float_equal(height_of(&s), 1.0, 0.0);
    orr_error why;
    assert_int_equal(orr_world_reset_robot(s.world, 0, s.robot, 1, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_reset_robot(s.world, 1, s.robot, 0, &why), ORR_ERROR_ARGUMENT);
    stage_close(&s);
}

static void an_infinite_state_is_reported_and_stays_out_of_the_picture(void **state)
{
    (void)state;
    static float rgba[PIXELS * 4], depth[PIXELS];
    stage s = stage_with(faller);
    double qvel[6] = {INFINITY};
    bool diverged = true;
    assert_ok(orr_world_robot_diverged(s.world, 0, s.robot, &diverged, &error));
    assert_false(diverged);
    assert_ok(orr_world_set_robot(s.world, 0, s.robot, ORR_ROBOT_QVEL, qvel, &error));
    assert_ok(orr_world_step(s.world, 1, &error));
    assert_ok(orr_world_robot_diverged(s.world, 0, s.robot, &diverged, &error));
    assert_true(diverged);
    orr_view view = {.camera = camera_at(0.0f, -3.0f, 1.0f), .contact_points = true};
    draw(engine, &s, &view, rgba, depth); // where it was
    assert_true(depth[HEIGHT / 2 * WIDTH + WIDTH / 2] > 0.0f);
    for (int i = 0; i < 3; i++) { // before a step can tell
        const double wild = (const double[]){NAN, INFINITY, 1e37}[i], qpos[7] = {wild, 0, 1, 1, 0, 0, 0};
        assert_ok(orr_world_set_robot(s.world, 0, s.robot, ORR_ROBOT_QPOS, qpos, &error));
        draw(engine, &s, &view, rgba, depth);
        assert_true(depth[HEIGHT / 2 * WIDTH + WIDTH / 2] > 0.0f);
    }
    stage_close(&s);
}

static void a_pull_brings_a_body_to_the_hand(void **state)
{
    (void)state;
    stage s = stage_with("<option gravity='0 0 0'/><worldbody><body pos='0 0 1'><freejoint/>"
                         "<geom type='box' size='.1 .2 .3' mass='2'/></body></worldbody>");
    const orr_layer_data *layer = &s.scene->layers[0];
    orr_robot_pull pull = {.body = 1, .point = {0.1, 0.2, 0.3}, .to = {0.5, -0.4, 1.2}};
    assert_ok(orr_world_robot_pull(s.world, layer, &pull, &error));
    assert_ok(orr_world_step(s.world, 3000, &error));
    orr_transform body;
    float m[12];
    assert_ok(orr_world_body_transform(s.world, 0, s.robot, 1, &body, &error));
    assert_ok(orr_affine_from_transform(&body, m, &error));
    for (int k = 0; k < 3; k++) { // the point that is held, after 6 s of a spring of 10 rad/s
        float at = m[4 * k] * 0.1f + m[4 * k + 1] * 0.2f + m[4 * k + 2] * 0.3f + m[4 * k + 3];
        assert_float_equal(at, (float)pull.to[k], 0.02);
    }
    assert_ok(orr_world_robot_pull(s.world, layer, &(orr_robot_pull){0}, &error));
    double force[12];
    assert_ok(orr_world_get_robot(s.world, 0, s.robot, ORR_ROBOT_FORCE, force, &error));
    for (int i = 0; i < 12; i++) {
        assert_float_equal(force[i], 0.0, 0.0);
    }
    stage_close(&s);
}

static void contacts_are_shown_as_long_as_they_are_strong(void **state)
{
    (void)state;
    static float bare[PIXELS * 4], shown[PIXELS * 4], depth[PIXELS];
    // the arrow of its weight: 9.81 N x 0.1 m kg/N / 1 kg
    stage s = stage_with("<visual><map force='0.1'/></visual><statistic meansize='0.4'/>"
                         "<worldbody><geom type='plane' size='5 5 .1' rgba='0 0 0 1'/>"
                         "<body pos='0 0 .05'><freejoint/><geom size='0.05' mass='1' rgba='0 0 0 1'/></body>"
                         "</worldbody>");
    assert_ok(orr_world_step(s.world, 500, &error));
    orr_view view = {.camera = camera_at(0.0f, -3.0f, 1.0f)};
    draw(engine, &s, &view, bare, depth);
    view.contact_points = view.contact_forces = true;
    draw(engine, &s, &view, shown, depth);
    int top = HEIGHT, bottom = 0;
    float nearest = INFINITY;
    for (int i = 0; i < PIXELS; i++) {
        if (fabsf(shown[4 * i] - bare[4 * i]) > 0.1f) {
            top = i / WIDTH < top ? i / WIDTH : top;
            bottom = i / WIDTH > bottom ? i / WIDTH : bottom;
            nearest = fminf(nearest, depth[i]);
        }
    }
    double focal = (double)view.camera.focal[1];
    assert_true(fabs(top - (0.5 * HEIGHT + focal * (1.0 - 0.981) / 3.0)) < 1.5);
    assert_true(fabs(bottom - (0.5 * HEIGHT + focal / 3.0)) < 2.5); // the disc
    // its near rim, 0.3 x 0.4 m before its middle: it shows its outer side
    assert_float_equal(nearest, 2.88f, 0.05);
    stage_close(&s);
}

// ---- cameras and light ----

static void a_tracking_camera_keeps_its_robot_in_the_middle(void **state)
{
    (void)state;
    static float rgba[PIXELS * 4], depth[PIXELS];
    stage s = stage_with("<option gravity='0 0 0'/><worldbody><body name='ball' pos='0 0 1'><freejoint/>"
                         "<camera name='near' mode='trackcom' pos='0 -2 0' xyaxes='1 0 0 0 0 1' fovy='40'/>"
                         "<camera name='eye' pos='0 0 0.5' euler='0 0 0'/>"
                         "<geom size='0.1' mass='1'/></body></worldbody>");
    assert_int_equal(orr_world_camera_count(s.world), 2);
    assert_string_equal(orr_world_camera_name(s.world, 0), "near");
    assert_null(orr_world_camera_name(s.world, 2));
    const double qpos[7] = {3.0, -1.0, 2.0, 0.6, 0.8, 0.0, 0.0};
    assert_ok(orr_world_set_robot(s.world, 0, s.robot, ORR_ROBOT_QPOS, qpos, &error));
    orr_view view = {0};
    assert_ok(orr_world_camera(s.world, 0, 0, WIDTH, HEIGHT, &view.camera, &error));
    assert_float_equal(view.camera.pose[3], 3.0f, 1e-5);
    assert_float_equal(view.camera.pose[7], -3.0f, 1e-5);
    assert_float_equal(view.camera.pose[11], 2.0f, 1e-5);
    assert_float_equal(view.camera.focal[1], (float)(0.5 * HEIGHT / tan(20.0 * 3.14159265358979 / 180.0)),
                       1e-3);
    draw(engine, &s, &view, rgba, depth);
    assert_float_equal(depth[HEIGHT / 2 * WIDTH + WIDTH / 2], 1.9f, 0.01);
    // a fixed one turns with the body: its -z is the body's, up to a turn about x of 2 atan2(0.8, 0.6)
    assert_ok(orr_world_camera(s.world, 0, 1, 0, 0, &view.camera, &error));
    assert_int_equal(view.camera.width, 1280);
    assert_float_equal(view.camera.pose[6], 0.96f, 1e-5); // forward, y
    assert_float_equal(view.camera.pose[10], 0.28f, 1e-5);
    orr_error why;
    assert_int_equal(orr_world_camera(s.world, 0, 2, 0, 0, &view.camera, &why), ORR_ERROR_ARGUMENT);
    stage_close(&s);
}

static void the_sky_is_lighter_above_and_gives_way_to_a_background(void **state)
{
    (void)state;
    static float rgba[PIXELS * 4], depth[PIXELS];
    stage s = stage_with("<asset><texture type='skybox' builtin='gradient' rgb1='.2 .4 1' rgb2='0 0 0' "
                         "width='32' height='192'/></asset><worldbody><geom size='0.05'/></worldbody>");
    orr_view view = {.camera = orr_camera_look_at((float[]){0, -3, 0}, (float[]){0, -2, 0.6f},
                                                  (float[]){0, 0, 1}, 0.8f, WIDTH, HEIGHT)};
    draw(engine, &s, &view, rgba, depth);
    const float *above = rgba, *below = rgba + 4 * (HEIGHT - 1) * WIDTH;
    assert_true(above[2] > below[2] + 0.1f);
    assert_float_equal(above[3], 1.0f, 0.0);
    assert_float_equal(depth[0], 0.0f, 0.0); // it is nowhere
    view.has_background = true;
    view.background[0] = 0.5f;
    draw(engine, &s, &view, rgba, depth);
    assert_float_equal(rgba[0], 0.5f, 0.0);
    assert_float_equal(rgba[2], 0.0f, 0.0);
    stage_close(&s);
}

// ---- scenes ----

static const char *const arm =
    "<mujoco><option gravity='0 0 0'/><worldbody><body name='upper' pos='0 0 1'>"
    "<joint name='shoulder' axis='0 1 0' armature='1'/><geom type='capsule' size='.03 .2' pos='0 0 -.2'/>"
    "<body name='hand' pos='0 0 -.4'><geom size='.04'/></body></body></worldbody></mujoco>";

// Splats that look different from every side.
static void write_cloud(const char *name)
{
    orr_splats *splats;
    assert_ok(orr_splats_create(40, 1, &splats, &error));
    orr_splats_view view = orr_splats_data(splats);
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 3; k++) {
            view.position[3 * i + k] = 0.3f * sinf((float)(7 * i + 3 * k + i * k));
            view.log_scale[3 * i + k] = -3.0f - 0.3f * (float)k;
            view.colour[3 * i + k] = cosf((float)(i + k));
        }
        for (int k = 0; k < 9; k++) {
            view.harmonics[9 * i + k] = 0.4f * sinf((float)(i + 5 * k));
        }
        view.opacity[i] = 2.0f;
    }
    assert_ok(orr_splats_save(splats, scratch_path(name), &error));
    orr_splats_destroy(splats);
}

static void a_bound_cloud_moves_and_turns_with_its_body(void **state)
{
    (void)state;
    static float bound[PIXELS * 4], placed[PIXELS * 4], depth[PIXELS];
    write_cloud("cloud.ply");
    written("arm.xml", arm);
    stage s = stage_of(written(
        "scene.json", "{\"orrery\": 1, \"layers\": [{\"type\": \"robot\", \"file\": \"arm.xml\", \"name\": "
                      "\"arm\", \"position\": [0.1, 0, 0.2], \"rotation\": [0.8, 0, 0, 0.6]}, {\"file\": "
                      "\"cloud.ply\", \"position\": [0, 0.1, 0], \"scale\": 0.8, \"bind\": {\"robot\": "
                      "\"arm\", \"body\": \"hand\"}}]}"));
    const double angle = 1.1;
    assert_ok(orr_world_set_robot(s.world, 0, s.robot, ORR_ROBOT_QPOS, &angle, &error));
    orr_view view = {.camera = camera_at(0.0f, -2.5f, 1.0f)};
    draw(engine, &s, &view, bound, depth);

    // the same cloud by itself, where the arm's geometry puts it
    orr_transform robot = {
        .position = {0.1f, 0.0f, 0.2f}, .rotation = {0.8f, 0.0f, 0.0f, 0.6f}, .scale = 1.0f};
    orr_transform body = {.position = {-0.4f * sinf(1.1f), 0.0f, 1.0f - 0.4f * cosf(1.1f)},
                          .rotation = {cosf(0.55f), 0.0f, sinf(0.55f), 0.0f},
                          .scale = 1.0f};
    orr_transform own = {.position = {0.0f, 0.1f, 0.0f}, .rotation = {1.0f}, .scale = 0.8f};
    orr_transform on_robot = orr_transform_multiply(&robot, &body);
    orr_transform place = orr_transform_multiply(&on_robot, &own);
    assert_ok(orr_world_set_visible(s.world, 0, s.robot, false, &error));
    draw(engine, &s, &view, bound, depth);
    stage alone;
    assert_ok(orr_scene_create(engine, &alone.scene, &error));
    assert_ok(orr_scene_add_file(alone.scene, scratch_path("cloud.ply"), &place, &alone.robot, &error));
    assert_ok(orr_world_create(alone.scene, 1, &alone.world, &error));
    draw(engine, &alone, &view, placed, depth);
    // transforms from physics in single precision
    assert_true(psnr(bound, placed, PIXELS * 4) > 80.0);
    const double other = -0.5;
    assert_ok(orr_world_set_robot(s.world, 0, s.robot, ORR_ROBOT_QPOS, &other, &error));
    draw(engine, &s, &view, bound, depth);
    assert_true(psnr(bound, placed, PIXELS * 4) < 30.0);
    // what carried it is taken away: it stands by itself
    assert_ok(orr_scene_remove(s.scene, s.robot, &error));
    draw(engine, &s, &view, bound, depth);
    assert_ok(orr_world_set_transform(alone.world, 0, alone.robot, &own, &error));
    draw(engine, &alone, &view, placed, depth);
    assert_float_equal(largest_difference(bound, placed, PIXELS * 4), 0.0, 0.0);
    stage_close(&alone);
    stage_close(&s);
}

static void a_scene_says_what_is_wrong_with_a_binding(void **state)
{
    (void)state;
    static const struct {
        const char *layers, *says;
    } cases[] = {
        {"{\"file\": \"arm.xml\"}, {\"file\": \"cloud.ply\", \"bind\": {\"robot\": \"leg\", \"body\": "
         "\"hand\"}}",
         "layers[1].bind.robot: expected the name of a robot of this file, not \"leg\""},
        {"{\"file\": \"cloud.ply\", \"bind\": {\"robot\": \"arm.xml\", \"body\": \"foot\"}}, {\"file\": "
         "\"arm.xml\"}",
         "layers[0].bind.body: expected a body of arm.xml, not \"foot\""},
        {"{\"file\": \"cloud.ply\", \"bind\": {\"robot\": \"arm.xml\"}}", "layers[0].bind.body"},
        {"{\"file\": \"arm.xml\", \"type\": \"mesh\"}", "layers[0].type: expected"},
        {"{\"file\": \"arm.xml\", \"type\": \"puppet\"}", "layers[0].type: expected"},
        {"{\"file\": \"arm.xml\"}, {\"file\": \"arm.xml\", \"bind\": {\"robot\": \"arm.xml\", \"body\": "
         "\"hand\"}}",
         "expected a cloud, a mesh or a field on a robot"},
    };
    write_cloud("cloud.ply");
    written("arm.xml", arm);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        orr_scene *scene;
        orr_error why = {0};
        snprintf(text, sizeof text, "{\"orrery\": 1, \"layers\": [%s]}", cases[i].layers);
        assert_true(orr_scene_load(engine, written("bad.json", text), &scene, &why) != ORR_OK);
        if (!strstr(why.message, cases[i].says)) {
            fail_msg("\"%s\"\ndoes not say: %s", why.message, cases[i].says);
        }
    }
}

static void layers_that_are_no_robots_say_so(void **state)
{
    (void)state;
    write_cloud("cloud.ply");
    stage s = stage_of(scratch_path("cloud.ply"));
    double values[8];
    orr_robot_info info;
    orr_error why;
    assert_int_equal(orr_scene_robot_info(s.scene, s.robot, &info, &why), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_world_get_robot(s.world, 0, s.robot, ORR_ROBOT_QPOS, values, &why),
                     ORR_ERROR_ARGUMENT);
    assert_ok(orr_world_step(s.world, 1, &error));
    assert_int_equal(orr_world_camera_count(s.world), 0);
    stage_close(&s);
}

// A robot of many shapes with textures, light and sky, in motion.
static void draw_walker(orr_engine *with, float *rgba, float *depth)
{
    stage s;
    assert_ok(orr_scene_load(with, source_path("assets/walker.xml"), &s.scene, &error));
    assert_ok(orr_world_create(s.scene, 3, &s.world, &error));
    s.robot = orr_scene_layer(s.scene, 0);
    double ctrl[12];
    for (int i = 0; i < 12; i++) {
        ctrl[i] = 0.3 * sin(i);
    }
    assert_ok(orr_world_set_robot(s.world, 2, s.robot, ORR_ROBOT_CTRL, ctrl, &error));
    assert_ok(orr_world_advance(s.world, 0.5, &error));
    orr_view view = {.world = 2, .contact_points = true, .contact_forces = true};
    assert_ok(orr_world_camera(s.world, 2, 0, 2 * WIDTH, 2 * HEIGHT, &view.camera, &error));
    draw(with, &s, &view, rgba, depth);
    stage_close(&s);
}

static void frames_are_the_same_bits_for_any_threads_and_from_run_to_run(void **state)
{
    (void)state;
    static float first[PIXELS * 16], again[PIXELS * 16], depth[PIXELS * 4];
    draw_walker(engine, first, depth);
    for (int threads = 1; threads <= 3; threads += 2) {
        orr_engine *other;
        orr_engine_desc desc = {.threads = threads, .device = ORR_DEVICE_CPU};
        assert_ok(orr_engine_create(&desc, &other, &error));
        draw_walker(other, again, depth);
        assert_memory_equal(first, again, sizeof first);
        orr_engine_destroy(other);
    }
}

#if ORR_HAVE_VULKAN
static void vulkan_draws_the_same_robot(void **state)
{
    (void)state;
    static float cpu[PIXELS * 16], vulkan[PIXELS * 16], depth[PIXELS * 4];
    orr_engine *other;
    orr_engine_desc desc = {.threads = 2, .device = ORR_DEVICE_VULKAN, .validate = true};
    if (orr_engine_create(&desc, &other, NULL) != ORR_OK) {
        skip();
    }
    draw_walker(engine, cpu, depth);
    draw_walker(other, vulkan, depth);
    orr_engine_destroy(other);
    // pixels at edges may fall to either side, and device filters weigh texels with 8 bits; all else agrees
    // to 1e-5
    assert_true(psnr(cpu, vulkan, PIXELS * 16) > 45.0);
}
#endif

static void draw_robot(const char *name, const char *path)
{
    static float rgba[PIXELS * 4], depth[PIXELS];
    if (strncmp(name, "inverted", 8) == 0) {
        return; // thin poles without a floor
    }
    stage s = stage_of(path);
    orr_view view = {.camera = orr_scene_default_camera(s.scene, WIDTH, HEIGHT)};
    assert_ok(orr_world_advance(s.world, 0.1, &error));
    draw(engine, &s, &view, rgba, depth);
    int seen = 0;
    for (int p = 0; p < PIXELS; p++) {
        seen += depth[p] > 0.0f;
    }
    if (seen <= PIXELS / 10) {
        fail_msg("%s covers %d pixels", name, seen);
    }
    stage_close(&s);
}

static void real_robots_are_drawn(void **state)
{
    (void)state;
    for_each_robot(draw_robot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_geom_covers_the_pixels_that_projection_says),
        cmocka_unit_test(a_height_field_and_a_mesh_are_drawn),
        cmocka_unit_test(what_the_model_hides_is_not_drawn),
        cmocka_unit_test(a_light_on_a_body_turns_with_it),
        cmocka_unit_test(an_endless_plane_comes_along_and_its_texture_stays),
        cmocka_unit_test(a_robot_falls_as_gravity_says_and_is_drawn_there),
        cmocka_unit_test(each_copy_of_a_world_is_drawn_as_it_is),
        cmocka_unit_test(time_advances_in_whole_steps_and_keeps_the_rest),
        cmocka_unit_test(states_are_set_and_reset),
        cmocka_unit_test(an_infinite_state_is_reported_and_stays_out_of_the_picture),
        cmocka_unit_test(a_pull_brings_a_body_to_the_hand),
        cmocka_unit_test(contacts_are_shown_as_long_as_they_are_strong),
        cmocka_unit_test(a_tracking_camera_keeps_its_robot_in_the_middle),
        cmocka_unit_test(the_sky_is_lighter_above_and_gives_way_to_a_background),
        cmocka_unit_test(a_bound_cloud_moves_and_turns_with_its_body),
        cmocka_unit_test(a_scene_says_what_is_wrong_with_a_binding),
        cmocka_unit_test(layers_that_are_no_robots_say_so),
        cmocka_unit_test(frames_are_the_same_bits_for_any_threads_and_from_run_to_run),
#if ORR_HAVE_VULKAN
        cmocka_unit_test(vulkan_draws_the_same_robot),
#endif
        cmocka_unit_test(real_robots_are_drawn),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
