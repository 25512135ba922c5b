// `orrery train`: what it saves, when, and what it can go on from.
#define _DEFAULT_SOURCE // usleep
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "tests/support/run_program.h"
#include "tests/support/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDTH = 48, HEIGHT = 20, NAMES = 16 };

// Stays valid for some further calls.
static const char *in_folder(const char *name)
{
    static char paths[NAMES][300];
    static int next;
    char *path = paths[next++ % NAMES];
    snprintf(path, sizeof paths[0], "%s", scratch_path(name));
    return path;
}

static void fill_picture(uint8_t *pixels, uint8_t alpha)
{
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        pixels[4 * i] = (uint8_t)(5 * (i % WIDTH));
        pixels[4 * i + 1] = (uint8_t)(12 * (i / WIDTH));
        pixels[4 * i + 2] = 64;
        pixels[4 * i + 3] = alpha;
    }
}

static const char *write_picture(const char *name, uint8_t alpha)
{
    uint8_t pixels[WIDTH * HEIGHT * 4];
    fill_picture(pixels, alpha);
    const char *path = in_folder(name);
    assert_ok(orr_png_save(path, pixels, WIDTH, HEIGHT, &error));
    return path;
}

static const char *write_config(void)
{
    static const char text[] =
        "{\"encoding\": {\"n_levels\": 4, \"log2_hashmap_size\": 14, \"per_level_scale\": 1.6},"
        " \"optimizer\": {\"otype\": \"Adam\", \"learning_rate\": 3e-3}}";
    const char *path = in_folder("small.json");
    assert_ok(orr_file_write(path, text, sizeof text - 1, &error));
    return path;
}

static void train_quickly(const char *picture, const char *model)
{
    run_result run = orrery("train", "image", picture, "-o", model, "--config", write_config(), "--steps",
                            "150", "--batch", "1024", "--seed", "5");
    assert_done(&run);
}

static void the_same_training_writes_the_same_bytes(void **state)
{
    (void)state;
    const char *picture = write_picture("ramps.png", 255), *a = in_folder("a.ingp"), *b = in_folder("b.ingp");
    train_quickly(picture, a);
    train_quickly(picture, b);
    assert_same_files(a, b);
}

static void an_image_renders_to_its_picture(void **state)
{
    (void)state;
    const char *model = in_folder("ramps.ingp"), *out = in_folder("out.png");
    train_quickly(write_picture("ramps.png", 255), model);
    run_result run = orrery("render", model, "-o", out, "--device", "cpu");
    assert_done(&run);
    orr_image8 image;
    assert_ok(orr_image8_load(out, &image, &error));
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    uint8_t expected[WIDTH * HEIGHT * 4];
    fill_picture(expected, 255);
    double sum = 0.0;
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++) {
        sum += (image.rgba[i] - expected[i]) * (image.rgba[i] - expected[i]);
    }
    // turned or moved by a few pixels, ramps are tens of levels off
    assert_true(sum / (WIDTH * HEIGHT * 4) < 5.0 * 5.0);
    orr_image8_free(&image);
}

static void a_resumed_training_takes_its_choices_from_the_model(void **state)
{
    (void)state;
    const char *picture = write_picture("ramps.png", 255), *config = write_config();
    const char *whole = in_folder("whole.ingp"), *half = in_folder("half.ingp"),
               *rest = in_folder("rest.ingp");
    run_result run = orrery("train", "image", picture, "-o", whole, "--config", config, "--steps", "20",
                            "--batch", "1024", "--seed", "5");
    assert_done(&run);
    run = orrery("train", "image", picture, "-o", half, "--config", config, "--steps", "10", "--batch",
                 "1024", "--seed", "5");
    assert_done(&run);
    run = orrery("train", "image", picture, "-o", rest, "--resume", half, "--steps", "10", "--json");
    cJSON *json = take_json(&run);
    assert_true(number_at(json, "samples") == 10.0 * 1024.0);
    cJSON_Delete(json);
    const char *pictures[2] = {in_folder("whole.npy"), in_folder("rest.npy")};
    run = orrery("render", whole, "-o", pictures[0], "--device", "cpu");
    assert_done(&run);
    run = orrery("render", rest, "-o", pictures[1], "--device", "cpu");
    assert_done(&run);
    assert_same_files(pictures[0], pictures[1]);
    run = orrery("train", "image", picture, "-o", rest, "--resume", half, "--config", config);
    assert_refused(&run, 2, "--config with --resume: expected none");
}

