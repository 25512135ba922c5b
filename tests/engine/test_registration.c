// Tests of engine/registration: photos and videos become captures. What COLMAP does, a script of its name
// does with a recorded model; the last test runs COLMAP itself where it is installed.
#define _GNU_SOURCE
#define ORR_SCALAR
#include "engine/core/file.h"
#include "engine/core/folder.h"
#include "engine/core/memory.h"
#include "engine/image/exif.h"
#include "engine/image/image.h"
#include "engine/image/video_reader.h"
#include "engine/registration/frame_pick.h"
#include "engine/registration/registration.h"
#include "engine/registration/undistort.h"
#include "neural/capture/capture.h"
#include "orr_features.h"
#include "render/training/splat_points.h"
#include "tests/support/support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PHOTOS = 6, POINTS = 5, WIDTH = 64, HEIGHT = 48 };

static orr_engine *engine;
static char path_before[4096];

static int open_engine(void **state)
{
    (void)state;
    const orr_engine_desc desc = {.threads = 2, .device = ORR_DEVICE_CPU};
    snprintf(path_before, sizeof path_before, "%s", getenv("PATH"));
    return (int)orr_engine_create(&desc, &engine, NULL);
}

static int close_engine(void **state)
{
    (void)state;
    orr_engine_destroy(engine);
    return 0;
}

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g: expected %.9g within %g", value, expected, tolerance);
    }
}

// ---- cameras that are known, in a world that is turned, scaled and moved ----

// A ring of cameras about (1, 2, 3), level, at two heights; up is the direction (0.6, 0, 0.8).
static orr_camera known_camera(int i)
{
    const float side[3] = {0.8f, 0.0f, -0.6f}, ahead[3] = {0.0f, 1.0f, 0.0f}, up[3] = {0.6f, 0.0f, 0.8f};
    float angle = 0.9f * (float)i, rise = i % 2 ? 0.8f : 0.2f, eye[3], target[3] = {1.0f, 2.0f, 3.0f};
    for (int k = 0; k < 3; k++) {
        eye[k] = target[k] + 2.5f * (cosf(angle) * side[k] + sinf(angle) * ahead[k] + rise * up[k]);
    }
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, WIDTH, HEIGHT);
    return camera;
}

typedef struct writer {
    uint8_t bytes[1 << 14];
    size_t size;
} writer;

static void put(writer *w, const void *data, size_t size)
{
    assert_true(w->size + size <= sizeof w->bytes);
    memcpy(w->bytes + w->size, data, size);
    w->size += size;
}

static void save(const writer *w, const char *name)
{
    assert_ok(orr_file_write(scratch_path(name), w->bytes, w->size, &error));
}

static void quaternion_of(const float pose[12], double q[4]) // world to camera
{
    double r[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            r[i][j] = (double)pose[4 * j + i];
        }
    }
    double best = 0.0; // of the four ways to compute it, the one that divides by the most
    for (int n = 0; n < 4; n++) {
        double d[4] = {1 + r[0][0] + r[1][1] + r[2][2], 1 + r[0][0] - r[1][1] - r[2][2],
                       1 - r[0][0] + r[1][1] - r[2][2], 1 - r[0][0] - r[1][1] + r[2][2]};
        double s = 2.0 * sqrt(fmax(d[n], 1e-12));
        const double ways[4][4] = {
            {s / 4, (r[2][1] - r[1][2]) / s, (r[0][2] - r[2][0]) / s, (r[1][0] - r[0][1]) / s},
            {(r[2][1] - r[1][2]) / s, s / 4, (r[0][1] + r[1][0]) / s, (r[0][2] + r[2][0]) / s},
            {(r[0][2] - r[2][0]) / s, (r[0][1] + r[1][0]) / s, s / 4, (r[1][2] + r[2][1]) / s},
            {(r[1][0] - r[0][1]) / s, (r[0][2] + r[2][0]) / s, (r[1][2] + r[2][1]) / s, s / 4}};
        if (d[n] > best) {
            best = d[n];
            memcpy(q, ways[n], sizeof ways[n]);
        }
    }
}

