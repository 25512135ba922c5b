// Devices as a user of the command line meets them: asked for by option or environment, absent, small,
// broken. One line, and the next rung or an exit code; nothing half-written.
#define _GNU_SOURCE // setenv
#include "assets/clouds.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/device/cuda.h"
#include "engine/image/image.h"
#include "orr_features.h"
#include "tests/support/run_program.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char cloud[256], picture[256], made[256], model[256], walker[512];
static orr_cuda_info gpu;
static bool has_gpu; // CUDA answers

// Every command that uses a device, chosen by the option or by the environment.
typedef struct command {
    const char *arguments[12];
    bool draws; // is on the ladder; others only use CUDA
} command;

static const command commands[] = {
    {{"devices"}, true},
    {{"render", cloud, "--size", "48x32", "-o", made}, true},
    {{"bench", "frame", cloud, "--frames", "1", "--size", "48x32", "--trace", made}, true},
    {{"sim", walker, "--steps", "2", "--record", made}, false},
    {{"train", "image", picture, "--steps", "1", "-o", model}, false},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static run_result run_on(const command *c, const char *device, bool by_option)
{
    const char *arguments[16] = {NULL};
    int count = 0;
    for (; c->arguments[count]; count++) {
        arguments[count] = c->arguments[count];
    }
    if (by_option) {
        arguments[count++] = "--device";
        arguments[count++] = device;
    } else {
        setenv("ORR_DEVICE", device, 1);
    }
    unlink(made);
    unlink(model);
    run_result result = run_orrery(arguments);
    unsetenv("ORR_DEVICE");
    return result;
}

static void assert_nothing_written(void)
{
    assert_int_not_equal(access(made, F_OK), 0);
    assert_int_not_equal(access(model, F_OK), 0);
}

static void a_device_that_is_not_there_is_one_line_and_code_2(void **state)
{
    (void)state;
    static const char *const devices[] = {"cuda", "cuda+vulkan", "cuda+vulkan-copies", "vulkan"};
    setenv("ORR_CUDA_DEVICE", "no such GPU", 1);
    setenv("ORR_VULKAN_DEVICE", "no such GPU", 1);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        for (int k = 0; k < (commands[i].draws ? 4 : 3); k++) {
            for (int by_option = 0; by_option < 2; by_option++) {
                run_result result = run_on(&commands[i], devices[k], by_option);
                assert_refused(&result, 2, k < 3 ? "CUDA" : "Vulkan");
                assert_nothing_written();
            }
        }
    }
    unsetenv("ORR_CUDA_DEVICE");
    unsetenv("ORR_VULKAN_DEVICE");
}

static void a_rung_that_does_not_exist_is_one_line_and_code_2(void **state)
{
    (void)state;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        for (int by_option = 0; by_option < 2; by_option++) {
            run_result result = run_on(&commands[i], "cuda+", by_option);
            assert_refused(&result, 2, "cuda+vulkan-copies");
            assert_nothing_written();
        }
    }
}

#if ORR_HAVE_CUDA
static void the_environment_says_where_robots_move_as_the_option_does(void **state)
{
    (void)state;
    static const command robot = {{"sim", walker, "--steps", "2", "--json"}, false};
    if (!has_gpu) {
        skip();
    }
    for (int by_option = 0; by_option < 2; by_option++) {
        run_result result = run_on(&robot, "cuda", by_option);
        cJSON *json = take_json(&result);
        assert_text_at(json, "device", gpu.name);
        cJSON_Delete(json);
    }
}

// Vulkan is missing beside CUDA: the device, or all drivers.
static void without_vulkan_cuda_goes_on_with_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *line;
    } losses[] = {
        {"ORR_VULKAN_DEVICE", "no such GPU", "no such GPU: going on with cuda"},
        {"VK_ICD_FILENAMES", "/nowhere", ": going on with cuda"}}; // also where Vulkan is not built in
    if (!has_gpu) {
        skip();
    }
    for (size_t i = ORR_HAVE_VULKAN ? 0 : 1; i < sizeof losses / sizeof losses[0]; i++) {
        setenv(losses[i].name, losses[i].value, 1);
        run_result result = run_on(&commands[0], "cuda+vulkan", i % 2);
        unsetenv(losses[i].name);
        assert_int_equal(result.exit_code, 0);
        assert_int_equal(result.error_lines, 1);
        assert_non_null(strstr(result.errors, losses[i].line));
        assert_non_null(strstr(result.output, "CUDA headless"));
        run_result_free(&result);
    }
}
#endif

