// Tests of neural/capture: transforms.json and COLMAP captures with their photos, and the rays of lenses.
#define _POSIX_C_SOURCE 200809L
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "neural/capture/capture.h"
#include "neural/capture/colmap.h"
#include "neural/capture/fisheye.h"
#include "neural/capture/ray_formula.h"
#include "neural/capture/views.h"
#include "tests/support/scenes/photos.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POSE "\"transform_matrix\": [[1,0,0,5],[0,1,0,6],[0,0,1,7],[0,0,0,1]]"

static orr_jobs *jobs;

static int make_jobs(void **state)
{
    (void)state;
    return (int)orr_jobs_create(2, NULL, NULL, &jobs, NULL);
}

static int free_jobs(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    return 0;
}

// the last warning and how many there were
static char warning[512];
static int warnings;

static void keep_warning(void *user, orr_log_level level, int code, const char *line)
{
    (void)user, (void)code;
    assert_int_equal(level, ORR_LOG_WARNING);
    snprintf(warning, sizeof warning, "%s", line);
    warnings++;
}

static const orr_log log_here = {keep_warning, NULL};

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g: expected %.9g within %g", value, expected, tolerance);
    }
}

static void write_text(const char *name, const char *text)
{
    assert_ok(orr_file_write(scratch_path(name), text, strlen(text), &error));
}

// width x height pixels whose colours encode their positions; alpha 255 but for the first pixel's
static void write_photo(const char *name, int width, int height, uint8_t alpha)
{
    uint8_t pixels[4 * 64];
    assert_true(width * height <= 64);
    for (int i = 0; i < width * height; i++) {
        pixels[4 * i] = (uint8_t)(10 * (i % width));
        pixels[4 * i + 1] = (uint8_t)(10 * (i / width));
        pixels[4 * i + 2] = 77;
        pixels[4 * i + 3] = i == 0 ? alpha : 255;
    }
    assert_ok(orr_png_save(scratch_path(name), pixels, width, height, &error));
}

static orr_capture *loaded(const char *path)
{
    orr_capture *capture;
    warnings = 0;
    assert_ok(orr_capture_load(path, jobs, log_here, &capture, &error));
    return capture;
}

static void assert_refused(const char *path, const char *says)
{
    orr_capture *capture = (orr_capture *)1;
    orr_error error = {0};
    assert_int_not_equal(orr_capture_load(path, jobs, log_here, &capture, &error), ORR_OK);
    assert_null(capture);
    if (!strstr(error.message, says) || strchr(error.message, '\n')) {
        fail_msg("'%s' should say: %s", error.message, says);
    }
}

// a capture of text, then the line it is refused with
static void assert_text_refused(const char *text, const char *says)
{
    write_text("refused.json", text);
    assert_refused(scratch_path("refused.json"), says);
}

static void rays_come_back_to_their_pixels(void **state)
{
    (void)state;
    // fox, and a wide lens with all coefficients
    const photo_lens lenses[] = {
        {1375.52, 1374.49, 554.558, 965.268, 0.0578421, -0.0805099, 0, 0, -0.000980296, 0.00015575, 0},
        {900, 910, 961, 539, -0.12, 0.03, -0.004, 0.0002, 0.001, -0.0007, 0},
        // so strong that eight steps arrive only with the exact derivative
        {500, 510, 400, 300, 0.1, 0.05, 0.2, 0.1, 0.04, -0.03, 0},
        {500, 510, 400, 300, 0.05, 0.0, 0.0, 0.0, -0.06, 0.05, 0},
    };
    for (size_t n = 0; n < sizeof lenses / sizeof lenses[0]; n++) {
        double worst = 0.0, bend = 0.0;
        for (double y = 0.5; y < 2.0 * lenses[n].centre_y; y += 37.0) {
            for (double x = 0.5; x < 2.0 * lenses[n].centre_x; x += 29.0) {
                real3 d = photo_direction(lenses[n], (real2){x, y});
                real2 p = photo_pixel(lenses[n], d);
                worst = fmax(worst, hypot(p.x - x, p.y - y));
                bend = fmax(bend, fabs(lenses[n].focal_x * d.x + lenses[n].centre_x - x));
            }
        }
        assert_true(bend > 3.0); // the lens does something
        assert_true(worst < (n < 2 ? 1e-4 : 1e-9));
    }
    // OpenCV's own formula by hand at one point of the second lens
    const double x = 0.3, y = -0.2, r2 = x * x + y * y;
    double s = 1 + r2 * (-0.12 + r2 * (0.03 + r2 * (-0.004 + r2 * 0.0002)));
    real2 p = photo_pixel(lenses[1], make_real3(x, y, 1.0));
    assert_near(p.x, 900 * (x * s + 2 * 0.001 * x * y - 0.0007 * (r2 + 2 * x * x)) + 961, 1e-10);
    assert_near(p.y, 910 * (y * s + 0.001 * (r2 + 2 * y * y) - 2 * 0.0007 * x * y) + 539, 1e-10);
}

// OpenCV's fisheye by its definition, with the mathematics library's functions.
static void fisheye_by_definition(const double k[4], const double d[3], double point[2])
{
    const double r = hypot(d[0], d[1]), a = atan2(r, d[2]), s = a * a;
    const double bent = a * (1 + s * (k[0] + s * (k[1] + s * (k[2] + s * k[3]))));
    point[0] = r > 0 ? d[0] / r * bent : 0;
    point[1] = r > 0 ? d[1] / r * bent : 0;
}

