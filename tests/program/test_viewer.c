// Tests of the viewer's pure parts: navigation, resolution, recorded paths, learning meanwhile.
// (tests/program/viewer_test.sh tries the window.)
#include "engine/scene/camera_file.h"
#include "samples/orrery/view/camera_recorder.h"
#include "samples/orrery/view/edit/gizmo.h"
#include "samples/orrery/view/edit/sun_angles.h"
#include "samples/orrery/view/edit/window_ray.h"
#include "samples/orrery/view/navigator.h"
#include "samples/orrery/view/resolution.h"
#include "samples/orrery/view/training_figures.h"
#include "samples/orrery/view/training_pace.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static const float ORIGIN[3] = {0.0f, 0.0f, 0.0f};

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g: expected %.9g +- %.3g", value, expected, tolerance);
    }
}

// where a point of the world is in the picture [px], and how deep
static void project(const orr_camera *camera, const float point[3], double out[3])
{
    double local[3] = {0};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            local[i] +=
                (double)camera->pose[4 * k + i] * ((double)point[k] - (double)camera->pose[4 * k + 3]);
        }
    }
    double depth = camera->model == ORR_CAMERA_ORTHOGRAPHIC ? 1.0 : local[2];
    out[0] = 0.5 * camera->width + (double)camera->focal[0] * local[0] / depth;
    out[1] = 0.5 * camera->height + (double)camera->focal[1] * local[1] / depth;
    out[2] = local[2];
}

static void assert_projects(const navigator *n, const float point[3], double x, double y)
{
    orr_camera camera = navigator_camera(n, 800, 600);
    double at[3];
    project(&camera, point, at);
    // cameras are float32: a hundredth of a pixel is what 800 pixels leave of 24 bits after a few products
    assert_true(at[2] > 0.0);
    assert_near(at[0], x, 0.01);
    assert_near(at[1], y, 0.01);
}

// looks at the origin from 5 units before and 2 above it, y down
static navigator before_origin(void)
{
    const float eye[3] = {0.0f, -2.0f, -5.0f}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, ORIGIN, up, 0.9f, 800, 600);
    navigator n;
    navigator_start(&n, &camera, ORIGIN, 1.0f);
    return n;
}

static void assert_same_camera(const orr_camera *a, const orr_camera *b)
{
    for (int i = 0; i < 12; i++) {
        assert_near((double)a->pose[i], (double)b->pose[i], 2e-6); // a few roundings of numbers up to 5
    }
    assert_near((double)a->focal[1], (double)b->focal[1], 1e-3);
    assert_int_equal(a->model, b->model);
}

static void a_view_is_taken_over_exactly_rolled_or_not(void **state)
{
    (void)state;
    const float ups[3][3] = {{0.0f, -1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}, {0.3f, -1.0f, 0.2f}};
    for (int i = 0; i < 3; i++) {
        const float eye[3] = {3.0f, -2.0f, -4.0f}, target[3] = {0.5f, 0.0f, 1.0f};
        orr_camera camera = orr_camera_look_at(eye, target, ups[i], 0.8f, 800, 600);
        navigator n;
        navigator_start(&n, &camera, ORIGIN, 1.0f);
        orr_camera same = navigator_camera(&n, 800, 600);
        assert_same_camera(&same, &camera);
    }
    navigator n = before_origin();
    n.orthographic = true;
    orr_camera orthographic = navigator_camera(&n, 800, 600);
    navigator_adopt(&n, &orthographic);
    orr_camera same = navigator_camera(&n, 800, 600);
    assert_same_camera(&same, &orthographic);
}

