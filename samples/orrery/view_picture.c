// The viewer's picture: drawn by the engine when it is out of date, and presented with the panel over it.
#include "view.h"

#include "commands.h"
#include "engine/core/memory.h"
#include "engine/loop/shared_device.h"

#include <math.h>
#include <string.h>

static const double REST_SECONDS = 0.2; // without a change, until full quality is drawn

static bool same_camera(const orr_camera *a, const orr_camera *b)
{
    return memcmp(a, b, sizeof *a) == 0; // both come from view_camera, which sets every byte alike
}

orr_camera view_camera(const viewer *v, int width, int height)
{
    orr_camera through; // a robot's camera, which may move
    if (!v->playing && v->robot.panel.camera >= 0 &&
        orr_world_camera(v->world, 0, v->robot.panel.camera, width, height, &through, NULL) == ORR_OK) {
        return through;
    }
    return v->playing ? camera_recorder_at(&v->recorder, v->path_time, width, height)
                      : navigator_camera(&v->navigator, width, height);
}

bool view_is_moving(const viewer *v, double now)
{
    return now - v->seen_at < REST_SECONDS;
}

static orr_result reserve_pixels(viewer *v, int width, int height, orr_error *error)
{
    int64_t pixels = (int64_t)width * height;
    v->readable = false;
    if (v->place == VIEW_IN_MEMORY) {
        v->place = VIEW_NOWHERE; // it is about to be overwritten
    }
    if (pixels > v->pixel_capacity) {
        orr_free(v->rgba);
        orr_free(v->depth);
        orr_free(v->picture.rgba);
        v->rgba = v->depth = NULL;
        v->picture.rgba = NULL;
        v->pixel_capacity = 0;
        ORR_ALLOC(v->rgba, 4 * pixels, "the picture", error);
        ORR_ALLOC(v->depth, pixels, "the picture's depth", error);
        ORR_ALLOC(v->picture.rgba, 4 * pixels, "the picture's bytes", error);
        v->pixel_capacity = pixels;
    }
    return ORR_OK;
}

// ---- the device that presents, and draws ----

orr_result view_open_device(viewer *v, orr_error *error)
{
    ORR_TRY(orr_engine_take_vk(v->engine, &v->vk, error));
    orr_result result = orr_present_attach(v->present, v->vk, error);
    if (result != ORR_OK) {
        view_close_device(v);
    }
    return result;
}

static void forget_frame(viewer *v, orr_device_kind device)
{
    orr_frame_destroy(v->frames[device]);
    v->frames[device] = NULL;
    if (device == ORR_DEVICE_VULKAN && v->place == VIEW_ON_DEVICE) {
        v->place = VIEW_NOWHERE; // the picture went with its frame
    }
}

void view_close_device(viewer *v)
{
    if (v->vk) {
        orr_present_detach(v->present);
        orr_engine_give_vk(v->engine);
        v->vk = NULL;
    }
}

// Everyone lets go of a lost device, and it is opened anew.
static orr_result renew_device(viewer *v, orr_error *error)
{
    orr_log_line(command_log(), ORR_LOG_WARNING, ORR_CODE_DEVICE_LOST, "%s: starting it again",
                 error->message);
    orr_engine_lose_vk(v->engine);
    forget_frame(v, ORR_DEVICE_VULKAN);
    view_close_device(v);
    return view_open_device(v, error);
}

// ---- drawing ----

// `to_memory`: also what Vulkan draws is brought to memory; what the window shows stays as it is.
static orr_result draw_frame(viewer *v, orr_frame *frame, const orr_view *view, bool to_memory,
                             orr_error *error)
{
    if (!to_memory) {
        v->readable = false;
        v->place = VIEW_NOWHERE;
        ORR_TRY(orr_frame_submit_image(frame, v->scene, v->world, view, error));
        ORR_TRY(orr_frame_finish_image(frame, &v->image, error));
        v->place = VIEW_ON_DEVICE;
        return ORR_OK;
    }
    ORR_TRY(reserve_pixels(v, view->camera.width, view->camera.height, error));
    const orr_picture planes = {.rgba = v->rgba, .depth = v->depth};
    ORR_TRY(orr_frame_submit(frame, v->scene, v->world, view, error));
    ORR_TRY(orr_frame_finish(frame, &planes, error));
    orr_image_quantise(v->rgba, (int64_t)view->camera.width * view->camera.height, v->picture.rgba);
    v->readable = true;
    if (v->place == VIEW_NOWHERE) {
        v->place = VIEW_IN_MEMORY;
    }
    return ORR_OK;
}

