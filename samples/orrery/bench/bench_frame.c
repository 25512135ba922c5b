// orrery bench frame: the frame loop with every stage of every machine on one axis of time.
#define _GNU_SOURCE
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/image/image.h"
#include "engine/loop/devices.h"
#include "engine/loop/frame_trace.h"
#include "samples/orrery/bench/bench_account.h"
#include "samples/orrery/robot_drive.h"
#include "samples/orrery/shipped_file.h"

#include <string.h>

enum { WARM_UP = 3, FRAMES_LEAST = 5, FRAMES_MOST = 120 };
static const double seconds_at_most = 2.0, frames_per_second = 60.0;

typedef struct frame_loop {
    const bench_run *run;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    robot_drive drive;
    orr_view view;
    bool to_window; // CUDA's pictures end in the Vulkan device's image, and not in the two below
    float *rgba;
    uint8_t *bytes; // as files and windows take it
    int begun, finished;
    account account;
} frame_loop;

// ---- the loop ----

static orr_result begin_frame(frame_loop *loop, orr_trace *trace, orr_error *error)
{
    int i = loop->begun++;
    if (trace) {
        trace->frame = i;
        loop->account.frames[i].begin = orr_clock_nanoseconds();
    }
    double seconds = (i + (trace ? WARM_UP : 0)) / frames_per_second;
    ORR_TRY(robot_drive_advance(&loop->drive, loop->world, seconds, error));
    return loop->to_window
               ? orr_frame_submit_for_window(loop->frame, loop->scene, loop->world, &loop->view, error)
               : orr_frame_submit(loop->frame, loop->scene, loop->world, &loop->view, error);
}

static orr_result finish_frame(frame_loop *loop, orr_trace *trace, orr_error *error)
{
    const orr_camera *camera = &loop->view.camera;
    int i = loop->finished++;
    const orr_picture picture = {.rgba = loop->rgba};
    ORR_TRY(orr_frame_finish(loop->frame, &picture, error));
    if (loop->to_window && orr_frame_location(loop->frame) != ORR_PICTURE_ON_DEVICE) {
        return orr_fail(error, ORR_CODE_DEVICE_SHARING, "bench: frame: a picture has not reached Vulkan");
    }
    if (!loop->to_window) {
        uint64_t start = orr_clock_nanoseconds();
        orr_image_quantise(loop->rgba, (int64_t)camera->width * camera->height, loop->bytes);
        orr_trace_host(trace, "out", start);
    }
    if (trace) {
        loop->account.frames[i].end = orr_clock_nanoseconds();
    }
    return ORR_OK;
}

// So many frames, the next one begun before the oldest is finished as far as may be in flight. seconds: ends
// earlier.
static orr_result run_frames(frame_loop *loop, int frames, double seconds, orr_trace *trace, orr_error *error)
{
    uint64_t start = orr_clock_nanoseconds();
    loop->begun = loop->finished = 0;
    while (loop->finished < frames) {
        while (loop->begun < frames && loop->begun - loop->finished < loop->account.frames_in_flight) {
            ORR_TRY(begin_frame(loop, trace, error));
        }
        ORR_TRY(finish_frame(loop, trace, error));
        bool late = (double)(orr_clock_nanoseconds() - start) * 1e-9 > seconds;
        frames = late && loop->begun >= FRAMES_LEAST && loop->begun < frames ? loop->begun : frames;
    }
    return ORR_OK;
}

static orr_result trace_frames(frame_loop *loop, orr_error *error)
{
    account *a = &loop->account;
    int most = loop->run->frames ? loop->run->frames : FRAMES_MOST;
    ORR_ALLOC(a->frames, most, "an account of frames", error);
    ORR_TRY(run_frames(loop, WARM_UP, 1e9, NULL, error));
    ORR_TRY(orr_frame_trace(loop->frame, &a->trace, error));
    loop->drive.trace = &a->trace;
    ORR_TRY(run_frames(loop, most, loop->run->frames ? 1e9 : seconds_at_most, &a->trace, error));
    ORR_TRY(orr_frame_trace(loop->frame, NULL, error));
    a->frame_count = loop->finished;
    if (a->trace.lost > 0) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d spans of a trace", a->trace.lost);
    }
    account_settle(a);
    return ORR_OK;
}