static void orbiting_keeps_the_focus_in_the_middle_and_the_horizon_level(void **state)
{
    (void)state;
    navigator n = before_origin();
    assert_projects(&n, ORIGIN, 400.0, 300.0);
    for (int i = 0; i < 40; i++) {
        navigator_orbit(&n, 0.07, i < 20 ? 0.05 : -0.08); // over both ends of the pitch's range
        assert_projects(&n, ORIGIN, 400.0, 300.0);
        orr_camera camera = navigator_camera(&n, 800, 600);
        assert_near((double)camera.pose[4], 0.0, 1e-6); // the camera's right lies in the plane y = 0
        assert_true(camera.pose[5] > 0.0f);             // and its down points down
    }
    assert_int_equal(n.mode, NAVIGATOR_ORBIT);
    // dragging to the right pulls what is in front of the focus to the right
    n = before_origin();
    const float front[3] = {0.0f, 0.0f, -1.0f};
    navigator_orbit(&n, 0.05, 0.0);
    orr_camera camera = navigator_camera(&n, 800, 600);
    double at[3];
    project(&camera, front, at);
    assert_true(at[0] > 401.0);
    // and dragging down pulls it down
    n = before_origin();
    camera = navigator_camera(&n, 800, 600);
    double still[3];
    project(&camera, front, still);
    navigator_orbit(&n, 0.0, 0.05);
    camera = navigator_camera(&n, 800, 600);
    project(&camera, front, at);
    assert_true(at[1] > still[1] + 1.0);
}

static void panning_and_looking_carry_the_picture_along(void **state)
{
    (void)state;
    navigator n = before_origin();
    navigator_pan(&n, 0.1, 0.2); // of the height: 60 and 120 px
    assert_projects(&n, ORIGIN, 460.0, 420.0);
    n = before_origin();
    double position[3];
    memcpy(position, n.pose.position, sizeof position);
    navigator_look(&n, 0.01, 0.0);
    orr_camera camera = navigator_camera(&n, 800, 600);
    double at[3];
    project(&camera, ORIGIN, at);
    // 6 px of dragging; the angle per pixel is the mean over the height, so that the middle lags by up to a
    // tenth
    assert_true(at[0] > 405.0 && at[0] < 407.0);
    assert_memory_equal(position, n.pose.position, sizeof position);
    assert_int_equal(n.mode, NAVIGATOR_FLY);
}

static void the_wheel_closes_in_when_orbiting_and_changes_speed_when_flying(void **state)
{
    (void)state;
    navigator n = before_origin();
    double distance = n.pose.distance, speed = n.speed;
    navigator_wheel(&n, 3.0);
    assert_true(n.pose.distance < 0.7 * distance);
    assert_projects(&n, ORIGIN, 400.0, 300.0);
    assert_true(n.speed == speed);
    navigator_wheel(&n, -3.0);
    assert_near(n.pose.distance, distance, 1e-9 * distance);
    n.mode = NAVIGATOR_FLY;
    navigator_wheel(&n, 1.0);
    assert_true(n.speed > 1.2 * speed);
    assert_near(n.pose.distance, distance, 1e-9 * distance);
}

static void flying_goes_where_it_looks_as_fast_as_it_says(void **state)
{
    (void)state;
    navigator n = before_origin();
    orr_camera camera = navigator_camera(&n, 800, 600);
    double position[3];
    memcpy(position, n.pose.position, sizeof position);
    const double forward[3] = {0.0, 0.0, 1.0}, right[3] = {1.0, 0.0, 0.0}, up[3] = {0.0, 1.0, 0.0};
    navigator_fly(&n, forward, 2.0);
    for (int i = 0; i < 3; i++) {
        assert_near(n.pose.position[i] - position[i], 2.0 * n.speed * (double)camera.pose[4 * i + 2], 1e-6);
    }
    memcpy(position, n.pose.position, sizeof position);
    navigator_fly(&n, right, 1.0);
    for (int i = 0; i < 3; i++) {
        assert_near(n.pose.position[i] - position[i], n.speed * (double)camera.pose[4 * i], 1e-6);
    }
    memcpy(position, n.pose.position, sizeof position);
    navigator_fly(&n, up, 1.0); // the level up, although the camera looks down
    assert_near(n.pose.position[1] - position[1], -n.speed, 1e-6);
    assert_near(n.pose.position[2], position[2], 1e-6);
}