static void fisheyes_are_as_their_polynomial_and_back(void **state)
{
    (void)state;
    // equidistant; an action camera of 120 degrees; two of over 180 that bend inwards and outwards
    static const float k[][4] = {{0},
                                 {0.035f, 0.01f, -0.014f, 0.003f},
                                 {-0.04f, 0.002f, -0.0008f, 0.00005f},
                                 {0.08f, -0.01f, 0.001f, 0.0f}};
    for (size_t n = 0; n < sizeof k / sizeof k[0]; n++) {
        const double exact[4] = {(double)k[n][0], (double)k[n][1], (double)k[n][2], (double)k[n][3]};
        const photo_lens lens = {300,
                                 310,
                                 400,
                                 380,
                                 exact[0],
                                 exact[1],
                                 exact[2],
                                 exact[3],
                                 0,
                                 0,
                                 (double)orr_fisheye_limit(k[n])};
        double worst = 0.0, off = 0.0;
        assert_true(lens.fisheye_limit > 1.8);
        for (double angle = 0.0; angle < fmin(lens.fisheye_limit - 0.01, 3.1); angle += 0.0123) {
            for (double turn = 0.1; turn < 6.28; turn += 0.7) {
                const double d[3] = {sin(angle) * cos(turn), sin(angle) * sin(turn), cos(angle)};
                double point[2];
                fisheye_by_definition(exact, d, point);
                const real2 pixel = photo_pixel(lens, make_real3(3.7 * d[0], 3.7 * d[1], 3.7 * d[2]));
                off = fmax(off, hypot(pixel.x - (300 * point[0] + 400), pixel.y - (310 * point[1] + 380)));
                const real3 back = photo_direction(lens, pixel);
                worst = fmax(worst, fabs(back.x - d[0]) + fabs(back.y - d[1]) + fabs(back.z - d[2]));
            }
        }
        print_message("    off by %.2g px, back by %.2g\n", off, worst);
        // an angle after its one step is 2.5e-11 off; times 300 px and a slope of the polynomial up to 140
        assert_true(off < (n == 0 ? 1e-8 : 2e-6));
        // sines are 7e-10 off
        assert_true(worst < 1e-8);
    }
    // straight ahead, and as near to it as numbers go
    const photo_lens lens = {300, 310, 400, 380, -0.04, 0, 0, 0, 0, 0, 2.0};
    for (double aside = 0.0; aside<1e-3; aside = aside> 0.0 ? 10.0 * aside : 1e-12) {
        const real2 pixel = photo_pixel(lens, make_real3(aside, 0.0, 1.0));
        assert_near(pixel.x - 400, 300 * aside, 1e-6 * 300 * aside + 1e-12);
        assert_near(photo_direction(lens, pixel).x, aside, 1e-6 * aside + 1e-12);
    }
}

static void a_fisheye_ends_where_its_polynomial_falls(void **state)
{
    (void)state;
    const float falls[4] = {-0.1f}, rises[4] = {0.2f};
    for (int i = 0; i < 4; i++) { // 1 - 0.02 (2 i + 3) a^(2 i + 2) is 0
        float one[4] = {0.0f};
        one[i] = -0.02f;
        assert_near((double)orr_fisheye_limit(one),
                    fmin(pow(1.0 / (0.02 * (2 * i + 3)), 1.0 / (2 * i + 2)), acos(-1.0)), 1e-6);
    }
    assert_near((double)orr_fisheye_limit(falls), sqrt(1.0 / 0.3), 1e-6);
    assert_near((double)orr_fisheye_limit(rises), acos(-1.0), 1e-6);
    const photo_lens lens = {100, 100, 0, 0, -0.1, 0, 0, 0, 0, 0, (double)orr_fisheye_limit(falls)};
    const double edge = 100 * sqrt(1.0 / 0.3) * 2.0 / 3.0; // a (1 - 0.1 a^2)
    double last = 0.0;
    for (double x = 0.0; x < 1000.0; x += 0.37) {
        const real3 d = photo_direction(lens, make_real2(x, 0.0));
        const double angle = atan2(d.x, d.z);
        // a number everywhere; farther out is farther from the axis, and up to pi the pixel comes back
        assert_near(d.x * d.x + d.y * d.y + d.z * d.z, 1.0, 1e-8);
        assert_true(angle >= last - 1e-7);
        last = angle;
        if (angle < 3.0) {
            assert_near(photo_pixel(lens, d).x, x, 1e-5);
        }
        assert_true((x < edge - 2.0 && fisheye_shows(lens, make_real2(x, 0.0))) ||
                    (x > edge && !fisheye_shows(lens, make_real2(x, 0.0))) || fabs(x - edge + 1.0) <= 1.0);
    }
    assert_true(last > 3.1);
}