// Photos become splats on the device, with bilateral grids too.
static void splats_are_trained_on_the_device(void **state)
{
    (void)state;
    char capture[512], trained[512];
    snprintf(capture, sizeof capture, "%s", made_asset("capture"));
    snprintf(trained, sizeof trained, "%s", scratch_path("trained.ply"));
    const command plain = {
        {"train", "splats", capture, "--steps", "2", "--splats", "100", "--evaluation", "0", "-o", trained},
        false};
    const char *grids[] = {"train",    "splats", capture, "--steps",      "1", "--splats",
                           "100",      "-o",     trained, "--evaluation", "0", "--bilateral-grid",
                           "--device", "cuda",   NULL};
    if (!has_gpu) {
        skip();
    }
    for (int by_option = 0; by_option < 2; by_option++) {
        run_result result = run_on(&plain, "cuda", by_option);
        assert_int_equal(result.exit_code, 0);
        assert_non_null(strstr(result.errors, gpu.name));
        assert_null(strstr(result.errors, "trains on the CPU"));
        assert_int_equal(access(trained, F_OK), 0);
        run_result_free(&result);
    }
    run_result result = run_orrery(grids);
    assert_int_equal(result.exit_code, 0);
    assert_non_null(strstr(result.errors, gpu.name));
    assert_null(strstr(result.errors, "trains on the CPU"));
    run_result_free(&result);
}

// A COLMAP model of four photos of 32 x 32 pixels through a lens that distorts, taken side by side, and of
// 16 points that all of them see; returns its folder.
static const char *write_model(void)
{
    enum { SIDE = 32, MODEL_PHOTOS = 4 };
    static char folder[512];
    char images[1024], points[2048], name[600];
    uint8_t pixels[4 * SIDE * SIDE];
    int end = 0;
    for (int i = 0; i < MODEL_PHOTOS; i++) {
        end += snprintf(images + end, sizeof images - (size_t)end, "%d 1 0 0 0 %g 0 0 1 %d.png\n\n", i + 1,
                        0.3 - 0.2 * i, i);
    }
    end = 0;
    for (int i = 0; i < 16; i++) { // at depths of 2 to 5, so that splats at nearer ones are before others
        const double depth = 2.0 + (i % 4 + i / 4) % 4;
        end += snprintf(
            points + end, sizeof points - (size_t)end, "%d %g %g %g 200 %d 90 0.5 1 %d 2 %d 3 %d 4 %d\n",
            i + 1, depth * (0.15 * (i % 4) - 0.2), depth * (0.15 * (i / 4) - 0.2), depth, 15 * i, i, i, i, i);
    }
    snprintf(folder, sizeof folder, "%s", scratch_path("model"));
    assert_int_equal(mkdir(folder, 0777), 0);
    snprintf(name, sizeof name, "%s", scratch_path("model/images"));
    assert_int_equal(mkdir(name, 0777), 0);
    written("model/cameras.txt", "1 OPENCV 32 32 24 24 16 16 -0.3 0.1 0 0\n");
    written("model/images.txt", images);
    written("model/points3D.txt", points);
    for (int i = 0; i < MODEL_PHOTOS; i++) {
        for (int k = 0; k < SIDE * SIDE; k++) { // stripes, displaced from photo to photo
            pixels[4 * k] = (uint8_t)(8 * ((k + 2 * i) % SIDE));
            pixels[4 * k + 1] = (uint8_t)(8 * (k / SIDE));
            pixels[4 * k + 2] = 90;
            pixels[4 * k + 3] = 255;
        }
        snprintf(name, sizeof name, "%s/images/%d.png", folder, i);
        assert_ok(orr_png_save(name, pixels, SIDE, SIDE, &error));
    }
    return folder;
}