static void focusing_turns_towards_the_point_smoothly(void **state)
{
    (void)state;
    navigator n = before_origin();
    const float point[3] = {1.0f, 0.5f, 0.3f};
    double position[3];
    memcpy(position, n.pose.position, sizeof position);
    navigator_focus(&n, point);
    int steps = 0;
    double yaw = n.pose.yaw;
    while (navigator_step(&n, 1.0 / 60.0)) {
        steps++;
        assert_true(fabs(n.pose.yaw - yaw) < 0.05); // no jump
        yaw = n.pose.yaw;
    }
    assert_in_range(steps, 10, 60);
    assert_projects(&n, point, 400.0, 300.0);
    for (int i = 0; i < 3; i++) {
        assert_near(n.pose.position[i], position[i], 1e-12);
    }
    navigator_orbit(&n, 0.3, 0.1);
    assert_projects(&n, point, 400.0, 300.0);
}

static void seeing_all_fits_a_sphere_and_home_leads_back(void **state)
{
    (void)state;
    navigator n = before_origin();
    orr_camera home = navigator_camera(&n, 800, 600);
    double distance = n.pose.distance;
    const float centre[3] = {10.0f, 3.0f, -2.0f};
    navigator_see(&n, centre, 2.0f);
    while (navigator_step(&n, 0.05)) {
    }
    assert_projects(&n, centre, 400.0, 300.0);
    // the sphere touches the top and bottom of the picture: sin(half field of view) = radius / distance
    assert_near(2.0 / n.pose.distance, sin(0.45), 1e-6);
    navigator_orbit(&n, 0.4, -0.2);
    navigator_go_to(&n, &home, distance);
    while (navigator_step(&n, 0.05)) {
    }
    orr_camera back = navigator_camera(&n, 800, 600);
    assert_same_camera(&back, &home);
    assert_false(navigator_step(&n, 1.0));
}

static void orthographic_views_keep_the_size_at_the_focus(void **state)
{
    (void)state;
    navigator n = before_origin();
    const float beside[3] = {1.0f, 0.0f, 0.0f}; // as deep as the focus
    orr_camera camera = navigator_camera(&n, 800, 600);
    double at[3];
    project(&camera, beside, at);
    n.orthographic = true;
    assert_projects(&n, beside, at[0], at[1]);
}

// A machine that takes fixed + per_pixel x (pixels / full pixels) milliseconds; the scale it settles at.
static float settle(double fixed, double per_pixel, resolution *r)
{
    for (int i = 0; i < 60; i++) {
        float scale = resolution_scale(r, true);
        resolution_measure(r, scale, fixed + per_pixel * (double)(scale * scale));
    }
    return resolution_scale(r, true);
}

static void resolution_settles_where_frames_fit_the_budget(void **state)
{
    (void)state;
    resolution r = resolution_start(30.0);
    assert_near((double)settle(2.0, 10.0, &r), 1.0, 0.0); // a fast machine draws in full
    float scale = settle(5.0, 100.0, &r);
    double time = 5.0 + 100.0 * (double)(scale * scale);
    assert_true(time <= 1000.0 / 30.0);
    double next = (double)scale + 2.0 / 16.0; // and not much less than it could
    assert_true(5.0 + 100.0 * next * next > 0.75 * 1000.0 / 30.0);
    for (int i = 0; i < 10; i++) { // it does not hunt
        resolution_measure(&r, scale, time);
        assert_near((double)resolution_scale(&r, true), (double)scale, 0.0);
    }
    assert_near((double)resolution_scale(&r, false), 1.0, 0.0); // full quality at rest
    scale = settle(2.0, 10.0, &r);
    assert_near((double)scale, 1.0, 0.0);                           // back up when the load is gone
    assert_near((double)settle(500.0, 500.0, &r), 2.0 / 16.0, 0.0); // a hopeless machine stops at the least
    r.adaptive = false;
    assert_near((double)resolution_scale(&r, true), 1.0, 0.0);
}

