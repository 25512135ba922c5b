// Tests of engine/scene/camera_file: transforms.json in and out.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/maths/camera.h"
#include "engine/scene/camera_file.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IDENTITY "\"transform_matrix\": [[1,0,0,5],[0,1,0,6],[0,0,1,7],[0,0,0,1]]"

static orr_camera_list parsed(const char *text)
{
    orr_camera_list list;
    assert_ok(orr_camera_file_parse(text, "cameras.json", 200, 100, &list, &error));
    return list;
}

// the line that parsing `text` fails with
static const char *complaint(const char *text)
{
    static orr_error error;
    orr_camera_list list;
    assert_int_equal(orr_camera_file_parse(text, "cameras.json", 200, 100, &list, &error), ORR_ERROR_FORMAT);
    assert_int_equal(error.code, ORR_CODE_CAMERA_FILE);
    assert_null(list.cameras);
    assert_memory_equal(error.message, "cameras.json: ", 14);
    return error.message;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g: expected %.9g within %g", value, expected, tolerance);
    }
}

static void opengl_axes_become_right_down_forward(void **state)
{
    (void)state;
    orr_camera_list list = parsed("{\"camera_angle_x\": 1.5707963267948966, \"frames\": [{" IDENTITY "}]}");
    assert_int_equal(list.count, 1);
    const float expected[12] = {1, 0, 0, 5, 0, -1, 0, 6, 0, 0, -1, 7};
    for (int i = 0; i < 12; i++) {
        assert_float_equal(list.cameras[0].pose[i], expected[i], 0.0);
    }
    // 90 degrees across 200 pixels, and square pixels
    assert_int_equal(list.cameras[0].width, 200);
    assert_int_equal(list.cameras[0].height, 100);
    assert_near((double)list.cameras[0].focal[0], 100.0, 1e-5);
    assert_near((double)list.cameras[0].focal[1], 100.0, 1e-5);
    assert_false(list.distorted);
    orr_camera_list_free(&list);
    assert_null(list.cameras);
}

static void frames_speak_over_the_file(void **state)
{
    (void)state;
    orr_camera_list list =
        parsed("{\"w\": 640, \"h\": 480, \"fl_x\": 500, \"fl_y\": 510, \"cx\": 300, \"frames\": ["
               "{" IDENTITY "},"
               "{\"camera_angle_x\": 1.5707963267948966, \"fl_y\": 99, \"cy\": 200, " IDENTITY "},"
               "{\"w\": 64, \"h\": 48, \"p1\": 0.1, " IDENTITY "}]}");
    assert_int_equal(list.count, 3);
    const orr_camera *c = list.cameras;
    assert_near((double)c[0].focal[0], 500.0, 0.0);
    assert_near((double)c[0].focal[1], 510.0, 0.0);
    assert_near((double)c[0].centre[0], 300.0, 0.0);
    assert_near((double)c[0].centre[1], 240.0, 0.0); // says nothing: the middle
    assert_near((double)c[1].focal[0], 320.0, 1e-4); // the frame's angle, not the file's length
    assert_near((double)c[1].focal[1], 99.0, 0.0);
    assert_near((double)c[1].centre[1], 200.0, 0.0);
    assert_int_equal(c[2].width, 64);
    assert_int_equal(c[2].height, 48);
    assert_near((double)c[2].focal[0], 500.0, 0.0);
    assert_true(list.distorted);
    assert_near((double)c[2].tangential[0], 0.1, 1e-7); // a float32
    assert_near((double)c[0].tangential[0], 0.0, 0.0);
    orr_camera_list_free(&list);
}

static void distortion_goes_out_as_it_came_in(void **state)
{
    (void)state;
    orr_camera_list list =
        parsed("{\"w\": 640, \"h\": 480, \"fl_x\": 500, \"k1\": 0.25, \"k3\": -0.5, \"frames\": ["
               "{" IDENTITY "}, {\"k4\": 2, \"p2\": 0.125, " IDENTITY "}]}");
    const char *path = scratch_path("distorted.json");
    assert_ok(orr_camera_file_save(path, list.cameras, list.names, list.count, &error));
    orr_camera_list back;
    assert_ok(orr_camera_file_load(path, 0, 0, &back, &error));
    assert_int_equal(back.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(back.cameras[i].radial, list.cameras[i].radial, sizeof list.cameras[i].radial);
        assert_memory_equal(back.cameras[i].tangential, list.cameras[i].tangential,
                            sizeof list.cameras[i].tangential);
    }
    assert_true(back.cameras[1].radial[3] == 2.0f && back.cameras[1].tangential[1] == 0.125f);
    orr_camera_list_free(&list);
    orr_camera_list_free(&back);
}