static int64_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : -1;
}

static void a_model_can_be_saved_without_the_state_of_its_training(void **state)
{
    (void)state;
    const char *picture = write_picture("ramps.png", 255), *full = in_folder("full.ingp");
    const char *small = in_folder("small.ingp"), *converted = in_folder("converted.ingp");
    train_quickly(picture, full);
    run_result run = orrery("train", "image", picture, "-o", small, "--config", write_config(), "--steps",
                            "150", "--batch", "1024", "--seed", "5", "--no-state");
    assert_done(&run);
    assert_true(size_of(small) > 0 && size_of(small) < size_of(full) / 2);
    run = orrery("convert", full, converted);
    assert_done(&run);
    assert_same_files(small, converted);
    run = orrery("train", "image", picture, "-o", full, "--resume", small, "--steps", "1");
    assert_refused(&run, 2, "no state of a training in it");
}

static void a_killed_training_leaves_its_last_checkpoint(void **state)
{
    (void)state;
    const char *picture = write_picture("ramps.png", 255), *model = in_folder("killed.ingp");
    const char *const argv[] = {
        program_path(), "train",     "image", picture,        "-o",     model, "--config",
        write_config(), "--seconds", "120",   "--checkpoint", "0.0001", NULL};
    running_program running = start_program(argv);
    for (int i = 0; i < 5000 && access(model, F_OK) != 0; i++) {
        usleep(20000);
    }
    kill(running.process, SIGKILL);
    run_result run = finish_program(&running);
    assert_int_equal(run.exit_code, -1); // it was under way
    run_result_free(&run);
    run = orrery("info", model);
    assert_done(&run);
}

static void what_cannot_be_written_is_said_before_anything_is_read(void **state)
{
    (void)state;
    const char *picture = in_folder("absent.png");
    run_result run = orrery("train", "image", picture, "-o", in_folder("no/folder.ingp"));
    assert_refused(&run, 2, "folder.ingp");
    run = orrery("train", "image", picture, "-o", in_folder("m.ingp"), "--steps", "0");
    assert_refused(&run, 2, "--steps 0");
    run = orrery("train", "image", picture, "-o", in_folder("m.ingp"), "--seconds", "0");
    assert_refused(&run, 2, "--seconds 0");
}

static void alpha_that_is_left_out_is_named(void **state)
{
    (void)state;
    for (int opaque = 0; opaque < 2; opaque++) {
        const char *picture = write_picture("alpha.png", opaque ? 255 : 128);
        run_result run = orrery("train", "image", picture, "-o", in_folder("alpha.ingp"), "--config",
                                write_config(), "--steps", "1", "--batch", "64");
        assert_int_equal(run.exit_code, 0);
        assert_int_equal(strstr(run.errors, "alpha is ignored") != NULL, !opaque);
        run_result_free(&run);
    }
}

static void photos_are_compared_for_as_long_as_is_allowed(void **state)
{
    (void)state;
    char capture[300];
    snprintf(capture, sizeof capture, "%s", made_asset("capture"));
    const char *model = in_folder("capture.ingp");
    run_result run = orrery("train", "nerf", capture, "-o", model, "--steps", "2", "--batch", "256",
                            "--exposures", "--evaluation", "0", "--json");
    cJSON *json = take_json(&run);
    assert_true(number_at(json, "held-out photos") > 0.0 && number_at(json, "compared photos") == 0.0);
    assert_null(cJSON_GetObjectItem(json, "PSNR"));
    cJSON_Delete(json);
    // its state has an exposure per photo, so that it goes on only with the choices that the model holds
    run =
        orrery("train", "nerf", capture, "-o", model, "--resume", model, "--steps", "1", "--evaluation", "0");
    assert_done(&run);
}