static void fisheyes_of_transforms_files_are_read_and_masked(void **state)
{
    (void)state;
    write_photo("a.png", 8, 8, 255);
    // nerfstudio's and instant-ngp's words for it; one frame is a pinhole
    write_text("fisheye.json",
               "{\"camera_model\": \"OPENCV_FISHEYE\", \"fl_x\": 2, \"k1\": -0.1, \"k4\": 0, \"frames\": ["
               "{\"file_path\": \"a.png\", " POSE "},"
               "{\"file_path\": \"a.png\", \"camera_model\": \"PINHOLE\", \"k1\": 0, " POSE "},"
               "{\"file_path\": \"a.png\", \"is_fisheye\": true, \"k1\": 0.01, " POSE "}]}");
    orr_capture *capture = loaded(scratch_path("fisheye.json"));
    const orr_capture_image *first = &capture->images[0];
    assert_true(first->fisheye && !capture->images[1].fisheye && capture->images[2].fisheye);
    assert_near((double)first->radial[0], -0.1, 1e-8);
    // up to 2 * 1.217 = 2.43 px from the centre, less one: the middles of the 4 pixels about it, and of none
    // beyond
    assert_non_null(first->mask);
    for (int i = 0; i < 64; i++) {
        const double r = hypot(i % 8 + 0.5 - 4.0, i / 8 + 0.5 - 4.0);
        assert_int_equal(first->mask[i] != 0, r <= 2.0 * sqrt(1.0 / 0.3) * 2.0 / 3.0 - 1.0);
    }
    assert_null(capture->images[1].mask);
    assert_null(capture->images[2].mask); // 180 degrees are 6.3 px from the centre, the corners 5.7
    orr_capture_destroy(capture);
    assert_text_refused("{\"is_fisheye\": true, \"fl_x\": 9, \"p2\": 0.1, \"frames\": []}",
                        "p2: expected 0: a fisheye has k1 to k4 alone");
    assert_text_refused("{\"is_fisheye\": true, \"fl_x\": 0.5, \"k1\": -0.1, \"frames\": [{\"file_path\": "
                        "\"a.png\", " POSE "}]}",
                        "expected a lens that shows pixels of the photo");
}

static void a_capture_brings_pixels_lenses_and_the_unit_map(void **state)
{
    (void)state;
    write_photo("a.png", 8, 6, 255);
    write_photo("b.png", 8, 6, 100);
    write_text("whole.json",
               "{\"fl_x\": 9, \"k1\": 0.1, \"p2\": 0.2, \"k4\": 0.4, \"aabb_scale\": 4, \"scale\": 0.5,"
               "\"offset\": [1, 2, 3], \"frames\": [{\"file_path\": \"./a\", \"sharpness\": 7, " POSE "},"
               "{\"file_path\": \"b.png\", \"fl_x\": 10, \"fl_y\": 11, \"cx\": 3, \"w\": 8, \"h\": 6, " POSE
               "}]}");
    orr_capture *capture = loaded(scratch_path("whole.json"));
    assert_int_equal(warnings, 0);
    assert_int_equal(capture->count, 2);
    const orr_capture_image *a = &capture->images[0], *b = &capture->images[1];
    assert_int_equal(a->channels, 3);
    assert_int_equal(b->channels, 4);
    assert_int_equal(a->pixels[3 * (2 * 8 + 5)], 50);
    assert_int_equal(b->pixels[4 * (2 * 8 + 5) + 1], 20);
    assert_int_equal(b->pixels[3], 100);
    assert_near((double)a->focal[1], 9, 0);
    assert_near((double)a->centre[0], 4, 0);
    assert_near((double)b->focal[1], 11, 0);
    assert_near((double)b->centre[0], 3, 0);
    assert_near((double)b->centre[1], 3, 0);
    assert_near((double)a->radial[0], 0.1, 1e-8);
    assert_near((double)a->radial[3], 0.4, 1e-7);
    assert_near((double)b->tangential[1], 0.2, 1e-7);
    assert_near((double)a->sharpness, 7, 0);
    assert_near((double)b->sharpness, 1, 0);
    assert_int_equal(capture->aabb_scale, 4);
    // position (5, 6, 7) x 0.5 + (1, 2, 3) = (3.5, 5, 6.5), cycled
    const float *m = capture->to_unit, *pose = a->pose;
    const double expected[3] = {5, 6.5, 3.5};
    for (int i = 0; i < 3; i++) {
        const float *row = m + 4 * i;
        assert_near((double)(row[0] * pose[3] + row[1] * pose[7] + row[2] * pose[11] + row[3]), expected[i],
                    1e-6);
    }
    assert_int_equal(orr_capture_bytes(capture), sizeof *capture + 2 * sizeof *a + 48 * 7);
    orr_capture_destroy(capture);
}

// The key aabb fills the unit cube with the longest side of its box, around its middle.
static void a_box_becomes_the_unit_cube(void **state)
{
    (void)state;
    write_photo("boxed.png", 8, 6, 255);
    write_text("boxed.json", "{\"fl_x\": 9, \"aabb\": [[1, -2, 3], [5, 6, 5]], \"frames\": ["
                             "{\"file_path\": \"boxed.png\", " POSE "}]}");
    orr_capture *capture = loaded(scratch_path("boxed.json"));
    // the middle is (3, 2, 4), the longest side 8; axes are cycled
    const double corners[2][3] = {{1, -2, 3}, {5, 6, 5}},
                 expected[2][3] = {{0, 0.375, 0.25}, {1, 0.625, 0.75}};
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < 3; i++) {
            const float *row = capture->to_unit + 4 * i;
            double sum = (double)row[3];
            for (int k = 0; k < 3; k++) {
                sum += (double)row[k] * corners[c][k];
            }
            assert_near(sum, expected[c][i], 1e-6);
        }
    }
    orr_capture_destroy(capture);
}

static void absent_photos_are_skipped_with_one_warning(void **state)
{
    (void)state;
    write_photo("there.png", 4, 4, 255);
    write_text("absent.json", "{\"camera_angle_x\": 1, \"frames\": [{\"file_path\": \"gone1.png\", " POSE "},"
                              "{\"file_path\": \"there\", " POSE "}, {\"file_path\": \"gone2\", " POSE "}]}");
    orr_capture *capture = loaded(scratch_path("absent.json"));
    assert_int_equal(capture->count, 1);
    assert_int_equal(capture->absent, 2);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(warning, "2 of 3 photos are absent, the first is gone1.png"));
    orr_capture_destroy(capture);
}

