// Tests of the orrery program and the files it is given: what is not a file, what cannot be written, and
// signals at any moment.
#define _GNU_SOURCE
#include "assets/clouds.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/maths/rng.h"
#include "orr_features.h"
#include "tests/support/run_program.h"
#include "tests/support/support.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLOUD_COUNT = 3000 };

// files of this run, made once, in a folder that is the working directory
static char folder[128], cloud[160], robot[160], picture[160], capture[160];

// ---- what is not a regular file ----

static void pipes_are_refused_wherever_a_file_is_read(void **state)
{
    (void)state;
    static const char *const endings[] = {"ply",  "splat", "spz", "sog",  "ksplat", "glb",
                                          "gltf", "obj",   "stl", "ingp", "xml",    "urdf",
                                          "json", "png",   "exr", "npy",  "jpg",    "msgpack"};
    char names[sizeof endings / sizeof endings[0]][16];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(names[i], sizeof names[i], "pipe.%s", endings[i]);
        assert_int_equal(mkfifo(names[i], 0600), 0);
    }
    static const char mesh_with_pipe[] = "mtllib pipe.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    static const char model_with_pipe[] = "<mujoco><include file='pipe.xml'/></mujoco>";
    assert_int_equal(mkfifo("pipe.mtl", 0600), 0);
    assert_ok(orr_file_write("pipe_inside.obj", mesh_with_pipe, sizeof mesh_with_pipe - 1, &error));
    assert_ok(orr_file_write("pipe_inside.xml", model_with_pipe, sizeof model_with_pipe - 1, &error));
    const struct {
        const char *arguments[9];
    } cases[] = {
        {{"info", "pipe.ply"}},
        {{"info", "pipe.splat"}},
        {{"info", "pipe.spz"}},
        {{"info", "pipe.sog"}},
        {{"info", "pipe.ksplat"}},
        {{"info", "pipe.ingp"}},
        {{"info", "pipe.msgpack"}},
        {{"info", "pipe.xml"}},
        {{"info", "pipe.urdf"}},
        {{"info", "pipe.json"}},
        {{"info", "pipe_inside.xml"}},
        {{"info", "pipe.glb"}},
        {{"info", "pipe.gltf"}},
        {{"info", "pipe.obj"}},
        {{"info", "pipe.stl"}},
        {{"train", "sdf", "pipe.obj", "-o", "a.ingp"}},
        {{"render", "pipe.ply", "-o", "a.png"}},
        {{"render", cloud, "-o", "a%d.png", "--cameras", "pipe.json"}},
        {{"convert", "pipe.ply", "a.spz"}},
        {{"convert", "pipe.ingp", "a.obj"}},
        {{"sim", robot, "--steps", "1", "--ctrl", "pipe.npy"}},
        {{"sim", robot, "--steps", "1", "--start", "pipe.npy"}},
        {{"train", "image", "pipe.png", "-o", "a.ingp"}},
        {{"train", "image", "pipe.jpg", "-o", "a.ingp"}},
#if ORR_HAVE_EXR
        {{"train", "image", "pipe.exr", "-o", "a.ingp"}},
#endif
        {{"train", "volume", "pipe.npy", "-o", "a.ingp"}},
        {{"train", "nerf", "pipe.json", "-o", "a.ingp"}},
        {{"train", "image", picture, "-o", "a.ingp", "--config", "pipe.json"}},
        {{"train", "image", picture, "-o", "a.ingp", "--resume", "pipe.ingp"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *argv[16] = {"/usr/bin/timeout", "-sKILL", "60", program_path()}; // it may wait for ever
        memcpy(argv + 4, cases[i].arguments, sizeof cases[i].arguments);
        run_result result = run_program(argv);
        assert_refused(&result, 2, "not a regular file but a pipe");
    }
    run_result photo = run_program((const char *const[]){"/usr/bin/timeout", "-sKILL", "60", program_path(),
                                                         "train", "nerf", capture, "-o", "a.ingp", NULL});
    assert_refused(&photo, 2, "pipe.png"); // as one that is missing
    run_result material = run_program((const char *const[]){"/usr/bin/timeout", "-sKILL", "60",
                                                            program_path(), "info", "pipe_inside.obj", NULL});
    assert_int_equal(material.exit_code, 0); // a mesh without its materials
    run_result_free(&material);
}

// ---- photos ----

// Two photos of a cloud, without their endings in the file, as NeRF-synthetic has them: what is inserted is
// seen in the middle of both, and changes nothing in a corner.
static void objects_are_inserted_into_photos(void **state)
{
    (void)state;
    static const char cameras[] = "{\"w\": 64, \"h\": 48, \"fl_x\": 60, \"frames\": ["
                                  "{\"file_path\": \"photo_0\", \"transform_matrix\": "
                                  "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 6], [0, 0, 0, 1]]},"
                                  "{\"file_path\": \"./photo_1\", \"transform_matrix\": "
                                  "[[1, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 6], [0, 0, 0, 1]]}]}";
    static const char tile[] = "v -1 0 -1\nv 1 0 -1\nv 1 0.5 1\nv -1 0.5 1\nv 0 1 0\n"
                               "f 1 4 5\nf 4 3 5\nf 3 2 5\nf 2 1 5\nf 1 2 3 4\n";
    assert_ok(orr_file_write("two.json", cameras, sizeof cameras - 1, &error));
    assert_ok(orr_file_write("tile.obj", tile, sizeof tile - 1, &error));
    run_result photos = orrery("render", cloud, "--cameras", "two.json", "-o", "photo_%d.png");
    assert_int_equal(photos.exit_code, 0);
    run_result inserted = orrery("insert", cloud, "tile.obj", "--over", "two.json", "-o", "with_%d.png");
    assert_int_equal(inserted.exit_code, 0);
    for (int i = 0; i < 2; i++) {
        char before[16], after[16];
        orr_image8 photo, with;
        snprintf(before, sizeof before, "photo_%d.png", i);
        snprintf(after, sizeof after, "with_%d.png", i);
        assert_ok(orr_image8_load(before, &photo, &error));
        assert_ok(orr_image8_load(after, &with, &error));
        assert_int_equal(with.width, 64);
        assert_int_equal(with.height, 48);
        int changed = 0;
        for (int k = 0; k < 4 * 64 * 48; k++) {
            changed += photo.rgba[k] != with.rgba[k];
        }
        assert_in_range(changed, 100, 3 * 64 * 48);
        assert_memory_equal(photo.rgba, with.rgba, 4);
        orr_image8_free(&photo);
        orr_image8_free(&with);
    }
    assert_int_equal(remove("photo_1.png"), 0);
    run_result missing = orrery("insert", cloud, "tile.obj", "--over", "two.json", "-o", "with_%d.png");
    assert_refused(&missing, 2, "two.json: no photo ./photo_1");
    run_result_free(&photos);
    run_result_free(&inserted);
}

// ---- what cannot be written ----

static void outputs_are_tried_before_anything_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[9];
    } cases[] = {
        {{"render", "missing.ply", "-o", "no/such/a.png"}},
        {{"render", "missing.ply", "-o", "no/such/a%04d.npy", "--orbit", "3"}},
#if ORR_HAVE_VIDEO
        {{"render", "missing.ply", "-o", "no/such/a.mp4"}},
#endif
        {{"render", "missing.ply", "-o", "a.png", "--depth", "no/such/a.npy"}},
        {{"convert", "missing.ply", "no/such/a.ply"}},
        {{"convert", "missing.ingp", "no/such/a.ply"}},
        {{"sim", "missing.xml", "--steps", "1", "--record", "no/such/a.npy"}},
        {{"train", "image", "missing.png", "-o", "no/such/a.ingp"}},
        {{"train", "nerf", "missing", "-o", "no/such/a.ingp"}},
        {{"bench", "frame", "missing.ply", "--trace", "no/such/a.json"}},
        {{"bench", "frame", "missing.ply", "--plot", "no/such/a.png"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_result result = run_orrery(cases[i].arguments);
        assert_refused(&result, 2, "no/such/a");
    }
}

// what a shell makes of it: redirections are not arguments
static void assert_shell(const char *command, int exit_code, const char *text)
{
    char line[700];
    snprintf(line, sizeof line, "'%s' %s", program_path(), command);
    run_result result = run_program((const char *const[]){"/bin/sh", "-c", line, NULL});
    assert_refused(&result, exit_code, text);
}

static void a_failed_write_to_standard_output_is_an_error(void **state)
{
    (void)state;
    static const char *const commands[] = {"--help",  "--version",      "help sim", "sim -h",
                                           "devices", "devices --json", "info %s",  "info --json %s"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char command[300], full[330];
        snprintf(command, sizeof command, strstr(commands[i], "%s") ? "%.*s%s" : "%.*s",
                 (int)strcspn(commands[i], "%"), commands[i], cloud);
        bool drivers = strncmp(command, "devices", 7) == 0; // which lavapipe leaks in
        setenv("LSAN_OPTIONS", drivers ? "detect_leaks=0" : "detect_leaks=1", 1);
        snprintf(full, sizeof full, "%s >/dev/full", command);
        assert_shell(full, 2, "standard output: cannot write: No space left");
        snprintf(full, sizeof full, "%s >&-", command);
        assert_shell(full, 2, "standard output: cannot write");
    }
    unsetenv("LSAN_OPTIONS");
}

static void a_limit_of_file_size_is_an_error_like_a_full_disk(void **state)
{
    (void)state;
    char command[700];
    snprintf(command, sizeof command, "convert %s limited.ply", cloud);
    char line[900];
    snprintf(line, sizeof line, "ulimit -f 8; '%s' %s", program_path(), command);
    run_result result = run_program((const char *const[]){"/bin/sh", "-c", line, NULL});
    assert_refused(&result, 2, "limited.ply: cannot write: File too large");
    assert_int_equal(access("limited.ply", F_OK), -1);
}

// ---- the command line ----

static void help_is_found_by_every_name(void **state)
{
    (void)state;
    static const char *const general[] = {"help", "-h", "--help"};
    run_result expected = orrery("--help");
    run_result sim = orrery("sim", "--help");
    for (int i = 0; i < 3; i++) {
        run_result all = orrery(general[i]), one = orrery(general[i], "sim");
        assert_string_equal(all.output, expected.output);
        assert_string_equal(one.output, sim.output);
        assert_int_equal(all.exit_code + one.exit_code, 0);
        run_result_free(&all);
        run_result_free(&one);
    }
    run_result letter = orrery("sim", "-h");
    assert_string_equal(letter.output, sim.output);
    run_result unknown = orrery("help", "simulate");
    assert_refused(&unknown, 2, "simulate");
    run_result_free(&letter);
    run_result_free(&expected);
    run_result_free(&sim);
}

static void options_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *arguments[11];
        const char *first, *second; // both are named
    } cases[] = {
        {{"render", cloud, "-o", "a.png", "--transparent", "--background", "1,1,1"},
         "--transparent",
         "--back"},
        {{"render", cloud, "-o", "a%d.png", "--frames", "2", "--orbit", "2"}, "--frames", "--orbit"},
        {{"render", cloud, "-o", "a%d.png", "--orbit", "2", "--smooth", "2"}, "--orbit", "--smooth"},
        {{"render", cloud, "-o", "a.png", "--ctrl", "sine"}, "--ctrl", "--frames"},
        {{"render", cloud, "-o", "a.png", "--physics", "cpu"}, "--physics", "--frames"},
        {{"render", cloud, "-o", "a.png", "--fps", "25"}, "--fps", "--frames"},
        {{"render", cloud, "-o", "a.png", "--tone", "film"}, "--tone", "none|neutral|agx|aces"},
        {{"render", cloud, "-o", "a.png", "--exposure", "21"}, "--exposure", "-20 to 20"},
        {{"render", cloud, "-o", "a.npy", "--depth", "a.npy"}, "--depth", "a.npy"},
        {{"render", cloud, "-o", "a.png", "--depth", "b.npy", "--normals", "b.npy"}, "--normals", "b.npy"},
        {{"render", cloud, "-o", "a.png", "--keep-partial"}, "--keep-partial", ".mp4"},
        {{"render", cloud, "-o", "a.mp4", "--transparent"}, "a.mp4", "alpha"},
        {{"sim", robot, "--steps", "1", "--quantities", "qpos"}, "--quantities", "--record"},
        {{"sim", robot, "--steps", "1", "--keep-partial"}, "--keep-partial", "--record"},
        {{"convert", cloud, "a.spz", "--resolution", "64"}, "--resolution", "field"},
        {{"convert", cloud, "a.spz", "--threshold", "2"}, "--threshold", "field"},
        {{"render", cloud, "-o", "a.png", "--environment", "none.hdr"}, "none.hdr", "none.hdr"},
        {{"render", cloud, "-o", "a.png", "--environment", cloud}, cloud, "expected"},
        {{"bench", "physics", "--frames", "2"}, "--frames", "frame"},
        {{"bench", "neural", "--file", cloud}, "--file", "splats"},
        {{"bench", "neural", "--robot", robot}, "--robot", "physics"},
        {{"bench", "neural", "--plot", "a.png"}, "--plot", "physics"},
        {{"bench", "frame", "--largest", "10000"}, "--largest", "splats"},
        {{"info", cloud, "--seed", "1"}, "--seed", "info"},
        {{"info", cloud, "--device", "cpu"}, "--device", "info"},
        {{"convert", cloud, "a.spz", "--size", "2x2"}, "--size", "convert"},
        {{"sim", robot, "--steps", "1", "--seed", "3"}, "--seed", "sim"},
        {{"devices", "--size", "2x2"}, "--size", "devices"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_result result = run_orrery(cases[i].arguments);
        assert_non_null(strstr(result.errors, cases[i].second));
        assert_refused(&result, 2, cases[i].first);
    }
}

