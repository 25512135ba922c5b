// orrery render: draws views of a scene into files.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "samples/orrery/camera_sequence.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/look_options.h"
#include "samples/orrery/picture_queue.h"
#include "samples/orrery/progress.h"
#include "samples/orrery/render_reference.h"
#include "samples/orrery/surface_pictures.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_IN_FLIGHT = 2 };

typedef struct render_request {
    common_options common;
    const char *scene;
    const char *path;
    const char *depth_path, *normals_path, *flow_path, *segmentation_path; // NULL: none
    camera_request cameras;
    look_options look;
    bool transparent, contacts, keep_partial, continues;
    double frames_per_second; // 0: not given
    int reference;            // samples per pixel; 0: the picture is drawn, not traced
} render_request;

// Everything that is made for one render, freed by close_render in any state.
typedef struct render_job {
    const render_request *request;
    camera_sequence cameras;
    orr_output *colour, *depth;
    surface_pictures surfaces;
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    robot_drive drive;
    orr_frame *frame;
    picture_queue *queue;
    int64_t *wanted; // indices of the pictures that are drawn, wanted_count; the others are there already
    int64_t wanted_count;
    orr_reference_info traced; // of the last picture
    double seconds;
} render_job;

// Tried before anything is drawn.
static orr_result open_output(const orr_output_desc *desc, orr_output **output, orr_error *error)
{
    ORR_TRY(orr_output_create(desc, output, error));
    char *first;
    ORR_TRY(orr_output_name(*output, 0, &first, error));
    orr_result result = orr_file_try(first, error);
    orr_free(first);
    return result;
}

static orr_result open_surfaces(render_job *job, orr_error *error)
{
    const render_request *request = job->request;
    orr_output_desc desc = {.path = request->normals_path, .channels = 3, .count = job->cameras.count};
    if (desc.path) {
        ORR_TRY(open_output(&desc, &job->surfaces.normals, error));
    }
    desc.path = request->segmentation_path;
    desc.channels = 2;
    if (desc.path) {
        ORR_TRY(open_output(&desc, &job->surfaces.segmentation, error));
    }
    desc.path = request->flow_path;
    if (desc.path && desc.count < 2) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "render: --flow: expected several pictures (--frames, --orbit, --cameras)");
    }
    return desc.path ? open_output(&desc, &job->surfaces.flow, error) : ORR_OK;
}

static orr_result open_outputs(render_job *job, orr_error *error)
{
    const render_request *request = job->request;
    orr_output_desc desc = {.path = request->path,
                            .channels = 4,
                            .count = job->cameras.count,
                            .transparent = request->transparent,
                            .frames_per_second = request->frames_per_second};
    ORR_TRY(open_output(&desc, &job->colour, error));
    if (request->depth_path) {
        desc = (orr_output_desc){.path = request->depth_path, .channels = 1, .count = job->cameras.count};
        ORR_TRY(open_output(&desc, &job->depth, error));
    }
    return open_surfaces(job, error);
}

static bool is_there(const orr_output *output, int64_t index)
{
    char *name;
    if (orr_output_name(output, index, &name, NULL) != ORR_OK) {
        return false;
    }
    const bool there = access(name, F_OK) == 0;
    orr_free(name);
    return there;
}

// A file that is there is whole (engine/core/file.h).
static orr_result list_wanted(render_job *job, orr_error *error)
{
    const orr_output *const outputs[] = {job->colour, job->depth, job->surfaces.normals,
                                         job->surfaces.segmentation};
    ORR_ALLOC(job->wanted, job->cameras.count, "the pictures to draw", error);
    for (int64_t i = 0; i < job->cameras.count; i++) {
        bool there = job->request->continues;
        for (int k = 0; k < 4 && there; k++) {
            there = !outputs[k] || is_there(outputs[k], i);
        }
        if (!there) {
            job->wanted[job->wanted_count++] = i;
        }
    }
    return ORR_OK;
}