// COLMAP's files of the known cameras, without the last, and of some points.
static void write_model(const char *folder)
{
    char name[128];
    writer cameras = {.size = 0}, images = {.size = 0}, points = {.size = 0};
    const uint64_t one = 1, size[2] = {WIDTH, HEIGHT}, count = PHOTOS - 1, none = 0, point_count = POINTS;
    const uint32_t id = 1;
    const int32_t opencv = 4;
    const orr_camera first = known_camera(0);
    const double lens[8] = {
        (double)first.focal[0], (double)first.focal[1], 0.5 * WIDTH, 0.5 * HEIGHT, -0.1, 0.02, 0.001, -0.002};
    put(&cameras, &one, 8);
    put(&cameras, &id, 4);
    put(&cameras, &opencv, 4);
    put(&cameras, size, 16);
    put(&cameras, lens, sizeof lens);
    put(&images, &count, 8);
    for (uint32_t i = 0; i < PHOTOS - 1; i++) {
        const orr_camera camera = known_camera((int)i);
        double q[4], t[3];
        quaternion_of(camera.pose, q);
        for (int k = 0; k < 3; k++) {
            t[k] = 0.0;
            for (int j = 0; j < 3; j++) {
                t[k] -= (double)camera.pose[4 * j + k] * (double)camera.pose[4 * j + 3];
            }
        }
        put(&images, &i, 4);
        put(&images, q, sizeof q);
        put(&images, t, sizeof t);
        put(&images, &id, 4);
        snprintf(name, sizeof name, "p%u.png", i);
        put(&images, name, strlen(name) + 1);
        put(&images, &none, 8);
    }
    put(&points, &point_count, 8);
    for (uint64_t i = 0; i < POINTS; i++) {
        const double position[3] = {1.0, 2.0, 3.0 + 0.1 * (double)i}, off = 0.25 * (double)i;
        const uint8_t colour[3] = {(uint8_t)(40 * i), 100, 200};
        const uint64_t track = 2;
        // the last point's second photo has no pose
        const uint32_t pairs[4] = {(uint32_t)i % 3, 0, (uint32_t)i + 1, 0};
        put(&points, &i, 8);
        put(&points, position, sizeof position);
        put(&points, colour, 3);
        put(&points, &off, 8);
        put(&points, &track, 8);
        put(&points, pairs, sizeof pairs);
    }
    assert_ok(orr_folder_make(scratch_path(folder), &error));
    snprintf(name, sizeof name, "%s/cameras.bin", folder);
    save(&cameras, name);
    snprintf(name, sizeof name, "%s/images.bin", folder);
    save(&images, name);
    snprintf(name, sizeof name, "%s/points3D.bin", folder);
    save(&points, name);
}

// Photos whose colours say where their pixels are.
static void write_photos(const char *folder)
{
    static uint8_t rgba[4 * WIDTH * HEIGHT];
    char name[128];
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        rgba[4 * i] = (uint8_t)(3 * (i % WIDTH) + 20);
        rgba[4 * i + 1] = (uint8_t)(3 * (i / WIDTH) + 20);
        rgba[4 * i + 2] = 90;
        rgba[4 * i + 3] = 255;
    }
    assert_ok(orr_folder_make(scratch_path(folder), &error));
    for (int i = 0; i < PHOTOS; i++) {
        snprintf(name, sizeof name, "%s/p%d.png", folder, i);
        assert_ok(orr_png_save(scratch_path(name), rgba, WIDTH, HEIGHT, &error));
    }
    snprintf(name, sizeof name, "%s/broken.jpg", folder);
    written(name, "no picture");
    snprintf(name, sizeof name, "%s/notes.txt", folder);
    written(name, "no photo");
    // a mask in a folder, and one beside a photo that says the opposite
    snprintf(name, sizeof name, "%s/masks", folder);
    assert_ok(orr_folder_make(scratch_path(name), &error));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        memset(rgba + 4 * i, i % WIDTH < WIDTH / 2 ? 0 : 255, 3);
    }
    snprintf(name, sizeof name, "%s/masks/p1.png", folder);
    assert_ok(orr_png_save(scratch_path(name), rgba, WIDTH, HEIGHT, &error));
    snprintf(name, sizeof name, "%s/dynamic_mask_p2.png", folder);
    assert_ok(orr_png_save(scratch_path(name), rgba, WIDTH, HEIGHT, &error));
}

// A program of COLMAP's name that prints what COLMAP prints, and copies the recorded model. It notes what it
// is asked for; with a file "hang" beside it, the mapper does not end.
static void write_colmap(void)
{
    static const char script[] =
        "#!/bin/sh\n"
        "here=$(dirname \"$0\")\n"
        "echo \"$@\" >> \"$here/asked\"\n"
        "case $1 in\n"
        "feature_extractor) for i in 1 2 3 4 5 6; do echo \"Processed file [$i/6]\"; done ;;\n"
        "exhaustive_matcher) echo 'Matching block [1/1, 1/1] in 0.1s' ;;\n"
        "sequential_matcher) echo 'Matching image [6/6] in 0.1s' ;;\n"
        "mapper)\n"
        "    echo $$ > \"$here/process\"\n"
        "    echo 'Registering image #3 (4)'\n"
        "    if [ -e \"$here/hang\" ]; then exec sleep 600; fi\n"
        "    if [ -e \"$here/fail\" ]; then echo 'ERROR: failed to create sparse model'; exit 1; fi\n"
        "    while [ $# -gt 1 ]; do [ \"$1\" = --output_path ] && out=$2; shift; done\n"
        "    cp -r \"$here/model\" \"$out/0\" ;;\n"
        "esac\n";
    char path[8192];
    assert_ok(orr_folder_make(scratch_path("bin"), &error));
    assert_int_equal(chmod(written("bin/colmap", script), 0755), 0);
    write_model("bin/model");
    snprintf(path, sizeof path, "%s:%s", scratch_path("bin"), path_before);
    setenv("PATH", path, 1);
}