// A task of one step, of a slide that hardly moves, whose position is the reward.
static const char *write_slide(void)
{
    static const char slide[] = "<mujoco><worldbody><body name='slider'><joint name='x' type='slide' axis='1 "
                                "0 0'/><geom size='.1'/></body>"
                                "</worldbody><actuator><position joint='x' ctrlrange='-.1 .1' "
                                "ctrllimited='true'/></actuator></mujoco>";
    static const char task[] = "{\"orrery_task\": 1, \"model\": \"slide.xml\", \"max_steps\": 1, "
                               "\"observation\": [{\"of\": \"qpos\"}],"
                               " \"reward\": [{\"of\": \"qpos\"}], \"start\": {\"qpos_noise\": 0.5}}";
    const char *file = in_folder("slide.json");
    assert_ok(orr_file_write(in_folder("slide.xml"), slide, sizeof slide - 1, &error));
    assert_ok(orr_file_write(file, task, sizeof task - 1, &error));
    return file;
}

// Of 200 episodes.
static double rate_of_success(const char *least, const char *path)
{
    const char *file = write_slide();
    run_result run = orrery("train", "policy", file, "-o", path, "--steps", "64", "--worlds", "64",
                            "--horizon", "1", "--small", "--episodes", "200", "--success", least, "--json");
    cJSON *json = take_json(&run);
    const double rate = number_at(json, "success rate");
    cJSON_Delete(json);
    return rate;
}

static void a_policy_is_saved_and_its_successes_are_counted(void **state)
{
    (void)state;
    const char *path = in_folder("slide.policy");
    orr_bytes bytes;
    assert_true(rate_of_success("-1", path) == 1.0 && rate_of_success("1", path) == 0.0);
    const double quarter = rate_of_success("0.25", path); // the deviation is 0.03
    assert_true(quarter > 0.13 && quarter < 0.37);
    run_result run = orrery("train", "policy", "SurgicalReach", "-o", path, "--steps", "64", "--worlds", "64",
                            "--horizon", "1", "--small", "--episodes", "1");
    assert_done(&run); // a task that ships, by its name
    assert_ok(orr_file_read(path, &bytes, &error));
    assert_memory_equal(bytes.data, "ORRPOL02", 8);
    run = orrery("info", path);
    assert_done(&run);
    run = orrery("info", path, "--json");
    cJSON *json = take_json(&run);
    const cJSON *info = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "files"), 0);
    assert_text_at(info, "kind", "policy");
    assert_text_at(info, "task", "surgical_reach");
    assert_int_equal(number_at(info, "steps"), 64);
    cJSON_Delete(json);
    assert_ok(orr_file_write(path, bytes.data, bytes.size / 2, &error));
    run = orrery("info", path);
    assert_refused(&run, 2, path);
    orr_free(bytes.data);
}

static void a_policy_is_kept_while_it_learns_and_when_it_is_stopped(void **state)
{
    (void)state;
    char path[300], task[300];
    snprintf(path, sizeof path, "%s", in_folder("stopped.policy"));
    snprintf(task, sizeof task, "%s", write_slide());
    running_program running = start_program((const char *const[]){
        program_path(), "train", "policy", task, "-o", path, "--steps", "1000000000", "--worlds", "64",
        "--horizon", "1", "--checkpoint", "0.0001", "--seconds", "60", NULL});
    for (int i = 0; i < 3000 && access(path, F_OK) != 0; i++) {
        usleep(10000);
    }
    assert_int_equal(access(path, F_OK), 0); // a checkpoint
    assert_int_equal(unlink(path), 0);
    kill(running.process, SIGINT);
    run_result run = finish_program(&running);
    assert_int_equal(run.exit_code, 130);
    assert_non_null(strstr(run.errors, "mean return"));
    assert_null(strstr(run.errors, "evaluated")); // there is no time for it
    assert_null(strstr(run.errors, "orrery: "));
    run_result_free(&run);
    run = orrery("train", "policy", task, "-o", path, "--resume", path, "--steps", "64", "--episodes", "1");
    assert_done(&run);
}