static void masked_pixels_are_not_learnt(void **state)
{
    (void)state;
    uint8_t pixels[4 * 16];
    memset(pixels, 0, sizeof pixels);
    for (int i = 0; i < 16; i++) {
        pixels[4 * i + 3] = 255;
    }
    memset(pixels + 4 * 5, 255, 4);
    write_photo("masked.png", 4, 4, 255);
    assert_ok(orr_png_save(scratch_path("dynamic_mask_masked.png"), pixels, 4, 4, &error));
    write_text("masked.json",
               "{\"fl_x\": 5, \"frames\": [{\"file_path\": \"masked.png\", " POSE "}, {\"file_path\": "
               "\"masked.png\", \"mask_path\": \"dynamic_mask_masked.png\", " POSE "}]}");
    orr_capture *capture = loaded(scratch_path("masked.json"));
    for (int i = 0; i < 16; i++) { // white is out by instant-ngp's word, black by nerfstudio's
        assert_int_equal(capture->images[0].mask[i] == 0, i == 5);
        assert_int_equal(capture->images[1].mask[i] == 0, i != 5);
    }
    orr_capture_destroy(capture);

    memset(pixels, 255, sizeof pixels);
    assert_ok(orr_png_save(scratch_path("dynamic_mask_masked.png"), pixels, 4, 4, &error));
    assert_refused(scratch_path("masked.json"), "an empty mask");
    assert_ok(orr_png_save(scratch_path("dynamic_mask_masked.png"), pixels, 4, 2, &error));
    assert_refused(scratch_path("masked.json"), "a mask of 4 x 2 pixels: expected 4 x 4");
    remove(scratch_path("dynamic_mask_masked.png"));
}

static void flags_about_stored_colours_are_followed(void **state)
{
    (void)state;
    const uint8_t pixels[16] = {255, 255, 255, 255, 0, 0, 0, 255, 50, 100, 128, 128, 9, 9, 9, 0};
    assert_ok(orr_png_save(scratch_path("flags.png"), pixels, 2, 2, &error));
    write_text("flags.json", "{\"fl_x\": 5, \"white_transparent\": true, \"fix_premult\": true, \"frames\": "
                             "[{\"file_path\": \"flags.png\", " POSE "}]}");
    orr_capture *capture = loaded(scratch_path("flags.json"));
    const uint8_t expected[16] = {255, 255, 255, 0, 0, 0, 0, 255, 100, 199, 255, 128, 9, 9, 9, 0};
    assert_memory_equal(capture->images[0].pixels, expected, 16);
    orr_capture_destroy(capture);
}

static void names_of_windows_are_found(void **state)
{
    (void)state;
    write_photo("windows.png", 4, 3, 255);
    write_text("windows.json",
               "{\"fl_x\": 5, \"frames\": [{\"file_path\": \".\\\\.\\\\windows\", " POSE "}]}");
    orr_capture *capture = loaded(scratch_path("windows.json"));
    assert_int_equal(capture->count, 1);
    assert_int_equal(capture->images[0].height, 3);
    orr_capture_destroy(capture);
}

// A grey JPEG of 4 x 2 pixels with the EXIF orientation 6, as Pillow 11.3 writes it (quality=1,
// optimize=True); its table of quantisation is 64 times 255.
static void write_photo_on_its_side(const char *name)
{
    static const uint8_t head[] = {255, 216, 255, 224, 0,   16,  'J', 'F', 'I', 'F', 0,   1,   1, 0, 0,   1,
                                   0,   1,   0,   0,   255, 225, 0,   34,  'E', 'x', 'i', 'f', 0, 0, 'M', 'M',
                                   0,   42,  0,   0,   0,   8,   0,   1,   1,   18,  0,   3,   0, 0, 0,   1,
                                   0,   6,   0,   0,   0,   0,   0,   0,   255, 219, 0,   67,  0};
    static const uint8_t tail[] = {255, 192, 0,  11,  8,   0, 2, 0, 4, 1, 1, 17, 0, 255, 196, 0,  20, 0,
                                   1,   0,   0,  0,   0,   0, 0, 0, 0, 0, 0, 0,  0, 0,   0,   0,  0,  255,
                                   196, 0,   20, 16,  1,   0, 0, 0, 0, 0, 0, 0,  0, 0,   0,   0,  0,  0,
                                   0,   0,   0,  255, 218, 0, 8, 1, 1, 0, 0, 63, 0, 63,  255, 217};
    uint8_t photo[sizeof head + 64 + sizeof tail];
    memcpy(photo, head, sizeof head);
    memset(photo + sizeof head, 255, 64);
    memcpy(photo + sizeof head + 64, tail, sizeof tail);
    assert_ok(orr_file_write(scratch_path(name), photo, sizeof photo, &error));
}