static int prepare(void **state)
{
    (void)state;
    write_colmap();
    write_photos("photos");
    return 0;
}

static int restore_path(void **state)
{
    (void)state;
    unlink(scratch_path("bin/hang"));
    unlink(scratch_path("bin/fail"));
    setenv("PATH", path_before, 1);
    return 0;
}

static char source[256], output[256]; // what scratch_path returns is short-lived

static orr_registration_desc from_to(const char *from, const char *to)
{
    snprintf(source, sizeof source, "%s", scratch_path(from));
    snprintf(output, sizeof output, "%s", scratch_path(to));
    return (orr_registration_desc){.source = source, .output = output};
}

static orr_registration_info registered(const orr_registration_desc *desc, orr_registration **keep)
{
    orr_registration *registration;
    orr_registration_info info;
    assert_ok(orr_registration_create(engine, desc, &registration, &error));
    assert_ok(orr_registration_describe(registration, &info, &error));
    if (keep) {
        *keep = registration;
    } else {
        orr_registration_destroy(registration);
    }
    return info;
}

static orr_camera_list cameras_of(const char *capture)
{
    orr_camera_list list;
    assert_ok(orr_camera_file_load(scratch_path(capture), 0, 0, &list, &error));
    return list;
}

static double distance(const float a[12], const float b[12])
{
    return hypot(hypot((double)(a[3] - b[3]), (double)(a[7] - b[7])), (double)(a[11] - b[11]));
}

static double turn_between(const float a[12], const float b[12]) // degrees
{
    double trace = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            trace += (double)a[4 * i + j] * (double)b[4 * i + j];
        }
    }
    return acos(fmin(1.0, 0.5 * (trace - 1.0))) * 180.0 / 3.14159265358979;
}

// The rotation from one camera's axes to another's, b' a, of both lists are the same.
static void relative_rotation(const float a[12], const float b[12], float out[12])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[4 * i + j] = 0.0f;
            for (int k = 0; k < 3; k++) {
                out[4 * i + j] += b[4 * k + i] * a[4 * k + j];
            }
        }
    }
}

// ---- the tests ----

// The COLMAP model of a capture says what its transforms.json says, and both, which photo sees which point.
static void assert_model_is_the_capture(const char *capture_name)
{
    char model_name[128];
    orr_jobs *jobs;
    orr_capture *captures[2];
    orr_splat_points points[2];
    snprintf(model_name, sizeof model_name, "%s/sparse/0", capture_name);
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    assert_ok(orr_capture_load(scratch_path(capture_name), jobs, (orr_log){0}, &captures[0], &error));
    assert_ok(orr_capture_load(scratch_path(model_name), jobs, (orr_log){0}, &captures[1], &error));
    assert_int_equal(captures[0]->count, PHOTOS - 1);
    assert_int_equal(captures[1]->count, PHOTOS - 1);
    for (int i = 0; i < PHOTOS - 1; i++) {
        const orr_capture_image *a = &captures[0]->images[i], *b = &captures[1]->images[i];
        assert_int_equal(a->id, b->id);
        assert_int_equal(a->id, i);
        for (int k = 0; k < 12; k++) {
            assert_close((double)a->pose[k], (double)b->pose[k], 4e-6); // through a quaternion in double
        }
        assert_memory_equal(a->focal, b->focal, sizeof a->focal);
        assert_memory_equal(a->centre, b->centre, sizeof a->centre);
        assert_memory_equal(a->radial, b->radial, sizeof a->radial);
        assert_memory_equal(a->tangential, b->tangential, sizeof a->tangential);
    }
    for (int c = 0; c < 2; c++) {
        assert_ok(orr_splat_points_load(captures[c], (orr_log){0}, &points[c], &error));
        assert_int_equal(points[c].count, POINTS);
        assert_non_null(points[c].first);
        assert_int_equal(points[c].first[PHOTOS - 1], 2 * POINTS - 1);
    }
    // point i is seen by photos i % 3 and i + 1
    static const uint32_t seen[2 * POINTS - 1] = {0, 3, 0, 1, 4, 1, 2, 2, 3};
    static const int64_t first[PHOTOS] = {0, 2, 5, 7, 8, 9};
    assert_memory_equal(points[0].first, first, sizeof first);
    assert_memory_equal(points[1].first, first, sizeof first);
    assert_memory_equal(points[0].seen, seen, sizeof seen);
    assert_memory_equal(points[1].seen, seen, sizeof seen);
    assert_memory_equal(points[0].position, points[1].position, 3 * POINTS * sizeof(float));
    for (int c = 0; c < 2; c++) {
        orr_splat_points_free(&points[c]);
        orr_capture_destroy(captures[c]);
    }
    orr_jobs_destroy(jobs);
}