static orr_result draw_on_device(viewer *v, const orr_view *view, bool to_memory, orr_error *error)
{
    const orr_device_kind device = orr_scene_needs_cpu(v->scene) ? ORR_DEVICE_CPU : v->device;
    orr_frame **frame = &v->frames[device];
    if (!*frame) {
        const orr_frame_desc desc = {.device = device, .frames_in_flight = 1};
        ORR_TRY(orr_frame_create(v->engine, &desc, frame, error));
    }
    if (device == ORR_DEVICE_CPU) {
        v->place = VIEW_NOWHERE; // whatever was there, the picture is in memory from here on
    }
    orr_result result = draw_frame(v, *frame, view, to_memory || device == ORR_DEVICE_CPU, error);
    if (result != ORR_OK) { // whatever state it is in, the next attempt starts afresh
        forget_frame(v, device);
        return result;
    }
    v->stage_count = orr_frame_stages(*frame, v->stages, VIEW_STAGES);
    v->stage_count = v->stage_count < VIEW_STAGES ? v->stage_count : VIEW_STAGES;
    return ORR_OK;
}

static orr_result draw(viewer *v, const orr_camera *camera, bool to_memory, orr_error *error)
{
    orr_view view = {.camera = *camera,
                     .antialias = v->antialias,
                     .has_background = v->has_background,
                     .contact_points = v->robot.panel.contacts,
                     .contact_forces = v->robot.panel.contacts};
    memcpy(view.background, v->background, sizeof view.background);
    orr_error why = {0};
    orr_result result = draw_on_device(v, &view, to_memory, &why);
    if (result != ORR_OK && why.code == ORR_CODE_DEVICE_LOST) {
        result = renew_device(v, &why);
        if (result == ORR_OK) {
            result = draw_on_device(v, &view, to_memory, &why);
        }
    }
    if (result != ORR_OK && v->device == ORR_DEVICE_VULKAN) {
        view_say(v, "%s: drawing on the CPU instead", why.message);
        v->device = ORR_DEVICE_CPU;
        result = draw_on_device(v, &view, to_memory, &why);
    }
    if (result != ORR_OK) {
        *error = why;
        return result;
    }
    v->picture.width = camera->width;
    v->picture.height = camera->height;
    v->revision++;
    return ORR_OK;
}

static orr_camera scaled_camera(const viewer *v, float scale)
{
    int width, height;
    glfwGetFramebufferSize(v->window, &width, &height);
    width = (int)fmaxf(roundf((float)width * scale), 1.0f);
    height = (int)fmaxf(roundf((float)height * scale), 1.0f);
    return view_camera(v, width, height);
}