static void at_rest_the_picture_sharpens_step_by_step_when_it_is_slow(void **state)
{
    (void)state;
    resolution r = resolution_start(30.0);                                // budget: 30 ms
    assert_near((double)resolution_sharpen(&r, 0.5f, 30.0), 1.0, 0.0);    // 120 ms in full: at once
    assert_near((double)resolution_sharpen(&r, 0.25f, 30.0), 0.5, 0.0);   // 480 ms
    assert_near((double)resolution_sharpen(&r, 0.75f, 1000.0), 1.0, 0.0); // no more than full
    int steps = 0;
    for (float scale = resolution_least(&r); scale < r.full; steps++) {
        scale = resolution_sharpen(&r, scale, 1e4 * (double)(scale * scale));
    }
    assert_int_equal(steps, 3); // 1/8 to 1
    r.adaptive = false;
    assert_near((double)resolution_sharpen(&r, 0.25f, 1000.0), 1.0, 0.0);
}

static void one_slow_frame_does_not_ruin_the_picture(void **state)
{
    (void)state;
    resolution r = resolution_start(30.0);
    resolution_measure(&r, 1.0f, 5000.0);
    assert_true(resolution_scale(&r, true) >= 0.5f);
}

static void a_recorded_path_passes_its_keys_and_is_saved_picture_by_picture(void **state)
{
    (void)state;
    camera_recorder recorder = {.seconds = 2.0};
    orr_camera keys[3];
    for (int i = 0; i < 3; i++) {
        navigator n = before_origin();
        navigator_orbit(&n, 0.2 * i, 0.05 * i);
        navigator_zoom(&n, i);
        // the window is another size by the third key
        keys[i] = navigator_camera(&n, i < 2 ? 800 : 640, i < 2 ? 600 : 480);
        assert_ok(camera_recorder_add(&recorder, &keys[i], &error));
    }
    assert_near(camera_recorder_duration(&recorder), 4.0, 0.0);
    for (int i = 0; i < 3; i++) {
        orr_camera expected = orr_camera_resize(&keys[i], 320, 240);
        orr_camera camera = camera_recorder_at(&recorder, 2.0 * i, 320, 240);
        assert_same_camera(&camera, &expected);
    }
    const char *path = scratch_path("transforms.json");
    assert_ok(camera_recorder_save(&recorder, path, 30.0, 320, 240, &error));
    orr_camera_list list;
    assert_ok(orr_camera_file_load(path, 0, 0, &list, &error));
    assert_int_equal(list.count, 121); // 4 s, both ends included
    for (int i = 0; i < list.count; i++) {
        orr_camera expected = camera_recorder_at(&recorder, i / 30.0, 320, 240);
        assert_same_camera(&list.cameras[i], &expected);
        assert_int_equal(list.cameras[i].width, 320);
    }
    orr_camera_list_free(&list);
    camera_recorder_clear(&recorder);
    assert_int_equal(recorder.count, 0);
    assert_near(recorder.seconds, 2.0, 0.0);
}

// One turn of a loop whose steps take so long; how many there are.
static int steps_of_turn(training_pace *pace, bool moving, double milliseconds)
{
    int steps = 0;
    training_pace_turn(pace, moving);
    while (training_pace_allows_step(pace)) {
        training_pace_step(pace, milliseconds);
        steps++;
    }
    return steps;
}