static void mistakes_are_named(void **state)
{
    (void)state;
    write_photo("ok.png", 4, 4, 255);
    write_text("broken.png", "not a picture");
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"fl_x\": 5, \"frames\": [{" POSE "}]}", "frames[0].file_path: expected the name of an image"},
        {"{\"fl_x\": 5, \"frames\": [{\"file_path\": \"gone\", " POSE "}]}", "none of its 1 photos is there"},
        {"{\"fl_x\": 5, \"frames\": [{\"file_path\": \"ok\", " POSE "}, {\"file_path\": \"broken.png\", " POSE
         "}]}",
         "broken.png: not a picture"},
        {"{\"fl_x\": 5, \"w\": 5, \"h\": 4, \"frames\": [{\"file_path\": \"ok\", " POSE "}]}",
         "ok.png: 4 x 4 pixels: expected 5 x 4"},
        {"{\"frames\": [{\"file_path\": \"ok\", " POSE "}]}", "ok: expected fl_x or camera_angle_x"},
        {"{\"fl_x\": 5, \"frames\": [{\"file_path\": \"ok\", \"transform_matrix\": "
         "[[1,0,0,0],[1,0,0,0],[0,0,1,0]]}]}",
         "frames[0].transform_matrix: expected a rotation"},
        {"{\"fl_x\": 5, \"camera_model\": \"FOV\", \"frames\": []}",
         "camera_model: expected a pinhole camera"},
        {"{\"fl_x\": 5, \"latlong\": true, \"frames\": []}",
         "latlong: expected a pinhole camera or a fisheye"},
        {"{\"camera_model\": \"THIN_PRISM\", \"frames\": []}", "camera_model: expected a pinhole camera"},
        {"{\"ftheta_p0\": 1, \"frames\": []}", "ftheta_p0: expected a pinhole"},
        {"{\"aabb_scale\": 3, \"frames\": []}", "aabb_scale: expected 1, 2, 4"},
        {"{\"aabb\": [[0,0,0],[0,0,0]], \"frames\": []}", "aabb: expected two corners"},
        {"{\"offset\": [1, 2], \"frames\": []}", "offset: expected an array of 3 numbers"},
        {"{\"points3D_path\": 1, \"frames\": []}", "points3D_path: expected a text"},
        {"{\"fl_x\": 5, \"frames\": [{\"file_path\": \"ok\", \"colmap_im_id\": 1.5, " POSE "}]}",
         "frames[0].colmap_im_id: expected a whole number"},
        {"{\"ply_file_path\": 1, \"frames\": []}", "ply_file_path: expected a text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_text_refused(cases[i].text, cases[i].says);
    }
    write_photo_on_its_side("side.jpg");
    assert_text_refused(
        "{\"fl_x\": 5, \"w\": 2, \"h\": 4, \"frames\": [{\"file_path\": \"side.jpg\", " POSE "}]}",
        "side.jpg: 4 x 2 pixels, stored on its side with an EXIF orientation: expected 2 x 4");
    assert_refused("/nonexistent", "/nonexistent: cannot open");
    assert_refused("/dev", "/dev: not a capture: expected transforms.json");
    write_photo("clear.png", 1, 1, 0);
    assert_text_refused("{\"fl_x\": 5, \"frames\": [{\"file_path\": \"clear\", " POSE "}]}",
                        "every photo is fully transparent");
}

static void every_kth_image_is_for_testing(void **state)
{
    (void)state;
    int indices[10];
    assert_int_equal(orr_capture_split(10, 4, indices), 7);
    const int expected[10] = {1, 2, 3, 5, 6, 7, 9, 0, 4, 8};
    assert_memory_equal(indices, expected, sizeof expected);
    assert_int_equal(orr_capture_split(10, 0, indices), 10);
    assert_int_equal(indices[9], 9);
    assert_int_equal(orr_capture_split(3, 1, indices), 0);
}

// ---- COLMAP ----

static const char camera_text[] =
    "# cameras\n7 OPENCV 8 6 10 11 4.5 3.5 0.1 0.2 0.3 0.4\n3 SIMPLE_RADIAL 4 4 5 2 2 -0.5\n";
// a quarter turn about y: the camera looks along -x of the world, from (3, 2, 1)
static const char image_text[] =
    "# images\n9 0.7071067811865476 0 0.7071067811865476 0 -1 -2 3 7 z photo.png\n1 2 3\n"
    "1 1 0 0 0 0 0 4 3 a.png\n\n";

static void put_bytes(orr_bytes *out, const void *data, size_t size)
{
    memcpy(out->data + out->size, data, size);
    out->size += size;
}

// the same model, binary
static orr_colmap_source binary_model(uint8_t *cameras, uint8_t *images)
{
    orr_colmap_source source = {"cameras.bin", "images.bin", {cameras, 0}, {images, 0}, false};
    const struct {
        uint32_t id;
        int32_t model;
        uint64_t size[2];
        double p[8];
        int count;
    } lens[2] = {{7, 4, {8, 6}, {10, 11, 4.5, 3.5, 0.1, 0.2, 0.3, 0.4}, 8},
                 {3, 2, {4, 4}, {5, 2, 2, -0.5}, 4}};
    const uint64_t two = 2;
    put_bytes(&source.cameras, &two, 8);
    for (int i = 0; i < 2; i++) {
        put_bytes(&source.cameras, &lens[i].id, 4);
        put_bytes(&source.cameras, &lens[i].model, 4);
        put_bytes(&source.cameras, lens[i].size, 16);
        put_bytes(&source.cameras, lens[i].p, 8 * (size_t)lens[i].count);
    }
    const struct {
        uint32_t id, camera;
        double qt[7];
        const char *name;
        uint64_t points;
    } image[2] = {{9, 7, {sqrt(0.5), 0, sqrt(0.5), 0, -1, -2, 3}, "z photo.png", 1},
                  {1, 3, {1, 0, 0, 0, 0, 0, 4}, "a.png", 0}};
    const uint8_t point[24] = {0};
    put_bytes(&source.images, &two, 8);
    for (int i = 0; i < 2; i++) {
        put_bytes(&source.images, &image[i].id, 4);
        put_bytes(&source.images, image[i].qt, 56);
        put_bytes(&source.images, &image[i].camera, 4);
        put_bytes(&source.images, image[i].name, strlen(image[i].name) + 1);
        put_bytes(&source.images, &image[i].points, 8);
        put_bytes(&source.images, point, 24 * (size_t)image[i].points);
    }
    return source;
}