// The loss of the first step, which says what is drawn and compared. (Adam's first move is as large for a
// gradient that is rounding alone as for any other: the steps after it are the business of test_cuda_lenses.)
static double loss_on(const char *device, const char *lens, const char *depth)
{
    static char folder[512];
    char trained[512];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s", write_model());
    }
    snprintf(trained, sizeof trained, "%s", scratch_path("through.ply"));
    run_result result = orrery("train", "splats", folder, "-o", trained, "--steps", "1", "--splats", "40",
                               "--sh", "0", "--evaluation", "0", "--no-state", "--lens", lens, "--depth",
                               depth, "--device", device, "--json");
    assert_null(strstr(result.errors, "trains on the CPU"));
    assert_int_equal(strstr(result.errors, gpu.name) != NULL, strcmp(device, "cuda") == 0);
    cJSON *json = take_json(&result);
    const double loss = number_at(json, "loss");
    cJSON_Delete(json);
    return loss;
}

// The device has the lens and the depths that the command asks for, as the CPU has.
static void lenses_and_depths_are_learned_on_the_device(void **state)
{
    (void)state;
    if (!has_gpu) {
        skip();
    }
    const double device = loss_on("cuda", "keep", "100"), cpu = loss_on("cpu", "keep", "100");
    const double undistorted = loss_on("cpu", "undistort", "100"), flat = loss_on("cpu", "keep", "0");
    print_message("loss: %.8g, on the CPU %.8g; undistorted %.8g, without depths %.8g\n", device, cpu,
                  undistorted, flat);
    const double rounding = 1e-5 * cpu; // of sums over 1024 pixels in another order, in single precision
    assert_true(fabs(device - cpu) < rounding);
    assert_true(fabs(undistorted - cpu) > 100.0 * rounding && fabs(flat - cpu) > 100.0 * rounding);
}

#if ORR_CUDA_EMULATED
// Many worlds, the features of a field, and a picture whose time is measured, on a GPU of 1 MiB.
static void a_card_that_is_too_small_is_one_line(void **state)
{
    (void)state;
    static const command large[] = {
        {{"bench", "frame", cloud, "--frames", "1", "--size", "640x480", "--trace", made}, true},
        {{"sim", walker, "--steps", "2", "--worlds", "4096", "--record", made}, false},
        {{"train", "image", picture, "--steps", "1", "-o", model}, false},
    };
    setenv("ORR_EMU_MEMORY", "1", 1);
    for (int i = 0; i < 3; i++) {
        run_result result = run_on(&large[i], "cuda", i % 2);
        assert_int_equal(result.exit_code, 1);
        assert_non_null(strstr(result.errors, "CUDA: out of memory: "));
        assert_int_equal(result.error_lines,
                         strcmp(large[i].arguments[0], "train") == 0 ? 2 : 1); // it says where
        assert_nothing_written();
        run_result_free(&result);
    }
    unsetenv("ORR_EMU_MEMORY");
}

// What a drawing ended with: it went on with the CPU, and the picture is that of the CPU alone.
static void assert_drawn_by_the_cpu(const run_result *result, const char *size)
{
    orr_bytes expected, got;
    const char *of_cpu = scratch_path("cpu.npy");
    assert_non_null(strstr(result->errors, ": going on with cpu"));
    run_result alone = orrery("render", cloud, "--device", "cpu", "--size", size, "-o", of_cpu);
    assert_done(&alone);
    assert_ok(orr_file_read(of_cpu, &expected, &error));
    assert_ok(orr_file_read(made, &got, &error));
    assert_int_equal(got.size, expected.size);
    assert_memory_equal(got.data, expected.data, expected.size);
    orr_free(expected.data);
    orr_free(got.data);
}

static void a_picture_that_does_not_fit_is_drawn_by_the_next_rung(void **state)
{
    (void)state;
    static const command large = {{"render", cloud, "--size", "640x480", "-o", made}, true};
    setenv("ORR_EMU_MEMORY", "1", 1);
    run_result result = run_on(&large, "cuda", true);
    unsetenv("ORR_EMU_MEMORY");
    assert_int_equal(result.exit_code, 0);
    assert_non_null(strstr(result.errors, "CUDA: out of memory: "));
    assert_drawn_by_the_cpu(&result, "640x480");
    run_result_free(&result);
}