static void steps_fill_the_time_of_a_turn_and_owe_what_they_take_too_long(void **state)
{
    (void)state;
    training_pace pace = {0};
    assert_int_equal(steps_of_turn(&pace, false, 10.0), 4); // 40 ms at rest
    pace = (training_pace){0};
    assert_int_equal(steps_of_turn(&pace, true, 5.0), 5); // 25 ms while moving
    // steps of 100 ms: one in four turns, so that moving stays as fluid on average
    pace = (training_pace){0};
    int steps = 0;
    for (int i = 0; i < 40; i++) {
        int now = steps_of_turn(&pace, true, 100.0);
        assert_true(now <= 1);
        steps += now;
    }
    assert_int_equal(steps, 10);
    // hopelessly slow steps go on, too, and a pause after them does not save time up
    steps_of_turn(&pace, false, 60000.0);
    steps = 0;
    for (int i = 0; i < 30; i++) {
        steps += steps_of_turn(&pace, true, 10.0);
    }
    assert_in_range(steps, 1, 30);
    for (int i = 0; i < 100; i++) {
        training_pace_turn(&pace, false); // no step asks
    }
    assert_int_equal(steps_of_turn(&pace, false, 10.0), 4);
}

static void pictures_of_learning_come_a_few_times_per_second_and_leave_it_its_time(void **state)
{
    (void)state;
    training_pace pace = {0};
    training_pace_drawn(&pace, 10.0, 20.0); // a quick one
    assert_false(training_pace_picture_due(&pace, 10.1));
    assert_true(training_pace_picture_due(&pace, 10.5));
    training_pace_drawn(&pace, 10.0, 1000.0);             // a slow one
    assert_false(training_pace_picture_due(&pace, 13.9)); // a quarter of the time is for drawing
    assert_true(training_pace_picture_due(&pace, 14.1));
}

static void a_loss_curve_keeps_the_whole_course_in_its_points(void **state)
{
    (void)state;
    training_figures figures = {0};
    for (int i = 0; i < 10000; i++) {
        training_figures_add(&figures, i < 5000 ? 1.0 : 0.01, 1000, 0.001);
    }
    assert_int_equal(figures.steps, 10000);
    assert_near(figures.seconds, 10.0, 1e-9);
    assert_near(figures.loss, 0.01, 1e-9); // after 5000 steps nothing is left of the 1
    assert_near(figures.samples_per_second, 1e6, 1.0);
    // all steps are in the points but for those of the next point
    assert_in_range(figures.curve_count, LOSS_CURVE_POINTS / 2, LOSS_CURVE_POINTS);
    assert_int_equal(figures.curve_count * figures.steps_per_point + figures.pending, 10000);
    assert_true(figures.pending < figures.steps_per_point);
    for (int i = 0; i < figures.curve_count; i++) {
        int first = i * figures.steps_per_point, last = first + figures.steps_per_point - 1;
        if (last < 5000) {
            assert_near((double)figures.curve[i], 0.0, 1e-5);
        } else if (first >= 5000) {
            assert_near((double)figures.curve[i], -2.0, 1e-5);
        }
    }
    training_figures_add(&figures, 0.0, 1, 0.0); // no loss and no time: figures stay finite
    assert_true(isfinite(figures.samples_per_second) && isfinite(figures.loss));
}

// ---- the gizmo ----

// At (0.5, 0, 1), up is -y, in a window half as wide as the picture.
static gizmo before_floor(void)
{
    static const double window[2] = {400, 300}, axes[9] = {1, 0, 0, 0, -1, 0, 0, 0, 1}, at[3] = {0.5, 0, 1};
    const navigator n = before_origin();
    const orr_camera camera = navigator_camera(&n, 800, 600);
    gizmo g;
    assert_true(gizmo_open(&g, &camera, window, axes, at));
    return g;
}

static void window_of(const gizmo *g, const double point[3], double out[2])
{
    double local[3];
    window_camera(&g->camera, point, local);
    window_point(&g->camera, g->window, local, out);
}

static const orr_transform standing = {.position = {0.5f, 0, 1}, .rotation = {1}, .scale = 2};