static void fisheyes_come_back_from_a_file(void **state)
{
    (void)state;
    orr_camera_list list =
        parsed("{\"w\": 640, \"h\": 480, \"fl_x\": 300, \"k1\": 0.25, \"is_fisheye\": true, "
               "\"frames\": [{" IDENTITY "}, {\"k4\": 2, " IDENTITY
               "}, {\"camera_model\": \"OPENCV\", \"k1\": 0, " IDENTITY "}]}");
    const char *path = scratch_path("fisheyes.json");
    assert_true(list.distorted);
    // all alike, and not
    for (int count = 1; count <= 3; count += 2) {
        orr_camera_list back;
        assert_ok(orr_camera_file_save(path, list.cameras, list.names, count, &error));
        assert_ok(orr_camera_file_load(path, 0, 0, &back, &error));
        assert_int_equal(back.count, count);
        for (int i = 0; i < count; i++) {
            assert_int_equal(back.cameras[i].model, i < 2 ? ORR_CAMERA_FISHEYE : ORR_CAMERA_PERSPECTIVE);
            assert_memory_equal(back.cameras[i].radial, list.cameras[i].radial,
                                sizeof list.cameras[i].radial);
        }
        orr_camera_list_free(&back);
    }
    assert_true(list.cameras[1].radial[0] == 0.25f && list.cameras[1].radial[3] == 2.0f);
    list.cameras[1].tangential[1] = 0.1f;
    orr_error why;
    assert_int_equal(orr_camera_file_save(path, list.cameras, list.names, 3, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "camera 1: camera: tangential 0, 0.1: expected 0, 0 of a fisheye"));
    orr_camera_list_free(&list);
}

static void rotations_to_a_few_digits_are_straightened(void **state)
{
    (void)state;
    // 30 degrees about z, to three digits, without a fourth row
    orr_camera_list list = parsed("{\"camera_angle_x\": 1, \"frames\": [{\"transform_matrix\": "
                                  "[[0.866,-0.5,0,1],[0.5,0.866,0,2],[0,0,1.001,3]]}]}");
    const float *m = list.cameras[0].pose;
    const double angle = 3.14159265358979323846 / 6.0;
    const double expected[12] = {cos(angle), sin(angle), 0.0, 1.0, sin(angle), -cos(angle),
                                 0.0,        2.0,        0.0, 0.0, -1.0,       3.0};
    for (int i = 0; i < 12; i++) {
        // the digits of the file put the angle 1.7e-5 off; by symmetry the nearest rotation has the file's
        // angle
        assert_near((double)m[i], expected[i], 2.5e-5);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double dot = 0.0;
            for (int k = 0; k < 3; k++) {
                dot += (double)m[4 * k + i] * (double)m[4 * k + j];
            }
            assert_near(dot, i == j, 3e-7); // float rounding of the entries
        }
    }
    orr_camera_list_free(&list);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "line 1, column 1"},
        {"{\n \"frames\": [,]}", "line 2, column 13"},
        {"[]", "expected an object"},
        {"{} x", "line 1, column 4"},
        {"{\"camera_angle_x\": 1}", "frames: expected an array of at least one frame"},
        {"{\"camera_angle_x\": 1, \"frames\": [3]}", "frames[0]: expected an object"},
        {"{\"camera_angle_x\": 4, \"frames\": [{" IDENTITY "}]}",
         "camera_angle_x: expected an angle below pi"},
        {"{\"camera_angle_x\": -1, \"frames\": [{" IDENTITY "}]}",
         "camera_angle_x: expected a number above 0"},
        {"{\"frames\": [{" IDENTITY "}]}", "frames[0]: expected fl_x or camera_angle_x"},
        {"{\"fl_x\": 100, \"frames\": [{" IDENTITY "}]}", "frames[0]: expected w and h"},
        {"{\"fl_x\": 100, \"w\": 10, \"frames\": [{" IDENTITY "}]}", "frames[0]: expected w and h"},
        {"{\"w\": 10.5, \"frames\": []}", "w: expected a whole number"},
        {"{\"w\": 1e9, \"frames\": []}", "w: expected a whole number"},
        {"{\"fl_x\": 1e999, \"frames\": []}", "fl_x: expected a number"},
        {"{\"is_fisheye\": 1, \"frames\": []}", "is_fisheye: expected true or false"},
        {"{\"camera_model\": \"FOV\", \"frames\": []}", "camera_model: expected a pinhole camera"},
        {"{\"camera_angle_x\": 1, \"frames\": [{" IDENTITY "}, {}]}",
         "frames[1].transform_matrix: expected a matrix"},
        {"{\"camera_angle_x\": 1, \"frames\": [{\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1]]}]}",
         "frames[0].transform_matrix: expected a matrix"},
        {"{\"camera_angle_x\": 1, \"frames\": [{\"transform_matrix\": "
         "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,2]]}]}",
         "frames[0].transform_matrix: expected a matrix"},
        {"{\"camera_angle_x\": 1, \"frames\": [{\"transform_matrix\": [[2,0,0,0],[0,2,0,0],[0,0,2,0]]}]}",
         "frames[0].transform_matrix: expected a rotation without scale"},
        {"{\"camera_angle_x\": 1, \"frames\": [{\"transform_matrix\": [[-1,0,0,0],[0,1,0,0],[0,0,1,0]]}]}",
         "frames[0].transform_matrix: expected a rotation without scale or mirroring"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *line = complaint(cases[i].text);
        if (!strstr(line, cases[i].says)) {
            fail_msg("%s\nsays: %s\ninstead of: %s", cases[i].text, line, cases[i].says);
        }
    }
    orr_error error;
    orr_camera_list list;
    assert_int_equal(orr_camera_file_load("/nonexistent/t.json", 1, 1, &list, &error), ORR_ERROR_FILE);
}