static void assert_model(const orr_photo_list *list)
{
    assert_int_equal(list->count, 2);
    const orr_photo *a = &list->photos[0], *z = &list->photos[1]; // by name
    assert_string_equal(a->file, "a.png");
    assert_string_equal(z->file, "z photo.png");
    assert_near(a->lens.focal[1], 5, 0);
    assert_near(a->lens.radial[0], -0.5, 0);
    assert_near(z->lens.focal[0], 10, 0);
    assert_near(z->lens.focal[1], 11, 0);
    assert_near(z->lens.centre[1], 3.5, 0);
    assert_near(z->lens.radial[1], 0.2, 0);
    assert_near(z->lens.tangential[1], 0.4, 0);
    // R maps (x, y, z) to (z, y, -x); the position is -R' t
    const float expected[12] = {0, 0, -1, 3, 0, 1, 0, 2, 1, 0, 0, 1};
    for (int i = 0; i < 12; i++) {
        assert_near((double)z->pose[i], (double)expected[i], 1e-6);
    }
    // where the two axes come closest is 4 away from each on average, and then 0.33 of that; the photos' up,
    // -y of the world, is the second axis of the cube (the third of the file's, cycled)
    const float *m = list->to_unit;
    assert_true(m[5] < 0.0f);
    assert_near((double)m[4], 0, 1e-6);
    double scale = sqrt((double)(m[4] * m[4] + m[5] * m[5] + m[6] * m[6])), mean = 0.0;
    for (int n = 0; n < 2; n++) {
        double square = 0.0;
        for (int i = 0; i < 3; i++) {
            const float *row = m + 4 * i, *pose = list->photos[n].pose;
            double d = (double)(row[0] * pose[3] + row[1] * pose[7] + row[2] * pose[11] + row[3]) - 0.5;
            square += d * d;
        }
        mean += sqrt(square) / 2.0;
    }
    assert_near(mean, 0.33 * 4.0, 1e-5);
    assert_true(scale > 0.0);
    // rows are orthogonal and equally long
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double dot =
                (double)(m[4 * i] * m[4 * j] + m[4 * i + 1] * m[4 * j + 1] + m[4 * i + 2] * m[4 * j + 2]);
            assert_near(dot, i == j ? scale * scale : 0.0, 1e-6);
        }
    }
    assert_int_equal(list->aabb_scale, 16);
}

static orr_colmap_source text_model(const char *cameras, const char *images)
{
    return (orr_colmap_source){"cameras.txt",
                               "images.txt",
                               {(uint8_t *)(uintptr_t)cameras, strlen(cameras)},
                               {(uint8_t *)(uintptr_t)images, strlen(images)},
                               true};
}

static void colmap_text_and_binary_say_the_same(void **state)
{
    (void)state;
    orr_photo_list list;
    orr_colmap_source source = text_model(camera_text, image_text);
    assert_ok(orr_colmap_parse(&source, &list, &error));
    assert_model(&list);
    orr_photo_list_free(&list);
    uint8_t cameras[1024], images[1024];
    source = binary_model(cameras, images);
    assert_ok(orr_colmap_parse(&source, &list, &error));
    assert_model(&list);
    orr_photo_list_free(&list);
    // cut anywhere: an error, never more
    for (size_t size = 0; size < source.images.size; size++) {
        orr_colmap_source cut = source;
        orr_error error = {0};
        cut.images.size = size;
        assert_int_equal(orr_colmap_parse(&cut, &list, &error), ORR_ERROR_FORMAT);
        assert_non_null(strstr(error.message, "images.bin: expected"));
    }
    for (size_t size = 0; size < source.cameras.size; size++) {
        orr_colmap_source cut = source;
        cut.cameras.size = size;
        assert_int_equal(orr_colmap_parse(&cut, &list, NULL), ORR_ERROR_FORMAT);
    }
}

static void colmap_fisheyes_have_their_parameters(void **state)
{
    (void)state;
    orr_photo_list list;
    orr_colmap_source source = text_model(
        "1 OPENCV_FISHEYE 8 6 10 11 4.5 3.5 0.1 0.2 0.3 0.4\n2 SIMPLE_RADIAL_FISHEYE 4 4 5 2 1 -0.5\n"
        "3 RADIAL_FISHEYE 4 4 5 2 1 -0.5 0.25\n",
        "1 1 0 0 0 0 0 0 1 a.png\n\n2 1 0 0 0 0 0 4 2 b.png\n\n3 1 0 0 0 0 0 5 3 c.png\n\n");
    assert_ok(orr_colmap_parse(&source, &list, &error));
    static const double focal[3][2] = {{10, 11}, {5, 5}, {5, 5}}, centre[3][2] = {{4.5, 3.5}, {2, 1}, {2, 1}};
    static const double radial[3][4] = {{0.1, 0.2, 0.3, 0.4}, {-0.5}, {-0.5, 0.25}};
    assert_int_equal(list.count, 3);
    for (int i = 0; i < 3; i++) {
        const orr_photo_lens *lens = &list.photos[i].lens;
        assert_true(lens->fisheye && orr_photo_lens_distorted(lens));
        assert_memory_equal(lens->focal, focal[i], sizeof focal[i]);
        assert_memory_equal(lens->centre, centre[i], sizeof centre[i]);
        assert_memory_equal(lens->radial, radial[i], sizeof radial[i]);
        assert_true(lens->tangential[0] == 0.0 && lens->tangential[1] == 0.0);
    }
    orr_photo_list_free(&list);
}