static void a_handle_of_the_gizmo_keeps_to_the_cursor_as_it_moves_a_layer(void **state)
{
    (void)state;
    const gizmo g = before_floor();
    const double from[3] = {0.5 + 0.9 * g.reach, 0, 1}, to[3] = {1.5 + 0.9 * g.reach, 0, 1};
    const double top[3] = {0.5, -g.reach, 1}, higher[3] = {0.5, -g.reach - 0.4, 1};
    double a[2], b[2];
    orr_transform moved;
    window_of(&g, from, a);
    window_of(&g, to, b);
    assert_int_equal(gizmo_find(&g, a), GIZMO_RIGHT);
    assert_true(gizmo_drag(&g, GIZMO_RIGHT, a, b, &standing, &moved));
    assert_near((double)moved.position[0], 1.5, 1e-5); // cameras are float32
    assert_near((double)moved.position[1], 0.0, 1e-5);
    assert_near((double)moved.position[2], 1.0, 1e-5);
    assert_near((double)moved.scale, 2.0, 0.0);
    window_of(&g, top, a);
    window_of(&g, higher, b);
    assert_int_equal(gizmo_find(&g, a), GIZMO_UP);
    assert_true(gizmo_drag(&g, GIZMO_UP, a, b, &standing, &moved));
    assert_near((double)moved.position[1], -0.4, 1e-5);
    const double corner[3] = {0.5 + 0.45 * g.reach, 0, 1 + 0.45 * g.reach};
    const double shifted[3] = {corner[0] - 0.3, 0, corner[2] + 0.7};
    window_of(&g, corner, a);
    window_of(&g, shifted, b);
    assert_int_equal(gizmo_find(&g, a), GIZMO_GROUND);
    assert_true(gizmo_drag(&g, GIZMO_GROUND, a, b, &standing, &moved));
    assert_near((double)moved.position[0], 0.2, 1e-5);
    assert_near((double)moved.position[1], 0.0, 1e-5);
    assert_near((double)moved.position[2], 1.7, 1e-5);
    assert_int_equal(gizmo_find(&g, (const double[2]){5, 5}), GIZMO_NONE);
}

static void the_gizmo_turns_about_up_and_scales_about_the_foot(void **state)
{
    (void)state;
    const gizmo g = before_floor();
    const orr_transform aside = {.position = {1.5f, 0, 1}, .rotation = {1}, .scale = 2};
    const double right[3] = {0.5 + 0.8 * g.reach, 0, 1}, ahead[3] = {0.5, 0, 1 + 0.8 * g.reach};
    double a[2], b[2], middle[2];
    orr_transform moved;
    window_of(&g, right, a);
    window_of(&g, ahead, b);
    assert_int_equal(gizmo_find(&g, b), GIZMO_TURN);
    assert_true(gizmo_drag(&g, GIZMO_TURN, a, b, &aside, &moved)); // a quarter turn: what was right is ahead
    assert_near((double)moved.position[0], 0.5, 1e-5);
    assert_near((double)moved.position[2], 2.0, 1e-5);
    assert_near((double)moved.rotation[0], sqrt(0.5), 1e-5);
    assert_near((double)moved.rotation[2], -sqrt(0.5), 1e-5); // about y, which is down
    window_of(&g, g.origin, middle);
    const double near_to[2] = {middle[0] + 30, middle[1]}, far_to[2] = {middle[0], middle[1] - 90};
    assert_true(gizmo_drag(&g, GIZMO_SCALE, near_to, far_to, &aside, &moved));
    assert_near((double)moved.scale, 6.0, 1e-5);
    assert_near((double)moved.position[0], 0.5 + 3.0, 1e-5);
    assert_int_equal(gizmo_find(&g, (const double[2]){middle[0] + 67.5, middle[1] - 67.5}), GIZMO_SCALE);
}