static void photos_become_a_capture(void **state)
{
    (void)state;
    orr_registration *registration;
    orr_registration_desc desc = from_to("photos", "made");
    const orr_registration_info info = registered(&desc, &registration);
    assert_int_equal(info.photos, PHOTOS + 1);
    assert_int_equal(info.registered, PHOTOS - 1);
    assert_int_equal(info.masks, 2);
    assert_int_equal(info.points, POINTS);
    assert_close(info.reprojection_error, 0.5, 1e-12);
    assert_close(info.photos_per_point, 2.0, 1e-12);
    assert_int_equal(info.up, ORR_UP_CAMERAS);
    assert_false(info.metric);
    assert_string_equal(orr_registration_left_out(registration, 0), "unreadable: broken.jpg");
    assert_string_equal(orr_registration_left_out(registration, 1), "p5.png");
    assert_null(orr_registration_left_out(registration, 2));
    orr_registration_destroy(registration);

    orr_camera_list list = cameras_of("made");
    assert_int_equal(list.count, PHOTOS - 1);
    double ratio = 0.0, mean = 0.0;
    for (int i = 0; i < list.count; i++) {
        const orr_camera known = known_camera(i), other = known_camera(0);
        float here[12], there[12];
        mean += hypot(hypot((double)list.cameras[i].pose[3], (double)list.cameras[i].pose[7]),
                      (double)list.cameras[i].pose[11]) /
                list.count;
        assert_close((double)list.cameras[i].pose[8], 0.0, 1e-6); // level: right is horizontal
        assert_true(list.cameras[i].pose[9] < 0.0f);              // and down is down
        if (i > 0) {                                              // the same up to a similarity
            double scale =
                distance(list.cameras[i].pose, list.cameras[0].pose) / distance(known.pose, other.pose);
            ratio = i == 1 ? scale : ratio;
            assert_close(scale, ratio, 1e-5 * ratio);
            relative_rotation(list.cameras[i].pose, list.cameras[0].pose, here);
            relative_rotation(known.pose, other.pose, there);
            assert_true(turn_between(here, there) < 0.05); // acos of a float's rounding
        }
    }
    assert_close(mean, 4.0, 1e-5);
    orr_camera_list_free(&list);

    orr_splats *splats;
    assert_ok(orr_splats_load(scratch_path("made/points.ply"), &splats, &error));
    orr_splats_view points = orr_splats_data(splats);
    assert_int_equal(points.count, POINTS);
    assert_close((double)hypotf(points.position[0], points.position[1]), 0.0,
                 0.01); // the point all look at, drawn a little to the cameras
    assert_close((double)(points.position[5] - points.position[2]), 0.1 * ratio * 0.8, 1e-5);
    orr_splats_destroy(splats);
    orr_bytes text;
    assert_ok(orr_file_read(scratch_path("made/transforms.json"), &text, &error));
    assert_non_null(strstr((const char *)text.data, "\"ply_file_path\":\t\"points.ply\""));
    orr_free(text.data);

    orr_jobs *jobs;
    orr_capture *capture;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    assert_ok(orr_capture_load(scratch_path("made"), jobs, (orr_log){0}, &capture, &error));
    assert_int_equal(capture->count, PHOTOS - 1);
    assert_int_equal(capture->aabb_scale, 16);
    assert_null(capture->images[0].mask);
    assert_int_equal(capture->images[1].mask[0], 0); // black is left out
    assert_int_equal(capture->images[1].mask[WIDTH - 1], 255);
    assert_int_equal(capture->images[2].mask[0], 255); // of dynamic_mask_ what is not black
    assert_int_equal(capture->images[2].mask[WIDTH - 1], 0);
    assert_close((double)capture->images[0].radial[0], -0.1, 1e-7); // the lens is kept
    orr_capture_destroy(capture);
    orr_jobs_destroy(jobs);

    orr_image8 picture;
    int dark = 0;
    assert_ok(orr_image8_load(scratch_path("made/cameras.png"), &picture, &error));
    for (int64_t i = 0; i < (int64_t)picture.width * picture.height; i++) {
        dark += picture.rgba[4 * i + 1] < 192;
    }
    assert_true(dark > 2000); // the edges of five cameras, anti-aliased
    orr_image8_free(&picture);
    assert_model_is_the_capture("made");
    orr_names left;
    assert_ok(orr_folder_list(scratch_path("made"), &left, &error));
    assert_int_equal(left.count, 3);
    orr_names_free(&left);
}

static void colmap_is_asked_for_what_was_said(void **state)
{
    (void)state;
    unlink(scratch_path("bin/asked"));
    orr_registration_desc desc = from_to("photos", "asked");
    desc.sequential = true;
    desc.features = 777;
    desc.feature_side = 888;
    registered(&desc, NULL);
    orr_bytes asked;
    assert_ok(orr_file_read(scratch_path("bin/asked"), &asked, &error));
    const char *text = (const char *)asked.data;
    assert_non_null(strstr(text, "--SiftExtraction.use_gpu 0"));
    assert_non_null(strstr(text, "--SiftMatching.use_gpu 0"));
    assert_non_null(strstr(text, "--SiftExtraction.max_num_features 777"));
    assert_non_null(strstr(text, "--SiftExtraction.max_image_size 888"));
    assert_non_null(strstr(text, "--ImageReader.single_camera 1"));
    assert_non_null(strstr(text, "--ImageReader.mask_path"));
    assert_non_null(strstr(text, "sequential_matcher"));
    orr_free(asked.data);
}

