// orrery: the command line of the engine. This file only chooses the command; each has its own file.
#include "samples/orrery/commands.h"

#include "engine/image/video.h"
#include "engine/loop/devices.h"
#include "orr_licences.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *operands;
    const char *purpose;
} command;

static const command commands[] = {
    {"view", command_view, "SCENE|CAPTURE",
     "a window on a scene: fly, switch layers, record camera paths; or on a field in training"},
    {"render", command_render, "SCENE -o OUT",
     "pictures without a window: .png .exr .npy .mp4, or a pattern with %04d"},
    {"sim", command_sim, "ROBOT --steps N", "simulates a robot in any number of worlds"},
    {"bench", command_bench, "[NAME...]",
     "speed of this machine, stage by stage, beside its limits; traces of frames"},
    {"train", command_train, "KIND DATA", "trains a neural field on an image, a shape, photos or a volume"},
    {"convert", command_convert, "IN OUT", "splat clouds to another format, fields to meshes"},
    {"info", command_info, "FILE...", "what clouds, meshes, fields, robots, scene and camera files contain"},
    {"devices", command_devices, "", "the devices that the engine can use"},
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

orr_result command_engine(const common_options *common, orr_engine **engine, orr_error *error)
{
    const orr_engine_desc desc = {.threads = common->threads, .device = common->device, .log = print_log};
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
    puts(text);
    cJSON_free(text);
    return 0;
}

static void print_help(void)
{
    printf("orrery %s: real-time neural rendering and simulation\n\n", orr_version());
    for (int i = 0; i < COMMAND_COUNT; i++) {
        printf("  orrery %-8s %-15s %s\n", commands[i].name, commands[i].operands, commands[i].purpose);
    }
    printf(
        "\norrery COMMAND --help lists the options of a command.\n"
        "SCENE is a splat cloud (.ply .compressed.ply .splat .spz .sog .ksplat), a mesh (.glb .obj .stl),\n"
        "a trained field (.ingp), a robot (.xml .urdf) or a scene file (.json) that combines them.\n"
        "ROBOT is a model in MJCF (.xml) or URDF (.urdf).\n"
        "CAPTURE is a folder of photos with a transforms.json or a COLMAP model.\n");
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

int main(int argc, char **argv)
{
    orr_error error;
    if (argc < 2) {
        return command_fail(
            orr_fail(&error, ORR_CODE_ARGUMENT, "command missing: expected one of those in orrery --help"),
            &error);
    }
    if (strcmp(argv[1], "--help") == 0) {
        print_help();
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        print_version();
        return 0;
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return command_fail(orr_fail(&error, ORR_CODE_ARGUMENT,
                                 "%s: unknown command: expected one of those in orrery --help", argv[1]),
                        &error);
}