// ---- signals ----

static int count_hidden(const char *path)
{
    DIR *opened = opendir(path);
    assert_non_null(opened);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(opened));) {
        count += strstr(entry->d_name, ".orr-tmp-") != NULL;
    }
    closedir(opened);
    return count;
}

// What is in the folder can be read; then it is removed.
static void take_whole_files(const char *path)
{
    DIR *opened = opendir(path);
    for (struct dirent *entry; (entry = readdir(opened));) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        char name[600];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        orr_image8 png;
        if (orr_path_has_ending(name, ".png")) {
            assert_ok(orr_image8_load(name, &png, &error));
            orr_image8_free(&png);
        } else if (!orr_path_has_ending(name, ".json") && !orr_path_has_ending(name, ".npy")) {
            run_result info = orrery("info", name);
            assert_done(&info);
        }
        unlink(name);
    }
    closedir(opened);
}

static void killed_at_any_moment_commands_leave_whole_files(void **state)
{
    (void)state;
    enum { ROUNDS = 4 };
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    const char *const commands[][12] = {
        {"render", cloud, "-o", "signals/a_%d.png", "--orbit", "100000", "--size", "64x48", "--threads", "2"},
        {"sim", robot, "--steps", "100000000", "--record", "signals/a.npy"},
        {"train", "image", picture, "-o", "signals/a.ingp", "--seconds", "60", "--threads", "2"},
        {"convert", cloud, "signals/a.spz"},
        {"bench", "frame", cloud, "--frames", "100000", "--trace", "signals/a.json", "--size", "64x48"},
    };
    assert_int_equal(mkdir("signals", 0700), 0);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        for (int round = 0; round < ROUNDS * 3; round++) {
            const char *argv[14] = {program_path()};
            memcpy(argv + 1, commands[i], sizeof commands[i]);
            running_program running = start_program(argv);
            usleep((useconds_t)(orr_random_bits((uint32_t)getpid(), (uint32_t)i, (uint32_t)round) % 300000));
            int number = signals[round % 3];
            kill(running.process, number);
            run_result result = finish_program(&running);
            bool stopped = result.exit_code == 130 || result.exit_code == -1;
            if (!stopped && result.exit_code != 0) {
                fail_msg("%s after signal %d: %d: %s", commands[i][0], number, result.exit_code,
                         result.errors);
            }
            run_result_free(&result);
            if (number != SIGKILL && result.exit_code == 130) {
                assert_int_equal(count_hidden("signals"), 0);
            }
            assert_ok(orr_file_try("signals/next", &error)); // removes what a killed one has left
            assert_int_equal(count_hidden("signals"), 0);
            take_whole_files("signals");
        }
    }
    assert_int_equal(rmdir("signals"), 0);
}

