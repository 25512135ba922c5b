// orrery: the command line of the engine. This file only chooses the command; each has its own file.
#define _GNU_SOURCE
#include "samples/orrery/commands.h"

#include "engine/image/video.h"
#include "engine/loop/devices.h"
#include "orr_licences.h"
#include "samples/orrery/load_progress.h"
#include "samples/orrery/options.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *operands;
    const char *purpose;
} command;

static const command commands[] = {
    {"view", command_view, "SCENE|CAPTURE",
     "open a window on a scene to fly through it, edit it and record camera paths, or on a model in "
     "training"},
    {"render", command_render, "SCENE -o OUT",
     "draw pictures without a window: .png, .exr, .npy, .mp4, or a pattern with %04d"},
    {"sim", command_sim, "ROBOT --steps N", "simulate a robot, or a scene, in any number of worlds"},
    {"bench", command_bench, "[NAME...]",
     "measure the speed of each stage on this machine, beside the machine's limits; record traces of frames"},
    {"capture", command_capture, "PHOTOS -o CAPTURE",
     "find the cameras of photos or of a video with COLMAP, and write a capture to train on"},
    {"train", command_train, "KIND DATA", "train a neural field, a splat cloud, a policy or a material"},
    {"insert", command_insert, "ROOM OBJECT -o OUT",
     "put an object on a surface of a captured world: as a scene file, or in its photos"},
    {"convert", command_convert, "IN OUT",
     "convert splat clouds and meshes to other formats, fields to meshes, and all of them to colliders"},
    {"info", command_info, "FILE...",
     "print what clouds, meshes, fields, robots, scene files and camera files contain"},
    {"devices", command_devices, "", "list the devices that the engine can use"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

int command_fail(orr_result result, const orr_error *error)
{
    fprintf(stderr, "orrery: %s\n", error->message);
    switch (result) {
    case ORR_OK:
        return 0;
    case ORR_ERROR_INTERRUPTED:
        return 130;
    case ORR_ERROR_MEMORY:
        return 1;
    case ORR_ERROR_DEVICE: // one that is not there was named
        return error->code == ORR_CODE_DEVICE_ABSENT ? 2 : 1;
    case ORR_ERROR_FILE:
    case ORR_ERROR_FORMAT:
    case ORR_ERROR_ARGUMENT:
    case ORR_ERROR_UNSUPPORTED:
    case ORR_ERROR_CAPACITY:
        break;
    }
    return 2;
}

static void print_log(void *user, orr_log_level level, int code, const char *line)
{
    (void)user, (void)code;
    if (level >= ORR_LOG_WARNING) {
        fprintf(stderr, "orrery: %s: %s\n", level == ORR_LOG_WARNING ? "warning" : "error", line);
    }
}

orr_log command_log(void)
{
    return (orr_log){.write = print_log};
}

static orr_engine_desc desc_of(const common_options *common)
{
    return (orr_engine_desc){
        .threads = common->threads, .device = common->device, .log = print_log, .progress = load_progress};
}

orr_result command_engine(const common_options *common, orr_engine **engine, orr_error *error)
{
    const orr_engine_desc desc = desc_of(common);
    return orr_engine_create(&desc, engine, error);
}

orr_result command_physics_engine(const common_options *common, orr_engine **engine, orr_device_kind *device,
                                  orr_error *error)
{
    orr_engine_desc desc = desc_of(common);
    orr_device_kind resolved;
    ORR_TRY(orr_device_resolve(common->device, &resolved, error));
    desc.device = ORR_DEVICE_CPU;
    desc.no_pictures = true;
    *device = orr_device_is_cuda(resolved) ? ORR_DEVICE_CUDA : ORR_DEVICE_CPU;
    return orr_engine_create(&desc, engine, error);
}

orr_result command_cuda(const common_options *common, orr_cuda **cuda, orr_error *error)
{
    orr_device_kind device;
    *cuda = NULL;
    ORR_TRY(orr_device_resolve(common->device, &device, error));
    return orr_device_is_cuda(device) ? orr_cuda_create(NULL, cuda, error) : ORR_OK;
}

int command_print_json(cJSON *json)
{
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    if (!text) {
        orr_error error;
        return command_fail(orr_fail(&error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the result"), &error);
    }
    puts(text); // main finds out whether that has failed
    cJSON_free(text);
    return 0;
}

void command_add_sun(cJSON *json, const orr_sun_estimate *estimate)
{
    if (!estimate->found) {
        cJSON_AddNullToObject(json, "sun");
        return;
    }
    cJSON *sun = cJSON_AddObjectToObject(json, "sun");
    cJSON_AddItemToObject(sun, "direction", cJSON_CreateFloatArray(estimate->sun.direction, 3));
    cJSON_AddItemToObject(sun, "colour", cJSON_CreateFloatArray(estimate->sun.colour, 3));
    cJSON_AddItemToObject(sun, "ambient", cJSON_CreateFloatArray(estimate->sun.ambient, 3));
    cJSON_AddNumberToObject(sun, "explained", (double)estimate->explained);
}

static void print_help(void)
{
    printf("orrery %s: real-time neural rendering and simulation\n\n", orr_version());
    for (int i = 0; i < COMMAND_COUNT; i++) {
        char left[64];
        snprintf(left, sizeof left, "orrery %-8s%s", commands[i].name, commands[i].operands);
        options_print_entry(left, commands[i].purpose, 37);
    }
    printf(
        "\norrery help COMMAND, or orrery COMMAND --help, lists the options of a command.\n"
        "\n"
        "SCENE    a splat cloud (.ply .compressed.ply .splat .spz .sog .ksplat), a mesh (.glb .gltf .obj\n"
        "         .stl .ply .dae), a trained field (.ingp), a robot, or a scene file (.json), which "
        "combines\n"
        "         them\n"
        "ROBOT    a model in MJCF (.xml) or URDF (.urdf)\n"
        "CAPTURE  a folder of photos with a transforms.json or a COLMAP model\n"
        "\n"
        "Exit codes: 0: done. 1: memory or a device failed. 2: a file, an option or a value is wrong, or a\n"
        "file cannot be written. 130: stopped by Ctrl-C (SIGINT), SIGTERM or SIGHUP, after saving what "
        "could\n"
        "be saved.\n");
}

static void print_version(void)
{
    const char *codec = orr_video_licence();
    printf("orrery %s, MIT licence. It links\n" ORR_LICENCES "\n", orr_version());
    if (codec) {
        printf(
            "libavcodec here is under the %s. Where that is the GPL, it holds for the program together with\n"
            "libavcodec; a build with -DORR_VIDEO=OFF has none of it.\n",
            codec);
    }
}

static bool asks_for_help(const char *argument)
{
    return strcmp(argument, "help") == 0 || strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static const command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int run(int argc, char **argv)
{
    orr_error error;
    if (argc < 2) {
        return command_fail(
            orr_fail(&error, ORR_CODE_ARGUMENT, "command missing: expected one of those in orrery --help"),
            &error);
    }
    bool help = asks_for_help(argv[1]);
    if (help && argc == 2) {
        print_help();
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        print_version();
        return 0;
    }
    const char *name = argv[help ? 2 : 1];
    const command *found = find_command(name);
    if (!found) {
        return command_fail(orr_fail(&error, ORR_CODE_ARGUMENT,
                                     "%s: unknown command: expected one of those in orrery --help", name),
                            &error);
    }
    return help ? found->run(2, (char *[]){argv[2], (char[]){"--help"}, NULL})
                : found->run(argc - 1, argv + 1);
}

// A file that is opened while a standard stream is closed would take its number, and be written into.
static void fill_standard_streams(void)
{
    int file = open("/dev/null", O_RDONLY);
    while (file >= 0 && file <= STDERR_FILENO) {
        file = open("/dev/null", O_RDONLY);
    }
    if (file >= 0) {
        close(file);
    }
}

// what was printed counts when it has arrived
static int close_output(int exit_code)
{
    orr_error error;
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return exit_code;
    }
    int code = command_fail(orr_fail(&error, ORR_CODE_FILE_WRITE, "standard output: cannot write: %s",
                                     strerror(errno ? errno : EIO)),
                            &error);
    return exit_code ? exit_code : code;
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    signal(SIGXFSZ, SIG_IGN); // a file that grows beyond the limit of its user is an error like a full disk
    return close_output(run(argc, argv));
}