static void cameras_come_back_as_they_were_saved(void **state)
{
    (void)state;
    orr_camera cameras[3];
    for (int i = 0; i < 3; i++) {
        float eye[3] = {0.1f + (float)i, -2.7f, 1e-3f}, target[3] = {0.3f, 0.4f, 12.345678f};
        const float up[3] = {0.0f, -1.0f, 0.1f};
        cameras[i] = orr_camera_look_at(eye, target, up, 0.7f + 0.1f * (float)i, 1280, 720);
        cameras[i].centre[0] = 641.7f;
        cameras[i].centre[1] = 1.0f / 3.0f;
    }
    for (int count = 1; count <= 3; count += 2) { // shared and own intrinsics
        const char *path = scratch_path("saved.json");
        assert_ok(orr_camera_file_save(path, cameras, NULL, count, &error));
        orr_camera_list list;
        assert_ok(orr_camera_file_load(path, 1, 1, &list, &error));
        assert_int_equal(list.count, count);
        for (int i = 0; i < count; i++) {
            // every float is written with enough digits to come back as the same float
            assert_memory_equal(list.cameras[i].pose, cameras[i].pose, sizeof cameras[i].pose);
            assert_memory_equal(list.cameras[i].focal, cameras[i].focal, sizeof cameras[i].focal);
            assert_memory_equal(list.cameras[i].centre, cameras[i].centre, sizeof cameras[i].centre);
            assert_int_equal(list.cameras[i].width, 1280);
            assert_int_equal(list.cameras[i].height, 720);
        }
        orr_camera_list_free(&list);
    }
}