static void photos_become_splats(void **state)
{
    (void)state;
    char capture[300];
    snprintf(capture, sizeof capture, "%s", made_asset("capture"));
    const char *cloud = in_folder("cloud.ply"), *again = in_folder("again.ply");
    run_result run = orrery("train", "splats", capture, "-o", cloud, "--steps", "30", "--splats", "400",
                            "--sh", "1", "--threads", "1", "--json");
    cJSON *json = take_json(&run);
    assert_true(number_at(json, "held-out photos") > 0.0 && number_at(json, "PSNR") > 8.0);
    cJSON_Delete(json);
    run = orrery("train", "splats", capture, "-o", again, "--steps", "30", "--splats", "400", "--sh", "1",
                 "--threads", "2", "--evaluation", "0");
    assert_done(&run);
    assert_same_files(cloud, again);
    run = orrery("train", "splats", capture, "-o", in_folder("cloud.spz"), "--steps", "1", "--splats", "1");
    assert_done(&run);
    run = orrery("info", in_folder("cloud.spz"));
    assert_done(&run);
}

// Numbered pictures in a folder, or one that shows the last; and a plot at the end.
static void previews_show_the_training(void **state)
{
    (void)state;
    char capture[300], folder[300];
    snprintf(capture, sizeof capture, "%s", made_asset("capture"));
    snprintf(folder, sizeof folder, "%s", in_folder("previews"));
    const char *cloud = in_folder("shown.ply"), *preview = in_folder("shown.png");
    run_result run = orrery("train", "splats", capture, "-o", cloud, "--steps", "40", "--splats", "400",
                            "--sh", "0", "--evaluation", "0", "--no-state", "--preview", preview);
    assert_done(&run);
    orr_image8 image;
    assert_ok(orr_image8_load(preview, &image, &error));
    assert_true(image.width >= 32 && image.height >= 32);
    orr_image8_free(&image);
    assert_ok(orr_image8_load(in_folder("shown.training.png"), &image, &error));
    orr_image8_free(&image);
    run = orrery("train", "splats", capture, "-o", cloud, "--steps", "1", "--splats", "400", "--evaluation",
                 "0", "--no-state", "--preview", folder);
    assert_done(&run);
    char first[320];
    snprintf(first, sizeof first, "%s/splats_0000.png", folder);
    assert_ok(orr_image8_load(first, &image, &error));
    orr_image8_free(&image);
    run = orrery("train", "splats", capture, "-o", cloud, "--preview", in_folder("no/folder/shown.png"));
    assert_refused(&run, 2, "shown.png: cannot write");
}

static void interrupted_splats_are_saved(void **state)
{
    (void)state;
    char capture[300], cloud[300], preview[300];
    snprintf(capture, sizeof capture, "%s", made_asset("capture"));
    snprintf(cloud, sizeof cloud, "%s", in_folder("interrupted.ply"));
    snprintf(preview, sizeof preview, "%s", in_folder("interrupted.png"));
    const char *const argv[] = {program_path(), "train",     "splats",    capture,    "-o",
                                cloud,          "--seconds", "120",       "--splats", "400",
                                "--sh",         "0",         "--preview", preview,    NULL};
    signal(SIGPIPE, SIG_DFL); // which the program inherits, whatever runs the tests
    signal(SIGHUP, SIG_DFL);
    running_program running = start_program(argv);
    for (int i = 0; i < 5000 && access(preview, F_OK) != 0; i++) {
        usleep(20000);
    }
    // nobody reads the progress any more; the connection is gone; and SIGTERM twice, to the process and to
    // its group, as timeout does
    static const int signals[] = {SIGPIPE, SIGHUP, SIGTERM, SIGTERM};
    for (int i = 0; i < 4; i++) {
        kill(running.process, signals[i]);
        usleep(5000);
    }
    run_result run = finish_program(&running);
    assert_int_equal(run.exit_code, 130);
    run_result_free(&run);
    run = orrery("train", "splats", capture, "-o", in_folder("after.ply"), "--resume", cloud, "--steps", "1",
                 "--evaluation", "0");
    assert_done(&run);
}

