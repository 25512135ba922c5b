// orrery render: its command line. Draws views of a scene into files.
#include "engine/core/file.h"
#include "samples/orrery/render/render_job.h"

#include <string.h>

static orr_result check_paths(const render_request *request, orr_error *error)
{
    static const char *const names[] = {"-o", "--depth", "--normals", "--flow", "--segmentation"};
    const char *const paths[] = {request->path, request->depth_path, request->normals_path,
                                 request->flow_path, request->segmentation_path};
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < i; j++) {
            if (paths[i] && paths[j] && strcmp(paths[i], paths[j]) == 0) {
                return orr_fail(error, ORR_CODE_ARGUMENT, "render: %s and %s: %s: expected two files",
                                names[j], names[i], paths[i]);
            }
        }
    }
    return ORR_OK;
}

static orr_result check_request(const render_request *request, orr_error *error)
{
    if (!request->path) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "render: -o OUT missing: expected where the picture goes");
    }
    if (request->transparent && request->look.background[0] >= 0.0f) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "render: --transparent and --background: expected one of them");
    }
    if (request->cameras.frames && request->cameras.orbit) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "render: --frames and --orbit: expected one of them (time passes before one camera, or "
            "those of --cameras)");
    }
    if ((request->look.controls.ctrl || request->look.controls.policy) && !request->cameras.frames) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "render: --%s: expected --frames N as well",
                        request->look.controls.ctrl ? "ctrl" : "policy");
    }
    if (request->look.dropped && !request->cameras.frames) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "render: --drop: expected --frames N as well");
    }
    if (request->look.physics != ORR_DEVICE_AUTO && !request->cameras.frames) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "render: --physics: expected --frames N as well");
    }
    if (request->cameras.orbit && request->cameras.smooth) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "render: --orbit and --smooth: expected one of them");
    }
    ORR_TRY(check_paths(request, error));
    bool video = orr_path_has_ending(request->path, ".mp4");
    if (request->frames_per_second > 0.0 && !video && !request->cameras.frames) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "render: --fps: expected a .mp4, or --frames N as well");
    }
    if (request->continues && video) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "render: --continue: expected numbered pictures (frame_%%04d.png), not a .mp4");
    }
    if (request->continues && request->flow_path) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "render: --continue and --flow: expected one of them (flow is from the picture before)");
    }
    if (request->keep_partial && !video) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "render: --keep-partial: expected a .mp4 (pictures that are written stay in any case)");
    }
    return ORR_OK;
}