void view_refresh(viewer *v, double now)
{
    orr_camera camera = scaled_camera(v, 1.0f);
    // what moves in the picture is drawn as roughly as a moving view
    bool changed = !same_camera(&camera, &v->seen) || view_robot_is_going(v);
    if (changed) {
        v->seen = camera;
        v->seen_at = now;
    }
    bool moving = view_is_moving(v, now);
    if (v->moving && !moving) {
        v->attention = v->attention > 1 ? v->attention : 1; // the panel says so
    }
    v->moving = moving;
    float scale = resolution_scale(&v->resolution, moving);
    camera = scaled_camera(v, scale);
    // while moving, a view is drawn once, as roughly as it takes; at rest, what was rough is drawn in full
    if (!v->stale && !changed && (moving || same_camera(&camera, &v->drawn))) {
        return;
    }
    v->stale = false;
    v->drawn = camera; // also when it fails: another attempt waits for another view
    orr_error error;
    double start = glfwGetTime();
    if (v->training) {
        view_training_refresh(v->training);
    }
    if (draw(v, &camera, false, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
    } else if (moving) {
        resolution_measure(&v->resolution, scale, 1e3 * (glfwGetTime() - start));
    }
    if (v->training) {
        double end = glfwGetTime();
        training_pace_drawn(&v->training->pace, end, 1e3 * (end - start));
    }
    v->attention = v->attention > 1 ? v->attention : 1;
}

orr_result view_read_picture(viewer *v, orr_error *error)
{
    return v->readable ? ORR_OK : draw(v, &v->drawn, true, error);
}

orr_result view_save_picture(viewer *v, const char *path, orr_error *error)
{
    orr_camera camera = scaled_camera(v, v->resolution.full);
    if (v->stale || !same_camera(&camera, &v->drawn) || v->place == VIEW_NOWHERE) {
        ORR_TRY(draw(v, &camera, false, error));
        v->drawn = camera;
        v->stale = false;
    }
    ORR_TRY(view_read_picture(v, error));
    int64_t pixels = (int64_t)camera.width * camera.height;
    for (int64_t i = 0; i < pixels; i++) {
        v->picture.rgba[4 * i + 3] = 255; // as the window shows it: over black
    }
    return orr_png_save(path, v->picture.rgba, camera.width, camera.height, error);
}

static const orr_overlay *build_panel(viewer *v)
{
    panel_state state = {
        .scene = v->scene,
        .device = v->device == ORR_DEVICE_CPU ? "CPU" : "Vulkan",
        .presenter = v->vk ? orr_vk_name(v->vk) : "no device",
        .message = v->message,
        .stages = v->stages,
        .stage_count = v->stage_count,
        .frames_per_second = v->interval > 0.0 ? 1.0 / v->interval : 0.0,
        .width = v->picture.width,
        .height = v->picture.height,
        .playing = v->playing,
        .path_time = v->path_time,
        .path_duration = camera_recorder_duration(&v->recorder),
        .world = v->world,
        .view = &v->navigator,
        .quality = &v->resolution,
        .recorder = &v->recorder,
        .antialias = v->antialias,
        .training = v->training ? &v->training->figures : NULL,
        .robot = v->robot.present ? view_robot_show(v) : NULL,
    };
    const orr_overlay *overlay = panel_build(v->panel, &state);
    v->antialias = state.antialias;
    v->stale = v->stale || state.redraw;
    if (state.robot) {
        view_robot_take(v);
    }
    if (state.remove.slot) {
        view_remove(v, state.remove);
    }
    if (state.action != VIEW_NOTHING) {
        view_do(v, state.action);
    }
    return overlay;
}

static orr_result present(viewer *v, const orr_overlay *overlay, bool *shown, orr_error *error)
{
    if (!v->vk) {
        ORR_TRY(view_open_device(v, error));
    }
    const orr_present_picture picture = {
        .bytes = v->place == VIEW_IN_MEMORY ? &v->picture : NULL,
        .image = v->place == VIEW_ON_DEVICE ? &v->image : NULL,
        .revision = v->revision,
    };
    return orr_present_frame(v->present, v->place == VIEW_NOWHERE ? NULL : &picture, overlay, shown, error);
}

orr_result view_show(viewer *v, double now, orr_error *error)
{
    if (v->attention == 0) {
        return ORR_OK;
    }
    v->attention--;
    // smoothed while frames follow each other; a pause starts anew
    double interval = now - v->presented_at;
    bool flowing = view_is_moving(v, now) || v->limit > 0;
    v->interval = !flowing || interval > 0.5 ? 0.0
                  : v->interval > 0.0        ? v->interval + 0.1 * (interval - v->interval)
                                             : interval;
    v->presented_at = now;
    const orr_overlay *overlay = v->panel_hidden ? NULL : build_panel(v);
    bool shown = false;
    orr_result result = present(v, overlay, &shown, error);
    if (result != ORR_OK && error->code == ORR_CODE_DEVICE_LOST) {
        ORR_TRY(renew_device(v, error));
        if (v->place == VIEW_NOWHERE) { // the picture was lost with the device
            ORR_TRY(draw(v, &v->drawn, false, error));
        }
        result = present(v, overlay, &shown, error);
    }
    v->presented += shown;
    return result;
}