// Where the disk has room for the cloud and none for its state: a limit of the size of files stands for it.
static void a_full_disk_costs_no_cloud(void **state)
{
    (void)state;
    char capture[300], cloud[300];
    snprintf(capture, sizeof capture, "%s", made_asset("capture"));
    snprintf(cloud, sizeof cloud, "%s", in_folder("full.ply"));
    struct rlimit limit, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 25000, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    run_result run = orrery("train", "splats", capture, "-o", cloud, "--steps", "10", "--splats", "400",
                            "--sh", "1", "--evaluation", "0", "--checkpoint", "1e-5");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_non_null(strstr(run.errors, "full.ply.training: cannot write: File too large: no checkpoint"));
    assert_non_null(strstr(run.errors, "full.ply is saved, without the state that --resume needs"));
    assert_int_equal(run.exit_code, 2);
    run_result_free(&run);
    orr_splats *splats;
    assert_ok(orr_splats_load(cloud, &splats, &error));
    orr_splats_destroy(splats);
    assert_true(access(in_folder("full.ply.training"), F_OK) != 0);
}

static void splats_go_on_from_where_they_were(void **state)
{
    (void)state;
    char capture[300], cloud[300], more[300];
    snprintf(capture, sizeof capture, "%s", made_asset("capture"));
    snprintf(cloud, sizeof cloud, "%s", in_folder("begun.ply"));
    snprintf(more, sizeof more, "%s", in_folder("more.ply"));
    run_result run = orrery("train", "splats", capture, "-o", cloud, "--steps", "10", "--splats", "400",
                            "--sh", "1", "--evaluation", "0");
    assert_done(&run);
    run = orrery("train", "splats", capture, "-o", more, "--steps", "12", "--resume", cloud, "--no-state",
                 "--evaluation", "0", "--json");
    cJSON *json = take_json(&run);
    assert_true(number_at(json, "steps") == 12.0);
    cJSON_Delete(json);
    assert_true(access(in_folder("begun.ply.training"), F_OK) == 0);
    assert_true(access(in_folder("more.ply.training"), F_OK) != 0);
    // no step is left: the cloud of the state
    run = orrery("train", "splats", capture, "-o", more, "--steps", "10", "--resume", cloud, "--evaluation",
                 "0");
    assert_done(&run);
    assert_same_files(cloud, more);
    run =
        orrery("train", "splats", capture, "-o", more, "--steps", "12", "--resume", cloud, "--holdout", "3");
    assert_refused(&run, 2, "learned from other photos");
}

// The cameras beside the cloud are a capture again, and a training goes on with their poses.
static void poses_and_exposures_are_refined(void **state)
{
    (void)state;
    char capture[300], cloud[300];
    snprintf(capture, sizeof capture, "%s", made_asset("capture"));
    snprintf(cloud, sizeof cloud, "%s", in_folder("my.refined.ply"));
    run_result run = orrery("train", "splats", capture, "-o", cloud, "--steps", "10", "--splats", "400",
                            "--exposures", "--refine-poses", "--evaluation", "5", "--json");
    cJSON *json = take_json(&run);
    assert_true(number_at(json, "PSNR") > 5.0);
    cJSON_Delete(json);
    assert_true(access(in_folder("my.refined.transforms.json"), F_OK) == 0);
    run = orrery("train", "splats", in_folder("my.refined.transforms.json"), "-o", in_folder("next.ply"),
                 "--steps", "1", "--splats", "10", "--masks", "empty", "--evaluation", "0");
    assert_done(&run);
    assert_true(access(in_folder("next.transforms.json"), F_OK) != 0);
    assert_int_equal(remove(in_folder("my.refined.transforms.json")), 0);
    run = orrery("train", "splats", capture, "-o", cloud, "--steps", "11", "--resume", cloud, "--evaluation",
                 "0");
    assert_done(&run);
    assert_true(access(in_folder("my.refined.transforms.json"), F_OK) == 0);
}