int command_render(int argc, char **argv)
{
    render_request r = {.look = look_options_default()};
    const option own[] = {
        {.name = "--output",
         .letter = 'o',
         .kind = OPTION_TEXT,
         .value = &r.path,
         .expect = "OUT",
         .help = "output: .png, .exr, .npy, .mp4, or a pattern such as frame_%04d.png"},
        {.name = "--cameras",
         .kind = OPTION_TEXT,
         .value = &r.cameras.file,
         .expect = "FILE",
         .help =
             "draw one picture for each camera of a transforms.json or of a capture folder, in file order"},
        {.name = "--camera",
         .kind = OPTION_TEXT,
         .value = &r.cameras.camera,
         .expect = "INDEX|NAME",
         .help = "draw only this camera of the file or the scene, given by its name or its index from 0"},
        {.name = "--frames",
         .kind = OPTION_INT,
         .value = &r.cameras.frames,
         .expect = "N",
         .help = "draw N pictures, 1/fps seconds apart, while robots move; with --cameras one for each "
                 "camera, and the rest from the last one",
         .low = 1.0,
         .high = 1e6},
        {.name = "--ctrl",
         .kind = OPTION_TEXT,
         .value = &r.look.controls.ctrl,
         .expect = "sine|random|FILE.npy|FILE.policy",
         .help =
             "controls of the first robot's actuators; a .npy has one row per time step, of these or of the "
             "controls of all robots, one after another (default 0)"},
        {.name = "--contacts",
         .kind = OPTION_FLAG,
         .value = &r.contacts,
         .help = "show contacts of robots: points as discs, forces as arrows"},
        {.name = "--smooth",
         .kind = OPTION_INT,
         .value = &r.cameras.smooth,
         .expect = "N",
         .help = "draw N pictures more between each two cameras of the file",
         .high = 1e5},
        {.name = "--orbit",
         .kind = OPTION_INT,
         .value = &r.cameras.orbit,
         .expect = "N",
         .help = "draw N pictures in one full turn around the scene",
         .low = 1.0,
         .high = 1e6},
        {.name = "--depth",
         .kind = OPTION_TEXT,
         .value = &r.depth_path,
         .expect = "OUT",
         .help = "also write the depth along the camera's axis: .npy, .exr or a pattern"},
        {.name = "--normals",
         .kind = OPTION_TEXT,
         .value = &r.normals_path,
         .expect = "OUT",
         .help = "also write the normals of surfaces in camera axes (right, down, forward): .npy, .exr or a "
                 "pattern"},
        {.name = "--flow",
         .kind = OPTION_TEXT,
         .value = &r.flow_path,
         .expect = "OUT",
         .help = "also write optical flow, the motion of each point since the previous picture in pixels: a "
                 "pattern of .npy or .exr"},
        {.name = "--segmentation",
         .kind = OPTION_TEXT,
         .value = &r.segmentation_path,
         .expect = "OUT",
         .help = "also write which layer of the scene, and which geom of a robot, each pixel shows, from 0 "
                 "(-1: none): .npy, .exr or a pattern"},
        {.name = "--reference",
         .kind = OPTION_INT,
         .value = &r.reference,
         .expect = "N",
         .help = "path-trace N samples per pixel on the CPU; .exr and .npy then hold linear radiance",
         .low = 1.0,
         .high = 1e6},
        {.name = "--transparent",
         .kind = OPTION_FLAG,
         .value = &r.transparent,
         .help = "keep the alpha channel in .png (default: the picture over black)"},
        {.name = "--keep-partial",
         .kind = OPTION_FLAG,
         .value = &r.keep_partial,
         .help = "on Ctrl-C, leave a playable .mp4 of the pictures so far (default: no file)"},
        {.name = "--continue",
         .kind = OPTION_FLAG,
         .value = &r.continues,
         .help = "continue an interrupted series of numbered pictures: existing files are kept"},
        {.name = "--fps",
         .kind = OPTION_REAL,
         .value = &r.frames_per_second,
         .expect = "RATE",
         .help = "frame rate of a video, or of --frames (default 30)",
         .low = 0.1,
         .high = 1000.0},
    };
    enum { OWN_COUNT = sizeof own / sizeof own[0] };
    option options[OWN_COUNT + LOOK_OPTION_COUNT];
    memcpy(options, own, sizeof own);
    look_options_list(&r.look, options + OWN_COUNT);
    const command_usage usage = {.name = "render",
                                 .operands = "SCENE -o OUT",
                                 .purpose = "Draws pictures of a scene without a window.",
                                 .notes = ".npy and .exr contain premultiplied float32 RGBA, not quantised. "
                                          "Without --size, pictures have the\n"
                                          "size of the cameras or of a trained image, or 1280x720. Ctrl-C "
                                          "stops and leaves no half-written\n"
                                          "file.",
                                 .operand_min = 1,
                                 .operand_max = 1,
                                 .options = options,
                                 .option_count = sizeof options / sizeof options[0],
                                 .common = &r.common,
                                 .common_used = COMMON_DEVICE | COMMON_THREADS | COMMON_SEED | COMMON_SIZE |
                                                COMMON_JSON};
    int operand_count, exit_code;
    if (!options_read(&usage, argc, argv, &operand_count, &exit_code)) {
        return exit_code;
    }
    r.scene = argv[0];
    r.cameras.size[0] = r.common.size[0];
    r.cameras.size[1] = r.common.size[1];

    render_job job = {.request = &r};
    orr_error error;
    orr_result result = check_request(&r, &error);
    r.frames_per_second = r.frames_per_second > 0.0 ? r.frames_per_second : 30.0;
    result = result == ORR_OK ? render_open(&job, &error) : result;
    result = result == ORR_OK ? render_draw(&job, &error) : result;
    exit_code = result == ORR_OK ? render_report(&job) : command_fail(result, &error);
    render_close(&job);
    return exit_code;
}