// Starts a command, and interrupts it when it has written something into the folder.
static run_result interrupt_when_writing(const char *const *argv, const char *inside)
{
    running_program running = start_program(argv);
    for (int i = 0; i < 3000; i++) {
        usleep(10000);
        DIR *opened = opendir(inside);
        bool found = false;
        for (struct dirent *entry; (entry = readdir(opened));) {
            struct stat status;
            found |= entry->d_name[0] == '.' && fstatat(dirfd(opened), entry->d_name, &status, 0) == 0 &&
                     S_ISREG(status.st_mode) && status.st_size > 0;
        }
        closedir(opened);
        if (found) {
            break;
        }
    }
    usleep(300000);
    kill(running.process, SIGTERM);
    return finish_program(&running);
}

static void what_is_done_is_kept_where_that_was_asked_for(void **state)
{
    (void)state;
    assert_int_equal(mkdir("partial", 0700), 0);
    run_result result =
        interrupt_when_writing((const char *const[]){program_path(), "sim", robot, "--steps", "99999999",
                                                     "--record", "partial/a.npy", "--keep-partial", NULL},
                               "partial");
    int steps = 0;
    assert_int_equal(sscanf(result.errors, "orrery: interrupted after %d steps", &steps), 1);
    assert_true(steps > 0 && steps < 99999999);
    assert_refused(&result, 130, "partial/a.npy holds them");
    orr_bytes bytes;
    assert_ok(orr_file_read("partial/a.npy", &bytes, &error));
    char shape[64];
    snprintf(shape, sizeof shape, "'shape': (%d, 1, 2,)", steps + 1); // qpos and qvel of one joint
    assert_non_null(strstr((const char *)bytes.data + 10, shape));
    size_t header = 10 + (size_t)bytes.data[8] + 256 * (size_t)bytes.data[9];
    assert_int_equal(bytes.size - header, (size_t)(steps + 1) * 2 * sizeof(double));
    orr_free(bytes.data);
    // the same numbers as those of a run that was to be as short
    char count[16];
    snprintf(count, sizeof count, "%d", steps);
    run_result whole = orrery("sim", robot, "--steps", count, "--record", "partial/b.npy");
    assert_done(&whole);
    orr_bytes shorter;
    assert_ok(orr_file_read("partial/a.npy", &bytes, &error));
    assert_ok(orr_file_read("partial/b.npy", &shorter, &error));
    size_t size = (size_t)(steps + 1) * 2 * sizeof(double);
    assert_memory_equal(bytes.data + bytes.size - size, shorter.data + shorter.size - size, size);
    orr_free(bytes.data);
    orr_free(shorter.data);
#if ORR_HAVE_VIDEO
    result = interrupt_when_writing((const char *const[]){program_path(), "render", cloud, "-o",
                                                          "partial/a.mp4", "--orbit", "100000", "--size",
                                                          "320x240", "--keep-partial", NULL},
                                    "partial");
    assert_refused(&result, 130, "of 100000 pictures were written to partial/a.mp4");
    assert_ok(orr_file_read("partial/a.mp4", &bytes, &error));
    assert_non_null(memmem(bytes.data, bytes.size, "moov", 4)); // the index is there: it plays
    orr_free(bytes.data);
#endif
    assert_int_equal(count_hidden("partial"), 0);
}