static orr_result open_queue(render_job *job, orr_error *error)
{
    int64_t pixels = 0;
    for (int i = 0; i < job->cameras.key_count; i++) {
        int64_t key_pixels = (int64_t)job->cameras.keys[i].width * job->cameras.keys[i].height;
        pixels = key_pixels > pixels ? key_pixels : pixels;
    }
    return picture_queue_create(job->colour, job->depth, pixels, orr_engine_threads(job->engine), &job->queue,
                                error);
}

static orr_result open_render(render_job *job, orr_error *error)
{
    // what is cheap to refuse comes before the scene is loaded
    const render_request *request = job->request;
    ORR_TRY(camera_sequence_open(&request->cameras, &job->cameras, error));
    interrupt_begin(); // from here on there may be a file to remove
    ORR_TRY(open_outputs(job, error));
    ORR_TRY(list_wanted(job, error));
    ORR_TRY(command_engine(&request->common, &job->engine, error));
    ORR_TRY(orr_scene_load(job->engine, request->scene, &job->scene, error));
    ORR_TRY(look_options_apply(&request->look, job->scene, error));
    ORR_TRY(orr_world_create(job->scene, 1, &job->world, error));
    ORR_TRY(orr_world_set_device(job->world, request->look.physics, error));
    ORR_TRY(robot_drive_open(&request->look.controls, job->scene, request->scene, request->common.seed,
                             &job->drive, error));
    ORR_TRY(camera_sequence_attach(&job->cameras, job->world, request->scene, error));
    orr_frame_desc desc = {.frames_in_flight = FRAMES_IN_FLIGHT};
    ORR_TRY(orr_frame_create(job->engine, &desc, &job->frame, error));
    return open_queue(job, error);
}

static void close_render(render_job *job)
{
    picture_queue_destroy(job->queue); // before the outputs it writes to
    orr_frame_destroy(job->frame);
    surface_pictures_close(&job->surfaces);
    robot_drive_close(&job->drive);
    orr_world_destroy(job->world);
    orr_scene_destroy(job->scene);
    orr_engine_destroy(job->engine);
    orr_output_destroy(job->colour);
    orr_output_destroy(job->depth);
    orr_free(job->wanted);
    camera_sequence_close(&job->cameras);
}

static orr_view view_of(const render_job *job, int64_t index)
{
    const orr_camera camera = camera_sequence_at(&job->cameras, index);
    orr_view view = look_options_view(&job->request->look, &camera);
    view.contact_points = view.contact_forces = job->request->contacts;
    return view;
}

// Moves time on to the picture's.
static orr_result pass_time(render_job *job, int64_t index, orr_error *error)
{
    const render_request *request = job->request;
    if (request->cameras.frames) {
        double seconds = (double)index / request->frames_per_second;
        ORR_TRY(robot_drive_advance(&job->drive, job->world, seconds, error));
        ORR_TRY(camera_sequence_follow(&job->cameras, job->world, error));
    }
    return ORR_OK;
}

static orr_result submit(render_job *job, int64_t index, orr_error *error)
{
    ORR_TRY(pass_time(job, index, error));
    orr_view view = view_of(job, index);
    ORR_TRY(surface_pictures_put(&job->surfaces, job->world, &view, index, error));
    return orr_frame_submit(job->frame, job->scene, job->world, &view, error);
}

// completes the oldest frame in flight and sends it to be written
static orr_result finish(render_job *job, int64_t index, orr_error *error)
{
    queued_picture *picture = picture_queue_take(job->queue);
    if (!picture) {
        return picture_queue_finish(job->queue, error);
    }
    orr_camera camera = camera_sequence_at(&job->cameras, index);
    picture->width = camera.width;
    picture->height = camera.height;
    picture->index = index;
    ORR_TRY(orr_frame_finish(job->frame, &(orr_picture){picture->rgba, picture->depth}, error));
    picture_queue_put(job->queue, picture);
    return ORR_OK;
}

// A traced picture has as many samples as there was time for.
static orr_result stop_traced(render_job *job, orr_error *error)
{
    ORR_TRY(picture_queue_finish(job->queue, error));
    ORR_TRY(orr_output_finish(job->colour, error));
    return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted: %s has %lld of %d samples per pixel",
                    job->request->path, (long long)job->traced.samples, job->request->reference);
}