static void a_distance_makes_metres(void **state)
{
    (void)state;
    orr_registration_desc desc = from_to("photos", "metric");
    desc.scale_from = "p1.png";
    desc.scale_to = "p3.png";
    desc.scale_metres = 1.5;
    assert_true(registered(&desc, NULL).metric);
    orr_camera_list list = cameras_of("metric");
    assert_close(distance(list.cameras[1].pose, list.cameras[3].pose), 1.5, 1e-5);
    orr_camera_list_free(&list);
    orr_bytes text;
    assert_ok(orr_file_read(scratch_path("metric/transforms.json"), &text, &error));
    assert_non_null(strstr((const char *)text.data, "\"unit\":\t\"metre\""));
    orr_free(text.data);
}

static void a_colmap_model_needs_no_colmap(void **state)
{
    (void)state;
    assert_ok(orr_folder_make(scratch_path("model"), &error));
    write_model("model/sparse");
    write_photos("model/images");
    setenv("PATH", "/nowhere", 1);
    orr_registration_desc desc = from_to("model", "from_model");
    desc.undistort = true;
    const orr_registration_info info = registered(&desc, NULL);
    assert_int_equal(info.registered, PHOTOS - 1);
    assert_true(info.undistorted);
    assert_true(info.camera.radial[0] == 0.0f && info.camera.focal[0] == info.camera.focal[1]);
    // a pixel shows what the lens saw in its direction
    orr_image8 photo;
    const orr_camera first = known_camera(0);
    assert_ok(orr_image8_load(scratch_path("from_model/images/p0.png"), &photo, &error));
    for (int i = 0; i < 5; i++) {
        int x = 6 + 13 * i, y = 5 + 9 * i;
        double u = (x + 0.5 - 0.5 * WIDTH) / (double)info.camera.focal[0];
        double v = (y + 0.5 - 0.5 * HEIGHT) / (double)info.camera.focal[1], r2 = u * u + v * v;
        double s = 1.0 - 0.1 * r2 + 0.02 * r2 * r2;
        double at_x =
            (double)first.focal[0] * (u * s + 2 * 0.001 * u * v - 0.002 * (r2 + 2 * u * u)) + 0.5 * WIDTH;
        double at_y =
            (double)first.focal[1] * (v * s + 0.001 * (r2 + 2 * v * v) - 2 * 0.002 * u * v) + 0.5 * HEIGHT;
        const uint8_t *p = photo.rgba + 4 * (y * WIDTH + x);
        assert_close(p[0], 3.0 * (at_x - 0.5) + 20.0, 0.6); // half a byte, and floats
        assert_close(p[1], 3.0 * (at_y - 0.5) + 20.0, 0.6);
    }
    orr_image8_free(&photo);
}

typedef struct stop_at {
    const char *stage;
    int64_t done;
} stop_at;

static bool stop(void *user, const char *stage, int64_t done, int64_t total)
{
    const stop_at *at = user;
    (void)total;
    return strcmp(stage, at->stage) != 0 || done < at->done;
}

static void nothing_is_left_when_it_stops(void **state)
{
    (void)state;
    orr_registration *registration;
    orr_error error = {0};
    stop_at at = {"photos registered", 4};
    written("bin/hang", "");
    assert_ok(orr_folder_make(scratch_path("empty"), &error));
    orr_registration_desc desc = from_to("photos", "empty/stopped");
    desc.progress = stop;
    desc.progress_user = &at;
    assert_int_equal(orr_registration_create(engine, &desc, &registration, &error), ORR_ERROR_INTERRUPTED);
    assert_null(registration);
    assert_true(orr_folder_free(scratch_path("empty"))); // no hidden folder either
    orr_bytes process;
    assert_ok(orr_file_read(scratch_path("bin/process"), &process, &error));
    assert_int_not_equal(kill((pid_t)atoi((const char *)process.data), 0), 0); // the child has ended
    orr_free(process.data);
    unlink(scratch_path("bin/hang"));
    at = (stop_at){"photos written", 0};
    assert_int_equal(orr_registration_create(engine, &desc, &registration, &error), ORR_ERROR_INTERRUPTED);
    assert_true(orr_folder_free(scratch_path("empty")));
}

static void assert_refused(const orr_registration_desc *desc, orr_result expected, const char *says)
{
    orr_registration *registration = (orr_registration *)1;
    orr_error error = {0};
    assert_int_equal(orr_registration_create(engine, desc, &registration, &error), expected);
    assert_null(registration);
    if (!strstr(error.message, says) || strchr(error.message, '\n')) {
        fail_msg("'%s' should say: %s", error.message, says);
    }
}