static void a_gizmo_behind_the_camera_or_seen_from_ahead_moves_nothing(void **state)
{
    (void)state;
    gizmo g = before_floor();
    const double behind[3] = {0, -2, -9}, cursor[2] = {200, 150}, other[2] = {210, 150};
    gizmo_line line;
    orr_transform moved;
    gizmo_draw(&g, GIZMO_TURN, &line);
    assert_int_equal(line.count, GIZMO_POINTS);
    assert_false(gizmo_open(&g, &g.camera, g.window, g.axes, behind));
    const float eye[3] = {0, 0, -5}, up[3] = {0, -1, 0};
    const orr_camera level = orr_camera_look_at(eye, ORIGIN, up, 0.9f, 800, 600);
    const double axes[9] = {1, 0, 0, 0, -1, 0, 0, 0, 1}, at[3] = {0, 0, 0};
    assert_true(gizmo_open(&g, &level, g.window, axes, at));
    assert_false(gizmo_drag(&g, GIZMO_FORWARD, cursor, other, &standing, &moved));
    assert_false(gizmo_drag(&g, GIZMO_GROUND, cursor, other, &standing, &moved));
    assert_true(gizmo_drag(&g, GIZMO_RIGHT, cursor, other, &standing, &moved));
}

static void the_sun_is_turned_by_angles_about_up(void **state)
{
    (void)state;
    static const double axes[9] = {1, 0, 0, 0, -1, 0, 0, 0, 1}; // up is -y
    const float right_above[3] = {0.70710678f, -0.70710678f, 0};
    double azimuth, elevation;
    float direction[3];
    sun_angles(axes, right_above, &azimuth, &elevation);
    assert_near(azimuth, 90.0, 1e-5);
    assert_near(elevation, 45.0, 1e-5);
    sun_turn(0.5, 0.1, &azimuth, &elevation); // half the window to the right, and a tenth down
    assert_near(azimuth, 180.0, 1e-5);
    assert_near(elevation, 27.0, 1e-5);
    sun_direction(axes, azimuth, elevation, direction);
    assert_near((double)direction[2], -cos(27.0 / 57.29577951), 1e-6);
    assert_near((double)direction[1], -sin(27.0 / 57.29577951), 1e-6);
    sun_turn(0.0, -2.0, &azimuth, &elevation);
    assert_near(elevation, 89.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_taken_over_exactly_rolled_or_not),
        cmocka_unit_test(orbiting_keeps_the_focus_in_the_middle_and_the_horizon_level),
        cmocka_unit_test(panning_and_looking_carry_the_picture_along),
        cmocka_unit_test(the_wheel_closes_in_when_orbiting_and_changes_speed_when_flying),
        cmocka_unit_test(flying_goes_where_it_looks_as_fast_as_it_says),
        cmocka_unit_test(focusing_turns_towards_the_point_smoothly),
        cmocka_unit_test(seeing_all_fits_a_sphere_and_home_leads_back),
        cmocka_unit_test(orthographic_views_keep_the_size_at_the_focus),
        cmocka_unit_test(resolution_settles_where_frames_fit_the_budget),
        cmocka_unit_test(at_rest_the_picture_sharpens_step_by_step_when_it_is_slow),
        cmocka_unit_test(one_slow_frame_does_not_ruin_the_picture),
        cmocka_unit_test(a_recorded_path_passes_its_keys_and_is_saved_picture_by_picture),
        cmocka_unit_test(steps_fill_the_time_of_a_turn_and_owe_what_they_take_too_long),
        cmocka_unit_test(pictures_of_learning_come_a_few_times_per_second_and_leave_it_its_time),
        cmocka_unit_test(the_sun_is_turned_by_angles_about_up),
        cmocka_unit_test(a_handle_of_the_gizmo_keeps_to_the_cursor_as_it_moves_a_layer),
        cmocka_unit_test(the_gizmo_turns_about_up_and_scales_about_the_foot),
        cmocka_unit_test(a_gizmo_behind_the_camera_or_seen_from_ahead_moves_nothing),
        cmocka_unit_test(a_loss_curve_keeps_the_whole_course_in_its_points),
    };
    return cmocka_run_group_tests_name("viewer", tests, NULL, NULL);
}