// ---- what it draws ----

static bool has_robot(const orr_scene *scene)
{
    bool found = false;
    for (int i = 0; i < orr_scene_layer_count(scene); i++) {
        orr_layer_info info;
        found |= orr_scene_layer_info(scene, orr_scene_layer(scene, i), &info, NULL) == ORR_OK &&
                 info.kind == ORR_LAYER_ROBOT;
    }
    return found;
}

static orr_camera choose_camera(const frame_loop *loop)
{
    orr_camera camera;
    int width = loop->run->size[0], height = loop->run->size[1];
    if (orr_world_camera_count(loop->world) > 0 &&
        orr_world_camera(loop->world, 0, 0, width, height, &camera, NULL) == ORR_OK) {
        return camera;
    }
    return orr_scene_default_camera(loop->scene, width, height);
}

static orr_result open_loop(frame_loop *loop, const char *scene, orr_error *error)
{
    const bench_run *run = loop->run;
    orr_device_kind device = orr_engine_device(run->engine);
    account *a = &loop->account;
    a->scene = orr_path_name(scene);
    a->device = orr_engine_describe(run->engine);
    // where the loop's thread itself draws, a second frame would only wait
    a->frames_in_flight = device == ORR_DEVICE_CPU ? 1 : 2;
    loop->to_window = orr_engine_shows_cuda(run->engine);
    ORR_TRY(orr_scene_load(run->engine, scene, &loop->scene, error));
    ORR_TRY(orr_world_create(loop->scene, 1, &loop->world, error));
    const robot_controls controls = {.ctrl = has_robot(loop->scene) ? "sine" : NULL};
    ORR_TRY(robot_drive_open(&controls, loop->scene, NULL, 0, &loop->drive, error));
    // by name: a device that fails is not to be another one's account
    const orr_frame_desc desc = {.device = device, .frames_in_flight = a->frames_in_flight};
    ORR_TRY(orr_frame_create(run->engine, &desc, &loop->frame, error));
    loop->view.no_reuse = true;
    loop->view.camera = choose_camera(loop);
    a->width = loop->view.camera.width;
    a->height = loop->view.camera.height;
    size_t pixels = (size_t)a->width * (size_t)a->height;
    ORR_ALLOC(loop->rgba, 4 * pixels, "a picture", error);
    ORR_ALLOC(loop->bytes, 4 * pixels, "a picture", error);
    return ORR_OK;
}

static void close_loop(frame_loop *loop)
{
    orr_frame_destroy(loop->frame);
    robot_drive_close(&loop->drive);
    orr_world_destroy(loop->world);
    orr_scene_destroy(loop->scene);
    orr_free(loop->rgba);
    orr_free(loop->bytes);
    orr_trace_free(&loop->account.trace);
    orr_free(loop->account.frames);
}

// ---- the benchmark ----

static orr_result measure(frame_loop *loop, const char *scene, orr_error *error)
{
    ORR_TRY(open_loop(loop, scene, error));
    ORR_TRY(trace_frames(loop, error));
    ORR_TRY(account_print(loop->run, &loop->account, error));
    if (loop->run->plot) {
        ORR_TRY(account_plot(loop->run->plot, &loop->account, error));
    }
    if (!loop->run->trace) {
        return ORR_OK;
    }
    char *text = account_chrome(&loop->account);
    if (!text) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", loop->run->trace);
    }
    orr_result result = orr_file_write(loop->run->trace, text, strlen(text), error);
    cJSON_free(text);
    return result;
}

static orr_result bench_scene(const bench_run *run, const char *scene, orr_error *error)
{
    frame_loop loop = {.run = run};
    orr_result result = measure(&loop, scene, error);
    close_loop(&loop);
    return result;
}

orr_result bench_frame(const bench_run *run, orr_error *error)
{
    if (run->scene) {
        return bench_scene(run, run->scene, error);
    }
    char *shipped = shipped_file("walker.json");
    if (!shipped && run->trace) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "bench: frame: expected a SCENE: the one that ships is missing");
    }
    if (!shipped) {
        fprintf(run->out, "\nframe: no scene; name one: orrery bench frame SCENE\n");
        return ORR_OK;
    }
    orr_result result = bench_scene(run, shipped, error);
    orr_free(shipped);
    return result;
}