static void colmap_mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *cameras, *images, *says;
    } cases[] = {
        {"1 FULL_OPENCV 4 4 1 1 1 1 0 0 0 0 0 0 0 0\n", "",
         "cameras.txt: line 1: expected a lens of SIMPLE_PINHOLE"},
        {"1 THIN_PRISM_FISHEYE 4 4 1 1 1 1 0 0 0 0 0 0 0 0\n", "", "not THIN_PRISM_FISHEYE"},
        {"1 OPENCV_FISHEYE 4 4 1 1 1 1 0 0 0\n", "", "line 1: expected all parameters"},
        {"#\n1 PINHOLE 4 4 1 1 1\n", "", "cameras.txt: line 2: expected all parameters"},
        {"1 PINHOLE 4 4 -1 1 1 1\n", "", "line 1: expected a focal length above 0"},
        {"1 PINHOLE 0 4 1 1 1 1\n", "", "line 1: expected a camera of 1 to 16384"},
        {"1 PINHOLE 4 4 1 1 2 2\n", "", "images.txt: line 0: expected at least one image"},
        {"1 PINHOLE 4 4 1 1 2 2\n", "1 1 0 0 0 0 0 0 2 a.png\n\n",
         "line 1: expected images that name a camera"},
        {"1 PINHOLE 4 4 1 1 2 2\n", "1 0 0 0 0 0 0 0 1 a.png\n\n", "line 1: expected a pose"},
        {"1 PINHOLE 4 4 1 1 2 2\n", "1 1 0 0 0 0 0 0 1\n\n", "line 1: expected the name of an image"},
        {"1 PINHOLE 4 4 1 1 2 2\n", "1 1 0 0 x 0 0 0 1 a.png\n\n", "line 1: expected IMAGE_ID QW"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        orr_photo_list list;
        orr_error error = {0};
        orr_colmap_source source = text_model(cases[i].cameras, cases[i].images);
        assert_int_equal(orr_colmap_parse(&source, &list, &error), ORR_ERROR_FORMAT);
        if (!strstr(error.message, cases[i].says)) {
            fail_msg("'%s' should say: %s", error.message, cases[i].says);
        }
    }
}

static void a_colmap_folder_is_read_with_its_photos(void **state)
{
    (void)state;
    char folder[] = "/tmp/orrery-colmap-XXXXXX", path[64], points[64];
    assert_non_null(mkdtemp(folder));
    snprintf(points, sizeof points, "%s/sparse/0/points3D.txt", folder);
    static const char *const folders[] = {"sparse", "sparse/0", "images"};
    static const char *const files[] = {"sparse/0/cameras.txt", "sparse/0/images.txt", "images/a.png",
                                        "images/z photo.png"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    for (int i = 0; i < 4; i++) {
        const uint8_t pixels[8 * 6 * 4] = {1, 2, 3, 4};
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        if (i < 2) {
            const char *text = i == 0 ? camera_text : image_text;
            assert_ok(orr_file_write(path, text, strlen(text), &error));
        } else {
            assert_ok(orr_png_save(path, pixels, i == 2 ? 4 : 8, i == 2 ? 4 : 6, &error));
        }
    }
    orr_capture *capture = loaded(folder);
    assert_int_equal(capture->count, 2);
    assert_int_equal(capture->images[1].width, 8);
    assert_near((double)capture->images[1].radial[1], 0.2, 1e-7);
    assert_null(capture->points);
    orr_capture_destroy(capture);
    assert_ok(orr_file_write(points, "", 0, &error));
    capture = loaded(folder);
    assert_string_equal(capture->points, points);
    orr_capture_destroy(capture);
    remove(points);
    for (int i = 3; i >= 0; i--) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    for (int i = 2; i >= 0; i--) {
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        rmdir(path);
    }
    rmdir(folder);
}

// ---- whole captures ----

// instant-ngp's position of the first camera: x 0.33 + 0.5, cycled. expected: in the file's world
static void assert_first_camera(const orr_capture *capture, const double expected[3])
{
    const float *m = capture->to_unit, *pose = capture->images[0].pose;
    for (int i = 0; i < 3; i++) {
        double u =
            (double)(m[4 * i] * pose[3] + m[4 * i + 1] * pose[7] + m[4 * i + 2] * pose[11] + m[4 * i + 3]);
        assert_near(u, expected[(i + 1) % 3] * 0.33 + 0.5, 1e-6);
    }
}

// assets/make_capture.c says what is in it
static void a_capture_is_read_without_its_absent_photos(void **state)
{
    (void)state;
    orr_capture *capture = loaded(made_asset("capture_lens"));
    assert_int_equal(capture->count, 24);
    assert_int_equal(capture->absent, 2);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(warning, "2 of 26 photos are absent"));
    assert_int_equal(capture->aabb_scale, 1);
    assert_int_equal(capture->images[0].channels, 3);
    assert_true(capture->images[0].radial[1] == 0.03125f &&
                capture->images[23].tangential[1] == -0.0009765625f);
    assert_true(capture->images[0].width == 128 && capture->images[0].height == 96);
    const uint8_t *corner = capture->images[0].pixels; // of the background: 0.30 0.33 0.38
    assert_true(corner[0] == 77 && corner[1] == 84 && corner[2] == 97);
    assert_first_camera(capture, (double[]){2.8 * cos(0.01875), 0.0, 2.8 * sin(0.01875)});
    orr_capture_destroy(capture);
}