static void what_cannot_be_is_one_line(void **state)
{
    (void)state;
    orr_registration_desc desc = from_to("photos", "photos");
    assert_refused(&desc, ORR_ERROR_FILE, "is there already");
    desc = from_to("bin/model", "no");
    assert_refused(&desc, ORR_ERROR_FILE, "0 photos that can be read: expected at least 3");
    desc = from_to("photos", "no");
    desc.features = 5;
    assert_refused(&desc, ORR_ERROR_ARGUMENT, "5 features");
    desc = from_to("photos", "no");
    desc.scale_from = "p1.png";
    assert_refused(&desc, ORR_ERROR_ARGUMENT, "two photos and a distance");
    desc.scale_to = "p5.png";
    desc.scale_metres = 1.0;
    assert_refused(&desc, ORR_ERROR_ARGUMENT, "p5.png has no pose");
    desc = from_to("photos", "no");
    desc.masks = "nowhere";
    assert_refused(&desc, ORR_ERROR_FILE, "expected a folder of masks");
    desc = from_to("photos/notes.txt", "no");
#if ORR_HAVE_VIDEO
    assert_refused(&desc, ORR_ERROR_FORMAT, "not a video");
#else
    assert_refused(&desc, ORR_ERROR_UNSUPPORTED, "reads no video");
#endif
    written("bin/fail", "");
    desc = from_to("photos", "no");
    assert_refused(&desc, ORR_ERROR_FORMAT, "COLMAP finds no poses");
    desc = from_to("photos", "no");
    setenv("PATH", "/nowhere", 1);
    assert_refused(&desc, ORR_ERROR_UNSUPPORTED,
                   "colmap: not found on PATH: expected COLMAP (Debian: colmap)");
    assert_false(orr_path_is_folder(scratch_path("no")));
}

static void orientation_is_read_and_turns_up(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        uint8_t jpeg[64] = {0xff, 0xd8, 0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0};
        uint8_t little[26] = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0};
        uint8_t big[26] = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6};
        memcpy(jpeg + 12, order ? big : little, 26);
        assert_int_equal(orr_exif_orientation(jpeg, 38), 6);
        for (size_t size = 0; size < 32; size++) { // cut anywhere before the value
            assert_int_equal(orr_exif_orientation(jpeg, size), 0);
        }
    }
    // cameras that were held upright, at right angles, and upside down, say the same
    orr_photo photos[6] = {0};
    int orientations[6];
    for (int i = 0; i < 6; i++) {
        static const int turns[4] = {1, 6, 3, 8}; // the stored picture's axes, a quarter turn each
        const orr_camera camera = known_camera(i);
        int quarter = i % 4;
        for (int k = 0; k < 3; k++) {
            float right = camera.pose[4 * k], down = camera.pose[4 * k + 1];
            const float rights[4] = {right, -(-down), -right, -down};
            const float downs[4] = {down, -right, -down, right};
            photos[i].pose[4 * k] = rights[quarter];
            photos[i].pose[4 * k + 1] = downs[quarter];
            photos[i].pose[4 * k + 2] = camera.pose[4 * k + 2];
        }
        orientations[i] = turns[quarter];
    }
    const orr_photo_list list = {.photos = photos, .count = 6};
    double up[3], spread;
    orr_up_source how;
    orr_up_of_axes(&list, orientations, up, &how, &spread);
    assert_int_equal(how, ORR_UP_CAMERAS);
    assert_close(up[0], 0.6, 1e-5);
    assert_close(up[2], 0.8, 1e-5);
    assert_close(spread, 0.0, 1e-3);
    orr_up_of_axes(&list, NULL, up, &how, &spread);
    assert_true(spread > 0.2); // without it they do not
}

static void the_sharpest_frames_along_the_way_are_picked(void **state)
{
    (void)state;
    orr_frame_measure frames[200];
    int picked[200];
    for (int i = 0; i < 200; i++) { // the picture moves from frame 100 on; every fifth frame is sharp
        frames[i] = (orr_frame_measure){.sharpness = i % 5 == 2 ? 9.0 : 1.0,
                                        .travel = i < 100 ? 0.0 : (double)(i - 99) / 24.0};
    }
    int count = orr_frames_pick(frames, 200, 30, picked);
    assert_true(count >= 20 && count <= 30);
    int moving = 0;
    for (int i = 0; i < count; i++) {
        assert_true(i == 0 || picked[i] > picked[i - 1]);
        moving += picked[i] >= 100;
    }
    assert_true(moving >= count - 2);
    assert_int_equal(orr_frames_pick(frames, 200, 7, picked), 7);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(picked[i] % 5, 2);
    }
    assert_int_equal(orr_frames_pick(frames, 2, 7, picked), 2);
}