// Intrinsics are written once where all cameras share them; a difference in one number is enough.
static void cameras_that_differ_in_one_number_stay_different(void **state)
{
    (void)state;
    orr_camera cameras[2];
    for (int k = 0; k < 10; k++) {
        for (int i = 0; i < 2; i++) {
            cameras[i] = orr_camera_look_at((float[]){0, 0, -3}, (float[]){0, 0, 0}, (float[]){0, -1, 0},
                                            1.0f, 64, 48);
            cameras[i].centre[0] = 30.0f;
            cameras[i].centre[1] = 20.0f;
        }
        float *numbers[10] = {&cameras[1].focal[0],     &cameras[1].focal[1],  &cameras[1].centre[0],
                              &cameras[1].centre[1],    &cameras[1].radial[0], &cameras[1].radial[1],
                              &cameras[1].radial[2],    &cameras[1].radial[3], &cameras[1].tangential[0],
                              &cameras[1].tangential[1]};
        *numbers[k] += 0.25f;
        const char *path = scratch_path("differ.json");
        assert_ok(orr_camera_file_save(path, cameras, NULL, 2, &error));
        orr_camera_list list;
        assert_ok(orr_camera_file_load(path, 1, 1, &list, &error));
        for (int i = 0; i < 2; i++) {
            assert_memory_equal(list.cameras[i].focal, cameras[i].focal, sizeof cameras[i].focal);
            assert_memory_equal(list.cameras[i].centre, cameras[i].centre, sizeof cameras[i].centre);
            assert_memory_equal(list.cameras[i].radial, cameras[i].radial, sizeof cameras[i].radial);
            assert_memory_equal(list.cameras[i].tangential, cameras[i].tangential,
                                sizeof cameras[i].tangential);
        }
        orr_camera_list_free(&list);
    }
}

static void names_go_out_as_they_came_in(void **state)
{
    (void)state;
    const float eye[3] = {0, 0, -3}, target[3] = {0, 0, 0}, up[3] = {0, -1, 0};
    orr_camera cameras[2];
    cameras[0] = cameras[1] = orr_camera_look_at(eye, target, up, 1.0f, 64, 64);
    const char *const names[2] = {"images/first \"one\".jpg", ""};
    const char *path = scratch_path("named.json");
    assert_ok(orr_camera_file_save(path, cameras, names, 2, &error));
    orr_camera_list list;
    assert_ok(orr_camera_file_load(path, 1, 1, &list, &error));
    assert_string_equal(list.names[0], names[0]);
    assert_string_equal(list.names[1], "0001.png"); // one without a name is numbered
    orr_camera_list_free(&list);
    assert_null(list.names);
    orr_camera_list_free(&list);
    list = parsed("{\"camera_angle_x\": 1, \"frames\": [{" IDENTITY "}]}");
    assert_string_equal(list.names[0], "");
    orr_camera_list_free(&list);
}

static void cameras_a_file_cannot_hold_are_refused(void **state)
{
    (void)state;
    const float eye[3] = {0, 0, -3}, target[3] = {0, 0, 0}, up[3] = {0, -1, 0};
    orr_camera camera = orr_camera_look_at(eye, target, up, 1.0f, 64, 64);
    const char *path = scratch_path("refused.json");
    orr_error error;
    assert_int_equal(orr_camera_file_save(path, &camera, NULL, 0, &error), ORR_ERROR_ARGUMENT);
    camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    assert_int_equal(orr_camera_file_save(path, &camera, NULL, 1, &error), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "camera 0 is orthographic"));
    camera.model = ORR_CAMERA_PERSPECTIVE;
    camera.pose[3] = NAN;
    assert_int_equal(orr_camera_file_save(path, &camera, NULL, 1, &error), ORR_ERROR_ARGUMENT);
    assert_null(fopen(path, "rb")); // nothing was written
}

static void a_capture_through_a_lens_is_read(void **state)
{
    (void)state;
    orr_camera_list list;
    assert_ok(orr_camera_file_load(made_asset("capture_lens/transforms.json"), 0, 0, &list, &error));
    assert_int_equal(list.count, 26);
    assert_true(list.distorted);
    const orr_camera *c = &list.cameras[0]; // as assets/make_capture.c has it
    assert_int_equal(c->width, 128);
    assert_int_equal(c->height, 96);
    assert_true(c->focal[0] == 104.5f && c->focal[1] == 104.0f && c->centre[0] == 65.25f &&
                c->centre[1] == 47.5f);
    assert_true(c->radial[0] == -0.125f && c->radial[1] == 0.03125f && c->radial[2] == 0.0f &&
                c->radial[3] == 0.0f);
    assert_true(c->tangential[0] == 0.001953125f && c->tangential[1] == -0.0009765625f);
    // 2.8 from the middle, 0.01875 rad above the floor, on the x axis; right, down and forward are columns
    const double out[3] = {cos(0.01875), 0.0, sin(0.01875)};
    const double wanted[12] = {0.0, out[2], -out[0], 2.8 * out[0], 1.0,     0.0,
                               0.0, 0.0,    0.0,     -out[0],      -out[2], 2.8 * out[2]};
    for (int i = 0; i < 12; i++) {
        assert_near((double)c->pose[i], wanted[i], 1e-6);
    }
    orr_camera_list_free(&list);
}