// Otherwise the recording would be descriptor 2, and warnings would be written into it.
static void a_file_never_takes_the_place_of_a_closed_stream(void **state)
{
    (void)state;
    char line[900], name[64], target[300];
    snprintf(line, sizeof line, "exec '%s' sim %s --steps 99999999 --record closed.npy 2>&-", program_path(),
             robot);
    running_program running = start_program((const char *const[]){"/bin/sh", "-c", line, NULL});
    snprintf(name, sizeof name, "/proc/%d/fd/2", (int)running.process);
    for (int i = 0; i < 1000 && count_hidden(".") == 0; i++) {
        usleep(10000);
    }
    usleep(200000);
    ssize_t length = readlink(name, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    kill(running.process, SIGINT);
    run_result result = finish_program(&running);
    assert_string_equal(target, "/dev/null");
    assert_int_equal(result.exit_code, 130);
    run_result_free(&result);
}

static int make_files(void **state)
{
    (void)state;
    setenv("ORR_DEVICE", "cpu", 1); // what is tested here is not the device
    snprintf(folder, sizeof folder, "%s", scratch_path("files"));
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chdir(folder), 0);
    snprintf(cloud, sizeof cloud, "%s/cloud.ply", folder);
    snprintf(robot, sizeof robot, "%s/robot.xml", folder);
    snprintf(picture, sizeof picture, "%s/picture.png", folder);
    snprintf(capture, sizeof capture, "%s/transforms.json", folder);
    orr_splats *splats = make_cloud(CLOUD_BALL, CLOUD_COUNT, 1, 1);
    assert_ok(orr_splats_save(splats, cloud, &error));
    orr_splats_destroy(splats);
    static const char model[] =
        "<mujoco><worldbody><body><joint name='j' type='slide' axis='0 0 1'/><geom size='.1'/></body>"
        "</worldbody></mujoco>";
    assert_ok(orr_file_write(robot, model, sizeof model - 1, &error));
    uint8_t rgba[32 * 32 * 4];
    for (size_t i = 0; i < sizeof rgba; i++) {
        rgba[i] = i % 4 == 3 ? 255 : (uint8_t)i;
    }
    assert_ok(orr_png_save(picture, rgba, 32, 32, &error));
    static const char transforms[] =
        "{\"camera_angle_x\": 1, \"w\": 32, \"h\": 32, \"frames\": [{\"file_path\": \"pipe.png\", "
        "\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,2],[0,0,0,1]]}]}";
    assert_ok(orr_file_write(capture, transforms, sizeof transforms - 1, &error));
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return chdir("/") != 0 || system(command) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipes_are_refused_wherever_a_file_is_read),
        cmocka_unit_test(objects_are_inserted_into_photos),
        cmocka_unit_test(outputs_are_tried_before_anything_is_read),
        cmocka_unit_test(a_failed_write_to_standard_output_is_an_error),
        cmocka_unit_test(a_limit_of_file_size_is_an_error_like_a_full_disk),
        cmocka_unit_test(help_is_found_by_every_name),
        cmocka_unit_test(options_that_contradict_each_other_are_refused),
        cmocka_unit_test(killed_at_any_moment_commands_leave_whole_files),
        cmocka_unit_test(what_is_done_is_kept_where_that_was_asked_for),
        cmocka_unit_test(a_file_never_takes_the_place_of_a_closed_stream),
    };
    return cmocka_run_group_tests_name("cli files", tests, make_files, remove_files);
}