#if ORR_HAVE_VIDEO
// A picture of squares that have slid by `shift` pixels.
static void draw_squares(float *rgba, int width, int height, int shift)
{
    for (int i = 0; i < width * height; i++) {
        int x = i % width + shift, y = i / width;
        float value = (float)((((x / 20) * 7 + (y / 20) * 13) % 11) / 10.0);
        for (int k = 0; k < 3; k++) {
            rgba[4 * i + k] = 0.1f + 0.8f * value;
        }
        rgba[4 * i + 3] = 1.0f;
    }
}

static void frames_of_a_video_become_photos(void **state)
{
    (void)state;
    enum { SIDE = 192, TALL = 144, FRAMES = 60 };
    static float rgba[4 * SIDE * TALL];
    orr_output *video;
    orr_output_desc out = {.path = scratch_path("slide.mp4"), .count = FRAMES};
    assert_ok(orr_output_create(&out, &video, &error));
    for (int i = 0; i < FRAMES; i++) {
        draw_squares(rgba, SIDE, TALL, 4 * i);
        assert_ok(orr_output_put(video, i, rgba, SIDE, TALL, &error));
    }
    assert_ok(orr_output_finish(video, &error));
    orr_output_destroy(video);

    orr_video_reader *reader;
    orr_frame_meter *meter;
    const uint8_t *frame;
    int count = 0;
    orr_frame_measure measure = {0};
    assert_ok(orr_video_reader_open(scratch_path("slide.mp4"), &reader, &error));
    const orr_video_info info = orr_video_reader_info(reader);
    assert_int_equal(info.width, SIDE);
    assert_int_equal(info.height, TALL);
    assert_int_equal(info.frames, FRAMES);
    assert_ok(orr_frame_meter_create(SIDE, TALL, &meter, &error));
    for (;;) {
        assert_ok(orr_video_reader_next(reader, &frame, &error));
        if (!frame) {
            break;
        }
        draw_squares(rgba, SIDE, TALL, 4 * count);
        double off = 0.0;
        for (int i = 0; i < SIDE * TALL; i++) {
            off += fabs(frame[4 * i] - 255.0 * (double)rgba[4 * i]) / (SIDE * TALL);
        }
        assert_true(off < 4.0); // bytes, of a video of good quality
        measure = orr_frame_meter_next(meter, frame);
        count++;
    }
    assert_int_equal(count, FRAMES);
    assert_close(measure.travel, 4.0 * (FRAMES - 1) / SIDE, 0.15); // half a pixel of 96 for each new picture
    orr_frame_meter_destroy(meter);
    orr_video_reader_close(reader);

    // no cameras are known of these frames: the script's model names others, so that all are left out
    orr_registration_desc desc = from_to("slide.mp4", "of_video");
    desc.frames = 12;
    assert_refused(&desc, ORR_ERROR_FILE, "p0.png");
    orr_bytes asked;
    assert_ok(orr_file_read(scratch_path("bin/asked"), &asked, &error));
    assert_non_null(strstr((const char *)asked.data, "sequential_matcher"));
    orr_free(asked.data);
}
#endif

// ---- COLMAP itself ----

enum { REAL = 20 };

static void draw_photos(orr_camera *truth)
{
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    enum { SIDE = 400 };
    float *rgba = orr_alloc(4 * SIDE * SIDE, sizeof *rgba);
    uint8_t *bytes = orr_alloc(4 * SIDE * SIDE, 1);
    assert_ok(orr_folder_make(scratch_path("real"), &error));
    assert_ok(orr_scene_load(engine, made_asset("orrery.spz"), &scene, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    for (int i = 0; i < REAL; i++) { // two arcs, so that the focal length is determined
        float azimuth = 0.16f * (float)(i / 2 - REAL / 4), elevation = i % 2 ? 0.75f : 0.25f;
        const float target[3] = {0.0f, -0.84f, 0.0f}, up[3] = {0.0f, -1.0f, 0.0f};
        const float reach = i % 3 ? 3.2f : 2.5f;
        const float eye[3] = {reach * cosf(elevation) * sinf(azimuth), -0.84f - reach * sinf(elevation),
                              -reach * cosf(elevation) * cosf(azimuth)};
        truth[i] = orr_camera_look_at(eye, target, up, 0.8f, SIDE, SIDE);
        const orr_view view = {.camera = truth[i], .has_background = true, .background = {0.3f, 0.3f, 0.35f}};
        char name[64];
        assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
        assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
        orr_image_quantise(rgba, SIDE * SIDE, bytes);
        snprintf(name, sizeof name, "real/%02d.png", i);
        assert_ok(orr_png_save(scratch_path(name), bytes, SIDE, SIDE, &error));
    }
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    orr_free(rgba);
    orr_free(bytes);
}

static void colmap_finds_the_cameras_of_drawn_photos(void **state)
{
    (void)state;
    orr_camera truth[REAL];
    // by hand: its result varies between runs, and it takes half a minute
    if (!getenv("ORR_TEST_COLMAP") || orr_registration_find_colmap(NULL) != ORR_OK) {
        skip();
    }
    draw_photos(truth);
    orr_registration_desc desc = from_to("real", "real_capture");
    desc.features = 1500;
    const orr_registration_info info = registered(&desc, NULL);
    assert_true(info.registered >= REAL - 2);
    orr_camera_list list = cameras_of("real_capture");
    // after a similarity: distances between cameras in one scale, and rotations between them
    double sum[2] = {0.0, 0.0}, worst = 0.0, turned = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 1; i < list.count; i++) {
            const orr_camera *known = &truth[atoi(orr_path_name(list.names[i]))];
            const orr_camera *other = &truth[atoi(orr_path_name(list.names[0]))];
            double here = distance(list.cameras[i].pose, list.cameras[0].pose);
            double there = distance(known->pose, other->pose);
            float a[12], b[12];
            relative_rotation(list.cameras[i].pose, list.cameras[0].pose, a);
            relative_rotation(known->pose, other->pose, b);
            sum[0] += pass ? 0.0 : here;
            sum[1] += pass ? 0.0 : there;
            worst = pass ? fmax(worst, fabs(here * sum[1] / sum[0] - there) / 3.2) : 0.0;
            turned = fmax(turned, turn_between(a, b));
        }
    }
    print_message("%d of %d photos, %.2f px, focal %.1f of %.1f, %.2f degrees, %.2f %%\n", info.registered,
                  REAL, info.reprojection_error, (double)info.camera.focal[0], (double)truth[0].focal[0],
                  turned, 100.0 * worst);
    assert_true(turned < 1.0); // degrees; measured: see the message
    assert_true(worst < 0.02); // of the distance
    assert_close((double)info.camera.focal[0], (double)truth[0].focal[0], 0.05 * (double)truth[0].focal[0]);
    orr_camera_list_free(&list);
}