static void the_fox_capture_is_read(void **state)
{
    (void)state;
    orr_camera_list list;
    const char *path = needed_shared_data("nerf/fox/transforms.json");
    assert_ok(orr_camera_file_load(path, 0, 0, &list, &error));
    assert_int_equal(list.count, 67);
    assert_true(list.distorted);
    const orr_camera *c = &list.cameras[0];
    assert_int_equal(c->width, 1080);
    assert_int_equal(c->height, 1920);
    assert_near((double)c->focal[0], 1375.52, 1e-4); // half a float step at 1375
    assert_near((double)c->focal[1], 1374.49, 1e-4);
    assert_near((double)c->centre[0], 554.558, 1e-4);
    assert_near((double)c->centre[1], 965.268, 1e-4);
    // first frame of the file: column 2 and 3 negated, the place as it is
    assert_near((double)c->pose[0], 0.8926439112348871, 1e-7);
    assert_near((double)c->pose[1], -0.08799600283226543, 1e-7);
    assert_near((double)c->pose[2], -0.4420900262071262, 1e-7);
    assert_near((double)c->pose[3], 3.168359405609479, 1e-6);
    assert_near((double)c->pose[9], -0.995442519072023, 1e-7);
    orr_camera_list_free(&list);
}

// Cameras on a sphere that look at its middle. Their sizes are the photos', where the file does not have
// them.
static void check_capture_on_a_sphere(const char *path, int count, int size, double focal, double radius)
{
    orr_camera_list list;
    assert_ok(orr_camera_file_load(path, size, size, &list, &error));
    assert_int_equal(list.count, count);
    assert_false(list.distorted);
    assert_near((double)list.cameras[0].focal[0], focal, 1e-4);
    for (int i = 0; i < list.count; i++) {
        const float *m = list.cameras[i].pose;
        double distance = sqrt((double)(m[3] * m[3] + m[7] * m[7] + m[11] * m[11]));
        assert_near(distance, radius, 1e-4);
        for (int k = 0; k < 3; k++) {
            assert_near((double)(m[4 * k + 3] + m[4 * k + 2] * (float)distance), 0.0, 1e-4);
        }
    }
    orr_camera_list_free(&list);
    assert_ok(orr_camera_file_load(path, 0, 0, &list, &error)); // the photos are there, and have a size
    assert_true(list.cameras[count - 1].width == size && list.cameras[count - 1].height == size);
    orr_camera_list_free(&list);
}

static void captures_with_an_angle_of_view_are_read(void **state)
{
    (void)state;
    check_capture_on_a_sphere(made_asset("capture/transforms.json"), 24, 128, 137.25, 3.2);
    const char *lego = shared_data("nerf/lego/transforms_train.json");
    if (lego) {
        // 0.5 x 800 / tan(0.6911112070083618 / 2), the focal length every paper quotes for this set
        check_capture_on_a_sphere(lego, 100, 800, 1111.1110311937682, 4.031128);
    }
}

static void write_text(const char *name, const char *text)
{
    assert_ok(orr_file_write(scratch_path(name), text, strlen(text), &error));
}