static void a_capture_is_read_with_its_alpha(void **state)
{
    (void)state;
    orr_capture *capture = loaded(made_asset("capture"));
    assert_int_equal(capture->count, 24);
    assert_int_equal(warnings, 0);
    assert_near((double)capture->images[23].focal[0], 137.25, 1e-4);
    int opaque = 0, clear = 0;
    for (int i = 0; i < 24; i++) {
        const orr_capture_image *image = &capture->images[i];
        assert_true(image->channels == 4 && image->width == 128 && image->height == 128);
        assert_int_equal(image->pixels[3], 0); // a corner
        for (int p = 0; p < 128 * 128; p++) {
            opaque += image->pixels[4 * p + 3] > 250;
            clear += image->pixels[4 * p + 3] < 5;
        }
    }
    // the orrery covers a tenth of a photo, its shadow half-covers more
    assert_true(opaque > 24 * 128 * 128 / 20 && opaque < 24 * 128 * 128 / 5);
    assert_true(clear > 24 * 128 * 128 / 2);
    orr_capture_destroy(capture);
}

static void fox_is_read_without_its_absent_photos(void **state)
{
    (void)state;
    const char *path = needed_shared_data("nerf/fox");
    orr_capture *capture = loaded(path);
    assert_int_equal(capture->count, 50);
    assert_int_equal(capture->absent, 17);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(warning, "17 of 67 photos are absent"));
    assert_int_equal(capture->aabb_scale, 4);
    assert_int_equal(capture->images[0].channels, 3);
    assert_near((double)capture->images[0].radial[1], -0.0805099, 1e-8);
    assert_true(capture->images[49].sharpness > 11.0f);
    assert_true(orr_capture_bytes(capture) < (size_t)300 << 20);
    assert_first_camera(capture, (double[]){3.168359405609479, -5.4794898611466945, -0.9791660699008925});
    orr_capture_destroy(capture);
}

static void lego_is_read_with_its_alpha(void **state)
{
    (void)state;
    const char *path = needed_shared_data("nerf/lego");
    orr_capture *capture = loaded(path);
    assert_int_equal(capture->count, 100);
    assert_int_equal(warnings, 0);
    assert_int_equal(capture->images[0].channels, 4);
    assert_int_equal(capture->images[0].pixels[3], 0);
    assert_near((double)capture->images[99].focal[0], 1111.1110311937682, 1e-3);
    assert_true(orr_capture_bytes(capture) < (size_t)300 << 20);
    orr_capture_destroy(capture);
}

// ---- what cameras see ----

static void cameras_that_see_nothing_and_lenses_without_inverse_are_refused(void **state)
{
    (void)state;
    photos p;
    take_photos(&sphere_photos, &p);
    assert_ok(orr_capture_check_views(&p.capture, "spheres", false, log_here, &error));
    assert_int_equal(warnings, 0);
    orr_error why;
    for (int i = 0; i < p.capture.count; i++) { // turned about their own axis downwards
        for (int k = 0; k < 3; k++) {
            p.images[i].pose[4 * k] = -p.images[i].pose[4 * k];
            p.images[i].pose[4 * k + 2] = -p.images[i].pose[4 * k + 2];
        }
        bool last = i + 1 == p.capture.count;
        warnings = 0;
        assert_int_equal(orr_capture_check_views(&p.capture, "spheres", false, log_here, &why),
                         last ? ORR_ERROR_FORMAT : ORR_OK);
        assert_int_equal(warnings, !last);
    }
    assert_non_null(strstr(why.message, "none of its 14 cameras sees the cube"));
    warnings = 0;
    assert_ok(orr_capture_check_views(&p.capture, "spheres", true, log_here, &error));
    assert_int_equal(warnings, 0);
    // the strongest lenses of phones and action cameras pass
    p.images[3].radial[0] = -0.25f;
    p.images[3].radial[1] = 0.08f;
    assert_ok(orr_capture_check_views(&p.capture, "spheres", true, log_here, &error));
    static const float absurd[] = {1e6f, -50.0f, 1e30f};
    for (int i = 0; i < 3; i++) {
        p.images[3].radial[0] = absurd[i];
        assert_int_equal(orr_capture_check_views(&p.capture, "spheres", true, log_here, &why),
                         ORR_ERROR_FORMAT);
        assert_non_null(strstr(why.message, "expected one that is one to one"));
    }
    drop_photos(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_come_back_to_their_pixels),
        cmocka_unit_test(fisheyes_are_as_their_polynomial_and_back),
        cmocka_unit_test(a_fisheye_ends_where_its_polynomial_falls),
        cmocka_unit_test(fisheyes_of_transforms_files_are_read_and_masked),
        cmocka_unit_test(a_capture_brings_pixels_lenses_and_the_unit_map),
        cmocka_unit_test(a_box_becomes_the_unit_cube),
        cmocka_unit_test(absent_photos_are_skipped_with_one_warning),
        cmocka_unit_test(masked_pixels_are_not_learnt),
        cmocka_unit_test(flags_about_stored_colours_are_followed),
        cmocka_unit_test(names_of_windows_are_found),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(cameras_that_see_nothing_and_lenses_without_inverse_are_refused),
        cmocka_unit_test(every_kth_image_is_for_testing),
        cmocka_unit_test(colmap_text_and_binary_say_the_same),
        cmocka_unit_test(colmap_fisheyes_have_their_parameters),
        cmocka_unit_test(colmap_mistakes_are_named),
        cmocka_unit_test(a_colmap_folder_is_read_with_its_photos),
        cmocka_unit_test(a_capture_is_read_without_its_absent_photos),
        cmocka_unit_test(a_capture_is_read_with_its_alpha),
        cmocka_unit_test(fox_is_read_without_its_absent_photos),
        cmocka_unit_test(lego_is_read_with_its_alpha),
    };
    return cmocka_run_group_tests(tests, make_jobs, free_jobs);
}