// Pictures that are drawn are still written. A video becomes a whole file only where that was asked for.
static orr_result stop_interrupted(render_job *job, orr_error *error)
{
    ORR_TRY(picture_queue_finish(job->queue, error));
    const long long count = (long long)job->cameras.count;
    const long long written = (long long)picture_queue_written(job->queue) + count - job->wanted_count;
    bool video = orr_output_in_order(job->colour);
    if (video && !job->request->keep_partial) {
        return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted: %s was not written", job->request->path);
    }
    ORR_TRY(orr_output_finish(job->colour, error));
    return orr_fail(error, ORR_CODE_INTERRUPTED, "interrupted: %lld of %lld pictures were written%s%s",
                    written, count, video ? " to " : "", video ? job->request->path : "");
}

static orr_result trace(render_job *job, int64_t index, orr_error *error)
{
    const render_request *request = job->request;
    queued_picture *picture = picture_queue_take(job->queue);
    if (!picture) {
        return picture_queue_finish(job->queue, error);
    }
    ORR_TRY(pass_time(job, index, error));
    orr_view view = view_of(job, index);
    ORR_TRY(surface_pictures_put(&job->surfaces, job->world, &view, index, error));
    picture->width = view.camera.width;
    picture->height = view.camera.height;
    picture->index = index;
    const reference_request reference = {.samples = request->reference,
                                         .seed = (uint32_t)request->common.seed,
                                         .linear = orr_path_has_ending(request->path, ".exr") ||
                                                   orr_path_has_ending(request->path, ".npy"),
                                         .progress = job->cameras.count == 1};
    ORR_TRY(render_reference(job->scene, job->world, &view, &reference,
                             &(orr_picture){picture->rgba, picture->depth}, &job->traced, error));
    if (job->cameras.count == 1 || job->traced.samples >= request->reference) { // of a series all are alike
        picture_queue_put(job->queue, picture);
    }
    return ORR_OK;
}

// number: of the wanted pictures
static orr_result draw_next(render_job *job, int64_t *submitted, int64_t number, orr_error *error)
{
    if (job->request->reference) {
        return trace(job, job->wanted[number], error);
    }
    while (*submitted < job->wanted_count && *submitted - number < FRAMES_IN_FLIGHT) {
        ORR_TRY(submit(job, job->wanted[(*submitted)++], error));
    }
    return finish(job, job->wanted[number], error);
}

static orr_result draw_all(render_job *job, progress *shown, orr_error *error)
{
    const int64_t count = job->wanted_count;
    int64_t submitted = 0;
    bool is_short = false; // of samples, the last one
    for (int64_t finished = 0; finished < count; finished++) {
        ORR_TRY(draw_next(job, &submitted, finished, error));
        progress_show(shown, picture_queue_written(job->queue));
        is_short = job->traced.samples < job->request->reference;
        if (interrupt_requested() && (finished + 1 < count || (is_short && job->cameras.count > 1))) {
            return stop_interrupted(job, error);
        }
    }
    if (is_short) {
        return stop_traced(job, error);
    }
    ORR_TRY(picture_queue_finish(job->queue, error));
    ORR_TRY(orr_output_finish(job->colour, error));
    return job->depth ? orr_output_finish(job->depth, error) : ORR_OK;
}

static orr_result render(render_job *job, orr_error *error)
{
    progress shown;
    progress_begin(&shown, "frames", job->wanted_count);
    orr_result result = draw_all(job, &shown, error);
    job->seconds = progress_seconds(&shown);
    progress_end(&shown);
    return result;
}

// ---- what was done ----

static cJSON *list_files(const orr_output *output, int64_t count)
{
    cJSON *files = cJSON_CreateArray();
    for (int64_t i = 0; i < count; i++) {
        char *name;
        if (orr_output_name(output, i, &name, NULL) != ORR_OK) {
            break;
        }
        cJSON_AddItemToArray(files, cJSON_CreateString(name));
        orr_free(name);
        if (orr_output_in_order(output)) {
            break; // all frames are in one file
        }
    }
    return files;
}