static void sizes_that_are_not_said_are_those_of_the_photos(void **state)
{
    (void)state;
    const uint8_t pixels[4 * 6 * 4] = {0};
    assert_ok(orr_png_save(scratch_path("there.png"), pixels, 6, 4, &error));
#define POSE "\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,0]]"
    write_text("sizes.json", "{\"camera_angle_x\": 1, \"frames\": [{\"file_path\": \"./there\", " POSE "},"
                             "{\"file_path\": \"absent\", " POSE "},"
                             "{\"file_path\": \"there.png\", \"w\": 9, \"h\": 8, " POSE "}, {" POSE "}]}");
    orr_camera_list list;
    assert_ok(orr_camera_file_load(scratch_path("sizes.json"), 64, 48, &list, &error));
    assert_true(list.cameras[0].width == 6 && list.cameras[0].height == 4);
    assert_near((double)list.cameras[0].focal[0], 3.0 / tan(0.5), 1e-5);
    assert_true(list.cameras[1].width == 64 && list.cameras[1].height == 48);
    assert_true(list.cameras[2].width == 9 && list.cameras[2].height == 8);
    assert_true(list.cameras[3].width == 64 && list.cameras[3].height == 48);
    orr_camera_list_free(&list);
    // values in pixels mean something then
    write_text("sizes.json", "{\"fl_x\": 5, \"frames\": [{\"file_path\": \"there\", " POSE "}]}");
    assert_ok(orr_camera_file_load(scratch_path("sizes.json"), 64, 48, &list, &error));
    assert_true(list.cameras[0].width == 6 && list.cameras[0].focal[0] == 5.0f);
    orr_camera_list_free(&list);
#undef POSE
}

static void a_colmap_model_has_cameras_too(void **state)
{
    (void)state;
    const char *folder = scratch_path("colmap");
    char path[512];
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/images", folder);
    mkdir(path, 0777);
    write_text("colmap/cameras.txt", "1 RADIAL 640 480 500 320 240 0.1 0.05\n");
    // half a turn about x: the camera looks along -z, and stands at (1, -2, -3)
    write_text("colmap/images.txt", "2 0 1 0 0 -1 -2 -3 1 b.png\n\n1 1 0 0 0 0 0 0 1 a.png\n\n");
    orr_camera_list list;
    assert_ok(orr_camera_file_load(folder, 1, 1, &list, &error));
    assert_int_equal(list.count, 2); // by name
    assert_true(list.distorted);
    assert_true(list.cameras[1].width == 640 && list.cameras[1].height == 480 &&
                list.cameras[1].focal[1] == 500.0f);
    const float wanted[12] = {1, 0, 0, 1, 0, -1, 0, -2, 0, 0, -1, -3};
    for (int i = 0; i < 12; i++) {
        assert_near((double)list.cameras[1].pose[i], (double)wanted[i], 1e-6);
        assert_near((double)list.cameras[0].pose[i], i % 5 == 0 ? 1.0 : 0.0, 1e-6);
    }
    orr_camera_list_free(&list);
    rmdir(path);
    unlink(scratch_path("colmap/cameras.txt"));
    unlink(scratch_path("colmap/images.txt"));
    rmdir(folder);
}

static void resizing_keeps_the_vertical_field_of_view(void **state)
{
    (void)state;
    orr_camera camera = {.width = 640, .height = 480, .focal = {500, 510}, .centre = {330, 230}};
    orr_camera wide = orr_camera_resize(&camera, 1920, 960);
    assert_int_equal(wide.width, 1920);
    assert_int_equal(wide.height, 960);
    assert_near((double)wide.focal[0], 1000.0, 0.0);
    assert_near((double)wide.focal[1], 1020.0, 0.0);
    assert_near((double)wide.centre[0], 960.0 + 20.0, 0.0); // 10 px right of the middle, twice as large
    assert_near((double)wide.centre[1], 460.0, 0.0);
    camera.centre[0] = camera.centre[1] = 0.0f;
    assert_near((double)orr_camera_resize(&camera, 64, 48).centre[0], 0.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opengl_axes_become_right_down_forward),
        cmocka_unit_test(frames_speak_over_the_file),
        cmocka_unit_test(distortion_goes_out_as_it_came_in),
        cmocka_unit_test(fisheyes_come_back_from_a_file),
        cmocka_unit_test(rotations_to_a_few_digits_are_straightened),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(cameras_come_back_as_they_were_saved),
        cmocka_unit_test(cameras_that_differ_in_one_number_stay_different),
        cmocka_unit_test(names_go_out_as_they_came_in),
        cmocka_unit_test(cameras_a_file_cannot_hold_are_refused),
        cmocka_unit_test(a_capture_through_a_lens_is_read),
        cmocka_unit_test(the_fox_capture_is_read),
        cmocka_unit_test(captures_with_an_angle_of_view_are_read),
        cmocka_unit_test(sizes_that_are_not_said_are_those_of_the_photos),
        cmocka_unit_test(a_colmap_model_has_cameras_too),
        cmocka_unit_test(resizing_keeps_the_vertical_field_of_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