// Of a fisheye of 200 degrees, by OpenCV's definition: the pinhole sees no farther than 63 degrees from its
// axis, and shows where its pixels' directions are in the fisheye's picture.
static void fisheyes_are_drawn_anew_as_pinholes(void **state)
{
    (void)state;
    enum { SIDE = 64 };
    static uint8_t picture[4 * SIDE * SIDE], drawn[4 * SIDE * SIDE];
    const orr_photo_lens lens = {.size = {SIDE, SIDE},
                                 .focal = {20.0, 20.0},
                                 .centre = {31.0, 33.0},
                                 .radial = {-0.03, 0.002},
                                 .fisheye = true};
    for (int i = 0; i < SIDE * SIDE; i++) {
        picture[4 * i] = (uint8_t)(4 * (i % SIDE));
        picture[4 * i + 1] = (uint8_t)(4 * (i / SIDE));
        picture[4 * i + 3] = 255;
    }
    double pixel[2];
    orr_photo_project(&lens, (double[]){0.5, -0.2, -0.1}, pixel); // behind the camera
    const double r = hypot(0.5, 0.2), a = atan2(r, -0.1), bent = a - 0.03 * pow(a, 3) + 0.002 * pow(a, 5);
    assert_close(pixel[0], 31.0 + 20.0 * 0.5 / r * bent, 1e-4);
    assert_close(pixel[1], 33.0 - 20.0 * 0.2 / r * bent, 1e-4);
    const orr_photo_lens pinhole = orr_pinhole_within(&lens);
    assert_false(orr_photo_lens_distorted(&pinhole));
    assert_close(0.5 * SIDE / pinhole.focal[0], 2.0, 1e-6);
    orr_undistort(&lens, &pinhole, 4, picture, drawn);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = (i % SIDE + 0.5 - 32.0) / pinhole.focal[0];
        const double y = (i / SIDE + 0.5 - 32.0) / pinhole.focal[1], out = hypot(x, y), angle = atan(out);
        const double share = (angle - 0.03 * pow(angle, 3) + 0.002 * pow(angle, 5)) / out;
        assert_close(drawn[4 * i], 4.0 * (31.0 + 20.0 * x * share - 0.5), 0.6);
        assert_close(drawn[4 * i + 1], 4.0 * (33.0 + 20.0 * y * share - 0.5), 0.6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(photos_become_a_capture, prepare, restore_path),
        cmocka_unit_test_setup_teardown(colmap_is_asked_for_what_was_said, prepare, restore_path),
        cmocka_unit_test_setup_teardown(a_distance_makes_metres, prepare, restore_path),
        cmocka_unit_test_setup_teardown(a_colmap_model_needs_no_colmap, prepare, restore_path),
        cmocka_unit_test_setup_teardown(nothing_is_left_when_it_stops, prepare, restore_path),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_one_line, prepare, restore_path),
        cmocka_unit_test(fisheyes_are_drawn_anew_as_pinholes),
        cmocka_unit_test(orientation_is_read_and_turns_up),
        cmocka_unit_test(the_sharpest_frames_along_the_way_are_picked),
#if ORR_HAVE_VIDEO
        cmocka_unit_test_setup_teardown(frames_of_a_video_become_photos, prepare, restore_path),
#endif
        cmocka_unit_test(colmap_finds_the_cameras_of_drawn_photos),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