static int print_json(const render_job *job)
{
    int64_t count = job->cameras.count;
    orr_camera first = camera_sequence_at(&job->cameras, 0);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToObject(json, "files", list_files(job->colour, count));
    if (job->depth) {
        cJSON_AddItemToObject(json, "depth_files", list_files(job->depth, count));
    }
    if (job->surfaces.normals) {
        cJSON_AddItemToObject(json, "normals_files", list_files(job->surfaces.normals, count));
    }
    if (job->surfaces.segmentation) {
        cJSON_AddItemToObject(json, "segmentation_files", list_files(job->surfaces.segmentation, count));
    }
    if (job->surfaces.flow) {
        cJSON_AddItemToObject(json, "flow_files", list_files(job->surfaces.flow, count));
    }
    cJSON_AddNumberToObject(json, "frames", (double)count);
    cJSON_AddNumberToObject(json, "drawn", (double)job->wanted_count); // the others were there
    cJSON_AddNumberToObject(json, "seconds", job->seconds);
    cJSON_AddNumberToObject(json, "frames_per_second", (double)job->wanted_count / job->seconds);
    cJSON_AddItemToObject(json, "size", cJSON_CreateIntArray((int[2]){first.width, first.height}, 2));
    cJSON_AddStringToObject(json, "device", orr_engine_describe(job->engine));
    return command_print_json(json);
}

static void report_traced(const render_job *job)
{
    const orr_reference_info *traced = &job->traced;
    fprintf(stderr, "%s: %lld of %d samples per pixel, standard error %.2g, %.2f million rays per second\n",
            job->request->path, (long long)traced->samples, job->request->reference, traced->error,
            (double)traced->rays * 1e-6 * (double)job->wanted_count / job->seconds);
    if (traced->left_out > 0) {
        fprintf(stderr, "%s: %lld of %lld triangles left out: no area, or not finite\n", job->request->scene,
                (long long)traced->left_out, (long long)traced->triangles);
    }
}

// What a lens that distorts does not bend; NULL: it bends all.
static const char *drawn_by_pinhole(const render_job *job)
{
    const bool fisheye = job->cameras.keys[0].model == ORR_CAMERA_FISHEYE;
    bool solid = false, clouds = false;
    for (int i = 0; i < orr_scene_layer_count(job->scene); i++) {
        orr_layer_info info;
        if (orr_scene_layer_info(job->scene, orr_scene_layer(job->scene, i), &info, NULL) == ORR_OK) {
            solid = solid || info.kind == ORR_LAYER_MESH || info.kind == ORR_LAYER_ROBOT;
            clouds = clouds || info.kind == ORR_LAYER_SPLATS;
        }
    }
    if (job->request->reference) {
        return fisheye ? "path-traced pictures are not those of a fisheye" : NULL;
    }
    if (solid) {
        return "where meshes or robots are, all is drawn through a pinhole; --reference 64 bends them";
    }
    if (clouds && orr_engine_device(job->engine) != ORR_DEVICE_CPU) {
        return "this device draws splats through a pinhole; --device cpu bends them";
    }
    const render_request *r = job->request;
    return clouds && (r->normals_path || r->flow_path || r->segmentation_path)
               ? "normals, flow and segmentation are those of a pinhole"
               : NULL;
}

static int report(const render_job *job)
{
    const render_request *request = job->request;
    const int64_t count = job->wanted_count;
    fprintf(stderr, "%s: %lld frame%s in %.2f s, %.1f per second (%s)\n", request->path, (long long)count,
            count == 1 ? "" : "s", job->seconds, (double)count / job->seconds,
            orr_engine_describe(job->engine));
    if (request->reference && count > 0) {
        report_traced(job);
    }
    const char *why = job->cameras.distorted ? drawn_by_pinhole(job) : NULL;
    if (why) {
        fprintf(stderr, "orrery: warning: %s: lens distortion is left out: %s\n", request->cameras.file, why);
    }
    return request->common.json ? print_json(job) : 0;
}

// ---- the command line ----

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
    result = result == ORR_OK ? open_render(&job, &error) : result;
    result = result == ORR_OK ? render(&job, &error) : result;
    exit_code = result == ORR_OK ? report(&job) : command_fail(result, &error);
    close_render(&job);
    return exit_code;
}