// The GPU is lost in the middle: from where a call of CUDA's fails on, the CPU draws.
static void a_call_that_fails_while_drawing_leaves_it_to_the_next_rung(void **state)
{
    (void)state;
    static const int calls[] = {20, 25, 30, 40, 50, 60, 80};
    int fell = 0;
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        char fault[32];
        snprintf(fault, sizeof fault, "%d 719", calls[k]); // cudaErrorLaunchFailure
        setenv("ORR_EMU_FAULT", fault, 1);
        run_result result = run_on(&commands[1], "cuda", true);
        unsetenv("ORR_EMU_FAULT");
        if (result.exit_code != 0) {
            fail_msg("call %d: %s", calls[k], result.errors);
        }
        if (strstr(result.errors, "warning")) {
            fell++;
            assert_drawn_by_the_cpu(&result, "48x32");
        }
        run_result_free(&result);
    }
    print_message("%d of the calls left it to the CPU\n", fell);
    assert_true(fell > 3);
}

// What else is under way ends with one line.
static void a_call_that_fails_is_one_line(void **state)
{
    (void)state;
    static const int calls[] = {1, 3, 10, 20, 40, 80};
    int failed = 0;
    for (int i = 2; i < 4; i++) { // the emulation takes seconds for a training
        for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
            char fault[32];
            snprintf(fault, sizeof fault, "%d 719", calls[k]); // cudaErrorLaunchFailure
            setenv("ORR_EMU_FAULT", fault, 1);
            run_result result = run_on(&commands[i], "cuda", true);
            unsetenv("ORR_EMU_FAULT");
            if (result.exit_code != 0) {
                failed++;
                assert_refused(&result, result.exit_code == 2 ? 2 : 1, "CUDA: ");
                assert_nothing_written();
            } else { // it has not come so far
                run_result_free(&result);
            }
        }
    }
    print_message("%d of the calls ended the program\n", failed);
    assert_true(failed > 6);
}
#endif

static int make_files(void **state)
{
    (void)state;
    snprintf(cloud, sizeof cloud, "%s", scratch_path("ball.ply"));
    snprintf(picture, sizeof picture, "%s", scratch_path("ball.png"));
    snprintf(made, sizeof made, "%s", scratch_path("made.npy"));
    snprintf(model, sizeof model, "%s", scratch_path("model.ingp"));
    snprintf(walker, sizeof walker, "%s", source_path("assets/walker.xml"));
    orr_splats *splats = make_cloud(CLOUD_BALL, 200, 0, 1);
    assert_ok(orr_splats_save(splats, cloud, &error));
    orr_splats_destroy(splats);
    run_result result = orrery("render", cloud, "--device", "cpu", "--size", "48x32", "-o", picture);
    assert_done(&result);
    int count = 0;
    has_gpu = orr_cuda_list(&gpu, 1, &count, NULL) == ORR_OK && count > 0 && !gpu.lacks;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_is_not_there_is_one_line_and_code_2),
        cmocka_unit_test(a_rung_that_does_not_exist_is_one_line_and_code_2),
        cmocka_unit_test(splats_are_trained_on_the_device),
        cmocka_unit_test(lenses_and_depths_are_learned_on_the_device),
#if ORR_HAVE_CUDA
        cmocka_unit_test(the_environment_says_where_robots_move_as_the_option_does),
        cmocka_unit_test(without_vulkan_cuda_goes_on_with_one_line),
#endif
#if ORR_CUDA_EMULATED
        cmocka_unit_test(a_card_that_is_too_small_is_one_line),
        cmocka_unit_test(a_picture_that_does_not_fit_is_drawn_by_the_next_rung),
        cmocka_unit_test(a_call_that_fails_while_drawing_leaves_it_to_the_next_rung),
        cmocka_unit_test(a_call_that_fails_is_one_line),
#endif
    };
    return cmocka_run_group_tests(tests, make_files, NULL);
}