static void what_splats_cannot_be_trained_with_is_refused(void **state)
{
    (void)state;
    char capture[300];
    snprintf(capture, sizeof capture, "%s", made_asset("capture"));
    const char *cloud = in_folder("refused.ply");
    run_result run = orrery("train", "splats", capture, "-o", in_folder("refused.ingp"));
    assert_refused(&run, 2, "expected a name that ends in .ply");
    run = orrery("train", "splats", capture, "-o", cloud, "--splats", "0");
    assert_refused(&run, 2, "--splats 0");
    run = orrery("train", "splats", capture, "-o", cloud, "--resume", in_folder("absent.ply"));
    assert_refused(&run, 2, "absent.ply.training");
    run = orrery("train", "splats", capture, "-o", cloud, "--resume", cloud, "--sh", "1");
    assert_refused(&run, 2, "--sh with --resume: expected none");
    run = orrery("train", "splats", capture, "-o", cloud, "--resume", cloud, "--refine-poses");
    assert_refused(&run, 2, "--refine-poses with --resume: expected none");
    run = orrery("train", "splats", capture, "-o", cloud, "--resume", cloud, "--depth", "0.1");
    assert_refused(&run, 2, "--depth with --resume: expected none");
    run = orrery("train", "splats", capture, "-o", cloud, "--depth", "0.1");
    assert_refused(&run, 2, "depth: no training photo sees a known point");
    run = orrery("train", "splats", capture, "-o", cloud, "--resume", cloud, "--bilateral-grid");
    assert_refused(&run, 2, "--bilateral-grid with --resume: expected none");
    run = orrery("train", "splats", capture, "-o", cloud, "--bilateral-grid", "--exposures");
    assert_refused(&run, 2, "exposures and bilateral grids: expected one of them");
    run = orrery("train", "nerf", capture, "-o", in_folder("refused.ingp"), "--refine-poses");
    assert_refused(&run, 2, "--refine-poses: expected none with train nerf");
    run = orrery("train", "splats", capture, "-o", cloud, "--holdout", "1.5");
    assert_refused(&run, 2, "--holdout 1.5: expected a whole number from 0 to 1000000, or test");
    run = orrery("train", "splats", capture, "-o", cloud, "--holdout", "test");
    assert_refused(&run, 2, "no photos for testing: expected transforms_test.json");
    run = orrery("train", "image", "any.png", "-o", in_folder("refused.ingp"), "--holdout", "4");
    assert_refused(&run, 2, "--holdout: expected none with train image");
    run = orrery("train", "splats", capture, "-o", cloud, "--masks", "half");
    assert_refused(&run, 2, "--masks half: expected ignore or empty");
    run = orrery("train", "splats", capture, "-o", cloud, "--lens", "bent");
    assert_refused(&run, 2, "--lens bent: expected keep or undistort");
    run = orrery("train", "nerf", capture, "-o", in_folder("refused.ingp"), "--lens", "keep");
    assert_refused(&run, 2, "--lens: expected none with train nerf");
    run = orrery("train", "splats", capture, "-o", cloud, "--strategy", "both");
    assert_refused(&run, 2, "--strategy both: expected adc or mcmc");
    run = orrery("train", "splats", capture, "-o", cloud, "--device", "vulkan");
    assert_refused(&run, 2, "--device vulkan: expected none");
    run = orrery("train", "splats", capture, "-o", cloud, "--holdout", "1");
    assert_refused(&run, 2, "0 photos to learn splats from and 24 held out: expected 2 or more");
    run = orrery("train", "splats", in_folder("no/photos"), "-o", cloud);
    assert_refused(&run, 2, "photos");
    assert_true(access(cloud, F_OK) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_training_writes_the_same_bytes),
        cmocka_unit_test(an_image_renders_to_its_picture),
        cmocka_unit_test(a_resumed_training_takes_its_choices_from_the_model),
        cmocka_unit_test(a_model_can_be_saved_without_the_state_of_its_training),
        cmocka_unit_test(a_killed_training_leaves_its_last_checkpoint),
        cmocka_unit_test(what_cannot_be_written_is_said_before_anything_is_read),
        cmocka_unit_test(alpha_that_is_left_out_is_named),
        cmocka_unit_test(photos_are_compared_for_as_long_as_is_allowed),
        cmocka_unit_test(a_policy_is_saved_and_its_successes_are_counted),
        cmocka_unit_test(a_policy_is_kept_while_it_learns_and_when_it_is_stopped),
        cmocka_unit_test(photos_become_splats),
        cmocka_unit_test(previews_show_the_training),
        cmocka_unit_test(interrupted_splats_are_saved),
        cmocka_unit_test(a_full_disk_costs_no_cloud),
        cmocka_unit_test(splats_go_on_from_where_they_were),
        cmocka_unit_test(poses_and_exposures_are_refined),
        cmocka_unit_test(what_splats_cannot_be_trained_with_is_refused),
    };
    return cmocka_run_group_tests_name("train", tests, NULL, NULL);
}
